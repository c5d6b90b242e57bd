"""The driver carries out what a session asks, in an order that is safe.  The session here is a script."""

from __future__ import annotations

import errno
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from protocol import journal
from protocol.agreement import Agreement, claim
from protocol.effects import (
    Close,
    Effect,
    Notify,
    Publish,
    Record,
    Send,
    StoreSecret,
    Timer,
    WipeSecret,
    Work,
)
from protocol.errors import LocalProtocolError, RandomSourceFailed
from protocol.events import (
    Abandoned,
    Accusation,
    Event,
    EvidenceFound,
    GameOver,
    Halted,
    HandOver,
    StepClosed,
)
from protocol.identity import Identity
from protocol.journal import Journal, Secrets, read_log
from protocol.peer import disk as disk_module
from protocol.peer import driver as driver_module
from protocol.peer.disk import Disk, parts_of
from protocol.peer.driver import Driver
from protocol.peer.home import Home

ANN, BO = Identity(b"\x01" * 32), Identity(b"\x02" * 32)
AGREEMENT = Agreement(
    game="toy",
    rules_version=1,
    options=(),
    seats=(claim(ANN, "Ann", b"a" * 32), claim(BO, "Bo", b"b" * 32)),
)


class Script:
    """Stands where a Session stands; a test hangs effects on inputs."""

    def __init__(
        self,
        identity: Identity,
        agreement: Agreement,
        make_game: Callable[[Agreement], Any],
        entropy: Callable[[int], bytes],
        records: Iterable[bytes] = (),
        *,
        secrets: Mapping[int, bytes] | None = None,
        now: float,
        **rest: object,
    ) -> None:
        self.settled = False
        self.records = list(records)
        self.secrets = dict(secrets or {})
        self.effects: list[Effect] = []
        self.inputs: list[tuple[Any, ...]] = []
        self.on_message: Callable[[int, bytes], list[Effect]] = lambda link, message: []

    def take_effects(self) -> list[Effect]:
        effects, self.effects = self.effects, []
        return effects

    def link_up(self, link: int, key: bytes, now: float) -> None:
        self.inputs.append(("up", link))

    def link_down(self, link: int, now: float) -> None:
        self.inputs.append(("down", link))

    def received(self, link: int, message: bytes, now: float) -> None:
        self.inputs.append(("received", link, message))
        self.effects += self.on_message(link, message)

    def tick(self, now: float) -> None:
        self.inputs.append(("tick", now))

    def work_done(self, job: int, result: object, now: float) -> None:
        self.inputs.append(("work_done", job, result))

    def move(self, text: str, now: float) -> None:
        self.inputs.append(("move", text))
        self.effects.append(Send(link=1, message=text.encode()))


class Wires:
    def __init__(self) -> None:
        self.done: list[tuple[Any, ...]] = []

    def send(self, number: int, payload: bytes) -> None:
        self.done.append(("send", number, payload))

    def close_link(self, number: int, code: str, reason: str) -> None:
        self.done.append(("close", number, reason))


class Stage:
    """A driver with its script, files and wires."""

    def __init__(self, driver: Driver, wires: Wires, told: list[Event], directory: Path) -> None:
        self.driver = driver
        self.script: Script = driver.session  # type: ignore[assignment]
        self.wires = wires
        self.told = told
        self.directory = directory

    async def ask(self, *effects: Effect) -> None:
        """Let the session want these, by way of any input, and wait until they are carried out."""
        self.script.on_message = lambda link, message: list(effects)
        await self.driver.received(1, b"go")


