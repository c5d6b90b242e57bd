"""``steady``: a sensible player of every rum game under every option.

* Draw: it takes from the pile what its hand becomes better by than an unknown card would make it.
* Play: it lays the most valuable melds it can find, then lays off; with its last cards it goes out, unless its
  partner would be caught with more than the other side.
* Discard: it throws what its hand misses least and what helps the others least.
* Windows: it calls whatever is worth more than the cards that come along.

How good a hand is, is the business of :mod:`p2p_rummy.bots.rum_plan`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from p2p_rummy.bots.base import Stopped, legal_moves, never
from p2p_rummy.bots.rum_plan import Outlook, Planner
from p2p_rummy.cards import FIRST_JOKER, PACK
from p2p_rummy.games.rum import RumGame
from p2p_rummy.games.rum_book import BITS, book
from p2p_rummy.games.rum_duty import GROUP_MATES, windows
from p2p_rummy.games.rum_table import Table
from p2p_rummy.notation import Move, parse
from protocol.game import Card, Faces, Game, Seat

UNKNOWN_CARD = 3.0
"""Points by which a card from the stock makes a hand better on average."""
THREAT = 0.5
"""How much of what the pile melds by itself counts against leaving it there."""
MOST_TAKES = 2
"""Takes from the pile, since a card was laid, that led to nothing."""
WORTH_A_CALL = 1.0


class RumBot:
    """One player of the rum family; ``seed`` settles what is equally good."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._planner: Planner | None = None
        self._since = (0, 0)
        """The hand, and how often this seat had laid in it, when it began to count its takes."""
        self._takes = 0

    def choose(self, game: Game, seat: Seat, faces: Faces, *, stopped: Stopped = never) -> str:
        assert isinstance(game, RumGame)
        legal = legal_moves(game, seat, faces)
        if len(legal) == 1:
            return legal[0]
        table = game.table
        hand = [table.face[slot] if table.face[slot] >= 0 else faces[slot] for slot in table.hands[seat]]
        if self._planner is None or self._planner.rules is not table.rules:
            self._planner = Planner(table.rules)
        outlook = Outlook(self._planner, table, seat, hand)
        moves = [parse(text) for text in legal]
        match table.phase:
            case "draw":
                return self._draw(outlook, hand, moves)
            case "call":
                return self._answer(outlook, hand, moves)
            case "deal":
                return "name wild"
            case _:
                return self._play(outlook, hand, moves)

    def _best(self, moves: Sequence[Move], value: Callable[[Move], float]) -> tuple[Move, float]:
        """The move of the highest value, any of those that are equal."""
        rated = [(value(move), move) for move in moves]
        top = max(rate for rate, _ in rated)
        return self._rng.choice([move for rate, move in rated if rate == top]), top

    # --- the draw ---------------------------------------------------------------------------------------

    def _draw(self, outlook: Outlook, hand: Sequence[Card], moves: Sequence[Move]) -> str:
        takes = [move for move in moves if move.verb in ("take", "split")]
        other = next(move.text for move in moves if move.verb in ("draw", "pass"))
        if not takes:
            return other
        pile = outlook.table.pile_cards

        def gain(move: Move) -> float:
            taken = pile[pile.index(move.card) :]
            return outlook.worth(_kept(outlook, [*hand, *taken], taken))

        take, worth = self._best(takes, gain)
        stay = outlook.worth(_kept(outlook, hand, ())) + (UNKNOWN_CARD if other == "draw" else 0)
        if outlook.rules.take_depth != "top":
            # What lies there and melds by itself is the next seat's if it is left.
            left = pile[: pile.index(take.card)]
            stay -= THREAT * (outlook.plan(pile).worth - outlook.plan(left).worth)
        if worth <= stay:
            return other
        taken = pile[pile.index(take.card) :]
        fruitless = len(outlook.plan([*hand, *taken]).rest) >= len(hand) + len(taken)
        return other if fruitless and other == "draw" and self._goes_in_circles(outlook) else take.text

    def _goes_in_circles(self, outlook: Outlook) -> bool:
        """Whether it keeps taking cards that it cannot lay: players like it would pass the same cards on for ever."""
        table = outlook.table
        since = (table.hand, table.lays[outlook.seat])
        if since != self._since:
            self._since = since
            self._takes = 0
        self._takes += 1
        return self._takes > MOST_TAKES

    # --- the play ---------------------------------------------------------------------------------------

    def _play(self, outlook: Outlook, hand: Sequence[Card], moves: Sequence[Move]) -> str:
        laying = [move for move in moves if move.verb in ("meld", "lay")]
        discards = [move for move in moves if move.verb == "discard"]
        if laying:
            move = self._laying(outlook, hand, laying, must=not discards)
            if move is not None:
                return move.text
        if not discards:
            return moves[0].text
        return self._best(discards, lambda move: discard_value(outlook, hand, move.card))[0].text

    def _laying(
        self, outlook: Outlook, hand: Sequence[Card], laying: Sequence[Move], *, must: bool
    ) -> Move | None:
        """The next of the cards to lay; None to keep what is left."""
        table = outlook.table
        plan = outlook.plan(hand)
        texts = {move.text: move for move in laying}
        if len(plan.rest) <= 1 and not must and not self._should_go_out(table, outlook.seat):
            laying = [move for move in laying if len(hand) - len(move.cards) > 1]
            texts = {move.text: move for move in laying}
        wanted = [texts[meld.text] for meld in plan.melds if meld.text in texts]
        if table.must_use >= 0:
            wanted = [move for move in wanted if table.must_use in move.cards] or wanted
        if wanted:
            return wanted[0]
        if not laying:
            return None

        def value(move: Move) -> float:
            rest = [card for card in hand if card not in move.cards]
            laid = 0 if outlook.takes_all else sum(table.rules.values[card] for card in move.cards)
            duty = 50 if table.must_use in move.cards else 0
            return laid + duty + outlook.worth(rest)

        move, worth = self._best(laying, value)
        return move if must or worth >= outlook.worth(hand) or table.must_use >= 0 else None

    def _should_go_out(self, table: Table, seat: Seat) -> bool:
        """Whether ending the hand costs the others more than one's own side."""
        rules = table.rules
        if not rules.partnership:
            return True
        partner = (seat + 2) % 4
        others = [len(table.hands[other]) for other in table.ring if other not in (seat, partner)]
        return len(table.hands[partner]) <= sum(others) / max(1, len(others)) + 3

    # --- windows ----------------------------------------------------------------------------------------

    def _answer(self, outlook: Outlook, hand: Sequence[Card], moves: Sequence[Move]) -> str:
        calls = [move for move in moves if move.verb == "rummy"]
        if calls:
            move, worth = self._best(calls, lambda move: self._gain_of_call(outlook, hand, move))
            if worth > WORTH_A_CALL:
                return move.text
        laying = [move for move in moves if move.verb in ("meld", "lay")]  # R210
        chosen = self._laying(outlook, hand, laying, must=False) if laying else None
        return chosen.text if chosen else "pass"

    def _gain_of_call(self, outlook: Outlook, hand: Sequence[Card], call: Move) -> float:
        table = outlook.table
        laid = 0.0 if outlook.takes_all else float(sum(table.rules.values[card] for card in call.cards))
        if table.rules.calling == "latest_only" or table.rules.challenge:
            return laid
        deepest = min(table.pile_cards.index(card) for card in call.cards)
        taken = [card for card in table.pile_cards[deepest:] if card not in call.cards]
        return laid + outlook.worth(_kept(outlook, [*hand, *taken], ())) - outlook.worth(hand)


