"""A log told as a story: who drew, melded, called and won, hand by hand.

The log is verified while it is told (:mod:`protocol.verify` calls back after each step), so nothing is told that did not
happen.  What nobody has shown stays unseen: a card drawn and kept is told at the end of its hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from p2p_rummy import narrator
from p2p_rummy.cards import card_name
from p2p_rummy.catalogue import _
from p2p_rummy.terminal import draw
from p2p_rummy.terminal.draw import Style
from p2p_rummy.terminal.lobby import seat_lines, terms_lines
from p2p_rummy.terminal.text import printable, wrap, wrapped
from p2p_rummy.terminal.trouble import trouble_lines
from protocol import events
from protocol.agreement import Agreement
from protocol.game import Game

Write = Callable[[Sequence[str]], None]


class Replay:
    """Tells a game.  ``hand`` is the number of the only hand to tell, None for all."""

    def __init__(self, agreement: Agreement, write: Write, style: Style, *, hand: int | None = None) -> None:
        self.names = [printable(seat.name) for seat in agreement.seats]
        self._write_lines = write
        self._style = style
        self._only = hand
        self._hand = 0
        self._before: dict[str, Any] | None = None
        self._dealt = False
        self._say(_("Table {table}", table=agreement.table.hex()[:16]), *terms_lines(agreement))
        self._say(*seat_lines(agreement.seats, b""))

    def after(self, game: Game, happened: Sequence[events.Event]) -> None:
        """Tell what one step has brought; ``game`` is as it stands after the step."""
        public = game.snapshot()
        for event in happened:
            self._tell(game, public, event)
        self._before = public

    def _tell(self, game: Game, public: dict[str, Any], event: events.Event) -> None:
        match event:
            case events.HandBegan(hand=hand):
                self._hand, self._dealt = hand, False
            case events.CardsDealt():
                self._deal(public)
            case events.MoveMade(seat=seat, text=text):
                self._move(seat, text)
            case events.Ruled():
                self._ruled(game, event)
            case events.CardsShown(faces=faces):
                self._shown(public, faces)
            case events.HandOver(hand=hand):
                for row in public["sheet"]:
                    if row["hand"] == hand:
                        self._say(*draw.hand_result_lines(row, self.names, self._style))
            case events.GameOver(scores=scores, winners=winners):
                self._only = None
                self._say("", *draw.sheet_lines(public, self.names, self._style))
                names = narrator.listed([self.names[seat] for seat in winners])
                if winners:
                    self._say(
                        _("{names}: {score} points, and the game.", names=names, score=scores[winners[0]])
                    )
                else:
                    self._say(_("The game ends without a winner."))
            case _:
                self._say(*trouble_lines(event, self.names, 0.0))

    def _deal(self, public: dict[str, Any]) -> None:
        if self._dealt or not any(public["hands"]):
            return
        self._dealt = True
        dealer = self.names[public["dealer"]]
        if public["hand"] == 1:
            self._say(*draw.dealer_draw_lines(public, self.names, self._style))
        self._say("", _("Hand {hand}. {dealer} deals.", hand=public["hand"], dealer=dealer))
        if public["discard"]:
            self._say(_("The pile begins with {card}.", card=" ".join(public["discard"])))

    def _move(self, seat: int, text: str) -> None:
        self._say(*wrapped(narrator.told(self.names[seat], printable(text), self._before), self._style.size))

    def _ruled(self, game: Game, event: events.Ruled) -> None:
        calls = [(seat, text) for seat, text in event.answers if game.is_call(text)]
        for seat, text in calls:
            self._move(seat, text)
        if len(calls) > 1 and event.winner is not None:
            winner = self.names[event.winner]
            self._say(_("{name} sits nearest to the discarder's left: this call counts (R109).", name=winner))

    def _shown(self, public: dict[str, Any], faces: events.Faces) -> None:
        """The hands at the end; the slots still stand in the hands of the step before."""
        hands = (self._before or public)["hands"]
        opened = dict(faces)
        for seat, held in enumerate(hands):
            cards = [held_card["card"] or card_name(opened[held_card["slot"]]) for held_card in held
                     if held_card["card"] or held_card["slot"] in opened]  # fmt: skip
            if cards and any(held_card["slot"] in opened for held_card in held):
                words = [card for group in draw.sorted_hand(cards, "suit") for card in group]
                first = _("{name} still held:", name=self.names[seat]) + " "
                self._say(*wrap(words, self._style.size, first=first, rest="  "))

    def _say(self, *lines: str) -> None:
        if lines and (self._only is None or self._only == self._hand):
            self._write_lines(lines)
