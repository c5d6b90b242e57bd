"""The link between two peers: frames and the handshake, sans-IO.

Theory of operation
-------------------
A link is one TCP connection.  Each side first says HELLO in the clear, and the beginning of a HELLO (magic,
version, software) never changes, so that a peer of another version can be told both versions.  The hellos
carry a fresh X25519 key and a fresh nonce each; both sides hash *both* hellos (:func:`_transcript`) and derive
one key for each direction from it.  Then each side says AUTH, already sealed: its identity key and a signature
over its role and the transcript.  So a recorded AUTH fits no other connection (replay), an AUTH sent back to
its author carries the wrong role and the author's own key (reflection), and nobody in the middle can join two
halves.  This is the SIGMA-I pattern (Krawczyk, 2003) with the whole transcript under the signature.

After that everything is ChaCha20-Poly1305 with a counter for each direction: a frame that was changed, dropped,
repeated or swapped ends the link.  Secrecy of cards does not rest on any of this, only the privacy of chat and
the integrity of control messages.

The length of a frame is judged as soon as its four bytes are there, against the limit of the state: a stranger
never makes us hold more than a few hundred bytes.

Transitions (a frame that is not in the table ends the link; so does any error):

=============  ======================  ==============================  =============
state          frame from the peer     event                           next state
=============  ======================  ==============================  =============
GREETING       HELLO                   Greeted; AUTH goes out          PROVING
GREETING       HELLO, other version    Failed("version")               CLOSED
PROVING        REFUSE (clear)          RefusedByPeer, not proven       CLOSED
PROVING        AUTH (sealed)           Authenticated                   OPEN
OPEN           PING (sealed)           --                              OPEN
OPEN           BYE (sealed)            RefusedByPeer, proven           CLOSED
OPEN           any other Kind          Message                         OPEN
=============  ======================  ==============================  =============

HELLO   magic (8) | version (2) | n (1) | software (n, UTF-8) | m (2) | body (m, canonical):
        ``[table, purpose, X25519 key, nonce]``; the accepting side leaves table and purpose empty.
frame   length (4, of what follows) | 0x00 REFUSE ``[code, text]`` in the clear, or 0x01 ciphertext.
sealed  kind (1) | payload.  Kind AUTH has the payload ``[identity key, signature, listening port]``.

Numbers are big-endian.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from protocol import PROTOCOL_VERSION
from protocol.canonical import Limits, array, decode, encode, integer, octets, text
from protocol.errors import EncodingError, LocalProtocolError, RemoteProtocolError
from protocol.identity import Identity, check_public_key, frame, tagged_hash, verify

MAGIC: Final = b"\x8ap2pRum\n"
"""The first byte is neither ASCII nor UTF-8, the last would be changed by a text-mode transfer."""

MAX_SOFTWARE: Final = 64
MAX_TABLE: Final = 32
MAX_REASON: Final = 200
MAX_HELLO_BODY: Final = 256
MAX_HANDSHAKE_FRAME: Final = 512
MAX_MESSAGE: Final = 1 << 17
"""Bytes of payload in one message.  The largest entry (a shuffle of 108 cards) needs a quarter of it."""

ENTROPY_BYTES: Final = 64

_LENGTH: Final = 4
_TAG: Final = 16
_CLEAR_REFUSE: Final = 0
_SEALED: Final = 1
_HELLO_LIMITS: Final = Limits(max_bytes=MAX_HELLO_BODY, max_depth=1, max_nodes=8)
_SMALL_LIMITS: Final = Limits(max_bytes=MAX_HANDSHAKE_FRAME, max_depth=1, max_nodes=8)


class State(Enum):
    """Where the link is; see the table above."""

    GREETING = "greeting"
    PROVING = "proving"
    OPEN = "open"
    CLOSED = "closed"


class Role(IntEnum):
    """Which side of the connection this is.  The number is signed."""

    DIALER = 0
    LISTENER = 1


class Purpose(IntEnum):
    """Why the dialer calls."""

    NONE = 0
    LOBBY = 1
    SEAT = 2
    WATCH = 3


class Kind(IntEnum):
    """What a sealed frame is."""

    AUTH = 0
    PING = 1
    BYE = 2
    ADOPT = 3
    LOBBY = 4
    SESSION = 5


_MESSAGES: Final = frozenset((Kind.ADOPT, Kind.LOBBY, Kind.SESSION))


class Code(StrEnum):
    """Why a peer is refused or a link ended: stable words, which the faces translate."""

    VERSION = "version"
    UNKNOWN_TABLE = "unknown_table"
    NOT_SEATED = "not_seated"
    FULL = "full"
    DUPLICATE_KEY = "duplicate_key"
    NAME_TAKEN = "name_taken"
    STARTED = "started"
    WRONG_KEY = "wrong_key"
    DISAGREEMENT = "disagreement"
    REPLACED = "replaced"
    BUSY = "busy"
    PROTOCOL = "protocol"
    LEAVING = "leaving"


# --- what happens --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Greeted:
    """The peer's HELLO: nothing of it is proven yet.  ``table`` and ``purpose`` are the dialer's wish."""

    table: bytes
    purpose: Purpose
    software: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Authenticated:
    """The peer has proven that it holds this identity key, on this very connection.

    ``listening_port`` is where it says that it accepts links itself (0: it does not).
    """

    peer_key: bytes
    listening_port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One payload from the authenticated peer."""

    kind: Kind
    payload: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedByPeer:
    """The peer ended the link and said why.

    ``proven`` is False if that came in the clear, when anybody on the path may have written it.
    """

    code: str
    text: str
    proven: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The peer broke the protocol; the link is closed.  An event and not an exception, so that the good
    frames that came in the same bytes are not lost."""

    error: RemoteProtocolError


Event = Greeted | Authenticated | Message | RefusedByPeer | Failed


# --- the machine ---------------------------------------------------------------------------------------


class Link:
    """One side of one connection.

    Feed what arrives to :meth:`receive`; after every call send what :meth:`take_outgoing` returns.  ``entropy``
    is 64 fresh random bytes (key and nonce of this one connection).  ``peer_key`` pins the identity that the
    other side must prove.
    """

    def __init__(
        self,
        role: Role,
        identity: Identity,
        *,
        entropy: bytes,
        table: bytes = b"",
        purpose: Purpose = Purpose.NONE,
        peer_key: bytes | None = None,
        listening_port: int = 0,
        software: str = "p2p-rummy",
        version: int = PROTOCOL_VERSION,
    ) -> None:
        if len(entropy) != ENTROPY_BYTES:
            raise LocalProtocolError(f"a link needs {ENTROPY_BYTES} fresh bytes, not {len(entropy)}")
        if role is Role.LISTENER and (table or purpose is not Purpose.NONE):
            raise LocalProtocolError("the dialer names the table and the purpose, the listener does not")
        self.role = role
        self.state = State.GREETING
        self.peer_key: bytes | None = None
        self.peer_version: int | None = None
        self.peer_software = ""
        self.frames = 0
        """Whole frames received, PINGs included: what shows that the peer is alive."""
        self._identity = identity
        self._pinned = peer_key
        self._listening_port = listening_port
        self._version = version
        self._software = software
        self._ephemeral = X25519PrivateKey.from_private_bytes(entropy[:32])
        self._own_hello = _hello(
            version, software, table, purpose, self._ephemeral.public_key().public_bytes_raw(), entropy[32:]
        )
        self._buffer = bytearray()
        self._outgoing = bytearray(self._own_hello)
        self._seal: _Sealer | None = None
        self._unseal: _Sealer | None = None
        self._transcript = b""

    @property
    def closed(self) -> bool:
        return self.state is State.CLOSED

    @property
    def frame_begun(self) -> bool:
        """Whether part of a frame has arrived and the rest has not."""
        return bool(self._buffer)

    @property
    def outgoing_bytes(self) -> int:
        """How much :meth:`take_outgoing` would return."""
        return len(self._outgoing)

    def take_outgoing(self) -> bytes:
        """The bytes to send now, in order (HELLO and AUTH appear here by themselves)."""
        out = bytes(self._outgoing)
        self._outgoing.clear()
        return out

    def send(self, kind: Kind, payload: bytes) -> None:
        """Seal one message.  Raises LocalProtocolError unless the link is OPEN and the payload fits."""
        if self.state is not State.OPEN:
            raise LocalProtocolError(f"the link is {self.state.value}, not open")
        if kind not in _MESSAGES:
            raise LocalProtocolError(f"{kind.name} is not sent as a message")
        if len(payload) > MAX_MESSAGE:
            raise LocalProtocolError(f"a message has at most {MAX_MESSAGE} bytes, not {len(payload)}")
        self._send_sealed(kind, payload)

    def ping(self) -> None:
        """Show the peer that this side is alive."""
        if self.state is not State.OPEN:
            raise LocalProtocolError(f"the link is {self.state.value}, not open")
        self._send_sealed(Kind.PING, b"")

    def close(self, code: str, reason: str) -> None:
        """Tell the peer why, then close.  Harmless if closed.

        In the clear only before the peer's HELLO: after it, our AUTH is on its way, and the peer that has
        taken it reads nothing in the clear any more.
        """
        body = encode([code[:64], reason[:MAX_REASON]])
        if self.state is State.GREETING:
            self._outgoing += (1 + len(body)).to_bytes(_LENGTH, "big") + bytes([_CLEAR_REFUSE]) + body
        elif self.state is not State.CLOSED:
            self._send_sealed(Kind.BYE, body)
        self.state = State.CLOSED

    def receive(self, data: bytes) -> list[Event]:
        """Take bytes from the network, cut in any way.  What comes after the link has closed is ignored."""
        events: list[Event] = []
        if self.closed:
            return events
        self._buffer += data
        try:
            while not self.closed and (told := self._step()) is not None:
                events += told
        except RemoteProtocolError as error:
            self._fail(error, events)
        except EncodingError as error:
            self._fail(RemoteProtocolError("bad_encoding", str(error)), events)
        if self.closed:
            self._buffer.clear()
        return events

    def _fail(self, error: RemoteProtocolError, events: list[Event]) -> None:
        events.append(Failed(error=error))
        known = error.reason in (Code.VERSION.value, Code.WRONG_KEY.value)
        self.close(error.reason if known else Code.PROTOCOL.value, error.message)

    # --- one frame ---

    def _step(self) -> tuple[Event, ...] | None:
        """Take one frame off the buffer and say what it tells; None if there is no whole one yet."""
        if self.state is State.GREETING:
            return self._take_hello()
        limit = MAX_HANDSHAKE_FRAME if self.state is State.PROVING else 2 + MAX_MESSAGE + _TAG
        if len(self._buffer) < _LENGTH:
            return None
        length = int.from_bytes(self._buffer[:_LENGTH], "big")
        if length == 0:
            raise RemoteProtocolError("empty_frame", "a frame of no bytes")
        if length > limit:
            raise RemoteProtocolError("frame_too_long", f"a frame of {length} bytes; the limit is {limit}")
        if len(self._buffer) < _LENGTH + length:
            return None
        body = bytes(self._buffer[_LENGTH : _LENGTH + length])
        del self._buffer[: _LENGTH + length]
        self.frames += 1
        if body[0] == _CLEAR_REFUSE and self.state is State.PROVING:
            return (self._refused(body[1:], proven=False),)
        if body[0] != _SEALED:
            raise RemoteProtocolError("unknown_frame", f"a frame of type {body[0]} while {self.state.value}")
        assert self._unseal is not None
        plain = self._unseal.unseal(body[1:])
        if not plain:
            raise RemoteProtocolError("empty_frame", "a sealed frame with nothing in it")
        try:
            kind = Kind(plain[0])
        except ValueError:
            raise RemoteProtocolError("unknown_kind", f"a message of unknown kind {plain[0]}") from None
        return self._take_sealed(kind, plain[1:])

    def _take_sealed(self, kind: Kind, payload: bytes) -> tuple[Event, ...]:
        if self.state is State.PROVING:
            if kind is not Kind.AUTH:
                raise RemoteProtocolError("not_authenticated", f"{kind.name} before AUTH")
            return (self._take_auth(payload),)
        if kind is Kind.PING:
            if payload:
                raise RemoteProtocolError("bad_ping", "a PING carries nothing")
            return ()
        if kind is Kind.BYE:
            return (self._refused(payload, proven=True),)
        if kind is Kind.AUTH:
            raise RemoteProtocolError("repeated_auth", "a second AUTH")
        return (Message(kind=kind, payload=payload),)

    def _refused(self, payload: bytes, *, proven: bool) -> RefusedByPeer:
        fields = array(decode(payload, limits=_SMALL_LIMITS, field="refusal"), field="refusal", length=2)
        event = RefusedByPeer(
            code=printable(text(fields[0], field="refusal.code", at_most=64)),
            text=printable(text(fields[1], field="refusal.text", at_most=MAX_REASON)),
            proven=proven,
        )
        self.state = State.CLOSED
        return event

    # --- handshake ---

    def _take_hello(self) -> tuple[Event, ...] | None:
        preamble = _read_preamble(self._buffer)
        if preamble is None:
            return None
        self.peer_version, self.peer_software, start = preamble
        if self.peer_version != self._version:
            raise RemoteProtocolError(
                Code.VERSION.value,
                f"the peer ({self.peer_software}) speaks version {self.peer_version} of the protocol, this side"
                f" ({self._software}) speaks version {self._version}; update the older one",
            )
        body = _read_body(self._buffer, start)
        if body is None:
            return None
        raw = bytes(self._buffer[: start + 2 + len(body)])
        del self._buffer[: len(raw)]
        fields = array(decode(body, limits=_HELLO_LIMITS, field="hello"), field="hello", length=4)
        table = octets(fields[0], field="hello.table", at_most=MAX_TABLE)
        purpose = Purpose(integer(fields[1], field="hello.purpose", below=len(Purpose)))
        share = octets(fields[2], field="hello.key", length=32)
        octets(fields[3], field="hello.nonce", length=32)
        if share == self._ephemeral.public_key().public_bytes_raw():
            raise RemoteProtocolError("reflection", "the peer sent this side's own HELLO back")
        if self.role is Role.DIALER and (table or purpose is not Purpose.NONE):
            raise RemoteProtocolError("bad_hello", "two dialers met: the accepting side names no table")
        if self.role is Role.LISTENER and purpose is Purpose.NONE:
            raise RemoteProtocolError("bad_hello", "the dialer must say what it wants")
        hellos = (self._own_hello, raw) if self.role is Role.DIALER else (raw, self._own_hello)
        self._transcript = tagged_hash("link transcript", *hellos)
        self._derive_keys(share)
        self.state = State.PROVING
        signature = self._identity.sign(_AUTH_TAG, _auth_statement(self.role, self._transcript))
        self._send_sealed(Kind.AUTH, encode([self._identity.public_key, signature, self._listening_port]))
        return (Greeted(table=table, purpose=purpose, software=self.peer_software),)

    def _derive_keys(self, peer_share: bytes) -> None:
        try:
            shared = self._ephemeral.exchange(X25519PublicKey.from_public_bytes(peer_share))
        except ValueError:
            raise RemoteProtocolError("bad_hello", "an X25519 key of small order") from None
        keys = HKDF(algorithm=SHA256(), length=64, salt=self._transcript, info=frame("link keys")).derive(
            shared
        )
        own, other = (keys[:32], keys[32:]) if self.role is Role.DIALER else (keys[32:], keys[:32])
        self._seal, self._unseal = _Sealer(own), _Sealer(other)

    def _take_auth(self, payload: bytes) -> Authenticated:
        fields = array(decode(payload, limits=_SMALL_LIMITS, field="auth"), field="auth", length=3)
        key = octets(fields[0], field="auth.key", length=32)
        signature = octets(fields[1], field="auth.signature", length=64)
        port = integer(fields[2], field="auth.port", below=1 << 16)
        if key == self._identity.public_key:
            raise RemoteProtocolError("own_key", "the peer claims this side's own identity")
        check_public_key(key)
        other = Role.LISTENER if self.role is Role.DIALER else Role.DIALER
        verify(key, _AUTH_TAG, _auth_statement(other, self._transcript), signature)
        if self._pinned is not None and key != self._pinned:
            raise RemoteProtocolError(
                Code.WRONG_KEY.value, "another identity answers at this address than the one expected"
            )
        self.peer_key = key
        self.state = State.OPEN
        return Authenticated(peer_key=key, listening_port=port)

    def _send_sealed(self, kind: Kind, payload: bytes) -> None:
        assert self._seal is not None
        body = self._seal.seal(bytes([kind]) + payload)
        self._outgoing += (1 + len(body)).to_bytes(_LENGTH, "big") + bytes([_SEALED]) + body


# --- pieces --------------------------------------------------------------------------------------------

_AUTH_TAG: Final = "link auth"


def _auth_statement(role: Role, transcript: bytes) -> bytes:
    return bytes([role]) + transcript


class _Sealer:
    """One direction: a key and the number of the next frame.  A key seals a number once."""

    __slots__ = ("_cipher", "_count")

    def __init__(self, key: bytes) -> None:
        self._cipher = ChaCha20Poly1305(key)
        self._count = 0

    def _nonce(self) -> bytes:
        nonce = self._count.to_bytes(12, "big")
        self._count += 1
        return nonce

    def seal(self, plain: bytes) -> bytes:
        return self._cipher.encrypt(self._nonce(), plain, None)

    def unseal(self, sealed: bytes) -> bytes:
        try:
            return self._cipher.decrypt(self._nonce(), sealed, None)
        except InvalidTag:
            raise RemoteProtocolError(
                "bad_seal", "a frame that was changed, repeated, dropped or swapped on the way"
            ) from None


def _hello(version: int, software: str, table: bytes, purpose: Purpose, share: bytes, nonce: bytes) -> bytes:
    name = software.encode()
    if len(name) > MAX_SOFTWARE:
        raise LocalProtocolError(f"the software's name has at most {MAX_SOFTWARE} bytes")
    if len(table) > MAX_TABLE:
        raise LocalProtocolError(f"a table is named by at most {MAX_TABLE} bytes")
    body = encode([table, int(purpose), share, nonce])
    return b"".join(
        (MAGIC, version.to_bytes(2, "big"), bytes([len(name)]), name, len(body).to_bytes(2, "big"), body)
    )


def _read_preamble(buffer: bytearray) -> tuple[int, str, int] | None:
    """Version, software and where the rest begins: the part of a HELLO that no version changes."""
    if not MAGIC.startswith(buffer[: len(MAGIC)]):
        raise RemoteProtocolError("wrong_magic", "what answers there is not a peer of this game")
    at = len(MAGIC) + 3
    if len(buffer) < at:
        return None
    length = buffer[at - 1]
    if length > MAX_SOFTWARE:
        raise RemoteProtocolError("bad_hello", f"a software name of {length} bytes")
    if len(buffer) < at + length:
        return None
    software = printable(buffer[at : at + length].decode("utf-8", "replace")) or "unknown software"
    return int.from_bytes(buffer[at - 3 : at - 1], "big"), software, at + length


def _read_body(buffer: bytearray, at: int) -> bytes | None:
    if len(buffer) < at + 2:
        return None
    length = int.from_bytes(buffer[at : at + 2], "big")
    if length > MAX_HELLO_BODY:
        raise RemoteProtocolError(
            "frame_too_long", f"a HELLO of {length} bytes; the limit is {MAX_HELLO_BODY}"
        )
    if len(buffer) < at + 2 + length:
        return None
    return bytes(buffer[at + 2 : at + 2 + length])


def printable(text: str) -> str:
    """``text`` without what could drive a terminal: a stranger's words may end up on a screen."""
    return "".join(character if character.isprintable() else "?" for character in text)
