"""Cards that are not held, hidden faces and secrets, at whole tables of every game: N26, N37 and N38.

Each game is played with the real deck up to a turn in mid-hand that opens cards.  There a coalition tries to read what is
closed, everything that left a peer is searched for what it must not hold, and the seat on turn plays what it has not got.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import pytest

from p2p_rummy.bots import make_bot
from p2p_rummy.cards import card_name
from p2p_rummy.games import make_game
from p2p_rummy.games.base import FACTORIES
from p2p_rummy.view import table_view
from protocol import canonical, events, evidence, sharing
from protocol.agreement import Agreement
from protocol.canonical import Value
from protocol.deck import OPENING, Deck
from protocol.entry import Entry, Kind, sign
from protocol.errors import VerificationError
from protocol.game import Card, Game, Slot
from protocol.group import (
    ORDER,
    Point,
    add,
    encode_points,
    negate,
    point_from_label,
    public_combination,
    secret_combination,
)
from protocol.hand_secret import HandSecret
from protocol.judge import judge
from protocol.proofs import SecretStream, Transcript, prove_equality
from protocol.quorum import quorum
from protocol.shuffle import card_point
from protocol.simulation.shared import SharedDecks
from tests.protocol import tables
from tests.protocol.liars import tell
from tests.protocol.tables import Peer, Table, events_of, identity

FOUR = ("persian", "partnership")


@dataclass
class Played:
    """A table of real decks in mid-hand; ``mover`` is on turn and may play ``text``, which opens ``slots``."""

    game: str
    table: Table
    game_of: Callable[[Agreement], Game]
    mover: int
    text: str
    slots: list[Slot]

    @property
    def seats(self) -> range:
        return range(len(self.table.peers))

    @property
    def course(self) -> Any:
        return self.table.peers[0].session._steps.course

    @property
    def deck(self) -> Deck:
        deck: Deck = self.course.deck
        return deck

    def secret(self, seat: int) -> HandSecret:
        session: Any = self.table.peers[seat].session
        secret: HandSecret = session._voice.own.secret(session._steps.course)
        return secret

    def owner(self, slot: Slot) -> int | None:
        game = self.table.peers[0].session.game
        return next((seat for seat in self.seats if slot in game.hidden(seat)), None)

    def closed(self) -> list[Slot]:
        return [slot for slot in range(self.deck.slot_count) if self.deck.face(slot) is None]

    def share(self, seat: int, slot: Slot) -> Point:
        """What this seat would have to publish to give its part of a slot."""
        return secret_combination(None, [(self.deck.ciphertext(slot).a, self.secret(seat)._card_secret())])

    def face(self, slot: Slot) -> Card:
        """The truth, by the secrets of everybody."""
        return self.deck.decrypt(slot, {seat: self.share(seat, slot) for seat in self.deck.missing(slot)})


@pytest.fixture(scope="module", params=sorted(FACTORIES))
def played(request: pytest.FixtureRequest) -> Iterator[Played]:
    with pytest.MonkeyPatch.context() as patch:
        yield in_mid_hand(request.param, patch)


def in_mid_hand(name: str, patch: pytest.MonkeyPatch) -> Played:
    seats = 4 if name in FOUR else 3

    def game_of(agreement: Agreement) -> Game:
        return make_game(name, {}, len(agreement.seats))

    patch.setattr(tables, "toy_game", game_of)
    bots = [make_bot("random", seat) for seat in range(seats)]

    def play(peer: Peer) -> str | None:
        session = peer.session
        return (
            bots[peer.seat].choose(session.game, peer.seat, session.faces) if session.legal_moves() else None
        )

    table = Table(seats, play=play, decks=SharedDecks())
    found: list[tuple[int, str, list[Slot]]] = []

    def opens_cards() -> bool:
        """Somebody is on turn and may open cards, and some cards lie open already."""
        course: Any = table.peers[0].session._steps.course
        if course.stage.value != "move" or len(events_of(table.peers[0], events.MoveMade)) < 2:
            return False
        session = table.peers[course.due.seats[0]].session
        if session.step != course.step or not any(
            course.deck.face(slot) is not None for slot in range(course.deck.slot_count)
        ):
            return False
        for text in session.legal_moves():
            slots = session.game.slots_of(course.due.seats[0], text, session.faces)
            if slots:
                found[:] = [(course.due.seats[0], text, sorted(slots))]
                return True
        return False

    table.run(until=lambda: opens_cards() and not table.queue, limit=400_000, seconds=10_000)
    return Played(name, table, game_of, *found[0])


# --- N37: what a coalition can see -----------------------------------------------------------------------


def guesses(played: Played, coalition: tuple[int, ...], target: int) -> set[int]:
    """What the coalition could take for the target's key, from all that it holds."""
    shares = {seat: played.secret(seat)._backup_share(target) for seat in coalition}
    held = {seat: share for seat, share in shares.items() if share is not None}
    found = {0, *held.values(), sum(held.values()) % ORDER}
    for seat in coalition:
        found |= {played.secret(seat)._card_secret(), played.secret(seat)._sealing_secret()}
    for size in range(1, len(held) + 1):
        found |= {
            sharing.rebuild({seat: held[seat] for seat in some}, size) for some in combinations(held, size)
        }
    return found


