"""``--tui``: the table on the whole screen, keyboard only, on urwid's trio event loop.

:class:`FullScreen` is a face like line mode: told what happens and what is pressed, it keeps a :class:`Pointing` and
a log of sentences, and paints from :func:`p2p_rummy.view.table_view` alone.  :func:`run_full_screen` owns the
terminal and gives it back whatever happens.
"""

from __future__ import annotations

import contextlib
import locale
import os
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

import trio
import urwid

from p2p_rummy import narrator
from p2p_rummy.cards import card_name
from p2p_rummy.catalogue import _, current_language, mark, ngettext
from p2p_rummy.lines import lines_of
from p2p_rummy.seat import Table, answer_by, is_answer, pass_if_forced
from p2p_rummy.terminal.choose import choices
from p2p_rummy.terminal.look import Look, look_for
from p2p_rummy.terminal.painting import PALETTE, Pointing, Row, hand_cards, paint
from p2p_rummy.terminal.text import printable
from p2p_rummy.terminal.trouble import trouble_lines
from p2p_rummy.terminal.typed import Move, understand
from p2p_rummy.view import table_view
from protocol import events
from protocol.errors import LocalProtocolError
from protocol.game import Refused, Turn, Window

KEPT_LINES = 200
SHOWN_CLOCK_SECONDS = 3600
"""A longer time limit is none that a player has to watch (with two players there is none at all)."""

SHUFFLED: narrator.Told = (
    mark("{name} has shuffled; the proof holds ({count} ms)."),
    mark("You have shuffled; the proof is made ({count} ms)."),
)


