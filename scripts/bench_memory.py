"""How much memory a peer takes: through a long game, and under every flood of the catalogue.

The aim is 150 MB a peer.  Peers are processes of their own; what is told is the peak of the resident set that the kernel has
counted (``VmHWM``), interpreter and libraries included.

* A game: bots play hands without a countdown, and the peaks are read hand by hand.  A game of a hundred hands is not played
  here but for two seats; where it is not, the row says how many hands were, and goes on from there in a straight line.
* A flood: the third seat of a table signs the agreement, leaves, and floods one of the two that play on with its key in its
  hand; strangers flood the same peer.  The row of turns tells how long the two waited for a move meanwhile.

Run alone: ``python scripts/bench_memory.py [growth|floods]``.  Linux only.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import trio
from bench_crypto import Row
from floods import Count, Flood, Seat, seat_floods, stranger_floods

from p2p_rummy.agreed import agreed_game
from protocol.events import TableAgreed
from protocol.peer import Home, join_table
from protocol.ticket import parse_ticket

LIMIT_MB = 150.0
HANDS = 100
FLOOD_SECONDS = 6.0
GAMES = ((2, 100, ()), (4, 25, ()), (8, 6, ("--set", "packs=2")))
"""Seats, hands that are played, options."""


def rows(what: str = "") -> list[Row]:
    if not Path("/proc/self/status").exists():
        return []
    found: list[Row] = []
    if what in ("", "growth"):
        found += [growth_row(*game) for game in GAMES]
    if what in ("", "floods"):
        found += flood_rows()
    return found


# --- a long game -------------------------------------------------------------------------------------------


def growth_row(seats: int, hands: int, options: Sequence[str]) -> Row:
    """The peak of the largest peer after a hundred hands."""
    with (
        tempfile.TemporaryDirectory(prefix="p2p-rummy-bench-") as home,
        Host(Path(home), seats, options) as host,
    ):
        peaks = host.peaks(hands)
        log = next(Path(home).glob("tables/*/*.log")).stat().st_size
    first, half, last = peaks[0], peaks[len(peaks) // 2], peaks[-1]
    slope = (last - half) / (len(peaks) - 1 - len(peaks) // 2) if len(peaks) > 2 else 0.0
    value = last + slope * max(0, HANDS - hands)
    played = "" if hands >= HANDS else f", {hands} of them played: {last:.1f} MB, then {slope:.2f} MB a hand"
    return Row(
        f"memory of a peer after {HANDS} hands, {seats} seats",
        value,
        "MB",
        LIMIT_MB,
        1.0,
        f"first hand {first:.1f} MB{played}; the log grows by {log / hands / 1e6:.2f} MB a hand",
    )


class Host:
    """A table of bots, each a process; killed at the end."""

    def __init__(
        self, home: Path, seats: int, options: Sequence[str] = (), *, bots: int | None = None
    ) -> None:
        bots = seats - 1 if bots is None else bots
        self.command = [
            *(sys.executable, "-m", "p2p_rummy", "host", "--seats", str(seats), "--bots", str(bots), "--bot", "steady"),
            *("--bots-level", "steady", "--json", "--window", "0", "--target", "100000", "--home", str(home)),
            *("--bind", "127.0.0.1", "--port", "0", "--hidden", *options),
        ]  # fmt: skip

    def __enter__(self) -> Host:
        self._errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors
        )
        return self

    def __exit__(self, *exc: object) -> None:
        self.process.terminate()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self._errors):
            assert pipe is not None
            pipe.close()

    def errors(self) -> str:
        """The end of what the process has complained about."""
        self._errors.seek(0)
        return self._errors.read().decode("utf-8", "replace")[-2000:]

    def events(self) -> Iterator[dict[str, Any]]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with contextlib.suppress(ValueError):
                yield json.loads(line)

    def peaks(self, hands: int) -> list[float]:
        """The peak in MB of the largest peer after each hand."""
        found: list[float] = []
        for event in self.events():
            if event["event"] == "hand_over":
                found.append(max(peak_mb(each) for each in family(self.process.pid)))
                if len(found) == hands:
                    return found
        raise RuntimeError(f"the game ended after {len(found)} hands: {self.errors()}")


def family(pid: int) -> list[int]:
    """A process and its children, whichever of its threads started them."""
    found = [pid]
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        found += [int(child) for child in path.read_text().split()]
    return found


def peak_mb(pid: int) -> float:
    """The most memory that this process has had resident; 0 if it has ended."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1000
    return 0.0


