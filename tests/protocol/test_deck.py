"""One hand's deck from keys to openings, drops and second shuffles."""

from __future__ import annotations

from collections import Counter

import pytest

from protocol.deck import Deck, DeckState
from protocol.errors import LocalProtocolError
from protocol.hand_secret import HandSecret
from protocol.testing import DeckTable


def test_every_seat_learns_its_own_faces_and_nobody_learns_more() -> None:
    table = DeckTable(3)
    table.agree()
    table.shuffle(range(7))
    table.deal({0: 0, 1: 1, 2: 2, 3: 0, 4: None})
    faces = {seat: table.secrets[seat].faces() for seat in table.seats}
    assert [sorted(faces[seat]) for seat in table.seats] == [[0, 3], [1], [2]]
    assert [slot for slot in range(7) if table.deck.face(slot) is not None] == [4]
    dealt = [card for own in faces.values() for card in own.values()] + [table.deck.face(4)]
    assert len(set(dealt)) == 5
    assert set(dealt) <= set(range(7))


def test_an_opening_shows_everybody_what_its_owner_saw() -> None:
    table = DeckTable(3)
    table.agree()
    table.shuffle(range(6))
    table.deal({0: 1, 1: 1, 2: 2})
    seen = table.secrets[1].faces()
    assert table.open(1, [1]) == {1: seen[1]}
    assert table.deck.face(1) == seen[1]
    assert table.deck.face(0) is None
    assert table.secrets[1].faces() == {0: seen[0]}


@pytest.mark.parametrize("cards", [52, 54, 56, 108])
def test_a_pack_of_every_size_comes_out_whole(cards: int) -> None:
    table = DeckTable(2)
    table.agree()
    table.shuffle(range(cards))
    table.deal(dict.fromkeys(range(cards)))
    faces = [table.deck.face(slot) for slot in range(cards)]
    assert Counter(faces) == Counter(range(cards))
    assert faces != list(range(cards))


def test_a_second_shuffle_of_known_cards_goes_on_with_new_slots() -> None:
    table = DeckTable(2)
    table.agree()
    table.shuffle(range(5))
    table.deal(dict.fromkeys(range(5)))
    recycled = sorted(card for slot in (0, 1, 2) if (card := table.deck.face(slot)) is not None)
    table.shuffle(recycled)
    assert table.deck.slot_count == 8
    table.deal({5: 0, 6: 1, 7: None})
    mine, yours, open_face = table.secrets[0].faces()[5], table.secrets[1].faces()[6], table.deck.face(7)
    assert sorted([mine, yours, open_face]) == recycled  # type: ignore[type-var]


def test_cards_may_be_set_out_before_the_shuffle() -> None:
    table = DeckTable(2)
    table.agree()
    table.shuffle([255, 3, 17])
    table.deal(dict.fromkeys(range(3)))
    assert sorted(table.deck.face(slot) or 0 for slot in range(3)) == [3, 17, 255]


def test_the_joint_key_and_the_coin_come_from_all_seats() -> None:
    first, second = DeckTable(3, seed=b"a", table=bytes(32)), DeckTable(3, seed=b"a", table=bytes(32))
    second.secrets[2] = HandSecret(b"another seed of thirty-two bytes", second.entropy(), second.deck, 2)
    first.agree()
    second.agree()
    assert first.deck.keys.joint_key != second.deck.keys.joint_key
    assert first.deck.coin != second.deck.coin
    assert len(first.deck.coin) == 32


def test_the_shuffle_order_is_the_seats_clockwise_from_one_that_the_coin_names() -> None:
    starts = set()
    for number in range(24):
        table = DeckTable([1, 4, 6], seed=b"%d" % number)
        table.agree()
        order = table.deck.shuffle_order
        assert order in ((1, 4, 6), (4, 6, 1), (6, 1, 4))
        starts.add(order[0])
    assert starts == {1, 4, 6}


# --- drops -----------------------------------------------------------------------------------------------


def test_the_cards_of_a_dropped_seat_open_to_all_from_the_backups() -> None:
    table = DeckTable(4, threshold=3)
    table.agree()
    table.shuffle(range(9))
    table.deal({0: 0, 1: 1, 2: 2, 3: 3, 4: 2})
    lost = table.secrets[2].faces()
    kept = table.secrets[1].faces()
    table.drop(2)
    assert {slot: table.deck.face(slot) for slot in (2, 4)} == lost
    assert table.deck.face(1) is None
    assert table.secrets[1].faces() == kept


def test_the_survivors_finish_old_slots_and_shuffle_again_without_the_dropped_seat() -> None:
    table = DeckTable(4, threshold=3)
    table.agree()
    table.shuffle(range(6))
    table.deal({0: 2})
    table.drop(2)
    table.deal({1: 0, 2: None})
    assert set(table.secrets[0].faces()) == {1}
    opened = [table.deck.face(0), table.deck.face(2)]
    assert None not in opened
    before = table.step
    table.shuffle(sorted(card for card in opened if card is not None))
    assert table.step == before + 3  # three shuffles, not four
    table.deal({6: 1, 7: None})
    assert {table.secrets[1].faces()[6], table.deck.face(7)} == set(opened)


