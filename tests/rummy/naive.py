"""A second, plain implementation of one hand of rum500, for counting and comparing.

It shares nothing with the engine: cards are names, melds are checked by looking for their ranks in the string
``A23456789TJQKA``, moves are found by trying every subset of cards with every claim of every joker, and whether a
duty can still be met is found by searching all continuations of the turn.  It is slow and meant to be obvious.

A move is a tuple: ``("draw",)``, ``("take", card)``, ``("meld", frozenset of placed, order)``, ``("lay", placed, id)``,
``("discard", card)``, ``("pass",)``, ``("rummy", placed..., id or 0)``; a placed card is ``(name, claim)``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

RANKS = "A23456789TJQK"
SUITS = "SHDC"
Placed = tuple[str, str]
Move = tuple[Any, ...]


def is_joker(card: str) -> bool:
    return card[0] == "X"


def rank_of(placed: Placed) -> str:
    return placed[1][0] if is_joker(placed[0]) else placed[0][0]


def suit_of(placed: Placed) -> str:
    """ "" for a joker of which only the rank is said."""
    return placed[1][1:] if is_joker(placed[0]) else placed[0][1]


@dataclass
class NaiveMeld:
    kind: str
    cards: list[Placed]


@dataclass
class Naive:
    """One hand.  ``options`` are rum500's where they are not given."""

    hands: list[list[str]]
    stock: list[str]
    pile: list[str]
    melds: dict[int, NaiveMeld] = field(default_factory=dict)
    turn: int = 0
    phase: str = "draw"
    options: dict[str, Any] = field(default_factory=dict)
    answers: dict[int, Move] = field(default_factory=dict)
    taken: list[str] = field(default_factory=list)
    duty: str = ""
    duty_meld: bool = False
    over: bool = False
    idle: int = 0
    had_stock: bool = True
    laid: bool = False

    def option(self, name: str) -> Any:
        defaults = {
            "calling": "full", "going_out": "free", "deepest_use": "any", "top_card": "free",
            "take_depth": "any", "ace": "high_or_low", "min_run": 3, "round_the_corner": False,
        }  # fmt: skip
        return self.options.get(name, defaults[name])

    # --- melds ---

    def ladder(self) -> str:
        if self.option("round_the_corner"):
            return RANKS * 2
        return RANKS + "A" if self.option("ace") == "high_or_low" else RANKS

    def meld_orders(self, cards: tuple[Placed, ...]) -> list[NaiveMeld]:
        """The melds that these cards make: none, one, or (all thirteen ranks) one for each way round."""
        naturals = [card for card in cards if not is_joker(card[0])]
        if not naturals or len(cards) < 3:
            return []
        ranks = {rank_of(card) for card in cards}
        if len(ranks) == 1:
            suits = [suit_of(card) for card in naturals]
            if len(cards) <= 4 and len(set(suits)) == len(suits):
                return [NaiveMeld("group", [(card, claim[:1]) for card, claim in cards])]
            return []
        suits = {suit_of(card) for card in cards}
        if len(suits) != 1 or "" in suits or len(ranks) < len(cards) or len(cards) < self.option("min_run"):
            return []
        ladder = self.ladder()
        found: dict[str, NaiveMeld] = {}
        for start in range(len(ladder) - len(cards) + 1):
            piece = ladder[start : start + len(cards)]
            if set(piece) == ranks and len(cards) <= 13:
                found[piece] = NaiveMeld("run", sorted(cards, key=lambda card: piece.index(rank_of(card))))
        return list(found.values())

    def fits(self, meld: NaiveMeld, card: Placed) -> NaiveMeld | None:
        if meld.kind == "group":
            grown = self.meld_orders((*meld.cards, card))
            return (
                NaiveMeld("group", [*meld.cards, (card[0], card[1][:1])])
                if grown and len(meld.cards) < 4
                else None
            )
        if suit_of(card) != suit_of(meld.cards[0]) or len(meld.cards) >= 13:
            return None
        piece = "".join(rank_of(placed) for placed in meld.cards)
        if piece + rank_of(card) in self.ladder():
            return NaiveMeld("run", [*meld.cards, card])
        if rank_of(card) + piece in self.ladder():
            return NaiveMeld("run", [card, *meld.cards])
        return None

    def claims(self, cards: tuple[str, ...], suits: set[str]) -> Iterator[tuple[Placed, ...]]:
        """The cards with every claim of their jokers that could be of use: all ranks, and all cards of ``suits``."""
        wild = list(RANKS) + [rank + suit for suit in suits for rank in RANKS]
        choices = [wild if is_joker(card) else [""] for card in cards]
        for claims in itertools.product(*choices):
            yield tuple(zip(cards, claims, strict=True))

    # --- moves ---

    def to_move(self) -> int:
        if self.over:
            return -1
        if self.phase == "call":
            return next(seat for seat in self.others() if seat not in self.answers)
        return self.turn

    def others(self) -> list[int]:
        count = len(self.hands)
        return [(self.turn + step) % count for step in range(1, count)]

    def moves(self) -> list[Move]:
        """Every move of the seat to move, less those after which the turn could not be ended."""
        if self.phase == "call":
            return [("pass",), *self.calls()]
        return [
            move for move in self.acceptable() if move[0] in ("draw", "pass", "discard") or self.ends(move)
        ]

    def ends(self, move: Move) -> bool:
        """Whether the turn can be ended after this move."""
        after = deepcopy(self)
        seat = after.turn
        after.do(move)
        if after.over or after.phase != "play" or after.turn != seat:
            return True
        return any(True for choice in after.acceptable() if choice[0] == "discard" or after.ends(choice))

    def acceptable(self) -> list[Move]:
        if self.phase == "draw":
            found: list[Move] = [("draw",)] if self.stock else [("pass",)]
            pile = self.pile if self.option("take_depth") == "any" else self.pile[-1:]
            return found + [("take", card) for card in pile]
        hand = self.hands[self.turn]
        found = [("meld", *move) for move in self.new_melds(hand)]
        for card in hand:
            found += [("lay", placed, number) for placed, number in self.layoffs(card)]
        found = [move for move in found if self.may_lay(move)]
        return found + [("discard", card) for card in hand if self.may_discard(card)]

    def new_melds(self, cards: list[str]) -> list[tuple[Any, ...]]:
        found: dict[tuple[Any, ...], None] = {}
        for size in range(3, min(len(cards), 13) + 1):
            for chosen in itertools.combinations(cards, size):
                suits = {card[1] for card in chosen if not is_joker(card)}
                if len(chosen) > 4 and len(suits) > 1:
                    continue
                for placed in self.claims(chosen, suits):
                    for meld in self.meld_orders(placed):
                        found[meld_key(meld)] = None
        return list(found)

    def layoffs(self, card: str) -> list[tuple[Placed, int]]:
        found: dict[tuple[Placed, int], None] = {}
        for number, meld in self.melds.items():
            for (placed,) in self.claims((card,), set(SUITS)):
                if self.fits(meld, placed) is not None:
                    claim = placed[1][:1] if meld.kind == "group" else placed[1]
                    if meld.kind == "run" and is_joker(card) and len(placed[1]) != 2:
                        continue
                    found[((card, claim), number)] = None
        return list(found)

    def may_lay(self, move: Move) -> bool:
        """R23, R64, R126: what is left may be left."""
        after = deepcopy(self)
        cards = {card for card, _ in move[1]} if move[0] == "meld" else {move[1][0]}
        after.put_down(move)
        left = [card for card in self.hands[self.turn] if card not in cards]
        if not left:
            return not after.duty and self.option("going_out") != "discard_required"
        if left == self.taken and len(self.taken) == 1:
            if self.option("going_out") == "discard_required" or after.duty_meld:
                return False
            return bool(after.layoffs(left[0]))
        return True

    def may_discard(self, card: str) -> bool:
        if self.duty or self.taken == [card]:
            return False
        strict = self.option("going_out") == "unplayable_discard"
        return not (strict and len(self.hands[self.turn]) == 1 and self.layoffs(card))

    def calls(self) -> list[Move]:
        calling = self.option("calling")
        if calling == "latest_only":
            return (
                [("rummy", (placed,), number) for placed, number in self.layoffs(self.pile[-1])]
                if self.pile
                else []
            )
        found: dict[Move, None] = {}
        for cards in self.new_melds(self.pile):
            found[("rummy", *cards, 0)] = None
        for number, meld in self.melds.items():
            for chain in self.chains(meld, tuple(self.pile)):
                found[("rummy", chain, number)] = None
        return unordered(list(found), self)

    def chains(self, meld: NaiveMeld, cards: tuple[str, ...]) -> Iterator[tuple[Placed, ...]]:
        for card in cards:
            for (placed,) in self.claims((card,), set(SUITS)):
                if meld.kind == "run" and is_joker(card) and len(placed[1]) != 2:
                    continue
                if meld.kind == "group":
                    placed = (card, placed[1][:1])
                grown = self.fits(meld, placed)
                if grown is not None:
                    yield (placed,)
                    rest = tuple(other for other in cards if other != card)
                    for more in self.chains(grown, rest):
                        yield (placed, *more)

    # --- doing ---

    def do(self, move: Move) -> None:
        if self.phase == "call":
            self.answers[self.to_move()] = move
            if len(self.answers) == len(self.hands) - 1:
                self.close_window()
            return
        hand = self.hands[self.turn]
        if move[0] == "draw":
            hand.append(self.stock.pop(0))
            self.phase = "play"
        elif move[0] == "pass":
            self.over = True
        elif move[0] == "take":
            index = self.pile.index(move[1])
            self.taken = self.pile[index:]
            self.pile = self.pile[:index]
            hand.extend(self.taken)
            use = self.option("deepest_use")
            self.duty_meld = use == "new_meld" or (use == "short_layoff" and len(self.taken) > 2)
            if len(self.taken) > 1 or self.option("top_card") == "must_meld" or use == "new_meld":
                self.duty = move[1]
            self.phase = "play"
        elif move[0] == "discard":
            hand.remove(move[1])
            self.pile.append(move[1])
            self.end_turn(out=not hand)
        else:
            self.put_down(move)
            cards = {card for card, _ in move[1]} if move[0] == "meld" else {move[1][0]}
            self.hands[self.turn] = [card for card in hand if card not in cards]
            self.laid = True
            self.idle = 0
            if not self.hands[self.turn]:
                self.end_turn(out=self.option("going_out") == "free")

    def put_down(self, move: Move) -> None:
        if move[0] == "meld":
            self.add_meld(tuple(move[1]), move[2])
            if any(card == self.duty for card, _ in move[1]):
                self.duty = ""
        else:
            grown = self.fits(self.melds[move[2]], move[1])
            assert grown is not None
            self.melds[move[2]] = grown
            if move[1][0] == self.duty and not self.duty_meld:
                self.duty = ""

    def add_meld(self, cards: tuple[Placed, ...], lowest: str) -> None:
        number = max(self.melds, default=0) + 1
        self.melds[number] = next(
            meld
            for meld in self.meld_orders(cards)
            if meld.kind == "group" or rank_of(meld.cards[0]) == lowest
        )

    def end_turn(self, *, out: bool) -> None:
        if out:
            self.over = True
            return
        if not self.had_stock and not self.laid:
            self.idle += 1
        self.answers = {}
        self.phase = "call"
        if self.option("calling") == "off":
            self.start((self.turn + 1) % len(self.hands))

    def start(self, seat: int) -> None:
        if self.idle >= 2 * len(self.hands):
            self.over = True
            return
        self.begin(seat)
        self.phase = "draw"

    def begin(self, seat: int) -> None:
        self.turn = seat
        self.taken = []
        self.duty = ""
        self.duty_meld = False
        self.had_stock = bool(self.stock)
        self.laid = False

    def close_window(self) -> None:
        for seat in self.others():
            move = self.answers[seat]
            if move[0] == "pass":
                continue
            cards = [card for card, _ in move[1]]
            index = min(self.pile.index(card) for card in cards)
            after = self.turn
            if self.option("calling") == "full":
                self.begin(seat)
            self.hands[seat] += [card for card in self.pile[index:] if card not in cards]
            self.pile = self.pile[:index]
            if move[-1] == 0:
                self.add_meld(tuple(move[1]), move[2])
            else:
                for placed in move[1]:
                    self.put_down(("lay", placed, move[-1]))
            self.laid = True
            self.idle = 0
            if self.option("calling") == "latest_only":
                self.start((after + 1) % len(self.hands))
            elif self.hands[seat]:
                self.phase = "play"
            else:
                self.end_turn(out=False)
            return
        self.start((self.turn + 1) % len(self.hands))

    # --- counting ---

    def perft(self, depth: int) -> int:
        """The number of legal move sequences of this length (shorter ones that end the hand are not counted)."""
        if depth == 0:
            return 1
        if self.over:
            return 0
        count = 0
        for move in self.moves():
            after = deepcopy(self)
            after.do(move)
            count += after.perft(depth - 1)
        return count


def meld_key(meld: NaiveMeld) -> tuple[Any, ...]:
    """A meld apart from the order in which its cards are named."""
    return frozenset(meld.cards), "" if meld.kind == "group" else rank_of(meld.cards[0])


def unordered(calls: list[Move], hand: Naive) -> list[Move]:
    """Of chains that differ only in their order and leave the same meld, the one named below first."""
    kept: dict[tuple[Any, ...], Move] = {}
    for call in calls:
        if call[-1] == 0:
            kept[call] = call
            continue
        meld = hand.melds[call[-1]]
        for placed in call[1]:
            grown = hand.fits(meld, placed)
            assert grown is not None
            meld = grown
        kept.setdefault((call[-1], tuple(meld.cards)), call)
    return list(kept.values())
