"""Shuffles that must be refused: N9 to N23 of the negative list, each by a prover that does its best to cheat.

The provers here know the proof as well as we do.  ``Forger`` proves an arbitrary matrix in place of a permutation
and satisfies every equation that it can; the mutation tests leave one item out of the hash and show that the
corresponding forgery then passes, so the refusals are known to bite.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import pytest

from protocol import shuffle
from protocol.errors import LocalProtocolError, VerificationError
from protocol.group import (
    GENERATOR,
    ORDER,
    POINT_BYTES,
    Point,
    add,
    negate,
    point_from_label,
    public_combination,
    secret_combination,
)
from protocol.proofs import Context, SecretStream, Transcript
from protocol.shuffle import Ciphertext, ShuffleProof, open_deck
from protocol.testing import DeckTable

SECRET = 0xA5 << 200
KEY = secret_combination(SECRET)
CONTEXT = Context(bytes(32), 1, 0, 4)
ENTROPY = hashlib.sha256(b"verifier").digest()
STREAM = SecretStream(b"stream")
SEAT = 1
N = 3

Matrix = Sequence[Sequence[int]]
HALF = pow(2, -1, ORDER)
IDENTITY = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


def transcript(context: Context = CONTEXT, seat: int = SEAT, position: int = 2) -> Transcript:
    return Transcript(context, "shuffle", seat, position)


def hidden_deck() -> tuple[Ciphertext, ...]:
    """Three cards after one honest shuffle, so that no input component repeats."""
    return shuffle.shuffle(transcript(seat=0), KEY, open_deck(range(N), KEY), STREAM)[0]


INPUTS = hidden_deck()


def total(*parts: tuple[Point, int]) -> Point:
    point = public_combination(parts)
    assert point is not None
    return point


def verify(
    outputs: Sequence[Ciphertext],
    proof: ShuffleProof,
    *,
    inputs: Sequence[Ciphertext] = INPUTS,
    key: Point = KEY,
    where: Transcript | None = None,
) -> None:
    shuffle.verify(where or transcript(), key, inputs, outputs, proof, ENTROPY)


def refuse(
    outputs: Sequence[Ciphertext],
    proof: ShuffleProof,
    *,
    inputs: Sequence[Ciphertext] = INPUTS,
    key: Point = KEY,
    where: Transcript | None = None,
) -> None:
    with pytest.raises(VerificationError) as caught:
        verify(outputs, proof, inputs=inputs, key=key, where=where)
    assert caught.value.reason == "bad_shuffle_proof"
    assert caught.value.seat == (SEAT if where is None else where.seat)
    assert caught.value.step == CONTEXT.step or where is not None


class Forger:
    """Proves outputs = ``cards`` matrix times inputs, with ``weights`` matrix in place of the permutation.

    ``weights`` transposed times ``cards`` is the unit matrix, so the outputs' equations hold.  Steps are taken one
    at a time, and a test may replace what a step made before the next.
    """

    def __init__(self, cards: Matrix, weights: Matrix) -> None:
        self.h, self.hs = shuffle.generators(N)
        self.matrix = weights
        self.masks = STREAM.scalars("masks", N)
        self.outputs = tuple(
            Ciphertext(
                total(*((pair.a, k) for pair, k in zip(INPUTS, row, strict=True)), (GENERATOR, mask)),
                total(*((pair.b, k) for pair, k in zip(INPUTS, row, strict=True)), (KEY, mask)),
            )
            for row, mask in zip(cards, self.masks, strict=True)
        )
        self.blinds = STREAM.scalars("blinds", N)
        self.commitments = [
            total((GENERATOR, self.blinds[j]), *((self.hs[i], weights[i][j]) for i in range(N)))
            for j in range(N)
        ]

    def draw_u(self) -> None:
        self.transcript = transcript()
        self.u = shuffle._absorb_statement(self.transcript, KEY, INPUTS, self.outputs, self.commitments)
        self.v = [sum(m * u for m, u in zip(row, self.u, strict=True)) % ORDER for row in self.matrix]

    def make_chain(self) -> None:
        self.steps = STREAM.scalars("steps", N)
        self.chain = [self.h]
        for step, weight in zip(self.steps, self.v, strict=True):
            self.chain.append(total((GENERATOR, step), (self.chain[-1], weight)))

    def make_nonces(self) -> None:
        self.w = STREAM.scalars("w", 4)
        self.w_i = STREAM.scalars("w'", N)
        self.q = STREAM.scalars("q", N)
        w1, w2, w3, w4 = self.w
        a, b = ([pair.a for pair in self.outputs], [pair.b for pair in self.outputs])
        self.nonces = [
            total((GENERATOR, w1)),
            total((GENERATOR, w2)),
            total((GENERATOR, w3), *zip(self.hs, self.w_i, strict=True)),
            total((GENERATOR, -w4), *zip(a, self.w_i, strict=True)),
            total((KEY, -w4), *zip(b, self.w_i, strict=True)),
        ]
        self.chain_nonces = [
            total((GENERATOR, q), (link, w))
            for q, w, link in zip(self.q, self.w_i, self.chain[:-1], strict=True)
        ]

    def draw_e(self) -> None:
        self.e = shuffle._absorb_commitments(self.transcript, self.chain[1:], self.nonces, self.chain_nonces)

    def respond(self) -> None:
        e, (w1, w2, w3, w4) = self.e, self.w
        product, chain_secret = 1, 0
        for step, weight in zip(reversed(self.steps), reversed(self.v), strict=True):
            chain_secret += step * product
            product = product * weight % ORDER
        self.z = [
            (w1 + e * sum(self.blinds)) % ORDER,
            (w2 + e * chain_secret) % ORDER,
            (w3 + e * sum(s * u for s, u in zip(self.blinds, self.u, strict=True))) % ORDER,
            (w4 + e * sum(r * v for r, v in zip(self.masks, self.v, strict=True))) % ORDER,
        ]
        self.z_i = [(w + e * v) % ORDER for w, v in zip(self.w_i, self.v, strict=True)]
        self.f = [(q + e * step) % ORDER for q, step in zip(self.q, self.steps, strict=True)]

    def proof(self) -> ShuffleProof:
        return ShuffleProof(
            tuple(self.commitments),
            tuple(self.chain[1:]),
            tuple(self.chain_nonces),
            tuple(self.nonces),
            tuple(self.f),
            tuple(self.z_i),
            tuple(self.z),
        )

    def run(self) -> ShuffleProof:
        for step in (self.draw_u, self.make_chain, self.make_nonces, self.draw_e, self.respond):
            step()
        return self.proof()


def failing_equations(
    monkeypatch: pytest.MonkeyPatch, outputs: Sequence[Ciphertext], proof: ShuffleProof
) -> list[str]:
    """The equations (see :mod:`protocol.shuffle`) that do not hold, judged one by one."""
    names = ["1", "2", "3", "4a", "4b", *(f"5.{i}" for i in range(N))]
    failing = []
    for index, name in enumerate(names):
        with monkeypatch.context() as patch:
            patch.setattr(
                shuffle, "verifier_weights", lambda *_, index=index: [i == index for i in range(len(names))]
            )
            if not shuffle.verification_equation(transcript(), KEY, INPUTS, outputs, proof, ENTROPY).holds():
                failing.append(name)
    return failing


def honest() -> tuple[tuple[Ciphertext, ...], ShuffleProof]:
    return shuffle.shuffle(transcript(), KEY, INPUTS, STREAM)


# --- cards changed ---------------------------------------------------------------------------------------


def test_the_forger_is_a_good_prover_when_the_matrix_is_a_permutation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for matrix in (IDENTITY, ((0, 1, 0), (0, 0, 1), (1, 0, 0))):
        forger = Forger(matrix, matrix)
        proof = forger.run()
        verify(forger.outputs, proof)
        assert failing_equations(monkeypatch, forger.outputs, proof) == []


def test_n11_shuffle_that_repeats_an_output_card_is_refused() -> None:
    masks = STREAM.scalars("m", N)
    for order in ([0, 0, 2], [1, 1, 1], [2, 1, 2]):
        outputs = [
            Ciphertext(total((INPUTS[s].a, 1), (GENERATOR, m)), total((INPUTS[s].b, 1), (KEY, m)))
            for s, m in zip(order, masks, strict=True)
        ]
        refuse(outputs, shuffle.prove(transcript(), KEY, INPUTS, outputs, order, masks, STREAM))
        refuse(outputs, shuffle.prove(transcript(), KEY, INPUTS, outputs, [0, 1, 2], masks, STREAM))


def test_n12_shuffle_with_a_multiple_of_a_card_point_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice one card and half of another: product, outputs and chain all fit; only equation 1 sees it."""
    forger = Forger(((2, 0, 0), (0, HALF, 0), (0, 0, 1)), ((HALF, 0, 0), (0, 2, 0), (0, 0, 1)))
    proof = forger.run()
    refuse(forger.outputs, proof)
    assert failing_equations(monkeypatch, forger.outputs, proof) == ["1"]


