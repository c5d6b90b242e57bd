"""The simulator can see: for each invariant the real code is broken in one line, and the break is found within 50 seeds.

A seed at which the whole code passes and the broken code does not shows that the invariant is what notices.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from protocol import court, exchange, holdings, quorum, session
from protocol.fast_deck import FastDeck
from protocol.position import Position
from protocol.simulation import Report, Setup, simulate
from protocol.voice import Voice
from tests.protocol.toy_game import toy_game

SEEDS = 50


def run(seed: int, *, seats: int = 4, faults: tuple[str, ...] = (), liar: str = "") -> Report:
    return simulate(
        Setup(
            seats=seats,
            seed=seed,
            make_game=toy_game,
            game="toy",
            faults=faults,
            misbehaviours={1: liar} if liar else {},
            seconds=600.0,
        )
    )


Breakage = Callable[[pytest.MonkeyPatch], None]


def found(
    invariant: str,
    breakage: Breakage,
    *,
    first: int = 0,
    seats: int = 4,
    faults: tuple[str, ...] = (),
    liar: str = "",
) -> None:
    """Assert that the broken code violates ``invariant``, and the whole code nothing, at one of the seeds."""
    for seed in range(first, SEEDS):
        with pytest.MonkeyPatch.context() as patch:
            breakage(patch)
            report = run(seed, seats=seats, faults=faults, liar=liar)
        if any(violation.invariant == invariant for violation in report.violations):
            assert report.outcome == "violation"
            assert run(seed, seats=seats, faults=faults, liar=liar).violations == ()
            return
    raise AssertionError(f"{invariant} was not seen to be violated at any of {SEEDS - first} seeds")


def half(seats: int) -> int:
    """A quorum that two halves of a table have at once."""
    return seats // 2


def test_agreement_breaks_if_a_quorum_is_one_seat_smaller():
    found(
        "agreement",
        lambda patch: patch.setattr(quorum.quorum, "__code__", half.__code__),
        faults=("partition",),
    )


def test_an_honest_seat_is_blamed_if_entries_of_another_prefix_are_judged():
    found(
        "no_false_evidence",
        lambda patch: patch.setattr(holdings, "belongs", lambda course, entry: True),
        faults=("delay", "reorder", "partition"),
        first=16,
    )


def test_secrecy_breaks_if_shares_are_owed_for_ones_own_cards_too():
    def all_slots(self: Position, seat: int) -> tuple[int, ...]:
        return tuple(slot for slot, _ in getattr(self.game.need, "owners", ()))

    found("secrecy", lambda patch: patch.setattr(Position, "slots_owed", all_slots), seats=3)


def test_cards_are_not_conserved_if_a_shuffle_is_not_checked():
    found(
        "conservation",
        lambda patch: patch.setattr(FastDeck, "check_shuffle", lambda *args: None),
        liar="duplicate_card",
    )


def test_a_seat_says_two_things_if_it_forgets_what_it_said_before_a_crash():
    found(
        "single_statement",
        lambda patch: patch.setattr(Voice, "remember", lambda self, entry, durable: None),
        faults=("crash",),
        first=24,
    )


def test_a_seat_says_what_its_disk_does_not_hold_if_entries_are_not_recorded():
    found(
        "single_statement",
        lambda patch: patch.setattr(Voice, "_hand_on", lambda self, entry: self._out.fresh.append(entry)),
    )


def test_a_program_fails_if_entries_of_another_prefix_are_judged():
    found(
        "no_failure",
        lambda patch: patch.setattr(holdings, "belongs", lambda course, entry: True),
        faults=("delay", "reorder", "partition"),
        first=8,
    )


def test_a_program_fails_if_its_journal_cannot_be_read_again():
    found(
        "no_failure",
        lambda patch: patch.setattr(session, "read_record", lambda data, number: data[-1] // 0),
        faults=("crash",),
    )


def test_a_table_is_stuck_if_nobody_gives_a_neighbour_what_it_lacks():
    found(
        "liveness",
        lambda patch: patch.setattr(exchange.Exchange, "serve", lambda *args: False),
        faults=("loss", "crash"),
    )


def test_logs_do_not_verify_if_entries_are_not_judged():
    found(
        "verifiable",
        lambda patch: patch.setattr(court, "judge", lambda *args: None),
        liar="wrong_result",
    )
