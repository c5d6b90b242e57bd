"""A browser (Debian's Chromium) and tables to look at.  Without a browser these tests are skipped, and say so."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import trio

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


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
    """A running table: where its page is, and a way to do something on its own thread."""

    address: str
    table: Any
    call: Callable[..., Any]


@contextmanager
def staged(module: ModuleType, table: Any, seat: int | None = 0) -> Iterator[Stage]:
    """Run this rehearsal on a thread with its page served, until the block ends."""
    ready = threading.Event()
    box: dict[str, Any] = {}

    async def serve() -> None:
        place = table.spectator() if seat is None else table.places[seat]
        async with module.served(place) as (address, _desk, face), trio.open_nursery() as nursery:
            table.faces.append(face)
            box.update(address=address, token=trio.lowlevel.current_trio_token(), scope=nursery.cancel_scope)
            ready.set()
            nursery.start_soon(table.run)
            await trio.sleep_forever()

    def run() -> None:
        try:
            trio.run(serve)
        except BaseException as error:
            box["error"] = error
            ready.set()
            raise

    thread = threading.Thread(target=run, name="rehearsal", daemon=True)
    thread.start()
    assert ready.wait(10)
    if "error" in box:
        raise box["error"]

    def call(function: Callable[..., Any], *args: Any) -> Any:
        return trio.from_thread.run_sync(function, *args, trio_token=box["token"])

    yield Stage(address=box["address"], table=table, call=call)
    call(box["scope"].cancel)
    thread.join(10)
    assert not thread.is_alive()


@pytest.fixture
def stage(rehearsal: ModuleType) -> Iterator[Callable[..., Stage]]:
    """``stage(seats=2, ...)`` opens a rehearsal and serves seat 0's page (``seat=None``: a spectator's)."""
    open_stages = []

    def begin(*, seat: int | None = 0, **arguments: Any) -> Stage:
        manager = staged(rehearsal, rehearsal.Rehearsal(**arguments), seat)
        opened = manager.__enter__()
        open_stages.append(manager)
        return opened

    yield begin
    for manager in open_stages:
        manager.__exit__(None, None, None)


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A fresh page; whatever it complains of in its console fails the test."""
    context = browser.new_context(
        viewport={"width": 1280, "height": 800}, reduced_motion="reduce", locale="en-GB"
    )
    opened = context.new_page()
    opened.set_default_timeout(8000)
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    yield opened
    context.close()
    assert complaints == []
