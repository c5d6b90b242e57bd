"""One mental deck: the keys, shuffles, shares and openings of one hand.

:class:`Deck` is the public half, equal at every peer; :class:`~protocol.hand_secret.HandSecret` is one seat's
private half.  A card is an ElGamal pair under the joint key X = sum X_i (Barnett and Smart, "Mental Poker
Revisited", 2003).  Every seat shuffles and re-encrypts in turn and proves it, so the order is unknown to any group
that leaves one seat out.  A *slot* is one card of the shuffled deck.  A seat's share of a slot is x_i a, with a
proof; where the shares of all seats meet, the card shows.  A face-down card is dealt by everybody but its owner
publishing; the owner opens it later by publishing its own share.

=============  =======================  ==============================================
state          event                    next state
=============  =======================  ==============================================
COMMITTING     close_commits            REVEALING
REVEALING      close_reveals            READY
READY          begin_shuffle            SHUFFLING
SHUFFLING      close_shuffle            SHUFFLING; READY after the last, which makes the slots
keys are out   abandon_shuffle, drop    READY; a shuffle under way is void and begins again
READY          close_shares             READY
READY          close_opening            READY
keys are out   close_restore            as it was
=============  =======================  ==============================================

"Keys are out" means READY or SHUFFLING.  Any other event raises LocalProtocolError and changes nothing.

``check_*`` judge one seat's body and raise :class:`~protocol.errors.VerificationError` that names the seat; they
read only, so a worker thread may run them.  ``close_*`` take bodies that passed their check and change the state.
Checks that combine equations take ``entropy``: 32 fresh random bytes, which no prover can aim at.

A dropped seat no longer shuffles and owes nothing.  Once its key share is rebuilt from the backups
(``close_restore``), everybody computes its share of every slot, so old and new slots finish without it.

Bodies: SHUFFLE ``[outputs, proof]`` (:mod:`protocol.shuffle`); SHARES and openings ``[shares, proof]``; COMPLAINT
``[dealer, z E, proof]``; RESTORE ``[share]``; COMMIT and REVEAL in :mod:`protocol.keyshare`.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Final

from protocol import canonical, sharing, shuffle
from protocol.canonical import Value
from protocol.errors import EncodingError, LocalProtocolError, VerificationError
from protocol.group import (
    ORDER,
    SCALAR_BYTES,
    Point,
    decode_points,
    decode_scalar,
    encode_scalar,
    negate,
    public_combination,
    secret_combination,
)
from protocol.identity import tagged_hash
from protocol.keyshare import KeyAgreement, KeyState
from protocol.proofs import Context, Transcript, verify_equality
from protocol.shuffle import Ciphertext, ShuffleProof

Seat = int
Slot = int
Card = int


class DeckState(enum.Enum):
    COMMITTING = "committing"
    REVEALING = "revealing"
    READY = "ready"
    SHUFFLING = "shuffling"


KEYS_OUT: Final = (DeckState.READY, DeckState.SHUFFLING)

# What a proof is for; part of every challenge.
SHUFFLE: Final = "shuffle"
SHARES: Final = "decryption shares"
UNKNOWN_CARD: Final = "unknown_card"
"""The one reason that blames nobody: see :meth:`Deck.decrypt`."""
OPENING: Final = "opening"
COMPLAINT: Final = "complaint"


TWO_PACKS: Final = 108
"""Cards of the largest deck in common use: two packs with jokers."""


def prepare(card_count: int) -> None:
    """Derive the points of ``card_count`` cards now (half a millisecond each) and not in the first shuffle."""
    shuffle.generators(card_count)
    for card in range(card_count):
        shuffle.card_point(card)


class Deck:
    """The public half of one hand's deck.  See the module's text for states and bodies."""

    def __init__(self, table: bytes, hand: int, seats: Sequence[Seat], *, threshold: int | None) -> None:
        """``seats`` of this hand; ``threshold`` holders rebuild a key (None: no backups are made)."""
        self.keys = KeyAgreement(table, hand, seats, threshold)
        self.table = table
        self.hand = hand
        self.seats: tuple[Seat, ...] = self.keys.seats
        self.threshold = threshold
        self.coin = b""
        self.shuffle_order: tuple[Seat, ...] = ()
        self._shuffling = False
        self._dropped: dict[Seat, int | None] = {}  # the rebuilt key share, once there
        self._cards: dict[bytes, Card] = {}  # by encoded point, over all shuffles of the hand
        self._current: tuple[Ciphertext, ...] = ()  # last accepted output of the shuffle under way
        self._done: tuple[Seat, ...] = ()  # who has shuffled in it
        self._slots: list[Ciphertext] = []
        self._shares: list[dict[Seat, Point]] = []
        self._faces: dict[Slot, Card] = {}

    def __repr__(self) -> str:
        return f"Deck(hand {self.hand}, seats {self.seats}, {self.state.value}, {len(self._slots)} slots)"

    @property
    def state(self) -> DeckState:
        if self.keys.state is KeyState.OUT:
            return DeckState.SHUFFLING if self._shuffling else DeckState.READY
        return DeckState(self.keys.state.value)

    # --- keys (see protocol.keyshare) --------------------------------------------------------------------

    def check_commit(self, context: Context, seat: Seat, body: object) -> None:
        """COMMIT: well-formed, with a sealing key whose secret the seat knows."""
        self.keys.check_commit(context, seat, body)

    def close_commits(self, bodies: Mapping[Seat, object]) -> None:
        """All commitments are in; now they may be opened."""
        self.keys.close_commits(bodies)

    def check_reveal(self, context: Context, seat: Seat, body: object) -> None:
        """REVEAL: opens the seat's commitment; key share and ephemeral key have proofs; C_0 is the key share."""
        self.keys.check_reveal(context, seat, body)

    def close_reveals(self, bodies: Mapping[Seat, object]) -> None:
        """All are revealed: the joint key, the coin and the shuffle order follow.

        Raises VerificationError, the state unchanged, if two seats share one key: the later seat is at fault.
        """
        self.keys.close_reveals(bodies)
        self.coin = self.keys.coin
        first = int.from_bytes(tagged_hash("shuffle order", self.coin), "big") % len(self.seats)
        self.shuffle_order = self.seats[first:] + self.seats[:first]

    # --- shuffles ----------------------------------------------------------------------------------------

    def begin_shuffle(self, cards: Sequence[Card]) -> None:
        """Start from the canonical open deck of ``cards``, under the hand's joint key."""
        self._expect(DeckState.READY)
        self._current = shuffle.open_deck(cards, self.keys.joint_key)
        self._cards.update((shuffle.card_point(card).encoded, card) for card in cards)
        self._shuffling = True

    @property
    def shuffler(self) -> Seat | None:
        """The seat whose shuffle is awaited."""
        if self.state is not DeckState.SHUFFLING:
            return None
        waiting = (s for s in self.shuffle_order if s not in self._done and s not in self._dropped)
        return next(waiting, None)

    def check_shuffle(self, context: Context, seat: Seat, body: object, entropy: bytes) -> None:
        """SHUFFLE: its outputs are the last accepted deck, permuted and re-encrypted."""
        self._expect(DeckState.SHUFFLING)
        if seat != self.shuffler:
            raise _fault(context, seat, "out_of_turn", "another seat shuffles now")
        transcript = self.shuffle_transcript(context, seat)
        outputs, proof = self._shuffled(context, seat, body)
        shuffle.verify(transcript, self.keys.joint_key, self._current, outputs, proof, entropy)

    def close_shuffle(self, seat: Seat, body: object) -> None:
        """The next deck; after the last shuffler it becomes slots, numbered on from those of earlier shuffles."""
        self._expect(DeckState.SHUFFLING)
        if seat != self.shuffler:
            raise LocalProtocolError(f"seat {self.shuffler} shuffles now, not {seat}")
        outputs, _proof = self._shuffled(None, seat, body)
        self._current = outputs
        self._done = (*self._done, seat)
        if self.shuffler is None:
            self._slots += self._current
            self._shares += [{} for _ in self._current]
            self.abandon_shuffle()

    def abandon_shuffle(self) -> None:
        """Forget a shuffle under way; it begins again from the open deck."""
        self._expect(*KEYS_OUT)
        self._current = ()
        self._done = ()
        self._shuffling = False

    # --- shares and openings -----------------------------------------------------------------------------

    @property
    def slot_count(self) -> int:
        return len(self._slots)

    def face(self, slot: Slot) -> Card | None:
        """The card in ``slot``, if it is open to all."""
        return self._faces.get(slot)

    def missing(self, slot: Slot) -> tuple[Seat, ...]:
        """The seats whose share of ``slot`` nobody has or can compute yet."""
        self._require_slots((slot,))
        return tuple(
            seat for seat in self.seats if seat not in self._shares[slot] and self._dropped.get(seat) is None
        )

    def check_shares(
        self, context: Context, seat: Seat, slots: Sequence[Slot], body: object, entropy: bytes
    ) -> None:
        """SHARES: ``seat``'s shares of exactly these ``slots``, with one proof."""
        self._expect(DeckState.READY)
        self._require_live(seat)
        self._require_slots(slots)
        self._check_equality(context, SHARES, seat, slots, body, entropy)

    def close_shares(self, seat: Seat, slots: Sequence[Slot], body: object) -> None:
        """Take the shares.  A seat's share of a slot is unique, so taking it twice changes nothing."""
        self._expect(DeckState.READY)
        self._require_live(seat)
        self._require_slots(slots)
        shares, _proof = self._share_body(None, seat, slots, body)
        self._take_shares(seat, dict(zip(slots, shares, strict=True)))

    def check_opening(
        self, context: Context, seat: Seat, slots: Sequence[Slot], body: object, entropy: bytes
    ) -> dict[Slot, Card]:
        """An opening: ``seat`` holds each of ``slots`` and shows it.  Returns the faces; changes nothing."""
        self._expect(DeckState.READY)
        self._require_live(seat)
        if not slots or len(set(slots)) != len(slots) or not all(0 <= s < len(self._slots) for s in slots):
            raise _fault(context, seat, "bad_opening", f"{list(slots)} are not slots to open")
        for slot in slots:
            if slot in self._faces:
                raise _fault(context, seat, "already_open", f"slot {slot} is open already")
            if self.missing(slot) != (seat,):
                raise _fault(context, seat, "not_held", f"slot {slot} is not held by this seat")
        shares = self._check_equality(context, OPENING, seat, slots, body, entropy)
        return {slot: self.decrypt(slot, {seat: share}) for slot, share in zip(slots, shares, strict=True)}

    def close_opening(self, seat: Seat, slots: Sequence[Slot], body: object) -> None:
        """Take the shares of an opening that passed; the faces are open to all."""
        self.close_shares(seat, slots, body)

    # --- drops and backups -------------------------------------------------------------------------------

    def drop(self, seat: Seat) -> None:
        """By a decision of the table ``seat`` has left this hand: it shuffles no more and owes nothing.

        A shuffle under way is void: the others begin it again.
        """
        self._expect(*KEYS_OUT)
        if seat not in self.seats:
            raise LocalProtocolError(f"seat {seat} is not in this hand")
        self._dropped.setdefault(seat, None)
        self.abandon_shuffle()

    @property
    def dropped(self) -> tuple[Seat, ...]:
        return tuple(seat for seat in self.seats if seat in self._dropped)

    def check_complaint(self, context: Context, seat: Seat, body: object, entropy: bytes) -> Seat:
        """COMPLAINT about a backup share: the seat at fault, which is ``seat`` itself if the share was good."""
        self._expect(*KEYS_OUT)
        self._require_live(seat)
        dealer, point, proof = self._complaint(context, seat, body)
        transcript = Transcript(context, COMPLAINT, seat, dealer)
        base = self.keys.backup(dealer).ephemeral
        verify_equality(transcript, self.keys.sealing_key(seat), [base], [point], proof, entropy)
        return self._judge(seat, dealer, point)

    def close_complaint(self, seat: Seat, body: object) -> Seat:
        """The verdict on a complaint that passed its check: the seat at fault."""
        self._expect(*KEYS_OUT)
        self._require_live(seat)
        dealer, point, _proof = self._complaint(None, seat, body)
        return self._judge(seat, dealer, point)

    def _judge(self, seat: Seat, dealer: Seat, point: Point) -> Seat:
        backup = self.keys.backup(dealer)
        return sharing.judge(
            self.backup_place(dealer, seat),
            backup.sealed[seat],
            backup.ephemeral,
            self.keys.sealing_key(seat),
            point,
            backup.commitments,
        )

    def check_restore(self, context: Context, seat: Seat, dropped: Seat, body: object) -> None:
        """RESTORE: ``seat``'s backup share of a dropped seat's key, checked against its commitments."""
        self._expect(*KEYS_OUT)
        self._require_live(seat)
        if dropped not in self._dropped or self.threshold is None:
            raise _fault(context, seat, "not_dropped", "that seat has no key to restore in this hand")
        share = self._restore_share(context, seat, body)
        if not sharing.share_holds(self.keys.backup(dropped).commitments, seat, share):
            raise _fault(
                context, seat, "bad_backup_share", "not the share that the dropped seat committed to"
            )

    def close_restore(self, dropped: Seat, bodies: Mapping[Seat, object]) -> None:
        """Rebuild the dropped seat's key share; every slot that only it held back is open to all."""
        self._expect(*KEYS_OUT)
        if dropped not in self._dropped or self.threshold is None:
            raise LocalProtocolError(f"seat {dropped} has no key to restore in this hand")
        if self._dropped[dropped] is not None:
            return
        for seat in bodies:
            self._require_live(seat)
        shares = {seat: self._restore_share(None, seat, body) for seat, body in bodies.items()}
        secret = sharing.rebuild(shares, self.threshold)
        if not 0 < secret < ORDER or secret_combination(secret) != self.keys.share(dropped):
            raise VerificationError("bad_key", "the rebuilt key is not that of the dropped seat")
        before = self._dropped[dropped]
        self._dropped[dropped] = secret
        try:
            opened = {s: self.decrypt(s, {}) for s in range(len(self._slots)) if not self.missing(s)}
        except VerificationError:
            self._dropped[dropped] = before
            raise
        self._faces.update(opened)

    # --- for comparing peers -----------------------------------------------------------------------------

    def digest(self) -> bytes:
        """32 bytes that are equal exactly when the public state is."""
        parts: list[Value] = [
            *self.keys.to_value(),
            [self.state.value, list(self.shuffle_order)],
            [[seat, encode_scalar(key or 0)] for seat, key in sorted(self._dropped.items())],
            [shuffle.encode_deck(self._current), list(self._done), shuffle.encode_deck(self._slots)],
            [[[seat, share[seat].encoded] for seat in sorted(share)] for share in self._shares],
            [[slot, self._faces[slot]] for slot in sorted(self._faces)],
        ]
        return tagged_hash("deck", canonical.encode(parts))

    # --- reading bodies ----------------------------------------------------------------------------------

    def _shuffled(
        self, context: Context | None, seat: Seat, body: object
    ) -> tuple[tuple[Ciphertext, ...], ShuffleProof]:
        count = len(self._current)
        try:
            parts = canonical.array(body, field="shuffle", length=2)
            deck = canonical.octets(parts[0], field="shuffle.outputs")
            return (
                shuffle.decode_deck(deck, count, field="shuffle.outputs"),
                ShuffleProof.from_value(parts[1], count, field="shuffle.proof"),
            )
        except EncodingError as error:
            raise _fault(context, seat, "bad_encoding", str(error)) from None

    def _share_body(
        self, context: Context | None, seat: Seat, slots: Sequence[Slot], body: object
    ) -> tuple[list[Point], bytes]:
        try:
            parts = canonical.array(body, field="shares", length=2)
            points = canonical.octets(parts[0], field="shares.points")
            return (
                decode_points(points, len(slots), field="shares.points"),
                canonical.octets(parts[1], field="shares.proof"),
            )
        except EncodingError as error:
            raise _fault(context, seat, "bad_encoding", str(error)) from None

    def _complaint(self, context: Context | None, seat: Seat, body: object) -> tuple[Seat, Point, bytes]:
        if self.threshold is None:
            raise _fault(context, seat, "bad_complaint", "this hand has no backups")
        try:
            parts = canonical.array(body, field="complaint", length=3)
            dealer = canonical.integer(parts[0], field="complaint.dealer")
            point = Point.decode(canonical.octets(parts[1], field="complaint.point"), field="complaint.point")
            proof = canonical.octets(parts[2], field="complaint.proof")
        except EncodingError as error:
            raise _fault(context, seat, "bad_encoding", str(error)) from None
        if dealer == seat or dealer not in self.seats:
            raise _fault(
                context, seat, "bad_complaint", "the seat that it accuses has dealt it no backup share"
            )
        return dealer, point, proof

    def _restore_share(self, context: Context | None, seat: Seat, body: object) -> int:
        try:
            (data,) = canonical.array(body, field="restore", length=1)
            return decode_scalar(
                canonical.octets(data, field="restore.share", length=SCALAR_BYTES), field="restore.share"
            )
        except EncodingError as error:
            raise _fault(context, seat, "bad_encoding", str(error)) from None

    # --- what the private half reads ---------------------------------------------------------------------

    @property
    def current(self) -> tuple[Ciphertext, ...]:
        """The last accepted deck of the shuffle under way: the input of the next."""
        self._expect(DeckState.SHUFFLING)
        return self._current

    def ciphertext(self, slot: Slot) -> Ciphertext:
        self._require_slots((slot,))
        return self._slots[slot]

    def has_share(self, slot: Slot, seat: Seat) -> bool:
        """Whether ``seat`` has published its share of ``slot``."""
        return seat in self._shares[slot]

    def shuffle_transcript(self, context: Context, seat: Seat) -> Transcript:
        return Transcript(context, SHUFFLE, seat, self.shuffle_order.index(seat))

    def backup_place(self, dealer: Seat, holder: Seat) -> sharing.Place:
        return sharing.Place(self.table, self.hand, dealer, holder)

    def decrypt(self, slot: Slot, more: Mapping[Seat, Point]) -> Card:
        """The card in ``slot``, given the shares published so far, rebuilt keys, and ``more`` shares."""
        pair, shares = self._slots[slot], {**self._shares[slot], **more}
        rebuilt = sum(key for seat, key in self._dropped.items() if key is not None and seat not in shares)
        point = public_combination(
            [(pair.a, -rebuilt)], plus=[pair.b, *(negate(share) for share in shares.values())]
        )
        card = None if point is None else self._cards.get(point.encoded)
        if card is None:
            # Every share was proven, so no single seat can be named: the proof of a shuffle was unsound.
            raise VerificationError(UNKNOWN_CARD, f"slot {slot} decrypts to no card of this hand")
        return card

    # --- helpers -----------------------------------------------------------------------------------------

    def _check_equality(
        self,
        context: Context,
        purpose: str,
        seat: Seat,
        slots: Sequence[Slot],
        body: object,
        entropy: bytes,
    ) -> list[Point]:
        shares, proof = self._share_body(context, seat, slots, body)
        transcript = Transcript(context, purpose, seat)
        transcript.absorb("slots", canonical.encode(list(slots)))
        bases = [self._slots[slot].a for slot in slots]
        verify_equality(transcript, self.keys.share(seat), bases, shares, proof, entropy)
        return shares

    def _take_shares(self, seat: Seat, shares: Mapping[Slot, Point]) -> None:
        opened = {
            slot: self.decrypt(slot, {seat: share})
            for slot, share in shares.items()
            if self.missing(slot) == (seat,)
        }
        for slot, share in shares.items():
            self._shares[slot].setdefault(seat, share)
        self._faces.update(opened)

    def _expect(self, *states: DeckState) -> None:
        if self.state not in states:
            wanted = " or ".join(state.value for state in states)
            raise LocalProtocolError(f"the deck is {self.state.value}; this needs it {wanted}")

    def _require_live(self, seat: Seat) -> None:
        if seat not in self.seats or seat in self._dropped:
            raise LocalProtocolError(f"seat {seat} is not in this hand")

    def _require_slots(self, slots: Sequence[Slot]) -> None:
        if not slots or len(set(slots)) != len(slots) or not all(0 <= s < len(self._slots) for s in slots):
            raise LocalProtocolError(f"{list(slots)} are not different slots below {len(self._slots)}")


def _fault(context: Context | None, seat: Seat, reason: str, message: str) -> VerificationError:
    return VerificationError(reason, message, seat=seat, step=context.step if context else None)
