"""``sharp`` at the rum family: the moves worth thinking about, and how each is tried in a sketch.

* Draw: the stock, and the takes from the pile that promise most.
* Play: the melds and lay-offs, or none of them yet; when nothing is to be laid, the discards that look best.
* Windows: to pass, or one of the calls.

Where a sketch has nothing to say (the dealer's joker, melds out of turn, a narrow call) ``steady`` decides.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from p2p_rummy.bots.base import Stopped, legal_moves, never
from p2p_rummy.bots.rum import RumBot
from p2p_rummy.bots.sharp_lanes import BIT, JOKER, Lanes
from p2p_rummy.bots.sharp_search import Budget, Candidate, best_move
from p2p_rummy.bots.sharp_sketch import Habits, Sketch
from p2p_rummy.bots.sharp_worlds import Outlook, add_run, add_shape
from p2p_rummy.games.rum import RumGame
from p2p_rummy.games.rum_table import DRAW, PLAY, WINDOW, Table
from p2p_rummy.melds import open_kinds, place, recognise
from p2p_rummy.notation import Move, parse
from protocol.game import Faces, Game, Seat

MOST_TAKES: Final = 4
MOST_MELDS: Final = 5
MOST_DISCARDS: Final = 5
ROUNDS: Final = 2
"""How often each seat has a turn in a world that is played on; then :meth:`Sketch.prospects` judges it.

