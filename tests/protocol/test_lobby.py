"""The lobby: seats fill, all accept one agreement, and what does not fit is refused with the reason."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol import lobby
from protocol.agreement import SeatClaim, claim
from protocol.canonical import encode
from protocol.errors import LocalProtocolError, RemoteProtocolError
from protocol.identity import Identity
from protocol.lobby import (
    Guest,
    GuestState,
    Host,
    HostState,
    Offer,
    Proposed,
    Refuse,
    RosterChanged,
    Started,
    Tell,
)
from protocol.ticket import Address
from protocol.wire import Code

PLAYERS = {
    name: claim(Identity(bytes([number]) * 32), name, bytes([number]) * 32)
    for number, name in enumerate(("Ann", "Bo", "Cy", "Di"), start=1)
}
OFFER = Offer(game="toy", rules_version=1, options=(("target", "500"),), seats=3)
HOME = (Address(host="192.168.1.10", port=4001),)


class Room:
    """A host and guests whose messages are carried at once, in order."""

    def __init__(self, offer: Offer = OFFER) -> None:
        self.host = Host(offer, PLAYERS["Ann"], HOME)
        self.guests: dict[int, Guest] = {}
        self.keys: dict[int, bytes] = {}
        self.told: list[lobby.Output] = []

    def join(self, number: int, who: SeatClaim) -> Guest:
        guest = Guest(who, PLAYERS["Ann"].key, [Address(host="10.0.0.1", port=number)])
        self.guests[number] = guest
        self.keys[number] = who.key
        self.settle()
        return guest

    def leave(self, number: int) -> None:
        del self.guests[number]
        self.host.left(number)
        self.settle()

    def settle(self) -> None:
        busy = True
        while busy:
            busy = False
            for number, guest in list(self.guests.items()):
                for output in guest.take_outputs():
                    busy = True
                    if isinstance(output, Tell):
                        seen = Address(host="127.0.0.1", port=5000 + number)
                        self.host.received(number, self.keys[number], output.message, seen_at=seen)
            for output in self.host.take_outputs():
                busy = True
                self.told.append(output)
                if isinstance(output, Tell) and output.guest in self.guests:
                    self.guests[output.guest].received(output.message)
                elif isinstance(output, Refuse):
                    self.guests.pop(output.guest, None)
                    self.host.left(output.guest)

    def of(self, kind: type[lobby.Output]) -> list[lobby.Output]:
        return [output for output in self.told if isinstance(output, kind)]


def test_when_the_last_seat_is_taken_all_hold_one_agreement() -> None:
    room = Room()
    bo = room.join(1, PLAYERS["Bo"])
    assert bo.state is GuestState.SEATED
    assert room.host.roster.free == 1
    cy = room.join(2, PLAYERS["Cy"])
    assert room.host.state is HostState.STARTED
    assert bo.state is cy.state is GuestState.STARTED
    (started,) = room.of(Started)
    assert isinstance(started, Started)
    assert started.agreement == OFFER.agreement([PLAYERS["Ann"], PLAYERS["Bo"], PLAYERS["Cy"]])


def test_everybody_learns_where_everybody_may_be_reached() -> None:
    """The host's own addresses; for a guest where its link came from, then what it says itself."""
    room = Room(replace(OFFER, seats=2))
    room.join(1, PLAYERS["Bo"])
    (started,) = room.of(Started)
    assert isinstance(started, Started)
    assert started.addresses == (
        HOME,
        (Address(host="127.0.0.1", port=5001), Address(host="10.0.0.1", port=1)),
    )


def test_the_table_starts_only_when_the_last_guest_has_accepted() -> None:
    host = Host(OFFER, PLAYERS["Ann"], HOME)
    guests = {
        1: Guest(PLAYERS["Bo"], PLAYERS["Ann"].key, ()),
        2: Guest(PLAYERS["Cy"], PLAYERS["Ann"].key, ()),
    }
    for number, guest in guests.items():
        (joining,) = guest.take_outputs()
        assert isinstance(joining, Tell)
        host.received(number, (PLAYERS["Bo"], PLAYERS["Cy"])[number - 1].key, joining.message)
    accepts = {}
    for output in host.take_outputs():
        if isinstance(output, Tell):
            guests[output.guest].received(output.message)
    for number, guest in guests.items():
        accepts[number] = next(output.message for output in guest.take_outputs() if isinstance(output, Tell))
    host.received(1, PLAYERS["Bo"].key, accepts[1])
    assert host.take_outputs() == []
    host.received(2, PLAYERS["Cy"].key, accepts[2])
    assert [type(output) for output in host.take_outputs()] == [Tell, Tell, Started]


def test_a_guest_that_leaves_frees_its_seat_and_voids_the_proposal() -> None:
    host = Host(replace(OFFER, seats=2), PLAYERS["Ann"], HOME)
    bo = Guest(PLAYERS["Bo"], PLAYERS["Ann"].key, ())
    (joining,) = bo.take_outputs()
    assert isinstance(joining, Tell)
    host.received(1, PLAYERS["Bo"].key, joining.message)
    assert host.state is HostState.PROPOSED
    host.left(1)
    assert host.state is HostState.FILLING
    assert host.roster.claims == (PLAYERS["Ann"],)


