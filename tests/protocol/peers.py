"""Whole peers for tests: homes on disk, a network in memory, players that make any legal move."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import trio

from protocol.events import GameOver, Halted
from protocol.lobby import Offer
from protocol.peer import Home, Table, TableEvent, host_table, join_table, resume_table
from protocol.peer.memory import MemoryNetwork
from protocol.ticket import Ticket
from tests.protocol.toy_game import toy_game

OFFER = Offer(
    game="toy",
    rules_version=1,
    options=(("rounds", "1"),),
    seats=3,
    window_ms=0,
    turn_ms=20_000,
    step_ms=10_000,
)


class Player:
    """A home, and whoever plays there: makes the first legal move, by a seeded choice."""

    def __init__(self, directory: Path, number: int) -> None:
        self.name = f"P{number}"
        self.home = Home(directory / self.name)
        self.host = f"10.0.0.{number}"
        self.events: list[TableEvent] = []
        self.table: Table
        self.over: GameOver | None = None
        self.log = b""
        self.thinks_seconds = 0.5
        self.leaves_when_over = True
        self._hurried = trio.Event()
        self._dice = random.Random(number)
        self.scope = trio.CancelScope()

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    async def play(
        self,
        opening: AbstractAsyncContextManager[Table],
        *,
        task_status: trio.TaskStatus[Table] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        self.scope = trio.CancelScope()
        with self.scope:
            async with opening as self.table:
                task_status.started(self.table)
                answered = -1
                async for event in self.table.events:
                    self.events.append(event)
                    if isinstance(event, GameOver):
                        self.over = event
                        if self.leaves_when_over:
                            break
                    if isinstance(event, Halted):
                        break
                    if self.table.started and self.table.step != answered and self.table.legal_moves():
                        answered = self.table.step
                        with trio.move_on_after(self.thinks_seconds):
                            await self._hurried.wait()
                        self._answer()
            self.log = self.table.log_path.read_bytes() if self.table.started else b""

    def hurry(self) -> None:
        """Think no more, now and later."""
        self._hurried.set()

    def _answer(self) -> None:
        """Any legal move, if it is still asked for one."""
        moves = self.table.legal_moves()
        if moves:
            self.table.move(self._dice.choice(moves))


@asynccontextmanager
async def company(directory: Path, count: int) -> AsyncIterator[tuple[list[Player], trio.Nursery]]:
    players = [Player(directory, number) for number in range(1, count + 1)]
    try:
        with trio.fail_after(30 * 24 * 3600):
            async with trio.open_nursery() as nursery:
                yield players, nursery
                nursery.cancel_scope.cancel()
    finally:
        for player in players:
            player.home.close()


async def seat_all(
    network: MemoryNetwork, players: Sequence[Player], nursery: trio.Nursery, offer: Offer | None = None
) -> Ticket:
    """Seat them all at one table of that many seats; they play at once."""
    offer = offer or replace(OFFER, seats=len(players))
    host = players[0]
    table = await nursery.start(
        host.play, host_table(host.home, offer, toy_game, name=host.name, network=network.at(host.host))
    )
    ticket: Ticket = table.ticket
    for player in players[1:]:
        await nursery.start(player.play, joining(network, player, ticket))
    return ticket


def joining(
    network: MemoryNetwork, player: Player, ticket: Ticket, **options: Any
) -> AbstractAsyncContextManager[Table]:
    return join_table(
        player.home, ticket, toy_game, **({"name": player.name, "network": network.at(player.host)} | options)
    )


async def until(condition: Callable[[], Any], *, within_seconds: float = 300) -> None:
    """Wait, in virtual time, until this holds; a table that is stuck fails here."""
    with trio.fail_after(within_seconds):
        while not condition():
            await trio.sleep(0.2)


async def all_over(players: Sequence[Player]) -> None:
    await until(lambda: all(player.log for player in players))
    heads = {player.over.head for player in players if player.over is not None}
    assert len(heads) == 1
    assert len({player.log for player in players}) == 1


def resuming(network: MemoryNetwork, player: Player, name: str | None = None, **options: Any) -> Any:
    return resume_table(player.home, name, toy_game, network=network.at(player.host), **options)
