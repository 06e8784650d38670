"""Rows as types have the columns of their tables."""

from __future__ import annotations

from typing import get_type_hints

import pyarrow as pa
import pytest

from plimsoll import tables
from plimsoll.aggregate.kinds import KindRow
from plimsoll.aggregate.rate_levels import RateLevelRow
from plimsoll.aggregate.stalls import StallsRow
from plimsoll.tables import Table

TYPES = {pa.int64(): int, pa.float64(): float, pa.string(): str}


@pytest.mark.parametrize(
    ("row", "table"),
    [
        (KindRow, tables.KINDS),
        (RateLevelRow, tables.RATE_LEVELS),
        (StallsRow, tables.STALLS),
    ],
)
def test_a_row_has_the_columns_of_its_table(row: type, table: Table) -> None:
    hints = get_type_hints(row)
    assert list(hints) == table.schema.names
    for column in table.columns:
        kind = TYPES[column.type]
        assert hints[column.name] in (kind, kind | None), column.name
