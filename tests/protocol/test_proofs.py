"""Transcripts, secret streams, and the two small proofs."""

from __future__ import annotations

import hashlib

import pytest

from protocol.errors import LocalProtocolError, VerificationError
from protocol.group import (
    GENERATOR,
    ORDER,
    Point,
    add,
    encode_scalar,
    negate,
    point_from_label,
    secret_combination,
)
from protocol.proofs import (
    Context,
    SecretStream,
    Transcript,
    prove_equality,
    prove_possession,
    verifier_weights,
    verify_equality,
    verify_possession,
)

CONTEXT = Context(bytes(range(32)), 3, 1, 17)
ENTROPY = hashlib.sha256(b"verifier").digest()
SECRET = 0x1234567890ABCDEF << 120
PUBLIC = secret_combination(SECRET)
STREAM = SecretStream(b"key", b"statement")


def transcript(purpose: str = "test", seat: int = 2, position: int = 0, **changes: object) -> Transcript:
    fields = {"table": CONTEXT.table, "hand": CONTEXT.hand, "epoch": CONTEXT.epoch, "step": CONTEXT.step}
    return Transcript(Context(**{**fields, **changes}), purpose, seat, position)  # type: ignore[arg-type]


OTHERS = {
    "purpose": transcript(purpose="other"),
    "seat": transcript(seat=3),
    "position": transcript(position=1),
    "table": transcript(table=bytes(32)),
    "hand": transcript(hand=4),
    "epoch": transcript(epoch=2),
    "step": transcript(step=18),
}


def copy(original: Transcript) -> Transcript:
    again = transcript(seat=original.seat)
    again._hash = original._hash.copy()
    return again


# --- transcripts -----------------------------------------------------------------------------------------


def test_every_part_of_the_context_changes_the_challenge() -> None:
    challenges = {copy(other).scalar("c") for other in OTHERS.values()} | {transcript().scalar("c")}
    assert len(challenges) == len(OTHERS) + 1


def test_a_challenge_depends_on_all_that_came_before() -> None:
    def challenge(*items: tuple[str, bytes], draws: int = 1) -> int:
        one = transcript()
        for name, data in items:
            one.absorb(name, data)
        return [one.scalar("c") for _ in range(draws)][-1]

    challenges = {
        challenge(),
        challenge(draws=2),
        challenge(("a", b"")),
        challenge(("a", b"x")),
        challenge(("ax", b"")),
        challenge(("a", b""), ("a", b"")),
        challenge(("a", b"xy")),
        challenge(("a", b"x"), ("a", b"y")),
    }
    assert len(challenges) == 8


def test_looking_ahead_changes_nothing() -> None:
    one, two = transcript(), transcript()
    assert one.peek("nonce") == one.peek("nonce") != one.peek("weights")
    assert one.scalar("c") == two.scalar("c")


def test_weights_have_128_bits() -> None:
    weights = transcript().weights("u", 200)
    assert len(set(weights)) == 200
    assert 2**120 < max(weights) < 2**128


def test_verifier_weights_follow_the_entropy_and_the_proof() -> None:
    one, two = transcript(), transcript(seat=3)
    weights = verifier_weights(ENTROPY, one, 5)
    assert len(weights) == len(set(weights)) == 5
    assert weights == verifier_weights(ENTROPY, one, 5)
    assert weights != verifier_weights(hashlib.sha256(b"more").digest(), one, 5)
    assert weights != verifier_weights(ENTROPY, two, 5)
    with pytest.raises(LocalProtocolError, match="32 fresh random bytes"):
        verifier_weights(b"", one, 5)


# --- secret streams --------------------------------------------------------------------------------------


def test_streams_differ_by_key_and_by_everything_they_are_bound_to() -> None:
    streams = [
        SecretStream(b"key"),
        SecretStream(b"kex"),
        SecretStream(b"key", b""),
        SecretStream(b"key", b"a", b"b"),
        SecretStream(b"key", b"ab"),
        SecretStream(b"key", b"ab").derive(b"c"),
    ]
    assert len({stream.scalar("w") for stream in streams}) == 6
    assert len(set(streams[0].scalars("w", 50))) == 50
    assert streams[0].scalar("w") != streams[0].scalar("q")


def test_n38_a_stream_shows_no_secret() -> None:
    assert repr(STREAM) == "SecretStream(...)"


@pytest.mark.parametrize("count", [1, 2, 54])
def test_permutations_are_permutations(count: int) -> None:
    assert sorted(STREAM.permutation("pi", count)) == list(range(count))


# --- possession ------------------------------------------------------------------------------------------


def test_a_proof_of_possession_holds_in_its_own_context_only() -> None:
    proof = prove_possession(transcript(), SECRET, PUBLIC, STREAM)
    assert len(proof) == 65
    verify_possession(transcript(), PUBLIC, proof)
    for name, other in OTHERS.items():
        with pytest.raises(VerificationError) as caught:
            verify_possession(copy(other), PUBLIC, proof)
        assert caught.value.reason == "bad_possession_proof", name
        assert caught.value.seat == other.seat


