"""The ticket as a code on the terminal: every module where the standard has it, and nothing where there is no room."""

from __future__ import annotations

import re

import pytest
import segno

from p2p_rummy.terminal.qr import code_lines

TICKET = "RUMMY-0507S-CSNGP-QVZS1-JNGTF-9Y1JX-63DRS-A2HA7-1CW95-GS4AG-584FW-0000F-6XSZ7-900"
DARK = {"30": True, "40": True, "97": False, "107": False}
FINDER = [
    "#######",
    "#.....#",
    "#.###.#",
    "#.###.#",
    "#.###.#",
    "#.....#",
    "#######",
]
"""The mark in three corners of every code (ISO/IEC 18004, 6.3.3)."""


def seen(lines: list[str]) -> list[list[bool]]:
    """What a camera sees of these lines: dark or not, module by module."""
    rows: list[list[bool]] = []
    for line in lines:
        over, under = [], []
        for codes, run in re.findall("\x1b\\[([0-9;]+)m([\u2580 ]+)", line):
            colours = codes.split(";")
            if "\u2580" in run:
                over += [DARK[colours[0]]] * len(run)
                under += [DARK[colours[1]]] * len(run)
            else:
                over += [DARK[colours[0]]] * (len(run) // 2)
        assert line.endswith("\x1b[0m")
        rows.append(over)
        if under:
            rows.append(under)
    return rows


def drawn(rows: list[list[bool]]) -> list[str]:
    return ["".join("#" if dark else "." for dark in row) for row in rows]


@pytest.mark.parametrize("half_blocks", [True, False])
def test_the_code_has_its_finders_and_a_light_border(half_blocks: bool) -> None:
    rows = drawn(seen(code_lines(TICKET, size=(100, 60), half_blocks=half_blocks)))
    wide = len(rows[0])
    assert wide == 33 + 2 + 2  # version 4: 33 modules hold up to 114 letters and digits
    assert {len(row) for row in rows} == {wide}
    assert [row[2:9] for row in rows[2:9]] == FINDER
    assert [row[-9:-2] for row in rows[2:9]] == FINDER
    assert [row[2:9] for row in rows[28:35]] == FINDER
    for row in (*rows[:2], *rows[35:]):
        assert set(row) == {"."}
    assert all(row.startswith("..") and row.endswith("..") for row in rows)


def test_both_ways_show_the_same_code_and_it_is_that_of_the_ticket() -> None:
    by_halves = seen(code_lines(TICKET, size=(100, 60), half_blocks=True))[:37]
    by_spaces = seen(code_lines(TICKET, size=(100, 60), half_blocks=False))
    assert by_halves == by_spaces
    code = segno.make(TICKET, error="l", micro=False, boost_error=False)
    assert [row[2:-2] for row in by_spaces[2:-2]] == [[bool(dot) for dot in row] for row in code.matrix]


def test_it_fits_a_terminal_of_80_by_24() -> None:
    assert len(code_lines(TICKET, size=(80, 23), half_blocks=True)) == 19


@pytest.mark.parametrize(
    ("size", "half_blocks"), [((36, 60), True), ((80, 18), True), ((73, 60), False), ((80, 36), False)]
)
def test_where_there_is_no_room_there_is_no_code(size: tuple[int, int], half_blocks: bool) -> None:
    assert code_lines(TICKET, size=size, half_blocks=half_blocks) == []
