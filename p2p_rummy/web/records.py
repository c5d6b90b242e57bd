"""What the page asks of the log on disk: is all of it good, and how did it go.

Both read the public log, as anybody could, and never the journal or a secret; both run in a thread, so the table
goes on meanwhile.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import trio

from p2p_rummy.agreed import agreed_game
from p2p_rummy.fault_words import error_words
from p2p_rummy.seat import Table
from p2p_rummy.view import table_view
from p2p_rummy.web.facts import Facts, Happening, happening
from protocol.dealing import RealDecks
from protocol.errors import ProtocolError
from protocol.events import Event, GameOver, HandBegan
from protocol.game import Refused
from protocol.journal import read_log
from protocol.verify import Verification, verify_log

MAX_STEPS = 5000
"""Pictures in a replay; a longer game is shown from its beginning up to there."""
TOLD = frozenset(
    {
        "move_made",
        "ruled",
        "cards_dealt",
        "cards_shown",
        "hand_over",
        "game_over",
        "seat_dropped",
        "seat_returned",
    }
)


class LogRecords:
    """The log of the table that is open."""

    async def verify(self, table: Table) -> dict[str, Any]:
        """``ok`` with ``steps``, ``hands``, ``ms``; or not, with the ``message`` that names step, seat and reason."""
        return await trio.to_thread.run_sync(judge, table.log_path)

    async def replay(self, table: Table) -> list[dict[str, Any]]:
        """A spectator's view after each step that showed something, with what happened in it.  Raises ProtocolError."""
        return await trio.to_thread.run_sync(pictures, table.log_path)

    def log(self, table: Table) -> bytes | None:
        """The file as it is; every other player holds the same."""
        try:
            return table.log_path.read_bytes()
        except OSError:
            return None


def judge(path: Path) -> dict[str, Any]:
    started = time.perf_counter()
    try:
        summary = verify_log(read_log(path).records, agreed_game, RealDecks(), os.urandom)
    except (ProtocolError, Refused, OSError) as error:
        return {"ok": False, "message": error_words(error)}
    took = time.perf_counter() - started
    return {
        "ok": True,
        "message": "",
        "steps": summary.steps,
        "hands": summary.hands,
        "entries": summary.entries,
        "proofs": summary.proofs,
        "finished": summary.finished,
        "ms": round(took * 1000),
    }


def pictures(path: Path) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    facts: Facts | None = None

    def watch(verification: Verification, events: list[Event]) -> None:
        nonlocal facts
        if facts is None:
            facts = Facts(verification.agreement, None)
        told: list[Happening] = []
        for event in events:
            if isinstance(event, HandBegan | GameOver):
                facts.take(event, 0.0)
            found = happening(event)
            if found is not None and found["kind"] in TOLD:
                told.append(found)
        if told and len(steps) < MAX_STEPS:
            course = verification.course
            known = facts.plain(0.0, step=course.step, head=course.head)
            view = table_view(course.game, None, {}, known)
            # The same in every picture, and the page has them from the live table.
            del view["public"]["options"]
            steps.append({"view": view, "happened": told})

    verify_log(read_log(path).records, agreed_game, RealDecks(), os.urandom, watch=watch)
    return steps
