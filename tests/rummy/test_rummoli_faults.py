"""Broken words (R236), and seats that leave in the middle of a round of Rummoli."""

import pytest

from p2p_rummy.cards import card_name, card_number
from p2p_rummy.games import make_game
from p2p_rummy.games.rummoli_board import POTS
from p2p_rummy.games.rummoli_position import position
from p2p_rummy.local import LocalTable
from protocol.game import Deal, Dropped, Moved, Over, Refused, Returned, Showdown, Shuffle, Turn, Window

A, B, C, D = range(4)
PLAIN = ["2H 3H 4D 5D 6C", "2C 3C 4C 5S 6S", "2S 3S 4S 5H 6H", "2D 3D 4H 5C 6D"]
WIDOW = "7S 8C 9D TD JC"


def extra(table):
    return table.game.snapshot()["extra"]


def play(table, *moves):
    for seat, text in moves:
        table.move(seat, text, into_next_hand=False)


def lie(table, seat, text):
    """A move by a client that does not look at its own hand: what everybody else would accept."""
    known = {card_name(card): slot for slot, card in table.faces[seat].items()}
    slots = [known[word] for word in text.split()[1:] if word in known]
    openings = tuple((slot, table.faces[seat][slot]) for slot in slots if slot not in table.game.cards.faces)
    table.game.apply(Moved(seat=seat, text=text, openings=openings))
    table.settle(into_next_hand=False)


def play_on(table):
    """First legal moves until the round has ended."""
    hand = table.game.hand
    while table.game.hand == hand and table.game.phase not in ("vote", "over"):
        for seat in table.to_move():
            table.move(seat, table.legal(seat)[0], into_next_hand=False)


def leave(table, seat, *, void=False):
    slots = table.game.hidden(seat)
    faces = () if void else tuple((slot, table.secret[slot]) for slot in slots)
    table.game.apply(Dropped(seat=seat, faces=faces, void=void))
    table.settle(into_next_hand=False)


def assert_void(table, *faults, seats):
    """The round did not count, and these are named: (seat, rule, cards)."""
    assert [(fault["seat"], fault["rule"], fault["cards"]) for fault in extra(table)["faults"]] == list(
        faults
    )
    assert extra(table)["chips"] == [100] * seats
    assert extra(table)["pots"] == dict.fromkeys(POTS, 0)
    row = table.game.snapshot()["sheet"][-1]
    assert row["points"] == [0] * seats
    assert len(row["notes"]) == len(faults)
    assert extra(table)["round"] == 1


# --- broken words ---------------------------------------------------------------------------------------


def test_o13_who_denies_the_next_card_is_named_when_the_hands_are_opened():
    table = position({}, ["3H 9C", "4H 5H 2D", "7D"], phase="lead")
    play(table, (A, "play 3H"))
    lie(table, B, "pass")
    play(table, (C, "pass"), (A, "play 9C"))
    assert_void(table, (B, "R227", ["4H"]), seats=3)
    assert table.game.snapshot()["sheet"][-1]["notes"] == ["void: seat 2 denied 4H, holding 4H (R227)"]


def test_who_stops_in_the_middle_of_its_own_sequence_has_denied_the_rest():
    table = position({}, ["3H 9C", "4H 5H 2D", "7D"], phase="lead")
    play(table, (A, "play 3H"))
    lie(table, B, "play 4H")
    play(table, (C, "pass"), (C, "pass"), (A, "pass"))
    play_on(table)
    assert_void(table, (B, "R227", ["5H"]), seats=3)


def test_who_leads_more_than_its_lowest_is_named():
    table = position({}, ["3H 3D 9C KS", "4S", "7D"], phase="lead")
    lie(table, A, "play 9C")
    play_on(table)
    assert_void(table, (A, "R226", ["3H", "3D"]), seats=3)


def test_the_lowest_of_the_colour_is_the_duty_after_a_stop():
    table = position({}, ["5H 2C", "KS 4S 3D", "7D"], phase="lead", colour="red")
    play(table, (A, "play 5H"), (B, "pass"), (C, "pass"))
    play(table, (A, "play 2C"))  # out: the round ends before B leads
    assert extra(table)["faults"] == []
    table = position({}, ["5H 2C 9C", "KS 4S 3D", "7D 8D"], phase="lead", colour="red", turn=B)
    play(table, (B, "play 3D"), (C, "pass"), (A, "pass"))
    lie(table, B, "play KS")
    play_on(table)
    assert_void(table, (B, "R228", ["4S"]), seats=3)


