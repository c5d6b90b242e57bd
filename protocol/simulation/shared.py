"""What the peers of one process share: what one of them has verified, the others need not compute again.

:class:`SharedIdentity`: what it has signed is known to hold.

:class:`SharedDecks`: a check reads the deck and the body and nothing else, so its verdict is a function of both.  It is
remembered under a digest of the deck, the context, the seat and the body's own bytes; another byte is another check.  The
verifier's randomness is left out on purpose: honest verdicts do not depend on it but for a chance of 2**-128.

Only the simulation uses this: real peers never share memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from protocol import canonical
from protocol.canonical import Value
from protocol.dealing import RealDecks
from protocol.deck import Deck
from protocol.errors import VerificationError
from protocol.game import Card, Slot
from protocol.identity import Identity, hold, tagged_hash
from protocol.proofs import Context

Verdicts = dict[bytes, Any]
MOST_VERDICTS = 4096


class SharedIdentity(Identity):
    """A simulated seat's key.  Any signature that it did not make is verified as anywhere."""

    __slots__ = ()

    def sign(self, tag: str, message: bytes) -> bytes:
        signature = super().sign(tag, message)
        hold(self.public_key, tag, message, signature)
        return signature


class SharedDecks(RealDecks):
    """One of these for all peers of a run."""

    def __init__(self) -> None:
        self._verdicts: Verdicts = {}

    def deck(self, table: bytes, hand: int, seats: tuple[int, ...], threshold: int | None) -> Deck:
        return SharedDeck(self._verdicts, table, hand, seats, threshold)


class SharedDeck(Deck):
    """A deck whose heavy checks look for the verdict first."""

    def __init__(
        self, verdicts: Verdicts, table: bytes, hand: int, seats: tuple[int, ...], threshold: int | None
    ) -> None:
        super().__init__(table, hand, seats, threshold=threshold)
        self._verdicts = verdicts

    def check_shuffle(self, context: Context, seat: int, body: object, entropy: bytes) -> None:
        self._judged(
            "shuffle",
            context,
            seat,
            [],
            body,
            lambda: super(SharedDeck, self).check_shuffle(context, seat, body, entropy),
        )

    def check_shares(
        self, context: Context, seat: int, slots: Sequence[Slot], body: object, entropy: bytes
    ) -> None:
        self._judged(
            "shares",
            context,
            seat,
            slots,
            body,
            lambda: super(SharedDeck, self).check_shares(context, seat, slots, body, entropy),
        )

    def check_opening(
        self, context: Context, seat: int, slots: Sequence[Slot], body: object, entropy: bytes
    ) -> dict[Slot, Card]:
        faces: dict[Slot, Card] = self._judged(
            "opening",
            context,
            seat,
            slots,
            body,
            lambda: super(SharedDeck, self).check_opening(context, seat, slots, body, entropy),
        )
        return dict(faces)

    def _judged(
        self,
        what: str,
        context: Context,
        seat: int,
        slots: Sequence[Slot],
        body: object,
        check: Callable[[], Any],
    ) -> Any:
        place: list[Value] = [context.hand, context.epoch, context.step, seat, list(slots)]
        key = tagged_hash(
            "verdict",
            what.encode(),
            context.table,
            self.digest(),
            canonical.encode(place),
            canonical.encode(body),  # type: ignore[arg-type]
        )
        if key not in self._verdicts:
            try:
                verdict: Any = check()
            except VerificationError as fault:
                verdict = fault
            while len(self._verdicts) >= MOST_VERDICTS:
                del self._verdicts[next(iter(self._verdicts))]
            self._verdicts[key] = verdict
        verdict = self._verdicts[key]
        if isinstance(verdict, VerificationError):
            raise verdict
        return verdict
