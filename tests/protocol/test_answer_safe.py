"""A caller is told that a call is safe once no decision can leave it out, whoever is the arbiter; and not before."""

from __future__ import annotations

import os

import pytest

from protocol import events
from protocol.ballot import ABSENT, Slot, prevote_body, read_vote, round_change_body
from protocol.entry import Entry, Kind, sign
from protocol.poll import Poll
from protocol.quorum import acknowledgements_for_safety, arbiter_of
from protocol.records import OwnRecord, read_record
from protocol.verify import verify_log
from tests.protocol.tables import Peer, Table, events_of, identity
from tests.protocol.toy_game import toy_game

OPTIONS = {"bids": "no"}
SLOT = Slot(table=bytes(32), epoch=0, step=7, prev=bytes(32))
ANSWER = b"a" * 32


# --- who counts ------------------------------------------------------------------------------------------


def vote(seat: int, kind: Kind, round: int, body: list[object]) -> Entry:
    return sign(
        identity(seat),
        table=SLOT.table,
        epoch=SLOT.epoch,
        step=SLOT.step,
        seat=seat,
        kind=kind,
        round=round,
        body=body,
        prev=SLOT.prev,
    )


def ask(round: int, *, held: bool) -> Entry:
    return vote(1, Kind.ROUND_CHANGE, round, round_change_body(((0, ANSWER),) if held else ()))


def prevote(round: int, entry: bytes) -> Entry:
    return vote(1, Kind.PREVOTE, round, prevote_body(((0, entry), (1, b"b" * 32)), ((0, ANSWER),), (0,), 0))


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        pytest.param(ask(1, held=True), True, id="asks for round 1, and holds it"),
        pytest.param(ask(1, held=False), False, id="asks for round 1 without it"),
        pytest.param(ask(2, held=True), False, id="may have voted for its omission in round 1"),
        pytest.param(prevote(1, ANSWER), True, id="votes for it in round 1"),
        pytest.param(prevote(1, ABSENT), False, id="votes for its omission, its author being exposed"),
        pytest.param(prevote(2, ANSWER), False, id="votes for it in round 2"),
    ],
)
def test_a_vote_counts_if_none_for_the_omission_can_have_come_before(said: Entry, counts: bool) -> None:
    poll = Poll(quorum=3)
    assert poll.take(read_vote(said), present=0)
    assert poll.holders(0, ANSWER) == ({1} if counts else set())


# --- whole tables ----------------------------------------------------------------------------------------


def sealed_by(peer: Peer) -> list[int]:
    """The steps in which this peer has sealed an answer."""
    read = (read_record(data, number=number) for number, data in enumerate(peer.journal))
    return [one.entry.step for one in read if isinstance(one, OwnRecord) and one.entry.kind is Kind.SEALED]


def safe(peer: Peer) -> list[int]:
    return [event.step for event in events_of(peer, events.AnswerSafe)]


def calling(peer: Peer) -> str | None:
    """Low cards are played, and whoever can beat one does."""
    moves = peer.session.legal_moves()
    calls = [move for move in moves if move.startswith("beat")]
    return (calls or moves or [None])[0]


def one_log(table: Table) -> None:
    logs = [peer.public for peer in table.peers if peer.up]
    assert all(log == logs[0] for log in logs)
    assert verify_log(logs[0], toy_game, table.decks, os.urandom).finished
    assert not any(events_of(peer, events.EvidenceFound) for peer in table.peers)


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_in_a_quiet_game_every_answer_is_told_to_be_safe_once(seats: int) -> None:
    table = Table(seats, options=OPTIONS)
    table.run()
    for peer in table.peers:
        assert safe(peer) == sealed_by(peer)
        assert safe(peer)
    one_log(table)


def at_a_window(table: Table, players: int) -> tuple[int, list[Peer]]:
    """Let a window open that so many seats can call in, with nobody's answer given.  Its step, and who can."""
    stage = "sealed"
    table.play = lambda peer: None if peer.session.stage.value == stage else calling(peer)
    while True:
        table.run(until=lambda: all(peer.session.stage.value == stage for peer in table.peers))
        able = [
            peer
            for peer in table.peers
            if any(move.startswith("beat") for move in peer.session.legal_moves())
        ]
        if len(able) >= players:
            return table.peers[0].session.step, able
        step = table.peers[0].session.step
        table.play = calling
        table.run(until=lambda step=step: all(peer.session.step > step for peer in table.peers))  # type: ignore[misc]
        table.play = lambda peer: None if peer.session.stage.value == stage else calling(peer)


