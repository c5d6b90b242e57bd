"""Lines of text that fit a terminal.

Widths are columns, not characters (a Japanese name takes two a character).  Everything that another peer
wrote passes :func:`printable` before it reaches a terminal: a name may not carry an escape sequence.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable

from wcwidth import wcwidth

NARROWEST = 40
WIDEST = 80
_COLOUR = re.compile("\x1b\\[[0-9;]*m")


def columns() -> int:
    """The width to write in: that of the terminal, but never more than 80 (lines are for reading)."""
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns))


def printable(text: str) -> str:
    """Without control characters, line ends, direction overrides and other things a terminal might obey."""
    return "".join(
        char if char == " " or (char.isprintable() and wcwidth(char) >= 0) else "?" for char in text
    )


def width(text: str) -> int:
    """Columns that ``text`` takes; colour codes take none."""
    return sum(max(0, wcwidth(char)) for char in _COLOUR.sub("", text))


def pad(text: str, size: int) -> str:
    """``text`` cut or filled to exactly ``size`` columns."""
    cut = ""
    used = 0
    for char in text:
        step = max(0, wcwidth(char))
        if used + step > size:
            break
        cut += char
        used += step
    return cut + " " * (size - used)


def wrap(words: Iterable[str], size: int, *, first: str = "", rest: str | None = None) -> list[str]:
    """Words in lines of at most ``size`` columns.

    ``first`` stands before the first line and ``rest`` before the others (default: as wide as ``first``).  A word
    wider than a line gets a line of its own, whole: card names are never broken.
    """
    indent = " " * width(first) if rest is None else rest
    lines = [first]
    empty = True
    for word in words:
        candidate = lines[-1] + ("" if empty else " ") + word
        if width(candidate) > size and not empty:
            lines.append(indent + word)
        else:
            lines[-1] = candidate
        empty = False
    return lines


def wrapped(sentence: str, size: int, *, first: str = "", rest: str | None = None) -> list[str]:
    """A sentence in lines; its own line ends are kept."""
    lines: list[str] = []
    for index, paragraph in enumerate(sentence.split("\n")):
        lead = first if index == 0 else (" " * width(first) if rest is None else rest)
        lines += wrap(paragraph.split(" "), size, first=lead, rest=rest)
    return lines


def wants_colour(descriptor: int) -> bool:
    """Colour only on a terminal, and not where NO_COLOR or a dumb terminal says otherwise."""
    return os.isatty(descriptor) and "NO_COLOR" not in os.environ and os.environ.get("TERM", "dumb") != "dumb"
