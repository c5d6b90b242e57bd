"""May this seat move at all, and does it hold the cards?  Steps (1) to (7) of R250, over public information.

:func:`gate` needs no cards: (1) the hand is over, (2)-(4) calls, (5) whose turn, (6) the phase.  :func:`locate` is (7).

``openings`` are the hidden slots that come with a move, verified by the trust layer.  A card is held if it lies open in
the hand or is among them; every opening must be a card that the move plays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from p2p_rummy.cards import NAMES
from p2p_rummy.games.rum_rules import DEALERS_JOKER
from p2p_rummy.games.rum_table import (
    CHALLENGE,
    DRAW,
    FIRST_DISCARD,
    NAME,
    PLAY,
    STAGES,
    UNKNOWN,
    WINDOW,
    Table,
)
from p2p_rummy.notation import Move
from p2p_rummy.refusals import IllegalMove
from protocol.game import Card, Faces, Seat, Slot

ALLOWED: Final[dict[int, frozenset[str]]] = {
    NAME: frozenset({"name"}),
    FIRST_DISCARD: frozenset({"discard"}),
    DRAW: frozenset({"draw", "take", "split", "pass", "block"}),
    PLAY: frozenset({"meld", "lay", "discard", "untake", "block"}),
    WINDOW: frozenset({"pass", "rummy", "meld", "lay", "block"}),
    CHALLENGE: frozenset({"pass", "rummy"}),
}
"""Verbs by stage, before options are looked at."""

OWN_TURN: Final[tuple[frozenset[str], ...]] = tuple(
    ALLOWED[stage] if stage in (NAME, FIRST_DISCARD, DRAW, PLAY) else frozenset()
    for stage in range(len(STAGES))
)
"""The same, for the seat whose turn it is."""

NOW: Final[dict[int, str]] = {
    NAME: "the dealer names the dealer's joker: name wild, name double or name split",
    FIRST_DISCARD: "the first pile card is chosen: discard one card",
    DRAW: "the turn begins with draw or take",
    PLAY: "meld, lay or discard",
    WINDOW: "answer with pass or a call",
    CHALLENGE: "answer with pass, or lay the last discard with rummy",
}


def refuse(code: str, rule: str, why: str, cards: Sequence[Card] = ()) -> IllegalMove:
    return IllegalMove(code, f"{why} ({rule})", rule=rule, cards=[NAMES[card] for card in cards if card >= 0])


# --- (1) to (6) -----------------------------------------------------------------------------------------


def gate(table: Table, seat: Seat, move: Move) -> None:
    verb = move.verb
    stage = table.stage
    if seat == table.turn:
        if verb in OWN_TURN[stage]:
            return  # the usual case
    elif verb == "pass" and stage == WINDOW and seat in table.asked and seat not in table.answers:
        return  # and the other
    rules = table.rules
    if table.phase == "over":
        raise refuse("wrong_phase", "R72", "the hand is over")
    if verb == "rummy":
        if rules.calling == "off" and stage != CHALLENGE:
            raise refuse("calls_are_off", "R125", "there is no calling at this table")
        if stage not in (WINDOW, CHALLENGE):
            raise refuse("wrong_phase", "R111", "a call is possible only between a turn and the next draw")
        if seat == table.turn:
            raise refuse("discarder_may_not_call", "R101", "who has just ended the turn may not call")
    if stage in (WINDOW, CHALLENGE):
        if seat not in table.asked:
            raise refuse("not_your_turn", "R100", "this seat does not answer this window")
        if seat in table.answers:
            raise refuse("not_your_turn", "R100", "this seat has answered already")
    elif seat != table.turn:
        raise refuse("not_your_turn", "R14", f"it is seat {table.turn + 1}'s turn")
    if verb not in ALLOWED.get(stage, ()) or (stage == WINDOW and not _answers(table, verb)):
        now = NOW.get(stage, "cards are on their way; wait")
        rule = "R29" if verb in ("draw", "take") and stage == PLAY else "R20"
        raise refuse("wrong_phase", rule, f"{verb} is not possible now: {now}")


def _answers(table: Table, verb: str) -> bool:
    if verb == "meld" or verb == "lay":
        return table.rules.out_of_turn_melds
    return verb != "block" or table.rules.dealers_joker


# --- (7) ------------------------------------------------------------------------------------------------


def locate(table: Table, seat: Seat, cards: Sequence[Card], openings: Faces) -> list[Slot]:
    """The slots of these cards, all in this hand; -1 for the dealer's joker.  Raises ``not_in_hand``."""
    known = table.known[seat]
    hand = table.hands[seat]
    face = table.face
    opened = {card: slot for slot, card in openings.items() if slot in hand and face[slot] < 0}
    used = 0
    slots: list[Slot] = []
    for card in cards:
        if card in known:
            slots.append(known[card])
        elif card in opened:
            slots.append(opened[card])
            used += 1
        elif card == DEALERS_JOKER and table.rules.dealers_joker and seat == table.dealer:
            slots.append(UNKNOWN)
        else:
            raise refuse("not_in_hand", "R250", f"{NAMES[card]} is not in this hand", (card,))
    if len(cards) > 1 and len(set(cards)) < len(cards):
        raise refuse("not_in_hand", "R250", "one card is named twice", cards)
    if used != len(openings):
        extra = [card for card in openings.values() if card not in cards]
        raise refuse("not_in_hand", "R250", "the move opens a card that it does not play", extra)
    return slots


def locate_one(table: Table, seat: Seat, cards: Sequence[Card], openings: Faces) -> Slot:
    """:func:`locate` for a move of one card."""
    if len(openings) == 1:
        ((slot, card),) = openings.items()
        if card == cards[0] and slot in table.hands[seat] and table.face[slot] < 0:
            return slot
    elif not openings and cards[0] in table.known[seat]:
        return table.known[seat][cards[0]]
    return locate(table, seat, cards, openings)[0]


def in_pile(table: Table, card: Card) -> int:
    """The card's place in the pile, -1 if it is not there."""
    try:
        return table.pile_cards.index(card)
    except ValueError:
        return -1


# --- the dealer's joker -----------------------------------------------------------------------------------


def may_use_joker(table: Table, seat: Seat, effect: str) -> None:
    """R177-R182, as an option: the dealer, in his turn, once, for the effect that he named."""
    if not table.rules.dealers_joker:
        raise refuse("option_forbids", "R176", "there is no dealer's joker at this table")
    if seat != table.dealer or seat != table.turn or table.stage not in (DRAW, PLAY):
        raise refuse("option_forbids", "R181", "only the dealer may use the dealer's joker, in his own turn")
    if table.joker_blocked:
        raise refuse("option_forbids", "R182", "the dealer's joker is blocked for this hand")
    if table.joker_used:
        raise refuse("option_forbids", "R181", "the dealer's joker has been used in this hand")
    if table.effect != effect:
        named = f"was named {table.effect}" if table.effect else "was not named"
        raise refuse("option_forbids", "R177", f"the dealer's joker {named}, not {effect}")
