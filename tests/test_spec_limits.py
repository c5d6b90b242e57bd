"""The table of limits in SPEC.md section 17 has the values of the code, row for row."""

from __future__ import annotations

from pathlib import Path

from protocol import (
    agreement,
    canonical,
    discovery,
    entry,
    evidence,
    gossip,
    journal,
    judge,
    lobby,
    log,
    poll,
    quorum,
    shelf,
    shuffle,
    steps,
    tail,
    talk,
    ticket,
    wire,
)
from protocol.canonical import Limits
from protocol.peer import connection, door, gallery, hosting

SPEC = Path(__file__).parent.parent / "SPEC.md"


def size(count: int) -> str:
    for unit, scale in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count % scale == 0:
            return f"{count // scale} {unit}"
    return f"{count} bytes"


def limits(of: Limits) -> str:
    return f"{size(of.max_bytes)}, {of.max_depth}, {of.max_nodes}"


def power(number: int) -> str:
    assert number & (number - 1) == 0
    return f"2^{number.bit_length() - 1}"


ANSWERS = gossip.Link(number=0, seat=None).answers

# Where the code has a bare number, so has this table: it is then only held against the text.
BOUNDS = {
    "an integer": f"< {power(canonical.INTEGER_LIMIT)}",
    "a value of no stated place: bytes, depth, values": limits(canonical.DEFAULT_LIMITS),
    "agreement: bytes, depth, values": limits(agreement._LIMITS),
    "seats, options, name, option text": (
        f"{agreement.MAX_SEATS}, {agreement.MAX_OPTIONS}, {agreement.MAX_NAME}, {agreement.MAX_OPTION}"
    ),
    "entry content: bytes, depth, values": limits(entry._LIMITS),
    "epoch, step / round": f"< {power(entry.MAX_STEP)} / < {power(entry.MAX_ROUND)}",
    "text of a move, its slots": f"{judge.MAX_TEXT} characters, {judge.MAX_SLOTS}",
    "cards of a deck, number of a card": f"{shuffle.MAX_CARDS}, < {shuffle.MAX_CARDS}",
    "public log record: bytes, depth, values": limits(log.RECORD_LIMITS),
    "file record": size(journal.MAX_RECORD),
    "evidence: bytes, depth, values, certificates": f"{limits(evidence._LIMITS)}, 64",
    "gossip message: bytes, depth, values": limits(gossip._LIMITS),
    "entries in a message, ids in a place": f"{gossip.BATCH_ENTRIES}, 64",
    "entries sent for one WANT": f"about {size(gossip.BATCH_BYTES)}",
    "bad signatures and the like of one link": f"{gossip.STRIKES}",
    "answers to WANT on one link": f"{ANSWERS.per_second:.0f} a second, {ANSWERS.burst:.0f} at once",
    "entries of steps ahead of the open one": (
        f"{shelf.HORIZON} steps, {size(shelf.AHEAD_BYTES)} a seat beyond the next step"
    ),
    "different entries of one seat for one step: on the own prefix, on others": f"{shelf.VERSIONS}, {shelf.VERSIONS}",
    "votes of one seat about one step": f"{shelf.VOTES}",
    "votes of one kind, seat and round": "2",
    f"votes of rounds more than {poll.AHEAD} ahead": "the latest of each seat",
    f"votes of rounds more than {poll.BEHIND} behind, but for PRECOMMIT": "--",
    "certificates of steps not reached yet": f"{steps.PENDING}",
    "final steps whose decisions are still helped": f"{tail.MAX_FINAL}",
    "ids remembered of one link": f"{gossip.KNOWN}",
    "talk: line, reaction, content": f"{talk.MAX_TEXT}, {talk.MAX_REACTION} characters, 1024 bytes",
    "talk of one seat": f"{talk.PER_SECOND:.0f} a second, {talk.BURST:.0f} at once",
    "HELLO: software, table, body": f"{wire.MAX_SOFTWARE}, {wire.MAX_TABLE}, {wire.MAX_HELLO_BODY} bytes",
    "frame before AUTH, after": f"{wire.MAX_HANDSHAKE_FRAME}, {2 + wire.MAX_MESSAGE + 16} bytes",
    "links whose handshake is not finished": (
        f"{door.MAX_STRANGERS}, and {door.MAX_STRANGERS_PER_HOST} of one address"
    ),
    "handshake": f"{connection.HANDSHAKE_SECONDS:.0f} s",
    f"silence on a link (PING every {connection.PING_SECONDS:.0f} s)": f"{connection.SILENCE_SECONDS:.0f} s",
    "bytes that wait for a reader": size(connection.MAX_QUEUE),
    "bytes, frames read from a link": "2 MiB a second (16 MiB at once), 300 a second (2000 at once)",
    "new links of one seat": "1 in 2 s, 8 at once",
    "lobby: links, message, addresses of a seat": (
        f"{hosting.MAX_GUESTS}, {size(lobby.MAX_MESSAGE)}, {lobby.MAX_ADDRESSES}"
    ),
    "spectators of one peer": f"{gallery.MAX_SPECTATORS}",
    "ticket: addresses, text": f"{ticket.MAX_ADDRESSES}, {ticket._MAX_TEXT} characters",
    "beacon, tables remembered": f"{discovery.MAX_DATAGRAM} bytes, {discovery.MAX_SIGHTINGS}",
}


def rows_of(section: str) -> dict[str, list[str]]:
    """The table rows of a section, by their first cell."""
    text = SPEC.read_text("utf-8").split(f"\n## {section}")[1].split("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    return {cells[0]: cells[1:] for cells in rows[2:]}


def test_every_limit_is_that_of_the_code() -> None:
    assert {what: cells[0] for what, cells in rows_of("17.").items()} == BOUNDS


def test_every_limit_says_what_happens_when_it_is_exceeded() -> None:
    assert all(len(cells) == 2 and cells[1] for cells in rows_of("17.").values())


def test_every_kind_of_entry_and_of_frame_has_its_number() -> None:
    kinds = {int(number): cells[0] for number, cells in rows_of("8.").items()}
    assert kinds == {kind.value: kind.name for kind in entry.Kind}
    frames = {number: cells[0] for number, cells in rows_of("13.").items()}
    assert frames == {str(kind.value): kind.name for kind in wire.Kind}


def test_the_quorums_of_section_10_are_those_of_the_code() -> None:
    text = SPEC.read_text("utf-8").split("\n## 10.")[1]
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")][:3]
    table = {cells[0].strip(): [int(cell) for cell in cells[1:]] for cells in lines}
    assert table == {
        "N": list(range(2, 9)),
        "f": [quorum.liars(seats) for seats in range(2, 9)],
        "q": [quorum.quorum(seats) for seats in range(2, 9)],
    }
