"""The mesh: one link to each other seat, kept up for as long as the table lives.

Theory of operation
-------------------
Everybody dials everybody it has no link with, and again after a while if that fails; the seat with the smaller
key dials first, so two rarely dial each other.  When they do (W9, F14), or when a peer comes back while its old link
still looks alive (W3, F15), two authenticated links to one key exist for a moment, and both ends must keep the same
one.  So one end decides: the *leader* of a pair is the smaller key.  It says ADOPT on the link that it
keeps, which is always the newest, and closes the one before.  The follower uses a link from the moment it hears ADOPT.
Since only one end decides, there is nothing to agree on and no timing in which both links die.

=========  ==========================  ========================================================
side       what happens                what it does
=========  ==========================  ========================================================
leader     a link is authenticated     ADOPT on it; close the link before, if any, as replaced
follower   ADOPT                       use this link; close the one before
follower   no ADOPT in time            close the link and dial again
both       the link in use ends        tell the session; dial again, later each time it fails
=========  ==========================  ========================================================

A seat that cannot be dialled and cannot dial is reached through the others: the session relays.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import trio

from protocol.identity import Identity
from protocol.peer.connection import HANDSHAKE_SECONDS, Budget, Connection, LinkLost
from protocol.peer.door import Admit
from protocol.peer.tcp import Network
from protocol.ticket import Address
from protocol.wire import Code, Kind, Purpose

CONNECT_SECONDS: Final = 5.0
STAGGER_SECONDS: Final = 0.3
FOLLOWER_SECONDS: Final = 1.0
FIRST_PAUSE: Final = 0.25
LONGEST_PAUSE: Final = 8.0
TELL_AFTER: Final = 4
"""Failed attempts in a row after which the player is told why."""
STABLE_SECONDS: Final = 10.0
"""A link that lived this long was a good one: the next attempt comes at once."""
MAX_KNOWN: Final = 8


class Owner(Protocol):
    """Who is told what the mesh does.  ``number`` names a link, never the same one twice."""

    def link_up(self, number: int, key: bytes) -> None: ...
    def link_down(self, number: int, key: bytes) -> None: ...
    def unreachable(self, key: bytes, reason: str) -> None: ...
    async def received(self, number: int, payload: bytes) -> None:
        """Returns when the next message of this link may come."""


@dataclass(slots=True)
class _Neighbour:
    """One other seat.  ``changed`` is set, and replaced, when ``link`` changes."""

    key: bytes
    addresses: list[Address]
    knocks: Budget
    link: Connection | None = None
    since: float = 0.0
    changed: trio.Event = field(default_factory=trio.Event)
    failures: int = 0

    def put(self, link: Connection | None) -> None:
        self.link = link
        self.changed.set()
        self.changed = trio.Event()

    def learn(self, address: Address) -> None:
        """Somewhere it was reached, or says that it listens: tried first from now on (F6)."""
        if address in self.addresses:
            self.addresses.remove(address)
        self.addresses.insert(0, address)
        del self.addresses[MAX_KNOWN:]

    async def until(self, *, linked: bool) -> None:
        while (self.link is not None) is not linked:
            await self.changed.wait()


class Mesh:
    """The links of one seat at one table."""

    def __init__(
        self,
        network: Network,
        identity: Identity,
        table: bytes,
        addresses: Mapping[bytes, Sequence[Address]],
        owner: Owner,
        numbers: Iterator[int],
        listening_port: int,
    ) -> None:
        """``addresses``: the other seats' keys, and where each may be reached."""
        self._network = network
        self._identity = identity
        self._table = table
        self._owner = owner
        self._numbers = numbers
        self._listening_port = listening_port
        now = trio.current_time()
        self._neighbours = {
            key: _Neighbour(key, list(known), Budget.full(0.5, 8, now)) for key, known in addresses.items()
        }
        self._in_use: dict[int, Connection] = {}
        self._emptied = trio.Event()

    def addresses(self, key: bytes) -> tuple[Address, ...]:
        """Where this seat may be reached, the latest that worked first."""
        return tuple(self._neighbours[key].addresses)

    def send(self, number: int, payload: bytes) -> None:
        """Queue a session message; a link that is gone takes it silently."""
        if number in self._in_use:
            self._in_use[number].send(Kind.SESSION, payload)

    def close(self, number: int, code: str, reason: str) -> None:
        """End one link and say why."""
        if number in self._in_use:
            self._in_use[number].close(code, reason)

    def close_all(self, code: str, reason: str) -> None:
        """End every link, after what is queued has gone out."""
        for connection in tuple(self._in_use.values()):
            connection.close(code, reason)

    async def until_quiet(self) -> None:
        """Wait until no link is left."""
        while self._in_use:
            self._emptied = trio.Event()
            await self._emptied.wait()

    async def run(self) -> None:
        """Dial, and dial again, until cancelled."""
        async with trio.open_nursery() as nursery:
            for neighbour in self._neighbours.values():
                nursery.start_soon(self._keep, neighbour)

    async def welcome(self, connection: Connection, admit: Admit) -> None:
        """The route for seats that dial us."""
        neighbour = self._neighbours.get(connection.peer_key)
        if neighbour is None:
            await connection.refuse(Code.NOT_SEATED, "this key has no seat at the table")
            return
        if neighbour.knocks.spend(1, trio.current_time()) > 0:
            await connection.refuse(Code.BUSY, "too many new links in a short time")
            return
        if connection.listening_port and connection.remote_host:
            neighbour.learn(Address(host=connection.remote_host, port=connection.listening_port))
        admit()
        await self._live(neighbour, connection)

    # --- one link ---

    def _leads(self, neighbour: _Neighbour) -> bool:
        return self._identity.public_key < neighbour.key

    async def _live(self, neighbour: _Neighbour, connection: Connection) -> LinkLost | None:
        """Run an authenticated link to its end; returns why it ended, None if it was never adopted."""
        patience = trio.CancelScope(deadline=trio.current_time() + HANDSHAKE_SECONDS)
        lost: LinkLost | None = None

        async def deliver(kind: Kind, payload: bytes) -> None:
            if kind is Kind.ADOPT and not self._leads(neighbour) and neighbour.link is not connection:
                patience.deadline = math.inf
                self._adopt(neighbour, connection)
            elif kind is Kind.SESSION and connection.number in self._in_use:
                await self._owner.received(connection.number, payload)
            else:
                connection.close(Code.PROTOCOL, f"{kind.name} is not expected here")

        try:
            if self._leads(neighbour):
                patience.deadline = math.inf
                self._adopt(neighbour, connection)
                connection.send(Kind.ADOPT, b"")
            with patience:
                lost = await connection.run(deliver)
        finally:
            self._retire(neighbour, connection)
        return lost

    def _adopt(self, neighbour: _Neighbour, connection: Connection) -> None:
        before = neighbour.link
        if before is not None:
            self._retire(neighbour, before)
            before.close(Code.REPLACED, "a newer link to the same peer is used instead")
        neighbour.since = trio.current_time()
        self._in_use[connection.number] = connection
        neighbour.put(connection)
        self._owner.link_up(connection.number, neighbour.key)

    def _retire(self, neighbour: _Neighbour, connection: Connection) -> None:
        if self._in_use.pop(connection.number, None) is not None:
            self._emptied.set()
            neighbour.put(None)
            if trio.current_time() - neighbour.since >= STABLE_SECONDS:
                neighbour.failures = 0
            self._owner.link_down(connection.number, neighbour.key)

    # --- dialling ---

    async def _keep(self, neighbour: _Neighbour) -> None:
        while True:
            await neighbour.until(linked=False)
            pause = FIRST_PAUSE * 2 ** min(neighbour.failures, 10)
            if not neighbour.failures:
                pause = 0.0 if self._leads(neighbour) else FOLLOWER_SECONDS
            with trio.move_on_after(min(pause, LONGEST_PAUSE) * random.uniform(0.75, 1.25)):
                await neighbour.until(linked=True)
                continue
            try:
                connection = await call(
                    self._network,
                    self._identity,
                    neighbour.addresses,
                    table=self._table,
                    purpose=Purpose.SEAT,
                    expects=neighbour.key.__eq__,
                    listening_port=self._listening_port,
                    numbers=self._numbers,
                )
            except LinkLost as lost:
                self._failed(neighbour, str(lost))
                continue
            # Counts as failed until it has proved stable, so that a peer that hangs up is not dialled in a spin.
            neighbour.failures += 1
            await self._live(neighbour, connection)

    def _failed(self, neighbour: _Neighbour, reason: str) -> None:
        neighbour.failures += 1
        if neighbour.failures == TELL_AFTER and neighbour.link is None:
            self._owner.unreachable(neighbour.key, reason)


