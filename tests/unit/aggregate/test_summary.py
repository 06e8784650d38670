"""The type of a summary is the row of the data dictionary."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_type_hints

import pyarrow as pa
import pytest

import sample
from plimsoll import tables
from plimsoll.aggregate.summary import TIMES, Summary, TimeStatistics
from plimsoll.report import trial_numbers

PLAIN = {int: pa.types.is_int64, float: pa.types.is_float64, str: pa.types.is_dictionary}
"""Type of an attribute to what its column must be."""


def attributes() -> dict[str, Any]:
    """Each column of a summary and the type of its attribute, in order."""
    of_times = get_type_hints(TimeStatistics)
    found: dict[str, Any] = {}
    for name, kind in get_type_hints(Summary).items():
        times = {f"{name}_{one}": of_times[one] for one in of_times}
        found |= times if kind is TimeStatistics else {name: kind}
    return found


def test_a_summary_has_an_attribute_for_each_column_in_order() -> None:
    assert list(attributes()) == [column.name for column in tables.MEASURED]


@pytest.mark.parametrize("column", tables.MEASURED, ids=lambda column: column.name)
def test_an_attribute_has_the_type_of_its_column_and_is_optional_where_it_is_nullable(
    column: tables.Column,
) -> None:
    kind = attributes()[column.name]
    (plain,) = [one for one in PLAIN if kind in (one, one | None)]
    assert PLAIN[plain](column.type)
    assert (kind == plain | None) is column.nullable


def test_a_time_has_each_statistic_of_the_dictionary() -> None:
    assert tuple(one.name for one in fields(TimeStatistics)) == tuple(
        f"{name}_ns" for name in tables.STATISTICS
    )


def test_the_words_of_times_are_those_of_each_time() -> None:
    assert tuple(trial_numbers.TIMES) == TIMES


def test_a_row_becomes_a_summary_and_a_summary_its_row() -> None:
    made = sample.summary("t", response_time_p9999_ns=7.0)
    assert made.response_time.p9999_ns == made.value("response_time_p9999_ns") == 7.0
    assert Summary.of_row(made.row) == made


def test_what_is_no_column_has_no_value() -> None:
    with pytest.raises(KeyError):
        sample.summary("t").value("response_time")
