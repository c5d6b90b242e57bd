"""The ranking of poker hands, against one written from the rules of poker alone; and the betting round."""

import random
from collections import Counter
from itertools import combinations, pairwise

import pytest

from p2p_rummy.cards import RANKS, card_name, card_number
from p2p_rummy.games.poker import best_fives, best_seats, best_value, category, hand_value
from p2p_rummy.games.rummoli_poker import Betting


def cards(names):
    return [card_number(name) for name in names.split()]


def by_the_book(five):
    """A key that is larger for the better hand: category, then ranks by how often they occur."""
    ranks = sorted(("23456789TJQKA".index(card_name(card)[0]) for card in five), reverse=True)
    if ranks == [12, 3, 2, 1, 0]:
        ranks = [3, 2, 1, 0, -1]  # A 2 3 4 5: the ace is low
    groups = sorted(((count, rank) for rank, count in Counter(ranks).items()), reverse=True)
    shape = [count for count, _ in groups]
    flush = len({card_name(card)[1] for card in five}) == 1
    straight = len(groups) == 5 and ranks[0] - ranks[4] == 4
    if flush and straight:
        order = 8
    elif flush:
        order = 5
    elif straight:
        order = 4
    else:
        order = {(4, 1): 7, (3, 2): 6, (3, 1, 1): 3, (2, 2, 1): 2, (2, 1, 1, 1): 1}.get(tuple(shape), 0)
    return order, [rank for _, rank in groups]


CATEGORIES = [
    "high card", "one pair", "two pairs", "three of a kind", "straight", "flush", "full house",
    "four of a kind", "straight flush",
]  # fmt: skip


def test_the_ranking_is_that_of_the_book():
    rng = random.Random(1)
    hands = [rng.sample(range(52), 5) for _ in range(3000)]
    # Few of those are better than a straight: add all straight flushes, and full houses and fours of two ranks.
    for suit in range(4):
        for low in range(10):
            hands.append([suit * 13 + (low + step) % 13 for step in range(5)])
    twos_and_kings = cards("2S 2H 2D 2C KS KH KD KC 9S 9H 9D 9C AS")
    hands += [list(five) for five in combinations(twos_and_kings, 5)]
    judged = sorted((by_the_book(five), -hand_value(five)) for five in hands)
    for (book, value), (next_book, next_value) in pairwise(judged):
        assert (book == next_book) == (value == next_value)
        assert value <= next_value
    assert {category(hand_value(five)) for five in hands} == set(CATEGORIES)
    assert all(CATEGORIES[by_the_book(five)[0]] == category(hand_value(five)) for five in hands)


@pytest.mark.parametrize(
    ("names", "name"),
    [
        ("TS JS QS KS AS", "straight flush"),
        ("AC 2C 3C 4C 5C", "straight flush"),
        ("2S 2H 2D 2C 3S", "four of a kind"),
        ("AS AH AD KC KS", "full house"),
        ("2H 3H 4H 5H 7H", "flush"),
        ("AS KD QC JH TS", "straight"),
        ("AS 2D 3C 4H 5S", "straight"),
        ("KS AD 2C 3H 4S", "high card"),
        ("8S 8H 8D 3C 2D", "three of a kind"),
        ("KS KH 4D 4C 2S", "two pairs"),
        ("AS AD KC QH JS", "one pair"),
        ("2S 3S 4S 5S 7H", "high card"),
    ],
)
def test_hands_have_their_names(names, name):
    assert category(hand_value(cards(names))) == name


def test_the_wheel_is_the_lowest_straight():
    assert hand_value(cards("AS 2D 3C 4H 5S")) > hand_value(cards("2S 3D 4C 5H 6S"))


def test_suits_do_not_break_ties():
    assert best_seats(
        {2: cards("5D 6C 7H 8H 9H"), 0: cards("KS KH 4D 4C 2S"), 1: cards("5S 6H 7D 8C 9S")}
    ) == [2, 1]


def test_the_best_five_of_many_are_found_with_all_that_equal_them():
    held = cards("AS AH KD QC JH 9S 9H 4D")
    assert category(best_value(held)) == "two pairs"
    assert best_fives(held) == [tuple(sorted(cards("AS AH 9S 9H KD")))]
    straights = best_fives(cards("5S 6H 7D 8C 9S 9D 2C"))
    assert {tuple(sorted(five)) for five in straights} == {
        tuple(sorted(cards("5S 6H 7D 8C 9S"))),
        tuple(sorted(cards("5S 6H 7D 8C 9D"))),
    }


def test_the_best_five_are_better_by_the_book_than_any_other_five():
    rng = random.Random(2)
    for size in [5, 6, 7, 8, 9, 10] * 6:
        # Few ranks make full houses and fours, few suits flushes and straights.
        held = rng.sample(
            rng.choice([range(52), range(26), [*range(4), *range(13, 17), *range(26, 30)]]), size
        )
        best = max(by_the_book(five) for five in combinations(held, 5))
        assert by_the_book(min(combinations(held, 5), key=hand_value)) == best
        assert best_value(held) == min(hand_value(five) for five in combinations(held, 5))
        assert {tuple(sorted(five)) for five in best_fives(held)} == {
            tuple(sorted(five)) for five in combinations(held, 5) if by_the_book(five) == best
        }


def test_a_poker_hand_has_five_cards():
    with pytest.raises(ValueError, match="5 cards, not 4"):
        hand_value(cards("2S 3S 4S 5S"))


def test_ranks_are_named_as_everywhere():
    assert sorted(RANKS) == sorted("A23456789TJQK")


# --- the betting round ----------------------------------------------------------------------------------

CHIPS = [50] * 4


def test_a_raise_asks_everybody_again_who_is_left():
    betting = Betting([1, 2, 3, 0], limit=5)
    assert betting.turn == 1
    betting.check_or_call(1)
    assert betting.rise(2, 3) == 3
    betting.leave(3)
    assert betting.rise(0, 2) == 5
    assert betting.turn == 1
    assert betting.owes(1) == 5
    betting.check_or_call(1)
    assert betting.owes(2) == 2
    betting.check_or_call(2)
    assert betting.shown == {}
    assert betting.turn == 0


def test_checks_all_round_end_the_betting():
    betting = Betting([1, 2, 0], limit=5)
    for seat in (1, 2, 0):
        assert betting.shown is None
        betting.check_or_call(seat)
    assert betting.shown == {}
    assert betting.turn == 1


def test_a_seat_alone_has_won():
    betting = Betting([3], limit=5)
    assert betting.turn is None
    assert betting.best() == [3]


def test_what_may_be_bet_follows_the_poorest_who_is_left():
    betting = Betting([0, 1, 2], limit=5)
    assert betting.room([50, 2, 50]) == 2
    betting.rise(0, 2)
    assert betting.room([48, 2, 50]) == 0
    betting.leave(1)
    assert betting.room([48, 2, 50]) == 5