def test_the_seats_can_be_closed_early_with_two_but_not_alone() -> None:
    alone = Host(OFFER, PLAYERS["Ann"], HOME)
    with pytest.raises(LocalProtocolError, match="2 to 8 seats, not 1"):
        alone.close_seats()
    room = Room()
    room.join(1, PLAYERS["Bo"])
    room.host.close_seats()
    room.settle()
    (started,) = room.of(Started)
    assert isinstance(started, Started)
    assert started.agreement.keys == (PLAYERS["Ann"].key, PLAYERS["Bo"].key)


# --- refusals ------------------------------------------------------------------------------------------


def refusal(room: Room) -> tuple[Code, str]:
    (refused,) = room.of(Refuse)
    assert isinstance(refused, Refuse)
    return refused.code, refused.text


def test_a_full_table_says_so() -> None:
    host = Host(replace(OFFER, seats=2), PLAYERS["Ann"], HOME)
    for number, name in enumerate(("Bo", "Cy"), start=1):
        (joining,) = Guest(PLAYERS[name], PLAYERS["Ann"].key, ()).take_outputs()
        assert isinstance(joining, Tell)
        host.received(number, PLAYERS[name].key, joining.message)
    refused = [output for output in host.take_outputs() if isinstance(output, Refuse)]
    assert refused == [Refuse(guest=2, code=Code.FULL, text="all 2 seats of this table are taken")]
    assert host.roster.claims == (PLAYERS["Ann"], PLAYERS["Bo"])


def test_one_identity_sits_once() -> None:
    room = Room()
    room.join(1, PLAYERS["Bo"])
    again = claim(Identity(b"\x02" * 32), "Bobby", b"\x77" * 32)
    room.join(2, again)
    assert refusal(room) == (Code.DUPLICATE_KEY, "this identity sits here already, as Bo")
    assert room.host.roster.claims == (PLAYERS["Ann"], PLAYERS["Bo"])


def test_one_name_sits_once() -> None:
    room = Room()
    room.join(1, replace(PLAYERS["Bo"], name="Ann"))
    code, text = refusal(room)
    assert code is Code.NAME_TAKEN
    assert "Ann; choose another name" in text


def test_n6_a_commitment_copied_from_another_guest_is_refused() -> None:
    """Every guest sees the others' claims.  An agreement with one commitment twice cannot be made: who copies one must be
    sent away, or the host's program ends when the last seat is taken."""
    room = Room()
    room.join(1, PLAYERS["Bo"])
    room.join(2, replace(PLAYERS["Cy"], commitment=PLAYERS["Bo"].commitment))
    code, text = refusal(room)
    assert code is Code.DISAGREEMENT
    assert "same commitment" in text
    assert room.host.roster.claims == (PLAYERS["Ann"], PLAYERS["Bo"])
    room.join(3, PLAYERS["Cy"])
    assert room.host.state is HostState.STARTED


def test_a_name_that_could_drive_a_terminal_is_refused() -> None:
    room = Room()
    room.join(1, replace(PLAYERS["Bo"], name="B\x1b[2J"))
    code, text = refusal(room)
    assert code is Code.DISAGREEMENT
    assert "printable" in text


def test_after_the_start_a_stranger_is_refused() -> None:
    room = Room(replace(OFFER, seats=2))
    room.join(1, PLAYERS["Bo"])
    room.join(2, PLAYERS["Cy"])
    assert refusal(room)[0] is Code.STARTED


def test_w3_the_same_player_on_a_new_link_takes_its_old_place() -> None:
    room = Room()
    room.join(1, PLAYERS["Bo"])
    back = room.join(9, PLAYERS["Bo"])
    assert refusal(room)[0] is Code.REPLACED
    assert back.state is GuestState.SEATED
    assert room.host.roster.claims == (PLAYERS["Ann"], PLAYERS["Bo"])


def test_a_guest_that_lost_its_link_before_start_comes_back_after_it() -> None:
    room = Room(replace(OFFER, seats=2))
    room.join(1, PLAYERS["Bo"])
    assert room.host.state is HostState.STARTED
    del room.guests[1]
    back = room.join(2, PLAYERS["Bo"])
    assert back.state is GuestState.STARTED


# --- a guest checks its host ---------------------------------------------------------------------------


def seated() -> Guest:
    room = Room()
    guest = room.join(1, PLAYERS["Bo"])
    guest.take_outputs()
    return guest


def proposal(offer: Offer, *names: str) -> bytes:
    agreement = offer.agreement([PLAYERS[name] for name in names])
    return encode([2, agreement.encode(), [[] for _ in names]])


def roster(offer: Offer, *names: str) -> bytes:
    return encode(
        [1, *lobby._roster_fields(lobby.Roster(offer=offer, claims=tuple(PLAYERS[n] for n in names)))]
    )


