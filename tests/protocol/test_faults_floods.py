"""What a link can make a peer hold, send or believe: nothing without bound, and nothing that is not signed for this place.

The numbers are those of the fault catalogue (docs/faults.md) and of the negative list (docs/negatives.md).
"""

from __future__ import annotations

import hashlib
import os
import random
import time
from typing import Any, Final

import pytest

from protocol import events, gossip
from protocol.canonical import encode
from protocol.course import Course
from protocol.effects import Close, Notify, Publish, Send
from protocol.entry import Entry, Kind, read, sign
from protocol.fast_deck import FastDecks
from protocol.gossip import Have, Place
from protocol.own import OwnSeat
from protocol.position import Stage
from protocol.records import write_closed
from protocol.session import Session
from protocol.shelf import HORIZON
from protocol.verify import verify_log
from tests.protocol.liars import like
from tests.protocol.tables import Peer, Table, agreement, events_of, identity
from tests.protocol.toy_game import toy_game
from tests.second import identity as ed25519


def at_a_move(seats: int = 3) -> tuple[Table, Peer, int]:
    """A table at a turn, a peer that is not on turn, and its link to another seat."""
    table = Table(seats, options={"bids": "no"})
    table.play = lambda peer: None
    table.run(until=lambda: all(peer.session.stage is Stage.MOVE for peer in table.peers))
    table.run(until=lambda: not table.queue)
    (turn,) = table.peers[0].session._steps.course.due.seats
    peer = table.peers[(turn + 1) % seats]
    other = next(seat for seat in range(seats) if seat not in (turn, peer.seat))
    (link,) = (number for number, ends in table.links.items() if set(ends) == {peer.seat, other})
    return table, peer, link


def source_of(table: Table, peer: Peer, link: int) -> int:
    return next(seat for seat in table.links[link] if seat != peer.seat)


def state(peer: Peer) -> tuple[Any, ...]:
    session = peer.session
    return (
        session.head,
        session.step,
        session.epoch,
        session.game.digest(),
        session.exposed,
        session.waiting_for,
    )


def finishes(table: Table) -> None:
    table.play = table.random_move
    table.run()
    logs = table.logs()
    assert all(log == logs[0] for log in logs)
    assert verify_log(logs[0], toy_game, table.decks, os.urandom).dropped == ()
    assert not any(events_of(peer, events.EvidenceFound) for peer in table.peers)


# --- what is not of this place ---------------------------------------------------------------------------


def foreign(table: Table, peer: Peer, name: str) -> Entry:
    """An entry that a peer has no use for."""
    session = peer.session
    (turn,) = session._steps.course.due.seats
    good = table.peers[turn].session._steps.entries_of(0)[turn]
    move = like(
        good, kind=Kind.MOVE, step=session.step, prev=session.head, epoch=session.epoch, body=["draw", [], []]
    )
    match name.split()[0]:
        case "F54":
            return like(move, table=hashlib.sha256(b"another").digest())
        case "F65":
            return sign(
                identity(peer.seat),
                **{
                    field: getattr(move, field)
                    for field in ("table", "epoch", "step", "seat", "kind", "body", "prev", "round")
                },
            )
        case "N31":
            return {
                "N31 a bad signature": lambda: read(move.content, bytes(64)),
                "N31 a seat that is not there": lambda: sign(identity(turn), **fields_of(move) | {"seat": 7}),
                "N31 a wrong previous head": lambda: like(move, prev=hashlib.sha256(b"head").digest()),
                "N31 a step already closed": lambda: like(move, step=1),
                "N31 a step far ahead": lambda: like(move, step=move.step + HORIZON + 1),
                "N31 an epoch to come": lambda: like(move, epoch=5),
            }[name]()
    raise KeyError(name)


def fields_of(entry: Entry) -> dict[str, Any]:
    return {
        name: getattr(entry, name)
        for name in ("table", "epoch", "step", "seat", "kind", "body", "prev", "round")
    }


@pytest.mark.parametrize(
    ("name", "counted"),
    [
        ("F54 another table", True),
        ("F65 another seat's number", True),
        ("N31 a bad signature", True),
        ("N31 a seat that is not there", True),
        ("N31 a wrong previous head", False),
        ("N31 a step already closed", False),
        ("N31 a step far ahead", False),
        ("N31 an epoch to come", False),
    ],
)
def test_f54_f65_n31_an_entry_that_is_not_of_this_place_changes_nothing(name: str, counted: bool) -> None:
    table, peer, link = at_a_move()
    before, kept = state(peer), peer.session._steps.shelf.sizes()["entries"]
    (message,) = gossip.write_entries([foreign(table, peer, name)])
    peer.session.received(link, message, table.now)
    assert state(peer) == before
    source = peer.session._links.get(link)
    assert source is not None
    assert source.strikes == counted
    assert peer.session._steps.shelf.sizes()["entries"] <= kept + (not counted)
    peer.carry_out()
    finishes(table)


