"""Inputs that must be refused, sent by a seat of a whole table: N1 to N35, where a peer could send them.

The same inputs are tried on the deck alone in the other test_negatives files.  Here each stands in a signed entry, comes over a
link, and every honest peer reaches one verdict, keeps a file that convicts, and plays on.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from protocol import events, evidence, gossip, sharing
from protocol.course import Course
from protocol.entry import Entry, Kind, from_value
from protocol.errors import LocalProtocolError
from protocol.events import Accusation
from protocol.group import ORDER, POINT_BYTES, secret_combination
from protocol.hand_secret import HandSecret
from protocol.keyshare import Backup
from protocol.proofs import Context, SecretStream
from protocol.simulation.shared import SharedDecks
from protocol.verify import verify_log
from tests.protocol.liars import Change, Twins, honest_are_over, like, tell
from tests.protocol.tables import Peer, Table, events_of
from tests.protocol.toy_game import toy_game

LIAR = 3
OPTIONS = {"bids": "no", "rounds": "1"}


def convicted(table: Table, liar: int, reason: str) -> None:
    """Every honest peer accuses this seat, of this, and nobody else; its file convinces a stranger; one log is left."""
    honest = [peer for peer in table.peers if peer.seat != liar]
    for peer in honest:
        (found,) = events_of(peer, events.EvidenceFound)
        assert (found.seat, found.accusation, found.reason) == (liar, Accusation.ILLEGAL, reason)
        verdict = evidence.check(found.data, toy_game, table.decks, os.urandom)
        assert (verdict.seat, verdict.accusation, verdict.reason) == (liar, Accusation.ILLEGAL, reason)
    assert all(peer.public == honest[0].public for peer in honest)
    summary = verify_log(honest[0].public, toy_game, table.decks, os.urandom)
    assert summary.finished
    for peer in honest:
        assert {event.seat for event in events_of(peer, events.SeatAbsent)} <= {liar}


# --- bodies of the real deck -----------------------------------------------------------------------------


def part(index: int, change: Callable[[bytes], bytes]) -> Change:
    """One byte string of the body changed."""

    def changed(course: Course, body: Any) -> dict[str, Any]:
        return {"body": [*body[:index], change(body[index]), *body[index + 1 :]]}

    return changed


def proof_part(index: int, change: Callable[[bytes], bytes]) -> Change:
    """One byte string of a shuffle's proof changed."""

    def changed(course: Course, body: Any) -> dict[str, Any]:
        outputs, proof = body
        return {"body": [outputs, [*proof[:index], change(proof[index]), *proof[index + 1 :]]]}

    return changed


def flipped(data: bytes) -> bytes:
    """The last bit, which leaves every length, prefix and range as it was."""
    return data[:-1] + bytes([data[-1] ^ 1])


def outputs_of(shape: Callable[[list[bytes]], list[bytes]]) -> Change:
    """The cards of a shuffle, as pairs of points, put together otherwise."""

    def changed(course: Course, body: Any) -> dict[str, Any]:
        outputs, proof = body
        size = 2 * POINT_BYTES
        pairs = [outputs[at : at + size] for at in range(0, len(outputs), size)]
        return {"body": [b"".join(shape(pairs)), proof]}

    return changed


def swapped(pair: bytes) -> bytes:
    return pair[POINT_BYTES:] + pair[:POINT_BYTES]


def others_body(course: Course, body: Any) -> dict[str, Any]:
    """What another seat has said in this place, word for word."""
    session: Any = TABLE[0].peers[0].session
    kind = course.stage.name
    step = next(s for s in range(course.step, -1, -1) if entries_of(session, s, kind))
    return {"body": entries_of(session, step, kind)[0].body}


def entries_of(session: Any, step: int, kind: str) -> list[Entry]:
    return [
        entry for entry in session._steps.entries_of(step) if entry.kind.name == kind and entry.seat != LIAR
    ]


TABLE: list[Table] = []

