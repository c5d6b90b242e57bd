"""The record of an abandoned table as a file, for whoever wants to show it.

``[2, agreement, [step record ...], [content, signature]]``, the content being that of an ABANDON entry (SPEC.md 9.10): its
author's signed word that it waited for the others in a step, on the log with this head, for as long as was agreed.  It
convicts nobody and wins nothing, so it is no evidence; its number follows those of the two forms of evidence only so that no
file can be taken for another sort.

The last steps before an open one are not final, so they are in no public log yet; without them nobody could follow the log
to where its author waited.  They are the step records.  How long somebody waited cannot be checked.  That the author signed
it, for which table, step and head, can be from the file alone; and whether a log stands there, from the log and the file.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from protocol.agreement import Agreement
from protocol.canonical import Limits, array, decode, encode, integer, octets
from protocol.course import Course
from protocol.entry import Entry, Kind, from_value
from protocol.errors import EncodingError, LocalProtocolError, VerificationError
from protocol.judge import judge_abandonment
from protocol.log import ClosedStep, PublishedStep, head_after, read_step
from protocol.verify import LogRefused, Verification

MAX_BYTES: Final = 1 << 24
_LIMITS: Final = Limits(max_bytes=MAX_BYTES, max_depth=5, max_nodes=1 << 12)
_ABANDONED: Final = 2
MOST_STEPS: Final = 64
"""A few steps are never final; while a table waits, no more of them close."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Abandonment:
    """A record whose signature holds."""

    agreement: Agreement
    tail: tuple[PublishedStep, ...]
    """The steps before it that were not final, each but for its own rules checked."""
    entry: Entry

    @property
    def name(self) -> str:
        return self.agreement.seats[self.entry.seat].name


class Standing(Enum):
    """How a log and a record of its table go together."""

    OPEN = "open"
    """The log, with the record's own steps, ends where the record was made: nothing has come since."""
    PAST = "past"
    """The log goes on from there: they came back."""
    AHEAD = "ahead"
    """The log ends before the record's steps begin: it is an older copy."""
    ELSEWHERE = "elsewhere"
    """The log has another head there, or nobody could have been waiting so: the record is of another log, or of none."""


def written(agreement: Agreement, tail: Sequence[ClosedStep], entry: Entry) -> bytes:
    """The file for an ABANDON entry; ``tail`` are the closed steps before it that no public log has yet."""
    steps = [closed.encode() for closed in tail[-MOST_STEPS:]]
    return encode([_ABANDONED, agreement.encode(), steps, entry.value()])


def is_abandonment(data: bytes) -> bool:
    """Whether these bytes claim to be such a file and no other sort."""
    if len(data) > MAX_BYTES:
        return False
    try:
        value = decode(data, limits=_LIMITS, field="abandonment")
    except EncodingError:
        return False
    return isinstance(value, list) and value[:1] == [_ABANDONED]


def read_abandonment(data: bytes) -> Abandonment:
    """What the file records.  Raises EncodingError, or VerificationError unless the signature holds and may be."""
    value = array(decode(data, limits=_LIMITS, field="abandonment"), field="abandonment", length=4)
    if integer(value[0], field="abandonment[0]") != _ABANDONED:
        raise EncodingError("is no record of an abandoned table", field="abandonment[0]")
    try:
        agreement = Agreement.decode(octets(value[1], field="abandonment.agreement"))
    except LocalProtocolError as error:
        raise EncodingError(str(error), field="abandonment.agreement") from None
    entry = from_value(value[3], field="abandonment.entry")
    if entry.table != agreement.table:
        raise VerificationError("other_table", "the record is of another table", step=entry.step)
    if entry.seat >= len(agreement.seats):
        raise VerificationError("no_seat", "the record is of a seat that this table does not have")
    if entry.kind is not Kind.ABANDON or (entry.round, entry.body) != (0, []):
        raise VerificationError("bad_abandonment", "the statement is no record of an abandoned table")
    if not agreement.abandon_ms:
        raise VerificationError("bad_abandonment", "the table agreed on no time to be abandoned after")
    entry.verify(agreement.keys[entry.seat])
    records = array(value[2], field="abandonment.steps", at_most=MOST_STEPS)
    tail = tuple(
        read_step(octets(record, field=f"abandonment.steps[{number}]"), number=number)
        for number, record in enumerate(records)
    )
    _check_tail(agreement, tail, entry)
    return Abandonment(agreement=agreement, tail=tail, entry=entry)


def _check_tail(agreement: Agreement, tail: Sequence[PublishedStep], entry: Entry) -> None:
    """Raise VerificationError unless these steps are signed and lead to where the record stands."""
    head = b""
    for number, given in enumerate(tail, start=entry.step - len(tail)):
        for seat, said in given.contributions:
            if said is None:
                continue
            head = head or said.prev
            place = (said.table, said.epoch, said.step, said.prev)
            if place != (entry.table, given.epoch, number, head) or seat >= len(agreement.seats):
                raise VerificationError(
                    "bad_abandonment", "its steps do not follow on each other", step=number
                )
            said.verify(agreement.keys[seat])
        if given.step != number or not head:
            raise VerificationError("bad_abandonment", "its steps are not those before it", step=given.step)
        ids = {seat: said.id if said else None for seat, said in given.contributions}
        head = head_after(head, given.epoch, given.step, ids)
    if tail and head != entry.prev:
        raise VerificationError("bad_abandonment", "its steps do not lead to it", step=entry.step)


class Witness:
    """Follows a log that is being verified, to tell how records of its table go with it."""

    def __init__(self, records: Sequence[Abandonment]) -> None:
        self.records = tuple(records)
        self._stood = [False] * len(self.records)

    def look(self, course: Course) -> None:
        """The log as it stands at its beginning, and after each step."""
        for index, record in enumerate(self.records):
            if course.step == record.entry.step:
                with contextlib.suppress(VerificationError):
                    judge_abandonment(course, record.entry)
                    self._stood[index] = True

    def follow(self, verification: Verification) -> list[Standing]:
        """Go on where the log ends, with the steps of the records; how each record stands then.

        A step that does not verify is as if its record had not brought it.
        """
        for record in self.records:
            for given in record.tail:
                if given.step == verification.course.step:
                    with contextlib.suppress(LogRefused):
                        verification.step(given, number=given.step + 1)
                        self.look(verification.course)
        return [self._standing(index, verification.course.step) for index in range(len(self.records))]

    def _standing(self, index: int, reached: int) -> Standing:
        record = self.records[index]
        if self._stood[index]:
            return Standing.OPEN if record.entry.step == reached else Standing.PAST
        begins = record.entry.step - len(record.tail)
        return Standing.AHEAD if begins > reached else Standing.ELSEWHERE
