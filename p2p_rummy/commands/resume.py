"""``p2p-rummy resume [TABLE]``: come back to a seat after a crash or a break, with the bots one had seated."""

from __future__ import annotations

import argparse

from p2p_rummy.agreed import agreed_game
from p2p_rummy.catalogue import _
from p2p_rummy.commands.chair import add_chair, add_unlisted, sit_down, told
from p2p_rummy.companions import returners
from p2p_rummy.home import open_home
from protocol.peer import resume_table
from protocol.ticket import parse_ticket


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "table", metavar="TABLE", nargs="?", help=_("the start of its id; without it, the latest")
    )
    parser.add_argument(
        "--via",
        metavar="TICKET",
        action="append",
        default=[],
        help=_(
            "a ticket of somebody at the table, where everybody's address has changed; may be given again"
        ),
    )
    add_chair(parser)
    add_unlisted(parser)


def run(args: argparse.Namespace) -> int:
    path = open_home(args.home)
    via = [parse_ticket(ticket) for ticket in args.via]
    return sit_down(
        args,
        lambda home: resume_table(
            home,
            args.table,
            agreed_game,
            bind=args.bind,
            port=args.port,
            only_at=told(args),
            via=via,
        ),
        bots=lambda table: returners(
            path, table.home.table(args.table).name, bind=args.bind, pause_seconds=args.pause
        ),
    )
