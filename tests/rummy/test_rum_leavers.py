"""Seats that leave in mid-hand and come back: whatever the moment, the table plays on."""

from __future__ import annotations

import random
from typing import Any

import pytest

from p2p_rummy.cards import NAMES, card_number
from p2p_rummy.games import make_game
from p2p_rummy.games.rum import RumGame
from p2p_rummy.games.rum_position import Position
from p2p_rummy.local import LocalTable
from p2p_rummy.options import resolve
from p2p_rummy.refusals import IllegalMove
from protocol.game import Deal, Dropped, Moved, Over, Shuffle, Turn, Window
from tests.rummy.test_rum_properties import Recorder, check_cards, check_scores, random_settings


def cards(text: str) -> list[int]:
    return [card_number(name) for name in text.split()]


def table(
    hands: list[str], *, options: dict[str, Any] | None = None, game: str = "rum500", **position: Any
) -> LocalTable:
    position = {
        key: cards(value) if isinstance(value, str) and key in ("stock", "pile") else value
        for key, value in position.items()
    }
    settings = resolve(game, options or {}, len(hands))
    return Position(settings=settings, hands=[cards(hand) for hand in hands], **position).table()


def rum(local: LocalTable) -> RumGame:
    assert isinstance(local.game, RumGame)
    return local.game


def scores(local: LocalTable) -> list[int]:
    return local.game.snapshot()["scores"]


# --- minus_hand: the hand is shown, leaves play and counts at the end -----------------------------------


def test_the_seat_on_turn_leaves_before_its_draw() -> None:
    local = table(["KS KH", "2C 3C", "5D 6D"], pile="4D", stock="TC 9C")
    local.drop(0)
    assert local.game.need == Window(after=0, seats=(1, 2))
    local.move(1, "pass")
    local.move(2, "pass")
    assert local.game.need == Turn(seat=1)


def test_its_hand_is_shown_and_deducted_at_the_end() -> None:
    local = table(["KS KH", "2C", "5D 6D"], pile="4D", stock="TC 9C")
    local.drop(0)
    local.move(1, "pass")
    local.move(2, "pass")
    assert [held["card"] for held in local.game.snapshot()["hands"][0]] == ["KS", "KH"]
    local.move(1, "draw")
    local.move(1, "discard TC")
    local.move(2, "pass")
    local.move(2, "draw")
    local.move(2, "discard 9C")
    local.move(1, "pass")
    local.move(1, "pass", into_next_hand=False)
    assert scores(local) == [-20, -2, -11]


def test_what_it_had_laid_counts_for_it() -> None:
    local = table(["8S 8H 8C KD", "2C", "5D"], pile="4D", stock="TC 9C", phase="play")
    local.move(0, "meld 8S 8H 8C")
    local.drop(0)
    local.move(1, "pass")
    local.move(2, "pass")
    local.move(1, "draw")
    local.move(1, "discard TC")
    local.move(2, "pass")
    local.move(2, "draw")
    local.move(2, "discard 9C")
    local.move(1, "pass")
    local.move(1, "pass", into_next_hand=False)
    assert scores(local) == [24 - 10, -2, -5]


def test_a_seat_whose_card_is_on_its_way_leaves() -> None:
    """In the middle of a draw: nobody waits for the share of a seat that has gone."""
    local = table(["KS", "2C", "5D"], pile="4D", stock="TC 9C")
    game = rum(local)
    game.apply(Moved(seat=0, text="draw"))
    assert isinstance(game.need, Deal)
    local.drop(0)
    assert game.need == Window(after=0, seats=(1, 2))
    assert [held["card"] for held in game.snapshot()["hands"][0]] == ["KS", "TC"]


def test_a_seat_in_the_window_leaves_and_the_others_have_answered() -> None:
    local = table(["8H KD", "2C", "5D"], pile="4D", stock="TC", phase="play")
    local.move(0, "discard KD")
    local.move(2, "pass")
    local.drop(1)
    assert local.game.need == Turn(seat=2)


def test_its_answer_lapses_with_it() -> None:
    """A call by a seat that leaves before the window is resolved is none."""
    hands = ["8H KD", "2C 3C", "5D 6D"]
    local = table(hands, pile="4H 5H 6H", stock="TC", phase="play")
    local.move(0, "discard KD")
    local.move(1, "rummy 4H 5H 6H")
    local.drop(1)
    local.move(2, "pass")
    assert local.game.need == Turn(seat=2)
    assert local.game.snapshot()["melds"] == []


def test_the_discarder_leaves_while_the_others_answer() -> None:
    local = table(["8H KD", "2C", "5D"], pile="4D", stock="TC", phase="play")
    local.move(0, "discard KD")
    local.drop(0)
    local.move(1, "pass")
    local.move(2, "pass")
    assert local.game.need == Turn(seat=1)


