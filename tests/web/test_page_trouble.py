"""When something is wrong the page says it in one plain sentence; and when it is hidden it calls its player back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from protocol import events
from protocol.events import Accusation, Pause

Seated = Callable[..., Any]

HAND = "6H 7H 8H 9H 9S 9C QD QS KC 4C 2D AD X1"


def evidence(accusation: Accusation, message: str) -> events.EvidenceFound:
    return events.EvidenceFound(
        seat=1, accusation=accusation, reason="code", message=message, step=7, data=b"signed twice"
    )


def suspended(why: Pause) -> events.Suspended:
    return events.Suspended(seats=(1,), step=7, why=why)


TROUBLES = [
    (
        suspended(Pause.TWO_PLAYERS),
        "Bo is gone, and two players cannot decide anything alone.",
        "resume later",
    ),
    (suspended(Pause.MINORITY), "Too few of the table are connected here", "check your network"),
    (suspended(Pause.PATIENT), "Bo is missing, and this table agreed to wait.", "when they are back"),
    (
        events.SeatDropped(seat=1, faces=(), void=False),
        "Bo has left this hand",
        "goes on without their cards",
    ),
    (events.SeatDropped(seat=1, faces=(), void=True), "Bo has left and this hand cannot", "a new one begins"),
    (events.Abandoned(seat=1, step=7, data=b""), "Bo has waited as long as was agreed", "you may leave"),
    (
        events.SeatDropped(seat=0, faces=(), void=False),
        "You are out of this hand",
        "you sit down again at the next",
    ),
    (
        events.SeatDropped(seat=0, faces=(), void=True),
        "You are out, and this hand cannot",
        "dealt without you",
    ),
    (events.Abandoned(seat=0, step=7, data=b""), "You have waited as long as was agreed", "you may leave"),
    (events.Waiting(seats=(1,), step=7, deadline=0.0), "Bo does not answer yet.", ""),
    (
        evidence(Accusation.EXPOSED, "step 7, move and move"),
        "Bo cheated: two signed statements contradict each other (step 7, move and move).",
        "the table goes on without trusting them",
    ),
    (
        evidence(Accusation.ILLEGAL, "step 7: the shuffle's proof is wrong"),
        "Bo sent something that the rules forbid (step 7: the shuffle's proof is wrong).",
        "nothing has changed",
    ),
    (evidence(Accusation.SUSPECTED, "late"), "Bo did not answer in time.", "proves nothing"),
    (
        events.Halted(reason="disk", message="the disk is full: make room and resume"),
        "This p2p-rummy has stopped signing",
        "make room and resume",
    ),
]


@pytest.mark.parametrize(
    ("event", "what", "next_thing"), TROUBLES, ids=[what.split(" (")[0] for _event, what, _next in TROUBLES]
)
def test_trouble_is_said_with_what_comes_next_and_can_be_put_away(
    seated: Seated, event: events.Event, what: str, next_thing: str
) -> None:
    person = seated(HAND)
    page = person.page
    person.tell(event)
    page.wait_for_selector(".banner:not(.gone)")
    said = page.inner_text(".banner")
    assert said.startswith(what)
    assert next_thing in said
    assert page.get_attribute(".banner", "role") == "alert"
    page.click(".banner button")
    page.wait_for_selector(".banner.gone", state="attached")
    person.tell(events.ChatSaid(seat=1, text="and now?"))
    page.wait_for_selector(".bubble")
    assert page.locator(".banner.gone").count() == 1  # the same trouble is not said twice


def test_trouble_that_is_over_is_said_again_if_it_comes_again(seated: Seated) -> None:
    person = seated(HAND)
    page = person.page
    person.tell(suspended(Pause.MINORITY))
    page.click(".banner button")
    person.tell(events.Continued(step=7))
    person.tell(events.ChatSaid(seat=1, text="back"))
    page.wait_for_selector(".bubble")
    person.tell(suspended(Pause.MINORITY))
    page.wait_for_selector(".banner:not(.gone)")


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("ja", "このテーブルは放棄されたものとして記録されます"),
        ("ko", "이 테이블은 중단된 것으로 기록됩니다"),
    ],
)
def test_a_table_that_is_given_up_is_told_in_the_language_of_the_page(
    browser: Any, stage: Callable[..., Any], known: Callable[..., Any], language: str, said: str
) -> None:
    running = stage(**known(HAND))
    context = browser.new_context(locale=language)
    page = context.new_page()
    page.goto(running.address)
    page.wait_for_selector("#table")
    running.call(running.table.tell, events.Abandoned(seat=1, step=7, data=b""))
    page.wait_for_function("said => document.querySelector('.banner').textContent.includes(said)", arg=said)
    context.close()


HIDDEN_AND_LISTENING = """
  window.away = false;
  Object.defineProperty(Document.prototype, 'hidden', {get: () => window.away});
  window.notes = [];
  const Real = window.Notification;
  window.Notification = class extends Real {
    constructor(title, options) { super(title, options); window.notes.push([title, options.body]); }
  };
"""


@pytest.mark.parametrize("wanted", [True, False])
def test_a_hidden_page_calls_its_player_by_title_and_if_wanted_by_a_notification(
    browser: Any, stage: Callable[..., Any], known: Callable[..., Any], wanted: bool
) -> None:
    running = stage(**known(HAND))
    context = browser.new_context(locale="en-GB", reduced_motion="reduce", permissions=["notifications"])
    page = context.new_page()
    page.add_init_script(HIDDEN_AND_LISTENING)
    page.goto(running.address)
    if wanted:
        page.click("[data-panel=settings]")
        page.check("text=Notify me when it is my turn")
        page.click("[data-panel=settings]")
    page.click(".stock.may")
    page.wait_for_selector(".fresh")
    page.click("[data-hand='KC']")
    page.evaluate("window.away = true")
    page.click("[data-do=discard].lit")
    page.wait_for_selector(".window-bar")
    assert page.title().startswith("● ")
    notes = page.evaluate("window.notes")
    expected = [["p2p-rummy", "Can a card of the pile be played? Call Rummy! or pass"]]
    assert notes == (expected if wanted else [])
    page.click("[data-do=pass].lit")
    page.wait_for_selector(".stock.may")
    expected.append(["p2p-rummy", "Your turn: draw from the stock, or take from the pile"])
    assert page.evaluate("window.notes") == (expected if wanted else [])
    context.close()
