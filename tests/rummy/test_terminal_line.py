"""Line mode at a table with known cards: what is told, what is typed, what is sent and what is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from p2p_rummy.cards import card_number, pack_cards
from p2p_rummy.terminal.line import LineMode
from protocol import events
from protocol.errors import LocalProtocolError
from protocol.game import Deal, Dealt, Moved, Over, Window

MINE = ["6H", "7H", "8H", "9S", "9D", "2C", "KC"]
NEXT = ["9H", "3S", "5D", "7C", "JD", "QC", "8D"]
LAST = ["2S", "4S", "6D", "8C", "JC", "QD", "TD"]
TURNED_UP = "TH"
STOCK = ["9C", "KD", "4H", "AS", "KS"]


class Player:
    """Line mode, its table, and everything that it has written."""

    def __init__(self, make: Callable[..., Any], **how: Any) -> None:
        dealt = [card for row in zip(MINE, NEXT, LAST, strict=True) for card in row]
        first = [*dealt, TURNED_UP, *STOCK]
        rest = [
            card for card in pack_cards(packs=1, jokers_per_pack=2) if card not in map(card_number, first)
        ]
        pack = [*map(card_number, first), *rest]
        probe = make("rum500", 3, packs=[pack])
        probe.run()
        eldest = (probe.local.game.snapshot()["dealer"] + 1) % 3
        self.table = make("rum500", 3, me=eldest, packs=[pack], **how)
        self.lines: list[str] = []
        self.now = 0.0
        self.face = LineMode(self.table, self.lines.extend, lambda: self.now)
        self.others = [name for seat, name in enumerate(self.face.names) if seat != eldest]
        self.go_on()

    def go_on(self) -> None:
        """Until something is asked of this seat."""
        while True:
            self.table.run()
            for event in self.table.listen():
                self.face.event(event)
            if not self.table.happened or isinstance(self.table.game.need, Over):
                return

    def type(self, *lines: str) -> list[str]:
        """Type, let the table go on, and return what was written."""
        begun = len(self.lines)
        for line in lines:
            self.face.typed(line)
            if self.table.happened:
                self.go_on()
        return self.lines[begun:]

    def close_window(self) -> list[str]:
        begun = len(self.lines)
        self.table.close_window()
        self.go_on()
        return self.lines[begun:]

    def own_moves(self) -> list[str]:
        return [line for line in self.lines if line.startswith("You ")]


def draw_and_discard(_seat: int, legal: Sequence[str]) -> str:
    """The other seats: draw, discard 9H or else their first card, call nothing."""
    for wanted in ("draw", "pass", "discard 9H"):
        if wanted in legal:
            return wanted
    return next(text for text in legal if text.startswith("discard"))


@pytest.fixture
def player(practice: Callable[..., Any]) -> Player:
    return Player(practice, others=draw_and_discard)


def test_before_the_first_turn_the_table_is_told_from_the_words_to_the_deal(player: Player) -> None:
    text = "\n".join(player.lines)
    assert "  apple brick cloud dust" in player.lines
    assert "  You shuffle" in text
    for name in player.others:
        assert f"  {name} has shuffled; the proof holds (22 ms)." in player.lines
    assert "The cards are dealt." in player.lines
    assert player.lines.index("The cards are dealt.") < player.lines.index("YOUR TURN")


def test_ones_own_turn_shows_the_hand_by_suit_the_pile_and_the_stock(player: Player) -> None:
    begun = player.lines.index("YOUR TURN")
    assert "Pile, bottom to top (1): TH   Stock: 32 cards." in player.lines[begun:]
    assert "Your hand (7): 9S  6H 7H 8H  9D  2C KC" in player.lines[begun:]
    assert player.lines[-1].startswith("Draw from the stock")


def test_a_key_sorts_the_hand_by_rank_and_back(player: Player) -> None:
    assert player.type("r") == ["Your hand (7): 2C  6H  7H  8H  9S 9D  KC"]
    assert player.type("s") == ["Your hand (7): 9S  6H 7H 8H  9D  2C KC"]


def test_a_drawn_card_is_told_once_and_marked_in_the_hand(player: Player) -> None:
    assert player.type("draw") == [
        "You draw 9C.",
        "Your hand (8): 9S  6H 7H 8H  9D  2C 9C KC  (new: 9C)",
        "Meld, lay off, or discard.",
    ]


def test_a_meld_is_kept_back_until_the_discard_and_can_be_taken_back(player: Player) -> None:
    player.type("draw")
    written = player.type("meld 6h 7h 8h")
    assert written[0] == "Put down: meld 6H 7H 8H"
    assert written[1] == "Your hand (5): 9S  9D  2C 9C KC  (new: 9C)"
    assert player.table.game.snapshot()["melds"] == []
    assert player.type("undo")[0] == "Taken back: meld 6H 7H 8H"
    assert player.type("undo") == ["There is nothing to take back: what is sent stays."]
    assert player.table.game.snapshot()["melds"] == []


def test_what_is_kept_back_stands_on_ones_own_table(player: Player) -> None:
    written = player.type("draw", "meld 6H 7H 8H", "table")
    assert "  1 run, You: 6H 7H 8H" in written
    assert player.type("lay TH on 1")[0].startswith("No: you do not hold TH")


def test_the_discard_sends_everything_in_order(player: Player) -> None:
    written = player.type("draw", "meld 6H 7H 8H", "meld 9S 9D 9C", "discard KC")
    moves = [line for line in written if line.startswith("You ")]
    assert moves == ["You draw 9C.", "You meld 6H 7H 8H.", "You meld 9S 9D 9C.", "You discard KC."]
    assert len(player.table.game.snapshot()["melds"]) == 2
    assert player.type("undo") == ["There is nothing to take back: what is sent stays."]


def test_send_sends_the_melds_and_the_turn_goes_on(player: Player) -> None:
    player.type("draw", "meld 6H 7H 8H")
    assert "You meld 6H 7H 8H." in player.type("send")
    assert player.type("send") == ["Nothing is waiting to be sent."]
    assert "You discard KC." in player.type("discard KC")


def test_a_wrong_move_names_its_rule_and_what_is_legal(player: Player) -> None:
    player.type("draw")
    written = player.type("meld 6H 7H 9S")
    assert written[0] == "No: 6H 7H 9S make neither a group nor a run (R37)."
    assert written[1] == "You may:"
    assert any(line.startswith("  meld 6H 7H 8H") for line in written)
    assert player.table.game.snapshot()["melds"] == []


def test_a_line_that_is_no_move_points_to_help(player: Player) -> None:
    written = player.type("dance")
    assert written[0].startswith("No: that is not a move; `help` lists the moves")
    assert any("take 4H" in line for line in player.type("help"))


def test_legal_lists_what_may_be_done(player: Player) -> None:
    assert player.type("legal") == ["You may:", "  draw", "  take TH"]


def test_every_line_fits_eighty_columns(player: Player) -> None:
    player.type("help", "legal", "who", "scores", "rules", "draw", "legal", "meld 6H 8H", "discard KC")
    long = [
        line
        for line in player.lines
        if len(line) > 80 and "p2p-rummy verify" not in line and "RUMMY-" not in line
    ]
    assert long == []


# --- the call window ------------------------------------------------------------------------------------


def after_my_turn(player: Player) -> None:
    """I lay 6H 7H 8H and discard; the next seat draws KD and discards: its window is open."""
    player.type("draw", "meld 6H 7H 8H", "discard KC")
    assert isinstance(player.table.game.need, Window)


def test_a_window_says_how_long_it_is_and_never_whether_a_call_exists(player: Player) -> None:
    after_my_turn(player)
    assert player.lines[-1] == "Call window, 10 seconds: `rummy ...` to call; otherwise you pass."
    assert player.type("legal") == ["You may:", "  pass"]


def test_the_countdown_is_said_once_more_and_only_while_nothing_is_answered(player: Player) -> None:
    after_my_turn(player)
    assert player.face.due() == 7.0
    player.now = 7.0
    player.face.clock()
    assert player.lines[-1] == "3 seconds left to call."
    assert player.face.due() is None


def test_enter_passes(player: Player) -> None:
    after_my_turn(player)
    assert player.type("") == ["Your answer: pass (it may be changed until the countdown ends)."]
    player.now = 7.0
    player.face.clock()
    assert player.lines[-1].startswith("Your answer")


def test_without_a_countdown_the_time_for_an_answer_is_said(player: Player) -> None:
    """Half of the 15 s that a step has, after the event's 10: an answer is sealed when it is given."""
    player.table.agreement = replace(player.table.agreement, window_ms=0)
    after_my_turn(player)
    assert player.lines[-1] == "Call window, 18 seconds at most: `rummy ...` to call, Enter to pass."
    assert player.face.due() == 14.5
    assert player.type("") == ["Your answer: pass."]