def test_one_seat_left_alone_ends_the_hand_and_the_game_without_a_winner() -> None:
    local = table(["KS", "2C", "5D"], pile="4D", stock="TC", phase="play", totals=[400, 0, 0])
    local.drop(1)
    local.drop(0)
    assert local.game.need == Over(scores=(390, -2, -5), winners=())


def test_a_dropped_seat_may_not_move() -> None:
    local = table(["KS", "2C", "5D"], pile="4D", stock="TC 9C")
    local.drop(0)
    with pytest.raises(IllegalMove) as refused:
        local.game.check(0, "pass", {})
    assert refused.value.code == "not_your_turn"


def test_the_deal_passes_over_an_empty_chair_and_comes_back_to_it() -> None:
    """R15: three seats, the next dealer has left; after it has come back it is dealt to again."""
    local = table(["2S", "KC", "5D"], pile="4D", stock="TC", phase="play", dealer=0)
    local.drop(1)
    assert local.game.need == Turn(seat=0)
    local.move(0, "discard 2S", into_next_hand=False)
    assert isinstance(local.game.need, Shuffle)
    local.settle()
    state = rum(local).table
    assert (state.dealer, state.turn, sorted(state.ring)) == (2, 0, [0, 2])
    assert [len(hand) for hand in state.hands] == [13, 0, 13], (
        "two are left, so two are dealt to as two (R12)"
    )
    assert local.game.snapshot()["out"] == [1]


def test_who_returns_is_dealt_to() -> None:
    local = table(["2S", "KC", "5D"], pile="4D", stock="TC", phase="play", dealer=0)
    local.drop(1)
    local.move(0, "discard 2S", into_next_hand=False)
    local.sit_down_again(1)
    local.settle()
    assert [len(hand) for hand in rum(local).table.hands] == [7, 7, 7]
    assert local.game.snapshot()["out"] == []


def test_a_seat_that_leaves_during_the_first_deal_is_dealt_out() -> None:
    local = LocalTable(make_game("rum500", {}, 3), rng=random.Random(1))
    need = local.game.need
    assert isinstance(need, Shuffle)
    local.shuffle(need)
    leaver = rum(local).table.turn
    local.game.apply(Dropped(seat=leaver))
    dealing = local.game.need
    assert isinstance(dealing, Deal)
    assert leaver not in {owner for _, owner in dealing.owners}
    local.settle()
    assert local.to_move() == ((leaver + 1) % 3,)


def test_a_seat_that_leaves_before_the_shuffle_is_not_dealt_to() -> None:
    local = LocalTable(make_game("rum500", {}, 3), rng=random.Random(1))
    local.game.apply(Dropped(seat=1))
    local.settle()
    assert [len(hand) for hand in rum(local).table.hands] == [13, 0, 13]


def test_the_dealer_leaves_before_naming_his_joker() -> None:
    """R177: then nobody names it and nobody uses it."""
    local = LocalTable(make_game("dealers_joker", {"first_dealer": "random"}, 3), rng=random.Random(1))
    local.settle()
    (dealer,) = local.to_move()
    local.drop(dealer)
    state = rum(local).table
    assert state.effect == ""
    assert state.phase == "draw"
    assert dealer not in state.ring


def test_the_eldest_leaves_before_choosing_the_first_discard() -> None:
    """R169: then the next stock card is turned up."""
    local = LocalTable(make_game("rum500", {"first_discard": "eldest_chooses"}, 3), rng=random.Random(1))
    local.settle()
    (eldest,) = local.to_move()
    local.drop(eldest)
    state = rum(local).table
    assert (state.phase, state.turn, len(state.pile)) == ("draw", (eldest + 1) % 3, 1)


def test_a_seat_leaves_while_its_new_stock_is_shuffled() -> None:
    """R149: the stock is made all the same, and the next seat draws from it."""
    local = table(["KS", "2C", "5D"], game="rummy", pile="4D 5C 6C", stock="")
    game = rum(local)
    game.apply(Moved(seat=0, text="draw"))
    assert isinstance(game.need, Shuffle)
    local.drop(0)
    assert game.need == Turn(seat=1)
    assert len(game.table.stock) == 2


# --- void_hand ------------------------------------------------------------------------------------------


def test_void_hand_counts_for_nobody_but_the_leaver_pays() -> None:
    local = table(
        ["KS KH", "2C", "5D"], options={"leaver": "void_hand"}, pile="4D", stock="TC", totals=[10, 20, 30]
    )
    local.drop(0, into_next_hand=False)
    assert scores(local) == [-10, 20, 30]
    assert local.game.snapshot()["sheet"][-1]["notes"] == ["void"]
    assert isinstance(local.game.need, Shuffle)


