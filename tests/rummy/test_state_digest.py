"""The digest of the public state: no language would compute it otherwise, and nothing of the state is left out of it."""

from __future__ import annotations

import copy
import hashlib
import random
from typing import Any

import pytest

from p2p_rummy.games.base import make_game, state_digest, value_of
from p2p_rummy.games.rum import RumGame
from p2p_rummy.games.rum_snapshot import digest
from p2p_rummy.games.rummoli import Rummoli
from p2p_rummy.local import LocalTable
from p2p_rummy.melds import Meld
from protocol.canonical import encode

# --- the mapping -----------------------------------------------------------------------------------------


def test_plain_data_has_the_bytes_that_the_specification_says() -> None:
    state = {"b": -1, "a": None, "c": [True, "x"]}
    assert encode(value_of(state)).hex() == (
        "93"  # three pairs, by rising key
        "92a16190"  # a: nothing, an empty list
        "92a162a22d31"  # b: the text -1
        "92a16392c3a178"  # c: a list of truth and text
    )


def test_the_digest_is_a_tagged_hash_of_these_bytes() -> None:
    tag, data = b"game state", bytes.fromhex("9192a16101")  # {"a": 1}
    framed = b"p2p-rummy/" + bytes([len(tag)]) + tag + len(data).to_bytes(8, "big") + data
    assert state_digest({"a": 1}) == hashlib.sha256(framed).digest()


def test_the_order_in_which_a_map_was_filled_does_not_matter() -> None:
    assert state_digest({"a": 1, "b": {"x": 1, "y": 2}}) == state_digest({"b": {"y": 2, "x": 1}, "a": 1})


def test_keys_are_compared_by_code_points() -> None:
    assert value_of({"b": 1, "B": 2, "é": 3, "a": 4}) == [["B", 2], ["a", 4], ["b", 1], ["é", 3]]


@pytest.mark.parametrize("wrong", [1.5, {1: "x"}, {"a": {2}}, b"bytes", object()])
def test_what_is_not_plain_data_has_no_digest(wrong: object) -> None:
    with pytest.raises(TypeError, match="not plain data"):
        state_digest({"a": wrong})


# --- nothing is left out ---------------------------------------------------------------------------------


def played(name: str, options: dict[str, object], seats: int, moves: int, seed: int) -> Any:
    game = make_game(name, options, seats)
    table = LocalTable(game, rng=random.Random(seed))
    table.settle()
    dice = random.Random(seed)
    for _ in range(moves):
        seat = next(seat for seat in table.to_move() if table.legal(seat))
        table.move(seat, dice.choice(table.legal(seat)))
    return game


DERIVED = {
    "rules": "the agreement",
    "windows": "the rules",
    "known": "faces and hands",
    "asked": "whose turn it was, and who plays",
    "_next": "who plays",
    "_answering": "who plays, and for whom the table plays",
    "_runs": "the melds",
    "fit_mask": "the melds",
    "pile_bits": "the pile",
}
"""Fields that follow from others: for speed only.  (Maps are looked at elsewhere.)"""


def changes(value: Any) -> list[Any]:
    """Other values of the same kind; [] for what is looked at field by field instead."""
    match value:
        case bool():
            return [not value]
        case int():
            return [value + 1]
        case str():
            return ["high" if value != "high" else "double"]
        case set():
            return [value ^ {0}]
        case tuple():
            return [(*value, 1)]
        case [list(), *_]:
            return [[[*value[0], 0], *value[1:]]]
        case [tuple(), *_]:
            return [value[:-1]]
        case [dict(), *_]:
            return [value[:-1]]
        case list() if value and all(type(item) is int for item in value):
            return [[*value[:-1], 0 if value[-1] < 0 else value[-1] ^ 1]]
        case list() if value and all(type(item) is bool for item in value):
            return [[not value[0], *value[1:]]]
        case _:
            return []


JOKER = {"effect", "joker_used", "joker_blocked"}
"""Of the dealer's joker: they stay as they are in every other game."""


@pytest.mark.parametrize("moves", [0, 7, 60])
@pytest.mark.parametrize("name", ["rum500_wiki", "dealers_joker"])
def test_every_field_of_a_rum_table_is_in_its_digest(name: str, moves: int) -> None:
    game = played(name, {"first_dealer": "low_card"}, 4, moves, 3)
    assert isinstance(game, RumGame)
    before, looked_at = digest(game.table), set()
    skipped = DERIVED.keys() | (set() if name == "dealers_joker" else JOKER)
    for field, value in vars(game.table).items():
        for other in changes(value) if field not in skipped else ():
            twin = game.table.copy()
            setattr(twin, field, other)
            assert digest(twin) != before, field
            looked_at.add(field)
    assert len(looked_at) > 30


def test_each_field_of_a_meld_is_in_the_digest() -> None:
    game = played("rum500", {}, 3, 60, 1)
    assert game.table.melds
    for name in ("owner", "factor", "sealed", "cards", "claims", "seats", "slots"):
        twin = game.table.copy()
        meld: Meld = next(iter(twin.melds.values()))
        value = getattr(meld, name)
        setattr(meld, name, changes(list(value))[0] if isinstance(value, list) else changes(value)[0])
        assert digest(twin) != digest(game.table), name


@pytest.mark.parametrize("moves", [3, 9, 16, 30, 60])
def test_every_field_of_a_table_of_rummoli_is_in_its_digest(moves: int) -> None:
    game = played("rummoli", {"start_chips": 40, "max_rounds": 4}, 4, moves, 2)
    assert isinstance(game, Rummoli)
    parts = {"": game, "board": game.board, "cards": game.cards}
    if game.round is not None:
        parts |= {"round": game.round, "before": game.round.before}
        parts |= {"betting": game.round.betting, "stops": game.round.stops}
    before, looked_at = game.digest(), set()
    for part, of in parts.items():
        names = getattr(of, "__slots__", None) or vars(of) if of is not None else ()
        for name in names:
            if (part, name) in _OF_THE_OPTIONS:
                continue
            value = getattr(of, name)
            for other in (
                [{**value, next(iter(value)): 99}] if isinstance(value, dict) and value else changes(value)
            ):
                twin = copy.deepcopy(game)
                setattr(_part(twin, part), name, other)
                assert twin.digest() != before, f"{part}.{name}"
                looked_at.add((part, name))
    assert len(looked_at) > 10


def _part(game: Rummoli, part: str) -> Any:
    if part in ("", "board", "cards"):
        return getattr(game, part) if part else game
    played = game.round
    return {
        "round": played,
        "before": played and played.before,
        "betting": played and played.betting,
        "stops": played and played.stops,
    }[part]


_OF_THE_OPTIONS = {
    ("", "seats"), ("", "card_count"), ("", "_phase"), ("round", "phase"), ("", "_answers"), ("betting", "limit"),
    ("round", "dealer"), ("round", "players"), ("round", "faults"), ("round", "voided"), ("", "faults"),
}  # fmt: skip
"""Fixed by the agreement, equal to the game's own, or never set when somebody asks for a digest."""
