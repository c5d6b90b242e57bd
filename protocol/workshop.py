"""What is worked out beside the session: long proofs, judged or made in a worker thread.

The course may move on meanwhile.  Then what the worker read may have been half of one state and half of the next, so its
result, a fault found or an error raised included, is of no use and is not looked at.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

from protocol.course import Course
from protocol.effects import Work
from protocol.entry import Entry
from protocol.holdings import Holdings
from protocol.position import Due


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a worker does: judge ``entry``, or (None) make our own for ``due``."""

    entry: Entry | None
    due: Due
    course: Course
    began: float


class Workshop:
    """The jobs of the open step that are under way."""

    def __init__(self, holdings: Holdings) -> None:
        self._here = holdings
        self._jobs: dict[int, Job] = {}
        self._numbers = itertools.count(1)

    @property
    def making(self) -> bool:
        """Whether our own entry is being made."""
        return any(job.entry is None for job in self._jobs.values())

    def judging(self, entry: Entry) -> bool:
        """Whether this entry is being judged."""
        return any(job.entry is entry for job in self._jobs.values())

    def start(self, entry: Entry | None, work: Callable[[], object], now: float) -> None:
        """Have ``work`` done for the open step."""
        number, course = next(self._numbers), self._here.course
        self._jobs[number] = Job(entry=entry, due=course.due, course=course, began=now)
        self._here.do(Work(job=number, function=work))

    def finished(self, number: int) -> Job | None:
        """The job that has this number, if its result is still of use."""
        job, course = self._jobs.pop(number, None), self._here.course
        if job is None or job.course is not course or job.due != course.due:
            return None
        return job

    def clear(self) -> None:
        """The open step is closed."""
        self._jobs.clear()
