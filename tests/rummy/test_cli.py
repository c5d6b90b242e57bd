"""The command line: one line on stderr for everything that goes wrong, and never a traceback."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from p2p_rummy import cli
from p2p_rummy.complaint import Complaint, Verdict, verdict_on
from p2p_rummy.home import checked_name, home_directory, player_name
from protocol.errors import VerificationError

Main = Callable[..., tuple[int, str, str]]


# --- usage ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("dance",), "dance"),
        (("options", "canasta"), "there is no game 'canasta'; the games are rum500, rummy"),
        (("presets", "save", "x", "--game", "rum500", "--set", "ace"), "`ace` is not option=value"),
        (("presets", "save", "x", "--set", "aces=low"), "rum500 has no option 'aces'"),
        (
            ("presets", "save", "x", "--set", "ace=middle"),
            "ace=middle is not allowed: ace is low | high_or_low",
        ),
        (("presets", "save", "x", "--set", "take_depth=top"), "which take_depth=top forbids"),
        (("presets", "save", "x", "--target", "500", "--set", "target=250"), "say different things"),
        (("presets", "add", "no rules at all"), "house rules are one line"),
        (("presets", "save"), "the following arguments are required: NAME"),
        (("resume", "--via"), "argument --via: expected one argument"),
        (("host", "--only-at", "here"), "'here' is not an IP address and a port; write it as 127.0.0.1:4000"),
        (("host", "--only-at", "friend.example:4000"), "is not an IP address and a port"),
        (("host", "--only-at", "127.0.0.1:0"), "is not an IP address and a port"),
        (("host", "--unlisted"), "unrecognized arguments: --unlisted"),
        (("resume", "--unlisted", "--only-at", "127.0.0.1:4000"), "choose one"),
    ],
)
def test_a_command_line_that_cannot_be_read_gets_one_line_and_status_2(
    main: Main, words: tuple[str, ...], says: str
) -> None:
    status, out, err = main(*words)
    assert status == 2
    assert out == ""
    assert says in err
    assert err.startswith("p2p-rummy")
    assert err.count("\n") == 1


def test_no_command_at_all_opens_the_page(main: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("p2p_rummy.commands.web.run", lambda args: opened.append(args.command) or 0)
    assert main() == (0, "", "")
    assert opened == ["web"]


def test_help_lists_every_command_with_a_summary(main: Main) -> None:
    status, out, _err = main("--help")
    assert status == 0
    words = " ".join(out.split())
    for name, summary in cli.COMMANDS.items():
        assert f"{name} {summary}" in words


def test_every_command_of_the_table_has_its_module_and_explains_itself(main: Main) -> None:
    for name in cli.COMMANDS:
        status, out, _err = main(name, "--help")
        assert status == 0
        assert out.startswith(f"usage: p2p-rummy {name}")


# --- what goes wrong ------------------------------------------------------------------------------------


def test_an_unexpected_fault_leaves_a_report_and_no_traceback(
    main: Main, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(_args: object) -> int:
        raise ZeroDivisionError("a bug of ours")

    monkeypatch.setattr("p2p_rummy.commands.options.run", broken)
    status, _out, err = main("options")
    assert status == 1
    assert err.count("\n") == 1
    assert "Traceback" not in err
    report = Path(err.rpartition(" with ")[2].strip())
    assert report.parent == tmp_path / "home" / "reports"
    assert "ZeroDivisionError: a bug of ours" in report.read_text()


def test_debugging_shows_the_traceback_instead(main: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_args: object) -> int:
        raise ZeroDivisionError("a bug of ours")

    monkeypatch.setattr("p2p_rummy.commands.options.run", broken)
    monkeypatch.setenv("P2P_RUMMY_DEBUG", "1")
    status, _out, err = main("options")
    assert status == 1
    assert "Traceback" in err


def test_ctrl_c_ends_with_130(main: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_args: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("p2p_rummy.commands.options.run", interrupted)
    status, _out, err = main("options")
    assert (status, err) == (130, "p2p-rummy: interrupted\n")


def test_of_several_errors_in_a_group_the_one_for_the_user_is_told() -> None:
    group = BaseExceptionGroup(
        "nursery", [BrokenPipeError(), ExceptionGroup("inner", [Complaint("choose another port", status=1)])]
    )
    assert verdict_on(group) == Verdict("choose another port", 1)


def test_a_group_with_anything_unexpected_is_unexpected() -> None:
    assert verdict_on(ExceptionGroup("nursery", [Complaint("x"), ZeroDivisionError()])) is None


def test_an_error_of_the_system_says_what_to_do_next() -> None:
    verdict = verdict_on(OSError(errno.EADDRINUSE, "Address already in use"))
    assert verdict is not None
    assert verdict.status == 1
    assert "--port 0" in verdict.line


def test_a_peers_error_names_the_seat_and_stays_on_one_line() -> None:
    verdict = verdict_on(VerificationError("bad_proof", "the proof\nfails\x1b[2J", seat=2, step=9))
    assert verdict == Verdict("seat 3: step 9: the proof fails [2J", 1)


def test_a_reader_that_goes_away_gets_no_traceback() -> None:
    script = "import sys; from p2p_rummy.cli import main; sys.exit(main(['options', 'rum500']))"
    process = subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -c "{script}" | true; echo "${{PIPESTATUS[0]}}"'],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, "PYTHONUNBUFFERED": ""},
    )
    assert process.stderr == ""
    assert process.stdout.strip() in ("0", "1")


# --- options and house rules ----------------------------------------------------------------------------


def test_options_as_json_name_their_rule_and_default(main: Main) -> None:
    status, out, _err = main("options", "rummy", "--json")
    rows = {row["name"]: row for row in map(json.loads, out.splitlines())}
    assert status == 0
    assert rows["target"]["default"] == "150"  # R151
    assert rows["ace"] == rows["ace"] | {"default": "low", "rule": "R33", "allowed": "low | high_or_low"}


def test_options_fit_eighty_columns(main: Main) -> None:
    _status, out, _err = main("options", "rum500_korean")
    assert max(map(len, out.splitlines())) <= 80


def test_house_rules_are_kept_without_what_is_default_and_shown_as_text(main: Main) -> None:
    line = "Grandma's: rum500 ace=low target=1000\n"
    assert main("presets", "save", "Grandma's", "--set", "ace=LOW", "--set", "calling=full", "--target", "1000") == (
        0, line, "",
    )  # fmt: skip
    assert main("presets", "show", "grandma's") == (0, line, "")
    assert main("presets") == (0, line, "")
    assert main("presets", "remove", "Grandma's") == (0, "", "")
    assert main("presets", "show", "Grandma's")[0] == 1


def test_house_rules_of_a_friend_are_kept_as_sent(main: Main) -> None:
    status, out, _err = main("presets", "add", "Uncle Jo:", "persian", "going_out_bonus=50")
    assert (status, out) == (0, "Uncle Jo: persian going_out_bonus=50\n")


# --- the home -------------------------------------------------------------------------------------------


def test_the_home_is_the_argument_else_the_variable_else_the_systems_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("P2P_RUMMY_HOME", "/tmp/a")
    assert home_directory("/tmp/b") == Path("/tmp/b")
    assert home_directory() == Path("/tmp/a")
    monkeypatch.delenv("P2P_RUMMY_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", "/tmp/data")
    assert home_directory() == Path("/tmp/data/p2p-rummy")


def test_a_name_is_remembered_and_must_fit_a_score_sheet(tmp_path: Path) -> None:
    assert player_name(tmp_path, "  Bo   Berg ") == "Bo Berg"
    assert player_name(tmp_path) == "Bo Berg"
    for bad in ("", "x" * 25, "Bo\x1b[2J"):
        with pytest.raises(Complaint):
            checked_name(bad)
