"""Rummoli's board: the nine pots, the chips, and which cards win which pot (R220, R221, R231, R235).

Chips only ever move between a seat and a pot, or between two seats; their sum never changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from p2p_rummy.cards import card_name, card_number
from protocol.game import Card, Seat

POTS = ("poker", "TS", "JD", "QC", "KH", "AS", "AD+KD", "7-8-9", "centre")
ANTE = len(POTS)
"""What a round costs each player: a chip in each pot (R221)."""

PACK: tuple[Card, ...] = tuple(range(52))
RANK = tuple("23456789TJQKA".index(card_name(card)[0]) for card in PACK)
"""Rank of each card from 0 (a two) to 12: the ace is high (R220)."""
SUIT = tuple(card_name(card)[1] for card in PACK)
COLOUR = tuple("red" if suit in "HD" else "black" for suit in SUIT)
OPPOSITE = {"red": "black", "black": "red"}
NEXT: tuple[Card | None, ...] = tuple(
    next((other for other in PACK if SUIT[other] == SUIT[card] and RANK[other] == RANK[card] + 1), None)
    for card in PACK
)
"""The next higher card of the suit (R227); None above an ace."""

PAY_CARDS = frozenset(card_number(name) for name in ("TS", "JD", "QC", "KH", "AS", "AD", "KD"))
"""Who holds one of these may neither swap nor bid (R223, R224)."""
_SINGLE = {card_number(name): name for name in ("TS", "JD", "QC", "KH", "AS")}
_PAIR = frozenset((card_number("AD"), card_number("KD")))
_TRIPLES = tuple(frozenset(card_number(rank + suit) for rank in "789") for suit in "SHDC")


def pots_won(before: Iterable[Card], now: Sequence[Card]) -> tuple[str, ...]:
    """The pots that a seat wins by playing ``now`` after it has played ``before`` in this round (R231)."""
    played = {*before, *now}
    won = [_SINGLE[card] for card in now if card in _SINGLE]
    if played >= _PAIR and not _PAIR.isdisjoint(now):
        won.append("AD+KD")
    if any(played >= triple and not triple.isdisjoint(now) for triple in _TRIPLES):
        won.append("7-8-9")
    return tuple(won)


class Board:
    """Chips by seat and by pot."""

    __slots__ = ("chips", "pots")

    def __init__(self, seats: int, start_chips: int) -> None:
        self.chips: list[int] = [start_chips] * seats
        self.pots: dict[str, int] = dict.fromkeys(POTS, 0)

    def copy(self) -> Board:
        twin = Board(0, 0)
        twin.chips = list(self.chips)
        twin.pots = dict(self.pots)
        return twin

    def restore(self, other: Board) -> None:
        self.chips = list(other.chips)
        self.pots = dict(other.pots)

    def ante(self, seats: Iterable[Seat]) -> None:
        for seat in seats:
            for pot in POTS:
                self.put(seat, pot, 1)

    def put(self, seat: Seat, pot: str, chips: int) -> None:
        """``seat`` pays into a pot, as far as its chips go (R235)."""
        chips = min(chips, self.chips[seat])
        self.chips[seat] -= chips
        self.pots[pot] += chips

    def pay(self, debtor: Seat, seat: Seat, chips: int) -> None:
        """``debtor`` pays ``seat``, as far as its chips go (R235)."""
        chips = min(chips, self.chips[debtor])
        self.chips[debtor] -= chips
        self.chips[seat] += chips

    def share(self, pots: Iterable[str], seats: Sequence[Seat]) -> None:
        """Empty the pots to ``seats``, which are nearest left of the dealer first: odd chips go to the first (R225)."""
        total = 0
        for pot in pots:
            total += self.pots[pot]
            self.pots[pot] = 0
        each, odd = divmod(total, len(seats))
        for place, seat in enumerate(seats):
            self.chips[seat] += each + (place < odd)
