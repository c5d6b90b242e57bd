"""``p2p-rummy rules [GAME] [--set ...]``: the rules of exactly that table."""

from __future__ import annotations

import argparse

from p2p_rummy.catalogue import _
from p2p_rummy.commands.terms import add_terms, chosen_rules, settled_for_some_size
from p2p_rummy.home import home_directory
from p2p_rummy.options import GAMES
from p2p_rummy.rules_text import rules_text
from p2p_rummy.terminal.text import columns, wrapped


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "rules_of", metavar="GAME", nargs="?", help=_("one of: {games}", games=", ".join(GAMES))
    )
    parser.add_argument("--seats", metavar="N", type=int, help=_("for this many players"))
    parser.add_argument("--home", metavar="DIR", help=_("where this player's things are kept"))
    add_terms(parser)


def run(args: argparse.Namespace) -> int:
    rules = chosen_rules(args, home_directory(args.home), game=args.rules_of)
    size = columns()
    for section in rules_text(settled_for_some_size(rules, args.seats), _):
        print(section.title)
        for line in section.lines:
            first = f"  {line.rule:<5} " if line.rule else "        "
            print("\n".join(wrapped(line.text, size, first=first)))
        print()
    return 0
