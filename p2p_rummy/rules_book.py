"""The book that the rules of a table are read out of: every rule with its number and the tables where it comes up.

What holds whatever the options are stands here in words; where an option decides, the book has only the option's place,
and its words are those of the option table (:mod:`p2p_rummy.options`).  A sentence is its own name in the
catalogues (:mod:`p2p_rummy.catalogue`): change one, and its translations are to be made anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from p2p_rummy.options import Settings, Value, pack_count

Condition = Callable[[Settings], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the book; ``when`` says at which tables it comes up.

    ``tells``: the option whose one value it puts in words, where the option table's own would not do.
    """

    number: str
    text: str
    when: Condition = lambda _settings: True
    tells: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """The place of an option in the book: its value here is told in the option table's words."""

    name: str
    when: Condition = lambda _settings: True


def is_(name: str, *values: Value) -> Condition:
    return lambda settings: settings.values.get(name) in values


def not_(condition: Condition) -> Condition:
    return lambda settings: not condition(settings)


def both(*conditions: Condition) -> Condition:
    return lambda settings: all(condition(settings) for condition in conditions)


def jokers(settings: Settings) -> bool:
    count = settings.values.get("jokers_per_pack")
    return isinstance(count, int) and count > (settings.values.get("dealers_joker") is True)


def two_packs(settings: Settings) -> bool:
    return pack_count(settings.values.get("packs"), settings.seats) > 1


def opens(settings: Settings) -> bool:
    return settings.values.get("opening_minimum") != 0


WILD = both(jokers, is_("jokers_wild", True))
CALLS = is_("calling", "full", "latest_only")
FULL_CALLS = is_("calling", "full")
DEEP = is_("take_depth", "any")
FLOATS = is_("going_out", "floating", "unplayable_discard")
WINDOWED = is_("out_of_turn_melds", True)
MELDS_COUNT = is_("scoring", "melds_minus_hand")
DEALERS_JOKER = is_("dealers_joker", True)
CORNER = is_("round_the_corner", True)
RECYCLES = is_("recycle_stock", "turn_over", "reshuffle")

Entry = Rule | Option
Book = tuple[tuple[str, tuple[Entry, ...]], ...]
"""Sections, each with its title."""

