"""Seats that say what they must not: every honest peer reaches one verdict, keeps the proof, and plays on without them.

The numbers are those of the fault catalogue (docs/faults.md).
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from protocol import events, evidence, gossip
from protocol.course import Course
from protocol.entry import Entry, Kind, from_value
from protocol.errors import LocalProtocolError
from protocol.events import Accusation
from protocol.position import Stage
from protocol.records import OwnRecord, ProofRecord, read_record
from protocol.verify import Summary, verify_log
from tests.protocol.liars import Twins, honest_are_over, is_discard, like, tell
from tests.protocol.tables import Peer, Table, events_of
from tests.protocol.toy_game import toy_game


def honest(table: Table, *liars: int) -> list[Peer]:
    return [peer for peer in table.peers if peer.seat not in liars]


def convicted(table: Table, liar: int, accusation: Accusation, reason: str) -> list[bytes]:
    """Every honest peer has this one verdict and no other, and its file convinces a stranger.  Returns the files."""
    files = []
    for peer in honest(table, liar):
        (found,) = events_of(peer, events.EvidenceFound)
        assert (found.seat, found.accusation, found.reason) == (liar, accusation, reason)
        verdict = evidence.check(found.data, toy_game, table.decks, os.urandom)
        assert (verdict.seat, verdict.accusation, verdict.reason) == (liar, accusation, reason)
        assert verdict.table == table.agreement.table
        assert peer.session.exposed == (liar,)
        files.append(found.data)
    return files


def one_log(table: Table, *liars: int) -> Summary:
    logs = [peer.public for peer in honest(table, *liars)]
    assert all(log == logs[0] for log in logs)
    summary = verify_log(logs[0], toy_game, table.decks, os.urandom)
    assert summary.finished
    return summary


def other_move(course: Course, body: Any) -> dict[str, Any]:
    """Another text in the place of the move's."""
    return {"body": [body[0] + " again", *body[1:]]}


OWN: dict[int, Peer] = {}


def liars_table(*, hands: int = 1, **more: Any) -> tuple[Table, Twins]:
    table = Table(4, options={"bids": "no", "hands": str(hands)}, **more)
    OWN.clear()
    OWN.update({peer.seat: peer for peer in table.peers})
    return table, Twins(table)


# --- two things in one place -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "to", [(0,), (0, 1), (0, 1, 2)], ids=["shown to one", "shown to two", "shown to all"]
)
@pytest.mark.parametrize("seed", range(3))
def test_f41_n33_two_discards_in_one_step(seed: int, to: Collection[int]) -> None:
    table, twins = liars_table(seed=seed)
    twins.lie(3, Kind.MOVE, twins.other_discard, to, when=is_discard)
    table.run(until=honest_are_over(table, 3), seconds=900)
    (pair,) = twins.pairs
    for data in convicted(table, 3, Accusation.EXPOSED, "equivocation"):
        assert all(entry.content in data for entry in pair)
    assert 3 in one_log(table, 3).dropped
    (halted,) = events_of(table.peers[3], events.Halted)
    assert halted.reason == "own_key_misused"


def test_f41_a_seat_that_is_convicted_signs_no_vote_either_and_a_restart_does_not_change_that() -> None:
    """Its key is in two hands, so whatever it signs may contradict what the other program has signed."""
    table, twins = liars_table()
    twins.lie(3, Kind.MOVE, twins.other_discard, (0,), when=is_discard)
    liar = table.peers[3]
    table.run(until=lambda: bool(events_of(liar, events.Halted)), seconds=900)
    signed = own_ids(liar)
    table.crash(2)
    # Of four seats one is away and one is convicted: no quorum is left, so the two that remain ask and wait.
    table.run(until=lambda: all(voted(peer) for peer in table.peers[:2]), seconds=900)
    with pytest.raises(AssertionError, match=r"nothing moves|not done"):
        table.run(seconds=200)
    assert own_ids(liar) <= signed | {twin.id for _, twin in twins.pairs}
    table.crash(3)
    table.restart(3, (0, 1))
    with pytest.raises(AssertionError, match=r"nothing moves|not done"):
        table.run(seconds=200)
    assert own_ids(liar) <= signed | {twin.id for _, twin in twins.pairs}
    assert [halted.reason for halted in events_of(liar, events.Halted)] == ["own_key_misused"] * 2
    with pytest.raises(LocalProtocolError, match="halted"):
        liar.session.move("draw", table.now)


