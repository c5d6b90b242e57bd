"""The link: frames, handshake, refusals.  Both ends here are the real machine, joined by hand."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol import wire
from protocol.canonical import encode
from protocol.errors import LocalProtocolError
from protocol.identity import Identity
from protocol.wire import (
    Authenticated,
    Code,
    Failed,
    Greeted,
    Kind,
    Link,
    Message,
    Purpose,
    RefusedByPeer,
    Role,
    State,
)

ANN = Identity(b"\x01" * 32)
BO = Identity(b"\x02" * 32)
EVE = Identity(b"\x03" * 32)
TABLE = b"T" * 16

_entropy = random.Random(0)


def fresh() -> bytes:
    return _entropy.randbytes(wire.ENTROPY_BYTES)


def dialer(identity: Identity = ANN, **options: object) -> Link:
    arguments: dict[str, object] = {
        "entropy": fresh(),
        "table": TABLE,
        "purpose": Purpose.SEAT,
        "listening_port": 4001,
    }
    return Link(Role.DIALER, identity, **(arguments | options))  # type: ignore[arg-type]


def listener(identity: Identity = BO, **options: object) -> Link:
    return Link(Role.LISTENER, identity, **({"entropy": fresh()} | options))  # type: ignore[arg-type]


def shake(one: Link, other: Link) -> tuple[list[wire.Event], list[wire.Event]]:
    """Carry bytes both ways until neither side has anything to say; the events of each side."""
    events: tuple[list[wire.Event], list[wire.Event]] = ([], [])
    while (there := one.take_outgoing()) + (back := other.take_outgoing()):
        events[1].extend(other.receive(there))
        events[0].extend(one.receive(back))
    return events


def open_pair() -> tuple[Link, Link]:
    pair = dialer(), listener()
    shake(*pair)
    assert pair[0].state is pair[1].state is State.OPEN
    return pair


def failure(events: list[wire.Event]) -> str:
    (failed,) = (event for event in events if isinstance(event, Failed))
    return failed.error.reason


# --- the way it goes -----------------------------------------------------------------------------------


def test_each_side_learns_the_proven_key_of_the_other() -> None:
    one, other = dialer(), listener(listening_port=4002)
    mine, theirs = shake(one, other)
    assert mine == [
        Greeted(table=b"", purpose=Purpose.NONE, software="p2p-rummy"),
        Authenticated(peer_key=BO.public_key, listening_port=4002),
    ]
    assert theirs == [
        Greeted(table=TABLE, purpose=Purpose.SEAT, software="p2p-rummy"),
        Authenticated(peer_key=ANN.public_key, listening_port=4001),
    ]


def test_messages_arrive_in_order_and_pings_say_nothing() -> None:
    one, other = open_pair()
    one.send(Kind.SESSION, b"first")
    one.ping()
    one.send(Kind.LOBBY, b"")
    assert other.receive(one.take_outgoing()) == [
        Message(kind=Kind.SESSION, payload=b"first"),
        Message(kind=Kind.LOBBY, payload=b""),
    ]


def test_nothing_that_was_sent_can_be_read_on_the_wire() -> None:
    one, other = dialer(), listener()
    other.receive(one.take_outgoing())
    one.receive(other.take_outgoing())
    one_auth = one.take_outgoing()
    assert ANN.public_key not in one_auth
    other.receive(one_auth)
    one.send(Kind.SESSION, b"good luck")
    assert b"good luck" not in one.take_outgoing()


def test_a_peer_that_leaves_says_why() -> None:
    one, other = open_pair()
    one.close(Code.LEAVING, "good night")
    assert other.receive(one.take_outgoing()) == [
        RefusedByPeer(code="leaving", text="good night", proven=True)
    ]
    assert other.closed


def test_a_refusal_before_authentication_is_heard_but_not_proven() -> None:
    one, other = dialer(), listener()
    other.receive(one.take_outgoing())
    other.take_outgoing()
    refusing = listener()
    refusing.close(Code.BUSY, "too many guests")
    events = one.receive(refusing.take_outgoing())
    assert events[-1] == RefusedByPeer(code="busy", text="too many guests", proven=False)


def test_the_words_of_a_refusal_cannot_drive_a_terminal() -> None:
    one, other = open_pair()
    other.close(Code.FULL, "\x1b[2Jgone\n")
    assert one.receive(other.take_outgoing()) == [RefusedByPeer(code="full", text="?[2Jgone?", proven=True)]


# --- networks ------------------------------------------------------------------------------------------


def test_f02_one_byte_slicing() -> None:
    one, other = dialer(), listener()
    events: list[wire.Event] = []
    for _ in range(3):
        for source, sink in ((one, other), (other, one)):
            for byte in source.take_outgoing():
                told = sink.receive(bytes([byte]))
                if sink is other:
                    events += told
    one.send(Kind.SESSION, b"card")
    for byte in one.take_outgoing():
        events += other.receive(bytes([byte]))
    assert [type(event) for event in events] == [Greeted, Authenticated, Message]


def test_f03_coalesced_frames() -> None:
    one, other = dialer(), listener()
    one.receive(other.take_outgoing())
    both = one.take_outgoing()  # HELLO and AUTH in one piece
    other.receive(both)
    one.receive(other.take_outgoing())
    for number in range(40):
        one.send(Kind.SESSION, bytes([number]))
    told = other.receive(one.take_outgoing())
    assert told == [Message(kind=Kind.SESSION, payload=bytes([number])) for number in range(40)]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.binary(max_size=300), max_size=8), st.integers(1, 97))
def test_messages_survive_any_slicing(payloads: list[bytes], size: int) -> None:
    one, other = open_pair()
    for payload in payloads:
        one.send(Kind.LOBBY, payload)
    stream = one.take_outgoing()
    told = [event for at in range(0, len(stream), size) for event in other.receive(stream[at : at + size])]
    assert told == [Message(kind=Kind.LOBBY, payload=payload) for payload in payloads]
    assert not other.frame_begun


# --- who it is -----------------------------------------------------------------------------------------


def test_f55_auth_reflection() -> None:
    """A mirror sends everything back: first the very HELLO, then (with a HELLO of its own) the AUTH."""
    mirrored = dialer()
    assert failure(mirrored.receive(mirrored.take_outgoing())) == "reflection"

    # Two connections to one victim: what it sends on the first as dialer comes back on the second.
    calling, called = dialer(ANN), listener(ANN)
    shake_events = shake(calling, called)
    assert failure(shake_events[0]) == failure(shake_events[1]) == "own_key"


def test_f56_auth_replay() -> None:
    """A recorded dialer, played to the same listener again: another nonce, another transcript."""
    one, other = dialer(), listener()
    hello = one.take_outgoing()
    other.receive(hello)
    one.receive(other.take_outgoing())
    auth = one.take_outgoing()
    assert other.receive(auth) == [Authenticated(peer_key=ANN.public_key, listening_port=4001)]

    again = listener()
    again.receive(hello)
    assert failure(again.receive(auth)) == "bad_seal"
    assert again.peer_key is None


def test_f57_somebody_in_the_middle_joins_no_two_halves() -> None:
    """Eve answers Ann with her own HELLO and passes Bo's AUTH on: Bo signed another transcript."""
    ann, bo = dialer(peer_key=BO.public_key), listener()
    to_ann, to_bo = listener(EVE), dialer(EVE)
    bo.receive(to_bo.take_outgoing())
    to_bo.receive(bo.take_outgoing())
    ann.receive(to_ann.take_outgoing())
    to_ann.receive(ann.take_outgoing())
    told = ann.receive(to_ann.take_outgoing())
    assert failure(told) == "wrong_key"
    assert ann.closed


