"""Rummoli by the rules: each prose scenario O01 to O22, then what the scenarios leave open."""

import pytest

from p2p_rummy.cards import card_name, card_number
from p2p_rummy.games import make_game
from p2p_rummy.games.rummoli_board import POTS
from p2p_rummy.games.rummoli_position import position
from p2p_rummy.local import LocalTable
from protocol.game import Deal, Moved, Over, Refused, Shuffle, Turn, Window

A, B, C, D = range(4)


def cards(names):
    return [card_number(name) for name in names.split()]


def pack(*hands, first=()):
    """A pack that deals these hands, the seat left of the dealer first; the rest follows in order of number."""
    dealt = [hand[place] for place in range(5) for hand in map(cards, hands)]
    return [*dealt, *(card for card in range(52) if card not in dealt)]


def dealt_table(seats, dealer, **options):
    """A table after the first deal of an unshuffled pack."""
    game = make_game("rummoli", options, seats)
    table = LocalTable(game, packs=[range(52)], coins=[dealer.to_bytes(32, "big")])
    table.settle()
    return table


def extra(table):
    return table.game.snapshot()["extra"]


def chips(table):
    return extra(table)["chips"]


def pots(table):
    return extra(table)["pots"]


def refusal(table, seat, text):
    before = table.game.digest()
    with pytest.raises(Refused) as caught:
        table.move(seat, text)
    assert table.game.digest() == before
    return caught.value.code, caught.value.rule, caught.value.cards


def play(table, *moves):
    for seat, text in moves:
        table.move(seat, text, into_next_hand=False)


# --- ante and deal --------------------------------------------------------------------------------------


def test_o01_everybody_antes_a_chip_in_each_of_the_nine_pots():
    table = LocalTable(make_game("rummoli", {}, 4), packs=[range(52)])
    assert chips(table) == [100] * 4
    table.shuffle(table.game.need)
    assert chips(table) == [91, 91, 91, 91]
    assert pots(table) == dict.fromkeys(
        ["poker", "TS", "JD", "QC", "KH", "AS", "AD+KD", "7-8-9", "centre"], 4
    )


def test_o02_the_widow_is_dealt_last_and_to_nobody():
    table = dealt_table(4, D)
    assert extra(table)["cards"] == [11, 11, 10, 10]
    assert extra(table)["widow"] == 10
    # Dealt A, B, C, D, widow in turn: every fifth slot from the fifth on is the widow's.
    assert [sorted(own) for own in table.faces] == [
        list(range(0, 52, 5)),
        list(range(1, 52, 5)),
        list(range(2, 52, 5)),
        list(range(3, 52, 5)),
    ]
    assert table.game.need == Turn(seat=D)


def test_o03_eight_players_all_have_a_poker_hand():
    table = dealt_table(8, 7)
    assert extra(table)["cards"] == [6, 6, 6, 6, 6, 6, 6, 5]
    assert extra(table)["widow"] == 5


def test_without_widow_all_cards_are_dealt_to_the_players():
    table = dealt_table(3, 0, widow=False)
    assert extra(table)["cards"] == [17, 18, 17]
    assert table.game.phase == "bet"
    assert table.game.need == Turn(seat=1)


# --- widow and auction ----------------------------------------------------------------------------------

PLAIN = ["2H 3H 4D 5D 6C", "2C 3C 4C 5S 6S", "2S 3S 4S 5H 6H", "2D 3D 4H 5C 6D"]
WIDOW = "7S 8C 9D TD JC"


def test_o05_a_dealer_with_a_pay_card_may_not_swap_and_the_auction_is_held():
    table = position({}, [*PLAIN[:3], "2D 3D QC 5C 6D"], phase="widow", widow=WIDOW)
    assert refusal(table, D, "swap") == ("pay_card_in_hand", "R223", ("QC",))
    assert table.legal(D) == ["keep"]
    table.move(D, "keep")
    assert table.game.phase == "auction"
    assert table.game.need == Turn(seat=A)


