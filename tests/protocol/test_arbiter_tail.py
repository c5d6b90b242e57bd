"""The tail: what stands on what, when it is confirmed, and what a decision voids."""

from __future__ import annotations

import pytest

from protocol.arbiter import Decision, Phase, Times
from protocol.arbiter_effects import Cast, Closed, Decided
from protocol.ballot import (
    ABSENT,
    Certificate,
    Closing,
    Slot,
    make_certificate,
    precommit_body,
    prevote_body,
    proposal_body,
    read_vote,
    round_change_body,
)
from protocol.entry import Entry, Kind, sign
from protocol.errors import LocalProtocolError
from protocol.identity import Identity
from protocol.tail import Confirmed, Tail

SEATS = [Identity(bytes([seat + 1]) * 32) for seat in range(4)]
KEYS = {seat: identity.public_key for seat, identity in enumerate(SEATS)}
TIMES = Times(patience_seconds=30.0, round_seconds=2.0)
EVERYBODY = (0, 1, 2, 3)


def slot(step: int, *, epoch: int = 0, prev: int | None = None) -> Slot:
    return Slot(table=b"T" * 32, epoch=epoch, step=step, prev=bytes([step if prev is None else prev]) * 32)


def eid(step: int, seat: int, version: int = 0) -> bytes:
    return bytes([step, seat, version, 0]) * 8


def closing(step: int, *, absent: tuple[int, ...] = (), owed: tuple[int, ...] = EVERYBODY) -> Closing:
    return tuple((seat, ABSENT if seat in absent else eid(step, seat)) for seat in owed)


def vote(place: Slot, seat: int, kind: Kind, round: int, body: list[object]) -> Entry:
    return sign(
        SEATS[seat],
        table=place.table,
        epoch=place.epoch,
        step=place.step,
        seat=seat,
        kind=kind,
        round=round,
        body=body,
        prev=place.prev,
    )


def decided(place: Slot, value: Closing) -> Certificate:
    return make_certificate(
        [read_vote(vote(place, seat, Kind.PRECOMMIT, 1, precommit_body(value, ()))) for seat in (0, 1, 2)]
    )


class Scripted:
    """Seat 0's tail, told what happens; four seats."""

    def __init__(self, me: int | None = 0) -> None:
        self.tail = Tail(me=me)
        self.tail.go_live(0.0)

    def open(self, step: int, owed: tuple[int, ...] = EVERYBODY, place: Slot | None = None) -> Decision:
        place = place or slot(step)
        self.tail.open(place, keys=KEYS, owed=owed, times=TIMES, now=0.0)
        decision = self.tail.decision(place)
        assert decision is not None
        return decision

    def hold(self, step: int, *seats: int) -> None:
        for seat in seats:
            self.tail.entry_held(step, seat, eid(step, seat), 0.0)

    def step(self, step: int, owed: tuple[int, ...] = EVERYBODY) -> Decision:
        """A step that is opened and closed at once."""
        decision = self.open(step, owed)
        self.hold(step, *owed)
        return decision

    def confirmed(self) -> list[int]:
        return [effect.slot.step for effect in self.tail.take_effects() if isinstance(effect, Confirmed)]

    def casts(self, place: Slot, now: float = 0.0) -> list[tuple[Kind, int]]:
        """What is cast in this slot; each vote comes back signed."""
        found = []
        while True:
            made = [effect for effect in self.tail.take_effects() if isinstance(effect, Cast)]
            if not made:
                return found
            for cast in made:
                assert cast.slot == place
                found.append((cast.kind, cast.round))
                self.tail.received(vote(place, 0, cast.kind, cast.round, cast.body), now)


def test_a_close_is_prepared_when_entries_of_a_quorum_stand_on_it():
    table = Scripted()
    first = table.step(0)
    table.open(1)
    table.hold(1, 1, 2)
    assert first.lock is None
    table.hold(1, 3)
    assert first.lock == (0, closing(0))


def test_a_close_is_confirmed_when_a_quorum_stands_on_it_prepared():
    table = Scripted()
    first = table.step(0)
    table.step(1)
    table.open(2)
    table.hold(2, 0, 1)
    assert table.confirmed() == []
    table.hold(2, 3)
    assert table.confirmed() == [0]
    assert first.phase is Phase.CONFIRMED


def test_with_turns_of_one_seat_it_takes_a_quorum_of_turns_and_another():
    # q = 3 of 4.  Entries of 1, 2, 3 stand on step 0, so those from step 4 on are second: 1, 2 and 3 again.
    table = Scripted()
    table.step(0)
    for step, seat in enumerate((1, 2, 3, 1, 2), start=1):
        table.step(step, (seat,))
    assert table.confirmed() == []
    table.step(6, (3,))
    assert table.confirmed() == [0]


