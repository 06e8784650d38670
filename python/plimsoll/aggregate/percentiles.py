"""Percentiles, exact from the rows; `quantiles` defines them.

As many values as memory holds are sorted. Of more, and of several parts, the database counts them
by buckets instead, which takes ten times as long and bounded memory (`percentiles.sql`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plimsoll.aggregate import query
from plimsoll.statistics.quantiles import QUANTILES, enough, rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    Values = np.ndarray[Any, np.dtype[np.int64]]

MOST_SORTED = 1 << 24
"""The most values that are sorted: 128 MiB."""

ALL = "0"
"""The only part where there are no parts."""


def percentiles(
    database: duckdb.DuckDBPyConnection, value: str, source: str
) -> dict[str, int | None]:
    """Every quantile of `QUANTILES` by name; None where there are too few rows.

    Args:
        database: An open database.
        value: SQL expression of a whole number; rows where it is null do not count.
        source: What follows FROM.
    """
    found = of_parts(database, ALL, value, source)
    return found.get(0, dict.fromkeys(QUANTILES))


def of_parts(
    database: duckdb.DuckDBPyConnection, part: str, value: str, source: str
) -> dict[int, dict[str, int | None]]:
    """The same of each of several parts of the rows; parts without a quantile are left out.

    Args:
        database: An open database.
        part: SQL expression of a whole number: the part that a row belongs to.
        value: SQL expression of a whole number; rows where it is null do not count.
        source: What follows FROM.
    """
    rows = _found(database, part, value, source, list(QUANTILES.values()))
    names = {quantile: name for name, quantile in QUANTILES.items()}
    parts: dict[int, dict[str, int | None]] = {}
    for number, quantile, found in rows:
        parts.setdefault(number, dict.fromkeys(QUANTILES))[names[quantile]] = found
    return parts


def values(
    database: duckdb.DuckDBPyConnection, value: str, source: str, quantiles: Sequence[float]
) -> dict[float, int]:
    """Some quantiles, each to its value, the least first; without those with too few rows.

    Args:
        database: An open database.
        value: SQL expression of a whole number; rows where it is null do not count.
        source: What follows FROM.
        quantiles: The quantiles, from 0 to 1.
    """
    rows = _found(database, ALL, value, source, quantiles)
    return {quantile: found for _, quantile, found in sorted(rows)}


def _found(
    database: duckdb.DuckDBPyConnection,
    part: str,
    value: str,
    source: str,
    quantiles: Sequence[float],
) -> list[tuple[int, float, int]]:
    """Part, quantile and value."""
    database.execute(
        f"CREATE OR REPLACE TEMP VIEW measured AS SELECT {part} AS part, {value} AS value"  # noqa: S608
        f" FROM {source}"
    )
    if part == ALL and (found := _fitting(database)) is not None:
        return _sorted(found, quantiles)
    rows = database.execute(query.text("percentiles"), {"quantiles": list(quantiles)}).fetchall()
    return [(part, float(quantile), int(found)) for part, quantile, found in rows]


def _fitting(database: duckdb.DuckDBPyConnection) -> Values | None:
    """All values of `measured`, where memory holds them; counting them first is another pass."""
    statement = "SELECT value::BIGINT AS value FROM measured WHERE value IS NOT NULL LIMIT ?"
    found = np.asarray(database.execute(statement, [MOST_SORTED + 1]).fetchnumpy()["value"])
    return found if len(found) <= MOST_SORTED else None


def _sorted(values: Values, quantiles: Sequence[float]) -> list[tuple[int, float, int]]:
    """The same of all values together."""
    values, count = np.sort(values), len(values)
    known = [quantile for quantile in quantiles if enough(count, quantile)]
    return [(0, quantile, int(values[rank(count, quantile) - 1])) for quantile in known]
