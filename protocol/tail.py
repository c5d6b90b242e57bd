"""The unconfirmed end of the log: a few steps that are closed but might still be closed otherwise.

Threat.  A step that closes at once, because all that is owed is there, races the decision of those who have not
seen the last entry yet; and a seat that signs two entries for one step can make honest seats close it differently.  The
tail keeps every step from the first that could still be overridden to the one that is open, each with its
:class:`~protocol.arbiter.Decision`, and counts what stands on each:

* An entry of step m stands on every step before m.  When entries of a quorum stand on a step it is *prepared*.
* An entry of step m is *second* on step j if the steps j+1..m-1, which it acknowledges through ``prev``, contain entries of a
  quorum: its author knew that j was prepared.  When a quorum has signed second entries on j it is *confirmed*, and
  so is all before it.  Both can be read off the log, by anybody, without further messages.
* Votes about step m stand on the steps before it too.  They are not counted (everybody ends up with the same entries, but
  not with the same votes), but they bind: who precommits in step m holds the prevotes of a quorum, so each step before is
  prepared, and locked.  A decision about step m therefore makes all before it final.

A step that is final stays until every seat of its epoch has signed a second entry on it: until then somebody may still ask,
having closed it otherwise or voted for an absence, and needs votes for what the others know to be final.  That all stand on it
is not enough: a seat that stands on it may yet be drawn into a round, and be the only one there.

==============================  ================================================================================
event                           what is done
==============================  ================================================================================
open                            the step after the last is added; that one has to be closed
entry_held                      told to the decision, and counted for the steps before
a step is confirmed             ``Confirmed``; it and all before it are final
a step is decided as it stands  ``Decided``; it and all before it are final, the steps after it stay
a step is decided otherwise     ``Decided``; it and all before it are final, all after it are void: the caller goes
                                back to its state after the step, with the decided closing, and if that marks
                                anybody absent a new epoch begins
a step is being voted on        decisions about later steps are paused: the oldest question first
entries of a quorum stand on    ``Closed``, that way; all after it are void
another closing (adopt)
every seat has signed a second  it leaves the tail
entry on a final step
==============================  ================================================================================

Nothing is cast before :meth:`Tail.go_live`: while a journal is replayed, what is known is not yet all that was known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from protocol.arbiter import Decision, Phase, Times
from protocol.arbiter_effects import Cast, Effect
from protocol.ballot import ABSENT, Certificate, Closing, Slot
from protocol.entry import Entry
from protocol.errors import LocalProtocolError
from protocol.quorum import quorum

MAX_FINAL: Final = 128
"""Final steps that are kept for those who might ask; a seat further behind has to be given the log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """No decision can change this step or any before it any more."""

    slot: Slot
    closing: Closing


@dataclass(slots=True, kw_only=True)
class _Step:
    decision: Decision
    seats: frozenset[int]
    quorum: int
    whole: bool = False
    """Nobody can be absent from this step."""
    standing: set[int] = field(default_factory=set)
    second: set[int] = field(default_factory=set)
    _closing: Closing | None = None
    _authors: frozenset[int] = frozenset()

    @property
    def authors(self) -> frozenset[int]:
        closing = self.decision.closing
        if closing is not self._closing:
            self._closing = closing
            self._authors = frozenset(seat for seat, entry in closing or () if entry != ABSENT)
        return self._authors


