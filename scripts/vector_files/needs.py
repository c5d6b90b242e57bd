"""What a reader without the game has to be told of each step: who is on turn, which slots are dealt to whom."""

from __future__ import annotations

from typing import Any

from protocol.course import Course
from protocol.game import Deal, Showdown, Shuffle, Turn
from protocol.position import Stage


def told(course: Course) -> dict[str, Any]:
    """The stage of the open step, and what of the game's need it depends on."""
    stage = course.stage
    of_need: dict[str, Any] = {}
    match course.game.need:
        case Shuffle(cards=cards) if stage is Stage.SHUFFLE:
            of_need = {"cards": list(cards)}
        case Deal(owners=owners) if stage is Stage.SHARES:
            of_need = {"owners": [[slot, -1 if owner is None else owner] for slot, owner in owners]}
        case Showdown(owners=shown) if stage is Stage.SHOW:
            of_need = {"owners": [list(pair) for pair in shown]}
        case Turn(seat=seat) if stage is Stage.MOVE:
            of_need = {"turn": seat}
    if course.window is not None:
        # Until its ruling; the game needs something else by then.
        of_need = {"after": course.window.after, "seats": list(course.window.seats)}
    return {"step": course.step, "stage": stage.name, **of_need}
