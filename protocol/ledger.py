"""The log as one peer holds it: every closed step, how far it is final, and the way back to where it is not.

A close may still be overridden by a decision until it is final (:mod:`protocol.tail`).  Going back is rare, so
nothing is copied for it but the course at the beginning of each hand; from there the closed steps are taken in
again, without judging them anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from protocol import log
from protocol.agreement import Agreement
from protocol.archive import Archive
from protocol.ballot import Certificate
from protocol.course import Course
from protocol.dealing import Decks
from protocol.entry import Entry
from protocol.errors import LocalProtocolError
from protocol.events import Event
from protocol.game import Game
from protocol.log import ClosedStep, Contribution
from protocol.position import Stage


class Ledger:
    """Closed steps and the course that they make."""

    def __init__(
        self,
        agreement: Agreement,
        make_game: Callable[[Agreement], Game],
        decks: Decks,
        entropy: Callable[[int], bytes],
    ) -> None:
        self._make: Callable[[], Course] = partial(Course, agreement, make_game, decks)
        self._entropy = entropy
        self.course = self._make()
        self.closed = Archive()
        self.final = 0
        """Steps below this number cannot change any more."""
        self.certificates: dict[int, Certificate] = {}
        """Of the decided steps, by step."""
        self._stages: list[Stage] = []
        self._hands: list[Course] = []

    def stage_of(self, step: int) -> Stage:
        """What a closed step was for."""
        return self._stages[step]

    def head_before(self, step: int) -> bytes:
        """The head that entries of this step, closed or open, stand on."""
        return self.closed[step].prev if step < len(self.closed) else self.course.head

    def epoch_of(self, step: int) -> int:
        return self.closed[step].epoch if step < len(self.closed) else self.course.epoch

    def entry_at(self, step: int, seat: int) -> Entry | None:
        """The entry of this seat in a closed step."""
        return dict(self.closed[step].contributions).get(seat)

    def has(self, entry: Entry) -> bool:
        """Whether this very entry is in a closed step."""
        known = self.entry_at(entry.step, entry.seat) if entry.step < len(self.closed) else None
        return known is not None and known.id == entry.id

    def close(self, contributions: Mapping[int, Contribution]) -> tuple[ClosedStep, list[Event]]:
        """Close the open step."""
        stage = self.course.stage
        closed, events = self.course.close(contributions, self._entropy(32))
        self.closed.append(closed)
        self._stages.append(stage)
        if self.course.stage is Stage.COMMIT:
            self._hands.append(self.course.copy())
        return closed, events

    def go_back(self, step: int) -> list[ClosedStep]:
        """Open this step again.  Returns the closed steps that are void now."""
        if not self.final <= step <= len(self.closed):
            raise LocalProtocolError(f"step {step} cannot be opened again: {self.final} steps are final")
        undone = self.closed[step:]
        self.course = self.course_at(step)
        self.closed.cut(step)
        del self._stages[step:]
        self._hands = [hand for hand in self._hands if hand.step <= step]
        for late in [number for number in self.certificates if number >= step]:
            del self.certificates[late]
        return undone

    def course_at(self, step: int) -> Course:
        """An independent course, as it was when ``step`` was open."""
        hands = [hand for hand in self._hands if hand.step <= step]
        course = hands[-1].copy() if hands else self._make()
        for closed in self.closed[course.step : step]:
            course.close(dict(closed.contributions), self._entropy(32))
        return course

    def settle(self, step: int) -> list[ClosedStep]:
        """This step and all before it are final.  Returns those that were not before, in order."""
        settled = self.closed[self.final : step + 1]
        self.final = max(self.final, step + 1)
        self.closed.put_away(self.final)
        final_hands = [hand for hand in self._hands if hand.step <= self.final]
        self._hands = [*final_hands[-1:], *(hand for hand in self._hands if hand.step > self.final)]
        return settled

    def agreement_record(self) -> bytes:
        """The first record of the public file."""
        return log.encode_agreement(self.course.agreement.encode())