def own_records(peer: Peer) -> list[Entry]:
    read = (read_record(data, number=number) for number, data in enumerate(peer.journal))
    return [record.entry for record in read if isinstance(record, OwnRecord)]


def own_ids(peer: Peer) -> set[bytes]:
    return {entry.id for entry in own_records(peer)}


def voted(peer: Peer) -> bool:
    return any(entry.kind is Kind.ROUND_CHANGE for entry in own_records(peer))


def test_f41_a_second_move_on_a_head_that_nobody_holds_is_as_if_it_had_not_been_sent() -> None:
    """It convicts nobody, since nobody can prove that there is no such head; and it moves nothing."""
    table, twins = liars_table()
    twins.lie(3, Kind.MOVE, lambda course, body: {"prev": bytes(32)}, (0, 1), when=is_discard)
    table.run()
    assert len(twins.pairs) == 1
    for peer in table.peers:
        assert not events_of(peer, events.EvidenceFound)
        assert not events_of(peer, events.SeatAbsent), "the others passed the real move on in time"
    assert one_log(table).dropped == ()


def test_f41_an_honest_seat_that_was_shown_the_second_move_is_in_no_evidence() -> None:
    """It has answered on a head that no log has: docs/adr/005-said-once.md.  The author of both is absent instead."""
    table, twins = liars_table()

    def at_the_discard(peer: Peer) -> bool:
        course = peer.session._steps.course
        return peer.session.stage.value == "move" and course.due.seats == (3,) and is_discard(course)

    table.play = lambda peer: None if peer.seat == 3 and at_the_discard(peer) else table.random_move(peer)
    table.run(until=lambda: all(map(at_the_discard, table.peers)))
    twins.lie(3, Kind.MOVE, twins.other_discard, (2,))
    signed = watch_signatures(table.peers[2])
    # Seat 2 hears the liar alone until all have answered: it on the liar's second move, the others on the first.
    table.lose = lambda source, target, message: 2 in (source, target) and 3 not in (source, target)
    table.play = table.random_move
    step = table.peers[2].session.step + 1
    table.run(until=lambda: bool(signed) and all(peer.session.step == step for peer in table.peers))
    other = table.peers[2].session.head
    assert other != table.peers[0].session.head
    table.run(until=lambda: all(len(peer.session._steps.held()) >= 2 for peer in table.peers[:2]))
    table.lose = lambda source, target, message: False
    table.run(until=honest_are_over(table, 3), seconds=900)
    assert {entry.prev for entry in signed if (entry.epoch, entry.step) == (0, step)} == {other}
    convicted(table, 3, Accusation.EXPOSED, "equivocation")
    assert one_log(table, 3).dropped == (3,)


def watch_signatures(peer: Peer) -> list[Entry]:
    """Every step entry that this peer signs from now on."""
    voice: Any = peer.session._voice
    honest_sign, signed = voice.sign, []

    def sign(course: Course, kind: Kind, body: Any) -> Entry:
        entry: Entry = honest_sign(course, kind, body)
        signed.append(entry)
        return entry

    voice.sign = sign
    return signed


def test_f41_versions_without_end_do_not_keep_out_the_one_that_the_others_have() -> None:
    """A liar sends one seat three moves on heads that nobody holds, before the others get its real one."""
    table, _ = liars_table()
    table.run(until=lambda: table.peers[0].session.stage.value == "shares")
    due = max(peer.session.step for peer in table.peers)
    for ahead in range(1, 8):
        for version in range(6):
            body = [f"junk {version}", [], []]
            entry = crafted(table, 3, Kind.MOVE, due + ahead, body, bytes([version]) * 32)
            tell(table.peers[0], entry, source=3)
    kept = table.peers[0].session._steps.shelf
    assert all(len(kept.of_step(due + ahead)) <= 4 for ahead in range(1, 8))
    table.run()
    assert not any(events_of(peer, events.SeatAbsent) for peer in table.peers)
    one_log(table)


def crafted(
    table: Table, seat: int, kind: Kind, step: int, body: Any, prev: bytes, *, epoch: int = 0
) -> Entry:
    some = next(entry for entry in OWN[seat].session._steps.entries_of(0) if entry.seat == seat)
    return like(some, kind=kind, step=step, body=body, prev=prev, epoch=epoch)


# --- two shuffles ----------------------------------------------------------------------------------------


def other_shuffle(course: Course, body: Any) -> dict[str, Any]:
    return {"body": [body[0][::-1]]}


