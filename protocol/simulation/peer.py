"""One peer of a simulated table: its session, disk and player, and a liar's hands on its entries.

It carries out the effects of its session in order; a slow disk holds up what comes after.  The player chooses among the legal
moves, after thinking a little.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

from protocol import effects as fx
from protocol import events
from protocol.errors import LocalProtocolError
from protocol.game import Refused
from protocol.session import Session
from protocol.simulation.byzantine import Misbehaviour, misbehave
from protocol.simulation.disk import DiskFull, SimulatedDisk

if TYPE_CHECKING:
    from protocol.simulation.world import World


class Peer:
    """One process: a session, its disk, its clock."""

    def __init__(self, world: World, seat: int, misbehaviour: Misbehaviour | None) -> None:
        self.world = world
        self.seat = seat
        self.misbehaviour = misbehaviour
        self.disk = SimulatedDisk()
        self.random = Random(f"{world.setup.seed}/peer {seat}")
        self.up = False
        self.gone = False
        self.frozen_until = 0.0
        self.offset = 0.0
        self.sync_seconds = world.weather.sync_seconds
        self.told: list[events.Event] = []
        self.session: Session
        self._effects: deque[fx.Effect] = deque()
        self._busy = False
        self._life = 0
        self._timer = 0
        self._thinking = False
        self._thought = 0

    @property
    def now(self) -> float:
        return self.world.now + self.offset

    def start(self) -> None:
        """A process begins, with what the disk has."""
        self.up = True
        self._life += 1
        self._busy = self._thinking = False
        self._effects.clear()
        self.disk.begin()
        setup = self.world.setup
        try:
            self.session = Session(
                self.world.identities[self.seat],
                self.world.agreement,
                setup.make_game,
                self.random.randbytes,
                list(self.disk.journal),
                secrets=dict(self.disk.secrets),
                decks=setup.decks,
                now=self.now,
            )
        except Exception as error:
            if self._life == 1:
                raise  # the setup makes no table
            self.world.failed(self, error)
            self.stop()
            return
        if self.misbehaviour is not None:
            misbehave(self.misbehaviour, self.session, self.random)
        self.act()

    def stop(self, *, torn: bool = False) -> None:
        """The process is killed."""
        self.up = False
        self.frozen_until = 0.0
        self._life += 1
        self._effects.clear()
        self.disk.crash(self.random, torn=torn)
        self.world.cut_all(self.seat)

    # --- inputs ----------------------------------------------------------------------------------------

    def give(self, do: Callable[[Session], None]) -> None:
        """Hand the session something, now or when the process runs again."""
        if not self.up:
            return
        if self.world.now < self.frozen_until:
            self.later(0.0, lambda: self.give(do))
            return
        try:
            do(self.session)
        except Exception as error:
            if self.misbehaviour is None:
                self.world.failed(self, error)
                return
            self.world.trace(self.seat, "liar failed", f"{type(error).__name__}: {error}")
            # It has told its own program something that cannot be; nobody else may notice more than a seat that vanishes.
            self.gone = True
            self.stop()
            return
        self.act()

    def hear(self, link: int, message: bytes) -> None:
        """A message has arrived."""
        self.give(lambda session: session.received(link, message, self.now))

    def later(self, seconds: float, do: Callable[[], None]) -> None:
        """Something of this process's life: it waits while the process stands still, and dies with it."""
        life = self._life

        def due() -> None:
            if self._life != life or not self.up:
                return
            if self.world.now < self.frozen_until:
                self.world.at(self.frozen_until, due)
            else:
                do()

        self.world.at(self.world.now + seconds, due)

    # --- effects ---------------------------------------------------------------------------------------

    def act(self) -> None:
        """Carry out what the session asks for, in order."""
        self._effects += self.session.take_effects()
        try:
            while self._effects and not self._busy:
                self._carry_out(self._effects.popleft())
        except DiskFull:
            self.world.trace(self.seat, "halt", "disk full")
            self.stop()
            return
        self.world.looked(self)
        self._think()

    def _carry_out(self, effect: fx.Effect) -> None:
        match effect:  # the most frequent first
            case fx.Notify(event=event):
                self.told.append(event)
                self.world.heard(self, event)
            case fx.Send(link=link, message=message):
                self.world.send(self, link, message)
            case fx.Timer(at=at):
                self._timer += 1
                number = self._timer
                self.later(max(0.0, at - self.now), lambda: self._tick(number))
            case fx.Record(data=data, must_sync=must_sync):
                self.disk.append(data, sync=must_sync)
                if must_sync:
                    self.world.recorded(self, data)
                if must_sync and self.sync_seconds > 0.1:
                    self._busy = True
                    self.later(self.sync_seconds, self._ready)
            case fx.Publish(data=data):
                self.disk.publish(data)
                self.world.published(self, len(self.disk.public) - 1, data)
            case fx.StoreSecret(hand=hand, data=data):
                self.disk.store(hand, data)
            case fx.WipeSecret(hand=hand):
                self.disk.wipe(hand)
            case fx.Close(link=link):
                self.world.cut(link)
            case fx.Work(job=job, function=function):
                result = function()
                seconds = self.random.uniform(0.005, 0.04)
                self.later(
                    seconds, lambda: self.give(lambda session: session.work_done(job, result, self.now))
                )

    def _ready(self) -> None:
        self._busy = False
        self.act()

    def _tick(self, number: int) -> None:
        if number == self._timer:
            self.give(lambda session: session.tick(self.now))

    # --- playing ---------------------------------------------------------------------------------------

    def _think(self) -> None:
        if self._thinking or self.session.over or not self.session.legal_moves():
            return
        self._thinking = True
        self._when_thought(self.random.uniform(0.01, self.world.setup.think_seconds), self._choose)

    def _when_thought(self, seconds: float, do: Callable[[], None]) -> None:
        """One thought at a time: a later one takes the place of this."""
        self._thought += 1
        number = self._thought
        self.later(seconds, lambda: do() if number == self._thought else None)

    def _choose(self) -> None:
        self._thinking = False
        step = self.session.step
        text = self.world.setup.choose(self.session, self.random)
        if text is None:
            return
        self.give(lambda session: self._move(session, text))
        if self.session.step == step and self.session.owes:
            # An answer waits for the countdown; think again only when something has changed.
            self._thinking = True
            self._when_thought(1.0, self._think_again)
        self.act()

    def _move(self, session: Session, text: str) -> None:
        try:
            session.move(text, self.now)
        except (Refused, LocalProtocolError) as error:
            self.world.trace(self.seat, "refused", str(error))

    def _think_again(self) -> None:
        self._thinking = False
        self._think()
