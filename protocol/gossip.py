"""What sessions say to each other over links, and what each link has been told.

Any connected graph will do.  What is new is pushed at once: by its author to every link, by others only to
those that, as far as we know, have no link to the author.  Everything else is repaired by comparing: a HAVE says
where its sender stands, whoever lacks something answers WANT, and gets what it lacks, oldest first, as much as
fits into a message; then it asks again.

===============  ==============================================================================
message          fields after its number
===============  ==============================================================================
0 HAVE           ``[place, links]``: links is a bit for each seat we have a link to
1 WANT           ``[place]``
2 ENTRIES        ``[[content, signature] ...]``; none of them: the answer to a WANT ends here
3 CERTIFICATE    ``[[content, signature] ...]``: votes of a quorum
4 EVIDENCE       ``[[content, signature], [content, signature]]``: two statements that contradict
5 TALK           ``[content, signature]``: chat, not part of the log
===============  ==============================================================================

place = ``[epoch, step, prev, final, ids, votes]``: the open step, the head it stands on, how many steps are final, the
first 8 bytes of the ids held of the open step, and 8 bytes of a hash of the votes held of the steps that are not final.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from typing import Any, Final

from protocol.canonical import Limits, array, decode, encode, integer, octets
from protocol.entry import HEAD_BYTES, MAX_EPOCH, MAX_STEP, Entry, from_value
from protocol.errors import EncodingError

MAX_MESSAGE: Final = 1 << 17
BATCH_BYTES: Final = 48 * 1024
"""Entries are sent in messages of about this size; one entry may be larger."""

BATCH_ENTRIES: Final = 256
STRIKES: Final = 3
"""Bad signatures and the like from one link before it is closed."""

KNOWN: Final = 4096
"""Ids remembered for each link, so that nothing is sent back to where it came from."""

SHORT_ID: Final = 8
_LIMITS: Final = Limits(max_bytes=MAX_MESSAGE, max_depth=4, max_nodes=2048)


class Message(IntEnum):
    HAVE = 0
    WANT = 1
    ENTRIES = 2
    CERTIFICATE = 3
    EVIDENCE = 4
    TALK = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a peer stands."""

    epoch: int
    step: int
    prev: bytes
    final: int
    ids: tuple[bytes, ...]
    votes: bytes

    def value(self) -> list[Any]:
        return [self.epoch, self.step, self.prev, self.final, list(self.ids), self.votes]

    def lacks(self, entry: Entry) -> bool:
        return entry.id[:SHORT_ID] not in self.ids


