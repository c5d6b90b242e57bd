"""``p2p-rummy web``, and ``p2p-rummy`` alone: the page in the browser, from which everything else can be done."""

from __future__ import annotations

import argparse
import sys
import webbrowser

import trio

from p2p_rummy.catalogue import _
from p2p_rummy.commands.chair import port, seconds
from p2p_rummy.complaint import Complaint
from p2p_rummy.home import open_home, player_name
from p2p_rummy.web.house import BOT_PAUSE_SECONDS, PeerHouse
from p2p_rummy.web.serving import Served, serve_page
from protocol.peer import Home, TcpNetwork


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "ticket", metavar="TICKET", nargs="*", help=_("sit down at this table at once; else the start page")
    )
    parser.add_argument(
        "--watch", action="store_true", help=_("look on at the ticket's table, without a seat")
    )
    parser.add_argument(
        "--home", metavar="DIR", help=_("where this player's things are kept (or P2P_RUMMY_HOME)")
    )
    parser.add_argument("--name", metavar="NAME", help=_("your name at the table (remembered)"))
    parser.add_argument("--bind", metavar="ADDRESS", help=_("tables listen at this address only"))
    parser.add_argument(
        "--port",
        metavar="PORT",
        type=port,
        default=0,
        help=_("tables listen on this port; 0 for any free one"),
    )
    parser.add_argument(
        "--page-port", metavar="PORT", type=port, default=0, help=_("serve the page on this port; 0 for any")
    )
    parser.add_argument(
        "--page-for-lan",
        action="store_true",
        help=_("let another device of yours on this network open the page, by an address with its own key"),
    )
    parser.add_argument("--no-browser", action="store_true", help=_("print the address and open nothing"))
    parser.add_argument("--no-lan", action="store_true", help=_("neither announce tables nor look for them"))
    parser.add_argument(
        "--window",
        metavar="SECONDS",
        type=seconds,
        default=8.0,
        help=_("the countdown of a call window at tables that you open"),
    )
    parser.add_argument(
        "--turn", metavar="SECONDS", type=seconds, default=90.0, help=_("what a player has for a turn there")
    )
    parser.add_argument(
        "--pause",
        metavar="SECONDS",
        type=seconds,
        default=BOT_PAUSE_SECONDS,
        help=_("how long a bot holds its moves back"),
    )


def run(args: argparse.Namespace) -> int:
    path = open_home(args.home)
    name = player_name(path, args.name)
    with Home(path) as home:
        house = PeerHouse(
            home,
            name=name,
            bind=args.bind,
            port=args.port,
            window_seconds=args.window,
            turn_seconds=args.turn,
            bot_pause_seconds=args.pause,
            lan=not args.no_lan,
        )
        trio.run(_serve, args, house)
    return 0


async def _serve(args: argparse.Namespace, house: PeerHouse) -> None:
    hosts = tuple(TcpNetwork().own_hosts(None)) if args.page_for_lan else ()
    if args.page_for_lan and hosts == ("127.0.0.1",):
        raise Complaint(_("this machine has no address on a network; leave --page-for-lan out"))
    async with (
        house.run(),
        serve_page(house.desk, house.log, port=args.page_port, lan_hosts=hosts) as served,
    ):
        _tell(served)
        if args.ticket:
            wishes = {"ticket": " ".join(args.ticket)}
            await (house.watch(wishes) if args.watch else house.join(wishes))
        if not args.no_browser:
            # A browser that cannot be started is no fault: the address stands above.
            await trio.to_thread.run_sync(webbrowser.open, served.address, abandon_on_cancel=True)
        await trio.sleep_forever()


def _tell(served: Served) -> None:
    lines = [_("Your page: {address}", address=served.address)]
    lines += [
        _(
            "For another device of yours on this network (not encrypted; use a network that you trust): {address}",
            address=address,
        )
        for address in served.lan_addresses
    ]
    lines.append(_("Keep these addresses to yourself: whoever has one plays your hand. Ctrl-C ends."))
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
