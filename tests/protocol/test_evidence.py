"""Evidence: what two statements prove, what one and the log before it prove, and what proves nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from protocol import court as module
from protocol import evidence
from protocol.agreement import Agreement
from protocol.canonical import encode
from protocol.entry import Entry, Kind
from protocol.errors import EncodingError, ProtocolError, VerificationError
from protocol.events import Accusation, EvidenceFound, SeatDropped
from protocol.evidence import Verdict, contradiction, exposed, illegal
from protocol.fast_deck import FastDecks
from protocol.journal import MAX_RECORD
from protocol.log import ClosedStep
from protocol.records import ProofRecord, read_record
from tests.protocol.liars import like, tell
from tests.protocol.tables import Peer, Table, agreement, events_of, identity
from tests.protocol.toy_game import toy_game
from tests.second import log as second

OPTIONS = {"bids": "no"}
ID, OTHER_ID = b"\xaa" * 32, b"\xbb" * 32


@pytest.fixture(scope="module")
def played() -> Table:
    """A table of three in its first turn."""
    table = Table(3, options=OPTIONS, decks=FastDecks())
    table.play = lambda peer: None
    table.run(until=lambda: all(peer.session.stage.value == "move" for peer in table.peers))
    table.run(until=lambda: not table.queue)
    return table


def check(data: bytes, *, game: Callable[[Agreement], Any] = toy_game) -> Verdict:
    return evidence.check(data, game, FastDecks(), os.urandom)


def said(played: Table, author: int, /, **changed: Any) -> Entry:
    """A statement of this seat at the open step."""
    course = played.peers[0].session._steps.course
    some = next(entry for entry in played.peers[0].session._steps.entries_of(0) if entry.seat == author)
    place = {"epoch": course.epoch, "step": course.step, "prev": course.head}
    return like(some, **({"kind": Kind.MOVE, "body": ["draw", [], []], **place} | changed))


def steps(table: Table) -> list[ClosedStep]:
    return list(table.peers[0].session._steps.ledger.closed)


# --- two statements --------------------------------------------------------------------------------------

CONTRADICTIONS: dict[str, tuple[dict[str, Any], dict[str, Any], str | None]] = {
    "two moves": ({}, {"body": ["play 1", [], []]}, "equivocation"),
    "one move": ({}, {}, None),
    "moves of two steps": ({}, {"step": 99}, None),
    "moves of two epochs": ({}, {"epoch": 1}, None),
    "moves on two heads": ({}, {"prev": bytes(32)}, None),
    "moves of two kinds": ({}, {"kind": Kind.SEALED, "body": ID}, None),
    "moves at two tables": ({}, {"table": bytes(32)}, None),
    "a shuffle and a complaint": (
        {"kind": Kind.SHUFFLE, "body": [[0]]},
        {"kind": Kind.COMPLAINT, "body": 0},
        "equivocation",
    ),
    "two sealed answers": (
        {"kind": Kind.SEALED, "body": ID},
        {"kind": Kind.SEALED, "body": OTHER_ID},
        "equivocation",
    ),
    "two prevotes": (
        {"kind": Kind.PREVOTE, "round": 1, "body": [[[0, ID]], [], [], 0]},
        {"kind": Kind.PREVOTE, "round": 1, "body": [[[0, OTHER_ID]], [], [], 0]},
        "double_vote",
    ),
    "prevotes of two rounds": (
        {"kind": Kind.PREVOTE, "round": 1, "body": [[[0, ID]], [], [], 0]},
        {"kind": Kind.PREVOTE, "round": 2, "body": [[[0, OTHER_ID]], [], [], 0]},
        None,
    ),
    "two precommits": (
        {"kind": Kind.PRECOMMIT, "round": 3, "body": [[[0, ID]], []]},
        {"kind": Kind.PRECOMMIT, "round": 3, "body": [[[0, b""]], []]},
        "double_vote",
    ),
    "two proposals": (
        {"kind": Kind.PROPOSAL, "round": 1, "body": [[[0, ID]], []]},
        {"kind": Kind.PROPOSAL, "round": 1, "body": [[[0, b""]], []]},
        "two_proposals",
    ),
    "a broken lock": (
        {"kind": Kind.PRECOMMIT, "round": 1, "body": [[[0, ID]], []]},
        {"kind": Kind.PREVOTE, "round": 2, "body": [[[0, OTHER_ID]], [], [], 0]},
        "broke_its_lock",
    ),
    "a lock given up for a later certificate": (
        {"kind": Kind.PRECOMMIT, "round": 1, "body": [[[0, ID]], []]},
        {"kind": Kind.PREVOTE, "round": 3, "body": [[[0, OTHER_ID]], [], [], 2]},
        None,
    ),
    "an answer that was held and left out": (
        {"kind": Kind.ROUND_CHANGE, "round": 2, "body": [[[1, ID]]]},
        {"kind": Kind.PREVOTE, "round": 2, "body": [[[1, b""]], [], [], 0]},
        "omitted_what_it_held",
    ),
    "an answer of an exposed seat left out": (
        {"kind": Kind.ROUND_CHANGE, "round": 2, "body": [[[1, ID]]]},
        {"kind": Kind.PREVOTE, "round": 2, "body": [[[1, b""]], [], [1], 0]},
        None,
    ),
    "two votes that nobody can read": (
        {"kind": Kind.PREVOTE, "round": 1, "body": 0},
        {"kind": Kind.PREVOTE, "round": 1, "body": 1},
        "double_vote",
    ),
}


@pytest.mark.parametrize(("one", "other", "reason"), CONTRADICTIONS.values(), ids=CONTRADICTIONS.keys())
def test_f41_f43_f46_what_two_statements_prove(
    played: Table, one: dict[str, Any], other: dict[str, Any], reason: str | None
) -> None:
    """In either order, and another implementation says the same."""
    first, second_ = said(played, 2, **one), said(played, 2, **other)
    assert contradiction(first, second_) == contradiction(second_, first) == reason
    if one.get("body") != 0:
        pair = [second.read_entry(entry.value()) for entry in (first, second_)]
        assert second.contradiction(*pair) == (reason or "")
    claimed = reason or "equivocation"
    for pair_ in ((first, second_), (second_, first)):
        data = exposed(played.agreement, claimed, *pair_)
        if reason is None:
            with pytest.raises(VerificationError) as caught:
                check(data)
            assert caught.value.reason == "bad_evidence"
            continue
        verdict = check(data)
        assert verdict == Verdict(
            seat=2,
            name="Seat2",
            accusation=Accusation.EXPOSED,
            reason=reason,
            step=first.step,
            table=played.agreement.table,
            message=verdict.message,
        )
        assert verdict.message.startswith("two different ")


def test_statements_of_two_seats_contradict_nothing(played: Table) -> None:
    assert contradiction(said(played, 1), said(played, 2, body=["x", [], []])) is None


def test_the_file_is_the_one_of_the_specification(played: Table) -> None:
    first, other = said(played, 2), said(played, 2, body=["play 1", [], []])
    data = exposed(played.agreement, "equivocation", first, other)
    terms = played.agreement.encode()
    header = b"\xc5" + len(terms).to_bytes(2, "big")
    assert data == b"\x95\x00" + header + terms + b"\xacequivocation" + first.encode() + other.encode()
    assert second.check_exposed(data) == 2


def test_the_explanation_names_the_seat_the_step_and_what_it_did(played: Table) -> None:
    first, other = said(played, 2), said(played, 2, body=["play 1", [], []])
    told = evidence.explain(check(exposed(played.agreement, "equivocation", first, other)))
    assert told.startswith("Seat 2 (Seat2) signed two statements that contradict each other, in step ")
    assert f"in step {first.step} of table {played.agreement.table.hex()[:16]}" in told
    assert "two different MOVE entries (equivocation)" in told


# --- what proves nothing (F58) ---------------------------------------------------------------------------


def forged(entry: Entry) -> Entry:
    return replace(entry, signature=identity(0).sign("entry", entry.content))


FALSE: dict[str, tuple[Callable[[Table], bytes], str]] = {
    "another reason": (
        lambda table: exposed(table.agreement, "double_vote", said(table, 2), said(table, 2, body=0)),
        "do not contradict each other so",
    ),
    "a statement that another seat signed": (
        lambda table: exposed(
            table.agreement, "equivocation", said(table, 2), forged(said(table, 2, body=0))
        ),
        "the signature",
    ),
    "another table's agreement": (
        lambda table: exposed(
            replace(table.agreement, turn_ms=1), "equivocation", said(table, 2), said(table, 2, body=0)
        ),
        "a statement is of another table",
    ),
    "a seat that is not there": (
        lambda table: exposed(
            table.agreement, "equivocation", said(table, 2, seat=5), said(table, 2, seat=5, body=0)
        ),
        "a seat that this table does not have",
    ),
}


@pytest.mark.parametrize(("make", "told"), FALSE.values(), ids=FALSE.keys())
def test_f58_a_false_accusation_proves_nothing(
    played: Table, make: Callable[[Table], bytes], told: str
) -> None:
    with pytest.raises(VerificationError) as caught:
        check(make(played))
    assert told in str(caught.value)


SHAPES: dict[str, tuple[Callable[[list[Any]], Any], str]] = {
    "no list": (lambda value: b"evidence", "evidence: "),
    "nothing": (lambda value: [], "evidence: is not a piece of evidence"),
    "a number alone": (lambda value: [0], "evidence: is not a piece of evidence"),
    "an unknown number": (lambda value: [7, *value[1:]], "evidence[0]: unknown kind of evidence 7"),
    "a number of bool": (lambda value: [False, *value[1:]], "evidence[0]: "),
    "an agreement of text": (lambda value: [0, "", *value[2:]], "evidence.agreement: "),
    "an agreement of nothing": (lambda value: [0, b"", *value[2:]], "agreement: "),
    "an agreement that cannot be played": (
        lambda value: [0, encode([1, "toy", 1, [], [], [0, 1, 1, 0], [False] * 3]), *value[2:]],
        "evidence.agreement: a table has 2 to 8 seats",
    ),
    "one statement": (lambda value: value[:4], "evidence: "),
    "three statements": (lambda value: [*value, value[4]], "evidence: "),
    "a long reason": (lambda value: [*value[:2], "x" * 65, *value[3:]], "evidence.reason: "),
    "a reason of bytes": (lambda value: [*value[:2], b"", *value[3:]], "evidence.reason: "),
    "a statement of nothing": (lambda value: [*value[:3], [b"", bytes(64)], value[4]], "evidence.first"),
    "a statement without signature": (lambda value: [*value[:4], value[4][:1]], "evidence.second"),
}


@pytest.mark.parametrize(("shape", "told"), SHAPES.values(), ids=SHAPES.keys())
def test_a_file_of_another_shape_is_named_by_its_field(
    played: Table, shape: Callable[[list[Any]], Any], told: str
) -> None:
    first, other = said(played, 2), said(played, 2, body=["play 1", [], []])
    value: list[Any] = [0, played.agreement.encode(), "equivocation", first.value(), other.value()]
    check(encode(value))
    with pytest.raises(EncodingError) as caught:
        check(encode(shape(value)))
    assert str(caught.value).startswith(told)


# --- one statement and the log before it -----------------------------------------------------------------


def mover(table: Table) -> int:
    return int(table.peers[0].session._steps.course.due.seats[0])


def test_f52_an_illegal_move_convicts_with_the_log_before_it(played: Table) -> None:
    entry = said(played, mover(played), body=["cheat", [], []])
    verdict = check(illegal(played.agreement, "illegal_move", steps(played), [], entry))
    assert (verdict.seat, verdict.accusation, verdict.reason) == (
        mover(played), Accusation.ILLEGAL, "illegal_move",
    )  # fmt: skip
    assert verdict.step == entry.step
    assert evidence.explain(verdict).startswith(
        f"Seat {verdict.seat} (Seat{verdict.seat}) signed a statement"
    )


def test_the_reason_is_found_anew_whatever_the_file_says(played: Table) -> None:
    entry = said(played, mover(played), body=["cheat", [], []])
    assert check(illegal(played.agreement, "murder", steps(played), [], entry)).reason == "illegal_move"


ACQUITTED: dict[str, tuple[Callable[[Table], bytes], str]] = {
    "a good move": (
        lambda table: illegal(table.agreement, "illegal_move", steps(table), [], said(table, mover(table))),
        "the entry is acceptable: nobody is to blame",
    ),
    "a log that stops too early": (
        lambda table: illegal(
            table.agreement,
            "illegal_move",
            steps(table)[:-1],
            [],
            said(table, mover(table), body=["x", [], []]),
        ),
        "does not stand on the log",
    ),
    "an entry on another head": (
        lambda table: illegal(
            table.agreement,
            "illegal_move",
            steps(table),
            [],
            said(table, mover(table), body=["x", [], []], prev=bytes(32)),
        ),
        "does not stand on the log",
    ),
    "an entry that another seat signed": (
        lambda table: illegal(
            table.agreement,
            "illegal_move",
            steps(table),
            [],
            replace(
                said(table, 2, body=0), signature=identity(1).sign("entry", said(table, 2, body=0).content)
            ),
        ),
        "the signature",
    ),
    "a log with an entry changed": (
        lambda table: illegal(
            table.agreement,
            "illegal_move",
            [
                replace(
                    steps(table)[0],
                    contributions=((0, forged_agree(table)), *steps(table)[0].contributions[1:]),
                )
            ],
            [],
            said(table, 2, body=0),
        ),
        "wrong_nonce",
    ),
}


def forged_agree(table: Table) -> Entry:
    return like(steps(table)[0].entries[0], body=bytes(32))


@pytest.mark.parametrize(("make", "told"), ACQUITTED.values(), ids=ACQUITTED.keys())
def test_f58_an_accusation_that_the_log_does_not_bear_out_convicts_nobody(
    played: Table, make: Callable[[Table], bytes], told: str
) -> None:
    with pytest.raises(ProtocolError) as caught:
        check(make(played))
    assert told in str(caught.value)


def test_a_game_that_cannot_be_made_is_the_callers_to_refuse(played: Table) -> None:
    entry = said(played, mover(played), body=["cheat", [], []])

    def unknown(terms: Agreement) -> Any:
        raise LookupError(terms.game)

    with pytest.raises(LookupError):
        check(illegal(played.agreement, "illegal_move", steps(played), [], entry), game=unknown)


def test_f52_the_proof_of_a_long_game_is_no_record_that_the_journal_cannot_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It goes into a file of its own; the journal says that there is one, and a restart still knows the seat."""
    assert module.MAX_PROOF + 100 < MAX_RECORD
    monkeypatch.setattr(module, "MAX_PROOF", 2000)
    table = Table(4, options=OPTIONS)
    table.run(until=lambda: all(peer.session.stage.value == "move" for peer in table.peers))
    table.run(until=lambda: not table.queue)
    liar = mover(table)
    table.peers[liar].up = False
    honest = [peer for peer in table.peers if peer.seat != liar]
    for peer in honest:
        tell(peer, said(table, liar, body=["cheat", [], []]), source=liar)
        (found,) = events_of(peer, EvidenceFound)
        assert len(found.data) > 2000
        assert check(found.data).seat == liar
        proofs = [
            data for data in peer.journal if read_record(data, number=0) == ProofRecord(seat=liar, data=b"")
        ]
        assert len(proofs) == 1
    table.crash(honest[0].seat)
    table.restart(honest[0].seat, [honest[1].seat, honest[2].seat])
    assert honest[0].session.exposed == (liar,)
    table.run(until=lambda: all(peer.session.over for peer in honest), seconds=2000)
    assert len({peer.session.head for peer in honest}) == 1


