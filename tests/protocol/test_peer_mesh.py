"""Door and mesh of several peers on a network in memory: links come up, die, and come back as one."""

from __future__ import annotations

import contextlib
import errno
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import MockClock

from protocol import wire
from protocol.identity import Identity
from protocol.peer import door as door_module
from protocol.peer import mesh as mesh_module
from protocol.peer.connection import HANDSHAKE_SECONDS, LinkLost
from protocol.peer.door import MAX_STRANGERS, MAX_STRANGERS_PER_HOST, Door
from protocol.peer.memory import MemoryNetwork, _Listener
from protocol.peer.mesh import Mesh, call
from protocol.ticket import Address
from protocol.wire import Code, Purpose

TABLE = b"T" * 32

# In the order of their keys: the first leads every pair that it is in.
IDENTITIES = sorted((Identity(bytes([number]) * 32) for number in range(1, 5)), key=lambda i: i.public_key)


class Peer:
    """Door and mesh of one seat; notes what the session would be told."""

    def __init__(self, network: MemoryNetwork, seat: int) -> None:
        self.network = network
        self.seat = seat
        self.identity = IDENTITIES[seat]
        self.host = f"10.0.0.{seat + 1}"
        self.numbers = itertools.count(100 * seat + 1)
        self.links: dict[int, bytes] = {}
        self.ups: list[int] = []
        self.heard: list[bytes] = []
        self.trouble: list[tuple[int, str]] = []
        self.mesh: Mesh
        self.door: Door

    def link_up(self, number: int, key: bytes) -> None:
        assert key not in self.links.values(), "two links to one seat at once"
        self.links[number] = key
        self.ups.append(_seat_of(key))

    def link_down(self, number: int, key: bytes) -> None:
        assert self.links.pop(number) == key

    def unreachable(self, key: bytes, reason: str) -> None:
        self.trouble.append((_seat_of(key), reason))

    async def received(self, number: int, payload: bytes) -> None:
        assert number in self.links
        self.heard.append(payload)

    @property
    def linked(self) -> set[int]:
        return {_seat_of(key) for key in self.links.values()}

    def say(self, seat: int, payload: bytes) -> None:
        for number, key in self.links.items():
            if key == IDENTITIES[seat].public_key:
                self.mesh.send(number, payload)

    async def run(
        self,
        others: list[int],
        *,
        port: int = 4000,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        listeners, port = await self.network.at(self.host).listen(None, port)
        self.door = Door(self.identity, self.numbers, port)
        addresses = {
            IDENTITIES[seat].public_key: [Address(host=f"10.0.0.{seat + 1}", port=4000)] for seat in others
        }
        self.mesh = Mesh(
            self.network.at(self.host), self.identity, TABLE, addresses, self, self.numbers, port
        )
        self.door.routes[Purpose.SEAT, TABLE] = self.mesh.welcome
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.door.serve, listeners)
            nursery.start_soon(self.mesh.run)
            task_status.started()


def _seat_of(key: bytes) -> int:
    return [identity.public_key for identity in IDENTITIES].index(key)


@asynccontextmanager
async def table(network: MemoryNetwork, seats: int) -> AsyncIterator[list[Peer]]:
    peers = [Peer(network, seat) for seat in range(seats)]
    async with trio.open_nursery() as nursery:
        for peer in peers:
            await nursery.start(peer.run, [seat for seat in range(seats) if seat != peer.seat])
        yield peers
        nursery.cancel_scope.cancel()


def everybody_linked(peers: list[Peer]) -> bool:
    everybody = {peer.seat for peer in peers}
    return all(peer.linked == everybody - {peer.seat} for peer in peers)


def cut(network: MemoryNetwork, one: int, other: int) -> None:
    network.cut(f"10.0.0.{one + 1}", f"10.0.0.{other + 1}")
    network.cut(f"10.0.0.{other + 1}", f"10.0.0.{one + 1}")


def heal(network: MemoryNetwork, one: int, other: int) -> None:
    network.heal(f"10.0.0.{one + 1}", f"10.0.0.{other + 1}")
    network.heal(f"10.0.0.{other + 1}", f"10.0.0.{one + 1}")


# --- the way it goes -----------------------------------------------------------------------------------


async def test_four_peers_come_to_six_links(autojump_clock: MockClock) -> None:
    network = MemoryNetwork()
    async with table(network, 4) as peers:
        await trio.sleep(3)
        assert everybody_linked(peers)
        assert len(network.streams) == 2 * 6  # each pair has dialled once
        peers[0].say(3, b"hello")
        await trio.sleep(0.1)
        assert peers[3].heard == [b"hello"]


