"""How one peer moves from step to step: judge what arrives, say what is owed, close, go back if decided otherwise.

Three machines are joined here: the :class:`~protocol.ledger.Ledger` (what is closed, and the course it makes), the
:class:`~protocol.tail.Tail` (whether a close may still change) and the :class:`~protocol.shelf.Shelf` (what has
arrived).  Nothing here knows of links.

========================  ======================================================================================
event                     what is done
========================  ======================================================================================
an entry of the open      judged (long proofs in a worker); good: the tail holds it; bad: evidence (illegal)
step arrives
this seat owes            the entry is made once, journalled, then shelved like any other
tail: Closed              the course closes the step; the next one opens
tail: Decided             as Closed; if it was closed otherwise, back to it first; a new epoch if anybody is absent
tail: Confirmed           the step and all before it are final: published, and their secrets wiped
tail: Cast                the vote is signed, journalled, sent
entries of a quorum       the step is closed that way, whatever this peer knows of its authors: they can't all be
stand on a closing        undone, and to stay behind would help nobody
somebody stands on        the step is contested: a decision about it begins
another closing
========================  ======================================================================================
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from protocol import events, evidence
from protocol.agreement import Agreement
from protocol.arbiter import Accused, Cast, Closed, Decided, Keep, Tell, Times
from protocol.ballot import ABSENT, Certificate, Closing, Slot
from protocol.course import Course
from protocol.dealing import Decks
from protocol.doubt import Doubt
from protocol.effects import Effect, Publish, Record, WipeSecret, Work
from protocol.entry import Entry, Kind
from protocol.errors import RemoteProtocolError, VerificationError
from protocol.game import Card, Game, Over, Shuffle
from protocol.game import Slot as CardSlot
from protocol.identity import words
from protocol.judge import belongs, judge, judge_abandonment, judge_return
from protocol.ledger import Ledger
from protocol.log import ClosedStep, head_after
from protocol.own import SecretLost
from protocol.position import Due, Stage
from protocol.quorum import acknowledgements_for_safety, quorum
from protocol.records import write_closed, write_doubt, write_held, write_kept, write_proof
from protocol.shelf import HORIZON, Shelf
from protocol.tail import Confirmed, Tail
from protocol.voice import Outbox, Voice

NEVER: Final = 1e12
"""Seconds that no table waits for."""

AGREEMENT: Final = 0
"""The step that nothing is decided about: all have signed the agreement, or there is no table."""

PENDING: Final = 32
"""Certificates of steps that this peer has not reached, kept until it does."""

LOOKAHEAD: Final = 16
"""How many steps further the search for who stands on a closing goes."""

MAX_PROOF: Final = 1 << 19
"""Bytes of a proof that the journal keeps.  A longer one, with the log of many hands in it, is in its own file alone; the
journal then says that there is one."""

_PERSONAL: Final = frozenset((Stage.MOVE, Stage.ANSWER))


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a worker does: judge ``entry``, or (None) make our own for ``due``."""

    entry: Entry | None
    due: Due
    course: Course
    began: float


