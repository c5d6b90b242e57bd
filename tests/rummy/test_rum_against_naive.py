"""The engine and a plain second implementation play the same hands, move for move, under random options.

Compared at every move: whose move it is, and the legal moves.  The packs are cut down to a few ranks and suits so
that melds, lay-offs, chains and calls are frequent.  A failure prints the seed.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from p2p_rummy.cards import FIRST_JOKER, NAMES, RANKS, card_names, pack_cards
from p2p_rummy.games.rum_lay import judge_call
from p2p_rummy.games.rum_position import Position
from p2p_rummy.local import LocalTable
from p2p_rummy.melds import Meld, recognise
from p2p_rummy.notation import NO_CLAIM, claim_text, parse
from p2p_rummy.options import resolve
from tests.rummy.naive import Move, Naive, Placed

CHOICES: dict[str, list[Any]] = {
    "calling": ["full", "full", "off", "latest_only"],
    "going_out": ["free", "discard_required", "floating", "unplayable_discard"],
    "deepest_use": ["any", "any", "new_meld", "short_layoff"],
    "top_card": ["free", "must_meld"],
    "ace": ["low", "high_or_low"],
    "min_run": [3, 3, 4],
    "round_the_corner": [False, False, True],
    "packs": [1, 2],
}
SEEDS = range(48)


def random_options(rng: random.Random) -> dict[str, Any]:
    options = {name: rng.choice(values) for name, values in CHOICES.items() if rng.random() < 0.5}
    if options.get("round_the_corner"):
        options.pop("ace", None)
    return options


def deal(rng: random.Random, options: dict[str, Any]) -> tuple[LocalTable, Naive]:
    seats = rng.choice([2, 2, 3])
    settings = resolve("rum500", options, seats)
    suits, ranks = rng.sample(range(4), 2), rng.sample(range(13), 6)
    pack = [
        card
        for card in pack_cards(packs=options.get("packs", 1), jokers_per_pack=2)
        if FIRST_JOKER <= card < FIRST_JOKER + 2 or (card % 52 // 13 in suits and card % 13 in ranks)
    ]
    rng.shuffle(pack)
    hands = [[pack.pop() for _ in range(rng.choice([2, 3, 4]))] for _ in range(seats)]
    pile = [pack.pop() for _ in range(min(len(pack), rng.choice([1, 4])))]
    stock = pack[: rng.choice([0, 2, 4])]
    table = Position(settings=settings, hands=hands, pile=pile, stock=stock).table()
    naive = Naive(
        hands=[card_names(hand) for hand in hands],
        stock=card_names(stock),
        pile=card_names(pile),
        options=options,
        had_stock=bool(stock),
    )
    return table, naive


def key_of_text(table: LocalTable, seat: int, text: str) -> Move:
    """A move apart from its spelling, as the plain implementation has it."""
    move = parse(text)
    game = table.game

    def named(placed: tuple[int, int]) -> Placed:
        return NAMES[placed[0]], claim_text(placed[1]) if placed[1] != NO_CLAIM else ""

    if move.verb == "lay":
        return "lay", named(move.parts[0][0]), move.meld
    if move.verb == "rummy" and move.meld:
        meld = judge_call(game.table, seat, move)
        assert isinstance(meld, Meld)
        cards = tuple(named(placed) for placed in zip(meld.cards, meld.claims, strict=True))
        return "rummy", move.meld, frozenset(cards) if meld.kind == "group" else cards
    if move.verb in ("meld", "rummy"):
        shape = recognise(move.parts[0], game.rules.melds)
        lowest = "" if shape.kind == "group" else RANKS[shape.low % 13]
        return move.verb, frozenset(named(placed) for placed in shape.cards), lowest
    return move.verb, *card_names(move.cards)


def key_of_naive(naive: Naive, move: Move) -> Move:
    if move[0] != "rummy":
        return move
    if move[-1] == 0:
        return move[:-1]
    meld = naive.melds[move[-1]]
    for placed in move[1]:
        grown = naive.fits(meld, placed)
        assert grown is not None
        meld = grown
    return "rummy", move[-1], frozenset(meld.cards) if meld.kind == "group" else tuple(meld.cards)


@pytest.mark.parametrize("seed", SEEDS)
def test_both_know_the_same_moves(seed: int) -> None:
    rng = random.Random(seed)
    options = random_options(rng)
    table, naive = deal(rng, options)
    for _ in range(24):
        if naive.over:
            assert table.game.table.phase == "over"
            return
        seat = naive.to_move()
        ours = {key_of_text(table, seat, text): text for text in table.legal(seat)}
        theirs = {key_of_naive(naive, move): move for move in naive.moves()}
        assert ours.keys() == theirs.keys(), (options, naive)
        chosen = rng.choice(sorted(ours, key=str))
        table.move(seat, ours[chosen], into_next_hand=False)
        naive.do(theirs[chosen])
