"""Files that survive: the journal, the public log, a hand's secrets, small files, and the lock on a home.

Theory of operation
-------------------
A seat must never sign two things for one step, not even after a power cut.  So what it signs is in the journal, on
the disk, before a byte of it leaves; the caller appends with ``sync=True`` and waits.  A failed write or fsync is
final: what the kernel then holds may differ from what is on the disk, and a second fsync that succeeds proves
nothing (fsync clears the error).  Such a journal refuses every later append (F35-F37).

Both files are appended to only, and have one format.  Numbers are big-endian, checks are CRC-32:

    header   magic (8) | version (2) | zero (2) | check of the 12 bytes before (4)
    record   length (4) | check of offset and length (4) | payload | check of offset and payload (4)

The offset (8 bytes) of the record is part of both checks, so a sector that was written to the wrong place does not
pass for another record (F39), and a changed length is told from a file that ends too early.

What opening finds, and what becomes of it:

=====================================  ==================================  =====================
at the end of the whole records        the journal                         the public log
=====================================  ==================================  =====================
nothing                                as it is                            finished or in progress
part of a record, or zeros only (F31)  cut off; it was never synced        ``torn_at``
a record that fails its check (F32)    kept aside, cut off, ``doubt``      :class:`Damaged`
no header, or none at all (F33)        begun anew, ``doubt``               :class:`Damaged`
=====================================  ==================================  =====================

``doubt`` says that own entries may be missing: the session then asks the others for its own last entry
before it signs anything.
"""

from __future__ import annotations

import errno
import os
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from protocol.errors import LocalProtocolError, ProtocolError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

JOURNAL_MAGIC: Final = b"\x8aRumJnl\n"
LOG_MAGIC: Final = b"\x8aRumLog\n"
SECRET_MAGIC: Final = b"\x8aRumSec\n"
FORMAT: Final = 1
MAX_RECORD: Final = 1 << 20

_HEADER: Final = 16
_FRONT: Final = 8
_BACK: Final = 4


class Damaged(ProtocolError):  # noqa: N818 - what the user is told about the file
    """A file is not what was written.  ``offset`` is the byte at which the first bad record begins."""

    code: ClassVar[str] = "damaged_file"

    def __init__(self, path: Path, offset: int, reason: str) -> None:
        super().__init__(f"{path.name}: {reason} (at byte {offset})")
        self.path = path
        self.offset = offset
        self.reason = reason


class DiskFailed(ProtocolError):  # noqa: N818
    """The disk refused to keep what must be kept.  This peer signs nothing more.

    Free some space or mount the disk writable, check it, and resume: what was synced before is still good.
    """

    code: ClassVar[str] = "disk_failed"


class HomeInUse(ProtocolError):  # noqa: N818
    """Another process plays from this home.  Stop it, or choose another home with ``--home``."""

    code: ClassVar[str] = "home_in_use"


# --- the journal ---------------------------------------------------------------------------------------


