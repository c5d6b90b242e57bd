"""The host's lobby on real links: the machine of protocol.lobby, and limits on who may crowd it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import trio

from protocol import lobby
from protocol.errors import RemoteProtocolError
from protocol.peer.connection import HANDSHAKE_SECONDS, Connection
from protocol.peer.door import Admit
from protocol.ticket import Address
from protocol.wire import Code, Kind

MAX_GUESTS: Final = 24
"""Links in the lobby, seated or not.  Who has not sat down goes soon: see welcome."""


class Hosting:
    """Runs the lobby's links.  ``tell`` gets RosterChanged, Proposed and Started, in order."""

    def __init__(self, machine: lobby.Host, tell: Callable[[lobby.Output], None]) -> None:
        self._machine = machine
        self._tell = tell
        self._guests: dict[int, Connection] = {}
        self._emptied = trio.Event()

    @property
    def roster(self) -> lobby.Roster:
        return self._machine.roster

    def close_seats(self) -> None:
        """Play with those who are here.  Raises LocalProtocolError if that cannot be."""
        self._machine.close_seats()
        self._carry_out()

    def close_all(self, code: str, reason: str) -> None:
        """End every guest's link and say why."""
        for guest in tuple(self._guests.values()):
            guest.close(code, reason)

    async def until_empty(self) -> None:
        while self._guests:
            self._emptied = trio.Event()
            await self._emptied.wait()

    async def welcome(self, connection: Connection, admit: Admit) -> None:
        """The route for guests.  One that does not JOIN in the time of a handshake is sent away."""
        if len(self._guests) >= MAX_GUESTS:
            await connection.refuse(Code.BUSY, "too many guests at once; try again in a moment")
            return
        number = connection.number
        self._guests[number] = connection
        patience = trio.CancelScope(deadline=trio.current_time() + HANDSHAKE_SECONDS)

        async def deliver(kind: Kind, payload: bytes) -> None:
            if kind is not Kind.LOBBY:
                connection.close(Code.PROTOCOL, f"{kind.name} is not expected in the lobby")
                return
            try:
                self._machine.received(number, connection.peer_key, payload, seen_at=_seen_at(connection))
            except RemoteProtocolError as error:
                connection.close(Code.PROTOCOL, error.message)
                return
            patience.deadline = math.inf
            admit()
            self._carry_out()

        try:
            with patience:
                await connection.run(deliver)
        finally:
            del self._guests[number]
            self._emptied.set()
            self._machine.left(number)
            self._carry_out()

    def _carry_out(self) -> None:
        for output in self._machine.take_outputs():
            if isinstance(output, lobby.Tell):
                if output.guest in self._guests:
                    self._guests[output.guest].send(Kind.LOBBY, output.message)
            elif isinstance(output, lobby.Refuse):
                if output.guest in self._guests:
                    self._guests[output.guest].close(output.code, output.text)
            else:
                self._tell(output)


def _seen_at(connection: Connection) -> Address | None:
    if not connection.remote_host or not connection.listening_port:
        return None
    return Address(host=connection.remote_host, port=connection.listening_port)
