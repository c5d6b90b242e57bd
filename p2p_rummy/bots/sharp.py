"""``sharp``: the player that looks ahead.

It imagines how the cards that it cannot see may lie, tries the moves worth thinking about in every such world, and
makes the one that wins most (:mod:`p2p_rummy.bots.sharp_rum`).  Rummoli it plays as ``steady`` does: there the stops leave
little to decide.

How long it thinks is a :class:`~p2p_rummy.bots.sharp_search.Budget`: a number of worlds, so that the same seed makes the same
moves on any machine, or a number of seconds at a table with people.
"""

from __future__ import annotations

from typing import Final

from p2p_rummy.bots.base import Bot, Stopped, never
from p2p_rummy.bots.rummoli import RummoliBot
from p2p_rummy.bots.sharp_rum import SharpRumBot
from p2p_rummy.bots.sharp_search import Budget
from protocol.game import Faces, Game, Seat

WORLDS: Final = Budget(worlds=60)
"""The budget where nothing is said: the same on every machine."""
MOST_WORLDS: Final = 2000
"""Enough for any number of seconds: more would change nothing."""


class SharpBot:
    """Plays the rum family with :class:`SharpRumBot` and Rummoli with :class:`RummoliBot`."""

    def __init__(self, seed: int, budget: Budget = WORLDS) -> None:
        self._seed = seed
        self._budget = budget
        self._player: Bot | None = None

    def choose(self, game: Game, seat: Seat, faces: Faces, *, stopped: Stopped = never) -> str:
        if self._player is None:
            rummoli = game.name == "rummoli"
            self._player = RummoliBot(self._seed) if rummoli else SharpRumBot(self._seed, self._budget)
        return self._player.choose(game, seat, faces, stopped=stopped)
