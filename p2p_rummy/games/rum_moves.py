"""Every move that a seat may make, as canonical text, knowing its own closed cards.

What is listed is what :mod:`p2p_rummy.games.rum_check` accepts, less two kinds of moves that are accepted but lead
nowhere new:

* moves after which a duty to use a taken card could no longer be met, so that only ``untake`` would be left (they
  depend on the closed hand, so nobody else can refuse them, R25); ``untake`` itself is listed only when nothing
  else is;
* one of several spellings of the same thing: the cards of a meld in another order, a suit for a joker in a group,
  and ``meld A + B`` where ``meld A`` and ``meld B`` do the same one after the other.  With an opening minimum
  the smallest sets of melds that reach it are listed.

Most turns have none of the restrictions that need a second look, and take the short way through.
"""

from __future__ import annotations

from collections.abc import Iterator

from p2p_rummy.cards import FIRST_JOKER, KIND_NAMES, NAMES, PACK
from p2p_rummy.games.rum_book import BITS, FIRST_PACK, SUIT
from p2p_rummy.games.rum_duty import GROUP_MATES, NO_WAY, chain_reaches, cheapest_use, ways_on
from p2p_rummy.games.rum_lay import extended, judge_call, judge_lay, judge_meld, playable, takes
from p2p_rummy.games.rum_openings import smallest_openings
from p2p_rummy.games.rum_rules import DEALERS_JOKER
from p2p_rummy.games.rum_table import (
    CHALLENGE,
    DRAW,
    FIRST_DISCARD,
    NAME,
    PLAY,
    UNKNOWN,
    WINDOW,
    Table,
)
from p2p_rummy.melds import JOKER_RANK, Meld, joker_claims, place, recognise
from p2p_rummy.notation import EFFECTS, RANK_ONLY, Move, claim_text, parse
from p2p_rummy.refusals import IllegalMove
from protocol.game import Card, Faces, Seat

DISCARDS = tuple(f"discard {name}" for name in NAMES)
TAKES = tuple(f"take {name}" for name in NAMES)
SPLITS = tuple(f"split {name}" for name in NAMES)
BLOCKS = tuple(f"block {name}" for name in NAMES)


def legal_moves(table: Table, seat: Seat, faces: Faces) -> list[str]:
    stage = table.stage
    if seat == table.turn:
        if stage == PLAY:
            return _plays(table, seat, faces)
        if stage == DRAW:
            return _draws(table, seat, faces)
        if stage == FIRST_DISCARD:
            return [DISCARDS[card] for card in _cards(table, seat, faces)]
        if stage == NAME:
            return [f"name {effect}" for effect in EFFECTS]
    elif stage in (WINDOW, CHALLENGE) and seat in table.asked and seat not in table.answers:
        return _answers(table, seat, faces)
    return []


def _cards(table: Table, seat: Seat, faces: Faces) -> list[Card]:
    face = table.face
    known = table.known[seat]
    if not known:
        return [faces[slot] for slot in table.hands[seat]]
    return [face[slot] if face[slot] >= 0 else faces[slot] for slot in table.hands[seat]]


# --- the draw -------------------------------------------------------------------------------------------


def _draws(table: Table, seat: Seat, faces: Faces) -> list[str]:
    moves = ["draw"] if table.stock or table.recyclable() else ["pass"]
    hand = _cards(table, seat, faces)
    if table.pile and not table.gave_back:
        _add_takes(table, seat, hand, moves)
    if table.rules.dealers_joker:
        if table.effect == "split" and seat == table.dealer and table.joker_free() and not table.gave_back:
            _add_splits(table, seat, hand, moves)
        _add_blocks(table, seat, hand, moves)
    return moves


def _add_takes(table: Table, seat: Seat, hand: list[Card], moves: list[str]) -> None:
    """R22, R23: from the top down, each card whose taking the seat can make good."""
    rules = table.rules
    pile = table.pile_cards
    top = pile[-1]
    bits = sum([BITS[card] for card in hand]) + BITS[top]
    if rules.top_duty:
        if _can_use(table, seat, bits, len(hand) + 1, top, need_meld=rules.deepest_needs_meld(1)):
            moves.append(TAKES[top])
    elif hand or playable(table, seat, top):
        moves.append(TAKES[top])
    if rules.take_depth == "top":
        return
    if _any_use_will_do(table, seat):
        _add_deep_takes(table, bits, moves)
        return
    for index in range(len(pile) - 2, -1, -1):
        card = pile[index]
        bits += BITS[card]
        taken = len(pile) - index
        need = rules.deepest_needs_meld(taken)
        if _can_use(table, seat, bits, len(hand) + taken, card, need_meld=need):
            moves.append(TAKES[card])


