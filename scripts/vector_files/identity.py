"""identity.json: hashes, words, fingerprints, and which keys and signatures hold (N8, F48, F80)."""

from __future__ import annotations

from protocol.identity import fingerprint, frame, tagged_hash, words
from protocol.wordlist import WORDS
from scripts.vector_files.form import Case, File, accepted, fixed, refused, somebody

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
ORDER_8 = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
"""One y of order 8 (the other is its negative); tests/protocol/test_identity.py derives them."""


def make() -> File:
    return {
        "about": "SPEC.md section 3.",
        "word_list": list(WORDS),
        "frames": [
            {
                "comment": comment,
                "tag": tag,
                "items": [item.hex() for item in items],
                "frame": frame(tag, *items).hex(),
                "hash": tagged_hash(tag, *items).hex(),
            }
            for comment, tag, items in (
                ("a tag alone", "genesis", ()),
                ("one item", "words", (b"abc",)),
                ("the same bytes cut otherwise: another frame", "words", (b"ab", b"c")),
                ("an empty item counts", "words", (b"abc", b"")),
            )
        ],
        "words": [
            {"comment": comment, "data": data.hex(), "words": words(data)}
            for comment, data in (("32 zero bytes", bytes(32)), ("a head", fixed("head")))
        ],
        "fingerprints": [
            {
                "comment": f"seat {seat} of the other files",
                "seed": fixed(f"identity/{seat}").hex(),
                "key": somebody(seat).public_key.hex(),
                "fingerprint": fingerprint(somebody(seat).public_key),
            }
            for seat in range(3)
        ],
        "signatures": signatures(),
    }


def signatures() -> list[Case]:
    author = somebody(0)
    key, message = author.public_key, b"seat 0 says so"
    good = author.sign("entry", message)
    s = int.from_bytes(good[32:], "little")

    def case(comment: str, reason: str = "", **changed: bytes | str) -> Case:
        fields = {"key": key, "tag": "entry", "message": message, "signature": good} | changed
        shown = {name: value.hex() if isinstance(value, bytes) else value for name, value in fields.items()}
        return refused(comment, reason, **shown) if reason else accepted(comment, **shown)

    wrong = "bad_signature"
    return [
        case("a good one"),
        case("a good one for another purpose", tag="link auth", signature=author.sign("link auth", message)),
        case("a good one of nothing", message=b"", signature=author.sign("entry", b"")),
        case("the message was changed", wrong, message=b"seat 1 says so"),
        case("made for another purpose", wrong, tag="link auth"),
        case("made by another key", wrong, signature=somebody(1).sign("entry", message)),
        case("a bit of R was changed", wrong, signature=bytes([good[0] ^ 1]) + good[1:]),
        case("a bit of S was changed", wrong, signature=good[:32] + bytes([good[32] ^ 1]) + good[33:]),
        case("F80 S and the group order", wrong, signature=good[:32] + (s + ORDER).to_bytes(32, "little")),
        case("S is the group order", wrong, signature=good[:32] + ORDER.to_bytes(32, "little")),
        case("63 bytes", wrong, signature=good[:-1]),
        case("65 bytes", wrong, signature=good + b"\x00"),
        *(
            case(f"a key {what}, with which R = the identity and S = 0 would hold for many messages", "bad_identity",
                 key=data, signature=(1).to_bytes(32, "little") + bytes(32))
            for what, data in weak_keys()
        ),
        case("a key whose y is p + 3: another encoding of y = 3", "bad_identity", key=(P + 3).to_bytes(32, "little")),
        case("a key whose y is 2^255 - 1", "bad_identity", key=(2**255 - 1).to_bytes(32, "little")),
        case("a key that is no point: y = 2 has no x", "bad_identity", key=(2).to_bytes(32, "little")),
        case("a key of 31 bytes", "bad_identity", key=key[:-1]),
    ]  # fmt: skip


def weak_keys() -> list[tuple[str, bytes]]:
    """The eight points whose order divides 8, and the other encodings that two of them have."""
    sign = 1 << 255
    named = [
        ("of order 1", 1),
        ("of order 2", P - 1),
        ("of order 4", 0),
        ("of order 4, the other", sign),
        ("of order 8", ORDER_8),
        ("of order 8, the second", sign + ORDER_8),
        ("of order 8, the third", P - ORDER_8),
        ("of order 8, the fourth", sign + P - ORDER_8),
        ("of order 1 with the sign of an x that is zero", sign + 1),
        ("of order 2 with the sign of an x that is zero", sign + P - 1),
        ("of order 4 whose y is p", P),
        ("of order 1 whose y is p + 1", P + 1),
    ]
    return [(what, number.to_bytes(32, "little")) for what, number in named]
