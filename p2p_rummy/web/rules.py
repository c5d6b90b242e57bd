"""The rules drawer: what holds at this very table, from the agreement and the table of options.

Lines as the page reads them: "# " a heading, "- " an item, anything else a paragraph.
"""

from __future__ import annotations

from p2p_rummy.catalogue import _
from p2p_rummy.options import Option, options_of, resolve, write
from p2p_rummy.seat import Table


def table_rules(table: Table, language: str) -> str:
    """Every option of the table's game with its value here and the rule that it is about.

    ``language`` is the page's; the options are written in the language of this program.
    """
    agreement = table.agreement
    given = dict(agreement.options)
    settings = resolve(agreement.game, given, len(agreement.seats))
    changed: list[str] = []
    usual: list[str] = []
    for option in options_of(agreement.game):
        value = write(settings.values[option.name])
        (changed if option.name in given else usual).append(line(option, value))
    lines = [f"# {agreement.game}", _("The numbers in brackets are those of the rules.")]
    if changed:
        lines += ["# " + _("Agreed for this table"), *changed]
    lines += ["# " + _("As the game has it"), *usual]
    return "\n".join(lines)


def line(option: Option, value: str) -> str:
    meaning = option.choices.get(value, "")
    said = _(option.text) + (f" {value}: {_(meaning)}" if meaning else f" {value}")
    return f"- {option.name.replace('_', ' ')} – {said} ({option.rule})"
