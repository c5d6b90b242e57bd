"""On the page, what only some tables have: the dealer's joker, melds out of turn, floating, a draw chosen in advance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Seated = Callable[..., Any]

HAND = "6H 7H 8H TS 9S 9C QD QS KC 4C 2D AD X2"
JOKER = {"dealer": 0, "without": "X1", "options": {"dealers_joker": "true"}}
"""The first joker lies beside the stock and this page's player has dealt (R176, R177)."""


def name_it(person: Any, effect: str) -> None:
    person.page.click(f"[data-do='own name {effect}']")
    person.page.wait_for_selector(".window-bar")
    person.pass_the_call()
    person.page.wait_for_selector(".stock.may")


def caption(person: Any) -> str:
    text: str = person.page.inner_text(".lent .caption")
    return text


def meld(person: Any, number: int) -> str:
    label: str = person.page.get_attribute(f"[data-meld='{number}']", "aria-label")
    return label


def test_the_dealers_joker_is_named_and_stands_in_a_meld_as_a_wild_card(seated: Seated) -> None:
    person = seated(HAND, **JOKER)
    assert "not named yet" in caption(person)
    assert "name what the dealer's joker does" in person.page.inner_text(".situation")
    named = person.page.eval_on_selector_all(
        "[data-do^='own name']", "all => all.map(one => one.textContent)"
    )
    assert named == ["Name it wild", "Name it double", "Name it split"]
    name_it(person, "wild")
    assert "wild" in caption(person)
    person.draw()
    person.choose("9S", "9C")
    person.page.click(".lent button")
    person.page.click("[data-do=meld].lit")
    person.page.wait_for_selector("[data-meld='1']")
    assert "joker" in meld(person, 1)
    assert "used" in caption(person)


def test_the_dealers_joker_doubles_a_meld_only_if_it_was_chosen_with_it(seated: Seated) -> None:
    """R179: the meld is doubled and sealed; the nine of hearts fits it and still cannot be laid on."""
    person = seated("6H 7H 8H 9H 9S 9C QD QS KC 4C 2D AD X2", **JOKER)
    name_it(person, "double")
    person.draw()
    person.page.click(".lent button")
    person.meld("6H", "7H", "8H")
    person.page.wait_for_selector("[data-meld='1']")
    assert "used" in caption(person)
    person.choose("9H")
    assert person.page.locator(".meld.target").count() == 0


def test_a_meld_without_the_dealers_joker_leaves_it_for_later(seated: Seated) -> None:
    person = seated("6H 7H 8H 9H 9S 9C QD QS KC 4C 2D AD X2", **JOKER)
    name_it(person, "double")
    person.draw()
    person.meld("6H", "7H", "8H")
    person.page.wait_for_selector("[data-meld='1']")
    assert "doubles" in caption(person)
    person.choose("9H")
    assert person.page.locator(".meld.target").count() == 1


def test_the_dealers_joker_splits_the_pile_at_the_card_that_is_chosen(seated: Seated) -> None:
    """R180: 2S with 2D 2C makes a group; what lay below it leaves play, and 3S above it comes along."""
    person = seated("2D 2C 8H TS 9S JC QD KS KC 4C 7D AD X2", theirs="3S", **JOKER)
    name_it(person, "split")
    page = person.page
    page.click("[data-pile='2S']", position={"x": 8, "y": 20})
    page.click("[data-do='own split 2S']")
    page.wait_for_selector("[data-hand='2S']")
    assert page.locator("[data-hand='3S']").count() == 1
    assert page.locator("[data-pile]").count() == 0
    assert "used" in caption(person)


def test_another_joker_blocks_the_dealers_joker(seated: Seated) -> None:
    """R182, in this seat's own turn; the other seat has dealt."""

    def names_it_wild(_seat: int, legal: list[str]) -> str:
        return next((text for text in legal if text in ("name wild", "draw", "pass")), legal[-1])

    person = seated(HAND, without="X1", options={"dealers_joker": "true"}, policy=names_it_wild)
    person.draw()
    person.page.click("[data-do='own block X2']")
    person.without("X2")
    person.page.wait_for_function(
        "() => document.querySelector('.lent .caption').textContent.includes('blocked')"
    )


def test_the_dealers_joker_is_blocked_in_a_call_window_too(seated: Seated) -> None:
    """R182: a block is an answer like a call."""

    def names_it_wild(_seat: int, legal: list[str]) -> str:
        return next((text for text in legal if text in ("name wild", "draw", "pass")), legal[-1])

    person = seated(HAND, without="X1", options={"dealers_joker": "true"}, policy=names_it_wild)
    person.draw()
    person.discard("KC")
    person.page.click(".window-bar [data-do='own block X2']")
    person.without("X2")
    assert "blocked" in caption(person)