def test_all_before_a_confirmed_step_is_confirmed_with_it():
    table = Scripted()
    steps = [table.step(0, (0,)), table.step(1, (1,))]
    table.step(2)
    table.open(3)
    table.hold(3, 0, 1)
    assert not any(decision.final for decision in steps)
    # Step 2 has entries of all: those of step 3 are second on both steps before it.
    table.hold(3, 2)
    assert table.confirmed() == [1]
    assert all(decision.final for decision in steps)


def test_a_final_step_stays_until_every_seat_has_signed_a_second_entry_on_it():
    table = Scripted()
    table.step(0)
    table.step(1)
    table.open(2)
    table.hold(2, 0, 1, 2)
    first = table.tail.decisions[0]
    assert first.final
    # Seat 3 stands on it, but nothing that it signed shows that it knows the step to be prepared: it may ask yet.
    assert [decision.slot.step for decision in table.tail.decisions] == [0, 1, 2]
    table.hold(2, 3)
    assert [decision.slot.step for decision in table.tail.decisions] == [1, 2]


def test_a_decision_for_the_tentative_close_keeps_the_steps_after_it():
    table = Scripted()
    table.step(0)
    table.open(1)
    table.tail.learn(decided(slot(0), closing(0)), 0.0)
    assert [type(effect) for effect in table.tail.take_effects()] == [Closed, Decided]
    assert [decision.slot.step for decision in table.tail.decisions] == [0, 1]
    assert table.tail.may_sign


def test_a_decision_for_another_closing_voids_the_steps_after_it():
    table = Scripted()
    table.step(0)
    table.step(1)
    table.open(2)
    table.tail.take_effects()
    table.tail.learn(decided(slot(0), closing(0, absent=(3,))), 0.0)
    (effect,) = table.tail.take_effects()
    assert isinstance(effect, Decided)
    assert effect.closing == closing(0, absent=(3,))
    assert [decision.slot.step for decision in table.tail.decisions] == [0]
    # The caller goes on in a new epoch.
    table.open(1, place=slot(1, epoch=1, prev=9))
    assert table.tail.may_sign


def test_a_decision_makes_all_before_it_final():
    table = Scripted()
    first = table.step(0)
    table.open(1)
    table.tail.learn(decided(slot(1), closing(1, absent=(3,))), 0.0)
    assert first.final


def test_a_precommit_in_a_later_step_locks_what_it_stands_on():
    table = Scripted()
    first = table.step(0)
    table.open(1)
    table.hold(1, 0, 1, 2)
    place, value = slot(1), closing(1, absent=(3,))
    first_lock = first.lock
    table.tail.tick(30.0)
    for seat in (1, 2):
        table.tail.received(vote(place, seat, Kind.ROUND_CHANGE, 1, round_change_body(())), 30.0)
    table.casts(place, 30.0)
    # Step 1 begins with seat 1 as arbiter.
    table.tail.received(vote(place, 1, Kind.PROPOSAL, 1, proposal_body(value, None)), 30.0)
    for seat in (1, 2):
        table.tail.received(vote(place, seat, Kind.PREVOTE, 1, prevote_body(value, (), (), 0)), 30.0)
    assert (Kind.PRECOMMIT, 1) in table.casts(place, 30.0)
    assert first_lock == first.lock == (0, closing(0))  # prepared by three entries already


def test_a_precommit_binds_to_earlier_steps_that_few_entries_stand_on():
    table = Scripted()
    first = table.step(0)
    table.open(1, owed=(3,))
    place, value = slot(1), ((3, ABSENT),)
    table.tail.tick(30.0)
    for seat in (1, 2):
        table.tail.received(vote(place, seat, Kind.ROUND_CHANGE, 1, round_change_body(())), 30.0)
    table.casts(place, 30.0)
    table.tail.received(vote(place, 1, Kind.PROPOSAL, 1, proposal_body(value, None)), 30.0)
    for seat in (1, 2):
        table.tail.received(vote(place, seat, Kind.PREVOTE, 1, prevote_body(value, (), (), 0)), 30.0)
    assert first.lock is None
    assert (Kind.PRECOMMIT, 1) in table.casts(place, 30.0)
    assert first.lock == (0, closing(0))


