"""Uniformity and secrecy: N36 to N39 of the negative list, at the level of the deck."""

from __future__ import annotations

import copy
import pickle
from itertools import combinations
from math import exp, factorial

import pytest

from protocol import sharing
from protocol.deck import Deck
from protocol.errors import LocalProtocolError, VerificationError
from protocol.group import ORDER, Point, negate, public_combination
from protocol.hand_secret import HandSecret
from protocol.shuffle import card_point
from protocol.testing import DeckTable

# --- N36: uniformity -------------------------------------------------------------------------------------

CARDS, ROUNDS = 5, 10_000
FALSE_ALARM = 1e-6


def chance_of(counts: list[list[int]]) -> float:
    """The probability of counts at least this uneven, if every card is equally likely everywhere.

    Each shuffle is a permutation, so rows and columns of ``counts`` have fixed sums; the statistic is then n / (n - 1)
    times a chi-square with (n - 1)^2 = 16 degrees of freedom, whose tail has a closed form.
    """
    expected = ROUNDS / CARDS
    statistic = sum((count - expected) ** 2 / expected for row in counts for count in row)
    half = statistic * (CARDS - 1) / CARDS / 2
    return exp(-half) * sum(half**k / factorial(k) for k in range((CARDS - 1) ** 2 // 2))


def test_n36_one_honest_shuffler_makes_every_position_uniform() -> None:
    """The others shuffle by fixed permutations; one draws as every peer does.  10,000 shuffles."""
    table = DeckTable(2, seed=b"uniform")
    secret = table.secrets[0]
    before, after = [2, 0, 1, 4, 3], [4, 3, 2, 1, 0]  # the cheats', before and after the honest seat
    counts = [[0] * CARDS for _ in range(CARDS)]
    for _ in range(ROUNDS):
        stream = secret._fresh("shuffle", table.context(), table.entropy(), b"inputs")
        honest = stream.permutation("pi", CARDS)
        # Output i of a shuffle is its input order[i]: compose from the last to the first.
        for position in range(CARDS):
            counts[before[honest[after[position]]]][position] += 1
    assert sum(counts[0]) == sum(row[0] for row in counts) == ROUNDS
    assert chance_of(counts) > FALSE_ALARM
    # The test bites: leaving the deck unshuffled once in twenty times is found out.
    uneven = [[count * 19 // 20 for count in row] for row in counts]
    for position in range(CARDS):
        uneven[before[after[position]]][position] += ROUNDS // 20
    assert chance_of(uneven) < FALSE_ALARM


def test_n36_the_order_of_the_slots_is_the_one_that_was_drawn() -> None:
    """Ties the permutations above to what the cryptography deals."""
    table = DeckTable(2, seed=b"order")
    table.agree()
    table.deck.begin_shuffle(range(CARDS))
    order = list(range(CARDS))
    while (seat := table.deck.shuffler) is not None:
        entropy = table.entropy()
        key, inputs = (
            table.deck.keys.joint_key.encoded,
            b"".join(pair.a.encoded + pair.b.encoded for pair in table.deck.current),
        )
        twin = copy_of(table, seat)
        drawn = twin._fresh("shuffle", table.context(), entropy, key, inputs).permutation("pi", CARDS)
        body = table.secrets[seat].shuffle(table.context(), entropy)
        table.deck.close_shuffle(seat, body)
        order = [order[source] for source in drawn]
    table.deal(dict.fromkeys(range(CARDS)))
    assert [table.deck.face(slot) for slot in range(CARDS)] == order


def copy_of(table: DeckTable, seat: int) -> HandSecret:
    twin = HandSecret(b"s" * 31 + b"x", b"i" * 31 + b"x", table.deck, seat)
    twin._root[:] = table.secrets[seat]._root
    return twin


# --- N37: what a coalition can see -----------------------------------------------------------------------


def keys_that_a_coalition_can_try(table: DeckTable, coalition: tuple[int, ...], target: int) -> set[int]:
    """Guesses for the target's key share from all that the coalition holds of it."""
    secrets = table.secrets
    shares = {seat: secrets[seat]._backup_share(target) for seat in coalition}
    held = {seat: share for seat, share in shares.items() if share is not None}
    guesses = {0, *held.values(), sum(held.values()) % ORDER}
    guesses |= {secrets[seat]._card_secret() for seat in coalition}
    guesses |= {secrets[seat]._sealing_secret() for seat in coalition}
    for size in range(1, len(held) + 1):
        for some in combinations(held, size):
            guesses.add(sharing.rebuild({seat: held[seat] for seat in some}, size))
    return guesses


def faces_found(table: DeckTable, coalition: tuple[int, ...], slot: int, target: int) -> set[int]:
    """The cards that the coalition's guesses make of ``slot``, for which ``target``'s share is missing."""
    deck, cards = table.deck, {card_point(card): card for card in range(9)}
    pair = deck.ciphertext(slot)
    found = set()
    for guess in keys_that_a_coalition_can_try(table, coalition, target):
        known = [share for seat, share in deck._shares[slot].items() if seat != target]
        missing = [seat for seat in coalition if seat not in deck._shares[slot]]
        exponent = guess + sum(table.secrets[seat]._card_secret() for seat in missing)
        point = public_combination([(pair.a, -exponent)], [pair.b, *map(negate, known)])
        if point in cards:
            found.add(cards[point])
    return found


@pytest.fixture(scope="module")
def dealt() -> DeckTable:
    table = DeckTable(5, threshold=4, seed=b"coalition")
    table.agree()
    table.shuffle(range(9))
    table.deal({0: 0, 1: 1, 2: 2, 3: 3, 4: 4})
    return table


@pytest.mark.parametrize("size", [1, 2, 3])
def test_n37_a_coalition_below_the_threshold_sees_no_closed_face(dealt: DeckTable, size: int) -> None:
    tried = 0
    for coalition in combinations(dealt.seats, size):
        for target in set(dealt.seats) - set(coalition):
            assert faces_found(dealt, coalition, target, target) == set()
            tried += 1
    assert tried == {1: 20, 2: 30, 3: 20}[size]


def test_n37_a_coalition_at_the_threshold_sees_what_it_is_said_to_see(dealt: DeckTable) -> None:
    """The attack of the test above works as soon as it may: four holders rebuild the fifth seat's key."""
    face = dealt.secrets[0].faces()[0]
    assert faces_found(dealt, (1, 2, 3, 4), 0, 0) == {face}


def test_n37_without_backups_all_others_together_see_nothing() -> None:
    table = DeckTable(4, seed=b"strict")
    table.agree()
    table.shuffle(range(9))
    table.deal({0: 0})
    pair, cards = table.deck.ciphertext(0), {card_point(card) for card in range(9)}
    known = [negate(share) for share in table.deck._shares[0].values()]
    guesses = [0, *(table.secrets[seat]._card_secret() for seat in (1, 2, 3))]
    points: set[Point | None] = {
        public_combination([(pair.a, -guess)], [pair.b, *known]) for guess in guesses
    }
    assert not points & cards
    own = public_combination([(pair.a, -table.secrets[0]._card_secret())], [pair.b, *known])
    assert own in cards


# --- N38: no secret leaves -------------------------------------------------------------------------------


def secrets_of(secret: HandSecret) -> list[bytes]:
    scalars = [secret._card_secret(), secret._sealing_secret(), *secret._polynomial()]
    return [bytes(secret._root), *(scalar.to_bytes(32, "big") for scalar in scalars)]


def test_n38_no_body_repr_or_error_contains_a_secret() -> None:
    table = DeckTable(4, threshold=3, seed=b"leak")
    said: list[object] = [*table.commits().values()]
    bodies = table.commits()
    table.deck.close_commits(bodies)
    reveals = table.reveals()
    table.deck.close_reveals(reveals)
    table.deck.begin_shuffle(range(5))
    shuffles = []
    while (seat := table.deck.shuffler) is not None:
        shuffles.append(table.secrets[seat].shuffle(table.context(), table.entropy()))
        table.deck.close_shuffle(seat, shuffles[-1])
    table.deal({0: 0, 1: 1, 2: None})
    opening = table.secrets[0].opening(table.context(), [0], table.entropy())
    said += [bodies, reveals, shuffles, opening, table.deck, table.secrets]
    secret = table.secrets[0]
    for call in (
        lambda: secret.opening(table.context(), [1], table.entropy()),
        lambda: secret.commit(table.context(), b""),
        lambda: table.deck.check_shares(table.context(), 0, [3], [b"", b""], table.entropy()),
    ):
        with pytest.raises((LocalProtocolError, VerificationError)) as caught:
            call()
        said += [str(caught.value), vars(caught.value)]
    text = repr(said)
    for own in table.secrets.values():
        for data in secrets_of(own):
            assert repr(data)[2:-1] not in text
            assert data.hex() not in text
            assert str(int.from_bytes(data, "big")) not in text


def test_n38_a_hand_secret_is_neither_pickled_nor_copied() -> None:
    secret = DeckTable(2).secrets[0]
    for leak in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="not pickled"):
            leak(secret)


# --- N39: a random source that fails or repeats ----------------------------------------------------------


@pytest.mark.parametrize("entropy", [b"", b"x" * 31, bytes(32), b"\xff" * 32, b"a" * 33])
def test_n39_failed_randomness_makes_nothing(entropy: bytes) -> None:
    table = DeckTable(2)
    secret = table.secrets[0]
    with pytest.raises(LocalProtocolError):
        secret.commit(table.context(), entropy)
    with pytest.raises(LocalProtocolError):
        HandSecret(entropy, table.entropy(), table.deck, 0)
    with pytest.raises(LocalProtocolError):
        HandSecret(table.entropy(), entropy, table.deck, 0)
    table.agree()
    table.deck.begin_shuffle(range(3))
    seat = table.deck.shuffler
    assert seat is not None
    with pytest.raises(LocalProtocolError):
        table.secrets[seat].shuffle(table.context(), entropy)
    table.deck.abandon_shuffle()
    table.shuffle(range(3))
    with pytest.raises(LocalProtocolError):
        secret.shares(table.context(), [0], entropy)


def test_n39_repeated_randomness_makes_nothing() -> None:
    table = DeckTable(2)
    table.agree()
    table.shuffle(range(3))
    entropy = table.entropy()
    secret = table.secrets[0]
    secret.shares(table.context(), [0], entropy)
    with pytest.raises(LocalProtocolError, match="repeats itself"):
        secret.shares(table.context(), [1], entropy)
    with pytest.raises(LocalProtocolError, match="repeats itself"):
        secret.shares(table.context(), [0], entropy)


def test_n39_even_a_source_that_repeats_over_a_restart_gives_no_nonce_twice() -> None:
    """Twins of one hand secret that see the same randomness: other statement, other nonce; same, same bytes."""
    table = DeckTable(2)
    table.agree()
    table.shuffle(range(4))
    entropy = table.entropy()
    later = table.context().__class__(table.table, table.hand, 0, table.step + 1)

    def proof(slots: list[int], context: object = None) -> tuple[bytes, bytes]:
        _, data = copy_of(table, 0).shares(context or table.context(), slots, entropy)  # type: ignore[arg-type]
        assert isinstance(data, bytes)
        return data[:33], data[66:]

    nonces = [proof([0])[0], proof([1])[0], proof([0, 1])[0], proof([1, 0])[0], proof([0], later)[0]]
    assert len(set(nonces)) == 5
    assert proof([0]) == proof([0])


def test_n39_two_hands_of_one_seed_share_no_secret() -> None:
    """A seed that is drawn twice by a broken source still gives other keys at another table, hand or seat."""
    seed, identity = b"s" * 31 + b"1", b"i" * 31 + b"1"
    secrets = {
        HandSecret(seed, identity, Deck(table, hand, (0, 1), threshold=None), seat)._card_secret()
        for table, hand, seat in ((b"t" * 32, 1, 0), (b"t" * 32, 2, 0), (b"u" * 32, 1, 0), (b"t" * 32, 1, 1))
    }
    other = HandSecret(seed, identity[::-1], Deck(b"t" * 32, 1, (0, 1), threshold=None), 0)
    assert len(secrets | {other._card_secret()}) == 5
