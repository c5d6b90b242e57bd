"""Drives one session: hands it what arrives, carries out what it asks, keeps its clock.

Inputs are given to the session at once, by whichever task has them; it is sans-IO, so that takes no time in
the sense of trio.  What it asks for is carried out by one task, batch after batch, in order: the disk first, then
messages, work and news.  While a batch is being written, further inputs gather and share the next fsync.

A link may have one message in the session's hands at a time.  It gets its next turn when the batch that its
last message caused has been carried out, so a flood on one link cannot crowd out the others (F98-F100); a link whose
messages cost more than its share of processor time waits longer still.

When the disk or the random source fails, the session is not asked anything again: a peer that cannot keep what it signs, or
whose secrets might be known, signs nothing.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, Protocol

import trio

from protocol.agreement import Agreement
from protocol.effects import Close, Effect, Notify, Send, Timer, Work
from protocol.errors import LocalProtocolError, RandomSourceFailed
from protocol.events import Event, Halted
from protocol.game import Game
from protocol.identity import Identity
from protocol.journal import DiskFailed
from protocol.peer.connection import Budget
from protocol.peer.disk import Disk, parts_of
from protocol.session import Session
from protocol.wire import Code

PROCESSOR_SHARE: Final = 0.3
"""Seconds of our time, of each second, that one link may use in the long run."""


def fresh_bytes(count: int) -> bytes:
    """Random bytes of the operating system.  Raises RandomSourceFailed."""
    try:
        return os.urandom(count)
    except (OSError, NotImplementedError) as error:
        raise RandomSourceFailed(f"the random source of this machine fails ({error})") from None


class Links(Protocol):
    """Where messages go."""

    def send(self, number: int, payload: bytes) -> None: ...
    def close_link(self, number: int, code: str, reason: str) -> None: ...


class Driver:
    """One seat's session, alive.  The inputs may be called from any task."""

    def __init__(
        self,
        identity: Identity | None,
        agreement: Agreement,
        make_game: Callable[[Agreement], Game],
        disk: Disk,
        links: Links,
        tell: Callable[[Event], None],
        *,
        records: Sequence[bytes] = (),
        secrets: Mapping[int, bytes] | None = None,
        doubt: bool = False,
    ) -> None:
        """Raises what making the session raises: ProtocolError for records that are not a session's."""
        self.session = Session(
            identity,
            agreement,
            make_game,
            fresh_bytes,
            records,
            secrets=secrets,
            doubt=doubt,
            now=trio.current_time(),
        )
        self.halted = False
        self._disk = disk
        self._links = links
        self._tell = tell
        self._wake = trio.Event()
        self._wake.set()
        self._done = trio.Event()
        self._timer = math.inf
        self._shares: dict[int, Budget] = {}
        self._workers = trio.CapacityLimiter(max(1, os.cpu_count() or 1))

    # --- inputs ---

    def link_up(self, number: int, key: bytes) -> None:
        now = trio.current_time()
        self._shares[number] = Budget.full(PROCESSOR_SHARE, 3.0, now)
        if not self.halted:
            with self._session() as session:
                session.link_up(number, key, now)

    def link_down(self, number: int) -> None:
        self._shares.pop(number, None)
        if not self.halted:
            with self._session() as session:
                session.link_down(number, trio.current_time())

    async def received(self, number: int, payload: bytes) -> None:
        """Give a message to the session; returns when this link may bring its next one."""
        if self.halted:
            return
        began = time.thread_time()
        with self._session() as session:
            session.received(number, payload, trio.current_time())
        spent = time.thread_time() - began
        done = self._done
        await done.wait()
        if number in self._shares:
            await trio.sleep(self._shares[number].spend(spent, trio.current_time()))

    def move(self, text: str) -> None:
        """Raises what Session.move raises, LocalProtocolError if this peer has halted."""
        self._check()
        with self._session() as session:
            session.move(text, trio.current_time())
        self._check()

    def chat(self, text: str) -> None:
        self._check()
        with self._session() as session:
            session.chat(text, trio.current_time())
        self._check()

    def react(self, reaction: str) -> None:
        self._check()
        with self._session() as session:
            session.react(reaction, trio.current_time())
        self._check()

    @contextmanager
    def _session(self) -> Iterator[Session]:
        """Give the session something; then there may be something to carry out, unless its random source fails (N39)."""
        try:
            yield self.session
        except RandomSourceFailed as error:
            self.halt(error.code, f"{error}; nothing was signed with it: mend it, then resume the table")
        self._wake.set()

    def _check(self) -> None:
        if self.halted:
            raise LocalProtocolError("this peer has halted and signs nothing more; resume the table")

    async def until_settled(self) -> None:
        """Wait until the game is over and every seat that we have a link to knows it."""
        while not self.halted and not self.session.settled:
            await self._done.wait()

    # --- carrying out ---

    async def run(self) -> None:
        """Carry out effects until cancelled, or until this peer must halt."""
        async with trio.open_nursery() as nursery:
            try:
                while not self.halted:
                    await self._round(nursery)
            except DiskFailed as error:
                self.halt("disk_failed", str(error))
            nursery.cancel_scope.cancel()

    async def _round(self, nursery: trio.Nursery) -> None:
        with trio.CancelScope(deadline=min(self._timer, self._disk.flush_at)):
            await self._wake.wait()
        if self.halted:
            return
        self._wake = trio.Event()
        now = trio.current_time()
        if self._timer <= now:
            self._timer = math.inf
            with self._session() as session:
                session.tick(now)
        if self.halted:
            return
        effects = self.session.take_effects()
        done, self._done = self._done, trio.Event()
        try:
            for part in parts_of(effects):
                await self._disk.write(part)
                for effect in part.others:
                    await self._carry_out(effect, nursery)
            if self._disk.flush_at <= now:
                await self._disk.flush()
        finally:
            done.set()

    async def _carry_out(self, effect: Effect, nursery: trio.Nursery) -> None:
        if isinstance(effect, Send):
            self._links.send(effect.link, effect.message)
        elif isinstance(effect, Close):
            self._links.close_link(effect.link, Code.PROTOCOL, effect.reason)
        elif isinstance(effect, Work):
            nursery.start_soon(self._work, effect)
        elif isinstance(effect, Timer):
            self._timer = effect.at
        elif isinstance(effect, Notify):
            await self._disk.note(effect.event)
            self._tell(effect.event)
            if isinstance(effect.event, Halted):
                self.halted = True

    async def _work(self, work: Work) -> None:
        with self._session() as session:
            result = await trio.to_thread.run_sync(work.function, limiter=self._workers)
            if not self.halted:
                session.work_done(work.job, result, trio.current_time())

    def halt(self, reason: str, message: str) -> None:
        """Sign nothing more, and say why."""
        if not self.halted:
            self.halted = True
            self._tell(Halted(reason=reason, message=message))
        self._done.set()
        self._wake.set()
