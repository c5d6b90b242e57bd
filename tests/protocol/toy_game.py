"""A small card game that uses everything a Game can ask of the trust layer.

Each hand: a pack of ``card_count`` cards is shuffled; every seat gets two closed cards, and one card is opened
to all.  Every seat bids in an open window (``bid 0`` to ``bid 2``).  Then the seats take turns from the left of the
dealer: ``draw`` a card, then ``play C`` one.  After each play the others may ``beat C`` it with a higher card of their
hand, in a sealed window: the caller nearest to the player takes a point.  When the stock is too small for a
draw, the pile is shuffled again.  After ``rounds`` turns of each seat all remaining cards are shown; the highest card in
hand is a point.  After ``hands`` hands the game is over.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, ClassVar

from protocol.agreement import Agreement
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


class ToyGame:
    name: ClassVar[str] = "toy"

    def __init__(
        self, seats: int, *, hands: int = 1, rounds: int = 2, cards: int = 0, bids: bool = True
    ) -> None:
        self.seats = seats
        self.card_count = cards or 4 * seats + 1
        self.hand = 1
        self.rounds = rounds
        self.hands = hands
        self.bids = bids
        self.scores = [0] * seats
        self.out: list[Seat] = []
        self.dealer = -1
        self._new_hand()

    @property
    def need(self) -> Need:
        return self._need

    def _new_hand(self) -> None:
        self.counted = list(self.scores)
        self.held: dict[Slot, Seat] = {}
        self.pile: list[Card] = []
        self.stock: list[Slot] = []
        self.slots = 0
        self.turns = 0
        self.drawn = False
        self.phase = "shuffle"
        self.answers: dict[Seat, str] = {}
        self._need: Need = Shuffle(cards=tuple(range(self.card_count)), new_hand=True)

    def _playing(self) -> list[Seat]:
        return [seat for seat in range(self.seats) if seat not in self.out]

    def _next(self, seat: Seat) -> Seat:
        return next(
            (seat + step) % self.seats
            for step in range(1, self.seats + 1)
            if (seat + step) % self.seats not in self.out
        )

    def _after(self, seat: Seat) -> tuple[Seat, ...]:
        """The others, clockwise."""
        order = [(seat + step) % self.seats for step in range(1, self.seats)]
        return tuple(other for other in order if other not in self.out)

    # --- events ----------------------------------------------------------------------------------------

    def apply(self, event: Event) -> None:
        match event:
            case Shuffled(coin=coin):
                self._shuffled(coin)
            case Dealt(faces=faces):
                self._dealt(faces)
            case Moved(seat=seat, text=text, openings=openings):
                self.check(seat, text, dict(openings))
                self._moved(seat, text, openings)
            case Shown(faces=faces):
                best: dict[Seat, Card] = {}
                for slot, card in faces:
                    seat = self.held.pop(slot)
                    best[seat] = max(best.get(seat, -1), card)
                if best:
                    self.scores[max(best, key=lambda seat: best[seat])] += 1
                self._end_hand()
            case Dropped(seat=seat, void=void):
                self._dropped(seat, void)
            case Voided():
                self.scores = list(self.counted)
                self.dealer = (self.dealer - 1) % self.seats  # the next hand is this one again
                self._end_hand()
            case Returned(seat=seat):
                self.out.remove(seat)

    def _shuffled(self, coin: bytes) -> None:
        assert isinstance(self._need, Shuffle)
        first = self.slots
        self.slots += len(self._need.cards)
        self.stock = list(range(first, self.slots))
        if self._need.new_hand:
            if self.dealer < 0:
                self.dealer = coin[0] % self.seats
            playing = self._playing()
            owners: list[tuple[Slot, Seat | None]] = []
            for _ in range(2):
                owners += [(self.stock.pop(0), seat) for seat in playing]
            owners.append((self.stock.pop(0), None))
            self._need = Deal(owners=tuple(owners))
        else:
            self.pile = []
            self._need = Deal(owners=((self.stock.pop(0), self.turn),))

    def _dealt(self, faces: tuple[tuple[Slot, Card], ...]) -> None:
        assert isinstance(self._need, Deal)
        for slot, owner in self._need.owners:
            if owner is not None:
                self.held[slot] = owner
        self.pile += [card for _, card in faces]
        if self.phase == "shuffle":
            self.turn = self._next(self.dealer)
            if self.bids:
                self.phase = "bid"
                self._need = Window(after=self.dealer, seats=self._after(self.dealer), sealed=False)
                return
        else:
            self.drawn = True
        self.phase = "play"
        self._need = Turn(seat=self.turn)

    def _moved(self, seat: Seat, text: str, openings: tuple[tuple[Slot, Card], ...]) -> None:
        for slot, card in openings:
            del self.held[slot]
            self.pile.append(card)
        if self.phase in ("bid", "call"):
            self.answers[seat] = text
            assert isinstance(self._need, Window)
            if len(self.answers) < len(self._need.seats):
                return
            if self.phase == "call":
                caller = next((s for s in self._need.seats if self.is_call(self.answers[s])), None)
                if caller is not None:
                    self.scores[caller] += 1
            self.answers = {}
            if self.phase == "call":
                self._end_turn()
            self.phase = "play"
            if isinstance(self._need, Window):
                self._need = Turn(seat=self.turn)
        elif text == "draw":
            if self.stock:
                self._need = Deal(owners=((self.stock.pop(0), seat),))
            else:
                self._need = Shuffle(cards=tuple(self.pile), new_hand=False)
        else:
            self.phase = "call"
            self._need = Window(after=seat, seats=self._after(seat))

    def _end_turn(self) -> None:
        self.turns += 1
        self.drawn = False
        self.turn = self._next(self.turn)
        if self.turns < self.rounds * len(self._playing()):
            self._need = Turn(seat=self.turn)
        elif self.held:
            self._need = Showdown(owners=tuple(sorted(self.held.items())))
        else:
            self._end_hand()

    def _end_hand(self) -> None:
        self.hand += 1
        if self.hand > self.hands or len(self._playing()) < 2:
            best = max(self.scores)
            winners = tuple(seat for seat in range(self.seats) if self.scores[seat] == best)
            self._need = Over(scores=tuple(self.scores), winners=winners)
        else:
            self.dealer = self._next(self.dealer)
            self._new_hand()

    def _dropped(self, seat: Seat, void: bool) -> None:
        self.out.append(seat)
        gone = [slot for slot, owner in self.held.items() if owner == seat]
        for slot in gone:
            del self.held[slot]
        self.scores[seat] -= len(gone)
        if isinstance(self._need, Over):
            return
        if void or len(self._playing()) < 2:
            self._end_hand()
        elif isinstance(self._need, Turn) and self._need.seat == seat:
            self.turns -= 1
            self._end_turn()
        elif isinstance(self._need, Shuffle) and not self._need.new_hand:
            if self.turn == seat:
                self.turns -= 1
                self._end_turn()
        elif isinstance(self._need, Window):
            if self.phase == "bid" and self.turn == seat:
                self.turn = self._next(seat)
            self._need = Window(
                after=self._need.after,
                seats=tuple(other for other in self._need.seats if other != seat),
                sealed=self._need.sealed,
            )
        elif isinstance(self._need, Showdown):
            self._need = Showdown(owners=tuple(sorted(self.held.items())))

    # --- rules -----------------------------------------------------------------------------------------

    def check(self, seat: Seat, text: str, openings: Faces) -> None:
        word, _, rest = text.partition(" ")
        need = self._need
        if isinstance(need, Turn):
            if seat != need.seat:
                raise Refused("not_your_turn", "it is another seat's turn", rule="T1")
            if word == "draw" and not rest:
                if self.drawn:
                    raise Refused("wrong_phase", "one draw a turn", rule="T2")
                if openings:
                    raise Refused("wrong_cards", "a draw opens nothing", rule="T2")
                return
            if word == "play" and self.drawn:
                self._check_card(seat, rest, openings)
                return
            raise Refused("wrong_phase", "draw, then play a card", rule="T2")
        if isinstance(need, Window):
            if seat not in need.seats or seat in self.answers:
                raise Refused("wrong_phase", "not asked", rule="T3")
            if text == "pass":
                if openings:
                    raise Refused("wrong_cards", "a pass opens nothing", rule="T3")
                return
            if self.phase == "bid" and word == "bid":
                if rest not in ("0", "1", "2") or openings:
                    raise Refused("bad_bid", "bid 0, 1 or 2", rule="T4")
                return
            if self.phase == "call" and word == "beat":
                self._check_card(seat, rest, openings)
                if int(rest) <= self.pile[-1] and not self.answers_beat():
                    raise Refused("no_call_possible", "too low", rule="T5")
                return
        raise Refused("wrong_phase", f"{text!r} is not possible now", rule="T6")

    def answers_beat(self) -> bool:
        """Whether somebody before has beaten already: the pile's top is then not the card that was played."""
        return any(self.is_call(text) for text in self.answers.values())

    def _check_card(self, seat: Seat, rest: str, openings: Faces) -> None:
        if not rest.isdecimal() or len(rest) > 3:
            raise Refused("unreadable", "a card is a number")
        if list(openings.values()) != [int(rest)] or any(self.held.get(slot) != seat for slot in openings):
            raise Refused("not_in_hand", "exactly this card is to be opened", rule="T7", cards=(rest,))

    def slots_of(self, seat: Seat, text: str, faces: Faces) -> tuple[Slot, ...]:
        word, _, rest = text.partition(" ")
        if word not in ("play", "beat"):
            return ()
        slots = tuple(slot for slot, card in faces.items() if str(card) == rest)
        if not slots:
            raise Refused("not_in_hand", "this card is not in hand", rule="T7", cards=(rest,))
        return slots

    def legal_moves(self, seat: Seat, faces: Faces) -> list[str]:
        need = self._need
        if isinstance(need, Turn) and need.seat == seat:
            return [f"play {card}" for card in sorted(faces.values())] if self.drawn else ["draw"]
        if isinstance(need, Window) and seat in need.seats and seat not in self.answers:
            if self.phase == "bid":
                return ["bid 0", "bid 1", "bid 2", "pass"]
            return ["pass", *(f"beat {card}" for card in sorted(faces.values()) if card > self.pile[-1])]
        return []

    def hidden(self, seat: Seat) -> tuple[Slot, ...]:
        return tuple(slot for slot, owner in sorted(self.held.items()) if owner == seat)

    def is_call(self, text: str) -> bool:
        return text.startswith("beat")

    def digest(self) -> bytes:
        return hashlib.sha256(json.dumps(self.snapshot(), sort_keys=True).encode()).digest()

    def snapshot(self) -> dict[str, Any]:
        return {
            "hand": self.hand,
            "scores": list(self.scores),
            "dealer": self.dealer,
            "held": [[slot, seat] for slot, seat in sorted(self.held.items())],
            "pile": list(self.pile),
            "stock": list(self.stock),
            "turns": self.turns,
            "phase": self.phase,
            "out": list(self.out),
            "need": repr(self._need),
        }


def toy_game(agreement: Agreement) -> ToyGame:
    """What the agreement's options say."""
    options = dict(agreement.options)
    return ToyGame(
        len(agreement.seats),
        hands=int(options.get("hands", "1")),
        rounds=int(options.get("rounds", "2")),
        cards=int(options.get("cards", "0")),
        bids=options.get("bids", "yes") == "yes",
    )
