"""HTTP and WebSocket on trio streams: small, strict, and unable to hurt the table.

h11 and wsproto do the parsing; this module adds the limits (sizes, times, numbers) and the walls: whatever comes in on
a connection ends at most that connection.  One task serves one connection:

    head --Response--> head (kept alive) | closed
    head --Upgrade--> open --bad bytes, silence, slow reader--> closed
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Protocol

import h11
import trio
import wsproto
import wsproto.utilities
from wsproto.events import AcceptConnection, CloseConnection, Message, Ping, TextMessage
from wsproto.utilities import ProtocolError as WebSocketError

from p2p_rummy.web.site import Request, Response, Site

log = logging.getLogger(__name__)

RECEIVE_BYTES = 65536
PING_SECONDS = 20
ENDS = (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError)
"""How a connection ends when nobody is at fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    head_bytes: int = 16 * 1024
    head_seconds: float = 10
    """For a request's head to arrive, counted from its connection or from the answer before it."""
    message_bytes: int = 64 * 1024
    """Of one WebSocket message from the page; the longest honest one is a chat line or a ticket."""
    silence_seconds: float = 70
    """A page that answers no ping for so long is gone."""
    write_seconds: float = 20
    backlog: int = 512
    """Messages waiting for one page; a page further behind is cut off and will reload."""
    connections: int = 64


class Outbox:
    """Messages on their way to one page.  ``put`` never waits: a page that reads too slowly is cut off instead."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._waiting: deque[bytes] = deque()
        self._wake = trio.Event()
        self.closed = False

    def put(self, message: dict[str, Any]) -> None:
        self.put_text(json.dumps(message, ensure_ascii=False, separators=(",", ":")))

    def put_text(self, text: str) -> None:
        """The same text may go to many pages: encode once."""
        self._append(text.encode())

    def _append(self, data: bytes) -> None:
        if len(self._waiting) >= self._limit:
            self.close()
        elif not self.closed:
            self._waiting.append(data)
            self._wake.set()

    def close(self) -> None:
        self.closed = True
        self._wake.set()

    async def next(self) -> bytes | None:
        """The next message, None when the box is closed."""
        while not self._waiting and not self.closed:
            self._wake = trio.Event()
            await self._wake.wait()
        return None if self.closed else self._waiting.popleft()


class Desk(Protocol):
    """What a page talks to (see ``desk.py``)."""

    def attach(self, outbox: Outbox) -> None: ...

    def detach(self, outbox: Outbox) -> None: ...

    async def handle(self, message: dict[str, Any], outbox: Outbox) -> None: ...


class Server:
    """Serves one Site and its Desk on any number of connections."""

    def __init__(self, site: Site, desk: Desk, limits: Limits | None = None) -> None:
        self.site = site
        self.desk = desk
        self.limits = limits or Limits()
        self._connections = 0

    async def serve(self, stream: trio.abc.Stream) -> None:
        """The whole life of one connection.  Raises nothing but Cancelled, whatever the other side sends."""
        if self._connections >= self.limits.connections:
            await trio.aclose_forcefully(stream)
            return
        self._connections += 1
        try:
            await self._talk(stream)
        except ENDS:
            pass
        except Exception:
            log.exception("a browser connection failed; only that connection is closed")
        finally:
            self._connections -= 1
            await trio.aclose_forcefully(stream)

    async def _talk(self, stream: trio.abc.Stream) -> None:
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=self.limits.head_bytes)
        while True:
            try:
                with trio.fail_after(self.limits.head_seconds):
                    head = await read_head(stream, connection, self.limits.head_bytes)
            except h11.RemoteProtocolError as error:
                status = error.error_status_hint if 400 <= error.error_status_hint < 600 else 400
                answer = self.site.refusal(status, "This is not a request that can be read.")
                if connection.our_state in (h11.IDLE, h11.SEND_RESPONSE):
                    await self._respond(stream, connection, answer, with_body=True)
                return
            if head is None:
                return
            request = plain_request(head)
            decision = self.site.answer(request)
            if not isinstance(decision, Response):
                await self._upgrade(stream, connection, head)
                return
            refused = decision.status >= 400
            await self._respond(
                stream, connection, decision, with_body=request.method != "HEAD", close=refused
            )
            if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
                return
            connection.start_next_cycle()

    async def _respond(
        self,
        stream: trio.abc.Stream,
        connection: h11.Connection,
        response: Response,
        *,
        with_body: bool,
        close: bool = False,
    ) -> None:
        headers = [(name.encode(), value.encode()) for name, value in response.headers]
        if close:
            headers.append((b"Connection", b"close"))
        reason = HTTPStatus(response.status).phrase.encode()
        data = (
            connection.send(h11.Response(status_code=response.status, headers=headers, reason=reason)) or b""
        )
        if with_body:
            data += connection.send(h11.Data(data=response.body)) or b""
        data += connection.send(h11.EndOfMessage()) or b""
        with trio.fail_after(self.limits.write_seconds):
            await stream.send_all(data)

    async def _upgrade(self, stream: trio.abc.Stream, connection: h11.Connection, head: h11.Request) -> None:
        socket = wsproto.WSConnection(wsproto.ConnectionType.SERVER)
        try:
            socket.initiate_upgrade_connection(list(head.headers.raw_items()), head.target)
            list(socket.events())
            accepted = socket.send(AcceptConnection())
        except (WebSocketError, ValueError):
            await self._respond(
                stream,
                connection,
                self.site.refusal(400, "This is not a WebSocket."),
                with_body=True,
                close=True,
            )
            return
        with trio.fail_after(self.limits.write_seconds):
            await stream.send_all(accepted)
        outbox = Outbox(self.limits.backlog)
        self.desk.attach(outbox)
        try:
            await run_socket(
                stream, socket, connection.trailing_data[0], outbox, self.desk.handle, self.limits
            )
        finally:
            outbox.close()
            self.desk.detach(outbox)


async def read_head(stream: trio.abc.Stream, connection: h11.Connection, limit: int) -> h11.Request | None:
    """The next request's head, None at a clean end.  What has a body is answered (refused) before it is read."""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(bytes(await stream.receive_some(RECEIVE_BYTES)))
        elif isinstance(event, h11.Request):
            # h11 bounds what it waits for; a long head that arrives at once is for us to refuse.
            if sum(len(name) + len(value) for name, value in event.headers) + len(event.target) > limit:
                raise h11.RemoteProtocolError("request head too long", error_status_hint=431)
            if not has_body(event):
                connection.next_event()  # its EndOfMessage, which frees the connection for the next request
            return event
        elif isinstance(event, h11.ConnectionClosed):
            return None


