"""A network in memory, with weather: for tests of whole peers on a virtual clock.

It stands in for :class:`~protocol.peer.tcp.TcpNetwork`, as ``trio.testing``'s streams stand in for sockets.  Each
peer gets its own :meth:`MemoryNetwork.at` an address.  Between two addresses

    cut(a, b)      what a sends to b vanishes, and sends "succeed" (a blackhole: cable out, laptop asleep)
    heal(a, b)     new bytes arrive again; a connection that has lost bytes is dead, as with TCP
    reset(a, b)    every connection breaks at once
"""

from __future__ import annotations

import errno
from collections import deque
from typing import Final

import trio

from protocol.peer.tcp import CannotListen
from protocol.ticket import Address

BUFFER: Final = 1 << 16
"""Bytes under way in one direction before a sender has to wait, as in a socket's buffers."""


class MemoryNetwork:
    """The wires between all peers of one test."""

    def __init__(self) -> None:
        self.listeners: dict[tuple[str, int], _Listener] = {}
        self.streams: list[_Stream] = []
        self.dials: list[tuple[str, Address]] = []
        self._cuts: set[tuple[str, str]] = set()
        self._next_port = 40_000

    def at(self, host: str) -> Place:
        """The network as the machine with this address has it."""
        return Place(self, host)

    def cut(self, source: str, target: str) -> None:
        self._cuts.add((source, target))

    def heal(self, source: str, target: str) -> None:
        self._cuts.discard((source, target))

    def is_cut(self, source: str, target: str) -> bool:
        return (source, target) in self._cuts

    def reset(self, one: str, other: str) -> None:
        for stream in tuple(self.streams):
            if {stream.host, stream.remote_host} == {one, other}:
                stream.break_()

    def connections(self, one: str, other: str) -> int:
        """How many connections between two machines are open at both ends."""
        ends = [s for s in self.streams if s.host == one and s.remote_host == other]
        return sum(1 for end in ends if not end.closed and not end.peer.closed)

    def free_port(self) -> int:
        self._next_port += 1
        return self._next_port


class Place:
    """One machine's :class:`~protocol.peer.tcp.Network`."""

    def __init__(self, network: MemoryNetwork, host: str) -> None:
        self.network = network
        self.host = host

    async def listen(
        self, host: str | None, port: int
    ) -> tuple[list[trio.abc.Listener[trio.abc.Stream]], int]:
        await trio.lowlevel.checkpoint()
        port = port or self.network.free_port()
        if (self.host, port) in self.network.listeners:
            raise CannotListen(
                f"port {port} is in use; choose another with --port, or --port 0 for a free one"
            )
        listener = _Listener(self.network, (self.host, port))
        self.network.listeners[self.host, port] = listener
        return [listener], port

    async def dial(self, address: Address) -> trio.abc.Stream:
        await trio.lowlevel.checkpoint()
        self.network.dials.append((self.host, address))
        if self.network.is_cut(self.host, address.host) or self.network.is_cut(address.host, self.host):
            await trio.sleep_forever()
        listener = self.network.listeners.get((address.host, address.port))
        if listener is None:
            raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")
        near = _Stream(self.network, self.host, address.host)
        far = _Stream(self.network, address.host, self.host)
        near.peer, far.peer = far, near
        self.network.streams += [near, far]
        listener.put(far)
        return near

    def own_hosts(self, host: str | None) -> list[str]:
        return [self.host]


class _Listener(trio.abc.Listener[trio.abc.Stream]):
    def __init__(self, network: MemoryNetwork, place: tuple[str, int]) -> None:
        self.faults: deque[OSError] = deque()
        """Raised by the next calls of accept, one each."""
        self._network = network
        self._place = place
        self._waiting: deque[_Stream] = deque()
        self._lot = trio.lowlevel.ParkingLot()

    def put(self, stream: _Stream) -> None:
        self._waiting.append(stream)
        self._lot.unpark()

    async def accept(self) -> trio.abc.Stream:
        await trio.lowlevel.checkpoint()
        while not self._waiting:
            await self._lot.park()
        if self.faults:
            raise self.faults.popleft()
        return self._waiting.popleft()

    async def aclose(self) -> None:
        self._network.listeners.pop(self._place, None)
        await trio.lowlevel.checkpoint()


class _Stream(trio.abc.HalfCloseableStream):
    """One end of a connection; ``inbox`` holds what has arrived and was not read."""

    peer: _Stream

    def __init__(self, network: MemoryNetwork, host: str, remote_host: str) -> None:
        self.host = host
        self.remote_host = remote_host
        self.closed = False
        self.broken = False
        self.lossy = False
        self.inbox = bytearray()
        self.eof = False
        self._network = network
        self._lot = trio.lowlevel.ParkingLot()

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await trio.lowlevel.checkpoint()
        left = bytes(data)
        while left:
            self._check()
            if self._network.is_cut(self.host, self.remote_host):
                # The sender's own buffers take it, and nobody acknowledges.
                self.lossy = True
            if self.lossy:
                return
            if self.peer.closed:
                self.break_()
                self._check()
            room = BUFFER - len(self.peer.inbox)
            if room <= 0:
                await self.peer._lot.park()
                continue
            self.peer.inbox += left[:room]
            left = left[room:]
            self.peer._lot.unpark_all()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        await trio.lowlevel.checkpoint()
        while True:
            self._check()
            if self.inbox:
                size = len(self.inbox) if max_bytes is None else max_bytes
                data = bytes(self.inbox[:size])
                del self.inbox[: len(data)]
                self._lot.unpark_all()
                return data
            if self.eof:
                return b""
            await self._lot.park()

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()

    async def send_eof(self) -> None:
        await trio.lowlevel.checkpoint()
        self._check()
        self._say_eof()

    async def aclose(self) -> None:
        if not self.closed:
            self.closed = True
            self._say_eof()
            self._lot.unpark_all()
        await trio.lowlevel.checkpoint()

    def break_(self) -> None:
        """A reset, seen at both ends."""
        for end in (self, self.peer):
            end.broken = True
            end.inbox.clear()
            end._lot.unpark_all()

    def _say_eof(self) -> None:
        if not self.lossy and not self._network.is_cut(self.host, self.remote_host):
            self.peer.eof = True
            self.peer._lot.unpark_all()

    def _check(self) -> None:
        if self.closed:
            raise trio.ClosedResourceError("closed by this end")
        if self.broken:
            raise trio.BrokenResourceError("connection reset")