def test_f57_an_injected_frame_ends_the_link() -> None:
    one, other = open_pair()
    one.send(Kind.SESSION, b"turn")
    stream = bytearray(one.take_outgoing())
    stream[-1] ^= 1
    assert failure(other.receive(bytes(stream))) == "bad_seal"


@pytest.mark.parametrize("order", [(1, 0), (0, 0, 1), (1,)], ids=["swapped", "repeated", "dropped"])
def test_f57_frames_swapped_repeated_or_dropped_end_the_link(order: tuple[int, ...]) -> None:
    one, other = open_pair()
    frames = []
    for payload in (b"a", b"b"):
        one.send(Kind.SESSION, payload)
        frames.append(one.take_outgoing())
    told = other.receive(b"".join(frames[number] for number in order))
    assert failure(told) == "bad_seal"


def test_a_signature_under_the_other_role_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = dialer(), listener()
    other.receive(one.take_outgoing())
    real = wire._auth_statement
    monkeypatch.setattr(wire, "_auth_statement", lambda role, transcript: real(Role.LISTENER, transcript))
    one.receive(other.take_outgoing())
    monkeypatch.undo()
    assert failure(other.receive(one.take_outgoing())) == "bad_signature"


def test_f48_an_identity_of_small_order_is_refused() -> None:
    one, other = dialer(), listener()
    other.receive(one.take_outgoing())
    one.receive(other.take_outgoing())
    one.take_outgoing()
    forged = dialer()
    forged.state, forged._seal = State.PROVING, one._seal
    one._seal._count = 0  # type: ignore[union-attr]
    small_order = b"\x01" + bytes(31)  # the neutral element: y = 1
    forged._send_sealed(Kind.AUTH, encode([small_order, bytes(64), 0]))
    forged._outgoing = forged._outgoing[len(forged._own_hello) :]
    assert failure(other.receive(bytes(forged._outgoing))) == "bad_identity"


