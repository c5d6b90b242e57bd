"""Moves as text: one short line each, the same in faces, logs, scenarios and bug reports.

=====================================  ====================================================================
``draw``                               take the top stock card (R21)
``take 4H``                            take 4H and all above it from the pile (R22, R23)
``meld 6H 7H X1=8H``                   a new meld; a joker says what it stands for (R40), in a group X1=9
``meld A B C + D E F``                 several new melds in one move, all or none (R254)
``lay TH on 2``                        lay off on meld 2 (R50)
``discard 2S``                         end the turn (R60)
``rummy QS KS JS``                     call: pile cards alone are a new meld (R105)
``rummy 8H on 1``, ``rummy 8H 9H on 1``  call: pile cards laid off on meld 1, in that order
``pass``                               no call; or, at the draw without a stock, decline the pile (R28)
``untake``                             give back cards taken for which there is no use (R25)
``name wild``                          the dealer names the dealer's joker wild, double or split (R177)
``meld 7S 8S 9S double``               the dealer's joker doubles and seals this meld (R179)
``split 4H``                           the dealer's joker splits the pile at 4H (R180)
``block X2``                           a joker laid on the dealer's joker (R182)
=====================================  ====================================================================

:func:`parse` reads a line and raises :class:`~p2p_rummy.refusals.InvalidMove` with the right form; it knows no
rule and no table.  ``parse(move.text)`` is ``move`` again.  Capitals, ``10H`` for TH, suit signs and extra
spaces are accepted; :attr:`Move.text` is the canonical spelling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from p2p_rummy.cards import FIRST_JOKER, KIND_NAMES, NAMES, NUMBERS, RANKS
from p2p_rummy.refusals import InvalidMove

Placed = tuple[int, int]
"""A card of a meld and its claim: what a joker is said to stand for."""

NO_CLAIM: Final = -1
"""Nothing is said: every natural card, and a joker without a statement."""
NO_SUCH_CARD: Final = -2
"""Something is said that is no card."""
RANK_ONLY: Final = 64
"""``RANK_ONLY + rank`` is a rank without a suit (R42); 0..51 is one exact card (R41)."""

LONGEST: Final = 1000
"""Characters.  Two packs melded in one move are far below that."""

EFFECTS: Final = ("wild", "double", "split")

FORMS: Final[dict[str, str]] = {
    "draw": "draw",
    "take": "take 4H",
    "meld": "meld 6H 7H 8H, with a joker meld 6H 7H X1=8H, two melds meld 6H 7H 8H + 9S 9D 9C",
    "lay": "lay TH on 2 (the number of the meld), with a joker lay X1=TH on 2",
    "discard": "discard 2S",
    "rummy": "rummy QS KS JS for a new meld, rummy TH on 2 for a lay-off",
    "pass": "pass",
    "untake": "untake",
    "name": "name wild, name double or name split",
    "split": "split 4H",
    "block": "block X2",
}

_SIGNS: Final = str.maketrans(
    {"♠": "S", "♥": "H", "♦": "D", "♣": "C", "♤": "S", "♡": "H", "♢": "D", "♧": "C"}
)


@dataclass(frozen=True, slots=True)
class Move:
    """One move, read.  ``parts`` are the melds of a ``meld``, else one part; ``cards`` all cards named."""

    verb: str
    text: str
    parts: tuple[tuple[Placed, ...], ...] = ()
    cards: tuple[int, ...] = ()
    meld: int = 0
    """The meld to lay on; 0 for none."""
    word: str = ""
    """The effect named."""
    doubled: int = -1
    """The part that the dealer's joker doubles."""
    as_set: int = 0
    """``cards`` as bits, one for each card number."""

    @property
    def card(self) -> int:
        return self.cards[0]


def parse(text: str) -> Move:
    """Read one line.  Raises InvalidMove, whose message shows the right form."""
    move = _READ.get(text)
    if move is None:
        move = _parse(text)
        if len(_READ) >= 200_000:
            _READ.clear()
        _READ[text] = move
    return move


_READ: Final[dict[str, Move]] = {}


def claim_text(claim: int) -> str:
    """``8H`` or ``9``; "" for no claim."""
    if claim >= RANK_ONLY:
        return RANKS[claim - RANK_ONLY]
    if claim >= 0:
        return KIND_NAMES[claim]
    return "?" if claim == NO_SUCH_CARD else ""


def placed_text(placed: Placed) -> str:
    """``6H``, ``X1=8H`` or ``X1=9``."""
    card, claim = placed
    return NAMES[card] if claim == NO_CLAIM else f"{NAMES[card]}={claim_text(claim)}"


def placed_names(cards: tuple[Placed, ...]) -> str:
    return " ".join(placed_text(placed) for placed in cards)


# --- reading --------------------------------------------------------------------------------------------


