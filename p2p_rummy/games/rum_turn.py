"""Turns and the windows between them (R20, R100-R113, R127-R132, R210-R214)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from p2p_rummy.games.rum_check import JUDGES, judge_block
from p2p_rummy.games.rum_end import end_hand, go_out
from p2p_rummy.games.rum_gate import in_pile
from p2p_rummy.games.rum_lay import judge_call, judge_lay, judge_meld
from p2p_rummy.games.rum_table import CHALLENGE, DRAW, PLAY, WINDOW, Table
from p2p_rummy.melds import Shape, place
from p2p_rummy.notation import Move, parse
from p2p_rummy.refusals import IllegalMove
from protocol.game import Faces, Seat

NO_OPENINGS: Final[Faces] = {}


def start_turn(table: Table, seat: Seat) -> None:
    table.begin_turn(seat)
    table.stage = DRAW


def end_turn(table: Table) -> None:
    """R100: a turn has ended and the hand goes on."""
    if not table.had_stock and not table.turn_log:
        table.idle += 1
    if table.rules.windows or table.joker_free():
        open_window(table, WINDOW)
    else:
        next_turn(table)


def next_turn(table: Table) -> None:
    """The seat left of the one whose turn has ended draws, unless R75 ends the hand."""
    if table.idle >= table.rules.exhausted_rounds * len(table.ring):
        end_hand(table, exhausted=True)
    else:
        start_turn(table, table.after(table.turn))


# --- windows --------------------------------------------------------------------------------------------


def open_window(table: Table, stage: int) -> None:
    table.stage = stage
    table.answers.clear()
    table.ask()
    if not table.asked:
        close_window_if_answered(table)


def answer(table: Table, seat: Seat, move: Move, openings: Faces) -> None:
    if move.verb != "pass":
        JUDGES[move.verb](table, seat, move, openings)
        for slot, card in openings.items():
            table.open(seat, slot, card)
    table.answers[seat] = move.text
    close_window_if_answered(table)


def close_window_if_answered(table: Table) -> None:
    given = table.answers
    if len(given) < len(table.asked):
        return
    answers = [(seat, parse(given[seat])) for seat in table.asked if given[seat] != "pass"]
    given.clear()
    resolve(table, answers)


def resolve(table: Table, answers: Sequence[tuple[Seat, Move]]) -> None:
    """R109, R211: blocks first (they hinder nothing else), then the nearest call, else melds and lay-offs.

    ``answers`` are those that are no ``pass``, clockwise.
    """
    for seat, move in answers:
        if move.verb == "block" and table.joker_free():
            block(table, seat, move, NO_OPENINGS)
    for seat, move in answers:
        if move.verb == "rummy":
            call(table, seat, move)
            return
    if table.stage == CHALLENGE:
        go_out(table, table.turn, by_discard=True, rummy=table.fresh)
    elif not answers or not lay_out_of_turn(table, answers):
        next_turn(table)


def lay_out_of_turn(table: Table, answers: Sequence[tuple[Seat, Move]]) -> bool:
    """R211-R213: clockwise, each judged at its place.  True if the hand ended or another round follows."""
    laid = False
    for seat, move in answers:
        if move.verb not in ("meld", "lay"):
            continue
        nothing_before = table.lays[seat] == 0
        try:
            (put_down if move.verb == "meld" else add)(table, seat, move, NO_OPENINGS)
        except IllegalMove:
            continue  # R211: a nearer seat's action has made it illegal; it lapses
        laid = True
        if not table.hands[seat] and not table.rules.floats:
            go_out(table, seat, by_discard=False, rummy=nothing_before)
            return True
    if laid:
        open_window(table, WINDOW)
    return laid


def call(table: Table, seat: Seat, move: Move) -> None:
    """R105-R108; R124 and R132 take the newest discard only and leave the order of play alone."""
    called = judge_call(table, seat, move)
    lay_only = table.rules.calling != "full"
    index = len(table.pile) - 1 if lay_only else min(in_pile(table, card) for card in move.cards)
    slots = dict(zip(table.pile_cards[index:], table.pile[index:], strict=True))
    if not lay_only:
        table.begin_turn(seat)
    for slot in table.cut(index):
        table.give(seat, slot)
    if isinstance(called, Shape):
        table.lay_meld(seat, called, [slots[card] for card, _ in called.cards])
    else:
        for placed in move.parts[0]:
            meld = table.melds[move.meld]
            claim, below = place(meld, placed, table.rules.melds)
            table.lay_off(seat, meld, placed[0], claim, slots[placed[0]], below=below)
    if lay_only:
        next_turn(table)
    elif table.hands[seat]:
        table.stage = PLAY
    else:
        end_turn(table)


# --- laying, in and out of turn -------------------------------------------------------------------------


def put_down(table: Table, seat: Seat, move: Move, openings: Faces) -> None:
    for index, (shape, slots) in enumerate(judge_meld(table, seat, move, openings)):
        meld = table.lay_meld(seat, shape, slots)
        if index == move.doubled:
            table.seal(meld)


def add(table: Table, seat: Seat, move: Move, openings: Faces) -> None:
    meld, claim, below, slot = judge_lay(table, seat, move, openings)
    table.lay_off(seat, meld, move.cards[0], claim, slot, below=below)


def block(table: Table, seat: Seat, move: Move, openings: Faces) -> None:
    """R182."""
    slot = judge_block(table, seat, move, openings)
    table.face[slot] = move.cards[0]
    table.leave(seat, slot)
    table.dead.append(slot)
    table.joker_blocked = True
