"""One visit to a table: the lobby, the game, and going home in order.

Visit is a Face: lobby events go to its lobby, everything from the first signature on to the face of the seat
go_home() says how a visit ended: an exit status, or a Complaint that says how to come back
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import Protocol

import trio

from p2p_rummy.catalogue import _
from p2p_rummy.complaint import INTERRUPTED, Complaint
from p2p_rummy.seat import Ended, Face, play
from protocol.events import GameOver, Halted
from protocol.lobby import Proposed, RosterChanged, Started
from protocol.peer import Table, TableEvent, Unreachable

LobbyEvent = RosterChanged | Proposed | Started


class Lobby(Protocol):
    """What a face says and does before there is a table to play at."""

    leaving: bool

    def opened(self) -> None:
        """The door is open: show the ticket."""

    def event(self, event: LobbyEvent) -> None: ...

    def typed(self, line: str) -> None: ...

    def unreachable(self, seat: int, reason: str) -> None:
        """At any time: a seat that cannot be dialled."""


class Visit:
    """The face of a whole visit: ``lobby`` first, then what ``make_face`` gives for the table."""

    def __init__(self, table: Table, lobby: Lobby, make_face: Callable[[Table], Face]) -> None:
        self._table = table
        self._lobby = lobby
        self._make_face = make_face
        self._face: Face | None = None

    @property
    def leaving(self) -> bool:
        return self._face.leaving if self._face else self._lobby.leaving

    def event(self, event: TableEvent) -> None:
        match event:
            case RosterChanged() | Proposed() | Started():
                self._lobby.event(event)
            case Unreachable(seat=seat, reason=reason):
                self._lobby.unreachable(seat, reason)
            case Halted() if not self._table.started:
                return  # told when the visit ends
            case _:
                if self._face is None:
                    self._face = self._make_face(self._table)
                self._face.event(event)

    def typed(self, line: str) -> None:
        (self._face or self._lobby).typed(line)

    def due(self) -> float | None:
        return self._face.due() if self._face else None

    def clock(self) -> None:
        if self._face:
            self._face.clock()


async def visit(table: Table, face: Visit, lines: AsyncIterable[str] | None) -> int:
    """Play to the end.  The exit status is 0 for a game that ended or a player who left; Complaint otherwise."""
    try:
        last = await play(table.events, face, lines)
    except Ended:
        raise Complaint(_("the input has ended; {advice}", advice=how_to_return(table))) from None
    match last:
        case Halted(message=message):
            raise Complaint(message)
        case GameOver() | None:
            return 0
    raise AssertionError(last)


def how_to_return(table: Table) -> str:
    if not table.started:
        return _("the table had not started")
    if table.me is None:
        return _("look on again with: p2p-rummy watch TICKET, and the same ticket")
    return _("come back with: p2p-rummy resume {table}", table=table.name)


@contextlib.asynccontextmanager
async def ended_by_signals(table: Table) -> AsyncIterator[None]:
    """Ctrl-C, a terminal that closes and a polite kill end the visit in order, with a line."""

    async def watch(task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGHUP, signal.SIGTERM) as signals:
            task_status.started()
            async for number in signals:
                advice = how_to_return(table)
                if number == signal.SIGINT:
                    raise Complaint(_("interrupted; {advice}", advice=advice), status=INTERRUPTED)
                name = signal.Signals(number).name
                raise Complaint(
                    _("ended by {signal}; {advice}", signal=name, advice=advice), status=128 + number
                )

    async with trio.open_nursery() as nursery:
        await nursery.start(watch)
        yield
        nursery.cancel_scope.cancel()
