"""The games.  :func:`make_game` builds any of them; :mod:`p2p_rummy.games.base` has what they share."""

from p2p_rummy.games.base import make_game

__all__ = ["make_game"]
