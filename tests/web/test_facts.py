"""What the page is told beside the game: who is there, which clock runs, how the shuffle went, what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from p2p_rummy.web.facts import Facts, happening, left
from protocol import events
from protocol.agreement import Agreement, claim
from protocol.identity import Identity


def facts(me: int | None = 0, names: tuple[str, ...] = ("Ann", "Bo", "Cy"), **times: int) -> Facts:
    seats = tuple(claim(Identity(bytes([n + 1]) * 32), name, bytes([n]) * 32) for n, name in enumerate(names))
    return Facts(Agreement(game="rum500", rules_version=1, options=(), seats=seats, **times), me)


def after(*happened: events.Event, now: float = 100.0, at: float = 100.0) -> dict[str, Any]:
    told = facts()
    for event in happened:
        told.take(event, now)
    return told.plain(at, step=7, head=bytes(32))


def links(plain: dict[str, Any]) -> list[str]:
    return [player["link"] for player in plain["players"]]


def test_a_turn_has_a_clock_until_the_move() -> None:
    turn = events.TurnBegan(seat=1, deadline=190.0)
    assert after(turn)["clock"] == {"seats": [1], "left_ms": 90000}
    assert after(turn, at=130.0)["clock"] == {"seats": [1], "left_ms": 60000}
    assert after(turn, events.MoveMade(seat=1, text="draw", openings=(), step=3))["clock"] is None


def test_a_window_shows_its_whole_length_and_what_is_left() -> None:
    window = events.WindowOpened(after=0, seats=(1, 2), closes_at=108.0, sealed=True)
    assert after(window, at=103.0)["window"] == {
        "after": 0,
        "left_ms": 5000,
        "limit_ms": 8000,
        "prompt": False,
        "safe": False,
    }
    assert after(window, events.AnswerSafe(step=4))["window"]["safe"] is True
    ruled = events.Ruled(arbiter=2, answers=((1, "pass"), (2, "pass")), winner=None)
    assert after(window, ruled)["window"] is None


def test_a_window_without_a_countdown_shows_the_time_after_which_silence_is_a_pass() -> None:
    """Half of the 15 s that a step has (protocol.voice)."""
    told = facts(window_ms=0, step_ms=15_000)
    told.take(events.WindowOpened(after=0, seats=(1, 2), closes_at=100.0, sealed=True), 100.0)
    window = told.plain(102.0, step=7, head=bytes(32))["window"]
    assert (window["left_ms"], window["limit_ms"], window["prompt"]) == (5500, 7500, True)


def test_an_open_answer_has_the_time_that_the_event_says() -> None:
    told = facts(window_ms=0)
    told.take(events.WindowOpened(after=0, seats=(1,), closes_at=190.0, sealed=False), 100.0)
    window = told.plain(100.0, step=7, head=bytes(32))["window"]
    assert (window["left_ms"], window["prompt"]) == (90_000, False)


def test_a_wait_that_may_last_for_ever_shows_no_clock() -> None:
    assert left(float("inf"), 100.0) == 0
    assert left(1e9, 100.0) == 0
    assert left(0, 100.0) == 0
    assert left(99.0, 100.0) == 0
    assert left(100.25, 100.0) == 250


def test_a_seat_that_loses_its_link_is_away_and_comes_back() -> None:
    assert links(after(events.Disconnected(seat=1))) == ["here", "away", "here"]
    assert links(after(events.Disconnected(seat=1), events.Connected(seat=1))) == ["here", "here", "here"]


def test_silence_is_said_with_the_time_that_is_left_and_taken_back() -> None:
    waiting = events.Waiting(seats=(2,), step=9, deadline=142.0)
    plain = after(waiting)
    assert links(plain) == ["here", "here", "waited"]
    assert plain["problem"] == {"code": "waiting", "seats": [2], "message": "", "left_ms": 42000}
    plain = after(waiting, events.Continued(step=9))
    assert links(plain) == ["here", "here", "here"]
    assert plain["problem"] is None


@pytest.mark.parametrize("why", list(events.Pause))
def test_a_suspended_table_says_why(why: events.Pause) -> None:
    suspended = events.Suspended(seats=(1,), step=9, why=why)
    of_three = "two_left" if why is events.Pause.TWO_PLAYERS else why.value
    assert after(suspended)["problem"]["code"] == f"suspended_{of_three}"
    at_two = facts(names=("Ann", "Bo"))
    at_two.take(suspended, 100.0)
    assert at_two.plain(100.0, step=1, head=b"")["problem"]["code"] == f"suspended_{why.value}"


@pytest.mark.parametrize(
    ("names", "code"), [(("Ann", "Bo"), "unreachable_at_two"), (("Ann", "Bo", "Cy"), "unreachable")]
)
def test_a_seat_that_cannot_be_dialled_is_said_as_the_table_can_cope_and_put_away_when_it_is_there(
    names: tuple[str, ...], code: str
) -> None:
    told = facts(names=names)
    told.unreachable(1, "refused")
    problem = told.plain(100.0, step=1, head=b"")["problem"]
    assert problem is not None
    assert problem["code"] == code
    told.take(events.Connected(seat=1), 100.0)
    assert told.plain(100.0, step=1, head=b"")["problem"] is None


def test_one_is_never_shown_as_missing_to_oneself() -> None:
    assert links(after(events.Waiting(seats=(0, 1), step=9, deadline=142.0))) == ["here", "waited", "here"]


def test_a_dropped_seat_stays_dropped_until_it_returns() -> None:
    dropped = events.SeatDropped(seat=1, faces=(), void=False)
    assert links(after(dropped)) == ["here", "dropped", "here"]
    assert after(dropped)["problem"]["code"] == "dropped"
    assert after(events.SeatDropped(seat=1, faces=(), void=True))["problem"]["code"] == "void"
    back = after(dropped, events.SeatReturned(seat=1, hand=3))
    assert links(back) == ["here", "here", "here"]
    assert back["problem"] is None


def test_evidence_names_the_seat_and_the_kind() -> None:
    evidence = events.EvidenceFound(
        seat=2,
        accusation=events.Accusation.EXPOSED,
        reason="two_moves",
        message="two moves in step 9",
        step=9,
        data=b"e",
    )
    assert after(evidence)["problem"] == {
        "code": "exposed",
        "seats": [2],
        "message": "two moves in step 9",
        "reason": "two_moves",
        "left_ms": 0,
    }
    told = happening(evidence)
    assert told is not None
    assert "data" not in told
    assert told["accusation"] == "exposed"


def test_the_shuffle_is_told_seat_by_seat() -> None:
    began = events.HandBegan(hand=2, seats=(0, 1, 2))
    made = events.ShuffleMade(seat=1, cards=54, position=0, of=3)
    proved = events.ShuffleVerified(seat=1, cards=54, milliseconds=22.6)
    assert after(began, made)["shuffles"] == {
        "hand": 2,
        "made": [{"seat": 1, "position": 0, "of": 3, "cards": 54, "verified": False, "ms": 0}],
    }
    assert after(began, made, proved)["shuffles"]["made"][0] | {} == {
        "seat": 1,
        "position": 0,
        "of": 3,
        "cards": 54,
        "verified": True,
        "ms": 23,
    }


def test_a_recycled_stock_begins_a_new_list() -> None:
    whole = [events.ShuffleMade(seat=seat, cards=54, position=seat, of=3) for seat in range(3)]
    again = events.ShuffleMade(seat=0, cards=20, position=0, of=3)
    assert [made["cards"] for made in after(*whole, again)["shuffles"]["made"]] == [20]


def test_ones_own_shuffle_is_told_once() -> None:
    told = facts()
    verified = events.ShuffleVerified(seat=0, cards=54, milliseconds=30.0)
    told.take(events.ShuffleMade(seat=0, cards=54, position=0, of=3), 0.0)
    assert not told.repeats(verified)
    told.take(verified, 0.0)
    assert told.repeats(verified)


def test_a_happening_is_plain_and_keeps_new_cards_private() -> None:
    assert happening(events.CardsSeen(faces=((3, 18),))) is None
    assert happening(events.StepClosed(step=1, epoch=0, head=bytes(32), final=True)) is None
    moved = happening(events.MoveMade(seat=1, text="discard 6H", openings=((4, 18),), step=5))
    assert moved == {"kind": "move_made", "seat": 1, "text": "discard 6H", "cards": ["6H"], "step": 5}
    ruled = happening(events.Ruled(arbiter=None, answers=((1, "pass"),), winner=None))
    assert ruled == {"kind": "ruled", "arbiter": None, "answers": [[1, "pass"]], "winner": None}


def test_chat_cannot_carry_what_turns_text_around() -> None:
    said = happening(events.ChatSaid(seat=1, text="hi\x1b[2J B\u202eo"))
    assert said is not None
    assert said["text"] == "hi?[2J B?o"
