"""The form that all vector files share: hexadecimal bytes, values as JSON, bytes that are a function of a name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

from protocol.canonical import Value
from protocol.identity import Identity

File = dict[str, Any]
"""One vector file: plain data."""

Case = dict[str, Any]
"""One row of a list of cases; it has a ``comment``, and where it can be refused a ``verdict`` and a ``reason``."""


def fixed(name: str, length: int = 32) -> bytes:
    """Bytes that anybody can make again: SHAKE-256 of a name."""
    return hashlib.shake_256(b"p2p-rummy vectors/" + name.encode()).digest(length)


def source(name: str) -> Callable[[int], bytes]:
    """A source of bytes like ``os.urandom``, the same at every run."""
    drawn = 0

    def draw(length: int) -> bytes:
        nonlocal drawn
        drawn += 1
        return fixed(f"{name}/{drawn}", length)

    return draw


def somebody(number: int) -> Identity:
    """The identity of seat ``number`` in every file."""
    return Identity(fixed(f"identity/{number}"))


def plain(value: Value) -> Any:
    """A canonical value as JSON: bytes are ``{"hex": ...}``."""
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def accepted(comment: str, **fields: Any) -> Case:
    return {"comment": comment, **fields, "verdict": True}


def refused(comment: str, reason: str, **fields: Any) -> Case:
    """``reason``: the stable word, or a part of the message where there is only one word for many faults."""
    return {"comment": comment, **fields, "verdict": False, "reason": reason}


def write(file: File) -> str:
    """The text of the file."""
    return json.dumps(file, indent=1, ensure_ascii=True) + "\n"
