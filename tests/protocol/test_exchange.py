"""What neighbours give each other: as much at once as fits, to a spectator too, and a spectator only what is final."""

from __future__ import annotations

from protocol import gossip
from protocol.entry import from_value
from tests.protocol.tables import Peer, Table

LONG = {"bids": "no", "hands": "12"}


def said(peer: Peer, since: int = 0) -> list[gossip.Said]:
    return [gossip.read(message) for message in peer.sent[since:]]


def steps_in(messages: list[gossip.Said]) -> list[int]:
    return [
        from_value(value).step
        for message in messages
        if isinstance(message, gossip.Entries)
        for value in message.entries
    ]


def late_watcher() -> Table:
    """A game of twelve hands for two is half over when somebody comes to watch it; nothing that the watcher says is heard yet."""
    table = Table(2, options=LONG, watchers=1)
    table.run(until=lambda: table.peers[0].session.step >= 240)
    table.run(until=lambda: not table.queue)
    table.lose = lambda source, target, message: source == 2
    return table


def test_a_spectator_is_told_where_the_table_stands_and_asks_for_what_was_before() -> None:
    table = late_watcher()
    table.play = lambda peer: None
    host = table.peers[0]
    before = len(host.sent)
    table.link(0, 2)
    table.run(until=lambda: not table.queue)
    (have,) = said(host, before)
    assert isinstance(have, gossip.Have)
    assert have.place.final > 200
    assert table.peers[2].session.final == 0


def test_a_spectator_gets_the_past_a_batch_at_a_time() -> None:
    table = late_watcher()
    table.play = lambda peer: None
    host, watcher = table.peers[0], table.peers[2]
    table.link(0, 2)
    table.run(until=lambda: not table.queue)
    table.lose = lambda source, target, message: False
    before = len(host.sent)
    table.run(until=lambda: watcher.session.step == host.session.final, seconds=60)
    answers: list[int] = [0]
    for message in said(host, before):
        if isinstance(message, gossip.Entries):
            if message.entries:
                answers[-1] += sum(len(from_value(value).content) for value in message.entries)
            else:
                answers.append(0)
    assert len([size for size in answers if size]) > 3
    # A batch ends with the step in which it has become large enough.
    assert max(answers) < 2 * gossip.BATCH_BYTES
    assert max(steps_in(said(host, before))) < host.session.final
    assert watcher.session.head == host.session._steps.ledger.head_before(watcher.session.step)
    table.play = table.random_move
    table.run()
    assert watcher.public == host.public


def test_a_spectator_that_was_shown_more_than_it_could_keep_asks_again() -> None:
    """It hears what becomes final, cannot place it, and nothing that it says arrives, for a hundred steps and more."""
    table = late_watcher()
    table.link(0, 2)
    table.run(until=lambda: table.peers[0].session.step >= 360)
    assert table.peers[2].session.final == 0
    table.lose = lambda source, target, message: False
    table.run()
    assert table.peers[2].public == table.peers[0].public


def test_an_answer_ends_even_if_there_is_nothing_to_give() -> None:
    table = Table(2, options=LONG)
    table.play = lambda peer: None
    table.run(until=lambda: all(peer.session.stage.value == "move" for peer in table.peers))
    table.run(until=lambda: not table.queue)
    one, other = table.peers
    (link,) = table.links
    before = len(one.sent)
    want = gossip.write_want(other.session._exchange.place())
    one.session.received(link, want, table.now)
    one.carry_out()
    assert said(one, before) == [gossip.Entries(entries=())]
