"""One round of Rummoli: from the widow to the settlement (R222 to R233, R236).

==========  =======================  ==============================================================================
phase       need                     then
==========  =======================  ==============================================================================
``deal``    Deal                     ``widow``; without one, or once it is swapped: ``bet``
``widow``   Turn of the dealer       ``swap``: the widow is dealt to him; ``keep``: ``auction``
``auction``  Turn of each bidder      one bidder left: he pays the dealer, the widow is dealt to him; none: ``bet``
``bet``     Turn                     all matched: ``show``; one left: he wins the poker pot, ``lead``
``show``    Turn                     all have shown or mucked: the best hand wins the pot, ``lead``
``lead``    Turn                     a card is led: ``follow`` or, where it stops at once, ``lead``; deadlock: ``settle``
``follow``  Window, unsealed         played: ``follow``; all deny it: ``lead``; a hand is empty: ``settle``
``settle``  Showdown of all hands    no word was broken: debts are paid; else the round is void (R236)
``done``    none                     the game goes on
==========  =======================  ==============================================================================

A seat's hidden slots are its hand and, if it swapped, the hand that it gave away: dead, but opened at the
settlement, since a pay card in it would have forbidden the swap or the bid.  The unused widow is never opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from p2p_rummy.games.rummoli_board import PAY_CARDS, Board, pots_won
from p2p_rummy.games.rummoli_cards import Cards
from p2p_rummy.games.rummoli_moves import Move
from p2p_rummy.games.rummoli_poker import Betting
from p2p_rummy.games.rummoli_stops import Fault, Stops, chain
from protocol.game import Card, Faces, Need, Seat, Turn, Window


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The options of a table of Rummoli, typed (R220 to R235)."""

    start_chips: int
    bet_limit: int
    claim: Literal["manual", "auto"]
    max_rounds: int | None
    final: Literal["one_pot", "per_pot"]
    widow: bool
    leaver: Literal["minus_hand", "void_hand", "bot"]


