"""The table as lines of text: what :func:`p2p_rummy.view.table_view` shows, and nothing it does not.

Everything is appended, nothing is redrawn: a scroll-back is a record of the game, and a screen reader reads it as
it comes.  Cards keep the names of the notation (R1), so that what is read can be typed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from p2p_rummy.cards import RANKS, SUITS
from p2p_rummy.catalogue import _, mark, ngettext
from p2p_rummy.narrator import Told, listed, of_seat
from p2p_rummy.terminal import rummoli
from p2p_rummy.terminal.text import pad, printable, width, wrap

View = Mapping[str, Any]
Order = Literal["suit", "rank"]

_RED = "\x1b[31m"
_PLAIN = "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Style:
    """How this reader likes the table: width in columns, order of the hand, colour for the red suits."""

    size: int = 80
    order: Order = "suit"
    colour: bool = False


def sorted_hand(cards: Sequence[str], order: Order) -> list[list[str]]:
    """The hand in groups: by suit (ranks low to high in each), or by rank; jokers last in either."""
    jokers = sorted(card for card in cards if card.startswith("X"))
    naturals = [card for card in cards if not card.startswith("X")]
    if order == "suit":
        groups = [[card for card in naturals if card[1] == suit] for suit in SUITS]
        ordered = [sorted(group, key=lambda card: (RANKS.index(card[0]), card)) for group in groups]
    else:
        groups = [[card for card in naturals if card[0] == rank] for rank in RANKS]
        ordered = [sorted(group, key=lambda card: (SUITS.index(card[1]), card)) for group in groups]
    return [group for group in [*ordered, jokers] if group]


def table_lines(view: View, names: Sequence[str], style: Style, *, pending: Sequence[str] = ()) -> list[str]:
    """Everything needed to choose a move: who stands where, melds, pile, and the viewer's hand."""
    public = view["public"]
    if public["game"] == "rummoli":
        return [*rummoli.table_lines(public, names, style.size, view["me"]), *hand_lines(view, style)]
    return [
        *state_lines(public, names, style, view["me"]),
        *meld_lines(public, names, style),
        *pile_lines(public, style),
        *extra_lines(public, names, style),
        *duty_lines(public, style),
        *hand_lines(view, style),
        *pending_lines(pending, style),
    ]


def state_lines(public: View, names: Sequence[str], style: Style, me: int | None = None) -> list[str]:
    """The hand's number, the dealer, and each seat's total and number of cards."""
    words = []
    for seat, name in enumerate(names):
        held = len(public["hands"][seat]) if public["hands"] else 0
        state = ngettext("{count} card", "{count} cards", held)
        if seat in public.get("out", ()):
            state = _("out of the hand")
        elif seat in public.get("floating", ()):
            state = _("floating")
        comma = "," if seat < len(names) - 1 else ""
        words.append(f"{name} {public['scores'][seat]} ({state}){comma}")
    head = of_seat(HAND, public["dealer"], names, me, hand=public["hand"])
    return wrap([*head.split(" "), *" ".join(words).split(" ")], style.size)


HAND: Told = (mark("Hand {hand}, {name} dealt."), mark("Hand {hand}, you dealt."))


def meld_lines(public: View, names: Sequence[str], style: Style) -> list[str]:
    """Each meld with its number, kind and owner; a card laid by somebody else names who scores it (R7)."""
    if not public["melds"]:
        return [_("Melds: none yet.")]
    lines = [_("Melds:")]
    for meld in public["melds"]:
        words = []
        for laid in meld["cards"]:
            text = face(laid["card"], style, stands_for=laid.get("as", ""))
            if laid["seat"] != meld["owner"]:
                text += f"({names[laid['seat']]})"
            words.append(text)
        kind = _(KINDS.get(meld["kind"], meld["kind"]))
        first = _("  {meld} {kind}, {name}:", meld=meld["id"], kind=kind, name=names[meld["owner"]])
        lines += wrap(words, style.size, first=first + " ", rest="      ")
    return lines


KINDS = {"run": mark("run"), "group": mark("group")}


