"""Measure the bots: ``steady`` against ``random``, two-player rum500 to 500, over 200 seeds.

    scripts/bots_match [--seeds 200] [--against random] [--level steady] [--game rum500]

Prints the share of games won and exits 1 if it is below ``--least`` (90 in a hundred).
"""

import argparse
import os
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from p2p_rummy.bots import LEVELS, make_bot
from p2p_rummy.games import make_game
from p2p_rummy.local import LocalTable
from protocol.game import Over, Window


def play(seed: int, *, game: str, level: str, against: str) -> tuple[bool, int, int, int]:
    """One game; the bots change seats with the seed.  Returns (won, own score, other's score, moves)."""
    table = LocalTable(make_game(game, {}, 2), rng=random.Random(seed))
    me = seed % 2
    bots = [make_bot(level if seat == me else against, seed) for seat in (0, 1)]
    table.settle()
    moves = 0
    while not isinstance(need := table.game.need, Over):
        for seat in need.seats if isinstance(need, Window) else (need.seat,):
            table.move(seat, bots[seat].choose(table.game, seat, table.faces[seat]))
            moves += 1
    return need.winners == (me,), need.scores[me], need.scores[1 - me], moves


def main() -> int:
    parser = argparse.ArgumentParser(description="steady against random, counted")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--level", default="steady", choices=LEVELS)
    parser.add_argument("--against", default="random", choices=LEVELS)
    parser.add_argument("--game", default="rum500")
    parser.add_argument("--least", type=float, default=90.0, help="per cent of games to be won")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    began = time.perf_counter()
    one = partial(play, game=asked.game, level=asked.level, against=asked.against)
    with ProcessPoolExecutor(asked.jobs) as pool:
        games = list(pool.map(one, range(asked.seeds), chunksize=4))
    seconds = time.perf_counter() - began
    won = sum(game[0] for game in games)
    share = 100 * won / len(games)
    own, other = (sum(game[place] for game in games) / len(games) for place in (1, 2))
    print(
        f"{asked.level} against {asked.against}, {asked.game}, {len(games)} games: won {won} ({share:.1f} %), "
        f"average score {own:.0f} to {other:.0f}, {sum(game[3] for game in games)} moves in {seconds:.1f} s"
    )
    if share < asked.least:
        print(f"below the {asked.least:g} % asked for", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
