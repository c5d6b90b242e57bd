"""Telling a caller that no decision can leave the call out any more, whoever is arbiter.

A response that N-q+1 honest seats hold, before they have voted for its omission, is in every closing that can be decided.  The
author is one of them; of the others as many as f may lie about it (:func:`~protocol.quorum.acknowledgements_for_safety`).

=======  ==================================================================  =============================
state    event                                                               next
=======  ==================================================================  =============================
none     this seat has sealed an answer                                      sealed
sealed   N-q+f others have said that they hold it (Tail.acknowledged), or    none, and ``AnswerSafe``
         the step is final with it
sealed   the step is final without it, or void                               none
=======  ==================================================================  =============================
"""

from __future__ import annotations

from protocol import events
from protocol.ballot import Slot
from protocol.entry import Entry, Kind
from protocol.holdings import Holdings
from protocol.quorum import acknowledgements_for_safety


class Assurance:
    """Watches over this seat's sealed answer."""

    def __init__(self, holdings: Holdings) -> None:
        self._here = holdings
        self._sealed: Entry | None = None

    def said(self, entry: Entry) -> None:
        """This seat has said something."""
        if entry.kind is Kind.SEALED:
            self._sealed = entry

    def resume(self) -> None:
        """After a restart: take up the last answer that is not final yet."""
        ledger = self._here.ledger
        for closed in ledger.closed[ledger.final :]:
            for entry in closed.entries:
                if entry.seat == self._here.me:
                    self.said(entry)

    def look(self) -> None:
        """Tell what has become certain."""
        if self._sealed is None:
            return
        safe = self._is_safe(self._sealed)
        if safe is None:
            return
        if safe:
            self._here.tell(events.AnswerSafe(step=self._sealed.step))
        self._sealed = None

    def _is_safe(self, sealed: Entry) -> bool | None:
        """None: that is open yet."""
        if sealed.step < self._here.ledger.final:
            return self._here.ledger.has(sealed)
        slot = Slot(table=sealed.table, epoch=sealed.epoch, step=sealed.step, prev=sealed.prev)
        decision = self._here.tail.decision(slot)
        if decision is None:
            return False  # an earlier step was decided otherwise, and the answer is void with its head
        holders = self._here.tail.acknowledged(slot, sealed.seat, sealed.id)
        return True if len(holders) >= acknowledgements_for_safety(len(decision.voters)) else None
