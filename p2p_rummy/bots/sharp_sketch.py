"""A hand of rum in outline, fast enough to be played to its end some thousand times a second.

A :class:`Sketch` is one possible hand with all its cards known: what each seat holds, the pile, the stock in order, and what
the table takes.  Melds on the table shrink to two sets, the positions that lie in runs and the cards that groups
still lack; nobody asks any more who laid what, only how many points each seat has there.  :meth:`Sketch.play` plays
on by a fixed policy, the same for all seats, in which every seat looks at its own cards and the public ones only.

The policy is :class:`Habits`, a dozen numbers found by playing sketches against each other; the value that it gives
a hand, :meth:`Sketch.worth`, also judges hands that are not played to the end.

Left out, because it hardly changes which move is better: calls (in a sketch the next seat takes what could be
called), the dealer's joker, runs round the corner, melds out of turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from p2p_rummy.bots.sharp_lanes import ACES, JOKER, KINDS, SPAN, SUITS, Lanes, ends, fold
from p2p_rummy.games.rum_rules import RumRules

FULL: Final = KINDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """How the policy weighs what it sees.  Points of the score where nothing else is said."""

    unknown: float = 9.7
    """What a card from the stock is worth."""
    burden: float = 0.0
    """What a take saves by the discard that follows it, more than a draw does."""
    threat: float = 0.4
    """How much of what the pile melds by itself counts against leaving it there."""
    catch: float = 0.11
    """How much of the cost of cards without a future is counted."""
    one_out: float = 0.07
    """How much of a card's points is counted if one card would meld it."""
    more_outs: float = 0.45
    """The same if several would."""
    gift: float = 0.7
    """What a card that fits on the table costs its discarder, by its points."""
    near: float = 0.4
    """The same for any other card."""
    way: float = 0.09
    """And more for each of up to three ways in which cards that are not in this hand would meld it."""
    hurry: float = 0.15
    """How much ``catch`` grows with each card less than five in the shortest of the other hands."""
    joker: float = 12.0
    """What a joker in hand is worth."""


