"""Seats that crash, vanish, come back, or are cut off: what the table does, by the numbers of the fault catalogue."""

from __future__ import annotations

import os
import random

import pytest

from protocol import events, gossip
from protocol.dealing import RealDecks
from protocol.entry import Key, from_value
from protocol.errors import LocalProtocolError
from protocol.verify import Summary, verify_log
from tests.protocol.tables import Peer, Table, events_of
from tests.protocol.toy_game import toy_game

STAGES = ["commit", "reveal", "shuffle", "shares", "answer", "move", "sealed", "ruling", "show", "result"]


def up(table: Table) -> list[Peer]:
    return [peer for peer in table.peers if peer.up]


def the_log(table: Table) -> Summary:
    """What the one log of all peers that are up says."""
    logs = [peer.public for peer in up(table)]
    assert all(log == logs[0] for log in logs)
    summary = verify_log(logs[0], toy_game, table.decks, os.urandom)
    assert summary.finished
    return summary


def assert_nobody_said_two_things(table: Table) -> None:
    said: dict[Key, bytes] = {}
    for peer in table.peers:
        for message in peer.sent:
            content = gossip.read(message)
            for value in content.entries if isinstance(content, gossip.Entries) else ():
                entry = from_value(value)
                assert said.setdefault(entry.key, entry.id) == entry.id
        assert events_of(peer, events.EvidenceFound) == []


def run_to_any(table: Table, stage: str) -> int:
    """Until somebody waits for another's part of such a stage.  Returns the seat that is waited for."""

    def waited_for() -> list[int]:
        return [
            seat
            for peer in table.peers
            for seat in peer.session.waiting_for
            if peer.session.stage.value == stage and seat != peer.seat
        ]

    table.run(until=lambda: bool(waited_for()))
    return waited_for()[-1]


def run_to(table: Table, seat: int, stage: str) -> None:
    """Until the others wait for this seat's part of such a stage; what it sent last has not arrived yet."""

    def there() -> bool:
        others = (peer.session for peer in table.peers if peer.seat != seat and peer.up)
        return any(other.stage.value == stage and seat in other.waiting_for for other in others)

    personal = stage in ("move", "answer")
    table.play = lambda player: (
        None if player.seat == seat and personal and there() else table.random_move(player)
    )
    table.run(until=there)
    table.play = table.random_move


# --- crash and come back -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_peers_that_crash_all_the_time_finish_the_game_and_never_say_two_things_f20_f22_f25(
    seed: int,
) -> None:
    table = Table(3, seed=seed)
    chance = random.Random(seed)
    down: int | None = None
    for _ in range(20_000):
        if all(peer.session.over for peer in table.peers) and down is None:
            break
        if down is None and chance.randrange(20) == 0:
            down = chance.randrange(3)
            table.crash(down, torn=True)
        elif down is not None and chance.randrange(10) == 0:
            table.restart(down)
            down = None
        if not table.step():
            timers = [peer.timer for peer in up(table) if peer.timer is not None]
            table.now = min([table.now + 0.5, *timers])
            for peer in up(table):
                peer.session.tick(table.now)
                peer.carry_out()
    the_log(table)
    assert_nobody_said_two_things(table)


def test_a_table_that_was_switched_off_resumes_with_the_same_bytes_f21_f26() -> None:
    table = Table(3, decks=RealDecks())
    table.run(until=lambda: table.peers[0].session.step >= 20)
    before = [peer.session.head for peer in table.peers]
    for seat in range(3):
        table.crash(seat)
    table.queue.clear()
    table.now += 3 * 24 * 3600
    for seat in range(3):
        table.restart(seat)
        assert table.peers[seat].session.head == before[seat]
        assert table.peers[seat].session.faces.keys() == set(table.peers[seat].session.game.hidden(seat)), (
            "W8: its own hand is readable again"
        )
    table.run()
    the_log(table)
    assert_nobody_said_two_things(table)


def test_a_resumed_session_publishes_the_same_log_again() -> None:
    table = Table(2)
    table.run()
    whole = list(table.peers[0].public)
    table.crash(0)
    table.restart(0)
    assert table.peers[0].public == whole
    assert table.peers[0].session.over
    assert [event for event in table.peers[0].events if isinstance(event, events.GameOver)] != []


