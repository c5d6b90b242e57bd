"""Melds: what is one, what fits one, and what each of its cards is worth.

A run's cards stand at positions.  Position 0 is a low ace, 1..12 are 2..K, 13 is a high ace; with
``round_the_corner`` positions go on round the circle.  So a run is its suit, its lowest position and its
length, and "fits" is arithmetic.  Pure functions over cards; who may lay and when is :mod:`p2p_rummy.games`.

Refusals come in the order that R250 fixes: a joker's statement, what options forbid, the shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from p2p_rummy.cards import FIRST_JOKER, KIND_NAMES, NAMES, PACK, RANKS, SUITS
from p2p_rummy.notation import NO_CLAIM, NO_SUCH_CARD, RANK_ONLY, Placed, placed_names
from p2p_rummy.refusals import IllegalMove

RANK_COUNT: Final = 13
HIGH_ACE: Final = 13
LONGEST_RUN: Final = 13
JOKER_RANK: Final = 13
"""The "rank" of a group of jokers that are not wild (R196)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeldRules:
    """The options that decide what a meld is."""

    high_ace: bool = True
    corner: bool = False
    min_run: int = 3
    wild: bool = True


@dataclass(frozen=True, slots=True)
class Shape:
    """A new meld, recognised: ``cards`` in table order, jokers with their final statement."""

    kind: Literal["run", "group"]
    cards: tuple[Placed, ...]
    suit: int = -1
    low: int = -1
    rank: int = -1


class Meld:
    """A meld on the table.  ``cards[i]`` was laid by ``seats[i]``, stands for ``claims[i]``, is ``slots[i]``."""

    __slots__ = (
        "cards",
        "claims",
        "factor",
        "id",
        "kind",
        "low",
        "owner",
        "rank",
        "sealed",
        "seats",
        "slots",
        "suit",
    )

    def __init__(self, number: int, shape: Shape, owner: int, slots: Sequence[int]) -> None:
        self.id = number
        self.kind = shape.kind
        self.suit = shape.suit
        self.low = shape.low
        self.rank = shape.rank
        self.owner = owner
        self.cards = [card for card, _ in shape.cards]
        self.claims = [claim for _, claim in shape.cards]
        self.seats = [owner] * len(self.cards)
        self.slots = list(slots)
        self.factor = 1
        """What the value of its first cards is multiplied by (R179, R198)."""
        self.sealed = False
        """R179: nothing can be laid on it."""

    def copy(self) -> Meld:
        other = object.__new__(Meld)
        other.id, other.kind, other.suit, other.low, other.rank = (
            self.id,
            self.kind,
            self.suit,
            self.low,
            self.rank,
        )
        other.owner, other.factor, other.sealed = self.owner, self.factor, self.sealed
        other.cards, other.claims = self.cards.copy(), self.claims.copy()
        other.seats, other.slots = self.seats.copy(), self.slots.copy()
        return other

    def add(self, card: int, claim: int, seat: int, slot: int, *, below: bool) -> None:
        """Lay a card at its place; ``below``: under the lowest card of a run."""
        if below:
            self.cards.insert(0, card)
            self.claims.insert(0, claim)
            self.seats.insert(0, seat)
            self.slots.insert(0, slot)
            self.low = (self.low - 1) % RANK_COUNT if self.low == 0 else self.low - 1
        else:
            self.cards.append(card)
            self.claims.append(claim)
            self.seats.append(seat)
            self.slots.append(slot)

    def remove(self, *, below: bool) -> None:
        """Undo :meth:`add`."""
        end = 0 if below else -1
        for column in (self.cards, self.claims, self.seats, self.slots):
            del column[end]
        if below:
            self.low = (self.low + 1) % RANK_COUNT

    def written(self) -> list[str]:
        """The cards as R37 and R42 write them: ``6H``, ``X1=8H``, in a group ``X1=9``."""
        return [
            NAMES[card] if claim == NO_CLAIM else f"{NAMES[card]}={_claim_name(claim)}"
            for card, claim in zip(self.cards, self.claims, strict=True)
        ]

    def __str__(self) -> str:
        return f"meld {self.id} ({' '.join(self.written())})"


def _claim_name(claim: int) -> str:
    return RANKS[claim - RANK_ONLY] if claim >= RANK_ONLY else KIND_NAMES[claim]


