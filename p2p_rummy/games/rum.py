"""The rum family: one machine for the eight games, from the first shuffle to the last score.

Theory of operation.  A hand goes through the stages below; in each the game needs exactly one thing of the
table (:mod:`protocol.game`).  This module is the seam to the trust layer; beside it are

* ``rum_table`` (the public state), ``rum_snapshot`` (what is shown of it), ``rum_rules`` (the options),
* ``rum_gate``, ``rum_check`` and ``rum_lay``: what is refused, in the order of R250,
* ``rum_deal``, ``rum_play`` (a seat's own turn), ``rum_turn`` (turns and windows), ``rum_end`` and ``rum_score``,
* ``rum_leavers`` and ``rum_stand_in``: seats that go away,
* ``rum_moves`` (the legal moves), with ``rum_book`` (all melds in a set of cards), ``rum_duty`` and ``rum_openings``.

================  ==================================  =====================================================
stage             need                                goes on to
================  ==================================  =====================================================
dealer_shuffle    Shuffle (natural cards)             dealer_draw                       (R10, low_card or high_card)
dealer_draw       Deal, open                          dealer_draw (a tie) | shuffle
shuffle           Shuffle (new hand)                  name (R177) | deal
name              Turn of the dealer                  deal
deal              Deal                                draw | first_discard (R169)
first_discard     Turn of the eldest                  draw
draw              Turn                                fetch | reshuffle (R149) | play | draw (R164) | show
reshuffle         Shuffle (same hand)                 fetch
fetch             Deal, one card                      play
play              Turn                                play | window | challenge | draw (no windows) | show
window            Window                              draw | play (a call) | window (R212) | show
challenge         Window                              play or draw (R132) | show
show              Showdown                            shuffle | over
over              Over                                --
================  ==================================  =====================================================

A seat that leaves (:class:`protocol.game.Dropped`) may do so in any stage; see :mod:`~p2p_rummy.games.rum_leavers`.
"""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, Final

from p2p_rummy.cards import FIRST_JOKER
from p2p_rummy.games.rum_check import JUDGES, PLAYS_CARDS
from p2p_rummy.games.rum_deal import begin_hand, dealing, dealt, recycle_shuffled
from p2p_rummy.games.rum_end import closed_hands, shown
from p2p_rummy.games.rum_gate import gate, locate
from p2p_rummy.games.rum_leavers import drop, play_stand_ins, void
from p2p_rummy.games.rum_moves import legal_moves
from p2p_rummy.games.rum_play import MOVES
from p2p_rummy.games.rum_rules import RumRules, rum_rules
from p2p_rummy.games.rum_snapshot import digest, snapshot
from p2p_rummy.games.rum_table import (
    CHALLENGE,
    DEAL,
    DEALER_DRAW,
    DEALER_SHUFFLE,
    DRAW,
    FETCH,
    FIRST_DISCARD,
    NAME,
    PLAY,
    RESHUFFLE,
    SHOW,
    SHUFFLE,
    UNKNOWN,
    WINDOW,
    Table,
)
from p2p_rummy.games.rum_turn import NO_OPENINGS, answer
from p2p_rummy.notation import parse
from p2p_rummy.options import Settings
from protocol.game import (
    Deal,
    Dealt,
    Dropped,
    Event,
    Faces,
    Moved,
    Need,
    Over,
    Refused,
    Returned,
    Seat,
    Showdown,
    Shown,
    Shuffle,
    Shuffled,
    Slot,
    Turn,
    Voided,
    Window,
)

TURNS: Final = tuple(Turn(seat=seat) for seat in range(8))


@cache
def window(after: Seat, seats: tuple[Seat, ...]) -> Window:
    """The need, made once for each constellation of seats."""
    return Window(after=after, seats=seats)


