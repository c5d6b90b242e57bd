"""Line mode: a table on any terminal, append-only, one line typed for one thing done.

:class:`LineMode` is told what happens and what is typed, and writes lines; it owns no socket, task or clock.  It
draws from :func:`p2p_rummy.view.table_view` alone.  Its own state is small:

    quiet --our turn--> ours --meld, lay--> ours, with a draft --discard, send--> sending --each move made--> ...
    quiet --window--> window --an answer chosen, or the countdown--> quiet

Names come from other peers, so they pass :func:`printable` once, at the door.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from p2p_rummy import narrator
from p2p_rummy.cards import card_name
from p2p_rummy.catalogue import _, mark, ngettext
from p2p_rummy.seat import Table
from p2p_rummy.terminal import draw
from p2p_rummy.terminal.draft import Draft
from p2p_rummy.terminal.lobby import seat_lines, terms_lines
from p2p_rummy.terminal.text import printable, wrapped
from p2p_rummy.terminal.trouble import trouble_lines
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
        self._style = style or draw.Style()
        self._draft: Draft | None = None
        self._sending: deque[str] = deque()
        self._before: dict[str, Any] = table.game.snapshot()
        self._new: list[str] = []
        self._dealt = False
        self._told_slots: set[int] = set()
        self._shuffled: set[int] = set()
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
        view = self._view()
        if not view["hand"] or not all(held["card"] for held in view["hand"]):
            return
        self._dealt = True
        self._told_slots = {held["slot"] for held in view["hand"]}
        self._say(_("Back at the table."), *self._table_lines())
        if view["need"]["kind"] == "turn" and self.table.me in view["need"]["seats"]:
            self._turn_shown = True

    # --- names -----------------------------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """By seat, with the reader as You."""
        return [
            _("You") if number == self.table.me else printable(seat.name)
            for number, seat in enumerate(self.table.agreement.seats)
        ]

    def _who(self, seat: int) -> str | None:
        """For the narrator: None is the reader."""
        return None if seat == self.table.me else self.names[seat]

    def _row(self, seats: Sequence[int]) -> str:
        return narrator.listed([self.names[seat] for seat in seats])

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
        """Tell what has happened."""
        match event:
            case events.TableAgreed():
                self._agreed(event)
            case events.HandBegan(hand=0):
                self._forget_turn()
                self._say("", _("Cards are drawn for the first deal; everybody makes keys and shuffles."))
            case events.HandBegan(hand=hand, seats=seats):
                self._dealt = False
                self._forget_turn()
                self._say(
                    "",
                    _("Hand {hand}: {names} make fresh keys and shuffle.", hand=hand, names=self._row(seats)),
                )
            case events.ShuffleMade():
                self._shuffle_begun(event)
            case events.ShuffleVerified(seat=seat, milliseconds=milliseconds):
                self._shuffle_verified(seat, milliseconds)
            case events.CardsSeen(faces=faces):
                self._seen(faces)
            case events.CardsDealt():
                self._cards_dealt()
            case events.TurnBegan(seat=seat, deadline=deadline):
                self._turn(seat, deadline)
            case events.MoveMade(seat=seat, text=text):
                self._moved(seat, text)
            case events.MoveRefused():
                self._drop_draft()
                self._say(
                    _("Not sent: {move}.", move=event.text),
                    self._reason(event.code, event.message, event.rule, ()),
                )
            case events.WindowOpened():
                self._window(event)
            case events.AnswerSafe() if self._answer and self.table.game.is_call(self._answer):
                self._say(_("Your call is safe: enough players hold it."))
            case events.AnswerVoid(seat=seat, text=text, rule=rule):
                self._say(
                    _("The answer of {name} counts as a pass: {text} ({rule}).", name=self.names[seat],
                      text=printable(text), rule=rule)
                )  # fmt: skip
            case events.Ruled():
                self._ruled(event)
            case events.HandOver(hand=hand) if hand > 0:  # 0 is the draw for the first deal
                self._hand_over(hand)
            case events.GameOver():
                self._game_over(event)
            case events.ChatSaid(seat=seat, text=text):
                self._say(f"{self.names[seat]}: {printable(text)}")
            case events.Reacted(seat=seat, reaction=reaction):
                self._say(f"{self.names[seat]} {printable(reaction)}")
            case _:
                self._say(*trouble_lines(event, self.names, self._now()))
        if isinstance(event, events.CardsDealt | events.TurnBegan | events.WindowOpened):
            self._before = self.table.game.snapshot()

    def _agreed(self, event: events.TableAgreed) -> None:
        self._say(
            "",
            _("Everybody has signed the agreement."),
            _("Read these words aloud to each other; if they differ, somebody is in between:"),
            f"  {event.words}",
        )

    def _shuffle_begun(self, event: events.ShuffleMade) -> None:
        if event.position == 0:
            self._shuffled.clear()
        if event.seat == self.table.me:
            self._say(_("  You shuffle ({position} of {of}) ...", position=event.position + 1, of=event.of))

    def _shuffle_verified(self, seat: int, milliseconds: float) -> None:
        if seat in self._shuffled:
            return  # our own shuffle is checked like the others', after it was made
        self._shuffled.add(seat)
        took = max(1, round(milliseconds))
        if seat == self.table.me:
            self._say(_("  Your shuffle is made and proved ({count} ms).", count=took))
        else:
            self._say(
                _("  {name} has shuffled; the proof holds ({count} ms).", name=self.names[seat], count=took)
            )

    def _seen(self, faces: events.Faces) -> None:
        """New faces of our own: the deal, a drawn card, or a hand that was swapped."""
        if not self._dealt:
            self._cards_dealt()
            return
        new = [card_name(card) for slot, card in faces if slot not in self._told_slots]
        if not new:
            return  # the deal was told when it could be read, before this event
        self._new = new
        public = self._public()
        if public["phase"] == "play" and public["turn"] == self.table.me:
            self._say(_("You draw {cards}.", cards=" ".join(new)))
        else:
            self._say(*self._hand_lines())

    def _cards_dealt(self) -> None:
        """Told once a hand, when all of it can be read."""
        view = self._view()
        if self._dealt or not view["hand"] or not all(held["card"] for held in view["hand"]):
            return
        self._dealt = True
        self._told_slots = {held["slot"] for held in view["hand"]}
        if view["public"]["hand"] == 1:
            self._say(*draw.dealer_draw_lines(view["public"], self.names, self._style))
        self._say(_("The cards are dealt."), *draw.hand_lines(view, self._style))

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

    def _moved(self, seat: int, text: str) -> None:
        self._awaited = None
        if seat == self.table.me:
            self._draft = None
            if text == "draw":
                return  # the card is told when it is seen
            verb, _space, rest = text.partition(" ")
            self._new = narrator.cards_from(self._before, rest) if verb == "take" else []
        self._say(*wrapped(narrator.told(self._who(seat), printable(text), self._before), self._style.size))

    def _window(self, event: events.WindowOpened) -> None:
        self._turn_shown = False
        self._turn_ends = None
        self._draft = None
        self._answer = ""
        seconds = max(0, round(event.closes_at - self._now()))
        if self.table.me in event.seats and not event.sealed and self.table.legal_moves() == ["pass"]:
            self._answer_or_wait("pass", quietly=True)  # nothing to choose and nothing to hide
            return
        if self.table.me not in event.seats:
            if event.sealed and seconds:
                self._say(
                    ngettext(
                        "The others may call, {count} second.",
                        "The others may call, {count} seconds.",
                        seconds,
                    )
                )
            return
        self._closes_at = event.closes_at
        if seconds > 2 * LAST_CALL_SECONDS:
            self._last_call = event.closes_at - LAST_CALL_SECONDS
        if event.sealed and not seconds:  # a table without a countdown waits for an answer
            self._say(_("Call window: `rummy ...` to call, Enter to pass."))
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

    def _ruled(self, event: events.Ruled) -> None:
        self._closes_at = self._last_call = None
        calls = [(seat, text) for seat, text in event.answers if self.table.game.is_call(text)]
        for seat, text in calls:
            self._say(
                *wrapped(narrator.told(self._who(seat), printable(text), self._before), self._style.size)
            )
        if len(calls) > 1 and event.winner is not None:
            winner = self.names[event.winner]
            self._say(_("{name}: nearest to the discarder's left, so this call counts (R109).", name=winner))
        self._answer = ""

    def _hand_over(self, hand: int) -> None:
        public = self._public()
        self._say("")
        for row in public["sheet"]:
            if row["hand"] == hand:
                self._say(*draw.hand_result_lines(row, self.names, self._style))
        self._say(*draw.sheet_lines(public, self.names, self._style))

    def _game_over(self, event: events.GameOver) -> None:
        self._say(
            "",
            _("The game is over. {names}: {score} points, and the game.", names=self._row(event.winners),
              score=event.scores[event.winners[0]] if event.winners else 0),
            *self._log_lines(),
        )  # fmt: skip

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

    def _answer_or_wait(self, text: str, *, quietly: bool = False) -> None:
        if self._is_doubtful(text, self.table.legal_moves()):
            return
        try:
            self.table.move(text)
        except Refused as error:
            self._refused(error)
        except LocalProtocolError:
            self._say(
                _("Nothing is asked of you now; {names} to act.", names=self._row(self.table.waiting_for))
            )
        else:
            if quietly:
                return
            if isinstance(self.table.game.need, Window):
                self._answer = text
                self._say(_("Your answer: {move} (it may be changed until the countdown ends).", move=text))
            else:
                self._say(_("Chosen for your turn: {move}.", move=text))

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
        self._new = []

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
                self._say(*self._log_lines())
            case "leave":
                self.leaving = True
                self._say(_("You leave the table. `p2p-rummy resume` brings you back."))

    def _sort(self, order: str) -> None:
        match order:
            case "suit" | "rank":
                self._style = replace(self._style, order=order)
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
        return draw.hand_lines(view, self._style, new=[card for card in self._new if card in held])

    def _legal_lines(self, most: int | None) -> list[str]:
        moves = self._view()["legal"]
        if not moves:
            return [
                _("Nothing is asked of you now; {names} to act.", names=self._row(self.table.waiting_for))
            ]
        return [_("You may:"), *draw.legal_lines(moves, self._style, most=most)]

    def _refused(self, error: Refused) -> None:
        reason = self._reason(error.code, str(error), error.rule, error.cards)
        self._say(*wrapped(reason, self._style.size), *self._legal_lines(6))

    def _reason(self, code: str, message: str, rule: str, cards: Sequence[str]) -> str:
        return _("No: {reason}.", reason=printable(narrator.refusal(code, message, rule, cards)))

    def _log_lines(self) -> list[str]:
        path = self.table.log_path
        return [
            _(
                "Head of the log after step {step}: {head}",
                step=self.table.step,
                head=self.table.head.hex()[:16],
            ),
            _("Check it with: p2p-rummy verify {path}", path=path),
        ]