# --- absences in the log ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dropped() -> Table:
    """A table of four where one has just been decided to be absent; nobody has recorded it yet."""
    table = Table(4, options=OPTIONS, decks=FastDecks())
    table.play = lambda peer: None
    table.run(until=lambda: all(peer.session.stage.value == "move" for peer in table.peers))
    table.run(until=lambda: not table.queue)
    table.crash(mover(table))
    gone = mover(table)

    def decided() -> bool:
        return any(
            peer.session._steps.course.unproved and peer.session.stage.value == "record"
            for peer in table.peers
            if peer.up
        )

    table.run(until=decided, seconds=300)
    assert not any(events_of(peer, SeatDropped) for peer in table.peers if peer.seat == gone)
    return table


def witness(table: Table) -> Peer:
    return next(peer for peer in table.peers if peer.up and peer.session._steps.course.unproved)


def accused(table: Table, certificates: list[Any]) -> bytes:
    """Whoever owes the record of the absence signs something else instead."""
    session = witness(table).session
    course = session._steps.course
    (owing,) = course.due.seats
    some = next(entry for entry in session._steps.entries_of(0) if entry.seat == owing)
    entry = like(some, kind=Kind.END, body=[], epoch=course.epoch, step=course.step, prev=course.head)
    return illegal(table.agreement, "out_of_turn", list(session._steps.ledger.closed), certificates, entry)


def test_an_absence_that_the_log_does_not_record_yet_is_proved_by_its_certificate(dropped: Table) -> None:
    ledger = witness(dropped).session._steps.ledger
    (absence,) = ledger.course.unproved
    certificate = ledger.certificates[absence.place.step]
    assert check(accused(dropped, [certificate])).reason == "out_of_turn"
    with pytest.raises(VerificationError, match="an absence is not proved"):
        check(accused(dropped, []))
    with pytest.raises(VerificationError, match="an absence is not proved"):
        check(accused(dropped, [certificate, certificate]))
    with pytest.raises(VerificationError, match="votes of the 3 that 4 seats need"):
        check(accused(dropped, [replace(certificate, votes=certificate.votes[:2])]))
    with pytest.raises(VerificationError) as caught:
        check(accused(dropped, [replace(certificate, votes=tuple(map(forged, certificate.votes)))]))
    assert caught.value.reason in ("bad_certificate", "bad_signature")


def test_another_table_proves_nothing_here(played: Table) -> None:
    other = agreement(3, options={"bids": "yes"})
    entry = said(played, mover(played), body=["cheat", [], []])
    with pytest.raises(VerificationError, match="another table"):
        check(illegal(other, "illegal_move", steps(played), [], entry))
