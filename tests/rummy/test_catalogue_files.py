"""No sentence of the terminal lacks a translation, and none loses or invents a field."""

from __future__ import annotations

import ast
import importlib.util
import io
import re
import string
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from p2p_rummy.catalogue import LANGUAGES
from p2p_rummy.games.poker import _CATEGORIES
from p2p_rummy.narrator import GENERAL_REFUSALS, REFUSALS, refusal
from p2p_rummy.refusals import CODES, RUMMOLI_CODES

ROOT = Path(__file__).resolve().parents[2]


def load_script() -> ModuleType:
    pytest.importorskip("babel")
    spec = importlib.util.spec_from_file_location("catalogues", ROOT / "scripts" / "catalogues.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script()


def fields_of(text: str) -> set[str]:
    return {name for _text, name, _spec, _conversion in string.Formatter().parse(text) if name is not None}


def percents(text: str) -> list[str]:
    """The fields that argparse fills in."""
    return sorted(re.findall(r"%(?:\(\w+\))?[srd]", text))


def test_every_refusal_code_has_a_sentence():
    assert set(CODES) | set(RUMMOLI_CODES) <= set(REFUSALS) | set(GENERAL_REFUSALS)


def test_english_readers_get_the_engines_own_line_where_it_says_more(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("p2p_rummy.narrator.current_language", lambda: "en")
    assert refusal("option_forbids", "only the top card may be taken", "R141", ()) == (
        "only the top card may be taken (R141)"
    )
    monkeypatch.setattr("p2p_rummy.narrator.current_language", lambda: "ja")
    assert "only the top card" not in refusal("option_forbids", "only the top card may be taken", "R141", ())


def spoken_past_the_catalogue() -> Iterator[str]:
    """Words for a person that are written where they are shown, and not as the argument of a look-up."""
    for path in sorted((ROOT / "p2p_rummy").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            shown = [one.value for one in node.keywords if one.arg in ("help", "description")]
            if getattr(node.func, "id", getattr(node.func, "attr", "")) in SHOWN_BY:
                shown += node.args
            for value in shown:
                parts = value.values if isinstance(value, ast.JoinedStr) else [value]
                words = [part.value for part in parts if isinstance(part, ast.Constant)]
                if any(isinstance(word, str) and re.search(r"[a-z]{3,} [a-z]{2,}", word) for word in words):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}: {words}"


SHOWN_BY = {"Complaint", "Verdict", "print", "_say", "_write", "write", "one_line"}
# What only a page of another version, or no page at all, could send: the page's own forms cannot.
FOR_PROGRAMS = {"names and texts are needed", "a number from "}


def test_nothing_is_shown_that_was_not_looked_up() -> None:
    found = list(spoken_past_the_catalogue())
    assert [line for line in found if not any(words in line for words in FOR_PROGRAMS)] == []
    assert len(found) == len(FOR_PROGRAMS)  # the search itself finds something


def test_no_sentence_is_put_together_before_it_is_looked_up() -> None:
    """An f-string is another sentence each time: no catalogue can have it."""
    places = {"_": 0, "mark": 0, "ngettext": 0, "OptionError": 1}
    found = []
    for path in sorted((ROOT / "p2p_rummy").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
            if name in places and isinstance(node.args[places[name]], ast.JoinedStr | ast.BinOp):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []


def test_poker_hands_are_in_the_catalogue_by_the_names_that_the_game_gives_them(script: ModuleType) -> None:
    assert {name for _best, name in _CATEGORIES} <= {message.id for message in script.sentences()}


OTHERS = [language for language in LANGUAGES if language != "en"]


@pytest.mark.parametrize("language", OTHERS)
def test_no_sentence_lacks_a_translation(script: ModuleType, language: str):
    assert script.missing(script.update(language)) == []


@pytest.mark.parametrize("language", OTHERS)
def test_no_translation_is_of_a_sentence_that_is_gone(script: ModuleType, language: str):
    known = {
        message.id if isinstance(message.id, str) else message.id[0] for message in script.load(language)
    }
    used = {message.id if isinstance(message.id, str) else message.id[0] for message in script.sentences()}
    assert known - used == set()


@pytest.mark.parametrize("language", OTHERS)
def test_every_translation_has_the_fields_of_its_sentence(script: ModuleType, language: str):
    for message in script.load(language):
        if not message.id:
            continue
        ids = [message.id] if isinstance(message.id, str) else list(message.id)
        texts = [message.string] if isinstance(message.string, str) else list(message.string)
        for text in texts:
            # A plural may leave out the number where the singular says it in words.
            assert fields_of(text) <= fields_of(ids[-1]), message.id
            assert fields_of(ids[0]) <= fields_of(text), message.id
            assert percents(text) == percents(ids[-1]), message.id


@pytest.mark.parametrize("language", OTHERS)
def test_the_compiled_catalogue_is_the_written_one(script: ModuleType, language: str):
    from babel.messages.mofile import write_mo

    compiled = io.BytesIO()
    write_mo(compiled, script.load(language))
    assert script.po_path(language).with_suffix(".mo").read_bytes() == compiled.getvalue()
