"""Whether an entry of the open step is acceptable: the body of every kind, held against the course.

:func:`judge` returns None or raises VerificationError that names the seat, the step and a stable reason.  What it
refuses is *illegal*: signed, of this very prefix, and wrong; anybody who has the prefix can check that again (F49,
F52, F53).  It reads the course and changes nothing, so it may run in a worker thread.

==================  ======================================================================================
reason              the entry
==================  ======================================================================================
``out_of_turn``     its seat owes nothing to this step, or something of another kind (N34)
``bad_encoding``    its body is not of the kind's shape
``wrong_nonce``     does not reveal the nonce of the agreement
``illegal_move``    a move that the game refuses
``not_held``        opens what the seat does not hold (N26)
``wrong_answer``    opens another answer than was sealed
``wrong_ruling``    rules otherwise than the answers do (F44, N35)
``wrong_result``    another score or state than the log gives (F63)
``bad_return``      carries a request to return that does not stand
``bad_certificate`` absence without a quorum (F47)
``unknown_card``    plays a card that is none of the pack; its owner could not read it either, so it would not have
others              of the deck's proofs (N1 to N30)
==================  ======================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from protocol.agreement import verify_nonce
from protocol.ballot import read_certificate, verify_certificate
from protocol.canonical import array, octets, text
from protocol.course import Course
from protocol.dealing import PublicDeck
from protocol.deck import UNKNOWN_CARD
from protocol.entry import HEAD_BYTES, Entry, Kind, from_value
from protocol.errors import EncodingError, VerificationError
from protocol.game import Refused
from protocol.position import Stage
from protocol.window import NONCE_BYTES, commitment, open_slots

MAX_TEXT: Final = 200
MAX_SLOTS: Final = 128


def belongs(course: Course, entry: Entry) -> bool:
    """Whether the entry is a statement about the open step on this very prefix."""
    return (
        entry.table == course.agreement.table
        and entry.epoch == course.epoch
        and entry.step == course.step
        and entry.prev == course.head
    )


def judge(course: Course, entry: Entry, entropy: bytes) -> None:
    """Raise VerificationError unless this entry, which :func:`belongs`, is what its seat owes.

    ``entropy``: 32 fresh bytes, which no prover can aim at.  The signature is the caller's.
    """
    due = course.due
    if entry.seat not in due.seats or entry.kind not in due.kinds or entry.round != 0:
        owed = ", ".join(kind.name for kind in due.kinds)
        raise _fault(
            entry, "out_of_turn", f"{entry.kind.name} of this seat, but {owed} is owed by {due.seats}"
        )
    try:
        _JUDGES[due.stage](course, entry, entropy)
    except EncodingError as error:
        raise _fault(entry, "bad_encoding", str(error)) from None
    except Refused as refused:
        raise _fault(entry, "illegal_move", f"{refused} ({refused.rule or refused.code})") from None


def judge_return(course: Course, entry: Entry) -> None:
    """Raise VerificationError unless this is a standing request of a dropped seat to sit down again.

    It stands on the place where the present hand began, so an old one cannot be used again.
    """
    mark = course.mark
    if entry.kind is not Kind.RETURN or mark is None:
        raise _fault(entry, "bad_return", "not a request to return to this table now")
    if (entry.table, entry.epoch, entry.step, entry.prev, entry.round, entry.body) != (
        course.agreement.table,
        mark.epoch,
        mark.step,
        mark.prev,
        0,
        [mark.hand],
    ):
        raise _fault(entry, "bad_return", "a request that was made in another hand")
    if entry.seat in course.roster or entry.seat in course.banned or entry.seat >= course.game.seats:
        raise _fault(entry, "bad_return", "this seat cannot return")
    entry.verify(course.agreement.keys[entry.seat])


def judge_abandonment(course: Course, entry: Entry) -> None:
    """Raise VerificationError unless this says, of the open step, that a seat has waited in vain.

    How long it waited is its own word.  It stands as long as the step is open.
    """
    may = course.agreement.abandon_ms and (course.agreement.patient or len(course.roster) < 3)
    if entry.kind is not Kind.ABANDON or not may or entry.seat not in course.roster:
        raise _fault(entry, "bad_abandonment", "this table, or this seat, cannot be recorded as abandoned")
    if not belongs(course, entry) or (entry.round, entry.body) != (0, []):
        raise _fault(entry, "bad_abandonment", "a record of another step")


# --- by stage ------------------------------------------------------------------------------------------


def _agree(course: Course, entry: Entry, entropy: bytes) -> None:
    nonce = octets(entry.body, field="agree.nonce", length=HEAD_BYTES)
    verify_nonce(entry.seat, course.agreement.seats[entry.seat], nonce)


def _commit(course: Course, entry: Entry, entropy: bytes) -> None:
    _deck(course).check_commit(course.context(), entry.seat, entry.body)


def _reveal(course: Course, entry: Entry, entropy: bytes) -> None:
    _deck(course).check_reveal(course.context(), entry.seat, entry.body)


def _shuffle(course: Course, entry: Entry, entropy: bytes) -> None:
    deck = _deck(course)
    if entry.kind is Kind.SHUFFLE:
        deck.check_shuffle(course.context(), entry.seat, entry.body, entropy)
    elif course.cards_out:
        raise _fault(entry, "out_of_turn", "complaints are made before any card is dealt")
    else:
        deck.check_complaint(course.context(), entry.seat, entry.body, entropy)


def _shares(course: Course, entry: Entry, entropy: bytes) -> None:
    slots = course.slots_owed(entry.seat)
    _deck(course).check_shares(course.context(), entry.seat, slots, entry.body, entropy)


def _show(course: Course, entry: Entry, entropy: bytes) -> None:
    slots = course.slots_owed(entry.seat)
    try:
        _deck(course).check_opening(course.context(), entry.seat, slots, entry.body, entropy)
    except VerificationError as fault:
        # The shares are proven; that they show no card is not this seat's fault, and voids the hand when the step closes.
        if fault.reason != UNKNOWN_CARD:
            raise


def _move(course: Course, entry: Entry, entropy: bytes) -> None:
    said, slots, opening = read_move(array(entry.body, field="move", length=3), "move")
    faces: Mapping[int, int] = {}
    if slots:
        deck = _deck(course)
        try:
            faces = dict(open_slots(course.game, deck, course.context(), entry.seat, slots, opening, entropy))
        except VerificationError as fault:
            raise _fault(entry, fault.reason, fault.message) from None
    course.game.check(entry.seat, said, faces)


def _sealed(course: Course, entry: Entry, entropy: bytes) -> None:
    octets(entry.body, field="sealed", length=HEAD_BYTES)


def _answer(course: Course, entry: Entry, entropy: bytes) -> None:
    window = course.window
    assert window is not None
    body = array(entry.body, field="answer", length=4)
    read_move(body[:3], "answer")
    octets(body[3], field="answer.nonce", length=NONCE_BYTES if window.sealed else 0)
    if window.sealed:
        assert course.sealed_at is not None
        if commitment(course.sealed_at, entry.seat, body) != course.answers[entry.seat].commitment:
            raise _fault(entry, "wrong_answer", "the answer is not the one that was sealed")


def _ruling(course: Course, entry: Entry, entropy: bytes) -> None:
    if entry.body != course.ruling():
        raise _fault(entry, "wrong_ruling", "the ruling is not what the answers lead to")


def _result(course: Course, entry: Entry, entropy: bytes) -> None:
    body = array(entry.body, field="result", length=4)
    if body[:3] != course.result(())[:3]:
        raise _fault(entry, "wrong_result", "the result is not what the log leads to")
    seats = []
    for index, item in enumerate(array(body[3], field="result.returns", at_most=course.game.seats)):
        request = from_value(item, field=f"result.returns[{index}]")
        try:
            judge_return(course, request)
        except VerificationError as fault:
            # Whoever carries a request vouches for it; its author may have signed it for another hand.
            raise _fault(entry, "bad_return", fault.message) from None
        seats.append(request.seat)
    if seats != sorted(set(seats)):
        raise _fault(entry, "bad_return", "the requests to return are not sorted by seat")


def _record(course: Course, entry: Entry, entropy: bytes) -> None:
    certificates = array(entry.body, field="record", length=len(course.unproved))
    for index, (item, open_) in enumerate(zip(certificates, course.unproved, strict=True)):
        certificate = read_certificate(item, field=f"record[{index}]")
        owed = [seat for seat, _ in open_.closing]
        try:
            verify_certificate(certificate, open_.place, open_.keys, kind=Kind.PRECOMMIT, owed=owed)
        except VerificationError as fault:
            raise _fault(entry, "bad_certificate", fault.message) from None
        if certificate.closing != open_.closing:
            raise _fault(entry, "bad_certificate", f"it closes step {open_.place.step} otherwise")


def _restore(course: Course, entry: Entry, entropy: bytes) -> None:
    shares = array(entry.body, field="restore", length=len(course.leaving))
    for dropped, share in zip(course.leaving, shares, strict=True):
        _deck(course).check_restore(course.context(), entry.seat, dropped, share)


def _end(course: Course, entry: Entry, entropy: bytes) -> None:
    array(entry.body, field="end", length=0)


_JUDGES: Final[Mapping[Stage, Callable[[Course, Entry, bytes], None]]] = {
    Stage.AGREE: _agree,
    Stage.COMMIT: _commit,
    Stage.REVEAL: _reveal,
    Stage.SHUFFLE: _shuffle,
    Stage.SHARES: _shares,
    Stage.SHOW: _show,
    Stage.MOVE: _move,
    Stage.SEALED: _sealed,
    Stage.ANSWER: _answer,
    Stage.RULING: _ruling,
    Stage.RESULT: _result,
    Stage.RECORD: _record,
    Stage.RESTORE: _restore,
    Stage.END: _end,
    Stage.DONE: _end,
}


# --- shapes --------------------------------------------------------------------------------------------


def read_move(body: list[Any], field: str) -> tuple[str, list[int], Any]:
    """``[text, slots, opening]``: slots rise, and there is an opening exactly if there are slots."""
    said = text(body[0], field=f"{field}.text", at_most=MAX_TEXT)
    slots = array(body[1], field=f"{field}.slots", at_most=MAX_SLOTS)
    for index, slot in enumerate(slots):
        if type(slot) is not int or (index and slot <= slots[index - 1]):
            raise EncodingError("slots are rising numbers", field=f"{field}.slots[{index}]")
    if not slots and body[2] != []:
        raise EncodingError("an opening of no slots is an empty list", field=f"{field}.opening")
    return said, slots, body[2]


def _deck(course: Course) -> PublicDeck:
    assert course.deck is not None
    return course.deck


def _fault(entry: Entry, reason: str, message: str) -> VerificationError:
    return VerificationError(reason, message, seat=entry.seat, step=entry.step)
