"""A seat played by a bot: a face that answers by itself, in a worker thread, for as long as the game asks.

The bot is given a copy of the public game and its own seat's faces, which is all that a player knows (N37).  While it
thinks the table may move on: then it is told to stop, and what it says is dropped.

    asked --copy--> thinking (thread) --move--> holding back (a turn only) --move--> told
                        |                            |
                        +---- the step has passed ---+---> dropped

A thread that computes makes the event loop wait for the interpreter's lock at each of the loop's system calls, by default
5 ms each time, and one message to seven peers is many calls.  :func:`think_beside_the_loop` makes that wait short.
"""

from __future__ import annotations

import copy
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from threading import Event
from typing import Final, Protocol

import trio

from p2p_rummy.bots.base import Stopped
from p2p_rummy.seat import Face, Table
from protocol import events
from protocol.agreement import Agreement
from protocol.errors import LocalProtocolError
from protocol.game import Faces, Game, Refused, Turn

MOST_THINKING_SECONDS: Final = 1.0
"""How long a bot may think about a move at a table with people; most moves take it less."""
SWITCH_SECONDS: Final = 0.0005
"""How long a thinking thread may keep the interpreter from the event loop."""
PAUSE_VARIES: Final = (0.6, 1.4)
"""A pause is this part of what was asked for, by chance: nobody takes the same time for every move."""


class Chooser(Protocol):
    """What a bot is here: its move for a seat, from what this seat may know."""

    def __call__(self, game: Game, seat: int, faces: Faces, /, *, stopped: Stopped) -> str: ...


def think_seconds(agreement: Agreement) -> float:
    """How long a bot may think so that no clock of this table runs out on it: a quarter of the shortest at most."""
    window_ms = agreement.window_ms or agreement.step_ms // 2
    return min(MOST_THINKING_SECONDS, min(window_ms, agreement.turn_ms) / 4000)


@contextmanager
def think_beside_the_loop() -> Iterator[None]:
    """While this lasts, threads that compute give way to the event loop quickly."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


class BotSeat:
    """``face`` is told everything, so that somebody may watch; :meth:`think` plays.

    ``pause_seconds``: how long a move of a turn takes at the least, more or less, thinking included, so that people can
    follow; a quarter of the turn's clock at most.  Answers to a window are not held back: everybody waits for them.
    """

    def __init__(self, table: Table, face: Face, choose: Chooser, *, pause_seconds: float = 0.0) -> None:
        self._table = table
        self._face = face
        self._choose = choose
        self._pause_seconds = pause_seconds
        self._asked = trio.Event()

    @property
    def leaving(self) -> bool:
        return self._face.leaving

    def typed(self, line: str) -> None:
        """A bot's seat is not for moving by hand; the face may still be looked at."""

    def due(self) -> float | None:
        return self._face.due()

    def clock(self) -> None:
        self._face.clock()

    def event(self, event: events.Event) -> None:
        self._face.event(event)
        me = self._table.me
        match event:
            case events.TurnBegan(seat=seat) if seat == me:
                self._asked.set()
            case events.WindowOpened(seats=seats) if me in seats:
                self._asked.set()
            case events.MoveRefused():
                self._asked.set()

    async def think(self) -> None:
        """Answer whatever is asked, until cancelled."""
        with think_beside_the_loop():
            while True:
                await self._asked.wait()
                self._asked = trio.Event()
                await self._answer()

    async def _answer(self) -> None:
        table = self._table
        if table.me is None or not table.legal_moves():
            return
        step = table.step
        told_at = trio.current_time() + self._pause()
        text = await self._thought(step)
        await trio.sleep_until(told_at)
        if table.step != step:
            return  # and not kept for a later turn of this seat
        try:
            table.move(text)
        except (LocalProtocolError, Refused):
            if table.step == step:
                raise  # a bot that answers what the game refuses is broken

    async def _thought(self, step: int) -> str:
        """The bot's choice; any at all once the table has left this step."""
        table = self._table
        assert table.me is not None
        game, faces = copy.deepcopy(table.game), dict(table.faces)
        over = Event()
        choose = partial(
            self._choose, game, table.me, faces, stopped=lambda: over.is_set() or table.step != step
        )
        try:
            return await trio.to_thread.run_sync(choose, abandon_on_cancel=True)
        finally:
            over.set()

    def _pause(self) -> float:
        if not isinstance(self._table.game.need, Turn):
            return 0.0
        asked = self._pause_seconds * random.uniform(*PAUSE_VARIES)
        return min(asked, self._table.agreement.turn_ms / 4000)
