"""Verifying a log offline: what it says of a good one, and that any byte of a bad one is found and its place named."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from protocol.agreement import Agreement
from protocol.canonical import decode, encode
from protocol.entry import Entry, Kind
from protocol.errors import EncodingError
from protocol.events import HandOver
from protocol.fast_deck import FastDecks
from protocol.game import Refused
from protocol.identity import words
from protocol.journal import LOG_MAGIC, Damaged, read_log
from protocol.log import RECORD_LIMITS, encode_agreement, read_step
from protocol.simulation.shared import SharedDecks
from protocol.verify import LogRefused, Summary, Verification, verify_log
from tests.protocol.liars import like
from tests.protocol.tables import Table
from tests.protocol.toy_game import toy_game
from tests.second.link import framed


@dataclass
class Played:
    """A finished game: its table, its log, and what the log says."""

    table: Table
    records: list[bytes]
    summary: Summary

    def verify(self, records: Sequence[bytes], **more: Any) -> Summary:
        return verify_log(records, strict_game, self.table.decks, os.urandom, **more)

    def refused(self, records: Sequence[bytes]) -> LogRefused:
        with pytest.raises(LogRefused) as caught:
            self.verify(records)
        return caught.value


def strict_game(agreement: Agreement) -> Any:
    """The game, or Refused for options that it does not have, as every program's own games do."""
    try:
        return toy_game(agreement)
    except (ValueError, TypeError, KeyError) as error:
        raise Refused("bad_option", str(error)) from None


def play(table: Table) -> Played:
    table.run()
    records = list(table.peers[0].public)
    return Played(table, records, verify_log(records, strict_game, table.decks, os.urandom))


@pytest.fixture(scope="module")
def small() -> Played:
    """Two seats, one short hand, the real deck."""
    options = {"bids": "no", "rounds": "1", "cards": "7"}
    return play(Table(2, options=options, decks=SharedDecks()))


@pytest.fixture(scope="module")
def plain() -> Played:
    """Four seats, two hands, the stand-in deck."""
    return play(Table(4, options={"hands": "2"}, decks=FastDecks()))


@pytest.fixture(scope="module")
def dropped() -> Played:
    """Four seats; one vanishes on its turn, which the log records and restores."""
    table = Table(4, options={"bids": "no", "hands": "2"}, decks=FastDecks())
    table.run(until=lambda: all(peer.session.stage.value == "move" for peer in table.peers))
    (gone,) = table.peers[0].session._steps.course.due.seats
    table.crash(gone)
    table.run(seconds=2000)
    up = next(peer for peer in table.peers if peer.up)
    records = list(up.public)
    return Played(table, records, verify_log(records, strict_game, table.decks, os.urandom))


# --- good logs -------------------------------------------------------------------------------------------


def test_a_finished_log_says_who_played_what_and_who_won(plain: Played) -> None:
    summary, session = plain.summary, plain.table.peers[2].session
    agreement = plain.table.agreement
    steps = len(plain.records) - 1
    assert (summary.agreement, summary.table) == (agreement, agreement.table)
    assert (summary.finished, summary.unproved, summary.dropped) == (True, 0, ())
    assert (summary.steps, summary.epochs, summary.hands) == (steps, 1, 2)
    assert summary.words == session.words == words(session._steps.course.first_head)
    closed = session._steps.ledger.closed[:steps]
    assert summary.head == closed[-1].head
    assert summary.entries == sum(len(step.entries) for step in closed)
    kinds = [entry.kind for step in closed for entry in step.entries]
    proved = ["COMMIT", "REVEAL", "SHUFFLE", "COMPLAINT", "SHARES", "SHOW", "RESTORE"]
    assert summary.proofs == sum(kind.name in proved for kind in kinds)
    assert summary.rulings == kinds.count(Kind.RULING) > 0
    scores = session.game.scores  # type: ignore[attr-defined]
    assert summary.scores == tuple(scores)
    assert summary.winners == tuple(seat for seat in range(4) if scores[seat] == max(scores))


def test_a_log_with_a_seat_that_was_dropped_counts_its_epochs(dropped: Played) -> None:
    assert (dropped.summary.finished, dropped.summary.unproved) == (True, 0)
    assert len(dropped.summary.dropped) == 1
    assert dropped.summary.epochs >= 2


def test_a_log_may_end_after_any_step(plain: Played, dropped: Played) -> None:
    for played in (plain, dropped):
        for end in range(1, len(played.records)):
            summary = played.verify(played.records[:end])
            assert (summary.finished, summary.steps, summary.winners) == (False, end - 1, ())
    assert plain.verify(plain.records[:1]).words == ""


