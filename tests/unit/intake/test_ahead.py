"""What is read ahead comes in order, ends, and fails where it failed."""

from __future__ import annotations

import threading
from collections.abc import Generator

import pytest

from plimsoll.intake.ahead import taken_ahead


def failing(after: int) -> Generator[int]:
    yield from range(after)
    raise OSError("the disk is gone")


@pytest.mark.parametrize("count", [0, 1, 5, 1000])
def test_all_items_come_once_and_in_order(count: int) -> None:
    with taken_ahead((number for number in range(count)), 4) as items:
        assert list(items) == list(range(count))


def test_an_error_comes_behind_the_last_item() -> None:
    found: list[int] = []
    with taken_ahead(failing(3), 100) as items, pytest.raises(OSError, match="the disk is gone"):
        for item in items:
            found.append(item)
    assert found == [0, 1, 2]


def test_no_more_items_wait_than_asked_and_the_thread_ends_with_the_block() -> None:
    made: list[int] = []

    def endless() -> Generator[int]:
        number = 0
        while True:
            made.append(number)
            yield number
            number += 1

    before = threading.active_count()
    with taken_ahead(endless(), 4) as items:
        assert next(items) == 0
    assert threading.active_count() == before
    assert len(made) <= 4 + 3
