"""May these cards be laid or called?  Steps (8) to (11) of R250 for melds, lay-offs and calls.

Each ``judge_`` function returns what is needed to carry the move out, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from p2p_rummy.cards import FIRST_JOKER, NAMES, PACK
from p2p_rummy.games.rum_gate import in_pile, locate, locate_one, may_use_joker, refuse
from p2p_rummy.games.rum_rules import DEALERS_JOKER, RumRules
from p2p_rummy.games.rum_table import CHALLENGE, UNKNOWN, Table
from p2p_rummy.melds import JOKER_RANK, Meld, Shape, check_claim, joker_claims, open_kinds, place
from p2p_rummy.notation import NO_CLAIM, Move, Placed
from p2p_rummy.refusals import IllegalMove
from protocol.game import Card, Faces, Seat, Slot

# --- laying ---------------------------------------------------------------------------------------------


def judge_meld(table: Table, seat: Seat, move: Move, openings: Faces) -> list[tuple[Shape, list[Slot]]]:
    """The melds, recognised, with the slots of each in table order."""
    cards = move.cards
    slots = dict(zip(cards, locate(table, seat, cards, openings), strict=True))
    rules = table.rules
    if rules.dealers_joker and DEALERS_JOKER in slots:
        may_use_joker(table, seat, "wild")
    if move.doubled >= 0:
        may_use_joker(table, seat, "double")
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
    judge_rest(table, seat, cards, from_hand, shapes, in_meld=True)
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
        may_use_joker(table, seat, "wild")
    _may_lay_off(table, seat, (card,))
    meld = _find_meld(table, move.meld, card)
    claim, below = place(meld, placed, rules.melds)
    if len(table.hands[seat]) <= 2:
        changed = extended(meld, card, claim, below=below)
        judge_rest(table, seat, (card,), int(slot >= 0), (), changed=changed)
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


def judge_rest(
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
            raise refuse("must_use_taken_card", *duty(table))
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


def duty(table: Table) -> tuple[str, str]:
    card = NAMES[table.must_use]
    if table.must_meld:
        return "R123", f"{card} was taken from the pile and must go into a new meld in this turn"
    rule = "R122" if table.taken_top >= 0 else "R23"
    return rule, f"{card} was taken from the pile and must be put on the table in this turn"


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
