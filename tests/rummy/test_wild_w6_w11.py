"""What makes other programs' games diverge or replay to another result (W6, W11)."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from p2p_rummy.agreed import RULES_VERSION, agreed_game
from p2p_rummy.cli import main
from p2p_rummy.games.base import FACTORIES
from p2p_rummy.refusals import OptionError
from protocol.journal import LOG_MAGIC
from protocol.log import encode_agreement
from tests.protocol.tables import agreement
from tests.second.link import framed

ROOT = Path(__file__).resolve().parents[2]

PLAY = """
import random, sys
from p2p_rummy.games.base import make_game
from p2p_rummy.local import LocalTable
from protocol.game import Over

for name in sys.argv[1:]:
    game = make_game(name, {}, 4)
    table = LocalTable(game, rng=random.Random(7))
    table.settle()
    dice, digests = random.Random(8), []
    for _ in range(150):
        if isinstance(game.need, Over):
            break
        seat = next(seat for seat in table.to_move() if table.legal(seat))
        table.move(seat, dice.choice(table.legal(seat)))
        digests.append(game.digest())
    print(name, len(digests), digests[-1].hex(), table.legal(table.to_move()[-1]) if table.to_move() else "")
"""
SURROUNDINGS = (
    {"PYTHONHASHSEED": "0", "LC_ALL": "C", "LANG": "C", "TZ": "UTC", "P2P_RUMMY_LANG": "en"},
    {
        "PYTHONHASHSEED": "1",
        "LC_ALL": "tr_TR.UTF-8",
        "LANG": "tr_TR.UTF-8",
        "TZ": "Asia/Tokyo",
        "PYTHONUTF8": "1",
        "P2P_RUMMY_LANG": "ja",
    },
    {
        "PYTHONHASHSEED": "4242",
        "LC_ALL": "C.utf8",
        "LANG": "ja_JP.UTF-8",
        "TZ": "America/New_York",
        "P2P_RUMMY_LANG": "ko",
    },
)


def test_w6_no_engine_depends_on_hash_seed_locale_or_time_zone() -> None:
    outputs = set()
    for surroundings in SURROUNDINGS:
        done = subprocess.run(
            [sys.executable, "-c", PLAY, *FACTORIES],
            env={**os.environ, **surroundings, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=True,
        )
        outputs.add(done.stdout)
    (said,) = outputs
    assert said.count(b"\n") == len(FACTORIES)


def test_w11_rules_of_another_version_are_refused_with_both_numbers() -> None:
    other = replace(agreement(2), game="rum500", rules_version=RULES_VERSION + 1)
    with pytest.raises(
        OptionError, match=f"version {RULES_VERSION + 1} of the rules, this program version {RULES_VERSION}"
    ):
        agreed_game(other)


def test_w11_a_log_of_other_rules_is_not_verified_but_refused_clearly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = replace(agreement(2), game="rum500", rules_version=RULES_VERSION + 1)
    path = tmp_path / "old.log"
    path.write_bytes(framed(LOG_MAGIC, [encode_agreement(other.encode())]))
    assert main(["verify", str(path)]) == 1
    said = capsys.readouterr()
    assert f"version {RULES_VERSION + 1} of the rules" in said.out + said.err
    assert "Traceback" not in said.err
