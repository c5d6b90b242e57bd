"""Where a table stands: the state after all steps closed so far, and what the open step owes.

The table of stages is in :mod:`protocol.course`, which leads from one to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from protocol import events, log
from protocol.agreement import Agreement
from protocol.ballot import Closing
from protocol.ballot import Slot as Place
from protocol.dealing import Decks, PublicDeck
from protocol.entry import Entry, Kind
from protocol.errors import LocalProtocolError
from protocol.game import (
    Deal,
    Game,
    Over,
    Showdown,
    Slot,
    Turn,
    Window,
)
from protocol.identity import tagged_hash
from protocol.proofs import Context
from protocol.window import Answered, ruling_body


class Stage(Enum):
    """What the open step is for; see the table in :mod:`protocol.course`."""

    AGREE = "agree"
    COMMIT = "commit"
    REVEAL = "reveal"
    SHUFFLE = "shuffle"
    SHARES = "shares"
    MOVE = "move"
    SEALED = "sealed"
    ANSWER = "answer"
    RULING = "ruling"
    SHOW = "show"
    RESULT = "result"
    END = "end"
    DONE = "done"
    RECORD = "record"
    RESTORE = "restore"


KINDS: Final[Mapping[Stage, tuple[Kind, ...]]] = {
    Stage.AGREE: (Kind.AGREE,),
    Stage.COMMIT: (Kind.COMMIT,),
    Stage.REVEAL: (Kind.REVEAL,),
    Stage.SHUFFLE: (Kind.SHUFFLE, Kind.COMPLAINT),
    Stage.SHARES: (Kind.SHARES,),
    Stage.MOVE: (Kind.MOVE,),
    Stage.SEALED: (Kind.SEALED,),
    Stage.ANSWER: (Kind.ANSWER,),
    Stage.RULING: (Kind.RULING,),
    Stage.SHOW: (Kind.SHOW,),
    Stage.RESULT: (Kind.RESULT,),
    Stage.END: (Kind.END,),
    Stage.DONE: (Kind.END,),
    Stage.RECORD: (Kind.RECORD,),
    Stage.RESTORE: (Kind.RESTORE,),
}

HEAVY: Final = frozenset((Stage.REVEAL, Stage.SHUFFLE, Stage.RESTORE))
"""Stages whose proofs take more than a few milliseconds to make or to check."""

MANY_SLOTS: Final = 8
"""A batch of shares for more slots than this is heavy too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """The open step: ``seats`` owe one entry each, of one of ``kinds``, standing on ``prev``.

    ``last`` leads a decision about the step only after all others (a discarder does not judge calls).
    """

    stage: Stage
    epoch: int
    step: int
    prev: bytes
    seats: tuple[int, ...]
    last: tuple[int, ...] = ()

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return KINDS[self.stage]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unproved:
    """A close with absence marks whose certificate is not in the log yet.  ``keys``: who had a vote."""

    place: Place
    keys: Mapping[int, bytes]
    closing: Closing


@dataclass(frozen=True, slots=True, kw_only=True)
class HandMark:
    """Where a hand began; what a RETURN entry stands on."""

    hand: int
    epoch: int
    step: int
    prev: bytes


LENIENT: Final = frozenset((Stage.SEALED, Stage.ANSWER, Stage.RULING, Stage.RECORD, Stage.END, Stage.DONE))


