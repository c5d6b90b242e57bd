"""The doctor names what keeps friends away, and says what to do about it."""

from __future__ import annotations

import errno
import socket
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from p2p_rummy.doctor import Finding, ThisMachine, examine, report


@dataclass
class Machine:
    """A machine where everything is as a player would wish, but for what a test changes."""

    platform: str = "linux"
    own: list[str] = field(default_factory=lambda: ["192.168.1.20", "2a00:1450:4001::5"])
    names: list[str] = field(default_factory=lambda: ["lo", "wlan0"])
    listen_error: int | None = None
    connect_error: int | None = None
    programs: tuple[str, ...] = ()
    clock: float = 1_800_000_000.0
    write_error: int | None = None
    free: int = 10**10

    def addresses(self) -> list[str]:
        return self.own

    def interfaces(self) -> list[str]:
        return self.names

    def listen(self, address: str, port: int) -> int | None:
        return self.listen_error

    def connect(self, address: str, port: int) -> int | None:
        return self.connect_error

    def has(self, program: str) -> bool:
        return program in self.programs

    def clock_seconds(self) -> float:
        return self.clock

    def sync_write(self, directory: Path) -> int | None:
        return self.write_error

    def free_bytes(self, directory: Path) -> int:
        return self.free


def only(machine: Machine, subject: str, **settings: object) -> Finding:
    found = [f for f in examine(machine, Path("home"), **settings) if f.subject == subject]  # type: ignore[arg-type]
    assert len(found) == 1, found
    return found[0]


def test_a_healthy_machine_has_no_fault():
    assert {finding.level for finding in examine(Machine(), Path("home"))} == {"ok"}


@pytest.mark.parametrize(
    ("machine", "subject", "level", "advice"),
    [
        (Machine(write_error=errno.EROFS), "home", "fault", "--home"),
        (Machine(free=1_000_000), "home", "note", "free some space"),
        (Machine(clock=0.0), "clock", "note", "set it"),
        (Machine(own=["127.0.0.1"]), "addresses", "fault", "Wi-Fi"),
        (Machine(own=["100.70.1.2"]), "IPv4", "note", "let one of them host"),
        (Machine(own=["2a00:1450:4001::5"]), "IPv4", "note", "join them"),
        (Machine(names=["lo", "wlan0", "wg0"]), "VPN", "note", "local traffic"),
        (Machine(listen_error=errno.EACCES), "port", "fault", "above 1023"),
        (Machine(programs=("ufw",)), "firewall", "note", "sudo ufw allow PORT/tcp"),
        (Machine(programs=("firewall-cmd",)), "firewall", "note", "--add-port=PORT/tcp"),
        (Machine(platform="win32"), "firewall", "note", "localport=PORT"),
        (Machine(platform="darwin"), "firewall", "note", "Firewall"),
    ],
)
def test_each_obstacle_is_named_with_what_to_do(machine, subject, level, advice):
    finding = only(machine, subject)
    assert finding.level == level
    assert advice in finding.advice


def test_a_port_in_use_is_named_with_its_number():
    finding = only(Machine(listen_error=errno.EADDRINUSE), "port 4700", port=4700)
    assert finding.level == "fault"
    assert "--port 0" in finding.advice


@pytest.mark.parametrize(
    ("failure", "address", "word"),
    [
        (None, "192.168.1.30", ""),
        (errno.ECONNREFUSED, "192.168.1.30", "fresh ticket"),
        (errno.ENETUNREACH, "192.168.1.30", "same Wi-Fi"),
        (errno.ETIMEDOUT, "192.168.1.30", "client isolation"),
        (errno.ETIMEDOUT, "203.0.113.9", "forward the port"),
        (errno.ETIMEDOUT, "2a00:1450:4001::9", "forward the port"),
    ],
)
def test_a_friend_who_cannot_be_reached_is_explained(failure, address, word):
    finding = only(Machine(connect_error=failure), f"{address}:4700", friends=[(address, 4700)])
    assert finding.level == ("ok" if failure is None else "fault")
    assert word in finding.advice


def test_every_fault_and_note_says_what_to_do_and_every_line_starts_with_a_word():
    lines = report(examine(Machine(own=["127.0.0.1"], names=["tun0"], free=0), Path("home"), port=1))
    heads = [line for line in lines if not line.startswith(" ")]
    assert all(line.split()[0] in {"ok", "note", "fault"} for line in heads)
    assert sum(line.startswith("       -> ") for line in lines) >= sum(not h.startswith("ok") for h in heads)


def test_this_machine_sees_a_taken_port_a_closed_port_and_an_unwritable_home(tmp_path):
    machine = ThisMachine()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert machine.listen("127.0.0.1", port) == errno.EADDRINUSE
        assert machine.connect("127.0.0.1", port) is None
    assert machine.connect("127.0.0.1", port) == errno.ECONNREFUSED
    assert machine.sync_write(tmp_path / "new") is None
    assert list((tmp_path / "new").iterdir()) == []
    (tmp_path / "file").write_text("")
    assert machine.sync_write(tmp_path / "file") is not None
