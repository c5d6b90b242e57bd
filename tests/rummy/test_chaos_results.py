"""Results of runs: what a line may hold, how several machines' results are put together, how they are told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from p2p_rummy import cli
from p2p_rummy.catalogue import speaking
from p2p_rummy.chaos import Storm
from p2p_rummy.chaos_results import FIELDS, Outcome, merged, summary
from p2p_rummy.complaint import Complaint


def an_outcome(**changes: object) -> Outcome:
    values: dict[str, object] = {
        "seed": 1, "players": 3, "faults": {"crash": 1}, "byzantine": {}, "steps": 50, "hands": 1, "epochs": 1,
        "drops": 0, "returns": 0, "rulings": 9, "voids": {}, "evidence": [], "seconds": 12.5, "outcome": "finished",
        "violations": [], "head": "ab", "replay": "p2p-rummy chaos --seed 1",
    }  # fmt: skip
    return Outcome(**(values | changes))  # type: ignore[arg-type]


def lines(*outcomes: Outcome) -> list[tuple[str, int, str]]:
    return [("results.jsonl", number, each.to_json()) for number, each in enumerate(outcomes, 1)]


def test_results_of_two_machines_are_put_together_by_seed_and_doubles_count_once():
    one, two = an_outcome(), an_outcome(seed=2, replay="p2p-rummy chaos --seed 2")
    assert merged(lines(two, one, one)) == [one, two]


def test_one_run_with_two_outcomes_is_refused_with_file_and_line():
    with pytest.raises(Complaint, match=r"results.jsonl, line 2: seed 1"):
        merged(lines(an_outcome(), an_outcome(steps=51)))


def test_what_a_real_run_gives_is_read_back_the_same_and_has_every_field():
    outcome = Storm(players=(4, 4), hands=1, deck="fast", bots="steady", byzantine=((2, "unopened"),)).run(1)
    assert Outcome.from_json(outcome.to_json()) == outcome
    assert set(json.loads(outcome.to_json())) == set(FIELDS) == set(Outcome.__dataclass_fields__)


# --- a line that is none of ours -------------------------------------------------------------------------

NO_RESULTS = {
    "cut off": "{",
    "a list": "[]",
    "a number": "1",
    "nested": "[" * 100_000,
    "nested objects": '{"a":' * 100_000,
    "a number of ten thousand digits": '{"seed":' + "9" * 10_000 + "}",
    "fields missing": json.dumps({"seed": 1}),
}


@pytest.mark.parametrize("text", NO_RESULTS.values(), ids=NO_RESULTS)
def test_a_line_that_is_no_result_is_named(text: str):
    with pytest.raises(Complaint, match=r"x.jsonl, line 7"):
        merged([("x.jsonl", 7, text)])


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(
    "value",
    ["x", None, True, -1, 1.5, [1], ["a"], {"a": 1}, {"crash": "x"}, {"crash": True}, {"crash": -1}, {"9=flood": 1},
     float("inf"), float("nan"), 1 << 53, "\x1b[2J", "p2p-rummy chaos \n", ["\ud800"], [[]], [{}]],
    ids=repr,
)  # fmt: skip
def test_a_field_that_no_run_can_have_written_is_named_with_file_and_line(field: str, value: object):
    if (field, value) in (("seconds", 1.5), ("violations", ["a"])):
        pytest.skip("this may be there")
    changed = json.loads(an_outcome().to_json()) | {field: value}
    with pytest.raises(Complaint, match=rf"x.jsonl, line 7: the field {field} has to be "):
        merged([("x.jsonl", 7, json.dumps(changed))])


def test_a_number_beyond_all_floats_is_named_too():
    text = (
        an_outcome()
        .to_json()
        .replace('"steps":50', '"steps":1e400')
        .replace('"seconds":12.5', '"seconds":1e400')
    )
    with pytest.raises(Complaint, match="the field steps"):
        merged([("x.jsonl", 1, text)])
    with pytest.raises(Complaint, match="the field seconds"):
        merged([("x.jsonl", 1, text.replace('"steps":1e400', '"steps":50'))])


@pytest.mark.parametrize("field", FIELDS)
def test_a_missing_a_second_and_an_unknown_field_are_named(field: str):
    text = an_outcome().to_json()
    value = json.loads(text)
    value.pop(field)
    for bad, part in (
        (json.dumps(value), f"the field {field} is missing"),
        (text[:-1] + f',"{field}":1}}', f"the field '{field}' is there twice"),
        (text[:-1] + f',"{field}_":1}}', f"there is no field '{field}_'"),
    ):
        with pytest.raises(Complaint) as refused:
            merged([("x.jsonl", 7, bad)])
        assert str(refused.value).startswith("x.jsonl, line 7: ")
        assert part in str(refused.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"outcome": "violation"},
        {"violations": ["agreement at 1 s"]},
        {"seed": 2},
        {"replay": "p2p-rummy chaos --seed 11"},
    ],
)
def test_fields_that_contradict_each_other_are_refused(changes: dict[str, object]):
    with pytest.raises(Complaint, match="contradict"):
        merged(lines(an_outcome(**changes)))


@pytest.mark.parametrize("bad", [b"\xff\xfe\x00", b"[" * 100_000, b"{}", b'{"seed":"x"}'])
def test_nothing_is_printed_before_everything_is_read(
    bad: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "results.jsonl"
    file.write_bytes(an_outcome().to_json().encode() + b"\n" + bad + b"\n")
    for more in ([], ["--json"]):
        assert cli.main(["chaos", "--merge", str(file), *more]) == 1
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith(f"p2p-rummy: {file}, line 2: ")
        assert captured.err.count("\n") == 1
        assert "please report" not in captured.err


# --- telling ---------------------------------------------------------------------------------------------


def test_a_violation_is_told_with_the_line_that_replays_it_and_ends_with_status_one(tmp_path: Path):
    bad = an_outcome(outcome="violation", violations=["agreement at 3.000 s, seat 1: two\nheads"])
    told = summary([bad])
    assert "VIOLATION agreement at 3.000 s, seat 1: two heads" in told
    assert told[-1].strip() == bad.replay
    file = tmp_path / "bad.jsonl"
    file.write_text(bad.to_json() + "\n")
    assert cli.main(["chaos", "--merge", str(file)]) == 1


def test_one_of_a_thing_is_not_told_as_many():
    one = an_outcome(
        steps=1, drops=1, rulings=1, evidence=["2:equivocation", "2:double_vote"], voids={"2:not_opened": 1},
        outcome="violation", violations=["liveness"],
    )  # fmt: skip
    with speaking("en"):
        assert summary([one])[:2] == [
            "1 run: 1 violation.",
            "1 step, 1 drop, 1 ruling, 1 void answer, 1 seat convicted, 1 invariant violated",
        ]
        many = an_outcome(seed=2, steps=1, drops=1, replay="p2p-rummy chaos --seed 2")
        assert summary([one, many])[1].startswith("2 steps, 2 drops, 10 rulings, 1 void answer, ")
    with speaking("ja"):
        assert "step" not in summary([one])[1]