def test_a_void_hand_is_dealt_again_by_the_same_dealer_and_does_not_count() -> None:
    local = table(
        ["KS KH", "2C", "5D"],
        options={"leaver": "void_hand", "max_hands": 1, "target": None},
        pile="4D",
        stock="TC",
        dealer=2,
    )
    local.drop(0)
    state = rum(local).table
    assert (state.dealer, state.hand, state.played, state.phase) == (2, 2, 0, "draw")


def test_without_backups_closed_cards_count_as_the_dearest() -> None:
    """Nobody can open them, and leaving must never pay: two closed cards are 2 x 15."""
    local = table(["KS KH", "2C", "5D"], pile="4D", stock="TC")
    local.drop(0, void=True, into_next_hand=False)
    assert scores(local) == [-30, 0, 0]


# --- bot ------------------------------------------------------------------------------------------------


def test_the_table_plays_the_open_hand_on() -> None:
    """It draws, melds the dearest it can, lays off and throws the dearest card that is left."""
    local = table(["KS KH 2S", "2C 3D", "5D 6S"], options={"leaver": "bot"}, pile="4D", stock="KD TC 9C")
    local.drop(0, into_next_hand=False)
    state = rum(local).table
    assert [NAMES[card] for card in state.melds[1].cards] == ["KS", "KH", "KD"]
    assert (state.out_seat, scores(local)) == (0, [30, -5, -11]), "it goes out by throwing the 2"


def test_the_bots_drawn_cards_are_open_to_all() -> None:
    local = table(["7H 2S", "2C 3D", "5D 6S"], options={"leaver": "bot"}, pile="4D", stock="KD TC 9C")
    local.drop(0)
    assert [held["card"] for held in local.game.snapshot()["hands"][0]] == ["7H", "2S"]
    assert local.game.snapshot()["discard"] == ["4D", "KD"]
    assert local.game.need == Window(after=0, seats=(1, 2))


def test_the_bot_does_not_answer_windows() -> None:
    local = table(
        ["7H 2S", "2C 3D", "5D 6S"], options={"leaver": "bot"}, pile="4D", stock="KD TC 9C", phase="play"
    )
    local.drop(1)
    local.move(0, "discard 7H")
    assert local.game.need == Window(after=0, seats=(2,))


def test_the_bot_plays_only_the_hand_in_which_its_player_left() -> None:
    local = table(["2S", "KC 3C", "5D 4C"], options={"leaver": "bot"}, pile="4D", stock="TC", phase="play")
    local.drop(1)
    local.move(0, "discard 2S")
    assert sorted(rum(local).table.ring) == [0, 2]


# --- anything, anywhere ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(14))
def test_games_end_whoever_leaves_whenever(seed: int) -> None:
    rng = random.Random(seed)
    name, options, seats = random_settings(rng)
    options["leaver"] = rng.choice(["minus_hand", "void_hand", "bot"])
    game, twin = make_game(name, options, seats), make_game(name, options, seats)
    assert isinstance(game, RumGame)
    assert isinstance(twin, RumGame)
    local = LocalTable(Recorder(game, twin), rng=rng)  # type: ignore[arg-type]
    for _ in range(40_000):
        if isinstance(game.need, Over):
            break
        if rng.random() < 0.01:
            leave_or_return(rng, local, game)
        else:
            step(rng, local, game)
        if not game.table.away:
            check_cards(local, game)
        if rng.random() < 0.02:
            assert game.digest() == twin.digest()
    assert isinstance(game.need, Over), (name, options)
    assert game.digest() == twin.digest()


def leave_or_return(rng: random.Random, local: LocalTable, game: RumGame) -> None:
    need = game.need
    if game.table.away and isinstance(need, Shuffle) and need.new_hand:
        local.sit_down_again(rng.choice(sorted(game.table.away)))
        return
    seat = rng.randrange(game.seats)
    if seat in game.table.away or len(game.table.away) > 1:
        return
    void = rng.random() < 0.1
    faces = () if void else tuple((slot, local.secret[slot]) for slot in game.hidden(seat))
    local.game.apply(Dropped(seat=seat, faces=faces, void=void))


def step(rng: random.Random, local: LocalTable, game: RumGame) -> None:
    """One need satisfied, so that seats can leave between any two."""
    need = game.need
    if isinstance(need, Turn | Window):
        seat = next(seat for seat in local.to_move() if seat not in game.table.answers)
        text = rng.choice(local.legal(seat))
        slots = game.slots_of(seat, text, local.faces[seat])
        local.game.apply(
            Moved(seat=seat, text=text, openings=tuple((s, local.faces[seat][s]) for s in slots))
        )
        if game.table.between:
            check_scores(game)
    elif isinstance(need, Shuffle):
        local.shuffle(need)
    elif isinstance(need, Deal):
        local.deal(need)
    elif not isinstance(need, Over):
        local.show(need)
