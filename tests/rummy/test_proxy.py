"""The proxy's weather, on a virtual clock; and once on real sockets."""

from __future__ import annotations

import math
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
import trio
from trio.testing import MockClock

from p2p_rummy import proxy
from p2p_rummy.proxy import Weather, carry
from protocol.peer.memory import MemoryNetwork
from protocol.ticket import Address

CLEAR = Weather()


@dataclass
class Ends:
    """The outer ends of a carried connection."""

    left: trio.abc.Stream
    right: trio.abc.Stream
    outcome: list[str]


@asynccontextmanager
async def carried(weather: Weather, seed: int = 1) -> AsyncIterator[Ends]:
    network = MemoryNetwork()
    (listener,), port = await network.at("p").listen(None, 0)
    left = await network.at("l").dial(Address(host="p", port=port))
    one = await listener.accept()
    other = await network.at("p").dial(Address(host="p", port=port))
    right = await listener.accept()
    ends = Ends(left, right, [])

    async def run() -> None:
        ends.outcome.append(await carry(one, other, weather, random.Random(seed)))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        yield ends
        nursery.cancel_scope.cancel()


async def read_exactly(stream: trio.abc.Stream, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = await stream.receive_some(size - len(data))
        assert piece, f"closed after {len(data)} of {size} bytes"
        data += bytes(piece)
    return data


async def test_in_clear_weather_bytes_pass_both_ways_at_once(autojump_clock: MockClock) -> None:
    async with carried(CLEAR) as ends:
        await ends.left.send_all(b"there")
        assert await read_exactly(ends.right, 5) == b"there"
        await ends.right.send_all(b"and back")
        assert await read_exactly(ends.left, 8) == b"and back"
    assert trio.current_time() == 0


async def test_latency_delays_each_way_and_jitter_stays_within_its_bounds(autojump_clock: MockClock) -> None:
    async with carried(Weather(latency_seconds=0.2, jitter_seconds=0.05)) as ends:
        times = []
        for _ in range(50):
            sent = trio.current_time()
            await ends.left.send_all(b"x")
            await read_exactly(ends.right, 1)
            times.append(trio.current_time() - sent)
    assert 0.15 <= min(times) < 0.17
    assert 0.23 < max(times) <= 0.25


async def test_jitter_never_changes_the_order(autojump_clock: MockClock) -> None:
    async with carried(Weather(latency_seconds=0.1, jitter_seconds=0.1)) as ends:
        for number in range(200):
            await ends.left.send_all(bytes([number]))
            await trio.sleep(0.001)
        assert await read_exactly(ends.right, 200) == bytes(range(200))


async def test_bandwidth_is_what_was_asked_for(autojump_clock: MockClock) -> None:
    async with carried(Weather(bytes_per_second=20_000)) as ends, trio.open_nursery() as nursery:
        nursery.start_soon(ends.left.send_all, bytes(100_000))
        await read_exactly(ends.right, 100_000)
        assert trio.current_time() == pytest.approx(5.0)


async def test_corruption_changes_about_as_many_bytes_as_it_says(autojump_clock: MockClock) -> None:
    """1e-3 of a million bytes: 1,000 expected, standard deviation 32."""
    async with carried(Weather(corrupt=1e-3)) as ends, trio.open_nursery() as nursery:
        nursery.start_soon(ends.left.send_all, bytes(1_000_000))
        data = await read_exactly(ends.right, 1_000_000)
    changed = sum(1 for byte in data if byte)
    assert 850 < changed < 1150


async def test_a_lost_link_ends_both_sides(autojump_clock: MockClock) -> None:
    async with carried(Weather(loss_per_second=0.1)) as ends:
        await ends.left.receive_some(1)
        await ends.right.receive_some(1)
        await trio.sleep(1)
        assert ends.outcome == ["lost: reset"]
    assert 0 < trio.current_time() < 100


async def test_links_are_lost_at_the_rate_that_was_asked_for() -> None:
    """The mean of 2,000 exponential times with rate 0.1 is 10 (standard error 0.22)."""
    dice = random.Random(5)
    times = [proxy._moment(0.1, dice) for _ in range(2000)]
    assert 9 < sum(times) / len(times) < 11
    assert proxy._moment(0.0, dice) == math.inf


async def test_a_half_open_link_swallows_everything_and_tells_nobody(autojump_clock: MockClock) -> None:
    async with carried(Weather(half_open_per_second=1000)) as ends:
        await trio.sleep(1)
        await ends.left.send_all(b"anybody there?")
        with trio.move_on_after(3600) as waiting:
            await ends.right.receive_some(1)
        assert waiting.cancelled_caught
        await ends.left.aclose()
        with trio.move_on_after(3600) as waiting:
            await ends.right.receive_some(1)
        assert waiting.cancelled_caught, "the other end hears nothing of a close"
        await ends.right.aclose()
        await trio.sleep(1)
        assert ends.outcome == ["half-open until both ends had gone"]


async def test_a_close_is_passed_on_after_what_was_sent_before_it(autojump_clock: MockClock) -> None:
    async with carried(Weather(latency_seconds=1)) as ends:
        await ends.left.send_all(b"last words")
        await ends.left.aclose()
        assert await read_exactly(ends.right, 10) == b"last words"
        assert await ends.right.receive_some(1) == b""
    assert trio.current_time() == 1


async def test_the_same_seed_makes_the_same_weather(autojump_clock: MockClock) -> None:
    seen = []
    for _ in range(2):
        began = trio.current_time()
        async with carried(Weather(corrupt=0.01, latency_seconds=1, jitter_seconds=1), seed=7) as ends:
            await ends.left.send_all(bytes(1000))
            seen.append((await read_exactly(ends.right, 1000), trio.current_time() - began))
    assert seen[0][0] == seen[1][0]
    assert seen[0][1] == pytest.approx(seen[1][1])


async def test_real_sockets_are_carried() -> None:
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:

            async def echo(stream: trio.SocketStream) -> None:
                async for data in stream:
                    await stream.send_all(data)

            behind = await trio.open_tcp_listeners(0, host="127.0.0.1")
            nursery.start_soon(trio.serve_listeners, echo, behind)
            to = behind[0].socket.getsockname()
            listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
            told: list[str] = []
            nursery.start_soon(lambda: proxy.serve(listeners, to, CLEAR, tell=told.append))
            async with await trio.open_tcp_stream(*listeners[0].socket.getsockname()) as client:
                await client.send_all(b"over real sockets")
                assert await read_exactly(client, 17) == b"over real sockets"
            nursery.cancel_scope.cancel()
    assert told[0].startswith("connection 1: carried to 127.0.0.1:")


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (proxy.seconds, "200ms", 0.2),
        (proxy.seconds, "1.5s", 1.5),
        (proxy.seconds, "2min", 120),
        (proxy.rate, "0.01/s", 0.01),
        (proxy.rate, "3/min", 0.05),
        (proxy.bandwidth, "20kB/s", 20_000),
        (proxy.bandwidth, "8kbit/s", 1_000),
        (proxy.bandwidth, "1MiB/s", 1_048_576),
        (proxy.chance, "1e-5", 1e-5),
        (proxy.chance, "0.1%", 0.001),
        (proxy.address, "127.0.0.1:4000", ("127.0.0.1", 4000)),
        (proxy.address, "[::1]:4000", ("::1", 4000)),
        (proxy.address, "4000", ("127.0.0.1", 4000)),
    ],
)
def test_weather_is_written_as_people_write_it(read, text, value) -> None:  # type: ignore[no-untyped-def]
    assert read(text) == (pytest.approx(value) if isinstance(value, float) else value)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (proxy.seconds, "200"),
        (proxy.seconds, "-1s"),
        (proxy.rate, "0.01"),
        (proxy.bandwidth, "20k"),
        (proxy.bandwidth, "0B/s"),
        (proxy.chance, "2"),
        (proxy.chance, "often"),
        (proxy.chance, "nan"),
        (proxy.address, "localhost"),
        (proxy.address, "::1:4000"),
        (proxy.address, "127.0.0.1:70000"),
    ],
)
def test_what_is_not_weather_is_answered_with_an_example(read, text) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="write it as"):
        read(text)
