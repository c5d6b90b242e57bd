"""Loopback always; another device only by an address of its own, with a key of its own."""

from __future__ import annotations

import pytest
import trio

from p2p_rummy.web.desk import Desk
from p2p_rummy.web.serving import serve_page


async def fetch(address: str, path: str, *, host: str | None = None, cookie: str = "") -> bytes:
    authority = address.removeprefix("http://").partition("/")[0]
    name, _, port = authority.rpartition(":")
    stream = await trio.open_tcp_stream(name, int(port))
    lines = [f"GET {path} HTTP/1.1", f"Host: {host or authority}", "Connection: close"]
    if cookie:
        lines.append(f"Cookie: {cookie}")
    async with stream:
        await stream.send_all(("\r\n".join(lines) + "\r\n\r\n").encode())
        answer = bytearray()
        async for chunk in stream:
            answer += chunk
    return bytes(answer)


def path_of(address: str) -> str:
    return "/" + address.removeprefix("http://").partition("/")[2]


async def test_the_page_is_on_loopback_alone_unless_its_owner_says_otherwise() -> None:
    async with serve_page(Desk(), lambda: None) as served:
        assert served.address.startswith("http://127.0.0.1:")
        assert served.lan_addresses == ()
        assert b" 200 " in (await fetch(served.address, path_of(served.address)))[:20]


async def test_the_key_of_one_way_in_does_not_open_the_other() -> None:
    # 127.0.0.2 stands for this machine's address on the LAN.
    async with serve_page(Desk(), lambda: None, lan_hosts=("127.0.0.2",)) as served:
        (lan,) = served.lan_addresses
        assert path_of(lan) != path_of(served.address)
        assert b" 200 " in (await fetch(lan, path_of(lan)))[:20]
        assert b" 403 " in (await fetch(lan, path_of(served.address)))[:20]
        assert b" 403 " in (await fetch(served.address, path_of(lan)))[:20]


@pytest.mark.parametrize("host", ["rebound.example", "127.0.0.1"])
async def test_a_name_that_was_pointed_here_is_refused(host: str) -> None:
    async with serve_page(Desk(), lambda: None) as served:
        assert b" 421 " in (await fetch(served.address, path_of(served.address), host=host))[:20]


async def test_the_cookie_of_the_answer_opens_the_page() -> None:
    async with serve_page(Desk(), lambda: None) as served:
        answer = await fetch(served.address, path_of(served.address))
        cookie = answer.partition(b"Set-Cookie: ")[2].partition(b";")[0].decode()
        page = await fetch(served.address, "/", cookie=cookie)
        assert b"<title>p2p-rummy</title>" in page
        assert b" 403 " in (await fetch(served.address, "/"))[:20]