def false_complaint(course: Course, body: Any) -> dict[str, Any]:
    return {"kind": Kind.COMPLAINT, "body": 0}


@pytest.mark.parametrize("change", [other_shuffle, false_complaint])
def test_n22_a_second_shuffle_or_a_complaint_beside_it_is_evidence(change: Any) -> None:
    table, twins = liars_table()
    twins.lie(3, Kind.SHUFFLE, change, (0,))
    table.run(until=honest_are_over(table, 3), seconds=900)
    ((first, second),) = twins.pairs
    assert evidence.contradiction(first, second) == "equivocation"
    for peer in honest(table, 3):
        assert peer.session.exposed == (3,)
        for found in events_of(peer, events.EvidenceFound):
            assert evidence.check(found.data, toy_game, table.decks, os.urandom).seat == 3
    assert 3 in one_log(table, 3).dropped


# --- one wrong statement ---------------------------------------------------------------------------------


def spoilt(course: Course, body: Any) -> dict[str, Any]:
    """One byte of the first byte string changed."""
    return {"body": _spoil(body)[0]}


def _spoil(value: Any) -> tuple[Any, bool]:
    if isinstance(value, bytes) and value:
        return bytes([value[0] ^ 1]) + value[1:], True
    if isinstance(value, list):
        for at, item in enumerate(value):
            changed, done = _spoil(item)
            if done:
                return [*value[:at], changed, *value[at + 1 :]], True
    return value, False


def another_nonce(course: Course, body: Any) -> dict[str, Any]:
    return {"body": [bytes(32), body[1]]}


def wrong_score(course: Course, body: Any) -> dict[str, Any]:
    hand, scores, digest, returns = body
    return {"body": [hand, [[False, 1000], *scores[1:]], digest, returns]}


def wrong_state(course: Course, body: Any) -> dict[str, Any]:
    at = 2  # of RULING and of RESULT
    return {"body": [*body[:at], bytes(32), *body[at + 1 :]]}


def said(text: str) -> Any:
    return lambda course, body: {"body": [text, [], []]}


def repeat_a_card(course: Course, body: Any) -> dict[str, Any]:
    (order,) = body
    return {"body": [[*order[:-1], order[0]]]}


def pass_instead(course: Course, body: Any) -> dict[str, Any]:
    return {"body": ["pass", [], [], bytes(32)]}


def end_instead(course: Course, body: Any) -> dict[str, Any]:
    return {"kind": Kind.END, "body": []}


ILLEGAL = {
    "F49 a wrong share": (Kind.SHARES, spoilt, "bad_share"),
    "N11 a card repeated": (Kind.SHUFFLE, repeat_a_card, "bad_shuffle"),
    "F52 a move that the game refuses": (Kind.MOVE, said("cheat"), "illegal_move"),
    "N34 a move of another game": (Kind.MOVE, said("discard 2S"), "illegal_move"),
    "F53 something else than is owed": (Kind.MOVE, end_instead, "out_of_turn"),
    "F42 a pass in place of what was sealed": (Kind.ANSWER, pass_instead, "wrong_answer"),
    "F64 another nonce than was committed to": (Kind.REVEAL, another_nonce, "bad_reveal"),
    "F63 another score": (Kind.RESULT, wrong_score, "wrong_result"),
    "F63 another state": (Kind.RESULT, wrong_state, "wrong_result"),
    "F63 a ruling on another state": (Kind.RULING, wrong_state, "wrong_ruling"),
}


@pytest.mark.parametrize(("kind", "change", "reason"), ILLEGAL.values(), ids=ILLEGAL.keys())
def test_f42_f49_f52_f53_f63_f64_n11_n34_a_statement_that_the_log_makes_wrong_convicts_its_author(
    kind: Kind, change: Any, reason: str
) -> None:
    table, twins = liars_table()
    if kind is Kind.RULING:  # whoever is arbiter first
        for seat in range(4):
            twins.lie(seat, kind, change, set(range(4)) - {seat}, when=lambda course: not twins.pairs)
    else:
        twins.lie(3, kind, change, (0, 1, 2))
    table.run(until=lambda: bool(twins.pairs))
    liar = twins.pairs[0][0].seat
    table.run(until=honest_are_over(table, liar), seconds=1500)
    convicted(table, liar, Accusation.ILLEGAL, reason)
    one_log(table, liar)


