"""One seat's private half of a hand: it makes the bodies that :class:`~protocol.deck.Deck` checks.

Everything secret comes from one root: a fresh seed that is stored durably before the first COMMIT is sent, mixed
with a secret that only the seat's identity can make (so neither a stolen identity nor a stolen seed opens a
hand alone), the table, the hand and the seat.  Proof nonces and re-encryption masks come from the root, the
context, the whole statement and 32 fresh random bytes: a random source that repeats does not make a nonce serve
two statements, and one that fails is refused before anything is made.

The methods read the deck they were given and never change it; a body is taken by the deck like everybody
else's.  After a restart the bodies already journalled are sent again; they are never made anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from protocol import canonical, keyshare, sharing, shuffle
from protocol.canonical import Value
from protocol.deck import (
    COMPLAINT,
    OPENING,
    SHARES,
    Card,
    Deck,
    DeckState,
    Seat,
    Slot,
)
from protocol.errors import LocalProtocolError, RandomSourceFailed, VerificationError
from protocol.group import encode_points, encode_scalar, secret_combination
from protocol.identity import frame
from protocol.keyshare import (
    EPHEMERAL_KEY,
    KEY_SHARE,
    SEALING_KEY,
    Backup,
    Commitment,
    Reveal,
    SealingKey,
)
from protocol.proofs import (
    ENTROPY_BYTES,
    Context,
    SecretStream,
    Transcript,
    prove_equality,
    prove_possession,
)

SEED_BYTES: Final = 32


class HandSecret:
    """Secrets of one seat for one hand.  Its repr shows none; :meth:`wipe` ends its use."""

    __slots__ = ("_deck", "_faces", "_root", "_seat", "_used")

    def __init__(self, seed: bytes, identity_secret: bytes, deck: Deck, seat: Seat) -> None:
        """``seed``: 32 fresh random bytes of this hand, durable before use and wiped after the hand.

        ``identity_secret``: 32 bytes of :meth:`protocol.identity.Identity.derive`, the same at every restart.
        """
        if seat not in deck.seats:
            raise LocalProtocolError(f"seat {seat} is not in this hand")
        _require_random("a hand seed", seed, SEED_BYTES)
        _require_random("an identity secret", identity_secret, 32)
        place: list[Value] = [deck.table, deck.hand, seat]
        self._root = bytearray(
            hashlib.sha512(frame("hand secret", seed, identity_secret, canonical.encode(place))).digest()
        )
        self._deck = deck
        self._seat = seat
        self._used: set[bytes] = set()
        self._faces: dict[Slot, Card | None] = {}

    def __repr__(self) -> str:
        return f"HandSecret(hand {self._deck.hand}, seat {self._seat})"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a HandSecret is not pickled")

    def wipe(self) -> None:
        """Overwrite the root and forget the faces; every later call raises LocalProtocolError."""
        self._root[:] = bytes(len(self._root))
        self._faces.clear()

    # --- keys --------------------------------------------------------------------------------------------

    def commit(self, context: Context, entropy: bytes) -> list[Value]:
        """The COMMIT body."""
        self._require_usable()
        if self._deck.state is not DeckState.COMMITTING:
            raise LocalProtocolError("keys are committed to once, when the hand begins")
        stream = self._fresh("commit", context, entropy)
        sealing = None
        if self._deck.threshold is not None:
            secret = self._sealing_secret()
            key = secret_combination(secret)
            transcript = Transcript(context, SEALING_KEY, self._seat)
            sealing = SealingKey(key, prove_possession(transcript, secret, key, stream))
        deck = self._deck
        digest = keyshare.commitment_digest(
            deck.table,
            deck.hand,
            self._seat,
            self._hand_nonce(),
            secret_combination(self._card_secret()),
            sharing.commit(self._polynomial()),
        )
        return Commitment(digest, sealing).to_value()

    def reveal(self, context: Context, entropy: bytes) -> list[Value]:
        """The REVEAL body, once everybody's COMMIT is in."""
        deck = self._deck
        if deck.state is not DeckState.REVEALING:
            raise LocalProtocolError("keys are revealed when all commitments are in, and once")
        stream = self._fresh("reveal", context, entropy)
        secret = self._card_secret()
        share = secret_combination(secret)
        possession = prove_possession(
            Transcript(context, KEY_SHARE, self._seat), secret, share, stream.derive(b"key share")
        )
        backup = None if deck.threshold is None else self._backup(context, stream.derive(b"backup"))
        return Reveal(self._hand_nonce(), share, possession, backup).to_value()

    def _backup(self, context: Context, stream: SecretStream) -> Backup:
        coefficients = self._polynomial()
        holders = self._deck.keys.others(self._seat)
        keys = {holder: self._deck.keys.sealing_key(holder) for holder in holders}
        # Bound to everybody's sealing keys: one ephemeral key never meets two sets of holders.
        bound = stream.derive(encode_points(keys.values()))
        secret = bound.scalar("e")
        ephemeral = secret_combination(secret)
        transcript = Transcript(context, EPHEMERAL_KEY, self._seat)
        sealed = {
            holder: sharing.seal(
                self._deck.backup_place(self._seat, holder),
                sharing.share_for(coefficients, holder),
                secret,
                ephemeral,
                key,
            )
            for holder, key in keys.items()
        }
        possession = prove_possession(transcript, secret, ephemeral, bound.derive(b"possession"))
        return Backup(sharing.commit(coefficients), ephemeral, possession, sealed)

    # --- the deck ----------------------------------------------------------------------------------------

    def shuffle(self, context: Context, entropy: bytes) -> list[Value]:
        """The SHUFFLE body.  Sending it also confirms that this seat's backup shares are good."""
        deck = self._deck
        if deck.shuffler != self._seat:
            raise LocalProtocolError(f"seat {deck.shuffler} shuffles now, not {self._seat}")
        if self._bad_dealer() is not None:
            raise LocalProtocolError("a backup share is bad: complain, do not shuffle")
        inputs, key = deck.current, deck.keys.joint_key
        stream = self._fresh("shuffle", context, entropy, key.encoded, shuffle.encode_deck(inputs))
        outputs, proof = shuffle.shuffle(deck.shuffle_transcript(context, self._seat), key, inputs, stream)
        return [shuffle.encode_deck(outputs), proof.to_value()]

    def shares(self, context: Context, slots: Sequence[Slot], entropy: bytes) -> list[Value]:
        """The SHARES body: this seat's shares of ``slots``, which it must not own."""
        return self._share_body(context, SHARES, slots, entropy)

    def opening(self, context: Context, slots: Sequence[Slot], entropy: bytes) -> list[Value]:
        """The opening of ``slots``, which this seat must hold."""
        for slot in slots:
            if self._deck.missing(slot) != (self._seat,):
                raise LocalProtocolError(f"slot {slot} is not held by this seat")
        return self._share_body(context, OPENING, slots, entropy)

    def faces(self) -> dict[Slot, Card]:
        """The faces of the slots that this seat holds: all other shares are there, its own is not.

        A slot that is no card of the pack (SPEC.md 6.5) has no face.
        """
        self._require_usable()
        held = [slot for slot in range(self._deck.slot_count) if self._deck.missing(slot) == (self._seat,)]
        for slot in held:
            if slot not in self._faces:
                own = secret_combination(None, ((self._deck.ciphertext(slot).a, self._card_secret()),))
                try:
                    self._faces[slot] = self._deck.decrypt(slot, {self._seat: own})
                except VerificationError:
                    self._faces[slot] = None
        known = ((slot, self._faces[slot]) for slot in held)
        return {slot: card for slot, card in known if card is not None}

    def _share_body(
        self, context: Context, purpose: str, slots: Sequence[Slot], entropy: bytes
    ) -> list[Value]:
        deck = self._deck
        if deck.state is not DeckState.READY or not slots or len(set(slots)) != len(slots):
            raise LocalProtocolError("shares are given of one or more different slots, between shuffles")
        bases = [deck.ciphertext(slot).a for slot in slots]
        if any(deck.has_share(slot, self._seat) for slot in slots):
            raise LocalProtocolError("a share that was given is sent again from the journal, not made anew")
        listed = canonical.encode(list(slots))
        stream = self._fresh(purpose, context, entropy, listed, encode_points(bases))
        secret = self._card_secret()
        shares = [secret_combination(None, ((base, secret),)) for base in bases]
        transcript = Transcript(context, purpose, self._seat)
        transcript.absorb("slots", listed)
        proof = prove_equality(transcript, secret, secret_combination(secret), bases, shares, stream)
        return [encode_points(shares), proof]

    # --- backups -----------------------------------------------------------------------------------------

    def complaint(self, context: Context, entropy: bytes) -> list[Value] | None:
        """The COMPLAINT body about the first bad backup share; None if all are good."""
        dealer = self._bad_dealer()
        if dealer is None:
            return None
        ephemeral, key = self._deck.keys.backup(dealer).ephemeral, self._deck.keys.sealing_key(self._seat)
        secret = self._sealing_secret()
        point = secret_combination(None, ((ephemeral, secret),))
        stream = self._fresh("complaint", context, entropy, ephemeral.encoded)
        transcript = Transcript(context, COMPLAINT, self._seat, dealer)
        return [dealer, point.encoded, prove_equality(transcript, secret, key, [ephemeral], [point], stream)]

    def restore(self, dropped: Seat) -> list[Value]:
        """The RESTORE body: the backup share that this seat holds of a dropped seat's key.

        It needs no proof: everybody checks it against the dealer's commitments.
        """
        if dropped not in self._deck.dropped:
            raise LocalProtocolError(f"seat {dropped} was not dropped: its backup stays sealed")
        share = self._backup_share(dropped)
        if share is None:
            raise LocalProtocolError(f"seat {dropped} dealt this seat a bad backup share")
        return [encode_scalar(share)]

    def _bad_dealer(self) -> Seat | None:
        if self._deck.threshold is None:
            return None
        dealers = (seat for seat in self._deck.keys.others(self._seat) if seat not in self._deck.dropped)
        return next((dealer for dealer in dealers if self._backup_share(dealer) is None), None)

    def _backup_share(self, dealer: Seat) -> int | None:
        """The share that ``dealer`` sealed to this seat; None if it is not the one committed to."""
        backup = self._deck.keys.backup(dealer)
        point = secret_combination(None, ((backup.ephemeral, self._sealing_secret()),))
        share = sharing.unseal(
            self._deck.backup_place(dealer, self._seat),
            backup.sealed[self._seat],
            backup.ephemeral,
            self._deck.keys.sealing_key(self._seat),
            point,
        )
        good = share is not None and sharing.share_holds(backup.commitments, self._seat, share)
        return share if good else None

    # --- the root ----------------------------------------------------------------------------------------

    def _card_secret(self) -> int:
        return self._stream().scalar("card key")

    def _sealing_secret(self) -> int:
        return self._stream().scalar("sealing key")

    def _hand_nonce(self) -> bytes:
        return self._stream().octets("hand nonce", keyshare.NONCE_BYTES)

    def _polynomial(self) -> tuple[int, ...]:
        if self._deck.threshold is None:
            return ()
        return sharing.polynomial(self._card_secret(), self._deck.threshold, self._stream())

    def _stream(self) -> SecretStream:
        self._require_usable()
        return SecretStream(bytes(self._root))

    def _fresh(self, purpose: str, context: Context, entropy: bytes, *statement: bytes) -> SecretStream:
        """Secrets for one statement.  Refuses randomness that is missing, constant or used before."""
        _require_random("fresh randomness", entropy, ENTROPY_BYTES)
        if entropy in self._used:
            raise RandomSourceFailed("the random source repeats itself; nothing was made")
        place: list[Value] = [context.table, context.hand, context.epoch, context.step]
        stream = self._stream().derive(purpose.encode("ascii"), canonical.encode(place), entropy, *statement)
        self._used.add(bytes(entropy))
        return stream

    def _require_usable(self) -> None:
        if not any(self._root):
            raise LocalProtocolError("this hand's secret has been wiped")


def _require_random(what: str, data: bytes, length: int) -> None:
    if len(data) != length:
        raise RandomSourceFailed(f"{what} has {length} bytes, not {len(data)}; nothing was made")
    if len(set(data)) == 1:
        raise RandomSourceFailed(
            f"{what} is one byte repeated: the random source has failed; nothing was made"
        )