@pytest.mark.parametrize("seed", range(4))
def test_f45_a_call_is_safe_though_the_arbiter_is_silent(seed: int) -> None:
    """The seat that would lead the decision is gone; the others say what they hold when they lose patience."""
    table = Table(4, seed=seed, options=OPTIONS)
    step, able = at_a_window(table, 2)
    course = table.peers[0].session._steps.course
    assert course.window is not None
    arbiter = arbiter_of(step, 1, course.roster, (course.window.after,))
    caller = next(peer for peer in able if peer.seat != arbiter)
    table.play = lambda peer: None if peer.seat == arbiter else calling(peer)
    table.run(until=lambda: not table.queue and bool(sealed_by(caller)) and sealed_by(caller)[-1] == step)
    table.crash(arbiter)
    assert step not in safe(caller), "nobody has said yet that it holds the call"
    table.run(until=lambda: step in safe(caller), seconds=60)
    assert caller.session.step == step, "the window is open still"
    told = caller.session._steps.tail.decisions[-1].acknowledged(caller.seat, own_answer(caller, step))
    assert len(told - {caller.seat}) == acknowledgements_for_safety(4) == 2
    assert arbiter not in told
    table.run(until=lambda: len(events_of(caller, events.Ruled)) > ruled_before(caller, step), seconds=600)
    answers = dict(events_of(caller, events.Ruled)[-1].answers)
    assert answers[caller.seat].startswith("beat")
    assert answers[arbiter] == "pass"
    table.play = calling
    table.run(seconds=900)
    assert safe(caller) == sealed_by(caller), "once each"
    one_log(table)


def own_answer(peer: Peer, step: int) -> bytes:
    return next(
        entry.id
        for entry in peer.session._steps.entries_of(step)
        if (entry.seat, entry.kind) == (peer.seat, Kind.SEALED)
    )


def ruled_before(peer: Peer, step: int) -> int:
    """How many windows were ruled before this step: each of them was safe before."""
    return sum(number < step for number in sealed_by(peer)) if step else 0


def test_f89_a_call_that_nobody_gets_is_not_told_to_be_safe() -> None:
    table = Table(4, options=OPTIONS)
    step, (caller, *_) = at_a_window(table, 1)
    table.lose = lambda source, target, message: source == caller.seat
    table.play = calling
    others = [peer for peer in table.peers if peer is not caller]
    table.run(until=lambda: all(peer.session.step > step + 3 for peer in others), seconds=600)
    assert sealed_by(caller)[-1] == step
    table.lose = lambda source, target, message: False
    table.run(seconds=900)
    assert step not in safe(caller)
    assert [event.seat for event in events_of(others[0], events.SeatAbsent)][:1] == [caller.seat]
    one_log(table)


def test_of_four_the_word_of_one_other_is_not_enough() -> None:
    """It may be the liar that a table of four bears: two are needed."""
    table = Table(4, options=OPTIONS)
    step, (caller, *_) = at_a_window(table, 1)
    course = table.peers[0].session._steps.course
    assert course.window is not None
    silent = next(seat for seat in course.window.seats if seat != caller.seat)
    friend = next(seat for seat in range(4) if seat not in (caller.seat, silent))
    table.play = lambda peer: None if peer.seat == silent else calling(peer)
    table.run(until=lambda: not table.queue and bool(sealed_by(caller)) and sealed_by(caller)[-1] == step)
    table.crash(silent)
    # Of what the two others say, only one of them is heard by the caller.
    table.lose = lambda source, target, message: target == caller.seat and source != friend
    table.run(until=lambda: bool(acknowledged(caller, step)), seconds=60)
    assert acknowledged(caller, step) == {friend}
    assert step not in safe(caller)
    table.lose = lambda source, target, message: False
    table.run(until=lambda: step in safe(caller), seconds=60)


def acknowledged(peer: Peer, step: int) -> frozenset[int]:
    decision = next(one for one in peer.session._steps.tail.decisions if one.slot.step == step)
    return decision.acknowledged(peer.seat, own_answer(peer, step)) - {peer.seat}


def test_after_a_restart_the_caller_is_told_all_the_same() -> None:
    table = Table(4, options=OPTIONS)
    step, able = at_a_window(table, 1)
    caller = able[0]
    course = table.peers[0].session._steps.course
    assert course.window is not None
    silent = next(seat for seat in course.window.seats if seat != caller.seat)
    table.play = lambda peer: None if peer.seat == silent else calling(peer)
    table.run(until=lambda: not table.queue and bool(sealed_by(caller)) and sealed_by(caller)[-1] == step)
    table.crash(silent)
    table.crash(caller.seat, torn=True)
    table.restart(caller.seat)
    assert step not in safe(caller)
    table.run(until=lambda: step in safe(caller), seconds=60)
    assert caller.session.step == step
