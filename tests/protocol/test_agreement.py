"""The agreement: its bytes, worked out by hand, and every bound of every field."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import pytest

from protocol.agreement import (
    MAX_MILLISECONDS,
    Agreement,
    agreement_nonce,
    claim,
    nonce_commitment,
    verify_nonce,
)
from protocol.canonical import encode
from protocol.errors import EncodingError, LocalProtocolError, VerificationError
from protocol.identity import Identity

ANN, BO = Identity(b"\x01" * 32), Identity(b"\x02" * 32)
SEATS = (claim(ANN, "Ann", b"\xaa" * 32), claim(BO, "Bo", b"\xbb" * 32, bot="steady"))
PLAIN = Agreement(game="toy", rules_version=3, options=(), seats=SEATS)


def hashed(tag: str, *items: bytes) -> bytes:
    """SPEC.md 1: SHA-256 of domain, tag and items, each with its length."""
    framed = b"p2p-rummy/" + bytes([len(tag)]) + tag.encode("ascii")
    for item in items:
        framed += len(item).to_bytes(8, "big") + item
    return hashlib.sha256(framed).digest()


# --- bytes -----------------------------------------------------------------------------------------------


def test_the_encoding_is_the_one_of_the_specification() -> None:
    expected = b"".join(
        (
            b"\x97",  # seven fields
            b"\x01",  # the version of the protocol
            b"\xa3toy",
            b"\x03",  # the version of the rules
            b"\x90",  # no options
            b"\x92",  # two seats
            b"\x95\xc4\x20" + ANN.public_key + b"\xa3Ann\xc4\x20" + b"\xaa" * 32,
            b"\xc4\x20" + SEATS[0].commitment + b"\xa0",
            b"\x95\xc4\x20" + BO.public_key + b"\xa2Bo\xc4\x20" + b"\xbb" * 32,
            b"\xc4\x20" + SEATS[1].commitment + b"\xa6steady",
            b"\x94\xcd\x13\x88\xce\x00\x01\x5f\x90\xcd\x3a\x98\x00",  # 5,000, 90,000, 15,000, 0 ms
            b"\x93\xc2\xc2\xc3",  # not strict, not patient, with spectators
        )
    )
    assert PLAIN.encode() == expected
    assert PLAIN.table == hashed("agreement", expected)
    assert Agreement.decode(expected) == PLAIN


def test_a_commitment_hides_a_nonce_that_the_key_and_the_salt_give_again() -> None:
    nonce = agreement_nonce(ANN, b"\xaa" * 32)
    framed = b"p2p-rummy/\x06derive"
    for item in (b"\x01" * 32, b"agreement nonce", b"\xaa" * 32):
        framed += len(item).to_bytes(8, "big") + item
    assert nonce == hashlib.sha512(framed).digest()[:32]
    assert SEATS[0].commitment == hashed("agreement nonce", ANN.public_key, nonce)
    assert nonce_commitment(ANN.public_key, nonce) == SEATS[0].commitment
    verify_nonce(0, SEATS[0], nonce)


def test_a_nonce_that_was_not_committed_to_names_its_seat() -> None:
    nonce = agreement_nonce(BO, b"\xbb" * 32)
    for seat, claimed, given in (
        (0, SEATS[0], nonce),
        (1, SEATS[1], bytes(32)),
        (1, SEATS[1], nonce[:-1]),
        (1, replace(SEATS[1], key=ANN.public_key), nonce),  # a commitment copied by another key
    ):
        with pytest.raises(VerificationError) as caught:
            verify_nonce(seat, claimed, given)
        assert (caught.value.reason, caught.value.seat, caught.value.step) == ("wrong_nonce", seat, 0)
    verify_nonce(1, SEATS[1], nonce)


OTHER = claim(Identity(b"\x03" * 32), "Cy", b"\xcc" * 32)
CHANGES: dict[str, dict[str, Any]] = {
    "game": {"game": "toys"},
    "rules_version": {"rules_version": 4},
    "options": {"options": (("ace", "low"),)},
    "an option's value": {"options": (("ace", "high"),)},
    "the order of the seats": {"seats": SEATS[::-1]},
    "one seat more": {"seats": (*SEATS, OTHER)},
    "a name": {"seats": (replace(SEATS[0], name="Anna"), SEATS[1])},
    "a bot": {"seats": (replace(SEATS[0], bot="random"), SEATS[1])},
    "a salt": {"seats": (replace(SEATS[0], salt=bytes(32)), SEATS[1])},
    "a commitment": {"seats": (replace(SEATS[0], commitment=bytes(32)), SEATS[1])},
    "window_ms": {"window_ms": 0},
    "turn_ms": {"turn_ms": 1},
    "step_ms": {"step_ms": MAX_MILLISECONDS},
    "abandon_ms": {"abandon_ms": 1},
    "strict": {"strict": True},
    "patient": {"patient": True},
    "spectators": {"spectators": False},
}


def test_whatever_differs_is_another_table_and_comes_back_as_it_was() -> None:
    tables = {PLAIN.table}
    for what, change in CHANGES.items():
        other = replace(PLAIN, **change)
        assert other.table not in tables, what
        tables.add(other.table)
        assert Agreement.decode(other.encode()) == other, what


def test_seats_are_known_by_their_keys() -> None:
    assert PLAIN.keys == (ANN.public_key, BO.public_key)
    assert PLAIN.seat_of(BO.public_key) == 1
    assert PLAIN.seat_of(Identity(b"\x09" * 32).public_key) is None


# --- what cannot be played -------------------------------------------------------------------------------


def seats(count: int) -> tuple[Any, ...]:
    return tuple(
        claim(Identity(bytes([number + 1]) * 32), f"P{number}", bytes([number]) * 32)
        for number in range(count)
    )


UNPLAYABLE: dict[str, tuple[dict[str, Any], str]] = {
    "one seat": ({"seats": seats(1)}, "a table has 2 to 8 seats, not 1"),
    "nine seats": ({"seats": seats(9)}, "a table has 2 to 8 seats, not 9"),
    "options out of order": ({"options": (("b", "1"), ("a", "1"))}, "not sorted by name"),
    "an option twice": ({"options": (("a", "1"), ("a", "2"))}, "one is named twice"),
    "a game that drives a terminal": ({"game": "toy\x1b[2J"}, "printable"),
    "an option with a line break": ({"options": (("a", "1\n"),)}, "printable"),
    "no name": ({"seats": (replace(SEATS[0], name=""), SEATS[1])}, "seat 0: a name has 1 to 32"),
    "a long name": ({"seats": (SEATS[0], replace(SEATS[1], name="x" * 33))}, "seat 1: a name has 1 to 32"),
    "a name with a bell": ({"seats": (replace(SEATS[0], name="A\x07"), SEATS[1])}, "seat 0: a name"),
    "a long bot": ({"seats": (replace(SEATS[0], bot="x" * 33), SEATS[1])}, "seat 0: a bot's level"),
    "a bot with a tab": ({"seats": (replace(SEATS[0], bot="a\t"), SEATS[1])}, "seat 0: a bot's level"),
    "a short salt": ({"seats": (replace(SEATS[0], salt=bytes(31)), SEATS[1])}, "seat 0: salt and commitment"),
    "a long commitment": ({"seats": (SEATS[0], replace(SEATS[1], commitment=bytes(33)))}, "seat 1: salt and"),
    "one key twice": ({"seats": (SEATS[0], replace(SEATS[1], key=ANN.public_key))}, "the same key"),
    "one name twice": ({"seats": (SEATS[0], replace(SEATS[1], name="Ann"))}, "the same name"),
    "one commitment twice": (
        {"seats": (SEATS[0], replace(SEATS[1], commitment=SEATS[0].commitment))},
        "the same commitment",
    ),
    "a negative window": ({"window_ms": -1}, "window_ms is -1"),
    "a turn of two years": ({"turn_ms": MAX_MILLISECONDS + 1}, "turn_ms is"),
    "a step of two years": ({"step_ms": MAX_MILLISECONDS + 1}, "step_ms is"),
    "a wait of two years": ({"abandon_ms": MAX_MILLISECONDS + 1}, "abandon_ms is"),
    "no time for a turn": ({"turn_ms": 0}, "must be above 0"),
    "no time for a step": ({"step_ms": 0}, "must be above 0"),
}


@pytest.mark.parametrize(("change", "told"), UNPLAYABLE.values(), ids=UNPLAYABLE.keys())
def test_an_agreement_that_cannot_be_played_is_not_made(change: dict[str, Any], told: str) -> None:
    with pytest.raises(LocalProtocolError, match=told):
        replace(PLAIN, **change)


def test_a_year_and_a_day_is_the_longest_time() -> None:
    assert MAX_MILLISECONDS == 366 * 86_400_000
    longest = replace(PLAIN, window_ms=MAX_MILLISECONDS, turn_ms=MAX_MILLISECONDS)
    assert Agreement.decode(longest.encode()) == longest


@pytest.mark.parametrize(
    "key",
    [bytes(32), b"\x01" + bytes(31), b"\xff" * 32, (2**255 - 19).to_bytes(32, "little")],
    ids=["order 4", "the neutral element", "not canonical", "p for zero"],
)
def test_f48_n8_a_key_of_small_order_has_no_seat(key: bytes) -> None:
    with pytest.raises(VerificationError) as caught:
        replace(PLAIN, seats=(SEATS[0], replace(SEATS[1], key=key)))
    assert (caught.value.reason, caught.value.seat) == ("bad_identity", 1)
    value = PLAIN.value()
    value[4][1][0] = key
    with pytest.raises(VerificationError):
        Agreement.decode(encode(value))


def test_a_salt_has_its_length() -> None:
    for length in (0, 31, 33):
        with pytest.raises(LocalProtocolError, match=f"a salt has 32 bytes, not {length}"):
            claim(ANN, "Ann", bytes(length))


# --- what cannot be read ---------------------------------------------------------------------------------


def changed(path: tuple[int, ...], value: Any) -> bytes:
    """The plain agreement's bytes with one value exchanged."""
    whole = replace(PLAIN, options=(("ace", "low"),)).value()
    inner: Any = whole
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return encode(whole)


