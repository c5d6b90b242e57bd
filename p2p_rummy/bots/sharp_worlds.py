"""Worlds that a seat cannot tell apart: who might hold what, and in which order the stock might lie.

:class:`Outlook` is what one seat knows: its own cards, every card that lies or lay open, how many closed cards each other
seat holds, and what the others did.  :meth:`Outlook.world` deals the cards that are out of sight at random over the
places that they can be in; the outcome is a :class:`~p2p_rummy.bots.sharp_sketch.Sketch` that can be played on.

Not every deal is as likely as another: who could have laid three cards would have laid them.  So of a few deals the one
that accuses the others of the least is taken.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from p2p_rummy.bots.sharp_lanes import BIT, Lanes
from p2p_rummy.bots.sharp_sketch import Habits, Sketch
from p2p_rummy.games.rum_score import table_points
from p2p_rummy.games.rum_table import Table
from p2p_rummy.melds import JOKER_RANK, Meld, Shape, open_kinds
from protocol.game import Card, Seat

DEALS: int = 3
"""Deals of which the likeliest is taken."""


class Outlook:
    """One decision of one seat.  ``outline`` is the table as it lies there, without any closed hand but the seat's own."""

    def __init__(self, table: Table, seat: Seat, hand: Sequence[Card], lanes: Lanes, habits: Habits) -> None:
        self.table = table
        self.seat = seat
        self.outline = _outline(table, seat, hand, lanes, habits)
        seen = {*hand, *_in_sight(table)}
        self.unseen = [BIT[card] for card in table.rules.shuffled if card not in seen]
        self.closed = [
            (other, len(table.hidden(other))) for other in table.ring if other != seat and table.hidden(other)
        ]

    def world(self, rng: random.Random) -> Sketch:
        """One way in which the closed cards may lie."""
        best: list[int] = []
        least = 1 << 30
        for _ in range(DEALS):
            cards = self.unseen[:]
            rng.shuffle(cards)
            suspicion = self._suspicion(cards)
            if suspicion < least:
                least = suspicion
                best = cards
            if not suspicion:
                break
        sketch = self.outline.copy()
        for other, count in self.closed:
            for _ in range(count):
                sketch.give(other, best.pop())
        table = self.table
        sketch.stock = [
            BIT[table.face[slot]] if table.face[slot] >= 0 else best.pop() for slot in table.stock
        ]
        return sketch

    def _suspicion(self, cards: Sequence[int]) -> int:
        """Points that the others hold although they could have laid them: closed cards come off the end."""
        outline = self.outline
        lanes = outline.lanes
        fits = outline.fits()
        end = len(cards)
        found = 0
        for other, count in self.closed:
            hand = outline.hands[other]
            for card in cards[end - count : end]:
                hand |= card
            end -= count
            if outline.open(other):
                found += lanes.points(lanes.melds(hand)[0] | hand & fits)
        return found


def _in_sight(table: Table) -> Iterator[Card]:
    """The cards of which everybody knows where they are.  Cards that are shuffled anew (R149) are out of sight again."""
    yield from table.pile_cards
    for meld in table.melds.values():
        yield from meld.cards
    for known in table.known:
        yield from known
    for slot in (*table.dead, *table.stock):
        if table.face[slot] >= 0:
            yield table.face[slot]


def _outline(table: Table, seat: Seat, hand: Sequence[Card], lanes: Lanes, habits: Habits) -> Sketch:
    rules = table.rules
    sketch = Sketch(rules, lanes, habits)
    sketch.ring = tuple(table.ring)
    for card in hand:
        sketch.give(seat, BIT[card])
    for other in table.ring:
        if other != seat:
            for card in table.known[other]:
                sketch.give(other, BIT[card])
    for meld in table.melds.values():
        add_meld(sketch, meld)
    sketch.pile = [BIT[card] for card in table.pile_cards]
    sketch.laid = table_points(table)
    if rules.opening_minimum:
        opened = table.opened_game | table.opened_hand
        sketch.shut = sum(1 << side for side in set(rules.side_of) if not opened >> side & 1)
    return sketch


def add_meld(sketch: Sketch, meld: Meld) -> None:
    """A meld that lies there, as far as an outline knows melds."""
    if meld.sealed or meld.rank == JOKER_RANK:
        return
    if meld.kind == "run":
        add_run(sketch, meld.suit, meld.low, len(meld.cards))
    else:
        for kind in open_kinds(meld, sketch.rules.melds):
            sketch.short |= BIT[kind]


def add_shape(sketch: Sketch, shape: Shape) -> None:
    """A new meld."""
    add_meld(sketch, Meld(0, shape, 0, ()))


def add_run(sketch: Sketch, suit: int, low: int, length: int) -> None:
    positions = (1 << length) - 1 << low & 0x3FFF
    sketch.runs |= positions << 16 * suit
