"""Whole tables of sessions in memory: one queue of messages, no clock but the one the test turns."""

from __future__ import annotations

import hashlib
import random
from collections import deque
from collections.abc import Callable, Iterable
from typing import TypeVar

from protocol import effects as fx
from protocol.agreement import Agreement, claim
from protocol.dealing import Decks
from protocol.events import Event
from protocol.fast_deck import FastDecks
from protocol.identity import Identity
from protocol.session import Session
from tests.protocol.toy_game import toy_game


def identity(number: int) -> Identity:
    return Identity(hashlib.sha256(b"identity %d" % number).digest())


def agreement(seats: int, *, options: dict[str, str] | None = None, **more: object) -> Agreement:
    claims = tuple(
        claim(identity(seat), f"Seat{seat}", hashlib.sha256(b"salt %d" % seat).digest())
        for seat in range(seats)
    )
    fields: dict[str, object] = {"window_ms": 0, "turn_ms": 60_000, "step_ms": 10_000, **more}
    return Agreement(
        game="toy",
        rules_version=1,
        options=tuple(sorted((options or {}).items())),
        seats=claims,
        **fields,  # type: ignore[arg-type]
    )


class Peer:
    """One session with its disk.  Numbers from the count of seats on are spectators."""

    def __init__(self, table: Table, seat: int) -> None:
        self.table = table
        self.seat = seat
        self.journal: list[bytes] = []
        self.synced = 0
        self.secrets: dict[int, bytes] = {}
        self.public: list[bytes] = []
        self.events: list[Event] = []
        self.sent: list[bytes] = []
        self.timer: float | None = None
        self.up = True
        self.doubt = False
        self.random = random.Random(table.seed * 100 + seat)
        self.start()

    def start(self) -> None:
        self.public = []
        self.timer = None
        self.session = Session(
            identity(self.seat),
            self.table.agreement,
            toy_game,
            self.random.randbytes,
            list(self.journal),
            secrets=dict(self.secrets),
            doubt=self.doubt,
            decks=self.table.decks,
            now=self.table.now,
        )

    def crash(self, *, torn: bool = False) -> None:
        """``torn``: what was not synced is lost."""
        self.up = False
        if torn:
            del self.journal[self.synced :]

    def carry_out(self) -> None:
        for effect in self.session.take_effects():
            match effect:
                case fx.Record(data=data, must_sync=must_sync):
                    self.journal.append(data)
                    if must_sync:
                        self.synced = len(self.journal)
                case fx.Publish(data=data):
                    self.public.append(data)
                case fx.StoreSecret(hand=hand, data=data):
                    self.secrets[hand] = data
                case fx.WipeSecret(hand=hand):
                    self.secrets.pop(hand, None)
                case fx.Send(link=link, message=message):
                    self.sent.append(message)
                    self.table.post(self.seat, link, message)
                case fx.Close(link=link):
                    self.table.unlink(self.seat, link)
                case fx.Work(job=job, function=function):
                    self.table.queue.append(("work", self.seat, job, function(), self.session))
                case fx.Timer(at=at):
                    self.timer = at
                case fx.Notify(event=event):
                    self.events.append(event)


