"""Bytes from anybody: whatever comes in on one connection ends at most that connection."""

from __future__ import annotations

import json
from typing import Any

import h11
import pytest
import trio
import trio.testing
import wsproto
from hypothesis import given, settings
from hypothesis import strategies as st
from wsproto.events import AcceptConnection, BytesMessage, CloseConnection, Ping, Pong, TextMessage
from wsproto.events import Request as SocketRequest

from p2p_rummy.web.http import Limits, Outbox, Server
from p2p_rummy.web.site import File, Site

HOST = "127.0.0.1:4711"


class Notes:
    """A desk that greets, remembers what it was told and answers with it."""

    def __init__(self) -> None:
        self.heard: list[dict[str, Any]] = []
        self.boxes: list[Outbox] = []

    def attach(self, outbox: Outbox) -> None:
        self.boxes.append(outbox)
        outbox.put({"type": "hello"})

    def detach(self, outbox: Outbox) -> None:
        self.boxes.remove(outbox)

    async def handle(self, message: dict[str, Any], outbox: Outbox) -> None:
        self.heard.append(message)
        outbox.put({"type": "reply", "id": message.get("id")})


def server(desk: Notes | None = None, **limits: Any) -> Server:
    site = Site(
        hosts=frozenset({HOST}),
        files={"index.html": File("text/html", b"<p>page")},
        log=lambda: None,
        key="right-key",
    )
    return Server(site, desk or Notes(), Limits(**limits))


async def exchange(data: bytes, **limits: Any) -> bytes:
    """Send these bytes, close our side, and return all that comes back."""
    ours, theirs = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server(**limits).serve, theirs)
        answer = bytearray()
        try:
            await ours.send_all(data)
            await ours.send_eof()
            async for chunk in ours:
                answer += chunk
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
    return bytes(answer)


PAGE = f"GET / HTTP/1.1\r\nHost: {HOST}\r\nCookie: p2p_rummy_4711=right-key\r\n\r\n".encode()


async def test_a_page_is_served_again_and_again_on_one_connection() -> None:
    answer = await exchange(PAGE + PAGE)
    assert answer.count(b"HTTP/1.1 200") == 2
    assert answer.count(b"<p>page") == 2


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00", b"400"),  # a TLS hello
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\n\r\n", b"400"),
        (b"GET / HTTP/3.7\r\nHost: x\r\n\r\n", b"505"),
        (b"POST / HTTP/1.1\r\nHost: " + HOST.encode() + b"\r\nContent-Length: 99999999999\r\n\r\n", b"413"),
        (
            b"GET / HTTP/1.1\r\nHost: " + HOST.encode() + b"\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"413",
        ),
        (b"GET / HTTP/1.1\r\nHost: " + HOST.encode() + b"\r\nX: " + b"a" * 20000 + b"\r\n\r\n", b"431"),
    ],
)
async def test_malformed_requests_are_refused_and_the_connection_closed(data: bytes, status: bytes) -> None:
    answer = await exchange(data)
    assert answer.startswith(b"HTTP/1.1 " + status) or (
        status == b"505" and answer.startswith(b"HTTP/1.1 4")
    ), answer[:80]


async def test_silence_ends_the_connection(autojump_clock: trio.testing.MockClock) -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server(head_seconds=10).serve, theirs)
        await ours.send_all(b"GET / HT")
        started = trio.current_time()
        assert await ours.receive_some() == b""
        assert trio.current_time() - started == pytest.approx(10)


async def test_more_connections_than_allowed_are_closed_at_once() -> None:
    one = server(connections=1)
    held, theirs = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(one.serve, theirs)
        await trio.testing.wait_all_tasks_blocked()
        refused, second = trio.testing.memory_stream_pair()
        await one.serve(second)
        assert await refused.receive_some() == b""
        await held.aclose()


@given(st.binary(max_size=300))
@settings(max_examples=60, deadline=None)
def test_no_bytes_at_all_raise(data: bytes) -> None:
    trio.run(exchange, data)


@given(st.binary(max_size=200))
@settings(max_examples=60, deadline=None)
def test_no_bytes_after_a_request_raise(data: bytes) -> None:
    assert trio.run(exchange, PAGE + data).startswith(b"HTTP/1.1 200")


# --- WebSocket -------------------------------------------------------------------------------------------------


