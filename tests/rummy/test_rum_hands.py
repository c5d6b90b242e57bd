"""From hand to hand: the first dealer, what lasts, numbers of hands, windows for the trust layer."""

from __future__ import annotations

import random
from typing import Any

import pytest

from p2p_rummy.cards import FIRST_JOKER, card_number, pack_cards
from p2p_rummy.games import make_game
from p2p_rummy.games.rum import RumGame
from p2p_rummy.games.rum_position import Position
from p2p_rummy.games.rum_snapshot import digest
from p2p_rummy.local import LocalTable
from p2p_rummy.notation import FORMS, parse
from p2p_rummy.options import RUM_GAMES, resolve
from p2p_rummy.refusals import InvalidMove
from protocol.game import Deal, Dealt, Moved, Over, Refused, Showdown, Shown, Shuffle, Shuffled, Window

NATURALS = list(pack_cards(packs=1, jokers_per_pack=0))


def cards(text: str) -> list[int]:
    return [card_number(name) for name in text.split()]


def beginning_with(text: str, pack: list[int]) -> list[int]:
    first = cards(text)
    return first + [card for card in pack if card not in first]


def rum(local: LocalTable) -> RumGame:
    assert isinstance(local.game, RumGame)
    return local.game


# --- the first dealer (R10, O33) ------------------------------------------------------------------------


def drawn(game: str, draws: str, seats: int = 3) -> int:
    """The dealer after these cards were drawn."""
    local = LocalTable(
        make_game(game, {}, seats), rng=random.Random(0), packs=[beginning_with(draws, NATURALS)]
    )
    local.settle()
    return rum(local).table.dealer


def test_the_lowest_card_deals_ace_lowest() -> None:
    assert drawn("rum500_wiki", "7S AD KH") == 1


def test_the_highest_card_deals_in_the_korean_game() -> None:
    assert drawn("rum500_korean", "7S AD KH") == 2


def test_equal_lowest_cards_draw_again() -> None:
    assert drawn("rum500_wiki", "AS 7D AH 9C 3C") == 2


def test_and_again_if_they_are_equal_once_more() -> None:
    assert drawn("rum500_wiki", "AS 7D AH 9C 9D 2S 2H 4C 3C") == 2


def test_the_draw_is_a_shuffle_of_natural_cards_opened_one_for_each_seat() -> None:
    game = make_game("rum500_korean", {}, 3)
    assert game.need == Shuffle(cards=tuple(NATURALS), new_hand=True)
    assert game.hand == 0
    game.apply(Shuffled(coin=bytes(32)))
    assert game.need == Deal(owners=((0, None), (1, None), (2, None)))
    game.apply(Dealt(faces=((0, cards("7S")[0]), (1, cards("7D")[0]), (2, cards("6D")[0]))))
    assert game.need == Deal(owners=((3, None), (4, None))), "the two sevens draw again"
    game.apply(Dealt(faces=((3, cards("2S")[0]), (4, cards("3D")[0]))))
    need = game.need
    assert isinstance(need, Shuffle)
    assert need.new_hand
    assert len(need.cards) == 54, "the hand's own shuffle is another one, with the jokers"
    assert game.hand == 1
    assert game.snapshot()["dealer"] == 1
    assert game.snapshot()["extra"]["dealer_draws"] == [
        {"seat": seat, "card": card} for seat, card in ((0, "7S"), (1, "7D"), (2, "6D"), (0, "2S"), (1, "3D"))
    ]


@pytest.mark.parametrize("coin", range(6))
def test_the_joint_coin_picks_the_first_dealer(coin: int) -> None:
    game = make_game("rum500", {}, 3)
    game.apply(Shuffled(coin=coin.to_bytes(32, "big")))
    assert game.snapshot()["dealer"] == coin % 3


# --- what lasts -----------------------------------------------------------------------------------------