def read(played: Played, coalition: tuple[int, ...], slot: Slot) -> set[Card]:
    """The cards that the coalition makes of a closed slot, with its own keys and every guess at the others'."""
    deck = played.deck
    pair = deck.ciphertext(slot)
    own = sum(played.secret(seat)._card_secret() for seat in coalition if seat in deck.missing(slot))
    strangers = [seat for seat in deck.missing(slot) if seat not in coalition]
    known = [negate(share) for share in deck._shares[slot].values()]
    cards = {card_point(card): card for card in deck._cards.values()}
    found = set()
    for tried in product(*(guesses(played, coalition, stranger) for stranger in strangers)):
        point = public_combination([(pair.a, -(own + sum(tried)))], [pair.b, *known])
        if point in cards:
            found.add(cards[point])
    return found


def test_n37_no_coalition_below_the_threshold_reads_a_closed_card(played: Played) -> None:
    threshold = played.deck.threshold
    assert threshold == quorum(len(played.seats))
    stock = [slot for slot in played.closed() if played.owner(slot) is None][:3]
    for coalition in combinations(played.seats, threshold - 1):
        held = [slot for slot in played.closed() if played.owner(slot) not in (None, *coalition)]
        assert len(held) >= 5, "there are hands to look into"
        for slot in [*held[:12], *stock]:
            assert set(played.deck.missing(slot)) - set(coalition), "an honest share is missing"
            assert read(played, coalition, slot) == set()


def test_n37_the_same_attack_reads_the_card_at_the_threshold(played: Played) -> None:
    slot = next(slot for slot in played.closed() if played.owner(slot) == 0)
    coalition = tuple(played.seats)[1 : 1 + (played.deck.threshold or 0)]
    assert read(played, coalition, slot) == {played.face(slot)}


def of_this_hand(peer: Peer) -> list[events.Event]:
    began = max(at for at, event in enumerate(peer.events) if isinstance(event, events.HandBegan))
    return peer.events[began:]


def test_n37_each_peer_knows_its_own_cards_and_no_others(played: Played) -> None:
    for peer in played.table.peers:
        hidden = peer.session.game.hidden(peer.seat)
        readable = {slot for slot in hidden if played.deck.missing(slot) == (peer.seat,)}
        assert dict(peer.session.faces) == {slot: played.face(slot) for slot in readable}
        open_or_own = {slot for slot in range(played.deck.slot_count) if slot not in played.closed()} | set(
            hidden
        )
        for event in of_this_hand(peer):
            for name in ("faces", "openings"):
                for slot, card in getattr(event, name, ()):
                    assert slot in open_or_own, f"seat {peer.seat} was told slot {slot}"
                    assert card == (played.face(slot) if slot in hidden else played.deck.face(slot))


# --- N38: nothing secret leaves --------------------------------------------------------------------------


def secrets_of(played: Played, seat: int) -> dict[str, bytes]:
    """Everything of this seat that nobody else may ever see, as bytes."""
    peer, secret = played.table.peers[seat], played.secret(seat)
    scalars = {
        "card key": secret._card_secret(),
        "sealing key": secret._sealing_secret(),
        **{f"polynomial {n}": value for n, value in enumerate(secret._polynomial())},
        **{
            f"backup share of {other}": value
            for other in played.seats
            if other != seat and (value := secret._backup_share(other)) is not None
        },
    }
    found = {name: value.to_bytes(32, "big") for name, value in scalars.items()}
    found |= {f"{name}, reversed": value[::-1] for name, value in found.items()}
    found |= {f"seed {hand}": seed for hand, seed in peer.secrets.items()}
    found["root"] = bytes(secret._root)
    found["identity"] = identity(seat)._seed
    return found


