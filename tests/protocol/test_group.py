"""The group: published vectors, strict encodings, and sums against an independent calculation."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.errors import EncodingError, LocalProtocolError
from protocol.group import (
    GENERATOR,
    ORDER,
    Equation,
    Point,
    add,
    count_operations,
    decode_points,
    decode_scalar,
    decode_scalars,
    encode_points,
    encode_scalar,
    encode_scalars,
    negate,
    point_from_label,
    public_combination,
    scalar_from_uniform,
    secret_combination,
)
from protocol.hash_to_curve import FIELD, expand_message_xmd, hash_to_curve, hash_to_field

Affine = tuple[int, int] | None
BASE = (
    # SEC 2, version 2.0, section 2.4.1
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)


def plus(a: Affine, b: Affine) -> Affine:
    """The textbook addition on y^2 = x^3 + 7, to check the library by."""
    if a is None or b is None:
        return a or b
    (x1, y1), (x2, y2) = a, b
    if x1 == x2 and (y1 + y2) % FIELD == 0:
        return None
    slope = 3 * x1 * x1 * pow(2 * y1, -1, FIELD) if a == b else (y2 - y1) * pow(x2 - x1, -1, FIELD)
    x = (slope * slope - x1 - x2) % FIELD
    return x, (slope * (x1 - x) - y1) % FIELD


def times(scalar: int, point: Affine) -> Affine:
    result: Affine = None
    for bit in bin(scalar % ORDER)[2:]:
        result = plus(result, result)
        if bit == "1":
            result = plus(result, point)
    return result


def encoded(point: Affine) -> bytes:
    assert point is not None
    return bytes([2 + (point[1] & 1)]) + point[0].to_bytes(32, "big")


scalars = st.integers(1, ORDER - 1)


# --- hash to curve ---------------------------------------------------------------------------------------

RFC_TAG = b"QUUX-V01-CS02-with-secp256k1_XMD:SHA-256_SSWU_RO_"
# RFC 9380, appendix J.8.1: message, u[0], u[1], P.x, P.y
RFC_VECTORS = [
    (
        b"",
        "6b0f9910dd2ba71c78f2ee9f04d73b5f4c5f7fc773a701abea1e573cab002fb3",
        "1ae6c212e08fe1a5937f6202f929a2cc8ef4ee5b9782db68b0d5799fd8f09e16",
        "c1cae290e291aee617ebaef1be6d73861479c48b841eaba9b7b5852ddfeb1346",
        "64fa678e07ae116126f08b022a94af6de15985c996c3a91b64c406a960e51067",
    ),
    (
        b"abc",
        "128aab5d3679a1f7601e3bdf94ced1f43e491f544767e18a4873f397b08a2b61",
        "5897b65da3b595a813d0fdcc75c895dc531be76a03518b044daaa0f2e4689e00",
        "3377e01eab42db296b512293120c6cee72b6ecf9f9205760bd9ff11fb3cb2c4b",
        "7f95890f33efebd1044d382a01b1bee0900fb6116f94688d487c6c7b9c8371f6",
    ),
    (
        b"abcdef0123456789",
        "ea67a7c02f2cd5d8b87715c169d055a22520f74daeb080e6180958380e2f98b9",
        "7434d0d1a500d38380d1f9615c021857ac8d546925f5f2355319d823a478da18",
        "bac54083f293f1fe08e4a70137260aa90783a5cb84d3f35848b324d0674b0e3a",
        "4436476085d4c3c4508b60fcf4389c40176adce756b398bdee27bca19758d828",
    ),
    (
        b"q128_" + b"q" * 128,
        "eda89a5024fac0a8207a87e8cc4e85aa3bce10745d501a30deb87341b05bcdf5",
        "dfe78cd116818fc2c16f3837fedbe2639fab012c407eac9dfe9245bf650ac51d",
        "e2167bc785333a37aa562f021f1e881defb853839babf52a7f72b102e41890e9",
        "f2401dd95cc35867ffed4f367cd564763719fbc6a53e969fb8496a1e6685d873",
    ),
    (
        b"a512_" + b"a" * 512,
        "8d862e7e7e23d7843fe16d811d46d7e6480127a6b78838c277bca17df6900e9f",
        "68071d2530f040f081ba818d3c7188a94c900586761e9115efa47ae9bd847938",
        "e3c8d35aaaf0b9b647e88a0a0a7ee5d5bed5ad38238152e4e6fd8c1f8cb7c998",
        "8446eeb6181bf12f56a9d24e262221cc2f0c4725c7e3803024b5888ee5823aa6",
    ),
]


@pytest.mark.parametrize(("message", "u0", "u1", "x", "y"), RFC_VECTORS)
def test_hash_to_curve_gives_the_points_of_rfc_9380(message: bytes, u0: str, u1: str, x: str, y: str) -> None:
    assert hash_to_field(message, RFC_TAG, 2) == [int(u0, 16), int(u1, 16)]
    assert hash_to_curve(message, RFC_TAG) == (int(x, 16), int(y, 16))


def test_points_from_labels_are_curve_points_of_their_own() -> None:
    points = [point_from_label(label, index) for label in ("card", "generator") for index in range(20)]
    assert len(set(points)) == 40
    assert point_from_label("card", 3) is point_from_label("card", 3)
    tag = b"p2p-rummy-V01-with-secp256k1_XMD:SHA-256_SSWU_RO_"
    assert point_from_label("card", 3).encoded == encoded(hash_to_curve(b"card/3", tag))


@pytest.mark.parametrize(("tag", "length"), [(b"t" * 256, 32), (b"t", 8161)])
def test_expansion_refuses_what_the_rfc_does_not_define(tag: bytes, length: int) -> None:
    with pytest.raises(LocalProtocolError):
        expand_message_xmd(b"", tag, length)


# --- encodings -------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(scalars)
def test_points_and_scalars_round_trip(scalar: int) -> None:
    point = secret_combination(scalar)
    assert Point.decode(point.encoded) == point
    assert decode_scalar(encode_scalar(scalar)) == scalar
    assert decode_points(encode_points([point, GENERATOR]), 2) == [point, GENERATOR]
    assert decode_scalars(encode_scalars([scalar, 0]), 2) == [scalar, 0]


GOOD = GENERATOR.encoded
OFF_CURVE_X = next(x for x in range(1, 50) if pow(x**3 + 7, (FIELD - 1) // 2, FIELD) != 1)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("off the curve", b"\x02" + OFF_CURVE_X.to_bytes(32, "big")),
        ("x at the field's prime", b"\x02" + FIELD.to_bytes(32, "big")),
        ("x above the field's prime", b"\x02" + (FIELD + 1).to_bytes(32, "big")),
        ("x of all ones", b"\x03" + b"\xff" * 32),
        ("prefix 00", b"\x00" + GOOD[1:]),
        ("prefix 01", b"\x01" + GOOD[1:]),
        ("prefix 04", b"\x04" + GOOD[1:]),
        ("prefix 06", b"\x06" + GOOD[1:]),
        ("prefix 07", b"\x07" + GOOD[1:]),
        ("uncompressed", b"\x04" + b"".join(c.to_bytes(32, "big") for c in BASE)),
        ("hybrid", b"\x06" + b"".join(c.to_bytes(32, "big") for c in BASE)),
        ("too short", GOOD[:-1]),
        ("trailing byte", GOOD + b"\x00"),
        ("empty", b""),
        ("the identity as one zero byte", b"\x00"),
        ("the identity as zeros", bytes(33)),
    ],
)
def test_n9_bytes_that_are_not_one_compressed_point_are_refused(name: str, data: bytes) -> None:
    with pytest.raises(EncodingError) as caught:
        Point.decode(data, field="deck[3]")
    assert caught.value.field == "deck[3]", name
    with pytest.raises(EncodingError):
        decode_points(data, 1, field="deck")


def test_x_one_above_the_prime_would_have_been_a_point() -> None:
    """FIELD + 1 reduces to x = 1, which is on the curve: only the range check refuses it."""
    assert Point.decode(b"\x02" + (1).to_bytes(32, "big"))


@pytest.mark.parametrize("value", [ORDER, ORDER + 1, 2**256 - 1])
def test_n17_scalars_at_or_above_the_order_are_refused(value: int) -> None:
    with pytest.raises(EncodingError, match="at or above the group order") as caught:
        decode_scalars(encode_scalar(1) + value.to_bytes(32, "big"), 2, field="proof.f")
    assert caught.value.field == "proof.f[1]"


@pytest.mark.parametrize("length", [0, 31, 33])
def test_scalars_of_another_length_are_refused(length: int) -> None:
    with pytest.raises(EncodingError):
        decode_scalar(bytes(length))
    with pytest.raises(EncodingError):
        decode_scalars(bytes(length), 1)


def test_points_and_scalars_are_not_taken_from_lists_of_another_length() -> None:
    with pytest.raises(EncodingError, match="2 points take 66 bytes, not 99"):
        decode_points(GOOD * 3, 2)
    with pytest.raises(EncodingError, match="2 scalars take 64 bytes, not 32"):
        decode_scalars(bytes(32), 2)


# --- arithmetic ------------------------------------------------------------------------------------------


def test_the_generator_is_the_standards() -> None:
    assert GENERATOR.encoded == encoded(BASE)
    assert times(ORDER - 1, BASE) == (BASE[0], FIELD - BASE[1])


@settings(max_examples=15, deadline=None)
@given(scalars, scalars, scalars)
def test_combinations_agree_with_textbook_arithmetic(a: int, b: int, c: int) -> None:
    other = times(c, BASE)
    point = Point.decode(encoded(other))
    expected = plus(plus(times(a, BASE), times(b, other)), other)
    if expected is None:
        return
    assert secret_combination(a, [(point, b)], [point]).encoded == encoded(expected)
    public = public_combination([(GENERATOR, a), (point, b)], [point])
    assert public is not None
    assert public.encoded == encoded(expected)


def test_sums_that_vanish_are_none_in_public_and_an_error_in_secret() -> None:
    point = point_from_label("card", 0)
    assert add(point, negate(point)) is None
    assert public_combination([(point, 3), (GENERATOR, 0), (point, ORDER - 3)]) is None
    assert public_combination([]) is None
    assert public_combination([(point, ORDER)], [point]) == point
    with pytest.raises(LocalProtocolError, match="the identity"):
        secret_combination(None, [(point, 3)], [negate(point)] * 3)


@pytest.mark.parametrize("scalar", [0, ORDER, -ORDER])
def test_n7_a_secret_scalar_of_zero_is_refused(scalar: int) -> None:
    with pytest.raises(LocalProtocolError, match="zero"):
        secret_combination(scalar)
    with pytest.raises(LocalProtocolError, match="zero"):
        secret_combination(1, [(GENERATOR, scalar)])


def test_negative_scalars_are_reduced() -> None:
    assert secret_combination(-1) == negate(GENERATOR)
    assert public_combination([(GENERATOR, -1)]) == negate(GENERATOR)


def test_an_equation_collects_the_terms_of_one_point() -> None:
    point = point_from_label("card", 1)
    equation = Equation()
    equation.add(point, 5)
    equation.add(GENERATOR, 1)
    equation.add(Point.decode(point.encoded), -5)
    equation.add(GENERATOR, ORDER - 1)
    assert len(equation) == 2
    assert equation.holds()
    equation.add(point, 1)
    assert not equation.holds()


def test_points_are_values() -> None:
    point = point_from_label("card", 1)
    assert point == Point.decode(point.encoded)
    assert hash(point) == hash(Point.decode(bytes(point.encoded)))
    assert point != point.encoded
    before = point.encoded
    public_combination([(point, 7)])
    negate(point)
    assert point.encoded == before
    assert public_combination([(point, 1)]) == point


def test_a_scalar_takes_64_uniform_bytes() -> None:
    assert scalar_from_uniform(bytes(63) + b"\x05") == 5
    assert scalar_from_uniform((ORDER + 2).to_bytes(64, "big")) == 2
    with pytest.raises(LocalProtocolError):
        scalar_from_uniform(bytes(32))


def test_operations_are_counted_inside_the_with_only() -> None:
    point = point_from_label("card", 1)
    secret_combination(1)
    with count_operations() as operations:
        secret_combination(5, [(point, 2), (point, 3)], [point])
        public_combination([(point, 2), (point, 0)], [point])
    secret_combination(1)
    assert (operations.base_products, operations.secret_products, operations.public_products) == (1, 2, 1)
    assert (operations.sums, operations.additions) == (2, 3 + 1)
    fresh = secret_combination(1234567).encoded
    with count_operations() as operations:
        decode_points(fresh + fresh, 2)
    assert operations.decodings == 1  # the second is remembered
