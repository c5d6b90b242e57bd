"""Files that survive.  The faults are made on real files in a temporary directory."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol import journal
from protocol.errors import LocalProtocolError
from protocol.journal import Damaged, DiskFailed, HomeInUse, Journal, Lock, PublicLog, Secrets, read_log

RECORDS = [b"agree", b"", b"commit" * 3, bytes(12), b"\xff" * 7]


@pytest.fixture
def fast_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """For loops over every byte: no fsync."""
    monkeypatch.setattr(journal, "_sync", lambda descriptor: None)
    monkeypatch.setattr(journal, "sync_directory", lambda path: None)


def write(path: Path, records: list[bytes]) -> list[int]:
    """A journal with these records; the file's size after each of them, the header's first."""
    written = Journal.open(path)
    sizes = [path.stat().st_size]
    for record in records:
        written.append([record], sync=True)
        sizes.append(path.stat().st_size)
    written.close()
    return sizes


def reopen(path: Path) -> Journal:
    opened = Journal.open(path)
    opened.close()
    return opened


# --- the journal ---------------------------------------------------------------------------------------


def test_what_was_appended_is_there_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    write(path, RECORDS)
    first = Journal.open(path)
    assert list(first.records) == RECORDS
    assert first.doubt == ""
    first.append([b"one", b"two"], sync=False)
    first.close()
    assert list(reopen(path).records) == [*RECORDS, b"one", b"two"]


def test_f31_torn_tail_at_every_byte(tmp_path: Path, fast_disk: None) -> None:
    """A journal cut anywhere opens with the whole records before the cut, without doubt, and goes on."""
    path = tmp_path / "journal"
    sizes = write(path, RECORDS)
    whole = path.read_bytes()
    for cut in range(sizes[0], len(whole)):
        path.write_bytes(whole[:cut])
        opened = Journal.open(path)
        kept = sum(1 for size in sizes[1:] if size <= cut)
        assert list(opened.records) == RECORDS[:kept]
        assert opened.doubt == ""
        opened.append([b"next"], sync=True)
        opened.close()
        assert list(reopen(path).records) == [*RECORDS[:kept], b"next"]


def test_f31_a_tail_of_zeros_is_torn_too(tmp_path: Path) -> None:
    """A file system may have grown the file and lost the bytes."""
    path = tmp_path / "journal"
    write(path, RECORDS)
    path.write_bytes(path.read_bytes() + bytes(4096))
    opened = reopen(path)
    assert list(opened.records) == RECORDS
    assert opened.doubt == ""


def test_f32_a_flipped_bit_anywhere_is_noticed(tmp_path: Path, fast_disk: None) -> None:
    path = tmp_path / "journal"
    sizes = write(path, RECORDS)
    whole = path.read_bytes()
    for at in range(sizes[0], len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << (at % 8)
        path.write_bytes(damaged)
        opened = reopen(path)
        kept = sum(1 for size in sizes[1:] if size <= at)
        assert list(opened.records) == RECORDS[:kept]
        assert opened.doubt != ""
        # From now on the file is good, but the damaged one is kept as it was found.
        aside = path.with_name("journal.damaged-1")
        assert aside.read_bytes() == bytes(damaged)
        aside.unlink()


def test_f33_zero_length_file_and_damaged_header_are_in_doubt(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_bytes(b"")
    empty = reopen(path)
    assert empty.records == ()
    assert empty.doubt == "the file is empty"
    assert reopen(path).doubt == ""

    path.write_bytes(b"\x8aRumJnl\n\x00\x02\x00\x00" + bytes(4))
    assert reopen(path).doubt == "the header was changed"


def test_f34_a_scar_stays_where_a_journal_was_damaged(tmp_path: Path, fast_disk: None) -> None:
    path = tmp_path / "journal"
    sizes = write(path, RECORDS)
    whole = path.read_bytes()
    for damaged, kept in (
        (b"", 0),
        (b"\xff" + whole[1:], 0),
        (whole[:-1] + bytes([whole[-1] ^ 1]), 4),
        (whole[: sizes[2] + 3] + b"\xff" + whole[sizes[2] + 4 :], 2),
    ):
        path.write_bytes(damaged)
        opened = Journal.open(path, scar=b"doubt")
        assert opened.doubt
        assert list(opened.records) == [*RECORDS[:kept], b"doubt"]
        opened.append([b"after"], sync=True)
        opened.close()
        again = Journal.open(path, scar=b"doubt")
        again.close()
        assert list(again.records) == [*RECORDS[:kept], b"doubt", b"after"]
        assert again.doubt == "", "one scar for one wound"
    path.write_bytes(whole[:-3])
    torn = Journal.open(path, scar=b"doubt")
    torn.close()
    assert list(torn.records) == RECORDS[:-1]


def test_f34_a_crash_while_the_scar_is_written_leaves_the_damage_or_the_scar(
    tmp_path: Path, fast_disk: None
) -> None:
    path = tmp_path / "journal"
    sizes = write(path, RECORDS)
    damaged = bytearray(path.read_bytes())
    damaged[sizes[2]] ^= 1
    path.write_bytes(damaged)
    Journal.open(path, scar=b"doubt").close()
    scarred = path.read_bytes()
    for written in range(sizes[2], len(scarred) + 1):
        path.write_bytes(scarred[:written] + damaged[written:])
        opened = Journal.open(path, scar=b"doubt")
        opened.close()
        healed = list(opened.records) == RECORDS  # what was written first is what had been there
        assert healed or opened.doubt or b"doubt" in opened.records
        assert list(opened.records[:2]) == RECORDS[:2]


def test_f35_enospc_is_final(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal"
    opened = Journal.open(path)
    opened.append([b"before"], sync=True)

    def full(descriptor: int, data: memoryview) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "write", full)
        with pytest.raises(DiskFailed, match="the disk is full; free some space and resume"):
            opened.append([b"lost"], sync=True)
    with pytest.raises(DiskFailed, match="the disk is full"):
        opened.append([b"never"], sync=True)
    opened.close()
    assert list(reopen(path).records) == [b"before"]


def test_f35_half_a_record_on_a_full_disk_is_a_torn_tail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal"
    opened = Journal.open(path)
    opened.append([b"before"], sync=True)
    real = os.write
    written: list[int] = []

    def nearly_full(descriptor: int, data: memoryview) -> int:
        if written:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(real(descriptor, data[:5]))
        return written[0]

    with monkeypatch.context() as disk:
        disk.setattr(os, "write", nearly_full)
        with pytest.raises(DiskFailed):
            opened.append([b"half"], sync=True)
    opened.close()
    again = reopen(path)
    assert list(again.records) == [b"before"]
    assert again.doubt == ""


def test_f36_fsync_eio_is_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Journal.open(tmp_path / "journal")
    calls: list[int] = []

    def failing(descriptor: int) -> None:
        calls.append(descriptor)
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(journal, "_sync", failing)
    with pytest.raises(DiskFailed, match="check it before you resume"):
        opened.append([b"mine"], sync=True)
    monkeypatch.undo()
    with pytest.raises(DiskFailed):
        opened.append([b"mine"], sync=True)
    assert len(calls) == 1
    opened.close()


def test_f37_read_only_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(*arguments: object) -> int:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "open", read_only)
    for attempt in (
        lambda: Journal.open(tmp_path / "journal"),
        lambda: PublicLog(tmp_path / "table.log"),
        lambda: Secrets(tmp_path).store(1, b"s"),
        lambda: Lock(tmp_path / "lock"),
    ):
        with pytest.raises(DiskFailed, match="mount it writable"):
            attempt()


def test_f39_a_record_written_to_the_wrong_place_is_not_believed(tmp_path: Path) -> None:
    """Two records of one length swap places: each is whole, and neither is where it was written."""
    path = tmp_path / "journal"
    sizes = write(path, [b"first!", b"second"])
    whole = path.read_bytes()
    path.write_bytes(whole[: sizes[0]] + whole[sizes[1] :] + whole[sizes[0] : sizes[1]])
    opened = reopen(path)
    assert opened.records == ()
    assert opened.doubt != ""


def test_f40_the_directory_entry_is_made_durable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(journal, "sync_directory", synced.append)
    Journal.open(tmp_path / "journal").close()
    assert synced == [tmp_path]
    Secrets(tmp_path).store(3, b"secret")
    assert synced == [tmp_path] * 2
    Secrets(tmp_path).wipe(3)
    assert synced == [tmp_path] * 3


def test_a_synced_append_reaches_the_disk_before_it_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal"
    opened = Journal.open(path)
    size_when_synced: list[int] = []
    monkeypatch.setattr(journal, "_sync", lambda fd: size_when_synced.append(os.fstat(fd).st_size))
    opened.append([b"12345"], sync=False)
    assert size_when_synced == []
    opened.append([b"12345"], sync=True)
    assert size_when_synced == [16 + 2 * (8 + 5 + 4)]
    opened.close()


def test_a_closed_journal_takes_nothing(tmp_path: Path) -> None:
    opened = Journal.open(tmp_path / "journal")
    opened.close()
    opened.close()
    with pytest.raises(LocalProtocolError, match="closed"):
        opened.append([b"x"], sync=True)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=6), st.binary(max_size=60))
def test_f84_any_tail_after_whole_records_leaves_them_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, records: list[bytes], tail: bytes
) -> None:
    # Durability is not what this is about; without it the examples take milliseconds.
    with pytest.MonkeyPatch.context() as disk:
        disk.setattr(journal, "_sync", lambda descriptor: None)
        disk.setattr(journal, "sync_directory", lambda path: None)
        _check_tail(tmp_path_factory, records, tail)


def _check_tail(tmp_path_factory: pytest.TempPathFactory, records: list[bytes], tail: bytes) -> None:
    path = tmp_path_factory.mktemp("j") / "journal"
    write(path, records)
    path.write_bytes(path.read_bytes() + tail)
    assert list(reopen(path).records[: len(records)]) == records


# --- the public log ------------------------------------------------------------------------------------


def log_with(path: Path, records: list[bytes]) -> bytes:
    log = PublicLog(path)
    log.append(records[:2])
    log.append(records[2:])
    log.sync()
    log.close()
    return path.read_bytes()


def test_the_log_gives_back_records_and_where_they_begin(tmp_path: Path) -> None:
    path = tmp_path / "table.log"
    log_with(path, [b"abc", b"", b"de"])
    read = read_log(path)
    assert read.records == (b"abc", b"", b"de")
    assert read.offsets == (16, 16 + 15, 16 + 15 + 12)
    assert read.torn_at is None


def test_two_peers_write_the_same_bytes(tmp_path: Path) -> None:
    assert log_with(tmp_path / "a.log", RECORDS) == log_with(tmp_path / "b.log", RECORDS)


def test_any_flipped_byte_of_a_log_is_named_by_its_record(tmp_path: Path, fast_disk: None) -> None:
    path = tmp_path / "table.log"
    whole = log_with(path, RECORDS)
    offsets = [0, *read_log(path).offsets]
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 0x40
        path.write_bytes(damaged)
        with pytest.raises(Damaged) as caught:
            read_log(path)
        assert caught.value.offset == max(offset for offset in offsets if offset <= at)


def test_a_log_cut_inside_its_last_record_is_unfinished_not_damaged(tmp_path: Path) -> None:
    path = tmp_path / "table.log"
    whole = log_with(path, RECORDS)
    last = read_log(path).offsets[-1]
    for cut in range(last + 1, len(whole)):
        path.write_bytes(whole[:cut])
        read = read_log(path)
        assert list(read.records) == RECORDS[:-1]
        assert read.torn_at == last


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "the file is empty"),
        (b"Dear diary", "not a file of that kind"),
        (journal.JOURNAL_MAGIC, "not a file of that kind"),
        (journal.LOG_MAGIC + b"\x00", "ends inside its header"),
    ],
)
def test_what_is_no_log_is_said_to_be_none(tmp_path: Path, data: bytes, told: str) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(data)
    with pytest.raises(Damaged, match=rf"x\.log: .*{told}.* \(at byte 0\)"):
        read_log(path)


def test_w11_a_log_of_another_format_names_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.log"
    with monkeypatch.context() as later:
        later.setattr(journal, "FORMAT", 2)
        log_with(path, RECORDS)
    with pytest.raises(Damaged, match="format 2; this program reads format 1"):
        read_log(path)


# --- secrets -------------------------------------------------------------------------------------------


def test_a_secret_is_there_until_it_is_wiped(tmp_path: Path) -> None:
    secrets = Secrets(tmp_path)
    secrets.store(1, b"first")
    secrets.store(2, b"second")
    secrets.store(1, b"replaced")
    assert secrets.load() == {1: b"replaced", 2: b"second"}
    secrets.wipe(1)
    secrets.wipe(1)
    assert secrets.load() == {2: b"second"}


def test_a_wiped_secret_was_overwritten_before_it_was_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = Secrets(tmp_path)
    secrets.store(1, b"scalar" * 5)
    left: list[bytes] = []
    real = Path.unlink

    def look(path: Path, missing_ok: bool = False) -> None:
        left.append(path.read_bytes())
        real(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", look)
    secrets.wipe(1)
    assert left == [bytes(16 + 8 + 30 + 4)]
    assert list(tmp_path.iterdir()) == []


def test_f38_a_damaged_secret_counts_as_lost(tmp_path: Path) -> None:
    secrets = Secrets(tmp_path)
    secrets.store(1, b"first")
    path = tmp_path / "secret-1"
    whole = path.read_bytes()
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 1
        path.write_bytes(damaged)
        assert secrets.load() == {}
    path.write_bytes(whole[:-1])
    assert secrets.load() == {}


# --- the lock ------------------------------------------------------------------------------------------


def test_f30_a_second_process_on_one_home_is_refused(tmp_path: Path) -> None:
    held = Lock(tmp_path / "lock")
    second = (
        "import pathlib, sys\n"
        "from protocol.journal import HomeInUse, Lock\n"
        "try:\n    Lock(pathlib.Path(sys.argv[1]))\n"
        "except HomeInUse as error:\n    print(error); sys.exit(7)\n"
    )
    command = [sys.executable, "-c", second, str(tmp_path / "lock")]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 7
    assert "--home DIR" in refused.stdout
    held.release()
    held.release()
    assert subprocess.run(command, check=False).returncode == 0


def test_f30_a_second_lock_in_one_process_is_refused_too(tmp_path: Path) -> None:
    held = Lock(tmp_path / "lock")
    with pytest.raises(HomeInUse):
        Lock(tmp_path / "lock")
    held.release()
    Lock(tmp_path / "lock").release()