def test_a_dealer_without_pay_card_takes_the_widow_unseen_and_his_hand_is_dead_and_hidden():
    table = position({}, PLAIN, phase="widow", widow=WIDOW)
    old = [slot for slot, card in table.faces[D].items() if card_name(card) in PLAIN[D]]
    assert sorted(table.legal(D)) == ["keep", "swap"]
    table.move(D, "swap")
    held = table.game.snapshot()["hands"][D]
    assert [card_name(table.faces[D][slot["slot"]]) for slot in held] == WIDOW.split()
    assert all(slot["card"] == "" for slot in held)
    assert set(old) < set(table.game.hidden(D))
    assert extra(table)["widow_taker"] == D
    assert chips(table) == [91] * 4
    assert table.game.need == Turn(seat=A)
    assert table.game.phase == "bet"


def test_o06_the_highest_bidder_pays_the_dealer_and_swaps():
    table = position({}, PLAIN, phase="widow", widow=WIDOW)
    play(table, (D, "keep"), (A, "bid 1"), (B, "bid 2"), (C, "pass"))
    assert refusal(table, A, "bid 2") == ("bid_too_low", "R224", ())
    play(table, (A, "bid 3"), (B, "pass"))
    assert chips(table) == [88, 91, 91, 94]
    held = table.game.snapshot()["hands"][A]
    assert [card_name(table.faces[A][slot["slot"]]) for slot in held] == WIDOW.split()
    assert table.game.phase == "bet"


def test_o06_a_bid_that_only_equals_the_highest_is_refused():
    table = position({}, PLAIN, phase="widow", widow=WIDOW)
    play(table, (D, "keep"), (A, "bid 1"), (B, "bid 3"), (C, "pass"))
    assert refusal(table, A, "bid 3") == ("bid_too_low", "R224", ())
    assert table.legal(A)[:2] == ["pass", "bid 4"]


def test_without_a_bid_nobody_swaps():
    table = position({}, PLAIN, phase="widow", widow=WIDOW)
    play(table, (D, "keep"), (A, "pass"), (B, "pass"), (C, "pass"))
    assert extra(table)["widow_taker"] == -1
    assert extra(table)["widow"] == 5
    assert table.game.phase == "bet"


def test_the_last_who_has_not_bid_is_asked_before_the_auction_ends():
    table = position({}, PLAIN, phase="widow", widow=WIDOW)
    play(table, (D, "keep"), (A, "pass"), (B, "pass"))
    assert table.game.need == Turn(seat=C)
    play(table, (C, "bid 1"))
    assert extra(table)["widow_taker"] == C
    assert chips(table) == [91, 91, 90, 92]


def test_a_pass_in_the_auction_is_final():
    table = position({}, PLAIN, phase="widow", widow=WIDOW)
    play(table, (D, "keep"), (A, "pass"), (B, "bid 1"), (C, "bid 2"))
    assert table.game.need == Turn(seat=B)


def test_nobody_bids_more_than_it_has():
    table = position({}, PLAIN, phase="widow", widow=WIDOW, chips=[2, 91, 91, 91])
    play(table, (D, "keep"))
    assert table.legal(A) == ["pass", "bid 1", "bid 2"]
    assert refusal(table, A, "bid 3") == ("not_enough_chips", "R224", ())


def test_o07_a_bidder_with_a_pay_card_is_refused():
    table = position({}, [PLAIN[A], "2C 3C AS 5S 6S", *PLAIN[2:]], phase="widow", widow=WIDOW)
    play(table, (D, "keep"), (A, "pass"))
    assert refusal(table, B, "bid 1") == ("pay_card_in_hand", "R224", ("AS",))
    assert table.legal(B) == ["pass"]


# --- poker ----------------------------------------------------------------------------------------------


def test_o09_a_lone_survivor_wins_unseen_and_leads():
    table = position({}, PLAIN, phase="bet")
    play(table, (A, "bet 2"), (B, "fold"), (C, "fold"), (D, "fold"))
    assert chips(table) == [95, 91, 91, 91]  # 91 - 2 + the 4 antes and his own 2
    assert pots(table)["poker"] == 0
    assert table.game.phase == "lead"
    assert table.game.need == Turn(seat=A)
    assert {slot["card"] for hand in table.game.snapshot()["hands"] for slot in hand} == {""}
    play(table, (A, table.legal(A)[0]))
    assert table.game.need.seats == (B, C, D)  # those who folded play the stops


