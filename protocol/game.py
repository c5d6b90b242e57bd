"""The seam: what the trust layer asks of any game, and what it tells it.

A :class:`Game` is a deterministic state machine over PUBLIC information.  Seats are 0..N-1 clockwise.
Cards are numbers; a *slot* is one hidden (later perhaps opened) card of the current hand.  Slots are
numbered from 0 in each hand: the first :class:`Shuffle` of a hand with n cards makes slots 0..n-1 (slot
k is the k-th card from the top of the shuffled pack), a second shuffle in the same hand (a recycled stock)
of m cards makes slots n..n+m-1.  Old slots are never used again for a second card.

After each event the game names its one next :data:`Need`.  The trust layer (or a simulation, or a
scenario runner with known cards) satisfies it and reports back with :meth:`Game.apply`:

==============  ============================================  ===========================================
need            what the peers do                             event handed to ``apply``
==============  ============================================  ===========================================
Shuffle         fresh keys if ``new_hand``, every seat         ``Shuffled(coin)``
                shuffles in turn
Deal            shares are published                          ``Dealt(faces)`` (faces of slots open to all)
Turn            one signed move by one seat                   ``Moved(seat, text, openings)``
Window          each seat answers once                        ``Moved`` for each seat, in the order of
                                                              ``Window.seats``; absent or unacceptable
                                                              answers arrive as ``pass``
Showdown        owners open the slots listed                  ``Shown(faces)``
Over            nothing: the game has ended                   --
==============  ============================================  ===========================================

Private faces never enter a Game: every peer's copy is identical, byte for byte (:meth:`Game.digest`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

Seat = int
Slot = int
Card = int
Faces = Mapping[Slot, Card]


class Refused(Exception):  # noqa: N818 - the field's word; every subclass says Move or Option
    """A move (or an option set) that the game refuses.  The state is as it was before.

    ``code`` is stable (R250), ``rule`` is the number of the rule it breaks such as ``"R62"`` ("" if the
    text could not be read), ``cards`` the cards concerned as written.
    """

    code: str
    rule: str
    cards: tuple[str, ...]

    def __init__(self, code: str, message: str, *, rule: str = "", cards: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.rule = rule
        self.cards = tuple(cards)


# --- needs ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Shuffle:
    """Shuffle these known cards into hidden slots.  ``new_hand``: fresh keys, slots start again at 0."""

    cards: tuple[Card, ...]
    new_hand: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Deal:
    """Give the face of each slot to its owner; ``None`` as owner opens the slot to all."""

    owners: tuple[tuple[Slot, Seat | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One move by one seat."""

    seat: Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Each of these seats answers once.

    ``seats`` in clockwise order from the seat after ``after``.  ``after`` is the seat whose turn ended; it never answers nor
    rules.  ``sealed``: the answers are committed first and opened together after the countdown (a call window);
    otherwise they are simply signed (forced plays, where seeing another's answer gains nothing).
    Who is absent from a sealed window passes; who is absent from an open one has left the hand (``Dropped``), and
    the others answer again.
    """

    after: Seat
    seats: tuple[Seat, ...]
    sealed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Showdown:
    """The owners open what is listed (a hand's end, a poker showdown).  The unseen stock stays unseen."""

    owners: tuple[tuple[Slot, Seat], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Over:
    """The game has ended.  ``scores`` by seat; ``winners`` has several seats for a partnership or a shared win."""

    scores: tuple[int, ...]
    winners: tuple[Seat, ...]


Need = Shuffle | Deal | Turn | Window | Showdown | Over


# --- events --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Shuffled:
    """``coin``: 32 bytes of joint randomness (of the hand's commit-reveal), for the first dealer and the like."""

    coin: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Dealt:
    """``faces`` has exactly the slots of the Deal whose owner was None."""

    faces: tuple[tuple[Slot, Card], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A move; ``openings`` are the hidden slots that it opened, already verified against the deck."""

    seat: Seat
    text: str
    openings: tuple[tuple[Slot, Card], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """All slots of the Showdown, with faces."""

    faces: tuple[tuple[Slot, Card], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A certified decision: ``seat`` has left the hand.  ``faces``: every hidden slot it held, opened from the backups.

    ``void``: the hand cannot be finished (no backups); nothing of it counts and the next hand begins without the seat.
    May arrive whatever the need is.
    """

    seat: Seat
    faces: tuple[tuple[Slot, Card], ...] = ()
    void: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Voided:
    """The cards of this hand cannot be told (SPEC.md 6.5) and nobody is to blame.

    Nothing of the hand counts, for anybody, and it is dealt again to the same seats.  Arrives where shares or openings were
    awaited: with a Deal or a Showdown as the need.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """``seat`` sits down again, from the next hand on.  Arrives only between hands (need is a new-hand Shuffle)."""

    seat: Seat


Event = Shuffled | Dealt | Moved | Shown | Dropped | Voided | Returned


class Game(Protocol):
    """A deterministic game over public information.  See the module docstring for the cycle."""

    name: ClassVar[str]
    seats: int
    card_count: int
    """Size of the card universe: cards are 0..card_count-1."""

    @property
    def hand(self) -> int:
        """Number of the hand, from 1; from a new-hand Shuffle need on, of the coming one (0: a draw for the deal)."""

    @property
    def need(self) -> Need: ...

    def apply(self, event: Event) -> None:
        """Take one event.  Raises Refused (state unchanged) for a Moved that ``check`` would refuse."""

    def check(self, seat: Seat, text: str, openings: Faces) -> None:
        """Raise Refused if this move is not allowed now with exactly these hidden slots opened."""

    def slots_of(self, seat: Seat, text: str, faces: Faces) -> tuple[Slot, ...]:
        """The hidden slots that this move must open, given the mover's private ``faces``.  Raises Refused."""

    def legal_moves(self, seat: Seat, faces: Faces) -> list[str]:
        """Every move (canonical text) that ``seat`` may make or answer now, knowing its private ``faces``."""

    def hidden(self, seat: Seat) -> tuple[Slot, ...]:
        """The slots that ``seat`` owns and that are not open to all (its hand, or a dead hand it swapped away)."""

    def is_call(self, text: str) -> bool:
        """Whether a window answer claims something (a Rummy! call), i.e. is not a pass."""

    def digest(self) -> bytes:
        """32 bytes that are equal exactly when the public state is."""

    def snapshot(self) -> dict[str, Any]:
        """The public state as plain data (str, int, bool, list, dict): what a spectator may see."""
