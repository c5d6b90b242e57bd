"""A table without a network behind the real page: for the browser tests and for ``scripts/screenshots``.

The engine, the desk, the server and the page are the real ones; only the trust layer's place is taken by
:class:`p2p_rummy.local.LocalTable`, whose packs can be chosen, so that a test knows which cards it will hold.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio

from p2p_rummy.games import make_game
from p2p_rummy.local import LocalTable
from p2p_rummy.seat import Table
from p2p_rummy.web.desk import Desk, PageFace
from p2p_rummy.web.http import Server
from p2p_rummy.web.rules import table_rules
from p2p_rummy.web.site import Site, static_files
from protocol import events
from protocol.agreement import Agreement, claim
from protocol.errors import LocalProtocolError
from protocol.game import Card, Deal, Game, Moved, Over, Refused, Shuffle, Slot, Turn, Window
from protocol.identity import Identity
from protocol.ticket import Address, Ticket

NAMES = ("Mika", "Bo", "Amélie", "Jun-seo", "Tariq", "Yuki", "Noor", "Zoë")
Policy = Callable[[int, list[str]], str]


def cautious(seat: int, legal: list[str]) -> str:
    """Draws, lays what it can, discards its last card; never calls."""
    for verb in ("draw", "meld", "lay", "pass"):
        for text in legal:
            if text.split(" ")[0] == verb:
                return text
    return legal[-1]


def drawing_only(seat: int, legal: list[str]) -> str:
    """Draws and discards and nothing else."""
    for verb in ("draw", "pass", "discard"):
        for text in legal:
            if text.split(" ")[0] == verb:
                return text
    return legal[0]


def coin_for(*, dealer: int, seats: int) -> bytes:
    """A first shuffle's coin that makes this seat the dealer (the seat after it plays first)."""
    assert 0 <= dealer < seats
    return dealer.to_bytes(32, "big")


class Place:
    """One person's seat: what :class:`p2p_rummy.seat.Table` asks for."""

    words = "harbour candle orbit meadow"
    log_path = Path("/nowhere/table.log")
    ticket = Ticket(table=bytes(10), fingerprint=bytes(16), addresses=(Address(host="192.0.2.7", port=4000),))

    def __init__(self, rehearsal: Rehearsal, seat: int | None) -> None:
        self._rehearsal = rehearsal
        self.me = seat
        self.chosen: str | None = None
        self.ahead: str | None = None

    @property
    def agreement(self) -> Agreement:
        return self._rehearsal.agreement

    @property
    def game(self) -> Game:
        return self._rehearsal.local.game

    @property
    def faces(self) -> Mapping[Slot, Card]:
        return {} if self.me is None else self._rehearsal.local.faces[self.me]

    @property
    def waiting_for(self) -> Sequence[int]:
        return self._rehearsal.local.to_move()

    @property
    def head(self) -> bytes:
        return self.game.digest()

    @property
    def step(self) -> int:
        return self._rehearsal.step

    def legal_moves(self) -> list[str]:
        return [] if self.me is None else self._rehearsal.local.legal(self.me)

    def move(self, text: str) -> None:
        if self.me is None or self.me not in self.waiting_for:
            raise LocalProtocolError("nothing is asked of this seat now")
        try:
            slots = self.game.slots_of(self.me, text, self.faces)
            self.game.check(self.me, text, {slot: self.faces[slot] for slot in slots})
        except Refused as no:
            if no.code != "wrong_phase" or not isinstance(self.game.need, Window):
                raise
            self.ahead = text  # as protocol.voice does it: no answer, so it is for this seat's next turn
            return
        self.chosen = text
        self._rehearsal.stir()

    def chat(self, text: str) -> None:
        assert self.me is not None
        self._rehearsal.tell(events.ChatSaid(seat=self.me, text=text))

    def react(self, reaction: str) -> None:
        assert self.me is not None
        self._rehearsal.tell(events.Reacted(seat=self.me, reaction=reaction))


