"""Rummoli's stops phase (R226 to R230), and the reckoning of what was said in it (R236).

=======  =======================================  =========================================================
state    what happens                             then
=======  =======================================  =========================================================
lead     the leader plays its lowest card (of     follow: who holds the next card of the suit?
         the colour that is due), and with it     (stop at once, if that card is known to be dead or there
         all that follows from its own hand       is none above an ace)
lead     the leader has none of the colour        the next seat clockwise leads; all have none: over
follow   the holder plays the next card, and all  follow
         that follows from its own hand
follow   all deny holding it                      stop: the last to play leads the opposite colour
any      a seat's hand is empty                   over
=======  =======================================  =========================================================

Hands are hidden, so nobody can see whether the card led was the lowest or whether a seat that passes holds
what it denies.  Each such statement is therefore written down with its place in the order of play.  When
the hands lie open at the end of the round, :meth:`Stops.faults` holds every statement against the hand that
its seat then had.

A seat that plays ``4H 5H`` of ``4H 5H 6H`` denies the 6H: one move carries all that R227 makes it play.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from p2p_rummy.cards import card_name, card_names
from p2p_rummy.games.rummoli_board import COLOUR, NEXT, OPPOSITE, RANK
from protocol.game import Card, Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A proven breach of a hidden duty.  ``cards``: what the seat held, against its word."""

    seat: Seat
    rule: str
    cards: tuple[Card, ...]
    said: str

    def note(self) -> str:
        """One line for the score sheet."""
        return f"void: seat {self.seat + 1} {self.said}, holding {' '.join(card_names(self.cards))} ({self.rule})"


@dataclass(frozen=True, slots=True)
class Led:
    """A seat led this card as its lowest (of the colour, if one was due)."""

    seat: Seat
    at: int
    """How many cards had been played by all when this was said."""
    card: Card
    colour: str | None

    def broken(self, held: Collection[Card]) -> Fault | None:
        lower = tuple(card for card in sorted(held) if card in lowest(held, self.colour))
        if not lower or RANK[lower[0]] >= RANK[self.card]:
            return None
        rule = "R226" if self.colour is None else "R228"
        return Fault(seat=self.seat, rule=rule, cards=lower, said=f"led {card_name(self.card)} as its lowest")


@dataclass(frozen=True, slots=True)
class DeniedCard:
    """A seat did not play this card when it was due."""

    seat: Seat
    at: int
    card: Card

    def broken(self, held: Collection[Card]) -> Fault | None:
        if self.card not in held:
            return None
        return Fault(seat=self.seat, rule="R227", cards=(self.card,), said=f"denied {card_name(self.card)}")


@dataclass(frozen=True, slots=True)
class DeniedColour:
    """A seat said that it has nothing of this colour to lead."""

    seat: Seat
    at: int
    colour: str

    def broken(self, held: Collection[Card]) -> Fault | None:
        cards = tuple(sorted(card for card in held if COLOUR[card] == self.colour))
        if not cards:
            return None
        return Fault(seat=self.seat, rule="R229", cards=cards, said=f"denied having a {self.colour} card")


def lowest(hand: Collection[Card], colour: str | None) -> frozenset[Card]:
    """The cards that may be led from ``hand``: the lowest of the colour (None: of all), ties included."""
    wanted = [card for card in hand if colour is None or COLOUR[card] == colour]
    least = min((RANK[card] for card in wanted), default=0)
    return frozenset(card for card in wanted if RANK[card] == least)


def chain(card: Card, hand: Collection[Card]) -> tuple[Card, ...]:
    """``card`` and the cards above it in its suit that ``hand`` must play in a row (R227)."""
    cards = [card]
    while (following := NEXT[cards[-1]]) is not None and following in hand:
        cards.append(following)
    return tuple(cards)


