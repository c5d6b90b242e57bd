"""``p2p-rummy evidence FILE``: check a proof against a seat offline, with nothing but the file, and explain it.

The record of an abandoned table, which proves nothing against anybody, is checked and explained too.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from p2p_rummy.abandoned import abandonment_lines, abandonment_record
from p2p_rummy.agreed import agreed_game
from p2p_rummy.catalogue import _, mark
from p2p_rummy.complaint import Complaint
from p2p_rummy.fault_words import error_words, fault_words
from p2p_rummy.files_given import MOST_EVIDENCE, read_given
from p2p_rummy.terminal.text import printable, wrapped
from protocol.abandonment import is_abandonment, read_abandonment
from protocol.dealing import RealDecks
from protocol.errors import ProtocolError
from protocol.events import Accusation
from protocol.evidence import Verdict, check
from protocol.game import Refused

PROVEN = {
    Accusation.EXPOSED: mark(
        "Proven: {name} (seat {seat}) signed two statements that contradict each other, in step {step} of table {table}."
    ),
    Accusation.ILLEGAL: mark(
        "Proven: {name} (seat {seat}) signed a statement that the log before it does not allow, in step {step} of table {table}."
    ),
}
COUNTED = mark(
    "Seats are counted from 1 here, as at the table; the file's name and --json count them from 0."
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help=_("a file that a table kept beside its log"))
    parser.add_argument("--json", action="store_true", help=_("the verdict as one JSON object"))


def run(args: argparse.Namespace) -> int:
    """0 if the file proves what it says, or is a record that holds; otherwise a Complaint, which convicts nobody."""
    path: Path = args.file
    data = read_given(path, MOST_EVIDENCE)
    if is_abandonment(data):
        return _explain_abandonment(path, data, as_json=args.json)
    try:
        verdict = check(data, agreed_game, RealDecks(), os.urandom)
    except (ProtocolError, Refused) as error:
        if args.json:
            print(json.dumps({"proven": False, "message": str(error)}, ensure_ascii=False))
        raise Complaint(_("{path} proves nothing: {reason}", path=path, reason=error_words(error))) from None
    if args.json:
        print(json.dumps({"proven": True, **verdict_record(verdict)}, ensure_ascii=False))
    else:
        print("\n".join(verdict_lines(verdict)))
    return 0


def _explain_abandonment(path: Path, data: bytes, *, as_json: bool) -> int:
    try:
        record = read_abandonment(data)
    except ProtocolError as error:
        if as_json:
            print(json.dumps({"proven": False, "message": str(error)}, ensure_ascii=False))
        raise Complaint(
            _("{path} is no record of an abandoned table: {reason}", path=path, reason=error_words(error))
        ) from None
    if as_json:
        told = {"proven": False, "recorded": "abandoned", **abandonment_record(record)}
        print(json.dumps(told, ensure_ascii=False))
    else:
        print(
            "\n".join(line for text in [*abandonment_lines(record), _(COUNTED)] for line in wrapped(text, 80))
        )
    return 0


def verdict_record(verdict: Verdict) -> dict[str, object]:
    return {
        "seat": verdict.seat,
        "name": verdict.name,
        "accusation": verdict.accusation.value,
        "reason": verdict.reason,
        "step": verdict.step,
        "table": verdict.table.hex(),
        "message": verdict.message,
    }


def verdict_lines(verdict: Verdict) -> list[str]:
    sentence = _(
        PROVEN[verdict.accusation],
        name=printable(verdict.name),
        seat=verdict.seat + 1,
        step=verdict.step,
        table=verdict.table.hex()[:16],
    )
    why = _("What it is: {message}.", message=fault_words(verdict.reason, printable(verdict.message)))
    ground = _(
        "The signatures were checked with the keys of the agreement, which is in the file; nobody's word is needed."
    )
    return [line for text in (sentence, why, ground, _(COUNTED)) for line in wrapped(text, 80)]
