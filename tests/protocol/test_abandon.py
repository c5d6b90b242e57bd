"""Two players stop: for days, or for good.  Nobody wins by the other's absence."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from protocol import events
from protocol.abandonment import read_abandonment
from protocol.entry import Entry, Kind
from protocol.events import SeatDropped
from protocol.peer.memory import MemoryNetwork
from protocol.records import OwnRecord, read_record
from protocol.verify import verify_log
from tests.protocol.liars import like, tell
from tests.protocol.peers import all_over, company, resuming, seat_all, until
from tests.protocol.tables import Peer, Table, events_of, identity
from tests.protocol.toy_game import toy_game

HOUR_MS = 3_600_000
NEVER_DONE = "not done"


def wait(table: Table, seconds: float) -> None:
    """So long nothing comes from outside."""
    ends = table.now + seconds
    table.run(until=lambda: table.now >= ends or not pending(table, ends), seconds=seconds + 1)
    table.now = max(table.now, ends)


def pending(table: Table, ends: float) -> bool:
    timers = [peer.timer for peer in table.peers if peer.up and peer.timer is not None]
    return bool(table.queue) or any(timer <= ends for timer in timers)


def records(peer: Peer) -> list[Entry]:
    """The records of an abandoned table in this peer's journal, as far as it is on the disk."""
    read = [read_record(data, number=number) for number, data in enumerate(peer.journal[: peer.synced])]
    return [one.entry for one in read if isinstance(one, OwnRecord) and one.entry.kind is Kind.ABANDON]


def told_to(peer: Peer) -> list[Entry]:
    """The records that this seat's face is told of, as the files say them."""
    entries = []
    for event in events_of(peer, events.Abandoned):
        entry = read_abandonment(event.data).entry
        assert (event.seat, event.step) == (entry.seat, entry.step)
        entries.append(entry)
    return entries


def alone(**more: Any) -> Table:
    """Two seats; seat 1 is gone when it is its turn."""
    table = Table(2, options={"bids": "no"}, **more)
    table.run(
        until=lambda: all(
            peer.session.stage.value == "move" and peer.session._steps.course.due.seats == (1,)
            for peer in table.peers
        )
    )
    table.run(until=lambda: not table.queue)
    table.crash(1)
    return table


def test_a_table_of_two_is_recorded_as_abandoned_after_the_time_agreed_and_not_before() -> None:
    table = alone(abandon_ms=HOUR_MS)
    table.play = lambda peer: None
    table.run(until=lambda: bool(events_of(table.peers[0], events.Suspended)))
    wait(table, 3590)
    assert records(table.peers[0]) == []
    wait(table, 20)
    (record,) = records(table.peers[0])
    session = table.peers[0].session
    assert (record.seat, record.step, record.prev, record.body) == (0, session.step, session.head, [])
    record.verify(identity(0).public_key)
    assert told_to(table.peers[0]) == [record]
    assert not events_of(table.peers[0], events.GameOver), "it is no win"
    wait(table, 100_000)
    assert len(records(table.peers[0])) == 1


def test_an_abandoned_table_says_so_when_it_is_resumed_and_goes_on_if_both_come_back() -> None:
    table = alone(abandon_ms=HOUR_MS)
    table.run(until=lambda: bool(events_of(table.peers[0], events.Abandoned)), seconds=5000)
    (record,) = records(table.peers[0])
    table.crash(0)
    table.now += 3 * 24 * 3600
    table.peers[0].events.clear()
    table.restart(0)
    assert told_to(table.peers[0]) == [record]
    table.restart(1)
    table.run(until=lambda: bool(events_of(table.peers[1], events.Abandoned)))
    assert told_to(table.peers[1]) == [record], "the other learns of it"
    table.run()
    logs = table.logs()
    assert logs[0] == logs[1]
    summary = verify_log(logs[0], toy_game, table.decks, os.urandom)
    assert summary.finished
    assert summary.dropped == ()
    assert records(table.peers[0]) == [record]


@pytest.mark.parametrize(
    ("seats", "more"),
    [(2, {"abandon_ms": 0}), (4, {"abandon_ms": HOUR_MS})],
    ids=["never agreed", "a minority"],
)
def test_nothing_else_is_ever_recorded_as_abandoned(seats: int, more: dict[str, Any]) -> None:
    table = Table(seats, options={"bids": "no"}, **more)
    table.run(until=lambda: table.peers[0].session.stage.value == "move")
    for seat in range(1, seats - 1) if seats > 2 else (1,):
        table.crash(seat)
    with pytest.raises(AssertionError, match=NEVER_DONE):
        table.run(seconds=50_000)
    assert events_of(table.peers[0], events.Suspended)
    assert records(table.peers[0]) == []


@pytest.mark.parametrize("change", [{"body": [1]}, {"step": 0}, {"prev": bytes(32)}, {"round": 1}])
def test_a_record_of_anything_but_the_open_step_is_ignored(change: dict[str, Any]) -> None:
    table = alone(abandon_ms=HOUR_MS)
    table.restart(1)
    table.play = lambda peer: None
    table.run(until=lambda: not table.queue)
    entry = table.peers[1].session._steps.entries_of(0)[1]
    session = table.peers[0].session
    good = like(entry, kind=Kind.ABANDON, body=[], step=session.step, prev=session.head)
    tell(table.peers[0], like(good, **change), source=1)
    assert not events_of(table.peers[0], events.Abandoned)
    tell(table.peers[0], good, source=1)
    assert told_to(table.peers[0]) == [good]


async def test_two_players_adjourn_for_three_days(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    """Leaving is all it takes: both leave in mid-hand, resume days later, and finish the same game."""
    async with company(tmp_path, 2) as (players, nursery):
        network = MemoryNetwork()
        await seat_all(network, players, nursery)
        await until(lambda: all(len(player.of(events.MoveMade)) >= 2 for player in players))
        for player in players:
            player.scope.cancel()
        await trio.sleep(3 * 24 * 3600)
        for player in players:
            player.events.clear()
            await nursery.start(player.play, resuming(network, player))
        await all_over(players)
        for player in players:
            assert not player.of(SeatDropped)
            assert not player.of(events.Abandoned)
