"""The smallest sets of new melds that reach an opening minimum (R163, R254).

A set is smallest if no meld of it can be left out; whatever else a seat wants to lay it can lay in a move of its
own once it has opened.  There can be very many of them with many jokers and a high minimum, so the search looks
at :data:`EFFORT` partial sets at most, the most valuable melds first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from p2p_rummy.games.rum_book import BITS, book
from p2p_rummy.games.rum_lay import meld_worth
from p2p_rummy.games.rum_rules import DEALERS_JOKER, RumRules
from p2p_rummy.melds import recognise
from p2p_rummy.notation import parse

EFFORT: Final = 20_000


@dataclass(frozen=True, slots=True)
class Opening:
    text: str
    cards: frozenset[int]
    from_hand: int
    """How many of the cards are hand cards: all but the dealer's joker."""


@dataclass(frozen=True, slots=True)
class _Meld:
    text: str
    cards: tuple[int, ...]
    bits: int
    worth: int
    doubled: bool


def smallest_openings(
    rules: RumRules, bits: int, extra: int = 0, *, doubling: bool = False
) -> Iterator[Opening]:
    """All openings that a hand has.  ``extra``: the dealer's joker as a set; ``doubling``: it may double one."""
    melds = _candidates(rules, bits, extra, doubling=doubling)
    effort = EFFORT

    def extend(start: int, used: int, worth: int, chosen: tuple[_Meld, ...]) -> Iterator[Opening]:
        nonlocal effort
        for index in range(start, len(melds)):
            meld = melds[index]
            if meld.bits & used or (meld.doubled and any(other.doubled for other in chosen)):
                continue
            effort -= 1
            if effort < 0:
                return
            total = worth + meld.worth
            if total < rules.opening_minimum:
                yield from extend(index + 1, used | meld.bits, total, (*chosen, meld))
            elif all(total - other.worth < rules.opening_minimum for other in chosen):
                yield _opening(rules, (*chosen, meld))

    yield from extend(0, 0, 0, ())


def _candidates(rules: RumRules, bits: int, extra: int, *, doubling: bool) -> list[_Meld]:
    melds = []
    for text in book("meld", rules.melds).melds(bits, extra):
        move = parse(text)
        worth = meld_worth(rules, recognise(move.parts[0], rules.melds))
        cards = sum(BITS[card] for card in move.cards)
        melds.append(_Meld(text.removeprefix("meld "), move.cards, cards, worth, False))
    if doubling:
        melds += [_Meld(f"{meld.text} double", meld.cards, meld.bits, 2 * meld.worth, True) for meld in melds]
    return sorted(melds, key=lambda meld: -meld.worth)


def _opening(rules: RumRules, chosen: tuple[_Meld, ...]) -> Opening:
    cards = frozenset(card for meld in chosen for card in meld.cards)
    borrowed = rules.dealers_joker and DEALERS_JOKER in cards
    text = " + ".join(meld.text for meld in chosen)
    return Opening(f"meld {text}", cards, len(cards) - borrowed)
