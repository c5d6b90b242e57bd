"""What a game says no to.  Three kinds of refused move, after python-chess, and one of refused table.

Every refusal carries its stable ``code`` (R250), the number of the ``rule`` it breaks, the ``cards`` concerned
and one English line that says what to do instead.  A refused move changes nothing (R251).
"""

from __future__ import annotations

from typing import Final

from protocol.game import Refused

CODES: Final = (
    "unreadable",
    "ambiguous",
    "wrong_phase",
    "calls_are_off",
    "discarder_may_not_call",
    "not_your_turn",
    "not_in_hand",
    "nothing_to_take",
    "stock_empty",
    "no_call_possible",
    "joker_needs_a_card",
    "joker_card_does_not_exist",
    "option_forbids",
    "duplicate_suit",
    "ace_round_the_corner",
    "not_a_meld",
    "does_not_fit",
    "may_not_discard_taken_card",
    "must_use_taken_card",
    "may_not_go_out",
    "bad_option",
)
"""All codes, the first two for text, the last for tables.  The faces' catalogues translate these."""

RUMMOLI_CODES: Final = (
    "pay_card_in_hand",
    "bid_too_low",
    "not_enough_chips",
    "bet_to_answer",
    "no_bet_to_answer",
    "no_more_raises",
    "over_the_limit",
    "must_show",
    "not_five_cards",
    "not_the_best_five",
    "nothing_to_claim",
    "must_play",
    "not_the_next_card",
    "wrong_colour",
    "not_the_lowest",
)
"""What only Rummoli refuses, in the order of its phases."""


class InvalidMove(Refused):
    """The text cannot be read as a move.  Correct the spelling; the message shows the form."""


class AmbiguousMove(Refused):
    """The text can be read in more than one way.  Write it out as the message shows."""


class IllegalMove(Refused):
    """A move that can be read and is not allowed now.  Choose another; the message says which rule it breaks."""


class OptionError(Refused):
    """An option, or a combination of options, that makes no table (R255).  Nobody has sat down yet.

    ``sentence`` is the English line with its ``values`` not yet filled in, so that the faces can translate it.
    """

    def __init__(self, code: str, sentence: str, *, rule: str = "", **values: object) -> None:
        super().__init__(code, sentence.format(**values), rule=rule)
        self.sentence = sentence
        self.values = values
