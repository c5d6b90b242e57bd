"""The life of one peer at one table: which parts run when, and who tells whom.

    lobby   Hosting or Joining  --Started-->  seat   Mesh, Gallery and Driver
                                              watch  Watching and Driver

Everything runs in one nursery that belongs to :meth:`Life.running`; leaving it, or being cancelled, says goodbye on
every link and then cancels what is left.  Whatever ends a table against the player's will is told as a Halted event.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import trio

from protocol import lobby
from protocol.agreement import Agreement
from protocol.deck import TWO_PACKS, prepare
from protocol.errors import LocalProtocolError, ProtocolError
from protocol.events import Event, Halted
from protocol.game import Game, Refused
from protocol.identity import Identity
from protocol.journal import DiskFailed
from protocol.peer.connection import FAREWELL_SECONDS, HANDSHAKE_SECONDS, Connection
from protocol.peer.disk import Disk
from protocol.peer.door import Admit, Door, Route
from protocol.peer.driver import Driver
from protocol.peer.gallery import Gallery, Watching
from protocol.peer.home import Home, TableHome
from protocol.peer.hosting import Hosting
from protocol.peer.joining import CannotJoin, Joining
from protocol.peer.mesh import Mesh
from protocol.peer.tcp import CannotListen, Network, reach_of
from protocol.ticket import MAX_ADDRESSES, TABLE_BYTES, Address
from protocol.wire import Code, Purpose

SETTLE_SECONDS: Final = 3.0

MakeGame = Callable[[Agreement], Game]
"""Builds the game that an agreement names.  Raises Refused for one that this program does not play."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreachable:
    """This seat could not be dialled.  It may still dial us, or be reached through the others."""

    seat: int
    reason: str


TableEvent = Event | lobby.RosterChanged | lobby.Proposed | lobby.Started | Unreachable


