"""The record of an abandoned table as a file: what it says, what it does not, and that nobody can change it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from protocol.abandonment import (
    Abandonment,
    Standing,
    Witness,
    is_abandonment,
    read_abandonment,
    written,
)
from protocol.canonical import encode
from protocol.entry import Entry, Kind, sign
from protocol.errors import ProtocolError, VerificationError
from protocol.events import Abandoned
from protocol.log import ClosedStep, PublishedStep, genesis, read_step
from protocol.verify import Verification
from tests.protocol.tables import Table, events_of, identity
from tests.protocol.toy_game import toy_game


def left_alone() -> Table:
    """Two seats; seat 1 is gone when it is its turn, and seat 0 has recorded it."""
    table = Table(2, options={"bids": "no"}, abandon_ms=60_000)
    table.run(
        until=lambda: all(
            peer.session.stage.value == "move" and peer.session._steps.course.due.seats == (1,)
            for peer in table.peers
        )
    )
    table.run(until=lambda: not table.queue)
    table.crash(1)
    table.run(until=lambda: bool(events_of(table.peers[0], Abandoned)), seconds=5000)
    return table


@pytest.fixture(scope="module")
def table() -> Table:
    return left_alone()


def told(table: Table) -> Abandoned:
    return events_of(table.peers[0], Abandoned)[0]


def signed(to: Table, *, by: int = 0, **changes: Any) -> Entry:
    """A record as seat 0 makes it here, with changes that it did sign."""
    session = to.peers[0].session
    fields: dict[str, Any] = {
        "table": to.agreement.table,
        "epoch": 0,
        "step": session.step,
        "seat": 0,
        "kind": Kind.ABANDON,
        "body": [],
        "prev": session.head,
    }
    return sign(identity(by), **(fields | changes))


def tail_of(table: Table) -> list[ClosedStep]:
    """What seat 0 has closed and not published."""
    ledger = table.peers[0].session._steps.ledger
    return list(ledger.closed[ledger.final :])


def standing(table: Table, records: Sequence[bytes], *abandonments: Abandonment) -> list[Standing]:
    """How these go with this log."""
    witness = Witness(abandonments)
    verification = Verification(table.agreement, toy_game, table.decks, bytes)
    witness.look(verification.course)
    for number, record in enumerate(records[1:], start=1):
        verification.step(read_step(record, number=number), number=number)
        witness.look(verification.course)
    return witness.follow(verification)


def test_what_a_peer_hands_out_is_its_own_signed_word_for_the_open_step(table: Table) -> None:
    data = told(table).data
    assert is_abandonment(data)
    record = read_abandonment(data)
    session = table.peers[0].session
    assert (record.name, record.entry.seat) == ("Seat0", 0)
    assert (record.entry.step, record.entry.prev) == (session.step, session.head)
    assert record.agreement == table.agreement


def test_any_byte_that_is_changed_makes_it_no_record(table: Table) -> None:
    data = told(table).data
    for at in range(len(data)):
        for bit in (1, 128):
            changed = data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]
            with pytest.raises(ProtocolError):
                read_abandonment(changed)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"by": 1}, "bad_signature"),
        ({"seat": 5}, "no_seat"),
        ({"table": bytes(32)}, "other_table"),
        ({"kind": Kind.MOVE}, "bad_abandonment"),
        ({"kind": Kind.RETURN}, "bad_abandonment"),
        ({"body": [1]}, "bad_abandonment"),
        ({"round": 1}, "bad_abandonment"),
    ],
)
def test_a_statement_of_another_sort_is_refused_though_it_is_signed(
    table: Table, changes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(VerificationError) as caught:
        read_abandonment(written(table.agreement, (), signed(table, **changes)))
    assert caught.value.reason == reason


def test_a_table_that_agreed_on_no_such_time_has_no_such_record(table: Table) -> None:
    never = replace(table.agreement, abandon_ms=0)
    with pytest.raises(VerificationError) as caught:
        read_abandonment(written(never, (), signed(table, table=never.table)))
    assert caught.value.reason == "bad_abandonment"


@pytest.mark.parametrize(
    "data",
    [b"", b"\x00", encode([]), encode(2), encode([0, b"", "equivocation", [], []]), bytes(1 << 21)],
    ids=["nothing", "a byte", "no fields", "a number", "evidence", "too long"],
)
def test_other_files_are_not_taken_for_one(data: bytes) -> None:
    assert not is_abandonment(data)
    with pytest.raises(ProtocolError):
        read_abandonment(data)


def test_the_log_tells_whether_it_ends_where_the_record_was_made() -> None:
    table = left_alone()
    record = read_abandonment(told(table).data)
    log = list(table.logs()[0])
    assert record.entry.step == len(log) - 1 + len(record.tail)
    assert record.tail, "what is not final is in no log yet"
    assert standing(table, log, record) == [Standing.OPEN]
    assert standing(table, log[:-1], record) == [Standing.AHEAD]
    table.restart(1)
    table.run()
    assert standing(table, table.logs()[0], record) == [Standing.PAST]


@pytest.mark.parametrize(
    "changes", [{"prev": bytes(32)}, {"epoch": 1}, {"step": 3}], ids=["prev", "epoch", "step"]
)
def test_a_record_of_another_log_says_nothing_of_this_one(table: Table, changes: dict[str, Any]) -> None:
    log = list(table.logs()[0])
    forged = read_abandonment(written(table.agreement, (), signed(table, **changes)))
    good = read_abandonment(told(table).data)
    assert standing(table, log, forged, good) == [Standing.ELSEWHERE, Standing.OPEN]
    assert standing(table, log, good, forged) == [Standing.OPEN, Standing.ELSEWHERE]


@pytest.mark.parametrize("changes", [{"prev": bytes(32)}, {"step": 3}], ids=["prev", "step"])
def test_steps_that_lead_elsewhere_are_no_ground_for_a_record(table: Table, changes: dict[str, Any]) -> None:
    with pytest.raises(VerificationError) as caught:
        read_abandonment(written(table.agreement, tail_of(table), signed(table, **changes)))
    assert caught.value.reason == "bad_abandonment"


def test_of_two_that_waited_the_later_one_is_where_the_game_stands() -> None:
    """Seat 1 was silent for long, and moved in the end; then seat 0 was."""
    table = left_alone()
    first = read_abandonment(told(table).data)
    session = table.peers[0].session
    table.restart(1)
    table.run(until=lambda: session.step > first.entry.step + 1)
    later = Abandonment(agreement=table.agreement, tail=published(table), entry=signed_now(table))
    assert standing(table, list(table.logs()[0]), first, later) == [Standing.PAST, Standing.OPEN]


def published(table: Table) -> tuple[PublishedStep, ...]:
    return tuple(read_step(closed.encode(), number=closed.step) for closed in tail_of(table))


def signed_now(table: Table) -> Entry:
    course = table.peers[0].session._steps.course
    return signed(table, step=course.step, prev=course.head, epoch=course.epoch)


def test_nobody_can_have_waited_so_where_the_table_would_have_gone_on_without_the_missing() -> None:
    """Three in the hand, and not patient: the record is signed, and no log bears it out."""
    table = Table(3, options={"bids": "no"}, abandon_ms=60_000)
    table.run(until=lambda: table.peers[0].session.stage.value == "move")
    record = read_abandonment(written(table.agreement, tail_of(table), signed_now(table)))
    assert standing(table, list(table.logs()[0]), record) == [Standing.ELSEWHERE]


@pytest.mark.parametrize("given", ["a step left out", "a step twice", "steps of nobody", "in another order"])
def test_steps_that_do_not_lead_to_the_record_are_refused(table: Table, given: str) -> None:
    tail, entry = tail_of(table), signed_now(table)
    assert len(tail) > 1
    steps = {
        "a step left out": tail[:-1],
        "a step twice": [*tail, tail[-1]],
        "steps of nobody": [replace(step, contributions=((0, None), (1, None))) for step in tail],
        "in another order": tail[::-1],
    }[given]
    with pytest.raises(VerificationError) as caught:
        read_abandonment(written(table.agreement, steps, entry))
    assert caught.value.reason == "bad_abandonment"


def test_a_table_whose_other_player_never_signed_is_recorded_from_the_agreement_alone() -> None:
    table = left_alone()
    entry = signed(table, step=0, prev=genesis(table.agreement.table))
    record = read_abandonment(written(table.agreement, (), entry))
    assert standing(table, table.logs()[0][:1], record) == [Standing.OPEN]
