"""One seat played: a table on one side, a face or a bot on the other.

    peer --events--> play() --> Face.event        Face or bot --move(text)--> peer
    stdin --lines--> play() --> Face.typed

A :class:`Table` is what a peer's session offers once everybody has signed; every face and every bot is written
against it and against nothing else, so they also sit at a table without a network (tests).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import AsyncIterable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import trio

from protocol.agreement import Agreement
from protocol.events import Event, GameOver, Halted, WindowOpened
from protocol.game import Card, Game, Slot
from protocol.ticket import Ticket


class Table(Protocol):
    """A seat at a table, as its player may use it."""

    @property
    def agreement(self) -> Agreement: ...
    @property
    def me(self) -> int | None: ...
    @property
    def game(self) -> Game: ...
    @property
    def faces(self) -> Mapping[Slot, Card]: ...
    @property
    def waiting_for(self) -> Sequence[int]: ...
    @property
    def words(self) -> str: ...
    @property
    def head(self) -> bytes: ...
    @property
    def step(self) -> int: ...
    @property
    def log_path(self) -> Path: ...
    @property
    def ticket(self) -> Ticket:
        """By which others find this seat.  Raises LocalProtocolError where there is none."""

    def legal_moves(self) -> list[str]: ...
    def move(self, text: str) -> None:
        """Raises Refused (the game says no) or LocalProtocolError (nothing is asked); nothing is changed then."""

    def chat(self, text: str) -> None:
        """Raises LocalProtocolError if it is too long or too much."""


Heard = TypeVar("Heard", contravariant=True)


class Listener(Protocol[Heard]):
    """What :func:`play` talks to.  No method waits."""

    @property
    def leaving(self) -> bool:
        """The player wants to get up."""

    def event(self, event: Heard) -> None:
        """Tell what has happened."""

    def typed(self, line: str) -> None:
        """The player has written a line."""

    def due(self) -> float | None:
        """When :meth:`clock` wants to be called, on the clock of :func:`play`; None for not at all."""

    def clock(self) -> None:
        """The time that :meth:`due` named may have come."""


class Face(Listener[Event], Protocol):
    """A seat's face: told what the session tells."""


def is_prompt(agreement: Agreement, window: WindowOpened) -> bool:
    """Whether an answer in this call window is sealed as soon as it is given: the table agreed on no countdown."""
    return window.sealed and not agreement.window_ms


def answer_by(agreement: Agreement, window: WindowOpened) -> float:
    """Until when this seat may answer, on the clock of the events.

    Without a countdown a silent seat's pass is sealed after half the time of a step (:mod:`protocol.voice`).
    """
    return window.closes_at + (agreement.step_ms // 2 / 1000 if is_prompt(agreement, window) else 0.0)


def is_answer(table: Table, text: str) -> bool:
    """Whether this move, which a table has taken while a window was open, answers it; else it waits for this seat's turn."""
    verb = text.split(" ")[0]
    return verb == "rummy" or any(move.split(" ")[0] == verb for move in table.legal_moves())


def pass_if_forced(table: Table, window: WindowOpened) -> bool:
    """Pass in an open window where the rules leave this seat nothing else: nothing to choose, and nothing to hide.

    True if it was done.  A sealed window is never answered so: whether there is a call is for the player to see (R102).
    """
    if window.sealed or table.me not in window.seats or table.legal_moves() != ["pass"]:
        return False
    table.move("pass")
    return True


class Ended(Exception):  # noqa: N818 - not an error as such
    """The player's input has ended before the game has."""


async def play(
    events: AsyncIterable[Heard],
    face: Listener[Heard],
    lines: AsyncIterable[str] | None = None,
    *,
    now: Callable[[], float] = trio.current_time,
) -> GameOver | Halted | None:
    """Play until the game is over, this peer has halted, or the player leaves.

    Returns the GameOver or Halted event, None if the player left.  Raises :class:`Ended` when ``lines`` end first (a
    terminal that was closed, a driver that died); without ``lines`` (a bot) nobody can leave.
    """
    last: GameOver | Halted | None = None
    ended = False
    stir, stirred = trio.open_memory_channel[None](1)

    def wake_clock() -> None:
        with contextlib.suppress(trio.WouldBlock):
            stir.send_nowait(None)

    async def listen() -> None:
        nonlocal last
        async for event in events:
            face.event(event)
            wake_clock()
            if isinstance(event, GameOver | Halted):
                last = event
                break
            if face.leaving:
                break
        nursery.cancel_scope.cancel()

    async def read(source: AsyncIterable[str]) -> None:
        nonlocal ended
        async for line in source:
            face.typed(line)
            wake_clock()
            if face.leaving:
                nursery.cancel_scope.cancel()
                return
        ended = True
        nursery.cancel_scope.cancel()

    async def watch_clock() -> None:
        while True:
            due = face.due()
            with trio.move_on_after(math.inf if due is None else max(0.0, due - now())):
                await stirred.receive()
                continue
            face.clock()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(listen)
        nursery.start_soon(watch_clock)
        if lines is not None:
            nursery.start_soon(read, lines)
    if ended and last is None:
        raise Ended
    return last
