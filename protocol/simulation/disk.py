"""A simulated disk: what was synced survives, what was not may be lost, in whole or from some record on."""

from __future__ import annotations

from random import Random


class DiskFull(Exception):  # noqa: N818 - the state of the disk
    """The disk refuses; the peer must sign nothing more until it is started again."""


class SimulatedDisk:
    """The files of one peer.  ``full``: every further write is refused."""

    def __init__(self) -> None:
        self.journal: list[bytes] = []
        self.secrets: dict[int, bytes] = {}
        self.public: list[bytes] = []
        self.full = False
        self._synced = 0

    def append(self, data: bytes, *, sync: bool) -> None:
        if self.full:
            raise DiskFull
        self.journal.append(data)
        if sync:
            self._synced = len(self.journal)

    def store(self, hand: int, data: bytes) -> None:
        if self.full:
            raise DiskFull
        self.secrets[hand] = data

    def wipe(self, hand: int) -> None:
        self.secrets.pop(hand, None)

    def publish(self, data: bytes) -> None:
        self.public.append(data)

    def crash(self, random: Random, *, torn: bool) -> None:
        """Power is cut.  ``torn``: of what was not synced only some beginning is there."""
        if torn:
            kept = random.randint(self._synced, len(self.journal))
            del self.journal[kept:]
        self._synced = len(self.journal)

    def begin(self) -> None:
        """A process starts: the public log is written anew."""
        self.public = []
