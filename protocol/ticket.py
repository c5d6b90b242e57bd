"""The ticket: what a friend needs to find a table and to know that it is the right one.

A ticket is one line to paste, type or scan: the addresses at which the host may be reached, the table, and a
fingerprint of the host's identity key.  The fingerprint makes the handshake certain (whoever answers must hold
exactly that key), so an address is only ever a hint.  Sixteen bytes of a hash are enough: to stand in for the
host somebody would have to find a second key with the same hash (2**128 trials), a collision of two own keys gains nothing.

Text: ``RUMMY`` and the base-32 digits of Crockford's alphabet, in groups of five for the eye.  Case, spaces,
line breaks and hyphens do not matter; O is read as 0, I and L as 1.  The capital letters keep it in the compact
alphanumeric mode of a QR code.

    bytes: format (1) | table (10) | fingerprint (16) | addresses | checksum (5)
    address: port (2) | 4 or 6 and the raw IP address, or the length of a host name (7..255) and the name

The checksum is over everything before it: a mistyped ticket is told from a wrong one.
"""

from __future__ import annotations

import hmac
import ipaddress
from dataclasses import dataclass
from typing import Final

from protocol.errors import LocalProtocolError, ProtocolError
from protocol.identity import tagged_hash

TABLE_BYTES: Final = 10
FINGERPRINT_BYTES: Final = 16
MAX_ADDRESSES: Final = 8

_FORMAT: Final = 1
_CHECK_BYTES: Final = 5
_PREFIX: Final = "RUMMY"
_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_DIGIT: Final = {character: value for value, character in enumerate(_ALPHABET)} | {"O": 0, "I": 1, "L": 1}
_MAX_TEXT: Final = 4096


class BadTicket(ProtocolError):  # noqa: N818 - the user's word for it
    """This text is not a whole ticket.  The message says what looks wrong; ask the host to send it again."""

    code = "bad_ticket"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a peer may be reached: an IP address or host name, and a TCP port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """``table`` are the ten bytes that name the open table, ``fingerprint`` is of the host's key."""

    table: bytes
    fingerprint: bytes
    addresses: tuple[Address, ...]

    def __post_init__(self) -> None:
        if len(self.table) != TABLE_BYTES or len(self.fingerprint) != FINGERPRINT_BYTES:
            raise LocalProtocolError("a ticket has a table of 10 bytes and a fingerprint of 16")
        if not 1 <= len(self.addresses) <= MAX_ADDRESSES:
            raise LocalProtocolError(f"a ticket has 1 to {MAX_ADDRESSES} addresses")

    def is_for(self, key: bytes) -> bool:
        """Whether the host's identity key is this one."""
        return hmac.compare_digest(self.fingerprint, ticket_fingerprint(key))

    def __str__(self) -> str:
        data = bytes([_FORMAT]) + self.table + self.fingerprint + b"".join(map(_pack, self.addresses))
        digits = _to_digits(data + _checksum(data))
        return "-".join((_PREFIX, *(digits[at : at + 5] for at in range(0, len(digits), 5))))


def ticket_fingerprint(key: bytes) -> bytes:
    """The sixteen bytes by which a ticket knows the host's identity key."""
    return tagged_hash("ticket fingerprint", key)[:FINGERPRINT_BYTES]


