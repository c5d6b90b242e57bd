"""The closed steps of a log, in little memory: the late ones as they are, the old ones as their records.

A game of a hundred hands has tens of thousands of entries.  Read, each takes several times its bytes, and nobody asks for
those of long ago but a neighbour that was away and, once, a piece of evidence.  So steps that are final and lie a while
back are kept as the bytes of their public record, and read again when they are asked for.  What is read again equals
what was put away: a record holds every content and signature, and the heads are kept beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, overload

from protocol.log import ClosedStep, read_step

NEAR: Final = 256
"""Final steps that are kept as they are: whoever is a little behind is served from these."""


class Archive(Sequence[ClosedStep]):
    """Closed steps by number.  They are added at the end, and taken away from there as long as they are not final."""

    def __init__(self) -> None:
        self._old: list[tuple[bytes, bytes]] = []
        """The record and the head after it, of the steps from 0 on."""
        self._late: list[ClosedStep] = []
        self._first = b""
        """The head before step 0."""

    def __len__(self) -> int:
        return len(self._old) + len(self._late)

    @overload
    def __getitem__(self, step: int) -> ClosedStep: ...
    @overload
    def __getitem__(self, step: slice) -> list[ClosedStep]: ...
    def __getitem__(self, step: int | slice) -> ClosedStep | list[ClosedStep]:
        if isinstance(step, slice):
            return [self[number] for number in range(*step.indices(len(self)))]
        number = step + len(self) if step < 0 else step
        if not 0 <= number < len(self):
            raise IndexError(f"step {step} is not closed; {len(self)} steps are")
        late = number - len(self._old)
        return self._late[late] if late >= 0 else self._read(number)

    def append(self, closed: ClosedStep) -> None:
        """The next step is closed."""
        if not len(self):
            self._first = closed.prev
        self._late.append(closed)

    def cut(self, step: int) -> None:
        """Steps from this one on are open again.  Those that were put away cannot be."""
        assert step >= len(self._old), "a final step is not opened again"
        del self._late[step - len(self._old) :]

    def put_away(self, final: int) -> None:
        """Steps below ``final`` are final: keep but the last of them as they are."""
        count = final - NEAR - len(self._old)
        if count <= 0:
            return
        self._old += [(closed.encode(), closed.head) for closed in self._late[:count]]
        del self._late[:count]

    def _read(self, step: int) -> ClosedStep:
        record, head = self._old[step]
        given = read_step(record, number=step + 1)
        return ClosedStep(
            epoch=given.epoch,
            step=given.step,
            prev=self._old[step - 1][1] if step else self._first,
            head=head,
            contributions=given.contributions,
        )
