"""What is said about somebody, read by that somebody: another sentence each time, in every language.

"You has left the hand" and 「あなたさん」 are what a name put into a sentence about others reads like.
"""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from p2p_rummy import narrator
from p2p_rummy.catalogue import LANGUAGES, _, speaking
from p2p_rummy.narrator import Told
from p2p_rummy.terminal import draw, full, rummoli, story, trouble
from p2p_rummy.terminal.full import FullScreen
from p2p_rummy.terminal.line import LineMode
from p2p_rummy.terminal.trouble import trouble_lines
from protocol import events
from protocol.events import Accusation, Pause
from protocol.game import Over

TERMINAL = Path(trouble.__file__).parent
WRONG = {
    # "You sits", "you has"; not "you pass".
    "en": re.compile(r"\b[Yy]ou [a-z]*[^s\W]s\b|\b(?:of|from|to) You\b|\bYours? (?:has|is) left\b"),
    "ja": re.compile("あなたさん|あなた さん"),
    "ko": re.compile("나 님|나님|당신 님|나이\\(가\\) 이"),
}


def told_tables() -> Iterator[tuple[str, Told]]:
    """Every pair of sentences that the terminal has."""
    yield from ((f"narrator.{verb}", told) for verb, told in narrator.SENTENCES.items())
    yield from ((f"trouble.{kind.value}", told) for kind, told in trouble.ACCUSATIONS.items())
    for module in (trouble, story, full, draw, rummoli):
        for name, value in vars(module).items():
            if name.isupper() and isinstance(value, tuple) and len(value) == 2 and "{name}" in str(value[0]):
                yield f"{module.__name__}.{name}", value


TABLES = dict(told_tables())

NEVER_ABOUT_THE_READER = {
    # Links, prompts and warnings that only others give cause for, and a label (" 2 run, You:").
    "{name} is connected.",
    "The connection to {name} is lost; it is being dialled again.",
    "{name} is to play.",
    "{name} has left again.",
    "  {meld} {kind}, {name}:",
}
OF_ANOTHERS_KEY = ("ATTENTION: {name} has ANOTHER KEY", "{name} cannot be reached from here")


def fields_of(text: str) -> set[str]:
    return {name for _text, name, _spec, _conversion in string.Formatter().parse(text) if name is not None}


