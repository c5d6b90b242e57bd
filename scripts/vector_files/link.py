"""link.json: a whole handshake from fixed secrets, frames, and bytes that end a link (F66 to F69, F55 to F57)."""

from __future__ import annotations

from typing import Any

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from protocol.canonical import encode
from protocol.identity import frame, tagged_hash
from protocol.wire import MAGIC, Code, Failed, Kind, Link, Purpose, RefusedByPeer, Role
from scripts.vector_files.form import Case, File, fixed, refused, somebody

TABLE = fixed("table")
DIALER, LISTENER = somebody(0), somebody(1)
SOFTWARE = "vectors"


def pair() -> tuple[Link, Link]:
    """The two sides, before a byte has passed."""
    dialer = Link(
        Role.DIALER,
        DIALER,
        entropy=fixed("dialer", 64),
        table=TABLE,
        purpose=Purpose.SEAT,
        peer_key=LISTENER.public_key,
        listening_port=4000,
        software=SOFTWARE,
    )
    listener = Link(Role.LISTENER, LISTENER, entropy=fixed("listener", 64), software=SOFTWARE)
    return dialer, listener


def make() -> File:
    return {
        "about": "SPEC.md section 13.  Each side's secret is its X25519 key.",
        "link": whole_link(),
        "cases": cases(),
    }


def whole_link() -> dict[str, Any]:
    dialer, listener = pair()
    hello_d, hello_l = dialer.take_outgoing(), listener.take_outgoing()
    listener.receive(hello_d)
    dialer.receive(hello_l)
    auth_d, auth_l = dialer.take_outgoing(), listener.take_outgoing()
    listener.receive(auth_d)
    dialer.receive(auth_l)
    frames = []

    def sent(comment: str, side: Link, kind: Kind, payload: bytes) -> None:
        frames.append(
            {
                "comment": comment,
                "from": side.role.name.lower(),
                "kind": int(kind),
                "payload": payload.hex(),
                "frame": side.take_outgoing().hex(),
            }
        )

    dialer.send(Kind.ADOPT, b"")
    sent("ADOPT, the dialer's second sealed frame", dialer, Kind.ADOPT, b"")
    listener.ping()
    sent("PING, the listener's second", listener, Kind.PING, b"")
    have = encode([0, [0, 0, fixed("genesis"), 0, [], tagged_hash("votes")[:8]], 2])
    dialer.send(Kind.SESSION, have)
    sent("HAVE at step 0", dialer, Kind.SESSION, have)
    listener.send(Kind.LOBBY, b"")
    sent("an empty payload", listener, Kind.LOBBY, b"")
    dialer.close(Code.LEAVING, "leaving the table")
    sent("BYE", dialer, Kind.BYE, encode(["leaving", "leaving the table"]))
    return {
        "identity_seeds": [fixed(f"identity/{seat}").hex() for seat in (0, 1)],
        "secrets": [fixed("dialer", 64)[:32].hex(), fixed("listener", 64)[:32].hex()],
        "hellos": [hello_d.hex(), hello_l.hex()],
        "transcript": dialer._transcript.hex(),
        "keys": [key.hex() for key in dialer_keys(dialer)],
        "auth_signed": [
            frame("link auth", bytes([role]) + dialer._transcript).hex()
            for role in (Role.DIALER, Role.LISTENER)
        ],
        "auths": [auth_d.hex(), auth_l.hex()],
        "frames": frames,
    }


def dialer_keys(dialer: Link) -> tuple[bytes, bytes]:
    """Derived anew, for the file."""
    theirs = X25519PrivateKey.from_private_bytes(fixed("listener", 64)[:32]).public_key().public_bytes_raw()
    mine = X25519PrivateKey.from_private_bytes(fixed("dialer", 64)[:32])
    shared = mine.exchange(X25519PublicKey.from_public_bytes(theirs))
    data = HKDF(algorithm=SHA256(), length=64, salt=dialer._transcript, info=frame("link keys")).derive(
        shared
    )
    return data[:32], data[32:]


# --- what ends a link ------------------------------------------------------------------------------------