class RumGame:
    """One table of the rum family.  ``table`` is its public state (read it, never change it)."""

    name: ClassVar[str] = "rum500"

    def __init__(self, settings: Settings) -> None:
        self.rules: RumRules = rum_rules(settings)
        self.seats = settings.seats
        self.card_count = self.rules.card_count
        self.table = Table(self.rules)
        self._digest: bytes | None = None
        self._need: Need | None = None
        if self.rules.first_dealer != "random":
            self.table.stage = DEALER_SHUFFLE
            self.table.contenders = list(range(self.seats))

    @property
    def hand(self) -> int:
        """From 1, one more as soon as the next hand's shuffle is needed; 0 while the first deal is drawn for."""
        if self.table.stage in (DEALER_SHUFFLE, DEALER_DRAW):
            return 0
        return self.table.hand + self.table.between

    # --- the seam ---------------------------------------------------------------------------------------

    @property
    def need(self) -> Need:
        need = self._need
        if need is None:
            need = self._need = self._next_need()
        return need

    def apply(self, event: Event) -> None:
        """See :class:`protocol.game.Game`.  Raises Refused for a Moved that ``check`` would refuse, and
        ValueError for an event that the need does not call for: the trust layer's mistake, not a player's.
        """
        if type(event) is Moved:
            self._moved(event.seat, event.text, dict(event.openings) if event.openings else NO_OPENINGS)
        elif isinstance(event, Dealt):
            dealt(self.table, event.faces)
        elif isinstance(event, Shuffled):
            self._shuffled(event.coin)
        elif isinstance(event, Shown):
            shown(self.table, event.faces)
        elif isinstance(event, Dropped):
            drop(self.table, event)
        elif isinstance(event, Voided):
            void(self.table)
        elif isinstance(event, Returned):
            self.table.away.discard(event.seat)
        self._digest = None
        self._need = None
        if self.table.stand_ins:
            play_stand_ins(self.table)

    def check(self, seat: Seat, text: str, openings: Faces) -> None:
        move = parse(text)
        gate(self.table, seat, move)
        JUDGES[move.verb](self.table, seat, move, openings)

    def slots_of(self, seat: Seat, text: str, faces: Faces) -> tuple[Slot, ...]:
        move = parse(text)
        if move.verb not in PLAYS_CARDS:
            return ()
        table = self.table
        known = table.known[seat]
        face = table.face
        cards = move.cards
        if len(cards) == 1 and not known:
            held = [*faces.values()]
            if cards[0] in held:
                slot = [*faces][held.index(cards[0])]
                if face[slot] < 0 and slot in table.hands[seat]:
                    return (slot,)
        slots = tuple(
            [slot for slot in table.hands[seat] if face[slot] < 0 and faces.get(slot, UNKNOWN) in cards]
        )
        if len(slots) + (sum([card in known for card in cards]) if known else 0) != len(cards):
            # Something is wrong, or the dealer's joker is used: say what, in the order of R250.
            gate(table, seat, move)
            locate(table, seat, cards, {slot: faces[slot] for slot in slots})
        return slots

    def legal_moves(self, seat: Seat, faces: Faces) -> list[str]:
        return legal_moves(self.table, seat, faces)

    def hidden(self, seat: Seat) -> tuple[Slot, ...]:
        return self.table.hidden(seat)

    def is_call(self, text: str) -> bool:
        try:
            return parse(text).verb != "pass"
        except Refused:
            return False

    def digest(self) -> bytes:
        if self._digest is None:
            self._digest = digest(self.table)
        return self._digest

    def snapshot(self) -> dict[str, Any]:
        return snapshot(self.table)

    def outcome(self) -> Over | None:
        """The result, with scores by seat and the winners, once the game has ended."""
        need = self.need
        return need if isinstance(need, Over) else None

    def copy(self) -> RumGame:
        """An independent game in the same state, for search."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.table = self.table.copy()
        return other

    # --- events ---

    def _moved(self, seat: Seat, text: str, openings: Faces) -> None:
        move = parse(text)
        table = self.table
        gate(table, seat, move)
        if openings and move.verb not in PLAYS_CARDS:
            locate(table, seat, (), openings)
        if table.stage in (WINDOW, CHALLENGE):
            answer(table, seat, move, openings)
        else:
            MOVES[move.verb](table, seat, move, openings)

    def _shuffled(self, coin: bytes) -> None:
        table = self.table
        if table.stage == SHUFFLE:
            begin_hand(table, coin)
        elif table.stage == RESHUFFLE:
            recycle_shuffled(table)
        elif table.stage == DEALER_SHUFFLE:
            table.stage = DEALER_DRAW
        else:
            raise ValueError("no shuffle was asked for")

    # --- needs ------------------------------------------------------------------------------------------

    def _next_need(self) -> Need:
        table = self.table
        stage = table.stage
        if stage in (DRAW, PLAY, NAME, FIRST_DISCARD):
            return TURNS[table.turn]
        if stage in (WINDOW, CHALLENGE):
            return window(table.turn, table.asked)
        if stage == FETCH:
            seat = table.turn
            return Deal(owners=((table.hands[seat][-1], None if seat in table.stand_ins else seat),))
        if stage == DEAL:
            return Deal(owners=dealing(table))
        if stage == SHUFFLE:
            return Shuffle(cards=self.rules.shuffled, new_hand=True)
        if stage == RESHUFFLE:
            return Shuffle(cards=tuple(sorted(table.pile_cards[:-1])), new_hand=False)
        if stage == DEALER_SHUFFLE:
            return Shuffle(cards=tuple(c for c in self.rules.cards if c < FIRST_JOKER), new_hand=True)
        if stage == DEALER_DRAW:
            first = len(table.dealer_draws)
            return Deal(owners=tuple((first + index, None) for index in range(len(table.contenders))))
        if stage == SHOW:
            return Showdown(owners=closed_hands(table))
        sides = self.rules.side_of
        return Over(scores=tuple(table.totals[side] for side in sides), winners=table.winners)


class Rum500(RumGame):
    """500 Rum with jokers (the document P)."""

    name = "rum500"


class Rummy(RumGame):
    """Basic rummy (B, R140-R152)."""

    name = "rummy"


class Rum500Wiki(RumGame):
    """500 rum as in W (R160-R169)."""

    name = "rum500_wiki"


class Rum500Korean(RumGame):
    """Rummy 500 as in K (R170-R174)."""

    name = "rum500_korean"


class DealersJoker(RumGame):
    """500 rum with a joker that belongs to the dealer (R175-R185)."""

    name = "dealers_joker"


class Partnership(RumGame):
    """500 rum for two sides (R190-R194)."""

    name = "partnership"


class Persian(RumGame):
    """Persian rummy (R195-R201)."""

    name = "persian"


class CallingRum(RumGame):
    """500 rum with narrow calling (R205-R207)."""

    name = "calling_rum"
