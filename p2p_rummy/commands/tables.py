"""``p2p-rummy tables``: what is open on the local network, and what was left at home."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

import trio

from p2p_rummy.catalogue import _, ngettext
from p2p_rummy.commands.chair import seconds
from p2p_rummy.complaint import Complaint
from p2p_rummy.terminal.text import printable
from protocol import PROTOCOL_VERSION, discovery

LISTEN_SECONDS = 4.0
"""A little longer than the time between two beacons."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seconds", metavar="SECONDS", type=seconds, default=LISTEN_SECONDS, help=_("how long to listen")
    )
    parser.add_argument("--json", action="store_true", help=_("one JSON object a table"))


def run(args: argparse.Namespace) -> int:
    """0 if a table was found, 1 if none was."""
    found = trio.run(listen, args.seconds)
    for line in json_lines(found) if args.json else table_lines(found):
        print(line)
    return 0 if found.tables else 1


async def listen(for_seconds: float) -> discovery.Found:
    heard = discovery.Found(tables=(), others=())

    def tell(found: discovery.Found) -> None:
        nonlocal heard
        heard = found

    try:
        async with discovery.open_air() as air:
            with trio.move_on_after(for_seconds):
                await discovery.search(air, tell)
    except OSError as error:
        reason = error.strerror or str(error)
        raise Complaint(
            _(
                "cannot listen on the local network: {reason}; join by ticket, or run: p2p-rummy doctor",
                reason=reason,
            )
        ) from None
    return heard


def table_lines(found: discovery.Found) -> list[str]:
    lines = []
    for seen in found.tables:
        beacon = seen.beacon
        free = ngettext("{count} seat free", "{count} seats free", beacon.free)
        lines.append(
            _("{name}: {game}, {free} of {seats}", name=printable(beacon.name), game=printable(beacon.game), free=free,
              seats=beacon.seats)
        )  # fmt: skip
        lines.append(f"  p2p-rummy join {seen.ticket}")
    lines += [
        _(
            "{host} runs a table of protocol version {other}, this program speaks version {own}: update the older one",
            host=other.host,
            other=other.version,
            own=PROTOCOL_VERSION,
        )
        for other in found.others
    ]
    if not lines:
        lines.append(
            _(
                "No open table was heard. Tables are announced on the same network only; a ticket works everywhere."
            )
        )
    return lines


def json_lines(found: discovery.Found) -> Sequence[str]:
    return [
        json.dumps(
            {
                "event": "table",
                "name": seen.beacon.name,
                "game": seen.beacon.game,
                "seats": seen.beacon.seats,
                "free": seen.beacon.free,
                "ticket": str(seen.ticket),
            },
            ensure_ascii=False,
        )
        for seen in found.tables
    ]
