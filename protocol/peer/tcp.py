"""Plain TCP: listening, dialling, and socket options that notice a dead network.

:class:`Network` is what the rest of the peer asks for, so a whole table of peers also runs over
memory streams on a virtual clock.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import socket
import sys
from collections.abc import Sequence
from typing import Final, Protocol, runtime_checkable

import trio

from protocol.errors import ProtocolError
from protocol.ticket import Address

KEEPALIVE_SECONDS: Final = 5
USER_TIMEOUT_MILLISECONDS: Final = 10_000
"""How long sent bytes may stay unacknowledged.  Without it, sends into a blackhole "succeed" for minutes."""

BACKLOG: Final = 128


class CannotListen(ProtocolError):  # noqa: N818 - what the user is told
    """The port is taken or not allowed.  Choose another with ``--port`` (0 picks a free one)."""

    code = "cannot_listen"


@runtime_checkable
class Remote(Protocol):
    """A stream that knows where it comes from (real sockets are asked themselves)."""

    remote_host: str


class Network(Protocol):
    """Where a peer listens and dials."""

    async def listen(
        self, host: str | None, port: int
    ) -> tuple[list[trio.abc.Listener[trio.abc.Stream]], int]:
        """Listeners on one port, and that port.  ``host`` None: every address.  Raises CannotListen."""

    async def dial(self, address: Address) -> trio.abc.Stream:
        """A fresh connection.  Raises OSError."""

    def own_hosts(self, host: str | None) -> list[str]:
        """The addresses of this machine that friends might reach, the likeliest first."""


class TcpNetwork:
    """The real one."""

    async def listen(
        self, host: str | None, port: int
    ) -> tuple[list[trio.abc.Listener[trio.abc.Stream]], int]:
        hosts = [host] if host is not None else ["0.0.0.0", "::"]
        listeners: list[trio.abc.Listener[trio.abc.Stream]] = []
        for each in hosts:
            try:
                listener = await _listen_at(each, port)
            except OSError as error:
                if listeners:
                    # A machine without IPv6, or one where the other family is taken: one family is enough.
                    continue
                raise CannotListen(_why_not(each, port, error)) from error
            port = listener.socket.getsockname()[1]
            listeners.append(listener)
        return listeners, port

    async def dial(self, address: Address) -> trio.abc.Stream:
        stream = await trio.open_tcp_stream(address.host, address.port)
        tune(stream)
        return stream

    def own_hosts(self, host: str | None) -> list[str]:
        if host not in (None, "0.0.0.0", "::"):
            return [str(host)]
        found: list[str] = []
        # Connecting a UDP socket sends nothing; it asks the routing table which address would be used.
        for family, somewhere in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
            with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((somewhere, 9))
                found.append(str(probe.getsockname()[0]))
        return [each for each in found if not ipaddress.ip_address(each.split("%")[0]).is_link_local] or [
            "127.0.0.1"
        ]


def tune(stream: trio.SocketStream) -> None:
    """Send at once, and find out soon that the other end is gone."""
    wanted: list[tuple[int, int, int]] = [
        (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
        (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    ]
    if sys.platform == "linux":
        wanted += [
            (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, KEEPALIVE_SECONDS),
            (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, KEEPALIVE_SECONDS),
            (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 2),
            (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, USER_TIMEOUT_MILLISECONDS),
        ]
    for level, option, value in wanted:
        # A socket that died meanwhile, or a system that lacks the option: heartbeats notice in any case.
        with contextlib.suppress(OSError):
            stream.setsockopt(level, option, value)


def remote_host(stream: trio.abc.Stream) -> str:
    """The IP address of the other end as text, "" if it is gone or has none."""
    if isinstance(stream, Remote):
        return stream.remote_host
    if isinstance(stream, trio.SocketStream):
        try:
            host = str(stream.socket.getpeername()[0]).split("%")[0]
            address = ipaddress.ip_address(host)
        except (OSError, ValueError):
            return ""
        mapped = getattr(address, "ipv4_mapped", None)
        return str(mapped or address)
    return ""


def reach_of(hosts: Sequence[str], port: int) -> tuple[Address, ...]:
    """These hosts, each with the listening port."""
    return tuple(Address(host=host, port=port) for host in hosts)


async def _listen_at(host: str, port: int) -> trio.SocketListener:
    info = await trio.socket.getaddrinfo(
        host, port, type=trio.socket.SOCK_STREAM, flags=trio.socket.AI_PASSIVE
    )
    family, kind, protocol, _name, where = info[0]
    server = trio.socket.socket(family, kind, protocol)
    try:
        if sys.platform != "win32":
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        await server.bind(where)
        server.listen(BACKLOG)
    except BaseException:
        server.close()
        raise
    return trio.SocketListener(server)


def _why_not(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is in use; choose another with --port, or --port 0 for a free one"
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"port {port} is reserved on this system; choose one above 1023 with --port"
    if error.errno == errno.EADDRNOTAVAIL or isinstance(error, socket.gaierror):
        return f"{host} is not an address of this machine; check --bind"
    return f"cannot listen at {host}, port {port}: {error.strerror or error}"
