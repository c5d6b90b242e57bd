"""Cards: numbers inside, names outside.

One numbering serves every game and every table, so a number always means the same card:

=========  ==========================================================================================
0..51      the first pack, suit by suit: AS 2S .. KS, AH .. KH, AD .. KD, AC .. KC
52..103    the second pack in the same order, written with the suffix ``b``: ASb .. KCb
104..111   the jokers X1 .. X8 (a pack brings 0 to 4 of them: the first pack's come first)
=========  ==========================================================================================

A *kind* is what a natural card is whatever its pack: 0..51, ``kind = card % 52``.  A kind's suit is
``kind // 13`` (S H D C) and its rank ``kind % 13`` (A is 0, K is 12).  Rule R1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

RANKS: Final = "A23456789TJQK"
SUITS: Final = "SHDC"

PACK: Final = 52
FIRST_JOKER: Final = 104
MAX_JOKERS: Final = 8
UNIVERSE: Final = FIRST_JOKER + MAX_JOKERS
"""All cards there can be; a game's ``card_count`` is the part of it that its table may need."""

KIND_NAMES: Final[tuple[str, ...]] = tuple(rank + suit for suit in SUITS for rank in RANKS)
NAMES: Final[tuple[str, ...]] = (
    *KIND_NAMES,
    *(name + "b" for name in KIND_NAMES),
    *(f"X{number}" for number in range(1, MAX_JOKERS + 1)),
)
NUMBERS: Final[dict[str, int]] = {name: card for card, name in enumerate(NAMES)}


def card_name(card: int) -> str:
    """``6H``, ``6Hb`` (second pack) or ``X1``."""
    return NAMES[card]


def card_names(cards: Iterable[int]) -> list[str]:
    return [NAMES[card] for card in cards]


def card_number(name: str) -> int:
    """The card of this name.  Raises ValueError with what a card looks like."""
    try:
        return NUMBERS[name]
    except KeyError:
        raise ValueError(
            f"{name!r} is no card: write rank and suit such as 7H, TS or AD "
            "(ranks A23456789TJQK, suits SHDC), 7Hb for the second pack's copy, X1 for a joker"
        ) from None


def is_joker(card: int) -> bool:
    return card >= FIRST_JOKER


def pack_cards(*, packs: int, jokers_per_pack: int) -> tuple[int, ...]:
    """All cards of a table in the order of their numbers (R1, R3): the packs, then the jokers."""
    return (
        *range(PACK * packs),
        *range(FIRST_JOKER, FIRST_JOKER + packs * jokers_per_pack),
    )


def by_suit(cards: Sequence[int]) -> list[int]:
    """Cards in the order a player sorts them: suit, then rank, copies together, jokers last."""
    return sorted(cards, key=lambda card: (card >= FIRST_JOKER, card % PACK, card))
