"""The rules of exactly one table: nothing that cannot come up, nothing left out."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p2p_rummy.options import GAMES, OPTIONS, resolve
from p2p_rummy.refusals import OptionError
from p2p_rummy.rules_text import rules_text, told_options, untold_options

Main = Callable[..., tuple[int, str, str]]
SIZES = {"partnership": 4, "persian": 4}


def book(
    game: str, options: dict[str, str] | None = None, seats: int | None = None
) -> dict[str, list[tuple[str, str]]]:
    settings = resolve(game, options or {}, seats or SIZES.get(game, 3))
    return {
        section.title: [(line.rule, line.text) for line in section.lines] for section in rules_text(settings)
    }


def text(game: str, options: dict[str, str] | None = None, seats: int | None = None) -> str:
    return "\n".join(line for lines in book(game, options, seats).values() for _rule, line in lines)


@pytest.mark.parametrize("game", GAMES)
def test_no_option_of_a_game_is_forgotten(game: str) -> None:
    assert untold_options(game) == set()


def test_every_option_named_in_the_book_exists() -> None:
    assert told_options() <= {option.name for option in OPTIONS}


@pytest.mark.parametrize("game", GAMES)
def test_every_line_but_the_agreement_has_its_rule(game: str) -> None:
    for title, lines in book(game).items():
        for rule, _line in lines:
            assert re.fullmatch(r"R\d+", rule), (title, rule)


def test_two_players_get_thirteen_cards_and_three_get_seven() -> None:
    assert "13 cards are dealt to each player." in text("rum500", seats=2)
    assert "7 cards are dealt to each player." in text("rum500", seats=3)


def test_five_players_use_two_packs_and_four_jokers() -> None:
    assert "2 packs of 52 cards, 4 jokers." in text("rum500", seats=5)
    assert "With two packs a group still holds no suit twice." in text("rum500", seats=5)
    assert "two packs" not in text("rum500", seats=4)


def test_a_table_without_jokers_has_no_rule_about_them() -> None:
    without = book("rum500", {"jokers_per_pack": "0"})
    assert "Jokers" not in without
    assert "What a joker counts" not in text("rum500", {"jokers_per_pack": "0"})


def test_a_table_without_calls_says_so_and_no_more() -> None:
    lines = book("rum500", {"calling": "off"})["Calling rummy"]
    assert lines == [("R124", "Calling rummy after another seat's turn: no calls.")]


def test_what_differs_from_the_game_is_told_first() -> None:
    lines = book("rum500", {"ace": "low", "target": "1000"})["This table"]
    assert lines[-1] == ("", "Agreed here, unlike rum500 as such: ace=low, target=1000.")
    assert "Where the ace stands in a run: A 2 3 only." in text("rum500", {"ace": "low"})


def test_the_dealers_joker_has_its_own_section_only_where_it_is_played() -> None:
    assert "The dealer's joker" in book("dealers_joker")
    assert "The dealer's joker" not in book("rum500")


def test_persian_rummy_ends_after_two_hands_and_has_no_target() -> None:
    lines = book("persian")["The end of the game"]
    assert ("R151", "The number of hands after which the highest total wins: 2.") in lines
    assert not any(rule == "R135" for rule, _line in lines)


settings = st.dictionaries(
    st.sampled_from([option.name for option in OPTIONS]),
    st.sampled_from(
        ["true", "false", "off", "low", "full", "top", "floating", "2", "30", "none", "reshuffle", "new_meld"]
    ),
    max_size=4,
)


@given(st.sampled_from(GAMES), settings, st.integers(2, 8))
def test_every_table_that_can_be_played_has_rules(game: str, options: dict[str, str], seats: int) -> None:
    try:
        chosen = resolve(game, options, seats)
    except OptionError:
        return
    sections = rules_text(chosen)
    assert sections[0].title == "This table"
    assert all(section.lines for section in sections)


def test_the_command_prints_the_rules_of_the_table_that_is_set(main: Main) -> None:
    status, out, _err = main("rules", "rum500", "--set", "calling=off", "--seats", "5")
    assert status == 0
    assert "R124  Calling rummy after another seat's turn: no calls." in out
    assert "rum500 for 5 players" in out
    assert max(map(len, out.splitlines())) <= 80


def test_rules_of_a_table_that_cannot_be_are_refused(main: Main) -> None:
    status, out, err = main("rules", "persian", "--seats", "3")
    assert (status, out) == (2, "")
    assert "4" in err
