"""May this seat make this move now?  The refusals of R250, in its order, over public information.

:func:`gate` is the part that needs no cards: (1) the hand is over, (2)-(4) calls, (5) whose turn, (6) the phase.
The ``judge_*`` functions take it from there: (7) cards held, (8) jokers' statements, (9) options, (10) shape, (11)
going out.  Each returns what :mod:`p2p_rummy.games.rum` needs to carry the move out, and changes nothing.

``openings`` are the hidden slots that come with the move, verified by the trust layer.  A card is held if it lies
open in the hand or is among them; every opening must be a card that the move plays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from p2p_rummy.cards import FIRST_JOKER, NAMES, PACK
from p2p_rummy.games.rum_rules import DEALERS_JOKER, RumRules
from p2p_rummy.games.rum_table import (
    CHALLENGE,
    DRAW,
    FIRST_DISCARD,
    NAME,
    PLAY,
    STAGES,
    UNKNOWN,
    WINDOW,
    Table,
)
from p2p_rummy.melds import JOKER_RANK, Meld, Shape, check_claim, joker_claims, open_kinds, place
from p2p_rummy.notation import NO_CLAIM, Move, Placed
from p2p_rummy.refusals import IllegalMove
from protocol.game import Card, Faces, Seat, Slot

ALLOWED: Final[dict[int, frozenset[str]]] = {
    NAME: frozenset({"name"}),
    FIRST_DISCARD: frozenset({"discard"}),
    DRAW: frozenset({"draw", "take", "split", "pass", "block"}),
    PLAY: frozenset({"meld", "lay", "discard", "untake", "block"}),
    WINDOW: frozenset({"pass", "rummy", "meld", "lay", "block"}),
    CHALLENGE: frozenset({"pass", "rummy"}),
}
"""Verbs by stage, before options are looked at."""

OWN_TURN: Final[tuple[frozenset[str], ...]] = tuple(
    ALLOWED[stage] if stage in (NAME, FIRST_DISCARD, DRAW, PLAY) else frozenset()
    for stage in range(len(STAGES))
)
"""The same, for the seat whose turn it is."""

NOW: Final[dict[int, str]] = {
    NAME: "the dealer names the dealer's joker: name wild, name double or name split",
    FIRST_DISCARD: "the first pile card is chosen: discard one card",
    DRAW: "the turn begins with draw or take",
    PLAY: "meld, lay or discard",
    WINDOW: "answer with pass or a call",
    CHALLENGE: "answer with pass, or lay the last discard with rummy",
}


def refuse(code: str, rule: str, why: str, cards: Sequence[Card] = ()) -> IllegalMove:
    return IllegalMove(code, f"{why} ({rule})", rule=rule, cards=[NAMES[card] for card in cards if card >= 0])


# --- (1) to (6) -----------------------------------------------------------------------------------------


def gate(table: Table, seat: Seat, move: Move) -> None:
    verb = move.verb
    stage = table.stage
    if seat == table.turn:
        if verb in OWN_TURN[stage]:
            return  # the usual case
    elif verb == "pass" and stage == WINDOW and seat in table.asked and seat not in table.answers:
        return  # and the other
    rules = table.rules
    if table.phase == "over":
        raise refuse("wrong_phase", "R72", "the hand is over")
    if verb == "rummy":
        if rules.calling == "off" and stage != CHALLENGE:
            raise refuse("calls_are_off", "R125", "there is no calling at this table")
        if stage not in (WINDOW, CHALLENGE):
            raise refuse("wrong_phase", "R111", "a call is possible only between a turn and the next draw")
        if seat == table.turn:
            raise refuse("discarder_may_not_call", "R101", "who has just ended the turn may not call")
    if stage in (WINDOW, CHALLENGE):
        if seat not in table.asked:
            raise refuse("not_your_turn", "R100", "this seat does not answer this window")
        if seat in table.answers:
            raise refuse("not_your_turn", "R100", "this seat has answered already")
    elif seat != table.turn:
        raise refuse("not_your_turn", "R14", f"it is seat {table.turn + 1}'s turn")
    if verb not in ALLOWED.get(stage, ()) or (stage == WINDOW and not _answers(table, verb)):
        now = NOW.get(stage, "cards are on their way; wait")
        rule = "R29" if verb in ("draw", "take") and stage == PLAY else "R20"
        raise refuse("wrong_phase", rule, f"{verb} is not possible now: {now}")


def _answers(table: Table, verb: str) -> bool:
    if verb == "meld" or verb == "lay":
        return table.rules.out_of_turn_melds
    return verb != "block" or table.rules.dealers_joker


# --- (7) ------------------------------------------------------------------------------------------------


def locate(table: Table, seat: Seat, cards: Sequence[Card], openings: Faces) -> list[Slot]:
    """The slots of these cards, all in this hand; -1 for the dealer's joker.  Raises ``not_in_hand``."""
    known = table.known[seat]
    hand = table.hands[seat]
    face = table.face
    opened = {card: slot for slot, card in openings.items() if slot in hand and face[slot] < 0}
    used = 0
    slots: list[Slot] = []
    for card in cards:
        if card in known:
            slots.append(known[card])
        elif card in opened:
            slots.append(opened[card])
            used += 1
        elif card == DEALERS_JOKER and table.rules.dealers_joker and seat == table.dealer:
            slots.append(UNKNOWN)
        else:
            raise refuse("not_in_hand", "R250", f"{NAMES[card]} is not in this hand", (card,))
    if len(cards) > 1 and len(set(cards)) < len(cards):
        raise refuse("not_in_hand", "R250", "one card is named twice", cards)
    if used != len(openings):
        extra = [card for card in openings.values() if card not in cards]
        raise refuse("not_in_hand", "R250", "the move opens a card that it does not play", extra)
    return slots


