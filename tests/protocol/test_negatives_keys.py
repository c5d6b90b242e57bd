"""Keys that must be refused: N1 to N7 of the negative list (N8 is in test_identity), and garbage bodies."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.canonical import Value
from protocol.deck import Deck, DeckState
from protocol.errors import VerificationError
from protocol.group import Point, add, negate, secret_combination
from protocol.keyshare import KEY_SHARE, commitment_digest
from protocol.proofs import Context, SecretStream, Transcript, prove_possession
from protocol.testing import DeckTable

STREAM = SecretStream(b"cheat")
NONCE = b"n" * 32
CHEAT = 1


def table() -> DeckTable:
    return DeckTable(3, seed=b"key negatives")


def commit_to(cheating: DeckTable, share: Point, seat: int = CHEAT, nonce: bytes = NONCE) -> list[Value]:
    return [commitment_digest(cheating.table, cheating.hand, seat, nonce, share, ())]


def revealing(*, cheat: list[Value] | None = None) -> DeckTable:
    """A table whose commitments are in; ``cheat`` replaces that of the cheating seat."""
    begun = table()
    bodies = begun.commits()
    if cheat is not None:
        bodies[CHEAT] = cheat
    for seat, body in bodies.items():
        begun.deck.check_commit(begun.context(), seat, body)
    begun.deck.close_commits(bodies)
    begun.step += 1
    return begun


def refuse(begun: DeckTable, body: object, reason: str, seat: int = CHEAT) -> None:
    """The seat is named and nothing has changed."""
    before = begun.deck.digest()
    check = begun.deck.check_commit if begun.deck.state is DeckState.COMMITTING else begun.deck.check_reveal
    with pytest.raises(VerificationError) as caught:
        check(begun.context(), seat, body)
    assert (caught.value.reason, caught.value.seat) == (reason, seat)
    assert caught.value.step == begun.step
    assert begun.deck.digest() == before


def possession(context: Context, secret: int, seat: int = CHEAT) -> bytes:
    return prove_possession(Transcript(context, KEY_SHARE, seat), secret, secret_combination(secret), STREAM)


def test_n1_key_share_without_proof_of_possession_is_refused() -> None:
    share = secret_combination(99)
    begun = revealing(cheat=commit_to(table(), share))
    refuse(begun, [NONCE, share.encoded, bytes(65)], "bad_encoding")
    refuse(begun, [NONCE, share.encoded, b""], "bad_encoding")
    refuse(begun, [NONCE, share.encoded], "bad_encoding")
    # A well-formed proof made with another secret.
    proof = prove_possession(Transcript(begun.context(), KEY_SHARE, CHEAT), 98, share, STREAM)
    refuse(begun, [NONCE, share.encoded, proof], "bad_possession_proof")


def test_n2_rogue_key_with_copied_or_forged_proof_is_refused() -> None:
    """The cheat is even allowed to know the others' shares before it commits, which the protocol prevents."""
    peek = table()
    peek.deck.close_commits(peek.commits())
    peek.step += 1
    others = {seat: peek.secrets[seat].reveal(peek.context(), peek.entropy()) for seat in (0, 2)}
    shares = [Point.decode(body[1]) for body in others.values()]  # type: ignore[arg-type]
    chosen = 7  # the joint key would be 7 G
    rogue = add(secret_combination(chosen), *(negate(share) for share in shares))
    assert rogue is not None
    begun = revealing(cheat=commit_to(table(), rogue))
    assert add(rogue, *shares) == secret_combination(chosen)
    for copied in others.values():
        refuse(begun, [NONCE, rogue.encoded, copied[2]], "bad_possession_proof")
    forged = prove_possession(Transcript(begun.context(), KEY_SHARE, CHEAT), chosen, rogue, STREAM)
    refuse(begun, [NONCE, rogue.encoded, forged], "bad_possession_proof")


def test_n3_proof_of_possession_replayed_elsewhere_is_refused() -> None:
    secret, share = 99, secret_combination(99)
    begun = revealing(cheat=commit_to(table(), share))
    here = begun.context()
    begun.deck.check_reveal(here, CHEAT, [NONCE, share.encoded, possession(here, secret)])
    elsewhere = {
        "table": possession(replace(here, table=bytes(32)), secret),
        "hand": possession(replace(here, hand=2), secret),
        "epoch": possession(replace(here, epoch=1), secret),
        "step": possession(replace(here, step=0), secret),
        "seat": possession(here, secret, seat=2),
        "purpose": prove_possession(Transcript(here, "another", CHEAT), secret, share, STREAM),
    }
    for proof in elsewhere.values():
        refuse(begun, [NONCE, share.encoded, proof], "bad_possession_proof")


def test_n4_two_seats_with_one_key_share_are_refused_and_the_later_is_named() -> None:
    """Both know the secret and prove it: they work together."""
    secret, share = 99, secret_combination(99)
    begun = table()
    bodies = begun.commits() | {seat: commit_to(begun, share, seat) for seat in (1, 2)}
    begun.deck.close_commits(bodies)
    begun.step += 1
    reveals: dict[int, list[Value]] = {
        0: begun.secrets[0].reveal(begun.context(), begun.entropy()),
        **{seat: [NONCE, share.encoded, possession(begun.context(), secret, seat)] for seat in (1, 2)},
    }
    for seat, body in reveals.items():
        begun.deck.check_reveal(begun.context(), seat, body)
    before = begun.deck.digest()
    with pytest.raises(VerificationError) as caught:
        begun.deck.close_reveals(reveals)
    assert (caught.value.reason, caught.value.seat) == ("repeated_key", 2)
    assert begun.deck.digest() == before
    assert begun.deck.state is DeckState.REVEALING


