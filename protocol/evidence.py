"""Evidence: a file that convicts a seat, checkable by a stranger from the file alone.

``[0, agreement, reason, [content, signature], [content, signature]]``
    *exposed*: two statements signed by one seat that contradict each other (F41-F43, F46): two contents under
    one key, or two votes that :func:`protocol.ballot.contradiction` convicts.
``[1, agreement, reason, [step record ...], [certificate ...], [content, signature]]``
    *illegal*: one signed statement and the log up to it, which makes it wrong (F49, F52, F53).  The certificates are of absences
    which that log does not record itself.  If the statement is a COMPLAINT, it convicts whom the complaint proves to be
    at fault: the dealer of a bad backup share, or the complainer.

Being late is never evidence.  An accusation that does not check convicts nobody (F58).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from protocol import ballot
from protocol.agreement import Agreement
from protocol.ballot import Certificate, read_certificate, verify_certificate
from protocol.canonical import Limits, array, decode, encode, integer, octets, text
from protocol.course import Course
from protocol.dealing import Decks, PublicDeck
from protocol.entry import Entry, Kind, Nature, from_value
from protocol.errors import EncodingError, LocalProtocolError, VerificationError
from protocol.events import Accusation
from protocol.game import Game
from protocol.judge import belongs, judge
from protocol.log import ClosedStep, read_step
from protocol.verify import Verification

_LIMITS: Final = Limits(max_bytes=1 << 28, max_depth=5, max_nodes=1 << 20)
_EXPOSED: Final = 0
_ILLEGAL: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a piece of evidence proves, and against whom."""

    seat: int
    name: str
    accusation: Accusation
    reason: str
    step: int
    table: bytes
    message: str


def contradiction(first: Entry, second: Entry) -> str | None:
    """The reason for which two signed statements convict their author; None if they do not."""
    if first.id == second.id or first.seat != second.seat or first.table != second.table:
        return None
    if first.nature is Nature.VOTE and second.nature is Nature.VOTE:
        if (first.epoch, first.step, first.prev) != (second.epoch, second.step, second.prev):
            return None
        try:
            return ballot.contradiction(ballot.read_vote(first), ballot.read_vote(second))
        except EncodingError:
            return "double_vote" if first.key == second.key else None
    return "equivocation" if first.key == second.key else None


def exposed(agreement: Agreement, reason: str, first: Entry, second: Entry) -> bytes:
    """The file for two statements that contradict each other."""
    return encode([_EXPOSED, agreement.encode(), reason, first.value(), second.value()])


def illegal(
    agreement: Agreement,
    reason: str,
    prefix: Sequence[ClosedStep],
    certificates: Sequence[Certificate],
    entry: Entry,
) -> bytes:
    """The file for a statement that the log before it makes wrong."""
    return encode(
        [
            _ILLEGAL,
            agreement.encode(),
            reason,
            [closed.encode() for closed in prefix],
            [certificate.value() for certificate in certificates],
            entry.value(),
        ]
    )


def check(
    data: bytes, make_game: Callable[[Agreement], Game], decks: Decks, entropy: Callable[[int], bytes]
) -> Verdict:
    """What this evidence proves.  Raises EncodingError or VerificationError if it proves nothing."""
    value = array(decode(data, limits=_LIMITS, field="evidence"), field="evidence")
    if len(value) < 2:
        raise EncodingError("is not a piece of evidence", field="evidence")
    number = integer(value[0], field="evidence[0]")
    try:
        agreement = Agreement.decode(octets(value[1], field="evidence.agreement"))
    except LocalProtocolError as error:
        raise EncodingError(str(error), field="evidence.agreement") from None
    if number == _EXPOSED:
        array(value, field="evidence", length=5)
        first = from_value(value[3], field="evidence.first")
        second = from_value(value[4], field="evidence.second")
        return _check_exposed(agreement, text(value[2], field="evidence.reason", at_most=64), first, second)
    if number == _ILLEGAL:
        array(value, field="evidence", length=6)
        entry = from_value(value[5], field="evidence.entry")
        _check_signed(agreement, entry)
        course = _replay(agreement, value[3], value[4], make_game, decks, entropy)
        return _check_illegal(agreement, course, entry, entropy)
    raise EncodingError(f"unknown kind of evidence {number}", field="evidence[0]")


