"""Faults of deciding: partisan arbiters, double votes, forged certificates, and calls that race a closing window.

The numbers are those of the fault catalogue (docs/faults.md).  Whole sessions, in memory.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import Any

import pytest

from protocol import events, evidence, gossip
from protocol.arbiter_effects import Cast
from protocol.ballot import ABSENT, make_certificate, read_certificate, read_vote, verify_certificate
from protocol.entry import Entry, Kind, from_value
from protocol.events import Accusation
from protocol.verify import Summary, verify_log
from tests.protocol.liars import honest_are_over, like, tell
from tests.protocol.tables import Peer, Table, events_of, identity
from tests.protocol.toy_game import toy_game

Change = Callable[[Cast], list[Any] | None]


def up(table: Table, *but: int) -> list[Peer]:
    return [peer for peer in table.peers if peer.up and peer.seat not in but]


def one_log(table: Table, *but: int) -> Summary:
    logs = [peer.public for peer in up(table, *but)]
    assert all(log == logs[0] for log in logs)
    summary = verify_log(logs[0], toy_game, table.decks, os.urandom)
    assert summary.finished
    return summary


def nobody_is_accused(table: Table) -> None:
    assert not any(events_of(peer, events.EvidenceFound) for peer in table.peers)


def instead(peer: Peer, kind: Kind, change: Change) -> list[Entry]:
    """Make a seat sign another body for its votes of this kind; returns the votes it has signed so."""
    voice: Any = peer.session._voice
    honest, signed = voice.cast, []

    def cast(effect: Cast) -> Entry:
        body = change(effect) if effect.kind is kind else None
        if body is None:
            return honest(effect)  # type: ignore[no-any-return]
        vote: Entry = honest(dataclasses.replace(effect, body=body))
        signed.append(vote)
        return vote

    voice.cast = cast
    return signed


def votes_of(peer: Peer, kind: Kind) -> list[Entry]:
    """All votes of this kind that a peer has sent, each once."""
    found: dict[bytes, Entry] = {}
    for message in peer.sent:
        said = gossip.read(message)
        if isinstance(said, gossip.Entries):
            for entry in map(from_value, said.entries):
                if entry.kind is kind:
                    found[entry.id] = entry
    return list(found.values())


def everybody_beats(table: Table) -> Callable[[Peer], str | None]:
    """Whoever can beat the card does; whoever plays plays the lowest."""

    def play(peer: Peer) -> str | None:
        moves = peer.session.legal_moves()
        return next((move for move in moves if move.startswith("beat")), moves[0] if moves else None)

    return play


def at_a_window(table: Table, callers: int = 1) -> None:
    """Run until a sealed window is open in which so many seats could call; nobody has answered."""
    game: Any = table.peers[0].session.game

    def reached() -> bool:
        nonlocal game
        game = table.peers[0].session.game
        if not all(peer.session.stage.value == "sealed" for peer in up(table)):
            return False
        return len(can_call(table)) >= callers

    table.play = lambda peer: None if peer.session.stage.value == "sealed" else lowest(peer)
    table.run(until=reached)


def lowest(peer: Peer) -> str | None:
    moves = peer.session.legal_moves()
    return moves[0] if moves else None


def can_call(table: Table) -> list[int]:
    return [
        peer.seat for peer in up(table) if any(move.startswith("beat") for move in peer.session.legal_moves())
    ]


def windowed(seed: int, callers: int = 1, seats: int = 4) -> Table:
    """A table that stands at a window in which ``callers`` seats or more may call."""
    table = Table(seats, seed=seed, options={"bids": "no", "hands": "1", "cards": "40"})
    at_a_window(table, callers)
    return table


# --- arbiters --------------------------------------------------------------------------------------------


def test_f44_an_arbiter_that_leaves_out_a_call_is_refused_and_replaced() -> None:
    assert sum(proposals_that_leave_out_the_call(seed) for seed in range(4)) > 0


def proposals_that_leave_out_the_call(seed: int) -> int:
    """How often the partisan arbiter tried, in a window with one silent seat; the call counts all the same."""
    table = windowed(seed)
    window: Any = table.peers[0].session._steps.course.window
    (caller, *_) = can_call(table)
    silent = next(seat for seat in window.seats if seat != caller)
    partisan = next(seat for seat in range(4) if seat not in (caller, silent, window.after))

    def leave_out(effect: Cast) -> list[Any]:
        closing, certificate = effect.body
        return [[[seat, ABSENT if seat == caller else entry] for seat, entry in closing], certificate]

    altered = instead(table.peers[partisan], Kind.PROPOSAL, leave_out)
    table.play = everybody_beats(table)
    table.crash(silent)
    table.run(until=lambda: all(events_of(peer, events.Ruled) for peer in up(table)), seconds=300)
    for peer in up(table):
        assert caller not in {event.seat for event in events_of(peer, events.SeatAbsent)}
    (ruled,) = events_of(table.peers[caller], events.Ruled)[:1]
    assert dict(ruled.answers)[caller].startswith("beat")
    table.run(seconds=2000)
    one_log(table)
    return len(altered)


def test_f46_an_arbiter_that_proposes_two_closings_is_exposed_and_nobody_is_parted() -> None:
    table = Table(4, options={"bids": "no", "hands": "2"})
    table.run(until=lambda: table.peers[0].session.step >= 14)
    silent = next(iter(table.peers[0].session.waiting_for), 3)
    table.crash(silent)
    twins: dict[bytes, Entry] = {}
    liar: list[int] = []

    def two_faced(source: int, target: int, message: bytes) -> bytes:
        said = gossip.read(message)
        if not isinstance(said, gossip.Entries) or not said.entries:
            return message
        shown = []
        for entry in map(from_value, said.entries):
            if entry.kind is Kind.PROPOSAL and entry.seat == source and target == max(honest_of(source)):
                if not liar:
                    liar.append(source)
                if source == liar[0]:
                    closing = [[seat, b"\7" * 32] for seat, _ in read_vote(entry).closing]
                    entry = twins.setdefault(entry.id, like(entry, body=[closing, []]))
            shown.append(entry)
        return gossip.write_entries(shown)[0]

    def honest_of(source: int) -> list[int]:
        return [peer.seat for peer in up(table) if peer.seat != source]

    table.alter = two_faced
    table.run(until=lambda: bool(liar) and bool(found(table, *liar)), seconds=400)
    table.restart(silent)
    table.run(until=honest_are_over(table, *liar), seconds=3000)
    for peer in up(table, *liar):
        assert {event.seat for event in events_of(peer, events.EvidenceFound)} <= {liar[0]}
    one_log(table, *liar)


def found(table: Table, *liars: int) -> list[events.EvidenceFound]:
    return [event for peer in up(table, *liars) for event in events_of(peer, events.EvidenceFound)]


# --- votes and certificates ------------------------------------------------------------------------------


def test_f43_a_double_vote_is_evidence_at_every_honest_peer() -> None:
    table = Table(4, options={"bids": "no", "hands": "2"})
    table.run(until=lambda: table.peers[0].session.stage.value == "move")
    (silent,) = table.peers[0].session._steps.course.due.seats
    table.crash(silent)
    liar = next(peer for peer in up(table))
    table.run(until=lambda: bool(votes_of(liar, Kind.PREVOTE)), seconds=300)
    (vote,) = votes_of(liar, Kind.PREVOTE)
    other = like(vote, body=[[[silent, b"\7" * 32]], [], [], 0])
    first, *_ = up(table, liar.seat)
    tell(first, other, source=liar.seat)
    honest = up(table, liar.seat)
    table.run(until=lambda: all(events_of(peer, events.EvidenceFound) for peer in honest), seconds=300)
    for peer in honest:
        (event,) = events_of(peer, events.EvidenceFound)
        assert (event.seat, event.accusation, event.reason) == (liar.seat, Accusation.EXPOSED, "double_vote")
        verdict = evidence.check(event.data, toy_game, table.decks, os.urandom)
        assert (verdict.seat, verdict.reason) == (liar.seat, "double_vote")
    table.restart(silent)
    table.run(until=honest_are_over(table, liar.seat), seconds=3000)
    assert liar.seat in one_log(table, liar.seat).dropped


def forged(table: Table, votes: list[Entry]) -> bytes:
    return gossip.write_certificate([vote.value() for vote in votes])


def test_f47_a_forged_certificate_decides_nothing() -> None:
    table = Table(4, options={"bids": "no"})
    table.run(until=lambda: table.peers[0].session.stage.value == "move")
    victim = table.peers[0]
    course: Any = victim.session._steps.course
    (owing,) = course.due.seats
    template = next(entry for entry in victim.session._steps.entries_of(0) if entry.seat == 3)
    place = {"epoch": course.epoch, "step": course.step, "prev": course.head}
    body = [[[owing, ABSENT]], []]
    mine = like(template, kind=Kind.PRECOMMIT, round=1, body=body, **place)

    def pretended(seat: int) -> Entry:
        """A vote in the name of ``seat``, signed by seat 3."""
        honest = like(template, seat=seat, kind=Kind.PRECOMMIT, round=1, body=body, **place)
        return dataclasses.replace(honest, signature=identity(3).sign("entry", honest.content))

    link = next(number for number, ends in table.links.items() if set(ends) == {0, 3})
    for votes in ([mine], [mine, mine, mine], [pretended(1), pretended(2), mine]):
        victim.session.received(link, forged(table, votes), table.now)
        victim.carry_out()
        assert victim.session.step == course.step
        assert not events_of(victim, events.SeatAbsent)
    table.run()
    assert one_log(table).dropped == ()
    nobody_is_accused(table)


def test_f47_what_an_honest_certificate_proves_a_stranger_can_check() -> None:
    table = Table(4, options={"bids": "no"})
    table.run(until=lambda: table.peers[0].session.stage.value == "move")
    course: Any = table.peers[0].session._steps.course
    (silent,) = course.due.seats
    table.crash(silent)
    table.run(seconds=2000)
    peer = up(table)[0]
    records = [
        entry
        for entry in (
            entry for step in range(peer.session.step) for entry in peer.session._steps.entries_of(step)
        )
        if entry.kind is Kind.RECORD
    ]
    (record, *_) = records
    certificate = read_certificate(record.body[0])
    keys = {seat: identity(seat).public_key for seat in range(4)}
    place: Any = table.peers[0].session._steps.slot(course.step)
    verify_certificate(certificate, place, keys, kind=Kind.PRECOMMIT, owed=[silent])
    assert certificate.closing == ((silent, ABSENT),)
    assert {vote.seat for vote in certificate.votes} <= {0, 1, 2, 3} - {silent}
    again = make_certificate([read_vote(vote) for vote in certificate.votes])
    assert again == certificate


# --- majorities ------------------------------------------------------------------------------------------


def test_f62_three_that_shut_out_the_fourth_have_signed_that_they_did() -> None:
    table = Table(4, options={"bids": "no", "hands": "1"})
    table.run(until=lambda: table.peers[0].session.stage.value == "move")
    course: Any = table.peers[0].session._steps.course
    (victim,) = course.due.seats
    table.lose = lambda source, target, message: victim in (source, target)
    others = [peer for peer in table.peers if peer.seat != victim]
    table.run(until=lambda: all(peer.session.over for peer in others), seconds=3000)
    table.lose = lambda source, target, message: False
    for peer in others:
        table.link(victim, peer.seat)
    table.run(seconds=600)
    assert one_log(table).dropped == (victim,)
    (dropped, *_) = events_of(table.peers[victim], events.SeatAbsent)
    assert (dropped.seat, dropped.dropped) == (victim, True)
    certificate = table.peers[victim].session._steps.ledger.certificates[dropped.step]
    assert {vote.seat for vote in certificate.votes} == {peer.seat for peer in others}
    nobody_is_accused(table)


# --- windows ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_f87_a_call_that_races_the_last_pass_has_one_result(seed: int) -> None:
    table = windowed(seed)
    table.shuffle = True
    table.play = everybody_beats(table)
    table.run()
    one_log(table)
    ruled = [
        [(event.answers, event.winner) for event in events_of(peer, events.Ruled)] for peer in table.peers
    ]
    assert all(rulings == ruled[0] for rulings in ruled)
    assert ruled[0]


def test_f88_of_simultaneous_calls_the_nearest_to_the_left_of_the_discarder_wins() -> None:
    for seed in range(40):
        table = windowed(seed, callers=3)
        if len(can_call(table)) == 3:
            break
    after = table.peers[0].session._steps.course.window.after  # type: ignore[union-attr]
    table.play = everybody_beats(table)
    table.run(until=lambda: all(events_of(peer, events.Ruled) for peer in table.peers))
    for peer in table.peers:
        ruled = events_of(peer, events.Ruled)[-1]
        assert [text[:4] for _, text in ruled.answers] == ["beat"] * 3
        assert ruled.winner == (after + 1) % 4


def test_f89_a_call_that_comes_after_the_close_is_refused_and_its_caller_is_shown_so() -> None:
    table = windowed(1)
    window: Any = table.peers[0].session._steps.course.window
    (caller, *_) = can_call(table)
    step = table.peers[0].session.step
    table.play = everybody_beats(table)
    table.lose = lambda source, target, message: source == caller
    table.run(until=lambda: all(peer.session.step > step + 2 for peer in up(table, caller)), seconds=300)
    table.lose = lambda source, target, message: False
    table.run(seconds=2000)
    one_log(table)
    for peer in table.peers:
        (absent, *_) = [event for event in events_of(peer, events.SeatAbsent) if event.step == step]
        assert (absent.seat, absent.dropped) == (caller, False)
    assert caller in window.seats
    nobody_is_accused(table)


@pytest.mark.parametrize("seats", [3, 4, 5])
def test_f90_all_timeouts_fire_together(seats: int) -> None:
    """The table in memory has one clock: every peer's patience ends in one instant, and again round by round."""
    table = Table(seats, options={"bids": "no", "hands": "2"})
    table.run(until=lambda: table.peers[0].session.stage.value == "move")
    (silent,) = table.peers[0].session._steps.course.due.seats
    table.crash(silent)
    table.run(seconds=3000)
    assert silent in one_log(table).dropped
    nobody_is_accused(table)
