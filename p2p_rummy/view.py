"""What one seat, or a spectator, may see: plain data, and nothing else.

Every face (web page, full-screen terminal, line mode) draws from :func:`table_view` and from nothing
else.  Two sources meet here and only here:

* ``game.snapshot()``, which is public: every peer's copy is equal, byte for byte, so it can hold no secret;
* ``faces``, the slots that ONE seat can read.

A secret cannot leave by construction: the public part is copied as it is, and a private face is looked up
only for the slots that the snapshot lists in the viewer's own hand.  A spectator has no hand, so there is
nothing to look up; handing faces in for one is refused.  What comes out has been rebuilt from ``str``, ``int``,
``bool``, ``None``, lists and dicts alone, so that no object with a way back to a key can ride along.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from p2p_rummy.cards import card_name
from protocol.game import Deal, Faces, Game, Need, Over, Showdown, Shuffle, Turn, Window

View = dict[str, Any]
"""
====================  =====================================================================================
``me``                the seat that looks, or None for a spectator
``public``            ``game.snapshot()``, see docs/adr/002
``need``              ``{"kind": "shuffle" | "deal" | "turn" | "window" | "showdown" | "over", "seats": [seat]}``:
                      what the table waits for and from whom (in a window: who has not answered)
``hand``              ``[{"slot": int, "card": "6H"}]``: the viewer's own hand, in the order it was dealt and drawn
``legal``             move texts that the viewer may send now; in a call window without the option ``hints``
                      the calls are left out (R102: whether there is one is for the player to see)
``ahead``             move texts that the viewer may choose already for its next turn: in a call window the next player
                      may choose the draw, which is made when the turn has come (a call may change whose it is)
``facts``             what the session knows beside the game: players, links, clocks, words (see ``web/tables.py``)
====================  =====================================================================================
"""


def table_view(game: Game, seat: int | None, faces: Faces, facts: Mapping[str, Any]) -> View:
    """Everything ``seat`` may see (None: a spectator), as data that JSON can carry.

    ``faces`` are the private faces of this seat alone; slots that are not in its hand are never looked at.
    Raises ValueError if faces are handed in for a spectator or the seat does not exist.
    """
    if seat is None and faces:
        raise ValueError("a spectator has no private faces; pass an empty mapping")
    if seat is not None and not 0 <= seat < game.seats:
        raise ValueError(f"no seat {seat} at a table of {game.seats}")
    public = plain(game.snapshot())
    return {
        "me": seat,
        "public": public,
        "need": need_view(game.need, public),
        "hand": [] if seat is None else own_hand(public, seat, faces),
        "legal": [] if seat is None else legal_moves(game, seat, faces, public),
        "ahead": [] if seat is None else moves_ahead(seat, public),
        "facts": plain(facts),
    }


def own_hand(public: Mapping[str, Any], seat: int, faces: Faces) -> list[dict[str, Any]]:
    """The hand of ``seat``: a public face where there is one, else the private one, else "" (not dealt yet)."""
    hand: list[dict[str, Any]] = []
    for held in public["hands"][seat]:
        card = held["card"]
        if not card and held["slot"] in faces:
            card = card_name(faces[held["slot"]])
        hand.append({"slot": held["slot"], "card": card})
    return hand


def legal_moves(game: Game, seat: int, faces: Faces, public: Mapping[str, Any]) -> list[str]:
    moves = game.legal_moves(seat, faces)
    if public["phase"] == "call" and not public["options"].get("hints", False):
        moves = [text for text in moves if not text.startswith("rummy ")]
    return moves


def moves_ahead(seat: int, public: Mapping[str, Any]) -> list[str]:
    """``draw`` for the seat that is next if nobody calls."""
    playing = public.get("extra", {}).get("playing", [])
    if public["phase"] != "call" or seat not in playing or not public["stock"]:
        return []
    seats = len(public["hands"])
    following = min(
        (other for other in playing if other != public["turn"]),
        key=lambda other: (other - public["turn"]) % seats,
        default=None,
    )
    return ["draw"] if following == seat else []


def need_view(need: Need, public: Mapping[str, Any]) -> dict[str, Any]:
    match need:
        case Shuffle():
            return {"kind": "shuffle", "seats": []}
        case Deal():
            return {"kind": "deal", "seats": []}
        case Turn(seat=seat):
            return {"kind": "turn", "seats": [seat]}
        case Window(seats=seats):
            answered = public.get("answered", [])
            return {"kind": "window", "seats": [seat for seat in seats if seat not in answered]}
        case Showdown(owners=owners):
            return {"kind": "showdown", "seats": sorted({seat for _, seat in owners})}
        case Over():
            return {"kind": "over", "seats": []}


def plain(value: Any, path: str = "view") -> Any:
    """A deep copy made of JSON's types only.  Raises TypeError, with the path, for anything else."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, list | tuple):
        return [plain(item, f"{path}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, Mapping):
        copy: dict[str, Any] = {}
        for key, item in value.items():
            if type(key) is not str:
                raise TypeError(f"{path}: key {key!r} is not a string")
            copy[key] = plain(item, f"{path}.{key}")
        return copy
    raise TypeError(f"{path}: {type(value).__name__} is not plain data")