class Tail:
    """The steps from the first that somebody may still ask about to the open one.  ``me`` None: a spectator."""

    def __init__(self, *, me: int | None) -> None:
        self.me = me
        self._steps: list[_Step] = []
        self._exposed: set[int] = set()
        self._effects: list[Effect | Confirmed] = []
        self._live = False

    # --- reads -----------------------------------------------------------------------------------------

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Of the steps in the tail, by rising step."""
        return tuple(step.decision for step in self._steps)

    @property
    def asks(self) -> bool:
        """Whether there is anything to take (:meth:`take_effects`)."""
        return bool(self._effects)

    @property
    def may_sign(self) -> bool:
        """Whether this seat may sign an entry of the open step: it stands by every close below it."""
        return all(step.decision.may_stand for step in self._steps[:-1])

    @property
    def deadline(self) -> float | None:
        """When to call ``tick``; None if no timer runs."""
        times = [step.decision.deadline for step in self._steps]
        return min((time for time in times if time is not None), default=None)

    def decision(self, slot: Slot) -> Decision | None:
        """The decision about this slot, if it is in the tail."""
        step = self._of(slot)
        return None if step is None else step.decision

    def acknowledged(self, slot: Slot, seat: int, entry: bytes) -> frozenset[int]:
        """The other seats that have said, by a vote or by an entry that stands on it, that they hold this response."""
        step = self._of(slot)
        if step is None:
            return frozenset()
        voted = step.decision.acknowledged(seat, entry)
        stand = step.standing if (seat, entry) in (step.decision.closing or ()) else set[int]()
        return (voted | stand) - {seat}

    def votes(self) -> tuple[Entry, ...]:
        """The votes to give to a neighbour that may have missed some (when a link comes up)."""
        return tuple(entry for step in self._steps for entry in step.decision.votes())

    # --- inputs ----------------------------------------------------------------------------------------

    def open(
        self,
        slot: Slot,
        *,
        keys: Mapping[int, bytes],
        owed: Collection[int],
        times: Times,
        now: float,
        last: Collection[int] = (),
        votes: Iterable[Entry] = (),
        kept: Iterable[Certificate] = (),
        whole: bool = False,
    ) -> None:
        """Begin the step after the last.  ``whole``: nobody can be absent from it, not even a seat that is exposed.

        Of ``votes`` (own ones) and ``kept``, both from the journal, those of this slot are taken.  The other arguments are
        :class:`~protocol.arbiter.Decision`'s.
        """
        if self._steps:
            before = self._steps[-1].decision
            if before.closing is None or slot.step != before.slot.step + 1:
                raise LocalProtocolError(
                    f"step {slot.step} cannot be opened: step {before.slot.step} is the last and is "
                    + ("open" if before.closing is None else "followed by another")
                )
        decision = Decision(
            slot,
            me=self.me if self.me in keys else None,
            keys=keys,
            owed=owed,
            times=times,
            last=last,
            votes=[vote for vote in votes if slot.holds(vote)],
            kept=[certificate for certificate in kept if slot.holds(certificate.votes[0])],
        )
        self._steps.append(
            _Step(decision=decision, seats=frozenset(keys), quorum=quorum(len(keys)), whole=whole)
        )
        for seat in self._exposed.intersection(() if whole else owed):
            decision.expose(seat, now)
        self._settle(now)

    def entry_held(self, step: int, seat: int, entry: bytes, now: float) -> None:
        """A valid entry of a step in the tail, on our branch (its ``prev`` is our head), is held."""
        at = self._index(step)
        self._steps[at].decision.entry_held(seat, entry, now)
        between: set[int] = set()
        for below in reversed(self._steps[:at]):
            below.standing.add(seat)
            if len(between) >= below.quorum:
                below.second.add(seat)
            between |= below.authors
        self._settle(now)

    def adopt(self, step: int, closing: Closing, now: float) -> bool:
        """Entries of a quorum stand on this closing of a step in the tail: close it so; later steps leave the tail.

        False if this seat is locked on another closing.
        """
        at = self._index(step)
        changed = self._steps[at]
        if not changed.decision.adopt(closing, now):
            return False
        del self._steps[at + 1 :]
        changed.standing.clear()
        changed.second.clear()
        self._settle(now)
        return True

    def contest(self, step: int, now: float) -> None:
        """An entry stands on another closing of this step than ours."""
        self._steps[self._index(step)].decision.contest(now)
        self._settle(now)

    def expose(self, seat: int, now: float) -> None:
        """There is evidence against ``seat``: in this step and later ones it is treated as absent."""
        self._exposed.add(seat)
        for step in self._steps:
            if seat in step.decision.owed and not step.whole:
                step.decision.expose(seat, now)
        self._settle(now)

    def received(self, entry: Entry, now: float) -> bool:
        """A vote whose signature holds.  False if it is of no step in the tail.  Raises as Decision.received."""
        for step in self._steps:
            if step.decision.slot.holds(entry):
                step.decision.received(entry, now)
                self._settle(now)
                return True
        return False

    def learn(self, certificate: Certificate, now: float) -> bool:
        """A certificate from elsewhere.  False if it is of no step in the tail.  Raises as Decision.learn."""
        for step in self._steps:
            if step.decision.slot.holds(certificate.votes[0]):
                step.decision.learn(certificate, now)
                self._settle(now)
                return True
        return False

    def go_live(self, now: float) -> None:
        """The journal is replayed: begin to vote, and let timers run."""
        self._live = True
        self._settle(now)

    def tick(self, now: float) -> None:
        """Let the timers that are over expire."""
        for step in self._steps:
            step.decision.tick(now)
        self._settle(now)

    def take_effects(self) -> list[Effect | Confirmed]:
        """What is to be done, in order."""
        effects, self._effects = self._effects, []
        return effects

    # --- helpers ---------------------------------------------------------------------------------------

    def _settle(self, now: float) -> None:
        """Until nothing changes: take effects in, lock, confirm, pause what has to wait."""
        while True:
            self._collect()
            self._lock(now)
            self._confirm()
            in_question = False
            for step in self._steps:
                decision = step.decision
                if in_question or not self._live:
                    decision.pause()
                else:
                    decision.resume(now)
                in_question = in_question or (decision.round > 0 and decision.phase is Phase.VOTING)
            if not self._collect():
                break
        final = [step for step in self._steps if step.decision.final]
        for number, step in enumerate(final):
            if step.second >= step.seats or number < len(final) - MAX_FINAL:
                self._steps.remove(step)

    def _collect(self) -> bool:
        """Take the effects of all decisions; what a decided step makes final is told so, what it makes void is dropped."""
        found = False
        for number, step in enumerate(self._steps):
            effects = step.decision.take_effects()
            if effects:
                self._effects += effects
                found = True
            outcome = step.decision.outcome
            if outcome is None:
                continue
            for earlier in self._steps[:number]:
                if not earlier.decision.final:
                    earlier.decision.confirmed()
            if step.decision.tentative not in (None, outcome):
                step.decision.stand_on_outcome()
                step.standing.clear()
                step.second.clear()
                void = {later.decision.slot for later in self._steps[number + 1 :]}
                if void:
                    del self._steps[number + 1 :]
                    self._effects = [
                        effect
                        for effect in self._effects
                        if not (isinstance(effect, Cast) and effect.slot in void)
                    ]
                    return True
        return found

    def _lock(self, now: float) -> None:
        """Tell each decision whose close is prepared."""
        prepared = False
        for step in reversed(self._steps):
            decision = step.decision
            if decision.lock is None:
                if (prepared or len(step.standing) >= step.quorum) and decision.tentative is not None:
                    decision.prepared(now)
                prepared = prepared or decision.lock is not None
            else:
                prepared = True

    def _confirm(self) -> None:
        """Tell each decision whose close is confirmed."""
        confirmed: _Step | None = None
        for step in self._steps:
            if len(step.second) >= step.quorum and not step.decision.final:
                confirmed = step
        if confirmed is None:
            return
        for step in self._steps:
            if not step.decision.final:
                step.decision.confirmed()
            if step is confirmed:
                break
        closing = confirmed.decision.closing
        assert closing is not None, "entries of later steps are held only once a step is closed"
        self._effects.append(Confirmed(slot=confirmed.decision.slot, closing=closing))

    def _of(self, slot: Slot) -> _Step | None:
        """The step of this slot; it is asked for the late ones most."""
        for step in reversed(self._steps):
            known = step.decision.slot
            if known is slot or (known.step == slot.step and known == slot):
                return step
        return None

    def _index(self, step: int) -> int:
        for number, item in enumerate(self._steps):
            if item.decision.slot.step == step:
                return number
        raise LocalProtocolError(f"step {step} is not in the tail")
