"""Saying what this seat owes to the open step, when nothing forbids it.

Threat.  What is signed once cannot be signed otherwise.  So nothing is said

* while the journal is being read, or may lack what was said before (:mod:`protocol.doubt`);
* once there is evidence against this seat: its key is in two hands;
* on a close that this seat has voted against (:attr:`~protocol.arbiter.Decision.may_stand`), or while a decision is known that
  this peer cannot carry out yet (``wanting``);
* when the secret of the hand is lost: the seat sits out.

:class:`~protocol.voice.Voice` makes each entry once, and :mod:`protocol.own` its body.
"""

from __future__ import annotations

from typing import Any

from protocol import events
from protocol.assurance import Assurance
from protocol.entry import Entry, Kind
from protocol.holdings import Holdings
from protocol.notes import Notes
from protocol.own import SecretLost
from protocol.position import Stage
from protocol.workshop import Workshop


class Speaker:
    """Speaks for the seat of :class:`Holdings`; for a spectator, never."""

    def __init__(self, holdings: Holdings, workshop: Workshop, notes: Notes, assurance: Assurance) -> None:
        self._here = holdings
        self._workshop = workshop
        self._notes = notes
        self._assurance = assurance
        self._sat_out: int | None = None

    @property
    def owes(self) -> bool:
        """Whether this seat still owes its entry to the open step."""
        here, due = self._here, self._here.course.due
        return here.voice is not None and here.me in due.seats and here.voice.said(due) is None

    def deadline(self, *, wanting: bool) -> float | None:
        """When there is something to say that waits for a countdown."""
        here = self._here
        if here.voice is None or here.course.stage is not Stage.SEALED or wanting or not self.owes:
            return None
        return None if here.quiet or not here.tail.may_sign else here.voice.closes_at

    def speak(self, now: float, *, wanting: bool) -> bool:
        """Sign what this seat owes, if it may.  Whether there was anything to do."""
        here, voice, course = self._here, self._here.voice, self._here.course
        if voice is None or here.quiet:
            return False
        if here.me not in course.roster:
            return voice.ask_to_return(course) is not None
        due = course.due
        if here.me not in due.seats:
            return False
        said = voice.said(due)
        if said is not None:
            if said.id in here.shelf:
                return False
            self._shelve(said)
            return True
        if not here.tail.may_sign or wanting or self._workshop.making:
            return False
        try:
            if due.stage is Stage.COMMIT:
                secret = voice.own.begin_hand(course)
                if secret is not None:
                    here.do(secret)
            made = voice.next(course, now, self._notes.standing_returns(), self._proofs())
        except SecretLost as lost:
            if self._sat_out != due.step:
                self._sat_out = due.step
                here.tell(events.SittingOut(reason=lost.code, message=str(lost)))
            return False
        if made is None:
            return False
        if isinstance(made, tuple):
            self.sign(*made)
        elif course.heavy():
            self._workshop.start(None, made, now)
        else:
            self.sign(*made())
        return True

    def sign(self, kind: Kind, body: Any) -> None:
        """Say this in the open step."""
        assert self._here.voice is not None
        self._shelve(self._here.voice.sign(self._here.course, kind, body))

    def _shelve(self, said: Entry) -> None:
        """What this seat has said is held like anything else."""
        self._here.shelf.add(said)
        self._assurance.said(said)

    def _proofs(self) -> list[Any]:
        """What a RECORD owes: the certificates of the absences that are not proved in the log."""
        return [certificate.value() for certificate in self._here.unproved_at(self._here.course.step)]
