"""What must hold after every event of a simulated run, whatever the faults.

==================  ==========================================================================================
name                what must hold
==================  ==========================================================================================
agreement           honest peers never disagree on a final step: one head, one record of the public log
no_false_evidence   no honest seat is ever convicted
secrecy             no closed card can be read by anybody but its owner, and none of the stock by anybody
conservation        no card is in two places: what is read of closed cards and what is open are all different
single_statement    no honest seat signs two things under one key, or sends what its disk does not hold
no_failure          the program of an honest seat never ends in an error
liveness            at the end, all honest peers that could go on have finished (checked once)
verifiable          at the end, every log verifies, and the logs are prefixes of one (checked once)
==================  ==========================================================================================
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from protocol.deck import Deck
from protocol.entry import Entry, Key
from protocol.fast_deck import FastDeck
from protocol.game import Card, Deal, Game, Over, Seat, Showdown, Shuffle, Slot
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
        self._packs: dict[int, int] = {}
        """How many cards the first shuffle of a hand has."""

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
        """An honest peer has an entry of its own on its disk, to stay."""
        if self._signed.setdefault(entry.key, entry.id) != entry.id:
            self._violate(
                "single_statement",
                time,
                entry.seat,
                f"two {entry.kind.name} entries for step {entry.step} of epoch {entry.epoch}",
            )

    def sent(self, time: float, entry: Entry) -> None:
        """An honest peer sends an entry of its own."""
        if self._signed.get(entry.key) != entry.id:
            message = f"sends a {entry.kind.name} entry for step {entry.step} that is not on its disk"
            self._violate("single_statement", time, entry.seat, message)

    def is_news(self, seat: int, session: Session) -> bool:
        """Whether a step has closed since this peer was looked at: that makes new faces."""
        return self._faces.get(seat) is not session.faces

    def looked(self, time: float, seat: int, sessions: Mapping[int, Session]) -> None:
        """A peer's state may have changed; ``sessions`` are all honest ones that are up."""
        session = sessions[seat]
        self._faces[seat] = session.faces
        if isinstance(session.game.need, Shuffle):
            self._packs.setdefault(session.game.hand, len(session.game.need.cards))
        game = session.game
        hidden = {own: game.hidden(own) for own in range(game.seats)}
        strange = sorted(set(session.faces).difference(hidden[seat]))
        if strange:
            self._violate("secrecy", time, seat, f"reads slots {strange}, which are not its closed cards")
        deck = session._steps.course.deck
        if not isinstance(deck, Deck | FastDeck) or not session._steps.course.cards_out:
            return
        slots: Sequence[Slot] = range(deck.slot_count)
        missing = deck.unknown if isinstance(deck, FastDeck) else [deck.missing(slot) for slot in slots]
        self._who_can_read(time, seat, game, hidden, missing)
        known = dict(session.faces)
        for other in sessions.values():
            if (other.step, other.head) == (session.step, session.head):
                known |= other.faces
        if deck.slot_count == self._packs.get(session.game.hand):
            # Cards that are shuffled again are in two slots, of which the old one does not count.
            if isinstance(deck, FastDeck):
                slots = [slot for slot in slots if not missing[slot]]  # it knows no other face
            known |= {slot: card for slot in slots if (card := deck.face(slot)) is not None}
        if len(set(known.values())) == len(known):
            return
        places: dict[int, int] = {}
        for slot, card in sorted(known.items()):
            if places.setdefault(card, slot) != slot:
                message = f"card {card} is in slots {places[card]} and {slot}"
                self._violate("conservation", time, seat, message)

    def _who_can_read(
        self,
        time: float,
        seat: int,
        game: Game,
        hidden: Mapping[Seat, Sequence[Slot]],
        missing: Sequence[tuple[Seat, ...]],
    ) -> None:
        """Nobody but its owner, as long as a card is closed.  What is being dealt or shown is on its way.

        ``hidden``: the closed slots of each seat.  ``missing``: by slot, the seats whose share nobody has.
        """
        need = game.need
        if isinstance(need, Shuffle | Over):
            return  # between hands no card has an owner
        owner: dict[Slot, Seat | None] = {slot: own for own, slots in hidden.items() for slot in slots}
        coming = dict(need.owners) if isinstance(need, Deal | Showdown) else {}
        for slot, seats in enumerate(missing):
            if len(seats) > 1:
                continue
            if not seats and slot in owner and slot not in coming:
                self._violate(
                    "secrecy", time, seat, f"closed slot {slot} of seat {owner[slot]} can be read by all"
                )
            elif seats and coming.get(slot, owner.get(slot, -1)) not in (None, seats[0]):
                self._violate(
                    "secrecy", time, seat, f"slot {slot} can be read by seat {seats[0]}, not its owner"
                )

    def failed(self, time: float, seat: int, error: Exception) -> None:
        """The program of an honest seat has ended in an error."""
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{frame.filename.rpartition('/')[2]}, line {frame.lineno}"
        self._violate("no_failure", time, seat, f"{type(error).__name__} ({where}): {error}")

    def finished(self, time: float, seat: int, message: str) -> None:
        """A peer that should have finished has not."""
        self._violate("liveness", time, seat, message)

    def refused(self, time: float, seat: int, message: str) -> None:
        """A peer's log does not verify."""
        self._violate("verifiable", time, seat, message)

    def _violate(self, invariant: str, time: float, seat: int, message: str) -> None:
        self.violations.append(Violation(invariant=invariant, time=time, seat=seat, message=message))
