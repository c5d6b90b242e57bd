"""The best melds of a hand, worked out by hand."""

from __future__ import annotations

from p2p_rummy.arrange import best_groups
from p2p_rummy.cards import card_number
from p2p_rummy.games import make_game


def groups(cards: str, game: str = "rum500") -> list[set[str]]:
    hand = [card_number(name) for name in cards.split()]
    return [set(group) for group in best_groups(make_game(game, {}, 2), hand)]


def test_melds_that_do_not_overlap_are_found() -> None:
    assert groups("6H 7H 8H QD QS QC 2S 4D") == [{"QD", "QS", "QC"}, {"6H", "7H", "8H"}]


def test_of_two_that_share_a_card_the_one_that_leaves_less_is_taken() -> None:
    """The 9 of hearts completes the run (7+8+9 = 24) or the nines (27)."""
    assert groups("7H 8H 9H 9S 9C KD") == [{"9H", "9S", "9C"}]


def test_one_card_more_lets_both_stand() -> None:
    assert groups("6H 7H 8H 9H 9S 9C 9D") == [{"9H", "9S", "9C", "9D"}, {"6H", "7H", "8H"}]


def test_a_joker_goes_where_it_saves_most() -> None:
    assert groups("KS KD X1 2C 3C") == [{"KS", "KD", "X1"}]


def test_nothing_to_meld_is_no_group() -> None:
    assert groups("2S 4D 6H 9C JS") == []
    assert groups("AS 2S 3S", game="rummoli") == []


def test_a_very_large_hand_is_still_answered() -> None:
    hand = " ".join(rank + suit for suit in "SHDC" for rank in "A23456789TJQK")
    assert sum(map(len, groups(hand + " X1 X2"))) >= 50
