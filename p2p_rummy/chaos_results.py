"""What came of simulated runs: plain data that goes through processes, JSON files and other machines and comes back the same.

A line of a result file comes from anywhere, so each field is held to what a run of ours can have written
(:data:`FIELDS`); what is refused is named with its file, line and field, before anything is printed.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from p2p_rummy.catalogue import _, mark, ngettext
from p2p_rummy.complaint import Complaint, one_line
from p2p_rummy.files_given import MOST_TEXT, read_given
from protocol.simulation import FAULTS, MISBEHAVIOURS

MOST_SEATS: Final = 8
OUTCOMES: Final = ("finished", "stuck, as it must be", "violation")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One run, as plain data.  ``seconds`` are of the virtual clock.

    ``faults``: how often each struck (of delay, duplicate and reorder: how many messages).  ``byzantine``: ``2=flood`` and how
    often that seat did it.  ``voids``: ``2:not_opened`` and how many answers of that seat did not count for this reason.
    """

    seed: int
    players: int
    faults: Mapping[str, int]
    byzantine: Mapping[str, int]
    steps: int
    hands: int
    epochs: int
    drops: int
    returns: int
    rulings: int
    voids: Mapping[str, int]
    evidence: Sequence[str]
    seconds: float
    outcome: str
    violations: Sequence[str]
    head: str
    replay: str

    def to_json(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, line: str) -> Outcome:
        """Raises ValueError for a line that is none of ours; its text says which field is wrong."""
        try:
            value: Any = json.loads(line, object_pairs_hook=_once)
        except RecursionError:
            raise ValueError(_("not a result of p2p-rummy chaos: lists are nested too deep")) from None
        except json.JSONDecodeError as error:
            raise ValueError(_("not a result of p2p-rummy chaos: {reason}", reason=error)) from None
        if not isinstance(value, dict):
            raise ValueError(_("not a result of p2p-rummy chaos: no object"))
        for name in FIELDS:
            if name not in value:
                raise ValueError(_("the field {field} is missing", field=name))
        for name, found in value.items():
            if name not in FIELDS:
                raise ValueError(_("there is no field {field} in a result", field=one_line(repr(name))))
            fits, wanted = FIELDS[name]
            if not fits(found):
                raise ValueError(_("the field {field} has to be {wanted}", field=name, wanted=_(wanted)))
        if (value["outcome"] == "violation") != bool(value["violations"]):
            raise ValueError(
                _("the fields {field} and {other} contradict each other", field="outcome", other="violations")
            )
        if value["replay"].split(" ")[:4] != ["p2p-rummy", "chaos", "--seed", str(value["seed"])]:
            raise ValueError(
                _("the fields {field} and {other} contradict each other", field="seed", other="replay")
            )
        return cls(**value)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no name is there twice: one reader would see the first, another the last."""
    found = dict(pairs)
    if len(found) != len(pairs):
        name = next(name for name, count in Counter(name for name, _value in pairs).items() if count > 1)
        raise ValueError(_("the field {field} is there twice", field=one_line(repr(name))))
    return found


# --- the fields, and what each may hold ------------------------------------------------------------------

MOST_COUNT: Final = 1 << 53
"""No run counts so far; sums and other languages stay exact."""


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < MOST_COUNT  # a boolean is an int to isinstance


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable()


def _are_texts(value: Any) -> bool:
    # What an exception said may have lines.
    return isinstance(value, list) and all(isinstance(each, str) and _encodes(each) for each in value)


def _encodes(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _is_seconds(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < MOST_COUNT and math.isfinite(value)


def _counts(is_name: Callable[[str], bool]) -> Callable[[Any], bool]:
    def fits(value: Any) -> bool:
        return isinstance(value, dict) and all(
            is_name(name) and _is_count(count) for name, count in value.items()
        )

    return fits


def _is_seat(text: str) -> bool:
    return len(text) == 1 and text in "01234567"


def _is_liar(text: str) -> bool:
    seat, _equals, name = text.partition("=")
    return _is_seat(seat) and name in MISBEHAVIOURS


def _is_said_of_a_seat(text: Any) -> bool:
    """``2:not_opened``"""
    seat, _colon, reason = text.partition(":") if _is_text(text) else ("", "", "")
    return _is_seat(seat) and bool(reason)


_COUNT = (_is_count, mark("a whole number from 0"))

FIELDS: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "seed": _COUNT,
    "players": (
        lambda value: _is_count(value) and 2 <= value <= MOST_SEATS,
        mark("a number of seats, 2 to 8"),
    ),
    "faults": (_counts(lambda name: name in FAULTS), mark("an object of faults and how often each struck")),
    "byzantine": (_counts(_is_liar), mark("an object of SEAT=MISBEHAVIOUR and how often it happened")),
    "steps": _COUNT,
    "hands": _COUNT,
    "epochs": _COUNT,
    "drops": _COUNT,
    "returns": _COUNT,
    "rulings": _COUNT,
    "voids": (_counts(_is_said_of_a_seat), mark("an object of SEAT:REASON and how often it happened")),
    "evidence": (
        lambda value: isinstance(value, list) and all(map(_is_said_of_a_seat, value)),
        mark("a list of SEAT:REASON"),
    ),
    "seconds": (_is_seconds, mark("a number of seconds from 0")),
    "outcome": (lambda value: isinstance(value, str) and value in OUTCOMES, mark("how a run can come out")),
    "violations": (_are_texts, mark("a list of texts")),
    "head": (
        lambda value: (
            isinstance(value, str) and len(value) % 2 == 0 and set(value) <= set("0123456789abcdef")
        ),
        mark("a hash in hex"),
    ),
    "replay": (
        lambda value: _is_text(value) and value.startswith("p2p-rummy chaos "),
        mark("a line that begins with p2p-rummy chaos"),
    ),
}


# --- results of several machines -------------------------------------------------------------------------


def read_results(files: Sequence[Path]) -> list[Outcome]:
    """All results of these files, as :func:`merged`.  Raises Complaint, OSError."""
    return merged(line for file in files for line in _lines(file))


def _lines(file: Path) -> Iterable[tuple[str, int, str]]:
    for number, data in enumerate(read_given(file, MOST_TEXT).split(b"\n"), 1):
        try:
            yield str(file), number, data.decode("utf-8")
        except UnicodeDecodeError:
            raise Complaint(
                _(
                    "{file}, line {number}: {reason}",
                    file=file,
                    number=number,
                    reason=_("not a result of p2p-rummy chaos: no text"),
                )
            ) from None


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
        except ValueError as error:
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


# --- telling -----------------------------------------------------------------------------------------------

HEADER = f"{'seed':>6} {'seats':>5} {'steps':>6} {'hands':>5} {'drops':>5} {'back':>4} {'rulings':>7} {'epochs':>6}  outcome"


def row(outcome: Outcome) -> str:
    """One line of the table: after the outcome the faults that struck, the liars, void answers, convictions."""
    liars = ", ".join(
        f"{liar} x{count}" if count else f"{liar} (never)" for liar, count in outcome.byzantine.items()
    )
    voids = ", ".join(f"{void} x{count}" for void, count in outcome.voids.items())
    more = [
        ", ".join(f"{name} x{count}" for name, count in outcome.faults.items()),
        liars and f"liars {liars}",
        voids and f"void {voids}",
        f"convicted {', '.join(outcome.evidence)}" if outcome.evidence else "",
    ]
    line = (
        f"{outcome.seed:>6} {outcome.players:>5} {outcome.steps:>6} {outcome.hands:>5} {outcome.drops:>5} "
        f"{outcome.returns:>4} {outcome.rulings:>7} {outcome.epochs:>6}  {outcome.outcome}"
    )
    return "; ".join([line, *(text for text in more if text)])


def summary(outcomes: Sequence[Outcome]) -> list[str]:
    """The end of the table: how many runs, how they came out, who never lied, and a replay line for each violation."""
    kinds = Counter(outcome.outcome for outcome in outcomes)
    steps, drops, rulings = (
        sum(getattr(each, name) for each in outcomes) for name in ("steps", "drops", "rulings")
    )
    convicted = sum(len({text.partition(":")[0] for text in each.evidence}) for each in outcomes)
    void = sum(count for each in outcomes for count in each.voids.values())
    broken = sum(len(each.violations) for each in outcomes)
    sums = [
        ngettext("{count} step", "{count} steps", steps),
        ngettext("{count} drop", "{count} drops", drops),
        ngettext("{count} ruling", "{count} rulings", rulings),
        ngettext("{count} void answer", "{count} void answers", void),
        ngettext("{count} seat convicted", "{count} seats convicted", convicted),
        ngettext("{count} invariant violated", "{count} invariants violated", broken),
    ]
    lines = [
        ngettext("{count} run: {kinds}.", "{count} runs: {kinds}.", len(outcomes),
                 kinds=", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "-"),
        ", ".join(sums),
    ]  # fmt: skip
    idle = Counter(liar for each in outcomes for liar, count in each.byzantine.items() if not count)
    for liar, runs in sorted(idle.items()):
        lines.append(
            ngettext(
                "{liar} had no occasion in {count} run",
                "{liar} had no occasion in {count} runs",
                runs,
                liar=liar,
            )
        )
    for outcome in outcomes:
        if outcome.violations:
            lines += [f"VIOLATION {one_line(text)}" for text in outcome.violations]
            lines.append(f"  {outcome.replay}")
    return lines
