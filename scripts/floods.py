"""A seat that floods, and strangers that do: what a peer of the fault catalogue (docs/faults.md) may have to bear.

:func:`seat_floods` and :func:`stranger_floods` give named floods.  Each is a coroutine function that runs until it is
cancelled and does nothing but send: the measuring is the caller's.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import trio

from protocol import PROTOCOL_VERSION, gossip, wire
from protocol.canonical import encode
from protocol.entry import Kind, sign
from protocol.gossip import Have, Place
from protocol.identity import Identity
from protocol.log import genesis
from protocol.peer.connection import Connection, LinkLost
from protocol.peer.mesh import call
from protocol.peer.tcp import TcpNetwork
from protocol.ticket import Address


@dataclass(slots=True)
class Count:
    """How often something was sent: messages of a seat, connections of strangers."""

    sent: int = 0


Flood = Callable[[Count], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Seat:
    """A seat of a running table whose key the flooder has."""

    identity: Identity
    number: int
    table: bytes
    where: Address


# --- a seat ------------------------------------------------------------------------------------------------


def seat_floods(seat: Seat) -> dict[str, Flood]:
    """What whoever holds a seat's key can send over its link."""
    start = Place(epoch=0, step=0, prev=genesis(seat.table), final=0, ids=(), votes=bytes(8))
    far = Place(epoch=0, step=1 << 31, prev=bytes(32), final=1 << 30, ids=(), votes=b"far off!")
    return {
        "WANT of the whole log": repeated(seat, lambda: itertools.repeat(gossip.write_want(start))),
        "WANT, and nothing is read": repeated(
            seat, lambda: itertools.repeat(gossip.write_want(start)), reads=False
        ),
        "HAVE of what does not exist": repeated(
            seat, lambda: itertools.repeat(gossip.write_have(Have(place=far, links=0)))
        ),
        "entries of steps to come": repeated(seat, lambda: orphans(seat)),
        "votes of every round": repeated(seat, lambda: votes(seat)),
        "signatures that do not hold": repeated(seat, lambda: forgeries(seat)),
        "the largest messages": repeated(seat, lambda: itertools.repeat(largest())),
        "chat": repeated(seat, lambda: chat(seat)),
        "garbage": repeated(seat, lambda: (os.urandom(wire.MAX_MESSAGE) for _ in itertools.count())),
        "two statements, again and again": repeated(seat, lambda: contradictions(seat)),
    }


def repeated(seat: Seat, messages: Callable[[], Iterator[bytes]], *, reads: bool = True) -> Flood:
    """Send these as fast as the link takes them, on a new link whenever the last one was ended."""

    async def flood(count: Count) -> None:
        numbers = itertools.count(1)
        stream = messages()
        while True:
            with contextlib.suppress(LinkLost, OSError):
                await one_link(seat, stream, numbers, reads, count)
            await trio.sleep(0.05)

    return flood


async def one_link(
    seat: Seat, messages: Iterator[bytes], numbers: Iterator[int], reads: bool, count: Count
) -> None:
    connection = await call(
        TcpNetwork(),
        seat.identity,
        [seat.where],
        table=seat.table,
        purpose=wire.Purpose.SEAT,
        expects=lambda key: True,
        listening_port=0,
        numbers=numbers,
    )
    if seat.identity.public_key < connection.peer_key:
        connection.send(wire.Kind.ADOPT, b"")

    async def take(kind: wire.Kind, payload: bytes) -> None:
        if not reads:
            await trio.sleep_forever()

    async with trio.open_nursery() as nursery:

        async def run() -> None:
            await connection.run(take)
            nursery.cancel_scope.cancel()

        nursery.start_soon(run)
        await send_all(connection, messages, count)


async def send_all(connection: Connection, messages: Iterator[bytes], count: Count) -> None:
    """As fast as the other end reads, holding little here."""
    for message in messages:
        connection.send(wire.Kind.SESSION, message)
        count.sent += 1
        while connection._link.outgoing_bytes + connection._in_flight > 1 << 20:
            await trio.sleep(0.001)
        await trio.sleep(0)


