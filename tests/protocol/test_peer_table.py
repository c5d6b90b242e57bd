"""Whole peers: lobby, game, spectators, resumes.  In memory on a virtual clock, and once over real TCP."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from p2p_rummy.proxy import Weather, carry
from protocol import PROTOCOL_VERSION, wire
from protocol.errors import LocalProtocolError
from protocol.events import CardsSeen, GameOver, Halted, MoveMade, TableAgreed, TurnBegan
from protocol.game import Refused
from protocol.identity import Identity
from protocol.journal import read_log
from protocol.lobby import Offer, Proposed, RosterChanged, Started
from protocol.peer import (
    CannotJoin,
    CannotListen,
    Home,
    Table,
    host_table,
    join_table,
    watch_table,
)
from protocol.peer.memory import MemoryNetwork
from protocol.peer.mesh import call
from protocol.ticket import Address, BadTicket, Ticket, ticket_fingerprint
from protocol.wire import Purpose
from tests.protocol.peers import OFFER, Player, all_over, company, joining, resuming, seat_all, until
from tests.protocol.toy_game import toy_game

# --- a whole game --------------------------------------------------------------------------------------


async def test_three_peers_over_real_tcp_play_to_the_end_with_one_log(tmp_path: Path) -> None:
    async with company(tmp_path, 3) as (players, nursery):
        for player in players:
            player.thinks_seconds = 0
        opening = host_table(
            players[0].home, replace(OFFER, options=()), toy_game, name="P1", bind="127.0.0.1"
        )
        table = await nursery.start(players[0].play, opening)
        for player in players[1:]:
            opening = join_table(player.home, table.ticket, toy_game, name=player.name, bind="127.0.0.1")
            await nursery.start(player.play, opening)
        await all_over(players)
        assert len(read_log(players[0].table.log_path).records) > 20
        assert all(player.of(CardsSeen) for player in players)
        for player in players:
            assert player.home.tables()[0].over
            assert {name for _key, name in player.home.friends} == {"P1", "P2", "P3"} - {player.name}


async def test_events_come_in_the_order_of_a_game(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    async with company(tmp_path, 2) as (players, nursery):
        await seat_all(MemoryNetwork(), players, nursery)
        await all_over(players)
        for player in players:
            kinds = [type(event) for event in player.events]
            order = [RosterChanged, Proposed, Started, TableAgreed, CardsSeen, TurnBegan, MoveMade, GameOver]
            places = [kinds.index(kind) for kind in order]
            assert places == sorted(places)


async def test_w4_the_host_is_nobody_special_once_the_table_has_started(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    """The host leaves in mid-game; the others go on without it to the end."""
    async with company(tmp_path, 4) as (players, nursery):
        await seat_all(MemoryNetwork(), players, nursery)
        await until(lambda: players[1].of(MoveMade))
        players[0].scope.cancel()
        await all_over(players[1:])


# --- the lobby -----------------------------------------------------------------------------------------


async def test_a_guest_sees_who_is_there_and_what_is_offered(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    async with company(tmp_path, 2) as (players, nursery):
        network = MemoryNetwork()
        await seat_all(network, players, nursery, OFFER)
        await trio.sleep(1)
        for player in players:
            assert player.table.roster is not None
            assert player.table.roster.offer == OFFER
            assert [claim.name for claim in player.table.roster.claims] == ["P1", "P2"]
            assert not player.table.started
            with pytest.raises(LocalProtocolError, match="not started"):
                player.table.legal_moves()
        assert players[0].table.beacon is not None
        assert players[0].table.beacon.free == 1
        with pytest.raises(LocalProtocolError):
            assert players[1].table.ticket


async def test_the_host_may_begin_with_those_who_are_there(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    async with company(tmp_path, 2) as (players, nursery):
        await seat_all(MemoryNetwork(), players, nursery, replace(OFFER, seats=5))
        players[0].table.close_seats()
        await all_over(players)


async def refusal(opening: AbstractAsyncContextManager[Table]) -> CannotJoin:
    with pytest.raises(CannotJoin) as caught:
        async with opening:
            pytest.fail("seated")
    return caught.value


async def test_a_guest_that_is_refused_learns_why(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    async with company(tmp_path, 4) as (players, nursery):
        network = MemoryNetwork()
        ticket = await seat_all(network, players[:2], nursery, OFFER)
        late = players[3]

        error = await refusal(joining(network, late, ticket, name="P2"))
        assert (error.reason, str(error)) == (
            "name_taken",
            "somebody else here is called P2; choose another name",
        )

        def poor(offer: Offer) -> None:
            raise Refused("too_rich", "that target is too high for me")

        error = await refusal(joining(network, late, ticket, consent=poor))
        assert (error.reason, str(error)) == (
            "disagreement",
            "left the table: that target is too high for me",
        )
        await trio.sleep(1)
        assert players[0].table.roster is not None
        assert len(players[0].table.roster.claims) == 2

        await nursery.start(players[2].play, joining(network, players[2], ticket))
        await until(lambda: players[0].table.started)
        error = await refusal(joining(network, late, ticket))
        assert error.reason == "started"
        await all_over(players[:3])


async def test_an_agreement_that_cannot_be_played_here_gives_the_seat_back(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    def unknown(agreement: object) -> Any:
        raise Refused("unknown_game", "this program does not play that game")

    async with company(tmp_path, 2) as (players, nursery):
        network = MemoryNetwork()
        ticket = await seat_all(network, players[:1], nursery, replace(OFFER, seats=2))
        opening = join_table(players[1].home, ticket, unknown, name="P2", network=network.at(players[1].host))
        await nursery.start(players[1].play, opening)
        await until(lambda: players[1].of(Halted))
        assert players[1].of(Halted) == [
            Halted(reason="disagreement", message="left the table: this program does not play that game")
        ]
        await trio.sleep(1)
        assert not players[0].table.started
        assert players[0].table.roster is not None
        assert players[0].table.roster.free == 1


async def test_wrong_tickets_are_told_apart(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    async with company(tmp_path, 2) as (players, nursery):
        network = MemoryNetwork()
        ticket = await seat_all(network, players[:1], nursery, OFFER)
        guest = players[1]

        error = await refusal(joining(network, guest, replace(ticket, table=b"0123456789")))
        assert (error.reason, str(error)) == (
            "unknown_table",
            "no table of that ticket is open here; ask the host for a new ticket",
        )
        error = await refusal(joining(network, guest, replace(ticket, fingerprint=b"f" * 16)))
        assert error.reason == "wrong_key"
        error = await refusal(
            joining(network, guest, replace(ticket, addresses=(Address(host="10.0.0.1", port=1),)))
        )
        assert error.reason == "unreachable"
        assert "10.0.0.1:1: refused (nobody listens there)" in str(error)


async def test_f92_a_host_of_another_version_is_told_apart_with_both_versions(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with company(tmp_path, 2) as (players, nursery):
        network = MemoryNetwork()
        ticket = await seat_all(network, players[:1], nursery, OFFER)
        real = wire.Link

        def later(role: wire.Role, identity: Identity, **options: Any) -> wire.Link:
            return real(role, identity, version=PROTOCOL_VERSION + (role is wire.Role.DIALER), **options)

        monkeypatch.setattr(wire, "Link", later)
        error = await refusal(joining(network, players[1], ticket))
        assert error.reason == "version"
        assert f"the peer (p2p-rummy) speaks version {PROTOCOL_VERSION} of the protocol" in str(error)
        assert f"this side (p2p-rummy) speaks version {PROTOCOL_VERSION + 1}" in str(error)


async def test_a_guest_whose_network_blinks_in_the_lobby_keeps_its_place(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    async with company(tmp_path, 3) as (players, nursery):
        network = MemoryNetwork()
        ticket = await seat_all(network, players[:2], nursery, OFFER)
        for _ in range(5):
            network.reset("10.0.0.1", "10.0.0.2")
            await trio.sleep(3)
        await nursery.start(players[2].play, joining(network, players[2], ticket))
        await all_over(players)


async def test_w3_a_guest_behind_a_half_open_lobby_link_gets_its_place_back(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    async with company(tmp_path, 3) as (players, nursery):
        network = MemoryNetwork()
        ticket = await seat_all(network, players[:2], nursery, OFFER)
        await trio.sleep(1)
        for stream in network.streams:
            stream.lossy = True
        await trio.sleep(30)
        await nursery.start(players[2].play, joining(network, players[2], ticket))
        await all_over(players)


async def test_a_lobby_that_its_host_closes_is_over_for_the_guests(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    async with company(tmp_path, 2) as (players, nursery):
        await seat_all(MemoryNetwork(), players, nursery, OFFER)
        players[0].scope.cancel()
        await until(lambda: players[1].of(Halted))
        (halted,) = players[1].of(Halted)
        assert halted.reason == "leaving"
        assert "the host closed the table before it started" in halted.message


async def test_a_lobby_whose_host_vanishes_ends_after_a_while(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    async with company(tmp_path, 2) as (players, nursery):
        network = MemoryNetwork()
        await seat_all(network, players, nursery, OFFER)
        network.cut("10.0.0.1", "10.0.0.2")
        network.cut("10.0.0.2", "10.0.0.1")
        await until(lambda: players[1].of(Halted))
        assert "ask for a new ticket" in players[1].of(Halted)[0].message
        await trio.sleep(15)
        assert players[0].table.roster is not None
        assert players[0].table.roster.free == 2


async def test_a_port_in_use_is_said(autojump_clock: MockClock, no_threads: None, tmp_path: Path) -> None:
    async with company(tmp_path, 1) as (players, nursery):
        network = MemoryNetwork()
        ticket = await seat_all(network, players, nursery, OFFER)
        with (
            Home(tmp_path / "other") as other,
            pytest.raises(CannotListen, match="choose another with --port"),
        ):
            async with host_table(
                other,
                OFFER,
                toy_game,
                name="X",
                port=ticket.addresses[0].port,
                network=network.at("10.0.0.1"),
            ):
                pytest.fail("listening")


async def test_silent_guests_are_sent_away_and_a_crowd_is_refused(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    """Authenticated, and then not a word: gone after the time of a handshake; beyond 24 at once, refused."""
    async with company(tmp_path, 2) as (players, nursery):
        network = MemoryNetwork()
        ticket = await seat_all(network, players[:1], nursery, OFFER)
        reasons: list[str] = []

        async def sit_silently(number: int) -> None:
            connection = await call(
                network.at(f"10.1.0.{number}"),
                Identity(bytes([number]) * 32),
                ticket.addresses,
                table=ticket.table,
                purpose=Purpose.LOBBY,
                expects=lambda key: True,
                listening_port=0,
                numbers=itertools.count(),
            )

            async def ignore(kind: object, payload: bytes) -> None:
                pass

            reasons.append((await connection.run(ignore)).reason)

        for number in range(1, 31):
            nursery.start_soon(sit_silently, number)
        await trio.sleep(5)
        assert reasons == ["busy"] * 6
        await trio.sleep(10)
        assert len(reasons) == 30
        await nursery.start(players[1].play, joining(network, players[1], ticket))


# --- coming back ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("moment", [0, 1, 2, 3, 4, 5])
async def test_f21_f22_a_killed_peer_resumes_and_the_game_is_finished(
    autojump_clock: MockClock,
    no_threads: None,
    tmp_path: Path,
    killing: Callable[[Player], None],
    moment: int,
) -> None:
    """Killed after more and more steps; each time it comes back with the same seat and the same log."""
    async with company(tmp_path, 3) as (players, nursery):
        network = MemoryNetwork()
        await seat_all(network, players, nursery)
        victim = players[moment % 3]
        await until(lambda: victim.table.started and victim.table.step >= 4 * moment)
        killing(victim)
        await trio.sleep(2)
        await nursery.start(victim.play, resuming(network, victim))
        await all_over(players)
        assert victim.table.me == moment % 3


async def test_f26_all_restart_days_later_and_finish(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path, killing: Callable[[Player], None]
) -> None:
    async with company(tmp_path, 3) as (players, nursery):
        network = MemoryNetwork()
        await seat_all(network, players, nursery)
        await until(lambda: all(player.of(CardsSeen) for player in players))
        for player in players:
            killing(player)
        await trio.sleep(3 * 24 * 3600)
        name = players[0].table.name
        with trio.fail_after(600):
            for player in players:
                await nursery.start(player.play, resuming(network, player, name[:6]))
            await all_over(players)


async def test_a_resumed_peer_listens_where_it_did_and_elsewhere_if_that_is_taken(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path, killing: Callable[[Player], None]
) -> None:
    async with company(tmp_path, 2) as (players, nursery):
        network = MemoryNetwork()
        await seat_all(network, players, nursery)
        await until(lambda: players[1].of(CardsSeen))
        port = players[1].table.addresses[0].port
        killing(players[1])
        await trio.sleep(1)
        table = await nursery.start(players[1].play, resuming(network, players[1]))
        assert table.addresses[0].port == port
        killing(players[1])
        await trio.sleep(1)
        await network.at(players[1].host).listen(None, port)
        table = await nursery.start(players[1].play, resuming(network, players[1]))
        assert table.addresses[0].port != port
        await all_over(players)


async def test_f06_players_whose_addresses_all_changed_meet_again_by_a_ticket(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path, killing: Callable[[Player], None]
) -> None:
    async with company(tmp_path, 2) as (players, nursery):
        network = MemoryNetwork()
        await seat_all(network, players, nursery)
        await until(lambda: all(player.of(CardsSeen) for player in players))
        for player in players:
            killing(player)
            player.host = "10.5." + player.host.removeprefix("10.0.")
        await trio.sleep(1)
        one, other = players
        table = await nursery.start(one.play, resuming(network, one))
        await nursery.start(other.play, resuming(network, other, via=[table.ticket]))
        await all_over(players)


async def test_f06_a_ticket_of_nobody_at_the_table_is_refused_and_the_home_is_free_again(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path, killing: Callable[[Player], None]
) -> None:
    async with company(tmp_path, 3) as (players, nursery):
        network = MemoryNetwork()
        await seat_all(network, players[:2], nursery, replace(OFFER, seats=2))
        stranger = Ticket(
            table=b"t" * 10,
            fingerprint=ticket_fingerprint(players[2].home.identity.public_key),
            addresses=(Address(host="10.0.0.3", port=4000),),
        )
        await until(lambda: all(player.of(CardsSeen) for player in players[:2]))
        killing(players[1])
        await trio.sleep(1)
        with pytest.raises(BadTicket, match="of nobody who sits at this table"):
            async with resuming(network, players[1], via=[stranger]):
                pass
        await nursery.start(players[1].play, resuming(network, players[1]))
        await all_over(players[:2])


# --- a proxy between -------------------------------------------------------------------------------------


PROXY = Address(host="10.9.9.9", port=4100)


async def relay(network: MemoryNetwork, to: Address) -> None:
    """What connects to PROXY goes on to there."""
    (listener,), _ = await network.at(PROXY.host).listen(None, PROXY.port)
    async with trio.open_nursery() as nursery:
        while True:
            inside = await listener.accept()
            outside = await network.at(PROXY.host).dial(to)
            nursery.start_soon(carry, inside, outside, Weather(), random.Random(1))


async def test_all_goes_through_a_proxy_if_only_that_is_told(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    """Nobody learns another address from a link, and the other, who is unlisted, is never dialled."""
    async with company(tmp_path, 2) as (players, nursery):
        network = MemoryNetwork()
        host, guest = players
        offer = replace(OFFER, seats=2, options=(("hands", "2"), ("rounds", "1")))
        opening = host_table(
            host.home, offer, toy_game, name="P1", network=network.at(host.host), port=4000, only_at=[PROXY]
        )
        table = await nursery.start(host.play, opening)
        assert table.ticket.addresses == (PROXY,)
        nursery.start_soon(relay, network, Address(host=host.host, port=4000))
        await nursery.start(guest.play, joining(network, guest, table.ticket, only_at=[]))
        await until(lambda: guest.of(MoveMade))
        assert guest.table.addresses == ()
        with pytest.raises(LocalProtocolError, match="no ticket to give"):
            _ = guest.table.ticket
        network.reset(guest.host, PROXY.host)
        await all_over(players)
    assert {address for place, address in network.dials if place != PROXY.host} == {PROXY}
    assert {place for place, address in network.dials if address == PROXY} == {guest.host}


# --- spectators ----------------------------------------------------------------------------------------


async def test_a_spectator_sees_the_public_log_to_the_end_and_no_hand(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    async with company(tmp_path, 3) as (players, nursery):
        network = MemoryNetwork()
        await seat_all(network, players[:2], nursery, replace(OFFER, seats=2, options=()))
        await until(lambda: players[1].of(MoveMade))
        watcher = players[2]
        opening = watch_table(
            watcher.home, players[1].table.ticket, toy_game, network=network.at(watcher.host)
        )
        await nursery.start(watcher.play, opening)
        assert watcher.table.me is None
        await until(lambda: watcher.log)
        await all_over(players)
        assert watcher.of(CardsSeen) == []
        assert watcher.table.faces == {}


async def test_a_table_without_spectators_shows_nothing(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    async with company(tmp_path, 3) as (players, nursery):
        network = MemoryNetwork()
        await seat_all(network, players[:2], nursery, replace(OFFER, seats=2, spectators=False))
        await until(lambda: players[1].table.started)
        opening = watch_table(
            players[2].home, players[1].table.ticket, toy_game, network=network.at(players[2].host)
        )
        error = await refusal(opening)
        assert (error.reason, str(error)) == ("unknown_table", "there is nothing to watch here")
        await all_over(players[:2])


async def test_a_player_does_not_watch_its_own_table(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    async with company(tmp_path, 2) as (players, nursery):
        network = MemoryNetwork()
        await seat_all(network, players, nursery)
        await until(lambda: players[1].table.started)
        opening = watch_table(
            players[0].home, players[1].table.ticket, toy_game, network=network.at(players[0].host)
        )
        assert (await refusal(opening)).reason == "duplicate_key"
        await all_over(players)


async def test_a_game_that_is_over_says_so_when_it_is_opened_again(
    autojump_clock: MockClock, no_threads: None, tmp_path: Path
) -> None:
    async with company(tmp_path, 2) as (players, nursery):
        network = MemoryNetwork()
        await seat_all(network, players, nursery)
        await all_over(players)
        player = players[0]
        ended, log = player.over, player.log
        player.events.clear()
        await nursery.start(player.play, resuming(network, player, player.table.name))
        await until(lambda: len(player.events) >= 2)
        assert [type(event) for event in player.events[:2]] == [Started, GameOver]
        assert player.events[1] == ended
        await until(lambda: player.log)
        assert player.log == log
