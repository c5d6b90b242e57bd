"""The chain of heads and the records of the public file, by hand, and every bound of what is read."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from protocol.canonical import encode
from protocol.entry import Entry, Kind, sign
from protocol.errors import EncodingError
from protocol.identity import Identity
from protocol.log import (
    ClosedStep,
    PublishedStep,
    close,
    encode_agreement,
    genesis,
    head_after,
    read_agreement,
    read_step,
)

TABLE, PREV = b"\x11" * 32, b"\x22" * 32
KEYS = [Identity(bytes([number + 1]) * 32) for number in range(3)]


def entry(seat: int, step: int = 4, epoch: int = 1, body: Any = b"x" * 32) -> Entry:
    return sign(
        KEYS[seat], table=TABLE, epoch=epoch, step=step, seat=seat, kind=Kind.SEALED, body=body, prev=PREV
    )


def hashed(tag: str, *items: bytes) -> bytes:
    framed = b"p2p-rummy/" + bytes([len(tag)]) + tag.encode("ascii")
    for item in items:
        framed += len(item).to_bytes(8, "big") + item
    return hashlib.sha256(framed).digest()


# --- heads -----------------------------------------------------------------------------------------------


def test_the_first_head_is_of_the_table() -> None:
    assert genesis(TABLE) == hashed("genesis", TABLE)
    assert genesis(bytes(32)) != genesis(TABLE)


def test_a_head_is_a_hash_of_the_one_before_and_of_who_said_what() -> None:
    first, last = b"\xaa" * 32, b"\xbb" * 32
    said = b"\x93\x01\x04\x93\x92\x00\xc4\x20" + first + b"\x92\x01\xc4\x00" + b"\x92\x02\xc4\x20" + last
    assert head_after(PREV, 1, 4, {2: last, 0: first, 1: None}) == hashed("head", PREV, said)


def test_everything_in_a_step_is_in_its_head() -> None:
    ids = {0: b"\xaa" * 32, 1: b"\xbb" * 32}
    heads = {
        head_after(PREV, 0, 4, ids),
        head_after(bytes(32), 0, 4, ids),
        head_after(PREV, 1, 4, ids),
        head_after(PREV, 0, 5, ids),
        head_after(PREV, 0, 4, {0: ids[1], 1: ids[0]}),
        head_after(PREV, 0, 4, {0: ids[0], 2: ids[1]}),
        head_after(PREV, 0, 4, {0: ids[0], 1: None}),
        head_after(PREV, 0, 4, {0: ids[0]}),
        head_after(PREV, 0, 4, {}),
    }
    assert len(heads) == 9


def test_closing_sorts_by_seat_and_keeps_absence() -> None:
    zero, two = entry(0), entry(2)
    closed = close(PREV, 1, 4, {2: two, 1: None, 0: zero})
    assert closed == ClosedStep(
        epoch=1,
        step=4,
        prev=PREV,
        head=head_after(PREV, 1, 4, {0: zero.id, 1: None, 2: two.id}),
        contributions=((0, zero), (1, None), (2, two)),
    )
    assert closed.absent == (1,)
    assert closed.entries == (zero, two)


# --- records ---------------------------------------------------------------------------------------------


def test_a_step_is_written_as_the_specification_says_and_read_again() -> None:
    zero, two = entry(0), entry(2)
    closed = close(PREV, 1, 4, {0: zero, 1: None, 2: two})
    record = b"\x94\x01\x01\x04\x93" + zero.encode() + b"\x01" + two.encode()
    assert closed.encode() == record
    assert read_step(record, number=9) == PublishedStep(
        epoch=1, step=4, contributions=((0, zero), (1, None), (2, two))
    )


def test_the_agreement_is_the_first_record() -> None:
    assert encode_agreement(b"terms") == b"\x92\x00\xc4\x05terms"
    assert read_agreement(b"\x92\x00\xc4\x05terms") == b"terms"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([1, b"terms"], "record 0[0]: a log begins with the agreement"),
        ([0], "record 0: "),
        ([0, b"terms", 0], "record 0: "),
        ([0, "terms"], "record 0[1]: "),
        ([b"", b"terms"], "record 0[0]: "),
        (b"terms", "record 0: "),
    ],
)
def test_a_first_record_of_another_shape_is_named(value: Any, told: str) -> None:
    with pytest.raises(EncodingError) as caught:
        read_agreement(encode(value))
    assert str(caught.value).startswith(told)


def item(seat: int) -> list[bytes]:
    return entry(seat).value()


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([0, 1, 4, []], "record 7[0]: a record of kind 1 is expected"),
        ([2, 1, 4, []], "record 7[0]: a record of kind 1 is expected"),
        ([True, 1, 4, []], "record 7[0]: "),
        ([1, 4, []], "record 7: "),
        ([1, 1, 4, [], 0], "record 7: "),
        ([1, 2**32, 4, []], "record 7[1]: "),
        ([1, 1, 2**32, []], "record 7[2]: "),
        ([1, b"", 4, []], "record 7[1]: "),
        ([1, 1, 4, 0], "record 7[3]: "),
        ([1, 1, 4, [0, 1, 2, 3, 4, 5, 6, 7, 0]], "record 7[3]: "),
        ([1, 1, 4, [8]], "record 7[3][0]: "),
        ([1, 1, 4, [0, b"absent"]], "record 7[3][1]: "),
        ([1, 1, 4, [[b"", bytes(64)]]], "record 7[3][0]: "),
        ([1, 1, 4, [[item(0)[0]]]], "record 7[3][0]: "),
        ([1, 1, 4, [1, 0]], "record 7: contributions are not sorted by seat"),
        ([1, 1, 4, [0, 0]], "record 7: contributions are not sorted by seat, or one seat is there twice"),
        ([1, 1, 4, [item(1), item(0)]], "record 7: contributions are not sorted"),
        ([1, 1, 4, [item(1), 1]], "record 7: contributions are not sorted"),
    ],
)
def test_a_step_of_another_shape_is_named_by_its_field(value: Any, told: str) -> None:
    with pytest.raises(EncodingError) as caught:
        read_step(encode(value), number=7)
    assert str(caught.value).startswith(told)


def test_a_record_has_at_most_a_megabyte() -> None:
    with pytest.raises(EncodingError, match="exceed the limit of 1048576"):
        read_step(bytes((1 << 20) + 1), number=1)
    with pytest.raises(EncodingError, match="exceed the limit of 1048576"):
        read_agreement(bytes((1 << 20) + 1))


def test_eight_seats_fit_into_a_record() -> None:
    assert read_step(encode([1, 0, 0, list(range(8))]), number=1).contributions == tuple(
        (seat, None) for seat in range(8)
    )
