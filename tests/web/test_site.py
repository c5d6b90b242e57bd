"""Who is let in, and what everything that goes out carries."""

from __future__ import annotations

import pytest

from p2p_rummy.web.site import File, Request, Response, Site, Upgrade, static_files

HOST = "127.0.0.1:4711"


def site() -> Site:
    files = {
        "index.html": File("text/html; charset=utf-8", b"<p>"),
        "js/main.js": File("text/javascript", b"1"),
    }
    return Site(
        hosts=frozenset({HOST, "localhost:4711"}), files=files, log=lambda: b"signed steps", key="right-key"
    )


def get(
    target: str, *extra: tuple[str, str], host: str = HOST, cookie: bool = True, method: str = "GET"
) -> Request:
    headers = [("host", host), *extra]
    if cookie:
        headers.append(("cookie", "theme=dark; p2p_rummy_4711=right-key"))
    return Request(method=method, target=target, headers=tuple(headers))


def status(request: Request) -> int:
    answer = site().answer(request)
    assert isinstance(answer, Response)
    return answer.status


def test_the_key_in_the_address_becomes_a_cookie_that_no_script_and_no_other_site_can_use() -> None:
    answer = site().answer(get("/enter/right-key", cookie=False))
    assert isinstance(answer, Response)
    assert answer.status == 200
    cookie = dict(answer.headers)["Set-Cookie"]
    assert cookie == "p2p_rummy_4711=right-key; Path=/; HttpOnly; SameSite=Strict"


def test_a_wrong_key_is_refused() -> None:
    assert status(get("/enter/wrong-key", cookie=False)) == 403
    assert status(get("/enter/", cookie=False)) == 403


@pytest.mark.parametrize("target", ["/", "/static/js/main.js", "/socket", "/log", "/anything"])
def test_without_the_cookie_nothing_is_served(target: str) -> None:
    assert status(get(target, cookie=False)) == 403


def test_with_the_cookie_the_page_its_parts_and_the_log_are_served() -> None:
    assert status(get("/")) == 200
    assert status(get("/static/js/main.js")) == 200
    answer = site().answer(get("/log"))
    assert isinstance(answer, Response)
    assert answer.body == b"signed steps"
    assert "attachment" in dict(answer.headers)["Content-Disposition"]


@pytest.mark.parametrize(
    "host", ["evil.example:4711", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:4711.evil.example", ""]
)
def test_a_host_that_is_not_ours_is_refused_whatever_it_knows(host: str) -> None:
    assert status(get("/", host=host)) == 421
    assert status(get("/enter/right-key", host=host)) == 421


def test_two_hosts_or_none_are_refused() -> None:
    twice = Request(method="GET", target="/", headers=(("host", HOST), ("host", HOST)))
    assert status(twice) == 421
    assert status(Request(method="GET", target="/", headers=())) == 421


@pytest.mark.parametrize(
    "target",
    ["/static/../site.py", "/static//etc/passwd", "/static/%2e%2e/site.py", "/index.html", "/js/main.js"],
)
def test_only_the_files_of_the_page_have_addresses(target: str) -> None:
    assert status(get(target)) == 404


def test_bodies_and_other_methods_are_refused() -> None:
    assert status(get("/", method="POST")) == 405
    assert status(get("/", ("content-length", "5"))) == 413
    assert status(get("/", ("transfer-encoding", "chunked"))) == 413


UPGRADE = (("upgrade", "websocket"), ("connection", "Upgrade"))


def test_the_socket_opens_for_our_own_page_only() -> None:
    assert isinstance(site().answer(get("/socket", *UPGRADE, ("origin", f"http://{HOST}"))), Upgrade)
    assert status(get("/socket", *UPGRADE, ("origin", "http://evil.example"))) == 403
    assert status(get("/socket", *UPGRADE, ("origin", "null"))) == 403
    assert status(get("/socket", *UPGRADE, ("origin", "http://localhost:4711"))) == 403
    assert status(get("/socket", *UPGRADE)) == 403
    assert status(get("/socket", ("origin", f"http://{HOST}"))) == 426


def test_every_answer_forbids_what_the_page_does_not_need() -> None:
    for request in (get("/"), get("/", cookie=False), get("/nothing"), get("/enter/right-key")):
        answer = site().answer(request)
        assert isinstance(answer, Response)
        headers = dict(answer.headers)
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"


def test_each_site_has_its_own_unguessable_key() -> None:
    hosts = frozenset({HOST})
    first, second = (Site(hosts=hosts, files={}, log=lambda: None) for _ in range(2))
    assert first.key != second.key
    assert len(first.key) >= 32
    assert first.key not in repr(first)


def test_the_page_asks_for_nothing_from_elsewhere() -> None:
    for path, file in static_files().items():
        if file.content_type.startswith("text/"):
            text = file.body.decode()
            for outside in ("http://", "https://", "//cdn"):
                allowed = text.replace("http://www.w3.org/2000/svg", "")
                assert outside not in allowed, f"{path} mentions {outside}"
