"""Rummoli's table in lines of text: chips, pots, the auction, the bets and what has been played (R220 to R236)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from p2p_rummy.catalogue import _, mark, ngettext
from p2p_rummy.narrator import Told, of_seat
from p2p_rummy.terminal.text import wrap

Public = Mapping[str, Any]

COLOURS = {"black": mark("black"), "red": mark("red")}
ROUND: Told = (mark("Round {round}, {name} dealt."), mark("Round {round}, you dealt."))
SHOWED: Told = (mark("{name} showed {cards}: {hand}."), mark("You showed {cards}: {hand}."))
FAULT: Told = (
    mark("The last round was void: {name} said `{said}` holding {cards} ({rule})."),
    mark("The last round was void: you said `{said}` holding {cards} ({rule})."),
)


def table_lines(public: Public, names: Sequence[str], size: int, me: int | None = None) -> list[str]:
    """Everything that lies open, in the order in which a player looks."""
    extra = public["extra"]
    sentences = [
        of_seat(ROUND, public["dealer"], names, me, round=public["hand"]),
        _("Chips: {chips}.", chips=_by_seat(extra["chips"], names)),
        _("Pots: {pots}.", pots=", ".join(f"{_pot(pot)} {chips}" for pot, chips in extra["pots"].items())),
        _("Cards: {cards}.", cards=_by_seat(extra["cards"], names)),
        *auction(extra, names),
        *betting(extra, names),
        *shown(extra, names, me),
        *stops(extra, names),
        *faults(extra, names, me),
    ]
    return [line for sentence in sentences for line in wrap(sentence.split(" "), size, rest="  ")]


def auction(extra: Public, names: Sequence[str]) -> list[str]:
    """The widow and the bids for it, until the bets begin (R222 to R224)."""
    if not extra["widow"] or extra["betting"] or extra["played"]:
        return []
    lines = [ngettext("The widow has {count} card.", "The widow has {count} cards.", extra["widow"])]
    if extra["bids"]:
        bids = ", ".join(f"{names[seat]} {amount or '-'}" for seat, amount in extra["bids"])
        lines.append(_("Bids for it: {bids}.", bids=bids))
    return lines


def betting(extra: Public, names: Sequence[str]) -> list[str]:
    """The betting round: what is to be matched, who paid what, who is still in (R225)."""
    bets = extra["betting"]
    if not bets or extra["played"] or extra["shown"]:
        return []
    return [
        _(
            "Poker: the bet stands at {level} (it may rise by {room}); paid: {paid}; still in: {left}.",
            level=bets["level"],
            room=bets["room"],
            paid=_by_seat(bets["paid"], names),
            left=", ".join(names[seat] for seat in bets["left"]),
        )
    ]


def shown(extra: Public, names: Sequence[str], me: int | None = None) -> list[str]:
    """The poker hands laid open."""
    if extra["played"]:
        return []
    return [
        of_seat(SHOWED, row["seat"], names, me, cards=" ".join(row["cards"]), hand=_(row["hand"]))
        for row in extra["shown"]
    ]


def stops(extra: Public, names: Sequence[str]) -> list[str]:
    """The cards played in this round, in rows by player, and what must follow (R226 to R229)."""
    lines = []
    if extra["played"]:
        rows: list[tuple[int, list[str]]] = []
        for seat, card in extra["played"]:
            if rows and rows[-1][0] == seat:
                rows[-1][1].append(card)
            else:
                rows.append((seat, [card]))
        lines.append(
            _("Played: {cards}.", cards="; ".join(f"{names[seat]} {' '.join(cards)}" for seat, cards in rows))
        )
    if extra["due"]:
        lines.append(_("{card} must follow: its holder plays it, everybody else passes.", card=extra["due"]))
    if extra["colour"]:
        lines.append(_("The lowest {colour} card must be led.", colour=_(COLOURS[extra["colour"]])))
    return lines


def faults(extra: Public, names: Sequence[str], me: int | None = None) -> list[str]:
    """Why the last round was void (R236)."""
    return [
        of_seat(
            FAULT,
            fault["seat"],
            names,
            me,
            said=fault["said"],
            cards=" ".join(fault["cards"]),
            rule=fault["rule"],
        )
        for fault in extra["faults"]
    ]


def _by_seat(values: Sequence[int], names: Sequence[str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))


def _pot(pot: str) -> str:
    """Pots are named by cards, except two."""
    return _(POTS[pot]) if pot in POTS else pot


HANDS = (
    mark("high card"),
    mark("one pair"),
    mark("two pairs"),
    mark("three of a kind"),
    mark("straight"),
    mark("flush"),
    mark("full house"),
    mark("four of a kind"),
    mark("straight flush"),
)
"""Poker hands as the game names them (p2p_rummy/games/poker.py)."""
POTS = {"poker": mark("poker"), "centre": mark("centre")}
