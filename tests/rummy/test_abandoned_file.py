"""The record of an abandoned table, shown: ``verify`` and ``replay`` beside the log, ``evidence`` from the file alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from p2p_rummy.agreed import agreed_game
from p2p_rummy.bots import make_bot
from protocol.agreement import Agreement
from protocol.events import Abandoned, MoveMade
from protocol.journal import LOG_MAGIC
from protocol.simulation.shared import SharedDecks
from tests.protocol import tables
from tests.protocol.tables import Peer, Table, events_of
from tests.second.link import framed

Main = Callable[..., tuple[int, str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A table of 500 Rum that seat 1 has left, as seat 0's home has it."""

    log: tuple[bytes, ...]
    file: bytes
    step: int
    head: str
    table: str
    went_on: tuple[bytes, ...]
    """The log when seat 1 was back and some more moves were made."""


@pytest.fixture(scope="module")
def left() -> Left:
    made = tables.agreement

    def rum(seats: int, **more: Any) -> Agreement:
        return replace(made(seats, abandon_ms=25_000, **more), game="rum500", rules_version=1, options=())

    bots = [make_bot("random", seat) for seat in range(2)]

    def play(peer: Peer) -> str | None:
        session = peer.session
        return (
            bots[peer.seat].choose(session.game, peer.seat, session.faces) if session.legal_moves() else None
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "agreement", rum)
        patch.setattr(tables, "toy_game", agreed_game)
        table = Table(2, play=play, decks=SharedDecks())
        alone = table.peers[0]
        table.run(
            until=lambda: (
                alone.session.stage.value == "move"
                and alone.session._steps.course.due.seats == (1,)
                and len(events_of(alone, MoveMade)) > 2
            ),
            limit=100_000,
        )
        table.crash(1)
        table.run(until=lambda: bool(events_of(alone, Abandoned)), seconds=5000)
        (told,) = events_of(alone, Abandoned)
        log, head = tuple(alone.public), alone.session.head.hex()
        table.restart(1)
        table.run(until=lambda: len(alone.public) > told.step + 2, limit=100_000)
        return Left(
            log=log,
            file=told.data,
            step=told.step,
            head=head,
            table=table.agreement.table.hex(),
            went_on=tuple(alone.public),
        )


@pytest.fixture
def home(left: Left, tmp_path: Path) -> Path:
    """A directory with the log and the record beside it."""
    (tmp_path / "table.log").write_bytes(framed(LOG_MAGIC, list(left.log)))
    (tmp_path / f"seat0-step{left.step}.abandoned").write_bytes(left.file)
    return tmp_path


def sentence(text: str) -> str:
    return " ".join(text.split())


def test_the_file_alone_says_who_recorded_it_where_and_that_it_is_no_win(
    main: Main, left: Left, home: Path
) -> None:
    status, out, err = main("evidence", home / f"seat0-step{left.step}.abandoned")
    assert (status, err) == (0, "")
    assert sentence(out).startswith(
        f"Recorded: Seat0 (seat 1) signed that table {left.table[:16]} is abandoned in step {left.step}, "
        f"on the log with head {left.head[:16]}."
    )
    assert "from the moment that the step began" in sentence(out)
    assert "for the 25 s of the agreement" in sentence(out)
    assert "That is Seat0's word, and no proof that anybody was away. It is no win for anybody" in sentence(
        out
    )
    assert "Proven" not in out


def test_for_programs_the_file_proves_nothing_and_records_this(main: Main, left: Left, home: Path) -> None:
    status, out, err = main("evidence", home / f"seat0-step{left.step}.abandoned", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out) == {
        "proven": False,
        "recorded": "abandoned",
        "seat": 0,
        "name": "Seat0",
        "table": left.table,
        "epoch": 0,
        "step": left.step,
        "head": left.head,
        "abandon_seconds": 25.0,
    }