def faces_of(played: Played) -> dict[str, bytes]:
    """What would show a closed card to all: its point, and the shares that have not been given."""
    found = {}
    for slot in played.closed():
        found[f"point of slot {slot}"] = card_point(played.face(slot)).encoded
        for seat in played.deck.missing(slot):
            found[f"share of slot {slot} by seat {seat}"] = played.share(seat, slot).encoded
    return found


def said(played: Played) -> bytes:
    """All that has left the peers, or lies on their disks beside the secrets' own files, in any spelling."""
    raw = [data for peer in played.table.peers for data in (*peer.journal, *peer.sent, *peer.public)]
    told = [repr(event) for peer in played.table.peers for event in peer.events]
    told += [repr(peer.session) + repr(vars(peer.session._voice)) for peer in played.table.peers]
    return b"\n".join([*raw, *(text.encode() for text in told)])


def test_n38_no_secret_and_no_closed_face_is_in_anything_that_leaves_a_peer(played: Played) -> None:
    haystack = said(played)
    needles = faces_of(played)
    for seat in played.seats:
        mine = secrets_of(played, seat)
        assert len(mine) >= 8
        needles |= {f"{name} of seat {seat}": value for name, value in mine.items()}
    for name, needle in needles.items():
        number = str(int.from_bytes(needle, "big")).encode()
        for spelling in (needle, needle.hex().encode(), number, repr(needle)[2:-1].encode()):
            assert spelling not in haystack, name
    # The search can find: what was published is there.
    shown = next(slot for slot in range(played.deck.slot_count) if played.deck.face(slot) is not None)
    assert next(iter(played.deck._shares[shown].values())).encoded in haystack


def test_n38_a_page_shows_a_hand_to_its_owner_alone(played: Played) -> None:
    names = {slot: card_name(played.face(slot)) for slot in played.closed()}
    for looking in (None, *played.seats):
        session = played.table.peers[looking or 0].session
        view = table_view(session.game, looking, {} if looking is None else session.faces, {})
        for seat, hand in enumerate(view["public"]["hands"]):
            for held in hand:
                if held["slot"] in names:
                    assert not held["card"], f"seat {seat}'s card is in everybody's page"
        own = {held["slot"]: held["card"] for held in view["hand"]}
        mine = () if looking is None else session.game.hidden(looking)
        assert all(own[slot] == names[slot] for slot in mine if own.get(slot))
        assert set(own) & set(names) <= set(mine)
        json.dumps(view)


# --- N26: cards that are not held ------------------------------------------------------------------------


def opening(played: Played, slots: list[Slot], points: list[Point] | None = None) -> list[Value]:
    """The best opening that the mover can make of these slots, whosever they are."""
    secret = played.secret(played.mover)._card_secret()
    transcript = Transcript(played.course.context(), OPENING, played.mover)
    transcript.absorb("slots", canonical.encode(list(slots)))
    bases = [played.deck.ciphertext(slot).a for slot in slots]
    true = [secret_combination(None, [(base, secret)]) for base in bases]
    stream = SecretStream(os.urandom(64))
    proof = prove_equality(transcript, secret, secret_combination(secret), bases, points or true, stream)
    return [encode_points(points or true), proof]


def moved(played: Played, text: str, slots: list[Slot], body: list[Value]) -> Entry:
    course = played.course
    return sign(
        identity(played.mover),
        table=course.agreement.table,
        epoch=course.epoch,
        step=course.step,
        seat=played.mover,
        kind=Kind.MOVE,
        body=[text, slots, body],
        prev=course.head,
    )


