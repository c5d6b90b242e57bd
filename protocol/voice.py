"""What this seat says: each entry once, journalled before it leaves, and never again otherwise.

Threat: a seat that signs two things for one step is convicted by them, whoever's fault it was (a crash, an old
backup, a second program).  So an entry is made only where none is known for its place, it is recorded before
it is handed on, and after a restart the recorded bytes are what is said (F20-F25, F61).

A move waits here until its turn has come; an answer to a call window until the window's countdown is over.

=========  ==========================================================================================
stage      when it is said
=========  ==========================================================================================
MOVE       as soon as a move is chosen (it may have been chosen before)
SEALED     when the countdown ends, with the answer chosen by then, or a pass.  Without a countdown: when an
           answer is chosen, at the latest in time for the others not to wait
ANSWER     sealed: at once, what was sealed.  Not sealed: as a MOVE
others     at once
=========  ==========================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from protocol import events
from protocol.arbiter_effects import Cast
from protocol.course import Course
from protocol.effects import Effect, Notify, Record
from protocol.entry import Entry, Kind, Nature, sign
from protocol.errors import LocalProtocolError
from protocol.game import Refused
from protocol.own import Made, OwnSeat
from protocol.position import Due, Stage
from protocol.records import write_answer, write_own

Place = tuple[int, int, bytes]


@dataclass(slots=True)
class Outbox:
    """What is to be done, in order, and which of our entries are new to the links."""

    effects: list[Effect] = field(default_factory=list)
    fresh: list[Entry] = field(default_factory=list)

    def tell(self, event: events.Event) -> None:
        self.effects.append(Notify(event=event))


class Voice:
    """The entries and votes of this seat."""

    def __init__(self, own: OwnSeat, out: Outbox) -> None:
        self.own = own
        self.votes: list[Entry] = []
        self.abandoned: Entry | None = None
        """Our last record that the table is abandoned."""
        self.choice: str | None = None
        self.closes_at = math.inf
        self._out = out
        self._said: dict[Place, Entry] = {}
        self._heard: set[bytes] = set()
        """The ids of those that others have told us of."""
        self._answer: str | None = None
        self._asked: bytes = b""

    @property
    def seat(self) -> int:
        return self.own.seat

    # --- what was said ---------------------------------------------------------------------------------

    def said(self, due: Due) -> Entry | None:
        """Our entry to this step on this head, if there is one."""
        return self._said.get((due.epoch, due.step, due.prev))

    def wrote(self, entry: Entry) -> bool:
        """Whether this very entry was made here.  What others say that we have said is judged like anybody's."""
        return self._said.get((entry.epoch, entry.step, entry.prev)) is entry and entry.id not in self._heard

    def remember(self, entry: Entry, *, durable: bool) -> None:
        """An entry or vote of ours, from the journal, or (not ``durable``) from others after a journal was lost."""
        if entry.nature is Nature.NOTE:
            if entry.kind is Kind.ABANDON:
                self.abandoned = entry
            return
        place = (entry.epoch, entry.step, entry.prev)
        vote = entry.kind in _VOTES
        known = self.votes if vote else [self._said[place]] if place in self._said else []
        if any(other.id == entry.id for other in known):
            return
        if not durable:
            self._heard.add(entry.id)
            self._out.effects.append(Record(data=write_own(entry), must_sync=True))
        if vote:
            self.votes.append(entry)
        else:
            self._said[place] = entry

    def forget_before(self, step: int) -> None:
        """Steps below this one are final."""
        # They were said in about the order of their steps; after a restart those of the whole game wait here.
        for place in list(takewhile(lambda place: place[1] < step, self._said)):
            self._heard.discard(self._said.pop(place).id)
        self.votes = [vote for vote in self.votes if vote.step >= step]

    # --- signing ---------------------------------------------------------------------------------------

    def sign(self, course: Course, kind: Kind, body: Any) -> Entry:
        """Our entry to the open step: recorded, then handed on."""
        place = (course.epoch, course.step, course.head)
        if place in self._said:
            raise LocalProtocolError(f"step {course.step}: this seat has said what it owed already")
        entry = sign(
            self.own.identity,
            table=course.agreement.table,
            epoch=course.epoch,
            step=course.step,
            seat=self.seat,
            kind=kind,
            body=body,
            prev=course.head,
        )
        self._said[place] = entry
        self._hand_on(entry)
        return entry

    def cast(self, cast: Cast) -> Entry:
        """A vote that the decision asks for."""
        slot = cast.slot
        vote = sign(
            self.own.identity,
            table=slot.table,
            epoch=slot.epoch,
            step=slot.step,
            seat=self.seat,
            kind=cast.kind,
            round=cast.round,
            body=cast.body,
            prev=slot.prev,
        )
        if any(other.key == vote.key and other.id != vote.id for other in self.votes):
            raise LocalProtocolError(f"step {slot.step}: this seat has voted in round {cast.round} already")
        self.votes.append(vote)
        self._hand_on(vote)
        return vote

    def ask_to_return(self, course: Course) -> Entry | None:
        """A request to sit down again at the next hand; None if it was made, or would be of no use."""
        mark = course.mark
        if mark is None or mark.prev == self._asked or self.seat in course.banned:
            return None
        self._asked = mark.prev
        request = sign(
            self.own.identity,
            table=course.agreement.table,
            epoch=mark.epoch,
            step=mark.step,
            seat=self.seat,
            kind=Kind.RETURN,
            body=[mark.hand],
            prev=mark.prev,
        )
        self._hand_on(request)
        return request

    def abandon(self, course: Course) -> Entry:
        """Our record that we waited in vain in the open step; made once."""
        place = (course.epoch, course.step, course.head)
        known = self.abandoned
        if known is not None and (known.epoch, known.step, known.prev) == place:
            return known
        self.abandoned = sign(
            self.own.identity,
            table=course.agreement.table,
            epoch=course.epoch,
            step=course.step,
            seat=self.seat,
            kind=Kind.ABANDON,
            body=[],
            prev=course.head,
        )
        self._hand_on(self.abandoned)
        return self.abandoned

    def _hand_on(self, entry: Entry) -> None:
        self._out.effects.append(Record(data=write_own(entry), must_sync=True))
        self._out.fresh.append(entry)

    # --- choosing --------------------------------------------------------------------------------------

    def choose(self, course: Course, text: str) -> None:
        """Take a move, an answer, or what is to be our next turn's move.  Raises Refused."""
        due = course.due
        if due.stage is Stage.SEALED and self.seat in due.seats and self.said(due) is None:
            try:
                self.own.check_move(course, text)
            except Refused as refused:
                if refused.code != "wrong_phase":
                    raise
                self.choice = text  # it is no answer; it may be what this seat wants to do next
            else:
                self._answer = text
            return
        if due.stage in _CHOSEN and self.seat in due.seats and self.said(due) is None:
            self.own.check_move(course, text)
        elif due.stage in (Stage.END, Stage.DONE) or self.seat not in course.roster:
            raise LocalProtocolError("nothing is asked of this seat any more in this hand")
        self.choice = text

    def step_opened(self, course: Course, now: float) -> None:
        """A new step: answers to the one before are no answers to this one."""
        self._answer = None
        self.closes_at = math.inf
        if course.stage is Stage.SEALED:
            agreement = course.agreement
            wait_ms = agreement.window_ms or agreement.step_ms // 2
            self.closes_at = now + wait_ms / 1000

    def next(
        self, course: Course, now: float, returns: Sequence[Entry], proofs: Sequence[Any]
    ) -> Made | Callable[[], Made] | None:
        """What this seat owes to the open step, or what makes it; None if it is not to be said yet.

        Raises SecretLost.
        """
        match course.stage:
            case Stage.MOVE:
                body = self._chosen(course)
                return None if body is None else (Kind.MOVE, body)
            case Stage.SEALED:
                answered = self._answer is not None and not course.agreement.window_ms
                return self._seal(course) if answered or now >= self.closes_at else None
            case Stage.ANSWER if course.window is not None and course.window.sealed:
                return self.own.opened(course.answers[self.seat].commitment)
            case Stage.ANSWER:
                body = self._chosen(course)
                return None if body is None else (Kind.ANSWER, [*body, b""])
            case _:
                return self.own.maker(course, returns, proofs)

    def _chosen(self, course: Course) -> list[Any] | None:
        text, self.choice = self.choice, None
        if text is None:
            return None
        try:
            return self.own.move_body(course, text)
        except Refused as refused:
            self._refuse(text, refused)
            return None

    def _seal(self, course: Course) -> Made:
        text = self._answer
        try:
            sealed, box = self.own.seal(course, text)
        except Refused as refused:
            self._refuse(text or "", refused)
            sealed, box = self.own.seal(course, None)
        hand = course.mark.step if course.mark is not None else 0
        self._out.effects.append(Record(data=write_answer(hand, sealed, box), must_sync=True))
        return Kind.SEALED, sealed

    def _refuse(self, text: str, refused: Refused) -> None:
        self._out.tell(
            events.MoveRefused(text=text, code=refused.code, rule=refused.rule, message=str(refused))
        )


_VOTES = (Kind.ROUND_CHANGE, Kind.PROPOSAL, Kind.PREVOTE, Kind.PRECOMMIT)
_CHOSEN = (Stage.MOVE, Stage.ANSWER)