def test_an_x25519_share_of_small_order_is_refused() -> None:
    hello = wire._hello(1, "x", TABLE, Purpose.SEAT, bytes(32), bytes(32))
    assert failure(listener().receive(hello)) == "bad_hello"


# --- versions ------------------------------------------------------------------------------------------


def test_f92_version_mismatch_names_both() -> None:
    old, new = dialer(version=1, software="rummy 0.1"), listener(version=7, software="rummy 0.9")
    mine, theirs = shake(old, new)
    for told in (mine, theirs):
        (failed,) = told
        assert isinstance(failed, Failed)
        assert failed.error.reason == "version"
    assert isinstance(mine[0], Failed)
    message = mine[0].error.message
    assert "(rummy 0.9) speaks version 7" in message
    assert "(rummy 0.1) speaks version 1" in message
    assert old.peer_version == 7
    assert new.peer_version == 1


def test_f92_the_body_of_another_version_is_not_read() -> None:
    hello = wire.MAGIC + (2).to_bytes(2, "big") + b"\x03new" + b"\xff\xff"
    assert failure(listener().receive(hello)) == "version"


# --- bytes ---------------------------------------------------------------------------------------------


def sealed_by(link: Link, plain: bytes) -> bytes:
    """A frame that ``link`` would never send, sealed as if it had."""
    assert link._seal is not None
    body = b"\x01" + link._seal.seal(plain)
    return len(body).to_bytes(4, "big") + body


def test_f66_wrong_magic_is_noticed_at_the_first_byte() -> None:
    assert failure(listener().receive(b"G")) == "wrong_magic"
    assert failure(listener().receive(b"GET / HTTP/1.1\r\n\r\n")) == "wrong_magic"


@pytest.mark.parametrize("stage", ["proving", "open"])
def test_f67_length_of_four_gigabytes(stage: str) -> None:
    one, other = dialer(), listener()
    other.receive(one.take_outgoing())
    if stage == "open":
        one.receive(other.take_outgoing())
        other.receive(one.take_outgoing())
    assert other.state.value == stage
    assert failure(other.receive(b"\xff\xff\xff\xff")) == "frame_too_long"
    assert not other.frame_begun


def test_f67_a_hello_longer_than_its_limit() -> None:
    hello = wire.MAGIC + (1).to_bytes(2, "big") + b"\x00" + b"\xff\xff"
    assert failure(listener().receive(hello)) == "frame_too_long"


def test_f67_a_stranger_may_send_less_than_a_seat() -> None:
    one, other = dialer(), listener()
    other.receive(one.take_outgoing())
    assert failure(other.receive((513).to_bytes(4, "big"))) == "frame_too_long"

    one, other = open_pair()
    assert other.receive((2 + wire.MAX_MESSAGE + 16).to_bytes(4, "big")) == []
    one, other = open_pair()
    assert failure(other.receive((3 + wire.MAX_MESSAGE + 16).to_bytes(4, "big"))) == "frame_too_long"


