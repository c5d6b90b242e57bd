"""What seats say beside the steps: that they want to sit down again, and that they have waited in vain.

Neither is owed by anybody, moves anything by itself, or is counted.  A RETURN is carried by the next RESULT; an ABANDON is for
the record.  Each stands on a place in the log, and is let go when the log has moved past it.
"""

from __future__ import annotations

from protocol import events
from protocol.abandonment import written
from protocol.entry import Entry, Kind
from protocol.errors import VerificationError
from protocol.holdings import Holdings
from protocol.judge import judge_abandonment, judge_return


class Notes:
    """The notes that stand, the latest of each seat."""

    def __init__(self, holdings: Holdings) -> None:
        self._here = holdings
        self.returns: dict[int, Entry] = {}
        self.abandoned: dict[int, Entry] = {}
        """Who has recorded that it waits in vain in the open step."""

    def take(self, note: Entry) -> bool:
        """A note whose signature holds.  Whether it stands and is new."""
        return self._take_return(note) if note.kind is Kind.RETURN else self._take_abandonment(note)

    def step_opened(self) -> None:
        """Whoever waited in vain waits no more."""
        self.abandoned = {}

    def _take_return(self, request: Entry) -> bool:
        """A dropped seat asks to sit down again.  Whether the request stands and is new."""
        known = self.returns.get(request.seat)
        if known is not None and known.id == request.id:
            return False
        try:
            judge_return(self._here.course, request)
        except VerificationError:
            return False
        self.returns[request.seat] = request
        return True

    def _take_abandonment(self, record: Entry) -> bool:
        """A seat says that it waited in vain in the open step.  Whether that stands and is new."""
        known = self.abandoned.get(record.seat)
        if known is not None and known.id == record.id:
            return False
        try:
            judge_abandonment(self._here.course, record)
        except VerificationError:
            return False
        self.abandoned[record.seat] = record
        ledger = self._here.ledger
        data = written(self._here.agreement, ledger.closed[ledger.final :], record)
        self._here.tell(events.Abandoned(seat=record.seat, step=record.step, data=data))
        return True

    def standing_returns(self) -> list[Entry]:
        """The requests to return that still stand, by seat."""
        standing = []
        for seat in sorted(self.returns):
            try:
                judge_return(self._here.course, self.returns[seat])
            except VerificationError:
                del self.returns[seat]
            else:
                if seat not in self._here.exposed:
                    standing.append(self.returns[seat])
        return standing
