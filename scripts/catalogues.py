"""The catalogues of the terminal and the command line: extract, update, compile.

    scripts/catalogues            update p2p_rummy/locale/*/LC_MESSAGES/p2p_rummy.po from the source, compile the .mo
    scripts/catalogues --missing  print what is not translated, a line each, and exit 1 if there is anything

Sentences are the arguments of ``_``, ``mark`` and ``ngettext``, those of an OptionError, and all that the rules and the
options are told in (p2p_rummy/rules_text.py).  (The page has its own, in p2p_rummy/web/static/lang.)
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from p2p_rummy import rules_text

ROOT = Path(__file__).resolve().parent.parent
LOCALE = ROOT / "p2p_rummy" / "locale"
LANGUAGES = ("ja", "ko")
EPOCH = datetime(2026, 11, 30, tzinfo=UTC)  # a constant: files change when sentences do
KEYWORDS = {"_": None, "mark": None, "ngettext": (1, 2), "OptionError": (2,)}


def empty(language: str | None = None) -> Catalog:
    return Catalog(
        locale=language,
        domain="p2p_rummy",
        fuzzy=False,
        project="p2p-rummy",
        version="1",
        header_comment="# The sentences of the terminal and the command line; see scripts/catalogues.py.",
        last_translator="The p2p-rummy authors",
        language_team="The p2p-rummy authors",
        msgid_bugs_address="see CONTRIBUTING.md",
        creation_date=EPOCH,
        revision_date=EPOCH,
    )


@cache
def sentences() -> Catalog:
    """Every sentence in the source, sorted, without line numbers (they would change with every edit)."""
    found = empty()
    for _file, _line, message, comments, _context in extract_from_dir(
        str(ROOT / "p2p_rummy"), method_map=[("**.py", "python")], keywords=KEYWORDS
    ):
        if message and message != "":
            found.add(message, auto_comments=comments)
    for sentence in rules_text.sentences():
        found.add(sentence)
    return found


def po_path(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / "p2p_rummy.po"


def load(language: str) -> Catalog:
    path = po_path(language)
    if not path.exists():
        return empty(language)
    with path.open("rb") as file:
        return read_po(file, locale=language, domain="p2p_rummy")


def update(language: str) -> Catalog:
    """The translations that are still of use, and empty ones for what is new."""
    known, fresh = load(language), empty(language)
    for message in sentences():
        if not message.id:
            continue
        old = known.get(message.id if isinstance(message.id, str) else message.id[0])
        fresh.add(message.id, old.string if old is not None and old.string else None)
    return fresh


def save(language: str, catalogue: Catalog) -> None:
    path = po_path(language)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, catalogue, omit_header=False, sort_output=True, no_location=True, width=110)
    with path.with_suffix(".mo").open("wb") as file:
        write_mo(file, catalogue)


def missing(catalogue: Catalog) -> list[str]:
    """What has no translation."""
    return [
        message.id if isinstance(message.id, str) else message.id[0]
        for message in catalogue
        if message.id
        and not (message.string if isinstance(message.string, str) else all(message.string or ("",)))
    ]


def main() -> int:
    status = 0
    for language in LANGUAGES:
        catalogue = update(language)
        if "--missing" in sys.argv[1:]:
            for sentence in missing(catalogue):
                print(f"{language}: {sentence}")
                status = 1
        else:
            save(language, catalogue)
            print(f"{language}: {len(catalogue)} sentences, {len(missing(catalogue))} not translated")
    return status


if __name__ == "__main__":
    sys.exit(main())