def _parse(text: str) -> Move:
    if len(text) > LONGEST:
        raise _unreadable(f"a move has at most {LONGEST} characters, this has {len(text)}")
    words = text.translate(_SIGNS).split()
    if not words:
        raise _unreadable("an empty line is no move; write one of " + ", ".join(FORMS))
    verb = words[0].lower()
    if verb not in FORMS:
        raise _unreadable(f"{_quoted(words[0])} is no move; write one of {', '.join(FORMS)}")
    rest = words[1:]
    match verb:
        case "draw" | "pass" | "untake":
            if rest:
                raise _form(verb, f"nothing follows {verb}")
            return Move(verb, verb)
        case "take" | "discard" | "split" | "block":
            if len(rest) != 1:
                raise _form(verb, f"{verb} needs exactly one card")
            card = _card(rest[0], verb)
            return Move(verb, f"{verb} {NAMES[card]}", (((card, NO_CLAIM),),), (card,), as_set=1 << card)
        case "name":
            if len(rest) != 1 or rest[0].lower() not in EFFECTS:
                raise _form(verb, "name needs one of wild, double and split")
            return Move(verb, f"name {rest[0].lower()}", word=rest[0].lower())
        case "lay":
            cards, meld = _on(rest, verb)
            if len(cards) != 1 or meld == 0:
                raise _form(verb, "lay needs one card, then on, then the number of a meld")
            return _with_cards(verb, (cards,), meld)
        case "rummy":
            cards, meld = _on(rest, verb)
            if not cards:
                raise _form(verb, "rummy needs the cards that are called")
            return _with_cards(verb, (cards,), meld)
        case _:
            return _meld(rest)


def _meld(rest: list[str]) -> Move:
    parts: list[tuple[Placed, ...]] = []
    doubled = -1
    for chunk in _split(rest):
        if chunk and chunk[-1].lower() == "double":
            if doubled >= 0:
                raise _form("meld", "only one meld can be doubled")
            doubled = len(parts)
            chunk = chunk[:-1]
        if not chunk:
            raise _form("meld", "meld needs cards, before and after every +")
        parts.append(tuple(_placed(word, "meld") for word in chunk))
    return _with_cards("meld", tuple(parts), doubled=doubled)


def _split(words: list[str]) -> list[list[str]]:
    chunks: list[list[str]] = [[]]
    for word in words:
        if word == "+":
            chunks.append([])
        else:
            chunks[-1].append(word)
    return chunks


def _on(words: list[str], verb: str) -> tuple[tuple[Placed, ...], int]:
    """Cards, and the number after ``on`` (0 without one)."""
    meld = 0
    if len(words) >= 2 and words[-2].lower() == "on":
        number = words[-1]
        if not (number.isascii() and number.isdigit() and len(number) <= 6 and int(number) > 0):
            raise _form(verb, f"{_quoted(number)} is no number of a meld")
        meld = int(number)
        words = words[:-2]
    return tuple(_placed(word, verb) for word in words), meld


def _with_cards(
    verb: str, parts: tuple[tuple[Placed, ...], ...], meld: int = 0, *, doubled: int = -1
) -> Move:
    written = [
        placed_names(part) + (" double" if index == doubled else "") for index, part in enumerate(parts)
    ]
    text = f"{verb} {' + '.join(written)}" + (f" on {meld}" if meld else "")
    cards = tuple(card for part in parts for card, _ in part)
    return Move(verb, text, parts, cards, meld, "", doubled, sum(1 << card for card in set(cards)))


def _placed(word: str, verb: str) -> Placed:
    name, equals, claim = word.partition("=")
    card = _card(name, verb)
    if not equals:
        return card, NO_CLAIM
    if card < FIRST_JOKER:
        raise _form(verb, f"{NAMES[card]} stands for itself; only a joker is said to be another card")
    return card, _claim(claim)


def _claim(word: str) -> int:
    """What a joker is said to be.  Whatever is no card is kept as such: refusing it is the rules' part (R45)."""
    name = word.upper().replace("10", "T")
    if len(name) == 3 and name[2] == "B":
        name = name[:2]
    if len(name) == 1 and name in RANKS:
        return RANK_ONLY + RANKS.index(name)
    card = NUMBERS.get(name, FIRST_JOKER)
    return card if card < FIRST_JOKER else NO_SUCH_CARD


def _card(word: str, verb: str) -> int:
    name = word.upper().replace("10", "T")
    if len(name) == 3 and name[2] == "B":
        name = name[:2] + "b"
    card = NUMBERS.get(name)
    if card is None:
        raise _form(
            verb, f"{_quoted(word)} is no card (rank A23456789TJQK and suit SHDC, 7Hb second pack, X1 joker)"
        )
    return card


def _form(verb: str, what: str) -> InvalidMove:
    return _unreadable(f"{what}: write {FORMS[verb]}")


def _unreadable(message: str) -> InvalidMove:
    return InvalidMove("unreadable", message)


def _quoted(word: str) -> str:
    """A stranger's word, short and printable, for a message."""
    shown = word if len(word) <= 20 else word[:20] + "..."
    return ascii(shown)