SHOWDOWN = ["KS KH 4D 4C 2S", "8S 8H 8D 3C 2D", "2H 5H 9H JH QH", "AC KD TC 6C 4S"]


def test_o10_the_best_hand_of_those_left_wins_the_pot_and_leads():
    table = position({}, SHOWDOWN, phase="bet")
    play(table, (A, "check"), (B, "bet 1"), (C, "call"), (D, "fold"), (A, "call"))
    assert table.game.phase == "show"
    assert pots(table)["poker"] == 7
    play(table, (B, "show 8S 8H 8D 3C 2D"), (C, "show 2H 5H 9H JH QH"))
    assert table.legal(A) == ["show 2S KS KH 4D 4C", "muck"]
    play(table, (A, "muck"))
    assert chips(table) == [90, 90, 97, 91]
    assert table.game.need == Turn(seat=C)
    assert [(shown["seat"], shown["hand"]) for shown in extra(table)["shown"]] == [
        (B, "three of a kind"),
        (C, "flush"),
    ]


def test_o11_equal_hands_split_and_the_odd_chip_and_the_lead_go_left_of_the_dealer():
    hands = ["KS KH 4D 4C 2S", "5S 6H 7D 8C 9S", "5D 6C 7H 8H 9H", "AC KD TC 6D 4S"]
    table = position({}, hands, phase="bet")
    play(table, (A, "bet 1"), (B, "call"), (C, "call"), (D, "fold"))
    assert pots(table)["poker"] == 7
    play(table, (A, table.legal(A)[0]), (B, "show 5S 6H 7D 8C 9S"), (C, "show 5D 6C 7H 8H 9H"))
    assert chips(table) == [90, 94, 93, 91]
    assert table.game.need == Turn(seat=B)


def test_the_last_to_raise_shows_first_and_may_not_muck():
    table = position({}, SHOWDOWN, phase="bet")
    play(table, (A, "bet 1"), (B, "raise 2"), (C, "call"), (D, "fold"), (A, "call"))
    assert table.game.need == Turn(seat=B)
    assert refusal(table, B, "muck") == ("must_show", "R225", ())


def test_after_checks_alone_the_nearest_left_of_the_dealer_shows_first():
    table = position({}, SHOWDOWN, phase="bet")
    play(table, (A, "check"), (B, "check"), (C, "check"), (D, "check"))
    assert table.game.phase == "show"
    assert table.game.need == Turn(seat=A)


def test_bets_and_raises_keep_to_the_limit_and_to_three_raises():
    table = position({"bet_limit": 2}, SHOWDOWN, phase="bet")
    assert table.legal(A) == ["check", "bet 1", "bet 2"]
    assert refusal(table, A, "bet 3") == ("over_the_limit", "R225", ())
    assert refusal(table, A, "bet 0") == ("over_the_limit", "R225", ())
    assert refusal(table, A, "call") == ("no_bet_to_answer", "R225", ())
    assert refusal(table, A, "fold") == ("no_bet_to_answer", "R225", ())
    play(table, (A, "bet 2"))
    assert refusal(table, B, "check") == ("bet_to_answer", "R225", ())
    play(table, (B, "raise 1"), (C, "raise 2"), (D, "raise 1"))
    assert table.legal(A) == ["call", "fold"]
    assert refusal(table, A, "raise 1") == ("no_more_raises", "R225", ())
    play(table, (A, "call"))
    assert chips(table) == [85, 88, 86, 85]  # the level is 2 + 1 + 2 + 1 = 6


def test_no_bet_is_more_than_the_poorest_player_left_can_match():
    table = position({}, SHOWDOWN, phase="bet", chips=[91, 91, 91, 3])
    assert table.legal(A) == ["check", "bet 1", "bet 2", "bet 3"]
    play(table, (A, "bet 2"))
    assert table.legal(B) == ["call", "raise 1", "fold"]
    play(table, (B, "call"), (C, "call"), (D, "fold"))
    assert table.game.phase == "show"


