"""Rummoli's one betting round and its showdown (R225), as a small machine of its own.

It knows seats and chips: who may do what next, how much that costs, who is left, and which hands lie open.
The game moves the chips and compares the hands.

=========  =====================================  ====================================================
while      a seat on turn may                     then
=========  =====================================  ====================================================
level 0    ``check``                              the next seat; all have checked: showing
level 0    ``bet N``                              level N, the others answer in turn
level > 0  ``call``                               the next seat; all have matched the level: showing
level > 0  ``raise N`` (at most three)            the level rises BY N, the others answer in turn
level > 0  ``fold``                               the next seat; one left: over, unseen
showing    ``show C C C C C``                     the next seat; all have answered: over
showing    ``muck``, once a hand lies open        the next seat; all have answered: over
=========  =====================================  ====================================================

N is 1 to ``bet_limit``, and the level never rises above what the poorest seat left can match, so there are
no side pots.  DECISION (documents silent): a seat folds only when it faces a bet; the last to bet or raise
shows first (after checks only: the nearest left of the dealer), the others clockwise.  A seat may muck once
a hand lies open, whatever it holds: that gives up the pot as a fold does.
"""

from __future__ import annotations

from collections.abc import Sequence

from p2p_rummy.games.poker import best_seats
from protocol.game import Card, Seat

MOST_RAISES = 3


class Betting:
    """The poker round of one deal.  ``order``: the seats clockwise from the dealer's left."""

    __slots__ = (
        "aggressor",
        "answered",
        "left",
        "level",
        "limit",
        "order",
        "paid",
        "raises",
        "shown",
        "turn",
    )

    def __init__(self, order: Sequence[Seat], limit: int) -> None:
        self.order = tuple(order)
        self.limit = limit
        self.left: list[Seat] = list(order)
        self.paid: dict[Seat, int] = dict.fromkeys(order, 0)
        self.level = 0
        self.raises = 0
        self.aggressor: Seat | None = None
        self.answered: set[Seat] = set()
        """Seats that need not speak again before somebody raises (or, when showing, have shown or mucked)."""
        self.shown: dict[Seat, tuple[Card, ...]] | None = None
        """The fives that lie open, in the order shown; None while the betting goes on."""
        self.turn: Seat | None = self.order[0] if len(self.order) > 1 else None
        """The seat to act; None when the poker is over."""

    # --- what is allowed --------------------------------------------------------------------------------

    def room(self, chips: Sequence[int]) -> int:
        """By how much the level may rise now: the limit, or what the poorest seat left can match."""
        poorest = min(chips[seat] + self.paid[seat] for seat in self.left)
        return max(0, min(self.limit, poorest - self.level))

    def may_raise(self) -> bool:
        return self.raises < MOST_RAISES

    def owes(self, seat: Seat) -> int:
        """What ``call`` costs."""
        return self.level - self.paid[seat]

    def moves(self, chips: Sequence[int]) -> list[str]:
        """Every betting move of the seat on turn."""
        steps = range(1, self.room(chips) + 1)
        if not self.level:
            return ["check", *(f"bet {step}" for step in steps)]
        raises = [f"raise {step}" for step in steps] if self.may_raise() else []
        return ["call", *raises, "fold"]

    # --- what happens -----------------------------------------------------------------------------------

    def check_or_call(self, seat: Seat) -> int:
        """Returns the chips that ``seat`` puts in."""
        cost = self.owes(seat)
        self.paid[seat] += cost
        self.answered.add(seat)
        self._go_on(seat)
        return cost

    def rise(self, seat: Seat, step: int) -> int:
        """A bet or a raise by ``step``.  Returns the chips that ``seat`` puts in."""
        if self.level:
            self.raises += 1
        self.level += step
        self.aggressor = seat
        self.answered = set()
        return self.check_or_call(seat)

    def leave(self, seat: Seat) -> None:
        """``seat`` folds, mucks or has left the table."""
        if seat not in self.left:
            return
        self.left.remove(seat)
        if self.shown:
            self.shown.pop(seat, None)
        if self.turn == seat or len(self.left) == 1:
            self._go_on(seat)

    def show(self, seat: Seat, five: tuple[Card, ...]) -> None:
        assert self.shown is not None
        self.shown[seat] = five
        self.answered.add(seat)
        self._go_on(seat)

    def best(self) -> list[Seat]:
        """The winners, nearest left of the dealer first: the best hands shown, or the lone survivor."""
        assert self.turn is None
        if not self.shown:
            return list(self.left)
        return best_seats({seat: self.shown[seat] for seat in self.left})

    def _go_on(self, after: Seat) -> None:
        if len(self.left) == 1:
            self.turn = None  # a lone survivor wins unseen
            return
        at = self.order.index(after) + 1
        waiting = [
            seat
            for seat in (*self.order[at:], *self.order[:at])
            if seat in self.left and seat not in self.answered
        ]
        if waiting:
            self.turn = waiting[0]
        elif self.shown is None:
            self.shown = {}
            self.answered = set()
            self.turn = self.aggressor if self.aggressor in self.left else self.left[0]
        else:
            self.turn = None
