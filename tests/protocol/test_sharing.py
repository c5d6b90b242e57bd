"""Backup shares: dealing, sealing, judging and rebuilding."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol import sharing
from protocol.errors import LocalProtocolError
from protocol.group import ORDER, secret_combination
from protocol.proofs import SecretStream
from protocol.sharing import Place

STREAM = SecretStream(b"sharing")
PLACE = Place(bytes(32), 1, 0, 2)
HOLDER_SECRET, EPHEMERAL_SECRET = 0xBEEF << 99, 0xCAFE << 77
HOLDER, EPHEMERAL = secret_combination(HOLDER_SECRET), secret_combination(EPHEMERAL_SECRET)
POINT = secret_combination(None, [(EPHEMERAL, HOLDER_SECRET)])


def seal(share: int, place: Place = PLACE) -> bytes:
    return sharing.seal(place, share, EPHEMERAL_SECRET, EPHEMERAL, HOLDER)


def test_a_share_worked_out_by_hand() -> None:
    """f(j) = 5 + 3 j + 2 j^2, and seat s has index s + 1: f(1) = 10, f(2) = 19, f(3) = 32."""
    coefficients = (5, 3, 2)
    assert [sharing.share_for(coefficients, seat) for seat in (0, 1, 2)] == [10, 19, 32]
    assert sharing.rebuild({0: 10, 1: 19, 2: 32}, 3) == 5


@settings(max_examples=20, deadline=None)
@given(st.integers(1, ORDER - 1), st.integers(2, 6), st.integers(0, 10))
def test_any_threshold_of_holders_rebuild_the_secret_and_fewer_do_not(
    secret: int, threshold: int, number: int
) -> None:
    coefficients = sharing.polynomial(secret, threshold, STREAM.derive(b"%d" % number))
    assert len(coefficients) == threshold
    shares = {seat: sharing.share_for(coefficients, seat) for seat in range(7)}
    for seats in list(combinations(range(7), threshold))[::5]:
        assert sharing.rebuild({seat: shares[seat] for seat in seats}, threshold) == secret
    few = {seat: shares[seat] for seat in range(threshold - 1)}
    with pytest.raises(LocalProtocolError, match=f"{threshold} backup shares are needed"):
        sharing.rebuild(few, threshold)
    if len(few) > 1:
        assert sharing.rebuild(few, threshold - 1) != secret


def test_rebuilding_takes_no_more_shares_than_it_needs() -> None:
    assert sharing.rebuild({0: 10, 1: 19, 2: 32, 3: 999}, 3) == 5


def test_shares_hold_against_the_commitments_of_their_own_polynomial_and_seat() -> None:
    coefficients = sharing.polynomial(77, 3, STREAM)
    commitments = sharing.commit(coefficients)
    assert commitments[0] == secret_combination(77)
    for seat in range(5):
        share = sharing.share_for(coefficients, seat)
        assert sharing.share_holds(commitments, seat, share)
        assert not sharing.share_holds(commitments, seat, share + 1)
        assert not sharing.share_holds(commitments, seat + 1, share)
        assert not sharing.share_holds(sharing.commit((77, 1, 1)), seat, share)


@pytest.mark.parametrize("share", [0, ORDER, -1, 2**256])
def test_n7_a_backup_share_of_zero_or_out_of_range_never_holds(share: int) -> None:
    assert not sharing.share_holds(sharing.commit((5, 3)), 0, share)


def test_n7_a_dealer_whose_share_would_be_zero_stops() -> None:
    with pytest.raises(LocalProtocolError, match="zero"):
        sharing.share_for((5, ORDER - 5), 0)


def test_a_threshold_below_two_is_refused() -> None:
    with pytest.raises(LocalProtocolError):
        sharing.polynomial(5, 1, STREAM)


# --- seals -----------------------------------------------------------------------------------------------


def test_a_sealed_share_opens_for_its_holder() -> None:
    sealed = seal(1234)
    assert len(sealed) == 48
    assert sharing.unseal(PLACE, sealed, EPHEMERAL, HOLDER, POINT) == 1234


def test_a_sealed_share_opens_nowhere_else() -> None:
    sealed, other = seal(1234), secret_combination(5)
    places = [
        Place(b"\x01" * 32, 1, 0, 2),
        Place(bytes(32), 2, 0, 2),
        Place(bytes(32), 1, 1, 2),
        Place(bytes(32), 1, 0, 3),
    ]
    for place in places:
        assert sharing.unseal(place, sealed, EPHEMERAL, HOLDER, POINT) is None
    assert sharing.unseal(PLACE, sealed, other, HOLDER, POINT) is None
    assert sharing.unseal(PLACE, sealed, EPHEMERAL, other, POINT) is None
    assert sharing.unseal(PLACE, sealed, EPHEMERAL, HOLDER, other) is None
    for at in range(48):
        changed = sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :]
        assert sharing.unseal(PLACE, changed, EPHEMERAL, HOLDER, POINT) is None


@pytest.mark.parametrize("share", [0, ORDER, 2**256 - 1])
def test_n7_a_sealed_value_that_is_no_scalar_counts_as_not_decrypting(share: int) -> None:
    assert sharing.unseal(PLACE, seal(share), EPHEMERAL, HOLDER, POINT) is None


def test_the_verdict_falls_on_the_dealer_of_a_bad_share_and_on_the_complainer_about_a_good_one() -> None:
    coefficients = sharing.polynomial(77, 2, STREAM)
    commitments = sharing.commit(coefficients)
    good = sharing.share_for(coefficients, PLACE.holder)
    verdicts = {
        "good": sharing.judge(PLACE, seal(good), EPHEMERAL, HOLDER, POINT, commitments),
        "off by one": sharing.judge(PLACE, seal(good + 1), EPHEMERAL, HOLDER, POINT, commitments),
        "not sealed": sharing.judge(PLACE, bytes(48), EPHEMERAL, HOLDER, POINT, commitments),
    }
    assert verdicts == {"good": PLACE.holder, "off by one": PLACE.dealer, "not sealed": PLACE.dealer}
