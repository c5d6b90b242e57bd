"""Kill -9 at random instants: bots in processes of their own play a game, and one after another is killed and resumed.

Each killed process comes back by ``p2p-rummy resume`` with nothing but its home.  The game must be finished, every
log must be the same and verify, and nobody may be in evidence.

    scripts/kill-nine                      three seats, 30 kills
    scripts/kill-nine --kills 5 --seed 7
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import trio

Event = dict[str, Any]
NAMES = ("Ann", "Bo", "Cy", "Di", "Eve", "Flo", "Gil", "Hal")
# Long limits: a resume under load is not to be taken for leaving.
TERMS = ("--window", "0", "--turn", "300", "--step", "300")


@dataclass(slots=True)
class Player:
    """One seat, through all its lives."""

    name: str
    home: Path
    process: trio.Process | None = None
    said: list[Event] = field(default_factory=list)

    async def live(self, words: Sequence[str]) -> None:
        """One life, to its end; what it says is added to ``said``."""
        arguments = ["--home", str(self.home), "--json", "--bot", "random", "--pause", "0.05"]
        with (self.home.parent / f"{self.name}.errors").open("ab") as errors:
            self.process = await trio.lowlevel.open_process(
                [sys.executable, "-m", "p2p_rummy", *words, "--bind", "127.0.0.1", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
        assert self.process.stdout is not None
        waiting = b""
        async with self.process.stdout:
            async for data in self.process.stdout:
                *lines, waiting = (waiting + data).split(b"\n")
                self.said += [json.loads(line) for line in lines]
        await self.process.wait()

    def last(self, *events: str) -> Event | None:
        return next((each for each in reversed(self.said) if each["event"] in events), None)


async def play(directory: Path, options: argparse.Namespace) -> tuple[list[Player], int]:
    """A whole game with its kills; returns the players and how often somebody was killed."""
    dice = random.Random(options.seed)
    players = [Player(name, directory / name) for name in NAMES[: options.seats]]
    kills = 0
    async with trio.open_nursery() as nursery:
        host = [
            "host",
            "--seats",
            str(options.seats),
            "--target",
            str(options.target),
            "--name",
            NAMES[0],
            *TERMS,
        ]
        nursery.start_soon(players[0].live, host)
        ticket = (await said(players[0], "hosted"))["ticket"]
        for player in players[1:]:
            nursery.start_soon(player.live, ["join", ticket, "--name", player.name])
        for player in players:
            await said(player, "agreed")
        while kills < options.kills:
            await trio.sleep(dice.uniform(0, options.pause))
            if any(player.last("game_over") for player in players):
                break
            victim = dice.choice(players)
            assert victim.process is not None
            if victim.process.poll() is not None:
                break
            victim.process.send_signal(signal.SIGKILL)
            await victim.process.wait()
            kills += 1
            print(f"\r{kills} killed and resumed", end="", file=sys.stderr, flush=True)
            nursery.start_soon(victim.live, ["resume"])
        for player in players:
            await said(player, "game_over")
    print(file=sys.stderr)
    return players, kills


async def said(player: Player, event: str) -> Event:
    """Wait until the player has said this."""
    while (found := player.last(event)) is None:
        await trio.sleep(0.05)
    return found


def check(players: Sequence[Player]) -> list[str]:
    """What is wrong after the game; nothing if all is well."""
    faults = []
    logs = [Path(player.last("game_over")["log"]) for player in players]  # type: ignore[index]
    if len({log.read_bytes() for log in logs}) != 1:
        faults.append("the logs differ")
    verdict = subprocess.run(
        [sys.executable, "-m", "p2p_rummy", "verify", str(logs[0])],
        capture_output=True,
        text=True,
        check=False,
    )
    if verdict.returncode != 0:
        faults.append(f"verify: {verdict.stdout}{verdict.stderr}")
    for player in players:
        if any(player.home.glob("tables/*/*.evidence")):
            faults.append(f"{player.name} holds evidence against an honest seat")
        errors = (player.home.parent / f"{player.name}.errors").read_text(encoding="utf-8")
        if errors:
            faults.append(f"{player.name} complained: {errors}")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seats", type=int, default=3)
    parser.add_argument(
        "--target", type=int, default=300, help="a longer game gives more instants to be killed at"
    )
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--pause", type=float, default=2.0, help="longest time between two kills, in seconds")
    parser.add_argument(
        "--patience", type=float, default=900.0, help="seconds until the game counts as stuck"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the kills, not of the deck")
    options = parser.parse_args()
    began = time.monotonic()

    async def run() -> tuple[list[Player], int]:
        with trio.fail_after(options.patience):
            return await play(Path(directory), options)

    with tempfile.TemporaryDirectory(prefix="kill-nine-") as directory:
        try:
            players, kills = trio.run(run)
        except trio.TooSlowError:
            print("the game is stuck", file=sys.stderr)
            return 1
        faults = check(players)
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{kills} kills, {time.monotonic() - began:.0f} s: {'FAILED' if faults else 'one log, verified'}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
