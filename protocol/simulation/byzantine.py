"""Seats that cheat, each in one named way.

A misbehaviour sits at two places: where its seat signs (it may sign something else, or a second thing) and where its messages
leave (it may hold some back, send some late, send rubbish).  Everything else of the seat is the honest program, so it
cheats from within a game that goes on.

====================  ================================================================================  ==========
name                  what the seat does                                                                catalogue
====================  ================================================================================  ==========
equivocate            signs two different moves, and shows them to different seats                      F41
two_answers           signs two different sealed answers                                                F42
double_vote           signs two different prevotes                                                      F43
withhold_one          sends nothing to one seat                                                         F51
withhold_all          sends nothing any more, from some time on                                         F50
bad_shuffle           claims a shuffle that is none                                                     F52
duplicate_card        repeats a card in its shuffle                                                     F52
bad_share             publishes a wrong decryption share                                                F49
bad_backup            deals a wrong backup share                                                        F49
wrong_opening         opens another card than it says                                                   F52
illegal_move          makes a move that the game does not allow                                         F52
out_of_turn           signs a move when it is another's turn                                            F53
false_call            calls what cannot be called                                                       F52
unopened              never opens its sealed answer                                                     F50
censoring_arbiter     rules as if a call had not been made                                              F44
lying_arbiter         names another winner                                                              F44
wrong_result          signs another score                                                               F63
replay                sends old entries and entries of another table                                    F54
garbage               sends bytes that mean nothing                                                     F84
flood                 sends everything many times, and entries of far steps                             F100
late                  sends everything late, now and then too late                                      F91
====================  ================================================================================  ==========
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

from protocol import gossip
from protocol.course import Course
from protocol.entry import Entry, Kind, from_value, sign
from protocol.game import Faces
from protocol.position import Stage
from protocol.session import Session
from protocol.window import commitment

Change = Callable[["Misbehaviour", Course, Kind, Any], tuple[Kind, Any]]


TOO_LATE_SECONDS: Final = 25.0
"""More than any step or turn of a simulated table may take."""


class Misbehaviour:
    """What one seat does wrong, and what it needs for it."""

    def __init__(self, name: str, seat: int, random: Random) -> None:
        if name not in MISBEHAVIOURS:
            raise ValueError(f"unknown misbehaviour {name!r}; there are {', '.join(MISBEHAVIOURS)}")
        self.name = name
        self.seat = seat
        self.random = random
        self.twins: dict[bytes, Entry] = {}
        """A second entry by the id of the first; seats of odd number are shown the second."""
        self.extra: list[Entry] = []
        self.acts = 0
        """How often it did it: entries that are not what an honest program would sign, messages withheld, added or late."""
        self._unopened: set[tuple[int, int]] = set()
        self._sent: list[bytes] = []
        self._victim: int | None = None
        self._silent_from = random.uniform(1.0, 10.0)

    # --- where messages leave --------------------------------------------------------------------------

    def outgoing(self, now: float, target: int, message: bytes) -> list[bytes]:
        """What is sent in place of this message."""
        messages = [self._shown_to(target, message)]
        match self.name:
            case "withhold_one":
                if self._victim is None:
                    self._victim = target
                self.acts += target == self._victim
                return [] if target == self._victim else messages
            case "withhold_all":
                self.acts += now >= self._silent_from
                return [] if now >= self._silent_from else messages
            case "garbage":
                if self.random.random() < 0.05:
                    self.acts += 1
                    messages.append(self.random.randbytes(self.random.randint(1, 200)))
            case "flood":
                self.acts += 1
                messages = messages * 5
            case "replay":
                self.acts += 1
                self._sent = [*self._sent[-50:], message]
                messages.append(self.random.choice(self._sent))
            case _:
                pass
        if self.extra:
            messages += gossip.write_entries(self.extra)
        return messages

    def held_back_seconds(self) -> float:
        """How long a message waits before it leaves; on its link, those after it wait too."""
        if self.name != "late":
            return 0.0
        self.acts += 1
        return TOO_LATE_SECONDS if self.random.random() < 0.02 else self.random.uniform(0.2, 2.0)

    def leave_unopened(self, course: Course) -> None:
        """The program asks again and again what it owes; a step counts once."""
        self._unopened.add((course.epoch, course.step))
        self.acts = len(self._unopened)

    def _shown_to(self, target: int, message: bytes) -> bytes:
        """The message with the second of two entries in place of the first, for every other seat."""
        if not self.twins or target % 2 == 0:
            return message
        said = gossip.read(message)
        if not isinstance(said, gossip.Entries):
            return message
        entries = [from_value(value) for value in said.entries]
        swapped = [self.twins.get(entry.id, entry) for entry in entries]
        return gossip.write_entries(swapped)[0] if swapped != entries else message


def misbehave(misbehaviour: Misbehaviour, session: Session, random: Random) -> None:
    """Make this session's voice lie."""
    voice = session._voice
    if voice is None:
        return
    honest_sign, honest_next, honest_cast = voice.sign, voice.next, voice.cast
    change = CHANGES.get(misbehaviour.name)

    def lying_sign(course: Course, kind: Kind, body: Any) -> Entry:
        if change is not None:
            owed = (kind, body)
            kind, body = change(misbehaviour, course, kind, body)
            misbehaviour.acts += (kind, body) != owed
        misbehaviour.acts += misbehaviour.name == "false_call" and kind is Kind.SEALED
        entry = honest_sign(course, kind, body)
        second = _second(misbehaviour, course, session.faces, kind, body)
        if second is not None:
            misbehaviour.acts += 1
            misbehaviour.twins[entry.id] = _sign(session, course, *second)
        _say_more(misbehaviour, session, course, entry)
        return entry

    def silent_next(course: Course, *more: Any) -> Any:
        answering = course.stage is Stage.ANSWER and course.window is not None and course.window.sealed
        if misbehaviour.name == "unopened" and answering:
            misbehaviour.leave_unopened(course)
            return None
        if misbehaviour.name == "false_call" and course.stage is Stage.SEALED:
            answer = ["no such call", [], [], misbehaviour.random.randbytes(32)]
            sealed = commitment(course.context(), voice.seat, answer)
            voice.own._answers[sealed] = answer
            return Kind.SEALED, sealed
        return honest_next(course, *more)

    def double_cast(cast: Any) -> Entry:
        vote = honest_cast(cast)
        if misbehaviour.name == "double_vote" and vote.kind is Kind.PREVOTE:
            misbehaviour.acts += 1
            closing, _, exposed, _ = vote.body
            other = [[seat, b"" if entry else bytes(32)] for seat, entry in closing]
            misbehaviour.extra.append(
                sign(
                    voice.own.identity,
                    table=vote.table,
                    epoch=vote.epoch,
                    step=vote.step,
                    seat=vote.seat,
                    kind=vote.kind,
                    round=vote.round,
                    body=[other, [], exposed, 0],
                    prev=vote.prev,
                )
            )
        return vote

    def wrote_nothing(entry: Entry) -> bool:
        return False  # so that its own program does not take a lie for good

    lies = {"sign": lying_sign, "next": silent_next, "cast": double_cast, "wrote": wrote_nothing}
    for name, lie in lies.items():
        setattr(voice, name, lie)


