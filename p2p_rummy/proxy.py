"""Bad weather on real sockets: a TCP proxy to put between two peers.

    p2p-rummy proxy --listen 127.0.0.1:4100 --to 127.0.0.1:4000 --latency 200ms --jitter 50ms --loss-of-link 0.01/s

Each direction of a connection is a line of parcels: what is read together travels together.  A parcel arrives after
the latency, more or less the jitter, but never before an earlier one (TCP keeps order), and no faster than the
bandwidth allows.  ``corrupt`` changes single bytes, which a link must notice.  At random moments a connection is lost
(both ends see a reset) or falls half-open: from then on it swallows everything, and neither end hears that the other
has gone.  The same seed makes the same weather for the same sequence of connections and parcels.
"""

from __future__ import annotations

import contextlib
import math
import random
import re
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass

import trio

PARCEL_BYTES = 1 << 14
PARCELS_UNDER_WAY = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Weather:
    """What the line does.  Rates are events a second for each connection; ``corrupt`` is a chance for each byte."""

    latency_seconds: float = 0.0
    jitter_seconds: float = 0.0
    bytes_per_second: float = math.inf
    corrupt: float = 0.0
    loss_per_second: float = 0.0
    half_open_per_second: float = 0.0


async def serve(
    listeners: list[trio.SocketListener],
    to: tuple[str, int],
    weather: Weather,
    *,
    seed: int | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> None:
    """Carry every connection that is accepted to ``to``, until cancelled.  ``tell`` gets one line for each event."""
    dice = random.Random(seed)
    count = 0

    async def handle(stream: trio.SocketStream) -> None:
        nonlocal count
        count += 1
        name = f"connection {count}"
        own = random.Random(dice.getrandbits(64))
        try:
            onward = await trio.open_tcp_stream(*to)
        except OSError as error:
            tell(f"{name}: {to[0]}:{to[1]} cannot be reached: {error}")
            return
        async with onward:
            tell(f"{name}: carried to {to[0]}:{to[1]}")
            tell(f"{name}: {await carry(stream, onward, weather, own)}")

    await trio.serve_listeners(handle, listeners)


async def carry(one: trio.abc.Stream, other: trio.abc.Stream, weather: Weather, dice: random.Random) -> str:
    """Carry bytes both ways until an end closes or the weather ends it; returns what happened.

    Closes both streams, by a reset if the link was lost.
    """
    line = _Line(weather, dice)
    lost_after = _moment(weather.loss_per_second, dice)
    half_open_after = _moment(weather.half_open_per_second, dice)
    outcome = "closed"
    try:
        with trio.move_on_after(lost_after) as life:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(line.swallow_after, half_open_after)
                async with trio.open_nursery() as ways:
                    ways.start_soon(line.pump, one, other)
                    ways.start_soon(line.pump, other, one)
                nursery.cancel_scope.cancel()
        if life.cancelled_caught:
            outcome = "lost: reset"
            for stream in (one, other):
                _reset(stream)
        elif line.half_open:
            outcome = "half-open until both ends had gone"
    finally:
        await trio.aclose_forcefully(one)
        await trio.aclose_forcefully(other)
    return outcome


class _Line:
    """Both directions of one connection."""

    def __init__(self, weather: Weather, dice: random.Random) -> None:
        self.half_open = False
        self._weather = weather
        self._dice = dice

    async def swallow_after(self, seconds: float) -> None:
        await trio.sleep(seconds)
        self.half_open = True

    async def pump(self, source: trio.abc.Stream, sink: trio.abc.Stream) -> None:
        put, take = trio.open_memory_channel[tuple[float, bytes]](PARCELS_UNDER_WAY)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._deliver, take, sink)
            async with put:
                await self._collect(source, put)

    async def _collect(
        self, source: trio.abc.Stream, put: trio.MemorySendChannel[tuple[float, bytes]]
    ) -> None:
        weather = self._weather
        due = 0.0
        with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while data := await source.receive_some(PARCEL_BYTES):
                delay = weather.latency_seconds + self._dice.uniform(-1, 1) * weather.jitter_seconds
                due = max(due, trio.current_time() + max(0.0, delay))
                due += len(data) / weather.bytes_per_second
                await put.send((due, self._spoil(bytes(data))))

    async def _deliver(
        self, take: trio.MemoryReceiveChannel[tuple[float, bytes]], sink: trio.abc.Stream
    ) -> None:
        async with take:
            try:
                async for due, data in take:
                    await trio.sleep_until(due)
                    if not self.half_open:
                        await sink.send_all(data)
                if not self.half_open and isinstance(sink, trio.abc.HalfCloseableStream):
                    await sink.send_eof()
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                # The receiver has gone.  Drain what the sender still says, so that it is not held up by us.
                async for _ in take:
                    pass

    def _spoil(self, data: bytes) -> bytes:
        """Change each byte with the chance that the weather gives it."""
        if not self._weather.corrupt:
            return data
        spoiled = bytearray(data)
        at = self._gap()
        while at < len(spoiled):
            spoiled[at] ^= self._dice.randrange(1, 256)
            at += 1 + self._gap()
        return bytes(spoiled)

    def _gap(self) -> int:
        """Good bytes before the next bad one: geometric, so that one throw does for thousands of bytes."""
        chance = self._weather.corrupt
        return 0 if chance >= 1 else int(math.log(1.0 - self._dice.random()) / math.log1p(-chance))


