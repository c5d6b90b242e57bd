"""One connection: a stream, the link machine of wire.py, and the limits that keep it from hurting us.

===============================  =========================================================================
what the other end does          what becomes of it
===============================  =========================================================================
opens and says nothing (F93)     closed after :data:`HANDSHAKE_SECONDS`
says nothing, or never finishes  closed after :data:`SILENCE_SECONDS` without a whole frame; each side PINGs
a frame (F5, F94)                every :data:`PING_SECONDS`, so a live one is never that silent
does not read (F97)              closed when :data:`MAX_QUEUE` bytes wait for it
sends too much (F98, F99)        read more slowly: its next bytes wait until its budget allows them
===============================  =========================================================================

A connection belongs to the task that calls :meth:`Connection.run`; when that returns or is cancelled the stream
is closed and nothing of it is left.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import trio

from protocol import wire
from protocol.errors import ProtocolError
from protocol.identity import Identity
from protocol.peer.tcp import remote_host
from protocol.wire import Kind, Purpose, Role

HANDSHAKE_SECONDS: Final = 8.0
PING_SECONDS: Final = 4.0
SILENCE_SECONDS: Final = 12.0
FAREWELL_SECONDS: Final = 2.0
MAX_QUEUE: Final = 4 << 20

_CHUNK: Final = 1 << 16


class LinkLost(ProtocolError):  # noqa: N818
    """The connection ended.  ``code`` of the peer's refusal if it gave one, else a word of ours."""

    code = "link_lost"

    def __init__(self, reason: str, message: str, *, proven: bool = True) -> None:
        super().__init__(message)
        self.reason = reason
        self.proven = proven


@dataclass(slots=True)
class Budget:
    """A token bucket: ``rate`` a second, at most ``burst`` saved up."""

    rate: float
    burst: float
    left: float
    at: float

    @classmethod
    def full(cls, rate: float, burst: float, now: float) -> Budget:
        return cls(rate, burst, burst, now)

    def spend(self, amount: float, now: float) -> float:
        """Take ``amount`` and return how many seconds to wait before more is taken."""
        self.left = min(self.burst, self.left + (now - self.at) * self.rate) - amount
        self.at = now
        return max(0.0, -self.left / self.rate)


