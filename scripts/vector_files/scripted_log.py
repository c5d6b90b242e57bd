"""The log of entries.json: three seats, one of whom leaves, and the lies that are refused on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from protocol import ballot, log
from protocol.agreement import Agreement, agreement_nonce, claim
from protocol.ballot import ABSENT, Certificate, Slot
from protocol.course import Course
from protocol.dealing import RealDecks
from protocol.entry import Entry, Kind, sign
from protocol.group import secret_combination
from protocol.hand_secret import HandSecret
from protocol.identity import words
from protocol.judge import judge
from protocol.position import Stage
from protocol.proofs import SecretStream, Transcript, prove_equality
from protocol.window import commitment
from scripts.vector_files.form import Case, fixed, refused, somebody, source
from scripts.vector_files.needs import told
from scripts.vector_files.scripted import scripted_game

SEATS: Final = 3
NAMES: Final = ("Ann", "Bo", "Cy")
CALL: Final = "rummy 50"


def agreement() -> Agreement:
    claims = tuple(
        claim(somebody(seat), name, fixed(f"salt/{seat}"), bot="steady" if seat == 2 else "")
        for seat, name in enumerate(NAMES)
    )
    options = (("calling", "full"), ("target", "500"))
    return Agreement(game="scripted", rules_version=1, options=options, seats=claims)


def shown(entry: Entry) -> dict[str, Any]:
    return {
        "seat": entry.seat,
        "kind": entry.kind.name,
        "round": entry.round,
        "entry": [entry.content.hex(), entry.signature.hex()],
        "id": entry.id.hex(),
    }


class Scripted:
    """Plays the scripted game with a real deck, writes every step down, and tries some lies on the way."""

    def __init__(self) -> None:
        self.agreement = agreement()
        self.course = Course(self.agreement, scripted_game, RealDecks())
        self.entropy = source("entries")
        self.secrets: dict[int, HandSecret] = {}
        self.answers: dict[int, list[Any]] = {}
        self.steps: list[dict[str, Any]] = []
        self.votes: list[Entry] = []
        self.illegal: list[Case] = []
        self.closed: list[log.ClosedStep] = []
        self.certificate: Certificate
        self.request: Entry
        self.complaint: Entry
        self.first: Entry
        self.agreed: Entry
        self.committed: Entry

    def run(self) -> None:
        while self.course.stage is not Stage.END:
            self.step()
        self.step()

    def step(self) -> None:
        course, due, needed = self.course, self.course.due, told(self.course)
        if due.stage is Stage.COMMIT:
            for seat in due.seats:
                root = somebody(seat).derive("hand", self.agreement.table, due.prev)
                self.secrets[seat] = HandSecret(fixed(f"hand/{seat}"), root, self.deck(), seat)
        absent = due.stage is Stage.MOVE and due.seats == (1,)
        entries = {seat: None if absent else self.entry(seat) for seat in due.seats}
        for entry in entries.values():
            if entry is not None:
                judge(course, entry, self.entropy(32))
        self.lie()
        if absent:
            self.decide()
        closed, _ = course.close(entries, self.entropy(32))
        self.closed.append(closed)
        if closed.step == 0:
            self.agreed = closed.entries[0]
        if due.stage is Stage.COMMIT:
            self.committed = closed.entries[0]
        self.steps.append(
            {
                **needed,
                "epoch": closed.epoch,
                "prev": closed.prev.hex(),
                "entries": [shown(entry) for entry in closed.entries],
                "absent": list(closed.absent),
                "head": closed.head.hex(),
                **({"words": words(closed.head)} if closed.step == 0 else {}),
            }
        )
        if due.stage is Stage.MOVE and not absent:
            self.first = closed.entries[0]
        if due.stage is Stage.RESTORE:
            self.request = self.ask_to_return()

    def deck(self) -> Any:
        return self.course.deck

    # --- what is said ---

    def sign(self, seat: int, kind: Kind, body: Any, **other: Any) -> Entry:
        due = self.course.due
        fields: dict[str, Any] = {
            "table": self.agreement.table,
            "epoch": due.epoch,
            "step": due.step,
            "prev": due.prev,
        } | other
        return sign(somebody(seat), seat=seat, kind=kind, body=body, **fields)

    def entry(self, seat: int) -> Entry:
        kind = self.course.due.kinds[0]
        return self.sign(seat, kind, self.body(seat))

    def body(self, seat: int) -> Any:
        course, context = self.course, self.course.context()
        secret = self.secrets.get(seat)
        match course.stage:
            case Stage.AGREE:
                return agreement_nonce(somebody(seat), self.agreement.seats[seat].salt)
            case Stage.RULING:
                return course.ruling()
            case Stage.RECORD:
                return [self.certificate.value()]
            case Stage.RESULT:
                return course.result([self.request])
            case Stage.END:
                return []
            case Stage.ANSWER:
                return self.answers[seat]
        assert secret is not None
        match course.stage:
            case Stage.COMMIT:
                return secret.commit(context, self.entropy(32))
            case Stage.REVEAL:
                return secret.reveal(context, self.entropy(32))
            case Stage.SHUFFLE:
                return secret.shuffle(context, self.entropy(32))
            case Stage.SHARES:
                return secret.shares(context, course.slots_owed(seat), self.entropy(32))
            case Stage.MOVE:
                return ["discard", [0], secret.opening(context, [0], self.entropy(32))]
            case Stage.SHOW:
                return secret.opening(context, course.slots_owed(seat), self.entropy(32))
            case Stage.RESTORE:
                return [secret.restore(leaving) for leaving in course.leaving]
            case _:
                answer = ["pass", [], [], fixed(f"answer/{seat}")]
                if seat == 2:
                    answer[:3] = [CALL, [2], secret.opening(context, [2], self.entropy(32))]
                self.answers[seat] = answer
                return commitment(context, seat, answer)

    def ask_to_return(self) -> Entry:
        mark = self.course.mark
        assert mark is not None
        return self.sign(1, Kind.RETURN, [mark.hand], epoch=mark.epoch, step=mark.step, prev=mark.prev)

    def decide(self) -> None:
        """Seats 0 and 2 ask for round 1; seat 2 leads it; they agree that seat 1 is absent."""
        due = self.course.due
        closing = tuple((seat, ABSENT) for seat in due.seats)
        asks = [self.sign(seat, Kind.ROUND_CHANGE, ballot.round_change_body(()), round=1) for seat in (0, 2)]
        proposal = self.sign(2, Kind.PROPOSAL, ballot.proposal_body(closing, None), round=1)
        prevotes = [
            self.sign(seat, Kind.PREVOTE, ballot.prevote_body(closing, (), (), 0), round=1) for seat in (0, 2)
        ]
        precommits = [
            self.sign(seat, Kind.PRECOMMIT, ballot.precommit_body(closing, ()), round=1) for seat in (0, 2)
        ]
        self.votes = [proposal, *prevotes, *precommits, *asks]
        self.certificate = ballot.make_certificate([ballot.read_vote(vote) for vote in precommits])
        place = Slot(table=self.agreement.table, epoch=due.epoch, step=due.step, prev=due.prev)
        ballot.verify_certificate(
            self.certificate, place, self.course.keys, kind=Kind.PRECOMMIT, owed=due.seats
        )

    # --- what is refused ---

    def lie(self) -> None:
        """Statements about the open step that its judge refuses."""
        make = _LIES.get(self.course.stage)
        if make is None or (self.course.stage is Stage.MOVE and self.course.due.seats == (1,)):
            return
        for comment, reason, entry in make(self):
            self.illegal.append(
                refused(comment, reason, step=entry.step, seat=entry.seat, entry=[entry.content.hex(), entry.signature.hex()])
            )  # fmt: skip


Lies = list[tuple[str, str, Entry]]


def _agree(self: Scripted) -> Lies:
    nonce = self.body(0)
    return [
        ("another nonce", "wrong_nonce", self.sign(0, Kind.AGREE, fixed("another nonce"))),
        ("the nonce of another seat", "wrong_nonce", self.sign(1, Kind.AGREE, nonce)),
        ("a nonce of 31 bytes", "bad_encoding", self.sign(0, Kind.AGREE, nonce[:31])),
        ("F75 text for bytes", "bad_encoding", self.sign(0, Kind.AGREE, "x" * 32)),
        ("another kind", "out_of_turn", self.sign(0, Kind.END, [])),
        ("a round", "out_of_turn", self.sign(0, Kind.AGREE, nonce, round=1)),
    ]


def _commit(self: Scripted) -> Lies:
    good = self.body(0)
    return [
        ("N3 the commitment of another seat", "bad_possession_proof", self.sign(1, Kind.COMMIT, good)),
        ("N1 without the proof", "bad_encoding", self.sign(0, Kind.COMMIT, good[:2])),
        ("as in a hand without backups", "bad_encoding", self.sign(0, Kind.COMMIT, good[:1])),
    ]


def _reveal(self: Scripted) -> Lies:
    good = self.body(0)
    nonce = [fixed("another nonce"), *good[1:]]
    points = good[3]
    backup = [*good[:3], points[33:66] + points[33:], *good[4:]]
    return [
        ("F64, N6 another nonce than was committed to", "bad_reveal", self.sign(0, Kind.REVEAL, nonce)),
        ("N28 another backup than was committed to", "bad_reveal", self.sign(0, Kind.REVEAL, backup)),
        ("N6 what another seat revealed", "bad_encoding", self.sign(0, Kind.REVEAL, self.body(1)[:-1])),
        ("N3 the reveal of another seat", "bad_reveal", self.sign(0, Kind.REVEAL, self.body(1))),
    ]


def _shuffle(self: Scripted) -> Lies:
    turn = self.course.due.seats[0]
    if self.deck().shuffle_order[0] != turn:
        return []
    other = (turn + 1) % SEATS
    good = self.body(turn)
    self.complaint = self.sign(turn, Kind.COMPLAINT, _false_complaint(self, turn))
    judge(self.course, self.complaint, self.entropy(32))
    return [
        ("F53 a shuffle by a seat that is not on turn", "out_of_turn", self.sign(other, Kind.SHUFFLE, good)),
        ("N15 outputs cut short", "bad_encoding", self.sign(turn, Kind.SHUFFLE, [good[0][:-66], good[1]])),
        ("N13 two outputs swapped", "bad_shuffle_proof",
         self.sign(turn, Kind.SHUFFLE, [good[0][66:132] + good[0][:66] + good[0][132:], good[1]])),
    ]  # fmt: skip


def _false_complaint(self: Scripted, seat: int) -> list[Any]:
    """A complaint of the right form about a good share."""
    dealer = (seat + 1) % SEATS
    secret = self.secrets[seat]._sealing_secret()
    keys = self.deck().keys
    base = keys.backup(dealer).ephemeral
    point = secret_combination(None, ((base, secret),))
    transcript = Transcript(self.course.context(), "complaint", seat, dealer)
    stream = SecretStream(fixed("false complaint"))
    return [
        dealer,
        point.encoded,
        prove_equality(transcript, secret, keys.sealing_key(seat), [base], [point], stream),
    ]


def _shares(self: Scripted) -> Lies:
    one, two = self.body(0), self.body(1)
    return [
        ("F49, N25 the shares of another seat", "bad_equality_proof", self.sign(0, Kind.SHARES, two)),
        ("one share too few", "bad_encoding", self.sign(0, Kind.SHARES, [one[0][:-33], one[1]])),
    ]


def _move(self: Scripted) -> Lies:
    context, secrets = self.course.context(), self.secrets
    opening = secrets[0].opening(context, [0], self.entropy(32))
    theirs = secrets[1].opening(context, [1], self.entropy(32))
    return [
        ("F52 a move that the game refuses", "illegal_move", self.sign(0, Kind.MOVE, ["cheat", [], []])),
        ("N34 a move by a seat that is not on turn", "out_of_turn", self.sign(1, Kind.MOVE, ["discard", [1], theirs])),
        ("N26 a slot of another seat", "not_held", self.sign(0, Kind.MOVE, ["discard", [1], theirs])),
        ("N26 a slot that is open", "not_held", self.sign(0, Kind.MOVE, ["discard", [6], opening])),
        ("an opening made for another slot", "bad_equality_proof", self.sign(0, Kind.MOVE, ["discard", [3], opening])),
        ("slots that do not rise", "bad_encoding", self.sign(0, Kind.MOVE, ["discard", [3, 0], opening])),
        ("an opening of no slots", "bad_encoding", self.sign(0, Kind.MOVE, ["discard", [], opening])),
        ("text of 201 characters", "bad_encoding", self.sign(0, Kind.MOVE, ["x" * 201, [], []])),
    ]  # fmt: skip


def _answer(self: Scripted) -> Lies:
    text, slots, opening, nonce = self.answers[2]
    return [
        ("F42 a pass in the place of a sealed call", "wrong_answer", self.sign(2, Kind.ANSWER, ["pass", [], [], nonce])),
        ("another nonce", "wrong_answer", self.sign(2, Kind.ANSWER, [text, slots, opening, fixed("another nonce")])),
        ("the nonce missing", "bad_encoding", self.sign(2, Kind.ANSWER, [text, slots, opening, b""])),
        ("what another seat sealed", "wrong_answer", self.sign(1, Kind.ANSWER, self.answers[2])),
    ]  # fmt: skip


def _ruling(self: Scripted) -> Lies:
    (arbiter,) = self.course.due.seats
    listed, won, digest = self.body(arbiter)
    omitted = [listed[0], [2, b""]]
    return [
        (
            "F44, N35 a ruling that omits a call",
            "wrong_ruling",
            self.sign(arbiter, Kind.RULING, [omitted, 0, digest]),
        ),
        ("N35 another winner", "wrong_ruling", self.sign(arbiter, Kind.RULING, [listed, 2, digest])),
        (
            "F63 another state",
            "wrong_ruling",
            self.sign(arbiter, Kind.RULING, [listed, won, fixed("another digest")]),
        ),
        ("a ruling by the discarder", "out_of_turn", self.sign(0, Kind.RULING, [listed, won, digest])),
    ]


def _record(self: Scripted) -> Lies:
    (arbiter,) = self.course.due.seats
    (good,) = self.body(arbiter)
    prevotes = [vote.value() for vote in self.votes[1:3]]
    return [
        ("F47 one vote is no quorum", "bad_certificate", self.sign(arbiter, Kind.RECORD, [good[:1]])),
        ("F47 one vote twice", "bad_certificate", self.sign(arbiter, Kind.RECORD, [[good[0], good[0]]])),
        ("F47 prevotes", "bad_certificate", self.sign(arbiter, Kind.RECORD, [prevotes])),
        ("F47 a forged signature", "bad_certificate",
         self.sign(arbiter, Kind.RECORD, [[good[0], [good[1][0], good[0][1]]]])),
        ("no certificate", "bad_encoding", self.sign(arbiter, Kind.RECORD, [])),
    ]  # fmt: skip


def _restore(self: Scripted) -> Lies:
    return [
        ("N30 the share of another seat", "bad_backup_share", self.sign(0, Kind.RESTORE, self.body(2))),
        ("N7 zero", "bad_backup_share", self.sign(0, Kind.RESTORE, [[bytes(32)]])),
        ("a share by the seat that left", "out_of_turn", self.sign(1, Kind.RESTORE, self.body(0))),
    ]


def _result(self: Scripted) -> Lies:
    hand, scores, digest, requests = self.body(0)
    better = [[False, 510], *scores[1:]]
    other = self.sign(1, Kind.RETURN, [hand])
    return [
        ("F63 another score", "wrong_result", self.sign(0, Kind.RESULT, [hand, better, digest, requests])),
        ("F63 another state", "wrong_result", self.sign(0, Kind.RESULT, [hand, scores, fixed("other"), requests])),
        ("a request to return made elsewhere", "bad_return",
         self.sign(0, Kind.RESULT, [hand, scores, digest, [other.value()]])),
        ("one request twice", "bad_return", self.sign(0, Kind.RESULT, [hand, scores, digest, requests * 2])),
    ]  # fmt: skip


_LIES: Final[dict[Stage, Callable[[Scripted], Lies]]] = {
    Stage.AGREE: _agree,
    Stage.COMMIT: _commit,
    Stage.REVEAL: _reveal,
    Stage.SHUFFLE: _shuffle,
    Stage.SHARES: _shares,
    Stage.MOVE: _move,
    Stage.ANSWER: _answer,
    Stage.RULING: _ruling,
    Stage.RECORD: _record,
    Stage.RESTORE: _restore,
    Stage.RESULT: _result,
}