def test_a_drop_voids_the_shuffle_under_way_and_the_others_begin_again() -> None:
    table = DeckTable(4, threshold=3)
    table.agree()
    table.deck.begin_shuffle(range(4))
    first, second, *_ = table.deck.shuffle_order
    assert table.deck.shuffler == first
    body = table.secrets[first].shuffle(table.context(), table.entropy())
    table.deck.close_shuffle(first, body)
    table.drop(second)
    assert table.deck.state is DeckState.READY
    assert table.deck.slot_count == 0
    before = table.step
    table.shuffle(range(4))
    assert table.step == before + 3
    table.deal(dict.fromkeys(range(4)))
    assert sorted(table.deck.face(slot) or 0 for slot in range(4)) == [0, 1, 2, 3]


def test_an_abandoned_shuffle_leaves_no_slots() -> None:
    table = DeckTable(2)
    table.agree()
    before = table.deck.digest()
    table.deck.begin_shuffle(range(4))
    assert table.deck.digest() != before
    table.deck.abandon_shuffle()
    assert table.deck.digest() == before


def test_fewer_holders_than_the_threshold_restore_nothing() -> None:
    table = DeckTable(4, threshold=3)
    table.agree()
    table.shuffle(range(4))
    table.deal({0: 2})
    table.deck.drop(2)
    bodies = {seat: table.secrets[seat].restore(2) for seat in (0, 1)}
    before = table.deck.digest()
    with pytest.raises(LocalProtocolError, match="3 backup shares are needed, 2 are there"):
        table.deck.close_restore(2, bodies)
    assert table.deck.digest() == before
    assert table.deck.face(0) is None


def test_restoring_twice_changes_nothing() -> None:
    table = DeckTable(4, threshold=3)
    table.agree()
    table.shuffle(range(4))
    table.deal({0: 2})
    table.drop(2)
    before = table.deck.digest()
    table.deck.close_restore(2, {seat: table.secrets[seat].restore(2) for seat in table.live()})
    assert table.deck.digest() == before


# --- the state machine -----------------------------------------------------------------------------------


def test_an_event_in_the_wrong_state_raises_and_changes_nothing() -> None:
    table = DeckTable(3, threshold=2)
    deck, context, entropy = table.deck, table.context(), table.entropy()
    commits = table.commits()

    def refuse(name: str, *args: object) -> None:
        before = deck.digest()
        with pytest.raises(LocalProtocolError):
            getattr(deck, name)(*args)
        assert deck.digest() == before, name

    def refuse_unless(*allowed: str) -> None:
        everything: dict[str, tuple[object, ...]] = {
            "check_commit": (context, 0, commits[0]),
            "close_commits": (commits,),
            "check_reveal": (context, 0, []),
            "close_reveals": ({},),
            "begin_shuffle": ((1, 2),),
            "check_shuffle": (context, 0, [], entropy),
            "close_shuffle": (0, []),
            "check_shares": (context, 0, [0], [], entropy),
            "close_shares": (0, [0], []),
            "check_opening": (context, 0, [0], [], entropy),
            "close_opening": (0, [0], []),
            "abandon_shuffle": (),
            "check_complaint": (context, 0, [], entropy),
            "close_complaint": (0, []),
            "drop": (0,),
            "check_restore": (context, 0, 1, []),
            "close_restore": (1, {}),
        }
        for name, args in everything.items():
            if name not in allowed:
                refuse(name, *args)

    refuse_unless("check_commit", "close_commits")
    deck.close_commits(commits)
    refuse_unless("check_reveal", "close_reveals")
    deck.close_reveals(table.reveals())
    always = ("abandon_shuffle", "check_complaint", "close_complaint", "drop", "check_restore")
    refuse_unless("begin_shuffle", "check_shares", "check_opening", *always)
    deck.begin_shuffle((1, 2))
    refuse_unless("check_shuffle", "close_shuffle", *always)


@pytest.mark.parametrize(
    ("seats", "threshold"), [((0,), None), ((0, 0), None), ((0, 1), 1), ((0, 1), 2), ((0, 1, 2), 3)]
)
def test_impossible_hands_are_refused(seats: tuple[int, ...], threshold: int | None) -> None:
    with pytest.raises(LocalProtocolError):
        Deck(bytes(32), 1, seats, threshold=threshold)


def test_wiping_a_hand_secret_ends_its_use() -> None:
    table = DeckTable(2)
    table.agree()
    table.shuffle(range(3))
    table.deal({0: 0})
    secret = table.secrets[0]
    assert set(secret.faces()) == {0}
    root = secret._root
    assert any(root)
    secret.wipe()
    assert root == bytes(64)
    for call in (
        secret.faces,
        lambda: secret.commit(table.context(), table.entropy()),
        lambda: secret.opening(table.context(), [0], table.entropy()),
    ):
        with pytest.raises(LocalProtocolError, match="wiped"):
            call()


def test_a_hand_secret_is_rebuilt_from_its_seed_and_the_deck() -> None:
    table = DeckTable(3, threshold=2)
    seed, identity = b"s" * 31 + b"1", b"i" * 31 + b"1"
    table.secrets[1] = HandSecret(seed, identity, table.deck, 1)
    table.agree()
    table.shuffle(range(4))
    table.deal({0: 1})
    again = HandSecret(seed, identity, table.deck, 1)
    assert again.faces() == table.secrets[1].faces()
