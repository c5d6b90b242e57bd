"""A peer's home: who it is stays, whom it knows is judged by key, and damage is said."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from protocol.agreement import Agreement, claim
from protocol.errors import LocalProtocolError
from protocol.identity import Identity
from protocol.journal import Damaged, HomeInUse
from protocol.peer.home import Acquaintance, Home, NoSuchTable
from protocol.ticket import Address

ANN, BO = Identity(b"\x01" * 32), Identity(b"\x02" * 32)


def agreement(number: int = 0) -> Agreement:
    return Agreement(
        game="toy",
        rules_version=1,
        options=(),
        seats=(claim(ANN, "Ann", bytes([number]) * 32), claim(BO, "Bo", b"\x77" * 32)),
    )


def test_the_identity_is_made_once_and_kept(tmp_path: Path) -> None:
    with Home(tmp_path / "home") as home:
        first = home.identity.public_key
    with Home(tmp_path / "home") as home:
        assert home.identity.public_key == first
    with Home(tmp_path / "other") as other:
        assert other.identity.public_key != first


def test_nobody_else_may_read_the_home(tmp_path: Path) -> None:
    with Home(tmp_path / "home") as home:
        table = home.new_table(agreement())
        for path in (home.path / "identity", home.path / "tables", table.path, table.path / "agreement"):
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


def test_n38_the_seed_of_the_identity_is_shown_by_nothing_but_its_file(tmp_path: Path) -> None:
    with Home(tmp_path) as home:
        seed = (tmp_path / "identity").read_bytes()[24:56]
        assert Identity(seed).public_key == home.identity.public_key
        home.new_table(agreement())
        home.friends.remember(BO.public_key, "Bo")
        for path in tmp_path.rglob("*"):
            if path.is_file() and path.name != "identity":
                assert seed not in path.read_bytes()
        assert seed.hex() not in repr(home.identity)


def test_f30_a_second_process_on_one_home_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    with Home(tmp_path), pytest.raises(HomeInUse, match="--home DIR"):
        Home(tmp_path)
    Home(tmp_path).close()


def test_a_damaged_identity_is_not_replaced_silently(tmp_path: Path) -> None:
    Home(tmp_path).close()
    path = tmp_path / "identity"
    damaged = bytearray(path.read_bytes())
    damaged[30] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(Damaged, match="identity: a record that was changed"):
        Home(tmp_path)
    assert path.read_bytes() == bytes(damaged)
    # The lock was given up with the failure.
    path.unlink()
    Home(tmp_path).close()


# --- tables --------------------------------------------------------------------------------------------


def test_a_table_is_found_by_the_start_of_its_name(tmp_path: Path) -> None:
    with Home(tmp_path) as home:
        made = [home.new_table(agreement(number)) for number in range(3)]
        for table in made:
            assert home.table(table.name).agreement == table.agreement
            assert home.table(table.agreement.table.hex().upper()).path == table.path
        with pytest.raises(NoSuchTable, match="no table begins with 'xyz'; the latest in this home: "):
            home.table("xyz")
        with pytest.raises(NoSuchTable, match="begins"):
            home.table("")


def test_the_latest_unfinished_table_is_the_one_to_resume(tmp_path: Path) -> None:
    with Home(tmp_path) as home:
        with pytest.raises(NoSuchTable, match="no unfinished table"):
            home.table()
        first, second = home.new_table(agreement(1)), home.new_table(agreement(2))
        for path in first.path.iterdir():
            os.utime(path, (1, 1))
        assert home.table().name == second.name
        second.mark_over()
        assert home.table().name == first.name
        assert home.table(second.name).over


def test_an_agreement_under_another_name_is_damage(tmp_path: Path) -> None:
    with Home(tmp_path) as home:
        one, two = home.new_table(agreement(1)), home.new_table(agreement(2))
        (one.path / "agreement").write_bytes((two.path / "agreement").read_bytes())
        with pytest.raises(Damaged, match="another table"):
            home.table(one.name)
        assert [table.name for table in home.tables()] == [two.name]


def test_addresses_are_kept_and_lost_ones_are_merely_empty(tmp_path: Path) -> None:
    book = ((), (Address(host="10.0.0.2", port=4711), Address(host="2001:db8::2", port=4711)))
    with Home(tmp_path) as home:
        table = home.new_table(agreement())
        assert table.load_addresses() == (((), ()), 0)
        table.save_addresses(book, 4000)
        assert table.load_addresses() == (book, 4000)
        path = table.path / "addresses"
        whole = path.read_bytes()
        for at in range(len(whole)):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            assert table.load_addresses() == (((), ()), 0)


# --- friends -------------------------------------------------------------------------------------------


def test_a_known_name_with_another_key_stands_out(tmp_path: Path) -> None:
    with Home(tmp_path) as home:
        assert home.friends.judge(BO.public_key, "Bo") is Acquaintance.NEW
        home.friends.remember(BO.public_key, "Bo")
    with Home(tmp_path) as home:
        assert home.friends.judge(BO.public_key, "Bo") is Acquaintance.KNOWN
        assert home.friends.judge(BO.public_key, "Bob") is Acquaintance.RENAMED
        assert home.friends.judge(ANN.public_key, "Bo") is Acquaintance.ANOTHER_KEY
        assert home.friends.judge(ANN.public_key, "Ann") is Acquaintance.NEW
        home.friends.forget(BO.public_key)
        assert home.friends.judge(BO.public_key, "Bo") is Acquaintance.NEW
        with pytest.raises(LocalProtocolError):
            home.friends.forget(BO.public_key)


def test_a_key_that_takes_the_name_of_another_friend_stands_out_too(tmp_path: Path) -> None:
    with Home(tmp_path) as home:
        home.friends.remember(ANN.public_key, "Ann")
        home.friends.remember(BO.public_key, "Bo")
        assert home.friends.judge(BO.public_key, "Ann") is Acquaintance.ANOTHER_KEY


def test_a_damaged_list_of_friends_makes_everybody_new_and_stops_nothing(tmp_path: Path) -> None:
    with Home(tmp_path) as home:
        home.friends.remember(BO.public_key, "Bo")
    (tmp_path / "friends").write_bytes(b"\x00" * 50)
    with Home(tmp_path) as home:
        assert list(home.friends) == []
        home.friends.remember(BO.public_key, "Bo")
        assert list(home.friends) == [(BO.public_key, "Bo")]


def test_changed_terms_make_another_table(tmp_path: Path) -> None:
    with Home(tmp_path) as home:
        one = home.new_table(agreement())
        other = home.new_table(replace(agreement(), turn_ms=1))
        assert one.path != other.path
