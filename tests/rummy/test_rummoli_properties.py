"""Random legal games of Rummoli: what must hold after every move, whatever is played."""

import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from p2p_rummy.cards import card_name
from p2p_rummy.games import make_game
from p2p_rummy.games.rummoli_moves import parse
from p2p_rummy.local import LocalTable
from protocol.game import Deal, Dropped, Moved, Over, Refused, Shuffle, Turn, Window

TABLES = st.fixed_dictionaries(
    {
        "start_chips": st.integers(9, 60),
        "bet_limit": st.integers(1, 8),
        "claim": st.sampled_from(["manual", "auto"]),
        "max_rounds": st.integers(1, 3),
        "final": st.sampled_from(["one_pot", "per_pot"]),
        "widow": st.booleans(),
        "leaver": st.sampled_from(["minus_hand", "void_hand", "bot"]),
    }
)
EVERY_MOVE = [
    "swap", "keep", "pass", "check", "call", "fold", "muck", "claim", "end", "bid 1", "bid 4", "bet 1", "bet 9",
    "raise 1", "raise 9",
]  # fmt: skip


class Recorder(LocalTable):
    """A table that writes down what the game was told."""

    def __init__(self, game, **keywords):
        self.told = []
        apply = game.apply

        def record(event):
            apply(event)
            self.told.append(event)

        game.apply = record
        super().__init__(game, **keywords)


def check_invariants(table, chips):
    game = table.game
    view = game.snapshot()
    extra = view["extra"]
    assert sum(extra["chips"]) + sum(extra["pots"].values()) == chips
    assert min(extra["chips"]) >= 0
    assert min(extra["pots"].values()) >= 0
    # Each slot is in one place: a hand, a hand swapped away, the widow, or played.
    slots = [slot["slot"] for hand in view["hands"] for slot in hand]
    slots += [slot for dead in game.cards.dead for slot in dead] + game.cards.widow
    assert len(slots) == len(set(slots))
    if view["phase"] not in ("deal", "final", "vote", "over"):
        assert len(slots) + len(extra["played"]) == 52
    for seat in range(game.seats):
        assert all(slot in table.faces[seat] for slot in game.hidden(seat)) or isinstance(
            game.need, Deal | Shuffle
        )
    played = [card for _, card in extra["played"]]
    assert max(Counter(played).values(), default=1) == 1
    # What is closed to all stays nameless in public.
    for seat, hand in enumerate(view["hands"]):
        for slot in hand:
            assert (slot["card"] == "") == (slot["slot"] in game.hidden(seat))


def check_legal_moves(table, seat):
    """``legal_moves`` are what ``slots_of`` and ``check`` accept: each of them, and nothing else that is tried."""
    game, own = table.game, table.faces[seat]
    legal = table.legal(seat)
    assert legal
    assert len(legal) == len(set(legal))
    for text in legal:
        slots = game.slots_of(seat, text, own)
        game.check(seat, text, {slot: own[slot] for slot in slots})
    names = [card_name(own[slot["slot"]]) for slot in game.snapshot()["hands"][seat] if slot["slot"] in own]
    single = [f"play {name}{claim}" for name in names for claim in ("", " claim")]
    before = game.digest()
    for text in [*EVERY_MOVE, *single]:
        accepted = True
        try:
            game.slots_of(seat, text, own)
        except Refused:
            accepted = False
        assert accepted == (text in legal), text
    assert game.digest() == before
    return legal


def answering(need):
    return need.seats if isinstance(need, Window) else (need.seat,)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seats=st.integers(2, 8), options=TABLES, seed=st.integers(0, 2**32))
def test_random_games_keep_every_invariant_and_end(seats, options, seed):
    rng = random.Random(seed)
    game = make_game("rummoli", options, seats)
    table = Recorder(game, rng=rng)
    chips = seats * options["start_chips"]
    table.settle()
    while not isinstance(game.need, Over):
        for seat in answering(game.need):
            legal = check_legal_moves(table, seat) if rng.random() < 0.1 else table.legal(seat)
            table.move(seat, rng.choice(legal))
            check_invariants(table, chips)
        assert not game.faults  # nobody who keeps to the legal moves is ever blamed
    assert sum(game.need.scores) == chips
    assert game.snapshot()["sheet"][-1]["hand"] <= options["max_rounds"] + 9
    again = make_game("rummoli", options, seats)
    for event in table.told:
        again.apply(event)
    assert again.snapshot() == game.snapshot()
    assert again.digest() == game.digest()