def test_absences_at_the_very_end_are_said_to_lack_their_certificate(dropped: Played) -> None:
    absent = next(
        number
        for number, record in enumerate(dropped.records[1:], start=1)
        if any(entry is None for _, entry in read_step(record, number=number).contributions)
    )
    assert dropped.verify(dropped.records[: absent + 1]).unproved == 1
    assert dropped.verify(dropped.records[:absent]).unproved == 0


def test_whoever_watches_is_told_each_step_in_order(plain: Played) -> None:
    told: list[tuple[int, list[Any]]] = []
    plain.verify(plain.records, watch=lambda seen, events: told.append((seen.course.step, events)))
    assert [step for step, _ in told] == list(range(1, len(plain.records)))
    hands = [event.hand for _, events in told for event in events if isinstance(event, HandOver)]
    assert hands == [1, 2]


# --- bad logs, by their reason ---------------------------------------------------------------------------


def step_value(record: bytes) -> Any:
    return decode(record, limits=RECORD_LIMITS)


def with_step(played: Played, number: int, change: Callable[[Any], Any]) -> list[bytes]:
    """The records with one of them rebuilt; the step's number is ``number - 1``."""
    value = change(step_value(played.records[number]))
    return [*played.records[:number], encode(value), *played.records[number + 1 :]]


def entries_of(played: Played, number: int) -> list[Entry]:
    listed = read_step(played.records[number], number=number).contributions
    return [entry for _, entry in listed if entry is not None]


def first_of(played: Played, kind: Kind) -> int:
    """The number of the first record with entries of this kind."""
    numbers = range(1, len(played.records))
    return next(n for n in numbers if any(entry.kind is kind for entry in entries_of(played, n)))


def resigned(played: Played, number: int, **changed: Any) -> list[bytes]:
    """The last entry of a step with other fields, signed by its seat all the same."""
    return with_step(
        played,
        number,
        lambda value: [*value[:3], [*value[3][:-1], like(entries_of(played, number)[-1], **changed).value()]],
    )


def test_nothing_at_all_is_refused(plain: Played) -> None:
    error = plain.refused([])
    assert (error.reason, error.record, error.step, error.seat) == ("empty", 0, None, None)
    assert str(error) == "record 0: the log is empty; not even the agreement is there (empty)"


def test_a_log_begins_with_an_agreement_that_can_be_played(plain: Played) -> None:
    for first in (
        plain.records[1],
        encode_agreement(b""),
        encode_agreement(plain.table.agreement.encode()[:-1]),
        encode_agreement(encode([1, "toy", 1, [], [], [0, 1, 1, 0], [False] * 3])),
    ):
        error = plain.refused([first, *plain.records[1:]])
        assert (error.reason, error.record, error.step) == ("bad_agreement", 0, None)


def test_an_agreement_with_a_weak_key_names_the_seat(plain: Played) -> None:
    value = plain.table.agreement.value()
    value[4][2][0] = b"\x01" + bytes(31)
    error = plain.refused([encode_agreement(encode(value))])
    assert (error.reason, error.record, error.seat) == ("bad_identity", 0, 2)


def test_a_record_that_cannot_be_read_names_its_field(plain: Played) -> None:
    error = plain.refused([*plain.records[:3], b"\x94\x01\x00", *plain.records[3:]])
    assert (error.reason, error.record) == ("bad_encoding", 3)
    assert "record 3" in error.message


def test_a_step_that_is_missing_repeated_or_moved_is_named(plain: Played) -> None:
    records = plain.records
    for changed, record in (
        ([*records[:5], *records[6:]], 5),
        ([*records[:5], records[4], *records[5:]], 5),
        ([*records[:5], records[6], records[5], *records[7:]], 5),
    ):
        error = plain.refused(changed)
        assert (error.reason, error.record, error.step) == ("wrong_step", record, record - 1)
    for at in (1, 2):  # the epoch, the step
        error = plain.refused(
            with_step(plain, 4, lambda value, at=at: [*value[:at], value[at] + 1, *value[at + 1 :]])  # type: ignore[misc]
        )
        assert (error.reason, error.record, error.step) == ("wrong_step", 4, 3)


