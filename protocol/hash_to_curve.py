"""Points of secp256k1 whose logarithms nobody knows: RFC 9380, suite ``secp256k1_XMD:SHA-256_SSWU_RO_``.

Card points and commitment generators come from labels through this map, so that no player could have chosen
them with a relation in mind (cards encoded as G, 2G, 3G... let anyone read a masked deck).  Inputs are public
and results are cached by the caller, so plain integers are fine here: nothing is secret, nothing is hot.
"""

from __future__ import annotations

import hashlib
from typing import Final

from protocol.errors import LocalProtocolError

FIELD: Final = 2**256 - 2**32 - 977
"""The prime of the field of coordinates (called p in the standards; the group's order is another prime)."""

Affine = tuple[int, int]


def hash_to_curve(message: bytes, tag: bytes) -> Affine:
    """RFC 9380, section 3: the sum of two mapped field elements; a uniform point (never the identity here)."""
    first, second = (_isogeny(*_simplified_swu(u)) for u in hash_to_field(message, tag, 2))
    if first[0] == second[0]:
        # Equal or opposite: happens with probability 2**-255 and has no message known to anyone.
        raise LocalProtocolError(f"the label {message!r} hashes to an exceptional pair; choose another label")
    return _add(first, second)


def hash_to_field(message: bytes, tag: bytes, count: int) -> list[int]:
    """RFC 9380, section 5.2, with m = 1 and L = 48."""
    uniform = expand_message_xmd(message, tag, 48 * count)
    return [int.from_bytes(uniform[at : at + 48], "big") % FIELD for at in range(0, 48 * count, 48)]


def expand_message_xmd(message: bytes, tag: bytes, length: int) -> bytes:
    """RFC 9380, section 5.3.1, with SHA-256."""
    if len(tag) > 255 or length > 255 * 32:
        raise LocalProtocolError("tags have at most 255 bytes and outputs at most 8160")
    suffix = tag + bytes([len(tag)])
    start = _sha256(bytes(64) + message + length.to_bytes(2, "big") + b"\x00" + suffix)
    block = _sha256(start + b"\x01" + suffix)
    blocks = [block]
    for index in range(2, -(-length // 32) + 1):
        mixed = bytes(a ^ b for a, b in zip(start, block, strict=True))
        block = _sha256(mixed + bytes([index]) + suffix)
        blocks.append(block)
    return b"".join(blocks)[:length]


# Section 8.7: E' is y^2 = x^3 + A' x + B', 3-isogenous to secp256k1; Z is a non-square.
_A: Final = 0x3F8731ABDD661ADCA08A5558F0F5D272E953D363CB6F0E5D405447C01A444533
_B: Final = 1771
_Z: Final = -11


def _simplified_swu(u: int) -> Affine:
    """Section 6.6.2: a point of E' (not yet of secp256k1)."""
    zu2 = _Z * u * u % FIELD
    denominator = (zu2 * zu2 + zu2) % FIELD
    if denominator == 0:
        x = _B * pow(_Z * _A, -1, FIELD) % FIELD
    else:
        x = -_B * pow(_A, -1, FIELD) * (1 + pow(denominator, -1, FIELD)) % FIELD
    y = _square_root(_curve_value(x))
    if y is None:
        x = zu2 * x % FIELD
        y = _square_root(_curve_value(x))
        assert y is not None  # one of the two is a square because Z is not
    if y & 1 != u & 1:
        y = FIELD - y
    return x, y


def _curve_value(x: int) -> int:
    return (x * x * x + _A * x + _B) % FIELD


def _square_root(value: int) -> int | None:
    root = pow(value, (FIELD + 1) // 4, FIELD)
    return root if root * root % FIELD == value else None


# Appendix E.1: coefficients of the 3-isogeny map, constant term first.
_X_NUMERATOR: Final = (
    0x8E38E38E38E38E38E38E38E38E38E38E38E38E38E38E38E38E38E38DAAAAA8C7,
    0x07D3D4C80BC321D5B9F315CEA7FD44C5D595D2FC0BF63B92DFFF1044F17C6581,
    0x534C328D23F234E6E2A413DECA25CAECE4506144037C40314ECBD0B53D9DD262,
    0x8E38E38E38E38E38E38E38E38E38E38E38E38E38E38E38E38E38E38DAAAAA88C,
)
_X_DENOMINATOR: Final = (
    0xD35771193D94918A9CA34CCBB7B640DD86CD409542F8487D9FE6B745781EB49B,
    0xEDADC6F64383DC1DF7C4B2D51B54225406D36B641F5E41BBC52A56612A8C6D14,
    1,
)
_Y_NUMERATOR: Final = (
    0x4BDA12F684BDA12F684BDA12F684BDA12F684BDA12F684BDA12F684B8E38E23C,
    0xC75E0C32D5CB7C0FA9D0A54B12A0A6D5647AB046D686DA6FDFFC90FC201D71A3,
    0x29A6194691F91A73715209EF6512E576722830A201BE2018A765E85A9ECEE931,
    0x2F684BDA12F684BDA12F684BDA12F684BDA12F684BDA12F684BDA12F38E38D84,
)
_Y_DENOMINATOR: Final = (
    0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEFFFFF93B,
    0x7A06534BB8BDB49FD5E9E6632722C2989467C1BFC8E8D978DFB425D2685C2573,
    0x6484AA716545CA2CF3A70C3FA8FE337E0A3D21162F0D6299A7BF8192BFD2A76F,
    1,
)


def _isogeny(x: int, y: int) -> Affine:
    """From E' to secp256k1."""
    x_denominator = _polynomial(_X_DENOMINATOR, x)
    y_denominator = _polynomial(_Y_DENOMINATOR, x)
    inverse = pow(x_denominator * y_denominator, -1, FIELD)
    return (
        _polynomial(_X_NUMERATOR, x) * inverse * y_denominator % FIELD,
        y * _polynomial(_Y_NUMERATOR, x) * inverse * x_denominator % FIELD,
    )


def _polynomial(coefficients: tuple[int, ...], x: int) -> int:
    value = 0
    for coefficient in reversed(coefficients):
        value = (value * x + coefficient) % FIELD
    return value


def _add(a: Affine, b: Affine) -> Affine:
    """The chord of two points with different x."""
    slope = (b[1] - a[1]) * pow(b[0] - a[0], -1, FIELD) % FIELD
    x = (slope * slope - a[0] - b[0]) % FIELD
    return x, (slope * (a[0] - x) - a[1]) % FIELD


def _sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