def test_who_denies_having_the_colour_is_named():
    table = position({}, ["2H 3D", "4C 6D 8S", "9D"], phase="lead", colour="black")
    play(table, (A, "pass"))
    lie(table, B, "pass")
    play(table, (C, "pass"))
    assert_void(table, (B, "R229", ["8S", "4C"]), seats=3)


def test_a_dealer_who_swaps_a_pay_card_away_is_named_from_his_dead_hand():
    table = position({}, [*PLAIN[:3], "2D 3D QC 5C 6D"], phase="widow", widow=WIDOW)
    lie(table, D, "swap")
    play_on(table)
    assert_void(table, (D, "R223", ["QC"]), seats=4)


@pytest.mark.parametrize("outbid", [False, True])
def test_o07_a_bidder_with_a_pay_card_is_named_whether_or_not_it_won(outbid):
    table = position({}, [PLAIN[A], "2C 3C AS 5S 6S", *PLAIN[2:]], phase="widow", widow=WIDOW)
    play(table, (D, "keep"), (A, "pass"))
    lie(table, B, "bid 1")
    play(table, *([(C, "bid 2"), (B, "pass")] if outbid else [(C, "pass")]))
    play_on(table)
    assert_void(table, (B, "R224", ["AS"]), seats=4)


def test_all_who_broke_their_word_are_named():
    table = position({}, ["3H 9C 2C", "4H 5H 2D", "7D"], phase="lead")
    lie(table, A, "play 3H")
    lie(table, B, "pass")
    play(table, (C, "pass"))
    play_on(table)
    assert_void(table, (A, "R226", ["2C"]), (B, "R227", ["4H"]), seats=3)


def test_a_card_played_before_is_not_held_against_a_later_word():
    table = position({}, ["2C 9H", "3C 8H 7H", "4D TD JD"], phase="lead")
    play(table, (A, "play 2C"), (B, "play 3C"), (C, "pass"))  # B denies black cards next, and 3C is gone
    play(table, (C, "pass"), (A, "pass"), (B, "play 7H 8H"))
    assert extra(table)["faults"] == []
    assert table.game.snapshot()["sheet"][-1]["notes"] == []


def test_a_void_round_counts_so_that_a_liar_cannot_hold_up_the_end():
    table = position({"max_rounds": 1}, ["3H 9C", "4H 5H 2D"], phase="lead")
    play(table, (A, "play 3H"))
    lie(table, B, "pass")
    play(table, (A, "play 9C"))
    assert table.game.need == Over(scores=(100, 100), winners=(A, B))


def test_the_deal_passes_after_a_void_round():
    table = position({}, ["3H 9C", "4H 5H 2D", "7D"], phase="lead", dealer=A)
    play(table, (A, "play 3H"))
    lie(table, B, "pass")
    play(table, (C, "pass"), (A, "play 9C"))
    assert table.game.need == Window(after=B, seats=(C, A), sealed=False)


def test_what_was_shown_at_poker_is_refused_at_once():
    hands = ["8S 8H 8D 3C 2D", "2H 5H 9H JH QH 3H", "AC KD TC 6C 4S"]
    table = position({}, hands, phase="bet")
    play(table, (A, "bet 1"), (B, "call"), (C, "fold"), (A, "show 8S 8H 8D 3C 2D"))
    play(table, (B, table.legal(B)[0]))
    assert table.game.need == Turn(seat=B)  # the flush leads; its 2H or 3H may still be hidden
    opened = {card_name(card) for card in table.game.cards.open_hand(B)}
    hidden = ({"2H", "3H", "5H", "9H", "JH", "QH"} - opened).pop()
    assert hidden == "2H"
    with pytest.raises(Refused) as caught:
        table.game.check(B, "play 9H", {})
    assert (caught.value.code, caught.value.cards) == ("not_the_lowest", ("3H",))
    slot = next(slot for slot, card in table.faces[B].items() if card == card_number("2H"))
    table.game.check(B, "play 2H 3H", {slot: card_number("2H")})
    with pytest.raises(Refused) as caught:
        table.game.check(B, "play 2H", {slot: card_number("2H")})
    assert (caught.value.code, caught.value.cards) == ("must_play", ("3H",))


