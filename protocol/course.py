"""The course of a table: what is owed next, given everything that is closed.  A pure fold over closed steps.

Nothing here knows of links, timers, votes or whose machine this is.  A session, the verifier of a log file and
an evidence checker all hold one of these and feed it the same closed steps, so they cannot disagree about what
was owed, by whom, or what it did to the game.  :mod:`protocol.judge` says whether a body is acceptable.

The game names its need, the need names the stage, and closing a stage leads to the next (END and DONE are
there so that the last RESULT has something standing on it, and standing on that: see :mod:`protocol.tail`):

=========  ==============  ========================  =================================================
stage      kinds           owed by                   closed, leads to
=========  ==============  ========================  =================================================
AGREE      AGREE           all                       by the game's need
COMMIT     COMMIT          seats of the hand         REVEAL
REVEAL     REVEAL          seats of the hand         SHUFFLE
SHUFFLE    SHUFFLE,        each seat in turn         SHUFFLE, at last ``Shuffled`` and the next need;
           COMPLAINT                                 a complaint: who is at fault is dropped, COMMIT
SHARES     SHARES          who does not own all      ``Dealt`` and the next need (or ``Voided``)
MOVE       MOVE            seat on turn              ``Moved`` and the next need
SEALED     SEALED          seats of the window       ANSWER
ANSWER     ANSWER          seats that sealed         RULING (a window that is not sealed: next need)
RULING     RULING          the arbiter               the next need
SHOW       SHOW            owners                    ``Shown`` and the next need (or ``Voided``)
RESULT     RESULT          seats of the hand         next hand, or END
END        END             all                       DONE
DONE       END             all                       DONE, without those who are absent from it
RECORD     RECORD          the arbiter               what the absence led to
RESTORE    RESTORE         survivors                 what the absence interrupted, then ``Dropped``
=========  ==============  ========================  =================================================

A step may be closed with absence marks (a decision: :mod:`protocol.arbiter`).  That begins a new epoch and
first owes a RECORD of the certificates.  What the absence means depends on the stage:

====================================  ================================================================
absent from                           means
====================================  ================================================================
SEALED, ANSWER                        a pass; in a window that is not sealed as from MOVE
RULING, RECORD                        the next arbiter in rotation is asked; when all were, a window is over
                                      without a ruling, and a RECORD is asked of the first again
COMMIT, REVEAL, first SHUFFLE         out of the hand; the keys are made again without the seat
SHARES, MOVE, SHOW, later SHUFFLE     out of the hand: RESTORE, or a void hand without backups
RESTORE                               out of the hand too; below the threshold the hand is void
RESULT                                out of the next hand
END, DONE                             nothing
====================================  ================================================================
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from protocol import events, log
from protocol.ballot import ABSENT
from protocol.ballot import Slot as Place
from protocol.entry import Entry, Kind, from_value
from protocol.errors import LocalProtocolError, VerificationError
from protocol.game import (
    Card,
    Deal,
    Dealt,
    Dropped,
    Moved,
    Over,
    Returned,
    Showdown,
    Shown,
    Shuffle,
    Shuffled,
    Slot,
    Turn,
    Voided,
    Window,
)
from protocol.log import ClosedStep, Contribution
from protocol.position import LENIENT, HandMark, Position, Stage, Unproved, scores_of
from protocol.quorum import quorum
from protocol.window import Answered, take, winner


class Course(Position):
    """A position that moves.  ``close`` is the only way on; ``copy`` keeps a place to return to."""

    def copy(self) -> Course:
        """An independent copy, to come back to.  Only where a hand has just begun."""
        if self.stage is not Stage.COMMIT:
            raise LocalProtocolError(f"step {self.step}: a course is copied where a hand begins")
        other = copy.copy(self)
        other.game = copy.deepcopy(self.game)
        other._events = []
        other._new_deck()
        return other

    # --- closing a step --------------------------------------------------------------------------------

    def close(
        self, contributions: Mapping[int, Contribution], entropy: bytes
    ) -> tuple[ClosedStep, list[events.Event]]:
        """Close the open step with what each owing seat gave; None marks it absent.

        The entries have passed :func:`protocol.judge.judge`.  ``entropy``: 32 fresh bytes, since openings of
        window answers are verified here.  Returns the closed step and what it changed.
        """
        due = self.due
        if tuple(sorted(contributions)) != due.seats:
            raise LocalProtocolError(
                f"step {due.step} is owed by seats {due.seats}, not {tuple(sorted(contributions))}"
            )
        closed = log.close(self.head, self.epoch, self.step, contributions)
        given = {entry.seat: entry for entry in closed.entries}
        if closed.absent:
            if due.stage is Stage.AGREE:
                raise LocalProtocolError("nobody can be absent from the agreement")
            self.unproved = (*self.unproved, self._unproved(closed))
        self._events = []
        self._due = None
        self._ctx = self.context()
        self._entropy = entropy
        self._silent = (self._silent | frozenset(closed.absent)) - frozenset(given)
        self.head = closed.head
        self.step += 1
        self.epoch += 1 if closed.absent else 0
        openly = due.stage is Stage.ANSWER and self.window is not None and not self.window.sealed
        for seat in closed.absent:
            dropped = openly or due.stage not in LENIENT
            self._tell(events.SeatAbsent(seat=seat, step=due.step, dropped=dropped))
        _CLOSE[due.stage](self, given, closed.absent)
        if self.unproved and self.stage is not Stage.RECORD:
            self._after_record, self.stage = self.stage, Stage.RECORD
            self._absent_from_record = frozenset()
        return closed, self._events

    def _close_agree(self, given: Mapping[int, Entry], absent: Sequence[int]) -> None:
        self.first_head = self.head
        self._follow_need()

    def _close_commit(self, given: Mapping[int, Entry], absent: Sequence[int]) -> None:
        assert self.deck is not None
        if absent:
            self._leave_before_cards(absent)
            return
        try:
            self.deck.close_commits(_bodies(given))
        except VerificationError as fault:
            self._ban(fault)
        else:
            self.stage = Stage.REVEAL

    def _close_reveal(self, given: Mapping[int, Entry], absent: Sequence[int]) -> None:
        assert self.deck is not None
        if absent:
            self._leave_before_cards(absent)
            return
        try:
            self.deck.close_reveals(_bodies(given))
        except VerificationError as fault:
            self._ban(fault)
        else:
            self._begin_shuffle()

    def _close_shuffle(self, given: Mapping[int, Entry], absent: Sequence[int]) -> None:
        assert self.deck is not None
        if absent:
            if self.cards_out:
                self._interrupt(Stage.SHUFFLE, absent)
            else:
                self._leave_before_cards(absent)
            return
        (entry,) = given.values()
        if entry.kind is Kind.COMPLAINT:
            at_fault = self.deck.close_complaint(entry.seat, entry.body)
            self.banned = self.banned | {at_fault}
            self._leave_before_cards((at_fault,))
            return
        self.deck.close_shuffle(entry.seat, entry.body)
        self._shuffles += 1
        if self._shuffles == len(self.shufflers()):
            self.cards_out = True
            self.game.apply(Shuffled(coin=self.deck.coin))
            self._follow_need()

    def _close_shares(self, given: Mapping[int, Entry], absent: Sequence[int]) -> None:
        assert self.deck is not None
        try:
            for seat, entry in given.items():
                self.deck.close_shares(seat, self.slots_owed(seat), entry.body)
        except VerificationError:
            self._no_such_card(absent)
            return
        if absent:
            self._interrupt(Stage.SHARES, absent)
        else:
            self._dealt()
            self._follow_need()

    def _close_move(self, given: Mapping[int, Entry], absent: Sequence[int]) -> None:
        if absent:
            self._interrupt(Stage.MOVE, absent)
            return
        (entry,) = given.values()
        text, slots, opening = entry.body
        openings: tuple[tuple[Slot, Card], ...] = ()
        if slots:
            assert self.deck is not None
            self.deck.close_opening(entry.seat, slots, opening)
            openings = self._faces(slots)
        self.game.apply(Moved(seat=entry.seat, text=text, openings=openings))
        self._tell(events.MoveMade(seat=entry.seat, text=text, openings=openings, step=entry.step))
        self._follow_need()

    def _close_sealed(self, given: Mapping[int, Entry], absent: Sequence[int]) -> None:
        self.sealed_at = self._ctx
        self.answers = {seat: Answered(seat=seat, commitment=entry.body) for seat, entry in given.items()}
        self.answers |= {seat: Answered(seat=seat) for seat in absent}
        if given:
            self.stage = Stage.ANSWER
        else:
            self._take_answers({})

    def _close_answer(self, given: Mapping[int, Entry], absent: Sequence[int]) -> None:
        assert self.window is not None
        if absent and not self.window.sealed:
            # A pass in the open is a statement ("I do not hold it"); nobody is held to one that it did not sign.
            self.window = None
            self._interrupt(Stage.ANSWER, absent)
            return
        self._take_answers(given)

    def _close_ruling(self, given: Mapping[int, Entry], absent: Sequence[int]) -> None:
        if not absent:
            self._end_window(*given)
            return
        self._absent_from_ruling |= frozenset(absent)
        if self._absent_from_ruling.issuperset(self._arbiters()):
            self._end_window(None)

    def _close_show(self, given: Mapping[int, Entry], absent: Sequence[int]) -> None:
        assert self.deck is not None
        try:
            for seat, entry in given.items():
                self.deck.close_opening(seat, self.slots_owed(seat), entry.body)
        except VerificationError:
            self._no_such_card(absent)
            return
        if absent:
            self._interrupt(Stage.SHOW, absent)
        else:
            self._shown()
            self._follow_need()

    def _close_result(self, given: Mapping[int, Entry], absent: Sequence[int]) -> None:
        hand = self.deck.hand if self.deck is not None else self.game.hand
        self._tell(events.HandOver(hand=hand, scores=scores_of(self.game)))
        self.deck = None
        self.cards_out = False
        need = self.game.need
        if isinstance(need, Over):
            self._tell(events.GameOver(scores=need.scores, winners=need.winners, head=self.head))
            self.stage = Stage.END
            return
        for seat in absent:
            self._drop(seat)
        asking = {request.seat for entry in given.values() for request in returns_in(entry)}
        for seat in sorted(asking):
            self.game.apply(Returned(seat=seat))
            self.roster = tuple(sorted((*self.roster, seat)))
            self._tell(events.SeatReturned(seat=seat, hand=self.game.hand))
        self._follow_need()

    def _close_end(self, given: Mapping[int, Entry], absent: Sequence[int]) -> None:
        self.stage = Stage.DONE

    def _close_record(self, given: Mapping[int, Entry], absent: Sequence[int]) -> None:
        if absent:
            self._absent_from_record |= frozenset(absent)
        else:
            self.unproved = ()
            self.stage = self._after_record

    def _close_restore(self, given: Mapping[int, Entry], absent: Sequence[int]) -> None:
        assert self.deck is not None
        assert self._threshold is not None
        if len(given) < self._threshold:
            self.leaving = tuple(sorted({*self.leaving, *absent}))
            self._void()
            return
        try:
            for index, seat in enumerate(self.leaving):
                self.deck.close_restore(seat, {giver: entry.body[index] for giver, entry in given.items()})
        except VerificationError:
            # Shares that each hold rebuild the key; were it otherwise, all see the same and deal again.
            self._void()
            return
        if self._interrupted is Stage.SHARES:
            self._dealt()
        elif self._interrupted is Stage.SHOW:
            self._shown()
        for seat in self.leaving:
            self._drop(seat, self._faces(self.game.hidden(seat)))
        self.leaving = ()
        if absent:
            self._interrupt(None, absent)
        else:
            self._follow_need()

    # --- from need to need -----------------------------------------------------------------------------

    def _follow_need(self) -> None:
        """Set the stage that satisfies what the game needs now."""
        need = self.game.need
        match need:
            case Shuffle(new_hand=True) if self.cards_out:
                self.stage = Stage.RESULT
            case Shuffle(new_hand=True):
                self._new_deck()
                self.mark = HandMark(hand=self.game.hand, epoch=self.epoch, step=self.step, prev=self.head)
                self.stage = Stage.COMMIT
                self._tell(events.HandBegan(hand=self.game.hand, seats=self.roster))
            case Shuffle():
                self._begin_shuffle()
            case Deal():
                self.stage = Stage.SHARES
            case Turn():
                self.stage = Stage.MOVE
            case Window():
                self.window = need
                self.answers = {}
                self.winner = None
                self.stage = Stage.SEALED if need.sealed else Stage.ANSWER
            case Showdown():
                self.stage = Stage.SHOW
            case Over():
                self.stage = Stage.RESULT
        if self.stage in (Stage.SHARES, Stage.SHOW) and not self._owing():
            # Every owner has been dropped, or no slot was listed: there is nothing to wait for.
            self._dealt() if self.stage is Stage.SHARES else self._shown()
            self._follow_need()

    def _new_deck(self) -> None:
        self._threshold = None if self.agreement.strict or len(self.roster) < 3 else quorum(len(self.roster))
        self.deck = self._decks.deck(self.agreement.table, self.game.hand, self.roster, self._threshold)

    def _begin_shuffle(self) -> None:
        assert self.deck is not None
        assert isinstance(self.game.need, Shuffle)
        self.deck.begin_shuffle(self.game.need.cards)
        self._shuffles = 0
        self.stage = Stage.SHUFFLE

    def _dealt(self) -> None:
        assert isinstance(self.game.need, Deal)
        faces = self._faces(slot for slot, owner in self.game.need.owners if owner is None)
        self.game.apply(Dealt(faces=faces))
        self._tell(events.CardsDealt(faces=faces))

    def _shown(self) -> None:
        assert isinstance(self.game.need, Showdown)
        faces = self._faces(slot for slot, _ in self.game.need.owners)
        self.game.apply(Shown(faces=faces))
        self._tell(events.CardsShown(faces=faces))

    def _take_answers(self, given: Mapping[int, Entry]) -> None:
        assert self.window is not None
        # What is signed in the open costs nothing to bind to its own step; what was sealed is bound to that one.
        ctx = self.sealed_at if self.window.sealed and self.sealed_at is not None else self._ctx
        self.answers, void = take(self.game, self.deck, self.window, ctx, given, self.answers, self._entropy)
        self._events += void
        self.winner = winner(self.game, self.window, self.answers)
        if self.window.sealed:
            self._absent_from_ruling = frozenset()
            self.stage = Stage.RULING
        else:
            self._end_window(None)

    def _end_window(self, arbiter: int | None) -> None:
        assert self.window is not None
        answers = tuple((seat, self.answers[seat].text) for seat in self.window.seats)
        self._tell(events.Ruled(arbiter=arbiter, answers=answers, winner=self.winner))
        self.window = None
        self._windows += 1
        self._follow_need()

    # --- seats that leave ------------------------------------------------------------------------------

    def _leave_before_cards(self, seats: Sequence[int]) -> None:
        """No card depends on these seats' keys yet: the others make new ones."""
        for seat in seats:
            self._drop(seat)
        self._follow_need()

    def _ban(self, fault: VerificationError) -> None:
        """What passed alone does not hold together (two seats with one key): all see who is at fault."""
        at_fault = fault.seat if fault.seat is not None else self.roster[-1]
        self.banned = self.banned | {at_fault}
        self._leave_before_cards((at_fault,))

    def _interrupt(self, stage: Stage | None, absent: Sequence[int]) -> None:
        """``stage`` can't go on without the keys of these seats."""
        assert self.deck is not None
        for seat in absent:
            self.deck.drop(seat)
        self.leaving = tuple(absent)
        self._interrupted = stage
        if self._threshold is None or len(self.roster) - len(absent) < self._threshold:
            self._void()
        else:
            self.stage = Stage.RESTORE

    def _no_such_card(self, absent: Sequence[int]) -> None:
        """A slot is no card of the pack, though every share of it was proven (SPEC.md 6.5): deal again, blame nobody."""
        self._tell(events.HandVoid(hand=self.game.hand, step=self.step - 1))
        if absent:
            self.leaving = tuple(absent)
            self._void()
        else:
            self.game.apply(Voided())
            self._follow_need()

    def _void(self) -> None:
        """The cards cannot be told any more: the hand does not count."""
        leaving, self.leaving = self.leaving, ()
        for index, seat in enumerate(leaving):
            self._drop(seat, void=index == 0)
        self._follow_need()

    def _drop(self, seat: int, faces: tuple[tuple[Slot, Card], ...] = (), *, void: bool = False) -> None:
        self.roster = tuple(other for other in self.roster if other != seat)
        self.game.apply(Dropped(seat=seat, faces=faces, void=void))
        self._tell(events.SeatDropped(seat=seat, faces=faces, void=void))

    def _unproved(self, closed: ClosedStep) -> Unproved:
        place = Place(table=self.agreement.table, epoch=closed.epoch, step=closed.step, prev=closed.prev)
        closing = tuple((seat, entry.id if entry else ABSENT) for seat, entry in closed.contributions)
        return Unproved(place=place, keys=self.keys, closing=closing)

    def _faces(self, slots: Iterable[Slot]) -> tuple[tuple[Slot, Card], ...]:
        assert self.deck is not None
        faces = ((slot, self.deck.face(slot)) for slot in slots)
        return tuple((slot, card) for slot, card in faces if card is not None)

    def _tell(self, event: events.Event) -> None:
        self._events.append(event)


_CLOSE: Final[Mapping[Stage, Callable[[Course, Mapping[int, Entry], Sequence[int]], None]]] = {
    Stage.AGREE: Course._close_agree,
    Stage.COMMIT: Course._close_commit,
    Stage.REVEAL: Course._close_reveal,
    Stage.SHUFFLE: Course._close_shuffle,
    Stage.SHARES: Course._close_shares,
    Stage.MOVE: Course._close_move,
    Stage.SEALED: Course._close_sealed,
    Stage.ANSWER: Course._close_answer,
    Stage.RULING: Course._close_ruling,
    Stage.SHOW: Course._close_show,
    Stage.RESULT: Course._close_result,
    Stage.END: Course._close_end,
    Stage.DONE: Course._close_end,
    Stage.RECORD: Course._close_record,
    Stage.RESTORE: Course._close_restore,
}


def returns_in(result: Entry) -> list[Entry]:
    """The requests to return that a RESULT carries."""
    return [from_value(item, field=f"result.returns[{index}]") for index, item in enumerate(result.body[3])]


def _bodies(given: Mapping[int, Entry]) -> dict[int, Any]:
    return {seat: entry.body for seat, entry in given.items()}
