"""From the shuffle to the first turn, and the second shuffle of a recycled pile (R10-R16, R149, R169, R175-R177)."""

from __future__ import annotations

from collections.abc import Sequence

from p2p_rummy.cards import PACK
from p2p_rummy.games.rum_table import (
    DEAL,
    DEALER_DRAW,
    FETCH,
    FIRST_DISCARD,
    NAME,
    NOBODY,
    PLAY,
    SHUFFLE,
    UNKNOWN,
    Table,
)
from p2p_rummy.games.rum_turn import end_turn, start_turn
from protocol.game import Card, Seat, Slot


def begin_hand(table: Table, coin: bytes) -> None:
    present = [seat for seat in range(table.rules.seats) if seat not in table.away]
    if table.between:
        table.hand += 1
    if table.dealer == NOBODY:
        table.dealer = present[int.from_bytes(coin, "big") % len(present)]
    table.begin_hand(present, len(table.rules.shuffled))
    table.dealer = table.dealer if table.dealer in present else table.after(table.dealer)
    table.begin_turn(table.dealer)
    if table.rules.dealers_joker:
        table.stage = NAME
    else:
        deal_out(table)


def deal_out(table: Table) -> None:
    """R11-R13, R169, R175."""
    rules = table.rules
    eldest = table.after(table.dealer)
    order = [eldest]
    while len(order) < len(table.ring):
        order.append(table.after(order[-1]))
    if rules.deal_direction == "ccw":
        order = [*reversed(order[:-1]), order[-1]]
    count = len(order) * rules.size(len(order))
    for slot in range(count):
        table.hands[order[slot % len(order)]].append(slot)
    if rules.first_discard == "eldest_chooses":
        table.hands[eldest].append(count)
    else:
        table.turned_up = count
    table.stock = list(range(len(table.face) - 1, count, -1))
    table.begin_turn(eldest)
    table.stage = DEAL


def dealing(table: Table) -> tuple[tuple[Slot, Seat | None], ...]:
    """The slots on their way to hands, and the one that is turned up."""
    owners: list[tuple[Slot, Seat | None]] = [
        (slot, None if seat in table.stand_ins else seat)
        for seat in table.ring
        for slot in table.hidden(seat)
    ]
    if table.turned_up >= 0:
        owners.append((table.turned_up, None))
    return tuple(sorted(owners))


def dealt(table: Table, faces: Sequence[tuple[Slot, Card]]) -> None:
    if table.stage == DEAL:
        for slot, card in faces:
            if slot == table.turned_up:
                table.push(slot, card)
            else:
                table.open(next(seat for seat in table.ring if slot in table.hands[seat]), slot, card)
        if table.turned_up >= 0:
            table.turned_up = UNKNOWN
            start_turn(table, table.turn)
        else:
            table.stage = FIRST_DISCARD
    elif table.stage == FETCH:
        for slot, card in faces:
            table.open(table.turn, slot, card)
        table.stage = PLAY
    elif table.stage == DEALER_DRAW:
        dealer_drawn(table, faces)
    else:
        raise ValueError("no deal was asked for")


def dealer_drawn(table: Table, faces: Sequence[tuple[Slot, Card]]) -> None:
    """R10: the lowest card deals (ace lowest), or the highest; those who tie draw again."""
    cards = [card for _, card in sorted(faces)]
    draws = list(zip(table.contenders, cards, strict=True))
    table.dealer_draws += draws
    ranks = [card % PACK % 13 for card in cards]
    best = min(ranks) if table.rules.first_dealer == "low_card" else max(ranks)
    tied = [seat for (seat, _), rank in zip(draws, ranks, strict=True) if rank == best]
    table.contenders = [seat for seat in tied if seat not in table.away] or tied
    settle_dealer(table)


def settle_dealer(table: Table) -> None:
    if len(table.contenders) == 1:
        table.dealer = table.contenders.pop()
        table.stage = SHUFFLE


def recycle_shuffled(table: Table) -> None:
    buried = table.cut(0)
    top = buried.pop()
    table.push(top, table.face[top])
    first = len(table.face)
    table.face.extend([UNKNOWN] * len(buried))
    table.stock = list(range(len(table.face) - 1, first - 1, -1))
    table.recycled += 1
    if table.turn in table.ring:
        fetch(table, table.turn)
    else:
        end_turn(table)


def fetch(table: Table, seat: Seat) -> None:
    """The next stock card goes to hand; it is known to all only if the stock was turned over (R149)."""
    slot = table.stock.pop()
    table.give(seat, slot)
    table.stage = FETCH if table.face[slot] < 0 else PLAY
