"""Spectators: keys without a seat that are shown the public log, by any peer that sits at the table.

Nothing private exists that they could be shown: everything on a table's links is public data.  They are few
(:data:`MAX_SPECTATORS`), their queues are bounded like everybody's, and what they say is judged by the session, which
takes nothing from them but questions.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Final

import trio

from protocol import lobby
from protocol.agreement import Agreement
from protocol.errors import RemoteProtocolError
from protocol.identity import Identity
from protocol.peer.connection import Connection, LinkLost
from protocol.peer.door import Admit
from protocol.peer.joining import CannotJoin
from protocol.peer.mesh import LONGEST_PAUSE, Owner, call
from protocol.peer.tcp import Network
from protocol.ticket import Ticket
from protocol.wire import Code, Kind, Purpose

MAX_SPECTATORS: Final = 8
FIRST_PAUSE: Final = 0.5


class Gallery:
    """The spectators of one seat."""

    def __init__(self, agreement: Agreement, owner: Owner) -> None:
        self._agreement = agreement
        self._owner = owner
        self._spectators: dict[int, Connection] = {}

    def send(self, number: int, payload: bytes) -> None:
        if number in self._spectators:
            self._spectators[number].send(Kind.SESSION, payload)

    def close(self, number: int, code: str, reason: str) -> None:
        if number in self._spectators:
            self._spectators[number].close(code, reason)

    def close_all(self, code: str, reason: str) -> None:
        for spectator in tuple(self._spectators.values()):
            spectator.close(code, reason)

    async def welcome(self, connection: Connection, admit: Admit) -> None:
        """The route for spectators."""
        if connection.peer_key in self._agreement.keys:
            await connection.refuse(Code.DUPLICATE_KEY, "this key sits at the table; come back with: resume")
            return
        if len(self._spectators) >= MAX_SPECTATORS:
            await connection.refuse(
                Code.BUSY, "there are too many spectators here; ask another player's peer"
            )
            return
        number = connection.number

        async def deliver(kind: Kind, payload: bytes) -> None:
            if kind is Kind.SESSION:
                await self._owner.received(number, payload)
            else:
                connection.close(Code.PROTOCOL, f"{kind.name} is not expected of a spectator")

        admit()
        self._spectators[number] = connection
        connection.send(Kind.LOBBY, lobby.write_showing(self._agreement))
        self._owner.link_up(number, connection.peer_key)
        try:
            await connection.run(deliver)
        finally:
            del self._spectators[number]
            self._owner.link_down(number, connection.peer_key)


@dataclass(slots=True, kw_only=True)
class Watching:
    """The spectator's own side: one link to a peer of the table, made again when it breaks.

    ``begin`` is awaited once, with the agreement, before the first message is given to ``owner``.
    """

    network: Network
    identity: Identity
    ticket: Ticket
    numbers: Iterator[int]
    begin: Callable[[Agreement], Awaitable[None]]
    owner: Owner
    agreement: Agreement | None = None
    connection: Connection | None = None

    def send(self, number: int, payload: bytes) -> None:
        if self.connection is not None and self.connection.number == number:
            self.connection.send(Kind.SESSION, payload)

    def close(self, number: int, code: str, reason: str) -> None:
        if self.connection is not None and self.connection.number == number:
            self.connection.close(code, reason)

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Until cancelled.  ``task_status`` is told when the table is shown.  Raises CannotJoin if it never is."""
        pause = FIRST_PAUSE
        while True:
            try:
                connection = await call(
                    self.network,
                    self.identity,
                    self.ticket.addresses,
                    table=self.ticket.table,
                    purpose=Purpose.WATCH,
                    expects=self.ticket.is_for,
                    listening_port=0,
                    numbers=self.numbers,
                )
                began = trio.current_time()
                lost = await self._look(connection, task_status)
                if trio.current_time() - began > LONGEST_PAUSE:
                    pause = FIRST_PAUSE
            except LinkLost as error:
                lost = error
            if self.agreement is None:
                raise CannotJoin(lost.reason, str(lost))
            await trio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _look(self, connection: Connection, task_status: trio.TaskStatus[None]) -> LinkLost:
        shown = False

        async def deliver(kind: Kind, payload: bytes) -> None:
            nonlocal shown
            try:
                if kind is Kind.LOBBY and not shown:
                    shown = True
                    await self._show(lobby.read_showing(payload), task_status)
                    self.owner.link_up(connection.number, connection.peer_key)
                elif kind is Kind.SESSION and shown:
                    await self.owner.received(connection.number, payload)
                else:
                    raise RemoteProtocolError("watch_order", f"{kind.name} is not expected here")
            except RemoteProtocolError as error:
                connection.close(Code.PROTOCOL, error.message)

        self.connection = connection
        try:
            return await connection.run(deliver)
        finally:
            self.connection = None
            if shown:
                self.owner.link_down(connection.number, connection.peer_key)

    async def _show(self, agreement: Agreement, task_status: trio.TaskStatus[None]) -> None:
        if self.agreement is None:
            self.agreement = agreement
            await self.begin(agreement)
            task_status.started()
        elif agreement != self.agreement:
            raise RemoteProtocolError("watch_order", "another table is shown than before")
