"""The registry of games, and the digest that all of them have.

A game is a factory from :class:`~p2p_rummy.options.Settings` to :class:`protocol.game.Game`, entered in
:data:`FACTORIES` under each of its names; its options are rows of :data:`p2p_rummy.options.OPTIONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final, cast

from p2p_rummy.options import Settings, resolve
from protocol.canonical import Value, encode
from protocol.game import Game
from protocol.identity import tagged_hash

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


def state_digest(state: Mapping[str, Any]) -> bytes:
    """The digest of a game whose whole public state is this plain data: H("game state", the value of it).

    It stands in every RULING and RESULT, so it depends on nothing that another language would do otherwise (SPEC.md
    9.1, docs/adr/002): the state is mapped to the values of the one encoding by :func:`value_of`.
    """
    text = repr(state)  # different plain data have different texts
    digest = _digests.get(text)
    if digest is None:
        if len(_digests) >= _MOST_DIGESTS:
            _digests.clear()
        digest = _digests[text] = tagged_hash("game state", encode(value_of(state)))
    return digest


_MOST_DIGESTS: Final = 32
_digests: Final[dict[str, bytes]] = {}
"""By the text of the state: who checks a ruling, a log, or plays at a simulated table has all peers' states to compare."""


def value_of(plain: Any) -> Value:
    """Plain data as a value of :mod:`protocol.canonical`, which knows no maps, no nothing and no number below zero.

    A map becomes the list of its ``[key, value]`` by rising key (text, by code points), a number below zero its
    decimal text, nothing the empty list; all else is itself.  Raises TypeError for what is not plain data.
    """
    kind = type(plain)
    if kind is str or kind is bool:
        value: Value = plain
        return value
    if kind is int:
        return plain if plain >= 0 else str(plain)
    if kind is list or kind is tuple:
        # Most items are text or numbers: no call for each.
        return [
            item if (of := type(item)) is str or (of is int and item >= 0) else value_of(item)
            for item in plain
        ]
    if plain is None:
        return []
    if kind is dict and {str}.issuperset(map(type, plain)):
        return [[key, value_of(plain[key])] for key in sorted(plain)]
    raise TypeError(f"{plain!r} is not plain data: text, numbers, truth, lists, and maps with text for keys")
