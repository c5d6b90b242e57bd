"""How many seats are enough, and whose turn it is to lead.

With N seats in an epoch, f = floor((N-1)/3) of them may lie and any number may be late.  A quorum is
q = ceil((N+f+1)/2) seats: two quorums share at least f+1 seats, so at least one that is honest.

=====  ==  ==  ==  ==  ==  ==  ==
N       2   3   4   5   6   7   8
f       0   0   1   1   1   2   2
q       2   2   3   4   4   5   6
=====  ==  ==  ==  ==  ==  ==  ==

At N = 2 nothing is ever decided alone.  At N = 3 one crash is survived, and a liar at worst leaves evidence.
From N = 4 up, agreement holds with f lying seats.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from protocol.errors import LocalProtocolError


def liars(seats: int) -> int:
    """f: how many lying seats ``seats`` seats bear."""
    if seats < 1:
        raise LocalProtocolError(f"an epoch has at least one seat, not {seats}")
    return (seats - 1) // 3


def quorum(seats: int) -> int:
    """q: how many of ``seats`` seats decide."""
    return (seats + liars(seats) + 2) // 2


def holders_for_safety(seats: int) -> int:
    """How many honest seats must hold a response before no decision can leave it out: N-q+1.

    The seats that do not hold it are then fewer than a quorum.
    """
    return seats - quorum(seats) + 1


def acknowledgements_for_safety(seats: int) -> int:
    """How many *other* seats must say that they hold a response before its author may be told that it is safe.

    The author is one holder; of the others as many as f may be lying about it: N-q+1+f holders in all.
    """
    return holders_for_safety(seats) + liars(seats) - 1


def arbiter_of(step: int, round: int, seats: Sequence[int], last: Collection[int] = ()) -> int:
    """The seat that leads ``round`` (from 1) of the decision about ``step``.

    The seats of the epoch take turns, beginning one further with every step.  Those in ``last`` (the discarder of a
    call window, who may not judge the calls on the discard) come after all others in each cycle.  They are not left out
    altogether: a seat may be the only one that can prove what has to be proposed, and it cannot cheat more than
    another arbiter can, since whoever holds a response refuses to see it omitted.
    """
    if round < 1:
        raise LocalProtocolError(f"rounds of a decision count from 1, not {round}")
    first = sorted(seat for seat in set(seats) if seat not in last)
    then = sorted(seat for seat in set(seats) if seat in last)
    if not first and not then:
        raise LocalProtocolError("an epoch without seats has no arbiter")
    turn = (round - 1) % (len(first) + len(then))
    group, at = (first, turn) if turn < len(first) else (then, turn - len(first))
    return group[(step + at) % len(group)]
