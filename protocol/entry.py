"""Signed entries: the only way in which a seat says anything that counts.

The content of an entry is the canonical array ``[version, table, epoch, step, seat, kind, round, body, prev]``;
its signature is over these very bytes.  On the wire and in files an entry is ``[content, signature]``.  An
entry's identity is the hash of its content alone: Ed25519 signatures can be varied by their author, and two
signatures of one content are one statement (N32).

``prev`` is the head of the log before the step, so each entry acknowledges the whole prefix (W10).

=============  =====  ============================================================  =======================
kind           nature body                                                          owed by
=============  =====  ============================================================  =======================
AGREE          step   nonce                                                         all
COMMIT         step   the deck's                                                    seats of the hand
REVEAL         step   the deck's                                                    seats of the hand
SHUFFLE        step   the deck's                                                    one seat
COMPLAINT      step   the deck's                                                    that seat, in SHUFFLE's place
SHARES         step   the deck's                                                    who does not own every slot
MOVE           step   ``[text, slots, opening]``                                    the seat on turn
SEALED         step   commitment                                                    seats of the window
ANSWER         step   ``[text, slots, opening, nonce]``                             seats of the window
RULING         step   ``[[[seat, answer id or b""]...], winner + 1 or 0, digest]``  the arbiter
SHOW           step   ``[slots, opening]``                                          owners
RESULT         step   ``[hand, [[negative, score]...], digest, [return entry...]]`` seats of the hand
RESTORE        step   the deck's, for each seat that was dropped                    survivors
RECORD         step   ``[certificate ...]``, one for each decision since              the arbiter
END            step   ``[]``                                                        seats of the last hand
PROPOSAL       vote   the arbiter machine's                                         leader of the round
PREVOTE        vote   the arbiter machine's                                         seats of the epoch
PRECOMMIT      vote   the arbiter machine's                                         seats of the epoch
ROUND_CHANGE   vote   the arbiter machine's                                         seats of the epoch
RETURN         note   ``[hand]``                                                    a dropped seat
ABANDON        note   ``[]``                                                        who waits in vain
=============  =====  ============================================================  =======================

A *step* entry is in the head.  A *vote* is not: its outcome (absence marks, a new epoch) is.  A *note* is
neither: it asks for something.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import lru_cache
from typing import Any, Final

from protocol import PROTOCOL_VERSION
from protocol.canonical import Limits, array, decode, encode, integer, octets
from protocol.errors import EncodingError, VerificationError
from protocol.identity import SIGNATURE_BYTES, Identity, tagged_hash, verify

HEAD_BYTES: Final = 32
MAX_CONTENT: Final = 1 << 16
"""Bytes of one content.  A shuffle of 108 cards with its proof needs less than half."""

_LIMITS: Final = Limits(max_bytes=MAX_CONTENT, max_depth=8, max_nodes=1 << 13)
_SIGNED_LIMITS: Final = Limits(max_bytes=MAX_CONTENT + 128, max_depth=1, max_nodes=4)
_TAG: Final = "entry"
MAX_EPOCH: Final = 1 << 32
MAX_STEP: Final = 1 << 32
MAX_ROUND: Final = 1 << 16


class Kind(IntEnum):
    """What an entry says.  The number is signed; numbers are never used again for something else."""

    AGREE = 0
    COMMIT = 1
    REVEAL = 2
    SHUFFLE = 3
    COMPLAINT = 4
    SHARES = 5
    MOVE = 6
    SEALED = 7
    ANSWER = 8
    RULING = 9
    SHOW = 10
    RESULT = 11
    RESTORE = 12
    RECORD = 13
    END = 14
    PROPOSAL = 32
    PREVOTE = 33
    PRECOMMIT = 34
    ROUND_CHANGE = 35
    RETURN = 48
    ABANDON = 49


class Nature(Enum):
    """How an entry counts."""

    STEP = "step"
    VOTE = "vote"
    NOTE = "note"


NATURE: Final[Mapping[Kind, Nature]] = {
    kind: Nature.STEP if kind < Kind.PROPOSAL else Nature.VOTE if kind < Kind.RETURN else Nature.NOTE
    for kind in Kind
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What a seat may say only one thing under.  Two contents under one key are equivocation (F41-F43).

    ``prev`` is part of it: where another seat equivocated, honest seats may have gone on from either of its entries, and those
    whose side loses sign the next step again, on the other head and in the same epoch.  Two heads of one step always lead
    back to a first equivocation, which has one ``prev`` (docs/adr/005-said-once.md).  A COMPLAINT has the kind of the SHUFFLE
    in whose place it stands.
    """

    table: bytes
    epoch: int
    step: int
    seat: int
    kind: Kind
    round: int
    prev: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One signed statement.  Made by :func:`sign` or :func:`read`, never by hand; ``body`` is not to be changed."""

    table: bytes
    epoch: int
    step: int
    seat: int
    kind: Kind
    round: int
    body: Any
    prev: bytes
    content: bytes
    signature: bytes
    id: bytes

    @property
    def key(self) -> Key:
        return Key(
            table=self.table,
            epoch=self.epoch,
            step=self.step,
            seat=self.seat,
            kind=Kind.SHUFFLE if self.kind is Kind.COMPLAINT else self.kind,
            round=self.round,
            prev=self.prev,
        )

    @property
    def nature(self) -> Nature:
        return NATURE[self.kind]

    def value(self) -> list[Any]:
        """``[content, signature]``, as it stands in messages and files."""
        return [self.content, self.signature]

    def encode(self) -> bytes:
        return encode(self.value())

    def verify(self, key: bytes) -> None:
        """Raise VerificationError unless ``key`` signed exactly this content."""
        try:
            verify(key, _TAG, self.content, self.signature, seat=self.seat)
        except VerificationError as error:
            raise VerificationError(error.reason, error.message, seat=self.seat, step=self.step) from None


def content_of(
    *, table: bytes, epoch: int, step: int, seat: int, kind: Kind, round: int, body: Any, prev: bytes
) -> bytes:
    """The canonical bytes that are hashed and signed."""
    return encode([PROTOCOL_VERSION, table, epoch, step, seat, int(kind), round, body, prev])


def sign(
    identity: Identity,
    *,
    table: bytes,
    epoch: int,
    step: int,
    seat: int,
    kind: Kind,
    body: Any,
    prev: bytes,
    round: int = 0,
) -> Entry:
    """A new entry of ours.  The caller journals it before anything else is done with it."""
    content = content_of(
        table=table, epoch=epoch, step=step, seat=seat, kind=kind, round=round, body=body, prev=prev
    )
    return read(content, identity.sign(_TAG, content))


def entry_id(content: bytes) -> bytes:
    """The identity of a content: 32 bytes, its signature left out."""
    return tagged_hash("entry id", content)


def read(content: bytes, signature: bytes, *, field: str = "entry") -> Entry:
    """Read what arrived; the signature is not checked here.  Raises EncodingError with the field's path."""
    if len(content) <= _SHORT:
        try:
            return _read_short(content, signature)
        except EncodingError:
            pass  # again, for the path
    return _read(content, signature, field)


