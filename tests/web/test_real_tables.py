"""The page on real peers: keys, shuffles, TCP and logs as friends would have them, bots as processes of their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from p2p_rummy.web.house import ticket_of

House = Callable[..., Any]


@pytest.fixture
def pages(browser: Any) -> Iterator[Callable[[], Any]]:
    """As many pages as are asked for, each in a browser profile of its own."""
    contexts = []

    def another() -> Any:
        context = browser.new_context(
            viewport={"width": 1200, "height": 800}, reduced_motion="reduce", locale="en-GB"
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)  # peers that start, make keys and shuffle, on a busy machine
        return page

    yield another
    for context in contexts:
        context.close()


def open_table(page: Any, address: str, *, seats: int, bots: int) -> None:
    page.goto(address)
    page.select_option("select[name=seats]", str(seats))
    page.select_option("select[name=bots]", str(bots))
    page.click("text=Open the table")


SHORT = {"game": "rum500", "seats": 2, "bots": 1, "level": "steady", "options": {"hand_size": "2:22"}}
"""Twenty-two cards a hand leave a small stock: a hand of few turns, everything else as always."""


def short_table(page: Any, here: Any) -> None:
    """The page of a peer at such a table with one bot."""
    page.goto(here.address)
    page.wait_for_selector(".start-grid")
    here.run(here.table.open, SHORT)
    page.wait_for_selector(".hand [data-hand]")


def hands_played(page: Any) -> int:
    return len(page.query_selector_all(".sheet tbody tr:not(.notes)"))


def on_turn(page: Any) -> None:
    """Pass in every window until it is this seat's turn, or a hand has been scored."""
    while True:
        page.wait_for_function(
            "() => document.querySelector('.mine.on-turn, .sheet .points, [data-do=pass].lit')"
        )
        passing = page.locator(".window-bar [data-do=pass].lit")
        if not passing.count():
            return
        page.keyboard.press("p")
        page.wait_for_function("() => !document.querySelector('.window-bar [data-do=pass].lit')")


def held(page: Any) -> int:
    return len(page.query_selector_all(".hand [data-hand]"))


def changed(page: Any, before: int) -> None:
    page.wait_for_function(
        "before => document.querySelectorAll('.hand [data-hand]').length !== before || document.querySelector('.sheet .points')",
        arg=before,
    )


def take_turn(page: Any, *, with_mouse: bool) -> None:
    """Draw and discard the last card of the hand, each when it is asked for."""
    on_turn(page)
    page.wait_for_selector("[data-do=draw].lit, [data-do=discard], .sheet .points")
    if hands_played(page):
        return
    if page.locator("[data-do='own pass']").count():  # R28: no stock is left
        page.keyboard.press("p")
        page.wait_for_selector("[data-do='own pass']", state="detached")
        return
    before = held(page)
    if page.locator("[data-do=draw].lit").count():
        if with_mouse:
            page.click(".stock.may")
        else:
            page.keyboard.press("d")
        changed(page, before)
        if hands_played(page):
            return
        page.wait_for_selector("[data-do=draw]:not(.lit)")
        before = held(page)
    if with_mouse:
        page.locator(".hand [data-hand]").last.click()
        page.click("[data-do=discard].lit")
    else:
        page.keyboard.press("h")
        page.keyboard.press("End")
        page.keyboard.press("Space")
        page.wait_for_selector("[data-do=discard].lit")
        page.keyboard.press("x")
    changed(page, before)


@pytest.mark.parametrize("with_mouse", [True, False], ids=["mouse alone", "keyboard alone"])
def test_a_whole_hand_against_a_bot_that_is_a_peer(
    house: House, pages: Callable[[], Any], with_mouse: bool
) -> None:
    page = pages()
    short_table(page, house("Mika", window_seconds=0, bot_pause_seconds=0))
    for _ in range(60):
        take_turn(page, with_mouse=with_mouse)
        if hands_played(page):
            break
    assert hands_played(page) == 1