def test_once_the_poorest_has_folded_the_others_may_bet_on():
    table = position({}, SHOWDOWN, phase="bet", chips=[3, 91, 91, 91])
    play(table, (A, "check"), (B, "bet 3"), (C, "call"), (D, "call"), (A, "fold"))
    assert table.game.phase == "show"
    table = position({}, SHOWDOWN, phase="bet", chips=[91, 91, 3, 91])
    play(table, (A, "bet 3"), (B, "call"), (C, "fold"))
    assert table.legal(D) == ["call", *(f"raise {more}" for more in range(1, 6)), "fold"]


def test_only_the_best_five_of_a_hand_are_shown():
    hands = ["8S 8H 8D 3C 2D TC", "2H 5H 9H JH QH", "4C 5C 6D 7D"]
    table = position({}, hands, phase="bet")
    play(table, (A, "check"), (B, "check"), (C, "check"))
    assert table.legal(A) == ["show 8S 8H 8D 3C TC"]
    assert refusal(table, A, "show 8S 8H 8D 3C 2D")[:2] == ("not_the_best_five", "R225")
    assert refusal(table, A, "show 8S 8H 8D 3C")[:2] == ("not_five_cards", "R225")
    assert refusal(table, A, "show 8S 8H 8D 3C QH") == ("not_in_hand", "R222", ("QH",))


# --- stops ----------------------------------------------------------------------------------------------


def test_the_winner_of_the_poker_pot_leads_its_lowest_card_ties_being_its_choice():
    table = position({}, ["3H 3C 9S", "4C 6D", "5S"], phase="lead")
    assert table.legal(A) == ["play 3H", "play 3C"]
    assert refusal(table, A, "play 9S") == ("not_the_lowest", "R226", ("3H", "3C"))
    assert refusal(table, A, "pass") == ("must_play", "R226", ())


def test_an_ace_is_high():
    table = position({}, ["AH KC", "4C 6D", "5S"], phase="lead")
    assert table.legal(A) == ["play KC"]


def test_o13_the_holder_must_play_the_next_cards_in_order():
    table = position({}, ["3H 9C", "4H 5H 2D", "7D"], phase="lead")
    play(table, (A, "play 3H"))
    assert table.game.need == Window(after=A, seats=(B, C), sealed=False)
    assert table.legal(B) == ["play 4H 5H"]
    assert refusal(table, B, "pass") == ("must_play", "R227", ("4H",))
    assert refusal(table, B, "play 4H") == ("must_play", "R227", ("5H",))
    assert refusal(table, B, "play 5H")[:2] == ("not_the_next_card", "R227")
    play(table, (B, "play 4H 5H"), (C, "pass"))
    assert extra(table)["played"] == [[A, "3H"], [B, "4H"], [B, "5H"]]
    assert table.game.need == Window(after=B, seats=(C, A), sealed=False)


def test_the_leader_plays_on_from_its_own_hand():
    table = position({}, ["3H 4H 6H 9C", "5H", "7D"], phase="lead")
    assert table.legal(A) == ["play 3H 4H"]
    play(table, (A, "play 3H 4H"))
    assert extra(table)["due"] == "5H"


def test_o14_a_stop_by_a_dead_card_makes_the_last_player_lead_the_other_colour():
    table = position({}, ["7H TD QD", "8H 4S 7C KS", "2D 3D"], phase="lead", widow="9H")
    play(table, (A, "play 7H"), (B, "play 8H"), (C, "pass"))
    assert extra(table)["due"] == "9H"
    play(table, (C, "pass"), (A, "pass"))
    assert table.game.need == Turn(seat=B)
    assert extra(table)["colour"] == "black"
    assert table.legal(B) == ["play 4S"]
    assert refusal(table, B, "play 7C") == ("not_the_lowest", "R228", ("4S",))
    assert refusal(table, B, "pass") == ("must_play", "R229", ("4S",))


def test_o15_an_ace_stops_without_anybody_being_asked():
    table = position({}, ["KH AC", "AH 9S 5C", "2D 3D"], phase="lead")
    play(table, (A, "play KH"), (B, "play AH"), (C, "pass"))
    assert table.game.need == Turn(seat=B)
    assert table.legal(B) == ["play 5C"]