def test_silence_in_a_window_is_taken_even_from_a_hand_that_lies_open():
    # What all can see cannot refuse a pass there: a seat that says nothing arrives as one.
    table = position({}, ["3S 3H 3D 9C 9D", "4H 4S 7D TC JC"], phase="bet")
    play(table, (A, "check"), (B, "check"), (A, "show 3S 3H 3D 9C 9D"), (B, "show 4H 4S 7D TC JC"))
    play(table, (A, "play 3H"))
    assert extra(table)["due"] == "4H"
    table.game.check(B, "pass", {})
    assert table.legal(B) == ["play 4H"]


def test_a_move_opens_what_it_names_and_nothing_else():
    table = position({}, ["3H 9C", "4H 5H 2D", "7D"], phase="lead")
    slots = {card_name(card): slot for slot, card in table.faces[A].items()}
    with pytest.raises(Refused) as caught:
        table.game.check(A, "play 3H", {})
    assert caught.value.code == "not_in_hand"
    both = {slots["3H"]: card_number("3H"), slots["9C"]: card_number("9C")}
    with pytest.raises(Refused) as caught:
        table.game.check(A, "play 3H", both)
    assert caught.value.code == "not_in_hand"


# --- seats that leave -----------------------------------------------------------------------------------


def test_a_leaver_folds_and_its_cards_are_dead():
    table = position({}, PLAIN, phase="bet")
    play(table, (A, "bet 2"), (B, "fold"), (C, "fold"))
    leave(table, D)
    assert extra(table)["chips"] == [95, 91, 91, 91]
    play(table, (A, "play 2H 3H"))
    assert table.game.need == Turn(seat=A)  # the 4H left with D: nobody is asked for it
    assert extra(table)["colour"] == "black"


def test_a_leaver_pays_for_the_cards_it_left_with():
    table = position({}, ["5C", "2H 3H 4D", "9H", "6H 8H"], phase="lead")
    leave(table, D)
    play(table, (A, "play 5C"))
    assert extra(table)["chips"] == [91 + 4 + 3 + 1 + 2, 88, 90, 89]


def test_who_leaves_on_the_lead_hands_it_on():
    table = position({}, ["5C 6H", "2H 3H 4D", "9H"], phase="lead")
    leave(table, A)
    assert table.game.need == Turn(seat=B)
    assert table.legal(B) == ["play 2H 3H"]


def test_a_window_goes_on_without_the_leaver():
    table = position({}, ["3H 9C", "5D 8D", "4H 2D", "7D"], phase="lead")
    play(table, (A, "play 3H"))
    leave(table, B)
    assert table.game.need == Window(after=A, seats=(C, D), sealed=False)


def test_a_card_that_left_with_its_holder_stops_the_suit():
    table = position({}, ["3H 9C", "4H 8D", "5H 2D", "7D"], phase="lead")
    play(table, (A, "play 3H"))
    leave(table, B)
    assert table.game.need == Turn(seat=A)
    assert extra(table)["colour"] == "black"


def test_when_the_last_player_leaves_the_stop_falls_to_the_next_seat():
    table = position({}, ["3H 9C", "5S 8D", "JC 2D", "7D"], phase="lead")
    play(table, (A, "play 3H"))
    leave(table, A)
    play(table, (B, "pass"), (C, "pass"), (D, "pass"))
    assert table.game.need == Turn(seat=B)
    assert table.legal(B) == ["play 5S"]


def test_who_is_left_alone_has_won_the_round():
    table = position({}, ["3H 9C", "4H 8D 5S"], phase="lead")
    leave(table, B)
    assert table.game.need == Over(
        scores=(91 + 2 + 3 + 16, 88), winners=(A,)
    )  # with the 8 pots of 2 at the end


def test_a_dealer_who_leaves_before_the_widow_is_settled_ends_the_auction():
    table = position({}, PLAIN, phase="widow", widow=WIDOW)
    leave(table, D)
    assert table.game.phase == "bet"
    table = position({}, PLAIN, phase="widow", widow=WIDOW)
    play(table, (D, "keep"), (A, "bid 2"))
    leave(table, D)
    assert table.game.phase == "bet"
    assert extra(table)["chips"] == [91] * 4


