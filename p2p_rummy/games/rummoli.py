"""Rummoli (R220 to R236): chips and pots, a widow, an auction, poker, and a race of stops.

A second game on the seam of :mod:`protocol.game`, with nothing in common with rum but the cards.  This
module is the flow of the game; what a move may be stands in :mod:`~p2p_rummy.games.rummoli_rules`, the poker
round and the stops are machines of their own.

==========  =======================  ==============================================================================
phase       need                     then
==========  =======================  ==============================================================================
``deal``    Shuffle, then Deal       the ante is paid when the shuffle is done; ``widow`` (without it: ``bet``)
``widow``   Turn of the dealer       ``swap``: the widow is dealt to him; ``keep``: ``auction``
``auction``  Turn of each bidder      one bidder left: he pays the dealer and the widow is dealt to him; ``bet``
``bet``     Turn                     all matched: ``show``; one left: he wins the poker pot, ``lead``
``show``    Turn                     all have shown or mucked: the best hand wins the pot, ``lead``
``lead``    Turn                     a card is led: ``follow`` or, where it stops at once, ``lead``; deadlock: ``settle``
``follow``  Window, unsealed         played: ``follow``; all deny it: ``lead``; a hand is empty: ``settle``
``settle``  Showdown of all hands    no word broken: debts are paid; else the round is void (R236).  Next round,
                                     ``vote``, or the end
``vote``    Window, then Turn        all say ``end``: the final deals; else the next round
``final``   Shuffle, Deal, Showdown  the pots that are left are won by the best five cards (R234); ``over``
==========  =======================  ==============================================================================

A seat's hidden slots are its hand and, if it swapped, the hand that it gave away: dead, but opened at the
settlement, since a pay card in it would have forbidden the swap or the bid.  The unused widow is never opened.

A seat that leaves folds and its hand lies open and dead; the chips stay its own, and at the settlement
it pays for the cards that it left with, as if it had sat there (DECISION: so leaving never saves a chip).
A round that becomes void because a leaver's cards cannot be opened is dealt again by the same dealer and
does not count as played; one that is void for a broken word counts, so that a liar cannot hold up the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

from p2p_rummy.games import rummoli_rules, rummoli_snapshot
from p2p_rummy.games.poker import HAND_SIZE, best_seats, category, hand_value
from p2p_rummy.games.rummoli_board import ANTE, PACK, PAY_CARDS, POTS, Board, pots_won
from p2p_rummy.games.rummoli_moves import Move, parse
from p2p_rummy.games.rummoli_poker import Betting
from p2p_rummy.games.rummoli_stops import Fault, Stops
from p2p_rummy.options import Settings
from protocol.errors import LocalProtocolError
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
    Returned,
    Seat,
    Showdown,
    Shown,
    Shuffle,
    Shuffled,
    Slot,
    Turn,
    Window,
)

__all__ = ["Rummoli", "Terms"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The options of a table of Rummoli, typed (R220 to R235)."""

    start_chips: int
    bet_limit: int
    claim: Literal["manual", "auto"]
    max_rounds: int | None
    final: Literal["one_pot", "per_pot"]
    widow: bool


