"""The rum family: one machine for the eight games, from the first shuffle to the last score.

Theory of operation.  A hand goes through the stages below; in each the game needs exactly one thing of the
table (:mod:`protocol.game`).  What a stage allows and refuses is in :mod:`~p2p_rummy.games.rum_check`, how cards move
in :mod:`~p2p_rummy.games.rum_table`; this module is the order of play.

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

A seat that leaves (:class:`protocol.game.Dropped`) may do so in any stage; :meth:`RumGame._drop` moves the hand on from each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, ClassVar, Final

from p2p_rummy.cards import FIRST_JOKER, PACK
from p2p_rummy.games.rum_check import (
    gate,
    in_pile,
    judge_block,
    judge_call,
    judge_decline,
    judge_discard,
    judge_draw,
    judge_lay,
    judge_meld,
    judge_split,
    judge_take,
    judge_untake,
    locate,
)
from p2p_rummy.games.rum_moves import legal_moves
from p2p_rummy.games.rum_rules import RumRules, rum_rules
from p2p_rummy.games.rum_score import Score, hand_winner, score_hand, score_nothing, score_void, verdict
from p2p_rummy.games.rum_stand_in import stand_in_move
from p2p_rummy.games.rum_table import (
    CHALLENGE,
    DEAL,
    DEALER_DRAW,
    DEALER_SHUFFLE,
    DRAW,
    FETCH,
    FIRST_DISCARD,
    NAME,
    NOBODY,
    OVER,
    PLAY,
    RESHUFFLE,
    SHOW,
    SHUFFLE,
    UNKNOWN,
    WINDOW,
    Table,
)
from p2p_rummy.melds import Shape, place
from p2p_rummy.notation import Move, parse
from p2p_rummy.options import Settings
from p2p_rummy.refusals import IllegalMove
from protocol.game import (
    Card,
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

NO_OPENINGS: Final[Faces] = {}
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
            self._dealt(event.faces)
        elif isinstance(event, Shuffled):
            self._shuffled(event.coin)
        elif isinstance(event, Shown):
            self._shown(event.faces)
        elif isinstance(event, Dropped):
            self._drop(event)
        elif isinstance(event, Voided):
            self._void()
        elif isinstance(event, Returned):
            self._return(event.seat)
        self._digest = None
        self._need = None
        if self.table.stand_ins:
            self._play_stand_ins()

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
            self._digest = self.table.digest()
        return self._digest

    def snapshot(self) -> dict[str, Any]:
        return self.table.snapshot()

    def copy(self) -> RumGame:
        """An independent game in the same state, for search."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.table = self.table.copy()
        return other

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
            return Deal(owners=self._dealing())
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
            return Showdown(owners=self._closed_hands())
        sides = self.rules.side_of
        return Over(scores=tuple(table.totals[side] for side in sides), winners=table.winners)

    def _dealing(self) -> tuple[tuple[Slot, Seat | None], ...]:
        """The slots on their way to hands, and the one that is turned up."""
        table = self.table
        owners: list[tuple[Slot, Seat | None]] = [
            (slot, None if seat in table.stand_ins else seat)
            for seat in table.ring
            for slot in table.hidden(seat)
        ]
        if table.turned_up >= 0:
            owners.append((table.turned_up, None))
        return tuple(sorted(owners))

    def _closed_hands(self) -> tuple[tuple[Slot, Seat], ...]:
        table = self.table
        owners = [(slot, seat) for seat in table.ring for slot in table.hidden(seat)]
        return tuple(sorted(owners))

    # --- the deal ---------------------------------------------------------------------------------------

    def _shuffled(self, coin: bytes) -> None:
        table = self.table
        if table.stage == SHUFFLE:
            self._begin_hand(coin)
        elif table.stage == RESHUFFLE:
            self._recycle_shuffled()
        elif table.stage == DEALER_SHUFFLE:
            table.stage = DEALER_DRAW
        else:
            raise ValueError("no shuffle was asked for")

    def _begin_hand(self, coin: bytes) -> None:
        table = self.table
        present = [seat for seat in range(self.seats) if seat not in table.away]
        if table.between:
            table.hand += 1
        if table.dealer == NOBODY:
            table.dealer = present[int.from_bytes(coin, "big") % len(present)]
        table.begin_hand(present, len(self.rules.shuffled))
        table.dealer = table.dealer if table.dealer in present else table.after(table.dealer)
        table.begin_turn(table.dealer)
        if self.rules.dealers_joker:
            table.stage = NAME
        else:
            self._deal_out()

    def _deal_out(self) -> None:
        """R11-R13, R169, R175."""
        table = self.table
        rules = self.rules
        eldest = table.after(table.dealer)
        order = [eldest]
        while len(order) < len(table.ring):
            order.append(table.after(order[-1]))
        if rules.deal_direction == "ccw":
            order = [*reversed(order[:-1]), order[-1]]
        count = len(order) * rules.size(len(order))
        for slot in range(count):
            table.hands[order[slot % len(order)]].append(slot)
        if rules.first_discard == "eldest_chooses":
            table.hands[eldest].append(count)
        else:
            table.turned_up = count
        table.stock = list(range(len(table.face) - 1, count, -1))
        table.begin_turn(eldest)
        table.stage = DEAL

    def _dealt(self, faces: Sequence[tuple[Slot, Card]]) -> None:
        table = self.table
        if table.stage == DEAL:
            for slot, card in faces:
                if slot == table.turned_up:
                    table.push(slot, card)
                else:
                    table.open(next(seat for seat in table.ring if slot in table.hands[seat]), slot, card)
            if table.turned_up >= 0:
                table.turned_up = UNKNOWN
                self._start_turn(table.turn)
            else:
                table.stage = FIRST_DISCARD
        elif table.stage == FETCH:
            for slot, card in faces:
                table.open(table.turn, slot, card)
            table.stage = PLAY
        elif table.stage == DEALER_DRAW:
            self._dealer_drawn(faces)
        else:
            raise ValueError("no deal was asked for")

    def _dealer_drawn(self, faces: Sequence[tuple[Slot, Card]]) -> None:
        """R10: the lowest card deals (ace lowest), or the highest; those who tie draw again."""
        table = self.table
        cards = [card for _, card in sorted(faces)]
        draws = list(zip(table.contenders, cards, strict=True))
        table.dealer_draws += draws
        ranks = [card % PACK % 13 for card in cards]
        best = min(ranks) if self.rules.first_dealer == "low_card" else max(ranks)
        tied = [seat for (seat, _), rank in zip(draws, ranks, strict=True) if rank == best]
        table.contenders = [seat for seat in tied if seat not in table.away] or tied
        self._settle_dealer()

    def _settle_dealer(self) -> None:
        table = self.table
        if len(table.contenders) == 1:
            table.dealer = table.contenders.pop()
            table.stage = SHUFFLE

    # --- moves ------------------------------------------------------------------------------------------

    def _moved(self, seat: Seat, text: str, openings: Faces) -> None:
        move = parse(text)
        table = self.table
        gate(table, seat, move)
        if openings and move.verb not in PLAYS_CARDS:
            locate(table, seat, (), openings)
        if table.stage in (WINDOW, CHALLENGE):
            self._answer(seat, move, openings)
        else:
            MOVES[move.verb](self, seat, move, openings)

    def _name(self, seat: Seat, move: Move, openings: Faces) -> None:
        self.table.effect = move.word
        self._deal_out()

    def _draw(self, seat: Seat, move: Move, openings: Faces) -> None:
        table = self.table
        judge_draw(table)
        table.had_stock = True
        table.declined = 0
        if table.stock:
            self._fetch(seat)
        elif self.rules.recycle_stock == "turn_over":
            buried = table.cut(0)
            top = buried.pop()
            table.push(top, table.face[top])
            table.stock = buried[::-1]
            table.recycled += 1
            self._fetch(seat)
        else:
            table.stage = RESHUFFLE

    def _fetch(self, seat: Seat) -> None:
        """The next stock card goes to hand; it is known to all only if the stock was turned over (R149)."""
        table = self.table
        slot = table.stock.pop()
        table.give(seat, slot)
        table.stage = FETCH if table.face[slot] < 0 else PLAY

    def _recycle_shuffled(self) -> None:
        table = self.table
        buried = table.cut(0)
        top = buried.pop()
        table.push(top, table.face[top])
        first = len(table.face)
        table.face.extend([UNKNOWN] * len(buried))
        table.stock = list(range(len(table.face) - 1, first - 1, -1))
        table.recycled += 1
        if table.turn in table.ring:
            self._fetch(table.turn)
        else:
            self._end_turn()

    def _take(self, seat: Seat, move: Move, openings: Faces) -> None:
        table = self.table
        index = judge_take(table, move.cards[0])
        self._pick_up(seat, move.cards[0], index)
        if len(table.taken) == 1:
            table.taken_top = move.cards[0]

    def _split(self, seat: Seat, move: Move, openings: Faces) -> None:
        """R180: a take whose rest goes out of play."""
        table = self.table
        index = judge_split(table, seat, move.cards[0])
        self._pick_up(seat, move.cards[0], index)
        table.must_use = move.cards[0]
        table.joker_used = True
        table.split_off = table.cut(0)
        table.dead += table.split_off

    def _pick_up(self, seat: Seat, card: Card, index: int) -> None:
        table = self.table
        table.take(seat, index)
        count = len(table.taken)
        if self.rules.has_duty(count):
            table.must_use = card
        table.must_meld = self.rules.deepest_needs_meld(count)
        table.declined = 0
        table.stage = PLAY

    def _untake(self, seat: Seat, move: Move, openings: Faces) -> None:
        table = self.table
        judge_untake(table, seat)
        table.untake(seat)
        table.stage = DRAW

    def _decline(self, seat: Seat, move: Move, openings: Faces) -> None:
        """R28, R74, R164: without a stock the pile is declined."""
        table = self.table
        judge_decline(table)
        table.declined += 1
        if self.rules.stock_out == "decline_ends" or table.declined >= len(table.ring):
            self._end_hand(exhausted=True)
        else:
            self._end_turn()

    def _meld(self, seat: Seat, move: Move, openings: Faces) -> None:
        self._put_down(seat, move, openings)
        self._laid(seat)

    def _put_down(self, seat: Seat, move: Move, openings: Faces) -> None:
        table = self.table
        for index, (shape, slots) in enumerate(judge_meld(table, seat, move, openings)):
            meld = table.lay_meld(seat, shape, slots)
            if index == move.doubled:
                table.seal(meld)

    def _lay(self, seat: Seat, move: Move, openings: Faces) -> None:
        self._add(seat, move, openings)
        self._laid(seat)

    def _add(self, seat: Seat, move: Move, openings: Faces) -> None:
        table = self.table
        meld, claim, below, slot = judge_lay(table, seat, move, openings)
        table.lay_off(seat, meld, move.cards[0], claim, slot, below=below)

    def _laid(self, seat: Seat) -> None:
        """R70, R127: after laying in one's turn."""
        table = self.table
        if table.hands[seat]:
            return
        if self.rules.floats:
            self._end_turn()
        else:
            self._go_out(seat, by_discard=False, rummy=table.fresh)

    def _discard(self, seat: Seat, move: Move, openings: Faces) -> None:
        table = self.table
        slot = judge_discard(table, seat, move, openings)
        table.discard(seat, slot, move.cards[0])
        if table.stage == FIRST_DISCARD:
            self._start_turn(seat)
        elif table.hands[seat]:
            self._end_turn()
        elif self.rules.challenge:
            self._open_window(CHALLENGE)
        else:
            self._go_out(seat, by_discard=True, rummy=table.fresh)

    def _block(self, seat: Seat, move: Move, openings: Faces) -> None:
        """R182."""
        table = self.table
        slot = judge_block(table, seat, move, openings)
        table.face[slot] = move.cards[0]
        table.leave(seat, slot)
        table.dead.append(slot)
        table.joker_blocked = True

    # --- turns ------------------------------------------------------------------------------------------

    def _start_turn(self, seat: Seat) -> None:
        table = self.table
        table.begin_turn(seat)
        table.stage = DRAW

    def _end_turn(self) -> None:
        """R100: a turn has ended and the hand goes on."""
        table = self.table
        if not table.had_stock and not table.turn_log:
            table.idle += 1
        if self.rules.windows or table.joker_free():
            self._open_window(WINDOW)
        else:
            self._next_turn()

    def _next_turn(self) -> None:
        """The seat left of the one whose turn has ended draws, unless R75 ends the hand."""
        table = self.table
        if table.idle >= self.rules.exhausted_rounds * len(table.ring):
            self._end_hand(exhausted=True)
        else:
            self._start_turn(table.after(table.turn))

    # --- windows ----------------------------------------------------------------------------------------

    def _open_window(self, stage: int) -> None:
        table = self.table
        table.stage = stage
        table.answers.clear()
        table.ask()
        if not table.asked:
            self._close_window_if_answered()

    def _answer(self, seat: Seat, move: Move, openings: Faces) -> None:
        table = self.table
        if move.verb != "pass":
            JUDGES[move.verb](table, seat, move, openings)
            for slot, card in openings.items():
                table.open(seat, slot, card)
        table.answers[seat] = move.text
        self._close_window_if_answered()

    def _close_window_if_answered(self) -> None:
        table = self.table
        given = table.answers
        if len(given) < len(table.asked):
            return
        answers = [(seat, parse(given[seat])) for seat in table.asked if given[seat] != "pass"]
        given.clear()
        self._resolve(answers)

    def _resolve(self, answers: Sequence[tuple[Seat, Move]]) -> None:
        """R109, R211: blocks first (they hinder nothing else), then the nearest call, else melds and lay-offs.

        ``answers`` are those that are no ``pass``, clockwise.
        """
        table = self.table
        for seat, move in answers:
            if move.verb == "block" and table.joker_free():
                self._block(seat, move, NO_OPENINGS)
        for seat, move in answers:
            if move.verb == "rummy":
                self._call(seat, move)
                return
        if table.stage == CHALLENGE:
            self._go_out(table.turn, by_discard=True, rummy=table.fresh)
        elif not answers or not self._lay_out_of_turn(answers):
            self._next_turn()

    def _lay_out_of_turn(self, answers: Sequence[tuple[Seat, Move]]) -> bool:
        """R211-R213: clockwise, each judged at its place.  True if the hand ended or another round follows."""
        table = self.table
        laid = False
        for seat, move in answers:
            if move.verb not in ("meld", "lay"):
                continue
            nothing_before = table.lays[seat] == 0
            try:
                (self._put_down if move.verb == "meld" else self._add)(seat, move, NO_OPENINGS)
            except IllegalMove:
                continue  # R211: a nearer seat's action has made it illegal; it lapses
            laid = True
            if not table.hands[seat] and not self.rules.floats:
                self._go_out(seat, by_discard=False, rummy=nothing_before)
                return True
        if laid:
            self._open_window(WINDOW)
        return laid

    def _call(self, seat: Seat, move: Move) -> None:
        """R105-R108; R124 and R132 take the newest discard only and leave the order of play alone."""
        table = self.table
        called = judge_call(table, seat, move)
        lay_only = self.rules.calling != "full"
        index = len(table.pile) - 1 if lay_only else min(in_pile(table, card) for card in move.cards)
        slots = dict(zip(table.pile_cards[index:], table.pile[index:], strict=True))
        if not lay_only:
            table.begin_turn(seat)
        for slot in table.cut(index):
            table.give(seat, slot)
        if isinstance(called, Shape):
            table.lay_meld(seat, called, [slots[card] for card, _ in called.cards])
        else:
            for placed in move.parts[0]:
                meld = table.melds[move.meld]
                claim, below = place(meld, placed, self.rules.melds)
                table.lay_off(seat, meld, placed[0], claim, slots[placed[0]], below=below)
        if lay_only:
            self._next_turn()
        elif table.hands[seat]:
            table.stage = PLAY
        else:
            self._end_turn()

    # --- the end of a hand ------------------------------------------------------------------------------

    def _go_out(self, seat: Seat, *, by_discard: bool, rummy: bool) -> None:
        table = self.table
        table.out_seat = seat
        table.out_by_discard = by_discard
        table.went_rummy = rummy
        self._end_hand()

    def _end_hand(self, *, exhausted: bool = False) -> None:
        table = self.table
        table.exhausted = exhausted
        table.answers.clear()
        table.stage = SHOW
        if not self._closed_hands():
            self._finish(score_hand(table))

    def _shown(self, faces: Sequence[tuple[Slot, Card]]) -> None:
        table = self.table
        if table.stage != SHOW:
            raise ValueError("no showdown was asked for")
        for seat in table.ring:
            held = set(table.hands[seat])
            for slot, card in faces:
                if slot in held:
                    table.open(seat, slot, card)
        self._finish(score_hand(table))

    def _finish(self, score: Score, *, void: bool = False) -> None:
        """R80-R93: the totals, the sheet, and whether the game goes on.  A void hand is dealt again."""
        table = self.table
        rules = self.rules
        table.played += not void
        for side in set(rules.side_of):
            table.totals[side] += score.points[side]
        notes = list(score.notes)
        ended = verdict(table)
        bonus = [0] * self.seats
        if ended is not None and ended.side is not None:
            bonus[ended.side] = rules.game_bonus
            table.totals[ended.side] += rules.game_bonus
            table.winners = tuple(s for s in range(self.seats) if rules.side_of[s] == ended.side)
            if rules.game_bonus:
                notes.append("game_bonus")
        table.sheet.append(
            {
                "hand": table.hand,
                "points": [score.points[side] + bonus[side] for side in rules.side_of],
                "table": list(score.table),
                "in_hand": list(score.in_hand),
                "notes": notes,
            }
        )
        if rules.opening_scope == "game":
            table.opened_game |= table.opened_hand
        if ended is not None or not self._can_go_on():
            table.stage = OVER
            return
        if not void:
            winner = hand_winner(table, score)
            table.dealer = winner if rules.next_dealer == "hand_winner" else (table.dealer + 1) % self.seats
        table.between = True
        table.stage = SHUFFLE

    def _can_go_on(self) -> bool:
        """Two sides are needed for another hand."""
        present = {self.rules.side_of[seat] for seat in range(self.seats) if seat not in self.table.away}
        return len(present) > 1

    # --- who leaves and who comes back ------------------------------------------------------------------

    def _return(self, seat: Seat) -> None:
        self.table.away.discard(seat)

    def _drop(self, event: Dropped) -> None:
        """A seat has gone, whatever the stage; ``leaver`` says what becomes of its hand."""
        table = self.table
        seat = event.seat
        stage = table.stage
        table.away.add(seat)
        if stage == OVER:
            return
        if stage in (DEALER_SHUFFLE, DEALER_DRAW, SHUFFLE):
            self._drop_before_the_hand(seat)
            return
        if seat not in table.ring:
            return
        held = set(table.hands[seat])
        for slot, card in event.faces:
            if slot in held and table.face[slot] < 0:
                table.open(seat, slot, card)
        if event.void or (self.rules.leaver == "void_hand" and stage != SHOW):
            table.answers.clear()
            table.opened_hand = 0
            self._finish(score_void(table, seat), void=True)
            return
        if self.rules.leaver == "bot" and stage != SHOW and self._is_open(seat):
            table.stand_ins.add(seat)
            table.reseat()
            self._forget_answer(seat)
            return
        table.ring.remove(seat)
        table.reseat()
        self._play_on_without(seat)

    def _void(self) -> None:
        """The cards cannot be told: the hand counts for nobody and is dealt again by the same dealer."""
        table = self.table
        if table.stage not in (DEALER_DRAW, DEAL, FETCH, SHOW):
            raise ValueError("no cards were asked for")
        if table.stage == DEALER_DRAW:
            table.dealer_draws.clear()
            table.contenders = [seat for seat in range(self.seats) if seat not in table.away]
            table.stage = DEALER_SHUFFLE
            return
        table.answers.clear()
        table.opened_hand = 0
        self._finish(score_nothing(table), void=True)

    def _is_open(self, seat: Seat) -> bool:
        """The seat's hand is known to all, but for cards that are on their way and can still be dealt openly."""
        table = self.table
        closed = table.hidden(seat)
        if table.stage == FETCH and seat == table.turn:
            closed = closed[:-1]
        return not closed or table.stage in (NAME, DEAL)

    def _drop_before_the_hand(self, seat: Seat) -> None:
        table = self.table
        if not self._can_go_on():
            table.stage = OVER
            return
        if seat in table.contenders and table.stage != SHUFFLE:
            table.contenders.remove(seat)
            self._settle_dealer()

    def _forget_answer(self, seat: Seat) -> None:
        """The open window, if there is one, does not wait for this seat any more."""
        table = self.table
        if table.stage in (WINDOW, CHALLENGE):
            table.answers.pop(seat, None)
            table.ask()
            self._close_window_if_answered()

    def _play_on_without(self, seat: Seat) -> None:
        table = self.table
        stage = table.stage
        if stage == SHOW:
            if not self._closed_hands():
                self._finish(score_hand(table))
            return
        if len({self.rules.side_of[other] for other in table.ring}) < 2:
            self._end_hand()
        elif stage in (WINDOW, CHALLENGE):
            self._forget_answer(seat)
        elif seat == table.turn:
            if stage == NAME:
                self._deal_out()  # nobody names the dealer's joker, so nobody uses it
            elif stage in (DEAL, FIRST_DISCARD):
                if table.turned_up < 0:  # R169: who was to choose the first discard has gone
                    table.turned_up = table.stock.pop()
                table.turn = table.after(seat)
                table.stage = DEAL
            elif stage != RESHUFFLE:
                self._end_turn()

    def _play_stand_ins(self) -> None:
        """``leaver: bot``: the table plays an open hand by a fixed rule, so that every peer plays it alike."""
        table = self.table
        while table.stage in (NAME, FIRST_DISCARD, DRAW, PLAY) and table.turn in table.stand_ins:
            seat = table.turn
            move = parse(stand_in_move(table, seat))
            MOVES[move.verb](self, seat, move, NO_OPENINGS)
            self._need = None


