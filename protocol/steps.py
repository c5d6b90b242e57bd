"""How one peer moves from step to step: take in what arrives, say what is owed, close, go back if decided otherwise.

What is held is in :class:`~protocol.holdings.Holdings`; :class:`~protocol.court.Court` judges it, :class:`~protocol.forks.Forks`
looks where others stand, :class:`~protocol.speaker.Speaker` says what this seat owes.  Here they take turns until nothing
changes, and the log is moved.  Nothing here knows of links.

========================  ======================================================================================
event                     what is done
========================  ======================================================================================
something arrives         on the shelf, if there is room; the court and the decision about its step see it
tail: Closed              the course closes the step; the next one opens
tail: Decided             as Closed, once its entries are here; if it was closed otherwise, back to it first; a new
                          epoch if anybody is absent
tail: Confirmed           the step and all before it are final: published, and their secrets wiped
tail: Cast                the vote is signed, journalled, sent
tail: Keep                the certificate is journalled, before the vote that follows
all others have told      a doubt is over (:mod:`protocol.doubt`): this seat signs and votes again
========================  ======================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from protocol import events, evidence
from protocol.agreement import Agreement
from protocol.arbiter import Times
from protocol.arbiter_effects import Accused, Cast, Closed, Decided, Keep, Tell
from protocol.assurance import Assurance
from protocol.ballot import ABSENT, Certificate, Closing, Slot
from protocol.course import Course
from protocol.court import Court
from protocol.dealing import Decks
from protocol.doubt import Doubt
from protocol.effects import Publish, Record, WipeSecret
from protocol.entry import Entry, Kind
from protocol.errors import RemoteProtocolError, VerificationError
from protocol.forks import Forks
from protocol.game import Card, Game, Over
from protocol.game import Slot as CardSlot
from protocol.herald import Herald
from protocol.holdings import Holdings
from protocol.identity import words
from protocol.log import ClosedStep
from protocol.notes import Notes
from protocol.position import Stage
from protocol.records import write_closed, write_doubt, write_held, write_kept
from protocol.shelf import HORIZON
from protocol.speaker import Speaker
from protocol.tail import Confirmed
from protocol.voice import Outbox, Voice
from protocol.workshop import Workshop

AGREEMENT: Final = 0
"""The step that nothing is decided about: all have signed the agreement, or there is no table."""

PENDING: Final = 32
"""Certificates of steps that this peer has not reached, kept until it does."""


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
        self._here = Holdings(agreement, make_game, decks, entropy, voice, out)
        self.agreement = agreement
        self.voice = voice
        self.me = self._here.me
        self.ledger = self._here.ledger
        self.shelf = self._here.shelf
        self.tail = self._here.tail
        self.exposed: Mapping[int, bytes] = self._here.exposed
        self.notes = Notes(self._here)
        self._workshop = Workshop(self._here)
        self._court = Court(self._here, self._workshop)
        self._forks = Forks(self._here, self._court)
        self._assurance = Assurance(self._here)
        self._speaker = Speaker(self._here, self._workshop, self.notes, self._assurance)
        self._herald = Herald(self._here)
        self.opened_at = 0.0
        self._kept: list[Certificate] = []
        self._pending: list[Certificate] = []
        self._undecided: dict[int, Decided] = {}
        """Decisions whose entries are not all here."""
        self._asked_for: list[Certificate] = []
        self._written: set[bytes] = set()
        self._here.do(Publish(data=self.ledger.agreement_record()))

    # --- reads -----------------------------------------------------------------------------------------

    @property
    def course(self) -> Course:
        return self.ledger.course

    @property
    def halted(self) -> bool:
        """There is evidence against this very seat: it signs nothing more."""
        return self._here.halted

    @property
    def over(self) -> bool:
        """The last result is final."""
        return self._here.over

    @property
    def waiting_for(self) -> tuple[int, ...]:
        """The seats whose entries to the open step are missing."""
        decision = self.tail.decision(self._here.slot())
        return decision.missing if decision is not None and decision.closing is None else ()

    @property
    def owes(self) -> bool:
        """Whether this seat still owes its entry to the open step."""
        return self._speaker.owes

    @property
    def faces(self) -> Mapping[CardSlot, Card]:
        """The faces that this seat knows of its own closed slots."""
        return self._herald.faces

    @property
    def wanting(self) -> bool:
        """Whether a decision is known whose entries are not all here."""
        return bool(self._undecided)

    @property
    def doubt(self) -> Doubt | None:
        """What is asked of the others before this seat signs again."""
        return self._here.doubt

    @property
    def doubtful(self) -> bool:
        """Whether this seat may have signed what it does not know of."""
        return self._here.doubt is not None

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
        times = (self.tail.deadline, self._speaker.deadline(wanting=self.wanting))
        return min((time for time in times if time is not None), default=None)

    def entries_of(self, step: int) -> list[Entry]:
        """All that is known of a step: what it was closed with, and what is on the shelf."""
        return self._here.entries_of(step)

    def held(self) -> list[Entry]:
        """What is held of the open step."""
        return self._here.held()

    def slot(self, step: int | None = None) -> Slot:
        """The open step, or an earlier one, as votes name it."""
        return self._here.slot() if step is None else self._here.slot_at(step)

    def patience_seconds(self) -> float:
        """How long the open step may take before the seats that owe it count as missing."""
        return self._here.patience_seconds()

    # --- beginning -------------------------------------------------------------------------------------

    def begin(self, now: float) -> None:
        """Open the first step."""
        self._open(now)

    def trust(self, entries: Sequence[Entry]) -> None:
        """Entries from our own journal: they were judged before they were written there."""
        self._court.trust(entries)

    def keep(self, certificate: Certificate, now: float) -> None:
        """A certificate from our own journal: a lock of ours stands on it, or a step was decided by it."""
        if certificate.kind is Kind.PREVOTE:
            self._kept.append(certificate)
        else:
            self.take_certificate(certificate, now)

    def convicted(self, seat: int, data: bytes, now: float) -> None:
        """Evidence from our own journal."""
        self._court.convicted(seat, data, now)

    def begin_doubt(self, *, recorded: bool) -> None:
        """The journal may lack what this seat has signed (``recorded``: it says so itself)."""
        self._here.doubt = Doubt()
        if not recorded:
            self._here.do(Record(data=write_doubt(True), must_sync=True))

    def settle_doubt(self, now: float) -> bool:
        """Sign and vote again, if all that this seat may have said is known.  Whether that is new."""
        ends = self._here.doubt is not None and self._here.doubt.told and not self.unheard
        if ends:
            self._here.doubt = None
            self._here.do(Record(data=write_doubt(False), must_sync=False))
            self.opened_at = now
            self.tail.go_live(now)
        return ends

    def go_live(self, now: float) -> None:
        """Everything that the journal knew has been given: begin to sign, unless the journal is in doubt."""
        self._here.live = True
        for vote in self.voice.votes if self.voice is not None else ():
            self.shelf.add_vote(vote)  # others may have missed it
        if not self.doubtful:
            self.tail.go_live(now)
        self._begin_step(now)
        if self._here.halted:
            self._court.tell_halted()
        self._assurance.resume()
        if self.voice is not None and self.voice.abandoned is not None:
            self.notes.take(self.voice.abandoned)
        self.advance(now)

    # --- what arrives ----------------------------------------------------------------------------------

    def take_entry(self, entry: Entry, now: float) -> bool:
        """A step entry whose signature holds.  Whether it was new and is kept."""
        if entry.step < self.ledger.final:
            known = self.ledger.entry_at(entry.step, entry.seat)
            if known is not None and known.key == entry.key and known.id != entry.id:
                self._court.expose(known, entry, now)
            return False
        if entry.id in self.shelf or not (self._is_wanted(entry) or self._here.has_room(entry)):
            return False
        if self.voice is not None and entry.seat == self.me:
            self.voice.remember(entry, durable=False)
        rival = self.shelf.add(entry)
        self._court.late(entry)
        if rival is not None:
            self._court.expose(rival, entry, now)
        return True

    def take_vote(self, vote: Entry, now: float) -> bool:
        """A vote whose signature holds.  Whether it was new and is kept."""
        if not self._here.asked_about() <= vote.step <= self.course.step + HORIZON or vote.step == AGREEMENT:
            return False
        new, rival = self.shelf.add_vote(vote)
        if not new:
            return False
        if self.voice is not None and vote.seat == self.me:
            self.voice.remember(vote, durable=False)
        if rival is not None:
            self._court.expose(rival, vote, now)
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

    def take_proof(self, first: Entry, second: Entry, now: float) -> bool:
        """Two statements, whose signatures hold, that are said to contradict.  Whether they do and are new."""
        if evidence.contradiction(first, second) is None or first.seat in self.exposed:
            return False
        self._court.expose(first, second, now)
        return True

    def abandon(self) -> None:
        """Record that this seat has waited in vain for as long as was agreed."""
        if self.voice is not None and self.me in self.course.roster and not self._here.quiet:
            self.notes.take(self.voice.abandon(self.course))

    def work_done(self, number: int, result: object, now: float) -> None:
        """A worker's result: None or a fault (judging), a kind and a body (making), or what went wrong."""
        job = self._workshop.finished(number)
        if job is None:
            return
        if isinstance(result, Exception) and not isinstance(result, VerificationError):
            raise result
        if job.entry is not None:
            self._court.judged(job.entry, result if isinstance(result, VerificationError) else None, now)
            theirs = job.entry.kind is Kind.SHUFFLE and job.entry.seat != self.me
            shuffler = job.entry.seat if theirs and result is None else None
        else:
            made: tuple[Kind, Any] = result  # type: ignore[assignment]
            kind, body = made
            shuffler = self.me if kind is Kind.SHUFFLE else None
            if not self._here.halted:
                self._speaker.sign(kind, body)
        if shuffler is not None:
            self._herald.shuffle_verified(shuffler, now - job.began)

    def tick(self, now: float) -> None:
        """Let the timers that are over expire."""
        self.tail.tick(now)

    # --- what others should see ------------------------------------------------------------------------

    def take_contradictions(self) -> list[tuple[Entry, Entry]]:
        """Pairs of statements, new to us, that everybody should see."""
        return self._court.take_contradictions()

    def take_certificates(self) -> list[Certificate]:
        """Certificates that somebody asks for by voting still."""
        found, self._asked_for = self._asked_for, []
        return found

    # --- moving on -------------------------------------------------------------------------------------

    def advance(self, now: float) -> None:
        """Do everything that the state now allows."""
        while (
            self._drain(now)
            or self._finish_decision(now)
            or (not self.wanting and self._compare(now))
            or self._forks.contest(now)
            or self._speaker.speak(now, wanting=self.wanting)
            or self.tail.asks
        ):
            pass
        self._assurance.look()

    def _compare(self, now: float) -> bool:
        """Look at what has arrived, and where others stand.  Whether there was anything to do."""
        return self._court.offer(now) or self._court.offer_late(now) or self._forks.adopt(now)

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
                    self._here.do(Record(data=write_kept(certificate), must_sync=True))
                case Cast() if self.voice is not None and not self._here.halted:
                    self._write_held(effect.slot.step)
                    vote = self.voice.cast(effect)
                    self.shelf.add_vote(vote)
                    self._vote(vote, now)
                case Tell(certificate=certificate):
                    self._asked_for.append(certificate)
                case Accused():
                    self._court.expose(effect.first, effect.second, now)
        return bool(effects)

    def _write_held(self, step: int) -> None:
        """A vote says what its voter holds, so that has to survive a restart as the vote does."""
        for entry in self.shelf.of_step(step):
            if self._court.has_taken(entry) and entry.id not in self._written:
                self._written.add(entry.id)
                self._here.do(Record(data=write_held(entry), must_sync=False))

    def _close(self, slot: Slot, closing: Closing, now: float) -> None:
        """Close a step in this way, going back to it first if it was closed otherwise."""
        if slot.step < self.course.step:
            undone = self.ledger.go_back(slot.step)
            self._court.went_back(slot.step)
            self._here.tell(events.EpochBegan(epoch=self.course.epoch, step=slot.step, undone=len(undone)))
        entries = {seat: self.shelf.get(entry) if entry != ABSENT else None for seat, entry in closing}
        self._court.step_closed()
        banned = self.course.banned
        closed, facts = self.ledger.close(entries)
        self._workshop.clear()
        if self._here.live:
            self._here.do(Record(data=write_closed(closed), must_sync=False))
        self._here.tell(
            events.StepClosed(step=closed.step, epoch=closed.epoch, head=closed.head, final=False)
        )
        if closed.step == 0:
            self._here.tell(events.TableAgreed(table=self.agreement.table, words=words(closed.head)))
        for fact in facts:
            if not isinstance(fact, events.GameOver):  # told when it is final
                self._here.tell(fact)
        self._herald.look()
        self._open(now)
        for seat in sorted(self.course.banned - banned):
            self._court.banned(seat, closed, now)

    def _finish_decision(self, now: float) -> bool:
        """Carry out the oldest decision, once all that it closes with is here."""
        step = min(self._undecided, default=None)
        if step is None:
            return False
        decided = self._undecided[step]
        if step > self.course.step:
            return False
        if decided.slot == self._here.slot_at(step):
            closing = decided.closing
            closed = self.ledger.closed[step] if step < self.course.step else None
            if closed is None or _closing_of(closed) != closing:
                if any(entry != ABSENT and entry not in self.shelf for _, entry in closing):
                    return False
                self._close(decided.slot, closing, now)
            self.ledger.certificates[step] = decided.certificate
            if self._here.live:
                self._here.do(Record(data=write_kept(decided.certificate), must_sync=False))
            self._settle(step)
        # Otherwise an earlier step was decided otherwise, and this decision is about a log that is void.
        del self._undecided[step]
        return True

    def _settle(self, step: int) -> None:
        """This step and all before it are final."""
        for closed in self.ledger.settle(step):
            if self._here.over:
                break  # what follows the last result is there to make it final, and is not published
            self._here.do(Publish(data=closed.encode()))
            if self.ledger.stage_of(closed.step) is not Stage.RESULT:
                continue
            if self.voice is not None:
                for hand in self.voice.own.wipe_before(closed.step):
                    self._here.do(WipeSecret(hand=hand))
            need = self.course.game.need
            if isinstance(need, Over):
                self._here.over = True
                self._here.tell(events.GameOver(scores=need.scores, winners=need.winners, head=closed.head))
        final = self.ledger.final
        self.shelf.forget_before(final, votes=self._here.asked_about())
        if self.voice is not None:
            self.voice.forget_before(final)
        self._court.forget_before(final)
        self._kept = [kept for kept in self._kept if kept.votes[0].step >= final]
        self._written = {entry for entry in self._written if entry in self.shelf}

    def _open(self, now: float) -> None:
        """Begin the step that the course now owes."""
        due, slot = self.course.due, self._here.slot()
        self._court.step_opened(due.step)
        self.notes.step_opened()
        self.tail.me = self.me if self.me in self.course.roster else None
        self.tail.open(
            slot,
            keys=self.course.keys,
            owed=due.seats,
            times=Times(
                patience_seconds=self._here.patience_seconds(),
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
        self._begin_step(now)

    def _begin_step(self, now: float) -> None:
        """The open step may be answered from now on."""
        self.opened_at = now
        if self._here.live:
            if self.voice is not None:
                self.voice.step_opened(self.course, now)
            self._herald.step_opened(now)

    def _is_wanted(self, entry: Entry) -> bool:
        """Whether a decision that is known closes its step with this very entry."""
        decided = self._undecided.get(entry.step)
        return decided is not None and (entry.seat, entry.id) in decided.closing

    def _vote(self, vote: Entry, now: float) -> None:
        try:
            self.tail.received(vote, now)
        except RemoteProtocolError:
            return  # it counts for nothing; whoever relayed it may not have known


def _closing_of(closed: ClosedStep) -> Closing:
    return tuple((seat, entry.id if entry else ABSENT) for seat, entry in closed.contributions)
