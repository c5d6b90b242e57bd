"""Who may ask this server for what, without touching a socket.

Threats: any web page in the same browser can make requests to loopback (so: a random key in the address, then a
SameSite cookie; the Origin of a WebSocket must be ours), any name can be pointed at 127.0.0.1 (so: the Host must be one
we were opened under), any program on the machine can connect (so: the key).  What we serve may load nothing from
elsewhere, run nothing inline and be framed by nobody.

    GET /enter/KEY    sets the cookie and leads to /
    GET /             the page                        } with the cookie
    GET /static/...   its parts                       }
    GET /log          the public log of the table     }
    GET /socket       WebSocket, Origin checked       }
"""

from __future__ import annotations

import hmac
import mimetypes
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable

KEY_BYTES = 24
STATIC_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request's head.  ``headers``: lower-case names; of a repeated one the values in order."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]

    def header(self, name: str) -> str | None:
        """The one value of a header, None if it is missing or not single."""
        values = [value for key, value in self.headers if key == name]
        return values[0] if len(values) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class Upgrade:
    """This request may become the page's WebSocket."""


@dataclass(frozen=True, slots=True)
class File:
    content_type: str
    body: bytes


def static_files() -> dict[str, File]:
    """Every file under ``static/`` by its path from there; read once, so a path can lead nowhere else."""
    found: dict[str, File] = {}

    def collect(folder: Traversable, prefix: str) -> None:
        for item in folder.iterdir():
            if item.is_dir():
                collect(item, f"{prefix}{item.name}/")
            else:
                suffix = "." + item.name.rpartition(".")[2]
                kind = STATIC_TYPES.get(suffix) or mimetypes.guess_type(item.name)[0]
                found[prefix + item.name] = File(kind or "application/octet-stream", item.read_bytes())

    collect(resources.files("p2p_rummy.web") / "static", "")
    return found


@dataclass(slots=True, kw_only=True)
class Site:
    """One way in: its key and the names it may be called by.  A LAN page is a second Site with its own key."""

    hosts: frozenset[str]
    """Every Host that we answer to, with port: ``127.0.0.1:4711``."""
    files: Mapping[str, File]
    log: Callable[[], bytes | None]
    key: str = field(default_factory=lambda: secrets.token_urlsafe(KEY_BYTES), repr=False)

    @property
    def cookie_name(self) -> str:
        # Cookies do not tell ports apart, and two peers may live on one machine.
        port = min(self.hosts).rpartition(":")[2]
        return f"p2p_rummy_{port}"

    def answer(self, request: Request) -> Response | Upgrade:
        """What to do with a request.  Never raises: whatever is not plainly allowed is refused."""
        host = request.header("host")
        if host not in self.hosts:
            return self.refusal(
                421, "This address is not one of this table's. Open the address that p2p-rummy printed."
            )
        if request.header("content-length") not in (None, "0") or request.header("transfer-encoding"):
            return self.refusal(413, "Requests here have no body.")
        if request.method not in ("GET", "HEAD"):
            return self.refusal(405, "Only GET is answered here.", ("Allow", "GET, HEAD"))
        path = request.target.partition("?")[0]
        if path.startswith("/enter/"):
            return self.enter(path.removeprefix("/enter/"))
        if not self.known(request):
            return self.refusal(
                403, "The key is missing or wrong. Open the whole address that p2p-rummy printed."
            )
        if path == "/socket":
            if request.header("origin") != f"http://{host}":
                return self.refusal(403, "A page from elsewhere may not speak to this table.")
            if (request.header("upgrade") or "").lower() != "websocket" or request.method != "GET":
                return self.refusal(
                    426, "This address is for the page's WebSocket.", ("Upgrade", "websocket")
                )
            return Upgrade()
        if path == "/log":
            return self.log_file()
        file = self.files.get("index.html" if path == "/" else path.removeprefix("/static/"))
        if file is None or not (path == "/" or path.startswith("/static/")):
            return self.refusal(404, "There is nothing at this address.")
        return self.response(200, file.content_type, file.body)

    def enter(self, key: str) -> Response:
        if not same(key, self.key):
            return self.refusal(403, "The key is wrong. Open the whole address that p2p-rummy printed.")
        # Not a redirect: after a click in some other site's page the browser would hold a Strict cookie back.
        body = (
            b'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/">'
            b'<link rel="icon" href="/static/icon.svg"><title>p2p-rummy</title>'
        )
        cookie = f"{self.cookie_name}={self.key}; Path=/; HttpOnly; SameSite=Strict"
        return self.response(200, STATIC_TYPES[".html"], body, ("Set-Cookie", cookie))

    def known(self, request: Request) -> bool:
        for piece in (request.header("cookie") or "").split(";"):
            name, _, value = piece.strip().partition("=")
            if name == self.cookie_name and same(value, self.key):
                return True
        return False

    def log_file(self) -> Response:
        data = self.log()
        if data is None:
            return self.refusal(404, "There is no log yet: no table is open.")
        attachment = ("Content-Disposition", 'attachment; filename="table.rummylog"')
        return self.response(200, "application/octet-stream", data, attachment)

    def refusal(self, status: int, sentence: str, *extra: tuple[str, str]) -> Response:
        return self.response(status, "text/plain; charset=utf-8", (sentence + "\n").encode(), *extra)

    def response(self, status: int, content_type: str, body: bytes, *extra: tuple[str, str]) -> Response:
        sockets = " ".join(f"ws://{host}" for host in sorted(self.hosts))
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
            f"connect-src 'self' {sockets}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
            "require-trusted-types-for 'script'"
        )
        headers = (
            ("Content-Type", content_type),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            ("Content-Security-Policy", policy),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Permissions-Policy", "camera=(), microphone=(), geolocation=()"),
            *extra,
        )
        return Response(status=status, headers=headers, body=body)


def same(left: str, right: str) -> bool:
    """Compare without telling by time how much of a guess was right."""
    return hmac.compare_digest(left.encode(), right.encode())
