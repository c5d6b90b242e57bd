"""The votes about one step: kept within bounds, counted, and held against whoever contradicts himself.

Threat.  A seat may send any number of votes, for any round, different ones to different friends.  So of each seat, round and
kind two are kept (two are evidence), and of rounds far ahead only the latest of each seat.  Of rounds far behind nothing is
kept but precommits, which can still decide, and certificates, on which locks rest.

A seat that votes twice counts for both: others may have seen either, and their certificates must be able to arise here too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from protocol.ballot import Certificate, Closing, Vote, contradiction, make_certificate
from protocol.entry import Entry, Kind

AHEAD: Final = 8
"""Votes of rounds further ahead than this are held for the latest such round of each seat only (F100)."""

BEHIND: Final = 32
"""Votes of rounds further behind than this are let go, but for precommits; certificates stay."""


class Poll:
    """The votes and certificates of one slot.  ``quorum``: how many votes decide."""

    def __init__(self, *, quorum: int) -> None:
        self.certificates: dict[tuple[int, Closing], Certificate] = {}
        """Of prevotes, by round and closing."""
        self.latest: dict[int, int] = {}
        """The latest round that each seat has voted in or asked for."""
        self._quorum = quorum
        self._votes: dict[tuple[int, Kind], dict[int, list[Vote]]] = {}
        self._reasons: set[tuple[int, str]] = set()

    # --- taking in -------------------------------------------------------------------------------------

    def take(self, vote: Vote, *, present: int) -> bool:
        """Keep a vote, seen from round ``present``.  False if it is known or there is no room for it."""
        of_key = self._votes.get((vote.round, vote.kind), {}).get(vote.seat, [])
        if len(of_key) == 2 or any(known.entry.id == vote.entry.id for known in of_key):
            return False
        latest = self.latest.get(vote.seat, 0)
        if vote.round > present + AHEAD:
            if vote.round < latest:
                return False
            if latest > present + AHEAD:
                for kind in (Kind.ROUND_CHANGE, Kind.PROPOSAL, Kind.PREVOTE, Kind.PRECOMMIT):
                    if (latest, kind) != (vote.round, vote.kind):
                        self._votes.get((latest, kind), {}).pop(vote.seat, None)
        self._votes.setdefault((vote.round, vote.kind), {}).setdefault(vote.seat, []).append(vote)
        self.latest[vote.seat] = max(latest, vote.round)
        self._certify()
        return True

    def take_certificate(self, certificate: Certificate) -> None:
        """A certificate of prevotes that was verified."""
        self.certificates.setdefault((certificate.round, certificate.closing), certificate)
        self._certify()

    def accusations(self, vote: Vote) -> list[tuple[str, Entry]]:
        """What this vote, together with earlier ones, proves against its author that was not proved before."""
        found = []
        for known in [known for known in self._all() if known.seat == vote.seat]:
            reason = contradiction(known, vote)
            if reason is not None and (vote.seat, reason) not in self._reasons:
                self._reasons.add((vote.seat, reason))
                found.append((reason, known.entry))
        return found

    def forget_before(self, round: int) -> None:
        """The present round is this one."""
        for key in [key for key in self._votes if key[0] < round - BEHIND and key[1] is not Kind.PRECOMMIT]:
            del self._votes[key]

    # --- counting --------------------------------------------------------------------------------------

    def proposals(self, round: int, leader: int) -> list[Vote]:
        """What the arbiter of this round has proposed: one closing, or two if it lies."""
        return self._votes.get((round, Kind.PROPOSAL), {}).get(leader, [])

    def decision(self) -> Certificate | None:
        """The certificate of precommits, if a quorum agrees in some round."""
        if not self._votes:
            return None  # as in most steps
        for round, closing in self._counted(Kind.PRECOMMIT):
            return make_certificate(self._votes_for(round, Kind.PRECOMMIT, closing))
        return None

    def certificate_of(self, round: int) -> Certificate | None:
        """The prevote certificate of this round (with a right quorum there is one at most)."""
        return next((made for (number, _), made in self.certificates.items() if number == round), None)

    def best_before(self, round: int) -> Certificate | None:
        """The prevote certificate of the latest round before this one."""
        earlier = [made for (number, _), made in self.certificates.items() if number < round]
        return max(earlier, key=lambda made: made.round, default=None)

    def certified_rounds(self, closing: Closing, *, before: int) -> list[int]:
        """The rounds in which there is a prevote certificate for this closing."""
        return [round for round, value in self.certificates if value == closing and round < before]

    def asked_by(self, count: int, *, but: int | None = None) -> int:
        """The latest round that so many seats (``but`` left out) have asked for or gone beyond; 0 if none."""
        if len(self.latest) < count:
            return 0
        rounds = sorted((round for seat, round in self.latest.items() if seat != but), reverse=True)
        return rounds[count - 1] if len(rounds) >= count else 0

    def holders(self, seat: int, entry: bytes) -> frozenset[int]:
        """The seats whose votes say that they hold this entry, and cannot have voted for its omission before they held it.

        Whoever holds it votes so no more, but on a certificate, and such votes make the first certificate.  A ROUND_CHANGE for
        round 1 comes before all votes for a closing; and a seat has one PREVOTE in round 1.  Later votes prove nothing.
        """
        response = (seat, entry)
        return frozenset(
            vote.seat
            for vote in self._all()
            if vote.round == 1
            and (
                (vote.kind is Kind.ROUND_CHANGE and response in vote.held)
                or (vote.kind is Kind.PREVOTE and response in vote.closing)
            )
        )

    def entries(self) -> tuple[Entry, ...]:
        """All votes that are kept, those within certificates included."""
        entries = {vote.entry.id: vote.entry for vote in self._all()}
        for certificate in self.certificates.values():
            entries.update((entry.id, entry) for entry in certificate.votes)
        return tuple(entries.values())

    # --- helpers ---------------------------------------------------------------------------------------

    def _all(self) -> Iterator[Vote]:
        for of_key in self._votes.values():
            for votes in of_key.values():
                yield from votes

    def _votes_for(self, round: int, kind: Kind, closing: Closing) -> list[Vote]:
        """One vote of each seat that voted so; a prevote counts only if what justifies it is held."""
        found: list[Vote] = []
        for votes in self._votes.get((round, kind), {}).values():
            found += [
                vote
                for vote in votes
                if vote.closing == closing
                and (vote.justified == 0 or (vote.justified, closing) in self.certificates)
            ][:1]
        return found

    def _counted(self, kind: Kind) -> Iterator[tuple[int, Closing]]:
        """The rounds and closings for which a quorum has cast votes of this kind, by rising round."""
        for round in sorted(round for round, voted in self._votes if voted is kind):
            closings = {vote.closing for votes in self._votes[round, kind].values() for vote in votes}
            for closing in sorted(closings):
                if len(self._votes_for(round, kind, closing)) >= self._quorum:
                    yield round, closing

    def _certify(self) -> None:
        """Make the certificates that the prevotes allow; by rising round, since one may justify votes of a later one."""
        for round, closing in self._counted(Kind.PREVOTE):
            if (round, closing) not in self.certificates:
                self.certificates[round, closing] = make_certificate(
                    self._votes_for(round, Kind.PREVOTE, closing)
                )
