"""A bot's seat: how long it holds a move back, and that nobody's time is spent on a move that is not asked for any more."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from p2p_rummy.bots import LEVELS, make_bot
from p2p_rummy.bots.base import Stopped
from p2p_rummy.botseat import BotSeat, think_seconds
from protocol.events import Event, GameOver, MoveMade
from protocol.game import Faces, Game, Turn


class Onlooker:
    """A face that only listens."""

    leaving = False

    def __init__(self) -> None:
        self.events: list[Event] = []

    def event(self, event: Event) -> None:
        self.events.append(event)

    def typed(self, line: str) -> None: ...

    def due(self) -> float | None:
        return None

    def clock(self) -> None: ...


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads live on the real clock: here the thought is done at once."""

    async def run_sync(function: Callable[[], str], *, abandon_on_cancel: bool) -> str:
        await trio.lowlevel.checkpoint()
        return function()

    monkeypatch.setattr(trio.to_thread, "run_sync", run_sync)


def first_legal(game: Game, seat: int, faces: Faces, /, *, stopped: Stopped) -> str:
    return game.legal_moves(seat, faces)[0]


def go_on(table: Any, seat: BotSeat) -> None:
    """Until something is asked of the bot's seat."""
    table.run()
    for event in table.listen():
        seat.event(event)


def at_turn(practice: Callable[..., Any]) -> Any:
    """A table at which seat 0 is to draw."""
    table = practice("rum500", 2)
    table.run()
    while not isinstance(table.game.need, Turn):
        table.close_window()
        table.run()
    return table


async def moved_after(table: Any, choose: Any = first_legal, **how: Any) -> float:
    """Seconds until the bot's seat has made its move or given its answer."""
    seat = BotSeat(table, Onlooker(), choose, **how)
    began = trio.current_time()
    step = table.step
    async with trio.open_nursery() as nursery:
        nursery.start_soon(seat.think)
        go_on(table, seat)
        with trio.fail_after(1000):
            while table.step == step and not table.answered:
                await trio.sleep(0.01)
        nursery.cancel_scope.cancel()
    return trio.current_time() - began


async def test_without_a_pause_a_move_is_made_at_once(
    autojump_clock: MockClock, at_once: None, practice: Callable[..., Any]
) -> None:
    assert await moved_after(at_turn(practice)) < 0.05


@pytest.mark.parametrize("level", LEVELS)
async def test_a_pause_varies_about_what_was_asked_for(
    autojump_clock: MockClock, at_once: None, practice: Callable[..., Any], level: str
) -> None:
    times = [
        await moved_after(at_turn(practice), make_bot(level, number).choose, pause_seconds=2.0)
        for number in range(8)
    ]
    assert all(1.2 <= time < 2.85 for time in times)
    assert len({round(time, 1) for time in times}) > 1, "people are not metronomes"


async def test_thinking_is_part_of_the_pause(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch, practice: Callable[..., Any]
) -> None:
    async def slow(function: Callable[[], str], *, abandon_on_cancel: bool) -> str:
        await trio.sleep(1.0)
        return function()

    monkeypatch.setattr(trio.to_thread, "run_sync", slow)
    assert await moved_after(at_turn(practice), pause_seconds=2.0) < 2.85
    assert 1.0 <= await moved_after(at_turn(practice), pause_seconds=0.1) < 1.05


async def test_a_pause_never_runs_the_clock_of_a_turn_out(
    autojump_clock: MockClock, at_once: None, practice: Callable[..., Any]
) -> None:
    table = at_turn(practice)
    table.agreement = replace(table.agreement, turn_ms=2000)
    assert 0.5 <= await moved_after(table, pause_seconds=3600.0) < 0.55


async def test_answers_to_a_window_are_not_held_back(
    autojump_clock: MockClock, at_once: None, practice: Callable[..., Any]
) -> None:
    def draws_then_discards(_seat: int, legal: list[str]) -> str:
        return next((text for text in legal if text in ("draw", "pass")), legal[-1])

    for seed in range(20):
        table = practice("rum500", 2, seed=seed, others=draws_then_discards)
        table.run()
        if not isinstance(table.game.need, Turn):
            break
    assert await moved_after(table, pause_seconds=60.0) < 0.05
    assert table.answered


