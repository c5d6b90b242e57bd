"""What a session tells its owner (a face, a bot, a log line).  Facts, in the order in which they became true.

Events carry numbers and text, never translated sentences: the faces have the catalogues.  ``step`` is the
number of the log's step.  Times are in seconds of the clock that the session is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

Faces = tuple[tuple[int, int], ...]


class Accusation(Enum):
    """Three kinds, kept apart (faults.md)."""

    SUSPECTED = "suspected"
    """Unanswered past its time.  Never proof of anything."""
    EXPOSED = "exposed"
    """Two signed statements that contradict each other: checkable from them alone."""
    ILLEGAL = "illegal"
    """A signed statement that the signed prefix makes illegal."""


# --- the table -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TableAgreed:
    """Everybody signed.  ``words`` may be read aloud and compared."""

    table: bytes
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepClosed:
    """A step of the log is complete here.  ``final``: no decision can change it any more."""

    step: int
    epoch: int
    head: bytes
    final: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """A link to this seat is up (None: a spectator)."""

    seat: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Disconnected:
    """The last link to this seat is gone."""

    seat: int | None


# --- a hand --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class HandBegan:
    """Keys are being made for this hand, by these seats."""

    hand: int
    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShuffleMade:
    """A seat's shuffle has arrived and its proof is being verified (by seat ``me``: being made)."""

    seat: int
    cards: int
    position: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShuffleVerified:
    """A seat's shuffle is proved.  ``milliseconds`` is what checking (or making) it took here."""

    seat: int
    cards: int
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CardsSeen:
    """Faces that this seat has just learnt, of its own slots."""

    faces: Faces


@dataclass(frozen=True, slots=True, kw_only=True)
class CardsDealt:
    """A deal is complete.  ``faces``: what it opened to all."""

    faces: Faces


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBegan:
    """This seat is on turn.  ``deadline``: when it counts as missing."""

    seat: int
    deadline: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveMade:
    """A move is in the log and in the game."""

    seat: int
    text: str
    openings: Faces
    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveRefused:
    """A move that was chosen in advance is not allowed now; nothing was sent."""

    text: str
    code: str
    rule: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowOpened:
    """These seats may answer.  Answers are sealed at ``closes_at``, whoever has chosen or not."""

    after: int
    seats: tuple[int, ...]
    closes_at: float
    sealed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSafe:
    """So many seats hold our sealed answer that no decision can leave it out any more, whoever is arbiter.

    This peer opens it by itself when all have sealed theirs; ``step`` is the one in which it was sealed.
    """

    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerVoid:
    """An answer that counts as a pass: it was not opened, or the game refuses it."""

    seat: int
    text: str
    reason: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruled:
    """The window is closed.  ``answers`` as the game took them; ``winner`` None if all passed."""

    arbiter: int | None
    answers: tuple[tuple[int, str], ...]
    winner: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CardsShown:
    """A showdown: faces that are public now."""

    faces: Faces


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOver:
    """The hand's result is signed.  ``scores``: totals by seat."""

    hand: int
    scores: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HandVoid:
    """A card is none of the pack, and nobody can be blamed: the hand does not count and is dealt again."""

    hand: int
    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GameOver:
    """The last result is signed by everybody who was left."""

    scores: tuple[int, ...]
    winners: tuple[int, ...]
    head: bytes


# --- trouble -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Nothing moves until these seats answer; after ``deadline`` they count as missing (0: never)."""

    seats: tuple[int, ...]
    step: int
    deadline: float


class Pause(Enum):
    """Why a table is suspended."""

    TWO_PLAYERS = "two_players"
    MINORITY = "minority"
    PATIENT = "patient"
    DOUBT = "doubt"
    """This peer's journal may lack what it has signed; it signs nothing until these seats have told (F34)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspended:
    """The time is over but nothing may be decided here.  The table goes on when ``seats`` are back."""

    seats: tuple[int, ...]
    step: int
    why: Pause


@dataclass(frozen=True, slots=True, kw_only=True)
class Abandoned:
    """This seat has recorded that it waited in vain for as long as was agreed.

    It proves no win, and if the others come back the table goes on all the same.  ``data`` is the record as a file
    (:mod:`protocol.abandonment`).
    """

    seat: int
    step: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Continued:
    """What a Waiting or Suspended event said is over."""

    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatAbsent:
    """A certified decision: the seat did not answer in this step.  ``dropped``: it is out of the hand."""

    seat: int
    step: int
    dropped: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatDropped:
    """The seat has left the hand.  ``faces``: what it held.  ``void``: the hand does not count."""

    seat: int
    faces: Faces
    void: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatReturned:
    """The seat sits down again, from this hand on."""

    seat: int
    hand: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochBegan:
    """A certified decision overrode what some had closed.  ``undone`` steps of ours are void."""

    epoch: int
    step: int
    undone: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceFound:
    """A proof against a seat.  ``data`` is the evidence file's bytes (see protocol.evidence)."""

    seat: int
    accusation: Accusation
    reason: str
    message: str
    step: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRefused:
    """A link broke the rules and is closed; the table is not touched."""

    link: int
    seat: int | None
    reason: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SittingOut:
    """This seat cannot take part in the present hand (its secret is lost), and can in the next."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Halted:
    """This peer signs nothing more.  ``reason`` is stable; ``message`` says what to do."""

    reason: str
    message: str


# --- talk ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSaid:
    """A line of chat, signed by the seat.  Not part of the log."""

    seat: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reacted:
    """One of the reactions, signed by the seat.  Not part of the log."""

    seat: int
    reaction: str


Event = (
    TableAgreed
    | StepClosed
    | Connected
    | Disconnected
    | HandBegan
    | ShuffleMade
    | ShuffleVerified
    | CardsSeen
    | CardsDealt
    | TurnBegan
    | MoveMade
    | MoveRefused
    | WindowOpened
    | AnswerSafe
    | AnswerVoid
    | Ruled
    | CardsShown
    | HandOver
    | HandVoid
    | GameOver
    | Waiting
    | Suspended
    | Abandoned
    | Continued
    | SeatAbsent
    | SeatDropped
    | SeatReturned
    | EpochBegan
    | EvidenceFound
    | LinkRefused
    | SittingOut
    | Halted
    | ChatSaid
    | Reacted
)
