"""Scalars and points of secp256k1: the only module that names the curve library.

A scalar is an ``int`` in 0..ORDER-1, written as 32 bytes (big-endian).  A :class:`Point` is a point other than
the identity, written as 33 bytes (SEC 1 compressed).  The identity has no encoding here, so no key, ciphertext
or commitment can be it; a sum that comes out as the identity is ``None``.

Two kinds of product, never to be confused:

- :func:`secret_combination` for scalars that must stay secret.  Every product is constant-time in its scalar
  (``secp256k1_ecmult_gen`` and ``secp256k1_ecmult_const``); only finished products are added.
- :func:`public_combination` for verification equations.  Fast, and its time tells the scalars.

Scalars are Python integers, whose arithmetic modulo the order is not constant-time to the nanosecond; what the
constant-time products remove is the large, key-dependent signal of a multi-millisecond computation.

:func:`count_operations` counts products and additions, for the benchmark and the tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from btclib_secp256k1 import ffi, lib
from btclib_secp256k1.context import ctx

from protocol.errors import EncodingError, LocalProtocolError
from protocol.hash_to_curve import hash_to_curve

ORDER: Final = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
"""The prime order of the group."""

SCALAR_BYTES: Final = 32
POINT_BYTES: Final = 33

_COMPRESSED: Final = 258  # SECP256K1_EC_COMPRESSED
_KEY: Final = ffi.typeof("secp256k1_pubkey *")
_KEYS: Final = ffi.typeof("secp256k1_pubkey[]")
_KEY_POINTERS: Final = ffi.typeof("secp256k1_pubkey *[]")
_UNCOMPRESSED: Final = ffi.typeof("char[65]")
_COMPRESSED_BUFFER: Final = ffi.typeof("char[33]")
_SIZE: Final = ffi.typeof("size_t *")
_multiply: Final = lib.secp256k1_ecdh
_copy_xy: Final = lib.btclib_secp256k1_ecdh_hash_function_xy


class Point:
    """A point of the group, never the identity.  Immutable; equal exactly when the encodings are."""

    __slots__ = ("_key", "encoded")

    encoded: bytes
    """33 bytes."""

    def __init__(self, encoded: bytes, key: Any) -> None:
        """For this module; others use :meth:`decode`."""
        self.encoded = encoded
        self._key = key

    @staticmethod
    def decode(data: bytes, *, field: str = "") -> Point:
        """The point with this encoding.  Raises EncodingError for anything else (x at or above the field's
        prime, off the curve, another length or prefix)."""
        point = _parsed(data)
        if point is None:
            raise EncodingError("not a compressed point of the curve", field=field)
        return point

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and self.encoded == other.encoded

    def __hash__(self) -> int:
        return hash(self.encoded)

    def __repr__(self) -> str:
        return f"Point({self.encoded.hex()})"


# --- encodings -----------------------------------------------------------------------------------------


def decode_points(data: bytes, count: int, *, field: str = "") -> list[Point]:
    """``count`` points, 33 bytes each, and nothing else."""
    if len(data) != count * POINT_BYTES:
        raise EncodingError(f"{count} points take {count * POINT_BYTES} bytes, not {len(data)}", field=field)
    points = []
    for index in range(count):
        point = _parsed(data[index * POINT_BYTES : (index + 1) * POINT_BYTES])
        if point is None:
            raise EncodingError("not a compressed point of the curve", field=f"{field}[{index}]")
        points.append(point)
    return points


def encode_points(points: Iterable[Point]) -> bytes:
    return b"".join(point.encoded for point in points)


def decode_scalar(data: bytes, *, field: str = "") -> int:
    """A scalar in 0..ORDER-1; each has one encoding (an alternative below 2**256 would be malleable)."""
    if len(data) != SCALAR_BYTES:
        raise EncodingError(f"a scalar takes {SCALAR_BYTES} bytes, not {len(data)}", field=field)
    value = int.from_bytes(data, "big")
    if value >= ORDER:
        raise EncodingError("a scalar at or above the group order", field=field)
    return value


def decode_scalars(data: bytes, count: int, *, field: str = "") -> list[int]:
    """``count`` scalars, 32 bytes each, and nothing else."""
    if len(data) != count * SCALAR_BYTES:
        raise EncodingError(
            f"{count} scalars take {count * SCALAR_BYTES} bytes, not {len(data)}", field=field
        )
    return [
        decode_scalar(data[index * SCALAR_BYTES : (index + 1) * SCALAR_BYTES], field=f"{field}[{index}]")
        for index in range(count)
    ]


def encode_scalar(scalar: int) -> bytes:
    return scalar.to_bytes(SCALAR_BYTES, "big")


def encode_scalars(scalars: Iterable[int]) -> bytes:
    return b"".join(scalar.to_bytes(SCALAR_BYTES, "big") for scalar in scalars)


def scalar_from_uniform(data: bytes) -> int:
    """64 uniform bytes reduced modulo the order: the bias is below 2**-255."""
    if len(data) != 64:
        raise LocalProtocolError(f"64 uniform bytes make a scalar, not {len(data)}")
    return int.from_bytes(data, "big") % ORDER


# Decks are parsed when they are checked and again when they are accepted; a point costs a square root.
@lru_cache(maxsize=8192)
def _parsed(data: bytes) -> Point | None:
    # The library also reads 65-byte forms; they are refused here by length.
    if len(data) != POINT_BYTES:
        return None
    counted = _counter.get()
    if counted is not None:
        counted.decodings += 1
    key = ffi.new(_KEY)
    if not lib.secp256k1_ec_pubkey_parse(ctx, key, data, POINT_BYTES):
        return None
    return Point(data, key)


# --- sums of products ------------------------------------------------------------------------------------


def secret_combination(
    base: int | None = None, terms: Sequence[tuple[Point, int]] = (), plus: Sequence[Point] = ()
) -> Point:
    """``base`` G + sum of scalar times point over ``terms`` + sum of ``plus``, in constant time.

    A scalar of zero has no constant-time product, and none is honest: it raises LocalProtocolError, as does a
    sum that is the identity.  Both have probability 2**-256 for scalars that are drawn properly.
    """
    products = ffi.new(_KEYS, len(terms) + 1)
    summands = []
    if base is not None:
        if not lib.secp256k1_ec_pubkey_create(ctx, products, (base % ORDER).to_bytes(SCALAR_BYTES, "big")):
            raise LocalProtocolError("a secret scalar is zero")
        summands.append(products)
    # SEC 1 uncompressed: a tag, then the coordinates, which the product is written to.
    encoded = ffi.new(_UNCOMPRESSED)
    encoded[0] = b"\x04"
    coordinates = encoded + 1
    for index, (point, scalar) in enumerate(terms, start=1):
        if not _multiply(
            ctx, coordinates, point._key, (scalar % ORDER).to_bytes(SCALAR_BYTES, "big"), _copy_xy, ffi.NULL
        ):
            raise LocalProtocolError("a secret scalar is zero")
        product = products + index
        lib.secp256k1_ec_pubkey_parse(ctx, product, encoded, 65)
        summands.append(product)
    counted = _counter.get()
    if counted is not None:
        counted.base_products += base is not None
        counted.secret_products += len(terms)
    summands += [point._key for point in plus]
    total = _sum(summands)
    if total is None:
        raise LocalProtocolError("a sum of secret products is the identity")
    return total


def public_combination(terms: Sequence[tuple[Point, int]], plus: Sequence[Point] = ()) -> Point | None:
    """Sum of scalar times point over ``terms`` + sum of ``plus``; None for the identity.  Not constant-time."""
    nonzero = [(point, reduced) for point, scalar in terms if (reduced := scalar % ORDER)]
    # One array, multiplied in place: copies, because a Point's own key is never written to.
    products = ffi.new(_KEYS, max(1, len(nonzero)))
    summands = []
    multiply = lib.secp256k1_ec_pubkey_tweak_mul
    for index, (point, scalar) in enumerate(nonzero):
        product = products + index
        product[0] = point._key[0]
        multiply(ctx, product, scalar.to_bytes(SCALAR_BYTES, "big"))
        summands.append(product)
    counted = _counter.get()
    if counted is not None:
        counted.public_products += len(nonzero)
    return _sum(summands + [point._key for point in plus])


def add(*points: Point) -> Point | None:
    """The sum; None for the identity."""
    return _sum([point._key for point in points])


def negate(point: Point) -> Point:
    """The inverse: the same x, the other y."""
    key = ffi.new(_KEY)
    key[0] = point._key[0]
    lib.secp256k1_ec_pubkey_negate(ctx, key)
    return Point(bytes([point.encoded[0] ^ 1]) + point.encoded[1:], key)


class Equation:
    """A sum of products that must be the identity, with the terms of one point collected first.

    Verification adds its equations into one of these, each times a random weight; then one pass of products
    decides them all.
    """

    __slots__ = ("_terms",)

    def __init__(self) -> None:
        self._terms: dict[bytes, tuple[Point, int]] = {}

    def add(self, point: Point, scalar: int) -> None:
        """Add ``scalar`` times ``point`` (any integer; it is reduced)."""
        known = self._terms.get(point.encoded)
        self._terms[point.encoded] = (point, scalar if known is None else known[1] + scalar)

    def __len__(self) -> int:
        """Terms after collection."""
        return len(self._terms)

    def holds(self) -> bool:
        """Whether the sum is the identity.  Not constant-time."""
        return public_combination(list(self._terms.values())) is None


def _sum(keys: list[Any]) -> Point | None:
    if not keys:
        return None
    total = ffi.new(_KEY)
    counted = _counter.get()
    if counted is not None:
        counted.sums += len(keys) > 1
        counted.additions += len(keys) - 1
    if len(keys) == 1:
        total[0] = keys[0][0]
    elif not lib.secp256k1_ec_pubkey_combine(ctx, total, ffi.new(_KEY_POINTERS, keys), len(keys)):
        return None
    encoded = ffi.new(_COMPRESSED_BUFFER)
    lib.secp256k1_ec_pubkey_serialize(ctx, encoded, ffi.new(_SIZE, POINT_BYTES), total, _COMPRESSED)
    return Point(ffi.unpack(encoded, POINT_BYTES), total)


# --- points from labels ----------------------------------------------------------------------------------

_HASH_TAG: Final = b"p2p-rummy-V01-with-secp256k1_XMD:SHA-256_SSWU_RO_"


@lru_cache(maxsize=2048)
def point_from_label(label: str, index: int) -> Point:
    """A point whose logarithm nobody knows: RFC 9380 of ``label/index``.  Cached (it costs half a millisecond)."""
    x, y = hash_to_curve(f"{label}/{index}".encode("ascii"), _HASH_TAG)
    return Point.decode(bytes([2 | (y & 1)]) + x.to_bytes(32, "big"))


# --- counting --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Operations:
    """Group operations: products of G, constant-time and fast products of other points, sums (one inversion
    each) of so many additions, and decodings of compressed points (a square root each)."""

    base_products: int = 0
    secret_products: int = 0
    public_products: int = 0
    sums: int = 0
    additions: int = 0
    decodings: int = 0


_counter: ContextVar[Operations | None] = ContextVar("_counter", default=None)


@contextmanager
def count_operations() -> Iterator[Operations]:
    """Counts what this thread does inside the ``with``."""
    operations = Operations()
    token = _counter.set(operations)
    try:
        yield operations
    finally:
        _counter.reset(token)


GENERATOR: Final[Point] = secret_combination(1)