class Rummoli:
    """One game, from the first ante to the division of the last pot."""

    name: ClassVar[str] = "rummoli"

    def __init__(self, settings: Settings) -> None:
        seats = settings.seats
        values: dict[str, Any] = dict(settings.values)
        self.seats = seats
        self.settings = settings
        self.options = Terms(**{term.name: values[term.name] for term in fields(Terms)})
        self.card_count = len(PACK)
        self.hand = 1
        self.phase = "deal"
        self.board = Board(seats, self.options.start_chips)
        self.before = self.board.copy()
        """The chips as they were before the ante of this round."""
        self.scores = list(self.board.chips)
        """Chips after the last finished round."""
        self.sheet: list[dict[str, Any]] = []
        self.out: set[Seat] = set()
        self.rounds = 0
        """Rounds that have been played to their end."""
        self.dealer: Seat = 0
        self.next_dealer: Seat | None = None
        """Who deals next, unless he cannot: then the first clockwise who can.  None: the coin says (R10)."""
        self.faults: list[Fault] = []
        """The broken words of the last round (R236)."""
        self.endings: list[tuple[str, ...]] = []
        """The pots of each final deal to come (R234)."""
        self.answers: dict[Seat, str] = {}
        """The answers to the present window."""
        self._clear()
        self._need: Need = Shuffle(cards=PACK, new_hand=True)

    def _clear(self) -> None:
        """Nothing is dealt."""
        self.players: list[Seat] = []
        """The seats of this round, clockwise from the dealer's left; those that leave during it stay listed."""
        self.hands: list[list[Slot]] = [[] for _ in range(self.seats)]
        self.dead: list[list[Slot]] = [[] for _ in range(self.seats)]
        self.widow: list[Slot] = []
        self.widow_taker: Seat | None = None
        self.faces: dict[Slot, Card] = {}
        """Slots that lie open to all."""
        self.bids: dict[Seat, int] = {}
        """The last bid of each bidder who has not passed; 0: not asked yet."""
        self.without_pay_card: list[tuple[Seat, str]] = []
        """Who has said, by swapping or bidding, that it held no pay card (R223, R224)."""
        self.betting: Betting | None = None
        self.stops: Stops | None = None
        self.claimable: tuple[str, ...] = ()
        """Pots that the last cards played have won and that are not claimed yet."""

    # --- the seam ---------------------------------------------------------------------------------------

    @property
    def need(self) -> Need:
        return self._need

    def apply(self, event: Event) -> None:
        match event, self._need:
            case Moved(), Turn() | Window():
                self._moved(event)
            case Shuffled(), Shuffle():
                self._shuffled(event.coin)
            case Dealt(), Deal():
                self._dealt()
            case Shown(), Showdown():
                self.faces.update(event.faces)
                if self.phase == "settle":
                    self._settle()
                else:
                    self._award_final()
            case Dropped(), _:
                self._dropped(event)
            case Returned(), Shuffle():
                self.out.discard(event.seat)
            case Moved(), _:
                self.check(event.seat, event.text, dict(event.openings))  # raises: nobody is on turn
            case _:
                raise LocalProtocolError(
                    f"{type(event).__name__} was reported while the game needs a {type(self._need).__name__}"
                )

    def check(self, seat: Seat, text: str, openings: Faces) -> None:
        rummoli_rules.check(self, seat, parse(text), openings)

    def slots_of(self, seat: Seat, text: str, faces: Faces) -> tuple[Slot, ...]:
        return rummoli_rules.slots_of(self, seat, parse(text), faces)

    def legal_moves(self, seat: Seat, faces: Faces) -> list[str]:
        return rummoli_rules.legal_moves(self, seat, faces)

    def hidden(self, seat: Seat) -> tuple[Slot, ...]:
        return tuple(slot for slot in (*self.hands[seat], *self.dead[seat]) if slot not in self.faces)

    def is_call(self, text: str) -> bool:
        return text.startswith("play ")

    def digest(self) -> bytes:
        return rummoli_snapshot.digest(self)

    def snapshot(self) -> dict[str, Any]:
        return rummoli_snapshot.snapshot(self)

    # --- who is here ------------------------------------------------------------------------------------

    def present(self) -> list[Seat]:
        """Seats that are at the table, whether or not they can pay the ante."""
        return [seat for seat in range(self.seats) if seat not in self.out]

    def able(self) -> list[Seat]:
        """Seats that can pay the ante (R235)."""
        return [seat for seat in self.present() if self.board.chips[seat] >= ANTE]

    def in_round(self) -> list[Seat]:
        """Seats of this round that are still at the table, clockwise from the dealer's left."""
        return [seat for seat in self.players if seat not in self.out]

    def open_hand(self, seat: Seat) -> dict[Card, Slot]:
        """The cards in the seat's hand that all can see."""
        return {self.faces[slot]: slot for slot in self.hands[seat] if slot in self.faces}

    def coming_dealer(self, among: Sequence[Seat]) -> Seat:
        """Who deals next: ``next_dealer`` or the first clockwise after him of ``among``."""
        start = self.next_dealer or 0
        return min(among, key=lambda seat: (seat - start) % self.seats)

    def _from_the_left_of(self, dealer: Seat, among: Sequence[Seat]) -> list[Seat]:
        return sorted(among, key=lambda seat: (seat - dealer - 1) % self.seats)

    # --- shuffle and deal -------------------------------------------------------------------------------

    def _shuffled(self, coin: bytes) -> None:
        among = self.present() if self.phase == "final" else self.able()
        if self.next_dealer is None:
            self.next_dealer = among[int.from_bytes(coin, "big") % len(among)]
        self.dealer = self.coming_dealer(among)
        self.players = self._from_the_left_of(self.dealer, among)
        if self.phase == "final":
            dealt = list(range(HAND_SIZE * len(self.players)))
            piles = len(self.players)
        else:
            self.before = self.board.copy()
            self.faults = []
            self.board.ante(self.players)
            dealt = list(PACK)
            piles = len(self.players) + self.options.widow
        for slot in dealt:
            place = slot % piles
            pile = self.hands[self.players[place]] if place < len(self.players) else self.widow
            pile.append(slot)
        self._need = self._deal(self.players)

    def _deal(self, seats: Sequence[Seat]) -> Deal:
        owners = {slot: seat for seat in seats for slot in self.hands[seat]}
        return Deal(owners=tuple(sorted(owners.items())))

    def _dealt(self) -> None:
        if self.phase == "final":
            self._need = self._showdown()
        elif self.options.widow and self.widow_taker is None:
            self.begin("widow")
        else:
            self.begin("bet")

    def begin(self, phase: str, leader: Seat = 0, colour: str | None = None) -> None:
        """Enter the round at ``phase``, all cards being dealt; ``lead`` needs to know who leads what."""
        if phase == "widow":
            self.phase = phase
            self._need = Turn(seat=self.dealer)
        elif phase == "bet":
            self._start_poker()
        else:
            self._start_stops(leader, colour)

    def _showdown(self) -> Showdown:
        return Showdown(
            owners=tuple(sorted((slot, seat) for seat in self.in_round() for slot in self.hidden(seat)))
        )

    # --- moves ------------------------------------------------------------------------------------------

    def _moved(self, event: Moved) -> None:
        move = parse(event.text)
        rummoli_rules.check(self, event.seat, move, dict(event.openings))
        self.faces.update(event.openings)
        match self.phase:
            case "widow":
                self._widow(move)
            case "auction":
                self._auction(event.seat, move)
            case "bet" | "show":
                self._poker(event.seat, move)
            case "lead":
                self._lead(event.seat, move)
            case "follow":
                self._follow(event.seat, move)
            case "vote":
                self._vote(event.seat, move)

    def _widow(self, move: Move) -> None:
        if move.verb == "swap":
            self.without_pay_card.append((self.dealer, "swap"))
            self._take_widow(self.dealer)
            return
        self.phase = "auction"
        self.bids = dict.fromkeys((seat for seat in self.in_round() if seat != self.dealer), 0)
        self._next_bidder(self.dealer)

    def _auction(self, seat: Seat, move: Move) -> None:
        if move.verb == "bid":
            self.without_pay_card.append((seat, "bid"))
            self.bids[seat] = move.amount
        else:
            del self.bids[seat]
        self._next_bidder(seat)

    def _next_bidder(self, after: Seat) -> None:
        if not self.bids:
            self._start_poker()
            return
        if len(self.bids) == 1:
            ((seat, amount),) = self.bids.items()
            if amount:
                self.board.pay(seat, self.dealer, amount)
                self._take_widow(seat)
                return
        waiting = self._from_the_left_of(after, [seat for seat in self.bids if seat != after])
        self._need = Turn(seat=waiting[0])

    def _take_widow(self, seat: Seat) -> None:
        self.widow_taker = seat
        self.dead[seat] = self.hands[seat]
        self.hands[seat] = self.widow
        self.widow = []
        self.phase = "deal"
        self._need = self._deal([seat])

    # --- poker ------------------------------------------------------------------------------------------

    def _start_poker(self) -> None:
        self.betting = Betting(self.in_round(), self.options.bet_limit)
        self._after_poker()

    def _poker(self, seat: Seat, move: Move) -> None:
        betting = self.betting
        assert betting is not None
        match move.verb:
            case "check" | "call":
                self.board.put(seat, "poker", betting.check_or_call(seat))
            case "bet" | "raise":
                self.board.put(seat, "poker", betting.rise(seat, move.amount))
            case "show":
                betting.show(seat, move.cards)
            case _:
                betting.leave(seat)
        self._after_poker()

    def _after_poker(self) -> None:
        betting = self.betting
        assert betting is not None
        if betting.turn is not None:
            self.phase = "bet" if betting.shown is None else "show"
            self._need = Turn(seat=betting.turn)
            return
        winners = betting.best()
        self.board.share(["poker"], winners)
        self._start_stops(winners[0])

    # --- stops ------------------------------------------------------------------------------------------

    def _start_stops(self, leader: Seat, colour: str | None = None) -> None:
        seats = self.in_round()
        self.stops = Stops(seats, {seat: len(self.hands[seat]) for seat in seats}, leader, colour)
        for seat in self.players:
            if seat in self.out:
                self.stops.leave(seat, self.open_hand(seat))
        self._after_stops()

    def _lead(self, seat: Seat, move: Move) -> None:
        stops = self.stops
        assert stops is not None
        if move.verb == "claim":
            self._pay_claims(seat)
            return
        if move.verb == "pass":
            stops.deny_colour()
        else:
            self._lay(stops, seat, move)
            stops.lead(move.cards)
        self._after_stops()

    def _follow(self, seat: Seat, move: Move) -> None:
        stops = self.stops
        assert stops is not None
        self.answers[seat] = move.verb
        done = self._all_answered()
        if move.verb == "play":
            self._lay(stops, seat, move)
            stops.follow(seat, move.cards)
        else:
            stops.deny_card(seat)
        if done:
            self._after_stops()

    def _all_answered(self) -> bool:
        assert isinstance(self._need, Window)
        return len(self.answers) == len(self._need.seats)

    def _lay(self, stops: Stops, seat: Seat, move: Move) -> None:
        """The cards leave the hand; pots that they win are paid, or may be claimed until the next card (R231)."""
        hand = self.open_hand(seat)
        for card in move.cards:
            self.hands[seat].remove(hand[card])
        earlier = [card for player, card in stops.played if player == seat]
        self.claimable = self.winnable(earlier, move.cards)
        if move.claim or self.options.claim == "auto":
            self._pay_claims(seat)

    def winnable(self, earlier: Sequence[Card], cards: Sequence[Card]) -> tuple[str, ...]:
        """The pots with chips in them that ``cards`` win after ``earlier`` ones of the same seat."""
        return tuple(pot for pot in pots_won(earlier, cards) if self.board.pots[pot])

    def _pay_claims(self, seat: Seat) -> None:
        for pot in self.claimable:
            self.board.share([pot], [seat])
        self.claimable = ()

    def _after_stops(self) -> None:
        stops = self.stops
        assert stops is not None
        self.answers = {}
        if stops.over:
            self._end_stops()
        elif stops.leader is not None:
            self.phase = "lead"
            self._need = Turn(seat=stops.leader)
        else:
            assert stops.last is not None
            self.phase = "follow"
            self._need = Window(after=stops.last, seats=tuple(stops.waiting), sealed=False)

    def _end_stops(self) -> None:
        self.phase = "settle"
        self._need = self._showdown()
        if not self._need.owners:
            self._settle()

    # --- settlement -------------------------------------------------------------------------------------

    def _settle(self) -> None:
        self.faults = self._broken_words()
        self.rounds += 1
        self.next_dealer = (self.dealer + 1) % self.seats
        if self.faults:
            self.board = self.before.copy()
        else:
            self._pay_debts()
        self._write_down([fault.note() for fault in self.faults])
        self._after_round()

    def _broken_words(self) -> list[Fault]:
        """R236: what was said about hidden cards, held against the hands that now lie open."""
        left = {
            seat: [self.faces[slot] for slot in self.hands[seat] if slot in self.faces]
            for seat in self.players
        }
        played = self.stops.played if self.stops else []
        faults = []
        for seat, verb in self.without_pay_card:
            own = [card for player, card in played if player == seat] + left[seat]
            first = [self.faces[slot] for slot in self.dead[seat] if slot in self.faces] or own
            held = tuple(sorted(PAY_CARDS.intersection(first)))
            if held:
                rule = "R223" if verb == "swap" else "R224"
                faults.append(Fault(seat=seat, rule=rule, cards=held, said=verb))
        return faults + (self.stops.faults(left) if self.stops else [])

    def _pay_debts(self) -> None:
        """R230, R232: a chip for each card left, to the centre or to the winner with the centre."""
        winner = self.stops.winner if self.stops else None
        for seat in self.players:
            if winner is None:
                self.board.put(seat, "centre", len(self.hands[seat]))
            elif seat != winner:
                self.board.pay(seat, winner, len(self.hands[seat]))
        if winner is not None:
            self.board.share(["centre"], [winner])

    def _write_down(self, notes: list[str]) -> None:
        chips = self.board.chips
        self.sheet.append(
            {
                "hand": self.hand,
                "points": [now - was for now, was in zip(chips, self.scores, strict=True)],
                "table": [0] * self.seats,
                "in_hand": [len(hand) for hand in self.hands],
                "notes": notes,
            }
        )
        self.scores = list(chips)

    # --- from round to round ----------------------------------------------------------------------------

    def _after_round(self) -> None:
        """R234: is that the end, or does the table have to say?"""
        last = self.options.max_rounds
        if len(self.able()) < 2 or (last is not None and self.rounds >= last):
            self._finish()
        elif last is None:
            self._ask_to_end()
        else:
            self._next_hand("deal")

    def _next_hand(self, phase: str) -> None:
        self._clear()
        self.answers = {}
        self.hand += 1
        self.phase = phase
        self._need = Shuffle(cards=PACK, new_hand=True)

    def _ask_to_end(self) -> None:
        dealer = self.coming_dealer(self.able())
        others = [seat for seat in self._from_the_left_of(dealer, self.able()) if seat != dealer]
        self.phase = "vote"
        self.answers = {}
        self._need = Window(after=dealer, seats=tuple(others), sealed=False)

    def _vote(self, seat: Seat, move: Move) -> None:
        if isinstance(self._need, Window):
            self.answers[seat] = move.verb
            if not self._all_answered():
                return
            if set(self.answers.values()) == {"end"}:
                self._need = Turn(seat=self._need.after)
                return
        elif move.verb == "end":
            self._finish()
            return
        self._next_hand("deal")

    def _finish(self) -> None:
        """R234: the chips left on the board are played for, in one deal or from the smallest pot up."""
        filled = [pot for pot in POTS if self.board.pots[pot]]
        if self.options.final == "per_pot":
            self.endings = [(pot,) for pot in sorted(filled, key=self.board.pots.__getitem__)]
        else:
            self.endings = [tuple(filled)] if filled else []
        self._next_ending()

    def _next_ending(self) -> None:
        if not self.endings:
            self._over()
        elif len(self.present()) == 1:
            self.board.share([pot for pots in self.endings for pot in pots], self.present())
            self._over()
        else:
            self._next_hand("final")

    def _award_final(self) -> None:
        hands = {seat: [self.faces[slot] for slot in self.hands[seat]] for seat in self.in_round()}
        winners = best_seats(hands)
        self.board.share(self.endings.pop(0), winners)
        self._write_down([f"final {category(hand_value(hands[winners[0]]))}"])
        self.next_dealer = (self.dealer + 1) % self.seats
        self._next_ending()

    def _over(self) -> None:
        chips = self.board.chips
        self.scores = list(chips)
        self.phase = "over"
        playing = self.present() or list(range(self.seats))
        most = max(chips[seat] for seat in playing)
        self._need = Over(scores=tuple(chips), winners=tuple(seat for seat in playing if chips[seat] == most))

    # --- seats that leave -------------------------------------------------------------------------------

    def _dropped(self, event: Dropped) -> None:
        seat = event.seat
        if seat in self.out or self.phase == "over":
            self.out.add(seat)
            return
        self.out.add(seat)
        self.faces.update(event.faces)
        waiting_for_a_hand = isinstance(self._need, Shuffle)
        if self.phase == "vote":
            self._after_round()
        elif self.phase == "final":
            if waiting_for_a_hand:
                self._stay_waiting()
            elif event.void:
                self._next_ending()
            else:
                self._final_without(seat)
        elif waiting_for_a_hand:
            self._stay_waiting()
        elif event.void:
            self._void_round()
        else:
            self._round_without(seat)

    def _stay_waiting(self) -> None:
        """A seat left before the shuffle: is there still somebody to deal to?"""
        if self.phase == "final":
            if len(self.present()) == 1:
                self._next_ending()
        elif len(self.able()) < 2:
            self._finish()

    def _void_round(self) -> None:
        self.board = self.before.copy()
        self.next_dealer = self.dealer
        self._write_down(["void"])
        if len(self.able()) < 2:
            self._finish()
        else:
            self._next_hand("deal")

    def _final_without(self, seat: Seat) -> None:
        left = self.in_round()
        if len(left) == 1:
            self.board.share(self.endings.pop(0), left)
            self._write_down(["final unseen"])
            self._next_ending()
        elif isinstance(self._need, Deal):
            self._need = self._deal(left)
        else:
            self._need = self._showdown()

    def _round_without(self, seat: Seat) -> None:
        if seat not in self.players:
            return
        # Slots that had not been dealt to it yet stay closed and belong to nobody.
        self.hands[seat] = [slot for slot in self.hands[seat] if slot in self.faces]
        match self.phase:
            case "deal" if self.widow_taker is None:
                if len(self.in_round()) == 1:
                    self._void_round()
                else:
                    self._need = self._deal(self.in_round())
            case "deal" | "widow" if seat in (self.widow_taker, self.dealer) or len(self.in_round()) == 1:
                if self.widow_taker is None or seat == self.widow_taker:
                    self._start_poker()
            case "auction":
                self._auction_without(seat)
            case "bet" | "show":
                assert self.betting is not None
                self.betting.leave(seat)
                self._after_poker()
            case "lead" | "follow":
                assert self.stops is not None
                self.stops.leave(seat, self.open_hand(seat))
                self._after_stops()
            case "settle":
                self._end_stops()

    def _auction_without(self, seat: Seat) -> None:
        """The dealer's leaving ends the auction; a bidder's is a pass, and its bid lapses."""
        assert isinstance(self._need, Turn)
        self.bids.pop(seat, None)
        if seat == self.dealer:
            self._start_poker()
        elif len(self.bids) < 2 or self._need.seat == seat:
            self._next_bidder(seat)
