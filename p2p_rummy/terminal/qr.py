"""A text as a QR code made of characters: the ticket, for the camera of the machine that is to join.

A module is dark or light by its background colour, never by the character, so the code is right on dark and on light
terminals.  Half blocks put two rows into a line; where their width is uncertain (East Asian locales) a module is two spaces.
"""

from __future__ import annotations

from itertools import groupby

import segno

QUIET = 2
"""Light modules around the code.  The standard asks for four; cameras find it with two, and 80x24 has no room for four."""
_UPPER_HALF = "\u2580"
_RESET = "\x1b[0m"


def code_lines(text: str, *, size: tuple[int, int], half_blocks: bool) -> list[str]:
    """The code in lines of at most ``size[0]`` columns, or nothing if it is wider or higher than ``size``."""
    rows = [
        bytes(row)
        for row in segno.make(text, error="l", micro=False, boost_error=False).matrix_iter(border=QUIET)
    ]
    columns, lines = size
    if half_blocks and len(rows[0]) <= columns and (len(rows) + 1) // 2 <= lines:
        light = bytes(len(rows[0]))
        below = [*rows[1::2], light] if len(rows) % 2 else rows[1::2]
        return [_halves(upper, lower) for upper, lower in zip(rows[::2], below, strict=True)]
    if not half_blocks and 2 * len(rows[0]) <= columns and len(rows) <= lines:
        return ["".join(f"\x1b[{40 if dark else 107}m  " for dark in row) + _RESET for row in rows]
    return []


def _halves(upper: bytes, lower: bytes) -> str:
    """Two rows in one line: the upper module is the foreground of a half block, the lower one its background."""
    pieces = []
    for (over, under), run in groupby(zip(upper, lower, strict=True)):
        pieces.append(f"\x1b[{30 if over else 97};{40 if under else 107}m" + _UPPER_HALF * len(list(run)))
    return "".join(pieces) + _RESET
