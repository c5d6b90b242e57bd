"""The rules and the options in every language: all of it comes through the catalogues, and fits the terminal."""

from __future__ import annotations

import gettext
import re
from collections.abc import Callable
from functools import cache

import pytest

from p2p_rummy.catalogue import DOMAIN, LANGUAGES, LOCALE_DIRECTORY
from p2p_rummy.commands.options import option_lines
from p2p_rummy.options import GAMES, OPTIONS, Option, Settings, options_of, resolve
from p2p_rummy.refusals import OptionError
from p2p_rummy.rules_text import Say, rules_text, sentences
from p2p_rummy.terminal.text import width

Main = Callable[..., tuple[int, str, str]]
OTHERS = [language for language in LANGUAGES if language != "en"]
# What stays as it is typed in every language: games, options with their values, and the moves that the rules name.
TYPED = (
    {option.name for option in OPTIONS}
    | {value for option in OPTIONS for value in option.choices}
    | {"auto", "true", "false", "none", *GAMES}
    | {"draw", "take", "untake", "meld", "wild", "double", "split"}
)


@cache
def tables() -> tuple[Settings, ...]:
    """Every game at three sizes, with every value of every option, so that each rule of the book comes up somewhere."""
    found: list[Settings] = []
    for game in GAMES:
        given = [{}, *({option.name: value} for option in options_of(game) for value in some_values(option))]
        for seats in (2, 4, 5):
            for options in given:
                try:
                    found.append(resolve(game, options, seats))
                except OptionError:
                    continue
    return tuple(found)


def some_values(option: Option) -> list[str]:
    match option.kind:
        case "bool":
            return ["true", "false"]
        case "choice":
            return list(option.choices)
        case "int":
            return [
                str(option.low),
                str(option.low + 1),
                str(option.high),
                *(["none"] if option.nullable else []),
            ]
        case _:
            return ["1", "2"]


def told(settings: Settings, say: Say) -> list[str]:
    found: list[str] = []
    for section in rules_text(settings, say):
        found += [section.title, *(line.text for line in section.lines)]
    return found


def in_language(language: str) -> Say:
    return gettext.translation(DOMAIN, LOCALE_DIRECTORY, [language]).gettext


def english_words(text: str) -> set[str]:
    """Words of Latin letters that are no card (7H, 7Hb, X1), no number of a rule and no single letter (K A 2)."""
    words = set(re.findall(r"(?<!\w)[A-Za-z0-9_]{2,}", text, re.ASCII))
    return {word for word in words if re.fullmatch(r"\d+|[A2-9TJQK][SHDC]b?|X\d|R\d+", word) is None}


def test_nothing_is_told_that_did_not_come_through_the_catalogue() -> None:
    """A look-up that keeps nothing of a sentence but its fields: any words that are left were never looked up."""

    def only_fields(sentence: str) -> str:
        return "«" + " ".join(re.findall(r"\{\w+\}", sentence)) + "»"

    for settings in tables():
        for line in told(settings, only_fields):
            assert line.startswith("«"), line
            assert line.endswith("»"), line
            assert english_words(line) <= TYPED, line


def test_every_sentence_of_the_book_comes_up_at_some_table_and_no_other_is_looked_up() -> None:
    asked: set[str] = set()

    def note(sentence: str) -> str:
        asked.add(sentence)
        return sentence

    for settings in tables():
        rules_text(settings, note)
    of_options = {text for option in OPTIONS for text in (option.text, *option.choices.values())}
    assert asked <= set(sentences())
    # Only `p2p-rummy options` says how sizes are written.
    assert set(sentences()) - asked - of_options == {"cards, or by players such as 2:13,3+:7"}


@pytest.mark.parametrize("language", OTHERS)
def test_no_table_has_a_rule_with_english_words_in_it(language: str) -> None:
    say = in_language(language)
    for settings in tables():
        for line in told(settings, say):
            assert english_words(line) <= TYPED, line


@pytest.mark.parametrize("language", OTHERS)
def test_no_option_is_explained_in_english(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("p2p_rummy.commands.options._", in_language(language))
    for game in GAMES:
        for option in options_of(game):
            explained = "\n".join(option_lines(option, game, 80))
            assert english_words(explained) <= TYPED, explained


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("command", ["rules", "options"])
@pytest.mark.parametrize("game", ["rum500", "persian", "rummoli"])
def test_no_line_is_wider_than_the_terminal(main: Main, language: str, command: str, game: str) -> None:
    status, out, err = main("--lang", language, command, game)
    assert (status, err) == (0, "")
    assert max(map(width, out.splitlines())) <= 80


def test_what_the_parser_itself_says_is_translated_too(main: Main) -> None:
    status, out, err = main("--lang", "ja", "options", "--nope")
    assert (status, out) == (2, "")
    assert err == "p2p-rummy: 分からない引数です：--nope。p2p-rummy --help を見てください\n"
    _status, out, _err = main("rules", "--help", "--lang", "ko")
    assert out.startswith("사용법: p2p-rummy rules")
    assert english_words(out) <= TYPED | {
        "p2p",
        "rummy",
        "rules",
        "options",
        "presets",
        *LANGUAGES,
    } | typed_in(out)


def typed_in(usage: str) -> set[str]:
    """Options of the command line and the names of their values, such as --seats N."""
    return set(re.findall(r"--([a-z]+)", usage)) | set(re.findall(r"\b[A-Z]+\b", usage, re.ASCII))


def test_the_commands_speak_the_language_that_is_asked_for(main: Main) -> None:
    _status, rules, _err = main("--lang", "ja", "rules", "rum500", "--set", "calling=off")
    assert "R30   グループ：数字が同じでマークがすべて違う3枚か4枚。" in rules
    assert "R124  ほかの人の手番の後のラミーのコール：なし。" in rules
    _status, options, _err = main("options", "rum500", "--lang", "ko")
    assert "    런은 에이스를 넘어갈 수 있습니다(K A 2)." in options.splitlines()
