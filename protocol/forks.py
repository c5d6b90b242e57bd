"""Two versions of one step: which one others stand on, and when to go over to it.

Threat.  A seat that signs two entries for one step can make honest seats close it differently.  Where a quorum stands on the
other version, ours cannot be confirmed any more, and whoever stays on it is left behind; where nobody knows which one will do,
the step is decided.  Without a liar there is one version only, so nothing is looked for until somebody is exposed.

==============================  ====================================================================================
event                           what is done
==============================  ====================================================================================
entries of a quorum stand on    the step is closed that way, whatever this peer knows of its authors (``adopt``): they can't
another closing than ours       all be undone
somebody stands on another      the step is contested: a decision about it begins (``contest``)
closing than ours
==============================  ====================================================================================
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

from protocol.ballot import Closing
from protocol.court import Court
from protocol.holdings import Holdings
from protocol.log import head_after
from protocol.quorum import quorum

LOOKAHEAD: Final = 16
"""How many steps further the search for who stands on a closing goes."""


class Forks:
    """Watches the steps that are not final for versions that are not ours."""

    def __init__(self, holdings: Holdings, court: Court) -> None:
        self._here = holdings
        self._court = court

    def adopt(self, now: float) -> bool:
        """Close a step the way in which entries of a quorum have it closed, if that is not our way."""
        if not self._here.exposed:
            return False  # without a liar there is one way only
        for step in range(self._here.ledger.final, self._here.course.step + 1):
            closed = self._here.ledger.closed[step] if step < len(self._here.ledger.closed) else None
            decision = self._here.tail.decision(self._here.slot_at(step))
            if decision is None:
                continue
            for closing in self._closings(step, decision.owed):
                head = head_after(decision.slot.prev, decision.slot.epoch, step, dict(closing))
                if closed is not None and head == closed.head:
                    continue
                standing = self._standing(step, decision.slot.epoch, head).intersection(decision.voters)
                if len(standing) >= quorum(len(decision.voters)) and self._here.tail.adopt(
                    step, closing, now
                ):
                    return True
        return False

    def contest(self, now: float) -> bool:
        """Ask about a step that has two versions, if somebody stands on the one that is not ours."""
        if not self._here.exposed:
            return False
        for closed in self._here.ledger.closed[self._here.ledger.final :]:
            decision = self._here.tail.decision(self._here.slot_at(closed.step))
            if decision is None or decision.round or len(self._closings(closed.step, decision.owed)) < 2:
                continue
            if any(
                entry.epoch == closed.epoch and entry.prev != closed.head
                for entry in self._here.shelf.of_step(closed.step + 1)
            ):
                self._here.tail.contest(closed.step, now)
                return decision.round > 0
        return False

    def _closings(self, step: int, owed: Sequence[int]) -> list[Closing]:
        """The ways to close a step with good entries that are here, nobody absent."""
        good = self._court.good(step)
        versions = [[entry.id for entry in good if entry.seat == seat] for seat in owed]
        if sum(len(of_seat) > 1 for of_seat in versions) > 3:
            return []  # more liars than any table bears; 81 ways at most are looked at
        return [tuple(zip(owed, chosen, strict=True)) for chosen in itertools.product(*versions)]

    def _standing(self, step: int, epoch: int, head: bytes) -> set[int]:
        """The seats that have signed an entry of a later step on this head of ``step``."""
        seats: set[int] = set()
        for later in range(step + 1, step + 1 + LOOKAHEAD):
            entries = {
                entry.seat: entry.id
                for entry in self._here.shelf.of_step(later)
                if entry.prev == head and entry.epoch == epoch
            }
            if not entries:
                break
            seats |= set(entries)
            head = head_after(head, epoch, later, entries)
        return seats