@pytest.fixture
async def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    monkeypatch.setattr(driver_module, "Session", Script)

    # Threads live on the real clock; here the same functions run at once.
    async def at_once(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        await trio.lowlevel.checkpoint()
        return function(*arguments)

    monkeypatch.setattr(trio.to_thread, "run_sync", at_once)
    async with running(tmp_path) as made:
        yield made


@asynccontextmanager
async def running(path: Path) -> AsyncIterator[Stage]:
    with Home(path) as home:
        files = home.new_table(AGREEMENT)
        disk = Disk(files)
        wires, told = Wires(), []
        driver = Driver(
            home.identity,
            AGREEMENT,
            lambda agreement: None,  # type: ignore[arg-type, return-value]
            disk,
            wires,
            told.append,
            records=disk.journal.records,
            secrets=disk.secrets,
        )
        driver.link_up(1, BO.public_key)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(driver.run)
            yield Stage(driver, wires, told, files.path)
            nursery.cancel_scope.cancel()
        disk.close()


def record(data: bytes, *, must_sync: bool = True) -> Record:
    return Record(data=data, must_sync=must_sync)


def send(data: bytes) -> Send:
    return Send(link=1, message=data)


# --- order ---------------------------------------------------------------------------------------------


async def test_f20_f21_what_is_signed_is_on_the_disk_before_a_byte_of_it_is_sent(
    autojump_clock: MockClock, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    real = journal._sync
    monkeypatch.setattr(journal, "_sync", lambda fd: (happened.append("synced"), real(fd)))
    monkeypatch.setattr(stage.wires, "send", lambda number, payload: happened.append("sent"))
    await stage.ask(record(b"entry"), send(b"entry"))
    assert happened == ["synced", "sent"]


async def test_what_others_signed_costs_no_fsync(
    autojump_clock: MockClock, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    syncs: list[int] = []
    monkeypatch.setattr(journal, "_sync", syncs.append)
    await stage.ask(record(b"theirs", must_sync=False), send(b"relayed"))
    assert syncs == []
    await stage.ask(record(b"theirs", must_sync=False), record(b"mine"), record(b"mine too"), send(b"both"))
    assert len(syncs) == 1


async def test_what_others_signed_waits_half_a_second_for_company_and_no_longer(
    autojump_clock: MockClock, stage: Stage
) -> None:
    path = stage.directory / "journal"
    empty = path.stat().st_size
    await stage.ask(record(b"theirs", must_sync=False), Publish(data=b"step"))
    assert path.stat().st_size == empty
    await trio.sleep(0.4)
    assert path.stat().st_size == empty
    await trio.sleep(0.2)
    assert path.stat().st_size > empty
    (log,) = stage.directory.glob("*.log")
    assert read_log(log).records == (b"step",)


async def test_what_waits_goes_before_what_must_be_synced(autojump_clock: MockClock, stage: Stage) -> None:
    await stage.ask(record(b"theirs", must_sync=False))
    await stage.ask(record(b"mine"), send(b"mine"))
    again = Journal.open(stage.directory / "journal")
    assert again.records == (b"theirs", b"mine")
    again.close()


async def test_a_secret_is_durable_before_any_record_made_with_it(
    autojump_clock: MockClock, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The power fails as the secret is stored: no record that needs it may be in the journal."""

    def fail(secrets: Secrets, hand: int, data: bytes) -> None:
        raise journal.DiskFailed("power")

    monkeypatch.setattr(Secrets, "store", fail)
    await stage.ask(record(b"before"), StoreSecret(hand=2, data=b"s"), record(b"commit"), send(b"commit"))
    assert stage.wires.done == []
    again = Journal.open(stage.directory / "journal")
    assert again.records == (b"before",)
    again.close()


async def test_effects_of_one_kind_keep_their_order(autojump_clock: MockClock, stage: Stage) -> None:
    step = StepClosed(step=0, epoch=0, head=b"", final=True)
    await stage.ask(
        send(b"1"),
        Publish(data=b"p1"),
        record(b"r1"),
        send(b"2"),
        Notify(event=step),
        Publish(data=b"p2"),
        record(b"r2"),
    )
    assert stage.wires.done == [("send", 1, b"1"), ("send", 1, b"2")]
    assert stage.told == [step]
    (log,) = stage.directory.glob("*.log")
    assert read_log(log).records == (b"p1", b"p2")
    again = Journal.open(stage.directory / "journal")
    assert again.records == (b"r1", b"r2")
    again.close()


def test_a_batch_is_cut_at_each_secret_and_loses_nothing() -> None:
    effects: list[Effect] = [
        record(b"1"),
        StoreSecret(hand=1, data=b"a"),
        send(b"x"),
        record(b"2", must_sync=False),
        StoreSecret(hand=2, data=b"b"),
        WipeSecret(hand=1),
        Close(link=3, reason="rude"),
    ]
    parts = list(parts_of(effects))
    assert [part.secret and part.secret.hand for part in parts] == [None, 1, 2]
    assert [part.records for part in parts] == [[b"1"], [b"2"], []]
    assert [part.must_sync for part in parts] == [True, False, False]
    assert [part.wiped for part in parts] == [[], [], [1]]
    assert [part.others for part in parts] == [[], [send(b"x")], [Close(link=3, reason="rude")]]


async def test_secrets_come_back_until_they_are_wiped(autojump_clock: MockClock, stage: Stage) -> None:
    await stage.ask(StoreSecret(hand=1, data=b"one"), StoreSecret(hand=2, data=b"two"))
    assert Secrets(stage.directory).load() == {1: b"one", 2: b"two"}
    await stage.ask(WipeSecret(hand=1))
    assert Secrets(stage.directory).load() == {2: b"two"}


# --- time, work, links ---------------------------------------------------------------------------------


async def test_only_the_last_timer_counts_and_it_fires_once(autojump_clock: MockClock, stage: Stage) -> None:
    began = trio.current_time()
    await stage.ask(Timer(at=began + 5), Timer(at=began + 9))
    await trio.sleep(60)
    assert [entry for entry in stage.script.inputs if entry[0] == "tick"] == [("tick", began + 9)]


async def test_work_comes_back_to_the_session(autojump_clock: MockClock, stage: Stage) -> None:
    await stage.ask(Work(job=4, function=lambda: "verified"), Work(job=5, function=lambda: "too"))
    await trio.sleep(0.1)
    done = {entry[1:] for entry in stage.script.inputs if entry[0] == "work_done"}
    assert done == {(4, "verified"), (5, "too")}


async def test_a_link_that_the_session_closes_is_told_why(autojump_clock: MockClock, stage: Stage) -> None:
    await stage.ask(Close(link=1, reason="bad signature"))
    assert stage.wires.done == [("close", 1, "bad signature")]


async def test_a_move_goes_out_without_any_other_input(autojump_clock: MockClock, stage: Stage) -> None:
    stage.driver.move("draw")
    await trio.sleep(0)
    await trio.sleep(0.01)
    assert stage.wires.done == [("send", 1, b"draw")]


async def test_f98_a_flood_on_one_link_delays_another_by_one_message(
    autojump_clock: MockClock, stage: Stage
) -> None:
    """Link 1 has a thousand messages ready, link 2 has one: it is heard after at most one more of link 1's."""
    stage.driver.link_up(2, BO.public_key)
    stage.script.on_message = lambda link, message: []

    async def flood() -> None:
        for number in range(1000):
            await stage.driver.received(1, b"%d" % number)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(flood)
        for _ in range(20):
            await trio.lowlevel.checkpoint()
        before = len([entry for entry in stage.script.inputs if entry[:2] == ("received", 1)])
        await stage.driver.received(2, b"turn")
        at = [entry[:2] for entry in stage.script.inputs].index(("received", 2))
        heard = [entry for entry in stage.script.inputs[:at] if entry[:2] == ("received", 1)]
        assert len(heard) <= before + 1
        nursery.cancel_scope.cancel()


async def test_f99_a_link_whose_messages_cost_too_much_waits(
    autojump_clock: MockClock, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each message takes a second of processor time; three are saved up, then 0.3 of each second is left."""
    real = iter(range(0, 10**6))
    monkeypatch.setattr(driver_module.time, "thread_time", lambda: float(next(real)))
    began = trio.current_time()
    for _ in range(6):
        await stage.driver.received(1, b"garbage with a bad signature")
    assert trio.current_time() - began == pytest.approx(3 / 0.3, rel=0.1)


# --- halting -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EIO, "the disk reports an error"),
        (errno.EROFS, "read-only"),
    ],
    ids=["f35 ENOSPC", "f36 EIO", "f37 EROFS"],
)
async def test_f35_f36_f37_a_failing_disk_halts_before_anything_is_sent(
    autojump_clock: MockClock, stage: Stage, monkeypatch: pytest.MonkeyPatch, code: int, told: str
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(journal, "_sync", fail)
    await stage.ask(record(b"entry"), send(b"entry"))
    assert stage.wires.done == []
    (halted,) = stage.told
    assert isinstance(halted, Halted)
    assert halted.reason == "disk_failed"
    assert told in halted.message
    monkeypatch.undo()
    inputs = len(stage.script.inputs)
    await stage.driver.received(1, b"still there?")
    stage.driver.link_down(1)
    with pytest.raises(LocalProtocolError, match="signs nothing more"):
        stage.driver.move("draw")
    assert len(stage.script.inputs) == inputs


@pytest.mark.parametrize(
    "asked", ["link_up", "link_down", "received", "move", "chat", "react", "tick", "work_done"]
)
async def test_n39_a_failing_random_source_halts_before_anything_is_sent(
    autojump_clock: MockClock, stage: Stage, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    """Whatever the session is asked, it may need randomness."""

    def fail(*arguments: object) -> None:
        stage.script.inputs.append(("failed",))
        stage.script.effects += [record(b"half"), send(b"half")]
        raise RandomSourceFailed("the random source repeats itself; nothing was made")

    driver = stage.driver
    if asked == "tick":
        await stage.ask(Timer(at=trio.current_time() + 1.0))
    monkeypatch.setattr(stage.script, asked, fail, raising=False)
    match asked:
        case "link_up":
            driver.link_up(2, BO.public_key)
        case "link_down":
            driver.link_down(1)
        case "received":
            await driver.received(1, b"news")
        case "move" | "chat" | "react":
            with pytest.raises(LocalProtocolError, match="signs nothing more"):
                getattr(driver, asked)("draw")
        case "work_done":
            await stage.ask(Work(job=1, function=lambda: None))
    await trio.sleep(2.0)
    assert ("failed",) in stage.script.inputs
    assert stage.wires.done == []
    (halted,) = stage.told
    assert isinstance(halted, Halted)
    assert halted.reason == "random_source"
    assert "repeats itself" in halted.message
    assert "resume" in halted.message


async def test_n39_work_that_finds_the_random_source_failing_halts(
    autojump_clock: MockClock, stage: Stage
) -> None:
    def make() -> None:
        raise RandomSourceFailed("fresh randomness is one byte repeated")

    await stage.ask(Work(job=1, function=make))
    await trio.sleep(1.0)
    (halted,) = stage.told
    assert isinstance(halted, Halted)
    assert halted.reason == "random_source"


@pytest.mark.parametrize(
    "error", [OSError(errno.EIO, "input/output error"), NotImplementedError("no source")]
)
def test_n39_a_system_without_randomness_is_named(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(count: int) -> bytes:
        raise error

    monkeypatch.setattr(os, "urandom", fail)
    with pytest.raises(RandomSourceFailed, match="random source of this machine fails"):
        driver_module.fresh_bytes(32)


async def test_a_session_that_halts_is_asked_nothing_more(autojump_clock: MockClock, stage: Stage) -> None:
    halted = Halted(reason="fork", message="two heads")
    await stage.ask(Notify(event=halted))
    assert stage.told == [halted]
    with pytest.raises(LocalProtocolError):
        stage.driver.move("draw")


async def test_the_log_is_durable_and_the_table_over_before_the_end_is_told(
    autojump_clock: MockClock, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    real = disk_module.PublicLog.sync
    monkeypatch.setattr(disk_module.PublicLog, "sync", lambda log: (happened.append("synced"), real(log)))
    monkeypatch.setattr(stage.driver, "_tell", lambda event: happened.append(type(event).__name__))
    await stage.ask(
        Publish(data=b"last"),
        Notify(event=HandOver(hand=1, scores=(1, 2))),
        Notify(event=GameOver(scores=(1, 2), winners=(1,), head=b"h")),
    )
    assert happened == ["synced", "HandOver", "synced", "GameOver"]
    assert (stage.directory / "over").exists()


async def test_f102_one_proof_is_one_file_however_often_it_is_found(
    autojump_clock: MockClock, stage: Stage
) -> None:
    found = EvidenceFound(
        seat=1, accusation=Accusation.EXPOSED, reason="equivocation", message="", step=3, data=b"two contents"
    )
    await stage.ask(Notify(event=found), Notify(event=found))
    (path,) = stage.directory.glob("*.evidence")
    assert path.name == "seat1-step3.evidence"
    assert path.read_bytes() == b"two contents"


async def test_the_record_of_an_abandoned_table_is_kept_beside_a_log_that_reaches_it(
    autojump_clock: MockClock, stage: Stage
) -> None:
    told = Abandoned(seat=0, step=7, data=b"the record")
    await stage.ask(Publish(data=b"step"), Notify(event=told), Notify(event=told))
    (path,) = stage.directory.glob("*.abandoned")
    assert (path.name, path.read_bytes()) == ("seat0-step7.abandoned", b"the record")
    (log,) = stage.directory.glob("*.log")
    assert read_log(log).records == (b"step",)


async def test_a_resumed_session_gets_its_records_and_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver_module, "Session", Script)
    async with running(tmp_path) as first:
        await first.ask(StoreSecret(hand=1, data=b"s"), record(b"one"), record(b"two"))
    async with running(tmp_path) as second:
        assert second.script.records == [b"one", b"two"]
        assert second.script.secrets == {1: b"s"}
