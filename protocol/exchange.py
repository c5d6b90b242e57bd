"""Comparing with a neighbour: who lacks what, asking for it, giving it.

Threat.  A neighbour may say HAVE of what is not there, or WANT without end (F59, F98): a link is asked no more often than it
answers or four times a second, and answered so many times a second.  A spectator is given what is final, and at the end
what makes it so: the rest might be closed otherwise yet.

=====================  =======================================================================================
event                  what is done
=====================  =======================================================================================
a link comes up        HAVE; in doubt (:mod:`protocol.doubt`) WANT, too.  A spectator is shown what becomes final from now
                       on, and asks for what was before
HAVE of who is ahead   WANT
HAVE of who is behind  what it lacks, as if it had been a WANT
WANT                   what it lacks, oldest first, as much as fits; then the end
nothing moves          HAVE to all, after half a second, then after twice as long
=====================  =======================================================================================
"""

from __future__ import annotations

from typing import Final

from protocol import gossip
from protocol.ballot import Certificate
from protocol.effects import Send
from protocol.entry import Entry
from protocol.gossip import Have, Link, Links, Place
from protocol.identity import tagged_hash
from protocol.steps import Steps
from protocol.voice import Outbox

HAVE_SECONDS: Final = 0.5
"""A step that is open for so long makes us compare with our neighbours; then after twice as long, and so on."""

MAX_HAVE_SECONDS: Final = 8.0

ASK_SECONDS: Final = 0.25
"""A link is asked WANT no more often than this, unless it has answered."""


