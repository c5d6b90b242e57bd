"""One connection over a stream in memory, on a virtual clock: what the other end may do to us, and may not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import MockClock

from protocol import wire
from protocol.identity import Identity
from protocol.peer import connection as module
from protocol.peer.connection import Budget, Connection, LinkLost
from protocol.peer.memory import MemoryNetwork
from protocol.ticket import Address
from protocol.wire import Code, Kind, Purpose

ANN, BO = Identity(b"\x01" * 32), Identity(b"\x02" * 32)
HERE, THERE = "10.0.0.1", "10.0.0.2"
TABLE = b"table"


async def ignore(kind: Kind, payload: bytes) -> None:
    """A deliver that takes everything."""


async def raw_pair(network: MemoryNetwork) -> tuple[trio.abc.Stream, trio.abc.Stream]:
    (listener,), port = await network.at(THERE).listen(None, 0)
    near = await network.at(HERE).dial(Address(host=THERE, port=port))
    far = await listener.accept()
    return near, far


def dialer(stream: trio.abc.Stream, identity: Identity = ANN) -> Connection:
    return Connection.dialed(1, stream, identity, table=TABLE, purpose=Purpose.SEAT, listening_port=7)


async def pair(network: MemoryNetwork) -> tuple[Connection, Connection]:
    """Two connections after their handshake."""
    near, far = await raw_pair(network)
    one, other = dialer(near), Connection.accepted(2, far, BO, listening_port=8)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(one.handshake)
        nursery.start_soon(other.handshake)
    return one, other


@asynccontextmanager
async def running(
    one: Connection,
    other: Connection,
    deliver: Callable[[Kind, bytes], Awaitable[None]] = ignore,
) -> AsyncIterator[dict[str, tuple[str, float]]]:
    """Both run; ``ends`` fills with reason and time as they end."""
    ends: dict[str, tuple[str, float]] = {}

    async def run(name: str, connection: Connection, take: Callable[[Kind, bytes], Awaitable[None]]) -> None:
        lost = await connection.run(take)
        ends[name] = (lost.reason, trio.current_time())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run, "one", one, ignore)
        nursery.start_soon(run, "other", other, deliver)
        yield ends
        nursery.cancel_scope.cancel()


# --- the way it goes -----------------------------------------------------------------------------------


async def test_both_ends_know_each_other_after_the_handshake(autojump_clock: MockClock) -> None:
    one, other = await pair(MemoryNetwork())
    assert (one.peer_key, one.listening_port, one.remote_host) == (BO.public_key, 8, THERE)
    assert (other.peer_key, other.listening_port, other.remote_host) == (ANN.public_key, 7, HERE)


async def test_messages_are_delivered_in_order_and_one_at_a_time(autojump_clock: MockClock) -> None:
    one, other = await pair(MemoryNetwork())
    got: list[bytes] = []
    busy: list[bytes] = []

    async def slowly(kind: Kind, payload: bytes) -> None:
        assert not busy
        busy.append(payload)
        await trio.sleep(0.1)
        busy.clear()
        got.append(payload)

    async with running(one, other, slowly):
        for number in range(20):
            one.send(Kind.SESSION, bytes([number]))
        await trio.sleep(3)
    assert got == [bytes([number]) for number in range(20)]


async def test_the_last_words_arrive_although_the_link_is_closed_behind_them(
    autojump_clock: MockClock,
) -> None:
    one, other = await pair(MemoryNetwork())
    got: list[bytes] = []

    async def take(kind: Kind, payload: bytes) -> None:
        got.append(payload)

    async with running(one, other, take) as ends:
        for _ in range(30):
            one.send(Kind.SESSION, bytes(50_000))
        one.close(Code.LEAVING, "good night")
        one.send(Kind.SESSION, b"never")
        await trio.sleep(5)
        assert ends["other"][0] == ends["one"][0] == "leaving"
    assert len(got) == 30


async def test_an_idle_link_stays_up_for_hours(autojump_clock: MockClock) -> None:
    one, other = await pair(MemoryNetwork())
    async with running(one, other) as ends:
        await trio.sleep(3 * 3600)
        assert ends == {}


# --- networks ------------------------------------------------------------------------------------------


async def test_f04_reset_in_mid_frame_ends_both_sides_at_once(autojump_clock: MockClock) -> None:
    network = MemoryNetwork()
    one, other = await pair(network)
    got: list[bytes] = []

    async def take(kind: Kind, payload: bytes) -> None:
        got.append(payload)

    async with running(one, other, take) as ends:
        one.send(Kind.SESSION, bytes(wire.MAX_MESSAGE))  # more than the buffers hold: part of it is out
        await trio.sleep(0)
        network.reset(HERE, THERE)
        await trio.sleep(0.1)
        assert ends["one"][0] == ends["other"][0] == "broken"
    assert got == []


async def test_f05_half_open_link_is_found_within_15_seconds(autojump_clock: MockClock) -> None:
    network = MemoryNetwork()
    one, other = await pair(network)
    async with running(one, other) as ends:
        await trio.sleep(100)
        network.cut(HERE, THERE)
        network.cut(THERE, HERE)
        cut_at = trio.current_time()
        await trio.sleep(20)
        for reason, when in ends.values():
            assert reason == "silent"
            assert when - cut_at < 15
        assert len(ends) == 2


async def test_f07_one_way_blackhole_ends_the_deaf_side_and_then_the_other(autojump_clock: MockClock) -> None:
    network = MemoryNetwork()
    one, other = await pair(network)
    async with running(one, other) as ends:
        network.cut(HERE, THERE)
        await trio.sleep(15)
        assert ends["other"][0] == "silent"
        assert ends["one"][0] == "closed"


# --- exhaustion ----------------------------------------------------------------------------------------


async def test_f93_slowloris_handshake_is_closed_after_its_time(autojump_clock: MockClock) -> None:
    """One byte a second of a good HELLO, then of nothing at all."""
    near, far = await raw_pair(MemoryNetwork())
    connection = Connection.accepted(2, far, BO, listening_port=8)
    began = trio.current_time()

    async def dribble() -> None:
        for byte in wire.MAGIC:
            await near.send_all(bytes([byte]))
            await trio.sleep(1)
        await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(dribble)
        with pytest.raises(LinkLost) as caught:
            await connection.handshake()
        nursery.cancel_scope.cancel()
    assert caught.value.reason == "timeout"
    assert trio.current_time() - began == pytest.approx(8.0)


async def test_f94_slowloris_frame_is_closed(autojump_clock: MockClock) -> None:
    """After the handshake, one byte a second of an endless frame; the heartbeat of whole frames is missing."""
    near, far = await raw_pair(MemoryNetwork())
    link = wire.Link(
        wire.Role.DIALER, ANN, entropy=bytes(range(64)), table=TABLE, purpose=Purpose.SEAT, listening_port=7
    )
    other = Connection.accepted(2, far, BO, listening_port=8)
    ended: list[LinkLost] = []

    async def run() -> None:
        await other.handshake()
        ended.append(await other.run(ignore))

    async def slow() -> None:
        while link.state is not wire.State.OPEN:
            await near.send_all(link.take_outgoing())
            link.receive(bytes(await near.receive_some(4096)))
        await near.send_all(link.take_outgoing())
        link.send(Kind.SESSION, bytes(1000))
        for byte in link.take_outgoing():
            await near.send_all(bytes([byte]))
            await trio.sleep(1)

    with trio.move_on_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(slow)
            await run()
            nursery.cancel_scope.cancel()
    assert [lost.reason for lost in ended] == ["silent"]
    assert trio.current_time() == pytest.approx(module.SILENCE_SECONDS, abs=0.1)


async def test_f97_a_peer_that_does_not_read_is_cut_off_before_memory_grows(
    autojump_clock: MockClock,
) -> None:
    one, other = await pair(MemoryNetwork())

    async def never(kind: Kind, payload: bytes) -> None:
        await trio.sleep_forever()

    async with running(one, other, never) as ends:
        sent = 0
        while "one" not in ends and sent < 1000:
            one.send(Kind.SESSION, bytes(100_000))
            sent += 1
            await trio.sleep(0)
        await trio.sleep(0.1)
        assert ends["one"][0] == "slow_reader"
        assert sent * 100_000 < module.MAX_QUEUE + 1_000_000


async def test_f98_a_flood_of_small_messages_is_read_slowly(autojump_clock: MockClock) -> None:
    """2,000 are taken as they come (a resume), after that 300 a second."""
    one, other = await pair(MemoryNetwork())
    got = 0

    async def count(kind: Kind, payload: bytes) -> None:
        nonlocal got
        got += 1

    async with running(one, other, count):
        for _ in range(10_000):
            one.send(Kind.SESSION, b"want")
        await trio.sleep(1)
        assert 2000 <= got <= 2000 + 300 + 1500  # a chunk of 64 kB is taken as a whole
        await trio.sleep(9)
        assert got <= 2000 + 300 * 10 + 1500
        await trio.sleep(40)
        assert got == 10_000


def test_a_budget_saves_up_to_its_burst_and_no_more() -> None:
    budget = Budget.full(rate=10, burst=20, now=0.0)
    assert budget.spend(20, 0.0) == 0
    assert budget.spend(5, 0.0) == pytest.approx(0.5)
    assert budget.spend(0, 0.5) == 0
    assert budget.spend(20, 1000.0) == 0
    assert budget.spend(10, 1000.0) == pytest.approx(1.0)


# --- refusals ------------------------------------------------------------------------------------------


async def test_a_dialer_learns_why_it_is_refused(autojump_clock: MockClock) -> None:
    near, far = await raw_pair(MemoryNetwork())
    one, other = dialer(near), Connection.accepted(2, far, BO, listening_port=8)
    heard: list[LinkLost] = []

    async def refuse() -> None:
        with pytest.raises(LinkLost):
            await other.handshake(lambda greeting: (Code.UNKNOWN_TABLE, "not here"))
        await other.farewell()

    async def dial() -> None:
        try:
            await one.handshake()
        except LinkLost as lost:
            heard.append(lost)
            await one.farewell()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(refuse)
        nursery.start_soon(dial)
    assert [(lost.reason, str(lost), lost.proven) for lost in heard] == [("unknown_table", "not here", True)]


async def test_f66_garbage_instead_of_a_handshake(autojump_clock: MockClock) -> None:
    near, far = await raw_pair(MemoryNetwork())
    await near.send_all(b"GET / HTTP/1.1\r\n\r\n")
    with pytest.raises(LinkLost) as caught:
        await Connection.accepted(2, far, BO, listening_port=8).handshake()
    assert caught.value.reason == "wrong_magic"


async def test_a_cancelled_connection_leaves_its_stream_closed(autojump_clock: MockClock) -> None:
    network = MemoryNetwork()
    one, other = await pair(network)
    async with running(one, other):
        assert network.connections(HERE, THERE) == 1
    assert network.connections(HERE, THERE) == 0
