"""A step that all hold whole and most know to be decided, while one still votes about it and those have forgotten their votes."""

from __future__ import annotations

from protocol import gossip
from protocol.arbiter import Phase
from protocol.entry import Kind, from_value
from protocol.position import Stage
from tests.protocol.tables import Peer, Table


def decision_of(peer: Peer, step: int) -> Phase | None:
    found = [d for d in peer.session._steps.tail.decisions if d.slot.step == step]
    return found[0].phase if found else None


def test_who_came_back_with_a_certificate_alone_gives_it_to_who_still_votes() -> None:
    table = Table(4, options={"bids": "no", "rounds": "3"})
    late, alone = 3, 2
    parted = True

    def lose(source: int, target: int, message: bytes) -> bool:
        said = gossip.read(message)
        if isinstance(said, gossip.Quorum):
            return target == alone
        if not isinstance(said, gossip.Entries):
            return False
        entries = [from_value(value) for value in said.entries]
        if parted and target in (0, 1) and any(e.seat == late and e.kind is Kind.SHARES for e in entries):
            return True
        return target == alone and any(e.kind is Kind.PRECOMMIT for e in entries)

    table.lose = lose
    table.run(until=lambda: all(table.peers[seat].session.stage is Stage.SHARES for seat in (0, 1)))
    step = table.peers[0].session.step
    table.run(until=lambda: all(decision_of(table.peers[seat], step) is Phase.VOTING for seat in (0, 1)))
    parted = False
    table.run(until=lambda: all(decision_of(table.peers[seat], step) is Phase.DECIDED for seat in (0, 1)))
    table.crash(late)
    table.run(until=lambda: all(table.peers[seat].session.step == step + 1 for seat in (0, 1, alone)))
    assert decision_of(table.peers[alone], step) is Phase.VOTING
    for seat in (0, 1):
        table.crash(seat)
    for seat in (0, 1):
        table.restart(seat)
    # They are asked again, and what they answer, the certificate, is lost once more.
    asked = table.now + 60
    table.run(until=lambda: table.now > asked)
    assert decision_of(table.peers[alone], step) is Phase.VOTING
    table.lose = lambda source, target, message: False
    table.run(seconds=1200)
    assert len({tuple(peer.public) for peer in table.peers if peer.up}) == 1
