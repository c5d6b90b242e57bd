"""A seat at a table, from the ticket to the last signature: the object that faces and bots hold.

    async with host_table(home, offer, make_game, name="Ann") as table:      # table.ticket is for the friends
    async with join_table(home, ticket, make_game, name="Bo") as table:      # returns when seated in the lobby
    async with resume_table(home, None, make_game) as table:                 # the latest unfinished table
        async for event in table.events: ...

``table.events`` gives lobby events (:class:`~protocol.lobby.RosterChanged`, Proposed, Started), then the
session's (:mod:`protocol.events`) and :class:`Unreachable`.  Until Started the table has no session: what a
face reads then raises LocalProtocolError.  Leaving the context says goodbye on every link and leaves files
that resume and verify.  What ends a table against one's will comes as a Halted event, after which nothing follows.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import trio

from protocol import lobby
from protocol.agreement import NONCE_BYTES, Agreement, claim
from protocol.deck import TWO_PACKS, prepare
from protocol.errors import LocalProtocolError
from protocol.events import Event, GameOver, Halted
from protocol.game import Card, Game, Slot
from protocol.journal import DiskFailed
from protocol.peer.connection import FAREWELL_SECONDS
from protocol.peer.disk import Disk
from protocol.peer.door import Door
from protocol.peer.driver import Driver
from protocol.peer.home import Home, TableHome
from protocol.peer.hosting import Hosting
from protocol.peer.joining import CannotJoin, Joining
from protocol.peer.mesh import Mesh
from protocol.peer.tcp import CannotListen, Network, TcpNetwork, reach_of
from protocol.session import Session
from protocol.ticket import MAX_ADDRESSES, TABLE_BYTES, Address, Ticket, ticket_fingerprint
from protocol.wire import Code, Purpose

MakeGame = Callable[[Agreement], Game]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreachable:
    """This seat could not be dialled.  It may still dial us, or be reached through the others."""

    seat: int
    reason: str


TableEvent = Event | lobby.RosterChanged | lobby.Proposed | lobby.Started | Unreachable


class Table:
    """One seat.  Made by host_table, join_table and resume_table only."""

    def __init__(self, home: Home, network: Network, make_game: MakeGame, lobby_id: bytes) -> None:
        self.home = home
        self.events: trio.MemoryReceiveChannel[TableEvent]
        self._tell, self.events = trio.open_memory_channel[TableEvent](math.inf)
        self._network = network
        self._make_game = make_game
        self._lobby_id = lobby_id
        self._numbers = itertools.count(1)
        self._door: Door
        self._hosts: list[str] = []
        self._nursery: trio.Nursery
        self._hosting: Hosting | None = None
        self._joining: Joining | None = None
        self._roster: lobby.Roster | None = None
        self._files: TableHome | None = None
        self._driver: Driver | None = None
        self._mesh: Mesh | None = None
        self._moved = trio.Event()

    # --- what a face reads ---

    @property
    def ticket(self) -> Ticket:
        """What a friend needs: to join the open lobby of a host; afterwards, to watch."""
        table = self._lobby_id or (self._files.agreement.table[:TABLE_BYTES] if self._files else b"")
        return Ticket(
            table=table,
            fingerprint=ticket_fingerprint(self.home.identity.public_key),
            addresses=self.addresses,
        )

    @property
    def addresses(self) -> tuple[Address, ...]:
        """Where this peer listens."""
        return reach_of(self._hosts, self._door.port)

    @property
    def roster(self) -> lobby.Roster | None:
        """Who sits in the lobby."""
        return self._roster

    @property
    def started(self) -> bool:
        return self._driver is not None

    @property
    def agreement(self) -> Agreement:
        return self._file().agreement

    @property
    def session(self) -> Session:
        """The session, for reading.  Raises LocalProtocolError before the table has started."""
        return self._drive().session

    @property
    def log_path(self) -> Path:
        """The public log, for ``verify`` and ``replay``."""
        return self._file().log_path

    @property
    def name(self) -> str:
        """What ``resume`` takes."""
        return self._file().name

    @property
    def me(self) -> int | None:
        return self.session.me

    @property
    def game(self) -> Game:
        return self.session.game

    @property
    def faces(self) -> Mapping[Slot, Card]:
        return self.session.faces

    @property
    def seats(self) -> tuple[int, ...]:
        return self.session.seats

    @property
    def waiting_for(self) -> tuple[int, ...]:
        return self.session.waiting_for

    @property
    def words(self) -> str:
        return self.session.words

    @property
    def head(self) -> bytes:
        return self.session.head

    @property
    def step(self) -> int:
        return self.session.step

    @property
    def over(self) -> bool:
        return self.session.over

    def legal_moves(self) -> list[str]:
        return self.session.legal_moves()

    # --- what a face does ---

    def move(self, text: str) -> None:
        """Raises Refused (the game says no) or LocalProtocolError (nothing is asked); nothing is changed then."""
        self._drive().move(text)

    def chat(self, text: str) -> None:
        """Raises LocalProtocolError if it is too long or too much."""
        self._drive().chat(text)

    def react(self, reaction: str) -> None:
        """Raises LocalProtocolError as :meth:`chat` does."""
        self._drive().react(reaction)

    def close_seats(self) -> None:
        """Host only: play with those who are here.  Raises LocalProtocolError if that cannot be."""
        if self._hosting is None:
            raise LocalProtocolError("only the host of an open lobby closes its seats")
        self._hosting.close_seats()

    async def close(self) -> None:
        """Say goodbye on every link, after what is queued has gone out.  Nothing is sent afterwards."""
        if self._joining is not None and self._joining.connection is not None:
            self._joining.connection.close(Code.LEAVING, "leaving the table")
        with trio.move_on_after(2 * FAREWELL_SECONDS):
            if self._hosting is not None:
                self._hosting.close_all(Code.LEAVING, "the host has closed the table")
                await self._hosting.until_empty()
            if self._mesh is not None:
                self._mesh.close_all(Code.LEAVING, "leaving the table")
                await self._mesh.until_quiet()

    # --- life ---

    def _file(self) -> TableHome:
        if self._files is None:
            raise LocalProtocolError("the table has not started yet")
        return self._files

    def _drive(self) -> Driver:
        if self._driver is None:
            raise LocalProtocolError("the table has not started yet")
        return self._driver

    def _say(self, event: TableEvent) -> None:
        # A face that has stopped listening does not stop the table for the others.
        with contextlib.suppress(trio.BrokenResourceError):
            self._tell.send_nowait(event)

    @asynccontextmanager
    async def _open(
        self, bind: str | None, port: int, advertise: Sequence[str] = (), *, or_any_port: bool = False
    ) -> AsyncIterator[None]:
        try:
            listeners, port = await self._network.listen(bind, port)
        except CannotListen:
            if not or_any_port:
                raise
            listeners, port = await self._network.listen(bind, 0)
        self._hosts = list(dict.fromkeys((*self._network.own_hosts(bind), *advertise)))[:MAX_ADDRESSES]
        self._door = Door(self.home.identity, self._numbers, port)
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                nursery.start_soon(self._door.serve, listeners)
                # The first deal finds the points of two packs derived, so it does not hold up the loop.
                nursery.start_soon(trio.to_thread.run_sync, prepare, TWO_PACKS)
                try:
                    yield
                finally:
                    with trio.CancelScope(shield=True):
                        await self.close()
                    nursery.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            # To the caller this is one context, not a nursery: one error comes out as itself.
            error: BaseException = group
            while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
                error = error.exceptions[0]
            raise error from None

    async def _join(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        assert self._joining is not None
        try:
            await self._joining.run(task_status)
        except CannotJoin as error:
            if not self._joining.seated:
                raise
            self._say(Halted(reason=error.reason, message=str(error)))

    def _hear(self, output: lobby.Output) -> None:
        """What the lobby tells."""
        if isinstance(output, lobby.RosterChanged):
            self._roster = output.roster
        if isinstance(output, lobby.RosterChanged | lobby.Proposed | lobby.Started):
            self._say(output)
        if isinstance(output, lobby.Started):
            self._nursery.start_soon(self._begin, output)

    async def _begin(self, started: lobby.Started) -> None:
        """A new table: its directory first, then play."""

        def prepare() -> TableHome:
            files = self.home.new_table(started.agreement)
            files.save_addresses(started.addresses, self._door.port)
            for seat in started.agreement.seats:
                if seat.key != self.home.identity.public_key:
                    self.home.friends.remember(seat.key, seat.name)
            return files

        try:
            files = await trio.to_thread.run_sync(prepare)
        except DiskFailed as error:
            self._say(Halted(reason=error.code, message=str(error)))
            return
        await self._play(files, started.addresses)

    async def _play(self, files: TableHome, book: lobby.AddressBook) -> None:
        """Open the files, begin (or take up) the session, and keep it going until cancelled or halted."""
        agreement = files.agreement
        try:
            disk = await trio.to_thread.run_sync(Disk, files)
        except DiskFailed as error:
            self._say(Halted(reason=error.code, message=str(error)))
            return
        try:
            self._files = files
            own = self.home.identity.public_key
            self._mesh = Mesh(
                self._network,
                self.home.identity,
                agreement.table,
                {seat.key: book[number] for number, seat in enumerate(agreement.seats) if seat.key != own},
                self,
                self._numbers,
                self._door.port,
            )
            self._driver = Driver(
                self.home.identity,
                agreement,
                self._make_game,
                disk,
                self._mesh,
                self._told,
                records=disk.journal.records,
                secrets=disk.secrets,
            )
            self._door.routes[Purpose.SEAT, agreement.table] = self._mesh.welcome
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._mesh.run)
                nursery.start_soon(self._remember_addresses)
                await self._driver.run()
                # Halted.  The links end, so that the others know at once that nothing more comes from here.
                del self._door.routes[Purpose.SEAT, agreement.table]
                self._mesh.close_all(Code.LEAVING, "this peer has halted")
                await self._mesh.until_quiet()
                nursery.cancel_scope.cancel()
        finally:
            disk.close()

    def _told(self, event: Event) -> None:
        if isinstance(event, GameOver):
            # If the disk fails here, a resume finds the table again and that it is over: no harm.
            with contextlib.suppress(DiskFailed):
                self._file().mark_over()
        self._say(event)

    async def _remember_addresses(self) -> None:
        """Keep what a resume needs to find the others."""
        while True:
            await self._moved.wait()
            self._moved = trio.Event()
            assert self._mesh is not None
            own = self.home.identity.public_key
            book = tuple(
                () if seat.key == own else self._mesh.addresses(seat.key) for seat in self.agreement.seats
            )
            # A disk that fails here will fail the journal too, and there it counts.
            with contextlib.suppress(DiskFailed):
                await trio.to_thread.run_sync(self._file().save_addresses, book, self._door.port)

    # --- what the mesh tells (mesh.Owner) ---

    def link_up(self, number: int, key: bytes) -> None:
        self._drive().link_up(number, key)
        self._moved.set()

    def link_down(self, number: int, key: bytes) -> None:
        self._drive().link_down(number)

    async def received(self, number: int, payload: bytes) -> None:
        await self._drive().received(number, payload)

    def unreachable(self, key: bytes, reason: str) -> None:
        seat = self.agreement.seat_of(key)
        if seat is not None:
            self._say(Unreachable(seat=seat, reason=reason))


# --- sitting down --------------------------------------------------------------------------------------


@asynccontextmanager
async def host_table(
    home: Home,
    offer: lobby.Offer,
    make_game: MakeGame,
    *,
    name: str,
    bot: str = "",
    bind: str | None = None,
    port: int = 0,
    advertise: Sequence[str] = (),
    network: Network | None = None,
) -> AsyncIterator[Table]:
    """Open a table; it starts when all seats of ``offer`` are taken.

    ``bind``: the address to listen at (None: all of them), ``port`` 0: any free one.  ``advertise``: further
    hosts for the ticket, such as the outside of a router.  ``bot``: the level of the program that plays this
    seat.  Raises CannotListen.
    """
    table = Table(home, network or TcpNetwork(), make_game, os.urandom(TABLE_BYTES))
    own = claim(home.identity, name, os.urandom(NONCE_BYTES), bot=bot)
    async with table._open(bind, port, advertise):
        hosting = Hosting(lobby.Host(offer, own, table.addresses), table._hear)
        table._hosting = hosting
        table._roster = hosting.roster
        table._door.routes[Purpose.LOBBY, table._lobby_id] = hosting.welcome
        yield table


@asynccontextmanager
async def join_table(
    home: Home,
    ticket: Ticket,
    make_game: MakeGame,
    *,
    name: str,
    bot: str = "",
    bind: str | None = None,
    port: int = 0,
    network: Network | None = None,
    consent: Callable[[lobby.Offer], None] = lambda offer: None,
) -> AsyncIterator[Table]:
    """Sit down at the table of a ticket; entered when the host has given a seat.

    ``consent`` raises for an offer that this player will not play.  Raises CannotJoin, CannotListen.
    """
    table = Table(home, network or TcpNetwork(), make_game, b"")
    async with table._open(bind, port):
        joining = Joining(
            network=table._network,
            identity=home.identity,
            ticket=ticket,
            claim=claim(home.identity, name, os.urandom(NONCE_BYTES), bot=bot),
            addresses=table.addresses,
            listening_port=table._door.port,
            numbers=table._numbers,
            tell=table._hear,
            consent=consent,
            rehearse=make_game,
        )
        table._joining = joining
        await table._nursery.start(table._join)
        yield table


@asynccontextmanager
async def resume_table(
    home: Home,
    name: str | None,
    make_game: MakeGame,
    *,
    bind: str | None = None,
    port: int | None = None,
    network: Network | None = None,
) -> AsyncIterator[Table]:
    """Come back to a table of this home: ``name`` begins its id, None is the latest unfinished one.

    Listens on the port it had, if that is free, so that the others find it.  Raises NoSuchTable, DiskFailed.
    """
    files = home.table(name)
    book, old_port = files.load_addresses()
    table = Table(home, network or TcpNetwork(), make_game, b"")
    async with table._open(bind, old_port if port is None else port, or_any_port=port is None):
        table._files = files
        table._nursery.start_soon(table._play, files, book)
        yield table
