"""From a signed agreement to the game that it names."""

from __future__ import annotations

from typing import Final

from p2p_rummy.games.base import make_game
from p2p_rummy.refusals import OptionError
from protocol.agreement import Agreement
from protocol.game import Game

RULES_VERSION: Final = 1
"""Raised whenever the same log could replay to another result (W11)."""


def agreed_game(agreement: Agreement) -> Game:
    """The game of this table, before its first shuffle.  Raises OptionError for one that cannot be played here."""
    if agreement.rules_version != RULES_VERSION:
        raise OptionError(
            "bad_option",
            "this table plays version {theirs} of the rules, this program version {ours}; use the program of "
            "that version",
            theirs=agreement.rules_version,
            ours=RULES_VERSION,
        )
    return make_game(agreement.game, dict(agreement.options), len(agreement.seats))
