"""SPEC.md is enough: the second implementation in tests/second, written from its text, agrees with every vector.

It shares no line with ``protocol``: values, hashes and signatures are its own, in plain integers; only sums of curve points,
X25519 and ChaCha20-Poly1305 are library calls.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from protocol.journal import read_log
from tests.second import encoding, group, identity, link, proofs
from tests.second.deck import Deck
from tests.second.encoding import H, Refused
from tests.second.log import (
    Table,
    check_agreement,
    check_certificate,
    check_exposed,
    check_signature,
    leader,
    quorum,
    read_entry,
    state_digest,
)
from tests.second.proofs import Where

VECTORS = Path(__file__).parent / "vectors"
B = bytes.fromhex
Case = dict[str, Any]


def file(name: str) -> dict[str, Any]:
    return json.loads((VECTORS / f"{name}.json").read_text("ascii"))  # type: ignore[no-any-return]


def verdict(call: Callable[..., object], *arguments: object) -> str:
    """The reason of the refusal, "" if there is none."""
    try:
        call(*arguments)
    except Refused as refused:
        return refused.reason
    return ""


def value(told: Any) -> Any:
    """SPEC.md section 18: values in JSON."""
    if isinstance(told, dict):
        return B(told["hex"])
    return [value(item) for item in told] if isinstance(told, list) else told


def where(told: Case) -> Where:
    fields = (told[name] for name in ("hand", "epoch", "step", "seat", "purpose", "position"))
    return Where(B(told["table"]), *fields)


def test_nothing_of_it_is_taken_from_the_first_implementation() -> None:
    for path in (Path(__file__).parent / "second").glob("*.py"):
        imports = [
            line for line in path.read_text().splitlines() if line.lstrip().startswith(("from", "import"))
        ]
        assert not any("protocol" in line or "p2p_rummy" in line for line in imports)


# --- 2, 3, 4 ---------------------------------------------------------------------------------------------


def test_values() -> None:
    for case in file("encoding")["cases"]:
        data = B(case["bytes"])
        assert (verdict(encoding.decode, data) == "") is case["verdict"], case["comment"]
        if case["verdict"]:
            assert encoding.decode(data) == value(case["value"])
            assert encoding.encode(value(case["value"])) == data


def test_frames_hashes_words_and_fingerprints() -> None:
    told = file("identity")
    for case in told["frames"]:
        items = list(map(B, case["items"]))
        assert encoding.frame(case["tag"], *items).hex() == case["frame"]
        assert H(case["tag"], *items).hex() == case["hash"]
    for case in told["words"]:
        assert identity.words(B(case["data"]), told["word_list"]) == case["words"]
    for case in told["fingerprints"]:
        assert identity.fingerprint(B(case["key"])) == case["fingerprint"]


def test_signatures() -> None:
    for case in file("identity")["signatures"]:
        key, message, signature = (B(case[name]) for name in ("key", "message", "signature"))
        reason = verdict(identity.verify, key, case["tag"], message, signature)
        assert reason == case.get("reason", ""), case["comment"]


def test_points_from_labels_by_another_way_round_the_isogeny() -> None:
    told = file("group")
    for label in ("card", "generator"):
        assert [group.write(group.from_label(label, n)).hex() for n in range(len(told[f"{label}s"]))] == told[
            f"{label}s"
        ]
    for case in told["hash_to_curve"]:
        assert [f"{u:064x}" for u in group.hash_to_field(case["message"].encode())] == [
            case["u0"],
            case["u1"],
        ]


def test_multiples_and_encodings_of_points() -> None:
    told = file("group")
    for case in told["multiples"]:
        scalar = int(case["scalar"], 16)
        by_hand, by_library = group.total_by_hand((scalar, group.G)), group.total((scalar, group.G))
        assert by_hand is not None
        assert by_hand == by_library
        assert group.write(by_hand).hex() == case["point"]
    for case in told["points"]:
        assert (verdict(group.point, B(case["bytes"])) == "") is case["verdict"], case["comment"]
    for case in told["scalars"]:
        assert (verdict(group.scalars, B(case["bytes"]), 1) == "") is case["verdict"]


def test_sums_by_hand_are_those_of_the_library() -> None:
    terms = [(int.from_bytes(H("scalar", bytes([n])), "big"), group.from_label("card", n)) for n in range(6)]
    assert group.total(*terms) == group.total_by_hand(*terms)
    assert group.total((5, group.G), (-5, group.G)) is None
    assert group.total_by_hand((5, group.G), (-5, group.G)) is None


# --- 5 ---------------------------------------------------------------------------------------------------


def test_possession() -> None:
    told = file("proofs")["possession"]
    good = told["statement"]
    for case in [good, *(good | case for case in told["cases"])]:
        reason = verdict(proofs.possession, where(case["context"]), B(case["public"]), B(case["proof"]))
        assert reason == case.get("reason", ""), case["comment"]
    challenge = proofs.possession(where(good["context"]), B(good["public"]), B(good["proof"]))
    assert f"{challenge:064x}" == good["challenge"]
    x, w = int(good["secret"], 16), int(good["nonce"], 16)
    t = group.total((w, group.G))
    assert t is not None
    assert B(good["proof"]) == group.write(t) + ((w + challenge * x) % group.ORDER).to_bytes(32, "big")


def equality(case: Case) -> tuple[list[int], int]:
    public, bases, images, proof = (B(case[name]) for name in ("public", "bases", "images", "proof"))
    return proofs.equality(where(case["context"]), public, bases, images, proof, case["slots"])


def test_equality() -> None:
    told = file("proofs")["equality"]
    good = told["statement"]
    for case in [good, *(good | case for case in told["cases"])]:
        assert verdict(equality, case) == case.get("reason", ""), case["comment"]
    weights, challenge = equality(good)
    assert [f"{weight:032x}" for weight in weights] == good["weights"]
    assert f"{challenge:064x}" == good["challenge"]


def shuffle(case: Case) -> None:
    parts = [B(part) for part in case["proof"]]
    proofs.shuffle(where(case["context"]), B(case["key"]), B(case["inputs"]), B(case["outputs"]), parts)


def test_shuffle() -> None:
    told = file("shuffle")
    good = told["statement"]
    for case in [good, *(good | case for case in told["cases"])]:
        assert verdict(shuffle, case) == case.get("reason", ""), case["comment"]
    # And the statement is what it says: outputs[i] is inputs[order[i]], re-encrypted with masks[i].
    inputs, outputs = B(good["inputs"]), B(good["outputs"])
    masks = group.scalars(B(good["masks"]), good["cards"])
    for i, source in enumerate(good["order"]):
        a, b = group.points(inputs[66 * source : 66 * source + 66], 2)
        again = (
            group.total((1, a), (masks[i], group.G)),
            group.total((1, b), (masks[i], group.point(B(good["key"])))),
        )
        assert list(again) == group.points(outputs[66 * i : 66 * i + 66], 2)


# --- 6 ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(4))
def test_deck(number: int) -> None:
    told = file("deck")["hands"][number]
    deck = Deck(B(told["table"]), told["hand"], told["seats"], told["threshold"])
    for step in told["steps"]:
        take(deck, step)
        assert {str(slot): card for slot, card in sorted(deck.faces.items())} == step["faces"]
    assert (deck.key.hex(), deck.coin.hex(), deck.order) == (
        told["joint_key"],
        told["coin"],
        told["shuffle_order"],
    )
    assert b"".join(deck.slots).hex() == told["slots"]
    check_secrets(deck, told)


def take(deck: Deck, step: Case) -> None:
    bodies = {int(seat): value(body) for seat, body in step["bodies"].items()}
    if step["kind"] == "SHUFFLE" and all(
        seat in deck.shuffled or seat in deck.dropped for seat in deck.seats
    ):
        deck.open_deck(step["cards"])
    if step["kind"] == "SHUFFLE" and not deck.current:
        deck.open_deck(step["cards"])
    for seat, body in bodies.items():
        at = (step["epoch"], step["step"], seat)
        match step["kind"]:
            case "COMMIT":
                deck.commit(*at, body)
            case "REVEAL":
                deck.reveal(*at, body)
            case "SHUFFLE":
                assert deck.order.index(seat) == step["position"]
                deck.shuffle(*at, body)
            case "COMPLAINT":
                assert deck.complaint(*at, body) == step["at_fault"]
            case "SHARES":
                deck.take(*at, step["slots"][str(seat)], body, "decryption shares")
            case "opening":
                deck.take(*at, step["slots"][str(seat)], body, "opening")
    if step["kind"] == "REVEAL":
        deck.keys_are_out()
    if step["kind"] == "RESTORE":
        deck.restore(step["leaving"], bodies)


def check_secrets(deck: Deck, told: Case) -> None:
    """The secrets that the file tells lead to what was published; and every good backup share opens to f(j)."""
    for seat, secrets in told["secrets"].items():
        x = int(secrets["x"], 16)
        assert group.total((x, group.G)) == group.point(deck.reveals[int(seat)][1])
        if not told["threshold"]:
            continue
        z = int(secrets["z"], 16)
        for dealer in deck.seats:
            if dealer == int(seat):
                continue
            opened = group.total((z, group.point(deck.reveals[dealer][4])))
            assert opened is not None
            share = deck.unseal(dealer, int(seat), group.write(opened))
            polynomial = [int(each, 16) for each in told["secrets"][str(dealer)]["polynomial"]]
            f = sum(a * (int(seat) + 1) ** k for k, a in enumerate(polynomial)) % group.ORDER
            tampered = (dealer, seat) == (0, "2") and "does not open" in told["comment"]
            assert share == (None if tampered else f)


# --- 7 to 11 ---------------------------------------------------------------------------------------------


def test_agreements() -> None:
    told = file("entries")
    agreed = B(told["agreement"]["bytes"])
    assert encoding.encode(value(told["agreement"]["value"])) == agreed
    assert check_agreement(agreed) == value(told["agreement"]["value"])
    assert H("agreement", agreed).hex() == told["agreement"]["table"]
    for claim, nonce in zip(check_agreement(agreed)[4], map(B, told["agreement"]["nonces"]), strict=True):
        assert H("agreement nonce", claim[0], nonce) == claim[3]
    for case in told["agreements"]:
        assert verdict(check_agreement, B(case["bytes"])), case["comment"]


def entries_of(step: Case) -> list[Any]:
    return [read_entry([B(part) for part in told["entry"]]) for told in step["entries"]]


def test_a_log_with_a_window_a_leaver_and_a_restore() -> None:
    told = file("entries")
    table = Table(check_agreement(B(told["agreement"]["bytes"])))
    for step in told["steps"]:
        entries = entries_of(step)
        assert [entry.id.hex() for entry in entries] == [each["id"] for each in step["entries"]]
        table.take(step, step["epoch"], entries, step["absent"])
        assert table.head.hex() == step["head"]
    assert identity.words(table.first_head, file("identity")["word_list"]) == told["steps"][0]["words"]
    assert table.result == [10, -25, 0]
    assert table.roster == [0, 2]
    assert table.winner == 2 + 1


def test_illegal_entries() -> None:
    told = file("entries")
    table = Table(check_agreement(B(told["agreement"]["bytes"])))
    for step in told["steps"]:
        entries = entries_of(step)
        for case in told["illegal"]:
            if case["step"] == step["step"]:
                lie = read_entry([B(part) for part in case["entry"]])
                rest = [entry for entry in entries if entry.seat != lie.seat]
                reason = verdict(copy.deepcopy(table).take, step, step["epoch"], [lie, *rest], step["absent"])
                owes = any(entry.seat == lie.seat for entry in entries)
                assert reason == (_expected(case) if owes else "wrong_seats"), case["comment"]
        table.take(step, step["epoch"], entries, step["absent"])


def _expected(case: Case) -> str:
    """What can be said without the game, which alone knows moves, states, scores and whose a slot is."""
    if case["comment"] == "N26 a slot that is open":
        return "already_open"
    return "" if case["reason"] == "illegal_move" or case["comment"].startswith("F63") else case["reason"]


def test_unreadable_entries() -> None:
    for case in file("entries")["unreadable"]:
        assert verdict(read_entry, [B(part) for part in case["entry"]]), case["comment"]


def test_the_certificate_and_its_leader() -> None:
    told = file("entries")
    table = Table(check_agreement(B(told["agreement"]["bytes"])))
    keys = dict(enumerate(table.keys))
    step = next(step for step in told["steps"] if step["absent"])
    place = (table.table, step["epoch"], step["step"], B(step["prev"]))
    assert check_certificate(value(told["certificate"]), "PRECOMMIT", place, keys) == [[1, b""]]
    proposal = read_entry([B(part) for part in told["votes"][0]["entry"]])
    assert proposal.seat == leader(1, step["step"], [0, 1, 2], None)
    alone = value(told["certificate"])[:1]
    assert verdict(check_certificate, alone, "PRECOMMIT", place, keys) == "bad_certificate"


def test_quorums_are_those_of_the_table_in_the_specification() -> None:
    assert [quorum(seats) for seats in range(2, 9)] == [2, 2, 3, 4, 4, 5, 6]


def test_evidence_of_two_statements() -> None:
    exposed = [case for case in file("entries")["evidence"] if B(case["bytes"])[1] == 0]
    assert sum(case["verdict"] for case in exposed) == 7
    for case in exposed:
        assert verdict(check_exposed, B(case["bytes"])) == case.get("reason", ""), case["comment"]
        if case["verdict"]:
            assert check_exposed(B(case["bytes"])) == case["seat"]


def test_signatures_of_entries() -> None:
    told = file("entries")
    table = Table(check_agreement(B(told["agreement"]["bytes"])))
    for case in told["foreign"]:
        entry = read_entry([B(part) for part in case["entry"]])
        if case["reason"] == "other_table":
            assert entry.table != table.table
        else:
            assert verdict(check_signature, entry, table.keys) == case["reason"], case["comment"]


def test_the_whole_hand_of_rum500() -> None:
    told = file("hand")
    records = [encoding.decode(B(record), depth=4, values=64) for record in told["records"]]
    assert records[0][0] == 0
    table = Table(check_agreement(records[0][1]))
    assert table.table.hex() == told["table"]
    for (kind, epoch, step, items), needed in zip(records[1:], told["steps"], strict=True):
        assert (kind, step) == (1, needed["step"])
        entries = list(map(read_entry, items))
        assert {str(e.seat): e.body[0] for e in entries if e.kind in ("MOVE", "ANSWER")} == needed.get(
            "said", {}
        )
        table.take(needed, epoch, entries, [])
        if "state" in needed:
            changed = needed["state"] | {"turn": needed["state"]["turn"] + 1}
            assert state_digest(changed) != entries[0].body[2]
    assert identity.words(table.first_head, file("identity")["word_list"]) == told["words"]
    assert table.head.hex() == told["head"]
    assert table.result == told["scores"]


# --- 13, 15, 16 ------------------------------------------------------------------------------------------


def test_the_link() -> None:
    told = file("link")["link"]
    dialer, listener = map(B, told["hellos"])
    hashed = link.transcript(dialer, listener)
    assert hashed.hex() == told["transcript"]
    mine, theirs = map(B, told["secrets"])
    assert link.keys(mine, listener, hashed) == link.keys(theirs, dialer, hashed)
    sending = link.keys(mine, listener, hashed)
    assert [key.hex() for key in sending] == told["keys"]
    assert (link.read_hello(dialer).purpose, link.read_hello(listener).purpose) == (2, 0)
    for role, data in enumerate(map(B, told["auths"])):
        kind, payload = link.unseal(sending[role], 0, data)
        key, signature, port = encoding.shaped(encoding.decode(payload), 32, 64, int)
        assert (kind, port) == (0, (4000, 0)[role])
        identity.verify(key, "link auth", bytes([role]) + hashed, signature)
    sent = [1, 1]
    for frame in told["frames"]:
        role = ("dialer", "listener").index(frame["from"])
        assert (
            link.seal(sending[role], sent[role], frame["kind"], B(frame["payload"])).hex() == frame["frame"]
        )
        sent[role] += 1


def test_tickets() -> None:
    told = file("ticket")
    for case in told["cases"]:
        assert (verdict(link.read_ticket, case["text"]) == "") is case["verdict"], case["comment"]
        if case["verdict"]:
            ticket = link.read_ticket(case["text"])
            assert ticket.table.hex() == case["table"]
            assert ticket.fingerprint == H("ticket fingerprint", B(told["key"]))[:16]
            assert ticket.addresses == case["addresses"]


def test_the_file_of_a_log(tmp_path: Path) -> None:
    told = file("hand")
    records = list(map(B, told["records"]))
    path = tmp_path / "hand.log"
    path.write_bytes(link.framed(B(told["file_magic"]), records))
    read = read_log(path)
    assert list(read.records) == records
    assert read.torn_at is None
