"""The keys of one hand: every seat commits, then all reveal.

COMMIT carries a hash of the hand nonce, the key share X = x G and the backup commitments, beside the sealing key
Z = z G with a proof of possession.  REVEAL opens the hash, proves possession of x, and carries the backups,
sealed to everybody's Z.  Since all commitments are in before any is opened, no seat chooses its key share or its
nonce after seeing another's: a rogue key (X minus the others') is out of reach even before its proof of
possession fails, and nobody steers the coin made from the nonces.

Bodies (canonical values; points, scalars and lists of them are byte strings):

- COMMIT ``[hash]``, or with backups ``[hash, Z, proof of z]``
- REVEAL ``[nonce, X, proof of x]``, or with backups
  ``[nonce, X, proof of x, C_0..C_(t-1), E, proof of e, sealed shares in seat order]``
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from protocol import PROTOCOL_VERSION, canonical
from protocol.canonical import Value
from protocol.group import POINT_BYTES, Point, decode_points, encode_points
from protocol.identity import tagged_hash
from protocol.proofs import POSSESSION_BYTES
from protocol.sharing import SEALED_BYTES

HASH_BYTES: Final = 32
NONCE_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class SealingKey:
    """Z, to which this hand's backup shares for one seat are sealed, and its proof of possession."""

    key: Point
    possession: bytes


@dataclass(frozen=True, slots=True)
class Commitment:
    """A COMMIT body.  ``sealing`` is None where the hand has no backups."""

    digest: bytes
    sealing: SealingKey | None

    def to_value(self) -> list[Value]:
        if self.sealing is None:
            return [self.digest]
        return [self.digest, self.sealing.key.encoded, self.sealing.possession]

    @classmethod
    def from_value(cls, value: object, *, backups: bool) -> Commitment:
        """Raises EncodingError for anything that is not a COMMIT body."""
        parts = canonical.array(value, field="commit", length=3 if backups else 1)
        digest = canonical.octets(parts[0], field="commit.digest", length=HASH_BYTES)
        if not backups:
            return cls(digest, None)
        key = Point.decode(canonical.octets(parts[1], field="commit.key"), field="commit.key")
        possession = canonical.octets(parts[2], field="commit.possession", length=POSSESSION_BYTES)
        return cls(digest, SealingKey(key, possession))


@dataclass(frozen=True, slots=True)
class Backup:
    """One dealer's backup as published: commitments, ephemeral key with proof, one sealed share a holder."""

    commitments: tuple[Point, ...]
    ephemeral: Point
    possession: bytes
    sealed: Mapping[int, bytes]


@dataclass(frozen=True, slots=True)
class Reveal:
    """A REVEAL body.  ``backup`` is None where the hand has no backups."""

    nonce: bytes
    share: Point
    possession: bytes
    backup: Backup | None

    def to_value(self) -> list[Value]:
        value: list[Value] = [self.nonce, self.share.encoded, self.possession]
        if self.backup is not None:
            value += [
                encode_points(self.backup.commitments),
                self.backup.ephemeral.encoded,
                self.backup.possession,
                b"".join(self.backup.sealed[holder] for holder in sorted(self.backup.sealed)),
            ]
        return value

    @classmethod
    def from_value(cls, value: object, *, threshold: int | None, holders: Sequence[int]) -> Reveal:
        """Raises EncodingError for anything that is not a REVEAL body for these holders."""
        parts = canonical.array(value, field="reveal", length=3 if threshold is None else 7)
        nonce = canonical.octets(parts[0], field="reveal.nonce", length=NONCE_BYTES)
        share = Point.decode(canonical.octets(parts[1], field="reveal.share"), field="reveal.share")
        possession = canonical.octets(parts[2], field="reveal.possession", length=POSSESSION_BYTES)
        if threshold is None:
            return cls(nonce, share, possession, None)
        commitments = canonical.octets(parts[3], field="reveal.commitments", length=threshold * POINT_BYTES)
        ephemeral = canonical.octets(parts[4], field="reveal.ephemeral")
        sealed = canonical.octets(parts[6], field="reveal.sealed", length=SEALED_BYTES * len(holders))
        backup = Backup(
            tuple(decode_points(commitments, threshold, field="reveal.commitments")),
            Point.decode(ephemeral, field="reveal.ephemeral"),
            canonical.octets(parts[5], field="reveal.backup_possession", length=POSSESSION_BYTES),
            {
                holder: sealed[at * SEALED_BYTES : (at + 1) * SEALED_BYTES]
                for at, holder in enumerate(sorted(holders))
            },
        )
        return cls(nonce, share, possession, backup)


def commitment_digest(
    table: bytes, hand: int, seat: int, nonce: bytes, share: Point, commitments: Sequence[Point]
) -> bytes:
    """What COMMIT promises to open.  Bound to table, hand and seat, so a copied one opens for nobody else."""
    place: list[Value] = [PROTOCOL_VERSION, table, hand, seat]
    return tagged_hash(
        "hand commitment", canonical.encode(place), nonce, share.encoded, encode_points(commitments)
    )