def _add_deep_takes(table: Table, bits: int, moves: list[str]) -> None:
    """:func:`_add_takes` below the top card where any use will do; the same answers, by masks alone."""
    pile = table.pile_cards
    if len(pile) < 2:
        return
    naturals = bits & FIRST_PACK | bits >> PACK & FIRST_PACK
    jokers = (bits >> FIRST_JOKER & 0xFF).bit_count()
    for card in pile[-2::-1]:
        if card >= FIRST_JOKER:
            jokers += 1
            if _joker_has_a_use(table, naturals, jokers):
                moves.append(TAKES[card])
        else:
            kind = card % PACK
            naturals |= 1 << kind
            if _has_a_use(table, naturals, jokers, kind):
                moves.append(TAKES[card])


def _has_a_use(table: Table, naturals: int, jokers: int, kind: int) -> bool:
    """Whether a natural card can be laid, now or after others, with these kinds and jokers in hand."""
    if table.fit_mask >> kind & 1 or _new_meld_holds(table, naturals, jokers, kind):
        return True
    suit, rank = divmod(kind, 13)
    runs = table.runs[suit]
    if not runs:
        return False
    rules = table.rules.melds
    if rules.corner:
        bits = naturals | ((1 << jokers) - 1) << FIRST_JOKER
        return cheapest_use(table.melds.values(), rules, bits, kind, need_meld=False) < NO_WAY
    return chain_reaches(runs, rules, naturals >> 13 * suit & SUIT, rank, jokers)


def _new_meld_holds(table: Table, naturals: int, jokers: int, kind: int) -> bool:
    if (naturals & GROUP_MATES[kind]).bit_count() + jokers >= 2:
        return True
    missing = ~naturals
    for places in table.windows[kind]:  # noqa: SIM110 - a generator would take twice as long
        if (places & missing).bit_count() <= jokers:
            return True
    return False


def _joker_has_a_use(table: Table, naturals: int, jokers: int) -> bool:
    """The same for a wild joker, itself among ``jokers``."""
    if (jokers >= 2 and naturals) or table.fit_mask:
        return True
    rules = table.rules.melds
    bits = naturals | 1 << FIRST_JOKER
    return cheapest_use(table.melds.values(), rules, bits, FIRST_JOKER, need_meld=False) < NO_WAY


def _add_splits(table: Table, seat: Seat, hand: list[Card], moves: list[str]) -> None:
    """R180: as a take, but even a single top card must be used."""
    bits = sum(BITS[card] for card in hand)
    pile = table.pile_cards
    for index in range(len(pile) - 1, -1, -1):
        card = pile[index]
        bits += BITS[card]
        taken = len(pile) - index
        need = table.rules.deepest_needs_meld(taken)
        if _can_use(table, seat, bits, len(hand) + taken, card, need_meld=need, splitting=True):
            moves.append(SPLITS[card])


def _can_use(
    table: Table, seat: Seat, bits: int, count: int, card: Card, *, need_meld: bool, splitting: bool = False
) -> bool:
    """Whether a hand (``bits``, ``count`` cards) holding the card could put it on the table and end its turn."""
    rules = table.rules
    spare = int(not splitting and _spare_joker(table, seat) > 0)
    keep = count - (rules.going_out == "discard_required")
    melds = table.melds.values()
    if table.may_lay_off(seat):
        return cheapest_use(melds, rules.melds, bits, card, need_meld=need_meld, spare=spare) <= keep
    extra = _spare_joker(table, seat) if spare else 0
    doubling = _may_double(table, seat) and not splitting
    for opening in smallest_openings(rules, bits, extra, doubling=doubling):
        left = keep - opening.from_hand
        if left < 0:
            continue
        if card in opening.cards:
            return True
        rest = bits - sum(BITS[other] for other in opening.cards if other != DEALERS_JOKER or not extra)
        still = int(spare and DEALERS_JOKER not in opening.cards)
        if cheapest_use(melds, rules.melds, rest, card, need_meld=need_meld, spare=still) <= left:
            return True
    return False