def test_a_draw_typed_in_a_window_is_for_the_next_turn_and_no_answer(player: Player) -> None:
    after_my_turn(player)
    assert player.type("draw") == ["Chosen for your turn: draw."]
    assert player.table.ahead == "draw"
    player.now = 7.0
    player.face.clock()
    assert player.lines[-1] == "3 seconds left to call."


def test_a_call_that_is_not_possible_is_refused_with_its_rule(player: Player) -> None:
    after_my_turn(player)
    written = player.type("rummy KC on 1")
    assert written[0].startswith("No: KC cannot be called")
    assert "(R52)" in " ".join(written[:2])


def test_a_call_that_fits_is_answered_told_and_gives_the_turn(player: Player) -> None:
    after_my_turn(player)
    assert player.lines[-2].endswith(" discards 9H.")
    answered = player.type("rummy 9H on 1")
    assert answered == ["Your answer: rummy 9H on 1 (it may be changed until the countdown ends)."]
    written = player.close_window()
    assert written[0] == "You call Rummy! 9H of the pile on meld 1."
    assert written[-1] == "Meld, lay off, or discard."  # R106: no draw
    assert "  1 run, You: 6H 7H 8H 9H" in written


def test_nothing_asked_says_who_is_to_act(player: Player) -> None:
    after_my_turn(player)
    player.close_window()
    text = "\n".join(player.lines)
    assert "draws from the stock." in text


