"""The listeners of the page: loopback always, the LAN only when the owner says so, each with its own key."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import trio

from p2p_rummy.web.desk import Desk
from p2p_rummy.web.http import Server
from p2p_rummy.web.site import Site, static_files


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """Where the page can be opened.  The addresses hold the keys: show them to their owner only."""

    address: str
    lan_addresses: tuple[str, ...]


@asynccontextmanager
async def serve_page(
    desk: Desk,
    log: Callable[[], bytes | None],
    *,
    port: int = 0,
    lan_hosts: tuple[str, ...] = (),
    lan_port: int = 0,
) -> AsyncIterator[Served]:
    """Serve ``desk`` while the block runs.  ``lan_hosts``: this machine's addresses to be opened to other devices.

    Raises OSError if a port is taken.
    """
    files = static_files()
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(port, host="127.0.0.1")
        real = _port(listeners)
        site = Site(hosts=frozenset({f"127.0.0.1:{real}", f"localhost:{real}"}), files=files, log=log)
        nursery.start_soon(trio.serve_listeners, Server(site, desk).serve, listeners)
        lan: list[str] = []
        for host in lan_hosts:
            others = await trio.open_tcp_listeners(lan_port, host=host)
            named = f"[{host}]:{_port(others)}" if ":" in host else f"{host}:{_port(others)}"
            door = Site(hosts=frozenset({named}), files=files, log=log)
            nursery.start_soon(trio.serve_listeners, Server(door, desk).serve, others)
            lan.append(f"http://{named}/enter/{door.key}")
        yield Served(address=f"http://127.0.0.1:{real}/enter/{site.key}", lan_addresses=tuple(lan))
        nursery.cancel_scope.cancel()


def _port(listeners: list[trio.SocketListener]) -> int:
    return int(listeners[0].socket.getsockname()[1])