def test_a_lost_journal_is_asked_for_before_anything_is_signed_f34() -> None:
    table = Table(3, seed=2)
    table.run(until=lambda: table.peers[0].session.step >= 25)
    table.run(until=lambda: not table.queue)
    table.crash(0)
    table.peers[0].journal = table.peers[0].journal[: len(table.peers[0].journal) // 3]
    table.peers[0].doubt = True
    table.restart(0)
    assert table.peers[0].session.step < 25
    table.run()
    the_log(table)
    assert_nobody_said_two_things(table)


def test_a_seat_whose_secret_is_lost_sits_out_and_returns_at_the_next_hand_f38() -> None:
    table = Table(4, options={"hands": "2"})
    run_to(table, 2, "shares")
    table.crash(2)
    table.peers[2].secrets.clear()
    table.restart(2)
    table.run()
    assert [event.reason for event in events_of(table.peers[2], events.SittingOut)] == ["secret_lost"]
    assert events_of(table.peers[0], events.SeatReturned) == [events.SeatReturned(seat=2, hand=2)]
    assert the_log(table).dropped == (2,)
    assert_nobody_said_two_things(table)


# --- vanish --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("seats", [3, 4])
def test_a_seat_that_vanishes_is_dropped_and_the_others_finish_f10_f50(seats: int, stage: str) -> None:
    table = Table(seats)
    gone = run_to_any(table, stage)
    table.crash(gone)
    table.run()
    summary = the_log(table)
    absent = events_of(up(table)[0], events.SeatAbsent)
    assert {event.seat for event in absent} <= {gone}
    if stage in ("commit", "reveal", "shuffle", "shares", "move", "show"):
        assert summary.dropped == (gone,)
        assert absent[0].dropped
    assert_nobody_said_two_things(table)


def test_the_hand_of_a_dropped_seat_is_shown_to_all() -> None:
    table = Table(4)
    run_to(table, 1, "move")
    held = dict(table.peers[1].session.faces)
    table.crash(1)
    table.run()
    (dropped,) = events_of(table.peers[3], events.SeatDropped)
    assert dict(dropped.faces) == held
    assert not dropped.void


@pytest.mark.parametrize("stage", ["shares", "move", "show"])
def test_without_backups_a_leaver_voids_the_hand(stage: str) -> None:
    table = Table(4, options={"hands": "2"}, strict=True)
    gone = run_to_any(table, stage)
    table.crash(gone)
    table.run()
    (dropped,) = events_of(up(table)[0], events.SeatDropped)
    assert dropped.void
    assert dropped.faces == ()
    assert the_log(table).hands == 2


def test_two_that_vanish_at_once_leave_too_few_backups_and_the_hand_is_void() -> None:
    table = Table(5, options={"hands": "2"})
    run_to(table, 1, "move")
    table.crash(1)
    table.crash(3)
    # Five seats decide with four: two gone at once are too many; nothing may be decided.
    with pytest.raises(AssertionError, match="not done"):
        table.run(seconds=300)
    assert events_of(table.peers[0], events.Suspended)[-1].why is events.Pause.MINORITY
    table.restart(3)
    table.run()
    assert the_log(table).dropped == (1,)


def test_one_after_the_other_may_vanish_while_a_quorum_is_left() -> None:
    table = Table(5, options={"hands": "3"})
    run_to(table, 1, "move")
    table.crash(1)
    table.run(until=lambda: bool(events_of(table.peers[0], events.SeatDropped)))
    run_to(table, 3, "move")
    table.crash(3)
    table.run()
    assert sorted(the_log(table).dropped) == [1, 3]


@pytest.mark.parametrize("seed", range(4))
def test_a_dropped_seat_that_comes_back_plays_again_from_the_next_hand_f17(seed: int) -> None:
    table = Table(4, seed=seed, options={"hands": "3"})
    run_to(table, 2, "move")
    table.crash(2)
    table.run(until=lambda: bool(events_of(table.peers[0], events.SeatDropped)))
    table.restart(2)
    table.run()
    assert events_of(table.peers[0], events.SeatReturned) == [events.SeatReturned(seat=2, hand=2)]
    assert the_log(table).dropped == (2,)
    assert all(peer.session.seats == (0, 1, 2, 3) for peer in table.peers)


# --- partitions ----------------------------------------------------------------------------------------


def cut(table: Table, *sides: tuple[int, ...]) -> None:
    """Only messages within a side arrive."""
    table.lose = lambda source, target, message: not any(source in s and target in s for s in sides)


def heal(table: Table) -> None:
    table.lose = lambda source, target, message: False


@pytest.mark.parametrize("stage", ["shuffle", "move", "sealed", "ruling"])
def test_the_majority_goes_on_and_the_minority_waits_and_rejoins_f10_f17(stage: str) -> None:
    table = Table(4, options={"hands": "3"})
    run_to(table, 3, stage)
    cut(table, (0, 1, 2), (3,))
    others = table.peers[:3]
    table.run(until=lambda: all(events_of(peer, events.SeatDropped) for peer in others), seconds=600)
    assert events_of(table.peers[3], events.SeatDropped) == []
    table.run(until=lambda: bool(events_of(table.peers[3], events.Waiting)), seconds=600)
    heal(table)
    table.run(seconds=2000)
    assert the_log(table).dropped == (3,)
    assert_nobody_said_two_things(table)


def test_two_and_two_wait_and_go_on_when_they_meet_f11() -> None:
    table = Table(4)
    run_to(table, 2, "move")
    cut(table, (0, 1), (2, 3))
    with pytest.raises(AssertionError, match="not done"):
        table.run(seconds=300)
    assert all(events_of(peer, events.SeatAbsent) == [] for peer in table.peers)
    suspended = [events_of(peer, events.Suspended)[-1] for peer in table.peers[:2]]
    assert {event.why for event in suspended} == {events.Pause.MINORITY}
    heal(table)
    table.run(seconds=3000)
    the_log(table)
    assert_nobody_said_two_things(table)


def test_two_players_wait_for_each_other_and_say_so_f12() -> None:
    table = Table(2)
    run_to(table, 1, "move")
    cut(table, (0,), (1,))
    with pytest.raises(AssertionError, match="not done"):
        table.run(seconds=300)
    assert events_of(table.peers[0], events.Suspended)[-1].why is events.Pause.TWO_PLAYERS
    assert events_of(table.peers[0], events.SeatAbsent) == []
    heal(table)
    table.run()
    assert the_log(table).dropped == ()
    assert events_of(table.peers[0], events.Continued) != []


def test_a_patient_table_waits_instead_of_dropping_f10() -> None:
    table = Table(4, patient=True)
    run_to(table, 1, "move")
    table.crash(1)
    with pytest.raises(AssertionError, match="not done"):
        table.run(seconds=1000)
    assert events_of(table.peers[0], events.Suspended)[-1].why is events.Pause.PATIENT
    table.restart(1)
    table.run()
    assert the_log(table).dropped == ()


def test_a_silent_arbiter_is_replaced_by_the_next_f24_f45() -> None:
    table = Table(4)
    peer = table.peers[0]
    table.run(until=lambda: peer.session.stage.value == "ruling" and bool(peer.session.waiting_for))
    (arbiter,) = peer.session.waiting_for
    table.crash(arbiter)

    def rulings() -> list[events.Ruled]:
        said = [event for other in up(table) for event in events_of(other, events.Ruled)]
        return [event for event in said if event.arbiter is not None]

    table.run(until=lambda: bool(rulings()), seconds=100)
    assert rulings()[0].arbiter != arbiter


def test_the_clock_may_start_anywhere_f85_f86() -> None:
    table = Table(3)
    table.run(until=lambda: table.peers[0].session.step >= 15)
    table.crash(1)
    table.now -= 50.0
    table.restart(1)
    table.run()
    the_log(table)


def test_nothing_more_is_asked_once_the_game_is_over() -> None:
    table = Table(2)
    table.run()
    with pytest.raises(LocalProtocolError, match="nothing is asked"):
        table.peers[0].session.move("draw", table.now)
