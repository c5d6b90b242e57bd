"""What the sharp bot imagines: worlds that its seat cannot tell from the real one, and nothing that it may not know."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

from p2p_rummy.bots import make_bot
from p2p_rummy.bots.sharp_lanes import BIT, Lanes
from p2p_rummy.bots.sharp_sketch import Habits, Sketch
from p2p_rummy.bots.sharp_worlds import Outlook
from p2p_rummy.cards import card_number
from p2p_rummy.games import make_game
from p2p_rummy.games.rum import RumGame
from p2p_rummy.games.rum_position import PlacedMeld, Position
from p2p_rummy.local import LocalTable
from p2p_rummy.notation import NO_CLAIM
from p2p_rummy.options import resolve
from protocol.game import Over, Seat


def cards(text: str) -> list[int]:
    return [card_number(name) for name in text.split()]


def bit(name: str) -> int:
    return BIT[card_number(name)]


def rum(local: LocalTable) -> RumGame:
    assert isinstance(local.game, RumGame)
    return local.game


def outlook(local: LocalTable, seat: Seat) -> Outlook:
    table = rum(local).table
    hand = [
        table.face[slot] if table.face[slot] >= 0 else local.faces[seat][slot] for slot in table.hands[seat]
    ]
    return Outlook(table, seat, hand, Lanes(table.rules), Habits())


def in_hand(sketch: Sketch, seat: Seat) -> Counter[int]:
    held: Counter[int] = Counter()
    for lane in range(64):
        held[1 << lane] += bool(sketch.hands[seat] >> lane & 1) + bool(sketch.doubled[seat] >> lane & 1)
    held[0] = sketch.jokers[seat]
    return +held


def everything(sketch: Sketch) -> Counter[int]:
    total = Counter(sketch.pile) + Counter(sketch.stock)
    for seat in sketch.ring:
        total += in_hand(sketch, seat)
    return total


def go_round(local: LocalTable, choose: Callable[[list[str]], str]) -> None:
    """One turn's move, or the answers of all to a window."""
    for seat in local.to_move():
        local.move(seat, choose(local.legal(seat)))


def some_way_into(seed: int, seats: int, moves: int, **options: object) -> LocalTable:
    local = LocalTable(make_game("rum500", options, seats), rng=random.Random(seed))
    local.settle()
    rng = random.Random(seed)
    for _ in range(moves):
        if isinstance(local.game.need, Over):
            break
        go_round(local, rng.choice)
    return local


@pytest.mark.parametrize("seats", [2, 3, 5])
@pytest.mark.parametrize("moves", [0, 7, 25])
def test_every_card_is_in_one_place_and_every_hand_has_its_size(seats: int, moves: int) -> None:
    local = some_way_into(seats, seats, moves)
    table = rum(local).table
    seat = local.to_move()[0]
    view = outlook(local, seat)
    laid = Counter(BIT[card] for meld in table.melds.values() for card in meld.cards)
    for number in range(5):
        world = view.world(random.Random(number))
        assert everything(world) + laid == Counter(BIT[card] for card in table.rules.cards)
        assert [world.count(other) for other in range(seats)] == [len(hand) for hand in table.hands]
        assert len(world.stock) == len(table.stock)
        assert world.pile == [BIT[card] for card in table.pile_cards]
        held = [table.face[s] if table.face[s] >= 0 else local.faces[seat][s] for s in table.hands[seat]]
        assert in_hand(world, seat) == Counter(BIT[card] for card in held)


def unaccounted(local: LocalTable, seat: Seat) -> int:
    """Cards out of sight, less the places that they can be in."""
    table = rum(local).table
    places = sum(len(table.hidden(other)) for other in table.ring if other != seat)
    places += sum(table.face[slot] < 0 for slot in table.stock)
    return len(outlook(local, seat).unseen) - places


def test_cards_that_are_shuffled_anew_are_out_of_sight_again() -> None:
    """R149: the pile becomes the stock; everybody has seen these cards, and nobody knows their order."""
    local = LocalTable(make_game("rummy", {"hand_size": 15}, 3), rng=random.Random(2))
    local.settle()
    while len(local.secret) == 52:
        go_round(local, lambda legal: next(m for m in legal if m.split()[0] in ("draw", "discard", "pass")))
    seat = local.to_move()[0]
    assert rum(local).table.stock
    assert unaccounted(local, seat) == 0
    world = outlook(local, seat).world(random.Random(1))
    laid = Counter(BIT[card] for meld in rum(local).table.melds.values() for card in meld.cards)
    assert everything(world) + laid == Counter(BIT[card] for card in range(52))


