"""Tables on the local network: heard, forgotten, and never believed further than an address."""

from __future__ import annotations

import socket
from dataclasses import replace

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from protocol import discovery
from protocol.canonical import encode
from protocol.discovery import (
    ANSWER_SECONDS,
    BEACON_SECONDS,
    FORGET_SECONDS,
    MAX_SIGHTINGS,
    Beacon,
    Found,
    OtherVersion,
    Sightings,
    announce,
    encode_ask,
    open_air,
    read_datagram,
    search,
)
from protocol.errors import EncodingError
from protocol.ticket import Address, parse_ticket

BEACON = Beacon(
    table=b"0123456789", fingerprint=b"f" * 16, port=4711, name="Ann", game="rum500", seats=4, free=2
)
INSTANCE = b"instance"


class Room:
    """Air shared by everybody in it; what each says is heard by all the others."""

    def __init__(self) -> None:
        self.places: list[Place] = []
        self.said: list[tuple[float, bytes]] = []

    def place(self, host: str) -> Place:
        place = Place(self, host)
        self.places.append(place)
        return place


class Place:
    def __init__(self, room: Room, host: str) -> None:
        self.room = room
        self.host = host
        self.put, self.heard = trio.open_memory_channel[tuple[bytes, str]](100)

    async def shout(self, data: bytes) -> None:
        await trio.lowlevel.checkpoint()
        self.room.said.append((trio.current_time(), data))
        for other in self.room.places:
            if other is not self:
                other.put.send_nowait((data, self.host))

    async def hear(self) -> tuple[bytes, str]:
        return await self.heard.receive()


# --- what is said --------------------------------------------------------------------------------------


def test_a_beacon_round_trips() -> None:
    assert read_datagram(BEACON.encode(INSTANCE)) == (BEACON, INSTANCE)
    assert read_datagram(encode_ask()) is None


def test_a_sighting_makes_a_ticket_that_pins_the_announced_key() -> None:
    seen = Sightings()
    seen.heard(BEACON, INSTANCE, "192.168.1.7", 0.0)
    (sighting,) = seen.tables(0.0)
    ticket = parse_ticket(str(sighting.ticket))
    assert ticket.addresses == (Address(host="192.168.1.7", port=4711),)
    assert (ticket.table, ticket.fingerprint) == (BEACON.table, BEACON.fingerprint)


def test_f92_a_beacon_of_another_version_is_known_by_its_version_alone() -> None:
    data = bytearray(BEACON.encode(INSTANCE))
    data[8:10] = (9).to_bytes(2, "big")
    assert read_datagram(bytes(data[:11]) + b"whatever comes later") == 9


def _body(**changes: object) -> bytes:
    fields: dict[str, object] = {
        "instance": INSTANCE,
        "table": BEACON.table,
        "fingerprint": BEACON.fingerprint,
        "port": 1,
        "name": "Ann",
        "game": "toy",
        "seats": 2,
        "free": 1,
    }
    return BEACON.encode(INSTANCE)[:11] + encode(list((fields | changes).values()))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x8aRumLan\n",
        b"NOTAGAME" + bytes(40),
        _body() + b"\x00",
        _body(port=0),
        _body(port=65536),
        _body(table=b"short"),
        _body(fingerprint=b"f" * 17),
        _body(name="x" * 33),
        _body(name=b"bytes"),
        _body(seats=True),
        _body(free=9),
        _body(instance=b""),
        _body()[:-1],
        _body()[:10] + b"\x02" + _body()[11:],
        encode_ask() + b"\x00",
        _body(game="g" * 600),
    ],
)
def test_what_is_not_a_beacon_is_refused(data: bytes) -> None:
    with pytest.raises(EncodingError):
        read_datagram(data)


@given(st.binary(max_size=600))
def test_f84_random_datagrams_are_beacons_or_encoding_errors(data: bytes) -> None:
    for datagram in (data, encode_ask()[:10] + data):
        try:
            said = read_datagram(datagram)
        except EncodingError:
            continue
        assert said is None or isinstance(said, (int, tuple))


def test_a_name_in_a_beacon_cannot_drive_a_terminal() -> None:
    said = read_datagram(_body(name="\x1b[2J"))
    assert isinstance(said, tuple)
    assert said[0].name == "?[2J"


# --- what is there -------------------------------------------------------------------------------------