def parse_ticket(line: str) -> Ticket:
    """The ticket that this text is.  Raises BadTicket with what the reader can do about it."""
    if len(line) > _MAX_TEXT:
        raise BadTicket("this text is far longer than any ticket; paste the ticket alone")
    compact = "".join(line.upper().split()).replace("-", "")
    if not compact:
        raise BadTicket("the ticket is empty; paste the line that the host sees")
    if not compact.startswith(_PREFIX):
        raise BadTicket("a ticket begins with RUMMY; copy the whole line that the host sees")
    digits = compact[len(_PREFIX) :]
    for character in digits:
        if character not in _DIGIT:
            raise BadTicket(f"no ticket contains the character {character!r}; copy the line again")
    data = _from_digits(digits)
    if len(data) < 1 + _CHECK_BYTES:
        raise BadTicket("the ticket is cut short; copy the whole line")
    body, check = data[:-_CHECK_BYTES], data[-_CHECK_BYTES:]
    if not hmac.compare_digest(check, _checksum(body)):
        raise BadTicket("a character of the ticket is wrong or missing (its checksum differs); copy it again")
    if body[0] != _FORMAT:
        raise BadTicket(
            f"the ticket has format {body[0]}, this program reads format {_FORMAT}; update the older program"
        )
    start = 1 + TABLE_BYTES + FINGERPRINT_BYTES
    table, fingerprint = body[1 : 1 + TABLE_BYTES], body[1 + TABLE_BYTES : start]
    addresses = _unpack(body[start:])
    if len(fingerprint) != FINGERPRINT_BYTES or not 1 <= len(addresses) <= MAX_ADDRESSES:
        raise BadTicket(f"the ticket names no address, or more than {MAX_ADDRESSES}")
    return Ticket(table=table, fingerprint=fingerprint, addresses=addresses)


# --- addresses -----------------------------------------------------------------------------------------


def _pack(address: Address) -> bytes:
    if not 0 < address.port < 1 << 16:
        raise LocalProtocolError(f"{address.port} is not a TCP port (1 to 65535)")
    port = address.port.to_bytes(2, "big")
    try:
        raw = ipaddress.ip_address(address.host)
    except ValueError:
        name = _host_name(address.host)
        # Lengths 4 and 6 mean raw addresses; a trailing dot changes nothing about where a name points.
        while len(name) < 7:
            name += b"."
        return port + bytes([len(name)]) + name
    return port + bytes([raw.version]) + raw.packed


def _host_name(host: str) -> bytes:
    name = host.encode("ascii", "replace")
    allowed = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-"
    if not 0 < len(name) < 250 or any(byte not in allowed for byte in name):
        raise LocalProtocolError(f"{host!r} is not a host name or IP address")
    return name


def _unpack(data: bytes) -> tuple[Address, ...]:
    found: list[Address] = []
    at = 0
    while at < len(data):
        if len(data) < at + 3:
            raise BadTicket("the ticket's addresses are cut short")
        port, kind = int.from_bytes(data[at : at + 2], "big"), data[at + 2]
        size = {4: 4, 6: 16}.get(kind, kind)
        raw = data[at + 3 : at + 3 + size]
        at += 3 + size
        if port == 0 or size == 0 or len(raw) < size:
            raise BadTicket("the ticket's addresses are cut short")
        if kind in (4, 6):
            found.append(Address(host=str(ipaddress.ip_address(raw)), port=port))
            continue
        try:
            found.append(Address(host=_host_name(raw.decode("ascii").rstrip(".")).decode(), port=port))
        except (LocalProtocolError, UnicodeDecodeError):
            raise BadTicket("the ticket names a host that cannot be one") from None
    return tuple(found)


# --- digits --------------------------------------------------------------------------------------------


def _checksum(data: bytes) -> bytes:
    return tagged_hash("ticket checksum", data)[:_CHECK_BYTES]


def _to_digits(data: bytes) -> str:
    """Five bits a digit, the last one filled up with zero bits."""
    count = -(-len(data) * 8 // 5)
    number = int.from_bytes(data, "big") << (count * 5 - len(data) * 8)
    return "".join(_ALPHABET[number >> (5 * at) & 31] for at in reversed(range(count)))


def _from_digits(digits: str) -> bytes:
    number = 0
    for character in digits:
        number = number << 5 | _DIGIT[character]
    size = len(digits) * 5 // 8
    spare = len(digits) * 5 - size * 8
    if spare >= 5 or number & ((1 << spare) - 1):
        raise BadTicket("a character of the ticket is wrong or missing; copy the whole line again")
    return (number >> spare).to_bytes(size, "big")
