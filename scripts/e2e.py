"""Real processes on loopback play a game to its end; then every log is compared, verified and damaged.

One seat is driven through ``--json`` by this script, as any other program could drive it; the others are played by
bots in processes of their own.  Nothing is shared but TCP: each has its own home and keys.

    scripts/e2e                            three seats, rum500 to 500
    scripts/e2e --seats 4 --game rummoli --set max_rounds=2
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import trio

Event = dict[str, Any]
PATIENCE_SECONDS = 900.0
DRIVEN = "Driver"

# What a plain player prefers, best first; the rest of the verbs come last.
PREFERENCE = ("rummy", "meld", "lay", "play", "show", "draw", "discard", "pass", "check", "call", "keep")


@dataclass(slots=True)
class Player:
    """One process: what it was started with, and all that it has said."""

    name: str
    home: Path
    process: trio.Process
    said: list[Event] = field(default_factory=list)

    def last(self, event: str) -> Event | None:
        return next((each for each in reversed(self.said) if each["event"] == event), None)


def choose(legal: Sequence[str], rng: random.Random) -> str:
    """A move by preference of the verb; long melds before short ones, otherwise by chance."""

    def rank(text: str) -> tuple[int, int, float]:
        verb = text.split(" ")[0]
        place = PREFERENCE.index(verb) if verb in PREFERENCE else len(PREFERENCE)
        return place, -text.count(" ") if verb == "meld" else 0, rng.random()

    return min(legal, key=rank)


async def start(name: str, home: Path, words: Sequence[str]) -> Player:
    home.mkdir(parents=True, exist_ok=True)
    with (home / "errors.txt").open("wb") as errors:
        process = await trio.lowlevel.open_process(
            [sys.executable, "-m", "p2p_rummy", *words, "--home", str(home), "--name", name, "--json"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
    return Player(name=name, home=home, process=process)


async def follow(player: Player, act: Callable[[Event], str | None]) -> None:
    """Read a player's events to the end; ``act`` may answer one with a line.  Raises RuntimeError on a bad end."""
    assert player.process.stdout is not None
    assert player.process.stdin is not None
    waiting = b""
    async for data in player.process.stdout:
        *lines, waiting = (waiting + data).split(b"\n")
        for line in lines:
            event: Event = json.loads(line)
            player.said.append(event)
            answer = act(event)
            if answer is not None:
                await player.process.stdin.send_all(answer.encode() + b"\n")
    status = await player.process.wait()
    if status != 0:
        errors = (player.home / "errors.txt").read_text(encoding="utf-8", errors="replace").strip()
        raise RuntimeError(f"{player.name} ended with status {status}: {errors}")


async def play(directory: Path, seats: int, terms: Sequence[str], level: str, seed: int) -> list[Player]:
    """A whole game: the first seat hosts and is driven through JSON, the others are bots that join by its ticket."""
    rng = random.Random(seed)
    hosted: trio.Event = trio.Event()
    host = await start(
        DRIVEN,
        directory / DRIVEN,
        ["host", "--seats", str(seats), "--port", "0", "--bind", "127.0.0.1", *terms],
    )
    players = [host]

    def drive(event: Event) -> str | None:
        if event["event"] == "hosted":
            hosted.set()
        if event["event"] in ("your_turn", "window") and event["legal"]:
            return choose(event["legal"], rng)
        return None

    async def join(number: int) -> None:
        name = f"Bot{number}"
        await hosted.wait()
        ticket = str(host.last("hosted")["ticket"])  # type: ignore[index]
        guest = await start(name, directory / name, ["join", ticket, "--bot", level])
        players.append(guest)
        await follow(guest, lambda _event: None)

    try:
        with trio.fail_after(PATIENCE_SECONDS):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(follow, host, drive)
                for number in range(1, seats):
                    nursery.start_soon(join, number)
    finally:
        for player in players:
            if player.process.returncode is None:
                player.process.kill()
    return players


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "p2p_rummy", *words], capture_output=True, text=True, check=False
    )


def check(players: Sequence[Player], flips: int, rng: random.Random) -> list[str]:
    """What is wrong with the end of a game: nothing, or a line for each thing."""
    wrong = []
    ends = [player.last("game_over") for player in players]
    if any(end is None for end in ends):
        return ["not everybody saw the game end"]
    if len({(end["head"], tuple(end["scores"]), end["winner"]) for end in ends if end}) != 1:
        wrong.append("the players disagree about the end")
    logs = [Path(end["log"]).read_bytes() for end in ends if end]
    if len(set(logs)) != 1:
        wrong.append("the logs differ")
    for end in ends:
        assert end is not None
        verified = command("verify", end["log"], "--json")
        if verified.returncode != 0 or json.loads(verified.stdout)["head"] != end["head"]:
            wrong.append(f"{end['log']} does not verify: {verified.stderr.strip()}")
    damaged = players[0].home / "damaged.log"
    for place in rng.sample(range(len(logs[0])), flips):
        data = bytearray(logs[0])
        data[place] ^= 1 << rng.randrange(8)
        damaged.write_bytes(data)
        verdict = command("verify", str(damaged))
        if verdict.returncode != 1 or "Traceback" in verdict.stderr or not verdict.stderr.strip():
            wrong.append(f"byte {place} flipped: status {verdict.returncode}, {verdict.stderr.strip()!r}")
    return wrong


def report(group: BaseExceptionGroup[BaseException]) -> int:
    """Say which processes came to a bad end."""
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            report(error)
        else:
            print(f"WRONG: {error or type(error).__name__}")
    return 1


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seats", type=int, default=3)
    parser.add_argument("--game", default="rum500")
    parser.add_argument("--set", action="append", default=[], dest="settings", metavar="OPTION=VALUE")
    parser.add_argument("--target", help="a shorter game than the rules' own target")
    parser.add_argument("--window", default="0", help="seconds of each call window (0: no countdown)")
    parser.add_argument("--bot", default="steady", help="the level of the other seats")
    parser.add_argument("--seed", type=int, default=1, help="of this script's choices, not of the deck")
    parser.add_argument("--flips", type=int, default=20, help="bytes to flip, one after another")
    parser.add_argument("--keep", metavar="DIR", help="leave homes and logs there")
    args = parser.parse_args()
    terms = ["--game", args.game, "--window", args.window]
    for setting in args.settings:
        terms += ["--set", setting]
    if args.target is not None:
        terms += ["--target", args.target]
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(args.keep or scratch)
        begun = time.monotonic()
        try:
            players = trio.run(play, directory, args.seats, terms, args.bot, args.seed)
        except BaseExceptionGroup as group:
            return report(group)
        took = time.monotonic() - begun
        wrong = check(players, args.flips, random.Random(args.seed))
        end = players[0].last("game_over") or {}
        hands = sum(event["event"] == "hand_over" for event in players[0].said)
        moves = sum(event["event"] == "move" for event in players[0].said)
        print(f"{args.game}, {args.seats} processes: {hands} hands, {moves} moves in {took:.1f} s")
        print(f"scores {end.get('scores')}, winner seat {end.get('winner')}, head {end.get('head')}")
        for line in wrong:
            print(f"WRONG: {line}")
        if not wrong:
            print(
                f"all {args.seats} logs are identical and verify; {args.flips} flipped bytes were all found"
            )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