@pytest.mark.parametrize(
    ("offer", "names", "told"),
    [
        (replace(OFFER, options=(("target", "50"),)), ("Ann", "Bo", "Cy"), "options"),
        (replace(OFFER, strict=True), ("Ann", "Bo", "Cy"), "strict"),
        (replace(OFFER, turn_ms=1), ("Ann", "Bo", "Cy"), "turn_ms"),
        (OFFER, ("Ann", "Cy", "Bo"), "seats"),
        (OFFER, ("Ann", "Cy", "Di"), "seats"),
    ],
)
def test_an_agreement_that_differs_from_the_offer_is_not_accepted(
    offer: Offer, names: tuple[str, ...], told: str
) -> None:
    guest = seated()
    guest.received(roster(OFFER, "Ann", "Bo", "Cy"))
    guest.take_outputs()
    with pytest.raises(RemoteProtocolError, match=f"not what the host showed: {told}"):
        guest.received(proposal(offer, *names))
    assert guest.state is GuestState.SEATED
    assert guest.take_outputs() == []


def test_a_roster_without_this_player_or_host_is_not_believed() -> None:
    for names in (("Ann", "Cy"), ("Bo", "Ann")):
        guest = seated()
        with pytest.raises(RemoteProtocolError) as caught:
            guest.received(roster(OFFER, *names))
        assert caught.value.reason == "wrong_roster"


def test_start_counts_for_what_was_accepted_only() -> None:
    guest = seated()
    guest.received(roster(OFFER, "Ann", "Bo", "Cy"))
    guest.received(proposal(OFFER, "Ann", "Bo", "Cy"))
    assert [type(output) for output in guest.take_outputs()] == [RosterChanged, Proposed, Tell]
    with pytest.raises(RemoteProtocolError, match="another agreement"):
        guest.received(encode([4, bytes(32)]))
    assert guest.state is GuestState.ACCEPTED


@pytest.mark.parametrize("message", [[2, b"", []], [4, bytes(32)], [3, bytes(32)], [0, [], []]])
def test_messages_out_of_order_are_refused(message: list[object]) -> None:
    guest = Guest(PLAYERS["Bo"], PLAYERS["Ann"].key, ())
    with pytest.raises(RemoteProtocolError) as caught:
        guest.received(encode(message))  # type: ignore[arg-type]
    assert caught.value.reason == "lobby_order"
    assert guest.state is GuestState.JOINING


def test_a_claim_for_another_key_than_the_links_is_refused() -> None:
    host = Host(OFFER, PLAYERS["Ann"], HOME)
    (joining,) = Guest(PLAYERS["Bo"], PLAYERS["Ann"].key, ()).take_outputs()
    assert isinstance(joining, Tell)
    with pytest.raises(RemoteProtocolError, match="another key"):
        host.received(1, PLAYERS["Cy"].key, joining.message)
    assert host.take_outputs() == []


@pytest.mark.parametrize("host_name", ["localhost", "evil.example", "1.2.3.4.5", ""])
def test_addresses_of_guests_are_numbers_not_names(host_name: str) -> None:
    host = Host(OFFER, PLAYERS["Ann"], HOME)
    message = encode([0, lobby._claim_value(PLAYERS["Bo"]), [[host_name, 80]]])
    with pytest.raises(RemoteProtocolError, match="IP address"):
        host.received(1, PLAYERS["Bo"].key, message)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200) | st.lists(st.integers(0, 5) | st.binary(max_size=8), max_size=4).map(encode))
def test_f84_random_messages_are_refused_and_change_nothing(message: bytes) -> None:
    host = Host(OFFER, PLAYERS["Ann"], HOME)
    guest = Guest(PLAYERS["Bo"], PLAYERS["Ann"].key, ())
    for machine in (lambda: host.received(1, PLAYERS["Bo"].key, message), lambda: guest.received(message)):
        with pytest.raises(RemoteProtocolError):
            machine()
    assert host.roster.claims == (PLAYERS["Ann"],)
    assert guest.state is GuestState.JOINING


@pytest.mark.parametrize("place", ["name", "bot", "option", "game"])
def test_a_host_that_would_paint_on_its_guests_screens_is_left(place: str) -> None:
    """Faces show who sits where, and what is played, before anybody has signed anything."""
    escape = "\x1b[2J"
    offer, ann = OFFER, PLAYERS["Ann"]
    match place:
        case "name" | "bot":
            ann = replace(ann, **{place: escape})
        case "option":
            offer = replace(offer, options=(("target", escape),))
        case _:
            offer = replace(offer, game=escape)
    guest = Guest(PLAYERS["Bo"], ann.key, [])
    guest.take_outputs()
    roster = lobby.Roster(offer=offer, claims=(ann, PLAYERS["Bo"]))
    with pytest.raises(RemoteProtocolError, match="printable characters are expected"):
        guest.received(lobby._write(lobby.MessageKind.ROSTER, *lobby._roster_fields(roster)))
    assert guest.state is GuestState.JOINING
    assert guest.take_outputs() == []
