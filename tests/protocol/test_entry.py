"""Signed entries: their bytes, worked out by hand, every field's bound, and what makes two statements one."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from protocol.canonical import encode
from protocol.entry import (
    MAX_CONTENT,
    NATURE,
    Entry,
    Key,
    Kind,
    Nature,
    content_of,
    entry_id,
    from_bytes,
    from_value,
    read,
    sign,
)
from protocol.errors import EncodingError, LocalProtocolError, VerificationError
from protocol.identity import Identity
from tests.second import identity as second

ANN, BO = Identity(b"\x01" * 32), Identity(b"\x02" * 32)
TABLE, PREV = b"\x11" * 32, b"\x22" * 32


def entry(**changed: Any) -> Entry:
    fields: dict[str, Any] = {
        "table": TABLE,
        "epoch": 0,
        "step": 300,
        "seat": 5,
        "kind": Kind.MOVE,
        "body": ["draw", [], []],
        "prev": PREV,
    }
    return sign(ANN, **(fields | changed))


CONTENT = b"".join(
    (
        b"\x99",  # nine fields
        b"\x01",  # the version of the protocol
        b"\xc4\x20" + TABLE,
        b"\x00",  # the epoch
        b"\xcd\x01\x2c",  # step 300
        b"\x05",  # the seat
        b"\x06",  # MOVE
        b"\x00",  # the round
        b"\x93\xa4draw\x90\x90",
        b"\xc4\x20" + PREV,
    )
)


# --- bytes -----------------------------------------------------------------------------------------------


def test_the_content_is_the_one_of_the_specification() -> None:
    made = entry()
    assert made.content == CONTENT
    assert made.encode() == b"\x92\xc4\x55" + CONTENT + b"\xc4\x40" + made.signature
    assert len(CONTENT) == 0x55 == 1 + 1 + 34 + 1 + 3 + 1 + 1 + 1 + 8 + 34


def test_the_identity_is_a_hash_of_the_content_alone() -> None:
    framed = b"p2p-rummy/\x08entry id" + len(CONTENT).to_bytes(8, "big") + CONTENT
    assert entry().id == entry_id(CONTENT) == hashlib.sha256(framed).digest()


def test_another_implementation_accepts_the_signature() -> None:
    made = entry()
    second.verify(ANN.public_key, "entry", CONTENT, made.signature)
    made.verify(ANN.public_key)


def test_an_entry_comes_back_as_it_was() -> None:
    made = entry(body=[1, [b"x", True], "y"], round=7, epoch=3, kind=Kind.PREVOTE)
    for again in (
        read(made.content, made.signature),
        from_value(made.value()),
        from_bytes(made.encode()),
    ):
        assert again == made
    assert (made.table, made.epoch, made.step, made.seat, made.kind, made.round, made.body, made.prev) == (
        TABLE, 3, 300, 5, Kind.PREVOTE, 7, [1, [b"x", True], "y"], PREV,
    )  # fmt: skip


def test_kinds_have_the_numbers_and_natures_of_the_specification() -> None:
    steps = "AGREE COMMIT REVEAL SHUFFLE COMPLAINT SHARES MOVE SEALED ANSWER RULING SHOW RESULT RESTORE RECORD END"
    numbers = {name: (number, Nature.STEP) for number, name in enumerate(steps.split())}
    numbers |= {
        "PROPOSAL": (32, Nature.VOTE),
        "PREVOTE": (33, Nature.VOTE),
        "PRECOMMIT": (34, Nature.VOTE),
        "ROUND_CHANGE": (35, Nature.VOTE),
        "RETURN": (48, Nature.NOTE),
        "ABANDON": (49, Nature.NOTE),
    }
    assert {kind.name: (kind.value, NATURE[kind]) for kind in Kind} == numbers
    assert {kind.name: entry(kind=kind).nature for kind in Kind} == {
        name: nature for name, (_, nature) in numbers.items()
    }


# --- signatures ------------------------------------------------------------------------------------------


def test_a_signature_of_another_key_or_content_names_seat_and_step() -> None:
    made = entry()
    with pytest.raises(VerificationError) as caught:
        made.verify(BO.public_key)
    assert (caught.value.reason, caught.value.seat, caught.value.step) == ("bad_signature", 5, 300)
    for at in range(len(CONTENT)):
        changed = CONTENT[:at] + bytes([CONTENT[at] ^ 1]) + CONTENT[at + 1 :]
        try:
            other = read(changed, made.signature)
        except EncodingError:
            continue
        assert other.id != made.id
        with pytest.raises(VerificationError, match="does not hold"):
            other.verify(ANN.public_key)
    for at in range(64):
        forged = made.signature[:at] + bytes([made.signature[at] ^ 1]) + made.signature[at + 1 :]
        with pytest.raises(VerificationError) as caught:
            read(CONTENT, forged).verify(ANN.public_key)
        assert caught.value.reason == "bad_signature"


def test_a_signature_made_for_something_else_is_none() -> None:
    for tag in ("talk", "link auth", "entry id"):
        with pytest.raises(VerificationError):
            read(CONTENT, ANN.sign(tag, CONTENT)).verify(ANN.public_key)


def test_n32_two_signatures_of_one_content_are_one_statement() -> None:
    made = entry()
    other = read(CONTENT, bytes(64))
    assert other.id == made.id
    assert other.key == made.key


# --- what a seat may say only once -----------------------------------------------------------------------


def test_a_key_is_everything_but_the_body() -> None:
    made = entry()
    assert made.key == Key(table=TABLE, epoch=0, step=300, seat=5, kind=Kind.MOVE, round=0, prev=PREV)
    assert entry(body=["take 4H", [], []]).key == made.key
    for change in (
        {"table": bytes(32)},
        {"epoch": 1},
        {"step": 301},
        {"seat": 4},
        {"kind": Kind.SEALED},
        {"round": 1},
        {"prev": bytes(32)},
    ):
        assert entry(**change).key != made.key, change


def test_a_complaint_stands_in_the_place_of_a_shuffle() -> None:
    assert entry(kind=Kind.COMPLAINT).key == entry(kind=Kind.SHUFFLE).key
    assert entry(kind=Kind.COMPLAINT).id != entry(kind=Kind.SHUFFLE).id


# --- bounds ----------------------------------------------------------------------------------------------

FIELDS = ["version", "table", "epoch", "step", "seat", "kind", "round", "body", "prev"]


def contents(**changed: Any) -> bytes:
    """A content in which single fields have other values, encoded as it is."""
    plain: dict[str, Any] = dict(
        zip(FIELDS, [1, TABLE, 0, 300, 5, 6, 0, ["draw", [], []], PREV], strict=True)
    )
    assert changed.keys() <= plain.keys()
    return encode([(plain | changed)[name] for name in FIELDS])


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("version", 0, "protocol version 0; this program implements version 1"),
        ("version", 2, "protocol version 2; this program implements version 1"),
        ("version", True, ""),
        ("table", b"\x11" * 31, ""),
        ("table", b"\x11" * 33, ""),
        ("table", "\x11" * 32, ""),
        ("epoch", 2**32, ""),
        ("epoch", False, ""),
        ("step", 2**32, ""),
        ("step", b"", ""),
        ("seat", 8, ""),
        ("seat", True, ""),
        ("kind", 15, "unknown kind 15"),
        ("kind", 31, "unknown kind 31"),
        ("kind", 36, "unknown kind 36"),
        ("kind", 50, "unknown kind 50"),
        ("kind", True, ""),
        ("round", 2**16, ""),
        ("round", "0", ""),
        ("prev", b"\x22" * 31, ""),
        ("prev", "\x22" * 32, ""),
    ],
)
def test_a_field_out_of_its_bounds_is_named(field: str, value: Any, told: str) -> None:
    with pytest.raises(EncodingError) as caught:
        read(contents(**{field: value}), bytes(64))
    assert caught.value.field == f"entry.{field}"
    assert told in caught.value.reason


@pytest.mark.parametrize(
    ("field", "value"),
    [("epoch", 2**32 - 1), ("step", 2**32 - 1), ("seat", 0), ("seat", 7), ("round", 2**16 - 1), ("body", 0)],
)
def test_a_field_at_its_bound_is_read(field: str, value: Any) -> None:
    assert getattr(read(contents(**{field: value}), bytes(64)), field) == value


@pytest.mark.parametrize("length", [0, 63, 65])
def test_a_signature_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(EncodingError) as caught:
        read(CONTENT, bytes(length))
    assert caught.value.field == "entry.signature"
    with pytest.raises(EncodingError):
        from_value([CONTENT, bytes(length)])


@pytest.mark.parametrize("value", [[], [CONTENT], [CONTENT, bytes(64), 0], CONTENT, 0, ["x", bytes(64)]])
def test_a_pair_of_another_shape_is_refused(value: Any) -> None:
    with pytest.raises(EncodingError, match="move"):
        from_value(value, field="move")


def test_eight_and_ten_fields_are_refused() -> None:
    values: list[Any] = [1, TABLE, 0, 300, 5, 6, 0, [], PREV]
    for wrong in (values[:-1], [*values, 0]):
        with pytest.raises(EncodingError, match="entry"):
            read(encode(wrong), bytes(64))


def test_the_body_is_bounded_in_bytes_depth_and_values() -> None:
    spare = MAX_CONTENT - len(contents(body=bytes(60_000))) + 60_000
    assert len(read(contents(body=bytes(spare)), bytes(64)).content) == MAX_CONTENT
    with pytest.raises(EncodingError, match="exceed the limit"):
        read(contents(body=bytes(spare + 1)), bytes(64))
    deep: Any = []
    for _ in range(6):
        deep = [deep]
    read(contents(body=deep), bytes(64))
    with pytest.raises(EncodingError, match="nested more than 8"):
        read(contents(body=[deep]), bytes(64))
    read(contents(body=[0] * 8000), bytes(64))
    with pytest.raises(EncodingError, match="more than 8192 values"):
        read(contents(body=[0] * 8192), bytes(64))


def test_content_that_has_no_encoding_is_not_signed() -> None:
    with pytest.raises(LocalProtocolError):
        content_of(table=TABLE, epoch=-1, step=0, seat=0, kind=Kind.END, round=0, body=[], prev=PREV)
