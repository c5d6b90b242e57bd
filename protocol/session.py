"""One seat's whole machine, sans-IO: what arrives goes in, what is to be done comes out as effects.

A session joins :class:`~protocol.steps.Steps` (the log, moving), the links (:class:`~protocol.reception.Reception` takes in
what they bring, :class:`~protocol.exchange.Exchange` compares with neighbours), talk (:mod:`protocol.talk`) and the pacer
(:mod:`protocol.pace`).

==========  ====================================================================================================
input       what is done
==========  ====================================================================================================
the journal taken in before anything else; what it tells was told before, and nothing is signed meanwhile
a link      where it stands is compared; what it brings is judged, kept, passed on
a tick      timers expire: patience, rounds of a decision, countdowns, HAVE, and what a user is told of a wait
work done   a long proof has been judged or made
a choice    a move, an answer, or what is to be the next turn's move
any of it   the steps move on as far as they can; what is new goes to the links; one timer is set
==========  ====================================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from protocol import events, gossip
from protocol.agreement import Agreement
from protocol.dealing import Decks, RealDecks
from protocol.effects import Close, Effect, Notify, Send, Timer
from protocol.errors import (
    LocalProtocolError,
)
from protocol.exchange import Exchange
from protocol.game import Card, Game, Slot
from protocol.gossip import Links
from protocol.identity import Identity, words
from protocol.own import OwnSeat
from protocol.pace import Pacer
from protocol.position import Stage
from protocol.reception import Reception
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
        self._exchange = Exchange(self._steps, self._links, self._out, now)
        self._reception = Reception(
            agreement, self._steps, self._links, self._exchange, self._talker, self._out
        )
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
        self._exchange.welcome(up, now)
        for record in self._steps.notes.abandoned.values():
            up.offer(record)
        self._after(now)

    def link_down(self, link: int, now: float) -> None:
        """The link is gone, whoever closed it."""
        down = self._links.down(link)
        if down is not None and (down.seat is None or not self._links.linked(down.seat)):
            self._out.tell(events.Disconnected(seat=down.seat))
            if down.seat is not None:
                self._exchange.part(down.seat)
        self._after(now)

    def received(self, link: int, message: bytes, now: float) -> None:
        """A message from the other end.  Never raises: what is wrong with it becomes an event or a Close."""
        source = self._links.get(link)
        if source is None:
            return
        moved = self._reception.take(source, message, now)
        self._after(now, moved=moved)

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
        return self._exchange.settled

    def legal_moves(self) -> list[str]:
        """What this seat may do or answer now ([] if nothing is asked of it)."""
        course = self._steps.course
        asked = course.stage in (Stage.MOVE, Stage.SEALED) or (
            course.stage is Stage.ANSWER and course.window is not None and not course.window.sealed
        )
        if self.me is None or not asked or not self.owes:
            return []
        return course.game.legal_moves(self.me, self.faces)

    def _talk(self, kind: Said, text: str, now: float) -> None:
        talk = self._talker.say(kind, text, now)
        self._reception.pass_on(gossip.write_talk(talk.content, talk.signature), None)

    # --- after every input -----------------------------------------------------------------------------

    def _after(self, now: float, *, moved: bool = False) -> None:
        """Move on (unless that is done: ``moved``), send what is new, say HAVE if nothing moves, and set the timer."""
        if self._steps.settle_doubt(now) or not moved:
            self._steps.advance(now)
        for entry in self._out.fresh:
            self._links.push(entry, source=None)
        self._out.fresh = []
        for first, second in self._steps.take_contradictions():
            self._reception.pass_on(gossip.write_contradiction(first, second), None)
        for certificate in self._steps.take_certificates():
            self._reception.pass_on(gossip.write_certificate(certificate.value()), None)
        for number, message in self._links.take_messages():
            self._do(Send(link=number, message=message))
        self._exchange.look(now)
        self._pacer.look(now)
        self._set_timer(now)

    def _set_timer(self, now: float) -> None:
        times = (self._steps.deadline, self._pacer.deadline, self._exchange.deadline)
        at = min((time for time in times if time is not None), default=None)
        if at is not None and at != self._timer:
            self._timer = at
            self._do(Timer(at=max(at, now + TICK_SECONDS)))

    def _do(self, effect: Effect) -> None:
        self._out.effects.append(effect)
