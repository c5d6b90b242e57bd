"""Identities: published vectors, strictness, and words."""

from __future__ import annotations

import ast
import hashlib
import pickle
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from protocol import identity
from protocol.errors import LocalProtocolError, VerificationError
from protocol.identity import Identity, fingerprint, frame, tagged_hash, verify, words
from protocol.wordlist import WORDS

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)


def add(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    """The affine addition law of edwards25519 (RFC 8032, 5.1.4), to find small orders independently."""
    (x1, y1), (x2, y2) = a, b
    t = D * x1 * x2 * y1 * y2 % P
    return (
        (x1 * y2 + x2 * y1) * pow(1 + t, -1, P) % P,
        (y1 * y2 + x1 * x2) * pow(1 - t, -1, P) % P,
    )


def encode(point: tuple[int, int]) -> bytes:
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def x_of(y: int) -> int | None:
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    for root in (x, x * ROOT_OF_MINUS_ONE % P):
        if root * root % P == square:
            return root
    return None


def torsion() -> list[tuple[int, int]]:
    """The eight points whose order divides 8: the multiples of (group order) times a point outside the big subgroup."""
    for y in range(2, 200):
        x = x_of(y)
        if x is None:
            continue
        point, result, scalar = (x, y), (0, 1), ORDER
        while scalar:
            if scalar & 1:
                result = add(result, point)
            point, scalar = add(point, point), scalar >> 1
        multiples = [(0, 1)]
        while (following := add(multiples[-1], result)) != (0, 1):
            multiples.append(following)
        if len(multiples) == 8:
            return multiples
    raise AssertionError("no point of order 8 found")


def test_rfc_8032_test_1_gives_the_public_key() -> None:
    seed = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    expected = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    assert Identity(seed).public_key.hex() == expected


def test_a_signature_holds_for_its_key_tag_and_message_only() -> None:
    one, two = Identity(b"1" * 32), Identity(b"2" * 32)
    signature = one.sign("entry", b"hello")
    verify(one.public_key, "entry", b"hello", signature)
    for key, tag, message in (
        (two.public_key, "entry", b"hello"),
        (one.public_key, "vote", b"hello"),
        (one.public_key, "entry", b"hello "),
    ):
        with pytest.raises(VerificationError) as caught:
            verify(key, tag, message, signature, seat=3)
        assert caught.value.reason == "bad_signature"
        assert caught.value.seat == 3


def test_a_signature_that_held_before_holds_for_nothing_else() -> None:
    mine, other = Identity(bytes(32)), Identity(bytes([1] * 32))
    signature = mine.sign("entry", b"message")
    for _ in range(2):
        verify(mine.public_key, "entry", b"message", signature)
    changed = bytes([signature[0] ^ 1]) + signature[1:]
    for key, tag, message, signed in (
        (other.public_key, "entry", b"message", signature),
        (mine.public_key, "entries", b"message", signature),
        (mine.public_key, "entry", b"message.", signature),
        (mine.public_key, "entry", b"message", changed),
    ):
        for _ in range(2):  # what did not hold is not remembered as if it had
            with pytest.raises(VerificationError):
                verify(key, tag, message, signed)


def test_the_memory_of_signatures_that_held_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "_held", set())
    monkeypatch.setattr(identity, "_MOST_HELD", 3)
    mine = Identity(bytes(32))
    for number in range(10):
        verify(mine.public_key, "entry", bytes([number]), mine.sign("entry", bytes([number])))
        assert len(identity._held) <= 3


def test_what_is_signed_is_the_frame() -> None:
    expected = Ed25519PrivateKey.from_private_bytes(b"1" * 32).sign(
        b"p2p-rummy/\x05entry\x00\x00\x00\x00\x00\x00\x00\x02hi"
    )
    assert Identity(b"1" * 32).sign("entry", b"hi") == expected


def test_n8_signature_with_s_at_or_above_the_order_is_refused() -> None:
    one = Identity(b"1" * 32)
    signature = one.sign("entry", b"hello")
    s = int.from_bytes(signature[32:], "little")
    for malleable in (s + ORDER, ORDER, 2**256 - 1):
        forged = signature[:32] + malleable.to_bytes(32, "little")
        with pytest.raises(VerificationError, match="at or above the group order"):
            verify(one.public_key, "entry", b"hello", forged)


@pytest.mark.parametrize("length", [0, 63, 65])
def test_a_signature_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(VerificationError, match="64 bytes"):
        verify(Identity(b"1" * 32).public_key, "entry", b"hello", bytes(length))


