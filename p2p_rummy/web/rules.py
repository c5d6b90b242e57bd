"""What the peer has to say in the language of the page: the rules drawer, the words of the options, the names of faults.

All of it comes from the catalogues and the sources that the command line has.  Every page has a language of its
own, whatever the peer was started with, so the catalogue is chosen for each question.
"""

from __future__ import annotations

import gettext

from p2p_rummy.catalogue import DOMAIN, LANGUAGES, LOCALE_DIRECTORY
from p2p_rummy.fault_words import FAULTS
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


def phrases(language: str) -> dict[str, str]:
    """The words of every option by their English, for the form in which a table is opened, and ``fault.WORD`` for each
    stable word with which the trust layer names a fault (:mod:`p2p_rummy.fault_words`)."""
    say = _say(language)
    words = {SIZES_IN_WORDS}.union(*({option.text, *option.choices.values()} for option in OPTIONS))
    faults = {f"fault.{word}": say(phrase) for word, phrase in FAULTS.items()}
    return {english: say(english) for english in sorted(words)} | faults


def _say(language: str) -> Say:
    wanted = [language] if language in LANGUAGES else ["en"]
    return gettext.translation(DOMAIN, LOCALE_DIRECTORY, wanted, fallback=True).gettext