def test_the_bid_of_a_leaver_lapses():
    table = position({}, PLAIN, phase="widow", widow=WIDOW)
    play(table, (D, "keep"), (A, "bid 1"), (B, "bid 2"))
    leave(table, B)
    assert table.game.need == Turn(seat=C)
    play(table, (C, "pass"))
    assert extra(table)["widow_taker"] == A
    assert extra(table)["chips"] == [90, 91, 91, 92]


def test_who_leaves_before_its_widow_is_dealt_takes_it_along():
    table = position({}, PLAIN, phase="widow", widow=WIDOW)
    table.game.apply(Moved(seat=D, text="swap"))
    assert isinstance(table.game.need, Deal)
    leave(table, D)
    assert table.game.phase == "bet"
    assert table.game.need == Turn(seat=A)


def test_who_leaves_while_hands_are_shown_has_shown_nothing():
    table = position({}, ["8S 8H 8D 3C 2D", "2H 5H 9H JH QH", "AC KD TC 6C 4S"], phase="bet")
    play(table, (A, "check"), (B, "check"), (C, "check"), (A, "show 8S 8H 8D 3C 2D"))
    leave(table, B)
    play(table, (C, "muck"))
    assert extra(table)["chips"] == [94, 91, 91]


def test_the_round_is_settled_without_the_leaver():
    table = position({}, ["5C", "2H 3H 4D", "9H"], phase="lead")
    slot = next(iter(table.faces[A]))
    table.game.apply(Moved(seat=A, text="play 5C", openings=((slot, card_number("5C")),)))
    assert isinstance(table.game.need, Showdown)
    leave(table, B)
    assert extra(table)["chips"] == [91 + 3 + 3 + 1, 88, 90]


def test_without_backups_the_round_is_void_and_dealt_again_by_the_same_dealer():
    table = position({}, PLAIN, phase="bet", dealer=C)
    play(table, (D, "bet 2"))
    leave(table, D, void=True)
    assert table.game.need == Shuffle(cards=tuple(range(52)), new_hand=True)
    assert extra(table)["chips"] == [100, 100, 100, 95]  # a chip for each card that D held
    assert extra(table)["pots"] == {**dict.fromkeys(POTS, 0), "centre": 5}
    assert extra(table)["round"] == 0
    table.settle()
    assert table.game.snapshot()["dealer"] == C
    assert extra(table)["players"] == [A, B, C]


def test_leaver_void_hand_ends_the_round_at_the_leavers_cost():
    table = position({"leaver": "void_hand"}, ["3H 9C", "4H 8D 5S", "7D"], phase="lead")
    play(table, (A, "play 3H"))
    leave(table, B)
    assert table.game.need == Shuffle(cards=tuple(range(52)), new_hand=True)
    assert extra(table)["chips"] == [100, 97, 100]


def test_leaver_bot_plays_the_open_hand_on():
    table = position(
        {"leaver": "bot"}, ["3H 9C 2D", "4H 5H 8D TS", "6H 7D", "7H KC"], phase="lead", colour="red"
    )
    play(table, (A, "play 2D"))
    leave(table, B)
    play(table, (C, "pass"), (D, "pass"), (A, "play 9C"), (C, "pass"), (D, "pass"))
    assert table.game.need == Turn(seat=A)
    play(table, (A, "play 3H"))
    # A is out: B's hand is paid for as the others'.
    assert extra(table)["chips"] == [91 + 4 + 4 + 2 + 2, 87, 89, 89]


def test_leaver_bot_follows_leads_and_claims():
    hands = ["3H 9S 2D", "4H 5H TS 8D", "6H 7D", "7H KC"]
    table = position({"leaver": "bot"}, hands, phase="lead", colour="black")
    leave(table, B)
    play(table, (A, "play 9S"))
    # B's open TS follows and its pot is claimed; nobody is asked for the JS but the others.
    assert extra(table)["played"] == [[A, "9S"], [B, "TS"]]
    assert extra(table)["pots"]["TS"] == 0
    assert table.game.need == Window(after=B, seats=(C, D, A), sealed=False)
    play(table, (C, "pass"), (D, "pass"), (A, "pass"))
    # The stop is B's: its lowest red card leads, the 5H with it.
    assert extra(table)["played"][2:] == [[B, "4H"], [B, "5H"]]
    play(table, (C, "play 6H"), (D, "pass"), (A, "pass"))
    assert extra(table)["due"] == "7H"


