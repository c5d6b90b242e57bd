"""What must hold after every event of a simulated run, whatever the faults.

==================  ==========================================================================================
name                what must hold
==================  ==========================================================================================
agreement           honest peers never disagree on a final step: one head, one record of the public log
no_false_evidence   no honest seat is ever convicted
secrecy             no peer reads a closed card that is not its own
conservation        no card is in two places: what is read of closed cards and what is open are all different
single_statement    no honest seat signs two things under one key
liveness            at the end, all honest peers that could go on have finished (checked once)
verifiable          at the end, every log verifies, and the logs are prefixes of one (checked once)
==================  ==========================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from protocol.entry import Entry, Key
from protocol.game import Card, Slot
from protocol.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """An invariant that did not hold."""

    invariant: str
    time: float
    seat: int
    message: str


class Invariants:
    """Checks a run as it goes.  ``honest`` are the seats that follow the rules."""

    def __init__(self, honest: frozenset[int]) -> None:
        self.honest = honest
        self.violations: list[Violation] = []
        self._published: list[bytes] = []
        self._signed: dict[Key, bytes] = {}
        self._faces: dict[int, Mapping[Slot, Card]] = {}

    def published(self, time: float, seat: int, number: int, data: bytes) -> None:
        """An honest peer's public log has this as its record ``number``."""
        if number == len(self._published):
            self._published.append(data)
        elif number > len(self._published):
            self._violate("agreement", time, seat, f"record {number} is published before those before it")
        elif self._published[number] != data:
            self._violate("agreement", time, seat, f"record {number} is another one than at other peers")

    def convicted(self, time: float, seat: int, culprit: int, reason: str) -> None:
        """An honest peer has found evidence."""
        if culprit in self.honest:
            self._violate("no_false_evidence", time, seat, f"honest seat {culprit} is convicted: {reason}")

    def signed(self, time: float, entry: Entry) -> None:
        """An honest peer sends an entry of its own."""
        if self._signed.setdefault(entry.key, entry.id) != entry.id:
            self._violate(
                "single_statement",
                time,
                entry.seat,
                f"two {entry.kind.name} entries for step {entry.step} of epoch {entry.epoch}",
            )

    def looked(self, time: float, seat: int, sessions: Mapping[int, Session]) -> None:
        """A peer's state has changed; ``sessions`` are all honest ones that are up."""
        session = sessions[seat]
        if self._faces.get(seat) is session.faces:
            return  # a step that closes makes new ones
        self._faces[seat] = session.faces
        own = set(session.game.hidden(seat))
        strange = sorted(set(session.faces) - own)
        if strange:
            self._violate("secrecy", time, seat, f"reads slots {strange}, which are not its closed cards")
        same = [
            other for other in sessions.values() if (other.step, other.head) == (session.step, session.head)
        ]
        read: dict[int, int] = {}
        for other in same:
            for slot, card in other.faces.items():
                if read.setdefault(card, slot) != slot:
                    self._violate(
                        "conservation", time, seat, f"card {card} is in slots {read[card]} and {slot}"
                    )

    def finished(self, time: float, seat: int, message: str) -> None:
        """A peer that should have finished has not."""
        self._violate("liveness", time, seat, message)

    def refused(self, time: float, seat: int, message: str) -> None:
        """A peer's log does not verify."""
        self._violate("verifiable", time, seat, message)

    def _violate(self, invariant: str, time: float, seat: int, message: str) -> None:
        self.violations.append(Violation(invariant=invariant, time=time, seat=seat, message=message))
