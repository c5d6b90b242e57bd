"""Rummoli's moves as text (docs/notation.md, "Rummoli").

==================  ===========================================================================================
``swap`` ``keep``   the dealer takes the widow unseen, or leaves it to the auction (R223)
``bid N``           offers N chips to the dealer for the widow (R224); ``pass`` bids no more
``check`` ``bet N`` ``call`` ``raise N`` ``fold``     poker; a raise is BY N (R225)
``show C C C C C``  opens the five best cards; ``muck`` gives up unseen
``play C...``       leads or follows with C and with all that then follows from the same hand (R226 to R229);
                    ``play C... claim`` also claims the pots that these cards win (R231)
``claim``           claims them when the lead comes back before another card was played
``pass``            "I do not hold it": the next card of the suit, or the colour to be led; at a round's end: play on
``end``             agrees to end the game (R234)
==================  ===========================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass

from p2p_rummy.cards import NUMBERS, card_names
from p2p_rummy.refusals import InvalidMove
from protocol.game import Card

PLAIN = ("swap", "keep", "pass", "check", "call", "fold", "muck", "claim", "end")
AMOUNTS = ("bid", "bet", "raise")
MOST_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Move:
    """One move as read: ``amount`` of chips, ``cards`` as written, ``claim`` for the word after them."""

    verb: str
    amount: int = 0
    cards: tuple[Card, ...] = ()
    claim: bool = False


def parse(text: str) -> Move:
    """Read a move.  Raises InvalidMove with the form that was expected."""
    verb, *words = text.split(" ")
    if verb in PLAIN:
        if words:
            raise InvalidMove("unreadable", f"`{verb}` stands alone: write just {verb}")
        return Move(verb)
    if verb in AMOUNTS:
        if len(words) != 1 or not _is_number(words[0]):
            raise InvalidMove("unreadable", f"say how many chips: {verb} 3")
        return Move(verb, amount=int(words[0]))
    if verb == "play":
        claim = words[-1:] == ["claim"]
        cards = _cards(words[:-1] if claim else words, "play 4H, or play 4H 5H claim")
        return Move(verb, cards=cards, claim=claim)
    if verb == "show":
        return Move(verb, cards=_cards(words, "show TS JS QS KS AS"))
    raise InvalidMove("unreadable", f"{verb!r} is no move of Rummoli: see the list of legal moves")


def text_of(verb: str, cards: tuple[Card, ...], *, claim: bool = False) -> str:
    return " ".join((verb, *card_names(cards), *(("claim",) if claim else ())))


def _is_number(word: str) -> bool:
    # One way to write a number, so that a move has one text: no sign, no leading zero, ASCII digits.
    return word.isascii() and word.isdigit() and len(word) <= MOST_DIGITS and str(int(word)) == word


def _cards(words: list[str], form: str) -> tuple[Card, ...]:
    if not words:
        raise InvalidMove("unreadable", f"name the cards: {form}")
    cards = []
    for word in words:
        card = NUMBERS.get(word)
        if card is None:
            raise InvalidMove("unreadable", f"{word!r} is no card: write rank and suit, as in {form}")
        if card in cards:
            raise InvalidMove("unreadable", f"{word} is named twice", cards=(word,))
        cards.append(card)
    return tuple(cards)
