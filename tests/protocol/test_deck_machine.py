"""The deck as a state machine under random events, against a model that knows where every card went.

The model knows nothing of cryptography: it remembers which seats have given their share of which slot.  From that
follow who sees what, and the faces must be one fixed deal of the cards that were shuffled.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from protocol.errors import LocalProtocolError, VerificationError
from protocol.testing import DeckTable

SEATS = 4
CARDS = tuple(range(10, 16))


class DeckMachine(RuleBasedStateMachine):
    @initialize(seed=st.integers(0, 3))
    def agree_and_shuffle(self, seed: int) -> None:
        self.table = DeckTable(SEATS, threshold=3, seed=b"machine %d" % seed)
        self.table.agree()
        self.given: list[set[int]] = []  # by slot: the seats whose share is there
        self.packs: list[tuple[int, ...]] = []  # by slot: the pack that it was shuffled in
        self.seen: dict[int, int] = {}  # by slot: the face that somebody has seen
        self.dropped: set[int] = set()
        self.shuffle_pack(CARDS)

    def shuffle_pack(self, cards: tuple[int, ...]) -> None:
        self.table.shuffle(cards)
        self.given += [set() for _ in cards]
        self.packs += [cards] * len(cards)

    def missing(self, slot: int) -> set[int]:
        return set(range(SEATS)) - self.given[slot] - self.dropped

    def live(self) -> list[int]:
        return [seat for seat in range(SEATS) if seat not in self.dropped]

    # --- events ------------------------------------------------------------------------------------------

    @rule(data=st.data())
    def deal(self, data: st.DataObject) -> None:
        slots = [slot for slot, given in enumerate(self.given) if not given]
        if slots:
            chosen = data.draw(st.lists(st.sampled_from(slots), min_size=1, max_size=3, unique=True))
            owners = {slot: data.draw(st.sampled_from([None, *self.live()])) for slot in chosen}
            self.table.deal(owners)
            for slot, owner in owners.items():
                self.given[slot] |= {seat for seat in self.live() if seat != owner}

    @rule(data=st.data())
    def open_a_held_slot(self, data: st.DataObject) -> None:
        held = [
            (slot, *self.missing(slot)) for slot in range(len(self.given)) if len(self.missing(slot)) == 1
        ]
        if held:
            slot, seat = data.draw(st.sampled_from(held))
            expected = self.table.secrets[seat].faces()[slot]
            assert self.table.open(seat, [slot]) == {slot: expected}
            self.given[slot].add(seat)

    @rule(data=st.data())
    def open_what_is_not_held(self, data: st.DataObject) -> None:
        slot = data.draw(st.sampled_from(range(len(self.given))))
        seat = data.draw(st.sampled_from(self.live()))
        if self.missing(slot) != {seat}:
            before = self.table.deck.digest()
            with pytest.raises(LocalProtocolError):
                self.table.secrets[seat].opening(self.table.context(), [slot], self.table.entropy())
            with pytest.raises(VerificationError) as caught:
                self.table.deck.check_opening(
                    self.table.context(), seat, [slot], [b"", b""], self.table.entropy()
                )
            assert caught.value.seat == seat
            assert self.table.deck.digest() == before

    @precondition(lambda self: not self.dropped)
    @rule(seat=st.integers(0, SEATS - 1))
    def drop(self, seat: int) -> None:
        self.table.drop(seat)
        self.dropped.add(seat)

    @precondition(lambda self: len(self.given) < 15)
    @rule(data=st.data())
    def shuffle_open_cards_again(self, data: st.DataObject) -> None:
        known = {face for slot in range(len(self.given)) if (face := self.table.deck.face(slot)) is not None}
        if known:
            self.shuffle_pack(tuple(data.draw(st.permutations(sorted(known)))))

    # --- what must always hold ---------------------------------------------------------------------------

    @invariant()
    def everybody_sees_exactly_what_the_model_says(self) -> None:
        deck = self.table.deck
        assert deck.slot_count == len(self.given)
        private = {seat: self.table.secrets[seat].faces() for seat in self.live()}
        for slot in range(len(self.given)):
            missing = self.missing(slot)
            assert set(deck.missing(slot)) == missing
            face = deck.face(slot)
            assert (face is not None) == (not missing)
            for seat in self.live():
                assert (slot in private[seat]) == (missing == {seat})
                face = private[seat].get(slot, face)
            if face is not None:
                assert self.seen.setdefault(slot, face) == face

    @invariant()
    def no_card_is_in_two_slots_of_one_pack(self) -> None:
        start = 0
        while start < len(self.packs):
            pack = self.packs[start]
            faces = [self.seen[slot] for slot in range(start, start + len(pack)) if slot in self.seen]
            assert len(faces) == len(set(faces))
            assert set(faces) <= set(pack)
            start += len(pack)


DeckMachine.TestCase.settings = settings(
    max_examples=12, stateful_step_count=12, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
test_deck_machine = DeckMachine.TestCase
