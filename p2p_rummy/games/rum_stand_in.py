"""The fixed rule by which the table plays an open hand on when its player has gone (``leaver: bot``).

Every peer computes the same move from the public state, so nobody has to sign it and nobody can steer it.  The rule
counts in whole numbers and breaks ties by the text of the move: two machines never differ by a rounding.

* It takes from the pile what brings more points to the table than it leaves in hand, else it draws.
* It melds the dearest first, then lays off, whatever it can.
* It throws the dearest card that has no companion in the hand and goes nowhere on the table; jokers last.

It answers no window: everybody sees its hand, and a call is a player's attention.
"""

from __future__ import annotations

from collections.abc import Sequence

from p2p_rummy.cards import FIRST_JOKER, PACK
from p2p_rummy.games.rum_book import BITS, book
from p2p_rummy.games.rum_duty import GROUP_MATES
from p2p_rummy.games.rum_lay import meld_worth
from p2p_rummy.games.rum_moves import legal_moves
from p2p_rummy.games.rum_table import DRAW, Table
from p2p_rummy.melds import recognise
from p2p_rummy.notation import Move, parse
from protocol.game import Card, Seat

ORDER = {"draw": 5, "pass": 4, "meld": 3, "lay": 2, "discard": 1}
NEIGHBOURS = 2
"""Cards of a suit that are no further apart may become a run."""


def stand_in_move(table: Table, seat: Seat) -> str:
    """The move of the open hand of ``seat`` in its turn."""
    moves = [parse(text) for text in legal_moves(table, seat, {})]
    hand = table.hand_cards(seat)
    takes = [move for move in moves if move.verb == "take"] if table.stage == DRAW else []
    if takes:
        gain, best = max((_gain(table, seat, hand, move), move.text) for move in takes)
        if gain > 0:
            return best
    discards = [move for move in moves if move.verb == "discard"]
    if len(discards) == len(moves):
        return min(discards, key=lambda move: _loss(table, hand, move)).text
    return max(moves, key=lambda move: _wish(table, move)).text


def _wish(table: Table, move: Move) -> tuple[int, int, str]:
    return ORDER.get(move.verb, 0), sum(table.rules.values[card] for card in move.cards), move.text


def _gain(table: Table, seat: Seat, hand: Sequence[Card], take: Move) -> int:
    """The points that a take brings to the table more, less those of the taken cards that stay in hand."""
    taken = table.pile_cards[table.pile_cards.index(take.card) :]
    laid, down = _laid([*hand, *taken], table)
    before, _ = _laid(hand, table)
    kept = sum(table.rules.values[card] for card in taken if card not in down)
    return laid - before - kept


def _laid(cards: Sequence[Card], table: Table) -> tuple[int, set[Card]]:
    """What the dearest melds in these cards and single lay-offs count, and the cards that go down."""
    rules = table.rules
    found = [parse(text) for text in book("meld", rules.melds).melds(sum(BITS[card] for card in cards))]
    worths = sorted((-meld_worth(rules, recognise(move.parts[0], rules.melds)), move.text) for move in found)
    points = 0
    down: set[Card] = set()
    for worth, text in worths:
        meld = parse(text).cards
        if down.isdisjoint(meld):
            down.update(meld)
            points -= worth
    for card in cards:
        if card not in down and card < FIRST_JOKER and table.fit_mask >> card % PACK & 1:
            down.add(card)
            points += rules.values[card]
    return points, down


def _loss(table: Table, hand: Sequence[Card], discard: Move) -> tuple[bool, bool, bool, int, str]:
    """What throwing a card costs, in this order: a joker, a gift, a companion, its points (dear ones go first)."""
    card = discard.card
    joker = card >= FIRST_JOKER
    gift = not joker and bool(table.fit_mask >> card % PACK & 1)
    useful = any(_companions(card, other) for other in hand if other != card and other < FIRST_JOKER)
    return joker, gift, useful, -table.rules.values[card], discard.text


def _companions(card: Card, other: Card) -> bool:
    """Whether the two could be part of one meld: of one rank, or close in one suit."""
    if card >= FIRST_JOKER:
        return False
    kind, mate = card % PACK, other % PACK
    if GROUP_MATES[kind] >> mate & 1:
        return True
    return kind // 13 == mate // 13 and 0 < abs(kind - mate) <= NEIGHBOURS
