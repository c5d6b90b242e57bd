"""``leaver=bot`` between whole sessions: a friend vanishes in mid-hand, and the table plays the hand on.

Nobody is trusted with the stand-in.  The survivors certify that the seat is gone, rebuild its key from the backups, and
its hand lies open; what it then does follows from the public state, so every peer computes it and nobody signs it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from p2p_rummy.bots import make_bot
from p2p_rummy.games import make_game
from p2p_rummy.games.rum import RumGame
from p2p_rummy.games.rum_table import DEAL, FETCH, FIRST_DISCARD, NAME, PLAY, RESHUFFLE
from protocol.agreement import Agreement
from protocol.dealing import RealDecks
from protocol.events import MoveMade, SeatDropped
from protocol.game import Game, Over
from protocol.position import Stage
from protocol.verify import verify_log
from tests.protocol import tables


class RumTable:
    """Sessions of one rum game, every seat played by a bot."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        seats: int,
        *,
        game: str = "rum500",
        level: str = "steady",
        options: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        chosen = {"leaver": "bot", "target": None, "max_hands": 1, **(options or {})}

        def game_of(agreement: Agreement) -> Game:
            return make_game(game, chosen, len(agreement.seats))

        self.game_of = game_of
        monkeypatch.setattr(tables, "toy_game", game_of)
        bots = [make_bot(level, seat) for seat in range(seats)]

        def play(peer: tables.Peer) -> str | None:
            session = peer.session
            if not session.legal_moves():
                return None
            return bots[peer.seat].choose(session.game, peer.seat, session.faces)

        self.net = tables.Table(seats, play=play, **more)

    def game(self, seat: int = 0) -> RumGame:
        game = self.net.peers[seat].session.game
        assert isinstance(game, RumGame)
        return game

    def up(self) -> tables.Peer:
        return next(peer for peer in self.net.peers if peer.up)

    def run(self, until: Callable[[], bool] | None = None) -> None:
        self.net.run(until=until, limit=1_000_000, seconds=100_000)

    def vanish(self, seat: int) -> None:
        """The seat's peer crashes, and the others go on to the end of the game."""
        self.net.crash(seat)
        self.run()

    def check(self) -> list[str]:
        """All who stayed have one log, which verifies to the game that they see.  Returns the log's events."""
        logs = [peer.public for peer in self.net.peers if peer.up]
        assert all(log == logs[0] for log in logs)
        summary = verify_log(logs[0], self.game_of, self.net.decks, os.urandom)
        assert summary.finished
        games = [self.game(peer.seat) for peer in self.net.peers if peer.up]
        assert len({game.digest() for game in games}) == 1
        assert isinstance(games[0].need, Over)
        return [type(event).__name__ for event in self.up().events]


def stands_in(table: RumTable, seat: int) -> bool:
    return seat in table.game(table.up().seat).table.stand_ins


@pytest.mark.parametrize("seats", [3, 4, 5])
def test_the_hand_of_a_friend_who_vanishes_on_turn_is_played_on(
    monkeypatch: pytest.MonkeyPatch, seats: int
) -> None:
    table = RumTable(monkeypatch, seats)
    table.run(until=lambda: table.game().table.stage == PLAY)
    leaver = table.game().table.turn
    slots = len(table.game().hidden(leaver))
    table.vanish(leaver)
    table.check()
    watcher = table.up()
    dropped = [event for event in watcher.events if isinstance(event, SeatDropped)]
    assert [(event.seat, event.void, len(event.faces)) for event in dropped] == [(leaver, False, slots)]
    state = table.game(watcher.seat).table
    assert leaver in state.stand_ins
    assert leaver in state.ring, "it stayed in the hand to the end"
    moved = [event for event in watcher.events if isinstance(event, MoveMade)]
    after = moved[next(i for i, event in enumerate(watcher.events) if event is dropped[0]) :]
    assert all(event.seat != leaver for event in after), "nobody signs for it"


def test_what_the_stand_in_draws_and_throws_is_open_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    table = RumTable(monkeypatch, 3)
    table.run(until=lambda: table.game().table.stage == PLAY)
    leaver = table.game().table.turn
    table.net.crash(leaver)
    watcher = table.up().seat
    table.run(until=lambda: stands_in(table, leaver))
    state = table.game(watcher).table
    assert state.hidden(leaver) == ()
    assert state.turn == leaver, "its turn has been played out and the others are asked"
    assert state.phase == "call"
    table.run()
    table.check()
    assert not any(state.hidden(seat) for seat in state.ring)


