"""Where the slots of one deal of Rummoli are, and which of them lie open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from protocol.game import Card, Deal, Seat, Showdown, Slot


class Cards:
    """The slots of one deal: hands, hands that were swapped away, the widow.  ``faces``: those that lie open."""

    __slots__ = ("dead", "faces", "hands", "widow")

    def __init__(self, seats: int) -> None:
        self.hands: list[list[Slot]] = [[] for _ in range(seats)]
        self.dead: list[list[Slot]] = [[] for _ in range(seats)]
        self.widow: list[Slot] = []
        self.faces: dict[Slot, Card] = {}

    def deal(self, players: Sequence[Seat], cards: int, *, widow: bool) -> Deal:
        """One at a time to ``players`` in their order, the widow last in each turn (R222)."""
        piles = [self.hands[seat] for seat in players] + [self.widow] * widow
        for slot in range(cards):
            piles[slot % len(piles)].append(slot)
        return self.deal_to(players)

    def deal_to(self, seats: Iterable[Seat]) -> Deal:
        return Deal(owners=tuple(sorted((slot, seat) for seat in seats for slot in self.hands[seat])))

    def swap(self, seat: Seat) -> Deal:
        """``seat`` takes the widow for its hand, which is dead from now on."""
        self.dead[seat], self.hands[seat], self.widow = self.hands[seat], self.widow, []
        return self.deal_to([seat])

    def showdown(self, seats: Iterable[Seat]) -> Showdown:
        return Showdown(owners=tuple(sorted((slot, seat) for seat in seats for slot in self.hidden(seat))))

    def hidden(self, seat: Seat) -> tuple[Slot, ...]:
        return tuple(slot for slot in (*self.hands[seat], *self.dead[seat]) if slot not in self.faces)

    def open_hand(self, seat: Seat) -> dict[Card, Slot]:
        """The cards in the seat's hand that all can see."""
        return {self.faces[slot]: slot for slot in self.hands[seat] if slot in self.faces}

    def open_dead(self, seat: Seat) -> list[Card]:
        """The cards that it swapped away, as far as they lie open."""
        return [self.faces[slot] for slot in self.dead[seat] if slot in self.faces]

    def lay(self, seat: Seat, cards: Iterable[Card]) -> None:
        """Open cards leave the hand."""
        slots = self.open_hand(seat)
        for card in cards:
            self.hands[seat].remove(slots[card])

    def forget_closed(self, seat: Seat) -> None:
        """Slots of a seat that has left and that nobody can open stay closed and belong to nobody."""
        self.hands[seat] = [slot for slot in self.hands[seat] if slot in self.faces]
