"""``p2p-rummy evidence FILE``: the file that honest peers keep convinces whoever has nothing but the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from p2p_rummy.agreed import agreed_game
from p2p_rummy.bots import make_bot
from protocol.agreement import Agreement
from protocol.course import Course
from protocol.entry import Kind
from protocol.events import EvidenceFound
from protocol.simulation.shared import SharedDecks
from tests.protocol import tables
from tests.protocol.liars import Change, Twins
from tests.protocol.tables import Peer, Table, events_of

Main = Callable[..., tuple[int, str, str]]

LIAR = 2


def another_answer(course: Course, body: Any) -> dict[str, Any]:
    return {"body": bytes(32)}


def no_such_move(course: Course, body: Any) -> dict[str, Any]:
    return {"body": ["meld 2S", [], []]}


def evidence_of(
    monkeypatch: pytest.MonkeyPatch, kind: Kind, change: Change, to: tuple[int, ...]
) -> list[bytes]:
    """What each honest peer of a table of 500 Rum keeps after seat 2 has signed a twin of an entry for some."""
    made = tables.agreement

    def rum(seats: int, **more: Any) -> Agreement:
        return replace(made(seats, **more), game="rum500", rules_version=1, options=())

    monkeypatch.setattr(tables, "agreement", rum)
    monkeypatch.setattr(tables, "toy_game", agreed_game)
    bots = [make_bot("random", seat) for seat in range(3)]

    def play(peer: Peer) -> str | None:
        session = peer.session
        return (
            bots[peer.seat].choose(session.game, peer.seat, session.faces) if session.legal_moves() else None
        )

    table = Table(3, play=play, decks=SharedDecks())
    Twins(table).lie(LIAR, kind, change, to)
    honest = [peer for peer in table.peers if peer.seat != LIAR]
    table.run(until=lambda: all(events_of(peer, EvidenceFound) for peer in honest), limit=400_000)
    return [events_of(peer, EvidenceFound)[0].data for peer in honest]


@pytest.mark.parametrize(
    ("kind", "change", "to", "accusation", "reason", "words"),
    [
        (
            Kind.SEALED,
            another_answer,
            (0,),
            "exposed",
            "equivocation",
            "signed two statements that contradict each other",
        ),
        (Kind.MOVE, no_such_move, (0, 1), "illegal", "illegal_move", "that the log before it does not allow"),
    ],
    ids=["F42 exposed", "F52 illegal"],
)
def test_f42_f52_the_file_that_every_honest_peer_keeps_is_explained_and_checked_offline(
    monkeypatch: pytest.MonkeyPatch,
    main: Main,
    tmp_path: Path,
    kind: Kind,
    change: Change,
    to: tuple[int, ...],
    accusation: str,
    reason: str,
    words: str,
) -> None:
    files = evidence_of(monkeypatch, kind, change, to)
    monkeypatch.undo()
    monkeypatch.setenv("P2P_RUMMY_HOME", str(tmp_path / "nobody"))
    for number, data in enumerate(files):
        path = tmp_path / f"{number}.evidence"
        path.write_bytes(data)
        status, out, err = main("evidence", path)
        assert (status, err) == (0, "")
        told = " ".join(out.split())
        assert told.startswith("Proven: Seat2 (seat 3) signed")
        assert words in told
        verdict = json.loads(main("evidence", path, "--json")[1])
        assert (verdict["proven"], verdict["seat"]) == (True, LIAR)
        assert (verdict["accusation"], verdict["reason"]) == (accusation, reason)


def test_f58_a_file_with_any_byte_changed_proves_nothing(
    monkeypatch: pytest.MonkeyPatch, main: Main, tmp_path: Path
) -> None:
    data = evidence_of(monkeypatch, Kind.SEALED, another_answer, (0,))[0]
    monkeypatch.undo()
    path = tmp_path / "forged.evidence"
    for at in range(0, len(data), max(1, len(data) // 50)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        status, out, err = main("evidence", path)
        assert status == 1, at
        assert out == ""
        assert "proves nothing" in err, at
