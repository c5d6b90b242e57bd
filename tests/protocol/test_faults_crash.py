"""Faults of a process and its disk, at the instant that they name: before and after a sync, between a commitment and its
opening, stopped for a minute, out of disk.  The numbers are those of docs/faults.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from trio.testing import MockClock

from protocol import effects as fx
from protocol import events, gossip, journal
from protocol.dealing import Decks, RealDecks
from protocol.entry import Entry, Kind, from_value
from protocol.events import CardsSeen, Halted, SeatDropped
from protocol.fast_deck import FastDecks
from protocol.journal import DiskFailed, Journal
from protocol.peer.memory import MemoryNetwork
from protocol.verify import Summary, verify_log
from tests.protocol.liars import is_discard, like, tell
from tests.protocol.peers import OFFER, company, resuming, seat_all, until
from tests.protocol.tables import Peer, Table, events_of
from tests.protocol.toy_game import toy_game

OPTIONS = {"bids": "no"}


def one_log(table: Table) -> Summary:
    """Everybody has one log, it verifies to the end, and nobody is accused."""
    logs = [peer.public for peer in table.peers if peer.up]
    assert all(log == logs[0] for log in logs)
    for peer in table.peers:
        assert not events_of(peer, events.EvidenceFound)
        assert not events_of(peer, events.LinkRefused)
    summary = verify_log(logs[0], toy_game, table.decks, os.urandom)
    assert summary.finished
    return summary


def sent(table: Table, seat: int, step: int, kind: Kind) -> set[bytes]:
    """The ids of what this seat's entry to a step was in all messages of all peers."""
    said = (gossip.read(message) for peer in table.peers for message in peer.sent)
    values = (value for each in said if isinstance(each, gossip.Entries) for value in each.entries)
    entries = (from_value(value) for value in values)
    return {entry.id for entry in entries if (entry.seat, entry.step, entry.kind) == (seat, step, kind)}


def at_a_choice(table: Table) -> Peer:
    """Run until somebody is on turn that may play one of two cards; everybody has heard everything."""

    def chooser() -> Peer | None:
        course = table.peers[0].session._steps.course
        if course.stage.value != "move" or table.queue or not is_discard(course):
            return None
        peer = table.peers[course.due.seats[0]]
        return peer if len(set(peer.session.legal_moves())) > 1 else None

    honest, table.play = table.play, lambda peer: None if chooser() else honest(peer)
    table.run(until=lambda: chooser() is not None)
    table.play = honest
    peer = chooser()
    assert peer is not None
    return peer


# --- the instant of a crash ------------------------------------------------------------------------------


def test_f20_a_move_that_was_not_on_the_disk_leaves_no_trace_and_may_be_another_one() -> None:
    table = Table(3, options=OPTIONS)
    peer = at_a_choice(table)
    step, (first, second, *_) = peer.session.step, peer.session.legal_moves()
    peer.session.move(first, table.now)
    asked = peer.session.take_effects()  # the power fails before any of it is carried out
    assert next(type(effect) for effect in asked if isinstance(effect, fx.Record | fx.Send)) is fx.Record
    table.crash(peer.seat, torn=True)
    table.restart(peer.seat)
    table.play = lambda player: None
    table.run(until=lambda: peer.session.step == step and not table.queue)
    assert peer.session.owes, "it is asked again"
    table.play = table.random_move
    peer.session.move(second, table.now)
    peer.carry_out()
    table.run()
    one_log(table)
    for other in table.peers:
        assert [event.text for event in events_of(other, events.MoveMade) if event.step == step] == [second]
    assert len(sent(table, peer.seat, step, Kind.MOVE)) == 1


def test_f20_records_that_were_appended_and_not_synced_are_lost_without_doubt(tmp_path: Path) -> None:
    """The file as a power cut leaves it: as long as it was at the last sync, or with part of what came after."""
    path = tmp_path / "journal"
    opened = Journal.open(path)
    opened.append([b"synced"], sync=True)
    durable = path.stat().st_size
    opened.append([b"not synced"], sync=False)
    opened.close()
    whole = path.read_bytes()
    for length in range(durable, len(whole)):
        path.write_bytes(whole[:length])
        again = Journal.open(path)
        assert (again.records, again.doubt) == ((b"synced",), "")
        again.close()