def test_every_sentence_of_the_terminal_with_a_name_has_one_for_the_reader() -> None:
    paired = {of_another for of_another, _of_reader in TABLES.values()}
    lonely = []
    for path in sorted(TERMINAL.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "{name}" in node.value:
                known = node.value in paired | NEVER_ABOUT_THE_READER or node.value.startswith(
                    OF_ANOTHERS_KEY
                )
                if not known and "``" not in node.value:  # a docstring
                    lonely.append(f"{path.name}:{node.lineno}: {node.value}")
    assert lonely == []
    assert len(paired) > 35


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", TABLES)
def test_the_readers_sentence_says_the_same_without_the_name(name: str, language: str) -> None:
    of_another, of_reader = TABLES[name]
    assert fields_of(of_another) - fields_of(of_reader) == {"name"}
    assert fields_of(of_reader) <= fields_of(of_another)
    with speaking(language):
        said = _(of_reader)
        assert said != _(of_another)
    assert not WRONG[language].search(said)


ABOUT_ME: tuple[events.Event, ...] = (
    events.SeatDropped(seat=0, faces=((0, 0), (1, 104)), void=False),
    events.SeatDropped(seat=0, faces=(), void=False),
    events.SeatDropped(seat=0, faces=(), void=True),
    events.SeatAbsent(seat=0, step=4, dropped=False),
    events.SeatReturned(seat=0, hand=3),
    events.Abandoned(seat=0, step=4, data=b""),
    events.LinkRefused(link=1, seat=0, reason="own_key", message="the other side uses our own key"),
    *(
        events.EvidenceFound(seat=0, accusation=accusation, reason="equivocation", message="two", step=4, data=b"")
        for accusation in Accusation
    ),
    *(events.Suspended(seats=(0, 1), step=4, why=why) for why in Pause),
    events.Waiting(seats=(1, 0), step=4, deadline=30.0),
    events.Waiting(seats=(0,), step=4, deadline=0.0),
)  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("event", ABOUT_ME, ids=lambda event: type(event).__name__)
def test_trouble_of_ones_own_is_told_to_oneself(event: events.Event, language: str) -> None:
    with speaking(language):
        names = [_("You"), "Bo", "Cy"]
        mine = trouble_lines(event, names, 10.0, 0)
        of_bo = trouble_lines(event, ["Ann", "Bo", "Cy"], 10.0)
    assert mine
    assert mine != of_bo
    for line in mine:
        assert not WRONG[language].search(line), line
        assert "Ann" not in line


def test_these_are_the_sentences_that_a_player_who_was_dropped_reads() -> None:
    names = ["You", "Bo", "Cy"]
    dropped = events.SeatDropped(seat=0, faces=((0, 0), (1, 104)), void=False)
    assert trouble_lines(dropped, names, 0.0, 0) == [
        "You are out of this hand; your cards were: AS X1. The others play on; if you are here when the hand ends, you sit "
        "down again at the next."
    ]
    assert trouble_lines(dropped, ["Ann", *names[1:]], 0.0, 1) == [
        "Ann has left the hand; its cards were: AS X1. The others play on."
    ]
    assert trouble_lines(events.SeatReturned(seat=0, hand=3), names, 0.0, 0) == ["You sit down again."]


def test_a_seat_that_leaves_without_cards_is_not_said_to_have_held_any() -> None:
    left = events.SeatDropped(seat=1, faces=(), void=False)
    assert trouble_lines(left, ["You", "Bo", "Cy"], 0.0, 0) == ["Bo has left the hand."]


def test_nobody_is_told_of_a_connection_to_oneself() -> None:
    for event in (events.Connected(seat=0), events.Disconnected(seat=0)):
        assert trouble_lines(event, ["You", "Bo"], 0.0, 0) == []


def test_whoever_is_out_reads_so_when_the_next_hand_begins_without_it(practice: Callable[..., Any]) -> None:
    lines: list[str] = []
    face = LineMode(practice("rum500", 3, me=0), lines.extend, lambda: 0.0)
    face.event(events.HandBegan(hand=2, seats=(1, 2)))
    assert lines[-3] == "Hand 2: Bo and Cy make fresh keys and shuffle."
    assert " ".join(line.strip() for line in lines[-2:]) == (
        "You are out of this hand; if you are here when it ends, you sit down again at the next."
    )
    face.event(events.HandBegan(hand=3, seats=(0, 1, 2)))
    assert lines[-1] == "Hand 3: you, Bo and Cy make fresh keys and shuffle."


def test_who_has_waited_is_told_how_to_show_it(practice: Callable[..., Any]) -> None:
    lines: list[str] = []
    face = LineMode(practice("rum500", 2, me=0), lines.extend, lambda: 0.0)
    face.event(events.Abandoned(seat=0, step=4, data=b""))
    assert lines[0].startswith("You have waited as long as was agreed: ")
    assert lines[-1] == "The record is a file beside the log: p2p-rummy verify /nowhere/table.log"


# --- whole games ----------------------------------------------------------------------------------------


class Reader:
    """Line mode and the full screen at one table; ``lines`` is all that either has said."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self.lines: list[str] = []
        self.line = LineMode(table, self.lines.extend, lambda: 0.0)
        self.full = FullScreen(table, lambda: 0.0)

    def play(self, most: int) -> None:
        """Some steps, with what may be done first done at once, and the table asked for each time."""
        for _turn in range(most):
            self.table.run()
            for event in self.table.listen():
                self.line.event(event)
                self.full.event(event)
            if isinstance(self.table.game.need, Over):
                return
            self.line.typed("table")
            self.lines += ["".join(text for _kind, text in row) for row in self.full.rows((100, 40))]
            legal = self.table.legal_moves()
            if legal:
                self.table.move(legal[0])
            if not self.table.happened:
                self.table.close_window()
        self.lines += self.full.log


def last_or_discard(_seat: int, legal: Sequence[str]) -> str:
    return next((text for text in legal if text.startswith(("discard", "show"))), legal[0])


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("game", "seed"), [("rum500", 1), ("rum500", 2), ("rummoli", 3), ("rummoli", 4)])
def test_no_line_of_a_game_speaks_of_the_reader_as_of_another(
    practice: Callable[..., Any], language: str, game: str, seed: int
) -> None:
    with speaking(language):
        reader = Reader(practice(game, 3, me=seed % 3, others=last_or_discard, seed=seed))
        reader.play(40)
        me = _("You")
    assert any(me in line for line in reader.lines)
    assert [line for line in reader.lines if WRONG[language].search(line)] == []


EXTRA: dict[str, Any] = {
    "chips": [5, 6, 7],
    "pots": {"poker": 3},
    "cards": [5, 5, 5],
    "widow": 0,
    "bids": [],
    "betting": {},
    "shown": [{"seat": 0, "cards": ["2C", "2D"], "hand": "one pair"}],
    "played": [],
    "due": "",
    "colour": "",
    "faults": [{"seat": 0, "said": "pass", "cards": ["2C"], "rule": "R236"}],
}


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (
            "en",
            [
                "Round 2, you dealt.",
                "You showed 2C 2D: one pair.",
                "The last round was void: you said `pass`",
            ],
        ),
        ("ja", ["親はあなた。", "あなたの手札 2C 2D：", "あなたは 2C を持ちながら"]),
        ("ko", ["딜러는 나.", "내 손패 2C 2D:", "내가 2C을(를) 들고"]),
    ],
)
def test_rummolis_table_knows_its_reader(language: str, said: Sequence[str]) -> None:
    with speaking(language):
        public = {"hand": 2, "dealer": 0, "extra": EXTRA}
        text = " ".join(rummoli.table_lines(public, [_("You"), "Bo", "Cy"], 400, 0))
    for part in said:
        assert part in text
    assert not WRONG[language].search(text)
