"""Five-card poker hands: which is better, and what it is called.

The ranking is phevaluator's (a table of the 7,462 classes of five-card hands, 1 the best); this module turns
our cards into its numbers and finds the best five of a larger hand.  Aces are high, and low in A 2 3 4 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations

from phevaluator.card import Card as LibraryCard
from phevaluator.evaluator import evaluate_5cards

from p2p_rummy.cards import card_name
from protocol.game import Card, Seat

HAND_SIZE = 5

_LIBRARY_NUMBER = tuple(LibraryCard.to_id(card_name(card)) for card in range(52))

# The best value of each category: the library's classes are numbered in order of strength.
_CATEGORIES = (
    (6186, "high card"),
    (3326, "one pair"),
    (2468, "two pairs"),
    (1610, "three of a kind"),
    (1600, "straight"),
    (323, "flush"),
    (167, "full house"),
    (11, "four of a kind"),
    (1, "straight flush"),
)


def hand_value(five: Sequence[Card]) -> int:
    """The class of exactly five cards, 1 (royal flush) to 7462 (7 5 4 3 2): smaller is stronger."""
    if len(five) != HAND_SIZE:
        raise ValueError(f"a poker hand has {HAND_SIZE} cards, not {len(five)}")
    a, b, c, d, e = (_LIBRARY_NUMBER[card] for card in five)
    return int(evaluate_5cards(a, b, c, d, e))


def category(value: int) -> str:
    """What a hand of this value is called, such as "two pairs"."""
    return next(name for best, name in _CATEGORIES if value >= best)


def best_value(cards: Iterable[Card]) -> int:
    """The value of the best five of five or more cards."""
    return _best(tuple(sorted(cards)))[0]


def best_fives(cards: Iterable[Card]) -> list[tuple[Card, ...]]:
    """Every five of ``cards`` that is worth as much as the best, in order of the cards' numbers."""
    return list(_best(tuple(sorted(cards)))[1])


def best_seats(hands: Mapping[Seat, Sequence[Card]]) -> list[Seat]:
    """The seats whose five cards are the best (several: equal hands), in the order of ``hands``."""
    values = {seat: hand_value(five) for seat, five in hands.items()}
    best = min(values.values())
    return [seat for seat, value in values.items() if value == best]


@lru_cache(maxsize=64)
def _best(cards: tuple[Card, ...]) -> tuple[int, tuple[tuple[Card, ...], ...]]:
    # All fives are tried: 65,780 for the largest hand (26 cards), some 30 ms, once a poker round.
    best = 7463
    fives: list[tuple[Card, ...]] = []
    numbers = [_LIBRARY_NUMBER[card] for card in cards]
    for places in combinations(range(len(cards)), HAND_SIZE):
        a, b, c, d, e = (numbers[place] for place in places)
        value = evaluate_5cards(a, b, c, d, e)
        if value > best:
            continue
        if value < best:
            best, fives = value, []
        fives.append(tuple(cards[place] for place in places))
    return best, tuple(fives)
