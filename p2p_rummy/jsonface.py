"""The face for programs: one JSON object a line out, one move a line in.

Every object has a field ``event``.  Seats are numbers from 0 clockwise, cards and moves are the notation's text, times are
seconds from now.

==============  ==========================================================================================
hosted          ticket, addresses, port, fingerprint, home                     the table is open
joined          seat, name, fingerprint, bot, you                              somebody sat down
left            name                                                           somebody got up again
agreement       table, game, options, seats, window_seconds, ...               this is being signed
agreed          table, words                                                   everybody has signed
hand            hand, seats                                                    keys are being made
shuffled        seat, position, of, cards, milliseconds                        a seat's shuffle is proved
dealt           hand, cards, discard, dealer                                   the reader's hand, the first discard
seen            cards                                                          a card drawn by the reader
resumed         hand, phase, cards, scores                                     back at a table in mid-hand
your_turn       phase, legal, cards, seconds                                   a move is expected
move            seat, move, step, opened                                       a move is in the log
window          after, seats, legal, seconds, sealed                           an answer is expected if ``legal`` has any
answer_safe     step                                                           no ruling can omit the reader's answer
ruling          arbiter, answers, winner                                       the window is closed
shown           cards                                                          opened at the end of a hand
hand_over       hand, scores, points                                           totals by seat
game_over       scores, winner, winners, head, log                             the last event
error           code, message, rule, cards, legal                              a line that was refused; write another
error           code, message, fatal (true)                                    the visit ends; stderr says the same
==============  ==========================================================================================

Trouble has events of its own: connected, disconnected, waiting, suspended, continued, absent, dropped, returned,
undone, evidence, refused, halted; chat is ``chat``.  ``winner`` is one seat (null for none), ``winners`` all of them.
A line ``say WORDS`` is chat; every other line is a move.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from p2p_rummy.cards import card_names
from p2p_rummy.seat import Table, answer_by
from p2p_rummy.terminal.typed import Move, understand
from p2p_rummy.view import own_hand
from protocol import events
from protocol.agreement import Agreement, SeatClaim
from protocol.errors import LocalProtocolError
from protocol.game import Refused
from protocol.identity import fingerprint
from protocol.lobby import Proposed, RosterChanged, Started
from protocol.peer import Table as PeerTable

Record = dict[str, Any]
NEVER_SECONDS = 1e9


def json_line(record: Record) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


class JsonFace:
    """One seat's events as records.  ``emit`` takes one record at a time."""

    def __init__(self, table: Table, emit: Callable[[Record], None], now: Callable[[], float]) -> None:
        self.table = table
        self.leaving = False
        self._emit = emit
        self._now = now
        self._positions: dict[int, tuple[int, int]] = {}
        self._told_slots: set[int] = set()
        self._shuffled: set[int] = set()
        self._dealt = False
        self._come_back()

    def _come_back(self) -> None:
        """A table that is resumed in mid-hand."""
        hand = self._hand()
        if hand and all(hand):
            self._dealt = True
            public = self._public()
            self._told_slots = {held["slot"] for held in public["hands"][self.table.me]}
            self._out(
                "resumed", hand=public["hand"], phase=public["phase"], cards=hand, scores=public["scores"]
            )

    def due(self) -> float | None:
        return None

    def clock(self) -> None:
        pass

    # --- what happens ----------------------------------------------------------------------------------

    def event(self, event: events.Event) -> None:
        match event:
            case events.TableAgreed(table=table, words=words):
                self._out("agreed", table=table.hex(), words=words)
            case events.HandBegan(hand=hand, seats=seats):
                self._dealt = False
                self._out("hand", hand=hand, seats=list(seats))
            case events.ShuffleMade(seat=seat, position=position, of=of):
                if position == 0:
                    self._shuffled.clear()
                self._positions[seat] = (position + 1, of)
            case events.ShuffleVerified(seat=seat) if seat not in self._shuffled:
                self._shuffle_verified(event)
            case events.CardsSeen(faces=faces):
                self._seen(faces)
            case events.CardsDealt():
                self._deal()
            case events.TurnBegan(seat=seat, deadline=deadline) if seat == self.table.me:
                self._out("your_turn", phase=self._public()["phase"], legal=self.table.legal_moves(),
                          cards=self._hand(), seconds=self._left(deadline))  # fmt: skip
            case events.MoveMade(seat=seat, text=text, openings=openings, step=step):
                self._out("move", seat=seat, move=text, step=step, opened=_cards(openings))
            case events.MoveRefused(text=text, code=code, rule=rule, message=message):
                self._error(code, message, rule=rule, move=text)
            case events.WindowOpened(after=after, seats=seats, sealed=sealed):
                legal = self.table.legal_moves() if self.table.me in seats else []
                self._out("window", after=after, seats=list(seats), legal=legal, sealed=sealed,
                          seconds=self._left(answer_by(self.table.agreement, event)))  # fmt: skip
            case events.AnswerSafe(step=step):
                self._out("answer_safe", step=step)
            case events.Ruled(arbiter=arbiter, answers=answers, winner=winner):
                self._out(
                    "ruling", arbiter=arbiter, answers=[list(answer) for answer in answers], winner=winner
                )
            case events.AnswerVoid(seat=seat, text=text, reason=reason, rule=rule):
                self._out("void_answer", seat=seat, move=text, reason=reason, rule=rule)
            case events.CardsShown(faces=faces):
                self._out("shown", cards=_cards(faces))
            case events.HandOver(hand=hand, scores=scores) if hand > 0:  # 0 is the draw for the first deal
                points = [row["points"] for row in self._public()["sheet"] if row["hand"] == hand]
                self._out("hand_over", hand=hand, scores=list(scores), points=points[0] if points else None)
            case events.GameOver(scores=scores, winners=winners, head=head):
                self._out("game_over", scores=list(scores), winner=winners[0] if winners else None,
                          winners=list(winners), head=head.hex(), log=str(self.table.log_path))  # fmt: skip
            case _:
                self._trouble(event)

    def _trouble(self, event: events.Event) -> None:
        match event:
            case events.Connected(seat=seat):
                self._out("connected", seat=seat)
            case events.Disconnected(seat=seat):
                self._out("disconnected", seat=seat)
            case events.Waiting(seats=seats, step=step, deadline=deadline):
                self._out("waiting", seats=list(seats), step=step, seconds=self._left(deadline))
            case events.Suspended(seats=seats, step=step, why=why):
                self._out("suspended", seats=list(seats), step=step, why=why.value)
            case events.Abandoned(seat=seat, step=step):
                self._out("abandoned", seat=seat, step=step)
            case events.HandVoid(hand=hand, step=step):
                self._out("hand_void", hand=hand, step=step)
            case events.Continued(step=step):
                self._out("continued", step=step)
            case events.SeatAbsent(seat=seat, step=step, dropped=dropped):
                self._out("absent", seat=seat, step=step, dropped=dropped)
            case events.SeatDropped(seat=seat, faces=faces, void=void):
                self._out("dropped", seat=seat, cards=_cards(faces), void=void)
            case events.SeatReturned(seat=seat, hand=hand):
                self._out("returned", seat=seat, hand=hand)
            case events.EpochBegan(epoch=epoch, step=step, undone=undone):
                self._out("undone", epoch=epoch, step=step, steps=undone)
            case events.EvidenceFound(
                seat=seat, accusation=accusation, reason=reason, message=message, step=step
            ):
                self._out(
                    "evidence", seat=seat, kind=accusation.value, reason=reason, message=message, step=step
                )
            case events.LinkRefused(seat=seat, reason=reason, message=message):
                self._out("refused", seat=seat, reason=reason, message=message)
            case events.Halted(reason=reason, message=message):
                self._out("halted", reason=reason, message=message)
            case events.ChatSaid(seat=seat, text=text):
                self._out("chat", seat=seat, text=text)
            case events.Reacted(seat=seat, reaction=reaction):
                self._out("reaction", seat=seat, reaction=reaction)

    def _shuffle_verified(self, event: events.ShuffleVerified) -> None:
        self._shuffled.add(event.seat)
        position, of = self._positions.get(event.seat, (0, 0))
        milliseconds = round(event.milliseconds, 1)
        self._out(
            "shuffled",
            seat=event.seat,
            position=position,
            of=of,
            cards=event.cards,
            milliseconds=milliseconds,
        )

    def _seen(self, faces: events.Faces) -> None:
        new = tuple((slot, card) for slot, card in faces if slot not in self._told_slots)
        if not self._dealt:
            self._deal()
        elif new:
            self._out("seen", cards=_cards(new))

    def _deal(self) -> None:
        """Told once a hand, when all of it can be read."""
        hand = self._hand()
        if self._dealt or not all(hand) or (not hand and self.table.me is not None):
            return
        self._dealt = True
        public = self._public()
        if self.table.me is not None:
            self._told_slots = {held["slot"] for held in public["hands"][self.table.me]}
        self._out(
            "dealt", hand=public["hand"], dealer=public["dealer"], cards=hand, discard=public["discard"]
        )

    # --- what is written -------------------------------------------------------------------------------

    def typed(self, line: str) -> None:
        """A move; a refused one is answered with ``error`` and what is legal."""
        asked = understand(line)
        if isinstance(asked, Move):
            self._do(lambda: self.table.move(asked.text), asked.text)
        elif asked.word == "say":
            self._do(lambda: self.table.chat(asked.rest), line)
        elif asked.word == "leave":
            self.leaving = True
        elif asked.word != "nothing":
            self._error("unreadable", "not a move in the notation of the rules", move=line)

    def _do(self, act: Callable[[], None], text: str) -> None:
        try:
            act()
        except Refused as error:
            self._error(error.code, str(error), rule=error.rule, cards=error.cards, move=text)
        except LocalProtocolError as error:
            self._error(error.code, str(error), move=text)

    # --- records ---------------------------------------------------------------------------------------

    def _out(self, event: str, **fields: Any) -> None:
        self._emit({"event": event, **fields})

    def _error(
        self, code: str, message: str, *, move: str, rule: str = "", cards: Sequence[str] = ()
    ) -> None:
        self._out("error", code=code, message=message, rule=rule, cards=list(cards), move=move,
                  legal=self.table.legal_moves())  # fmt: skip

    def _left(self, deadline: float) -> float | None:
        """Seconds, or None for a deadline that never comes (two players, a patient table)."""
        left = deadline - self._now()
        return round(max(0.0, left), 3) if deadline and left < NEVER_SECONDS else None

    def _public(self) -> Record:
        return self.table.game.snapshot()

    def _hand(self) -> list[str]:
        if self.table.me is None:
            return []
        return [held["card"] for held in own_hand(self._public(), self.table.me, self.table.faces)]


