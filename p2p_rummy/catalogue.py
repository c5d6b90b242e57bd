"""Every sentence that a person reads goes through here.

The sentences in the source are English and are their own identifiers, as gettext has it; ``locale/<language>/
LC_MESSAGES/p2p_rummy.mo`` holds the others.  ``_("{name} sits down", name=...)`` looks the sentence up first
and fills it in afterwards, so translators see whole sentences and may put the names in any order.

Nothing below the faces may call this: what a table agrees on must not depend on anybody's language (W6).
"""

from __future__ import annotations

import gettext
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

DOMAIN = "p2p_rummy"
LOCALE_DIRECTORY = Path(__file__).parent / "locale"
LANGUAGES = ("en", "ja", "ko")

_translations: gettext.NullTranslations | None = None
_for_now: ContextVar[gettext.NullTranslations | None] = ContextVar("language", default=None)


def use_language(language: str | None = None) -> None:
    """Speak ``language`` ("ja"), or what the environment asks for (LANGUAGE, LC_ALL, LC_MESSAGES, LANG)."""
    global _translations
    wanted: Sequence[str] | None = [language] if language else None
    _translations = gettext.translation(DOMAIN, LOCALE_DIRECTORY, wanted, fallback=True)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Speak ``language`` to whoever asks in this task: a page has a language of its own.  None of ours: as before."""
    known = language in LANGUAGES
    wanted = gettext.translation(DOMAIN, LOCALE_DIRECTORY, [language], fallback=True) if known else None
    before = _for_now.set(wanted)
    try:
        yield
    finally:
        _for_now.reset(before)


def current_language() -> str:
    """The language of the catalogue in use; "en" if there is none for what was asked."""
    return _catalogue().info().get("language", "") or "en"


def _catalogue() -> gettext.NullTranslations:
    spoken = _for_now.get()
    if spoken is not None:
        return spoken
    if _translations is None:
        use_language(os.environ.get("P2P_RUMMY_LANG") or None)
    assert _translations is not None
    return _translations


def _(message: str, /, **values: object) -> str:
    """The sentence in the user's language, with ``{name}`` fields filled in."""
    translated = _catalogue().gettext(message) if message else ""
    return translated.format(**values) if values else translated


def ngettext(one: str, many: str, count: int, /, **values: object) -> str:
    """As :func:`_` for a sentence that depends on a number, which fills ``{count}``."""
    return _catalogue().ngettext(one, many, count).format(count=count, **values)


def mark(message: str) -> str:
    """Mark a sentence of a table for the catalogues; it is looked up with :func:`_` where it is shown."""
    return message