def locate_one(table: Table, seat: Seat, cards: Sequence[Card], openings: Faces) -> Slot:
    """:func:`locate` for a move of one card."""
    if len(openings) == 1:
        ((slot, card),) = openings.items()
        if card == cards[0] and slot in table.hands[seat] and table.face[slot] < 0:
            return slot
    elif not openings and cards[0] in table.known[seat]:
        return table.known[seat][cards[0]]
    return locate(table, seat, cards, openings)[0]


def in_pile(table: Table, card: Card) -> int:
    """The card's place in the pile, -1 if it is not there."""
    try:
        return table.pile_cards.index(card)
    except ValueError:
        return -1


# --- the draw -------------------------------------------------------------------------------------------


def judge_draw(table: Table) -> None:
    if not table.stock and not table.recyclable():
        choice = "take from the pile or pass" if table.pile else "pass"
        raise refuse("stock_empty", "R28", f"the stock is empty: {choice}")


def judge_decline(table: Table) -> None:
    """``pass`` at the draw."""
    if table.stock or table.recyclable():
        raise refuse("wrong_phase", "R28", "pass is for an empty stock; draw or take")


def judge_take(table: Table, card: Card) -> int:
    """The place in the pile."""
    _not_given_back(table)
    index = _find_in_pile(table, card)
    if table.rules.take_depth == "top" and index < len(table.pile) - 1:
        top = table.pile_cards[-1]
        raise refuse("option_forbids", "R141", f"only the top card may be taken: take {NAMES[top]}", (card,))
    return index


def judge_split(table: Table, seat: Seat, card: Card) -> int:
    _not_given_back(table)
    index = _find_in_pile(table, card)
    _may_use_joker(table, seat, "split")
    return index


def _not_given_back(table: Table) -> None:
    if table.gave_back:
        choice = "draw" if table.stock or table.recyclable() else "pass"
        raise refuse("wrong_phase", "R25", f"cards were given back, so now {choice}")


def _find_in_pile(table: Table, card: Card) -> int:
    index = in_pile(table, card)
    if index < 0:
        raise refuse("nothing_to_take", "R27", f"{NAMES[card]} is not in the pile", (card,))
    return index


