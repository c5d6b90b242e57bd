"""The end of a hand: going out, the showdown, the sheet, and whether another hand follows (R70-R75, R80-R93)."""

from __future__ import annotations

from collections.abc import Sequence

from p2p_rummy.games.rum_score import Score, hand_winner, score_hand, verdict
from p2p_rummy.games.rum_table import OVER, SHOW, SHUFFLE, Table
from protocol.game import Card, Seat, Slot


def closed_hands(table: Table) -> tuple[tuple[Slot, Seat], ...]:
    owners = [(slot, seat) for seat in table.ring for slot in table.hidden(seat)]
    return tuple(sorted(owners))


def go_out(table: Table, seat: Seat, *, by_discard: bool, rummy: bool) -> None:
    table.out_seat = seat
    table.out_by_discard = by_discard
    table.went_rummy = rummy
    end_hand(table)


def end_hand(table: Table, *, exhausted: bool = False) -> None:
    table.exhausted = exhausted
    table.answers.clear()
    table.stage = SHOW
    if not closed_hands(table):
        finish(table, score_hand(table))


def shown(table: Table, faces: Sequence[tuple[Slot, Card]]) -> None:
    if table.stage != SHOW:
        raise ValueError("no showdown was asked for")
    for seat in table.ring:
        held = set(table.hands[seat])
        for slot, card in faces:
            if slot in held:
                table.open(seat, slot, card)
    finish(table, score_hand(table))


def finish(table: Table, score: Score, *, void: bool = False) -> None:
    """R80-R93: the totals, the sheet, and whether the game goes on.  A void hand is dealt again."""
    rules = table.rules
    table.played += not void
    for side in set(rules.side_of):
        table.totals[side] += score.points[side]
    notes = list(score.notes)
    ended = verdict(table)
    bonus = [0] * table.rules.seats
    if ended is not None and ended.side is not None:
        bonus[ended.side] = rules.game_bonus
        table.totals[ended.side] += rules.game_bonus
        table.winners = tuple(s for s in range(table.rules.seats) if rules.side_of[s] == ended.side)
        if rules.game_bonus:
            notes.append("game_bonus")
    table.sheet.append(
        {
            "hand": table.hand,
            "points": [score.points[side] + bonus[side] for side in rules.side_of],
            "table": list(score.table),
            "in_hand": list(score.in_hand),
            "notes": notes,
        }
    )
    if rules.opening_scope == "game":
        table.opened_game |= table.opened_hand
    if ended is not None or not can_go_on(table):
        table.stage = OVER
        return
    if not void:
        winner = hand_winner(table, score)
        table.dealer = (
            winner if rules.next_dealer == "hand_winner" else (table.dealer + 1) % table.rules.seats
        )
    table.between = True
    table.stage = SHUFFLE


def can_go_on(table: Table) -> bool:
    """Two sides are needed for another hand."""
    present = {table.rules.side_of[seat] for seat in range(table.rules.seats) if seat not in table.away}
    return len(present) > 1
