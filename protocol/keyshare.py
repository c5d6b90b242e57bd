"""The keys of one hand: every seat commits, then all reveal.

COMMIT carries a hash of the hand nonce, the key share X = x G and the backup commitments, beside the sealing key
Z = z G with a proof of possession.  REVEAL opens the hash, proves possession of x, and carries the backups,
sealed to everybody's Z.  Since all commitments are in before any is opened, no seat chooses its key share or its
nonce after seeing another's: a rogue key (X minus the others') is out of reach even before its proof of
possession fails, and nobody steers the coin made from the nonces.

===========  ==============  ===========
state        event           next state
===========  ==============  ===========
COMMITTING   close_commits   REVEALING
REVEALING    close_reveals   OUT
===========  ==============  ===========

Bodies (canonical values; points, scalars and lists of them are byte strings):

- COMMIT ``[hash]``, or with backups ``[hash, Z, proof of z]``
- REVEAL ``[nonce, X, proof of x]``, or with backups
  ``[nonce, X, proof of x, C_0..C_(t-1), E, proof of e, sealed shares in seat order]``
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from protocol import PROTOCOL_VERSION, canonical
from protocol.canonical import Value
from protocol.errors import EncodingError, LocalProtocolError, VerificationError
from protocol.group import POINT_BYTES, Point, add, decode_points, encode_points
from protocol.identity import tagged_hash
from protocol.proofs import POSSESSION_BYTES, Context, Transcript, verify_possession
from protocol.sharing import SEALED_BYTES

HASH_BYTES: Final = 32
NONCE_BYTES: Final = 32

# What a proof is for; part of every challenge.
KEY_SHARE: Final = "possession of a key share"
SEALING_KEY: Final = "possession of a sealing key"
EPHEMERAL_KEY: Final = "possession of an ephemeral key"


class KeyState(enum.Enum):
    COMMITTING = "committing"
    REVEALING = "revealing"
    OUT = "out"


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


class KeyAgreement:
    """The machine: ``check_*`` judge one seat's body, ``close_*`` take those of all seats that passed."""

    def __init__(self, table: bytes, hand: int, seats: Sequence[int], threshold: int | None) -> None:
        if len(seats) < 2 or len(set(seats)) != len(seats) or min(seats) < 0:
            raise LocalProtocolError(f"a hand needs two or more different seats, not {list(seats)}")
        if threshold is not None and not 2 <= threshold <= len(seats) - 1:
            raise LocalProtocolError(
                f"a threshold is 2..{len(seats) - 1} of the other seats, not {threshold}"
            )
        self.table = table
        self.hand = hand
        self.seats: tuple[int, ...] = tuple(sorted(seats))
        self.threshold = threshold
        self.state = KeyState.COMMITTING
        self._commitments: dict[int, Commitment] = {}
        self._reveals: dict[int, Reveal] = {}
        self._joint_key: Point | None = None
        self._coin = b""

    # --- commit ------------------------------------------------------------------------------------------

    def check_commit(self, context: Context, seat: int, body: object) -> None:
        """COMMIT: well-formed, with a sealing key whose secret the seat knows."""
        self._expect(KeyState.COMMITTING)
        commitment = self._commitment(context, seat, body)
        if commitment.sealing is not None:
            transcript = Transcript(context, SEALING_KEY, seat)
            verify_possession(transcript, commitment.sealing.key, commitment.sealing.possession)

    def close_commits(self, bodies: Mapping[int, object]) -> None:
        """All commitments are in; now they may be opened."""
        self._expect(KeyState.COMMITTING)
        self._require_all(bodies)
        self._commitments = {seat: self._commitment(None, seat, bodies[seat]) for seat in self.seats}
        self.state = KeyState.REVEALING

    # --- reveal ------------------------------------------------------------------------------------------

    def check_reveal(self, context: Context, seat: int, body: object) -> None:
        """REVEAL: opens the seat's commitment; key share and ephemeral key have proofs; C_0 is the key share."""
        self._expect(KeyState.REVEALING)
        reveal = self._reveal(context, seat, body)
        backup = reveal.backup
        points = backup.commitments if backup else ()
        digest = commitment_digest(self.table, self.hand, seat, reveal.nonce, reveal.share, points)
        if digest != self._commitments[seat].digest:
            raise _fault(context, seat, "bad_reveal", "what was revealed is not what was committed to")
        verify_possession(Transcript(context, KEY_SHARE, seat), reveal.share, reveal.possession)
        if backup is not None:
            if backup.commitments[0] != reveal.share:
                raise _fault(context, seat, "bad_backup", "the backup is not of the key share")
            transcript = Transcript(context, EPHEMERAL_KEY, seat)
            verify_possession(transcript, backup.ephemeral, backup.possession)

    def close_reveals(self, bodies: Mapping[int, object]) -> None:
        """All are revealed: the joint key and the coin follow.

        Raises VerificationError, the state unchanged, if two seats share one key: the later seat is at fault.
        """
        self._expect(KeyState.REVEALING)
        self._require_all(bodies)
        reveals = {seat: self._reveal(None, seat, bodies[seat]) for seat in self.seats}
        owners: dict[Point, int] = {}
        for seat, reveal in reveals.items():
            # Both have proven that they know the secret, so they share it; the later seat is named.
            if owners.setdefault(reveal.share, seat) != seat:
                raise VerificationError("repeated_key", "its key share is that of another seat", seat=seat)
        joint_key = add(*owners)
        if joint_key is None:
            # Committed to before any was seen, and proven: only all seats together can have made this.
            raise VerificationError("bad_key", "the key shares add up to the identity", seat=self.seats[-1])
        place: list[Value] = [self.table, self.hand, list(self.seats)]
        self._coin = tagged_hash("coin", canonical.encode(place), *(r.nonce for r in reveals.values()))
        self._joint_key = joint_key
        self._reveals = reveals
        self.state = KeyState.OUT

    # --- what came of it ---------------------------------------------------------------------------------

    @property
    def joint_key(self) -> Point:
        """X, the sum of all key shares."""
        if self._joint_key is None:
            raise LocalProtocolError("the keys of this hand are not out yet")
        return self._joint_key

    @property
    def coin(self) -> bytes:
        """32 bytes that no seat could steer; empty before the keys are out."""
        return self._coin

    def share(self, seat: int) -> Point:
        """X_i of a seat."""
        return self._revealed(seat).share

    def sealing_key(self, seat: int) -> Point:
        """Z of a seat, once the commitments are in (only with backups)."""
        commitment = self._commitments.get(seat)
        if commitment is None or commitment.sealing is None:
            raise LocalProtocolError(f"no sealing key of seat {seat} is known")
        return commitment.sealing.key

    def backup(self, dealer: int) -> Backup:
        """The backup that a seat revealed (only with backups)."""
        backup = self._revealed(dealer).backup
        if backup is None:
            raise LocalProtocolError("this hand has no backups")
        return backup

    def others(self, seat: int) -> tuple[int, ...]:
        return tuple(other for other in self.seats if other != seat)

    def to_value(self) -> list[Value]:
        """The state, for comparing peers."""
        return [
            [self.table, self.hand, list(self.seats), self.threshold or 0, self.state.value, self._coin],
            [self._commitments[seat].to_value() for seat in sorted(self._commitments)],
            [self._reveals[seat].to_value() for seat in sorted(self._reveals)],
        ]

    # --- helpers -----------------------------------------------------------------------------------------

    def _commitment(self, context: Context | None, seat: int, body: object) -> Commitment:
        self._require_seat(seat)
        try:
            return Commitment.from_value(body, backups=self.threshold is not None)
        except EncodingError as error:
            raise _fault(context, seat, "bad_encoding", str(error)) from None

    def _reveal(self, context: Context | None, seat: int, body: object) -> Reveal:
        self._require_seat(seat)
        try:
            return Reveal.from_value(body, threshold=self.threshold, holders=self.others(seat))
        except EncodingError as error:
            raise _fault(context, seat, "bad_encoding", str(error)) from None

    def _revealed(self, seat: int) -> Reveal:
        reveal = self._reveals.get(seat)
        if reveal is None:
            raise LocalProtocolError(f"no key share of seat {seat} is known")
        return reveal

    def _expect(self, state: KeyState) -> None:
        if self.state is not state:
            raise LocalProtocolError(f"the keys are {self.state.value}; this needs them {state.value}")

    def _require_seat(self, seat: int) -> None:
        if seat not in self.seats:
            raise LocalProtocolError(f"seat {seat} is not in this hand")

    def _require_all(self, bodies: Mapping[int, object]) -> None:
        if set(bodies) != set(self.seats):
            raise LocalProtocolError(f"bodies of seats {self.seats} are needed, not of {sorted(bodies)}")


def _fault(context: Context | None, seat: int, reason: str, message: str) -> VerificationError:
    return VerificationError(reason, message, seat=seat, step=context.step if context else None)
