"""Random legal games of every rum game under random options: what must hold after every move.

* cards are conserved, each in one place;
* the public state is the same when rebuilt from the events alone;
* every listed move is accepted, and every acceptable move of a small hand is listed (or leads into a duty that cannot
  be met, which only its holder can know);
* a refused move changes nothing;
* scores add up from the table and the hands;
* every game ends.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from p2p_rummy.cards import FIRST_JOKER, NAMES, RANKS, SUITS, card_names
from p2p_rummy.games import make_game
from p2p_rummy.games.rum import RumGame
from p2p_rummy.local import LocalTable
from p2p_rummy.notation import NO_CLAIM, RANK_ONLY, Move, parse
from p2p_rummy.options import OPTIONS, RUM_GAMES, resolve
from p2p_rummy.refusals import OptionError
from protocol.game import (
    Event,
    Game,
    Moved,
    Over,
    Refused,
    Turn,
)

SMALL = 5
"""Hands up to this size are compared with a brute-force enumeration."""

VARIED = {
    "jokers_per_pack": [0, 1, 2, 3],
    "opening_minimum": [0, 0, 15, 40],
    "exhausted_rounds": [1, 2],
    "going_out_bonus": [0, 25],
    "rummy_master_bonus": [0, 500],
    "target": [60, 150, None],
    "max_hands": [1, 3, None],
    "joker_value": [0, 15, 20],
    "min_run": [3, 3, 4],
}
FIXED = {
    "players_min",
    "players_max",
    "packs",
    "hand_size",
    "game_bonus",
    "call_conflict",
    "hints",
    "leaver",
    "partnership",
}


def random_settings(rng: random.Random) -> tuple[str, dict[str, Any], int]:
    """A game, options and a number of seats that make a table."""
    while True:
        game = rng.choice(RUM_GAMES)
        options: dict[str, Any] = {}
        for option in OPTIONS:
            if game not in option.games or option.name in FIXED or rng.random() < 0.75:
                continue
            if option.name in VARIED:
                options[option.name] = rng.choice(VARIED[option.name])
            elif option.kind == "bool":
                options[option.name] = rng.choice([False, True])
            elif option.kind == "choice":
                options[option.name] = rng.choice(list(option.choices))
        if rng.random() < 0.3:
            options["hand_size"] = rng.choice([3, 4, 5])
        seats = rng.choice([2, 3, 4, 4, 5])
        try:
            resolve(game, options, seats)
        except OptionError:
            continue
        return game, options, seats


class Recorder:
    """A game that hands every event to a second game as well, which knows nothing but the events."""

    def __init__(self, game: RumGame, twin: RumGame) -> None:
        self.game = game
        self.twin = twin

    def __getattr__(self, name: str) -> Any:
        return getattr(self.game, name)

    def apply(self, event: Event) -> None:
        self.game.apply(event)
        self.twin.apply(event)


class RumTables(RuleBasedStateMachine):
    @initialize(seed=st.integers(0, 2**32 - 1))
    def sit_down(self, seed: int) -> None:
        self.sit_down_at(seed)

    def sit_down_at(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.name, self.options, seats = random_settings(self.rng)
        game, twin = (make_game(self.name, self.options, seats) for _ in range(2))
        assert isinstance(game, RumGame)
        assert isinstance(twin, RumGame)
        self.game = game
        self.table = LocalTable(Recorder(game, twin), rng=self.rng)  # type: ignore[arg-type]
        self.twin = twin
        self.table.settle()

    @property
    def mover(self) -> int:
        answered = self.game.table.answers
        return next(seat for seat in self.table.to_move() if seat not in answered)

    @rule(choice=st.integers(0, 2**16), steps=st.integers(1, 12))
    def play(self, choice: int, steps: int) -> None:
        for step in range(steps):
            if not self.table.to_move():
                self.sit_down_at(self.rng.getrandbits(32))
            moves = self.table.legal(self.mover)
            assert moves, "a seat that has to move always can"
            self.table.move(self.mover, moves[(choice + step) % len(moves)])
            check_scores(self.game)

    @precondition(lambda self: self.table.to_move())
    @rule(
        text=st.sampled_from(
            ["", "dance", "draw", "pass", "take KD", "meld X1 X2 X3", "lay 7H on 1", "discard QQ"]
        )
        | st.text(max_size=20),
        seat=st.integers(0, 7),
    )
    def a_refused_move_changes_nothing(self, text: str, seat: int) -> None:
        before = self.game.digest(), self.game.need
        seat %= self.game.seats
        try:
            self.game.check(seat, text, {})
        except Refused:
            with pytest.raises(Refused):
                self.game.apply(Moved(seat=seat, text=text))
        self.game._digest = None
        assert (self.game.digest(), self.game.need) == before

    @precondition(lambda self: self.table.to_move())
    @rule()
    def listed_and_accepted_are_the_same(self) -> None:
        seat = self.mover
        before = self.game.digest()
        listed = self.table.legal(seat)
        assert len(set(listed)) == len(listed)
        for text in listed:
            assert parse(text).text == text, "listed in canonical spelling"
            assert accepted(self.game, seat, text, self.table.faces[seat]), text
        if len(self.game.table.hands[seat]) <= SMALL and len(self.game.table.pile) <= SMALL:
            known = {meaning(self.game, text) for text in listed}
            for text in every_move(self.game, seat, self.table.faces[seat]):
                if (
                    accepted(self.game, seat, text, self.table.faces[seat])
                    and meaning(self.game, text) not in known
                ):
                    assert is_dead_end(self.table, seat, text), (self.name, self.options, text, listed)
        self.game._digest = None
        assert self.game.digest() == before

    @invariant()
    def cards_are_conserved(self) -> None:
        if hasattr(self, "game"):
            check_cards(self.table, self.game)

    @invariant()
    def the_public_state_follows_from_the_events(self) -> None:
        if hasattr(self, "game"):
            assert self.game.digest() == self.twin.digest()
            assert self.game.snapshot() == self.twin.snapshot()
            assert self.game.need == self.twin.need


RumTables.TestCase.settings = settings(
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # a seed does not shrink
    max_examples=40,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestRumTables = RumTables.TestCase


# --- cards ----------------------------------------------------------------------------------------------


def check_cards(table: LocalTable, game: RumGame) -> None:
    state = game.table
    if state.between or state.stage < 4:
        return
    slots = [slot for hand in state.hands for slot in hand]
    slots += state.stock + state.pile + state.dead
    slots += [slot for meld in state.melds.values() for slot in meld.slots if slot >= 0]
    if state.turned_up >= 0:
        slots.append(state.turned_up)
    assert len(set(slots)) == len(slots), "a card is in two places"
    cards = [table.secret[slot] for slot in slots]
    assert sorted(cards) == sorted(game.rules.shuffled)
    for slot in slots:
        assert state.face[slot] in (-1, table.secret[slot])
    for seat, known in enumerate(state.known):
        assert known == {state.face[slot]: slot for slot in state.hands[seat] if state.face[slot] >= 0}
    assert [state.face[slot] for slot in state.pile] == state.pile_cards


def check_scores(game: RumGame) -> None:
    """The last line of the sheet, worked out from the snapshot by the words of the rules."""
    state = game.table
    if not state.sheet or not (state.between or isinstance(game.need, Over)):
        return
    line = state.sheet[-1]
    shot = game.snapshot()
    options = game.rules.settings.values
    table = [0] * game.seats
    for meld in shot["melds"]:
        four = (
            meld["kind"] == "group"
            and len(meld["cards"]) == 4
            and len({c["seat"] for c in meld["cards"]}) == 1
        )
        for place, card in enumerate(meld["cards"]):
            low = place == 0 and meld["kind"] == "run" and card["card"][0] == "A"
            points = value(options, card["card"], low=low)
            if game.table.melds[meld["id"]].factor > 1:
                assert four or game.rules.dealers_joker
                points *= game.table.melds[meld["id"]].factor
            table[card["seat"]] += points
    hands = [[card["card"] for card in hand] for hand in shot["hands"]]
    low_hand = options["scoring"] == "winner_takes_hands" and options["ace"] == "low"
    held = [sum(value(options, card, low=low_hand) for card in hand) for hand in hands]
    assert (line["table"], line["in_hand"]) == (table, held)
    if options["scoring"] == "melds_minus_hand" and line["notes"] == []:
        side = game.rules.side_of
        for seat in range(game.seats):
            mates = [other for other in range(game.seats) if side[other] == side[seat]]
            assert line["points"][seat] == sum(table[mate] - held[mate] for mate in mates)
    totals = [sum(row["points"][seat] for row in state.sheet) for seat in range(game.seats)]
    assert totals == shot["scores"]


def value(options: Any, card: str, *, low: bool) -> int:
    if card[0] == "X":
        return int(options["joker_value"])
    if card[0] == "A":
        return (1 if options["card_values"] == "face" else 5) if low else 15
    if card[0] in "TJQK":
        return 10
    return int(card[0]) if options["card_values"] == "face" else 5


# --- moves ----------------------------------------------------------------------------------------------


def accepted(game: Game, seat: int, text: str, faces: dict[int, int]) -> bool:
    try:
        slots = game.slots_of(seat, text, faces)
        game.check(seat, text, {slot: faces[slot] for slot in slots})
    except Refused:
        return False
    return True


def every_move(game: RumGame, seat: int, faces: dict[int, int]) -> Iterator[str]:
    """All texts that could be a move: every subset of the cards, every claim of every joker, every meld."""
    state = game.table
    hand = [state.face[slot] if state.face[slot] >= 0 else faces[slot] for slot in state.hands[seat]]
    yield from ("draw", "pass", "name wild", "name double", "name split")
    for name in NAMES:
        yield f"take {name}"
        yield f"split {name}"
        yield f"discard {name}"
        yield f"block {name}"
    jokers = [FIRST_JOKER] if game.rules.dealers_joker else []
    for verb, cards in (("meld", hand + jokers), ("rummy", list(state.pile_cards))):
        for size in range(3, min(len(cards), 7) + 1):
            for chosen in itertools.combinations(cards, size):
                if sum(card >= FIRST_JOKER for card in chosen) <= 1:
                    for placed in claimed(chosen):
                        yield f"{verb} {placed}"
                        if verb == "meld" and game.rules.dealers_joker:
                            yield f"{verb} {placed} double"
        for number in state.melds:
            for card in cards:
                for placed in claimed((card,)):
                    yield f"{'lay' if verb == 'meld' else verb} {placed} on {number}"
            if verb == "rummy":
                for pair in itertools.permutations([card for card in cards if card < FIRST_JOKER], 2):
                    yield f"rummy {' '.join(card_names(pair))} on {number}"


def claimed(cards: tuple[int, ...]) -> Iterator[str]:
    suits = {SUITS[card % 52 // 13] for card in cards if card < FIRST_JOKER} or set(SUITS)
    claims = (
        [f"={rank}" for rank in RANKS] + [f"={rank}{suit}" for suit in sorted(suits) for rank in RANKS] + [""]
    )
    choices = [claims if card >= FIRST_JOKER else [""] for card in cards]
    for chosen in itertools.product(*choices):
        yield " ".join(NAMES[card] + claim for card, claim in zip(cards, chosen, strict=True))


def meaning(game: RumGame, text: str) -> tuple[Any, ...]:
    """A move apart from its spelling."""
    move = parse(text)
    parts = tuple(frozenset(_plain(move, part)) for part in move.parts)
    if move.verb == "rummy" and move.meld and len(move.cards) > 1:
        return "rummy", move.meld, frozenset(move.cards), _ends(game, move)
    # All thirteen ranks can be two runs; which one depends on the order in which they are named.
    order = move.parts[0][0][0] % 13 == 0 if move.parts and len(move.parts[0]) == 13 else None
    return move.verb, parts, move.meld, move.word, move.doubled, order


def _plain(move: Move, part: tuple[tuple[int, int], ...]) -> Iterator[tuple[int, int]]:
    """Claims with the suit dropped where the cards are a group, or the meld laid on may be one (R42)."""
    ranks = {
        (card if claim == NO_CLAIM else claim) % 52 % 13 if claim < RANK_ONLY else claim - RANK_ONLY
        for card, claim in part
    }
    group = len(ranks) == 1 and len(part) > 1
    for card, claim in part:
        yield card, RANK_ONLY + claim % 13 if group and 0 <= claim < RANK_ONLY else claim


def _ends(game: RumGame, move: Move) -> int:
    """How many of a chain's cards go below: the order apart, that is what a chain does."""
    low = game.table.melds[move.meld].low
    return sum((card % 52 % 13 - low) % 13 > 6 for card in move.cards)