def test_a_proof_of_possession_is_the_schnorr_equation() -> None:
    proof = prove_possession(transcript(), SECRET, PUBLIC, STREAM)
    again = transcript()
    again.absorb("public key", PUBLIC.encoded)
    again.absorb("commitment", proof[:33])
    challenge = again.scalar("c")
    nonce = (int.from_bytes(proof[33:], "big") - challenge * SECRET) % ORDER
    assert secret_combination(nonce).encoded == proof[:33]


def test_n23_each_byte_of_a_proof_of_possession_matters() -> None:
    proof = prove_possession(transcript(), SECRET, PUBLIC, STREAM)
    for at in range(len(proof)):
        for flip in (0x01, 0x80):
            changed = proof[:at] + bytes([proof[at] ^ flip]) + proof[at + 1 :]
            with pytest.raises(VerificationError):
                verify_possession(transcript(), PUBLIC, changed)


@pytest.mark.parametrize("length", [0, 64, 66])
def test_a_proof_of_possession_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(VerificationError, match="65 bytes"):
        verify_possession(transcript(), PUBLIC, bytes(length))


def test_n17_a_response_above_the_order_is_refused() -> None:
    # A proof whose response is small enough that adding the order still fits 32 bytes: choose z, then the key.
    secret = 5
    again = transcript()
    public = secret_combination(secret)
    again.absorb("public key", public.encoded)
    nonce = 7
    again.absorb("commitment", secret_combination(nonce).encoded)
    z = (nonce + again.scalar("c") * secret) % ORDER
    proof = secret_combination(nonce).encoded + encode_scalar(z)
    verify_possession(transcript(), public, proof)
    for value in (ORDER, 2**256 - 1, z + ORDER if z + ORDER < 2**256 else ORDER + 1):
        with pytest.raises(VerificationError, match="at or above the group order"):
            verify_possession(transcript(), public, proof[:33] + value.to_bytes(32, "big"))


# --- equality of logarithms ------------------------------------------------------------------------------

BASES = [point_from_label("base", index) for index in range(4)]
IMAGES = [secret_combination(None, [(base, SECRET)]) for base in BASES]


def equality() -> bytes:
    return prove_equality(transcript(), SECRET, PUBLIC, BASES, IMAGES, STREAM)


def refuse(bases: list[Point], images: list[Point], proof: bytes, public: Point = PUBLIC) -> None:
    with pytest.raises(VerificationError):
        verify_equality(transcript(), public, bases, images, proof, ENTROPY)


def test_a_proof_of_equality_holds_in_its_own_context_only() -> None:
    proof = equality()
    assert len(proof) == 98
    verify_equality(transcript(), PUBLIC, BASES, IMAGES, proof, ENTROPY)
    for name, other in OTHERS.items():
        with pytest.raises(VerificationError) as caught:
            verify_equality(copy(other), PUBLIC, BASES, IMAGES, proof, ENTROPY)
        assert caught.value.reason == "bad_equality_proof", name


def test_a_proof_of_equality_holds_for_its_own_statement_only() -> None:
    proof = equality()
    refuse(BASES[::-1], IMAGES[::-1], proof)
    refuse(BASES[:3], IMAGES[:3], proof)
    refuse([*BASES, BASES[0]], [*IMAGES, IMAGES[0]], proof)
    refuse(BASES, IMAGES, proof, public=secret_combination(SECRET + 1))


@pytest.mark.parametrize("slot", range(4))
def test_one_wrong_image_in_a_batch_is_refused_even_with_a_fresh_proof(slot: int) -> None:
    images = list(IMAGES)
    images[slot] = secret_combination(None, [(BASES[slot], SECRET + 1)])
    refuse(BASES, images, prove_equality(transcript(), SECRET, PUBLIC, BASES, images, STREAM))


def test_n24_errors_that_cancel_in_an_unweighted_batch_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    error = point_from_label("error", 0)
    first, second = add(IMAGES[0], error), add(IMAGES[1], negate(error))
    assert first is not None
    assert second is not None
    images = [first, second, *IMAGES[2:]]
    refuse(BASES, images, prove_equality(transcript(), SECRET, PUBLIC, BASES, images, STREAM))
    # The test bites: with weights that do not depend on the shares, the same attack passes.
    monkeypatch.setattr(Transcript, "weights", lambda self, name, count: [1] * count)
    proof = prove_equality(transcript(), SECRET, PUBLIC, BASES, images, STREAM)
    verify_equality(transcript(), PUBLIC, BASES, images, proof, ENTROPY)


