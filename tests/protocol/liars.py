"""Seats of a table in memory that sign what they should not.

A lying seat runs the honest program and signs, besides, a *twin* of one of its entries; the seats of its choice are shown the
twin in place of the entry, whenever and by whatever message the entry would have reached them from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from protocol import gossip
from protocol.course import Course
from protocol.entry import Entry, Kind, from_value, sign
from tests.protocol.tables import Peer, Table, identity

Change = Callable[[Course, Any], dict[str, Any]]
"""From the course and the honest body to the fields of the twin that differ."""


class Twins:
    """The pairs that lying seats of a table have signed: (entry, twin)."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.pairs: list[tuple[Entry, Entry]] = []
        self._shown: dict[tuple[bytes, int], Entry] = {}
        table.alter = self._alter

    def lie(
        self,
        seat: int,
        kind: Kind,
        change: Change,
        to: Collection[int],
        *,
        when: Callable[[Course], bool] = lambda course: True,
        times: int = 1,
    ) -> None:
        """The next entries of this kind that ``seat`` signs (at most ``times``, ``when`` says so) get a twin, for ``to``."""
        voice: Any = self.table.peers[seat].session._voice
        honest = voice.sign
        left = [times]

        def lying(course: Course, said: Kind, body: Any) -> Entry:
            entry: Entry = honest(course, said, body)
            if said is kind and left[0] and when(course):
                left[0] -= 1
                twin = like(entry, **change(course, body))
                self.pairs.append((entry, twin))
                for other in to:
                    self._shown[entry.id, other] = twin
            return entry

        voice.sign = lying

    def other_discard(self, course: Course, body: Any) -> dict[str, Any]:
        """Another card of the same hand in the place of the one that is played, properly opened."""
        voice: Any = self.table.peers[course.due.seats[0]].session._voice
        cards = sorted(voice.own.faces(course).values())
        other = next(card for card in cards if f"play {card}" != body[0])
        return {"body": voice.own.move_body(course, f"play {other}")}

    def _alter(self, source: int, target: int, message: bytes) -> bytes:
        if not self.pairs:
            return message
        said = gossip.read(message)
        if not isinstance(said, gossip.Entries):
            return message
        entries = [from_value(value) for value in said.entries]
        shown = [
            self._shown.get((entry.id, target), entry) if entry.seat == source else entry for entry in entries
        ]
        if shown == entries:
            return message
        (altered,) = gossip.write_entries(shown)
        return altered


def like(entry: Entry, **changed: Any) -> Entry:
    """The same entry with other fields, signed by its seat."""
    names = ("table", "epoch", "step", "seat", "kind", "round", "body", "prev")
    fields: dict[str, Any] = {name: getattr(entry, name) for name in names} | changed
    return sign(identity(entry.seat), **fields)


def tell(peer: Peer, entry: Entry, *, source: int) -> None:
    """Give an entry to a peer as if it came over its link to ``source``."""
    link = next(number for number, ends in peer.table.links.items() if set(ends) == {peer.seat, source})
    (message,) = gossip.write_entries([entry])
    peer.session.received(link, message, peer.table.now)
    peer.carry_out()


def is_discard(course: Course) -> bool:
    """A card is to be played, and there is a choice."""
    game: Any = course.game
    return bool(game.drawn) and len(game.hidden(course.due.seats[0])) > 1


def honest_are_over(table: Table, *liars: int) -> Callable[[], bool]:
    return lambda: all(peer.session.over for peer in table.peers if peer.seat not in liars)