def orphans(seat: Seat) -> Iterator[bytes]:
    """Large entries of steps far and near, on heads that nobody has."""
    body = os.urandom(40_000)
    for number in itertools.count():
        entry = sign(
            seat.identity,
            table=seat.table,
            epoch=0,
            step=number % 100_000,
            seat=seat.number,
            kind=Kind.MOVE,
            body=[f"{number}", [], [body]],
            prev=number.to_bytes(32, "big"),
        )
        yield from gossip.write_entries([entry])


def votes(seat: Seat) -> Iterator[bytes]:
    for number in itertools.count():
        entry = sign(
            seat.identity,
            table=seat.table,
            epoch=number % 7,
            step=number % 3000,
            seat=seat.number,
            kind=Kind.PREVOTE,
            round=1 + number % 60_000,
            body=[[[0, b""]], [], [], 0],
            prev=number.to_bytes(32, "big"),
        )
        yield from gossip.write_entries([entry])


def contradictions(seat: Seat) -> Iterator[bytes]:
    for number in itertools.count():
        fields: dict[str, Any] = {
            "table": seat.table,
            "epoch": 0,
            "step": number,
            "seat": seat.number,
            "kind": Kind.MOVE,
            "prev": bytes(32),
        }
        first, second = (sign(seat.identity, body=[text, [], []], **fields) for text in "ab")
        yield gossip.write_contradiction(first, second)


def forgeries(seat: Seat) -> Iterator[bytes]:
    for entry in orphans(seat):
        yield entry[:-1] + bytes([entry[-1] ^ 1])


def largest() -> bytes:
    """As many values and bytes as a message may have."""
    item = [b"\0" * 200, b"\0" * 64]
    return encode([gossip.Message.ENTRIES.value, [item] * gossip.BATCH_ENTRIES])


def chat(seat: Seat) -> Iterator[bytes]:
    for number in itertools.count():
        content = encode([PROTOCOL_VERSION, seat.table, seat.number, 0, number, "x" * 200])
        yield gossip.write_talk(content, seat.identity.sign("talk", content))


# --- strangers ---------------------------------------------------------------------------------------------


def stranger_floods(seat: Seat) -> dict[str, Flood]:
    """What anybody can send who can reach the port."""
    hello = greeting(seat)
    return {
        "silent sockets": crowd(seat.where, b"", stay=True),
        "handshakes that are not finished": crowd(seat.where, hello, stay=True),
        "handshakes one after another": crowd(seat.where, hello, stay=False),
        "garbage in place of a handshake": crowd(seat.where, os.urandom(1 << 20), stay=False),
        "endless frames": crowd(seat.where, hello + b"\xff\xff\xff\xf0" + bytes(1 << 20), stay=False),
    }


def greeting(seat: Seat) -> bytes:
    link = wire.Link(
        wire.Role.DIALER,
        Identity(os.urandom(32)),
        entropy=os.urandom(wire.ENTROPY_BYTES),
        table=seat.table,
        purpose=wire.Purpose.SEAT,
    )
    return link.take_outgoing()


def crowd(where: Address, data: bytes, *, stay: bool, many: int = 400) -> Flood:
    """So many connections at once, each of which sends this, and stays or comes again."""

    async def one(count: Count) -> None:
        while True:
            with contextlib.suppress(OSError, trio.BrokenResourceError, trio.ClosedResourceError):
                async with await trio.open_tcp_stream(where.host, where.port) as stream:
                    count.sent += 1
                    await stream.send_all(data)
                    while stay and await stream.receive_some(1 << 16):
                        pass
            await trio.sleep(0.02)

    async def flood(count: Count) -> None:
        async with trio.open_nursery() as nursery:
            for _ in range(many):
                nursery.start_soon(one, count)

    return flood
