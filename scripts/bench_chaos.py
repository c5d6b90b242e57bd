"""How fast whole tables are simulated: one four-player hand, with the real deck and with its stand-in.

Run alone: ``python scripts/bench_chaos.py``.
"""

from __future__ import annotations

import time

from bench_crypto import Row

from p2p_rummy.chaos import DeckName, Storm

HANDS = {"real": 2, "fast": 6}


def rows() -> list[Row]:
    found = []
    aims: tuple[tuple[DeckName, float], ...] = (("real", 2.0), ("fast", 0.2))
    for deck, aim_seconds in aims:
        hands = HANDS[deck]
        storm = Storm(hands=hands, deck=deck, bots="steady")
        start = time.process_time()
        outcome = storm.run(1)
        spent = (time.process_time() - start) / outcome.hands
        found.append(
            Row(
                f"a simulated hand, 4 players, {deck} deck",
                spent,
                "s",
                aim_seconds,
                1.0,
                f"CPU of one core; {outcome.steps // outcome.hands} steps a hand, {1 / spent:.1f} hands a second",
            )
        )
    return found


if __name__ == "__main__":
    from bench import show

    show(rows())