def test_who_voted_for_an_absence_signs_nothing_on_the_close_until_it_is_decided():
    table = Scripted()
    first = table.open(0)
    table.hold(0, 0, 1, 2)
    place, value = slot(0), closing(0, absent=(3,))
    table.tail.tick(30.0)
    for seat in (1, 2):
        table.tail.received(vote(place, seat, Kind.ROUND_CHANGE, 1, round_change_body(())), 30.0)
    # Step 0 begins with seat 0 as arbiter: it proposes and prevotes.
    assert table.casts(place, 30.0) == [
        (Kind.ROUND_CHANGE, 1),
        (Kind.PROPOSAL, 1),
        (Kind.PREVOTE, 1),
    ]
    assert first.closing is None
    table.hold(0, 3)
    table.open(1)
    assert first.closing == closing(0)
    assert not table.tail.may_sign
    table.tail.learn(decided(place, closing(0)), 31.0)
    assert table.tail.may_sign
    assert first.outcome == closing(0) != value


def test_later_decisions_wait_for_the_oldest_question():
    table = Scripted()
    table.step(0)
    later = table.open(1)
    assert later.deadline == 30.0
    for seat in (1, 2):
        table.tail.received(vote(slot(0), seat, Kind.ROUND_CHANGE, 1, round_change_body(())), 10.0)
    table.casts(slot(0), 10.0)
    assert later.deadline is None
    table.tail.learn(decided(slot(0), closing(0)), 20.0)
    assert later.deadline == 50.0


def test_nothing_is_cast_while_the_journal_is_replayed():
    tail = Tail(me=0)
    tail.open(slot(0), keys=KEYS, owed=EVERYBODY, times=TIMES, now=0.0)
    tail.tick(1e6)
    for seat in (1, 2, 3):
        tail.received(vote(slot(0), seat, Kind.ROUND_CHANGE, 1, round_change_body(())), 1e6)
    assert tail.take_effects() == []
    assert tail.deadline is None
    tail.go_live(1e6)
    assert [effect.kind for effect in tail.take_effects() if isinstance(effect, Cast)] == [Kind.ROUND_CHANGE]


def test_own_votes_of_the_journal_are_those_of_the_slot():
    mine = [
        vote(slot(0), 0, Kind.PRECOMMIT, 2, precommit_body(closing(0), ())),
        vote(slot(0, epoch=1), 0, Kind.PRECOMMIT, 3, precommit_body(closing(0, absent=(1,)), ())),
    ]
    tail = Tail(me=0)
    tail.open(slot(0), keys=KEYS, owed=EVERYBODY, times=TIMES, now=0.0, votes=mine)
    (decision,) = tail.decisions
    assert decision.lock == (2, closing(0))


def test_a_step_is_opened_only_after_the_one_before_is_closed():
    table = Scripted()
    table.open(0)
    with pytest.raises(LocalProtocolError, match="step 0 is the last and is open"):
        table.open(1)
    table.hold(0, *EVERYBODY)
    with pytest.raises(LocalProtocolError, match="step 2 cannot be opened"):
        table.open(2)
    with pytest.raises(LocalProtocolError, match="step 5 is not in the tail"):
        table.hold(5, 1)


def test_votes_about_steps_that_are_not_in_the_tail_are_handed_back():
    table = Scripted()
    table.open(0)
    ask = round_change_body(())
    assert table.tail.received(vote(slot(0), 1, Kind.ROUND_CHANGE, 1, ask), 0.0)
    assert not table.tail.received(vote(slot(1), 1, Kind.ROUND_CHANGE, 1, ask), 0.0)
    assert not table.tail.learn(decided(slot(1), closing(1)), 0.0)


def test_a_quorum_on_another_closing_is_joined():
    # Seat 3 signed two entries for step 0; seats 1, 2 and 3 went on from the other one.
    table = Scripted()
    first = table.step(0)
    table.tail.entry_held(0, 3, eid(0, 3, 1), 0.0)
    table.open(1)
    theirs = (*closing(0)[:3], (3, eid(0, 3, 1)))
    assert table.tail.adopt(0, theirs, 0.0)
    assert (first.closing, first.may_stand) == (theirs, True)
    assert [decision.slot.step for decision in table.tail.decisions] == [0]


def test_a_locked_seat_joins_nobody():
    table = Scripted()
    table.step(0)
    table.open(1)
    table.hold(1, 0, 1, 2)
    assert not table.tail.adopt(0, (*closing(0)[:3], (3, eid(0, 3, 1))), 0.0)


def test_a_spectator_counts_and_casts_nothing():
    table = Scripted(me=None)
    table.step(0)
    table.step(1)
    table.open(2)
    table.hold(2, 1, 2, 3)
    table.tail.tick(1e6)
    assert [type(effect) for effect in table.tail.take_effects()] == [Closed, Closed, Confirmed]