# --- new melds ------------------------------------------------------------------------------------------


def recognise(cards: tuple[Placed, ...], rules: MeldRules) -> Shape:
    """The meld that these cards make (R30-R49).  Raises IllegalMove."""
    if not rules.wild:
        plain = _without_wild(cards)
        if plain is not None:
            return plain
    jokers = [placed for placed in cards if placed[0] >= FIRST_JOKER]
    _check_claims(cards, jokers)
    ranks = {_rank(placed) for placed in cards}
    if len(ranks) == 1:
        return _group(cards, jokers, ranks.pop())
    return _run(cards, jokers, rules)


def _without_wild(cards: tuple[Placed, ...]) -> Shape | None:
    """R196: jokers meld with jokers only.  None if there is no joker among the cards."""
    jokers = [placed for placed in cards if placed[0] >= FIRST_JOKER]
    if not jokers:
        return None
    if len(jokers) < len(cards) or any(claim != NO_CLAIM for _, claim in jokers):
        raise _illegal(
            "option_forbids",
            "R196",
            cards,
            "jokers are not wild here: only jokers alone, three or four, are a meld",
        )
    if not 3 <= len(cards) <= 4:
        raise _illegal("not_a_meld", "R196", cards, "a group of jokers has three or four of them")
    return Shape("group", cards, rank=JOKER_RANK)


def _check_claims(cards: tuple[Placed, ...], jokers: list[Placed]) -> None:
    for card, claim in jokers:
        if claim == NO_CLAIM:
            raise _illegal(
                "joker_needs_a_card",
                "R40",
                cards,
                f"say what {NAMES[card]} stands for: {NAMES[card]}=8H in a run, {NAMES[card]}=8 in a group",
            )
    for card, claim in jokers:
        if claim == NO_SUCH_CARD:
            raise _illegal(
                "joker_card_does_not_exist",
                "R45",
                cards,
                f"{NAMES[card]} is said to be something that is no card",
            )


def _rank(placed: Placed) -> int:
    card, claim = placed
    if claim == NO_CLAIM:
        return card % PACK % RANK_COUNT
    return claim - RANK_ONLY if claim >= RANK_ONLY else claim % RANK_COUNT


