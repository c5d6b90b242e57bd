"""What a bot is: something that chooses one of its seat's legal moves.

A bot sees what a player at its seat sees and nothing else: the public game and the faces of its own slots.  It holds no
rules; whatever it returns stands in ``game.legal_moves(seat, faces)``.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Protocol

from protocol.game import Faces, Game, Seat

Stopped = Callable[[], bool]
"""Whether nobody waits for a choice any more.  A bot that thinks for long asks now and then, in the thread it thinks in."""


def never() -> bool:
    return False


class Bot(Protocol):
    """One player.  It may remember what it has seen; it must not be shared between seats."""

    def choose(self, game: Game, seat: Seat, faces: Faces, *, stopped: Stopped = never) -> str:
        """A legal move or answer of ``seat``, which owes one; any that comes to mind once it is ``stopped``.

        Raises ValueError if it owes none.
        """


class RandomBot:
    """Any legal move, each as likely as the others.  Plays every game."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)

    def choose(self, game: Game, seat: Seat, faces: Faces, *, stopped: Stopped = never) -> str:
        return self._rng.choice(legal_moves(game, seat, faces))


def legal_moves(game: Game, seat: Seat, faces: Faces) -> list[str]:
    """The seat's legal moves.  Raises ValueError if there are none: it is not asked for a move."""
    moves = game.legal_moves(seat, faces)
    if not moves:
        raise ValueError(f"seat {seat} owes no move now")
    return moves
