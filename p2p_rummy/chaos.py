"""Faults as a feature: whole tables of bots under one seed, told as a table of results.

A :class:`Storm` is everything that makes a run but its seed; ``storm.run(seed)`` plays it and gives an :class:`Outcome`, which is
plain data: it goes through processes, JSON files and other machines and comes back the same (``--merge``).
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from p2p_rummy.agreed import RULES_VERSION, agreed_game
from p2p_rummy.bots import Bot, make_bot
from p2p_rummy.catalogue import _, ngettext
from p2p_rummy.complaint import USAGE, Complaint
from p2p_rummy.options import resolve
from protocol.fast_deck import FastDecks
from protocol.session import Session
from protocol.simulation import FAULTS, MISBEHAVIOURS, Setup, World
from protocol.simulation.shared import SharedDecks

DeckName = Literal["real", "fast"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Storm:
    """``players``: the fewest and the most; a seed picks between them."""

    players: tuple[int, int] = (4, 4)
    hands: int = 2
    game: str = "rum500"
    options: tuple[tuple[str, str], ...] = ()
    faults: tuple[str, ...] = ()
    byzantine: tuple[tuple[int, str], ...] = ()
    deck: DeckName = "real"
    bots: str = "random"
    strict: bool = False

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
            options=self.options,
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
        report = self.world(seed).run()
        faults = Counter(fault.name for fault in report.faults)
        return Outcome(
            seed=seed,
            players=report.seats,
            faults=dict(sorted(faults.items())),
            byzantine=[f"{seat}={name}" for seat, name in self.byzantine if seat < report.seats],
            steps=report.steps,
            hands=report.hands,
            epochs=report.epochs,
            drops=report.drops,
            returns=report.returns,
            rulings=report.rulings,
            evidence=[f"{seat}:{reason}" for seat, reason in report.evidence],
            seconds=round(report.seconds, 3),
            outcome=report.outcome,
            violations=[
                f"{each.invariant} at {each.time:.3f} s, seat {each.seat}: {each.message}"
                for each in report.violations
            ],
            head=report.head.hex(),
            replay=self.replay(seed),
        )

    def replay(self, seed: int) -> str:
        """The one line that plays this run again."""
        fewest, most = self.players
        words = ["p2p-rummy", "chaos", "--seed", str(seed)]
        words += ["--players", str(fewest) if fewest == most else f"{fewest}..{most}"]
        words += ["--hands", str(self.hands), "--game", self.game]
        words += [
            word
            for name, value in self.options
            if name != "max_hands"
            for word in ("--set", f"{name}={value}")
        ]
        words += ["--faults", ",".join(self.faults) or "none"]
        words += [word for seat, name in self.byzantine for word in ("--byzantine", f"{seat}={name}")]
        words += ["--bots", self.bots]
        words += ["--fast-deck"] * (self.deck == "fast") + ["--strict"] * self.strict
        return " ".join(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One run, as plain data.  ``seconds`` are of the virtual clock."""

    seed: int
    players: int
    faults: Mapping[str, int]
    byzantine: Sequence[str]
    steps: int
    hands: int
    epochs: int
    drops: int
    returns: int
    rulings: int
    evidence: Sequence[str]
    seconds: float
    outcome: str
    violations: Sequence[str] = field(default_factory=list)
    head: str = ""
    replay: str = ""

    def to_json(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, line: str) -> Outcome:
        """Raises ValueError for a line that is none of ours."""
        value: Any = json.loads(line)
        if not isinstance(value, dict) or set(value) != set(cls.__dataclass_fields__):
            raise ValueError("not a result of p2p-rummy chaos")
        return cls(**value)


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
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        yield from pool.map(storm.run, seeds)


def merged(lines: Iterable[tuple[str, int, str]]) -> list[Outcome]:
    """Results of several machines, by seed; ``lines`` are (file, number, text).

    The same run twice counts once.  Raises Complaint for a line that cannot be read and for one run with two
    outcomes (a seed always gives the same run, so one of the programs differs).
    """
    found: dict[str, Outcome] = {}
    for file, number, text in lines:
        if not text.strip():
            continue
        try:
            outcome = Outcome.from_json(text)
        except (ValueError, TypeError) as error:
            raise Complaint(
                _("{file}, line {number}: {reason}", file=file, number=number, reason=error)
            ) from None
        known = found.setdefault(outcome.replay, outcome)
        if known != outcome:
            raise Complaint(
                _(
                    "{file}, line {number}: seed {seed} came out differently elsewhere; were the programs the same?",
                    file=file,
                    number=number,
                    seed=outcome.seed,
                )
            )
    return sorted(found.values(), key=lambda outcome: (outcome.seed, outcome.replay))


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
    """A storm from the words of the command line.  Raises Complaint, OptionError."""
    fewest, most = players
    if not 2 <= fewest <= most <= 8:
        raise Complaint(_("a table has 2 to 8 seats: change --players"), status=USAGE)
    if hands < 1:
        raise Complaint(_("at least one hand is played: change --hands"), status=USAGE)
    chosen = dict(options)
    limit = "max_rounds" if game == "rummoli" else "max_hands"
    chosen.setdefault(limit, str(hands))
    for seats in range(fewest, most + 1):
        resolve(game, chosen, seats)
    return Storm(
        players=players,
        hands=hands,
        game=game,
        options=tuple(sorted(chosen.items())),
        faults=_fault_names(faults),
        byzantine=tuple(_misbehaviour(word, most) for word in byzantine),
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


def _misbehaviour(word: str, seats: int) -> tuple[int, str]:
    seat, _equals, name = word.partition("=")
    if not seat.isdecimal() or int(seat) >= seats or name not in MISBEHAVIOURS:
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


# --- telling -----------------------------------------------------------------------------------------------

HEADER = f"{'seed':>6} {'seats':>5} {'steps':>6} {'hands':>5} {'drops':>5} {'back':>4} {'rulings':>7} {'epochs':>6}  outcome"


def row(outcome: Outcome) -> str:
    faults = " ".join(f"{name}x{count}" for name, count in outcome.faults.items())
    more = [text for text in (faults, " ".join(outcome.byzantine), " ".join(outcome.evidence)) if text]
    line = (
        f"{outcome.seed:>6} {outcome.players:>5} {outcome.steps:>6} {outcome.hands:>5} {outcome.drops:>5} "
        f"{outcome.returns:>4} {outcome.rulings:>7} {outcome.epochs:>6}  {outcome.outcome}"
    )
    return "; ".join([line, *more])


def summary(outcomes: Sequence[Outcome]) -> list[str]:
    """The end of the table: how many runs, how they came out, and a replay line for each violation."""
    kinds = Counter(outcome.outcome for outcome in outcomes)
    bad = [outcome for outcome in outcomes if outcome.violations]
    lines = [
        ngettext("{count} run: {kinds}.", "{count} runs: {kinds}.", len(outcomes),
                 kinds=", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "-"),
        _(
            "{steps} steps, {drops} drops, {rulings} rulings, {evidence} seats convicted, {violations} invariants violated",
            steps=sum(outcome.steps for outcome in outcomes),
            drops=sum(outcome.drops for outcome in outcomes),
            rulings=sum(outcome.rulings for outcome in outcomes),
            evidence=sum(len({text.partition(":")[0] for text in outcome.evidence}) for outcome in outcomes),
            violations=sum(len(outcome.violations) for outcome in outcomes),
        ),
    ]  # fmt: skip
    for outcome in bad:
        lines += [f"VIOLATION {text}" for text in outcome.violations]
        lines.append(f"  {outcome.replay}")
    return lines