@pytest.mark.parametrize("card", [0, 3, 255], ids=["one more of a card here", "another card", "another deck"])
def test_n12_shuffle_with_another_card_put_in_is_refused(card: int) -> None:
    masks = STREAM.scalars("m", N)
    substituted = (INPUTS[0], INPUTS[1], open_deck([card], KEY)[0])
    outputs = [
        Ciphertext(total((pair.a, 1), (GENERATOR, m)), total((pair.b, 1), (KEY, m)))
        for pair, m in zip(substituted, masks, strict=True)
    ]
    refuse(outputs, shuffle.prove(transcript(), KEY, INPUTS, outputs, [0, 1, 2], masks, STREAM))
    # A perfect proof for the deck with the substitute does not help: the verifier uses its own input.
    refuse(outputs, shuffle.prove(transcript(), KEY, substituted, outputs, [0, 1, 2], masks, STREAM))


def test_n21_shuffle_whose_chain_does_not_end_at_the_product_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows of the matrix add up to 1, so the sums fit; only the product of the weights is another."""
    forger = Forger(((HALF, 0, 0), (HALF, 1, 0), (0, 0, 1)), ((2, -1, 0), (0, 1, 0), (0, 0, 1)))
    proof = forger.run()
    refuse(forger.outputs, proof)
    assert failing_equations(monkeypatch, forger.outputs, proof) == ["2"]


def test_n14_card_re_encrypted_under_another_key_is_refused() -> None:
    other = secret_combination(SECRET + 1)
    outputs, proof = shuffle.shuffle(transcript(), other, INPUTS, STREAM)
    refuse(outputs, proof)
    masks = STREAM.scalars("m", N)
    outputs = tuple(
        Ciphertext(
            total((INPUTS[i].a, 1), (GENERATOR, masks[i])),
            total((INPUTS[i].b, 1), (other if i == 2 else KEY, masks[i])),
        )
        for i in range(N)
    )
    refuse(outputs, shuffle.prove(transcript(), KEY, INPUTS, outputs, [0, 1, 2], masks, STREAM))


def test_n10_components_swapped_are_refused() -> None:
    outputs, proof = honest()
    swapped = (Ciphertext(outputs[0].b, outputs[0].a), *outputs[1:])
    refuse(swapped, proof)
    masks = STREAM.scalars("m", N)
    refuse(swapped, shuffle.prove(transcript(), KEY, INPUTS, swapped, [0, 1, 2], masks, STREAM))


def test_n13_outputs_reordered_after_the_challenges_are_refused() -> None:
    outputs, proof = honest()
    refuse((outputs[1], outputs[0], outputs[2]), proof)


# --- weak challenges -------------------------------------------------------------------------------------


def forge_outputs() -> dict[str, object]:
    outputs, proof = honest()
    z = proof.weight_responses
    shift_a, shift_b = point_from_label("shift", 0), point_from_label("shift", 1)
    ratio = -z[0] * pow(z[1], -1, ORDER)
    changed = (
        Ciphertext(total((outputs[0].a, 1), (shift_a, 1)), total((outputs[0].b, 1), (shift_b, 1))),
        Ciphertext(total((outputs[1].a, 1), (shift_a, ratio)), total((outputs[1].b, 1), (shift_b, ratio))),
        outputs[2],
    )
    return {"outputs": changed, "proof": proof}


def forge_inputs() -> dict[str, object]:
    outputs, proof = honest()
    u = shuffle._absorb_statement(transcript(), KEY, INPUTS, outputs, proof.permutation)
    shift, ratio = point_from_label("shift", 0), -u[0] * pow(u[1], -1, ORDER)
    changed = (
        Ciphertext(INPUTS[0].a, total((INPUTS[0].b, 1), (shift, 1))),
        Ciphertext(INPUTS[1].a, total((INPUTS[1].b, 1), (shift, ratio))),
        INPUTS[2],
    )
    return {"outputs": outputs, "proof": proof, "inputs": changed}


def forge_key() -> dict[str, object]:
    """Outputs whose second components are anything; the key that makes them right is chosen last."""
    masks = STREAM.scalars("m", N)
    outputs = tuple(
        Ciphertext(total((pair.a, 1), (GENERATOR, mask)), point_from_label("anything", i))
        for i, (pair, mask) in enumerate(zip(INPUTS, masks, strict=True))
    )
    proof = shuffle.prove(transcript(), KEY, INPUTS, outputs, [0, 1, 2], masks, STREAM)
    one = transcript()
    u = shuffle._absorb_statement(one, KEY, INPUTS, outputs, proof.permutation)
    e = shuffle._absorb_commitments(one, proof.chain, proof.nonces, proof.chain_nonces)
    inverse = pow(proof.responses[3], -1, ORDER)
    key = total(
        *((pair.b, z * inverse) for pair, z in zip(outputs, proof.weight_responses, strict=True)),
        (proof.nonces[4], -inverse),
        *((pair.b, -e * u_j * inverse) for pair, u_j in zip(INPUTS, u, strict=True)),
    )
    return {"outputs": outputs, "proof": proof, "key": key}


DOUBLED = (((2, 0, 0), (0, HALF, 0), (0, 0, 1)), ((HALF, 0, 0), (0, 2, 0), (0, 0, 1)))


def forge_generators() -> dict[str, object]:
    """Twice one card, half of another; h_1 and h_2 are chosen last to satisfy equations 1 and 3."""
    forger = Forger(*DOUBLED)
    proof = forger.run()
    e, u, z = forger.e, forger.u, forger.z_i
    inverse = pow(e, -1, ORDER)
    plain = total(
        *((c, 1) for c in forger.commitments),
        (GENERATOR, -forger.z[0] * inverse),
        (forger.nonces[0], inverse),
        (forger.hs[2], -1),
    )
    weighted = total(
        (forger.nonces[2], 1),
        *((c, e * u_j) for c, u_j in zip(forger.commitments, u, strict=True)),
        (GENERATOR, -forger.z[2]),
        (forger.hs[2], -z[2]),
    )
    first = total(*((p, s * pow(z[0] - z[1], -1, ORDER)) for p, s in ((weighted, 1), (plain, -z[1]))))
    second = total((plain, 1), (first, -1))
    return {
        "outputs": forger.outputs,
        "proof": proof,
        "generators": (forger.h, (first, second, forger.hs[2])),
    }


def forge_permutation() -> dict[str, object]:
    """Twice one card, half of another; the matrix is committed to when u is known, to fit 1 and 3."""
    forger = Forger(*DOUBLED)
    forger.draw_u()
    (u1, u2, _), (v1, v2, _), (h1, h2, h3) = forger.u, forger.v, forger.hs
    inverse = pow(u1 - u2, -1, ORDER)
    first = total((h1, (v1 - u2) * inverse), (h2, (v2 - u2) * inverse))
    forger.commitments = [first, total((h1, 1), (h2, 1), (first, -1)), h3]
    forger.blinds = [0, 0, 0]
    matrix = forger.v
    forger.draw_u()
    forger.v = matrix
    for step in (forger.make_chain, forger.make_nonces, forger.draw_e, forger.respond):
        step()
    return {"outputs": forger.outputs, "proof": forger.proof()}


def forge_nonces() -> dict[str, object]:
    """One card twice: e is known before t1..t4b, so they are computed from any responses."""
    forger = Forger(IDENTITY, IDENTITY)
    forger.outputs = (forger.outputs[0], forger.outputs[0], forger.outputs[2])
    forger.draw_u()
    forger.make_chain()
    forger.make_nonces()
    forger.draw_e()
    forger.respond()
    e, u, (z1, z2, z3, z4) = forger.e, forger.u, forger.z
    product = u[0] * u[1] * u[2] % ORDER
    forger.nonces = [
        total((GENERATOR, z1), *((c, -e) for c in forger.commitments), *((h, e) for h in forger.hs)),
        total((GENERATOR, z2), (forger.chain[-1], -e), (forger.h, e * product)),
        total(
            (GENERATOR, z3),
            *zip(forger.hs, forger.z_i, strict=True),
            *((c, -e * u_j) for c, u_j in zip(forger.commitments, u, strict=True)),
        ),
        *(
            total(
                *((getattr(pair, side), z) for pair, z in zip(forger.outputs, forger.z_i, strict=True)),
                (base, -z4),
                *((getattr(pair, side), -e * u_j) for pair, u_j in zip(INPUTS, u, strict=True)),
            )
            for side, base in (("a", GENERATOR), ("b", KEY))
        ),
    ]
    return {"outputs": forger.outputs, "proof": forger.proof()}


def forge_chain_nonces() -> dict[str, object]:
    """A matrix whose product differs; a chain that ends right is made fit by T, computed when e is known."""
    forger = Forger(((HALF, 0, 0), (HALF, 1, 0), (0, 0, 1)), ((2, -1, 0), (0, 1, 0), (0, 0, 1)))
    forger.draw_u()
    forger.make_chain()
    product = forger.u[0] * forger.u[1] * forger.u[2] % ORDER
    forger.chain[-1] = total((forger.h, product), (GENERATOR, 1))
    forger.make_nonces()
    forger.draw_e()
    forger.respond()
    e = forger.e
    forger.z[1] = (forger.w[1] + e) % ORDER
    forger.chain_nonces = [
        total((GENERATOR, forger.f[i]), (forger.chain[i], forger.z_i[i]), (forger.chain[i + 1], -e))
        for i in range(N)
    ]
    return {"outputs": forger.outputs, "proof": forger.proof()}


def forge_context() -> dict[str, object]:
    outputs, proof = honest()
    return {"outputs": outputs, "proof": proof, "where": transcript(Context(bytes(32), 2, 0, 9), 3, 0)}


FORGERIES = {
    "outputs": forge_outputs,
    "inputs": forge_inputs,
    "key": forge_key,
    "generators": forge_generators,
    "permutation": forge_permutation,
    "nonces": forge_nonces,
    "chain nonces": forge_chain_nonces,
    "context": forge_context,
}


def is_a_shuffle(forged: dict[str, object]) -> bool:
    """Whether the forged statement is true: the same cards come out under the key that went in."""

    def cards(deck: object) -> list[bytes]:
        points = [add(p.b, negate(total((p.a, SECRET)))) for p in deck]  # type: ignore[attr-defined]
        return sorted(point.encoded if point else b"" for point in points)

    return cards(forged["outputs"]) == cards(forged.get("inputs", INPUTS))


@pytest.mark.parametrize("item", FORGERIES)
def test_n13_forgery_passes_exactly_when_its_item_is_left_out_of_the_hash(
    monkeypatch: pytest.MonkeyPatch, item: str
) -> None:
    def attempt() -> None:
        forged = FORGERIES[item]()
        assert is_a_shuffle(forged) == (item == "context")
        with monkeypatch.context() as patch:
            if (chosen := forged.pop("generators", None)) is not None:
                patch.setattr(shuffle, "generators", lambda count: chosen)
            verify(**forged)  # type: ignore[arg-type]

    with pytest.raises(VerificationError) as caught:
        attempt()
    assert caught.value.reason == "bad_shuffle_proof"

    absorb = Transcript.absorb
    monkeypatch.setattr(
        Transcript, "absorb", lambda self, name, data: None if name == item else absorb(self, name, data)
    )
    attempt()


def test_n18_valid_proof_against_another_statement_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs, proof = honest()
    refuse(outputs, proof, inputs=open_deck(range(N), KEY))
    refuse(outputs, proof, inputs=(INPUTS[1], INPUTS[0], INPUTS[2]))
    refuse(outputs, proof, key=secret_combination(SECRET + 1))
    h, hs = shuffle.generators(N)
    for other in ((hs[0], (h, *hs[1:])), (h, hs[::-1]), (h, (GENERATOR, *hs[1:]))):
        with monkeypatch.context() as patch:
            patch.setattr(shuffle, "generators", lambda count, other=other: other)
            refuse(outputs, proof)


@pytest.mark.parametrize(
    ("what", "where"),
    [
        ("table", transcript(Context(b"\x01" * 32, 1, 0, 4))),
        ("hand", transcript(Context(bytes(32), 2, 0, 4))),
        ("epoch", transcript(Context(bytes(32), 1, 1, 4))),
        ("step", transcript(Context(bytes(32), 1, 0, 5))),
        ("seat", transcript(seat=2)),
        ("position", transcript(position=1)),
        ("purpose", Transcript(CONTEXT, "another purpose", SEAT, 2)),
    ],
)
def test_n19_proof_replayed_elsewhere_is_refused(what: str, where: Transcript) -> None:
    outputs, proof = honest()
    refuse(outputs, proof, where=where)


# --- through the deck: what arrives from a peer ----------------------------------------------------------


@pytest.fixture
def table() -> DeckTable:
    table = DeckTable(3, seed=b"shuffle negatives")
    table.agree()
    table.deck.begin_shuffle((4, 9))
    return table


def refuse_body(table: DeckTable, body: object, reason: str, seat: int | None = None) -> None:
    """The deck names the seat and is as it was."""
    seat = table.deck.shuffler if seat is None else seat
    assert seat is not None
    before = table.deck.digest()
    with pytest.raises(VerificationError) as caught:
        table.deck.check_shuffle(table.context(), seat, body, table.entropy())
    assert (caught.value.reason, caught.value.seat) == (reason, seat)
    assert table.deck.digest() == before


def good_body(table: DeckTable) -> list[object]:
    seat = table.deck.shuffler
    assert seat is not None
    return list(table.secrets[seat].shuffle(table.context(), table.entropy()))


def at_length(table: DeckTable, index: int, data: bytes) -> list[object]:
    """A good body with one part of its proof replaced."""
    outputs, proof = good_body(table)
    parts = list(proof)  # type: ignore[call-overload]
    parts[index] = data
    return [outputs, parts]


OFF_CURVE = b"\x02" + (5).to_bytes(32, "big")  # 5^3 + 7 = 132 is no square modulo the field's prime
X_TOO_LARGE = b"\x02" + (2**256 - 2**32 - 976).to_bytes(32, "big")


@pytest.mark.parametrize("point", [OFF_CURVE, X_TOO_LARGE, b"\x04" + b"\x01" * 32, b"\x07" + b"\x01" * 32])
def test_n9_shuffle_with_a_bad_point_is_refused(table: DeckTable, point: bytes) -> None:
    outputs, proof = good_body(table)
    assert isinstance(outputs, bytes)
    refuse_body(table, [point + outputs[POINT_BYTES:], proof], "bad_encoding")
    refuse_body(table, [outputs[:-POINT_BYTES] + point, proof], "bad_encoding")
    for index in range(4):
        part = proof[index]  # type: ignore[index]
        refuse_body(table, at_length(table, index, point + part[POINT_BYTES:]), "bad_encoding")


def test_n10_ciphertext_with_the_identity_is_refused(table: DeckTable) -> None:
    outputs, proof = good_body(table)
    assert isinstance(outputs, bytes)
    for identity in (bytes(33), b"\x00", b"\x02" + bytes(32)):
        refuse_body(table, [identity + outputs[POINT_BYTES:], proof], "bad_encoding")


def test_n13b_shuffle_of_anything_but_the_last_accepted_deck_is_refused(table: DeckTable) -> None:
    deck, key = table.deck, table.deck.keys.joint_key
    first, second, _ = deck.shuffle_order

    def shuffle_of(inputs: Sequence[Ciphertext], seat: int, joint: Point = key) -> list[object]:
        outputs, proof = shuffle.shuffle(
            deck.shuffle_transcript(table.context(), seat), joint, inputs, STREAM
        )
        return [shuffle.encode_deck(outputs), proof.to_value()]

    # A first shuffle from another deck: other cards, another order, a shuffled one.
    for inputs in (open_deck((4, 8), key), open_deck((9, 4), key), (INPUTS[0], INPUTS[1])):
        refuse_body(table, shuffle_of(inputs, first), "bad_shuffle_proof")
    opening = deck.current
    body = shuffle_of(opening, first)
    deck.check_shuffle(table.context(), first, body, table.entropy())
    deck.close_shuffle(first, body)
    # The second shuffler goes back to the open deck.
    refuse_body(table, shuffle_of(opening, second), "bad_shuffle_proof")
    # A key or generators sent along are not read: there is no place for them.
    good = shuffle_of(deck.current, second)
    refuse_body(table, [*good, key.encoded], "bad_encoding")
    refuse_body(table, [good[0], [*good[1], key.encoded]], "bad_encoding")  # type: ignore[misc]
    refuse_body(table, shuffle_of(deck.current, second, secret_combination(77)), "bad_shuffle_proof")
    deck.check_shuffle(table.context(), second, good, table.entropy())


def test_n15_lists_of_another_length_are_refused_cleanly(table: DeckTable) -> None:
    outputs, proof = good_body(table)
    assert isinstance(outputs, bytes)
    for changed in (b"", outputs[:66], outputs[:-1], outputs + outputs[:66], outputs + b"\x00"):
        refuse_body(table, [changed, proof], "bad_encoding")
    for index in range(7):
        part = proof[index]  # type: ignore[index]
        unit = POINT_BYTES if index < 4 else 32
        for changed in (b"", part[:-unit], part + part[:unit], part[:-1], part + b"\x00"):
            refuse_body(table, at_length(table, index, changed), "bad_encoding")
    refuse_body(table, [outputs, proof[:6]], "bad_encoding")  # type: ignore[index]
    refuse_body(table, [outputs], "bad_encoding")
    # A good proof for a deck with a card less or more.
    seat = table.deck.shuffler
    assert seat is not None
    for cards in ((4,), (4, 9, 11)):
        where = table.deck.shuffle_transcript(table.context(), seat)
        deck = open_deck(cards, table.deck.keys.joint_key)
        others, other_proof = shuffle.shuffle(where, table.deck.keys.joint_key, deck, STREAM)
        refuse_body(table, [shuffle.encode_deck(others), other_proof.to_value()], "bad_encoding")


def test_n15_no_list_is_silently_cut_short_by_the_verifier_itself() -> None:
    outputs, proof = honest()
    for field in (
        "permutation",
        "chain",
        "chain_nonces",
        "nonces",
        "chain_responses",
        "weight_responses",
        "responses",
    ):
        whole = getattr(proof, field)
        for changed in (whole[:-1], (*whole, whole[0]), ()):
            refuse(outputs, replace(proof, **{field: changed}))
    refuse(outputs[:2], proof)
    refuse((*outputs, outputs[0]), proof)
    refuse(outputs, proof, inputs=INPUTS[:2])
    empty = ShuffleProof((), (), (), proof.nonces, (), (), proof.responses)
    refuse((), empty, inputs=())


def test_n16_empty_deck_is_refused(table: DeckTable) -> None:
    _, proof = good_body(table)
    refuse_body(table, [b"", [b"", b"", b"", proof[3], b"", b"", proof[6]]], "bad_encoding")  # type: ignore[index]
    table.deck.abandon_shuffle()
    with pytest.raises(LocalProtocolError, match="1 to 256 cards"):
        table.deck.begin_shuffle(())


@pytest.mark.parametrize("index", [4, 5, 6])
def test_n17_response_at_or_above_the_order_is_refused(table: DeckTable, index: int) -> None:
    _, proof = good_body(table)
    part = proof[index]  # type: ignore[index]
    for value in (ORDER, 2**256 - 1):
        refuse_body(table, at_length(table, index, value.to_bytes(32, "big") + part[32:]), "bad_encoding")


def test_n19_shuffle_replayed_by_another_seat_or_at_another_table_is_refused(table: DeckTable) -> None:
    body = good_body(table)
    seat = table.deck.shuffler
    assert seat is not None
    for context in (
        replace(table.context(), table=bytes(32)),
        replace(table.context(), hand=2),
        replace(table.context(), epoch=1),
        replace(table.context(), step=99),
    ):
        with pytest.raises(VerificationError) as caught:
            table.deck.check_shuffle(context, seat, body, table.entropy())
        assert (caught.value.reason, caught.value.seat) == ("bad_shuffle_proof", seat)
    table.deck.close_shuffle(seat, body)
    refuse_body(table, body, "bad_shuffle_proof")


def test_n22_second_shuffle_by_one_seat_is_out_of_turn(table: DeckTable) -> None:
    seat = table.deck.shuffler
    assert seat is not None
    one, other = good_body(table), good_body(table)
    assert one != other
    table.deck.close_shuffle(seat, one)
    refuse_body(table, other, "out_of_turn", seat)
    with pytest.raises(LocalProtocolError):
        table.deck.close_shuffle(seat, other)


def test_n23_each_single_byte_of_a_shuffle_matters(table: DeckTable) -> None:
    """Every byte of outputs and proof of a deck of two cards, flipped in turn."""
    seat = table.deck.shuffler
    assert seat is not None
    body = good_body(table)
    table.deck.check_shuffle(table.context(), seat, body, table.entropy())
    parts: list[bytes] = [body[0], *body[1]]  # type: ignore[list-item,misc]
    flipped = 0
    for index, part in enumerate(parts):
        for at in range(len(part)):
            changed = list(parts)
            changed[index] = part[:at] + bytes([part[at] ^ 1]) + part[at + 1 :]
            with pytest.raises(VerificationError):
                table.deck.check_shuffle(table.context(), seat, [changed[0], changed[1:]], table.entropy())
            flipped += 1
    assert flipped == 2 * 66 + (3 * 2 + 5) * 33 + (2 * 2 + 4) * 32


@pytest.mark.parametrize("body", [None, 0, True, "", b"", [], [[]], [b"", []], {}, [0, 0], [b"", [0] * 7]])
def test_garbage_in_place_of_a_shuffle_is_refused_cleanly(table: DeckTable, body: object) -> None:
    refuse_body(table, body, "bad_encoding")
