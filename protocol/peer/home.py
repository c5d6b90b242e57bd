"""One peer's home on disk: who it is, the tables it sits at, and whom it knows.

    lock                      held while a process uses the home (F30)
    identity                  the secret seed of the identity key
    friends                   names and keys of those met before
    watched/TABLE/            the same for tables without a seat here
    tables/TABLE/             one directory a table, named by the first 16 hex digits of the table id
        agreement             what was signed
        addresses             where the seats were last reached, and the port this peer listened on
        journal, secret-N     see protocol.journal
        mark                  which file the journal was when it was last opened
        TABLE.log             the public log, for ``verify`` and ``replay``
        seatK-stepN.evidence  a proof against seat K, for ``evidence``
        seatK-stepN.abandoned seat K's record that it waited in vain, for ``verify`` and ``evidence``
        over                  present when the game has ended

Everything is private to the owner of the home; only the log is meant to be shown to others.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Final

from protocol.agreement import Agreement
from protocol.canonical import Limits, Value, array, decode, encode, integer, octets, text
from protocol.errors import EncodingError, LocalProtocolError, ProtocolError
from protocol.identity import PUBLIC_KEY_BYTES, SEED_BYTES, Identity
from protocol.journal import (
    Damaged,
    DiskFailed,
    Lock,
    read_small_file,
    write_durably,
    write_small_file,
)
from protocol.lobby import AddressBook
from protocol.ticket import Address

MAX_FRIENDS: Final = 1000

_IDENTITY: Final = b"\x8aRumKey\n"
_AGREEMENT: Final = b"\x8aRumAgr\n"
_ADDRESSES: Final = b"\x8aRumAdr\n"
_MARK: Final = b"\x8aRumMrk\n"
_FRIENDS: Final = b"\x8aRumFri\n"
_LIMITS: Final = Limits(max_bytes=1 << 18, max_depth=4, max_nodes=1 << 13)


class NoSuchTable(ProtocolError):  # noqa: N818 - what the user is told
    """No table here goes by that name, or none is unfinished."""

    code = "no_such_table"


class Acquaintance(Enum):
    """What a home knows of a name and its key."""

    NEW = "new"
    KNOWN = "known"
    RENAMED = "renamed"
    """The key is known under another name."""
    ANOTHER_KEY = "another_key"
    """The name is known, with another key: somebody else, or a friend with a new home.  To be shouted about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableHome:
    """The directory of one table."""

    path: Path
    agreement: Agreement

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def journal_path(self) -> Path:
        return self.path / "journal"

    @property
    def log_path(self) -> Path:
        return self.path / f"{self.path.name}.log"

    def evidence_path(self, seat: int, step: int) -> Path:
        """Where the proof against a seat is kept, for ``p2p-rummy evidence``."""
        return self.path / f"seat{seat}-step{step}.evidence"

    @property
    def over(self) -> bool:
        return (self.path / "over").exists()

    def mark_over(self) -> None:
        """The game has ended: nothing here is to be resumed.  Raises DiskFailed."""
        write_small_file(self.path / "over", _AGREEMENT, self.agreement.table)

    def save_evidence(self, seat: int, step: int, data: bytes) -> None:
        """Keep a proof against a seat; one that is there already stays as it is (F102).  Raises DiskFailed."""
        path = self.evidence_path(seat, step)
        if not path.exists():
            write_durably(path, data)

    def save_abandonment(self, seat: int, step: int, data: bytes) -> None:
        """Keep a seat's record that it waited in vain; one that is there already stays.  Raises DiskFailed."""
        path = self.path / f"seat{seat}-step{step}.abandoned"
        if not path.exists():
            write_durably(path, data)

    def save_mark(self, mark: tuple[int, int, int]) -> None:
        """Note which file the journal is.  Raises DiskFailed."""
        write_small_file(self.path / "mark", _MARK, b"".join(part.to_bytes(16, "big") for part in mark))

    def load_mark(self) -> tuple[int, int, int] | None:
        """What :meth:`save_mark` noted, None if this table was never opened (or the mark is lost)."""
        try:
            data = read_small_file(self.path / "mark", _MARK)
        except (Damaged, DiskFailed):
            return None
        device, number, size = (int.from_bytes(data[at : at + 16], "big") for at in (0, 16, 32))
        return device, number, size

    def save_addresses(self, book: AddressBook, listening_port: int) -> None:
        """Remember where everybody is, for a resume.  Raises DiskFailed."""
        seats: list[Value] = [[[address.host, address.port] for address in seat] for seat in book]
        write_small_file(self.path / "addresses", _ADDRESSES, encode([listening_port, seats]))

    def load_addresses(self) -> tuple[AddressBook, int]:
        """What :meth:`save_addresses` kept; empty if that is lost (others will dial us, or give it anew)."""
        nothing = tuple(() for _ in self.agreement.seats), 0
        try:
            value = decode(read_small_file(self.path / "addresses", _ADDRESSES), limits=_LIMITS)
            port, seats = array(value, field="addresses", length=2)
            book = tuple(
                tuple(
                    Address(
                        host=text(pair[0], field="addresses", at_most=255),
                        port=integer(pair[1], field="addresses", below=1 << 16),
                    )
                    for pair in array(seat, field="addresses")
                )
                for seat in array(seats, field="addresses", length=len(self.agreement.seats))
            )
            return book, integer(port, field="addresses", below=1 << 16)
        except (Damaged, DiskFailed, EncodingError, IndexError, TypeError, ValueError):
            return nothing


