"""What every test may rely on."""

from __future__ import annotations

import pytest

from p2p_rummy import catalogue


@pytest.fixture(autouse=True)
def _in_english(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that speaks another language leaves nothing of it to the next one."""
    monkeypatch.setattr(catalogue, "_translations", None)
    catalogue.use_language("en")