def forget_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


# --- floods ------------------------------------------------------------------------------------------------


@dataclass
class Watch:
    """What the victim says, read all along: when it is on turn, when its table makes a move."""

    host: Host
    ticket: str = ""
    moves: list[float] = field(default_factory=list)
    ready: threading.Event = field(default_factory=threading.Event)
    alone: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        for event in self.host.events():
            match event["event"]:
                case "hosted":
                    self.ticket = event["ticket"]
                    self.ready.set()
                case "dropped":
                    self.alone.set()
                case "move":
                    self.moves.append(time.perf_counter())

    def longest_wait(self, since: float) -> float:
        """Seconds between two moves of the table, at most."""
        times = [since, *(at for at in self.moves if at >= since), time.perf_counter()]
        return max(late - early for early, late in itertools.pairwise(times))


def flood_rows() -> list[Row]:
    terms = ("--turn", "4", "--step", "4")
    with tempfile.TemporaryDirectory(prefix="p2p-rummy-bench-") as scratch:
        with Host(Path(scratch, "victim"), 3, terms, bots=1) as host:
            watch = Watch(host)
            reader = threading.Thread(target=watch.run, daemon=True)
            reader.start()
            assert watch.ready.wait(60), "no table was opened"
            rows_ = trio.run(attack, Path(scratch, "attacker"), watch)
        reader.join(10)
    return rows_


async def attack(home: Path, watch: Watch) -> list[Row]:
    """Take the third seat, leave it, and flood; each flood in its turn."""
    seat = await sit_and_leave(home, watch)
    await trio.to_thread.run_sync(watch.alone.wait, 120)
    victim = watch.host.process.pid
    rows_ = [await measure("nothing", victim, watch, lambda count: trio.sleep_forever())]
    for name, flood in (seat_floods(seat) | stranger_floods(seat)).items():
        rows_.append(await measure(name, victim, watch, flood))
        await trio.sleep(1)
    return rows_


async def sit_and_leave(home: Path, watch: Watch) -> Seat:
    ticket = parse_ticket(watch.ticket)
    with Home(home) as own:
        async with join_table(own, ticket, agreed_game, name="Flood", bind="127.0.0.1") as table:
            async for event in table.events:
                if isinstance(event, TableAgreed):
                    break
            me = table.me
            assert me is not None
            return Seat(own.identity, me, table.agreement.table, ticket.addresses[0])


async def measure(name: str, victim: int, watch: Watch, flood: Flood) -> Row:
    """The victim's peak under this flood, and the longest that its table waited for a move meanwhile."""
    forget_peak(victim)
    count = Count()
    began = time.perf_counter()
    with trio.move_on_after(FLOOD_SECONDS):
        await flood(count)
    peak = peak_mb(victim)
    if not peak:
        raise RuntimeError(f"the peer did not survive {name}: {watch.host.errors()}")
    waited = watch.longest_wait(began)
    return Row(
        f"memory under a flood: {name}",
        peak,
        "MB",
        LIMIT_MB,
        1.0,
        f"{count.sent:,} sent in {FLOOD_SECONDS:.0f} s; the table waited {waited:.2f} s for a move at most",
    )


if __name__ == "__main__":
    from bench import show

    show(rows(*sys.argv[1:]))
