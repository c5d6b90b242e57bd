"""What a simulated run is given, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

from protocol.agreement import Agreement
from protocol.dealing import Decks
from protocol.fast_deck import FastDecks
from protocol.game import Game
from protocol.session import Session
from protocol.simulation.faults import Fault
from protocol.simulation.invariants import Violation

Chooser = Callable[[Session, Random], str | None]


def any_move(session: Session, random: Random) -> str | None:
    """A player who picks any legal move."""
    moves = session.legal_moves()
    return random.choice(moves) if moves else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """One run, in full.  ``misbehaviours``: name by byzantine seat.  ``choose`` plays all seats.

    ``hands``: waves of faults go on for so many hands; 0: there is the first wave only.  The table finishes in ``seconds``.
    """

    seats: int
    seed: int
    make_game: Callable[[Agreement], Game]
    game: str = "game"
    rules_version: int = 1
    options: tuple[tuple[str, str], ...] = ()
    decks: Decks = field(default_factory=FastDecks)
    faults: tuple[str, ...] = ()
    hands: int = 0
    misbehaviours: Mapping[int, str] = field(default_factory=dict)
    choose: Chooser = any_move
    window_ms: int = 400
    turn_ms: int = 20_000
    step_ms: int = 10_000
    strict: bool = False
    think_seconds: float = 0.3
    seconds: float = 3_600.0
    record_messages: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One line of what happened, for a picture of the run."""

    time: float
    seat: int
    what: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One message on its way, for a picture of the run.  ``arrives`` None: a black hole took it."""

    sent: float
    arrives: float | None
    source: int
    target: int
    message: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What came of a run.

    ``voids``: how many answers of a seat did not count, by seat and reason.  ``faults`` were planned, ``injected`` is how often
    each really struck (of delay, duplicate and reorder: how many messages).  ``acts``: how often each byzantine seat misbehaved.
    """

    seed: int
    seats: int
    seconds: float
    happenings: int
    steps: int
    epochs: int
    hands: int
    drops: int
    returns: int
    rulings: int
    evidence: tuple[tuple[int, str], ...]
    voids: Mapping[tuple[int, str], int]
    faults: tuple[Fault, ...]
    injected: Mapping[str, int]
    acts: Mapping[int, int]
    outcome: str
    violations: tuple[Violation, ...]
    head: bytes