def test_leaver_bot_neither_swaps_bids_nor_bets():
    table = position({"leaver": "bot"}, PLAIN, phase="widow", widow=WIDOW)
    leave(table, D)
    assert table.game.phase == "auction"
    leave(table, B)
    play(table, (A, "pass"), (C, "pass"), (A, "check"), (C, "bet 1"), (A, "call"))
    assert table.game.phase == "show"
    assert extra(table)["betting"]["left"] == [A, C]


def auction(option="bot"):
    """A, left of the dealer D, has bid 3 for the widow; B is next."""
    table = position({"leaver": option}, PLAIN, phase="widow", widow=WIDOW)
    play(table, (D, "keep"), (A, "bid 3"))
    return table


@pytest.mark.parametrize("option", ["minus_hand", "bot"])
def test_the_bid_of_who_leaves_lapses(option):
    table = auction(option)
    chips = extra(table)["chips"]
    leave(table, A)
    assert table.game.need == Turn(seat=B)
    play(table, (B, "pass"))
    assert table.game.need == Turn(seat=C)  # who alone is left need not bid above anybody
    play(table, (C, "pass"))
    assert table.game.phase == "bet"
    assert extra(table)["chips"] == chips


@pytest.mark.parametrize("option", ["minus_hand", "bot"])
def test_the_last_bidder_takes_the_widow_when_the_others_have_left(option):
    table = auction(option)
    chips = extra(table)["chips"]
    play(table, (B, "bid 4"), (C, "pass"))
    leave(table, A)
    assert table.game.phase == "bet"
    chips[B] -= 4
    chips[D] += 4
    assert extra(table)["chips"] == chips
    assert sorted(table.faces[B][slot] for slot in table.game.cards.hands[B]) == sorted(
        card_number(name) for name in WIDOW.split()
    )


def test_leaver_bot_plays_the_widow_that_is_being_dealt_to_it():
    table = auction()
    table.game.apply(Moved(seat=B, text="pass", openings=()))
    table.game.apply(Moved(seat=C, text="pass", openings=()))
    assert isinstance(table.game.need, Deal)
    leave(table, A)
    assert table.game.phase == "bet"
    assert sorted(map(card_name, table.game.cards.open_hand(A))) == sorted(WIDOW.split())
    play_on(table)  # it is held to what all can see: nothing is denied
    assert extra(table)["faults"] == []


@pytest.mark.parametrize("option", ["minus_hand", "bot"])
def test_a_dealer_who_leaves_while_the_cards_are_dealt_is_not_offered_the_widow(option):
    game = make_game("rummoli", {"leaver": option}, 4)
    table = LocalTable(game, packs=[range(52)], coins=[bytes(32)])
    table.shuffle(game.need)
    leave(table, game.dealer)
    # With a bot in its place the widow was offered and kept; the others bid for it.
    first = game.round.players[0]
    assert (game.phase, game.need) == ("bet" if option == "minus_hand" else "auction", Turn(seat=first))


def test_who_returns_plays_from_the_next_round_on():
    table = position({}, ["5C", "2H 3H 4D", "9H", "6H 8H"], phase="lead")
    leave(table, D)
    play(table, (A, "play 5C"), (B, "pass"), (C, "pass"))
    table.game.apply(Returned(seat=D))
    table.settle()
    assert extra(table)["players"] == [B, C, D, A]


def test_a_leaver_neither_votes_nor_wins():
    table = position({}, ["5C", "2H 3H 4D", "9H"], phase="lead", chips=[50, 50, 400])
    play(table, (A, "play 5C"))
    assert table.game.need == Window(after=A, seats=(B, C), sealed=False)
    leave(table, C)
    assert table.game.need == Window(after=A, seats=(B,), sealed=False)
    play(table, (B, "end"), (A, "end"))
    table.settle()
    assert isinstance(table.game.need, Over)
    assert C not in table.game.need.winners
    assert table.game.need.scores[C] == 399


def test_who_leaves_before_the_final_deal_gets_no_share_of_it():
    options = {"max_rounds": 1}
    pots = {**dict.fromkeys(POTS, 0), "TS": 10}
    table = position(options, ["5C", "2H", "9H"], phase="lead", pots=pots)
    play(table, (A, "play 5C"))
    leave(table, B)
    table.settle()
    need = table.game.need
    assert isinstance(need, Over)
    assert need.scores[B] == 90
    assert sum(need.scores) == 91 * 3 + 10
