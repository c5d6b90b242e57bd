"""The fixed rule by which the table plays an open hand on when its player has gone (``leaver: bot``).

Every peer computes the same move from the public state, so nobody has to sign it and nobody can steer it: it
draws from the stock, melds the most valuable first, lays off, and throws the dearest card that is left.
"""

from __future__ import annotations

from p2p_rummy.games.rum_moves import legal_moves
from p2p_rummy.games.rum_table import Table
from p2p_rummy.notation import parse
from protocol.game import Seat

ORDER = {"draw": 5, "pass": 4, "meld": 3, "lay": 2, "discard": 1}


def stand_in_move(table: Table, seat: Seat) -> str:
    """The move of the open hand of ``seat`` in its turn."""
    values = table.rules.values
    moves = legal_moves(table, seat, {})

    def wish(text: str) -> tuple[int, int, str]:
        move = parse(text)
        return ORDER.get(move.verb, 0), sum(values[card] for card in move.cards), text

    return max(moves, key=wish)
