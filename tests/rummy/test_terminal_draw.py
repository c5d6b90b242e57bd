"""The table in lines of text, from a snapshot written by hand (docs/adr/002)."""

from __future__ import annotations

from typing import Any

import pytest

from p2p_rummy.terminal import draw
from p2p_rummy.terminal.draw import Style, sorted_hand
from p2p_rummy.terminal.text import width

NAMES = ["You", "Bo", "Cy"]


def public(**changes: Any) -> dict[str, Any]:
    """Hand 2 of three players, in the middle of seat 0's turn."""
    return {
        "game": "rum500",
        "options": {"target": 500},
        "seats": 3,
        "hand": 2,
        "phase": "play",
        "dealer": 2,
        "turn": 0,
        "scores": [120, 95, -10],
        "sheet": [{"hand": 1, "points": [120, 95, -10], "table": [135, 110, 0], "in_hand": [15, 15, 10], "notes": []}],
        "stock": 23,
        "discard": ["5C", "9D", "4H"],
        "melds": [
            {"id": 1, "kind": "run", "owner": 1, "cards": [
                {"card": "5H", "as": "5H", "seat": 0}, {"card": "6H", "as": "6H", "seat": 1},
                {"card": "7H", "as": "7H", "seat": 1}, {"card": "X1", "as": "8H", "seat": 1}]},
            {"id": 2, "kind": "group", "owner": 0, "cards": [
                {"card": "9S", "as": "9S", "seat": 0}, {"card": "9C", "as": "9C", "seat": 0},
                {"card": "X2", "as": "9", "seat": 0}]},
        ],
        "hands": [[{"slot": 0, "card": ""}, {"slot": 1, "card": ""}, {"slot": 2, "card": "QD"}],
                  [{"slot": n, "card": ""} for n in range(7)], [{"slot": 9, "card": ""}]],
        "must_use": "",
        "taken_top": "",
        "floating": [],
        "winner": [],
        "out": [],
        "answered": [],
        "extra": {},
        **changes,
    }  # fmt: skip


def view(**changes: Any) -> dict[str, Any]:
    cards = ["AS", "X2", "QD"]
    hand = [{"slot": slot, "card": card} for slot, card in enumerate(cards)]
    return {"me": 0, "public": public(**changes), "need": {}, "hand": hand, "legal": [], "facts": {}}


def test_a_hand_by_suit_has_the_suits_apart_and_the_jokers_last() -> None:
    cards = ["X2", "TS", "3H", "AS", "QD", "KS", "3Hb", "9S", "X1"]
    assert sorted_hand(cards, "suit") == [["AS", "9S", "TS", "KS"], ["3H", "3Hb"], ["QD"], ["X1", "X2"]]


def test_a_hand_by_rank_has_what_may_be_a_group_together() -> None:
    cards = ["X2", "9D", "3H", "9S", "AC", "9Sb"]
    assert sorted_hand(cards, "rank") == [["AC"], ["3H"], ["9S", "9Sb", "9D"], ["X2"]]


def test_the_whole_table_reads_like_this() -> None:
    assert draw.table_lines(view(), NAMES, Style()) == [
        "Hand 2, Cy dealt. You 120 (3 cards), Bo 95 (7 cards), Cy -10 (1 card)",
        "Melds:",
        "  1 run, Bo: 5H(You) 6H 7H X1=8H",
        "  2 group, You: 9S 9C X2=9",
        "Pile, bottom to top (3): 5C 9D 4H   Stock: 23 cards.",
        "Your hand (3): AS  QD  X2",
    ]


def test_a_duty_is_named_with_its_rule() -> None:
    lines = draw.duty_lines(public(must_use="4H", taken_top=""), Style())
    assert lines == ["4H must be laid before the discard (R23)."]
    lines = draw.duty_lines(public(taken_top="QD"), Style())
    assert lines == ["QD may not be discarded in this turn (R62)."]


def test_new_cards_and_cards_on_their_way_are_told() -> None:
    seen = view()
    seen["hand"].append({"slot": 7, "card": ""})
    assert draw.hand_lines(seen, Style(), new=["QD"]) == [
        "Your hand (4): AS  QD  X2 and 1 on its way  (new: QD)"
    ]


def test_a_spectator_has_no_hand() -> None:
    assert draw.hand_lines({**view(), "me": None}, Style()) == []


def test_long_piles_and_many_players_fit_every_width() -> None:
    pile = [f"{rank}{suit}" for suit in "SHDC" for rank in "A23456789TJQK"]
    names = ["Ann", "Bo", "Cy", "Dee", "長い名前", "Flo", "Gus", "Hal"]
    big = public(
        discard=pile,
        scores=[0] * 8,
        hands=[[] for _ in range(8)],
        dealer=4,
        sheet=[
            {
                "hand": 1,
                "points": [-105] * 8,
                "table": [0] * 8,
                "in_hand": [105] * 8,
                "notes": ["Dee went out"],
            }
        ],
    )
    for size in (40, 60, 80):
        style = Style(size=size)
        lines = [
            *draw.state_lines(big, names, style),
            *draw.pile_lines(big, style),
            *draw.sheet_lines(big, names, style),
        ]
        assert max(map(width, lines)) <= size, size
        assert [card for line in draw.pile_lines(big, style) for card in line.split() if card in pile] == pile


def test_the_score_sheet_has_a_line_a_hand_and_the_totals() -> None:
    assert draw.sheet_lines(public(), NAMES, Style()) == [
        "Score sheet, to 500:",
        "  hand            You           Bo           Cy",
        "  1              +120          +95          -10",
        "  total           120           95          -10",
    ]


def test_a_finished_hand_shows_how_each_score_came_about() -> None:
    assert draw.hand_result_lines(public()["sheet"][0], NAMES, Style()) == [
        "Hand 1 is over.",
        "  You: +120 (table 135, in hand 15)",
        "  Bo: +95 (table 110, in hand 15)",
        "  Cy: -10 (table 0, in hand 10)",
    ]


def test_legal_moves_are_a_line_a_verb_and_say_how_many_are_left_out() -> None:
    moves = ["draw", "take 4H", "take 9D", "take 5C", "meld 6H 7H 8H", "meld 6H 7H 8H + 9S 9C X2=9"]
    assert draw.legal_lines(moves, Style(), most=2) == [
        "  draw",
        "  take 4H, 9D and 1 more (`legal` lists all)",
        "  meld 6H 7H 8H, 6H 7H 8H + 9S 9C X2=9",
    ]


@pytest.mark.parametrize(("colour", "text"), [(False, "X1=8H"), (True, "\x1b[31mX1=8H\x1b[0m")])
def test_red_suits_are_coloured_only_where_it_is_wanted(colour: bool, text: str) -> None:
    assert draw.face("X1", Style(colour=colour), stands_for="8H") == text
    assert draw.face("8S", Style(colour=colour)) == "8S"


def test_what_only_some_options_have_is_told_in_sentences() -> None:
    extra = {
        "stage": "play",
        "sides": [[0, 2], [1, 3]],
        "opened": [1],
        "dealers_joker": {"card": "X1", "effect": "wild", "used": False, "blocked": True},
        "out_of_play": ["5C", "9D"],
        "open_stock": [],
    }
    assert draw.extra_lines(public(extra=extra), ["You", "Bo", "Cy", "Dee"], Style()) == [
        "Sides: You and Cy against Bo and Dee.",
        "Opened (R163): Bo.",
        "Dealer's joker X1: wild, blocked.",
        "Out of play (R180): 5C 9D.",
    ]
