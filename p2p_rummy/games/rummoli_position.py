"""A table of Rummoli in the middle of a round, with known cards: for scenarios, tests and study.

    table = position({"claim": "auto"}, ["3H 9C", "4H 5H", "2D"], phase="lead", turn=0)
    table.move(0, "play 3H")

The cards that no hand holds are dead, as if they had been played before or lay in the widow.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from p2p_rummy.cards import card_number
from p2p_rummy.games.rummoli import Rummoli
from p2p_rummy.games.rummoli_board import ANTE
from p2p_rummy.games.rummoli_round import Round
from p2p_rummy.local import LocalTable
from p2p_rummy.options import resolve
from protocol.game import Card, Seat, Slot


def position(
    options: Mapping[str, object],
    hands: Sequence[str],
    *,
    phase: Literal["widow", "bet", "lead"],
    dealer: Seat | None = None,
    turn: Seat = 0,
    colour: Literal["red", "black"] | None = None,
    widow: str = "",
    chips: Sequence[int] | None = None,
    pots: Mapping[str, int] | None = None,
    packs: Iterable[Sequence[Card]] = (),
) -> LocalTable:
    """A table that goes on from here; later rounds use ``packs``, then a fixed seed.

    ``hands``: the cards of each seat ("" sits out).  ``turn`` leads (phase ``lead``) in ``colour`` (None: as the
    winner of the poker pot).  ``chips`` and ``pots`` are as they are after the ante; left out, everybody has
    just paid it.  The dealer is the last seat if none is given.
    """
    game = Rummoli(resolve("rummoli", options, len(hands)))
    table = LocalTable(game, rng=random.Random(0), packs=packs)
    game.dealer = game.seats - 1 if dealer is None else dealer
    seats = [seat for seat, hand in enumerate(hands) if hand]
    game.players = sorted(seats, key=lambda seat: (seat - game.dealer - 1) % game.seats)
    before = game.board.copy()
    game.board.ante(game.players)
    if chips is not None:
        game.board.chips = list(chips)
        before.chips = [own + ANTE * (seat in seats) for seat, own in enumerate(chips)]
        game.scores = list(before.chips)
    if pots is not None:
        game.board.pots.update(pots)
        before.pots = {pot: held - len(seats) for pot, held in game.board.pots.items()}
    for seat in game.players:
        game.cards.hands[seat] = _slots(hands[seat], table.secret)
        table.faces[seat].update((slot, table.secret[slot]) for slot in game.cards.hands[seat])
    game.cards.widow = _slots(widow, table.secret)
    game.next_dealer = game.dealer
    game.round = Round(game.terms, game.board, before, game.cards, game.dealer, game.players)
    game.round.begin(phase, turn, colour)
    return table


def _slots(names: str, faces: dict[Slot, Card]) -> list[Slot]:
    first = len(faces)
    faces.update(enumerate((card_number(name) for name in names.split()), first))
    return list(range(first, len(faces)))