class Connection:
    """A link over a stream.  Make it with :meth:`dialed` or :meth:`accepted`, then handshake, then run."""

    def __init__(self, number: int, stream: trio.abc.Stream, link: wire.Link) -> None:
        self.number = number
        self.remote_host = remote_host(stream)
        self.peer_key = b""
        self.listening_port = 0
        self._stream = stream
        self._link = link
        self._early: list[wire.Message] = []  # came in one piece with the handshake
        self._outgoing = trio.Event()
        self._in_flight = 0
        self._ended: LinkLost | None = None
        self._scope = trio.CancelScope()
        now = trio.current_time()
        self._bytes = Budget.full(2 << 20, 16 << 20, now)
        self._messages = Budget.full(300, 2000, now)

    @classmethod
    def dialed(
        cls,
        number: int,
        stream: trio.abc.Stream,
        identity: Identity,
        *,
        table: bytes,
        purpose: Purpose,
        listening_port: int,
    ) -> Connection:
        link = wire.Link(
            Role.DIALER,
            identity,
            entropy=os.urandom(wire.ENTROPY_BYTES),
            table=table,
            purpose=purpose,
            listening_port=listening_port,
        )
        return cls(number, stream, link)

    @classmethod
    def accepted(
        cls, number: int, stream: trio.abc.Stream, identity: Identity, *, listening_port: int
    ) -> Connection:
        link = wire.Link(
            Role.LISTENER, identity, entropy=os.urandom(wire.ENTROPY_BYTES), listening_port=listening_port
        )
        return cls(number, stream, link)

    # --- handshake ---

    async def handshake(
        self, admit: Callable[[wire.Greeted], tuple[str, str] | None] | None = None
    ) -> wire.Greeted:
        """Prove who both sides are; returns what the dialer wants.

        ``admit`` judges the greeting before any identity is looked at: None, or code and reason of a refusal.
        Raises LinkLost; the other end has been told why, as far as it can understand it.
        """
        try:
            with trio.fail_after(HANDSHAKE_SECONDS):
                return await self._handshake(admit)
        except trio.TooSlowError:
            self._end("timeout", f"no handshake within {HANDSHAKE_SECONDS:.0f} seconds")
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self._end("broken", "the connection broke during the handshake")
        assert self._ended is not None
        raise self._ended

    async def _handshake(
        self, admit: Callable[[wire.Greeted], tuple[str, str] | None] | None
    ) -> wire.Greeted:
        greeting: wire.Greeted | None = None
        await self._flush()
        while greeting is None or not self.peer_key:
            data = await self._stream.receive_some(_CHUNK)
            if not data:
                self._end("closed", "the other end closed the connection during the handshake")
            for event in self._link.receive(bytes(data)):
                if isinstance(event, wire.Greeted):
                    greeting = event
                    refusal = admit(event) if admit is not None else None
                    if refusal is not None:
                        self.close(*refusal)
                elif isinstance(event, wire.Authenticated):
                    self.peer_key = event.peer_key
                    self.listening_port = event.listening_port
                elif isinstance(event, wire.Message):
                    self._early.append(event)
                else:
                    self._note_end(event)
            await self._flush()
            if self._ended is not None:
                raise self._ended
        return greeting

    async def _flush(self) -> None:
        data = self._link.take_outgoing()
        if data:
            await self._stream.send_all(data)

    async def refuse(self, code: str, reason: str) -> None:
        """End a connection that does not run: say why, give the words time to arrive, close the stream."""
        self.close(code, reason)
        await self.farewell()

    async def farewell(self) -> None:
        """Send what is left to say on a closed link that does not run, then close the stream."""
        try:
            with trio.move_on_after(FAREWELL_SECONDS):
                await self._write()
                with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                    while await self._stream.receive_some(_CHUNK):
                        pass
        finally:
            await trio.aclose_forcefully(self._stream)

    # --- an open link ---

    def send(self, kind: Kind, payload: bytes) -> None:
        """Queue one message.  A link that has ended takes it silently; a peer that does not read is cut off."""
        if self._ended is not None or self._link.closed:
            return
        self._link.send(kind, payload)
        if self._in_flight + self._link.outgoing_bytes > MAX_QUEUE:
            self.abort("slow_reader", "the other end does not read what it is sent")
        self._outgoing.set()

    def close(self, code: str, reason: str) -> None:
        """Say why and end, after what is queued has gone out.  Harmless a second time."""
        if self._ended is None:
            self._link.close(code, reason)
            self._end(code, reason)

    def abort(self, code: str, reason: str) -> None:
        """End at once, saying nothing."""
        self._end(code, reason)
        self._scope.cancel()

    async def run(self, deliver: Callable[[Kind, bytes], Awaitable[None]]) -> LinkLost:
        """Exchange messages until the link ends; returns why.

        ``deliver`` is awaited for each message, in order; while it waits, nothing more is read.
        """
        try:
            with self._scope:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._read, deliver)
                    nursery.start_soon(self._ping)
                    await self._write()
                    # All is said.  Closing with unread bytes would reset the connection and could take back
                    # the last words, so wait for the other end to close, for a while.
                    nursery.cancel_scope.deadline = trio.current_time() + FAREWELL_SECONDS
        finally:
            await trio.aclose_forcefully(self._stream)
        return self._ended or LinkLost("closed", "ended by this side")

    async def _read(self, deliver: Callable[[Kind, bytes], Awaitable[None]]) -> None:
        for message in self._early:
            await deliver(message.kind, message.payload)
        self._early.clear()
        deadline = trio.current_time() + SILENCE_SECONDS
        while (data := await self._receive_until(deadline)) is not None:
            frames = self._link.frames
            for event in self._link.receive(data):
                if isinstance(event, wire.Message):
                    await deliver(event.kind, event.payload)
                else:
                    self._note_end(event)
            now = trio.current_time()
            whole = self._link.frames - frames
            await trio.sleep(max(self._bytes.spend(len(data), now), self._messages.spend(whole, now)))
            if whole:
                deadline = trio.current_time() + SILENCE_SECONDS
        self._scope.cancel()

    async def _receive_until(self, deadline: float) -> bytes | None:
        """The next bytes, or None if there will be none."""
        data = b""
        with trio.CancelScope(deadline=deadline) as patience:
            try:
                data = bytes(await self._stream.receive_some(_CHUNK))
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                self._end("broken", "the connection broke")
        if patience.cancelled_caught:
            self._end("silent", f"nothing whole was heard for {SILENCE_SECONDS:.0f} seconds")
        elif not data:
            self._end("closed", "the other end closed the connection")
        return data or None

    async def _write(self) -> None:
        """Send what is queued until the link is closed and everything is out."""
        try:
            while True:
                data = self._link.take_outgoing()
                if data:
                    self._in_flight = len(data)
                    await self._stream.send_all(data)
                    self._in_flight = 0
                elif self._link.closed or self._ended is not None:
                    break
                else:
                    await self._outgoing.wait()
                    self._outgoing = trio.Event()
            if isinstance(self._stream, trio.abc.HalfCloseableStream):
                await self._stream.send_eof()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self.abort("broken", "the connection broke")

    async def _ping(self) -> None:
        while True:
            await trio.sleep(PING_SECONDS)
            if self._link.closed:
                return
            # A queue that is not empty tells the other end that we live as soon as it moves.
            if not self._in_flight and not self._link.outgoing_bytes:
                self._link.ping()
                self._outgoing.set()

    # --- the end ---

    def _end(self, code: str, reason: str, *, proven: bool = True) -> None:
        if self._ended is None:
            self._ended = LinkLost(code, reason, proven=proven)
        self._outgoing.set()

    def _note_end(self, event: wire.Event) -> None:
        if isinstance(event, wire.RefusedByPeer):
            self._end(event.code, event.text, proven=event.proven)
        elif isinstance(event, wire.Failed):
            self._end(event.error.reason, event.error.message)
