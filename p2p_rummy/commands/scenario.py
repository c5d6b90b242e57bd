"""``p2p-rummy scenario FILE...``: run scenario files against the engine, each failure as expected against got."""

from __future__ import annotations

import argparse
from pathlib import Path

from p2p_rummy.catalogue import _, ngettext
from p2p_rummy.complaint import Complaint
from p2p_rummy.scenario import run_files


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", metavar="FILE", nargs="+", type=Path, help=_("one JSON object a line (docs/notation.md)")
    )


def run(args: argparse.Namespace) -> int:
    try:
        count, failures = run_files(args.files)
    except UnicodeDecodeError as error:
        raise Complaint(_("a scenario file is not UTF-8 text: {reason}", reason=error)) from None
    for failure in failures:
        print(failure)
    failed = len({(failure.file, failure.line) for failure in failures})
    print(
        ngettext(
            "{count} scenario, {failed} failed", "{count} scenarios, {failed} failed", count, failed=failed
        )
    )
    return 1 if failures else 0