def opened(options: dict[str, Any]) -> list[int]:
    settings = resolve("rum500_wiki", options, 2)
    local = Position(
        settings=settings,
        hands=[cards("KS KH KD 2S"), cards("8H 2C")],
        pile=cards("4D"),
        stock=cards("TC"),
        phase="play",
        packs=[NATURALS],
    ).table()
    local.move(0, "meld KS KH KD")
    local.move(0, "discard 2S")
    assert rum(local).table.phase == "draw"
    return list(local.game.snapshot()["extra"]["opened"])


def test_an_opening_lasts_for_the_game() -> None:
    """R163."""
    assert opened({}) == [0]


def test_or_for_the_hand() -> None:
    assert opened({"opening_scope": "hand"}) == []


def test_slots_and_faces_begin_anew_with_each_hand() -> None:
    rng = random.Random(4)
    local = LocalTable(make_game("rum500", {"target": 100_000}, 2), rng=rng)
    local.settle()
    seen = set()
    while rum(local).table.hand < 3:
        seat = local.to_move()[0]
        local.move(seat, rng.choice(local.legal(seat)))
        state = rum(local).table
        seen.add(state.hand)
        assert len(state.face) == 54
    assert seen == {1, 2, 3}


def test_hand_numbers_name_the_coming_hand_as_soon_as_its_shuffle_is_needed() -> None:
    """The trust layer keys a deck by it, so no two decks may share one."""
    settings = resolve("rum500", {}, 2)
    local = Position(
        settings=settings, hands=[cards("2S"), cards("3C")], pile=cards("4D"), phase="play"
    ).table()
    assert local.game.hand == 1
    local.move(0, "discard 2S", into_next_hand=False)
    assert local.game.hand == 2
    assert local.game.snapshot()["hand"] == 1, "the hand that still lies on the table"
    assert local.game.snapshot()["phase"] == "over"
    local.settle()
    assert (local.game.hand, local.game.snapshot()["hand"]) == (2, 2)


# --- needs and events -----------------------------------------------------------------------------------


def test_a_deal_gives_each_slot_to_its_owner_and_turns_one_up() -> None:
    game = make_game("rum500", {}, 3)
    game.apply(Shuffled(coin=(2).to_bytes(32, "big")))
    need = game.need
    assert isinstance(need, Deal)
    assert need.owners[:4] == ((0, 0), (1, 1), (2, 2), (3, 0))
    assert need.owners[-1] == (21, None)
    assert len(need.owners) == 22


def test_a_card_from_the_stock_is_dealt_to_its_drawer_alone() -> None:
    settings = resolve("rum500", {}, 2)
    local = Position(
        settings=settings, hands=[cards("2S"), cards("3C")], pile=cards("4D"), stock=cards("9D")
    ).table()
    local.game.apply(Moved(seat=0, text="draw"))
    assert local.game.need == Deal(owners=((3, 0),))
    with pytest.raises(Refused) as refused:
        local.game.apply(Moved(seat=0, text="discard 2S"))
    assert refused.value.code == "wrong_phase"


def test_closed_hands_are_shown_before_the_score() -> None:
    settings = resolve("rum500", {}, 2)
    local = Position(
        settings=settings, hands=[cards("2S"), cards("3C KD")], pile=cards("4D"), phase="play"
    ).table()
    slot = local.game.hidden(0)[0]
    local.game.apply(Moved(seat=0, text="discard 2S", openings=((slot, cards("2S")[0]),)))
    need = local.game.need
    assert need == Showdown(owners=tuple((slot, 1) for slot in local.game.hidden(1)))
    assert local.game.snapshot()["scores"] == [0, 0]
    local.game.apply(Shown(faces=tuple((slot, local.secret[slot]) for slot, _ in need.owners)))
    assert local.game.snapshot()["scores"] == [0, -13]
    assert local.game.snapshot()["sheet"] == [
        {"hand": 1, "points": [0, -13], "table": [0, 0], "in_hand": [0, 13], "notes": []}
    ]