UNREADABLE: dict[str, tuple[tuple[int, ...], Any, str]] = {
    "another version": ((0,), 2, "agreement[0]: protocol version 2; this program implements version 1"),
    "a version of bytes": ((0,), b"\x01", "agreement[0]"),
    "a long game": ((1,), "x" * 33, "agreement[1]"),
    "an unprintable game": ((1,), "a\x00", "agreement[1]: printable characters"),
    "a game of bytes": ((1,), b"toy", "agreement[1]"),
    "rules of text": ((2,), "3", "agreement[2]"),
    "options that are no list": ((3,), 0, "agreement[3]"),
    "101 options": ((3,), [[f"{n:03}", "x"] for n in range(101)], "agreement[3]"),
    "an option alone": ((3, 0), ["ace"], "agreement[3][0]"),
    "an option in three": ((3, 0), ["ace", "low", ""], "agreement[3][0]"),
    "a long option": ((3, 0, 0), "x" * 201, "agreement[3][0][0]"),
    "a long setting": ((3, 0, 1), "x" * 201, "agreement[3][0][1]"),
    "a setting of numbers": ((3, 0, 1), 1, "agreement[3][0][1]"),
    "an unprintable setting": ((3, 0, 1), "\x85", "agreement[3][0][1]: printable"),
    "nine seats": ((4,), [[b"", "", b"", b"", ""]] * 9, "agreement[4]"),
    "a seat of four": ((4, 0), [b"", "", b"", b""], "agreement[4][0]"),
    "a short key": ((4, 0, 0), bytes(31), "agreement[4][0][0]"),
    "a name of bytes": ((4, 0, 1), b"Ann", "agreement[4][0][1]"),
    "a long name": ((4, 0, 1), "x" * 33, "agreement[4][0][1]"),
    "a short salt": ((4, 1, 2), bytes(31), "agreement[4][1][2]"),
    "a long commitment": ((4, 1, 3), bytes(33), "agreement[4][1][3]"),
    "a bot of bool": ((4, 1, 4), True, "agreement[4][1][4]"),
    "three times": ((5,), [1, 1, 1], "agreement[5]"),
    "a time of text": ((5, 2), "1", "agreement[5][2]"),
    "four flags": ((6,), [False] * 4, "agreement[6]"),
    "a flag of 1": ((6, 1), 1, "agreement[6][1]"),
}


