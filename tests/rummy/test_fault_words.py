"""Every stable word with which the trust layer names a fault has a phrase that the faces translate."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from p2p_rummy.catalogue import use_language
from p2p_rummy.complaint import verdict_on
from p2p_rummy.fault_words import FAULTS, error_words, fault_words
from p2p_rummy.options import resolve
from p2p_rummy.refusals import IllegalMove, OptionError
from protocol.errors import EncodingError, VerificationError
from protocol.verify import LogRefused
from protocol.wire import Code

PROTOCOL = Path(__file__).resolve().parents[2] / "protocol"
A_WORD = re.compile(r"[a-z]+(_[a-z]+)*")
# What makes a fault, or ends something for a reason; its word is a constant among the arguments.
MAKERS = {
    "RemoteProtocolError",
    "VerificationError",
    "LogRefused",
    "CannotJoin",
    "LinkLost",
    "Halted",
    "SittingOut",
    "AnswerVoid",
    "fault",
    "_fault",
    "refuse",
    "_refuse",
    "abort",
}
# Functions that return the reason for which a seat is convicted.
JUDGES = {"contradiction", "complaint_reason"}


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(PROTOCOL.rglob("*.py")):
        if "simulation" not in path.parts and path.name != "testing.py":
            yield path, ast.parse(path.read_text(encoding="utf-8"))


def words_in(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and A_WORD.fullmatch(inner.value):
            yield inner.value


def name_of(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def words_of_protocol() -> dict[str, str]:
    """Each word, with a place where it is written."""
    found: dict[str, str] = {code.value: "wire.Code" for code in Code}
    for path, tree in modules():
        for node in ast.walk(tree):
            where = f"{path.name}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.ClassDef):
                for line in node.body:
                    target = line.target if isinstance(line, ast.AnnAssign) else None
                    target = line.targets[0] if isinstance(line, ast.Assign) else target
                    if isinstance(target, ast.Name) and target.id == "code" and line.value is not None:
                        found |= dict.fromkeys(words_in(line.value), where)
            elif isinstance(node, ast.Call) and name_of(node) in MAKERS:
                for argument in (*node.args, *(one.value for one in node.keywords if one.arg == "reason")):
                    found |= dict.fromkeys(words_in(argument), where)
            elif isinstance(node, ast.FunctionDef) and node.name in JUDGES:
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Return) and inner.value is not None:
                        found |= dict.fromkeys(words_in(inner.value), where)
            elif isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "UNKNOWN_CARD":
                assert node.value is not None
                found |= dict.fromkeys(words_in(node.value), where)
    return found


def test_every_word_for_a_fault_has_a_phrase_and_no_phrase_is_left_over() -> None:
    words = words_of_protocol()
    # One of each kind, so that the search itself is known to find them.
    assert {"bad_ticket", "busy", "bad_seal", "double_vote", "unknown_card", "false_complaint"} <= set(words)
    assert {word: where for word, where in words.items() if word not in FAULTS} == {}
    assert set(FAULTS) - set(words) == set()


@pytest.fixture
def japanese() -> Iterator[None]:
    use_language("ja")
    yield
    use_language("en")


def test_english_readers_get_the_message_itself() -> None:
    use_language("en")
    assert fault_words("bad_seal", "frame 7 does not open") == "frame 7 does not open"


@pytest.mark.usefixtures("japanese")
def test_others_get_the_phrase_and_then_the_details() -> None:
    assert fault_words("bad_seal", "frame 7 does not open") == (
        "暗号化された通信が途中で変わりました（frame 7 does not open）"
    )
    assert fault_words("a word of a later version", "some message") == "some message"


def test_a_person_counts_seats_from_one_a_program_from_nought() -> None:
    refused = LogRefused("wrong_result", "the scores differ", record=8, step=7, seat=0)
    assert error_words(refused) == "record 8, step 7, seat 1: the scores differ (wrong_result)"
    assert str(refused) == "record 8, step 7, seat 0: the scores differ (wrong_result)"
    assert (
        error_words(LogRefused("empty", "the log is empty", record=0)) == "record 0: the log is empty (empty)"
    )
    fault = VerificationError("bad_share", "the share is wrong", seat=2, step=9)
    assert error_words(fault) == "seat 3: step 9: the share is wrong"


def test_no_fault_names_a_seat_in_its_sentence_where_nobody_would_count_it_from_one() -> None:
    """Whose fault it is stands in ``seat``; a number inside the sentence would be told to people as it is."""
    found, seen = [], 0
    for path in sorted(PROTOCOL.glob("*.py")):
        if path.name == "fast_deck.py":
            continue  # the simulation's stand-in: no person reads what it says
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("VerificationError", "_fault"):
                seen += 1
                if any(
                    isinstance(part, ast.Constant) and re.search(r"\bseats? $", str(part.value))
                    for argument in node.args
                    for part in ast.walk(argument)
                ):
                    found.append(f"{path.name}:{node.lineno}")
    assert found == []
    assert seen > 50


@pytest.mark.usefixtures("japanese")
def test_the_reason_says_more_than_the_class_of_an_error() -> None:
    forged = VerificationError("bad_signature", "the signature is wrong", seat=1)
    assert error_words(forged) == "署名が正しくありません（seat 2: the signature is wrong）"
    # The reason of an encoding error is a sentence, so its class speaks.
    assert error_words(EncodingError("3 trailing bytes")) == "データを読み取れません（3 trailing bytes）"


@pytest.mark.usefixtures("japanese")
def test_a_table_that_cannot_be_says_which_option_it_is() -> None:
    with pytest.raises(OptionError) as refused:
        resolve("rum500", {"ace": "middle"}, 2)
    assert str(refused.value) == "ace=middle is not allowed: ace is low | high_or_low"
    assert error_words(refused.value) == "ace=middle は使えません。ace に使えるのは：low | high_or_low"


@pytest.mark.usefixtures("japanese")
def test_a_refused_move_has_the_line_of_the_engine_after_the_sentence() -> None:
    refused = IllegalMove("option_forbids", "only the top card may be taken", rule="R141")
    assert error_words(refused) == (
        "このテーブルのオプションでは認められません (R141)（only the top card may be taken）"
    )


@pytest.mark.usefixtures("japanese")
def test_the_advice_about_the_system_is_translated_too() -> None:
    verdict = verdict_on(IsADirectoryError(21, "Is a directory", "/tmp/a"))
    assert verdict is not None
    assert verdict.line == "/tmp/a: Is a directory; ディレクトリではなくファイルを指定してください"
