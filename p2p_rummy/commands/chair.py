"""How one player sits at a table: the arguments that host, join and resume share, and the visit itself."""

from __future__ import annotations

import argparse
import contextlib
import ipaddress
import random
import sys
from collections.abc import AsyncIterable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import trio

from p2p_rummy import proxy
from p2p_rummy.bots import LEVELS, make_bot
from p2p_rummy.botseat import BotSeat, think_seconds
from p2p_rummy.catalogue import _
from p2p_rummy.companions import Companion, companions
from p2p_rummy.complaint import USAGE, Complaint, verdict_on
from p2p_rummy.home import open_home
from p2p_rummy.jsonface import JsonFace, JsonLobby, Record, json_line
from p2p_rummy.lines import lines_of
from p2p_rummy.seat import Face
from p2p_rummy.terminal.draw import Style
from p2p_rummy.terminal.full import FullScreen, Stage
from p2p_rummy.terminal.line import LineMode
from p2p_rummy.terminal.lobby import LineLobby
from p2p_rummy.terminal.text import columns, has_colours, wants_colour
from p2p_rummy.visit import Lobby, Visit, ended_by_signals, visit
from protocol import discovery
from protocol.agreement import MAX_MILLISECONDS
from protocol.errors import LocalProtocolError
from protocol.peer import Home, Table
from protocol.ticket import Address

OpenTable = Callable[[Home], AbstractAsyncContextManager[Table]]


def add_chair(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--home", metavar="DIR", help=_("where this player's things are kept (or P2P_RUMMY_HOME)")
    )
    parser.add_argument(
        "--bot", metavar="LEVEL", choices=tuple(LEVELS), help=_("let a bot play this seat: %(choices)s")
    )
    parser.add_argument(
        "--pause", metavar="SECONDS", type=seconds, default=0.0, help=_("how long a bot holds its moves back")
    )
    parser.add_argument("--json", action="store_true", help=_("one JSON object a line, for programs"))
    parser.add_argument("--tui", action="store_true", help=_("the table on the whole screen, by keyboard"))
    parser.add_argument("--bind", metavar="ADDRESS", help=_("listen at this address only"))
    parser.add_argument(
        "--port", metavar="PORT", type=port, help=_("listen on this port; 0 for any free one")
    )
    parser.add_argument(
        "--only-at",
        metavar="HOST:PORT",
        type=only_at,
        action="append",
        help=_("tell the others to reach you here and nowhere else, such as at a p2p-rummy proxy"),
    )
    parser.add_argument("--leash", action="store_true", help=argparse.SUPPRESS)


def add_watcher(parser: argparse.ArgumentParser) -> None:
    """The arguments of somebody without a seat."""
    parser.add_argument(
        "--home", metavar="DIR", help=_("where this player's things are kept (or P2P_RUMMY_HOME)")
    )
    parser.add_argument("--json", action="store_true", help=_("one JSON object a line, for programs"))
    parser.add_argument("--tui", action="store_true", help=_("the table on the whole screen, by keyboard"))
    parser.set_defaults(bot=None, leash=False, pause=0.0)


def seconds(text: str) -> float:
    """A duration on the command line, of a day at most."""
    value = float(text)
    if not 0 <= value <= 86400:
        raise argparse.ArgumentTypeError(_("seconds are 0 to 86400"))
    return value


