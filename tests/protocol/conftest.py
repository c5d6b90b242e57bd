"""Fixtures for tests of whole peers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio

from protocol import journal
from protocol.peer import Home
from protocol.peer.life import Life
from tests.protocol.peers import Player


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads and disks live on the real clock, tests here on a virtual one: what would go to a thread is done at
    once, and nobody waits for the disk (what is synced when is tested with the driver)."""

    async def at_once(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        await trio.lowlevel.checkpoint()
        return function(*arguments)

    monkeypatch.setattr(trio.to_thread, "run_sync", at_once)
    monkeypatch.setattr(journal, "_sync", lambda descriptor: None)
    monkeypatch.setattr(journal, "sync_directory", lambda path: None)


@pytest.fixture
def killing(monkeypatch: pytest.MonkeyPatch) -> Callable[[Player], None]:
    """End a player without a word on any link, as a process that is killed does."""
    doomed: set[Home] = set()
    real = Life.close

    async def close(life: Life) -> None:
        if life.home in doomed:
            doomed.discard(life.home)
            await trio.lowlevel.checkpoint()
        else:
            await real(life)

    monkeypatch.setattr(Life, "close", close)

    def kill(player: Player) -> None:
        doomed.add(player.home)
        if player.table.started:
            # What was not on the disk yet is lost with the process.
            monkeypatch.setattr(player.table._life.driver._disk, "_flush", lambda sync: None)
        player.scope.cancel()

    return kill
