"""``p2p-rummy verify LOG``: check a log offline, from the agreement to the last signature."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from p2p_rummy.abandoned import RecordsBeside
from p2p_rummy.agreed import agreed_game
from p2p_rummy.catalogue import _, ngettext
from p2p_rummy.complaint import Complaint, one_line
from p2p_rummy.fault_words import error_words
from p2p_rummy.files_given import MOST_LOG, read_given
from p2p_rummy.narrator import listed
from p2p_rummy.terminal.lobby import seat_lines, terms_lines
from p2p_rummy.terminal.text import printable
from protocol.dealing import RealDecks
from protocol.errors import ProtocolError
from protocol.game import Refused
from protocol.identity import fingerprint
from protocol.journal import LogFile, log_of
from protocol.verify import LogRefused, Summary, verify_log


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("log", metavar="LOG", type=Path, help=_("the file that the game named at its end"))
    parser.add_argument("--json", action="store_true", help=_("the verdict as one JSON object"))


def run(args: argparse.Namespace) -> int:
    path: Path = args.log
    try:
        file = log_of(read_given(path, MOST_LOG), path)
        beside = RecordsBeside(path, file)
        summary = verify_log(file.records, agreed_game, RealDecks(), os.urandom, watch=beside.look)
        check_whole(path, file, summary)
    except (ProtocolError, Refused, Complaint) as error:
        if args.json:
            print(json.dumps({"ok": False, "error": fault_record(error)}, ensure_ascii=False))
        raise Complaint(_("{path} does not verify: {reason}", path=path, reason=error_words(error))) from None
    if args.json:
        record = {**summary_record(summary), "abandoned": beside.plain()}
        print(json.dumps({"ok": True, **record}, ensure_ascii=False))
    else:
        print("\n".join([*summary_lines(summary), *beside.lines()]))
    return 0


def check_whole(path: Path, file: LogFile, summary: Summary) -> None:
    """A file that ends inside a record was cut short; what is before the cut is good.  Raises Complaint."""
    if file.torn_at is not None:
        raise Complaint(
            _(
                "the file is cut short at byte {offset}; up to step {step} it is good. Ask another player for the log, "
                "or resume the table",
                offset=file.torn_at,
                step=summary.steps,
            )
        )


def fault_record(error: Exception) -> dict[str, Any]:
    """Where and why, for programs."""
    record: dict[str, Any] = {"message": one_line(str(error)), "code": getattr(error, "code", "refused")}
    if isinstance(error, LogRefused):
        record |= {"reason": error.reason, "record": error.record, "step": error.step, "seat": error.seat}
    return record


def summary_record(summary: Summary) -> dict[str, Any]:
    agreement = summary.agreement
    return {
        "table": summary.table.hex(),
        "words": summary.words,
        "game": agreement.game,
        "options": dict(agreement.options),
        "seats": [{"name": seat.name, "fingerprint": fingerprint(seat.key), "bot": seat.bot} for seat in agreement.seats],
        "finished": summary.finished,
        "hands": summary.hands,
        "steps": summary.steps,
        "entries": summary.entries,
        "proofs": summary.proofs,
        "rulings": summary.rulings,
        "dropped": list(summary.dropped),
        "scores": list(summary.scores),
        "winner": summary.winners[0] if summary.winners else None,
        "winners": list(summary.winners),
        "head": summary.head.hex(),
    }  # fmt: skip


def summary_lines(summary: Summary) -> list[str]:
    agreement = summary.agreement
    names = [printable(seat.name) for seat in agreement.seats]
    lines = [
        _("The log holds: every signature, link, proof, opening, move, ruling and score."),
        _("  table {table}, words: {words}", table=summary.table.hex()[:16], words=summary.words or "-"),
        *terms_lines(agreement),
        *seat_lines(agreement.seats, b""),
        _(
            "  {steps} steps, {entries} signed entries, {proofs} of them with proofs, {rulings}",
            steps=summary.steps,
            entries=summary.entries,
            proofs=summary.proofs,
            rulings=ngettext("{count} ruling", "{count} rulings", summary.rulings),
        ),
        ngettext("  {count} hand finished", "  {count} hands finished", summary.hands)
        + "; "
        + ", ".join(f"{name} {score}" for name, score in zip(names, summary.scores, strict=True)),
    ]
    if summary.dropped:
        lines.append(
            _("  dropped on the way: {names}", names=listed([names[seat] for seat in summary.dropped]))
        )
    if summary.unproved:
        lines.append(
            ngettext(
                "  the absence of {count} seat at the very end is not certified yet",
                "  the absences of {count} seats at the very end are not certified yet",
                summary.unproved,
            )
        )
    if summary.finished:
        lines.append(_("  winner: {names}", names=listed([names[seat] for seat in summary.winners]) or "-"))
    else:
        lines.append(_("  the game is not finished"))
    lines.append(_("  head {head}", head=summary.head.hex()))
    return lines
