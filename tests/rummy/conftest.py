"""A seat without a network: a known-cards table that tells what a session would tell, in the same order."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from p2p_rummy import cli
from p2p_rummy.games.base import make_game
from p2p_rummy.local import LocalTable
from protocol import events
from protocol.agreement import Agreement, claim
from protocol.errors import LocalProtocolError
from protocol.game import Card, Deal, Game, Moved, Over, Refused, Shuffle, Slot, Turn, Window
from protocol.identity import Identity
from protocol.ticket import Address, Ticket


class PracticeTable:
    """Seat ``me`` of a game whose other seats are played by ``others`` (seat, legal moves -> move).

    What a session would notify is in ``happened``; :meth:`listen` takes it.
    """

    def __init__(
        self,
        game: str,
        seats: int,
        *,
        me: int = 0,
        options: Mapping[str, str] | None = None,
        packs: Sequence[Sequence[Card]] = (),
        others: Callable[[int, list[str]], str] | None = None,
        seed: int = 1,
        names: Sequence[str] = ("Ann", "Bo", "Cy", "Dee", "Eve", "Flo", "Gus", "Hal"),
    ) -> None:
        rng = random.Random(seed)
        self.local = LocalTable(make_game(game, options or {}, seats), rng=rng, packs=packs)
        self.agreement = Agreement(
            game=game,
            rules_version=1,
            options=tuple(sorted((options or {}).items())),
            seats=tuple(
                claim(Identity(bytes([n + 1]) * 32), names[n], bytes([n]) * 32) for n in range(seats)
            ),
        )
        self.me: int | None = me
        self.log_path = Path("/nowhere/table.log")
        self.ticket = Ticket(
            table=bytes(10), fingerprint=bytes(16), addresses=(Address(host="192.0.2.7", port=4000),)
        )
        self.words = "apple brick cloud dust"
        self.head = bytes(32)
        self.step = 0
        self.happened: list[events.Event] = [events.TableAgreed(table=bytes(32), words=self.words)]
        self.chats: list[str] = []
        self.ahead = ""
        self._seat = me
        self._others = others or (lambda _seat, legal: "pass" if "pass" in legal else legal[0])
        self._answers: dict[int, str] = {}
        self._hand = 0

    @property
    def game(self) -> Game:
        return self.local.game

    @property
    def faces(self) -> Mapping[Slot, Card]:
        return {} if self.me is None else self.local.faces[self._seat]

    @property
    def waiting_for(self) -> Sequence[int]:
        return self.local.to_move()

    def legal_moves(self) -> list[str]:
        return self.local.legal(self._seat) if self._seat in self.local.to_move() else []

    def chat(self, text: str) -> None:
        self.chats.append(text)

    def move(self, text: str) -> None:
        need = self.game.need
        if self._seat not in self.local.to_move():
            raise LocalProtocolError("nothing is asked of this seat")
        try:
            slots = self.game.slots_of(self._seat, text, self.faces)
            self.game.check(self._seat, text, {slot: self.faces[slot] for slot in slots})
        except Refused as refused:
            if refused.code != "wrong_phase" or not isinstance(need, Window):
                raise
            self.ahead = text  # as protocol.voice has it: no answer, so it is for this seat's next turn
            return
        if isinstance(need, Window):
            self._answers = {self._seat: text}
        else:
            self._apply(self._seat, text)

    @property
    def answered(self) -> dict[int, str]:
        """What this seat has answered in the open window."""
        return dict(self._answers)

    def listen(self) -> list[events.Event]:
        happened, self.happened = self.happened, []
        return happened

    # --- driving ---------------------------------------------------------------------------------------

    def run(self) -> None:
        """Everything up to the next thing asked of this seat."""
        while not isinstance(self.game.need, Over):
            self._satisfy()
            need = self.game.need
            if isinstance(need, Turn):
                self._tell(events.TurnBegan(seat=need.seat, deadline=1000.0))
                if need.seat == self._seat:
                    return
                self._apply(need.seat, self._others(need.seat, self.local.legal(need.seat)))
            elif isinstance(need, Window):
                self._tell(
                    events.WindowOpened(
                        after=need.after, seats=need.seats, closes_at=10.0, sealed=need.sealed
                    )
                )
                if self._seat in need.seats:
                    return
                self.close_window()
        scores, winners = self.game.need.scores, self.game.need.winners
        self._tell(events.GameOver(scores=scores, winners=winners, head=self.head))

    def close_window(self) -> None:
        """The countdown is over: who has not answered passes."""
        need = self.game.need
        assert isinstance(need, Window)
        answers = []
        for seat in need.seats:
            chosen = self._answers.pop(seat, None)
            text = chosen or ("pass" if seat == self._seat else self._others(seat, self.local.legal(seat)))
            answers.append((seat, text))
        calls = [(seat, text) for seat, text in answers if self.game.is_call(text)]
        taken = [(seat, text if (seat, text) in calls[:1] or not calls else "pass") for seat, text in answers]
        for seat, text in taken:
            self._moved(seat, text)
        winner = calls[0][0] if calls else None
        self._tell(events.Ruled(arbiter=None, answers=tuple(answers), winner=winner))

    def _satisfy(self) -> None:
        while not isinstance(self.game.need, Turn | Window | Over):
            need = self.game.need
            if isinstance(need, Shuffle):
                if need.new_hand:
                    self._end_hand()
                    self._hand = self.game.hand
                    self._tell(events.HandBegan(hand=self.game.hand, seats=tuple(range(self.game.seats))))
                for seat in range(self.game.seats):
                    cards = len(need.cards)
                    self._tell(events.ShuffleMade(seat=seat, cards=cards, position=seat, of=self.game.seats))
                    self._tell(events.ShuffleVerified(seat=seat, cards=cards, milliseconds=21.6))
                self.local.shuffle(need)
            elif isinstance(need, Deal):
                before = dict(self.faces)
                self.local.deal(need)
                seen = tuple((slot, card) for slot, card in self.faces.items() if slot not in before)
                # As in a session: the deal is told when it is complete, own faces when they can be read.
                self._tell(events.CardsDealt(faces=()))
                if seen:
                    self._tell(events.CardsSeen(faces=seen))
            else:
                self.local.show(need)
                shown = tuple((slot, self.local.secret[slot]) for slot, _ in need.owners)
                self._tell(events.CardsShown(faces=shown))
        if isinstance(self.game.need, Over):
            self._end_hand()

    def _end_hand(self) -> None:
        if self._hand:
            scores = tuple(self.game.snapshot()["scores"])
            self._tell(events.HandOver(hand=self._hand, scores=scores))
            self._hand = 0

    def _apply(self, seat: int, text: str) -> None:
        openings = self._moved(seat, text)
        self._tell(events.MoveMade(seat=seat, text=text, openings=openings, step=self.step))

    def _moved(self, seat: int, text: str) -> events.Faces:
        own = self.local.faces[seat]
        try:
            slots = self.game.slots_of(seat, text, own)
        except Refused:
            text, slots = "pass", ()
        openings = tuple((slot, own[slot]) for slot in slots)
        self.game.apply(Moved(seat=seat, text=text, openings=openings))
        self.step += 1
        return openings

    def _tell(self, event: events.Event) -> None:
        self.happened.append(event)


@pytest.fixture
def practice() -> type[PracticeTable]:
    return PracticeTable


@pytest.fixture
def main(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., tuple[int, str, str]]:
    """Run a command line in a home of its own: (status, stdout, stderr)."""
    monkeypatch.setenv("P2P_RUMMY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LANG", "C")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("P2P_RUMMY_DEBUG", raising=False)

    def run(*words: str | Path) -> tuple[int, str, str]:
        try:
            status = cli.main([str(word) for word in words])
        except SystemExit as exit_:
            status = int(exit_.code or 0)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run
