"""SPEC.md section 5, one equation after another."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from tests.second.encoding import encode, frame, need
from tests.second.group import ORDER, G, Point, from_label, point, points, scalars, total, write


class Where(NamedTuple):
    """The context of a proof."""

    table: bytes
    hand: int
    epoch: int
    step: int
    seat: int
    purpose: str
    position: int = 0


class Transcript:
    def __init__(self, where: Where) -> None:
        self.seat = where.seat
        self.absorbed = b""
        place = [where.table, where.hand, where.epoch, where.step, where.seat, where.position, where.purpose]
        self.absorb("context", encode([1, *place]))

    def absorb(self, name: str, data: bytes) -> None:
        self.absorbed += frame("proof", name.encode(), data)

    def challenge(self, name: str) -> bytes:
        self.absorb("challenge", name.encode())
        return hashlib.sha512(self.absorbed).digest()

    def scalar(self, name: str) -> int:
        return int.from_bytes(self.challenge(name), "big") % ORDER

    def weights(self, name: str, count: int) -> list[int]:
        data = hashlib.shake_256(frame("weights", self.challenge(name))).digest(16 * count)
        return [int.from_bytes(data[at : at + 16], "big") for at in range(0, 16 * count, 16)]


def possession(where: Where, public: bytes, proof: bytes) -> int:
    """5.2.  Returns the challenge."""
    need(len(proof) == 65, "bad_encoding", where.seat)
    t, (z,) = point(proof[:33], where.seat), scalars(proof[33:], 1, where.seat)
    transcript = Transcript(where)
    transcript.absorb("public key", public)
    transcript.absorb("commitment", proof[:33])
    c = transcript.scalar("c")
    need(total((z, G)) == total((1, t), (c, point(public))), "bad_possession_proof", where.seat)
    return c


def equality(
    where: Where, public: bytes, bases: bytes, images: bytes, proof: bytes, slots: list[int] | None = None
) -> tuple[list[int], int]:
    """5.3, with the slots of 6.5 if there are any.  Returns the weights and the challenge."""
    seat = where.seat
    count = len(bases) // 33
    a, d = points(bases, count, seat), points(images, count, seat)
    need(len(proof) == 98, "bad_encoding", seat)
    (t1, t2), (z,) = points(proof[:66], 2, seat), scalars(proof[66:], 1, seat)
    transcript = Transcript(where)
    if slots is not None:
        transcript.absorb("slots", encode(slots))
    transcript.absorb("public key", public)
    transcript.absorb("bases", bases)
    transcript.absorb("images", images)
    m = transcript.weights("m", count)
    transcript.absorb("commitments", proof[:66])
    c = transcript.scalar("c")
    weighted_a = [(z * m_k, a_k) for m_k, a_k in zip(m, a, strict=True)]
    weighted_d = [(c * m_k, d_k) for m_k, d_k in zip(m, d, strict=True)]
    need(total((z, G)) == total((1, t1), (c, point(public))), "bad_equality_proof", seat)
    need(total(*weighted_a) == total((1, t2), *weighted_d), "bad_equality_proof", seat)
    return m, c


def shuffle(where: Where, key: bytes, inputs: bytes, outputs: bytes, proof: list[Any]) -> None:
    """5.4: the five equations."""
    seat, n = where.seat, len(inputs) // 66
    need(len(outputs) == 66 * n and type(proof) is list and len(proof) == 7, "bad_encoding", seat)
    need(all(type(part) is bytes for part in proof), "bad_encoding", seat)
    into, out = points(inputs, 2 * n), points(outputs, 2 * n, seat)
    c, k, T = (points(part, n, seat) for part in proof[:3])
    t1, t2, t3, t4a, t4b = points(proof[3], 5, seat)
    f, z_i = (scalars(part, n, seat) for part in proof[4:6])
    z1, z2, z3, z4 = scalars(proof[6], 4, seat)
    h = [from_label("generator", number) for number in range(n + 1)]

    transcript = Transcript(where)
    transcript.absorb("key", key)
    transcript.absorb("generators", b"".join(map(write, h)))
    transcript.absorb("inputs", inputs)
    transcript.absorb("outputs", outputs)
    transcript.absorb("permutation", proof[0])
    u = transcript.weights("u", n)
    transcript.absorb("chain", proof[1])
    transcript.absorb("nonces", proof[3])
    transcript.absorb("chain nonces", proof[2])
    e = transcript.scalar("e")

    def times(factors: list[int], of: list[Point]) -> list[tuple[int, Point]]:
        return list(zip(factors, of, strict=True))

    product = 1
    for u_j in u:
        product = product * u_j % ORDER
    X = point(key)
    eu = [e * u_j for u_j in u]
    links = [h[0], *k]
    equations = [
        total((-z1, G), (1, t1), *times([e] * n, c), *times([-e] * n, h[1:])),
        total((-z2, G), (1, t2), (e, k[-1]), (-e * product, h[0])),
        total((-z3, G), *times([-z for z in z_i], h[1:]), (1, t3), *times(eu, c)),
        total(*times([-z for z in z_i], out[::2]), (z4, G), (1, t4a), *times(eu, into[::2])),
        total(*times([-z for z in z_i], out[1::2]), (z4, X), (1, t4b), *times(eu, into[1::2])),
        *(total((-f[i], G), (-z_i[i], links[i]), (1, T[i]), (e, links[i + 1])) for i in range(n)),
    ]
    need(all(each is None for each in equations), "bad_shuffle_proof", seat)