class Steps:
    """One peer's log, moving.  ``voice`` None: a spectator."""

    def __init__(
        self,
        agreement: Agreement,
        make_game: Callable[[Agreement], Game],
        decks: Decks,
        entropy: Callable[[int], bytes],
        voice: Voice | None,
        out: Outbox,
    ) -> None:
        self.agreement = agreement
        self.voice = voice
        self.me = voice.seat if voice is not None else None
        self.ledger = Ledger(agreement, make_game, decks, entropy)
        self.shelf = Shelf()
        self.tail = Tail(me=None)
        self.exposed: dict[int, bytes] = {}
        self.returns: dict[int, Entry] = {}
        self.abandoned: dict[int, Entry] = {}
        """Who has recorded that it waits in vain in the open step."""
        self._contradictions: list[tuple[Entry, Entry]] = []
        self._certificates_asked: list[Certificate] = []
        self.faces: Mapping[CardSlot, Card] = {}
        self.opened_at = 0.0
        self.live = False
        self.doubt: Doubt | None = None
        """Set while the journal may lack what this seat has signed."""
        self.halted = False
        self.over = False
        self._out = out
        self._entropy = entropy
        self._kept: list[Certificate] = []
        self._pending: list[Certificate] = []
        self._verdicts: dict[bytes, VerificationError | None] = {}
        self._offered: dict[int, set[bytes]] = {}
        self._undecided: dict[int, Decided] = {}
        self._late = False
        self._written: set[bytes] = set()
        self._jobs: dict[int, Job] = {}
        self._job_numbers = itertools.count(1)
        self._sat_out: int | None = None
        self._sealed: Entry | None = None
        """Our sealed answer, until it is known to be safe or void."""
        self._do(Publish(data=self.ledger.agreement_record()))

    # --- reads -----------------------------------------------------------------------------------------

    @property
    def course(self) -> Course:
        return self.ledger.course

    @property
    def waiting_for(self) -> tuple[int, ...]:
        """The seats whose entries to the open step are missing."""
        decision = self.tail.decision(self._slot())
        return decision.missing if decision is not None and decision.closing is None else ()

    @property
    def owes(self) -> bool:
        """Whether this seat still owes its entry to the open step."""
        due = self.course.due
        return self.voice is not None and self.me in due.seats and self.voice.said(due) is None

    @property
    def wanting(self) -> bool:
        """Whether a decision is known whose entries are not all here."""
        return bool(self._undecided)

    @property
    def doubtful(self) -> bool:
        """Whether this seat may have signed what it does not know of."""
        return self.doubt is not None

    @property
    def unheard(self) -> tuple[int, ...]:
        """The seats that have to tell yet what they know of this one, before it signs again."""
        if self.doubt is None:
            return ()
        beside = {self.me, *self.course.leaving, *self.exposed}
        return self.doubt.unheard(seat for seat in self.course.roster if seat not in beside)

    @property
    def deadline(self) -> float | None:
        """When to call :meth:`tick`."""
        times = [self.tail.deadline]
        if self.voice is not None and self._may_speak and self.owes and self.course.stage is Stage.SEALED:
            times.append(self.voice.closes_at)
        return min((time for time in times if time is not None), default=None)

    def entries_of(self, step: int) -> list[Entry]:
        """All that is known of a step: what it was closed with, and what is on the shelf."""
        entries = list(self.ledger.closed[step].entries) if step < len(self.ledger.closed) else []
        known = {entry.id for entry in entries}
        return entries + [entry for entry in self.shelf.of_step(step) if entry.id not in known]

    @property
    def _may_speak(self) -> bool:
        """Whether nothing keeps this seat from signing what it owes to the open step."""
        quiet = self.halted or self.doubtful or self.over or self.wanting
        return self.live and not quiet and self.tail.may_sign

    def held(self) -> list[Entry]:
        """What is held of the open step."""
        return [entry for entry in self.shelf.of_step(self.course.step) if belongs(self.course, entry)]

    def patience_seconds(self) -> float:
        """How long the open step may take before the seats that owe it count as missing."""
        due, agreement = self.course.due, self.agreement
        if due.stage in (Stage.AGREE, Stage.DONE) or agreement.patient or len(self.course.roster) < 3:
            return NEVER
        sealed = self.course.window is not None and self.course.window.sealed
        if due.stage in _PERSONAL and not sealed:
            return agreement.turn_ms / 1000
        if due.stage is Stage.SEALED:
            return (agreement.window_ms + agreement.step_ms) / 1000
        return agreement.step_ms / 1000

    # --- inputs ----------------------------------------------------------------------------------------

    def begin(self, now: float) -> None:
        """Open the first step."""
        self._open(now)

    def begin_doubt(self, *, recorded: bool) -> None:
        """The journal may lack what this seat has signed (``recorded``: it says so itself)."""
        self.doubt = Doubt()
        if not recorded:
            self._do(Record(data=write_doubt(True), must_sync=True))

    def settle_doubt(self, now: float) -> None:
        """Sign and vote again, if all that this seat may have said is known."""
        if self.doubt is not None and self.doubt.told and not self.unheard:
            self.doubt = None
            self._do(Record(data=write_doubt(False), must_sync=False))
            self.opened_at = now
            self.tail.go_live(now)

    def go_live(self, now: float) -> None:
        """Everything that the journal knew has been given: begin to sign, unless the journal is in doubt."""
        self.live = True
        for vote in self.voice.votes if self.voice is not None else ():
            self.shelf.add_vote(vote)  # others may have missed it
        if not self.doubtful:
            self.tail.go_live(now)
        self._opened(now)
        if self.halted:
            self._tell_halted()
        for closed in self.ledger.closed[self.ledger.final :]:
            for entry in closed.entries:
                if entry.seat == self.me and entry.kind is Kind.SEALED:
                    self._sealed = entry
        if self.voice is not None and self.voice.abandoned is not None:
            self.take_abandonment(self.voice.abandoned)
        self.advance(now)

    def take_entry(self, entry: Entry, now: float) -> bool:
        """A step entry whose signature holds.  Whether it was new and is kept."""
        if entry.step < self.ledger.final:
            known = self.ledger.entry_at(entry.step, entry.seat)
            if known is not None and known.key == entry.key and known.id != entry.id:
                self._expose(known, entry, now)
            return False
        if entry.id in self.shelf or not (self._is_wanted(entry) or self._has_room(entry)):
            return False
        if self.voice is not None and entry.seat == self.me:
            self.voice.remember(entry, durable=False)
        rival = self.shelf.add(entry)
        self._late = self._late or entry.step < self.course.step
        if rival is not None:
            self._expose(rival, entry, now)
        return True

    def take_vote(self, vote: Entry, now: float) -> bool:
        """A vote whose signature holds.  Whether it was new and is kept."""
        if not self._asked_about() <= vote.step <= self.course.step + HORIZON or vote.step == AGREEMENT:
            return False
        new, rival = self.shelf.add_vote(vote)
        if not new:
            return False
        if self.voice is not None and vote.seat == self.me:
            self.voice.remember(vote, durable=False)
        if rival is not None:
            self._expose(rival, vote, now)
        self._vote(vote, now)
        return True

    def take_certificate(self, certificate: Certificate, now: float) -> bool:
        """A certificate from elsewhere.  Whether it is of use, now or later.  Raises VerificationError (F47)."""
        step = certificate.votes[0].step
        if not self.ledger.final <= step <= self.course.step + HORIZON or step == AGREEMENT:
            return False
        if not self.tail.learn(certificate, now) and step >= self.course.step:
            self._pending = [*self._pending[1 - PENDING :], certificate]
        return True

    def take_return(self, request: Entry) -> bool:
        """A dropped seat asks to sit down again.  Whether the request stands and is new."""
        known = self.returns.get(request.seat)
        if known is not None and known.id == request.id:
            return False
        try:
            judge_return(self.course, request)
        except VerificationError:
            return False
        self.returns[request.seat] = request
        return True

    def take_abandonment(self, record: Entry) -> bool:
        """A seat says that it waited in vain in the open step.  Whether that stands and is new."""
        known = self.abandoned.get(record.seat)
        if known is not None and known.id == record.id:
            return False
        try:
            judge_abandonment(self.course, record)
        except VerificationError:
            return False
        self.abandoned[record.seat] = record
        self._tell(events.Abandoned(seat=record.seat, step=record.step))
        return True

    def abandon(self) -> None:
        """Record that this seat has waited in vain for as long as was agreed."""
        if self.voice is not None and self.me in self.course.roster and not (self.halted or self.doubtful):
            self.take_abandonment(self.voice.abandon(self.course))

    def take_proof(self, first: Entry, second: Entry, now: float) -> bool:
        """Two statements, whose signatures hold, that are said to contradict.  Whether they do and are new."""
        if evidence.contradiction(first, second) is None or first.seat in self.exposed:
            return False
        self._expose(first, second, now)
        return True

    def trust(self, closed: Sequence[Entry]) -> None:
        """Entries from our own journal: they were judged before they were written there."""
        for entry in closed:
            self._verdicts.setdefault(entry.id, None)
            if entry.id not in self.shelf and entry.step >= self.ledger.final:
                self.shelf.add(entry)

    def keep(self, certificate: Certificate, now: float) -> None:
        """A certificate from our own journal: a lock of ours stands on it, or a step was decided by it."""
        if certificate.kind is Kind.PREVOTE:
            self._kept.append(certificate)
        else:
            self.take_certificate(certificate, now)

    def take_contradictions(self) -> list[tuple[Entry, Entry]]:
        """Pairs of statements, new to us, that everybody should see."""
        found, self._contradictions = self._contradictions, []
        return found

    def take_certificates(self) -> list[Certificate]:
        """Certificates that somebody asks for by voting still."""
        found, self._certificates_asked = self._certificates_asked, []
        return found

    def convicted(self, seat: int, data: bytes, now: float) -> None:
        """Evidence from our own journal."""
        self.exposed[seat] = data
        self.halted = self.halted or seat == self.me
        self.tail.expose(seat, now)

    def work_done(self, number: int, result: object, now: float) -> None:
        """A worker's result: None or a fault (judging), a kind and a body (making), or what went wrong."""
        job = self._jobs.pop(number, None)
        if job is None or job.course is not self.course or job.due != self.course.due:
            return  # the course has moved on meanwhile, and what was read may have been half of it
        if isinstance(result, Exception) and not isinstance(result, VerificationError):
            raise result
        if job.entry is not None:
            self._judged(job.entry, result if isinstance(result, VerificationError) else None, now)
            theirs = job.entry.kind is Kind.SHUFFLE and job.entry.seat != self.me
            shuffler = job.entry.seat if theirs and result is None else None
        else:
            made: tuple[Kind, Any] = result  # type: ignore[assignment]
            kind, body = made
            shuffler = self.me if kind is Kind.SHUFFLE else None
            if not self.halted:
                self._sign(kind, body)
        if shuffler is not None:
            cards, spent = self._cards_shuffled(), 1000 * (now - job.began)
            self._tell(events.ShuffleVerified(seat=shuffler, cards=cards, milliseconds=spent))

    def tick(self, now: float) -> None:
        """Let the timers that are over expire."""
        self.tail.tick(now)

    # --- moving on -------------------------------------------------------------------------------------

    def advance(self, now: float) -> None:
        """Do everything that the state now allows."""
        while (
            self._drain(now)
            or self._finish_decision(now)
            or self._offer(now)
            or self._offer_late(now)
            or self._adopt(now)
            or self._contest(now)
            or self._speak(now)
        ):
            pass
        self._reassure()

    def _reassure(self) -> None:
        """Tell when no decision can leave out our sealed answer any more."""
        sealed = self._sealed
        if sealed is None:
            return
        slot = Slot(table=sealed.table, epoch=sealed.epoch, step=sealed.step, prev=sealed.prev)
        decision = self.tail.decision(slot)
        if sealed.step < self.ledger.final:
            safe = self.ledger.has(sealed)
        elif decision is None:
            safe = False  # an earlier step was decided otherwise, and the answer is void with its head
        else:
            holders = self.tail.acknowledged(slot, sealed.seat, sealed.id)
            safe = len(holders) >= acknowledgements_for_safety(len(decision.voters))
            if not safe:
                return
        self._sealed = None
        if safe:
            self._tell(events.AnswerSafe(step=sealed.step))

    def _drain(self, now: float) -> bool:
        """Carry out what the tail asks for."""
        effects = self.tail.take_effects()
        for effect in effects:
            match effect:
                case Closed(slot=slot, closing=closing):
                    self._close(slot, closing, now)
                case Decided():
                    self._undecided[effect.slot.step] = effect
                    self._finish_decision(now)
                case Confirmed(slot=slot):
                    self._settle(slot.step)
                case Keep(certificate=certificate):
                    self._kept.append(certificate)
                    self._do(Record(data=write_kept(certificate), must_sync=True))
                case Cast() if self.voice is not None and not self.halted:
                    self._write_held(effect.slot.step)
                    vote = self.voice.cast(effect)
                    self.shelf.add_vote(vote)
                    self._vote(vote, now)
                case Tell(certificate=certificate):
                    self._certificates_asked.append(certificate)
                case Accused():
                    self._expose(effect.first, effect.second, now)
        return bool(effects)

    def _write_held(self, step: int) -> None:
        """A vote says what its voter holds, so that has to survive a restart as the vote does."""
        for entry in self.shelf.of_step(step):
            if entry.id in self._offered.get(step, ()) and entry.id not in self._written:
                self._written.add(entry.id)
                self._do(Record(data=write_held(entry), must_sync=False))

    def _close(self, slot: Slot, closing: Closing, now: float) -> None:
        """Close a step in this way, going back to it first if it was closed otherwise."""
        if slot.step < self.course.step:
            undone = self.ledger.go_back(slot.step)
            self._offered = {step: ids for step, ids in self._offered.items() if step <= slot.step}
            self._tell(events.EpochBegan(epoch=self.course.epoch, step=slot.step, undone=len(undone)))
        entries = {seat: self.shelf.get(entry) if entry != ABSENT else None for seat, entry in closing}
        self._late = True
        banned = self.course.banned
        closed, facts = self.ledger.close(entries)
        self._jobs.clear()
        if self.live:
            self._do(Record(data=write_closed(closed), must_sync=False))
        self._tell(events.StepClosed(step=closed.step, epoch=closed.epoch, head=closed.head, final=False))
        if closed.step == 0:
            self._tell(events.TableAgreed(table=self.agreement.table, words=words(closed.head)))
        for fact in facts:
            if not isinstance(fact, events.GameOver):  # told when it is final
                self._tell(fact)
        self._look()
        self._open(now)
        for seat in sorted(self.course.banned - banned):
            self._banned(seat, closed, now)

    def _banned(self, seat: int, closed: ClosedStep, now: float) -> None:
        """A closed step shows to all that a seat is at fault; a complaint is also worth a file."""
        complaint = next((entry for entry in closed.entries if entry.kind is Kind.COMPLAINT), None)
        if complaint is None or seat in self.exposed:
            return
        reason, message = evidence.complaint_reason(complaint, seat)
        data = evidence.illegal(
            self.agreement,
            reason,
            self.ledger.closed[: closed.step],
            self._unproved_at(closed.step),
            complaint,
        )
        self._convict(seat, closed.step, events.Accusation.ILLEGAL, reason, message, data, now)

    def _finish_decision(self, now: float) -> bool:
        """Carry out the oldest decision, once all that it closes with is here."""
        step = min(self._undecided, default=None)
        if step is None:
            return False
        decided = self._undecided[step]
        if step > self.course.step:
            return False
        if decided.slot == self._slot_at(step):
            closing = decided.closing
            closed = self.ledger.closed[step] if step < self.course.step else None
            if closed is None or _closing_of(closed) != closing:
                if any(entry != ABSENT and entry not in self.shelf for _, entry in closing):
                    return False
                self._close(decided.slot, closing, now)
            self.ledger.certificates[step] = decided.certificate
            if self.live:
                self._do(Record(data=write_kept(decided.certificate), must_sync=False))
            self._settle(step)
        # Otherwise an earlier step was decided otherwise, and this decision is about a log that is void.
        del self._undecided[step]
        return True

    def _settle(self, step: int) -> None:
        """This step and all before it are final."""
        for closed in self.ledger.settle(step):
            if self.over:
                break  # what follows the last result is there to make it final, and is not published
            self._do(Publish(data=closed.encode()))
            if self.ledger.stage_of(closed.step) is not Stage.RESULT:
                continue
            if self.voice is not None:
                for hand in self.voice.own.wipe_before(closed.step):
                    self._do(WipeSecret(hand=hand))
            need = self.course.game.need
            if isinstance(need, Over):
                self.over = True
                self._tell(events.GameOver(scores=need.scores, winners=need.winners, head=closed.head))
        final = self.ledger.final
        self.shelf.forget_before(final, votes=self._asked_about())
        if self.voice is not None:
            self.voice.forget_before(final)
        self._offered = {number: ids for number, ids in self._offered.items() if number >= final}
        self._verdicts = {entry: fault for entry, fault in self._verdicts.items() if entry in self.shelf}
        self._kept = [kept for kept in self._kept if kept.votes[0].step >= final]
        self._written = {entry for entry in self._written if entry in self.shelf}

    def _open(self, now: float) -> None:
        """Begin the step that the course now owes."""
        due, slot = self.course.due, self._slot()
        self._offered[due.step] = set()
        self.abandoned = {}
        self.tail.me = self.me if self.me in self.course.roster else None
        self.tail.open(
            slot,
            keys=self.course.keys,
            owed=due.seats,
            times=Times(
                patience_seconds=self.patience_seconds(),
                round_seconds=max(1.0, self.agreement.step_ms / 5000),
            ),
            now=now,
            last=due.last,
            votes=self.voice.votes if self.voice is not None else (),
            kept=self._kept,
            whole=due.stage is Stage.AGREE,
        )
        for vote in self.shelf.votes_in(slot):
            if vote.seat != self.me:
                self._vote(vote, now)
        pending, self._pending = self._pending, []
        for certificate in pending:
            try:
                self.take_certificate(certificate, now)
            except VerificationError:
                continue  # a forged one, of a step that was not reached when it came
        self._opened(now)

    def _opened(self, now: float) -> None:
        """Tell the faces what the open step asks for."""
        self.opened_at = now
        if not self.live:
            return
        due, course = self.course.due, self.course
        if self.voice is not None:
            self.voice.step_opened(course, now)
        deadline = now + self.patience_seconds()
        if due.stage is Stage.MOVE:
            self._tell(events.TurnBegan(seat=due.seats[0], deadline=deadline))
        elif course.window is not None and due.stage in (Stage.SEALED, Stage.ANSWER):
            sealed = course.window.sealed
            if sealed is (due.stage is Stage.SEALED):
                closes_at = now + self.agreement.window_ms / 1000 if sealed else deadline
                self._tell(
                    events.WindowOpened(
                        after=course.window.after, seats=due.seats, closes_at=closes_at, sealed=sealed
                    )
                )
        elif due.stage is Stage.SHUFFLE:
            order = course.shufflers()
            self._tell(
                events.ShuffleMade(
                    seat=due.seats[0],
                    cards=self._cards_shuffled(),
                    position=order.index(due.seats[0]),
                    of=len(order),
                )
            )

    def _look(self) -> None:
        """See what has become readable of our own cards."""
        if self.voice is None:
            return
        own = self.course.game.hidden(self.voice.seat)
        readable = self.voice.own.faces(self.course)
        faces = {slot: readable[slot] for slot in own if slot in readable}
        seen = tuple(sorted((slot, card) for slot, card in faces.items() if slot not in self.faces))
        self.faces = faces
        if seen and self.live:
            self._tell(events.CardsSeen(faces=seen))

    # --- judging ---------------------------------------------------------------------------------------

    def _offer(self, now: float) -> bool:
        """Judge an entry of the open step; give a good one to the tail.  Whether there was anything to do."""
        if self.wanting:
            return False
        offered = self._offered[self.course.step]
        for entry in self.held():
            if entry.id in offered or any(job.entry is entry for job in self._jobs.values()):
                continue
            if entry.id not in self._verdicts:
                if self.live and self.course.heavy() and entry.seat in self.course.due.seats:
                    self._start(entry, self._judging(entry), now)
                    return True
                self._judged(entry, self._judge(self.course, entry), now)
            offered.add(entry.id)
            if self._verdicts[entry.id] is None:
                self.tail.entry_held(entry.step, entry.seat, entry.id, now)
            return True
        return False

    def _offer_late(self, now: float) -> bool:
        """The same for other entries of a step that is closed, though not finally: nobody lies unseen."""
        if self.wanting or not self._late:
            return False
        for closed in self.ledger.closed[self.ledger.final :]:
            offered = self._offered.setdefault(closed.step, set())
            for entry in self.shelf.of_step(closed.step):
                if entry.id in offered or (entry.epoch, entry.prev) != (closed.epoch, closed.prev):
                    continue
                offered.add(entry.id)
                if entry.id not in self._verdicts:
                    self._judged(entry, self._judge(self.ledger.course_at(closed.step), entry), now)
                if self._verdicts[entry.id] is None:
                    self.tail.entry_held(entry.step, entry.seat, entry.id, now)
                return True
        self._late = False
        return False

    def _judge(self, course: Course, entry: Entry) -> VerificationError | None:
        if self.voice is not None and self.voice.wrote(entry):
            return None
        try:
            judge(course, entry, self._entropy(32))
        except VerificationError as fault:
            return fault
        return None

    def _judging(self, entry: Entry) -> Callable[[], object]:
        course, entropy = self.course, self._entropy(32)
        own = self.voice is not None and self.voice.wrote(entry)

        def work() -> Exception | None:
            try:
                if not own:
                    judge(course, entry, entropy)
            except Exception as error:
                # A fault, or the course moved on under us: work_done tells the two apart.
                return error
            return None

        return work

    def _start(self, entry: Entry | None, work: Callable[[], object], now: float) -> None:
        number = next(self._job_numbers)
        self._jobs[number] = Job(entry=entry, due=self.course.due, course=self.course, began=now)
        self._do(Work(job=number, function=work))

    def _judged(self, entry: Entry, fault: VerificationError | None, now: float) -> None:
        self._verdicts[entry.id] = fault
        if fault is None or entry.seat in self.exposed:
            return
        course = self.course if entry.step == self.course.step else self.ledger.course_at(entry.step)
        proofs = [self.ledger.certificates[open_.place.step] for open_ in course.unproved]
        data = evidence.illegal(self.agreement, fault.reason, self.ledger.closed[: entry.step], proofs, entry)
        self._convict(
            entry.seat, entry.step, events.Accusation.ILLEGAL, fault.reason, fault.message, data, now
        )

    def _unproved_at(self, step: int) -> list[Certificate]:
        """The certificates of the absences that the log before this step does not record."""
        course = self.course if step == self.course.step else self.ledger.course_at(step)
        return [self.ledger.certificates[open_.place.step] for open_ in course.unproved]

    def _expose(self, first: Entry, second: Entry, now: float) -> None:
        """Two statements of one seat that contradict each other."""
        reason = evidence.contradiction(first, second)
        if reason is None or first.seat in self.exposed:
            return
        data = evidence.exposed(self.agreement, reason, first, second)
        message = f"two different {first.kind.name} entries for one step"
        self._convict(second.seat, second.step, events.Accusation.EXPOSED, reason, message, data, now)
        self._contradictions.append((first, second))

    def _convict(
        self,
        seat: int,
        step: int,
        accusation: events.Accusation,
        reason: str,
        message: str,
        data: bytes,
        now: float,
    ) -> None:
        kept = data if len(data) <= MAX_PROOF else b""
        self.exposed[seat] = kept
        self._do(Record(data=write_proof(seat, kept), must_sync=False))
        self._tell(
            events.EvidenceFound(
                seat=seat,
                accusation=accusation,
                reason=reason,
                message=message,
                step=step,
                data=data,
            )
        )
        if seat == self.me:
            self.halted = True
            self._tell_halted()
        self.tail.expose(seat, now)

    def _tell_halted(self) -> None:
        self._tell(
            events.Halted(
                reason="own_key_misused",
                message="what was signed with this seat's key convicts it: another program uses the same home, or an "
                "old copy of it was restored. Stop it and sit down with a new identity.",
            )
        )

    # --- where others stand ----------------------------------------------------------------------------

    def _adopt(self, now: float) -> bool:
        """Close a step the way in which entries of a quorum have it closed, if that is not our way."""
        if self.wanting or not self.exposed:
            return False  # without a liar there is one way only
        for step in range(self.ledger.final, self.course.step + 1):
            closed = self.ledger.closed[step] if step < len(self.ledger.closed) else None
            decision = self.tail.decision(self._slot_at(step))
            if decision is None:
                continue
            for closing in self._closings(step, decision.owed):
                head = head_after(decision.slot.prev, decision.slot.epoch, step, dict(closing))
                if closed is not None and head == closed.head:
                    continue
                standing = self._standing(step, decision.slot.epoch, head).intersection(decision.voters)
                if len(standing) >= quorum(len(decision.voters)) and self.tail.adopt(step, closing, now):
                    return True
        return False

    def _contest(self, now: float) -> bool:
        """Ask about a step that has two versions, if somebody stands on the one that is not ours."""
        if not self.exposed:
            return False
        for closed in self.ledger.closed[self.ledger.final :]:
            decision = self.tail.decision(self._slot_at(closed.step))
            if decision is None or decision.round or len(self._closings(closed.step, decision.owed)) < 2:
                continue
            if any(
                entry.epoch == closed.epoch and entry.prev != closed.head
                for entry in self.shelf.of_step(closed.step + 1)
            ):
                self.tail.contest(closed.step, now)
                return decision.round > 0
        return False

    def _closings(self, step: int, owed: Sequence[int]) -> list[Closing]:
        """The ways to close a step with good entries that are here, nobody absent."""
        offered = self._offered.get(step, set())
        good = [
            entry
            for entry in self.shelf.of_step(step)
            if entry.id in offered and self._verdicts.get(entry.id) is None
        ]
        versions = [[entry.id for entry in good if entry.seat == seat] for seat in owed]
        if sum(len(of_seat) > 1 for of_seat in versions) > 3:
            return []  # more liars than any table bears; 81 ways at most are looked at
        return [tuple(zip(owed, chosen, strict=True)) for chosen in itertools.product(*versions)]

    def _standing(self, step: int, epoch: int, head: bytes) -> set[int]:
        """The seats that have signed an entry of a later step on this head of ``step``."""
        seats: set[int] = set()
        for later in range(step + 1, step + 1 + LOOKAHEAD):
            entries = {
                entry.seat: entry.id
                for entry in self.shelf.of_step(later)
                if entry.prev == head and entry.epoch == epoch
            }
            if not entries:
                break
            seats |= set(entries)
            head = head_after(head, epoch, later, entries)
        return seats

    # --- speaking --------------------------------------------------------------------------------------

    def _speak(self, now: float) -> bool:
        """Sign what this seat owes, if it may.  Whether there was anything to do."""
        voice, course = self.voice, self.course
        if voice is None or not self.live or self.halted or self.doubtful or self.over:
            return False
        if self.me not in course.roster:
            return voice.ask_to_return(course) is not None
        due = course.due
        if self.me not in due.seats:
            return False
        said = voice.said(due)
        if said is not None:
            if said.id in self.shelf:
                return False
            self._shelve(said)
            return True
        if not self.tail.may_sign or self.wanting or any(job.entry is None for job in self._jobs.values()):
            return False
        try:
            if due.stage is Stage.COMMIT:
                secret = voice.own.begin_hand(course)
                if secret is not None:
                    self._do(secret)
            made = voice.next(course, now, self.standing_returns(), self._proofs())
        except SecretLost as lost:
            if self._sat_out != due.step:
                self._sat_out = due.step
                self._tell(events.SittingOut(reason=lost.code, message=str(lost)))
            return False
        if made is None:
            return False
        if isinstance(made, tuple):
            self._sign(*made)
        elif course.heavy():
            self._start(None, made, now)
        else:
            self._sign(*made())
        return True

    def _sign(self, kind: Kind, body: Any) -> None:
        assert self.voice is not None
        self._shelve(self.voice.sign(self.course, kind, body))

    def _shelve(self, said: Entry) -> None:
        """What this seat has said is held like anything else."""
        self.shelf.add(said)
        if said.kind is Kind.SEALED:
            self._sealed = said

    def standing_returns(self) -> list[Entry]:
        """The requests to return that still stand, by seat."""
        standing = []
        for seat in sorted(self.returns):
            try:
                judge_return(self.course, self.returns[seat])
            except VerificationError:
                del self.returns[seat]
            else:
                if seat not in self.exposed:
                    standing.append(self.returns[seat])
        return standing

    def _proofs(self) -> list[Any]:
        """What a RECORD owes: the certificates of the absences that are not proved in the log."""
        return [self.ledger.certificates[open_.place.step].value() for open_ in self.course.unproved]

    # --- helpers ---------------------------------------------------------------------------------------

    def _has_room(self, entry: Entry) -> bool:
        known = entry.step <= self.course.step
        prefix = (self.ledger.epoch_of(entry.step), self.ledger.head_before(entry.step)) if known else None
        return self.shelf.room_for(entry, self.course.step, prefix)

    def _is_wanted(self, entry: Entry) -> bool:
        """Whether a decision that is known closes its step with this very entry."""
        decided = self._undecided.get(entry.step)
        return decided is not None and (entry.seat, entry.id) in decided.closing

    def _vote(self, vote: Entry, now: float) -> None:
        try:
            self.tail.received(vote, now)
        except RemoteProtocolError:
            return  # it counts for nothing; whoever relayed it may not have known

    def _slot(self) -> Slot:
        course = self.course
        return Slot(table=self.agreement.table, epoch=course.epoch, step=course.step, prev=course.head)

    def _slot_at(self, step: int) -> Slot:
        if step == self.course.step:
            return self._slot()
        closed = self.ledger.closed[step]
        return Slot(table=self.agreement.table, epoch=closed.epoch, step=step, prev=closed.prev)

    def _asked_about(self) -> int:
        """The first step that somebody may still ask about."""
        return min((decision.slot.step for decision in self.tail.decisions), default=self.ledger.final)

    def _cards_shuffled(self) -> int:
        need = self.course.game.need
        return len(need.cards) if isinstance(need, Shuffle) else 0

    def _do(self, effect: Effect) -> None:
        self._out.effects.append(effect)

    def _tell(self, event: events.Event) -> None:
        self._out.tell(event)


def _closing_of(closed: ClosedStep) -> Closing:
    return tuple((seat, entry.id if entry else ABSENT) for seat, entry in closed.contributions)
