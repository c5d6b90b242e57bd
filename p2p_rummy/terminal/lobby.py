"""Before the first card: the ticket, who is there, and what everybody is about to sign."""

from __future__ import annotations

import locale
import os
import shutil
from collections.abc import Callable, Sequence

from p2p_rummy.catalogue import _, current_language, mark, ngettext
from p2p_rummy.terminal.look import look_for
from p2p_rummy.terminal.qr import code_lines
from p2p_rummy.terminal.text import columns, printable, wrapped
from protocol.agreement import Agreement, SeatClaim
from protocol.errors import LocalProtocolError
from protocol.identity import fingerprint
from protocol.lobby import Offer, Proposed, Roster, RosterChanged, Started
from protocol.peer import Acquaintance, Table
from protocol.quorum import quorum

UNREACHABLE = mark(
    "{name} cannot be reached from here: {reason}. The others pass everything on; nothing is lost."
)
UNREACHABLE_AT_TWO = mark(
    "{name} cannot be reached from here: {reason}. It is dialled again and again, and nothing is lost; if it lasts, "
    "`p2p-rummy doctor` looks for the fault."
)


class LineLobby:
    """The lobby in line mode.  ``start`` (host only) plays with those who are here.  ``pictures``: the ticket as a code too."""

    def __init__(
        self, table: Table, write: Callable[[Sequence[str]], None], *, pictures: bool = False
    ) -> None:
        self.leaving = False
        self._table = table
        self._write_lines = write
        self._pictures = pictures
        self._key = table.home.identity.public_key
        self._known: tuple[SeatClaim, ...] = ()
        self._proposed = False
        """A table that is resumed begins without a proposal: it was signed long ago."""

    def opened(self) -> None:
        if self._pictures:
            # First, so that on a small screen it is the code that scrolls away, not the line to copy.
            self._write_lines(ticket_picture(str(self._table.ticket)))
        self._write(
            [
                _("The table is open. Your friends sit down with:"),
                "",
                f"  p2p-rummy join {self._table.ticket}",
                "",
                _("It leads to {addresses}.", addresses=", ".join(map(str, self._table.addresses))),
            ]
        )

    def event(self, event: RosterChanged | Proposed | Started) -> None:
        match event:
            case RosterChanged(roster=roster):
                self._write(change_lines(self._known, roster, self._key))
                self._warn([seat for seat in roster.claims if seat not in self._known])
                self._known = roster.claims
            case Proposed(agreement=agreement):
                self._proposed = True
                self._write(agreement_lines(agreement, self._key))
                self._write(
                    coalition_lines(len(agreement.seats), strict=agreement.strict, patient=agreement.patient)
                )
            case Started():
                self._write(
                    [
                        _("All seats are taken; everybody signs.")
                        if self._proposed
                        else _("The table is taken up again as it was left.")
                    ]
                )

    def unreachable(self, seat: int, reason: str) -> None:
        seats = self._table.agreement.seats
        sentence = UNREACHABLE if len(seats) > 2 else UNREACHABLE_AT_TWO
        self._write([_(sentence, name=printable(seats[seat].name), reason=printable(reason))])

    def typed(self, line: str) -> None:
        match line.strip().lower():
            case "":
                return
            case "start":
                try:
                    self._table.close_seats()
                except LocalProtocolError as error:
                    self._write([_("Not yet: {reason}.", reason=error)])
            case "who" if self._table.roster is not None:
                self._write(roster_lines(self._table.roster, self._key))
            case "leave" | "quit" | "exit":
                self.leaving = True
            case _:
                self._write([_("The game has not begun. You may type: who, start (the host), leave.")])

    def _write(self, lines: Sequence[str]) -> None:
        size = columns()
        self._write_lines([part for line in lines for part in _fitted(line, size)])

    def _warn(self, claims: Sequence[SeatClaim]) -> None:
        """A known name with another key is shouted about."""
        for seat in claims:
            if seat.key == self._key or seat.bot:
                continue
            if self._table.home.friends.judge(seat.key, seat.name) is Acquaintance.ANOTHER_KEY:
                warning = _(
                    "ATTENTION: {name} has ANOTHER KEY than the {name} you played with before. Ask by another way "
                    "whether it is really your friend, and compare {fingerprint}.",
                    name=printable(seat.name),
                    fingerprint=fingerprint(seat.key),
                )
                self._write([warning])


def ticket_picture(ticket: str) -> list[str]:
    """The ticket as a code for a camera, on this terminal; nothing if it is too small for it."""
    size = shutil.get_terminal_size()
    look = look_for(os.environ, locale.getpreferredencoding(False), current_language())
    return code_lines(ticket, size=(size.columns, size.lines - 1), half_blocks=look.boxes)


def _fitted(line: str, size: int) -> list[str]:
    """A line in as many as it needs, except a ticket, which is better cut by the terminal than by us."""
    return [line] if "p2p-rummy join" in line else wrapped(line, size, rest="    ")


def change_lines(known: Sequence[SeatClaim], roster: Roster, own_key: bytes) -> list[str]:
    """Who has come and gone since ``known``: everybody at first, then only what is new."""
    if not known:
        return roster_lines(roster, own_key)
    gone = [
        _("{name} has left again.", name=printable(seat.name)) for seat in known if seat not in roster.claims
    ]
    come = [
        line.replace("  ", "", 1)
        for seat, line in zip(roster.claims, seat_lines(roster.claims, own_key), strict=True)
        if seat not in known
    ]
    free = ngettext("{count} seat is free.", "{count} seats are free.", roster.free) if roster.free else ""
    return [*gone, *(_("Sits down: {seat}", seat=line) for line in come), *([free] if free else [])]


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
            window=duration(terms.window_ms),
            turn=duration(terms.turn_ms),
            step=duration(terms.step_ms),
        )
    )
    if terms.strict:
        lines.append(_("  strict: no backups of the keys; if somebody leaves, the hand is void"))
    if terms.patient:
        lines.append(_("  patient: a missing player is waited for, never dropped"))
    if terms.abandon_ms:
        lines.append(
            _("  abandoned after {duration} without a missing player", duration=duration(terms.abandon_ms))
        )
    if not terms.spectators:
        lines.append(_("  no spectators"))
    return lines


def coalition_lines(seats: int, *, strict: bool, patient: bool) -> list[str]:
    """What a coalition could do at a table of this size, said before it starts (design, the deck)."""
    if strict:
        return [_("No coalition of the others can see your hand.")]
    if seats == 2:
        return [_("Two players: neither can see the other's hand or decide anything alone.")]
    count = quorum(seats)
    if patient:
        return [
            ngettext(
                "{count} other player could see your hand; fewer could not. Nobody is dropped.",
                "{count} other players together could see your hand; fewer could not. Nobody is dropped.",
                count,
            )
        ]
    return [
        ngettext(
            "{count} other player could see your hand and drop you; fewer can do neither.",
            "{count} other players together could see your hand and drop you; fewer can do neither.",
            count,
        )
    ]


def duration(milliseconds: int) -> str:
    seconds = milliseconds / 1000
    if seconds >= 7200:
        return _("{hours:g} h", hours=seconds / 3600)
    if seconds >= 120:
        return _("{minutes:g} min", minutes=seconds / 60)
    return _("{seconds:g} s", seconds=seconds)
