"""SPEC.md section 6: the public state of a hand, built from bodies."""

from __future__ import annotations

from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from tests.second import proofs
from tests.second.encoding import H, encode, need, shaped
from tests.second.group import ORDER, G, from_label, point, points, scalars, total, write
from tests.second.proofs import Where


class Deck:
    def __init__(self, table: bytes, hand: int, seats: list[int], threshold: int) -> None:
        """``threshold`` 0: no backups."""
        self.table, self.hand, self.seats, self.threshold = table, hand, seats, threshold
        self.digests: dict[int, bytes] = {}
        self.sealing: dict[int, bytes] = {}
        self.reveals: dict[int, list[Any]] = {}
        self.dropped: dict[int, int | None] = {}
        self.cards: dict[bytes, int] = {}
        self.current = b""
        self.shuffled: list[int] = []
        self.slots: list[bytes] = []
        self.shares: list[dict[int, bytes]] = []
        self.faces: dict[int, int] = {}

    # --- 6.1, 6.2 ---

    def commit(self, epoch: int, step: int, seat: int, body: Any) -> None:
        if not self.threshold:
            (self.digests[seat],) = shaped(body, 32)
            return
        digest, key, proof = shaped(body, 32, 33, 65)
        proofs.possession(self._where(epoch, step, seat, "possession of a sealing key"), key, proof)
        self.digests[seat], self.sealing[seat] = digest, key

    def reveal(self, epoch: int, step: int, seat: int, body: Any) -> None:
        t, holders = self.threshold, len(self.seats) - 1
        body = shaped(body, 32, 33, 65, *((33 * t, 33, 65, 48 * holders) if t else ()))
        nonce, share, proof = body[:3]
        commitments = body[3] if t else b""
        digest = H("hand commitment", encode([1, self.table, self.hand, seat]), nonce, share, commitments)
        need(digest == self.digests[seat], "bad_reveal", seat)
        proofs.possession(self._where(epoch, step, seat, "possession of a key share"), share, proof)
        if t:
            need(commitments[:33] == share, "bad_backup", seat)
            points(commitments, t, seat)
            proofs.possession(
                self._where(epoch, step, seat, "possession of an ephemeral key"), body[4], body[5]
            )
        self.reveals[seat] = body

    def keys_are_out(self) -> None:
        shares = [self.reveals[seat][1] for seat in self.seats]
        for at, seat in enumerate(self.seats):
            need(shares[at] not in shares[:at], "repeated_key", seat)
        joint = total(*((1, point(share)) for share in shares))
        assert joint is not None
        self.key = write(joint)
        nonces = [self.reveals[seat][0] for seat in self.seats]
        self.coin = H("coin", encode([self.table, self.hand, self.seats]), *nonces)
        first = int.from_bytes(H("shuffle order", self.coin), "big") % len(self.seats)
        self.order = self.seats[first:] + self.seats[:first]

    # --- 6.3, 6.4 ---

    def open_deck(self, cards: list[int]) -> None:
        self.current, self.shuffled = b"", []
        for card in cards:
            of_card = from_label("card", card)
            self.cards[write(of_card)] = card
            b = total((1, of_card), (1, point(self.key)))
            assert b is not None
            self.current += write(G) + write(b)

    def turn(self) -> int:
        return next(seat for seat in self.order if seat not in self.dropped and seat not in self.shuffled)

    def shuffle(self, epoch: int, step: int, seat: int, body: Any) -> None:
        need(seat == self.turn(), "out_of_turn", seat)
        outputs, proof = shaped(body, bytes, list)
        where = self._where(epoch, step, seat, "shuffle", self.order.index(seat))
        proofs.shuffle(where, self.key, self.current, outputs, proof)
        self.current = outputs
        self.shuffled.append(seat)
        if all(seat in self.dropped or seat in self.shuffled for seat in self.seats):
            made = [outputs[at : at + 66] for at in range(0, len(outputs), 66)]
            self.slots += made
            self.shares += [{} for _ in made]

    def complaint(self, epoch: int, step: int, seat: int, body: Any) -> int:
        """Returns the seat at fault."""
        dealer, opened, proof = shaped(body, int, 33, 98)
        need(self.threshold and dealer in self.seats and dealer != seat, "bad_complaint", seat)
        base = self.reveals[dealer][4]
        where = self._where(epoch, step, seat, "complaint", dealer)
        proofs.equality(where, self.sealing[seat], base, opened, proof)
        share = self.unseal(dealer, seat, opened)
        return seat if share is not None and self._fits(dealer, seat, share) else dealer

    def unseal(self, dealer: int, holder: int, opened: bytes) -> int | None:
        """The backup share, given z E; None if there is none."""
        place = encode([1, self.table, self.hand, dealer, holder])
        base, sealed = self.reveals[dealer][4], self.reveals[dealer][6]
        at = 48 * [seat for seat in self.seats if seat != dealer].index(holder)
        key = H("backup seal", place, base, self.sealing[holder], opened)
        try:
            data = ChaCha20Poly1305(key).decrypt(bytes(12), sealed[at : at + 48], place)
        except InvalidTag:
            return None
        share = int.from_bytes(data, "big")
        return share if 0 < share < ORDER else None

    def _fits(self, dealer: int, holder: int, share: int) -> bool:
        """f(j) G = sum j^k C_k, j = seat + 1."""
        commitments = points(self.reveals[dealer][3], self.threshold)
        powers = ((holder + 1) ** k for k in range(self.threshold))
        return total((share, G)) == total(*zip(powers, commitments, strict=True))

    # --- 6.5, 6.6 ---

    def take(self, epoch: int, step: int, seat: int, slots: list[int], body: Any, purpose: str) -> None:
        shares, proof = shaped(body, bytes, bytes)
        need(slots and len(set(slots)) == len(slots), "bad_opening", seat)
        need(all(slot < len(self.slots) for slot in slots), "bad_opening", seat)
        if purpose == "opening":
            need(all(slot not in self.faces for slot in slots), "already_open", seat)
            need(all(self.missing(slot) == [seat] for slot in slots), "not_held", seat)
        bases = b"".join(self.slots[slot][:33] for slot in slots)
        where = self._where(epoch, step, seat, purpose)
        proofs.equality(where, self.reveals[seat][1], bases, shares, proof, slots)
        for number, slot in enumerate(slots):
            self.shares[slot].setdefault(seat, shares[33 * number : 33 * number + 33])
        self._look()

    def missing(self, slot: int) -> list[int]:
        return [
            seat for seat in self.seats if seat not in self.shares[slot] and self.dropped.get(seat) is None
        ]

    def restore(self, leaving: int, bodies: dict[int, Any]) -> None:
        self.dropped.setdefault(leaving, None)
        given = {}
        for seat, body in bodies.items():
            (data,) = shaped(body, 32)
            (given[seat],) = scalars(data, 1, seat)
            need(given[seat] and self._fits(leaving, seat, given[seat]), "bad_backup_share", seat)
        chosen = sorted(given)[: self.threshold]
        x = 0
        for seat in chosen:
            factor = given[seat]
            for other in chosen:
                if other != seat:
                    factor = factor * (other + 1) * pow(other - seat, -1, ORDER) % ORDER
            x = (x + factor) % ORDER
        need(total((x, G)) == point(self.reveals[leaving][1]), "bad_key")
        self.dropped[leaving] = x
        self._look()

    def _look(self) -> None:
        for slot, pair in enumerate(self.slots):
            if slot not in self.faces and not self.missing(slot):
                a, b = points(pair, 2)
                secrets = [
                    x for seat, x in self.dropped.items() if x is not None and seat not in self.shares[slot]
                ]
                given = ((-1, point(share)) for share in self.shares[slot].values())
                shown = total((1, b), *given, *((-x, a) for x in secrets))
                assert shown is not None
                self.faces[slot] = self.cards[write(shown)]

    def _where(self, epoch: int, step: int, seat: int, purpose: str, position: int = 0) -> Where:
        return Where(self.table, self.hand, epoch, step, seat, purpose, position)