def test_a_step_without_one_of_its_seats_or_with_one_more_is_named(plain: Played) -> None:
    commit, move = first_of(plain, Kind.COMMIT), first_of(plain, Kind.MOVE)
    mover = entries_of(plain, move)[0].seat
    other = next(entry for entry in entries_of(plain, commit) if entry.seat > mover)
    for changed, number in (
        (with_step(plain, commit, lambda value: [*value[:3], value[3][:-1]]), commit),
        (with_step(plain, commit, lambda value: [*value[:3], []]), commit),
        (with_step(plain, move, lambda value: [*value[:3], [*value[3], other.value()]]), move),
        (with_step(plain, move, lambda value: [*value[:3], [other.seat]]), move),
    ):
        error = plain.refused(changed)
        assert (error.reason, error.record, error.step) == ("wrong_seats", number, number - 1)


def test_a_seat_that_is_only_said_to_be_absent_needs_a_certificate(plain: Played) -> None:
    """Everything after it stands on another head, so it can only be the last step, and unproved."""
    move = first_of(plain, Kind.MOVE)
    changed = with_step(plain, move, lambda value: [*value[:3], [entries_of(plain, move)[0].seat]])
    assert plain.verify(changed[: move + 1]).unproved == 1
    error = plain.refused(changed)
    assert (error.reason, error.record) == ("wrong_step", move + 1)


def test_nobody_is_absent_from_the_agreement(plain: Played) -> None:
    error = plain.refused(with_step(plain, 1, lambda value: [*value[:3], [*value[3][:3], 3]]))
    assert (error.reason, error.record, error.step) == ("impossible", 1, 0)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"table": bytes(32)}, "wrong_link"),
        ({"epoch": 1}, "wrong_link"),
        ({"step": 77}, "wrong_link"),
        ({"prev": bytes(32)}, "wrong_link"),
        ({"kind": Kind.END}, "out_of_turn"),
        ({"round": 1}, "out_of_turn"),
        ({"body": 5}, "bad_encoding"),
    ],
)
def test_an_entry_of_another_place_or_kind_names_its_seat(
    plain: Played, change: dict[str, Any], reason: str
) -> None:
    number = first_of(plain, Kind.REVEAL)
    error = plain.refused(resigned(plain, number, **change))
    assert (error.reason, error.record, error.step, error.seat) == (reason, number, number - 1, 3)


@pytest.mark.parametrize(
    ("kind", "body", "reason"),
    [
        (Kind.AGREE, bytes(32), "wrong_nonce"),
        (Kind.REVEAL, [bytes(32), [bytes(32)] * 3], "bad_reveal"),
        (Kind.SHUFFLE, [[0] * 17], "bad_shuffle"),
        (Kind.MOVE, ["cheat", [], []], "illegal_move"),
        (Kind.ANSWER, ["pass", [], [], bytes(32)], "wrong_answer"),
        (Kind.RULING, [[], 0, bytes(32)], "wrong_ruling"),
        (Kind.RESULT, [1, [[False, 0]] * 4, bytes(32), []], "wrong_result"),
    ],
)
def test_a_signed_statement_that_is_wrong_names_its_seat(
    plain: Played, kind: Kind, body: Any, reason: str
) -> None:
    number = first_of(plain, kind)
    if kind is Kind.ANSWER:  # the first window of this game is open, and its answers are not sealed
        number = next(
            n for n in range(number, len(plain.records)) if entries_of(plain, n - 1)[0].kind is Kind.SEALED
        )
    seat = entries_of(plain, number)[-1].seat
    error = plain.refused(resigned(plain, number, body=body))
    assert (error.reason, error.record, error.step, error.seat) == (reason, number, number - 1, seat)
    assert str(error).startswith(f"record {number}, step {number - 1}, seat {seat}: ")


def test_a_signature_that_does_not_hold_names_its_seat(plain: Played) -> None:
    number = first_of(plain, Kind.COMMIT)

    def forge(value: Any) -> Any:
        first, second, *rest = value[3]
        return [*value[:3], [first, [second[0], first[1]], *rest]]

    error = plain.refused(with_step(plain, number, forge))
    assert (error.reason, error.record, error.step, error.seat) == ("bad_signature", number, number - 1, 1)


def test_a_record_of_an_absence_on_too_few_votes_is_refused(dropped: Played) -> None:
    number = first_of(dropped, Kind.RECORD)
    (entry,) = entries_of(dropped, number)
    (votes,) = entry.body
    for body, reason in (
        ([votes[:2]], "bad_certificate"),
        ([[votes[0], votes[0], votes[0]]], "bad_certificate"),
        ([], "bad_encoding"),
        ([votes, votes], "bad_encoding"),
    ):
        error = dropped.refused(
            with_step(
                dropped,
                number,
                lambda value, body=body: [*value[:3], [like(entry, body=body).value()]],  # type: ignore[misc]
            )
        )
        assert (error.reason, error.record, error.seat) == (reason, number, entry.seat)