BODIES: dict[str, tuple[Kind, Change, str]] = {
    "N1 a sealing key with another's proof": (Kind.COMMIT, part(2, flipped), "bad_possession_proof"),
    "N1 a key share without its proof": (Kind.REVEAL, part(2, lambda proof: b""), "bad_encoding"),
    "N2 a proof of possession that is forged": (Kind.REVEAL, part(2, flipped), "bad_possession_proof"),
    "N5 the identity for a key share": (
        Kind.REVEAL,
        part(1, lambda share: bytes(POINT_BYTES)),
        "bad_encoding",
    ),
    "N5 another seat's reveal": (Kind.REVEAL, others_body, "bad_reveal"),
    "N6 a reveal with another nonce": (Kind.REVEAL, part(0, flipped), "bad_reveal"),
    "N9 a point with prefix 04": (Kind.SHUFFLE, part(0, lambda data: b"\x04" + data[1:]), "bad_encoding"),
    "N10 a pair with its halves swapped": (
        Kind.SHUFFLE,
        outputs_of(lambda pairs: [swapped(pairs[0]), *pairs[1:]]),
        "bad_shuffle_proof",
    ),
    "N11 a card that comes twice": (
        Kind.SHUFFLE,
        outputs_of(lambda pairs: [*pairs[:-1], pairs[0]]),
        "bad_shuffle_proof",
    ),
    "N12 a card of nobody's pack": (
        Kind.SHUFFLE,
        outputs_of(lambda pairs: [pairs[0][:POINT_BYTES] + secret_combination(7).encoded, *pairs[1:]]),
        "bad_shuffle_proof",
    ),
    "N13 cards put in another order after the proof": (
        Kind.SHUFFLE,
        outputs_of(lambda pairs: [*pairs[1:], pairs[0]]),
        "bad_shuffle_proof",
    ),
    "N15 a card too few": (Kind.SHUFFLE, outputs_of(lambda pairs: pairs[1:]), "bad_encoding"),
    "N15 a card too many": (Kind.SHUFFLE, outputs_of(lambda pairs: [*pairs, pairs[0]]), "bad_encoding"),
    "N16 no cards": (Kind.SHUFFLE, outputs_of(lambda pairs: []), "bad_encoding"),
    "N17 a response above the order": (
        Kind.SHUFFLE,
        proof_part(6, lambda data: b"\xff" * 32 + data[32:]),
        "bad_encoding",
    ),
    "N21 a chain that ends elsewhere": (
        Kind.SHUFFLE,
        proof_part(1, lambda data: data[:-POINT_BYTES] + secret_combination(5).encoded),
        "bad_shuffle_proof",
    ),
    "N23 one bit of a shuffle's proof": (Kind.SHUFFLE, proof_part(6, flipped), "bad_shuffle_proof"),
    "N23 one bit of a share's proof": (Kind.SHARES, part(1, flipped), "bad_equality_proof"),
    "N25 shares of other slots": (
        Kind.SHARES,
        part(0, lambda data: data[POINT_BYTES:] + data[:POINT_BYTES]),
        "bad_equality_proof",
    ),
    "N27 backups of another degree": (Kind.REVEAL, part(3, lambda data: data[:-POINT_BYTES]), "bad_encoding"),
}


@pytest.mark.parametrize(("kind", "change", "reason"), BODIES.values(), ids=BODIES.keys())
def test_n1_to_n27_a_body_that_does_not_hold_convicts_its_author(
    kind: Kind, change: Change, reason: str
) -> None:
    table = Table(4, options=OPTIONS, decks=SharedDecks())
    TABLE[:] = [table]
    twins = Twins(table)
    twins.lie(LIAR, kind, change, (0, 1, 2), when=lambda course: change is not others_body or heard(course))
    table.run(until=honest_are_over(table, LIAR), seconds=1500)
    assert len(twins.pairs) == 1
    convicted(table, LIAR, reason)


def heard(course: Course) -> bool:
    session: Any = TABLE[0].peers[0].session
    return any(entries_of(session, step, course.stage.name) for step in range(course.step + 1))


# --- backups ---------------------------------------------------------------------------------------------


class BadDealer(HandSecret):
    """Deals one holder a backup share that is off its polynomial."""

    __slots__ = ()

    def _backup(self, context: Context, stream: SecretStream) -> Backup:
        good = super()._backup(context, stream)
        keys = self._deck.keys
        # The ephemeral secret is derived as the honest dealer derives it, so the rest of the backup is in order.
        holders = keys.others(self._seat)
        bound = stream.derive(b"".join(keys.sealing_key(holder).encoded for holder in holders))
        secret = bound.scalar("e")
        assert secret_combination(secret) == good.ephemeral
        share = sharing.share_for(self._polynomial(), 0) + 1
        place, key = self._deck.backup_place(self._seat, 0), keys.sealing_key(0)
        return replace(
            good, sealed={**good.sealed, 0: sharing.seal(place, share % ORDER, secret, good.ephemeral, key)}
        )