def _group(cards: tuple[Placed, ...], jokers: list[Placed], rank: int) -> Shape:
    if jokers and len(cards) > 4:
        raise _illegal(
            "joker_card_does_not_exist",
            "R45",
            cards,
            f"there are only four suits of {RANKS[rank]} in a group",
        )
    suits = [card % PACK // RANK_COUNT for card, _ in cards if card < FIRST_JOKER]
    if len(set(suits)) < len(suits):
        raise _illegal("duplicate_suit", "R31", cards, "a group holds each suit once")
    if len(cards) < 3:
        raise _illegal("not_a_meld", "R30", cards, "a group has three or four cards")
    if not suits:
        raise _illegal("not_a_meld", "R47", cards, "a meld has at least one natural card")
    return Shape(
        "group",
        tuple((card, NO_CLAIM if card < FIRST_JOKER else RANK_ONLY + rank) for card, _ in cards),
        rank=rank,
    )


def _run(cards: tuple[Placed, ...], jokers: list[Placed], rules: MeldRules) -> Shape:
    naturals = [card % PACK for card, _ in cards if card < FIRST_JOKER]
    suits = {kind // RANK_COUNT for kind in naturals}
    if len(suits) == 1:
        for card, claim in jokers:
            if claim >= RANK_ONLY:
                raise _illegal(
                    "joker_needs_a_card",
                    "R41",
                    cards,
                    f"in a run {NAMES[card]} stands for one exact card: write rank and suit",
                )
    if not naturals:
        raise _illegal("not_a_meld", "R47", cards, "a meld has at least one natural card")
    kinds = [card % PACK if claim == NO_CLAIM else claim for card, claim in cards]
    suits |= {kind // RANK_COUNT for kind in kinds if kind < RANK_ONLY}
    if len(suits) > 1 or max(kinds) >= RANK_ONLY:
        raise _illegal(
            "not_a_meld", "R37", cards, "a group is cards of one rank, a run consecutive cards of one suit"
        )
    if len(set(kinds)) < len(kinds):
        raise _illegal("not_a_meld", "R49", cards, "two of these cards stand for the same place")
    if len(cards) < 3:
        raise _illegal("not_a_meld", "R32", cards, "a run has three or more cards")
    ranks = [kind % RANK_COUNT for kind in kinds]
    low = lowest_position(ranks, rules)
    if low is None:
        if _goes_round(ranks):
            raise _illegal(
                "ace_round_the_corner", "R33", cards, "an ace is low or high, never between K and 2"
            )
        high = not rules.high_ace and _consecutive([HIGH_ACE if rank == 0 else rank for rank in ranks])
        raise _illegal(
            "not_a_meld",
            "R143" if high else "R32",
            cards,
            "the ace is low here: A 2 3, never Q K A" if high else "these ranks are not consecutive",
        )
    if len(cards) < rules.min_run:
        raise _illegal("option_forbids", "R167", cards, f"a new run has at least {rules.min_run} cards here")
    ordered = sorted(zip(ranks, cards, strict=True), key=lambda pair: (pair[0] - low) % RANK_COUNT)
    return Shape("run", tuple(placed for _, placed in ordered), suit=kinds[0] // RANK_COUNT, low=low)


def lowest_position(ranks: Sequence[int], rules: MeldRules) -> int | None:
    """Where a run of these different ranks begins; None if they are none.

    All thirteen ranks can begin in more than one place; then the order in which they are named decides: an
    ace named last is high, and round the corner the first card named is the lowest (R37).
    """
    count = len(ranks)
    if count == LONGEST_RUN:
        if rules.corner:
            return ranks[0] if all((b - a) % RANK_COUNT == 1 for a, b in pairwise(ranks)) else 0
        return 1 if rules.high_ace and ranks[-1] == 0 else 0
    if _consecutive(ranks):
        return min(ranks)
    if rules.high_ace and 0 in ranks:
        raised = [HIGH_ACE if rank == 0 else rank for rank in ranks]
        if _consecutive(raised):
            return min(raised)
    if rules.corner:
        starts = [rank for rank in ranks if (rank - 1) % RANK_COUNT not in ranks]
        if len(starts) == 1:
            return starts[0]
    return None


def _consecutive(positions: Sequence[int]) -> bool:
    return max(positions) - min(positions) == len(positions) - 1


def _goes_round(ranks: Sequence[int]) -> bool:
    """Consecutive on the circle with the ace inside: K A 2."""
    present = set(ranks)
    return {12, 0, 1} <= present and sum((rank - 1) % RANK_COUNT not in present for rank in present) == 1


# --- lay-offs -------------------------------------------------------------------------------------------


def open_kinds(meld: Meld, rules: MeldRules) -> tuple[int, ...]:
    """The natural kinds that fit now: below and above a run, the missing suits of a group of three."""
    if meld.sealed:
        return ()
    if meld.kind == "run":
        below, above = ends(meld, rules)
        if below < 0 or below == above:
            return () if above < 0 else (above,)
        return (below,) if above < 0 else (below, above)
    if len(meld.cards) >= 4 or meld.rank == JOKER_RANK:
        return ()
    held = {card % PACK // RANK_COUNT for card in meld.cards if card < FIRST_JOKER}
    return tuple(suit * RANK_COUNT + meld.rank for suit in range(len(SUITS)) if suit not in held)


def ends(meld: Meld, rules: MeldRules) -> tuple[int, int]:
    """The kinds that fit below and above a run, -1 where nothing does (R33, R34, R168)."""
    low = meld.low
    count = len(meld.cards)
    if count >= LONGEST_RUN:
        return -1, -1
    base = meld.suit * RANK_COUNT
    if rules.corner:
        return base + (low - 1) % RANK_COUNT, base + (low + count) % RANK_COUNT
    top = low + count - 1
    below = base + low - 1 if low > 0 else -1
    if top < HIGH_ACE - 1:
        return below, base + top + 1
    return below, base if top == HIGH_ACE - 1 and rules.high_ace else -1


def place(meld: Meld, placed: Placed, rules: MeldRules) -> tuple[int, bool]:
    """Where a lay-off goes: (final claim, below).  Raises IllegalMove (R51, R52, R55).

    Where both ends of a run would take the card (an ace on 2..K), it goes on top.
    """
    check_claim(placed, meld, rules)
    if meld.sealed:
        raise _misfit(meld, placed, "does_not_fit", "R179", "a doubled meld is sealed")
    if meld.kind == "group":
        return _place_in_group(meld, placed), False
    return _place_in_run(meld, placed, rules)


def check_claim(placed: Placed, meld: Meld | None, rules: MeldRules) -> None:
    """What a joker is said to be when it is laid on ``meld`` (R40-R45, R196).  Raises IllegalMove."""
    card, claim = placed
    if card < FIRST_JOKER:
        return
    if not rules.wild:
        if claim != NO_CLAIM or (meld is not None and meld.rank != JOKER_RANK):
            raise _illegal(
                "option_forbids", "R196", (placed,), "jokers are not wild here and go with jokers only"
            )
        return
    _check_claims((placed,), [placed])
    if meld is None:
        return
    if meld.kind == "group" and len(meld.cards) >= 4:
        raise _misfit(meld, placed, "joker_card_does_not_exist", "R45", "there is no fifth suit")
    if meld.kind == "run" and claim >= RANK_ONLY:
        raise _misfit(meld, placed, "joker_needs_a_card", "R41", "in a run write rank and suit")


def _place_in_group(meld: Meld, placed: Placed) -> int:
    card, _ = placed
    if len(meld.cards) >= 4:
        raise _misfit(meld, placed, "does_not_fit", "R51", "a group has at most four cards")
    if meld.rank == JOKER_RANK:
        if card < FIRST_JOKER:
            raise _misfit(meld, placed, "does_not_fit", "R196", "only a joker fits a group of jokers")
        return NO_CLAIM
    if _rank(placed) != meld.rank:
        raise _misfit(meld, placed, "does_not_fit", "R51", f"only another {RANKS[meld.rank]} fits")
    if card >= FIRST_JOKER:
        return RANK_ONLY + meld.rank
    suit = card % PACK // RANK_COUNT
    if any(other < FIRST_JOKER and other % PACK // RANK_COUNT == suit for other in meld.cards):
        raise _misfit(meld, placed, "duplicate_suit", "R31", "a group holds each suit once")
    return NO_CLAIM


def _place_in_run(meld: Meld, placed: Placed, rules: MeldRules) -> tuple[int, bool]:
    card, claim = placed
    kind = card % PACK if claim == NO_CLAIM else claim
    below, above = ends(meld, rules)
    if kind == above:
        return claim, False
    if kind == below:
        return claim, True
    if kind // RANK_COUNT == meld.suit and not rules.corner:
        rank = kind % RANK_COUNT
        top = meld.low + len(meld.cards) - 1
        if (rank == 12 and meld.low == 0) or (rank == 1 and top == HIGH_ACE):
            raise _misfit(
                meld, placed, "ace_round_the_corner", "R33", "an ace is low or high, never between K and 2"
            )
    fitting = " or ".join(KIND_NAMES[end] for end in (below, above) if end >= 0)
    raise _misfit(
        meld,
        placed,
        "does_not_fit",
        "R52",
        f"only {fitting} fits" if fitting else "nothing more fits this run",
    )


def joker_claims(meld: Meld, rules: MeldRules) -> tuple[int, ...]:
    """What a wild joker may be said to be when it is laid on this meld."""
    if meld.sealed or not rules.wild:
        return ()
    if meld.kind == "run":
        return open_kinds(meld, rules)
    return (RANK_ONLY + meld.rank,) if len(meld.cards) < 4 else ()


# --- refusing -------------------------------------------------------------------------------------------


def _illegal(code: str, rule: str, cards: tuple[Placed, ...], why: str) -> IllegalMove:
    return IllegalMove(
        code,
        f"{placed_names(cards)} is not allowed ({rule}): {why}",
        rule=rule,
        cards=[NAMES[card] for card, _ in cards],
    )


def _misfit(meld: Meld, placed: Placed, code: str, rule: str, why: str) -> IllegalMove:
    return IllegalMove(
        code,
        f"{placed_names((placed,))} does not go on {meld} ({rule}): {why}",
        rule=rule,
        cards=[NAMES[placed[0]]],
    )
