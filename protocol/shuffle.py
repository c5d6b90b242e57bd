"""The verifiable re-encryption shuffle.

Each card is an ElGamal pair (a, b) under the joint key X: b - x a is the card's point.  A shuffler outputs the
pairs in a secret order, each re-encrypted: (a + r G, b + r X).  The proof is Terelius and Wikstrom's ("Proofs
of Restricted Shuffles", 2010) in the form of Haenni, Locher, Koenig and Dubuis ("Pseudo-Code Algorithms for
Verifiable Re-Encryption Mix-Nets", 2017), algorithms 4.1 to 4.5: a commitment c to the permutation matrix, challenges
u, and one proof that the same matrix, applied to u, has the right product (the chain k), the right sum, and
maps the inputs to the outputs.

Names follow the paper's roles: inputs (a_j, b_j); outputs (a'_i, b'_i); generators h and h_1..h_n, hashed to the
curve from labels; joint key X.  The verifier's equations, for n cards, with weights of its own:

1. z1 G = t1 + e (sum c_j - sum h_j)
2. z2 G = t2 + e (k_n - (product of u_j) h)
3. z3 G + sum z'_i h_i = t3 + e sum u_j c_j
4. sum z'_i a'_i - z4 G = t4a + e sum u_j a_j, and the same with b, X and t4b
5. f_i G + z'_i k_(i-1) = T_i + e k_i for every i, with k_0 = h

Nothing that a prover sends is ever used as key, generator or input: those come from the verifier's own state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from protocol import canonical
from protocol.canonical import Value
from protocol.errors import LocalProtocolError
from protocol.group import (
    GENERATOR,
    ORDER,
    Equation,
    Point,
    decode_points,
    decode_scalars,
    encode_points,
    encode_scalars,
    point_from_label,
    secret_combination,
)
from protocol.proofs import SecretStream, Transcript, verifier_weights

MAX_CARDS: Final = 256
"""Cards are numbers below this, and so is the size of a deck."""


@dataclass(frozen=True, slots=True)
class Ciphertext:
    """An ElGamal pair; its first component cannot be the identity (see :mod:`protocol.group`)."""

    a: Point
    b: Point


@dataclass(frozen=True, slots=True)
class ShuffleProof:
    """The proof for n cards: 3n + 5 points and 2n + 4 scalars."""

    permutation: tuple[Point, ...]
    """c_1..c_n"""
    chain: tuple[Point, ...]
    """k_1..k_n"""
    chain_nonces: tuple[Point, ...]
    """T_1..T_n"""
    nonces: tuple[Point, ...]
    """t1, t2, t3, t4a, t4b"""
    chain_responses: tuple[int, ...]
    """f_1..f_n"""
    weight_responses: tuple[int, ...]
    """z'_1..z'_n"""
    responses: tuple[int, ...]
    """z1, z2, z3, z4"""

    def to_value(self) -> list[Value]:
        """Seven byte strings, in the order of the fields."""
        return [
            encode_points(self.permutation),
            encode_points(self.chain),
            encode_points(self.chain_nonces),
            encode_points(self.nonces),
            encode_scalars(self.chain_responses),
            encode_scalars(self.weight_responses),
            encode_scalars(self.responses),
        ]

    @classmethod
    def from_value(cls, value: object, count: int, *, field: str) -> ShuffleProof:
        """The proof for ``count`` cards in a decoded canonical value.  Raises EncodingError."""
        parts = canonical.array(value, field=field, length=7)
        data = [canonical.octets(part, field=f"{field}[{index}]") for index, part in enumerate(parts)]
        return cls(
            tuple(decode_points(data[0], count, field=f"{field}[0]")),
            tuple(decode_points(data[1], count, field=f"{field}[1]")),
            tuple(decode_points(data[2], count, field=f"{field}[2]")),
            tuple(decode_points(data[3], 5, field=f"{field}[3]")),
            tuple(decode_scalars(data[4], count, field=f"{field}[4]")),
            tuple(decode_scalars(data[5], count, field=f"{field}[5]")),
            tuple(decode_scalars(data[6], 4, field=f"{field}[6]")),
        )


# --- decks -----------------------------------------------------------------------------------------------


def card_point(card: int) -> Point:
    """The point that stands for a card: nobody knows its logarithm."""
    if not 0 <= card < MAX_CARDS:
        raise LocalProtocolError(f"cards are 0..{MAX_CARDS - 1}, not {card}")
    return point_from_label("card", card)


def open_deck(cards: Sequence[int], key: Point) -> tuple[Ciphertext, ...]:
    """The canonical encryption of known cards, in order: (G, card + X), with randomness 1 for all to see."""
    if not 0 < len(cards) <= MAX_CARDS:
        raise LocalProtocolError(f"a deck has 1 to {MAX_CARDS} cards, not {len(cards)}")
    if len(set(cards)) != len(cards):
        raise LocalProtocolError("a deck holds no card twice")
    return tuple(Ciphertext(GENERATOR, secret_combination(plus=(card_point(card), key))) for card in cards)


def encode_deck(deck: Sequence[Ciphertext]) -> bytes:
    """66 bytes a card."""
    return b"".join(pair.a.encoded + pair.b.encoded for pair in deck)


def decode_deck(data: bytes, count: int, *, field: str) -> tuple[Ciphertext, ...]:
    """``count`` cards and nothing else.  Raises EncodingError."""
    points = decode_points(data, 2 * count, field=field)
    return tuple(Ciphertext(a, b) for a, b in zip(points[::2], points[1::2], strict=True))


def generators(count: int) -> tuple[Point, tuple[Point, ...]]:
    """h and h_1..h_count."""
    return point_from_label("generator", 0), tuple(
        point_from_label("generator", index) for index in range(1, count + 1)
    )


# --- proving ---------------------------------------------------------------------------------------------


def shuffle(
    transcript: Transcript, key: Point, inputs: Sequence[Ciphertext], stream: SecretStream
) -> tuple[tuple[Ciphertext, ...], ShuffleProof]:
    """Permute and re-encrypt ``inputs`` and prove it.

    ``stream`` must be bound to the hand's secret, to the inputs and to fresh randomness.
    """
    count = len(inputs)
    order = stream.permutation("pi", count)
    masks = stream.scalars("r", count)
    outputs = tuple(
        Ciphertext(
            secret_combination(mask, plus=(inputs[source].a,)),
            secret_combination(terms=((key, mask),), plus=(inputs[source].b,)),
        )
        for source, mask in zip(order, masks, strict=True)
    )
    return outputs, prove(transcript, key, inputs, outputs, order, masks, stream)


def prove(
    transcript: Transcript,
    key: Point,
    inputs: Sequence[Ciphertext],
    outputs: Sequence[Ciphertext],
    order: Sequence[int],
    masks: Sequence[int],
    stream: SecretStream,
) -> ShuffleProof:
    """That outputs[i] re-encrypts inputs[order[i]] with masks[i]."""
    count = len(inputs)
    h, hs = generators(count)

    # c_pi(i) = s_pi(i) G + h_i
    blinds = stream.scalars("s", count)
    commitments: list[Point] = [h] * count
    for position, source in enumerate(order):
        commitments[source] = secret_combination(blinds[source], plus=(hs[position],))
    u = _absorb_statement(transcript, key, inputs, outputs, commitments)
    permuted = [u[source] for source in order]

    # k_i = y_i G + u'_i k_(i-1), with k_0 = h
    fresh = stream.derive(transcript.peek("nonces"))
    steps = fresh.scalars("y", count)
    links = [h]
    for step, weight in zip(steps, permuted, strict=True):
        links.append(secret_combination(step, ((links[-1], weight),)))

    w1, w2, w3, w4 = fresh.scalars("w", 4)
    q = fresh.scalars("q", count)
    w = fresh.scalars("w'", count)
    nonces = (
        secret_combination(w1),
        secret_combination(w2),
        secret_combination(w3, tuple(zip(hs, w, strict=True))),
        secret_combination(-w4, tuple((pair.a, nonce) for pair, nonce in zip(outputs, w, strict=True))),
        secret_combination(
            None, ((key, -w4), *((pair.b, nonce) for pair, nonce in zip(outputs, w, strict=True)))
        ),
    )
    chain_nonces = tuple(
        secret_combination(q_i, ((link, w_i),)) for q_i, w_i, link in zip(q, w, links[:-1], strict=True)
    )
    e = _absorb_commitments(transcript, links[1:], nonces, chain_nonces)

    # k_n = (sum y_i v_i) G + (product of u) h, with v_n = 1 and v_i = u'_(i+1) v_(i+1)
    chain_secret, v = 0, 1
    for step, weight in zip(reversed(steps), reversed(permuted), strict=True):
        chain_secret += step * v
        v = v * weight % ORDER
    responses = (
        (w1 + e * sum(blinds)) % ORDER,
        (w2 + e * chain_secret) % ORDER,
        (w3 + e * sum(s * u_j for s, u_j in zip(blinds, u, strict=True))) % ORDER,
        (w4 + e * sum(r * weight for r, weight in zip(masks, permuted, strict=True))) % ORDER,
    )
    return ShuffleProof(
        tuple(commitments),
        tuple(links[1:]),
        chain_nonces,
        nonces,
        tuple((q_i + e * y_i) % ORDER for q_i, y_i in zip(q, steps, strict=True)),
        tuple((w_i + e * u_i) % ORDER for w_i, u_i in zip(w, permuted, strict=True)),
        responses,
    )


# --- verifying -------------------------------------------------------------------------------------------


def verify(
    transcript: Transcript,
    key: Point,
    inputs: Sequence[Ciphertext],
    outputs: Sequence[Ciphertext],
    proof: ShuffleProof,
    entropy: bytes,
) -> None:
    """Raise VerificationError unless ``outputs`` are ``inputs`` permuted and re-encrypted under ``key``."""
    equation = verification_equation(transcript, key, inputs, outputs, proof, entropy)
    if not equation.holds():
        raise transcript.fault("bad_shuffle_proof", "the proof of the shuffle does not hold")


def verification_equation(
    transcript: Transcript,
    key: Point,
    inputs: Sequence[Ciphertext],
    outputs: Sequence[Ciphertext],
    proof: ShuffleProof,
    entropy: bytes,
) -> Equation:
    """All five equations in one, each times its random weight (right side minus left): 8n + 8 terms."""
    count = len(inputs)
    lengths = {
        len(part)
        for part in (
            inputs,
            outputs,
            proof.permutation,
            proof.chain,
            proof.chain_nonces,
            proof.chain_responses,
            proof.weight_responses,
        )
    }
    if count == 0 or lengths != {count} or len(proof.nonces) != 5 or len(proof.responses) != 4:
        raise transcript.fault("bad_shuffle_proof", "the lists of the proof do not have the deck's length")
    h, hs = generators(count)
    u = _absorb_statement(transcript, key, inputs, outputs, proof.permutation)
    e = _absorb_commitments(transcript, proof.chain, proof.nonces, proof.chain_nonces)
    transcript.absorb("chain responses", encode_scalars(proof.chain_responses))
    transcript.absorb("weight responses", encode_scalars(proof.weight_responses))
    transcript.absorb("responses", encode_scalars(proof.responses))

    z1, z2, z3, z4 = proof.responses
    one, two, three, four_a, four_b, *five = verifier_weights(entropy, transcript, 5 + count)
    equation = Equation()
    for point, weight in zip(proof.nonces, (one, two, three, four_a, four_b), strict=True):
        equation.add(point, weight)
    product = 1
    for c_j, h_j, u_j, pair in zip(proof.permutation, hs, u, inputs, strict=True):
        product = product * u_j % ORDER
        equation.add(c_j, e * (one + three * u_j))
        equation.add(h_j, -e * one)
        equation.add(pair.a, four_a * e * u_j)
        equation.add(pair.b, four_b * e * u_j)
    equation.add(proof.chain[-1], two * e)
    equation.add(h, -two * e * product)
    base = -one * z1 - two * z2 - three * z3 + four_a * z4
    equation.add(key, four_b * z4)
    links = (h, *proof.chain)
    for i, (weight, z_i) in enumerate(zip(five, proof.weight_responses, strict=True)):
        equation.add(hs[i], -three * z_i)
        equation.add(outputs[i].a, -four_a * z_i)
        equation.add(outputs[i].b, -four_b * z_i)
        equation.add(proof.chain_nonces[i], weight)
        equation.add(links[i + 1], weight * e)
        equation.add(links[i], -weight * z_i)
        base -= weight * proof.chain_responses[i]
    equation.add(GENERATOR, base)
    return equation


def _absorb_statement(
    transcript: Transcript,
    key: Point,
    inputs: Sequence[Ciphertext],
    outputs: Sequence[Ciphertext],
    commitments: Sequence[Point],
) -> list[int]:
    """The challenges u_1..u_n, drawn once everything they judge is fixed."""
    h, hs = generators(len(inputs))
    transcript.absorb("key", key.encoded)
    transcript.absorb("generators", encode_points((h, *hs)))
    transcript.absorb("inputs", encode_deck(inputs))
    transcript.absorb("outputs", encode_deck(outputs))
    transcript.absorb("permutation", encode_points(commitments))
    return transcript.weights("u", len(inputs))


def _absorb_commitments(
    transcript: Transcript, chain: Sequence[Point], nonces: Sequence[Point], chain_nonces: Sequence[Point]
) -> int:
    """The challenge e."""
    transcript.absorb("chain", encode_points(chain))
    transcript.absorb("nonces", encode_points(nonces))
    transcript.absorb("chain nonces", encode_points(chain_nonces))
    return transcript.scalar("e")
