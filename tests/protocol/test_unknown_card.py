"""A slot that is no card of the pack, though every proof held: the hand is void for all, and nobody is blamed (SPEC.md 6.5)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import pytest

from protocol import events
from protocol.dealing import RealDecks
from protocol.deck import UNKNOWN_CARD, Deck
from protocol.errors import VerificationError
from protocol.game import Slot
from protocol.verify import verify_log
from tests.protocol.tables import Table, events_of
from tests.protocol.toy_game import toy_game

SEATS = 3


class UnsoundDeck(Deck):
    """As if the proof of a shuffle had hidden a card of another pack in one slot."""

    bad: Slot = -1

    def decrypt(self, slot: Slot, more: Mapping[int, Any]) -> int:
        if slot == self.bad and self.hand == 1:
            raise VerificationError(UNKNOWN_CARD, f"slot {slot} decrypts to no card of this hand")
        return super().decrypt(slot, more)


class UnsoundDecks(RealDecks):
    def __init__(self, bad: Slot) -> None:
        self.bad = bad

    def deck(self, table: bytes, hand: int, seats: tuple[int, ...], threshold: int | None) -> Deck:
        deck = UnsoundDeck(table, hand, seats, threshold=threshold)
        deck.bad = self.bad
        return deck


@pytest.mark.parametrize(
    ("bad", "stage"),
    [(2 * SEATS, "shares"), (0, "show")],
    ids=["N26 a card opened to all", "N26 a card in a hand"],
)
def test_n26_a_card_of_no_pack_voids_the_hand_and_blames_nobody(bad: Slot, stage: str) -> None:
    decks = UnsoundDecks(bad)
    table = Table(SEATS, decks=decks, options={"hands": "2", "rounds": "1", "bids": "no"})
    table.run()
    (void,) = events_of(table.peers[0], events.HandVoid)
    for peer in table.peers:
        assert events_of(peer, events.HandVoid) == [void]
        assert not events_of(peer, events.EvidenceFound)
        assert not events_of(peer, events.SeatDropped)
    ledger = table.peers[0].session._steps.ledger
    assert ledger._stages[void.step].value == stage
    assert void.hand == 1
    first, *_ = events_of(table.peers[0], events.HandOver)
    assert first == events.HandOver(hand=1, scores=(0,) * SEATS), "nothing of the hand counts"
    logs = table.logs()
    assert all(log == logs[0] for log in logs)
    assert verify_log(logs[0], toy_game, decks, os.urandom).finished


def test_n26_the_owner_of_a_card_of_no_pack_sees_no_face_and_plays_on() -> None:
    table = Table(SEATS, decks=UnsoundDecks(0), options={"rounds": "1", "bids": "no"})
    table.play = lambda peer: None
    table.run(until=lambda: all(peer.session.stage.value == "move" for peer in table.peers))
    known = {slot for peer in table.peers for slot in peer.session.faces}
    assert 0 not in known
    assert known >= {1, 2, 3, 4, 5}
