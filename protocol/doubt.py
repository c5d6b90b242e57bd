"""Whether this peer knows all that its seat has signed.  Until it does, it signs nothing (F34).

Threat.  A journal that was damaged, lost or put back from a backup may lack entries and votes that have left, and whoever
signs another thing in the place of one of them is convicted.  Only the others can tell what they have got.  Each of them may be
the only one that has it, so *each* seat of the roster has to tell; no clock stands in for one that is silent.  A seat that stays
away can be dropped by the others, if they are a quorum; after that it need not tell, since all that it can have is about
steps that are final.  If they are none, the table could not go on without it anyway.

A seat tells by answering WANT.  It gives what we lack and, however far ahead, whatever it holds of our own seat; an empty
ENTRIES ends the answer.  Where a seat has no link to us, a neighbour of both tells for it, once the two have been linked for
so long that they have compared what they hold.

==============  ===============================================================  ==================
state of a      event                                                            next
seat
==============  ===============================================================  ==================
SILENT          it is asked (a link came up, or it said HAVE)                    ASKED
ASKED           its answer brought something new                                 ASKED, once more
ASKED           its answer brought nothing new                                   TOLD
ASKED           its last link is gone                                            SILENT
SILENT, ASKED   an answer brought nothing new, of a seat that has said for       TOLD
                RELAY_SECONDS that it is linked to this one
==============  ===============================================================  ==================

What a liar keeps back cannot be known: a seat that has lost its journal can be convicted by one who has waited for that.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Final

RELAY_SECONDS: Final = 20.0
"""Two neighbours that have been linked for so long have compared what they hold: HAVE is said every 8 s at least while nothing
moves, and a link that is dead is noticed after 12 s."""


class Hearing(Enum):
    """What a seat has told us since the restart."""

    SILENT = "silent"
    ASKED = "asked"
    TOLD = "told"


class Doubt:
    """Who has told what they know of us."""

    def __init__(self) -> None:
        self._hearing: dict[int, Hearing] = {}
        self._news: set[int] = set()
        self._linked: dict[tuple[int, int], float] = {}

    def hearing(self, seat: int) -> Hearing:
        return self._hearing.get(seat, Hearing.SILENT)

    @property
    def told(self) -> bool:
        """Whether anybody has told."""
        return Hearing.TOLD in self._hearing.values()

    def unheard(self, seats: Iterable[int]) -> tuple[int, ...]:
        """Those of these seats that have not told yet."""
        return tuple(seat for seat in seats if self.hearing(seat) is not Hearing.TOLD)

    # --- inputs ----------------------------------------------------------------------------------------

    def asked(self, seat: int) -> None:
        """A WANT has been sent to this seat."""
        if self.hearing(seat) is Hearing.SILENT:
            self._hearing[seat] = Hearing.ASKED

    def brought(self, seat: int) -> None:
        """Something that was new to us came from this seat."""
        self._news.add(seat)

    def answered(self, seat: int, now: float) -> bool:
        """An answer to WANT has ended.  Whether it has told all; otherwise it is to be asked again."""
        if seat in self._news:
            self._news.remove(seat)
            return False
        if self.hearing(seat) is not Hearing.SILENT:
            self._hearing[seat] = Hearing.TOLD
            for other in self._compared_with(seat, now):
                self._hearing[other] = Hearing.TOLD
        return True

    def linked(self, seat: int, others: Iterable[int], now: float) -> None:
        """This seat says to which seats it is linked."""
        links = {(seat, other) for other in others}
        self._linked = {
            link: since for link, since in self._linked.items() if link[0] != seat or link in links
        }
        for link in links:
            self._linked.setdefault(link, now)

    def parted(self, seat: int) -> None:
        """The last link to this seat is gone."""
        if self.hearing(seat) is Hearing.ASKED:
            self._hearing[seat] = Hearing.SILENT
        self._news.discard(seat)
        self.linked(seat, (), 0.0)

    def is_to_be_asked(self, seat: int, now: float) -> bool:
        """Whether an answer of this seat could end some doubt."""
        if self.hearing(seat) is not Hearing.TOLD:
            return True
        return bool(self.unheard(self._compared_with(seat, now)))

    def _compared_with(self, seat: int, now: float) -> list[int]:
        """The seats that this one has been linked to for long enough."""
        return [
            other
            for (one, other), since in self._linked.items()
            if one == seat and now - since >= RELAY_SECONDS
        ]