class Table:
    """Peers and links.  Link numbers are ``100 * low + high``, the same at both ends."""

    def __init__(
        self,
        seats: int,
        *,
        links: Iterable[tuple[int, int]] | None = None,
        decks: Decks | None = None,
        seed: int = 1,
        options: dict[str, str] | None = None,
        play: Callable[[Peer], str | None] | None = None,
        watchers: int = 0,
        **more: object,
    ) -> None:
        self.seed = seed
        self.now = 100.0
        self.agreement = agreement(seats, options=options, **more)
        self.decks = decks if decks is not None else FastDecks()
        self.queue: deque[tuple[object, ...]] = deque()
        self.random = random.Random(seed)
        self.links: dict[int, tuple[int, int]] = {}
        self.serial = 0
        self.play = play or self.random_move
        self.lose: Callable[[int, int, bytes], bool] = lambda source, target, message: False
        self.alter: Callable[[int, int, bytes], bytes] = lambda source, target, message: message
        self.shuffle = False
        self.peers = [Peer(self, seat) for seat in range(seats + watchers)]
        mesh = [(low, high) for high in range(seats) for low in range(high)]
        for low, high in links if links is not None else mesh:
            self.link(low, high)

    # --- the net ---------------------------------------------------------------------------------------

    def link(self, one: int, other: int) -> int:
        self.serial += 1
        self.links[self.serial] = (one, other)
        for seat, peer in ((one, other), (other, one)):
            if self.peers[seat].up:
                self.peers[seat].session.link_up(self.serial, identity(peer).public_key, self.now)
                self.peers[seat].carry_out()
        return self.serial

    def unlink(self, seat: int, number: int) -> None:
        for end in self.links.pop(number, ()):
            if self.peers[end].up:
                self.peers[end].session.link_down(number, self.now)
                self.peers[end].carry_out()

    def post(self, seat: int, number: int, message: bytes) -> None:
        ends = self.links.get(number)
        if ends is not None:
            target = ends[1] if ends[0] == seat else ends[0]
            if not self.lose(seat, target, message):
                self.queue.append(("message", target, number, self.alter(seat, target, message)))

    def crash(self, seat: int, *, torn: bool = False) -> None:
        self.peers[seat].crash(torn=torn)
        for number in [n for n, ends in self.links.items() if seat in ends]:
            self.unlink(seat, number)

    def restart(self, seat: int, links: Iterable[int] | None = None) -> None:
        self.peers[seat].up = True
        self.peers[seat].start()
        self.peers[seat].carry_out()
        for other in links if links is not None else range(len(self.peers)):
            if other != seat and self.peers[other].up:
                self.link(seat, other)

    # --- running ---------------------------------------------------------------------------------------

    def random_move(self, peer: Peer) -> str | None:
        moves = peer.session.legal_moves()
        return self.random.choice(moves) if moves else None

    def step(self) -> bool:
        """Let the next thing happen.  False if nothing is left but timers."""
        if self.queue:
            at = self.random.randrange(len(self.queue)) if self.shuffle else 0
            what, seat, number, payload, *more = self.queue[at]
            del self.queue[at]
            peer = self.peers[seat]  # type: ignore[index]
            if not peer.up:
                return True
            if what == "message":
                if number in self.links:
                    peer.session.received(number, payload, self.now)  # type: ignore[arg-type]
            elif more[0] is peer.session:
                peer.session.work_done(number, payload, self.now)  # type: ignore[arg-type]
            peer.carry_out()
            return True
        for peer in self.peers:
            if peer.up and not peer.session.over:
                text = self.play(peer)
                if text is not None:
                    before = peer.session.owes, peer.session.step
                    peer.session.move(text, self.now)
                    peer.carry_out()
                    if (peer.session.owes, peer.session.step) != before:
                        return True
        return bool(self.queue)

    def run(
        self, *, until: Callable[[], bool] | None = None, seconds: float = 600.0, limit: int = 200_000
    ) -> None:
        """Until every peer that is up is over (or ``until``); fails if that does not happen in time."""
        done = until or (lambda: all(peer.session.over for peer in self.peers if peer.up))
        ends = self.now + seconds
        for _ in range(limit):
            if done():
                return
            if self.step():
                continue
            timers = [peer.timer for peer in self.peers if peer.up and peer.timer is not None]
            assert timers, f"nothing moves: {self.state()}"
            self.now = max(self.now, min(timers))
            assert self.now <= ends, f"not done in {seconds} s: {self.state()}"
            for peer in self.peers:
                if peer.up and peer.timer is not None and peer.timer <= self.now:
                    peer.timer = None
                    peer.session.tick(self.now)
                    peer.carry_out()
        raise AssertionError(f"not done after {limit} events: {self.state()}")

    def state(self) -> list[object]:
        return [
            (p.seat, p.session.epoch, p.session.step, p.session.stage.value, p.session.waiting_for)
            for p in self.peers
            if p.up
        ]

    def logs(self) -> list[list[bytes]]:
        return [peer.public for peer in self.peers]


E = TypeVar("E", bound=Event)


def events_of(peer: Peer, kind: type[E]) -> list[E]:
    return [event for event in peer.events if isinstance(event, kind)]
