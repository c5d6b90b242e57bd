"""Fiat-Shamir transcripts and the small proofs: possession of a secret, equality of logarithms.

Threats answered here: a challenge that does not cover the whole statement ("weak Fiat-Shamir", Bernhard,
Pereira, Warinschi 2012) lets a prover choose the statement afterwards; one that does not cover the context lets
a proof be replayed at another table, hand, seat or step; a nonce that serves two statements gives the secret
away; a batch whose weights do not depend on everything in it can be cancelled out.

So every challenge comes from a :class:`Transcript` that has absorbed our label, the protocol version, the whole
context, and every part of the statement with name and length.  Nonces come from a :class:`SecretStream`, keyed
by the hand's secret and bound to the statement and to fresh randomness.  A verifier decides all equations of a
proof in one random combination whose weights it draws itself (:func:`verifier_weights`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from protocol import PROTOCOL_VERSION, canonical
from protocol.canonical import Value
from protocol.errors import EncodingError, LocalProtocolError, RandomSourceFailed, VerificationError
from protocol.group import (
    GENERATOR,
    ORDER,
    POINT_BYTES,
    SCALAR_BYTES,
    Equation,
    Point,
    decode_scalar,
    encode_points,
    encode_scalar,
    public_combination,
    scalar_from_uniform,
    secret_combination,
)
from protocol.identity import frame

ENTROPY_BYTES: Final = 32
POSSESSION_BYTES: Final = POINT_BYTES + SCALAR_BYTES
EQUALITY_BYTES: Final = 2 * POINT_BYTES + SCALAR_BYTES
_WEIGHT_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Context:
    """Where a proof stands.  Seat, purpose and position in the shuffle order are added where it is used."""

    table: bytes
    hand: int
    epoch: int
    step: int


class Transcript:
    """Everything that a challenge depends on, in order.

    A challenge is SHA-512 over all that was absorbed before it, each item framed with its name and length; the
    fact that a challenge was drawn is itself absorbed, so later challenges depend on it.
    """

    __slots__ = ("_hash", "seat", "step")

    def __init__(self, context: Context, purpose: str, seat: int, position: int = 0) -> None:
        self._hash = hashlib.sha512()
        self.seat = seat
        self.step = context.step
        place: list[Value] = [
            context.table,
            context.hand,
            context.epoch,
            context.step,
            seat,
            position,
            purpose,
        ]
        self.absorb("context", canonical.encode([PROTOCOL_VERSION, *place]))

    def absorb(self, name: str, data: bytes) -> None:
        """Add one part of the statement."""
        self._hash.update(frame("proof", name.encode("ascii"), data))

    def digest(self, name: str) -> bytes:
        """64 bytes that depend on all that was absorbed."""
        self.absorb("challenge", name.encode("ascii"))
        return self._hash.digest()

    def peek(self, name: str) -> bytes:
        """64 bytes that depend on all that was absorbed, without absorbing the draw: for nonces and weights,
        which only one side draws."""
        copy = self._hash.copy()
        copy.update(frame("peek", name.encode("ascii")))
        return copy.digest()

    def scalar(self, name: str) -> int:
        """A challenge reduced from 512 bits."""
        return scalar_from_uniform(self.digest(name))

    def weights(self, name: str, count: int) -> list[int]:
        """``count`` challenges of 128 bits."""
        return _weights(self.digest(name), count)

    def fault(self, reason: str, message: str) -> VerificationError:
        """The error that blames this transcript's seat."""
        return VerificationError(reason, message, seat=self.seat, step=self.step)


class SecretStream:
    """Secret scalars for one statement: SHAKE-256 of a secret key, the statement and fresh randomness."""

    __slots__ = ("_seed",)

    def __init__(self, key: bytes, *binding: bytes) -> None:
        self._seed = hashlib.sha512(frame("secret stream", key, *binding)).digest()

    def __repr__(self) -> str:
        return "SecretStream(...)"

    def derive(self, *binding: bytes) -> SecretStream:
        """A stream bound to more of the statement."""
        return SecretStream(self._seed, *binding)

    def octets(self, name: str, count: int) -> bytes:
        return hashlib.shake_256(frame("stream", self._seed, name.encode("ascii"))).digest(count)

    def scalars(self, name: str, count: int) -> list[int]:
        """``count`` uniform scalars in 1..ORDER-1."""
        data = self.octets(name, 64 * count)
        scalars = [int.from_bytes(data[at : at + 64], "big") % ORDER for at in range(0, 64 * count, 64)]
        if 0 in scalars:
            raise LocalProtocolError("a secret scalar came out as zero; draw fresh randomness")
        return scalars

    def scalar(self, name: str) -> int:
        return self.scalars(name, 1)[0]

    def permutation(self, name: str, count: int) -> list[int]:
        """A uniform permutation of 0..count-1 (Fisher-Yates; the bias of each draw is below 2**-120)."""
        data = self.octets(name, 16 * count)
        order = list(range(count))
        for last in range(count - 1, 0, -1):
            other = int.from_bytes(data[16 * last : 16 * last + 16], "big") % (last + 1)
            order[last], order[other] = order[other], order[last]
        return order


def verifier_weights(entropy: bytes, transcript: Transcript, count: int) -> list[int]:
    """``count`` random 128-bit weights for the equations of one proof.

    ``entropy`` is 32 fresh bytes of the verifier, which no prover can know or aim at.  The transcript, with the
    whole proof absorbed, is hashed in as well: a verifier whose random source repeats still does not give a
    prover two goes at the same weights.
    """
    if len(entropy) != ENTROPY_BYTES:
        raise RandomSourceFailed(f"a verifier needs {ENTROPY_BYTES} fresh random bytes, not {len(entropy)}")
    return _weights(frame("verifier weights", entropy, transcript.peek("verify")), count)