@pytest.mark.parametrize("seed", range(3))
def test_f42_n33_a_call_and_a_pass_in_one_window(seed: int) -> None:
    table, twins = liars_table(seed=seed)
    twins.lie(3, Kind.SEALED, lambda course, body: {"body": bytes(32)}, (0, 1))
    table.run(until=honest_are_over(table, 3), seconds=900)
    convicted(table, 3, Accusation.EXPOSED, "equivocation")
    one_log(table, 3)


def test_f53_n34_a_move_by_a_seat_that_is_not_on_turn() -> None:
    table, _ = liars_table()

    def another_on_turn(peer: Peer) -> bool:
        course = peer.session._steps.course
        return peer.session.stage.value == "move" and course.due.seats != (3,)

    table.run(until=lambda: another_on_turn(table.peers[0]))
    session = table.peers[0].session
    out_of_turn = crafted(
        table, 3, Kind.MOVE, session.step, ["draw", [], []], session.head, epoch=session.epoch
    )
    before = session.game.digest()
    tell(table.peers[0], out_of_turn, source=3)
    assert session.game.digest() == before
    table.run(until=honest_are_over(table, 3), seconds=900)
    convicted(table, 3, Accusation.ILLEGAL, "out_of_turn")
    one_log(table, 3)


# --- arbiters --------------------------------------------------------------------------------------------


def everybody_calls(table: Table) -> None:
    """Low cards are played and whoever can beat one does."""

    def play(peer: Peer) -> str | None:
        moves = peer.session.legal_moves()
        calls = [move for move in moves if move.startswith("beat")]
        return (calls or moves or [None])[0]

    table.play = play


def omit_the_call(course: Course, body: Any) -> dict[str, Any]:
    listed, winner, digest = body
    return {"body": [[[seat, b"" if seat == winner - 1 else entry] for seat, entry in listed], 0, digest]}


def name_another(course: Course, body: Any) -> dict[str, Any]:
    listed, winner, digest = body
    return {"body": [listed, next(seat for seat, _ in listed if seat != winner - 1) + 1, digest]}


@pytest.mark.parametrize("change", [omit_the_call, name_another])
def test_f44_n35_a_ruling_that_omits_a_call_or_names_another_winner_is_refused(change: Any) -> None:
    table, twins = liars_table()
    everybody_calls(table)
    for seat in range(4):
        twins.lie(
            seat,
            Kind.RULING,
            change,
            set(range(4)) - {seat},
            when=lambda course: course.winner is not None and not twins.pairs,
        )
    table.run(until=lambda: bool(twins.pairs))
    entry, _ = twins.pairs[0]
    winner = entry.body[1] - 1
    table.run(until=honest_are_over(table, entry.seat), seconds=1500)
    convicted(table, entry.seat, Accusation.ILLEGAL, "wrong_ruling")
    for peer in honest(table, entry.seat):
        at = next(event for event in events_of(peer, events.Ruled) if event.winner is not None)
        assert at.winner == winner, "the call counts all the same"
        assert at.arbiter != entry.seat
    one_log(table, entry.seat)


def test_f44_n35_who_holds_an_entry_does_not_vote_to_mark_its_author_absent() -> None:
    table, _ = liars_table()
    table.run(until=lambda: table.peers[0].session.stage.value == "commit")
    table.run(until=lambda: len(table.peers[0].session._steps.held()) == 3)
    session = table.peers[0].session
    due = session._steps.course.due
    entries = {entry.seat: entry.id for entry in session._steps.held()}
    decision = session._steps.tail.decision(session._steps.slot())
    assert decision is not None
    liar = decision._leader(1)
    present = next(seat for seat in entries if seat not in (0, liar))
    closing = [[seat, b"" if seat == present else entries.get(seat, b"")] for seat in due.seats]
    proposal = crafted(table, liar, Kind.PROPOSAL, due.step, [closing, []], due.prev)
    for peer in honest(table, liar):
        tell(peer, like(proposal, round=1), source=liar)
    table.run(until=honest_are_over(table, liar), seconds=900)
    votes = [entry for peer in table.peers for entry in sent_entries(peer) if entry.kind is Kind.PREVOTE]
    assert all(dict(map(tuple, vote.body[0])).get(present) != b"" for vote in votes)
    for peer in honest(table, liar):
        assert {event.seat for event in events_of(peer, events.SeatAbsent)} <= {liar}
    one_log(table, liar)


def sent_entries(peer: Peer) -> list[Entry]:
    said = (gossip.read(message) for message in peer.sent)
    return [from_value(value) for each in said if isinstance(each, gossip.Entries) for value in each.entries]


