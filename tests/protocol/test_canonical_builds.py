"""The encoder's two builds, in C and in pure Python, agree about everything, at depth 1,000 too (F77)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
import hashlib, sys
import msgpack
from protocol.canonical import Limits, decode, encode
from protocol.errors import EncodingError, LocalProtocolError

print(msgpack.Packer.__module__, file=sys.stderr)
said = hashlib.sha256()

def note(*items):
    said.update(repr(items).encode())

for depth in (1, 7, 8, 9, 63, 64, 65, 510, 511, 512, 990, 1000, 3000):
    value = 0
    for _ in range(depth):
        value = [value]
    try:
        note(depth, encode(value))
    except LocalProtocolError as error:
        note(depth, str(error))
    for limits in (Limits(), Limits(max_depth=64)):
        try:
            note(depth, decode(b"\\x91" * depth + b"\\x00", limits=limits))
        except EncodingError as error:
            note(depth, str(error))
numbers = sorted({max(0, (1 << bits) + near) for bits in range(54) for near in (-2, -1, 0, 1)})
lengths = [0, 1, 15, 16, 31, 32, 255, 256, 65535, 65536]
for value in [*numbers, *(b"x" * n for n in lengths), *("y" * n for n in lengths), *([0] * n for n in lengths)]:
    try:
        data = encode(value)
    except LocalProtocolError as error:
        note(str(error))
        continue
    note(data)
    assert decode(data, limits=Limits(max_bytes=1 << 20, max_nodes=1 << 20)) == value
print(said.hexdigest())
"""


def told(pure: bool) -> tuple[str, str]:
    """What the program prints with this build, and where the packer comes from."""
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT)}
    surroundings.pop("MSGPACK_PUREPYTHON", None)
    if pure:
        surroundings["MSGPACK_PUREPYTHON"] = "1"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=surroundings, capture_output=True, text=True, check=True
    )
    return done.stdout, done.stderr.strip()


def test_f77_the_builds_in_c_and_in_python_agree_at_every_depth() -> None:
    in_c, from_c = told(pure=False)
    in_python, from_python = told(pure=True)
    assert (from_c, from_python) == ("msgpack._cmsgpack", "msgpack.fallback"), "both builds were tried"
    assert in_c == in_python
