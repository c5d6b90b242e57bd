"""A path on the command line may lead to anything; what is no file of ours is refused in one line and never waited for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from p2p_rummy.complaint import Complaint
from p2p_rummy.files_given import read_given

Main = Callable[..., tuple[int, str, str]]

COMMANDS = ("verify", "replay", "evidence", "scenario")


def a_directory(path: Path) -> None:
    path.mkdir()


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_device_without_end(path: Path) -> None:
    path.symlink_to("/dev/zero")


def a_way_to_nothing(path: Path) -> None:
    path.symlink_to(path.with_name("gone"))


def nothing(path: Path) -> None:
    pass


def itself(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("make", "says"),
    [
        (a_directory, "is a directory; give a file"),
        (a_pipe, "is no regular file"),
        (a_device_without_end, "is no regular file"),
        (a_way_to_nothing, "No such file or directory; check the path"),
        (nothing, "No such file or directory; check the path"),
        (itself, "Too many levels of symbolic links"),
    ],
)
def test_what_is_no_file_is_refused_in_one_line(
    main: Main, tmp_path: Path, command: str, make: Callable[[Path], None], says: str
) -> None:
    path = tmp_path / "given"
    make(path)
    status, out, err = main(command, path)
    assert (status, out) == (1, "")
    (line,) = err.splitlines()
    assert str(path) in line
    assert says in line


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_may_not_be_read_is_named(main: Main, tmp_path: Path, command: str) -> None:
    path = tmp_path / "closed"
    path.write_bytes(b"")
    path.chmod(0)
    status, out, err = main(command, path)
    assert (status, out) == (1, "")
    (line,) = err.splitlines()
    assert f"{path}: Permission denied" in line


@pytest.mark.parametrize(
    ("command", "module", "bound"),
    [
        ("verify", "p2p_rummy.commands.verify", "MOST_LOG"),
        ("replay", "p2p_rummy.commands.replay", "MOST_LOG"),
        ("evidence", "p2p_rummy.commands.evidence", "MOST_EVIDENCE"),
        ("scenario", "p2p_rummy.scenario", "MOST_TEXT"),
    ],
)
def test_a_file_larger_than_what_it_is_given_for_is_refused(
    monkeypatch: pytest.MonkeyPatch, main: Main, tmp_path: Path, command: str, module: str, bound: str
) -> None:
    monkeypatch.setattr(f"{module}.{bound}", 1000)
    path = tmp_path / "large"
    path.write_bytes(bytes(1001))
    status, out, err = main(command, path)
    assert (status, out) == (1, "")
    assert "is larger than such a file can be (1000 bytes)" in err


def test_a_file_of_exactly_the_most_is_read_and_one_byte_more_is_not(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abcd")
    assert read_given(path, 4) == b"abcd"
    with pytest.raises(Complaint, match=r"larger than such a file can be \(3 bytes\)"):
        read_given(path, 3)
