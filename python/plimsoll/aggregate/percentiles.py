"""Percentiles, exact from the rows.

The quantile q of n values is the smallest of them that at least q · n of them do not exceed: a
value that was really measured, never one between two. It is given only for n ≥ 10 / (1 − q), so
that ten rows or more lie above it: 1,000 rows for the 99th percentile, 10,000 for the 99.9th.

Source:
    R. J. Hyndman and Y. Fan, *Sample Quantiles in Statistical Packages*, The American Statistician
    50(4), 1996, definition 1 (inverse of the empirical distribution).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.aggregate import query

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb

QUANTILES: Mapping[str, float] = {
    "p25": 0.25,
    "p50": 0.5,
    "p75": 0.75,
    "p90": 0.9,
    "p95": 0.95,
    "p99": 0.99,
    "p999": 0.999,
    "p9999": 0.9999,
}
"""Quantiles by the names they have in columns."""

ROWS_ABOVE = 10
"""A quantile is given only when at least so many rows are expected above it."""


def enough(rows: int, quantile: float) -> bool:
    """Whether a quantile can be told from so many rows."""
    return round(rows * (1 - quantile), 6) >= ROWS_ABOVE


def percentiles(
    database: duckdb.DuckDBPyConnection, value: str, source: str
) -> dict[str, int | None]:
    """Every quantile of `QUANTILES` by name; None where there are too few rows.

    Args:
        database: An open database.
        value: SQL expression of a whole number; rows where it is null do not count.
        source: What follows FROM.
    """
    found = of_parts(database, "0", value, source)
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
    database.execute(
        f"CREATE OR REPLACE TEMP VIEW measured AS SELECT {part} AS part, {value} AS value"  # noqa: S608
        f" FROM {source}"
    )
    rows = database.execute(
        query.text("percentiles"), {"quantiles": list(QUANTILES.values())}
    ).fetchall()
    names = {quantile: name for name, quantile in QUANTILES.items()}
    parts: dict[int, dict[str, int | None]] = {}
    for number, quantile, found in rows:
        parts.setdefault(number, dict.fromkeys(QUANTILES))[names[float(quantile)]] = int(found)
    return parts
