"""The records of an abandoned table that lie beside its log, told to people and to programs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from p2p_rummy.agreed import agreed_game
from p2p_rummy.catalogue import _, mark
from p2p_rummy.complaint import Complaint
from p2p_rummy.fault_words import error_words
from p2p_rummy.files_given import read_given
from p2p_rummy.terminal.lobby import duration
from p2p_rummy.terminal.text import printable
from protocol.abandonment import MAX_BYTES, Abandonment, Standing, Witness, read_abandonment
from protocol.agreement import Agreement
from protocol.dealing import RealDecks
from protocol.errors import ProtocolError
from protocol.events import Event
from protocol.game import Refused
from protocol.journal import LogFile
from protocol.log import read_agreement
from protocol.verify import Verification

STANDING: dict[Standing, str] = {
    Standing.OPEN: mark(
        "  recorded as abandoned by {name} (seat {seat}) in step {step}, and nothing has come since; that is {name}'s word "
        "and no win, and if all come back the game goes on"
    ),
    Standing.PAST: mark(
        "  recorded as abandoned by {name} (seat {seat}) in step {step}; the others came back, and the game went on"
    ),
    Standing.AHEAD: mark(
        "  recorded as abandoned by {name} (seat {seat}) in step {step}, which this log does not reach: it is an older copy"
    ),
    Standing.ELSEWHERE: mark(
        "  a record by {name} (seat {seat}) that step {step} was abandoned does not stand on this log and says nothing of it"
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A file that is no record."""

    file: str
    reason: str


class RecordsBeside:
    """What lies beside a log: followed while the log is verified, then told."""

    def __init__(self, log: Path, file: LogFile) -> None:
        self._files: list[str] = []
        self._refused: list[Refusal] = []
        self._verification: Verification | None = None
        agreement = _agreement_of(file)
        records: list[Abandonment] = []
        for path in sorted(log.parent.glob("*.abandoned")):
            try:
                record = read_abandonment(read_given(path, MAX_BYTES))
                if agreement is not None and record.agreement == agreement:
                    records.append(record)
                    self._files.append(path.name)
            except (ProtocolError, Refused, Complaint, OSError) as error:
                self._refused.append(Refusal(file=path.name, reason=error_words(error)))

        self._witness = Witness(records)
        self._standing: list[Standing] = []
        if agreement is not None and records:
            self.look(Verification(agreement, agreed_game, RealDecks(), os.urandom), ())

    def look(self, verification: Verification, happened: Sequence[Event]) -> None:
        """The log after a step (:func:`protocol.verify.verify_log`)."""
        self._verification = verification
        self._witness.look(verification.course)

    def _told(self) -> list[tuple[str, Abandonment, Standing]]:
        """Once the log is verified: the records go on where it ends."""
        if self._verification is not None and not self._standing:
            self._standing = self._witness.follow(self._verification)
        return list(zip(self._files, self._witness.records, self._standing, strict=True))

    def lines(self) -> list[str]:
        """A line a record."""
        lines = [
            _(
                STANDING[standing],
                name=printable(record.name),
                seat=record.entry.seat + 1,
                step=record.entry.step,
            )
            for _file, record, standing in self._told()
        ]
        for refused in self._refused:
            lines.append(
                _(
                    "  {file} is no record of an abandoned table: {reason}",
                    file=refused.file,
                    reason=refused.reason,
                )
            )
        return lines

    def plain(self) -> list[dict[str, Any]]:
        """For programs."""
        good = [
            {"file": file, **abandonment_record(record), "standing": standing.value}
            for file, record, standing in self._told()
        ]
        return [*good, *({"file": one.file, "refused": one.reason} for one in self._refused)]


def _agreement_of(file: LogFile) -> Agreement | None:
    """The agreement of a log; of one that cannot be read, none: verifying it says what is wrong."""
    try:
        return Agreement.decode(read_agreement(file.records[0]))
    except (ProtocolError, IndexError):
        return None


def abandonment_record(record: Abandonment) -> dict[str, Any]:
    """For programs: who signed it, and where it stands.  ``head`` is that of the log before the step."""
    entry = record.entry
    return {
        "seat": entry.seat,
        "name": record.name,
        "table": entry.table.hex(),
        "epoch": entry.epoch,
        "step": entry.step,
        "head": entry.prev.hex(),
        "abandon_seconds": record.agreement.abandon_ms / 1000,
    }


def abandonment_lines(record: Abandonment) -> list[str]:
    """The file alone, explained."""
    entry = record.entry
    name = printable(record.name)
    return [
        _(
            "Recorded: {name} (seat {seat}) signed that table {table} is abandoned in step {step}, on the log with head "
            "{head}.",
            name=name,
            seat=entry.seat + 1,
            step=entry.step,
            table=entry.table.hex()[:16],
            head=entry.prev.hex()[:16],
        ),
        _(
            "{name} waited for the others from the moment that the step began, first for the time that a step has and then "
            "for the {duration} of the agreement. No date is signed: the players' clocks are no part of a game.",
            name=name,
            duration=duration(record.agreement.abandon_ms),
        ),
        _(
            "That is {name}'s word, and no proof that anybody was away. It is no win for anybody, and if all come back the "
            "game goes on. `p2p-rummy verify LOG`, with this file beside the log, says whether the log ends there.",
            name=name,
        ),
        _("The signature was checked with the key of the agreement, which is in the file."),
    ]