def _sign(session: Session, course: Course, kind: Kind, body: Any) -> Entry:
    """A signature that no journal knows of."""
    assert session._voice is not None
    return sign(
        session._voice.own.identity,
        table=course.agreement.table,
        epoch=course.epoch,
        step=course.step,
        seat=session._voice.seat,
        kind=kind,
        body=body,
        prev=course.head,
    )


# --- a second statement --------------------------------------------------------------------------------


def _second(
    misbehaviour: Misbehaviour, course: Course, faces: Faces, kind: Kind, body: Any
) -> tuple[Kind, Any] | None:
    """What the other seats are told instead."""
    if misbehaviour.name == "two_answers" and kind is Kind.SEALED:
        return kind, misbehaviour.random.randbytes(32)
    if misbehaviour.name != "equivocate" or kind is not Kind.MOVE or body[1]:
        return None
    # Another move that opens nothing, if there is one; else the same move in a text that is not legal.
    for text in _other_moves(course, misbehaviour.seat, faces):
        if text != body[0]:
            return kind, [text, [], []]
    return kind, [body[0] + " ", [], []]


def _other_moves(course: Course, seat: int, faces: Faces) -> list[str]:
    """The moves that open nothing."""
    return [
        text for text in course.game.legal_moves(seat, faces) if not course.game.slots_of(seat, text, faces)
    ]


def _say_more(misbehaviour: Misbehaviour, session: Session, course: Course, entry: Entry) -> None:
    """Further entries that nobody asked for."""
    identity = session._voice.own.identity if session._voice is not None else None
    if identity is None:
        return
    match misbehaviour.name:
        case "out_of_turn" if course.stage is Stage.SHARES:
            misbehaviour.acts += 1
            misbehaviour.extra = [_sign(session, course, Kind.MOVE, ["pass", [], []])]
        case "replay":
            misbehaviour.extra = [
                sign(
                    identity,
                    table=bytes(32),
                    epoch=entry.epoch,
                    step=entry.step,
                    seat=entry.seat,
                    kind=entry.kind,
                    body=entry.body,
                    prev=entry.prev,
                )
            ]
        case "flood":
            misbehaviour.extra = [
                sign(
                    identity,
                    table=entry.table,
                    epoch=entry.epoch,
                    step=entry.step + 2 + ahead,
                    seat=entry.seat,
                    kind=Kind.MOVE,
                    body=[f"flood {misbehaviour.random.random()}", [], []],
                    prev=misbehaviour.random.randbytes(32),
                )
                for ahead in range(20)
            ]
        case _:
            pass


