"""A deck without cryptography, for simulations of everything else.  Never reachable from a real table.

It keeps the message pattern of :mod:`protocol.deck`: the same bodies are owed in the same steps, each can be
checked by everybody, a wrong one is refused and its author named, a face is told only when all shares that it
needs are there, and a dropped seat's part is rebuilt from a threshold of backups.  What it does not keep is
secrecy: whoever reads the messages can compute every card.

==========  ================================================================================
body        contents
==========  ================================================================================
commit      ``H(nonce)``
reveal      ``[nonce, [backup for each other seat, by seat]]``; backup = ``H(nonce, holder)``
shuffle     ``[permutation]``: output k is input ``permutation[k]``
complaint   ``dealer``: "this seat's backup for me is wrong"
shares      ``[H(nonce, slot) ...]`` of the slots in order; an opening is the same of one's own
restore     ``backup of the dropped seat for me``
==========  ================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from protocol.canonical import array, integer, octets
from protocol.dealing import PublicDeck
from protocol.errors import EncodingError, LocalProtocolError, VerificationError
from protocol.game import Card, Slot
from protocol.identity import tagged_hash
from protocol.proofs import Context

T = TypeVar("T")


class FastDeck:
    """The public half.  See :class:`protocol.deck.Deck` for what each call means."""

    def __init__(self, table: bytes, hand: int, seats: tuple[int, ...], *, threshold: int | None) -> None:
        self.table = table
        self.hand = hand
        self.seats = seats
        self.threshold = threshold
        self.coin = b""
        self.shuffle_order: tuple[int, ...] = ()
        self.pack: list[Card] = []
        self._commitments: dict[int, Any] = {}
        self._nonces: dict[int, bytes] = {}
        self._backups: dict[int, dict[int, bytes]] = {}
        self._dropped: set[int] = set()
        self._to_shuffle: list[int] = []
        self._cards: list[Card] = []
        self.unknown: list[tuple[int, ...]] = []
        """By slot: the seats whose share nobody has or can compute yet."""
        self._keys = seats
        """The seats whose key has not been rebuilt."""

    # --- keys ------------------------------------------------------------------------------------------

    def check_commit(self, context: Context, seat: int, body: object) -> None:
        _read(context, seat, lambda: octets(body, field="commit", length=32))

    def close_commits(self, bodies: Mapping[int, object]) -> None:
        self._commitments = dict(bodies)

    def check_reveal(self, context: Context, seat: int, body: object) -> None:
        nonce, _ = _read(context, seat, lambda: self._reveal(seat, body))
        if tagged_hash("fast commit", nonce) != self._commitments[seat]:
            raise _fault(context, seat, "bad_reveal", "what was revealed is not what was committed to")

    def close_reveals(self, bodies: Mapping[int, object]) -> None:
        for seat, body in bodies.items():
            self._nonces[seat], self._backups[seat] = self._reveal(seat, body)
        self.coin = tagged_hash("fast coin", *(self._nonces[seat] for seat in self.seats))
        first = int.from_bytes(self.coin[:8], "big") % len(self.seats)
        self.shuffle_order = self.seats[first:] + self.seats[:first]

    def holders(self, dealer: int) -> tuple[int, ...]:
        """Who holds a backup share of this seat's key."""
        return () if self.threshold is None else tuple(seat for seat in self.seats if seat != dealer)

    def _reveal(self, seat: int, body: object) -> tuple[bytes, dict[int, bytes]]:
        nonce, backups = array(body, field="reveal", length=2)
        holders = self.holders(seat)
        array(backups, field="reveal.backups", length=len(holders))
        shares = [octets(item, field="reveal.backups", length=32) for item in backups]
        return octets(nonce, field="reveal.nonce", length=32), dict(zip(holders, shares, strict=True))

    # --- shuffling -------------------------------------------------------------------------------------

    def begin_shuffle(self, cards: Sequence[Card]) -> None:
        self.pack = list(cards)
        self._to_shuffle = [seat for seat in self.shuffle_order if seat not in self._dropped]

    def check_shuffle(self, context: Context, seat: int, body: object, entropy: bytes) -> None:
        if len(set(_read(context, seat, lambda: self._permutation(body)))) != len(self.pack):
            raise _fault(context, seat, "bad_shuffle", "the shuffle repeats a card")

    def close_shuffle(self, seat: int, body: object) -> None:
        self.pack = [self.pack[at] for at in self._permutation(body)]
        self._to_shuffle.remove(seat)
        if not self._to_shuffle:
            self._cards += self.pack
            self.unknown += [self._keys] * len(self.pack)

    def _permutation(self, body: object) -> list[int]:
        (permutation,) = array(body, field="shuffle", length=1)
        items = array(permutation, field="shuffle", length=len(self.pack))
        return [integer(item, field="shuffle", below=len(self.pack)) for item in items]

    # --- shares ----------------------------------------------------------------------------------------

    @property
    def slot_count(self) -> int:
        return len(self._cards)

    def share(self, seat: int, slot: Slot) -> bytes:
        return tagged_hash("fast share", self._nonces[seat], slot.to_bytes(4, "big"))

    def missing(self, slot: Slot) -> tuple[int, ...]:
        """The seats whose share of ``slot`` nobody has or can compute yet."""
        return self.unknown[slot]

    def face(self, slot: Slot) -> Card | None:
        return None if self.unknown[slot] else self._cards[slot]

    def held_by(self, seat: int) -> dict[Slot, Card]:
        """The faces of the slots whose other shares are all there."""
        only = (seat,)
        return {slot: self._cards[slot] for slot, missing in enumerate(self.unknown) if missing == only}

    def check_shares(
        self, context: Context, seat: int, slots: Sequence[Slot], body: object, entropy: bytes
    ) -> None:
        def shares() -> list[bytes]:
            items = array(body, field="shares", length=len(slots))
            return [octets(item, field="shares", length=32) for item in items]

        for slot, share in zip(slots, _read(context, seat, shares), strict=True):
            if not slot < len(self._cards) or share != self.share(seat, slot):
                raise _fault(context, seat, "bad_share", f"the share for slot {slot} is wrong")

    def close_shares(self, seat: int, slots: Sequence[Slot], body: object) -> None:
        for slot in slots:
            self.unknown[slot] = _without(self.unknown[slot], seat)

    def check_opening(
        self, context: Context, seat: int, slots: Sequence[Slot], body: object, entropy: bytes
    ) -> dict[Slot, Card]:
        self.check_shares(context, seat, slots, body, entropy)
        for slot in slots:
            if self.missing(slot) != (seat,):
                raise _fault(context, seat, "not_held", f"slot {slot} is not held by this seat")
        return {slot: self._cards[slot] for slot in slots}

    def close_opening(self, seat: int, slots: Sequence[Slot], body: object) -> None:
        self.close_shares(seat, slots, body)

    # --- backups ---------------------------------------------------------------------------------------

    def drop(self, seat: int) -> None:
        self._dropped.add(seat)
        self.pack = []
        self._to_shuffle = []

    def bad_dealer(self, holder: int) -> int | None:
        """A seat whose backup share for ``holder`` is wrong."""
        dealers = (seat for seat in self.seats if holder in self.holders(seat))
        return next((seat for seat in dealers if self._dealt_badly(seat, holder)), None)

    def check_complaint(self, context: Context, seat: int, body: object, entropy: bytes) -> int:
        dealer = _read(context, seat, lambda: integer(body, field="complaint", below=8))
        if seat not in self.holders(dealer) or dealer not in self.seats:
            raise _fault(context, seat, "bad_complaint", f"seat {dealer} has dealt it no backup share")
        return self.close_complaint(seat, body)

    def close_complaint(self, seat: int, body: object) -> int:
        dealer = integer(body, field="complaint")
        return dealer if self._dealt_badly(dealer, seat) else seat

    def backup(self, dealer: int, holder: int) -> bytes:
        """The right backup share."""
        return tagged_hash("fast backup", self._nonces[dealer], bytes([holder]))

    def check_restore(self, context: Context, seat: int, dropped: int, body: object) -> None:
        share = _read(context, seat, lambda: octets(body, field="restore", length=32))
        if share != self.backup(dropped, seat):
            raise _fault(context, seat, "bad_backup_share", f"not the share that seat {dropped} dealt")

    def close_restore(self, dropped: int, bodies: Mapping[int, object]) -> None:
        if self.threshold is None or len(bodies) < self.threshold:
            raise LocalProtocolError(f"{len(bodies)} backup shares do not rebuild the key of seat {dropped}")
        self._keys = _without(self._keys, dropped)
        self.unknown = [_without(missing, dropped) for missing in self.unknown]

    def _dealt_badly(self, dealer: int, holder: int) -> bool:
        return self._backups[dealer][holder] != self.backup(dealer, holder)


