"""SPEC.md sections 13, 15.1 and 16.2: the keys and frames of a link, tickets, and the framing of files."""

from __future__ import annotations

import ipaddress
import zlib
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tests.second.encoding import H, decode, frame, need, shaped

MAGIC = bytes.fromhex("8a70327052756d0a")


class Hello(NamedTuple):
    software: str
    table: bytes
    purpose: int
    key: bytes
    nonce: bytes


def read_hello(data: bytes) -> Hello:
    need(data[:8] == MAGIC, "wrong_magic")
    need(data[8:10] == b"\x00\x01", "version")
    end = 11 + data[10]
    size = int.from_bytes(data[end : end + 2], "big")
    need(data[10] <= 64 and size <= 256 and len(data) == end + 2 + size, "bad_hello")
    table, purpose, key, nonce = shaped(decode(data[end + 2 :], depth=1), bytes, int, 32, 32)
    return Hello(data[11:end].decode(), table, purpose, key, nonce)


def transcript(dialer: bytes, listener: bytes) -> bytes:
    return H("link transcript", dialer, listener)


def keys(secret: bytes, their_hello: bytes, hashed: bytes) -> tuple[bytes, bytes]:
    """The dialer's sending key and the listener's."""
    theirs = X25519PublicKey.from_public_bytes(read_hello(their_hello).key)
    shared = X25519PrivateKey.from_private_bytes(secret).exchange(theirs)
    data = HKDF(algorithm=SHA256(), length=64, salt=hashed, info=frame("link keys")).derive(shared)
    return data[:32], data[32:]


def seal(key: bytes, number: int, kind: int, payload: bytes) -> bytes:
    sealed = ChaCha20Poly1305(key).encrypt(number.to_bytes(12, "big"), bytes([kind]) + payload, None)
    return (1 + len(sealed)).to_bytes(4, "big") + b"\x01" + sealed


def unseal(key: bytes, number: int, data: bytes) -> tuple[int, bytes]:
    need(int.from_bytes(data[:4], "big") == len(data) - 4 and data[4] == 1, "unknown_frame")
    plain = ChaCha20Poly1305(key).decrypt(number.to_bytes(12, "big"), data[5:], None)
    return plain[0], plain[1:]


# --- tickets ---------------------------------------------------------------------------------------------

DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class Ticket(NamedTuple):
    table: bytes
    fingerprint: bytes
    addresses: list[list[Any]]


def read_ticket(text: str) -> Ticket:
    need(len(text) <= 4096, "ticket")
    compact = "".join(text.upper().replace("-", "").split())
    need(compact.startswith("RUMMY"), "ticket")
    digits = compact[5:].translate(str.maketrans("OIL", "011"))
    need(all(digit in DIGITS for digit in digits), "ticket")
    bits = "".join(f"{DIGITS.index(digit):05b}" for digit in digits)
    whole = len(bits) // 8 * 8
    need(len(bits) - whole < 5 and "1" not in bits[whole:], "ticket")
    data = bytes(int(bits[at : at + 8], 2) for at in range(0, whole, 8))
    body, checksum = data[:-5], data[-5:]
    need(len(data) > 5 and H("ticket checksum", body)[:5] == checksum, "ticket")
    need(body[0] == 1 and len(body) > 27, "ticket")
    addresses = []
    at = 27
    while at < len(body):
        need(len(body) >= at + 3, "ticket")
        port, kind = int.from_bytes(body[at : at + 2], "big"), body[at + 2]
        size = {4: 4, 6: 16}.get(kind, kind)
        raw = body[at + 3 : at + 3 + size]
        need(port and len(raw) == size and size, "ticket")
        addresses.append([host(raw, name=kind not in (4, 6)), port])
        at += 3 + size
    need(len(addresses) <= 8, "ticket")
    return Ticket(body[1:11], body[11:27], addresses)


def host(raw: bytes, *, name: bool) -> str:
    if not name:
        return str(ipaddress.ip_address(raw))
    text = raw.decode("ascii", "replace").rstrip(".")
    need(text and all(letter.isascii() and (letter.isalnum() or letter in ".-") for letter in text), "ticket")
    return text


# --- files -----------------------------------------------------------------------------------------------


def framed(magic: bytes, payloads: list[bytes]) -> bytes:
    """A file of these records."""
    front = magic + b"\x00\x01\x00\x00"
    data = front + zlib.crc32(front).to_bytes(4, "big")
    for payload in payloads:
        offset, length = len(data).to_bytes(8, "big"), len(payload).to_bytes(4, "big")
        checks = [zlib.crc32(offset + each).to_bytes(4, "big") for each in (length, payload)]
        data += length + checks[0] + payload + checks[1]
    return data
