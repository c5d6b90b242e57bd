"""The face for programs: the events that are promised, and moves as lines."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from p2p_rummy.cards import card_name
from p2p_rummy.jsonface import JsonFace, Record, agreement_record, json_line, roster_records
from protocol import events
from protocol.agreement import claim
from protocol.game import Over, Window
from protocol.identity import Identity, fingerprint

Make = Callable[..., Any]


class Program:
    """A program that drives one seat by what it reads, and nothing else."""

    def __init__(self, table: Any, seed: int = 1) -> None:
        self.table = table
        self.said: list[Record] = []
        self._rng = random.Random(seed)
        self.face = JsonFace(table, self.said.append, lambda: 2.0)

    def listen(self) -> None:
        for event in self.table.listen():
            self.face.event(event)

    def of(self, event: str) -> list[Record]:
        return [record for record in self.said if record["event"] == event]

    def play(self, choose: Callable[[random.Random, Sequence[str]], str], steps: int = 4000) -> None:
        """Answer every question until the game is over."""
        for _step in range(steps):
            self.table.run()
            self.listen()
            if isinstance(self.table.game.need, Over):
                return
            asked = self.said[-1]
            assert asked["event"] in ("your_turn", "window")
            self.face.typed(choose(self._rng, asked["legal"]))
            if isinstance(self.table.game.need, Window):
                self.table.close_window()
        raise AssertionError("the game does not end")


def lay_first(rng: random.Random, legal: Sequence[str]) -> str:
    laid = [text for text in legal if text.split(" ")[0] in ("meld", "lay", "rummy")]
    return rng.choice(laid or list(legal))


@pytest.fixture
def program(practice: Make) -> Program:
    rng = random.Random(7)
    table = practice("rum500", 3, options={"target": "60"}, others=lambda _seat, legal: lay_first(rng, legal))
    return Program(table)


def test_a_whole_game_tells_every_promised_event(program: Program) -> None:
    program.play(lay_first)
    told = {record["event"] for record in program.said}
    assert told >= {
        "agreed",
        "shuffled",
        "dealt",
        "your_turn",
        "move",
        "window",
        "ruling",
        "hand_over",
        "game_over",
    }
    assert program.said[-1]["event"] == "game_over"


def test_the_last_event_has_scores_winner_head_and_log(program: Program) -> None:
    program.play(lay_first)
    end = program.said[-1]
    scores = program.table.game.snapshot()["scores"]
    assert end["scores"] == scores
    assert end["winner"] == scores.index(max(scores))
    assert end["head"] == "00" * 32
    assert end["log"] == "/nowhere/table.log"
    assert program.of("hand_over")[-1]["scores"] == scores


def test_the_points_of_the_hands_add_up_to_the_scores(program: Program) -> None:
    program.play(lay_first)
    points = [record["points"] for record in program.of("hand_over")]
    assert [sum(column) for column in zip(*points, strict=True)] == program.said[-1]["scores"]


def test_every_event_is_one_line_of_json(program: Program) -> None:
    program.play(lay_first)
    for record in program.said:
        line = json_line(record)
        assert "\n" not in line
        assert json.loads(line) == record


def test_a_turn_lists_what_is_legal_and_the_seconds_left(program: Program) -> None:
    program.table.run()
    program.listen()
    asked = next(record for record in program.said if record["event"] in ("your_turn", "window"))
    assert asked["legal"] == program.table.legal_moves()
    assert asked["seconds"] == {"your_turn": 998.0, "window": 8.0}[asked["event"]]


def test_a_window_for_others_has_nothing_legal_for_the_reader(program: Program) -> None:
    program.table.run()
    program.listen()
    me = program.table.me
    others = tuple(seat for seat in range(3) if seat != me)
    program.face.event(events.WindowOpened(after=me, seats=others, closes_at=9.0, sealed=True))
    assert program.said[-1]["legal"] == []


@pytest.mark.parametrize(
    ("window_ms", "sealed", "seconds"),
    [
        (3000, True, 4.0),  # the countdown that the session tells
        (
            0,
            True,
            4.0 + 5.0,
        ),  # none was agreed on: a silent seat passes after half of the ten seconds of a step
        (0, False, 4.0),  # an answer in the open has the time of a step, which is in closes_at
    ],
)
def test_a_window_tells_how_long_an_answer_is_waited_for(
    program: Program, window_ms: int, sealed: bool, seconds: float
) -> None:
    program.table.agreement = replace(program.table.agreement, window_ms=window_ms, step_ms=10_000)
    program.face.event(events.WindowOpened(after=0, seats=(1, 2), closes_at=6.0, sealed=sealed))
    assert program.said[-1]["seconds"] == seconds


def test_a_refused_line_is_answered_with_the_reason_and_what_is_legal(program: Program) -> None:
    program.table.run()
    program.listen()
    while program.said[-1]["event"] == "window":
        program.table.close_window()
        program.table.run()
        program.listen()
    before = program.table.game.digest()
    program.face.typed("discard ZZ")
    refused = program.said[-1]
    assert (refused["event"], refused["code"], refused["move"]) == ("error", "unreadable", "discard zz")
    assert refused["legal"] == program.table.legal_moves()
    program.face.typed("meld 2S 3S 4S")
    assert program.said[-1]["code"] in ("wrong_phase", "not_in_hand")
    assert program.said[-1]["rule"].startswith("R")
    assert program.table.game.digest() == before


def test_a_line_when_nothing_is_asked_is_an_error_too(practice: Make) -> None:
    program = Program(practice("rum500", 3))
    program.face.typed("draw")
    assert program.said[-1]["event"] == "error"


def test_chat_and_leaving(program: Program) -> None:
    program.face.typed("say Hello there")
    assert program.table.chats == ["Hello there"]
    program.face.typed("leave")
    assert program.face.leaving


def test_the_reader_is_told_its_own_cards_and_of_the_others_only_what_is_open(program: Program) -> None:
    """Every card in what is written lies open, or is in this seat's own hand (N37)."""
    table, local = program.table, program.table.local
    hidden: set[str] = set()

    def spy(record: Record) -> None:
        told = json_line(
            {key: value for key, value in record.items() if key not in ("legal", "move", "answers")}
        )
        for card in hidden:
            assert f'"{card}"' not in told, record

    def choose(rng: random.Random, legal: Sequence[str]) -> str:
        hidden.clear()
        for seat in range(3):
            if seat != table.me:
                hidden.update(card_name(local.secret[slot]) for slot in table.game.hidden(seat))
        spy(program.said[-1])
        return lay_first(rng, legal)

    program.play(choose)
    asked = program.of("your_turn")
    assert len(asked) > 5
    assert all(record["cards"] for record in asked)


