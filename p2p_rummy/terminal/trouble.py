"""When something is wrong: one plain sentence each, with what happens next and what the player can do."""

from __future__ import annotations

from collections.abc import Sequence

from p2p_rummy.cards import card_name
from p2p_rummy.catalogue import _, mark, ngettext
from p2p_rummy.fault_words import fault_words
from p2p_rummy.narrator import listed
from p2p_rummy.terminal.text import printable
from protocol import events
from protocol.events import Accusation, Pause

PAUSES: dict[Pause, str] = {
    Pause.TWO_PLAYERS: mark(
        "The table waits for {names}: with two players nobody is ever dropped. It goes on when the other is back; "
        "`leave` now and `p2p-rummy resume` later loses nothing."
    ),
    Pause.MINORITY: mark(
        "The table waits for {names}: too few players are reachable to decide anything here. It goes on when the "
        "connection is back; `p2p-rummy doctor` looks for the fault."
    ),
    Pause.PATIENT: mark("The table waits for {names}, as was agreed: nobody is dropped at this table."),
    Pause.DOUBT: mark(
        "What is kept here of this table may lack something that you have signed, so nothing more is signed until {names} "
        "have told what they know. Leave this running; if it lasts, ask them to connect."
    ),
}

ACCUSATIONS: dict[Accusation, str] = {
    Accusation.SUSPECTED: mark("{name} has not answered: {reason}. That proves nothing."),
    Accusation.EXPOSED: mark(
        "{name} signed two statements that contradict each other ({reason}). The proof is kept."
    ),
    Accusation.ILLEGAL: mark(
        "{name} signed what the rules of the table forbid ({reason}). The proof is kept."
    ),
}


def trouble_lines(event: events.Event, names: Sequence[str], now: float) -> list[str]:
    """What to say about an event that is no part of a quiet game; nothing for those that need no words."""

    def row(seats: Sequence[int]) -> str:
        return listed([names[seat] for seat in seats])

    match event:
        case events.Connected(seat=seat) if seat is not None:
            return [_("{name} is connected.", name=names[seat])]
        case events.Disconnected(seat=seat) if seat is not None:
            return [_("The connection to {name} is lost; it is being dialled again.", name=names[seat])]
        case events.Waiting(seats=seats, deadline=deadline):
            left = round(deadline - now)
            if not deadline or left <= 0:
                return [_("Waiting for {names}.", names=row(seats))]
            return [ngettext("Waiting for {names}: {count} second.", "Waiting for {names}: {count} seconds.", left,
                             names=row(seats))]  # fmt: skip
        case events.Suspended(seats=seats, why=why):
            return [_(PAUSES[why], names=row(seats))]
        case events.Abandoned(seat=seat):
            return [_("{name} has waited as long as was agreed: the table is recorded as abandoned. Nobody has won by "
                      "it, and if all come back it goes on.", name=names[seat])]  # fmt: skip
        case events.HandVoid():
            return [
                _("A card is none of the pack, and nobody can be blamed: the hand is void and dealt again.")
            ]
        case events.Continued():
            return [_("The table goes on.")]
        case events.SeatAbsent(seat=seat, dropped=False):
            return [_("{name} did not answer in time; that counts as a pass.", name=names[seat])]
        case events.SeatDropped(seat=seat, void=True):
            return [_("{name} has left and the hand is void; the next one is dealt.", name=names[seat])]
        case events.SeatDropped(seat=seat, faces=faces):
            cards = " ".join(card_name(card) for _slot, card in faces) or "-"
            return [_("{name} has left the hand; its cards were: {cards}. The others play on.", name=names[seat],
                      cards=cards)]  # fmt: skip
        case events.SeatReturned(seat=seat):
            return [_("{name} sits down again.", name=names[seat])]
        case events.EpochBegan(undone=undone) if undone:
            return [_("The table decided otherwise than was seen here; the last steps are taken back.")]
        case events.EvidenceFound(seat=seat, accusation=accusation, reason=reason, message=message):
            said = fault_words(reason, printable(message))
            return [_(ACCUSATIONS[accusation], name=names[seat], reason=said)]
        case events.LinkRefused(seat=seat, reason=reason, message=message):
            who = names[seat] if seat is not None else _("a stranger")
            said = fault_words(reason, printable(message))
            return [_("A connection from {name} was closed: {reason}.", name=who, reason=said)]
        case events.SittingOut(reason=reason, message=message):
            said = fault_words(reason, printable(message))
            return [_("You sit out this hand: {reason}.", reason=said.removesuffix("."))]
        case events.Halted(reason=reason, message=message):
            return [
                _("This peer signs nothing more: {message}", message=fault_words(reason, printable(message)))
            ]
        case _:
            return []
