"""A hand played on the whole screen, in a real terminal (tmux), keys in and characters out."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

PATIENCE_SECONDS = 90


class Terminal:
    """One tmux server of our own with one window, which ends with the test."""

    def __init__(self, home: Path) -> None:
        self.socket = home / "tmux.socket"
        command = (
            f"{sys.executable} -m p2p_rummy host --bots 1 --tui --window 0 --set target=50 --bind 127.0.0.1 "
            f"--name Ann --home {home / 'home'}; echo status=$?; stty -a | grep -o -- '.\\?icanon'; sleep 100"
        )
        environment = os.environ | {"LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "TMUX": ""}
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", command, env=environment)

    def _tmux(self, *words: str, env: dict[str, str] | None = None) -> str:
        done = subprocess.run(
            ["tmux", "-u", "-S", str(self.socket), *words],
            check=True,
            capture_output=True,
            text=True,
            env=env,
        )
        return done.stdout

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def resize(self, columns: int, rows: int) -> None:
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def until(self, *patterns: str) -> str:
        """The screen, once one of these is on it."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            screen = self.screen()
            if any(re.search(pattern, screen) for pattern in patterns):
                return screen
            time.sleep(0.05)
        raise AssertionError(f"none of {patterns} came on the screen:\n{self.screen()}")

    def until_not(self, pattern: str) -> str:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            if not re.search(pattern, screen := self.screen()):
                return screen
            time.sleep(0.05)
        raise AssertionError(f"{pattern!r} stays on the screen:\n{self.screen()}")

    def answer(self, key: str, pattern: str) -> None:
        """Press the key until this is not asked any more: the next question may ask the same at once."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while re.search(pattern, screen := self.screen()):
            assert time.monotonic() < deadline, screen
            self.press(key)
            asked_again = time.monotonic() + 3
            while re.search(pattern, self.screen()) and time.monotonic() < asked_again:
                time.sleep(0.05)

    def leave(self) -> str:
        """Press q until the program has ended: it closes a page, asks whether one is sure, and leaves."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while "status=" not in (screen := self.screen()):
            assert time.monotonic() < deadline, screen
            self.press("q")
            time.sleep(0.2)
        return screen

    def close(self) -> None:
        subprocess.run(["tmux", "-S", str(self.socket), "kill-server"], capture_output=True, check=False)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(tmp_path)
    yield opened
    opened.close()


def test_a_hand_is_played_by_keyboard_and_the_terminal_is_given_back(terminal: Terminal):
    screen = terminal.until("YOUR TURN", "call or pass")
    assert "\u2660" in screen or "\u2665" in screen or "\u2666" in screen or "\u2663" in screen
    terminal.resize(60, 20)
    terminal.until("YOUR TURN", "call or pass")
    for _step in range(200):
        # Each is on the screen only as long as it is asked of this seat, so what was done is done when it is gone.
        screen = terminal.until("Score sheet", "1 draw", r"\d pass", "YOUR TURN")
        if "Score sheet" in screen:
            break
        if "1 draw" in screen:
            terminal.press("d")
            terminal.until_not("1 draw")
        elif re.search(r"\d pass", screen):
            terminal.answer("p", r"\d pass")
        else:
            terminal.press("Space")
            terminal.until(r"\d discard")
            terminal.press("x")
            terminal.until_not(r"\d discard")
    screen = terminal.until("Score sheet")
    assert "total" in screen
    assert "status=0" in terminal.leave()
    assert "-icanon" not in terminal.until("icanon")