def test_nothing_follows_the_last_result(plain: Played) -> None:
    ledger = plain.table.peers[0].session._steps.ledger
    end = ledger.closed[len(plain.records) - 1].encode()
    error = plain.refused([*plain.records, end])
    assert (error.reason, error.record) == ("after_the_end", len(plain.records))


def test_n34_other_options_make_another_table(plain: Played) -> None:
    other = replace(plain.table.agreement, options=(("hands", "1"),))
    error = plain.refused([encode_agreement(other.encode()), *plain.records[1:]])
    assert (error.reason, error.record, error.step, error.seat) == ("wrong_link", 1, 0, 0)


# --- any byte --------------------------------------------------------------------------------------------


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ (1 << at % 8)]) + data[at + 1 :]


def signed_parts(record: bytes, number: int) -> Iterator[tuple[range, int, int]]:
    """(bytes, place in the list, seat) of each content and each signature of a record."""
    for place, (seat, entry) in enumerate(read_step(record, number=number).contributions):
        if entry is not None:
            for part in (entry.content, entry.signature):
                at = record.index(part)
                yield range(at, at + len(part)), place, seat


def assert_named(error: LogRefused, record: bytes, number: int, at: int) -> None:
    """The record and, where the byte is signed, whose it is: by the seat, or by the field if it cannot be read."""
    assert error.record == number
    for part, place, seat in signed_parts(record, number):
        if at in part and error.seat is None:
            renumbered = error.reason == "wrong_seats" or "sorted by seat" in error.message
            assert renumbered or f"record {number}[3][{place}]" in error.message
        elif at in part:
            assert (error.seat, error.step) == (seat, number - 1)


def test_every_byte_of_a_small_log_matters_to_cryptography_alone(small: Played) -> None:
    """The file's own checks are left out: only encoding, links, signatures and proofs can notice, and all do.

    A step that is refused changes nothing, so one walk through the log tries every byte of each record in its place.
    """
    course = Verification(small.table.agreement, strict_game, small.table.decks, os.urandom)
    tried = 0
    for number, record in enumerate(small.records[1:], start=1):
        head = course.course.head
        for at in range(len(record)):
            with pytest.raises((LogRefused, EncodingError)) as caught:
                course.step(read_step(flipped(record, at), number=number), number=number)
            told: Any = caught.value
            if isinstance(told, EncodingError):  # as verify_log reports it
                told = LogRefused("bad_encoding", str(told), record=number)
            assert_named(told, record, number, at)
            tried += 1
        assert course.course.head == head
        course.step(read_step(record, number=number), number=number)
    assert tried == sum(map(len, small.records[1:]))
    assert course.course.head == small.summary.head


def test_every_byte_of_the_agreement_matters(small: Played) -> None:
    """What still reads as an agreement is another table's, and the first entry does not belong to it."""
    first, second = small.records[:2]
    for at in range(len(first)):
        with pytest.raises((LogRefused, Refused)) as caught:
            small.verify([flipped(first, at), second])
        if isinstance(caught.value, LogRefused):
            assert (caught.value.record, caught.value.step) in ((0, None), (1, 0)), at


def test_a_log_with_a_flipped_byte_is_refused_from_the_file(
    small: Played, dropped: Played, tmp_path: Path
) -> None:
    """As ``verify`` does it, at bytes all over both files: raw, where the checksum names the offset; and with the
    checksums made right again, where the record, the step and the seat are named."""
    for played, samples in ((small, 40), (dropped, 40)):
        whole = framed(LOG_MAGIC, played.records)
        path = tmp_path / "game.log"
        path.write_bytes(whole)
        offsets = read_log(path).offsets
        for at in range(0, len(whole), len(whole) // samples):
            path.write_bytes(flipped(whole, at))
            with pytest.raises(Damaged) as damaged:
                read_log(path)
            assert damaged.value.offset == max(offset for offset in (0, *offsets) if offset <= at)
        every = [(n, at) for n, record in enumerate(played.records) for at in range(len(record))]
        for number, at in every[:: len(every) // samples]:
            changed = list(played.records)
            changed[number] = flipped(changed[number], at)
            path.write_bytes(framed(LOG_MAGIC, changed))
            with pytest.raises((LogRefused, Refused)) as caught:
                played.verify(read_log(path).records)
            if number and isinstance(caught.value, LogRefused):
                assert_named(caught.value, played.records[number], number, at)
