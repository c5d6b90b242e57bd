"""Seats that keep back what they owe, and messages that come more than once: F16, F50, F51 of docs/faults.md."""

from __future__ import annotations

import os
from typing import Any

import pytest

from protocol import events, gossip
from protocol.canonical import encode
from protocol.entry import Kind, from_value
from protocol.position import Stage
from protocol.verify import Summary, verify_log
from tests.protocol.tables import Table, events_of
from tests.protocol.toy_game import toy_game

OPTIONS = {"bids": "no"}


def one_log(table: Table, *but: int) -> Summary:
    peers = [peer for peer in table.peers if peer.seat not in but]
    assert all(peer.public == peers[0].public for peer in peers)
    summary = verify_log(peers[0].public, toy_game, table.decks, os.urandom)
    assert summary.finished
    return summary


@pytest.mark.parametrize("stage", [Stage.COMMIT, Stage.REVEAL, Stage.SHUFFLE, Stage.SHARES, Stage.SHOW])
def test_f50_a_seat_that_is_there_and_does_not_give_its_part_is_waited_for_and_then_dropped(
    stage: Stage,
) -> None:
    """It answers pings, votes and passes entries on; it only never says what it owes.  That proves nothing against it."""
    table = Table(4, options={"bids": "no", "hands": "2"})
    voice: Any = table.peers[3].session._voice
    honest = voice.next
    voice.next = lambda course, *more: None if course.stage is stage else honest(course, *more)
    others = table.peers[:3]
    before = table.now
    table.run(until=lambda: all(events_of(peer, events.SeatAbsent) for peer in others), seconds=600)
    assert table.now - before >= table.agreement.step_ms / 1000, "it had its time"
    for peer in others:
        waiting = events_of(peer, events.Waiting)
        assert any(event.seats == (3,) for event in waiting), "the user is told for whom it waits"
        absent = events_of(peer, events.SeatAbsent)[0]
        assert (absent.seat, absent.dropped) == (3, True)
    table.run(until=lambda: all(peer.session.over for peer in others), seconds=2000)
    assert 3 in one_log(table, 3).dropped
    for peer in table.peers:
        assert events_of(peer, events.EvidenceFound) == [], "silence is suspected, never proven"


@pytest.mark.parametrize("kind", [Kind.SHARES, Kind.COMMIT, Kind.SHUFFLE, Kind.MOVE, Kind.SHOW])
def test_f51_what_is_withheld_from_one_seat_reaches_it_by_the_others_in_time(kind: Kind) -> None:
    """Seat 3 shows its entries of one kind to everybody but seat 0, for the whole game; all else arrives."""
    table = Table(4, options=OPTIONS)
    kept_back: list[bytes] = []

    def withhold(source: int, target: int, message: bytes) -> bytes:
        said = gossip.read(message)
        if (source, target) != (3, 0) or not isinstance(said, gossip.Entries):
            return message
        entries = [from_value(value) for value in said.entries]
        shown = [entry for entry in entries if (entry.seat, entry.kind) != (3, kind)]
        kept_back.extend(entry.id for entry in entries if entry not in shown)
        return message_of(shown)

    table.alter = withhold
    began = table.now
    table.run()
    assert kept_back, "there was something to withhold"
    assert one_log(table).dropped == ()
    assert table.now - began < table.agreement.step_ms / 1000, "nobody's patience was used up"
    for peer in table.peers:
        assert not events_of(peer, events.SeatAbsent)
        assert not events_of(peer, events.EvidenceFound)


def message_of(entries: list[Any]) -> bytes:
    """An ENTRIES message, of no entries too."""
    return encode([gossip.Message.ENTRIES.value, [entry.value() for entry in entries]])


class Echoing(Table):
    """A net that delivers every message up to three times, and now and then one of long ago."""

    def post(self, seat: int, number: int, message: bytes) -> None:
        history = self.__dict__.setdefault("history", [])
        history.append((seat, number, message))
        for _ in range(self.random.randrange(1, 4)):
            super().post(seat, number, message)
        if self.random.random() < 0.3:
            super().post(*self.random.choice(history))


@pytest.mark.parametrize("seed", range(4))
def test_f16_what_comes_again_or_in_another_order_makes_the_same_game(seed: int) -> None:
    table = Echoing(4, seed=seed, options={"bids": "no", "hands": "2"})
    table.shuffle = True
    table.run()
    assert one_log(table).dropped == ()
    for peer in table.peers:
        assert not events_of(peer, events.LinkRefused)
        assert not events_of(peer, events.EvidenceFound)
        moves = [event.step for event in events_of(peer, events.MoveMade)]
        assert moves == sorted(set(moves)), "no move is made twice"
