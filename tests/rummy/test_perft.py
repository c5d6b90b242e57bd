"""Counts of legal move sequences: the engine against a file, and the file against a plain second implementation.

tests/data/perft.json holds positions (in the form of a scenario's ``state``) and, for depth 1, 2, 3 ..., how many
sequences of that many moves there are.  Answers in a window count as moves, seat by seat clockwise.  The counts come
from ``naive.py``, which shares no code with the engine.
"""

from __future__ import annotations

import json
from copy import copy
from pathlib import Path
from typing import Any

import pytest

from p2p_rummy.local import LocalTable
from p2p_rummy.scenario import position_of
from protocol.game import Over, Shuffle
from tests.rummy.naive import Naive, NaiveMeld

POSITIONS = json.loads((Path(__file__).parent.parent / "data" / "perft.json").read_text(encoding="utf-8"))
QUICK = 60
"""Up to how many sequences the plain implementation counts in the test."""


def perft(table: LocalTable, depth: int) -> int:
    if depth == 0:
        return 1
    if isinstance(table.game.need, Over | Shuffle):
        return 0
    game = table.game
    answered = set(game.snapshot()["answered"])
    seat = next(seat for seat in table.to_move() if seat not in answered)
    count = 0
    for text in table.legal(seat):
        after = copy(table)
        after.game = table.game.copy()
        after.faces = [dict(own) for own in table.faces]
        after.move(seat, text, into_next_hand=False)
        count += perft(after, depth - 1)
    return count


def naive(position: dict[str, Any]) -> Naive:
    state = position["state"]
    return Naive(
        hands=[list(state["hands"][seat]) for seat in position["seats"]],
        stock=list(state["stock"]),
        pile=list(state["discard"]),
        melds={
            meld["id"]: NaiveMeld(meld["kind"], [(card, "") for card, _ in meld["cards"]])
            for meld in state["melds"]
        },
        turn=position["seats"].index(state["turn"]),
        phase=state["phase"],
        options=position["options"],
        had_stock=state["phase"] != "draw" or bool(state["stock"]),
    )


def test_there_are_positions_enough() -> None:
    assert len(POSITIONS) >= 10


@pytest.mark.parametrize("position", POSITIONS, ids=lambda position: position["id"])
def test_engine_counts_what_the_file_says(position: dict[str, Any]) -> None:
    table = position_of(position, position["seats"]).table()
    counted = [perft(table, depth) for depth in range(1, len(position["counts"]) + 1)]
    assert counted == position["counts"]


@pytest.mark.parametrize("position", POSITIONS, ids=lambda position: position["id"])
def test_plain_implementation_counts_what_the_file_says(position: dict[str, Any]) -> None:
    counts = [count for count in position["counts"] if count <= QUICK]
    assert [naive(position).perft(depth) for depth in range(1, len(counts) + 1)] == counts
