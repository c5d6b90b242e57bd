"""Backup shares of a hand key: Feldman's secret sharing, each share sealed to its holder in public.

A dealer's key share x is f(0) of a polynomial of degree t-1; holder j (index seat + 1, never 0) gets f(j).  The
commitments C_k = a_k G let anyone check a share against them: f(j) G = sum j^k C_k (Feldman 1987).  Any t
holders rebuild x; fewer learn nothing about it.

All of it is published.  A share is sealed to the holder's key Z_j of this hand, which is separate from its
card key and never rebuilt: with one ephemeral E = e G per dealer, the key is a hash of e Z_j.  The dealer proves
that it knows e.  Without that proof it could copy or shift another dealer's E; the holder's complaint, which
publishes z_j E, would then open that other dealer's share to everyone.

A holder that finds its share bad complains: it publishes z_j E with a proof that the logarithms are equal, so
that everybody opens the share and sees who is at fault (:func:`judge`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from protocol import PROTOCOL_VERSION, canonical
from protocol.canonical import Value
from protocol.errors import LocalProtocolError
from protocol.group import (
    ORDER,
    SCALAR_BYTES,
    Point,
    encode_scalar,
    public_combination,
    secret_combination,
)
from protocol.identity import tagged_hash
from protocol.proofs import SecretStream

SEALED_BYTES: Final = SCALAR_BYTES + 16


@dataclass(frozen=True, slots=True)
class Place:
    """Which share: dealt by ``dealer`` to ``holder`` in one hand of one table."""

    table: bytes
    hand: int
    dealer: int
    holder: int

    def encode(self) -> bytes:
        place: list[Value] = [PROTOCOL_VERSION, self.table, self.hand, self.dealer, self.holder]
        return canonical.encode(place)


def index_of(seat: int) -> int:
    """The holder's index in the polynomial: never 0, which is the secret itself."""
    return seat + 1


# --- dealing ---------------------------------------------------------------------------------------------


def polynomial(secret: int, threshold: int, stream: SecretStream) -> tuple[int, ...]:
    """Coefficients of a polynomial of degree ``threshold`` - 1 with constant term ``secret``."""
    if threshold < 2:
        raise LocalProtocolError(f"a threshold of {threshold} would hand the secret to single holders")
    return (secret, *stream.scalars("polynomial", threshold - 1))


def commit(coefficients: Sequence[int]) -> tuple[Point, ...]:
    """C_0..C_(t-1)."""
    return tuple(secret_combination(coefficient) for coefficient in coefficients)


def share_for(coefficients: Sequence[int], seat: int) -> int:
    """f(index of ``seat``), as the dealer computes it."""
    value = 0
    for coefficient in reversed(coefficients):
        value = (value * index_of(seat) + coefficient) % ORDER
    if value == 0:
        raise LocalProtocolError("a backup share came out as zero; draw a fresh hand secret")
    return value


def seal(place: Place, share: int, ephemeral_secret: int, ephemeral: Point, holder_key: Point) -> bytes:
    """48 bytes that only the holder opens; ``ephemeral`` = ``ephemeral_secret`` G."""
    point = secret_combination(None, ((holder_key, ephemeral_secret),))
    cipher = ChaCha20Poly1305(_seal_key(place, ephemeral, holder_key, point))
    return cipher.encrypt(_NONCE, encode_scalar(share), place.encode())


# --- holding ---------------------------------------------------------------------------------------------


def unseal(place: Place, sealed: bytes, ephemeral: Point, holder_key: Point, point: Point) -> int | None:
    """The share, given ``point`` = z_j E; None if it does not decrypt to a scalar in 1..ORDER-1."""
    cipher = ChaCha20Poly1305(_seal_key(place, ephemeral, holder_key, point))
    try:
        data = cipher.decrypt(_NONCE, sealed, place.encode())
    except InvalidTag:
        return None
    value = int.from_bytes(data, "big")
    return value if len(data) == SCALAR_BYTES and 0 < value < ORDER else None


def share_holds(commitments: Sequence[Point], seat: int, share: int) -> bool:
    """Whether f(j) G = sum j^k C_k."""
    if not 0 < share < ORDER:
        return False
    power, terms = 1, []
    for commitment in commitments:
        terms.append((commitment, power))
        power = power * index_of(seat) % ORDER
    return public_combination(terms) == secret_combination(share)


def judge(
    place: Place,
    sealed: bytes,
    ephemeral: Point,
    holder_key: Point,
    point: Point,
    commitments: Sequence[Point],
) -> int:
    """The seat at fault in a complaint about ``sealed``, once ``point`` = z_j E is proven."""
    share = unseal(place, sealed, ephemeral, holder_key, point)
    good = share is not None and share_holds(commitments, place.holder, share)
    return place.holder if good else place.dealer


# --- rebuilding ------------------------------------------------------------------------------------------


def rebuild(shares: Mapping[int, int], threshold: int) -> int:
    """The secret f(0) from the shares of ``threshold`` seats (Lagrange; further shares are not needed)."""
    if len(shares) < threshold:
        raise LocalProtocolError(f"{threshold} backup shares are needed, {len(shares)} are there")
    chosen = sorted(shares)[:threshold]
    secret = 0
    for seat in chosen:
        numerator = denominator = 1
        for other in chosen:
            if other != seat:
                numerator = numerator * index_of(other) % ORDER
                denominator = denominator * (index_of(other) - index_of(seat)) % ORDER
        secret += shares[seat] * numerator * pow(denominator, -1, ORDER)
    return secret % ORDER


# A seal's key is used once (it depends on the place and on a fresh E), so its nonce can be constant.
_NONCE: Final = bytes(12)


def _seal_key(place: Place, ephemeral: Point, holder_key: Point, point: Point) -> bytes:
    return tagged_hash("backup seal", place.encode(), ephemeral.encoded, holder_key.encoded, point.encoded)