def test_f99_three_entries_that_nobody_here_signed_cost_the_link() -> None:
    table, peer, link = at_a_move()
    entry = foreign(table, peer, "F65 another seat's number")
    (message,) = gossip.write_entries([entry])
    for strikes in (1, 2, 3):
        assert peer.session._links.get(link) is not None
        peer.session.received(link, message, table.now)
        assert not any(
            isinstance(effect, Close)
            for effect in peer.session.take_effects()[: -1 if strikes == 3 else None]
        )
    assert peer.session._links.get(link) is None


@pytest.mark.parametrize(
    "again",
    [
        pytest.param(
            lambda entry: entry.content.replace(b"\x99\x01", b"\x99\xcc\x01", 1), id="N32 a longer integer"
        ),
        pytest.param(lambda entry: entry.content + b"\x00", id="N32 trailing bytes"),
        pytest.param(lambda entry: b"\x81\x00" + entry.content, id="N32 a map"),
        pytest.param(lambda entry: entry.content.replace(b"\xc4\x20", b"\xd9\x20", 1), id="N32 str for bin"),
    ],
)
def test_n32_an_entry_in_other_bytes_ends_the_link_and_is_no_second_entry(again: Any) -> None:
    table, peer, link = at_a_move()
    entry = peer.session._steps.entries_of(1)[0]
    content = again(entry)
    assert content != entry.content
    before = state(peer)
    message = encode([gossip.Message.ENTRIES.value, [[content, identity(entry.seat).sign("entry", content)]]])
    peer.session.received(link, message, table.now)
    peer.carry_out()
    assert state(peer) == before
    assert [event.reason for event in events_of(peer, events.LinkRefused)] == ["bad_encoding"]
    table.link(peer.seat, source_of_refused(table, peer))
    finishes(table)


def source_of_refused(table: Table, peer: Peer) -> int:
    linked = {seat for ends in table.links.values() if peer.seat in ends for seat in ends}
    return next(other.seat for other in table.peers if other.seat not in linked)


def signed_otherwise(seat: int, entry: Entry, nonce: int) -> bytes:
    """Another good signature of the same content: RFC 8032 with a nonce that is not derived."""
    seed = hashlib.sha256(b"identity %d" % seat).digest()
    hashed = hashlib.sha512(seed).digest()
    secret = int.from_bytes(hashed[:32], "little") & ((1 << 254) - 8) | 1 << 254
    key = identity(seat).public_key
    message = framed("entry", entry.content)
    base = ed25519.times(1, ed25519.BASE)
    commitment = ed25519.write(ed25519.times(nonce, base))
    challenge = int.from_bytes(hashlib.sha512(commitment + key + message).digest(), "little") % ed25519.L
    return commitment + ((nonce + challenge * secret) % ed25519.L).to_bytes(32, "little")


def framed(tag: str, *items: bytes) -> bytes:
    data = b"p2p-rummy/" + bytes([len(tag)]) + tag.encode()
    return data + b"".join(len(item).to_bytes(8, "big") + item for item in items)


def test_n32_a_second_signature_of_one_content_is_not_a_second_statement() -> None:
    """Its author can make any number of them; nothing is identified by its signature."""
    table, peer, link = at_a_move()
    entry = peer.session._steps.entries_of(peer.session.step - 1)[0]
    other = read(entry.content, signed_otherwise(entry.seat, entry, 12345))
    assert other.signature != entry.signature
    other.verify(identity(entry.seat).public_key)
    before, kept = state(peer), peer.session._steps.shelf.sizes()
    (message,) = gossip.write_entries([other])
    peer.session.received(link, message, table.now)
    assert state(peer) == before
    assert peer.session._steps.shelf.sizes() == kept
    peer.carry_out()
    finishes(table)


# --- floods ----------------------------------------------------------------------------------------------


def have(peer: Peer, *, step: int, ids: tuple[bytes, ...] = ()) -> bytes:
    place = Place(epoch=0, step=step, prev=bytes(32), final=step, ids=ids, votes=bytes(gossip.SHORT_ID))
    return gossip.write_have(Have(place=place, links=0))


def wants_sent(peer: Peer) -> int:
    said = [gossip.read(effect.message) for effect in peer.session.take_effects() if isinstance(effect, Send)]
    return sum(isinstance(each, gossip.Want) for each in said)


def test_f59_whoever_says_to_have_more_than_there_is_is_asked_four_times_a_second_at_most() -> None:
    table, peer, link = at_a_move()
    before = state(peer)
    asked = 0
    for number in range(1000):
        peer.session.received(link, have(peer, step=10_000 + number), table.now + number / 100)
        asked += wants_sent(peer)
    assert 0 < asked <= 10 * 4 + 1
    assert state(peer) == before
    finishes(table)


def test_f98_want_is_answered_forty_times_at_once_and_twenty_times_a_second() -> None:
    table, peer, link = at_a_move()
    place = Place(epoch=0, step=0, prev=bytes(32), final=0, ids=(), votes=bytes(gossip.SHORT_ID))
    answered = 0
    for number in range(2000):
        peer.session.received(link, gossip.write_want(place), table.now + number / 200)
        answered += any(isinstance(effect, Send) for effect in peer.session.take_effects())
    assert 40 <= answered <= 40 + 10 * 20 + 1
    finishes(table)