class Client:
    """Our end of a WebSocket over a memory stream."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self.socket = wsproto.WSConnection(wsproto.ConnectionType.CLIENT)

    async def open(self) -> None:
        headers = [(b"Origin", f"http://{HOST}".encode()), (b"Cookie", b"p2p_rummy_4711=right-key")]
        await self.stream.send_all(
            self.socket.send(SocketRequest(host=HOST, target="/socket", extra_headers=headers))
        )
        assert isinstance(await self.next(), AcceptConnection)

    async def next(self) -> Any:
        while True:
            for event in self.socket.events():
                return event
            data = bytes(await self.stream.receive_some())
            if not data:
                return None
            self.socket.receive_data(data)

    async def json(self) -> Any:
        event = await self.next()
        assert isinstance(event, TextMessage)
        return json.loads(event.data)

    async def say(self, text: str) -> None:
        await self.stream.send_all(self.socket.send(TextMessage(data=text)))


class Opened:
    """``async with Opened(...) as (client, desk)``: a served, opened socket."""

    def __init__(self, **limits: Any) -> None:
        self.desk = Notes()
        self.server = server(self.desk, **limits)

    async def __aenter__(self) -> tuple[Client, Notes]:
        ours, theirs = trio.testing.memory_stream_pair()
        self._manager = trio.open_nursery()
        nursery = await self._manager.__aenter__()
        nursery.start_soon(self.server.serve, theirs)
        self.client = Client(ours)
        await self.client.open()
        assert await self.client.json() == {"type": "hello"}
        return self.client, self.desk

    async def __aexit__(self, *error: Any) -> None:
        await self.client.stream.aclose()
        await self._manager.__aexit__(*error)
        assert self.desk.boxes == []


async def test_a_message_is_heard_and_answered() -> None:
    async with Opened() as (client, desk):
        await client.say('{"do":"move","id":7,"text":"draw"}')
        assert await client.json() == {"type": "reply", "id": 7}
        assert desk.heard == [{"do": "move", "id": 7, "text": "draw"}]


async def test_a_ping_is_answered() -> None:
    async with Opened() as (client, _):
        await client.stream.send_all(client.socket.send(Ping(payload=b"still there?")))
        event = await client.next()
        assert isinstance(event, Pong)
        assert event.payload == b"still there?"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("not json", 1007),
        ("[" * 5000, 1007),
        ('{"do":"\\ud800","id":1}', 1007),
        ("[]", 1008),
        ('{"id":1}', 1008),
        ('{"do":3}', 1008),
        ('{"do":"move","text":"' + "x" * 70000 + '"}', 1009),
    ],
)
async def test_a_message_that_our_page_never_sends_ends_that_socket(text: str, code: int) -> None:
    async with Opened() as (client, desk):
        await client.say(text)
        event = await client.next()
        assert isinstance(event, CloseConnection)
        assert event.code == code
        assert desk.heard == []


async def test_binary_messages_are_not_understood() -> None:
    async with Opened() as (client, _):
        await client.stream.send_all(client.socket.send(BytesMessage(data=b"x")))
        event = await client.next()
        assert isinstance(event, CloseConnection)
        assert event.code == 1003


@pytest.mark.parametrize(
    "frame",
    [
        b"\x81\x05hello",  # not masked
        b"\xff\x80\x00\x00\x00\x00",  # reserved bits
        b"\x83\x80\x00\x00\x00\x00",  # reserved opcode
        b"\x89\xfe\x01\x00\x00\x00\x00\x00",  # a ping longer than 125 bytes
        b"\x81\x82\x00\x00\x00\x00\xff\xfe",  # not UTF-8
        b"\x80\x80\x00\x00\x00\x00",  # a continuation of nothing
    ],
)
async def test_broken_frames_end_that_socket_and_nothing_else(frame: bytes) -> None:
    opened = Opened()
    async with opened as (client, _):
        await client.stream.send_all(frame)
        event = await client.next()
        assert isinstance(event, CloseConnection)
        # The same server still serves the next one.
        ours, theirs = trio.testing.memory_stream_pair()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(opened.server.serve, theirs)
            other = Client(ours)
            await other.open()
            assert await other.json() == {"type": "hello"}
            await ours.aclose()


@given(st.binary(max_size=200))
@settings(max_examples=60, deadline=None)
def test_no_bytes_on_an_open_socket_raise(data: bytes) -> None:
    async def run() -> None:
        async with Opened() as (client, _):
            await client.stream.send_all(data)

    trio.run(run)


async def test_a_page_that_reads_nothing_is_cut_off() -> None:
    async with Opened(backlog=3) as (client, desk):
        box = desk.boxes[0]
        for number in range(5):
            box.put({"number": number})
        assert box.closed
        while (event := await client.next()) is not None:
            assert not isinstance(event, TextMessage) or json.loads(event.data)["number"] < 3


async def test_a_page_that_answers_no_ping_is_gone(autojump_clock: trio.testing.MockClock) -> None:
    async with Opened(silence_seconds=70) as (client, desk):
        started = trio.current_time()
        while await client.next() is not None:
            pass
        assert trio.current_time() - started == pytest.approx(70)
        assert desk.boxes == []


async def test_a_handshake_without_its_key_is_refused() -> None:
    lines = [
        "GET /socket HTTP/1.1",
        f"Host: {HOST}",
        f"Origin: http://{HOST}",
        "Cookie: p2p_rummy_4711=right-key",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "",
        "",
    ]
    assert (await exchange("\r\n".join(lines).encode())).startswith(b"HTTP/1.1 400")


def test_the_limits_leave_h11_its_own_errors() -> None:
    assert issubclass(h11.RemoteProtocolError, h11.ProtocolError)
