"""Which characters this terminal shows for certain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_WIDE_LANGUAGES = ("ja", "ko", "zh")


@dataclass(frozen=True, slots=True)
class Look:
    """How cards are drawn: ``signs`` for suit symbols, ``boxes`` for line-drawing characters."""

    signs: bool = True
    boxes: bool = True


def look_for(environment: Mapping[str, str], encoding: str, language: str) -> Look:
    """Suit signs and boxes only where they are one column wide for certain.

    Unicode calls their width ambiguous: terminals of East Asian locales may give them two columns.
    """
    if "utf" not in encoding.lower() or environment.get("TERM") == "linux":
        return Look(signs=False, boxes=False)
    named = environment.get("LC_ALL") or environment.get("LC_CTYPE") or environment.get("LANG") or ""
    wide = named[:2] in _WIDE_LANGUAGES or language in _WIDE_LANGUAGES
    return Look(signs=not wide, boxes=not wide)