class Rehearsal:
    """A game with persons at ``humans`` and ``policy`` at the other seats.

    ``packs``: for each coming shuffle the cards from the top, see :func:`stacked`.  A window is open for
    ``window_seconds`` or, if ``prompt``, until every person has answered.
    """

    def __init__(
        self,
        game: str = "rum500",
        seats: int = 3,
        *,
        options: Mapping[str, str] | None = None,
        humans: Sequence[int] = (0,),
        packs: Sequence[Sequence[Card]] = (),
        coins: Sequence[bytes] = (),
        policy: Policy = cautious,
        seed: int = 1,
        window_seconds: float = 60.0,
        prompt: bool = True,
        bot_seconds: float = 0.0,
        shuffle_seconds: float = 0.0,
    ) -> None:
        self.local = LocalTable(
            make_game(game, options or {}, seats), rng=random.Random(seed), packs=packs, coins=coins
        )
        self.agreement = Agreement(
            game=game,
            rules_version=1,
            options=tuple(sorted((options or {}).items())),
            seats=tuple(
                claim(
                    Identity(bytes([seat + 1]) * 32),
                    NAMES[seat],
                    bytes([seat]) * 32,
                    bot="" if seat in humans else "steady",
                )
                for seat in range(seats)
            ),
        )
        self.places: dict[int, Place] = {seat: Place(self, seat) for seat in humans}
        self.faces: list[PageFace] = []
        self.step = 0
        self.policy = policy
        self.window_seconds = window_seconds
        self.prompt = prompt
        self.bot_seconds = bot_seconds
        self.shuffle_seconds = shuffle_seconds
        self._stir = trio.Event()
        self._hand = 0

    def spectator(self) -> Place:
        return Place(self, None)

    def stir(self) -> None:
        self._stir.set()

    def tell(self, event: events.Event) -> None:
        for face in self.faces:
            face.event(event)

    async def run(self) -> None:
        """The whole game."""
        self.tell(events.TableAgreed(table=self.agreement.table, words=Place.words))
        while not isinstance(need := self.local.game.need, Over):
            if isinstance(need, Turn):
                await self._turn(need.seat)
            elif isinstance(need, Window):
                await self._window(need)
            elif isinstance(need, Shuffle):
                await self._shuffle(need)
            elif isinstance(need, Deal):
                before = [set(own) for own in self.local.faces]
                self.local.deal(need)
                public = tuple(
                    (slot, self.local.secret[slot]) for slot, owner in need.owners if owner is None
                )
                if len(need.owners) > 1 or public:
                    self.tell(events.CardsDealt(faces=public))
                del before
            else:
                self.local.show(need)
                shown = tuple((slot, self.local.secret[slot]) for slot, _ in need.owners)
                self.tell(events.CardsShown(faces=shown))
        self._end_hand()
        self.tell(events.GameOver(scores=need.scores, winners=need.winners, head=bytes(32)))

    async def _shuffle(self, need: Shuffle) -> None:
        game = self.local.game
        if need.new_hand:
            self._end_hand()
            self._hand = game.hand + 1
            self.tell(events.HandBegan(hand=self._hand, seats=tuple(range(game.seats))))
        for position in range(game.seats):
            cards = len(need.cards)
            self.tell(events.ShuffleMade(seat=position, cards=cards, position=position, of=game.seats))
            await trio.sleep(self.shuffle_seconds)
            self.tell(events.ShuffleVerified(seat=position, cards=cards, milliseconds=22.4))
        self.local.shuffle(need)

    def _end_hand(self) -> None:
        if self._hand:
            self.tell(events.HandOver(hand=self._hand, scores=tuple(self.local.game.snapshot()["scores"])))
            self._hand = 0

    async def _turn(self, seat: int) -> None:
        self.tell(events.TurnBegan(seat=seat, deadline=trio.current_time() + 90))
        place = self.places.get(seat)
        if place is None:
            await trio.sleep(self.bot_seconds)
            text = self.policy(seat, self.local.legal(seat))
        else:
            place.chosen, place.ahead = place.ahead, None
            while place.chosen is None:
                self._stir = trio.Event()
                await self._stir.wait()
            text, place.chosen = place.chosen, None
        openings = self._apply(seat, text)
        self.tell(events.MoveMade(seat=seat, text=text, openings=openings, step=self.step))

    async def _window(self, need: Window) -> None:
        closes_at = trio.current_time() + self.window_seconds
        self.tell(
            events.WindowOpened(after=need.after, seats=need.seats, closes_at=closes_at, sealed=need.sealed)
        )
        asked = [place for seat, place in self.places.items() if seat in need.seats]
        with trio.move_on_at(closes_at if asked else trio.current_time()):
            while not (self.prompt and all(place.chosen is not None for place in asked)):
                self._stir = trio.Event()
                await self._stir.wait()
        answers: list[tuple[int, str]] = []
        for seat in need.seats:
            place = self.places.get(seat)
            text = self.policy(seat, self.local.legal(seat)) if place is None else place.chosen or "pass"
            answers.append((seat, text))
            if place is not None:
                place.chosen = None
        game = self.local.game
        calls = [seat for seat, text in answers if game.is_call(text)]
        for seat, text in answers:
            self._apply(seat, text if not calls or seat == calls[0] else "pass")
        self.tell(events.Ruled(arbiter=None, answers=tuple(answers), winner=calls[0] if calls else None))

    def _apply(self, seat: int, text: str) -> events.Faces:
        own = self.local.faces[seat]
        try:
            slots = self.local.game.slots_of(seat, text, own)
        except Refused:
            text, slots = "pass", ()
        openings = tuple((slot, own[slot]) for slot in slots)
        self.local.game.apply(Moved(seat=seat, text=text, openings=openings))
        self.step += 1
        return openings


def stacked(
    cards: Sequence[Card],
    order: Mapping[int, Sequence[Card]],
    seats: int,
    first: int,
    turned: Card,
    then: Sequence[Card] = (),
) -> list[Card]:
    """A pack that deals ``order[seat]`` to each seat (R11: one at a time from ``first``), turns up ``turned``
    and has ``then`` next in the stock; whatever is not named follows in the order of ``cards``."""
    size = max(len(hand) for hand in order.values())
    named = [card for hand in order.values() for card in hand] + [turned, *then]
    rest = [card for card in cards if card not in named]
    pack: list[Card] = []
    for at in range(size):
        for step in range(seats):
            hand = order.get((first + step) % seats, ())
            pack.append(hand[at] if at < len(hand) else rest.pop())
    return [*pack, turned, *then, *rest]


@asynccontextmanager
async def served(table: Table, desk: Desk | None = None, *, port: int = 0) -> Any:
    """Yields (address to open, desk, face): this table's page on loopback."""
    desk = desk or Desk(rules=table_rules)
    listeners = await trio.open_tcp_listeners(port, host="127.0.0.1")
    real = listeners[0].socket.getsockname()[1]
    site = Site(hosts=frozenset({f"127.0.0.1:{real}"}), files=static_files(), log=lambda: b"log")
    face = desk.sit(table)  # type: ignore[arg-type]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(desk.run)
        nursery.start_soon(trio.serve_listeners, Server(site, desk).serve, listeners)
        yield f"http://127.0.0.1:{real}/enter/{site.key}", desk, face
        nursery.cancel_scope.cancel()
