"""A call window's answers: sealed, opened, taken, ruled on.

Nobody answers after seeing the others: each seat first commits to its answer (SEALED), and opens it (ANSWER)
when all commitments are in.  An answer that was not opened, or that the game refuses, counts as a pass and its
seat is named.  The ruling follows from the answers alone, so every peer computes it and refuses another one.

The proofs inside an answer are made when it is sealed, and bound to the SEALED step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from protocol import events
from protocol.canonical import encode
from protocol.dealing import PublicDeck
from protocol.entry import Entry
from protocol.errors import VerificationError
from protocol.game import Game, Moved, Refused, Window
from protocol.identity import tagged_hash
from protocol.proofs import Context

PASS: Final = "pass"
NONCE_BYTES: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """How one seat answered.  ``commitment`` and ``entry`` (an ANSWER's id) are b"" where there was none.

    ``text`` is what the game took.
    """

    seat: int
    commitment: bytes = b""
    entry: bytes = b""
    text: str = PASS


def commitment(ctx: Context, seat: int, answer: Sequence[Any]) -> bytes:
    """The body of SEALED for ``answer``, which is ``[text, slots, opening, nonce]``."""
    return tagged_hash("answer", ctx.table, encode([ctx.hand, ctx.epoch, ctx.step, seat, list(answer)]))


def take(
    game: Game,
    deck: PublicDeck | None,
    window: Window,
    ctx: Context,
    given: Mapping[int, Entry],
    sealed: Mapping[int, Answered],
    entropy: bytes,
) -> tuple[dict[int, Answered], list[events.Event]]:
    """Give the game every seat's answer in the window's order.  ``ctx``: what the openings are bound to.

    ``given``: the ANSWER entries by seat.  Returns the answers as they counted.
    """
    answers: dict[int, Answered] = {}
    said: list[events.Event] = []
    for seat in window.seats:
        answer = sealed.get(seat, Answered(seat=seat))
        entry = given.get(seat)
        event = Moved(seat=seat, text=PASS)
        if entry is not None:
            text, slots, opening, _ = entry.body
            answer = replace(answer, entry=entry.id)
            try:
                openings: tuple[tuple[int, int], ...] = ()
                if slots and deck is not None:
                    openings = open_slots(game, deck, ctx, seat, slots, opening, entropy)
                game.check(seat, text, dict(openings))
            except Refused as refused:
                said.append(events.AnswerVoid(seat=seat, text=text, reason=refused.code, rule=refused.rule))
            except VerificationError as fault:
                said.append(events.AnswerVoid(seat=seat, text=text, reason=fault.reason, rule=""))
            else:
                if slots and deck is not None:
                    deck.close_opening(seat, slots, opening)
                event = Moved(seat=seat, text=text, openings=openings)
                answer = replace(answer, text=text)
        elif answer.commitment:
            said.append(events.AnswerVoid(seat=seat, text="", reason="not_opened", rule=""))
        game.apply(event)
        answers[seat] = answer
    return answers, said


def winner(game: Game, window: Window, answers: Mapping[int, Answered]) -> int | None:
    """The caller nearest clockwise to the seat whose turn ended (R109)."""
    return next((seat for seat in window.seats if game.is_call(answers[seat].text)), None)


def ruling_body(window: Window, answers: Mapping[int, Answered], won: int | None, digest: bytes) -> list[Any]:
    """The one right RULING."""
    listed = [[seat, answers[seat].entry] for seat in window.seats]
    return [listed, 0 if won is None else won + 1, digest]


def open_slots(
    game: Game,
    deck: PublicDeck,
    ctx: Context,
    seat: int,
    slots: Sequence[int],
    opening: Any,
    entropy: bytes,
) -> tuple[tuple[int, int], ...]:
    """The faces that this opening shows.  Raises VerificationError (N26) unless the seat owns each slot."""
    owned = game.hidden(seat)
    for slot in slots:
        if slot not in owned:
            raise VerificationError(
                "not_held", f"slot {slot} is not a hidden card of this seat", seat=seat, step=ctx.step
            )
    faces = deck.check_opening(ctx, seat, slots, opening, entropy)
    return tuple((slot, faces[slot]) for slot in slots)