class Complainer(HandSecret):
    """Takes seat 0's backup share for a bad one, which it is not."""

    __slots__ = ()

    def _backup_share(self, dealer: int) -> int | None:
        return super()._backup_share(dealer) if dealer else None


class DecksWith(SharedDecks):
    """Real decks; the liar's private half is of another class."""

    def __init__(self, kind: type[HandSecret]) -> None:
        super().__init__()
        self.kind = kind

    def secret(self, seed: bytes, identity_secret: bytes, deck: Any, seat: int) -> HandSecret:
        kind = self.kind if seat == LIAR else HandSecret
        return kind(seed, identity_secret, deck, seat)


@pytest.mark.parametrize(
    ("kind", "reason"), [(BadDealer, "bad_backup"), (Complainer, "false_complaint")], ids=["N27", "N29"]
)
def test_n27_n29_a_complaint_convicts_the_dealer_or_the_complainer(
    kind: type[HandSecret], reason: str
) -> None:
    """Seat 0 shows that its backup share is bad; seat 3 says so of a good one.  The hand begins again without the liar."""
    table = Table(4, options=OPTIONS, decks=DecksWith(kind))
    table.run(until=honest_are_over(table, LIAR), seconds=1500)
    convicted(table, LIAR, reason)
    began = [event.seats for event in events_of(table.peers[0], events.HandBegan)]
    assert began[:2] == [(0, 1, 2, 3), (0, 1, 2)]


@pytest.mark.parametrize("value", [bytes(32), (1).to_bytes(32, "big"), ORDER.to_bytes(32, "big")])
def test_n7_n30_a_wrong_backup_share_of_a_dropped_seat_convicts_who_gives_it(value: bytes) -> None:
    table = Table(5, options=OPTIONS, decks=SharedDecks())
    twins = Twins(table)
    table.run(until=lambda: all(peer.session.stage.value == "move" for peer in table.peers))
    (turn,) = table.peers[0].session.waiting_for
    gone = turn if turn != LIAR else 0
    twins.lie(LIAR, Kind.RESTORE, lambda course, body: {"body": [[value]]}, tuple({0, 1, 2, 4} - {gone}))
    table.crash(gone)
    honest = [peer for peer in table.peers if peer.seat not in (gone, LIAR)]
    table.run(until=lambda: all(events_of(peer, events.EvidenceFound) for peer in honest), seconds=1500)
    for peer in honest:
        (found,) = events_of(peer, events.EvidenceFound)
        assert found.seat == LIAR
        assert found.reason in ("bad_backup_share", "bad_encoding")
        assert evidence.check(found.data, toy_game, table.decks, os.urandom).seat == LIAR


# --- answers ---------------------------------------------------------------------------------------------

ANSWERS: dict[str, tuple[Callable[[Table, Course, str], list[Any]], str]] = {
    "another seat's card": (lambda table, course, text: [text, [slot_of(table, 0)], [bytes(32)]], "not_held"),
    "its own card with a wrong share": (
        lambda table, course, text: [text, [slot_of(table, LIAR)], [bytes(32)]],
        "bad_share",
    ),
    "no card": (lambda table, course, text: [text, [], []], "not_in_hand"),
    "a card that nobody has": (lambda table, course, text: ["beat 99", [], []], "not_in_hand"),
}


def slot_of(table: Table, seat: int) -> int:
    return table.peers[0].session.game.hidden(seat)[0]


@pytest.mark.parametrize(("answer", "reason"), ANSWERS.values(), ids=ANSWERS.keys())
def test_n26_a_call_with_a_card_that_is_not_held_is_a_pass_and_its_author_is_named(
    answer: Callable[[Table, Course, str], list[Any]], reason: str
) -> None:
    table = Table(4, options=OPTIONS)
    own: Any = table.peers[LIAR].session._voice.own  # type: ignore[union-attr]
    honest = own.move_body

    def lying(course: Course, text: str) -> list[Any]:
        if course.stage.value == "sealed":
            return answer(table, course, "beat 12")
        return honest(course, text)  # type: ignore[no-any-return]

    own.move_body = lying

    def play(peer: Peer) -> str | None:
        moves = peer.session.legal_moves()
        return "pass" if "pass" in moves else table.random.choice(moves) if moves else None

    table.play = play
    table.run(until=lambda: all(asked(peer) for peer in table.peers))
    for peer in table.peers:
        void = events_of(peer, events.AnswerVoid)[0]
        assert (void.seat, void.reason) == (LIAR, reason)
        ruled = next(event for event in events_of(peer, events.Ruled) if LIAR in dict(event.answers))
        assert (dict(ruled.answers)[LIAR], ruled.winner) == ("pass", None)
    assert len({peer.session.game.digest() for peer in table.peers}) == 1


