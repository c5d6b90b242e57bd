"""The sharp bot's decisions: what it chooses in plain positions, when it stops thinking, and that its choice is legal."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from p2p_rummy.bots import make_bot
from p2p_rummy.bots.sharp import SharpBot
from p2p_rummy.bots.sharp_lanes import Lanes
from p2p_rummy.bots.sharp_search import Budget, Candidate, best_move
from p2p_rummy.bots.sharp_sketch import Habits, Sketch
from p2p_rummy.bots.sharp_worlds import Outlook
from p2p_rummy.cards import card_number
from p2p_rummy.games import make_game
from p2p_rummy.games.rum import RumGame
from p2p_rummy.games.rum_position import PlacedMeld, Position
from p2p_rummy.local import LocalTable
from p2p_rummy.notation import NO_CLAIM
from p2p_rummy.options import GAMES, resolve
from protocol.game import Seat
from tests.rummy.test_bots import any_table


def cards(text: str) -> list[int]:
    return [card_number(name) for name in text.split()]


def run(number: int, owner: Seat, text: str) -> PlacedMeld:
    held = cards(text)
    return PlacedMeld(
        id=number,
        kind="run",
        owner=owner,
        cards=tuple((card, NO_CLAIM) for card in held),
        seats=(owner,) * len(held),
    )


def table(hands: list[str], *, pile: str, stock: str, **more: Any) -> LocalTable:
    settings = resolve("rum500", more.pop("options", {}), len(hands))
    return Position(
        settings=settings, hands=[cards(hand) for hand in hands], pile=cards(pile), stock=cards(stock), **more
    ).table()


def choices(local: LocalTable, seat: Seat, worlds: int = 60) -> set[str]:
    """What it chooses from five different seeds."""
    bots = [SharpBot(seed, Budget(worlds=worlds)) for seed in range(5)]
    return {bot.choose(local.game, seat, local.faces[seat]) for bot in bots}


STOCK = "2S 3D 7H 9C JH 4C 8D KC 5H TD 6S QC"


# --- plain positions ----------------------------------------------------------------------------------


def before_b_may_call(hands: list[str], pile: str, stock: str, thrown: str) -> LocalTable:
    """Hearts lie on the table, C has thrown a card away, A is to play next and B may call."""
    local = table(hands, pile=pile, stock=stock, melds=[run(1, 0, "6H 7H 8H")], turn=2)
    local.move(2, "draw")
    local.move(2, f"discard {thrown}")
    return local


def test_it_calls_what_brings_more_than_the_cards_that_come_along_cost() -> None:
    """The 9H goes on the hearts, and QD comes with it to its two queens."""
    local = before_b_may_call(["KS 7D 4C", "QS QH 3C", "2D 5S JD"], "9H QD", STOCK, "2D")
    assert choices(local, 1) == {"rummy 9H on 1"}


def test_it_calls_nothing_that_burdens_it_with_dear_cards_at_the_end() -> None:
    """The 9H brings 9 points and seven odd cards worth 71, and the others have a card or two left."""
    local = before_b_may_call(["KS", "QS 4D 3C", "TS 5S"], "9H KD 9C JC AS TD 7C", "2S 3D 7H 4C", "TS")
    assert choices(local, 1) == {"pass"}


@pytest.mark.parametrize("hand", ["JD TS", "JD JC", "JD TC"])
def test_it_does_not_throw_what_the_next_seat_is_seen_to_wait_for(hand: str) -> None:
    """B holds KD and QD.  Who has not seen them come into that hand may throw either card, who has throws no JD."""

    def throws(*, seen: bool) -> set[str]:
        local = table([hand, "KD QD 3C 8H 6S"], pile="2C 7S", stock=STOCK, phase="play")
        assert isinstance(local.game, RumGame)
        state = local.game.table
        for slot in state.hands[1][:2] if seen else ():
            state.open(1, slot, local.secret[slot])
        return choices(local, 0)

    other = f"discard {hand.split()[1]}"
    assert throws(seen=True) == {other}
    assert throws(seen=False) == {other, "discard JD"}


def test_it_goes_out_when_that_wins_the_game() -> None:
    local = table(
        ["9H KC", "QS QD 4S"],
        pile="3C",
        stock=STOCK,
        melds=[run(1, 1, "6H 7H 8H")],
        totals=(495, 400),
    )
    local.move(0, "draw")
    assert choices(local, 0) <= {"lay 9H on 1", "meld 9H"}


# --- thinking ------------------------------------------------------------------------------------------


def outlook() -> Outlook:
    local = table(["QS 3C KD", "2H 4S 8C"], pile="6C", stock=STOCK)
    assert isinstance(local.game, RumGame)
    state = local.game.table
    return Outlook(state, 0, cards("QS 3C KD"), Lanes(state.rules), Habits())


def scoring(text: str, points: Callable[[random.Random], float]) -> Candidate:
    """A move that ends the hand with these points for seat 0."""
    dice = random.Random(text)

    def trial(sketch: Sketch) -> None:
        sketch.laid[0] += round(points(dice))
        sketch.hands[0] = 0
        sketch.out = 0

    return Candidate(text=text, trial=trial, next_seat=1)


def test_the_better_move_wins_the_race_and_the_worse_one_is_let_go_early() -> None:
    tried = {"usual": 0, "good": 0, "bad": 0}

    def counted(text: str, low: int, high: int) -> Candidate:
        def points(dice: random.Random) -> float:
            tried[text] += 1
            return dice.uniform(low, high)

        return scoring(text, points)

    candidates = [counted("usual", 0, 60), counted("bad", -60, 0), counted("good", 40, 100)]
    chosen = best_move(outlook(), candidates, Budget(worlds=200).begin(), random.Random(1), horizon=4)
    assert chosen == "good"
    assert tried["bad"] == 10, "a batch shows that it is 60 points behind"
    assert tried["good"] == 200


def test_of_moves_that_are_alike_the_usual_one_is_made() -> None:
    candidates = [scoring(text, lambda dice: dice.uniform(0, 60)) for text in ("usual", "other")]
    chosen = [
        best_move(outlook(), candidates, Budget(worlds=60).begin(), random.Random(seed), horizon=4)
        for seed in range(20)
    ]
    assert chosen.count("usual") >= 12, "one standard error ahead by chance: about one time in six"


def test_a_single_world_persuades_nobody() -> None:
    candidates = [scoring("usual", lambda dice: 0), scoring("other", lambda dice: 50)]
    assert best_move(outlook(), candidates, Budget(worlds=1).begin(), random.Random(1), horizon=4) == "usual"
    assert best_move(outlook(), candidates, Budget(worlds=9).begin(), random.Random(1), horizon=4) == "other"


def test_it_thinks_no_longer_than_its_time() -> None:
    """A clock that moves a tenth of a second whenever it is looked at: 1 s is nine worlds after the first look."""
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 0.1
        return round(now, 3)

    spending = Budget(worlds=1000, seconds=1.0, clock=clock).begin()
    while spending.one_more():
        pass
    assert spending.worlds == 9


@pytest.mark.parametrize("worlds", [1, 7, 10, 25])
def test_it_stops_when_nobody_waits_for_it(worlds: int) -> None:
    tried = 0

    def points(dice: random.Random) -> float:
        nonlocal tried
        tried += 1
        return dice.uniform(0, 60)

    candidates = [scoring("usual", points), scoring("other", lambda dice: dice.uniform(0, 60))]
    endless = Budget(worlds=10**9).begin(stopped=lambda: tried >= worlds)
    assert best_move(outlook(), candidates, endless, random.Random(1), horizon=4) in ("usual", "other")
    assert tried == worlds


def test_who_is_stopped_at_once_still_names_a_legal_move() -> None:
    local = table(["QS QH 3C 7D 9H", "2H 4S 8C"], pile="5C QD", stock=STOCK)
    endless = SharpBot(1, Budget(worlds=10**9))
    assert endless.choose(local.game, 0, local.faces[0], stopped=lambda: True) in local.legal(0)


def test_the_same_seed_and_worlds_make_the_same_moves() -> None:
    def played() -> list[str]:
        local = LocalTable(make_game("rum500", {"target": 60}, 3), rng=random.Random(5))
        local.settle()
        bots = [SharpBot(seat, Budget(worlds=12)) for seat in range(3)]
        texts: list[str] = []
        while (seats := local.to_move()) and len(texts) < 80:
            for seat in seats:
                texts.append(bots[seat].choose(local.game, seat, local.faces[seat]))
                local.move(seat, texts[-1])
        return texts

    assert played() == played()


# --- every game, every option, every number of seats ----------------------------------------------------


@pytest.mark.parametrize("game", GAMES)
def test_what_it_chooses_is_legal_under_any_options(game: str) -> None:
    for seed in range(4):
        local = any_table(100 + seed, game)
        seats = local.game.seats
        local.settle()
        bots = [
            SharpBot(seat, Budget(worlds=3)) if seat == seed % seats else make_bot("random", seat)
            for seat in range(seats)
        ]
        for _ in range(120):
            for seat in local.to_move():
                text = bots[seat].choose(local.game, seat, local.faces[seat])
                assert text in local.legal(seat)
                local.move(seat, text)


@pytest.mark.parametrize("seats", range(3, 9))
def test_it_sits_at_a_table_of_any_size(seats: int) -> None:
    local = LocalTable(make_game("rum500", {"target": None, "max_hands": 1}, seats), rng=random.Random(seats))
    local.settle()
    bots = [SharpBot(seat, Budget(worlds=3)) for seat in range(seats)]
    while to_move := local.to_move():
        for seat in to_move:
            local.move(seat, bots[seat].choose(local.game, seat, local.faces[seat]))
