"""How soon the page shows a move: from the key to the changed page, in Chromium, over loopback.

The engine, the desk, the server and the page are the real ones; the trust layer's place is taken by tests/web/rehearsal.py, since
what it costs has rows of its own (bench_table).  Without Chromium there is one line that says so, and no row.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench_crypto import Row

WEB_TESTS = Path(__file__).resolve().parent.parent / "tests" / "web"
MOVES = 120
BOUND_MS = 50.0

STOPWATCH = """() => {
  window.times = [];
  let began = 0;
  document.addEventListener('keydown', (event) => { if ('dx'.includes(event.key)) began = performance.now(); }, true);
  new MutationObserver(() => {
    if (began) window.times.push(performance.now() - began);
    began = 0;
  }).observe(document.querySelector('#app'), {subtree: true, attributeFilter: ['data-step']});
}"""
"""``data-step`` changes in the same stroke in which a new view is drawn."""

NEXT = """() => document.querySelector('.window-bar [data-do=pass].lit') ? 'pass'
  : document.querySelector("[data-do='own pass']") ? 'pass'
  : document.querySelector('[data-do=draw].lit') ? 'draw'
  : document.title.startsWith('\\u25cf') && document.querySelector('[data-do=discard]') ? 'discard' : null"""


def rows() -> Iterator[Row]:
    path = _load("conftest").chromium()
    if path is None:
        print("page: skipped, there is no Chromium on this machine (Debian: apt install chromium)")
        return
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("page: skipped, playwright is not installed (pip install -e '.[dev]')")
        return
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=_load("conftest").ARGUMENTS)
        load = os.getloadavg()[0]
        times = sorted(play(browser))
        browser.close()
    yield Row(
        f"a move on the page, 95th percentile of {len(times)}",
        times[int(len(times) * 0.95)],
        "ms",
        BOUND_MS,
        1.0,
        f"median {times[len(times) // 2]:.1f} ms, slowest {times[-1]:.1f} ms; from the key to the changed page; "
        f"the machine's load before: {load:.1f} on {os.cpu_count()} processors",
    )


def play(browser: Any) -> list[float]:
    """Hands at a table of two, by keyboard: the milliseconds of at least ``MOVES`` moves."""
    rehearsal, conftest = _load("rehearsal"), _load("conftest")
    table = rehearsal.Rehearsal(seats=2, seed=4, options={"target": "100000"}, policy=rehearsal.drawing_only)
    page = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce").new_page()
    with conftest.staged(rehearsal, table) as stage:
        page.goto(stage.address)
        page.wait_for_selector(".hand [data-hand]")
        page.evaluate(STOPWATCH)
        while len(times := page.evaluate("window.times")) < MOVES:
            step = page.get_attribute(".page", "data-step")
            asked = page.wait_for_function(NEXT).json_value()
            if asked == "discard":
                for key in ("h", "End", "Space"):
                    page.keyboard.press(key)
                page.wait_for_selector("[data-do=discard].lit")
            page.keyboard.press({"pass": "p", "draw": "d", "discard": "x"}[asked])
            page.wait_for_function("step => document.querySelector('.page').dataset.step !== step", arg=step)
        return list(times)


def _load(name: str) -> Any:
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, WEB_TESTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
