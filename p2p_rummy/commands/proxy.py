"""``p2p-rummy proxy``: bad weather between real peers."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import trio

from p2p_rummy import proxy
from p2p_rummy.catalogue import _


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--listen",
        metavar="HOST:PORT",
        type=_kind(proxy.address),
        required=True,
        help=_("where peers connect to; port 0 picks a free one"),
    )
    parser.add_argument(
        "--to", metavar="HOST:PORT", type=_kind(proxy.address), required=True, help=_("the peer behind it")
    )
    parser.add_argument(
        "--latency", metavar="TIME", type=_kind(proxy.seconds), default=0.0, help=_("such as 200ms")
    )
    parser.add_argument(
        "--jitter",
        metavar="TIME",
        type=_kind(proxy.seconds),
        default=0.0,
        help=_("more or less, such as 50ms"),
    )
    parser.add_argument(
        "--bandwidth",
        metavar="RATE",
        type=_kind(proxy.bandwidth),
        default=float("inf"),
        help=_("each way, such as 20kB/s"),
    )
    parser.add_argument(
        "--loss-of-link",
        metavar="RATE",
        type=_kind(proxy.rate),
        default=0.0,
        help=_("how often a connection is reset, such as 0.01/s"),
    )
    parser.add_argument(
        "--half-open",
        metavar="RATE",
        type=_kind(proxy.rate),
        default=0.0,
        help=_("how often a connection goes dead without a word, such as 0.01/s"),
    )
    parser.add_argument(
        "--corrupt",
        metavar="CHANCE",
        type=_kind(proxy.chance),
        default=0.0,
        help=_("chance of a changed byte, for each byte, such as 1e-5"),
    )
    parser.add_argument("--seed", metavar="N", type=int, help=_("the same seed makes the same weather"))


def run(args: argparse.Namespace) -> int:
    weather = proxy.Weather(
        latency_seconds=args.latency,
        jitter_seconds=args.jitter,
        bytes_per_second=args.bandwidth,
        corrupt=args.corrupt,
        loss_per_second=args.loss_of_link,
        half_open_per_second=args.half_open,
    )
    trio.run(_serve, args, weather)
    return 0


async def _serve(args: argparse.Namespace, weather: proxy.Weather) -> None:
    host, port = args.listen
    listeners = await trio.open_tcp_listeners(port, host=host)
    port = listeners[0].socket.getsockname()[1]
    print(
        _(
            "listening at {host}:{port}; Ctrl-C stops",
            host=f"[{host}]" if ":" in host else host,
            port=port,
        ),
        flush=True,
    )
    await proxy.serve(listeners, args.to, weather, seed=args.seed, tell=_print)


def _print(line: str) -> None:
    print(line, flush=True)


def _kind(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """For argparse, which shows the text of ArgumentTypeError only."""

    def convert(text: str) -> Any:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert
