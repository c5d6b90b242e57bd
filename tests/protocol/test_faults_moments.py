"""Faults of timing: what arrives late, together, in another order, or to a peer that was just restarted.

The numbers are those of the fault catalogue (docs/faults.md).
"""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

from protocol import events, gossip
from protocol.entry import Entry, Kind, from_value
from protocol.errors import LocalProtocolError
from protocol.game import Refused
from protocol.records import OwnRecord, read_record
from protocol.verify import Summary, verify_log
from tests.protocol.liars import Twins, is_discard, tell
from tests.protocol.tables import Peer, Table, events_of
from tests.protocol.toy_game import toy_game

OPTIONS = {"bids": "no"}


def one_log(table: Table) -> Summary:
    logs = [peer.public for peer in table.peers if peer.up]
    assert all(log == logs[0] for log in logs)
    summary = verify_log(logs[0], toy_game, table.decks, os.urandom)
    assert summary.finished
    return summary


def nobody_is_accused(table: Table) -> None:
    assert not any(events_of(peer, events.EvidenceFound) for peer in table.peers)


def all_at(table: Table, stage: str, seat: int | None = None) -> bool:
    """Whether every peer is at such a step (of this seat)."""
    return all(
        peer.session.stage.value == stage
        and (seat is None or peer.session._steps.course.due.seats == (seat,))
        for peer in table.peers
        if peer.up
    )


def calling(peer: Peer) -> str | None:
    """Low cards are played, and whoever can beat one does."""
    moves = peer.session.legal_moves()
    calls = [move for move in moves if move.startswith("beat")]
    return (calls or moves or [None])[0]


# --- calls -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_f87_a_call_racing_the_last_pass_has_one_result(seed: int) -> None:
    """Messages arrive in any order, so at some peer the call comes before the last pass and at another after it."""
    table = Table(3, seed=seed, options=OPTIONS)
    table.shuffle = True
    dice = random.Random(seed)

    def play(peer: Peer) -> str | None:
        moves = peer.session.legal_moves()
        return dice.choice(moves) if moves else None

    table.play = play
    table.run()
    ruled = [events_of(peer, events.Ruled) for peer in table.peers]
    assert ruled[0] == ruled[1] == ruled[2]
    assert ruled[0]
    one_log(table)
    nobody_is_accused(table)


def test_f87_the_order_of_arrival_of_a_call_and_a_pass_does_not_matter() -> None:
    heads = set()
    for first in (0, 1):
        table = Table(3, options=OPTIONS, play=calling)
        table.run(until=lambda table=table: all_at(table, "sealed"))  # type: ignore[misc]
        course = table.peers[0].session._steps.course
        assert course.window is not None
        after = table.peers[course.window.after]
        others = [table.peers[seat] for seat in course.window.seats]
        # What the two sealed reaches the third peer in this order and in the other.
        held: list[tuple[int, bytes]] = []
        table.lose = lambda source, target, message, after=after, held=held: (  # type: ignore[misc]
            target == after.seat and (held.append((source, message)) or True)
        )
        table.run(until=lambda others=others, held=held: len({source for source, _ in held}) == len(others))  # type: ignore[misc]
        table.lose = lambda source, target, message: False
        for peer in (others[first], others[1 - first]):
            for number, ends in table.links.items():
                if set(ends) == {peer.seat, after.seat}:
                    for source, message in held:
                        if source == peer.seat:
                            after.session.received(number, message, table.now)
                            after.carry_out()
        table.run(until=lambda after=after: bool(events_of(after, events.Ruled)))  # type: ignore[misc]
        table.run()
        heads.add(one_log(table).head)
    assert len(heads) == 1


def test_f88_of_three_simultaneous_calls_the_nearest_to_the_left_wins() -> None:
    seen = 0
    for seed in range(6):
        table = Table(4, seed=seed, options=OPTIONS, play=calling)
        table.run()
        for peer in table.peers:
            for ruled in events_of(peer, events.Ruled):
                callers = [seat for seat, text in ruled.answers if text.startswith("beat")]
                assert ruled.winner == (callers[0] if callers else None)
                seen += len(callers) == 3
    assert seen >= 4, "no window had three callers: the case was not played"