class FullScreen:
    """One seat's full-screen face.  ``now`` is the clock of the events' deadlines."""

    def __init__(self, table: Table, now: Callable[[], float], look: Look | None = None) -> None:
        self.table = table
        self.leaving = False
        self.pointing = Pointing()
        self.log: deque[str] = deque(maxlen=KEPT_LINES)
        self._now = now
        self._look = look or look_for(os.environ, locale.getpreferredencoding(False), current_language())
        self._deadline: float | None = None
        self._links: dict[str, str] = {}
        self._before: dict[str, Any] = table.game.snapshot()
        self._leave_asked = False
        self.changed: Callable[[], None] = lambda: None

    # --- what is shown ---------------------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        return [
            _("You") if number == self.table.me else printable(seat.name)
            for number, seat in enumerate(self.table.agreement.seats)
        ]

    def _row(self, seats: Sequence[int]) -> str:
        return narrator.row_of(seats, self.names, self.table.me)

    def view(self) -> dict[str, Any]:
        return table_view(self.table.game, self.table.me, self.table.faces, {"links": self._links})

    def offers(self, view: Mapping[str, Any]) -> list[str]:
        hand, pile = self._picked(view)
        return choices(view, hand, pile)

    def rows(self, size: tuple[int, int]) -> list[Row]:
        view = self.view()
        self._keep_in_range(view)
        left = None if self._deadline is None else max(0, round(self._deadline - self._now()))
        clock = "" if left is None else f"{left // 60}:{left % 60:02}"
        return paint(
            view,
            self.names,
            self.pointing,
            list(self.log),
            self.offers(view),
            size=size,
            look=self._look,
            clock=clock,
        )

    # --- what happens ----------------------------------------------------------------------------------

    def _drawing(self) -> bool:
        """Whether new cards of ours are a draw: a whole hand that is dealt is seen anyway."""
        public = self.table.game.snapshot()
        return bool(public["phase"] == "play" and public["turn"] == self.table.me)

    def event(self, event: events.Event) -> None:
        match event:
            case events.TableAgreed(words=words):
                self._tell(_("Everybody has signed the agreement."), _("Words: {words}", words=words))
            case events.ShuffleVerified(seat=seat, milliseconds=took):
                count = max(1, round(took))
                self._tell(narrator.of_seat(SHUFFLED, seat, self.names, self.table.me, count=count))
            case events.TurnBegan(seat=seat, deadline=deadline):
                mine = seat == self.table.me and deadline - self._now() < SHOWN_CLOCK_SECONDS
                self._deadline = deadline if mine else None
            case events.WindowOpened(seats=seats):
                asked = self.table.me in seats and not pass_if_forced(self.table, event)
                self._deadline = answer_by(self.table.agreement, event) if asked else None
            case events.CardsSeen(faces=faces) if self._drawing():
                self._tell(_("You draw {cards}.", cards=" ".join(card_name(card) for _slot, card in faces)))
            case events.MoveMade(seat=seat, text=text):
                if seat != self.table.me or text != "draw":  # the card itself is told when it is seen
                    self._told(seat, text)
                self.pointing.picked.clear()
            case events.MoveRefused(code=code, message=message, rule=rule):
                self._alarm(narrator.refusal(code, message, rule, ()))
            case events.Ruled(answers=answers, winner=winner):
                self._deadline = None
                for seat, text in answers:
                    if self.table.game.is_call(text):
                        self._told(seat, text)
                if winner is not None:
                    self.pointing.picked.clear()
            case events.HandOver(hand=hand):
                self._tell(_("Hand {hand} is over.", hand=hand))
                self.pointing.page = "scores"
            case events.GameOver(winners=winners):
                self._tell(_("The game is over; {names} won. q leaves.", names=self._row(winners)))
                self.pointing.page = "scores"
            case events.ChatSaid(seat=seat, text=text):
                self._tell(f"{self.names[seat]}: {printable(text)}")
            case events.Reacted(seat=seat, reaction=reaction):
                self._tell(f"{self.names[seat]} {printable(reaction)}")
            case _:
                self._note_link(event)
                self._tell(*trouble_lines(event, self.names, self._now(), self.table.me))
        if isinstance(event, events.CardsDealt | events.TurnBegan | events.WindowOpened):
            # A step's close is told before its move: what stood before the move is what stood when it was asked for.
            self._before = self.table.game.snapshot()
        self.changed()

    def _note_link(self, event: events.Event) -> None:
        match event:
            case events.Connected(seat=seat) if seat is not None:
                self._links.pop(str(seat), None)
            case events.Disconnected(seat=seat) if seat is not None:
                self._links[str(seat)] = _("reconnecting")
            case _:
                pass

    def _told(self, seat: int, text: str) -> None:
        who = None if seat == self.table.me else self.names[seat]
        self._tell(narrator.told(who, printable(text), self._before))

    def _tell(self, *lines: str) -> None:
        self.log.extend(lines)

    def note(self, lines: Sequence[str]) -> None:
        """Something beside the game, such as a bot that has stopped."""
        self._tell(*(line for line in lines if line))
        self.changed()

    def _alarm(self, message: str) -> None:
        self.pointing.message, self.pointing.message_is_alarm = printable(message), True

    def due(self) -> float | None:
        """Once a second while a clock is shown."""
        return None if self._deadline is None or self._now() >= self._deadline else self._now() + 1

    def clock(self) -> None:
        self.changed()

    # --- what is pressed -------------------------------------------------------------------------------

    def typed(self, line: str) -> None:
        """A whole line, as in line mode (only moves mean something here)."""
        if not line.strip():
            return
        match understand(line):
            case Move(text=text):
                self._send(text)
            case _:
                self._alarm(_("only moves can be typed here; h shows the keys"))

    def press(self, key: str) -> None:
        """One key, in urwid's names."""
        pointing = self.pointing
        if pointing.typing is not None:
            self._type(key)
        elif key in _PAGES or pointing.page != "table":
            pointing.page = "table" if pointing.page != "table" else _PAGES[key]
            self._leave_asked = False
        else:
            pointing.message, pointing.message_is_alarm = "", False
            if key != "q":
                self._leave_asked = False
            self._press_at_table(key)
        self.changed()

    def _press_at_table(self, key: str) -> None:
        view = self.view()
        self._keep_in_range(view)
        pointing = self.pointing
        match key:
            case "left" | "right":
                shown = self._shown(view)
                if shown:
                    pointing.at = (pointing.at + (1 if key == "right" else -1)) % len(shown)
            case "up" | "down" | "tab":
                self._change_area(view)
            case " ":
                self._pick(view)
            case "esc":
                pointing.picked.clear()
            case "s":
                pointing.order = "rank" if pointing.order == "suit" else "suit"
            case ":" | "/":
                pointing.typing = ":"
            case '"':
                pointing.typing = '"'
            case "enter":
                self._choose(self.offers(view))
            case "q":
                self._leave()
            case "t":
                self._take(view)
            case _ if key.isdecimal() and key != "0":
                self._choose_number(int(key), self.offers(view))
            case "d" if view["ahead"]:
                self._send("draw")
            case _ if key in _VERBS:
                verb = _VERBS[key]
                self._choose([text for text in self.offers(view) if text.split()[0] == verb], verb)
            case _:
                pass

    def _change_area(self, view: Mapping[str, Any]) -> None:
        pointing = self.pointing
        pointing.area = "pile" if pointing.area == "hand" else "hand"
        shown = self._shown(view)
        pointing.at = len(shown) - 1 if pointing.area == "pile" and shown else 0

    def _pick(self, view: Mapping[str, Any]) -> None:
        shown = self._shown(view)
        if not shown:
            return
        card = shown[self.pointing.at]
        if card in self.pointing.picked:
            self.pointing.picked.remove(card)
        else:
            self.pointing.picked.append(card)

    def _take(self, view: Mapping[str, Any]) -> None:
        pile = view["public"]["discard"]
        if not pile:
            self._alarm(_("the pile is empty"))
            return
        self._send(f"take {pile[self.pointing.at] if self.pointing.area == 'pile' else pile[-1]}")

    def _choose(self, offered: Sequence[str], verb: str = "") -> None:
        if len(offered) == 1:
            self._send(offered[0])
        elif offered:
            shown = "   ".join(f"{self.offers(self.view()).index(text) + 1} {text}" for text in offered[:4])
            self.pointing.message = _("which? {moves}", moves=shown)
        elif verb:
            self._alarm(_("`{verb}` does not go with what is picked", verb=verb))

    def _choose_number(self, number: int, offered: Sequence[str]) -> None:
        if number <= len(offered):
            self._send(offered[number - 1])
        else:
            self._alarm(
                ngettext("only {count} move is offered", "only {count} moves are offered", len(offered))
            )

    def _leave(self) -> None:
        if self._leave_asked:
            self.leaving = True
        self._leave_asked = True
        if self.table.me is None:
            self.pointing.message = _(
                "q again to leave; `p2p-rummy watch` with the same ticket brings you back"
            )
        else:
            self.pointing.message = _("q again to leave; `p2p-rummy resume` brings you back")

    def _type(self, key: str) -> None:
        text = self.pointing.typing or ":"
        if key == "enter":
            self.pointing.typing = None
            if text[0] == ":":
                self.typed(text[1:])
            elif text[1:].strip():
                try:
                    self.table.chat(text[1:].strip())
                except LocalProtocolError as error:
                    self._alarm(str(error))
        elif key == "esc":
            self.pointing.typing = None
        elif key == "backspace":
            self.pointing.typing = text[:-1] or None
        elif len(key) == 1 and key.isprintable() and len(text) < 200:
            self.pointing.typing = text + key

    def _send(self, text: str) -> None:
        taken = self._taken(text)  # before: what has been taken may have moved the table on
        try:
            self.table.move(text)
        except Refused as error:
            self._alarm(narrator.refusal(error.code, str(error), error.rule, error.cards))
        except LocalProtocolError:
            waiting = self._row(self.table.waiting_for)
            self._alarm(_("Nothing is asked of you now; {names} to act.", names=waiting))
        else:
            self.pointing.picked.clear()
            self.pointing.message, self.pointing.message_is_alarm = taken, False

    def _taken(self, text: str) -> str:
        """What to say of a move once the table takes it: it is sent, or chosen for later."""
        need = self.table.game.need
        if isinstance(need, Turn) and need.seat == self.table.me:
            return _("sent: {move}", move=text)
        if isinstance(need, Window) and is_answer(self.table, text):
            return _("Your answer: {move}.", move=text)
        return _("Chosen for your turn: {move}.", move=text)

    # --- pointing --------------------------------------------------------------------------------------

    def _shown(self, view: Mapping[str, Any]) -> list[str]:
        if self.pointing.area == "pile":
            return list(view["public"]["discard"])
        return hand_cards(view, self.pointing.order)

    def _picked(self, view: Mapping[str, Any]) -> tuple[list[str], list[str]]:
        held = {card["card"] for card in view["hand"]}
        pile = set(view["public"]["discard"])
        picked = self.pointing.picked
        return [card for card in picked if card in held], [card for card in picked if card in pile]

    def _keep_in_range(self, view: Mapping[str, Any]) -> None:
        """Cards leave the hand and the pile; what is pointed at and picked follows."""
        hand, pile = self._picked(view)
        self.pointing.picked[:] = [card for card in self.pointing.picked if card in hand or card in pile]
        self.pointing.at = max(0, min(self.pointing.at, len(self._shown(view)) - 1))


