"""What goes wrong in a simulated run, when, and for how long: all drawn from the seed before it begins.

============  ==================================================================  ======================
name          what happens                                                        line of the catalogue
============  ==================================================================  ======================
delay         slow links with jitter                                              F1
loss          links break and are dialled again                                   F4, F13, F19
duplicate     messages arrive twice                                               F16
reorder       links overtake each other by seconds                                F16
partition     two groups cannot reach each other, then can                        F10, F11, F12, F17
asymmetric    one direction of a link is a black hole                             F7
crash         a process is killed and starts again                                F20 to F26, F29
torn          the same, and what was not synced is lost                           F31
full          a disk is full: the peer halts, and is started again with room      F35
slow          a disk takes seconds to sync                                        F91
suspend       a process stands still, then goes on                                F28, F5
vanish        a seat is gone for good                                             F10, F50
clock         after a restart the clock has jumped                                F85, F86
============  ==================================================================  ======================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

FAULTS: Final = (
    "delay",
    "loss",
    "duplicate",
    "reorder",
    "partition",
    "asymmetric",
    "crash",
    "torn",
    "full",
    "slow",
    "suspend",
    "vanish",
    "clock",
)


WITHIN_SECONDS: Final = 40.0
"""The faults of a wave begin within this time."""
WAVES_PER_HAND: Final = 2
WAVE_STEPS: Final = 50
"""A later wave begins when the table has come so many steps further, however long that took: so no part of a hand is spared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that goes wrong: from ``at`` for ``seconds``, at these seats.

    What the seats are depends on the name: whose process or disk it is, or the two ends of a link, or one side of a partition.
    """

    name: str
    at: float
    seconds: float
    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Weather:
    """How links and disks behave all the time."""

    latency_seconds: float = 0.01
    jitter_seconds: float = 0.01
    duplicate: float = 0.0
    overtake_seconds: float = 0.0
    sync_seconds: float = 0.002


def weather(names: Sequence[str], random: Random) -> Weather:
    return Weather(
        latency_seconds=random.uniform(0.05, 0.4) if "delay" in names else 0.01,
        jitter_seconds=random.uniform(0.05, 1.0) if "delay" in names else 0.01,
        duplicate=0.05 if "duplicate" in names else 0.0,
        overtake_seconds=3.0 if "reorder" in names else 0.0,
    )


def plan(names: Sequence[str], seats: int, random: Random, *, until: float) -> list[Fault]:
    """The faults of one run, by time.  Each begins before ``until``; all but ``vanish`` end."""
    faults: list[Fault] = []
    for name in FAULTS:
        if name in names and name in _PLANS:
            faults += _PLANS[name](seats, random, until)
    return sorted(faults, key=lambda fault: (fault.at, fault.name, fault.seats))


def waves(names: Sequence[str], seats: int, seed: int, *, hands: int) -> list[list[Fault]]:
    """The faults of a whole game: a wave at its beginning, then two for each hand.  One seat vanishes at most.

    The moments of a wave count from its beginning: the first one's is the game's, that of number n comes when the table
    reaches step n * WAVE_STEPS.
    """
    found = [plan(names, seats, Random(f"{seed}/faults"), until=WITHIN_SECONDS)]
    for number in range(WAVES_PER_HAND * hands):
        wave = plan(names, seats, Random(f"{seed}/faults/{number}"), until=WITHIN_SECONDS)
        vanished = any(fault.name == "vanish" for earlier in found for fault in earlier)
        found.append([fault for fault in wave if not (vanished and fault.name == "vanish")])
    return found


def _process(name: str, most: int, longest: float) -> Callable[[int, Random, float], list[Fault]]:
    """Something that happens to one process at a time."""

    def plan(seats: int, random: Random, until: float) -> list[Fault]:
        return [
            Fault(
                name=name,
                at=random.uniform(0.2, until),
                seconds=random.uniform(0.2, longest),
                seats=(random.randrange(seats),),
            )
            for _ in range(random.randint(1, most))
        ]

    return plan


def _pair(name: str, most: int, longest: float) -> Callable[[int, Random, float], list[Fault]]:
    """Something that happens to a link."""

    def plan(seats: int, random: Random, until: float) -> list[Fault]:
        return [
            Fault(
                name=name,
                at=random.uniform(0.2, until),
                seconds=random.uniform(0.1, longest),
                seats=tuple(random.sample(range(seats), 2)),
            )
            for _ in range(random.randint(1, most))
        ]

    return plan


def _partition(seats: int, random: Random, until: float) -> list[Fault]:
    at = random.uniform(1.0, until)
    side = tuple(sorted(random.sample(range(seats), random.randint(1, seats - 1))))
    return [Fault(name="partition", at=at, seconds=random.uniform(5.0, 90.0), seats=side)]


def _vanish(seats: int, random: Random, until: float) -> list[Fault]:
    # More than one would take the quorum from the others for good.
    if seats < 3 or random.random() < 0.5:
        return []
    return [
        Fault(name="vanish", at=random.uniform(1.0, until), seconds=0.0, seats=(random.randrange(seats),))
    ]


_PLANS: Final[Mapping[str, Callable[[int, Random, float], list[Fault]]]] = {
    "loss": _pair("loss", 6, 3.0),
    "asymmetric": _pair("asymmetric", 2, 40.0),
    "partition": _partition,
    "crash": _process("crash", 3, 20.0),
    "torn": _process("torn", 3, 20.0),
    "full": _process("full", 1, 20.0),
    "slow": _process("slow", 2, 10.0),
    "suspend": _process("suspend", 2, 60.0),
    "vanish": _vanish,
    "clock": _process("clock", 1, 5.0),
}