def cheats(played: Played) -> dict[str, tuple[Entry, str]]:
    """Moves with cards that the mover has not got, and the reason for which each is refused."""
    deck, mover, text, slots = played.deck, played.mover, played.text, played.slots
    mine = set(played.table.peers[mover].session.game.hidden(mover))
    another = next(slot for slot in played.closed() if played.owner(slot) not in (None, mover))
    stock = next((slot for slot in played.closed() if played.owner(slot) is None), another)
    shown = next(slot for slot in range(deck.slot_count) if deck.face(slot) is not None)
    one_more = next(slot for slot in sorted(mine) if slot not in slots)
    wished = card_name(played.face(another))
    held = card_name(played.face(slots[0]))
    assert held in text
    rest = slots[1:]

    def with_slots(*chosen: Slot) -> Entry:
        listed = sorted({*chosen, *rest})
        return moved(played, text, listed, opening(played, listed))

    # With this in place of its share, the first card would decrypt to the one that is wished for.
    faces = card_point(played.face(slots[0])), card_point(played.face(another))
    forged = add(played.share(mover, slots[0]), faces[0], negate(faces[1]))
    assert forged is not None
    assert deck.decrypt(slots[0], {mover: forged}) == played.face(another)
    lie = opening(played, slots, [forged, *(played.share(mover, slot) for slot in rest)])
    return {
        "another seat's card": (with_slots(another), "not_held"),
        "a card of the stock": (with_slots(stock), "not_held"),
        "a card that lies open": (with_slots(shown), "not_held"),
        "one card twice": (
            moved(played, text, slots[:1] * 2, opening(played, slots[:1] * 2)),
            "bad_encoding",
        ),
        "one card more": (with_slots(slots[0], one_more), "illegal_move"),
        "no card at all": (moved(played, text, [], []), "illegal_move"),
        "a slot that does not exist": (
            moved(played, text, [deck.slot_count + 5], [b"", b""]),
            "not_held",
        ),
        "another face": (
            moved(played, text.replace(held, wished), slots, opening(played, slots)),
            "illegal_move",
        ),
        "a share that would show another face": (
            moved(played, text.replace(held, wished), slots, lie),
            "bad_equality_proof",
        ),
        "noise for a share": (
            moved(
                played,
                text,
                slots,
                opening(played, slots, [point_from_label("noise", n) for n, _ in enumerate(slots)]),
            ),
            "bad_equality_proof",
        ),
        "a card that is named twice": (
            moved(played, f"{text} {held}", slots, opening(played, slots)),
            "illegal_move",
        ),
    }


def test_n26_a_move_with_a_card_that_is_not_held_is_refused_and_changes_nothing(played: Played) -> None:
    course, deck = played.course, played.deck
    before = (course.head, course.game.digest(), deck.digest())
    honest = moved(played, played.text, played.slots, opening(played, played.slots))
    judge(course, honest, os.urandom(32))
    for name, (entry, reason) in cheats(played).items():
        with pytest.raises(VerificationError) as caught:
            judge(course, entry, os.urandom(32))
        assert caught.value.reason == reason, name
        assert (caught.value.seat, caught.value.step) == (played.mover, course.step), name
        assert (course.head, course.game.digest(), deck.digest()) == before, name


def test_n26_over_the_wire_it_convicts_its_author_and_the_others_go_on(played: Played) -> None:
    """The last test of a game: the mover's peer is gone and its key plays another seat's card."""
    table, mover = played.table, played.mover
    others = [peer for peer in table.peers if peer.seat != mover]
    entry, _ = cheats(played)["another seat's card"]
    before = [peer.session.game.digest() for peer in others]
    links = {seat: number for number, ends in table.links.items() for seat in ends if mover in ends}
    table.peers[mover].up = False
    for peer in others:
        assert peer.seat in links
        tell(peer, entry, source=mover)
    assert [peer.session.game.digest() for peer in others] == before, "the move is not in any game"
    table.run(
        until=lambda: all(events_of(peer, events.SeatDropped) for peer in others),
        limit=400_000,
        seconds=10_000,
    )
    for peer in others:
        (found,) = events_of(peer, events.EvidenceFound)
        assert (found.seat, found.accusation, found.reason) == (mover, events.Accusation.ILLEGAL, "not_held")
        assert {event.seat for event in events_of(peer, events.SeatDropped)} == {mover}
    assert len({peer.session.game.digest() for peer in others}) == 1
    found = events_of(others[0], events.EvidenceFound)[0]
    verdict = evidence.check(found.data, played.game_of, table.decks, os.urandom)
    assert (verdict.seat, verdict.reason) == (mover, "not_held")
