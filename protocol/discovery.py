"""Finding open tables on the local network: a beacon over UDP, after Syncthing's local discovery.

A host that has an open table says HERE every few seconds, and at once to whoever ASKs.  IPv4 goes by broadcast, IPv6
by multicast on every interface.  Nothing in a beacon is proven: it suggests an address and which key to
expect there, and the handshake decides.  So the worst that a liar on the network can do is to show a table that
cannot be joined, or a table of its own; the fingerprint is shown to the player for that reason.

    datagram   magic (8) | version (2) | kind (1: 0 ASK, 1 HERE) | body (HERE: canonical)
    HERE       [instance (8 bytes), table, key fingerprint, TCP port, host's name, game, seats, free seats]

``instance`` is random for each process, so that a restarted host is a new sighting and one's own beacon is known.

What a flood can do: :data:`MAX_SIGHTINGS` tables are remembered, the oldest are forgotten first; answers to ASK go
out at most every :data:`ANSWER_SECONDS`, to everybody at once.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
import struct
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Protocol

import trio

from protocol import PROTOCOL_VERSION
from protocol.canonical import Limits, array, decode, encode, integer, octets, text
from protocol.errors import EncodingError
from protocol.ticket import FINGERPRINT_BYTES, TABLE_BYTES, Address, Ticket
from protocol.wire import printable

PORT: Final = 29_517
"""UDP; in the range that the registry leaves unassigned."""
GROUP: Final = "ff12::7032:7052"
"""IPv6 multicast: transient, link-local."""

BEACON_SECONDS: Final = 3.0
FORGET_SECONDS: Final = 10.0
ANSWER_SECONDS: Final = 0.5
MAX_SIGHTINGS: Final = 64
MAX_DATAGRAM: Final = 512

_MAGIC: Final = b"\x8aRumLan\n"
_ASK: Final = 0
_HERE: Final = 1
_INSTANCE_BYTES: Final = 8
_LIMITS: Final = Limits(max_bytes=MAX_DATAGRAM, max_depth=1, max_nodes=16)


# --- what is said (sans-IO) ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Beacon:
    """An open table, as its host announces it."""

    table: bytes
    fingerprint: bytes
    port: int
    name: str
    game: str
    seats: int
    free: int

    def encode(self, instance: bytes) -> bytes:
        """The HERE datagram of this process."""
        body = encode(
            [
                instance,
                self.table,
                self.fingerprint,
                self.port,
                self.name,
                self.game,
                self.seats,
                self.free,
            ]
        )
        return _front(_HERE) + body


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A table that was heard of, and from where."""

    beacon: Beacon
    instance: bytes
    host: str
    heard_at: float

    @property
    def ticket(self) -> Ticket:
        """What :func:`protocol.peer.join_table` takes."""
        return Ticket(
            table=self.beacon.table,
            fingerprint=self.beacon.fingerprint,
            addresses=(Address(host=self.host, port=self.beacon.port),),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherVersion:
    """A host on this network speaks another version of the protocol."""

    host: str
    version: int


def encode_ask() -> bytes:
    """The datagram that makes every host answer at once."""
    return _front(_ASK)


def read_datagram(data: bytes) -> tuple[Beacon, bytes] | int | None:
    """A beacon and its instance, the version of a foreign one, or None for an ASK.

    Raises EncodingError for anything else.
    """
    if len(data) > MAX_DATAGRAM:
        raise EncodingError(f"a datagram of more than {MAX_DATAGRAM} bytes", field="beacon")
    if len(data) < len(_MAGIC) + 3 or not data.startswith(_MAGIC):
        raise EncodingError("not a beacon of this game", field="beacon")
    version = int.from_bytes(data[8:10], "big")
    if version != PROTOCOL_VERSION:
        return version
    if data[10] == _ASK and len(data) == 11:
        return None
    if data[10] != _HERE:
        raise EncodingError(f"a beacon of kind {data[10]}", field="beacon")
    value = array(decode(data[11:], limits=_LIMITS, field="beacon"), field="beacon", length=8)
    beacon = Beacon(
        table=octets(value[1], field="beacon.table", length=TABLE_BYTES),
        fingerprint=octets(value[2], field="beacon.fingerprint", length=FINGERPRINT_BYTES),
        port=integer(value[3], field="beacon.port", below=1 << 16),
        name=printable(text(value[4], field="beacon.name", at_most=32)),
        game=printable(text(value[5], field="beacon.game", at_most=32)),
        seats=integer(value[6], field="beacon.seats", below=9),
        free=integer(value[7], field="beacon.free", below=9),
    )
    if beacon.port == 0:
        raise EncodingError("a TCP port is 1 to 65535", field="beacon.port")
    return beacon, octets(value[0], field="beacon.instance", length=_INSTANCE_BYTES)


class Sightings:
    """Which tables are there now, from what was heard.  ``own`` is this process's instance, which is left out."""

    def __init__(self, own: bytes = b"") -> None:
        self._own = own
        self._seen: dict[tuple[bytes, bytes], Sighting] = {}

    def heard(self, beacon: Beacon, instance: bytes, host: str, now: float) -> bool:
        """Take a beacon; returns whether the list looks different now."""
        if instance == self._own:
            return False
        place = (instance, beacon.table)
        before = self._seen.pop(place, None)
        if before is not None and before.beacon == beacon:
            host = before.host  # one table is heard by several ways; stay with the first
        self._seen[place] = Sighting(beacon=beacon, instance=instance, host=host, heard_at=now)
        while len(self._seen) > MAX_SIGHTINGS:
            del self._seen[next(iter(self._seen))]
        return before is None or before.beacon != beacon

    def tables(self, now: float) -> tuple[Sighting, ...]:
        """The tables heard of lately, by name."""
        for place, sighting in tuple(self._seen.items()):
            if now - sighting.heard_at > FORGET_SECONDS:
                del self._seen[place]
        return tuple(sorted(self._seen.values(), key=lambda each: (each.beacon.name, each.instance)))


def _front(kind: int) -> bytes:
    return _MAGIC + PROTOCOL_VERSION.to_bytes(2, "big") + bytes([kind])


# --- on the network ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the network shows at one moment."""

    tables: tuple[Sighting, ...]
    others: tuple[OtherVersion, ...]


class Air(Protocol):
    """Where datagrams are shouted to everybody near, and heard."""

    async def shout(self, data: bytes) -> None: ...
    async def hear(self) -> tuple[bytes, str]:
        """The next datagram and the IP address that it came from."""


async def announce(air: Air, open_table: Callable[[], Beacon | None]) -> None:
    """Announce a table until cancelled.  ``open_table`` gives the beacon of this moment, None if nothing is open."""
    instance = os.urandom(_INSTANCE_BYTES)

    async def say() -> None:
        beacon = open_table()
        if beacon is not None:
            await air.shout(beacon.encode(instance))

    async def answer() -> None:
        while True:
            data, _host = await air.hear()
            with contextlib.suppress(EncodingError):
                if read_datagram(data) is None:
                    await say()
                    # Whoever asks meanwhile has been answered by that.
                    await trio.sleep(ANSWER_SECONDS)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(answer)
        while True:
            await say()
            await trio.sleep(BEACON_SECONDS)


async def search(air: Air, tell: Callable[[Found], None]) -> None:
    """Ask at once, then listen until cancelled; ``tell`` gets the whole list each time that it changes."""
    seen = Sightings()
    others: dict[str, OtherVersion] = {}
    shown: object = None
    await air.shout(encode_ask())
    while True:
        with trio.move_on_after(1.0):
            data, host = await air.hear()
            with contextlib.suppress(EncodingError):
                said = read_datagram(data)
                if isinstance(said, int):
                    if len(others) < MAX_SIGHTINGS:
                        others[host] = OtherVersion(host=host, version=said)
                elif said is not None:
                    seen.heard(*said, host, trio.current_time())
        tables = seen.tables(trio.current_time())
        looks = [(each.beacon, each.instance, each.host) for each in tables], list(others)
        if looks != shown:
            shown = looks
            tell(Found(tables=tables, others=tuple(others.values())))


@asynccontextmanager
async def open_air(port: int = PORT) -> AsyncIterator[Air]:
    """The local network: IPv4 broadcast, and IPv6 multicast where there is any.  Raises OSError if there is neither."""
    sockets: list[_Voice] = []
    troubles: list[OSError] = []
    for make in (_ipv4_voice, _ipv6_voice):
        try:
            sockets.append(await make(port))
        except OSError as error:
            troubles.append(error)
    if not sockets:
        raise troubles[0]
    try:
        async with trio.open_nursery() as nursery:
            air = _LocalNetwork(sockets)
            for voice in sockets:
                nursery.start_soon(air.listen, voice)
            yield air
            nursery.cancel_scope.cancel()
    finally:
        for voice in sockets:
            voice.socket.close()


@dataclass(frozen=True, slots=True)
class _Voice:
    """One socket, and the addresses that reach everybody by it."""

    socket: trio.socket.SocketType
    targets: tuple[tuple[str, int] | tuple[str, int, int, int], ...]


class _LocalNetwork:
    def __init__(self, voices: Sequence[_Voice]) -> None:
        self._voices = voices
        self._put, self._heard = trio.open_memory_channel[tuple[bytes, str]](32)

    async def shout(self, data: bytes) -> None:
        for voice in self._voices:
            for target in voice.targets:
                # An interface that is down, or a network that forbids broadcasts: the others may carry it.
                with contextlib.suppress(OSError):
                    await voice.socket.sendto(data, target)

    async def hear(self) -> tuple[bytes, str]:
        return await self._heard.receive()

    async def listen(self, voice: _Voice) -> None:
        while True:
            try:
                data, source = await voice.socket.recvfrom(MAX_DATAGRAM + 1)
            except OSError:
                # Windows reports the refusal of an earlier datagram here.
                await trio.sleep(ANSWER_SECONDS)
                continue
            host = str(ipaddress.ip_address(str(source[0]).split("%")[0]))
            with contextlib.suppress(trio.WouldBlock):
                self._put.send_nowait((bytes(data), host))


async def _ipv4_voice(port: int) -> _Voice:
    udp = trio.socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        _share(udp)
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        await udp.bind(("0.0.0.0", port))
    except BaseException:
        udp.close()
        raise
    # The second reaches other peers on this machine when it has no network at all.
    return _Voice(udp, (("255.255.255.255", port), ("127.255.255.255", port)))


async def _ipv6_voice(port: int) -> _Voice:
    udp = trio.socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    targets = []
    try:
        _share(udp)
        udp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        await udp.bind(("::", port))
        group = socket.inet_pton(socket.AF_INET6, GROUP)
        for index, _name in socket.if_nameindex():
            with contextlib.suppress(OSError):
                membership = group + struct.pack("@I", index)
                udp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, membership)
                targets.append((GROUP, port, 0, index))
    except BaseException:
        udp.close()
        raise
    return _Voice(udp, tuple(targets))


def _share(udp: trio.socket.SocketType) -> None:
    """Several peers on one machine listen on one port."""
    udp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if sys.platform == "darwin":
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
