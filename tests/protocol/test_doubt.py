"""A seat that may have signed what it does not know of signs nothing until all others have told (F34)."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from protocol import events, gossip
from protocol.doubt import RELAY_SECONDS, Doubt, Hearing
from protocol.entry import Entry, Kind
from protocol.records import DoubtRecord, OwnRecord, read_record, write_doubt
from protocol.verify import Summary, verify_log
from tests.protocol.liars import is_discard
from tests.protocol.tables import Peer, Table, events_of
from tests.protocol.toy_game import toy_game

OPTIONS = {"bids": "no"}
NEVER = r"nothing moves|not done"


# --- the machine -----------------------------------------------------------------------------------------


def test_a_seat_has_told_when_an_answer_brings_nothing_new() -> None:
    doubt = Doubt()
    assert doubt.unheard((1, 2)) == (1, 2)
    doubt.asked(1)
    doubt.brought(1)
    assert not doubt.answered(1, 0.0)
    assert doubt.hearing(1) is Hearing.ASKED
    assert doubt.answered(1, 0.1)
    assert doubt.hearing(1) is Hearing.TOLD
    assert doubt.unheard((1, 2)) == (2,)
    assert not doubt.is_to_be_asked(1, 0.1)
    assert doubt.is_to_be_asked(2, 0.1)


def test_what_nobody_asked_for_is_no_answer() -> None:
    doubt = Doubt()
    assert doubt.answered(1, 0.0)
    assert doubt.hearing(1) is Hearing.SILENT


def test_a_seat_whose_link_is_lost_before_it_has_told_is_asked_anew() -> None:
    doubt = Doubt()
    for seat in (1, 2):
        doubt.asked(seat)
    doubt.brought(1)
    assert doubt.answered(2, 0.0)
    for seat in (1, 2):
        doubt.parted(seat)
    assert (doubt.hearing(1), doubt.hearing(2)) == (Hearing.SILENT, Hearing.TOLD)
    doubt.asked(1)
    assert doubt.answered(1, 1.0), "what the lost link brought is not held against the new one"


def test_a_neighbour_tells_for_a_seat_that_it_has_been_linked_to_for_long_enough() -> None:
    doubt = Doubt()
    doubt.asked(1)
    doubt.linked(1, (2, 3), 100.0)
    assert doubt.answered(1, 100.0 + RELAY_SECONDS - 0.1)
    assert doubt.unheard((1, 2, 3)) == (2, 3)
    doubt.linked(1, (2,), 100.0 + RELAY_SECONDS - 0.05)
    doubt.linked(1, (2, 3), 100.0 + RELAY_SECONDS)
    assert doubt.is_to_be_asked(1, 100.0 + RELAY_SECONDS)
    doubt.brought(1)
    assert not doubt.answered(1, 100.0 + RELAY_SECONDS)
    assert doubt.unheard((1, 2, 3)) == (2, 3)
    assert doubt.answered(1, 100.0 + RELAY_SECONDS)
    assert doubt.unheard((1, 2, 3)) == (3,), "the link to 3 was lost in between"


# --- whole tables ----------------------------------------------------------------------------------------


def all_at(table: Table, stage: str, seat: int | None = None) -> bool:
    return all(
        peer.session.stage.value == stage
        and (seat is None or peer.session._steps.course.due.seats == (seat,))
        for peer in table.peers
        if peer.up
    )


def at_a_turn(table: Table, seat: int | None = None) -> None:
    """Let the table come to a turn (of this seat), with nothing under way."""
    table.run(until=lambda: all_at(table, "move", seat))
    table.run(until=lambda: not table.queue)


def lose_journal(peer: Peer, keep: int = 0) -> None:
    """The peer is stopped, and all but the first ``keep`` records of its journal are gone."""
    peer.table.crash(peer.seat)
    peer.journal, peer.doubt = peer.journal[:keep], True
    peer.synced = keep


def own(peer: Peer) -> list[Entry]:
    read = [read_record(data, number=number) for number, data in enumerate(peer.journal)]
    return [one.entry for one in read if isinstance(one, OwnRecord)]


def is_own(data: bytes, kind: Kind) -> bool:
    record = read_record(data, number=0)
    return isinstance(record, OwnRecord) and record.entry.kind is kind


def certain(peer: Peer) -> Callable[[], bool]:
    return lambda: not peer.session._steps.doubtful


def goes_well(table: Table, dropped: tuple[int, ...] = ()) -> Summary:
    """The game comes to its end in one log, and nobody has said two things."""
    table.run(seconds=3600)
    logs = [peer.public for peer in table.peers if peer.up]
    assert all(log == logs[0] for log in logs)
    assert not any(events_of(peer, events.EvidenceFound) for peer in table.peers)
    summary = verify_log(logs[0], toy_game, table.decks, os.urandom)
    assert summary.finished
    assert summary.dropped == dropped
    return summary


def last_pause(peer: Peer) -> tuple[events.Pause, tuple[int, ...]]:
    suspended = events_of(peer, events.Suspended)[-1]
    return suspended.why, suspended.seats


def test_f34_of_two_players_the_other_one_is_enough() -> None:
    table = Table(2, options=OPTIONS)
    at_a_turn(table)
    lose_journal(table.peers[0])
    table.restart(0)
    assert table.peers[0].session._steps.unheard == (1,)
    goes_well(table)
    assert not events_of(table.peers[0], events.Suspended), "it took no longer than a restart does"


def test_f34_no_clock_stands_in_for_a_neighbour_that_does_not_answer() -> None:
    table = Table(2, options=OPTIONS)
    at_a_turn(table)
    lose_journal(table.peers[0])
    table.lose = lambda source, target, message: isinstance(gossip.read(message), gossip.Entries)
    table.restart(0)
    with pytest.raises(AssertionError, match=NEVER):
        table.run(seconds=3600)
    assert own(table.peers[0]) == []
    assert last_pause(table.peers[0]) == (events.Pause.DOUBT, (1,))
    table.lose = lambda source, target, message: False
    goes_well(table)
    assert events_of(table.peers[0], events.Continued)


def test_f34_a_seat_that_is_away_is_waited_for_if_the_others_cannot_drop_it() -> None:
    """Of four, three are a quorum; with one away and one in doubt there are two."""
    table = Table(4, options=OPTIONS)
    at_a_turn(table)
    table.crash(3)
    lose_journal(table.peers[0])
    table.restart(0)
    with pytest.raises(AssertionError, match=NEVER):
        table.run(seconds=3600)
    assert last_pause(table.peers[0]) == (events.Pause.DOUBT, (3,))
    table.restart(3)
    table.run(until=certain(table.peers[0]), seconds=3600)
    table.run(seconds=3600)
    assert not any(events_of(peer, events.EvidenceFound) for peer in table.peers)


def test_f34_a_seat_that_the_others_have_dropped_need_not_tell() -> None:
    """Of six, four are a quorum: without the one in doubt they drop the one that is away, and then the four tell."""
    table = Table(6, options=OPTIONS)
    at_a_turn(table, 5)
    table.crash(5)
    lose_journal(table.peers[0])
    table.restart(0)
    assert table.peers[0].session._steps.doubtful
    goes_well(table, dropped=(5,))
    assert certain(table.peers[0])()


def test_f34_what_a_neighbour_holds_for_a_step_that_it_has_not_reached_is_told_too() -> None:
    """The seat has answered a discard that its neighbour has not seen yet; nobody else has got that answer."""
    table = Table(3, options=OPTIONS)
    table.play = lambda peer: None if is_discard(peer.session._steps.course) else table.random_move(peer)
    table.run(until=lambda: all(is_discard(peer.session._steps.course) for peer in table.peers))
    table.run(until=lambda: not table.queue)
    (discarder,) = table.peers[0].session._steps.course.due.seats
    step = table.peers[0].session.step
    peer, neighbour = table.peers[(discarder + 1) % 3], table.peers[(discarder + 2) % 3]
    lost = {(discarder, neighbour.seat), (peer.seat, discarder)}
    table.lose = lambda source, target, message: (source, target) in lost
    table.play = table.random_move
    table.run(until=lambda: bool(neighbour.session._steps.shelf.ahead(peer.seat, step)))
    (answer,) = neighbour.session._steps.shelf.ahead(peer.seat, step)
    assert (answer.kind, neighbour.session.step) == (Kind.SEALED, step)
    cut = next(number for number, data in enumerate(peer.journal) if is_own(data, Kind.SEALED))
    lose_journal(peer, keep=cut - 1)  # the box with the answer goes before it, and is lost too
    table.lose = lambda source, target, message: False
    table.restart(peer.seat)
    goes_well(table)
    assert [entry.id for entry in own(peer) if entry.step == step + 1 and entry.kind is Kind.SEALED] == [
        answer.id
    ]


def test_f34_a_neighbour_of_both_tells_for_a_seat_without_a_link() -> None:
    """Seat 0 is the only one that can be dialled, so all else goes through it (F8)."""
    table = Table(4, links=[(0, 1), (0, 2), (0, 3)], options=OPTIONS)
    at_a_turn(table)
    lose_journal(table.peers[3])
    began = table.now
    table.play = lambda peer: None  # whoever is on turn thinks for half a minute
    table.restart(3, (0,))
    table.run(until=lambda: 0 not in table.peers[3].session._steps.unheard)
    assert table.peers[3].session._steps.unheard == (1, 2)
    table.run(until=certain(table.peers[3]))
    table.play = table.random_move
    assert RELAY_SECONDS <= table.now - began <= 2 * RELAY_SECONDS
    goes_well(table)


def test_f34_a_restart_does_not_end_a_doubt() -> None:
    table = Table(3, options=OPTIONS)
    at_a_turn(table)
    peer = table.peers[0]
    table.crash(2)
    lose_journal(peer)
    table.restart(0)
    table.run(until=lambda: peer.session._steps.unheard == (2,))
    table.crash(0, torn=True)
    peer.doubt = False  # nothing is wrong with the file any more
    table.restart(0)
    assert peer.session._steps.doubtful
    assert peer.journal.count(write_doubt(True)) == 1
    table.restart(2)
    goes_well(table)
    doubts = [read_record(data, number=number) for number, data in enumerate(peer.journal)]
    assert [one.begins for one in doubts if isinstance(one, DoubtRecord)] == [True, False]
    table.crash(0)
    table.restart(0)
    assert not peer.session._steps.doubtful


@pytest.mark.parametrize("seed", range(3))
def test_f34_a_whole_table_that_was_put_back_from_backups_goes_on(seed: int) -> None:
    table = Table(3, seed=seed, options=OPTIONS)
    at_a_turn(table)
    for peer in table.peers:
        lose_journal(peer, keep=len(peer.journal) * (peer.seat + 1) // 4)
    for peer in table.peers:
        table.restart(peer.seat)
    goes_well(table)
