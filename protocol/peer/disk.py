"""What a session asks of the disk, done off the event loop and in an order that is safe.

One batch of effects is written with at most one fsync.  Within a batch all Records may be written before anything is
sent: that only makes more durable than was asked.  But a hand's secret must be on the disk before any record
that was made with it, so a StoreSecret ends the part before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import trio

from protocol.effects import Effect, Publish, Record, StoreSecret, WipeSecret
from protocol.events import Event, EvidenceFound, GameOver, HandOver
from protocol.journal import Journal, PublicLog, Secrets
from protocol.peer.home import TableHome


@dataclass(slots=True)
class _Part:
    """A run of effects that reach the disk together, then are carried out."""

    secret: StoreSecret | None = None
    records: list[bytes] = field(default_factory=list)
    must_sync: bool = False
    published: list[bytes] = field(default_factory=list)
    wiped: list[int] = field(default_factory=list)
    others: list[Effect] = field(default_factory=list)

    @property
    def touches_disk(self) -> bool:
        return bool(self.secret or self.records or self.published or self.wiped)


def parts_of(effects: Sequence[Effect]) -> Iterator[_Part]:
    """Cut a batch at each StoreSecret."""
    part = _Part()
    for effect in effects:
        if isinstance(effect, StoreSecret):
            yield part
            part = _Part(secret=effect)
        elif isinstance(effect, Record):
            part.records.append(effect.data)
            part.must_sync = part.must_sync or effect.must_sync
        elif isinstance(effect, Publish):
            part.published.append(effect.data)
        elif isinstance(effect, WipeSecret):
            part.wiped.append(effect.hand)
        else:
            part.others.append(effect)
    yield part


class Disk:
    """The files of one table, open.

    ``doubt`` says why the journal may lack own entries that were sent ("" if it cannot): it was damaged, or it is not
    the very file that this home wrote but a copy, which may be an old one (F34).  A journal that is put back from
    a backup is another file to the system, so a mark beside it notes which one it was, and how long at the last
    opening.
    """

    def __init__(self, table: TableHome) -> None:
        """Raises DiskFailed.  ``journal.records`` and ``secrets`` are what a session resumes from."""
        self.table = table
        existed = table.journal_path.exists()
        known = table.load_mark()
        self.journal = Journal.open(table.journal_path)
        self.doubt = self.journal.doubt
        mark = self.journal.mark()
        if known is not None and not self.doubt:
            if not existed:
                self.doubt = "the journal is missing"
            elif known[:2] != mark[:2]:
                self.doubt = "the journal is a copy"
            elif known[2] > mark[2]:
                self.doubt = "the journal is older than this home"
        table.save_mark(mark)
        self._secrets = Secrets(table.path)
        self.secrets = self._secrets.load()
        self._log = PublicLog(table.log_path)

    async def write(self, part: _Part) -> None:
        """Make a part durable.  Raises DiskFailed, and from then on always."""
        if part.touches_disk:
            # Not abandoned when cancelled: a file is never closed under a write.
            await trio.to_thread.run_sync(self._write, part)

    async def note(self, event: Event) -> None:
        """Keep what an event asks to be kept, before it is told.  Raises DiskFailed.

        At the end of a hand the public log is made durable, at the end of the game the table is marked as over;
        evidence becomes a file of its own.
        """
        if isinstance(event, HandOver | GameOver | EvidenceFound):
            await trio.to_thread.run_sync(self._note, event)

    def close(self) -> None:
        self.journal.close()
        self._log.close()

    def _write(self, part: _Part) -> None:
        if part.secret is not None:
            self._secrets.store(part.secret.hand, part.secret.data)
        if part.records:
            self.journal.append(part.records, sync=part.must_sync)
        if part.published:
            self._log.append(part.published)
        for hand in part.wiped:
            self._secrets.wipe(hand)

    def _note(self, event: HandOver | GameOver | EvidenceFound) -> None:
        if isinstance(event, EvidenceFound):
            self.table.save_evidence(event.seat, event.step, event.data)
            return
        self._log.sync()
        if isinstance(event, GameOver):
            self.table.mark_over()
