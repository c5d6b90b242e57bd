"""The unconfirmed end of the log: a few steps that are closed but might still be closed otherwise.

Threat.  A step that closes at once, because all that is owed is there, races the decision of those who have not
seen the last entry yet.  The tail keeps every step from the first that could still be overridden to the one that is
open, each with its :class:`~protocol.arbiter.Decision`, and counts what stands on each:

* An entry of step m stands on every step before m.  When entries of a quorum stand on a step it is *prepared*.
* An entry of step m is *second* on step j if the steps j+1..m-1, which it acknowledges through ``prev``, contain entries of a
  quorum: its author knew that j was prepared.  When a quorum has signed second entries on j it is *confirmed*, and
  so is all before it.  Both can be read off the log, by anybody, without further messages.

Only step entries count, not votes: everybody ends up with the same entries, so nobody is left behind with a step which the
others have confirmed and forgotten.

==========================  ==================================================================================
event                       what is done
==========================  ==================================================================================
open                        the step after the last is added; it has to be closed
entry_held                  told to the decision, and counted for the steps before
a decision ends as the      the step and all before it leave the tail; the steps after it stay
tentative close stands
a decision ends otherwise   the step, all before it and all after it leave: the caller goes back to its state after the
                            step, with the decided closing; if that marks anybody absent a new epoch begins
a step is confirmed         it and all before it leave the tail
a step is being voted on    later decisions are paused: the oldest question first
==========================  ==================================================================================

Nothing is cast before :meth:`Tail.go_live`: while a journal is replayed, what is known is not yet all that was known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from protocol.arbiter import Cast, Decision, Effect, Phase, Times
from protocol.ballot import ABSENT, Certificate, Closing, Slot
from protocol.entry import Entry
from protocol.errors import LocalProtocolError
from protocol.quorum import quorum


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """No decision can change this step or any before it any more."""

    slot: Slot
    closing: Closing


@dataclass(slots=True, kw_only=True)
class _Step:
    decision: Decision
    quorum: int
    standing: set[int] = field(default_factory=set)
    second: set[int] = field(default_factory=set)
    authors: set[int] = field(default_factory=set)


class Tail:
    """The steps from the first that is not confirmed to the open one.  ``me`` None: a spectator."""

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
        return next((step.decision for step in self._steps if step.decision.slot == slot), None)

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
    ) -> None:
        """Begin the step after the last.

        Of ``votes`` (own ones) and ``kept``, both from the journal, those of this slot are taken.  The other arguments are
        :class:`~protocol.arbiter.Decision`'s.
        """
        if self._steps:
            before = self._steps[-1].decision
            if before.closing is None or slot.step != before.slot.step + 1:
                raise LocalProtocolError(
                    f"step {slot.step} cannot be opened: step {before.slot.step} is the last and "
                    + ("is open" if before.closing is None else "is followed by another")
                )
        decision = Decision(
            slot,
            me=self.me,
            keys=keys,
            owed=owed,
            times=times,
            last=last,
            votes=[vote for vote in votes if slot.holds(vote)],
            kept=[certificate for certificate in kept if slot.holds(certificate.votes[0])],
        )
        self._steps.append(_Step(decision=decision, quorum=quorum(len(keys))))
        for seat in self._exposed.intersection(owed):
            decision.expose(seat, now)
        self._settle(now)

    def entry_held(self, step: int, seat: int, entry: bytes, now: float) -> None:
        """A valid entry of a step in the tail, on our branch (its ``prev`` is our head), is held."""
        at = self._index(step)
        if at is None:
            raise LocalProtocolError(f"step {step} is not in the tail")
        self._steps[at].decision.entry_held(seat, entry, now)
        between: set[int] = set()
        for below in reversed(self._steps[:at]):
            below.standing.add(seat)
            if len(between) >= below.quorum:
                below.second.add(seat)
            between |= below.authors
        self._settle(now)

    def expose(self, seat: int, now: float) -> None:
        """There is evidence against ``seat``: in this step and later ones it is treated as absent."""
        self._exposed.add(seat)
        for step in self._steps:
            if seat in step.decision.owed:
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
        for step in list(self._steps):
            step.decision.tick(now)
        self._settle(now)

    def take_effects(self) -> list[Effect | Confirmed]:
        """What is to be done, in order."""
        effects, self._effects = self._effects, []
        return effects

    # --- helpers ---------------------------------------------------------------------------------------

    def _settle(self, now: float) -> None:
        """Count, drop what is final, pause what has to wait, and collect effects; until nothing changes."""
        while True:
            self._count(now)
            self._collect()
            in_question = False
            for step in self._steps:
                if in_question or not self._live:
                    step.decision.pause()
                else:
                    step.decision.resume(now)
                in_question = in_question or step.decision.phase is Phase.VOTING
            if not self._collect():
                return

    def _count(self, now: float) -> None:
        for step in self._steps:
            closing = step.decision.closing
            if closing is not None and not step.authors:
                step.authors = {seat for seat, entry in closing if entry != ABSENT}
        for step in self._steps:
            if step.decision.tentative is not None and len(step.standing) >= step.quorum:
                step.decision.prepared(now)
        confirmed = [number for number, step in enumerate(self._steps) if len(step.second) >= step.quorum]
        if confirmed:
            last = self._steps[confirmed[-1]].decision
            assert last.tentative is not None, "entries of later steps are held only once a step is closed"
            self._effects.append(Confirmed(slot=last.slot, closing=last.tentative))
            del self._steps[: confirmed[-1] + 1]

    def _collect(self) -> bool:
        """Take the effects of all decisions; a decided step leaves with what it makes final or void."""
        found = False
        for number, step in enumerate(self._steps):
            effects = step.decision.take_effects()
            self._effects += effects
            found = found or bool(effects)
            if step.decision.outcome is None:
                continue
            keep = step.decision.outcome == step.decision.tentative
            void = [] if keep else self._steps[number + 1 :]
            slots = [later.decision.slot for later in void]
            self._effects = [
                effect for effect in self._effects if not (isinstance(effect, Cast) and effect.slot in slots)
            ]
            self._steps = self._steps[number + 1 :] if keep else []
            return True
        return found

    def _index(self, step: int) -> int | None:
        return next(
            (number for number, item in enumerate(self._steps) if item.decision.slot.step == step), None
        )