# --- votes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "reason"),
    [(Kind.PREVOTE, "double_vote"), (Kind.PRECOMMIT, "double_vote"), (Kind.PROPOSAL, "two_proposals")],
    ids=["F43 two prevotes", "F43 two precommits", "F46 two proposals"],
)
def test_f43_f46_two_votes_in_one_round(kind: Kind, reason: str) -> None:
    """One is shown to seat 0, the other to seat 1: each passes it on, and both know."""
    table, _ = liars_table()
    table.run(until=lambda: table.peers[0].session.stage.value == "shares")
    session = table.peers[0].session
    due = session._steps.course.due
    decision = session._steps.tail.decision(session._steps.slot())
    assert decision is not None
    liar = next(round for round in range(1, 9) if decision._leader(round) not in (0, 1))
    seat = decision._leader(liar)
    bodies = []
    for id in (bytes(32), b"\1" * 32):
        closing = [[owing, id] for owing in due.seats]
        bodies.append(
            {Kind.PREVOTE: [closing, [], [], 0], Kind.PRECOMMIT: [closing, []]}.get(kind, [closing, []])
        )
    for to, body in enumerate(bodies):
        vote = like(crafted(table, seat, kind, due.step, body, due.prev), round=liar)
        tell(table.peers[to], vote, source=seat)
    table.run(until=honest_are_over(table, seat), seconds=1500)
    convicted(table, seat, Accusation.EXPOSED, reason)
    one_log(table, seat)


def test_f47_n35_a_forged_certificate_costs_its_link_and_nothing_else() -> None:
    """Too few votes, one vote twice, votes whose signature does not hold."""
    table, _ = liars_table()
    table.run(until=lambda: table.peers[0].session.stage.value == "move")
    session = table.peers[0].session
    due = session._steps.course.due
    closing = [[seat, b""] for seat in due.seats]
    votes = [
        like(crafted(table, seat, Kind.PRECOMMIT, due.step, [closing, []], due.prev), round=1)
        for seat in range(4)
    ]
    forged = replace(votes[2], signature=votes[1].signature)
    for bad in ([votes[1]], [votes[1], votes[1], votes[1]], [votes[1], forged, votes[3]]):
        link = table.link(0, 3)
        before = (session.head, session.step, session.epoch)
        session.received(link, gossip.write_certificate([vote.value() for vote in bad]), table.now)
        table.peers[0].carry_out()
        assert events_of(table.peers[0], events.LinkRefused)[-1].link == link
        assert (session.head, session.step, session.epoch) == before
    table.run()
    assert not any(events_of(peer, events.SeatAbsent) for peer in table.peers)
    one_log(table)


# --- accusations -----------------------------------------------------------------------------------------


def test_f58_a_false_accusation_convicts_nobody() -> None:
    table, _ = liars_table()
    table.run(until=lambda: table.peers[0].session.stage.value == "move")
    session = table.peers[0].session
    mine = [entry for step in range(3) for entry in session._steps.entries_of(step) if entry.seat == 1]
    (link,) = (number for number, ends in table.links.items() if set(ends) == {0, 3})
    for first, second in ((mine[0], mine[1]), (mine[0], mine[0])):
        session.received(link, gossip.write_contradiction(first, second), table.now)
        table.peers[0].carry_out()
        assert not events_of(table.peers[0], events.LinkRefused), "whoever relayed it may not have known"
    forged = replace(like(mine[0], body=bytes(32)), signature=mine[0].signature)
    session.received(link, gossip.write_contradiction(mine[0], forged), table.now)
    table.peers[0].carry_out()
    assert [event.seat for event in events_of(table.peers[0], events.LinkRefused)] == [3]
    table.link(0, 3)
    table.run()
    assert not any(events_of(peer, events.EvidenceFound) for peer in table.peers)
    one_log(table)


def test_f102_one_proof_is_kept_once_however_often_and_in_whatever_form_it_comes() -> None:
    table, twins = liars_table()
    twins.lie(3, Kind.MOVE, twins.other_discard, (0,), when=is_discard)
    table.run(until=lambda: all(peer.session.exposed for peer in table.peers[:3]), seconds=900)
    ((first, second),) = twins.pairs
    peer = table.peers[0]
    proofs = [number for number, data in enumerate(peer.journal) if is_proof(data, number)]
    assert len(proofs) == 1
    (link,) = (number for number, ends in table.links.items() if set(ends) == {0, 1})
    for version in range(100):
        other = like(first, body=[f"again {version}", [], []])
        for pair in ((first, second), (second, first), (first, other)):
            peer.session.received(link, gossip.write_contradiction(*pair), table.now)
    sent = len(peer.sent)
    peer.carry_out()
    assert len(events_of(peer, events.EvidenceFound)) == 1
    assert [number for number, data in enumerate(peer.journal) if is_proof(data, number)] == proofs
    assert len(peer.sent) - sent < 5, "and it is not passed on again"