class Life:
    """One peer at one table."""

    def __init__(self, home: Home, network: Network, make_game: MakeGame) -> None:
        self.home = home
        self.network = network
        self.make_game = make_game
        self.numbers = itertools.count(1)
        self.tell, self.events = trio.open_memory_channel[TableEvent](math.inf)
        self.hosts: list[str] = []
        self.only_at: tuple[Address, ...] | None = None
        self.door = Door(home.identity, self.numbers, 0)
        self.lobby_id = b""
        self.hosting: Hosting | None = None
        self.joining: Joining | None = None
        self.watching: Watching | None = None
        self.roster: lobby.Roster | None = None
        self._nursery: trio.Nursery
        self._files: TableHome | None = None
        self._driver: Driver | None = None
        self._mesh: Mesh | None = None
        self._gallery: Gallery | None = None
        self._proposed = b""
        self._seated = trio.Event()
        self._moved = trio.Event()

    @property
    def started(self) -> bool:
        return self._driver is not None

    @property
    def files(self) -> TableHome:
        if self._files is None:
            raise LocalProtocolError("the table has not started yet")
        return self._files

    @property
    def driver(self) -> Driver:
        if self._driver is None:
            raise LocalProtocolError("the table has not started yet")
        return self._driver

    @property
    def addresses(self) -> tuple[Address, ...]:
        """Where the others may reach this peer."""
        return reach_of(self.hosts, self.door.port) if self.only_at is None else self.only_at

    # --- beginning and end ---

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        try:
            async with trio.open_nursery() as outer:
                await outer.start(self._serve)
                try:
                    yield
                finally:
                    with trio.CancelScope(shield=True):
                        await self.close()
                    self._nursery.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            # To the caller this is one context, not a nursery: one error comes out as itself.
            error: BaseException = group
            while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
                error = error.exceptions[0]
            raise error from None

    async def _serve(self, *, task_status: trio.TaskStatus[None]) -> None:
        """Where all tasks live.  A cancellation from outside (Ctrl-C) reaches them when goodbye has been said."""
        async with trio.open_nursery() as nursery:
            nursery.cancel_scope.shield = True
            self._nursery = nursery
            # The first deal finds the points of two packs derived, so it does not hold up the loop.
            nursery.start_soon(trio.to_thread.run_sync, prepare, TWO_PACKS)
            task_status.started()
            await trio.sleep_forever()

    async def listen(
        self,
        bind: str | None,
        port: int,
        advertise: Sequence[str] = (),
        *,
        only_at: Sequence[Address] | None = None,
        or_any_port: bool = False,
    ) -> None:
        """Open the door.  ``only_at``: what the others are told instead of where it is.  Raises CannotListen."""
        try:
            listeners, port = await self.network.listen(bind, port)
        except CannotListen:
            if not or_any_port:
                raise
            listeners, port = await self.network.listen(bind, 0)
        self.hosts = list(dict.fromkeys((*self.network.own_hosts(bind), *advertise)))[:MAX_ADDRESSES]
        self.only_at = None if only_at is None else tuple(only_at)[:MAX_ADDRESSES]
        self.door.port = port
        self.door.told_port = port if only_at is None else 0
        self._nursery.start_soon(self.door.serve, listeners)

    async def close(self) -> None:
        """Say goodbye on every link, after what is queued has gone out.

        From a game that is over one leaves when the others have its last signatures too, or do not answer.
        """
        if self._driver is not None and self._driver.session.over:
            with trio.move_on_after(SETTLE_SECONDS):
                await self._driver.until_settled()
        for way_in in (self.joining, self.watching):
            if way_in is not None and way_in.connection is not None:
                way_in.connection.close(Code.LEAVING, "leaving the table")
        with trio.move_on_after(FAREWELL_SECONDS + 0.5):
            if self.hosting is not None:
                self.hosting.close_all(Code.LEAVING, "the host has closed the table")
            await self._part("leaving the table")
            if self.hosting is not None:
                await self.hosting.until_empty()

    async def _part(self, reason: str) -> None:
        if self._gallery is not None:
            self._gallery.close_all(Code.LEAVING, reason)
        if self._mesh is not None:
            self._mesh.close_all(Code.LEAVING, reason)
            await self._mesh.until_quiet()

    # --- the lobby ---

    def open_lobby(self, hosting: Hosting, lobby_id: bytes) -> None:
        """Let guests in."""
        self.hosting, self.lobby_id, self.roster = hosting, lobby_id, hosting.roster
        self.door.routes[Purpose.LOBBY, lobby_id] = hosting.welcome

    async def join(self, joining: Joining) -> None:
        """Returns when the host has given a seat.  Raises CannotJoin."""
        self.joining = joining

        async def run(task_status: trio.TaskStatus[None]) -> None:
            try:
                await joining.run(task_status)
            except CannotJoin as error:
                if not joining.seated:
                    raise
                self.say(Halted(reason=error.reason, message=str(error)))

        await self._nursery.start(run)

    def hear(self, output: lobby.Output) -> None:
        """What the lobby tells."""
        if isinstance(output, lobby.RosterChanged):
            self.roster = output.roster
            self.door.routes.pop((Purpose.SEAT, self._proposed), None)
        elif isinstance(output, lobby.Proposed):
            self._proposed = output.agreement.table
            self.door.routes[Purpose.SEAT, self._proposed] = self._welcome_early
        if isinstance(output, lobby.RosterChanged | lobby.Proposed):
            self.say(output)
        elif isinstance(output, lobby.Started):
            self._nursery.start_soon(self._begin, output)

    async def _welcome_early(self, connection: Connection, admit: Admit) -> None:
        """A seat that heard START before us and dials already: it waits until our files are open."""
        with trio.move_on_after(HANDSHAKE_SECONDS):
            await self._seated.wait()
        if self._mesh is not None:
            await self._mesh.welcome(connection, admit)
        else:
            await connection.refuse(Code.UNKNOWN_TABLE, "the table has not started here")

    async def _begin(self, started: lobby.Started) -> None:
        """A new table: its directory first, then play."""

        def prepare_files() -> TableHome:
            files = self.home.new_table(started.agreement)
            files.save_addresses(started.addresses, self.door.port)
            for seat in started.agreement.seats:
                if seat.key != self.home.identity.public_key:
                    self.home.friends.remember(seat.key, seat.name)
            return files

        try:
            files = await trio.to_thread.run_sync(prepare_files)
        except DiskFailed as error:
            self.say(Halted(reason=error.code, message=str(error)))
            return
        await self._play(files, started.addresses)

    # --- a seat ---

    def resume(self, files: TableHome, book: lobby.AddressBook) -> None:
        """Take up a table where its files left it."""
        self._files = files
        self._nursery.start_soon(self._play, files, book)

    async def _play(self, files: TableHome, book: lobby.AddressBook) -> None:
        """Open the files, begin (or take up) the session, and keep it going until cancelled or halted."""
        agreement, own = files.agreement, self.home.identity.public_key
        try:
            disk = await trio.to_thread.run_sync(Disk, files)
        except DiskFailed as error:
            self.say(Halted(reason=error.code, message=str(error)))
            return
        try:
            self._files = files
            others = {
                seat.key: book[number] for number, seat in enumerate(agreement.seats) if seat.key != own
            }
            mesh = Mesh(
                self.network,
                self.home.identity,
                agreement.table,
                others,
                self,
                self.numbers,
                self.door.told_port,
            )
            gallery = Gallery(agreement, self)
            self._mesh, self._gallery = mesh, gallery
            try:
                self._driver = self._new_driver(self.home.identity, disk)
            except (ProtocolError, Refused) as error:
                self.say(Halted(reason=error.code, message=f"this table cannot be taken up: {error}"))
                return
            self._seated.set()
            self._say_started(files.agreement, book)
            routes: dict[tuple[Purpose, bytes], Route] = {(Purpose.SEAT, agreement.table): mesh.welcome}
            if agreement.spectators:
                routes[Purpose.WATCH, agreement.table[:TABLE_BYTES]] = gallery.welcome
                if self.lobby_id:
                    routes[Purpose.WATCH, self.lobby_id] = gallery.welcome
            async with trio.open_nursery() as nursery:
                self.door.routes |= routes
                nursery.start_soon(mesh.run)
                nursery.start_soon(self._remember_addresses, mesh)
                await self._driver.run()
                # Halted.  The links end, so that the others know at once that nothing more comes from here.
                for route in routes:
                    del self.door.routes[route]
                await self._part("this peer has halted")
                nursery.cancel_scope.cancel()
        finally:
            disk.close()

    def _new_driver(self, identity: Identity | None, disk: Disk) -> Driver:
        driver = Driver(
            identity,
            disk.table.agreement,
            self.make_game,
            disk,
            self,
            self.say,
            records=disk.journal.records,
            secrets=disk.secrets,
            doubt=bool(disk.doubt),
        )
        disk.journal.records = ()  # they are taken in, and of a long game they are many megabytes
        return driver

    async def _remember_addresses(self, mesh: Mesh) -> None:
        """Keep what a resume needs to find the others."""
        own = self.home.identity.public_key
        while True:
            await self._moved.wait()
            self._moved = trio.Event()
            book = tuple(() if key == own else mesh.addresses(key) for key in self.files.agreement.keys)
            # A disk that fails here will fail the journal too, and there it counts.
            with contextlib.suppress(DiskFailed):
                await trio.to_thread.run_sync(self.files.save_addresses, book, self.door.port)

    # --- a spectator ---

    async def watch(self, watching: Watching) -> None:
        """Returns when the table is shown.  Raises CannotJoin."""
        self.watching = watching
        await self._nursery.start(watching.run)

    async def begin_watching(self, agreement: Agreement) -> None:
        """No seat and no mesh, but the same session and files.  Raises DiskFailed."""
        files = await trio.to_thread.run_sync(lambda: self.home.new_table(agreement, watching=True))
        disk = await trio.to_thread.run_sync(Disk, files)
        self._files = files
        self._driver = driver = self._new_driver(None, disk)
        self._say_started(agreement, tuple(() for _ in agreement.seats))

        async def run() -> None:
            try:
                await driver.run()
            finally:
                disk.close()

        self._nursery.start_soon(run)

    # --- news for the face ---

    def say(self, event: TableEvent) -> None:
        # A face that has stopped listening does not stop the table for the others.
        with contextlib.suppress(trio.BrokenResourceError):
            self.tell.send_nowait(event)

    def _say_started(self, agreement: Agreement, book: lobby.AddressBook) -> None:
        """From here on the face can read the session."""
        self.say(lobby.Started(agreement=agreement, addresses=book))

    # --- where the session's messages go (driver.Links) ---

    def send(self, number: int, payload: bytes) -> None:
        for links in (self._mesh, self._gallery, self.watching):
            if links is not None:
                links.send(number, payload)

    def close_link(self, number: int, code: str, reason: str) -> None:
        for links in (self._mesh, self._gallery, self.watching):
            if links is not None:
                links.close(number, code, reason)

    # --- what links tell (mesh.Owner) ---

    def link_up(self, number: int, key: bytes) -> None:
        self.driver.link_up(number, key)
        self._moved.set()

    def link_down(self, number: int, key: bytes) -> None:
        self.driver.link_down(number)

    async def received(self, number: int, payload: bytes) -> None:
        await self.driver.received(number, payload)

    def unreachable(self, key: bytes, reason: str) -> None:
        seat = self.files.agreement.seat_of(key)
        if seat is not None:
            self.say(Unreachable(seat=seat, reason=reason))