class Journal:
    """The append-only file of one seat at one table.  Open it with :meth:`open` under the home's lock."""

    def __init__(
        self, path: Path, descriptor: int, size: int, records: tuple[bytes, ...], doubt: str
    ) -> None:
        self.path = path
        self.records = records
        self.doubt = doubt
        self._descriptor = descriptor
        self._size = size
        self._failed = ""

    @classmethod
    def open(cls, path: Path, *, scar: bytes = b"") -> Journal:
        """Open or create.  ``records`` holds what is whole, ``doubt`` why that may not be all ("" if it is).

        ``scar`` is a record that takes the place of what is damaged: the next opening finds a good file, and the scar in it.
        Raises DiskFailed if the file cannot be read or made durable.
        """
        with _disk(path):
            existed = path.exists()
            data = path.read_bytes() if existed else b""
            records, end, problem = _scan(data, JOURNAL_MAGIC)
            doubt = ""
            if existed and isinstance(problem, _Bad):
                doubt = problem.reason
                if data:
                    _keep_aside(path, data)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
            try:
                anew = _header(JOURNAL_MAGIC) if end == 0 else b""
                if doubt and scar:
                    anew += _record(end + len(anew), scar)
                    records = (*records, scar)
                # Before the damaged bytes go: a crash in between leaves them, or the scar, or both.
                os.lseek(descriptor, end, os.SEEK_SET)
                _write_all(descriptor, anew)
                end += len(anew)
                if end < len(data):
                    _sync(descriptor)
                    os.ftruncate(descriptor, end)
                _sync(descriptor)
                sync_directory(path.parent)
            except BaseException:
                os.close(descriptor)
                raise
        return cls(path, descriptor, end, records, doubt)

    def append(self, payloads: Sequence[bytes], *, sync: bool) -> None:
        """Append records in order; with ``sync`` they are on the disk when this returns.

        Raises DiskFailed, and from then on always: there is no second try.
        """
        if self._failed:
            raise DiskFailed(self._failed)
        if self._descriptor < 0:
            raise LocalProtocolError(f"{self.path.name} is closed")
        try:
            with _disk(self.path):
                out = bytearray()
                for payload in payloads:
                    out += _record(self._size + len(out), payload)
                _write_all(self._descriptor, out)
                self._size += len(out)
                if sync:
                    _sync(self._descriptor)
        except DiskFailed as error:
            self._failed = str(error)
            raise

    def mark(self) -> tuple[int, int, int]:
        """Device and number of the file, and its size: a copy of it differs in the first two.  Raises DiskFailed."""
        with _disk(self.path):
            found = os.fstat(self._descriptor)
        return found.st_dev, found.st_ino, self._size

    def close(self) -> None:
        """Close the file; harmless a second time."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _keep_aside(path: Path, data: bytes) -> None:
    """Save a damaged file beside the new one: it is the only witness of what happened."""
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    aside.write_bytes(data)


# --- the public log ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile:
    """The whole records of a public log.  ``offsets`` are the bytes at which they begin.

    ``torn_at``: the file ends inside a record that begins there (a crash, or a copy cut short), else None.
    """

    records: tuple[bytes, ...]
    offsets: tuple[int, ...]
    torn_at: int | None


def read_log(path: Path) -> LogFile:
    """The records of a public log, each as it was published.  As :func:`log_of`; raises OSError if it cannot be read."""
    return log_of(path.read_bytes(), path)


def log_of(data: bytes, path: Path) -> LogFile:
    """The records in the bytes of a public log.

    Raises Damaged, with the offset of the first record that is not what was written; ``path`` is named there.
    """
    records, end, problem = _scan(data, LOG_MAGIC)
    if isinstance(problem, _Bad):
        raise Damaged(path, problem.offset, problem.reason)
    offsets = []
    at = _HEADER
    for record in records:
        offsets.append(at)
        at += _FRONT + len(record) + _BACK
    return LogFile(records=records, offsets=tuple(offsets), torn_at=end if problem is not None else None)


class PublicLog:
    """Writes the public log.  Everything in it can be made again from the journal, so it is not synced as it grows."""

    def __init__(self, path: Path) -> None:
        """Begin the file anew, whatever was there: the session publishes from the first record on."""
        self.path = path
        with _disk(path):
            self._descriptor = os.open(
                path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o644
            )
            _write_all(self._descriptor, _header(LOG_MAGIC))
        self._size = _HEADER

    def append(self, payloads: Sequence[bytes]) -> None:
        """Append records in order.  Raises DiskFailed."""
        out = bytearray()
        for payload in payloads:
            out += _record(self._size + len(out), payload)
        with _disk(self.path):
            _write_all(self._descriptor, out)
        self._size += len(out)

    def sync(self) -> None:
        """Make it durable, at the end of a hand or of the game.  Raises DiskFailed."""
        with _disk(self.path):
            _sync(self._descriptor)
            sync_directory(self.path.parent)

    def close(self) -> None:
        """Close the file; harmless a second time."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


# --- secrets -------------------------------------------------------------------------------------------


class Secrets:
    """The secret of each running hand, one file each, durable before its first use and gone after the hand.

    Overwriting does not reach copies that a solid-state disk or a snapshot keeps; it is what a program can do.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def store(self, hand: int, data: bytes) -> None:
        """Make it durable; replaces an earlier secret of this hand.  Raises DiskFailed."""
        write_small_file(self._path(hand), SECRET_MAGIC, data)

    def load(self) -> Mapping[int, bytes]:
        """The secrets that are there and whole, by hand; a damaged one counts as lost (F38)."""
        found: dict[int, bytes] = {}
        with _disk(self.directory):
            for path in sorted(self.directory.glob("secret-*")):
                number = path.name.removeprefix("secret-")
                if number.isdecimal():
                    with suppress(Damaged):
                        found[int(number)] = read_small_file(path, SECRET_MAGIC)
        return found

    def wipe(self, hand: int) -> None:
        """Overwrite and remove; harmless if there is none.  Raises DiskFailed."""
        path = self._path(hand)
        with _disk(path):
            if not path.exists():
                return
            descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0))
            try:
                _write_all(descriptor, bytes(os.fstat(descriptor).st_size))
                _sync(descriptor)
            finally:
                os.close(descriptor)
            path.unlink()
            sync_directory(self.directory)

    def _path(self, hand: int) -> Path:
        return self.directory / f"secret-{hand}"


# --- the lock ------------------------------------------------------------------------------------------


class Lock:
    """Exclusive use of a directory by one process, released by the system however the process ends (F30)."""

    def __init__(self, path: Path) -> None:
        """Raises HomeInUse if another process (or another Lock in this one) holds it."""
        self.path = path
        with _disk(path):
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if sys.platform == "win32":
                msvcrt.locking(self._descriptor, msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._descriptor)
            if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
                raise DiskFailed(f"{path} cannot be locked: {error.strerror}") from None
            raise HomeInUse(
                f"another p2p-rummy already plays from {path.parent}; stop it, or give this one its own home"
                " with --home DIR"
            ) from None

    def release(self) -> None:
        """Give it up; harmless a second time."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


