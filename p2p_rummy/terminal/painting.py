"""The full-screen table as rows of marked-up text (urwid's form), computed from a view and what the player is pointing at.

Pure: a view, a :class:`Pointing` and a size go in, rows come out, so that every size can be tested without a terminal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from p2p_rummy.catalogue import _, mark, ngettext
from p2p_rummy.terminal import rummoli
from p2p_rummy.terminal.draw import (
    KINDS,
    Order,
    duty_lines,
    extra_lines,
    hand_result_lines,
    sheet_lines,
    sorted_hand,
)
from p2p_rummy.terminal.draw import Style as LineStyle
from p2p_rummy.terminal.look import Look
from p2p_rummy.terminal.text import pad, width, wrapped

Piece = tuple[str, str]
"""(attribute, text), as urwid's markup has it."""
Row = list[Piece]

PALETTE = [
    ("plain", "default", "default"),
    ("dim", "dark gray", "default"),
    ("strong", "default,bold", "default"),
    ("head", "white,bold", "dark blue"),
    ("turn", "black", "yellow"),
    ("S", "default,bold", "default"),
    ("H", "light red,bold", "default"),
    ("D", "light blue,bold", "default"),
    ("C", "light green,bold", "default"),
    ("X", "yellow,bold", "default"),
    ("cursor", "black", "light gray"),
    ("picked", "black", "light cyan"),
    ("alarm", "white,bold", "dark red"),
]
"""Four colours for four suits; the letter is always there too, so colour is never needed."""

SIGNS = {"S": "\u2660", "H": "\u2665", "D": "\u2666", "C": "\u2663"}

ASKED = {
    "widow": mark("The widow: swap, or keep?"),
    "auction": mark("The widow is for sale: bid N, or pass?"),
    "bet": mark("Check, bet N, call, raise N or fold?"),
    "show": mark("Show your five best cards, or muck?"),
    "lead": mark("Lead your lowest card, or pass if you have none of the colour."),
    "follow": mark("Play the card that must follow."),
}
"""What Rummoli asks, by phase."""

KEYS = (
    mark("left right        point at a card; up down or Tab: hand or pile"),
    mark("space             pick the card up, or put it back; Esc: put all back"),
    mark("1 to 9, Enter     do what is offered for the picked cards"),
    mark("d  p              draw; pass"),
    mark("m  l  x           meld, lay off, discard what is picked"),
    mark("t  c              take from the pile at the card pointed at; call Rummy!"),
    mark("s                 sort by suit, by rank"),
    mark(":                 type a move, as in: lay X1=8H on 2"),
    mark('"                 say something to the table'),
    mark("o  h  q           score sheet; this page; leave (the table waits for you)"),
)


@dataclass(slots=True)
class Pointing:
    """What the player looks at: changed by keys, read by :func:`paint`."""

    area: Literal["hand", "pile"] = "hand"
    at: int = 0
    picked: list[str] = field(default_factory=list)
    order: Order = "suit"
    page: Literal["table", "help", "scores"] = "table"
    typing: str | None = None
    message: str = ""
    message_is_alarm: bool = False


def hand_cards(view: Mapping[str, Any], order: Order) -> list[str]:
    """The viewer's cards in the order in which they are shown."""
    cards = [held["card"] for held in view["hand"] if held["card"]]
    return [card for group in sorted_hand(cards, order) for card in group]


def paint(
    view: Mapping[str, Any],
    names: Sequence[str],
    pointing: Pointing,
    log: Sequence[str],
    offers: Sequence[str],
    *,
    size: tuple[int, int],
    look: Look,
    clock: str = "",
) -> list[Row]:
    """Exactly ``size[1]`` rows of at most ``size[0]`` columns."""
    columns, rows = size
    public = view["public"]
    head = _head(public, names, view, clock, columns)
    if pointing.page == "help":
        body: list[Row] = [[("plain", "")], *[[("plain", "  " + _(line))] for line in KEYS]]
        return _fit([head, *body], [_foot(pointing, columns)], size)
    if pointing.page == "scores":
        style = LineStyle(size=columns)
        lines = sheet_lines(public, names, style)
        for sheet in public["sheet"][-1:]:
            lines += ["", *hand_result_lines(sheet, names, style)]
        return _fit([head, *[[("plain", line)] for line in lines]], [_foot(pointing, columns)], size)
    hand = _hand(view, pointing, look, columns)
    offered = _offers(offers, columns)
    bottom = [*hand, *offered, _foot(pointing, columns)]
    top = [head, *_seats(public, names, view, columns)]
    if public["game"] == "rummoli":
        pile = [
            [("plain", " " + line)] for line in rummoli.table_lines(public, names, columns - 2, view["me"])
        ]
    else:
        top += _melds(public, names, look, columns)
        pile = [*_pile(public, pointing, look, columns), *_duties(public, names, columns)]
    room = rows - len(top) - len(pile) - len(bottom)
    told: list[Row] = []
    if room > 1:
        lines = [piece for line in log[-room:] for piece in wrapped(line, columns - 2)]
        told = [[("dim", " " + line)] for line in lines[-(room - 1) :]]
    return _fit([*top, *pile, *told], bottom, size)


