"""Faults as a feature: whole tables of bots under one seed, told as a table of results.

A :class:`Storm` is everything that makes a run but its seed; ``storm.run(seed)`` plays it and gives an
:class:`~p2p_rummy.chaos_results.Outcome`, which is plain data.
"""

from __future__ import annotations

import random
import shlex
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from typing import Final, Literal

from p2p_rummy.agreed import RULES_VERSION, agreed_game
from p2p_rummy.bots import Bot, make_bot
from p2p_rummy.catalogue import _
from p2p_rummy.chaos_results import MOST_SEATS, Outcome
from p2p_rummy.complaint import USAGE, Complaint
from p2p_rummy.fault_words import error_words
from p2p_rummy.options import resolve
from p2p_rummy.refusals import OptionError
from protocol.fast_deck import FastDecks
from protocol.session import Session
from protocol.simulation import FAULTS, MISBEHAVIOURS, Report, Setup, World
from protocol.simulation.shared import SharedDecks

DeckName = Literal["real", "fast"]

LIMITS: Final = ("max_hands", "max_rounds")
"""The options that end a game after so many hands: ``--hands`` sets them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Storm:
    """``players``: the fewest and the most; a seed picks between them.  ``options``: none of :data:`LIMITS`."""

    players: tuple[int, int] = (4, 4)
    hands: int = 2
    game: str = "rum500"
    options: tuple[tuple[str, str], ...] = ()
    faults: tuple[str, ...] = ()
    byzantine: tuple[tuple[int, str], ...] = ()
    deck: DeckName = "real"
    bots: str = "random"
    strict: bool = False

    def __post_init__(self) -> None:
        if any(name in LIMITS for name, _value in self.options):
            raise ValueError("the number of hands is in `hands`, not in `options`")

    def seats(self, seed: int) -> int:
        fewest, most = self.players
        return fewest + seed % (most - fewest + 1)

    def setup(self, seed: int, *, record_messages: bool = False) -> Setup:
        seats = self.seats(seed)
        return Setup(
            seats=seats,
            seed=seed,
            make_game=agreed_game,
            game=self.game,
            rules_version=RULES_VERSION,
            options=tuple(sorted(_with_limit(self.game, dict(self.options), self.hands).items())),
            decks=FastDecks() if self.deck == "fast" else SharedDecks(),
            faults=self.faults,
            hands=self.hands,
            misbehaviours={seat: name for seat, name in self.byzantine if seat < seats},
            choose=Players(seed, self.bots),
            strict=self.strict,
            record_messages=record_messages,
        )

    def world(self, seed: int, *, record_messages: bool = False) -> World:
        return World(self.setup(seed, record_messages=record_messages))

    def run(self, seed: int) -> Outcome:
        return self.outcome(self.world(seed).run())

    def outcome(self, report: Report) -> Outcome:
        """What is told of a run of this storm."""
        return Outcome(
            seed=report.seed,
            players=report.seats,
            faults=dict(sorted(report.injected.items())),
            byzantine={
                f"{seat}={name}": report.acts[seat] for seat, name in self.byzantine if seat < report.seats
            },
            steps=report.steps,
            hands=report.hands,
            epochs=report.epochs,
            drops=report.drops,
            returns=report.returns,
            rulings=report.rulings,
            voids={f"{seat}:{reason}": count for (seat, reason), count in sorted(report.voids.items())},
            evidence=[f"{seat}:{reason}" for seat, reason in report.evidence],
            seconds=round(report.seconds, 3),
            outcome=report.outcome,
            violations=[
                f"{each.invariant} at {each.time:.3f} s, seat {each.seat}: {each.message}"
                for each in report.violations
            ],
            head=report.head.hex(),
            replay=self.replay(report.seed),
        )

    def replay(self, seed: int) -> str:
        """The one line that plays this run again."""
        fewest, most = self.players
        words = ["p2p-rummy", "chaos", "--seed", str(seed)]
        words += ["--players", str(fewest) if fewest == most else f"{fewest}..{most}"]
        words += ["--hands", str(self.hands), "--game", self.game]
        words += [word for name, value in self.options for word in ("--set", f"{name}={value}")]
        words += ["--faults", ",".join(self.faults) or "none"]
        words += [word for seat, name in self.byzantine for word in ("--byzantine", f"{seat}={name}")]
        words += ["--bots", self.bots]
        words += ["--fast-deck"] * (self.deck == "fast") + ["--strict"] * self.strict
        return shlex.join(words)


def _with_limit(game: str, options: Mapping[str, str], hands: int) -> dict[str, str]:
    """The options of a game that ends after so many hands."""
    return {**options, "max_rounds" if game == "rummoli" else "max_hands": str(hands)}


class Players:
    """The bots of one run, each with its own memory and its own randomness."""

    def __init__(self, seed: int, level: str) -> None:
        self._seed = seed
        self._level = level
        self._bots: dict[int, Bot] = {}

    def __call__(self, session: Session, random: random.Random) -> str | None:
        seat = session.me
        if seat is None or not session.legal_moves():
            return None
        if seat not in self._bots:
            self._bots[seat] = make_bot(self._level, seed=1000 * self._seed + seat)
        return self._bots[seat].choose(session.game, seat, session.faces)


# --- many runs -------------------------------------------------------------------------------------------


def run_all(storm: Storm, seeds: Sequence[int], jobs: int) -> Iterable[Outcome]:
    """Outcomes in the order of the seeds, as they come; ``jobs`` processes."""
    if jobs <= 1 or len(seeds) <= 1:
        yield from map(storm.run, seeds)
        return
    waiting: deque[Future[Outcome]] = deque()  # a few ahead: a million seeds are not a million futures
    with ProcessPoolExecutor(max_workers=min(jobs, len(seeds))) as pool:
        for seed in seeds:
            if len(waiting) >= 4 * jobs:
                yield waiting.popleft().result()
            waiting.append(pool.submit(storm.run, seed))
        while waiting:
            yield waiting.popleft().result()


def checked_storm(
    *,
    players: tuple[int, int],
    hands: int,
    game: str,
    options: Mapping[str, str],
    faults: str,
    byzantine: Sequence[str],
    fast: bool,
    bots: str,
    strict: bool,
) -> Storm:
    """A storm from the words of the command line.  Raises Complaint."""
    fewest, most = players
    if not 2 <= fewest <= most <= MOST_SEATS:
        raise Complaint(_("a table has 2 to 8 seats: change --players"), status=USAGE)
    if hands < 1:
        raise Complaint(_("at least one hand is played: change --hands"), status=USAGE)
    for limit in LIMITS:
        if limit in options:
            raise Complaint(
                _("--hands says how many hands are played: leave out --set {option}", option=limit),
                status=USAGE,
            )
    try:
        for seats in range(fewest, most + 1):
            resolve(game, _with_limit(game, options, hands), seats)
    except OptionError as error:
        raise Complaint(error_words(error), status=USAGE) from None
    return Storm(
        players=players,
        hands=hands,
        game=game,
        options=tuple(sorted(options.items())),
        faults=_fault_names(faults),
        byzantine=_misbehaviours(byzantine, fewest, most),
        deck="fast" if fast else "real",
        bots=bots,
        strict=strict,
    )


def _fault_names(text: str) -> tuple[str, ...]:
    if text in ("", "none"):
        return ()
    names = FAULTS if text == "all" else tuple(text.split(","))
    for name in names:
        if name not in FAULTS:
            raise Complaint(
                _("there is no fault {name}; there are: {names}", name=name, names=", ".join(FAULTS)),
                status=USAGE,
            )
    return tuple(name for name in FAULTS if name in names)


def _misbehaviours(words: Sequence[str], fewest: int, most: int) -> tuple[tuple[int, str], ...]:
    """By seat.  A seat cheats in one way, and at the smallest table of the span somebody is honest too."""
    found: dict[int, str] = {}
    for word in words:
        seat, name = _misbehaviour(word, most)
        if seat in found:
            raise Complaint(
                _(
                    "--byzantine names seat {seat} twice ({one}, {other}); a seat cheats in one way",
                    seat=seat,
                    one=found[seat],
                    other=name,
                ),
                status=USAGE,
            )
        found[seat] = name
    if set(range(fewest)) <= set(found):
        raise Complaint(
            _(
                "with {seats} players every seat would cheat: leave a seat below {seats} out of --byzantine, or raise --players",
                seats=fewest,
            ),
            status=USAGE,
        )
    return tuple(sorted(found.items()))


def _misbehaviour(word: str, seats: int) -> tuple[int, str]:
    seat, _equals, name = word.partition("=")
    if seat not in map(str, range(seats)) or name not in MISBEHAVIOURS:
        raise Complaint(
            _(
                "`{word}` is not SEAT=MISBEHAVIOUR; seats are 0 to {last}, misbehaviours: {names}",
                word=word,
                last=seats - 1,
                names=", ".join(MISBEHAVIOURS),
            ),
            status=USAGE,
        )
    return int(seat), name