async def test_f14_w9_simultaneous_dial_ends_with_one_link(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With no head start for the leader both dial at the same instant, again and again."""
    monkeypatch.setattr(mesh_module, "FOLLOWER_SECONDS", 0.0)
    network = MemoryNetwork()
    async with table(network, 2) as (leader, follower):
        for _ in range(10):
            await trio.sleep(30)
            assert leader.linked == {1}
            assert follower.linked == {0}
            assert network.connections("10.0.0.1", "10.0.0.2") == 1
            leader.say(1, b"there")
            follower.say(0, b"back")
            network_before = len(leader.heard), len(follower.heard)
            await trio.sleep(1)
            assert (len(leader.heard), len(follower.heard)) == (network_before[0] + 1, network_before[1] + 1)
            network.reset("10.0.0.1", "10.0.0.2")
        assert {source for source, _ in network.dials} == {"10.0.0.1", "10.0.0.2"}


@pytest.mark.parametrize("sleeper", [0, 1], ids=["leader", "follower"])
async def test_f15_w3_a_ghost_of_the_old_session_does_not_keep_its_player_out(
    autojump_clock: MockClock, sleeper: int
) -> None:
    """A peer dies so that the other end hears nothing (power cut), and is back at once with the same key."""
    network = MemoryNetwork()
    peers = [Peer(network, 0), Peer(network, 1)]
    stays, goes = peers[1 - sleeper], peers[sleeper]
    async with trio.open_nursery() as nursery:
        await nursery.start(stays.run, [goes.seat])
        async with trio.open_nursery() as machine:
            await machine.start(goes.run, [stays.seat])
            await trio.sleep(5)
            assert stays.linked == {goes.seat}
            cut(network, 0, 1)  # nothing of its end arrives
            machine.cancel_scope.cancel()
        heal(network, 0, 1)
        back = Peer(network, goes.seat)
        assert stays.linked == {goes.seat}, "the ghost still looks alive"
        await nursery.start(back.run, [stays.seat])
        await trio.sleep(2)
        assert back.linked == {stays.seat}
        assert stays.linked == {goes.seat}
        assert stays.ups == [goes.seat] * 2
        assert network.connections("10.0.0.1", "10.0.0.2") == 1
        nursery.cancel_scope.cancel()


async def test_f05_half_open_after_sleep_reconnects_within_15_seconds(autojump_clock: MockClock) -> None:
    network = MemoryNetwork()
    async with table(network, 2) as peers:
        await trio.sleep(60)
        # The network forgets the connection (a NAT after sleep) but carries new ones.
        for stream in network.streams:
            stream.lossy = True
        await trio.sleep(14.9)
        assert everybody_linked(peers)
        assert peers[0].ups == [1, 1]
        assert network.connections("10.0.0.1", "10.0.0.2") == 1


async def test_f06_a_peer_whose_address_changes_is_found_at_the_new_one(autojump_clock: MockClock) -> None:
    """The mover dials from its new address; when that link breaks, the other finds it there."""
    network = MemoryNetwork()
    stays, moves = Peer(network, 0), Peer(network, 1)
    async with trio.open_nursery() as nursery:
        await nursery.start(stays.run, [1])
        async with trio.open_nursery() as old_place:
            await old_place.start(moves.run, [0])
            await trio.sleep(5)
            old_place.cancel_scope.cancel()
        moved = Peer(network, 1)
        moved.host = "10.9.9.9"
        await nursery.start(lambda task_status: moved.run([0], port=4555, task_status=task_status))
        await trio.sleep(20)
        assert stays.linked == {1}
        assert stays.mesh.addresses(IDENTITIES[1].public_key)[0] == Address(host="10.9.9.9", port=4555)
        network.dials.clear()
        network.reset("10.0.0.1", "10.9.9.9")
        await trio.sleep(5)
        assert stays.linked == {1}
        assert network.dials[0] == ("10.0.0.1", Address(host="10.9.9.9", port=4555))
        nursery.cancel_scope.cancel()


async def test_f13_flapping_link_comes_back_each_time_and_is_not_dialled_in_a_spin(
    autojump_clock: MockClock,
) -> None:
    network = MemoryNetwork()
    async with table(network, 2) as peers:
        await trio.sleep(5)
        for _ in range(50):
            network.reset("10.0.0.1", "10.0.0.2")
            await trio.sleep(0.5)
        assert len(network.dials) < 40
        await trio.sleep(15)
        assert everybody_linked(peers)


async def test_f10_a_partition_heals_without_anybody_doing_anything(autojump_clock: MockClock) -> None:
    network = MemoryNetwork()
    async with table(network, 4) as peers:
        await trio.sleep(5)
        for one, other in ((0, 2), (0, 3), (1, 2), (1, 3)):
            cut(network, one, other)
        await trio.sleep(600)
        assert [peer.linked for peer in peers] == [{1}, {0}, {3}, {2}]
        for one, other in ((0, 2), (0, 3), (1, 2), (1, 3)):
            heal(network, one, other)
        await trio.sleep(20)
        assert everybody_linked(peers)


async def test_f18_w12_who_cannot_be_dialled_is_told_about_and_dials_itself(
    autojump_clock: MockClock,
) -> None:
    """Seat 0 is behind carrier-grade NAT: its advertised port is closed to everybody."""
    network = MemoryNetwork()
    hidden, open_ = Peer(network, 0), Peer(network, 1)
    async with trio.open_nursery() as nursery:
        await nursery.start(open_.run, [0])
        await trio.sleep(60)
        assert open_.trouble == [(0, "10.0.0.1:4000: refused (nobody listens there)")]
        await nursery.start(lambda task_status: hidden.run([1], port=5999, task_status=task_status))
        await trio.sleep(1)
        assert open_.linked == {0}
        nursery.cancel_scope.cancel()


# --- who is not wanted ---------------------------------------------------------------------------------


async def knock(network: MemoryNetwork, identity: Identity, table_id: bytes, purpose: Purpose) -> LinkLost:
    """Dial seat 0; how it ends."""
    try:
        connection = await call(
            network.at("10.6.6.6"),
            identity,
            [Address(host="10.0.0.1", port=4000)],
            table=table_id,
            purpose=purpose,
            expects=lambda key: True,
            listening_port=0,
            numbers=itertools.count(900),
        )
    except LinkLost as lost:
        return lost

    async def ignore(kind: wire.Kind, payload: bytes) -> None:
        pass

    return await connection.run(ignore)


async def test_a_stranger_at_a_game_in_progress_is_told_that_it_has_no_seat(
    autojump_clock: MockClock,
) -> None:
    network = MemoryNetwork()
    async with table(network, 2) as peers:
        lost = await knock(network, IDENTITIES[3], TABLE, Purpose.SEAT)
        assert (lost.reason, str(lost)) == (Code.NOT_SEATED, "this key has no seat at the table")
        await trio.sleep(3)
        assert everybody_linked(peers)


@pytest.mark.parametrize("purpose", [Purpose.SEAT, Purpose.LOBBY, Purpose.WATCH])
async def test_an_unknown_table_is_named_as_the_reason(autojump_clock: MockClock, purpose: Purpose) -> None:
    network = MemoryNetwork()
    async with table(network, 2):
        lost = await knock(network, IDENTITIES[3], b"other", purpose)
        assert lost.reason == Code.UNKNOWN_TABLE


async def test_another_key_than_the_one_expected_is_not_spoken_to(autojump_clock: MockClock) -> None:
    network = MemoryNetwork()
    async with table(network, 1):
        with pytest.raises(LinkLost) as caught:
            await call(
                network.at("10.6.6.6"),
                IDENTITIES[3],
                [Address(host="10.0.0.1", port=4000)],
                table=TABLE,
                purpose=Purpose.SEAT,
                expects=IDENTITIES[2].public_key.__eq__,
                listening_port=0,
                numbers=itertools.count(900),
            )
        assert caught.value.reason == Code.WRONG_KEY


async def test_the_right_peer_is_found_among_wrong_and_dead_addresses(autojump_clock: MockClock) -> None:
    network = MemoryNetwork()
    network.cut("10.6.6.6", "10.0.0.9")
    async with table(network, 2):
        connection = await call(
            network.at("10.6.6.6"),
            IDENTITIES[0],
            [
                Address(host="10.0.0.9", port=4000),  # swallows the call
                Address(host="10.0.0.8", port=4000),  # refuses it
                Address(host="10.0.0.1", port=4000),  # is somebody else (ourselves, of all)
                Address(host="10.0.0.2", port=4000),
            ],
            table=TABLE,
            purpose=Purpose.SEAT,
            expects=IDENTITIES[1].public_key.__eq__,
            listening_port=0,
            numbers=itertools.count(900),
        )
        assert connection.peer_key == IDENTITIES[1].public_key
        assert trio.current_time() < 2 + HANDSHAKE_SECONDS


async def test_all_addresses_dead_says_what_happened_at_each(autojump_clock: MockClock) -> None:
    network = MemoryNetwork()
    network.cut("10.6.6.6", "10.0.0.9")
    with pytest.raises(LinkLost) as caught:
        await call(
            network.at("10.6.6.6"),
            IDENTITIES[0],
            [Address(host="10.0.0.9", port=1), Address(host="10.0.0.8", port=2)],
            table=TABLE,
            purpose=Purpose.SEAT,
            expects=lambda key: True,
            listening_port=0,
            numbers=itertools.count(900),
        )
    assert str(caught.value) == (
        "10.0.0.8:2: refused (nobody listens there); "
        "10.0.0.9:1: no answer (a wrong address, or a firewall that swallows the call)"
    )


# --- exhaustion ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("hosts", [1, 200], ids=["from one address", "from many addresses"])
async def test_f95_1000_silent_sockets_do_not_keep_a_seat_out(autojump_clock: MockClock, hosts: int) -> None:
    network = MemoryNetwork()
    peers = [Peer(network, 0), Peer(network, 1)]
    async with trio.open_nursery() as nursery:
        await nursery.start(peers[0].run, [1])
        for number in range(1000):
            await network.at(f"10.7.0.{number % hosts}").dial(Address(host="10.0.0.1", port=4000))
        await trio.sleep(0.1)
        limit = MAX_STRANGERS_PER_HOST if hosts == 1 else MAX_STRANGERS
        assert len(peers[0].door._strangers) == limit <= 48
        still_open = [s for s in network.streams if s.host == "10.0.0.1" and not s.closed]
        assert len(still_open) == limit
        await nursery.start(peers[1].run, [0])
        await trio.sleep(1.5)
        assert everybody_linked(peers)
        await trio.sleep(8.0 + 5)
        assert peers[0].door._strangers == {}
        nursery.cancel_scope.cancel()


async def test_f96_out_of_descriptors_and_recovers(autojump_clock: MockClock) -> None:
    network = MemoryNetwork()
    peers = [Peer(network, 0), Peer(network, 1)]
    async with trio.open_nursery() as nursery:
        await nursery.start(peers[1].run, [0])
        listener = network.listeners["10.0.0.2", 4000]
        assert isinstance(listener, _Listener)
        for code in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS) * 3:
            listener.faults.append(OSError(code, "out of something"))
        await nursery.start(peers[0].run, [1])
        await trio.sleep(9 * door_module.EXHAUSTED_SECONDS + HANDSHAKE_SECONDS)
        assert everybody_linked(peers)
        assert not listener.faults
        nursery.cancel_scope.cancel()


async def test_a_seat_that_dials_without_end_is_slowed_down(autojump_clock: MockClock) -> None:
    network = MemoryNetwork()
    async with table(network, 1) as (peer,):
        peer.mesh._neighbours[IDENTITIES[2].public_key] = mesh_module._Neighbour(
            IDENTITIES[2].public_key, [], mesh_module.Budget.full(0.5, 8, trio.current_time())
        )
        reasons = []
        for _ in range(12):
            with trio.move_on_after(0.01):
                reasons.append((await knock(network, IDENTITIES[2], TABLE, Purpose.SEAT)).reason)
        assert reasons == [Code.BUSY] * 4
        assert len(peer.ups) == 8


async def test_garbage_on_the_table_link_ends_that_link_only(autojump_clock: MockClock) -> None:
    network = MemoryNetwork()
    async with table(network, 3) as peers:
        await trio.sleep(3)
        (link,) = [
            connection
            for connection in peers[0].mesh._in_use.values()
            if connection.peer_key == IDENTITIES[1].public_key
        ]
        link.send(wire.Kind.LOBBY, b"there is no such thing on a table link")
        await trio.sleep(0.05)
        assert peers[1].linked == {2}
        assert peers[2].linked == {0, 1}
        await trio.sleep(5)
        assert everybody_linked(peers)


async def test_a_crowd_with_real_identities_takes_no_more_room_than_strangers(
    autojump_clock: MockClock,
) -> None:
    """Each proves a key of its own, is refused, and does not hang up: the door shows them out as it does others."""
    network = MemoryNetwork()
    peers = [Peer(network, 0), Peer(network, 1)]
    async with trio.open_nursery() as nursery:
        await nursery.start(peers[0].run, [1])

        async def stay(number: int) -> None:
            stream = await network.at(f"10.8.{number}.1").dial(Address(host="10.0.0.1", port=4000))
            link = wire.Link(
                wire.Role.DIALER,
                Identity(number.to_bytes(32, "big")),
                entropy=number.to_bytes(64, "big"),
                table=TABLE,
                purpose=Purpose.SEAT,
            )
            with contextlib.suppress(trio.BrokenResourceError):
                while not link.closed:
                    await stream.send_all(link.take_outgoing())
                    link.receive(bytes(await stream.receive_some(4096)))
                await stream.send_all(link.take_outgoing())
            await trio.sleep_forever()

        for number in range(1, 300):
            nursery.start_soon(stay, number)
        await trio.sleep(0.5)
        open_ends = [s for s in network.streams if s.host == "10.0.0.1" and not s.closed]
        assert len(open_ends) <= MAX_STRANGERS
        await nursery.start(peers[1].run, [0])
        await trio.sleep(2)
        assert everybody_linked(peers)
        nursery.cancel_scope.cancel()