def card_text(card: str, look: Look, *, stands_for: str = "") -> Piece:
    """A card in its colour: 7 and the sign of hearts, 7H where signs are not to be had, X1=8H for a joker laid."""
    if card.startswith("X"):
        return "X", f"{card}={stands_for}" if stands_for else card
    sign = SIGNS[card[1]] if look.signs else card[1]
    return card[1], card[0] + sign + card[2:]


# --- parts ---------------------------------------------------------------------------------------------


def _head(
    public: Mapping[str, Any], names: Sequence[str], view: Mapping[str, Any], clock: str, columns: int
) -> Row:
    waiting = view["need"]["seats"]
    if view["need"]["kind"] == "over":
        state = _("the game is over")
    elif view["me"] in waiting:
        state = _("YOUR TURN") if view["need"]["kind"] == "turn" else _("call or pass")
        if public["phase"] in ASKED:
            state = _(ASKED[public["phase"]])
    elif waiting:
        state = _("{names} to act", names=", ".join(names[seat] for seat in waiting))
    else:
        state = _("the cards are shuffled and dealt")
    left = " " + _("Hand {hand}", hand=public["hand"]) + "  " + state
    right = f"{clock} " if clock else ""
    return [("head", pad(left, columns - width(right)) + right)]


def _seats(
    public: Mapping[str, Any], names: Sequence[str], view: Mapping[str, Any], columns: int
) -> list[Row]:
    """Two seats to a row on a wide screen, one on a narrow one."""
    facts = view["facts"].get("links", {})
    cells: list[Piece] = []
    wide = columns // 2 if columns >= 72 else columns
    for seat, name in enumerate(names):
        held = len(public["hands"][seat]) if public["hands"] else 0
        words = ngettext("{count} card", "{count} cards", held)
        if seat in public.get("out", ()):
            words = _("out of the hand")
        elif seat in public.get("floating", ()):
            words = _("floating")
        dealer = " " + _("(dealer)") if seat == public["dealer"] else ""
        state = f"  {facts[str(seat)]}" if str(seat) in facts else ""
        text = f" {name}{dealer}: {public['scores'][seat]}, {words}{state}"
        cells.append(("turn" if seat in view["need"]["seats"] else "plain", pad(text, wide)))
    per_row = columns // wide
    return [list(cells[at : at + per_row]) for at in range(0, len(cells), per_row)]


def _melds(public: Mapping[str, Any], names: Sequence[str], look: Look, columns: int) -> list[Row]:
    if not public["melds"]:
        return [[("dim", " " + _("No melds yet."))]]
    rows: list[Row] = []
    for meld in public["melds"]:
        label = f" {meld['id']:>2} {_(KINDS.get(meld['kind'], meld['kind']))} {names[meld['owner']]}: "
        row: Row = [("strong", label)]
        used = width(label)
        for laid in meld["cards"]:
            attribute, text = card_text(laid["card"], look, stands_for=laid.get("as", ""))
            if laid["seat"] != meld["owner"]:
                text += f"({names[laid['seat']]})"
            if used + width(text) + 1 > columns:
                rows.append(row)
                row, used = [("plain", " " * 6)], 6
            row += [(attribute, text), ("plain", " ")]
            used += width(text) + 1
        rows.append(row)
    return rows