@pytest.mark.parametrize(("path", "value", "told"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_has_another_shape_is_refused_by_its_field(path: tuple[int, ...], value: Any, told: str) -> None:
    with pytest.raises(EncodingError) as caught:
        Agreement.decode(changed(path, value))
    assert str(caught.value).startswith(told)


def test_what_is_read_is_held_to_the_same_bounds() -> None:
    for path, value, told in (
        ((5, 1), 0, "must be above 0"),
        ((5, 0), MAX_MILLISECONDS + 1, "window_ms is"),
        ((3,), [["b", "1"], ["a", "1"]], "not sorted"),
        ((4, 1, 1), "Ann", "the same name"),
        ((4, 1, 1), "", "seat 1: a name has 1 to 32"),
    ):
        with pytest.raises(LocalProtocolError, match=told):
            Agreement.decode(changed(path, value))


@pytest.mark.parametrize("field", [*range(7)])
def test_a_field_too_few_or_too_many_is_refused(field: int) -> None:
    value = PLAIN.value()
    for other in (value[:field] + value[field + 1 :], [*value[:field], 0, *value[field:]]):
        with pytest.raises(EncodingError, match="agreement"):
            Agreement.decode(encode(other))


def test_an_agreement_has_at_most_64_kilobytes() -> None:
    large = replace(PLAIN, options=tuple((f"{n:0200}", "x" * 200) for n in range(100)))
    assert Agreement.decode(large.encode()) == large
    with pytest.raises(EncodingError, match="exceed the limit of 65536"):
        Agreement.decode(bytes(65537))