def test_n4_share_copied_from_a_reveal_does_not_open_the_commitment_made_before() -> None:
    begun = revealing()
    seen = begun.secrets[0].reveal(begun.context(), begun.entropy())
    mine = begun.secrets[CHEAT].reveal(begun.context(), begun.entropy())
    refuse(begun, [mine[0], seen[1], seen[2]], "bad_reveal")


def test_n5_key_share_that_is_the_identity_is_refused() -> None:
    begun = revealing()
    mine = begun.secrets[CHEAT].reveal(begun.context(), begun.entropy())
    for identity in (bytes(33), b"\x00", b"\x02" + bytes(32)):
        refuse(begun, [mine[0], identity, mine[2]], "bad_encoding")


def test_n5_joint_key_that_is_the_identity_is_refused() -> None:
    """Every seat takes part: shares 5, 7 and -12."""
    begun = table()
    secrets = {0: 5, 1: 7, 2: -12}
    bodies = {seat: commit_to(begun, secret_combination(x), seat) for seat, x in secrets.items()}
    begun.deck.close_commits(bodies)
    reveals: dict[int, list[Value]] = {
        seat: [NONCE, secret_combination(x).encoded, possession(begun.context(), x, seat)]
        for seat, x in secrets.items()
    }
    for seat, body in reveals.items():
        begun.deck.check_reveal(begun.context(), seat, body)
    with pytest.raises(VerificationError) as caught:
        begun.deck.close_reveals(reveals)
    assert caught.value.reason == "bad_key"
    assert begun.deck.state is DeckState.REVEALING


def test_n5_own_reveal_echoed_by_another_seat_is_refused() -> None:
    """The cheat copied the victim's commitment and now echoes its whole reveal."""
    honest = table()
    begun = revealing(cheat=honest.commits()[0])
    victim = begun.secrets[0].reveal(begun.context(), begun.entropy())
    begun.deck.check_reveal(begun.context(), 0, victim)
    refuse(begun, victim, "bad_reveal")


@pytest.mark.parametrize("part", [0, 1])
def test_n6_reveal_that_does_not_match_its_commitment_is_refused(part: int) -> None:
    share = secret_combination(99)
    begun = revealing(cheat=commit_to(table(), share))
    body: list[Value] = [NONCE, share.encoded, possession(begun.context(), 99)]
    body[part] = [b"m" * 32, secret_combination(98).encoded][part]
    refuse(begun, body, "bad_reveal")


def test_n6_commitment_copied_from_another_seat_opens_for_nobody_else() -> None:
    share = secret_combination(99)
    begun = revealing(cheat=commit_to(table(), share, seat=0))
    refuse(begun, [NONCE, share.encoded, possession(begun.context(), 99)], "bad_reveal")


def test_n6_commitment_of_another_table_or_hand_does_not_open_here() -> None:
    share = secret_combination(99)
    for other in (DeckTable(3, seed=b"elsewhere"), DeckTable(3, seed=b"key negatives", hand=2)):
        begun = revealing(cheat=commit_to(other, share))
        refuse(begun, [NONCE, share.encoded, possession(begun.context(), 99)], "bad_reveal")


def test_n1_sealing_key_without_proof_of_possession_is_refused() -> None:
    begun = DeckTable(4, threshold=3)
    digest, key, proof = begun.commits()[CHEAT]
    before = begun.deck.digest()
    other = begun.commits()[2]
    for body in ([digest, other[1], proof], [digest, other[1], other[2]], [digest, key, other[2]]):
        with pytest.raises(VerificationError) as caught:
            begun.deck.check_commit(begun.context(), CHEAT, body)
        assert (caught.value.reason, caught.value.seat) == ("bad_possession_proof", CHEAT)
    assert begun.deck.digest() == before


values = st.recursive(
    st.integers(0, 300) | st.booleans() | st.binary(max_size=70) | st.text(max_size=5) | st.none(),
    lambda inner: st.lists(inner, max_size=8),
    max_leaves=12,
)

COMMITTING = DeckTable(4, threshold=3, seed=b"garbage")
REVEALING = DeckTable(4, threshold=3, seed=b"garbage")
REVEALING.deck.close_commits(REVEALING.commits())
READY = DeckTable(4, threshold=3, seed=b"garbage")
READY.agree()
READY.shuffle(range(4))


@settings(max_examples=60, deadline=None)
@given(values)
def test_f84_any_body_of_garbage_is_a_fault_of_its_seat(body: object) -> None:
    def refused(deck: Deck, name: str, *args: object) -> None:
        before = deck.digest()
        with pytest.raises(VerificationError) as caught:
            getattr(deck, name)(*args)
        assert caught.value.seat == CHEAT
        assert deck.digest() == before

    entropy, context = READY.entropy(), READY.context()
    refused(COMMITTING.deck, "check_commit", context, CHEAT, body)
    refused(REVEALING.deck, "check_reveal", context, CHEAT, body)
    refused(READY.deck, "check_shares", context, CHEAT, [0, 1], body, entropy)
    refused(READY.deck, "check_complaint", context, CHEAT, body, entropy)
    refused(READY.deck, "check_restore", context, CHEAT, 2, body)
