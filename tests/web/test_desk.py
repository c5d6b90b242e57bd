"""The desk: what a page is told when it opens, what is forwarded, and what comes back refused."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing

from p2p_rummy.catalogue import _
from p2p_rummy.complaint import Complaint
from p2p_rummy.options import OPTIONS
from p2p_rummy.web.desk import Desk
from p2p_rummy.web.http import Outbox
from p2p_rummy.web.rules import table_rules
from protocol import events

Open = Callable[[], Any]


def read(outbox: Outbox) -> list[dict[str, Any]]:
    """All messages that wait in the box."""
    messages = [json.loads(text) for text in outbox._waiting]
    outbox._waiting.clear()
    return messages


@pytest.fixture
def at_table(rehearsal: Any) -> Open:
    @asynccontextmanager
    async def opened(**arguments: Any) -> AsyncIterator[tuple[Any, Desk, Outbox]]:
        table = rehearsal.Rehearsal(seats=2, coins=[rehearsal.coin_for(dealer=1, seats=2)], **arguments)
        desk = Desk()
        table.faces.append(desk.sit(table.places[0]))
        outbox = Outbox(500)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(desk.run)
            nursery.start_soon(table.run)
            await trio.testing.wait_all_tasks_blocked()
            desk.attach(outbox)
            yield table, desk, outbox
            nursery.cancel_scope.cancel()

    return opened


async def ask(desk: Desk, outbox: Outbox, **message: Any) -> dict[str, Any]:
    """The answer to one request."""
    read(outbox)
    await desk.handle({"id": 1, **message}, outbox)
    await trio.testing.wait_all_tasks_blocked()
    return next(item for item in read(outbox) if item["type"] == "reply")


async def test_a_page_that_opens_is_told_the_table_and_what_has_happened(at_table: Open) -> None:
    async with at_table() as (_, _desk, outbox):
        (greeting,) = read(outbox)
        assert greeting["type"] == "table"
        assert greeting["view"]["need"] == {"kind": "turn", "seats": [0]}
        assert len(greeting["view"]["hand"]) == 13
        assert greeting["happened"] == []


async def test_a_move_goes_to_the_table_and_its_view_to_every_page(at_table: Open) -> None:
    async with at_table() as (_, desk, outbox):
        second = Outbox(500)
        desk.attach(second)
        read(second)
        reply = await ask(desk, outbox, do="move", text="draw")
        assert "refused" not in reply
        news = read(second)
        assert [item["kind"] for message in news for item in message["happened"]] == ["move_made"]
        assert len(news[-1]["view"]["hand"]) == 14


async def test_a_refusal_comes_back_with_code_rule_and_cards(at_table: Open) -> None:
    async with at_table() as (table, desk, outbox):
        reply = await ask(desk, outbox, do="move", text="discard 6H")
        assert reply["refused"]["code"] == "wrong_phase"
        assert reply["refused"]["rule"].startswith("R")
        reply = await ask(desk, outbox, do="move", text="dance")
        assert reply["refused"]["code"] == "unreadable"
        assert table.places[0].chosen is None


@pytest.mark.parametrize(
    "message",
    [
        {"do": "move"},
        {"do": "move", "text": 3},
        {"do": "move", "text": "x" * 2000},
        {"do": "react", "reaction": "insult"},
        {"do": "verify"},
        {"do": "replay"},
        {"do": "open", "game": "rum500"},
        {"do": "nothing of the kind"},
    ],
)
async def test_what_the_page_may_not_ask_is_refused_and_changes_nothing(
    at_table: Open, message: dict[str, Any]
) -> None:
    async with at_table() as (table, desk, outbox):
        before = table.local.game.digest()
        reply = await ask(desk, outbox, **message)
        assert reply["refused"]["code"]
        assert table.local.game.digest() == before


async def test_a_request_without_a_number_is_ignored(at_table: Open) -> None:
    async with at_table() as (_, desk, outbox):
        read(outbox)
        await desk.handle({"do": "move", "text": "draw"}, outbox)
        assert read(outbox) == []


async def test_events_that_come_together_are_told_together(at_table: Open) -> None:
    async with at_table() as (table, _desk, outbox):
        read(outbox)
        table.tell(events.ChatSaid(seat=1, text="one"))
        table.tell(events.ChatSaid(seat=1, text="two"))
        await trio.testing.wait_all_tasks_blocked()
        (message,) = read(outbox)
        assert [item["text"] for item in message["happened"]] == ["one", "two"]


async def test_a_page_that_has_closed_is_told_nothing_more(at_table: Open) -> None:
    async with at_table() as (table, desk, outbox):
        read(outbox)
        desk.detach(outbox)
        table.tell(events.ChatSaid(seat=1, text="anybody?"))
        await trio.testing.wait_all_tasks_blocked()
        assert read(outbox) == []


async def test_the_hand_is_grouped_for_the_one_who_holds_it(at_table: Open, rehearsal: Any) -> None:
    async with at_table() as (table, desk, outbox):
        reply = await ask(desk, outbox, do="groups")
        own = {item["card"] for item in table_hand(table)}
        assert {card for group in reply["result"]["groups"] for card in group} <= own


def table_hand(table: Any) -> list[dict[str, Any]]:
    from p2p_rummy.view import own_hand

    place = table.places[0]
    return own_hand(place.game.snapshot(), 0, place.faces)


class Refusing:
    """A house whose every door is shut."""

    def start(self) -> dict[str, Any]:
        return {"name": "Mika"}

    async def open(self, wishes: dict[str, Any]) -> None:
        raise Complaint("the port is taken")

    join = resume = watch = open

    async def leave(self) -> None:
        pass


async def test_the_start_page_is_shown_and_says_why_a_table_cannot_be_opened() -> None:
    desk = Desk(house=Refusing())
    outbox = Outbox(10)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(desk.run)
        await trio.testing.wait_all_tasks_blocked()
        desk.attach(outbox)
        assert read(outbox) == [{"type": "start", "start": {"name": "Mika"}}]
        reply = await ask(desk, outbox, do="open", game="rum500")
        assert reply["refused"]["message"] == "the port is taken"
        nursery.cancel_scope.cancel()


async def test_the_rules_drawer_tells_the_rules_of_this_very_table(rehearsal: Any) -> None:
    def drawer(**options: str) -> list[str]:
        return table_rules(rehearsal.Rehearsal(seats=2, options=options).places[0], "en").split("\n")

    with_calls, without = drawer(), drawer(calling="off")
    assert any("(R109)" in line for line in with_calls)
    assert not any("(R109)" in line for line in without)
    assert any(line.startswith("- Agreed here") and "calling=off" in line for line in without)
    assert all(line.startswith(("# ", "- ")) for line in with_calls)


@pytest.mark.parametrize(
    ("language", "heading", "rule"),
    [
        ("en", "# Laying off", "- Calling rummy after another seat's turn: no calls. (R124)"),
        ("ja", "# 付け札", "- ほかの人の手番の後のラミーのコール：なし。 (R124)"),
        ("ko", "# 붙이기", "- 다른 사람의 차례가 끝난 뒤의 러미 콜: 없음. (R124)"),
    ],
)
def test_the_rules_drawer_speaks_the_language_of_the_page(
    rehearsal: Any, language: str, heading: str, rule: str
) -> None:
    place = rehearsal.Rehearsal(seats=2, options={"calling": "off"}).places[0]
    lines = table_rules(place, language).split("\n")
    assert heading in lines
    assert rule in lines


async def test_a_page_asks_for_the_words_of_the_options_in_its_language() -> None:
    desk = Desk(house=Refusing())
    outbox = Outbox(10)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(desk.run)
        await trio.testing.wait_all_tasks_blocked()
        desk.attach(outbox)
        read(outbox)
        phrases = (await ask(desk, outbox, do="phrases", language="ja"))["result"]["phrases"]
        nursery.cancel_scope.cancel()
    assert phrases["Where the ace stands in a run."] == "ランの中のエース。"
    shown = {text for option in OPTIONS for text in (option.text, *option.choices.values())}
    assert shown < set(phrases)
    # The trust layer's faults too: a page has their words, the peer sends the stable one with its English message.
    assert phrases["fault.bad_ticket"] == "正しいチケットではありません"


class Asking(Refusing):
    """A house that refuses with a sentence of the catalogue."""

    async def open(self, wishes: dict[str, Any]) -> None:
        raise Complaint(_("leave the present table first"))


async def test_what_the_house_refuses_is_said_in_the_language_of_the_page_that_asked() -> None:
    desk = Desk(house=Asking())
    outbox = Outbox(10)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(desk.run)
        await trio.testing.wait_all_tasks_blocked()
        desk.attach(outbox)
        said = [
            (await ask(desk, outbox, do="open", language=language))["refused"]["message"]
            for language in ("ko", "en", "ja")
        ]
        nursery.cancel_scope.cancel()
    assert said == [
        "먼저 지금 테이블에서 나가세요",
        "leave the present table first",
        "先に今のテーブルから抜けてください",
    ]
