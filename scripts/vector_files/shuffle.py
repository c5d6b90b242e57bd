"""shuffle.json: one shuffle of five cards with all that is secret in it, and provers that cheat (N10 to N21)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from protocol import shuffle
from protocol.errors import EncodingError
from protocol.group import (
    ORDER,
    SCALAR_BYTES,
    Point,
    encode_scalars,
    public_combination,
    secret_combination,
)
from protocol.proofs import Context, SecretStream
from protocol.shuffle import Ciphertext, ShuffleProof, card_point, open_deck
from scripts.vector_files.form import Case, File, accepted, fixed, refused
from scripts.vector_files.proofs import elsewhere, place, transcript

COUNT = 5
CONTEXT = Context(fixed("table"), 3, 1, 5)
WHERE = place(CONTEXT, 1, "shuffle", 1)
KEY = secret_combination(int.from_bytes(fixed("joint key"), "big"))
FIRST = SecretStream(fixed("first shuffler"))
STREAM = SecretStream(fixed("second shuffler"))
INPUTS, _ = shuffle.shuffle(transcript(WHERE), KEY, open_deck(range(COUNT), KEY), FIRST)
"""Five cards that somebody has shuffled before, so that no two first components are equal."""
ORDER_OF_CARDS = STREAM.permutation("pi", COUNT)
MASKS = STREAM.scalars("r", COUNT)

Deck = tuple[Ciphertext, ...]
PARTS = ("permutation", "chain", "chain_nonces", "nonces", "chain_responses", "weight_responses", "responses")


def make() -> File:
    good = statement()
    return {
        "about": "SPEC.md 5.4.  A case changes what it names in the statement.  The proof has its seven parts in order.",
        "statement": good,
        "cases": cases(good),
    }


def check(case: dict[str, Any]) -> None:
    """Raises as the receiver of the shuffle does."""
    script = transcript(case["context"])
    inputs = shuffle.decode_deck(bytes.fromhex(case["inputs"]), case["cards"], field="inputs")
    try:
        outputs = shuffle.decode_deck(bytes.fromhex(case["outputs"]), case["cards"], field="outputs")
        proof = ShuffleProof.from_value(
            [bytes.fromhex(part) for part in case["proof"]], case["cards"], field="proof"
        )
    except EncodingError as error:
        raise script.fault("bad_encoding", str(error)) from None
    shuffle.verify(
        script, Point.decode(bytes.fromhex(case["key"])), inputs, outputs, proof, fixed("verifier")
    )


def mixed(order: Sequence[int], key: Point = KEY) -> Deck:
    """The inputs in this order, re-encrypted."""
    return tuple(
        Ciphertext(
            secret_combination(mask, plus=(INPUTS[source].a,)),
            secret_combination(terms=((key, mask),), plus=(INPUTS[source].b,)),
        )
        for source, mask in zip(order, MASKS, strict=True)
    )


def proved(outputs: Deck, order: Sequence[int], key: Point = KEY) -> list[str]:
    proof = shuffle.prove(transcript(WHERE), key, INPUTS, outputs, order, MASKS, STREAM)
    return [part.hex() for part in proof.to_value() if isinstance(part, bytes)]


def statement() -> Case:
    outputs = mixed(ORDER_OF_CARDS)
    return accepted(
        "a good shuffle: outputs[i] is inputs[order[i]], re-encrypted with masks[i]",
        context=WHERE,
        cards=COUNT,
        key=KEY.encoded.hex(),
        order=ORDER_OF_CARDS,
        masks=encode_scalars(MASKS).hex(),
        inputs=shuffle.encode_deck(INPUTS).hex(),
        outputs=shuffle.encode_deck(outputs).hex(),
        proof=proved(outputs, ORDER_OF_CARDS),
    )


def cases(good: Case) -> list[Case]:
    bad = "bad_shuffle_proof"
    outputs = mixed(ORDER_OF_CARDS)
    hexed = shuffle.encode_deck

    def cheated(comment: str, deck: Deck, order: Sequence[int], key: Point = KEY) -> Case:
        return refused(comment, bad, outputs=hexed(deck).hex(), proof=proved(deck, order, key))

    twice = [ORDER_OF_CARDS[1], *ORDER_OF_CARDS[1:]]
    other_key = secret_combination(7)
    foreign = public_combination([(card_point(99), 1), (card_point(ORDER_OF_CARDS[0]), -1)], [outputs[0].b])
    assert foreign is not None
    substituted = (Ciphertext(outputs[0].a, foreign), *outputs[1:])
    swapped = (Ciphertext(outputs[0].b, outputs[0].a), *outputs[1:])
    reordered = (outputs[1], outputs[0], *outputs[2:])
    return [
        *elsewhere(WHERE, bad),
        cheated("N11 one card twice, another not at all, proved as if it were right", mixed(twice), twice),
        cheated("N12 another card in the place of one", substituted, ORDER_OF_CARDS),
        cheated("N10 the two components of one card swapped", swapped, ORDER_OF_CARDS),
        cheated("N14 re-encrypted and proved under another key", mixed(ORDER_OF_CARDS, other_key), ORDER_OF_CARDS, other_key),
        refused("N13 two outputs swapped after the proof was made", bad, outputs=hexed(reordered).hex()),
        refused("N18 another joint key", bad, key=other_key.encoded.hex()),
        refused("N18 the inputs in another order", bad, inputs=hexed((INPUTS[1], INPUTS[0], *INPUTS[2:])).hex()),
        refused("N13b the open deck as input", bad, inputs=hexed(open_deck(range(COUNT), KEY)).hex()),
        refused("N15 one output too few", "bad_encoding", outputs=hexed(outputs[:-1]).hex()),
        refused("N15 one output too many", "bad_encoding", outputs=hexed((*outputs, outputs[0])).hex()),
        *(changed(good["proof"], number) for number in range(7)),
        *(shortened(good["proof"], number) for number in range(7)),
        refused("N15 a proof of six parts", "bad_encoding", proof=good["proof"][:6]),
        unreduced(good["proof"]),
    ]  # fmt: skip


def changed(proof: list[str], number: int) -> Case:
    """N23: the last byte of one part, which stays a point or a scalar."""
    data = bytes.fromhex(proof[number])
    if number < 4:
        # The other point with this x.
        at = len(data) - 33
        data = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
    else:
        last = int.from_bytes(data[-SCALAR_BYTES:], "big")
        data = data[:-SCALAR_BYTES] + ((last + 1) % ORDER).to_bytes(SCALAR_BYTES, "big")
    parts = [*proof[:number], data.hex(), *proof[number + 1 :]]
    return refused(f"N23 the last of `{PARTS[number]}` changed", "bad_shuffle_proof", proof=parts)


def shortened(proof: list[str], number: int) -> Case:
    size = 33 if number < 4 else SCALAR_BYTES
    parts = [*proof[:number], proof[number][: -2 * size], *proof[number + 1 :]]
    return refused(f"N15 `{PARTS[number]}` lacks its last item", "bad_encoding", proof=parts)


def unreduced(proof: list[str]) -> Case:
    z = int(proof[6][:64], 16)
    parts = [*proof[:6], f"{ORDER + z % (2**256 - ORDER):064x}" + proof[6][64:]]
    return refused("N17 z1 at or above the order", "bad_encoding", proof=parts)
