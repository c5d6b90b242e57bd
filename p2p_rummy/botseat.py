"""A seat played by a bot: a face that answers by itself, in a worker thread, for as long as the game asks.

The bot is given a copy of the public game and its own seat's faces, which is all that a player knows (N37).  While it
thinks the table may move on; an answer that nobody asks for any more is dropped.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

import trio

from p2p_rummy.seat import Face, Table
from protocol import events
from protocol.errors import LocalProtocolError
from protocol.game import Faces, Game, Refused

Chooser = Callable[[Game, int, Faces], str]
"""What a bot is here: its move for a seat, from what this seat may know."""


class BotSeat:
    """``face`` is told everything, so that somebody may watch; :meth:`think` plays.

    ``pause_seconds``: how long a move of a turn is held back, so that people can follow.
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
        while True:
            await self._asked.wait()
            self._asked = trio.Event()
            await self._answer()

    async def _answer(self) -> None:
        me = self._table.me
        if me is None or not self._table.legal_moves():
            return
        step = self._table.step
        game, faces = copy.deepcopy(self._table.game), dict(self._table.faces)
        text = await trio.to_thread.run_sync(self._choose, game, me, faces)
        if self._pause_seconds and len(self._table.waiting_for) == 1:
            await trio.sleep(self._pause_seconds)
        try:
            self._table.move(text)
        except (LocalProtocolError, Refused):
            if self._table.step == step:
                raise  # a bot that answers what the game refuses is broken
