"""HdrHistogram histograms in the V2 encoding, which all of its readers know.

Values are nanoseconds with three significant digits. Small values have a cell each; above 2,048 the
cells of each further power of two are twice as wide, and there are 1,024 of them:

    shift = max(0, bits of value - 11)        index = shift * 1024 + (value >> shift)

Source:
    HdrHistogram, encoding V2: a header of 40 bytes, then the count of each cell as a zigzag LEB128
    number, where a negative one is a run of so many empty cells; compressed with zlib, behind a
    header of its own, in base 64.
"""

from __future__ import annotations

import base64
import struct
import zlib
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SIGNIFICANT_DIGITS = 3
LOWEST_NS = 1
HIGHEST_NS = 24 * 3600 * 1_000_000_000
"""The longest representable time; longer ones count as this."""

_PLAIN = 0x1C849313
_COMPRESSED = 0x1C849314
_HEADER = struct.Struct(">iiiiqqd")
_ENVELOPE = struct.Struct(">ii")


def encoded(cells: Iterable[tuple[int, int]]) -> str:
    """A histogram as text.

    Args:
        cells: Index and count of each non-empty cell, by ascending index.
    """
    counts = _counts(cells)
    header = _HEADER.pack(_PLAIN, len(counts), 0, SIGNIFICANT_DIGITS, LOWEST_NS, HIGHEST_NS, 1.0)
    packed = zlib.compress(header + counts)
    return base64.b64encode(_ENVELOPE.pack(_COMPRESSED, len(packed)) + packed).decode("ascii")


def _counts(cells: Iterable[tuple[int, int]]) -> bytes:
    """Counts of all cells up to the last non-empty one."""
    written = bytearray()
    next_index = 0
    for index, count in cells:
        empty = index - next_index
        if empty:
            written += _number(-empty if empty > 1 else 0)
        written += _number(count)
        next_index = index + 1
    return bytes(written)


@lru_cache(maxsize=1 << 14)
def _number(value: int) -> bytes:
    """A signed number as zigzag LEB128."""
    rest = value << 1 if value >= 0 else (-value << 1) - 1
    written = bytearray()
    while rest > 0x7F:  # noqa: PLR2004 - seven bits a byte
        written.append(rest & 0x7F | 0x80)
        rest >>= 7
    written.append(rest)
    return bytes(written)