_PAGES: dict[str, Any] = {"h": "help", "?": "help", "o": "scores"}
_VERBS = {"d": "draw", "p": "pass", "m": "meld", "l": "lay", "x": "discard", "c": "rummy"}


# --- the terminal --------------------------------------------------------------------------------------


class Stage:
    """The terminal of one visit with ``--tui``: typed lines while the seats fill, then the whole screen.

    :attr:`lines` is what :func:`p2p_rummy.seat.play` reads: lobby lines first, one empty line when the player leaves.
    """

    def __init__(
        self, write: Callable[[Sequence[str]], None], descriptor: int = 0, *, screen: Any = None
    ) -> None:
        self._write_lines = write
        self._descriptor = descriptor
        self._screen = screen
        self._said, self.lines = trio.open_memory_channel[str](16)
        self._lobby = trio.CancelScope()
        self._face: FullScreen | None = None
        self._left = trio.Event()

    def write(self, lines: Sequence[str]) -> None:
        """Lines on the terminal while the seats fill; from then on the screen is the face's, and so are the lines."""
        if self._face is None:
            self._write_lines(lines)
        else:
            self._face.note(lines)

    def rise(self, face: FullScreen) -> FullScreen:
        """The table has begun: from now on the screen is this face's."""
        self._face = face
        self._lobby.cancel()
        return face

    async def run(self) -> None:
        """Owns the terminal until cancelled, or until the terminal itself is gone."""
        with self._lobby:
            async for line in lines_of(self._descriptor):
                await self._said.send(line)
            await self._said.aclose()
            return
        face = self._face
        if face is None:
            return  # cancelled from outside before there was a table
        async with full_screen(face, screen=self._screen):
            repaint = face.changed

            def changed() -> None:
                repaint()
                if face.leaving:
                    self._left.set()

            face.changed = changed
            await self._left.wait()
            await self._said.send("")
            await trio.sleep_forever()

    async def linger(self) -> None:
        """After the game: the last screen stays until the player leaves it."""
        if self._face is not None:
            await self._left.wait()


