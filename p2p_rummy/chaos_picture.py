"""A swim-lane picture of one simulated run: a self-contained page, peers as lanes, time to the right.

Lines are messages (red and cut short where a black hole took them), bars below a lane are faults, marks above it are drops,
rulings, new epochs, evidence and the like; a legend says which is which.  Pointing at anything says what it is; the wheel
zooms, dragging moves.  The page has no outside resource and works from a file.
"""

from __future__ import annotations

import html
import json
from importlib.resources import files
from typing import Any

from protocol import gossip
from protocol.entry import Kind, from_value
from protocol.errors import EncodingError
from protocol.simulation.terms import Passage
from protocol.simulation.world import World

MOST_MESSAGES = 20_000
"""A page with more would be slow to open; it has the first and says so."""


def picture(world: World, replay: str) -> str:
    """The page for a run that has ended; ``replay`` is the line that plays it again."""
    return page(f"p2p-rummy chaos, seed {world.setup.seed}", picture_data(world, replay))


def page(title: str, data: dict[str, Any]) -> str:
    # </ inside a script element would end it.
    text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    template = (files("p2p_rummy") / "chaos.html").read_text(encoding="utf-8")
    return template.replace("@TITLE@", html.escape(title)).replace("@DATA@", text)


def picture_data(world: World, replay: str) -> dict[str, Any]:
    """What the page draws, as plain data."""
    passages = world.passages[:MOST_MESSAGES]
    return {
        "replay": replay,
        "seats": [seat.name for seat in world.agreement.seats],
        "liars": [world.setup.misbehaviours.get(number, "") for number in range(world.setup.seats)],
        "end": world.now,
        "cut": len(world.passages) - len(passages),
        "messages": [
            [round(each.sent, 4), None if each.arrives is None else round(each.arrives, 4), each.source, each.target,
             said(each)]
            for each in passages
        ],
        "weather": dict(sorted((+world.touched).items())),
        "faults": [
            [fault.name, round(fault.at, 3), round(fault.seconds, 3), list(fault.seats)]
            for fault in sorted(world.plan, key=lambda fault: fault.at)
            if fault.at <= world.now
        ],
        "marks": [[round(each.time, 4), each.seat, each.what, each.detail] for each in world.traces],
        "violations": [f"{each.invariant}, seat {each.seat}: {each.message}" for each in world.invariants.violations],
    }  # fmt: skip


def said(passage: Passage) -> str:
    """A message in a few words: the entries in it, or its kind."""
    try:
        message = gossip.read(passage.message)
        if isinstance(message, gossip.Entries):
            entries = [from_value(value) for value in message.entries]
            return ", ".join(
                f"{entry.kind.name} step {entry.step} seat {entry.seat}"
                + (f": {entry.body[0]}" if entry.kind in (Kind.MOVE, Kind.ANSWER) else "")
                + (f" round {entry.round}" if entry.round else "")
                for entry in entries
            )
    except (EncodingError, IndexError, TypeError):
        return f"garbage, {len(passage.message)} bytes"
    return type(message).__name__.lower()
