"""Bytes that we would not have written, sent to a peer in mid-game by somebody who holds a seat's key.

The wire's own part of F66-F84 is in test_wire.py; here whole peers are attacked through a real handshake.  After each
attack the victim stands where it stood, and in the end the game is finished with one log and nobody in evidence.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from protocol.canonical import encode
from protocol.entry import Kind as EntryKind
from protocol.entry import content_of
from protocol.events import EvidenceFound, SeatDropped
from protocol.gossip import Message
from protocol.identity import Identity
from protocol.peer.connection import Connection, LinkLost
from protocol.peer.memory import MemoryNetwork
from protocol.peer.mesh import call
from protocol.ticket import Address
from protocol.wire import Kind, Purpose, _Sealer
from tests.protocol.peers import OFFER, all_over, company, seat_all, until

ORDER = 2**252 + 27742317777372353535851937790883648493


@dataclass
class Attack:
    """What is sent after ADOPT: session payloads, or a function that does worse to the connection."""

    payloads: tuple[bytes, ...] = ()
    raw: Callable[[Connection], None] | None = None
    survives: bool = False


def entries(content: bytes, signature: bytes) -> bytes:
    return encode([Message.ENTRIES.value, [[content, signature]]])


class Forger:
    """Signs with a real seat's key what that seat would never say."""

    def __init__(self, identity: Identity, table: bytes, seat: int) -> None:
        self.identity = identity
        self.table = table
        self.seat = seat
        self.good = content_of(
            table=table,
            epoch=0,
            step=10**6,
            seat=seat,
            kind=EntryKind.END,
            round=0,
            body=[],
            prev=bytes(32),
        )

    def signed(self, content: bytes) -> bytes:
        return entries(content, self.identity.sign("entry", content))

    def swapped(self, old: bytes, new: bytes) -> bytes:
        """The good content with one encoded piece exchanged, signed as it is."""
        assert self.good.count(old) >= 1
        return self.signed(self.good.replace(old, new, 1))

    def malleable(self) -> bytes:
        signature = self.identity.sign("entry", self.good)
        s = int.from_bytes(signature[32:], "little") + ORDER
        return entries(self.good, signature[:32] + s.to_bytes(32, "little"))

    def attacks(self) -> dict[str, Attack]:
        step = b"\xce\x00\x0f\x42\x40"  # 1,000,000 as the content has it
        kind = encode(EntryKind.END.value)
        dice = random.Random(1)
        return {
            "f67 length of four gigabytes": Attack(raw=lambda c: raw(c, b"\xff\xff\xff\xff")),
            "f68 zero length": Attack(raw=lambda c: raw(c, bytes(4))),
            "f69 truncated frame, then closed": Attack(raw=truncated),
            "f57 a frame sealed with another key": Attack(raw=lambda c: raw(c, foreign_frame())),
            "f69 truncated message": Attack((self.signed(self.good)[:-1],)),
            "f70 trailing bytes": Attack((self.signed(self.good) + b"\x00",)),
            "f70 trailing bytes in the entry": Attack((self.signed(self.good + b"\x00"),)),
            "f71 non-minimal int": Attack((self.swapped(step, b"\xcf" + bytes(4) + b"\x00\x0f\x42\x40"),)),
            "f72 map with a duplicate key": Attack((self.swapped(step, b"\x82\x00\x00\x00\x01"),)),
            "f73 NaN": Attack((self.swapped(step, b"\xcb\x7f\xf8" + bytes(6)),)),
            "f73 minus zero": Attack((self.swapped(step, b"\xcb\x80" + bytes(7)),)),
            "f74 bool as int": Attack((self.swapped(step, b"\xc3"),)),
            "f75 str for bin": Attack((self.swapped(b"\xc4\x20" + bytes(32), b"\xd9\x20" + bytes(32)),)),
            "f76 bad UTF-8": Attack((self.swapped(b"\xc4\x20" + bytes(32), b"\xd9\x20" + b"\xff" * 32),)),
            "f77 depth 1,000": Attack((b"\x91" * 1000 + b"\x00",)),
            "f78 array header bomb": Attack((b"\xdd\xff\xff\xff\xff",)),
            "f79 ext": Attack((self.swapped(step, b"\xd6\xff" + bytes(4)),)),
            "f80 S+L signature": Attack((self.malleable(),), survives=True),
            "f80 f99 S+L signatures without end": Attack((self.malleable(),) * 3),
            "f81 unknown message": Attack((encode([99]),)),
            "f81 unknown entry kind": Attack((self.swapped(kind + b"\x00\x90", b"\x7f\x00\x90"),)),
            "f82 wrong arity": Attack((encode([Message.ENTRIES.value, [[self.good]]]),)),
            "f83 int of 2^53": Attack((self.swapped(step, b"\xcf\x00\x20" + bytes(6)),)),
            "f84 random fuzz": Attack((dice.randbytes(300),)),
            "f54 another table's entry, again and again": Attack(
                (self.signed(self.good.replace(self.table, bytes(32))),) * 3
            ),
        }


def raw(connection: Connection, data: bytes) -> None:
    """Past the machine, straight onto the wire."""
    connection._link._outgoing += data
    connection._outgoing.set()


