"""`POST /upload`: a body of up to 20 MiB; the response is its checksum."""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING

from plimsoll.campaign.requests import Endpoint, Exchange, Expected, Request, of_type

if TYPE_CHECKING:
    from random import Random

MOST_BYTES = 20 * 1024 * 1024
"""The longest body that must be accepted."""

LENGTH_BYTES = 1024 * 1024
"""Length of a body under load."""

DRAWN = 16
"""The most different bodies under load, since all of them are in memory."""

_HEADERS = (("Content-Type", "application/octet-stream"),)
_ALPHABET = b"abcdefghijklmnopqrstuvwxyz"
_MARK_BYTES = 8
_PROBES_BYTES = (65_537, 0, 1, 40_000, 3 * LENGTH_BYTES + 1, MOST_BYTES)
"""Lengths of probes; the first one is sent in pieces and in chunks, too."""


def _exchange(body: bytes) -> Exchange:
    digits = str(zlib.crc32(body)).encode()
    return Exchange(
        Request("upload", "POST", "/upload", _HEADERS, body),
        Expected(length_bytes=len(digits), body=digits, check=of_type("text/plain")),
    )


def _probes(random: Random) -> tuple[Exchange, ...]:
    return tuple(_exchange(random.randbytes(length)) for length in _PROBES_BYTES)


def _large(random: Random) -> Exchange:
    """A body above what servers keep in memory, usually 1 to 2 MiB."""
    return _exchange(random.randbytes(2 * LENGTH_BYTES + random.randrange(LENGTH_BYTES)))


def _drawn(random: Random, count: int) -> tuple[Exchange, ...]:
    """Bodies that differ in a few bytes at a drawn place: all of a body has to be read."""
    base = base64.b64encode(random.randbytes(LENGTH_BYTES))[:LENGTH_BYTES]
    return tuple(_exchange(_marked(random, base)) for _ in range(min(count, DRAWN)))


def _marked(random: Random, base: bytes) -> bytes:
    at, mark = random.randrange(len(base) - _MARK_BYTES), random.getrandbits(4 * _MARK_BYTES)
    return base[:at] + f"{mark:0{_MARK_BYTES}x}".encode() + base[at + _MARK_BYTES :]


ENDPOINTS = (
    Endpoint(
        name="upload",
        summary="`POST /upload` reads a body of up to 20 MiB; 200, `text/plain`, its CRC-32 in "
        "decimal",
        exchanges=(_exchange((_ALPHABET * (LENGTH_BYTES // len(_ALPHABET) + 1))[:LENGTH_BYTES]),),
        probes=_probes,
        drawn=_drawn,
        large=_large,
        not_proven=f"that every body was summed: under load there are {DRAWN} of them, and a cache "
        "that compares bodies is as good",
    ),
)
"""`upload`."""
