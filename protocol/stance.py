"""Where one seat stands on a step: what it holds, what it has said, what it is locked on, and so what it may vote for.

What is acceptable, to a seat that is asked to prevote for closing v in round r:

1. Each response in v is one that it holds.
2. v omits no response that it holds, unless the author is exposed as a liar.
3. v marks nobody absent before its own timer has expired, unless exposed.
4. It is not locked on another closing.
5. Where it holds two responses of one seat, v has the one that it closed the step with, or marks that seat absent.

Without 5 the last to shuffle could sign two shuffles, have the cards of the first dealt, read its own with its friends, and then
have the second closed, into which it had put what it now knows.  So who leads proposes the absence of whoever
contradicts itself, unless it is locked.

A prevote certificate for v of an earlier round r' excuses 1 to 3 and 5, and 4 if the lock is not from later than
r'.  And the rule that keeps round 0 sound: a seat that has prevoted for, or is locked on, another closing signs
nothing that stands on its tentative close (:attr:`Stance.may_stand`) until the step is decided or confirmed.
"""

from __future__ import annotations

from protocol.ballot import ABSENT, Certificate, Closing, Vote
from protocol.entry import Kind
from protocol.poll import Poll


class Stance:
    """One seat's stance on one step; ``owed``: the seats that owe an entry to it."""

    def __init__(self, owed: tuple[int, ...]) -> None:
        self.owed = owed
        self.tentative: Closing | None = None
        """How this seat has closed the step so far."""
        self.confirmed = False
        """No other closing than the tentative one can be decided any more."""
        self.lock: tuple[int, Closing] | None = None
        """(round, closing) that this seat is locked on."""
        self.patient = True
        """The timer for what is owed has not expired."""
        self.said: dict[tuple[int, Kind], Closing] = {}
        """The own votes, by round and kind."""
        self.exposed: set[int] = set()
        self.equivocated = False
        """Two responses of one seat are held."""
        self._held: dict[int, list[bytes]] = {}

    # --- what is held ----------------------------------------------------------------------------------

    def hold(self, seat: int, entry: bytes) -> bool:
        """Take in a response.  Whether it is new; a second one exposes its author."""
        entries = self._held.setdefault(seat, [])
        if entry in entries:
            return False
        entries.append(entry)
        if len(entries) > 1:
            self.exposed.add(seat)
            self.equivocated = True
        return True

    @property
    def missing(self) -> tuple[int, ...]:
        """The seats that owe a response of which none is held, or none that counts."""
        return tuple(seat for seat in self.owed if seat not in self._held or seat in self.exposed)

    @property
    def holding(self) -> Closing:
        """The first response held of each seat, as votes tell it."""
        return tuple((seat, self._held[seat][0]) for seat in self.owed if seat in self._held)

    # --- what may be said ------------------------------------------------------------------------------

    @property
    def may_stand(self) -> bool:
        """Whether this seat may sign what stands on its tentative close, while that may still be overridden."""
        if self.tentative is None:
            return False
        if not self.said:
            return not self.locked_against(self.tentative)
        voted = (
            closing for (_, kind), closing in self.said.items() if kind in (Kind.PREVOTE, Kind.PRECOMMIT)
        )
        return all(closing == self.tentative for closing in voted) and not self.locked_against(self.tentative)

    def locked_against(self, closing: Closing) -> bool:
        """Whether this seat is locked on another closing."""
        return self.lock is not None and self.lock[1] != closing

    def bars(self, closing: Closing) -> bool:
        """Whether another closing is final already."""
        return self.confirmed and closing != self.tentative

    def to_propose(self, round: int, poll: Poll) -> tuple[Closing, Certificate | None] | None:
        """The closing to propose as leader of ``round``, with its certificate; None if it is too early for any."""
        found = poll.best_before(round)
        locked_in = self.lock[0] if self.lock is not None else 0
        if found is not None and not self.bars(found.closing) and found.round >= locked_in:
            return found.closing, found
        if self.confirmed:
            closing = self.tentative
        elif self.lock is not None:
            closing = self.lock[1]
        else:
            closing = None if self.equivocated else self.tentative
        closing = closing or self._what_is_held()
        return None if closing is None else (closing, None)

    def justification(self, proposal: Vote, poll: Poll, round: int) -> int | None:
        """The round of the certificate that a prevote for ``proposal`` needs; 0 if none; None if it is refused."""
        closing = proposal.closing
        if self.bars(closing):
            return None
        needed = 0 if self._fits(closing) else 1
        if self.lock is not None and self.locked_against(closing):
            needed = max(needed, self.lock[0], 1)
        # A lock that was given up for a certificate must stay explained by it: see ballot.contradiction.
        for (earlier, kind), said in self.said.items():
            if kind is Kind.PRECOMMIT and said != closing:
                needed = max(needed, earlier)
        if needed == 0:
            return 0
        carried = proposal.certificate.round if proposal.certificate is not None else 0
        if carried >= needed:
            return carried
        rounds = poll.certified_rounds(closing, before=round)
        return max((certified for certified in rounds if certified >= needed), default=None)

    def _what_is_held(self) -> Closing | None:
        """The closing to propose while some entries are missing; None if it is too early to call anyone absent."""
        missing = self.missing
        if self.patient and any(seat not in self.exposed for seat in missing):
            return None
        return tuple((seat, ABSENT if seat in missing else self._held[seat][0]) for seat in self.owed)

    def _fits(self, closing: Closing) -> bool:
        """Conditions 1, 2, 3 and 5 of the theory above."""
        closed = dict(self.tentative or ())
        for seat, entry in closing:
            if entry != ABSENT:
                held = self._held.get(seat, ())
                if entry not in held or (len(held) > 1 and entry != closed.get(seat)):
                    return False
            elif seat not in self.exposed and (self.patient or seat in self._held):
                return False
        return True
