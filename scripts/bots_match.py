"""Measure the bots against each other: full games, one seed after the other, counted.

    scripts/bots_match --level steady --against random --least 90
    scripts/bots_match --level sharp --against steady --worlds 60 --seeds 0..99 --results sharp.jsonl
    scripts/bots_match --level sharp --against steady --worlds 60 --seeds 100..199 --results sharp.jsonl

One side plays ``--level``, the next one with each seed, and all others play ``--against``.  A game is its seed: the same
seed and ``--worlds`` give the same game on any machine.  ``--results`` keeps a line for every game that has ended, so a long
match can be played in parts and goes on after a stop; what is printed counts all games of the same terms in that
file.

Prints the games won with their 95 % interval (Wilson, "Probable Inference, the Law of Succession, and Statistical
Inference", 1927), the average scores and the time of a move.  Exits 1 if fewer than ``--least`` per cent are won.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from p2p_rummy.bots import LEVELS, Bot, make_bot
from p2p_rummy.bots.sharp import WORLDS, SharpBot
from p2p_rummy.bots.sharp_search import Budget
from p2p_rummy.games import make_game
from p2p_rummy.games.rum import RumGame
from p2p_rummy.local import LocalTable
from protocol.game import Over

Z_95: Final = 1.959964
"""The quantile of the normal distribution with 2.5 % above it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What is the same in every game of a match."""

    game: str
    seats: int
    level: str
    against: str
    worlds: int
    """Worlds that ``sharp`` tries for a decision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """One game; ``own`` and ``best`` are the scores of the side that was measured and of the best other one."""

    seed: int
    won: bool
    own: int
    best: int
    moves: int
    seconds: float
    """Processor time of the measured side's moves."""
    longest: float


def play(terms: Terms, seed: int) -> Played:
    """The game of a seed.  Partners play the same level, and answers to a window are chosen before any is shown."""
    game = make_game(terms.game, {}, terms.seats)
    side_of = game.table.rules.side_of if isinstance(game, RumGame) else tuple(range(terms.seats))
    side = side_of[seed % terms.seats]
    table = LocalTable(game, rng=random.Random(seed))
    bots = [
        _bot(terms.level if side_of[seat] == side else terms.against, seed + seat, terms.worlds)
        for seat in range(terms.seats)
    ]
    times: list[float] = []
    table.settle()
    while seats := table.to_move():
        texts = []
        for seat in seats:
            began = time.process_time()
            texts.append(bots[seat].choose(game, seat, table.faces[seat]))
            if side_of[seat] == side:
                times.append(time.process_time() - began)
        for seat, text in zip(seats, texts, strict=True):
            table.move(seat, text)
    over = game.need
    assert isinstance(over, Over)
    return Played(
        seed=seed,
        won=side in {side_of[seat] for seat in over.winners},
        own=max(score for seat, score in enumerate(over.scores) if side_of[seat] == side),
        best=max(score for seat, score in enumerate(over.scores) if side_of[seat] != side),
        moves=len(times),
        seconds=round(sum(times), 3),
        longest=round(max(times), 3),
    )


def _bot(level: str, seed: int, worlds: int) -> Bot:
    return SharpBot(seed, Budget(worlds=worlds)) if level == "sharp" else make_bot(level, seed)


# --- the file of results --------------------------------------------------------------------------------


def read_results(path: Path, terms: Terms) -> dict[int, Played]:
    """Seed -> game, of the games on these terms; a line that a stop cut short is left out."""
    found: dict[int, Played] = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                continue
            if record["terms"] == asdict(terms):
                found[record["game"]["seed"]] = Played(**record["game"])
    return found


def write_result(path: Path, terms: Terms, game: Played) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"terms": asdict(terms), "game": asdict(game)}) + "\n")


# --- what is printed ------------------------------------------------------------------------------------


def interval(won: int, games: int) -> tuple[float, float]:
    """The 95 % interval of a share, in per cent (Wilson's score interval)."""
    share = won / games
    weight = Z_95**2 / games
    middle = (share + weight / 2) / (1 + weight)
    half = Z_95 / (1 + weight) * math.sqrt(share * (1 - share) / games + weight / (4 * games))
    return 100 * (middle - half), 100 * (middle + half)


def summary(terms: Terms, games: Sequence[Played]) -> str:
    won = sum(game.won for game in games)
    low, high = interval(won, len(games))
    own = sum(game.own for game in games) / len(games)
    best = sum(game.best for game in games) / len(games)
    moves = sum(game.moves for game in games)
    each = 1000 * sum(game.seconds for game in games) / moves
    longest = 1000 * max(game.longest for game in games)
    worlds = f" ({terms.worlds} worlds)" if "sharp" in (terms.level, terms.against) else ""
    return (
        f"{terms.level} against {terms.against}{worlds}, {terms.game}, {terms.seats} seats, {len(games)} games, "
        f"seeds {spans(game.seed for game in games)}: won {won} ({100 * won / len(games):.1f} %, "
        f"95 % interval {low:.1f} to {high:.1f})\n"
        f"average score {own:.0f} to {best:.0f}; {moves} moves of {each:.0f} ms on average, {longest:.0f} ms at most"
    )


def spans(seeds: Iterable[int]) -> str:
    """``0..9, 12``."""
    found: list[list[int]] = []
    for seed in sorted(seeds):
        if found and seed == found[-1][1] + 1:
            found[-1][1] = seed
        else:
            found.append([seed, seed])
    return ", ".join(f"{low}..{high}" if low < high else f"{low}" for low, high in found)


# --- the match ------------------------------------------------------------------------------------------


def games_of(terms: Terms, seeds: Sequence[int], jobs: int) -> Iterator[Played]:
    if jobs == 1:
        yield from (play(terms, seed) for seed in seeds)
        return
    with ProcessPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(play, terms, seed) for seed in seeds]):
            yield done.result()


def seeds_of(text: str) -> range:
    """``A..B``, both included, or a number of seeds from 0."""
    first, dots, last = text.partition("..")
    seeds = range(int(first), int(last) + 1) if dots else range(int(text))
    if not seeds:
        raise argparse.ArgumentTypeError(f"{text} names no seed; write A..B with A not above B")
    return seeds


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="One level of bot against another, counted.")
    parser.add_argument("--seeds", type=seeds_of, default=range(200), metavar="A..B", help="default 0..199")
    parser.add_argument("--level", default="steady", choices=LEVELS)
    parser.add_argument("--against", default="random", choices=LEVELS)
    parser.add_argument("--game", default="rum500")
    parser.add_argument("--seats", type=int, default=2)
    parser.add_argument("--worlds", type=int, default=WORLDS.worlds, help="for each decision of sharp")
    parser.add_argument("--least", type=float, default=0.0, help="per cent of games to be won")
    parser.add_argument("--results", type=Path, metavar="FILE", help="keep and count the games of all parts")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args(arguments)
    terms = Terms(
        game=asked.game, seats=asked.seats, level=asked.level, against=asked.against, worlds=asked.worlds
    )
    games = read_results(asked.results, terms) if asked.results else {}
    for game in games_of(terms, [seed for seed in asked.seeds if seed not in games], asked.jobs):
        games[game.seed] = game
        if asked.results:
            write_result(asked.results, terms, game)
    print(summary(terms, list(games.values())))
    share = 100 * sum(game.won for game in games.values()) / len(games)
    if share < asked.least:
        print(f"below the {asked.least:g} % asked for", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
