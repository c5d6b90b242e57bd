"""Melds by arithmetic on whole hands: four suits in one integer, sixteen bits each.

A natural card of suit ``s`` and rank ``r`` is bit ``16 * s + r``; the second pack's copy is the same bit, kept apart by
whoever holds hands (:mod:`p2p_rummy.bots.sharp_sketch`).  A *span* has a thirteenth position more, the ace above
the king, so that every run is a row of ones.  The two spare bits of each lane keep shifts from one suit out of the
next.

This is what makes playouts cheap: which cards of a hand meld, which lie next to one that is still out, and what they
count are some forty operations on integers, however many cards there are.  What it leaves out (a run round the
corner) it only values too low; the engine alone says what is legal.
"""

from __future__ import annotations

from typing import Final

from p2p_rummy.cards import FIRST_JOKER, PACK
from p2p_rummy.games.rum_rules import RumRules

SUITS: Final = 0x0001_0001_0001_0001
"""Times a pattern of ranks: that pattern in every suit."""
ACES: Final = SUITS
KINDS: Final = 0x1FFF * SUITS
"""The thirteen ranks of each suit, the ace low."""
SPAN: Final = 0x3FFF * SUITS
RANKS: Final = 0x1FFF
JOKER: Final = 0
"""A joker is no bit."""

BIT: Final[tuple[int, ...]] = tuple(
    JOKER if card >= FIRST_JOKER else 1 << (16 * (card % PACK // 13) + card % 13) for card in range(112)
)
"""Card -> its bit."""


class Lanes:
    """The arithmetic under the options of one table."""

    def __init__(self, rules: RumRules) -> None:
        self.high_ace = rules.melds.high_ace
        self.long_runs = rules.melds.min_run == 4
        self.wild = rules.melds.wild
        self.laid = _sums([rules.values[rank] for rank in range(13)])
        """Ranks of one suit -> what they count on the table."""
        self.caught = _sums([rules.hand_ace, *(rules.values[rank] for rank in range(1, 13))])
        """Ranks of one suit -> what they cost in hand at the end."""
        self.joker = rules.joker_value
        self.low_ace_loss = 15 - rules.low_ace
        self.value_of = {BIT[card]: rules.values[card] for card in range(PACK)} | {JOKER: rules.joker_value}
        self.cost_of = {BIT[card]: rules.values[card] for card in range(PACK)} | {JOKER: rules.joker_value}
        for suit in range(4):
            self.cost_of[1 << 16 * suit] = rules.hand_ace

    def points(self, cards: int) -> int:
        """What these cards count when they are laid, aces high."""
        laid = self.laid
        return (
            laid[cards & RANKS]
            + laid[cards >> 16 & RANKS]
            + laid[cards >> 32 & RANKS]
            + laid[cards >> 48 & RANKS]
        )

    def cost(self, cards: int) -> int:
        """What these cards cost when they are caught in hand."""
        caught = self.caught
        return (
            caught[cards & RANKS]
            + caught[cards >> 16 & RANKS]
            + caught[cards >> 32 & RANKS]
            + caught[cards >> 48 & RANKS]
        )

    def span(self, cards: int) -> int:
        """The positions these cards can take in runs."""
        return cards | (cards & ACES) << 13 if self.high_ace else cards

    def runs(self, cards: int) -> int:
        """The positions that are part of a run which these cards make."""
        span = cards | (cards & ACES) << 13 if self.high_ace else cards
        first = span & span >> 1 & span >> 2
        if self.long_runs:
            first &= span >> 3
            return first | first << 1 | first << 2 | first << 3
        return first | first << 1 | first << 2

    def melds(self, cards: int) -> tuple[int, int, int]:
        """The best melds in these cards: (cards that go down, positions of the runs, cards of the groups).

        Where a card could go either way, every way is tried for up to three such cards.
        """
        positions = self.runs(cards)
        group = groups(cards)
        both = fold(positions) & group
        if not both:
            return fold(positions) | group, positions, group
        best = (0, 0, 0)
        most = -1
        part = both if both.bit_count() <= 3 else 0
        while True:
            run = self.runs(cards & ~part)
            group = groups(cards & ~fold(run))
            down = fold(run) | group
            worth = self.points(down)
            if worth > most:
                most = worth
                best = (down, run, group)
            if not part:
                return best
            part = (part - 1) & both


def fold(positions: int) -> int:
    """The cards at these positions: the high ace is the ace."""
    return positions & KINDS | positions >> 13 & ACES


def ends(runs: int, high_ace: bool) -> int:
    """The cards that fit on runs that lie on these positions."""
    free = (runs << 1 | runs >> 1) & ~runs & (SPAN if high_ace else KINDS)
    return free & KINDS | free >> 13 & ACES


def groups(cards: int) -> int:
    """The cards of which three or four of one rank are there."""
    spades = cards & RANKS
    hearts = cards >> 16 & RANKS
    diamonds = cards >> 32 & RANKS
    clubs = cards >> 48
    three = spades & hearts & (diamonds | clubs) | diamonds & clubs & (spades | hearts)
    return cards & three * SUITS if three else 0


def _sums(values: list[int]) -> tuple[int, ...]:
    """Pattern of ranks -> the sum of their values."""
    sums = [0]
    for value in values:
        sums += [value + below for below in sums]
    return tuple(sums)
