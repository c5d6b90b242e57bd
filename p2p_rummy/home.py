"""One player's home: a directory with the identity, the tables and the house rules of one peer.

``--home DIR`` or ``P2P_RUMMY_HOME`` chooses it, so that several peers can live on one machine.

    name        the name shown to the others
    presets/    house rules, one text file each (:mod:`p2p_rummy.presets`)
    bots/NAME/  the homes of the bots that this player seats
    reports/    what went wrong, for the maintainers
    ...         the identity, journals and logs belong to :mod:`protocol.peer`
"""

from __future__ import annotations

import getpass
import os
from pathlib import Path

from p2p_rummy.catalogue import _
from p2p_rummy.complaint import Complaint

VARIABLE = "P2P_RUMMY_HOME"
NAME_LIMIT = 24


def home_directory(chosen: str | None = None) -> Path:
    """The home: ``--home``, else P2P_RUMMY_HOME, else the system's place for a user's data."""
    named = chosen or os.environ.get(VARIABLE)
    if named:
        return Path(named).expanduser()
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "p2p-rummy"


def open_home(chosen: str | None = None) -> Path:
    """The home, made if it is missing and private to its owner.  Raises Complaint if it cannot be used."""
    home = home_directory(chosen)
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Complaint(
            _(
                "cannot use the home {home}: {reason}; choose another with --home",
                home=home,
                reason=error.strerror,
            )
        ) from error
    return home


def player_name(home: Path, chosen: str | None = None) -> str:
    """The name that the others see: ``--name`` (remembered), else the one remembered, else the login name."""
    if chosen is not None:
        name = checked_name(chosen)
        (home / "name").write_text(name + "\n", encoding="utf-8")
        return name
    try:
        return checked_name((home / "name").read_text(encoding="utf-8").strip())
    except (OSError, UnicodeDecodeError, Complaint):
        pass
    try:
        return checked_name(getpass.getuser().capitalize())
    except (OSError, KeyError, ImportError, Complaint):
        return "Player"


def checked_name(name: str) -> str:
    """A name that fits on a score sheet.  Raises Complaint."""
    name = " ".join(name.split())
    if not name or len(name) > NAME_LIMIT or not name.isprintable():
        raise Complaint(
            _("a name has 1 to {limit} printable characters: choose one with --name", limit=NAME_LIMIT),
            status=2,
        )
    return name
