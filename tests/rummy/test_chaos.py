"""The chaos command: one seed one run, results that merge, a picture without outside resources."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from p2p_rummy import cli
from p2p_rummy.chaos import Outcome, Storm, checked_storm, merged, run_all, summary
from p2p_rummy.chaos_picture import picture
from p2p_rummy.complaint import Complaint
from protocol.simulation import MISBEHAVIOURS
from protocol.simulation.shared import SharedDeck, SharedDecks

CALM = Storm(players=(3, 3), hands=1, options=(("max_hands", "1"),), deck="fast", bots="steady")


def an_outcome(**changes: object) -> Outcome:
    values: dict[str, object] = {
        "seed": 1, "players": 3, "faults": {"crash": 1}, "byzantine": [], "steps": 50, "hands": 1, "epochs": 1,
        "drops": 0, "returns": 0, "rulings": 9, "evidence": [], "seconds": 12.5, "outcome": "finished",
        "violations": [], "head": "ab", "replay": "p2p-rummy chaos --seed 1",
    }  # fmt: skip
    return Outcome(**(values | changes))  # type: ignore[arg-type]


def test_one_seed_gives_one_run_and_another_seed_another():
    first, again, other = CALM.run(3), CALM.run(3), CALM.run(4)
    assert first == again
    assert first.outcome == "finished"
    assert first.head != other.head


def test_the_real_deck_with_shared_verdicts_finishes_too():
    storm = Storm(players=(2, 2), hands=1, options=(("max_hands", "1"),), bots="steady")
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
        players=(4, 4), hands=1, options=(("max_hands", "1"),), deck="fast", bots="steady",
        byzantine=((2, "illegal_move"),),
    )  # fmt: skip
    outcome = storm.run(1)
    assert outcome.violations == []
    assert {text.partition(":")[0] for text in outcome.evidence} <= {"2"}


def test_two_moves_of_one_turn_convict_their_author_in_a_real_game():
    storm = Storm(
        players=(4, 4), hands=1, options=(("max_hands", "1"),), deck="fast", bots="steady",
        byzantine=((1, "equivocate"),),
    )  # fmt: skip
    assert storm.run(3).evidence == ["1:equivocation"]


def test_several_jobs_give_the_same_results_in_order():
    assert list(run_all(CALM, [1, 2], 2)) == list(run_all(CALM, [1, 2], 1))


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--players", "9"], "2 to 8"),
        (["--players", "1"], "2 to 8"),
        (["--hands", "0"], "--hands"),
        (["--faults", "meteor"], "meteor"),
        (["--byzantine", "7=equivocate"], "SEAT=MISBEHAVIOUR"),
        (["--byzantine", "1=sulk"], "misbehaviours"),
        (["--trace", "x.html"], "--seed"),
        (["--set", "ace=wild"], "ace"),
        (["--game", "poker"], "poker"),
        (["--seeds", "9..1"], "span"),
        (["--merge", "nowhere.jsonl"], "nowhere.jsonl"),
    ],
)
def test_bad_words_end_in_one_line_that_names_them(
    words: list[str], part: str, capsys: pytest.CaptureFixture[str]
):
    try:
        status = cli.main(["chaos", *words])
    except SystemExit as end:
        status = int(end.code or 0)
    captured = capsys.readouterr()
    assert status in (1, 2)
    assert part in captured.err
    assert captured.err.count("\n") == 1


def test_every_misbehaviour_can_be_asked_for():
    for name in MISBEHAVIOURS:
        storm = checked_storm(
            players=(4, 4), hands=1, game="rum500", options={}, faults="none", byzantine=[f"3={name}"], fast=True,
            bots="random", strict=False,
        )  # fmt: skip
        assert storm.byzantine == ((3, name),)


# --- merging ---------------------------------------------------------------------------------------------


def lines(*outcomes: Outcome) -> list[tuple[str, int, str]]:
    return [("results.jsonl", number, each.to_json()) for number, each in enumerate(outcomes, 1)]


def test_results_of_two_machines_are_put_together_by_seed_and_doubles_count_once():
    one, two = an_outcome(), an_outcome(seed=2, replay="p2p-rummy chaos --seed 2")
    assert merged(lines(two, one, one)) == [one, two]


def test_one_run_with_two_outcomes_is_refused_with_file_and_line():
    with pytest.raises(Complaint, match=r"results.jsonl, line 2: seed 1"):
        merged(lines(an_outcome(), an_outcome(steps=51)))


@pytest.mark.parametrize("text", ["{", "[]", "{}", json.dumps({"seed": 1})])
def test_a_line_that_is_no_result_is_named(text: str):
    with pytest.raises(Complaint, match=r"x.jsonl, line 7"):
        merged([("x.jsonl", 7, text)])


def test_a_violation_is_told_with_the_line_that_replays_it_and_ends_with_status_one(tmp_path: Path):
    bad = an_outcome(outcome="violation", violations=["agreement at 3.000 s, seat 1: two heads"])
    told = summary([bad])
    assert "VIOLATION agreement at 3.000 s, seat 1: two heads" in told
    assert told[-1].strip() == bad.replay
    file = tmp_path / "bad.jsonl"
    file.write_text(bad.to_json() + "\n")
    assert cli.main(["chaos", "--merge", str(file)]) == 1


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
