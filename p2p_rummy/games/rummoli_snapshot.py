"""What all may see of a table of Rummoli: as plain data for faces and bots, and as 32 bytes for comparing.

The keys that every game has are those of docs/adr/002-public-snapshot.md.  Rummoli's own are under ``extra``:

==================  ===========================================================================================
``round``           rounds played to their end
``players``         the seats of this round, clockwise from the dealer's left
``chips``           by seat
``pots``            chips by pot: poker, TS, JD, QC, KH, AS, AD+KD, 7-8-9, centre
``cards``           number of cards in each hand
``widow``           number of cards in the widow; ``widow_taker``: the seat that swapped, or -1
``bids``            ``[[seat, chips]]`` of those still bidding (0: no bid yet)
``betting``         ``level`` ``paid`` (by seat) ``raises`` ``room`` (by how much it may rise) ``left`` (seats), or {}
``shown``           ``[{"seat", "cards", "hand": "two pairs"}]``
``played``          ``[[seat, card]]`` in order
``due``             the card that must follow, or ""; ``colour``: the colour to be led, or ""
``faults``          ``[{"seat", "rule", "cards", "said"}]`` of the last round that was void for a broken word
==================  ===========================================================================================
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from p2p_rummy.cards import card_name, card_names
from p2p_rummy.games.poker import category, hand_value
from protocol import canonical
from protocol.game import Over, Turn, Window

if TYPE_CHECKING:
    from p2p_rummy.games.rummoli import Rummoli

_TAG = "p2p-rummy rummoli state 1"


def snapshot(game: Rummoli) -> dict[str, Any]:
    return {
        "game": game.name,
        "options": game.settings.plain(),
        "seats": game.seats,
        "hand": game.hand,
        "phase": game.phase,
        "dealer": game.dealer,
        "turn": _turn(game),
        "scores": list(game.scores),
        "sheet": [{**row, "points": list(row["points"])} for row in game.sheet],
        "stock": 0,
        "discard": [],
        "melds": [],
        "hands": [
            [
                {"slot": slot, "card": card_name(game.cards.faces[slot]) if slot in game.cards.faces else ""}
                for slot in hand
            ]
            for hand in game.cards.hands
        ],
        "must_use": "",
        "taken_top": "",
        "floating": [],
        "winner": list(game.need.winners) if isinstance(game.need, Over) else [],
        "out": sorted(game.out),
        "answered": sorted(game.answers),
        "extra": _extra(game),
    }


def digest(game: Rummoli) -> bytes:
    """Equal exactly when everything is equal that the future of the game depends on."""
    return hashlib.sha256(canonical.encode([_TAG, _listed(_state(game))])).digest()


def _turn(game: Rummoli) -> int:
    need = game.need
    if isinstance(need, Turn):
        return need.seat
    return need.after if isinstance(need, Window) else game.dealer


def _extra(game: Rummoli) -> dict[str, Any]:
    played = game.round
    betting = played.betting if played else None
    stops = played.stops if played else None
    taker = played.widow_taker if played else None
    shown = (betting.shown if betting else None) or {}
    return {
        "round": game.rounds,
        "players": list(game.players),
        "chips": list(game.board.chips),
        "pots": dict(game.board.pots),
        "cards": [len(hand) for hand in game.cards.hands],
        "widow": len(game.cards.widow),
        "widow_taker": -1 if taker is None else taker,
        "bids": [[seat, amount] for seat, amount in played.bids.items()] if played else [],
        "betting": {
            "level": betting.level,
            "paid": [betting.paid.get(seat, 0) for seat in range(game.seats)],
            "raises": betting.raises,
            "room": betting.room(game.board.chips),
            "left": list(betting.left),
        }
        if betting
        else {},
        "shown": [
            {"seat": seat, "cards": card_names(five), "hand": category(hand_value(five))}
            for seat, five in shown.items()
        ],
        "played": [[seat, card_name(card)] for seat, card in stops.played] if stops else [],
        "due": card_name(stops.due) if stops and stops.due is not None else "",
        "colour": (stops.colour or "") if stops and stops.leader is not None else "",
        "faults": [
            {"seat": fault.seat, "rule": fault.rule, "cards": card_names(fault.cards), "said": fault.said}
            for fault in game.faults
        ],
    }


def _state(game: Rummoli) -> dict[str, Any]:
    """The snapshot, and what it does not show."""
    played = game.round
    betting = played.betting if played else None
    stops = played.stops if played else None
    return {
        **snapshot(game),
        "need": repr(game.need),
        "cards": [game.cards.dead, game.cards.widow, game.cards.faces],
        "next_dealer": game.next_dealer,
        "endings": game.endings,
        "answers": game.answers,
        "round": [
            [played.before.chips, played.before.pots],
            [played.gone, played.played_for, played.without_pay_card, played.claimable],
        ]
        if played
        else [],
        "betting": [betting.aggressor, betting.answered, betting.turn] if betting else [],
        "stops": [
            stops.counts,
            stops.dead,
            stops.leader,
            stops.passed,
            stops.waiting,
            stops.follower,
            stops.last,
        ]
        if stops
        else [],
        "statements": [repr(statement) for statement in stops.statements] if stops else [],
    }


def _listed(value: Any) -> canonical.Value:
    """Plain data as the canonical encoding knows it: no maps, no sets, no nothing, no number below zero."""
    if value is None:
        return []
    if isinstance(value, dict):
        return [[_listed(key), _listed(item)] for key, item in sorted(value.items())]
    if isinstance(value, set):
        return [_listed(item) for item in sorted(value)]
    if isinstance(value, list | tuple):
        return [_listed(item) for item in value]
    if isinstance(value, int) and value < 0:
        return str(value)
    assert isinstance(value, bool | int | str)
    return value
