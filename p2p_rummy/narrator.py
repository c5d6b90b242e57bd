"""Moves told as sentences: for the terminal, for ``replay``, for whoever reads a game.

A move is one line of the notation; what it took with it (the cards above a taken one) stands in the table as it was
before the move.  Forms that only one game has are told in the notation itself, which players of that game read anyway.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from p2p_rummy.catalogue import _, current_language, mark

Public = Mapping[str, Any]
Told = tuple[str, str]
"""What is said of somebody (with ``{name}``), and what is said to the reader of itself: two sentences, not one with a word
changed, because the verb changes too ("You has"), and in Japanese and Korean the form of address."""

SENTENCES: dict[str, Told] = {
    "draw": (mark("{name} draws from the stock."), mark("You draw from the stock.")),
    "drawn": (mark("{name} draws {cards} from the stock."), mark("You draw {cards} from the stock.")),
    "take": (mark("{name} takes {cards} from the pile."), mark("You take {cards} from the pile.")),
    "take_many": (
        mark("{name} takes {card} from the pile with all above it: {cards}."),
        mark("You take {card} from the pile with all above it: {cards}."),
    ),
    "meld": (mark("{name} melds {cards}."), mark("You meld {cards}.")),
    "lay": (mark("{name} lays {cards} on meld {meld}."), mark("You lay {cards} on meld {meld}.")),
    "discard": (mark("{name} discards {cards}."), mark("You discard {cards}.")),
    "call_meld": (
        mark("{name} calls Rummy! A new meld from the pile: {cards}."),
        mark("You call Rummy! A new meld from the pile: {cards}."),
    ),
    "call_lay": (
        mark("{name} calls Rummy! {cards} of the pile on meld {meld}."),
        mark("You call Rummy! {cards} of the pile on meld {meld}."),
    ),
    "pass": (mark("{name} passes."), mark("You pass.")),
    "deal": (mark("{name} deals."), mark("You deal.")),
    "untake": (mark("{name} puts the taken cards back."), mark("You put the taken cards back.")),
    # Rummoli
    "swap": (mark("{name} swaps hands with the widow."), mark("You swap hands with the widow.")),
    "keep": (
        mark("{name} keeps the hand; the widow is auctioned."),
        mark("You keep the hand; the widow is auctioned."),
    ),
    "bid": (mark("{name} bids {cards}."), mark("You bid {cards}.")),
    "check": (mark("{name} checks."), mark("You check.")),
    "bet": (mark("{name} bets {cards}."), mark("You bet {cards}.")),
    "call": (mark("{name} calls."), mark("You call.")),
    "raise": (mark("{name} raises by {cards}."), mark("You raise by {cards}.")),
    "fold": (mark("{name} folds."), mark("You fold.")),
    "show": (mark("{name} shows {cards}."), mark("You show {cards}.")),
    "muck": (mark("{name} gives up unseen."), mark("You give up unseen.")),
    "play": (mark("{name} plays {cards}."), mark("You play {cards}.")),
    "play_claim": (mark("{name} plays {cards} and claims."), mark("You play {cards} and claim.")),
    "claim": (mark("{name} claims."), mark("You claim.")),
    "end": (mark("{name} would end the game here."), mark("You would end the game here.")),
    "other": (mark("{name}: {text}"), mark("You: {text}")),
}


def told(name: str | None, text: str, before: Public | None = None, *, drawn: str = "") -> str:
    """What ``name`` did (None: the reader did it).

    ``before`` is the public table before the move; ``drawn`` the card that came from the stock, if the reader may know it.
    """
    verb, _space, rest = text.partition(" ")
    cards, on, meld = rest.rpartition(" on ")
    match verb:
        case "draw":
            return _told("drawn" if drawn else "draw", name, cards=drawn)
        case "take":
            above = cards_from(before, rest)
            if len(above) > 1:
                return _told("take_many", name, card=rest, cards=" ".join(above))
            return _told("take", name, cards=rest)
        case "lay":
            return _told("lay", name, cards=cards, meld=meld)
        case "rummy" if on:
            return _told("call_lay", name, cards=cards, meld=meld)
        case "rummy":
            return _told("call_meld", name, cards=rest)
        case "play" if rest.endswith(" claim"):
            return _told("play_claim", name, cards=rest.removesuffix(" claim"))
        case _ if verb in SENTENCES and verb != "other":
            return _told(verb, name, cards=rest)
        case _:
            return _told("other", name, text=text)


def _told(key: str, name: str | None, **values: object) -> str:
    of_another, of_reader = SENTENCES[key]
    return _(of_reader, **values) if name is None else _(of_another, name=name, **values)


def cards_from(before: Public | None, card: str) -> list[str]:
    """``card`` and everything above it in the pile (R23); nothing if it is not there."""
    pile: Sequence[str] = before["discard"] if before else ()
    return list(pile[pile.index(card) :]) if card in pile else []


def of_seat(told: Told, seat: int, names: Sequence[str], me: int | None, **values: object) -> str:
    """The sentence about ``seat`` for a reader who sits at ``me`` (None: nowhere)."""
    of_another, of_reader = told
    return _(of_reader, **values) if seat == me else _(of_another, name=names[seat], **values)


def row_of(seats: Sequence[int], names: Sequence[str], me: int | None) -> str:
    """Seats in a row, inside a sentence: Ann, you and Cy."""
    return listed([_("you") if seat == me else names[seat] for seat in seats])


def listed(names: Sequence[str]) -> str:
    """Names in a row: Ann, Bo and Cy."""
    if len(names) < 2:
        return "".join(names)
    return _("{names} and {last}", names=", ".join(names[:-1]), last=names[-1])


# --- why a move is refused ------------------------------------------------------------------------------

REFUSALS: dict[str, str] = {
    "unreadable": mark("that is not a move; `help` lists the moves"),
    "wrong_phase": mark("that cannot be done at this point of the game"),
    "not_your_turn": mark("it is not your turn"),
    "calls_are_off": mark("there are no calls at this table"),
    "discarder_may_not_call": mark("whoever ended the turn may not call in its own window"),
    "not_in_hand": mark("you do not hold {cards}"),
    "nothing_to_take": mark("{cards} is not in the pile"),
    "stock_empty": mark("the stock is empty: take from the pile, or pass"),
    "no_call_possible": mark("{cards} cannot be called: the pile's cards alone must fit a meld or make one"),
    "joker_needs_a_card": mark("say what the joker stands for, as in X1=8H"),
    "joker_card_does_not_exist": mark("the joker cannot stand for that card there"),
    "duplicate_suit": mark("a group may not hold a suit twice"),
    "ace_round_the_corner": mark("an ace is high or low, never both: K A 2 is no run"),
    "not_a_meld": mark("{cards} make neither a group nor a run"),
    "does_not_fit": mark("{cards} does not fit there"),
    "may_not_discard_taken_card": mark(
        "{cards} was just taken from the pile and may not be discarded in this turn"
    ),
    "must_use_taken_card": mark("{cards} was the deepest card taken and must be laid before the discard"),
    "may_not_go_out": mark("that would leave you without a legal finish"),
}

# Where the engine's own line says more than any sentence kept here: English readers get that line.
GENERAL_REFUSALS: dict[str, str] = {
    "ambiguous": mark("that can be read in two ways: say more exactly which"),
    "option_forbids": mark("the options of this table do not allow that"),
    "bad_option": mark("that is no option of this game, or not one of its values"),
    "pay_card_in_hand": mark("whoever holds a pay card may neither swap nor bid"),
    "bid_too_low": mark("a bid must be higher than the one before"),
    "not_enough_chips": mark("you do not have so many chips"),
    "bet_to_answer": mark("there is a bet to answer: call, raise or fold"),
    "no_bet_to_answer": mark("nobody has bet: check or bet"),
    "no_more_raises": mark("the bet may not be raised any more"),
    "over_the_limit": mark("that is more than may be bet here"),
    "must_show": mark("no hand lies open yet: show yours"),
    "not_five_cards": mark("a poker hand has five cards"),
    "not_the_best_five": mark("you hold five better cards than these"),
    "nothing_to_claim": mark("there is no pot to claim"),
    "must_play": mark("you hold the card that must be played now"),
    "not_the_next_card": mark("that is not the next card of the suit"),
    "wrong_colour": mark("a card of the other colour must be led"),
    "not_the_lowest": mark("the lowest card must be led"),
}


def refusal(code: str, message: str, rule: str, cards: Sequence[str]) -> str:
    """Why a move is refused, in the user's language, with the number of the rule.

    ``message`` is the engine's own English line: used where only it knows the reason (``option_forbids``).
    """
    known = REFUSALS.get(code)
    if known is None and current_language() != "en":
        known = GENERAL_REFUSALS.get(code)
    if known is None or ("{cards}" in known and not cards):
        text = message
    else:
        text = _(known, cards=" ".join(cards)) if "{cards}" in known else _(known)
    return f"{text} ({rule})" if rule and f"({rule})" not in text else text
