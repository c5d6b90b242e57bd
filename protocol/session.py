"""One seat's whole machine, sans-IO: what arrives goes in, what is to be done comes out as effects.

This file is being written; the signatures below are what the peer and the faces code against.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from protocol.agreement import Agreement
from protocol.effects import Effect
from protocol.game import Card, Game, Slot
from protocol.identity import Identity


class Session:
    """A seat at a table, from the agreement to the last signature.

    ``make_game`` builds the game that the agreement names; ``entropy(n)`` gives n fresh random bytes.
    ``records`` is the journal and ``secrets`` the stored hand secrets, to resume; both empty for a new table.
    The journal's records come back in order; a torn last one is simply not given.  ``identity`` None: a
    spectator, who holds nothing secret and signs nothing.

    All times are seconds of one monotonic clock, which may start anywhere and be another one after a restart.
    Every input may cause effects; take them with :meth:`take_effects` and carry them out in order.
    """

    def __init__(
        self,
        identity: Identity | None,
        agreement: Agreement,
        make_game: Callable[[Agreement], Game],
        entropy: Callable[[int], bytes],
        records: Iterable[bytes] = (),
        *,
        secrets: Mapping[int, bytes] | None = None,
        now: float,
    ) -> None:
        raise NotImplementedError

    # --- inputs ----------------------------------------------------------------------------------------

    def link_up(self, link: int, peer_key: bytes, now: float) -> None:
        """An authenticated link to ``peer_key``; ``link`` is any number not used before."""
        raise NotImplementedError

    def link_down(self, link: int, now: float) -> None:
        """The link is gone, whoever closed it."""
        raise NotImplementedError

    def received(self, link: int, message: bytes, now: float) -> None:
        """A message from the other end.  Never raises: what is wrong with it becomes an event or a Close."""
        raise NotImplementedError

    def tick(self, now: float) -> None:
        """The time of the last Timer has come (calling it early or late is harmless)."""
        raise NotImplementedError

    def work_done(self, job: int, result: object, now: float) -> None:
        """What the function of ``Work(job)`` returned."""
        raise NotImplementedError

    def move(self, text: str, now: float) -> None:
        """Choose a move (on our turn), an answer (in a window), or in advance the next turn's first move.

        Raises protocol.game.Refused if it is not allowed (nothing is changed then), LocalProtocolError if
        nothing is asked of this seat.  An answer may be changed until it is sealed.
        """
        raise NotImplementedError

    def chat(self, text: str, now: float) -> None:
        """Say a line to the table.  Raises LocalProtocolError if it is too long or too much."""
        raise NotImplementedError

    def react(self, reaction: str, now: float) -> None:
        """Send one of the reactions.  Raises LocalProtocolError as :meth:`chat` does."""
        raise NotImplementedError

    # --- output ----------------------------------------------------------------------------------------

    def take_effects(self) -> list[Effect]:
        """Everything to be done since the last call, in order."""
        raise NotImplementedError

    # --- what a face reads -----------------------------------------------------------------------------

    @property
    def game(self) -> Game:
        """The public state as of the last closed step.  Not to be changed."""
        raise NotImplementedError

    @property
    def faces(self) -> Mapping[Slot, Card]:
        """The faces that this seat knows of its own closed slots."""
        raise NotImplementedError

    @property
    def me(self) -> int | None:
        """This seat, or None for a spectator."""
        raise NotImplementedError

    @property
    def seats(self) -> tuple[int, ...]:
        """The seats that sit in the present hand."""
        raise NotImplementedError

    @property
    def waiting_for(self) -> tuple[int, ...]:
        """The seats that the present step still waits for."""
        raise NotImplementedError

    @property
    def words(self) -> str:
        """The words to read aloud, "" until everybody has signed the agreement."""
        raise NotImplementedError

    @property
    def head(self) -> bytes:
        """The head of the log after the last closed step."""
        raise NotImplementedError

    @property
    def step(self) -> int:
        """The number of the step that is open."""
        raise NotImplementedError

    @property
    def epoch(self) -> int:
        raise NotImplementedError

    @property
    def over(self) -> bool:
        """The last result is signed by everybody who was left; nothing more will be asked."""
        raise NotImplementedError

    def legal_moves(self) -> list[str]:
        """What this seat may do or answer now ([] if nothing is asked of it)."""
        raise NotImplementedError
