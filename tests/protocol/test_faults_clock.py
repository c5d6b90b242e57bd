"""Clocks that are wrong, set back, or set forward: F85 and F86 of docs/faults.md."""

from __future__ import annotations

import ast
import itertools
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from trio.testing import MockClock

import p2p_rummy
import protocol
from protocol import effects as fx
from protocol import events
from protocol.effects import Effect
from protocol.peer import Unreachable
from protocol.peer.memory import MemoryNetwork
from protocol.verify import verify_log
from tests.protocol.peers import OFFER, all_over, company, seat_all
from tests.protocol.tables import Peer, Table, events_of
from tests.protocol.toy_game import toy_game

DAY = 24 * 3600.0
WALL_CLOCKS = {"time", "time_ns", "now", "utcnow", "today", "localtime", "gmtime"}


def wall_clocks(path: Path) -> Iterator[str]:
    """The calls in a module that read the time of day."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Attribute(value=ast.Name(id="time" | "datetime" | "date"), attr=called):
                if called in WALL_CLOCKS:
                    yield f"{path.name}:{node.lineno}"


def test_f85_nothing_that_plays_reads_the_time_of_day() -> None:
    """Only ``doctor`` does: it compares this machine's clock with a friend's, and says so."""
    found = [
        place
        for package in (protocol, p2p_rummy)
        for path in sorted(Path(package.__file__ or "").parent.rglob("*.py"))
        for place in wall_clocks(path)
    ]
    assert {place.partition(":")[0] for place in found} <= {"doctor.py"}


async def test_f85_a_game_is_played_while_the_time_of_day_jumps_by_a_day(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jumps = itertools.cycle((0.0, DAY, -DAY))
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps))
    async with company(tmp_path, 3) as (players, nursery):
        offer = replace(OFFER, seats=3, window_ms=2_000)
        await seat_all(MemoryNetwork(), players, nursery, offer)
        await all_over(players)
        for player in players:
            assert not player.of(events.SeatAbsent)
            assert not player.of(events.Suspended)
            assert not player.of(Unreachable)


class OwnClock:
    """A session whose owner's clock differs from the table's by ``offset`` seconds, and may jump."""

    def __init__(self, session: Any, offset: float) -> None:
        self.session = session
        self.offset = offset

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.session, name)
        if name in ("link_up", "link_down", "received", "tick", "work_done", "move"):
            return lambda *given: found(*given[:-1], given[-1] + self.offset)
        return found

    def take_effects(self) -> list[Effect]:
        effects: list[Effect] = self.session.take_effects()
        return [
            fx.Timer(at=effect.at - self.offset) if isinstance(effect, fx.Timer) else effect
            for effect in effects
        ]


def with_clocks(table: Table, offsets: tuple[float, ...]) -> list[OwnClock]:
    """Give each peer a clock of its own.  They start at the first link, so the table must be new."""
    clocks = []
    for peer, offset in zip(table.peers, offsets, strict=True):
        clock = OwnClock(peer.session, offset)
        clocks.append(clock)
        peer.session = clock  # type: ignore[assignment]
    return clocks


def play_windows(peer: Peer) -> str | None:
    """Answer at once, as eager people do: what is sealed is sealed when the countdown ends."""
    moves = peer.session.legal_moves()
    return moves[-1] if moves else None


@pytest.mark.parametrize("jump", [-DAY, -3600.0, -3.0, 3.0, 3600.0, DAY])
@pytest.mark.parametrize("who", ["a caller", "the discarder"])
def test_f86_a_clock_that_is_set_in_mid_window_parts_nobody(jump: float, who: str) -> None:
    """Forward: that peer alone thinks that time is over, and one is no quorum.  Back: at worst it does not answer in time."""
    table = Table(4, options={"bids": "no"}, window_ms=5_000, play=play_windows)
    clocks = with_clocks(table, (0.0, 0.0, 0.0, 0.0))
    table.run(until=lambda: all(peer.session.stage.value == "sealed" for peer in table.peers))
    window = table.peers[0].session._steps.course.window
    assert window is not None
    step = table.peers[0].session.step
    table.now += 2.0
    seat = window.after if who == "the discarder" else window.seats[0]
    clocks[seat].offset = jump
    table.peers[seat].session.tick(table.now)
    table.peers[seat].carry_out()
    table.run(seconds=1000)
    logs = table.logs()
    assert all(log == logs[0] for log in logs)
    summary = verify_log(logs[0], toy_game, table.decks, os.urandom)
    assert (summary.finished, summary.dropped) == (True, ())
    for peer in table.peers:
        assert not events_of(peer, events.EvidenceFound)
        absent = events_of(peer, events.SeatAbsent)
        assert {(event.seat, event.step, event.dropped) for event in absent} <= {(seat, step, False)}
        if jump > 0:
            assert absent == [], "nobody is late by another's clock"


def test_f85_clocks_that_differ_by_days_play_one_game() -> None:
    """Monotonic clocks start anywhere: nothing that is sent holds a time."""
    table = Table(3, options={"bids": "no"}, window_ms=1_000, links=[])
    with_clocks(table, (0.0, 40 * DAY, -90.0))
    for low, high in ((0, 1), (0, 2), (1, 2)):
        table.link(low, high)
    table.run()
    logs = table.logs()
    assert all(log == logs[0] for log in logs)
    assert not any(events_of(peer, events.SeatAbsent) for peer in table.peers)
