"""A rum table in the middle of a hand, with known cards: for scenarios, tests and study.

    table = Position(rules.settings, hands=[cards("7H 8S"), cards("2C")], pile=cards("6C"), stock=cards("9D")).table()
    table.move(0, "draw")

Only the cards given exist; which others lie unseen makes no difference to any rule.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from p2p_rummy.cards import FIRST_JOKER, PACK
from p2p_rummy.games.base import from_settings
from p2p_rummy.games.rum import RumGame
from p2p_rummy.games.rum_table import DRAW, PLAY, SHUFFLE, WINDOW, Table
from p2p_rummy.local import LocalTable
from p2p_rummy.melds import JOKER_RANK, Meld, Shape
from p2p_rummy.notation import NO_CLAIM, RANK_ONLY, Placed
from p2p_rummy.options import Settings
from protocol.game import Card, Seat, Slot

STAGE_OF: Final = {"deal": SHUFFLE, "draw": DRAW, "play": PLAY, "call": WINDOW, "over": SHUFFLE}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedMeld:
    """A meld that lies there: its cards in table order, each with its claim and the seat that scores it."""

    id: int
    kind: str
    owner: Seat
    cards: tuple[Placed, ...]
    seats: tuple[Seat, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """What lies where.  ``stock`` has the next card first; in phase ``deal`` it is the shuffled pack.

    ``opened``: sides that opened in an earlier hand (R163); sides with cards on the table have opened in this one.
    ``effect``: what the dealer's joker was named, "" not yet (R177).  ``packs``: the order of cards of every
    later shuffle.
    """

    settings: Settings
    hands: Sequence[Sequence[Card]]
    stock: Sequence[Card] = ()
    pile: Sequence[Card] = ()
    melds: Sequence[PlacedMeld] = ()
    phase: str = "draw"
    turn: Seat = 0
    dealer: Seat = 0
    totals: Sequence[int] = ()
    hand: int = 1
    opened: int = 0
    effect: str = ""
    joker_used: bool = False
    joker_blocked: bool = False
    packs: Iterable[Sequence[Card]] = field(default=())

    def table(self) -> LocalTable:
        """A local table that goes on from here."""
        game = cast("RumGame", from_settings(self.settings))
        packs = [self.stock, *self.packs] if self.phase == "deal" else self.packs
        local = LocalTable(game, packs=packs, rng=random.Random(0))
        table = game.table
        table.dealer = self.dealer
        table.hand = self.hand
        table.played = self.hand - 1
        if table.rules.opening_scope == "game":
            table.opened_game = self.opened
        table.totals[: len(self.totals)] = self.totals
        table.contenders = []
        if self.phase != "deal":
            self._lay_out(table, local)
        table.turn = self.turn
        table.stage = STAGE_OF[self.phase]
        table.between = self.phase == "over"
        if self.phase == "call":
            table.ask()
        return local

    def _lay_out(self, table: Table, local: LocalTable) -> None:
        table.begin_hand(range(self.settings.seats), 0)
        table.effect = self.effect
        table.joker_used, table.joker_blocked = self.joker_used, self.joker_blocked
        for seat, hand in enumerate(self.hands):
            for card in hand:
                slot = self._slot(table, local, card)
                table.give(seat, slot)
                local.faces[seat][slot] = card
        for card in self.pile:
            table.push(self._slot(table, local, card), card)
        table.stock = [self._slot(table, local, card) for card in reversed(self.stock)]
        for placed in self.melds:
            self._lay_meld(table, local, placed)
        table.begin_turn(self.turn)
        if self.phase != "draw":
            table.had_stock = True

    def _slot(self, table: Table, local: LocalTable, card: Card) -> Slot:
        slot = len(table.face)
        table.face.append(-1)
        local.secret[slot] = card
        return slot

    def _lay_meld(self, table: Table, local: LocalTable, placed: PlacedMeld) -> None:
        """Put a meld down as it is and count it as one meld of its owner and lay-offs of the others."""
        table.next_meld = placed.id
        meld = Meld(placed.id, self._shape(placed), placed.owner, [])
        meld.seats = list(placed.seats)
        meld.slots = [self._slot(table, local, card) for card in meld.cards]
        for slot, card in zip(meld.slots, meld.cards, strict=True):
            table.face[slot] = card
        own = placed.seats.count(placed.owner)
        table.lays[placed.owner] += own > 0
        table.long_run[placed.owner] |= placed.kind == "run" and own == 7 and table.lays[placed.owner] == 1
        for seat in placed.seats:
            table.lays[seat] += seat != placed.owner
        table.opened_hand |= 1 << table.rules.side_of[placed.owner]
        table.add_meld(meld)

    def _shape(self, placed: PlacedMeld) -> Shape:
        card, claim = placed.cards[0]
        if placed.kind == "group":
            naturals = [card for card, _ in placed.cards if card < FIRST_JOKER]
            rank = naturals[0] % PACK % 13 if naturals else JOKER_RANK
            cards = tuple(
                (card, RANK_ONLY + rank if card >= FIRST_JOKER and naturals else NO_CLAIM)
                for card, _ in placed.cards
            )
            return Shape("group", cards, rank=rank)
        first = claim if card >= FIRST_JOKER else card % PACK
        return Shape("run", placed.cards, suit=first // 13, low=first % 13)