def test_a_window_asks_everybody_else_clockwise() -> None:
    settings = resolve("rum500", {}, 4)
    hands = [cards("2S"), cards("3C"), cards("5D 6D"), cards("7D")]
    local = Position(settings=settings, hands=hands, pile=cards("4D"), phase="play", turn=2).table()
    local.move(2, "discard 5D")
    assert local.game.need == Window(after=2, seats=(3, 0, 1), sealed=True)
    assert [local.game.is_call(text) for text in ("pass", "rummy 5D on 1", "lay 7D on 1", "?!")] == [
        False, True, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize("event", [Dealt(), Shown(faces=()), Shuffled(coin=bytes(32))])
def test_an_event_that_nobody_asked_for_is_the_callers_mistake(event: Any) -> None:
    settings = resolve("rum500", {}, 2)
    game = rum(Position(settings=settings, hands=[cards("2S"), cards("3C")], pile=cards("4D")).table())
    before = game.digest()
    with pytest.raises(ValueError, match="was asked for"):
        game.apply(event)
    assert digest(game.table) == before


def test_the_outcome_is_there_when_the_game_has_ended() -> None:
    settings = resolve("rum500", {"target": 20}, 2)
    hands = [cards("KS KH KD 2S"), cards("3C")]
    local = Position(settings=settings, hands=hands, pile=cards("4D"), phase="play").table()
    local.move(0, "meld KS KH KD")
    assert rum(local).outcome() is None
    local.move(0, "discard 2S")
    assert rum(local).outcome() == Over(scores=(30, -3), winners=(0,))


# --- openings: hidden cards that a move plays -----------------------------------------------------------


def hidden_table() -> LocalTable:
    settings = resolve("rum500", {}, 2)
    hands = [cards("8S 8H 8C 2S"), cards("3C")]
    return Position(settings=settings, hands=hands, pile=cards("4D"), stock=cards("9D"), phase="play").table()


def test_a_move_names_the_slots_that_it_must_open() -> None:
    local = hidden_table()
    assert local.game.slots_of(0, "meld 8S 8C 8H", local.faces[0]) == (0, 1, 2)
    assert local.game.slots_of(0, "discard 2S", local.faces[0]) == (3,)


def test_cards_taken_from_the_pile_are_open_already() -> None:
    settings = resolve("rum500", {}, 2)
    local = Position(
        settings=settings, hands=[cards("8S 8H"), cards("3C")], pile=cards("8C"), stock=[]
    ).table()
    local.move(0, "take 8C")
    assert local.game.slots_of(0, "meld 8S 8H 8C", local.faces[0]) == (0, 1)
    assert [held["card"] for held in local.game.snapshot()["hands"][0]] == ["", "", "8C"]


@pytest.mark.parametrize(
    "openings",
    [
        {},
        {0: 7, 1: 20},
        {0: 7, 1: 20, 2: 46, 3: 1},
        {0: 7, 1: 20, 4: 46},
        {0: 7, 1: 20, 99: 46},
        {0: 7, 1: 20, 2: 45},
    ],
    ids=["none", "one too few", "one too many", "another's slot", "no slot", "another card"],
)
def test_other_openings_than_those_of_the_cards_named_are_refused(openings: dict[int, int]) -> None:
    """8S 8H 8C are cards 7, 20 and 46, in slots 0, 1 and 2."""
    local = hidden_table()
    before = local.game.digest()
    with pytest.raises(Refused) as refused:
        local.game.check(0, "meld 8S 8H 8C", openings)
    assert refused.value.code == "not_in_hand"
    with pytest.raises(Refused):
        local.game.apply(Moved(seat=0, text="meld 8S 8H 8C", openings=tuple(openings.items())))
    assert digest(rum(local).table) == before


def test_a_move_that_plays_no_card_opens_none() -> None:
    local = hidden_table()
    local.move(0, "discard 2S")
    with pytest.raises(Refused) as refused:
        local.game.check(1, "pass", {4: 41})
    assert refused.value.code == "not_in_hand"


def test_a_lapsed_answer_leaves_its_cards_open_in_hand() -> None:
    """R211: what was shown to lay it stays known to all."""
    settings = resolve("rum500", {"out_of_turn_melds": True}, 3)
    hands = [cards("KD 2S"), cards("8H 3D"), cards("X1 4S")]
    melds = Position(
        settings=settings, hands=hands, pile=cards("5H 6H 7H"), stock=cards("9D"), phase="play"
    ).table()
    melds.move(0, "discard KD")
    melds.move(1, "pass")
    melds.move(2, "rummy 5H 6H 7H")
    melds.move(2, "discard KD")
    melds.move(0, "pass")
    melds.move(1, "lay 8H on 1")
    assert [held["card"] for held in melds.game.snapshot()["hands"][2]] == ["", ""]
    melds.move(0, "pass")
    melds.move(1, "pass")
    assert [held["card"] for held in melds.game.snapshot()["hands"][1]] == [""]


# --- text -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RUM_GAMES)
def test_garbage_is_an_invalid_move_with_a_hint(name: str) -> None:
    local = LocalTable(make_game(name, {"first_dealer": "random"}, 4), rng=random.Random(2))
    local.settle()
    rng = random.Random(3)
    alphabet = "drawtakemeldlayondiscardrummypass 0123456789AKQJTSHDCXb=+\t\n\0é牌🂡"
    for _ in range(300):
        text = "".join(rng.choice(alphabet) for _ in range(rng.randrange(30)))
        with pytest.raises(Refused) as refused:
            local.game.check(0, "!" + text, {})
        assert isinstance(refused.value, InvalidMove)
        assert any(verb in str(refused.value) for verb in FORMS)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("TAKE 4h", "take 4H"),
        ("  take   10h ", "take TH"),
        ("meld 6♥ 7♥ x1=8♥", "meld 6H 7H X1=8H"),
        ("meld 9s x1=9h 9d", "meld 9S X1=9H 9D"),
        ("meld 6hb 7h 8hB", "meld 6Hb 7H 8Hb"),
        ("lay x1=8Hb ON 02", "lay X1=8H on 2"),
        ("meld 8s 8h 8c + 2s 3s 4s DOUBLE", "meld 8S 8H 8C + 2S 3S 4S double"),
        ("Name WILD", "name wild"),
    ],
)
def test_spelling_is_forgiven(text: str, canonical: str) -> None:
    assert parse(text).text == canonical
    assert parse(canonical) == parse(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("take", "take needs exactly one card: write take 4H"),
        ("take 4H 5H", "exactly one card"),
        ("discard 4X", "'4X' is no card"),
        ("lay 8H", "the number of a meld"),
        ("lay 8H on", "is no card"),
        ("lay 8H on two", "'two' is no number of a meld"),
        ("lay 8H 9H on 1", "lay needs one card"),
        ("meld", "meld needs cards"),
        ("meld 6H +", "before and after every +"),
        ("meld 6H=7H 8H 9H", "6H stands for itself"),
        ("meld 6H 7H 8H double + 2S 3S 4S double", "only one meld can be doubled"),
        ("rummy on 1", "needs the cards that are called"),
        ("name it", "wild, double and split"),
        ("pass please", "nothing follows pass"),
        ("x" * 1001, "at most 1000 characters"),
        ("", "an empty line is no move"),
    ],
)
def test_unreadable_text_says_what_is_missing(text: str, words: str) -> None:
    with pytest.raises(InvalidMove) as refused:
        parse(text)
    assert words in str(refused.value)
    assert (refused.value.code, refused.value.rule) == ("unreadable", "")


def test_a_refusal_names_rule_and_cards() -> None:
    local = hidden_table()
    with pytest.raises(Refused) as refused:
        local.game.check(0, "meld 8S 8H 2S", {0: 7, 1: 20, 3: 1})
    assert (refused.value.code, refused.value.rule, refused.value.cards) == (
        "not_a_meld",
        "R37",
        ("8S", "8H", "2S"),
    )
    assert "(R37)" in str(refused.value)


def test_every_joker_of_the_universe_has_a_name() -> None:
    assert [card_number(f"X{number}") for number in range(1, 9)] == list(range(FIRST_JOKER, FIRST_JOKER + 8))