def asked(peer: Peer) -> bool:
    return any(LIAR in dict(event.answers) for event in events_of(peer, events.Ruled))


# --- the agreement ---------------------------------------------------------------------------------------


def test_n34_an_entry_under_changed_options_is_of_another_table() -> None:
    """The agreement cannot be changed later: with one option more or less it has another name."""
    table = Table(3, options=OPTIONS)
    table.run(until=lambda: all(peer.session.stage.value == "move" for peer in table.peers))
    table.run(until=lambda: not table.queue)
    changed = replace(table.agreement, options=(("bids", "no"), ("rounds", "2")))
    assert changed.table != table.agreement.table
    victim = table.peers[0]
    real = victim.session._steps.entries_of(0)[-1]
    before = (victim.session.head, victim.session.step, victim.session.game.digest())
    under = [like(real, table=changed.table, step=victim.session.step + n) for n in range(3)]
    for number, entry in enumerate(under, start=1):
        tell(victim, entry, source=real.seat)
        assert [event.reason for event in events_of(victim, events.LinkRefused)] == ["other_table"] * (
            number == 3
        )
        assert (victim.session.head, victim.session.step, victim.session.game.digest()) == before
    assert events_of(victim, events.EvidenceFound) == []


# --- randomness ------------------------------------------------------------------------------------------


NEED_RANDOMNESS = {
    Kind.COMMIT,
    Kind.REVEAL,
    Kind.SHUFFLE,
    Kind.COMPLAINT,
    Kind.SHARES,
    Kind.MOVE,
    Kind.SEALED,
    Kind.ANSWER,
    Kind.SHOW,
    Kind.RESTORE,
}


class Broken(random.Random):
    """A random source that has broken: ``give(n)`` is all that it gives."""

    def __init__(self, give: Callable[[int], bytes]) -> None:
        super().__init__(0)
        self._give = give

    def randbytes(self, n: int) -> bytes:
        return self._give(n)


@pytest.mark.parametrize(
    "give",
    [lambda count: bytes(count), lambda count: b"\xff" * count, lambda count: bytes(range(count - 1))],
    ids=["zeros", "ones", "too few"],
)
def test_n39_a_peer_whose_random_source_fails_says_nothing_that_needs_it(
    give: Callable[[int], bytes],
) -> None:
    """What it still signs (its part of the agreement, votes, a request to return) takes no randomness; the others go on."""
    table = Table(3, options=OPTIONS, decks=SharedDecks())
    peer, others = table.peers[2], table.peers[:2]
    table.crash(2)
    peer.random = Broken(give)
    table.restart(2)
    table.run(until=lambda: all(other.session.over for other in others), seconds=1500)
    said = {entry.kind for entry in sent_by(peer)}
    assert Kind.AGREE in said
    assert said.isdisjoint(NEED_RANDOMNESS)
    for other in others:
        assert {event.seat for event in events_of(other, events.SeatAbsent)} == {2}
        assert events_of(other, events.EvidenceFound) == []


def test_n39_a_peer_whose_random_source_repeats_itself_makes_one_thing_and_stops() -> None:
    table = Table(2, options=OPTIONS, decks=SharedDecks())
    peer = table.peers[0]
    table.crash(0)
    peer.random = Broken(lambda count: bytes(range(count)))
    table.restart(0)
    with pytest.raises(LocalProtocolError, match="repeats itself"):
        table.run()
    assert [entry.kind for entry in sent_by(peer) if entry.kind is not Kind.AGREE] == [Kind.COMMIT]


def sent_by(peer: Peer) -> list[Entry]:
    """What this peer has signed and sent, each once."""
    said = [gossip.read(message) for message in peer.sent]
    values = [value for each in said if isinstance(each, gossip.Entries) for value in each.entries]
    entries = {entry.id: entry for entry in map(from_value, values) if entry.seat == peer.seat}
    return list(entries.values())
