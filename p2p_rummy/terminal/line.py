"""Line mode: a table on any terminal, append-only, one line typed for one thing done.

:class:`LineMode` is told what happens and what is typed, and writes lines; it owns no socket, task or clock.  It
draws from :func:`p2p_rummy.view.table_view` alone.  Its own state is small:

    quiet --our turn--> ours --meld, lay--> ours, with a draft --discard, send--> sending --each move made--> ...
    quiet --window--> window --an answer chosen, or the countdown--> quiet

What happens is told by :class:`p2p_rummy.terminal.story.Story`; here is what is asked, and what is answered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from p2p_rummy import narrator
from p2p_rummy.catalogue import _, mark, ngettext
from p2p_rummy.seat import Table, answer_by, is_answer, is_prompt, pass_if_forced
from p2p_rummy.terminal import draw
from p2p_rummy.terminal.draft import Draft
from p2p_rummy.terminal.lobby import seat_lines, terms_lines
from p2p_rummy.terminal.story import Story
from p2p_rummy.terminal.text import printable, wrapped
from p2p_rummy.terminal.typed import Ask, Move, help_lines, understand
from p2p_rummy.view import table_view
from protocol import events
from protocol.errors import LocalProtocolError
from protocol.game import Refused, Turn, Window

LAST_CALL_SECONDS = 3
"""So long before a window closes it is said once more, if the window is long enough for that to help."""
LAST_TURN_SECONDS = 20
PATIENCE_SECONDS = 1.5
"""A player who moves sooner than this need not be announced."""


ANY_PROMPT = mark("Your move? (`legal` lists what you may do)")
PROMPTS = {
    "draw": mark("Draw from the stock, or take from the pile? (`help` lists all you can type)"),
    "play": mark("Meld, lay off, or discard."),
    "widow": mark("The widow: swap, or keep? (`help` lists all you can type)"),
    "auction": mark("The widow is for sale: bid N, or pass?"),
    "bet": mark("Check, bet N, call, raise N or fold?"),
    "show": mark("Show your five best cards, or muck?"),
    "lead": mark("Lead your lowest card, or pass if you have none of the colour."),
    "follow": mark("Play the card that must follow."),
}
"""What is asked, by phase of the game."""


class LineMode:
    """One seat's terminal.  ``write`` takes whole lines; ``now`` is the clock of the events' deadlines."""

    def __init__(
        self,
        table: Table,
        write: Callable[[Sequence[str]], None],
        now: Callable[[], float],
        style: draw.Style | None = None,
    ) -> None:
        self.table = table
        self.leaving = False
        self._write = write
        self._now = now
        self._story = Story(table, style or draw.Style())
        self._draft: Draft | None = None
        self._sending: deque[str] = deque()
        self._turn_shown = False
        self._closes_at: float | None = None
        self._last_call: float | None = None
        self._turn_ends: float | None = None
        self._awaited: tuple[float, int] | None = None
        self._answer = ""
        self._doubted = ""
        self._come_back()

    def _come_back(self) -> None:
        """A table that is resumed in mid-hand is shown as it stands."""
        if self._story.resumed():
            self._say(_("Back at the table."), *self._table_lines())
            self._turn_shown = self.table.game.need == Turn(seat=self.table.me or 0)

    @property
    def _style(self) -> draw.Style:
        return self._story.style

    @property
    def names(self) -> list[str]:
        return self._story.names

    def _own_key(self) -> bytes:
        return b"" if self.table.me is None else self.table.agreement.keys[self.table.me]

    # --- the clock -------------------------------------------------------------------------------------

    def due(self) -> float | None:
        """When :meth:`clock` has something to say next."""
        awaited = self._awaited[0] if self._awaited else None
        return min(
            (time for time in (self._last_call, self._turn_ends, awaited) if time is not None), default=None
        )

    def clock(self) -> None:
        now = self._now()
        if self._awaited is not None and now >= self._awaited[0]:
            self._say(_("{name} is to play.", name=self.names[self._awaited[1]]))
            self._awaited = None
        if self._last_call is not None and now >= self._last_call:
            self._last_call = None
            if not self._answer:
                left = max(1, round((self._closes_at or 0) - now))
                self._say(ngettext("{count} second left to call.", "{count} seconds left to call.", left))
        if self._turn_ends is not None and now >= self._turn_ends:
            self._turn_ends = None
            self._say(_("{count} seconds left for your turn.", count=LAST_TURN_SECONDS))

    # --- what happens ----------------------------------------------------------------------------------

    def event(self, event: events.Event) -> None:
        """Tell what has happened, and ask what is to be asked."""
        match event:
            case events.TurnBegan(seat=seat, deadline=deadline):
                self._turn(seat, deadline)
                self._story.look()
            case events.WindowOpened():
                self._window(event)
                self._story.look()
            case events.MoveRefused():
                self._drop_draft()
                reason = self._reason(event.code, event.message, event.rule, ())
                self._say(_("Not sent: {move}.", move=event.text), reason)
            case events.AnswerSafe():
                if self._answer and self.table.game.is_call(self._answer):
                    self._say(_("Your call is safe: enough players hold it."))
            case _:
                if isinstance(event, events.HandBegan):
                    self._forget_turn()
                elif isinstance(event, events.MoveMade):
                    self._awaited = None
                    if event.seat == self.table.me:
                        self._draft = None
                elif isinstance(event, events.Ruled):
                    self._closes_at = self._last_call = None
                    self._answer = ""
                self._say(*self._story.lines(event, self._now()))

    def _turn(self, seat: int, deadline: float) -> None:
        self._closes_at = self._last_call = self._turn_ends = None
        self._awaited = (self._now() + PATIENCE_SECONDS, seat) if seat != self.table.me else None
        if seat != self.table.me:
            self._turn_shown = False
            return
        if self._sending:
            self._send_next()
            return
        if deadline - self._now() > 2 * LAST_TURN_SECONDS and not self.table.agreement.patient:
            self._turn_ends = deadline - LAST_TURN_SECONDS
        first, self._turn_shown = not self._turn_shown, True
        if first:
            self._say("", _("YOUR TURN"), *self._table_lines())
        else:
            self._say(*draw.duty_lines(self._public(), self._style), *self._hand_lines())
        self._say(self._turn_prompt())

    def _turn_prompt(self) -> str:
        return _(PROMPTS.get(self._public()["phase"], ANY_PROMPT))

    def _window(self, event: events.WindowOpened) -> None:
        self._turn_shown = False
        self._turn_ends = None
        self._draft = None
        self._answer = ""
        if pass_if_forced(self.table, event):
            return
        closes_at = answer_by(self.table.agreement, event)
        prompt = is_prompt(self.table.agreement, event)
        seconds = max(0, round(closes_at - self._now()))
        if self.table.me not in event.seats:
            if event.sealed and seconds and not prompt:
                self._say(
                    ngettext(
                        "{names} may call, {count} second.",
                        "{names} may call, {count} seconds.",
                        seconds,
                        names=self._story.row(event.seats),
                    )
                )
            return
        self._closes_at = closes_at
        if seconds > 2 * LAST_CALL_SECONDS:
            self._last_call = closes_at - LAST_CALL_SECONDS
        if prompt:
            self._say(
                ngettext(
                    "Call window, {count} second at most: `rummy ...` to call, Enter to pass.",
                    "Call window, {count} seconds at most: `rummy ...` to call, Enter to pass.",
                    seconds,
                )
            )
        elif event.sealed:
            self._say(
                ngettext(
                    "Call window, {count} second: `rummy ...` to call; otherwise you pass.",
                    "Call window, {count} seconds: `rummy ...` to call; otherwise you pass.",
                    seconds,
                )
            )
        else:
            self._say(self._turn_prompt(), *self._hand_lines())

    # --- what is typed ---------------------------------------------------------------------------------

    def typed(self, line: str) -> None:
        """Do what the player typed."""
        match understand(line):
            case Move(text=text):
                self._move(text)
            case Ask(word=word, rest=rest):
                self._asked(word, rest)

    def _move(self, text: str) -> None:
        game = self.table.game
        me = self.table.me
        if me is None:
            self._say(_("You watch this table; only the players move."))
        elif isinstance(game.need, Turn) and game.need.seat == me and not self._sending:
            self._draft_move(text, game.need.seat)
        else:
            self._answer_or_wait(text)

    def _draft_move(self, text: str, me: int) -> None:
        if self._draft is None:
            self._draft = Draft(self.table.game, me, self.table.faces)
        if self._is_doubtful(text, self._draft.game.legal_moves(me, self.table.faces)):
            return
        try:
            complete = self._draft.add(text)
        except Refused as error:
            self._refused(error)
            return
        if complete:
            self._send_draft()
        else:
            self._say(_("Put down: {move}", move=self._draft.moves[-1]), *self._hand_lines())
            self._say(*draw.pending_lines(self._draft.moves, self._style))

    def _is_doubtful(self, text: str, legal: Sequence[str]) -> bool:
        """What only the player's own hand forbids, so that no other peer would refuse it: said before it is sent.

        A take that nothing in the hand could use (R25) may be insisted on; a word about one's hand in Rummoli must be true
        (R236).
        """
        verb = text.split(" ")[0]
        if text in legal or not legal or text == self._doubted:
            return False
        if verb == "take" and any(move.startswith(("draw", "take")) for move in legal):
            self._doubted = text
            reason = _(
                "nothing in your hand could lay that card in this turn (R23); type it again to take it all the same"
            )
            self._say(*wrapped(_("Not yet: {reason}.", reason=reason), self._style.size))
            return True
        if (
            self.table.game.name == "rummoli"
            and verb in ("play", "pass")
            and any(move.startswith("play") for move in legal)
        ):
            self._say(_("No: your hand asks for another answer (R227, R228)."), *self._legal_lines(6))
            return True
        return False

    def _answer_or_wait(self, text: str) -> None:
        if self._is_doubtful(text, self.table.legal_moves()):
            return
        need = self.table.game.need  # before: what has been taken may have moved the table on
        window = need if isinstance(need, Window) and is_answer(self.table, text) else None
        try:
            self.table.move(text)
        except Refused as error:
            self._refused(error)
        except LocalProtocolError:
            self._say(
                _(
                    "Nothing is asked of you now; {names} to act.",
                    names=self._story.row(self.table.waiting_for),
                )
            )
        else:
            self._say(self._taken(text, window))

    def _taken(self, text: str, window: Window | None) -> str:
        """What becomes of a move that the table has taken: it answers ``window``, or it waits for this seat's turn."""
        if window is None:
            return _("Chosen for your turn: {move}.", move=text)
        self._answer = text
        if window.sealed and self.table.agreement.window_ms:
            return _("Your answer: {move} (it may be changed until the countdown ends).", move=text)
        return _("Your answer: {move}.", move=text)

    def _send_draft(self) -> None:
        if self._draft is None or not self._draft.moves:
            self._say(_("Nothing is waiting to be sent."))
            return
        self._sending = deque(self._draft.moves)
        self._draft = None
        self._send_next()

    def _send_next(self) -> None:
        text = self._sending.popleft()
        try:
            self.table.move(text)
        except Refused as error:
            self._drop_draft()
            self._refused(error)
        except LocalProtocolError:
            self._drop_draft()
            self._say(_("Not sent: {move}. The table has moved on.", move=text))

    def _drop_draft(self) -> None:
        self._sending.clear()
        self._draft = None

    def _forget_turn(self) -> None:
        self._drop_draft()
        self._turn_shown = False

    def _asked(self, word: str, rest: str) -> None:
        view = self._view()
        public = view["public"]
        match word:
            case "nothing":
                if self._closes_at is not None and not self._answer:
                    self._move("pass")
            case "help":
                self._say(*(f"  {_(line)}" for line in help_lines(self.table.game.name)))
            case "sort":
                self._sort(rest)
            case "table":
                self._say(*self._table_lines())
            case "hand":
                self._say(*self._hand_lines())
            case "pile":
                self._say(*draw.pile_lines(public, self._style))
            case "melds":
                self._say(*draw.meld_lines(public, self.names, self._style))
            case "scores":
                self._say(*draw.sheet_lines(public, self.names, self._style))
            case "legal":
                self._say(*self._legal_lines(None))
            case "who":
                self._say(
                    *seat_lines(self.table.agreement.seats, self._own_key()),
                    _("Words: {words}", words=self.table.words),
                    *self._ticket_lines(),
                )
            case "undo":
                self._undo()
            case "send":
                self._send_draft()
            case "say":
                self._chat(rest)
            case "rules":
                self._say(_("`p2p-rummy rules {game}` prints them; this table's options are:",
                            game=self.table.agreement.game), *terms_lines(self.table.agreement))  # fmt: skip
            case "log":
                self._say(*self._story.log_lines())
            case "leave":
                self.leaving = True
                if self.table.me is None:
                    self._say(
                        _("You look on no more. `p2p-rummy watch` with the same ticket brings you back.")
                    )
                else:
                    self._say(_("You leave the table. `p2p-rummy resume` brings you back."))

    def _ticket_lines(self) -> list[str]:
        try:
            ticket = self.table.ticket
        except LocalProtocolError:
            return []
        return [_("Your ticket, to watch by, and for `resume --via` of who cannot find you:"), f"  {ticket}"]

    def _sort(self, order: str) -> None:
        match order:
            case "suit" | "rank":
                self._story.style = replace(self._style, order=order)
                self._say(*self._hand_lines())
            case _:
                self._say(_("Sort by suit (`s`) or by rank (`r`)."))

    def _undo(self) -> None:
        taken_back = self._draft.undo() if self._draft else None
        if taken_back is None:
            self._say(_("There is nothing to take back: what is sent stays."))
        else:
            self._say(_("Taken back: {move}", move=taken_back), *self._hand_lines())

    def _chat(self, text: str) -> None:
        if not text:
            return
        try:
            self.table.chat(text)
        except LocalProtocolError as error:
            self._say(str(error))

    # --- lines -----------------------------------------------------------------------------------------

    def _say(self, *lines: str) -> None:
        if lines:
            self._write(lines)

    def _view(self) -> dict[str, Any]:
        game = self._draft.game if self._draft else self.table.game
        return table_view(game, self.table.me, self.table.faces, {})

    def _public(self) -> dict[str, Any]:
        public: dict[str, Any] = self._view()["public"]
        return public

    def _table_lines(self) -> list[str]:
        pending = self._draft.moves if self._draft else ()
        return draw.table_lines(self._view(), self.names, self._style, pending=pending)

    def _hand_lines(self) -> list[str]:
        view = self._view()
        held = {card["card"] for card in view["hand"]}
        return draw.hand_lines(view, self._style, new=[card for card in self._story.new if card in held])

    def _legal_lines(self, most: int | None) -> list[str]:
        moves = self._view()["legal"]
        if not moves:
            return [
                _(
                    "Nothing is asked of you now; {names} to act.",
                    names=self._story.row(self.table.waiting_for),
                )
            ]
        return [_("You may:"), *draw.legal_lines(moves, self._style, most=most)]

    def _refused(self, error: Refused) -> None:
        reason = self._reason(error.code, str(error), error.rule, error.cards)
        self._say(*wrapped(reason, self._style.size), *self._legal_lines(6))

    def _reason(self, code: str, message: str, rule: str, cards: Sequence[str]) -> str:
        return _("No: {reason}.", reason=printable(narrator.refusal(code, message, rule, cards)))
