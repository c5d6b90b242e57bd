"""Scenario files: one JSON object a line, a position, some moves and what must come of them.

Every scenario runs against the real engine with known cards (:mod:`p2p_rummy.games.rum_position`): same checks, same
order of refusals.  docs/notation.md describes every field; the form is that of ``tests/data/rules.jsonl``.

:func:`run_file` returns what failed, each as expected against got.  A line that cannot be read is a failure too, with
its number.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from p2p_rummy.cards import FIRST_JOKER, NAMES, card_number
from p2p_rummy.files_given import MOST_TEXT, read_given
from p2p_rummy.games.rum import RumGame
from p2p_rummy.games.rum_position import STAGE_OF, PlacedMeld, Position
from p2p_rummy.games.rum_rules import rum_rules
from p2p_rummy.local import LocalTable
from p2p_rummy.notation import NO_CLAIM, RANK_ONLY, Placed, claim_text
from p2p_rummy.options import RUM_GAMES, resolve
from p2p_rummy.refusals import IllegalMove
from protocol.game import Over, Refused, Shuffle

RANKS: Final = "A23456789TJQK"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One expectation that was not met."""

    file: str
    line: int
    scenario: str
    what: str
    expected: object
    got: object

    def __str__(self) -> str:
        return (
            f"{self.file}:{self.line}: {self.scenario}: {self.what}\n"
            f"    expected {_shown(self.expected)}\n"
            f"    got      {_shown(self.got)}"
        )


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass(slots=True)
class Outcome:
    """How the moves went: the refused one, if any, and the table after the last accepted one."""

    table: LocalTable
    names: list[str]
    error: dict[str, object] | None = None
    message: str = ""


def _lines(path: Path) -> list[str]:
    return read_given(path, MOST_TEXT).decode("utf-8").splitlines()


def run_file(path: Path) -> list[Failure]:
    """All failures of one file.  Raises Complaint, OSError or UnicodeDecodeError if it cannot be read at all."""
    failures: list[Failure] = []
    for number, line in enumerate(_lines(path), 1):
        if line.strip():
            failures += run_line(line, file=str(path), number=number)
    return failures


def run_files(paths: Iterable[Path]) -> tuple[int, list[Failure]]:
    """How many scenarios there are in the files, and what failed."""
    count = 0
    failures: list[Failure] = []
    for path in paths:
        count += sum(1 for line in _lines(path) if line.strip())
        failures += run_file(path)
    return count, failures


def run_line(line: str, *, file: str = "", number: int = 1) -> list[Failure]:
    """One scenario."""
    name = f"line {number}"

    def failure(what: str, expected: object, got: object) -> Failure:
        return Failure(file=file, line=number, scenario=name, what=what, expected=expected, got=got)

    try:
        scenario = json.loads(line)
    except ValueError as error:
        return [failure("not JSON", "one JSON object", str(error))]
    if not isinstance(scenario, dict):
        return [failure("not a scenario", "one JSON object", type(scenario).__name__)]
    name = str(scenario.get("id", name))
    if "title" in scenario:
        name = f"{name} ({scenario['title']})"
    expect = scenario.get("expect", {})
    try:
        outcome = play(scenario)
    except Refused as error:
        if isinstance(expect, dict) and expect.get("refused") == error.code:
            return []
        return [failure("the table is refused", "a table", str(error))]
    except (KeyError, ValueError, TypeError, IndexError, AttributeError, StopIteration) as error:
        return [failure("cannot be set up", "a scenario as docs/notation.md describes it", _reason(error))]
    found = compare(outcome, expect)
    return [failure(what, expected, got) for what, expected, got in found]


def _reason(error: Exception) -> str:
    return f"no field {error}" if isinstance(error, KeyError) else f"{type(error).__name__}: {error}"


# --- playing --------------------------------------------------------------------------------------------


def play(scenario: Mapping[str, Any]) -> Outcome:
    """Set the position up and play the moves until one is refused."""
    names = [str(seat) for seat in scenario["seats"]]
    table = position_of(scenario, names).table()
    outcome = Outcome(table, names)
    for index, (seat, text) in enumerate(scenario["moves"]):
        try:
            _move(table, names.index(seat), text)
        except Refused as refusal:
            outcome.error = {"move": index, "code": refusal.code}
            outcome.message = str(refusal)
            break
    return outcome


def _move(table: LocalTable, seat: int, text: str) -> None:
    game = cast("RumGame", table.game)
    if text.strip().lower() != "deal":
        table.move(seat, text, into_next_hand=False)
        return
    need = game.need
    if not isinstance(need, Shuffle) or not need.new_hand:
        raise IllegalMove("wrong_phase", "this is not the moment to deal (R8)", rule="R8")
    if seat != game.table.dealer:
        raise IllegalMove("not_your_turn", "another seat deals (R15)", rule="R15")
    table.shuffle(need)
    table.settle(into_next_hand=False)


