"""The engine's records: their layout and outcomes, as the engine itself defines them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from plimsoll._engine import Layout

NUMPY_KINDS = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "u64": "<u8"}
"""The engine's names of types, in bits, and NumPy's, in bytes."""

ROWS = ("requests.bin", "connections.bin")
"""The engine's files of rows."""

COMPLETE = frozenset({"successful", "wrong"})
"""Groups of outcomes whose response is complete, right or wrong."""


def dtype(layout: Layout) -> np.dtype[np.void]:
    """NumPy type of one record.

    Args:
        layout: `size` in bytes, and `fields`: name, offset in bytes and type of each.
    """
    import numpy as np  # noqa: PLC0415

    names, offsets, kinds = zip(*layout["fields"], strict=True)
    formats = [NUMPY_KINDS[kind] for kind in kinds]
    description: Any = {
        "names": list(names),
        "offsets": list(offsets),
        "formats": formats,
        "itemsize": layout["size"],
    }
    return np.dtype(description)


@cache
def record_dtype(table: str) -> np.dtype[np.void]:
    """NumPy type of the records of a table: `requests` or `connections`."""
    return dtype(_described()[0][table])


def size_bytes(table: str) -> int:
    """Size of one record of a table; known without NumPy, which figures do not wait for."""
    return _described()[0][table]["size"]


@cache
def outcome_names() -> dict[int, str]:
    """Code of each outcome and its name."""
    return {code: name for code, name, _, _ in _described()[1]}


@cache
def complete_outcomes() -> frozenset[str]:
    """Names of the outcomes whose response is complete, right or wrong."""
    return frozenset(name for _, name, _, group in _described()[1] if group in COMPLETE)


@cache
def _described() -> tuple[Mapping[str, Layout], Sequence[tuple[int, str, str, str]]]:
    """What the engine says of its records: their layouts, and the outcomes."""
    from plimsoll import _engine  # noqa: PLC0415

    return _engine.record_layouts(), _engine.outcomes()
