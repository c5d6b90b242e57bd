"""Backups that must be refused: N27 to N30 of the negative list, and complaints that attack somebody else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from protocol import sharing
from protocol.canonical import Value
from protocol.deck import COMPLAINT
from protocol.errors import LocalProtocolError, VerificationError
from protocol.group import ORDER, Point, encode_points, encode_scalar, secret_combination
from protocol.keyshare import EPHEMERAL_KEY, Backup, Reveal, commitment_digest
from protocol.proofs import SecretStream, Transcript, prove_equality, prove_possession
from protocol.testing import DeckTable

CHEAT, VICTIM = 1, 2
STREAM = SecretStream(b"cheat")


def revealing() -> DeckTable:
    """Four seats; the three others rebuild a key; the commitments are in."""
    table = DeckTable(4, threshold=3, seed=b"backup negatives")
    table.deck.close_commits(table.commits())
    table.step += 1
    return table


def cheating_reveal(table: DeckTable, change: Callable[[Reveal, Backup], Reveal]) -> list[Value]:
    body = table.secrets[CHEAT].reveal(table.context(), table.entropy())
    reveal = Reveal.from_value(body, threshold=3, holders=table.deck.keys.others(CHEAT))
    assert reveal.backup is not None
    return change(reveal, reveal.backup).to_value()


def with_backup(**changes: object) -> Callable[[Reveal, Backup], Reveal]:
    return lambda reveal, backup: replace(reveal, backup=replace(backup, **changes))  # type: ignore[arg-type]


def refuse_reveal(table: DeckTable, body: object, reason: str) -> None:
    before = table.deck.digest()
    with pytest.raises(VerificationError) as caught:
        table.deck.check_reveal(table.context(), CHEAT, body)
    assert (caught.value.reason, caught.value.seat) == (reason, CHEAT)
    assert table.deck.digest() == before


def table_with_bad_share(share: Callable[[tuple[int, ...]], int | None]) -> DeckTable:
    """Keys are out; CHEAT sealed ``share(coefficients)`` to VICTIM (None: bytes that do not decrypt)."""
    table = revealing()
    bodies = table.reveals()
    secret = 0xE << 200  # the cheat's ephemeral secret

    def change(reveal: Reveal, backup: Backup) -> Reveal:
        coefficients = table.secrets[CHEAT]._polynomial()
        ephemeral = secret_combination(secret)
        sealed = {
            holder: sharing.seal(
                table.deck.backup_place(CHEAT, holder),
                sharing.share_for(coefficients, holder),
                secret,
                ephemeral,
                table.deck.keys.sealing_key(holder),
            )
            for holder in backup.sealed
        }
        value = share(coefficients)
        sealed[VICTIM] = (
            bytes(48)
            if value is None
            else sharing.seal(
                table.deck.backup_place(CHEAT, VICTIM),
                value,
                secret,
                ephemeral,
                table.deck.keys.sealing_key(VICTIM),
            )
        )
        proof = prove_possession(Transcript(table.context(), EPHEMERAL_KEY, CHEAT), secret, ephemeral, STREAM)
        return replace(reveal, backup=Backup(backup.commitments, ephemeral, proof, sealed))

    bodies[CHEAT] = cheating_reveal(table, change)
    for seat, body in bodies.items():
        table.deck.check_reveal(table.context(), seat, body)
    table.deck.close_reveals(bodies)
    table.step += 1
    return table


# --- what is revealed ------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_n27_commitments_of_the_wrong_degree_are_refused(count: int) -> None:
    table = revealing()
    points = tuple(secret_combination(number) for number in range(1, count + 1))
    refuse_reveal(table, cheating_reveal(table, with_backup(commitments=points)), "bad_encoding")


def test_n28_commitments_whose_constant_term_is_not_the_key_share_are_refused() -> None:
    """The cheat has committed to these commitments, so only the constant term gives it away."""
    table = DeckTable(4, threshold=3, seed=b"backup negatives")
    bodies = table.commits()
    secrets = table.secrets[CHEAT]
    wrong = sharing.commit((secrets._card_secret() + 1, 5, 7))
    share = secret_combination(secrets._card_secret())
    digest = commitment_digest(table.table, table.hand, CHEAT, secrets._hand_nonce(), share, wrong)
    bodies[CHEAT] = [digest, *bodies[CHEAT][1:]]
    table.deck.close_commits(bodies)
    table.step += 1
    refuse_reveal(table, cheating_reveal(table, with_backup(commitments=wrong)), "bad_backup")


def test_commitments_changed_after_the_commit_are_refused() -> None:
    table = revealing()

    def change(reveal: Reveal, backup: Backup) -> Reveal:
        other = (*backup.commitments[:2], secret_combination(9))
        return replace(reveal, backup=replace(backup, commitments=other))

    refuse_reveal(table, cheating_reveal(table, change), "bad_reveal")


def test_ephemeral_key_copied_from_another_dealer_is_refused() -> None:
    """Otherwise a complaint about it would open that dealer's shares to everybody."""
    table = revealing()
    body = table.secrets[0].reveal(table.context(), table.entropy())
    stolen = Reveal.from_value(body, threshold=3, holders=table.deck.keys.others(0)).backup
    assert stolen is not None
    refuse_reveal(
        table, cheating_reveal(table, with_backup(ephemeral=stolen.ephemeral)), "bad_possession_proof"
    )
    both = with_backup(ephemeral=stolen.ephemeral, possession=stolen.possession)
    refuse_reveal(table, cheating_reveal(table, both), "bad_possession_proof")