class Sketch:
    """See the module.  Seats are numbers as at the table; ``ring`` says who plays, clockwise."""

    __slots__ = (
        "doubled", "habits", "hands", "jokers", "laid", "lanes", "out", "pile", "ring", "rules", "runs",
        "short", "shut", "stock",
    )  # fmt: skip

    def __init__(self, rules: RumRules, lanes: Lanes, habits: Habits) -> None:
        seats = rules.seats
        self.rules = rules
        self.lanes = lanes
        self.habits = habits
        self.ring: tuple[int, ...] = ()
        self.hands = [0] * seats
        """Kinds held, once or twice."""
        self.doubled = [0] * seats
        """Kinds held twice."""
        self.jokers = [0] * seats
        self.laid = [0] * seats
        """Points on the table."""
        self.shut = 0
        """Sides (bits) that have not opened (R163)."""
        self.runs = 0
        """Positions that lie in runs."""
        self.short = 0
        """Cards that groups of three lack."""
        self.pile: list[int] = []
        self.stock: list[int] = []
        """Next card last."""
        self.out = -1
        """Who went out."""

    def copy(self) -> Sketch:
        other = object.__new__(Sketch)
        other.rules, other.lanes, other.habits, other.ring = self.rules, self.lanes, self.habits, self.ring
        other.hands, other.doubled, other.jokers = self.hands[:], self.doubled[:], self.jokers[:]
        other.laid, other.shut, other.runs, other.short = self.laid[:], self.shut, self.runs, self.short
        other.pile, other.stock, other.out = self.pile[:], self.stock[:], self.out
        return other

    # --- cards ------------------------------------------------------------------------------------------

    def give(self, seat: int, card: int) -> None:
        if card == JOKER:
            self.jokers[seat] += 1
        elif self.hands[seat] & card:
            self.doubled[seat] |= card
        else:
            self.hands[seat] |= card

    def drop(self, seat: int, cards: int) -> None:
        """These natural cards, one of each, leave the hand."""
        twice = self.doubled[seat] & cards
        self.doubled[seat] ^= twice
        self.hands[seat] &= ~(cards ^ twice)

    def count(self, seat: int) -> int:
        return self.hands[seat].bit_count() + self.doubled[seat].bit_count() + self.jokers[seat]

    def fits(self) -> int:
        """The cards that go on a meld on the table."""
        return ends(self.runs, self.lanes.high_ace) | self.short

    # --- what a hand is worth ----------------------------------------------------------------------------

    def worth(self, hand: int, doubled: int, jokers: int, seen: int, fits: int, catch: float) -> float:
        """What a hand may still bring its holder: points it can lay, hopes, less what will be caught.

        ``seen``: cards that are out of reach of a draw; ``fits``: what the table takes.
        """
        lanes = self.lanes
        habits = self.habits
        down, _, _ = lanes.melds(hand)
        down |= hand & fits
        rest = hand & ~down | doubled
        worth = float(lanes.points(down)) + jokers * habits.joker
        if rest:
            one, more = self.hopes(rest, seen)
            dead = rest & ~one
            worth += (
                habits.one_out * lanes.points(one & ~more)
                + habits.more_outs * lanes.points(more)
                - catch * lanes.cost(dead)
            )
        return worth

    def hopes(self, hand: int, seen: int) -> tuple[int, int]:
        """The cards of a hand that one card out of sight would meld, and those that several would."""
        unseen = FULL & ~seen & ~hand
        if self.lanes.high_ace:
            span = hand | (hand & ACES) << 13
            out = unseen | (unseen & ACES) << 13
        else:
            span = hand
            out = unseen
        pairs = span & span >> 1
        gaps = span & span >> 2 & out >> 1
        one = more = 0
        above = pairs & out >> 2
        if above:
            one = above | above << 1
        below = pairs & out << 1
        if below:
            below |= below << 1
            more = one & below
            one |= below
        if gaps:
            gaps |= gaps << 2
            more |= one & gaps
            one |= gaps
        one = one & KINDS | one >> 13 & ACES
        more = more & KINDS | more >> 13 & ACES
        # Groups: a rank held twice or more, with a card of it still out.
        s, h, d, c = hand & 0x1FFF, hand >> 16 & 0x1FFF, hand >> 32 & 0x1FFF, hand >> 48
        two = s & h | d & c | (s | h) & (d | c)
        if two:
            s, h, d, c = unseen & 0x1FFF, unseen >> 16 & 0x1FFF, unseen >> 32 & 0x1FFF, unseen >> 48
            some = two & (s | h | d | c)
            if some:
                many = two & (s & h | d & c | (s | h) & (d | c))
                held = hand & some * SUITS
                more |= one & held | hand & many * SUITS
                one |= held
        return one, more

    def catch(self, seat: int) -> float:
        fewest = min([self.count(other) for other in self.ring if other != seat], default=9)
        habits = self.habits
        return habits.catch + habits.hurry * max(0, 5 - fewest)

    def ways(self, unseen: int) -> tuple[int, int, int]:
        """The cards that one, two or three pairs among ``unseen`` cards would meld."""
        span = self.lanes.span(unseen)
        pairs = span & span >> 1
        middle = (span & span >> 2) << 1
        below = pairs >> 1
        above = pairs << 2
        one = middle | below | above
        two = middle & (below | above) | below & above
        three = middle & below & above
        one, two, three = fold(one & SPAN), fold(two & SPAN), fold(three & SPAN)
        s, h, d, c = unseen & 0x1FFF, unseen >> 16 & 0x1FFF, unseen >> 32 & 0x1FFF, unseen >> 48
        ranks = s & h | d & c | (s | h) & (d | c)
        if ranks:
            mates = ranks * SUITS
            three |= two & mates
            two |= one & mates
            one |= mates
        return one, two, three

    # --- one turn ----------------------------------------------------------------------------------------

    def play(self, seat: int, turns: int) -> int:
        """Play on from ``seat``'s draw, for at most so many turns.  Returns whose turn it is then."""
        ring = self.ring
        at = ring.index(seat)
        while turns > 0 and self.out < 0 and not self.spent():
            self.turn(ring[at])
            at = at + 1 if at + 1 < len(ring) else 0
            turns -= 1
        return ring[at]

    def spent(self) -> bool:
        return not self.stock

    def turn(self, seat: int) -> None:
        barred = self.draw(seat)
        self.lay(seat)
        self.finish(seat, barred)

    def finish(self, seat: int, barred: int) -> None:
        """The discard that ends the turn, or going out without one."""
        hand = self.hands[seat]
        if not hand and not self.jokers[seat]:
            if not self.rules.floats:
                self.out = seat
            return
        card = self.discard(seat, barred)
        if card < 0:
            return
        self.throw(seat, card)

    def throw(self, seat: int, card: int) -> None:
        if card == JOKER:
            self.jokers[seat] -= 1
        else:
            self.drop(seat, card)
        self.pile.append(card)
        if not self.hands[seat] and not self.jokers[seat]:
            self.out = seat

    def draw(self, seat: int) -> int:
        """The draw of the policy.  Returns the card that may not be discarded, -1 for none (R62)."""
        taken = self.choose_take(seat) if self.pile else 0
        if taken:
            return self.take(seat, taken)
        self.give(seat, self.stock.pop())
        return -1

    def take(self, seat: int, count: int) -> int:
        pile = self.pile
        cards = pile[-count:]
        del pile[-count:]
        for card in cards:
            self.give(seat, card)
        return cards[0] if count == 1 else -1

    def choose_take(self, seat: int) -> int:
        """How many cards of the pile the policy takes; 0 to draw."""
        lanes = self.lanes
        habits = self.habits
        rules = self.rules
        pile = self.pile
        hand, doubled, jokers = self.hands[seat], self.doubled[seat], self.jokers[seat]
        fits = self.fits() if self.open(seat) else 0
        catch = self.catch(seat)
        lying = 0
        for card in pile:
            lying |= card
        seen = self.table_cards()
        stay = self.worth(hand, doubled, jokers, seen | lying, fits, catch) + habits.unknown
        deep = rules.take_depth == "any"
        if deep and habits.threat:
            open_fits = self.fits()
            down = lying & open_fits | lanes.melds(lying)[0]
            stay -= habits.threat * lanes.points(down)
        best = stay
        chosen = 0
        reach = hand | lying
        usable = lanes.melds(reach)[0] | fits if not jokers and JOKER not in pile else KINDS
        got, twice, wild = hand, doubled, jokers
        for depth in range(1, (len(pile) if deep else 1) + 1):
            card = pile[-depth]
            if card == JOKER:
                wild += 1
            elif got & card:
                twice |= card
            else:
                got |= card
            if depth > 1 or rules.top_duty:
                if not card & usable and card != JOKER:
                    continue
                if not self.can_use(got, wild, card, fits, need_meld=rules.deepest_needs_meld(depth)):
                    continue
            left = lying
            worth = self.worth(got, twice, wild, seen | left, fits, catch) + habits.burden
            if deep and habits.threat:
                below = 0
                for other in pile[:-depth]:
                    below |= other
                if below:
                    down = below & open_fits | lanes.melds(below)[0]
                    worth -= habits.threat * lanes.points(down)
            if worth > best:
                best = worth
                chosen = depth
        return chosen

    def can_use(self, hand: int, jokers: int, card: int, fits: int, *, need_meld: bool) -> bool:
        """Whether the card taken could be put on the table (R23), roughly."""
        if card == JOKER:
            return bool(hand)
        if card & fits and not need_meld:
            return True
        if card & self.lanes.melds(hand)[0]:
            return True
        if not jokers or not self.lanes.wild:
            return False
        if jokers >= 2:
            return True
        # One joker: a neighbour, or another of its rank.
        span = self.lanes.span(hand)
        here = self.lanes.span(card)
        near = (here << 1 | here >> 1 | here << 2 | here >> 2) & SPAN
        if span & near:
            return True
        suit_less = card | card >> 16 | card >> 32 | card >> 48
        return (hand & (suit_less & 0x1FFF) * SUITS).bit_count() >= 2 if suit_less & 0x1FFF else False

    def open(self, seat: int) -> bool:
        return not self.shut >> self.rules.side_of[seat] & 1

    def table_cards(self) -> int:
        """The kinds that lie in melds, as far as the outline knows."""
        return fold(self.runs)

    def lay(self, seat: int) -> None:
        """Lay all that can be laid."""
        lanes = self.lanes
        hand = self.hands[seat]
        down, runs, group = lanes.melds(hand)
        if not self.open(seat):
            if lanes.points(down) + 15 * min(1, self.jokers[seat]) < self.rules.opening_minimum:
                return
            self.shut &= ~(1 << self.rules.side_of[seat])
        points = 0
        if down:
            points = lanes.points(down)
            self.runs |= runs
            if group:
                self.short |= _lacking(group)
            self.drop(seat, down)
            if runs & ACES:
                points -= lanes.low_ace_loss * (runs & ACES & ~(runs >> 13)).bit_count()
        if self.jokers[seat] and lanes.wild:
            points += self.lay_jokers(seat)
        fitting = self.fits() & self.hands[seat]
        while fitting:
            self.lay_off(fitting)
            points += lanes.points(fitting)
            self.drop(seat, fitting)
            fitting = self.fits() & self.hands[seat]
        self.laid[seat] += points

    def lay_off(self, cards: int) -> None:
        on_groups = cards & self.short
        self.short &= ~on_groups
        rest = cards & ~on_groups
        if rest:
            free = (self.runs << 1 | self.runs >> 1) & ~self.runs & SPAN
            self.runs |= (rest | (rest & ACES) << 13) & free

    def lay_jokers(self, seat: int) -> int:
        """Jokers go down with the dearest two cards that lack one, else on the table."""
        lanes = self.lanes
        points = 0
        while self.jokers[seat]:
            hand = self.hands[seat]
            best = 0
            run = 0
            gain = -1
            span = lanes.span(hand)
            pairs = span & span >> 1
            gaps = span & span >> 2
            while pairs:
                low = pairs & -pairs
                pairs ^= low
                two = low | low << 1
                worth = lanes.points(fold(two))
                if worth > gain:
                    gain, best = worth, fold(two)
                    third = low << 2 & SPAN or low >> 1
                    run = two | third
            while gaps:
                low = gaps & -gaps
                gaps ^= low
                two = low | low << 2
                worth = lanes.points(fold(two))
                if worth > gain:
                    gain, best, run = worth, fold(two), two | low << 1
            s, h, d, c = hand & 0x1FFF, hand >> 16 & 0x1FFF, hand >> 32 & 0x1FFF, hand >> 48
            ranks = s & h | d & c | (s | h) & (d | c)
            while ranks:
                low = ranks & -ranks
                ranks ^= low
                two = hand & low * SUITS
                worth = lanes.points(two)
                if worth > gain:
                    gain, best, run = worth, two, 0
            if best:
                self.jokers[seat] -= 1
                self.drop(seat, best)
                if run:
                    self.runs |= run
                else:
                    rank = (best | best >> 16 | best >> 32 | best >> 48) & 0x1FFF
                    self.short |= rank * SUITS & ~best
                points += gain + lanes.joker
                continue
            if not self.open(seat):
                return points
            if self.runs:
                free = (self.runs << 1 | self.runs >> 1) & ~self.runs & (SPAN if lanes.high_ace else KINDS)
                if free:
                    self.runs |= free & -free
                    self.jokers[seat] -= 1
                    points += lanes.joker
                    continue
            if self.short:
                self.short &= self.short - 1
                self.jokers[seat] -= 1
                points += lanes.joker
                continue
            return points
        return points

    def discard(self, seat: int, barred: int) -> int:
        """The card that the policy throws; -1 if only the barred one is left."""
        best = -1
        most = -1e9
        for good, card in self.rated_discards(seat, barred):
            if good > most:
                most = good
                best = card
        if best < 0:
            return JOKER if (self.jokers[seat] and barred != JOKER) or self.jokers[seat] > 1 else -1
        return best

    def order_of_discards(self, seat: int, barred: int) -> list[int]:
        """The natural cards that may be thrown, best first, then a joker if there is one."""
        rated = sorted(self.rated_discards(seat, barred), reverse=True)
        cards = [card for _, card in rated]
        return [*cards, JOKER] if self.jokers[seat] else cards

    def rated_discards(self, seat: int, barred: int) -> list[tuple[float, int]]:
        lanes = self.lanes
        habits = self.habits
        hand = self.hands[seat]
        if not hand:
            return []
        lying = 0
        for card in self.pile:
            lying |= card
        fits = self.fits()
        seen = self.table_cards()
        one, more = self.hopes(hand, seen | lying)
        first, second, third = self.ways(FULL & ~hand & ~seen)
        catch = self.catch(seat)
        way = habits.way
        value = lanes.value_of
        cost = lanes.cost_of
        rated = []
        rest = hand
        while rest:
            card = rest & -rest
            rest ^= card
            if card == barred:
                continue
            points = value[card]
            if card & self.doubled[seat]:
                good = cost[card] * catch
            elif card & more:
                good = -habits.more_outs * points
            elif card & one:
                good = -habits.one_out * points
            else:
                good = catch * cost[card]
            if card & fits:
                good -= points * habits.gift
            else:
                ways = 0 if not card & first else 1 if not card & second else 2 if not card & third else 3
                good -= points * (habits.near + way * ways)
            rated.append((good, card))
        return rated

    def hand_worth(self, seat: int) -> float:
        """:meth:`worth` of a seat's cards as they are."""
        seen = self.table_cards()
        for card in self.pile:
            seen |= card
        fits = self.fits() if self.open(seat) else 0
        return self.worth(
            self.hands[seat], self.doubled[seat], self.jokers[seat], seen, fits, self.catch(seat)
        )

    def prospects(self, mover: int) -> list[float]:
        """What each seat will yet score in this hand, less what it will pay, if ``mover`` is to draw now.

        The weights are a linear regression of the outcome of sketches on these features.
        """
        lanes = self.lanes
        lying = 0
        for card in self.pile:
            lying |= card
        seen = self.table_cards() | lying
        table_fits = self.fits()
        worths = [0.0] * len(self.hands)
        at = self.ring.index(mover)
        share = 0.83
        counts = [self.count(seat) for seat in range(len(self.hands))]
        for seat in self.ring[at:] + self.ring[:at]:
            hand = self.hands[seat]
            fits = table_fits if self.open(seat) else 0
            down = lanes.melds(hand)[0] | hand & fits
            rest = hand & ~down | self.doubled[seat]
            one, more = self.hopes(rest, seen)
            fewest = min([counts[other] for other in self.ring if other != seat], default=9)
            late = max(0, 6 - fewest) / 6
            ready = lanes.points(down)
            worth = (
                1.0 * ready
                + (-0.08 - 0.4 * late) * lanes.points(one & ~more)
                + (0.05 - 0.34 * late) * lanes.points(more)
                + (-0.55 - 0.12 * late) * lanes.cost(rest & ~one)
                + (-18.0 + 0.8 * late) * self.jokers[seat]
                + (3.3 - 3.5 * late) * counts[seat]
            )
            if lying:
                reach = lanes.points(lanes.melds(hand | lying)[0] | lying & fits) - ready
                if reach > 0:
                    worth += share * reach
            share *= 0.55
            worths[seat] = worth
        worths[mover] += 4.5
        return worths

    # --- the end ------------------------------------------------------------------------------------------

    def caught(self, seat: int) -> int:
        """What the seat's cards cost it if the hand ends now."""
        lanes = self.lanes
        return lanes.cost(self.hands[seat]) + lanes.cost(self.doubled[seat]) + self.jokers[seat] * lanes.joker


def _lacking(group: int) -> int:
    """The card that each group of three in this set lacks."""
    ranks = (group | group >> 16 | group >> 32 | group >> 48) & 0x1FFF
    return ranks * SUITS & ~group
