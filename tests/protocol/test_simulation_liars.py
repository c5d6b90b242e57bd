"""Every named misbehaviour really happens, and is noticed as its line says, or harms nobody."""

from __future__ import annotations

from collections import Counter

import pytest

from protocol import events
from protocol.simulation import MISBEHAVIOURS, Setup, World
from protocol.simulation.faults import Fault
from tests.protocol.toy_game import toy_game

LIAR = 1


def table(name: str, *faults: Fault, seats: int = 4, seed: int = 1) -> World:
    """A whole run at which seat 1 does this, and everybody else is honest and finishes."""
    world = World(
        Setup(
            seats=seats,
            seed=seed,
            make_game=toy_game,
            game="toy",
            misbehaviours={LIAR: name},
            record_messages=True,
        )
    )
    world.waves = [list(faults)]
    report = world.run()
    assert (report.outcome, report.violations) == ("finished", ())
    return world


def told(world: World) -> Counter[tuple[str, int, str]]:
    """What honest peers were told about seats: kind of event, seat, reason; how many of them were."""
    kinds = (
        events.EvidenceFound,
        events.SeatDropped,
        events.LinkRefused,
        events.AnswerVoid,
        events.SeatAbsent,
    )
    honest = [peer for peer in world.peers if peer.seat in world.honest]
    return Counter(
        item
        for peer in honest
        for item in {
            (type(event).__name__, event.seat, getattr(event, "reason", ""))
            for event in peer.told
            if isinstance(event, kinds)
        }
    )


CONVICTED = {
    "equivocate": "equivocation",
    "two_answers": "equivocation",
    "bad_shuffle": "bad_encoding",
    "duplicate_card": "bad_shuffle",
    "bad_share": "bad_share",
    "bad_backup": "bad_backup",
    "wrong_opening": "bad_share",
    "illegal_move": "illegal_move",
    "out_of_turn": "out_of_turn",
    "censoring_arbiter": "wrong_ruling",
    "lying_arbiter": "wrong_ruling",
}


@pytest.mark.parametrize(("name", "reason"), CONVICTED.items())
def test_all_honest_peers_convict_the_liar_and_drop_it_from_the_hand(name: str, reason: str):
    heard = told(table(name))
    assert heard["EvidenceFound", LIAR, reason] == 3
    assert heard["SeatDropped", LIAR, ""] == 3
    assert {seat for _, seat, _ in heard} == {LIAR}


def test_a_wrong_result_is_convicted_when_there_is_no_hand_left_to_drop_its_seat_from():
    assert told(table("wrong_result"))["EvidenceFound", LIAR, "wrong_result"] == 3


def test_two_votes_are_convicted_where_a_vote_is_held():
    heard = told(table("double_vote", Fault(name="suspend", at=3.0, seconds=30.0, seats=(3,))))
    assert heard["EvidenceFound", LIAR, "double_vote"] == 3
    assert {seat for kind, seat, _ in heard if kind == "EvidenceFound"} == {LIAR}


def test_who_has_nothing_to_vote_about_tells_no_double_vote():
    assert told(table("double_vote")) == Counter()


def test_silence_is_an_absence_and_no_evidence():
    heard = told(table("withhold_all"))
    assert heard["SeatDropped", LIAR, ""] == 3
    assert not any(kind == "EvidenceFound" for kind, _, _ in heard)


def test_what_is_withheld_from_one_comes_to_it_over_the_others():
    world = table("withhold_one")
    counts = Counter(passage.target for passage in world.passages if passage.source == LIAR)
    victim, others = {0, 2, 3} - set(counts), set(counts)
    assert len(victim) == 1
    assert len(others) == 2
    assert told(world) == Counter()


@pytest.mark.parametrize(("name", "reason"), [("false_call", "wrong_phase"), ("unopened", "not_opened")])
def test_a_call_that_cannot_be_taken_counts_as_a_pass_and_its_seat_is_named(name: str, reason: str):
    heard = told(table(name))
    assert heard["AnswerVoid", LIAR, reason] == 3
    assert not any(kind in ("EvidenceFound", "SeatDropped") for kind, _, _ in heard)


@pytest.mark.parametrize(("name", "reason"), [("replay", "other_table"), ("garbage", "bad_encoding")])
def test_who_sends_what_is_not_of_this_table_loses_its_links_and_not_its_seat(name: str, reason: str):
    heard = told(table(name))
    assert heard["LinkRefused", LIAR, reason] > 0
    assert {kind for kind, _, _ in heard} == {"LinkRefused"}


def test_a_flood_is_sent_and_delays_nobody():
    world, calm = table("flood"), table("double_vote")
    sent = Counter(passage.source for passage in world.passages)
    assert sent[LIAR] > 5 * max(sent[seat] for seat in (0, 2, 3)) / 2
    assert told(world) == Counter()
    assert world.now < calm.now + 1.0
    for peer in world.peers:
        assert peer.session._steps.shelf.sizes()["entries"] < 4 * 20 + 20


def test_who_is_late_is_waited_for_and_who_is_too_late_may_be_absent():
    world, calm = table("late"), table("double_vote")
    waits = [
        passage.arrives - passage.sent
        for passage in world.passages
        if passage.source == LIAR and passage.arrives
    ]
    assert min(waits) > 0.2
    assert max(waits) > 20.0
    assert world.now > calm.now + 10.0
    assert not any(kind == "EvidenceFound" for kind, _, _ in told(world))


def test_every_misbehaviour_is_looked_at_here():
    assert set(MISBEHAVIOURS) == set(CONVICTED) | {
        "wrong_result", "double_vote", "withhold_all", "withhold_one", "false_call", "unopened", "replay", "garbage",
        "flood", "late",
    }  # fmt: skip


@pytest.mark.parametrize("name", MISBEHAVIOURS)
def test_what_a_liar_did_is_counted_and_who_had_no_occasion_did_nothing(name: str):
    faults = [Fault(name="suspend", at=3.0, seconds=30.0, seats=(3,))] if name == "double_vote" else []
    world = table(name, *faults)
    assert world.peers[LIAR].misbehaviour.acts > 0
    assert world._report(0).acts == {LIAR: world.peers[LIAR].misbehaviour.acts}
    if name == "double_vote":
        assert table(name)._report(0).acts == {LIAR: 0}, "there was no vote"


@pytest.mark.parametrize("name", ["false_call", "unopened"])
def test_every_answer_of_the_liar_that_did_not_count_is_one_of_its_acts(name: str):
    report = table(name)._report(0)
    assert {seat for seat, _reason in report.voids} == {LIAR}
    assert sum(report.voids.values()) == report.acts[LIAR]