def test_f89_a_call_after_the_window_is_closed_is_refused_and_shown() -> None:
    """Seat 0 is cut off while the others close the window without it; its call comes too late."""
    table = Table(4, options=OPTIONS)
    table.run(until=lambda: all_at(table, "sealed"))
    course = table.peers[0].session._steps.course
    assert course.window is not None
    late = course.window.seats[0]
    step = course.step
    table.lose = lambda source, target, message: source == late
    others = [peer for peer in table.peers if peer.seat != late]
    table.run(until=lambda: all(peer.session.step > step + 3 for peer in others), seconds=600)
    for peer in others:
        assert (late, "pass") in events_of(peer, events.Ruled)[0].answers
    (mine,) = {entry.id: entry for entry in sent(table.peers[late]) if entry.kind is Kind.SEALED}.values()
    before = [(peer.session.head, peer.session.step) for peer in others]
    for peer in others:
        tell(peer, mine, source=late)
    assert [(peer.session.head, peer.session.step) for peer in others] == before
    table.lose = lambda source, target, message: False
    table.run(seconds=900)
    shown = events_of(table.peers[late], events.SeatAbsent)
    assert (shown[0].seat, shown[0].step, shown[0].dropped) == (late, step, False)
    nobody_is_accused(table)
    one_log(table)


def test_f89_an_answer_that_is_chosen_too_late_is_refused_at_home() -> None:
    table = Table(2, options=OPTIONS)
    table.run(until=lambda: all_at(table, "sealed"))
    session = next(peer.session for peer in table.peers if peer.session.owes)
    table.play = lambda peer: "pass" if peer.session is session and session.stage.value == "sealed" else None
    table.run(until=lambda: session.stage.value == "move")
    with pytest.raises((Refused, LocalProtocolError)):
        session.move("beat 3", table.now)
    assert session.take_effects() == []


def sent(peer: Peer) -> list[Entry]:
    said = (gossip.read(message) for message in peer.sent)
    entries = [
        from_value(value) for each in said if isinstance(each, gossip.Entries) for value in each.entries
    ]
    return [entry for entry in entries if entry.seat == peer.seat]


# --- time ------------------------------------------------------------------------------------------------


def test_f90_all_timeouts_fire_together() -> None:
    """Three peers lose patience with the fourth in one instant, before any of them has heard of another's."""
    table = Table(4, options=OPTIONS)
    table.run(until=lambda: all_at(table, "move", 3))
    table.run(until=lambda: not table.queue)
    table.crash(3)
    table.run(until=lambda: not table.queue)
    while not any(asks_for_a_round(peer) for peer in table.peers[:3]):
        table.now = min(peer.timer for peer in table.peers[:3] if peer.timer is not None)
        for peer in table.peers[:3]:
            peer.session.tick(table.now)
            peer.carry_out()
        if not any(asks_for_a_round(peer) for peer in table.peers[:3]):
            table.run(until=lambda: not table.queue)
    assert all(asks_for_a_round(peer) for peer in table.peers[:3])
    table.run()
    assert one_log(table).dropped == (3,)
    nobody_is_accused(table)


def asks_for_a_round(peer: Peer) -> bool:
    return any(entry.kind is Kind.ROUND_CHANGE for entry in sent(peer))


def test_f91_a_peer_that_is_ten_times_slower_than_the_others_is_waited_for() -> None:
    table = Table(4, options=OPTIONS)
    slow, turn = 2, 0
    honest_step = table.step

    def step() -> bool:
        """Of what is under way, the slow peer takes one thing for every ten that the others take."""
        nonlocal turn
        turn += 1
        quick = [at for at, item in enumerate(table.queue) if item[1] != slow]
        if quick and turn % 10:
            table.queue.rotate(-quick[0])
        return honest_step()

    table.step = step  # type: ignore[method-assign]
    table.run()
    assert one_log(table).dropped == ()
    assert not any(events_of(peer, events.SeatAbsent) for peer in table.peers)
    nobody_is_accused(table)


