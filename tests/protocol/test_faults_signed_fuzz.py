"""A seat that signs anything at all: well-formed statements of every kind about places near the open step (F84).

Its own program plays on meanwhile.  Whatever it signs, no honest program raises, no honest seat is in evidence, and the
honest seats end with one log.
"""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

from protocol import events, gossip
from protocol.entry import Entry, Kind
from protocol.errors import ProtocolError
from protocol.verify import verify_log
from tests.protocol.liars import honest_are_over, like
from tests.protocol.tables import Peer, Table, events_of
from tests.protocol.toy_game import toy_game

LIAR = 3


class Babbler:
    """Signs with seat 3's key what comes to its mind, mostly near the truth."""

    def __init__(self, table: Table, seed: int) -> None:
        self.table = table
        self.dice = random.Random(seed)
        self.said: list[Entry] = []

    def babble(self) -> None:
        """One message to one honest peer, or to all."""
        targets = [peer for peer in self.table.peers if peer.up and peer.seat != LIAR]
        if self.dice.random() < 0.5:
            targets = [self.dice.choice(targets)]
        statement = self.statement(targets[0])
        self.said.append(statement)
        match self.dice.randrange(6):
            case 0 if len(self.said) > 1:
                messages = [gossip.write_contradiction(statement, self.dice.choice(self.said))]
            case 1:
                votes = self.votes(targets[0], statement)
                messages = [gossip.write_certificate([vote.value() for vote in votes])]
            case _:
                messages = gossip.write_entries([statement])
        for peer in targets:
            link = next((n for n, ends in self.table.links.items() if set(ends) == {peer.seat, LIAR}), None)
            if link is None:  # it was ended; whoever has a key dials again
                link = self.table.link(peer.seat, LIAR)
            for message in messages:
                peer.session.received(link, message, self.table.now)
                peer.carry_out()

    def statement(self, peer: Peer) -> Entry:
        steps: Any = peer.session._steps
        course = steps.course
        near = range(max(0, course.step - 6), course.step + 1)
        known = [entry for step in near for entry in steps.entries_of(step)]
        known += list(steps.shelf.votes_from(max(0, course.step - 6)))
        some = self.dice.choice(known) if known else None
        kind = some.kind if some is not None and self.dice.random() < 0.6 else self.dice.choice(list(Kind))
        back = self.dice.randrange(4) if self.dice.random() < 0.4 else 0
        step = (
            max(0, course.step - back) if self.dice.random() < 0.9 else course.step + self.dice.randrange(5)
        )
        prev = steps.ledger.head_before(min(step, course.step))
        if self.dice.random() < 0.1:
            prev = self.dice.randbytes(32)
        epoch = steps.ledger.epoch_of(min(step, course.step))
        if self.dice.random() < 0.1:
            epoch += self.dice.choice((1, 2))
        body = self.spoilt(some.body) if some is not None and some.kind is kind else self.body(kind, course)
        template = steps.entries_of(0)[LIAR]
        return like(
            template,
            seat=LIAR,
            kind=kind,
            epoch=epoch,
            step=step,
            round=self.dice.choice((0, 0, 1, 1, 2, 3)),
            prev=prev,
            body=body,
        )

    def body(self, kind: Kind, course: Any) -> Any:
        """Something of about the right shape."""
        owed = [[seat, self.dice.choice((b"", self.dice.randbytes(32)))] for seat in course.due.seats]
        shapes: dict[Kind, list[Any]] = {
            Kind.PROPOSAL: [[owed, []]],
            Kind.PREVOTE: [[owed, [], [], 0], [owed, owed, [0], 0], [owed, [], [], 1]],
            Kind.PRECOMMIT: [[owed, []], [owed, owed]],
            Kind.ROUND_CHANGE: [[owed], [[]]],
            Kind.RETURN: [[1], [2]],
            Kind.ABANDON: [[]],
            Kind.MOVE: [["draw", [], []], ["play 3", [0], [bytes(32)]], ["beat 4", [], []]],
            Kind.ANSWER: [["pass", [], [], bytes(32)], ["pass", [], [], b""]],
            Kind.SEALED: [self.dice.randbytes(32)],
            Kind.COMPLAINT: [0, 1, 7],
        }
        return self.dice.choice(shapes.get(kind, [0, [], b"", [[]], self.dice.randbytes(32)]))

    def spoilt(self, body: Any) -> Any:
        """A body that was seen, with something in it changed, or as it is."""
        if isinstance(body, list) and body and self.dice.random() < 0.8:
            at = self.dice.randrange(len(body))
            match self.dice.randrange(4):
                case 0:
                    return [*body[:at], *body[at + 1 :]]
                case 1:
                    return [*body[:at], body[at], *body[at:]]
                case _:
                    return [*body[:at], self.spoilt(body[at]), *body[at + 1 :]]
        if isinstance(body, bytes) and body:
            return bytes([body[0] ^ 1]) + body[1:]
        if type(body) is int:
            return body + self.dice.choice((0, 1, 7))
        return body

    def votes(self, peer: Peer, own: Entry) -> list[Entry]:
        """A certificate of sorts: its own statement among the votes of others."""
        steps: Any = peer.session._steps
        others = [vote for vote in steps.shelf.votes_from(0) if vote.seat != LIAR]
        return sorted([*self.dice.sample(others, min(3, len(others))), own], key=lambda vote: vote.seat)


class Shielded:
    """The liar's own session: what others say in its name may be more than it can bear, and then it is gone."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.session = peer.session

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.session, name)
        if name not in ("link_up", "link_down", "received", "tick", "work_done", "move"):
            return found

        def shielded(*given: Any) -> None:
            try:
                found(*given)
            except ProtocolError:
                self.peer.table.crash(self.peer.seat)

        return shielded


@pytest.mark.parametrize("seed", range(8))
def test_f84_whatever_a_seat_signs_no_honest_program_fails(seed: int) -> None:
    table = Table(
        4,
        seed=seed,
        options={"bids": "yes" if seed % 2 else "no", "hands": "2"},
        step_ms=2_000,
        turn_ms=4_000,
    )
    table.peers[LIAR].session = Shielded(table.peers[LIAR])  # type: ignore[assignment]
    babbler = Babbler(table, seed)
    chance = random.Random(seed)
    honest_step = table.step

    def step() -> bool:
        if chance.random() < 0.03 and len(babbler.said) < 150:
            babbler.babble()
        return honest_step()

    table.run(until=lambda: all(peer.session.step > 0 for peer in table.peers))
    table.step = step  # type: ignore[method-assign]
    table.run(until=honest_are_over(table, LIAR), seconds=20_000)
    others = [peer for peer in table.peers if peer.seat != LIAR]
    assert len(babbler.said) >= 5
    for peer in others:
        assert {found.seat for found in events_of(peer, events.EvidenceFound)} <= {LIAR}
        assert not events_of(peer, events.Halted)
    assert all(peer.public == others[0].public for peer in others)
    assert verify_log(others[0].public, toy_game, table.decks, os.urandom).finished
