"""Whose turn it is to rule on a window and to record absences (SPEC.md 9.11)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from protocol import events
from protocol.course import Course
from protocol.position import Stage
from tests.protocol.tables import Peer, Table, events_of


def silence(peer: Peer, stages: tuple[Stage, ...]) -> None:
    """The seat says nothing in these stages, and everything else."""
    voice: Any = peer.session._voice
    honest: Callable[..., Any] = voice.next
    voice.next = lambda course, *more: None if course.stage in stages else honest(course, *more)


def first_window(table: Table) -> None:
    table.run(until=lambda: all(peer.session.stage is Stage.SEALED for peer in table.peers))


def test_a_window_ends_without_a_ruling_when_every_arbiter_was_asked_once_f45() -> None:
    table = Table(4, options={"bids": "no"})
    first_window(table)
    window = table.peers[0].session._steps.course.window
    assert window is not None
    for peer in table.peers:
        silence(peer, (Stage.RULING,))
    table.run(until=lambda: all(events_of(peer, events.Ruled) for peer in table.peers))
    for peer in table.peers:
        (ruled,) = events_of(peer, events.Ruled)
        assert ruled.arbiter is None
        absent = [event.seat for event in events_of(peer, events.SeatAbsent)]
        assert sorted(absent) == sorted(window.seats), (
            "each was asked, nobody twice, the discarder not at all"
        )
        assert not events_of(peer, events.SeatDropped)
        assert not events_of(peer, events.EvidenceFound)
    # The next window is ruled on as if nothing had happened.
    for peer in table.peers:
        silence(peer, ())
        peer.session._voice.next = type(peer.session._voice).next.__get__(peer.session._voice)  # type: ignore[union-attr, method-assign]
    table.run(until=lambda: all(len(events_of(peer, events.Ruled)) > 1 for peer in table.peers))
    assert events_of(table.peers[0], events.Ruled)[1].arbiter is not None


def test_an_absence_from_the_ruling_is_recorded_before_the_next_arbiter_rules_f24() -> None:
    table = Table(4, options={"bids": "no"})
    for peer in table.peers:
        voice: Any = peer.session._voice
        honest: Callable[..., Any] = voice.next

        def first_is_silent(course: Course, *more: Any, honest: Callable[..., Any] = honest) -> Any:
            asked = course.stage is Stage.RULING and not course._absent_from_ruling
            return None if asked else honest(course, *more)

        voice.next = first_is_silent
    table.run(until=lambda: bool(events_of(table.peers[0], events.Ruled)))
    ledger = table.peers[0].session._steps.ledger
    at = ledger._stages.index(Stage.RULING)
    assert ledger._stages[at : at + 3] == [Stage.RULING, Stage.RECORD, Stage.RULING]
    silent, recorder, arbiter = (ledger.closed[at + step].contributions[0][0] for step in range(3))
    assert ledger.closed[at].absent == (silent,)
    assert silent not in (recorder, arbiter)
    assert events_of(table.peers[0], events.Ruled)[0].arbiter == arbiter


@pytest.mark.parametrize("seats", [3, 5])
def test_everybody_has_a_turn_in_one_round_of_windows_but_never_on_its_own_discard(seats: int) -> None:
    table = Table(seats, options={"bids": "no", "rounds": "3"})
    table.run()
    log = table.peers[0].session._steps.ledger
    discarder, rulings = -1, []
    for stage, closed in zip(log._stages, log.closed, strict=True):
        if stage is Stage.MOVE:
            discarder = closed.contributions[0][0]
        elif stage is Stage.RULING:
            rulings.append((discarder, closed.contributions[0][0]))
    assert len(rulings) == 3 * seats
    assert all(after != arbiter for after, arbiter in rulings)
    for at in range(0, len(rulings), seats):
        assert {arbiter for _, arbiter in rulings[at : at + seats]} == set(range(seats))


def test_the_first_arbiter_depends_on_the_coin_of_the_hand() -> None:
    """Tables that differ in their randomness alone: a fixed first arbiter would sit at one distance from all discarders."""
    firsts = set()
    for seed in range(6):
        table = Table(4, seed=seed, options={"bids": "no"})
        table.run(until=lambda table=table: bool(events_of(table.peers[0], events.Ruled)))  # type: ignore[misc]
        course = table.peers[0].session._steps.course
        ruled = events_of(table.peers[0], events.Ruled)[0]
        assert ruled.arbiter is not None
        firsts.add((ruled.arbiter - ruled.answers[0][0]) % course.game.seats)
    assert len(firsts) > 1
