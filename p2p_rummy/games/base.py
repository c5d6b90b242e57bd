"""The registry of games.

A game is a factory from :class:`~p2p_rummy.options.Settings` to :class:`protocol.game.Game`, entered in
:data:`FACTORIES` under each of its names; its options are rows of :data:`p2p_rummy.options.OPTIONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Final, cast

from p2p_rummy.options import Settings, resolve
from protocol.game import Game

FACTORIES: Final[dict[str, str]] = {
    "rum500": "p2p_rummy.games.rum:Rum500",
    "rummy": "p2p_rummy.games.rum:Rummy",
    "rum500_wiki": "p2p_rummy.games.rum:Rum500Wiki",
    "rum500_korean": "p2p_rummy.games.rum:Rum500Korean",
    "dealers_joker": "p2p_rummy.games.rum:DealersJoker",
    "partnership": "p2p_rummy.games.rum:Partnership",
    "persian": "p2p_rummy.games.rum:Persian",
    "calling_rum": "p2p_rummy.games.rum:CallingRum",
    "rummoli": "p2p_rummy.games.rummoli:Rummoli",
}
"""Game name -> ``module:factory``.  Imported when first asked for, so that one game never slows another."""


def make_game(name: str, options: Mapping[str, object], seats: int) -> Game:
    """A new game, before its first shuffle.

    ``options``: what differs from the preset, as text (``{"ace": "low"}``) or as typed values.  Raises
    :class:`~p2p_rummy.refusals.OptionError` if that makes no table (R255).
    """
    return from_settings(resolve(name, options, seats))


def from_settings(settings: Settings) -> Game:
    module, _, attribute = FACTORIES[settings.game].partition(":")
    factory = cast("Callable[[Settings], Game]", getattr(import_module(module), attribute))
    return factory(settings)
