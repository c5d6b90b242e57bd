"""What happens at a table, told to one seat in lines: the part of line mode that only listens.

:class:`Story` remembers as much as it takes to tell each thing once and whole: the table as it stood before a
move, the slots whose faces have been told, the shuffles of this hand.

Names come from other peers, so they pass :func:`printable` once, at the door.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from p2p_rummy import narrator
from p2p_rummy.cards import card_name
from p2p_rummy.catalogue import _, mark
from p2p_rummy.seat import Table
from p2p_rummy.terminal import draw
from p2p_rummy.terminal.text import printable, wrapped
from p2p_rummy.terminal.trouble import LEFT, trouble_lines
from p2p_rummy.view import table_view
from protocol import events

ANSWER_VOID: narrator.Told = (
    mark("The answer of {name} counts as a pass: {text} ({rule})."),
    mark("Your answer counts as a pass: {text} ({rule})."),
)
SHUFFLED: narrator.Told = (
    mark("  {name} has shuffled; the proof holds ({count} ms)."),
    mark("  Your shuffle is made and proved ({count} ms)."),
)
NEAREST: narrator.Told = (
    mark("{name}: nearest to the discarder's left, so this call counts (R109)."),
    mark("You are nearest to the discarder's left, so your call counts (R109)."),
)


class Story:
    """One seat's account of the table.  ``style`` may be changed at any time; ``new`` are the cards that came last."""

    def __init__(self, table: Table, style: draw.Style) -> None:
        self.table = table
        self.style = style
        self.new: list[str] = []
        self._before: dict[str, Any] = table.game.snapshot()
        self._told_slots: set[int] = set()
        self._shuffled: set[int] = set()
        self._dealt = False

    # --- names -----------------------------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """By seat, with the reader as You."""
        return [
            _("You") if number == self.table.me else printable(seat.name)
            for number, seat in enumerate(self.table.agreement.seats)
        ]

    def row(self, seats: Sequence[int]) -> str:
        """Inside a sentence."""
        return narrator.row_of(seats, self.names, self.table.me)

    def _of(self, told: narrator.Told, seat: int, **values: object) -> str:
        return narrator.of_seat(told, seat, self.names, self.table.me, **values)

    # --- what happens ----------------------------------------------------------------------------------

    def resumed(self) -> bool:
        """Whether the table was taken up in mid-hand; its cards are then known and told."""
        # Not all of it need be readable: a drawn card may be on its way.
        self._dealt = self._hand_is_read() or bool(self._told_slots)
        return self._dealt

    def lines(self, event: events.Event, now: float) -> list[str]:
        """What there is to tell of an event; turns and windows are for who asks (:mod:`terminal.line`)."""
        match event:
            case events.TableAgreed(words=words):
                return [
                    "",
                    _("Everybody has signed the agreement."),
                    _("Read these words aloud to each other; if they differ, somebody is in between:"),
                    f"  {words}",
                ]
            case events.HandBegan():
                return self._hand_began(event)
            case events.ShuffleMade():
                return self._shuffle_begun(event)
            case events.ShuffleVerified(seat=seat, milliseconds=milliseconds):
                return self._shuffle_verified(seat, milliseconds)
            case events.CardsSeen(faces=faces):
                return self._seen(faces)
            case events.CardsDealt():
                told = self._dealt_lines()
                self.look()
                return told
            case events.MoveMade(seat=seat, text=text):
                return self._moved(seat, text)
            case events.AnswerVoid(seat=seat, text=text, rule=rule):
                return [self._of(ANSWER_VOID, seat, text=printable(text), rule=rule)]
            case events.Ruled():
                return self._ruled(event)
            case events.HandOver(hand=hand) if hand > 0:  # 0 is the draw for the first deal
                return self._hand_over(hand)
            case events.GameOver():
                return self._game_over(event)
            case events.ChatSaid(seat=seat, text=text):
                return [f"{self.names[seat]}: {printable(text)}"]
            case events.Reacted(seat=seat, reaction=reaction):
                return [f"{self.names[seat]} {printable(reaction)}"]
            case events.Abandoned():
                told = trouble_lines(event, self.names, now, self.table.me)
                kept = _(
                    "The record is a file beside the log: p2p-rummy verify {path}", path=self.table.log_path
                )
                return [*told, kept]
            case _:
                return trouble_lines(event, self.names, now, self.table.me)

    def look(self) -> None:
        """Remember the table as it stands now: what a move is told against.

        A step's close is told before its move, so this is done when a move is asked for, not after each event.
        """
        self._before = self.table.game.snapshot()

    # --- a hand ----------------------------------------------------------------------------------------

    def _hand_began(self, event: events.HandBegan) -> list[str]:
        self.new = []
        if event.hand == 0:
            return ["", _("Cards are drawn for the first deal; everybody makes keys and shuffles.")]
        self._dealt = False
        names = self.row(event.seats)
        told = ["", _("Hand {hand}: {names} make fresh keys and shuffle.", hand=event.hand, names=names)]
        if self.table.me is not None and self.table.me not in event.seats:
            told += wrapped(_(LEFT[1]), self.style.size)
        return told

    def _shuffle_begun(self, event: events.ShuffleMade) -> list[str]:
        if event.position == 0:
            self._shuffled.clear()
        if event.seat != self.table.me:
            return []
        return [_("  You shuffle ({position} of {of}) ...", position=event.position + 1, of=event.of)]

    def _shuffle_verified(self, seat: int, milliseconds: float) -> list[str]:
        if seat in self._shuffled:
            return []  # our own shuffle is checked like the others', after it was made
        self._shuffled.add(seat)
        took = max(1, round(milliseconds))
        return [self._of(SHUFFLED, seat, count=took)]

    def _seen(self, faces: events.Faces) -> list[str]:
        """New faces of our own: the deal, a drawn card, or a hand that was swapped."""
        if not self._dealt:
            return self._dealt_lines()
        new = [card_name(card) for slot, card in faces if slot not in self._told_slots]
        if not new:
            return []  # the deal was told when it could be read, before this event
        self.new = new
        view = self._view()
        if view["public"]["phase"] == "play" and view["public"]["turn"] == self.table.me:
            return [_("You draw {cards}.", cards=" ".join(new))]
        return draw.hand_lines(view, self.style, new=new)

    def _dealt_lines(self) -> list[str]:
        """Told once a hand, when all of it can be read."""
        if self._dealt or not self._hand_is_read():
            return []
        self._dealt = True
        view = self._view()
        drawn: list[str] = []
        if view["public"]["hand"] == 1:
            drawn = draw.dealer_draw_lines(view["public"], self.names, self.style, self.table.me)
        return [*drawn, _("The cards are dealt."), *draw.hand_lines(view, self.style)]

    def _hand_is_read(self) -> bool:
        hand = self._view()["hand"]
        self._told_slots = {held["slot"] for held in hand if held["card"]}
        return bool(hand) and len(self._told_slots) == len(hand)

    def _moved(self, seat: int, text: str) -> list[str]:
        if seat == self.table.me:
            if text == "draw":
                return []  # the card is told when it is seen
            verb, _space, rest = text.partition(" ")
            self.new = narrator.cards_from(self._before, rest) if verb == "take" else []
        return self._told(seat, text)

    def _told(self, seat: int, text: str) -> list[str]:
        who = None if seat == self.table.me else self.names[seat]
        return wrapped(narrator.told(who, printable(text), self._before), self.style.size)

    def _ruled(self, event: events.Ruled) -> list[str]:
        calls = [(seat, text) for seat, text in event.answers if self.table.game.is_call(text)]
        told = [line for seat, text in calls for line in self._told(seat, text)]
        if len(calls) > 1 and event.winner is not None:
            told.append(self._of(NEAREST, event.winner))
        return told

    # --- results ---------------------------------------------------------------------------------------

    def _hand_over(self, hand: int) -> list[str]:
        public = self.table.game.snapshot()
        told = [""]
        for row in public["sheet"]:
            if row["hand"] == hand:
                told += draw.hand_result_lines(row, self.names, self.style)
        return told + draw.sheet_lines(public, self.names, self.style)

    def _game_over(self, event: events.GameOver) -> list[str]:
        if not event.winners:
            return ["", _("The game ends without a winner."), *self.log_lines()]
        end = _(
            "The game is over. {names}: {score} points, and the game.",
            names=narrator.listed([self.names[seat] for seat in event.winners]),
            score=event.scores[event.winners[0]],
        )
        return ["", end, *self.log_lines()]

    def log_lines(self) -> list[str]:
        """Where the log stands, and how to check it."""
        head = self.table.head.hex()[:16]
        return [
            _("Head of the log after step {step}: {head}", step=self.table.step, head=head),
            _("Check it with: p2p-rummy verify {path}", path=self.table.log_path),
        ]

    def _view(self) -> dict[str, Any]:
        return table_view(self.table.game, self.table.me, self.table.faces, {})
