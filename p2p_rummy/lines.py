"""Lines from a terminal, a pipe or a file, on trio.

The descriptor is never switched to non-blocking (that would change it for the shell that we share it with) and no
``sys.stdin`` buffer is held (a thread stuck in it would block the exit): a terminal or pipe is read when it is
readable, a file in a thread.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import AsyncIterator

import trio

LINE_LIMIT = 4096
CHUNK = 4096


async def lines_of(descriptor: int) -> AsyncIterator[str]:
    """Each line without its end.  Ends at the end of the input, or when the terminal is gone.

    A line longer than 4096 characters is cut: nothing that we read is that long, and a pipe may send anything.
    """
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    waiting = ""
    while True:
        data = await _read(descriptor)
        waiting += decoder.decode(data, final=not data)
        *whole, waiting = waiting.split("\n")
        for line in whole:
            yield line.rstrip("\r")[:LINE_LIMIT]
        if not data:
            if waiting:
                yield waiting[:LINE_LIMIT]
            return
        waiting = waiting[:LINE_LIMIT]


async def _read(descriptor: int) -> bytes:
    """Some bytes, or none at the end."""
    try:
        await trio.lowlevel.wait_readable(descriptor)
    except OSError:
        # epoll does not take plain files and /dev/null, which are always readable.
        return await trio.to_thread.run_sync(_read_now, descriptor, abandon_on_cancel=True)
    return _read_now(descriptor)


def _read_now(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, CHUNK)
    except OSError:  # EIO: the terminal has been closed
        return b""
