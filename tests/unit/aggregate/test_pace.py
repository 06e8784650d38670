"""How many answers came in each part of a stretch of time, and where that leads to."""

import pytest

from plimsoll.aggregate.pace import pace, trend_ratio
from recordings import request_rows


def test_answers_are_counted_in_the_part_in_which_they_ended():
    rows = request_rows(*({"due_ns": 0, "sent_ns": 0, "first_byte_ns": at, "done_ns": at}
                          for at in (9, 10, 14, 15, 39, 40)))  # fmt: skip
    assert pace(rows, (10, 40), 3) == [3, 0, 1]


def test_without_rows_every_part_is_empty():
    assert pace(None, (0, 10), 4) == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("counts", "trend"),
    [
        ([100, 100, 100], 0.0),
        ([90, 100, 110], 0.2),
        ([110, 100, 90], -0.2),
        ([100, 100, 0, 100, 100], 0.0),
        ([0, 0, 0], None),
    ],
)
def test_the_trend_is_the_change_over_the_whole_by_the_median_slope(counts, trend):
    found = trend_ratio(counts)
    assert found == (None if trend is None else pytest.approx(trend))
