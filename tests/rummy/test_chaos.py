"""The chaos command: one seed one run, results that merge, a picture without outside resources."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from p2p_rummy import cli
from p2p_rummy.chaos import Storm, checked_storm, run_all
from p2p_rummy.chaos_picture import picture
from p2p_rummy.chaos_results import Outcome, row, summary
from protocol.simulation import MISBEHAVIOURS
from protocol.simulation.faults import Fault
from protocol.simulation.shared import SharedDeck, SharedDecks

CALM = Storm(players=(3, 3), hands=1, deck="fast", bots="steady")


def test_one_seed_gives_one_run_and_another_seed_another():
    first, again, other = CALM.run(3), CALM.run(3), CALM.run(4)
    assert first == again
    assert first.outcome == "finished"
    assert first.head != other.head


def test_the_real_deck_with_shared_verdicts_finishes_too():
    storm = Storm(players=(2, 2), hands=1, bots="steady")
    assert isinstance(storm.setup(0).decks, SharedDecks)
    outcome = storm.run(0)
    assert (outcome.outcome, outcome.violations) == ("finished", [])


def test_a_shared_verdict_is_of_the_very_bytes_a_changed_body_is_judged_anew():
    from protocol.errors import VerificationError
    from protocol.testing import DeckTable

    table = DeckTable(2)
    shared = SharedDecks()
    deck = shared.deck(table.table, 1, (0, 1), None)
    assert isinstance(deck, SharedDeck)
    table.deck = deck
    for secret in table.secrets.values():
        secret._deck = deck
    table.agree()
    deck.begin_shuffle((0, 1, 2, 3))
    seat = deck.shuffler
    assert seat is not None
    body = table.secrets[seat].shuffle(table.context(), table.entropy())
    deck.check_shuffle(table.context(), seat, body, table.entropy())
    deck.check_shuffle(table.context(), seat, body, table.entropy())
    outputs = bytearray(body[0])  # type: ignore[arg-type]
    outputs[:66], outputs[66:132] = outputs[66:132], outputs[:66]
    with pytest.raises(VerificationError):
        deck.check_shuffle(table.context(), seat, [bytes(outputs), body[1]], table.entropy())
    with pytest.raises(VerificationError):
        deck.check_shuffle(table.context(), seat, [bytes(outputs), body[1]], table.entropy())


def test_the_replay_line_plays_the_same_run(capsys: pytest.CaptureFixture[str]):
    outcome = CALM.run(5)
    words = shlex.split(outcome.replay)
    assert words[:2] == ["p2p-rummy", "chaos"]
    assert cli.main([*words[1:], "--json"]) == 0
    assert Outcome.from_json(capsys.readouterr().out) == outcome


def test_the_seed_picks_the_number_of_seats():
    storm = Storm(players=(2, 8))
    assert [storm.seats(seed) for seed in range(8)] == [2, 3, 4, 5, 6, 7, 8, 2]


def test_only_the_liar_is_convicted_and_the_table_finishes():
    storm = Storm(
        players=(4, 4), hands=1, deck="fast", bots="steady",
        byzantine=((2, "illegal_move"),),
    )  # fmt: skip
    outcome = storm.run(1)
    assert outcome.violations == []
    assert {text.partition(":")[0] for text in outcome.evidence} <= {"2"}


def test_two_moves_of_one_turn_convict_their_author_in_a_real_game():
    storm = Storm(
        players=(4, 4), hands=1, deck="fast", bots="steady",
        byzantine=((1, "equivocate"),),
    )  # fmt: skip
    assert storm.run(3).evidence == ["1:equivocation"]


def test_several_jobs_give_the_same_results_in_order():
    assert list(run_all(CALM, [1, 2], 2)) == list(run_all(CALM, [1, 2], 1))


def test_every_misbehaviour_can_be_asked_for():
    for name in MISBEHAVIOURS:
        storm = checked_storm(
            players=(4, 4), hands=1, game="rum500", options={}, faults="none", byzantine=[f"3={name}"], fast=True,
            bots="random", strict=False,
        )  # fmt: skip
        assert storm.byzantine == ((3, name),)


# --- what is told of liars and faults --------------------------------------------------------------------


def one_run(seed: int, *liars: tuple[int, str], faults: tuple[str, ...] = ()) -> Outcome:
    return Storm(
        players=(4, 4), hands=1, deck="fast", bots="steady", byzantine=liars, faults=faults
    ).run(seed)  # fmt: skip


def test_a_seat_whose_answers_do_not_count_is_named_in_the_table_and_the_json():
    outcome = one_run(1, (2, "unopened"))
    count = outcome.byzantine["2=unopened"]
    assert count > 0
    assert outcome.voids == {"2:not_opened": count}
    assert f"liars 2=unopened x{count}; void 2:not_opened x{count}" in row(outcome)
    assert json.loads(outcome.to_json())["voids"] == {"2:not_opened": count}


def test_a_liar_without_an_occasion_is_told_from_one_that_lied():
    # Nobody withholds a vote from a table that has nothing to vote about.
    idle, busy = one_run(1, (1, "double_vote")), one_run(1, (1, "illegal_move"))
    assert idle.byzantine == {"1=double_vote": 0}
    assert "liars 1=double_vote (never)" in row(idle)
    assert summary([idle, idle, busy])[-1] == "1=double_vote had no occasion in 2 runs"
    assert busy.byzantine["1=illegal_move"] > 0
    assert not any("no occasion" in line for line in summary([busy]))


@pytest.mark.parametrize("name", ["delay", "duplicate", "reorder"])
def test_weather_is_told_by_how_many_messages_it_touched(name: str):
    storm = Storm(players=(3, 3), hands=1, deck="fast", bots="steady", faults=(name,))
    world = storm.world(1, record_messages=True)
    outcome = storm.outcome(world.run())
    assert set(outcome.faults) == {name}
    share = outcome.faults[name] / len(world.passages)
    # Every message is delayed; one in twenty comes twice or overtakes (some are lost with their link).
    low, high = (1.0, 1.0) if name == "delay" else (0.02, 0.09)
    assert low <= share <= high


def test_what_was_planned_for_after_the_end_is_not_told_as_injected():
    storm = Storm(players=(3, 3), hands=1, deck="fast", bots="steady", faults=("crash", "suspend"))
    world = storm.world(3)
    world.waves = [
        [
            Fault(name="crash", at=1.0, seconds=1.0, seats=(1,)),
            Fault(name="suspend", at=3_000.0, seconds=1.0, seats=(2,)),
        ]
    ]
    report = world.run()
    assert report.seconds < 3_000.0
    assert storm.outcome(report).faults == {"crash": 1}


# --- the picture -----------------------------------------------------------------------------------------


def test_the_picture_has_every_lane_and_message_and_no_outside_resource():
    world = CALM.world(2, record_messages=True)
    world.run()
    page = picture(world, CALM.replay(2))
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data = json.loads(found.group(1).replace("<\\/", "</"))
    assert data["seats"] == ["Seat 0", "Seat 1", "Seat 2"]
    assert len(data["messages"]) == len(world.passages) > 0
    assert any("MOVE" in message[4] for message in data["messages"])
    assert any(mark[2] == "ruling" for mark in data["marks"])
    assert not re.search(r"(src|href)\s*=|https?://(?!www\.w3\.org/2000/svg)", page)