@pytest.mark.parametrize("size", [0, 47, 48, 96, 145])
def test_sealed_shares_for_another_number_of_holders_are_refused(size: int) -> None:
    table = revealing()
    body = table.secrets[CHEAT].reveal(table.context(), table.entropy())
    refuse_reveal(table, [*body[:6], bytes(size)], "bad_encoding")


# --- complaints ------------------------------------------------------------------------------------------

BAD_SHARES: dict[str, Callable[[tuple[int, ...]], int | None]] = {
    "off the polynomial": lambda f: sharing.share_for(f, VICTIM) + 1,
    "for holder index 0, which is the key itself": lambda f: f[0],
    "for an index that another holder has": lambda f: sharing.share_for(f, 3),
    "of another polynomial": lambda f: sharing.share_for((f[0], 1, 1), VICTIM),
    "zero": lambda f: 0,
    "not decrypting": lambda f: None,
}


@pytest.mark.parametrize("kind", BAD_SHARES)
def test_n27_n29_bad_backup_share_is_found_by_its_holder_and_proven_to_all(kind: str) -> None:
    table = table_with_bad_share(BAD_SHARES[kind])
    before = table.deck.digest()
    for seat in (0, 3):
        assert table.secrets[seat].complaint(table.context(), table.entropy()) is None
    complaint = table.secrets[VICTIM].complaint(table.context(), table.entropy())
    assert complaint is not None
    assert table.deck.check_complaint(table.context(), VICTIM, complaint, table.entropy()) == CHEAT
    assert table.deck.close_complaint(VICTIM, complaint) == CHEAT
    assert table.deck.digest() == before
    # Whoever shuffles confirms its shares, so the victim does not.
    table.deck.begin_shuffle(range(3))
    while table.deck.shuffler != VICTIM:
        shuffler = table.deck.shuffler
        assert shuffler is not None
        table.deck.close_shuffle(shuffler, table.secrets[shuffler].shuffle(table.context(), table.entropy()))
    with pytest.raises(LocalProtocolError, match="complain"):
        table.secrets[VICTIM].shuffle(table.context(), table.entropy())


def complaint_with(table: DeckTable, seat: int, dealer: int, point: Point, secret: int) -> list[Value]:
    ephemeral = table.deck.keys.backup(dealer).ephemeral
    transcript = Transcript(table.context(), COMPLAINT, seat, dealer)
    key = table.deck.keys.sealing_key(seat)
    return [dealer, point.encoded, prove_equality(transcript, secret, key, [ephemeral], [point], STREAM)]


def agreed() -> DeckTable:
    table = DeckTable(4, threshold=3, seed=b"backup negatives")
    table.agree()
    return table


def test_n29_false_complaint_about_a_good_share_blames_the_complainer() -> None:
    table = agreed()
    secret = table.secrets[CHEAT]._sealing_secret()
    point = secret_combination(None, [(table.deck.keys.backup(VICTIM).ephemeral, secret)])
    body = complaint_with(table, CHEAT, VICTIM, point, secret)
    assert table.deck.check_complaint(table.context(), CHEAT, body, table.entropy()) == CHEAT
    assert table.deck.close_complaint(CHEAT, body) == CHEAT


def test_n29_complaint_with_a_false_opening_is_a_fault_of_the_complainer() -> None:
    """With a wrong point any share would look bad: the proof of equal logarithms refuses it."""
    table = agreed()
    secret = table.secrets[CHEAT]._sealing_secret()
    wrong = secret_combination(None, [(table.deck.keys.backup(VICTIM).ephemeral, secret + 1)])
    right = secret_combination(None, [(table.deck.keys.backup(VICTIM).ephemeral, secret)])
    good = complaint_with(table, CHEAT, VICTIM, right, secret)
    bodies: list[list[Value]] = [
        complaint_with(table, CHEAT, VICTIM, wrong, secret),
        complaint_with(table, CHEAT, VICTIM, wrong, secret + 1),
        [VICTIM, wrong.encoded, good[2]],
        [0, right.encoded, good[2]],
    ]
    for body in bodies:
        with pytest.raises(VerificationError) as caught:
            table.deck.check_complaint(table.context(), CHEAT, body, table.entropy())
        assert (caught.value.reason, caught.value.seat) == ("bad_equality_proof", CHEAT)


@pytest.mark.parametrize("dealer", [CHEAT, 7])
def test_n29_complaint_about_a_share_never_dealt_is_refused(dealer: int) -> None:
    table = agreed()
    with pytest.raises(VerificationError) as caught:
        table.deck.check_complaint(
            table.context(), CHEAT, [dealer, secret_combination(5).encoded, bytes(98)], table.entropy()
        )
    assert (caught.value.reason, caught.value.seat) == ("bad_complaint", CHEAT)


