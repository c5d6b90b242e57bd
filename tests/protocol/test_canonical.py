"""The encoder: one encoding for each value, and nothing else is read."""

from __future__ import annotations

from typing import Any

import msgpack
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from protocol import canonical
from protocol.canonical import Limits, decode, encode
from protocol.entry import Kind
from protocol.errors import EncodingError, LocalProtocolError
from tests.second.encoding import encode as second_encode

values = st.recursive(
    st.integers(0, 2**53 - 1) | st.booleans() | st.binary(max_size=300) | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=20),
    max_leaves=40,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "00"),
        (127, "7f"),
        (128, "cc80"),
        (255, "ccff"),
        (256, "cd0100"),
        (65535, "cdffff"),
        (65536, "ce00010000"),
        (2**32, "cf0000000100000000"),
        (2**53 - 1, "cf001fffffffffffff"),
        (False, "c2"),
        (True, "c3"),
        (b"", "c400"),
        (b"\x01\x02", "c4020102"),
        ("", "a0"),
        ("4H", "a23448"),
        ("é", "a2c3a9"),
        ([], "90"),
        ([1, [True, b"x"]], "920192c3c40178"),
    ],
)
def test_values_have_the_encoding_of_the_msgpack_specification(value: Any, expected: str) -> None:
    assert encode(value).hex() == expected
    assert decode(bytes.fromhex(expected)) == value


@pytest.mark.parametrize(
    ("size", "text_header", "bytes_header"),
    [
        (31, "bf", "c41f"),
        (32, "d920", "c420"),
        (255, "d9ff", "c4ff"),
        (256, "da0100", "c50100"),
        (65536, "db00010000", "c600010000"),
    ],
)
def test_lengths_take_the_shortest_header(size: int, text_header: str, bytes_header: str) -> None:
    assert encode("a" * size) == bytes.fromhex(text_header) + b"a" * size
    assert encode(b"a" * size) == bytes.fromhex(bytes_header) + b"a" * size


@pytest.mark.parametrize(("size", "header"), [(15, "9f"), (16, "dc0010"), (65535, "dcffff")])
def test_lists_take_the_shortest_header(size: int, header: str) -> None:
    data = bytes.fromhex(header) + bytes(size)
    assert encode([0] * size) == data
    assert decode(data, limits=Limits(max_nodes=size + 1)) == [0] * size


@settings(max_examples=60, deadline=None)
@given(values)
def test_what_is_encoded_is_decoded_and_another_encoder_agrees(value: Any) -> None:
    data = encode(value)
    assert decode(data, limits=Limits(max_depth=40)) == value
    assert data == second_encode(value)
    assert msgpack.unpackb(data, raw=False, strict_map_key=True) == value


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=40))
@example(b"\xdd\xff\xff\xff\xff")
@example(b"\x93" * 1000)
def test_f84_random_bytes_are_refused_or_are_their_own_encoding(data: bytes) -> None:
    try:
        value = decode(data)
    except EncodingError:
        return
    assert encode(value) == data


