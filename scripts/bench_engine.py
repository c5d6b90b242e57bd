"""How fast the engine plays: random games of rum500 with two seats, all legal moves generated at each move.

Every move goes the public way: ``legal_moves`` with the mover's own faces, a random choice among its texts, then
``slots_of`` and ``apply`` through a :class:`p2p_rummy.local.LocalTable`.  Nothing is precomputed for the run, deals,
windows and scores included.

The bound is OpenSpiel's ``gin_rummy``, whose core is C++, playing random games the same way.  Where ``pyspiel`` is
installed it is measured in the same run; otherwise its figure from the machine on which this was first measured
stands in (48,000 moves a second).  Times are CPU times of this thread, the best of several runs.

Run alone: ``python scripts/bench_engine.py [--moves N] [--seed S] [--json]``.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import random
import time
from collections.abc import Callable

from bench_crypto import Row

from p2p_rummy.games import make_game
from p2p_rummy.local import LocalTable
from protocol.game import Over, Window

OPENSPIEL_MOVES_PER_SECOND = 48_000
RUNS = 5


def play(moves: int, seed: int) -> int:
    """Random games until at least so many moves are played; how many it were."""
    rng = random.Random(seed)
    played = 0
    while played < moves:
        game = make_game("rum500", {}, 2)
        table = LocalTable(game, rng=rng)
        table.settle()
        while not isinstance(need := game.need, Over):
            seat = need.seats[0] if isinstance(need, Window) else need.seat  # type: ignore[union-attr]
            legal = table.legal(seat)
            table.move(seat, legal[int(rng.random() * len(legal))])
            played += 1
    return played


def play_openspiel(moves: int, seed: int) -> int:
    """The same in OpenSpiel's gin_rummy."""
    gin = importlib.import_module("pyspiel").load_game("gin_rummy")
    rng = random.Random(seed)
    played = 0
    while played < moves:
        state = gin.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(rng.choices(outcomes, weights)[0])
                continue
            legal = state.legal_actions()
            state.apply_action(legal[int(rng.random() * len(legal))])
            played += 1
    return played


def moves_per_second(work: Callable[[int, int], int], moves: int, seed: int) -> float:
    """The best of several runs."""
    best = 0.0
    for run in range(RUNS):
        start = time.thread_time()
        played = work(moves, seed + run)
        best = max(best, played / (time.thread_time() - start))
    return best


def rows(moves: int = 10_000, seed: int = 1) -> list[Row]:
    """Time for a move against OpenSpiel's; the ratio should stay at or below 1."""
    play(moves, seed - 1)  # once through, so that tables are filled and code is warm
    ours = moves_per_second(play, moves, seed)
    if importlib.util.find_spec("pyspiel") is not None:
        theirs = moves_per_second(play_openspiel, moves, seed)
        source = "measured in this run"
    else:
        theirs = OPENSPIEL_MOVES_PER_SECOND
        source = "not installed here; its figure from the first measurement"
    note = f"{ours:,.0f} moves/s; OpenSpiel gin_rummy {theirs:,.0f} moves/s ({source})"
    return [
        Row(
            name="rum500, 2 seats: a move with all legal moves",
            value=1e6 / ours,
            unit="us",
            bound=1e6 / theirs,
            aim=1.0,
            note=note,
        )
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="Moves a second in random games of rum500.")
    parser.add_argument("--moves", type=int, default=20_000, help="moves in each of the runs (default 20000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    (row,) = rows(args.moves, args.seed)
    if args.json:
        figures = {
            "name": row.name,
            "value": row.value,
            "unit": row.unit,
            "bound": row.bound,
            "ratio": row.ratio,
        }
        print(json.dumps(figures))
    else:
        print(
            f"{1e6 / row.value:,.0f} moves/s ({row.value:.1f} us a move, {row.ratio:.2f} of the bound)\n{row.note}"
        )


if __name__ == "__main__":
    main()