def explain(verdict: Verdict) -> str:
    """One English paragraph for whoever opens the file."""
    how = {
        Accusation.EXPOSED: "signed two statements that contradict each other",
        Accusation.ILLEGAL: "signed a statement that the log before it does not allow",
        Accusation.SUSPECTED: "did not answer",
    }[verdict.accusation]
    return (
        f"Seat {verdict.seat} ({verdict.name}) {how}, in step {verdict.step} of table "
        f"{verdict.table.hex()[:16]}: {verdict.message} ({verdict.reason}). "
        "The signatures are this seat's and were checked with the keys of the agreement; nothing else is needed."
    )


def _check_exposed(agreement: Agreement, claimed: str, first: Entry, second: Entry) -> Verdict:
    for entry in (first, second):
        _check_signed(agreement, entry)
    reason = contradiction(first, second)
    if reason is None or reason != claimed:
        raise VerificationError("bad_evidence", "the two statements do not contradict each other so")
    kinds = first.kind.name if first.kind is second.kind else f"{first.kind.name} and {second.kind.name}"
    return Verdict(
        seat=first.seat,
        name=agreement.seats[first.seat].name,
        accusation=Accusation.EXPOSED,
        reason=reason,
        step=first.step,
        table=agreement.table,
        message=f"two different {kinds} entries",
    )


def _check_illegal(
    agreement: Agreement, course: Course, entry: Entry, entropy: Callable[[int], bytes]
) -> Verdict:
    if not belongs(course, entry):
        raise VerificationError("bad_evidence", "the entry does not stand on the log that is given with it")
    try:
        judge(course, entry, entropy(32))
    except VerificationError as fault:
        return Verdict(
            seat=entry.seat,
            name=agreement.seats[entry.seat].name,
            accusation=Accusation.ILLEGAL,
            reason=fault.reason,
            step=entry.step,
            table=agreement.table,
            message=fault.message,
        )
    if entry.kind is Kind.COMPLAINT and course.deck is not None:
        return _judge_complaint(agreement, course.deck, entry)
    raise VerificationError("bad_evidence", "the entry is acceptable: nobody is to blame")


def complaint_reason(entry: Entry, at_fault: int) -> tuple[str, str]:
    """What a complaint proves, in a stable word and in English."""
    if at_fault == entry.seat:
        return "false_complaint", "complained about a backup share that is good"
    return "bad_backup", "dealt the seat that complains a backup share that is wrong"


def _judge_complaint(agreement: Agreement, deck: PublicDeck, entry: Entry) -> Verdict:
    at_fault = deck.close_complaint(entry.seat, entry.body)
    reason, message = complaint_reason(entry, at_fault)
    return Verdict(
        seat=at_fault,
        name=agreement.seats[at_fault].name,
        accusation=Accusation.ILLEGAL,
        reason=reason,
        step=entry.step,
        table=agreement.table,
        message=message,
    )


def _replay(
    agreement: Agreement,
    records: object,
    certificates: object,
    make_game: Callable[[Agreement], Game],
    decks: Decks,
    entropy: Callable[[int], bytes],
) -> Course:
    """The course after these steps, everything in them checked."""
    verification = Verification(agreement, make_game, decks, entropy)
    for number, record in enumerate(array(records, field="evidence.log"), start=1):
        verification.step(
            read_step(octets(record, field=f"evidence.log[{number}]"), number=number), number=number
        )
    course = verification.course
    given = [
        read_certificate(item, field=f"evidence.certificates[{index}]")
        for index, item in enumerate(array(certificates, field="evidence.certificates", at_most=64))
    ]
    if len(given) != len(course.unproved):
        raise VerificationError("bad_evidence", "an absence is not proved")
    for certificate, open_ in zip(given, course.unproved, strict=True):
        owed = [seat for seat, _ in open_.closing]
        verify_certificate(certificate, open_.place, open_.keys, kind=Kind.PRECOMMIT, owed=owed)
        if certificate.closing != open_.closing:
            raise VerificationError("bad_evidence", "a certificate is for another closing")
    return course


def _check_signed(agreement: Agreement, entry: Entry) -> None:
    if entry.table != agreement.table:
        raise VerificationError("bad_evidence", "a statement is of another table", seat=entry.seat)
    if entry.seat >= len(agreement.seats):
        raise VerificationError("bad_evidence", "a statement is of a seat that this table does not have")
    entry.verify(agreement.keys[entry.seat])
