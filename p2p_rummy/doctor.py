"""Why can my friends not reach me?  One finding a line, each with what to do.

The checks look at this machine only; nothing is sent anywhere unless a ticket is given, and then only to the
addresses in it.  (Connecting a UDP socket chooses a route and sends no packet: that is how the addresses are found.)
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import os
import shutil
import socket
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from p2p_rummy.catalogue import _

Level = Literal["ok", "note", "fault"]

EARLIEST_SENSIBLE_CLOCK_SECONDS = 1_767_225_600  # 2026-01-01 UTC: this program is younger
LOW_DISK_BYTES = 50_000_000  # a hundred-hand game of eight writes less
CONNECT_TIMEOUT_SECONDS = 3.0
TUNNEL_PREFIXES = ("tun", "tap", "wg", "utun", "ppp", "tailscale", "zt", "ipsec", "nordlynx", "proton")
CARRIER_GRADE_NAT = ipaddress.ip_network("100.64.0.0/10")  # RFC 6598


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: how bad, what was looked at, what was seen, and what to do ("" if nothing)."""

    level: Level
    subject: str
    seen: str
    advice: str = ""


class System(Protocol):
    """What the checks ask the machine; tests hand in another."""

    platform: str

    def addresses(self) -> list[str]: ...
    def interfaces(self) -> list[str]: ...
    def listen(self, address: str, port: int) -> int | None:
        """Errno of the attempt to listen, or None if it worked."""

    def connect(self, address: str, port: int) -> int | None:
        """Errno of the attempt to connect (ETIMEDOUT after a few seconds), or None if it worked."""

    def has(self, program: str) -> bool: ...
    def clock_seconds(self) -> float: ...
    def sync_write(self, directory: Path) -> int | None:
        """Errno of a durable write of a small file in ``directory``, or None."""

    def free_bytes(self, directory: Path) -> int: ...


def examine(
    system: System, home: Path, *, port: int = 0, friends: Sequence[tuple[str, int]] = ()
) -> list[Finding]:
    """All findings, in the order of the way from a card on this disk to a friend's screen.

    ``port``: the one a table is to listen on (0: any).  ``friends``: addresses of a ticket to try.
    """
    found = [*_home(system, home), _clock(system)]
    addresses = system.addresses()
    found += _addresses(addresses)
    found += _tunnels(system.interfaces())
    found.append(_port(system, port))
    found.append(_firewall(system, port))
    found += [
        finding for address, number in friends for finding in _friend(system, address, number, addresses)
    ]
    return found


def report(findings: Iterable[Finding]) -> list[str]:
    """Lines for a terminal: a word, not a colour, says how bad it is (screen readers, logs)."""
    words = {"ok": _("ok"), "note": _("note"), "fault": _("fault")}
    lines = []
    for finding in findings:
        lines.append(f"{words[finding.level]:<6} {finding.subject}: {finding.seen}")
        if finding.advice:
            lines.append(f"       -> {finding.advice}")
    return lines


# --- the checks ----------------------------------------------------------------------------------------


