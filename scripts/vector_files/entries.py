"""entries.json: an agreement, a whole small log with a leaver in it, and statements that are refused in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from protocol import evidence, log
from protocol.agreement import agreement_nonce
from protocol.canonical import decode, encode
from protocol.entry import Entry, read, sign
from scripts.vector_files.form import Case, File, accepted, fixed, plain, refused, somebody
from scripts.vector_files.identity import ORDER
from scripts.vector_files.scripted_log import SEATS, Scripted, agreement, shown


def make() -> File:
    log_ = Scripted()
    log_.run()
    return {
        "about": "SPEC.md sections 7 to 11.  Entries are [content, signature].",
        "agreement": agreement_file(),
        "agreements": agreements(),
        "steps": log_.steps,
        "votes": [shown(vote) for vote in log_.votes],
        "certificate": plain(log_.certificate.value()),
        "return": shown(log_.request),
        "complaint": shown(log_.complaint) | {"step": log_.complaint.step, "at_fault": log_.complaint.seat},
        "illegal": log_.illegal,
        "unreadable": unreadable(log_.first),
        "foreign": foreign(log_.first),
        "evidence": pieces(log_),
    }


# --- the agreement ---------------------------------------------------------------------------------------


def agreement_file() -> dict[str, Any]:
    agreed = agreement()
    return {
        "value": plain(agreed.value()),
        "bytes": agreed.encode().hex(),
        "table": agreed.table.hex(),
        "genesis": log.genesis(agreed.table).hex(),
        "seeds": [fixed(f"identity/{seat}").hex() for seat in range(SEATS)],
        "nonces": [agreement_nonce(somebody(seat), fixed(f"salt/{seat}")).hex() for seat in range(SEATS)],
    }


def agreements() -> list[Case]:
    """What may not be signed."""
    good = agreement().value()

    def changed(comment: str, reason: str, *path: int, to: Any) -> Case:
        value = list(good)
        at: Any = value
        for index in path[:-1]:
            at[index] = list(at[index])
            at = at[index]
        at[path[-1]] = to
        return refused(comment, reason, bytes=encode(value).hex())

    claims = good[4]
    return [
        changed("F92 another version", "protocol version 2", 0, to=2),
        changed("one seat", "2 to 8 seats", 4, to=claims[:1]),
        changed("nine seats", "at most 8 items", 4, to=[*claims, *claims, *claims]),
        changed("one key twice", "the same key", 4, 1, 0, to=claims[0][0]),
        changed("one name twice", "the same name", 4, 1, 1, to="Ann"),
        changed("one commitment twice", "the same commitment", 4, 1, 3, to=claims[0][3]),
        changed("F48 a key of small order", "small order", 4, 1, 0, to=(1).to_bytes(32, "little")),
        changed("a name of 33 characters", "at most 32 characters", 4, 1, 1, to="x" * 33),
        changed("no name", "1 to 32 printable", 4, 1, 1, to=""),
        changed("a name with a line break", "1 to 32 printable", 4, 1, 1, to="Bo\n"),
        changed("a salt of 31 bytes", "32 bytes are expected", 4, 1, 2, to=bytes(31)),
        changed("options out of order", "not sorted", 3, to=[["target", "500"], ["calling", "full"]]),
        changed("one option twice", "named twice", 3, to=[["target", "400"], ["target", "500"]]),
        changed("an option that is no text", "text is expected", 3, to=[["target", 500]]),
        changed("a level of bot that moves the cursor", "printable", 4, 1, 4, to="\x1b[2J"),
        changed("an option with a control character", "printable", 3, to=[["target", "500\x07"]]),
        changed("a game with a line break", "printable", 1, to="scripted\n"),
        changed("no time for a turn", "above 0", 5, 1, to=0),
        changed("more than a year", "at most", 5, 0, to=366 * 24 * 3600 * 1000 + 1),
        changed("F74 a number for a flag", "a boolean is expected", 6, 0, to=0),
        changed("a flag too few", "3 items are expected", 6, to=[False, False]),
    ]


# --- what cannot even be read ----------------------------------------------------------------------------


def unreadable(entry: Entry) -> list[Case]:
    """Changes of the MOVE that no entry of any table has; ``reason`` names the field."""
    good: list[Any] = [
        1,
        entry.table,
        entry.epoch,
        entry.step,
        entry.seat,
        int(entry.kind),
        0,
        ["draw", [], []],
        entry.prev,
    ]

    def with_field(index: int, value: Any) -> bytes:
        return encode([*good[:index], value, *good[index + 1 :]])

    whole = encode(good)
    cases = [
        ("F82 eight fields", encode(good[:8]), "entry: 9 items are expected"),
        ("F82 ten fields", encode([*good, 0]), "entry: 9 items are expected"),
        ("no list at all", encode(b"entry"), "entry: a list is expected"),
        ("F92 another version", with_field(0, 2), "entry.version: protocol version 2"),
        ("F75 a table in text", with_field(1, "t" * 32), "entry.table: bytes are expected"),
        ("a table of 31 bytes", with_field(1, bytes(31)), "entry.table: 32 bytes are expected"),
        ("an epoch of 2^32", with_field(2, 2**32), "entry.epoch: an integer below"),
        ("F74 false for step 0", with_field(3, False), "entry.step: an integer is expected"),
        ("a step of 2^32", with_field(3, 2**32), "entry.step: an integer below"),
        ("seat 8", with_field(4, 8), "entry.seat: an integer below 8"),
        ("F81 an unknown kind", with_field(5, 15), "entry.kind: unknown kind 15"),
        ("round 65536", with_field(6, 65536), "entry.round: an integer below"),
        ("a body nine deep in all", with_field(7, [[[[[[[[]]]]]]]]), "nested more than 8 deep"),
        ("prev of 33 bytes", with_field(8, bytes(33)), "entry.prev: 32 bytes are expected"),
        ("N32 a longer form of the version", b"\x99\xcc\x01" + whole[2:], "in a header longer than it needs"),
        ("N32 a byte after the content", whole + b"\x00", "trailing bytes"),
    ]
    # The signature is good: it is never looked at.
    return [
        refused(comment, reason, entry=[data.hex(), somebody(0).sign("entry", data).hex()])
        for comment, data, reason in cases
    ]


# --- what is of no table, or of no seat -------------------------------------------------------------------


def foreign(entry: Entry) -> list[Case]:
    """Well-formed statements that nobody at the table made."""
    theirs = fixed("another table")
    return [
        refused(comment, reason, entry=[made.content.hex(), made.signature.hex()])
        for comment, reason, made in (
            ("F54 of another table", "other_table", like(entry, table=theirs)),
            ("F65 by another seat's number", "bad_signature", like(entry, seat=1, author=0)),
            ("a seat that is not there", "no_seat", like(entry, seat=3)),
            ("N31 the signature of another entry", "bad_signature",
             replace(entry, signature=like(entry, body=["pass", [], []]).signature)),
            ("F80 the signature with the group order added to S", "bad_signature",
             replace(entry, signature=unreduced(entry.signature))),
        )
    ]  # fmt: skip


def unreduced(signature: bytes) -> bytes:
    s = int.from_bytes(signature[32:], "little") + ORDER
    return signature[:32] + s.to_bytes(32, "little")


def like(entry: Entry, *, author: int | None = None, **changed: Any) -> Entry:
    """The same entry with other fields, signed by its seat or by ``author``."""
    names = ("table", "epoch", "step", "seat", "kind", "round", "body", "prev")
    fields: dict[str, Any] = {name: getattr(entry, name) for name in names} | changed
    return sign(somebody(fields["seat"] if author is None else author), **fields)


# --- evidence --------------------------------------------------------------------------------------------


def pieces(log_: Scripted) -> list[Case]:
    """What convicts, and accusations that convict nobody (F58)."""
    agreed, one = log_.agreement, log_.first
    other = like(one, body=["draw", [], []])
    proposal, prevote, prevote_of_another, precommit, _, ask, _ = log_.votes
    present = [[1, fixed("an entry")]]
    double = like(prevote, body=[present, [], [], 0])
    again = like(proposal, body=[present, []])
    late = like(prevote, round=2, body=[present, [], [], 0])
    held = like(precommit, body=[[[1, b""]], present])
    asked = like(ask, round=2, body=[present])
    omitted = like(prevote, round=2, body=[[[1, b""]], [], [], 0])
    lie = like(log_.agreed, seat=1, body=fixed("lie"))
    theirs = like(log_.committed, seat=1)
    forged = replace(other, signature=one.signature)
    shuffled = log_.closed[log_.complaint.step].entries[0]
    good = [
        ("N22 a shuffle, and a complaint in its place", "equivocation", shuffled, log_.complaint),
        ("F41, N33 two moves in one step", "equivocation", one, other),
        ("F43 two prevotes in one round", "double_vote", prevote, double),
        ("F46 two proposals in one round", "two_proposals", proposal, again),
        ("a prevote against an own precommit", "broke_its_lock", precommit, late),
        ("a response that was held, then left out", "omitted_what_it_held", held, omitted),
        (
            "a response that was held on asking for the round, then left out",
            "omitted_what_it_held",
            asked,
            omitted,
        ),
    ]
    illegal = [
        ("a nonce that was not committed to", evidence.illegal(agreed, "wrong_nonce", [], [], lie)),
        ("N3 another seat's commitment, with the log before it",
         evidence.illegal(agreed, "bad_possession_proof", log_.closed[:1], [], theirs)),
    ]  # fmt: skip
    false = [
        ("F58 one move twice", evidence.exposed(agreed, "equivocation", one, one)),
        ("F58 entries of two steps", evidence.exposed(agreed, "equivocation", one, log_.agreed)),
        ("F58 another reason", evidence.exposed(agreed, "double_vote", one, other)),
        ("F58 votes of two seats", evidence.exposed(agreed, "double_vote", prevote, prevote_of_another)),
        ("F58 a good nonce", evidence.illegal(agreed, "wrong_nonce", [], [], log_.agreed)),
        ("F58 the log before it left out", evidence.illegal(agreed, "bad_possession_proof", [], [], theirs)),
    ]
    files = [(comment, evidence.exposed(agreed, reason, a, b)) for comment, reason, a, b in good] + illegal
    return [
        *(convicts(comment, data) for comment, data in files),
        *(refused(comment, "bad_evidence", bytes=data.hex()) for comment, data in false),
        refused(
            "F58 a forged signature",
            "bad_signature",
            bytes=evidence.exposed(agreed, "equivocation", one, forged).hex(),
        ),
    ]


def convicts(comment: str, data: bytes) -> Case:
    _, _, reason, *_, (content, signature) = decode(data)
    return accepted(comment, bytes=data.hex(), convicts=reason, seat=read(content, signature).seat)