def _read(content: bytes, signature: bytes, field: str = "entry") -> Entry:
    value = array(decode(content, limits=_LIMITS, field=field), field=field, length=9)
    version = integer(value[0], field=f"{field}.version")
    if version != PROTOCOL_VERSION:
        raise EncodingError(
            f"protocol version {version}; this program implements version {PROTOCOL_VERSION}",
            field=f"{field}.version",
        )
    number = integer(value[5], field=f"{field}.kind")
    try:
        kind = Kind(number)
    except ValueError:
        raise EncodingError(f"unknown kind {number}", field=f"{field}.kind") from None
    return Entry(
        table=octets(value[1], field=f"{field}.table", length=HEAD_BYTES),
        epoch=integer(value[2], field=f"{field}.epoch", below=MAX_EPOCH),
        step=integer(value[3], field=f"{field}.step", below=MAX_STEP),
        seat=integer(value[4], field=f"{field}.seat", below=8),
        kind=kind,
        round=integer(value[6], field=f"{field}.round", below=MAX_ROUND),
        body=value[7],
        prev=octets(value[8], field=f"{field}.prev", length=HEAD_BYTES),
        content=content,
        signature=octets(signature, field=f"{field}.signature", length=SIGNATURE_BYTES),
        id=entry_id(content),
    )


_SHORT: Final = 1024
"""Most entries have fewer bytes.  The last of these are kept as read: an entry comes from its neighbours, in certificates and
back from the journal, and simulated peers hear the same ones."""

_read_short = lru_cache(maxsize=2048)(_read)


def from_value(value: object, *, field: str = "entry") -> Entry:
    """The entry in ``[content, signature]``.  Raises EncodingError; the signature is not checked here."""
    content, signature = array(value, field=field, length=2)
    return read(
        octets(content, field=f"{field}.content", at_most=MAX_CONTENT),
        octets(signature, field=f"{field}.signature", length=SIGNATURE_BYTES),
        field=field,
    )


def from_bytes(data: bytes, *, field: str = "entry") -> Entry:
    """The entry that :meth:`Entry.encode` wrote."""
    return from_value(decode(data, limits=_SIGNED_LIMITS, field=field), field=field)
