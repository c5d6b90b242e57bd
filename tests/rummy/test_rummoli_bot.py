"""The Rummoli bot: sound at each decision, and better than chance over whole games."""

import random

import pytest

from p2p_rummy.bots.base import RandomBot
from p2p_rummy.bots.rummoli import RummoliBot
from p2p_rummy.games import make_game
from p2p_rummy.games.rummoli_position import position
from p2p_rummy.local import LocalTable
from protocol.game import Over, Window

A, B, C, D = range(4)


def asked(table, seat=None, seed=1):
    seat = table.to_move()[0] if seat is None else seat
    return RummoliBot(seed).choose(table.game, seat, table.faces[seat])


def play_out(table, bots):
    table.settle()
    while not isinstance(table.game.need, Over):
        need = table.game.need
        for seat in need.seats if isinstance(need, Window) else (need.seat,):
            table.move(seat, bots[seat].choose(table.game, seat, table.faces[seat]))
    return table.game.need.scores


WEAK = "2H 4D 6C 8H 9S"
WIDOW = "7S 8C 9D TD JC"


def test_a_dealer_swaps_a_weak_hand_and_keeps_a_strong_one():
    others = ["3H 5D 7C 9H TC", "3C 5S 7D 8D JH"]
    rich = {"TS": 9, "JD": 9, "QC": 9, "KH": 9, "AS": 9}
    table = position({}, [*others, WEAK], phase="widow", widow=WIDOW, pots=rich)
    assert asked(table) == "swap"
    table = position({}, [*others, "2S 2H 2D 2C 4S"], phase="widow", widow=WIDOW, pots={"poker": 40})
    assert asked(table) == "keep"


def test_it_bids_no_more_than_the_widow_is_worth():
    others = ["3H 5D 7C 9H TC", "3C 5S 7D 8D JH"]
    rich = {"TS": 30, "JD": 30, "QC": 30, "KH": 30, "AS": 30}
    table = position({}, [WEAK, *others], phase="widow", widow=WIDOW, pots=rich)
    table.move(2, "keep")
    assert asked(table) == "bid 1"
    table.move(0, "bid 1")
    table.move(1, "bid 60")
    assert asked(table) == "pass"


def test_it_bets_the_limit_on_the_best_hand_and_folds_the_worst():
    table = position({}, ["TS JS QS KS AS", WEAK, "3C 5S 7D 8D JH"], phase="bet")
    assert asked(table) == "bet 5"
    table.move(A, "bet 5")
    table = position({}, ["TS JS QS KS AS", WEAK, "3C 5S 7D 8D JH"], phase="bet", pots={"poker": 1})
    table.move(A, "bet 5")
    assert asked(table) == "fold"


def test_it_calls_when_the_pot_pays_for_the_risk():
    table = position({}, ["TS JS QS KS AS", "AH AD 7C 5S 3D"], phase="bet", pots={"poker": 60})
    table.move(A, "bet 1")
    assert asked(table) != "fold"


def test_it_shows_a_winner_and_hides_a_loser():
    table = position({}, ["8S 8H 8D 3C 2D", "2H 5H 9H JH QH", "AC KD TC 6C 4S"], phase="bet")
    for seat in (A, B, C):
        table.move(seat, "check")
    table.move(A, asked(table))
    assert asked(table).startswith("show ")
    table.move(B, asked(table))
    assert asked(table) == "muck"


def test_it_claims_with_the_card():
    table = position({}, ["TS 2D", "JS 3D"], phase="lead", colour="black")
    assert asked(table) == "play TS claim"


def test_it_claims_late_rather_than_never():
    table = position({}, ["TS 2D", "3D 4C"], phase="lead", colour="black")
    table.move(A, "play TS")
    table.move(B, "pass")
    assert asked(table) == "claim"


def test_among_equals_it_leads_where_it_can_play_on():
    table = position({}, ["3H 3C 4C 9S", "KC KD"], phase="lead")
    assert asked(table) == "play 3C 4C"


def test_it_sees_only_its_own_hand():
    """Whatever the others hold and whatever lies in the widow, the same public table and hand give the same moves."""
    for seed in range(5):
        texts = set()
        for others in (["3H 5D 7C 9H TC", "3C 5S 7D 8D JH"], ["AS AH AD AC KS", "KH KD KC QS QH"]):
            table = position({}, [WEAK, *others], phase="bet")
            texts.add(asked(table, seed=seed))
        assert len(texts) == 1


def test_it_agrees_to_end_after_ten_rounds():
    table = position({}, ["5C", "2H"], phase="lead")
    table.game.rounds = 9
    table.move(A, "play 5C", into_next_hand=False)
    assert table.game.phase == "vote"
    assert asked(table) == "end"


def test_it_beats_random_players():
    """One against three over 40 games of four rounds: a fair share would be 100 chips."""
    won = 0
    for seed in range(40):
        game = make_game("rummoli", {"max_rounds": 4}, 4)
        seat = seed % 4
        bots = [RummoliBot(seed) if place == seat else RandomBot(seed * 10 + place) for place in range(4)]
        won += play_out(LocalTable(game, rng=random.Random(seed)), bots)[seat]
    assert won / 40 > 125


@pytest.mark.parametrize("seats", range(2, 9))
@pytest.mark.parametrize("claim", ["manual", "auto"])
def test_it_plays_every_table_to_the_end(seats, claim):
    options = {"claim": claim, "widow": seats % 2 == 0, "start_chips": 40, "final": "per_pot"}
    game = make_game("rummoli", options, seats)
    bots = [RummoliBot(seat) for seat in range(seats)]
    scores = play_out(LocalTable(game, rng=random.Random(seats)), bots)
    assert sum(scores) == 40 * seats
    assert game.rounds <= 10