def has_body(head: h11.Request) -> bool:
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
        for name, value in head.headers
    )


def plain_request(head: h11.Request) -> Request:
    return Request(
        method=head.method.decode("latin-1"),
        target=head.target.decode("latin-1"),
        headers=tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in head.headers),
    )


async def run_socket(
    stream: trio.abc.Stream,
    socket: wsproto.WSConnection,
    leftover: bytes,
    outbox: Outbox,
    handle: Callable[[dict[str, Any], Outbox], Awaitable[None]],
    limits: Limits,
) -> None:
    """Read and write one open WebSocket until either side is done."""
    sending = trio.Lock()

    async def write(event: wsproto.events.Event) -> None:
        async with sending:
            with trio.fail_after(limits.write_seconds):
                await stream.send_all(socket.send(event))

    async def write_messages() -> None:
        while (text := await outbox.next()) is not None:
            await write(TextMessage(data=text.decode()))

    async def ping() -> None:
        while True:
            await trio.sleep(PING_SECONDS)
            await write(Ping())

    async def read() -> None:
        try:
            await read_messages()
        except WebSocketError as error:
            await write(CloseConnection(code=1002, reason=str(error)[:100]))
        except Unacceptable as error:
            await write(CloseConnection(code=error.code, reason=str(error)))

    async def read_messages() -> None:
        text = ""
        data = leftover
        while True:
            if data:
                socket.receive_data(data)
            for event in socket.events():
                if isinstance(event, Ping):
                    await write(event.response())
                elif isinstance(event, CloseConnection):
                    await write(event.response())
                    return
                elif isinstance(event, TextMessage):
                    text += event.data
                    if len(text) > limits.message_bytes:
                        raise Unacceptable(1009, "message too long")
                    if event.message_finished:
                        await handle(read_message(text), outbox)
                        text = ""
                elif isinstance(event, Message):
                    raise Unacceptable(1003, "only text is understood here")
            with trio.fail_after(limits.silence_seconds):
                data = bytes(await stream.receive_some(RECEIVE_BYTES))
            if not data:
                return

    async def until_done(task: Callable[[], Awaitable[None]]) -> None:
        """Whichever task ends first, well or not, ends the connection."""
        with contextlib.suppress(*ENDS, wsproto.utilities.LocalProtocolError):
            await task()
        nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(until_done, write_messages)
        nursery.start_soon(until_done, ping)
        nursery.start_soon(until_done, read)


class Unacceptable(Exception):  # noqa: N818 - it names the message, not a fault of ours
    """A message that is well-formed WebSocket and still nothing our page would send."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def read_message(text: str) -> dict[str, Any]:
    try:
        message = json.loads(text)
        json.dumps(message, ensure_ascii=False).encode()  # refuses half of a surrogate pair
    except (ValueError, RecursionError):
        raise Unacceptable(1007, "not JSON") from None
    if not isinstance(message, dict) or not isinstance(message.get("do"), str):
        raise Unacceptable(1008, "not a message of this page")
    return message