@settings(max_examples=60, deadline=None)
@given(values, st.data())
def test_n32_changed_bytes_never_decode_to_the_same_value(value: Any, draw: st.DataObject) -> None:
    data = bytearray(encode(value))
    at = draw.draw(st.integers(0, len(data) - 1))
    data[at] ^= draw.draw(st.integers(1, 255))
    try:
        other = decode(bytes(data), limits=Limits(max_depth=40))
    except EncodingError:
        return
    assert encode(other) == bytes(data) != encode(value)


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("f68 no bytes", "", "ends too early"),
        ("f69 truncated integer", "cd01", "ends too early"),
        ("f69 truncated text", "a334", "left"),
        ("f69 truncated list", "9200", "a list of 2 items in 1 bytes"),
        ("f70 trailing byte", "0000", "1 trailing"),
        ("f71 long integer", "cc7f", "longer than it needs"),
        ("f71 longer integer", "cd00ff", "longer than it needs"),
        ("f71 longest integer", "cf00000000ffffffff", "longer than it needs"),
        ("f71 long text", "d91f" + "61" * 31, "longer than it needs"),
        ("f71 long bytes", "c50001aa", "longer than it needs"),
        ("f71 long list", "dc000100", "longer than it needs"),
        ("f72 map", "80", "a map"),
        ("f72 map 16", "de0000", "a map"),
        ("f73 float 32", "ca7fc00000", "a float"),
        ("f73 minus zero", "cb8000000000000000", "a float"),
        ("f76 overlong utf-8", "a2c080", "not UTF-8"),
        ("f76 surrogate", "a3eda080", "not UTF-8"),
        ("f76 truncated utf-8", "a1c3", "not UTF-8"),
        ("f78 list bomb", "ddffffffff", "a list of 4294967295 items"),
        ("f78 bytes bomb", "c6ffffffff", "left"),
        ("f79 extension", "d4ff00", "an extension"),
        ("f79 timestamp", "d6ff00000000", "an extension"),
        ("f79 ext 8", "c70100aa", "an extension"),
        ("f83 2**53", "cf0020000000000000", "2**53"),
        ("nil", "c0", "nil"),
        ("reserved", "c1", "reserved"),
        ("negative fixint", "ff", "a negative"),
        ("int 8", "d080", "a negative"),
        ("int 8 that holds a positive number", "d001", "a negative"),
        ("int 64", "d30000000000000001", "a negative"),
    ],
)
def test_foreign_and_wasteful_encodings_are_refused(name: str, data: str, reason: str) -> None:
    with pytest.raises(EncodingError) as caught:
        decode(bytes.fromhex(data), field="entry")
    assert reason in caught.value.reason, name
    assert caught.value.field.startswith("entry")


def test_an_error_names_the_path_of_the_field() -> None:
    data = encode([1, [2, [3]]])[:-1] + b"\xc0"
    with pytest.raises(EncodingError) as caught:
        decode(data, field="entry.body")
    assert caught.value.field == "entry.body[1][1][0]"


def test_f77_a_thousand_nested_lists_are_refused_without_recursion_error() -> None:
    with pytest.raises(EncodingError, match="nested more than 8 deep"):
        decode(b"\x91" * 1000 + b"\x00")


def test_depth_nodes_and_bytes_are_bounded_exactly() -> None:
    limits = Limits(max_bytes=6, max_depth=2, max_nodes=5)
    assert decode(encode([[1, 2, 3]]), limits=limits) == [[1, 2, 3]]
    with pytest.raises(EncodingError, match="nested more than 2"):
        decode(encode([[[]]]), limits=limits)
    with pytest.raises(EncodingError, match="more than 5 values"):
        decode(encode([[1, 2, 3, 4]]), limits=limits)
    with pytest.raises(EncodingError, match="more than 5 values"):
        decode(encode([[1, 2], 3, 4]), limits=limits)
    with pytest.raises(EncodingError, match="exceed the limit of 6"):
        decode(encode(b"12345"), limits=limits)


@pytest.mark.parametrize(
    "value", [-1, 2**53, 1.0, None, {}, bytearray(b"x"), "\ud800", [None], {1}, [[-1]], range(2)]
)
def test_values_without_an_encoding_are_refused_when_written(value: Any) -> None:
    with pytest.raises(LocalProtocolError):
        encode(value)


def test_a_member_of_an_enumeration_is_written_as_its_number() -> None:
    assert encode([Kind.MOVE, True]) == encode([6, True]) == bytes.fromhex("9206c3")


def test_f74_f75_a_shape_takes_no_look_alike() -> None:
    assert canonical.integer(1, field="x", below=2) == 1
    assert canonical.boolean(True, field="x") is True
    assert canonical.octets(b"ab", field="x", length=2) == b"ab"
    assert canonical.text("ab", field="x", at_most=2) == "ab"
    assert canonical.array([1], field="x", length=1) == [1]
    refused: list[tuple[Any, ...]] = [
        (canonical.integer, True, {}),
        (canonical.integer, 2, {"below": 2}),
        (canonical.integer, b"\x01", {}),
        (canonical.boolean, 1, {}),
        (canonical.octets, "ab", {}),
        (canonical.octets, b"ab", {"length": 3}),
        (canonical.octets, b"ab", {"at_most": 1}),
        (canonical.text, b"ab", {}),
        (canonical.text, "ab", {"at_most": 1}),
        (canonical.array, (1,), {}),
        (canonical.array, [1], {"length": 2}),
        (canonical.array, [1], {"at_most": 0}),
    ]
    for shape, value, options in refused:
        with pytest.raises(EncodingError) as caught:
            shape(value, field="move.cards", **options)
        assert caught.value.field == "move.cards"
