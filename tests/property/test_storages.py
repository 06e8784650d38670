"""Whatever is stored is read back, from every storage."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st

import postgres_server
from examples import some
from plimsoll import storage, tables
from stored_trials import in_order, put, recording

TEXTS = st.one_of(
    st.sampled_from(["", "ok", "NULL", "\\N", "\\.", '"', 'a,"b"\n\r\n', " ", "nan", "t", "“π”"]),
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=8),
)
NAMES = itertools.count()


pytestmark = pytest.mark.timeout(180)


@pytest.fixture(params=["parquet", "postgres"], scope="module")
def url(request: pytest.FixtureRequest) -> str:
    if request.param == "parquet":
        return ""
    server = request.getfixturevalue("postgres")
    return postgres_server.new_database(server)


@given(data=st.data())
@some(10, phases=(Phase.explicit, Phase.generate))
def test_rows_are_read_as_they_were_stored(
    url: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    table = data.draw(st.sampled_from([t for t in tables.TABLES if t.stored == "recorded"]))
    rows = pa.Table.from_pylist(data.draw(st.lists(row_of(table), max_size=5)), schema=table.schema)
    folder = tmp_path_factory.mktemp("stored") / f"campaign-{next(NAMES)}"
    trial = data.draw(st.text("abc.-_ é", min_size=1, max_size=5).map(lambda text: f"t{text}"))
    with storage.opened(folder, url) as results:
        put(results, recording(trial), **{table.name: rows})
    with storage.opened(folder, url) as results:
        found = results.table(trial, table.name).to_table()
        assert found.schema.equals(table.schema)
        assert in_order(found) == in_order(rows)
        assert results.recording(trial) == recording(trial)


def row_of(table: tables.Table) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({column.name: value_of(column) for column in table.columns})


def value_of(column: tables.Column) -> st.SearchStrategy[Any]:
    """Any value that fits into a column, and none where it may be missing."""
    values = _values(column.type)
    return st.none() | values if column.nullable else values


def _values(kind: pa.DataType) -> st.SearchStrategy[Any]:
    fits: list[tuple[Callable[[pa.DataType], bool], Callable[[], st.SearchStrategy[Any]]]] = [
        (pa.types.is_dictionary, lambda: TEXTS),
        (pa.types.is_boolean, st.booleans),
        (pa.types.is_floating, st.floats),
        (
            pa.types.is_unsigned_integer,
            lambda: st.integers(0, 2**kind.bit_width - 1),
        ),
        (
            pa.types.is_integer,
            lambda: st.integers(-(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1),
        ),
    ]
    return next(strategy() for is_of, strategy in fits if is_of(kind))
