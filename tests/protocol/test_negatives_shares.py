"""Shares and openings that must be refused: N16 and N23 to N26 of the negative list."""

from __future__ import annotations

from dataclasses import replace

import pytest

from protocol import canonical
from protocol.canonical import Value
from protocol.deck import OPENING, SHARES
from protocol.errors import LocalProtocolError, VerificationError
from protocol.group import Point, add, encode_points, negate, point_from_label, secret_combination
from protocol.hand_secret import HandSecret
from protocol.proofs import SecretStream, Transcript, prove_equality
from protocol.testing import DeckTable

CHEAT = 1
STREAM = SecretStream(b"cheat")


@pytest.fixture
def table() -> DeckTable:
    """Three seats, five slots, nothing dealt yet."""
    table = DeckTable(3, seed=b"share negatives")
    table.agree()
    table.shuffle(range(5))
    return table


def secret_of(table: DeckTable, seat: int = CHEAT) -> int:
    return table.secrets[seat]._card_secret()


def shares_with(
    table: DeckTable, slots: list[int], points: list[Point], secret: int, *, purpose: str = SHARES
) -> list[Value]:
    """A body with these points, and the best proof that ``secret`` gives."""
    transcript = Transcript(table.context(), purpose, CHEAT)
    transcript.absorb("slots", canonical.encode(list(slots)))
    bases = [table.deck.ciphertext(slot).a for slot in slots]
    public = secret_combination(secret_of(table))
    return [encode_points(points), prove_equality(transcript, secret, public, bases, points, STREAM)]


def true_shares(table: DeckTable, slots: list[int], seat: int = CHEAT) -> list[Point]:
    secret = secret_of(table, seat)
    return [secret_combination(None, [(table.deck.ciphertext(slot).a, secret)]) for slot in slots]


def refuse(table: DeckTable, slots: list[int], body: object, reason: str, *, seat: int = CHEAT) -> None:
    before = table.deck.digest()
    with pytest.raises(VerificationError) as caught:
        table.deck.check_shares(table.context(), seat, slots, body, table.entropy())
    assert (caught.value.reason, caught.value.seat, caught.value.step) == (reason, seat, table.step)
    assert table.deck.digest() == before


def refuse_opening(table: DeckTable, slots: list[int], body: object, reason: str) -> None:
    before = table.deck.digest()
    with pytest.raises(VerificationError) as caught:
        table.deck.check_opening(table.context(), CHEAT, slots, body, table.entropy())
    assert (caught.value.reason, caught.value.seat, caught.value.step) == (reason, CHEAT, table.step)
    assert table.deck.digest() == before


# --- shares ----------------------------------------------------------------------------------------------


def test_n24_batch_with_errors_that_cancel_is_refused(table: DeckTable) -> None:
    first, second = true_shares(table, [0, 1])
    error = point_from_label("error", 0)
    wrong = [add(first, error), add(second, negate(error))]
    assert None not in wrong
    points = [point for point in wrong if point is not None]
    refuse(table, [0, 1], shares_with(table, [0, 1], points, secret_of(table)), "bad_equality_proof")


def test_n25_share_made_with_another_key_is_refused(table: DeckTable) -> None:
    other = secret_of(table) + 1
    points = [secret_combination(None, [(table.deck.ciphertext(slot).a, other)]) for slot in (0, 1)]
    refuse(table, [0, 1], shares_with(table, [0, 1], points, other), "bad_equality_proof")
    refuse(table, [0, 1], shares_with(table, [0, 1], points, secret_of(table)), "bad_equality_proof")


def test_n25_share_for_another_slot_is_refused(table: DeckTable) -> None:
    body = table.secrets[CHEAT].shares(table.context(), [0, 1], table.entropy())
    for slots in ([1, 0], [0, 2], [2, 3]):
        refuse(table, slots, body, "bad_equality_proof")
    refuse(table, [0], body, "bad_encoding")
    refuse(table, [0, 1, 2], body, "bad_encoding")
    table.deck.check_shares(table.context(), CHEAT, [0, 1], body, table.entropy())


