"""Rummoli between whole sessions: the trust layer carries a second game, and blames nobody who only vanished."""

import os

import pytest

from p2p_rummy.bots import make_bot
from p2p_rummy.games import make_game
from protocol.dealing import RealDecks
from protocol.verify import verify_log
from tests.protocol import tables


def rummoli_table(monkeypatch, options, seats, **more):
    """A table of sessions whose seats are played by bots, and how its logs are read again."""

    def game_of(agreement):
        return make_game("rummoli", options, len(agreement.seats))

    monkeypatch.setattr(tables, "toy_game", game_of)
    bots = [make_bot("random" if seat else "steady", seat) for seat in range(seats)]

    def play(peer):
        session = peer.session
        if not session.legal_moves():
            return None
        return bots[peer.seat].choose(session.game, peer.seat, session.faces)

    return tables.Table(seats, play=play, **more), game_of


def verified(table, game_of):
    logs = [peer.public for peer in table.peers if peer.up]
    assert all(log == logs[0] for log in logs)
    summary = verify_log(logs[0], game_of, table.decks, os.urandom)
    assert summary.finished
    return table.peers[0].session.game


@pytest.mark.parametrize("options", [{"max_rounds": 2}, {"start_chips": 12}])
def test_a_whole_game_leaves_one_log_that_verifies(monkeypatch, options):
    table, game_of = rummoli_table(monkeypatch, options, 3)
    table.run(limit=1_000_000)
    game = verified(table, game_of)
    assert sum(game.need.scores) == 3 * options.get("start_chips", 100)
    assert game.faults == []


def test_the_real_deck_carries_a_round(monkeypatch):
    table, game_of = rummoli_table(monkeypatch, {"max_rounds": 1}, 2, decks=RealDecks())
    table.run(limit=1_000_000)
    game = verified(table, game_of)
    assert game.rounds == 1
    assert game.faults == []


@pytest.mark.parametrize("leaver", ["minus_hand", "void_hand", "bot"])
def test_who_crashes_in_the_middle_of_the_stops_is_not_called_a_liar(monkeypatch, leaver):
    table, game_of = rummoli_table(monkeypatch, {"max_rounds": 1, "leaver": leaver}, 4)
    table.run(until=lambda: table.peers[0].session.game.phase == "follow", limit=1_000_000)
    holder = next(
        (peer.seat for peer in table.peers if any(text != "pass" for text in peer.session.legal_moves())),
        table.peers[0].session.game.need.seats[0],
    )
    watcher = next(peer.seat for peer in table.peers if peer.seat != holder)
    table.crash(holder)
    table.run(limit=1_000_000, seconds=10_000)
    logs = [peer.public for peer in table.peers if peer.up]
    assert all(log == logs[0] for log in logs)
    game = table.peers[watcher].session.game
    assert holder in game.out
    assert all("denied" not in note for row in game.sheet for note in row["notes"])
    assert verify_log(logs[0], game_of, table.decks, os.urandom).finished
