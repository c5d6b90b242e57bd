"""Five-card poker hands: which is better, and what it is called.

The ranking is phevaluator's (a table of the 7,462 classes of five-card hands, 1 the best); this module turns
our cards into its numbers and finds the best five of a larger hand.  Aces are high, and low in A 2 3 4 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    return min(hand_value(five) for five in _contenders(sorted(cards, key=_LIBRARY_NUMBER.__getitem__)))


def best_fives(cards: Iterable[Card]) -> list[tuple[Card, ...]]:
    """Every five of ``cards`` that is worth as much as the best, in order of the cards' numbers."""
    return list(_best_fives(tuple(sorted(cards))))


def best_seats(hands: Mapping[Seat, Sequence[Card]]) -> list[Seat]:
    """The seats whose five cards are the best (several: equal hands), in the order of ``hands``."""
    values = {seat: hand_value(five) for seat, five in hands.items()}
    best = min(values.values())
    return [seat for seat, value in values.items() if value == best]


@lru_cache(maxsize=64)
def _best_fives(cards: tuple[Card, ...]) -> tuple[tuple[Card, ...], ...]:
    # All fives are tried: 65,780 for the largest hand (26 cards), some 30 ms, once a poker round.
    best = best_value(cards) if len(cards) >= HAND_SIZE else 0
    numbers = [_LIBRARY_NUMBER[card] for card in cards]
    return tuple(
        tuple(cards[place] for place in places)
        for places in combinations(range(len(cards)), HAND_SIZE)
        if evaluate_5cards(*(numbers[place] for place in places)) == best
    )


def _contenders(cards: list[Card]) -> Iterator[list[Card]]:
    """A few fives of ``cards`` (low to high), the best among them: one for each way in which five cards can be good."""
    ranks: dict[int, list[Card]] = {}
    suits: dict[int, list[Card]] = {}
    for card in cards:
        ranks.setdefault(_LIBRARY_NUMBER[card] // 4, []).append(card)
        suits.setdefault(_LIBRARY_NUMBER[card] % 4, []).append(card)
    yield _by_groups(ranks)
    yield from _straights({rank: same[0] for rank, same in ranks.items()})
    for suit in suits.values():
        if len(suit) >= HAND_SIZE:
            yield suit[-HAND_SIZE:]
            yield from _straights({_LIBRARY_NUMBER[card] // 4: card for card in suit})


def _by_groups(ranks: Mapping[int, list[Card]]) -> list[Card]:
    """Four of a kind, a full house, three, two pairs, a pair or high cards: whichever is best without straight or flush."""
    five: list[Card] = []
    left = dict(ranks)
    for most in (4, 3, 2, 2, 1, 1, 1, 1, 1):
        room = HAND_SIZE - len(five)
        able = [rank for rank, same in left.items() if len(same) >= most]
        if most <= room and able:
            five += left.pop(max(able))[:most]
    return five


def _straights(by_rank: Mapping[int, Card]) -> Iterator[list[Card]]:
    for high in range(12, 2, -1):
        run = [by_rank.get(rank if rank >= 0 else 12) for rank in range(high - 4, high + 1)]
        if all(card is not None for card in run):
            yield [card for card in run if card is not None]
            return
