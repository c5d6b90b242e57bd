"""What a rum hand could lay on the table at once, and what it is then worth.

:meth:`Planner.best` looks for the most valuable set of new melds and lay-offs that do not share a card.  It is a bounded
search, so it may miss the very best with many jokers; it never proposes what the rules forbid, because every meld
comes out of the book of melds that the engine's own list of moves comes from.

:meth:`Outlook.worth` adds what the other cards may still become.  Its unit is a point of the score: cards that go on the
table count for it, cards that will be caught in hand against it, weighed by how likely each of the two is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from p2p_rummy.cards import FIRST_JOKER, PACK
from p2p_rummy.games.rum_book import BITS, book
from p2p_rummy.games.rum_duty import GROUP_MATES, ways_on, windows
from p2p_rummy.games.rum_lay import meld_worth
from p2p_rummy.games.rum_rules import DEALERS_JOKER, RumRules
from p2p_rummy.games.rum_table import Table
from p2p_rummy.melds import JOKER_RANK, Meld, joker_claims, recognise
from p2p_rummy.notation import parse
from protocol.game import Card, Seat

EFFORT = 400
"""Partial plans looked at."""
CATCH = 0.6
"""How much of a card without a future is counted as lost: the hand may still go on for a while."""


@dataclass(frozen=True, slots=True)
class NewMeld:
    """A meld that a hand could make."""

    text: str
    cards: frozenset[Card]
    worth: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What is laid, in the order of value, and what stays."""

    melds: tuple[NewMeld, ...]
    layoffs: tuple[Card, ...]
    rest: tuple[Card, ...]
    worth: int
    """What the laid cards count on the table."""


class Planner:
    """Plans for the hands of one table; it remembers what melds are worth there."""

    def __init__(self, rules: RumRules) -> None:
        self.rules = rules
        self._melds: dict[str, NewMeld] = {}

    def new_melds(self, cards: Iterable[Card]) -> list[NewMeld]:
        """Every new meld in ``cards``, the most valuable first."""
        bits = sum(BITS[card] for card in cards)
        found = [self._meld(text) for text in book("meld", self.rules.melds).melds(bits)]
        return sorted(found, key=lambda meld: (-meld.worth, meld.text))

    def _meld(self, text: str) -> NewMeld:
        meld = self._melds.get(text)
        if meld is None:
            move = parse(text)
            worth = meld_worth(self.rules, recognise(move.parts[0], self.rules.melds))
            meld = self._melds[text] = NewMeld(text, frozenset(move.cards), worth)
        return meld

    def best(self, table: Table, seat: Seat, cards: Sequence[Card]) -> Plan:
        """The most valuable laying of ``cards`` that the bounded search finds."""
        rules = self.rules
        chosen = _choose(rules, self.new_melds(cards), cards)
        if not table.may_lay_off(seat) and sum(meld.worth for meld in chosen) < rules.opening_minimum:
            return Plan((), (), tuple(cards), 0)
        used = {card for meld in chosen for card in meld.cards}
        left = [card for card in cards if card not in used]
        layoffs = _layoffs(table, left)
        rest = tuple(card for card in left if card not in layoffs)
        worth = sum(meld.worth for meld in chosen) + sum(rules.values[card] for card in layoffs)
        return Plan(chosen, layoffs, rest, worth)


def _choose(rules: RumRules, melds: list[NewMeld], cards: Sequence[Card]) -> tuple[NewMeld, ...]:
    best: tuple[NewMeld, ...] = ()
    # What stays in hand counts against the seat, so equal melds with more cards are better ones: + 1 a card.
    best_gain = 0
    effort = EFFORT
    ceiling = sum(rules.values[card] + 1 for card in cards)

    def extend(start: int, used: frozenset[Card], gain: int, spent: int, chosen: tuple[NewMeld, ...]) -> None:
        nonlocal best, best_gain, effort
        if gain > best_gain:
            best, best_gain = chosen, gain
        for index in range(start, len(melds)):
            if effort <= 0 or gain + ceiling - spent <= best_gain:
                return
            meld = melds[index]
            if used.isdisjoint(meld.cards):
                effort -= 1
                cost = sum(rules.values[card] + 1 for card in meld.cards)
                more = meld.worth + len(meld.cards)
                extend(index + 1, used | meld.cards, gain + more, spent + cost, (*chosen, meld))

    extend(0, frozenset(), 0, 0, ())
    return best