def test_any_byte_of_the_file_that_is_changed_is_refused(main: Main, left: Left, home: Path) -> None:
    path = home / f"seat0-step{left.step}.abandoned"
    for at in range(0, len(left.file), max(1, len(left.file) // 60)):
        path.write_bytes(left.file[:at] + bytes([left.file[at] ^ 1]) + left.file[at + 1 :])
        status, out, err = main("evidence", path)
        assert (status, out) == (1, ""), at
        (line,) = err.splitlines()
        assert "is no record of an abandoned table: " in line or "proves nothing: " in line, at


def test_verify_says_that_the_game_was_left_there(main: Main, left: Left, home: Path) -> None:
    status, out, err = main("verify", home / "table.log")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert "  the game is not finished" in lines
    assert lines[-1] == (
        f"  recorded as abandoned by Seat0 (seat 1) in step {left.step}, and nothing has come since; that is Seat0's word "
        "and no win, and if all come back the game goes on"
    )
    verdict = json.loads(main("verify", home / "table.log", "--json")[1])
    assert verdict["finished"] is False
    assert verdict["winners"] == []
    (record,) = verdict["abandoned"]
    assert (record["seat"], record["step"], record["head"]) == (0, left.step, left.head)
    assert (record["standing"], record["file"]) == ("open", f"seat0-step{left.step}.abandoned")


def test_replay_ends_with_it(main: Main, left: Left, home: Path) -> None:
    out = main("replay", home / "table.log")[1]
    assert "(the game is not finished)" in out
    assert f"recorded as abandoned by Seat0 (seat 1) in step {left.step}" in out.splitlines()[-1]


def test_a_log_without_a_record_says_nothing_of_it(main: Main, left: Left, home: Path) -> None:
    (home / f"seat0-step{left.step}.abandoned").unlink()
    assert "abandoned by" not in main("verify", home / "table.log")[1]
    assert json.loads(main("verify", home / "table.log", "--json")[1])["abandoned"] == []
    assert main("replay", home / "table.log")[1].splitlines()[-1] == "(the game is not finished)"


def test_a_game_that_went_on_says_that_too(main: Main, left: Left, home: Path) -> None:
    (home / "table.log").write_bytes(framed(LOG_MAGIC, list(left.went_on)))
    assert len(left.went_on) > len(left.log)
    last = main("verify", home / "table.log")[1].splitlines()[-1]
    assert last == (
        f"  recorded as abandoned by Seat0 (seat 1) in step {left.step}; the others came back, and the game went on"
    )


def test_a_copy_of_the_log_that_ends_too_early_is_said_to_be_one(main: Main, left: Left, home: Path) -> None:
    (home / "table.log").write_bytes(framed(LOG_MAGIC, list(left.log[:5])))
    assert "which this log does not reach: it is an older copy" in main("verify", home / "table.log")[1]


def test_a_record_that_was_changed_is_named_and_counts_for_nothing(
    main: Main, left: Left, home: Path
) -> None:
    path = home / f"seat0-step{left.step}.abandoned"
    path.write_bytes(left.file[:-1] + bytes([left.file[-1] ^ 1]))
    status, out, _err = main("verify", home / "table.log")
    assert status == 0, "the log itself is good"
    assert out.splitlines()[-1].startswith(f"  {path.name} is no record of an abandoned table: seat 1: ")
    assert "recorded as abandoned by" not in out
    (record,) = json.loads(main("verify", home / "table.log", "--json")[1])["abandoned"]
    assert record["file"] == path.name
    assert "signature" in record["refused"]


def test_a_record_of_another_table_is_none_of_this_ones(main: Main, left: Left, home: Path) -> None:
    hand = json.loads((Path(__file__).parents[1] / "vectors" / "hand.json").read_text("ascii"))
    records = [bytes.fromhex(record) for record in hand["records"]]
    (home / "table.log").write_bytes(framed(LOG_MAGIC, records))
    assert json.loads(main("verify", home / "table.log", "--json")[1])["abandoned"] == []


@pytest.mark.parametrize("records", [0, 1])
def test_a_log_of_nothing_or_of_the_agreement_alone_is_read_beside_a_record(
    main: Main, left: Left, home: Path, records: int
) -> None:
    (home / "table.log").write_bytes(framed(LOG_MAGIC, list(left.log[:records])))
    status, out, err = main("verify", home / "table.log")
    assert status == 1 - records
    assert ("older copy" in out) if records else ("the log is empty" in err)
