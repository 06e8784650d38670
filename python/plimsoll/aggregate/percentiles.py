"""Percentiles, exact from the rows; `quantiles` defines them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.aggregate import query
from plimsoll.aggregate.quantiles import QUANTILES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb


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
    rows = _found(database, "0", value, source, quantiles)
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
    rows = database.execute(query.text("percentiles"), {"quantiles": list(quantiles)}).fetchall()
    return [(part, float(quantile), int(found)) for part, quantile, found in rows]
