"""Before the first card: the ticket, who is there, and what everybody is about to sign."""

from __future__ import annotations

from collections.abc import Sequence

from p2p_rummy.catalogue import _, ngettext
from p2p_rummy.terminal.text import printable
from protocol.agreement import Agreement, SeatClaim
from protocol.identity import fingerprint
from protocol.lobby import Offer, Roster
from protocol.quorum import quorum


def roster_lines(roster: Roster, own_key: bytes) -> list[str]:
    """Who has come, and how many are missing."""
    lines = [_("At the table:"), *seat_lines(roster.claims, own_key)]
    if roster.free:
        lines.append(ngettext("  {count} seat is free.", "  {count} seats are free.", roster.free))
    return lines


def seat_lines(claims: Sequence[SeatClaim], own_key: bytes) -> list[str]:
    """A line a seat, with the fingerprint of its key: whoever is here can be compared by it."""
    lines = []
    for number, seat in enumerate(claims, 1):
        you = _(" (you)") if seat.key == own_key else ""
        bot = _(" (bot, {level})", level=printable(seat.bot)) if seat.bot else ""
        lines.append(f"  {number}. {printable(seat.name)}{you}{bot}  {fingerprint(seat.key)}")
    return lines


def agreement_lines(agreement: Agreement, own_key: bytes) -> list[str]:
    """Everything that is signed (the agreement of the log), in words."""
    return [
        _("Everybody signs this agreement:"),
        *terms_lines(agreement),
        *seat_lines(agreement.seats, own_key),
        _("  table {table}", table=agreement.table.hex()[:16]),
    ]


def terms_lines(terms: Agreement | Offer) -> list[str]:
    """The game, each option that differs from its preset, the times and what happens to a leaver."""
    lines = [
        _("  game {game}, rules version {version}", game=printable(terms.game), version=terms.rules_version)
    ]
    options = ", ".join(f"{name}={value}" for name, value in terms.options)
    lines.append(_("  options: {options}", options=printable(options) or _("all as the game has them")))
    lines.append(
        _(
            "  call window {window}, a turn {turn}, anything else {step}",
            window=_duration(terms.window_ms),
            turn=_duration(terms.turn_ms),
            step=_duration(terms.step_ms),
        )
    )
    if terms.strict:
        lines.append(_("  strict: no backups of the keys; if somebody leaves, the hand is void"))
    if terms.patient:
        lines.append(_("  patient: a missing player is waited for, never dropped"))
    if not terms.spectators:
        lines.append(_("  no spectators"))
    return lines


def coalition_lines(seats: int, *, strict: bool) -> list[str]:
    """What a coalition could do at a table of this size, said before it starts (design, the deck)."""
    if strict:
        return [_("No coalition of the others can see your hand.")]
    if seats == 2:
        return [_("Two players: neither can see the other's hand or decide anything alone.")]
    return [
        ngettext(
            "{count} other player could see your hand and drop you; fewer can do neither.",
            "{count} other players together could see your hand and drop you; fewer can do neither.",
            quorum(seats),
        )
    ]


def _duration(milliseconds: int) -> str:
    seconds = milliseconds / 1000
    if seconds >= 120:
        return _("{minutes:g} min", minutes=seconds / 60)
    return _("{seconds:g} s", seconds=seconds)