def test_two_browsers_on_two_peers_play_each_other(house: House, pages: Callable[[], Any]) -> None:
    mika, bo = house("Mika", window_seconds=0), house("Bo")
    one, other = pages(), pages()
    open_table(one, mika.address, seats=2, bots=0)
    ticket = one.inner_text(".ticket")
    other.goto(bo.address)
    other.fill("input[name=ticket]", ticket)
    other.click("button[value=join]")
    one.wait_for_selector(".hand [data-hand]")
    other.wait_for_selector(".hand [data-hand]")
    assert set(cards(one)).isdisjoint(cards(other))
    one.wait_for_selector(".seat.on-turn")
    first, second = (one, other) if one.locator(".mine.on-turn").count() else (other, one)
    for page, opposite in [(first, second), (second, first)] * 2:
        take_turn(page, with_mouse=False)
        top = page.eval_on_selector(".pile .card.top", "card => card.dataset.pile")
        opposite.wait_for_selector(f"[data-pile='{top}']")
    one.keyboard.press("c")
    one.fill("#say-line", "well shuffled")
    one.keyboard.press("Enter")
    other.keyboard.press("c")
    other.wait_for_function("() => document.querySelector('.lines').textContent.includes('well shuffled')")
    words = [words_of(page) for page in (one, other)]
    assert words[0] == words[1]
    assert len(words[0].split()) >= 3


def cards(page: Any) -> list[str]:
    found: list[str] = page.eval_on_selector_all(
        ".hand [data-hand]", "all => all.map(one => one.dataset.hand)"
    )
    return found


def words_of(page: Any) -> str:
    page.click("[data-panel=shuffle]")
    text: str = page.inner_text(".word-list")
    return text


def test_a_visit_to_a_table(house: House, pages: Callable[[], Any]) -> None:
    """Opened from the page with one bot; then the log, the replay, a second page, leaving and coming back."""
    here = house("Mika", window_seconds=0, bot_pause_seconds=0)
    page = pages()
    frames: list[str] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(frame)))
    open_table(page, here.address, seats=2, bots=1)
    page.wait_for_selector(".hand [data-hand]")
    for _ in range(2):
        take_turn(page, with_mouse=False)
    no_foreign_face(frames)

    page.click("[data-panel=shuffle]")
    assert page.locator(".shuffles .verified").count() == 2
    page.click("text=Verify the whole log")
    page.wait_for_selector(".verdict.good")
    with page.expect_download() as download:
        page.click("text=Download the log")
    log = here.call(here.table.log)
    with open(download.value.path(), "rb") as file:
        assert log.startswith(file.read())

    page.click(".panel-actions >> text=Replay")
    page.wait_for_selector(".panel-replay")
    slider = page.locator(".panel-replay input[type=range]")
    assert int(slider.get_attribute("max")) >= 4
    slider.fill("0")
    page.wait_for_function("() => document.querySelectorAll('.page.past .pile .card').length === 1")
    assert page.locator("[data-hand]").count() == 0
    page.keyboard.press("Escape")

    on_turn(page)
    before = sorted(cards(page))
    again = pages()
    again.goto(here.address)
    again.wait_for_selector(".hand [data-hand]")
    assert sorted(cards(again)) == before

    page.click("[data-panel=settings]")
    page.click("text=Leave the table")
    page.wait_for_selector(".start-grid")
    again.wait_for_selector(".start-grid")
    page.click("button:has-text('Resume')")
    page.wait_for_selector(".hand [data-hand]")
    page.wait_for_function(
        "count => document.querySelectorAll('.hand [data-hand]').length === count", arg=len(before)
    )
    assert sorted(cards(page)) == before


def no_foreign_face(frames: list[str]) -> None:
    """In no frame that reached the page is there a face of a slot in the other hand that was not open to all."""
    looked = 0
    for frame in frames:
        message = json.loads(frame)
        if message["type"] != "table":
            continue
        view = message["view"]
        assert set(view) == {"me", "public", "need", "hand", "legal", "ahead", "facts"}
        closed = {item["slot"] for item in view["public"]["hands"][1] if not item["card"]}
        assert closed.isdisjoint(item["slot"] for item in view["hand"])
        looked += len(closed)
    assert looked > 0


