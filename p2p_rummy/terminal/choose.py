"""Which moves fit the cards that a player has picked: the whole of what a keyboard face knows of moves.

No rules here.  A legal move fits if it is made of exactly the picked cards.  In a call window the calls are not among
the legal moves that a face is told (R102: whether there is one is for the player to see), so their texts are composed
and the game judges.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_CARD = re.compile(r"[A23456789TJQK][SHDC]b?|X[1-8]")


def cards_in(text: str) -> tuple[str, ...]:
    """The cards that a move names, without what jokers stand for: ``lay X1=8H on 2`` -> X1."""
    found = []
    for token in text.split(" on ")[0].split():
        card = token.partition("=")[0]
        if _CARD.fullmatch(card):
            found.append(card)
    return tuple(found)


def choices(view: Mapping[str, Any], hand: Sequence[str], pile: Sequence[str]) -> list[str]:
    """The moves to offer for the cards picked from the hand and from the pile, most likely first.

    With nothing picked: what needs no card of the hand, the pile's top card only of the many takes; in Rummoli, where
    there is little to choose, everything.  The dealer's joker (R176) is in nobody's hand: moves with it are offered too.
    """
    legal: Sequence[str] = view["legal"]
    public = view["public"]
    if pile and public["phase"] == "call":
        return _calls(public, pile)
    picked = sorted([*hand, *pile])
    if picked:
        lent = (public["extra"].get("dealers_joker") or {}).get("card")
        return [
            text
            for text in legal
            if sorted(cards := cards_in(text)) == picked
            or (lent in cards and sorted(card for card in cards if card != lent) == picked)
        ]
    if public["game"] == "rummoli":
        return list(legal)
    held = {card["card"] for card in view["hand"]}
    top = public["discard"][-1:]
    return [
        text
        for text in legal
        if not any(card in held for card in cards_in(text))
        and (not text.startswith("take ") or text == f"take {''.join(top)}")
    ]


def _calls(public: Mapping[str, Any], pile: Sequence[str]) -> list[str]:
    """Every way to call these cards of the pile: a new meld of them, or on each meld of the table."""
    cards = " ".join(card for card in public["discard"] if card in pile)
    on_melds = [f"rummy {cards} on {meld['id']}" for meld in public["melds"]]
    return [*on_melds, f"rummy {cards}"] if len(pile) < 3 else [f"rummy {cards}", *on_melds]
