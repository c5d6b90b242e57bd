"""A game that only says what it needs, one thing after another, for a log of known shape.

Three seats; eight cards; seat 0 discards, the others may call, seat 1 is never heard of again, the hands are shown and the game
is over.  Every move is allowed but ``cheat``; an answer that is not ``pass`` is a call.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar

from protocol.agreement import Agreement
from protocol.game import (
    Deal,
    Dropped,
    Event,
    Faces,
    Moved,
    Need,
    Over,
    Refused,
    Seat,
    Showdown,
    Shuffle,
    Slot,
    Turn,
    Window,
)
from scripts.vector_files.form import fixed

CARDS = (0, 1, 2, 3, 50, 51, 104, 105)
OWNERS: dict[Slot, Seat | None] = {0: 0, 1: 1, 2: 2, 3: 0, 4: 1, 5: 2, 6: None}
SCORES = (10, -25, 0)

NEEDS: Sequence[Need] = (
    Shuffle(cards=CARDS, new_hand=True),
    Deal(owners=tuple(OWNERS.items())),
    Turn(seat=0),
    Window(after=0, seats=(1, 2)),
    Turn(seat=1),
    Showdown(owners=((3, 0), (5, 2))),
    Over(scores=SCORES, winners=(0,)),
)


class ScriptedGame:
    name: ClassVar[str] = "scripted"
    seats = 3
    card_count = 106
    hand = 1

    def __init__(self) -> None:
        self.at = 0
        self.answers = 0
        self.held = {slot: owner for slot, owner in OWNERS.items() if owner is not None}

    @property
    def need(self) -> Need:
        return NEEDS[self.at]

    def apply(self, event: Event) -> None:
        if isinstance(event, Moved):
            for slot, _ in event.openings:
                del self.held[slot]
        if isinstance(event, Dropped):
            self.held = {slot: owner for slot, owner in self.held.items() if owner != event.seat}
        self.answers += isinstance(self.need, Window)
        if not isinstance(self.need, Window) or self.answers == 2:
            self.at += 1

    def check(self, seat: Seat, text: str, openings: Faces) -> None:
        if text == "cheat":
            raise Refused("cheating", "this is not allowed", rule="R0")

    def slots_of(self, seat: Seat, text: str, faces: Faces) -> tuple[Slot, ...]:
        return ()

    def legal_moves(self, seat: Seat, faces: Faces) -> list[str]:
        return []

    def hidden(self, seat: Seat) -> tuple[Slot, ...]:
        return tuple(slot for slot, owner in sorted(self.held.items()) if owner == seat)

    def is_call(self, text: str) -> bool:
        return text != "pass"

    def digest(self) -> bytes:
        return fixed(f"digest/{self.at}/{self.answers}")

    def snapshot(self) -> dict[str, Any]:
        return {"scores": list(SCORES)}

    def __deepcopy__(self, memo: dict[int, Any]) -> ScriptedGame:
        other = copy.copy(self)
        other.held = dict(self.held)
        return other


def scripted_game(agreement: Agreement) -> ScriptedGame:
    return ScriptedGame()
