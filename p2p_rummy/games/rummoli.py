"""Rummoli (R220 to R236): chips and pots, a widow, an auction, poker, and a race of stops.

A second game on the seam of :mod:`protocol.game`, with nothing in common with rum but the cards.  This
module leads from round to round; :mod:`~p2p_rummy.games.rummoli_round` is one round, the poker and the stops are
machines of their own, and what a move may be stands in :mod:`~p2p_rummy.games.rummoli_rules`.

=========  ======================  ================================================================================
phase      need                    then
=========  ======================  ================================================================================
``deal``   Shuffle                 the ante is paid and the round dealt
(a round)  see the round           over: ``vote`` without ``max_rounds``, else the next round; after the last one, or
                                   when fewer than two can pay the ante: ``final``
``vote``   Window, then Turn       all say ``end``, the coming dealer last: ``final``; else the next round
``final``  Shuffle, Deal,          the pots that are left are won by the best five cards, in one deal or in one for
           Showdown                each pot (R234); no pot is left: ``over``
``over``   Over                    nothing
=========  ======================  ================================================================================

A seat that leaves (option ``leaver``, DECISION: no document knows it) never saves a chip by it:

``minus_hand``  it folds; its hand lies open and dead, and is paid for at the settlement as if it sat there
``void_hand``   the round is void and dealt again by the same dealer, and does not count as played; the leaver pays
                a chip for each card that it held into the centre.  So too where its cards cannot be opened
``bot``         its hand lies open and is played on by a fixed rule: it neither swaps, bids nor bets, folds when
                it faces a bet, and plays, shows and claims what it can, the lowest numbered card of equals first

A round that is void for a broken word counts as played, so that a liar cannot hold up the end of the game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, ClassVar

from p2p_rummy.games import rummoli_rules, rummoli_snapshot
from p2p_rummy.games.poker import HAND_SIZE, best_seats, category, hand_value
from p2p_rummy.games.rummoli_board import ANTE, PACK, POTS, Board
from p2p_rummy.games.rummoli_cards import Cards
from p2p_rummy.games.rummoli_moves import Move, parse
from p2p_rummy.games.rummoli_round import Round, Terms
from p2p_rummy.games.rummoli_stops import Fault
from p2p_rummy.options import Settings
from protocol.errors import LocalProtocolError
from protocol.game import (
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
    Voided,
    Window,
)

__all__ = ["Rummoli"]


class Rummoli:
    """One game, from the first ante to the division of the last pot."""

    name: ClassVar[str] = "rummoli"

    def __init__(self, settings: Settings) -> None:
        values: dict[str, Any] = dict(settings.values)
        self.seats = settings.seats
        self.settings = settings
        self.terms = Terms(**{term.name: values[term.name] for term in fields(Terms)})
        self.card_count = len(PACK)
        self.hand = 1
        self.board = Board(self.seats, self.terms.start_chips)
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
        self.players: list[Seat] = []
        """The seats that were dealt to, clockwise from the dealer's left."""
        self.cards = Cards(self.seats)
        self.round: Round | None = None
        """The round being played; None between rounds and in the final deals."""
        self._phase = "deal"
        self._answers: dict[Seat, str] = {}
        self._need: Need = Shuffle(cards=PACK, new_hand=True)

    # --- the seam ---------------------------------------------------------------------------------------

    @property
    def need(self) -> Need:
        return self.round.need if self.round and self.round.need else self._need

    @property
    def phase(self) -> str:
        return self.round.phase if self.round else self._phase

    @property
    def answers(self) -> dict[Seat, str]:
        """The answers to the present window."""
        return self.round.answers if self.round else self._answers

    def apply(self, event: Event) -> None:
        match event, self.need:
            case Moved(), Turn() | Window():
                move = parse(event.text)
                openings = dict(event.openings)
                rummoli_rules.check(self, event.seat, move, openings)
                self._moved(event.seat, move, openings)
            case Shuffled(), Shuffle():
                self._shuffled(event.coin)
            case Dealt(), Deal():
                self._dealt()
            case Shown(), Showdown():
                self.cards.faces.update(event.faces)
                self._shown()
            case Dropped(), _:
                self._dropped(event)
            case Voided(), Deal() | Showdown():
                self._voided()
            case Returned(), Shuffle():
                self.out.discard(event.seat)
            case Moved(), _:
                self.check(event.seat, event.text, dict(event.openings))  # raises: nobody is on turn
            case _:
                raise LocalProtocolError(
                    f"{type(event).__name__} was reported while the game needs a {type(self.need).__name__}"
                )
        self._play_for_leavers()
        if self.round and self.round.need is None:
            self._round_over(self.round)

    def check(self, seat: Seat, text: str, openings: Faces) -> None:
        rummoli_rules.check(self, seat, parse(text), openings)

    def slots_of(self, seat: Seat, text: str, faces: Faces) -> tuple[Slot, ...]:
        return rummoli_rules.slots_of(self, seat, parse(text), faces)

    def legal_moves(self, seat: Seat, faces: Faces) -> list[str]:
        return rummoli_rules.legal_moves(self, seat, faces)

    def hidden(self, seat: Seat) -> tuple[Slot, ...]:
        return self.cards.hidden(seat)

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

    def _coming_dealer(self, among: Sequence[Seat]) -> Seat:
        """``next_dealer`` or the first clockwise after him of ``among``."""
        start = self.next_dealer or 0
        return min(among, key=lambda seat: (seat - start) % self.seats)

    def _from_the_left_of(self, dealer: Seat, among: Sequence[Seat]) -> list[Seat]:
        return sorted(among, key=lambda seat: (seat - dealer - 1) % self.seats)

    # --- shuffle, deal, play ----------------------------------------------------------------------------

    def _shuffled(self, coin: bytes) -> None:
        among = self.present() if self._phase == "final" else self.able()
        if self.next_dealer is None:
            self.next_dealer = among[int.from_bytes(coin, "big") % len(among)]
        self.dealer = self._coming_dealer(among)
        self.players = self._from_the_left_of(self.dealer, among)
        if self._phase == "final":
            self._need = self.cards.deal(self.players, HAND_SIZE * len(self.players), widow=False)
            return
        self.faults = []
        before = self.board.copy()
        self.board.ante(self.players)
        self.round = Round(self.terms, self.board, before, self.cards, self.dealer, self.players)
        self.round.need = self.cards.deal(self.players, len(PACK), widow=self.terms.widow)

    def _dealt(self) -> None:
        if self.round:
            self.round.dealt()
        else:
            self._need = self.cards.showdown(self._finalists())

    def _shown(self) -> None:
        if self.round:
            self.round.shown()
        else:
            self._award_final()

    def _moved(self, seat: Seat, move: Move, openings: Faces) -> None:
        if self.round:
            self.round.moved(seat, move, openings)
        else:
            self._vote(seat, move)

    def _play_for_leavers(self) -> None:
        """``leaver=bot``: the table makes the move of a seat that has left."""
        while (
            self.round and isinstance(self.round.need, Turn) and self.round.need.seat in self.round.played_for
        ):
            seat = self.round.need.seat
            legal = rummoli_rules.legal_moves(self, seat, {})
            claims = [text for text in legal if text.endswith("claim")]
            careful = ("keep", "check", "fold") if self.phase != "auction" else ("pass",)
            text = next((text for text in careful if text in legal), (claims or legal)[0])
            self.round.moved(seat, parse(text), {})

    # --- from round to round ----------------------------------------------------------------------------

    def _round_over(self, played: Round) -> None:
        self.rounds += 1
        self.next_dealer = (self.dealer + 1) % self.seats
        self.faults = played.faults
        self._write_down([fault.note() for fault in self.faults])
        self.round = None
        self._after_round()

    def _write_down(self, notes: list[str]) -> None:
        chips = self.board.chips
        self.sheet.append(
            {
                "hand": self.hand,
                "points": [now - was for now, was in zip(chips, self.scores, strict=True)],
                "table": [0] * self.seats,
                "in_hand": [len(hand) for hand in self.cards.hands],
                "notes": notes,
            }
        )
        self.scores = list(chips)

    def _after_round(self) -> None:
        """R234: is that the end, or does the table have to say?"""
        last = self.terms.max_rounds
        if len(self.able()) < 2 or (last is not None and self.rounds >= last):
            self._finish()
        elif last is None:
            self._ask_to_end()
        else:
            self._next_hand("deal")

    def _next_hand(self, phase: str) -> None:
        self.players = []
        self.cards = Cards(self.seats)
        self.round = None
        self._answers = {}
        self.hand += 1
        self._phase = phase
        self._need = Shuffle(cards=PACK, new_hand=True)

    def _ask_to_end(self) -> None:
        dealer = self._coming_dealer(self.able())
        others = [seat for seat in self._from_the_left_of(dealer, self.able()) if seat != dealer]
        self._phase = "vote"
        self._answers = {}
        self._need = Window(after=dealer, seats=tuple(others), sealed=False)

    def _vote(self, seat: Seat, move: Move) -> None:
        if isinstance(self._need, Window):
            self._answers[seat] = move.verb
            if len(self._answers) < len(self._need.seats):
                return
            if set(self._answers.values()) == {"end"}:
                self._need = Turn(seat=self._need.after)
                return
        elif move.verb == "end":
            self._finish()
            return
        self._next_hand("deal")

    # --- the end ----------------------------------------------------------------------------------------

    def _finish(self) -> None:
        """R234: the chips left on the board are played for, in one deal or from the smallest pot up."""
        filled = [pot for pot in POTS if self.board.pots[pot]]
        if self.terms.final == "per_pot":
            self.endings = [(pot,) for pot in sorted(filled, key=self.board.pots.__getitem__)]
        else:
            self.endings = [tuple(filled)] if filled else []
        self._next_ending()

    def _next_ending(self) -> None:
        if self.endings and len(self.present()) == 1:
            self.board.share([pot for pots in self.endings for pot in pots], self.present())
            self.endings = []
        if self.endings:
            self._next_hand("final")
        else:
            self._over()

    def _finalists(self) -> list[Seat]:
        return [seat for seat in self.players if seat not in self.out]

    def _award_final(self) -> None:
        hands = {seat: list(self.cards.open_hand(seat)) for seat in self._finalists()}
        winners = best_seats(hands)
        self.board.share(self.endings.pop(0), winners)
        self._write_down([f"final: {category(hand_value(hands[winners[0]]))}"])
        self.next_dealer = (self.dealer + 1) % self.seats
        self._next_ending()

    def _over(self) -> None:
        """R235: most chips win, of those who are still at the table."""
        chips = self.board.chips
        self.scores = list(chips)
        self._phase = "over"
        self.round = None
        playing = self.present() or list(range(self.seats))
        most = max(chips[seat] for seat in playing)
        self._need = Over(scores=tuple(chips), winners=tuple(seat for seat in playing if chips[seat] == most))

    # --- seats that leave -------------------------------------------------------------------------------

    def _dropped(self, event: Dropped) -> None:
        if event.seat in self.out or self.phase == "over":
            return
        self.out.add(event.seat)
        if self.round:
            self._round_without(self.round, event)
        elif self._phase == "vote":
            self._after_round()
        elif isinstance(self._need, Shuffle):
            self._deal_to_fewer()
        else:
            self._final_without(event)

    def _round_without(self, played: Round, event: Dropped) -> None:
        if event.void or (self.terms.leaver == "void_hand" and event.seat in self.players):
            played.void(event.seat)
        elif event.seat in self.players:
            played.without(event.seat, dict(event.faces))
        if played.voided:
            self._deal_again()

    def _voided(self) -> None:
        """The cards cannot be told: the round, or the final deal, is dealt again."""
        if self.round:
            self.round.void_for_all()
            self._deal_again()
        else:
            self._next_hand("final")

    def _deal_again(self) -> None:
        self.next_dealer = self.dealer
        self._write_down(["void"])
        self.round = None
        if len(self.able()) < 2:
            self._finish()
        else:
            self._next_hand("deal")

    def _deal_to_fewer(self) -> None:
        """A seat left before the shuffle: is there still somebody to deal to?"""
        if self._phase == "final":
            if len(self.present()) == 1:
                self._next_ending()
        elif len(self.able()) < 2:
            self._finish()

    def _final_without(self, event: Dropped) -> None:
        left = self._finalists()
        if event.void:
            self._next_ending()
        elif len(left) == 1:
            self.board.share(self.endings.pop(0), left)
            self._write_down(["final: unseen"])
            self._next_ending()
        elif isinstance(self._need, Deal):
            self._need = self.cards.deal_to(left)
        else:
            self._need = self.cards.showdown(left)