class Position:
    """The state after all steps closed so far, and what it owes.  :class:`~protocol.course.Course` moves it on."""

    def __init__(self, agreement: Agreement, make_game: Callable[[Agreement], Game], decks: Decks) -> None:
        self.agreement = agreement
        self.game = make_game(agreement)
        if self.game.seats != len(agreement.seats):
            raise LocalProtocolError(
                f"the game was made for {self.game.seats} seats, the agreement has {len(agreement.seats)}"
            )
        self.roster: tuple[int, ...] = tuple(range(self.game.seats))
        self.banned: frozenset[int] = frozenset()
        self.epoch = 0
        self.step = 0
        self.head = log.genesis(agreement.table)
        self.first_head = b""
        self.stage = Stage.AGREE
        self.deck: PublicDeck | None = None
        self.mark: HandMark | None = None
        self.cards_out = False
        self.window: Window | None = None
        self.sealed_at: Context | None = None
        self.answers: dict[int, Answered] = {}
        self.winner: int | None = None
        self.unproved: tuple[Unproved, ...] = ()
        self.leaving: tuple[int, ...] = ()
        self._decks = decks
        self._threshold: int | None = None
        self._shuffles = 0
        self._silent: frozenset[int] = frozenset()
        self._windows = 0
        self._absent_from_ruling: frozenset[int] = frozenset()
        self._absent_from_record: frozenset[int] = frozenset()
        self._after_record = Stage.AGREE
        self._interrupted: Stage | None = None
        self._ctx = self.context()
        self._entropy = b""
        self._due: Due | None = None
        self._events: list[events.Event] = []

    # --- what is owed ----------------------------------------------------------------------------------

    @property
    def due(self) -> Due:
        """The open step."""
        if self._due is None:
            self._due = Due(
                stage=self.stage,
                epoch=self.epoch,
                step=self.step,
                prev=self.head,
                seats=self._owing(),
                last=(self.window.after,) if self.window is not None else (),
            )
        return self._due

    @property
    def keys(self) -> dict[int, bytes]:
        """The seats of the epoch and their identity keys."""
        return {seat: self.agreement.keys[seat] for seat in self.roster}

    def context(self) -> Context:
        """What the proofs of the open step are bound to."""
        hand = self.deck.hand if self.deck is not None else self.game.hand
        return Context(table=self.agreement.table, hand=hand, epoch=self.epoch, step=self.step)

    def slots_owed(self, seat: int) -> tuple[Slot, ...]:
        """The slots for which ``seat`` owes shares (SHARES) or openings (SHOW) to the open step."""
        need = self.game.need
        if self.stage is Stage.SHARES and isinstance(need, Deal):
            return tuple(slot for slot, owner in need.owners if owner != seat)
        if self.stage is Stage.SHOW and isinstance(need, Showdown):
            return tuple(slot for slot, owner in need.owners if owner == seat)
        return ()

    def heavy(self) -> bool:
        """Whether an entry of the open step takes long to make or to check."""
        if self.stage in (Stage.SHARES, Stage.SHOW):
            return any(len(self.slots_owed(seat)) > MANY_SLOTS for seat in self._owing())
        return self.stage in HEAVY

    def shufflers(self) -> tuple[int, ...]:
        """Who shuffles, in order."""
        assert self.deck is not None
        return tuple(seat for seat in self.deck.shuffle_order if seat in self.roster)

    def ruling(self) -> list[Any]:
        """The one right body of the open RULING."""
        assert self.window is not None
        return ruling_body(self.window, self.answers, self.winner, self.game.digest())

    def result(self, returns: Sequence[Entry]) -> list[Any]:
        """The body of the open RESULT, with the requests to return that its author holds."""
        signed = [[score < 0, abs(score)] for score in scores_of(self.game)]
        hand = self.deck.hand if self.deck is not None else self.game.hand
        return [hand, signed, self.game.digest(), [entry.value() for entry in returns]]

    def _owing(self) -> tuple[int, ...]:
        match self.stage:
            case Stage.SHUFFLE:
                return (self.shufflers()[self._shuffles],)
            case Stage.SHARES | Stage.SHOW:
                return tuple(seat for seat in self.roster if self.slots_owed(seat))
            case Stage.MOVE:
                assert isinstance(self.game.need, Turn)
                return (self.game.need.seat,)
            case Stage.SEALED | Stage.ANSWER:
                assert self.window is not None
                opening = self.stage is Stage.ANSWER and self.window.sealed
                return tuple(
                    seat for seat in sorted(self.window.seats) if not opening or self.answers[seat].commitment
                )
            case Stage.RULING | Stage.RECORD:
                return (self._arbiter(),)
            case Stage.RESTORE:
                return tuple(seat for seat in self.roster if seat not in self.leaving)
            case Stage.DONE:
                return tuple(seat for seat in self.roster if seat not in self._silent) or self.roster
            case _:
                return self.roster

    def _arbiter(self) -> int:
        """The seat that owes the open RULING or RECORD: the next that was not asked yet, the silent ones last."""
        ring = self._arbiters()
        asked = self._absent_from_ruling if self.stage is Stage.RULING else self._absent_from_record
        waiting = [seat for seat in ring if seat not in asked] or ring
        return next((seat for seat in waiting if seat not in self._silent), waiting[0])

    def _arbiters(self) -> list[int]:
        """The seats that take turns as arbiter of the open RULING or RECORD, from the one whose turn it is.

        They move on by one with each window, from a place that the coin of the hand gives.
        """
        able = [seat for seat in self.roster if seat not in self.leaving]
        coin = self.deck.coin if self.deck is not None else b""
        offset = int.from_bytes(tagged_hash("arbiter", coin)[:8], "big") if coin else 0
        first = (offset + self._windows) % len(able)
        ring = able[first:] + able[:first]
        if self.stage is Stage.RULING and self.window is not None:
            ring = [seat for seat in ring if seat != self.window.after] or ring
        return ring


def scores_of(game: Game) -> tuple[int, ...]:
    """The totals of the finished hands, by seat."""
    if isinstance(game.need, Over):
        return game.need.scores
    return tuple(game.snapshot()["scores"])
