"""``p2p-rummy presets``: house rules kept under a name, and shared as one line of text.

p2p-rummy presets save "Grandma's" --game rum500 --set ace=low --target 1000
p2p-rummy presets show "Grandma's"          the line to send to friends
p2p-rummy presets add "Grandma's: rum500 ace=low target=1000"
p2p-rummy presets                           all that are kept
p2p-rummy presets remove "Grandma's"
"""

from __future__ import annotations

import argparse
from pathlib import Path

from p2p_rummy import presets
from p2p_rummy.catalogue import _
from p2p_rummy.commands.terms import add_terms, chosen_rules, settled_for_some_size
from p2p_rummy.home import open_home
from p2p_rummy.presets import HouseRules


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--home", metavar="DIR", help=_("where this player's things are kept"))
    actions = parser.add_subparsers(dest="action", metavar=_("ACTION"))
    actions.add_parser("list", help=_("all house rules that are kept (also without an action)"))
    save = actions.add_parser("save", help=_("keep these options under a name"))
    save.add_argument("name", metavar="NAME")
    add_terms(save)
    add = actions.add_parser("add", help=_("keep house rules that a friend sent as text"))
    add.add_argument("text", metavar="TEXT", nargs="+")
    for action, summary in (
        ("show", _("print them as text, to be sent to friends")),
        ("remove", _("forget them")),
    ):
        one = actions.add_parser(action, help=summary)
        one.add_argument("name", metavar="NAME")


def run(args: argparse.Namespace) -> int:
    home = open_home(args.home)
    match args.action:
        case "save":
            rules = chosen_rules(args, home)
            _keep(
                home,
                HouseRules(name=presets.checked_name(args.name), game=rules.game, settings=rules.settings),
            )
        case "add":
            _keep(home, presets.read_line(" ".join(args.text)))
        case "show":
            print(presets.load(home, args.name).line())
        case "remove":
            presets.remove(home, args.name)
        case _:
            kept = presets.kept_rules(home)
            for rules in kept:
                print(rules.line())
            if not kept:
                print(
                    _(
                        "No house rules are kept yet; `p2p-rummy presets save NAME --set OPTION=VALUE` keeps some."
                    )
                )
    return 0


def _keep(home: Path, rules: HouseRules) -> None:
    """Only rules that make a table are kept, written as the options' own text and without what is default."""
    settings = settled_for_some_size(rules)
    written = HouseRules(name=rules.name, game=rules.game, settings=settings.differences())
    presets.save(home, written)
    print(written.line())
