"""The peer behind the page: opens, joins and resumes real tables, one at a time, and seats bots at them.

    start --open--> hosting --Started--> playing --leave--> start
    start --join--> seated ---Started--> playing
    start --resume-----------------> playing
    start --watch------------------> watching

Whatever ends a table against the player's will is said on the start page.  The bots are processes of their own with
their own keys (:mod:`p2p_rummy.companions`): the page's player is a peer among peers.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import segno
import trio

from p2p_rummy.agreed import RULES_VERSION, agreed_game
from p2p_rummy.bots import LEVELS
from p2p_rummy.catalogue import _
from p2p_rummy.commands.options import write_default
from p2p_rummy.companions import Companion, companions, newcomers, returners
from p2p_rummy.complaint import Complaint
from p2p_rummy.home import player_name
from p2p_rummy.options import GAMES, Option, options_of, resolve
from p2p_rummy.terminal.text import printable
from p2p_rummy.web.desk import Desk, Message, PageFace
from p2p_rummy.web.records import LogRecords
from p2p_rummy.web.rules import table_rules
from protocol import discovery
from protocol.agreement import SeatClaim
from protocol.errors import LocalProtocolError, ProtocolError
from protocol.events import GameOver, Halted
from protocol.game import Refused
from protocol.identity import fingerprint
from protocol.lobby import Offer, Proposed, RosterChanged, Started
from protocol.peer import (
    Acquaintance,
    Home,
    Table,
    Unreachable,
    host_table,
    join_table,
    resume_table,
    watch_table,
)
from protocol.ticket import parse_ticket

log = logging.getLogger(__name__)

OpenTable = Callable[[], AbstractAsyncContextManager[Table]]
BOT_PAUSE_SECONDS = 0.9
"""How long a bot holds its moves back, so that a person can follow them."""


class PeerHouse:
    """One player's home and what the start page may do in it.  Use :meth:`run` around everything else.

    ``bind`` and ``port``: where tables listen; ``window_seconds``: the countdown of call windows that this player opens.
    """

    def __init__(
        self,
        home: Home,
        *,
        name: str,
        bind: str | None = None,
        port: int = 0,
        window_seconds: float = 8.0,
        turn_seconds: float = 90.0,
        bot_pause_seconds: float = BOT_PAUSE_SECONDS,
        lan: bool = True,
    ) -> None:
        self.home = home
        self.name = name
        self.records = LogRecords()
        self.desk = Desk(house=self, records=self.records, rules=table_rules)
        self._bind = bind
        self._port = port
        self._window_seconds = window_seconds
        self._turn_seconds = turn_seconds
        self._bot_pause = bot_pause_seconds
        self._lan = lan
        self._tasks: trio.Nursery
        self._visit: trio.CancelScope | None = None
        self._table: Table | None = None
        """The table that is filling."""
        self._another_key: frozenset[int] = frozenset()
        """Seats whose names are known with other keys."""
        self._sightings: tuple[discovery.Sighting, ...] = ()
        self._problem = ""

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """The house is open while the block runs."""
        async with trio.open_nursery() as nursery:
            self._tasks = nursery
            nursery.start_soon(self.desk.run)
            if self._lan:
                nursery.start_soon(self._search)
            yield
            nursery.cancel_scope.cancel()

    # --- the start page ----------------------------------------------------------------------------------------

    def start(self) -> Message:
        return {
            "name": self.name,
            "fingerprint": fingerprint(self.home.identity.public_key),
            "games": list(GAMES),
            "levels": list(LEVELS),
            "options": {game: [option_record(option, game) for option in options_of(game)] for game in GAMES},
            "problem": self._problem,
            "tables": [
                {
                    "ticket": str(seen.ticket),
                    "name": seen.beacon.name,
                    "game": seen.beacon.game,
                    "seats": seen.beacon.seats,
                    "free": seen.beacon.free,
                    "fingerprint": seen.beacon.fingerprint.hex()[:16],
                }
                for seen in self._sightings
            ],
            "resumable": [
                {
                    "table": table.name,
                    "game": table.agreement.game,
                    "names": [printable(seat.name) for seat in table.agreement.seats],
                }
                for table in self.home.tables()
                if not table.over
            ][:6],
        }

    async def open(self, wishes: Message) -> None:
        """``name``, ``game``, ``seats``, ``bots``, ``level``, ``options`` (text by name), ``hints``."""
        name = self._named(wishes)
        game, level = text(wishes, "game", GAMES), text(wishes, "level", tuple(LEVELS))
        seats, bots = number(wishes, "seats", 2, 8), number(wishes, "bots", 0, 7)
        if bots >= seats:
            raise Complaint(
                _(
                    "{bots} bots and you do not fit at {seats} seats: choose fewer bots",
                    bots=bots,
                    seats=seats,
                )
            )
        options = named_texts(wishes, "options")
        if wishes.get("hints") is True:
            options["hints"] = "true"
        settings = resolve(game, options, seats)
        offer = Offer(
            game=game,
            rules_version=RULES_VERSION,
            options=tuple(sorted(settings.differences().items())),
            seats=seats,
            window_ms=round(self._window_seconds * 1000),
            turn_ms=round(self._turn_seconds * 1000),
        )

        def company(table: Table) -> Sequence[Companion]:
            ticket = str(table.ticket)
            return newcomers(self.home.path, ticket, bots, level, taken=[name], pause_seconds=self._bot_pause)

        await self._begin(
            lambda: host_table(self.home, offer, agreed_game, name=name, bind=self._bind, port=self._port),
            company,
        )

    async def join(self, wishes: Message) -> None:
        """``ticket`` and, if it is another, ``name``."""
        name = self._named(wishes)
        ticket = parse_ticket(text(wishes, "ticket"))
        await self._begin(
            lambda: join_table(self.home, ticket, agreed_game, name=name, bind=self._bind, port=self._port)
        )

    async def watch(self, wishes: Message) -> None:
        """``ticket``: look on without a seat."""
        ticket = parse_ticket(text(wishes, "ticket"))
        await self._begin(lambda: watch_table(self.home, ticket, agreed_game))

    async def resume(self, wishes: Message) -> None:
        """``table``: the beginning of its id."""
        table = self.home.table(text(wishes, "table") or None)
        await self._begin(
            lambda: resume_table(self.home, table.name, agreed_game, bind=self._bind),
            lambda _table: returners(
                self.home.path, table.name, bind=self._bind, pause_seconds=self._bot_pause
            ),
        )

    async def begin(self) -> None:
        """The host plays with those who are here.  Raises LocalProtocolError where that cannot be."""
        if self._table is None:
            raise Complaint(_("no table is filling"))
        self._table.close_seats()

    async def leave(self) -> None:
        """Get up; the table may be resumed."""
        if self._visit is not None:
            self._visit.cancel()

    def log(self) -> bytes | None:
        """The log of the open table, for the download."""
        return None if self.desk.face is None else self.records.log(self.desk.face.table)

    def _named(self, wishes: Message) -> str:
        if "name" in wishes:
            self.name = player_name(self.home.path, text(wishes, "name"))
        return self.name

    # --- one visit ---------------------------------------------------------------------------------------------

    async def _begin(
        self,
        open_table: OpenTable,
        company: Callable[[Table], Sequence[Companion]] = lambda _table: (),
    ) -> None:
        """Open the table and return once it stands; raises what keeps it from that."""
        if self._visit is not None:
            raise Complaint(_("leave the present table first"))
        self._problem = ""
        await self._tasks.start(self._sit, open_table, company)

    async def _sit(
        self,
        open_table: OpenTable,
        company: Callable[[Table], Sequence[Companion]],
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        stands = False
        with trio.CancelScope() as self._visit:
            try:
                async with open_table() as table:
                    stands = True
                    async with companions(company(table)) as bots, trio.open_nursery() as nursery:
                        nursery.start_soon(self._tell_troubles, bots.troubles)
                        nursery.start_soon(self._announce, table)
                        task_status.started()
                        await self._attend(table)
                        bots.all_over = table.started and table.over
                        await trio.sleep_forever()  # the end stays on the page until the player leaves
            except* (ProtocolError, Refused, Complaint) as group:
                reason = first_of(group)
                if not stands:
                    self._visit = None
                    raise reason from None
                self._problem = str(reason)
            except* OSError as group:
                reason = first_of(group)
                self._visit = None
                if not stands:
                    raise Complaint(str(reason)) from None
                self._problem = str(reason)
        self._visit = None
        self.desk.rise()

    async def _attend(self, table: Table) -> None:
        """Everything that happens at this table, to its end."""
        self._table, self._another_key = table, frozenset()
        if table.started:
            self._play(table)
        elif table.roster is not None:
            self._show_seats(table)
        face = self.desk.face
        async for event in table.events:
            match event:
                case RosterChanged() | Proposed():
                    self._show_seats(table)
                case Started():
                    continue
                case Unreachable(seat=seat, reason=reason):
                    if face is not None:
                        face.facts.unreachable(seat, reason)
                        self.desk.changed()
                case Halted() if not table.started:
                    self._problem = event.message
                    assert self._visit is not None
                    self._visit.cancel()
                case _:
                    face = face or self._play(table)
                    face.event(event)
                    if isinstance(event, GameOver):
                        # Friends may still say goodbye, and whoever was away may still ask for the end.
                        log.info("the game is over; the table stays open until the player leaves it")

    def _play(self, table: Table) -> PageFace:
        self._table = None
        face = self.desk.sit(table, ticket=ticket_of(table))
        if self._another_key:
            face.facts.another_key(self._another_key)
        return face

    def _show_seats(self, table: Table, problem: str = "") -> None:
        roster = table.roster
        if roster is None:
            return
        ticket = ticket_of(table)
        self._another_key = frozenset(
            seat for seat, claim in enumerate(roster.claims) if self._has_another_key(claim)
        )
        self.desk.seating(
            {
                "seats": roster.offer.seats,
                "hosting": table.beacon is not None,
                "players": [
                    {**seat_record(claim), "another_key": seat in self._another_key}
                    for seat, claim in enumerate(roster.claims)
                ],
                "ticket": ticket,
                "qr": qr_rows(ticket) if ticket else [],
                "game": roster.offer.game,
                "options": dict(roster.offer.options),
                "times": {"window": roster.offer.window_ms, "turn": roster.offer.turn_ms},
                "strict": roster.offer.strict,
                "patient": roster.offer.patient,
                "words": "",
                "problem": problem,
            }
        )

    def _has_another_key(self, claim: SeatClaim) -> bool:
        if claim.key == self.home.identity.public_key or claim.bot:
            return False
        return self.home.friends.judge(claim.key, claim.name) is Acquaintance.ANOTHER_KEY

    async def _tell_troubles(self, troubles: trio.MemoryReceiveChannel[str]) -> None:
        async for line in troubles:
            log.warning("%s", line)
            face = self.desk.face
            if face is not None:
                face.facts.note(line)
                self.desk.changed()

    # --- the local network --------------------------------------------------------------------------------------

    async def _search(self) -> None:
        def tell(found: discovery.Found) -> None:
            own = self.home.identity.public_key
            self._sightings = tuple(
                seen for seen in found.tables if seen.beacon.free and not seen.ticket.is_for(own)
            )
            self.desk.start_changed()

        with contextlib.suppress(OSError):  # no network: the page says that nothing is found
            async with discovery.open_air() as air:
                await discovery.search(air, tell)

    async def _announce(self, table: Table) -> None:
        if not self._lan or table.beacon is None:
            return
        with contextlib.suppress(OSError):
            async with discovery.open_air() as air:
                await discovery.announce(air, lambda: table.beacon)


def ticket_of(table: Table) -> str:
    """The ticket to hand on, "" where there is none to give."""
    try:
        return str(table.ticket)
    except LocalProtocolError:
        return ""


def seat_record(claim: SeatClaim) -> Message:
    return {"name": printable(claim.name), "fingerprint": fingerprint(claim.key), "bot": claim.bot}


def option_record(option: Option, game: str) -> Message:
    """One row of the form with which a table's rules are chosen; values as text, as on the command line.

    Its words are English here; a page has them in its language from ``phrases`` (p2p_rummy/web/rules.py).
    """
    values = {"bool": ["true", "false"], "packs": ["auto", "1", "2"]}.get(option.kind, list(option.choices))
    return {
        "name": option.name,
        "value": write_default(option, game),
        "values": values + (["none"] if option.nullable and values else []),
        "meanings": dict(option.choices),
        "allowed": option.allowed(),
        "rule": option.rule,
        "text": option.text,
    }


def qr_rows(ticket: str) -> list[str]:
    """The code's modules, row by row, 1 for a dark one."""
    return [
        "".join("1" if dark else "0" for dark in row)
        for row in segno.make(ticket, error="m", micro=False).matrix
    ]


def first_of(group: BaseExceptionGroup[Any]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def text(wishes: Message, field: str, among: Sequence[str] | None = None) -> str:
    value = wishes.get(field)
    if not isinstance(value, str) or len(value) > 4000 or (among is not None and value not in among):
        raise Complaint(
            f"{field}: choose one of {', '.join(among)}" if among else f"{field}: a text is needed"
        )
    return value


def named_texts(wishes: Message, field: str) -> dict[str, object]:
    """A map of texts; the options themselves are judged where they are read."""
    value = wishes.get(field, {})
    if not isinstance(value, dict) or not all(
        isinstance(item, str) and len(item) <= 200 for item in value.values()
    ):
        raise Complaint(f"{field}: names and texts are needed")
    return dict(value)


def number(wishes: Message, field: str, low: int, high: int) -> int:
    value = wishes.get(field)
    if type(value) is not int or not low <= value <= high:
        raise Complaint(f"{field}: a number from {low} to {high} is needed")
    return value
