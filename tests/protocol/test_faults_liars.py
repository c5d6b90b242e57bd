"""Seats that say what they must not: every honest peer reaches one verdict, keeps the proof, and plays on without them.

The numbers are those of the fault catalogue (docs/faults.md).
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any

import pytest

from protocol import events, evidence
from protocol.course import Course
from protocol.entry import Entry, Kind
from protocol.events import Accusation
from protocol.verify import Summary, verify_log
from tests.protocol.liars import Twins, honest_are_over, like, tell
from tests.protocol.tables import Peer, Table, events_of
from tests.protocol.toy_game import toy_game


def honest(table: Table, *liars: int) -> list[Peer]:
    return [peer for peer in table.peers if peer.seat not in liars]


def convicted(table: Table, liar: int, accusation: Accusation, reason: str) -> list[bytes]:
    """Every honest peer has this one verdict and no other, and its file convinces a stranger.  Returns the files."""
    files = []
    for peer in honest(table, liar):
        (found,) = events_of(peer, events.EvidenceFound)
        assert (found.seat, found.accusation, found.reason) == (liar, accusation, reason)
        verdict = evidence.check(found.data, toy_game, table.decks, os.urandom)
        assert (verdict.seat, verdict.accusation, verdict.reason) == (liar, accusation, reason)
        assert verdict.table == table.agreement.table
        assert peer.session.exposed == (liar,)
        files.append(found.data)
    return files


def one_log(table: Table, *liars: int) -> Summary:
    logs = [peer.public for peer in honest(table, *liars)]
    assert all(log == logs[0] for log in logs)
    summary = verify_log(logs[0], toy_game, table.decks, os.urandom)
    assert summary.finished
    return summary


def other_move(course: Course, body: Any) -> dict[str, Any]:
    """Another text in the place of the move's."""
    return {"body": [body[0] + " again", *body[1:]]}


def other_discard(course: Course, body: Any) -> dict[str, Any]:
    """Another card of the same hand, properly opened."""
    voice: Any = OWN[course.due.seats[0]].session._voice
    faces = voice.own.faces(course)
    card = next(card for card in sorted(faces.values()) if f"play {card}" != body[0])
    return {"body": voice.own.move_body(course, f"play {card}")}


OWN: dict[int, Peer] = {}


def is_discard(course: Course) -> bool:
    """A card is to be played, and there is a choice."""
    return course.game.drawn and len(course.game.hidden(course.due.seats[0])) > 1  # type: ignore[attr-defined, no-any-return]


def liars_table(seats: int = 4, **more: Any) -> tuple[Table, Twins]:
    table = Table(seats, options={"bids": "no", "hands": "2"}, **more)
    OWN.clear()
    OWN.update({peer.seat: peer for peer in table.peers})
    return table, Twins(table)


# --- two things in one place -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "to", [(0,), (0, 1), (0, 1, 2)], ids=["shown to one", "shown to two", "shown to all"]
)
@pytest.mark.parametrize("seed", range(3))
def test_f41_n33_two_discards_in_one_step(seed: int, to: Collection[int]) -> None:
    table, twins = liars_table(seed=seed)
    twins.lie(3, Kind.MOVE, other_discard, to, when=is_discard)
    table.run(until=honest_are_over(table, 3), seconds=900)
    (pair,) = twins.pairs
    for data in convicted(table, 3, Accusation.EXPOSED, "equivocation"):
        assert all(entry.content in data for entry in pair)
    assert 3 in one_log(table, 3).dropped
    (halted,) = events_of(table.peers[3], events.Halted)
    assert halted.reason == "own_key_misused"


def test_f41_a_second_move_on_a_head_that_nobody_holds_is_as_if_it_had_not_been_sent() -> None:
    """It convicts nobody, since nobody can prove that there is no such head; and it moves nothing."""
    table, twins = liars_table()
    twins.lie(3, Kind.MOVE, lambda course, body: {"prev": bytes(32)}, (0, 1), when=is_discard)
    table.run()
    assert len(twins.pairs) == 1
    for peer in table.peers:
        assert not events_of(peer, events.EvidenceFound)
        assert not events_of(peer, events.SeatAbsent), "the others passed the real move on in time"
    assert one_log(table).dropped == ()