# --- something else in place of what is owed -------------------------------------------------------------


def _spoil(value: Any, random: Random) -> Any:
    """The same shape, one byte string of it changed."""
    if isinstance(value, bytes) and value:
        at = random.randrange(len(value))
        return value[:at] + bytes([value[at] ^ 1 << random.randrange(8)]) + value[at + 1 :]
    if isinstance(value, list) and value:
        places = [index for index, item in enumerate(value) if isinstance(item, bytes | list) and item]
        if places:
            at = random.choice(places)
            return [*value[:at], _spoil(value[at], random), *value[at + 1 :]]
    return value


def _change_kind(kind: Kind, change: Callable[[Misbehaviour, Course, Any], Any]) -> Change:
    def apply(misbehaviour: Misbehaviour, course: Course, said: Kind, body: Any) -> tuple[Kind, Any]:
        return said, change(misbehaviour, course, body) if said is kind else body

    return apply


def _spoilt(misbehaviour: Misbehaviour, course: Course, body: Any) -> Any:
    return _spoil(body, misbehaviour.random)


def _repeat_card(misbehaviour: Misbehaviour, course: Course, body: Any) -> Any:
    """The last output card is the first once more."""
    outputs = body[0]
    if isinstance(outputs, bytes):
        size = len(outputs) // len(course.game.need.cards)  # type: ignore[union-attr]
        return [outputs[:-size] + outputs[:size], *body[1:]]
    return [[*outputs[:-1], outputs[0]], *body[1:]]


def _not_a_shuffle(misbehaviour: Misbehaviour, course: Course, body: Any) -> Any:
    outputs = body[0]
    if isinstance(outputs, bytes):
        return _spoil(body, misbehaviour.random)
    return [outputs[:-1], *body[1:]]


def _bad_backup(misbehaviour: Misbehaviour, course: Course, body: Any) -> Any:
    """One sealed share of the REVEAL changed."""
    last = body[-1]
    if course.deck is None or not last or len(course.roster) < 3:
        return body
    if isinstance(last, bytes):
        return [*body[:-1], last[:-1] + bytes([last[-1] ^ 1])]
    return [*body[:-1], [*last[:-1], bytes(32)]]


def _wrong_opening(misbehaviour: Misbehaviour, course: Course, body: Any) -> Any:
    text, slots, opening = body
    return [text, slots, _spoil(opening, misbehaviour.random)] if slots else body


def _illegal_move(misbehaviour: Misbehaviour, course: Course, body: Any) -> Any:
    return ["no such move", [], []]


def _censor(misbehaviour: Misbehaviour, course: Course, body: Any) -> Any:
    listed, winner, digest = body
    return [[[seat, b""] if seat == winner - 1 else [seat, entry] for seat, entry in listed], 0, digest]


def _lie(misbehaviour: Misbehaviour, course: Course, body: Any) -> Any:
    listed, winner, digest = body
    return [listed, listed[-1][0] + 1 if winner != listed[-1][0] + 1 else 0, digest]


def _wrong_result(misbehaviour: Misbehaviour, course: Course, body: Any) -> Any:
    hand, scores, digest, returns = body
    scores = [list(score) for score in scores]
    scores[misbehaviour.seat] = [False, scores[misbehaviour.seat][1] + 100]
    return [hand, scores, digest, returns]


CHANGES: Final[dict[str, Change]] = {
    "bad_shuffle": _change_kind(Kind.SHUFFLE, _not_a_shuffle),
    "duplicate_card": _change_kind(Kind.SHUFFLE, _repeat_card),
    "bad_share": _change_kind(Kind.SHARES, _spoilt),
    "bad_backup": _change_kind(Kind.REVEAL, _bad_backup),
    "wrong_opening": _change_kind(Kind.MOVE, _wrong_opening),
    "illegal_move": _change_kind(Kind.MOVE, _illegal_move),
    "censoring_arbiter": _change_kind(Kind.RULING, _censor),
    "lying_arbiter": _change_kind(Kind.RULING, _lie),
    "wrong_result": _change_kind(Kind.RESULT, _wrong_result),
}

MISBEHAVIOURS: Final = (
    "equivocate",
    "two_answers",
    "double_vote",
    "withhold_one",
    "withhold_all",
    "bad_shuffle",
    "duplicate_card",
    "bad_share",
    "bad_backup",
    "wrong_opening",
    "illegal_move",
    "out_of_turn",
    "false_call",
    "unopened",
    "censoring_arbiter",
    "lying_arbiter",
    "wrong_result",
    "replay",
    "garbage",
    "flood",
    "late",
)