def test_a_table_taken_up_in_mid_hand_tells_the_hand_and_then_what_is_drawn(program: Program) -> None:
    while not program.said or program.said[-1]["event"] != "your_turn":
        program.table.run()
        program.listen()
        if isinstance(program.table.game.need, Window):
            program.table.close_window()
    again = Program(program.table)
    (resumed,) = again.said
    assert (resumed["event"], resumed["phase"]) == ("resumed", "draw")
    assert resumed["cards"] == program.said[-1]["cards"]
    again.face.typed("draw")
    program.table.run()
    again.listen()
    assert [record["event"] for record in again.said[1:4]] == ["move", "seen", "your_turn"]
    (drawn,) = again.said[2]["cards"]
    assert again.said[3]["cards"] == [*resumed["cards"], drawn]


# --- the lobby ------------------------------------------------------------------------------------------


def test_who_comes_and_goes_is_told_once() -> None:
    ann, bo = Identity(b"a" * 32), Identity(b"b" * 32)
    first = claim(ann, "Ann", b"1" * 32)
    second = claim(bo, "Bo", b"2" * 32, bot="steady")
    assert roster_records((), (first,), ann.public_key) == [
        {
            "event": "joined",
            "seat": 0,
            "name": "Ann",
            "fingerprint": fingerprint(ann.public_key),
            "bot": "",
            "you": True,
        }
    ]
    (joined,) = roster_records((first,), (first, second), ann.public_key)
    assert (joined["seat"], joined["name"], joined["bot"], joined["you"]) == (1, "Bo", "steady", False)
    assert roster_records((first, second), (first,), ann.public_key) == [{"event": "left", "name": "Bo"}]


def test_the_agreement_lists_the_options_that_differ(practice: Make) -> None:
    record = agreement_record(practice("rum500", 3, options={"ace": "low"}).agreement)
    assert record["options"] == {"ace": "low"}
    assert record["window_seconds"] == 5.0
    assert [seat["name"] for seat in record["seats"]] == ["Ann", "Bo", "Cy"]


@pytest.mark.parametrize("game", ["rummy", "rum500_korean", "calling_rum", "dealers_joker", "rummoli"])
def test_other_games_are_played_to_their_end_by_legal_moves_alone(practice: Make, game: str) -> None:
    rng = random.Random(5)
    options = {"max_rounds": "2"} if game == "rummoli" else {"target": "40"}
    table = practice(game, 3, options=options, others=lambda _seat, legal: lay_first(rng, legal))
    program = Program(table)
    program.play(lay_first)
    assert program.said[-1]["event"] == "game_over"
