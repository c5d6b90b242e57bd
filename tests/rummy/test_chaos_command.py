"""The words of the chaos command: what is refused, with which status, and what goes where."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from p2p_rummy import cli
from p2p_rummy.chaos import LIMITS, Storm, checked_storm, run_all
from p2p_rummy.chaos_results import Outcome
from p2p_rummy.options import GAMES

QUICK = ["--players", "2", "--hands", "1", "--fast-deck", "--bots", "steady", "--faults", "none"]


def chaos(*words: str) -> int:
    try:
        return cli.main(["chaos", *words])
    except SystemExit as end:
        return int(end.code or 0)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--players", "9"], "2 to 8"),
        (["--players", "1"], "2 to 8"),
        (["--players", "4..2"], "players are such as 4, or 2..8"),
        (["--players", "many"], "players are such as 4, or 2..8"),
        (["--hands", "0"], "--hands"),
        (["--hands", "9" * 5000], "--hands"),
        (["--hands", "1000000000"], "max_hands"),
        (["--faults", "meteor"], "meteor"),
        (["--byzantine", "7=equivocate"], "SEAT=MISBEHAVIOUR"),
        (["--byzantine", "9" * 5000 + "=equivocate"], "SEAT=MISBEHAVIOUR"),
        (["--byzantine=-1=equivocate"], "SEAT=MISBEHAVIOUR"),
        (["--byzantine", "1=sulk"], "misbehaviours"),
        (["--byzantine", "1=flood", "--byzantine", "1=late"], "seat 1 twice (flood, late)"),
        (["--byzantine", "1=flood", "--byzantine", "1=flood"], "seat 1 twice"),
        (["--players", "2", "--byzantine", "0=flood", "--byzantine", "1=late"], "with 2 players every seat"),
        (["--players", "2..8", "--byzantine", "0=flood", "--byzantine", "1=late"], "with 2 players every seat"),
        (["--trace", "x.html"], "--seed"),
        (["--set", "ace=wild"], "ace"),
        (["--set", "ace"], "option=value"),
        (["--set", "ace=low", "--set", "ace=high"], "twice"),
        (["--game", "poker"], "poker"),
        (["--seeds", "9..1"], "0..99"),
        (["--seeds", "-1"], "0..99"),
        (["--seeds", "1.."], "0..99"),
        (["--seed", "-1"], "a whole number from 0"),
        (["--seed", "x"], "a whole number from 0"),
        (["--seed", "9" * 5000], "a whole number from 0"),
        (["--seed", "1", "--seeds", "1..2"], "not allowed with argument"),
        (["--jobs", "0"], "at least one process"),
        (["--jobs", "-1"], "at least one process"),
    ],
)  # fmt: skip
def test_bad_words_end_in_one_line_that_names_them_and_status_two(
    words: list[str], part: str, capsys: pytest.CaptureFixture[str]
):
    assert chaos(*words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert part in captured.err
    assert captured.err.count("\n") == 1


RUN_FLAGS = [
    ["--players", "4"], ["--hands", "2"], ["--game", "rum500"], ["--set", "ace=low"], ["--seeds", "0..19"], ["--seed", "0"],
    ["--faults", "all"], ["--byzantine", "1=late"], ["--bots", "random"], ["--fast-deck"], ["--strict"], ["--jobs", "1"],
    ["--trace", "x.html"],
]  # fmt: skip


@pytest.mark.parametrize("words", RUN_FLAGS, ids=lambda words: words[0])
def test_merging_refuses_what_describes_runs_even_what_it_would_be_anyway(
    words: list[str], capsys: pytest.CaptureFixture[str]
):
    assert chaos("--merge", "nowhere.jsonl", *words) == 2
    assert f"leave out {words[0]}\n" in capsys.readouterr().err


def test_every_flag_is_of_runs_or_may_stand_beside_merge(capsys: pytest.CaptureFixture[str]):
    assert chaos("--help") == 0
    flags = {
        word.strip(" ,[]|")
        for word in capsys.readouterr().out.split()
        if word.strip(" ,[]|").startswith("--")
    }
    assert flags == {words[0] for words in RUN_FLAGS} | {"--merge", "--json", "--lang", "--help"}


def test_a_file_that_is_not_there_and_one_that_never_ends_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    for path in (tmp_path / "nowhere.jsonl", tmp_path, Path("/dev/zero")):
        assert chaos("--merge", str(path)) == 1
        captured = capsys.readouterr()
        assert captured.err.startswith(f"p2p-rummy: {path}")
        assert captured.err.count("\n") == 1


# --- the line that plays a run again ---------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("limit", LIMITS)
def test_how_many_hands_is_said_in_one_place(game: str, limit: str, capsys: pytest.CaptureFixture[str]):
    assert chaos("--game", game, "--set", f"{limit}=2", "--seed", "1") == 2
    assert f"--hands says how many hands are played: leave out --set {limit}" in capsys.readouterr().err
    with pytest.raises(ValueError, match="hands"):
        Storm(options=((limit, "2"),))


@pytest.mark.parametrize("hands", [1, 2])
def test_so_many_hands_are_played(hands: int):
    storm = Storm(players=(2, 2), hands=hands, deck="fast", bots="steady")
    assert storm.run(1).hands == hands
    assert f"--hands {hands} " in storm.replay(1)


@pytest.mark.parametrize(
    ("game", "words"),
    [
        ("rum500", ["--set", "target=none", "--set", "ace=low"]),
        ("rummoli", ["--faults", "crash,delay"]),
        ("rum500", ["--players", "2..3", "--byzantine", "2=late", "--byzantine", "0=flood", "--strict"]),
    ],
)
def test_the_replay_line_plays_the_same_run(game: str, words: list[str], capsys: pytest.CaptureFixture[str]):
    assert chaos(*QUICK, "--game", game, "--seed", "1", "--json", *words) == 0
    first = capsys.readouterr().out
    outcome = Outcome.from_json(first)
    assert chaos(*shlex.split(outcome.replay)[2:], "--json") == 0
    assert capsys.readouterr().out == first


def test_the_order_in_which_liars_and_options_are_named_makes_no_other_run():
    words: dict[str, object] = {
        "players": (4, 4), "hands": 1, "game": "rum500", "faults": "none", "fast": True, "bots": "steady", "strict": False,
    }  # fmt: skip
    one = checked_storm(options={"ace": "low", "target": "none"}, byzantine=["2=late", "1=flood"], **words)  # type: ignore[arg-type]
    two = checked_storm(options={"target": "none", "ace": "low"}, byzantine=["1=flood", "2=late"], **words)  # type: ignore[arg-type]
    assert one.replay(1) == two.replay(1)


def test_one_honest_seat_is_enough_to_run(capsys: pytest.CaptureFixture[str]):
    assert chaos(*QUICK, "--byzantine", "0=flood", "--seed", "1", "--json") == 0
    assert Outcome.from_json(capsys.readouterr().out).byzantine["0=flood"] > 0


def test_seeds_beyond_count_are_not_listed_before_the_first_is_played():
    storm = Storm(players=(2, 2), hands=1, deck="fast", bots="steady")
    outcomes = iter(run_all(storm, range(10**15), 1))
    assert [next(outcomes).seed, next(outcomes).seed] == [0, 1]


# --- the picture's file ----------------------------------------------------------------------------------


def test_where_the_picture_is_does_not_stand_among_the_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "run.html"
    assert chaos(*QUICK, "--seed", "1", "--json", "--trace", str(path)) == 0
    captured = capsys.readouterr()
    drawn = Outcome.from_json(captured.out)
    assert str(path) in captured.err
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert chaos(*QUICK, "--seed", "1", "--json") == 0
    assert Outcome.from_json(capsys.readouterr().out) == drawn


def test_a_picture_that_cannot_be_written_is_told_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Storm, "world", lambda *_words, **_more: pytest.fail("the run was played"))
    for path in (tmp_path, tmp_path / "nowhere" / "run.html"):
        assert chaos(*QUICK, "--seed", "1", "--trace", str(path)) == 1
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith(f"p2p-rummy: {path}")


def test_a_run_that_fails_leaves_no_empty_picture_and_does_not_touch_an_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def broken(*_words: object, **_more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Storm, "world", broken)
    old, new = tmp_path / "old.html", tmp_path / "new.html"
    old.write_text("a picture")
    for path in (old, new):
        assert chaos(*QUICK, "--seed", "1", "--trace", str(path)) == 130
    assert old.read_text() == "a picture"
    assert not new.exists()


def test_every_line_of_several_runs_in_json_is_an_object(capsys: pytest.CaptureFixture[str]):
    assert chaos(*QUICK, "--seeds", "1..3", "--json", "--jobs", "2") == 0
    assert [json.loads(line)["seed"] for line in capsys.readouterr().out.splitlines()] == [1, 2, 3]
