"""The decision about one step: who is absent, when somebody is silent.

Threat.  Seats are slow, crash, lie, and an arbiter is a player: it may keep silent, leave out a call it dislikes,
or say different things to different friends.  The answer is the two-phase vote of Tendermint (Buchman, Kwon,
Milosevic, "The latest gossip on BFT consensus", 2018) in which the *fast path*, everything owed having
arrived, plays the part of round 0.  `scripts/model` holds the same rules as a Promela model under the same names.

Round 0 has no messages of its own.  A seat that holds all that is owed closes the step tentatively
(``fast_close``), and the entries it signs from then on stand on that close: they are its prevotes of round 0.
When entries of a quorum stand on a close it is *prepared*: a seat that sees this is locked on it, in round 0.
An entry that stands on a prepared close is a precommit of round 0; when a quorum has signed such entries the
close is *confirmed*.  (:mod:`protocol.tail` does this counting.)  From round 1 on the arbiter of each round
proposes, all prevote, and who sees a quorum of prevotes locks and precommits; a quorum of precommits decides.

==========  =============================  ===========  ===================================================
phase       event                          next phase   what is done
==========  =============================  ===========  ===================================================
gathering   the last owed entry is held    closed       ``Closed``; a voting seat stays voting
gathering   own timer expires, or all      same         ``Cast`` a ROUND_CHANGE: ask for round 1
            that is missing is exposed
closed      a second entry of one seat,    same         that seat is exposed; ask for round 1
            or another seat asks
any         f+1 others ask for a later     same         ask for it too
            round
voting      the round's timer expires      voting       ask for the next round
any         a quorum asks for a later      voting       that round begins, with twice the time of the one before
            round
voting      own turn to lead               voting       ``Cast`` a PROPOSAL
voting      an acceptable proposal         voting       ``Cast`` a PREVOTE
voting      a prevote certificate of this  voting       locked: ``Keep`` it, ``Cast`` a PRECOMMIT
            round
closed      an entry of another seat       voting       round 1 begins
            stands on another closing
gathering,  entries of a quorum stand on   closed       ``Closed``, that way
closed      another closing
any         a precommit certificate        decided      ``Decided``
any         entries of a quorum stand on   confirmed    nothing: the close was right
            the prepared close
confirmed   another is in a round          confirmed    it is helped: as voting, but for this closing only
decided     another is in a later round    decided      ``Tell`` the certificate
==========  =============================  ===========  ===================================================

What a seat may propose, prevote for and stand on is in :mod:`protocol.stance`.

A round begins when a quorum has asked for it, and not before: so no round is skipped, a minority that is cut off does not run
ahead while it waits, and all who hear each other are in the same round.  Whoever has voted in a round has asked for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from protocol.arbiter_effects import Accused, Cast, Closed, Decided, Effect, Keep, Tell
from protocol.ballot import (
    Certificate,
    Closing,
    Slot,
    Vote,
    precommit_body,
    prevote_body,
    proposal_body,
    read_vote,
    round_change_body,
    verify_certificate,
)
from protocol.entry import MAX_ROUND, Entry, Kind
from protocol.errors import EncodingError, LocalProtocolError, RemoteProtocolError
from protocol.poll import Poll
from protocol.quorum import arbiter_of, liars, quorum
from protocol.stance import Stance

DOUBLINGS: Final = 8
"""Timers double from round to round this many times, then stay."""


class Phase(Enum):
    """Where a decision stands."""

    GATHERING = "gathering"
    CLOSED = "closed"
    VOTING = "voting"
    DECIDED = "decided"
    CONFIRMED = "confirmed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """How long a seat waits: for what is owed, and in round 1 for a decision."""

    patience_seconds: float
    round_seconds: float


class Decision:
    """One seat's part in closing one step.  ``me`` None: a spectator, who casts nothing.

    ``keys``: the seats of the epoch and their public keys.  ``owed``: the seats that owe an entry to the step.
    ``last``: the seats that lead only when all others have (:func:`~protocol.quorum.arbiter_of`).
    ``votes`` and ``kept``: own votes and kept certificates of this slot from the journal, after a restart.
    A paused decision listens but casts nothing and lets no timer run; it is made paused.
    """

    def __init__(
        self,
        slot: Slot,
        *,
        me: int | None,
        keys: Mapping[int, bytes],
        owed: Collection[int],
        times: Times,
        last: Collection[int] = (),
        votes: Iterable[Entry] = (),
        kept: Iterable[Certificate] = (),
    ) -> None:
        if not owed:
            raise LocalProtocolError(f"step {slot.step}: nobody owes it an entry")
        if me is not None and me not in keys:
            raise LocalProtocolError(f"step {slot.step}: seat {me} has no seat in epoch {slot.epoch}")
        self.slot = slot
        self.me = me
        self.owed = tuple(sorted(owed))
        self.round = 0
        self.outcome: Closing | None = None
        self.certificate: Certificate | None = None
        self._keys = dict(keys)
        self._quorum = quorum(len(keys))
        self._f = liars(len(keys))
        self._last = tuple(last)
        self._times = times
        self._stance = Stance(self.owed)
        self._poll = Poll(quorum=self._quorum)
        self._paused = True
        self._patience_ends = 0.0
        self._round_ends = 0.0
        self._effects: list[Effect] = []
        for certificate in kept:
            self._poll.take_certificate(certificate)
        for entry in votes:
            self._restore(read_vote(entry))

    # --- reads -----------------------------------------------------------------------------------------

    @property
    def phase(self) -> Phase:
        if self.outcome is not None:
            return Phase.DECIDED
        if self._stance.confirmed:
            return Phase.CONFIRMED
        if self.round:
            return Phase.VOTING
        return Phase.GATHERING if self.tentative is None else Phase.CLOSED

    @property
    def final(self) -> bool:
        return self.outcome is not None or self._stance.confirmed

    @property
    def tentative(self) -> Closing | None:
        """How this seat has closed the step so far, on its own."""
        return self._stance.tentative

    @property
    def closing(self) -> Closing | None:
        """How the step is closed: for good, or so far tentatively; None while it is open."""
        return self.outcome if self.outcome is not None else self.tentative

    @property
    def may_stand(self) -> bool:
        """Whether this seat may sign what stands on its present closing of the step."""
        return self.final or self._stance.may_stand

    @property
    def voters(self) -> tuple[int, ...]:
        """The seats of the epoch."""
        return tuple(self._keys)

    @property
    def missing(self) -> tuple[int, ...]:
        """The seats that owe an entry of which none is held (none that counts: see ``expose``)."""
        return self._stance.missing

    @property
    def leader(self) -> int | None:
        """The arbiter of the present round; None in round 0."""
        return self._leader(self.round) if self.round else None

    @property
    def lock(self) -> tuple[int, Closing] | None:
        """(round, closing) that this seat is locked on."""
        return self._stance.lock

    @property
    def deadline(self) -> float | None:
        """When to call ``tick``; None if no timer runs."""
        if self._paused or self.outcome is not None:
            return None
        times: list[float] = []
        if self._stance.tentative is None and self._stance.patient:
            times.append(self._patience_ends)
        elif not self.round:
            return None
        if self.round and (self.round + 1, Kind.ROUND_CHANGE) not in self._stance.said:
            times.append(self._round_ends)
        return min(times, default=None)

    def acknowledged(self, seat: int, entry: bytes) -> frozenset[int]:
        """The seats whose votes here say that they hold this response, and will not help to omit it (:meth:`Poll.holders`)."""
        return self._poll.holders(seat, entry)

    def votes(self) -> tuple[Entry, ...]:
        """What to give to a neighbour that may have missed it: once decided the certificate, until then all that counts."""
        if self.certificate is not None:
            return self.certificate.votes
        return self._poll.entries()

    # --- inputs ----------------------------------------------------------------------------------------

    def entry_held(self, seat: int, entry: bytes, now: float) -> None:
        """A valid entry that ``seat`` owed is held.  A second one of the same seat exposes it."""
        if seat not in self.owed:
            raise LocalProtocolError(f"step {self.slot.step}: seat {seat} owes it nothing")
        if self._stance.hold(seat, entry):
            self._advance(now)

    def expose(self, seat: int, now: float) -> None:
        """There is evidence against ``seat``: it is treated as absent, without waiting."""
        if seat not in self._stance.exposed:
            self._stance.exposed.add(seat)
            self._advance(now)

    def received(self, entry: Entry, now: float) -> None:
        """A vote of this slot whose signature holds; own ones included, once they are durable.

        Raises RemoteProtocolError, with nothing changed, for a vote that counts for nothing: unreadable, from a seat of
        another epoch, out of turn, or with a certificate that does not hold.
        """
        if not self.slot.holds(entry):
            raise LocalProtocolError(f"step {self.slot.step}: a vote of another slot was given to it")
        try:
            vote = read_vote(entry)
        except EncodingError as error:
            raise self._refuse("bad_vote", str(error), entry) from None
        if entry.seat not in self._keys:
            raise self._refuse("no_seat", "has no seat in this epoch and no vote", entry)
        if vote.kind is not Kind.ROUND_CHANGE and tuple(seat for seat, _ in vote.closing) != self.owed:
            raise self._refuse("bad_vote", "votes for a closing that is not about the seats which owe", entry)
        if vote.kind is Kind.PROPOSAL and entry.seat != self._leader(vote.round):
            raise self._refuse("out_of_turn", f"is not the arbiter of round {vote.round}", entry)
        if vote.certificate is not None:
            verify_certificate(vote.certificate, self.slot, self._keys, kind=Kind.PREVOTE, owed=self.owed)
        if self.certificate is not None:
            if entry.seat != self.me and vote.round > self.certificate.round:
                self._effects.append(Tell(slot=self.slot, certificate=self.certificate))
            return
        if entry.seat == self.me:
            self._restore(vote)
        else:
            for reason, earlier in self._poll.accusations(vote):
                accused = Accused(seat=vote.seat, reason=reason, first=earlier, second=entry)
                self._effects.append(accused)
            if not self._poll.take(vote, present=self.round):
                return
        if vote.certificate is not None:
            self._poll.take_certificate(vote.certificate)
        self._advance(now)

    def learn(self, certificate: Certificate, now: float) -> None:
        """A certificate from elsewhere, of prevotes or precommits.  Raises VerificationError (F47)."""
        verify_certificate(certificate, self.slot, self._keys, kind=certificate.kind, owed=self.owed)
        if self.outcome is not None:
            return
        if certificate.kind is Kind.PRECOMMIT:
            self._decide(certificate)
        else:
            self._poll.take_certificate(certificate)
            self._advance(now)

    def adopt(self, closing: Closing, now: float) -> bool:
        """Entries of a quorum stand on this closing, whose entries are held: close so, whatever was closed before.

        Another closing cannot be prepared any more, and to stay on it would leave this seat behind.  Refused (False) by
        a seat that is locked on another closing.
        """
        if self.final or closing == self.tentative or self._stance.locked_against(closing):
            return False
        self._stance.tentative = closing
        self._effects.append(Closed(slot=self.slot, closing=closing))
        self._advance(now)
        return True

    def contest(self, now: float) -> None:
        """Somebody stands on another closing of this step: ask, instead of waiting for a timer."""
        if self.tentative is not None and self.round == 0 and not self._paused and not self.final:
            self._ask(1)
            self._advance(now)

    def prepared(self, now: float) -> None:
        """Entries of a quorum stand on the tentative close."""
        if self.tentative is None:
            raise LocalProtocolError(f"step {self.slot.step}: nothing stands on a step that is not closed")
        if self.lock is None and self.may_stand:
            self._stance.lock = (0, self.tentative)
            self._advance(now)

    def confirmed(self) -> None:
        """No other closing can be decided any more.

        Entries of a quorum stand on the prepared close, or a later step is decided.
        """
        if self.tentative is None:
            raise LocalProtocolError(f"step {self.slot.step}: nothing stands on a step that is not closed")
        self._stance.confirmed = True

    def stand_on_outcome(self) -> None:
        """What this seat had closed otherwise is void; what is opened from now on stands on the outcome."""
        self._stance.tentative = self.outcome

    def pause(self) -> None:
        """An earlier step is in question: cast nothing, let no timer run."""
        self._paused = True

    def resume(self, now: float) -> None:
        """Go on; timers that had not expired begin again."""
        if not self._paused:
            return
        self._paused = False
        self._patience_ends = now + self._times.patience_seconds
        self._round_ends = now + self._round_seconds()
        self._advance(now)

    def tick(self, now: float) -> None:
        """Let the timers that are over expire."""
        if self._paused or self.outcome is not None:
            return
        if self._stance.patient and self.tentative is None and now >= self._patience_ends:
            self._stance.patient = False
            if self.round == 0:
                self._ask(1)
        if self.round and now >= self._round_ends:
            self._ask(self.round + 1)
        self._advance(now)

    def take_effects(self) -> list[Effect]:
        """What is to be done, in order."""
        effects, self._effects = self._effects, []
        return effects

    # --- the machine -----------------------------------------------------------------------------------

    def _advance(self, now: float) -> None:
        """Do everything that the state now calls for."""
        if self.outcome is not None:
            return
        self._close_fast()
        certificate = self._poll.decision()
        if certificate is not None:
            self._decide(certificate)
            return
        if self._paused:
            return
        self._follow(now)
        if self.round and self.me is not None:
            self._lead()
            self._prevote()
            self._precommit()

    def _close_fast(self) -> None:
        if self.tentative is None and not self.missing:
            self._stance.tentative = self._stance.holding
            self._effects.append(Closed(slot=self.slot, closing=self._stance.holding))

    def _lead(self) -> None:
        if self._leader(self.round) != self.me or (self.round, Kind.PROPOSAL) in self._stance.said:
            return
        proposed = self._stance.to_propose(self.round, self._poll)
        if proposed is not None:
            self._cast(Kind.PROPOSAL, proposed[0], proposal_body(*proposed))

    def _prevote(self) -> None:
        if (self.round, Kind.PREVOTE) in self._stance.said:
            return
        for vote in self._poll.proposals(self.round, self._leader(self.round)):
            justified = self._stance.justification(vote, self._poll, self.round)
            if justified is not None:
                body = prevote_body(vote.closing, self._stance.holding, self._stance.exposed, justified)
                self._cast(Kind.PREVOTE, vote.closing, body)
                return

    def _precommit(self) -> None:
        if (self.round, Kind.PRECOMMIT) in self._stance.said:
            return
        certificate = self._poll.certificate_of(self.round)
        if certificate is None or self._stance.bars(certificate.closing):
            return
        self._stance.lock = (self.round, certificate.closing)
        self._effects.append(Keep(slot=self.slot, certificate=certificate))
        body = precommit_body(certificate.closing, self._stance.holding)
        self._cast(Kind.PRECOMMIT, certificate.closing, body)

    def _decide(self, certificate: Certificate) -> None:
        self.outcome = certificate.closing
        self.certificate = certificate
        self._effects.append(Decided(slot=self.slot, closing=certificate.closing, certificate=certificate))

    def _cast(self, kind: Kind, closing: Closing, body: list[Any]) -> None:
        self._stance.said[self.round, kind] = closing
        self._effects.append(Cast(slot=self.slot, kind=kind, round=self.round, body=body))

    def _ask(self, round: int) -> None:
        """Ask for a round, unless this seat has done so or asks nothing of anybody."""
        if self.me is None or (round, Kind.ROUND_CHANGE) in self._stance.said or round >= MAX_ROUND:
            return
        self._stance.said[round, Kind.ROUND_CHANGE] = ()
        body = round_change_body(self._stance.holding)
        self._effects.append(Cast(slot=self.slot, kind=Kind.ROUND_CHANGE, round=round, body=body))

    # --- rounds ----------------------------------------------------------------------------------------

    def _leader(self, round: int) -> int:
        return arbiter_of(self.slot.step, round, tuple(self._keys), self._last)

    def _enter(self, round: int, now: float) -> None:
        self.round = round
        self._round_ends = now + self._round_seconds()
        self._poll.forget_before(round)

    def _round_seconds(self) -> float:
        return self._times.round_seconds * 2.0 ** min(max(self.round - 1, 0), DOUBLINGS)

    def _follow(self, now: float) -> None:
        """Ask for a round because of what others did, and begin the one that a quorum has asked for."""
        others = self._poll.asked_by(self._f + 1, but=self.me)
        if others > self.round:
            self._ask(others)
        if self.round == 0:
            somebody_asks = self.tentative is not None and self._poll.asked_by(1, but=self.me) > 0
            missing = self.missing if self.tentative is None else ()
            only_liars_miss = bool(missing) and self._stance.exposed.issuperset(missing)
            if somebody_asks or self._stance.equivocated or only_liars_miss:
                self._ask(1)
        asked = self._poll.asked_by(self._quorum)
        if asked > self.round:
            self._enter(asked, now)

    # --- helpers ---------------------------------------------------------------------------------------

    def _restore(self, vote: Vote) -> None:
        """An own vote: from the journal, or back from its signing."""
        self._stance.said[vote.round, vote.kind] = vote.closing
        self.round = max(self.round, vote.round - (vote.kind is Kind.ROUND_CHANGE))
        self._poll.take(vote, present=self.round)
        if vote.kind is Kind.PRECOMMIT and (self._stance.lock is None or vote.round >= self._stance.lock[0]):
            self._stance.lock = (vote.round, vote.closing)

    def _refuse(self, reason: str, message: str, entry: Entry) -> RemoteProtocolError:
        return RemoteProtocolError(
            reason,
            f"{message}; the vote ({entry.kind.name}, round {entry.round}) is ignored",
            seat=entry.seat,
            step=self.slot.step,
        )
