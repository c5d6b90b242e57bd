"""deck.json: whole hands, body by body: two seats, three seats with a leaver, and two complaints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from protocol.canonical import Value
from protocol.deck import Card, Seat, Slot
from protocol.group import encode_scalar, secret_combination
from protocol.proofs import SecretStream, Transcript, prove_equality
from protocol.shuffle import encode_deck
from protocol.testing import DeckTable
from scripts.vector_files.form import File, fixed, plain

Owners = Mapping[Slot, Seat | None]


def make() -> File:
    return {
        "about": "SPEC.md section 6.  Bodies by step and seat, as they stand in entries; RESTORE for one leaving seat.",
        "hands": [two_seats(), three_seats(), complaint(good=False), complaint(good=True)],
    }


class Recorder:
    """Drives a :class:`DeckTable` and writes down every body with its context."""

    def __init__(self, comment: str, table: DeckTable) -> None:
        self.comment = comment
        self.table = table
        self.steps: list[dict[str, Any]] = []

    def keys(self) -> None:
        table = self.table
        commits = table.commits()
        table.deck.close_commits(commits)
        self._write("COMMIT", commits)
        reveals = table.reveals()
        table.deck.close_reveals(reveals)
        self._write("REVEAL", reveals)

    def shuffle(self, cards: Sequence[Card], *, until: Seat | None = None) -> None:
        """Every seat in turn, or those before ``until``."""
        table = self.table
        table.deck.begin_shuffle(cards)
        while (seat := table.deck.shuffler) != until and seat is not None:
            body = table.secrets[seat].shuffle(table.context(), table.entropy())
            position = table.deck.shuffle_order.index(seat)
            table.deck.close_shuffle(seat, body)
            self._write("SHUFFLE", {seat: body}, position=position, cards=list(cards))

    def deal(self, owners: Owners) -> None:
        table = self.table
        bodies: dict[Seat, list[Value]] = {}
        asked: dict[str, list[Slot]] = {}
        for seat in table.live():
            slots = [slot for slot, owner in sorted(owners.items()) if owner != seat]
            if slots:
                bodies[seat] = table.secrets[seat].shares(table.context(), slots, table.entropy())
                asked[str(seat)] = slots
        for seat, body in bodies.items():
            table.deck.close_shares(seat, asked[str(seat)], body)
        self._write("SHARES", bodies, slots=asked)

    def open(self, seat: Seat, slots: list[Slot]) -> None:
        table = self.table
        body = table.secrets[seat].opening(table.context(), slots, table.entropy())
        table.deck.close_opening(seat, slots, body)
        self._write("opening", {seat: body}, slots={str(seat): slots})

    def leave(self, seat: Seat) -> None:
        table = self.table
        table.deck.drop(seat)
        bodies = {other: table.secrets[other].restore(seat) for other in table.live()}
        table.deck.close_restore(seat, bodies)
        self._write("RESTORE", bodies, leaving=seat)

    def complain(self, seat: Seat, body: list[Value], at_fault: Seat) -> None:
        self._write("COMPLAINT", {seat: body}, at_fault=at_fault)

    def _write(self, kind: str, bodies: Mapping[Seat, list[Value]], **more: Any) -> None:
        context = self.table.context()
        self.steps.append(
            {
                "kind": kind,
                "epoch": context.epoch,
                "step": context.step,
                **more,
                "bodies": {str(seat): plain(body) for seat, body in sorted(bodies.items())},
                "faces": faces(self.table),
            }
        )
        self.table.step += 1

    def hand(self) -> dict[str, Any]:
        table, deck = self.table, self.table.deck
        slots = [deck.ciphertext(slot) for slot in range(deck.slot_count)]
        return {
            "comment": self.comment,
            "table": table.table.hex(),
            "hand": table.hand,
            "seats": list(table.seats),
            "threshold": deck.threshold or 0,
            "secrets": {
                str(seat): {
                    "x": encode_scalar(secret._card_secret()).hex(),
                    **(
                        {
                            "z": encode_scalar(secret._sealing_secret()).hex(),
                            "polynomial": [encode_scalar(each).hex() for each in secret._polynomial()],
                        }
                        if deck.threshold
                        else {}
                    ),
                }
                for seat, secret in table.secrets.items()
            },
            "steps": self.steps,
            "joint_key": deck.keys.joint_key.encoded.hex(),
            "coin": deck.coin.hex(),
            "shuffle_order": list(deck.shuffle_order),
            "slots": encode_deck(slots).hex(),
        }


def faces(table: DeckTable) -> dict[str, int]:
    """What is open to all after a step."""
    opened = ((slot, table.deck.face(slot)) for slot in range(table.deck.slot_count))
    return {str(slot): card for slot, card in opened if card is not None}


def table_of(name: str, seats: int, threshold: int | None) -> DeckTable:
    return DeckTable(seats, threshold=threshold, seed=fixed(name), table=fixed("table"))


def two_seats() -> dict[str, Any]:
    hand = Recorder("two seats, no backups; slot 2 is opened to all", table_of("two seats", 2, None))
    hand.keys()
    hand.shuffle(range(6))
    hand.deal({0: 0, 1: 1, 2: None, 3: 0, 4: 1})
    hand.open(1, [1, 4])
    hand.open(0, [3])
    return hand.hand()


def three_seats() -> dict[str, Any]:
    hand = Recorder(
        "three seats with backups; seat 2 leaves; the open cards are shuffled a second time",
        table_of("three seats", 3, 2),
    )
    hand.keys()
    hand.shuffle((0, 5, 51, 104, 7))
    hand.deal({0: 0, 1: 1, 2: 2, 3: None})
    hand.leave(2)
    hand.deal({4: 0})
    hand.open(1, [1])
    opened = sorted(faces(hand.table).values())
    hand.shuffle(opened)
    hand.deal({5: 0})
    hand.open(0, [5])
    return hand.hand()


def complaint(*, good: bool) -> dict[str, Any]:
    """Seat 2 complains about the share that seat 0 sealed to it, rightly or wrongly."""
    told = "a false complaint about a good share" if good else "a complaint about a share that does not open"
    table = table_of("complaint", 3, 2)
    hand = Recorder(f"{told} of seat 0's key, by seat 2 in the place of its SHUFFLE", table)
    commits = table.commits()
    table.deck.close_commits(commits)
    hand._write("COMMIT", commits)
    reveals = table.reveals()
    if not good:
        sealed = reveals[0][6]
        assert isinstance(sealed, bytes)
        reveals[0][6] = sealed[:-1] + bytes([sealed[-1] ^ 1])
    table.deck.close_reveals(reveals)
    hand._write("REVEAL", reveals)
    hand.shuffle(range(4), until=2)
    body = false_complaint(table) if good else table.secrets[2].complaint(table.context(), table.entropy())
    assert body is not None
    at_fault = table.deck.check_complaint(table.context(), 2, body, table.entropy())
    hand.complain(2, body, at_fault)
    return hand.hand()


def false_complaint(table: DeckTable) -> list[Value]:
    """What seat 2 would say if it only pretended; no honest program makes it."""
    deck = table.deck
    secret = table.secrets[2]._sealing_secret()
    base = deck.keys.backup(0).ephemeral
    point = secret_combination(None, ((base, secret),))
    transcript = Transcript(table.context(), "complaint", 2, 0)
    stream = SecretStream(fixed("false complaint"))
    proof = prove_equality(transcript, secret, deck.keys.sealing_key(2), [base], [point], stream)
    return [0, point.encoded, proof]
