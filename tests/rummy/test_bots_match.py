"""Matches of bots: that their parts add up, and what their figures mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scripts import bots_match as match

QUICK = ["--level", "steady", "--against", "random", "--jobs", "1"]


def test_the_interval_is_wilsons() -> None:
    """By hand for 5 of 10, z^2 = 3.8415: middle (0.5 + 0.19207) / 1.38415 = 0.5, half 1.96 / 1.38415 * sqrt(0.025 + 0.0096)."""
    low, high = match.interval(5, 10)
    assert (round(low, 1), round(high, 1)) == (23.7, 76.3)
    low, high = match.interval(200, 200)
    assert round(low, 1) == 98.1
    assert high == pytest.approx(100)


def test_seeds_are_named_with_both_ends() -> None:
    assert list(match.seeds_of("3..5")) == [3, 4, 5]
    assert list(match.seeds_of("3")) == [0, 1, 2]
    assert match.spans([9, 3, 4, 5]) == "3..5, 9"


def test_a_match_in_parts_is_the_match_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts, whole = tmp_path / "parts", tmp_path / "whole"
    for seeds in ("2..3", "0..1", "0..3"):  # the last part finds nothing to do
        assert match.main([*QUICK, "--seeds", seeds, "--results", str(parts)]) == 0
    assert "4 games, seeds 0..3" in capsys.readouterr().out
    assert match.main([*QUICK, "--seeds", "0..3", "--results", str(whole)]) == 0

    def games(path: Path) -> list[tuple[Any, ...]]:
        records = [json.loads(line)["game"] for line in path.read_text().splitlines()]
        return sorted(
            (game["seed"], game["won"], game["own"], game["best"], game["moves"]) for game in records
        )

    assert games(parts) == games(whole)
    assert len(games(whole)) == 4


def test_games_on_other_terms_and_lines_cut_short_do_not_count(tmp_path: Path) -> None:
    terms = match.Terms(game="rum500", seats=2, level="sharp", against="steady", worlds=60)
    others = match.Terms(game="rum500", seats=2, level="sharp", against="steady", worlds=20)
    game = match.Played(seed=7, won=True, own=510, best=300, moves=90, seconds=2.0, longest=0.1)
    path = tmp_path / "results"
    match.write_result(path, terms, game)
    match.write_result(path, others, game)
    with path.open("a") as file:
        file.write('{"terms": {"game": "rum5')
    assert match.read_results(path, terms) == {7: game}


def test_too_few_games_won_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--level", "random", "--against", "steady", "--seeds", "0..1", "--jobs", "1", "--least", "90"]
    assert match.main(asked) == 1
    captured = capsys.readouterr()
    assert "won 0 (0.0 %" in captured.out
    assert captured.err == "below the 90 % asked for\n"


def test_partners_play_the_same_level() -> None:
    terms = match.Terms(game="partnership", seats=4, level="steady", against="random", worlds=1)
    game = match.play(terms, 1)
    assert game.won
    assert game.own > game.best
