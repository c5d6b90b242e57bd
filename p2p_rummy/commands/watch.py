"""``p2p-rummy watch TICKET``: see a table as anybody may see it, hands closed."""

from __future__ import annotations

import argparse

from p2p_rummy.agreed import agreed_game
from p2p_rummy.catalogue import _
from p2p_rummy.commands.chair import add_watcher, sit_down
from protocol.peer import watch_table
from protocol.ticket import parse_ticket


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ticket", metavar="TICKET", nargs="+", help=_("the line that a player sees"))
    add_watcher(parser)


def run(args: argparse.Namespace) -> int:
    ticket = parse_ticket(" ".join(args.ticket))
    return sit_down(args, lambda home: watch_table(home, ticket, agreed_game))