def test_a_player_who_thinks_is_announced_one_who_moves_at_once_is_not(player: Player) -> None:
    seat = (player.table.me + 1) % 3
    player.face.event(events.TurnBegan(seat=seat, deadline=90.0))
    before = len(player.lines)
    player.now = 1.5
    player.face.clock()
    assert player.lines[before:] == [f"{player.face.names[seat]} is to play."]


# --- the rest -------------------------------------------------------------------------------------------


def test_names_of_others_cannot_drive_the_terminal(practice: Callable[..., Any]) -> None:
    names = ("Ann", "Bo", "Cy")
    player = Player(practice, others=draw_and_discard, names=names)
    player.face.event(events.ChatSaid(seat=0, text="\x1b[2Jhello\r\nYOUR TURN"))
    assert "\x1b" not in player.lines[-1]
    assert "\n" not in player.lines[-1]


def test_chat_goes_to_the_table(player: Player) -> None:
    assert player.type("say Good luck!") == []
    assert player.table.chats == ["Good luck!"]


def test_a_finished_hand_shows_how_it_was_scored(practice: Callable[..., Any]) -> None:
    player = Player(practice, others=draw_and_discard)
    for _turn in range(100):
        if "Hand 1 is over." in player.lines:
            break
        if isinstance(player.table.game.need, Window):
            player.close_window()
        elif player.table.game.snapshot()["phase"] == "draw":
            player.type("draw" if "draw" in player.table.legal_moves() else "pass")
        else:
            player.type(next(text for text in player.table.legal_moves() if text.startswith("discard")))
    at = player.lines.index("Hand 1 is over.")
    rows = player.lines[at + 1 : at + 4]
    assert [row.partition(":")[0].strip() for row in rows] == player.face.names
    assert "Score sheet, to 500:" in player.lines[at:]


def test_who_sits_here_shows_the_seats_own_ticket(player: Player) -> None:
    """For a friend who watches, and for one who cannot find this seat any more (F6)."""
    said = player.type("who")
    assert said[-2:] == [
        "Your ticket, to watch by, and for `resume --via` of who cannot find you:",
        f"  {player.table.ticket}",
    ]


