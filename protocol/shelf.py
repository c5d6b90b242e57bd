"""What has arrived and is not settled yet: entries and votes, bounded for each seat.

Threat.  Whoever has a seat can sign any number of things: entries of far steps, versions without end, votes of
thousands of rounds (F99-F102).  So each seat has a small shelf: a few versions of one step, some steps ahead,
a number of bytes.  What does not fit is not kept and will be asked for again when its time comes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from operator import attrgetter
from typing import Final

from protocol.ballot import Slot
from protocol.entry import Entry

HORIZON: Final = 96
"""Entries of steps this far ahead of the open one are kept."""

VERSIONS: Final = 3
"""Different entries of one seat for one step on our prefix, and as many on others.  Two of one prefix are a proof; the third
may be what others stand on.  What is on other prefixes never takes the place of what we can use."""

AHEAD_BYTES: Final = 1 << 19
"""Bytes of one seat's entries for steps that are not open yet."""

VOTES: Final = 48
"""Votes of one seat in one slot: the latest are kept."""

_seat = attrgetter("seat")


class Shelf:
    """Entries of steps that are not final, and votes about them."""

    def __init__(self) -> None:
        self._entries: dict[int, dict[bytes, Entry]] = {}
        self._step_of: dict[bytes, int] = {}
        self._votes: dict[int, dict[bytes, Entry]] = {}
        self._vote_ids: set[bytes] = set()

    # --- entries ---------------------------------------------------------------------------------------

    def __contains__(self, entry_id: bytes) -> bool:
        return entry_id in self._step_of or entry_id in self._vote_ids

    def get(self, entry_id: bytes) -> Entry | None:
        step = self._step_of.get(entry_id)
        return None if step is None else self._entries.get(step, {}).get(entry_id)

    def room_for(self, entry: Entry, open_step: int, prefix: tuple[int, bytes] | None) -> bool:
        """Whether there is room for it.  ``prefix``: epoch and head that entries of its step have here, None if not known yet."""
        if not entry.step <= open_step + HORIZON:
            return False
        ours = (entry.epoch, entry.prev) == prefix
        here = [other for other in self.of_step(entry.step) if other.seat == entry.seat]
        if sum(((other.epoch, other.prev) == prefix) is ours for other in here) >= VERSIONS:
            return False
        if entry.step <= open_step + 1:
            return True
        return self._bytes_ahead(entry.seat, open_step) + len(entry.content) <= AHEAD_BYTES

    def add(self, entry: Entry) -> Entry | None:
        """Keep an entry.  Returns another one that says something else under the same key (F41), if there is."""
        step = self._entries.setdefault(entry.step, {})
        rival = next(
            (
                other
                for other in step.values()
                if other.seat == entry.seat and other.id != entry.id and other.key == entry.key
            ),
            None,
        )
        step[entry.id] = entry
        self._step_of[entry.id] = entry.step
        return rival

    def of_step(self, step: int) -> list[Entry]:
        """Everything kept of this step, by seat, then in the order of arrival."""
        return sorted(self._entries.get(step, {}).values(), key=_seat)

    def ahead(self, seat: int, step: int) -> list[Entry]:
        """What is kept of this seat for later steps than this one."""
        return [
            entry
            for number in sorted(self._entries)
            if number > step
            for entry in self._entries[number].values()
            if entry.seat == seat
        ]

    def _bytes_ahead(self, seat: int, open_step: int) -> int:
        return sum(
            len(entry.content)
            for step, entries in self._entries.items()
            if step > open_step + 1
            for entry in entries.values()
            if entry.seat == seat
        )

    # --- votes -----------------------------------------------------------------------------------------

    def add_vote(self, vote: Entry) -> tuple[bool, Entry | None]:
        """Keep a vote.  Returns whether it is new, and another one under the same key (F43)."""
        votes = self._votes.setdefault(vote.step, {})
        if vote.id in votes:
            return False, None
        rival = next(
            (other for other in votes.values() if other.seat == vote.seat and other.key == vote.key), None
        )
        votes[vote.id] = vote
        self._vote_ids.add(vote.id)
        same = [other for other in votes.values() if other.seat == vote.seat]
        if len(same) > VOTES:
            oldest = min(same, key=lambda other: (other.epoch, other.round))
            del votes[oldest.id]
            self._vote_ids.discard(oldest.id)
        return True, rival

    def votes_in(self, slot: Slot) -> list[Entry]:
        """The votes kept of this slot, in the order of arrival."""
        return [vote for vote in self.votes_of(slot.step) if slot.holds(vote)]

    def votes_of(self, step: int) -> list[Entry]:
        """The votes kept about this step, whatever they stand on."""
        return list(self._votes.get(step, {}).values())

    def votes_from(self, step: int) -> Iterator[Entry]:
        """The votes about this step and later ones."""
        for number in sorted(self._votes):
            if number >= step:
                yield from self._votes[number].values()

    # --- time goes on ----------------------------------------------------------------------------------

    def forget_before(self, step: int, *, votes: int) -> None:
        """Steps below ``step`` are final; nobody asks any more about those below ``votes``."""
        for late in [number for number in self._entries if number < step]:
            for entry_id in self._entries.pop(late):
                del self._step_of[entry_id]
        for late in [number for number in self._votes if number < votes]:
            self._vote_ids -= self._votes.pop(late).keys()

    def sizes(self) -> Counter[str]:
        """How much is kept: for tests of the bounds, and for curious faces."""
        return Counter(
            entries=sum(map(len, self._entries.values())), votes=sum(map(len, self._votes.values()))
        )
