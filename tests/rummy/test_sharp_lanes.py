"""Melds by arithmetic on lanes, against the book of melds that the engine lists moves from."""

from __future__ import annotations

import itertools
import random

import pytest

from p2p_rummy.bots.sharp_lanes import BIT, JOKER, SUITS, Lanes, ends, fold, groups
from p2p_rummy.cards import NAMES, card_number
from p2p_rummy.games.rum_book import BITS, book
from p2p_rummy.games.rum_rules import RumRules, rum_rules
from p2p_rummy.melds import Meld, open_kinds, recognise
from p2p_rummy.notation import parse
from p2p_rummy.options import resolve


def rules_of(game: str = "rum500", **options: object) -> RumRules:
    return rum_rules(resolve(game, options, 3))


def lanes_of(cards: str) -> int:
    found = 0
    for name in cards.split():
        found |= BIT[card_number(name)]
    return found


def names(cards: int) -> set[str]:
    return {NAMES[card] for card in range(52) if cards & BIT[card]}


def hands(count: int, size: int) -> list[list[int]]:
    rng = random.Random(size)
    return [rng.sample(range(52), size) for _ in range(count)]


def test_a_joker_is_no_bit_and_both_packs_share_theirs() -> None:
    assert BIT[card_number("X1")] == JOKER == 0
    assert BIT[card_number("6Hb")] == BIT[card_number("6H")]
    assert len({BIT[card] for card in range(52)}) == 52


def test_points_are_those_of_the_rules() -> None:
    lanes = Lanes(rules_of())
    assert lanes.points(lanes_of("AS 2H TD KC 9S")) == 15 + 2 + 10 + 10 + 9
    assert Lanes(rules_of("rummy")).cost(lanes_of("AS 2H KC")) == 1 + 2 + 10, "an ace in hand counts 1 there"


@pytest.mark.parametrize(
    ("game", "options"), [("rum500", {}), ("rum500_korean", {}), ("rum500_wiki", {"min_run": 4})]
)
def test_what_melds_is_what_the_book_lists(game: str, options: dict[str, object]) -> None:
    rules = rules_of(game, **options)
    lanes = Lanes(rules)
    for hand in hands(200, 14):
        cards = 0
        for card in hand:
            cards |= BIT[card]
        listed: set[str] = set()
        for text in book("meld", rules.melds).melds(sum(BITS[card] for card in hand)):
            listed |= {NAMES[card] for card in parse(text).cards}
        assert names(fold(lanes.runs(cards)) | groups(cards)) == listed


def best_by_trying(rules: RumRules, hand: list[int]) -> int:
    """The most points that disjoint melds of the book bring, aces counted high."""
    found = [set(parse(text).cards) for text in book("meld", rules.melds).melds(sum(BITS[c] for c in hand))]

    def most(start: int, used: frozenset[int]) -> int:
        best = sum(rules.values[card] for card in used)
        for index in range(start, len(found)):
            if used.isdisjoint(found[index]):
                best = max(best, most(index + 1, used | found[index]))
        return best

    return most(0, frozenset())


def test_cards_that_go_two_ways_go_the_better_one() -> None:
    rules = rules_of()
    lanes = Lanes(rules)
    worse = 0
    for hand in hands(300, 11):
        cards = 0
        for card in hand:
            cards |= BIT[card]
        down, positions, group = lanes.melds(cards)
        assert down == fold(positions) | group
        assert not fold(positions) & group, "no card in two melds"
        points, best = lanes.points(down), best_by_trying(rules, hand)
        assert points <= best
        worse += points < best
    assert worse <= 3, "a bounded search may miss the best now and then"


def test_the_run_gives_its_end_to_a_group() -> None:
    lanes = Lanes(rules_of())
    down, _, group = lanes.melds(lanes_of("5D 6D 7D 8D 8S 8H"))
    assert names(down) == {"5D", "6D", "7D", "8D", "8S", "8H"}
    assert names(group) == {"8D", "8S", "8H"}


@pytest.mark.parametrize(
    ("meld", "game", "fitting"),
    [
        ("6H 7H 8H", "rum500", {"5H", "9H"}),
        ("AH 2H 3H", "rum500", {"4H"}),
        ("QH KH AH", "rum500", {"JH"}),
        ("JH QH KH", "rum500", {"TH", "AH"}),
        ("JH QH KH", "rum500_korean", {"TH"}),
    ],
)
def test_what_fits_a_run_is_at_its_ends(meld: str, game: str, fitting: set[str]) -> None:
    rules = rules_of(game)
    shape = recognise(parse(f"meld {meld}").parts[0], rules.melds)
    positions = ((1 << len(shape.cards)) - 1 << shape.low) << 16 * shape.suit
    assert names(ends(positions, rules.melds.high_ace)) == fitting
    assert fitting == {NAMES[kind] for kind in open_kinds(Meld(1, shape, 0, ()), rules.melds)}


def test_suits_do_not_run_into_each_other() -> None:
    """KS and AH are neighbours in number, and so are the high ace's place and the next suit."""
    lanes = Lanes(rules_of())
    assert lanes.runs(lanes_of("QS KS AH 2H")) == 0
    assert lanes.runs(lanes_of("KS AS 2S")) == 0, "an ace is low or high, never between K and 2"
    assert names(fold(lanes.runs(lanes_of("QS KS AS")))) == {"QS", "KS", "AS"}


def test_groups_need_three_suits() -> None:
    for suits in itertools.chain.from_iterable(itertools.combinations("SHDC", n) for n in range(5)):
        held = lanes_of(" ".join(f"9{suit}" for suit in suits))
        assert groups(held) == (held if len(suits) >= 3 else 0)
    assert groups(0x1FFF * SUITS) == 0x1FFF * SUITS