def _layoffs(table: Table, cards: Sequence[Card]) -> tuple[Card, ...]:
    """The cards that go on melds that lie there, one after the other on runs."""
    kinds: dict[int, list[Card]] = {}
    jokers = []
    for card in cards:
        if card < FIRST_JOKER:
            kinds.setdefault(card % PACK, []).append(card)
        else:
            jokers.append(card)
    found: list[Card] = []
    if any(table.fit_mask >> kind & 1 for kind in kinds):
        for meld in table.melds.values():
            for way in _ways(table, meld):
                for kind in way:
                    if not kinds.get(kind):
                        break
                    found.append(kinds[kind].pop())
    for joker in jokers:
        if any(_takes_joker(meld, table) for meld in table.melds.values()):
            found.append(joker)
    return tuple(found)


def _ways(table: Table, meld: Meld) -> Iterable[Sequence[int]]:
    if meld.sealed or meld.rank == JOKER_RANK:
        return ()
    if meld.kind == "run":
        return ways_on(meld, table.rules.melds)
    return [(kind,) for kind, ids in table.fits.items() if meld.id in ids][: 4 - len(meld.cards)]


def _takes_joker(meld: Meld, table: Table) -> bool:
    if not table.rules.melds.wild:
        return meld.rank == JOKER_RANK and len(meld.cards) < 4
    return bool(joker_claims(meld, table.rules.melds))


class Outlook:
    """One decision of one seat: the cards it cannot see, and how long the hand may still go on."""

    def __init__(self, planner: Planner, table: Table, seat: Seat, hand: Collection[Card]) -> None:
        self.planner = planner
        self.table = table
        self.seat = seat
        self.rules = table.rules
        self.takes_all = table.rules.scoring == "winner_takes_hands"
        seen = {*hand, *table.pile_cards, *(table.face[slot] for slot in table.dead)}
        for meld in table.melds.values():
            seen.update(meld.cards)
        for other in table.ring:
            seen.update(table.known[other])
        self.unseen = [0] * PACK
        """How many cards of each kind are out of sight."""
        count = 0
        for card in table.rules.cards:
            if card not in seen and not (card == DEALERS_JOKER and table.rules.dealers_joker):
                count += 1
                if card < FIRST_JOKER:
                    self.unseen[card % PACK] += 1
        self.jokers_unseen = count - sum(self.unseen)
        rivals = [len(table.hands[other]) for other in table.ring if other != seat]
        self.fewest = min(rivals, default=7)
        turns = min(len(table.stock) / max(1, len(table.ring)), 2 + 1.2 * self.fewest, 8)
        # A card comes by with each draw, and on the pile with each discard.
        self.chance = 1 - 1.6 * turns / max(count, 1) if count else 1.0
        self.chance = max(0.05, self.chance)
        self.danger = min(1.0, CATCH + 0.4 * (turns < 2) + 0.1 * max(0, 4 - self.fewest))

    def caught(self, card: Card) -> int:
        """What the card costs if it is in hand at the end (R82)."""
        if card < FIRST_JOKER and card % PACK % 13 == 0:
            return self.rules.hand_ace
        return self.rules.values[card]

    def plan(self, cards: Sequence[Card]) -> Plan:
        return self.planner.best(self.table, self.seat, cards)

    def worth(self, cards: Sequence[Card]) -> float:
        """What this hand is worth to its seat now."""
        plan = self.plan(cards)
        laid = 0.0 if self.takes_all else float(plan.worth)
        return laid + self.worth_of_rest(plan.rest)

    def worth_of_rest(self, rest: Sequence[Card]) -> float:
        naturals = 0
        for card in rest:
            if card < FIRST_JOKER:
                naturals |= 1 << card % PACK
        return sum(self.future(card, naturals) for card in rest)

    def future(self, card: Card, naturals: int) -> float:
        """What one card that cannot be laid now is worth: its points if it may yet be, less them if not."""
        points = self.caught(card)
        if card >= FIRST_JOKER:
            hope = 0.9 if self.rules.melds.wild else 0.1
        else:
            hope = 1 - self.chance ** self.outs(card % PACK, naturals)
        gain = 0.0 if self.takes_all else points * hope
        return gain - points * (1 - hope) * self.danger

    def outs(self, kind: int, naturals: int) -> int:
        """How many unseen cards would make a meld of this card and others of the hand."""
        mates = GROUP_MATES[kind] & naturals
        wanted = 0
        if mates.bit_count() >= 2:
            return 12  # kept back for now: as good as laid
        if mates:
            wanted = GROUP_MATES[kind] & ~naturals
        need_jokers = bool(mates)
        for places in windows(self.rules.melds)[kind]:
            missing = places & ~naturals
            count = missing.bit_count()
            if count == 0:
                return 12
            if count == 1:
                wanted |= missing
                need_jokers = True
        # A joker that comes serves one of several hopes.
        outs = self.jokers_unseen // 2 if need_jokers and self.rules.melds.wild else 0
        while wanted:
            low = wanted & -wanted
            outs += self.unseen[low.bit_length() - 1]
            wanted -= low
        fitting = self.table.fit_mask >> kind & 1
        return outs + 3 * fitting