def test_n25_share_for_another_hand_is_refused(table: DeckTable) -> None:
    other = DeckTable(3, seed=b"share negatives", hand=2)
    other.step = 0
    other.agree()
    other.shuffle(range(5))
    body = other.secrets[CHEAT].shares(other.context(), [0, 1], other.entropy())
    refuse(table, [0, 1], body, "bad_equality_proof")
    # The right shares with a proof for another place.
    for context in (
        replace(table.context(), table=bytes(32)),
        replace(table.context(), hand=2),
        replace(table.context(), epoch=1),
        replace(table.context(), step=0),
    ):
        body = table.secrets[CHEAT].shares(context, [0, 1], table.entropy())
        refuse(table, [0, 1], body, "bad_equality_proof")


def test_n25_share_sent_by_another_seat_is_refused(table: DeckTable) -> None:
    body = table.secrets[0].shares(table.context(), [0, 1], table.entropy())
    refuse(table, [0, 1], body, "bad_equality_proof")


@pytest.mark.parametrize("slots", [[], [5], [-1], [0, 0]])
def test_n25_share_that_nobody_owes_is_not_asked_for(table: DeckTable, slots: list[int]) -> None:
    before = table.deck.digest()
    with pytest.raises(LocalProtocolError):
        table.deck.check_shares(table.context(), CHEAT, slots, [b"", b""], table.entropy())
    with pytest.raises(LocalProtocolError):
        table.secrets[CHEAT].shares(table.context(), slots, table.entropy())
    with pytest.raises(LocalProtocolError):
        table.deck.check_shares(table.context(), 7, [0], [b"", b""], table.entropy())
    assert table.deck.digest() == before


def test_n25b_share_taken_twice_counts_once(table: DeckTable) -> None:
    table.deal({0: 0})
    body = table.secrets[CHEAT].shares(table.context(), [1], table.entropy())
    table.deck.close_shares(CHEAT, [1], body)
    before, faces = table.deck.digest(), table.secrets[0].faces()
    table.deck.check_shares(table.context(), CHEAT, [1], body, table.entropy())
    table.deck.close_shares(CHEAT, [1], body)
    assert table.deck.digest() == before
    assert table.secrets[0].faces() == faces
    # Had it been added twice, slot 1 would decrypt to no card.
    for seat in (0, 2):
        table.deck.close_shares(seat, [1], table.secrets[seat].shares(table.context(), [1], table.entropy()))
    assert table.deck.face(1) in range(5)


def test_n25b_proof_of_possession_sent_as_share_proof_is_refused(table: DeckTable) -> None:
    points = encode_points(true_shares(table, [0]))
    possession = table.deck.keys._reveals[CHEAT].possession
    refuse(table, [0], [points, possession], "bad_encoding")
    refuse(table, [0], [points, possession[:33] + possession], "bad_equality_proof")


def test_n16_empty_batch_is_refused(table: DeckTable) -> None:
    refuse(table, [0], [b"", b""], "bad_encoding")
    refuse(table, [0], [b"", bytes(98)], "bad_encoding")
    refuse_opening(table, [], [b"", bytes(98)], "bad_opening")


def test_n15_batch_with_a_share_too_few_or_too_many_is_refused(table: DeckTable) -> None:
    points = true_shares(table, [0, 1])
    body = shares_with(table, [0, 1], points, secret_of(table))
    for changed in (encode_points(points[:1]), encode_points([*points, points[0]]), b""):
        refuse(table, [0, 1], [changed, body[1]], "bad_encoding")


def test_n23_each_single_byte_of_a_share_matters(table: DeckTable) -> None:
    points, proof = table.secrets[CHEAT].shares(table.context(), [0], table.entropy())
    assert isinstance(points, bytes)
    assert isinstance(proof, bytes)
    whole = points + proof
    for at in range(len(whole)):
        changed = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
        with pytest.raises(VerificationError):
            table.deck.check_shares(
                table.context(), CHEAT, [0], [changed[:33], changed[33:]], table.entropy()
            )
    assert len(whole) == 33 + 98


