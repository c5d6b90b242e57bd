"""An attack: look at the cards of one shuffle, then have another one closed.

Two of four seats work together.  The last to shuffle signs two shuffles and shows the others the first.  They give their shares
of the cards that were dealt; the two keep theirs back, so nothing is prepared, and read their own hands.  Whoever shuffled
knows where these cards are in its *second* shuffle: into it the two could have put them where they like, into their friend's
hand or into a victim's.  So no honest seat votes for the second: who has seen two entries of one seat votes for what it has
closed the step with, or for neither.  Then the hand is begun anew, with fresh keys, and what was seen is worth nothing.
"""

from __future__ import annotations

from typing import Any

from protocol import gossip
from protocol.ballot import ABSENT, Closing, precommit_body, prevote_body, proposal_body, round_change_body
from protocol.course import Course
from protocol.entry import Kind, from_value, sign
from protocol.position import Stage
from protocol.quorum import arbiter_of
from tests.protocol.liars import Twins, tell
from tests.protocol.tables import Table, identity

ROUNDS = 8


class Coalition:
    """The last to shuffle and the seat before it, against the other two."""

    def __init__(self) -> None:
        self.table = Table(4, options={"bids": "no", "rounds": "1"})
        self.twins = Twins(self.table)
        for seat in range(4):
            self.twins.lie(seat, Kind.SHUFFLE, self.another_shuffle, (), when=self.is_last)
        self.table.run(until=lambda: bool(self.twins.pairs))
        self.shown, self.kept = self.twins.pairs[0]
        self.step = self.shown.step
        self.liars = (self.shown.seat, self.course(0).shuffle_before(self.shown.seat))
        self.honest = [peer for peer in self.table.peers if peer.seat not in self.liars]

    def course(self, seat: int) -> Any:
        return _Shufflers(self.table.peers[seat].session)

    def another_shuffle(self, course: Course, body: Any) -> dict[str, Any]:
        """Made as the first one was, in another order."""
        voice: Any = self.table.peers[course.due.seats[0]].session._voice
        kind, other = voice.own.maker(course, (), ())()
        assert kind is Kind.SHUFFLE
        return {"body": other}

    @staticmethod
    def is_last(course: Course) -> bool:
        return course.due.seats[0] == course.shufflers()[-1]

    def look_at_the_first_deck(self) -> None:
        """The honest seats give their shares of the first deck; the two give nobody theirs, and read their hands."""
        self.table.lose = self.keep_back
        liars = [self.table.peers[seat] for seat in self.liars]
        self.table.run(until=lambda: all(peer.session.faces for peer in liars))
        for peer in self.honest:
            assert peer.session.stage is Stage.SHARES
        for peer in liars:
            peer.up = False  # from here on they say what this test says

    def keep_back(self, source: int, target: int, message: bytes) -> bool:
        if source not in self.liars or target in self.liars:
            return False
        said = gossip.read(message)
        return not isinstance(said, gossip.Entries) or any(
            from_value(value).step > self.step for value in said.entries
        )

    def show_the_second(self) -> None:
        for peer in self.honest:
            tell(peer, self.kept, source=self.shown.seat)
        self.drain()

    def drain(self) -> None:
        while self.table.queue:
            self.table.step()

    def vote(self, kind: Kind, round: int, body: Any, seats: tuple[int, ...] = ()) -> None:
        """The two (or these seats) say so to the honest ones."""
        for seat in seats or self.liars:
            entry = sign(
                identity(seat),
                table=self.shown.table,
                epoch=self.shown.epoch,
                step=self.step,
                seat=seat,
                kind=kind,
                round=round,
                body=body,
                prev=self.shown.prev,
            )
            for peer in self.honest:
                tell(peer, entry, source=seat)
        self.drain()

    def press_for(self, closing: Closing, rounds: range) -> None:
        """Ask for every round, propose this closing when it is their turn to lead, and vote for nothing else."""
        for round in rounds:
            self.vote(Kind.ROUND_CHANGE, round, round_change_body(closing))
            self.table.run(until=lambda round=round: self.in_round(round) or self.decided())  # type: ignore[misc]
            leader = arbiter_of(self.step, round, range(4))
            if leader in self.liars:
                self.vote(Kind.PROPOSAL, round, proposal_body(closing, None), (leader,))
            self.vote(Kind.PREVOTE, round, prevote_body(closing, (), self.liars[:1], 0))
            self.vote(Kind.PRECOMMIT, round, precommit_body(closing, ()))
            if self.decided():
                return

    def decision(self, peer: Any) -> Any:
        decisions = peer.session._steps.tail.decisions
        return next((found for found in decisions if found.slot.step == self.step), None)

    def in_round(self, round: int) -> bool:
        return all(self.decision(peer).round >= round for peer in self.honest)

    def decided(self) -> bool:
        return all(self.decision(peer) is None or self.decision(peer).outcome for peer in self.honest)

    def closed_with(self) -> set[bytes]:
        """What the honest seats have closed the last shuffle with."""
        ledgers = [peer.session._steps.ledger for peer in self.honest]  # type: ignore[attr-defined]
        given = [dict(ledger.closed[self.step].contributions)[self.shown.seat] for ledger in ledgers]
        return {entry.id if entry else ABSENT for entry in given}


class _Shufflers:
    def __init__(self, session: Any) -> None:
        self._course = session._steps.course

    def shuffle_before(self, seat: int) -> int:
        order = self._course.shufflers()
        found: int = order[order.index(seat) - 1]
        return found


def test_n22_a_second_shuffle_is_never_closed_after_the_cards_of_the_first_were_seen() -> None:
    two = Coalition()
    two.look_at_the_first_deck()
    two.show_the_second()
    two.press_for(((two.shown.seat, two.kept.id),), range(1, ROUNDS + 1))
    assert two.closed_with() == {two.shown.id}
