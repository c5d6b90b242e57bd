"""Real sockets on loopback: options, ports, addresses, crowds, and running out of descriptors."""

from __future__ import annotations

import contextlib
import itertools
import resource
import socket
import sys

import pytest
import trio

from protocol.identity import Identity
from protocol.peer.connection import Connection, LinkLost
from protocol.peer.door import MAX_STRANGERS_PER_HOST, Admit, Door
from protocol.peer.mesh import call
from protocol.peer.tcp import (
    KEEPALIVE_SECONDS,
    USER_TIMEOUT_MILLISECONDS,
    CannotListen,
    TcpNetwork,
    reach_of,
    remote_host,
    tune,
)
from protocol.ticket import Address
from protocol.wire import Code, Kind, Purpose

ANN, BO = Identity(b"\x01" * 32), Identity(b"\x02" * 32)
TABLE = b"table"

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="options and limits of Linux")


async def test_any_free_port_is_one_port_in_both_families() -> None:
    listeners, port = await TcpNetwork().listen(None, 0)
    assert port > 0
    assert {listener.socket.getsockname()[1] for listener in listeners} == {port}  # type: ignore[attr-defined]
    for listener in listeners:
        await listener.aclose()


async def test_a_port_in_use_is_named() -> None:
    listeners, port = await TcpNetwork().listen("127.0.0.1", 0)
    with pytest.raises(CannotListen, match=f"port {port} is in use; choose another with --port"):
        await TcpNetwork().listen("127.0.0.1", port)
    await listeners[0].aclose()


@pytest.mark.parametrize("host", ["192.0.2.77", "not an address"])
async def test_an_address_that_is_not_this_machines_is_named(host: str) -> None:
    with pytest.raises(CannotListen, match=f"{host} is not an address of this machine; check --bind"):
        await TcpNetwork().listen(host, 0)


async def test_own_hosts_are_addresses_and_a_bound_one_is_the_only_one() -> None:
    network = TcpNetwork()
    assert network.own_hosts("10.1.2.3") == ["10.1.2.3"]
    for host in network.own_hosts(None):
        socket.getaddrinfo(host, 1, flags=socket.AI_NUMERICHOST)
    assert reach_of(["10.1.2.3"], 7) == (Address(host="10.1.2.3", port=7),)


@linux_only
async def test_f05_a_connection_notices_a_dead_network_by_itself() -> None:
    """TCP_USER_TIMEOUT: without it, sends into a blackhole succeed for minutes."""
    listeners, port = await TcpNetwork().listen("127.0.0.1", 0)
    dialled = await TcpNetwork().dial(Address(host="127.0.0.1", port=port))
    accepted = await listeners[0].accept()
    assert isinstance(accepted, trio.SocketStream)
    tune(accepted)
    for stream in (dialled, accepted):
        assert isinstance(stream, trio.SocketStream)
        options = {
            name: stream.getsockopt(socket.IPPROTO_TCP, getattr(socket, name))
            for name in ("TCP_NODELAY", "TCP_USER_TIMEOUT", "TCP_KEEPIDLE")
        }
        assert options == {
            "TCP_NODELAY": 1,
            "TCP_USER_TIMEOUT": USER_TIMEOUT_MILLISECONDS,
            "TCP_KEEPIDLE": KEEPALIVE_SECONDS,
        }
        assert remote_host(stream) == "127.0.0.1"
        await stream.aclose()
    await listeners[0].aclose()


class House:
    """A door on a real port, with one route that echoes."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.door = Door(ANN, itertools.count(1), 0)
        self.door.routes[Purpose.SEAT, TABLE] = self.welcome

    async def welcome(self, connection: Connection, admit: Admit) -> None:
        admit()

        async def echo(kind: Kind, payload: bytes) -> None:
            self.heard.append(payload)
            connection.send(kind, payload)

        await connection.run(echo)

    async def open(self, *, task_status: trio.TaskStatus[Address]) -> None:
        listeners, port = await TcpNetwork().listen("127.0.0.1", 0)
        self.door.port = port
        task_status.started(Address(host="127.0.0.1", port=port))
        await self.door.serve(listeners)


async def visit(where: Address, identity: Identity = BO) -> Connection:
    return await call(
        TcpNetwork(),
        identity,
        [where],
        table=TABLE,
        purpose=Purpose.SEAT,
        expects=ANN.public_key.__eq__,
        listening_port=0,
        numbers=itertools.count(1),
    )


async def echoed(where: Address, payload: bytes) -> bytes:
    """One message there and back on a fresh link."""
    connection = await visit(where)
    got: list[bytes] = []

    async def take(kind: Kind, data: bytes) -> None:
        got.append(data)
        connection.close(Code.LEAVING, "")

    connection.send(Kind.SESSION, payload)
    await connection.run(take)
    return b"".join(got)


async def test_the_longest_message_crosses_a_real_connection() -> None:
    with trio.fail_after(10):
        async with trio.open_nursery() as nursery:
            where = await nursery.start(House().open)
            assert await echoed(where, bytes(range(256)) * 512) == bytes(range(256)) * 512
            nursery.cancel_scope.cancel()


async def test_f95_a_crowd_of_real_sockets_does_not_keep_a_peer_out() -> None:
    """As many as the descriptors of a test allow; the count of 1,000 is reached on the network in memory."""
    house = House()
    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            where = await nursery.start(house.open)
            crowd = [await trio.open_tcp_stream(where.host, where.port) for _ in range(200)]
            assert await echoed(where, b"still served") == b"still served"
            assert len(house.door._strangers) <= MAX_STRANGERS_PER_HOST
            for stream in crowd:
                await stream.aclose()
            nursery.cancel_scope.cancel()


@linux_only
async def test_f96_out_of_real_descriptors_and_recovers() -> None:
    """The process may open nothing more; what waits in the backlog is served when descriptors are free again."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            where = await nursery.start(House().open)
            client = await trio.open_tcp_stream(where.host, where.port)
            await trio.sleep(0.01)
            waiting = trio.socket.socket()
            free = socket.socket()
            resource.setrlimit(resource.RLIMIT_NOFILE, (free.fileno() + 1, hard))
            try:
                with pytest.raises(OSError, match="Too many open files"):
                    socket.socket()
                await waiting.connect((where.host, where.port))
                await trio.sleep(0.1)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
                free.close()
            assert await echoed(where, b"recovered") == b"recovered"
            await client.aclose()
            waiting.close()
            nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    "garbage",
    [b"", b"\x00", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x8ap2pRum\n\x00\x01\xff", bytes(100_000)],
    ids=["nothing", "one byte", "http", "cut hello", "zeros"],
)
async def test_f84_garbage_on_a_real_socket_ends_that_socket_only(garbage: bytes) -> None:
    with trio.fail_after(10):
        async with trio.open_nursery() as nursery:
            where = await nursery.start(House().open)
            async with await trio.open_tcp_stream(where.host, where.port) as stream:
                with contextlib.suppress(trio.BrokenResourceError):
                    await stream.send_all(garbage)
                    await stream.send_eof()
                    while await stream.receive_some(1000):
                        pass
            assert await echoed(where, b"unharmed") == b"unharmed"
            nursery.cancel_scope.cancel()


async def test_a_refused_connection_is_explained() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(LinkLost) as caught:
        await visit(Address(host="127.0.0.1", port=port))
    assert str(caught.value) == f"127.0.0.1:{port}: refused (nobody listens there)"
