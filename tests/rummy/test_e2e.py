"""Real processes on loopback: whole games, their logs, terminals that come and go, and what may go wrong on the way."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import pty
import random
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import trio

from protocol import PROTOCOL_VERSION
from protocol.journal import read_log
from protocol.ticket import Address, Ticket

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 120.0


def load_e2e() -> ModuleType:
    spec = importlib.util.spec_from_file_location("e2e", ROOT / "scripts" / "e2e.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["e2e"] = module
    spec.loader.exec_module(module)
    return module


Main = Callable[..., tuple[int, str, str]]
E2E = load_e2e()


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Three processes have played a short game of rum500; the first was driven through --json."""
    directory = tmp_path_factory.mktemp("game")
    terms = ["--target", "40", "--window", "0"]
    return trio.run(E2E.play, directory, 3, terms, "steady", 1)


def one_line(ended: tuple[int, str, str], status: int = 1) -> str:
    """The one line on stderr of a command that ended with this status and no traceback."""
    assert ended[0] == status, ended
    assert ended[2].startswith("p2p-rummy")
    assert ended[2].count("\n") == 1
    assert "Traceback" not in ended[2]
    return ended[2]


# --- a whole game ---------------------------------------------------------------------------------------


def test_three_processes_play_to_the_end_with_identical_logs_that_verify(game: list[Any]) -> None:
    assert E2E.check(game, 1, random.Random(4)) == []


def test_each_promised_event_is_told(game: list[Any]) -> None:
    told = {event["event"] for event in game[0].said}
    assert told >= {
        "hosted", "joined", "agreement", "agreed", "shuffled", "dealt", "your_turn", "move", "window", "ruling",
        "hand_over", "game_over",
    }  # fmt: skip


def test_every_seat_has_the_same_words_to_read_aloud(game: list[Any]) -> None:
    words = {player.last("agreed")["words"] for player in game}
    assert len(words) == 1
    assert len(words.pop().split()) >= 3


def test_a_bots_companion_sees_no_card_of_another_hand(game: list[Any]) -> None:
    dealt = [player.last("dealt")["cards"] for player in game]
    assert [len(cards) for cards in dealt] == [7, 7, 7]
    assert len({card for cards in dealt for card in cards}) == 21


def log_of(game: list[Any]) -> Path:
    return Path(game[0].last("game_over")["log"])


def test_verify_prints_table_seats_hands_winner_and_head(main: Main, game: list[Any]) -> None:
    end = game[0].last("game_over")
    status, out, _err = main("verify", log_of(game))
    assert status == 0
    names = [player["name"] for player in game[0].last("agreement")["seats"]]
    assert f"  winner: {names[end['winner']]}" in out
    assert f"  head {end['head']}" in out
    assert all(name in out for name in names)
    verdict = json.loads(main("verify", log_of(game), "--json")[1])
    assert (verdict["ok"], verdict["finished"], verdict["scores"]) == (True, True, end["scores"])


def test_replay_tells_every_move_and_the_end(main: Main, game: list[Any]) -> None:
    status, out, _err = main("replay", log_of(game))
    assert status == 0
    discards = [
        event for event in game[0].said if event["event"] == "move" and event["move"].startswith("discard")
    ]
    assert len(re.findall(r"discards \w+\.", out)) == len(discards)
    assert out.rstrip().endswith("points, and the game.")
    assert max(map(len, out.splitlines())) <= 80


def test_replay_of_one_hand_tells_only_that(main: Main, game: list[Any]) -> None:
    _status, out, _err = main("replay", log_of(game), "--hand", "1")
    assert "Hand 1." in out
    assert "Hand 2." not in out


# --- logs that do not hold ------------------------------------------------------------------------------


