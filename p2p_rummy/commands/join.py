"""``p2p-rummy join TICKET``: sit down at a friend's table."""

from __future__ import annotations

import argparse

from p2p_rummy.agreed import agreed_game
from p2p_rummy.catalogue import _
from p2p_rummy.commands.chair import add_chair, add_unlisted, sit_down, told
from p2p_rummy.home import open_home, player_name
from protocol.peer import join_table
from protocol.ticket import parse_ticket


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ticket", metavar="TICKET", nargs="+", help=_("the line that the host sees"))
    parser.add_argument("--name", metavar="NAME", help=_("your name at the table (remembered)"))
    add_chair(parser)
    add_unlisted(parser)


def run(args: argparse.Namespace) -> int:
    ticket = parse_ticket(" ".join(args.ticket))
    name = player_name(open_home(args.home), args.name)
    return sit_down(
        args,
        lambda home: join_table(
            home,
            ticket,
            agreed_game,
            name=name,
            bot=args.bot or "",
            bind=args.bind,
            port=args.port or 0,
            only_at=told(args),
        ),
    )