def _kept(outlook: Outlook, cards: Sequence[Card], taken: Sequence[Card]) -> Sequence[Card]:
    """The cards without the one that would be discarded: the dearest of those that are of no use."""
    plan = outlook.plan(cards)
    free = [card for card in plan.rest if not (len(taken) == 1 and card == taken[0])]
    if not free:
        return cards
    naturals = sum(1 << kind for kind in {card % PACK for card in plan.rest if card < FIRST_JOKER})
    worst = min(free, key=lambda card: outlook.future(card, naturals))
    return [card for card in cards if card != worst]


def discard_value(outlook: Outlook, hand: Sequence[Card], card: Card) -> float:
    """How good it is to throw this card: what the hand is worth without it, less what it gives the others."""
    rest = [other for other in hand if other != card]
    return outlook.worth(rest) - gift(outlook, card)


def gift(outlook: Outlook, card: Card) -> float:
    """What the others gain by this card on the pile, roughly."""
    table = outlook.table
    rules = table.rules
    points = rules.values[card]
    if card >= FIRST_JOKER:
        return 2.0 * points
    kind = card % PACK
    if table.fit_mask >> kind & 1:
        return points + 2.0  # the next seat lays it off, or somebody calls it
    if rules.take_depth == "any" and _pile_melds_with(table, card):
        return points + 5.0
    known = 0
    for other in table.ring:
        if other != outlook.seat and rules.side_of[other] != rules.side_of[outlook.seat]:
            for held in table.known[other]:
                if held < FIRST_JOKER:
                    known |= 1 << held % PACK
    near = (GROUP_MATES[kind] & known).bit_count() >= 2 or any(
        not places & ~known for places in windows(rules.melds)[kind]
    )
    return points + 3.0 if near else 0.15 * points


def _pile_melds_with(table: Table, card: Card) -> bool:
    """Whether the pile alone, with this card on it, holds a new meld of it: somebody calls it, or digs for it."""
    bits = table.pile_bits + BITS[card]
    return any(card in parse(text).cards for text in book("rummy", table.rules.melds).melds(bits))
