"""How a visit ends: what is said to whoever gets up, and whether it can be done."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from p2p_rummy.visit import how_to_return


def table(*, me: int | None, started: bool = True) -> Any:
    return SimpleNamespace(me=me, started=started, name="28aa5ad07fed6d38")


@pytest.mark.parametrize(
    ("me", "started", "advice"),
    [
        (1, True, "come back with: p2p-rummy resume 28aa5ad07fed6d38"),
        (None, True, "look on again with: p2p-rummy watch TICKET, and the same ticket"),
        (1, False, "the table had not started"),
        (None, False, "the table had not started"),
    ],
)
def test_the_advice_is_one_that_works(me: int | None, started: bool, advice: str) -> None:
    assert how_to_return(table(me=me, started=started)) == advice
