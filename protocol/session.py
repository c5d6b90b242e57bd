"""One seat's whole machine, sans-IO: what arrives goes in, what is to be done comes out as effects.

A session joins :class:`~protocol.steps.Steps` (the log, moving), the links (:mod:`protocol.gossip`), talk
(:mod:`protocol.talk`) and the pacer (:mod:`protocol.pace`).  It judges what a link may send; what an entry may say is
judged by the steps.

==================  ============================================================================================
from a link         what is done
==================  ============================================================================================
not a message       the link is closed (F66-F84)
a bad signature,    ignored and counted; the link is closed after a few (F99).  Another table's entry counts too
another table       (F54)
HAVE                whoever is behind gets what it lacks, or asks WANT for what we lack (F59)
WANT                answered, so many times a second (F98)
ENTRIES             new ones are kept, judged, passed on
CERTIFICATE         given to the decision it is about, which checks it (F47)
EVIDENCE            checked; new: kept and passed on (F58, F102)
TALK                shown and passed on, so much a second
any but HAVE, WANT  from a spectator: the link is closed
==================  ============================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from protocol import events, gossip
from protocol.agreement import Agreement
from protocol.ballot import read_certificate
from protocol.canonical import array, octets
from protocol.dealing import Decks, RealDecks
from protocol.effects import Close, Effect, Notify, Send, Timer
from protocol.entry import MAX_CONTENT, Entry, Kind, Nature, entry_id, read
from protocol.errors import (
    EncodingError,
    LocalProtocolError,
    ProtocolError,
    RemoteProtocolError,
    VerificationError,
)
from protocol.game import Card, Game, Slot
from protocol.gossip import Have, Link, Links, Place
from protocol.identity import SIGNATURE_BYTES, Identity, tagged_hash, words
from protocol.own import OwnSeat
from protocol.pace import Pacer
from protocol.position import Stage
from protocol.records import (
    AnswerRecord,
    ClosedRecord,
    DoubtRecord,
    HeldRecord,
    KeptRecord,
    OwnRecord,
    ProofRecord,
    is_own,
    read_record,
)
from protocol.steps import Steps
from protocol.talk import Said, Talker
from protocol.voice import Outbox, Voice

HAVE_SECONDS: Final = 0.5
"""A step that is open for so long makes us compare with our neighbours; then after twice as long, and so on."""

MAX_HAVE_SECONDS: Final = 8.0

ASK_SECONDS: Final = 0.25
"""A link is asked WANT no more often than this, unless it has answered."""

TICK_SECONDS: Final = 0.001
"""No timer is due sooner, so nothing that waits for what a tick cannot bring keeps a processor busy."""


class Session:
    """A seat at a table, from the agreement to the last signature.

    ``make_game`` builds the game that the agreement names; ``entropy(n)`` gives n fresh random bytes.
    ``records`` is the journal and ``secrets`` the stored hand secrets, to resume; both empty for a new table.
    The journal's records come back in order; a torn last one is simply not given.  ``doubt``: the journal may lack
    entries that were sent (it was damaged, or restored): nothing is signed before all others have told what they have
    (:mod:`protocol.doubt`).
    ``identity`` None, or one without a seat: a spectator, who holds nothing secret and signs nothing.

    All times are seconds of one monotonic clock, which may start anywhere and be another one after a restart.
    Every input may cause effects; take them with :meth:`take_effects` and carry them out in order.
    """

    def __init__(
        self,
        identity: Identity | None,
        agreement: Agreement,
        make_game: Callable[[Agreement], Game],
        entropy: Callable[[int], bytes],
        records: Iterable[bytes] = (),
        *,
        secrets: Mapping[int, bytes] | None = None,
        doubt: bool = False,
        decks: Decks | None = None,
        now: float,
    ) -> None:
        decks = decks if decks is not None else RealDecks()
        seat = agreement.seat_of(identity.public_key) if identity is not None else None
        self._agreement = agreement
        self._out = Outbox()
        self._voice = None
        if identity is not None and seat is not None:
            self._voice = Voice(OwnSeat(identity, seat, decks, entropy, secrets or {}), self._out)
        self._steps = Steps(agreement, make_game, decks, entropy, self._voice, self._out)
        self._links = Links()
        self._talker = Talker(agreement, identity, entropy)
        self._pacer = Pacer(self._steps, self._out.tell)
        self._timer: float | None = None
        self._step = -1
        self._told_over = False
        self._have_at = now
        self._have_seconds = HAVE_SECONDS
        self._steps.begin(now)
        in_doubt = self._replay(records, now)
        if self._voice is not None and (doubt or in_doubt):
            self._steps.begin_doubt(recorded=in_doubt)
        self._steps.go_live(now)
        self._after(now)

    def _replay(self, records: Iterable[bytes], now: float) -> bool:
        """Take in the journal.  What it tells was told before.  Returns whether it ends in doubt."""
        in_doubt = False
        known = list(enumerate(records))
        if self._voice is not None:
            for number, data in known:
                if not is_own(data):
                    continue
                record = read_record(data, number=number)
                if isinstance(record, OwnRecord):
                    self._voice.remember(record.entry, durable=True)
                elif isinstance(record, AnswerRecord):
                    self._voice.own.open_box(record.hand, record.sealed, record.box)
        for number, data in known:  # one after another: read, a long game takes several times its bytes
            record = read_record(data, number=number)
            if isinstance(record, ClosedRecord):
                self._steps.trust([entry for _, entry in record.step.contributions if entry is not None])
            elif isinstance(record, HeldRecord):
                self._steps.trust([record.entry])
            elif isinstance(record, KeptRecord):
                self._steps.keep(record.certificate, now)
            elif isinstance(record, ProofRecord):
                self._steps.convicted(record.seat, record.data, now)
            elif isinstance(record, DoubtRecord):
                in_doubt = record.begins
            self._steps.advance(now)
        # Only that the game is over is told again: whoever opens a finished table waits for nothing else.
        self._out.effects = [
            effect
            for effect in self._out.effects
            if not isinstance(effect, Notify) or isinstance(effect.event, events.GameOver)
        ]
        return in_doubt

    # --- inputs ----------------------------------------------------------------------------------------

    def link_up(self, link: int, peer_key: bytes, now: float) -> None:
        """An authenticated link to ``peer_key``; ``link`` is any number not used before."""
        seat = self._agreement.seat_of(peer_key)
        if seat is None and not self._agreement.spectators:
            self._do(Close(link=link, reason="this table has no spectators"))
            return
        up = self._links.up(link, seat)
        self._out.tell(events.Connected(seat=seat))
        self._say_have(up)
        self._ask_in_doubt(up, now)
        for record in self._steps.abandoned.values():
            up.offer(record)
        self._after(now)

    def link_down(self, link: int, now: float) -> None:
        """The link is gone, whoever closed it."""
        down = self._links.down(link)
        if down is not None and (down.seat is None or not self._links.linked(down.seat)):
            self._out.tell(events.Disconnected(seat=down.seat))
            if self._steps.doubt is not None and down.seat is not None:
                self._steps.doubt.parted(down.seat)
        self._after(now)

    def received(self, link: int, message: bytes, now: float) -> None:
        """A message from the other end.  Never raises: what is wrong with it becomes an event or a Close."""
        source = self._links.get(link)
        if source is None:
            return
        try:
            self._take(source, gossip.read(message), now)
        except ProtocolError as error:
            reason = error.reason if isinstance(error, RemoteProtocolError) else error.code
            self._refuse(source, reason, str(error))
        self._after(now)

    def tick(self, now: float) -> None:
        """The time of the last Timer has come (calling it early or late is harmless)."""
        self._timer = None
        self._steps.tick(now)
        self._after(now)

    def work_done(self, job: int, result: object, now: float) -> None:
        """What the function of ``Work(job)`` returned."""
        self._steps.work_done(job, result, now)
        self._after(now)

    def move(self, text: str, now: float) -> None:
        """Choose a move (on our turn), an answer (in a window), or in advance the next turn's first move.

        Raises protocol.game.Refused if it is not allowed (nothing is changed then), LocalProtocolError if
        nothing is asked of this seat.  An answer may be changed until it is sealed.
        """
        if self._voice is None:
            raise LocalProtocolError("spectators make no moves; sit down to play")
        if self._steps.halted:
            raise LocalProtocolError("this peer has halted and signs nothing more")
        self._voice.choose(self._steps.course, text)
        self._after(now)

    def chat(self, text: str, now: float) -> None:
        """Say a line to the table.  Raises LocalProtocolError if it is too long or too much."""
        self._talk(Said.LINE, text, now)

    def react(self, reaction: str, now: float) -> None:
        """Send one of the reactions.  Raises LocalProtocolError as :meth:`chat` does."""
        self._talk(Said.REACTION, reaction, now)

    # --- output ----------------------------------------------------------------------------------------

    def take_effects(self) -> list[Effect]:
        """Everything to be done since the last call, in order."""
        effects, self._out.effects = self._out.effects, []
        return effects

    # --- what a face reads -----------------------------------------------------------------------------

    @property
    def game(self) -> Game:
        """The public state as of the last closed step.  Not to be changed."""
        return self._steps.course.game

    @property
    def faces(self) -> Mapping[Slot, Card]:
        """The faces that this seat knows of its own closed slots."""
        return self._steps.faces

    @property
    def me(self) -> int | None:
        """This seat, or None for a spectator."""
        return self._steps.me

    @property
    def seats(self) -> tuple[int, ...]:
        """The seats that sit in the present hand."""
        return self._steps.course.roster

    @property
    def stage(self) -> Stage:
        """What the open step is for."""
        return self._steps.course.stage

    @property
    def owes(self) -> bool:
        """Whether this seat still owes its entry to the open step."""
        return self._steps.owes

    @property
    def waiting_for(self) -> tuple[int, ...]:
        """The seats that the present step still waits for."""
        return self._steps.waiting_for

    @property
    def connected(self) -> tuple[int, ...]:
        """The seats that there is a link to."""
        return tuple(seat for seat in range(len(self._agreement.seats)) if self._links.linked(seat))

    @property
    def exposed(self) -> tuple[int, ...]:
        """The seats that there is evidence against."""
        return tuple(sorted(self._steps.exposed))

    @property
    def words(self) -> str:
        """The words to read aloud, "" until everybody has signed the agreement."""
        head = self._steps.course.first_head
        return words(head) if head else ""

    @property
    def head(self) -> bytes:
        """The head of the log after the last closed step."""
        return self._steps.course.head

    @property
    def step(self) -> int:
        """The number of the step that is open."""
        return self._steps.course.step

    @property
    def final(self) -> int:
        """The number of steps that no decision can change any more."""
        return self._steps.ledger.final

    @property
    def epoch(self) -> int:
        return self._steps.course.epoch

    @property
    def over(self) -> bool:
        """The last result is final; nothing more will be asked of this seat."""
        return self._steps.over

    @property
    def settled(self) -> bool:
        """The game is over and every linked seat knows it: this peer may leave without being missed."""
        return self.over and all(
            link.have is not None and link.have.place.final >= self.final for link in self._links.seated()
        )

    def legal_moves(self) -> list[str]:
        """What this seat may do or answer now ([] if nothing is asked of it)."""
        course = self._steps.course
        asked = course.stage in (Stage.MOVE, Stage.SEALED) or (
            course.stage is Stage.ANSWER and course.window is not None and not course.window.sealed
        )
        if self.me is None or not asked or not self.owes:
            return []
        return course.game.legal_moves(self.me, self.faces)

    # --- what links send -------------------------------------------------------------------------------

    def _take(self, source: Link, said: gossip.Said, now: float) -> None:
        if source.seat is None and not isinstance(said, gossip.Have | gossip.Want):
            raise EncodingError("spectators read only", field="message")
        match said:
            case gossip.Have():
                source.have = said
                self._ask_in_doubt(source, now)
                if self._lacks(said.place):
                    self._ask(source, now)
                elif self._is_behind(said.place):
                    self._serve(source, said.place, now)
            case gossip.Want(place=place):
                self._answer(source, place, now)
            case gossip.Entries(entries=values):
                news = [self._take_signed(source, value, now) for value in values]
                source.asked = -1.0
                self._steps.advance(now)
                if any(news) and source.have is not None and self._lacks(source.have.place):
                    self._ask(source, now)
                self._hear(source, any(news), now, ended=not values)
            case gossip.Quorum(votes=votes):
                of_use = self._steps.take_certificate(read_certificate(votes), now)
                self._hear(source, of_use, now)
            case gossip.Contradiction(first=first, second=second):
                self._check_signed(first)
                self._check_signed(second)
                self._steps.take_proof(first, second, now)
            case gossip.Talk():
                event = self._talker.hear(said, now)
                if event is not None:
                    self._out.tell(event)
                    self._pass_on(gossip.write_talk(said.content, said.signature), source)

    def _take_signed(self, source: Link, value: object, now: float) -> bool:
        """One ``[content, signature]``.  Whether it is new and kept."""
        content, signature = array(value, field="entry", length=2)
        octets(content, field="entry.content", at_most=MAX_CONTENT)
        known = entry_id(content)
        source.learn(known)
        if known in self._steps.shelf:
            return False
        entry = read(content, octets(signature, field="entry.signature", length=SIGNATURE_BYTES))
        if entry.step < self.final and self._steps.ledger.has(entry):
            return False
        try:
            self._check_signed(entry)
        except VerificationError as fault:
            self._strike(source, fault)
            return False
        match entry.nature:
            case Nature.STEP:
                new = self._steps.take_entry(entry, now)
            case Nature.VOTE:
                new = self._steps.take_vote(entry, now)
            case Nature.NOTE:
                note = self._steps.take_return if entry.kind is Kind.RETURN else self._steps.take_abandonment
                new = note(entry)
        if new:
            self._links.push(entry, source=source)
        return new

    def _check_signed(self, entry: Entry) -> None:
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
        self._do(Close(link=source.number, reason=message))

    def _talk(self, kind: Said, text: str, now: float) -> None:
        talk = self._talker.say(kind, text, now)
        self._pass_on(gossip.write_talk(talk.content, talk.signature), None)

    # --- comparing -------------------------------------------------------------------------------------

    def _place(self) -> Place:
        course = self._steps.course
        return Place(
            epoch=course.epoch,
            step=course.step,
            prev=course.head,
            final=self.final,
            ids=tuple(entry.id[: gossip.SHORT_ID] for entry in self._steps.held()),
            votes=self._votes_digest(self.final),
        )

    def _lacks(self, place: Place) -> bool:
        """Whether a peer that stands at ``place`` has something for us."""
        mine = self._place()
        if place.step > mine.step or place.epoch > mine.epoch or self._steps.wanting:
            return True
        if (place.epoch, place.step, place.prev) != (mine.epoch, mine.step, mine.prev):
            return place.epoch == mine.epoch and place.step == mine.step
        return place.votes != mine.votes or any(short not in mine.ids for short in place.ids)

    def _is_behind(self, place: Place) -> bool:
        """Whether a peer that stands at ``place`` lacks something that we have."""
        mine = self._place()
        if (place.epoch, place.step, place.prev) != (mine.epoch, mine.step, mine.prev):
            return place.step <= mine.step or place.epoch < mine.epoch
        return place.votes != mine.votes or any(short not in place.ids for short in mine.ids)

    def _votes_digest(self, final: int) -> bytes:
        votes = sorted(vote.id for vote in self._steps.shelf.votes_from(final))
        return tagged_hash("votes", *votes)[: gossip.SHORT_ID]

    def _ask(self, link: Link, now: float) -> None:
        if now - link.asked >= ASK_SECONDS:
            link.asked = now
            self._send(link, gossip.write_want(self._place()))
            if self._steps.doubt is not None and link.seat is not None:
                self._steps.doubt.asked(link.seat)

    def _ask_in_doubt(self, link: Link, now: float) -> None:
        """Ask a neighbour for what it knows of this seat, if that is in doubt."""
        doubt = self._steps.doubt
        if doubt is None or link.seat in (None, self.me):
            return
        if link.have is not None:
            doubt.linked(link.seat, link.have.seats(), now)
        if doubt.is_to_be_asked(link.seat, now):
            self._ask(link, now)

    def _hear(self, link: Link, news: bool, now: float, *, ended: bool = False) -> None:
        """Something came from a neighbour (``ended``: the end of an answer); if there is a doubt, that may settle it."""
        doubt = self._steps.doubt
        if doubt is None or link.seat is None:
            return
        if news:
            doubt.brought(link.seat)
        if ended and not doubt.answered(link.seat, now):
            self._ask(link, now)

    def _answer(self, link: Link, place: Place, now: float) -> None:
        """Answer WANT: what the peer lacks, and an empty ENTRIES when that is all for now."""
        if self._serve(link, place, now):
            self._send(link, gossip.write_end())

    def _serve(self, link: Link, place: Place, now: float) -> bool:
        """Send what a peer that stands at ``place`` lacks, oldest first, as much as fits.  False if that is asked too often."""
        if not link.answers.take(now):
            return False
        ledger = self._steps.ledger
        end = self._shown() if link.seat is None else self.step + 1
        start = place.step
        if start >= end or (ledger.epoch_of(start), ledger.head_before(start)) != (place.epoch, place.prev):
            start = min(place.final, start)
        left = gossip.BATCH_BYTES
        batch: list[Entry] = []
        for step in range(start, end):
            entries = self._steps.entries_of(step)
            if step == place.step:
                entries = [entry for entry in entries if place.lacks(entry)]
            batch += entries
            left -= sum(len(entry.content) for entry in entries)
            certificate = ledger.certificates.get(step)
            if certificate is not None:
                self._send(link, gossip.write_certificate(certificate.value()))
                left -= sum(len(vote.content) for vote in certificate.votes)
            if left < 0:
                break
        if link.seat is not None:
            # A peer whose journal is lost cannot know how far it had gone, nor how it had voted.
            batch += [own for own in self._steps.shelf.ahead(link.seat, self.step) if not link.knows(own.id)]
            if place.votes != self._votes_digest(place.final):
                batch += self._steps.shelf.votes_from(place.final)
            batch += self._steps.standing_returns()
        for entry in batch:
            link.learn(entry.id)
        for message in gossip.write_entries(batch):
            self._send(link, message)
        return True

    def _say_have(self, link: Link) -> None:
        have = Have(place=self._place(), links=self._links.mask())
        self._send(link, gossip.write_have(have))

    # --- after every input -----------------------------------------------------------------------------

    def _after(self, now: float) -> None:
        """Move on, send what is new, say HAVE if nothing moves, and set the timer."""
        self._steps.settle_doubt(now)
        self._steps.advance(now)
        for entry in self._out.fresh:
            self._links.push(entry, source=None)
        self._out.fresh = []
        for first, second in self._steps.take_contradictions():
            self._pass_on(gossip.write_contradiction(first, second), None)
        for certificate in self._steps.take_certificates():
            self._pass_on(gossip.write_certificate(certificate.value()), None)
        for number, message in self._links.take_messages():
            self._do(Send(link=number, message=message))
        self._show_spectators()
        self._pacer.look(now)
        if self.step != self._step:
            self._step = self.step
            self._have_seconds = HAVE_SECONDS
            self._have_at = now + HAVE_SECONDS
        elif self.over and not self._told_over:
            self._told_over = True
            for link in self._links.seated():
                self._say_have(link)
        elif now >= self._have_at and not self.settled:
            self._have_seconds = min(2 * self._have_seconds, MAX_HAVE_SECONDS)
            self._have_at = now + self._have_seconds
            for link in self._links.seated():
                self._say_have(link)
        self._set_timer(now)

    def _set_timer(self, now: float) -> None:
        times = [self._steps.deadline, self._pacer.deadline]
        if not self.settled and any(True for _ in self._links.seated()):
            times.append(self._have_at)
        at = min((time for time in times if time is not None), default=None)
        if at is not None and at != self._timer:
            self._timer = at
            self._do(Timer(at=max(at, now + TICK_SECONDS)))

    def _show_spectators(self) -> None:
        """Send every spectator the steps that have become final."""
        for link in self._links.spectators():
            while link.shown < self._shown():
                for message in gossip.write_entries(self._steps.entries_of(link.shown)):
                    self._send(link, message)
                link.shown += 1

    def _shown(self) -> int:
        """Spectators see the steps below this one: those that are final, and at the end what makes them so."""
        return self.step + 1 if self.over else self.final

    def _pass_on(self, message: bytes, source: Link | None) -> None:
        for link in self._links.seated():
            if link is not source:
                self._send(link, message)

    def _send(self, link: Link, message: bytes) -> None:
        self._do(Send(link=link.number, message=message))

    def _do(self, effect: Effect) -> None:
        self._out.effects.append(effect)
