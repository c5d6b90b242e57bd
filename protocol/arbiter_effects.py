"""What a decision about a step asks for (:mod:`protocol.arbiter`); :mod:`protocol.steps` carries it out, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from protocol.ballot import Certificate, Closing, Slot
from protocol.entry import Entry, Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep:
    """Make this certificate durable before anything that follows is sent, and give it back after a restart."""

    slot: Slot
    certificate: Certificate


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """Sign a vote in this slot, journal it, send it to all, and give the entry to ``received``."""

    slot: Slot
    kind: Kind
    round: int
    body: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """All that is owed is there: the step is closed, tentatively."""

    slot: Slot
    closing: Closing


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """The step is closed for good.  It overrides a tentative close that differs."""

    slot: Slot
    closing: Closing
    certificate: Certificate


@dataclass(frozen=True, slots=True, kw_only=True)
class Tell:
    """Send the votes of this certificate to all: somebody still asks."""

    slot: Slot
    certificate: Certificate


@dataclass(frozen=True, slots=True, kw_only=True)
class Accused:
    """Two signed votes of one seat that contradict each other; ``reason`` as in :func:`~protocol.ballot.contradiction`."""

    seat: int
    reason: str
    first: Entry
    second: Entry


Effect = Keep | Cast | Closed | Decided | Tell | Accused
