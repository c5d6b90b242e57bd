"""Melds that a player has put down in mind only.

``meld`` and ``lay`` are tried on a copy of the game with the player's own cards, so a wrong one is refused at once and
``undo`` is honest: what it takes back nobody has seen.  The first move that is no meld (the discard, as a rule), or a
meld that ends the turn by itself, sends everything in order.  What is sent is never undone.
"""

from __future__ import annotations

import copy

from protocol.game import Faces, Game, Moved, Turn

KEPT_BACK = ("meld", "lay")


class Draft:
    """The moves of one turn before they are sent; ``game`` is the table as it would be after them."""

    def __init__(self, game: Game, seat: int, faces: Faces) -> None:
        self._seat = seat
        self._faces = dict(faces)
        self._games = [game]
        self.moves: list[str] = []

    @property
    def game(self) -> Game:
        return self._games[-1]

    def add(self, text: str) -> bool:
        """Try a move; True if everything is to be sent now.  Raises Refused, with nothing changed."""
        after = copy.deepcopy(self.game)
        slots = after.slots_of(self._seat, text, self._faces)
        openings = tuple((slot, self._faces[slot]) for slot in slots)
        after.apply(Moved(seat=self._seat, text=text, openings=openings))
        self._games.append(after)
        self.moves.append(text)
        keep = text.split(" ", 1)[0] in KEPT_BACK and after.need == Turn(seat=self._seat)
        return not keep

    def undo(self) -> str | None:
        """Take back the last move that is not sent; None if there is none."""
        if not self.moves:
            return None
        self._games.pop()
        return self.moves.pop()
