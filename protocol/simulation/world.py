"""A table of complete peers in one process: a seeded heap of events, virtual time, simulated links and disks.

A link delivers in order, as TCP does, and breaks with what is on its way.  Broken links are dialled again with
back-off.

An event is a moment and something to do; the heap orders by moment, then by number, so a seed gives one run.
"""

from __future__ import annotations

import gc
import hashlib
import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from typing import Final

from protocol import events, gossip
from protocol.agreement import Agreement, claim
from protocol.entry import entry_id, from_value
from protocol.fast_deck import FastDecks
from protocol.identity import Identity
from protocol.quorum import liars, quorum
from protocol.records import OwnRecord, is_own, read_record
from protocol.simulation.byzantine import Misbehaviour
from protocol.simulation.faults import WAVE_STEPS, Fault, Weather, waves, weather
from protocol.simulation.invariants import Invariants
from protocol.simulation.peer import Peer
from protocol.simulation.shared import SharedIdentity
from protocol.simulation.terms import Passage, Report, Setup, Trace
from protocol.verify import LogRefused, verify_log

HALF_OPEN_SECONDS: Final = 12.0
"""A link on which nothing arrives is given up after this (heartbeats)."""

REDIAL_SECONDS: Final = 1.0
MAX_EVENTS: Final = 2_000_000
BETWEEN_COLLECTIONS: Final = 50_000
"""Objects that come into being between two collections of garbage."""