# --- small files ---------------------------------------------------------------------------------------


def write_small_file(path: Path, magic: bytes, payload: bytes) -> None:
    """A file of one record, replaced as a whole and durable when this returns.  Raises DiskFailed."""
    write_durably(path, _header(magic) + _record(_HEADER, payload))


def read_small_file(path: Path, magic: bytes) -> bytes:
    """What :func:`write_small_file` wrote.  Raises Damaged, or DiskFailed if it cannot be read."""
    with _disk(path):
        data = path.read_bytes()
    records, end, problem = _scan(data, magic)
    if isinstance(problem, _Bad):
        raise Damaged(path, problem.offset, problem.reason)
    if problem is not None or len(records) != 1:
        raise Damaged(path, end, "the file ends too early, or goes on too long")
    return records[0]


# --- durable bytes -------------------------------------------------------------------------------------


def write_durably(path: Path, data: bytes) -> None:
    """Replace a whole small file: after a crash it holds the old bytes or the new ones.  Raises DiskFailed."""
    with _disk(path):
        temporary = path.with_name(path.name + ".new")
        descriptor = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600
        )
        try:
            _write_all(descriptor, data)
            _sync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
        sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable, where the system can (F40)."""
    if sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _disk(path: Path) -> Iterator[None]:
    """Turn the system's refusals into DiskFailed with what to do."""
    advice = {
        errno.ENOSPC: "the disk is full; free some space and resume",
        errno.EDQUOT: "the disk quota is used up; free some space and resume",
        errno.EIO: "the disk reports an error; check it before you resume",
        errno.EROFS: "the disk is read-only; mount it writable and resume",
        errno.EACCES: "no permission to write there; change that, or choose another home with --home",
        errno.EPERM: "no permission to write there; change that, or choose another home with --home",
        errno.ENOENT: "the directory is gone; was the home moved or deleted?",
    }
    try:
        yield
    except OSError as error:
        reason = advice.get(error.errno or 0, error.strerror or str(error))
        raise DiskFailed(f"{path}: {reason}") from error


def _sync(descriptor: int) -> None:
    if sys.platform == "darwin":
        # fsync alone leaves the bytes in the drive's cache there (fcntl(2)).
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    elif sys.platform == "win32":
        os.fsync(descriptor)
    else:
        os.fdatasync(descriptor)


def _write_all(descriptor: int, data: bytes | bytearray) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


# --- the format ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Torn:
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bad:
    offset: int
    reason: str


def _header(magic: bytes) -> bytes:
    front = magic + FORMAT.to_bytes(2, "big") + bytes(2)
    return front + zlib.crc32(front).to_bytes(4, "big")


def _record(offset: int, payload: bytes) -> bytes:
    if len(payload) > MAX_RECORD:
        raise LocalProtocolError(f"a record has at most {MAX_RECORD} bytes, not {len(payload)}")
    place, length = offset.to_bytes(8, "big"), len(payload).to_bytes(4, "big")
    return b"".join(
        (
            length,
            zlib.crc32(place + length).to_bytes(4, "big"),
            payload,
            zlib.crc32(place + payload).to_bytes(4, "big"),
        )
    )


def _scan(data: bytes, magic: bytes) -> tuple[tuple[bytes, ...], int, _Torn | _Bad | None]:
    """The whole records, the offset after them, and what is wrong there."""
    fault = _header_fault(data, magic)
    if fault:
        return (), 0, _Bad(offset=0, reason=fault)
    records: list[bytes] = []
    at = _HEADER
    while at < len(data):
        place = at.to_bytes(8, "big")
        length = data[at : at + 4]
        torn = _Torn(offset=at)
        if len(data) - at < _FRONT or not any(data[at:]):
            return tuple(records), at, torn
        if zlib.crc32(place + length).to_bytes(4, "big") != data[at + 4 : at + _FRONT]:
            return tuple(records), at, _Bad(offset=at, reason="a record whose length was changed")
        start = at + _FRONT
        end = start + int.from_bytes(length, "big")
        if end + _BACK > len(data):
            return tuple(records), at, torn
        payload = data[start:end]
        if zlib.crc32(place + payload).to_bytes(4, "big") != data[end : end + _BACK]:
            return tuple(records), at, _Bad(offset=at, reason="a record that was changed")
        records.append(payload)
        at = end + _BACK
    return tuple(records), at, None


def _header_fault(data: bytes, magic: bytes) -> str:
    if not data:
        return "the file is empty"
    if data[: len(magic)] != magic[: len(data)]:
        return "this is not a file of that kind"
    if len(data) < _HEADER:
        return "the file ends inside its header"
    if zlib.crc32(data[:12]).to_bytes(4, "big") != data[12:_HEADER]:
        return "the header was changed"
    version = int.from_bytes(data[8:10], "big")
    if version != FORMAT:
        return f"the file has format {version}; this program reads format {FORMAT}"
    return ""