def test_hints_show_melds_without_jokers_first_and_nothing_twice(seated: Seated) -> None:
    """Two jokers look alike: of two melds that differ in nothing else one is shown."""
    options = {"dealers_joker": "true", "hints": "true"}
    person = seated(HAND, dealer=0, without="X1", options=options)
    name_it(person, "wild")
    person.draw()
    chips = person.page.eval_on_selector_all(".hints .chip", "all => all.map(one => one.textContent)")
    assert chips[0] == "6♥ 7♥ 8♥"
    assert len(set(chips)) == len(chips) == 8
    assert [("★" in chip) for chip in chips] == sorted("★" in chip for chip in chips)


def test_a_meld_is_laid_out_of_turn_in_the_window(seated: Seated) -> None:
    """R210, at a table without calls; the window comes again after it (R212)."""
    person = seated(HAND, options={"out_of_turn_melds": "true", "calling": "off"})
    person.draw()
    person.discard("KC")
    page = person.page
    page.wait_for_selector(".window-bar")
    assert page.locator("[data-do=rummy]").count() == 0
    assert "out of turn" in page.inner_text(".window-bar")
    person.choose("6H", "7H", "8H")
    page.click(".window-bar [data-do=meld].lit")
    page.wait_for_selector("[data-meld='1']")
    person.pass_the_call()
    page.wait_for_selector(".stock.may")


def test_who_lays_the_last_card_floats_and_the_table_says_so(seated: Seated) -> None:
    """R128: with floating a seat without cards has not gone out."""
    person = seated("6H 7H 8H", then="9H", options={"going_out": "floating", "hand_size": "2:3"})
    person.draw()
    person.meld("6H", "7H", "8H")
    person.page.wait_for_selector("[data-meld='1']")
    person.choose("9H")
    person.page.click("[data-do=lay].lit")
    person.page.wait_for_selector(".mine .badge:has-text('floating')")


@pytest.mark.parametrize("key", ["d", "mouse"])
def test_the_draw_is_chosen_while_the_window_is_open_and_made_on_turn(seated: Seated, key: str) -> None:
    person = seated(HAND)
    person.draw()
    person.discard("KC")
    page = person.page
    page.wait_for_selector("[data-do=draw-ahead].lit")
    held = page.locator("[data-hand]").count()
    if key == "mouse":
        page.click(".stock.may")
    else:
        page.keyboard.press("d")
    page.wait_for_selector("[data-do=draw-ahead][aria-pressed=true]")
    assert "as soon as it is your turn" in page.inner_text(".notice")
    assert page.locator("[data-hand]").count() == held  # no card leaves the stock while the window is open
    person.pass_the_call()
    page.wait_for_function("held => document.querySelectorAll('[data-hand]').length === held + 1", arg=held)
    page.wait_for_selector("[data-do=discard]")


def test_an_answer_is_shown_as_what_it_is_until_the_countdown_ends(seated: Seated) -> None:
    def throws_nine(_seat: int, legal: list[str]) -> str:
        return next((text for text in legal if text in ("discard 9H", "draw", "pass")), legal[-1])

    mine = "6H 7H 8H TS 9S 9C QD QS KC 4C 2D AD X1"
    person = seated(mine, theirs="9H", policy=throws_nine, prompt=False, window_seconds=600)
    person.draw()
    person.meld("6H", "7H", "8H")
    person.discard("KC")
    page = person.page

    def says(words: str) -> None:
        page.wait_for_function(
            "words => document.querySelector('.window-words').textContent.startsWith(words)", arg=words
        )

    page.click(".window-bar [data-do=pass].lit")
    says("You pass.")
    page.click("[data-do=rummy]")
    page.click("[data-pile='9H']", position={"x": 8, "y": 20})
    page.click("[data-do=call-new].lit")  # one card makes no meld (R30)
    page.wait_for_function("() => document.querySelector('.notice').textContent.includes('R30')")
    assert page.locator(".rummy.armed").count() == 1  # refused: it is still being put together
    page.click("[data-meld='1'] .meld-target")
    says("You call 9")
    page.click("[data-do=pass].lit")
    says("You pass.")
    page.wait_for_selector("[data-do=pass]:not(.lit)")


def test_without_a_countdown_an_answer_is_given_once_and_the_time_for_it_is_shown(
    house: Callable[..., Any], browser: Any
) -> None:
    """A real peer; the step has 15 s, half of them for the answer (protocol.voice)."""
    here = house("Mika", window_seconds=0, bot_pause_seconds=0)
    context = browser.new_context(locale="en-GB", reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(here.address)
    page.wait_for_selector(".start-grid")
    here.run(here.table.open, {"game": "rum500", "seats": 2, "bots": 1, "level": "steady", "options": {}})
    page.wait_for_selector(".window-bar, .stock.may")
    if page.locator(".stock.may").count():
        page.click(".stock.may")
        page.wait_for_selector(".fresh")
        page.locator("[data-hand]").last.click()
        page.click("[data-do=discard].lit")
        page.wait_for_selector(".window-bar")
    clock = page.inner_text(".window-bar .clock")
    assert clock in [f"0:{second:02}" for second in range(1, 9)]
    page.click(".window-bar [data-do=pass].lit")
    page.wait_for_function("() => !document.querySelector('.window-bar [data-do=pass]')")
    context.close()
