"""Lies before the table has begun: nobody can be absent from the agreement, so nothing is decided about it.

The numbers are those of docs/faults.md.
"""

from __future__ import annotations

import os

import pytest

from protocol import events, evidence, gossip
from protocol.entry import Entry, Kind, sign
from protocol.events import Accusation
from protocol.verify import verify_log
from tests.protocol.tables import Peer, Table, events_of, identity
from tests.protocol.toy_game import toy_game


def signed(table: Table, seat: int, kind: Kind, step: int, body: object, *, round: int = 0) -> Entry:
    head = table.peers[0].session.head
    return sign(
        identity(seat),
        table=table.agreement.table,
        epoch=0,
        step=step,
        seat=seat,
        kind=kind,
        round=round,
        body=body,
        prev=head if step == 0 else bytes(32),
    )


def hear(peer: Peer, source: int, message: bytes) -> None:
    link = next(number for number, ends in peer.table.links.items() if set(ends) == {peer.seat, source})
    peer.session.received(link, message, peer.table.now)
    peer.carry_out()


def without_the_last(seats: int) -> Table:
    """Everybody but the last has signed the agreement; what the last one says is lost."""
    table = Table(seats, options={"bids": "no"})
    table.lose = lambda source, target, message: source == seats - 1
    table.run(until=lambda: not table.queue)
    assert all(peer.session.waiting_for == (seats - 1,) for peer in table.peers[:-1])
    return table


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize(("kind", "step"), [(Kind.AGREE, 0), (Kind.MOVE, 5), (Kind.PREVOTE, 0)])
def test_f41_a_seat_that_lies_before_it_has_agreed_is_named_and_stops_nobodys_program(
    seats: int, kind: Kind, step: int
) -> None:
    table = without_the_last(seats)
    liar, honest = seats - 1, table.peers[:-1]
    rounds = {"round": 1} if kind is Kind.PREVOTE else {}
    pair = [signed(table, liar, kind, step, bytes([number]) * 32, **rounds) for number in (1, 2)]
    hear(honest[0], liar, gossip.write_contradiction(*pair))
    table.run(until=lambda: all(events_of(peer, events.EvidenceFound) for peer in honest), seconds=60)
    for _ in range(30):
        table.now += 20.0
        for peer in honest:
            peer.session.tick(table.now)
            peer.carry_out()
        table.run(until=lambda: not table.queue)
    for peer in honest:
        (found,) = events_of(peer, events.EvidenceFound)
        assert (found.seat, found.accusation) == (liar, Accusation.EXPOSED)
        assert evidence.check(found.data, toy_game, table.decks, os.urandom).seat == liar
        assert (peer.session.step, peer.session.waiting_for) == (0, (liar,))
        assert not events_of(peer, events.SeatAbsent), "there is no table yet that it could be absent from"
    if seats < 3:
        return  # two players decide nothing
    table.lose = lambda source, target, message: False
    table.run(until=lambda: all(peer.session.over for peer in honest), seconds=2000)
    assert liar in verify_log(honest[0].public, toy_game, table.decks, os.urandom).dropped
    assert all(peer.public == honest[0].public for peer in honest)


def test_f47_two_of_three_cannot_decide_that_the_third_has_not_agreed() -> None:
    """Their votes and their certificate are a quorum's, and of no use here."""
    table = without_the_last(3)
    victim = table.peers[0]
    closing = [[0, b""], [1, b"\1" * 32], [2, b"\2" * 32]]
    precommits = [signed(table, seat, Kind.PRECOMMIT, 0, [closing, []], round=1) for seat in (1, 2)]
    prevotes = [signed(table, seat, Kind.PREVOTE, 0, [closing, [], [], 0], round=1) for seat in (1, 2)]
    for votes in (prevotes, precommits):
        for source in (1, 2):
            hear(victim, source, gossip.write_certificate([vote.value() for vote in votes]))
            for message in gossip.write_entries(votes):
                hear(victim, source, message)
    assert (victim.session.step, victim.session.waiting_for) == (0, (2,))
    table.lose = lambda source, target, message: False
    table.run(seconds=2000)
    assert all(peer.public == victim.public for peer in table.peers)
    assert not any(events_of(peer, events.SeatAbsent) for peer in table.peers)
