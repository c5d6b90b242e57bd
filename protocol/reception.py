"""What a link may send, and what becomes of it.

Threat.  Whoever has a link may send anything: garbage, what nobody here has signed, what belongs to another table.  A message is
read as a whole or costs the link; a signature is checked before anything is believed or passed on; and known entries are told
by their hash before that, so repeating costs little.  What an *entry* may say is judged by the steps.

==================  ============================================================================================
from a link         what is done
==================  ============================================================================================
not a message       the link is closed (F66-F84)
a bad signature,    ignored and counted; the link is closed after a few (F99).  Another table's entry counts too
another table       (F54)
HAVE                whoever is behind gets what it lacks, or asks WANT for what we lack (F59)
WANT                answered, so many times a second (F98)
ENTRIES             new ones are kept, judged, passed on; none: an answer to WANT ends
CERTIFICATE         given to the decision it is about, which checks it (F47)
EVIDENCE            checked; new: kept and passed on (F58, F102)
TALK                shown and passed on, so much a second
any but HAVE, WANT  from a spectator: the link is closed
==================  ============================================================================================
"""

from __future__ import annotations

from protocol import events, gossip
from protocol.agreement import Agreement
from protocol.ballot import read_certificate
from protocol.canonical import array, octets
from protocol.effects import Close, Send
from protocol.entry import MAX_CONTENT, Entry, Nature, entry_id, read
from protocol.errors import EncodingError, ProtocolError, RemoteProtocolError, VerificationError
from protocol.exchange import Exchange
from protocol.gossip import Link, Links
from protocol.identity import SIGNATURE_BYTES
from protocol.steps import Steps
from protocol.talk import Talker
from protocol.voice import Outbox


class Reception:
    """Takes in what the links of one session bring."""

    def __init__(
        self,
        agreement: Agreement,
        steps: Steps,
        links: Links,
        exchange: Exchange,
        talker: Talker,
        out: Outbox,
    ) -> None:
        self._agreement = agreement
        self._steps = steps
        self._links = links
        self._exchange = exchange
        self._talker = talker
        self._out = out

    def take(self, source: Link, message: bytes, now: float) -> bool:
        """A message from the other end.  Never raises: what is wrong with it becomes an event or a Close.

        Returns whether the steps have moved on since, as far as they can.
        """
        try:
            return self._take(source, gossip.read(message), now)
        except ProtocolError as error:
            reason = error.reason if isinstance(error, RemoteProtocolError) else error.code
            self._refuse(source, reason, str(error))
            return False

    def _take(self, source: Link, said: gossip.Said, now: float) -> bool:
        if source.seat is None and not isinstance(said, gossip.Have | gossip.Want):
            raise EncodingError("spectators read only", field="message")
        match said:
            case gossip.Have():
                self._exchange.take_have(source, said, now)
            case gossip.Want(place=place):
                self._exchange.answer(source, place, now)
            case gossip.Entries(entries=values):
                news = [self._take_signed(source, value, now) for value in values]
                self._steps.advance(now)
                self._exchange.take_news(source, now, news=any(news), ended=not values)
                return True
            case gossip.Quorum(votes=votes):
                of_use = self._steps.take_certificate(read_certificate(votes), now)
                self._exchange.hear(source, of_use, now)
            case gossip.Contradiction(first=first, second=second):
                self.check_signed(first)
                self.check_signed(second)
                self._steps.take_proof(first, second, now)
            case gossip.Talk():
                event = self._talker.hear(said, now)
                if event is not None:
                    self._out.tell(event)
                    self.pass_on(gossip.write_talk(said.content, said.signature), source)
        return False

    def _take_signed(self, source: Link, value: object, now: float) -> bool:
        """One ``[content, signature]``.  Whether it is new and kept."""
        content, signature = array(value, field="entry", length=2)
        octets(content, field="entry.content", at_most=MAX_CONTENT)
        known = entry_id(content)
        source.learn(known)
        if known in self._steps.shelf:
            return False
        entry = read(content, octets(signature, field="entry.signature", length=SIGNATURE_BYTES))
        if entry.step < self._steps.ledger.final and self._steps.ledger.has(entry):
            return False
        try:
            self.check_signed(entry)
        except VerificationError as fault:
            self._strike(source, fault)
            return False
        match entry.nature:
            case Nature.STEP:
                new = self._steps.take_entry(entry, now)
            case Nature.VOTE:
                new = self._steps.take_vote(entry, now)
            case Nature.NOTE:
                new = self._steps.notes.take(entry)
        if new:
            self._links.push(entry, source=source)
        return new

    def check_signed(self, entry: Entry) -> None:
        """Raises VerificationError if nobody at this table can have said this."""
        if entry.table != self._agreement.table:
            raise VerificationError("other_table", "an entry of another table", seat=entry.seat)
        if entry.seat >= len(self._agreement.seats):
            raise VerificationError("no_seat", "an entry of a seat that is not there", seat=entry.seat)
        entry.verify(self._agreement.keys[entry.seat])

    def _strike(self, source: Link, fault: VerificationError) -> None:
        source.strikes += 1
        if source.strikes >= gossip.STRIKES:
            self._refuse(source, fault.reason, fault.message)

    def _refuse(self, source: Link, reason: str, message: str) -> None:
        if self._links.down(source.number) is None:
            return
        self._out.tell(
            events.LinkRefused(link=source.number, seat=source.seat, reason=reason, message=message)
        )
        self._out.effects.append(Close(link=source.number, reason=message))

    def pass_on(self, message: bytes, source: Link | None) -> None:
        """Send this to every seat but the one that it came from."""
        for link in self._links.seated():
            if link is not source:
                self._out.effects.append(Send(link=link.number, message=message))
