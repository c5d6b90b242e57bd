"""encoding.json: values with their bytes, and what no encoder of ours would have written (F69 to F79, F83)."""

from __future__ import annotations

from protocol.canonical import Value, encode
from scripts.vector_files.form import Case, File, accepted, plain, refused


def make() -> File:
    return {
        "about": "SPEC.md section 2.  Depth, values and bytes are limited to 8, 65536 and 1 MiB here.",
        "cases": cases(),
    }


def cases() -> list[Case]:
    return [*values(), *foreign()]


def values() -> list[Case]:
    named: list[tuple[str, Value]] = [
        ("the smallest integer", 0),
        ("the largest in one byte", 127),
        ("the smallest of two bytes", 128),
        ("the largest of two bytes", 255),
        ("the smallest of three bytes", 256),
        ("the largest of three bytes", 65535),
        ("the smallest of five bytes", 65536),
        ("the largest of five bytes", 2**32 - 1),
        ("the smallest of nine bytes", 2**32),
        ("the largest integer", 2**53 - 1),
        ("false", False),
        ("true, which is not the integer 1", True),
        ("no text", ""),
        ("text of 31 bytes: the longest with its length in the first byte", "a" * 31),
        ("text of 32 bytes", "a" * 32),
        ("text counts bytes, not characters", "7\u2665 \u00e4 \U0001f0a1"),
        ("text of 256 bytes", "b" * 256),
        ("no bytes", b""),
        ("bytes, which are not text", b"abc"),
        ("255 bytes", bytes(255)),
        ("256 bytes", bytes(256)),
        ("an empty list", []),
        ("a list of 15: the longest with its length in the first byte", [0] * 15),
        ("a list of 16", [0] * 16),
        ("every kind in one list", [1, False, "x", b"x", [[], [2**32]]]),
        ("lists eight deep: the deepest allowed", [[[[[[[[]]]]]]]]),
    ]
    return [accepted(comment, value=plain(value), bytes=encode(value).hex()) for comment, value in named]


def foreign() -> list[Case]:
    longer = "in a header longer than it needs"
    named = [
        ("F69 nothing at all", "", "the data ends too early"),
        ("F69 a header without its number", "cd01", "the data ends too early"),
        ("F69 text cut short", "a361 62", "3 bytes of text expected, 2 left"),
        ("F69 bytes cut short", "c40461 6263", "4 bytes of bytes expected, 3 left"),
        ("F69 a list cut short", "930102", "a list of 3 items in 2 bytes"),
        ("F69 a list whose last item is cut short", "9201cc", "the data ends too early"),
        ("F70 a byte after the value", "0100", "1 trailing bytes"),
        ("F70 a second value", "9001", "1 trailing bytes"),
        ("F71 0 in two bytes", "cc00", longer),
        ("F71 127 in two bytes", "cc7f", longer),
        ("F71 255 in three bytes", "cd00ff", longer),
        ("F71 65535 in five bytes", "ce0000ffff", longer),
        ("F71 2^32 - 1 in nine bytes", "cf00000000ffffffff", longer),
        ("F71 text of 31 bytes with a length of its own", "d91f" + "61" * 31, longer),
        ("F71 text with a length of two bytes", "da0020" + "61" * 32, longer),
        ("F71 bytes with a length of two bytes", "c50001ff", longer),
        ("F71 bytes with a length of four bytes", "c600000001ff", longer),
        ("F71 a list of 15 with a length of two bytes", "dc000f" + "00" * 15, longer),
        ("F71 a list of 16 with a length of four bytes", "dd00000010" + "00" * 16, longer),
        ("F72 a map, here with one key twice", "82a16101a16102", "a map is not part"),
        ("F72 an empty map", "80", "a map is not part"),
        ("F72 a map with a length of its own", "de0000", "a map is not part"),
        ("F73 not a number, as a float of 64 bits", "cb7ff8000000000000", "a float is not part"),
        ("F73 minus zero, as a float of 32 bits", "ca80000000", "a float is not part"),
        ("a float that is an integer", "cb3ff0000000000000", "a float is not part"),
        ("minus one", "ff", "a negative integer is not part"),
        ("minus 32 in two bytes", "d0e0", "a negative integer is not part"),
        ("a positive number in a signed form", "d001", "a negative integer is not part"),
        ("nil", "c0", "nil is not part"),
        ("the byte that msgpack never uses", "c1", "a reserved byte is not part"),
        ("F76 a byte that begins nothing in UTF-8", "a1ff", "not UTF-8"),
        ("F76 a surrogate", "a3eda080", "not UTF-8"),
        ("F76 an overlong form of NUL", "a2c080", "not UTF-8"),
        ("F76 a character cut in two", "a1c3", "not UTF-8"),
        ("F77 lists nine deep", "91" * 8 + "90", "nested more than 8 deep"),
        ("F77 lists a thousand deep", "91" * 1000 + "90", "nested more than 8 deep"),
        ("F78 a list that claims 2^32 - 1 items", "ddffffffff", "a list of 4294967295 items in 0 bytes"),
        ("F78 bytes that claim 2^32 - 1", "c6ffffffff", "4294967295 bytes of bytes expected, 0 left"),
        ("F79 an extension of one byte", "d40100", "an extension is not part"),
        ("F79 a timestamp", "d6ff00000000", "an extension is not part"),
        ("F79 an extension with a length of its own", "c70001", "an extension is not part"),
        ("F83 2^53", "cf0020000000000000", "an integer of 2**53 or more"),
        ("F83 2^64 - 1", "cfffffffffffffffff", "an integer of 2**53 or more"),
        ("a fault deep inside: the path is [1][0]", "920191c0", "[1][0]: nil is not part"),
    ]
    return [refused(comment, reason, bytes=data.replace(" ", "")) for comment, data, reason in named]
