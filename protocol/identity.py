"""Who a seat is: an Ed25519 key, its fingerprint, and words to compare aloud.

Every signature and every hash of the trust layer begins with a domain tag of ours, and frames what follows
with lengths, so that nothing signed for one purpose can be read as another.  RFC 8032 leaves a verifier some
freedom; two peers that used it differently would disagree about a log.  So the strict reading is fixed here
(as in "Taming the many EdDSAs", Chalkias, Garillot, Nikolaenko, 2020): a public key must be the canonical
encoding of a point on the curve and not of small order (such a key would make signatures that fit several
messages), and a signature's S must be below the group order.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from protocol.errors import LocalProtocolError, VerificationError
from protocol.wordlist import WORDS

PUBLIC_KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
SEED_BYTES: Final = 32

_DOMAIN: Final = b"p2p-rummy/"


def frame(tag: str, *items: bytes) -> bytes:
    """``items`` behind our domain tag, each with its length: no two different lists give the same bytes.

    domain, 1-byte length of the tag, tag, then for each item its length in 8 bytes (big-endian) and itself.
    """
    parts = [_prefix(tag)]
    for item in items:
        parts += (len(item).to_bytes(8, "big"), item)
    return b"".join(parts)


@lru_cache(maxsize=256)
def _prefix(tag: str) -> bytes:
    """What everything under this tag begins with."""
    name = tag.encode("ascii")
    if not 0 < len(name) < 256:
        raise LocalProtocolError(f"a domain tag has 1 to 255 characters, not {len(name)}")
    return _DOMAIN + bytes([len(name)]) + name


def tagged_hash(tag: str, *items: bytes) -> bytes:
    """SHA-256 of :func:`frame`: 32 bytes."""
    return hashlib.sha256(frame(tag, *items)).digest()


class Identity:
    """A seat's long-term signing key.  Holds a secret: its repr shows the fingerprint only."""

    __slots__ = ("_key", "_seed", "public_key")

    def __init__(self, seed: bytes) -> None:
        """``seed`` is the 32-byte RFC 8032 private key (fresh random bytes, kept in the home directory)."""
        if len(seed) != SEED_BYTES:
            raise LocalProtocolError(f"an identity seed has {SEED_BYTES} bytes, not {len(seed)}")
        self._seed = bytes(seed)
        self._key = Ed25519PrivateKey.from_private_bytes(self._seed)
        self.public_key: bytes = self._key.public_key().public_bytes_raw()

    def __repr__(self) -> str:
        return f"Identity({fingerprint(self.public_key)})"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("an Identity holds a secret and is not pickled")

    def sign(self, tag: str, message: bytes) -> bytes:
        """A 64-byte signature of ``message`` for the purpose ``tag`` and no other."""
        return self._key.sign(frame(tag, message))

    def derive(self, tag: str, *context: bytes) -> bytes:
        """32 secret bytes that only this identity can make, for ``tag`` and ``context``.

        Feeds the randomness of a hand, so that a broken random source alone does not reveal it.  Knowing them
        tells nothing of the key.
        """
        return hashlib.sha512(frame("derive", self._seed, tag.encode("ascii"), *context)).digest()[:32]


def verify(public_key: bytes, tag: str, message: bytes, signature: bytes, *, seat: int | None = None) -> None:
    """Raise VerificationError unless ``signature`` is ``public_key``'s for exactly this tag and message."""
    check_public_key(public_key, seat=seat)
    if len(signature) != SIGNATURE_BYTES:
        raise VerificationError(
            "bad_signature", f"a signature has {SIGNATURE_BYTES} bytes, not {len(signature)}", seat=seat
        )
    if int.from_bytes(signature[32:], "little") >= _ORDER:
        raise VerificationError(
            "bad_signature", "the signature's S is at or above the group order", seat=seat
        )
    signed = frame(tag, message)
    statement = _statement(public_key, signed, signature)
    if statement in _held:
        return
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, signed)
    except InvalidSignature:
        raise VerificationError("bad_signature", f"the signature ({tag}) does not hold", seat=seat) from None
    _hold(statement)


def hold(public_key: bytes, tag: str, message: bytes, signature: bytes) -> None:
    """Take it that this signature holds: this process has made it.  Simulations do; real peers verify what they hear."""
    _hold(_statement(public_key, frame(tag, message), signature))


def _statement(public_key: bytes, signed: bytes, signature: bytes) -> bytes:
    return hashlib.sha256(public_key + signature + signed).digest()


def _hold(statement: bytes) -> None:
    if len(_held) >= _MOST_HELD:
        _held.clear()
    _held.add(statement)


_MOST_HELD: Final = 4096
_held: Final[set[bytes]] = set()
"""Signatures that held: a hash of key, signature and what was signed.  Now and then all are forgotten.

The same votes come back in certificates, the same request with every RESULT; simulated peers hear the same entries.
"""


def check_public_key(public_key: bytes, *, seat: int | None = None) -> None:
    """Raise VerificationError unless this is the canonical encoding of a point of large order."""
    reason = _fault_of(public_key)
    if reason:
        raise VerificationError("bad_identity", f"identity key refused: {reason}", seat=seat)


def fingerprint(public_key: bytes) -> str:
    """Twenty hexadecimal digits (80 bits) in groups of four, for tickets and the list of seats."""
    digits = tagged_hash("fingerprint", public_key).hex()[:20]
    return "-".join(digits[at : at + 4] for at in range(0, 20, 4))


def words(data: bytes, count: int = 4) -> str:
    """``count`` words (one byte each) made from a hash of ``data``, to read aloud and compare."""
    if not 1 <= count <= 32:
        raise LocalProtocolError(f"1 to 32 words can be made, not {count}")
    return " ".join(WORDS[byte] for byte in tagged_hash("words", data)[:count])


# --- edwards25519, as far as judging a key needs it ------------------------------------------------------

_P: Final = 2**255 - 19
_ORDER: Final = 2**252 + 27742317777372353535851937790883648493
_D: Final = -121665 * pow(121666, -1, _P) % _P

# The y-coordinates of the eight points whose order divides 8: order 1, 2, 4, and two values for order 8
# (derived anew by the tests).
_Y_OF_ORDER_8: Final = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
_SMALL_ORDER_Y: Final = frozenset((0, 1, _P - 1, _Y_OF_ORDER_8, _P - _Y_OF_ORDER_8))


@lru_cache(maxsize=1024)
def _fault_of(public_key: bytes) -> str:
    """Why this key is refused, or "" (cached: the square root costs a tenth of a millisecond)."""
    if len(public_key) != PUBLIC_KEY_BYTES:
        return f"it has {len(public_key)} bytes, not {PUBLIC_KEY_BYTES}"
    y = int.from_bytes(public_key, "little") & ((1 << 255) - 1)
    if y >= _P:
        return "its encoding is not canonical"
    # Includes the only other non-canonical encodings, x = 0 with the sign bit set (y is 1 or -1).
    if y in _SMALL_ORDER_Y:
        return "it has small order"
    # x^2 = (y^2 - 1) / (d y^2 + 1) must be a square (Euler's criterion).
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    if pow(square, (_P - 1) // 2, _P) != 1:
        return "it is not a point of the curve"
    return ""
