"""``p2p-rummy resume [TABLE]``: come back to a seat after a crash or a break, with the bots one had seated."""

from __future__ import annotations

import argparse

from p2p_rummy.agreed import agreed_game
from p2p_rummy.catalogue import _
from p2p_rummy.commands.chair import add_chair, sit_down
from p2p_rummy.companions import returners
from p2p_rummy.home import open_home
from protocol.peer import resume_table


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "table", metavar="TABLE", nargs="?", help=_("the start of its id; without it, the latest")
    )
    add_chair(parser)


def run(args: argparse.Namespace) -> int:
    path = open_home(args.home)
    return sit_down(
        args,
        lambda home: resume_table(home, args.table, agreed_game, bind=args.bind, port=args.port),
        bots=lambda table: returners(
            path, table.home.table(args.table).name, bind=args.bind, pause_seconds=args.pause
        ),
    )
