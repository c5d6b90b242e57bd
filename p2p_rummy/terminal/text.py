"""Lines of text that fit a terminal.

Widths are columns, not characters (a Japanese name takes two a character).  Everything that another peer
wrote passes :func:`printable` before it reaches a terminal: a name may not carry an escape sequence.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from itertools import pairwise

from wcwidth import wcwidth

NARROWEST = 40
WIDEST = 80
_COLOUR = re.compile("\x1b\\[[0-9;]*m")
# What Japanese never puts at the beginning of a line, or at its end (JIS X 4051, kinsoku).
_NEVER_FIRST = frozenset("、。，．：；！？）」』】…ー〜々％ぁぃぅぇぉっゃゅょァィゥェォッャュョ,.:;!?)]}")
_NEVER_LAST = frozenset("（「『【([{")


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
    return _filled(((" ", word) for word in words), size, first=first, rest=rest)


def wrapped(sentence: str, size: int, *, first: str = "", rest: str | None = None) -> list[str]:
    """A sentence in lines; its own line ends are kept.  Japanese, which has no spaces, is broken between letters."""
    lines: list[str] = []
    for index, paragraph in enumerate(sentence.split("\n")):
        lead = first if index == 0 else (" " * width(first) if rest is None else rest)
        lines += _filled(_pieces(paragraph), size, first=lead, rest=rest)
    return lines


def _filled(pieces: Iterable[tuple[str, str]], size: int, *, first: str, rest: str | None) -> list[str]:
    """Pieces, each with the gap before it, in lines; a gap at the end of a line falls away."""
    indent = " " * width(first) if rest is None else rest
    lines = [first]
    empty = True
    for gap, piece in pieces:
        candidate = lines[-1] + ("" if empty else gap) + piece
        if width(candidate) > size and not empty:
            lines.append(indent + piece)
        else:
            lines[-1] = candidate
        empty = False
    return lines


def _pieces(paragraph: str) -> Iterator[tuple[str, str]]:
    """What may stand on a line of its own, each with the gap before it: words, and letters of scripts without spaces."""
    for word in paragraph.split(" "):
        gap, piece = " ", word[:1]
        for before, char in pairwise(word):
            if _may_break(before, char):
                yield gap, piece
                gap, piece = "", char
            else:
                piece += char
        yield gap, piece


def _may_break(before: str, after: str) -> bool:
    return (_unspaced(before) or _unspaced(after)) and after not in _NEVER_FIRST and before not in _NEVER_LAST


def _unspaced(char: str) -> bool:
    """Whether ``char`` belongs to a script written without spaces: wide, and not Korean."""
    return wcwidth(char) == 2 and not "\uac00" <= char <= "\ud7a3"


def has_colours(descriptor: int) -> bool:
    """A terminal that is not a dumb one."""
    return os.isatty(descriptor) and os.environ.get("TERM", "dumb") != "dumb"


def wants_colour(descriptor: int) -> bool:
    """Colour only on a terminal that has it, and not where NO_COLOR says otherwise."""
    return has_colours(descriptor) and "NO_COLOR" not in os.environ
