"""Who has said what must not be said: every entry is judged once, and what is proved against a seat is kept.

Threat.  A seat may sign a bad proof, an illegal move, two things for one step; and accuse others falsely.  What it signed is
judged by the same rules at every peer, late entries of closed steps too, so all come to one verdict; and nothing convicts that
its author did not sign.

=======================================  =======================================================================
event                                    what is done
=======================================  =======================================================================
an entry of the open step (``offer``)    judged, a long proof in a worker; good: the tail holds it
an entry of a closed step that is not    the same, by the course as it was then
final (``offer_late``)
an entry is not acceptable               its author is convicted: *illegal*, with the log before it
two statements contradict                their author is convicted: *exposed*, by the two alone; all are shown them
a COMPLAINT closed a step (``banned``)   whom it proves to be at fault is convicted: *illegal*
a conviction                             the file is kept, told, and the seat absent from what is open; the first one counts
                                         (F102); against this very seat: it signs nothing more
=======================================  =======================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from protocol import events, evidence
from protocol.course import Course
from protocol.effects import Record
from protocol.entry import Entry, Kind
from protocol.errors import VerificationError
from protocol.holdings import Holdings
from protocol.judge import judge
from protocol.log import ClosedStep
from protocol.records import write_proof
from protocol.workshop import Workshop

MAX_PROOF: Final = 1 << 19
"""Bytes of a proof that the journal keeps.  A longer one, with the log of many hands in it, is in its own file alone; the
journal then says that there is one."""


class Court:
    """The verdicts on what :class:`Holdings` has of the steps that are not final."""

    def __init__(self, holdings: Holdings, workshop: Workshop) -> None:
        self._here = holdings
        self._workshop = workshop
        self._verdicts: dict[bytes, VerificationError | None] = {}
        self._offered: dict[int, set[bytes]] = {}
        """The entries that were judged and taken account of, by step."""
        self._contradictions: list[tuple[Entry, Entry]] = []
        self._late = False
        """A closed step may have entries that were not judged."""

    # --- reads -----------------------------------------------------------------------------------------

    def has_taken(self, entry: Entry) -> bool:
        """Whether this entry was judged and counts in the decision about its step."""
        return entry.id in self._offered.get(entry.step, ())

    def good(self, step: int) -> list[Entry]:
        """The acceptable entries of a step, by seat."""
        return [
            entry
            for entry in self._here.shelf.of_step(step)
            if self.has_taken(entry) and self._verdicts.get(entry.id) is None
        ]

    def take_contradictions(self) -> list[tuple[Entry, Entry]]:
        """Pairs of statements, new to us, that everybody should see."""
        found, self._contradictions = self._contradictions, []
        return found

    # --- where the log stands --------------------------------------------------------------------------

    def step_opened(self, step: int) -> None:
        """Entries of this step are judged from now on."""
        self._offered[step] = set()

    def step_closed(self) -> None:
        """What else there is of the step may come to judgement yet."""
        self._late = True

    def late(self, entry: Entry) -> None:
        """Something came in; it may be of a step that is closed."""
        self._late = self._late or entry.step < self._here.course.step

    def went_back(self, step: int) -> None:
        """This step is open again, and what stood on it is void."""
        self._offered = {number: ids for number, ids in self._offered.items() if number <= step}

    def forget_before(self, final: int) -> None:
        """Steps below this one are final, and no longer on the shelf."""
        self._offered = {number: ids for number, ids in self._offered.items() if number >= final}
        self._verdicts = {
            entry: fault for entry, fault in self._verdicts.items() if entry in self._here.shelf
        }

    # --- from our own journal --------------------------------------------------------------------------

    def trust(self, entries: Sequence[Entry]) -> None:
        """Entries that were judged before they were written."""
        for entry in entries:
            self._verdicts.setdefault(entry.id, None)
            if entry.id not in self._here.shelf and entry.step >= self._here.ledger.final:
                self._here.shelf.add(entry)

    def convicted(self, seat: int, data: bytes, now: float) -> None:
        """Evidence that was found before."""
        self._here.exposed[seat] = data
        self._here.halted = self._here.halted or seat == self._here.me
        self._here.tail.expose(seat, now)

    # --- judging ---------------------------------------------------------------------------------------

    def offer(self, now: float) -> bool:
        """Judge an entry of the open step; give a good one to the tail.  Whether there was anything to do."""
        course = self._here.course
        offered = self._offered[course.step]
        for entry in self._here.held():
            if entry.id in offered or self._workshop.judging(entry):
                continue
            if entry.id not in self._verdicts:
                if self._here.live and course.heavy() and entry.seat in course.due.seats:
                    self._workshop.start(entry, self._judging(entry), now)
                    return True
                self.judged(entry, self._judge(course, entry), now)
            offered.add(entry.id)
            if self._verdicts[entry.id] is None:
                self._here.tail.entry_held(entry.step, entry.seat, entry.id, now)
            return True
        return False

    def offer_late(self, now: float) -> bool:
        """The same for other entries of a step that is closed, though not finally: nobody lies unseen."""
        if not self._late:
            return False
        for closed in self._here.ledger.closed[self._here.ledger.final :]:
            offered = self._offered.setdefault(closed.step, set())
            for entry in self._here.shelf.of_step(closed.step):
                if entry.id in offered or (entry.epoch, entry.prev) != (closed.epoch, closed.prev):
                    continue
                offered.add(entry.id)
                if entry.id not in self._verdicts:
                    self.judged(entry, self._judge(self._here.ledger.course_at(closed.step), entry), now)
                if self._verdicts[entry.id] is None:
                    self._here.tail.entry_held(entry.step, entry.seat, entry.id, now)
                return True
        self._late = False
        return False

    def judged(self, entry: Entry, fault: VerificationError | None, now: float) -> None:
        """The verdict on an entry: None, or its fault, which convicts its author."""
        self._verdicts[entry.id] = fault
        if fault is None or entry.seat in self._here.exposed:
            return
        proofs = self._here.unproved_at(entry.step)
        data = evidence.illegal(
            self._here.agreement, fault.reason, self._here.ledger.closed[: entry.step], proofs, entry
        )
        self._convict(
            entry.seat, entry.step, events.Accusation.ILLEGAL, fault.reason, fault.message, data, now
        )

    def _judge(self, course: Course, entry: Entry) -> VerificationError | None:
        if self._here.voice is not None and self._here.voice.wrote(entry):
            return None
        try:
            judge(course, entry, self._here.entropy(32))
        except VerificationError as fault:
            return fault
        return None

    def _judging(self, entry: Entry) -> Callable[[], object]:
        course, entropy = self._here.course, self._here.entropy(32)
        own = self._here.voice is not None and self._here.voice.wrote(entry)

        def work() -> Exception | None:
            try:
                if not own:
                    judge(course, entry, entropy)
            except Exception as error:
                # A fault, or the course moved on under us: work_done tells the two apart.
                return error
            return None

        return work

    # --- convicting ------------------------------------------------------------------------------------

    def expose(self, first: Entry, second: Entry, now: float) -> None:
        """Two statements of one seat: if they contradict each other, it is convicted by them."""
        reason = evidence.contradiction(first, second)
        if reason is None or first.seat in self._here.exposed:
            return
        data = evidence.exposed(self._here.agreement, reason, first, second)
        message = f"two different {first.kind.name} entries for one step"
        self._convict(second.seat, second.step, events.Accusation.EXPOSED, reason, message, data, now)
        self._contradictions.append((first, second))

    def banned(self, seat: int, closed: ClosedStep, now: float) -> None:
        """A closed step shows to all that a seat is at fault; a complaint is also worth a file."""
        complaint = next((entry for entry in closed.entries if entry.kind is Kind.COMPLAINT), None)
        if complaint is None or seat in self._here.exposed:
            return
        reason, message = evidence.complaint_reason(complaint, seat)
        data = evidence.illegal(
            self._here.agreement,
            reason,
            self._here.ledger.closed[: closed.step],
            self._here.unproved_at(closed.step),
            complaint,
        )
        self._convict(seat, closed.step, events.Accusation.ILLEGAL, reason, message, data, now)

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
        self._here.exposed[seat] = kept
        self._here.do(Record(data=write_proof(seat, kept), must_sync=False))
        self._here.tell(
            events.EvidenceFound(
                seat=seat,
                accusation=accusation,
                reason=reason,
                message=message,
                step=step,
                data=data,
            )
        )
        if seat == self._here.me:
            self._here.halted = True
            self.tell_halted()
        self._here.tail.expose(seat, now)

    def tell_halted(self) -> None:
        """Say that this peer signs nothing more."""
        self._here.tell(
            events.Halted(
                reason="own_key_misused",
                message="what was signed with this seat's key convicts it: another program uses the same home, or an "
                "old copy of it was restored. Stop it and sit down with a new identity.",
            )
        )
