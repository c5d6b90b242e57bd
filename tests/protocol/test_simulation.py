"""The simulation itself: faults strike as they are planned, and a seed is the whole run."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from protocol import events
from protocol.position import Stage
from protocol.session import Session
from protocol.simulation import FAULTS, Setup, World
from protocol.simulation.disk import SimulatedDisk
from protocol.simulation.faults import WAVE_STEPS, Fault, plan, waves
from protocol.simulation.peer import Peer
from protocol.simulation.terms import any_move
from tests.protocol.toy_game import toy_game


def setup(seats: int, seed: int = 1, **more: object) -> Setup:
    values: dict[str, object] = {"make_game": toy_game, "game": "toy", "record_messages": True, **more}
    return Setup(seats=seats, seed=seed, **values)  # type: ignore[arg-type]


def struck(*faults: Fault, seats: int = 3, **more: object) -> World:
    """A run in which these faults strike, and no others."""
    world = World(setup(seats, **more))
    world.waves = [list(faults)]
    world.run()
    return world


def sent_by(world: World, seat: int, start: float, end: float) -> int:
    return sum(passage.source == seat and start < passage.sent < end for passage in world.passages)


# --- processes -------------------------------------------------------------------------------------------


def test_a_suspended_process_does_nothing_until_it_goes_on_and_then_finishes():
    world = struck(Fault(name="suspend", at=0.5, seconds=8.0, seats=(1,)))
    assert sent_by(world, 1, 0.0, 0.5) > 0
    assert sent_by(world, 1, 0.5, 8.5) == 0
    assert sent_by(world, 1, 8.5, 999.0) > 0
    assert world.peers[1].session.over


def test_a_process_suspended_while_its_disk_is_slow_or_its_player_thinks_sends_nothing_either():
    for tenths in range(1, 25, 6):
        world = struck(
            Fault(name="slow", at=0.05, seconds=30.0, seats=(1,)),
            Fault(name="suspend", at=tenths / 10, seconds=8.0, seats=(1,)),
            seconds=tenths / 10 + 8.0,
        )
        assert sent_by(world, 1, tenths / 10, tenths / 10 + 8.0) == 0


def test_nobody_chooses_a_move_while_its_process_is_suspended():
    chosen: list[tuple[int, float]] = []

    def choose(session: Session, random: Random) -> str | None:
        assert session.me is not None
        chosen.append((session.me, world.now))
        return any_move(session, random)

    world = World(setup(3, choose=choose))
    world.waves = [[Fault(name="suspend", at=0.1 * at, seconds=0.05, seats=(at % 3,)) for at in range(1, 40)]]
    world.run()
    for fault in world.plan:
        still = [
            at for seat, at in chosen if seat in fault.seats and fault.at < at < fault.at + fault.seconds
        ]
        assert still == []


class Stubborn:
    """Players of whom seat 1 says something that is no move at its first turns."""

    def __init__(self) -> None:
        self.left = 2

    def __call__(self, session: Session, random: Random) -> str | None:
        if session.me == 1 and session.stage is Stage.MOVE and self.left:
            self.left -= 1
            return "no such move"
        return any_move(session, random)


def test_a_move_that_is_refused_is_told_and_the_player_thinks_again():
    world = struck(choose=Stubborn())
    assert [trace.seat for trace in world.traces if trace.what == "refused"] == [1] * 2
    assert all(peer.session.over for peer in world.peers)


def test_a_refused_move_of_a_liar_is_no_reason_to_vanish():
    world = struck(choose=Stubborn(), misbehaviours={1: "unopened"})
    assert [trace.seat for trace in world.traces if trace.what == "refused"] == [1] * 2
    assert not world.peers[1].gone


def test_a_process_killed_while_suspended_is_started_again_running():
    world = struck(
        Fault(name="suspend", at=0.5, seconds=60.0, seats=(1,)),
        Fault(name="crash", at=1.0, seconds=2.0, seats=(1,)),
    )
    assert sent_by(world, 1, 3.0, 10.0) > 0


def test_a_process_that_crashes_is_silent_and_comes_back_with_what_its_disk_has():
    world = struck(Fault(name="crash", at=1.0, seconds=3.0, seats=(1,)))
    assert sent_by(world, 1, 1.0, 4.0) == 0
    assert sent_by(world, 1, 4.0, 99.0) > 0
    assert world.peers[1].session.over


def test_who_vanishes_never_comes_back_and_the_others_go_on_without():
    world = struck(Fault(name="vanish", at=1.0, seconds=0.0, seats=(1,)))
    assert sent_by(world, 1, 1.0, 9999.0) == 0
    assert [peer.session.over for peer in world.peers] == [True, False, True]


def test_a_clock_that_jumps_over_a_restart_harms_nobody():
    world = struck(Fault(name="clock", at=1.0, seconds=1.0, seats=(2,)))
    assert world.peers[2].offset > 1.0
    assert [peer.offset for peer in world.peers[:2]] == [0.0, 0.0]
    assert all(peer.session.over for peer in world.peers)


# --- disks -----------------------------------------------------------------------------------------------


def test_a_full_disk_halts_its_peer_until_there_is_room():
    world = struck(Fault(name="full", at=1.0, seconds=5.0, seats=(0,)))
    (halt,) = [trace for trace in world.traces if trace.what == "halt"]
    assert (halt.seat, halt.detail) == (0, "disk full")
    assert sent_by(world, 0, halt.time + 0.001, 6.0) == 0
    assert world.peers[0].session.over


def test_a_slow_disk_holds_back_what_its_peer_signs():
    def longest_wait(world: World) -> float:
        sent = sorted(passage.sent for passage in world.passages if passage.source == 0)
        return max(later - earlier for earlier, later in itertools.pairwise(sent))

    world = struck(Fault(name="slow", at=0.5, seconds=20.0, seats=(0,)))
    assert longest_wait(world) > longest_wait(struck()) + 0.3
    assert world.peers[0].session.over


def test_of_a_torn_journal_the_synced_beginning_is_left():
    lengths = set()
    for seed in range(30):
        disk = SimulatedDisk()
        for number in range(6):
            disk.append(bytes([number]), sync=number == 2)
        disk.crash(Random(seed), torn=True)
        assert disk.journal == [bytes([number]) for number in range(len(disk.journal))]
        lengths.add(len(disk.journal))
    assert lengths == {3, 4, 5, 6}


def test_a_crash_that_tears_nothing_leaves_the_whole_journal():
    disk = SimulatedDisk()
    disk.append(b"one", sync=False)
    disk.crash(Random(0), torn=False)
    assert disk.journal == [b"one"]


# --- links -----------------------------------------------------------------------------------------------


def test_a_broken_link_is_noticed_at_both_ends_and_dialled_again():
    world = struck(Fault(name="loss", at=1.0, seconds=1.0, seats=(0, 2)))
    for seat, other in ((0, 2), (2, 0)):
        links = [
            type(event).__name__
            for event in world.peers[seat].told
            if isinstance(event, events.Connected | events.Disconnected) and event.seat == other
        ]
        assert links == ["Connected", "Disconnected", "Connected"]


def test_nothing_crosses_a_partition_while_it_lasts():
    world = struck(Fault(name="partition", at=1.0, seconds=5.0, seats=(0, 3)), seats=4)
    crossing = [
        passage
        for passage in world.passages
        if (passage.source in (0, 3)) is not (passage.target in (0, 3)) and 1.0 < passage.sent < 6.0
    ]
    assert crossing
    assert all(passage.arrives is None for passage in crossing)
    assert all(peer.session.over for peer in world.peers)


def test_a_black_hole_takes_what_goes_one_way_only():
    world = struck(Fault(name="asymmetric", at=1.0, seconds=5.0, seats=(0, 2)))

    def arrived(source: int, target: int) -> set[bool]:
        return {
            passage.arrives is not None
            for passage in world.passages
            if (passage.source, passage.target) == (source, target) and 1.0 < passage.sent < 6.0
        }

    assert arrived(0, 2) == {False}
    assert arrived(2, 0) == {True}
    assert all(peer.session.over for peer in world.peers)


def latencies(world: World) -> list[float]:
    return [passage.arrives - passage.sent for passage in world.passages if passage.arrives is not None]


def test_delay_makes_every_message_late_and_reorder_some_of_them_by_seconds():
    calm, late, mixed = (struck(faults=faults) for faults in ((), ("delay",), ("reorder",)))
    assert max(latencies(calm)) < 0.05 < min(latencies(late))
    assert 1.0 < max(latencies(mixed)) < 3.1
    assert min(latencies(mixed)) < 0.05


def test_duplicates_arrive_twice_and_change_nothing(monkeypatch: pytest.MonkeyPatch):
    world = World(setup(3, faults=("duplicate",)))
    received: Counter[tuple[int, bytes]] = Counter()
    hear = Peer.hear

    def listen(peer: Peer, link: int, message: bytes) -> None:
        received[peer.seat, message] += 1
        hear(peer, link, message)

    monkeypatch.setattr(Peer, "hear", listen)
    report = world.run()
    assert report.outcome == "finished"
    twice = received - Counter((passage.target, passage.message) for passage in world.passages)
    assert 0.02 < twice.total() / received.total() < 0.09


# --- plans and seeds -------------------------------------------------------------------------------------


def test_a_plan_has_the_faults_that_were_asked_for_and_no_others():
    lasting = set(FAULTS) - {"delay", "duplicate", "reorder"}
    seen: Counter[str] = Counter()
    for seed in range(40):
        for name in sorted(lasting):
            faults = plan((name,), 5, Random(seed), until=40.0)
            assert {fault.name for fault in faults} <= {name}
            assert all(0.0 < fault.at < 40.0 and set(fault.seats) <= set(range(5)) for fault in faults)
            seen[name] += len(faults)
    assert set(seen) == lasting


def test_with_two_seats_nobody_vanishes():
    assert not any(plan(("vanish",), 2, Random(seed), until=40.0) for seed in range(40))


def test_a_hand_has_two_waves_more_and_one_seat_vanishes_at_most():
    for seed in range(40):
        whole = waves(FAULTS, 4, seed, hands=2)
        assert len(whole) == 1 + 2 * 2
        assert whole[:1] == waves(FAULTS, 4, seed, hands=0)
        faults = [fault for wave in whole for fault in wave]
        assert sum(fault.name == "vanish" for fault in faults) <= 1
        assert all(0.0 < fault.at < 40.0 for fault in faults)
        assert all({"loss", "crash", "partition"} <= {fault.name for fault in wave} for wave in whole)


def test_a_later_wave_begins_when_the_table_has_come_so_far_however_long_that_took():
    def still(begun: float) -> Fault:
        return Fault(name="suspend", at=1.0, seconds=begun, seats=(0,))

    world = World(setup(3, options=(("hands", "4"), ("rounds", "3"))))
    world.waves = [[still(30.0)], [still(0.5)], [still(0.6)]]
    reached: dict[int, float] = {}
    real = world.looked

    def looked(peer: Peer) -> None:
        for step in (WAVE_STEPS, 2 * WAVE_STEPS):
            if peer.session.step >= step:
                reached.setdefault(step, world.now)
        real(peer)

    world.looked = looked  # type: ignore[method-assign]
    report = world.run()
    assert report.steps > 2 * WAVE_STEPS
    assert [fault.seconds for fault in world.plan] == [30.0, 0.5, 0.6]
    assert [fault.at for fault in world.plan] == [
        1.0,
        1.0 + reached[WAVE_STEPS],
        1.0 + reached[2 * WAVE_STEPS],
    ]


def test_what_is_planned_strikes_and_is_counted():
    world = World(setup(4, seed=3, faults=FAULTS))
    report = world.run()
    planned = Counter(fault.name for fault in report.faults if fault.at < report.seconds)
    assert world.counts == planned
    assert planned.total() > 5


WHOLE_RUN = """
import hashlib, sys
from protocol.simulation import FAULTS, Setup, World
from tests.protocol.toy_game import toy_game
world = World(Setup(seats=4, seed=5, make_game=toy_game, game="toy", faults=FAULTS, misbehaviours={2: "garbage"}, seconds=40.0,
                    record_messages=True))
report = world.run()
digest = hashlib.sha256()
for part in (report, world.traces, world.passages, [peer.disk.journal for peer in world.peers]):
    digest.update(repr(part).encode())
print(report.steps, len(world.passages), digest.hexdigest())
"""


def test_one_seed_is_one_run_byte_for_byte_whatever_the_hash_seed():
    root = Path(__file__).parents[2]
    runs = [
        subprocess.run(
            [sys.executable, "-c", WHOLE_RUN],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(root)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for hash_seed in ("0", "12345")
    ]
    assert runs[0] == runs[1]
    assert int(runs[0].split()[1]) > 100


def test_another_seed_is_another_run():
    one, other = (World(setup(3, seed=seed)).run() for seed in (1, 2))
    assert one.head != other.head
