"""A browser (Debian's Chromium) and tables to look at.  Without a browser these tests are skipped, and say so."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import trio

from p2p_rummy.cards import card_number, pack_cards
from p2p_rummy.web.house import PeerHouse
from p2p_rummy.web.serving import serve_page
from protocol.peer import Home

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

PATIENCE_MS = 30_000
"""For what comes at once on a quiet machine and late on a busy one; a test that fails is the only one to wait so long."""


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def rehearsal() -> ModuleType:
    """The module ``rehearsal.py`` beside this one."""
    return _load("rehearsal")


def chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    path = chromium()
    if path is None:
        pytest.skip("no chromium on this machine: install Debian's `chromium` to run the browser tests")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install -e '.[dev]'"
    )
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield opened
        opened.close()


@dataclass
class Stage:
    """A running table: where its page is, and ways to do something on its own thread."""

    address: str
    table: Any
    call: Callable[..., Any]
    run: Callable[..., Any]


@contextmanager
def on_a_thread(serve: Callable[[Callable[[str, Any], None]], Awaitable[None]]) -> Iterator[Stage]:
    """Run ``serve(ready)`` with trio on a thread until the block ends; ``ready(address, table)`` says that it is up."""
    up = threading.Event()
    box: dict[str, Any] = {}

    async def main() -> None:
        with trio.CancelScope() as scope:
            box.update(token=trio.lowlevel.current_trio_token(), scope=scope)

            def ready(address: str, table: Any) -> None:
                box.update(address=address, table=table)
                up.set()

            await serve(ready)

    def run() -> None:
        try:
            trio.run(main)
        except BaseException as error:
            box["error"] = error
            raise
        finally:
            up.set()

    thread = threading.Thread(target=run, name="table", daemon=True)
    thread.start()
    assert up.wait(PATIENCE_MS / 1000)
    if "error" in box:
        raise box["error"]

    def call(function: Callable[..., Any], *args: Any) -> Any:
        return trio.from_thread.run_sync(function, *args, trio_token=box["token"])

    def run_async(function: Callable[..., Awaitable[Any]], *args: Any) -> Any:
        return trio.from_thread.run(function, *args, trio_token=box["token"])

    try:
        yield Stage(address=box["address"], table=box["table"], call=call, run=run_async)
    finally:
        if thread.is_alive():
            call(box["scope"].cancel)
        thread.join(PATIENCE_MS / 1000)
        assert not thread.is_alive()


def staged(module: ModuleType, table: Any, seat: int | None = 0) -> AbstractContextManager[Stage]:
    """This rehearsal with the page of ``seat``."""

    async def serve(ready: Callable[[str, Any], None]) -> None:
        place = table.spectator() if seat is None else table.places[seat]
        async with module.served(place) as (address, _desk, face), trio.open_nursery() as nursery:
            table.faces.append(face)
            nursery.start_soon(table.run)
            ready(address, table)
            await trio.sleep_forever()

    return on_a_thread(serve)


def housed(path: Path, **arguments: Any) -> AbstractContextManager[Stage]:
    """A real peer with its start page, listening on loopback only."""

    async def serve(ready: Callable[[str, Any], None]) -> None:
        with Home(path) as home:
            house = PeerHouse(home, bind="127.0.0.1", lan=False, **arguments)
            async with house.run(), serve_page(house.desk, house.log) as served:
                ready(served.address, house)
                await trio.sleep_forever()

    return on_a_thread(serve)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Callable[..., Stage]]:
    """``house("Mika", window_seconds=0)`` starts a peer of this name with its page."""
    with ExitStack() as stack:
        yield lambda name, **arguments: stack.enter_context(housed(tmp_path / name, name=name, **arguments))


@pytest.fixture
def stage(rehearsal: ModuleType) -> Iterator[Callable[..., Stage]]:
    """``stage(seats=2, ...)`` opens a rehearsal and serves seat 0's page (``seat=None``: a spectator's)."""
    with ExitStack() as stack:

        def begin(*, seat: int | None = 0, **arguments: Any) -> Stage:
            return stack.enter_context(staged(rehearsal, rehearsal.Rehearsal(**arguments), seat))

        yield begin


def cards(text: str) -> list[int]:
    return [card_number(name) for name in text.split()]


@pytest.fixture
def known(rehearsal: ModuleType) -> Callable[..., dict[str, Any]]:
    """Arguments of a two-seat table where the cards are known: this page holds ``mine`` and, unless it deals, is on turn first.

    ``without`` are cards that are not shuffled.
    """

    def arguments(
        mine: str,
        turned: str = "2S",
        then: str = "3D 5D 8D",
        theirs: str = "",
        *,
        dealer: int = 1,
        without: str = "",
        **more: Any,
    ) -> dict[str, Any]:
        me = 0
        pack = [card for card in pack_cards(packs=1, jokers_per_pack=2) if card not in cards(without)]
        hands = {me: cards(mine), 1: cards(theirs)}
        stacked = rehearsal.stacked(pack, hands, 2, 1 - dealer, card_number(turned), cards(then))
        return {
            "seats": 2,
            "packs": [stacked],
            "coins": [rehearsal.coin_for(dealer=dealer, seats=2)],
            "policy": rehearsal.drawing_only,
            **more,
        }

    return arguments


class Person:
    """Who sits before the page of a table with known cards."""

    def __init__(self, page: Any, stage: Stage) -> None:
        self.page = page
        self.stage = stage

    def draw(self) -> None:
        self.page.click(".stock.may")
        self.page.wait_for_selector(".fresh")

    def choose(self, *names: str) -> None:
        for name in names:
            self.page.click(f"[data-hand='{name}']", position={"x": 8, "y": 40})

    def meld(self, *names: str) -> None:
        """From the hand, without a question."""
        self.choose(*names)
        self.page.click("[data-do=meld].lit")
        self.without(names[0])

    def discard(self, name: str) -> None:
        self.choose(name)
        self.page.click("[data-do=discard].lit")
        self.without(name)

    def without(self, name: str) -> None:
        """Until this card has left the hand."""
        self.page.wait_for_function("name => !document.querySelector(`[data-hand='${name}']`)", arg=name)

    def pass_the_call(self) -> None:
        self.page.click(".window-bar [data-do=pass].lit")
        self.page.wait_for_selector(".window-bar", state="detached")

    def tell(self, event: Any) -> None:
        """Something happens at the table."""
        self.stage.call(self.stage.table.tell, event)


@pytest.fixture
def seated(
    page: Any, stage: Callable[..., Stage], known: Callable[..., dict[str, Any]]
) -> Callable[..., Person]:
    """``seated("6H 7H ...", ...)`` opens the page at such a table (see ``known``)."""

    def sit(mine: str, **more: Any) -> Person:
        running = stage(**known(mine, **more))
        page.goto(running.address)
        page.wait_for_selector("#table")
        return Person(page, running)

    return sit


@pytest.fixture
def page(browser: Any, stage: Callable[..., Stage], house: Callable[..., Stage]) -> Iterator[Any]:
    """A fresh page; whatever it complains of in its console fails the test.

    It asks for what serves pages, so that it is closed before they are: else it would find its server gone, and say so.
    """
    context = browser.new_context(
        viewport={"width": 1280, "height": 800}, reduced_motion="reduce", locale="en-GB"
    )
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE_MS)
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    yield opened
    context.close()
    assert complaints == []