async def test_a_thought_is_stopped_and_dropped_when_the_table_moves_on(practice: Callable[..., Any]) -> None:
    """Seat 0 thinks about its draw, in a real thread; meanwhile the draw is made for it."""
    table = at_turn(practice)
    thinking, moved_on, done = threading.Event(), threading.Event(), threading.Event()
    seen: list[bool] = []

    def choose(game: Game, seat: int, faces: Faces, /, *, stopped: Stopped) -> str:
        if not thinking.is_set():
            seen.append(stopped())
            thinking.set()
            assert moved_on.wait(30)
            seen.append(stopped())
            done.set()
        return game.legal_moves(seat, faces)[0]

    seat = BotSeat(table, Onlooker(), choose)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(seat.think)
        go_on(table, seat)
        await trio.to_thread.run_sync(thinking.wait, 30)
        table.move("draw")
        step = table.step
        moved_on.set()
        await trio.to_thread.run_sync(done.wait, 30)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert seen == [False, True]
    assert table.step == step, "its old choice moved nothing"


async def test_who_gets_up_does_not_wait_for_the_thought(practice: Callable[..., Any]) -> None:
    table = at_turn(practice)
    thinking, let_go, done = threading.Event(), threading.Event(), threading.Event()
    seen: list[bool] = []

    def choose(game: Game, seat: int, faces: Faces, /, *, stopped: Stopped) -> str:
        thinking.set()
        assert let_go.wait(30)
        seen.append(stopped())
        done.set()
        return "draw"

    seat = BotSeat(table, Onlooker(), choose)
    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(seat.think)
            go_on(table, seat)
            await trio.to_thread.run_sync(thinking.wait, 30)
            nursery.cancel_scope.cancel()
    let_go.set()
    assert done.wait(30)
    assert seen == [True]


async def test_threads_give_way_to_the_loop_only_while_a_bot_thinks(
    autojump_clock: MockClock, practice: Callable[..., Any]
) -> None:
    usual = sys.getswitchinterval()
    seat = BotSeat(practice("rum500", 2), Onlooker(), first_legal)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(seat.think)
        await trio.testing.wait_all_tasks_blocked()
        assert sys.getswitchinterval() < usual / 5
        nursery.cancel_scope.cancel()
    assert sys.getswitchinterval() == usual


@pytest.mark.parametrize(
    ("window_ms", "turn_ms", "step_ms", "seconds"),
    [
        (5_000, 90_000, 15_000, 1.0),  # as tables are by default
        (1_000, 90_000, 15_000, 0.25),  # a quarter of the countdown
        (0, 90_000, 4_000, 0.5),  # no countdown: a pass is sealed after half a step
        (5_000, 1_000, 15_000, 0.25),
    ],
)
def test_no_clock_of_the_table_runs_out_on_a_thought(
    practice: Callable[..., Any], window_ms: int, turn_ms: int, step_ms: int, seconds: float
) -> None:
    agreement = practice("rum500", 2).agreement
    assert think_seconds(replace(agreement, window_ms=window_ms, turn_ms=turn_ms, step_ms=step_ms)) == seconds


@pytest.mark.parametrize("level", LEVELS)
async def test_every_level_plays_a_hand_from_its_seat(
    autojump_clock: MockClock, at_once: None, practice: Callable[..., Any], level: str
) -> None:
    table = practice("rum500", 3, options={"target": "none", "max_hands": "1"})
    onlooker = Onlooker()
    seat = BotSeat(table, onlooker, make_bot(level, 1).choose, pause_seconds=0.5)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(seat.think)
        while not any(isinstance(event, GameOver) for event in onlooker.events):
            go_on(table, seat)
            if table.legal_moves():
                step = table.step
                with trio.fail_after(100):
                    while table.step == step and not table.answered:
                        await trio.sleep(0.1)
                if table.answered:
                    table.close_window()
        nursery.cancel_scope.cancel()
    assert [event.seat for event in onlooker.events if isinstance(event, MoveMade)].count(0) >= 2
