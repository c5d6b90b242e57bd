"""What a typed line means: a move in the notation of the rules, or a word to the terminal itself.

A word of the terminal never looks like a move.  Moves are forgiving about case and about 10 for T; what they
mean is for the game to judge.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from p2p_rummy.catalogue import mark

Word = Literal[
    "help",
    "sort",
    "table",
    "hand",
    "pile",
    "melds",
    "scores",
    "legal",
    "who",
    "undo",
    "send",
    "say",
    "rules",
    "log",
    "leave",
    "nothing",
]


@dataclass(frozen=True, slots=True)
class Move:
    """A line of the notation, to be judged by the game."""

    text: str


@dataclass(frozen=True, slots=True)
class Ask:
    """A word to the terminal, with what was written after it."""

    word: Word
    rest: str = ""


WORDS: dict[str, Ask] = {
    "": Ask("nothing"),
    "help": Ask("help"),
    "?": Ask("help"),
    "s": Ask("sort", "suit"),
    "r": Ask("sort", "rank"),
    "sort": Ask("sort"),
    "t": Ask("table"),
    "table": Ask("table"),
    "h": Ask("hand"),
    "hand": Ask("hand"),
    "p": Ask("pile"),
    "pile": Ask("pile"),
    "melds": Ask("melds"),
    "scores": Ask("scores"),
    "score": Ask("scores"),
    "legal": Ask("legal"),
    "moves": Ask("legal"),
    "who": Ask("who"),
    "u": Ask("undo"),
    "undo": Ask("undo"),
    "send": Ask("send"),
    "say": Ask("say"),
    "rules": Ask("rules"),
    "log": Ask("log"),
    "quit": Ask("leave"),
    "exit": Ask("leave"),
    "leave": Ask("leave"),
}

TAKES_A_REST = {"say", "sort"}

HELP_MOVES = (
    mark("draw                  draw the top card of the stock"),
    mark("take 4H               take 4H from the pile, with all that lies above it"),
    mark("meld 6H 7H X1=8H      lay a new meld; a joker says what it stands for"),
    mark("lay TH on 2           lay a card on meld 2"),
    mark("discard 2S            put a card on the pile and end your turn"),
    mark("pass                  let it go by (a call window, or an empty stock)"),
    mark("rummy TH on 2         call: TH of the pile belongs on meld 2"),
    mark("rummy QS KS JS        call: these cards of the pile make a meld"),
    mark("undo, send            take back, or send, melds that are not sent yet"),
)

HELP_RUMMOLI = (
    mark("swap, keep            the dealer: take the widow unseen, or have it auctioned"),
    mark("bid 3                 offer 3 chips for the widow; pass bids no more"),
    mark("check, bet 2, call    poker; raise 2 raises by 2; fold gives up"),
    mark("show TS JS QS KS AS   open your five best cards; muck gives up unseen"),
    mark("play 4H 5H            play a card, and those after it that you also hold"),
    mark("play KH claim         play it and claim the pot that it wins"),
    mark("claim                 claim it afterwards, before the next card"),
    mark("pass                  you do not hold what must be played"),
    mark("end                   you would end the game after this round"),
)

HELP = (
    mark("s, r                  sort your hand by suit, by rank"),
    mark("t, h, p               show the table, your hand, the pile"),
    mark("melds, scores, legal  show the melds, the score sheet, what you may do now"),
    mark("who, log, rules       the seats and keys, the signed log, this table's rules"),
    mark("say WORDS             say something to the table"),
    mark("leave                 leave; `p2p-rummy resume` brings you back"),
)


def help_lines(game: str) -> tuple[str, ...]:
    """What may be typed at a table of this game; each line is to be translated."""
    return (HELP_RUMMOLI if game == "rummoli" else HELP_MOVES) + HELP


_CARD = re.compile(r"(?:10|[a23456789tjqk])[shdc]b?|x[1-9]", re.IGNORECASE)


def understand(line: str) -> Move | Ask:
    """Read one typed line.  Never fails: what is no word of the terminal is a move."""
    line = " ".join(line.split())
    head, _space, rest = line.partition(" ")
    word = WORDS.get(head.lower())
    if word is not None and (not rest or word.word in TAKES_A_REST):
        return Ask(word.word, rest or word.rest)
    return Move(" ".join(tidy(token) for token in line.split(" ")))


def tidy(token: str) -> str:
    """A token as the notation writes it: cards in capitals with T for 10 and a small b, words in small letters."""
    if "=" in token:
        left, _equals, right = token.partition("=")
        return f"{tidy(left)}={_rank_or_card(right)}"
    if _CARD.fullmatch(token):
        return _card(token)
    return token.lower()


def _rank_or_card(text: str) -> str:
    return "T" if text == "10" else _card(text) if _CARD.fullmatch(text) else text.upper()


def _card(text: str) -> str:
    text = text.upper()
    if text.startswith("10"):
        text = "T" + text[2:]
    return text[:-1] + "b" if len(text) == 3 else text
