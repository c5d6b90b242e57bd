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
from collections.abc import Iterable, Sequence
from typing import Final

from protocol.ballot import Closing
from protocol.court import Court
from protocol.entry import Entry
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
        chosen = _ways([entry for entry in self._court.good(step) if entry.seat in owed])
        return [tuple((seat, way[seat]) for seat in owed) for way in chosen if len(way) == len(owed)]

    def _standing(self, step: int, epoch: int, head: bytes) -> set[int]:
        """The seats that have signed something about a later step, an entry or a vote, on this head of ``step``.

        Whoever votes about a step has closed those before it.  Later steps may have versions too; each way is followed.
        """
        shelf = self._here.shelf
        seats: set[int] = set()
        heads = {head}
        for later in range(step + 1, step + 1 + LOOKAHEAD):
            entries = [
                entry for entry in shelf.of_step(later) if entry.epoch == epoch and entry.prev in heads
            ]
            votes = [vote for vote in shelf.votes_of(later) if vote.epoch == epoch and vote.prev in heads]
            seats.update(said.seat for said in (*entries, *votes))
            stood_on = {said.prev for said in (*shelf.of_step(later + 1), *shelf.votes_of(later + 1))}
            heads = stood_on.intersection(
                head_after(before, epoch, later, way)
                for before in heads
                for way in _ways([entry for entry in entries if entry.prev == before])
            )
            if not heads:
                break
        return seats


def _ways(entries: Iterable[Entry]) -> list[dict[int, bytes]]:
    """The ways to take one entry of each seat that has any."""
    versions: dict[int, list[bytes]] = {}
    for entry in entries:
        versions.setdefault(entry.seat, []).append(entry.id)
    if sum(len(of_seat) > 1 for of_seat in versions.values()) > 3:
        return []  # more liars than any table bears; 81 ways at most are looked at
    return [dict(zip(versions, chosen, strict=True)) for chosen in itertools.product(*versions.values())]