class Exchange:
    """What one peer and its neighbours tell each other of where they stand."""

    def __init__(self, steps: Steps, links: Links, out: Outbox, now: float) -> None:
        self._steps = steps
        self._links = links
        self._out = out
        self._step = -1
        self._told_over = False
        self._have_at = now
        self._have_seconds = HAVE_SECONDS

    # --- where we stand --------------------------------------------------------------------------------

    def place(self) -> Place:
        course = self._steps.course
        return Place(
            epoch=course.epoch,
            step=course.step,
            prev=course.head,
            final=self._steps.ledger.final,
            ids=tuple(entry.id[: gossip.SHORT_ID] for entry in self._steps.held()),
            votes=self._votes_digest(self._steps.ledger.final),
        )

    def lacks(self, place: Place) -> bool:
        """Whether a peer that stands at ``place`` has something for us."""
        course = self._steps.course
        if place.step > course.step or place.epoch > course.epoch or self._steps.wanting:
            return True
        if (place.epoch, place.step, place.prev) != (course.epoch, course.step, course.head):
            return place.epoch == course.epoch and place.step == course.step
        mine = self.place()
        return place.votes != mine.votes or any(short not in mine.ids for short in place.ids)

    def is_behind(self, place: Place) -> bool:
        """Whether a peer that stands at ``place`` lacks something that we have."""
        course = self._steps.course
        if (place.epoch, place.step, place.prev) != (course.epoch, course.step, course.head):
            return place.step <= course.step or place.epoch < course.epoch
        mine = self.place()
        return (
            place.votes != mine.votes
            or any(short not in place.ids for short in mine.ids)
            or bool(self._decided_since(place))
        )

    def _decided_since(self, place: Place) -> list[Certificate]:
        """The certificates of the steps before the open one that are not final for the peer at ``place``.

        It may hold all their entries and stand where we stand, and still wait for a vote that nobody has any more: what is
        decided is not voted on again, and who has come back after that has the certificate alone.
        """
        ledger = self._steps.ledger
        found = (ledger.certificates.get(step) for step in range(place.final, place.step))
        return [certificate for certificate in found if certificate is not None]

    @property
    def settled(self) -> bool:
        """The game is over and every linked seat knows it."""
        return self._steps.over and all(
            link.have is not None and link.have.place.final >= self._steps.ledger.final
            for link in self._links.seated()
        )

    @property
    def deadline(self) -> float | None:
        """When to call :meth:`look` again."""
        return None if self.settled or not any(True for _ in self._links.seated()) else self._have_at

    # --- what a neighbour says -------------------------------------------------------------------------

    def welcome(self, link: Link, now: float) -> None:
        """A link is new."""
        link.shown = self._shown()
        self.say_have(link)
        self.ask_in_doubt(link, now)

    def part(self, seat: int) -> None:
        """The last link to this seat is gone."""
        if self._steps.doubt is not None:
            self._steps.doubt.parted(seat)

    def take_have(self, link: Link, have: Have, now: float) -> None:
        """A neighbour says where it stands."""
        link.have = have
        self.ask_in_doubt(link, now)
        if self.lacks(have.place):
            self.ask(link, now)
        elif self.is_behind(have.place):
            self.serve(link, have.place, now)

    def answer(self, link: Link, place: Place, now: float) -> None:
        """Answer WANT: what the peer lacks, and an empty ENTRIES when that is all for now."""
        if self.serve(link, place, now):
            self._send(link, gossip.write_end())

    def take_news(self, link: Link, now: float, *, news: bool, ended: bool) -> None:
        """Entries came (``ended``: none, which is the end of an answer)."""
        link.asked = -1.0
        if news and link.have is not None and self.lacks(link.have.place):
            self.ask(link, now)
        self.hear(link, news, now, ended=ended)

    def hear(self, link: Link, news: bool, now: float, *, ended: bool = False) -> None:
        """Something came from a neighbour (``ended``: the end of an answer); if there is a doubt, that may settle it."""
        doubt = self._steps.doubt
        if doubt is None or link.seat is None:
            return
        if news:
            doubt.brought(link.seat)
        if ended and not doubt.answered(link.seat, now):
            self.ask(link, now)

    # --- what we say -----------------------------------------------------------------------------------

    def look(self, now: float) -> None:
        """After every input: show what has become final, and say HAVE if nothing moves."""
        self._show_spectators()
        if self._steps.course.step != self._step:
            self._step = self._steps.course.step
            self._have_seconds = HAVE_SECONDS
            self._have_at = now + HAVE_SECONDS
        elif self._steps.over and not self._told_over:
            self._told_over = True
            self._say_have_to_all()
        elif now >= self._have_at and not self.settled:
            self._have_seconds = min(2 * self._have_seconds, MAX_HAVE_SECONDS)
            self._have_at = now + self._have_seconds
            self._say_have_to_all()

    def _say_have_to_all(self) -> None:
        have = self._have()
        for link in (*self._links.seated(), *self._links.spectators()):
            self._send(link, have)

    def say_have(self, link: Link) -> None:
        self._send(link, self._have())

    def _have(self) -> bytes:
        return gossip.write_have(Have(place=self.place(), links=self._links.mask()))

    def ask(self, link: Link, now: float) -> None:
        if now - link.asked >= ASK_SECONDS:
            link.asked = now
            self._send(link, gossip.write_want(self.place()))
            if self._steps.doubt is not None and link.seat is not None:
                self._steps.doubt.asked(link.seat)

    def ask_in_doubt(self, link: Link, now: float) -> None:
        """Ask a neighbour for what it knows of this seat, if that is in doubt."""
        doubt = self._steps.doubt
        if doubt is None or link.seat in (None, self._steps.me):
            return
        if link.have is not None:
            doubt.linked(link.seat, link.have.seats(), now)
        if doubt.is_to_be_asked(link.seat, now):
            self.ask(link, now)

    def serve(self, link: Link, place: Place, now: float) -> bool:
        """Send what a peer that stands at ``place`` lacks, oldest first, as much as fits.  False if that is asked too often."""
        if not link.answers.take(now):
            return False
        ledger = self._steps.ledger
        end = self._shown() if link.seat is None else self._steps.course.step + 1
        start = place.step
        if start >= end or (ledger.epoch_of(start), ledger.head_before(start)) != (place.epoch, place.prev):
            start = min(place.final, start)
        if start == place.step:
            for certificate in self._decided_since(place):
                self._send(link, gossip.write_certificate(certificate.value()))
        left = gossip.BATCH_BYTES
        batch: list[Entry] = []
        for step in range(start, end):
            entries = self._steps.entries_of(step)
            if step == place.step:
                entries = [entry for entry in entries if place.lacks(entry)]
            batch += entries
            left -= sum(len(entry.content) for entry in entries)
            decided = ledger.certificates.get(step)
            if decided is not None:
                self._send(link, gossip.write_certificate(decided.value()))
                left -= sum(len(vote.content) for vote in decided.votes)
            if left < 0:
                break
        if link.seat is not None:
            # A peer whose journal is lost cannot know how far it had gone, nor how it had voted.
            batch += [
                own
                for own in self._steps.shelf.ahead(link.seat, self._steps.course.step)
                if not link.knows(own.id)
            ]
            if place.votes != self._votes_digest(place.final):
                batch += self._steps.shelf.votes_from(place.final)
            batch += self._steps.notes.standing_returns()
        for entry in batch:
            link.learn(entry.id)
        for message in gossip.write_entries(batch):
            self._send(link, message)
        return True

    def _show_spectators(self) -> None:
        """Send every spectator the steps that have become final."""
        for link in self._links.spectators():
            while link.shown < self._shown():
                for message in gossip.write_entries(self._steps.entries_of(link.shown)):
                    self._send(link, message)
                link.shown += 1

    def _shown(self) -> int:
        """Spectators see the steps below this one: those that are final, and at the end what makes them so."""
        return self._steps.course.step + 1 if self._steps.over else self._steps.ledger.final

    def _votes_digest(self, final: int) -> bytes:
        votes = sorted(vote.id for vote in self._steps.shelf.votes_from(final))
        return tagged_hash("votes", *votes)[: gossip.SHORT_ID]

    def _send(self, link: Link, message: bytes) -> None:
        self._out.effects.append(Send(link=link.number, message=message))
