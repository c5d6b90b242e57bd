"""What a session asks its owner to do.  Effects are carried out one after another, in the order given.

The order is the safety of the whole: an own entry's :class:`Record` stands before its first :class:`Send`, so
whoever does them in order, and waits for the disk at each Record that ``must_sync``, never says a thing that a
restart could forget (W1, F20-F23).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from protocol.events import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Append to the journal.  ``must_sync``: it is on the disk before any later Send is done.

    Without ``must_sync`` it is what others signed, and can be fetched again if lost.
    """

    data: bytes
    must_sync: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Publish:
    """Append to the public log file: a record of :mod:`protocol.log`.  The same bytes at every peer.

    A session publishes from the first record on, after a restart again."""

    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSecret:
    """Make a hand's secret durable before anything later is done; replaces an earlier one of the same number.

    ``hand`` is the number of the step in which the hand's keys began, so a hand begun anew has a new one.
    """

    hand: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class WipeSecret:
    """The hand is over: overwrite and remove its secret."""

    hand: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """A message for the other end of a link."""

    link: int
    message: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Close:
    """End a link; ``reason`` is told to the other end."""

    link: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Call ``function`` in a worker thread, or at once, and give what it returns to ``Session.work_done``.

    It reads only what nobody changes meanwhile, does no input or output and raises nothing of its own.
    """

    job: int
    function: Callable[[], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timer:
    """Call ``tick`` at this time of the session's clock; replaces the timer before."""

    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Notify:
    """Tell the faces."""

    event: Event


Effect = Record | Publish | StoreSecret | WipeSecret | Send | Close | Work | Timer | Notify
