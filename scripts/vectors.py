"""Write the test vectors of SPEC.md: tests/vectors/*.json, the same bytes at every run.

    scripts/vectors [--to DIR] [NAME ...]        all of them, or those named

Each file is made by the module of its name in scripts/vector_files.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("encoding", "identity", "group", "proofs", "shuffle", "deck", "entries", "link", "ticket", "hand")


def text_of(name: str) -> str:
    """The text of the file ``name``.json."""
    form = import_module("scripts.vector_files.form")
    made = import_module(f"scripts.vector_files.{name}").make()
    return str(form.write(made))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--to", type=Path, default=ROOT / "tests" / "vectors", metavar="DIR")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    args = parser.parse_args()
    unknown = sorted(set(args.names) - set(NAMES))
    if unknown:
        parser.error(f"no such file: {', '.join(unknown)}; there are {', '.join(NAMES)}")
    args.to.mkdir(parents=True, exist_ok=True)
    for name in args.names or NAMES:
        path = args.to / f"{name}.json"
        path.write_text(text_of(name), encoding="ascii")
        print(f"{path}: {path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
