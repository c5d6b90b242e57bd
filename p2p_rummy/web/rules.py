"""What the page says of rules, in the language of the page: the drawer, and the words of the options.

Both come from the source that ``p2p-rummy rules`` and ``p2p-rummy options`` print.  Every page has a language of its
own, whatever the peer was started with, so the catalogue is chosen for each question.
"""

from __future__ import annotations

import gettext

from p2p_rummy.catalogue import DOMAIN, LANGUAGES, LOCALE_DIRECTORY
from p2p_rummy.options import OPTIONS, SIZES_IN_WORDS, resolve
from p2p_rummy.rules_text import Say, rules_text
from p2p_rummy.seat import Table


def table_rules(table: Table, language: str) -> str:
    """Every rule that can come up at this table, with its number: "# " begins a heading, "- " an item."""
    agreement = table.agreement
    lines: list[str] = []
    settings = resolve(agreement.game, dict(agreement.options), len(agreement.seats))
    for section in rules_text(settings, _say(language)):
        lines.append(f"# {section.title}")
        lines += [f"- {line.text}" + (f" ({line.rule})" if line.rule else "") for line in section.lines]
    return "\n".join(lines)


def option_phrases(language: str) -> dict[str, str]:
    """The words of every option by their English, for the form in which a table is opened."""
    say = _say(language)
    words = {SIZES_IN_WORDS}.union(*({option.text, *option.choices.values()} for option in OPTIONS))
    return {english: say(english) for english in sorted(words)}


def _say(language: str) -> Say:
    wanted = [language] if language in LANGUAGES else ["en"]
    return gettext.translation(DOMAIN, LOCALE_DIRECTORY, wanted, fallback=True).gettext
