"""A swim-lane picture of one simulated run: a self-contained page, peers as lanes, time to the right.

Lines are messages (red and cut short where a black hole took them), bars are faults, marks are drops, rulings, new epochs and
evidence.  Pointing at anything says what it is; the wheel zooms, dragging moves.  The page has no outside resource and
works from a file.
"""

from __future__ import annotations

import html
import json
from importlib.resources import files
from typing import Any

from protocol import gossip
from protocol.entry import Kind, from_value
from protocol.errors import EncodingError
from protocol.simulation.world import Passage, World

MOST_MESSAGES = 20_000
"""A page with more would be slow to open; the first are drawn and the page says so."""


def picture(world: World, replay: str) -> str:
    """The page for a run that has ended; ``replay`` is the line that plays it again."""
    data = picture_data(world, replay)
    # </ inside a script element would end it.
    text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    title = html.escape(f"p2p-rummy chaos, seed {world.setup.seed}")
    page = (files("p2p_rummy") / "chaos.html").read_text(encoding="utf-8")
    return page.replace("@TITLE@", title).replace("@DATA@", text)


def picture_data(world: World, replay: str) -> dict[str, Any]:
    """What the page draws, as plain data."""
    passages = world.passages[:MOST_MESSAGES]
    return {
        "replay": replay,
        "seats": [
            f"{seat.name} ({world.setup.misbehaviours[number]})" if number in world.setup.misbehaviours else seat.name
            for number, seat in enumerate(world.agreement.seats)
        ],
        "end": world.now,
        "cut": len(world.passages) - len(passages),
        "messages": [
            [round(each.sent, 4), None if each.arrives is None else round(each.arrives, 4), each.source, each.target,
             said(each)]
            for each in passages
        ],
        "faults": [[fault.name, round(fault.at, 3), round(fault.seconds, 3), list(fault.seats)] for fault in world.plan],
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