def _spare_joker(table: Table, seat: Seat) -> int:
    """The dealer's joker as a set of cards if this seat may use it as a wild card now, else 0."""
    if table.effect == "wild" and seat == table.dealer == table.turn and table.joker_free():
        return BITS[DEALERS_JOKER]
    return 0


def _may_double(table: Table, seat: Seat) -> bool:
    return table.effect == "double" and seat == table.dealer == table.turn and table.joker_free()


def _add_blocks(table: Table, seat: Seat, hand: list[Card], moves: list[str]) -> None:
    if table.joker_free() and len(hand) > 1:
        moves += [BLOCKS[card] for card in hand if card >= FIRST_JOKER]


# --- the play -------------------------------------------------------------------------------------------


def _plays(table: Table, seat: Seat, faces: Faces) -> list[str]:
    hand = _cards(table, seat, faces)
    bits = sum([BITS[card] for card in hand])
    rules = table.rules
    laying = _layings(table, seat, hand, bits)
    if table.must_use >= 0:
        meets = _meets_plain_duty if _any_use_will_do(table, seat) else _meets_duty
        laying = [text for text in laying if meets(table, seat, bits, len(hand), text)]
        return laying or ["untake"]
    top = table.taken_top
    if rules.going_out == "discard_required" or (top >= 0 and top in hand):
        laying = [text for text in laying if _leaves_an_end(table, seat, text, hand, faces)]
    if len(hand) == 1 and rules.strict_end:
        if not playable(table, seat, hand[0]) and hand[0] != top:
            laying.append(DISCARDS[hand[0]])
    elif top < 0:
        laying += [DISCARDS[card] for card in hand]
    else:
        laying += [DISCARDS[card] for card in hand if card != top]
    if rules.dealers_joker and table.joker_free() and len(hand) > 1:
        blocks = [BLOCKS[card] for card in hand if card >= FIRST_JOKER]
        laying += [text for text in blocks if len(hand) > 2 or _block_leaves_an_end(table, hand, text)]
    return laying or ["untake"]


def _layings(table: Table, seat: Seat, hand: list[Card], bits: int) -> list[str]:
    """Melds and lay-offs as far as opening and jokers allow them, going out not yet considered."""
    rules = table.rules
    extra = _spare_joker(table, seat) if rules.dealers_joker else 0
    if rules.opening_minimum and not table.may_lay_off(seat):
        doubling = _may_double(table, seat)
        return [opening.text for opening in smallest_openings(rules, bits, extra, doubling=doubling)]
    found = table.meld_book.melds(bits, extra)
    if rules.dealers_joker and _may_double(table, seat):
        found += [text + " double" for text in found]
    fitting = (bits & FIRST_PACK | bits >> PACK & FIRST_PACK) & table.fit_mask
    if fitting or ((bits | extra) >> FIRST_JOKER & 0xFF and table.melds):
        _add_layoffs(table, hand, extra, found)
    return found


def _add_layoffs(table: Table, hand: list[Card], extra: int, found: list[str]) -> None:
    fit_mask = table.fit_mask
    fits = table.fits
    for card in hand:
        if card >= FIRST_JOKER:
            _add_joker_layoffs(table, card, found)
        elif fit_mask >> card % PACK & 1:
            for number in fits[card % PACK]:
                found.append(f"lay {NAMES[card]} on {number}")
    if extra:
        _add_joker_layoffs(table, DEALERS_JOKER, found)


def _add_joker_layoffs(table: Table, joker: Card, found: list[str]) -> None:
    rules = table.rules.melds
    for number, meld in table.melds.items():
        if not rules.wild:
            if meld.rank == JOKER_RANK and len(meld.cards) < 4:
                found.append(f"lay {NAMES[joker]} on {number}")
            continue
        for claim in joker_claims(meld, rules):
            found.append(f"lay {NAMES[joker]}={claim_text(claim)} on {number}")


