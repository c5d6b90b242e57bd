"""The door: who comes in, and how little a stranger can take.

A stranger is a connection whose handshake is not finished.  There are few places for them and they are shown
out in the order in which they came: first the oldest from the same address, when that address has more than its
share, then the oldest of all.  An honest peer is a stranger for one round trip, so a crowd of silent sockets
(F93, F95) cannot keep it out: they would have to come faster than it speaks.

Behind the handshake a *route* takes over, chosen by what the dialer asked for; the route knows whom it wants.  Until the
route admits it, a connection stays a stranger: whoever proves some identity and is then refused, or says nothing, takes
up no more than before.
"""

from __future__ import annotations

import errno
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import trio

from protocol.identity import Identity
from protocol.peer.connection import Connection, LinkLost
from protocol.peer.tcp import remote_host
from protocol.wire import Code, Greeted, Purpose

MAX_STRANGERS: Final = 48
MAX_STRANGERS_PER_HOST: Final = 16
EXHAUSTED_SECONDS: Final = 0.25

_EXHAUSTED: Final = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS)

Admit = Callable[[], None]

Route = Callable[[Connection, Admit], Awaitable[None]]
"""Runs an authenticated connection to its end, or refuses it.  Calls the second argument when it is let in."""


@dataclass(frozen=True, slots=True)
class _Stranger:
    host: str
    scope: trio.CancelScope


class Door:
    """Accepts connections for one identity.  ``routes`` may change at any time."""

    def __init__(self, identity: Identity, numbers: Iterator[int], port: int) -> None:
        self.routes: dict[tuple[Purpose, bytes], Route] = {}
        self.port = port
        self.told_port = port
        self._identity = identity
        self._numbers = numbers
        self._strangers: dict[int, _Stranger] = {}

    async def serve(self, listeners: Sequence[trio.abc.Listener[trio.abc.Stream]]) -> None:
        """Accept until cancelled."""
        async with trio.open_nursery() as nursery:
            for listener in listeners:
                nursery.start_soon(self._accept, listener, nursery)

    async def _accept(self, listener: trio.abc.Listener[trio.abc.Stream], nursery: trio.Nursery) -> None:
        async with listener:
            while True:
                try:
                    stream = await listener.accept()
                except OSError as error:
                    if error.errno not in _EXHAUSTED:
                        raise
                    # Out of descriptors (F96): the one that waits is accepted when another has been closed.
                    await trio.sleep(EXHAUSTED_SECONDS)
                    continue
                number = next(self._numbers)
                stranger = _Stranger(remote_host(stream), trio.CancelScope())
                self._make_room(stranger.host)
                self._strangers[number] = stranger
                nursery.start_soon(self._welcome, number, stream, stranger)

    def _make_room(self, host: str) -> None:
        neighbours = [number for number, other in self._strangers.items() if other.host == host]
        if len(neighbours) >= MAX_STRANGERS_PER_HOST:
            self._strangers.pop(neighbours[0]).scope.cancel()
        elif len(self._strangers) >= MAX_STRANGERS:
            self._strangers.pop(next(iter(self._strangers))).scope.cancel()

    async def _welcome(self, number: int, stream: trio.abc.Stream, stranger: _Stranger) -> None:
        def admit() -> None:
            self._strangers.pop(number, None)

        try:
            with stranger.scope:
                connection = Connection.accepted(
                    number, stream, self._identity, listening_port=self.told_port
                )
                try:
                    greeting = await connection.handshake(self._judge)
                except LinkLost:
                    await connection.farewell()
                    return
                route = self.routes.get((greeting.purpose, greeting.table))
                if route is None:
                    await connection.refuse(*_unknown(greeting))
                else:
                    await route(connection, admit)
        finally:
            self._strangers.pop(number, None)
            await trio.aclose_forcefully(stream)

    def _judge(self, greeting: Greeted) -> tuple[str, str] | None:
        return None if (greeting.purpose, greeting.table) in self.routes else _unknown(greeting)


def _unknown(greeting: Greeted) -> tuple[str, str]:
    if greeting.purpose is Purpose.LOBBY:
        return Code.UNKNOWN_TABLE, "no table of that ticket is open here; ask the host for a new ticket"
    if greeting.purpose is Purpose.WATCH:
        return Code.UNKNOWN_TABLE, "there is nothing to watch here"
    return Code.UNKNOWN_TABLE, "this peer does not sit at that table"