Further turns add more chance than insight: with 60 worlds, 30 turns bring some ten points a hand against ``steady``, four turns
or eight some twenty.
"""
ROUNDS_TO_GO_OUT: Final = 5
"""The same where only who goes out scores (R146), so that the cards on the table say little about the end."""


class SharpRumBot:
    """One player of the rum family."""

    def __init__(
        self, seed: int, budget: Budget, *, habits: Habits | None = None, horizon: int | None = None
    ) -> None:
        self._rng = random.Random(seed)
        self._steady = RumBot(seed)
        self._budget = budget
        self._horizon = horizon
        self._habits = habits if habits is not None else Habits()
        self._lanes: Lanes | None = None
        self._takes = (0, 0)

    def choose(self, game: Game, seat: Seat, faces: Faces, *, stopped: Stopped = never) -> str:
        assert isinstance(game, RumGame)
        legal = legal_moves(game, seat, faces)
        if len(legal) == 1:
            return legal[0]
        spending = self._budget.begin(stopped)
        table = game.table
        usual = self._steady.choose(game, seat, faces)
        if table.rules.dealers_joker and table.joker_free():
            return usual
        hand = [table.face[slot] if table.face[slot] >= 0 else faces[slot] for slot in table.hands[seat]]
        if self._lanes is None:
            self._lanes = Lanes(table.rules)
        outlook = Outlook(table, seat, hand, self._lanes, self._habits)
        moves = [parse(text) for text in legal]
        candidates = self._candidates(outlook, moves, usual)
        if len(candidates) < 2:
            return candidates[0].text if candidates else usual
        first = next((index for index, candidate in enumerate(candidates) if candidate.text == usual), 0)
        candidates.insert(0, candidates.pop(first))
        return best_move(outlook, candidates, spending, self._rng, horizon=self._turns(table))

    def _turns(self, table: Table) -> int:
        if self._horizon is not None:
            return self._horizon
        takes_all = table.rules.scoring == "winner_takes_hands"
        return (ROUNDS_TO_GO_OUT if takes_all else ROUNDS) * len(table.ring)

    def _candidates(self, outlook: Outlook, moves: Sequence[Move], usual: str) -> list[Candidate]:
        table = outlook.table
        if table.stage == DRAW:
            return _draws(outlook, moves, usual)
        if table.stage == PLAY:
            return _plays(outlook, moves, usual)
        if table.stage == WINDOW and table.rules.calling == "full" and not table.rules.out_of_turn_melds:
            return _calls(outlook, moves)
        return []


# --- the draw -------------------------------------------------------------------------------------------


def _draws(outlook: Outlook, moves: Sequence[Move], usual: str) -> list[Candidate]:
    table = outlook.table
    seat = outlook.seat
    after = table.after(seat)
    outline = outlook.outline
    pile = table.pile_cards

    def drawing(sketch: Sketch) -> None:
        if not sketch.stock:
            return
        sketch.give(seat, sketch.stock.pop())
        sketch.lay(seat)
        sketch.finish(seat, -1)

    def taking(move: Move) -> Candidate:
        count = len(pile) - pile.index(move.card)

        def trial(sketch: Sketch) -> None:
            barred = sketch.take(seat, count)
            sketch.lay(seat)
            sketch.finish(seat, barred)

        return Candidate(text=move.text, trial=trial, next_seat=after)

    def promise(move: Move) -> float:
        sketch = outline.copy()
        sketch.take(seat, len(pile) - pile.index(move.card))
        return sketch.hand_worth(seat)

    takes = sorted((move for move in moves if move.verb == "take"), key=promise, reverse=True)
    wanted = [move for index, move in enumerate(takes) if move.text == usual or index < MOST_TAKES]
    found = (
        [Candidate(text="draw", trial=drawing, next_seat=after)]
        if any(m.verb == "draw" for m in moves)
        else []
    )
    if any(move.verb == "pass" for move in moves):
        found.append(Candidate(text="pass", trial=lambda sketch: None, next_seat=after))
    return found + [taking(move) for move in wanted]


# --- the play -------------------------------------------------------------------------------------------


def _plays(outlook: Outlook, moves: Sequence[Move], usual: str) -> list[Candidate]:
    table = outlook.table
    seat = outlook.seat
    barred = BIT[table.taken_top] if table.taken_top >= 0 else -1
    after = table.after(seat)
    laying = [move for move in moves if move.verb in ("meld", "lay")]
    discards = [move for move in moves if move.verb == "discard"]

    def laying_candidate(move: Move) -> Candidate:
        def trial(sketch: Sketch) -> None:
            put_down(sketch, table, seat, move)
            sketch.lay(seat)
            sketch.finish(seat, barred)

        return Candidate(text=move.text, trial=trial, next_seat=after)

    def throwing(move: Move) -> Candidate:
        card = BIT[move.card]
        return Candidate(text=move.text, trial=lambda sketch: sketch.throw(seat, card), next_seat=after)

    if laying:
        worth = {move: sum(table.rules.values[card] for card in move.cards) for move in laying}
        laying.sort(key=lambda move: (move.text != usual, -worth[move], move.text))
        wanted = laying[:MOST_MELDS]
        found = [laying_candidate(move) for move in wanted]
        if discards:
            found += [throwing(move) for move in _best_discards(outlook, discards, usual, 2)]
        return found
    if discards:
        return [throwing(move) for move in _best_discards(outlook, discards, usual, MOST_DISCARDS)]
    return []


def _best_discards(outlook: Outlook, discards: Sequence[Move], usual: str, count: int) -> list[Move]:
    seat = outlook.seat
    sketch = outlook.outline.copy()
    by_bit: dict[int, Move] = {}
    for move in discards:
        by_bit.setdefault(BIT[move.card], move)
    barred = BIT[outlook.table.taken_top] if outlook.table.taken_top >= 0 else -1
    order = [by_bit[card] for card in sketch.order_of_discards(seat, barred) if card in by_bit]
    usual_move = [move for move in discards if move.text == usual]
    return list(dict.fromkeys([*order[:count], *usual_move])) or list(discards[:count])


def put_down(sketch: Sketch, table: Table, seat: Seat, move: Move) -> None:
    """A meld or lay-off of the real table, made in a sketch of it."""
    rules = table.rules.melds
    for card in move.cards:
        if BIT[card] == JOKER:
            sketch.jokers[seat] -= 1
        else:
            sketch.drop(seat, BIT[card])
    if move.verb == "meld":
        for part in move.parts:
            shape = recognise(part, rules)
            add_shape(sketch, shape)
            low = shape.low == 0 and shape.cards[0][0] < 104
            sketch.laid[seat] -= sketch.lanes.low_ace_loss if low else 0
        sketch.shut &= ~(1 << table.rules.side_of[seat])
    else:
        _extend(sketch, table, move)
    sketch.laid[seat] += sum(table.rules.values[card] for card in move.cards)


def _extend(sketch: Sketch, table: Table, move: Move) -> None:
    meld = table.melds[move.meld]
    rules = table.rules.melds
    if meld.kind == "group":
        for kind in open_kinds(meld, rules):
            sketch.short &= ~BIT[kind]
        return
    below = False
    length = len(meld.cards)
    for placed in move.parts[0]:
        _, low = place(meld, placed, rules) if length == len(meld.cards) else (0, below)
        below = low
        length += 1
        add_run(sketch, meld.suit, max(0, meld.low - below), length)


# --- windows --------------------------------------------------------------------------------------------


def _calls(outlook: Outlook, moves: Sequence[Move]) -> list[Candidate]:
    table = outlook.table
    seat = outlook.seat
    pile = table.pile_cards

    def calling(move: Move) -> Candidate:
        depth = len(pile) - min(pile.index(card) for card in move.cards)

        def trial(sketch: Sketch) -> None:
            sketch.take(seat, depth)
            verb = "lay" if move.meld else "meld"
            put_down(sketch, table, seat, Move(verb, move.text, move.parts, move.cards, move.meld))
            sketch.lay(seat)
            sketch.finish(seat, -1)

        return Candidate(text=move.text, trial=trial, next_seat=table.after(seat))

    found = [Candidate(text="pass", trial=lambda sketch: None, next_seat=table.after(table.turn))]
    calls = [move for move in moves if move.verb == "rummy"]
    worth = {move: sum(table.rules.values[card] for card in move.cards) for move in calls}
    calls.sort(key=lambda move: -worth[move])
    return found + [calling(move) for move in calls[:MOST_MELDS]]
