"""What is said on the command line of ``host`` stands in the offer that guests are shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from p2p_rummy.cli import main
from p2p_rummy.commands import host
from p2p_rummy.terminal.lobby import terms_lines
from protocol.lobby import Offer


def offered(monkeypatch: pytest.MonkeyPatch, home: Path, *words: str) -> Offer:
    offers: list[Offer] = []

    def host_table(_home: Any, offer: Offer, *_more: Any, **_named: Any) -> None:
        offers.append(offer)

    def sit_down(_args: Any, opening: Any, **_named: Any) -> int:
        opening(None)
        return 0

    monkeypatch.setattr(host, "host_table", host_table)
    monkeypatch.setattr(host, "sit_down", sit_down)
    assert main(["host", "--home", str(home), "--name", "Ann", *words]) == 0
    (offer,) = offers
    return offer


def test_a_table_is_never_recorded_as_abandoned_unless_that_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    offer = offered(monkeypatch, tmp_path)
    assert offer.abandon_ms == 0
    assert not any("abandoned" in line for line in terms_lines(offer))


def test_abandon_is_agreed_in_seconds_and_shown_to_all(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    offer = offered(monkeypatch, tmp_path, "--abandon", "604800")
    assert offer.abandon_ms == 7 * 24 * 3600 * 1000
    assert "  abandoned after 168 h without a missing player" in terms_lines(offer)


@pytest.mark.parametrize("wrong", ["-1", "31622401", "soon"])
def test_a_time_that_no_agreement_can_have_is_refused(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(SystemExit) as left:
        main(["host", "--home", str(tmp_path), "--abandon", wrong])
    assert left.value.code == 2
