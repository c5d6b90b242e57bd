"""``p2p-rummy doctor``: what keeps friends away, and what to do about it."""

from __future__ import annotations

import argparse

from p2p_rummy.catalogue import _
from p2p_rummy.commands.chair import port
from p2p_rummy.doctor import ThisMachine, examine, report
from p2p_rummy.home import home_directory
from protocol.ticket import parse_ticket


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ticket", metavar="TICKET", nargs="*", help=_("try the addresses of this ticket"))
    parser.add_argument(
        "--home", metavar="DIR", help=_("where this player's things are kept (or P2P_RUMMY_HOME)")
    )
    parser.add_argument("--port", metavar="PORT", type=port, help=_("the port that a table is to listen on"))


def run(args: argparse.Namespace) -> int:
    """1 if anything is at fault, 0 otherwise (notes included)."""
    friends = []
    if args.ticket:
        ticket = parse_ticket(" ".join(args.ticket))
        friends = [(address.host, address.port) for address in ticket.addresses]
    findings = examine(ThisMachine(), home_directory(args.home), port=args.port or 0, friends=friends)
    for line in report(findings):
        print(line)
    return 1 if any(finding.level == "fault" for finding in findings) else 0