def test_a_complaint_where_no_backups_exist_is_refused() -> None:
    table = DeckTable(3)
    table.agree()
    with pytest.raises(VerificationError) as caught:
        table.deck.check_complaint(
            table.context(), CHEAT, [0, secret_combination(5).encoded, bytes(98)], table.entropy()
        )
    assert (caught.value.reason, caught.value.seat) == ("bad_complaint", CHEAT)
    assert table.secrets[CHEAT].complaint(table.context(), table.entropy()) is None


# --- restoring -------------------------------------------------------------------------------------------


def test_n30_share_for_a_seat_that_was_not_dropped_is_refused_and_never_given() -> None:
    table = agreed()
    share = table.secrets[CHEAT]._backup_share(VICTIM)
    assert share is not None
    before = table.deck.digest()
    with pytest.raises(VerificationError) as caught:
        table.deck.check_restore(table.context(), CHEAT, VICTIM, [encode_scalar(share)])
    assert (caught.value.reason, caught.value.seat) == ("not_dropped", CHEAT)
    with pytest.raises(LocalProtocolError, match="stays sealed"):
        table.secrets[CHEAT].restore(VICTIM)
    with pytest.raises(LocalProtocolError):
        table.deck.close_restore(VICTIM, {})
    assert table.deck.digest() == before


@pytest.mark.parametrize("value", ["off by one", "zero", "the order", "another holder's", "short"])
def test_n7_n30_wrong_backup_share_of_a_dropped_seat_is_refused(value: str) -> None:
    table = agreed()
    table.deck.drop(VICTIM)
    share = table.secrets[CHEAT]._backup_share(VICTIM)
    other = table.secrets[0]._backup_share(VICTIM)
    assert share is not None
    assert other is not None
    body = {
        "off by one": (share + 1).to_bytes(32, "big"),
        "zero": bytes(32),
        "the order": ORDER.to_bytes(32, "big"),
        "another holder's": other.to_bytes(32, "big"),
        "short": share.to_bytes(32, "big")[1:],
    }[value]
    before = table.deck.digest()
    with pytest.raises(VerificationError) as caught:
        table.deck.check_restore(table.context(), CHEAT, VICTIM, [body])
    assert caught.value.seat == CHEAT
    assert caught.value.reason in ("bad_backup_share", "bad_encoding")
    assert table.deck.digest() == before
    table.deck.check_restore(table.context(), CHEAT, VICTIM, [share.to_bytes(32, "big")])


def test_n30_rebuilt_key_that_does_not_match_the_key_share_is_refused() -> None:
    """Shares that were let past their check rebuild another key: the deck notices and stays as it was."""
    table = agreed()
    table.shuffle(range(4))
    table.deal({0: VICTIM})
    table.deck.drop(VICTIM)
    bodies = {seat: table.secrets[seat].restore(VICTIM) for seat in table.live()}
    bodies[CHEAT] = [encode_scalar(1)]
    before = table.deck.digest()
    with pytest.raises(VerificationError) as caught:
        table.deck.close_restore(VICTIM, bodies)
    assert caught.value.reason == "bad_key"
    assert table.deck.digest() == before
    assert table.deck.face(0) is None


def test_n27_a_holder_counts_once_however_often_it_gives() -> None:
    """Bodies are by seat, so an index cannot repeat; two holders are not three."""
    table = agreed()
    table.deck.drop(VICTIM)
    bodies = {seat: table.secrets[seat].restore(VICTIM) for seat in (0, CHEAT)}
    with pytest.raises(LocalProtocolError, match="3 backup shares are needed, 2 are there"):
        table.deck.close_restore(VICTIM, bodies)
    with pytest.raises(LocalProtocolError):  # the dropped seat itself is no holder
        table.deck.close_restore(VICTIM, bodies | {VICTIM: bodies[0]})


def test_a_dropped_seat_gives_nothing_any_more() -> None:
    table = agreed()
    table.shuffle(range(4))
    body = table.secrets[VICTIM].shares(table.context(), [0], table.entropy())
    table.drop(VICTIM)
    with pytest.raises(LocalProtocolError):
        table.deck.check_shares(table.context(), VICTIM, [0], body, table.entropy())
    with pytest.raises(LocalProtocolError):
        table.deck.close_shares(VICTIM, [0], body)


def test_points_of_a_backup_are_read_strictly() -> None:
    table = revealing()
    body = table.secrets[CHEAT].reveal(table.context(), table.entropy())
    assert isinstance(body[3], bytes)
    bad = encode_points([secret_combination(3)])[:-1] + b"\x00"
    for index, data in ((3, bytes(33) + body[3][33:]), (4, bytes(33)), (4, b""), (5, bytes(64))):
        changed = list(body)
        changed[index] = data
        refuse_reveal(table, changed, "bad_encoding")
    assert len(bad) == 33
