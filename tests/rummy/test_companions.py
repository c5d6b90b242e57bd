"""Bots as processes: who is started how, who comes back, and that none is left behind."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import trio

from p2p_rummy import companions as module
from p2p_rummy.companions import Companion, companions, newcomers, returners

PROGRAM = """
import sys, time, pathlib
home = pathlib.Path(sys.argv[sys.argv.index("--home") + 1])
with (home / "started").open("a") as file:
    file.write(" ".join(sys.argv[1:]) + chr(10))
if "crash" in sys.argv or (home / "crash").exists():
    print("p2p-rummy: out of cards", file=sys.stderr)
    sys.exit(1)
sys.stdin.read()
"""


@pytest.fixture
def processes() -> list[trio.Process]:
    """All that were started."""
    return []


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: list[trio.Process]) -> Path:
    """In place of the real program: it notes how it was started and waits for the end of its leash."""
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)

    async def open_process(command: list[str], **how: object) -> trio.Process:
        processes.append(await real([sys.executable, str(script), *command[3:]], **how))
        return processes[-1]

    real = trio.lowlevel.open_process
    monkeypatch.setattr(trio.lowlevel, "open_process", open_process)
    return tmp_path


def started(home: Path) -> list[str]:
    path = home / "started"
    return path.read_text().splitlines() if path.exists() else []


async def until_started(home: Path, times: int) -> None:
    with trio.fail_after(30):
        while len(started(home)) < times:
            await trio.sleep(0.01)


def test_newcomers_join_by_the_ticket_under_names_that_nobody_has(tmp_path: Path) -> None:
    bots = newcomers(tmp_path, "RUMMY-1", 2, "steady", taken=["Ada"], bind="127.0.0.1", pause_seconds=0.5)
    assert [bot.name for bot in bots] == ["Bela", "Cleo"]
    assert bots[0].words == ("join", "RUMMY-1", "--name", "Bela", "--bot", "steady")
    assert bots[0].manner == ("--pause", "0.5", "--bind", "127.0.0.1")
    assert bots[0].home == tmp_path / "bots" / "Bela"


def test_there_are_names_for_a_full_table_whoever_sits_there() -> None:
    assert len(newcomers(Path(), "", 7, "steady", taken=["Hugo"])) == 7


def test_only_who_sat_at_the_table_returns_to_it(tmp_path: Path) -> None:
    (tmp_path / "bots" / "Ada" / "tables" / "aa").mkdir(parents=True)
    (tmp_path / "bots" / "Bela" / "tables" / "bb").mkdir(parents=True)
    assert [(bot.name, bot.words) for bot in returners(tmp_path, "aa")] == [("Ada", ("resume", "aa"))]


async def test_a_bot_is_on_a_leash_and_gone_when_the_block_ends(
    program: Path, processes: list[trio.Process]
) -> None:
    bot = Companion(name="Ada", home=program / "ada", words=("join", "RUMMY-1"), manner=("--pause", "0.0"))
    async with companions([bot]):
        await until_started(bot.home, 1)
    assert started(bot.home) == [f"join RUMMY-1 --pause 0.0 --home {bot.home} --json --leash"]
    (process,) = processes
    with pytest.raises(ChildProcessError):
        os.waitpid(process.pid, os.WNOHANG)  # it has ended, and been waited for


async def test_a_bot_that_stops_before_the_table_starts_is_told_and_stays_away(program: Path) -> None:
    bot = Companion(name="Ada", home=program / "ada", words=("join", "crash"))
    async with companions([bot]) as company:
        with trio.fail_after(30):
            line = await company.troubles.receive()
    assert line == "The bot Ada has stopped: p2p-rummy: out of cards"
    assert len(started(bot.home)) == 1


async def test_a_bot_that_stops_in_mid_game_comes_back_to_its_seat_a_few_times(program: Path) -> None:
    bot = Companion(name="Ada", home=program / "ada", words=("join", "RUMMY-1"))
    bot.home.mkdir()
    (bot.home / "crash").touch()
    lines = []
    async with companions([bot]) as company:
        company.table = "aabb"
        with trio.fail_after(60):
            for _time in range(module.RESTARTS + 1):
                lines.append(await company.troubles.receive())
    assert lines[0] == "The bot Ada has stopped and is started again: p2p-rummy: out of cards"
    assert lines[-1] == "The bot Ada has stopped: p2p-rummy: out of cards"
    assert [line.split(" ")[0] for line in started(bot.home)] == ["join", *["resume"] * module.RESTARTS]
    assert started(bot.home)[-1].startswith("resume aabb ")