def test_f41_an_honest_seat_that_went_over_to_the_other_side_is_in_no_evidence() -> None:
    """It has signed one step on two heads in one epoch: docs/adr/005-said-once.md."""
    table, twins = liars_table()

    def at_the_discard(peer: Peer) -> bool:
        course = peer.session._steps.course
        return peer.session.stage.value == "move" and course.due.seats == (3,) and is_discard(course)

    table.play = lambda peer: None if peer.seat == 3 and at_the_discard(peer) else table.random_move(peer)
    table.run(until=lambda: all(map(at_the_discard, table.peers)))
    twins.lie(3, Kind.MOVE, other_discard, (2,))
    signed = watch_signatures(table.peers[2])
    # Seat 2 hears the liar alone until all have answered: it on the liar's second move, the others on the first.
    table.lose = lambda source, target, message: 2 in (source, target) and 3 not in (source, target)
    table.play = table.random_move
    step = table.peers[2].session.step + 1
    table.run(until=lambda: bool(signed) and all(peer.session.step == step for peer in table.peers))
    assert table.peers[2].session.head != table.peers[0].session.head
    table.run(until=lambda: all(len(peer.session._steps.held()) >= 2 for peer in table.peers[:2]))
    table.lose = lambda source, target, message: False
    table.run(until=honest_are_over(table, 3), seconds=900)
    sealed = [entry for entry in signed if (entry.epoch, entry.step, entry.kind) == (0, step, Kind.SEALED)]
    assert len({entry.prev for entry in sealed}) == 2, "it has answered on both heads"
    convicted(table, 3, Accusation.EXPOSED, "equivocation")
    one_log(table, 3)


def watch_signatures(peer: Peer) -> list[Entry]:
    """Every step entry that this peer signs from now on."""
    voice: Any = peer.session._voice
    honest_sign, signed = voice.sign, []

    def sign(course: Course, kind: Kind, body: Any) -> Entry:
        entry: Entry = honest_sign(course, kind, body)
        signed.append(entry)
        return entry

    voice.sign = sign
    return signed


def test_f41_versions_without_end_do_not_keep_out_the_one_that_the_others_have() -> None:
    """A liar sends one seat three moves on heads that nobody holds, before the others get its real one."""
    table, _ = liars_table()
    table.run(until=lambda: table.peers[0].session.stage.value == "shares")
    due = max(peer.session.step for peer in table.peers)
    for ahead in range(1, 8):
        for version in range(6):
            body = [f"junk {version}", [], []]
            entry = crafted(table, 3, Kind.MOVE, due + ahead, body, bytes([version]) * 32)
            tell(table.peers[0], entry, source=3)
    kept = table.peers[0].session._steps.shelf
    assert all(len(kept.of_step(due + ahead)) <= 4 for ahead in range(1, 8))
    table.run()
    assert not any(events_of(peer, events.SeatAbsent) for peer in table.peers)
    one_log(table)


def crafted(
    table: Table, seat: int, kind: Kind, step: int, body: Any, prev: bytes, *, epoch: int = 0
) -> Entry:
    some = next(entry for entry in OWN[seat].session._steps.entries_of(0) if entry.seat == seat)
    return like(some, kind=kind, step=step, body=body, prev=prev, epoch=epoch)


# --- two shuffles ----------------------------------------------------------------------------------------


def other_shuffle(course: Course, body: Any) -> dict[str, Any]:
    return {"body": [body[0][::-1]]}


def false_complaint(course: Course, body: Any) -> dict[str, Any]:
    return {"kind": Kind.COMPLAINT, "body": 0}


@pytest.mark.parametrize("change", [other_shuffle, false_complaint])
def test_n22_a_second_shuffle_or_a_complaint_beside_it_is_evidence(change: Any) -> None:
    table, twins = liars_table()
    twins.lie(3, Kind.SHUFFLE, change, (0,))
    table.run(until=honest_are_over(table, 3), seconds=900)
    ((first, second),) = twins.pairs
    assert evidence.contradiction(first, second) == "equivocation"
    for peer in honest(table, 3):
        assert peer.session.exposed == (3,)
        for found in events_of(peer, events.EvidenceFound):
            assert evidence.check(found.data, toy_game, table.decks, os.urandom).seat == 3
    assert 3 in one_log(table, 3).dropped
