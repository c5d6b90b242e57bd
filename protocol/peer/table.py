"""A seat at a table, from the ticket to the last signature: the object that faces and bots hold.

    async with host_table(home, offer, make_game, name="Ann") as table:      # table.ticket is for the friends
    async with join_table(home, ticket, make_game, name="Bo") as table:      # entered when seated in the lobby
    async with resume_table(home, None, make_game) as table:                 # the latest unfinished table
    async with watch_table(home, ticket, make_game) as table:                # a spectator
        async for event in table.events: ...

``table.events`` gives lobby events (:class:`~protocol.lobby.RosterChanged`, Proposed, Started), then the
session's (:mod:`protocol.events`) and :class:`~protocol.peer.life.Unreachable`.  Until Started the table has no session:
what a face reads then raises LocalProtocolError.  Leaving the context says goodbye on every link and leaves
files that resume and verify.  What ends a table against one's will comes as a Halted event; nothing follows it.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from protocol import lobby
from protocol.agreement import NONCE_BYTES, Agreement, claim
from protocol.discovery import Beacon
from protocol.errors import LocalProtocolError
from protocol.game import Card, Game, Slot
from protocol.peer.gallery import Watching
from protocol.peer.home import Home
from protocol.peer.hosting import Hosting
from protocol.peer.joining import Joining
from protocol.peer.life import Life, MakeGame, TableEvent
from protocol.peer.tcp import Network, TcpNetwork
from protocol.session import Session
from protocol.ticket import TABLE_BYTES, Address, BadTicket, Ticket, ticket_fingerprint


class Table:
    """One seat.  Made by the functions below only."""

    def __init__(self, life: Life) -> None:
        self._life = life

    @property
    def home(self) -> Home:
        return self._life.home

    @property
    def events(self) -> trio.MemoryReceiveChannel[TableEvent]:
        """What happens, in order.  For one reader."""
        return self._life.events

    # --- before the start ---

    @property
    def ticket(self) -> Ticket:
        """What a friend needs: to join the open lobby of a host; once the table has started, to watch.

        Raises LocalProtocolError where there is none: for a guest before the start, and for a spectator.
        """
        table = self._life.lobby_id or self.agreement.table[:TABLE_BYTES]
        if not self._life.hosts:
            raise LocalProtocolError("a spectator has no ticket to give; pass on the one that you came with")
        if not self.addresses:
            raise LocalProtocolError(
                "this peer has told nobody where it can be reached, so it has no ticket to give"
            )
        key = self.home.identity.public_key
        return Ticket(table=table, fingerprint=ticket_fingerprint(key), addresses=self.addresses)

    @property
    def addresses(self) -> tuple[Address, ...]:
        """Where the others may reach this peer."""
        return self._life.addresses

    @property
    def roster(self) -> lobby.Roster | None:
        """Who sits in the lobby."""
        return self._life.roster

    @property
    def beacon(self) -> Beacon | None:
        """What to announce on the local network; None unless this is a host with an open lobby."""
        roster = self._life.roster
        if self._life.hosting is None or roster is None or self.started:
            return None
        return Beacon(
            table=self._life.lobby_id,
            fingerprint=ticket_fingerprint(self.home.identity.public_key),
            port=self._life.door.port,
            name=roster.claims[0].name,
            game=roster.offer.game,
            seats=roster.offer.seats,
            free=max(0, roster.free),
        )

    def close_seats(self) -> None:
        """Host only: play with those who are here.  Raises LocalProtocolError if that cannot be."""
        if self._life.hosting is None:
            raise LocalProtocolError("only the host of an open lobby closes its seats")
        self._life.hosting.close_seats()

    # --- what a face reads ---

    @property
    def started(self) -> bool:
        return self._life.started

    @property
    def session(self) -> Session:
        """The session, for reading.  Raises LocalProtocolError before the table has started."""
        return self._life.driver.session

    @property
    def agreement(self) -> Agreement:
        return self._life.files.agreement

    @property
    def log_path(self) -> Path:
        """The public log, for ``verify`` and ``replay``."""
        return self._life.files.log_path

    @property
    def name(self) -> str:
        """What ``resume`` takes."""
        return self._life.files.name

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
        self._life.driver.move(text)

    def chat(self, text: str) -> None:
        """Raises LocalProtocolError if it is too long or too much."""
        self._life.driver.chat(text)

    def react(self, reaction: str) -> None:
        """Raises LocalProtocolError as :meth:`chat` does."""
        self._life.driver.react(reaction)

    async def close(self) -> None:
        """Say goodbye on every link, after what is queued has gone out.  Leaving the context does it too."""
        await self._life.close()


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
    only_at: Sequence[Address] | None = None,
    network: Network | None = None,
) -> AsyncIterator[Table]:
    """Open a table; it starts when all seats of ``offer`` are taken.

    ``bind``: the address to listen at (None: all of them), ``port`` 0: any free one.  ``advertise``: further
    hosts for the ticket, such as the outside of a router.  ``only_at``: the others are told of these addresses and no
    other, such as that of a proxy, and none is learned from the links that come from here.  ``bot``: the level of the
    program that plays this seat.  Raises CannotListen.
    """
    life = Life(home, network or TcpNetwork(), make_game)
    own = claim(home.identity, name, os.urandom(NONCE_BYTES), bot=bot)
    async with life.running():
        await life.listen(bind, port, advertise, only_at=only_at)
        life.open_lobby(Hosting(lobby.Host(offer, own, life.addresses), life.hear), os.urandom(TABLE_BYTES))
        yield Table(life)


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
    only_at: Sequence[Address] | None = None,
    network: Network | None = None,
    consent: Callable[[lobby.Offer], None] = lambda offer: None,
) -> AsyncIterator[Table]:
    """Sit down at the table of a ticket; entered when the host has given a seat.

    ``only_at`` as in :func:`host_table`; empty: nobody is told, and only this peer dials.  ``consent`` raises for an offer
    that this player will not play.  Raises CannotJoin, CannotListen.
    """
    life = Life(home, network or TcpNetwork(), make_game)
    async with life.running():
        await life.listen(bind, port, only_at=only_at)
        await life.join(
            Joining(
                network=life.network,
                identity=home.identity,
                ticket=ticket,
                claim=claim(home.identity, name, os.urandom(NONCE_BYTES), bot=bot),
                addresses=life.addresses,
                listening_port=life.door.told_port,
                numbers=life.numbers,
                tell=life.hear,
                consent=consent,
                rehearse=make_game,
            )
        )
        yield Table(life)


@asynccontextmanager
async def resume_table(
    home: Home,
    name: str | None,
    make_game: MakeGame,
    *,
    bind: str | None = None,
    port: int | None = None,
    only_at: Sequence[Address] | None = None,
    via: Sequence[Ticket] = (),
    network: Network | None = None,
) -> AsyncIterator[Table]:
    """Come back to a table of this home: ``name`` begins its id, None is the latest unfinished one.

    Listens on the port it had, if that is free, so that the others find it.  ``via``: tickets of others at the table,
    for when everybody's address has changed meanwhile (:attr:`Table.ticket` of any of them).  ``only_at`` as in
    :func:`join_table`.  Raises NoSuchTable, BadTicket, CannotListen.
    """
    files = home.table(name)
    known, old_port = files.load_addresses()
    for ticket in via:
        if not any(map(ticket.is_for, files.agreement.keys)):
            raise BadTicket("that ticket is of nobody who sits at this table; ask one of them for theirs")
    book = tuple(
        tuple(address for ticket in via if ticket.is_for(key) for address in ticket.addresses) + addresses
        for key, addresses in zip(files.agreement.keys, known, strict=True)
    )
    life = Life(home, network or TcpNetwork(), make_game)
    async with life.running():
        await life.listen(bind, old_port if port is None else port, only_at=only_at, or_any_port=port is None)
        life.resume(files, book)
        yield Table(life)


@asynccontextmanager
async def watch_table(
    home: Home, ticket: Ticket, make_game: MakeGame, *, network: Network | None = None
) -> AsyncIterator[Table]:
    """Watch a table by the ticket of any peer that sits there; ``me`` is None and only the public log is seen.

    Raises CannotJoin if that peer cannot be reached or shows nothing.
    """
    life = Life(home, network or TcpNetwork(), make_game)
    async with life.running():
        await life.watch(
            Watching(
                network=life.network,
                identity=home.identity,
                ticket=ticket,
                numbers=life.numbers,
                begin=life.begin_watching,
                owner=life,
            )
        )
        yield Table(life)
