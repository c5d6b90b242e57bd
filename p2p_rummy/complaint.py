"""What goes wrong for a user: one line that says what to do, and an exit status.

Statuses: 2 for a command line that cannot be read, 1 for anything refused or broken, 130 for Ctrl-C.  A traceback
is never the answer; where the fault is ours, it goes to a report file whose path is in the line
(``P2P_RUMMY_DEBUG=1`` shows it on the terminal instead).
"""

from __future__ import annotations

import errno
import os
import platform
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from p2p_rummy import __version__
from p2p_rummy.catalogue import _, mark
from p2p_rummy.fault_words import error_words
from protocol.errors import ProtocolError
from protocol.game import Refused

USAGE = 2
REFUSED = 1
INTERRUPTED = 130


class Complaint(Exception):  # noqa: N818 - it is shown to a person, who did or met something
    """An error whose text is one line for the user.  ``status`` is the process's exit status."""

    def __init__(self, message: str, *, status: int = REFUSED) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a command ended: ``line`` for stderr ("" for nothing to say) and the exit status."""

    line: str
    status: int


def verdict_on(error: BaseException) -> Verdict | None:
    """What to tell the user about ``error``; None if it is none of the things that a user can cause or meet.

    Nurseries wrap errors in groups.  Of several, the one that says most to the user is taken; a group that holds
    anything unexpected is unexpected.
    """
    verdicts: list[tuple[int, Verdict]] = []
    for leaf in leaves(error):
        for weight, (kind, judge) in enumerate(_JUDGES):
            if isinstance(leaf, kind):
                verdicts.append((weight, judge(leaf)))
                break
        else:
            return None
    return min(verdicts, key=lambda pair: pair[0])[1] if verdicts else None


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The single errors of a group, nested groups included."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error


def one_line(text: str) -> str:
    """Text that may come from anywhere, as one printable line."""
    return "".join(char if char.isprintable() else " " for char in " ".join(text.split()))


def report_file(error: BaseException, directory: Path | None) -> Path | None:
    """Write what a maintainer needs to a file; None if nothing can be written anywhere."""
    text = "".join(
        [
            f"p2p-rummy {__version__}, Python {platform.python_version()}, {platform.platform()}\n\n",
            *traceback.format_exception(error),
        ]
    )
    for where in (directory, Path(tempfile.gettempdir())):
        if where is None:
            continue
        try:
            where.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix="p2p-rummy-report-", suffix=".txt", dir=where)
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError:
            continue
        return Path(name)
    return None


def _refused_line(error: BaseException) -> Verdict:
    assert isinstance(error, Exception)
    return Verdict(one_line(error_words(error)), REFUSED)


def _system_line(error: BaseException) -> Verdict:
    assert isinstance(error, OSError)
    advice = _OS_ADVICE.get(error.errno or 0)
    name = error.filename if isinstance(error.filename, str) else ""
    reason = error.strerror or str(error)
    line = f"{name}: {reason}" if name else reason
    return Verdict(one_line(f"{line}; {_(advice)}" if advice else line), REFUSED)


_OS_ADVICE = {
    errno.EADDRINUSE: mark("the port is in use: choose another with --port, or --port 0 for a free one"),
    errno.EACCES: mark("you may not use this: choose another directory with --home, or a port above 1023"),
    errno.EPERM: mark("you may not use this: choose another directory with --home, or a port above 1023"),
    errno.ENOSPC: mark("free some space, then run: p2p-rummy resume"),
    errno.EROFS: mark("choose a directory that can be written with --home"),
    errno.ENOENT: mark("check the path"),
    errno.EISDIR: mark("give a file, not a directory"),
    errno.ECONNREFUSED: mark("nobody listens there: check the ticket and that the table is still open"),
    errno.EHOSTUNREACH: mark("the host cannot be reached: check the address and your network"),
    errno.ENETUNREACH: mark("the host cannot be reached: check the address and your network"),
    errno.ETIMEDOUT: mark("the host does not answer: check the address and its firewall"),
    errno.EADDRNOTAVAIL: mark("this machine does not have that address: check --bind"),
}

# In order of what tells the user most.
_JUDGES: tuple[tuple[type[BaseException], Callable[[BaseException], Verdict]], ...] = (
    (Complaint, lambda error: Verdict(one_line(str(error)), getattr(error, "status", REFUSED))),
    (KeyboardInterrupt, lambda error: Verdict(_("interrupted"), INTERRUPTED)),
    (BrokenPipeError, lambda error: Verdict("", REFUSED)),
    (ProtocolError, _refused_line),
    (Refused, _refused_line),
    (OSError, _system_line),
)
