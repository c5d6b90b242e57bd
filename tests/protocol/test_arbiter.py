"""One decision, driven by hand: each rule of the theory at the top of protocol/arbiter.py is a claim here."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from protocol.arbiter import Cast, Closed, Decision, Phase, Times
from protocol.ballot import (
    ABSENT,
    Certificate,
    Closing,
    Slot,
    make_certificate,
    precommit_body,
    prevote_body,
    proposal_body,
    read_certificate,
    read_vote,
    verify_certificate,
)
from protocol.entry import Entry, Kind, sign
from protocol.errors import VerificationError
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


def casts(machine: Decision) -> list[tuple[Kind, int, Closing]]:
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
            machine.received(entry, 0.0)


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
    assert [arbiter_of(8, round, (0, 1, 2, 3), (1,)) for round in range(1, 6)] == [3, 0, 2, 1, 3]


def test_dropped_seats_never_lead():
    assert {arbiter_of(step, round, (0, 3)) for step in range(4) for round in range(1, 9)} == {0, 3}


# --- the fast path -------------------------------------------------------------------------------------


def test_a_step_closes_at_once_when_all_that_is_owed_is_held():
    machine = decision(held=(0, 1, 3))
    assert machine.take_effects() == []
    assert machine.missing == (2,)
    machine.entry_held(2, eid(2), 1.0)
    assert machine.take_effects() == [Closed(slot=SLOT, closing=closing(0, 1, 2, 3))]
    assert machine.phase is Phase.CLOSED
    assert machine.may_stand
    assert machine.deadline is None


def test_who_has_prevoted_absence_does_not_stand_on_the_fast_close():
    machine = decision(held=(0, 1, 2))
    machine.tick(30.0)
    machine.received(proposal(0, 1, closing(0, 1, 2, absent=[3])), 30.0)
    assert casts(machine) == [(Kind.PREVOTE, 1, closing(0, 1, 2, absent=[3]))]
    machine.entry_held(3, eid(3), 31.0)
    assert machine.tentative == closing(0, 1, 2, 3)
    assert not machine.may_stand
    machine.confirmed()
    assert machine.may_stand


def test_who_has_closed_prevotes_absence_only_on_a_certificate():
    machine = decision(held=(0, 1, 2, 3))
    absent = closing(0, 1, 2, absent=[3])
    machine.received(proposal(0, 1, absent), 1.0)
    assert machine.round == 1
    assert casts(machine) == []
    proved = certificate(Kind.PREVOTE, 1, absent, (0, 2, 3))
    machine.tick(3.0)  # round 2, which this seat leads
    machine.learn(proved, 3.0)
    said = casts(machine)
    assert (Kind.PROPOSAL, 2, closing(0, 1, 2, 3)) in said or (Kind.PROPOSAL, 2, absent) in said
    machine.tick(7.0)
    assert machine.round == 3
    machine.received(proposal(2, 3, absent, proved), 7.0)
    assert (Kind.PREVOTE, 3, absent) in casts(machine)


# --- restart -------------------------------------------------------------------------------------------


def test_F47_a_certificate_with_too_few_repeated_or_forged_votes_is_refused():
    value = closing(0, 1, 2, absent=[3])
    good = certificate(Kind.PRECOMMIT, 1, value, (0, 1, 2))
    verify_certificate(good, SLOT, keys(4), kind=Kind.PRECOMMIT)
    again = read_certificate(good.value())
    assert again == good
    for bad in (
        Certificate(kind=good.kind, round=1, closing=value, votes=good.votes[:2]),
        Certificate(kind=good.kind, round=1, closing=value, votes=(*good.votes[:2], good.votes[1])),
    ):
        with pytest.raises(VerificationError):
            verify_certificate(bad, SLOT, keys(4), kind=Kind.PRECOMMIT)