def test_w7_a_timer_that_was_set_in_one_hand_does_nothing_in_the_next() -> None:
    table = Table(3, options={"bids": "no", "hands": "2"})
    timers: list[float] = []

    def hand_two() -> bool:
        timers.extend(peer.timer for peer in table.peers if peer.timer is not None)
        return all(
            events_of(peer, events.HandBegan)[-1:] == [events.HandBegan(hand=2, seats=(0, 1, 2))]
            for peer in table.peers
        )

    table.run(until=hand_two)
    before = [(peer.session.head, peer.session.step, peer.session.waiting_for) for peer in table.peers]
    for at in sorted({timer for timer in timers if timer <= table.now + 9}):
        for peer in table.peers:
            peer.session.tick(at)
            peer.carry_out()
    assert [
        (peer.session.head, peer.session.step, peer.session.waiting_for) for peer in table.peers
    ] == before
    table.run()
    assert not any(
        events_of(peer, events.SeatAbsent) or events_of(peer, events.Suspended) for peer in table.peers
    )
    one_log(table)


# --- restarts --------------------------------------------------------------------------------------------


def own(peer: Peer, kind: Kind) -> list[Entry]:
    """What of this kind is in the journal, as far as it is on the disk."""
    read = [read_record(data, number=number) for number, data in enumerate(peer.journal[: peer.synced])]
    return [one.entry for one in read if isinstance(one, OwnRecord) and one.entry.kind is kind]


@pytest.mark.parametrize("kind", [Kind.PREVOTE, Kind.PRECOMMIT])
@pytest.mark.parametrize("seat", [0, 1, 2])
def test_f23_a_crash_between_vote_and_lock_makes_no_second_vote(seat: int, kind: Kind) -> None:
    """The vote is on the disk; what followed it, and what others had sent, is lost."""
    table = Table(4, options=OPTIONS)
    table.run(until=lambda: all_at(table, "move", 3))
    table.run(until=lambda: not table.queue)
    table.crash(3)
    peer = table.peers[seat]
    table.run(until=lambda: bool(own(peer, kind)), seconds=200)
    (vote,) = own(peer, kind)
    table.crash(seat, torn=True)
    table.queue.clear()
    table.restart(seat, [other for other in range(3) if other != seat])
    table.run(seconds=600)
    assert one_log(table).dropped == (3,)
    nobody_is_accused(table)
    said: dict[Any, bytes] = {}
    for entry in [*own(peer, Kind.PREVOTE), *own(peer, Kind.PRECOMMIT), *sent(peer)]:
        assert said.setdefault(entry.key, entry.id) == entry.id
    assert said[vote.key] == vote.id


def test_f61_w1_a_turn_that_was_sent_cannot_be_done_again_by_killing_the_program() -> None:
    table = Table(3, options=OPTIONS)
    table.run(until=lambda: all_at(table, "move"))
    (seat,) = table.peers[0].session._steps.course.due.seats
    peer = table.peers[seat]
    table.play = lambda player: None
    table.run(until=lambda: not table.queue)
    step = peer.session.step
    peer.session.move("draw", table.now)
    peer.carry_out()
    (move,) = [entry for entry in own(peer, Kind.MOVE) if entry.step == step]
    # It is on the disk, and nothing of it has left: the process is killed, and the player has second thoughts.
    table.queue.clear()
    table.crash(seat, torn=True)
    table.restart(seat)
    assert not (peer.session.step == step and peer.session.owes)
    if peer.session.step == step:
        with pytest.raises((Refused, LocalProtocolError)):
            peer.session.move("play 1", table.now)
    table.play = table.random_move
    table.run()
    one_log(table)
    moves = {
        entry.id
        for other in table.peers
        for entry in sent(other)
        if (entry.kind, entry.step) == (Kind.MOVE, step)
    }
    assert moves == {move.id}
    nobody_is_accused(table)


def test_w2_a_journal_of_zero_bytes_is_fetched_again_from_the_others() -> None:
    table = Table(3, options=OPTIONS)
    table.run(until=lambda: all_at(table, "move"))
    table.run(until=lambda: not table.queue)
    table.crash(1)
    table.peers[1].journal, table.peers[1].synced, table.peers[1].doubt = [], 0, True
    table.restart(1)
    table.run()
    assert one_log(table).dropped == ()
    nobody_is_accused(table)


