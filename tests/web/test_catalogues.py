"""No string of the page is missing in any language, and none is left over."""

from __future__ import annotations

import json
import re
from importlib import resources

import pytest

from p2p_rummy.refusals import CODES, RUMMOLI_CODES
from p2p_rummy.web.facts import UNREACHABLE

STATIC = resources.files("p2p_rummy.web") / "static"
LANGUAGES = ("en", "ja", "ko")
CATALOGUES = {
    language: json.loads((STATIC / "lang" / f"{language}.json").read_text(encoding="utf-8"))
    for language in LANGUAGES
}
SOURCES = {
    item.name: item.read_text(encoding="utf-8")
    for item in (STATIC / "js").iterdir()
    if item.name.endswith(".js")
}


def fields(sentence: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", sentence))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_keys(language: str) -> None:
    assert set(CATALOGUES[language]) == set(CATALOGUES["en"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_is_empty_and_every_field_is_one_that_is_filled(language: str) -> None:
    for key, sentence in CATALOGUES[language].items():
        assert sentence.strip(), key
        assert fields(sentence) <= fields(CATALOGUES["en"][key]) | {"count", "name"}, key


@pytest.mark.parametrize("language", ["ja", "ko"])
def test_sentences_are_translated(language: str) -> None:
    """A sentence of several words that reads as the English one was forgotten."""
    for key, sentence in CATALOGUES["en"].items():
        if len(re.findall(r"(?<!\{)\b[a-z]{3,}\b(?!\})", sentence)) >= 3 and "p2p-rummy" not in sentence:
            assert CATALOGUES[language][key] != sentence, key


def test_every_string_that_the_page_asks_for_exists() -> None:
    missing = []
    for name, source in SOURCES.items():
        for call in re.finditer(
            r"\b(?:t|hint|field)\((?:[^()\"]*\?\s*)?\"([a-z_]+\.[\w.]+)\"(?:\s*:\s*\"([a-z_]+\.[\w.]+)\")?",
            source,
        ):
            missing += [f"{name}: {key}" for key in call.groups() if key and key not in CATALOGUES["en"]]
    assert missing == []


def test_every_string_in_the_catalogue_is_asked_for() -> None:
    everything = "\n".join(SOURCES.values())
    families = set(re.findall(r"`([a-z_]+(?:\.[a-z_]+)*[._])\$\{", everything))
    for key in CATALOGUES["en"]:
        plain = key.removesuffix(".one")
        of_anybody = plain.replace(".me.", ".")  # words.js, tOf
        quoted = f'"{of_anybody}"' in everything or f'"{of_anybody.partition(".")[2]}"' in everything
        assert quoted or any(plain.startswith(family) for family in families), key


# Labels, where a player has its own name too, and what only another gives cause for.
NEVER_ABOUT_THE_READER = {
    "state.won": "state.you_won",
    "say.won": "say.you_won",
    "state.turn": "situation() asks whose turn it is",
    "say.chat": "a label",
    "say.reacted": "a label",
    "say.connected": "a link to another",
    "say.disconnected": "a link to another",
    "problem.waiting": "this peer never waits for itself (protocol/pace.py)",
    "problem.waiting_still": "as above",
    "problem.another_key": "another's key",
    "problem.unreachable": "another's address",
    "problem.unreachable_at_two": "another's address",
    **{
        f"problem.suspended_{why}": "this peer never waits for itself (protocol/pace.py)"
        for why in ("two_players", "two_left", "minority", "patient", "doubt")
    },
}
WRONG = {"en": r"\b[Yy]ou [a-z]*[^s\W]s\b", "ja": "あなたさん", "ko": "나 님"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_about_a_seat_has_another_for_its_own_player(language: str) -> None:
    sentences = CATALOGUES[language]
    for key, sentence in sentences.items():
        family, _dot, rest = key.partition(".")
        if family not in ("say", "state", "problem", "rummoli") or "{name}" not in sentence:
            continue
        if key not in NEVER_ABOUT_THE_READER:
            own = sentences[f"{family}.me.{rest}"]
            assert "{name}" not in own, key
            assert fields(own) <= fields(sentence), key
    for key, sentence in sentences.items():
        assert not re.search(WRONG[language], sentence), key
    assert set(NEVER_ABOUT_THE_READER) <= set(sentences)


@pytest.mark.parametrize("code", [*CODES, *RUMMOLI_CODES])
def test_every_refusal_has_a_sentence(code: str) -> None:
    for language in LANGUAGES:
        assert f"refused.{code}" in CATALOGUES[language]


def test_every_trouble_that_the_facts_name_has_a_sentence() -> None:
    from protocol.events import Accusation, Pause

    codes = ["waiting", "dropped", "void", "halted", "sitting_out"]
    codes += ["waiting_still", "suspended_two_left", *UNREACHABLE]
    codes += [f"suspended_{why.value}" for why in Pause] + [accusation.value for accusation in Accusation]
    for code in codes:
        assert f"problem.{code}" in CATALOGUES["en"], code
