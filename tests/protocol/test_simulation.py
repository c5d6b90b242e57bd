"""The simulation itself: faults strike as they are planned, and a seed is the whole run."""

from __future__ import annotations

from random import Random

from protocol.position import Stage
from protocol.session import Session
from protocol.simulation import Setup, World
from protocol.simulation.faults import Fault
from protocol.simulation.world import any_move
from tests.protocol.toy_game import toy_game


def setup(seats: int, seed: int = 1, **more: object) -> Setup:
    values: dict[str, object] = {"make_game": toy_game, "game": "toy", "record_messages": True, **more}
    return Setup(seats=seats, seed=seed, **values)  # type: ignore[arg-type]


def struck(*faults: Fault, seats: int = 3, **more: object) -> World:
    """A run in which these faults strike, and no others."""
    world = World(setup(seats, **more))
    world.plan = list(faults)
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
    world.plan = [Fault(name="suspend", at=0.1 * at, seconds=0.05, seats=(at % 3,)) for at in range(1, 40)]
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
