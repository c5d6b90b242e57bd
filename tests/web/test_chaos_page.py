"""The picture of a simulated run, in a real browser: everything that is there can be seen, read and told apart."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from p2p_rummy.chaos_picture import page
from protocol.simulation import FAULTS

WEATHER = {"delay", "duplicate", "reorder"}
KINDS = ["evidence", "drop", "epoch", "halt", "refused", "liar failed", "ruling"]


def a_run(**changes: Any) -> dict[str, Any]:
    """Ten minutes of four seats at which everything happens that can."""
    data: dict[str, Any] = {
        "replay": "p2p-rummy chaos --seed 1", "seats": [f"Seat {seat}" for seat in range(4)],
        "liars": ["", "censoring_arbiter", "", ""], "end": 600.0, "cut": 0,
        "messages": [[float(at), at + 0.2, at % 4, (at + 1) % 4, "MOVE"] for at in range(600)] + [[599.5, None, 0, 3, "lost"]],
        "weather": {"delay": 600},
        "faults": [[name, 100.0, 3.0, [0, 2]] for name in FAULTS if name not in WEATHER],
        "marks": [[300.0 + number, seat, kind, f"{kind} {number}"]
                  for seat in range(4) for kind in KINDS for number in (0, 3)],
        "violations": [],
    }  # fmt: skip
    return data | changes


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Any:
    tabs = []

    def show(data: dict[str, Any]) -> Any:
        path = tmp_path / "run.html"
        path.write_text(page("a run", data), encoding="utf-8")
        tab = browser.new_page(viewport={"width": 1200, "height": 900})
        tabs.append(tab)
        tab.on("pageerror", lambda error: pytest.fail(str(error)))
        tab.goto(path.as_uri())
        return tab

    yield show
    for tab in tabs:
        tab.close()


Show = Callable[[dict[str, Any]], Any]

BOXES = """selector => [...document.querySelectorAll(selector)].map(node => {
  const box = node.getBoundingClientRect(); return [box.left, box.top, box.right, box.bottom, node.textContent]; })"""


def overlapping(boxes: list[list[Any]]) -> list[tuple[str, str]]:
    """Pairs that cover a pixel of each other.  Lines of text have a little air above and below: 3 pixels may be shared."""
    return [
        (one[4], two[4])
        for number, one in enumerate(boxes)
        for two in boxes[:number]
        if one[0] < two[2] and two[0] < one[2] and one[1] + 3 < two[3] and two[1] + 3 < one[3]
    ]


def test_marks_of_one_moment_do_not_hide_each_other(opened: Show):
    tab = opened(a_run())
    boxes = tab.evaluate(BOXES, ".mark")
    # Three seconds are six pixels here: the two of a kind are one mark that says so.
    assert len(boxes) == 4 * len(KINDS)
    assert all(box[4].endswith("×2") for box in boxes)
    assert overlapping(boxes) == []


def test_evidence_and_the_drop_three_seconds_after_are_two_marks(opened: Show):
    tab = opened(a_run(marks=[[300.0, 0, "evidence", "seat 1"], [303.0, 0, "drop", "seat 1"]]))
    assert len(tab.evaluate(BOXES, ".mark")) == 2
    assert overlapping(tab.evaluate(BOXES, ".mark")) == []
    tab.locator(".mark[data-kind=evidence]").hover()
    assert "evidence, Seat 0 at 300 s: seat 1" in tab.locator("#tip").inner_text()


def test_many_marks_of_a_kind_say_how_many_they_are_and_none_is_lost(opened: Show):
    tab = opened(a_run(marks=[[at / 2, 0, "ruling", ""] for at in range(1000)]))
    texts = [box[4] for box in tab.evaluate(BOXES, ".mark")]
    assert overlapping(tab.evaluate(BOXES, ".mark")) == []
    assert sum(int(re.sub(r"\D", "", text) or 1) for text in texts) == 1000


def test_the_legend_explains_each_mark_and_colour_there_is_and_no_other(opened: Show):
    tab = opened(a_run())
    legend = tab.locator("#legend").inner_text()
    for kind in KINDS:
        assert tab.locator(f".mark[data-kind='{kind}']").first.text_content()[0] in legend
    for name in set(FAULTS) - WEATHER:
        assert re.search(rf"\b{name}\b", legend)
    calm = opened(a_run(marks=[], faults=[]))
    assert "crash" not in calm.locator("#legend").inner_text()
    assert "ruling" not in calm.locator("#legend").inner_text()


def test_each_kind_of_fault_has_a_colour_of_its_own_and_none_covers_another(opened: Show):
    tab = opened(a_run())
    colours = tab.evaluate(
        "[...document.querySelectorAll('.fault')].map(bar => [bar.dataset.fault, bar.getAttribute('fill')])"
    )
    by_name = dict(colours)
    assert set(by_name) == set(FAULTS) - WEATHER
    assert len(set(by_name.values())) == len(by_name)
    assert overlapping(tab.evaluate(BOXES, ".fault")) == []
    assert "delay ×600" in tab.locator("#facts").inner_text()


def test_how_many_of_the_messages_are_drawn_is_said(opened: Show):
    tab = opened(a_run(messages=[[at / 20, at / 20 + 0.2, 0, 1, ""] for at in range(12_000)], cut=500))
    drawn = tab.locator(".msg").count() - 1  # the legend has one
    assert drawn == 4_000
    shown = tab.locator("#shown").inner_text()
    assert "4,000 of the 12,000 messages in view" in shown
    assert "Those after 600.0 s are not in this page" in shown, "the last that is there was sent at 599.95 s"
    assert "12,500 messages (the first 12,000 are in this page)" in tab.locator("#facts").inner_text()
    zoom(tab)
    assert re.fullmatch(r"All [\d,]+ messages in view are drawn\.", tab.locator("#shown").inner_text())


def test_a_page_that_lacks_messages_says_from_when(opened: Show):
    tab = opened(a_run(messages=[[float(at), at + 0.2, 0, 1, ""] for at in range(300)], cut=500))
    assert "Those after 299.0 s are not in this page" in tab.locator("#shown").inner_text()


def zoom(tab: Any) -> None:
    tab.mouse.move(700, 400)
    for _ in range(60):  # the browser may take several turns of the wheel as one
        if tab.evaluate("to - from < data.end / 10"):
            return
        tab.mouse.wheel(0, -100)
        tab.evaluate("new Promise(requestAnimationFrame)")
    pytest.fail("the wheel does not zoom")


def test_nothing_that_is_drawn_runs_into_the_labels(opened: Show):
    tab = opened(a_run(messages=[[float(at), at + 80.0, at % 4, (at + 1) % 4, ""] for at in range(600)]))
    start = tab.locator(".lane").first.bounding_box()["x"]
    labels = tab.evaluate(BOXES, ".label")
    assert {label[4] for label in labels} == {"Seat 0", "Seat 1", "Seat 2", "Seat 3", "censoring_arbiter"}
    assert max(label[2] for label in labels) < start
    zoom(tab)
    under = """start => {
      const found = [];
      for (let y = 0; y < innerHeight; y += 1) for (const x of [start / 2, start - 3]) {
        const node = document.elementFromPoint(x, y);
        if (node && node.closest("g")) found.push(node.getAttribute("class"));
      }
      return found;
    }"""
    assert tab.evaluate(under, start) == []
    assert tab.locator("svg .msg").count() > 100