def _may_use_joker(table: Table, seat: Seat, effect: str) -> None:
    """R177-R182, as an option: the dealer, in his turn, once, for the effect that he named."""
    if not table.rules.dealers_joker:
        raise refuse("option_forbids", "R176", "there is no dealer's joker at this table")
    if seat != table.dealer or seat != table.turn or table.stage not in (DRAW, PLAY):
        raise refuse("option_forbids", "R181", "only the dealer may use the dealer's joker, in his own turn")
    if table.joker_blocked:
        raise refuse("option_forbids", "R182", "the dealer's joker is blocked for this hand")
    if table.joker_used:
        raise refuse("option_forbids", "R181", "the dealer's joker has been used in this hand")
    if table.effect != effect:
        named = f"was named {table.effect}" if table.effect else "was not named"
        raise refuse("option_forbids", "R177", f"the dealer's joker {named}, not {effect}")


# --- laying ---------------------------------------------------------------------------------------------


def judge_meld(table: Table, seat: Seat, move: Move, openings: Faces) -> list[tuple[Shape, list[Slot]]]:
    """The melds, recognised, with the slots of each in table order."""
    cards = move.cards
    slots = dict(zip(cards, locate(table, seat, cards, openings), strict=True))
    rules = table.rules
    if rules.dealers_joker and DEALERS_JOKER in slots:
        _may_use_joker(table, seat, "wild")
    if move.doubled >= 0:
        _may_use_joker(table, seat, "double")
    shapes = [table.meld_book.shape(part) for part in move.parts]
    if not table.may_lay_off(seat):
        worth = sum(
            meld_worth(rules, shape) * (2 if i == move.doubled else 1) for i, shape in enumerate(shapes)
        )
        if worth < rules.opening_minimum:
            raise refuse(
                "option_forbids",
                "R163",
                f"the first melds must be worth {rules.opening_minimum} together, these are worth {worth}",
                cards,
            )
    from_hand = len(cards) - (UNKNOWN in slots.values())
    _judge_rest(table, seat, cards, from_hand, shapes, in_meld=True)
    return [(shape, [slots[card] for card, _ in shape.cards]) for shape in shapes]


def judge_lay(table: Table, seat: Seat, move: Move, openings: Faces) -> tuple[Meld, int, bool, Slot]:
    """The meld, the final claim, whether the card goes below, and its slot."""
    placed = move.parts[0][0]
    card = placed[0]
    slot = locate_one(table, seat, move.cards, openings)
    rules = table.rules
    meld = table.melds.get(move.meld)
    check_claim(placed, meld, rules.melds)
    if slot < 0:
        _may_use_joker(table, seat, "wild")
    _may_lay_off(table, seat, (card,))
    meld = _find_meld(table, move.meld, card)
    claim, below = place(meld, placed, rules.melds)
    if len(table.hands[seat]) <= 2:
        changed = extended(meld, card, claim, below=below)
        _judge_rest(table, seat, (card,), int(slot >= 0), (), changed=changed)
    return meld, claim, below, slot


def _may_lay_off(table: Table, seat: Seat, cards: Sequence[Card]) -> None:
    if not table.may_lay_off(seat):
        raise refuse(
            "option_forbids",
            "R163",
            f"no lay-off before the first melds worth {table.rules.opening_minimum}",
            cards,
        )


def _find_meld(table: Table, number: int, card: Card) -> Meld:
    meld = table.melds.get(number)
    if meld is None:
        there = ", ".join(str(known) for known in sorted(table.melds)) or "none yet"
        raise refuse("does_not_fit", "R56", f"there is no meld {number}; the melds are: {there}", (card,))
    return meld


def extended(meld: Meld, card: Card, claim: int, *, below: bool) -> Meld:
    """The meld as it would be with one card more."""
    cards = tuple(zip(meld.cards, meld.claims, strict=True))
    shape = Shape(meld.kind, cards, meld.suit, meld.low, meld.rank)
    copy = Meld(meld.id, shape, meld.owner, meld.slots)
    copy.sealed = meld.sealed
    copy.add(card, claim, meld.owner, UNKNOWN, below=below)
    return copy


