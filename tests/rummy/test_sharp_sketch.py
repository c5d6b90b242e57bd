"""A hand in outline: what its turns do, and what it may not do."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from p2p_rummy.bots.sharp_lanes import BIT, JOKER, Lanes
from p2p_rummy.bots.sharp_sketch import Habits, Sketch
from p2p_rummy.cards import card_number
from p2p_rummy.games.rum_rules import rum_rules
from p2p_rummy.options import resolve


def bits(cards: str) -> list[int]:
    return [BIT[card_number(name)] for name in cards.split()]


def bit(name: str) -> int:
    return BIT[card_number(name)]


def sketch(
    hands: list[str],
    *,
    pile: str = "",
    stock: str = "",
    game: str = "rum500",
    options: dict[str, Any] | None = None,
) -> Sketch:
    """``stock``: the next card first."""
    rules = rum_rules(resolve(game, options or {}, len(hands)))
    made = Sketch(rules, Lanes(rules), Habits())
    made.ring = tuple(range(len(hands)))
    for seat, hand in enumerate(hands):
        for card in bits(hand):
            made.give(seat, card)
    made.pile = bits(pile)
    made.stock = bits(stock)[::-1]
    return made


def test_it_lays_melds_and_what_fits_on_them() -> None:
    hand = sketch(["5H 6H 7H 9S KD", "2C 3D"])
    hand.lay(0)
    assert hand.laid == [18, 0]
    hand.give(1, bit("8H"))
    hand.give(1, bit("9H"))
    hand.lay(1)
    assert hand.laid == [18, 17], "the chain 8H, 9H"
    assert hand.fits() == bit("4H") | bit("TH")


def test_a_group_of_three_takes_the_fourth_and_then_nothing() -> None:
    hand = sketch(["KS KH KD", "KC 2C"])
    hand.lay(0)
    assert hand.fits() == bit("KC")
    hand.lay(1)
    assert hand.laid == [30, 10]
    assert hand.fits() == 0


def test_a_low_ace_counts_one() -> None:
    hand = sketch(["AS 2S 3S KD", "2C"])
    hand.lay(0)
    assert hand.laid[0] == 6
    high = sketch(["QS KS AS 2D", "2C"])
    high.lay(0)
    assert high.laid[0] == 35


def test_a_joker_goes_down_with_the_dearest_two_cards() -> None:
    hand = sketch(["4S 5S KD KC X1 9H", "2C"])
    hand.lay(0)
    assert hand.laid[0] == 10 + 10 + 15
    assert hand.jokers[0] == 0
    assert hand.hands[0] == bit("4S") | bit("5S") | bit("9H")
    assert hand.fits() == bit("KS") | bit("KH")


def test_jokers_that_are_not_wild_are_kept() -> None:
    hand = sketch(["KD KC X1", "2C", "3C", "4C"], game="persian", options={"opening_minimum": 0})
    hand.lay(0)
    assert hand.laid[0] == 0
    assert hand.jokers[0] == 1


def test_below_the_opening_minimum_nothing_is_laid() -> None:
    hand = sketch(["5H 6H 7H 2C", "3C"], game="rum500_wiki")
    hand.shut = 0b11
    hand.lay(0)
    assert hand.laid == [0, 0], "15 points, and 30 are needed"
    rich = sketch(["QH KH AH 2C", "3C"], game="rum500_wiki")
    rich.shut = 0b11
    rich.lay(0)
    assert rich.laid[0] == 35
    assert rich.open(0)
    assert not rich.open(1)


def test_the_single_top_card_taken_is_not_thrown() -> None:
    hand = sketch(["2C", "9D 9H"], pile="KS", stock="4D 5D")
    barred = hand.take(0, 1)
    hand.finish(0, barred)
    assert hand.pile == [bit("2C")]
    assert hand.hands[0] == bit("KS")


def test_who_has_nothing_left_has_gone_out() -> None:
    hand = sketch(["5H 6H", "9D 9H"], pile="7H", stock="4D 5D")
    hand.turn(0)
    assert hand.out == 0
    assert hand.caught(1) == 18


def test_a_floater_goes_on() -> None:
    hand = sketch(["5H 6H", "9D 9H"], pile="7H", stock="4D 5D", options={"going_out": "floating"})
    hand.turn(0)
    assert hand.out == -1


@pytest.mark.parametrize(
    ("own", "pile", "options", "taken"),
    [
        ("QS QH 3C 7D", "5C QD", {}, 1),
        ("QS QH KH 3C", "QD KS", {}, 2),
        ("2S 4H 9C 7D", "QD KS", {}, 0),
        ("QS QH KH 3C", "QD KS", {"take_depth": "top", "calling": "off"}, 0),
    ],
)
def test_it_takes_what_it_can_meld(own: str, pile: str, options: dict[str, Any], taken: int) -> None:
    assert sketch([own, "2C 3D"], pile=pile, stock="4D", options=options).choose_take(0) == taken


def test_the_deepest_card_must_have_a_use() -> None:
    """R23: 9C melds with nothing, so the three queens that it would bring cannot be had."""
    hand = sketch(["2S 4H 7D", "2C 3D"], pile="9C QS QH QD", stock="4D")
    assert not hand.can_use(
        hand.hands[0] | bit("9C") | sum(bits("QS QH QD")), 0, bit("9C"), 0, need_meld=False
    )
    assert hand.choose_take(0) == 3


def test_of_equal_cards_it_throws_the_one_without_company() -> None:
    assert sketch(["TC TS QH", "2C 2D"], stock="4S").discard(0, -1) == bit("QH")


def test_of_equal_cards_it_throws_the_one_that_does_not_fit() -> None:
    hand = sketch(["QH 9S", "2C 2D"], stock="4S")
    hand.runs = bit("TS") | bit("JS") | bit("QS")
    hand.habits = Habits(near=0.0, way=0.0, catch=0.0)
    assert hand.order_of_discards(0, -1) == [bit("QH"), bit("9S")], "somebody would lay the 9S"


def test_hopes_count_the_cards_that_are_still_out() -> None:
    hand = sketch(["5D 6D TC TH 2S", "3C"])
    held = hand.hands[0]
    seen = 0
    one, more = hand.hopes(held, seen)
    assert one == more == held ^ bit("2S"), "4D or 7D; TS or TD"
    one, more = hand.hopes(held, bit("4D") | bit("TS"))
    assert (one, more) == (held ^ bit("2S"), 0)
    one, more = hand.hopes(held, bit("4D") | bit("7D") | bit("TS"))
    assert one == bit("TC") | bit("TH")


def test_ways_count_the_pairs_that_would_take_a_card() -> None:
    hand = sketch(["2S", "3C"])
    first, second, third = hand.ways(sum(bits("7H 8H TH 9S 9D")))
    # 9H: with 7H 8H, with 8H TH, and with 9S 9D.
    assert first & second & third & bit("9H")
    # 6H: with 7H 8H only.
    assert first & bit("6H")
    assert not second & bit("6H")


def random_hand(seed: int, seats: int) -> Sketch:
    rules = rum_rules(resolve("rum500", {}, seats))
    made = Sketch(rules, Lanes(rules), Habits())
    made.ring = tuple(range(seats))
    pack = [BIT[card] for card in rules.cards]
    random.Random(seed).shuffle(pack)
    for seat in range(seats):
        for _ in range(rules.size(seats)):
            made.give(seat, pack.pop())
    made.pile = [pack.pop()]
    made.stock = pack
    return made


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_no_card_comes_or_goes_and_a_copy_is_another_hand(seats: int) -> None:
    for seed in range(20):
        hand = random_hand(seed, seats)
        points = sum(hand.lanes.value_of[bit_] for bit_ in hand.pile + hand.stock)
        points += sum(held_points(hand, seat) for seat in range(seats))
        before = hand.copy()
        hand.play(0, 30)
        after = sum(hand.lanes.value_of[bit_] for bit_ in hand.pile + hand.stock) + sum(hand.laid)
        after += sum(held_points(hand, seat) for seat in range(seats))
        # Low aces count 14 less on the table than they did in hand.
        assert (points - after) % 14 == 0
        assert 0 <= points - after <= 14 * 8
        assert sum(before.laid) == 0
        assert [before.count(seat) for seat in range(seats)] == [before.rules.size(seats)] * seats


def held_points(hand: Sketch, seat: int) -> int:
    lanes = hand.lanes
    return (
        lanes.points(hand.hands[seat])
        + lanes.points(hand.doubled[seat])
        + hand.jokers[seat] * lanes.value_of[JOKER]
    )


def test_copies_of_the_second_pack_are_kept_apart() -> None:
    hand = sketch(["6H 6Hb 7H 8H", "2C", "2D", "2S", "3S"])
    assert hand.count(0) == 4
    hand.lay(0)
    assert hand.hands[0] == bit("6H"), "one of the two is left"
    assert hand.doubled[0] == 0


def test_a_hand_that_melds_more_promises_more() -> None:
    rich = sketch(["5H 6H 7H 2C", "9D TS QC KH"], pile="JD", stock="4D 5D")
    poor = sketch(["5H 6H 8S 2C", "9D TS QC KH"], pile="JD", stock="4D 5D")
    rich_worths, poor_worths = rich.prospects(1), poor.prospects(1)
    assert rich_worths[0] > poor_worths[0]
    assert Counter(rich.pile) == Counter(bits("JD")), "looking changes nothing"
