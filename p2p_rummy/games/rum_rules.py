"""The options of one rum table, typed, and what follows from them once for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from p2p_rummy.cards import FIRST_JOKER, PACK, UNIVERSE, pack_cards
from p2p_rummy.melds import MeldRules
from p2p_rummy.options import BY_NAME, Settings, Sizes, hand_size, pack_count

DEALERS_JOKER: Final = FIRST_JOKER
"""R176: the first joker, X1, is the one taken out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RumRules:
    """Options by their names (see :mod:`p2p_rummy.options`), then what is derived from them."""

    settings: Settings
    game: str
    seats: int

    partnership: bool
    first_dealer: str
    next_dealer: str
    deal_direction: str
    first_discard: str
    dealers_joker: bool
    hand_size: Sizes
    opening_minimum: int
    opening_scope: str
    out_of_turn_melds: bool
    take_depth: str
    deepest_use: str
    calling: str
    going_out: str
    stock_out: str
    recycle_stock: str
    exhausted_rounds: int
    scoring: str
    joker_value: int
    exhausted_scoring: str
    going_rummy_doubles: bool
    four_at_once_doubles: bool
    going_out_bonus: int
    game_bonus: int
    rummy_master_bonus: int
    win_rule: str
    target: int | None
    max_hands: int | None
    leaver: str

    melds: MeldRules
    """R30-R49: what is a meld."""
    cards: tuple[int, ...]
    """Every card of the table, the dealer's joker included."""
    card_count: int
    side_of: tuple[int, ...]
    """Seat -> side: seats 1 and 3 are side 0, 2 and 4 side 1 in a partnership, else every seat is its own."""
    top_duty: bool
    """A single top card taken must be put on the table (R122, R123)."""
    floats: bool
    """R127, R131: who lays the last card plays on."""
    challenge: bool
    """R132."""
    strict_end: bool
    """R131: a playable last card may not be discarded."""
    any_use: bool
    """No option restricts how the deepest card taken is put on the table (R23)."""
    windows: bool
    """Other seats may answer after every turn (R100, R210)."""
    values: tuple[int, ...]
    """Card -> points, an ace high (R81, R121)."""
    low_ace: int
    """R82."""
    hand_ace: int
    """R82; R148 for games in which the winner takes the hands."""

    def __deepcopy__(self, memo: dict[int, Any]) -> RumRules:
        return self  # never changed: a copied game has the same

    @property
    def shuffled(self) -> tuple[int, ...]:
        """The cards that are dealt from: all but the dealer's joker (R176)."""
        if self.dealers_joker:
            return tuple(card for card in self.cards if card != DEALERS_JOKER)
        return self.cards

    def size(self, players: int) -> int:
        """R12: cards for each of so many players."""
        return hand_size(self.hand_size, players)

    def deepest_needs_meld(self, taken: int) -> bool:
        """Whether the deepest of ``taken`` cards must go into a new meld (R123, R162)."""
        return self.deepest_use == "new_meld" or (self.deepest_use == "short_layoff" and taken > 2)

    def has_duty(self, taken: int) -> bool:
        """Whether taking so many cards obliges to put the deepest on the table (R23, R122, R123)."""
        return taken > 1 or self.top_duty


def rum_rules(settings: Settings) -> RumRules:
    value: dict[str, Any] = dict(settings.values)
    seats = settings.seats
    packs = pack_count(value["packs"], seats)
    cards = pack_cards(packs=packs, jokers_per_pack=value["jokers_per_pack"])
    low_ace = 1 if value["card_values"] == "face" else 5
    winner_takes = value["scoring"] == "winner_takes_hands"
    floats = value["going_out"] in ("floating", "unplayable_discard")
    named = {name: value[name] for name in RumRules.__dataclass_fields__ if name in value}
    return RumRules(
        **named,
        settings=settings,
        game=settings.game,
        seats=seats,
        melds=MeldRules(
            high_ace=value["ace"] == "high_or_low",
            corner=value["round_the_corner"],
            min_run=value["min_run"],
            wild=value["jokers_wild"],
        ),
        cards=cards,
        card_count=cards[-1] + 1,
        side_of=tuple(seat % 2 if value["partnership"] else seat for seat in range(seats)),
        top_duty=value["top_card"] == "must_meld"
        # R123 holds although the top card is free by default; where the preset says must_meld and somebody
        # chose free, that choice is R162's variation.
        or (value["deepest_use"] == "new_meld" and BY_NAME["top_card"].default_in(settings.game) == "free"),
        floats=floats,
        challenge=value["unplayable_enforcement"] == "challenge",
        strict_end=value["going_out"] == "unplayable_discard" and value["unplayable_enforcement"] == "strict",
        any_use=value["deepest_use"] == "any"
        and value["going_out"] != "discard_required"
        and value["jokers_wild"],
        windows=value["calling"] != "off" or value["out_of_turn_melds"],
        values=_values(value["card_values"] == "face", value["joker_value"]),
        low_ace=low_ace,
        hand_ace=low_ace if winner_takes and value["ace"] == "low" else 15,
    )


def _values(face: bool, joker: int) -> tuple[int, ...]:
    """R81, R121, R161: by card number; aces are high here."""
    ranks = [15, *((rank if face else 5) for rank in range(2, 10)), 10, 10, 10, 10]
    naturals = [ranks[card % 13] for card in range(2 * PACK)]
    return (*naturals, *[joker] * (UNIVERSE - 2 * PACK))