def test_f34_a_peer_whose_journal_is_in_doubt_does_not_vote_either() -> None:
    """It voted that a seat is absent, lost its journal, and comes back to neighbours that it cannot reach yet.

    Two neighbours are not enough either, however long it lasts: the seat that is away may be the only one that got a vote.
    """
    table = Table(4, options=OPTIONS)
    table.run(until=lambda: all_at(table, "move", 3))
    table.run(until=lambda: not table.queue)
    table.crash(3)
    peer = table.peers[0]
    table.run(until=lambda: bool(own(peer, Kind.PREVOTE)), seconds=200)
    (vote,) = own(peer, Kind.PREVOTE)
    table.run(until=lambda: vote.id in table.peers[1].session._steps.shelf)
    said = own_ids(peer)
    table.crash(0)
    cut = next(number for number, data in enumerate(peer.journal) if is_own(data, number, Kind.ROUND_CHANGE))
    peer.journal, peer.doubt, before = peer.journal[:cut], True, len(peer.sent)
    peer.synced = cut
    table.restart(0, ())
    for _ in range(100):
        table.now += 5.0
        peer.session.tick(table.now)
        peer.carry_out()
    signed = own_ids(peer)
    assert signed == {entry.id for entry in own_before(peer, cut)}, "nothing is signed"
    assert len(peer.sent) == before
    for seat in (1, 2):
        table.link(0, seat)
    with pytest.raises(AssertionError, match=r"nothing moves|not done"):
        table.run(seconds=3600)
    assert own_ids(peer) <= said
    assert vote.id in own_ids(peer), "which it has got back from the others"
    (why,) = {(event.why, event.seats) for event in events_of(peer, events.Suspended)[-1:]}
    assert why == (events.Pause.DOUBT, (3,))
    table.restart(3)
    table.run(seconds=900)
    one_log(table)
    nobody_is_accused(table)
    assert {entry.id for entry in own(peer, Kind.PREVOTE) if entry.key == vote.key} <= {vote.id}


def own_before(peer: Peer, number: int) -> list[Entry]:
    read = [read_record(data, number=at) for at, data in enumerate(peer.journal[:number])]
    return [one.entry for one in read if isinstance(one, OwnRecord)]


def own_ids(peer: Peer) -> set[bytes]:
    return {entry.id for entry in own_before(peer, len(peer.journal))}


def is_own(data: bytes, number: int, kind: Kind) -> bool:
    record = read_record(data, number=number)
    return isinstance(record, OwnRecord) and record.entry.kind is kind


def test_w8_a_player_that_comes_back_sees_its_own_hand() -> None:
    table = Table(3, options=OPTIONS)
    table.run(until=lambda: all_at(table, "move"))
    table.run(until=lambda: not table.queue)
    for peer in table.peers:
        hand = dict(peer.session.faces)
        assert set(hand) == set(peer.session.game.hidden(peer.seat))
        table.crash(peer.seat)
        table.restart(peer.seat)
        assert dict(peer.session.faces) == hand, "before anybody has been heard"


# --- alone -----------------------------------------------------------------------------------------------


def test_w5_a_connection_that_is_lost_makes_nobody_win() -> None:
    table = Table(2, options=OPTIONS)
    table.run(until=lambda: all_at(table, "move"))
    for number in list(table.links):
        table.unlink(0, number)
    with pytest.raises(AssertionError, match=r"nothing moves|not done"):
        table.run(seconds=100_000)
    for peer in table.peers:
        for kind in (events.SeatDropped, events.SeatAbsent, events.GameOver, events.HandOver):
            assert not events_of(peer, kind)
    assert any(events_of(peer, events.Suspended) for peer in table.peers)
    table.link(0, 1)
    table.run()
    assert one_log(table).dropped == ()


def test_w10_two_that_hold_different_histories_take_nothing_from_each_other_any_more() -> None:
    """One of two players shows the other another discard than it keeps itself, both of them legal."""
    table = Table(2, options=OPTIONS, seed=3)
    twins = Twins(table)
    twins.lie(1, Kind.MOVE, twins.other_discard, (0,), when=is_discard)
    table.run(until=lambda: bool(twins.pairs))
    step = twins.pairs[0][0].step
    with pytest.raises(AssertionError, match=r"nothing moves|not done"):
        table.run(seconds=45 * 60)
    for peer in table.peers:
        # What it owes alone it has signed; nothing of the other's stands on its own version, and nothing is final.
        later = peer.session._steps.ledger.closed[step + 1 :]
        assert {entry.seat for closed in later for entry in closed.entries} <= {peer.seat}
        assert peer.session.final <= step
        assert [found.seat for found in events_of(peer, events.EvidenceFound)] == [1]
    assert (
        table.peers[0].session._steps.ledger.closed[step].head
        != table.peers[1].session._steps.ledger.closed[step].head
    )
