"""proofs.json: possession of a secret and equality of logarithms, and statements that a proof does not fit."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from protocol import canonical
from protocol.errors import EncodingError
from protocol.group import (
    ORDER,
    Point,
    decode_points,
    encode_points,
    encode_scalar,
    negate,
    secret_combination,
)
from protocol.proofs import (
    Context,
    SecretStream,
    Transcript,
    prove_equality,
    prove_possession,
    verify_equality,
    verify_possession,
)
from scripts.vector_files.form import Case, File, accepted, fixed, refused

CONTEXT = Context(fixed("table"), 3, 1, 40)
SEAT = 2
SECRET = int.from_bytes(fixed("key share"), "big") % ORDER
PUBLIC = secret_combination(SECRET)
STREAM = SecretStream(fixed("stream"))
SLOTS = [4, 9, 17]


def make() -> File:
    return {
        "about": "SPEC.md 5.1 to 5.3.  A case changes what it names in the statement above it.",
        "possession": {"statement": possession_statement(), "cases": possession_cases()},
        "equality": {"statement": equality_statement(), "cases": equality_cases()},
    }


def place(context: Context, seat: int, purpose: str, position: int = 0) -> dict[str, Any]:
    """The context of a proof, as every file shows it."""
    return asdict(context) | {
        "table": context.table.hex(),
        "seat": seat,
        "position": position,
        "purpose": purpose,
    }


def transcript(where: dict[str, Any]) -> Transcript:
    context = Context(bytes.fromhex(where["table"]), where["hand"], where["epoch"], where["step"])
    return Transcript(context, where["purpose"], where["seat"], where["position"])


def check_possession(case: dict[str, Any]) -> None:
    """Raises as the receiver of the proof does."""
    verify_possession(
        transcript(case["context"]),
        Point.decode(bytes.fromhex(case["public"])),
        bytes.fromhex(case["proof"]),
    )


def check_equality(case: dict[str, Any]) -> None:
    """Raises as the receiver of the proof does."""
    count = len(case["slots"])
    script = transcript(case["context"])
    try:
        bases = decode_points(bytes.fromhex(case["bases"]), count, field="bases")
        images = decode_points(bytes.fromhex(case["images"]), count, field="images")
    except EncodingError as error:
        raise script.fault("bad_encoding", str(error)) from None
    script.absorb("slots", canonical.encode(case["slots"]))
    verify_equality(
        script,
        Point.decode(bytes.fromhex(case["public"])),
        bases,
        images,
        bytes.fromhex(case["proof"]),
        fixed("verifier"),
    )


# --- possession ------------------------------------------------------------------------------------------

SHARE = "possession of a key share"


def possession_statement() -> Case:
    where = place(CONTEXT, SEAT, SHARE)
    proof = prove_possession(transcript(where), SECRET, PUBLIC, STREAM)
    again = transcript(where)
    again.absorb("public key", PUBLIC.encoded)
    nonce = STREAM.derive(again.peek("nonce")).scalar("w")
    again.absorb("commitment", proof[:33])
    return accepted(
        "a good proof",
        context=where,
        secret=encode_scalar(SECRET).hex(),
        nonce=encode_scalar(nonce).hex(),
        public=PUBLIC.encoded.hex(),
        challenge=encode_scalar(again.scalar("c")).hex(),
        proof=proof.hex(),
    )


def possession_cases() -> list[Case]:
    good = possession_statement()
    where, proof = good["context"], bytes.fromhex(good["proof"])
    z = int.from_bytes(proof[33:], "big")
    other = secret_combination(SECRET + 1)
    bad = "bad_possession_proof"
    return [
        *elsewhere(where, bad),
        refused("N2 another key", bad, public=other.encoded.hex()),
        refused("N2 the inverse of the key", bad, public=negate(PUBLIC).encoded.hex()),
        refused("the other commitment of this x", bad, proof=(bytes([proof[0] ^ 1]) + proof[1:]).hex()),
        refused("z and one", bad, proof=(proof[:33] + encode_scalar((z + 1) % ORDER)).hex()),
        refused("z is zero", bad, proof=(proof[:33] + bytes(32)).hex()),
        refused("N17 z is the order", "bad_encoding", proof=(proof[:33] + ORDER.to_bytes(32, "big")).hex()),
        refused("the commitment is no point", "bad_encoding", proof=(bytes(33) + proof[33:]).hex()),
        refused("one byte too few", "bad_encoding", proof=proof[:-1].hex()),
        refused("one byte too many", "bad_encoding", proof=(proof + b"\x00").hex()),
    ]


def elsewhere(where: dict[str, Any], reason: str) -> list[Case]:
    """N3, N19: the same proof in each other place."""
    purpose = "possession of a sealing key" if where["purpose"] == SHARE else "opening"
    moved = [
        ("at another table", {"table": fixed("another table").hex()}),
        ("in another hand", {"hand": where["hand"] + 1}),
        ("in another epoch", {"epoch": where["epoch"] + 1}),
        ("in another step", {"step": where["step"] + 1}),
        ("by another seat", {"seat": where["seat"] + 1}),
        ("in another position", {"position": where["position"] + 1}),
        ("for another purpose", {"purpose": purpose}),
    ]
    return [refused(f"N19 {what}", reason, context=where | change) for what, change in moved]


# --- equality --------------------------------------------------------------------------------------------


def equality_statement() -> Case:
    where = place(CONTEXT, SEAT, "decryption shares")
    bases = [secret_combination(int.from_bytes(fixed(f"base/{slot}"), "big")) for slot in SLOTS]
    images = [secret_combination(None, ((base, SECRET),)) for base in bases]
    script = transcript(where)
    script.absorb("slots", canonical.encode(SLOTS))
    proof = prove_equality(script, SECRET, PUBLIC, bases, images, STREAM)
    again = transcript(where)
    again.absorb("slots", canonical.encode(SLOTS))
    again.absorb("public key", PUBLIC.encoded)
    again.absorb("bases", encode_points(bases))
    again.absorb("images", encode_points(images))
    weights = again.weights("m", len(SLOTS))
    nonce = STREAM.derive(again.peek("nonce")).scalar("w")
    again.absorb("commitments", proof[:66])
    return accepted(
        "a good proof of three shares",
        context=where,
        slots=SLOTS,
        secret=encode_scalar(SECRET).hex(),
        nonce=encode_scalar(nonce).hex(),
        public=PUBLIC.encoded.hex(),
        bases=encode_points(bases).hex(),
        images=encode_points(images).hex(),
        weights=[f"{weight:032x}" for weight in weights],
        challenge=encode_scalar(again.scalar("c")).hex(),
        proof=proof.hex(),
    )


def equality_cases() -> list[Case]:
    good = equality_statement()
    where, proof = good["context"], bytes.fromhex(good["proof"])
    bases = decode_points(bytes.fromhex(good["bases"]), 3)
    images = decode_points(bytes.fromhex(good["images"]), 3)
    error = secret_combination(5)
    first = secret_combination(plus=(images[0], error))
    second = secret_combination(plus=(images[1], negate(error)))
    z = int.from_bytes(proof[66:], "big")
    bad = "bad_equality_proof"

    def points(*chosen: Point) -> str:
        return encode_points(chosen).hex()

    return [
        *elsewhere(where, bad),
        refused("other slots", bad, slots=[4, 9, 18]),
        refused("N25 another key", bad, public=secret_combination(SECRET + 1).encoded.hex()),
        refused("the bases in another order", bad, bases=points(bases[1], bases[0], bases[2])),
        refused("N25 two shares swapped", bad, images=points(images[1], images[0], images[2])),
        refused("N24 errors that cancel out", bad, images=points(first, second, images[2])),
        refused("one share replaced by another slot's", bad, images=points(images[0], images[0], images[2])),
        refused("one share too few", "bad_encoding", images=points(*images[:2])),
        refused("one share too many", "bad_encoding", images=points(*images, images[0])),
        refused("t1 and t2 swapped", bad, proof=(proof[33:66] + proof[:33] + proof[66:]).hex()),
        refused("z and one", bad, proof=(proof[:66] + encode_scalar((z + 1) % ORDER)).hex()),
        refused("N17 z is the order", "bad_encoding", proof=(proof[:66] + ORDER.to_bytes(32, "big")).hex()),
        refused("N25b a proof of possession in its place", "bad_encoding", proof=proof[:65].hex()),
        refused("one byte too many", "bad_encoding", proof=(proof + b"\x00").hex()),
    ]
