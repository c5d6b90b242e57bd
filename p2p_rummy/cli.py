"""The command line: one small module a command, in the table below.

A command is a module ``p2p_rummy.commands.NAME`` with two functions, ``arguments(parser)`` and ``run(args) -> int``
(its exit status).  Only the module of the command asked for is imported, so ``p2p-rummy rules`` does not wait for a
curve library.  Whatever a command raises ends in one line on stderr and a status (:mod:`p2p_rummy.complaint`).
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from p2p_rummy import __version__
from p2p_rummy.catalogue import _, mark, ngettext, use_language
from p2p_rummy.complaint import REFUSED, USAGE, Verdict, one_line, report_file, verdict_on
from p2p_rummy.home import home_directory

COMMANDS: dict[str, str] = {
    "web": mark("open the page in the browser (also without any command)"),
    "host": mark("open a table and print the ticket for it"),
    "join": mark("sit down at a table by its ticket"),
    "watch": mark("see a table as anybody may, by its ticket"),
    "tables": mark("list the open tables on the local network"),
    "resume": mark("come back to a table after a crash or a break"),
    "verify": mark("check a log offline, from the agreement to the last signature"),
    "replay": mark("print a game as a human reads it"),
    "evidence": mark("check and explain a proof against a player, offline"),
    "rules": mark("print the rules of a game, options included"),
    "options": mark("list the options of a game and what each one allows"),
    "presets": mark("keep house rules under a name, and share them as text"),
    "scenario": mark("run scenario files against the rules"),
    "doctor": mark("find out why friends cannot reach you"),
    "chaos": mark("play whole tables under faults and liars, one seed each"),
    "proxy": mark("put bad weather between two peers, on real sockets"),
}


# argparse's own words, so that the catalogues have them.  It looks each up by the names ``_`` and ``ngettext`` of its
# module, which are gettext's with a domain of nobody; here they become ours.
ARGPARSE: tuple[str, ...] = (
    mark("usage: "),
    mark("positional arguments"),
    mark("options"),
    mark("show this help message and exit"),
    mark("unrecognized arguments: %s"),
    mark("the following arguments are required: %s"),
    mark("argument %(argument_name)s: %(message)s"),
    mark("not allowed with argument %s"),
    mark("ambiguous option: %(option)s could match %(matches)s"),
    mark("expected one argument"),
    mark("expected at least one argument"),
    mark("invalid %(type)s value: %(value)r"),
    mark("invalid choice: %(value)r (choose from %(choices)s)"),
    mark("ignored explicit argument %r"),
)
vars(argparse).update(_=_, ngettext=ngettext)


class Parser(argparse.ArgumentParser):
    """argparse with errors of one line."""

    def error(self, message: str) -> NoReturn:
        line = _("{message}; see {command} --help", message=one_line(message), command=self.prog)
        self.exit(USAGE, f"{self.prog}: {line}\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status.  Never raises, except SystemExit for --help and bad usage."""
    words = list(sys.argv[1:] if argv is None else argv) or ["web"]
    reports = None
    try:
        use_language(_language_in(words))
        args = parser_for(words).parse_args(words)
        reports = home_directory(getattr(args, "home", None)) / "reports"
        status = importlib.import_module(f"p2p_rummy.commands.{args.command}").run(args)
        sys.stdout.flush()
        return int(status)
    except SystemExit:
        raise
    except BaseException as error:
        return _end_badly(error, reports)


def parser_for(words: Sequence[str]) -> Parser:
    """The parser for this command line: with the arguments of its command, or of all for an overview."""
    parser = Parser(
        prog="p2p-rummy",
        description=_(
            "Rummy 500 and its family, played by friends over plain TCP with nobody to trust. "
            "`p2p-rummy host --bots 1` plays at once."
        ),
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version", action="version", version=f"p2p-rummy {__version__}", help=_("print the version")
    )
    language = _("en, ja or ko; otherwise from the locale")
    parser.add_argument("--lang", metavar="LANGUAGE", help=language)
    commands = parser.add_subparsers(dest="command", metavar=_("COMMAND"), required=True)
    asked = next((word for word in words if word in COMMANDS), None)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(
            name, help=_(summary), description=_(summary).capitalize() + ".", allow_abbrev=False
        )
        command.add_argument("--lang", metavar="LANGUAGE", default=argparse.SUPPRESS, help=language)
        if name == asked:
            importlib.import_module(f"p2p_rummy.commands.{name}").arguments(command)
    return parser


def _language_in(words: Sequence[str]) -> str | None:
    """``--lang`` is needed before the parser, whose help is already in that language."""
    for index, word in enumerate(words):
        if word == "--lang" and index + 1 < len(words):
            return words[index + 1]
        if word.startswith("--lang="):
            return word.partition("=")[2]
    return os.environ.get("P2P_RUMMY_LANG") or None


def _end_badly(error: BaseException, reports: Path | None) -> int:
    """Say in one line what happened; the status is the return value."""
    verdict = verdict_on(error)
    if os.environ.get("P2P_RUMMY_DEBUG") == "1":
        traceback.print_exception(error)
        return verdict.status if verdict else REFUSED
    if verdict is None:
        path = report_file(error, reports)
        kind = type(error).__name__
        if path is None:
            line = _("a fault in p2p-rummy ({kind}); run it again with P2P_RUMMY_DEBUG=1", kind=kind)
        else:
            line = _("a fault in p2p-rummy ({kind}); please report it with {path}", kind=kind, path=path)
        verdict = Verdict(line, REFUSED)
    if verdict.line:
        with contextlib.suppress(OSError, ValueError):  # stderr may be gone with the terminal
            print(f"p2p-rummy: {verdict.line}", file=sys.stderr, flush=True)
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        # A reader that went away (`| head`): nothing more may be written, not even by the interpreter's exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return verdict.status