def test_a_card_that_was_played_before_stops_at_once():
    # A leads 5H, nobody has the 6H, A leads 3C; B stops at the 4C and leads 4H: the 5H is gone.
    table = position({}, ["5H 8C 3C", "4H 4C JC", "9D 2D"], phase="lead", colour="red")
    play(table, (A, "play 5H"), (B, "pass"), (C, "pass"), (A, "play 3C"), (B, "play 4C"), (C, "pass"))
    play(table, (C, "pass"), (A, "pass"), (B, "play 4H"))
    assert table.game.need == Turn(seat=B)
    assert extra(table)["colour"] == "black"


def test_the_right_to_lead_goes_clockwise_to_the_first_who_has_the_colour():
    table = position({}, ["2H 3D", "4H 6D", "9D 5C 7S"], phase="lead", colour="black")
    assert table.legal(A) == ["pass"]
    assert refusal(table, A, "play 2H") == ("wrong_colour", "R228", ("2H",))
    play(table, (A, "pass"), (B, "pass"))
    assert table.legal(C) == ["play 5C"]


def test_o17_deadlock_costs_a_chip_a_card_into_the_centre():
    table = position({}, ["2H 3D", "4H 6D 8D", "9D"], phase="lead", colour="black")
    play(table, (A, "pass"), (B, "pass"), (C, "pass"))
    assert chips(table) == [89, 88, 90]
    assert pots(table)["centre"] == 3 + 6
    assert table.game.snapshot()["sheet"][0]["points"] == [-11, -12, -10]
    play(table, (B, "pass"), (C, "pass"))  # another round
    table.settle()
    assert pots(table)["centre"] == 12


def test_o18_a_pay_card_not_claimed_leaves_its_pot():
    hands = ["9S 2D", "3D 4D", "TS 4H", "JS 6H"]
    table = position({}, hands, phase="lead", colour="black")
    play(table, (A, "play 9S"), (B, "pass"))
    assert table.legal(C) == ["play TS", "play TS claim"]
    play(table, (C, "play TS"), (D, "pass"), (D, "play JS"), (A, "pass"), (B, "pass"))
    assert pots(table)["TS"] == 4
    assert chips(table)[C] == 91
    assert refusal(table, C, "claim")[0] == "wrong_phase"


def test_o18_a_claim_with_the_card_wins_the_pot():
    table = position({}, ["9S 2D", "3D 4D", "TS 4H", "JS 6H"], phase="lead", colour="black")
    play(table, (A, "play 9S"), (B, "pass"), (C, "play TS claim"), (D, "pass"))
    assert pots(table)["TS"] == 0
    assert chips(table)[C] == 95


def test_a_claim_is_in_time_before_the_next_card_is_played():
    table = position({}, ["9S 2D", "3D 4D", "TS 4H 5H"], phase="lead", colour="black")
    play(table, (A, "play 9S"), (B, "pass"), (C, "play TS"), (A, "pass"), (B, "pass"))
    assert table.legal(C) == ["play 4H 5H", "claim"]
    play(table, (C, "claim"))
    assert chips(table)[C] == 94
    assert table.legal(C) == ["play 4H 5H"]
    assert refusal(table, C, "claim") == ("nothing_to_claim", "R231", ())


def test_claims_that_win_nothing_are_refused():
    table = position({}, ["9S 2D", "3D 4D", "TS 4H 5H"], phase="lead", colour="black")
    assert refusal(table, A, "play 9S claim") == ("nothing_to_claim", "R231", ("9S",))


def test_with_claim_auto_pots_are_paid_at_once_and_not_claimed():
    table = position({"claim": "auto"}, ["9S 2D", "3D 4D", "TS 4H 5H"], phase="lead", colour="black")
    play(table, (A, "play 9S"), (B, "pass"))
    assert table.legal(C) == ["play TS"]
    assert refusal(table, C, "play TS claim") == ("option_forbids", "R231", ("TS",))
    play(table, (C, "play TS"))
    assert chips(table)[C] == 94


