"""Every scenario file in tests/data, line by line, and the runner's own manners."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from p2p_rummy.scenario import run_file, run_files, run_line

DATA = Path(__file__).parent.parent / "data"


def lines(path: Path) -> list[tuple[str, str]]:
    text = path.read_text(encoding="utf-8")
    return [(json.loads(line)["id"], line) for line in text.splitlines() if line.strip()]


CASES = [
    pytest.param(line, id=f"{path.stem}-{name}")
    for path in sorted(DATA.glob("*.jsonl"))
    for name, line in lines(path)
]


@pytest.mark.parametrize("line", CASES)
def test_scenario(line: str) -> None:
    assert [str(failure) for failure in run_line(line)] == []


def test_the_given_file_holds_137_scenarios() -> None:
    assert run_files([DATA / "rules.jsonl"]) == (137, [])


# --- the runner -----------------------------------------------------------------------------------------

GOOD = json.loads((DATA / "rules.jsonl").read_text(encoding="utf-8").splitlines()[3])


def variant(**changes: object) -> str:
    return json.dumps(GOOD | changes)


def test_a_wrong_expectation_is_shown_as_expected_against_got(tmp_path: Path) -> None:
    file = tmp_path / "wrong.jsonl"
    file.write_text(variant(expect={"error": None, "turn": "B", "stock": ["9D"]}) + "\n", encoding="utf-8")
    failures = run_file(file)
    assert [(failure.what, failure.expected, failure.got) for failure in failures] == [
        ("turn", "B", "A"),
        ("stock", ["9D"], ["TD"]),
    ]
    assert str(failures[0]).splitlines()[0].startswith(f"{file}:1: S008 (draw from stock")


def test_an_error_that_does_not_come_is_a_failure() -> None:
    line = variant(expect={"error": {"move": 0, "code": "wrong_phase"}})
    assert [failure.what for failure in run_line(line)] == ["error"]


def test_an_error_that_was_not_expected_carries_the_engines_message() -> None:
    line = variant(moves=[["A", "discard 9C"]], expect={"error": None})
    (failure,) = run_line(line)
    assert "the turn begins with draw or take" in str(failure.got)


def test_an_expected_field_that_does_not_exist_is_a_failure() -> None:
    assert [failure.what for failure in run_line(variant(expect={"error": None, "colour": "red"}))] == [
        "colour"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "{}",
        '"A"',
        variant(game="whist"),
        variant(game="rummoli"),
        variant(options={"ace": "sideways"}),
        variant(seats=["A"]),
        variant(dealer="Z"),
        variant(state=GOOD["state"] | {"phase": "dinner"}),
        variant(state=GOOD["state"] | {"stock": ["1Z"]}),
        variant(state=GOOD["state"] | {"melds": [{"id": 1, "kind": "run"}]}),
        variant(moves=[["A"]]),
        variant(moves=[["Z", "draw"]]),
    ],
)
def test_a_line_that_is_no_scenario_is_one_failure_with_its_number(line: str) -> None:
    (failure,) = run_line(line, file="some.jsonl", number=7)
    assert str(failure).startswith("some.jsonl:7: ")


def test_a_move_that_cannot_be_read_is_an_error_of_its_own_code() -> None:
    line = variant(moves=[["A", "dance"]], expect={"error": {"move": 0, "code": "unreadable"}, "turn": "A"})
    assert run_line(line) == []
