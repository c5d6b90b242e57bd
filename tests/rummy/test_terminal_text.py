"""Lines that fit, and nothing of another peer's that a terminal might obey."""

from __future__ import annotations

import os
from pathlib import Path

import trio
from hypothesis import given
from hypothesis import strategies as st

from p2p_rummy.lines import LINE_LIMIT, lines_of
from p2p_rummy.terminal.text import pad, printable, width, wrap, wrapped
from p2p_rummy.terminal.typed import Ask, Move, understand


def test_escape_sequences_line_ends_and_direction_overrides_do_not_survive() -> None:
    assert printable("Bo\x1b[2J\n\r\x07\u202e\u200b!") == "Bo?[2J?????!"


def test_wide_characters_count_two_columns_and_colour_codes_none() -> None:
    assert width("ラミー") == 6
    assert width("\x1b[31m6H\x1b[0m") == 2


def test_padding_cuts_a_wide_name_without_splitting_a_character() -> None:
    assert pad("ラミー", 5) == "ラミ "
    assert pad("Bo", 5) == "Bo   "


def test_wrapping_keeps_card_names_whole_and_indents_what_follows() -> None:
    assert wrap(["6H", "7H", "X1=8H", "9H"], 12, first="a: ", rest="   ") == ["a: 6H 7H", "   X1=8H 9H"]


@given(st.lists(st.text(st.characters(categories=("L", "N")), min_size=1, max_size=12)), st.integers(14, 80))
def test_no_line_is_wider_than_asked_and_no_word_is_lost(words: list[str], size: int) -> None:
    narrow = [word for word in words if width(word) <= size]
    lines = wrap(narrow, size)
    assert all(width(line) <= size for line in lines)
    assert " ".join(lines).split() == " ".join(narrow).split()


def test_a_sentence_keeps_its_own_line_ends() -> None:
    assert wrapped("one two\nthree", 7) == ["one two", "three"]


# --- what is typed --------------------------------------------------------------------------------------


def test_japanese_is_broken_between_letters_but_never_before_a_full_stop_or_a_small_letter() -> None:
    # Ten columns are five wide letters, but "ッ" goes down with "カ", and "す" with its full stop.
    assert wrapped("山札の上カッコです。", 10) == ["山札の上", "カッコで", "す。"]
    assert wrapped("山札（上）", 6) == ["山札", "（上）"]


def test_korean_is_broken_at_its_spaces_only() -> None:
    assert wrapped("한 사람에게 돌립니다", 12) == ["한 사람에게", "돌립니다"]


def test_moves_are_forgiven_their_capitals_and_tens() -> None:
    assert understand("  MELD 6h 10H x1=8h  9hB ") == Move("meld 6H TH X1=8H 9Hb")
    assert understand("lay x2=10 on 3") == Move("lay X2=T on 3")
    assert understand("discard 2s") == Move("discard 2S")


def test_a_canonical_move_is_left_as_it_is() -> None:
    for text in ("draw", "take 4H", "meld 6H 7H X1=8H + 9S 9D X2=9", "rummy TH on 2", "pass", "bid 3"):
        assert understand(text) == Move(text)


def test_single_keys_sort_and_show() -> None:
    assert understand("s") == Ask("sort", "suit")
    assert understand("r") == Ask("sort", "rank")
    assert understand("sort rank") == Ask("sort", "rank")
    assert understand("T") == Ask("table")
    assert understand("") == Ask("nothing")


def test_a_word_of_the_terminal_with_more_after_it_is_a_move_for_the_game_to_refuse() -> None:
    assert understand("draw 2") == Move("draw 2")
    assert understand("table 3") == Move("table 3")
    assert understand("say Good  luck, Bo!") == Ask("say", "Good luck, Bo!")


@given(st.text())
def test_no_line_whatever_breaks_the_reader(line: str) -> None:
    assert isinstance(understand(line), Ask | Move)


# --- lines from a descriptor ----------------------------------------------------------------------------


async def collected(descriptor: int) -> list[str]:
    return [line async for line in lines_of(descriptor)]


async def test_lines_from_a_pipe_end_with_the_writer() -> None:
    reader, writer = os.pipe()
    try:
        os.write(writer, "draw\ndiscard 2S\r\nカ".encode())
        os.close(writer)
        assert await collected(reader) == ["draw", "discard 2S", "カ"]
    finally:
        os.close(reader)


async def test_lines_from_a_plain_file_and_from_dev_null(tmp_path: Path) -> None:
    (tmp_path / "moves").write_text("draw\n\npass")
    for path, lines in ((tmp_path / "moves", ["draw", "", "pass"]), (Path(os.devnull), [])):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            assert await collected(descriptor) == lines
        finally:
            os.close(descriptor)


async def test_bytes_that_are_no_text_and_lines_without_end_stay_bounded() -> None:
    reader, writer = os.pipe()

    async def write() -> None:
        data = b"\xff" * (3 * LINE_LIMIT) + b"\npass\n"
        with os.fdopen(writer, "wb") as pipe:
            await trio.to_thread.run_sync(pipe.write, data)
            await trio.to_thread.run_sync(pipe.flush)

    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(write)
            lines = await collected(reader)
        assert [len(line) for line in lines] == [LINE_LIMIT, 4]
    finally:
        os.close(reader)
