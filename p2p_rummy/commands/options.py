"""``p2p-rummy options [GAME]``: every option of a game, its allowed values, default and rule."""

from __future__ import annotations

import argparse
import json
from typing import Any

from p2p_rummy.catalogue import _
from p2p_rummy.complaint import USAGE, Complaint
from p2p_rummy.options import GAMES, Option, options_of, write
from p2p_rummy.refusals import OptionError
from p2p_rummy.terminal.text import columns, wrapped


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "game", metavar="GAME", nargs="?", default="rum500", help=_("one of: {games}", games=", ".join(GAMES))
    )
    parser.add_argument("--json", action="store_true", help=_("one JSON object for each option"))


def run(args: argparse.Namespace) -> int:
    try:
        rows = options_of(args.game)
    except OptionError as error:
        raise Complaint(str(error), status=USAGE) from None
    if args.json:
        for option in rows:
            print(json.dumps(as_data(option, args.game), ensure_ascii=False))
        return 0
    print(_("Options of {game} (p2p-rummy host --game {game} --set NAME=VALUE):", game=args.game))
    for option in rows:
        print("\n".join(option_lines(option, args.game, columns())))
    return 0


def option_lines(option: Option, game: str, size: int) -> list[str]:
    head = f"{option.name}={write_default(option, game)}"
    allowed = _(option.allowed()) if option.kind == "sizes" else option.allowed()
    lines = wrapped(f"{allowed}  ({option.rule})", size, first=f"{head}  ", rest="      ")
    lines += wrapped(_(option.text), size, first="    ")
    for value, meaning in option.choices.items():
        lines += wrapped(_(meaning), size, first=f"      {value}: ", rest="        ")
    return lines


def write_default(option: Option, game: str) -> str:
    """A default as it would be typed; ``packs`` chooses by itself."""
    default = option.default_in(game)
    return "auto" if option.kind == "packs" and default is None else write(default)


def as_data(option: Option, game: str) -> dict[str, Any]:
    return {
        "name": option.name,
        "kind": option.kind,
        "allowed": option.allowed(),
        "default": write_default(option, game),
        "rule": option.rule,
        "text": option.text,
        "choices": dict(option.choices),
    }
