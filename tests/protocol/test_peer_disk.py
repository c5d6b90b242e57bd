"""The files of one table, opened: when they may lack what was sent, and that this is not forgotten (F34)."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from protocol.peer.disk import Disk
from protocol.peer.home import Home, TableHome
from protocol.records import write_doubt, write_proof
from tests.protocol.tables import agreement

ONE, TWO = write_proof(1, b"one"), write_proof(2, b"two")


@pytest.fixture
def files(tmp_path: Path) -> TableHome:
    """A table that was opened twice, and whose journal has two records."""
    with Home(tmp_path / "home") as home:
        table = home.new_table(agreement(2))
    for record in (ONE, TWO):
        disk = Disk(table)
        disk.journal.append([record], sync=True)
        disk.close()
    return table


def opened(files: TableHome) -> tuple[str, tuple[bytes, ...]]:
    disk = Disk(files)
    disk.close()
    return disk.doubt, disk.journal.records


def put_back(files: TableHome) -> None:
    """A copy of the journal comes in its place, as from a backup."""
    shutil.copy(files.journal_path, files.path / "backup")
    (files.path / "backup").replace(files.journal_path)


def remove(files: TableHome) -> None:
    files.journal_path.unlink()


def shorten(files: TableHome) -> None:
    """As an old snapshot of the whole disk would."""
    with files.journal_path.open("r+b") as journal:
        journal.truncate(16)


def flip(files: TableHome) -> None:
    data = files.journal_path.read_bytes()
    files.journal_path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


def test_a_journal_that_is_what_was_written_is_in_no_doubt(files: TableHome) -> None:
    assert opened(files) == ("", (ONE, TWO))


@pytest.mark.parametrize(
    ("what", "doubt", "left"),
    [
        (put_back, "the journal is a copy", (ONE, TWO)),
        (remove, "the journal is missing", ()),
        (shorten, "the journal is older than this home", ()),
        (flip, "a record that was changed", (ONE,)),
    ],
)
def test_f34_a_doubt_stays_in_the_journal(
    files: TableHome, what: Callable[[TableHome], None], doubt: str, left: tuple[bytes, ...]
) -> None:
    what(files)
    assert opened(files) == (doubt, (*left, write_doubt(True)))
    assert opened(files) == ("", (*left, write_doubt(True))), (
        "nothing is wrong with the file now, but it says so"
    )
