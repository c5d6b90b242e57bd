"""The log: a chain of closed steps, and the public file made of them.

    head(-1) = H("genesis", table)
    head(k)  = H("head", head(k-1), epoch, step, [[seat, entry id or b""] ... sorted by seat])

b"" is an absence mark.  Certificates of absence are not hashed, so peers that hold different votes for one
decision have one head; the certificate enters the log as the body of a RECORD entry in the next step.

Public file, one record each: ``[0, agreement bytes]`` first, then ``[1, epoch, step, [item ...]]`` for each
step in order, where an item is ``[content, signature]`` or the bare number of an absent seat, sorted by seat.
A step is published when it is final, so the file is only ever appended to and is the same at every peer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from protocol.canonical import Limits, array, decode, encode, integer, octets
from protocol.entry import MAX_EPOCH, MAX_STEP, Entry, from_value
from protocol.errors import EncodingError
from protocol.identity import tagged_hash

RECORD_LIMITS: Final = Limits(max_bytes=1 << 20, max_depth=4, max_nodes=64)
_AGREEMENT: Final = 0
_STEP: Final = 1

Contribution = Entry | None
"""What a seat gave to a step; None is an absence mark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedStep:
    """One closed step.  ``prev`` is the head before it, ``head`` the head after; contributions by seat, sorted."""

    epoch: int
    step: int
    prev: bytes
    head: bytes
    contributions: tuple[tuple[int, Contribution], ...]

    @property
    def absent(self) -> tuple[int, ...]:
        return tuple(seat for seat, entry in self.contributions if entry is None)

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(entry for _, entry in self.contributions if entry is not None)

    def encode(self) -> bytes:
        """This step's record of the public file."""
        return encode(
            [
                _STEP,
                self.epoch,
                self.step,
                [seat if entry is None else entry.value() for seat, entry in self.contributions],
            ]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedStep:
    """A step's record as read from a file: nothing in it has been checked but its shape."""

    epoch: int
    step: int
    contributions: tuple[tuple[int, Contribution], ...]


def genesis(table: bytes) -> bytes:
    """The head before step 0."""
    return tagged_hash("genesis", table)


def head_after(prev: bytes, epoch: int, step: int, ids: Mapping[int, bytes | None]) -> bytes:
    """The head of a step that is closed with these entry ids by seat (None: absent)."""
    return tagged_hash(
        "head", prev, encode([epoch, step, [[seat, ids[seat] or b""] for seat in sorted(ids)]])
    )


def close(prev: bytes, epoch: int, step: int, contributions: Mapping[int, Contribution]) -> ClosedStep:
    """The step that these contributions close."""
    return ClosedStep(
        epoch=epoch,
        step=step,
        prev=prev,
        head=head_after(
            prev, epoch, step, {seat: entry.id if entry else None for seat, entry in contributions.items()}
        ),
        contributions=tuple(sorted(contributions.items(), key=lambda item: item[0])),
    )


def encode_agreement(agreement: bytes) -> bytes:
    """The first record of the public file."""
    return encode([_AGREEMENT, agreement])


def read_agreement(record: bytes) -> bytes:
    """The agreement's bytes from the first record.  Raises EncodingError."""
    value = array(decode(record, limits=RECORD_LIMITS, field="record 0"), field="record 0", length=2)
    if integer(value[0], field="record 0[0]") != _AGREEMENT:
        raise EncodingError("a log begins with the agreement", field="record 0[0]")
    return octets(value[1], field="record 0[1]")


def read_step(record: bytes, *, number: int) -> PublishedStep:
    """A later record of the public file.  Raises EncodingError with the field's path."""
    field = f"record {number}"
    value = array(decode(record, limits=RECORD_LIMITS, field=field), field=field, length=4)
    if integer(value[0], field=f"{field}[0]") != _STEP:
        raise EncodingError(f"a record of kind {_STEP} is expected", field=f"{field}[0]")
    contributions: list[tuple[int, Contribution]] = []
    for index, item in enumerate(array(value[3], field=f"{field}[3]", at_most=8)):
        where = f"{field}[3][{index}]"
        if isinstance(item, list):
            entry = from_value(item, field=where)
            contributions.append((entry.seat, entry))
        else:
            contributions.append((integer(item, field=where, below=8), None))
    seats = [seat for seat, _ in contributions]
    if seats != sorted(set(seats)):
        raise EncodingError("contributions are not sorted by seat, or one seat is there twice", field=field)
    return PublishedStep(
        epoch=integer(value[1], field=f"{field}[1]", below=MAX_EPOCH),
        step=integer(value[2], field=f"{field}[2]", below=MAX_STEP),
        contributions=tuple(contributions),
    )
