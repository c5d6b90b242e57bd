"""What a view contains, and above all what it cannot contain."""

from __future__ import annotations

import json
from typing import Any

import pytest

from p2p_rummy.cards import card_number
from p2p_rummy.view import plain, table_view
from protocol.game import Faces, Turn, Window

SECRET = "QC"


class Table:
    """Two seats: seat 0 holds slots 3 (hidden) and 5 (open to all), seat 1 holds slot 4 (hidden)."""

    seats = 2

    def __init__(self, phase: str = "play", hints: bool = False, stock: int = 20, turn: int = 1) -> None:
        self.phase = phase
        self.hints = hints
        self.stock = stock
        self.turn = turn

    @property
    def need(self) -> Turn | Window:
        return Turn(seat=0) if self.phase == "play" else Window(after=1, seats=(0,))

    def snapshot(self) -> dict[str, Any]:
        return {
            "phase": self.phase,
            "options": {"hints": self.hints},
            "answered": [],
            "stock": self.stock,
            "turn": self.turn,
            "extra": {"playing": [0, 1]},
            "hands": [[{"slot": 3, "card": ""}, {"slot": 5, "card": "9S"}], [{"slot": 4, "card": ""}]],
        }

    def legal_moves(self, seat: int, faces: Faces) -> list[str]:
        return ["rummy QS KS JS", "pass"] if self.phase == "call" else ["discard 6H", "discard 9S"]


def faces(**slots: str) -> dict[int, int]:
    return {int(slot.removeprefix("s")): card_number(card) for slot, card in slots.items()}


def test_a_seat_sees_its_own_hidden_faces_and_the_public_ones() -> None:
    view = table_view(Table(), 0, faces(s3="6H"), {})  # type: ignore[arg-type]
    assert view["hand"] == [{"slot": 3, "card": "6H"}, {"slot": 5, "card": "9S"}]
    assert view["legal"] == ["discard 6H", "discard 9S"]


def test_a_face_of_another_seats_slot_never_appears_even_if_handed_in() -> None:
    view = table_view(Table(), 0, faces(s3="6H", s4=SECRET, s17=SECRET), {})  # type: ignore[arg-type]
    assert SECRET not in json.dumps(view)


def test_a_spectator_has_no_hand_no_moves_and_may_bring_no_faces() -> None:
    view = table_view(Table(), None, {}, {})  # type: ignore[arg-type]
    assert (view["me"], view["hand"], view["legal"]) == (None, [], [])
    with pytest.raises(ValueError, match="spectator"):
        table_view(Table(), None, faces(s3="6H"), {})  # type: ignore[arg-type]


def test_a_seat_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="no seat 2"):
        table_view(Table(), 2, {}, {})  # type: ignore[arg-type]


def test_a_slot_without_a_face_yet_is_blank() -> None:
    assert table_view(Table(), 0, {}, {})["hand"][0] == {"slot": 3, "card": ""}  # type: ignore[arg-type]


def test_calls_are_listed_only_where_the_table_plays_with_hints() -> None:
    assert table_view(Table("call"), 0, {}, {})["legal"] == ["pass"]  # type: ignore[arg-type]
    assert "rummy QS KS JS" in table_view(Table("call", hints=True), 0, {}, {})["legal"]  # type: ignore[arg-type]


def test_in_a_call_window_the_draw_may_be_chosen_by_whoever_is_next() -> None:
    assert table_view(Table("call"), 0, {}, {})["ahead"] == ["draw"]  # type: ignore[arg-type]
    assert table_view(Table("call", turn=0), 0, {}, {})["ahead"] == []  # type: ignore[arg-type]
    assert table_view(Table("call", stock=0), 0, {}, {})["ahead"] == []  # type: ignore[arg-type]
    assert table_view(Table("play"), 0, {}, {})["ahead"] == []  # type: ignore[arg-type]
    assert table_view(Table("call"), None, {}, {})["ahead"] == []  # type: ignore[arg-type]


def test_the_need_names_who_is_waited_for() -> None:
    assert table_view(Table(), None, {}, {})["need"] == {"kind": "turn", "seats": [0]}  # type: ignore[arg-type]
    assert table_view(Table("call"), None, {}, {})["need"] == {"kind": "window", "seats": [0]}  # type: ignore[arg-type]


@pytest.mark.parametrize("thing", [b"key", object(), 1.5, {1: "x"}, {"deep": [b"key"]}])
def test_only_plain_data_leaves(thing: object) -> None:
    with pytest.raises(TypeError, match="view"):
        plain(thing)


def test_the_facts_are_copied_not_shared() -> None:
    facts: dict[str, Any] = {"players": [{"name": "Bo"}]}
    view = table_view(Table(), None, {}, facts)  # type: ignore[arg-type]
    facts["players"][0]["name"] = "changed"
    assert view["facts"] == {"players": [{"name": "Bo"}]}
