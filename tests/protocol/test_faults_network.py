"""The network part of the fault catalogue, with whole peers: every game below is played to its end, with one log.

The peers are real but for their sockets and threads; time is virtual.  Where a line needs bad weather rather than
a cut, the streams run through the proxy.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from p2p_rummy.proxy import Weather, carry
from protocol import events
from protocol.events import CardsSeen, MoveMade, SeatDropped, Suspended
from protocol.peer import Unreachable, host_table, join_table
from protocol.peer.memory import MemoryNetwork, Place
from protocol.ticket import Address
from tests.protocol.peers import OFFER, Player, all_over, company, resuming, seat_all, until
from tests.protocol.toy_game import toy_game

LONG = replace(OFFER, options=(("hands", "2"), ("rounds", "1")))


def hosts(*numbers: int) -> list[str]:
    return [f"10.0.0.{number}" for number in numbers]


def cut(network: MemoryNetwork, left: list[str], right: list[str]) -> None:
    for one in left:
        for other in right:
            network.cut(one, other)
            network.cut(other, one)


def heal(network: MemoryNetwork, left: list[str], right: list[str]) -> None:
    for one in left:
        for other in right:
            network.heal(one, other)
            network.heal(other, one)


class Stormy:
    """A place whose outgoing connections run through bad weather."""

    def __init__(self, place: Place, nursery: trio.Nursery, weather: Weather, seed: int) -> None:
        self.place = place
        self.nursery = nursery
        self.weather = weather
        self.dice = random.Random(seed)
        self.outcomes: list[str] = []

    async def listen(
        self, host: str | None, port: int
    ) -> tuple[list[trio.abc.Listener[trio.abc.Stream]], int]:
        return await self.place.listen(host, port)

    async def dial(self, address: Address) -> trio.abc.Stream:
        far = await self.place.dial(address)
        (listener,), port = await self.place.network.at("proxy").listen(None, 0)
        near = await self.place.dial(Address(host="proxy", port=port))
        inside = await listener.accept()
        await listener.aclose()

        async def run() -> None:
            self.outcomes.append(await carry(inside, far, self.weather, self.dice))

        self.nursery.start_soon(run)
        return near

    def own_hosts(self, host: str | None) -> list[str]:
        return self.place.own_hosts(host)


async def play_in_weather(players: list[Player], nursery: trio.Nursery, weather: Weather) -> list[Stormy]:
    network = MemoryNetwork()
    places = [
        Stormy(network.at(player.host), nursery, weather, number) for number, player in enumerate(players)
    ]
    offer = replace(LONG, seats=len(players), turn_ms=60_000, step_ms=60_000)
    opening = host_table(players[0].home, offer, toy_game, name="P1", network=places[0])
    table = await nursery.start(players[0].play, opening)
    for player, place in zip(players[1:], places[1:], strict=True):
        opening = join_table(player.home, table.ticket, toy_game, name=player.name, network=place)
        await nursery.start(player.play, opening)
    await all_over(players)
    return places


# --- weather -------------------------------------------------------------------------------------------


async def test_f01_delay_and_jitter(autojump_clock: MockClock, no_threads: None, tmp_path: Path) -> None:
    async with company(tmp_path, 3) as (players, nursery):
        await play_in_weather(players, nursery, Weather(latency_seconds=0.3, jitter_seconds=0.25))
        # Without weather it takes 10 seconds; of its 49 steps nearly all wait for one line at least once.
        assert trio.current_time() > 10 + 40 * 0.3
        assert not any(player.of(SeatDropped) for player in players)


async def test_f13_flapping_links(autojump_clock: MockClock, no_threads: None, tmp_path: Path) -> None:
    """Every connection lives five seconds on average."""
    async with company(tmp_path, 3) as (players, nursery):
        for player in players:
            player.thinks_seconds = 3.0
        places = await play_in_weather(players, nursery, Weather(loss_per_second=0.2))
        assert sum(place.outcomes.count("lost: reset") for place in places) >= 3
        assert not any(player.of(SeatDropped) for player in players)


async def test_f05_links_that_go_half_open(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    async with company(tmp_path, 3) as (players, nursery):
        for player in players:
            player.thinks_seconds = 3.0
        places = await play_in_weather(players, nursery, Weather(half_open_per_second=0.05))
        assert any(outcome.startswith("half-open") for place in places for outcome in place.outcomes)
        assert not any(player.of(SeatDropped) for player in players)


async def test_f57_a_line_that_corrupts_bytes_only_costs_links(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    async with company(tmp_path, 3) as (players, nursery):
        await play_in_weather(players, nursery, Weather(corrupt=1e-4))
        assert sum(len(player.of(events.Disconnected)) for player in players) >= 2
        for player in players:
            assert not player.of(SeatDropped)
            assert not player.of(events.EvidenceFound)


async def test_a_thin_line_carries_a_game(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    async with company(tmp_path, 3) as (players, nursery):
        await play_in_weather(players, nursery, Weather(bytes_per_second=20_000, latency_seconds=0.1))
        assert trio.current_time() > 10 + 40 * 0.1
        assert not any(player.of(SeatDropped) for player in players)


# --- topologies ----------------------------------------------------------------------------------------


async def test_f08_relay_only_star(autojump_clock: MockClock, no_threads: None, tmp_path: Path) -> None:
    """Nobody but the first reaches anybody but the first."""
    async with company(tmp_path, 4) as (players, nursery):
        network = MemoryNetwork()
        cut(network, hosts(2), hosts(3, 4))
        cut(network, hosts(3), hosts(4))
        await seat_all(network, players, nursery, replace(LONG, seats=4))
        await all_over(players)
        assert not any(player.of(SeatDropped) for player in players)
        assert network.connections("10.0.0.2", "10.0.0.3") == 0


async def test_f09_line_topology(autojump_clock: MockClock, no_threads: None, tmp_path: Path) -> None:
    """1-2-3-4: what 4 says reaches 1 by two relays.  The lobby needs the host, so the cuts come after it."""
    async with company(tmp_path, 4) as (players, nursery):
        network = MemoryNetwork()
        await seat_all(network, players, nursery, replace(LONG, seats=4))
        await until(lambda: all(player.table.started for player in players))
        cut(network, hosts(1), hosts(3, 4))
        cut(network, hosts(2), hosts(4))
        for one, other in (("10.0.0.1", "10.0.0.3"), ("10.0.0.1", "10.0.0.4"), ("10.0.0.2", "10.0.0.4")):
            network.reset(one, other)
        await all_over(players)
        assert not any(player.of(SeatDropped) for player in players)
        assert network.connections("10.0.0.1", "10.0.0.4") == 0


async def test_f07_one_way_blackhole_is_relayed_around(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    async with company(tmp_path, 3) as (players, nursery):
        network = MemoryNetwork()
        await seat_all(network, players, nursery, replace(LONG, seats=3, step_ms=30_000, turn_ms=30_000))
        await until(lambda: all(player.of(CardsSeen) for player in players))
        network.cut("10.0.0.2", "10.0.0.3")
        await all_over(players)
        assert not any(player.of(SeatDropped) for player in players)


async def test_f18_w12_a_player_that_cannot_be_dialled_plays_all_the_same(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    """Two players behind NAT: they dial the host, nobody can dial them."""

    class Hidden:
        def __init__(self, place: Place) -> None:
            self.place = place
            self.dial = place.dial
            self.own_hosts = place.own_hosts

        async def listen(
            self, host: str | None, port: int
        ) -> tuple[list[trio.abc.Listener[trio.abc.Stream]], int]:
            listeners, port = await self.place.listen(host, port)
            del self.place.network.listeners[self.place.host, port]
            return listeners, port

    async with company(tmp_path, 3) as (players, nursery):
        for player in players:
            player.thinks_seconds = 4.0
        network = MemoryNetwork()
        offer = replace(LONG, seats=3)
        opening = host_table(players[0].home, offer, toy_game, name="P1", network=network.at("10.0.0.1"))
        table = await nursery.start(players[0].play, opening)
        for player in players[1:]:
            hidden = Hidden(network.at(player.host))
            opening = join_table(player.home, table.ticket, toy_game, name=player.name, network=hidden)
            await nursery.start(player.play, opening)
        await all_over(players)
        told = [event.reason for player in players for event in player.of(Unreachable)]
        assert told
        assert all("refused (nobody listens there)" in reason for reason in told)


# --- partitions ----------------------------------------------------------------------------------------


async def test_f10_f17_the_majority_goes_on_and_the_minority_learns_it_when_the_network_heals(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    async with company(tmp_path, 4) as (players, nursery):
        network = MemoryNetwork()
        await seat_all(network, players, nursery, replace(LONG, seats=4))
        await until(lambda: all(player.of(CardsSeen) for player in players))
        for player in players:
            player.leaves_when_over = False
        cut(network, hosts(4), hosts(1, 2, 3))
        await until(lambda: all(player.of(SeatDropped) for player in players[:3]))
        await until(lambda: players[3].of(Suspended))
        assert not players[3].of(SeatDropped), "a minority decides nothing"
        heal(network, hosts(4), hosts(1, 2, 3))
        await until(lambda: players[3].of(SeatDropped))
        await until(lambda: all(player.over for player in players))
        assert len({player.table.log_path.read_bytes() for player in players}) == 1


async def test_f11_two_against_two_wait_and_then_finish(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    async with company(tmp_path, 4) as (players, nursery):
        network = MemoryNetwork()
        await seat_all(network, players, nursery, replace(LONG, seats=4))
        await until(lambda: all(player.of(CardsSeen) for player in players))
        cut(network, hosts(1, 2), hosts(3, 4))
        await trio.sleep(120)
        assert all(player.of(Suspended) for player in players)
        assert not any(player.of(SeatDropped) or player.over for player in players)
        heal(network, hosts(1, 2), hosts(3, 4))
        await all_over(players)


async def test_f12_two_players_cut_apart_wait_for_each_other(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    async with company(tmp_path, 2) as (players, nursery):
        network = MemoryNetwork()
        await seat_all(network, players, nursery, replace(LONG, seats=2))
        await until(lambda: all(player.of(CardsSeen) for player in players))
        cut(network, hosts(1), hosts(2))
        await trio.sleep(300)
        assert not any(player.of(SeatDropped) or player.over for player in players)
        for player in players:
            assert [event.why for event in player.of(Suspended)] == [events.Pause.TWO_PLAYERS]
        heal(network, hosts(1), hosts(2))
        await all_over(players)
        for player in players:
            assert player.of(events.Continued)


async def test_f28_a_peer_that_stands_still_for_a_minute_comes_back(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    """To the others a stopped process is one that neither sends nor acknowledges."""
    async with company(tmp_path, 3) as (players, nursery):
        network = MemoryNetwork()
        offer = replace(LONG, seats=3, turn_ms=120_000, step_ms=120_000)
        await seat_all(network, players, nursery, offer)
        await until(lambda: all(player.of(CardsSeen) for player in players))
        cut(network, hosts(2), hosts(1, 3))
        await trio.sleep(60)
        still = players[1].table.me
        for player in (players[0], players[2]):
            assert [event.seat for event in player.of(events.Disconnected)] == [still], (
                "it was silent too long"
            )
        heal(network, hosts(2), hosts(1, 3))
        await all_over(players)
        assert not any(player.of(SeatDropped) for player in players)


async def test_f19_reset_of_every_link_during_the_shuffle(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    async with company(tmp_path, 3) as (players, nursery):
        network = MemoryNetwork()
        await seat_all(network, players, nursery, replace(LONG, seats=3))
        for kind in (events.HandBegan, events.ShuffleMade, events.ShuffleVerified):
            await until(lambda kind=kind: any(player.of(kind) for player in players))  # type: ignore[misc]
            for one, other in ((1, 2), (1, 3), (2, 3)):
                network.reset(f"10.0.0.{one}", f"10.0.0.{other}")
        await all_over(players)
        assert not any(player.of(SeatDropped) for player in players)


# --- crashes that need a network to be seen -------------------------------------------------------------


async def test_f27_a_crash_loop_is_waited_for_and_ends_well(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path, killing: Callable[[Player], None]
) -> None:
    async with company(tmp_path, 2) as (players, nursery):
        network = MemoryNetwork()
        await seat_all(network, players, nursery, replace(LONG, seats=2))
        victim = players[1]
        for _ in range(8):
            await until(lambda: victim.table.started)
            await trio.sleep(0.4)
            killing(victim)
            await trio.sleep(1)
            assert players[0].over is None, "nothing is decided without the other"
            await nursery.start(victim.play, resuming(network, victim))
        await all_over(players)
        for player in players:
            assert not player.of(SeatDropped)
            assert not player.of(events.EvidenceFound), "what it said before each crash it says again"


async def test_f29_a_crash_while_resuming(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path, killing: Callable[[Player], None]
) -> None:
    async with company(tmp_path, 3) as (players, nursery):
        network = MemoryNetwork()
        await seat_all(network, players, nursery, replace(LONG, seats=3))
        victim = players[2]
        await until(lambda: len(victim.of(MoveMade)) >= 3)
        killing(victim)
        await trio.sleep(0.5)
        for _ in range(3):
            await nursery.start(victim.play, resuming(network, victim))
            killing(victim)  # before it has said or heard anything
            await trio.sleep(0.5)
        await nursery.start(victim.play, resuming(network, victim))
        await all_over(players)


@pytest.mark.parametrize(
    "damage", ["f32 flipped bit", "f33 zero length", "f34 old backup", "f38 secrets lost"]
)
async def test_f32_f33_f34_f38_a_peer_with_a_damaged_home_asks_first_and_signs_nothing_twice(
    autojump_clock: MockClock,
    no_threads: None,
    tmp_path: Path,
    killing: Callable[[Player], None],
    damage: str,
) -> None:
    async with company(tmp_path, 3) as (players, nursery):
        network = MemoryNetwork()
        await seat_all(network, players, nursery, replace(LONG, seats=3, turn_ms=60_000, step_ms=60_000))
        victim = players[1]
        await until(lambda: victim.of(CardsSeen))
        journal = victim.table.log_path.with_name("journal")
        old = journal.read_bytes()
        await until(lambda: len(victim.of(MoveMade)) >= 3)
        killing(victim)
        await trio.sleep(1)
        whole = journal.read_bytes()
        if damage == "f32 flipped bit":
            journal.write_bytes(whole[: len(whole) // 2] + b"\xff" + whole[len(whole) // 2 + 1 :])
        elif damage == "f33 zero length":
            journal.write_bytes(b"")
        elif damage == "f34 old backup":
            journal.unlink()
            journal.write_bytes(old)
        else:
            for secret in journal.parent.glob("secret-*"):
                secret.unlink()
        for player in players:
            player.leaves_when_over = False
        await nursery.start(victim.play, resuming(network, victim))
        await until(lambda: all(player.over for player in players))
        assert len({player.table.log_path.read_bytes() for player in players}) == 1
        for player in players:
            assert not player.of(events.EvidenceFound), "an honest seat is never in evidence"
