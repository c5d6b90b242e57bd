"""Steps that are put away and read again are what they were; what may still change is never put away."""

from __future__ import annotations

import pytest

from protocol import archive as module
from protocol.archive import NEAR, Archive
from protocol.entry import Kind, sign
from protocol.identity import Identity
from protocol.log import ClosedStep, close, genesis
from tests.protocol.tables import Table

TABLE = b"\x11" * 32
ANN = Identity(b"\x01" * 32)


def steps(count: int) -> list[ClosedStep]:
    """A chain of closed steps; seat 1 is absent from every third."""
    chain: list[ClosedStep] = []
    head = genesis(TABLE)
    for step in range(count):
        entry = sign(
            ANN,
            table=TABLE,
            epoch=step // 3,
            step=step,
            seat=0,
            kind=Kind.MOVE,
            body=["x", [], []],
            prev=head,
        )
        chain.append(close(head, step // 3, step, {0: entry, 1: None} if step % 3 == 0 else {0: entry}))
        head = chain[-1].head
    return chain


@pytest.fixture(scope="module")
def chain() -> list[ClosedStep]:
    return steps(NEAR + 50)


def filled(chain: list[ClosedStep], final: int) -> Archive:
    archive = Archive()
    for closed in chain:
        archive.append(closed)
    archive.put_away(final)
    return archive


@pytest.mark.parametrize("final", [0, NEAR, NEAR + 1, NEAR + 49, NEAR + 50])
def test_it_reads_as_the_list_of_steps_that_it_is(chain: list[ClosedStep], final: int) -> None:
    archive = filled(chain, final)
    assert len(archive) == len(chain)
    assert list(archive) == chain
    assert archive[0] == chain[0]
    assert archive[-1] == chain[-1]
    assert archive[3:7] == chain[3:7]
    assert archive[-5:] == chain[-5:]
    assert archive[len(chain) :] == []
    assert archive[:0] == []
    for step in (len(chain), -len(chain) - 1):
        with pytest.raises(IndexError, match=f"step {step} is not closed"):
            archive[step]


def test_only_what_is_final_and_lies_a_while_back_is_put_away(chain: list[ClosedStep]) -> None:
    archive = filled(chain, NEAR + 20)
    assert archive[19] is not chain[19], "it is read again"
    assert archive[20] is chain[20]
    archive.put_away(NEAR)  # nothing is taken back
    assert archive[19] == chain[19]


def test_the_end_can_be_cut_off_and_written_anew(chain: list[ClosedStep]) -> None:
    archive = filled(chain, NEAR + 20)
    archive.cut(NEAR + 30)
    assert list(archive) == chain[: NEAR + 30]
    archive.append(chain[NEAR + 30])
    assert archive[NEAR + 30] is chain[NEAR + 30]
    with pytest.raises(AssertionError, match="not opened again"):
        archive.cut(10)


def test_a_long_game_holds_little_more_than_its_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """The open end and some steps before it are read; all the rest is bytes that are in the public file too."""
    monkeypatch.setattr(module, "NEAR", 20)
    table = Table(2, options={"bids": "no", "hands": "3"})
    table.run()
    peer = table.peers[0]
    closed = peer.session._steps.ledger.closed
    assert len(closed) > 60
    assert len(closed._late) <= 20 + 8
    put_away = [record for record, _ in closed._old]
    assert put_away == peer.public[1 : 1 + len(put_away)]


def test_a_neighbour_that_was_away_from_the_first_step_on_is_given_what_was_put_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "NEAR", 8)
    table = Table(3, options={"bids": "no", "hands": "3"})
    table.run(until=lambda: all(peer.session.step > 4 for peer in table.peers))
    table.crash(2)
    table.peers[2].journal.clear()
    table.peers[2].synced = 0
    table.peers[2].doubt = True
    table.run(until=lambda: len(table.peers[0].session._steps.ledger.closed._old) > 20, seconds=3000)
    table.restart(2)
    table.run(seconds=3000)
    assert table.peers[2].public == table.peers[0].public
