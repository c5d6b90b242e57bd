"""The desk between the pages and the one table (or the start page) of this peer.

    page --message--> handle() --move text--> Table          events --> PageFace --> view + happenings --> every page

    start --open, join, resume--> seating --everybody signed--> table --leave, over--> start

Any number of pages may be open on one peer: they all show the same seat.  The desk holds no rules: it forwards move
texts and returns the refusal that the table gives.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import trio

from p2p_rummy.arrange import best_groups
from p2p_rummy.cards import card_number
from p2p_rummy.catalogue import speaking
from p2p_rummy.complaint import Complaint
from p2p_rummy.fault_words import error_words, fault_word
from p2p_rummy.refusals import OptionError
from p2p_rummy.seat import Table, pass_if_forced
from p2p_rummy.view import own_hand, table_view
from p2p_rummy.web.facts import Facts, Happening, happening
from p2p_rummy.web.http import Outbox
from p2p_rummy.web.rules import phrases
from protocol.errors import ProtocolError
from protocol.events import Event, WindowOpened
from protocol.game import Refused

MAX_MOVE = 1000
MAX_LINE = 400
PAST = 200
"""Happenings that a page is told when it opens."""
REACTIONS = ("clap", "laugh", "wow", "ouch", "thanks", "hurry")

Message = dict[str, Any]


class TalkingTable(Table, Protocol):
    """A table at which one may also react."""

    def react(self, reaction: str) -> None:
        """Raises LocalProtocolError if it is none of the reactions or too much."""


class House(Protocol):
    """What the start page can ask of this peer.  Methods raise Complaint, Refused or ProtocolError."""

    def start(self) -> Message:
        """``name``, ``fingerprint``, ``games``, ``levels``, ``tables`` on the LAN, ``resumable`` tables."""

    async def open(self, wishes: Message) -> None: ...

    async def join(self, wishes: Message) -> None: ...

    async def resume(self, wishes: Message) -> None: ...

    async def watch(self, wishes: Message) -> None: ...

    async def begin(self) -> None: ...

    async def leave(self) -> None: ...


class Records(Protocol):
    """What can be asked of the log on disk.  Both work in threads and may take their time."""

    async def verify(self, table: Table) -> Message: ...

    async def replay(self, table: Table) -> list[Message]: ...


class PageFace:
    """The pages as a :class:`p2p_rummy.seat.Face`: what happens at the table goes to all of them."""

    def __init__(
        self, desk: Desk, table: TalkingTable, *, ticket: str = "", now: Callable[[], float]
    ) -> None:
        self.leaving = False
        self.table = table
        self.facts = Facts(table.agreement, table.me, ticket=ticket)
        self.facts.words = table.words
        self._desk = desk
        self._now = now
        self.past: deque[Happening] = deque(maxlen=PAST)
        self._fresh: list[Happening] = []

    def event(self, event: Event) -> None:
        told = None if self.facts.repeats(event) else happening(event)
        self.facts.take(event, self._now())
        if isinstance(event, WindowOpened):
            pass_if_forced(self.table, event)
        if told is not None:
            self._fresh.append(told)
        self._desk.changed()

    def typed(self, line: str) -> None:
        """A page is not typed at."""

    def due(self) -> float | None:
        return None

    def clock(self) -> None:
        """The pages count down by themselves."""

    def message(self, happened: list[Happening], *, past: list[Happening] | None = None) -> Message:
        table = self.table
        facts = self.facts.plain(self._now(), step=table.step, head=table.head)
        view = table_view(table.game, table.me, table.faces, facts)
        message: Message = {"type": "table", "view": view, "happened": happened}
        if past is not None:
            message["past"] = past
        return message

    def news(self) -> Message:
        """The table as it is, with what has happened since the last call."""
        fresh, self._fresh = self._fresh, []
        self.past.extend(fresh)
        return self.message(fresh)


class Desk:
    """What a WebSocket talks to; see the module's head."""

    def __init__(
        self,
        house: House | None = None,
        records: Records | None = None,
        rules: Callable[[Table, str], str] | None = None,
        *,
        now: Callable[[], float] = trio.current_time,
    ) -> None:
        self.house = house
        self.records = records
        self.rules = rules
        self.face: PageFace | None = None
        self._now = now
        self._seating: Message | None = None
        self._outboxes: set[Outbox] = set()
        self._changed = trio.Event()
        self._tasks: trio.Nursery | None = None

    # --- what the house says ---

    def seating(self, seating: Message) -> None:
        """Show who sits at a table that is filling (see ``start.js``)."""
        self._seating = seating
        self._send({"type": "seating", "seating": seating})

    def sit(self, table: TalkingTable, *, ticket: str = "") -> PageFace:
        """Show this table from now on.  Feed the face the table's events (:func:`p2p_rummy.seat.play`)."""
        self._seating = None
        self.face = PageFace(self, table, ticket=ticket, now=self._now)
        self.changed()
        return self.face

    def rise(self) -> None:
        """Back to the start page."""
        self.face = self._seating = None
        for outbox in self._outboxes:
            self._greet(outbox)

    def changed(self) -> None:
        self._changed.set()

    def start_changed(self) -> None:
        """The start page's lists are different (a table on the LAN came or went)."""
        if self.face is None and self._seating is None and self.house is not None:
            self._send({"type": "start", "start": self.house.start()})

    async def run(self) -> None:
        """Send every change to every page, and run what takes long.  Until cancelled."""
        async with trio.open_nursery() as nursery:
            self._tasks = nursery
            while True:
                await self._changed.wait()
                self._changed = trio.Event()
                # Events that came together are shown together: the view already holds all of them.
                await trio.lowlevel.checkpoint()
                if self.face is not None:
                    news = (
                        self.face.news()
                    )  # taken even if nobody looks: it is the past for whoever opens next
                    self._send(news)

    def _send(self, message: Message) -> None:
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        for outbox in self._outboxes:
            outbox.put_text(text)

    # --- what the pages say ---

    def attach(self, outbox: Outbox) -> None:
        self._greet(outbox)
        self._outboxes.add(outbox)

    def detach(self, outbox: Outbox) -> None:
        self._outboxes.discard(outbox)

    def _greet(self, outbox: Outbox) -> None:
        if self.face is not None:
            outbox.put(self.face.message([], past=list(self.face.past)))
        elif self._seating is not None:
            outbox.put({"type": "seating", "seating": self._seating})
        elif self.house is not None:
            outbox.put({"type": "start", "start": self.house.start()})

    async def handle(self, message: Message, outbox: Outbox) -> None:
        """Do what a page asks and answer it.  What is refused changes nothing; nothing raises."""
        number = message.get("id")
        if type(number) is not int:
            return
        action = self._ACTIONS.get(message["do"])
        if action is None:
            outbox.put(
                reply(number, refused("unknown_request", "this page is not of this version; reload it"))
            )
        elif message["do"] in ("move", "say", "react", "groups"):
            outbox.put(await self._answer(number, action, message))
        elif self._tasks is not None:
            self._tasks.start_soon(self._answer_later, number, action, message, outbox)

    async def _answer_later(self, number: int, action: Action, message: Message, outbox: Outbox) -> None:
        outbox.put(await self._answer(number, action, message))

    async def _answer(self, number: int, action: Action, message: Message) -> Message:
        with speaking(str(message.get("language", ""))):
            try:
                return reply(number, {"result": await action(self, message)})
            except OptionError as no:
                return reply(number, refused(no.code, error_words(no), no.rule))
            except Refused as no:
                return reply(number, refused(no.code, str(no), no.rule, no.cards))
            except ProtocolError as no:
                return reply(number, refused(fault_word(no), str(no)))
            except (Complaint, BadRequest) as no:
                return reply(number, refused("complaint", str(no)))

    def _table(self) -> TalkingTable:
        if self.face is None:
            raise BadRequest("no table is open")
        return self.face.table

    async def _move(self, message: Message) -> None:
        self._table().move(text_of(message, "text", MAX_MOVE))
        # The reply must not overtake what the move changed.
        await trio.lowlevel.checkpoint()

    async def _say(self, message: Message) -> None:
        self._table().chat(text_of(message, "text", MAX_LINE))

    async def _react(self, message: Message) -> None:
        reaction = text_of(message, "reaction", 20)
        if reaction not in REACTIONS:
            raise BadRequest("no such reaction")
        self._table().react(reaction)

    async def _groups(self, message: Message) -> Message:
        table = self._table()
        own = [] if table.me is None else own_hand(table.game.snapshot(), table.me, table.faces)
        cards = [card_number(item["card"]) for item in own if item["card"]]
        return {"groups": best_groups(table.game, cards)}

    async def _verify(self, message: Message) -> Message:
        if self.records is None:
            raise BadRequest("this table keeps no log")
        return await self.records.verify(self._table())

    async def _replay(self, message: Message) -> Message:
        if self.records is None:
            raise BadRequest("this table keeps no log")
        return {"steps": await self.records.replay(self._table())}

    async def _rules(self, message: Message) -> Message:
        if self.rules is None:
            raise BadRequest("no rules text here")
        return {"text": self.rules(self._table(), text_of(message, "language", 8))}

    async def _phrases(self, message: Message) -> Message:
        return {"phrases": phrases(text_of(message, "language", 8))}

    def _house(self) -> House:
        if self.house is None:
            raise BadRequest("this page belongs to one table")
        return self.house

    async def _open(self, message: Message) -> None:
        await self._house().open(message)

    async def _join(self, message: Message) -> None:
        await self._house().join(message)

    async def _resume(self, message: Message) -> None:
        await self._house().resume(message)

    async def _watch(self, message: Message) -> None:
        await self._house().watch(message)

    async def _begin(self, message: Message) -> None:
        await self._house().begin()

    async def _leave(self, message: Message) -> None:
        await self._house().leave()

    _ACTIONS: dict[str, Action] = {  # noqa: RUF012 - a table of this class's methods, never changed
        "move": _move,
        "say": _say,
        "react": _react,
        "groups": _groups,
        "verify": _verify,
        "replay": _replay,
        "rules": _rules,
        "phrases": _phrases,
        "open": _open,
        "join": _join,
        "resume": _resume,
        "watch": _watch,
        "begin": _begin,
        "leave": _leave,
    }


Action = Callable[["Desk", Message], Awaitable[Message | None]]


class BadRequest(Exception):  # noqa: N818 - what a page asked, not a fault of ours
    """Something that this page cannot ask here and now."""


def reply(number: int, content: Message) -> Message:
    return {"type": "reply", "id": number, **content}


def refused(code: str, message: str, rule: str = "", cards: tuple[str, ...] = ()) -> Message:
    return {"refused": {"code": code, "message": message, "rule": rule, "cards": list(cards)}}


def text_of(message: Message, field: str, limit: int) -> str:
    value = message.get(field)
    if not isinstance(value, str) or len(value) > limit:
        raise BadRequest(f"{field} must be a text of at most {limit} characters")
    return value