def test_o19_king_and_ace_of_diamonds_by_one_player_win_the_pair():
    table = position({}, ["KD AD 9C", "3D 4D", "TS 4H"], phase="lead", colour="red")
    play(table, (A, "play KD AD claim"))
    assert pots(table)["AD+KD"] == 0
    assert chips(table) == [94, 91, 91]


def test_o19_by_two_players_the_pair_stays():
    table = position({}, ["KD 9C", "AD 4D", "TS 4H"], phase="lead", colour="red")
    assert refusal(table, A, "play KD claim")[0] == "nothing_to_claim"
    play(table, (A, "play KD"))
    assert table.legal(B) == ["play AD"]
    play(table, (B, "play AD"), (C, "pass"))
    assert pots(table)["AD+KD"] == 3


def test_seven_eight_nine_of_one_suit_by_one_player_win_their_pot():
    table = position({}, ["7C 8C 9C 2D", "6D 4D", "TS 4H"], phase="lead", colour="black")
    play(table, (A, "play 7C 8C 9C claim"))
    assert chips(table) == [94, 91, 91]
    table = position({}, ["7C 9C 2D", "8C 4D", "TS 4H"], phase="lead", colour="black")
    play(table, (A, "play 7C"), (B, "play 8C"), (C, "pass"), (C, "pass"))
    assert table.legal(A) == ["play 9C"]


def test_o21_the_first_out_wins_the_centre_and_a_chip_a_card():
    table = position({}, ["5C", "2H 3H 4D", "9H", "6H 8H TH QH"], phase="lead")
    play(table, (A, "play 5C"))
    assert chips(table) == [103, 88, 90, 87]  # A: 91 + the centre's 4 + 3 + 1 + 4
    assert pots(table) == {**dict.fromkeys(POTS, 4), "centre": 0}
    assert table.game.snapshot()["sheet"] == [
        {"hand": 1, "points": [3, -12, -10, -13], "table": [0] * 4, "in_hand": [0, 3, 1, 4], "notes": []}
    ]
    play(table, (B, "pass"), (C, "pass"), (D, "pass"))
    table.settle()
    assert pots(table) == {**dict.fromkeys(POTS, 8), "centre": 4}
    assert table.game.snapshot()["dealer"] == A


def test_debts_are_paid_as_far_as_chips_go():
    table = position({}, ["5C", "2H 3H 4D", "9H"], phase="lead", chips=[91, 2, 0])
    play(table, (A, "play 5C"))
    assert chips(table) == [96, 0, 0]  # 91 + the centre's 3 + 2 + 0


# --- the end of the game --------------------------------------------------------------------------------

LEFT = {**dict.fromkeys(POTS, 0), "TS": 4, "JD": 8, "QC": 12}
ROYAL = "TS JS QS KS AS"
NOTHING = "2H 4D 6C 8H TD"
NOTHING_TOO = "2C 4S 6H 8C TC"


def test_o22_one_pot_one_deal_for_all_that_is_left():
    options = {"max_rounds": 1}
    table = position(options, ["5C", "2H"], phase="lead", pots=LEFT, packs=[pack(NOTHING, ROYAL)])
    play(table, (A, "play 5C"))
    assert table.game.need == Shuffle(cards=tuple(range(52)), new_hand=True)
    assert chips(table) == [92, 90]
    table.settle()
    # Dealer B dealt the round, A deals now: B is dealt to first and holds nothing.
    assert table.game.need == Over(scores=(116, 90), winners=(A,))
    assert pots(table) == dict.fromkeys(POTS, 0)


def test_o22_per_pot_from_the_smallest_up():
    options = {"max_rounds": 1, "final": "per_pot"}
    packs = [pack(ROYAL, NOTHING), pack(ROYAL, NOTHING), pack(NOTHING, NOTHING_TOO)]
    table = position(options, ["5C", "2H"], phase="lead", pots=LEFT, packs=packs)
    play(table, (A, "play 5C"))
    won = [chips(table)]
    for _ in range(3):
        table.shuffle(table.game.need)
        table.settle(into_next_hand=False)
        won.append(chips(table))
    # B has the royal flush first (4 chips), then A (8); the last 12 are shared.
    assert won == [[92, 90], [92, 94], [100, 94], [106, 100]]
    assert table.game.need == Over(scores=(106, 100), winners=(A,))