class Stops:
    """The stops of one round.  ``order``: the seats clockwise; ``counts``: how many cards each holds."""

    __slots__ = (
        "colour", "counts", "dead", "due", "follower", "last", "leader", "order", "passed", "played", "ring",
        "statements", "waiting", "winner",
    )  # fmt: skip

    def __init__(
        self, order: Sequence[Seat], counts: Mapping[Seat, int], leader: Seat, colour: str | None = None
    ) -> None:
        self.ring = tuple(order)
        self.order: list[Seat] = list(order)
        """The seats of the ring that are still in."""
        self.counts: dict[Seat, int] = dict(counts)
        self.played: list[tuple[Seat, Card]] = []
        self.statements: list[Led | DeniedCard | DeniedColour] = []
        self.dead: set[Card] = set()
        """Cards known to all to be out of play: those of seats that left the table."""
        self.leader: Seat | None = leader
        """Whose lead it is; None while a card is to be followed and when all is over."""
        self.colour = colour
        """What must be led; None: any colour (the first lead)."""
        self.passed: list[Seat] = []
        """Who has denied having the colour."""
        self.due: Card | None = None
        """The card that must follow; None while leading."""
        self.waiting: list[Seat] = []
        """Who has still to play or deny the card that is due."""
        self.follower: Seat | None = None
        """Who has played the card that was due, while others still have to answer."""
        self.last: Seat | None = None
        """Who played last."""
        self.winner: Seat | None = None
        """Whose hand is empty, or who alone is left."""
        if len(self.order) == 1:
            self._end(leader)

    @property
    def over(self) -> bool:
        """The round has ended: by an empty hand (``winner``) or, without one, by deadlock (R230)."""
        return self.leader is None and not self.waiting

    # --- what happens -----------------------------------------------------------------------------------

    def lead(self, cards: Sequence[Card]) -> None:
        assert self.leader is not None
        seat = self.leader
        self.statements.append(Led(seat, len(self.played), cards[0], self.colour))
        self.leader = None
        self._lay(seat, cards)
        self._follow(seat)

    def deny_colour(self) -> None:
        assert self.leader is not None
        assert self.colour is not None
        self.statements.append(DeniedColour(self.leader, len(self.played), self.colour))
        self._pass_the_lead(self.leader)

    def follow(self, seat: Seat, cards: Sequence[Card]) -> None:
        self._lay(seat, cards)
        self.follower = seat
        self._answered(seat)

    def deny_card(self, seat: Seat) -> None:
        assert self.due is not None
        self._deny(seat, self.due)
        self._answered(seat)

    def leave(self, seat: Seat, cards: Iterable[Card]) -> None:
        """``seat`` has left the table and its cards lie open: they are dead."""
        self.dead.update(cards)
        if seat not in self.order or self.over:
            return
        self.order.remove(seat)
        if len(self.order) == 1:
            self._end(self.order[0])
        elif self.leader == seat:
            self._pass_the_lead(seat)
        elif seat in self.waiting:
            self._answered(seat)
        if self.due in self.dead and self.follower is None:
            self._stop()

    # --- the reckoning ----------------------------------------------------------------------------------

    def faults(self, left: Mapping[Seat, Iterable[Card]]) -> list[Fault]:
        """Every statement that was not true.  ``left``: the cards that each seat holds at the end."""
        found = []
        for statement in self.statements:
            later = (card for seat, card in self.played[statement.at :] if seat == statement.seat)
            if fault := statement.broken({*left[statement.seat], *later}):
                found.append(fault)
        return found

    # --- helpers ----------------------------------------------------------------------------------------

    def _lay(self, seat: Seat, cards: Sequence[Card]) -> None:
        self.played += [(seat, card) for card in cards]
        self.counts[seat] -= len(cards)
        self.last = seat
        following = NEXT[cards[-1]]
        if following is not None and self.counts[seat]:
            self._deny(seat, following)

    def _deny(self, seat: Seat, card: Card) -> None:
        self.statements.append(DeniedCard(seat, len(self.played), card))

    def _answered(self, seat: Seat) -> None:
        self.waiting.remove(seat)
        if self.waiting:
            return
        if self.follower is not None:
            self._follow(self.follower)
        else:
            self._stop()

    def _follow(self, seat: Seat) -> None:
        """``seat`` has played; ask the others for the next card, or stop."""
        self.follower = None
        if not self.counts[seat]:
            self._end(seat)
            return
        self.due = NEXT[self.played[-1][1]]
        if self.due is None or self.due in self.dead or any(card == self.due for _, card in self.played):
            self._stop()
            return
        self.waiting = [other for other in self._clockwise(seat) if other != seat]

    def _stop(self) -> None:
        assert self.last is not None
        self.due = None
        self.waiting = []
        self.colour = OPPOSITE[COLOUR[self.played[-1][1]]]
        self.passed = []
        self.leader = self.last if self.last in self.order else self._clockwise(self.last)[0]

    def _pass_the_lead(self, seat: Seat) -> None:
        """The right to lead goes on clockwise; back at the first who was asked, nobody has the colour (R230)."""
        self.passed.append(seat)
        following = self._clockwise(seat)[0]
        self.leader = None if following in self.passed else following

    def _clockwise(self, seat: Seat) -> list[Seat]:
        """The seats that are still in, from the one after ``seat`` (which comes last, if it is in)."""
        at = self.ring.index(seat) + 1
        return [other for other in (*self.ring[at:], *self.ring[:at]) if other in self.order]

    def _end(self, winner: Seat) -> None:
        self.winner = winner
        self.due = None
        self.waiting = []
        self.leader = None