def test_a_log_that_ends_early_verifies_as_unfinished(main: Main, game: list[Any], tmp_path: Path) -> None:
    data = log_of(game).read_bytes()
    offsets = read_log(log_of(game)).offsets
    (tmp_path / "early.log").write_bytes(data[: offsets[len(offsets) // 2]])
    status, out, _err = main("verify", tmp_path / "early.log")
    assert status == 0
    assert "the game is not finished" in out


def test_a_truncated_log_is_refused_and_says_up_to_where_it_is_good(
    main: Main,
    game: list[Any],
    tmp_path: Path,
) -> None:
    data = log_of(game).read_bytes()
    (tmp_path / "torn.log").write_bytes(data[:-5])
    line = one_line(main("verify", tmp_path / "torn.log"))
    assert "cut short at byte" in line
    assert "it is good" in line


def test_files_that_are_no_log_are_refused(main: Main, tmp_path: Path) -> None:
    (tmp_path / "foreign.log").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (tmp_path / "empty.log").write_bytes(b"")
    for name, says in (
        ("foreign.log", ""),
        ("empty.log", ""),
        ("missing.log", "check the path"),
        (".", "directory"),
    ):
        for command in ("verify", "replay"):
            assert says in one_line(main(command, tmp_path / name))


def test_json_names_where_a_damaged_log_fails(main: Main, game: list[Any], tmp_path: Path) -> None:
    data = bytearray(log_of(game).read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "damaged.log").write_bytes(data)
    status, out, _err = main("verify", tmp_path / "damaged.log", "--json")
    verdict = json.loads(out)
    assert verdict["ok"] is False
    assert verdict["error"]["message"]
    assert status == 1


# --- tickets, ports, tables -----------------------------------------------------------------------------


def test_a_wrong_ticket_says_what_is_wrong_with_it(main: Main, tmp_path: Path) -> None:
    assert "RUMMY" in one_line(main("join", "hello", "--home", tmp_path))
    assert "copy" in one_line(main("join", "RUMMY-04DG7-N78GS", "--home", tmp_path))


def test_a_port_in_use_says_how_to_choose_another(main: Main, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert "--port" in one_line(main("host", "--port", port, "--bind", "127.0.0.1", "--home", tmp_path))


def test_usage_that_cannot_be_played_is_status_2(main: Main, tmp_path: Path) -> None:
    for words in (
        ("--seats", "9"),
        ("--seats", "2", "--bots", "2"),
        ("--game", "persian"),  # four players only
        ("--game", "canasta"),
        ("--set", "ace=middle"),
        ("--port", "99999"),
        ("--window", "soon"),
        ("--bot", "clever"),
        ("--name", "x" * 40),
    ):
        one_line(main("host", *words, "--home", tmp_path), status=2)
    one_line(main("host", "--preset", "Nobody's", "--home", tmp_path))


def test_there_is_nothing_to_resume_in_a_new_home(main: Main, tmp_path: Path) -> None:
    assert "host" in one_line(main("resume", "--home", tmp_path))


@contextlib.contextmanager
def answering(data: bytes) -> Iterator[str]:
    """A ticket for somebody who listens, says ``data`` to whoever comes, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    stream, _address = server.accept()
                    with stream:
                        stream.sendall(data)
                        stream.recv(4096)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        where = Address(host="127.0.0.1", port=server.getsockname()[1])
        yield str(Ticket(table=bytes(10), fingerprint=bytes(16), addresses=(where,)))
        server.shutdown(socket.SHUT_RDWR)
        thread.join(10)


def test_another_version_is_told_with_both_versions_and_what_to_do(main: Main, tmp_path: Path) -> None:
    hello = b"\x8ap2pRum\n" + (7).to_bytes(2, "big") + bytes([9]) + b"rummy 9.9" + (0).to_bytes(2, "big")
    with answering(hello) as ticket:
        line = one_line(main("join", ticket, "--home", tmp_path))
    assert "version 7" in line
    assert f"version {PROTOCOL_VERSION}" in line
    assert "update" in line


def test_something_that_is_no_table_at_all_is_told(main: Main, tmp_path: Path) -> None:
    for data in (b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", bytes(64)):
        with answering(data) as ticket:
            assert one_line(main("join", ticket, "--home", tmp_path))


@contextlib.contextmanager
def hosted(home: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A host with --json whose stdin stays open; and its ticket."""
    command = [
        sys.executable,
        "-m",
        "p2p_rummy",
        "host",
        "--json",
        "--port",
        "0",
        "--bind",
        "127.0.0.1",
        *words,
    ]
    process = subprocess.Popen(
        [*command, "--home", str(home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())["ticket"]
    finally:
        process.kill()
        process.communicate()


def test_a_host_that_is_gone_cannot_be_joined(main: Main, tmp_path: Path) -> None:
    with hosted(tmp_path / "host") as (_process, ticket):
        pass
    assert "cannot be reached" in one_line(main("join", ticket, "--home", tmp_path / "guest"))


def test_a_full_table_and_a_taken_name_are_told(main: Main, tmp_path: Path) -> None:
    with hosted(tmp_path / "host", "--name", "Ann", "--seats", "2") as (process, ticket):
        assert "Ann" in one_line(main("join", ticket, "--name", "Ann", "--home", tmp_path / "guest"))
        first = subprocess.Popen(
            [sys.executable, "-m", "p2p_rummy", "join", ticket, "--name", "Bo", "--home", str(tmp_path / "bo"), "--json"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            while json.loads(process.stdout.readline())["event"] != "agreed":
                pass
            one_line(main("join", ticket, "--name", "Cy", "--home", tmp_path / "late"))
        finally:
            first.kill()
            first.communicate()


def test_a_second_process_on_one_home_is_refused(main: Main, tmp_path: Path) -> None:
    with hosted(tmp_path / "host"):
        assert "--home" in one_line(main("host", "--home", tmp_path / "host"))


def test_a_driver_that_dies_ends_its_player_with_a_line(tmp_path: Path) -> None:
    with hosted(tmp_path / "host") as (process, _ticket):
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(30) == 1
        assert process.stdout is not None
        last = json.loads(process.stdout.read().splitlines()[-1])
        assert (last["event"], last["fatal"]) == ("error", True)
        assert process.stderr is not None
        assert process.stderr.read() == "p2p-rummy: the input has ended; the table had not started\n"
        process.stdin = None


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_signals_end_a_visit_with_one_line(tmp_path: Path, number: signal.Signals, status: int) -> None:
    with hosted(tmp_path / "host") as (process, _ticket):
        process.send_signal(number)
        assert process.wait(30) == status
        assert process.stderr is not None
        assert process.stderr.read().count("\n") == 1


# --- a person at a terminal -----------------------------------------------------------------------------


class Terminal:
    """A pseudo-terminal with a player's program in it."""

    def __init__(self, words: Sequence[str]) -> None:
        self.seen = ""
        pid, self.descriptor = pty.fork()
        if pid == 0:
            os.environ.update(COLUMNS="80", LINES="40", TERM="xterm", NO_COLOR="1", LANG="C")
            os.execv(sys.executable, [sys.executable, "-m", "p2p_rummy", *words])
        self.pid = pid

    def wait_for(self, text: str) -> str:
        """Read until ``text`` has come; what came up to its end is taken."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while text not in self.seen:
            assert time.monotonic() < deadline, f"{text!r} does not come:\n{self.seen[-2000:]}"
            if select.select([self.descriptor], [], [], 0.5)[0]:
                self.seen += os.read(self.descriptor, 65536).decode(errors="replace")
        taken, _text, self.seen = self.seen.partition(text)
        return taken + text

    def type(self, line: str) -> None:
        os.write(self.descriptor, line.encode() + b"\n")

    def status(self) -> int:
        """The exit status; what is still written is read, so that nobody waits for us."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                if select.select([self.descriptor], [], [], 0.1)[0]:
                    self.seen += os.read(self.descriptor, 65536).decode(errors="replace")
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
        raise AssertionError("the program does not end")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A newcomer and one bot; a hand of it has been dealt."""
    words = ["host", "--bots", "1", "--window", "1", "--port", "0", "--bind", "127.0.0.1", "--home", str(tmp_path), "--name",
             "Ann"]  # fmt: skip
    terminal = Terminal(words)
    yield terminal
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.kill(terminal.pid, signal.SIGKILL)
        os.waitpid(terminal.pid, 0)
    with contextlib.suppress(OSError):
        os.close(terminal.descriptor)


def only_log(home: Path) -> Path:
    (path,) = (home / "tables").glob("*/*.log")
    return path


def test_a_person_plays_a_turn_leaves_and_comes_back(main: Main, terminal: Terminal, tmp_path: Path) -> None:
    terminal.wait_for("YOUR TURN")
    shown = terminal.wait_for("(`help` lists all you can type)")
    assert "Pile, bottom to top" in shown
    terminal.type("r")
    terminal.wait_for("Your hand (13)")
    terminal.type("draw")
    drawn = re.search(r"You draw (\w+)\.", terminal.wait_for("lay off, or discard."))
    assert drawn is not None
    terminal.type("discard " + drawn[1].lower())
    terminal.wait_for(f"You discard {drawn[1]}.")
    terminal.wait_for("YOUR TURN")
    terminal.type("leave")
    terminal.wait_for("brings you back")
    assert terminal.status() == 0
    assert main("verify", only_log(tmp_path))[0] == 0
    again = Terminal(["resume", "--bind", "127.0.0.1", "--home", str(tmp_path)])
    try:
        assert "Your hand (13)" in again.wait_for("(`help` lists all you can type)")
        again.type("draw")
        again.wait_for("You draw ")
        os.kill(again.pid, signal.SIGINT)
        assert again.status() == 130
        assert "come back with: p2p-rummy resume" in again.seen
    finally:
        os.close(again.descriptor)


def test_a_terminal_that_closes_leaves_a_log_that_verifies_and_no_bot_behind(
    main: Main, terminal: Terminal, tmp_path: Path
) -> None:
    terminal.wait_for("YOUR TURN")
    os.close(terminal.descriptor)
    assert terminal.status() == 129
    assert main("verify", only_log(tmp_path))[0] == 0
    # The bot's home can be taken at once: its process has gone with its host.
    bot = next((tmp_path / "bots").iterdir())
    assert "no table begins" in one_line(main("resume", "ffff", "--home", bot))
    assert main("verify", only_log(bot))[0] == 0
