"""A guest on its way to a seat: reach the host of the ticket, sit down, wait for START.

A link that breaks before START is made again with the same claim, so a guest whose network blinks keeps its place.
Whatever the host refuses is final.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import trio

from protocol import lobby
from protocol.agreement import Agreement, SeatClaim
from protocol.errors import ProtocolError, RemoteProtocolError
from protocol.identity import Identity
from protocol.peer.connection import Connection, LinkLost
from protocol.peer.mesh import call
from protocol.peer.tcp import Network
from protocol.ticket import Address, Ticket
from protocol.wire import Code, Kind, Purpose

PAUSES: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Between attempts to come back; after the last one the lobby counts as gone."""

_FINAL: Final = frozenset(Code) - {Code.BUSY, Code.PROTOCOL}
"""What the host says on purpose.  Anything else, a spoilt frame included, is the network's doing."""


class CannotJoin(ProtocolError):  # noqa: N818 - what the user is told
    """The table of this ticket cannot be joined.  ``reason`` is the host's code or a word of ours."""

    code = "cannot_join"

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(slots=True, kw_only=True)
class Joining:
    """One guest's way in.  ``tell`` gets RosterChanged, Proposed and at last Started.

    ``consent`` raises for an offer that this player will not play, ``rehearse`` for an agreement that cannot be played.
    """

    network: Network
    identity: Identity
    ticket: Ticket
    claim: SeatClaim
    addresses: Sequence[Address]
    listening_port: int
    numbers: Iterator[int]
    tell: Callable[[lobby.Output], None]
    consent: Callable[[lobby.Offer], None]
    rehearse: Callable[[Agreement], object]
    seated: bool = False
    started: bool = False
    connection: Connection | None = None
    _objection: CannotJoin | None = None

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Until START.  ``task_status`` is told when a seat has been taken.  Raises CannotJoin."""
        attempts = iter(PAUSES)
        while not self.started:
            try:
                connection = await call(
                    self.network,
                    self.identity,
                    self.ticket.addresses,
                    table=self.ticket.table,
                    purpose=Purpose.LOBBY,
                    expects=self.ticket.is_for,
                    listening_port=self.listening_port,
                    numbers=self.numbers,
                )
                was_seated = self.seated
                lost = await self._sit(connection, task_status)
                if self.seated and not was_seated:
                    attempts = iter(PAUSES)
            except LinkLost as error:
                lost = error
            if self._objection is not None:
                raise self._objection
            if self.started:
                return
            pause = next(attempts, None)
            # The first attempt fails at once and says why; only who has had a seat tries again.
            if pause is None or not self.seated or lost.reason in _FINAL:
                raise CannotJoin(lost.reason, _told(lost, self.seated))
            await trio.sleep(pause)

    async def _sit(self, connection: Connection, task_status: trio.TaskStatus[None]) -> LinkLost:
        machine = lobby.Guest(self.claim, connection.peer_key, self.addresses)
        self.connection = connection

        def carry_out() -> None:
            for output in machine.take_outputs():
                if isinstance(output, lobby.Tell):
                    connection.send(Kind.LOBBY, output.message)
                    continue
                try:
                    if isinstance(output, lobby.RosterChanged):
                        self.consent(output.roster.offer)
                    elif isinstance(output, lobby.Proposed):
                        self.rehearse(output.agreement)
                except Exception as error:
                    # Whatever the objection is, the seat is given back before anything is accepted.
                    self._leave(connection, Code.DISAGREEMENT, str(error))
                    return
                if isinstance(output, lobby.RosterChanged) and not self.seated:
                    self.seated = True
                    task_status.started()
                elif isinstance(output, lobby.Started):
                    self.started = True
                    connection.close(Code.LEAVING, "the table has started")
                self.tell(output)

        async def deliver(kind: Kind, payload: bytes) -> None:
            try:
                if kind is not Kind.LOBBY:
                    raise RemoteProtocolError("lobby_order", f"{kind.name} is not expected in the lobby")
                machine.received(payload)
            except RemoteProtocolError as error:
                self._leave(connection, Code.DISAGREEMENT, error.message)
                return
            carry_out()

        carry_out()
        try:
            return await connection.run(deliver)
        finally:
            self.connection = None

    def _leave(self, connection: Connection, code: Code, reason: str) -> None:
        self._objection = CannotJoin(code, f"left the table: {reason}")
        connection.close(code, reason)


def _told(lost: LinkLost, seated: bool) -> str:
    if lost.reason == Code.LEAVING:
        return f"the host closed the table before it started ({lost})"
    if lost.reason not in _FINAL:
        return (
            f"the host is gone and the table has not started ({lost}); ask for a new ticket"
            if seated
            else f"the host cannot be reached: {lost}; check the ticket, and that the host's program is running"
        )
    return str(lost)