def _moment(rate: float, dice: random.Random) -> float:
    """Seconds until something that happens ``rate`` times a second."""
    return dice.expovariate(rate) if rate > 0 else math.inf


def _reset(stream: trio.abc.Stream) -> None:
    """Make closing it a reset: nothing more is delivered, and the other end sees an error."""
    if isinstance(stream, trio.SocketStream):
        with contextlib.suppress(OSError):
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


# --- how weather is written ----------------------------------------------------------------------------

_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
_SIZES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 1024.0, "Mi": 1024.0**2}


def seconds(text: str) -> float:
    """``200ms``, ``1.5s``, ``2min``.  Raises ValueError with an example."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(us|ms|s|min)", text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a time; write it as 200ms or 1.5s")
    return float(match[1]) * _UNITS[match[2]]


def rate(text: str) -> float:
    """``0.01/s``, ``3/min``: events a second.  Raises ValueError with an example."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?(?:e-?\d+)?)/(ms|s|min)", text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a rate; write it as 0.01/s (once in 100 seconds on average)")
    return float(match[1]) / _UNITS[match[2]]


def bandwidth(text: str) -> float:
    """``20kB/s``, ``8kbit/s``: bytes a second.  Raises ValueError with an example."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(|k|M|G|Ki|Mi)(B|bit)/s", text.strip())
    if match is None or float(match[1]) == 0:
        raise ValueError(f"{text!r} is not a bandwidth; write it as 20kB/s or 1Mbit/s")
    return float(match[1]) * _SIZES[match[2]] / (8 if match[3] == "bit" else 1)


def chance(text: str) -> float:
    """``1e-5``, ``0.1%``: between 0 and 1.  Raises ValueError with an example."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ValueError(f"{text!r} is not a chance; write it as 1e-5 or 0.1%")
    return value


def address(text: str) -> tuple[str, int]:
    """``HOST:PORT``, ``[::1]:PORT``, or ``PORT`` alone for this machine.  Raises ValueError with an example."""
    host, _colon, port = text.rpartition(":")
    if not port.isdecimal() or not 0 <= int(port) < 1 << 16 or (":" in host and not host.startswith("[")):
        raise ValueError(f"{text!r} is not an address; write it as 127.0.0.1:4000 or [::1]:4000")
    return host.strip("[]") or "127.0.0.1", int(port)