@pytest.mark.parametrize("strict", [False, True])
def test_without_backups_nobody_can_play_the_hand_on(monkeypatch: pytest.MonkeyPatch, strict: bool) -> None:
    table = RumTable(monkeypatch, 3, options={"max_hands": 2}, strict=strict)
    table.run(until=lambda: table.game().table.stage == PLAY)
    leaver = table.game().table.turn
    table.net.crash(leaver)
    watcher = table.up()
    table.run(until=lambda: any(isinstance(event, SeatDropped) for event in watcher.events))
    (dropped,) = (event for event in watcher.events if isinstance(event, SeatDropped))
    assert dropped.void == strict
    assert stands_in(table, leaver) != strict
    table.run()
    table.check()


@pytest.mark.parametrize(
    ("game", "options", "stage"),
    [
        ("rum500", {}, DEAL),
        ("rum500", {}, FETCH),
        ("rum500", {"first_discard": "eldest_chooses"}, FIRST_DISCARD),
        ("dealers_joker", {"first_dealer": "random"}, NAME),
        ("rummy", {"hand_size": 15}, RESHUFFLE),
    ],
)
def test_it_takes_over_in_any_stage_of_the_hand(
    monkeypatch: pytest.MonkeyPatch, game: str, options: dict[str, Any], stage: int
) -> None:
    seats = 3 if stage == RESHUFFLE else 4
    level = "random" if stage == RESHUFFLE else "steady"
    table = RumTable(monkeypatch, seats, game=game, options=options, level=level)
    table.run(until=lambda: table.game().table.stage == stage)
    leaver = table.game().table.turn
    table.vanish(leaver)
    table.check()
    if stage != RESHUFFLE:
        assert stands_in(table, leaver)


@pytest.mark.parametrize(("seats", "void"), [(5, True), (6, False)])
def test_a_second_friend_may_vanish_while_enough_hold_its_backups(
    monkeypatch: pytest.MonkeyPatch, seats: int, void: bool
) -> None:
    """Of five, four rebuild a key (the quorum when the hand began): three cannot.  Of six, four can."""
    table = RumTable(monkeypatch, seats)
    table.run(until=lambda: table.game().table.stage == PLAY)
    first = table.game().table.turn
    table.net.crash(first)
    table.run(until=lambda: stands_in(table, first))
    second = table.up().seat
    table.net.crash(second)
    watcher = table.up()
    table.run(until=lambda: len([e for e in watcher.events if isinstance(e, SeatDropped)]) == 2)
    assert [event.void for event in watcher.events if isinstance(event, SeatDropped)] == [False, void]
    assert table.game(watcher.seat).table.stand_ins == ({first} if void else {first, second})
    table.run()
    table.check()


def test_a_partner_is_not_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    table = RumTable(monkeypatch, 4, game="partnership", options={"opening_minimum": 0})
    table.run(until=lambda: table.game().table.stage == PLAY)
    leaver = table.game().table.turn
    table.vanish(leaver)
    table.check()
    state = table.game(table.up().seat).table
    assert sorted(state.ring) == [0, 1, 2, 3]
    assert state.lays[leaver] > 0 or state.hands[leaver]


def test_who_comes_back_plays_the_next_hand_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    table = RumTable(monkeypatch, 3, options={"max_hands": 2})
    table.run(until=lambda: table.game().table.stage == PLAY)
    leaver = table.game().table.turn
    table.net.crash(leaver)
    table.run(until=lambda: stands_in(table, leaver))
    table.net.restart(leaver)
    table.run()
    assert table.check().count("SeatReturned") == 1
    state = table.game().table
    assert state.stand_ins == set()
    assert sorted(state.ring) == [0, 1, 2]


def test_the_real_deck_opens_the_hand_from_the_backups(monkeypatch: pytest.MonkeyPatch) -> None:
    table = RumTable(monkeypatch, 3, options={"hand_size": 3}, decks=RealDecks())
    table.run(until=lambda: table.game().table.stage == PLAY)
    leaver = table.game().table.turn
    table.vanish(leaver)
    table.check()
    assert stands_in(table, leaver)


def test_the_session_never_owes_a_move_of_a_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    table = RumTable(monkeypatch, 4, game="dealers_joker", options={"first_dealer": "random"})
    table.run(until=lambda: table.game().table.stage == NAME)
    leaver = table.game().table.dealer
    table.net.crash(leaver)
    watcher = table.up()

    def owes() -> bool:
        course = watcher.session
        if course.stage is Stage.MOVE and stands_in(table, leaver):
            assert leaver not in course.waiting_for
        return all(peer.session.over for peer in table.net.peers if peer.up)

    table.run(until=owes)
    table.check()
