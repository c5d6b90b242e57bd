"""One decision, driven by hand: each rule of the theory at the top of protocol/arbiter.py is a claim here."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from protocol.arbiter import Decision, Phase, Times
from protocol.arbiter_effects import Accused, Cast, Closed, Decided, Keep, Tell
from protocol.ballot import (
    ABSENT,
    Certificate,
    Closing,
    Slot,
    contradiction,
    make_certificate,
    precommit_body,
    prevote_body,
    proposal_body,
    read_certificate,
    read_vote,
    round_change_body,
    verify_certificate,
)
from protocol.entry import Entry, Kind, sign
from protocol.errors import EncodingError, LocalProtocolError, RemoteProtocolError, VerificationError
from protocol.identity import Identity
from protocol.quorum import (
    acknowledgements_for_safety,
    arbiter_of,
    holders_for_safety,
    liars,
    quorum,
)

SEATS = [Identity(bytes([seat + 1]) * 32) for seat in range(8)]
TABLE = b"T" * 32
SLOT = Slot(table=TABLE, epoch=0, step=8, prev=b"P" * 32)
"""Step 8: with four seats seat 0 leads round 1, seat 1 round 2, and so on; with three, seat 2 does."""

TIMES = Times(patience_seconds=30.0, round_seconds=2.0)


def keys(seats: int) -> dict[int, bytes]:
    return {seat: SEATS[seat].public_key for seat in range(seats)}


def eid(seat: int, version: int = 0) -> bytes:
    """The identity of the entry that ``seat`` owes."""
    return bytes([seat, version]) * 16


def closing(*seats: int, absent: Iterable[int] = ()) -> Closing:
    return tuple(sorted([(seat, eid(seat)) for seat in seats] + [(seat, ABSENT) for seat in absent]))


def vote(seat: int, kind: Kind, round: int, body: list[object], slot: Slot = SLOT) -> Entry:
    return sign(
        SEATS[seat],
        table=slot.table,
        epoch=slot.epoch,
        step=slot.step,
        seat=seat,
        kind=kind,
        round=round,
        body=body,
        prev=slot.prev,
    )


def proposal(seat: int, round: int, value: Closing, certificate: Certificate | None = None) -> Entry:
    return vote(seat, Kind.PROPOSAL, round, proposal_body(value, certificate))


def prevote(
    seat: int,
    round: int,
    value: Closing,
    *,
    held: Closing = (),
    exposed: Iterable[int] = (),
    justified: int = 0,
) -> Entry:
    return vote(seat, Kind.PREVOTE, round, prevote_body(value, held, exposed, justified))


def precommit(seat: int, round: int, value: Closing, *, held: Closing = ()) -> Entry:
    return vote(seat, Kind.PRECOMMIT, round, precommit_body(value, held))


def certificate(kind: Kind, round: int, value: Closing, seats: Iterable[int]) -> Certificate:
    make = prevote if kind is Kind.PREVOTE else precommit
    return make_certificate([read_vote(make(seat, round, value)) for seat in seats])


def ask(seat: int, round: int, *, held: Closing = ()) -> Entry:
    return vote(seat, Kind.ROUND_CHANGE, round, round_change_body(held))


def decision(
    me: int | None = 1,
    *,
    seats: int = 4,
    owed: Iterable[int] = (0, 1, 2, 3),
    held: Iterable[int] = (),
    votes: Iterable[Entry] = (),
    kept: Iterable[Certificate] = (),
) -> Decision:
    machine = Decision(SLOT, me=me, keys=keys(seats), owed=tuple(owed), times=TIMES, votes=votes, kept=kept)
    machine.resume(0.0)
    for seat in held:
        machine.entry_held(seat, eid(seat), 0.0)
    return machine


def casts(machine: Decision, now: float = 0.0) -> list[tuple[Kind, int, Closing]]:
    """What the machine casts now; each vote is signed and given back to it."""
    found = []
    while True:
        entries = [
            vote(machine.me, effect.kind, effect.round, effect.body)  # type: ignore[arg-type]
            for effect in machine.take_effects()
            if isinstance(effect, Cast)
        ]
        if not entries:
            return found
        for entry in entries:
            found.append((entry.kind, entry.round, read_vote(entry).closing))
            machine.received(entry, now)


def others(machine: Decision, count: int) -> list[int]:
    return [seat for seat in machine.voters if seat != machine.me][:count]


def go_to_round(machine: Decision, round: int, now: float) -> list[tuple[Kind, int, Closing]]:
    """Everybody asks for this round; what the machine casts on the way."""
    for seat in others(machine, 8):
        machine.received(ask(seat, round), now)
    said = casts(machine, now)
    assert machine.round == round
    return said


ALL = closing(0, 1, 2, 3)
WITHOUT_3 = closing(0, 1, 2, absent=[3])


# --- sizes and rotation --------------------------------------------------------------------------------


def test_quorums_are_those_of_the_design():
    assert [quorum(seats) for seats in range(2, 9)] == [2, 2, 3, 4, 4, 5, 6]
    assert [liars(seats) for seats in range(2, 9)] == [0, 0, 1, 1, 1, 2, 2]


def test_two_quorums_share_an_honest_seat():
    for seats in range(2, 9):
        assert 2 * quorum(seats) - seats >= liars(seats) + 1


def test_a_quorum_survives_one_crash_from_three_seats_up_and_the_liars_from_four_up():
    for seats in range(3, 9):
        assert quorum(seats) <= seats - 1
        assert quorum(seats) <= seats - liars(seats)


def test_without_the_holders_there_is_no_quorum():
    for seats in range(2, 9):
        assert seats - holders_for_safety(seats) < quorum(seats)
        # The author and those who acknowledged, the liars among them taken off, are enough holders.
        assert 1 + acknowledgements_for_safety(seats) - liars(seats) == holders_for_safety(seats)


def test_seats_take_turns_as_arbiter():
    assert [arbiter_of(8, round, (0, 1, 2, 3)) for round in range(1, 6)] == [0, 1, 2, 3, 0]
    assert [arbiter_of(step, 1, (0, 1, 2, 3)) for step in range(5)] == [0, 1, 2, 3, 0]


def test_the_discarder_leads_only_when_all_others_have():
    # 0, 2 and 3 take turns; step 8 begins with the third of them (8 mod 3 = 2).
    assert [arbiter_of(8, round, (0, 1, 2, 3), (1,)) for round in range(1, 6)] == [3, 0, 2, 1, 3]


def test_dropped_seats_never_lead():
    assert {arbiter_of(step, round, (0, 3)) for step in range(4) for round in range(1, 9)} == {0, 3}


def test_rounds_count_from_one_and_an_epoch_has_seats():
    with pytest.raises(LocalProtocolError):
        arbiter_of(8, 0, (0, 1))
    with pytest.raises(LocalProtocolError):
        arbiter_of(8, 1, ())
    with pytest.raises(LocalProtocolError):
        quorum(0)


# --- the fast path -------------------------------------------------------------------------------------


def test_a_step_closes_at_once_when_all_that_is_owed_is_held():
    machine = decision(held=(0, 1, 3))
    assert machine.take_effects() == []
    assert machine.missing == (2,)
    machine.entry_held(2, eid(2), 1.0)
    assert machine.take_effects() == [Closed(slot=SLOT, closing=ALL)]
    assert machine.phase is Phase.CLOSED
    assert machine.may_stand
    assert machine.deadline is None


def test_an_entry_of_a_seat_that_owes_nothing_is_refused():
    machine = decision(owed=(0, 2))
    with pytest.raises(LocalProtocolError, match="seat 1 owes it nothing"):
        machine.entry_held(1, eid(1), 0.0)


def test_who_has_prevoted_absence_does_not_stand_on_the_fast_close():
    machine = decision(held=(0, 1, 2))
    machine.tick(30.0)
    go_to_round(machine, 1, 30.0)
    machine.received(proposal(0, 1, WITHOUT_3), 30.0)
    assert casts(machine) == [(Kind.PREVOTE, 1, WITHOUT_3)]
    machine.entry_held(3, eid(3), 31.0)
    assert machine.tentative == ALL
    assert not machine.may_stand
    machine.confirmed()
    assert machine.may_stand


def test_who_has_closed_prevotes_absence_only_on_a_certificate():
    machine = decision(held=(0, 1, 2, 3))
    assert go_to_round(machine, 1, 1.0) == [(Kind.ROUND_CHANGE, 1, ())]
    machine.received(proposal(0, 1, WITHOUT_3), 1.0)
    assert casts(machine) == []
    go_to_round(machine, 3, 2.0)
    proved = certificate(Kind.PREVOTE, 1, WITHOUT_3, (0, 2, 3))
    machine.received(proposal(2, 3, WITHOUT_3, proved), 2.0)
    (cast,) = [effect for effect in machine.take_effects() if isinstance(effect, Cast)]
    assert (cast.kind, cast.round) == (Kind.PREVOTE, 3)
    assert cast.body == prevote_body(WITHOUT_3, ALL, (), 1)


def test_a_prepared_close_is_locked_in_round_0_and_given_up_only_for_a_certificate():
    machine = decision(held=(0, 1, 2, 3))
    machine.prepared(0.0)
    assert machine.lock == (0, ALL)
    machine.expose(3, 0.0)  # else it would refuse for the sake of the response
    go_to_round(machine, 1, 1.0)
    machine.received(proposal(0, 1, WITHOUT_3), 1.0)
    assert casts(machine) == []
    machine.learn(certificate(Kind.PREVOTE, 1, WITHOUT_3, (0, 2, 3)), 1.0)
    assert casts(machine)[0] == (Kind.PRECOMMIT, 1, WITHOUT_3)
    assert machine.lock == (1, WITHOUT_3)


def test_a_confirmed_close_helps_whoever_asks_but_for_itself_only():
    machine = decision(held=(0, 1, 2, 3))
    machine.confirmed()
    assert machine.phase is Phase.CONFIRMED
    go_to_round(machine, 1, 1.0)
    proved = certificate(Kind.PREVOTE, 1, WITHOUT_3, (0, 2, 3))
    machine.learn(proved, 1.0)
    assert casts(machine) == []
    assert go_to_round(machine, 2, 2.0) == [
        (Kind.ROUND_CHANGE, 2, ()),
        (Kind.PROPOSAL, 2, ALL),
        (Kind.PREVOTE, 2, ALL),
    ]
    assert machine.may_stand


# --- rounds --------------------------------------------------------------------------------------------


def test_round_1_is_asked_for_when_the_own_timer_expires_and_begins_with_a_quorum():
    machine = decision(held=(0, 1, 2))
    assert machine.deadline == 30.0
    machine.tick(29.9)
    assert casts(machine) == []
    machine.tick(30.0)
    assert casts(machine) == [(Kind.ROUND_CHANGE, 1, ())]
    machine.received(ask(0, 1), 30.5)
    assert machine.round == 0  # two of the three that a quorum needs
    machine.received(ask(2, 1), 31.0)
    assert machine.round == 1
    assert machine.leader == 0


def test_a_seat_alone_asks_once_and_does_not_run_ahead():
    machine = decision(held=(0, 1, 2))
    machine.tick(30.0)
    assert casts(machine) == [(Kind.ROUND_CHANGE, 1, ())]
    assert machine.deadline is None
    machine.tick(1e6)
    assert machine.round == 0
    assert casts(machine) == []


def test_f_others_move_nobody_but_one_more_does():
    machine = decision(held=(0, 1, 2))
    machine.received(ask(0, 5), 1.0)
    assert casts(machine) == []
    machine.received(ask(2, 7), 1.0)
    assert casts(machine) == [(Kind.ROUND_CHANGE, 5, ())]
    assert machine.round == 5  # three seats ask for round 5 or a later one


def test_who_has_closed_helps_the_first_who_asks():
    machine = decision(held=(0, 1, 2, 3))
    machine.received(ask(2, 1), 1.0)
    assert casts(machine) == [(Kind.ROUND_CHANGE, 1, ())]


def test_the_time_of_rounds_doubles():
    machine = decision(held=(0, 1, 2))
    now = 30.0
    machine.tick(now)
    lasted = []
    for round in range(1, 12):
        go_to_round(machine, round, now)
        assert machine.deadline is not None
        lasted.append(machine.deadline - now)
        now = machine.deadline
        machine.tick(now)
    assert lasted == [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 512.0, 512.0]


def test_F45_a_silent_arbiter_is_replaced_by_the_next():
    machine = decision(held=(0, 1, 2))
    machine.tick(30.0)
    go_to_round(machine, 1, 30.0)
    machine.tick(32.0)
    assert casts(machine) == [(Kind.ROUND_CHANGE, 2, ())]
    assert go_to_round(machine, 2, 32.0) == [
        (Kind.PROPOSAL, 2, WITHOUT_3),
        (Kind.PREVOTE, 2, WITHOUT_3),
    ]


def test_a_paused_decision_casts_nothing_and_its_patience_begins_anew():
    machine = decision(held=(0, 1, 2))
    machine.pause()
    machine.tick(30.0)
    assert machine.deadline is None
    assert casts(machine) == []
    machine.resume(40.0)
    assert machine.deadline == 70.0


# --- what is acceptable --------------------------------------------------------------------------------


def test_F44_a_proposal_that_omits_a_held_response_is_refused():
    machine = decision(held=(0, 1, 2, 3))
    go_to_round(machine, 1, 31.0)
    machine.received(proposal(0, 1, WITHOUT_3), 31.0)
    assert casts(machine) == []


def test_absence_is_refused_before_the_own_timer_and_accepted_after_it():
    machine = decision(held=(0, 1, 2))
    go_to_round(machine, 1, 5.0)
    machine.received(proposal(0, 1, WITHOUT_3), 5.0)
    assert casts(machine) == []
    machine.received(ask(0, 1), 6.0)
    machine.tick(30.0)
    assert (Kind.PREVOTE, 1, WITHOUT_3) in casts(machine)


def test_a_response_that_is_not_held_is_not_accepted_until_it_is():
    machine = decision(held=(0, 1, 2))
    go_to_round(machine, 1, 5.0)
    machine.received(proposal(0, 1, ALL), 5.0)
    assert casts(machine) == []
    machine.entry_held(3, eid(3), 6.0)
    assert casts(machine) == [(Kind.PREVOTE, 1, ALL)]


def test_an_exposed_seat_is_absent_without_waiting():
    machine = decision(me=0, held=(0, 1, 2))
    machine.expose(3, 1.0)
    assert casts(machine) == [(Kind.ROUND_CHANGE, 1, ())]
    assert go_to_round(machine, 1, 1.0) == [(Kind.PROPOSAL, 1, WITHOUT_3), (Kind.PREVOTE, 1, WITHOUT_3)]


def test_F41_two_entries_of_one_seat_expose_it_and_start_the_decision():
    machine = decision(me=0, held=(0, 1, 2, 3))
    machine.entry_held(3, eid(3, 1), 1.0)
    assert casts(machine) == [(Kind.ROUND_CHANGE, 1, ())]
    # It stands on the first entry, others may on the second: what all can accept is the absence of the author.
    assert go_to_round(machine, 1, 1.0) == [(Kind.PROPOSAL, 1, WITHOUT_3), (Kind.PREVOTE, 1, WITHOUT_3)]


def test_F41_a_seat_that_holds_two_entries_votes_for_the_one_it_closed_with_or_for_none():
    second = tuple((seat, eid(3, 1) if seat == 3 else entry) for seat, entry in ALL)
    for value, accepted in ((ALL, True), (second, False)):
        machine = decision(me=1, held=(0, 1, 2, 3))
        machine.entry_held(3, eid(3, 1), 1.0)
        go_to_round(machine, 1, 1.0)
        machine.received(proposal(0, 1, value), 1.0)
        assert ((Kind.PREVOTE, 1, value) in casts(machine)) is accepted


def test_F41_a_seat_that_has_closed_with_neither_entry_votes_for_neither():
    machine = decision(me=1, held=(0, 1, 3))
    machine.entry_held(3, eid(3, 1), 1.0)
    machine.entry_held(2, eid(2), 1.0)
    assert machine.tentative is None
    go_to_round(machine, 1, 1.0)
    machine.received(proposal(0, 1, ALL), 1.0)
    assert not [cast for cast in casts(machine) if cast[0] is Kind.PREVOTE]


def test_only_the_arbiter_of_the_round_proposes():
    machine = decision(held=(0, 1, 2, 3))
    with pytest.raises(RemoteProtocolError, match="not the arbiter of round 1") as refused:
        machine.received(proposal(2, 1, ALL), 1.0)
    assert (refused.value.seat, refused.value.step, refused.value.reason) == (2, 8, "out_of_turn")


@pytest.mark.parametrize("value", [closing(0, 1, 2), closing(0, 1, 2, 3, 4), ()])
def test_a_closing_that_is_not_about_the_seats_that_owe_is_refused(value: Closing):
    with pytest.raises(RemoteProtocolError, match="seats which owe"):
        decision().received(precommit(2, 1, value), 1.0)


def test_a_vote_of_a_seat_outside_the_epoch_is_refused():
    with pytest.raises(RemoteProtocolError, match="no seat in this epoch"):
        decision().received(ask(5, 1), 1.0)


def test_F54_a_vote_of_another_slot_is_not_for_this_machine():
    for change in ({"table": b"U" * 32}, {"epoch": 1}, {"step": 9}, {"prev": b"Q" * 32}):
        other = Slot(**{"table": TABLE, "epoch": 0, "step": 8, "prev": SLOT.prev, **change})
        with pytest.raises(LocalProtocolError):
            decision().received(vote(2, Kind.ROUND_CHANGE, 1, [[]], other), 1.0)


# --- locks, certificates, decisions --------------------------------------------------------------------


def locked_without_3() -> Decision:
    """Seat 1, locked in round 1 on the absence of seat 3."""
    machine = decision(held=(0, 1, 2))
    machine.tick(30.0)
    go_to_round(machine, 1, 30.0)
    machine.received(proposal(0, 1, WITHOUT_3), 30.0)
    machine.received(prevote(0, 1, WITHOUT_3), 30.0)
    machine.received(prevote(2, 1, WITHOUT_3), 30.0)
    return machine


def test_a_prevote_quorum_is_kept_before_the_precommit_is_cast():
    machine = locked_without_3()
    (cast,) = [effect for effect in machine.take_effects() if isinstance(effect, Cast)]
    assert cast.kind is Kind.PREVOTE  # two others are not yet a quorum of four
    machine.received(prevote(1, 1, WITHOUT_3), 30.0)
    keep, cast = machine.take_effects()
    assert isinstance(keep, Keep)
    verify_certificate(keep.certificate, SLOT, keys(4), kind=Kind.PREVOTE, owed=range(4))
    assert isinstance(cast, Cast)
    assert (cast.kind, cast.body) == (Kind.PRECOMMIT, precommit_body(WITHOUT_3, closing(0, 1, 2)))
    assert machine.lock == (1, WITHOUT_3)


def test_a_locked_seat_refuses_another_closing_even_if_the_response_arrives():
    machine = locked_without_3()
    casts(machine)
    machine.entry_held(3, eid(3), 31.0)
    go_to_round(machine, 3, 32.0)
    machine.received(proposal(2, 3, ALL), 32.0)
    assert casts(machine) == []


def test_a_locked_seat_proposes_what_it_is_locked_on_with_the_certificate():
    machine = locked_without_3()
    casts(machine)
    machine.entry_held(3, eid(3), 31.0)
    for seat in (0, 2, 3):
        machine.received(ask(seat, 2), 32.0)
    made = [effect for effect in machine.take_effects() if isinstance(effect, Cast)]
    assert [cast.kind for cast in made] == [Kind.ROUND_CHANGE, Kind.PROPOSAL]
    proposed = read_vote(vote(1, Kind.PROPOSAL, 2, made[1].body))
    assert proposed.closing == WITHOUT_3
    assert proposed.certificate is not None
    verify_certificate(proposed.certificate, SLOT, keys(4), kind=Kind.PREVOTE)
    assert proposed.certificate.round == 1


def test_a_lock_yields_to_a_later_certificate_only():
    machine = locked_without_3()
    casts(machine)
    machine.entry_held(3, eid(3), 31.0)
    go_to_round(machine, 3, 32.0)
    later = certificate(Kind.PREVOTE, 2, ALL, (0, 2, 3))
    machine.received(proposal(2, 3, ALL, later), 32.0)
    (cast,) = [effect for effect in machine.take_effects() if isinstance(effect, Cast)]
    assert cast.body == prevote_body(ALL, ALL, (), 2)


def test_a_quorum_of_precommits_decides_in_whatever_round_they_come():
    machine = decision(held=(0, 1, 2))
    machine.take_effects()
    for seat in (0, 2, 3):
        machine.received(precommit(seat, 4, WITHOUT_3), 1.0)
    decided = [effect for effect in machine.take_effects() if isinstance(effect, Decided)]
    assert [effect.closing for effect in decided] == [WITHOUT_3]
    verify_certificate(decided[0].certificate, SLOT, keys(4), kind=Kind.PRECOMMIT)
    assert machine.phase is Phase.DECIDED
    assert machine.deadline is None


def test_a_decision_overrides_a_tentative_close():
    machine = decision(held=(0, 1, 2, 3))
    assert machine.closing == ALL
    machine.learn(certificate(Kind.PRECOMMIT, 1, WITHOUT_3, (0, 2, 3)), 1.0)
    assert machine.closing == WITHOUT_3
    assert machine.may_stand


def test_who_still_asks_is_told_the_certificate():
    machine = decision(held=(0, 1, 2, 3))
    machine.learn(certificate(Kind.PRECOMMIT, 1, ALL, (0, 2, 3)), 1.0)
    machine.take_effects()
    machine.received(ask(2, 1), 2.0)  # on its way before the certificate came
    assert machine.take_effects() == []
    machine.received(ask(2, 2), 9.0)
    assert machine.certificate is not None
    assert machine.take_effects() == [Tell(slot=SLOT, certificate=machine.certificate)]
    assert machine.votes() == machine.certificate.votes


def test_a_prevote_counts_only_when_what_justifies_it_is_held():
    machine = decision(held=(0, 1, 2, 3))
    go_to_round(machine, 3, 1.0)
    for seat in (0, 2, 3):
        machine.received(prevote(seat, 3, WITHOUT_3, justified=1), 1.0)
    assert casts(machine) == []
    machine.learn(certificate(Kind.PREVOTE, 1, WITHOUT_3, (0, 2, 3)), 1.0)
    assert (Kind.PRECOMMIT, 3, WITHOUT_3) in casts(machine)


def test_two_seats_decide_nothing_alone():
    machine = decision(me=0, seats=2, owed=(0, 1), held=(0,))
    machine.tick(30.0)
    casts(machine)
    machine.tick(1e6)
    assert casts(machine) == []
    assert (machine.round, machine.phase) == (0, Phase.GATHERING)


def test_a_spectator_follows_and_says_nothing():
    machine = decision(me=None, held=(0, 1, 2))
    machine.tick(30.0)
    for seat in range(4):
        machine.received(ask(seat, 1), 31.0)
    for seat in (0, 1, 2):
        machine.received(precommit(seat, 1, WITHOUT_3), 31.0)
    assert [type(effect) for effect in machine.take_effects()] == [Decided]


def test_the_caller_learns_who_acknowledges():
    machine = decision(held=(0, 1, 2, 3))
    machine.received(ask(0, 1, held=closing(0, 3)), 1.0)
    machine.received(ask(2, 1, held=closing(0, 2)), 1.0)
    assert machine.acknowledged(3, eid(3)) == {0}
    assert acknowledgements_for_safety(4) == 2


# --- restart -------------------------------------------------------------------------------------------


def test_F23_after_a_restart_votes_and_lock_are_what_they_were():
    machine = locked_without_3()
    said = casts(machine)
    kept = certificate(Kind.PREVOTE, 1, WITHOUT_3, (0, 1, 2))
    own = [vote_ for vote_ in machine.votes() if vote_.seat == 1]
    assert {(kind, round) for kind, round, _ in said} <= {(entry.kind, entry.round) for entry in own}
    again = decision(held=(0, 1, 2, 3), votes=own, kept=[kept])
    assert (again.round, again.lock) == (1, (1, WITHOUT_3))
    assert not again.may_stand
    # The proposal of round 1 comes again, and a proposal for the other closing: nothing is said twice, nothing new.
    again.received(proposal(0, 1, WITHOUT_3), 30.0)
    again.received(proposal(0, 1, ALL), 30.0)
    assert [cast for cast in casts(again) if cast[0] is not Kind.ROUND_CHANGE] == []


def test_a_kept_certificate_is_proposed_after_a_restart():
    kept = certificate(Kind.PREVOTE, 1, WITHOUT_3, (0, 1, 2))
    own = [prevote(1, 1, WITHOUT_3), precommit(1, 1, WITHOUT_3)]
    machine = decision(held=(0, 1, 2, 3), votes=own, kept=[kept])
    for seat in (0, 2, 3):
        machine.received(ask(seat, 2), 1.0)
    casts_made = [effect for effect in machine.take_effects() if isinstance(effect, Cast)]
    assert [cast.kind for cast in casts_made] == [Kind.ROUND_CHANGE, Kind.PROPOSAL]
    assert casts_made[1].body == proposal_body(WITHOUT_3, kept)


# --- evidence ------------------------------------------------------------------------------------------


def accused(*votes: Entry) -> list[tuple[int, str]]:
    machine = decision(held=(0, 1, 2, 3))
    for entry in votes:
        machine.received(entry, 1.0)
    return [(effect.seat, effect.reason) for effect in machine.take_effects() if isinstance(effect, Accused)]


def test_F43_two_prevotes_in_one_round_are_evidence():
    assert accused(prevote(2, 1, ALL), prevote(2, 1, WITHOUT_3)) == [(2, "double_vote")]
    assert accused(precommit(2, 1, ALL), precommit(2, 1, WITHOUT_3)) == [(2, "double_vote")]


def test_F46_two_proposals_in_one_round_are_evidence():
    assert accused(proposal(0, 1, ALL), proposal(0, 1, WITHOUT_3)) == [(0, "two_proposals")]


def test_the_same_vote_twice_is_nothing():
    assert accused(prevote(2, 1, ALL), prevote(2, 1, ALL)) == []


def test_breaking_a_lock_without_a_certificate_is_evidence():
    first = precommit(2, 2, WITHOUT_3)
    assert accused(first, prevote(2, 3, ALL)) == [(2, "broke_its_lock")]
    assert accused(prevote(2, 4, ALL, justified=1), first) == [(2, "broke_its_lock")]
    assert accused(first, prevote(2, 4, ALL, justified=2)) == []
    assert accused(first, prevote(2, 3, WITHOUT_3)) == []


def test_acknowledged_then_voted_to_omit_is_evidence():
    knew = prevote(2, 1, ALL, held=ALL)
    assert accused(knew, prevote(2, 2, WITHOUT_3)) == [(2, "omitted_what_it_held")]
    assert accused(ask(2, 2, held=ALL), prevote(2, 2, WITHOUT_3)) == [(2, "omitted_what_it_held")]
    assert accused(knew, prevote(2, 2, WITHOUT_3, justified=1)) == []
    assert accused(knew, prevote(2, 2, WITHOUT_3, exposed=(3,))) == []
    # To learn of a response after having voted is no offence.
    assert accused(prevote(2, 1, WITHOUT_3), prevote(2, 2, ALL, held=ALL)) == []


def test_a_prevote_that_contradicts_itself_is_refused_outright():
    with pytest.raises(EncodingError, match="omits a response that the voter says it holds"):
        read_vote(prevote(2, 1, WITHOUT_3, held=ALL))


def test_votes_of_different_seats_never_contradict_each_other():
    assert contradiction(read_vote(prevote(2, 1, ALL)), read_vote(prevote(3, 1, WITHOUT_3))) is None


# --- certificates --------------------------------------------------------------------------------------


def refused(certificate: Certificate, *, seats: int = 4, kind: Kind = Kind.PRECOMMIT) -> str:
    with pytest.raises(VerificationError) as raised:
        verify_certificate(certificate, SLOT, keys(seats), kind=kind, owed=range(4))
    return raised.value.message


def test_a_certificate_needs_nothing_but_the_keys():
    made = certificate(Kind.PRECOMMIT, 1, WITHOUT_3, (0, 1, 2))
    again = read_certificate(made.value())
    assert again == made
    verify_certificate(again, SLOT, keys(4), kind=Kind.PRECOMMIT, owed=range(4))


def test_F47_a_certificate_that_does_not_hold_is_refused():
    good = certificate(Kind.PRECOMMIT, 1, WITHOUT_3, (0, 1, 2))

    def with_votes(*votes: Entry) -> Certificate:
        return Certificate(kind=Kind.PRECOMMIT, round=1, closing=WITHOUT_3, votes=votes)

    assert "2 votes of the 3" in refused(with_votes(*good.votes[:2]))
    assert "votes twice" in refused(with_votes(good.votes[0], good.votes[1], good.votes[1]))
    assert "do not rise" in refused(with_votes(good.votes[1], good.votes[0], good.votes[2]))
    assert "different closings" in refused(with_votes(*good.votes[:2], precommit(2, 1, ALL)))
    assert "one kind and round" in refused(with_votes(*good.votes[:2], precommit(2, 2, WITHOUT_3)))
    assert "one kind and round" in refused(with_votes(*good.votes[:2], prevote(2, 1, WITHOUT_3)))
    assert "no seat" in refused(with_votes(*good.votes[:2], precommit(6, 1, WITHOUT_3)))
    assert "made of PRECOMMIT" in refused(good, kind=Kind.PREVOTE)
    assert "3 votes of the 4" in refused(good, seats=5)
    elsewhere = Slot(table=TABLE, epoch=1, step=8, prev=SLOT.prev)
    foreign = vote(2, Kind.PRECOMMIT, 1, precommit_body(WITHOUT_3, ()), elsewhere)
    assert "another table, epoch, step" in refused(with_votes(*good.votes[:2], foreign))
    forged = sign(
        SEATS[7],
        table=TABLE,
        epoch=0,
        step=8,
        seat=2,
        kind=Kind.PRECOMMIT,
        round=1,
        body=precommit_body(WITHOUT_3, ()),
        prev=SLOT.prev,
    )
    assert "signature" in refused(with_votes(*good.votes[:2], forged))


def test_F47_a_proposal_with_a_bad_certificate_changes_nothing():
    machine = decision(held=(0, 1, 2, 3))
    go_to_round(machine, 3, 1.0)
    proved = certificate(Kind.PREVOTE, 1, WITHOUT_3, (0, 2))
    with pytest.raises(VerificationError, match="2 votes of the 3"):
        machine.received(proposal(2, 3, WITHOUT_3, proved), 1.0)
    with pytest.raises(VerificationError):
        machine.learn(proved, 1.0)
    assert casts(machine) == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ([[[1, b""], [0, b""]], [], [], 0], "seats do not rise"),
        ([[[0, b"short"]], [], [], 0], "not 0 or 32"),
        ([[[9, b""]], [], [], 0], "seat"),
        ([[], [], [3, 3], 0], "seats do not rise"),
        ([[], [], [], 1], "not an earlier round"),
        ([[], [], []], "prevote.body"),
        ("prevote", "prevote.body"),
    ],
)
def test_a_body_of_another_shape_is_refused_with_the_field(body: list[object], message: str):
    with pytest.raises(EncodingError, match=message):
        read_vote(vote(2, Kind.PREVOTE, 1, body))


def test_a_proposal_with_a_certificate_of_its_own_round_or_for_another_closing_is_refused():
    with pytest.raises(EncodingError, match="earlier round"):
        read_vote(proposal(0, 1, ALL, certificate(Kind.PREVOTE, 1, ALL, (0, 1, 2))))
    with pytest.raises(EncodingError, match="another closing"):
        read_vote(proposal(2, 3, ALL, certificate(Kind.PREVOTE, 1, WITHOUT_3, (0, 1, 2))))
    with pytest.raises(EncodingError, match="earlier round"):
        read_vote(proposal(2, 3, ALL, certificate(Kind.PRECOMMIT, 1, ALL, (0, 1, 2))))


# --- bounds --------------------------------------------------------------------------------------------


def test_F100_votes_of_far_rounds_do_not_pile_up():
    machine = decision(held=(0, 1, 2))
    for round in range(100, 400):
        machine.received(ask(0, round), 1.0)
    assert len(machine.votes()) == 1
    assert casts(machine) == []


def test_of_one_key_two_votes_are_kept_and_no_more():
    machine = decision(held=(0, 1, 2))
    for version in range(5):
        value = tuple((seat, eid(seat, version)) for seat in range(4))
        machine.received(prevote(2, 1, value), 1.0)
    assert len(machine.votes()) == 2