def long_seconds(text: str) -> float:
    """A duration of as much as an agreement may say."""
    value = float(text)
    if not 0 <= value <= MAX_MILLISECONDS / 1000:
        raise argparse.ArgumentTypeError(_("seconds are 0 to {most}", most=MAX_MILLISECONDS // 1000))
    return value


def port(text: str) -> int:
    value = int(text)
    if not 0 <= value <= 65535:
        raise argparse.ArgumentTypeError(_("a port is 0 to 65535"))
    return value


def only_at(text: str) -> Address:
    """An address that the others are told: they look no name up, and no port is free to be picked."""
    try:
        host, number = proxy.address(text)
        ipaddress.ip_address(host)
    except ValueError:
        number = 0
    if not number:
        raise argparse.ArgumentTypeError(
            _(
                "{text} is not an IP address and a port; write it as 127.0.0.1:4000 or [::1]:4000",
                text=repr(text),
            )
        )
    return Address(host=host, port=number)


def add_unlisted(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--unlisted", action="store_true", help=_("tell nobody where you can be reached: you dial the others")
    )


def told(args: argparse.Namespace) -> list[Address] | None:
    """What the others are told of where this peer is; None: where it listens."""
    if not getattr(args, "unlisted", False):
        addresses: list[Address] | None = args.only_at
        return addresses
    if args.only_at:
        raise Complaint(
            _("--only-at says where you can be reached, and --unlisted that you cannot: choose one"),
            status=USAGE,
        )
    return []


def sit_down(
    args: argparse.Namespace,
    open_table: OpenTable,
    *,
    invite: bool = False,
    announced: bool = False,
    pictures: bool = False,
    bots: Callable[[Table], Sequence[Companion]] = lambda _table: (),
) -> int:
    """Take the home, open the table, play.

    ``invite``: show the ticket, with ``pictures`` as a code too where the terminal can.  ``announced``: let the local
    network know while there are seats.
    ``bots`` says which companions to start once the table is open.
    """
    path = open_home(args.home)
    try:
        return trio.run(
            _sit,
            args,
            path,
            open_table,
            invite,
            announced,
            pictures and has_colours(1),
            bots,
            restrict_keyboard_interrupt_to_checkpoints=True,
        )
    except BaseException as error:
        verdict = verdict_on(error)
        if args.json and verdict is not None and verdict.line:
            with contextlib.suppress(OSError):
                _emit({"event": "error", "code": "ended", "message": verdict.line, "fatal": True})
        raise


async def _sit(
    args: argparse.Namespace,
    path: Path,
    open_table: OpenTable,
    invite: bool,
    announced: bool,
    pictures: bool,
    bots: Callable[[Table], Sequence[Companion]],
) -> int:
    with Home(path) as home:
        async with open_table(home) as table, ended_by_signals(table):
            stage = _stage(args)
            write = _write if stage is None else stage.write
            lobby: Lobby = (
                JsonLobby(table, _emit) if args.json else LineLobby(table, write, pictures=pictures)
            )
            if invite:
                lobby.opened()
            async with companions(bots(table)) as company, trio.open_nursery() as nursery:
                nursery.start_soon(_tell_troubles, company.troubles, write, args.json)
                if announced:
                    nursery.start_soon(_announce, table)
                level = args.bot or _level_before(table)

                def begin(seated: Table) -> Face:
                    company.table = seated.name
                    return _face(args, seated, level, nursery, stage)

                face = Visit(table, lobby, begin)
                # A bot listens to nobody, except to the end of its leash.
                lines: AsyncIterable[str] | None = lines_of(0) if not level or args.leash else None
                if stage is not None:
                    nursery.start_soon(stage.run)
                    lines = stage.lines
                status = await visit(table, face, lines)
                if stage is not None:
                    await stage.linger()
                company.all_over = table.started and table.over
                nursery.cancel_scope.cancel()
    return status


async def _announce(table: Table) -> None:
    """A network that takes no beacons is no fault: the ticket is there."""
    with contextlib.suppress(OSError):
        async with discovery.open_air() as air:
            await discovery.announce(air, lambda: table.beacon)


def _level_before(table: Table) -> str:
    """Who resumes a bot's seat goes on as that bot."""
    try:
        agreement = table.agreement
    except LocalProtocolError:
        return ""
    seat = agreement.seat_of(table.home.identity.public_key)
    return "" if seat is None else agreement.seats[seat].bot


def _stage(args: argparse.Namespace) -> Stage | None:
    if not args.tui:
        return None
    if args.json:
        raise Complaint(_("--tui is for people and --json for programs: choose one"), status=USAGE)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Complaint(_("--tui needs a terminal; without it the table is told line by line"), status=USAGE)
    return Stage(_write)


def _face(
    args: argparse.Namespace, table: Table, level: str, nursery: trio.Nursery, stage: Stage | None
) -> Face:
    face: Face
    if stage is not None:
        face = stage.rise(FullScreen(table, trio.current_time))
    elif args.json:
        face = JsonFace(table, _emit, trio.current_time)
    else:
        style = Style(size=columns(), colour=wants_colour(1))
        face = LineMode(table, _write, trio.current_time, style)
    if not level:
        return face
    seed = random.SystemRandom().getrandbits(64)
    bot = make_bot(level, seed, think_seconds=think_seconds(table.agreement))
    seat = BotSeat(table, face, bot.choose, pause_seconds=args.pause)
    nursery.start_soon(seat.think)
    return seat


async def _tell_troubles(
    troubles: trio.MemoryReceiveChannel[str], write: Callable[[Sequence[str]], None], as_json: bool
) -> None:
    async for line in troubles:
        if as_json:
            _emit({"event": "companion", "message": line})
        else:
            write([line])


def _write(lines: Sequence[str]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def _emit(record: Record) -> None:
    _write([json_line(record)])


def checked_seats(seats: int | None, bots: int) -> int:
    """How many seats the table has: as said, else the bots and their host, else two."""
    wanted = seats if seats is not None else max(2, bots + 1)
    if not 2 <= wanted <= 8:
        raise Complaint(
            _("a table has 2 to 8 seats, not {seats}: change --seats", seats=wanted), status=USAGE
        )
    if bots > wanted - 1:
        raise Complaint(
            _(
                "{bots} bots and you do not fit at {seats} seats: change --seats or --bots",
                bots=bots,
                seats=wanted,
            ),
            status=USAGE,
        )
    return wanted
