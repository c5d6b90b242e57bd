"""SPEC.md sections 7 to 11: agreements, entries, heads, certificates, and a walk through a whole log.

The game is not known here: what it needed in each step is told (as in ``entries.json`` and ``hand.json``), and in ``hand.json``
the states of which its digests are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.second import identity
from tests.second.deck import Deck
from tests.second.encoding import H, decode, encode, need, shaped

YEAR = 366 * 24 * 3600 * 1000
NAMES = (
    "AGREE COMMIT REVEAL SHUFFLE COMPLAINT SHARES MOVE SEALED ANSWER RULING SHOW RESULT RESTORE RECORD END"
)
KINDS = dict(enumerate(NAMES.split())) | {
    32: "PROPOSAL",
    33: "PREVOTE",
    34: "PRECOMMIT",
    35: "ROUND_CHANGE",
    48: "RETURN",
    49: "ABANDON",
}


# --- 7 ---------------------------------------------------------------------------------------------------


def check_agreement(data: bytes) -> list[Any]:
    value = decode(data, size=1 << 16, depth=3, values=1024)
    version, game, rules, options, seats, times, flags = shaped(value, int, str, int, list, list, list, list)
    need(version == 1, "version")
    need(len(game) <= 32 and rules >= 0, "bad_encoding")
    pairs = [shaped(pair, str, str) for pair in options]
    names = [name for name, _ in pairs]
    need(names == sorted(set(names)), "options")
    need(len(pairs) <= 100 and all(len(text) <= 200 for pair in pairs for text in pair), "options")
    need(game.isprintable() and all(text.isprintable() for pair in pairs for text in pair), "options")
    claims = [shaped(claim, 32, str, 32, 32, str) for claim in seats]
    need(2 <= len(claims) <= 8, "seats")
    for column in (0, 1, 3):
        need(len({claim[column] for claim in claims}) == len(claims), "repeated")
    for key, name, _, _, bot in claims:
        identity.read(key)
        need(1 <= len(name) <= 32 and len(bot) <= 32, "name")
        need(name.isprintable() and bot.isprintable(), "name")
    window, turn, step, abandon = shaped(times, int, int, int, int)
    need(max(window, turn, step, abandon) <= YEAR and turn and step, "times")
    shaped(flags, bool, bool, bool)
    return list(value)


# --- 8 ---------------------------------------------------------------------------------------------------


class Entry(NamedTuple):
    table: bytes
    epoch: int
    step: int
    seat: int
    kind: str
    round: int
    body: Any
    prev: bytes
    content: bytes
    signature: bytes

    @property
    def id(self) -> bytes:
        return H("entry id", self.content)

    @property
    def place(self) -> tuple[bytes, int, int, bytes]:
        return self.table, self.epoch, self.step, self.prev


def read_entry(value: Any) -> Entry:
    content, signature = shaped(value, bytes, 64)
    fields = shaped(decode(content, size=1 << 16, values=8192), int, 32, int, int, int, int, int, None, 32)
    version, table, epoch, step, seat, kind, round, body, prev = fields
    need(version == 1 and kind in KINDS, "bad_encoding")
    need(epoch < 2**32 and step < 2**32 and seat < 8 and round < 2**16, "bad_encoding")
    return Entry(table, epoch, step, seat, KINDS[kind], round, body, prev, content, signature)


def check_signature(entry: Entry, keys: list[bytes]) -> None:
    need(entry.seat < len(keys), "no_seat")
    identity.verify(keys[entry.seat], "entry", entry.content, entry.signature)


def head(prev: bytes, epoch: int, step: int, closing: dict[int, bytes]) -> bytes:
    pairs = [[seat, closing[seat]] for seat in sorted(closing)]
    return H("head", prev, encode([epoch, step, pairs]))


# --- 10 --------------------------------------------------------------------------------------------------


def quorum(seats: int) -> int:
    """ceil((N + f + 1) / 2), f = floor((N - 1) / 3)."""
    return -(-(seats + (seats - 1) // 3 + 1) // 2)


def leader(round: int, step: int, seats: list[int], after: int | None) -> int:
    first = [seat for seat in seats if seat != after]
    i = (round - 1) % len(seats)
    return first[(step + i) % len(first)] if i < len(first) else seats[seats.index(after or 0)]


def check_certificate(
    value: Any, kind: str, place: tuple[bytes, int, int, bytes], keys: dict[int, bytes]
) -> Any:
    """10.5.  Returns the closing."""
    need(type(value) is list and value, "bad_encoding")
    votes = [read_entry(item) for item in value]
    seats = [vote.seat for vote in votes]
    need(seats == sorted(set(seats)) and set(seats) <= set(keys), "bad_certificate")
    need(len(votes) >= quorum(len(keys)), "bad_certificate")
    closing, round = votes[0].body[0], votes[0].round
    for vote in votes:
        need(vote.kind == kind and vote.round == round and vote.place == place, "bad_certificate")
        need(vote.body[0] == closing, "bad_certificate")
        need(identity.holds(keys[vote.seat], "entry", vote.content, vote.signature), "bad_certificate")
    return closing


# --- 11 --------------------------------------------------------------------------------------------------

VOTES = ("ROUND_CHANGE", "PROPOSAL", "PREVOTE", "PRECOMMIT")


def check_exposed(data: bytes) -> int:
    """The seat that this evidence of the first form convicts."""
    number, agreement, reason, *pair = decode(data, size=1 << 28, depth=5, values=1 << 20)
    need(number == 0, "bad_evidence")
    claims = check_agreement(agreement)[4]
    table = H("agreement", agreement)
    first, second = map(read_entry, pair)
    for entry in (first, second):
        need(entry.table == table, "bad_evidence")
        check_signature(entry, [claim[0] for claim in claims])
    need(reason == contradiction(first, second), "bad_evidence")
    return first.seat


def contradiction(first: Entry, second: Entry) -> str:
    """What two signed statements convict their author of, "" if of nothing."""
    if first.id == second.id or first.seat != second.seat or first.place != second.place:
        return ""
    kinds = ["SHUFFLE" if entry.kind == "COMPLAINT" else entry.kind for entry in (first, second)]
    if kinds[0] == kinds[1] and first.round == second.round:
        if first.kind == "PROPOSAL":
            return "two_proposals"
        return "double_vote" if first.kind in VOTES else "equivocation"
    if (first.round, first.kind != "ROUND_CHANGE") > (second.round, second.kind != "ROUND_CHANGE"):
        first, second = second, first
    if second.kind != "PREVOTE" or first.kind not in VOTES:
        return ""
    if first.round == second.round and first.kind != "ROUND_CHANGE":
        return ""
    closing, _, exposed, justified = second.body
    if first.kind == "PRECOMMIT" and first.body[0] != closing and justified < first.round:
        return "broke_its_lock"
    held = (
        {seat for seat, _ in first.body[first.kind != "ROUND_CHANGE"]} if first.kind != "PROPOSAL" else set()
    )
    left_out = {seat for seat, entry in closing if not entry} - set(exposed)
    return "omitted_what_it_held" if justified == 0 and held & left_out else ""


# --- 9 ---------------------------------------------------------------------------------------------------


def state_digest(state: dict[str, Any]) -> bytes:
    """9.1: of a state as JSON has it."""
    return H("game state", encode(_listed(state)))


def _listed(item: Any) -> Any:
    match item:
        case None:
            return []
        case dict():
            return [[key, _listed(item[key])] for key in sorted(item)]
        case list():
            return list(map(_listed, item))
        case int() if item < 0:
            return f"{item}"
        case _:
            return item


class Unproved(NamedTuple):
    """An absence that no RECORD has proved yet."""

    place: tuple[bytes, int, int, bytes]
    keys: dict[int, bytes]
    closing: list[list[Any]]


@dataclass
class Table:
    """A walk through the log of one table."""

    agreement: list[Any]
    hand: int = 1
    epoch: int = 0
    step: int = 0
    head: bytes = b""
    first_head: bytes = b""
    deck: Any = None
    windows: int = 0
    asked: dict[str, set[int]] = field(default_factory=lambda: {"RULING": set(), "RECORD": set()})
    winner: int = 0
    result: Any = None
    mark: tuple[Any, ...] = ()
    silent: set[int] = field(default_factory=set)
    leaving: list[int] = field(default_factory=list)
    unproved: list[Unproved] = field(default_factory=list)
    sealed: dict[int, bytes] = field(default_factory=dict)
    sealed_at: tuple[int, int] = (0, 0)
    answers: dict[int, Entry] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.table = H("agreement", encode(self.agreement))
        self.head = H("genesis", self.table)
        self.claims = self.agreement[4]
        self.keys = [claim[0] for claim in self.claims]
        self.roster = list(range(len(self.claims)))

    def take(self, told: dict[str, Any], epoch: int, entries: list[Entry], absent: list[int]) -> None:
        """Check a step and close it."""
        stage = told["stage"]
        need((epoch, told["step"]) == (self.epoch, self.step), "wrong_step")
        if stage == "COMMIT" and self.deck is None:
            self._begin_hand()
        need(bool(self.unproved) == (stage == "RECORD"), "no_record")
        owing = self._owing(told)
        need(sorted([*(entry.seat for entry in entries), *absent]) == sorted(owing), "wrong_seats")
        for entry in entries:
            check_signature(entry, self.keys)
            need(entry.place == (self.table, self.epoch, self.step, self.head), "wrong_link")
            need((entry.kind, entry.round) == (stage, 0), "out_of_turn", entry.seat)
            getattr(self, f"_{stage.lower()}")(entry, told)
        closing = {entry.seat: entry.id for entry in entries} | dict.fromkeys(absent, b"")
        if absent:
            keys = {seat: self.keys[seat] for seat in self.roster}
            pairs = [[seat, closing[seat]] for seat in sorted(closing)]
            place = (self.table, self.epoch, self.step, self.head)
            self.unproved = [*self.unproved, Unproved(place, keys, pairs)]
            if stage in ("RULING", "RECORD"):
                self.asked[stage] |= set(absent)
        if stage != "RECORD":
            self.asked["RECORD"] = set()
        self.silent = (self.silent | set(absent)) - {entry.seat for entry in entries}
        self.head = head(self.head, self.epoch, self.step, closing)
        self.step += 1
        self.epoch += bool(absent)
        self._closed(stage, told, entries, absent)

    def _begin_hand(self) -> None:
        strict = self.agreement[6][0]
        threshold = 0 if strict or len(self.roster) < 3 else quorum(len(self.roster))
        self.deck = Deck(self.table, self.hand, list(self.roster), threshold)
        self.mark = (self.table, self.epoch, self.step, self.head)

    def _owing(self, told: dict[str, Any]) -> list[int]:
        match told["stage"]:
            case "SHUFFLE":
                if not self.deck.current:
                    self.deck.open_deck(told["cards"])
                return [self.deck.turn()]
            case "SHARES" | "SHOW":
                return [seat for seat in self.roster if self._slots(told, seat)]
            case "MOVE":
                return [told["turn"]]
            case "SEALED":
                return list(told["seats"])
            case "ANSWER":
                return list(self.sealed)
            case "RULING" | "RECORD":
                return [self._arbiter(told["stage"], told.get("after"))]
            case "RESTORE":
                return [seat for seat in self.roster if seat not in self.leaving]
            case _:
                return list(self.roster)

    def _turns(self, after: int | None) -> list[int]:
        """9.11: who takes turns, from the one on turn."""
        able = [seat for seat in self.roster if seat not in self.leaving]
        coin = getattr(self.deck, "coin", b"")
        offset = int.from_bytes(H("arbiter", coin)[:8], "big") if coin else 0
        first = (self.windows + offset) % len(able)
        turns = able[first:] + able[:first]
        return [seat for seat in turns if seat != after] or turns

    def _arbiter(self, stage: str, after: int | None) -> int:
        turns = self._turns(after if stage == "RULING" else None)
        rest = [seat for seat in turns if seat not in self.asked[stage]] or turns
        return next((seat for seat in rest if seat not in self.silent), rest[0])

    @staticmethod
    def _slots(told: dict[str, Any], seat: int) -> list[int]:
        mine = told["stage"] == "SHOW"
        return [slot for slot, owner in told["owners"] if (owner == seat) is mine]

    # --- bodies ---

    def _agree(self, entry: Entry, told: dict[str, Any]) -> None:
        need(type(entry.body) is bytes and len(entry.body) == 32, "bad_encoding", entry.seat)
        key, commitment = self.claims[entry.seat][0], self.claims[entry.seat][3]
        need(H("agreement nonce", key, entry.body) == commitment, "wrong_nonce", entry.seat)

    def _commit(self, entry: Entry, told: dict[str, Any]) -> None:
        self.deck.commit(self.epoch, self.step, entry.seat, entry.body)

    def _reveal(self, entry: Entry, told: dict[str, Any]) -> None:
        self.deck.reveal(self.epoch, self.step, entry.seat, entry.body)

    def _shuffle(self, entry: Entry, told: dict[str, Any]) -> None:
        self.deck.shuffle(self.epoch, self.step, entry.seat, entry.body)

    def _shares(self, entry: Entry, told: dict[str, Any]) -> None:
        slots = self._slots(told, entry.seat)
        self.deck.take(self.epoch, self.step, entry.seat, slots, entry.body, "decryption shares")

    def _show(self, entry: Entry, told: dict[str, Any]) -> None:
        slots = self._slots(told, entry.seat)
        self.deck.take(self.epoch, self.step, entry.seat, slots, entry.body, "opening")

    def _move(self, entry: Entry, told: dict[str, Any]) -> None:
        self._opened(entry, entry.body, (self.epoch, self.step))

    def _opened(self, entry: Entry, body: Any, at: tuple[int, int]) -> None:
        text, slots, opening = shaped(body, str, list, list)
        need(len(text) <= 200 and len(slots) <= 128, "bad_encoding", entry.seat)
        need(
            all(type(slot) is int for slot in slots) and slots == sorted(set(slots)),
            "bad_encoding",
            entry.seat,
        )
        need(bool(slots) or not opening, "bad_encoding", entry.seat)
        if slots:
            self.deck.take(*at, entry.seat, slots, opening, "opening")

    def _sealed(self, entry: Entry, told: dict[str, Any]) -> None:
        need(type(entry.body) is bytes and len(entry.body) == 32, "bad_encoding", entry.seat)

    def _answer(self, entry: Entry, told: dict[str, Any]) -> None:
        text, slots, opening, nonce = shaped(entry.body, str, list, list, 32)
        place = [self.hand, *self.sealed_at, entry.seat, [text, slots, opening, nonce]]
        need(H("answer", self.table, encode(place)) == self.sealed[entry.seat], "wrong_answer", entry.seat)
        self._opened(entry, [text, slots, opening], self.sealed_at)

    @staticmethod
    def _state(entry: Entry, digest: bytes, told: dict[str, Any]) -> None:
        """9.1; the state is told, if at all."""
        need("state" not in told or digest == state_digest(told["state"]), "wrong_state", entry.seat)

    def _ruling(self, entry: Entry, told: dict[str, Any]) -> None:
        listed = [[seat, self.answers[seat].id if seat in self.answers else b""] for seat in told["seats"]]
        calls = [
            seat for seat in told["seats"] if seat in self.answers and self.answers[seat].body[0] != "pass"
        ]
        given, winner, digest = shaped(entry.body, list, int, 32)
        self._state(entry, digest, told)
        need(given == listed and winner == (calls[0] + 1 if calls else 0), "wrong_ruling", entry.seat)
        self.winner = winner

    def _result(self, entry: Entry, told: dict[str, Any]) -> None:
        hand, scores, digest, requests = shaped(entry.body, int, list, 32, list)
        self._state(entry, digest, told)
        need(hand == self.hand and len(scores) == len(self.claims), "wrong_result", entry.seat)
        self.result = [-score if shaped([minus, score], bool, int)[0] else score for minus, score in scores]
        seats = []
        for value in requests:
            request = read_entry(value)
            check_signature(request, self.keys)
            need(request.kind == "RETURN" and request.place == self.mark and request.round == 0, "bad_return")
            need(request.body == [self.hand] and request.seat not in self.roster, "bad_return")
            seats.append(request.seat)
        need(seats == sorted(set(seats)), "bad_return")

    def _record(self, entry: Entry, told: dict[str, Any]) -> None:
        need(type(entry.body) is list and len(entry.body) == len(self.unproved), "bad_encoding")
        for value, absence in zip(entry.body, self.unproved, strict=True):
            closing = check_certificate(value, "PRECOMMIT", absence.place, absence.keys)
            need(closing == absence.closing, "bad_certificate", entry.seat)

    def _restore(self, entry: Entry, told: dict[str, Any]) -> None:
        need(type(entry.body) is list and len(entry.body) == len(self.leaving), "bad_encoding", entry.seat)

    def _end(self, entry: Entry, told: dict[str, Any]) -> None:
        need(entry.body == [], "bad_encoding", entry.seat)

    # --- what follows ---

    def _closed(self, stage: str, told: dict[str, Any], entries: list[Entry], absent: list[int]) -> None:
        match stage:
            case "AGREE":
                self.first_head = self.head
            case "REVEAL":
                self.deck.keys_are_out()
            case "SEALED":
                self.sealed = {entry.seat: entry.body for entry in entries}
                self.sealed_at = (self.epoch, self.step - 1)
            case "ANSWER":
                self.answers = {entry.seat: entry for entry in entries}
                self.asked["RULING"] = set()
            case "RULING":
                self.windows += not absent or self.asked["RULING"] >= set(self._turns(told["after"]))
            case "MOVE" if absent:
                self.leaving = absent
            case "RECORD" if not absent:
                self.unproved = []
            case "RESTORE":
                bodies = {entry.seat: entry.body for entry in entries}
                for index, seat in enumerate(self.leaving):
                    self.deck.restore(seat, {giver: body[index] for giver, body in bodies.items()})
                self.roster = [seat for seat in self.roster if seat not in self.leaving]
                self.leaving = []
