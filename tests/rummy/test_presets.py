"""House rules: one line of text, kept in the home under a name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p2p_rummy.complaint import Complaint
from p2p_rummy.presets import HouseRules, kept_rules, load, read_line, read_settings, remove, save

GRANDMA = HouseRules(name="Grandma's", game="rum500", settings={"ace": "low", "target": "1000"})


def test_house_rules_are_one_readable_line() -> None:
    assert GRANDMA.line() == "Grandma's: rum500 ace=low target=1000"


def test_the_line_reads_back_with_the_spaces_of_a_chat_window() -> None:
    assert read_line("  Grandma's:  rum500\n ace=low   target=1000 ") == GRANDMA


words = st.text(st.characters(categories=("Ll", "Nd")), min_size=1, max_size=8)


@given(words, words, st.dictionaries(words, words, max_size=4))
def test_any_rules_round_trip_as_text(name: str, game: str, settings: dict[str, str]) -> None:
    rules = HouseRules(name=name, game=game, settings=settings)
    assert read_line(rules.line()) == rules


@pytest.mark.parametrize(
    "text",
    ["", "rum500 ace=low", "Grandma's:", "Grandma's: rum500 ace", "Grandma's: rum500 ace=", "Grandma's: rum500 =low",
     "G: rum500 ace=low ace=high_or_low", "a/b: rum500", "..: rum500", "x" * 41 + ": rum500", "\x1b[2J: rum500"],
)  # fmt: skip
def test_text_that_is_no_house_rules_is_refused_with_the_usage_status(text: str) -> None:
    with pytest.raises(Complaint) as caught:
        read_line(text)
    assert caught.value.status == 2


def test_a_value_may_hold_an_equals_sign_and_commas() -> None:
    assert read_settings(["hand_size=2:13,3:7", "x=a=b"]) == {"hand_size": "2:13,3:7", "x": "a=b"}


def test_saved_rules_are_found_by_name_whatever_the_capitals(tmp_path: Path) -> None:
    path = save(tmp_path, GRANDMA)
    assert path.read_text(encoding="utf-8") == "Grandma's: rum500 ace=low target=1000\n"
    assert load(tmp_path, "GRANDMA'S") == GRANDMA


def test_saving_again_replaces_the_older_rules(tmp_path: Path) -> None:
    save(tmp_path, GRANDMA)
    save(tmp_path, HouseRules(name="grandma's", game="rummy", settings={}))
    assert [rules.line() for rules in kept_rules(tmp_path)] == ["grandma's: rummy"]


def test_names_that_differ_only_in_a_space_are_two_sets_of_rules(tmp_path: Path) -> None:
    for name in ("ab", "a b", "a_b"):
        save(tmp_path, HouseRules(name=name, game="rum500", settings={}))
    assert len(kept_rules(tmp_path)) == 3


def test_unknown_rules_are_refused_with_the_names_there_are(tmp_path: Path) -> None:
    save(tmp_path, GRANDMA)
    with pytest.raises(Complaint, match=r"Uncle.*there are: Grandma's"):
        load(tmp_path, "Uncle")


def test_removed_rules_are_gone(tmp_path: Path) -> None:
    save(tmp_path, GRANDMA)
    remove(tmp_path, "Grandma's")
    assert kept_rules(tmp_path) == []


def test_a_damaged_file_hides_no_other_rules_and_is_named_when_asked_for(tmp_path: Path) -> None:
    save(tmp_path, GRANDMA)
    (tmp_path / "presets" / "bad.txt").write_bytes(b"\xff\xfe")
    assert kept_rules(tmp_path) == [GRANDMA]
    with pytest.raises(Complaint, match=r"bad.txt is not text"):
        load(tmp_path, "bad")