class World:
    """All peers, all links, one clock."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.now = 0.0
        self.random = Random(f"{setup.seed}/world")
        self.weather: Weather = weather(setup.faults, self.random)
        # Beside real decks the signatures are verified too; that is little there.
        make_identity = SharedIdentity if isinstance(setup.decks, FastDecks) else Identity
        self.identities = [
            make_identity(hashlib.sha256(b"simulated seat %d" % seat).digest()) for seat in range(setup.seats)
        ]
        self.agreement = Agreement(
            game=setup.game,
            rules_version=setup.rules_version,
            options=setup.options,
            seats=tuple(
                claim(
                    identity,
                    f"Seat {seat}",
                    hashlib.sha256(b"salt %d %d" % (setup.seed, seat)).digest(),
                    bot="simulated",
                )
                for seat, identity in enumerate(self.identities)
            ),
            window_ms=setup.window_ms,
            turn_ms=setup.turn_ms,
            step_ms=setup.step_ms,
            strict=setup.strict,
        )
        self.honest = frozenset(range(setup.seats)) - set(setup.misbehaviours)
        self.invariants = Invariants(self.honest)
        self.traces: list[Trace] = []
        self.passages: list[Passage] = []
        self.counts: Counter[str] = Counter()
        self.touched: Counter[str] = Counter()
        """Messages that the weather changed."""
        self._sent: set[bytes] = set()
        self._last_sent: dict[int, bytes] = {}
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._serial = 0
        self._links: dict[int, tuple[int, int]] = {}
        self._arrives: dict[tuple[int, int], float] = {}
        self._blocked: Counter[tuple[int, int]] = Counter()
        self.peers = [
            Peer(self, seat, misbehaviour_of(setup.misbehaviours.get(seat), setup.seed, seat))
            for seat in range(setup.seats)
        ]
        self.plan: list[Fault] = []
        """What strikes, and when: as far as the waves have begun."""
        self.waves = waves(setup.faults, setup.seats, setup.seed, hands=setup.hands)
        self._begun = 0
        self.fate = dict.fromkeys(range(setup.seats), "")

    # --- time ------------------------------------------------------------------------------------------

    def at(self, time: float, do: Callable[[], None]) -> None:
        self._serial += 1
        heapq.heappush(self._heap, (time, self._serial, do))

    def run(self) -> Report:
        """The whole game, or as far as it comes."""
        self._begin_wave()
        for peer in self.peers:
            peer.start()
        for high in range(len(self.peers)):
            for low in range(high):
                self._dial(low, high, REDIAL_SECONDS)
        with _few_collections():
            happenings = self._go_on()
            self._judge()
        return self._report(happenings)

    def _go_on(self) -> int:
        """Event by event, to the end.  Returns how many there were."""
        happenings = 0
        while self._heap and happenings < MAX_EVENTS:
            time, _, do = heapq.heappop(self._heap)
            if time > self.setup.seconds:
                break
            self.now = time
            do()
            happenings += 1
            if self.invariants.violations or self._finished():
                break
        return happenings

    # --- links -----------------------------------------------------------------------------------------

    def _dial(self, low: int, high: int, wait: float) -> None:
        """Connect two peers as soon as they can reach each other; again whenever the link is gone."""
        ends = (self.peers[low], self.peers[high])
        blocked = self._blocked[low, high] or self._blocked[high, low]
        if any(peer.gone for peer in ends):
            return
        if all(peer.up and self.now >= peer.frozen_until for peer in ends) and not blocked:
            self._serial += 1
            link = self._serial
            self._links[link] = (low, high)
            for seat, other in ((low, high), (high, low)):
                key = self.identities[other].public_key
                self.peers[seat].give(
                    lambda session, key=key, seat=seat: session.link_up(link, key, self.peers[seat].now)  # type: ignore[misc]
                )
            return
        wait = min(wait * 1.5, 10.0)
        self.at(self.now + wait, lambda: self._dial(low, high, wait))

    def cut(self, link: int) -> None:
        """A link breaks; what is on its way is lost."""
        ends = self._links.pop(link, None)
        if ends is None:
            return
        for seat in ends:
            self.peers[seat].give(
                lambda session, seat=seat: session.link_down(link, self.peers[seat].now)  # type: ignore[misc]
            )
        self.at(self.now + REDIAL_SECONDS, lambda: self._dial(*ends, REDIAL_SECONDS))

    def cut_all(self, seat: int) -> None:
        for link in [number for number, ends in self._links.items() if seat in ends]:
            self.cut(link)

    def send(self, peer: Peer, link: int, message: bytes) -> None:
        ends = self._links.get(link)
        if ends is None:
            return
        target = ends[1] if ends[0] == peer.seat else ends[0]
        messages, held_back = [message], 0.0
        if peer.misbehaviour is not None:
            messages = peer.misbehaviour.outgoing(self.now, target, message)
            held_back = peer.misbehaviour.held_back_seconds()
        elif peer.seat in self.honest:
            self._watch_sent(peer, message)
        for item in messages:
            self._deliver(peer.seat, target, link, item, held_back)

    def _deliver(self, source: int, target: int, link: int, message: bytes, held_back: float) -> None:
        weather = self.weather
        if self._blocked[source, target]:
            self._note_passage(source, target, None, message)
            # Nothing arrives; the heartbeats find out.
            self.at(self.now + HALF_OPEN_SECONDS, lambda: self.cut(link))
            return
        delay = held_back + weather.latency_seconds + self.random.random() * weather.jitter_seconds
        if weather.overtake_seconds and self.random.random() < 0.05:
            delay += self.random.random() * weather.overtake_seconds
            self.touched["reorder"] += 1
        arrives = max(self._arrives.get((link, source), 0.0), self.now + delay)
        self._arrives[link, source] = arrives
        self._note_passage(source, target, arrives, message)
        times = 2 if self.random.random() < weather.duplicate else 1
        self.touched["duplicate"] += times - 1
        self.touched["delay"] += "delay" in self.setup.faults
        receiver = self.peers[target]
        for _ in range(times):
            self.at(
                arrives,
                lambda: receiver.hear(link, message) if link in self._links else None,
            )

    def _note_passage(self, source: int, target: int, arrives: float | None, message: bytes) -> None:
        if self.setup.record_messages:
            passage = Passage(sent=self.now, arrives=arrives, source=source, target=target, message=message)
            self.passages.append(passage)

    # --- faults ----------------------------------------------------------------------------------------

    def _begin_wave(self) -> None:
        for fault in self.waves[self._begun]:
            due = replace(fault, at=self.now + fault.at)
            self.plan.append(due)
            self.at(due.at, lambda due=due: self._strike(due))  # type: ignore[misc]
        self._begun += 1

    def _strike(self, fault: Fault) -> None:
        seat = fault.seats[0]
        peer = self.peers[seat]
        self.trace(seat, fault.name, f"{fault.seats} for {fault.seconds:.1f} s")
        self.counts[fault.name] += 1
        end = self.now + fault.seconds
        match fault.name:
            case "loss":
                for link in [number for number, ends in self._links.items() if set(ends) == set(fault.seats)]:
                    self.cut(link)
            case "asymmetric":
                self._block([(fault.seats[0], fault.seats[1])], end)
            case "partition":
                others = [other for other in range(self.setup.seats) if other not in fault.seats]
                pairs = [(one, other) for one in fault.seats for other in others]
                self._block([*pairs, *((other, one) for one, other in pairs)], end)
            case "crash" | "torn" | "clock":
                if fault.name == "clock":
                    peer.offset += self.random.uniform(0.0, 86_400.0)
                self._restart(peer, end, torn=fault.name == "torn")
            case "full":
                peer.disk.full = True
                self.at(end, lambda: self._make_room(peer))
            case "slow":
                peer.sync_seconds = self.random.uniform(0.5, 4.0)
                self.at(end, lambda: setattr(peer, "sync_seconds", self.weather.sync_seconds))
            case "suspend":
                peer.frozen_until = max(peer.frozen_until, end)
            case "vanish":
                peer.gone = True
                if peer.up:
                    peer.stop()

    def _block(self, pairs: Sequence[tuple[int, int]], end: float) -> None:
        for pair in pairs:
            self._blocked[pair] += 1
            self.at(end, lambda pair=pair: self._blocked.subtract([pair]))  # type: ignore[misc]

    def _restart(self, peer: Peer, end: float, *, torn: bool = False) -> None:
        if peer.up:
            peer.stop(torn=torn)
        self.at(end, lambda: None if peer.up or peer.gone or peer.disk.full else peer.start())

    def _make_room(self, peer: Peer) -> None:
        peer.disk.full = False
        if not peer.up and not peer.gone:
            peer.start()

    # --- watching --------------------------------------------------------------------------------------

    def trace(self, seat: int, what: str, detail: str) -> None:
        self.traces.append(Trace(time=self.now, seat=seat, what=what, detail=detail))

    def published(self, peer: Peer, number: int, data: bytes) -> None:
        if peer.seat in self.honest:
            self.invariants.published(self.now, peer.seat, number, data)

    def heard(self, peer: Peer, event: events.Event) -> None:
        if peer.seat not in self.honest:
            return
        match event:
            case events.EvidenceFound(seat=seat, reason=reason):
                self.invariants.convicted(self.now, peer.seat, seat, reason)
                self.trace(peer.seat, "evidence", f"seat {seat}: {reason}")
            case events.SeatDropped(seat=seat):
                self.trace(peer.seat, "drop", f"seat {seat}")
            case events.Ruled(winner=winner):
                self.trace(peer.seat, "ruling", f"winner {winner}")
            case events.EpochBegan(epoch=epoch, step=step):
                self.trace(peer.seat, "epoch", f"{epoch} at step {step}")
            case _:
                pass

    def recorded(self, peer: Peer, data: bytes) -> None:
        """A record is on a disk to stay."""
        if peer.seat not in self.honest or not is_own(data):
            return
        record = read_record(data, number=len(peer.disk.journal) - 1)
        if isinstance(record, OwnRecord):
            self.invariants.signed(self.now, record.entry)

    def failed(self, peer: Peer, error: Exception) -> None:
        """The program of a peer has ended in an error."""
        if peer.seat in self.honest:
            self.invariants.failed(self.now, peer.seat, error)

    def looked(self, peer: Peer) -> None:
        if peer.up and peer.seat in self.honest and self.invariants.is_news(peer.seat, peer.session):
            sessions = {
                other.seat: other.session for other in self.peers if other.up and other.seat in self.honest
            }
            self.invariants.looked(self.now, peer.seat, sessions)
            if self._begun < len(self.waves) and peer.session.step >= self._begun * WAVE_STEPS:
                self._begin_wave()

    def _watch_sent(self, peer: Peer, message: bytes) -> None:
        """Look at each entry when it is first sent, which is by its author."""
        if self._last_sent.get(peer.seat) == message:
            return  # the same for another link
        self._last_sent[peer.seat] = message
        said = gossip.read(message) if message[1] == gossip.Message.ENTRIES else None
        for value in said.entries if isinstance(said, gossip.Entries) else ():
            content, _ = value
            seen = entry_id(content)
            if seen in self._sent:
                continue
            self._sent.add(seen)
            entry = from_value(value)
            if entry.seat == peer.seat:
                self.invariants.sent(self.now, entry)

    # --- the end ---------------------------------------------------------------------------------------

    def _finished(self) -> bool:
        return all(
            peer.up and peer.session.over for peer in self.peers if peer.seat in self.honest and not peer.gone
        )

    def _may_be_stuck(self) -> bool:
        """Whether fewer seats than a quorum were left, or more lied than the table bears."""
        left = [peer for peer in self.peers if not peer.gone and peer.seat in self.honest]
        lying = len(self.setup.misbehaviours)
        if len(left) < self.setup.seats and all(peer.session.step == 0 for peer in left):
            return True  # a table that was never agreed to by all has not begun
        roster = max((peer.session for peer in left if peer.up), key=lambda session: session.step).seats
        able = [peer for peer in left if peer.seat in roster]
        if len(able) < quorum(len(roster)):
            return True
        return len(left) < quorum(self.setup.seats) or lying > liars(self.setup.seats)

    def _judge(self) -> None:
        broken = bool(self.invariants.violations)
        refusals: dict[tuple[bytes, ...], str] = {}  # equal logs are verified once
        for peer in self.peers:
            if peer.seat not in self.honest or peer.gone:
                continue
            if broken:
                pass  # the run was ended there
            elif not (peer.up and peer.session.over) and not self._may_be_stuck():
                where = f"step {peer.session.step} ({peer.session.stage.value})" if peer.up else "down"
                self.invariants.finished(self.now, peer.seat, f"has not finished: {where}")
            log = tuple(peer.disk.public)
            if log and log not in refusals:
                refusals[log] = self._refusal(log)
            if log and refusals[log]:
                self.invariants.refused(self.now, peer.seat, refusals[log])

    def _refusal(self, log: Sequence[bytes]) -> str:
        """Why this public log does not verify, or ""."""
        entropy = Random(f"{self.setup.seed}/verify").randbytes
        try:
            verify_log(log, self.setup.make_game, self.setup.decks, entropy)
        except LogRefused as refused:
            return str(refused)
        return ""

    def _report(self, happenings: int) -> Report:
        best = max(
            (peer for peer in self.peers if peer.seat in self.honest), key=lambda peer: peer.session.step
        )
        told = best.told
        evidence = sorted(
            {
                (event.seat, event.reason)
                for peer in self.peers
                if peer.seat in self.honest
                for event in peer.told
                if isinstance(event, events.EvidenceFound)
            }
        )
        outcome = "finished" if self._finished() else "stuck, as it must be"
        return Report(
            seed=self.setup.seed,
            seats=self.setup.seats,
            seconds=self.now,
            happenings=happenings,
            steps=best.session.step,
            epochs=best.session.epoch + 1,
            hands=best.session.game.hand,
            drops=sum(isinstance(event, events.SeatDropped) for event in told),
            returns=sum(isinstance(event, events.SeatReturned) for event in told),
            rulings=sum(isinstance(event, events.Ruled) for event in told),
            evidence=tuple(evidence),
            voids=Counter(
                (event.seat, event.reason) for event in told if isinstance(event, events.AnswerVoid)
            ),
            faults=tuple(self.plan),
            injected=+(self.counts + self.touched),
            acts={peer.seat: peer.misbehaviour.acts for peer in self.peers if peer.misbehaviour is not None},
            outcome="violation" if self.invariants.violations else outcome,
            violations=tuple(self.invariants.violations),
            head=best.session.head,
        )


@contextmanager
def _few_collections() -> Iterator[None]:
    """A run leaves hardly any cycles behind; looking for them at the usual pace takes a tenth of its time."""
    usual = gc.get_threshold()
    gc.set_threshold(BETWEEN_COLLECTIONS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def misbehaviour_of(name: str | None, seed: int, seat: int) -> Misbehaviour | None:
    return None if name is None else Misbehaviour(name, seat, Random(f"{seed}/misbehaviour {seat}"))


def simulate(setup: Setup) -> Report:
    """One run."""
    return World(setup).run()
