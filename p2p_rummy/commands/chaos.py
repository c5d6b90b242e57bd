"""``p2p-rummy chaos``: play whole tables under faults and liars, in one process and one seed each."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from p2p_rummy.bots import LEVELS
from p2p_rummy.catalogue import _
from p2p_rummy.chaos import Storm, checked_storm, run_all
from p2p_rummy.chaos_picture import picture
from p2p_rummy.chaos_results import HEADER, MOST_COUNT, Outcome, read_results, row, summary
from p2p_rummy.complaint import USAGE, Complaint
from p2p_rummy.presets import read_settings

DEFAULTS: Final[dict[str, object]] = {
    "players": (4, 4),
    "hands": 2,
    "game": "rum500",
    "set": [],
    "seeds": (0, 19),
    "seed": None,
    "faults": "all",
    "byzantine": [],
    "bots": "random",
    "fast_deck": False,
    "strict": False,
    "jobs": 1,
    "trace": None,
}
"""What describes a run.  The parser leaves out what was not given, so that ``--merge`` can refuse what was."""


def arguments(parser: argparse.ArgumentParser) -> None:
    runs = parser.add_argument_group(_("what is played"))
    runs.argument_default = argparse.SUPPRESS
    runs.add_argument("--players", metavar="N", type=players, help=_("such as 4, or 2..8 by seed"))
    runs.add_argument("--hands", metavar="N", type=int, help=_("hands in a game"))
    runs.add_argument("--game", metavar="GAME", help=_("any game of `p2p-rummy rules`"))
    runs.add_argument(
        "--set", metavar="OPTION=VALUE", action="append", help=_("change one option; may be given again")
    )
    one_or_many = runs.add_mutually_exclusive_group()
    one_or_many.add_argument("--seeds", metavar="A..B", type=seeds, help=_("such as 0..99"))
    one_or_many.add_argument("--seed", metavar="N", type=seed, help=_("this one run"))
    runs.add_argument(
        "--faults", metavar="LIST", help=_("names with commas, all, or none (docs/chaos.md lists them)")
    )
    runs.add_argument(
        "--byzantine",
        metavar="SEAT=MISBEHAVIOUR",
        action="append",
        help=_("let a seat cheat in this way; may be given again"),
    )
    runs.add_argument("--bots", metavar="LEVEL", choices=tuple(LEVELS), help=_("who plays: %(choices)s"))
    runs.add_argument(
        "--fast-deck", action="store_true", help=_("no cryptography of cards, the same messages")
    )
    runs.add_argument("--strict", action="store_true", help=_("no backups of keys: a leaver ends the hand"))
    runs.add_argument("--jobs", metavar="J", type=jobs, help=_("so many processes"))
    runs.add_argument(
        "--trace", metavar="FILE", type=Path, help=_("write a picture of the run of --seed, as a page")
    )
    parser.add_argument("--json", action="store_true", help=_("one JSON object a run, for --merge"))
    parser.add_argument(
        "--merge",
        metavar="FILE",
        nargs="+",
        type=Path,
        help=_("no runs: put results of several machines together"),
    )


def players(text: str) -> tuple[int, int]:
    return _span(text, _("players are such as 4, or 2..8"))


def seeds(text: str) -> tuple[int, int]:
    return _span(text, _("a span of seeds is such as 0..99"))


def _span(text: str, wanted: str) -> tuple[int, int]:
    first, dots, last = text.partition("..")
    low, high = _whole(first, 0, wanted), _whole(last if dots else first, 0, wanted)
    if low > high:
        raise argparse.ArgumentTypeError(wanted)
    return low, high


def seed(text: str) -> int:
    return _whole(text, 0, _("a seed is a whole number from 0, such as 17"))


def jobs(text: str) -> int:
    return _whole(text, 1, _("at least one process works"))


def _whole(text: str, least: int, wanted: str) -> int:
    number = int(text) if text.isdecimal() and len(text) < len(str(MOST_COUNT)) else -1
    if number < least:
        raise argparse.ArgumentTypeError(wanted)
    return number


def run(args: argparse.Namespace) -> int:
    """1 if an invariant was violated in any run."""
    given = [name for name in DEFAULTS if hasattr(args, name)]
    if args.merge:
        if given:
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in given)
            raise Complaint(_("--merge plays nothing: leave out {flags}", flags=flags), status=USAGE)
        return tell(read_results(args.merge), as_json=args.json)
    args = argparse.Namespace(**(DEFAULTS | vars(args)))
    storm = checked_storm(
        players=args.players,
        hands=args.hands,
        game=args.game,
        options=read_settings(args.set),
        faults=args.faults,
        byzantine=args.byzantine,
        fast=args.fast_deck,
        bots=args.bots,
        strict=args.strict,
    )
    if args.trace is not None:
        if args.seed is None:
            raise Complaint(_("--trace draws one run: say which with --seed"), status=USAGE)
        with writable(args.trace):
            return tell(drawn(storm, args.seed, args.trace), as_json=args.json)
    first, last = (args.seed, args.seed) if args.seed is not None else args.seeds
    return tell(run_all(storm, range(first, last + 1), args.jobs), as_json=args.json)


def tell(outcomes: Iterable[Outcome], *, as_json: bool) -> int:
    told: list[Outcome] = []
    if not as_json:
        print(HEADER)
    for outcome in outcomes:
        told.append(outcome)
        print(outcome.to_json() if as_json else row(outcome), flush=True)
    if not as_json:
        print("\n".join(summary(told)))
    return 1 if any(outcome.violations for outcome in told) else 0


# --- the picture -------------------------------------------------------------------------------------------


@contextmanager
def writable(path: Path) -> Iterator[None]:
    """A run may take long: whether its picture can be written is known before.  Raises OSError.

    What is there is left alone until there is a picture, and a run that fails leaves no empty file.
    """
    new = not path.exists()
    with path.open("ab"):
        pass
    try:
        yield
    except BaseException:
        if new and not path.stat().st_size:
            path.unlink()
        raise


def drawn(storm: Storm, seed: int, path: Path) -> Sequence[Outcome]:
    """The run of this seed, and its picture in a file.  Where the picture is does not belong among the results."""
    world = storm.world(seed, record_messages=True)
    outcome = storm.outcome(world.run())
    path.write_text(picture(world, outcome.replay), encoding="utf-8")
    print(_("The picture of seed {seed} is in {path}.", seed=seed, path=path), file=sys.stderr)
    return [outcome]
