"""Which of a few moves wins most often, over many worlds.

Every candidate is tried in the same worlds (:mod:`p2p_rummy.bots.sharp_worlds`): the move is made, the hand played on by the
policy of the sketch, and the outcome turned into the chance to win the game.  After every few worlds the
candidates that lie behind beyond doubt are let go, in the manner of a race (Maron, Moore, "Hoeffding Races", 1993, with
the standard error in place of Hoeffding's bound), so that most of the work goes into telling the best ones apart.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from p2p_rummy.bots.base import Stopped, never
from p2p_rummy.bots.sharp_sketch import Sketch
from p2p_rummy.bots.sharp_worlds import Outlook
from p2p_rummy.games.rum_table import Table
from protocol.game import Seat

Trial = Callable[[Sketch], None]
"""Makes a move in a world, and plays what is left of the turn."""

BATCH: Final = 10
"""Worlds between two looks at the race."""
GIVE_UP: Final = 1.6
"""Standard errors behind at which a candidate is given up."""
DOUBT: Final = 1.0
"""Standard errors by which a move must be better than the usual one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A move worth thinking about: how it is written, how it is tried, and whose turn it is then."""

    text: str
    trial: Trial
    next_seat: Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How long a decision may take: so many worlds, or less if the time is up first."""

    worlds: int
    seconds: float = math.inf
    clock: Callable[[], float] = time.perf_counter

    def begin(self, stopped: Stopped = never) -> Spending:
        """The decision begins now."""
        return Spending(self, stopped)


class Spending:
    """One decision: what is left of its budget."""

    __slots__ = ("_budget", "_deadline", "_stopped", "worlds")

    def __init__(self, budget: Budget, stopped: Stopped) -> None:
        self.worlds = 0
        """Spent so far."""
        self._budget = budget
        self._deadline = budget.clock() + budget.seconds if budget.seconds < math.inf else math.inf
        self._stopped = stopped

    def one_more(self) -> bool:
        """Spend a world; False if there is none left, the time is up, or nobody waits any more."""
        if self.worlds >= self._budget.worlds or self._stopped():
            return False
        if self._deadline < math.inf and self._budget.clock() >= self._deadline:
            return False
        self.worlds += 1
        return True


def best_move(
    outlook: Outlook,
    candidates: Sequence[Candidate],
    spending: Spending,
    rng: random.Random,
    *,
    horizon: int,
    doubt: float = DOUBT,
) -> str:
    """The first candidate, unless another is better beyond doubt."""
    forecast = Forecast(outlook.table, outlook.seat)
    usual = _Race(0)
    others = [_Race(index) for index in range(1, len(candidates))]
    while others and spending.one_more():
        for spent in range(BATCH):
            if spent and not spending.one_more():
                break
            world = outlook.world(rng)
            base = _try(world, candidates[0], horizon, forecast)
            for race in others:
                race.add(_try(world, candidates[race.index], horizon, forecast) - base)
        front = max([usual, *others], key=lambda race: race.mean)
        others = [
            race
            for race in others
            if race.mean + GIVE_UP * race.error > max(0.0, front.mean - GIVE_UP * front.error)
        ]
    best = max(others, key=lambda race: race.mean - doubt * race.error, default=usual)
    return candidates[best.index if best.mean > doubt * best.error else 0].text


def _try(world: Sketch, candidate: Candidate, horizon: int, forecast: Forecast) -> float:
    sketch = world.copy()
    candidate.trial(sketch)
    mover = sketch.play(candidate.next_seat, horizon)
    return forecast.chance(sketch, mover)


class _Race:
    """How much better than the first candidate another one did so far."""

    __slots__ = ("count", "index", "squares", "total")

    def __init__(self, index: int) -> None:
        self.index = index
        self.count = 0
        self.total = 0.0
        self.squares = 0.0

    def add(self, difference: float) -> None:
        self.count += 1
        self.total += difference
        self.squares += difference * difference

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0

    @property
    def error(self) -> float:
        """The standard error of the mean; unknown, so endless, after a single world."""
        if self.count < 2:
            return math.inf if self.count else 0.0
        spread = max(0.0, self.squares / self.count - self.mean**2)
        return math.sqrt(spread / (self.count - 1))


class Forecast:
    """The chance of one side to win the game, once this hand has ended as in a sketch."""

    def __init__(self, table: Table, seat: Seat) -> None:
        rules = table.rules
        self.rules = rules
        self.side = rules.side_of[seat]
        self.rivals = sorted({rules.side_of[other] for other in table.ring} - {self.side})
        self.totals = list(table.totals)
        self.target = rules.target if rules.target is not None else 0
        takes = rules.scoring == "winner_takes_hands"
        self.spread = 25.0 if takes else 75.0 if rules.size(len(table.ring)) > 10 else 55.0
        """How far apart two sides end up in one hand, typically."""
        self.gain = 25.0 if takes else 90.0 if rules.size(len(table.ring)) > 10 else 50.0
        """What a side makes of a hand."""

    def chance(self, sketch: Sketch, mover: Seat) -> float:
        points = self.points(sketch, mover)
        totals = self.totals
        own = totals[self.side] + points[self.side]
        others = [totals[side] + points[side] for side in self.rivals]
        best = max(others, default=0.0)
        lead = own - best
        if self.target:
            missing = self.target - max(own, best)
            if missing <= 0 and sketch.out >= 0 and lead != 0:
                return 1.0 if lead > 0 else 0.0
            hands = max(0.35, missing / self.gain)
        else:
            hands = 1.0
        return 0.5 + 0.5 * math.erf(lead / (1.4142 * self.spread * math.sqrt(hands)))

    def points(self, sketch: Sketch, mover: Seat) -> list[float]:
        """What the hand brings each side if it goes on as it looks."""
        rules = self.rules
        points = [0.0] * rules.seats
        over = sketch.out >= 0 or not sketch.stock
        if rules.scoring == "winner_takes_hands":
            if sketch.out >= 0:
                points[rules.side_of[sketch.out]] += sum(
                    sketch.caught(seat) for seat in sketch.ring if seat != sketch.out
                )
            elif not over:
                self._outlook_of_takers(sketch, points)
            return points
        free = over and sketch.out < 0 and rules.exhausted_scoring == "no_deduction"
        prospects = sketch.prospects(mover) if not over else []
        for seat in sketch.ring:
            points[rules.side_of[seat]] += sketch.laid[seat]
            if not over:
                points[rules.side_of[seat]] += prospects[seat]
            elif not free:
                points[rules.side_of[seat]] -= sketch.caught(seat)
        if sketch.out >= 0 and rules.going_out_bonus:
            points[rules.side_of[sketch.out]] += rules.going_out_bonus
        return points

    def _outlook_of_takers(self, sketch: Sketch, points: list[float]) -> None:
        """R146: only who goes out scores; whose cards in hand are worth more will pay more."""
        for seat in sketch.ring:
            points[self.rules.side_of[seat]] -= sketch.caught(seat)
