"""All melds in a set of cards, as text, by table look-up.

A set of cards is one integer, a bit for each card number (:data:`BITS`), so a suit is cut out by a shift.

The melds within one suit depend only on the cards of that suit and on the jokers, those of one rank only on
the cards of that rank and on the jokers.  So :class:`Book` keeps the list for each such pattern once it has been
worked out; a hand's melds are the concatenation of at most four runs' and a few groups' lists.  There are few
patterns (8,192 a suit without jokers), which makes this a table rather than a cache of positions.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations, product
from typing import Final

from p2p_rummy.cards import FIRST_JOKER, KIND_NAMES, NAMES, PACK, RANKS, UNIVERSE
from p2p_rummy.melds import HIGH_ACE, LONGEST_RUN, RANK_COUNT, MeldRules, Shape, recognise
from p2p_rummy.notation import Placed

SUIT: Final = (1 << RANK_COUNT) - 1
FIRST_PACK: Final = (1 << PACK) - 1
_ONE_RANK: Final = sum(1 << RANK_COUNT * suit for suit in range(4))
"""The aces of one pack; shifted, the cards of another rank."""

Texts = tuple[str, ...]


BITS: Final[tuple[int, ...]] = tuple(1 << card for card in range(UNIVERSE))
"""Card -> its bit; the sum over different cards is the set."""

PATTERNS: Final = 50_000
"""How many patterns a book keeps before it starts anew (two packs with many jokers have more than that)."""


class Book:
    """The new melds that rules and cards allow, as texts ``<verb> 6H 7H X1=8H``, each set of cards once.

    Runs are written low to high, groups in the order of suits with jokers last.  An all-thirteen run is
    listed with the ace at either end where both are allowed.
    """

    def __init__(self, verb: str, rules: MeldRules) -> None:
        self._verb = verb
        self._rules = rules
        self._runs: list[dict[int, Texts]] = [{} for _ in range(4)]
        self._groups: list[dict[int, Texts]] = [{} for _ in range(RANK_COUNT)]
        self._shapes: dict[tuple[Placed, ...], Shape] = {}
        self._top = HIGH_ACE if rules.high_ace else HIGH_ACE - 1
        lows = range(RANK_COUNT if rules.corner else self._top - rules.min_run + 2)
        self._shortest = [
            (low, sum(1 << (low + step) % RANK_COUNT for step in range(rules.min_run))) for low in lows
        ]
        """Lowest position and ranks (bits) of each shortest run."""

    def __deepcopy__(self, memo: dict[int, object]) -> Book:
        return self  # the one of its rules, whoever copies a game

    def melds(self, bits: int, extra_joker: int = 0) -> list[str]:
        """Every new meld in the set.  ``extra_joker`` (bits) may be used beside it (the dealer's joker)."""
        first = bits & FIRST_PACK
        second = bits >> PACK & FIRST_PACK
        jokers = (bits | extra_joker) >> FIRST_JOKER
        spades, hearts, diamonds, clubs = first & SUIT, first >> 13 & SUIT, first >> 26 & SUIT, first >> 39
        if not second and not jokers:
            runs = self._runs
            try:  # the usual case: straight out of the tables
                found = [*runs[0][spades], *runs[1][hearts], *runs[2][diamonds], *runs[3][clubs]]
            except KeyError:
                found = self._runs_of(first, 0, 0)
        else:
            found = self._runs_of(first, second, jokers)
            spades |= second & SUIT
            hearts |= second >> 13 & SUIT
            diamonds |= second >> 26 & SUIT
            clubs |= second >> 39
        # A group needs three cards, jokers included: which ranks have suits enough?
        wild = jokers.bit_count() if self._rules.wild else 0
        if wild == 0:
            ranks = spades & hearts & (diamonds | clubs) | diamonds & clubs & (spades | hearts)
        elif wild == 1:
            ranks = spades & hearts | diamonds & clubs | (spades | hearts) & (diamonds | clubs)
        else:
            ranks = spades | hearts | diamonds | clubs
        while ranks:
            rank = (ranks & -ranks).bit_length() - 1
            ranks &= ranks - 1
            found += self._groups_of(first, second, jokers, rank)
        if jokers and not self._rules.wild:
            found += self._joker_groups(jokers)
        return found

    def shape(self, cards: tuple[Placed, ...]) -> Shape:
        """:func:`p2p_rummy.melds.recognise`, each meld worked out once.  Raises IllegalMove."""
        shape = self._shapes.get(cards)
        if shape is None:
            shape = recognise(cards, self._rules)
            if len(self._shapes) >= PATTERNS:
                self._shapes.clear()
            self._shapes[cards] = shape
        return shape

    def _groups_of(self, first: int, second: int, jokers: int, rank: int) -> Texts:
        both = first >> rank & _ONE_RANK | (second >> rank & _ONE_RANK) << 1
        key = both | jokers << PACK
        table = self._groups[rank]
        texts = table.get(key)
        if texts is None:
            texts = self._keep(table, key, tuple(self._find_groups(rank, key)))
        return texts

    def _runs_of(self, first: int, second: int, jokers: int) -> list[str]:
        found: list[str] = []
        for suit, table in enumerate(self._runs):
            shift = RANK_COUNT * suit
            key = first >> shift & SUIT | (second >> shift & SUIT) << 13 | jokers << 26
            texts = table.get(key)
            if texts is None:
                texts = self._keep(table, key, tuple(self._find_runs(suit, key)))
            found += texts
        return found

    def _keep(self, table: dict[int, Texts], key: int, texts: Texts) -> Texts:
        if len(table) >= PATTERNS:
            table.clear()
        table[key] = texts
        return texts

    # --- working a pattern out ---

    def _find_runs(self, suit: int, key: int) -> Iterator[str]:
        rules = self._rules
        jokers = _joker_names(key >> 26) if rules.wild else []
        held = key & SUIT | key >> RANK_COUNT & SUIT
        # Most patterns hold no run at all, and few a place where one begins.
        starts = [low for low, places in self._shortest if (places & ~held).bit_count() <= len(jokers)]
        if not starts or not held:
            return
        copies = [
            [
                NAMES[suit * RANK_COUNT + rank + PACK * pack]
                for pack in (0, 1)
                if key >> rank + RANK_COUNT * pack & 1
            ]
            for rank in range(RANK_COUNT)
        ]
        for low in starts:
            room = LONGEST_RUN if rules.corner else self._top - low + 1
            ranks = [(low + step) % RANK_COUNT for step in range(rules.min_run - 1)]
            missing = sum(not copies[rank] for rank in ranks)
            natural = missing < len(ranks)
            for length in range(rules.min_run, min(room, LONGEST_RUN) + 1):
                rank = (low + length - 1) % RANK_COUNT
                ranks.append(rank)
                missing += not copies[rank]
                natural = natural or bool(copies[rank])
                if missing > len(jokers):
                    break
                if natural:
                    yield from self._fill(suit, ranks, copies, jokers)

    def _fill(self, suit: int, ranks: list[int], copies: list[list[str]], jokers: list[str]) -> Iterator[str]:
        """Every way to fill the places of one run with natural cards and jokers, at least one natural."""

        def fill(place: int, free: tuple[str, ...], parts: tuple[str, ...], natural: bool) -> Iterator[str]:
            if place == len(ranks):
                if natural:
                    yield f"{self._verb} {' '.join(parts)}"
                return
            rank = ranks[place]
            for name in copies[rank]:
                yield from fill(place + 1, free, (*parts, name), True)
            claim = KIND_NAMES[suit * RANK_COUNT + rank]
            for index, joker in enumerate(free):
                rest = free[:index] + free[index + 1 :]
                yield from fill(place + 1, rest, (*parts, f"{joker}={claim}"), natural)

        yield from fill(0, tuple(jokers), (), False)

    def _find_groups(self, rank: int, key: int) -> Iterator[str]:
        jokers = _joker_names(key >> PACK) if self._rules.wild else []
        copies = [
            [
                NAMES[suit * RANK_COUNT + rank + PACK * pack]
                for pack in (0, 1)
                if key >> suit * RANK_COUNT + pack & 1
            ]
            for suit in range(4)
        ]
        held = [names for names in copies if names]
        for size in (3, 4):
            for wild in range(min(len(jokers), size - 1) + 1):
                for chosen in combinations(jokers, wild):
                    claims = [f"{joker}={RANKS[rank]}" for joker in chosen]
                    for suits in combinations(held, size - wild):
                        for names in product(*suits):
                            yield f"{self._verb} {' '.join([*names, *claims])}"

    def _joker_groups(self, jokers: int) -> Iterator[str]:
        """R196: three or four jokers that are not wild."""
        for size in (3, 4):
            for chosen in combinations(_joker_names(jokers), size):
                yield f"{self._verb} {' '.join(chosen)}"


def _joker_names(pattern: int) -> list[str]:
    return [NAMES[FIRST_JOKER + index] for index in range(8) if pattern >> index & 1]


@cache
def book(verb: str, rules: MeldRules) -> Book:
    """The one book of these rules in this process: patterns are worked out once for all tables."""
    return Book(verb, rules)
