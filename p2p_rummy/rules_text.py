"""The rules of exactly one table, in words: ``p2p-rummy rules``, the drawer of the page.

Two sources, no third: the book (:mod:`p2p_rummy.rules_book`) for what holds whatever the options are, the option table
(:mod:`p2p_rummy.options`) for what an option decides.  A rule that cannot come up at the table is left out.

The faces hand in how they say a sentence (``say``: the look-up in a catalogue), since each reader has a language of
their own; everything that is put together is put together here, after the look-up.  :func:`sentences` is all that
``say`` may ever be asked, so no catalogue can lack any of it unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from p2p_rummy.options import (
    BY_NAME,
    OPTIONS,
    SIZES_IN_WORDS,
    Settings,
    hand_size,
    options_of,
    pack_count,
    write,
)
from p2p_rummy.rules_book import RUM, RUMMOLI, Entry, Option, Rule

Say = Callable[[str], str]
"""A sentence of :func:`sentences` in the reader's language, its ``{fields}`` not yet filled in."""


@dataclass(frozen=True, slots=True)
class Line:
    """One rule: its number ("" for what was agreed here) and its words."""

    rule: str
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    lines: tuple[Line, ...]


THIS_TABLE = "This table"
WHO = "{game} for {seats} players."
UNLIKE = "Agreed here, unlike {game} as such: {options}."
LABELLED = "{option}: {value}."
RUMMOLI_PACK = "52 cards, no jokers, ace high."
# By number of packs and of jokers altogether; 2 stands for all above it.
PACKS: dict[tuple[int, int], str] = {
    (1, 0): "one pack of 52 cards, no jokers.",
    (1, 1): "one pack of 52 cards, one joker.",
    (1, 2): "one pack of 52 cards, {jokers} jokers.",
    (2, 0): "{packs} packs of 52 cards, no jokers.",
    (2, 2): "{packs} packs of 52 cards, {jokers} jokers.",
}
ONE_CARD = "One card is dealt to each player."
CARDS = "{cards} cards are dealt to each player."


def in_english(sentence: str) -> str:
    return sentence


def rules_text(settings: Settings, say: Say = in_english) -> list[Section]:
    """The rules of this table, section by section; a section without a rule that comes up is left out."""
    book = RUMMOLI if settings.game == "rummoli" else RUM
    found = [Section(say(THIS_TABLE), tuple(_table(settings, say)))]
    for title, entries in book:
        lines = tuple(_line(settings, entry, say) for entry in entries if _comes_up(settings, entry))
        if lines:
            found.append(Section(say(title), lines))
    return found


def sentences() -> Iterator[str]:
    """Every sentence that the rules and the options are made of, for the catalogues; some come twice."""
    yield from (
        THIS_TABLE,
        WHO,
        UNLIKE,
        LABELLED,
        RUMMOLI_PACK,
        *PACKS.values(),
        ONE_CARD,
        CARDS,
        SIZES_IN_WORDS,
    )
    for title, entries in (*RUM, *RUMMOLI):
        yield title
        yield from (entry.text for entry in entries if isinstance(entry, Rule))
    for option in OPTIONS:
        yield option.text
        yield from option.choices.values()


def _comes_up(settings: Settings, entry: Entry) -> bool:
    if isinstance(entry, Option) and entry.name not in settings.values:
        return False
    return entry.when(settings)


def _line(settings: Settings, entry: Entry, say: Say) -> Line:
    if isinstance(entry, Rule):
        return Line(entry.number, say(entry.text))
    option = BY_NAME[entry.name]
    value = settings.values[entry.name]
    if option.kind == "bool":
        assert value is True, f"{option.name} is told where it is off; the book needs a rule for that"
        return Line(option.rule, say(option.text))
    said = say(option.choices[write(value)]) if option.choices else write(value)
    return Line(option.rule, say(LABELLED).format(option=_label(say(option.text)), value=said))


def _label(sentence: str) -> str:
    """A sentence as what stands before a colon: without its full stop, which Japanese writes otherwise."""
    return sentence.rstrip(".。")


def _table(settings: Settings, say: Say) -> Iterator[Line]:
    """Who plays with what, and what differs from the game's own rules."""
    yield Line("R2", say(WHO).format(game=settings.game, seats=settings.seats))
    if settings.game == "rummoli":
        yield Line("R220", say(RUMMOLI_PACK))
    else:
        packs = pack_count(settings.values["packs"], settings.seats)
        per_pack = settings.values["jokers_per_pack"]
        assert isinstance(per_pack, int)
        jokers = packs * per_pack
        yield Line("R3", say(PACKS[min(packs, 2), min(jokers, 2)]).format(packs=packs, jokers=jokers))
        sizes = settings.values["hand_size"]
        assert isinstance(sizes, tuple)
        cards = hand_size(sizes, settings.seats)
        yield Line("R12", say(ONE_CARD if cards == 1 else CARDS).format(cards=cards))
    changed = settings.differences()
    if changed:
        options = ", ".join(f"{name}={value}" for name, value in sorted(changed.items()))
        yield Line("", say(UNLIKE).format(game=settings.game, options=options))


def told_options() -> set[str]:
    """The options that the book tells (for a test that none is forgotten)."""
    entries = [entry for _title, entries in (*RUM, *RUMMOLI) for entry in entries]
    return {entry.name if isinstance(entry, Option) else entry.tells for entry in entries} - {""}


def untold_options(game: str) -> set[str]:
    """Options that are told by the table's own lines, or concern the faces and not the game."""
    told_elsewhere = {
        "players_min",
        "players_max",
        "packs",
        "jokers_per_pack",
        "hand_size",
        "hints",
        "dealers_joker",
    }
    return {option.name for option in options_of(game)} - told_options() - told_elsewhere
