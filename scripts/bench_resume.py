"""What it costs to come back: a real peer is killed after ten hands and resumed, against verifying the same log.

Four peers, each a process of its own with its own home, play over loopback; the last of them is killed with SIGKILL.  From
the start of ``p2p-rummy resume`` it has to read its journal, make every game state again, find the others and be given what it
has missed; it is back when the table's next move is in its log.

Run alone: ``python scripts/bench_resume.py [HANDS]``.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_crypto import Row

HANDS = 10
SEATS = 4
RUNS = 3
TERMS = ("--window", "0", "--turn", "300", "--step", "300", "--target", "100000")


def rows(hands: int = HANDS) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="p2p-rummy-bench-") as scratch:
        directory = Path(scratch)
        with table(directory) as players:
            victim = players[-1]
            await_hands(victim, hands)
            victim.kill()
            victim.wait()
            home = directory / f"P{SEATS - 1}"
            journal = next(home.glob("tables/*/journal")).stat().st_size
            best = min((come_back(home) for _ in range(RUNS)), key=lambda back: back.seconds)
            log = next(home.glob("tables/*/*.log"))
            size = log.stat().st_size
            verified, cpu = verify_seconds(log)
        return [
            Row(
                f"resume a game of {hands} hands, {SEATS} peers",
                best.seconds,
                "s",
                verified,
                1.0,
                f"{best.cpu:.2f} s CPU; against verify of that log, {cpu:.2f} s CPU; journal {journal / 1e6:.1f} MB, "
                f"log {size / 1e6:.1f} MB; best of {RUNS} each",
            )
        ]


@dataclass(frozen=True, slots=True)
class Back:
    """How long it took until the table's next move was in the log of a peer that was killed."""

    seconds: float
    cpu: float


def come_back(home: Path) -> Back:
    """Resume the peer of this home; it is killed again in the end."""
    began = time.perf_counter()
    with peer(home, ["resume"]) as again:
        for record in records(again):
            if record["event"] == "move":
                return Back(time.perf_counter() - began, cpu_seconds(again.pid))
    raise RuntimeError("the peer did not come back: " + (home / "errors.txt").read_text()[-500:])


def cpu_seconds(pid: int) -> float:
    """What a running process has used so far; 0 where that cannot be told."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


# --- peers -------------------------------------------------------------------------------------------------


@contextmanager
def peer(home: Path, words: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """One process with a bot at its seat; killed at the end, if it has not ended."""
    home.mkdir(exist_ok=True)
    with (home / "errors.txt").open("ab") as errors:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "p2p_rummy", *words),
                *("--bind", "127.0.0.1", "--home", str(home), "--bot", "steady", "--json"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@contextmanager
def table(directory: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    """A table of peers that play; all but the last one's events go unread into a file."""
    with contextlib.ExitStack() as stack:
        host = stack.enter_context(peer(directory / "P0", ["host", "--seats", str(SEATS), *TERMS]))
        ticket = next(record["ticket"] for record in records(host) if record["event"] == "hosted")
        players = [host]
        for number in range(1, SEATS):
            home = directory / f"P{number}"
            words = ["join", ticket, "--name", f"P{number}"]
            players.append(stack.enter_context(peer(home, words)))
        for player in players[:-1]:
            drain(player)
        yield players


def drain(process: subprocess.Popen[bytes]) -> None:
    """Let somebody else read what this process says, so that its pipe is never full."""
    subprocess.Popen(
        [sys.executable, "-c", "import sys; [None for _ in sys.stdin.buffer]"], stdin=process.stdout
    )


def await_hands(process: subprocess.Popen[bytes], hands: int) -> None:
    """Return in the hand after so many, when a few moves have been made in it."""
    over = moves = 0
    for record in records(process):
        if record["event"] == "hand_over":
            over, moves = over + 1, 0
        moves += record["event"] == "move"
        if over >= hands and moves >= 8:
            return
    raise RuntimeError("the game ended too early")


def records(process: subprocess.Popen[bytes]) -> Iterator[dict[str, Any]]:
    assert process.stdout is not None
    for line in process.stdout:
        with contextlib.suppress(ValueError):
            yield json.loads(line)


def verify_seconds(log: Path) -> tuple[float, float]:
    """The best wall time and the best CPU time, interpreter and all, as a resume has it too."""
    walls, cpus = [], []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "p2p_rummy", "verify", str(log)], check=True, capture_output=True
        )
        walls.append(time.perf_counter() - start)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(walls), min(cpus)


if __name__ == "__main__":
    from bench import show

    show(rows(*map(int, sys.argv[1:])))