def _leaves_an_end(table: Table, seat: Seat, text: str, hand: list[Card], faces: Faces) -> bool:
    """R64, R126: only a move that leaves one card or none can fail, so only that is judged in full."""
    if len(hand) - (text.count(" ") if text.startswith("meld") else 1) > 1:
        return True  # there are as many blanks in a meld as cards, or more
    move = parse(text)
    openings = {slot: faces[slot] for slot in table.hidden(seat) if faces[slot] in move.cards}
    try:
        if move.verb == "meld":
            judge_meld(table, seat, move, openings)
        else:
            judge_lay(table, seat, move, openings)
    except IllegalMove:
        return False
    return True


def _block_leaves_an_end(table: Table, hand: list[Card], text: str) -> bool:
    """R64 for a block that leaves one card."""
    blocker = parse(text).card
    left = next(card for card in hand if card != blocker)
    if left != table.taken_top:
        return True
    if table.rules.going_out == "discard_required":
        return False
    return any(takes(meld, left, table.rules) for meld in table.melds.values())


def _any_use_will_do(table: Table, seat: Seat) -> bool:
    """No option restricts how the deepest card is used, so that masks alone tell whether it can be."""
    rules = table.rules
    if not rules.any_use or (rules.opening_minimum and not table.may_lay_off(seat)):
        return False
    return not (rules.dealers_joker and _spare_joker(table, seat))


