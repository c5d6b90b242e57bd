"""What a whole table costs: real peers, each a process of its own, on loopback TCP with their journals on disk.

A game of bots is started through the command line and watched through its ``--json`` events, so these rows include
everything a player waits for: proofs, signatures, fsyncs, sockets and the bots' own thinking.

Run alone: ``python scripts/bench_table.py``.
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
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench_crypto import Row

from protocol.quorum import quorum
from protocol.testing import DeckTable

TURNS_WANTED = 60
HANDS_IN_LOG = 10


@dataclass
class Watched:
    """What one game showed: seconds of its events on the host's pipe."""

    deal_seconds: list[float] = field(default_factory=list)
    turn_seconds: list[float] = field(default_factory=list)
    log: Path | None = None
    hands: int = 0


def rows() -> list[Row]:
    found: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="p2p-rummy-bench-") as home:
        for seats, cards, aim_seconds in ((2, 54, 0.6), (4, 54, 0.6), (8, 108, 3.0)):
            hands = HANDS_IN_LOG if seats == 4 else 3
            watched = watch(Path(home, str(seats)), seats, hands=hands)
            bare = deal_cpu_seconds(seats, cards)
            deal = median(watched.deal_seconds)
            found.append(
                Row(
                    f"a deal, {seats} peers, {cards} cards",
                    deal * 1000,
                    "ms",
                    aim_seconds * 1000,
                    1.0,
                    f"keys, shuffles, shares over TCP; all its cryptography in one process: {bare * 1000:.0f} ms CPU",
                )
            )
            if seats == 4:
                found += turn_rows(watched)
                found += log_rows(watched)
    return found


def turn_rows(watched: Watched) -> list[Row]:
    turns = sorted(watched.turn_seconds)
    p95 = turns[int(len(turns) * 0.95)] * 1000
    fsync = fsync_ms()
    return [
        Row(
            "a turn, draw to next draw, p95, 4 peers",
            p95,
            "ms",
            60.0,
            1.0,
            f"{len(turns)} turns, median {median(turns) * 1000:.1f} ms, countdown 0; one fsync here: {fsync:.2f} ms",
        )
    ]


def log_rows(watched: Watched) -> list[Row]:
    assert watched.log is not None
    size = watched.log.stat().st_size
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "p2p_rummy", "verify", str(watched.log)], check=True, capture_output=True
    )
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    shuffles = watched.hands * 4
    bound = shuffles * verify_shuffle_seconds()
    return [
        Row(
            "log of a hand, 4 peers",
            size / watched.hands,
            "bytes",
            4 * 12_683,
            4.0,
            "against the four shuffles in it",
        ),
        Row(
            f"verify a log of {watched.hands} hands, 4 peers",
            wall,
            "s",
            bound,
            3.0,
            f"{cpu:.2f} s CPU; against verifying its {shuffles} shuffles alone",
        ),
    ]


# --- a game, watched ---------------------------------------------------------------------------------------


def watch(home: Path, seats: int, *, hands: int) -> Watched:
    """Play ``hands`` hands between ``seats`` processes and stop."""
    home.mkdir()
    command = [
        *(sys.executable, "-m", "p2p_rummy", "host", "--seats", str(seats), "--bots", str(seats - 1)),
        *("--bots-level", "steady", "--bot", "steady", "--json", "--window", "0", "--target", "100000"),
        *("--home", str(home), "--bind", "127.0.0.1"),
    ]
    watched = Watched()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE)
    try:
        began = drew = 0.0
        for record, at in timed_events(process):
            match record["event"]:
                case "hand":
                    began, drew = at, 0.0
                case "dealt":
                    watched.deal_seconds.append(at - began)
                case "move" if record["move"].split()[0] in ("draw", "take"):
                    if drew:
                        watched.turn_seconds.append(at - drew)
                    drew = at
                case "ruling" if record["winner"] is not None:
                    drew = 0.0  # a call: the turn that follows has no draw
                case "hand_over":
                    watched.hands += 1
                    if watched.hands >= hands:
                        break
    finally:
        assert process.stdin is not None
        process.terminate()
        process.wait()
        process.stdin.close()
        assert process.stdout is not None
        process.stdout.close()
    watched.log = next(home.glob("tables/*/*.log"))
    return watched


def timed_events(process: subprocess.Popen[bytes]) -> Iterator[tuple[dict[str, Any], float]]:
    assert process.stdout is not None
    for line in process.stdout:
        with contextlib.suppress(ValueError):
            yield json.loads(line), time.perf_counter()


# --- bounds ------------------------------------------------------------------------------------------------


def deal_cpu_seconds(seats: int, cards: int) -> float:
    """CPU of all the deal's cryptography at one peer after another, each proof made once and verified once."""
    table = DeckTable(seats, threshold=None if seats == 2 else quorum(seats))
    start = time.process_time()
    table.agree()
    table.shuffle(range(cards))
    return time.process_time() - start


def verify_shuffle_seconds() -> float:
    from bench_crypto import shuffle_rows

    return next(row.value for row in shuffle_rows() if row.name.startswith("verify")) / 1000


def fsync_ms() -> float:
    with tempfile.NamedTemporaryFile(prefix="p2p-rummy-bench-") as file:
        times = []
        for _ in range(50):
            file.write(bytes(300))
            file.flush()
            start = time.perf_counter()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - start)
    return median(times) * 1000


def median(values: list[float]) -> float:
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


if __name__ == "__main__":
    from bench import show

    show(rows())
