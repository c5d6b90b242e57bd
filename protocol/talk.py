"""Chat and reactions: signed, passed on, shown once, never part of the log.

Content: ``[version, table, seat, kind, number, text]``; ``number`` is random, so that nothing has to be remembered over a
restart.  A seat that talks more than :data:`PER_SECOND` is not passed on; nothing else happens to it.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Final

from protocol import PROTOCOL_VERSION
from protocol.agreement import Agreement
from protocol.canonical import array, decode, encode, integer, octets, text
from protocol.errors import EncodingError, LocalProtocolError, VerificationError
from protocol.events import ChatSaid, Event, Reacted
from protocol.gossip import Bucket, Talk
from protocol.identity import Identity, tagged_hash, verify

MAX_TEXT: Final = 240
MAX_REACTION: Final = 16
PER_SECOND: Final = 1.0
BURST: Final = 8.0
REMEMBERED: Final = 512

_TAG: Final = "talk"


class Said(IntEnum):
    LINE = 0
    REACTION = 1


class Talker:
    """What is said beside the game, at one peer."""

    def __init__(
        self, agreement: Agreement, identity: Identity | None, entropy: Callable[[int], bytes]
    ) -> None:
        self._agreement = agreement
        self._identity = identity
        self._entropy = entropy
        self._heard: dict[bytes, None] = {}
        self._buckets = {
            seat: Bucket(per_second=PER_SECOND, burst=BURST) for seat in range(len(agreement.seats))
        }

    def say(self, kind: Said, said: str, now: float) -> Talk:
        """Sign something.  Raises LocalProtocolError if it is too long, or too much."""
        seat = self._agreement.seat_of(self._identity.public_key) if self._identity else None
        if self._identity is None or seat is None:
            raise LocalProtocolError("spectators read only; sit down to talk")
        limit = MAX_TEXT if kind is Said.LINE else MAX_REACTION
        if not 0 < len(said) <= limit or not said.isprintable():
            raise LocalProtocolError(f"say 1 to {limit} printable characters")
        if not self._buckets[seat].take(now):
            raise LocalProtocolError("that was a lot at once; wait a second")
        number = int.from_bytes(self._entropy(6), "big")
        content = encode([PROTOCOL_VERSION, self._agreement.table, seat, kind.value, number, said])
        self._remember(content)
        return Talk(content=content, signature=self._identity.sign(_TAG, content))

    def hear(self, talk: Talk, now: float) -> Event | None:
        """What was said, if it is new.  Raises EncodingError or VerificationError."""
        if tagged_hash(_TAG, talk.content) in self._heard:
            return None
        version, table, seat, kind, number, said = array(
            decode(talk.content, field="talk"), field="talk", length=6
        )
        if integer(version, field="talk.version") != PROTOCOL_VERSION:
            raise EncodingError("is of another version", field="talk.version")
        if octets(table, field="talk.table") != self._agreement.table:
            raise VerificationError("other_table", "talk of another table")
        seat = integer(seat, field="talk.seat", below=len(self._agreement.seats))
        integer(number, field="talk.number")
        if integer(kind, field="talk.kind", below=len(Said)) == Said.LINE:
            event: Event = ChatSaid(seat=seat, text=text(said, field="talk.text", at_most=MAX_TEXT))
        else:
            event = Reacted(seat=seat, reaction=text(said, field="talk.text", at_most=MAX_REACTION))
        if not said.isprintable():
            raise EncodingError("has control characters", field="talk.text")
        verify(self._agreement.keys[seat], _TAG, talk.content, talk.signature, seat=seat)
        self._remember(talk.content)
        return event if self._buckets[seat].take(now) else None

    def _remember(self, content: bytes) -> None:
        self._heard[tagged_hash(_TAG, content)] = None
        if len(self._heard) > REMEMBERED:
            del self._heard[next(iter(self._heard))]
