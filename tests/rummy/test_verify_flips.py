"""``p2p-rummy verify`` on a hand of 500 Rum of which one byte was changed, with the file's checksums made right again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from protocol.journal import LOG_MAGIC, read_log
from protocol.log import read_step
from tests.second.link import framed

Main = Callable[..., tuple[int, str, str]]

HAND = json.loads((Path(__file__).parents[1] / "vectors" / "hand.json").read_text("ascii"))
RECORDS = [bytes.fromhex(record) for record in HAND["records"]]


def of_kind(name: str) -> int:
    """The first record with an entry of this kind."""
    return next(
        number
        for number, record in enumerate(RECORDS[1:], start=1)
        for _, entry in read_step(record, number=number).contributions
        if entry is not None and entry.kind.name == name
    )


def test_the_hand_verifies_as_it_is(main: Main, tmp_path: Path) -> None:
    path = tmp_path / "hand.log"
    path.write_bytes(framed(LOG_MAGIC, RECORDS))
    verdict = json.loads(main("verify", path, "--json")[1])
    assert (verdict["ok"], verdict["finished"], verdict["head"]) == (True, True, HAND["head"])


@pytest.mark.parametrize("kind", ["AGREE", "COMMIT", "REVEAL", "SHUFFLE", "SHARES", "MOVE", "RESULT"])
@pytest.mark.parametrize("where", ["body", "signature"])
def test_one_bit_of_any_signed_step_names_record_step_and_seat(
    main: Main, tmp_path: Path, kind: str, where: str
) -> None:
    number = of_kind(kind)
    record = RECORDS[number]
    seat, entry = read_step(record, number=number).contributions[0]
    assert entry is not None
    part = entry.signature if where == "signature" else entry.content[-40:-34]  # the end of the body
    at = record.index(part) + 1
    changed = [
        *RECORDS[:number],
        record[:at] + bytes([record[at] ^ 1]) + record[at + 1 :],
        *RECORDS[number + 1 :],
    ]
    path = tmp_path / "changed.log"
    path.write_bytes(framed(LOG_MAGIC, changed))
    assert read_log(path).records == tuple(changed), "the file itself is in order"
    status, out, err = main("verify", path, "--json")
    error = json.loads(out)["error"]
    assert status == 1
    assert "Traceback" not in err
    assert error["record"] == number
    if error["reason"] == "bad_encoding":
        assert f"record {number}[3][0]" in error["message"]
    else:
        assert (error["reason"], error["step"], error["seat"]) == ("bad_signature", number - 1, seat)


def test_a_byte_that_was_changed_without_the_checksum_names_the_offset(main: Main, tmp_path: Path) -> None:
    whole = framed(LOG_MAGIC, RECORDS)
    path = tmp_path / "raw.log"
    path.write_bytes(whole)
    offset = read_log(path).offsets[of_kind("MOVE")]
    path.write_bytes(whole[: offset + 20] + bytes([whole[offset + 20] ^ 0x80]) + whole[offset + 21 :])
    status, _, err = main("verify", path)
    assert status == 1
    assert f"(at byte {offset})" in err
