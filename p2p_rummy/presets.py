"""House rules under a name: kept in the home, shared as one line of text.

    Grandma's: rum500 ace=low going_out=floating target=1000

is the whole format: a name, a colon, the game, and every option that differs from the game's own.  The file in
the home holds that line and so does the message to a friend.  Whether the options fit together is for
:mod:`p2p_rummy.options` to say, before anything is saved and before anybody sits down.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from p2p_rummy.catalogue import _
from p2p_rummy.complaint import USAGE, Complaint

NAME_LIMIT = 40
LINE_LIMIT = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class HouseRules:
    """A named set of rules; ``settings`` are written values by option, only those that differ from ``game``."""

    name: str
    game: str
    settings: Mapping[str, str]

    def line(self) -> str:
        words = [self.game, *(f"{option}={value}" for option, value in sorted(self.settings.items()))]
        return f"{self.name}: {' '.join(words)}"


def read_line(text: str) -> HouseRules:
    """House rules from their text, as a friend sent it.  Raises Complaint with what is wrong with it."""
    line = " ".join(text.split())
    name, colon, rest = line.partition(": ")
    if len(line) > LINE_LIMIT or not colon or not rest:
        raise Complaint(
            _("house rules are one line such as `Grandma's: rum500 ace=low target=1000`; this is none"),
            status=USAGE,
        )
    game, *pairs = rest.split(" ")
    return HouseRules(name=checked_name(name), game=game, settings=read_settings(pairs))


def read_settings(pairs: list[str]) -> dict[str, str]:
    """``option=value`` words.  Raises Complaint for a word without ``=`` and for an option set twice."""
    settings: dict[str, str] = {}
    for pair in pairs:
        option, equals, value = pair.partition("=")
        option = option.strip()
        if not equals or not option or not value.strip():
            raise Complaint(_("`{pair}` is not option=value, such as ace=low", pair=pair), status=USAGE)
        if option in settings:
            raise Complaint(_("the option {option} is set twice", option=option), status=USAGE)
        settings[option] = value.strip()
    return settings


def checked_name(name: str) -> str:
    """A name that can stand before the colon and be a file's name.  Raises Complaint."""
    name = " ".join(name.split())
    allowed = name.isprintable() and all(char.isalnum() or char in " '-_.!&" for char in name)
    if not name or len(name) > NAME_LIMIT or not allowed or name.startswith("."):
        raise Complaint(
            _(
                "the name of house rules has 1 to {limit} letters, digits, spaces or any of ' - _ . ! &",
                limit=NAME_LIMIT,
            ),
            status=USAGE,
        )
    return name


# --- the shelf in the home ------------------------------------------------------------------------------


def save(home: Path, rules: HouseRules) -> Path:
    """Keep the rules, in place of older ones of the same name."""
    shelf = home / "presets"
    shelf.mkdir(parents=True, exist_ok=True)
    path = _file(home, rules.name)
    handle, unfinished = tempfile.mkstemp(dir=shelf)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(rules.line() + "\n")
    Path(unfinished).replace(path)
    return path


def load(home: Path, name: str) -> HouseRules:
    """The rules kept under this name (capitals do not matter).  Raises Complaint, with the names there are."""
    path = _file(home, checked_name(name))
    try:
        return read_line(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        kept = ", ".join(rules.name for rules in kept_rules(home)) or _("none yet")
        raise Complaint(
            _("no house rules are kept under {name}; there are: {kept}", name=name, kept=kept)
        ) from None
    except UnicodeDecodeError:
        raise Complaint(_("{path} is not text; remove it and save the rules again", path=path)) from None


def remove(home: Path, name: str) -> None:
    load(home, name)
    _file(home, checked_name(name)).unlink()


def kept_rules(home: Path) -> list[HouseRules]:
    """All rules kept, by name.  A file that cannot be read is left out: it must not hide the others."""
    found = []
    for path in sorted((home / "presets").glob("*.txt")):
        try:
            found.append(read_line(path.read_text(encoding="utf-8")))
        except (Complaint, OSError, UnicodeDecodeError):
            continue
    return sorted(found, key=lambda rules: rules.name.casefold())


def _file(home: Path, name: str) -> Path:
    return home / "presets" / (f"{name.casefold()}.txt")