Mover = Callable[[RumGame, Seat, Move, Faces], None]

MOVES: Final[dict[str, Mover]] = {
    "name": RumGame._name,
    "draw": RumGame._draw,
    "take": RumGame._take,
    "split": RumGame._split,
    "untake": RumGame._untake,
    "pass": RumGame._decline,
    "meld": RumGame._meld,
    "lay": RumGame._lay,
    "discard": RumGame._discard,
    "block": RumGame._block,
}
"""What carries a move out in its seat's own turn."""

Judge = Callable[[Table, Seat, Move, Faces], object]


def _judge_pass(table: Table, seat: Seat, move: Move, openings: Faces) -> None:
    if table.stage == DRAW:
        judge_decline(table)
    locate(table, seat, (), openings)


def _without_openings(judge: Judge) -> Judge:
    """A move that plays no hidden card must open none."""

    def checked(table: Table, seat: Seat, move: Move, openings: Faces) -> None:
        judge(table, seat, move, openings)
        locate(table, seat, (), openings)

    return checked


JUDGES: Final[dict[str, Judge]] = {
    "name": _without_openings(lambda table, seat, move, openings: None),
    "draw": _without_openings(lambda table, seat, move, openings: judge_draw(table)),
    "take": _without_openings(lambda table, seat, move, openings: judge_take(table, move.cards[0])),
    "split": _without_openings(lambda table, seat, move, openings: judge_split(table, seat, move.cards[0])),
    "untake": _without_openings(lambda table, seat, move, openings: judge_untake(table, seat)),
    "pass": _judge_pass,
    "meld": judge_meld,
    "lay": judge_lay,
    "discard": judge_discard,
    "block": judge_block,
    "rummy": _without_openings(lambda table, seat, move, openings: judge_call(table, seat, move)),
}
PLAYS_CARDS: Final = frozenset({"meld", "lay", "discard", "block"})
"""Moves whose cards come out of the hand."""


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
