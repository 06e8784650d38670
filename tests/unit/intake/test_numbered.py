"""Logs that number their requests know how many of them have no line."""

from __future__ import annotations

import pyarrow as pa
import pytest

from plimsoll.intake import numbered
from plimsoll.intake.numbered import Numbered


def seen(*batches: tuple[list[int | None], str]) -> Numbered:
    found = Numbered()
    for numbers, name in batches:
        found.add(pa.array(numbers, pa.int64()), pa.array([name] * len(numbers)))
    return found


@pytest.mark.parametrize(
    ("batches", "missing"),
    [
        ([], 0),
        ([([3, 0, 2, 1], "")], 0),
        ([([0, 1, 3], ""), ([7, 5], "")], 3),
        ([([70, 71, 73], "")], 1),  # its beginning was cut off, which is no hole
        ([([0, 1, 3], "a"), ([0, 1, 2], "b")], 1),
        ([([0, 1, 2], ""), ([0, 1, 2], "")], 0),  # of two load generators
        ([([None, None], "")], 0),
    ],
)
def test_numbers_between_the_first_and_the_last_without_a_line_are_missing(batches, missing):
    assert seen(*batches).missing == missing


def test_series_beyond_a_limit_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbered, "MOST_SERIES", 1)
    assert seen(([0, 2], "a"), ([0, 9], "b"), ([5], "a")).missing == 3