# --- reaching somebody ---------------------------------------------------------------------------------


async def call(
    network: Network,
    identity: Identity,
    addresses: Sequence[Address],
    *,
    table: bytes,
    purpose: Purpose,
    expects: Callable[[bytes], bool],
    listening_port: int,
    numbers: Iterator[int],
) -> Connection:
    """An authenticated connection to a key that ``expects`` knows, by whichever address leads there.

    Raises LinkLost: the right peer's own refusal, or what went wrong at each address.
    """
    left = list(dict.fromkeys(addresses))
    troubles: list[LinkLost] = [] if left else [LinkLost("unreachable", "no address is known")]
    while left:
        reached = await _connect(network, left, troubles)
        if reached is None:
            break
        address, stream = reached
        left.remove(address)
        connection = Connection.dialed(
            next(numbers), stream, identity, table=table, purpose=purpose, listening_port=listening_port
        )
        try:
            await connection.handshake()
            lost = None
        except LinkLost as error:
            lost = error
            await connection.farewell()
        except BaseException:
            await trio.aclose_forcefully(stream)
            raise
        if connection.peer_key and not expects(connection.peer_key):
            await connection.refuse(Code.WRONG_KEY, "another peer was expected at this address")
            lost = LinkLost(Code.WRONG_KEY, "another peer answers there")
        elif connection.peer_key and lost is not None:
            raise lost
        elif lost is None:
            return connection
        troubles.append(LinkLost(lost.reason, f"{address}: {lost}"))
    if len(troubles) == 1:
        raise troubles[0]
    raise LinkLost("unreachable", "; ".join(map(str, troubles)))


