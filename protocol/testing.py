"""A whole hand's deck in one place, for tests, benchmarks and vectors.

:class:`DeckTable` owns the secrets of every seat and one public deck, and drives them through the steps of a hand
with randomness that is a function of a seed: the same seed gives the same bytes.  Never for play.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from protocol.canonical import Value
from protocol.deck import Card, Deck, Seat, Slot
from protocol.hand_secret import HandSecret
from protocol.proofs import Context


class DeckTable:
    """``seats`` around one :class:`~protocol.deck.Deck`; every step is made, checked and closed."""

    def __init__(
        self,
        seats: int | Sequence[Seat],
        *,
        threshold: int | None = None,
        seed: bytes = b"table",
        table: bytes | None = None,
        hand: int = 1,
    ) -> None:
        self.seats: tuple[Seat, ...] = tuple(range(seats)) if isinstance(seats, int) else tuple(seats)
        self.seed = seed
        self.table = hashlib.sha256(b"table " + seed).digest() if table is None else table
        self.hand = hand
        self.step = 0
        self.draws = 0
        self.deck = Deck(self.table, hand, self.seats, threshold=threshold)
        self.secrets: dict[Seat, HandSecret] = {
            seat: HandSecret(self.entropy(), self.entropy(), self.deck, seat) for seat in self.seats
        }

    def entropy(self) -> bytes:
        """The next 32 bytes of the seed's sequence."""
        self.draws += 1
        return hashlib.sha256(b"entropy %d " % self.draws + self.seed).digest()

    def context(self) -> Context:
        return Context(self.table, self.hand, 0, self.step)

    def live(self) -> tuple[Seat, ...]:
        return tuple(seat for seat in self.seats if seat not in self.deck.dropped)

    def commits(self) -> dict[Seat, list[Value]]:
        context = self.context()
        return {seat: self.secrets[seat].commit(context, self.entropy()) for seat in self.seats}

    def reveals(self) -> dict[Seat, list[Value]]:
        context = self.context()
        return {seat: self.secrets[seat].reveal(context, self.entropy()) for seat in self.seats}

    def agree(self) -> None:
        """Commit and reveal: the keys are out afterwards."""
        bodies = self.commits()
        for seat, body in bodies.items():
            self.deck.check_commit(self.context(), seat, body)
        self.deck.close_commits(bodies)
        self.step += 1
        bodies = self.reveals()
        for seat, body in bodies.items():
            self.deck.check_reveal(self.context(), seat, body)
        self.deck.close_reveals(bodies)
        self.step += 1

    def shuffle(self, cards: Iterable[Card]) -> None:
        """Every live seat shuffles; the deck becomes slots."""
        self.deck.begin_shuffle(tuple(cards))
        while (seat := self.deck.shuffler) is not None:
            body = self.secrets[seat].shuffle(self.context(), self.entropy())
            self.deck.check_shuffle(self.context(), seat, body, self.entropy())
            self.deck.close_shuffle(seat, body)
            self.step += 1

    def deal(self, owners: Mapping[Slot, Seat | None]) -> None:
        """Everybody gives its shares of the slots it does not own; None opens a slot to all."""
        for seat in self.live():
            slots = [slot for slot, owner in sorted(owners.items()) if owner != seat]
            if slots:
                body = self.secrets[seat].shares(self.context(), slots, self.entropy())
                self.deck.check_shares(self.context(), seat, slots, body, self.entropy())
                self.deck.close_shares(seat, slots, body)
        self.step += 1

    def open(self, seat: Seat, slots: Sequence[Slot]) -> dict[Slot, Card]:
        """``seat`` opens slots that it holds."""
        body = self.secrets[seat].opening(self.context(), slots, self.entropy())
        faces = self.deck.check_opening(self.context(), seat, slots, body, self.entropy())
        self.deck.close_opening(seat, slots, body)
        self.step += 1
        return faces

    def drop(self, seat: Seat) -> None:
        """``seat`` leaves and the others rebuild its key share."""
        self.deck.drop(seat)
        bodies = {other: self.secrets[other].restore(seat) for other in self.live()}
        for other, body in bodies.items():
            self.deck.check_restore(self.context(), other, seat, body)
        self.deck.close_restore(seat, bodies)
        self.step += 1
