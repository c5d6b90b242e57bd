"""Telling a user why nothing moves, and for how long that may last.

=========  ==========================================================  ==================================
state      event                                                       told
=========  ==========================================================  ==================================
MOVING     the open step waits for others longer than NOTICE_SECONDS   Waiting      -> WAITING
           (a person's turn: only once its time is over)
WAITING    the time is over and no decision is possible or comes       Suspended    -> SUSPENDED
SUSPENDED  that has lasted as long as the agreement says, and nobody   (``abandon`` is called)
           may be dropped
WAITING,   the step closes                                             Continued    -> MOVING
SUSPENDED
any        what this seat has signed is in doubt                       -> DOUBTFUL
DOUBTFUL   for NOTICE_SECONDS, and whenever another seat has told      Suspended, by those that are unheard
DOUBTFUL   the doubt is over                                           Continued, if that was told -> MOVING
=========  ==========================================================  ==================================
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum
from typing import Final

from protocol.course import Course
from protocol.events import Continued, Event, Pause, Suspended, Waiting
from protocol.holdings import NEVER
from protocol.position import Stage
from protocol.steps import Steps

NOTICE_SECONDS: Final = 3.0
DECISION_ROUNDS: Final = 4
"""A decision that has not come after so many rounds' time will not come while the others are away."""


class State(Enum):
    MOVING = "moving"
    WAITING = "waiting"
    SUSPENDED = "suspended"
    DOUBTFUL = "doubtful"


class Pacer:
    """Watches the open step of :class:`Steps`."""

    def __init__(self, steps: Steps, tell: Callable[[Event], None]) -> None:
        self.state = State.MOVING
        self._steps = steps
        self._tell = tell
        self._step = -1
        self._abandon_at = math.inf
        self._doubt_told_at = math.inf
        self._unheard: tuple[int, ...] = ()
        self.deadline: float | None = None
        """When to call :meth:`look` again."""

    def look(self, now: float) -> None:
        """Tell what has become true."""
        if self._steps.doubtful and not self._steps.over:
            self._look_doubtful(now)
            return
        course = self._steps.course
        if course.step != self._step or self.state is State.DOUBTFUL:
            if self._unheard or self.state in (State.WAITING, State.SUSPENDED):
                self._tell(Continued(step=self._step))
            self.state, self._unheard = State.MOVING, ()
            self._step = course.step
            self._abandon_at = math.inf
        seats = tuple(seat for seat in self._steps.waiting_for if seat != self._steps.me)
        self.deadline = None
        if not seats or self._steps.over or course.stage is Stage.DONE:
            return
        if self.state is State.MOVING and now >= self._notice_at():
            self.state = State.WAITING
            ends = self._steps.opened_at + self._steps.patience_seconds()
            self._tell(Waiting(seats=seats, step=course.step, deadline=ends if ends < NEVER else 0.0))
        if self.state is State.WAITING and now >= self._suspend_at():
            self.state = State.SUSPENDED
            why, abandon_ms = self._why(), self._steps.agreement.abandon_ms
            self._tell(Suspended(seats=seats, step=course.step, why=why))
            if abandon_ms and why is not Pause.MINORITY:
                self._abandon_at = now + abandon_ms / 1000
        if self.state is not State.SUSPENDED:
            self.deadline = self._notice_at() if self.state is State.MOVING else self._suspend_at()
        elif now < self._abandon_at < math.inf:
            self.deadline = self._abandon_at
        elif now >= self._abandon_at:
            self._abandon_at = math.inf
            self._steps.abandon()

    def _look_doubtful(self, now: float) -> None:
        """Say whom this seat has to hear before it signs again, if that takes longer than a restart does."""
        if self.state is not State.DOUBTFUL:
            self.state, self._doubt_told_at = State.DOUBTFUL, now + NOTICE_SECONDS
        self._step = self._steps.course.step
        self.deadline = self._doubt_told_at if now < self._doubt_told_at else None
        unheard = self._steps.unheard
        if self.deadline is None and unheard != self._unheard:
            self._unheard = unheard
            self._tell(Suspended(seats=unheard, step=self._step, why=Pause.DOUBT))

    def _why(self) -> Pause:
        if self._steps.agreement.patient:
            return Pause.PATIENT
        return Pause.TWO_PLAYERS if len(self._steps.course.roster) < 3 else Pause.MINORITY

    def _notice_at(self) -> float:
        course, opened = self._steps.course, self._steps.opened_at
        agreement = self._steps.agreement
        if course.stage is Stage.MOVE or (course.stage is Stage.ANSWER and not _sealed(course)):
            return opened + agreement.turn_ms / 1000
        wait = agreement.window_ms / 1000 if course.stage is Stage.SEALED else 0.0
        return opened + wait + NOTICE_SECONDS

    def _suspend_at(self) -> float:
        agreement = self._steps.agreement
        patience = self._steps.patience_seconds()
        if patience >= NEVER:
            return max(self._notice_at(), self._steps.opened_at + agreement.step_ms / 1000)
        return self._steps.opened_at + patience + DECISION_ROUNDS * agreement.step_ms / 1000


def _sealed(course: Course) -> bool:
    return course.window is not None and course.window.sealed