class Home:
    """A peer's directory, held by this process until :meth:`close`.  Use it as a context manager.

    Raises HomeInUse if another process plays from it, DiskFailed if it cannot be used, Damaged if the identity
    cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            for name in ("tables", "watched"):
                (path / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise DiskFailed(f"{path}: {error.strerror}; choose another home with --home") from error
        self._lock = Lock(path / "lock")
        try:
            self.identity = _load_identity(path / "identity")
            self.friends = Friends(path / "friends")
        except BaseException:
            self._lock.release()
            raise

    def close(self) -> None:
        """Give the home up; harmless a second time."""
        self._lock.release()

    def __enter__(self) -> Home:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def tables(self) -> list[TableHome]:
        """The tables that this home knows, the latest first."""
        found = []
        for path in (self.path / "tables").iterdir():
            with contextlib.suppress(Damaged, DiskFailed, ProtocolError):
                found.append((_last_used(path), _open_table(path)))
        return [table for _used, table in sorted(found, key=lambda each: each[0], reverse=True)]

    def new_table(self, agreement: Agreement, *, watching: bool = False) -> TableHome:
        """Make the directory of a table that is about to start, or to be watched.  Raises DiskFailed."""
        path = self.path / ("watched" if watching else "tables") / agreement.table.hex()[:16]
        try:
            path.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise DiskFailed(f"{path}: {error.strerror}") from error
        write_small_file(path / "agreement", _AGREEMENT, agreement.encode())
        return TableHome(path=path, agreement=agreement)

    def table(self, name: str | None = None) -> TableHome:
        """The table whose id begins with ``name`` (hexadecimal); None: the latest that is not over.

        Raises NoSuchTable, or Damaged if the table is there but its agreement cannot be read.
        """
        if name is None:
            for table in self.tables():
                if not table.over:
                    return table
            raise NoSuchTable(
                "no unfinished table in this home; open one with: host, or join one with a ticket"
            )
        wanted = name.strip().lower()[:16]
        paths = [path for path in (self.path / "tables").iterdir() if wanted and path.name.startswith(wanted)]
        if len(paths) != 1:
            there = ", ".join(table.name for table in self.tables()[:5]) or "none"
            which = "several tables begin" if paths else "no table begins"
            raise NoSuchTable(f"{which} with {name!r}; the latest in this home: {there}")
        return _open_table(paths[0])


class Friends:
    """Names and keys of those met before.  A name proves nothing; the key does."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._names: dict[bytes, str] = {}
        # A lost or damaged list only makes everybody new again.
        with contextlib.suppress(Damaged, DiskFailed, EncodingError):
            value = decode(read_small_file(path, _FRIENDS), limits=_LIMITS)
            for pair in array(value, field="friends", at_most=MAX_FRIENDS):
                key, name = array(pair, field="friends", length=2)
                self._names[octets(key, field="friends", length=PUBLIC_KEY_BYTES)] = text(
                    name, field="friends"
                )

    def __iter__(self) -> Iterator[tuple[bytes, str]]:
        """(key, name), the latest met first."""
        return iter(reversed(self._names.items()))

    def judge(self, key: bytes, name: str) -> Acquaintance:
        """What is known of somebody who says to be ``name`` and has proven ``key``."""
        known = self._names.get(key)
        if known == name:
            return Acquaintance.KNOWN
        if name in self._names.values():
            return Acquaintance.ANOTHER_KEY
        return Acquaintance.NEW if known is None else Acquaintance.RENAMED

    def remember(self, key: bytes, name: str) -> None:
        """Know this key by this name from now on.  Raises DiskFailed."""
        self._names.pop(key, None)
        self._names[key] = name
        while len(self._names) > MAX_FRIENDS:
            del self._names[next(iter(self._names))]
        write_small_file(self._path, _FRIENDS, encode([[key, name] for key, name in self._names.items()]))

    def forget(self, key: bytes) -> None:
        """Raises LocalProtocolError if the key is not known, DiskFailed."""
        if self._names.pop(key, None) is None:
            raise LocalProtocolError("nobody here is known by that key")
        write_small_file(self._path, _FRIENDS, encode([[key, name] for key, name in self._names.items()]))


def _load_identity(path: Path) -> Identity:
    if not path.exists():
        write_small_file(path, _IDENTITY, os.urandom(SEED_BYTES))
    seed = read_small_file(path, _IDENTITY)
    if len(seed) != SEED_BYTES:
        raise Damaged(path, 0, "the identity has the wrong length; restore it from a backup, or move it away")
    return Identity(seed)


def _open_table(path: Path) -> TableHome:
    agreement = Agreement.decode(read_small_file(path / "agreement", _AGREEMENT))
    if agreement.table.hex()[:16] != path.name:
        raise Damaged(path / "agreement", 0, "this agreement belongs to another table")
    return TableHome(path=path, agreement=agreement)


def _last_used(path: Path) -> float:
    try:
        return max(each.stat().st_mtime for each in path.iterdir())
    except (OSError, ValueError):
        return 0.0
