"""The vector files are what the code makes, and what they say is refused is refused for the reason that they give."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from p2p_rummy.agreed import agreed_game
from protocol import canonical, evidence, identity
from protocol.agreement import Agreement
from protocol.course import Course
from protocol.dealing import RealDecks
from protocol.effects import Close
from protocol.entry import Entry, from_value, read
from protocol.errors import EncodingError, LocalProtocolError, ProtocolError, VerificationError
from protocol.group import Point, decode_scalar
from protocol.judge import judge
from protocol.log import encode_agreement, head_after
from protocol.session import Session
from protocol.ticket import BadTicket, parse_ticket
from protocol.verify import LogRefused, verify_log
from scripts.vector_files import link, proofs, shuffle
from scripts.vector_files.form import somebody, source
from scripts.vector_files.scripted import scripted_game
from scripts.vectors import NAMES, text_of

VECTORS = Path(__file__).parent / "vectors"
Case = dict[str, Any]
B = bytes.fromhex


@cache
def file(name: str) -> dict[str, Any]:
    return json.loads((VECTORS / f"{name}.json").read_text("ascii"))  # type: ignore[no-any-return]


def cases(name: str, *path: str) -> list[Any]:
    """The cases of a file as pytest parameters, named by their comments."""
    found: Any = file(name)
    for step in path:
        found = found[step]
    return [pytest.param(case, id=f"{name}-{case['comment']}") for case in found]


def refusal(call: Callable[[], object]) -> ProtocolError | None:
    try:
        call()
    except ProtocolError as error:
        return error
    return None


def reason_of(error: ProtocolError) -> str:
    return error.reason if isinstance(error, VerificationError | LogRefused) else str(error)


def assert_verdict(case: Case, call: Callable[[], object]) -> None:
    error = refusal(call)
    assert (error is None) is case["verdict"]
    if error is not None:
        assert case["reason"] in reason_of(error)


# --- the files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in NAMES if name != "hand"])
def test_the_file_is_what_the_code_makes(name: str) -> None:
    assert (VECTORS / f"{name}.json").read_text("ascii") == text_of(name), f"run: scripts/vectors {name}"


def test_there_are_no_other_files() -> None:
    assert sorted(path.stem for path in VECTORS.glob("*.json")) == sorted(NAMES)


def test_the_files_are_not_large() -> None:
    assert max(path.stat().st_size for path in VECTORS.glob("*.json")) < 300_000


# --- values, keys, points --------------------------------------------------------------------------------


@pytest.mark.parametrize("case", cases("encoding", "cases"))
def test_a_value_has_one_encoding_f69_to_f83(case: Case) -> None:
    data = B(case["bytes"])
    assert_verdict(case, lambda: canonical.decode(data))
    if case["verdict"]:
        assert canonical.encode(canonical.decode(data)) == data


def test_every_shape_of_the_catalogue_of_bad_bytes_is_there() -> None:
    where = {"encoding": "cases", "identity": "signatures", "link": "cases", "entries": "unreadable"}
    comments = [case["comment"] for name, path in where.items() for case in file(name)[path]]
    comments += [case["comment"] for case in file("entries")["illegal"]]
    for number in range(66, 84):
        assert any(f"F{number} " in comment for comment in comments), f"F{number}"


@pytest.mark.parametrize("case", cases("identity", "signatures"))
def test_a_signature_holds_or_not_at_every_peer_f48_f80(case: Case) -> None:
    key, message, signature = (B(case[name]) for name in ("key", "message", "signature"))
    assert_verdict(case, lambda: identity.verify(key, case["tag"], message, signature))


@pytest.mark.parametrize("case", cases("group", "points"))
def test_a_point_has_one_encoding_n09(case: Case) -> None:
    assert_verdict(case, lambda: Point.decode(B(case["bytes"])))


@pytest.mark.parametrize("case", cases("group", "scalars"))
def test_a_scalar_has_one_encoding_n17(case: Case) -> None:
    assert_verdict(case, lambda: decode_scalar(B(case["bytes"])))


# --- proofs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", cases("proofs", "possession", "cases"))
def test_a_proof_of_possession_fits_one_statement(case: Case) -> None:
    statement = file("proofs")["possession"]["statement"]
    assert_verdict(case, lambda: proofs.check_possession(statement | case))


@pytest.mark.parametrize("case", cases("proofs", "equality", "cases"))
def test_a_proof_of_equality_fits_one_statement(case: Case) -> None:
    statement = file("proofs")["equality"]["statement"]
    assert_verdict(case, lambda: proofs.check_equality(statement | case))


@pytest.mark.parametrize("case", cases("shuffle", "cases"))
def test_a_proof_of_a_shuffle_fits_one_statement(case: Case) -> None:
    statement = file("shuffle")["statement"]
    assert_verdict(case, lambda: shuffle.check(statement | case))


def test_the_statements_are_accepted() -> None:
    both = file("proofs")
    proofs.check_possession(both["possession"]["statement"])
    proofs.check_equality(both["equality"]["statement"])
    shuffle.check(file("shuffle")["statement"])


# --- entries ---------------------------------------------------------------------------------------------

ENTRIES = file("entries")
AGREEMENT = Agreement.decode(B(ENTRIES["agreement"]["bytes"]))


def entry_of(value: list[str]) -> Entry:
    return from_value([B(value[0]), B(value[1])])


@cache
def course_before(step: int) -> Course:
    """The table as it was when this step was open, for reading."""
    return replayed(step)


def replayed(step: int) -> Course:
    course = Course(AGREEMENT, scripted_game, RealDecks())
    for told in ENTRIES["steps"][:step]:
        given: dict[int, Entry | None] = dict.fromkeys(told["absent"])
        given |= {each["seat"]: entry_of(each["entry"]) for each in told["entries"]}
        for entry in given.values():
            if entry is not None:
                judge(course, entry, os.urandom(32))
        course.close(given, os.urandom(32))
    return course


@pytest.mark.parametrize("case", cases("entries", "agreements"))
def test_some_agreements_are_not_signed(case: Case) -> None:
    error = refusal(lambda: Agreement.decode(B(case["bytes"])))
    assert isinstance(error, EncodingError | LocalProtocolError | VerificationError)
    assert case["reason"] in str(error)


@pytest.mark.parametrize("case", cases("entries", "unreadable"))
def test_some_entries_cannot_be_read_f74_f75_f81_f82(case: Case) -> None:
    content, signature = map(B, case["entry"])
    with pytest.raises(EncodingError) as caught:
        read(content, signature)
    assert case["reason"] in str(caught.value)


def seat_0() -> Session:
    """Seat 0 of that table at step 0, with a link (1) to seat 1."""
    draw = source("seat 0")
    session = Session(somebody(0), AGREEMENT, scripted_game, draw, now=0.0)
    session.link_up(1, AGREEMENT.keys[1], 0.0)
    session.take_effects()
    return session


def closes(session: Session) -> list[Close]:
    return [effect for effect in session.take_effects() if isinstance(effect, Close)]


@pytest.mark.parametrize("case", cases("entries", "unreadable"))
def test_what_cannot_be_read_ends_the_link_and_changes_nothing(case: Case) -> None:
    session = seat_0()
    before = (session.head, session.step, session.waiting_for)
    session.received(1, canonical.encode([2, [list(map(B, case["entry"]))]]), 1.0)
    assert [effect.link for effect in closes(session)] == [1]
    assert (session.head, session.step, session.waiting_for) == before
    assert session.exposed == ()


@pytest.mark.parametrize("case", cases("entries", "foreign"))
def test_what_nobody_at_the_table_signed_is_ignored_three_times_f54_f65_f99_n31(case: Case) -> None:
    session = seat_0()
    before = (session.head, session.step, session.waiting_for)
    message = canonical.encode([2, [list(map(B, case["entry"]))]])
    session.received(1, message, 1.0)
    session.received(1, message, 1.0)
    assert closes(session) == []
    session.received(1, message, 1.0)
    assert [effect.link for effect in closes(session)] == [1]
    assert (session.head, session.step, session.waiting_for) == before
    assert session.exposed == ()
    with pytest.raises(VerificationError) as caught:
        session._reception.check_signed(entry_of(case["entry"]))
    assert caught.value.reason == case["reason"]


@pytest.mark.parametrize("case", cases("entries", "illegal"))
def test_an_illegal_entry_is_refused_and_its_author_named(case: Case) -> None:
    course, entry = course_before(case["step"]), entry_of(case["entry"])
    entry.verify(AGREEMENT.keys[entry.seat])
    before = (course.head, course.game.digest(), course.due)
    with pytest.raises(VerificationError) as caught:
        judge(course, entry, os.urandom(32))
    assert (caught.value.reason, caught.value.seat) == (case["reason"], case["seat"])
    assert (course.head, course.game.digest(), course.due) == before


def test_the_complaint_convicts_its_author() -> None:
    told = ENTRIES["complaint"]
    course, entry = replayed(told["step"]), entry_of(told["entry"])
    judge(course, entry, os.urandom(32))
    course.close({entry.seat: entry}, os.urandom(32))
    assert course.banned == {told["at_fault"]}


def test_the_log_verifies_and_ends_in_the_head_that_is_given() -> None:
    steps = [told for told in ENTRIES["steps"] if told["stage"] != "END"]
    records = [encode_agreement(AGREEMENT.encode())]
    for told in steps:
        items: list[Any] = [
            [told_entry["seat"], list(map(B, told_entry["entry"]))] for told_entry in told["entries"]
        ]
        items += [[seat, seat] for seat in told["absent"]]
        listed = [item for _, item in sorted(items, key=lambda pair: pair[0])]
        records.append(canonical.encode([1, told["epoch"], told["step"], listed]))
    summary = verify_log(records, scripted_game, RealDecks(), os.urandom)
    assert summary.finished
    assert summary.unproved == 0
    assert summary.dropped == (1,)
    assert summary.head.hex() == steps[-1]["head"]
    assert summary.words == ENTRIES["steps"][0]["words"]


@pytest.mark.parametrize("case", cases("entries", "evidence"))
def test_evidence_convicts_or_proves_nothing_f41_f43_f58(case: Case) -> None:
    def check() -> evidence.Verdict:
        return evidence.check(B(case["bytes"]), scripted_game, RealDecks(), os.urandom)

    assert_verdict(case, check)
    if case["verdict"]:
        verdict = check()
        assert (verdict.reason, verdict.seat) == (case["convicts"], case["seat"])


# --- links and tickets -----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", cases("link", "cases"))
def test_some_bytes_end_a_link_f55_f56_f57_f66_f67_f68(case: Case) -> None:
    assert link.check(case) == case["reason"]


@pytest.mark.parametrize("case", cases("ticket", "cases"))
def test_a_ticket_is_read_or_its_reader_told_what_to_do(case: Case) -> None:
    if case["verdict"]:
        ticket = parse_ticket(case["text"])
        assert str(ticket) == case["canonical"]
        assert ticket.table == B(case["table"])
        assert [[address.host, address.port] for address in ticket.addresses] == case["addresses"]
        assert ticket.is_for(B(file("ticket")["key"]))
    else:
        with pytest.raises(BadTicket, match=case["reason"]):
            parse_ticket(case["text"])


# --- a whole hand ----------------------------------------------------------------------------------------


def test_the_hand_verifies_as_a_log_of_rum500() -> None:
    told = file("hand")
    summary = verify_log(map(B, told["records"]), agreed_game, RealDecks(), os.urandom)
    assert summary.finished
    assert summary.table.hex() == told["table"]
    assert summary.words == told["words"]
    assert summary.head.hex() == told["head"]
    assert list(summary.scores) == told["scores"]
    assert list(summary.winners) == told["winners"]
    assert summary.steps == len(told["steps"]) == len(told["records"]) - 1


@pytest.mark.parametrize("number", [1, 3, 5, 8, -1])
def test_a_hand_with_one_byte_changed_does_not_verify(number: int) -> None:
    records = [B(record) for record in file("hand")["records"]]
    record = records[number]
    middle = len(record) // 2
    records[number] = record[:middle] + bytes([record[middle] ^ 1]) + record[middle + 1 :]
    with pytest.raises(LogRefused) as caught:
        verify_log(records, agreed_game, RealDecks(), os.urandom)
    assert caught.value.record == number % len(records)


def test_heads_chain_by_hand() -> None:
    prev = B(ENTRIES["agreement"]["genesis"])
    for told in ENTRIES["steps"]:
        assert told["prev"] == prev.hex()
        ids: dict[int, bytes | None] = dict.fromkeys(told["absent"])
        ids |= {each["seat"]: B(each["id"]) for each in told["entries"]}
        prev = head_after(prev, told["epoch"], told["step"], ids)
        assert told["head"] == prev.hex()
