"""All figures that matter, each as a ratio against a bound measured in the same run.

    scripts/bench [SECTION ...] [--json]        sections: crypto engine table resume memory page chaos; all without one

``--json`` prints one object a row: section, name, value, unit, bound, ratio, aim, note.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict

from bench_crypto import Row

SECTIONS = ("crypto", "engine", "table", "resume", "memory", "page", "chaos")


def show(rows: Iterable[Row], *, as_json: bool = False, section: str = "") -> None:
    for row in rows:
        if as_json:
            print(json.dumps({"section": section, **asdict(row), "ratio": round(row.ratio, 3)}), flush=True)
            continue
        within = "" if row.ratio <= row.aim else "  OVER"
        value = f"{row.value:,.2f}" if row.value < 1000 else f"{row.value:,.0f}"
        print(f"{row.name:<48} {value:>12} {row.unit:<8} ratio {row.ratio:5.2f}  aim {row.aim:4.2f}{within}")
        if row.note:
            print(f"    {row.note}")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure; see docs/bench.md for what each row means.")
    parser.add_argument(
        "sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}; all without one"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a row")
    args = parser.parse_args()
    for name in args.sections:
        if name not in SECTIONS:
            parser.error(f"there is no section {name!r}; choose of {', '.join(SECTIONS)}")
    for name in args.sections or SECTIONS:
        if not args.json:
            print(f"-- {name}")
        show(importlib.import_module(f"bench_{name}").rows(), as_json=args.json, section=name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