def position_of(scenario: Mapping[str, Any], names: list[str]) -> Position:
    game = scenario["game"]
    if game not in RUM_GAMES:
        raise ValueError(f"scenario files are for {', '.join(RUM_GAMES)}; {game!r} is none of them")
    settings = resolve(game, scenario.get("options", {}), len(names))
    state = scenario["state"]
    if state["phase"] not in STAGE_OF:
        raise ValueError(f"there is no phase {state['phase']!r}; the phases are {', '.join(STAGE_OF)}")
    keys = side_keys(names, partnership=rum_rules(settings).partnership)
    side_of = {key: side for side, key in enumerate(keys)}
    for seat, name in enumerate(names):
        side_of[name] = rum_rules(settings).side_of[seat]
    joker = state.get("dealers_joker", {})
    return Position(
        settings=settings,
        hands=[_cards(state["hands"].get(name, [])) for name in names],
        stock=_cards(state["stock"]),
        pile=_cards(state["discard"]),
        melds=[_meld(meld, names) for meld in state["melds"]],
        phase=state["phase"],
        turn=names.index(state["turn"]),
        dealer=names.index(scenario["dealer"]),
        totals=[scenario.get("scores", {}).get(key, 0) for key in keys],
        hand=state.get("hand_no", 1),
        opened=sum(1 << side for side in {side_of[key] for key in state.get("opened", [])}),
        effect=joker.get("effect", ""),
        joker_used=joker.get("used", False),
        joker_blocked=joker.get("blocked", False),
        packs=[_cards(pack) for pack in scenario.get("packs", [])],
    )


def side_keys(names: list[str], *, partnership: bool) -> list[str]:
    """What scores are keyed by: seats, or sides such as ``A+C`` (R190)."""
    if partnership:
        return [f"{names[0]}+{names[2]}", f"{names[1]}+{names[3]}"]
    return names


def _cards(names: Iterable[str]) -> list[int]:
    return [card_number(name) for name in names]


def _meld(meld: Mapping[str, Any], names: list[str]) -> PlacedMeld:
    return PlacedMeld(
        id=meld["id"],
        kind=meld["kind"],
        owner=names.index(meld["owner"]),
        cards=tuple(_placed(card) for card, _ in meld["cards"]),
        seats=tuple(names.index(seat) for _, seat in meld["cards"]),
    )


def _placed(text: str) -> Placed:
    name, equals, claim = text.partition("=")
    card = card_number(name)
    if not equals:
        return card, NO_CLAIM
    if card < FIRST_JOKER:
        raise ValueError(f"{text!r}: only a joker stands for another card")
    return card, RANK_ONLY + RANKS.index(claim) if len(claim) == 1 else card_number(claim)


# --- comparing ------------------------------------------------------------------------------------------


def compare(outcome: Outcome, expect: Mapping[str, Any]) -> list[tuple[str, object, object]]:
    """Each expectation that was not met: what, expected, got."""
    wrong: list[tuple[str, object, object]] = []
    expected_error = expect.get("error")
    if outcome.error != expected_error:
        got: object = outcome.error
        if outcome.error is not None:
            got = {**outcome.error, "message": outcome.message}
        wrong.append(("error", expected_error, got))
    state = observed(outcome)
    for key, expected in expect.items():
        if key == "error":
            continue
        if key not in state:
            wrong.append((key, expected, f"nothing: {key!r} is no field that can be expected"))
        elif key == "hands":
            for seat, cards in expected.items():
                held = state["hands"].get(seat)
                if held is None or sorted(held) != sorted(cards):
                    wrong.append((f"hand of {seat}", cards, held))
        elif key == "scores":
            wrong += [
                (f"score of {name}", points, state["scores"].get(name))
                for name, points in expected.items()
                if state["scores"].get(name) != points
            ]
        elif state[key] != expected:
            wrong.append((key, expected, state[key]))
    return wrong


def observed(outcome: Outcome) -> dict[str, Any]:
    """The state in the terms of a scenario's ``expect``."""
    game = cast("RumGame", outcome.table.game)
    table = game.table
    names = outcome.names
    secret = outcome.table.secret

    def card(slot: int) -> str:
        return NAMES[table.face[slot] if table.face[slot] >= 0 else secret[slot]]

    keys = side_keys(names, partnership=game.rules.partnership)
    need = game.need
    winner = None
    if isinstance(need, Over) and need.winners:
        winner = keys[game.rules.side_of[need.winners[0]]]
    return {
        "turn": names[table.turn] if table.turn >= 0 else None,
        "phase": table.phase,
        "hand_over": table.phase == "over",
        "game_over": isinstance(need, Over),
        "dealer": names[table.dealer],
        "hand_no": table.hand,
        "scores": {key: table.totals[side] for side, key in enumerate(keys)},
        "hands": {name: [card(slot) for slot in table.hands[seat]] for seat, name in enumerate(names)},
        "discard": [NAMES[number] for number in table.pile_cards],
        "stock": [card(slot) for slot in reversed(table.stock)],
        "out_of_play": [card(slot) for slot in table.dead],
        "melds": [
            {
                "id": meld.id,
                "kind": meld.kind,
                "owner": names[meld.owner],
                "cards": [
                    [NAMES[number] + (f"={claim_text(claim)}" if claim != NO_CLAIM else ""), names[seat]]
                    for number, claim, seat in zip(meld.cards, meld.claims, meld.seats, strict=True)
                ],
            }
            for _, meld in sorted(table.melds.items())
        ],
        "winner": winner,
        "notes": table.sheet[-1]["notes"] if table.sheet else [],
        "dealers_joker": {
            "effect": table.effect,
            "used": table.joker_used,
            "blocked": table.joker_blocked,
        },
    }
