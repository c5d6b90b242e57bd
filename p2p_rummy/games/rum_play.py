"""What a seat does in its own turn: :data:`MOVES` carries out each verb, once it is judged.

A move that is refused raises before anything has changed (R251).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from p2p_rummy.games.rum_check import (
    judge_decline,
    judge_discard,
    judge_draw,
    judge_split,
    judge_take,
    judge_untake,
)
from p2p_rummy.games.rum_deal import deal_out, fetch
from p2p_rummy.games.rum_end import end_hand, go_out
from p2p_rummy.games.rum_table import CHALLENGE, DRAW, FIRST_DISCARD, PLAY, RESHUFFLE, Table
from p2p_rummy.games.rum_turn import add, block, end_turn, open_window, put_down, start_turn
from p2p_rummy.notation import Move
from protocol.game import Card, Faces, Seat


def name(table: Table, seat: Seat, move: Move, openings: Faces) -> None:
    table.effect = move.word
    deal_out(table)


def draw(table: Table, seat: Seat, move: Move, openings: Faces) -> None:
    judge_draw(table)
    table.had_stock = True
    table.declined = 0
    if table.stock:
        fetch(table, seat)
    elif table.rules.recycle_stock == "turn_over":
        buried = table.cut(0)
        top = buried.pop()
        table.push(top, table.face[top])
        table.stock = buried[::-1]
        table.recycled += 1
        fetch(table, seat)
    else:
        table.stage = RESHUFFLE


def take(table: Table, seat: Seat, move: Move, openings: Faces) -> None:
    index = judge_take(table, move.cards[0])
    table.take(seat, index)
    if table.rules.has_duty(len(table.taken)):
        oblige(table, move.cards[0])
    if len(table.taken) == 1:
        table.taken_top = move.cards[0]
    begin_play(table)


def split(table: Table, seat: Seat, move: Move, openings: Faces) -> None:
    """R180: a take whose rest goes out of play."""
    index = judge_split(table, seat, move.cards[0])
    table.take(seat, index)
    oblige(table, move.cards[0])
    table.joker_used = True
    table.split_off = table.cut(0)
    table.dead += table.split_off
    begin_play(table)


def oblige(table: Table, deepest: Card) -> None:
    """R23, R123: the deepest card taken must be put on the table in this turn."""
    table.must_use = deepest
    table.must_meld = table.rules.deepest_needs_meld(len(table.taken))


def begin_play(table: Table) -> None:
    table.declined = 0
    table.stage = PLAY


def untake(table: Table, seat: Seat, move: Move, openings: Faces) -> None:
    judge_untake(table, seat)
    table.untake(seat)
    table.stage = DRAW


def decline(table: Table, seat: Seat, move: Move, openings: Faces) -> None:
    """R28, R74, R164: without a stock the pile is declined."""
    judge_decline(table)
    table.declined += 1
    if table.rules.stock_out == "decline_ends" or table.declined >= len(table.ring):
        end_hand(table, exhausted=True)
    else:
        end_turn(table)


def meld(table: Table, seat: Seat, move: Move, openings: Faces) -> None:
    put_down(table, seat, move, openings)
    laid(table, seat)


def lay(table: Table, seat: Seat, move: Move, openings: Faces) -> None:
    add(table, seat, move, openings)
    laid(table, seat)


def laid(table: Table, seat: Seat) -> None:
    """R70, R127: after laying in one's turn."""
    if table.hands[seat]:
        return
    if table.rules.floats:
        end_turn(table)
    else:
        go_out(table, seat, by_discard=False, rummy=table.fresh)


def discard(table: Table, seat: Seat, move: Move, openings: Faces) -> None:
    slot = judge_discard(table, seat, move, openings)
    table.discard(seat, slot, move.cards[0])
    if table.stage == FIRST_DISCARD:
        start_turn(table, seat)
    elif table.hands[seat]:
        end_turn(table)
    elif table.rules.challenge:
        open_window(table, CHALLENGE)
    else:
        go_out(table, seat, by_discard=True, rummy=table.fresh)


Mover = Callable[[Table, Seat, Move, Faces], None]

MOVES: Final[dict[str, Mover]] = {
    "name": name,
    "draw": draw,
    "take": take,
    "split": split,
    "untake": untake,
    "pass": decline,
    "meld": meld,
    "lay": lay,
    "discard": discard,
    "block": block,
}