def _cards(faces: events.Faces) -> list[str]:
    return card_names(card for _slot, card in faces)


# --- before everybody has signed ------------------------------------------------------------------------


class JsonLobby:
    """The lobby as records.  A line ``start`` (host only) plays with those who are here."""

    def __init__(self, table: PeerTable, emit: Callable[[Record], None]) -> None:
        self.leaving = False
        self._table = table
        self._emit = emit
        self._key = table.home.identity.public_key
        self._claims: tuple[SeatClaim, ...] = ()

    def opened(self) -> None:
        self._emit(
            {
                "event": "hosted",
                "ticket": str(self._table.ticket),
                "addresses": [str(address) for address in self._table.addresses],
                "port": self._table.addresses[0].port,
                "fingerprint": fingerprint(self._key),
                "home": str(self._table.home.path),
            }
        )

    def event(self, event: RosterChanged | Proposed | Started) -> None:
        match event:
            case RosterChanged(roster=roster):
                for record in roster_records(self._claims, roster.claims, self._key):
                    self._emit(record)
                self._claims = roster.claims
            case Proposed(agreement=agreement):
                self._emit(agreement_record(agreement))

    def unreachable(self, seat: int, reason: str) -> None:
        self._emit({"event": "unreachable", "seat": seat, "reason": reason})

    def typed(self, line: str) -> None:
        match line.strip().lower():
            case "start":
                try:
                    self._table.close_seats()
                except LocalProtocolError as error:
                    self._refuse(error.code, str(error), line)
            case "leave":
                self.leaving = True
            case "":
                return
            case _:
                self._refuse("not_started", "the game has not begun", line)

    def _refuse(self, code: str, message: str, line: str) -> None:
        self._emit({"event": "error", "code": code, "message": message, "rule": "", "cards": [], "move": line,
                    "legal": []})  # fmt: skip


def roster_records(before: Sequence[SeatClaim], after: Sequence[SeatClaim], own_key: bytes) -> list[Record]:
    """Who came and who went between two looks at the lobby."""
    gone: list[Record] = [{"event": "left", "name": claim.name} for claim in before if claim not in after]
    come: list[Record] = [
        {"event": "joined", "seat": seat, "name": claim.name, "fingerprint": fingerprint(claim.key), "bot": claim.bot,
         "you": claim.key == own_key}
        for seat, claim in enumerate(after)
        if claim not in before
    ]  # fmt: skip
    return gone + come


def agreement_record(agreement: Agreement) -> Record:
    return {
        "event": "agreement",
        "table": agreement.table.hex(),
        "game": agreement.game,
        "rules_version": agreement.rules_version,
        "options": dict(agreement.options),
        "seats": [
            {"name": seat.name, "fingerprint": fingerprint(seat.key), "bot": seat.bot}
            for seat in agreement.seats
        ],
        "window_seconds": agreement.window_ms / 1000,
        "turn_seconds": agreement.turn_ms / 1000,
        "step_seconds": agreement.step_ms / 1000,
        "strict": agreement.strict,
        "patient": agreement.patient,
        "spectators": agreement.spectators,
    }
