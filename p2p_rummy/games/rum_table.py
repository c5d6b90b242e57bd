"""The public state of one rum table and the few ways in which it changes.

Everything here is known to everybody.  A hand is a list of slots; ``face[slot]`` is the card once it is open
to all, -1 before.  Cards taken from the pile stay open in the taker's hand (``known``).  The order of play,
what is allowed and what it is worth are other modules; this one only moves cards and keeps the indexes:

* ``fits`` and ``fit_mask``: which natural kinds some meld on the table takes now (R55);
* ``pile_bits``: the pile as a set (:data:`p2p_rummy.games.rum_book.BITS`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from p2p_rummy.games.rum_book import BITS, book
from p2p_rummy.games.rum_duty import run_ends, windows
from p2p_rummy.games.rum_rules import DEALERS_JOKER, RumRules
from p2p_rummy.melds import Meld, Shape, open_kinds
from protocol.game import Card, Seat, Slot

# Stages of a hand, in the order in which they come; the machine is p2p_rummy.games.rum.
DEALER_SHUFFLE: Final = 0
DEALER_DRAW: Final = 1
SHUFFLE: Final = 2
NAME: Final = 3
DEAL: Final = 4
FIRST_DISCARD: Final = 5
DRAW: Final = 6
RESHUFFLE: Final = 7
FETCH: Final = 8
PLAY: Final = 9
WINDOW: Final = 10
CHALLENGE: Final = 11
SHOW: Final = 12
OVER: Final = 13

STAGES: Final = (
    "dealer_shuffle",
    "dealer_draw",
    "shuffle",
    "name",
    "deal",
    "first_discard",
    "draw",
    "reshuffle",
    "fetch",
    "play",
    "window",
    "challenge",
    "show",
    "over",
)
PHASES: Final = (
    "deal",
    "deal",
    "deal",
    "deal",
    "deal",
    "play",
    "draw",
    "play",
    "play",
    "play",
    "call",
    "call",
    "over",
    "over",
)
"""R8, by stage.  Between two hands the stage is SHUFFLE and the phase ``over`` (:attr:`Table.between`)."""

UNKNOWN: Final = -1
NOBODY: Final = -1


class Table:
    """See the module.  Fields of a hand are set anew by :meth:`begin_hand`."""

    def __init__(self, rules: RumRules) -> None:
        self.rules = rules
        self.meld_book = book("meld", rules.melds)
        self.call_book = book("rummy", rules.melds)
        self.windows = windows(rules.melds)
        """Kind -> for each shortest new run that holds it, the other kinds in it."""
        seats = rules.seats
        # --- the game ---
        self.hand = 1
        """The hand that lies on the table, or lay there last."""
        self.played = 0
        """Hands that were scored; a void one is not."""
        self.stage = SHUFFLE
        self.between = False
        """The last hand still lies on the table; the next one has not begun."""
        self.dealer: Seat = NOBODY
        self.totals = [0] * seats
        """By side."""
        self.opened_game = 0
        """Sides (bits) that opened in an earlier hand (R163)."""
        self.away: set[Seat] = set()
        """Seats that have left and not come back."""
        self.sheet: list[dict[str, Any]] = []
        self.winners: tuple[Seat, ...] = ()
        self.dealer_draws: list[tuple[Seat, Card]] = []
        """R10: what was drawn for the first deal."""
        self.contenders: list[Seat] = []
        # --- the hand ---
        self.turn: Seat = NOBODY
        self.begin_hand((), 0)

    def begin_hand(self, ring: Sequence[Seat], slots: int) -> None:
        """An empty table for these seats (clockwise) and so many hidden cards."""
        seats = self.rules.seats
        self.between = False
        self.ring = list(ring)
        self.stand_ins: set[Seat] = set()
        self.face: list[Card] = [UNKNOWN] * slots
        self.hands: list[list[Slot]] = [[] for _ in range(seats)]
        self.known: list[dict[Card, Slot]] = [{} for _ in range(seats)]
        self.stock: list[Slot] = []
        """Next card last."""
        self.pile: list[Slot] = []
        """Bottom to top, with its cards beside it."""
        self.pile_cards: list[Card] = []
        self.pile_bits = 0
        self.dead: list[Slot] = []
        """Out of play for the hand, faces known (R180, R182)."""
        self.melds: dict[int, Meld] = {}
        self.next_meld = 1
        self.fits: dict[int, list[int]] = {}
        self.fit_mask = 0
        self._open: dict[int, tuple[int, ...]] = {}
        """Meld -> what fits it, as it stands in ``fits``."""
        self._runs: list[list[tuple[int, int]]] | None = None
        self.opened_hand = 0
        self.lays = [0] * seats
        """Melds and lay-offs of each seat in this hand."""
        self.long_run = [False] * seats
        """R166: the seat's first meld was one of exactly seven run cards."""
        self.idle = 0
        """R75: turns without a stock since a card was last put on the table."""
        self.declined = 0
        """R164: seats that have declined the pile one after another."""
        self.recycled = 0
        """R149: how often the pile became the stock since a card was last put on the table."""
        self.effect = ""
        self.joker_used = False
        self.joker_blocked = False
        self.out_seat: Seat = NOBODY
        """Who went out (R70)."""
        self.out_by_discard = False
        self.went_rummy = False
        """R147: the whole hand at one go."""
        self.exhausted = False
        self.asked: tuple[Seat, ...] = ()
        """The seats that answer the open window, clockwise (R100)."""
        self.answers: dict[Seat, str] = {}
        """The open window: what each seat has answered."""
        self.turned_up: Slot = UNKNOWN
        """The slot that begins the pile, while the deal is under way (R13)."""
        self.reseat()
        self.begin_turn(NOBODY)

    def copy(self) -> Table:
        """An independent table in the same state, for search; the rules are shared."""
        other = object.__new__(Table)
        fields = other.__dict__
        for name, value in self.__dict__.items():
            kind = type(value)
            fields[name] = kind(value) if kind is list or kind is dict or kind is set else value
        other.hands = [list(hand) for hand in self.hands]
        other.known = [dict(cards) for cards in self.known]
        other.melds = {number: meld.copy() for number, meld in self.melds.items()}
        other.fits = {kind: list(ids) for kind, ids in self.fits.items()}
        return other

    def begin_turn(self, seat: Seat) -> None:
        self.turn = seat
        self.taken: list[Slot] = []
        self.must_use: Card = UNKNOWN
        """R23: the deepest card taken, until it is on the table."""
        self.must_meld = False
        """R123: it must be part of a new meld."""
        self.taken_top: Card = UNKNOWN
        """R62."""
        self.gave_back = False
        """R25: cards were given back, so the seat must draw."""
        self.had_stock = bool(self.stock)
        self.fresh = seat >= 0 and self.lays[seat] == 0
        """R147: the seat has laid nothing before this turn."""
        self.turn_log: list[tuple[int, int]] = []
        """What was laid in this turn: meld, and -1 for a new one, else 1 for below, 0 for above."""
        self.split_off: list[Slot] = []
        """R180: what lay below a split in this turn."""
        self.undo: tuple[int, ...] = ()
        """What :meth:`untake` restores besides cards."""

    # --- questions ---

    @property
    def phase(self) -> str:
        return "over" if self.between else PHASES[self.stage]

    def reseat(self) -> None:
        """Work out anew who follows whom and who answers whom, after ``ring`` or ``stand_ins`` have changed."""
        seats = self.rules.seats
        self._next: list[Seat] = []
        self._answering: list[tuple[Seat, ...]] = []
        for seat in range(seats):
            others = [(seat + step) % seats for step in range(1, seats)]
            playing = [other for other in others if other in self.ring]
            self._next.append(playing[0] if playing else seat)
            self._answering.append(tuple(other for other in playing if other not in self.stand_ins))

    def after(self, seat: Seat) -> Seat:
        """The next seat clockwise that plays in this hand (R4)."""
        return self._next[seat]

    def ask(self) -> None:
        """R100: everybody but the seat whose turn has ended answers; a hand that nobody holds does not."""
        self.asked = self._answering[self.turn]

    def may_lay_off(self, seat: Seat) -> bool:
        """R163: the seat's side has opened, or need not."""
        return self.rules.opening_minimum == 0 or bool(
            (self.opened_game | self.opened_hand) >> self.rules.side_of[seat] & 1
        )

    def recyclable(self) -> bool:
        """R149, R75: the pile can become a stock."""
        rules = self.rules
        return rules.recycle_stock != "off" and len(self.pile) > 1 and self.recycled < rules.exhausted_rounds

    @property
    def runs(self) -> list[list[tuple[int, int]]]:
        """See :func:`p2p_rummy.games.rum_duty.run_ends`; worked out anew after a card was laid."""
        found = self._runs
        if found is None:
            found = self._runs = run_ends(self.melds.values(), self.rules.melds)
        return found

    def joker_free(self) -> bool:
        """R181, R182: the dealer's joker still lies there to be used."""
        return bool(self.effect) and not self.joker_used and not self.joker_blocked

    def hand_cards(self, seat: Seat) -> list[Card]:
        """The open cards of a hand."""
        return [self.face[slot] for slot in self.hands[seat] if self.face[slot] >= 0]

    def hidden(self, seat: Seat) -> tuple[Slot, ...]:
        return tuple(slot for slot in self.hands[seat] if self.face[slot] < 0)

    # --- moving cards ---

    def give(self, seat: Seat, slot: Slot) -> None:
        self.hands[seat].append(slot)
        card = self.face[slot]
        if card >= 0:
            self.known[seat][card] = slot

    def open(self, seat: Seat, slot: Slot, card: Card) -> None:
        """A card of this hand becomes known to all and stays where it is."""
        self.face[slot] = card
        self.known[seat][card] = slot

    def leave(self, seat: Seat, slot: Slot) -> None:
        """The card, open by now, leaves the hand."""
        self.hands[seat].remove(slot)
        self.known[seat].pop(self.face[slot], None)

    def discard(self, seat: Seat, slot: Slot, card: Card) -> None:
        self.face[slot] = card
        self.hands[seat].remove(slot)
        self.known[seat].pop(card, None)
        self.push(slot, card)

    def push(self, slot: Slot, card: Card) -> None:
        self.face[slot] = card
        self.pile.append(slot)
        self.pile_cards.append(card)
        self.pile_bits += BITS[card]

    def cut(self, index: int) -> list[Slot]:
        """Take everything from ``index`` up off the pile."""
        slots = self.pile[index:]
        for card in self.pile_cards[index:]:
            self.pile_bits -= BITS[card]
        del self.pile[index:]
        del self.pile_cards[index:]
        return slots

    def take(self, seat: Seat, index: int) -> None:
        """R22, R23: the card at ``index`` and all above it go to hand."""
        self.undo = (
            self.lays[seat],
            self.long_run[seat],
            self.opened_hand,
            self.joker_used,
            self.idle,
            self.recycled,
        )
        self.taken = self.cut(index)
        for slot in self.taken:
            self.give(seat, slot)

    # --- laying cards ---

    def lay_meld(self, seat: Seat, shape: Shape, slots: Iterable[Slot]) -> Meld:
        """Put down a new meld; ``slots`` are those of ``shape.cards``."""
        meld = Meld(self.next_meld, shape, seat, list(slots))
        for slot, card in zip(meld.slots, meld.cards, strict=True):
            if slot >= 0:
                self.face[slot] = card
                self.leave(seat, slot)
        if self.rules.four_at_once_doubles and shape.kind == "group" and len(shape.cards) == 4:
            meld.factor = 2
        if self.lays[seat] == 0 and shape.kind == "run" and len(shape.cards) == 7:
            self.long_run[seat] = True
        self._laid(seat, meld.cards)
        if self.must_use in meld.cards and seat == self.turn:
            self.must_use = UNKNOWN
        self.opened_hand |= 1 << self.rules.side_of[seat]
        self.add_meld(meld)
        self.turn_log.append((meld.id, -1))
        return meld

    def add_meld(self, meld: Meld) -> None:
        self.melds[meld.id] = meld
        self.next_meld = max(self.next_meld, meld.id) + 1
        self._refit(meld)

    def lay_off(
        self,
        seat: Seat,
        meld: Meld,
        card: Card,
        claim: int,
        slot: Slot,
        *,
        below: bool,
    ) -> None:
        if slot >= 0:
            self.face[slot] = card
            self.leave(seat, slot)
        meld.add(card, claim, seat, slot, below=below)
        self._laid(seat, (card,))
        if card == self.must_use and not self.must_meld and seat == self.turn:
            self.must_use = UNKNOWN
        self._refit(meld)
        self.turn_log.append((meld.id, int(below)))

    def _laid(self, seat: Seat, cards: Sequence[Card]) -> None:
        self.lays[seat] += 1
        self.idle = 0
        self.recycled = 0
        if DEALERS_JOKER in cards and self.rules.dealers_joker:
            self.joker_used = True

    def _refit(self, meld: Meld) -> None:
        """Bring ``fits`` up to date after a meld has come, changed or gone."""
        fits = self.fits
        number = meld.id
        self._runs = None
        for kind in self._open.pop(number, ()):
            ids = fits[kind]
            ids.remove(number)
            if not ids:
                self.fit_mask &= ~(1 << kind)
        if number in self.melds:
            self._open[number] = kinds = open_kinds(meld, self.rules.melds)
            for kind in kinds:
                fits.setdefault(kind, []).append(number)
                self.fit_mask |= 1 << kind

    def seal(self, meld: Meld) -> None:
        """R179: the dealer's joker doubles a meld that was just made."""
        self._reseal(meld, sealed=True)
        meld.factor *= 2
        self.joker_used = True

    def _reseal(self, meld: Meld, *, sealed: bool) -> None:
        meld.sealed = sealed
        self._refit(meld)

    def unlay(self, seat: Seat, count: int) -> None:
        """Undo the last ``count`` entries of the turn's log: the cards go back to hand, open."""
        for _ in range(count):
            number, below = self.turn_log.pop()
            meld = self.melds[number]
            if below < 0:
                del self.melds[number]
                self.next_meld = number
                self._refit(meld)
                back = meld.slots
            else:
                back = [meld.slots[0 if below else -1]]
                meld.remove(below=bool(below))
                self._refit(meld)
            for slot in back:
                if slot >= 0:
                    self.give(seat, slot)

    def untake(self, seat: Seat) -> None:
        """R25: the pile as it was before the take, whatever was laid since in hand again."""
        self.unlay(seat, len(self.turn_log))
        lays, long_run, opened, used, idle, recycled = self.undo
        self.lays[seat], self.long_run[seat] = lays, bool(long_run)
        self.opened_hand, self.joker_used = opened, bool(used)
        self.idle, self.recycled = idle, recycled
        for slot in self.split_off:
            self.dead.remove(slot)
            self.push(slot, self.face[slot])
        for slot in self.taken:
            self.leave(seat, slot)
            self.push(slot, self.face[slot])
        self.split_off = []
        self.taken = []
        self.must_use = self.taken_top = UNKNOWN
        self.must_meld = False
        self.gave_back = True
