"""Before the cards, and when something goes wrong: what is signed, who is there, what to do next."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from p2p_rummy.terminal.lobby import (
    LineLobby,
    agreement_lines,
    change_lines,
    coalition_lines,
    roster_lines,
)
from p2p_rummy.terminal.trouble import trouble_lines
from protocol import events
from protocol.agreement import Agreement, SeatClaim, claim
from protocol.events import Accusation, Pause
from protocol.identity import Identity, fingerprint
from protocol.lobby import Offer, Proposed, Roster, Started

ANN, BO, CY = (Identity(bytes([n]) * 32) for n in (1, 2, 3))
NAMES = ["You", "Bo", "Cy"]


def claims() -> tuple[SeatClaim, ...]:
    return (
        claim(ANN, "Ann", b"a" * 32),
        claim(BO, "Bo", b"b" * 32, bot="steady"),
    )


def offer() -> Offer:
    return Offer(
        game="rum500", rules_version=1, options=(("ace", "low"), ("target", "1000")), seats=3, turn_ms=180_000
    )


def test_the_lobby_shows_who_is_there_with_fingerprints_and_how_many_are_missing() -> None:
    assert roster_lines(Roster(offer=offer(), claims=claims()), ANN.public_key) == [
        "At the table:",
        f"  1. Ann (you)  {fingerprint(ANN.public_key)}",
        f"  2. Bo (bot, steady)  {fingerprint(BO.public_key)}",
        "  1 seat is free.",
    ]


def test_the_agreement_is_shown_whole_before_it_is_signed() -> None:
    agreement: Agreement = offer().agreement(claims())
    assert agreement_lines(agreement, BO.public_key) == [
        "Everybody signs this agreement:",
        "  game rum500, rules version 1",
        "  options: ace=low, target=1000",
        "  call window 5 s, a turn 3 min, anything else 15 s",
        f"  1. Ann  {fingerprint(ANN.public_key)}",
        f"  2. Bo (you) (bot, steady)  {fingerprint(BO.public_key)}",
        f"  table {agreement.table.hex()[:16]}",
    ]


@pytest.mark.parametrize(
    ("seats", "strict", "patient", "says"),
    [
        (3, False, False, "2 other players together could see your hand and drop you"),
        (6, False, False, "4 other players together could see your hand and drop you"),
        (4, False, True, "3 other players together could see your hand; fewer could not. Nobody is dropped"),
        (2, False, False, "neither can see the other's hand"),
        (4, True, False, "No coalition of the others can see your hand."),
    ],
)
def test_a_table_says_what_a_coalition_of_its_size_could_do(
    seats: int, strict: bool, patient: bool, says: str
) -> None:
    (line,) = coalition_lines(seats, strict=strict, patient=patient)
    assert says in line


def test_only_who_is_new_or_gone_is_told() -> None:
    ann, bo = claims()
    alone = Roster(offer=offer(), claims=(ann,))
    both = Roster(offer=offer(), claims=(ann, bo))
    assert change_lines((), alone, ANN.public_key)[0] == "At the table:"
    assert change_lines((ann,), both, ANN.public_key) == [
        f"Sits down: 2. Bo (bot, steady)  {fingerprint(BO.public_key)}",
        "1 seat is free.",
    ]
    assert change_lines((ann, bo), alone, ANN.public_key) == ["Bo has left again.", "2 seats are free."]


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (events.Suspended(seats=(1,), step=4, why=Pause.TWO_PLAYERS), "`p2p-rummy resume` later loses nothing"),
        (events.Suspended(seats=(1, 2), step=4, why=Pause.MINORITY), "The table waits for Bo and Cy"),
        (events.Waiting(seats=(2,), step=4, deadline=30.0), "Waiting for Cy: 20 seconds."),
        (events.Waiting(seats=(2,), step=4, deadline=0.0), "Waiting for Cy."),
        (events.SeatDropped(seat=1, faces=((0, 0), (1, 104)), void=False), "its cards were: AS X1"),
        (events.SeatDropped(seat=1, faces=(), void=True), "the hand is void"),
        (events.Halted(reason="disk", message="the disk is full; free some space"), "free some space"),
        (
            events.EvidenceFound(seat=2, accusation=Accusation.EXPOSED, reason="two", message="two discards", step=9,
                                 data=b""),
            "Cy signed two statements that contradict each other (two discards)",
        ),
        (events.LinkRefused(link=3, seat=None, reason="x", message="bad\x1b[2Jframe"), "a stranger was closed: bad?[2J"),
    ],
)  # fmt: skip
def test_trouble_is_one_plain_sentence(event: events.Event, says: str) -> None:
    (line,) = trouble_lines(event, NAMES, 10.0)
    assert says in line
    assert "\x1b" not in line


def test_whoever_is_left_in_the_hand_is_counted_not_whoever_sits_at_the_table() -> None:
    paused = events.Suspended(seats=(1,), step=4, why=Pause.TWO_PLAYERS)
    assert "with two players nobody is ever dropped" in trouble_lines(paused, ["You", "Bo"], 0.0)[0]
    assert "with two left in the hand nobody is dropped" in trouble_lines(paused, NAMES, 0.0)[0]


def lobby_of(*seats: SeatClaim) -> tuple[LineLobby, list[str], Agreement]:
    """Ann's lobby, what it writes, and the table's agreement."""
    agreement = offer().agreement(seats)
    lines: list[str] = []
    table: Any = SimpleNamespace(
        home=SimpleNamespace(identity=ANN, friends=None), agreement=agreement, roster=None
    )
    return LineLobby(table, lines.extend), lines, agreement


def test_at_a_table_of_two_there_are_no_others_to_pass_anything_on() -> None:
    lobby, lines, _agreement = lobby_of(*claims())
    lobby.unreachable(1, "refused")
    assert " ".join(" ".join(lines).split()) == (
        "Bo cannot be reached from here: refused. It is dialled again and again, and nothing is lost; if it lasts, "
        "`p2p-rummy doctor` looks for the fault."
    )
    lobby, lines, _agreement = lobby_of(*claims(), claim(CY, "Cy", b"c" * 32))
    lobby.unreachable(2, "refused")
    assert "Cy cannot be reached from here: refused. The others pass everything on" in lines[0]


def test_only_a_new_table_is_signed_by_everybody_one_that_is_resumed_goes_on() -> None:
    lobby, lines, agreement = lobby_of(*claims())
    lobby.event(Proposed(agreement=agreement))
    lobby.event(Started(agreement=agreement, addresses=()))
    assert lines[-1] == "All seats are taken; everybody signs."
    resumed, lines, agreement = lobby_of(*claims())
    resumed.event(Started(agreement=agreement, addresses=()))
    assert lines == ["The table is taken up again as it was left."]


def test_quiet_events_need_no_words() -> None:
    assert trouble_lines(events.StepClosed(step=1, epoch=0, head=b"", final=True), NAMES, 0.0) == []
    assert trouble_lines(events.Connected(seat=None), NAMES, 0.0) == []