class Round:
    """``players``: clockwise from the dealer's left; those that leave during the round stay listed.

    ``before``: the board before the ante, to which a void round goes back.
    """

    def __init__(
        self, terms: Terms, board: Board, before: Board, cards: Cards, dealer: Seat, players: Sequence[Seat]
    ) -> None:
        self.terms = terms
        self.board = board
        self.before = before
        self.cards = cards
        self.dealer = dealer
        self.players = list(players)
        self.gone: set[Seat] = set()
        """Seats that have left and take no more part."""
        self.played_for: set[Seat] = set()
        """Seats that have left and whose open hands the table plays on."""
        self.phase = "deal"
        self.need: Need | None = None
        self.answers: dict[Seat, str] = {}
        """The answers to the present window."""
        self.widow_taker: Seat | None = None
        self.bids: dict[Seat, int] = {}
        """The last bid of each bidder who has not passed; 0: none yet."""
        self.without_pay_card: list[tuple[Seat, str]] = []
        """Who has said, by swapping or bidding, that it held no pay card (R223, R224)."""
        self.betting: Betting | None = None
        self.stops: Stops | None = None
        self.claimable: tuple[str, ...] = ()
        """Pots that the last cards played have won and that are not claimed yet."""
        self.faults: list[Fault] = []
        self.voided = False
        """A leaver has ended the round; it is to be dealt again."""

    def seats(self) -> list[Seat]:
        """The seats that are played, by themselves or by the table, clockwise from the dealer's left."""
        return [seat for seat in self.players if seat not in self.gone]

    # --- events -----------------------------------------------------------------------------------------

    def dealt(self) -> None:
        offered = self.terms.widow and self.widow_taker is None and self.dealer not in self.gone
        self.begin("widow" if offered else "bet")

    def begin(self, phase: str, leader: Seat = 0, colour: str | None = None) -> None:
        """Enter the round at ``phase``, all cards being dealt; ``lead`` needs to know who leads what."""
        if phase == "widow":
            self.phase = phase
            self.need = Turn(seat=self.dealer)
        elif phase == "bet":
            self.betting = Betting(self.seats(), self.terms.bet_limit)
            self._after_poker(self.betting)
        else:
            self._start_stops(leader, colour)

    def moved(self, seat: Seat, move: Move, openings: Faces) -> None:
        """A move that has been checked."""
        self.cards.faces.update(openings)
        match self.phase:
            case "widow":
                self._widow(move)
            case "auction":
                self._auction(seat, move)
            case "bet" | "show":
                self._poker(seat, move)
            case "lead":
                self._lead(seat, move)
            case "follow":
                self._follow(seat, move)

    def shown(self) -> None:
        """All hands lie open: R236, then R230 or R232."""
        self.faults = self._broken_words()
        if self.faults:
            self.board.restore(self.before)
        else:
            self._pay_debts()
        self.phase = "done"
        self.need = None

    # --- the widow --------------------------------------------------------------------------------------

    def _widow(self, move: Move) -> None:
        if move.verb == "swap":
            self.without_pay_card.append((self.dealer, "swap"))
            self._take_widow(self.dealer)
            return
        self.phase = "auction"
        self.bids = dict.fromkeys((seat for seat in self.seats() if seat != self.dealer), 0)
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
            self.begin("bet")
            return
        if len(self.bids) == 1:
            ((seat, amount),) = self.bids.items()
            if amount:
                self.board.pay(seat, self.dealer, amount)
                self._take_widow(seat)
                return
        at = self.players.index(after) + 1
        waiting = (seat for seat in (*self.players[at:], *self.players[:at]) if seat in self.bids)
        self.need = Turn(seat=next(waiting))

    def _take_widow(self, seat: Seat) -> None:
        self.widow_taker = seat
        self.phase = "deal"
        self.need = self.cards.swap(seat)

    # --- poker ------------------------------------------------------------------------------------------

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
        self._after_poker(betting)

    def _after_poker(self, betting: Betting) -> None:
        if betting.turn is not None:
            self.phase = "bet" if betting.shown is None else "show"
            self.need = Turn(seat=betting.turn)
            return
        winners = betting.best()
        self.board.share(["poker"], winners)
        self._start_stops(winners[0])

    # --- stops ------------------------------------------------------------------------------------------

    def _start_stops(self, leader: Seat, colour: str | None = None) -> None:
        seats = self.seats()
        self.stops = Stops(seats, {seat: len(self.cards.hands[seat]) for seat in seats}, leader, colour)
        for seat in self.gone:
            self.stops.leave(seat, self.cards.open_hand(seat))
        self._after_stops(self.stops)

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
        self._after_stops(stops)

    def _follow(self, seat: Seat, move: Move) -> None:
        stops = self.stops
        assert stops is not None
        assert isinstance(self.need, Window)
        self.answers[seat] = move.verb
        if move.verb == "play":
            self._lay(stops, seat, move)
            stops.follow(seat, move.cards)
        else:
            stops.deny_card(seat)
        if len(self.answers) == len(self.need.seats):
            self._after_stops(stops)

    def _lay(self, stops: Stops, seat: Seat, move: Move) -> None:
        """The cards leave the hand; pots that they win are paid, or may be claimed until the next card (R231)."""
        self.cards.lay(seat, move.cards)
        self.claimable = self.winnable(seat, move.cards)
        if move.claim or self.terms.claim == "auto":
            self._pay_claims(seat)

    def winnable(self, seat: Seat, cards: Sequence[Card]) -> tuple[str, ...]:
        """The pots with chips in them that ``seat`` wins by playing ``cards`` now."""
        earlier = [card for player, card in self.stops.played if player == seat] if self.stops else []
        return tuple(pot for pot in pots_won(earlier, cards) if self.board.pots[pot])

    def _pay_claims(self, seat: Seat) -> None:
        for pot in self.claimable:
            self.board.share([pot], [seat])
        self.claimable = ()

    def _after_stops(self, stops: Stops) -> None:
        self.answers = {}
        while absent := self.played_for.intersection(stops.waiting):
            self._answer_for(stops, min(absent))
        if stops.over:
            self._ask_for_hands()
        elif stops.leader is not None:
            self.phase = "lead"
            self.need = Turn(seat=stops.leader)
        else:
            assert stops.last is not None
            self.phase = "follow"
            self.need = Window(after=stops.last, seats=tuple(stops.waiting), sealed=False)

    # --- settlement -------------------------------------------------------------------------------------

    def _ask_for_hands(self) -> None:
        self.phase = "settle"
        self.need = showdown = self.cards.showdown(self.seats())
        if not showdown.owners:
            self.shown()

    def _broken_words(self) -> list[Fault]:
        """R236: what was said about hidden cards, held against the hands that now lie open."""
        left = {seat: list(self.cards.open_hand(seat)) for seat in self.players}
        played = self.stops.played if self.stops else []
        faults = []
        for seat, verb in self.without_pay_card:
            own = [*left[seat], *(card for player, card in played if player == seat)]
            held = tuple(sorted(PAY_CARDS.intersection(self.cards.open_dead(seat) or own)))
            if held:
                rule = "R223" if verb == "swap" else "R224"
                faults.append(Fault(seat=seat, rule=rule, cards=held, said=f"made a {verb}"))
        return faults + (self.stops.faults(left) if self.stops else [])

    def _pay_debts(self) -> None:
        """R230, R232: a chip for each card left, to the centre or to the winner with the centre."""
        winner = self.stops.winner if self.stops else None
        for seat in self.players:
            cards = len(self.cards.hands[seat])
            if winner is None:
                self.board.put(seat, "centre", cards)
            elif seat != winner:
                self.board.pay(seat, winner, cards)
        if winner is not None:
            self.board.share(["centre"], [winner])

    # --- seats that leave -------------------------------------------------------------------------------

    def void(self, leaver: Seat) -> None:
        """Nothing of the round counts, but the leaver pays for its cards: nobody buys a new deal by leaving."""
        cards = len(self.cards.hands[leaver])
        self.void_for_all()
        self.board.put(leaver, "centre", cards)

    def void_for_all(self) -> None:
        """The cards cannot be told: nothing of the round counts, for anybody."""
        self.board.restore(self.before)
        self.voided = True
        self.phase = "done"
        self.need = None

    def without(self, seat: Seat, faces: Faces) -> None:
        """``seat`` has left and its hand lies open; ``leaver`` is not ``void_hand``."""
        self.cards.faces.update(faces)
        self.cards.forget_closed(seat)
        if self.terms.leaver == "bot" and self.cards.hands[seat] and self.phase != "settle":
            self.played_for.add(seat)
            self._play_on_for(seat)
        else:
            self.gone.add(seat)
            self._go_on_without(seat)

    def _play_on_for(self, seat: Seat) -> None:
        """The table plays the open hand of ``seat`` from here; it never plays one that it cannot see."""
        match self.phase:
            case "deal" if seat == self.widow_taker:
                self.begin("bet")  # the widow lies open with the rest of the hand
            case "auction":
                self._bid_lapses(seat)
            case "follow":
                assert self.stops is not None
                self._after_stops(self.stops)

    def _go_on_without(self, seat: Seat) -> None:
        alone = len(self.seats()) == 1
        match self.phase:
            case "deal" if self.widow_taker is None:
                if alone:
                    self.void(seat)
                else:
                    self.need = self.cards.deal_to(self.seats())
            case "deal":
                if alone or seat == self.widow_taker:
                    self.begin("bet")
            case "widow":
                if alone or seat == self.dealer:
                    self.begin("bet")
            case "auction":
                self._auction_without(seat)
            case "bet" | "show":
                assert self.betting is not None
                self.betting.leave(seat)
                self._after_poker(self.betting)
            case "lead" | "follow":
                assert self.stops is not None
                self.stops.leave(seat, self.cards.open_hand(seat))
                self._after_stops(self.stops)
            case "settle":
                self._ask_for_hands()

    def _auction_without(self, seat: Seat) -> None:
        """The dealer's leaving ends the auction; a bidder's is a pass."""
        if seat == self.dealer:
            self.begin("bet")
        else:
            self._bid_lapses(seat)

    def _bid_lapses(self, seat: Seat) -> None:
        """Who leaves passes, whatever it has bid: it can neither pay nor see the widow."""
        assert isinstance(self.need, Turn)
        self.bids.pop(seat, None)
        if len(self.bids) < 2 or self.need.seat == seat:
            self._next_bidder(seat)

    def _answer_for(self, stops: Stops, seat: Seat) -> None:
        """The table answers for a seat whose hand lies open."""
        hand = self.cards.open_hand(seat)
        if stops.due is None or stops.due not in hand:
            stops.deny_card(seat)
            return
        stops.waiting = [seat]  # all can see that nobody else holds it
        cards = chain(stops.due, hand)
        self._lay(stops, seat, Move("play", cards=cards, claim=True))
        stops.follow(seat, cards)