def test_f100_orphans_are_bounded_for_each_seat_and_do_not_hide_what_is_real() -> None:
    """A seat signs hundreds of entries for steps that are not open, as large as they may be."""
    table, peer, link = at_a_move()
    seat = source_of(table, peer, link)
    good = table.peers[seat].session._steps.entries_of(0)[seat]
    junk = bytes(40_000)
    for ahead in range(1, 3 * HORIZON):
        for version in range(5):
            entry = like(
                good,
                kind=Kind.SHARES,
                step=peer.session.step + ahead,
                body=[junk, version],
                prev=bytes([version]) * 32,
            )
            (message,) = gossip.write_entries([entry])
            peer.session.received(link, message, table.now)
    shelf = peer.session._steps.shelf
    kept = [
        entry
        for step in range(peer.session.step, peer.session.step + 4 * HORIZON)
        for entry in shelf.of_step(step)
    ]
    near = [entry for entry in kept if entry.step <= peer.session.step + 1]
    far = [entry for entry in kept if entry.step > peer.session.step + 1]
    assert sum(len(entry.content) for entry in far) <= 512 * 1024
    assert len(near) <= 2 * 3 * 3, "three versions on each prefix, of three seats"
    peer.session.take_effects()
    # It was pushed on to nobody's harm either: the table goes on.
    finishes(table)


def test_f100_votes_of_thousands_of_rounds_are_bounded() -> None:
    table, peer, link = at_a_move()
    seat = source_of(table, peer, link)
    good = table.peers[seat].session._steps.entries_of(0)[seat]
    session = peer.session
    for round in range(1, 200):
        vote = like(good, kind=Kind.PREVOTE, step=session.step, prev=session.head, epoch=session.epoch, round=round,
                    body=[[[owing, b""] for owing in session._steps.course.due.seats], [], [], 0])  # fmt: skip
        (message,) = gossip.write_entries([vote])
        session.received(link, message, table.now)
        session.take_effects()
    per_seat = [vote.seat for vote in session._steps.shelf.votes_from(0)]
    assert per_seat.count(seat) <= 48
    assert len(per_seat) <= 2 * 48, "and what is said in answer to it"
    # Its own program, which knows nothing of these votes, soon contradicts one of them; nobody else is touched.
    table.play = table.random_move
    table.run(until=lambda: all(other.session.over for other in table.peers if other.seat != seat))
    for other in table.peers:
        assert {found.seat for found in events_of(other, events.EvidenceFound)} <= {seat}
        assert {event.seat for event in events_of(other, events.SeatDropped)} <= {seat}


# --- a long game -----------------------------------------------------------------------------------------

ENTRIES: Final = 10_000


def long_journal() -> tuple[Any, list[bytes], int]:
    """The journal of seat 0 of an eight-handed game with 10,000 entries in it, made without links."""
    agreed = agreement(8, options={"hands": "1000", "bids": "no", "rounds": "3"})
    decks, dice = FastDecks(), random.Random(1)
    seats = [OwnSeat(identity(seat), seat, decks, dice.randbytes, {}) for seat in range(8)]
    course = Course(agreed, toy_game, decks)
    records: list[bytes] = []
    count = 0
    while count < ENTRIES:
        due = course.due
        given = {seat: said(course, seats[seat], seat) for seat in due.seats}
        closed, _ = course.close(given, bytes(32))
        records.append(write_closed(closed))
        count += len(given)
    return agreed, records, course.step


def said(course: Course, own: OwnSeat, seat: int) -> Entry:
    due = course.due
    body: Any
    match due.stage:
        case Stage.MOVE:
            kind, body = Kind.MOVE, own.move_body(course, course.game.legal_moves(seat, own.faces(course))[0])
        case Stage.SEALED:
            kind, body = Kind.SEALED, own.seal(course, None)[0]
        case Stage.ANSWER:
            made = own.opened(course.answers[seat].commitment)
            assert made is not None
            kind, body = made
        case _:
            if due.stage is Stage.COMMIT:
                own.begin_hand(course)
            kind, body = own.maker(course, (), ())()
    return sign(
        identity(seat), table=course.agreement.table, epoch=due.epoch, step=due.step, seat=seat, kind=kind, body=body,
        prev=due.prev,
    )  # fmt: skip


def test_f101_ten_thousand_entries_are_resumed_in_less_than_five_seconds() -> None:
    """Of processor time; with the stand-in deck.  The bench measures the real one (docs/bench.md)."""
    agreed, records, step = long_journal()
    began = time.process_time()
    session = Session(identity(0), agreed, toy_game, os.urandom, records, decks=FastDecks(), now=0.0)
    spent = time.process_time() - began
    assert session.step == step
    assert spent < 5.0
    published = [effect for effect in session.take_effects() if isinstance(effect, Publish)]
    assert len(published) >= step - 8
    assert not any(
        isinstance(effect, Notify) and isinstance(effect.event, events.EvidenceFound)
        for effect in session.take_effects()
    )