def _meets_plain_duty(table: Table, seat: Seat, bits: int, count: int, text: str) -> bool:
    """:func:`_meets_duty` where any use will do: masks settle all but a few cases."""
    move = parse(text)
    card = table.must_use
    if move.as_set >> card & 1:
        return True
    if card < FIRST_JOKER:
        rest = bits & ~move.as_set
        kind = card % PACK
        naturals = rest & FIRST_PACK | rest >> PACK & FIRST_PACK
        jokers = (rest >> FIRST_JOKER & 0xFF).bit_count()
        if move.verb == "meld":
            # A new meld takes no place away: what can be laid now can be laid after it.
            if _has_a_use(table, naturals, jokers, kind):
                return True
            # So only the new meld itself could take the card: not without a card of its suit or rank.
            laid = move.as_set & FIRST_PACK | move.as_set >> PACK & FIRST_PACK
            if not laid & (GROUP_MATES[kind] | SUIT << 13 * (kind // 13)):
                return False
        elif _new_meld_holds(table, naturals, jokers, kind) or table.fits.get(kind, [])[:2] not in (
            [],
            [move.meld],
        ):
            return True
    return _meets_duty(table, seat, bits, count, text)


def _meets_duty(table: Table, seat: Seat, bits: int, count: int, text: str) -> bool:
    """R23: the move puts the card to its use, or leaves a way to do so."""
    move = parse(text)
    card = table.must_use
    rules = table.rules
    from_hand = len(move.cards) - (rules.dealers_joker and DEALERS_JOKER in move.cards)
    keep = count - from_hand - (rules.going_out == "discard_required")
    if keep < 0:
        return False
    if card in move.cards:
        return move.verb == "meld" or not table.must_meld
    rest = bits - sum(
        BITS[other] for other in move.cards if not (rules.dealers_joker and other == DEALERS_JOKER)
    )
    spare = int(_spare_joker(table, seat) > 0 and DEALERS_JOKER not in move.cards)
    melds = _melds_after(table, seat, move)
    return cheapest_use(melds, rules.melds, rest, card, need_meld=table.must_meld, spare=spare) <= keep


def _melds_after(table: Table, seat: Seat, move: Move) -> list[Meld]:
    rules = table.rules.melds
    if move.verb == "lay":
        old = table.melds[move.meld]
        claim, below = place(old, move.parts[0][0], rules)
        new = extended(old, move.card, claim, below=below)
        return [new if meld is old else meld for meld in table.melds.values()]
    melds = list(table.melds.values())
    for index, part in enumerate(move.parts):
        meld = Meld(0, recognise(part, rules), seat, [UNKNOWN] * len(part))
        meld.sealed = index == move.doubled
        melds.append(meld)
    return melds


# --- the window -----------------------------------------------------------------------------------------


def _answers(table: Table, seat: Seat, faces: Faces) -> list[str]:
    moves = ["pass"]
    rules = table.rules
    if rules.calling == "full" and table.stage == WINDOW:
        _add_calls(table, seat, moves)
    elif (
        (table.stage == CHALLENGE or rules.calling == "latest_only")
        and table.pile
        and table.may_lay_off(seat)
    ):
        _add_newest_calls(table, moves)
    if table.stage == WINDOW and (rules.out_of_turn_melds or rules.dealers_joker):
        hand = _cards(table, seat, faces)
        if rules.out_of_turn_melds:
            laying = _layings(table, seat, hand, sum(BITS[card] for card in hand))
            if rules.going_out == "discard_required":
                laying = [text for text in laying if len(parse(text).cards) < len(hand)]
            moves += laying
        _add_blocks(table, seat, hand, moves)
    return moves


def _add_newest_calls(table: Table, moves: list[str]) -> None:
    """R124, R132."""
    newest = table.pile_cards[-1]
    found: list[str] = []
    _add_layoffs(table, [newest], 0, found)
    moves += ["rummy" + text[3:] for text in found]


def _add_calls(table: Table, seat: Seat, moves: list[str]) -> None:
    """R102: what pile cards alone can do."""
    bits = table.pile_bits
    if table.melds and table.may_lay_off(seat):
        fitting = (bits & FIRST_PACK | bits >> PACK & FIRST_PACK) & table.fit_mask
        if bits >> FIRST_JOKER & 0xFF:
            for meld in table.melds.values():
                _add_chains(table, meld, moves)
        elif fitting:
            numbers: set[int] = set()
            while fitting:
                numbers.update(table.fits[(fitting & -fitting).bit_length() - 1])
                fitting &= fitting - 1
            for number in sorted(numbers):
                _add_chains(table, table.melds[number], moves)
    if len(table.pile) >= 3:
        found = table.call_book.melds(bits)
        if found and not table.may_lay_off(seat):
            found = [text for text in found if _call_is_possible(table, seat, text)]
        moves += found


def _call_is_possible(table: Table, seat: Seat, text: str) -> bool:
    try:
        judge_call(table, seat, parse(text))
    except IllegalMove:
        return False
    return True


def _add_chains(table: Table, meld: Meld, moves: list[str]) -> None:
    """Every set of pile cards that can be laid on one meld: downwards first, then upwards."""
    rules = table.rules.melds
    pile = table.pile_cards
    if meld.sealed:
        return
    if meld.kind == "group":
        for card in pile:
            if takes(meld, card, table.rules):
                claim = f"={claim_text(RANK_ONLY + meld.rank)}" if card >= FIRST_JOKER and rules.wild else ""
                moves.append(f"rummy {NAMES[card]}{claim} on {meld.id}")
        return
    copies: dict[int, list[Card]] = {}
    jokers: list[Card] = []
    for card in pile:
        if card >= FIRST_JOKER:
            jokers.append(card)
        elif card % PACK // 13 == meld.suit:
            copies.setdefault(card % PACK, []).append(card)
    up, down = ways_on(meld, rules)
    room = 13 - len(meld.cards)
    wild = jokers if rules.wild else []
    found: dict[str, None] = {}
    for below in _reachable(down, copies, wild):
        for above in _reachable(up, copies, wild):
            kinds = down[:below] + up[:above]
            if kinds and len(kinds) <= room and len(set(kinds)) == len(kinds):
                found.update(dict.fromkeys(_filled(kinds, copies, wild)))
    moves += [f"{text} on {meld.id}" for text in found]


def _reachable(way: list[int], copies: dict[int, list[Card]], jokers: list[Card]) -> range:
    missing = 0
    for length, kind in enumerate(way):
        missing += kind not in copies
        if missing > len(jokers):
            return range(length + 1)
    return range(len(way) + 1)


def _filled(kinds: list[int], copies: dict[int, list[Card]], jokers: list[Card]) -> Iterator[str]:
    def fill(place: int, free: tuple[Card, ...], text: str) -> Iterator[str]:
        if place == len(kinds):
            yield text
            return
        kind = kinds[place]
        for card in copies.get(kind, ()):
            yield from fill(place + 1, free, f"{text} {NAMES[card]}")
        for index, joker in enumerate(free):
            rest = free[:index] + free[index + 1 :]
            yield from fill(place + 1, rest, f"{text} {NAMES[joker]}={KIND_NAMES[kind]}")

    yield from fill(0, tuple(jokers), "rummy")
