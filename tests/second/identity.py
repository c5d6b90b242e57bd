"""SPEC.md section 3: Ed25519 with plain integers, strictly; fingerprints and words."""

from __future__ import annotations

import hashlib
from functools import cache

from tests.second.encoding import H, Refused, frame, need

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT = pow(2, (P - 1) // 4, P)

Point = tuple[int, int, int, int]
"""X, Y, Z, T of RFC 8032, 5.1.4."""
ZERO: Point = (0, 1, 1, 0)


def add(a: Point, b: Point) -> Point:
    x = (a[1] - a[0]) * (b[1] - b[0])
    y = (a[1] + a[0]) * (b[1] + b[0])
    t = 2 * a[3] * b[3] * D
    z = 2 * a[2] * b[2]
    e, f, g, h = y - x, z - t, z + t, y + x
    return e * f % P, g * h % P, f * g % P, e * h % P


@cache
def doublings(point: Point) -> list[Point]:
    """1, 2, 4, ... times a point."""
    found = [point]
    while len(found) < 256:
        found.append(add(found[-1], found[-1]))
    return found


def times(scalar: int, point: Point) -> Point:
    total = ZERO
    for bit, multiple in enumerate(doublings(point)):
        if scalar >> bit & 1:
            total = add(total, multiple)
    return total


def write(point: Point) -> bytes:
    inverse = pow(point[2], -1, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


@cache
def read(data: bytes) -> Point:
    """A key that may sign: the one encoding of a point whose order does not divide 8."""
    need(len(data) == 32, "bad_identity")
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number % 2**255
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    need((x * x - square) % P == 0, "bad_identity")
    if x % 2 != sign:
        x = P - x
    point = (x % P, y % P, 1, x * y % P)
    need(write(point) == data, "bad_identity")
    need(write(times(8, point)) != write(ZERO), "bad_identity")
    return point


BASE = read((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def verify(key: bytes, tag: str, message: bytes, signature: bytes) -> None:
    point = read(key)
    need(len(signature) == 64, "bad_signature")
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    need(s < L, "bad_signature")
    k = int.from_bytes(hashlib.sha512(r + key + frame(tag, message)).digest(), "little") % L
    minus = (P - point[0], point[1], point[2], P - point[3])
    need(write(add(times(s, BASE), times(k, minus))) == r, "bad_signature")


def holds(key: bytes, tag: str, message: bytes, signature: bytes) -> bool:
    try:
        verify(key, tag, message, signature)
    except Refused:
        return False
    return True


def fingerprint(key: bytes) -> str:
    digits = H("fingerprint", key).hex()[:20]
    return "-".join(digits[at : at + 4] for at in range(0, 20, 4))


def words(data: bytes, word_list: list[str]) -> str:
    return " ".join(word_list[byte] for byte in H("words", data)[:4])