@pytest.mark.parametrize("reached", [0, 1, 2])
def test_f21_f22_a_move_that_reached_some_is_the_one_that_all_get(reached: int) -> None:
    """The process dies when the move is on the disk and has left on so many of its three links."""
    table = Table(4, options=OPTIONS)
    peer = at_a_choice(table)
    step, first = peer.session.step, peer.session.legal_moves()[0]
    peer.session.move(first, table.now)
    left = reached
    for effect in peer.session.take_effects():
        if isinstance(effect, fx.Record):
            peer.journal.append(effect.data)
            peer.synced = len(peer.journal)
        elif isinstance(effect, fx.Send) and left:
            left -= 1
            peer.sent.append(effect.message)
            table.post(peer.seat, effect.link, effect.message)
    assert left == 0
    table.run(until=lambda: not table.queue)
    table.crash(peer.seat, torn=True)
    table.restart(peer.seat)
    table.run()
    assert one_log(table).dropped == ()
    for other in table.peers:
        if other is not peer:  # what the journal knew at the restart is not told again
            assert [event.text for event in events_of(other, events.MoveMade) if event.step == step] == [
                first
            ]
    assert len(sent(table, peer.seat, step, Kind.MOVE)) == 1


@pytest.mark.parametrize("decks", [FastDecks(), RealDecks()], ids=["stand-in", "real deck"])
def test_f25_a_key_share_that_was_committed_to_is_revealed_after_a_restart(decks: Decks) -> None:
    table = Table(3, options=OPTIONS, decks=decks)
    victim = table.peers[1]
    table.run(until=lambda: any(entry.kind is Kind.COMMIT for entry in own_entries(victim)))
    table.crash(1, torn=True)
    table.run(until=lambda: not table.queue)
    table.restart(1)
    table.run()
    assert one_log(table).dropped == ()
    committed = [entry for entry in own_entries(victim) if entry.kind is Kind.COMMIT]
    assert len(committed) == 1
    assert not any(events_of(peer, events.SeatAbsent) for peer in table.peers)


def test_f25_a_call_that_was_sealed_is_opened_after_a_restart() -> None:
    """The caller dies between its sealed answer and its opening; the answer comes from its journal and wins."""
    table = Table(3, options=OPTIONS)

    def play(peer: Peer) -> str | None:
        moves = peer.session.legal_moves()
        return next((move for move in moves if move.startswith("beat")), moves[0] if moves else None)

    table.play = play
    sealed: list[Peer] = []

    def caller_has_sealed() -> bool:
        for peer in table.peers:
            answers = (answer[0] for answer in peer.session._voice.own._answers.values())  # type: ignore[union-attr]
            if any(text.startswith("beat") for text in answers) and peer.session.stage.value == "sealed":
                sealed[:] = [peer]
        return bool(sealed)

    table.run(until=caller_has_sealed)
    (caller,) = sealed
    table.crash(caller.seat, torn=True)
    table.run(until=lambda: not table.queue)
    table.restart(caller.seat)
    table.run(until=lambda: all(events_of(peer, events.Ruled) for peer in table.peers))
    for peer in table.peers:
        answers = dict(events_of(peer, events.Ruled)[0].answers)
        assert answers[caller.seat].startswith("beat")
        assert not events_of(peer, events.AnswerVoid)
    table.run()
    one_log(table)


def own_entries(peer: Peer) -> list[Entry]:
    return [
        entry
        for step in range(peer.session.step + 1)
        for entry in peer.session._steps.entries_of(step)
        if entry.seat == peer.seat
    ]


# --- a process that stands still ------------------------------------------------------------------------


def stopped(table: Table, seat: int, seconds: float, *, until: Callable[[], bool] = lambda: False) -> None:
    """SIGSTOP and SIGCONT: what is sent to it waits in the kernel, its timers are late, its links stay up."""
    peer = table.peers[seat]
    kept: list[tuple[int, bytes]] = []

    def wait(source: int, target: int, message: bytes) -> bool:
        if target == seat:
            kept.append((source, message))
        return target == seat

    table.lose = wait
    peer.up, waking = False, table.now + seconds
    while table.now < waking and not until():
        if not table.step():
            timers = [other.timer for other in table.peers if other.up and other.timer is not None]
            table.now = min([*timers, waking])
            for other in table.peers:
                if other.up and other.timer is not None and other.timer <= table.now:
                    other.timer = None
                    other.session.tick(table.now)
                    other.carry_out()
    table.lose = lambda source, target, message: False
    peer.up = True
    for source, message in kept:
        for number, ends in list(table.links.items()):
            if set(ends) == {source, seat}:
                peer.session.received(number, message, table.now)
                peer.carry_out()
    peer.session.tick(table.now)
    peer.carry_out()