def test_the_longest_message_passes_and_one_byte_more_is_not_sent() -> None:
    one, other = open_pair()
    one.send(Kind.SESSION, bytes(wire.MAX_MESSAGE))
    (message,) = other.receive(one.take_outgoing())
    assert message == Message(kind=Kind.SESSION, payload=bytes(wire.MAX_MESSAGE))
    with pytest.raises(LocalProtocolError, match="131072 bytes, not 131073"):
        one.send(Kind.SESSION, bytes(wire.MAX_MESSAGE + 1))
    assert one.take_outgoing() == b""


def test_f68_zero_length() -> None:
    _one, other = open_pair()
    assert failure(other.receive(bytes(4))) == "empty_frame"


def test_f68_nothing_inside_the_seal() -> None:
    one, other = open_pair()
    assert failure(other.receive(sealed_by(one, b""))) == "empty_frame"


def test_f69_a_truncated_frame_waits_and_says_so() -> None:
    one, other = open_pair()
    one.send(Kind.SESSION, b"turn")
    stream = one.take_outgoing()
    assert other.receive(stream[:-1]) == []
    assert other.frame_begun
    assert other.receive(stream[-1:]) == [Message(kind=Kind.SESSION, payload=b"turn")]


def test_f69_a_truncated_auth_is_refused() -> None:
    one, other = dialer(), listener()
    other.receive(one.take_outgoing())
    one.receive(other.take_outgoing())
    auth = one.take_outgoing()
    short = (len(auth) - 5).to_bytes(4, "big") + auth[4:-1]
    assert failure(other.receive(short)) == "bad_seal"


def _auth_of(variant: str) -> bytes:
    """The canonical AUTH of Ann with one thing wrong; [bin 32 key, bin 64 signature, port]."""
    good = encode([ANN.public_key, bytes(64), 0])
    return {
        "f70 trailing bytes": good + b"\x00",
        "f71 non-minimal int": good[:-1] + b"\xcc\x00",
        "f72 map with a duplicate key": b"\x82\x00\x00\x00\x01",
        "f73 NaN": good[:-1] + b"\xcb\x7f\xf8" + bytes(6),
        "f73 minus zero": good[:-1] + b"\xcb\x80" + bytes(7),
        "f74 bool as int": good[:-1] + b"\xc2",
        "f75 str for bin": good.replace(b"\xc4\x20", b"\xd9\x20", 1).replace(ANN.public_key, b"a" * 32),
        "f76 bad UTF-8": good.replace(b"\xc4\x20", b"\xd9\x20", 1).replace(ANN.public_key, b"\xff" * 32),
        "f77 depth 1,000": b"\x91" * 400 + b"\x00",
        "f78 array header bomb": b"\xdd\xff\xff\xff\xff",
        "f79 ext": good[:-1] + b"\xd6\xff" + bytes(4),
        "f82 wrong arity": encode([ANN.public_key, bytes(64)]),
        "f83 int of 2^53": good[:-1] + b"\xcf\x00\x20" + bytes(6),
    }[variant]


@pytest.mark.parametrize(
    "variant",
    [
        "f70 trailing bytes",
        "f71 non-minimal int",
        "f72 map with a duplicate key",
        "f73 NaN",
        "f73 minus zero",
        "f74 bool as int",
        "f75 str for bin",
        "f76 bad UTF-8",
        "f77 depth 1,000",
        "f78 array header bomb",
        "f79 ext",
        "f82 wrong arity",
        "f83 int of 2^53",
    ],
)
def test_f70_to_f83_an_auth_that_we_would_not_have_written(variant: str) -> None:
    one, other = dialer(), listener()
    other.receive(one.take_outgoing())
    one.receive(other.take_outgoing())
    one.take_outgoing()
    assert one._seal is not None
    one._seal._count = 0  # the real AUTH is thrown away, this one takes its place
    told = other.receive(sealed_by(one, bytes([Kind.AUTH]) + _auth_of(variant)))
    assert failure(told) == "bad_encoding"
    assert other.peer_key is None


