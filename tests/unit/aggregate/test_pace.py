"""How many answers came in each part of a stretch of time, and where that leads to."""

from plimsoll.aggregate.pace import pace
from recordings import request_rows


def test_answers_are_counted_in_the_part_in_which_they_ended():
    rows = request_rows(*({"due_ns": 0, "sent_ns": 0, "first_byte_ns": at, "done_ns": at}
                          for at in (9, 10, 14, 15, 39, 40)))  # fmt: skip
    assert pace(rows, (10, 40), 3) == [3, 0, 1]


def test_without_rows_every_part_is_empty():
    assert pace(None, (0, 10), 4) == [0, 0, 0, 0]
