"""hand.json: one hand of rum500 between two seats, from the agreement to the last signature.

The players follow the same few rules (:func:`choose`), so the log depends on nothing but the protocol, the game's rules and
:func:`~scripts.vector_files.form.fixed`.
"""

from __future__ import annotations

from typing import Any

from p2p_rummy.agreed import RULES_VERSION, agreed_game
from p2p_rummy.cards import PACK, card_name, card_number, is_joker
from p2p_rummy.games.rum import RumGame
from p2p_rummy.games.rum_snapshot import state
from protocol import log
from protocol.agreement import Agreement, claim
from protocol.course import Course
from protocol.dealing import RealDecks
from protocol.entry import Entry, sign
from protocol.game import Faces, Game, Over, Seat
from protocol.identity import words
from protocol.journal import LOG_MAGIC
from protocol.judge import judge
from protocol.own import OwnSeat
from protocol.position import Stage, scores_of
from scripts.vector_files.form import File, fixed, somebody, source
from scripts.vector_files.needs import told

SEATS = 2
DEAL = "5"
"""Part of every name that randomness comes from: this deal has a call in it, and a score below zero."""


def agreement() -> Agreement:
    claims = tuple(
        claim(somebody(seat), name, fixed(f"hand {DEAL} salt/{seat}"))
        for seat, name in enumerate(("Ann", "Bo"))
    )
    options = (("max_hands", "1"), ("target", "none"))
    return Agreement(game="rum500", rules_version=RULES_VERSION, options=options, seats=claims)


def make() -> File:
    return Playing().file()


class Playing:
    """Both seats and the course of their table."""

    def __init__(self) -> None:
        self.agreement = agreement()
        decks = RealDecks()
        self.course = Course(self.agreement, agreed_game, decks)
        self.entropy = source(f"hand {DEAL}")
        self.seats = [
            OwnSeat(somebody(seat), seat, decks, source(f"hand {DEAL}/{seat}"), {}) for seat in range(SEATS)
        ]
        self.records = [log.encode_agreement(self.agreement.encode())]
        self.steps: list[dict[str, Any]] = []
        while self.course.stage is not Stage.END:
            self._step()

    def _step(self) -> None:
        course, due = self.course, self.course.due
        needed = told(course)
        entries: dict[int, Entry | None] = {seat: self._entry(seat) for seat in due.seats}
        for entry in entries.values():
            assert entry is not None
            judge(course, entry, self.entropy(32))
        if due.stage in _DIGESTED:
            game = course.game
            assert isinstance(game, RumGame)
            needed["state"] = state(game.table)
        closed, _ = course.close(entries, self.entropy(32))
        self.records.append(closed.encode())
        said = {str(entry.seat): entry.body[0] for entry in closed.entries if due.stage in _SPOKEN}
        self.steps.append({**needed, **({"said": said} if said else {})})

    def _entry(self, seat: Seat) -> Entry:
        course, own, due = self.course, self.seats[seat], self.course.due
        kind = due.kinds[0]
        body: Any = None
        match course.stage:
            case Stage.MOVE:
                body = own.move_body(course, choose(course.game, seat, own.faces(course)))
            case Stage.SEALED:
                body, _ = own.seal(course, choose(course.game, seat, own.faces(course)))
            case Stage.ANSWER:
                made = own.opened(course.answers[seat].commitment)
                assert made is not None
                kind, body = made
            case _:
                if course.stage is Stage.COMMIT:
                    own.begin_hand(course)
                kind, body = own.maker(course, (), ())()
        return sign(
            somebody(seat),
            table=self.agreement.table,
            epoch=due.epoch,
            step=due.step,
            seat=seat,
            kind=kind,
            body=body,
            prev=due.prev,
        )

    def file(self) -> File:
        course = self.course
        need = course.game.need
        assert isinstance(need, Over)
        return {
            "about": "SPEC.md sections 8, 9 and 16.2: a hand of rum500 for two.  `records` are those of the public log, in "
            "order, each after the agreement for one step; `steps` says what the game needed, for a reader without the game, "
            "and the `state` of which RULING and RESULT carry the digest (plain data: 9.1).",
            "file_magic": LOG_MAGIC.hex(),
            "seeds": [fixed(f"identity/{seat}").hex() for seat in range(SEATS)],
            "table": self.agreement.table.hex(),
            "words": words(course.first_head),
            "head": course.head.hex(),
            "scores": list(scores_of(course.game)),
            "winners": list(need.winners),
            "card_names": {str(card): card_name(card) for card in sorted(self._cards())},
            "steps": self.steps,
            "records": [record.hex() for record in self.records],
        }

    def _cards(self) -> set[int]:
        return {card for step in self.steps for card in step.get("cards", ())}


_SPOKEN = (Stage.MOVE, Stage.ANSWER)
_DIGESTED = (Stage.RULING, Stage.RESULT)


# --- how they play ---------------------------------------------------------------------------------------


def choose(game: Game, seat: Seat, faces: Faces) -> str:
    """Meld what can be melded, take what must be used, call what can be called, keep pairs, discard what is dear."""
    moves = sorted(game.legal_moves(seat, faces))
    public = game.snapshot()
    hand = [card_name(card) for card in faces.values()]
    hand += [held["card"] for held in public["hands"][seat] if held["card"]]

    def worth(move: str) -> tuple[int, int, str]:
        verb, _, rest = move.partition(" ")
        cards = [
            card_number(word.partition("=")[0])
            for word in rest.split()
            if word != "on" and not word.isdecimal()
        ]
        match verb:
            case "meld" | "rummy":
                return 5, len(cards), move
            case "lay":
                return 4, 0, move
            case "take" if rest != public["discard"][-1]:
                return 3, -public["discard"][::-1].index(rest), move
            case "draw" | "pass":
                return 2, 0, move
            case "discard":
                return 1, dearness(cards[0], [card_number(name) for name in hand]), move
            case _:
                return 0, 0, move

    return max(moves, key=worth)


def dearness(card: int, hand: list[int]) -> int:
    """How gladly a card is given away: its points, less much for each card that it may be melded with."""
    if is_joker(card):
        return -1000
    kind = card % PACK
    near = [
        other
        for other in hand
        if other != card
        and not is_joker(other)
        and (
            other % PACK % 13 == kind % 13
            or (other % PACK // 13 == kind // 13 and abs(other % PACK - kind) <= 2)
        )
    ]
    points = 15 if kind % 13 == 0 else min(kind % 13 + 1, 10)
    return points - 12 * len(near)