# --- openings --------------------------------------------------------------------------------------------


def test_n26_opening_of_a_card_that_the_seat_does_not_hold_is_refused(table: DeckTable) -> None:
    table.deal({0: CHEAT, 1: 0})
    for slot in (1, 2):  # another's card; a card still in the stock
        points = true_shares(table, [slot])
        body = shares_with(table, [slot], points, secret_of(table), purpose=OPENING)
        refuse_opening(table, [slot], body, "not_held")
        with pytest.raises(LocalProtocolError, match="not held"):
            table.secrets[CHEAT].opening(table.context(), [slot], table.entropy())
    points = true_shares(table, [0, 1])
    refuse_opening(
        table, [0, 1], shares_with(table, [0, 1], points, secret_of(table), purpose=OPENING), "not_held"
    )


def test_n26_card_opened_twice_is_refused(table: DeckTable) -> None:
    table.deal({0: CHEAT})
    body = table.secrets[CHEAT].opening(table.context(), [0], table.entropy())
    table.deck.check_opening(table.context(), CHEAT, [0], body, table.entropy())
    table.deck.close_opening(CHEAT, [0], body)
    refuse_opening(table, [0], body, "already_open")


@pytest.mark.parametrize("slots", [[7], [-1], [0, 0]])
def test_n26_opening_of_slots_that_do_not_exist_or_repeat_is_refused(
    table: DeckTable, slots: list[int]
) -> None:
    table.deal({0: CHEAT})
    refuse_opening(table, slots, [b"", b""], "bad_opening")


def test_n26_opening_cannot_claim_another_face(table: DeckTable) -> None:
    """The face follows from the share; a share that would show another card has no proof."""
    table.deal({0: CHEAT, 1: CHEAT})
    faces = table.secrets[CHEAT].faces()
    (share,) = true_shares(table, [0])
    mine, wished = (point_from_label("card", faces[slot]) for slot in (0, 1))
    # b - (share + mine - wished) - the others' = wished
    forged = add(share, mine, negate(wished))
    assert forged is not None
    assert table.deck.decrypt(0, {CHEAT: forged}) == faces[1]
    body = shares_with(table, [0], [forged], secret_of(table), purpose=OPENING)
    refuse_opening(table, [0], body, "bad_equality_proof")
    # Nor does the other slot's opening serve.
    other = shares_with(table, [1], true_shares(table, [1]), secret_of(table), purpose=OPENING)
    refuse_opening(table, [0], other, "bad_equality_proof")


def test_n26_share_proof_is_no_opening_and_an_opening_no_share(table: DeckTable) -> None:
    table.deal({0: CHEAT})
    points = true_shares(table, [0])
    refuse_opening(table, [0], shares_with(table, [0], points, secret_of(table)), "bad_equality_proof")
    refuse(
        table, [0], shares_with(table, [0], points, secret_of(table), purpose=OPENING), "bad_equality_proof"
    )


def test_n26_card_that_decrypts_to_no_known_card_is_refused_and_nothing_changes(table: DeckTable) -> None:
    """Only an unsound shuffle could make one, so a share is forged past its check."""
    table.deal({0: CHEAT})
    (share,) = true_shares(table, [0])
    forged = add(share, point_from_label("error", 0))
    assert forged is not None
    before = table.deck.digest()
    with pytest.raises(VerificationError) as caught:
        table.deck.close_opening(CHEAT, [0], [forged.encoded, bytes(98)])
    assert (caught.value.reason, caught.value.seat) == ("unknown_card", None)
    assert table.deck.digest() == before
    assert table.deck.face(0) is None


def test_a_share_is_never_made_twice(table: DeckTable) -> None:
    table.deal({0: 0})
    with pytest.raises(LocalProtocolError, match="journal"):
        table.secrets[CHEAT].shares(table.context(), [0], table.entropy())


def test_a_secret_of_another_seat_or_table_makes_no_shares(table: DeckTable) -> None:
    with pytest.raises(LocalProtocolError, match="not in this hand"):
        HandSecret(table.entropy(), table.entropy(), table.deck, 9)
