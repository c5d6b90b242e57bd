"""ticket.json: tickets as bytes and as text, and texts that are no ticket."""

from __future__ import annotations

from collections.abc import Callable

from protocol.identity import tagged_hash
from protocol.ticket import Address, Ticket, _to_digits, ticket_fingerprint
from scripts.vector_files.form import Case, File, accepted, fixed, refused, somebody

TABLE = fixed("lobby", 10)
KEY = somebody(0).public_key
LAN = Address(host="192.168.1.23", port=4000)


def make() -> File:
    return {
        "about": "SPEC.md 15.1.",
        "key": KEY.hex(),
        "fingerprint": ticket_fingerprint(KEY).hex(),
        "cases": [*good(), *bad()],
    }


def written(ticket: Ticket) -> str:
    return str(ticket)


def ticket(*addresses: Address) -> Ticket:
    return Ticket(table=TABLE, fingerprint=ticket_fingerprint(KEY), addresses=addresses)


def good() -> list[Case]:
    def case(comment: str, *addresses: Address, typed: Callable[[str], str] = str) -> Case:
        text = written(ticket(*addresses))
        return accepted(
            comment,
            text=typed(text),
            canonical=text,
            table=TABLE.hex(),
            addresses=[[address.host, address.port] for address in addresses],
        )

    name = Address(host="rummy.example.org", port=65535)
    return [
        case("one IPv4 address", LAN),
        case("an IPv6 address too", LAN, Address(host="2001:db8::7", port=4000)),
        case("a host name", name),
        case("a host name of six characters, which is filled up with a dot", Address(host="a.test", port=1)),
        case("eight addresses", *(Address(host=f"10.0.0.{number}", port=4000) for number in range(1, 9))),
        case("in lower case, without hyphens", LAN, typed=lambda text: text.lower().replace("-", "")),
        case("cut by a line break and spaces", LAN, typed=lambda text: f" {text[:20]}\n  {text[20:]} "),
        case("O for 0, I and L for 1", LAN, typed=lambda text: text[:6] + mistaken(text[6:])),
    ]


def mistaken(digits: str) -> str:
    """As somebody writes it down who does not know the alphabet."""
    halves = digits.replace("0", "O").split("1")
    return "".join(("I" if number % 2 else "l") * (number > 0) + half for number, half in enumerate(halves))


def bad() -> list[Case]:
    text = written(ticket(LAN))
    front = bytes([1]) + TABLE + ticket_fingerprint(KEY)
    lan = bytes.fromhex("0fa004c0a80117")

    def made(data: bytes) -> str:
        """Any bytes with a good checksum."""
        return "RUMMY-" + _to_digits(data + tagged_hash("ticket checksum", data)[:5])

    last = text[-1]
    other = "3" if last != "3" else "4"
    return [
        refused(comment, reason, text=wrong)
        for comment, reason, wrong in (
            ("nothing", "empty", "  \n"),
            ("another word in front", "begins with RUMMY", "RUMBA" + text[5:]),
            ("a character that no ticket has", "no ticket contains", text[:-1] + "U"),
            (
                "one character changed",
                "checksum differs",
                text[:9] + ("A" if text[9] != "A" else "B") + text[10:],
            ),
            ("two characters swapped", "checksum differs", swapped(text)),
            ("one character too few", "missing", text[:-1]),
            ("one character too many", "wrong or missing", text + "0"),
            ("the last digit, of which some bits must be zero", "wrong or missing", text[:-1] + other),
            ("nothing but the format", "cut short", "RUMMY-04"),
            ("format 2", "format 2", made(bytes([2]) + front[1:] + lan)),
            ("no address", "names no address", made(front)),
            ("nine addresses", "more than 8", made(front + lan * 9)),
            ("an address cut short", "cut short", made(front + lan[:-1])),
            ("port 0", "cut short", made(front + bytes(2) + lan[2:])),
            ("a host name with a space", "cannot be one", made(front + b"\x0f\xa0\x07a b.org")),
            ("a host name of dots", "cannot be one", made(front + b"\x0f\xa0\x07.......")),
            ("far too long", "far longer", "RUMMY" + "0" * 4092),
        )
    ]


def swapped(text: str) -> str:
    """Two neighbours that differ, exchanged."""
    at = next(
        at for at in range(7, len(text)) if text[at] != text[at - 1] and "-" not in text[at - 1 : at + 1]
    )
    return text[: at - 1] + text[at] + text[at - 1] + text[at + 1 :]
