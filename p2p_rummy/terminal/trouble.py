"""When something is wrong: one plain sentence each, with what happens next and what the player can do."""

from __future__ import annotations

from collections.abc import Sequence

from p2p_rummy.cards import card_name
from p2p_rummy.catalogue import _, mark, ngettext
from p2p_rummy.fault_words import fault_words
from p2p_rummy.narrator import Told, of_seat, row_of
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

TWO_LEFT = mark(
    "The table waits for {names}: with two left in the hand nobody is dropped. It goes on when the other is back; "
    "`leave` now and `p2p-rummy resume` later loses nothing."
)
"""As Pause.TWO_PLAYERS, where more than two sit at the table."""

ACCUSATIONS: dict[Accusation, Told] = {
    Accusation.SUSPECTED: (
        mark("{name} has not answered: {reason}. That proves nothing."),
        mark("You have not answered: {reason}. That proves nothing."),
    ),
    Accusation.EXPOSED: (
        mark("{name} signed two statements that contradict each other ({reason}). The proof is kept."),
        mark("Your key signed two statements that contradict each other ({reason}). The proof is kept."),
    ),
    Accusation.ILLEGAL: (
        mark("{name} signed what the rules of the table forbid ({reason}). The proof is kept."),
        mark("You signed what the rules of the table forbid ({reason}). The proof is kept."),
    ),
}
ABANDONED: Told = (
    mark(
        "{name} has waited as long as was agreed: the table is recorded as abandoned. Nobody has won by it, and if all "
        "come back it goes on."
    ),
    mark(
        "You have waited as long as was agreed: the table is recorded as abandoned. Nobody has won by it, and if all "
        "come back it goes on."
    ),
)
ABSENT: Told = (
    mark("{name} did not answer in time; that counts as a pass."),
    mark("You did not answer in time; that counts as a pass."),
)
LEFT: Told = (
    mark("{name} has left the hand."),
    mark("You are out of this hand; if you are here when it ends, you sit down again at the next."),
)
LEFT_CARDS: Told = (
    mark("{name} has left the hand; its cards were: {cards}. The others play on."),
    mark(
        "You are out of this hand; your cards were: {cards}. The others play on; if you are here when the hand ends, you sit "
        "down again at the next."
    ),
)
LEFT_VOID: Told = (
    mark("{name} has left and the hand is void; the next one is dealt."),
    mark(
        "You are out and the hand is void; the next one is dealt without you, and if you are here when it ends, you sit "
        "down again."
    ),
)
RETURNED: Told = (mark("{name} sits down again."), mark("You sit down again."))
REFUSED: Told = (
    mark("A connection from {name} was closed: {reason}."),
    mark("A connection with your own key was closed: {reason}."),
)


def trouble_lines(event: events.Event, names: Sequence[str], now: float, me: int | None = None) -> list[str]:
    """What to say about an event that is no part of a quiet game; nothing for those that need no words.

    ``me`` is the seat that reads it, None if it is nobody's.
    """

    def row(seats: Sequence[int]) -> str:
        return row_of(seats, names, me)

    def of(told: Told, seat: int, **values: object) -> list[str]:
        return [of_seat(told, seat, names, me, **values)]

    match event:
        case events.Connected(seat=seat) if seat is not None and seat != me:
            return [_("{name} is connected.", name=names[seat])]
        case events.Disconnected(seat=seat) if seat is not None and seat != me:
            return [_("The connection to {name} is lost; it is being dialled again.", name=names[seat])]
        case events.Waiting(seats=seats, deadline=deadline):
            left = round(deadline - now)
            if not deadline or left <= 0:
                return [_("Waiting for {names}.", names=row(seats))]
            return [ngettext("Waiting for {names}: {count} second.", "Waiting for {names}: {count} seconds.", left,
                             names=row(seats))]  # fmt: skip
        case events.Suspended(seats=seats, why=why):
            two_left = why is Pause.TWO_PLAYERS and len(names) > 2
            return [_(TWO_LEFT if two_left else PAUSES[why], names=row(seats))]
        case events.Abandoned(seat=seat):
            return of(ABANDONED, seat)
        case events.HandVoid():
            return [
                _("A card is none of the pack, and nobody can be blamed: the hand is void and dealt again.")
            ]
        case events.Continued():
            return [_("The table goes on.")]
        case events.SeatAbsent(seat=seat, dropped=False):
            return of(ABSENT, seat)
        case events.SeatDropped(seat=seat, void=True):
            return of(LEFT_VOID, seat)
        case events.SeatDropped(seat=seat, faces=faces):
            cards = " ".join(card_name(card) for _slot, card in faces)
            return of(LEFT_CARDS, seat, cards=cards) if cards else of(LEFT, seat)
        case events.SeatReturned(seat=seat):
            return of(RETURNED, seat)
        case events.EpochBegan(undone=undone) if undone:
            return [_("The table decided otherwise than was seen here; the last steps are taken back.")]
        case events.EvidenceFound(seat=seat, accusation=accusation, reason=reason, message=message):
            return of(ACCUSATIONS[accusation], seat, reason=fault_words(reason, printable(message)))
        case events.LinkRefused(seat=None, reason=reason, message=message):
            said = fault_words(reason, printable(message))
            return [_("A connection from a stranger was closed: {reason}.", reason=said)]
        case events.LinkRefused(seat=int(seat), reason=reason, message=message):
            return of(REFUSED, seat, reason=fault_words(reason, printable(message)))
        case events.SittingOut(reason=reason, message=message):
            said = fault_words(reason, printable(message))
            return [_("You sit out this hand: {reason}.", reason=said.removesuffix("."))]
        case events.Halted(reason=reason, message=message):
            return [
                _("This peer signs nothing more: {message}", message=fault_words(reason, printable(message)))
            ]
        case _:
            return []