RUM: Book = (
    (
        "Cards and deal",
        (
            Rule(
                "R1",
                "Cards are named rank and suit (7H, TS, AD); a second pack's copy is 7Hb, jokers are X1 to X8.",
            ),
            Option("partnership", is_("partnership", True)),
            Option("first_dealer"),
            Rule(
                "R15",
                "The deal passes clockwise after every hand.",
                is_("next_dealer", "left"),
                "next_dealer",
            ),
            Rule(
                "R169",
                "Who went out deals the next hand; if nobody did, who has the best score of the hand.",
                is_("next_dealer", "hand_winner"),
                "next_dealer",
            ),
            Option("deal_direction"),
            Option("first_discard"),
            Rule(
                "R14",
                "The seat left of the dealer has the first turn; turns go clockwise. No call comes before it.",
            ),
            Rule(
                "R16",
                "If the card turned up is a joker, it stays.",
                both(jokers, is_("first_discard", "turn_up")),
            ),
        ),
    ),
    (
        "The dealer's joker",
        (
            Rule("R176", "One joker lies open by the stock; the others are shuffled in.", DEALERS_JOKER),
            Rule(
                "R177",
                "Before anybody sees a card, the dealer names what it does: wild, double or split.",
                DEALERS_JOKER,
            ),
            Rule("R178", "wild: used once as a wild card in a meld or lay-off of the dealer.", DEALERS_JOKER),
            Rule(
                "R179",
                "double: laid on a meld that the dealer is making, it doubles and seals it.",
                DEALERS_JOKER,
            ),
            Rule(
                "R180",
                "split: with a draw from inside the pile, what lies below the named card is out of play.",
                DEALERS_JOKER,
            ),
            Rule(
                "R182",
                "A holder of another joker may lay it on the unused dealer's joker, which blocks it; not as the "
                "last card.",
                DEALERS_JOKER,
            ),
        ),
    ),
    (
        "The turn",
        (
            Rule("R20", "A turn is one draw, any number of melds and lay-offs, and one discard."),
            Rule("R21", "draw: the top card of the stock, unseen by the others."),
            Rule("R22", "take: the top card of the pile.", is_("top_card", "free")),
            Option("top_card"),
            Option("take_depth"),
            Rule(
                "R23",
                "The deepest card taken must be put on the table in the same turn, before the discard; melds and "
                "lay-offs may come first.",
                DEEP,
            ),
            Option("deepest_use", DEEP),
            Rule("R26", "The other cards taken stay in hand.", DEEP),
            Rule("R25", "Who cannot use the deepest card puts all of them back (untake) and draws.", DEEP),
            Rule("R28", "With an empty stock a seat takes from the pile, or passes.", not_(RECYCLES)),
            Option("recycle_stock"),
            Rule("R60", "The turn ends with one card face up on the pile."),
            Rule("R62", "Who took only the top card may not discard that very card in the same turn."),
        ),
    ),
    (
        "Melds",
        (
            Rule("R30", "A group: three or four cards of one rank, all of different suits."),
            Rule("R31", "With two packs a group still holds no suit twice.", two_packs),
            Rule("R32", "A run: three or more cards of one suit in a row.", is_("min_run", 3)),
            Option("min_run", is_("min_run", 4)),
            Option("ace"),
            Rule("R33", "An ace is never high and low in one run: K A 2 is none.", not_(CORNER)),
            Option("round_the_corner", CORNER),
            Rule("R34", "A run has at most 13 cards."),
            Rule("R35", "A card is in one meld only and stays there."),
            Rule("R36", "Nobody has to meld (but see the cards taken from the pile)."),
            Option("opening_minimum", opens),
            Option("opening_scope", opens),
            Rule("R254", "meld A B C + D E F lays several new melds in one move, all or none."),
        ),
    ),
    (
        "Jokers",
        (
            Rule("R40", "A joker is wild: it stands for a card that its player names.", WILD, "jokers_wild"),
            Rule(
                "R196",
                "Jokers are not wild: three or four of them make a group, and they meld with nothing else.",
                both(jokers, is_("jokers_wild", False)),
                "jokers_wild",
            ),
            Rule(
                "R40",
                "On laying a joker its player says what it stands for; this never changes in the hand.",
                WILD,
            ),
            Rule("R41", "In a run it stands for one exact card (X1=8H), in a group for a rank (X1=9).", WILD),
            Rule(
                "R44",
                "It may stand for a card that lies elsewhere, but not for one that cannot exist there.",
                WILD,
            ),
            Rule("R46", "The natural card neither replaces nor doubles it.", WILD),
            Rule("R47", "A meld has at least one natural card.", WILD),
            Rule("R48", "A joker may be laid off or discarded; in the pile it stands for nothing.", jokers),
        ),
    ),
    (
        "Laying off",
        (
            Rule(
                "R50",
                "In the play part of its turn a seat may lay cards on any meld, whoever made it.",
                not_(opens),
            ),
            Rule(
                "R50", "In the play part of its turn a seat that has opened may lay cards on any meld.", opens
            ),
            Rule(
                "R51",
                "On a group of three: the fourth card of the rank. On a run: the next card at either end.",
            ),
            Rule("R53", "Where a card fits several melds the player names one; it stays there."),
            Rule("R7", "Every card on the table counts for the seat that laid it.", MELDS_COUNT),
        ),
    ),
    (
        "Calling rummy",
        (
            Option("calling"),
            Rule(
                "R100",
                "After every turn that does not end the hand each other seat answers once: pass, or a call. All "
                "answers are sealed first and opened together.",
                CALLS,
            ),
            Rule(
                "R102",
                "A call takes a pile card that fits melds on the table, or pile cards that alone make a new meld.",
                FULL_CALLS,
            ),
            Rule(
                "R105",
                "The caller takes the deepest card named and all above it, and lays the named cards at once.",
                FULL_CALLS,
            ),
            Rule(
                "R106",
                "Then it plays on without a draw, and discards; the turn passes to the seat left of it.",
                FULL_CALLS,
            ),
            Option("call_conflict", CALLS),
            Rule("R110", "The caller's own discard opens a new window.", FULL_CALLS),
            Option("out_of_turn_melds", WINDOWED),
            Rule(
                "R211",
                "A call goes first; then what was laid is carried out clockwise from the discarder, and what has "
                "become impossible lapses.",
                WINDOWED,
            ),
            Rule("R214", "Nobody draws, takes or discards out of turn.", WINDOWED),
        ),
    ),
    (
        "The end of a hand",
        (
            Option("going_out"),
            Option("unplayable_enforcement", is_("going_out", "unplayable_discard")),
            Rule(
                "R128",
                "A floater draws and discards to end the hand, or lays everything and floats again.",
                FLOATS,
            ),
            Rule("R64", "Nothing may be laid after which a seat has no legal finish."),
            Rule("R71", "The last discard opens no window; nothing more is laid."),
            Option("stock_out", not_(RECYCLES)),
            Option("exhausted_rounds"),
        ),
    ),
    (
        "Scoring",
        (
            Option("scoring"),
            Option("card_values"),
            Rule(
                "R82",
                "An ace at the bottom of a run, before 2 and 3, counts 1.",
                both(MELDS_COUNT, is_("card_values", "face")),
            ),
            Rule(
                "R121",
                "An ace at the bottom of a run counts 5.",
                both(MELDS_COUNT, is_("card_values", "5_10_15")),
            ),
            Option("joker_value", jokers),
            Option("going_rummy_doubles", is_("going_rummy_doubles", True)),
            Option("four_at_once_doubles", is_("four_at_once_doubles", True)),
            Option("going_out_bonus", not_(is_("going_out_bonus", 0))),
            Option("rummy_master_bonus", not_(is_("rummy_master_bonus", 0))),
            Option("exhausted_scoring", MELDS_COUNT),
            Option("leaver"),
        ),
    ),
    (
        "The end of the game",
        (
            Option("target", not_(is_("target", None))),
            Option("win_rule", not_(is_("target", None))),
            Rule("R92", "A tie for the highest is played on.", not_(is_("target", None))),
            Option("max_hands", not_(is_("max_hands", None))),
            Option("game_bonus", not_(is_("game_bonus", 0))),
        ),
    ),
)

