"""Files that a user names: read whole, but only as much as such a file may hold, and never waited for.

A path may lead to anything: to a device without an end, to a pipe that nobody writes to.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from p2p_rummy.catalogue import _
from p2p_rummy.complaint import Complaint

MOST_EVIDENCE: Final = 1 << 28
"""Bytes of a piece of evidence (SPEC.md 13)."""
MOST_LOG: Final = 1 << 30
"""A hand of 500 Rum at a table of eight makes about one megabyte."""
MOST_TEXT: Final = 1 << 26


def read_given(path: Path, most: int) -> bytes:
    """The bytes of a regular file.  Raises Complaint if it is none or holds more than ``most``, OSError if it can't be read."""
    # Not blocking: a pipe without a writer would be waited for in open() already.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise Complaint(_("{path} is a directory; give a file", path=path))
        if not stat.S_ISREG(mode):
            raise Complaint(_("{path} is no regular file; save what it gives in a file first", path=path))
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(most + 1)
    finally:
        os.close(descriptor)
    if len(data) > most:
        raise Complaint(_("{path} is larger than such a file can be ({most} bytes)", path=path, most=most))
    return data