def pile_lines(public: View, style: Style) -> list[str]:
    """The discard pile in order, every card (R5), and how much stock is left."""
    pile = public["discard"]
    stock = ngettext("Stock: {count} card.", "Stock: {count} cards.", public["stock"])
    if not pile:
        return [_("Pile: empty.") + "  " + stock]
    first = _("Pile, bottom to top ({count}):", count=len(pile)) + " "
    words = [face(card, style) for card in pile]
    lines = wrap(words, style.size, first=first, rest="      ")
    last = lines[-1] + "   " + stock
    return [*lines[:-1], last] if width(last) <= style.size else [*lines, stock]


def duty_lines(public: View, style: Style) -> list[str]:
    """What the rules still ask of the seat on turn."""
    lines = []
    if public.get("must_use"):
        lines.append(_("{card} must be laid before the discard (R23).", card=face(public["must_use"], style)))
    if public.get("taken_top") and public.get("phase") == "play":
        lines.append(
            _("{card} may not be discarded in this turn (R62).", card=face(public["taken_top"], style))
        )
    return lines


def hand_lines(view: View, style: Style, *, new: Sequence[str] = ()) -> list[str]:
    """The viewer's own hand, sorted; nothing for a spectator."""
    if view["me"] is None:
        return []
    cards = [held["card"] for held in view["hand"] if held["card"]]
    hidden = len(view["hand"]) - len(cards)
    words: list[str] = []
    for group in sorted_hand(cards, style.order):
        if words:
            words.append("")
        words += [face(card, style) for card in group]
    if hidden:
        words.append(ngettext("and {count} on its way", "and {count} on their way", hidden))
    if new:
        words += ["", _("(new: {cards})", cards=" ".join(face(card, style) for card in new))]
    first = _("Your hand ({count}):", count=len(view["hand"])) + " "
    return [line.rstrip() for line in wrap(words, style.size, first=first)]


def pending_lines(pending: Sequence[str], style: Style) -> list[str]:
    """Moves that are on this table only until they are sent."""
    if not pending:
        return []
    text = _("Not sent yet: {moves}. (`send` sends, `undo` takes back the last.)", moves="; ".join(pending))
    return wrap(text.split(" "), style.size)


def sheet_lines(public: View, names: Sequence[str], style: Style) -> list[str]:
    """The score sheet: a line a hand, then the totals."""
    target = public["options"].get("target")
    title = _("Score sheet, to {target}:", target=target) if target else _("Score sheet:")
    if not public["sheet"]:
        return [_("{title} no hand is finished yet.", title=title)]
    rows = [
        (str(row["hand"]), [f"{value:+d}" for value in row["points"]], row.get("notes", ()))
        for row in public["sheet"]
    ]
    rows.append((_("total"), [str(total) for total in public["scores"]], ()))
    wide = min(12, (style.size - 8) // len(names) - 1)
    if wide < 6:
        return [title, *(line for row in rows for line in _row_in_words(*row, names, style))]
    lines = [title, ("  " + pad(_("hand"), 6) + "".join(" " + _right(name, wide) for name in names)).rstrip()]
    for label, values, notes in rows:
        lines.append("  " + pad(label, 6) + "".join(" " + _right(value, wide) for value in values))
        lines += [
            line
            for note in notes
            for line in wrap(printable(str(note)).split(" "), style.size, first=" " * 9)
        ]
    return lines


def _row_in_words(
    label: str, values: Sequence[str], notes: Sequence[str], names: Sequence[str], style: Style
) -> list[str]:
    """A line of the sheet where columns would be too narrow."""
    told = ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))
    text = "; ".join([told, *(printable(str(note)) for note in notes)])
    return wrap(text.split(" "), style.size, first=f"  {label}: ", rest="      ")


def hand_result_lines(row: View, names: Sequence[str], style: Style) -> list[str]:
    """How one finished hand was scored, a line a seat (R80)."""
    lines = [_("Hand {hand} is over.", hand=row["hand"])]
    for seat, name in enumerate(names):
        table, held = row["table"][seat], row["in_hand"][seat]
        points = row["points"][seat]
        if table or held:
            detail = _("{points:+d} (table {table}, in hand {held})", points=points, table=table, held=held)
        else:
            detail = f"{points:+d}"
        lines.append(f"  {name}: {detail}")
    for note in row.get("notes", ()):
        lines += wrap(printable(str(note)).split(" "), style.size, first="  ")
    return lines


