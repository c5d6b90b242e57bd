"""``p2p-rummy host``: open a table, print its ticket, play the first seat."""

from __future__ import annotations

import argparse
import ipaddress
from collections.abc import Sequence

from p2p_rummy.agreed import RULES_VERSION, agreed_game
from p2p_rummy.bots import LEVELS
from p2p_rummy.catalogue import _
from p2p_rummy.commands.chair import add_chair, checked_seats, long_seconds, seconds, sit_down, told
from p2p_rummy.commands.terms import add_terms, chosen_rules, settled
from p2p_rummy.companions import Companion, newcomers
from p2p_rummy.home import open_home, player_name
from protocol.lobby import Offer
from protocol.peer import Table, host_table

DEFAULT_COMPANION = "steady"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seats", metavar="N", type=int, help=_("2 to 8; without it, room for you and the bots")
    )
    parser.add_argument("--bots", metavar="K", type=int, default=0, help=_("fill this many seats with bots"))
    parser.add_argument(
        "--bots-level",
        metavar="LEVEL",
        choices=tuple(LEVELS),
        default=DEFAULT_COMPANION,
        help=_("how well they play: %(choices)s"),
    )
    add_terms(parser)
    parser.add_argument("--name", metavar="NAME", help=_("your name at the table (remembered)"))
    parser.add_argument(
        "--window", metavar="SECONDS", type=seconds, default=5.0, help=_("the countdown of a call window")
    )
    parser.add_argument(
        "--turn", metavar="SECONDS", type=seconds, default=120.0, help=_("what a player has for a turn")
    )
    parser.add_argument(
        "--step",
        metavar="SECONDS",
        type=seconds,
        default=15.0,
        help=_("what a peer has for anything without a person"),
    )
    parser.add_argument(
        "--abandon",
        metavar="SECONDS",
        type=long_seconds,
        default=0.0,
        help=_("where nobody is dropped: record the table as abandoned after waiting so long (0: never)"),
    )
    parser.add_argument("--strict", action="store_true", help=_("no backups of keys: a leaver ends the hand"))
    parser.add_argument("--patient", action="store_true", help=_("wait for a missing player, drop nobody"))
    parser.add_argument("--no-spectators", action="store_true", help=_("the log is for the players only"))
    parser.add_argument(
        "--advertise",
        metavar="ADDRESS",
        action="append",
        default=[],
        help=_("another address for the ticket, such as the outside of your router"),
    )
    parser.add_argument(
        "--hidden", action="store_true", help=_("do not announce the table on the local network")
    )
    add_chair(parser)


def run(args: argparse.Namespace) -> int:
    home_path = open_home(args.home)
    seats = checked_seats(args.seats, args.bots)
    settings = settled(chosen_rules(args, home_path), seats)
    name = player_name(home_path, args.name)
    offer = Offer(
        game=settings.game,
        rules_version=RULES_VERSION,
        options=tuple(sorted(settings.differences().items())),
        seats=seats,
        window_ms=round(args.window * 1000),
        turn_ms=max(1, round(args.turn * 1000)),
        step_ms=max(1, round(args.step * 1000)),
        abandon_ms=round(args.abandon * 1000),
        strict=args.strict,
        patient=args.patient,
        spectators=not args.no_spectators,
    )

    def bots(table: Table) -> Sequence[Companion]:
        return newcomers(
            home_path,
            str(table.ticket),
            args.bots,
            args.bots_level,
            taken=[name],
            bind=args.bind,
            pause_seconds=args.pause,
        )

    return sit_down(
        args,
        lambda home: host_table(
            home,
            offer,
            agreed_game,
            name=name,
            bot=args.bot or "",
            bind=args.bind,
            port=args.port or 0,
            advertise=args.advertise,
            only_at=told(args),
        ),
        invite=True,
        announced=announced(args.bind, args.hidden or bool(args.only_at), open_seats=seats - 1 - args.bots),
        pictures=announced(args.bind, hidden=False, open_seats=seats - 1 - args.bots),
        bots=bots,
    )


def announced(bind: str | None, hidden: bool, *, open_seats: int) -> bool:
    """A table is announced if a friend could come: not when it listens on this machine alone or has room for bots only."""
    if hidden or open_seats <= 0:
        return False
    try:
        return bind is None or not ipaddress.ip_address(bind).is_loopback
    except ValueError:
        return bind != "localhost"