def test_f80_a_signature_with_s_plus_the_order() -> None:
    order = 2**252 + 27742317777372353535851937790883648493
    one, other = dialer(), listener()
    other.receive(one.take_outgoing())
    one.receive(other.take_outgoing())
    one.take_outgoing()
    signature = ANN.sign("link auth", bytes([Role.DIALER]) + one._transcript)
    s = int.from_bytes(signature[32:], "little") + order
    assert one._seal is not None
    one._seal._count = 0
    body = encode([ANN.public_key, signature[:32] + s.to_bytes(32, "little"), 0])
    assert failure(other.receive(sealed_by(one, bytes([Kind.AUTH]) + body))) == "bad_signature"


@pytest.mark.parametrize("byte", [7, 8, 255])
def test_f81_unknown_kind(byte: int) -> None:
    one, other = open_pair()
    assert failure(other.receive(sealed_by(one, bytes([byte])))) == "unknown_kind"


def test_f81_unknown_frame_type() -> None:
    _one, other = open_pair()
    assert failure(other.receive(b"\x00\x00\x00\x01\x00")) == "unknown_frame"


def test_a_second_auth_and_a_message_before_auth_are_out_of_turn() -> None:
    one, other = open_pair()
    assert failure(other.receive(sealed_by(one, bytes([Kind.AUTH])))) == "repeated_auth"

    one, other = dialer(), listener()
    other.receive(one.take_outgoing())
    one.receive(other.take_outgoing())
    one.take_outgoing()
    assert one._seal is not None
    one._seal._count = 0
    assert failure(other.receive(sealed_by(one, bytes([Kind.SESSION])))) == "not_authenticated"


def test_good_frames_before_a_bad_one_are_not_lost() -> None:
    one, other = open_pair()
    one.send(Kind.SESSION, b"turn")
    told = other.receive(one.take_outgoing() + bytes(4))
    assert told[0] == Message(kind=Kind.SESSION, payload=b"turn")
    assert failure(told) == "empty_frame"


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=700), st.sampled_from(["greeting", "proving", "open"]), st.booleans())
def test_f84_random_bytes_never_raise(data: bytes, stage: str, plausible: bool) -> None:
    one, other = dialer(), listener()
    if stage != "greeting":
        other.receive(one.take_outgoing())
    if stage == "open":
        one.receive(other.take_outgoing())
        other.receive(one.take_outgoing())
    assert other.state.value == stage
    if plausible:
        data = (wire.MAGIC + data) if stage == "greeting" else len(data).to_bytes(4, "big") + data
    for event in other.receive(data):
        assert isinstance(event, (Greeted, RefusedByPeer, Failed))
    other.take_outgoing()


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 255))
def test_f84_a_changed_byte_anywhere_in_the_handshake_never_authenticates(at: int, flip: int) -> None:
    one, other = dialer(), listener()
    one.receive(other.take_outgoing())
    stream = bytearray(one.take_outgoing())
    stream[at % len(stream)] ^= flip
    told = other.receive(bytes(stream))
    assert not any(isinstance(event, Authenticated) for event in told)


# --- this side's mistakes ------------------------------------------------------------------------------


def test_a_link_that_is_not_open_sends_nothing() -> None:
    link = dialer()
    with pytest.raises(LocalProtocolError, match="greeting, not open"):
        link.send(Kind.SESSION, b"")
    with pytest.raises(LocalProtocolError, match="greeting, not open"):
        link.ping()


def test_a_listener_names_no_table_and_entropy_has_its_length() -> None:
    with pytest.raises(LocalProtocolError):
        listener(table=TABLE)
    with pytest.raises(LocalProtocolError):
        dialer(entropy=bytes(32))


def test_after_the_end_nothing_is_heard() -> None:
    one, other = open_pair()
    one.send(Kind.SESSION, b"late")
    late = one.take_outgoing()
    other.close(Code.LEAVING, "")
    other.close(Code.LEAVING, "")
    assert other.receive(late) == []


def test_two_dialers_and_two_listeners_part_at_once() -> None:
    one, other = dialer(), dialer(BO)
    mine, theirs = shake(one, other)
    assert failure(mine) == failure(theirs) == "bad_hello"
    one, other = listener(ANN), listener()
    mine, theirs = shake(one, other)
    assert failure(mine) == failure(theirs) == "bad_hello"