@dataclass(frozen=True, slots=True, kw_only=True)
class Have:
    place: Place
    links: int

    def seats(self) -> list[int]:
        """The seats that its sender is linked to."""
        return [seat for seat in range(8) if self.links >> seat & 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Want:
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    entries: tuple[Any, ...]
    """``[content, signature]`` each, unread: most are known already and are told by their hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quorum:
    votes: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    first: Entry
    second: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    content: bytes
    signature: bytes


Said = Have | Want | Entries | Quorum | Contradiction | Talk


def write_have(have: Have) -> bytes:
    return encode([Message.HAVE.value, have.place.value(), have.links])


def write_want(place: Place) -> bytes:
    return encode([Message.WANT.value, place.value()])


def write_entries(entries: Sequence[Entry]) -> list[bytes]:
    """One message or more, none much longer than a batch."""
    messages: list[bytes] = []
    batch: list[Any] = []
    size = 0
    for entry in entries:
        if batch and (size + len(entry.content) > BATCH_BYTES or len(batch) == BATCH_ENTRIES):
            messages.append(encode([Message.ENTRIES.value, batch]))
            batch, size = [], 0
        batch.append(entry.value())
        size += len(entry.content) + 80
    if batch:
        messages.append(encode([Message.ENTRIES.value, batch]))
    return messages


def write_end() -> bytes:
    """The end of an answer to WANT."""
    return encode([Message.ENTRIES.value, []])


def write_certificate(votes: Any) -> bytes:
    return encode([Message.CERTIFICATE.value, votes])


def write_contradiction(first: Entry, second: Entry) -> bytes:
    return encode([Message.EVIDENCE.value, first.value(), second.value()])


def write_talk(content: bytes, signature: bytes) -> bytes:
    return encode([Message.TALK.value, content, signature])


def read(data: bytes) -> Said:
    """The message in ``data``.  Raises EncodingError."""
    return _read_short(data) if len(data) <= _SHORT else _read(data)


def _read(data: bytes) -> Said:
    value = array(decode(data, limits=_LIMITS, field="message"), field="message")
    if not value:
        raise EncodingError("a message has a number", field="message")
    number = integer(value[0], field="message[0]")
    match number:
        case Message.HAVE:
            array(value, field="have", length=3)
            return Have(
                place=_place(value[1], "have.place"),
                links=integer(value[2], field="have.links", below=256),
            )
        case Message.WANT:
            array(value, field="want", length=2)
            return Want(place=_place(value[1], "want.place"))
        case Message.ENTRIES:
            array(value, field="entries", length=2)
            return Entries(entries=tuple(array(value[1], field="entries", at_most=BATCH_ENTRIES)))
        case Message.CERTIFICATE:
            array(value, field="certificate", length=2)
            return Quorum(votes=value[1])
        case Message.EVIDENCE:
            array(value, field="evidence", length=3)
            return Contradiction(
                first=from_value(value[1], field="evidence[0]"),
                second=from_value(value[2], field="evidence[1]"),
            )
        case Message.TALK:
            array(value, field="talk", length=3)
            return Talk(
                content=octets(value[1], field="talk.content", at_most=1024),
                signature=octets(value[2], field="talk.signature", length=64),
            )
        case _:
            raise EncodingError(f"unknown message {number}", field="message[0]")


_SHORT: Final = 1024
"""The last messages of so few bytes are kept as read: simulated peers hear the same ones, and neighbours repeat themselves."""

_read_short = lru_cache(maxsize=256)(_read)


def _place(value: object, name: str) -> Place:
    epoch, step, prev, final, ids, votes = array(value, field=name, length=6)
    return Place(
        epoch=integer(epoch, field=f"{name}.epoch", below=MAX_EPOCH),
        step=integer(step, field=f"{name}.step", below=MAX_STEP),
        prev=octets(prev, field=f"{name}.prev", length=HEAD_BYTES),
        final=integer(final, field=f"{name}.final", below=MAX_STEP),
        ids=tuple(
            octets(item, field=f"{name}.ids", length=SHORT_ID)
            for item in array(ids, field=f"{name}.ids", at_most=64)
        ),
        votes=octets(votes, field=f"{name}.votes", length=SHORT_ID),
    )


# --- links ---------------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class Bucket:
    """How often something may be done: ``burst`` at once, ``per_second`` in the long run."""

    per_second: float
    burst: float
    level: float = 0.0
    at: float = 0.0

    def take(self, now: float) -> bool:
        self.level = max(0.0, self.level - max(0.0, now - self.at) * self.per_second)
        self.at = now
        if self.level + 1 > self.burst:
            return False
        self.level += 1
        return True


@dataclass(slots=True, kw_only=True)
class Link:
    """One link.  ``seat`` is None for a spectator; ``have`` what it last said of itself."""

    number: int
    seat: int | None
    have: Have | None = None
    known: dict[bytes, None] = field(default_factory=dict)
    outbox: list[Entry] = field(default_factory=list)
    strikes: int = 0
    shown: int = 0
    """A spectator has been sent the steps below this number."""
    answers: Bucket = field(default_factory=lambda: Bucket(per_second=20.0, burst=40.0))
    asked: float = -1e9
    """When we last said WANT."""

    def knows(self, entry_id: bytes) -> bool:
        return entry_id in self.known

    def offer(self, entry: Entry) -> None:
        """Queue something for the other end, unless it has it or wrote it."""
        if not self.knows(entry.id) and self.seat not in (None, entry.seat):
            self.learn(entry.id)
            self.outbox.append(entry)

    def learn(self, entry_id: bytes) -> None:
        """The other end has this entry."""
        self.known[entry_id] = None
        if len(self.known) > KNOWN:
            del self.known[next(iter(self.known))]


class Links:
    """All links that are up, and what is to be sent over them."""

    def __init__(self) -> None:
        self._links: dict[int, Link] = {}

    def up(self, number: int, seat: int | None) -> Link:
        link = Link(number=number, seat=seat)
        self._links[number] = link
        return link

    def down(self, number: int) -> Link | None:
        return self._links.pop(number, None)

    def get(self, number: int) -> Link | None:
        return self._links.get(number)

    def seated(self) -> Iterable[Link]:
        return [link for link in self._links.values() if link.seat is not None]

    def spectators(self) -> Iterable[Link]:
        return [link for link in self._links.values() if link.seat is None]

    def linked(self, seat: int) -> bool:
        return any(link.seat == seat for link in self._links.values())

    def mask(self) -> int:
        """A bit for each seat that we have a link to."""
        return sum(1 << seat for seat in {link.seat for link in self.seated()} if seat is not None)

    def push(self, entry: Entry, *, source: Link | None) -> None:
        """Queue something new for every link that needs it from us."""
        for link in self.seated():
            told_by_author = (
                source is not None and link.have is not None and link.have.links >> entry.seat & 1
            )
            if link is not source and not told_by_author:
                link.offer(entry)

    def take_messages(self) -> list[tuple[int, bytes]]:
        """What is queued, as messages by link."""
        messages: list[tuple[int, bytes]] = []
        written: dict[tuple[bytes, ...], list[bytes]] = {}  # most links are sent the same
        for link in self._links.values():
            if link.outbox:
                ids = tuple(entry.id for entry in link.outbox)
                if ids not in written:
                    written[ids] = write_entries(link.outbox)
                messages += [(link.number, data) for data in written[ids]]
                link.outbox = []
        return messages