def test_a_table_that_falls_silent_is_forgotten() -> None:
    seen = Sightings()
    assert seen.heard(BEACON, INSTANCE, "a", 0.0)
    assert len(seen.tables(FORGET_SECONDS)) == 1
    assert seen.tables(FORGET_SECONDS + 0.1) == ()


def test_one_table_heard_twice_is_one_and_news_replaces_it() -> None:
    seen = Sightings()
    assert seen.heard(BEACON, INSTANCE, "192.168.1.7", 0.0)
    assert not seen.heard(BEACON, INSTANCE, "fe80::7", 1.0)
    assert seen.heard(replace(BEACON, free=1), INSTANCE, "192.168.1.7", 2.0)
    assert [(each.beacon.free, each.host) for each in seen.tables(2.0)] == [(1, "192.168.1.7")]


def test_ones_own_table_is_not_found() -> None:
    seen = Sightings(own=INSTANCE)
    assert not seen.heard(BEACON, INSTANCE, "a", 0.0)
    assert seen.tables(0.0) == ()


def test_a_flood_of_tables_takes_bounded_memory_and_the_latest_stay() -> None:
    seen = Sightings()
    for number in range(10_000):
        seen.heard(BEACON, number.to_bytes(8, "big"), "a", 0.0)
    kept = {int.from_bytes(each.instance, "big") for each in seen.tables(0.0)}
    assert kept == set(range(10_000 - MAX_SIGHTINGS, 10_000))


# --- on the air ----------------------------------------------------------------------------------------


async def test_who_asks_is_answered_at_once_and_then_kept_up_to_date(autojump_clock: MockClock) -> None:
    room = Room()
    open_tables: list[Beacon | None] = [BEACON]
    found: list[tuple[float, Found]] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(announce, room.place("10.0.0.1"), lambda: open_tables[0])
        await trio.sleep(1)
        nursery.start_soon(search, room.place("10.0.0.2"), lambda f: found.append((trio.current_time(), f)))
        await trio.sleep(0.1)
        assert found[-1][0] < 1.1
        assert [(each.beacon, each.host) for each in found[-1][1].tables] == [(BEACON, "10.0.0.1")]
        open_tables[0] = replace(BEACON, free=0)
        await trio.sleep(BEACON_SECONDS)
        assert found[-1][1].tables[0].beacon.free == 0
        open_tables[0] = None
        await trio.sleep(FORGET_SECONDS + 2)
        assert found[-1][1].tables == ()
        nursery.cancel_scope.cancel()


async def test_a_flood_of_questions_is_answered_twice_a_second(autojump_clock: MockClock) -> None:
    room = Room()
    crowd = room.place("10.0.0.9")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(announce, room.place("10.0.0.1"), lambda: BEACON)
        await trio.sleep(0.1)
        room.said.clear()
        for _ in range(90):
            await crowd.shout(encode_ask())
        await trio.sleep(2)
        answers = [data for _, data in room.said if data != encode_ask()]
        assert len(answers) <= 2 / ANSWER_SECONDS + 1
        nursery.cancel_scope.cancel()


async def test_f92_a_host_of_another_version_is_told_about(autojump_clock: MockClock) -> None:
    room = Room()
    found: list[Found] = []
    other = room.place("10.0.0.3")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(search, room.place("10.0.0.2"), found.append)
        await trio.sleep(0.1)
        await other.shout(BEACON.encode(INSTANCE)[:8] + b"\x00\x07\x01later")
        await trio.sleep(0.1)
        assert found[-1] == Found(tables=(), others=(OtherVersion(host="10.0.0.3", version=7),))
        nursery.cancel_scope.cancel()


async def test_two_processes_on_one_machine_find_each_other_over_real_sockets() -> None:
    """Loopback broadcast only is relied on, so this runs without any network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("0.0.0.0", 0))
        port = probe.getsockname()[1]
    found = trio.Event()

    def tell(seen: Found) -> None:
        if any(each.beacon == BEACON for each in seen.tables):
            found.set()

    with trio.fail_after(5):
        async with open_air(port) as one, open_air(port) as other, trio.open_nursery() as nursery:
            nursery.start_soon(announce, one, lambda: BEACON)
            nursery.start_soon(search, other, tell)
            await found.wait()
            nursery.cancel_scope.cancel()


async def test_a_machine_that_forbids_sockets_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError("no sockets here")

    monkeypatch.setattr(discovery, "_share", refuse)
    with pytest.raises(PermissionError):
        async with open_air(1):
            pass
