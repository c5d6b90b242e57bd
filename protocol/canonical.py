"""The one encoder: a strict subset of msgpack in which every value has exactly one encoding.

A value is an unsigned integer below 2**53, a boolean, a byte string, a UTF-8 string, or a list of values.
There are no maps, floats, negative numbers, nil or extensions, and every header is the shortest that holds
its number.  So the bytes that were signed are the only bytes that mean what they say: re-encoding what was
decoded gives the same bytes, and an entry cannot acquire a second identity.

What arrives is hostile.  The decoder checks each header against what is left of the data, the depth, the
number of nodes and the size BEFORE it builds anything, so a header that claims four thousand million items
costs nothing.  It refuses what :func:`encode` would not have written, with the path of the field at fault.

======================  =====================================================
value                   encoding (msgpack)
======================  =====================================================
0..127                  positive fixint
..2**8-1, 2**16-1, ...  uint 8, uint 16, uint 32, uint 64 (below 2**53)
false, true             0xc2, 0xc3
text                    fixstr, str 8, str 16, str 32
bytes                   bin 8, bin 16, bin 32
list                    fixarray, array 16, array 32
======================  =====================================================

The functions at the end (:func:`array`, :func:`integer` and so on) hold a decoded value to its shape; they
raise :class:`~protocol.errors.EncodingError` too, because a body of the wrong shape is one we would not have
written either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import msgpack

from protocol.errors import EncodingError, LocalProtocolError

Value: TypeAlias = "int | bool | bytes | str | Sequence[Value]"

INTEGER_LIMIT: Final = 1 << 53
"""Integers are below this, so that every language reads them exactly."""

MOST_DEPTH: Final = 64
"""Lists nested deeper are not written.  Nothing of ours comes near it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a decoder is willing to build.

    ``max_depth`` counts nested lists (a bare number has depth 0), ``max_nodes`` every value, lists included.
    """

    max_bytes: int = 1 << 20
    max_depth: int = 8
    max_nodes: int = 1 << 16


DEFAULT_LIMITS: Final = Limits()


def encode(value: Value) -> bytes:
    """The one encoding of ``value``.  Raises LocalProtocolError for a value that has none."""
    _check(value)
    try:
        data: bytes = msgpack.packb(value)  # its headers are the shortest there are
    except ValueError as error:
        raise LocalProtocolError(f"the value cannot be encoded: {error}") from None
    return data


def decode(data: bytes, *, limits: Limits = DEFAULT_LIMITS, field: str = "") -> Any:
    """The value that ``data`` is the encoding of; lists come back as lists.

    ``field`` names the root in errors.  Raises EncodingError for anything that :func:`encode` would not have
    written, or that exceeds ``limits``.
    """
    if len(data) > limits.max_bytes:
        raise EncodingError(f"{len(data)} bytes exceed the limit of {limits.max_bytes}", field=field)
    value, end = _read(data, limits, field)
    if end != len(data):
        raise EncodingError(f"{len(data) - end} trailing bytes", field=field)
    return value


# --- writing -------------------------------------------------------------------------------------------


def _check(value: Value) -> None:
    """Refuse what has no encoding: msgpack would write maps, floats, nil and negative numbers too.

    Its builds in C and in Python stop at different depths (F77), so what is too deep for both is refused here.
    """
    level: list[Any] = [value]
    for _ in range(MOST_DEPTH + 1):
        below: list[Any] = []
        for node in level:
            kind = type(node)
            if kind is list or kind is tuple:
                below += node
            elif kind is int:
                if not 0 <= node < INTEGER_LIMIT:
                    raise LocalProtocolError(f"the integer {node} is not in 0..2**53-1")
            elif kind is not bytes and kind is not str and kind is not bool:
                _check_odd(node)
        if not below:
            return
        level = below
    raise LocalProtocolError(f"lists nested more than {MOST_DEPTH} deep have no encoding")


def _check_odd(node: object) -> None:
    """A member of an enumeration counts as its number; nothing else but the five types has an encoding."""
    if not isinstance(node, int):
        raise LocalProtocolError(f"a {type(node).__name__} has no canonical encoding")
    _check(int(node))


# --- reading -------------------------------------------------------------------------------------------

# Header byte -> (kind, width of the number that follows, the smallest number that needs this width).
_WIDE: Final[dict[int, tuple[str, int, int]]] = {
    0xCC: ("integer", 1, 1 << 7),
    0xCD: ("integer", 2, 1 << 8),
    0xCE: ("integer", 4, 1 << 16),
    0xCF: ("integer", 8, 1 << 32),
    0xC4: ("bytes", 1, 0),
    0xC5: ("bytes", 2, 1 << 8),
    0xC6: ("bytes", 4, 1 << 16),
    0xD9: ("text", 1, 1 << 5),
    0xDA: ("text", 2, 1 << 8),
    0xDB: ("text", 4, 1 << 16),
    0xDC: ("list", 2, 1 << 4),
    0xDD: ("list", 4, 1 << 16),
}

_FOREIGN: Final[dict[int, str]] = {
    0xC0: "nil",
    0xC1: "a reserved byte",
    0xCA: "a float",
    0xCB: "a float",
    0xDE: "a map",
    0xDF: "a map",
} | dict.fromkeys((0xC7, 0xC8, 0xC9, *range(0xD4, 0xD9)), "an extension")


_Around: TypeAlias = "list[tuple[list[Any], int]]"


def _read(data: bytes, limits: Limits, field: str) -> tuple[Any, int]:
    """The value that ``data`` begins with, and the first byte after it.

    One loop, not a call for each value: this is where a peer spends its time.  ``items`` is the list that is being filled
    (the outermost holds the value itself), ``missing`` how many items it lacks, ``around`` the same of the lists around it.
    """
    size, most_nodes = len(data), limits.max_nodes
    at = nodes = 0
    items: list[Any] = []
    missing = 1
    around: _Around = []
    while missing:
        missing -= 1
        nodes += 1
        if nodes > most_nodes:
            raise _error(f"more than {most_nodes} values", field, around, items)
        if at >= size:
            raise _error("the data ends too early", field, around, items)
        first = data[at]
        at += 1
        if first < 0x80:
            kind, number = "integer", first
        elif 0x90 <= first <= 0x9F:
            kind, number = "list", first - 0x90
        elif 0xA0 <= first <= 0xBF:
            kind, number = "text", first - 0xA0
        elif first == 0xC2 or first == 0xC3:
            kind, number = "boolean", first
        elif first in _WIDE:
            kind, width, minimum = _WIDE[first]
            end = at + width
            if end > size:
                raise _error("the data ends too early", field, around, items)
            number = int.from_bytes(data[at:end], "big")
            at = end
            if number < minimum:
                raise _error(f"{number} in a header longer than it needs", field, around, items)
        else:
            # What is left are 0x80..0x8f, and 0xd0..0xd3 and 0xe0..0xff.
            what = _FOREIGN.get(first) or ("a map" if first <= 0x8F else "a negative integer")
            raise _error(f"{what} is not part of the encoding", field, around, items)

        if kind == "integer":
            if number >= INTEGER_LIMIT:
                raise _error("an integer of 2**53 or more", field, around, items)
            items.append(number)
        elif kind == "list":
            if len(around) >= limits.max_depth:
                raise _error(f"lists nested more than {limits.max_depth} deep", field, around, items)
            # Every item takes at least one byte: refuse before building a list that cannot be there.
            if number > size - at:
                raise _error(f"a list of {number} items in {size - at} bytes", field, around, items)
            if nodes + number > most_nodes:
                raise _error(f"more than {most_nodes} values", field, around, items)
            inner: list[Any] = []
            items.append(inner)
            around.append((items, missing))
            items, missing = inner, number
        elif kind == "boolean":
            items.append(first == 0xC3)
        else:
            if number > size - at:
                raise _error(f"{number} bytes of {kind} expected, {size - at} left", field, around, items)
            piece = data[at : at + number]
            at += number
            if kind == "bytes":
                items.append(piece)
            else:
                try:
                    items.append(piece.decode("utf-8"))
                except UnicodeDecodeError:
                    raise _error("text that is not UTF-8", field, around, items) from None
        while not missing and around:
            items, missing = around.pop()
    return items[0], at


def _error(reason: str, field: str, around: _Around, items: list[Any]) -> EncodingError:
    """What is wrong with the next item of ``items``, with the indices that lead there."""
    path = [*(len(outer) - 1 for outer, _ in around[1:]), len(items)] if around else []
    return EncodingError(reason, field=field + "".join(f"[{index}]" for index in path))


# --- shapes --------------------------------------------------------------------------------------------


def array(value: object, *, field: str, length: int | None = None, at_most: int | None = None) -> list[Any]:
    """``value`` as a list, of exactly ``length`` items or of ``at_most`` so many."""
    if type(value) is not list:
        raise EncodingError(f"a list is expected, not {_kind(value)}", field=field)
    if length is not None and len(value) != length:
        raise EncodingError(f"{length} items are expected, not {len(value)}", field=field)
    if at_most is not None and len(value) > at_most:
        raise EncodingError(f"at most {at_most} items are expected, not {len(value)}", field=field)
    return value


def integer(value: object, *, field: str, below: int = INTEGER_LIMIT) -> int:
    """``value`` as an integer below ``below`` (a boolean is not one)."""
    if type(value) is not int:
        raise EncodingError(f"an integer is expected, not {_kind(value)}", field=field)
    if not 0 <= value < below:
        raise EncodingError(f"an integer below {below} is expected, not {value}", field=field)
    return value


def boolean(value: object, *, field: str) -> bool:
    """``value`` as a boolean (an integer is not one)."""
    if type(value) is not bool:
        raise EncodingError(f"a boolean is expected, not {_kind(value)}", field=field)
    return value


def octets(value: object, *, field: str, length: int | None = None, at_most: int | None = None) -> bytes:
    """``value`` as a byte string, of exactly ``length`` bytes or of ``at_most`` so many."""
    if type(value) is not bytes:
        raise EncodingError(f"bytes are expected, not {_kind(value)}", field=field)
    if length is not None and len(value) != length:
        raise EncodingError(f"{length} bytes are expected, not {len(value)}", field=field)
    if at_most is not None and len(value) > at_most:
        raise EncodingError(f"at most {at_most} bytes are expected, not {len(value)}", field=field)
    return value


def text(value: object, *, field: str, at_most: int | None = None) -> str:
    """``value`` as text of ``at_most`` so many characters."""
    if type(value) is not str:
        raise EncodingError(f"text is expected, not {_kind(value)}", field=field)
    if at_most is not None and len(value) > at_most:
        raise EncodingError(f"at most {at_most} characters are expected, not {len(value)}", field=field)
    return value


def _kind(value: object) -> str:
    names = {bool: "a boolean", int: "an integer", bytes: "bytes", str: "text", list: "a list"}
    return names.get(type(value), f"a {type(value).__name__}")