def cases() -> list[Case]:
    """``to`` hears ``bytes`` after it has heard ``before`` (the hello, or the hello and the AUTH of the other side)."""
    link = whole_link()
    hello_l = bytes.fromhex(link["hellos"][1])
    auth_d, auth_l = (bytes.fromhex(data) for data in link["auths"])
    frames = [bytes.fromhex(each["frame"]) for each in link["frames"] if each["from"] == "dialer"]
    long = 131091

    def hello(*, version: int = 1, body: Any = None, magic: bytes = MAGIC, software: bytes = b"x") -> bytes:
        packed = body if isinstance(body, bytes) else encode(body)
        size = len(packed).to_bytes(2, "big")
        return magic + version.to_bytes(2, "big") + bytes([len(software)]) + software + size + packed

    good: list[Any] = [TABLE, 2, fixed("a key"), fixed("a nonce")]
    to_listener = [
        ("F66 another magic", "wrong_magic", "", hello(magic=b"\x8ap2pRum\r", body=good)),
        ("F66 a web browser", "wrong_magic", "", b"GET / HTTP/1.1\r\n"),
        ("F92 version 2", "version", "", hello(version=2, body=good)),
        ("software of 65 bytes", "bad_hello", "", hello(software=b"x" * 65, body=good)),
        ("F67 a body of 257 bytes", "frame_too_long", "", hello(body=bytes(257))),
        ("F70 a byte after the body's value", "bad_encoding", "", hello(body=encode(good) + b"\x00")),
        ("F82 five fields", "bad_encoding", "", hello(body=[*good, 0])),
        ("F72 a map", "bad_encoding", "", hello(body=b"\x80")),
        ("an unknown purpose", "bad_encoding", "", hello(body=[TABLE, 4, *good[2:]])),
        ("a dialer that wants nothing", "bad_hello", "", hello(body=[b"", 0, *good[2:]])),
        ("a key of small order", "bad_hello", "", hello(body=[TABLE, 2, bytes(32), good[3]])),
        ("F55 its own hello", "reflection", "", hello_l),
        ("F68 a frame of no bytes", "empty_frame", "hello", bytes(4)),
        ("F67 a frame of 2^32 - 1 bytes", "frame_too_long", "hello", b"\xff" * 4),
        ("F67 a frame of 513 bytes before AUTH", "frame_too_long", "hello", (513).to_bytes(4, "big")),
        ("an unknown type of frame", "unknown_frame", "hello", b"\x00\x00\x00\x01\x02"),
        ("F55 its own AUTH", "bad_seal", "hello", auth_l),
        ("F57 an AUTH that was changed", "bad_seal", "hello", auth_d[:-1] + bytes([auth_d[-1] ^ 1])),
        ("a sealed frame of no bytes", "bad_seal", "hello", b"\x00\x00\x00\x01\x01"),
        ("F56 the AUTH again", "bad_seal", "auth", auth_d),
        ("a frame left out", "bad_seal", "auth", frames[1]),
        ("F67 a frame above the limit of an open link", "frame_too_long", "auth", long.to_bytes(4, "big")),
        ("a refusal in the clear after AUTH", "unknown_frame", "auth", clear_refusal()),
    ]
    to_dialer = [
        ("a listener that names a table", "bad_hello", "", hello(body=good)),
        ("F56 an AUTH recorded from another link", "bad_seal", "hello", other_auth()),
        (
            "a refusal in the clear, which anybody may have written: its code",
            "full",
            "hello",
            clear_refusal(),
        ),
    ]
    heard = [("listener", *case) for case in to_listener] + [("dialer", *case) for case in to_dialer]
    return [
        *(
            refused(comment, reason, to=to, before=before, bytes=data.hex())
            for to, comment, reason, before, data in heard
        ),
        *sealed_cases(),
    ]


def clear_refusal() -> bytes:
    body = b"\x00" + encode(["full", "all seats are taken"])
    return len(body).to_bytes(4, "big") + body


def other_auth() -> bytes:
    """The listener's AUTH of a link with another nonce."""
    listener = Link(Role.LISTENER, LISTENER, entropy=fixed("another link", 64), software=SOFTWARE)
    listener.take_outgoing()
    listener.receive(pair()[0].take_outgoing())
    return listener.take_outgoing()


def sealed_cases() -> list[Case]:
    """Frames that open, with the wrong thing inside."""
    dialer, listener = pair()
    dialer.receive(listener.take_outgoing())

    def sealed(comment: str, reason: str, plain: bytes, *, before: str = "hello", number: int = 0) -> Case:
        key, _ = dialer_keys(dialer)
        body = b"\x01" + ChaCha20Poly1305(key).encrypt(number.to_bytes(12, "big"), plain, None)
        data = len(body).to_bytes(4, "big") + body
        return refused(comment, reason, to="listener", before=before, bytes=data.hex())

    transcript = dialer._transcript
    mine = DIALER.sign("link auth", b"\x00" + transcript)
    key, theirs = DIALER.public_key, LISTENER.public_key

    def auth(*fields: Any) -> bytes:
        return b"\x00" + encode(list(fields))

    weak = (1).to_bytes(32, "little")
    return [
        sealed("F55 the role of the other side", "bad_signature", auth(key, DIALER.sign("link auth", b"\x01" + transcript), 0)),
        sealed("F57 signed for another transcript", "bad_signature", auth(key, DIALER.sign("link auth", b"\x00" + bytes(32)), 0)),
        sealed("signed for another purpose", "bad_signature", auth(key, DIALER.sign("entry", b"\x00" + transcript), 0)),
        sealed("F48 a key of small order", "bad_identity", auth(weak, weak + bytes(32), 0)),
        sealed("F55 the listener's own key", "own_key", auth(theirs, LISTENER.sign("link auth", b"\x00" + transcript), 0)),
        sealed("port 65536", "bad_encoding", auth(key, mine, 65536)),
        sealed("F82 two fields", "bad_encoding", auth(key, mine)),
        sealed("a message before AUTH", "not_authenticated", b"\x05"),
        sealed("nothing inside", "empty_frame", b""),
        sealed("F81 an unknown kind", "unknown_kind", b"\x07", before="auth", number=1),
        sealed("a second AUTH", "repeated_auth", auth(key, mine, 0), before="auth", number=1),
        sealed("a PING that carries something", "bad_ping", b"\x01\x00", before="auth", number=1),
    ]  # fmt: skip


def check(case: dict[str, Any]) -> str:
    """The reason for which the side that hears this ends the link; "" if it does not."""
    link = whole_link()
    to_listener = case["to"] == "listener"
    dialer, listener = pair()
    side = listener if to_listener else dialer
    mine = 0 if to_listener else 1
    if case["before"]:
        side.receive(bytes.fromhex(link["hellos"][mine]))
    if case["before"] == "auth":
        side.receive(bytes.fromhex(link["auths"][mine]))
    for event in side.receive(bytes.fromhex(case["bytes"])):
        if isinstance(event, Failed):
            return event.error.reason
        if isinstance(event, RefusedByPeer):
            return event.code
    return ""
