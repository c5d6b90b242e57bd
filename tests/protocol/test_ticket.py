"""Tickets: what is typed wrong is told from what is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.errors import LocalProtocolError
from protocol.identity import Identity
from protocol.ticket import Address, BadTicket, Ticket, parse_ticket, ticket_fingerprint

HOST = Identity(b"\x07" * 32).public_key
TICKET = Ticket(
    table=b"0123456789",
    fingerprint=ticket_fingerprint(HOST),
    addresses=(
        Address(host="192.168.1.20", port=4711),
        Address(host="2001:db8::1", port=4711),
        Address(host="pi.example", port=80),
        Address(host="nas", port=9),
    ),
)

addresses = st.one_of(
    st.ip_addresses().map(str),
    st.from_regex(r"\A[a-z][a-z0-9-]{0,20}(\.[a-z]{2,5})?\Z"),
)
tickets = st.builds(
    Ticket,
    table=st.binary(min_size=10, max_size=10),
    fingerprint=st.binary(min_size=16, max_size=16),
    addresses=st.lists(
        st.builds(Address, host=addresses, port=st.integers(1, 65535)), min_size=1, max_size=8
    ).map(tuple),
)


@given(tickets)
def test_a_ticket_round_trips_as_text(ticket: Ticket) -> None:
    assert parse_ticket(str(ticket)) == ticket


def test_a_ticket_for_one_lan_address_is_short_enough_to_type_and_to_scan() -> None:
    one = Ticket(table=TICKET.table, fingerprint=TICKET.fingerprint, addresses=TICKET.addresses[:1])
    # 1 + 10 + 16 + (2 + 1 + 4) + 5 = 39 bytes = 63 digits, in 13 groups of at most five, behind RUMMY
    assert len(str(one)) == len("RUMMY") + 63 + 13
    assert set(str(one)) <= set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:")  # QR alphanumeric mode


def test_case_spaces_line_breaks_and_lookalikes_do_not_matter() -> None:
    line = str(TICKET)
    sloppy = "  " + line.lower().replace("-", " \n").replace("0", "o").replace("1", "l") + "\n"
    assert parse_ticket(sloppy) == TICKET


def test_the_ticket_knows_the_host_and_nobody_else() -> None:
    assert TICKET.is_for(HOST)
    assert not TICKET.is_for(Identity(b"\x08" * 32).public_key)


def test_any_one_wrong_character_is_noticed() -> None:
    line = str(TICKET)
    for at in range(len("RUMMY"), len(line)):
        if line[at] == "-":
            continue
        wrong = line[:at] + ("Q" if line[at] != "Q" else "7") + line[at + 1 :]
        with pytest.raises(BadTicket):
            parse_ticket(wrong)


def test_swapped_and_missing_characters_are_noticed() -> None:
    digits = str(TICKET).replace("-", "")
    for at in range(5, len(digits) - 1):
        with pytest.raises(BadTicket):
            parse_ticket(digits[:at] + digits[at + 1 :])
        if digits[at] != digits[at + 1]:
            with pytest.raises(BadTicket):
                parse_ticket(digits[:at] + digits[at + 1] + digits[at] + digits[at + 2 :])


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", "empty"),
        ("192.168.1.20:4711", "begins with RUMMY"),
        ("RUMMY", "cut short"),
        ("RUMMY-U", "character 'U'"),
        ("RUMMY-12345", "wrong or missing"),
        ("RUMMY" + "0" * 5000, "far longer"),
    ],
)
def test_what_is_not_a_ticket_is_told_apart(line: str, told: str) -> None:
    with pytest.raises(BadTicket, match=told):
        parse_ticket(line)


def test_a_ticket_of_a_later_format_names_both_formats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("protocol.ticket._FORMAT", 2)
    later = str(TICKET)
    monkeypatch.undo()
    with pytest.raises(BadTicket, match="format 2, this program reads format 1"):
        parse_ticket(later)


@given(st.text(max_size=200))
def test_any_text_is_a_ticket_or_a_bad_ticket(line: str) -> None:
    for text in (line, "RUMMY" + line):
        try:
            ticket = parse_ticket(text)
        except BadTicket:
            continue
        assert parse_ticket(str(ticket)) == ticket


def test_what_cannot_be_an_address_makes_no_ticket() -> None:
    for address in (Address(host="bad host", port=1), Address(host="ok", port=0), Address(host="", port=1)):
        with pytest.raises(LocalProtocolError):
            str(Ticket(table=bytes(10), fingerprint=bytes(16), addresses=(address,)))
    with pytest.raises(LocalProtocolError):
        Ticket(table=bytes(10), fingerprint=bytes(16), addresses=())


def test_an_address_is_written_as_people_write_it() -> None:
    assert [str(address) for address in TICKET.addresses] == [
        "192.168.1.20:4711",
        "[2001:db8::1]:4711",
        "pi.example:80",
        "nas:9",
    ]
