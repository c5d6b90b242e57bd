"""What the deck's cryptography costs, against the bare group operations that it cannot do without.

Each function returns rows; ``scripts/bench`` prints them.  Times are CPU times of this thread (the best of several
runs, so another process on the machine does not count), and the price of a bare operation is measured in the same
run with direct calls of the curve library on points that are already parsed.

Run alone: ``python scripts/bench_crypto.py``.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from btclib_secp256k1 import ffi, lib
from btclib_secp256k1.context import ctx

from protocol import canonical, group, shuffle
from protocol.group import Operations, count_operations
from protocol.proofs import Context, SecretStream, Transcript
from protocol.testing import DeckTable


@dataclass(frozen=True, slots=True)
class Row:
    """``ratio`` is ``value`` / ``bound``; the aim is that it stays at or below ``aim``."""

    name: str
    value: float
    unit: str
    bound: float
    aim: float
    note: str = ""

    @property
    def ratio(self) -> float:
        return self.value / self.bound


def rows() -> list[Row]:
    """All rows of this module."""
    return [*shuffle_rows(), *share_rows(), *size_rows()]


# --- measuring -------------------------------------------------------------------------------------------


def best_ms(work: Callable[[], object], *, runs: int = 7) -> float:
    """The least CPU time of ``runs`` runs, in milliseconds."""
    times = []
    for _ in range(runs):
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return min(times) * 1000


@dataclass(frozen=True, slots=True)
class Prices:
    """Microseconds of CPU for one bare operation each."""

    base_product: float
    secret_product: float
    public_product: float
    sum: float
    addition: float
    decoding: float

    def of(self, counted: Operations) -> float:
        """The bare cost of ``counted`` operations, in milliseconds."""
        return (
            counted.base_products * self.base_product
            + counted.secret_products * self.secret_product
            + counted.public_products * self.public_product
            + counted.sums * self.sum
            + counted.additions * self.addition
            + counted.decodings * self.decoding
        ) / 1000


def prices() -> Prices:
    """Measured with direct library calls: no parsing, no serializing, no objects of ours."""
    count = 200
    scalars = [hashlib.sha256(b"price %d" % number).digest() for number in range(count)]
    keys = ffi.new("secp256k1_pubkey[]", count)
    for index, scalar in enumerate(scalars):
        lib.secp256k1_ec_pubkey_create(ctx, keys + index, scalar)
    encoded = [group.secret_combination(int.from_bytes(scalar, "big")).encoded for scalar in scalars]
    pointers = ffi.new("secp256k1_pubkey *[]", [keys + index for index in range(count)])
    out, xy = ffi.new("secp256k1_pubkey *"), ffi.new("char[64]")
    copy = lib.btclib_secp256k1_ecdh_hash_function_xy

    def base() -> None:
        for scalar in scalars:
            lib.secp256k1_ec_pubkey_create(ctx, out, scalar)

    def secret() -> None:
        for scalar in scalars:
            lib.secp256k1_ecdh(ctx, xy, keys, scalar, copy, ffi.NULL)

    def public() -> None:
        for scalar in scalars:
            out[0] = keys[0]
            lib.secp256k1_ec_pubkey_tweak_mul(ctx, out, scalar)

    def long_sum() -> None:
        lib.secp256k1_ec_pubkey_combine(ctx, out, pointers, count)

    def short_sums() -> None:
        for _ in range(count):
            lib.secp256k1_ec_pubkey_combine(ctx, out, pointers, 2)

    def decoding() -> None:
        for data in encoded:
            lib.secp256k1_ec_pubkey_parse(ctx, out, data, 33)

    base_us, secret_us, public_us, short_us, decoding_us = (
        best_ms(work) * 1000 / count for work in (base, secret, public, short_sums, decoding)
    )
    addition_us = best_ms(long_sum) * 1000 / count
    # A sum of two points is one addition and one inversion.
    return Prices(base_us, secret_us, public_us, short_us - addition_us, addition_us, decoding_us)


def described(counted: Operations) -> str:
    return (
        f"{counted.base_products} base, {counted.secret_products} secret and {counted.public_products} public "
        f"products, {counted.sums} sums of {counted.additions} additions, {counted.decodings} decodings"
    )


# --- the shuffle -----------------------------------------------------------------------------------------


def shuffle_rows(cards: int = 54) -> list[Row]:
    """Shuffle-and-prove and verify (decoding included) of one shuffle of a hidden deck."""
    context, price = Context(bytes(32), 1, 0, 3), prices()
    key = group.secret_combination(0xBE << 200)

    def transcript() -> Transcript:
        return Transcript(context, "shuffle", 1, 1)

    deck, _ = shuffle.shuffle(
        transcript(), key, shuffle.open_deck(range(cards), key), SecretStream(os.urandom(32))
    )

    def prove() -> tuple[tuple[shuffle.Ciphertext, ...], shuffle.ShuffleProof]:
        return shuffle.shuffle(transcript(), key, deck, SecretStream(os.urandom(32)))

    outputs, proof = prove()
    wire = canonical.encode([shuffle.encode_deck(outputs), proof.to_value()])

    def verify() -> None:
        group._parsed.cache_clear()  # what arrives for the first time
        deck_bytes, proof_value = canonical.decode(wire)
        received = shuffle.decode_deck(deck_bytes, cards, field="outputs")
        read = shuffle.ShuffleProof.from_value(proof_value, cards, field="proof")
        shuffle.verify(transcript(), key, deck, received, read, os.urandom(32))

    made = []
    for name, work in ((f"shuffle and prove, {cards} cards", prove), (f"verify, {cards} cards", verify)):
        with count_operations() as counted:
            work()
        made.append(Row(name, best_ms(work), "ms", price.of(counted), 1.15, described(counted)))
    return made


# --- shares ----------------------------------------------------------------------------------------------


def share_rows(seats: int = 4) -> list[Row]:
    """One card shown to everybody: what each peer does (its own share made, all others' checked, the face)."""
    table = DeckTable(seats, seed=os.urandom(16))
    table.agree()
    table.shuffle(range(54))
    deck, context = table.deck, table.context()
    slots = iter(range(deck.slot_count))

    def bodies(slot: int) -> dict[int, list[canonical.Value]]:
        return {seat: table.secrets[seat].shares(context, [slot], os.urandom(32)) for seat in table.seats}

    def reveal(slot: int) -> float:
        others = bodies(slot)
        group._parsed.cache_clear()
        start = time.thread_time()
        table.secrets[0].shares(context, [slot], os.urandom(32))
        for seat, body in others.items():
            if seat != 0:
                deck.check_shares(context, seat, [slot], body, os.urandom(32))
            deck.close_shares(seat, [slot], body)
        if deck.face(slot) is None:
            raise AssertionError("the card did not open")
        return (time.thread_time() - start) * 1000

    return [
        Row(
            f"reveal one card, {seats} seats",
            min(reveal(next(slots)) for _ in range(9)),
            "ms",
            3.0,
            1.0,
            "CPU at each peer: own share made, three checked, face found",
        )
    ]


# --- sizes -----------------------------------------------------------------------------------------------


def size_rows() -> list[Row]:
    """Bytes of what a hand puts into the log, as encoded."""
    table = DeckTable(4, threshold=3, seed=os.urandom(16))
    commits = table.commits()
    table.deck.close_commits(commits)
    reveals = table.reveals()
    table.deck.close_reveals(reveals)
    table.deck.begin_shuffle(range(54))
    seat = table.deck.shuffler
    assert seat is not None
    body = table.secrets[seat].shuffle(table.context(), os.urandom(32))
    return [
        Row(
            "a SHUFFLE of 54 cards", len(canonical.encode(body)), "bytes", 9100 + 3600, 1.0, "proof and deck"
        ),
        Row(
            "a COMMIT and a REVEAL, 4 seats with backups", _size(commits) + _size(reveals), "bytes", 1000, 1.0
        ),
    ]


def _size(bodies: dict[int, list[canonical.Value]]) -> int:
    return len(canonical.encode(bodies[0]))


def main() -> None:
    for row in rows():
        mark = "" if row.ratio <= row.aim else "  (above the aim)"
        print(f"{row.name:44} {row.value:10.2f} {row.unit:6} ratio {row.ratio:5.2f} aim {row.aim:4.2f}{mark}")
        if row.note:
            print(f"    {row.note}")


if __name__ == "__main__":
    main()
