"""A table where the cards are known: the trust layer's place taken by one object that holds the pack.

:class:`LocalTable` satisfies the needs of any :class:`protocol.game.Game` (shuffles, deals, showdowns) from a
random generator or from packs given in order, and gives each seat its own faces and no others.  Scenario files,
bots, the benchmark and the property tests drive games through it; the engine and its checks are the real ones.

    table = LocalTable(make_game("rum500", {}, 3), rng=random.Random(1))
    table.settle()                       # until somebody has to move
    seat = table.to_move()[0]
    table.move(seat, table.legal(seat)[0])
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence

from protocol.game import (
    Card,
    Deal,
    Dealt,
    Dropped,
    Game,
    Moved,
    Over,
    Returned,
    Seat,
    Showdown,
    Shown,
    Shuffle,
    Shuffled,
    Slot,
    Turn,
    Window,
)

NOTHING_OPENED = Dealt()
SOMEBODY_DECIDES = (Turn, Window, Over)


class LocalTable:
    """One game with all cards in one process.

    ``packs``: shuffled packs, top card first, one for each coming shuffle (each must hold exactly the cards
    that the game asks to shuffle); when they run out, ``rng`` shuffles.  ``coins``: the joint randomness of
    each shuffle (32 bytes), likewise.
    """

    def __init__(
        self,
        game: Game,
        *,
        rng: random.Random | None = None,
        packs: Iterable[Sequence[Card]] = (),
        coins: Iterable[bytes] = (),
    ) -> None:
        self.game = game
        self.faces: list[dict[Slot, Card]] = [{} for _ in range(game.seats)]
        """What each seat knows of its own closed slots, as its peer would."""
        self.secret: dict[Slot, Card] = {}
        """Every slot of the hand with its face; no seat may look at it."""
        self._rng = rng
        self._packs: Iterator[Sequence[Card]] = iter(packs)
        self._coins: Iterator[bytes] = iter(coins)

    # --- needs ---

    def settle(self, *, into_next_hand: bool = True) -> None:
        """Satisfy needs until a seat has to move or the game is over.

        ``into_next_hand=False`` stops before the shuffle of another hand.
        """
        while True:
            need = self.game.need
            if isinstance(need, Deal):
                self.deal(need)
            elif isinstance(need, SOMEBODY_DECIDES):
                return
            elif isinstance(need, Showdown):
                self.show(need)
            elif need.new_hand and not into_next_hand:
                return
            else:
                self.shuffle(need)

    def shuffle(self, need: Shuffle) -> None:
        pack = next(self._packs, None)
        if pack is None:
            if self._rng is None:
                raise ValueError("no pack is left and there is no rng to shuffle one")
            pack = list(need.cards)
            self._rng.shuffle(pack)
        elif sorted(pack) != sorted(need.cards):
            raise ValueError("the pack given does not hold the cards that are to be shuffled")
        if need.new_hand:
            self.secret.clear()
            for own in self.faces:
                own.clear()
        first = len(self.secret)
        self.secret.update(enumerate(pack, first))
        coin = next(self._coins, None)
        if coin is None:
            coin = self._rng.randbytes(32) if self._rng is not None else bytes(32)
        self.game.apply(Shuffled(coin=coin))

    def deal(self, need: Deal) -> None:
        opened: list[tuple[Slot, Card]] = []
        for slot, owner in need.owners:
            if owner is None:
                opened.append((slot, self.secret[slot]))
            else:
                self.faces[owner][slot] = self.secret[slot]
        self.game.apply(Dealt(faces=tuple(opened)) if opened else NOTHING_OPENED)

    def show(self, need: Showdown) -> None:
        self.game.apply(Shown(faces=tuple((slot, self.secret[slot]) for slot, _ in need.owners)))

    # --- moves ---

    def to_move(self) -> tuple[Seat, ...]:
        """The seats that owe a move or an answer now; empty when the game is over (or between hands)."""
        need = self.game.need
        if isinstance(need, Turn):
            return (need.seat,)
        if isinstance(need, Window):
            return need.seats
        return ()

    def legal(self, seat: Seat) -> list[str]:
        return self.game.legal_moves(seat, self.faces[seat])

    def move(self, seat: Seat, text: str, *, into_next_hand: bool = True) -> None:
        """One move, opened and applied, then everything that follows from it.  Raises Refused."""
        own = self.faces[seat]
        slots = self.game.slots_of(seat, text, own)
        openings = tuple([(slot, own[slot]) for slot in slots]) if slots else ()
        self.game.apply(Moved(seat=seat, text=text, openings=openings))
        self.settle(into_next_hand=into_next_hand)

    # --- leaving ---

    def drop(self, seat: Seat, *, void: bool = False, into_next_hand: bool = True) -> None:
        """The seat leaves: its closed slots are opened, unless the hand is void for want of backups."""
        slots = () if void else self.game.hidden(seat)
        faces = tuple((slot, self.secret[slot]) for slot in slots)
        self.faces[seat].clear()
        self.game.apply(Dropped(seat=seat, faces=faces, void=void))
        self.settle(into_next_hand=into_next_hand)

    def sit_down_again(self, seat: Seat) -> None:
        """The seat comes back, between two hands."""
        self.game.apply(Returned(seat=seat))