def test_a_seat_that_cannot_be_found_has_no_ticket_to_show(
    player: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(table: object) -> None:
        raise LocalProtocolError("this peer has told nobody where it can be reached")

    del player.table.ticket
    monkeypatch.setattr(type(player.table), "ticket", property(none), raising=False)
    assert "ticket" not in " ".join(player.type("who"))


def test_leaving_says_how_to_come_back(player: Player) -> None:
    assert "p2p-rummy resume" in player.type("leave")[0]
    assert player.face.leaving


def test_who_looks_on_is_told_how_to_look_on_again(player: Player) -> None:
    player.table.me = None
    assert player.type("leave") == [
        "You look on no more. `p2p-rummy watch` with the same ticket brings you back."
    ]


def test_a_long_turn_is_warned_before_it_counts_as_missing(player: Player) -> None:
    me = player.table.me
    player.face.event(events.TurnBegan(seat=me, deadline=120.0))
    assert player.face.due() == 100.0
    player.now = 100.0
    player.face.clock()
    assert player.lines[-1] == "20 seconds left for your turn."


def test_a_resumed_table_is_shown_as_it_stands(player: Player) -> None:
    player.type("draw")
    lines: list[str] = []
    face = LineMode(player.table, lines.extend, lambda: 0.0)
    assert lines[0] == "Back at the table."
    assert "Your hand (8): 9S  6H 7H 8H  9D  2C 9C KC" in lines
    lines.clear()
    face.event(events.TurnBegan(seat=player.table.me, deadline=30.0))
    assert lines == ["Your hand (8): 9S  6H 7H 8H  9D  2C 9C KC", "Meld, lay off, or discard."]


def test_a_table_that_is_resumed_while_a_drawn_card_is_on_its_way_is_shown_too(player: Player) -> None:
    me, game = player.table.me, player.table.game
    game.apply(Moved(seat=me, text="draw"))
    need = game.need
    assert isinstance(need, Deal), "the others owe their shares of it"
    player.lines.clear()
    face = LineMode(player.table, player.lines.extend, lambda: 0.0)
    assert player.lines[0] == "Back at the table."
    assert "Your hand (8): 9S  6H 7H 8H  9D  2C KC and 1 on its way" in player.lines
    ((slot, owner),) = need.owners
    assert owner == me
    player.table.local.faces[me][slot] = card_number("9C")
    game.apply(Dealt())
    player.lines.clear()
    face.event(events.CardsSeen(faces=((slot, card_number("9C")),)))
    assert player.lines == ["You draw 9C."], "it was no deal"


def test_what_is_taken_from_inside_the_pile_is_told_whole_and_marked_as_new(player: Player) -> None:
    """Found by playing: a step's close was told before its move, and the pile was read too late."""
    after_my_turn(player)
    player.close_window()
    while isinstance(player.table.game.need, Window):
        player.close_window()
    pile = player.table.game.snapshot()["discard"]
    assert pile[0] == "TH"
    player.face.event(events.StepClosed(step=9, epoch=0, head=bytes(32), final=False))
    player.face.typed("take TH")
    player.face.event(events.StepClosed(step=10, epoch=0, head=bytes(32), final=False))
    begun = len(player.lines)
    player.go_on()
    written = player.lines[begun:]
    assert written[0] == f"You take TH from the pile with all above it: {' '.join(pile)}."
    assert any(line.endswith(f"(new: {' '.join(pile)})") for line in written)


# --- what only one's own hand forbids -------------------------------------------------------------------


def test_a_take_that_nothing_in_the_hand_could_use_must_be_typed_twice(player: Player) -> None:
    """R25: no other peer can refuse it, so the player's own program asks first."""
    after_my_turn(player)
    while isinstance(player.table.game.need, Window):
        player.close_window()
    before = player.table.game.digest()
    assert "KC" in player.table.game.snapshot()["discard"][:-1]
    assert "(R23)" in " ".join(player.type("take KC"))
    assert player.table.game.digest() == before
    assert player.type("take KC")[0].startswith("You take KC from the pile with all above it")


def test_in_rummoli_nobody_is_asked_who_can_only_pass_and_nobody_lies_by_accident(
    practice: Callable[..., Any],
) -> None:
    table = practice("rummoli", 3, options={"max_rounds": "1"})
    lines: list[str] = []
    face = LineMode(table, lines.extend, lambda: 0.0)
    asked = lies = 0
    for _step in range(400):
        table.run()
        for event in table.listen():
            face.event(event)
        if isinstance(table.game.need, Over):
            break
        legal = table.legal_moves()
        if isinstance(table.game.need, Window):
            if legal == ["pass"]:
                table.close_window()  # answered without asking
                continue
            asked += lines[-2] == "Play the card that must follow."
        if any(text.startswith("play") for text in legal) and "pass" not in legal:
            before = table.game.digest()
            face.typed("pass")
            assert table.game.digest() == before
            lies += lines[-1].startswith("  play")
        face.typed(legal[0])
        if isinstance(table.game.need, Window) and not table.happened:
            table.close_window()
    assert isinstance(table.game.need, Over)
    assert asked
    assert lies
    assert "Your answer: pass (it may be changed until the countdown ends)." not in lines


def test_help_is_for_the_game_that_is_played(practice: Callable[..., Any], player: Player) -> None:
    assert any(line.startswith("  meld") for line in player.type("help"))
    lines: list[str] = []
    LineMode(practice("rummoli", 3), lines.extend, lambda: 0.0).typed("help")
    assert any(line.startswith("  bid 3") for line in lines)
    assert not any(line.startswith("  meld 6H") for line in lines)


def test_the_end_names_the_winner_the_head_and_how_to_check_the_log(player: Player) -> None:
    me = player.table.me
    scores = tuple(510 if seat == me else 20 for seat in range(3))
    player.face.event(events.GameOver(scores=scores, winners=(me,), head=bytes(32)))
    assert "The game is over. You: 510 points, and the game." in player.lines
    assert player.lines[-1] == "Check it with: p2p-rummy verify /nowhere/table.log"
    player.face.event(events.GameOver(scores=scores, winners=(), head=bytes(32)))
    assert "The game ends without a winner." in player.lines
