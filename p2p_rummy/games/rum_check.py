"""May this seat make this move now?  :data:`JUDGES` has the answer for each verb, in the order of R250.

:mod:`~p2p_rummy.games.rum_gate` comes first (the hand, the turn, the phase, the cards held), :mod:`~p2p_rummy.games.rum_lay`
judges melds, lay-offs and calls; here are the draw and the end of a turn.  A judge changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from p2p_rummy.cards import FIRST_JOKER, NAMES
from p2p_rummy.games.rum_gate import in_pile, locate, locate_one, may_use_joker, refuse
from p2p_rummy.games.rum_lay import duty, judge_call, judge_lay, judge_meld, judge_rest, playable
from p2p_rummy.games.rum_table import DRAW, PLAY, Table
from p2p_rummy.notation import Move
from protocol.game import Card, Faces, Seat, Slot

# --- the draw -------------------------------------------------------------------------------------------


def judge_draw(table: Table) -> None:
    if not table.stock and not table.recyclable():
        choice = "take from the pile or pass" if table.pile else "pass"
        raise refuse("stock_empty", "R28", f"the stock is empty: {choice}")


def judge_decline(table: Table) -> None:
    """``pass`` at the draw."""
    if table.stock or table.recyclable():
        raise refuse("wrong_phase", "R28", "pass is for an empty stock; draw or take")


def judge_take(table: Table, card: Card) -> int:
    """The place in the pile."""
    _not_given_back(table)
    index = _find_in_pile(table, card)
    if table.rules.take_depth == "top" and index < len(table.pile) - 1:
        top = table.pile_cards[-1]
        raise refuse("option_forbids", "R141", f"only the top card may be taken: take {NAMES[top]}", (card,))
    return index


def judge_split(table: Table, seat: Seat, card: Card) -> int:
    _not_given_back(table)
    index = _find_in_pile(table, card)
    may_use_joker(table, seat, "split")
    return index


def _not_given_back(table: Table) -> None:
    if table.gave_back:
        choice = "draw" if table.stock or table.recyclable() else "pass"
        raise refuse("wrong_phase", "R25", f"cards were given back, so now {choice}")


def _find_in_pile(table: Table, card: Card) -> int:
    index = in_pile(table, card)
    if index < 0:
        raise refuse("nothing_to_take", "R27", f"{NAMES[card]} is not in the pile", (card,))
    return index


# --- the end of a turn ----------------------------------------------------------------------------------


def judge_discard(table: Table, seat: Seat, move: Move, openings: Faces) -> Slot:
    card = move.cards[0]
    slot = locate_one(table, seat, move.cards, openings)
    if slot < 0:
        raise refuse("not_in_hand", "R176", "the dealer's joker is not in the hand", (card,))
    if card == table.taken_top:
        raise refuse(
            "may_not_discard_taken_card",
            "R62",
            f"{NAMES[card]} was taken from the pile alone in this turn; discard another card",
            (card,),
        )
    if table.must_use >= 0:
        rule, why = duty(table)
        raise refuse("must_use_taken_card", rule, why, (table.must_use,))
    last = len(table.hands[seat]) == 1 and table.stage == PLAY
    if last and table.rules.strict_end and playable(table, seat, card):
        raise refuse(
            "may_not_go_out",
            "R131",
            f"{NAMES[card]} fits on the table, so lay it instead of discarding",
            (card,),
        )
    return slot


def judge_untake(table: Table, seat: Seat) -> None:
    stuck = table.must_use >= 0 or (
        table.taken_top >= 0 and len(table.hands[seat]) == 1 and table.taken_top in table.known[seat]
    )
    if not stuck:
        raise refuse("wrong_phase", "R25", "only cards that must be laid and cannot be are given back")


def judge_block(table: Table, seat: Seat, move: Move, openings: Faces) -> Slot:
    card = move.cards[0]
    slot = locate(table, seat, move.cards, openings)[0]
    if not table.rules.dealers_joker:
        raise refuse("option_forbids", "R176", "there is no dealer's joker at this table")
    if card < FIRST_JOKER or slot < 0:
        raise refuse("option_forbids", "R182", "only another joker blocks the dealer's joker", (card,))
    if not table.joker_free():
        state = "blocked already" if table.joker_blocked else "used already"
        raise refuse("option_forbids", "R182", f"the dealer's joker is {state}", (card,))
    if len(table.hands[seat]) == 1:
        raise refuse("may_not_go_out", "R182", "a block may not be the last card of the hand", (card,))
    if seat == table.turn and table.stage == PLAY:
        if table.must_use >= 0:
            rule, why = duty(table)
            raise refuse("must_use_taken_card", rule, why, (table.must_use,))
        judge_rest(table, seat, (card,), 1, ())
    return slot


# --- all of them ----------------------------------------------------------------------------------------

Judge = Callable[[Table, Seat, Move, Faces], object]


def _judge_pass(table: Table, seat: Seat, move: Move, openings: Faces) -> None:
    if table.stage == DRAW:
        judge_decline(table)
    locate(table, seat, (), openings)


def _without_openings(judge: Judge) -> Judge:
    """A move that plays no hidden card must open none."""

    def checked(table: Table, seat: Seat, move: Move, openings: Faces) -> None:
        judge(table, seat, move, openings)
        locate(table, seat, (), openings)

    return checked


JUDGES: Final[dict[str, Judge]] = {
    "name": _without_openings(lambda table, seat, move, openings: None),
    "draw": _without_openings(lambda table, seat, move, openings: judge_draw(table)),
    "take": _without_openings(lambda table, seat, move, openings: judge_take(table, move.cards[0])),
    "split": _without_openings(lambda table, seat, move, openings: judge_split(table, seat, move.cards[0])),
    "untake": _without_openings(lambda table, seat, move, openings: judge_untake(table, seat)),
    "pass": _judge_pass,
    "meld": judge_meld,
    "lay": judge_lay,
    "discard": judge_discard,
    "block": judge_block,
    "rummy": _without_openings(lambda table, seat, move, openings: judge_call(table, seat, move)),
}

PLAYS_CARDS: Final = frozenset({"meld", "lay", "discard", "block"})
"""Moves whose cards come out of the hand."""