async def _connect(
    network: Network, addresses: Sequence[Address], troubles: list[LinkLost]
) -> tuple[Address, trio.abc.Stream] | None:
    """The first address that answers; each is tried a little after the one before, without waiting for it to fail.

    What fails is added to ``troubles``; None if all did.
    """
    winner: list[tuple[Address, trio.abc.Stream]] = []

    async def attempt(address: Address, place: int) -> None:
        await trio.sleep(place * STAGGER_SECONDS)
        try:
            with trio.fail_after(CONNECT_SECONDS):
                stream = await network.dial(address)
        except trio.TooSlowError:
            troubles.append(
                LinkLost(
                    "unreachable",
                    f"{address}: no answer (a wrong address, or a firewall that swallows the call)",
                )
            )
        except OSError as error:
            troubles.append(LinkLost("unreachable", f"{address}: {_reason(error)}"))
        else:
            if winner:
                await trio.aclose_forcefully(stream)
            else:
                winner.append((address, stream))
                nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        for place, address in enumerate(addresses):
            nursery.start_soon(attempt, address, place)
    return winner[0] if winner else None


def _reason(error: OSError) -> str:
    cause: BaseException = error
    while not getattr(cause, "strerror", None) and cause.__cause__ is not None:
        cause = cause.__cause__
    if isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    if isinstance(cause, ConnectionRefusedError):
        return "refused (nobody listens there)"
    return str(getattr(cause, "strerror", None) or cause)
