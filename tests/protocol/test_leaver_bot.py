"""``leaver=bot`` at a real table: homes, journals, links and the real deck; one friend vanishes on its turn.

The bot that takes over is the table's own rule (:mod:`p2p_rummy.games.rum_stand_in`): every peer computes its moves from
the hand that the backups opened, and nobody is asked to play for somebody else.  The other seats are played by ``sharp``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from p2p_rummy.agreed import RULES_VERSION, agreed_game
from p2p_rummy.bots.sharp import SharpBot
from p2p_rummy.bots.sharp_search import Budget
from p2p_rummy.games.rum import RumGame
from protocol.dealing import RealDecks
from protocol.events import MoveMade, SeatDropped
from protocol.game import Over
from protocol.journal import read_log
from protocol.lobby import Offer
from protocol.peer import Table, host_table, join_table
from protocol.peer.memory import MemoryNetwork
from protocol.verify import verify_log
from tests.protocol.peers import Player, all_over, company, until


class SharpPlayer(Player):
    """Moves as the bot does; nothing is left to answer once it has vanished."""

    def __init__(self, directory: Path, number: int) -> None:
        super().__init__(directory, number)
        self._bot = SharpBot(number, Budget(worlds=3))

    def _answer(self) -> None:
        table = self.table
        if table.me is not None and table.legal_moves():
            table.move(self._bot.choose(table.game, table.me, table.faces))


def rum(player: Player) -> RumGame:
    game = player.table.game
    assert isinstance(game, RumGame)
    return game


def on_turn(player: Player) -> bool:
    return player.table.started and bool(player.table.legal_moves())


def offer(seats: int, leaver: str) -> Offer:
    options = {"hand_size": "3", "leaver": leaver, "max_hands": "1", "target": "none"}
    return Offer(
        game="rum500",
        rules_version=RULES_VERSION,
        options=tuple(sorted(options.items())),
        seats=seats,
        window_ms=0,
        turn_ms=20_000,
        step_ms=10_000,
    )


async def sit_down(players: list[Player], nursery: trio.Nursery, terms: Offer) -> None:
    network = MemoryNetwork()

    def joining(player: Player, host: Table) -> AbstractAsyncContextManager[Table]:
        here = network.at(player.host)
        return join_table(player.home, host.ticket, agreed_game, name=player.name, network=here)

    first = players[0]
    opening = host_table(first.home, terms, agreed_game, name=first.name, network=network.at(first.host))
    host = await nursery.start(first.play, opening)
    for player in players[1:]:
        await nursery.start(player.play, joining(player, host))


@pytest.mark.parametrize("leaver", ["bot", "minus_hand", "void_hand"])
async def test_a_bot_takes_over_for_a_friend_who_left_if_and_only_if_the_table_agreed(
    autojump_clock: MockClock,
    no_threads: None,
    killing: Callable[[Player], None],
    tmp_path: Path,
    leaver: str,
) -> None:
    async with company(tmp_path, 0) as (players, nursery):
        players += [SharpPlayer(tmp_path, number) for number in range(1, 4)]
        await sit_down(players, nursery, offer(3, leaver))
        await until(lambda: any(on_turn(player) for player in players))
        # Whatever the others were dealt, they can't go out before the seat on turn is dropped.
        gone = next(player for player in players if on_turn(player))
        seat = rum(gone).table.turn
        held = len(rum(gone).table.hands[seat])
        killing(gone)
        rest = [player for player in players if player is not gone]
        watcher = rest[0]
        await all_over(rest)

    (dropped,) = watcher.of(SeatDropped)
    assert (dropped.seat, dropped.void, len(dropped.faces)) == (seat, False, held)
    after = watcher.events[watcher.events.index(dropped) + 1 :]
    assert all(event.seat != seat for event in after if isinstance(event, MoveMade)), "nobody signs for it"
    state = rum(watcher).table
    assert isinstance(rum(watcher).need, Over)
    assert state.stand_ins == ({seat} if leaver == "bot" else set())
    assert (seat in state.ring) == (leaver == "bot"), "it stayed in the hand to the end, or was out of it"
    summary = verify_log(read_log(watcher.table.log_path).records, agreed_game, RealDecks(), os.urandom)
    assert summary.finished