def truncated(connection: Connection) -> None:
    connection.send(Kind.SESSION, bytes(500))
    del connection._link._outgoing[-100:]
    connection._end("attack", "half a frame, and gone")


def foreign_frame() -> bytes:
    body = b"\x01" + _Sealer(bytes(32)).seal(bytes([Kind.SESSION]) + b"x")
    return len(body).to_bytes(4, "big") + body


async def strike(network: MemoryNetwork, forger: Forger, where: Address, attack: Attack) -> LinkLost | None:
    """Take the seat's link over, attack, and see what becomes of the link; None if it is still up after a while."""
    connection = await call(
        network.at("10.6.6.6"),
        forger.identity,
        [where],
        table=forger.table,
        purpose=Purpose.SEAT,
        expects=lambda key: True,
        listening_port=0,
        numbers=itertools.count(1),
    )
    if forger.identity.public_key < connection.peer_key:
        connection.send(Kind.ADOPT, b"")

    async def ignore(kind: Kind, payload: bytes) -> None:
        pass

    ended: LinkLost | None = None
    with trio.move_on_after(3):
        async with trio.open_nursery() as nursery:

            async def run() -> None:
                nonlocal ended
                ended = await connection.run(ignore)
                nursery.cancel_scope.cancel()

            nursery.start_soon(run)
            await trio.sleep(0.1)
            for payload in attack.payloads:
                connection.send(Kind.SESSION, payload)
            if attack.raw is not None:
                attack.raw(connection)
    return ended


@pytest.mark.parametrize("attacker", [0, 1], ids=["attacker leads", "attacker follows"])
async def test_f66_to_f84_end_the_link_and_change_nothing(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path, attacker: int
) -> None:
    async with company(tmp_path, 2) as (players, nursery):
        players.sort(key=lambda player: player.home.identity.public_key)
        for number, player in enumerate(players, start=1):
            player.name, player.host = f"P{number}", f"10.0.0.{number}"
            player.thinks_seconds = 10_000.0
        villain, victim = players[attacker], players[1 - attacker]
        network = MemoryNetwork()
        slow = replace(OFFER, seats=2, turn_ms=10**8, step_ms=10**8)
        await seat_all(network, players, nursery, slow)
        await until(lambda: any(player.table.started and player.table.legal_moves() for player in players))
        await trio.sleep(1)
        seat = villain.table.me
        assert seat is not None
        forger = Forger(villain.home.identity, victim.table.agreement.table, seat)
        before = victim.table.head, victim.table.step, victim.table.log_path.read_bytes()

        for name, attack in forger.attacks().items():
            # The seat's real owner hears nothing meanwhile, or it would take its link back at once.
            network.cut(villain.host, victim.host)
            network.cut(victim.host, villain.host)
            ended = await strike(network, forger, victim.table.addresses[0], attack)
            network.heal(villain.host, victim.host)
            network.heal(victim.host, villain.host)
            assert (ended is None) is attack.survives, name
            await trio.sleep(30)
            now = victim.table.head, victim.table.step, victim.table.log_path.read_bytes()
            assert now == before, name
            assert victim.table.session.connected == (seat,), name

        for player in players:
            player.hurry()
        await all_over(players)
        for player in players:
            assert not player.of(EvidenceFound)
            assert not player.of(SeatDropped)


async def test_f66_wrong_magic_disturbs_nobody(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    async with company(tmp_path, 2) as (players, nursery):
        network = MemoryNetwork()
        await seat_all(network, players, nursery)
        await until(lambda: players[0].table.started)
        for _ in range(20):
            stream = await network.at("10.6.6.6").dial(players[0].table.addresses[0])
            await stream.send_all(b"GET / HTTP/1.1\r\nHost: table\r\n\r\n")
            said = b""
            while piece := await stream.receive_some(4096):
                said += piece
            assert b"what answers there is not a peer of this game" in said
        await all_over(players)


@pytest.mark.parametrize("seed", range(5))
async def test_f84_fuzz_of_real_messages_never_stops_a_peer(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path, seed: int
) -> None:
    """Real messages of the session with a few bytes changed, on the victim's own link, all through the game."""
    async with company(tmp_path, 2) as (players, nursery):
        dice = random.Random(seed)
        network = MemoryNetwork()
        for player in players:
            player.thinks_seconds = 2.0
        await seat_all(network, players, nursery, replace(OFFER, seats=2, turn_ms=10**7, step_ms=10**7))
        await until(lambda: all(player.table.started for player in players))
        mesh = players[0].table._life._mesh
        assert mesh is not None
        real = mesh.send

        def spoilt(number: int, payload: bytes) -> None:
            real(number, payload)
            if dice.random() < 0.2:
                changed = bytearray(payload)
                for _ in range(dice.randrange(1, 4)):
                    changed[dice.randrange(len(changed))] ^= dice.randrange(1, 256)
                real(number, bytes(changed))

        mesh.send = spoilt  # type: ignore[method-assign]
        await until(lambda: len(players[1].events) > 25, within_seconds=3000)
        mesh.send = real  # type: ignore[method-assign]
        await all_over(players)
        assert not players[0].of(SeatDropped)
