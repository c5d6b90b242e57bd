"""What a session writes to its journal, and reads back after a restart.

=========  ==============================================  ==============================================
number     fields                                          must be on the disk before anything is sent
=========  ==============================================  ==============================================
0 OWN      ``[content, signature]`` of an entry or vote    yes: it is never signed again otherwise
1 CLOSED   a step's record, as in the public file          no: others have it
2 KEPT     ``[[content, signature] ...]``, a certificate   yes if of prevotes: a lock stands on it
3 ANSWER   hand, commitment, sealed box                    yes, with the SEALED entry that follows
4 PROOF    seat, evidence                                  no: others have it
5 HELD     ``[content, signature]`` of another's entry     yes, with the vote that follows and says that we hold it
6 DOUBT    whether entries that were sent may be missing   yes if they may: a restart does not end a doubt
=========  ==============================================  ==============================================
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from protocol.ballot import Certificate, read_certificate
from protocol.canonical import Limits, array, boolean, decode, encode, integer, octets
from protocol.entry import MAX_STEP, Entry, from_value
from protocol.errors import EncodingError
from protocol.log import ClosedStep, PublishedStep, read_step

_LIMITS: Final = Limits(max_bytes=1 << 28, max_depth=4, max_nodes=1 << 12)


class Number(IntEnum):
    OWN = 0
    CLOSED = 1
    KEPT = 2
    ANSWER = 3
    PROOF = 4
    HELD = 5
    DOUBT = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRecord:
    entry: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedRecord:
    step: PublishedStep


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRecord:
    certificate: Certificate


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord:
    hand: int
    sealed: bytes
    box: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofRecord:
    seat: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRecord:
    entry: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtRecord:
    begins: bool


JournalRecord = OwnRecord | ClosedRecord | KeptRecord | AnswerRecord | ProofRecord | HeldRecord | DoubtRecord


def write_own(entry: Entry) -> bytes:
    return encode([Number.OWN.value, entry.value()])


def write_held(entry: Entry) -> bytes:
    return encode([Number.HELD.value, entry.value()])


def write_closed(closed: ClosedStep) -> bytes:
    return encode([Number.CLOSED.value, closed.encode()])


def write_kept(certificate: Certificate) -> bytes:
    return encode([Number.KEPT.value, certificate.value()])


def write_answer(hand: int, sealed: bytes, box: bytes) -> bytes:
    return encode([Number.ANSWER.value, hand, sealed, box])


def write_proof(seat: int, data: bytes) -> bytes:
    return encode([Number.PROOF.value, seat, data])


def write_doubt(begins: bool) -> bytes:
    return encode([Number.DOUBT.value, begins])


def is_own(data: bytes) -> bool:
    """Whether a record holds what this seat has said itself (OWN, ANSWER), told without reading it."""
    return data[1:2] in (bytes([Number.OWN]), bytes([Number.ANSWER]))


def read_record(data: bytes, *, number: int) -> JournalRecord:
    """The ``number``-th record of a journal.  Raises EncodingError."""
    field = f"journal record {number}"
    value = array(decode(data, limits=_LIMITS, field=field), field=field)
    match value[0] if value else None:
        case Number.OWN:
            array(value, field=field, length=2)
            return OwnRecord(entry=from_value(value[1], field=field))
        case Number.HELD:
            array(value, field=field, length=2)
            return HeldRecord(entry=from_value(value[1], field=field))
        case Number.CLOSED:
            array(value, field=field, length=2)
            return ClosedRecord(step=read_step(octets(value[1], field=field), number=number))
        case Number.KEPT:
            array(value, field=field, length=2)
            return KeptRecord(certificate=read_certificate(value[1], field=field))
        case Number.ANSWER:
            array(value, field=field, length=4)
            return AnswerRecord(
                hand=integer(value[1], field=field, below=MAX_STEP),
                sealed=octets(value[2], field=field, length=32),
                box=octets(value[3], field=field),
            )
        case Number.PROOF:
            array(value, field=field, length=3)
            return ProofRecord(
                seat=integer(value[1], field=field, below=8), data=octets(value[2], field=field)
            )
        case Number.DOUBT:
            array(value, field=field, length=2)
            return DoubtRecord(begins=boolean(value[1], field=field))
        case _:
            raise EncodingError("is of no kind that this program writes", field=field)
