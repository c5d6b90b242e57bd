"""Seats that leave in mid-hand, hands that are void, and the hand that nobody holds any more.

A seat may leave in any stage; :func:`drop` moves the hand on from each, so that the table never waits for who has gone.
The option ``leaver`` says what becomes of the hand; Dropped without faces (no backups) makes it void.
"""

from __future__ import annotations

from p2p_rummy.games.rum_deal import deal_out, settle_dealer
from p2p_rummy.games.rum_end import can_go_on, closed_hands, end_hand, finish
from p2p_rummy.games.rum_play import MOVES
from p2p_rummy.games.rum_score import score_hand, score_nothing, score_void
from p2p_rummy.games.rum_stand_in import stand_in_move
from p2p_rummy.games.rum_table import (
    CHALLENGE,
    DEAL,
    DEALER_DRAW,
    DEALER_SHUFFLE,
    DRAW,
    FETCH,
    FIRST_DISCARD,
    NAME,
    OVER,
    PLAY,
    RESHUFFLE,
    SHOW,
    SHUFFLE,
    WINDOW,
    Table,
)
from p2p_rummy.games.rum_turn import NO_OPENINGS, close_window_if_answered, end_turn
from p2p_rummy.notation import parse
from protocol.game import Dropped, Seat


def drop(table: Table, event: Dropped) -> None:
    """A seat has gone, whatever the stage; ``leaver`` says what becomes of its hand."""
    seat = event.seat
    stage = table.stage
    table.away.add(seat)
    if stage == OVER:
        return
    if stage in (DEALER_SHUFFLE, DEALER_DRAW, SHUFFLE):
        drop_before_the_hand(table, seat)
        return
    if seat not in table.ring:
        return
    held = set(table.hands[seat])
    for slot, card in event.faces:
        if slot in held and table.face[slot] < 0:
            table.open(seat, slot, card)
    if event.void or (table.rules.leaver == "void_hand" and stage != SHOW):
        table.answers.clear()
        table.opened_hand = 0
        finish(table, score_void(table, seat), void=True)
        return
    if table.rules.leaver == "bot" and stage != SHOW and is_open(table, seat):
        table.stand_ins.add(seat)
        table.reseat()
        forget_answer(table, seat)
        return
    table.ring.remove(seat)
    table.reseat()
    play_on_without(table, seat)


def void(table: Table) -> None:
    """The cards cannot be told: the hand counts for nobody and is dealt again by the same dealer."""
    if table.stage not in (DEALER_DRAW, DEAL, FETCH, SHOW):
        raise ValueError("no cards were asked for")
    if table.stage == DEALER_DRAW:
        table.dealer_draws.clear()
        table.contenders = [seat for seat in range(table.rules.seats) if seat not in table.away]
        table.stage = DEALER_SHUFFLE
        return
    table.answers.clear()
    table.opened_hand = 0
    finish(table, score_nothing(table), void=True)


def is_open(table: Table, seat: Seat) -> bool:
    """The seat's hand is known to all, but for cards that are on their way and can still be dealt openly."""
    closed = table.hidden(seat)
    if table.stage == FETCH and seat == table.turn:
        closed = closed[:-1]
    return not closed or table.stage in (NAME, DEAL)


def drop_before_the_hand(table: Table, seat: Seat) -> None:
    if not can_go_on(table):
        table.stage = OVER
        return
    if seat in table.contenders and table.stage != SHUFFLE:
        table.contenders.remove(seat)
        settle_dealer(table)


def forget_answer(table: Table, seat: Seat) -> None:
    """The open window, if there is one, does not wait for this seat any more."""
    if table.stage in (WINDOW, CHALLENGE):
        table.answers.pop(seat, None)
        table.ask()
        close_window_if_answered(table)


def play_on_without(table: Table, seat: Seat) -> None:
    stage = table.stage
    if stage == SHOW:
        if not closed_hands(table):
            finish(table, score_hand(table))
        return
    if len({table.rules.side_of[other] for other in table.ring}) < 2:
        end_hand(table)
    elif stage in (WINDOW, CHALLENGE):
        forget_answer(table, seat)
    elif seat == table.turn:
        if stage == NAME:
            deal_out(table)  # nobody names the dealer's joker, so nobody uses it
        elif stage in (DEAL, FIRST_DISCARD):
            if table.turned_up < 0:  # R169: who was to choose the first discard has gone
                table.turned_up = table.stock.pop()
            table.turn = table.after(seat)
            table.stage = DEAL
        elif stage != RESHUFFLE:
            end_turn(table)


def play_stand_ins(table: Table) -> None:
    """``leaver: bot``: the table plays an open hand by a fixed rule, so that every peer plays it alike."""
    while table.stage in (NAME, FIRST_DISCARD, DRAW, PLAY) and table.turn in table.stand_ins:
        seat = table.turn
        move = parse(stand_in_move(table, seat))
        MOVES[move.verb](table, seat, move, NO_OPENINGS)