def test_f28_a_process_that_is_stopped_for_a_minute_goes_on_where_it_stood() -> None:
    table = Table(3, options=OPTIONS, turn_ms=120_000, step_ms=120_000)
    table.run(until=lambda: all(peer.session.stage.value == "move" for peer in table.peers))
    stopped(table, 1, 60.0)
    table.run()
    assert one_log(table).dropped == ()
    assert not any(events_of(peer, events.SeatAbsent) for peer in table.peers)


def test_f28_a_process_that_is_stopped_for_longer_than_its_turn_learns_that_the_others_went_on() -> None:
    """All its timers are over when it wakes, and nothing that it then says is held against it."""
    table = Table(4, options={"bids": "no", "hands": "3"}, turn_ms=5_000, step_ms=2_000)
    table.run(until=lambda: all(peer.session.stage.value == "move" for peer in table.peers))
    stopped(table, 1, 60.0, until=lambda: bool(events_of(table.peers[0], events.SeatDropped)))
    assert events_of(table.peers[0], events.SeatDropped)
    table.run(seconds=2000)
    assert 1 in one_log(table).dropped
    assert events_of(table.peers[0], events.SeatReturned)[0].seat == 1


# --- disks ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("told", ["f35 the disk is full", "f36 the disk reports an error", "f37 read-only"])
async def test_f35_f36_f37_a_peer_whose_disk_fails_halts_and_comes_back_when_it_is_mended(
    autojump_clock: MockClock,
    no_threads: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    killing: Callable[[Any], None],
    told: str,
) -> None:
    async with company(tmp_path, 4) as (players, nursery):
        network = MemoryNetwork()
        offer = replace(OFFER, seats=4, options=(("hands", "2"), ("rounds", "1")))
        await seat_all(network, players, nursery, offer)
        victim, others = players[2], [players[0], players[1], players[3]]
        for player in players:
            player.leaves_when_over = False
        await until(lambda: all(player.of(CardsSeen) for player in players))
        broken = victim.table.log_path.with_name("journal")
        real = journal.Journal.append

        def fail(self: Journal, payloads: Sequence[bytes], *, sync: bool) -> None:
            if self.path == broken:
                raise DiskFailed(told)
            real(self, payloads, sync=sync)

        monkeypatch.setattr(journal.Journal, "append", fail)
        await until(lambda: victim.of(Halted))
        (halted,) = victim.of(Halted)
        assert (halted.reason, halted.message) == ("disk_failed", told)
        await until(lambda: all(player.of(SeatDropped) for player in others), within_seconds=600)
        assert all({event.seat for event in player.of(SeatDropped)} == {2} for player in others)
        monkeypatch.setattr(journal.Journal, "append", real)
        killing(victim)
        await nursery.start(victim.play, resuming(network, victim))
        await until(lambda: all(player.over for player in players), within_seconds=600)
        assert len({player.table.log_path.read_bytes() for player in players}) == 1
        assert not any(player.of(events.EvidenceFound) for player in players)


@pytest.mark.parametrize(
    ("kind", "body"),
    [(Kind.MOVE, ["cheat", [], []]), (Kind.MOVE, []), (Kind.END, []), (Kind.SHOW, [b"", b""])],
)
def test_f34_what_another_program_signs_with_ones_own_key_halts_this_one_and_breaks_nothing(
    kind: Kind, body: Any
) -> None:
    """A copy of the home plays elsewhere, badly: what it signs is judged as anybody's, and the user is told."""
    table = Table(3, options=OPTIONS)
    table.play = lambda peer: None
    table.run(until=lambda: all(peer.session.stage.value == "move" for peer in table.peers))
    table.run(until=lambda: not table.queue)
    course = table.peers[0].session._steps.course
    for peer in (table.peers[course.due.seats[0]], table.peers[(course.due.seats[0] + 1) % 3]):
        mine = next(entry for entry in peer.session._steps.entries_of(0) if entry.seat == peer.seat)
        forged = like(mine, kind=kind, body=body, epoch=course.epoch, step=course.step, prev=course.head)
        tell(peer, forged, source=(peer.seat + 1) % 3)
        (halted,) = events_of(peer, events.Halted)
        assert halted.reason == "own_key_misused"
        assert [found.seat for found in events_of(peer, events.EvidenceFound)] == [peer.seat]
