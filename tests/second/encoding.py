"""SPEC.md section 2, and the hashes of section 3."""

from __future__ import annotations

import hashlib
from typing import Any


class Refused(Exception):  # noqa: N818 - the word of SPEC.md
    """What a receiver must refuse.  ``reason`` is the stable word."""

    def __init__(self, reason: str, seat: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.seat = seat


def need(true: object, reason: str, seat: int | None = None) -> None:
    if not true:
        raise Refused(reason, seat)


HEADERS = {
    "integer": ((0xCC, 1), (0xCD, 2), (0xCE, 4), (0xCF, 8)),
    "text": ((0xD9, 1), (0xDA, 2), (0xDB, 4)),
    "bytes": ((0xC4, 1), (0xC5, 2), (0xC6, 4)),
    "list": ((0xDC, 2), (0xDD, 4)),
}
SHORT = {"integer": (0x00, 128), "text": (0xA0, 32), "bytes": (0x00, 0), "list": (0x90, 16)}


def header(kind: str, number: int) -> bytes:
    """The shortest one."""
    first, end = SHORT[kind]
    if number < end:
        return bytes([first + number])
    byte, width = next((byte, width) for byte, width in HEADERS[kind] if number < 256**width)
    return bytes([byte]) + number.to_bytes(width, "big")


def encode(value: Any) -> bytes:
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        assert 0 <= value < 2**53
        return header("integer", value)
    if isinstance(value, str):
        data = value.encode()
        return header("text", len(data)) + data
    if isinstance(value, bytes):
        return header("bytes", len(value)) + value
    return header("list", len(value)) + b"".join(map(encode, value))


def decode(data: bytes, *, size: int = 1 << 20, depth: int = 8, values: int = 65536) -> Any:
    need(len(data) <= size, "bad_encoding")
    value, end, _ = _read(data, 0, depth, values)
    need(end == len(data), "bad_encoding")
    return value


def _read(data: bytes, at: int, depth: int, values: int) -> tuple[Any, int, int]:
    """A value, the place after it, and how many more values there may be."""
    need(at < len(data) and values > 0, "bad_encoding")
    first, values = data[at], values - 1
    if first in (0xC2, 0xC3):
        return first == 0xC3, at + 1, values
    short = [kind for kind, (start, span) in SHORT.items() if start <= first < start + span]
    if short:
        kind, number, at = short[0], first - SHORT[short[0]][0], at + 1
    else:
        known = {byte: (kind, width) for kind, rows in HEADERS.items() for byte, width in rows}
        need(first in known, "bad_encoding")
        kind, width = known[first]
        number = int.from_bytes(data[at + 1 : at + 1 + width], "big")
        need(data[at : at + 1 + width] == header(kind, number), "bad_encoding")
        at += 1 + width
    if kind == "integer":
        need(number < 2**53, "bad_encoding")
        return number, at, values
    need(number <= len(data) - at, "bad_encoding")
    if kind == "list":
        need(depth > 0, "bad_encoding")
        items = []
        for _ in range(number):
            item, at, values = _read(data, at, depth - 1, values)
            items.append(item)
        return items, at, values
    piece = data[at : at + number]
    if kind == "text":
        try:
            return piece.decode("utf-8"), at + number, values
        except UnicodeDecodeError:
            raise Refused("bad_encoding") from None
    return piece, at + number, values


def shaped(value: Any, *types: Any) -> list[Any]:
    """A list of exactly these types; an integer stands for bytes of that length."""
    need(type(value) is list and len(value) == len(types), "bad_encoding")
    for item, expected in zip(value, types, strict=True):
        if isinstance(expected, int):
            need(type(item) is bytes and len(item) == expected, "bad_encoding")
        elif expected is not None:
            need(type(item) is expected, "bad_encoding")
    return list(value)


def frame(tag: str, *items: bytes) -> bytes:
    parts = [b"p2p-rummy/", bytes([len(tag)]), tag.encode()]
    for item in items:
        parts += [len(item).to_bytes(8, "big"), item]
    return b"".join(parts)


def H(tag: str, *items: bytes) -> bytes:
    return hashlib.sha256(frame(tag, *items)).digest()