def legal_lines(moves: Sequence[str], style: Style, *, most: int | None = None) -> list[str]:
    """What may be done, a line a verb: ``take`` 4H, 9D.  ``most`` limits how many of each are listed."""
    by_verb: dict[str, list[str]] = {}
    for text in moves:
        verb, _space, rest = text.partition(" ")
        by_verb.setdefault(verb, []).append(rest)
    lines: list[str] = []
    for verb, rests in by_verb.items():
        if verb == "discard" and all(len(rest) in (2, 3) for rest in rests):
            rests = [card for group in sorted_hand(rests, style.order) for card in group]
        shown = [rest for rest in rests if rest][:most]
        words = [word for rest in shown for word in f"{rest},".split(" ")]
        if words:
            words[-1] = words[-1][:-1]
        if len(shown) < len([rest for rest in rests if rest]):
            more = len(rests) - len(shown)
            words += _("and {count} more (`legal` lists all)", count=more).split(" ")
        lines += wrap(words, style.size, first=f"  {verb} ", rest="      ")
    return [line.rstrip() for line in lines]


def extra_lines(public: View, names: Sequence[str], style: Style) -> list[str]:
    """What only some options have: sides, who has opened, the dealer's joker, cards out of play or known in the stock."""
    extra = public.get("extra", {})
    sentences = []
    if extra.get("sides"):
        sides = [listed([names[seat] for seat in side]) for side in extra["sides"]]
        sentences.append(_("Sides: {sides}.", sides=_(" against ").join(sides)))
    if "opened" in extra:
        opened = listed([names[seat] for seat in extra["opened"]]) or _("nobody yet")
        sentences.append(_("Opened (R163): {names}.", names=opened))
    if extra.get("dealers_joker"):
        sentences.append(_dealers_joker(extra["dealers_joker"]))
    if extra.get("out_of_play"):
        sentences.append(_("Out of play (R180): {cards}.", cards=" ".join(extra["out_of_play"])))
    if extra.get("open_stock"):
        sentences.append(_("Known in the stock, next first: {cards}.", cards=" ".join(extra["open_stock"])))
    if extra.get("must_meld") and not public.get("must_use"):
        sentences.append(_("The card taken must be melded in this turn (R122)."))
    return [line for sentence in sentences for line in wrap(sentence.split(" "), style.size, rest="  ")]


DRAWN: Told = (
    mark("Drawn for the deal: {cards}. {name} deals."),
    mark("Drawn for the deal: {cards}. You deal."),
)


def dealer_draw_lines(public: View, names: Sequence[str], style: Style, me: int | None = None) -> list[str]:
    """The cards that chose the first dealer (R10); nothing if chance did."""
    draws = public.get("extra", {}).get("dealer_draws")
    if not draws:
        return []
    cards = ", ".join(f"{names[row['seat']]} {row['card']}" for row in draws)
    text = of_seat(DRAWN, public["dealer"], names, me, cards=cards)
    return wrap(text.split(" "), style.size)


def _dealers_joker(joker: View) -> str:
    if joker["blocked"]:
        state = _("blocked")
    elif joker["used"]:
        state = _("used")
    else:
        state = _("not used")
    effect = _(EFFECTS[joker["effect"]]) if joker["effect"] in EFFECTS else _("not named yet")
    return _("Dealer's joker {card}: {effect}, {state}.", card=joker["card"], effect=effect, state=state)


EFFECTS = {"wild": mark("wild"), "double": mark("double"), "split": mark("split")}


def face(card: str, style: Style, *, stands_for: str = "") -> str:
    """A card as it is typed: 6H, 6Hb, X1, X1=8H."""
    text = f"{card}={stands_for}" if stands_for and card.startswith("X") else card
    red = (stands_for or card)[1:2] in ("H", "D")
    return f"{_RED}{text}{_PLAIN}" if style.colour and red else text


def _right(text: str, size: int) -> str:
    cut = pad(text, min(size, width(text)))
    return " " * (size - width(cut)) + cut
