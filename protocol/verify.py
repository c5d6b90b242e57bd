"""Checking a public log offline: every signature, link, proof, share, opening, move, ruling and score.

The verifier holds the same :class:`~protocol.course.Course` as a session and judges every entry in it, so a log that
passes is a log that honest seats would have accepted entry by entry.  What fails names the step, the seat and the
reason.  A log may end after any step ("unfinished"); its last absences may then lack their certificate, which the
report says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from protocol import log
from protocol.agreement import Agreement
from protocol.course import Course
from protocol.dealing import Decks
from protocol.entry import Kind
from protocol.errors import EncodingError, LocalProtocolError, ProtocolError, VerificationError
from protocol.events import Event, GameOver, HandOver, Ruled, SeatDropped
from protocol.game import Game
from protocol.identity import words
from protocol.judge import belongs, judge
from protocol.log import PublishedStep
from protocol.position import Stage, scores_of


class LogRefused(ProtocolError):  # noqa: N818 - the verdict, not a mistake of this program
    """A log that does not verify.  ``record`` counts from 0 (the agreement); ``seat`` and ``step`` where known."""

    code = "log_refused"

    def __init__(
        self, reason: str, message: str, *, record: int, step: int | None = None, seat: int | None = None
    ) -> None:
        where = f"record {record}"
        where += f", step {step}" if step is not None else ""
        where += f", seat {seat}" if seat is not None else ""
        super().__init__(f"{where}: {message} ({reason})")
        self.reason = reason
        self.message = message
        self.record = record
        self.step = step
        self.seat = seat


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a log that verifies says.

    ``finished``: the last result is there, signed.  ``unproved``: absences at the very end whose certificate would have come
    with the next step.
    """

    agreement: Agreement
    table: bytes
    words: str
    steps: int
    epochs: int
    hands: int
    entries: int
    proofs: int
    rulings: int
    dropped: tuple[int, ...]
    scores: tuple[int, ...]
    winners: tuple[int, ...]
    finished: bool
    unproved: int
    head: bytes


class Verification:
    """A log under examination, step by step."""

    def __init__(
        self,
        agreement: Agreement,
        make_game: Callable[[Agreement], Game],
        decks: Decks,
        entropy: Callable[[int], bytes],
    ) -> None:
        self.agreement = agreement
        self.course = Course(agreement, make_game, decks)
        self.entries = 0
        self.proofs = 0
        self._entropy = entropy

    def step(self, given: PublishedStep, *, number: int) -> list[Event]:
        """Check the next step and close it.  Raises LogRefused."""
        course, due = self.course, self.course.due
        try:
            if (given.epoch, given.step) != (due.epoch, due.step):
                raise VerificationError(
                    "wrong_step", f"step {due.step} of epoch {due.epoch} is expected", step=given.step
                )
            if due.stage in (Stage.END, Stage.DONE):
                raise VerificationError("after_the_end", "the last result ends the log", step=given.step)
            if tuple(seat for seat, _ in given.contributions) != due.seats:
                raise VerificationError(
                    "wrong_seats", "the entries are not of the seats that owe the step", step=given.step
                )
            for _, entry in given.contributions:
                if entry is None:
                    continue
                entry.verify(self.agreement.keys[entry.seat])
                if not belongs(course, entry):
                    raise VerificationError(
                        "wrong_link",
                        "the entry belongs to another table, epoch, step or prefix",
                        seat=entry.seat,
                        step=due.step,
                    )
                judge(course, entry, self._entropy(32))
                self.entries += 1
                self.proofs += entry.kind in _PROVED
            _, events = course.close(dict(given.contributions), self._entropy(32))
        except VerificationError as fault:
            raise LogRefused(
                fault.reason, fault.message, record=number, step=due.step, seat=fault.seat
            ) from None
        except LocalProtocolError as error:
            raise LogRefused("impossible", str(error), record=number, step=due.step) from None
        return events


_PROVED = (Kind.COMMIT, Kind.REVEAL, Kind.SHUFFLE, Kind.COMPLAINT, Kind.SHARES, Kind.SHOW, Kind.RESTORE)


def verify_log(
    records: Iterable[bytes],
    make_game: Callable[[Agreement], Game],
    decks: Decks,
    entropy: Callable[[int], bytes],
    *,
    watch: Callable[[Verification, list[Event]], None] | None = None,
) -> Summary:
    """Check a public log from the agreement to its last signature.

    ``records`` as :class:`protocol.effects.Publish` gave them, the file's own framing removed.  ``watch`` is
    called after each step with what it changed (for a replay).  Raises LogRefused.
    """
    iterator = iter(records)
    first = next(iterator, None)
    if first is None:
        raise LogRefused("empty", "the log is empty; not even the agreement is there", record=0)
    try:
        agreement = Agreement.decode(log.read_agreement(first))
    except VerificationError as fault:
        raise LogRefused(fault.reason, fault.message, record=0, seat=fault.seat) from None
    except ProtocolError as error:
        raise LogRefused("bad_agreement", str(error), record=0) from None
    verification = Verification(agreement, make_game, decks, entropy)
    said: list[Event] = []
    for number, record in enumerate(iterator, start=1):
        try:
            given = log.read_step(record, number=number)
        except EncodingError as error:
            raise LogRefused("bad_encoding", str(error), record=number) from None
        events = verification.step(given, number=number)
        said += [event for event in events if isinstance(event, HandOver | GameOver | Ruled | SeatDropped)]
        if watch is not None:
            watch(verification, events)
    return _summary(verification, said)


def _summary(verification: Verification, said: list[Event]) -> Summary:
    course = verification.course
    over = [event for event in said if isinstance(event, GameOver)]
    return Summary(
        agreement=verification.agreement,
        table=verification.agreement.table,
        words=words(course.first_head) if course.first_head else "",
        steps=course.step,
        epochs=course.epoch + 1,
        hands=sum(isinstance(event, HandOver) and event.hand > 0 for event in said),
        entries=verification.entries,
        proofs=verification.proofs,
        rulings=sum(isinstance(event, Ruled) and event.arbiter is not None for event in said),
        dropped=tuple(event.seat for event in said if isinstance(event, SeatDropped)),
        scores=scores_of(course.game),
        winners=over[0].winners if over else (),
        finished=bool(over),
        unproved=len(course.unproved),
        head=course.head,
    )
