"""Whole tables play whole games: the fast path, over any connected graph, in any order of messages."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from protocol import events
from protocol.errors import LocalProtocolError
from protocol.game import Refused
from protocol.verify import verify_log
from tests.protocol.tables import Peer, Table, events_of, identity
from tests.protocol.toy_game import toy_game


def assert_one_log(table: Table) -> None:
    logs = table.logs()
    assert all(log == logs[0] for log in logs)
    summary = verify_log(logs[0], toy_game, table.decks, os.urandom)
    assert summary.finished
    assert summary.unproved == 0


@pytest.mark.parametrize("seats", [2, 3, 4, 5, 8])
def test_a_whole_game_leaves_the_same_log_at_every_seat(seats: int) -> None:
    table = Table(seats, options={"hands": "2"})
    table.run()
    assert_one_log(table)
    table.run(until=lambda: all(peer.session.settled for peer in table.peers), seconds=10)


@pytest.mark.parametrize(
    "links",
    [[(0, 1), (1, 2), (2, 3)], [(0, 1), (0, 2), (0, 3)], [(0, 1), (1, 2), (2, 3), (3, 0)]],
    ids=["line", "star", "ring"],
)
def test_any_connected_graph_of_links_is_enough_f08_f09(links: Sequence[tuple[int, int]]) -> None:
    table = Table(4, links=links)
    table.run()
    assert_one_log(table)


@pytest.mark.parametrize("seed", range(5))
def test_messages_in_any_order_make_the_same_game_f16(seed: int) -> None:
    table = Table(4, seed=seed, options={"hands": "2"})
    table.shuffle = True
    table.run()
    assert_one_log(table)


def test_lost_messages_are_found_missing_and_asked_for() -> None:
    table = Table(3, seed=3)
    table.lose = lambda source, target, message: table.random.random() < 0.2
    table.run(seconds=3000)
    assert_one_log(table)


def test_a_share_withheld_from_one_seat_comes_by_another_way_f51() -> None:
    table = Table(3)
    table.lose = lambda source, target, message: (source, target) == (0, 2)
    table.run()
    assert_one_log(table)


def test_everybody_reads_the_same_words_and_no_two_tables_have_them() -> None:
    table = Table(3)
    table.run(until=lambda: all(peer.session.words for peer in table.peers))
    assert len({peer.session.words for peer in table.peers}) == 1
    agreed = [events_of(peer, events.TableAgreed)[0] for peer in table.peers]
    assert {event.words for event in agreed} == {table.peers[0].session.words}


def test_a_late_joiner_gets_all_that_was_said_before_it() -> None:
    table = Table(3, links=[(0, 1)])
    table.run(until=lambda: not table.queue, seconds=1)
    assert table.peers[2].session.step == 0
    table.link(1, 2)
    table.run()
    assert_one_log(table)


def test_a_spectator_sees_the_public_log_and_nothing_else() -> None:
    table = Table(3, watchers=1)
    table.link(0, 3)
    table.run()
    watcher = table.peers[3].session
    assert watcher.me is None
    assert watcher.legal_moves() == []
    assert watcher.faces == {}
    assert watcher.game.digest() == table.peers[0].session.game.digest()
    with pytest.raises(LocalProtocolError, match="spectators"):
        watcher.move("draw", table.now)
    assert_one_log(table)


def test_what_a_spectator_says_closes_its_link_and_touches_nothing() -> None:
    table = Table(2)
    table.links[900] = (0, 0)
    table.peers[0].session.link_up(900, identity(99).public_key, table.now)
    entry = table.peers[1].sent[-1]
    before = table.peers[0].session.head
    table.peers[0].session.received(900, entry if entry[1] == 2 else b"\x92\x02\x90", table.now)
    table.peers[0].carry_out()
    (refused,) = events_of(table.peers[0], events.LinkRefused)
    assert isinstance(refused, events.LinkRefused)
    assert refused.seat is None
    assert table.peers[0].session.head == before


# --- choosing ------------------------------------------------------------------------------------------


def first_turn(seats: int = 2, **more: object) -> tuple[Table, Peer, Peer]:
    """A table at its first turn; the peer on turn first."""
    table = Table(seats, options={"bids": "no"}, **more)  # type: ignore[arg-type]
    table.play = lambda peer: None
    table.run(until=lambda: any(peer.session.legal_moves() for peer in table.peers))
    table.run(until=lambda: not table.queue)
    mover = next(peer for peer in table.peers if peer.session.legal_moves())
    other = next(peer for peer in table.peers if peer is not mover)
    return table, mover, other


def test_an_illegal_move_is_refused_with_its_rule_and_nothing_changes() -> None:
    table, mover, _ = first_turn()
    head = mover.session.head
    with pytest.raises(Refused) as refusal:
        mover.session.move("play 1", table.now)
    assert (refusal.value.code, refusal.value.rule) == ("not_in_hand", "T7")
    assert mover.session.take_effects() == []
    assert mover.session.head == head
    assert mover.session.owes


def test_a_move_chosen_before_its_turn_is_sent_when_the_turn_comes() -> None:
    table, mover, other = first_turn()
    other.session.move("draw", table.now)
    assert other.session.take_effects() == []
    mover.session.move("draw", table.now)
    mover.carry_out()
    table.run(until=lambda: not table.queue)
    mover.session.move(mover.session.legal_moves()[0], table.now)
    mover.carry_out()
    table.run(until=lambda: not table.queue)
    # The window: the other seat's answer, not its next move, is what it owes now.
    other.session.move("pass", table.now)
    other.carry_out()
    table.run(until=lambda: not table.queue)
    made = [event for event in events_of(mover, events.MoveMade) if isinstance(event, events.MoveMade)]
    assert [(event.seat, event.text) for event in made if event.text == "draw"] == [
        (mover.seat, "draw"),
        (other.seat, "draw"),
    ]


def test_a_move_chosen_before_that_is_not_allowed_when_its_turn_comes_is_told_and_not_sent() -> None:
    table, mover, other = first_turn()
    other.session.move("play 99", table.now)
    table.play = lambda peer: (
        table.random_move(peer) if peer is mover or peer.session.stage.value == "sealed" else None
    )
    table.run(until=lambda: bool(events_of(other, events.MoveRefused)))
    (refused,) = events_of(other, events.MoveRefused)
    assert isinstance(refused, events.MoveRefused)
    assert (refused.text, refused.code) == ("play 99", "not_in_hand")
    assert other.session.owes
    assert other.session.legal_moves() == ["draw"]


def test_answers_are_sealed_when_the_countdown_ends_not_before() -> None:
    table, mover, other = first_turn(window_ms=5_000)
    for text in ("draw", None):
        mover.session.move(text or mover.session.legal_moves()[0], table.now)
        mover.carry_out()
        table.run(until=lambda: not table.queue)
    opened = events_of(other, events.WindowOpened)[-1]
    assert isinstance(opened, events.WindowOpened)
    assert opened.closes_at == table.now + 5.0
    before = other.session.head
    other.session.move("pass", table.now)
    other.carry_out()
    table.run(until=lambda: not table.queue)
    assert other.session.head == before, "an answer left before the countdown was over"
    began = table.now
    table.play = table.random_move
    table.run(until=lambda: other.session.head != before)
    assert table.now >= began + 5.0


def test_an_answer_may_be_changed_until_it_is_sealed() -> None:
    table, mover, other = first_turn(window_ms=5_000, seed=4)
    for text in ("draw", None):
        lowest = mover.session.legal_moves()[0]
        mover.session.move(text or lowest, table.now)
        mover.carry_out()
        table.run(until=lambda: not table.queue)
    calls = [move for move in other.session.legal_moves() if move.startswith("beat")]
    assert calls, "the seed gives a hand that can beat the lowest card"
    other.session.move("pass", table.now)
    other.session.move(calls[0], table.now)
    other.carry_out()
    table.run(until=lambda: bool(events_of(other, events.Ruled)))
    (ruled,) = events_of(other, events.Ruled)
    assert isinstance(ruled, events.Ruled)
    assert ruled.winner == other.seat
    assert ruled.answers == ((other.seat, calls[0]),)


# --- talk ----------------------------------------------------------------------------------------------


def test_chat_reaches_everybody_once_over_a_line() -> None:
    table = Table(4, links=[(0, 1), (1, 2), (2, 3)])
    table.run(until=lambda: not table.queue)
    table.peers[0].session.chat("hello", table.now)
    table.peers[0].session.react("applause", table.now)
    table.peers[0].carry_out()
    table.run(until=lambda: not table.queue)
    for peer in table.peers[1:]:
        assert events_of(peer, events.ChatSaid) == [events.ChatSaid(seat=0, text="hello")]
        assert events_of(peer, events.Reacted) == [events.Reacted(seat=0, reaction="applause")]


def test_too_much_talk_is_refused_at_home_and_not_passed_on() -> None:
    table = Table(2)
    session = table.peers[0].session
    for number in range(8):
        session.chat(f"line {number}", table.now)
    with pytest.raises(LocalProtocolError, match="wait"):
        session.chat("one more", table.now)
    session.chat("later", table.now + 5)
    with pytest.raises(LocalProtocolError, match="printable"):
        session.chat("bell \x07", table.now + 10)
