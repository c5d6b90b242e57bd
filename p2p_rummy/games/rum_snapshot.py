"""What everybody may see of a rum table, as plain data, and the digest of it (docs/adr/002)."""

from __future__ import annotations

from typing import Any

from p2p_rummy.cards import NAMES
from p2p_rummy.games.base import state_digest
from p2p_rummy.games.rum_rules import DEALERS_JOKER
from p2p_rummy.games.rum_table import DRAW, SHOW, STAGES, Table
from p2p_rummy.notation import claim_text
from protocol.game import Card


def digest(table: Table) -> bytes:
    """Equal exactly when the whole public state is."""
    return state_digest(state(table))


def state(table: Table) -> dict[str, Any]:
    """The snapshot, and under ``rest`` what it does not show but the rules remember: docs/adr/002."""
    return {**snapshot(table), "rest": _rest(table)}


def snapshot(table: Table) -> dict[str, Any]:
    """docs/adr/002."""
    rules = table.rules
    running = table.stage >= DRAW and not table.between and table.stage < SHOW
    return {
        "game": rules.game,
        "options": rules.settings.plain(),
        "seats": rules.seats,
        "hand": table.hand,
        "phase": table.phase,
        "dealer": table.dealer,
        "turn": table.turn,
        "scores": [table.totals[side] for side in rules.side_of],
        "sheet": [dict(line) for line in table.sheet],
        "stock": len(table.stock),
        "discard": [NAMES[card] for card in table.pile_cards],
        "melds": [
            {
                "id": meld.id,
                "kind": meld.kind,
                "owner": meld.owner,
                "cards": [
                    {"card": NAMES[card], "as": claim_text(claim), "seat": seat}
                    for card, claim, seat in zip(meld.cards, meld.claims, meld.seats, strict=True)
                ],
            }
            for _, meld in sorted(table.melds.items())
        ],
        "hands": [
            [
                {"slot": slot, "card": NAMES[table.face[slot]] if table.face[slot] >= 0 else ""}
                for slot in table.hands[seat]
            ]
            for seat in range(rules.seats)
        ],
        "must_use": _name(table.must_use),
        "taken_top": _name(table.taken_top),
        "floating": [seat for seat in table.ring if running and not table.hands[seat] and seat != table.turn],
        "winner": list(table.winners),
        "out": sorted(table.away),
        "answered": sorted(table.answers),
        "extra": _extra(table),
    }


def _extra(table: Table) -> dict[str, Any]:
    rules = table.rules
    extra: dict[str, Any] = {
        "stage": STAGES[table.stage],
        "playing": sorted(table.ring),
        "must_meld": table.must_meld,
        "taken": [NAMES[table.face[slot]] for slot in table.taken],
        "gave_back": table.gave_back,
        "idle_turns": table.idle,
        "stand_ins": sorted(table.stand_ins),
        "dealer_draws": [{"seat": seat, "card": NAMES[card]} for seat, card in table.dealer_draws],
        "out_of_play": [NAMES[table.face[slot]] for slot in table.dead],
        "open_stock": [NAMES[table.face[slot]] for slot in reversed(table.stock) if table.face[slot] >= 0],
        "went_out": table.out_seat if table.out_seat >= 0 else None,
    }
    if rules.opening_minimum:
        opened = table.opened_game | table.opened_hand
        extra["opened"] = [seat for seat in range(rules.seats) if opened >> rules.side_of[seat] & 1]
    if rules.partnership:
        extra["sides"] = [[0, 2], [1, 3]]
    if rules.dealers_joker:
        extra["dealers_joker"] = {
            "card": NAMES[DEALERS_JOKER],
            "effect": table.effect,
            "used": table.joker_used,
            "blocked": table.joker_blocked,
        }
    return extra


def _rest(table: Table) -> dict[str, Any]:
    sides = sorted(set(table.rules.side_of))
    return {
        "answers": [[seat, text] for seat, text in sorted(table.answers.items())],
        "played": table.played,
        "faces": [[slot, NAMES[card]] for slot, card in enumerate(table.face) if card >= 0],
        "slots": len(table.face),
        "stock": table.stock[::-1],
        "discard": list(table.pile),
        "out_of_play": list(table.dead),
        "taken": list(table.taken),
        "split_off": list(table.split_off),
        "turned_up": table.turned_up,
        "melds": [
            [number, meld.factor, meld.sealed, list(meld.slots)]
            for number, meld in sorted(table.melds.items())
        ],
        "next_meld": table.next_meld,
        "turn_log": list(table.turn_log),
        "undo": list(table.undo),
        "lays": list(table.lays),
        "long_run": list(table.long_run),
        "opened_game": [side for side in sides if table.opened_game >> side & 1],
        "opened_hand": [side for side in sides if table.opened_hand >> side & 1],
        "contenders": list(table.contenders),
        "had_stock": table.had_stock,
        "fresh": table.fresh,
        "declined": table.declined,
        "recycled": table.recycled,
        "out_by_discard": table.out_by_discard,
        "went_rummy": table.went_rummy,
        "exhausted": table.exhausted,
    }


def _name(card: Card) -> str:
    return NAMES[card] if card >= 0 else ""