def _weights(seed: bytes, count: int) -> list[int]:
    data = hashlib.shake_256(frame("weights", seed)).digest(_WEIGHT_BYTES * count)
    return [
        int.from_bytes(data[at : at + _WEIGHT_BYTES], "big")
        for at in range(0, _WEIGHT_BYTES * count, _WEIGHT_BYTES)
    ]


# --- possession of a secret (Schnorr 1991) ---------------------------------------------------------------


def prove_possession(transcript: Transcript, secret: int, public: Point, stream: SecretStream) -> bytes:
    """That we know ``secret`` with ``public`` = secret G: t = w G, z = w + c secret; 65 bytes."""
    transcript.absorb("public key", public.encoded)
    nonce = stream.derive(transcript.peek("nonce")).scalar("w")
    commitment = secret_combination(nonce)
    transcript.absorb("commitment", commitment.encoded)
    challenge = transcript.scalar("c")
    return commitment.encoded + encode_scalar((nonce + challenge * secret) % ORDER)


def verify_possession(transcript: Transcript, public: Point, proof: bytes) -> None:
    """Raise VerificationError unless ``proof`` shows knowledge of the logarithm: z G = t + c public."""
    commitment, response = _decode_possession(transcript, proof)
    transcript.absorb("public key", public.encoded)
    transcript.absorb("commitment", commitment.encoded)
    challenge = transcript.scalar("c")
    equation = [(GENERATOR, response), (commitment, -1), (public, -challenge)]
    if public_combination(equation) is not None:
        raise transcript.fault("bad_possession_proof", "the proof of possession does not hold")


def _decode_possession(transcript: Transcript, proof: bytes) -> tuple[Point, int]:
    if len(proof) != POSSESSION_BYTES:
        raise transcript.fault(
            "bad_encoding", f"a proof of possession has {POSSESSION_BYTES} bytes, not {len(proof)}"
        )
    try:
        return (
            Point.decode(proof[:POINT_BYTES], field="proof.t"),
            decode_scalar(proof[POINT_BYTES:], field="proof.z"),
        )
    except EncodingError as error:
        raise transcript.fault("bad_encoding", str(error)) from None


# --- equality of logarithms, batched (Chaum-Pedersen 1992) -----------------------------------------------


def prove_equality(
    transcript: Transcript,
    secret: int,
    public: Point,
    bases: Sequence[Point],
    images: Sequence[Point],
    stream: SecretStream,
) -> bytes:
    """That every image is ``secret`` times its base, with the same secret as in ``public``; 98 bytes.

    With weights m from a hash of everything: A = sum m_k base_k, D = sum m_k image_k, and one proof that
    log_G public = log_A D.
    """
    weights = _equality_weights(transcript, public, bases, images)
    nonce = stream.derive(transcript.peek("nonce")).scalar("w")
    combined = public_combination(list(zip(bases, weights, strict=True)))
    if combined is None:
        raise LocalProtocolError("the weighted bases add up to the identity")
    first, second = secret_combination(nonce), secret_combination(terms=[(combined, nonce)])
    challenge = _equality_challenge(transcript, first, second)
    return encode_points((first, second)) + encode_scalar((nonce + challenge * secret) % ORDER)


def verify_equality(
    transcript: Transcript,
    public: Point,
    bases: Sequence[Point],
    images: Sequence[Point],
    proof: bytes,
    entropy: bytes,
) -> None:
    """Raise VerificationError unless ``proof`` holds: z G = t1 + c public and z A = t2 + c D, combined."""
    weights = _equality_weights(transcript, public, bases, images)
    if len(proof) != EQUALITY_BYTES:
        raise transcript.fault(
            "bad_encoding", f"a proof of equality has {EQUALITY_BYTES} bytes, not {len(proof)}"
        )
    try:
        first = Point.decode(proof[:POINT_BYTES], field="proof.t1")
        second = Point.decode(proof[POINT_BYTES : 2 * POINT_BYTES], field="proof.t2")
        response = decode_scalar(proof[2 * POINT_BYTES :], field="proof.z")
    except EncodingError as error:
        raise transcript.fault("bad_encoding", str(error)) from None
    challenge = _equality_challenge(transcript, first, second)
    transcript.absorb("response", encode_scalar(response))
    alpha, beta = verifier_weights(entropy, transcript, 2)
    # Right side minus left side, so that the commitments keep their short weights.
    equation = Equation()
    equation.add(first, alpha)
    equation.add(public, alpha * challenge)
    equation.add(GENERATOR, -alpha * response)
    equation.add(second, beta)
    for base, image, weight in zip(bases, images, weights, strict=True):
        equation.add(base, -beta * response * weight)
        equation.add(image, beta * challenge * weight)
    if not equation.holds():
        raise transcript.fault("bad_equality_proof", "the proof of equal logarithms does not hold")


def _equality_weights(
    transcript: Transcript, public: Point, bases: Sequence[Point], images: Sequence[Point]
) -> list[int]:
    if not bases or len(bases) != len(images):
        raise LocalProtocolError(f"{len(bases)} bases and {len(images)} images cannot be compared")
    transcript.absorb("public key", public.encoded)
    transcript.absorb("bases", encode_points(bases))
    transcript.absorb("images", encode_points(images))
    return transcript.weights("m", len(bases))


def _equality_challenge(transcript: Transcript, first: Point, second: Point) -> int:
    transcript.absorb("commitments", encode_points((first, second)))
    return transcript.scalar("c")