def _pile(public: Mapping[str, Any], pointing: Pointing, look: Look, columns: int) -> list[Row]:
    """The pile in order, the top card last; the card pointed at says what taking from there would bring."""
    pile: Sequence[str] = public["discard"]
    stock = ngettext("Stock {count} card", "Stock {count} cards", public["stock"])
    label = " " + stock + "   " + _("Pile:") + " "
    row: Row = [("strong", label)]
    rows: list[Row] = []
    used = width(label)
    for index, card in enumerate(pile):
        attribute, text = card_text(card, look)
        if pointing.area == "pile" and index == pointing.at:
            attribute = "cursor"
        elif card in pointing.picked:
            attribute = "picked"
        if used + width(text) + 1 > columns:
            rows.append(row)
            row, used = [("plain", " " * 6)], 6
        row += [(attribute, text), ("plain", " ")]
        used += width(text) + 1
    if not pile:
        row.append(("dim", _("empty")))
    rows.append(row)
    if pointing.area == "pile" and pointing.at < len(pile):
        brings = len(pile) - pointing.at
        rows.append(
            [
                (
                    "dim",
                    "   "
                    + ngettext("taking here brings {count} card", "taking here brings {count} cards", brings),
                )
            ]
        )
    return rows


def _duties(public: Mapping[str, Any], names: Sequence[str], columns: int) -> list[Row]:
    """What only some options have, and what the rules still ask of the seat on turn."""
    style = LineStyle(size=columns - 2)
    return [
        *([("plain", " " + line)] for line in extra_lines(public, names, style)),
        *([("strong", " " + line)] for line in duty_lines(public, style)),
    ]


def _hand(view: Mapping[str, Any], pointing: Pointing, look: Look, columns: int) -> list[Row]:
    if view["me"] is None:
        return [[("dim", " " + _("You watch this table."))]]
    cards = hand_cards(view, pointing.order)
    if not cards:
        return [[("dim", " " + _("Your hand is empty."))]]
    top, side, bottom = (
        ("\u250c\u2500\u2510", "\u2502", "\u2514\u2500\u2518") if look.boxes else ("+-+", "|", "+-+")
    )
    rows: list[Row] = []
    line: list[Row] = [[("plain", " ")], [("plain", " ")], [("plain", " ")]]
    used = 1
    for index, card in enumerate(cards):
        attribute, text = card_text(card, look)
        wide = width(text)
        box = "picked" if card in pointing.picked else "plain"
        if pointing.area == "hand" and index == pointing.at:
            box = "cursor"
        if used + wide + 2 > columns - 1:
            rows += line
            line, used = [[("plain", " ")], [("plain", " ")], [("plain", " ")]], 1
        line[0].append((box, top[0] + top[1] * wide + top[2]))
        inside = attribute if box == "plain" else box
        line[1] += [(box, side), (inside, text), (box, side)]
        line[2].append((box, bottom[0] + bottom[1] * wide + bottom[2]))
        used += wide + 2
    return [*rows, *line]


def _offers(offers: Sequence[str], columns: int) -> list[Row]:
    """The moves on offer, numbered for the keys 1 to 9, in at most two rows."""
    words = [f"{number} {text}" for number, text in enumerate(offers[:9], 1)]
    rows: list[Row] = []
    row = " "
    for word in words:
        if width(row) + width(word) + 3 > columns and row.strip():
            rows.append([("strong", row)])
            row = " "
        row += word + "   "
    if row.strip():
        rows.append([("strong", row)])
    return rows[:2]


def _foot(pointing: Pointing, columns: int) -> Row:
    if pointing.typing is not None:
        return [("cursor", pad(f" {pointing.typing}\u2581", columns))]
    if pointing.message:
        return [("alarm" if pointing.message_is_alarm else "strong", pad(" " + pointing.message, columns))]
    return [("dim", pad(" " + _("arrows and space pick cards, h for all keys, : to type a move"), columns))]


def _fit(top: Sequence[Row], bottom: Sequence[Row], size: tuple[int, int]) -> list[Row]:
    """``top`` cut or filled so that ``bottom`` ends on the last row: the hand and the prompt are never cut."""
    columns, rows = size
    bottom = list(bottom)[-rows:]
    room = rows - len(bottom)
    kept = list(top)[:room]
    filled: list[Row] = [*kept, *([("plain", "")] for _row in range(room - len(kept))), *bottom]
    return [_cut(row, columns) for row in filled]


def _cut(row: Row, columns: int) -> Row:
    pieces: Row = []
    used = 0
    for attribute, text in row:
        left = columns - used
        if left <= 0:
            break
        piece = text if width(text) <= left else pad(text, left)
        pieces.append((attribute, piece))
        used += width(piece)
    return pieces
