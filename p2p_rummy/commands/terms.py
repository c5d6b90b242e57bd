"""Arguments that say what is played: the game, its options, or house rules kept in the home."""

from __future__ import annotations

import argparse
from pathlib import Path

from p2p_rummy import presets
from p2p_rummy.catalogue import _
from p2p_rummy.complaint import USAGE, Complaint, one_line
from p2p_rummy.fault_words import error_words
from p2p_rummy.options import GAMES, Settings, resolve
from p2p_rummy.presets import HouseRules
from p2p_rummy.refusals import OptionError

DEFAULT_GAME = "rum500"
TABLE_SIZES = range(2, 9)


def add_terms(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--game", metavar="GAME", help=_("one of: {games} (rum500 if none is named)", games=", ".join(GAMES))
    )
    parser.add_argument(
        "--preset", metavar="NAME", help=_("house rules kept under this name (`p2p-rummy presets`)")
    )
    parser.add_argument(
        "--set",
        metavar="OPTION=VALUE",
        action="append",
        default=[],
        dest="settings",
        help=_("change one option; may be given again (`p2p-rummy options` lists them)"),
    )
    parser.add_argument("--target", metavar="POINTS", help=_("the total that ends the game, or none"))


def chosen_rules(args: argparse.Namespace, home: Path, *, game: str | None = None) -> HouseRules:
    """The game and the options set on the command line, on top of house rules if some are named."""
    rules = HouseRules(name="table", game=DEFAULT_GAME, settings={})
    game = game or args.game
    if args.preset is not None:
        rules = presets.load(home, args.preset)
        if game is not None and game != rules.game:
            raise Complaint(
                _(
                    "the house rules {name} are for {game}; leave --game out",
                    name=rules.name,
                    game=rules.game,
                ),
                status=USAGE,
            )
    elif game is not None:
        rules = HouseRules(name="table", game=game, settings={})
    changed = presets.read_settings(args.settings)
    if args.target is not None:
        if changed.get("target", args.target) != args.target:
            raise Complaint(_("--target and --set target= say different things"), status=USAGE)
        changed["target"] = args.target
    return HouseRules(name=rules.name, game=rules.game, settings={**rules.settings, **changed})


def settled(rules: HouseRules, seats: int) -> Settings:
    """The complete options for a table of this size.  Raises Complaint with the reason (R255)."""
    try:
        return resolve(rules.game, rules.settings, seats)
    except OptionError as error:
        raise Complaint(one_line(error_words(error)), status=USAGE) from None


def settled_for_some_size(rules: HouseRules, seats: int | None = None) -> Settings:
    """As :func:`settled`, for ``seats`` or for the smallest table that these rules allow."""
    if seats is not None:
        return settled(rules, seats)
    reason: Complaint | None = None
    for size in TABLE_SIZES:
        try:
            return settled(rules, size)
        except Complaint as complaint:
            # What is wrong at every size is wrong at the last one too, and says it without a number of players
            # that nobody asked for; a rule of one size only is not the reason then.
            reason = complaint
    assert reason is not None
    raise reason