def meld_worth(rules: RumRules, shape: Shape) -> int:
    """What a new meld is worth as it is laid (R81, R82, R198)."""
    worth = sum(rules.values[card] for card, _ in shape.cards)
    if shape.low == 0 and shape.cards[0][0] < FIRST_JOKER:
        worth += rules.low_ace - 15
    if rules.four_at_once_doubles and shape.kind == "group" and len(shape.cards) == 4:
        worth *= 2
    return worth


def _judge_rest(
    table: Table,
    seat: Seat,
    laid: Sequence[Card],
    from_hand: int,
    shapes: Sequence[Shape],
    *,
    in_meld: bool = False,
    changed: Meld | None = None,
) -> None:
    """(11): what is left in hand after laying must be a hand that the seat may have (R23, R64, R126)."""
    left = len(table.hands[seat]) - from_hand
    if left > 1:
        return
    own_turn = seat == table.turn
    pending = table.must_use if own_turn else UNKNOWN
    if pending in laid and (in_meld or not table.must_meld):
        pending = UNKNOWN
    if left == 0:
        if pending >= 0:
            raise refuse("must_use_taken_card", *_duty(table))
        if table.rules.going_out == "discard_required":
            raise refuse("may_not_go_out", "R126", "one card must be kept for the discard", laid)
    elif own_turn and table.taken_top in table.known[seat] and table.taken_top not in laid:
        melds = [meld for meld in table.melds.values() if changed is None or meld.id != changed.id]
        melds += [Meld(0, shape, seat, [UNKNOWN] * len(shape.cards)) for shape in shapes]
        if changed is not None:
            melds.append(changed)
        if not _last_card_can_go(table, table.taken_top, melds):
            raise refuse(
                "may_not_go_out",
                "R64",
                f"only {NAMES[table.taken_top]} would be left, which may be neither discarded nor laid",
                laid,
            )


def _last_card_can_go(table: Table, card: Card, melds: Sequence[Meld]) -> bool:
    """R64: whether the single top card taken can be laid off as the last card of the hand."""
    if table.rules.going_out == "discard_required" or table.must_meld:
        return False
    return any(takes(meld, card, table.rules) for meld in melds)


def takes(meld: Meld, card: Card, rules: RumRules) -> bool:
    """Whether the card fits the meld, a wild joker as whatever it is said to be."""
    if card < FIRST_JOKER:
        return card % PACK in open_kinds(meld, rules.melds)
    if rules.melds.wild:
        return bool(joker_claims(meld, rules.melds))
    return meld.rank == JOKER_RANK and len(meld.cards) < 4


def playable(table: Table, seat: Seat, card: Card) -> bool:
    """R131: the card fits a meld on the table, and this seat may lay it there."""
    if not table.may_lay_off(seat):
        return False
    if card < FIRST_JOKER:
        return bool(table.fit_mask >> card % PACK & 1)
    return any(takes(meld, card, table.rules) for meld in table.melds.values())


def _duty(table: Table) -> tuple[str, str]:
    card = NAMES[table.must_use]
    if table.must_meld:
        return "R123", f"{card} was taken from the pile and must go into a new meld in this turn"
    rule = "R122" if table.taken_top >= 0 else "R23"
    return rule, f"{card} was taken from the pile and must be put on the table in this turn"


# --- the end of a turn ----------------------------------------------------------------------------------


def judge_discard(table: Table, seat: Seat, move: Move, openings: Faces) -> Slot:
    card = move.cards[0]
    slot = locate_one(table, seat, move.cards, openings)
    if slot < 0:
        raise refuse("not_in_hand", "R176", "the dealer's joker is not in the hand", (card,))
    if card == table.taken_top:
        raise refuse(
            "may_not_discard_taken_card",
            "R62",
            f"{NAMES[card]} was taken from the pile alone in this turn; discard another card",
            (card,),
        )
    if table.must_use >= 0:
        rule, why = _duty(table)
        raise refuse("must_use_taken_card", rule, why, (table.must_use,))
    last = len(table.hands[seat]) == 1 and table.stage == PLAY
    if last and table.rules.strict_end and playable(table, seat, card):
        raise refuse(
            "may_not_go_out",
            "R131",
            f"{NAMES[card]} fits on the table, so lay it instead of discarding",
            (card,),
        )
    return slot


