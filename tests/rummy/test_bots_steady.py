"""What the steady bot does at single decisions of rum, from positions set up for them."""

import pytest

from p2p_rummy.bots import make_bot
from p2p_rummy.bots.rum_plan import Planner
from p2p_rummy.cards import card_number
from p2p_rummy.scenario import play

STOCK = "2S 3D 7H 9C JH 4C 8D KC 5H TD"


def table_at(phase, turn, hands, *, pile="KD", melds=(), game="rum500", options=None, stock=STOCK):
    """``hands``: cards by seat; ``melds``: (kind, owner, cards)."""
    seats = "ABCD"[: len(hands)]
    return play(
        {
            "game": game,
            "options": options or {},
            "seats": list(seats),
            "dealer": seats[-1],
            "state": {
                "turn": turn,
                "phase": phase,
                "hands": {seat: hand.split() for seat, hand in zip(seats, hands, strict=True)},
                "melds": [
                    {
                        "id": number,
                        "kind": kind,
                        "owner": owner,
                        "cards": [[card, owner] for card in cards.split()],
                    }
                    for number, (kind, owner, cards) in enumerate(melds, 1)
                ],
                "discard": pile.split(),
                "stock": stock.split(),
            },
            "moves": [],
        }
    ).table


def choice(table, seat, seed=1):
    text = make_bot("steady", seed).choose(table.game, seat, table.faces[seat])
    assert text in table.legal(seat)
    return text


def test_it_takes_the_card_that_makes_a_meld():
    table = table_at("draw", "A", ["QS QH 3C 7D", "2H 4S 8C"], pile="5C QD")
    assert choice(table, 0) == "take QD"


def test_it_digs_for_a_meld_that_is_worth_the_cards_above():
    table = table_at("draw", "A", ["QS QH KH 3C", "2H 4S 8C"], pile="QD KS")
    assert choice(table, 0) == "take QD"


def test_it_draws_rather_than_take_a_pile_of_no_use():
    table = table_at("draw", "A", ["QS QH 3C 7D", "2H 4S 8C"], pile="9H 2D")
    assert choice(table, 0) == "draw"


def test_it_melds_what_is_worth_most():
    # 7S 7H 7D and 5D 6D 7D share the 7D; the run of four is worth 26, the group 21 (and leaves 5D 6D 8D in hand).
    table = table_at("play", "A", ["5D 6D 7D 8D 7S 7H KC 2S", "2H 4S 8C"])
    assert choice(table, 0) == "meld 5D 6D 7D 8D"


def test_it_lays_off_on_anybodys_meld():
    table = table_at("play", "A", ["9H 2S KC", "2H 4S 8C"], melds=[("run", "B", "6H 7H 8H")])
    assert choice(table, 0) == "lay 9H on 1"


def test_it_goes_out_when_it_can():
    table = table_at("play", "A", ["9H KC", "2H 4S 8C"], melds=[("run", "B", "6H 7H 8H")])
    table.move(0, choice(table, 0), into_next_hand=False)
    table.move(0, choice(table, 0), into_next_hand=False)
    assert table.game.table.between


def test_it_puts_down_the_card_that_it_must_use():
    table = table_at("draw", "A", ["QS QH KH 3C", "2H 4S 8C"], pile="QD KS")
    table.move(0, "take QD")
    assert "QD" in choice(table, 0).split()


def test_it_discards_the_dearest_card_that_is_of_no_use():
    table = table_at("play", "A", ["5D 6D KC 3S", "2H 4S 8C"], pile="9C")
    assert choice(table, 0) == "discard KC"


def test_it_does_not_feed_a_meld_that_lies_there():
    # TH and TC are worth the same; TH fits the run, so that somebody would lay it or call it.
    table = table_at(
        "play", "A", ["TH TC 2S 2D", "2H 4S 8C"], pile="9C", melds=[("run", "B", "6H 7H 8H")],
    )  # fmt: skip
    table.game.table.melds[1].add(card_number("9H"), -1, 1, -1, below=False)
    assert choice(table, 0) != "discard TH"


