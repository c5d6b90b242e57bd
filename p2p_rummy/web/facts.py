"""What a session tells, as the page needs it: happenings in order, and the standing facts beside the game.

A happening is one event of :mod:`protocol.events` as plain data: ``kind`` and its fields, cards by name, no bytes.
:class:`Facts` folds the same events into what a page that opens now must know: who is connected, which clock runs, how
the present shuffle went, what is wrong.  Times go out as milliseconds that are left, so that no two clocks are compared.

    players   [{"name", "fingerprint", "bot", "link": "here" | "away" | "waited" | "absent" | "dropped"}]
    clock     {"seats", "left_ms"} of the present turn, or null
    window    {"after", "left_ms", "limit_ms", "prompt", "safe"} of the open call window, or null
    shuffles  {"hand", "made": [{"seat", "position", "of", "cards", "verified", "ms"}]}
    problem   {"code", "seats", "left_ms", "message"} or null
    table, words, head, step, ticket
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import fields
from enum import Enum
from typing import Any

from p2p_rummy.cards import card_name
from p2p_rummy.seat import answer_by, is_prompt
from p2p_rummy.terminal.text import printable
from protocol import events as ev
from protocol.agreement import Agreement
from protocol.identity import fingerprint

Happening = dict[str, Any]

NEVER_SECONDS = 24 * 3600
"""No clock is shown for a wait that may last longer."""

UNREACHABLE = ("unreachable", "unreachable_at_two")

SHOWN: tuple[type[Any], ...] = (
    ev.Connected,
    ev.Disconnected,
    ev.HandBegan,
    ev.ShuffleMade,
    ev.ShuffleVerified,
    ev.CardsDealt,
    ev.MoveMade,
    ev.MoveRefused,
    ev.WindowOpened,
    ev.AnswerVoid,
    ev.Ruled,
    ev.CardsShown,
    ev.HandOver,
    ev.GameOver,
    ev.Abandoned,
    ev.SeatAbsent,
    ev.SeatDropped,
    ev.SeatReturned,
    ev.EpochBegan,
    ev.EvidenceFound,
    ev.ChatSaid,
    ev.Reacted,
)
"""The events that a page shows or tells as they come; what the others say is in the facts alone."""


def happening(event: ev.Event) -> Happening | None:
    """The event as plain data, None if a page has nothing to tell of it (a seat's own new cards, say, are in its view)."""
    if not isinstance(event, SHOWN):
        return None
    kind = re.sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()
    found: Happening = {"kind": kind}
    for field in fields(event):
        value = getattr(event, field.name)
        if field.name in ("faces", "openings"):
            found["cards"] = [card_name(card) for _, card in value]
        elif isinstance(value, Enum):
            found[field.name] = value.value
        elif isinstance(value, float):
            if field.name == "milliseconds":
                found[field.name] = round(value)
        elif isinstance(value, tuple):
            found[field.name] = [list(item) if isinstance(item, tuple) else item for item in value]
        elif isinstance(value, str):
            found[field.name] = printable(value)
        elif not isinstance(value, bytes):
            found[field.name] = value
    return found


class Facts:
    """One table's standing facts, from the agreement and every event since."""

    def __init__(self, agreement: Agreement, me: int | None, *, ticket: str = "") -> None:
        self.agreement = agreement
        self.me = me
        self.ticket = ticket
        self.table = agreement.table.hex()
        self.words = ""
        # A seat is taken to be there until the session says otherwise: links may be relayed by others.
        self._link = dict.fromkeys(range(len(agreement.seats)), "here")
        self._turn: ev.TurnBegan | None = None
        self._window: ev.WindowOpened | None = None
        self._window_length = 0.0
        self._safe = False
        self._waiting: ev.Waiting | None = None
        self._problem: dict[str, Any] | None = None
        self._hand = 0
        self._shuffles: list[dict[str, Any]] = []

    def take(self, event: ev.Event, now: float) -> None:
        match event:
            case ev.TableAgreed(words=words):
                self.words = words
            case ev.Connected(seat=int() as seat):
                self._link[seat] = "here"
                if self._problem is not None and self._problem["code"] in UNREACHABLE:
                    self._problem = None
            case ev.Disconnected(seat=int() as seat):
                self._link[seat] = "away"
            case ev.HandBegan(hand=hand, seats=seats):
                self._hand = hand
                self._shuffles = []
                if self._problem is not None and self._problem["code"] in ("dropped", "void", "sitting_out"):
                    self._problem = None  # it was about the hand before
                for seat in seats:
                    if self._link[seat] in ("absent", "dropped"):
                        self._link[seat] = "here"
            case ev.ShuffleMade() | ev.ShuffleVerified():
                self._shuffle(event)
            case ev.TurnBegan():
                self._turn, self._window = event, None
            case ev.WindowOpened():
                self._turn, self._window, self._safe = None, event, False
                self._window_length = max(0.0, answer_by(self.agreement, event) - now)
            case ev.AnswerSafe():
                self._safe = True
            case ev.Ruled():
                self._window = None
            case ev.MoveMade():
                self._turn = None
            case ev.HandOver() | ev.GameOver():
                self._turn = self._window = None
            case _:
                self._trouble(event)

    def _shuffle(self, event: ev.ShuffleMade | ev.ShuffleVerified) -> None:
        if isinstance(event, ev.ShuffleMade):
            if len(self._shuffles) >= event.of:  # a second shuffle in the hand: the recycled stock
                self._shuffles = []
            place = len(self._shuffles)
            made = {"seat": event.seat, "position": place, "of": event.of, "cards": event.cards}
            self._shuffles.append({**made, "verified": False, "ms": 0})
            return
        for made in self._shuffles:
            if made["seat"] == event.seat and not made["verified"]:
                made.update(verified=True, ms=round(event.milliseconds))

    def repeats(self, event: ev.Event) -> bool:
        """Whether this only says again what is known: one's own shuffle is made, then checked like any other."""
        return isinstance(event, ev.ShuffleVerified) and any(
            made["seat"] == event.seat and made["verified"] for made in self._shuffles
        )

    def another_key(self, seats: Collection[int]) -> None:
        """Somebody has the name of a friend and another key: to be said until it is read."""
        self._problem = {"code": "another_key", "seats": sorted(seats), "message": ""}

    def unreachable(self, seat: int, reason: str) -> None:
        """This seat cannot be dialled from here; others may still relay it."""
        if self._problem is None:
            code = "unreachable" if len(self.agreement.seats) > 2 else "unreachable_at_two"
            self._problem = {"code": code, "seats": [seat], "message": printable(reason)}

    def note(self, line: str) -> None:
        """A plain sentence about something beside the game, such as a bot that has stopped."""
        self._problem = {"code": "note", "seats": [], "message": printable(line)}

    def _trouble(self, event: ev.Event) -> None:
        match event:
            case ev.Waiting(seats=seats):
                self._waiting = event
                self._mark(seats, "waited")
                self._problem = {"code": "waiting", "seats": list(seats), "message": ""}
            case ev.Suspended(seats=seats, why=why):
                self._waiting = None
                self._mark(seats, "waited")
                two_left = why is ev.Pause.TWO_PLAYERS and len(self.agreement.seats) > 2
                code = "two_left" if two_left else why.value  # two in the hand, more at the table
                self._problem = {"code": f"suspended_{code}", "seats": list(seats), "message": ""}
            case ev.Abandoned(seat=seat):
                self._problem = {"code": "abandoned", "seats": [seat], "message": ""}
            case ev.Continued():
                self._waiting = self._problem = None
                for seat, link in self._link.items():
                    if link == "waited":
                        self._link[seat] = "here"
            case ev.SeatAbsent(seat=seat, dropped=dropped):
                self._waiting = self._problem = None
                self._link[seat] = "dropped" if dropped else "absent"
            case ev.SeatDropped(seat=seat, void=void):
                self._link[seat] = "dropped"
                self._problem = {"code": "void" if void else "dropped", "seats": [seat], "message": ""}
            case ev.SeatReturned(seat=seat):
                self._link[seat] = "here"
                self._problem = None
            case ev.EvidenceFound(seat=seat, accusation=accusation, reason=reason, message=message):
                self._problem = {
                    "code": accusation.value,
                    "seats": [seat],
                    "message": message,
                    "reason": reason,
                }
            case ev.SittingOut(reason=reason, message=message):
                self._problem = {"code": "sitting_out", "seats": [], "message": message, "reason": reason}
            case ev.Halted(reason=reason, message=message):
                self._problem = {"code": "halted", "seats": [], "message": message, "reason": reason}
            case _:
                pass

    def _mark(self, seats: tuple[int, ...], link: str) -> None:
        for seat in seats:
            if seat != self.me and self._link[seat] != "dropped":
                self._link[seat] = link

    def plain(self, now: float, *, step: int, head: bytes) -> dict[str, Any]:
        """The facts as of ``now`` (seconds, on the clock of the events)."""
        return {
            "table": self.table,
            "words": self.words,
            "ticket": self.ticket,
            "step": step,
            "head": head.hex()[:16],
            "players": [
                {
                    "name": printable(claim.name),
                    "fingerprint": fingerprint(claim.key),
                    "bot": claim.bot,
                    "link": self._link[seat],
                }
                for seat, claim in enumerate(self.agreement.seats)
            ],
            "clock": self._clock(now),
            "window": self._window_facts(now),
            "shuffles": {"hand": self._hand, "made": [dict(made) for made in self._shuffles]},
            "problem": self._problem_facts(now),
        }

    def _clock(self, now: float) -> dict[str, Any] | None:
        if self._turn is None:
            return None
        return {"seats": [self._turn.seat], "left_ms": left(self._turn.deadline, now)}

    def _window_facts(self, now: float) -> dict[str, Any] | None:
        if self._window is None:
            return None
        return {
            "after": self._window.after,
            "left_ms": left(answer_by(self.agreement, self._window), now),
            "limit_ms": round(self._window_length * 1000),
            "prompt": is_prompt(self.agreement, self._window),
            "safe": self._safe,
        }

    def _problem_facts(self, now: float) -> dict[str, Any] | None:
        if self._problem is None:
            return None
        deadline = self._waiting.deadline if self._waiting is not None else 0
        return {**self._problem, "left_ms": left(deadline, now)}


def left(deadline: float, now: float) -> int:
    """Milliseconds until ``deadline``; 0 for one that is past, not set, or so far that it means never."""
    return round((deadline - now) * 1000) if 0 < deadline - now < NEVER_SECONDS else 0
