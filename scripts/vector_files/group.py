"""group.json: the points of the cards, the generators, hash to curve in parts, and what is no point or scalar."""

from __future__ import annotations

from protocol.group import ORDER, point_from_label, secret_combination
from protocol.hash_to_curve import FIELD, expand_message_xmd, hash_to_curve, hash_to_field
from scripts.vector_files.form import Case, File, accepted, refused

TAG = b"p2p-rummy-V01-with-secp256k1_XMD:SHA-256_SSWU_RO_"


def make() -> File:
    return {
        "about": "SPEC.md section 4.  Numbers are hexadecimal, big-endian.",
        "cards": [point_from_label("card", card).encoded.hex() for card in range(112)],
        "generators": [point_from_label("generator", index).encoded.hex() for index in range(113)],
        "hash_to_curve": [hashed(message) for message in (b"card/0", b"card/111", b"generator/0")],
        "multiples": [
            {"scalar": f"{scalar:064x}", "point": secret_combination(scalar).encoded.hex()}
            for scalar in (1, 2, 3, ORDER - 1, 0xA5 << 200)
        ],
        "points": points(),
        "scalars": scalars(),
    }


def hashed(message: bytes) -> Case:
    first, second = hash_to_field(message, TAG, 2)
    x, y = hash_to_curve(message, TAG)
    return {
        "message": message.decode(),
        "uniform": expand_message_xmd(message, TAG, 96).hex(),
        "u0": f"{first:064x}",
        "u1": f"{second:064x}",
        "x": f"{x:064x}",
        "y": f"{y:064x}",
    }


def points() -> list[Case]:
    good = secret_combination(0xA5 << 200).encoded
    y = pow(int.from_bytes(good[1:], "big") ** 3 + 7, (FIELD + 1) // 4, FIELD)
    whole = good[1:] + y.to_bytes(32, "big")
    wrong = "not a compressed point of the curve"
    off = next(x for x in range(2, 99) if pow(x**3 + 7, (FIELD - 1) // 2, FIELD) != 1)
    return [
        accepted("a point", bytes=good.hex()),
        accepted("its inverse", bytes=(bytes([good[0] ^ 1]) + good[1:]).hex()),
        accepted("x = 1, the smallest", bytes="02" + f"{1:064x}"),
        *(
            refused(f"N9 {comment}", wrong, bytes=data.hex())
            for comment, data in (
                ("x is no coordinate of the curve", b"\x02" + off.to_bytes(32, "big")),
                ("x is the field's prime plus one", b"\x02" + (FIELD + 1).to_bytes(32, "big")),
                ("x is 2^256 - 1", b"\x02" + b"\xff" * 32),
                ("uncompressed", b"\x04" + whole),
                ("hybrid", bytes([6 + y % 2]) + whole),
                ("the prefix of an uncompressed point, compressed", b"\x04" + good[1:]),
                ("prefix 05", b"\x05" + good[1:]),
                ("the identity, as SEC 1 writes it", b"\x00"),
                ("33 zero bytes", bytes(33)),
                ("one byte too few", good[:-1]),
                ("one byte too many", good + b"\x00"),
                ("nothing", b""),
            )
        ),
    ]


def scalars() -> list[Case]:
    def written(number: int) -> str:
        return f"{number:064x}"

    above, length = "at or above the group order", "a scalar takes 32 bytes"
    return [
        accepted("zero", bytes=written(0)),
        accepted("the largest", bytes=written(ORDER - 1)),
        refused("N17 the order itself", above, bytes=written(ORDER)),
        refused("N17 one plus the order", above, bytes=written(ORDER + 1)),
        refused("N17 2^256 - 1", above, bytes="ff" * 32),
        refused("31 bytes", length, bytes="01" * 31),
        refused("33 bytes", length, bytes="00" * 33),
    ]
