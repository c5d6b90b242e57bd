"""A hand laid out by its best melds: what a player does with the fingers before anything is melded.

Advice for one's own eyes only; nothing here is a rule.  The melds come from the engine's own book, so what is
grouped together can be melded together (R30-R49).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from p2p_rummy.cards import FIRST_JOKER, PACK, card_name, card_number
from p2p_rummy.games.rum_book import BITS, book
from protocol.game import Card, Game

LOOKS: Final = 4000
"""Combinations that are looked at; a hand of 13 rarely has more, a hand of 40 is grouped well enough by then."""


def best_groups(game: Game, hand: Sequence[Card]) -> list[list[str]]:
    """Melds in ``hand`` that do not overlap and together leave the fewest points, most valuable first.

    Empty for a game that does not meld.
    """
    rules = getattr(game, "rules", None)
    melds = getattr(rules, "melds", None)
    if rules is None or melds is None:
        return []
    texts = book("meld", melds).melds(sum(BITS[card] for card in set(hand)))
    worth = {card: rules.values[card] for card in hand}
    found = [[word.partition("=")[0] for word in text.split(" ")[1:]] for text in texts]
    candidates = sorted(
        {frozenset(map(card_number, names)): names for names in found}.items(),
        key=lambda item: (-sum(worth[card] for card in item[0]), len(item[0]), sorted(item[0])),
    )
    chosen = _best([cards for cards, _ in candidates], worth)
    names = dict(candidates)
    return [
        names[cards] if _has_joker(cards) else [card_name(card) for card in _ordered(cards)]
        for cards in chosen
    ]


def _best(candidates: list[frozenset[Card]], worth: dict[Card, int]) -> list[frozenset[Card]]:
    """Depth first, the most valuable first, cut where the rest cannot catch up."""
    best: tuple[int, list[frozenset[Card]]] = (0, [])
    looks = 0

    def look(at: int, used: frozenset[Card], total: int, chosen: list[frozenset[Card]]) -> None:
        nonlocal best, looks
        looks += 1
        if total > best[0]:
            best = (total, chosen)
        open_worth = sum(value for card, value in worth.items() if card not in used)
        for index in range(at, len(candidates)):
            if looks > LOOKS or total + open_worth <= best[0]:
                return
            cards = candidates[index]
            if not cards & used:
                look(index + 1, used | cards, total + sum(worth[card] for card in cards), [*chosen, cards])

    look(0, frozenset(), 0, [])
    return best[1]


def _has_joker(cards: frozenset[Card]) -> bool:
    return any(card >= FIRST_JOKER for card in cards)


def _ordered(cards: frozenset[Card]) -> list[Card]:
    return sorted(cards, key=lambda card: (card % PACK, card))