@pytest.mark.parametrize("item", ["bases", "images", "public key", "commitments"])
def test_n13_a_challenge_that_leaves_out_an_item_lets_a_wrong_share_pass(
    monkeypatch: pytest.MonkeyPatch, item: str
) -> None:
    """The attack for each item; with the item hashed, the same forgery is refused."""
    bases, images, public, proof = forge(item)
    refuse(bases, images, proof, public)
    absorb = Transcript.absorb
    monkeypatch.setattr(
        Transcript, "absorb", lambda self, name, data: name == item or absorb(self, name, data)
    )
    bases, images, public, proof = forge(item)
    verify_equality(transcript(), public, bases, images, proof, ENTROPY)
    true_images = [secret_combination(None, [(base, SECRET)]) for base in bases]
    assert images != true_images or public != PUBLIC


def forge(item: str) -> tuple[list[Point], list[Point], Point, bytes]:
    """A false statement and its proof, which holds if the challenge does not depend on ``item``."""
    bases, images, public = list(BASES), list(IMAGES), PUBLIC
    if item in ("bases", "images"):
        # The weights are known before the item is fixed: shift two of its points so that the sum stays.
        proof = equality()
        weights = begun(bases, images)[1]
        shift = point_from_label("error", 1)
        changed = bases if item == "bases" else images
        for slot, factor in ((0, 1), (1, -weights[0] * pow(weights[1], -1, ORDER))):
            changed[slot] = secret_combination(None, [(shift, factor)], [changed[slot]])
    elif item == "public key":
        # The challenge is known before the key: t1 is anything, then z G = t1 + c X' is solved for X'.
        one, _, combined, _ = begun(bases, images)
        nonce = 7
        first, second = GENERATOR, secret_combination(None, [(combined, nonce)])
        challenge = committed(one, first, second)
        response = (nonce + challenge * SECRET) % ORDER
        public = secret_combination((response - 1) * pow(challenge, -1, ORDER))
        proof = first.encoded + second.encoded + encode_scalar(response)
    else:
        # The challenge is known before the commitments: choose the response, then they follow.
        images[0] = point_from_label("error", 2)
        one, _, combined, result = begun(bases, images)
        challenge, response = one.scalar("c"), 99
        first = secret_combination(response, [(public, -challenge)])
        second = secret_combination(None, [(combined, response), (result, -challenge)])
        proof = first.encoded + second.encoded + encode_scalar(response)
    return bases, images, public, proof


def begun(bases: list[Point], images: list[Point]) -> tuple[Transcript, list[int], Point, Point]:
    """The transcript up to the weights, the weights, and both weighted sums."""
    one = transcript()
    one.absorb("public key", PUBLIC.encoded)
    one.absorb("bases", b"".join(base.encoded for base in bases))
    one.absorb("images", b"".join(image.encoded for image in images))
    weights = one.weights("m", len(bases))
    combined, result = (
        secret_combination(None, list(zip(points, weights, strict=True))) for points in (bases, images)
    )
    return one, weights, combined, result


def committed(one: Transcript, first: Point, second: Point) -> int:
    one.absorb("commitments", first.encoded + second.encoded)
    return one.scalar("c")


def test_n23_each_byte_of_a_proof_of_equality_matters() -> None:
    proof = prove_equality(transcript(), SECRET, PUBLIC, BASES[:1], IMAGES[:1], STREAM)
    verify_equality(transcript(), PUBLIC, BASES[:1], IMAGES[:1], proof, ENTROPY)
    for at in range(len(proof)):
        refuse(BASES[:1], IMAGES[:1], proof[:at] + bytes([proof[at] ^ 1]) + proof[at + 1 :])


def test_n25b_a_proof_of_possession_is_no_proof_of_equality() -> None:
    possession = prove_possession(transcript(), SECRET, PUBLIC, STREAM)
    refuse(BASES, IMAGES, possession)
    refuse(BASES, IMAGES, possession[:33] + possession)


def test_n16_an_empty_batch_proves_nothing() -> None:
    with pytest.raises(LocalProtocolError):
        prove_equality(transcript(), SECRET, PUBLIC, [], [], STREAM)
    with pytest.raises(LocalProtocolError):
        verify_equality(transcript(), PUBLIC, [], [], equality(), ENTROPY)


def test_n15_bases_and_images_of_different_length_are_refused() -> None:
    with pytest.raises(LocalProtocolError):
        verify_equality(transcript(), PUBLIC, BASES, IMAGES[:3], equality(), ENTROPY)


def test_n39_one_nonce_never_serves_two_statements_even_if_randomness_repeats() -> None:
    """The stream is the same in all of these; the statements are not, so the commitments are not."""
    statements = [(BASES[:1], IMAGES[:1]), (BASES[:2], IMAGES[:2]), (BASES[1:2], IMAGES[1:2])]
    proofs = [
        prove_equality(one, SECRET, PUBLIC, bases, images, STREAM)
        for bases, images in statements
        for one in (transcript(), transcript(step=18))
    ]
    assert len({proof[:33] for proof in proofs}) == 6
    possessions = [prove_possession(copy(other), SECRET, PUBLIC, STREAM) for other in OTHERS.values()]
    assert len({proof[:33] for proof in possessions}) == len(OTHERS)