def judge_untake(table: Table, seat: Seat) -> None:
    stuck = table.must_use >= 0 or (
        table.taken_top >= 0 and len(table.hands[seat]) == 1 and table.taken_top in table.known[seat]
    )
    if not stuck:
        raise refuse("wrong_phase", "R25", "only cards that must be laid and cannot be are given back")


def judge_block(table: Table, seat: Seat, move: Move, openings: Faces) -> Slot:
    card = move.cards[0]
    slot = locate(table, seat, move.cards, openings)[0]
    if not table.rules.dealers_joker:
        raise refuse("option_forbids", "R176", "there is no dealer's joker at this table")
    if card < FIRST_JOKER or slot < 0:
        raise refuse("option_forbids", "R182", "only another joker blocks the dealer's joker", (card,))
    if not table.joker_free():
        state = "blocked already" if table.joker_blocked else "used already"
        raise refuse("option_forbids", "R182", f"the dealer's joker is {state}", (card,))
    if len(table.hands[seat]) == 1:
        raise refuse("may_not_go_out", "R182", "a block may not be the last card of the hand", (card,))
    if seat == table.turn and table.stage == PLAY:
        if table.must_use >= 0:
            rule, why = _duty(table)
            raise refuse("must_use_taken_card", rule, why, (table.must_use,))
        _judge_rest(table, seat, (card,), 1, ())
    return slot


# --- calls ----------------------------------------------------------------------------------------------


def judge_call(table: Table, seat: Seat, move: Move) -> Shape | Meld:
    """The new meld, or the meld to lay on as it will be (R102, R105, R124, R132)."""
    cards = move.cards
    rules = table.rules
    if len(set(cards)) < len(cards) or any(in_pile(table, card) < 0 for card in cards):
        missing = [card for card in cards if in_pile(table, card) < 0]
        raise refuse("no_call_possible", "R102", "only cards of the pile can be called", missing or cards)
    part = move.parts[0]
    if rules.melds.wild:
        for placed in part:
            if placed[0] >= FIRST_JOKER and placed[1] == NO_CLAIM:
                check_claim(placed, None, rules.melds)
    narrow = rules.calling == "latest_only" or table.stage == CHALLENGE
    if narrow and (not move.meld or cards != (table.pile_cards[-1],)):
        raise refuse(
            "option_forbids",
            "R132" if table.stage == CHALLENGE else "R124",
            f"only the newest discard may be called, as a lay-off: {NAMES[table.pile_cards[-1]]}",
            cards,
        )
    if move.meld:
        _may_lay_off(table, seat, cards)
    try:
        return _chain(table, move.meld, part) if move.meld else _called_meld(table, seat, part)
    except IllegalMove as refusal:
        if refusal.code in ("option_forbids", "joker_needs_a_card"):
            raise
        raise refuse("no_call_possible", refusal.rule or "R102", str(refusal), cards) from None


def _called_meld(table: Table, seat: Seat, part: tuple[Placed, ...]) -> Shape:
    shape = table.meld_book.shape(part)
    worth = meld_worth(table.rules, shape)
    if not table.may_lay_off(seat) and worth < table.rules.opening_minimum:
        raise refuse(
            "option_forbids",
            "R163a",
            f"the first melds must be worth {table.rules.opening_minimum}, this is worth {worth}",
            [card for card, _ in part],
        )
    return shape


def _chain(table: Table, number: int, part: tuple[Placed, ...]) -> Meld:
    meld = _find_meld(table, number, part[0][0])
    for placed in part:
        claim, below = place(meld, placed, table.rules.melds)
        meld = extended(meld, placed[0], claim, below=below)
    return meld