def _home(system: System, home: Path) -> list[Finding]:
    failure = system.sync_write(home)
    if failure is not None:
        return [
            Finding(
                "fault",
                _("home"),
                f"{home}: {os.strerror(failure)}",
                _("choose a directory that can be written with --home"),
            )
        ]
    free = system.free_bytes(home)
    if free < LOW_DISK_BYTES:
        return [
            Finding(
                "note",
                _("home"),
                _("{home}: {free} MB free", home=home, free=free // 1_000_000),
                _("a full disk stops your seat: free some space before you play"),
            )
        ]
    return [Finding("ok", _("home"), _("{home}: entries can be written and synced", home=home))]


def _clock(system: System) -> Finding:
    if system.clock_seconds() < EARLIEST_SENSIBLE_CLOCK_SECONDS:
        day = time.strftime("%Y-%m-%d", time.gmtime(system.clock_seconds()))
        return Finding(
            "note",
            _("clock"),
            _("says {day}, which is before this program was written", day=day),
            _("set it; the game itself does not depend on it, file dates do"),
        )
    return Finding("ok", _("clock"), _("plausible (the game does not depend on it)"))


def _addresses(addresses: Sequence[str]) -> list[Finding]:
    parsed = [ipaddress.ip_address(address.partition("%")[0]) for address in addresses]
    reachable = [a for a in parsed if not (a.is_loopback or a.is_link_local or a.is_unspecified)]
    findings = []
    four = [a for a in reachable if a.version == 4]
    six = [a for a in reachable if a.version == 6]
    if not reachable:
        return [
            Finding(
                "fault",
                _("addresses"),
                _("this machine is on no network"),
                _("join the Wi-Fi or plug in the cable; a table on this machine alone works without"),
            )
        ]
    for address in four:
        if address in CARRIER_GRADE_NAT:
            findings.append(
                Finding(
                    "note",
                    "IPv4",
                    _("{address}: shared by your provider with others", address=address),
                    _("friends elsewhere cannot dial it: let one of them host, or meet on a VPN"),
                )
            )
        elif address.is_private:
            findings.append(
                Finding(
                    "ok",
                    "IPv4",
                    _("{address}: friends on the same network can reach it", address=address),
                    _("from elsewhere: forward the port on your router, or meet on a VPN"),
                )
            )
        else:
            findings.append(
                Finding("ok", "IPv4", _("{address}: public, friends anywhere can try it", address=address))
            )
    if not four:
        findings.append(
            Finding(
                "note", "IPv4", _("none"), _("friends need IPv6 to reach you; if they have none, join them")
            )
        )
    public_six = [a for a in six if a.is_global]
    if public_six:
        findings.append(
            Finding("ok", "IPv6", _("{address}: friends with IPv6 can try it", address=public_six[0]))
        )
    else:
        findings.append(
            Finding("ok", "IPv6", _("none that is reachable from elsewhere; not needed on a LAN"))
        )
    return findings


def _tunnels(interfaces: Sequence[str]) -> list[Finding]:
    tunnels = [name for name in interfaces if name.lower().startswith(TUNNEL_PREFIXES)]
    if not tunnels:
        return []
    return [
        Finding(
            "note",
            "VPN",
            _("interfaces {names} look like one", names=", ".join(tunnels)),
            _(
                "friends on your LAN may be cut off: allow local traffic in the VPN, or have all of you join it"
            ),
        )
    ]


def _port(system: System, port: int) -> Finding:
    failure = system.listen("", port)
    subject = _("port {port}", port=port) if port else _("port")
    if failure is None:
        seen = _("free, a table can listen on it") if port else _("a table can listen")
        return Finding("ok", subject, seen)
    if failure == errno.EADDRINUSE:
        return Finding(
            "fault",
            subject,
            _("in use by another program (or another table of yours)"),
            _("choose another with --port, or --port 0 for a free one"),
        )
    return Finding("fault", subject, os.strerror(failure), _("choose a port above 1023"))


def _firewall(system: System, port: int) -> Finding:
    number = str(port) if port else "PORT"
    subject = _("firewall")
    if system.platform == "win32":
        command = f"netsh advfirewall firewall add rule name=p2p-rummy dir=in action=allow protocol=TCP localport={number}"
        return Finding(
            "note",
            subject,
            _("Windows asks at the first table; say yes for private networks"),
            _("or, as administrator: {command}", command=command),
        )
    if system.platform == "darwin":
        return Finding(
            "note",
            subject,
            _("macOS asks at the first table; allow incoming connections for Python"),
            _("later: System Settings, Network, Firewall, Options"),
        )
    for program, command in (
        ("ufw", f"sudo ufw allow {number}/tcp"),
        ("firewall-cmd", f"sudo firewall-cmd --add-port={number}/tcp"),
    ):
        if system.has(program):
            return Finding(
                "note",
                subject,
                _("{program} is installed and may block friends", program=program),
                _("if they cannot join: {command}", command=command),
            )
    return Finding("ok", subject, _("none of the usual ones is installed"))


def _friend(system: System, address: str, port: int, own: Sequence[str]) -> list[Finding]:
    subject = f"{address}:{port}"
    failure = system.connect(address, port)
    if failure is None:
        return [Finding("ok", subject, _("answers"))]
    if failure == errno.ECONNREFUSED:
        return [
            Finding(
                "fault",
                subject,
                _("the machine is there, but nobody listens on that port"),
                _("ask for a fresh ticket: the table may have been closed"),
            )
        ]
    if failure in (errno.ENETUNREACH, errno.EHOSTUNREACH):
        return [
            Finding(
                "fault",
                subject,
                _("no way there from this network"),
                _("are you on the same Wi-Fi or VPN as the host?"),
            )
        ]
    if _same_network(address, own):
        return [
            Finding(
                "fault",
                subject,
                _("on your network, but silent"),
                _(
                    "a firewall there, or the Wi-Fi keeps its guests apart (client isolation): try another Wi-Fi, "
                    "a cable, or a phone's hotspot"
                ),
            )
        ]
    return [
        Finding(
            "fault",
            subject,
            os.strerror(failure),
            _("the host's router must forward the port; or meet on a VPN"),
        )
    ]


def _same_network(address: str, own: Sequence[str]) -> bool:
    """Whether an IPv4 address shares /24 with one of ours: the size of nearly every home network."""
    try:
        there = ipaddress.ip_address(address)
    except ValueError:
        return False
    if there.version != 4:
        return False
    network = ipaddress.ip_network(f"{there}/24", strict=False)
    return any(ipaddress.ip_address(mine.partition("%")[0]) in network for mine in own if ":" not in mine)


# --- the real machine ----------------------------------------------------------------------------------


class ThisMachine:
    """The System that the command uses."""

    platform = sys.platform

    def addresses(self) -> list[str]:
        """Source addresses of the default routes, then whatever the host name stands for."""
        found: list[str] = []
        # Documentation addresses (RFC 5737, RFC 3849): a route is chosen, no packet leaves.
        for family, target in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
            try:
                with socket.socket(family, socket.SOCK_DGRAM) as probe:
                    probe.connect((target, 9))
                    found.append(str(probe.getsockname()[0]))
            except OSError:
                continue
        with contextlib.suppress(OSError):
            found += [str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)]
        return list(dict.fromkeys(found))

    def interfaces(self) -> list[str]:
        try:
            return [name for _index, name in socket.if_nameindex()]
        except (AttributeError, OSError):  # not on every system
            return []

    def listen(self, address: str, port: int) -> int | None:
        try:
            with socket.create_server((address, port)):
                return None
        except OSError as error:
            return error.errno or errno.EIO

    def connect(self, address: str, port: int) -> int | None:
        try:
            with socket.create_connection((address, port), timeout=CONNECT_TIMEOUT_SECONDS):
                return None
        except TimeoutError:
            return errno.ETIMEDOUT
        except socket.gaierror:
            return errno.EHOSTUNREACH
        except OSError as error:
            return error.errno or errno.EIO

    def has(self, program: str) -> bool:
        return shutil.which(program) is not None or Path("/usr/sbin", program).exists()

    def clock_seconds(self) -> float:
        return time.time()

    def sync_write(self, directory: Path) -> int | None:
        path = directory / ".doctor"
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
            try:
                os.write(handle, b"p2p-rummy doctor")
                os.fsync(handle)
            finally:
                os.close(handle)
                path.unlink(missing_ok=True)
        except OSError as error:
            return error.errno or errno.EIO
        return None

    def free_bytes(self, directory: Path) -> int:
        return shutil.disk_usage(directory).free
