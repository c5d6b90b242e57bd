"""What a move of Rummoli may be: by what all can see, by what its seat can see, and the list of all moves.

Three questions, in the order in which a move meets them:

* :func:`check`: would anybody at the table refuse it?  Hidden cards are hidden, so this judges what is public.
* :func:`slots_of`: would an honest seat make it?  This adds the duties that only the seat can judge: no pay
  card when swapping or bidding, the lowest card led, the card that is due played, the best five shown.
* :func:`legal_moves`: every move that passes both.

Who breaks a hidden duty all the same is named when the hands are opened (R236).  A pass in a window is
never refused in public, even by a seat whose card lies open: silence arrives as a pass.

Refusals come in the order of R250.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from p2p_rummy.cards import card_name, card_names
from p2p_rummy.games.poker import HAND_SIZE, best_fives, best_value, hand_value
from p2p_rummy.games.rummoli_board import COLOUR, NEXT, PAY_CARDS
from p2p_rummy.games.rummoli_moves import Move, parse, text_of
from p2p_rummy.games.rummoli_stops import chain, lowest
from p2p_rummy.refusals import IllegalMove
from protocol.game import Card, Faces, Over, Seat, Slot, Turn, Window

if TYPE_CHECKING:
    from p2p_rummy.games.rummoli import Rummoli
    from p2p_rummy.games.rummoli_poker import Betting
    from p2p_rummy.games.rummoli_round import Round
    from p2p_rummy.games.rummoli_stops import Stops

VERBS: dict[str, tuple[str, ...]] = {
    "widow": ("swap", "keep"),
    "auction": ("bid", "pass"),
    "bet": ("check", "bet", "call", "raise", "fold"),
    "show": ("show", "muck"),
    "lead": ("play", "pass", "claim"),
    "follow": ("play", "pass"),
    "vote": ("end", "pass"),
}
"""What may be said in each phase."""


def check(game: Rummoli, seat: Seat, move: Move, openings: Faces) -> None:
    """Raise Refused if anybody can see that this is not allowed now."""
    _on_turn(game, seat, move)
    _cards_held(game, seat, move, openings)
    _shape(game, seat, move)
    if not (move.verb == "pass" and isinstance(game.need, Window)):
        duty(game, seat, move, {*game.cards.open_hand(seat), *openings.values()})


def slots_of(game: Rummoli, seat: Seat, move: Move, faces: Faces) -> tuple[Slot, ...]:
    """The hidden slots to open, in the order of the cards named."""
    hidden = {
        faces[slot]: slot for slot in game.cards.hands[seat] if slot in faces and slot not in game.cards.faces
    }
    openings = {hidden[card]: card for card in move.cards if card in hidden}
    check(game, seat, move, openings)
    duty(game, seat, move, {*game.cards.open_hand(seat), *hidden})
    return tuple(openings)


def legal_moves(game: Rummoli, seat: Seat, faces: Faces) -> list[str]:
    """Every move of an honest seat."""
    if not _may_speak(game, seat):
        return []
    held = {*game.cards.open_hand(seat), *(faces[slot] for slot in game.cards.hands[seat] if slot in faces)}
    moves = []
    for text in _candidates(game, seat, held):
        try:
            slots_of(game, seat, parse(text), faces)
        except IllegalMove:
            continue
        moves.append(text)
    return moves


def duty(game: Rummoli, seat: Seat, move: Move, held: Collection[Card]) -> None:
    """Refuse what ``held`` forbids: all of the hand for its own seat, the part of it that lies open for the others."""
    match game.phase, move.verb:
        case ("widow", "swap") | ("auction", "bid"):
            if pay := sorted(PAY_CARDS.intersection(held)):
                rule = "R223" if move.verb == "swap" else "R224"
                raise _refusal("pay_card_in_hand", f"you hold {_words(pay)}: no {move.verb}", rule, pay)
        case "show", "show":
            if best_value(held) < hand_value(move.cards):
                best = best_fives(held)[0]
                raise _refusal("not_the_best_five", f"you have better: show {_words(best)}", "R225", best)
        case ("lead", "play") | ("follow", "play"):
            _play_duty(game, move, held)
        case "lead", "pass":
            if cards := sorted(lowest(held, _stops(game).colour)):
                raise _refusal("must_play", f"lead your lowest: {_words(cards)}", "R229", cards)
        case "follow", "pass":
            due = _stops(game).due
            if due in held and due is not None:
                raise _refusal("must_play", f"you hold {card_name(due)}: play it", "R227", [due])


def _play_duty(game: Rummoli, move: Move, held: Collection[Card]) -> None:
    stops = _stops(game)
    least = lowest(held, stops.colour)
    if game.phase == "lead" and move.cards[0] not in least:
        rule = "R226" if stops.colour is None else "R228"
        cards = sorted(least)
        raise _refusal("not_the_lowest", f"lead your lowest: {_words(cards)}", rule, cards)
    following = NEXT[move.cards[-1]]
    if following is not None and following in held:
        cards = list(chain(move.cards[0], held))
        raise _refusal("must_play", f"play on: {_words(cards)}", "R227", [following])


# --- in the order of R250 -------------------------------------------------------------------------------


def _may_speak(game: Rummoli, seat: Seat) -> bool:
    need = game.need
    if isinstance(need, Window):
        return seat in need.seats and seat not in game.answers
    return isinstance(need, Turn) and need.seat == seat


def _on_turn(game: Rummoli, seat: Seat, move: Move) -> None:
    if isinstance(game.need, Over):
        raise _refusal("wrong_phase", "the game is over", "R234")
    if not _may_speak(game, seat):
        raise _refusal("not_your_turn", "it is not your turn, or you have answered already", "R4")
    if move.verb not in VERBS[game.phase]:
        choices = ", ".join(VERBS[game.phase])
        raise _refusal("wrong_phase", f"no {move.verb} now; you may {choices}", "R221")


def _cards_held(game: Rummoli, seat: Seat, move: Move, openings: Faces) -> None:
    open_hand = game.cards.open_hand(seat)
    closed = {slot for slot in game.cards.hands[seat] if slot not in game.cards.faces}
    opened = {card for slot, card in openings.items() if slot in closed}
    for card in move.cards:
        if card not in open_hand and card not in opened:
            raise _refusal("not_in_hand", f"{card_name(card)} is not in your hand", "R222", [card])
    if len(openings) != len(opened) or not opened <= set(move.cards):
        raise _refusal("not_in_hand", "a move opens the cards that it names and no others", "R222")


def _shape(game: Rummoli, seat: Seat, move: Move) -> None:
    match game.phase:
        case "auction" if move.verb == "bid":
            _bid(game, seat, move)
        case "bet":
            _bet(game, seat, move)
        case "show":
            _show(game, move)
        case "lead" | "follow":
            _claim(game, seat, move)
            _play(game, move)


def _bid(game: Rummoli, seat: Seat, move: Move) -> None:
    high = max(_round(game).bids.values())
    if move.amount <= high:
        raise _refusal("bid_too_low", f"a bid must rise by at least 1: bid {high + 1} or pass", "R224")
    if move.amount > game.board.chips[seat]:
        raise _refusal("not_enough_chips", f"you have {game.board.chips[seat]} chips", "R224")


def _bet(game: Rummoli, seat: Seat, move: Move) -> None:
    betting = _betting(game)
    if betting.level and move.verb in ("check", "bet"):
        raise _refusal("bet_to_answer", f"call {betting.owes(seat)}, raise or fold", "R225")
    if not betting.level and move.verb in ("call", "raise", "fold"):
        raise _refusal("no_bet_to_answer", "nobody has bet: check or bet", "R225")
    if move.verb == "raise" and not betting.may_raise():
        raise _refusal("no_more_raises", "there have been three raises: call or fold", "R225")
    if move.verb in ("bet", "raise"):
        room = betting.room(game.board.chips)
        if not 1 <= move.amount <= betting.limit:
            raise _refusal("over_the_limit", f"a {move.verb} is 1 to {betting.limit} chips", "R225")
        if move.amount > room:
            raise _refusal("over_the_limit", f"the poorest player left can match {room} more", "R225")


def _show(game: Rummoli, move: Move) -> None:
    if move.verb == "muck" and not _betting(game).shown:
        raise _refusal("must_show", "no hand lies open yet: show yours", "R225")
    if move.verb == "show" and len(move.cards) != HAND_SIZE:
        raise _refusal("not_five_cards", f"show {HAND_SIZE} cards", "R225", move.cards)


def _claim(game: Rummoli, seat: Seat, move: Move) -> None:
    stops = _stops(game)
    if not (move.claim or move.verb == "claim"):
        return
    if game.terms.claim == "auto":
        raise _refusal("option_forbids", "with claim=auto the pots are paid at once", "R231", move.cards)
    if move.verb == "claim":
        won = _round(game).claimable if stops.last == seat else ()
    else:
        won = _round(game).winnable(seat, move.cards)
    if not won:
        raise _refusal("nothing_to_claim", "no pot with chips in it is won", "R231", move.cards)


def _play(game: Rummoli, move: Move) -> None:
    stops = _stops(game)
    if move.verb == "pass" and game.phase == "lead" and stops.colour is None:
        raise _refusal("must_play", "the winner of the poker pot leads its lowest card", "R226")
    if move.verb != "play":
        return
    first = move.cards[0]
    if game.phase == "follow" and first != stops.due:
        assert stops.due is not None
        raise _refusal(
            "not_the_next_card", f"{card_name(stops.due)} is due: play it or pass", "R227", [first]
        )
    if stops.colour is not None and game.phase == "lead" and COLOUR[first] != stops.colour:
        raise _refusal("wrong_colour", f"lead a {stops.colour} card", "R228", [first])
    for card, following in zip(move.cards, move.cards[1:], strict=False):
        if NEXT[card] != following:
            message = f"{card_name(following)} does not follow {card_name(card)}"
            raise _refusal("not_the_next_card", message, "R227", [following])


# --- every move -----------------------------------------------------------------------------------------


def _candidates(game: Rummoli, seat: Seat, held: Collection[Card]) -> list[str]:
    """The moves that are worth asking about: no legal one is missing."""
    match game.phase:
        case "auction":
            low, high = max(_round(game).bids.values()) + 1, game.board.chips[seat]
            return ["pass", *(f"bid {amount}" for amount in range(low, high + 1))]
        case "bet":
            return _betting(game).moves(game.board.chips)
        case "show":
            return [*(text_of("show", five) for five in best_fives(held)), "muck"]
        case "lead" | "follow":
            plays = [chain(card, held) for card in _starts(game, held)]
            texts = [text_of("play", cards, claim=claim) for cards in plays for claim in (False, True)]
            return [*texts, *(verb for verb in VERBS[game.phase] if verb != "play")]
        case _:
            return list(VERBS[game.phase])


def _starts(game: Rummoli, held: Collection[Card]) -> list[Card]:
    stops = _stops(game)
    if game.phase == "lead":
        return sorted(lowest(held, stops.colour))
    return [card for card in held if card == stops.due]


# --- the round's machines -------------------------------------------------------------------------------


def _round(game: Rummoli) -> Round:
    assert game.round is not None
    return game.round


def _betting(game: Rummoli) -> Betting:
    betting = _round(game).betting
    assert betting is not None
    return betting


def _stops(game: Rummoli) -> Stops:
    stops = _round(game).stops
    assert stops is not None
    return stops


def _refusal(code: str, message: str, rule: str, cards: Collection[Card] = ()) -> IllegalMove:
    return IllegalMove(code, message, rule=rule, cards=card_names(cards))


def _words(cards: Collection[Card]) -> str:
    return " ".join(card_names(cards))
