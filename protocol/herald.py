"""Telling the faces what the log has come to: whose turn it is, what may be answered, which cards can be read.

Facts for people, in the order in which they became true.  Nothing here decides anything; what the course itself has to tell
(moves, rulings, results) comes from the course.
"""

from __future__ import annotations

from collections.abc import Mapping

from protocol import events
from protocol.game import Card, Shuffle, Slot
from protocol.holdings import Holdings
from protocol.position import Stage


class Herald:
    """Tells the owner of :class:`Holdings`."""

    def __init__(self, holdings: Holdings) -> None:
        self._here = holdings
        self.faces: Mapping[Slot, Card] = {}
        """Of this seat's own closed cards."""

    def step_opened(self, now: float) -> None:
        """Tell the faces what the open step asks for."""
        due, course = self._here.course.due, self._here.course
        deadline = now + self._here.patience_seconds()
        if due.stage is Stage.MOVE:
            self._here.tell(events.TurnBegan(seat=due.seats[0], deadline=deadline))
        elif course.window is not None and due.stage in (Stage.SEALED, Stage.ANSWER):
            sealed = course.window.sealed
            if sealed is (due.stage is Stage.SEALED):
                closes_at = now + self._here.agreement.window_ms / 1000 if sealed else deadline
                self._here.tell(
                    events.WindowOpened(
                        after=course.window.after, seats=due.seats, closes_at=closes_at, sealed=sealed
                    )
                )
        elif due.stage is Stage.SHUFFLE:
            order = course.shufflers()
            self._here.tell(
                events.ShuffleMade(
                    seat=due.seats[0],
                    cards=self._cards_shuffled(),
                    position=order.index(due.seats[0]),
                    of=len(order),
                )
            )

    def look(self) -> None:
        """See what has become readable of our own cards."""
        if self._here.voice is None:
            return
        own = self._here.course.game.hidden(self._here.voice.seat)
        readable = self._here.voice.own.faces(self._here.course)
        faces = {slot: readable[slot] for slot in own if slot in readable}
        seen = tuple(sorted((slot, card) for slot, card in faces.items() if slot not in self.faces))
        self.faces = faces
        if seen and self._here.live:
            self._here.tell(events.CardsSeen(faces=seen))

    def shuffle_verified(self, seat: int, seconds: float) -> None:
        """A shuffle is proved; checking it, or making it, took so long here."""
        self._here.tell(
            events.ShuffleVerified(seat=seat, cards=self._cards_shuffled(), milliseconds=1000 * seconds)
        )

    def _cards_shuffled(self) -> int:
        need = self._here.course.game.need
        return len(need.cards) if isinstance(need, Shuffle) else 0