def is_proof(data: bytes, number: int) -> bool:
    return isinstance(read_record(data, number=number), ProofRecord)


# --- who is out stays out --------------------------------------------------------------------------------


def test_f60_an_exposed_seat_that_asks_to_return_is_not_carried() -> None:
    table, twins = liars_table(hands=2)
    twins.lie(3, Kind.MOVE, twins.other_discard, (0,), when=is_discard)
    table.run(until=lambda: all(3 not in peer.session.seats for peer in table.peers[:3]), seconds=900)
    mark = table.peers[0].session._steps.course.mark
    assert mark is not None
    request = crafted(table, 3, Kind.RETURN, mark.step, [mark.hand], mark.prev, epoch=mark.epoch)
    for peer in table.peers[:3]:
        tell(peer, request, source=3)
        assert peer.session._steps.notes.standing_returns() == []
    table.run(until=honest_are_over(table, 3), seconds=900)
    for peer in table.peers[:3]:
        assert not events_of(peer, events.SeatReturned)
        assert peer.session.seats == (0, 1, 2)
    one_log(table, 3)


def test_f60_a_request_to_return_to_another_hand_is_ignored() -> None:
    table, _ = liars_table()
    table.run(until=lambda: table.peers[0].session.stage.value == "move")
    mark = table.peers[0].session._steps.course.mark
    assert mark is not None
    for change in ({"body": [mark.hand + 1]}, {"prev": bytes(32)}, {"step": mark.step + 1}, {}):
        request = crafted(table, 2, Kind.RETURN, mark.step, [mark.hand], mark.prev)
        tell(table.peers[0], like(request, **change), source=2)  # seat 2 sits there: it cannot return
        assert table.peers[0].session._steps.notes.returns == {}


def test_f62_a_quorum_that_drops_a_seat_which_is_there_is_on_record() -> None:
    """Three of four hold back what the fourth says and vote it absent: they may, and everybody can read who did."""
    table, _ = liars_table()
    table.run(until=lambda: table.peers[3].session.stage.value == "move")

    def victim_is_on_turn() -> bool:
        return all(
            peer.session.stage.value == "move" and peer.session._steps.course.due.seats == (3,)
            for peer in table.peers
        )

    table.run(until=victim_is_on_turn)
    table.lose = lambda source, target, message: source == 3
    table.run(until=lambda: all(events_of(peer, events.SeatDropped) for peer in table.peers[:3]), seconds=600)
    table.lose = lambda source, target, message: False
    table.run(seconds=900)
    summary = one_log(table)
    assert summary.dropped == (3,)
    ledger = table.peers[0].session._steps.ledger
    records = [entry for closed in ledger.closed for entry in closed.entries if entry.kind is Kind.RECORD]
    ((votes,),) = (entry.body for entry in records)
    voters = {from_value(vote).seat for vote in votes}
    assert voters == {0, 1, 2}
    assert not any(events_of(peer, events.EvidenceFound) for peer in table.peers), "being late is not lying"


def test_f42_a_commitment_that_is_not_opened_is_a_pass_and_its_author_is_named() -> None:
    table, _ = liars_table()
    voice: Any = table.peers[3].session._voice
    honest_next = voice.next
    voice.next = lambda course, *more: None if course.stage is Stage.ANSWER else honest_next(course, *more)
    table.run(until=lambda: all(events_of(peer, events.Ruled) for peer in table.peers[:3]), seconds=900)
    for peer in table.peers[:3]:
        void = [event for event in events_of(peer, events.AnswerVoid) if event.seat == 3]
        assert void[0] == events.AnswerVoid(seat=3, text="", reason="not_opened", rule="")
        absent = events_of(peer, events.SeatAbsent)[0]
        assert (absent.seat, absent.dropped) == (3, False)
        ruled = events_of(peer, events.Ruled)[0]
        assert dict(ruled.answers)[3] == "pass"
        assert ruled.arbiter != 3, "who is silent is asked last"
        assert not events_of(peer, events.EvidenceFound)
