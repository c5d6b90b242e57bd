"""The table agreement: everything that is fixed before the first card, signed by every seat.

Its hash is the table id, which stands in every entry, so nothing signed at one table means anything at
another (N31, F54) and no option can change later (N34).  Each seat puts a commitment to a fresh nonce into it
and reveals the nonce in its AGREE entry: so the first head never repeats, and the words made from that head
cannot be searched for beforehand by whoever composed the agreement.

The nonce is not stored: it is derived from the seat's identity key and the public ``salt`` that the seat drew
for this table, so a restart finds it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from protocol import PROTOCOL_VERSION
from protocol.canonical import Limits, array, boolean, decode, encode, integer, octets, text
from protocol.errors import EncodingError, LocalProtocolError, VerificationError
from protocol.identity import PUBLIC_KEY_BYTES, Identity, check_public_key, tagged_hash

MIN_SEATS: Final = 2
MAX_SEATS: Final = 8
NONCE_BYTES: Final = 32

MAX_NAME: Final = 32
MAX_OPTION: Final = 200
MAX_OPTIONS: Final = 100
MAX_MILLISECONDS: Final = 366 * 24 * 3600 * 1000

_LIMITS: Final = Limits(max_bytes=1 << 16, max_depth=3, max_nodes=1024)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatClaim:
    """One seat: whose it is and what it committed to.

    ``bot`` is the level of the program that plays it, or "" for a person.  ``commitment`` is
    :func:`nonce_commitment` of the nonce that the seat will reveal.
    """

    key: bytes
    name: str
    salt: bytes
    commitment: bytes
    bot: str = ""


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """What all seats sign.  Seats are in clockwise order.

    ``options`` are the game's settings as (name, value) in text, sorted by name.  Times are in milliseconds:
    ``window_ms`` the countdown of a call window (0: answers are sealed at once), ``turn_ms`` what a seat has
    for a turn, ``step_ms`` what a seat has for everything that needs no person, ``abandon_ms`` after how long
    a suspended table may be recorded as abandoned (0: never).

    ``strict``: no backups, a leaver ends the hand.  ``patient``: a missing seat is waited for, never dropped.
    ``spectators``: the public log may be given to keys without a seat.
    """

    game: str
    rules_version: int
    options: tuple[tuple[str, str], ...]
    seats: tuple[SeatClaim, ...]
    window_ms: int = 5_000
    turn_ms: int = 90_000
    step_ms: int = 15_000
    abandon_ms: int = 0
    strict: bool = False
    patient: bool = False
    spectators: bool = True

    def __post_init__(self) -> None:
        self.check()

    @cached_property
    def table(self) -> bytes:
        """The table id: 32 bytes."""
        return tagged_hash("agreement", self.encode())

    @cached_property
    def keys(self) -> tuple[bytes, ...]:
        """The identity keys by seat."""
        return tuple(seat.key for seat in self.seats)

    def seat_of(self, key: bytes) -> int | None:
        """The seat of this identity key, or None for a stranger."""
        return self.keys.index(key) if key in self.keys else None

    def encode(self) -> bytes:
        """The canonical bytes, which are what is hashed."""
        return encode(self.value())

    def value(self) -> list[Any]:
        return [
            PROTOCOL_VERSION,
            self.game,
            self.rules_version,
            [[name, value] for name, value in self.options],
            [[seat.key, seat.name, seat.salt, seat.commitment, seat.bot] for seat in self.seats],
            [self.window_ms, self.turn_ms, self.step_ms, self.abandon_ms],
            [self.strict, self.patient, self.spectators],
        ]

    @classmethod
    def decode(cls, data: bytes, *, field: str = "agreement") -> Agreement:
        """Read what arrived.  Raises EncodingError (shape), VerificationError (a bad key) or
        LocalProtocolError (:meth:`check`)."""
        value = array(decode(data, limits=_LIMITS, field=field), field=field, length=7)
        version = integer(value[0], field=f"{field}[0]")
        if version != PROTOCOL_VERSION:
            raise EncodingError(
                f"protocol version {version}; this program implements version {PROTOCOL_VERSION}",
                field=f"{field}[0]",
            )
        options = []
        for index, pair in enumerate(array(value[3], field=f"{field}[3]", at_most=MAX_OPTIONS)):
            where = f"{field}[3][{index}]"
            name, setting = array(pair, field=where, length=2)
            options.append(
                (
                    printable(name, field=f"{where}[0]", at_most=MAX_OPTION),
                    printable(setting, field=f"{where}[1]", at_most=MAX_OPTION),
                )
            )
        seats = []
        for index, claim in enumerate(array(value[4], field=f"{field}[4]", at_most=MAX_SEATS)):
            seats.append(claim_from_value(claim, field=f"{field}[4][{index}]"))
        times = [
            integer(item, field=f"{field}[5][{index}]")
            for index, item in enumerate(array(value[5], field=f"{field}[5]", length=4))
        ]
        flags = [
            boolean(item, field=f"{field}[6][{index}]")
            for index, item in enumerate(array(value[6], field=f"{field}[6]", length=3))
        ]
        return cls(
            game=printable(value[1], field=f"{field}[1]", at_most=MAX_NAME),
            rules_version=integer(value[2], field=f"{field}[2]"),
            options=tuple(options),
            seats=tuple(seats),
            window_ms=times[0],
            turn_ms=times[1],
            step_ms=times[2],
            abandon_ms=times[3],
            strict=flags[0],
            patient=flags[1],
            spectators=flags[2],
        )

    def check(self) -> None:
        """Raise LocalProtocolError unless this can be played, VerificationError for a key that may not sit."""
        if not MIN_SEATS <= len(self.seats) <= MAX_SEATS:
            raise LocalProtocolError(f"a table has {MIN_SEATS} to {MAX_SEATS} seats, not {len(self.seats)}")
        if list(self.options) != sorted(self.options) or len({name for name, _ in self.options}) != len(
            self.options
        ):
            raise LocalProtocolError("the options are not sorted by name, or one is named twice")
        for text_of in (self.game, *(part for option in self.options for part in option)):
            if not text_of.isprintable():
                raise LocalProtocolError(f"{text_of!r}: game and options are printable text")
        for number, seat in enumerate(self.seats):
            check_public_key(seat.key, seat=number)
            if len(seat.salt) != NONCE_BYTES or len(seat.commitment) != NONCE_BYTES:
                raise LocalProtocolError(f"seat {number}: salt and commitment have {NONCE_BYTES} bytes each")
            if not 1 <= len(seat.name) <= MAX_NAME or not seat.name.isprintable():
                raise LocalProtocolError(f"seat {number}: a name has 1 to {MAX_NAME} printable characters")
            if len(seat.bot) > MAX_NAME or not seat.bot.isprintable():
                raise LocalProtocolError(
                    f"seat {number}: a bot's level has at most {MAX_NAME} printable characters"
                )
        for what, values in (
            ("key", self.keys),
            ("name", tuple(seat.name for seat in self.seats)),
            ("commitment", tuple(seat.commitment for seat in self.seats)),
        ):
            if len(set(values)) != len(values):
                raise LocalProtocolError(f"two seats have the same {what}")
        for what, amount in (
            ("window_ms", self.window_ms),
            ("turn_ms", self.turn_ms),
            ("step_ms", self.step_ms),
            ("abandon_ms", self.abandon_ms),
        ):
            if not 0 <= amount <= MAX_MILLISECONDS:
                raise LocalProtocolError(f"{what} is {amount}; at most {MAX_MILLISECONDS} is possible")
        if self.turn_ms == 0 or self.step_ms == 0:
            raise LocalProtocolError("turn_ms and step_ms must be above 0, or nobody could answer in time")


def claim_from_value(value: object, *, field: str) -> SeatClaim:
    """A seat's claim as it stands in an agreement (and in the lobby)."""
    key, name, salt, commitment, bot = array(value, field=field, length=5)
    return SeatClaim(
        key=octets(key, field=f"{field}[0]", length=PUBLIC_KEY_BYTES),
        name=text(name, field=f"{field}[1]", at_most=MAX_NAME),
        salt=octets(salt, field=f"{field}[2]", length=NONCE_BYTES),
        commitment=octets(commitment, field=f"{field}[3]", length=NONCE_BYTES),
        bot=text(bot, field=f"{field}[4]", at_most=MAX_NAME),
    )


