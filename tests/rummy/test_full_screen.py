"""The full-screen face: what is painted, what the keys do.  The view is plain data, so no table is needed to paint one."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from p2p_rummy.terminal.choose import cards_in, choices
from p2p_rummy.terminal.full import FullScreen, Stage
from p2p_rummy.terminal.look import Look, look_for
from p2p_rummy.terminal.painting import Pointing, hand_cards, paint
from p2p_rummy.terminal.text import width
from protocol import events
from protocol.game import Over, Turn, Window


def a_view(**changes: Any) -> dict[str, Any]:
    """Seat 0 to play in a game of three, with a run of spades on the table and a pile of three."""
    public: dict[str, Any] = {
        "game": "rum500",
        "options": {"target": 500},
        "hand": 2,
        "phase": "play",
        "dealer": 2,
        "turn": 0,
        "scores": [35, -10, 120],
        "sheet": [
            {
                "hand": 1,
                "points": [35, -10, 120],
                "table": [60, 15, 120],
                "in_hand": [25, 25, 0],
                "notes": ["Cy went out"],
            }
        ],
        "stock": 28,
        "discard": ["9D", "TH", "2C"],
        "melds": [
            {
                "id": 1,
                "kind": "run",
                "owner": 1,
                "cards": [
                    {"card": "6S", "as": "", "seat": 1},
                    {"card": "7S", "as": "", "seat": 1},
                    {"card": "X1", "as": "8S", "seat": 1},
                    {"card": "9S", "as": "", "seat": 2},
                ],
            }
        ],
        "hands": [[{"slot": slot, "card": ""} for slot in range(5)], [{"slot": 9, "card": ""}], []],
        "must_use": "",
        "taken_top": "",
        "floating": [],
        "out": [],
        "extra": {},
    } | changes
    cards = ["KH", "5S", "TS", "KD", "KC"]
    return {
        "me": 0,
        "public": public,
        "need": {"kind": "turn", "seats": [0]},
        "hand": [{"slot": slot, "card": card} for slot, card in enumerate(cards)],
        "legal": ["meld KH KD KC", "lay TS on 1", "lay 5S on 1", "discard KH", "discard 5S", "discard TS"],
        "facts": {},
    }


NAMES = ["You", "Bo", "Cy"]


def text_of(rows: list[list[tuple[str, str]]]) -> list[str]:
    return ["".join(text for _attribute, text in row) for row in rows]


def painted(size: tuple[int, int] = (80, 24), look: Look | None = None, **changes: Any) -> list[str]:
    view = a_view(**changes)
    pointing = Pointing()
    rows = paint(view, NAMES, pointing, ["Bo draws."], choices(view, [], []), size=size, look=look or Look())
    return text_of(rows)


@pytest.mark.parametrize("columns", [40, 52, 72, 80, 81, 132, 200])
@pytest.mark.parametrize("rows", [12, 24, 50])
def test_every_size_is_filled_exactly_and_never_overrun(columns, rows):
    lines = painted((columns, rows))
    assert len(lines) == rows
    assert max(width(line) for line in lines) <= columns


def test_the_hand_and_the_prompt_survive_on_a_screen_that_is_too_low():
    lines = painted((80, 6))
    assert "K\u2665" in "".join(lines)
    assert "h for all keys" in lines[-1]


def test_melds_name_their_owner_the_jokers_card_and_who_else_scores():
    meld = next(line for line in painted() if line.startswith("  1 "))
    assert "Bo:" in meld
    assert "X1=8S" in meld
    assert "9\u2660(Cy)" in meld


def test_suit_signs_fall_back_to_letters_everywhere():
    lines = "\n".join(painted(look=Look(signs=False, boxes=False)))
    assert "KH" in lines
    assert lines.isascii()


@pytest.mark.parametrize(
    ("environment", "encoding", "language", "signs"),
    [
        ({"LANG": "en_GB.UTF-8"}, "utf-8", "en", True),
        ({"LANG": "ja_JP.UTF-8"}, "utf-8", "en", False),
        ({"LC_ALL": "ko_KR.UTF-8", "LANG": "en_GB.UTF-8"}, "utf-8", "en", False),
        ({"LANG": "en_GB.UTF-8"}, "utf-8", "ja", False),
        ({"LANG": "C"}, "ANSI_X3.4-1968", "en", False),
        ({"LANG": "en_GB.UTF-8", "TERM": "linux"}, "utf-8", "en", False),
    ],
)
def test_signs_are_drawn_only_where_their_width_is_certain(environment, encoding, language, signs):
    assert look_for(environment, encoding, language) == Look(signs=signs, boxes=signs)


def test_the_card_pointed_at_in_the_pile_says_what_taking_it_brings():
    view = a_view(phase="draw")
    rows = paint(view, NAMES, Pointing(area="pile", at=1), [], [], size=(80, 24), look=Look())
    assert any("taking here brings 2 cards" in line for line in text_of(rows))


def test_a_name_or_a_long_table_never_pushes_the_hand_off_the_screen():
    melds = a_view()["public"]["melds"] * 30
    lines = painted(melds=melds)
    assert "K\u2665" in "".join(lines[-8:])


# --- which moves are offered ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "cards"),
    [
        ("meld 6H 7H X1=8H", ("6H", "7H", "X1")),
        ("lay TH on 2", ("TH",)),
        ("meld 6H 7H 8H + 9S 9Db 9C", ("6H", "7H", "8H", "9S", "9Db", "9C")),
        ("draw", ()),
        ("bid 3", ()),
    ],
)
def test_the_cards_of_a_move_are_those_it_names(text, cards):
    assert cards_in(text) == cards


def test_only_moves_of_exactly_the_picked_cards_are_offered():
    view = a_view()
    assert choices(view, ["TS"], []) == ["lay TS on 1", "discard TS"]
    assert choices(view, ["KC", "KH", "KD"], []) == ["meld KH KD KC"]
    assert choices(view, ["KC", "KH"], []) == []


def test_with_nothing_picked_only_what_needs_no_card_of_the_hand_is_offered():
    view = a_view(phase="draw")
    view["legal"] = ["draw", "take 9D", "take TH", "take 2C"]
    assert choices(view, [], []) == ["draw", "take 2C"]
    assert choices(view, [], ["9D"]) == ["take 9D"]


def test_a_call_is_offered_whether_or_not_it_is_possible_so_the_screen_gives_no_hint():
    view = a_view(phase="call")
    view["legal"] = ["pass"]
    assert choices(view, [], []) == ["pass"]
    assert choices(view, [], ["TH"]) == ["rummy TH on 1", "rummy TH"]
    # in the order of the pile, whatever the order of picking
    assert choices(view, [], ["2C", "9D", "TH"]) == ["rummy 9D TH 2C", "rummy 9D TH 2C on 1"]


def test_the_dealers_joker_is_offered_with_the_cards_that_it_goes_with():
    """R178, R179: it lies beside the stock, so it cannot be picked up from the hand."""
    view = a_view(extra={"dealers_joker": {"card": "X1", "effect": "wild", "used": False, "blocked": False}})
    view["legal"] = ["meld KH KD X1=K", "meld KH KD KC", "meld KH KD KC X1=K", "discard KH"]
    assert choices(view, ["KH", "KD"], []) == ["meld KH KD X1=K"]
    assert choices(view, ["KH", "KD", "KC"], []) == ["meld KH KD KC", "meld KH KD KC X1=K"]
    assert any(
        "Dealer's joker X1: wild" in line
        for line in text_of(paint(view, NAMES, Pointing(), [], [], size=(80, 24), look=Look()))
    )


def test_what_must_still_be_done_is_said():
    lines = painted(must_use="TH")
    assert any("TH must be laid before the discard (R23)." in line for line in lines)


def test_in_rummoli_the_pots_what_is_asked_and_every_move_are_on_the_screen(
    practice: Callable[..., Any],
) -> None:
    table = practice("rummoli", 3, options={"max_rounds": "1"})
    face = FullScreen(table, lambda: 0.0, Look())
    attend(face, table)
    screen = text_of(face.rows((80, 24)))
    assert "The widow" in screen[0]
    assert any(line.startswith(" Pots: poker 3,") for line in screen)  # three antes (R220)
    assert not any("melds" in line for line in screen)
    assert face.offers(face.view()) == table.legal_moves()


def test_sorting_by_suit_and_by_rank():
    view = a_view()
    assert hand_cards(view, "suit") == ["5S", "TS", "KH", "KD", "KC"]
    assert hand_cards(view, "rank") == ["5S", "TS", "KH", "KD", "KC"]
    view["hand"] = [{"slot": n, "card": c} for n, c in enumerate(["KH", "2C", "AH", "X1", "2S"])]
    assert hand_cards(view, "suit") == ["2S", "AH", "KH", "2C", "X1"]
    assert hand_cards(view, "rank") == ["AH", "2S", "2C", "KH", "X1"]


def test_painting_survives_any_order_of_random_pointing():
    rng = random.Random(5)
    for _trial in range(200):
        view = a_view(phase=rng.choice(["draw", "play", "call"]))
        pointing = Pointing(
            area=rng.choice(["hand", "pile"]),
            at=rng.randrange(5),
            picked=rng.sample(["KH", "5S", "9D"], rng.randrange(4)),
            page=rng.choice(["table", "help", "scores"]),
            typing=rng.choice([None, ":lay"]),
        )
        size = (rng.randrange(40, 140), rng.randrange(5, 50))
        rows = paint(view, NAMES, pointing, ["x" * 300], ["draw"] * 12, size=size, look=Look())
        assert len(rows) == size[1]
        assert all(width(line) <= size[0] for line in text_of(rows))


# --- the face -------------------------------------------------------------------------------------------


def attend(face: FullScreen, table: Any) -> None:
    """Up to the next thing asked of this seat."""
    table.run()
    for event in table.listen():
        face.event(event)


def in_a_window(practice: Callable[..., Any], **times: int) -> tuple[FullScreen, Any]:
    """Seat 0 of two is asked whether it calls, and would be next to draw."""
    for seed in range(1, 20):
        table = practice("rum500", 2, seed=seed)
        table.agreement = replace(table.agreement, **times)
        face = FullScreen(table, lambda: 0.0, Look())
        for _step in range(4):
            attend(face, table)
            if isinstance(table.game.need, Window) and 0 in table.game.need.seats:
                return face, table
            if isinstance(table.game.need, Turn):
                table.move(next(text for text in table.legal_moves() if text.startswith(("draw", "discard"))))
    raise AssertionError("no window came")


def head(face: FullScreen) -> str:
    return text_of(face.rows((80, 24)))[0]


def test_a_window_without_a_countdown_shows_until_when_silence_is_no_pass(
    practice: Callable[..., Any],
) -> None:
    """The practice table's windows close after 10 s; without a countdown half of a step's time comes on top."""
    face, _table = in_a_window(practice)
    assert head(face).rstrip().endswith("0:10")
    face, _table = in_a_window(practice, window_ms=0, step_ms=16_000)
    assert head(face).rstrip().endswith("0:18")


def test_a_move_of_ones_own_turn_is_sent_and_a_draw_is_told_once(practice: Callable[..., Any]) -> None:
    table = practice("rum500", 2, others=lambda _seat, legal: legal[0])
    face = FullScreen(table, lambda: 0.0, Look())
    for _step in range(10):
        attend(face, table)
        if isinstance(table.game.need, Turn) and table.game.need.seat == 0:
            break
        table.close_window()
    face.log.clear()
    face.press("d")
    assert face.pointing.message == "sent: draw"
    attend(face, table)
    assert [line for line in face.log if line.startswith("You draw")] == [
        line for line in face.log if line.startswith("You draw ") and line != "You draw from the stock."
    ]
    face.press(" ")
    face.press("x")
    assert face.pointing.message.startswith("sent: discard ")


def test_d_in_a_window_chooses_the_draw_of_the_coming_turn(practice: Callable[..., Any]) -> None:
    face, table = in_a_window(practice)
    face.press("d")
    assert table.ahead == "draw"
    assert "Chosen for your turn: draw." in text_of(face.rows((80, 24)))[-1]
    face.press("p")
    assert "Your answer: pass." in text_of(face.rows((80, 24)))[-1]


def test_in_rummoli_nobody_is_asked_who_can_only_pass(practice: Callable[..., Any]) -> None:
    table = practice("rummoli", 3, options={"max_rounds": "1"})
    face = FullScreen(table, lambda: 0.0, Look())
    asked = answered = 0
    for _step in range(400):
        attend(face, table)
        if isinstance(table.game.need, Over):
            break
        legal = table.legal_moves()
        if isinstance(table.game.need, Window) and legal == ["pass"]:
            answered += 1
            assert table.answered == {0: "pass"}
        else:
            asked += 1
            face.typed(legal[0])
        if isinstance(table.game.need, Window):
            table.close_window()
    assert isinstance(table.game.need, Over)
    assert answered
    assert asked


def test_who_looks_on_is_told_how_to_look_on_again(practice: Callable[..., Any]) -> None:
    table = practice("rum500", 2)
    table.run()
    table.me = None
    face = FullScreen(table, lambda: 0.0, Look())
    face.pointing.page = "table"
    face._leave()
    assert "watch" in face.pointing.message


def test_a_table_that_is_given_up_is_told_in_a_sentence(practice: Callable[..., Any]) -> None:
    table = practice("rum500", 2)
    table.run()
    face = FullScreen(table, lambda: 0.0, Look())
    face.event(events.Abandoned(seat=1, step=9, data=b""))
    shown = " ".join(line.strip() for line in text_of(face.rows((80, 24))))
    assert "Bo has waited as long as was agreed: the table is recorded as abandoned." in shown


def test_what_is_beside_the_game_never_writes_over_the_screen(practice: Callable[..., Any]) -> None:
    """Lines go to the terminal while the seats fill; once the screen is up they are on it."""
    written: list[str] = []
    stage = Stage(written.extend)
    stage.write(["Sits down: 2. Bo"])
    table = practice("rum500", 2)
    table.run()
    face = stage.rise(FullScreen(table, lambda: 0.0, Look()))
    stage.write(["Bo cannot be reached from here: refused."])
    assert written == ["Sits down: 2. Bo"]
    assert "Bo cannot be reached from here: refused." in "".join(text_of(face.rows((80, 24))))