def test_it_keeps_a_joker():
    table = table_at("play", "A", ["X1 3S 9C", "2H 4S 8C"], pile="KD")
    assert choice(table, 0) != "discard X1"


def test_it_calls_rummy():
    table = table_at("call", "A", ["2S 5C", "3D 8C 9S"], pile="KD 9H", melds=[("run", "A", "6H 7H 8H")])
    assert choice(table, 1) == "rummy 9H on 1"


def test_it_does_not_call_for_a_trifle_under_a_pile_of_no_use():
    pile = "2D KS JH TC 8D QC 5H"
    melds = [("group", "A", "2S 2H 2C")]
    table = table_at("call", "A", ["3S 5C", "3D 8C 9S"], pile=pile, melds=melds)
    assert "rummy 2D on 1" in table.legal(1)
    assert choice(table, 1) == "pass"


def test_it_opens_with_enough_points():
    hand = "QS QH QD 4C 5C 6C 9S"
    table = table_at("play", "A", [hand, "2H 4S 8C"], game="rum500_wiki")
    assert choice(table, 0) == "meld QS QH QD"
    table = table_at("play", "A", ["4S 4H 4D 7C 9C", "2H 3S 8C"], game="rum500_wiki")
    assert choice(table, 0).startswith("discard")


@pytest.mark.parametrize(("partner", "goes_out"), [("3S", True), ("3S 4D 5C 7D 8H 9S JC QH", False)])
def test_it_does_not_go_out_on_a_partner_with_a_full_hand(partner, goes_out):
    hands = ["9H KC", "2H 4S", partner, "2C 8C"]
    table = table_at("play", "A", hands, melds=[("run", "B", "6H 7H 8H")], game="partnership",
                     options={"opening_minimum": 0})  # fmt: skip
    assert (choice(table, 0) == "lay 9H on 1") == goes_out


def test_out_of_turn_it_lays_what_it_can():
    table = table_at("call", "A", ["2S 5C", "9H 8C 9S"], pile="KD 3C", melds=[("run", "A", "6H 7H 8H")],
                     options={"out_of_turn_melds": True, "calling": "off"})  # fmt: skip
    assert choice(table, 1) == "lay 9H on 1"


def test_without_a_stock_it_declines_a_pile_of_no_use():
    table = table_at("draw", "A", ["QS 7H 3C", "2H 4S 8C"], pile="9C 5D", stock="")
    assert choice(table, 0) == "pass"


# --- plans ----------------------------------------------------------------------------------------------


def planned(table, names):
    return Planner(table.game.rules).best(table.game.table, 0, [card_number(name) for name in names.split()])


def test_a_plan_uses_no_card_twice_and_leaves_the_least():
    table = table_at("play", "A", ["5D 6D 7D 7S 7H 7C KC", "2H 4S 8C"])
    plan = planned(table, "5D 6D 7D 7S 7H 7C KC")
    assert {meld.text for meld in plan.melds} == {"meld 7S 7H 7C", "meld 5D 6D 7D"}
    assert plan.worth == 21 + 18
    assert list(plan.rest) == [card_number("KC")]


def test_a_plan_lays_chains_off():
    table = table_at("play", "A", ["9H TH JH", "2H 4S 8C"], melds=[("run", "B", "6H 7H 8H")])
    plan = planned(table, "9H TH KH")
    assert set(plan.layoffs) == {card_number("9H"), card_number("TH")}
    assert plan.worth == 19


def test_a_plan_below_the_opening_minimum_is_none():
    table = table_at("play", "A", ["4S 4H 4D 7C 9C", "2H 3S 8C"], game="rum500_wiki")
    assert planned(table, "4S 4H 4D 7C 9C").melds == ()