def test_n8_every_key_of_small_order_is_refused() -> None:
    points = torsion()
    assert len({encode(point) for point in points}) == 8
    for point in points:
        key = encode(point)
        # With x = 0 the sign bit makes a second, non-canonical encoding of the same point.
        for variant in (key, key[:31] + bytes([key[31] ^ 0x80])):
            with pytest.raises(VerificationError, match="small order") as caught:
                identity.check_public_key(variant, seat=1)
            assert caught.value.reason == "bad_identity"
            assert caught.value.seat == 1


@pytest.mark.parametrize("y", range(19))
def test_n8_every_non_canonical_key_is_refused(y: int) -> None:
    for sign in (0, 1 << 255):
        with pytest.raises(VerificationError, match="not canonical"):
            identity.check_public_key((P + y | sign).to_bytes(32, "little"))


def test_n8_a_key_off_the_curve_is_refused() -> None:
    refused = 0
    for y in range(2, 40):
        if x_of(y) is None:
            with pytest.raises(VerificationError, match="not a point"):
                identity.check_public_key(y.to_bytes(32, "little"))
            refused += 1
        else:
            identity.check_public_key(y.to_bytes(32, "little"))
    assert 5 < refused < 33


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_key_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(VerificationError, match="32"):
        identity.check_public_key(bytes(length))


def test_frames_of_different_lists_differ() -> None:
    frames = {
        frame("a"),
        frame("a", b""),
        frame("a", b"", b""),
        frame("a", b"bc"),
        frame("a", b"b", b"c"),
        frame("ab", b"c"),
        frame("b", b"bc"),
    }
    assert len(frames) == 7
    assert tagged_hash("a", b"bc") == hashlib.sha256(frame("a", b"bc")).digest()


def test_derived_secrets_differ_by_identity_tag_and_context() -> None:
    one, two = Identity(b"1" * 32), Identity(b"2" * 32)
    derived = {
        one.derive("hand", b"1"),
        one.derive("hand", b"2"),
        one.derive("hand", b"1", b"2"),
        one.derive("home", b"1"),
        two.derive("hand", b"1"),
    }
    assert len(derived) == 5
    assert one.derive("hand", b"1") == Identity(b"1" * 32).derive("hand", b"1")


def test_n38_an_identity_shows_no_secret() -> None:
    seed = bytes(range(32))
    one = Identity(seed)
    assert repr(one) == f"Identity({fingerprint(one.public_key)})"
    assert seed.hex() not in repr(one)
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(one)


def test_a_seed_of_another_length_is_refused() -> None:
    with pytest.raises(LocalProtocolError, match="32 bytes"):
        Identity(b"short")


def test_fingerprints_are_twenty_digits_in_groups() -> None:
    text = fingerprint(Identity(b"1" * 32).public_key)
    groups = text.split("-")
    assert [len(group) for group in groups] == [4] * 5
    assert all(digit in "0123456789abcdef" for group in groups for digit in group)
    assert text != fingerprint(Identity(b"2" * 32).public_key)


def test_words_are_distinct_short_and_follow_the_hash() -> None:
    assert len(WORDS) == len(set(WORDS)) == 256
    assert all(word.isascii() and word.isalpha() and word.islower() and 4 <= len(word) <= 8 for word in WORDS)
    digest = tagged_hash("words", b"table")
    assert words(b"table") == " ".join(WORDS[byte] for byte in digest[:4])
    assert words(b"table", 6).startswith(words(b"table"))
    with pytest.raises(LocalProtocolError):
        words(b"table", 0)


def test_only_the_simulation_takes_a_signature_on_trust() -> None:
    """A real peer verifies what it hears; ``hold`` is for many peers in one process."""
    root = Path(identity.__file__).parent
    for package in (root, root.parent / "p2p_rummy"):
        for path in package.rglob("*.py"):
            if path.parent == root / "simulation" or path == Path(identity.__file__):
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and node.module == "protocol.identity":
                    assert not {"hold", "_hold", "_held"} & {name.name for name in node.names}, path
                if isinstance(node, ast.Attribute) and node.attr in ("hold", "_hold", "_held"):
                    assert not (isinstance(node.value, ast.Name) and node.value.id == "identity"), path


def test_a_signature_on_trust_is_that_one_and_no_other() -> None:
    one = Identity(b"7" * 32)
    signature = bytes(64)  # it holds for nothing
    identity.hold(one.public_key, "test", b"trusted", signature)
    verify(one.public_key, "test", b"trusted", signature)
    for tag, message in (("test", b"trusted?"), ("tset", b"trusted")):
        with pytest.raises(VerificationError):
            verify(one.public_key, tag, message, signature)
    identity._held.clear()
