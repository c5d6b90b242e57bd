"""``steady``: the sensible player of whatever game is on the table."""

from __future__ import annotations

from p2p_rummy.bots.base import Bot, Stopped, never
from p2p_rummy.bots.rum import RumBot
from p2p_rummy.bots.rummoli import RummoliBot
from protocol.game import Faces, Game, Seat


class SteadyBot:
    """Plays the rum family with :class:`RumBot` and Rummoli with :class:`RummoliBot`."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._player: Bot | None = None

    def choose(self, game: Game, seat: Seat, faces: Faces, *, stopped: Stopped = never) -> str:
        if self._player is None:
            self._player = RummoliBot(self._seed) if game.name == "rummoli" else RumBot(self._seed)
        return self._player.choose(game, seat, faces, stopped=stopped)
