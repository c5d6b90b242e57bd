"""Whole tables in one process, under one seed and a virtual clock.

Every layer is the real one (the deck may be replaced by its stand-in); only sockets, disks, threads and clocks are
simulated.  One seed gives one run, byte for byte, on any machine.

- :mod:`protocol.simulation.world`: the links, the heap of events, the run.
- :mod:`protocol.simulation.peer`: one seat's session, disk and player.
- :mod:`protocol.simulation.terms`: what a run is given, and what comes of it.
- :mod:`protocol.simulation.faults`: what goes wrong, when.
- :mod:`protocol.simulation.byzantine`: seats that cheat, put together from named misbehaviours.
- :mod:`protocol.simulation.invariants`: what must hold after every event.
"""

from protocol.simulation.byzantine import MISBEHAVIOURS
from protocol.simulation.faults import FAULTS
from protocol.simulation.invariants import Violation
from protocol.simulation.terms import Report, Setup
from protocol.simulation.world import World, simulate

__all__ = ["FAULTS", "MISBEHAVIOURS", "Report", "Setup", "Violation", "World", "simulate"]