@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        ({"ticket": "hello"}, "a ticket begins with RUMMY"),
        ({"ticket": "RUMMY-00000"}, "cut short"),
    ],
)
def test_a_wrong_ticket_says_what_is_wrong(
    house: House, pages: Callable[[], Any], wishes: dict[str, str], said: str
) -> None:
    page = pages()
    page.goto(house("Mika").address)
    page.fill("input[name=ticket]", wishes["ticket"])
    page.click("button[value=join]")
    page.wait_for_selector(".banner:not(.gone)")
    assert said in page.inner_text(".banner:not(.gone)")


def test_the_rules_of_a_table_are_chosen_on_the_page(house: House, pages: Callable[[], Any]) -> None:
    here = house("Mika", window_seconds=0, bot_pause_seconds=0)
    page = pages()
    page.goto(here.address)
    page.select_option("select[name=seats]", "2")
    page.select_option("select[name=bots]", "1")
    page.click("summary")
    page.select_option("#set-calling", "off")
    page.fill("#set-target", "oops")
    page.click("text=Open the table")
    page.wait_for_selector(".banner:not(.gone)")
    assert "target" in page.inner_text(".banner:not(.gone)")
    page.fill("#set-target", "250")
    page.click("text=Open the table")
    page.wait_for_selector(".hand [data-hand]")
    assert dict(here.table.desk.face.table.agreement.options) == {"calling": "off", "target": "250"}


PILE = "() => [...document.querySelectorAll('.pile [data-pile]')].map(card => card.dataset.pile)"


def test_a_spectators_page_sees_what_is_public(house: House, pages: Callable[[], Any]) -> None:
    here = house("Mika", window_seconds=0, bot_pause_seconds=0)
    page, looking = pages(), pages()
    short_table(page, here)
    looking.goto(house("Cy").address)
    looking.fill("input[name=ticket]", ticket_of(here.table.desk.face.table))
    looking.click("button[value=watch]")
    looking.wait_for_selector(".watching .others .seat")
    first = looking.evaluate(PILE)
    for _ in range(3):
        take_turn(page, with_mouse=False)
    # A spectator is a few steps behind, but follows.
    looking.wait_for_function(
        "cards => JSON.stringify(cards) !== JSON.stringify((" + PILE + ")())", arg=first
    )
    assert looking.locator("[data-hand], [data-do]").count() == 0


def test_the_host_copies_the_ticket_and_begins_with_those_who_are_here(house: House, browser: Any) -> None:
    here = house("Mika", bot_pause_seconds=0)
    context = browser.new_context(locale="en-GB", permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.set_default_timeout(60_000)
    open_table(page, here.address, seats=3, bots=1)
    page.click("text=Copy the ticket")
    page.wait_for_selector("button:has-text('Copied')")
    assert page.evaluate("navigator.clipboard.readText()") == page.inner_text(".ticket")
    page.click("text=Begin with these 2")
    page.wait_for_selector(".hand [data-hand]")
    assert page.locator(".others .seat").count() == 1
    context.close()


def test_a_known_name_with_another_key_is_shouted_about_before_the_start_and_after(
    house: House, pages: Callable[[], Any]
) -> None:
    mika, bo = house("Mika", window_seconds=0), house("Bo")
    mika.call(mika.table.home.friends.remember, bytes(range(32)), "Bo")
    page, other = pages(), pages()
    open_table(page, mika.address, seats=3, bots=0)
    ticket = page.inner_text(".ticket")
    other.goto(bo.address)
    other.fill("input[name=ticket]", ticket)
    other.click("button[value=join]")
    page.wait_for_selector(".warning")
    assert page.inner_text(".warning").startswith("ATTENTION: this Bo has another key")
    page.click("text=Begin with these 2")
    page.wait_for_selector(".banner:not(.gone)")
    assert "ATTENTION: Bo has another key" in page.inner_text(".banner")
    page.wait_for_selector(".hand [data-hand]")
    other.wait_for_selector(".hand [data-hand]")
    assert other.locator(".banner:not(.gone)").count() == 0
