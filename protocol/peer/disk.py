"""What a session asks of the disk, done off the event loop and in an order that is safe.

One batch of effects is written with at most one fsync.  Within a batch all Records may be written before anything is
sent: that only makes more durable than was asked.  But a hand's secret must be on the disk before any record
that was made with it, so a StoreSecret ends the part before it.

What need not be on the disk before something is sent (what others signed, and the public log) waits for the next
thing that must, for :data:`LATER_BYTES`, or for :data:`LATER_SECONDS`: then one visit to the disk does for many steps.  A
crash loses at most that, and the others have it.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import trio

from protocol.effects import Effect, Publish, Record, StoreSecret, WipeSecret
from protocol.events import Abandoned, Event, EvidenceFound, GameOver, HandOver
from protocol.journal import DiskFailed, Journal, PublicLog, Secrets
from protocol.peer.home import TableHome
from protocol.records import write_doubt

LATER_SECONDS: Final = 0.5
LATER_BYTES: Final = 1 << 17


@dataclass(slots=True)
class _Part:
    """A run of effects that reach the disk together, then are carried out."""

    secret: StoreSecret | None = None
    records: list[bytes] = field(default_factory=list)
    must_sync: bool = False
    published: list[bytes] = field(default_factory=list)
    wiped: list[int] = field(default_factory=list)
    others: list[Effect] = field(default_factory=list)


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
    opening.  The journal itself says so from then on, until the session has heard all others.
    """

    def __init__(self, table: TableHome) -> None:
        """Raises DiskFailed.  ``journal.records`` and ``secrets`` are what a session resumes from."""
        self.table = table
        existed = table.journal_path.exists()
        known = table.load_mark()
        doubtful = write_doubt(True)
        self.journal = Journal.open(table.journal_path, scar=doubtful)
        self.doubt = self.journal.doubt
        mark = self.journal.mark()
        if known is not None and not self.doubt:
            if not existed:
                self.doubt = "the journal is missing"
            elif known[:2] != mark[:2]:
                self.doubt = "the journal is a copy"
            elif known[2] > mark[2]:
                self.doubt = "the journal is older than this home"
            if self.doubt:
                self.journal.append([doubtful], sync=True)
                self.journal.records = (*self.journal.records, doubtful)
                mark = self.journal.mark()
        table.save_mark(mark)
        self._secrets = Secrets(table.path)
        self.secrets = self._secrets.load()
        self._log = PublicLog(table.log_path)
        self._records: list[bytes] = []
        self._published: list[bytes] = []
        self._waiting_bytes = 0
        self.flush_at = math.inf
        """When :meth:`flush` is to be called, on trio's clock."""

    async def write(self, part: _Part) -> None:
        """Make a part as durable as it asks.  Raises DiskFailed, and from then on always."""
        if part.secret is not None:
            await self.flush()
            await trio.to_thread.run_sync(self._secrets.store, part.secret.hand, part.secret.data)
        new = part.records + part.published
        if not new and not part.wiped:
            return
        self._records += part.records
        self._published += part.published
        self._waiting_bytes += sum(map(len, new))
        if part.must_sync or part.wiped or self._waiting_bytes > LATER_BYTES:
            await self.flush(sync=part.must_sync)
        elif self.flush_at == math.inf:
            self.flush_at = trio.current_time() + LATER_SECONDS
        for hand in part.wiped:
            await trio.to_thread.run_sync(self._secrets.wipe, hand)

    async def flush(self, *, sync: bool = False) -> None:
        """Write what waits, and wait for the disk with ``sync``.  Raises DiskFailed."""
        if self._records or self._published:
            # Not abandoned when cancelled: a file is never closed under a write.
            await trio.to_thread.run_sync(self._flush, sync)

    async def note(self, event: Event) -> None:
        """Keep what an event asks to be kept, before it is told.  Raises DiskFailed.

        At the end of a hand the public log is made durable, at the end of the game the table is marked as over;
        evidence becomes a file of its own, and so does the record of an abandoned table, beside a log that reaches it.
        """
        if isinstance(event, HandOver | GameOver | EvidenceFound | Abandoned):
            await trio.to_thread.run_sync(self._note, event)

    def close(self) -> None:
        """Write what waits, if the disk still takes it, and close the files."""
        with contextlib.suppress(DiskFailed):
            self._flush(False)
        self.journal.close()
        self._log.close()

    def _flush(self, sync: bool) -> None:
        records, self._records = self._records, []
        published, self._published = self._published, []
        self._waiting_bytes = 0
        self.flush_at = math.inf
        if records:
            self.journal.append(records, sync=sync)
        if published:
            self._log.append(published)

    def _note(self, event: HandOver | GameOver | EvidenceFound | Abandoned) -> None:
        if isinstance(event, EvidenceFound):
            self.table.save_evidence(event.seat, event.step, event.data)
            return
        self._flush(False)
        self._log.sync()
        if isinstance(event, Abandoned):
            self.table.save_abandonment(event.seat, event.step, event.data)
        if isinstance(event, GameOver):
            self.table.mark_over()
