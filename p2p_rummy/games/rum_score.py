"""What a hand scores and who has won (R80-R93, R146-R151, R163-R166, R193-R200)."""

from __future__ import annotations

from dataclasses import dataclass

from p2p_rummy.cards import FIRST_JOKER, PACK
from p2p_rummy.games.rum_table import Table
from p2p_rummy.melds import RANK_COUNT, Meld
from protocol.game import Card, Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One hand.  ``points`` by side, ``table`` and ``in_hand`` by seat, ``notes`` say what else counted."""

    points: tuple[int, ...]
    table: tuple[int, ...]
    in_hand: tuple[int, ...]
    notes: tuple[str, ...]


def table_points(table: Table) -> list[int]:
    """R80, R7: the value of each seat's cards on the table."""
    points = [0] * table.rules.seats
    for meld in table.melds.values():
        for place, (card, seat) in enumerate(zip(meld.cards, meld.seats, strict=True)):
            points[seat] += meld.factor * card_points(table, meld, place, card)
    return points


def card_points(table: Table, meld: Meld, place: int, card: Card) -> int:
    """R81-R83: only a natural ace at the bottom of a run is low."""
    if place == 0 and card < FIRST_JOKER and meld.kind == "run" and card % PACK % RANK_COUNT == 0:
        return table.rules.low_ace
    return table.rules.values[card]


def hand_points(table: Table, seat: Seat) -> int:
    """R80, R82, R148: the value of the open cards in a hand."""
    rules = table.rules
    points = 0
    for card in table.hand_cards(seat):
        ace = card < FIRST_JOKER and card % PACK % RANK_COUNT == 0
        points += rules.hand_ace if ace else rules.values[card]
    return points


def score_hand(table: Table) -> Score:
    """The hand as it has ended: ``out_seat`` and ``exhausted`` say how."""
    rules = table.rules
    laid = table_points(table)
    held = [hand_points(table, seat) for seat in range(rules.seats)]
    notes: list[str] = []
    if rules.scoring == "winner_takes_hands":
        points = _winner_takes(table, held, notes)
    else:
        deducted = not (table.exhausted and rules.exhausted_scoring == "no_deduction")
        if not deducted:
            notes.append("no_deduction")
        points = [0] * rules.seats
        for seat, side in enumerate(rules.side_of):
            points[side] += laid[seat] - (held[seat] if deducted else 0)
    _add_bonuses(table, points, notes)
    return Score(points=tuple(points), table=tuple(laid), in_hand=tuple(held), notes=tuple(notes))


def score_nothing(table: Table) -> Score:
    """A hand that counts for nobody."""
    nobody = (0,) * table.rules.seats
    return Score(points=nobody, table=nobody, in_hand=nobody, notes=("void",))


def score_void(table: Table, leaver: Seat) -> Score:
    """A hand that counts for nobody, except that the leaver loses what is in hand.

    Closed cards that nobody can open count as the dearest card of the pack: so leaving never pays.
    """
    rules = table.rules
    held = [0] * rules.seats
    dearest = max(rules.values[card] for card in rules.cards)
    held[leaver] = hand_points(table, leaver) + dearest * len(table.hidden(leaver))
    points = [0] * rules.seats
    points[rules.side_of[leaver]] -= held[leaver]
    return Score(points=tuple(points), table=(0,) * rules.seats, in_hand=tuple(held), notes=("void",))


def _winner_takes(table: Table, held: list[int], notes: list[str]) -> list[int]:
    """R146, R147, R150."""
    rules = table.rules
    points = [0] * rules.seats
    winner = table.out_seat
    if winner >= 0:
        points[rules.side_of[winner]] = sum(held) - held[winner]
        if rules.going_rummy_doubles and table.went_rummy:
            points[rules.side_of[winner]] *= 2
            notes.append("going_rummy")
    return points


def _add_bonuses(table: Table, points: list[int], notes: list[str]) -> None:
    rules = table.rules
    winner = table.out_seat
    if winner < 0:
        return
    if rules.going_out_bonus:
        points[rules.side_of[winner]] += rules.going_out_bonus
        notes.append("going_out")
    if (
        rules.rummy_master_bonus
        and table.out_by_discard
        and table.lays[winner] == 1
        and table.long_run[winner]
    ):
        points[rules.side_of[winner]] += rules.rummy_master_bonus
        notes.append("rummy_master")


# --- the game -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The game has ended.  ``side`` is the winner, None for a drawn game."""

    side: int | None


def verdict(table: Table) -> Verdict | None:
    """Whether the game has ended with the hand just added to ``totals`` (R90-R93, R134, R151, R165, R193)."""
    rules = table.rules
    totals = table.totals
    sides = sorted(set(rules.side_of))
    best = max(totals[side] for side in sides)
    leaders = [side for side in sides if totals[side] == best]
    out = rules.side_of[table.out_seat] if table.out_seat >= 0 else None
    if rules.target is not None:
        there = [side for side in sides if totals[side] >= rules.target]
        if rules.win_rule == "must_go_out":
            if out in there:
                return Verdict(side=out)
        elif there:
            if rules.win_rule == "first_out" and out in there:
                return Verdict(side=out)
            if len(leaders) == 1:
                return Verdict(side=leaders[0])
    if rules.max_hands is not None and table.played >= rules.max_hands:
        if len(leaders) == 1:
            return Verdict(side=leaders[0])
        if rules.game == "persian":
            return Verdict(side=None)  # R200: a drawn game
    return None


def hand_winner(table: Table, score: Score) -> Seat:
    """R169: who went out, else the best score of the hand, the nearest to the dealer's left of several."""
    if table.out_seat >= 0:
        return table.out_seat
    rules = table.rules
    order = [(table.dealer + step) % rules.seats for step in range(1, rules.seats + 1)]
    return max(
        (seat for seat in order if seat in table.ring), key=lambda seat: score.points[rules.side_of[seat]]
    )
