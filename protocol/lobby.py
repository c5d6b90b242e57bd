"""The lobby: how seats fill and how everybody comes to hold one agreement, sans-IO.

Theory of operation
-------------------
The host only collects.  A guest sends JOIN with its claim (key, name, salt and nonce commitment); the host shows
everybody the ROSTER: the offer (game, options, times) and who sits where.  When all seats are taken the host
PROPOSEs the agreement that follows from the roster.  A guest that finds its own claim in it unchanged, and
nothing in it that the roster did not show, ACCEPTs; when all have accepted, the host says START and each
peer begins its session, whose first step carries the signatures.  From then on the host is a seat like any other.

What a lying host can do here is to waste time: it may show different rosters to different guests, but then
their agreements, table ids and the words made from them differ, and no first step ever closes.

Between ACCEPT and START a guest has signed nothing, so a lobby that dies leaves no obligation.  A guest that lost
its link comes again with the same claim and takes its old place, even after START.

The host's transitions:

=========  ==================================  ========================================  =========
state      what happens                        output                                    state
=========  ==================================  ========================================  =========
FILLING    JOIN, seats left                    ROSTER to all                             FILLING
FILLING    JOIN for the last seat              ROSTER, PROPOSE to all                    PROPOSED
FILLING    close_seats, two or more there      ROSTER, PROPOSE to all                    PROPOSED
FILLING    a guest leaves                      ROSTER to all                             FILLING
PROPOSED   the last ACCEPT                     START to all, Started                     STARTED
PROPOSED   a guest leaves                      ROSTER to all: the proposal is void       FILLING
STARTED    JOIN with a claim of the agreement  PROPOSE                                   STARTED
STARTED    ACCEPT                              START                                     STARTED
any        JOIN that cannot be                 Refuse with the reason                    same
=========  ==================================  ========================================  =========

A guest's:

=========  ==================================  ========================================  =========
JOINING    ROSTER                              RosterChanged                             SEATED
SEATED     ROSTER                              RosterChanged                             SEATED
SEATED     PROPOSE that fits                   ACCEPT, Proposed                          ACCEPTED
ACCEPTED   ROSTER                              RosterChanged: the proposal is void       SEATED
ACCEPTED   START                               Started                                   STARTED
any        anything else                       RemoteProtocolError                       same
=========  ==================================  ========================================  =========

Messages are canonical arrays: ``[0, claim, addresses]`` JOIN, ``[1, offer, claims]`` ROSTER, ``[2, agreement,
addresses of each seat]`` PROPOSE, ``[3, table id]`` ACCEPT, ``[4, table id]`` START.  A spectator is sent one message,
``[5, agreement]`` SHOW, before the session's.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum, IntEnum
from typing import Any, Final

from protocol.agreement import (
    MAX_NAME,
    MAX_OPTION,
    MAX_SEATS,
    MIN_SEATS,
    Agreement,
    SeatClaim,
    claim_from_value,
    printable,
)
from protocol.canonical import Limits, array, boolean, decode, encode, integer, octets, text
from protocol.errors import EncodingError, LocalProtocolError, ProtocolError, RemoteProtocolError
from protocol.ticket import Address
from protocol.wire import Code

MAX_MESSAGE: Final = 1 << 15
MAX_ADDRESSES: Final = 6
"""Addresses of one seat that are passed on."""

_LIMITS: Final = Limits(max_bytes=MAX_MESSAGE, max_depth=5, max_nodes=1024)


class MessageKind(IntEnum):
    JOIN = 0
    ROSTER = 1
    PROPOSE = 2
    ACCEPT = 3
    START = 4
    SHOW = 5


class HostState(Enum):
    FILLING = "filling"
    PROPOSED = "proposed"
    STARTED = "started"


class GuestState(Enum):
    JOINING = "joining"
    SEATED = "seated"
    ACCEPTED = "accepted"
    STARTED = "started"


# --- values --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What the host invites to: everything of the agreement but the seats.  See protocol.agreement."""

    game: str
    rules_version: int
    options: tuple[tuple[str, str], ...]
    seats: int
    window_ms: int = 5_000
    turn_ms: int = 90_000
    step_ms: int = 15_000
    abandon_ms: int = 0
    strict: bool = False
    patient: bool = False
    spectators: bool = True

    def __post_init__(self) -> None:
        if not MIN_SEATS <= self.seats <= MAX_SEATS:
            raise LocalProtocolError(f"a table has {MIN_SEATS} to {MAX_SEATS} seats, not {self.seats}")

    def agreement(self, claims: Sequence[SeatClaim]) -> Agreement:
        """The agreement of exactly these seats.  Raises LocalProtocolError if it cannot be played."""
        return Agreement(
            game=self.game,
            rules_version=self.rules_version,
            options=self.options,
            seats=tuple(claims),
            window_ms=self.window_ms,
            turn_ms=self.turn_ms,
            step_ms=self.step_ms,
            abandon_ms=self.abandon_ms,
            strict=self.strict,
            patient=self.patient,
            spectators=self.spectators,
        )

    def value(self) -> list[Any]:
        return [
            self.game,
            self.rules_version,
            [[name, value] for name, value in self.options],
            self.seats,
            [self.window_ms, self.turn_ms, self.step_ms, self.abandon_ms],
            [self.strict, self.patient, self.spectators],
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """Who sits where, the host first; ``offer.seats`` of them are needed."""

    offer: Offer
    claims: tuple[SeatClaim, ...]

    @property
    def free(self) -> int:
        return self.offer.seats - len(self.claims)


AddressBook = tuple[tuple[Address, ...], ...]
"""For each seat, where it may be reached."""


# --- outputs -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Tell:
    """Send this to a guest (as a guest: ``guest`` is 0 and means the host)."""

    guest: int
    message: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse:
    """End this guest's link and say why."""

    guest: int
    code: Code
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RosterChanged:
    """Somebody came or went (for a guest also: this is what you have joined)."""

    roster: Roster


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """All seats are taken and this is what everybody is about to sign."""

    agreement: Agreement


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """Everybody accepted: begin the session."""

    agreement: Agreement
    addresses: AddressBook


Output = Tell | Refuse | RosterChanged | Proposed | Started


# --- the host ------------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class _Guest:
    claim: SeatClaim
    addresses: tuple[Address, ...]
    accepted: bool = False


class Host:
    """The host's side.  Guests are numbers given by the caller, one for each authenticated link."""

    def __init__(self, offer: Offer, own: SeatClaim, addresses: Sequence[Address]) -> None:
        self.state = HostState.FILLING
        self.offer = offer
        self._own = own
        self._addresses = tuple(addresses)[:MAX_ADDRESSES]
        self._guests: dict[int, _Guest] = {}
        self._agreement: Agreement | None = None
        self._book: AddressBook = ()
        self._outputs: list[Output] = []

    @property
    def roster(self) -> Roster:
        return Roster(offer=self.offer, claims=(self._own, *(guest.claim for guest in self._guests.values())))

    def take_outputs(self) -> list[Output]:
        outputs, self._outputs = self._outputs, []
        return outputs

    def received(self, guest: int, key: bytes, message: bytes, *, seen_at: Address | None = None) -> None:
        """A message on the link of ``guest``, whose proven key is ``key``.

        ``seen_at`` is the address from which it came, with the port on which it listens.  Raises RemoteProtocolError for
        a message that no guest sends; the caller closes the link then and calls :meth:`left`.
        """
        try:
            kind, items = _read(message)
            if kind is MessageKind.JOIN:
                self._join(guest, key, items, seen_at)
            elif kind is MessageKind.ACCEPT:
                self._accept(guest, items)
            else:
                raise RemoteProtocolError("lobby_order", f"a guest does not send {kind.name}")
        except EncodingError as error:
            raise RemoteProtocolError("bad_encoding", str(error)) from None

    def left(self, guest: int) -> None:
        """The link is gone.  Harmless for a guest that never sat."""
        if self.state is HostState.STARTED:
            return
        if self._guests.pop(guest, None) is not None:
            self._void()
            self._show_roster()

    def close_seats(self) -> None:
        """Play with those who are here.  Raises LocalProtocolError if that is nobody, or if it is too late."""
        if self.state is not HostState.FILLING:
            raise LocalProtocolError("the seats are closed already")
        self.offer = replace(self.offer, seats=1 + len(self._guests))
        self._show_roster()
        self._propose_if_full()

    def _join(self, guest: int, key: bytes, items: list[Any], seen_at: Address | None) -> None:
        claim = claim_from_value(items[0], field="join.claim")
        addresses = _read_addresses(items[1], field="join.addresses")
        if guest in self._guests:
            raise RemoteProtocolError("lobby_order", "a second JOIN on one link")
        if claim.key != key:
            raise RemoteProtocolError("wrong_claim", "the claim is for another key than the link's")
        if seen_at is not None and seen_at not in addresses:
            addresses = (seen_at, *addresses)[:MAX_ADDRESSES]
        if self.state is HostState.STARTED:
            self._join_again(guest, claim)
            return
        if self._replace_ghost(guest, claim, addresses):
            return
        objection = self._objection(claim)
        if objection is not None:
            self._refuse(guest, *objection)
            return
        self._guests[guest] = _Guest(claim=claim, addresses=addresses)
        self._show_roster()
        self._propose_if_full()

    def _replace_ghost(self, guest: int, claim: SeatClaim, addresses: tuple[Address, ...]) -> bool:
        """The same claim on a new link is the same player whose old link is dying: it keeps its place (W3)."""
        ghost = next((old for old, known in self._guests.items() if known.claim == claim), None)
        if ghost is None:
            return False
        self._refuse(ghost, Code.REPLACED, "the same player came back on another link")
        fresh = _Guest(claim=claim, addresses=addresses)
        self._guests = {
            guest if old == ghost else old: fresh if old == ghost else known
            for old, known in self._guests.items()
        }
        self._void()
        self._show_roster()
        self._propose_if_full()
        return True

    def _objection(self, claim: SeatClaim) -> tuple[Code, str] | None:
        for other in self.roster.claims:
            if other.key == claim.key:
                return Code.DUPLICATE_KEY, f"this identity sits here already, as {other.name}"
            if other.name == claim.name:
                return Code.NAME_TAKEN, f"somebody else here is called {other.name}; choose another name"
        if self.roster.free <= 0:
            return Code.FULL, f"all {self.offer.seats} seats of this table are taken"
        try:
            # With all who sit: a guest is shown the others' claims, and could copy what must differ.
            self.offer.agreement((*self.roster.claims, claim))
        except ProtocolError as error:
            return Code.DISAGREEMENT, str(error)
        return None

    def _join_again(self, guest: int, claim: SeatClaim) -> None:
        assert self._agreement is not None
        if claim not in self._agreement.seats:
            self._refuse(guest, Code.STARTED, "this table has begun; a seated player comes back with: resume")
            return
        final = Roster(offer=self.offer, claims=self._agreement.seats)
        self._outputs.append(Tell(guest=guest, message=_write(MessageKind.ROSTER, *_roster_fields(final))))
        self._outputs.append(Tell(guest=guest, message=self._proposal()))

    def _accept(self, guest: int, items: list[Any]) -> None:
        table = octets(items[0], field="accept.table", length=32)
        if self._agreement is None or table != self._agreement.table:
            # A proposal became void while the ACCEPT was on its way: no fault of anybody.
            return
        if self.state is HostState.STARTED:
            self._outputs.append(Tell(guest=guest, message=_write(MessageKind.START, table)))
            return
        if guest not in self._guests:
            raise RemoteProtocolError("lobby_order", "ACCEPT from somebody without a seat")
        self._guests[guest].accepted = True
        if all(known.accepted for known in self._guests.values()):
            self.state = HostState.STARTED
            self._tell_all(_write(MessageKind.START, table))
            self._outputs.append(Started(agreement=self._agreement, addresses=self._book))

    def _propose_if_full(self) -> None:
        if self.roster.free > 0:
            return
        self._agreement = self.offer.agreement(self.roster.claims)
        self._book = (self._addresses, *(guest.addresses for guest in self._guests.values()))
        self.state = HostState.PROPOSED
        self._tell_all(self._proposal())
        self._outputs.append(Proposed(agreement=self._agreement))

    def _proposal(self) -> bytes:
        assert self._agreement is not None
        return _write(
            MessageKind.PROPOSE, self._agreement.encode(), [_address_value(seat) for seat in self._book]
        )

    def _void(self) -> None:
        self.state = HostState.FILLING
        self._agreement = None
        for guest in self._guests.values():
            guest.accepted = False

    def _show_roster(self) -> None:
        self._tell_all(_write(MessageKind.ROSTER, *_roster_fields(self.roster)))
        self._outputs.append(RosterChanged(roster=self.roster))

    def _tell_all(self, message: bytes) -> None:
        self._outputs.extend(Tell(guest=guest, message=message) for guest in self._guests)

    def _refuse(self, guest: int, code: Code, reason: str) -> None:
        self._outputs.append(Refuse(guest=guest, code=code, text=reason))


# --- a guest -------------------------------------------------------------------------------------------


class Guest:
    """A guest's side.  ``host_key`` is the proven key of the link."""

    def __init__(self, own: SeatClaim, host_key: bytes, addresses: Sequence[Address]) -> None:
        self.state = GuestState.JOINING
        self.roster: Roster | None = None
        self._own = own
        self._host_key = host_key
        self._agreement: Agreement | None = None
        self._book: AddressBook = ()
        joining = _write(
            MessageKind.JOIN, _claim_value(own), _address_value(tuple(addresses)[:MAX_ADDRESSES])
        )
        self._outputs: list[Output] = [Tell(guest=0, message=joining)]

    def take_outputs(self) -> list[Output]:
        outputs, self._outputs = self._outputs, []
        return outputs

    def received(self, message: bytes) -> None:
        """A message from the host.  Raises RemoteProtocolError if it is not what it should be; leave then."""
        try:
            kind, items = _read(message)
            if kind is MessageKind.ROSTER and self.state is not GuestState.STARTED:
                self._see_roster(items)
            elif kind is MessageKind.PROPOSE and self.state is GuestState.SEATED:
                self._consider(items)
            elif kind is MessageKind.START and self.state is GuestState.ACCEPTED:
                self._start(items)
            else:
                raise RemoteProtocolError("lobby_order", f"{kind.name} while {self.state.value}")
        except EncodingError as error:
            raise RemoteProtocolError("bad_encoding", str(error)) from None

    def _see_roster(self, items: list[Any]) -> None:
        roster = Roster(
            offer=_read_offer(items[0]),
            claims=tuple(
                claim_from_value(claim, field=f"roster.claims[{number}]")
                for number, claim in enumerate(array(items[1], field="roster.claims", at_most=MAX_SEATS))
            ),
        )
        for number, claim in enumerate(roster.claims):
            for said in (claim.name, claim.bot):
                printable(said, field=f"roster.claims[{number}]", at_most=MAX_NAME)
        if self._own not in roster.claims:
            raise RemoteProtocolError(
                "wrong_roster", "the host's list lacks this player, or shows it changed"
            )
        if roster.claims[0].key != self._host_key:
            raise RemoteProtocolError("wrong_roster", "the host does not sit at its own table")
        self.roster = roster
        self.state = GuestState.SEATED
        self._outputs.append(RosterChanged(roster=roster))

    def _consider(self, items: list[Any]) -> None:
        assert self.roster is not None
        try:
            agreement = Agreement.decode(octets(items[0], field="propose.agreement", at_most=MAX_MESSAGE))
            expected = self.roster.offer.agreement(self.roster.claims)
        except (LocalProtocolError, RemoteProtocolError) as error:
            raise RemoteProtocolError(
                Code.DISAGREEMENT.value, f"the agreement cannot be signed: {error}"
            ) from None
        if agreement != expected:
            raise RemoteProtocolError(
                Code.DISAGREEMENT.value,
                "the agreement is not what the host showed: " + ", ".join(_differences(expected, agreement)),
            )
        seats = array(items[1], field="propose.addresses", length=len(agreement.seats))
        self._book = tuple(
            _read_addresses(seat, field=f"propose.addresses[{number}]") for number, seat in enumerate(seats)
        )
        self._agreement = agreement
        self.state = GuestState.ACCEPTED
        self._outputs.append(Proposed(agreement=agreement))
        self._outputs.append(Tell(guest=0, message=_write(MessageKind.ACCEPT, agreement.table)))

    def _start(self, items: list[Any]) -> None:
        assert self._agreement is not None
        if octets(items[0], field="start.table", length=32) != self._agreement.table:
            raise RemoteProtocolError("wrong_start", "START for another agreement than the one accepted")
        self.state = GuestState.STARTED
        self._outputs.append(Started(agreement=self._agreement, addresses=self._book))


# --- spectators ----------------------------------------------------------------------------------------


def write_showing(agreement: Agreement) -> bytes:
    """What a spectator is told before anything else."""
    return _write(MessageKind.SHOW, agreement.encode())


def read_showing(message: bytes) -> Agreement:
    """The agreement of a table that is watched.  Raises RemoteProtocolError."""
    try:
        kind, items = _read(message)
        if kind is not MessageKind.SHOW:
            raise RemoteProtocolError("lobby_order", f"{kind.name} to a spectator")
        return Agreement.decode(octets(items[0], field="show.agreement", at_most=MAX_MESSAGE))
    except EncodingError as error:
        raise RemoteProtocolError("bad_encoding", str(error)) from None
    except LocalProtocolError as error:
        raise RemoteProtocolError("bad_agreement", str(error)) from None


# --- messages ------------------------------------------------------------------------------------------

_ARITY: Final = {
    MessageKind.JOIN: 3,
    MessageKind.ROSTER: 3,
    MessageKind.PROPOSE: 3,
    MessageKind.ACCEPT: 2,
    MessageKind.START: 2,
    MessageKind.SHOW: 2,
}


def _write(kind: MessageKind, *items: Any) -> bytes:
    return encode([int(kind), *items])


def _read(message: bytes) -> tuple[MessageKind, list[Any]]:
    value = array(decode(message, limits=_LIMITS, field="lobby"), field="lobby", at_most=3)
    if not value:
        raise EncodingError("a lobby message begins with its kind", field="lobby")
    kind = MessageKind(integer(value[0], field="lobby.kind", below=len(MessageKind)))
    array(value, field="lobby", length=_ARITY[kind])
    return kind, value[1:]


def _claim_value(claim: SeatClaim) -> list[Any]:
    return [claim.key, claim.name, claim.salt, claim.commitment, claim.bot]


def _roster_fields(roster: Roster) -> tuple[list[Any], list[Any]]:
    return roster.offer.value(), [_claim_value(claim) for claim in roster.claims]


def _read_offer(value: object) -> Offer:
    items = array(value, field="offer", length=6)
    options = []
    for number, pair in enumerate(array(items[2], field="offer.options", at_most=100)):
        name, setting = array(pair, field=f"offer.options[{number}]", length=2)
        options.append(
            (
                printable(name, field="option.name", at_most=MAX_OPTION),
                printable(setting, field="option.value", at_most=MAX_OPTION),
            )
        )
    times = [integer(item, field="offer.times") for item in array(items[4], field="offer.times", length=4)]
    flags = [boolean(item, field="offer.flags") for item in array(items[5], field="offer.flags", length=3)]
    try:
        return Offer(
            game=printable(items[0], field="offer.game", at_most=32),
            rules_version=integer(items[1], field="offer.rules_version"),
            options=tuple(options),
            seats=integer(items[3], field="offer.seats"),
            window_ms=times[0],
            turn_ms=times[1],
            step_ms=times[2],
            abandon_ms=times[3],
            strict=flags[0],
            patient=flags[1],
            spectators=flags[2],
        )
    except LocalProtocolError as error:
        raise RemoteProtocolError("bad_offer", str(error)) from None


def _address_value(addresses: Sequence[Address]) -> list[Any]:
    return [[address.host, address.port] for address in addresses]


def _read_addresses(value: object, *, field: str) -> tuple[Address, ...]:
    """IP addresses only: what a guest claims must not make the others ask name servers."""
    found = []
    for number, pair in enumerate(array(value, field=field, at_most=MAX_ADDRESSES)):
        host, port = array(pair, field=f"{field}[{number}]", length=2)
        host = text(host, field=f"{field}[{number}][0]", at_most=45)
        try:
            ipaddress.ip_address(host)
        except ValueError:
            raise EncodingError("an IP address is expected", field=f"{field}[{number}][0]") from None
        port = integer(port, field=f"{field}[{number}][1]", below=1 << 16)
        if port == 0:
            raise EncodingError("a TCP port is 1 to 65535", field=f"{field}[{number}][1]")
        found.append(Address(host=host, port=port))
    return tuple(found)


def _differences(expected: Agreement, agreement: Agreement) -> list[str]:
    names = [each.name for each in fields(Agreement)]
    return [name for name in names if getattr(expected, name) != getattr(agreement, name)]