def printable(value: object, *, field: str, at_most: int) -> str:
    """Text that a terminal can be given as it is: faces show it before anybody has signed anything."""
    said = text(value, field=field, at_most=at_most)
    if not said.isprintable():
        raise EncodingError("printable characters are expected", field=field)
    return said


def claim(identity: Identity, name: str, salt: bytes, *, bot: str = "") -> SeatClaim:
    """This identity's seat at a new table.  ``salt``: 32 fresh random bytes, never used before."""
    if len(salt) != NONCE_BYTES:
        raise LocalProtocolError(f"a salt has {NONCE_BYTES} bytes, not {len(salt)}")
    nonce = agreement_nonce(identity, salt)
    return SeatClaim(
        key=identity.public_key,
        name=name,
        salt=salt,
        commitment=nonce_commitment(identity.public_key, nonce),
        bot=bot,
    )


def agreement_nonce(identity: Identity, salt: bytes) -> bytes:
    """The nonce behind :func:`claim`: secret until the AGREE entry reveals it."""
    return identity.derive("agreement nonce", salt)


def nonce_commitment(key: bytes, nonce: bytes) -> bytes:
    """What stands for the nonce in the agreement.  Bound to the key, so it cannot be copied by another seat."""
    return tagged_hash("agreement nonce", key, nonce)


def verify_nonce(seat: int, claimed: SeatClaim, nonce: bytes) -> None:
    """Raise VerificationError unless this is the nonce that the seat committed to."""
    if nonce_commitment(claimed.key, nonce) != claimed.commitment:
        raise VerificationError(
            "wrong_nonce", "the nonce is not the one committed to in the agreement", seat=seat, step=0
        )