def is_dead_end(table: LocalTable, seat: int, text: str) -> bool:
    """Whether after this accepted move only ``untake`` is left, or it does what a listed move does.

    A joker laid on a group with a suit, and two melds in one move where one would do, are other spellings.
    """
    game = table.game.game  # type: ignore[attr-defined]
    move = parse(text)
    if move.verb in ("lay", "rummy") and move.meld and game.table.melds[move.meld].kind == "group":
        return any(claim != NO_CLAIM and claim < RANK_ONLY for _, claim in move.parts[0])
    after = LocalTable(game.copy(), rng=random.Random(0))
    after.secret = dict(table.secret)
    after.faces = [dict(own) for own in table.faces]
    after.move(seat, text, into_next_hand=False)
    return after.game.need == Turn(seat=seat) and not can_finish(after, seat)


def can_finish(table: LocalTable, seat: int) -> bool:
    """Whether the seat can end its turn, by trying everything."""
    game = table.game
    assert isinstance(game, RumGame)
    for text in every_move(game, seat, table.faces[seat]):
        if text.startswith(("block", "name")) or not accepted(game, seat, text, table.faces[seat]):
            continue
        if text.startswith("discard"):
            return True
        after = LocalTable(game.copy(), rng=random.Random(0))
        after.secret = dict(table.secret)
        after.faces = [dict(own) for own in table.faces]
        after.move(seat, text, into_next_hand=False)
        if after.game.need != Turn(seat=seat) or can_finish(after, seat):
            return True
    return False


# --- whole games ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(24))
def test_every_game_ends(seed: int) -> None:
    rng = random.Random(seed)
    name, options, seats = random_settings(rng)
    game = make_game(name, options, seats)
    table = LocalTable(game, rng=rng)
    table.settle()
    assert isinstance(game, RumGame)
    for _ in range(60_000):
        if not table.to_move():
            break
        seat = next(seat for seat in table.to_move() if seat not in game.table.answers)
        table.move(seat, rng.choice(table.legal(seat)))
        if game.table.between:
            check_scores(game)
    assert isinstance(game.need, Over), (name, options, game.hand)
