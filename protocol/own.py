"""One seat's own part: the secret of the hand, and the bodies that the seat owes.

A hand's seed is fresh, durable before its first use (the caller carries out :class:`StoreSecret` before
anything made with it is sent) and wiped when the hand's result is final.  It is stored under the step in which
the hand's keys began, so a hand that is begun anew has a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from protocol.agreement import agreement_nonce
from protocol.canonical import decode, encode
from protocol.course import Course
from protocol.dealing import Decks, PublicDeck, SecretHalf
from protocol.effects import StoreSecret
from protocol.entry import Entry, Kind
from protocol.errors import LocalProtocolError
from protocol.game import Card, Slot
from protocol.identity import Identity, tagged_hash
from protocol.position import Stage
from protocol.window import NONCE_BYTES, PASS, commitment

SEED_BYTES: Final = 32
_NO_FACES: Final[Mapping[Slot, Card]] = {}

Made = tuple[Kind, Any]
"""A kind and the body that goes with it."""


class SecretLost(LocalProtocolError):  # noqa: N818 - it happened; nobody made a mistake
    """The stored secret of a hand that this seat has keys in is gone.

    Nothing more can be signed in this hand; the others will go on without this seat, and it can sit down again at the next hand.
    """

    code = "secret_lost"


class OwnSeat:
    """The private half of a session."""

    def __init__(
        self,
        identity: Identity,
        seat: int,
        decks: Decks,
        entropy: Callable[[int], bytes],
        secrets: Mapping[int, bytes],
    ) -> None:
        self.identity = identity
        self.seat = seat
        self._decks = decks
        self._entropy = entropy
        self._seeds = dict(secrets)
        self._deck: PublicDeck | None = None
        self._secret: SecretHalf | None = None
        self._hand = 0
        self._answers: dict[bytes, list[Any]] = {}

    # --- the hand's secret -----------------------------------------------------------------------------

    def begin_hand(self, course: Course) -> StoreSecret | None:
        """Make the seed of the hand whose keys are due.  None if there is one already."""
        assert course.mark is not None
        if course.mark.step in self._seeds:
            return None
        seed = self._entropy(SEED_BYTES)
        self._seeds[course.mark.step] = seed
        return StoreSecret(hand=course.mark.step, data=seed)

    def secret(self, course: Course) -> SecretHalf | None:
        """The private half of the present deck; None if this seat has no keys in it."""
        if course.deck is None or course.mark is None or self.seat not in course.roster:
            return None
        if self._deck is not course.deck:
            seed = self._seeds.get(course.mark.step)
            if seed is None:
                return None
            self._deck, self._hand = course.deck, course.mark.step
            root = self.identity.derive("hand", course.agreement.table, course.mark.prev)
            self._secret = self._decks.secret(seed, root, course.deck, self.seat)
        return self._secret

    def wipe_before(self, step: int) -> list[int]:
        """The hands that began before this step are over.  Returns those whose seeds are to be wiped."""
        over = sorted(hand for hand in self._seeds if hand < step)
        for hand in over:
            del self._seeds[hand]
            if hand == self._hand and self._secret is not None:
                self._secret.wipe()
                self._secret = self._deck = None
        if over:
            self._answers.clear()
        return over

    def faces(self, course: Course) -> Mapping[Slot, Card]:
        """The closed cards of this seat that it can read."""
        if not course.cards_out:
            return _NO_FACES
        secret = self.secret(course)
        return secret.faces() if secret is not None else _NO_FACES

    def _need_secret(self, course: Course) -> SecretHalf:
        secret = self.secret(course)
        if secret is None:
            raise SecretLost("the secret of this hand is gone; this seat sits out until the next hand")
        return secret

    # --- bodies ----------------------------------------------------------------------------------------

    def maker(self, course: Course, returns: Sequence[Entry], proofs: Sequence[Any]) -> Callable[[], Made]:
        """A function that makes what this seat owes to the open step (anything but MOVE, SEALED and ANSWER).

        It may run in a worker thread.  ``returns``: requests to return that we hold; ``proofs``: the values of the
        certificates that a RECORD owes.
        """
        context, entropy = course.context(), self._entropy(32)
        match course.stage:
            case Stage.AGREE:
                nonce = agreement_nonce(self.identity, course.agreement.seats[self.seat].salt)
                return lambda: (Kind.AGREE, nonce)
            case Stage.COMMIT:
                secret = self._need_secret(course)
                return lambda: (Kind.COMMIT, secret.commit(context, entropy))
            case Stage.REVEAL:
                secret = self._need_secret(course)
                return lambda: (Kind.REVEAL, secret.reveal(context, entropy))
            case Stage.SHUFFLE:
                secret, more, first = self._need_secret(course), self._entropy(32), not course.cards_out

                def shuffle() -> Made:
                    complaint = secret.complaint(context, more) if first else None
                    if complaint is not None:
                        return Kind.COMPLAINT, complaint
                    return Kind.SHUFFLE, secret.shuffle(context, entropy)

                return shuffle
            case Stage.SHARES:
                secret, slots = self._need_secret(course), course.slots_owed(self.seat)
                return lambda: (Kind.SHARES, secret.shares(context, slots, entropy))
            case Stage.SHOW:
                secret, slots = self._need_secret(course), course.slots_owed(self.seat)
                return lambda: (Kind.SHOW, secret.opening(context, slots, entropy))
            case Stage.RESTORE:
                secret, leaving = self._need_secret(course), course.leaving
                return lambda: (Kind.RESTORE, [secret.restore(seat) for seat in leaving])
            case Stage.RULING:
                ruling = course.ruling()
                return lambda: (Kind.RULING, ruling)
            case Stage.RESULT:
                result = course.result(returns)
                return lambda: (Kind.RESULT, result)
            case Stage.RECORD:
                return lambda: (Kind.RECORD, list(proofs))
            case Stage.END | Stage.DONE:
                return lambda: (Kind.END, [])
            case _:
                raise LocalProtocolError(f"step {course.step}: {course.stage.name} needs a choice")

    def check_move(self, course: Course, text: str) -> list[Slot]:
        """The slots that a move or an answer opens.  Raises Refused if the game does not allow it."""
        faces = self.faces(course)
        slots = sorted(course.game.slots_of(self.seat, text, faces))
        course.game.check(self.seat, text, {slot: faces[slot] for slot in slots})
        return slots

    def move_body(self, course: Course, text: str) -> list[Any]:
        """``[text, slots, opening]`` of a move or an answer.  Raises Refused if the game does not allow it."""
        slots = self.check_move(course, text)
        if not slots:
            return [text, [], []]
        opening = self._need_secret(course).opening(course.context(), slots, self._entropy(32))
        return [text, slots, opening]

    # --- sealed answers --------------------------------------------------------------------------------

    def seal(self, course: Course, text: str | None) -> tuple[bytes, bytes]:
        """The SEALED body for this answer (None: a pass), and a box that holds the answer for a restart.

        The box is as secret as the hand: journals hold no face that is not public (N38).
        """
        answer = [*(self.move_body(course, text) if text is not None else [PASS, [], []])]
        answer.append(self._entropy(NONCE_BYTES))
        sealed = commitment(course.context(), self.seat, answer)
        self._answers[sealed] = answer
        hand = course.mark.step if course.mark is not None else 0
        return sealed, self._box(hand, sealed).encrypt(bytes(12), encode(answer), sealed)

    def open_box(self, hand: int, sealed: bytes, box: bytes) -> None:
        """Take an answer back from the journal, of the hand that began in step ``hand``."""
        try:
            answer = decode(self._box(hand, sealed).decrypt(bytes(12), box, sealed), field="answer box")
        except InvalidTag:
            return  # it belonged to a hand whose secret has been wiped
        self._answers[sealed] = answer

    def opened(self, sealed: bytes) -> Made | None:
        """The ANSWER that opens what was sealed; None if it cannot be told any more."""
        answer = self._answers.get(sealed)
        return None if answer is None else (Kind.ANSWER, answer)

    def _box(self, hand: int, sealed: bytes) -> ChaCha20Poly1305:
        seed = self._seeds.get(hand, b"")
        # One key for each commitment, so the constant nonce is used once.
        return ChaCha20Poly1305(
            tagged_hash("answer box", self.identity.derive("answer box", seed), seed, sealed)
        )
