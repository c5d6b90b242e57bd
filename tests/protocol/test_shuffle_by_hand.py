"""A second verifier of the shuffle, written from SPEC.md 5.4 alone: no transcript, no library, no batching.

It frames and hashes by itself, adds points by the textbook formula, and checks the equations one by one.  What
protocol.shuffle proves must satisfy it, and it must refuse what protocol.shuffle refuses.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cache

import msgpack
import pytest

from protocol import shuffle
from protocol.errors import VerificationError
from protocol.group import ORDER, secret_combination
from protocol.hash_to_curve import FIELD, hash_to_curve
from protocol.proofs import Context, SecretStream, Transcript

Affine = tuple[int, int] | None
G: Affine = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)
TAG = b"p2p-rummy-V01-with-secp256k1_XMD:SHA-256_SSWU_RO_"
N = 2
KEY = secret_combination(0xA5 << 200)
CONTEXT = Context(b"\x07" * 32, 5, 1, 12)
SEAT, POSITION = 3, 1


def plus(a: Affine, b: Affine) -> Affine:
    if a is None or b is None:
        return a or b
    (x1, y1), (x2, y2) = a, b
    if x1 == x2 and (y1 + y2) % FIELD == 0:
        return None
    slope = 3 * x1 * x1 * pow(2 * y1, -1, FIELD) if a == b else (y2 - y1) * pow(x2 - x1, -1, FIELD)
    x = (slope * slope - x1 - x2) % FIELD
    return x, (slope * (x1 - x) - y1) % FIELD


@cache
def times(scalar: int, point: Affine) -> Affine:
    result: Affine = None
    for bit in bin(scalar % ORDER)[2:]:
        result = plus(result, result)
        if bit == "1":
            result = plus(result, point)
    return result


def total(*terms: tuple[int, Affine]) -> Affine:
    result: Affine = None
    for scalar, point in terms:
        result = plus(result, times(scalar, point))
    return result


def read(data: bytes) -> Affine:
    """SEC 1, 2.3.4."""
    x = int.from_bytes(data[1:], "big")
    y = pow(x**3 + 7, (FIELD + 1) // 4, FIELD)
    return x, y if y % 2 == data[0] - 2 else FIELD - y


def points(data: bytes) -> list[Affine]:
    return [read(data[at : at + 33]) for at in range(0, len(data), 33)]


def numbers(data: bytes) -> list[int]:
    return [int.from_bytes(data[at : at + 32], "big") for at in range(0, len(data), 32)]


def write(point: Affine) -> bytes:
    assert point is not None
    return bytes([2 + point[1] % 2]) + point[0].to_bytes(32, "big")


def frame(tag: str, *items: bytes) -> bytes:
    framed = b"p2p-rummy/" + bytes([len(tag)]) + tag.encode()
    return framed + b"".join(len(item).to_bytes(8, "big") + item for item in items)


def failing(key: bytes, inputs: bytes, outputs: bytes, proof: list[bytes]) -> list[str]:
    """The equations of SPEC.md 5.4 that do not hold."""
    h, *hs = (hash_to_curve(b"generator/%d" % index, TAG) for index in range(N + 1))
    place = [1, CONTEXT.table, CONTEXT.hand, CONTEXT.epoch, CONTEXT.step, SEAT, POSITION, "shuffle"]
    said = frame("proof", b"context", msgpack.packb(place, use_bin_type=True))
    for name, data in (
        ("key", key),
        ("generators", b"".join(write(point) for point in (h, *hs))),
        ("inputs", inputs),
        ("outputs", outputs),
        ("permutation", proof[0]),
        ("challenge", b"u"),
    ):
        said += frame("proof", name.encode(), data)
    stretched = hashlib.shake_256(frame("weights", hashlib.sha512(said).digest())).digest(16 * N)
    u = [int.from_bytes(stretched[at : at + 16], "big") for at in range(0, 16 * N, 16)]
    for name, data in (
        ("chain", proof[1]),
        ("nonces", proof[3]),
        ("chain nonces", proof[2]),
        ("challenge", b"e"),
    ):
        said += frame("proof", name.encode(), data)
    e = int.from_bytes(hashlib.sha512(said).digest(), "big") % ORDER

    c, k, t_chain, (t1, t2, t3, t4a, t4b) = (points(proof[index]) for index in range(4))
    f, z_i, (z1, z2, z3, z4) = (numbers(proof[index]) for index in (4, 5, 6))
    a, b = points(inputs)[::2], points(inputs)[1::2]
    a_out, b_out = points(outputs)[::2], points(outputs)[1::2]
    rows = range(N)
    sides = {
        "1": (times(z1, G), total((1, t1), *((e, c[j]) for j in rows), *((-e, hs[j]) for j in rows))),
        "2": (times(z2, G), total((1, t2), (e, k[-1]), (-e * u[0] * u[1], h))),
        "3": (
            total((z3, G), *((z_i[i], hs[i]) for i in rows)),
            total((1, t3), *((e * u[j], c[j]) for j in rows)),
        ),
        "4a": (
            total(*((z_i[i], a_out[i]) for i in rows), (-z4, G)),
            total((1, t4a), *((e * u[j], a[j]) for j in rows)),
        ),
        "4b": (
            total(*((z_i[i], b_out[i]) for i in rows), (-z4, read(key))),
            total((1, t4b), *((e * u[j], b[j]) for j in rows)),
        ),
        "5.1": (total((f[0], G), (z_i[0], h)), total((1, t_chain[0]), (e, k[0]))),
        "5.2": (total((f[1], G), (z_i[1], k[0])), total((1, t_chain[1]), (e, k[1]))),
    }
    return [name for name, (left, right) in sides.items() if left != right]


def transcript(seat: int = SEAT) -> Transcript:
    return Transcript(CONTEXT, "shuffle", seat, POSITION)


INPUTS, _ = shuffle.shuffle(transcript(0), KEY, shuffle.open_deck([8, 3], KEY), SecretStream(b"first"))
OUTPUTS, PROOF = shuffle.shuffle(transcript(), KEY, INPUTS, SecretStream(b"second"))


def judged(proof: shuffle.ShuffleProof, outputs: tuple[shuffle.Ciphertext, ...] = OUTPUTS) -> list[str]:
    parts = [part for part in proof.to_value() if isinstance(part, bytes)]
    return failing(KEY.encoded, shuffle.encode_deck(INPUTS), shuffle.encode_deck(outputs), parts)


def test_every_equation_of_the_specification_holds_by_hand() -> None:
    assert judged(PROOF) == []
    shuffle.verify(transcript(), KEY, INPUTS, OUTPUTS, PROOF, hashlib.sha256(b"v").digest())


@pytest.mark.parametrize(
    ("field", "index", "equations"),
    [
        ("responses", 0, ["1"]),
        ("responses", 1, ["2"]),
        ("responses", 2, ["3"]),
        ("responses", 3, ["4a", "4b"]),
        ("chain_responses", 0, ["5.1"]),
        ("chain_responses", 1, ["5.2"]),
        ("weight_responses", 0, ["3", "4a", "4b", "5.1"]),
        ("weight_responses", 1, ["3", "4a", "4b", "5.2"]),
    ],
)
def test_each_response_is_held_to_its_own_equations(field: str, index: int, equations: list[str]) -> None:
    """Both verifiers refuse; the one by hand says which equations saw it."""
    values = list(getattr(PROOF, field))
    values[index] = (values[index] + 1) % ORDER
    changed = replace(PROOF, **{field: tuple(values)})
    assert judged(changed) == equations
    with pytest.raises(VerificationError):
        shuffle.verify(transcript(), KEY, INPUTS, OUTPUTS, changed, hashlib.sha256(b"v").digest())
