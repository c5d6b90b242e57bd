"""A hand whose cards cannot be told (SPEC.md 6.5) is dealt again, and nobody is better or worse off."""

from __future__ import annotations

import pytest

from p2p_rummy.games.base import make_game
from protocol.game import Deal, Moved, Shuffle, Shuffled, Voided


@pytest.mark.parametrize("name", ["rum500", "dealers_joker", "rummoli"])
def test_a_void_deal_is_dealt_again_by_the_same_dealer_and_counts_for_nobody(name: str) -> None:
    game = make_game(name, {"first_dealer": "random"} if name != "rummoli" else {}, 3)
    game.apply(Shuffled(coin=bytes(32)))
    if name == "dealers_joker":
        game.apply(Moved(seat=game.snapshot()["dealer"], text="name wild"))
    assert isinstance(game.need, Deal)
    before = game.snapshot()
    game.apply(Voided())
    after = game.snapshot()
    assert isinstance(game.need, Shuffle)
    assert game.need.new_hand
    assert after["scores"] == before["scores"]
    assert after["sheet"][-1]["notes"] == ["void"]
    assert after["sheet"][-1]["points"] == [0, 0, 0]
    game.apply(Shuffled(coin=b"\xff" * 32))
    assert game.snapshot()["dealer"] == before["dealer"]


def test_a_void_draw_for_the_deal_is_drawn_again() -> None:
    game = make_game("rum500", {"first_dealer": "low_card"}, 3)
    game.apply(Shuffled(coin=bytes(32)))
    assert isinstance(game.need, Deal)
    game.apply(Voided())
    assert isinstance(game.need, Shuffle)
    assert game.need.new_hand
    assert game.hand == 0
    assert game.snapshot()["extra"]["dealer_draws"] == []
    game.apply(Shuffled(coin=bytes(32)))
    assert isinstance(game.need, Deal)
    assert game.need.owners == ((0, None), (1, None), (2, None))
