"""The rules drawer: the rules of this very table, from the one source that ``p2p-rummy rules`` prints too.

Lines as the page reads them: "# " a heading, "- " an item.
"""

from __future__ import annotations

import gettext

from p2p_rummy.catalogue import DOMAIN, LANGUAGES, LOCALE_DIRECTORY
from p2p_rummy.options import resolve
from p2p_rummy.rules_text import rules_text
from p2p_rummy.seat import Table


def table_rules(table: Table, language: str) -> str:
    """Every rule that can come up at this table, with its number, in the language of the page."""
    wanted = [language] if language in LANGUAGES else ["en"]
    say = gettext.translation(DOMAIN, LOCALE_DIRECTORY, wanted, fallback=True).gettext
    agreement = table.agreement
    lines: list[str] = []
    settings = resolve(agreement.game, dict(agreement.options), len(agreement.seats))
    for section in rules_text(settings, say):
        lines.append(f"# {section.title}")
        lines += [f"- {line.text}" + (f" ({line.rule})" if line.rule else "") for line in section.lines]
    return "\n".join(lines)