class FastSecret:
    """A seat's private half."""

    def __init__(self, seed: bytes, identity_secret: bytes, deck: FastDeck, seat: int) -> None:
        self._deck = deck
        self._seat = seat
        self._nonce = tagged_hash("fast nonce", seed, identity_secret, deck.table, bytes([seat]))

    def commit(self, context: Context, entropy: bytes) -> Any:
        return tagged_hash("fast commit", self._nonce)

    def reveal(self, context: Context, entropy: bytes) -> Any:
        holders = self._deck.holders(self._seat)
        return [
            self._nonce,
            [tagged_hash("fast backup", self._nonce, bytes([holder])) for holder in holders],
        ]

    def shuffle(self, context: Context, entropy: bytes) -> Any:
        # Sorting by hashes is a uniform permutation, and the same on every machine.
        places = range(len(self._deck.pack))
        return [sorted(places, key=lambda at: tagged_hash("fast order", entropy, at.to_bytes(4, "big")))]

    def shares(self, context: Context, slots: Sequence[Slot], entropy: bytes) -> Any:
        return [self._deck.share(self._seat, slot) for slot in slots]

    def opening(self, context: Context, slots: Sequence[Slot], entropy: bytes) -> Any:
        return self.shares(context, slots, entropy)

    def complaint(self, context: Context, entropy: bytes) -> Any:
        return self._deck.bad_dealer(self._seat)

    def restore(self, dropped: int) -> Any:
        return self._deck.backup(dropped, self._seat)

    def faces(self) -> dict[Slot, Card]:
        return self._deck.held_by(self._seat)

    def wipe(self) -> None:
        self._nonce = b""


class FastDecks:
    """Given to the sessions of a simulation in place of the real decks."""

    def deck(self, table: bytes, hand: int, seats: tuple[int, ...], threshold: int | None) -> FastDeck:
        return FastDeck(table, hand, seats, threshold=threshold)

    def secret(self, seed: bytes, identity_secret: bytes, deck: PublicDeck, seat: int) -> FastSecret:
        if not isinstance(deck, FastDeck):
            raise LocalProtocolError("the stand-in deck cannot be mixed with a real one")
        return FastSecret(seed, identity_secret, deck, seat)


def _without(seats: tuple[int, ...], seat: int) -> tuple[int, ...]:
    return tuple(other for other in seats if other != seat)


def _read(context: Context, seat: int, read: Callable[[], T]) -> T:
    try:
        return read()
    except EncodingError as error:
        raise _fault(context, seat, "bad_encoding", str(error)) from None


def _fault(context: Context, seat: int, reason: str, message: str) -> VerificationError:
    return VerificationError(reason, message, seat=seat, step=context.step)
