"""Can the deepest card taken still be put on the table in this turn (R23, R123, R162)?

Only its holder can tell, because it depends on a closed hand; so the take itself is never refused (R25), but the
moves that a game *offers* never lead into a duty that cannot be met.  The answer is exact:

* a card that ends up in a new meld can go down in one new meld of the least size, at once;
* a card that ends up as a lay-off goes on a meld that lies there, after the cards between (a chain, R24);
* extending a new meld by it is a bigger new meld.

So it is enough to count, for each of these ways, the hand cards that it costs.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final

from p2p_rummy.cards import FIRST_JOKER, PACK
from p2p_rummy.games.rum_book import FIRST_PACK
from p2p_rummy.melds import HIGH_ACE, JOKER_RANK, LONGEST_RUN, RANK_COUNT, Meld, MeldRules, joker_claims

NO_WAY: Final = 1000
"""More cards than anybody holds."""


def cheapest_use(
    melds: Iterable[Meld], rules: MeldRules, bits: int, card: int, *, need_meld: bool, spare: int = 0
) -> int:
    """The fewest hand cards, ``card`` among them, that put it on the table; NO_WAY if nothing does.

    ``bits``: the hand with the card.  ``melds``: those on the table.  ``spare``: 1 if the dealer's joker may be
    used as one more wild card that is not of the hand (R178).
    """
    if not need_meld:
        cost = _layoff(melds, rules, bits, card, spare)
        if cost < NO_WAY:
            return min(cost, _new_meld(rules, bits, card, spare))
    return _new_meld(rules, bits, card, spare)


def _new_meld(rules: MeldRules, bits: int, card: int, spare: int) -> int:
    naturals = bits & FIRST_PACK | bits >> PACK & FIRST_PACK
    jokers = _jokers(bits) - (card >= FIRST_JOKER)
    if not rules.wild:
        if card >= FIRST_JOKER:
            return 3 if jokers >= 2 else NO_WAY
        jokers = 0
    jokers += spare
    joker = card >= FIRST_JOKER
    cost = (_joker_meld if joker else _natural_meld)(rules, naturals, card % PACK, jokers)
    # The dealer's joker can take the place of any card but this one.
    return cost - 1 if spare and cost < NO_WAY else cost


def _jokers(bits: int) -> int:
    return (bits >> FIRST_JOKER & 0xFF).bit_count()


def _natural_meld(rules: MeldRules, naturals: int, kind: int, jokers: int) -> int:
    if (naturals & GROUP_MATES[kind]).bit_count() + jokers >= 2:
        return 3
    for places in windows(rules)[kind]:
        if (places & ~naturals).bit_count() <= jokers:
            return rules.min_run
    return NO_WAY


def _joker_meld(rules: MeldRules, naturals: int, _: int, jokers: int) -> int:
    """A joker that must go down: with at least one natural card, and ``jokers`` more if need be."""
    if not naturals:
        return NO_WAY
    rest = naturals
    best = NO_WAY
    while rest:
        low = rest & -rest
        rest -= low
        kind = low.bit_length() - 1
        if (naturals & GROUP_MATES[kind]).bit_count() + jokers >= 1:
            return 3
        if any((places & ~naturals).bit_count() <= jokers + 1 for places in windows(rules)[kind]):
            best = rules.min_run
    return best


def _layoff(melds: Iterable[Meld], rules: MeldRules, bits: int, card: int, spare: int) -> int:
    if card >= FIRST_JOKER:
        for meld in melds:
            if rules.wild:
                if joker_claims(meld, rules):
                    return 1
            elif meld.rank == JOKER_RANK and len(meld.cards) < 4:
                return 1
        return NO_WAY
    naturals = bits & FIRST_PACK | bits >> PACK & FIRST_PACK
    jokers = (_jokers(bits) if rules.wild else 0) + spare
    kind = card % PACK
    best = NO_WAY
    for meld in melds:
        if meld.sealed:
            continue
        if meld.kind == "group":
            if meld.rank == kind % RANK_COUNT and len(meld.cards) < 4:
                suits = [other % PACK // RANK_COUNT for other in meld.cards if other < FIRST_JOKER]
                if kind // RANK_COUNT not in suits:
                    return 1
        elif meld.suit == kind // RANK_COUNT:
            for way in ways_on(meld, rules):
                missing = 0
                for length, place in enumerate(way, 1):
                    if place == kind:
                        best = min(best, length - 1 if spare and length > 1 else length)
                        break
                    missing += not naturals >> place & 1
                    if missing > jokers:
                        break
            if best == 1:
                return 1
    return best


def run_ends(melds: Iterable[Meld], rules: MeldRules) -> list[list[tuple[int, int]]]:
    """For each suit the (lowest, highest) positions of the runs that can still grow."""
    found: list[list[tuple[int, int]]] = [[], [], [], []]
    for meld in melds:
        if meld.kind == "run" and not meld.sealed and len(meld.cards) < LONGEST_RUN:
            found[meld.suit].append((meld.low, meld.low + len(meld.cards) - 1))
    return found


def chain_reaches(
    runs: list[tuple[int, int]], rules: MeldRules, suit_held: int, rank: int, jokers: int
) -> bool:
    """Whether a card of this rank can be laid on one of these runs of its suit after the cards between (R24).

    ``suit_held``: the ranks of the suit in hand, as bits.  Not for ``round_the_corner``.
    """
    for low, top in runs:
        if rank == 0 and rules.high_ace and low > 0 and top < HIGH_ACE:
            between = (1 << HIGH_ACE) - (2 << top)
            if (between & ~suit_held).bit_count() <= jokers:
                return True
        if rank > top:
            between = (1 << rank) - (2 << top)
        elif rank < low and (rank > 0 or top < HIGH_ACE):
            between = (1 << low) - (2 << rank)
        else:
            continue
        if (between & ~suit_held).bit_count() <= jokers:
            return True
    return False


def ways_on(run: Meld, rules: MeldRules) -> tuple[list[int], list[int]]:
    """The kinds that could go on above a run, and below it, in order, as far as R34 lets it grow."""
    base = run.suit * RANK_COUNT
    room = LONGEST_RUN - len(run.cards)
    first = run.low + len(run.cards)
    if rules.corner:
        up = [base + (first + step) % RANK_COUNT for step in range(room)]
        down = [base + (run.low - 1 - step) % RANK_COUNT for step in range(room)]
        return up, down
    top = HIGH_ACE if rules.high_ace else HIGH_ACE - 1
    up = [base + position % RANK_COUNT for position in range(first, min(first + room, top + 1))]
    down = [base + position for position in range(run.low - 1, max(run.low - 1 - room, -1), -1)]
    return up, down


# --- tables ---------------------------------------------------------------------------------------------

GROUP_MATES: Final[tuple[int, ...]] = tuple(
    sum(1 << (suit * RANK_COUNT + kind % RANK_COUNT) for suit in range(4) if suit != kind // RANK_COUNT)
    for kind in range(PACK)
)
"""Kind -> the other kinds of its rank."""


@cache
def windows(rules: MeldRules) -> tuple[tuple[int, ...], ...]:
    """Kind -> for each shortest run that holds it, the other kinds in it."""
    found: list[list[int]] = [[] for _ in range(PACK)]
    top = HIGH_ACE if rules.high_ace else HIGH_ACE - 1
    for suit in range(4):
        for low in range(RANK_COUNT):
            if low + rules.min_run - 1 > top and not rules.corner:
                continue
            kinds = [suit * RANK_COUNT + (low + step) % RANK_COUNT for step in range(rules.min_run)]
            places = sum(1 << kind for kind in kinds)
            for kind in kinds:
                found[kind].append(places - (1 << kind))
    return tuple(tuple(row) for row in found)