RUMMOLI: Book = (
    (
        "Chips and deal",
        (
            Option("start_chips"),
            Rule("R221", "Before each deal every player puts one chip in each of the nine pots: poker, TS, JD, QC, KH, AS, "
                 "AD+KD, 7-8-9 of one suit, and the centre."),
            Rule("R222", "All 52 cards are dealt one at a time; hands may differ by one."),
            Option("widow", is_("widow", True)),
            Rule("R222", "No extra hand is dealt.", is_("widow", False), "widow"),
            Rule("R223", "The dealer may swap with the widow unseen, but not holding TS JD QC KH AS AD or KD.",
                 is_("widow", True)),
            Rule("R224", "Otherwise the others may bid for it, clockwise; a bid rises by at least 1, a pass is final. The "
                 "highest pays the dealer and swaps.", is_("widow", True)),
        ),
    ),
    (
        "Poker",
        (
            Rule("R225", "Five best cards of each hand; the dealer's left begins. Check or bet, then bet, call, raise (at "
                 "most three times) or fold. The best hand wins the pot; a lone survivor wins unseen."),
            Option("bet_limit"),
            Rule("R225", "Equal hands share; the odd chip and the lead go to the nearest left of the dealer."),
        ),
    ),
    (
        "The stops",
        (
            Rule("R226", "The poker winner leads his lowest card."),
            Rule("R227", "The holder of the next higher card of that suit must play it, and so on."),
            Rule("R228", "When nobody holds it, or an ace was played, the last player leads his lowest of the other colour."),
            Rule("R229", "If he has none, the first player clockwise who has that colour leads."),
            Rule("R230", "If nobody has it, every player pays a chip per card held into the centre; the round ends."),
            Rule("R231", "TS, JD, QC, KH and AS win their pots; KD and AD by one player theirs; 7, 8, 9 of one suit by one "
                 "player theirs."),
            Option("claim"),
            Rule("R232", "The first without cards wins the centre and a chip from each other for each card left."),
            Rule("R236", "A word about one's hand that was not true voids the round when the hands are opened, and is "
                 "shown to all."),
        ),
    ),
    (
        "The end of the game",
        (
            Rule("R233", "Pots not won stay and grow; the deal passes clockwise."),
            Option("max_rounds", not_(is_("max_rounds", None))),
            Rule(
                "R234",
                "The game ends when all agree to it, or when only one player has chips left.",
                is_("max_rounds", None),
                "max_rounds",
            ),
            Option("final"),
            Rule("R235", "Most chips win. Who cannot pay the ante sits out."),
            Option("leaver"),
        ),
    ),
)  # fmt: skip
