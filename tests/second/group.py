"""SPEC.md section 4: secp256k1, and hash to curve as RFC 9380 writes it.

Sums of products are the curve library's, for speed; :func:`total_by_hand` has plain integers only and says the same.
"""

from __future__ import annotations

import hashlib
from functools import cache

from btclib_secp256k1.keys import pubkey_tweak_mul_sum

from tests.second.encoding import need

Q = 2**256 - 2**32 - 977
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
G = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)

Point = tuple[int, int]
Jacobian = tuple[int, int, int]
ZERO: Jacobian = (1, 1, 0)


def double(a: Jacobian) -> Jacobian:
    x, y, z = a
    if not z:
        return a
    s = 4 * x * y * y % Q
    m = 3 * x * x % Q
    x3 = (m * m - 2 * s) % Q
    return x3, (m * (s - x3) - 8 * y**4) % Q, 2 * y * z % Q


def add(a: Jacobian, b: Jacobian) -> Jacobian:
    if not a[2] or not b[2]:
        return b if not a[2] else a
    za, zb = a[2] * a[2] % Q, b[2] * b[2] % Q
    ua, ub = a[0] * zb % Q, b[0] * za % Q
    sa, sb = a[1] * zb * b[2] % Q, b[1] * za * a[2] % Q
    if ua == ub:
        return double(a) if sa == sb else ZERO
    h, r = ub - ua, sb - sa
    x = (r * r - h**3 - 2 * ua * h * h) % Q
    return x, (r * (ua * h * h - x) - sa * h**3) % Q, h * a[2] * b[2] % Q


def total(*terms: tuple[int, Point]) -> Point | None:
    """The sum of products; None for the identity."""
    left = [(scalar % ORDER, point) for scalar, point in terms if scalar % ORDER]
    if not left:
        return None
    data = pubkey_tweak_mul_sum(
        [b"\x04" + wide(each) for _, each in left], [scalar for scalar, _ in left], False
    )
    return None if data is None else (int.from_bytes(data[1:33], "big"), int.from_bytes(data[33:], "big"))


def wide(a: Point) -> bytes:
    return a[0].to_bytes(32, "big") + a[1].to_bytes(32, "big")


def total_by_hand(*terms: tuple[int, Point]) -> Point | None:
    result = ZERO
    reduced = [(scalar % ORDER, (*point, 1)) for scalar, point in terms]
    # All bits of one height at once (Shamir's trick): one doubling serves every term.
    for bit in range(255, -1, -1):
        result = double(result)
        for scalar, point in reduced:
            if scalar >> bit & 1:
                result = add(result, point)
    if not result[2]:
        return None
    inverse = pow(result[2], -1, Q)
    return result[0] * inverse**2 % Q, result[1] * inverse**3 % Q


@cache
def point(data: bytes, seat: int | None = None) -> Point:
    """SEC 1, 2.3.4, compressed only."""
    need(len(data) == 33 and data[0] in (2, 3), "bad_encoding", seat)
    x = int.from_bytes(data[1:], "big")
    y = pow(x**3 + 7, (Q + 1) // 4, Q)
    need(x < Q and (y * y - x**3 - 7) % Q == 0, "bad_encoding", seat)
    return x, y if y % 2 == data[0] - 2 else Q - y


def points(data: bytes, count: int, seat: int | None = None) -> list[Point]:
    need(len(data) == 33 * count, "bad_encoding", seat)
    return [point(data[at : at + 33], seat) for at in range(0, len(data), 33)]


def scalars(data: bytes, count: int, seat: int | None = None) -> list[int]:
    need(len(data) == 32 * count, "bad_encoding", seat)
    found = [int.from_bytes(data[at : at + 32], "big") for at in range(0, len(data), 32)]
    need(all(number < ORDER for number in found), "bad_encoding", seat)
    return found


def write(a: Point) -> bytes:
    return bytes([2 + a[1] % 2]) + a[0].to_bytes(32, "big")


# --- RFC 9380, secp256k1_XMD:SHA-256_SSWU_RO_ ------------------------------------------------------------

TAG = b"p2p-rummy-V01-with-secp256k1_XMD:SHA-256_SSWU_RO_"
A = 0x3F8731ABDD661ADCA08A5558F0F5D272E953D363CB6F0E5D405447C01A444533
B, Z = 1771, -11


@cache
def from_label(label: str, number: int) -> Point:
    u = hash_to_field(f"{label}/{number}".encode())
    a, b = (three_isogeny(*map_to_curve(each)) for each in u)
    found = total_by_hand((1, a), (1, b))
    assert found is not None
    return found


def hash_to_field(message: bytes) -> list[int]:
    suffix = TAG + bytes([len(TAG)])
    b0 = hashlib.sha256(bytes(64) + message + (96).to_bytes(2, "big") + b"\x00" + suffix).digest()
    blocks = [hashlib.sha256(b0 + b"\x01" + suffix).digest()]
    for number in (2, 3):
        mixed = bytes(x ^ y for x, y in zip(b0, blocks[-1], strict=True))
        blocks.append(hashlib.sha256(mixed + bytes([number]) + suffix).digest())
    uniform = b"".join(blocks)
    return [int.from_bytes(uniform[at : at + 48], "big") % Q for at in (0, 48)]


def map_to_curve(u: int) -> Point:
    """Appendix F.2, step by step, with square roots in the place of sqrt_ratio (q = 3 mod 4)."""
    tv1 = Z * u * u % Q
    tv2 = (tv1 * tv1 + tv1) % Q
    tv3 = B * (tv2 + 1) % Q
    tv4 = A * (-tv2 if tv2 else Z) % Q
    x1 = tv3 * pow(tv4, -1, Q) % Q
    for x in (x1, tv1 * x1 % Q):
        value = (x**3 + A * x + B) % Q
        y = pow(value, (Q + 1) // 4, Q)
        if y * y % Q == value:
            return x, y if y % 2 == u % 2 else Q - y
    raise AssertionError("one of two is a square")


def three_isogeny(x: int, y: int) -> Point:
    """From y^2 = x^3 + A x + B to secp256k1, by Velu's formulas in the place of the table of appendix E.1.

    Its leading coefficients, 1/9 and 1/27, say which of the maps is meant.
    """
    near = pow(x - KERNEL, -1, Q)
    image_x = x + T * near + U * near**2
    image_y = y * (1 - T * near**2 - 2 * U * near**3)
    return image_x * pow(9, -1, Q) % Q, image_y * pow(27, -1, Q) % Q


def kernel() -> int:
    """The x of the two points of order three that the isogeny sends to the identity.

    It is a root of the third division polynomial, 3 x^4 + 6 A x^2 + 12 B x - A^2, and as the image y^2 = x^3 + 7 has no term
    in x, Velu's A - 10 (3 x^2 + A) is zero.
    """
    square = -3 * A * pow(10, -1, Q) % Q
    root = pow(square, (Q + 1) // 4, Q)
    (x,) = (x for x in (root, Q - root) if (3 * x**4 + 6 * A * x**2 + 12 * B * x - A * A) % Q == 0)
    return x


KERNEL = kernel()
T, U = 2 * (3 * KERNEL**2 + A) % Q, 4 * (KERNEL**3 + A * KERNEL + B) % Q