@example(  # the highest bidder leaves, and would have been dealt a widow that nobody sees
    seats=5,
    options={
        "start_chips": 10,
        "bet_limit": 1,
        "claim": "manual",
        "max_rounds": 1,
        "final": "one_pot",
        "widow": True,
        "leaver": "bot",
    },
    seed=5136,
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seats=st.integers(3, 6), options=TABLES, seed=st.integers(0, 2**32))
def test_seats_may_leave_at_any_time_and_the_game_still_ends(seats, options, seed):
    rng = random.Random(seed)
    game = make_game("rummoli", options, seats)
    table = LocalTable(game, rng=rng)
    chips = seats * options["start_chips"]
    leaving = rng.sample(range(seats), rng.randint(1, seats - 1))
    while not isinstance(game.need, Over):
        if leaving and rng.random() < 0.08:
            seat = leaving.pop()
            void = rng.random() < 0.3
            faces = () if void else tuple((slot, table.secret[slot]) for slot in game.hidden(seat))
            game.apply(Dropped(seat=seat, faces=faces, void=void))
        elif isinstance(game.need, Turn | Window):
            seat = next(seat for seat in answering(game.need) if seat not in game.answers)
            text = rng.choice(table.legal(seat))
            own = table.faces[seat]
            slots = game.slots_of(seat, text, own)
            game.apply(Moved(seat=seat, text=text, openings=tuple((slot, own[slot]) for slot in slots)))
        elif isinstance(game.need, Shuffle):
            table.shuffle(game.need)
        elif isinstance(game.need, Deal):
            table.deal(game.need)
        else:
            table.show(game.need)
        check_invariants_of_a_table_with_leavers(table, chips)
    assert sum(game.need.scores) == chips
    assert set(game.need.winners).isdisjoint(game.out)


def check_invariants_of_a_table_with_leavers(table, chips):
    extra = table.game.snapshot()["extra"]
    assert sum(extra["chips"]) + sum(extra["pots"].values()) == chips
    assert not table.game.faults
    if isinstance(table.game.need, Turn | Window):
        assert table.game.out.isdisjoint(answering(table.game.need))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seats=st.integers(2, 5), seed=st.integers(0, 2**32))
def test_who_breaks_a_hidden_duty_is_always_named_and_nobody_else(seats, seed):
    rng = random.Random(seed)
    game = make_game("rummoli", {"max_rounds": 1}, seats)
    table = LocalTable(game, rng=rng)
    table.settle()
    liars = set()
    while not isinstance(game.need, Over):
        for seat in answering(game.need):
            own = table.faces[seat]
            if game.phase in ("lead", "follow", "widow", "auction") and rng.random() < 0.2:
                text = rng.choice(
                    ["pass", "bid 9", "swap", *(f"play {card_name(card)}" for card in own.values())]
                )
                if (slots := acceptable(game, seat, text, own)) is not None:
                    if text not in table.legal(seat):
                        liars.add(seat)
                    game.apply(
                        Moved(seat=seat, text=text, openings=tuple((slot, own[slot]) for slot in slots))
                    )
                    table.settle(into_next_hand=False)
                    continue
            table.move(seat, rng.choice(table.legal(seat)), into_next_hand=False)
        if game.rounds:
            break
    assert {fault.seat for fault in game.faults} == liars
    if liars:
        assert game.board.chips == [100] * seats


def acceptable(game, seat, text, own):
    """The openings with which everybody else would accept this, or None."""
    move = parse(text)
    slots = [slot for slot in game.hidden(seat) if own.get(slot) in move.cards]
    try:
        game.check(seat, text, {slot: own[slot] for slot in slots})
    except Refused:
        return None
    return slots


@pytest.mark.parametrize("seats", [2, 4])
def test_without_max_rounds_random_players_come_to_an_end(seats):
    rng = random.Random(seats)
    game = make_game("rummoli", {"start_chips": 30}, seats)
    table = LocalTable(game, rng=rng)
    table.settle()
    while not isinstance(game.need, Over):
        for seat in answering(game.need):
            table.move(seat, rng.choice(table.legal(seat)))
    assert game.snapshot()["winner"]
