"""A sound player of Rummoli: what its hand is worth decides what it pays, and it never breaks its word.

* The widow: worth the chips that a hand of unknown cards earns on average, against what this hand earns.
* Poker: the chance to have the best hand, from hands dealt at random out of the cards it cannot see; it bets and calls
  by the odds that the pot gives.
* Stops: almost everything is forced.  Among equals it leads the suit in which it can play on longest, or which
  stops at once and so brings the lead back.  It claims whatever it wins.
* The end: it has had enough after ten rounds, or as soon as it is well ahead.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence

from p2p_rummy.bots.base import Stopped, legal_moves, never
from p2p_rummy.games.poker import HAND_SIZE, best_value
from p2p_rummy.games.rummoli import Rummoli
from p2p_rummy.games.rummoli_board import NEXT, PACK, PAY_CARDS
from p2p_rummy.games.rummoli_moves import parse
from protocol.game import Card, Faces, Game, Seat

DEALS = 40
"""Hands dealt at random to judge a poker hand."""
ENOUGH_ROUNDS = 10
PLAYED_OUT = 0.6
"""How often a pay card in hand is played before the round ends, roughly."""


class RummoliBot:
    """One player of Rummoli; ``seed`` makes its guesses repeatable."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)

    def choose(self, game: Game, seat: Seat, faces: Faces, *, stopped: Stopped = never) -> str:
        assert isinstance(game, Rummoli)
        legal = legal_moves(game, seat, faces)
        if len(legal) == 1:
            return legal[0]
        hand = [faces[slot] if slot in faces else game.cards.faces[slot] for slot in game.cards.hands[seat]]
        match game.phase:
            case "widow":
                return "swap" if "swap" in legal and self._gain(game, seat, hand) > 0 else "keep"
            case "auction":
                return self._bid(game, seat, hand, legal)
            case "bet":
                return self._bet(game, seat, hand, legal)
            case "show":
                return self._show(game, hand, legal)
            case "lead" | "follow":
                return self._play(game, hand, legal)
            case _:
                return self._vote(game, seat)

    # --- the widow --------------------------------------------------------------------------------------

    def _gain(self, game: Rummoli, seat: Seat, hand: Sequence[Card]) -> float:
        """What the unknown widow earns more than this hand, in chips.  The hand has no pay card, or it could not swap."""
        played = game.round
        assert played is not None
        pots = game.board.pots
        rivals = len(played.seats()) - 1
        size = len(game.cards.widow)
        chance = size / (len(PACK) - len(hand))
        single = sum(pots[name] for name in ("TS", "JD", "QC", "KH", "AS")) * chance
        pair = pots["AD+KD"] * chance * chance
        poker = pots["poker"] * (1 / (rivals + 1) - self._best_hand(hand, [size] * rivals))
        fewer = (len(hand) - size) * 0.5  # a card less is half a chip less owed, and sooner out
        return (single + pair) * PLAYED_OUT + poker + fewer

    def _bid(self, game: Rummoli, seat: Seat, hand: Sequence[Card], legal: list[str]) -> str:
        raised = [text for text in legal if text.startswith("bid ")]
        if raised and parse(raised[0]).amount <= self._gain(game, seat, hand) / 2:
            return raised[0]
        return "pass"

    # --- poker ------------------------------------------------------------------------------------------

    def _best_hand(self, hand: Sequence[Card], rivals: Sequence[int]) -> float:
        """The chance that ``hand`` beats hands of these sizes, dealt from the cards that it does not hold."""
        unseen = [card for card in PACK if card not in hand]
        own = best_value(hand)
        sizes = [max(size, HAND_SIZE) for size in rivals]
        won = 0
        for _ in range(DEALS):
            cards = self._rng.sample(unseen, min(sum(sizes), len(unseen)))
            for size in sizes:
                other, cards = cards[:size], cards[size:]
                if len(other) >= HAND_SIZE and best_value(other) < own:
                    break
            else:
                won += 1
        return won / DEALS

    def _bet(self, game: Rummoli, seat: Seat, hand: Sequence[Card], legal: list[str]) -> str:
        played = game.round
        assert played is not None
        assert played.betting is not None
        betting = played.betting
        rivals = [len(game.cards.hands[other]) for other in betting.left if other != seat]
        chance = self._best_hand(hand, rivals)
        fair = 1 / (len(rivals) + 1)
        raises = [text for text in legal if text.startswith(("bet ", "raise "))]
        if raises and chance > fair * 1.5:
            # The stronger, the more: all that the limit allows with a hand that wins nine times in ten.
            strength = min(1.0, (chance - fair) / (0.9 - fair)) if fair < 0.9 else 1.0
            return raises[min(len(raises) - 1, int(strength * len(raises)))]
        if "check" in legal:
            return "check"
        cost = betting.owes(seat)
        return "call" if chance * (game.board.pots["poker"] + cost) >= cost else "fold"

    def _show(self, game: Rummoli, hand: Sequence[Card], legal: list[str]) -> str:
        played = game.round
        assert played is not None
        assert played.betting is not None
        shown = played.betting.shown or {}
        beaten = any(best_value(five) < best_value(hand) for five in shown.values())
        return "muck" if beaten and "muck" in legal else legal[0]

    # --- stops ------------------------------------------------------------------------------------------

    def _play(self, game: Rummoli, hand: Sequence[Card], legal: list[str]) -> str:
        if "claim" in legal:
            return "claim"
        plays = [text for text in legal if text.startswith("play ")]
        if not plays:
            return legal[0]
        gone = self._gone(game)
        return max(plays, key=lambda text: _worth(text, gone, hand))

    def _gone(self, game: Rummoli) -> set[Card]:
        played = game.round
        assert played is not None
        assert played.stops is not None
        return {card for _, card in played.stops.played} | played.stops.dead

    def _vote(self, game: Rummoli, seat: Seat) -> str:
        chips = sorted(game.board.chips, reverse=True)
        ahead = game.board.chips[seat] == chips[0] and chips[0] >= 2 * chips[1]
        return "end" if game.rounds >= ENOUGH_ROUNDS or ahead else "pass"


def _worth(text: str, gone: Collection[Card], hand: Sequence[Card]) -> tuple[bool, int, bool, int]:
    """How good it is to play this: claims first, then many cards at once, then a suit that stops here."""
    move = parse(text)
    following = NEXT[move.cards[-1]]
    stops = following is None or following in gone
    pay_later = sum(card in PAY_CARDS for card in hand if card // 13 == move.cards[0] // 13)
    return move.claim, len(move.cards), stops, pay_later
