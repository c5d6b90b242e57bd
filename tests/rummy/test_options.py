"""The table of options: what is read, what is refused and why, and that values survive as text."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p2p_rummy.games import make_game
from p2p_rummy.options import (
    BY_NAME,
    GAMES,
    OPTIONS,
    RUM_GAMES,
    Option,
    hand_size,
    options_of,
    pack_count,
    read,
    resolve,
    write,
)
from p2p_rummy.options_text import options_markdown
from p2p_rummy.refusals import OptionError

SEATS = {"partnership": 4, "persian": 4}


def values_of(option: Option) -> list[Any]:
    match option.kind:
        case "bool":
            found: list[Any] = [True, False]
        case "choice":
            found = list(option.choices)
        case "int":
            found = [option.low, option.high]
        case "packs":
            found = ["auto", 1, 2]
        case "sizes":
            found = [((2, 7),), ((2, 13), (3, 7)), ((2, 10), (3, 7), (5, 6))]
    return [*found, None] if option.nullable else found


@pytest.mark.parametrize("game", GAMES)
def test_every_preset_makes_a_table_that_differs_in_nothing(game: str) -> None:
    settings = resolve(game, {}, SEATS.get(game, 3))
    assert settings.differences() == {}


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_every_value_survives_as_text(option: Option) -> None:
    for value in values_of(option):
        assert read(option, write(value)) == value
        assert read(option, value) == value


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_every_option_is_documented(option: Option) -> None:
    assert option.text.endswith(".")
    assert re.fullmatch(r"R\d+", option.rule)
    assert all(option.choices.values())
    assert set(option.presets) <= set(GAMES)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
@pytest.mark.parametrize("bad", ["", "maybe", "-1", "999999999", "1e3", [], 2.5, "٣"])
def test_other_values_are_refused_with_the_values_allowed(option: Option, bad: object) -> None:
    with pytest.raises(OptionError, match=re.escape(option.allowed())) as caught:
        read(option, bad)
    assert (caught.value.code, caught.value.rule) == ("bad_option", option.rule)


def test_defaults_are_those_of_the_table_in_the_rules() -> None:
    """Section 23, the rows in which presets differ, column by column."""
    columns = (
        "rum500",
        "rummy",
        "rum500_wiki",
        "rum500_korean",
        "dealers_joker",
        "partnership",
        "persian",
        "calling_rum",
    )
    rows: dict[str, tuple[Any, ...]] = {
        "players_max": (8, 6, 8, 8, 8, 4, 4, 8),
        "packs": ("auto", 1, "auto", "auto", 1, 1, 1, "auto"),
        "jokers_per_pack": (2, 0, 0, 2, 2, 0, 4, 0),
        "joker_value": (15, 15, 15, 15, 0, 15, 20, 15),
        "first_dealer": ("random", "random", "low_card", "high_card", "low_card", "low_card", "low_card", "low_card"),
        "deal_direction": ("cw", "cw", "cw", "cw", "ccw", "cw", "cw", "cw"),
        "ace": ("high_or_low", "low", "high_or_low", "low", "high_or_low", "high_or_low", "high_or_low", "high_or_low"),
        "card_values": ("face", "face", "5_10_15", "face", "5_10_15", "5_10_15", "face", "5_10_15"),
        "take_depth": ("any", "top", "any", "any", "any", "any", "any", "any"),
        "top_card": ("free", "free", "must_meld", "free", "must_meld", "must_meld", "must_meld", "must_meld"),
        "deepest_use": ("any", "any", "new_meld", "any", "any", "new_meld", "new_meld", "new_meld"),
        "calling": ("full", "off", "off", "full", "off", "off", "off", "latest_only"),
        "opening_minimum": (0, 0, 30, 0, 30, 30, 30, 30),
        "stock_out": ("decline_ends", "decline_ends", "all_pass", "decline_ends", "all_pass", "all_pass", "all_pass", "all_pass"),
        "exhausted_scoring": ("normal", "normal", "no_deduction", "normal", *["no_deduction"] * 4),
        "recycle_stock": ("off", "reshuffle", "off", "off", "off", "off", "off", "off"),
        "scoring": ("melds_minus_hand", "winner_takes_hands", *["melds_minus_hand"] * 6),
        "going_rummy_doubles": (False, True, False, False, False, False, False, False),
        "partnership": (False, False, False, False, False, True, True, False),
        "four_at_once_doubles": (False, False, False, False, False, False, True, False),
        "going_out_bonus": (0, 0, 0, 0, 0, 0, 25, 0),
        "game_bonus": (0, 0, 0, 0, 0, 0, 50, 0),
        "win_rule": ("highest", "highest", "first_out", "highest", "first_out", "highest", "highest", "first_out"),
        "target": (500, 150, 500, 500, 500, 500, None, 500),
        "max_hands": (None, None, None, None, None, None, 2, None),
        "dealers_joker": (False, False, False, False, True, False, False, False),
    }  # fmt: skip
    assert set(columns) == set(RUM_GAMES)
    for name, row in rows.items():
        assert tuple(BY_NAME[name].default_in(game) for game in columns) == row, name


# --- combinations (R255) --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "options", "seats", "rule", "words"),
    [
        ("rum500", {"unplayable_enforcement": "challenge"}, 3, "R132", "needs going_out=unplayable_discard"),
        ("rum500", {"unplayable_enforcement": "challenge", "going_out": "floating"}, 3, "R132", "unplayable_discard"),
        ("rum500", {"jokers_wild": True, "jokers_per_pack": 0}, 3, "R255", "no joker in the pack"),
        ("rum500_wiki", {"jokers_wild": "true"}, 3, "R255", "no joker in the pack"),
        ("rum500", {"take_depth": "top", "calling": "off", "deepest_use": "new_meld"}, 3, "R255", "deepest_use=any"),
        ("rum500_wiki", {"take_depth": "top"}, 3, "R255", "not new_meld"),
        ("rum500", {"take_depth": "top"}, 3, "R255", "calling=full"),
        ("partnership", {"players_min": 3}, 3, "R190", "exactly four seats, not 3"),
        ("rum500", {"partnership": True}, 6, "R190", "not 6"),
        ("rum500", {"round_the_corner": True, "ace": "low"}, 3, "R168", "set ace=high_or_low"),
        ("rum500_korean", {"round_the_corner": True}, 3, "R168", "ace=low forbids"),
        ("rum500", {"hand_size": 18}, 3, "R255", "3 hands of 18 and one card more are 55 cards; the packs hold 54"),
        ("rum500", {"hand_size": "2:27,3+:7"}, 3, "R255", "2 hands of 27"),
        ("rummy", {"hand_size": "2:26"}, 2, "R255", "the packs hold 52"),
        ("rum500", {"players_min": 5, "players_max": 3}, 4, "R255", "players_min=5 is above players_max=3"),
        ("rum500", {"players_max": 3}, 4, "R2", "2 to 3 players"),
        ("rummy", {}, 7, "R2", "2 to 6 players here, not for 7"),
        ("persian", {}, 3, "R2", "4 to 4"),
        ("rum500", {}, 9, "R2", "not for 9"),
        ("rum500", {}, 1, "R2", "not for 1"),
        ("dealers_joker", {"jokers_per_pack": 0}, 3, "R176", "needs a joker"),
        ("dealers_joker", {"jokers_wild": False}, 3, "R178", "jokers_wild=true"),
        ("rum500", {"target": None}, 3, "R90", "never end"),
        ("rum500", {"colour": "red"}, 3, "", "no option 'colour'"),
        ("rum500", {"bet_limit": 3}, 3, "", "bet_limit belongs to rummoli"),
        ("whist", {}, 3, "", "there is no game 'whist'"),
    ],
)  # fmt: skip
def test_what_makes_no_table_is_refused_with_the_reason(
    game: str, options: dict[str, Any], seats: int, rule: str, words: str
) -> None:
    with pytest.raises(OptionError, match=re.escape(words)) as caught:
        make_game(game, options, seats)
    assert (caught.value.code, caught.value.rule) == ("bad_option", rule)


@pytest.mark.parametrize(
    ("game", "options", "seats"),
    [
        ("rum500", {"jokers_per_pack": 0}, 3),  # S127: wild by default, and nobody asked for wild jokers
        ("rum500", {"take_depth": "top", "calling": "latest_only"}, 3),
        ("rum500", {"hand_size": 17}, 3),
        ("rum500", {"unplayable_enforcement": "challenge", "going_out": "unplayable_discard"}, 3),
        ("rum500", {"target": None, "max_hands": 1}, 3),
        ("rum500", {"partnership": True}, 4),
        ("rum500", {"packs": 2}, 2),
        ("rummoli", {}, 8),
    ],
)
def test_what_makes_a_table_is_not_refused(game: str, options: dict[str, Any], seats: int) -> None:
    assert make_game(game, options, seats).seats == seats


@given(st.data())
def test_the_differences_make_the_same_table_again(data: st.DataObject) -> None:
    """Every peer builds its game from what the agreement lists, so the list must say everything."""
    game = data.draw(st.sampled_from(GAMES))
    names = data.draw(st.lists(st.sampled_from([o.name for o in options_of(game)]), max_size=6, unique=True))
    options = {name: data.draw(st.sampled_from(values_of(BY_NAME[name]))) for name in names}
    try:
        settings = resolve(game, options, 4)
    except OptionError:
        return
    again = resolve(game, settings.differences(), 4)
    assert again.values == settings.values


def test_next_dealer_goes_with_eldest_chooses_unless_it_is_set() -> None:
    """R169."""
    assert resolve("rum500", {"first_discard": "eldest_chooses"}, 3)["next_dealer"] == "hand_winner"
    left = resolve("rum500", {"first_discard": "eldest_chooses", "next_dealer": "left"}, 3)
    assert left["next_dealer"] == "left"
    assert left.differences() == {"first_discard": "eldest_chooses", "next_dealer": "left"}


# --- hands and packs ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "sizes"),
    [("rum500", {2: 13, 3: 7, 8: 7}), ("rummy", {2: 10, 3: 7, 4: 7, 5: 6, 6: 6}), ("persian", {4: 7})],
)
def test_hand_sizes(game: str, sizes: dict[int, int]) -> None:
    """R12, R140."""
    table = BY_NAME["hand_size"].default_in(game)
    assert isinstance(table, tuple)
    assert {players: hand_size(table, players) for players in sizes} == sizes


def test_two_packs_from_five_players() -> None:
    """R3."""
    assert [pack_count("auto", seats) for seats in range(2, 9)] == [1, 1, 1, 2, 2, 2, 2]
    assert pack_count(1, 8) == 1


@pytest.mark.parametrize(
    "text", ["2:13,3+:7", " 2:13 , 3:7 ", {"2": 13, "3+": 7}, {2: 13, 3: 7}, "2:13,3-8:7"]
)
def test_hand_sizes_can_be_written_in_several_ways(text: object) -> None:
    assert read(BY_NAME["hand_size"], text) == ((2, 13), (3, 7))


@pytest.mark.parametrize("text", ["3:7", "2:13,2:7", "2", "2:", ":7", "2:0", "9:7,2:7", {}, {"x": 7}])
def test_hand_sizes_that_leave_players_without_cards_are_refused(text: object) -> None:
    if text == "2":
        assert read(BY_NAME["hand_size"], text) == ((2, 2),)
        return
    with pytest.raises(OptionError):
        read(BY_NAME["hand_size"], text)


def test_all_pairs_of_choices_are_valid_or_refused_with_a_reason() -> None:
    rows = [option for option in OPTIONS if option.kind in ("choice", "bool") and "rum500" in option.games]
    for one, other in itertools.combinations(rows, 2):
        for a, b in itertools.product(values_of(one), values_of(other)):
            refusal = refused("rum500", {one.name: a, other.name: b}, 4)
            assert refusal is None or (refusal.rule and len(str(refusal)) > 20), (one.name, a, other.name, b)


def refused(game: str, options: dict[str, Any], seats: int) -> OptionError | None:
    try:
        make_game(game, options, seats)
    except OptionError as refusal:
        return refusal
    return None


def test_the_page_about_options_is_what_the_table_says() -> None:
    page = Path(__file__).parents[2] / "docs" / "options.md"
    assert page.read_text(encoding="utf-8") == options_markdown(), (
        "run: python -m p2p_rummy.options_text > docs/options.md"
    )
