"""What one peer holds of its table: the closed steps, the unconfirmed end of them, and what has arrived.

Its parts know nothing of each other: the :class:`~protocol.ledger.Ledger` is what is closed, and the course it makes; the
:class:`~protocol.tail.Tail` whether a close may still change; the :class:`~protocol.shelf.Shelf` what came in.  Whoever judges
(:mod:`protocol.court`), compares (:mod:`protocol.forks`), speaks or moves on (:mod:`protocol.steps`) reads all three.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from protocol import events
from protocol.agreement import Agreement
from protocol.ballot import Certificate, Slot
from protocol.course import Course
from protocol.dealing import Decks
from protocol.doubt import Doubt
from protocol.effects import Effect
from protocol.entry import Entry
from protocol.game import Game
from protocol.judge import belongs
from protocol.ledger import Ledger
from protocol.position import Stage
from protocol.shelf import Shelf
from protocol.tail import Tail
from protocol.voice import Outbox, Voice

NEVER: Final = 1e12
"""Seconds that no table waits for."""

_PERSONAL: Final = frozenset((Stage.MOVE, Stage.ANSWER))


class Holdings:
    """One peer's log, as far as it is.  ``voice`` None: a spectator."""

    def __init__(
        self,
        agreement: Agreement,
        make_game: Callable[[Agreement], Game],
        decks: Decks,
        entropy: Callable[[int], bytes],
        voice: Voice | None,
        out: Outbox,
    ) -> None:
        self.agreement = agreement
        self.voice = voice
        self.me = voice.seat if voice is not None else None
        self.entropy = entropy
        self.out = out
        self.ledger = Ledger(agreement, make_game, decks, entropy)
        self.shelf = Shelf()
        self.tail = Tail(me=None)
        self.exposed: dict[int, bytes] = {}
        """The seats that there is evidence against, with the file."""
        self.live = False
        """Everything that the journal knew has been taken in."""
        self.doubt: Doubt | None = None
        """Set while the journal may lack what this seat has signed."""
        self.halted = False
        """There is evidence against this very seat."""
        self.over = False
        """The last result is final."""
        self._slot_of: tuple[bytes, int, int] | None = None
        self._slot: Slot
        """The open step, as it was asked for last."""

    # --- reads -----------------------------------------------------------------------------------------

    @property
    def course(self) -> Course:
        return self.ledger.course

    @property
    def quiet(self) -> bool:
        """Whether this seat signs nothing, whatever it owes."""
        return not self.live or self.halted or self.doubt is not None or self.over

    def entries_of(self, step: int) -> list[Entry]:
        """All that is known of a step: what it was closed with, and what is on the shelf."""
        entries = list(self.ledger.closed[step].entries) if step < len(self.ledger.closed) else []
        known = {entry.id for entry in entries}
        return entries + [entry for entry in self.shelf.of_step(step) if entry.id not in known]

    def held(self) -> list[Entry]:
        """What is held of the open step."""
        course = self.course
        return [entry for entry in self.shelf.of_step(course.step) if belongs(course, entry)]

    def patience_seconds(self) -> float:
        """How long the open step may take before the seats that owe it count as missing."""
        due, agreement = self.course.due, self.agreement
        if due.stage in (Stage.AGREE, Stage.DONE) or agreement.patient or len(self.course.roster) < 3:
            return NEVER
        sealed = self.course.window is not None and self.course.window.sealed
        if due.stage in _PERSONAL and not sealed:
            return agreement.turn_ms / 1000
        if due.stage is Stage.SEALED:
            return (agreement.window_ms + agreement.step_ms) / 1000
        return agreement.step_ms / 1000

    def has_room(self, entry: Entry) -> bool:
        """Whether the shelf may take this entry: what is for us never yields to what is not."""
        known = entry.step <= self.course.step
        prefix = (self.ledger.epoch_of(entry.step), self.ledger.head_before(entry.step)) if known else None
        return self.shelf.room_for(entry, self.course.step, prefix)

    def slot(self) -> Slot:
        """The open step, as votes name it."""
        course = self.course
        if (course.head, course.epoch, course.step) != self._slot_of:
            self._slot_of = (course.head, course.epoch, course.step)
            self._slot = Slot(
                table=self.agreement.table, epoch=course.epoch, step=course.step, prev=course.head
            )
        return self._slot

    def slot_at(self, step: int) -> Slot:
        """An open or closed step, as votes name it."""
        if step == self.course.step:
            return self.slot()
        closed = self.ledger.closed[step]
        return Slot(table=self.agreement.table, epoch=closed.epoch, step=step, prev=closed.prev)

    def asked_about(self) -> int:
        """The first step that somebody may still ask about."""
        return min((decision.slot.step for decision in self.tail.decisions), default=self.ledger.final)

    def unproved_at(self, step: int) -> list[Certificate]:
        """The certificates of the absences that the log before this step does not record."""
        course = self.course if step == self.course.step else self.ledger.course_at(step)
        return [self.ledger.certificates[open_.place.step] for open_ in course.unproved]

    def do(self, effect: Effect) -> None:
        self.out.effects.append(effect)

    def tell(self, event: events.Event) -> None:
        self.out.tell(event)
