"""Bots: players that see only what their seat may see.

bot = make_bot("steady", seed=1)
text = bot.choose(game, seat, faces)      # one of game.legal_moves(seat, faces)
"""

from collections.abc import Callable
from typing import Final

from p2p_rummy.bots.base import Bot, RandomBot
from p2p_rummy.bots.sharp import MOST_WORLDS, SharpBot
from p2p_rummy.bots.sharp_search import Budget
from p2p_rummy.bots.steady import SteadyBot

__all__ = ["LEVELS", "Bot", "make_bot"]

LEVELS: Final[dict[str, Callable[[int], Bot]]] = {
    "random": RandomBot,
    "steady": SteadyBot,
    "sharp": SharpBot,
}
"""Level -> the bot, made from a seed.  Every level plays every game."""


def make_bot(level: str, seed: int, *, think_seconds: float | None = None) -> Bot:
    """A bot for one seat.  The same seed at the same table makes the same choices.  Raises ValueError.

    ``think_seconds`` lets ``sharp`` think so long about a move instead of always the same amount; its choices then
    depend on how fast the machine is.
    """
    if level not in LEVELS:
        raise ValueError(f"there is no bot level {level!r}; the levels are {', '.join(LEVELS)}")
    if level == "sharp" and think_seconds is not None:
        return SharpBot(seed, Budget(worlds=MOST_WORLDS, seconds=think_seconds))
    return LEVELS[level](seed)