def test_most_chips_win_and_a_tie_is_shared():
    table = position(
        {"max_rounds": 1}, ["5C", "2H"], phase="lead", chips=[90, 92], pots=dict.fromkeys(POTS, 0)
    )
    play(table, (A, "play 5C"))
    assert table.game.need == Over(scores=(91, 91), winners=(A, B))


def test_without_max_rounds_the_game_ends_when_all_agree():
    table = position({}, ["5C", "2H 3H 4D", "9H"], phase="lead")
    play(table, (A, "play 5C"))
    assert table.game.need == Window(after=A, seats=(B, C), sealed=False)  # A deals next, and is asked last
    assert table.legal(B) == ["end", "pass"]
    play(table, (B, "end"), (C, "end"))
    assert table.game.need == Turn(seat=A)
    play(table, (A, "end"))
    assert table.game.phase == "final"
    table.settle()
    assert isinstance(table.game.need, Over)


@pytest.mark.parametrize("answers", [("pass", "end"), ("end", "pass"), ("end", "end", "pass")])
def test_one_who_wants_to_play_on_is_enough_for_another_round(answers):
    table = position({}, ["5C", "2H 3H 4D", "9H"], phase="lead")
    play(table, (A, "play 5C"), *zip((B, C, A), answers, strict=False))
    assert table.game.phase == "deal"
    assert table.game.snapshot()["hand"] == 2


def test_who_cannot_pay_the_ante_sits_out():
    table = position({}, ["5C", "2H 3H", "9H"], phase="lead", chips=[91, 10, 91])
    play(table, (A, "play 5C"))
    assert chips(table) == [97, 8, 90]
    assert table.game.need == Window(after=A, seats=(C,), sealed=False)
    play(table, (C, "pass"))
    table.settle()
    assert extra(table)["players"] == [C, A]
    assert extra(table)["cards"] == [17, 0, 18]
    assert table.legal(B) == []
    assert refusal(table, B, "keep")[0] == "not_your_turn"


def test_with_one_player_left_who_can_pay_the_game_ends():
    table = position({}, ["5C", "2H 3H"], phase="lead", chips=[91, 3], packs=[pack(NOTHING, ROYAL)])
    play(table, (A, "play 5C"))
    table.settle()
    # B, who dealt, is dealt to first and holds nothing: A wins the 8 pots of 2.
    assert table.game.need == Over(scores=(91 + 2 + 2 + 16, 1), winners=(A,))


# --- the seam -------------------------------------------------------------------------------------------


def test_the_first_dealer_is_the_coins_choice():
    assert [dealt_table(4, coin).game.snapshot()["dealer"] for coin in range(8)] == [0, 1, 2, 3, 0, 1, 2, 3]


@pytest.mark.parametrize(
    "text", ["", "bid", "bid 01", "bid -1", "bid 1 2", "bid ١", "play", "play claim", "play 3X", "play 3H 3H",
             "keep now", "show", "PLAY 3H", "play  3H", "swap ", "dance"]
)  # fmt: skip
def test_text_that_is_no_move_is_unreadable(text):
    table = position({}, PLAIN, phase="widow", widow=WIDOW)
    assert refusal(table, D, text)[0] == "unreadable"


def test_nobody_owns_the_widow_before_it_is_swapped():
    game = make_game("rummoli", {}, 4)
    table = LocalTable(game, packs=[range(52)], coins=[bytes(31) + b"\x03"])
    table.shuffle(game.need)
    owners = game.need.owners
    assert [slot for slot, _ in owners] == [slot for slot in range(52) if slot % 5 != 4]
    assert {owner for _, owner in owners} == {A, B, C, D}
    table.settle()
    table.move(D, "keep")
    assert {slot for seat in range(4) for slot in game.hidden(seat)} == {slot for slot, _ in owners}


def test_a_swapped_widow_is_dealt_to_its_new_owner_alone():
    table = position({}, PLAIN, phase="widow", widow=WIDOW)
    game = table.game
    game.apply(Moved(seat=D, text="swap"))
    assert game.need == Deal(owners=tuple((slot, D) for slot in range(20, 25)))
