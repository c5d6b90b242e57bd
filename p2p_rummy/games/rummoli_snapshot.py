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

from typing import TYPE_CHECKING, Any

from p2p_rummy.cards import card_name, card_names
from p2p_rummy.games.base import state_digest
from p2p_rummy.games.poker import category, hand_value
from p2p_rummy.games.rummoli_stops import DeniedCard, DeniedColour, Led
from protocol.game import Deal, Need, Over, Showdown, Shuffle, Turn, Window

if TYPE_CHECKING:
    from p2p_rummy.games.rummoli import Rummoli


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
    return state_digest(state(game))


def state(game: Rummoli) -> dict[str, Any]:
    """The snapshot, and under ``rest`` what it does not show: docs/adr/002."""
    return {**snapshot(game), "rest": _rest(game)}


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


def _rest(game: Rummoli) -> dict[str, Any]:
    played = game.round
    betting = played.betting if played else None
    stops = played.stops if played else None
    cards = game.cards
    return {
        "need": _need(game.need),
        "next_dealer": game.next_dealer,
        "endings": list(game.endings),
        "answers": [[seat, text] for seat, text in sorted(game.answers.items())],
        "faces": [[slot, card_name(card)] for slot, card in sorted(cards.faces.items())],
        "swapped": [list(hand) for hand in cards.dead],
        "widow": list(cards.widow),
        "round": {
            "chips_before": list(played.before.chips),
            "pots_before": dict(played.before.pots),
            "gone": sorted(played.gone),
            "played_for": sorted(played.played_for),
            "without_pay_card": list(played.without_pay_card),
            "claimable": played.claimable,
        }
        if played
        else {},
        "betting": {
            "order": betting.order,
            "aggressor": betting.aggressor,
            "answered": sorted(betting.answered),
            "showing": betting.shown is not None,
            "turn": betting.turn,
        }
        if betting
        else {},
        "stops": {
            "ring": stops.ring,
            "order": list(stops.order),
            "counts": [stops.counts.get(seat, 0) for seat in range(game.seats)],
            "dead": card_names(sorted(stops.dead)),
            "leader": stops.leader,
            "colour": stops.colour,
            "passed": list(stops.passed),
            "waiting": list(stops.waiting),
            "follower": stops.follower,
            "last": stops.last,
            "winner": stops.winner,
            "statements": [_statement(statement) for statement in stops.statements],
        }
        if stops
        else {},
    }


def _need(need: Need) -> list[Any]:
    """The need as its name and its fields in their order."""
    match need:
        case Shuffle(cards=cards, new_hand=new_hand):
            return ["shuffle", card_names(cards), new_hand]
        case Deal(owners=owners):
            return ["deal", owners]
        case Turn(seat=seat):
            return ["turn", seat]
        case Window(after=after, seats=seats, sealed=sealed):
            return ["window", after, seats, sealed]
        case Showdown(owners=shown):
            return ["showdown", shown]
        case Over(scores=scores, winners=winners):
            return ["over", scores, winners]


def _statement(statement: Led | DeniedCard | DeniedColour) -> list[Any]:
    match statement:
        case Led(seat=seat, at=at, card=card, colour=colour):
            return ["led", seat, at, card_name(card), colour]
        case DeniedCard(seat=seat, at=at, card=card):
            return ["denied", seat, at, card_name(card)]
        case DeniedColour(seat=seat, at=at, colour=colour):
            return ["denied colour", seat, at, colour]
