"""``p2p-rummy replay LOG``: the game as a human reads it, verified as it is told."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from p2p_rummy.abandoned import RecordsBeside
from p2p_rummy.agreed import agreed_game
from p2p_rummy.catalogue import _
from p2p_rummy.commands.verify import check_whole
from p2p_rummy.complaint import Complaint
from p2p_rummy.fault_words import error_words
from p2p_rummy.files_given import MOST_LOG, read_given
from p2p_rummy.replay import Replay
from p2p_rummy.terminal.draw import Style
from p2p_rummy.terminal.text import columns, wants_colour
from protocol.dealing import RealDecks
from protocol.errors import ProtocolError
from protocol.events import Event
from protocol.journal import log_of
from protocol.verify import Verification, verify_log


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("log", metavar="LOG", type=Path, help=_("the file that the game named at its end"))
    parser.add_argument("--hand", metavar="N", type=int, help=_("tell only this hand"))


def run(args: argparse.Namespace) -> int:
    told: list[Replay] = []

    def watch(verification: Verification, happened: list[Event]) -> None:
        if not told:
            style = Style(size=columns(), colour=wants_colour(1))
            told.append(Replay(verification.agreement, write, style, hand=args.hand))
        told[0].after(verification.course.game, happened)
        beside.look(verification, happened)

    path: Path = args.log
    file = log_of(read_given(path, MOST_LOG), path)
    beside = RecordsBeside(path, file)
    try:
        summary = verify_log(file.records, agreed_game, RealDecks(), os.urandom, watch=watch)
        check_whole(path, file, summary)
    except (ProtocolError, Complaint) as error:
        raise Complaint(
            _("the story ends here, the rest does not verify: {reason}", reason=error_words(error))
        ) from None
    if not summary.finished:
        print(_("(the game is not finished)"))
        write(beside.lines())
    return 0


def write(lines: Sequence[str]) -> None:
    if lines:
        print("\n".join(lines))