class _Canvas(urwid.Widget):  # type: ignore[misc]  # urwid is untyped here
    """One widget: rows from the face, keys to the face."""

    _sizing = frozenset([urwid.BOX])
    _selectable = True

    def __init__(self, face: FullScreen) -> None:
        super().__init__()
        self._face = face

    def render(self, size: tuple[int, int], focus: bool = False) -> Any:
        rows = self._face.rows(size)
        markup: list[Any] = []
        for index, row in enumerate(rows):
            markup += row or [("plain", "")]
            if index < len(rows) - 1:
                markup.append("\n")
        text = urwid.Text(markup, wrap="clip")
        return urwid.Filler(text, valign="top").render(size)

    def keypress(self, size: tuple[int, int], key: str) -> str | None:
        self._face.press(key)
        return None

    def changed(self) -> None:
        self._invalidate()


@contextlib.asynccontextmanager
async def full_screen(face: FullScreen, *, screen: Any = None) -> AsyncIterator[None]:
    """The terminal is the face's while this is open; it is restored whatever happens inside."""
    canvas = _Canvas(face)
    event_loop = urwid.TrioEventLoop()
    loop = urwid.MainLoop(
        canvas,
        PALETTE,
        screen=screen or urwid.display.raw.Screen(),
        event_loop=event_loop,
        handle_mouse=False,
    )
    face.changed = canvas.changed
    try:
        with loop.start():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(event_loop.run_async)
                yield
                nursery.cancel_scope.cancel()
    finally:
        face.changed = lambda: None