@pytest.mark.parametrize("leaver", ["minus_hand", "bot"])
def test_the_open_hand_of_a_leaver_is_known(leaver: str) -> None:
    for moves in (2, 9, 20):
        local = some_way_into(moves, 4, moves, leaver=leaver)
        gone = (local.to_move()[0] + 1) % 4
        held = Counter(BIT[local.secret[slot]] for slot in rum(local).table.hands[gone])
        local.drop(gone)
        seat = local.to_move()[0]
        assert unaccounted(local, seat) == 0
        world = outlook(local, seat).world(random.Random(1))
        assert (in_hand(world, gone) == held) == (leaver == "bot")
        assert make_bot("sharp", 1).choose(local.game, seat, local.faces[seat]) in local.legal(seat)


def test_cards_that_somebody_took_openly_are_in_that_hand() -> None:
    settings = resolve("rum500", {}, 2)
    local = Position(
        settings=settings,
        hands=[cards("9S 4H"), cards("2C 5D 7H")],
        pile=cards("QD KD"),
        stock=cards("3C 6C"),
        turn=1,
    ).table()
    local.move(1, "take KD")
    local.move(1, "discard 2C")
    view = outlook(local, 0)
    for number in range(8):
        world = view.world(random.Random(number))
        assert in_hand(world, 1)[bit("KD")] == 1


def test_the_others_are_not_thought_to_sit_on_melds_if_that_can_be_helped() -> None:
    """Out of sight are three nines and eleven odd cards: who held the nines would have laid them."""
    odd = cards("2S 4S 6H 8H TD QD AC 3C 5C 7D JS")
    local = Position(
        settings=resolve("rum500", {}, 2),
        hands=[cards("KS"), cards("9S 9H 9D")],
        pile=cards("4H"),
        stock=odd,
    ).table()
    view = outlook(local, 0)
    known = {*cards("9S 9H 9D"), *odd}
    view.unseen = [BIT[card] for card in sorted(known)]
    suspected = sum(
        in_hand(view.world(random.Random(number)), 1).keys() == {bit("9S"), bit("9H"), bit("9D")}
        for number in range(300)
    )
    assert suspected == 0, "one deal in 364 has it, and three in a row are one in 48 million"


def test_the_outline_is_the_table() -> None:
    run = PlacedMeld(
        id=1,
        kind="run",
        owner=0,
        cards=tuple((card, NO_CLAIM) for card in cards("AH 2H 3H")),
        seats=(0, 0, 1),
    )
    group = PlacedMeld(
        id=2,
        kind="group",
        owner=1,
        cards=tuple((card, NO_CLAIM) for card in cards("KS KH KD")),
        seats=(1, 1, 1),
    )
    local = Position(
        settings=resolve("rum500", {}, 2),
        hands=[cards("9S"), cards("2C")],
        pile=cards("QD"),
        stock=cards("3C"),
        melds=[run, group],
    ).table()
    sketch = outlook(local, 0).outline
    assert sketch.fits() == bit("4H") | bit("KC")
    assert sketch.laid == [1 + 2, 3 + 30], "the low ace counts 1 (R82)"


def test_an_opening_minimum_shuts_a_side_out_until_it_has_opened() -> None:
    local = LocalTable(make_game("partnership", {}, 4), rng=random.Random(3))
    local.settle()
    sketch = outlook(local, local.to_move()[0]).outline
    assert [sketch.open(seat) for seat in range(4)] == [False] * 4
    rum(local).table.opened_hand = 0b10
    sketch = outlook(local, local.to_move()[0]).outline
    assert [sketch.open(seat) for seat in range(4)] == [False, True, False, True]


def test_it_sees_no_more_than_its_seat_may() -> None:
    """N37: the others' closed cards and the stock may lie in any other way, and the choice is the same."""
    settings = resolve("rum500", {}, 2)
    own, closed = cards("QS QH 3C 7D 9H"), cards("2H 4S 8C JD 5C KC 6S TD AS 3H")
    choices = set()
    for number in range(4):
        random.Random(number).shuffle(closed)
        local = Position(
            settings=settings,
            hands=[own, closed[:4]],
            stock=closed[4:],
            pile=cards("5D QD 8H"),
        ).table()
        choices.add(make_bot("sharp", 7).choose(local.game, 0, local.faces[0]))
    assert len(choices) == 1
