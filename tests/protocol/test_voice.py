"""What a seat has said, after a restart with the journal of a long game."""

from __future__ import annotations

import time
from dataclasses import replace

from protocol.entry import Kind, sign
from protocol.fast_deck import FastDecks
from protocol.own import OwnSeat
from protocol.position import Due, Stage
from protocol.voice import Outbox, Voice
from tests.protocol.tables import identity

TABLE = b"\x11" * 32
LONG = 20_000


def voice() -> Voice:
    return Voice(OwnSeat(identity(0), 0, FastDecks(), lambda count: bytes(count), {}), Outbox())


def due(step: int) -> Due:
    return Due(epoch=0, step=step, prev=bytes(32), stage=Stage.MOVE, seats=(0,))


def test_f101_what_was_said_in_a_long_game_is_remembered_and_forgotten_in_proportion() -> None:
    """A hundred hands are some 20,000 entries of one's own.  Looked through anew for each, they take a minute."""
    made = sign(
        identity(0), table=TABLE, epoch=0, step=0, seat=0, kind=Kind.MOVE, body=["x", [], []], prev=bytes(32)
    )
    entries = [replace(made, step=step, id=step.to_bytes(32, "big")) for step in range(LONG)]
    ours = voice()
    began = time.process_time()
    for entry in entries:
        ours.remember(entry, durable=True)
        ours.remember(entry, durable=False)  # heard again: it is known, and not recorded twice
    assert ours.said(due(LONG - 1)) is entries[-1]
    for step in range(0, LONG, 2):
        ours.forget_before(step)
        assert ours.said(due(step)) is entries[step]
        assert step == 0 or ours.said(due(step - 1)) is None
    assert time.process_time() - began < 3.0
    assert ours._out.effects == []
    assert len(ours._said) == 2


def test_an_entry_of_ours_that_others_bring_back_is_recorded_once_and_judged_like_theirs() -> None:
    ours = voice()
    entry = sign(
        identity(0), table=TABLE, epoch=0, step=7, seat=0, kind=Kind.MOVE, body=["x", [], []], prev=bytes(32)
    )
    for _ in range(3):
        ours.remember(entry, durable=False)
    assert len(ours._out.effects) == 1
    assert ours.said(due(7)) is entry
    assert not ours.wrote(entry), "another program with this key may have made it"
    ours.forget_before(8)
    assert not ours._heard
