"""``p2p-rummy chaos``: play whole tables under faults and liars, in one process and one seed each."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from p2p_rummy.bots import LEVELS
from p2p_rummy.catalogue import _
from p2p_rummy.chaos import HEADER, Outcome, Storm, checked_storm, merged, row, run_all, summary
from p2p_rummy.chaos_picture import picture
from p2p_rummy.complaint import USAGE, Complaint
from p2p_rummy.presets import read_settings


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--players", metavar="N", type=span, default=(4, 4), help=_("such as 4, or 2..8 by seed")
    )
    parser.add_argument("--hands", metavar="N", type=int, default=2, help=_("hands in a game"))
    parser.add_argument("--game", metavar="GAME", default="rum500", help=_("any game of `p2p-rummy rules`"))
    parser.add_argument(
        "--set",
        metavar="OPTION=VALUE",
        action="append",
        default=[],
        help=_("change one option; may be given again"),
    )
    parser.add_argument("--seeds", metavar="A..B", type=span, default=(0, 19), help=_("such as 0..99"))
    parser.add_argument("--seed", metavar="N", type=int, help=_("this one run"))
    parser.add_argument(
        "--faults",
        metavar="LIST",
        default="all",
        help=_("names with commas, all, or none (docs/chaos.md lists them)"),
    )
    parser.add_argument(
        "--byzantine",
        metavar="SEAT=MISBEHAVIOUR",
        action="append",
        default=[],
        help=_("let a seat cheat in this way; may be given again"),
    )
    parser.add_argument(
        "--bots", metavar="LEVEL", choices=tuple(LEVELS), default="random", help=_("who plays: %(choices)s")
    )
    parser.add_argument(
        "--fast-deck", action="store_true", help=_("no cryptography of cards, the same messages")
    )
    parser.add_argument("--strict", action="store_true", help=_("no backups of keys: a leaver ends the hand"))
    parser.add_argument("--jobs", metavar="J", type=int, default=1, help=_("so many processes"))
    parser.add_argument("--json", action="store_true", help=_("one JSON object a run, for --merge"))
    parser.add_argument(
        "--trace", metavar="FILE", type=Path, help=_("write a picture of the run of --seed, as a page")
    )
    parser.add_argument(
        "--merge",
        metavar="FILE",
        nargs="+",
        type=Path,
        help=_("no runs: put results of several machines together"),
    )


def span(text: str) -> tuple[int, int]:
    """``4`` or ``2..8``."""
    first, dots, last = text.partition("..")
    low, high = int(first), int(last if dots else first)
    if not 0 <= low <= high:
        raise argparse.ArgumentTypeError(_("a span is such as 0..99"))
    return low, high


def run(args: argparse.Namespace) -> int:
    """1 if an invariant was violated in any run."""
    if args.merge:
        return tell(merged(_lines(args.merge)), as_json=args.json)
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
    if args.trace is not None and args.seed is None:
        raise Complaint(_("--trace draws one run: say which with --seed"), status=USAGE)
    seeds = [args.seed] if args.seed is not None else list(range(args.seeds[0], args.seeds[1] + 1))
    status = tell(run_all(storm, seeds, args.jobs), as_json=args.json)
    if args.trace is not None:
        draw(storm, args.seed, args.trace)
    return status


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


def draw(storm: Storm, seed: int, path: Path) -> None:
    world = storm.world(seed, record_messages=True)
    world.run()
    path.write_text(picture(world, storm.replay(seed)), encoding="utf-8")
    print(_("The picture of seed {seed} is in {path}.", seed=seed, path=path))


def _lines(files: Sequence[Path]) -> Iterator[tuple[str, int, str]]:
    for file in files:
        for number, text in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            yield str(file), number, text
