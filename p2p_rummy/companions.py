"""Bots at a friend's table: each one a process of its own, with its own home, keys and TCP connection.

They sit down by the ticket like anybody else, over loopback: nothing of theirs passes through the memory of the player
who seated them, and nothing about them is simulated.  A companion ends when the pipe that is its leash
does, so a host that dies leaves none behind; its home stays, so ``resume`` brings it back to its seat.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import trio

from p2p_rummy.catalogue import _
from p2p_rummy.complaint import one_line

NAMES = ("Ada", "Bela", "Cleo", "Dov", "Edda", "Finn", "Greta", "Hugo")
PARTING_SECONDS = 5.0
RESTARTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Companion:
    """One bot to be started: its name, its home, and the words of its commands."""

    name: str
    home: Path
    words: tuple[str, ...]
    manner: tuple[str, ...] = ()
    """How it plays: arguments that also go with ``resume``."""


def newcomers(
    home: Path,
    ticket: str,
    count: int,
    level: str,
    *,
    taken: Sequence[str],
    bind: str | None = None,
    pause_seconds: float = 0.0,
) -> list[Companion]:
    """Bots for a new table, with names that nobody there has; they listen where their host listens."""
    names = [name for name in NAMES if name not in taken][:count]
    how = _manner(bind, pause_seconds)
    return [
        Companion(
            name=name,
            home=home / "bots" / name,
            words=("join", ticket, "--name", name, "--bot", level),
            manner=how,
        )
        for name in names
    ]


def returners(
    home: Path, table: str, *, bind: str | None = None, pause_seconds: float = 0.0
) -> list[Companion]:
    """The bots of this home that sat at ``table`` when it was left."""
    how = _manner(bind, pause_seconds)
    homes = sorted(path for path in (home / "bots").glob("*") if (path / "tables" / table).is_dir())
    return [Companion(name=path.name, home=path, words=("resume", table), manner=how) for path in homes]


def _manner(bind: str | None, pause_seconds: float) -> tuple[str, ...]:
    return ("--pause", str(pause_seconds), *(("--bind", bind) if bind else ()))


@dataclass(slots=True)
class Company:
    """The bots that are there.  ``troubles`` has a line for each one that stops before its time."""

    troubles: trio.MemoryReceiveChannel[str]
    table: str = ""
    """Set when the table has started: a bot that stops comes back to it."""
    all_over: bool = False
    """Set when the game has ended: the bots then go home by themselves."""


@asynccontextmanager
async def companions(bots: Sequence[Companion]) -> AsyncIterator[Company]:
    """The bots' processes, for as long as the block runs."""
    send, troubles = trio.open_memory_channel[str](len(bots) * (1 + RESTARTS))
    company = Company(troubles)
    processes: dict[str, trio.Process] = {}
    async with trio.open_nursery() as nursery:
        try:
            for bot in bots:
                processes[bot.name] = await _start(bot, bot.words)
                nursery.start_soon(_keep, bot, company, processes, send)
            yield company
        finally:
            nursery.cancel_scope.cancel()
            with trio.CancelScope(shield=True):
                await _part(tuple(processes.values()), company.all_over)


async def _start(bot: Companion, words: Sequence[str]) -> trio.Process:
    bot.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (bot.home / "events.jsonl").open("ab") as out, (bot.home / "errors.txt").open("wb") as errors:
        return await trio.lowlevel.open_process(
            [
                sys.executable,
                "-m",
                "p2p_rummy",
                *words,
                *bot.manner,
                "--home",
                str(bot.home),
                "--json",
                "--leash",
            ],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=errors,
            start_new_session=True,  # Ctrl-C is for the player; the leash is for the bots
        )


async def _keep(
    bot: Companion,
    company: Company,
    processes: dict[str, trio.Process],
    troubles: trio.MemorySendChannel[str],
) -> None:
    """Watch a bot; one that stops in the middle of a table comes back to its seat, a few times."""
    for again in range(RESTARTS, -1, -1):
        status = await processes[bot.name].wait()
        if status == 0:
            return
        errors = (bot.home / "errors.txt").read_text(encoding="utf-8", errors="replace").strip()
        reason = one_line(errors.splitlines()[-1]) if errors else _("exit status {status}", status=status)
        if not (again and company.table):
            await troubles.send(_("The bot {name} has stopped: {reason}", name=bot.name, reason=reason))
            return
        await troubles.send(
            _("The bot {name} has stopped and is started again: {reason}", name=bot.name, reason=reason)
        )
        processes[bot.name] = await _start(bot, ("resume", company.table))


async def _part(processes: Sequence[trio.Process], all_over: bool) -> None:
    """Let them finish what is over; let go of the leashes; kill what holds on."""
    if all_over:
        await _wait(processes)
    for process in processes:
        if process.stdin is not None:
            await process.stdin.aclose()
    await _wait(processes)
    for process in processes:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _wait(processes: Sequence[trio.Process]) -> None:
    with trio.move_on_after(PARTING_SECONDS):
        for process in processes:
            await process.wait()
