"""The verifiable shuffle: honest proofs hold, cost what they should, and take one form on the wire."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol import canonical, shuffle
from protocol.errors import EncodingError, LocalProtocolError
from protocol.group import (
    GENERATOR,
    Point,
    add,
    count_operations,
    negate,
    point_from_label,
    secret_combination,
)
from protocol.proofs import Context, SecretStream, Transcript
from protocol.shuffle import Ciphertext, ShuffleProof, card_point, open_deck

SECRET = 0xA5 << 200
KEY = secret_combination(SECRET)
CONTEXT = Context(bytes(32), 1, 0, 4)
ENTROPY = hashlib.sha256(b"verifier").digest()


def transcript() -> Transcript:
    return Transcript(CONTEXT, "shuffle", 1, 2)


def stream(number: int = 0) -> SecretStream:
    return SecretStream(b"stream", b"%d" % number)


def decrypt(pair: Ciphertext) -> Point | None:
    return add(pair.b, negate(secret_combination(None, [(pair.a, SECRET)])))


@pytest.mark.parametrize("cards", [1, 2, 3, 54])
def test_a_shuffle_holds_and_its_cards_are_the_same_in_the_order_of_the_stream(cards: int) -> None:
    deck = open_deck(range(cards), KEY)
    outputs, proof = shuffle.shuffle(transcript(), KEY, deck, stream())
    shuffle.verify(transcript(), KEY, deck, outputs, proof, ENTROPY)
    order = stream().permutation("pi", cards)
    assert [decrypt(pair) for pair in outputs] == [card_point(card) for card in order]


def test_shuffles_follow_one_another() -> None:
    deck = open_deck([5, 200, 7], KEY)
    for number in range(3):
        outputs, proof = shuffle.shuffle(transcript(), KEY, deck, stream(number))
        shuffle.verify(transcript(), KEY, deck, outputs, proof, ENTROPY)
        assert not {pair.a for pair in outputs} & {pair.a for pair in deck}
        deck = outputs
    assert {decrypt(pair) for pair in deck} == {card_point(card) for card in (5, 200, 7)}


def test_the_open_deck_is_readable_by_all_and_the_same_for_all() -> None:
    deck = open_deck([3, 1], KEY)
    assert [pair.a for pair in deck] == [GENERATOR, GENERATOR]
    assert [pair.b for pair in deck] == [add(card_point(3), KEY), add(card_point(1), KEY)]


@pytest.mark.parametrize("cards", [[], [1, 1], [256], [-1], list(range(257))])
def test_n16_a_deck_without_cards_or_with_impossible_ones_is_refused(cards: list[int]) -> None:
    with pytest.raises(LocalProtocolError):
        open_deck(cards, KEY)


def test_n20_the_generators_are_hashed_from_labels() -> None:
    """Derived anew, through the map that test_group holds to RFC 9380; no two of all public points are equal."""
    h, hs = shuffle.generators(108)
    assert h == point_from_label("generator", 0)
    assert hs == tuple(point_from_label("generator", index) for index in range(1, 109))
    cards = [card_point(card) for card in range(108)]
    assert len({GENERATOR, h, *hs, *cards}) == 1 + 1 + 108 + 108


# --- what it costs ---------------------------------------------------------------------------------------


def test_a_verification_is_one_sum_of_8n_plus_8_products() -> None:
    deck, _ = shuffle.shuffle(transcript(), KEY, open_deck(range(54), KEY), stream())
    outputs, proof = shuffle.shuffle(transcript(), KEY, deck, stream(1))
    with count_operations() as operations:
        shuffle.verify(transcript(), KEY, deck, outputs, proof, ENTROPY)
    assert operations.public_products == 8 * 54 + 8
    assert operations.base_products == operations.secret_products == 0


def test_a_shuffle_with_its_proof_takes_4n_base_and_6n_secret_products() -> None:
    deck = open_deck(range(54), KEY)
    with count_operations() as operations:
        shuffle.shuffle(transcript(), KEY, deck, stream())
    assert operations.base_products == 4 * 54 + 4  # r, s, y, q; t1, t2, t3, t4a
    assert operations.secret_products == 6 * 54 + 1  # r X; the chain; three sums of nonces; T; and w4 X
    assert operations.public_products == 0


def test_a_proof_for_54_cards_takes_9095_bytes_beside_a_deck_of_3564() -> None:
    outputs, proof = shuffle.shuffle(transcript(), KEY, open_deck(range(54), KEY), stream())
    value = proof.to_value()
    assert (
        sum(len(part) for part in value if isinstance(part, bytes)) == (3 * 54 + 5) * 33 + (2 * 54 + 4) * 32
    )
    assert len(shuffle.encode_deck(outputs)) == 54 * 66


# --- the wire --------------------------------------------------------------------------------------------


def test_a_proof_and_a_deck_round_trip() -> None:
    outputs, proof = shuffle.shuffle(transcript(), KEY, open_deck(range(3), KEY), stream())
    value = canonical.decode(canonical.encode(proof.to_value()))
    assert ShuffleProof.from_value(value, 3, field="proof") == proof
    assert shuffle.decode_deck(shuffle.encode_deck(outputs), 3, field="deck") == outputs


values = st.recursive(
    st.integers(0, 300) | st.booleans() | st.binary(max_size=70) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=8),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(values, st.integers(0, 3))
def test_any_other_value_is_refused_cleanly(value: object, count: int) -> None:
    with pytest.raises(EncodingError):
        ShuffleProof.from_value(value, count, field="proof")


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=140), st.integers(0, 2))
def test_random_bytes_are_no_deck_or_are_their_own_encoding(data: bytes, count: int) -> None:
    try:
        deck = shuffle.decode_deck(data, count, field="deck")
    except EncodingError:
        return
    assert shuffle.encode_deck(deck) == data
