"""What is said in a decision: closings, the three kinds of vote, certificates, and what votes prove against their author.

A *closing* is the value that a decision is about: for each seat that owes an entry to the step, the identity of that
entry, or :data:`ABSENT`.  Votes are signed entries of four kinds under the step's own epoch and ``prev``, with the
round (from 1) in their ``round``:

============  ==========================================  ======================================================
kind          body                                        says
============  ==========================================  ======================================================
ROUND_CHANGE  ``[held]``                                  I ask for this round, my time for the one before is over
PROPOSAL      ``[closing, certificate]``                  the arbiter of the round asks for this closing; the
                                                          certificate (or ``[]``) is of an earlier round
PREVOTE       ``[closing, held, exposed, justified]``     I would accept it
PRECOMMIT     ``[closing, held]``                         I hold a certificate of this round and am locked on it
============  ==========================================  ======================================================

``closing`` and ``held`` are ``[[seat, entry id]...]`` by rising seat, ``exposed`` a rising list of seats.  A vote
carries what its voter holds: so "acknowledged, then voted to omit" is two signed statements.  ``justified`` is the
round of the prevote certificate for the same closing that made the voter accept it in spite of its lock, or of a response it
holds; 0 if it needed none.  A vote names that round instead of containing the certificate, so votes do not
nest; whoever does not hold the certificate does not count the vote.

A *certificate* is the votes of a quorum, one kind, one round, one closing: ``[[content, signature]...]`` by rising
seat.  It needs nothing else to be checked but the keys of the seats.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from protocol.canonical import array, integer, octets
from protocol.entry import MAX_ROUND, Entry, Kind, from_value
from protocol.errors import EncodingError, VerificationError
from protocol.quorum import quorum

ABSENT: Final = b""
"""Stands in a closing for the entry of a seat whose silence was decided."""

ID_BYTES: Final = 32

Closing = tuple[tuple[int, bytes], ...]
"""``(seat, entry id or ABSENT)`` by rising seat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """The place in the log that a decision is about.  Votes of another slot say nothing here (F54)."""

    table: bytes
    epoch: int
    step: int
    prev: bytes

    def holds(self, entry: Entry) -> bool:
        return (entry.table, entry.epoch, entry.step, entry.prev) == (
            self.table,
            self.epoch,
            self.step,
            self.prev,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """A vote that was read; which fields mean something depends on ``kind`` (a ROUND_CHANGE has no closing)."""

    seat: int
    kind: Kind
    round: int
    closing: Closing
    entry: Entry
    held: Closing = ()
    exposed: tuple[int, ...] = ()
    justified: int = 0
    certificate: Certificate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """The votes of a quorum for one closing in one round.  ``kind`` is PREVOTE or PRECOMMIT."""

    kind: Kind
    round: int
    closing: Closing
    votes: tuple[Entry, ...]

    def value(self) -> list[Any]:
        return [vote.value() for vote in self.votes]


def absent_from(closing: Closing) -> tuple[int, ...]:
    """The seats that ``closing`` marks absent."""
    return tuple(seat for seat, entry in closing if entry == ABSENT)


# --- bodies --------------------------------------------------------------------------------------------


def proposal_body(closing: Closing, certificate: Certificate | None) -> list[Any]:
    return [_pairs(closing), certificate.value() if certificate else []]


def prevote_body(closing: Closing, held: Closing, exposed: Iterable[int], justified: int) -> list[Any]:
    return [_pairs(closing), _pairs(held), sorted(exposed), justified]


def round_change_body(held: Closing) -> list[Any]:
    return [_pairs(held)]


def precommit_body(closing: Closing, held: Closing) -> list[Any]:
    return [_pairs(closing), _pairs(held)]


def read_vote(entry: Entry) -> Vote:
    """The vote in an entry of kind ROUND_CHANGE, PROPOSAL, PREVOTE or PRECOMMIT.

    Checks the shape only: signatures, here and within a certificate, are the caller's.  Raises EncodingError for what
    an honest program would not have written, such as a prevote that omits, unjustified, a response which it says it holds.
    """
    field = f"{entry.kind.name.lower()}.body"
    if entry.round < 1:
        raise EncodingError("rounds of a decision count from 1", field=f"{entry.kind.name.lower()}.round")
    match entry.kind:
        case Kind.ROUND_CHANGE:
            (held_value,) = array(entry.body, field=field, length=1)
            return Vote(
                seat=entry.seat,
                kind=entry.kind,
                round=entry.round,
                closing=(),
                entry=entry,
                held=read_closing(held_value, field=f"{field}.held"),
            )
        case Kind.PROPOSAL:
            closing_value, votes = array(entry.body, field=field, length=2)
            closing = read_closing(closing_value, field=f"{field}.closing")
            certificate = None
            if array(votes, field=f"{field}.certificate"):
                certificate = read_certificate(votes, field=f"{field}.certificate")
                if certificate.kind is not Kind.PREVOTE or certificate.round >= entry.round:
                    raise EncodingError(
                        "is not of prevotes of an earlier round", field=f"{field}.certificate"
                    )
                if certificate.closing != closing:
                    raise EncodingError("is for another closing", field=f"{field}.certificate")
            return Vote(
                seat=entry.seat,
                kind=entry.kind,
                round=entry.round,
                closing=closing,
                entry=entry,
                certificate=certificate,
            )
        case Kind.PREVOTE:
            closing_value, held_value, exposed_value, justified = array(entry.body, field=field, length=4)
            vote = Vote(
                seat=entry.seat,
                kind=entry.kind,
                round=entry.round,
                closing=read_closing(closing_value, field=f"{field}.closing"),
                entry=entry,
                held=read_closing(held_value, field=f"{field}.held"),
                exposed=_read_seats(exposed_value, field=f"{field}.exposed"),
                justified=integer(justified, field=f"{field}.justified", below=MAX_ROUND),
            )
            if vote.justified >= vote.round:
                raise EncodingError("is not an earlier round", field=f"{field}.justified")
            _refuse_contradiction(vote, field)
            return vote
        case Kind.PRECOMMIT:
            closing_value, held_value = array(entry.body, field=field, length=2)
            return Vote(
                seat=entry.seat,
                kind=entry.kind,
                round=entry.round,
                closing=read_closing(closing_value, field=f"{field}.closing"),
                entry=entry,
                held=read_closing(held_value, field=f"{field}.held"),
            )
        case _:
            raise EncodingError(f"a {entry.kind.name} entry is not a vote", field="vote.kind")


def read_closing(value: object, *, field: str) -> Closing:
    """A closing (or what a voter holds): pairs by strictly rising seat."""
    pairs: list[tuple[int, bytes]] = []
    for number, pair_value in enumerate(array(value, field=field, at_most=8)):
        at = f"{field}[{number}]"
        pair = array(pair_value, field=at, length=2)
        seat = integer(pair[0], field=f"{at}.seat", below=8)
        entry = octets(pair[1], field=f"{at}.entry", at_most=ID_BYTES)
        if len(entry) not in (0, ID_BYTES):
            raise EncodingError(f"is {len(entry)} bytes long, not 0 or {ID_BYTES}", field=f"{at}.entry")
        if pairs and seat <= pairs[-1][0]:
            raise EncodingError("seats do not rise", field=f"{at}.seat")
        pairs.append((seat, entry))
    return tuple(pairs)


# --- certificates --------------------------------------------------------------------------------------


def make_certificate(votes: Sequence[Vote]) -> Certificate:
    """The certificate made of these votes, which agree in kind, round and closing."""
    ordered = sorted(votes, key=lambda vote: vote.seat)
    return Certificate(
        kind=ordered[0].kind,
        round=ordered[0].round,
        closing=ordered[0].closing,
        votes=tuple(vote.entry for vote in ordered),
    )


def read_certificate(value: object, *, field: str = "certificate") -> Certificate:
    """Read what :meth:`Certificate.value` wrote.  It proves nothing before :func:`verify_certificate`."""
    items = array(value, field=field, at_most=8)
    if not items:
        raise EncodingError("has no votes", field=field)
    entries = tuple(from_value(item, field=f"{field}[{number}]") for number, item in enumerate(items))
    first = entries[0]
    if first.kind not in (Kind.PREVOTE, Kind.PRECOMMIT):
        raise EncodingError(f"is made of {first.kind.name} entries", field=field)
    return Certificate(kind=first.kind, round=first.round, closing=read_vote(first).closing, votes=entries)


def verify_certificate(
    certificate: Certificate,
    slot: Slot,
    keys: Mapping[int, bytes],
    *,
    kind: Kind,
    owed: Iterable[int] | None = None,
) -> None:
    """Return if a quorum of the seats of ``keys`` signed this closing of ``slot``; raise VerificationError if not (F47).

    ``keys``: the seats of the epoch with their public keys.  ``owed``: the seats that the closing must be about, where known.
    """

    def refuse(reason: str, seat: int | None = None) -> VerificationError:
        return VerificationError(
            "bad_certificate", f"certificate refused: {reason}", seat=seat, step=slot.step
        )

    if certificate.kind is not kind:
        raise refuse(f"it is made of {certificate.kind.name} entries, not {kind.name}")
    if owed is not None and tuple(seat for seat, _ in certificate.closing) != tuple(sorted(owed)):
        raise refuse("its closing is not about the seats that owe an entry")
    last = -1
    for entry in certificate.votes:
        if entry.seat <= last:
            raise refuse("a seat votes twice, or the seats do not rise", entry.seat)
        last = entry.seat
        if entry.seat not in keys:
            raise refuse("a voter has no seat in this epoch", entry.seat)
        if entry.kind is not kind or entry.round != certificate.round:
            raise refuse("its votes are not of one kind and round", entry.seat)
        if not slot.holds(entry):
            raise refuse("a vote belongs to another table, epoch, step or prefix", entry.seat)
        try:
            vote = read_vote(entry)
        except EncodingError as error:
            raise refuse(f"a vote cannot be read ({error})", entry.seat) from None
        if vote.closing != certificate.closing:
            raise refuse("its votes are for different closings", entry.seat)
    need = quorum(len(keys))
    if len(certificate.votes) < need:
        raise refuse(f"it has {len(certificate.votes)} votes of the {need} that {len(keys)} seats need")
    for entry in certificate.votes:
        entry.verify(keys[entry.seat])


# --- what votes prove ----------------------------------------------------------------------------------


def contradiction(first: Vote, second: Vote) -> str | None:
    """What two signed votes of one seat in one slot prove against it, or None.

    ``double_vote``, ``two_proposals``: two contents under one key (F43, F46).
    ``broke_its_lock``: it precommitted, then prevoted for another closing without a certificate since.
    ``omitted_what_it_held``: it said that it holds a response, then prevoted to leave it out (design, "The arbiter").
    The order of the arguments does not matter.
    """
    if first.seat != second.seat or first.entry.id == second.entry.id:
        return None
    if first.entry.key == second.entry.key:
        return "two_proposals" if first.kind is Kind.PROPOSAL else "double_vote"
    earlier, later = sorted((first, second), key=_said_before)
    if later.kind is not Kind.PREVOTE or (
        earlier.round == later.round and earlier.kind is not Kind.ROUND_CHANGE
    ):
        return None
    if (
        earlier.kind is Kind.PRECOMMIT
        and earlier.closing != later.closing
        and later.justified < earlier.round
    ):
        return "broke_its_lock"
    if later.justified == 0 and _omits(later.closing, earlier.held, later.exposed):
        return "omitted_what_it_held"
    return None


def _said_before(vote: Vote) -> tuple[int, bool]:
    """The order in which an honest seat says things, as far as it has to: it asks for a round before it votes in it."""
    return vote.round, vote.kind is not Kind.ROUND_CHANGE


def _omits(closing: Closing, held: Closing, exposed: Iterable[int]) -> bool:
    holds = {seat for seat, _ in held}
    return any(seat in holds and seat not in exposed for seat in absent_from(closing))


def _refuse_contradiction(vote: Vote, field: str) -> None:
    if vote.justified == 0 and _omits(vote.closing, vote.held, vote.exposed):
        raise EncodingError("omits a response that the voter says it holds", field=f"{field}.closing")


def _pairs(closing: Closing) -> list[Any]:
    return [[seat, entry] for seat, entry in closing]


def _read_seats(value: object, *, field: str) -> tuple[int, ...]:
    seats: list[int] = []
    for number, item in enumerate(array(value, field=field, at_most=8)):
        seat = integer(item, field=f"{field}[{number}]", below=8)
        if seats and seat <= seats[-1]:
            raise EncodingError("seats do not rise", field=f"{field}[{number}]")
        seats.append(seat)
    return tuple(seats)
