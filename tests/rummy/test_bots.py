"""Bots of the rum family: what they choose is legal, sensible, and seen from their own seat alone."""

import random
from typing import Any

import pytest

from p2p_rummy.bots import LEVELS, make_bot
from p2p_rummy.bots.sharp import SharpBot
from p2p_rummy.bots.sharp_search import Budget
from p2p_rummy.games import make_game
from p2p_rummy.local import LocalTable
from p2p_rummy.options import GAMES, RUM_GAMES, options_of
from p2p_rummy.refusals import OptionError
from protocol.game import Over, Window


def play_out(table, bots, *, most_moves=20_000):
    """Returns the final scores.  Every choice is checked against the list of legal moves, then made."""
    table.settle()
    moves = 0
    while not isinstance(need := table.game.need, Over):
        for seat in need.seats if isinstance(need, Window) else (need.seat,):
            text = bots[seat].choose(table.game, seat, table.faces[seat])
            assert text in table.legal(seat)
            table.move(seat, text)
            moves += 1
        assert moves < most_moves, "this game does not end"
    return need.scores


def any_options(rng: random.Random, game: str) -> dict[str, Any]:
    """A random value for about a third of the options, such that the game is short."""
    chosen: dict[str, Any] = {}
    for option in options_of(game):
        if option.name in ("players_min", "players_max", "target", "max_hands") or rng.random() < 0.65:
            continue
        match option.kind:
            case "bool":
                chosen[option.name] = rng.random() < 0.5
            case "choice":
                chosen[option.name] = rng.choice(list(option.choices))
            case "packs":
                chosen[option.name] = rng.choice(["auto", 1, 2])
            case "sizes":
                chosen[option.name] = rng.randint(3, 10)
            case "int":
                chosen[option.name] = rng.randint(option.low, min(option.high, option.low + 40))
    if game == "rummoli":
        return chosen | {"max_rounds": 2}
    return chosen | {"target": 60, "max_hands": 2}


def any_table(seed: int, game: str) -> LocalTable:
    """A table of this game with options and seats that fit."""
    rng = random.Random(f"{game} {seed}")
    while True:
        try:
            return LocalTable(make_game(game, any_options(rng, game), rng.randint(2, 6)), rng=rng)
        except OptionError:
            continue


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("game", GAMES)
def test_every_level_plays_every_game_as_it_is_to_the_end(game, level):
    seats = 4 if game in ("partnership", "persian") else 3
    hands = 1 if level == "sharp" else 3  # it thinks longer
    bots = [
        SharpBot(seat, Budget(worlds=12)) if level == "sharp" else make_bot(level, seat)
        for seat in range(seats)
    ]
    limit = {"max_rounds": 2} if game == "rummoli" else {"target": 100, "max_hands": hands}
    table = LocalTable(make_game(game, limit, seats), rng=random.Random(game))
    play_out(table, bots)


@pytest.mark.parametrize("game", GAMES)
def test_both_levels_play_under_any_options(game):
    for seed in range(12):
        table = any_table(seed, game)
        seats = table.game.seats
        play_out(table, [make_bot("steady" if seat % 2 else "random", seat) for seat in range(seats)])


def test_steady_beats_random_in_nine_of_ten_games_to_500():
    won = 0
    for seed in range(20):
        table = LocalTable(make_game("rum500", {}, 2), rng=random.Random(1000 + seed))
        me = seed % 2
        scores = play_out(table, [make_bot("steady" if seat == me else "random", seed) for seat in (0, 1)])
        won += scores[me] > scores[1 - me]
    assert won >= 18


@pytest.mark.parametrize("game", [name for name in RUM_GAMES if name not in ("partnership", "persian")])
def test_steady_scores_more_than_random_in_every_game(game):
    own = others = 0
    for seed in range(10):
        table = LocalTable(make_game(game, {"target": 300}, 2), rng=random.Random(seed))
        me = seed % 2
        scores = play_out(table, [make_bot("steady" if seat == me else "random", seed) for seat in (0, 1)])
        own += scores[me]
        others += scores[1 - me]
    assert own > 1.1 * others


@pytest.mark.parametrize("game", ["partnership", "persian"])
def test_steady_partners_beat_random_partners(game):
    won = 0
    for seed in range(6):
        table = LocalTable(
            make_game(game, {"target": 150} if game == "partnership" else {}, 4), rng=random.Random(seed)
        )
        me = seed % 2
        bots = [make_bot("steady" if seat % 2 == me else "random", seed + seat) for seat in range(4)]
        scores = play_out(table, bots)
        won += scores[me] > scores[1 - me]
    assert won >= 5


def test_a_bot_repeats_itself_from_its_seed():
    def game():
        table = LocalTable(make_game("rum500", {"target": 60}, 3), rng=random.Random(5))
        play_out(table, [make_bot("steady", seat) for seat in range(3)])
        return table.game.digest()

    assert game() == game()


def test_an_unknown_level_is_refused_with_the_levels_there_are():
    with pytest.raises(ValueError, match="no bot level 'grandmaster'; the levels are random, steady"):
        make_bot("grandmaster", 1)


def test_a_bot_that_owes_no_move_says_so():
    table = LocalTable(make_game("rum500", {}, 2), rng=random.Random(1))
    table.settle()
    idle = 1 - table.to_move()[0]
    for level in LEVELS:
        with pytest.raises(ValueError, match="owes no move"):
            make_bot(level, 1).choose(table.game, idle, table.faces[idle])


def test_steady_players_do_not_pass_the_same_cards_on_for_ever():
    """Three of them at `rummy` once took each other's discards without end, each taking what the one before threw."""
    table = LocalTable(make_game("rummy", {"target": 100, "max_hands": 3}, 3), rng=random.Random("rummy"))
    play_out(table, [make_bot("steady", seat) for seat in range(3)], most_moves=2000)
