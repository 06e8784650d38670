"""Quantities as people write them."""

from __future__ import annotations

import pytest

from plimsoll.campaign.quantities import (
    UnreadableQuantity,
    cores,
    count,
    duration_s,
    number,
    share,
)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("500ms", 0.5),
        ("30s", 30.0),
        ("2m", 120.0),
        ("1h", 3600.0),
        ("1.5s", 1.5),
        (".5s", 0.5),
        (" 10 s ", 10.0),
        ("30", 30.0),
        (30, 30.0),
        (0.25, 0.25),
        ("0s", 0.0),
        ("0.1ms", 0.0001),
    ],
)
def test_a_duration_is_read_in_seconds(written: object, seconds: float) -> None:
    assert duration_s(written) == seconds


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("5x", "`5x` is not a duration: unknown unit `x`"),
        ("5M", "`5M` is not a duration: unknown unit `M`"),
        ("soon", "`soon` is not a duration"),
        ("", "`` is not a duration"),
        ("s", "`s` is not a duration"),
        ("-5s", "`-5s` is negative"),
        (-1, "`-1` is negative"),
        ("1m30s", "`1m30s` is not a duration"),
        ("nan", "`nan` is not a duration"),
        (float("nan"), "`nan` is not a duration"),
        (float("inf"), "`inf` is not a duration"),
        (True, "`True` is not a duration"),
        (None, "`None` is not a duration"),
        ([1], "`[1]` is not a duration"),
    ],
)
def test_what_is_no_duration_is_named_with_a_way_out(written: object, problem: str) -> None:
    with pytest.raises(UnreadableQuantity) as raised:
        duration_s(written)
    assert raised.value.message == str(raised.value) == problem
    assert "`500ms`" in raised.value.hint


@pytest.mark.parametrize(
    ("written", "things"),
    [
        ("10k", 10_000),
        ("1m", 1_000_000),
        ("1M", 1_000_000),
        ("1.5k", 1_500),
        ("250", 250),
        ("9_000", 9_000),
        (64, 64),
        (64.0, 64),
        (0, 0),
    ],
)
def test_a_count_is_read(written: object, things: int) -> None:
    assert count(written) == things
    assert number(written) == things


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("1.5", "`1.5` is not a whole number"),
        (0.5, "`0.5` is not a whole number"),
        ("1.0005k", "`1.0005k` is not a whole number"),
        ("10g", "`10g` is not a count: unknown multiple `g`"),
        ("many", "`many` is not a count"),
        ("-1", "`-1` is negative"),
        (False, "`False` is not a count"),
    ],
)
def test_what_is_no_count_is_named_with_a_way_out(written: object, problem: str) -> None:
    with pytest.raises(UnreadableQuantity) as raised:
        count(written)
    assert raised.value.message == problem
    assert "`10k`" in raised.value.hint


@pytest.mark.parametrize(
    ("written", "ratio"),
    [("5%", 0.05), ("0.5 %", 0.005), ("0.05", 0.05), (0.05, 0.05), (" 5% ", 0.05), ("0%", 0.0)],
)
def test_a_share_is_read_in_percent_or_as_a_ratio(written: object, ratio: float) -> None:
    assert share(written) == ratio


@pytest.mark.parametrize("written", ["", "%", "five%", "5x%", "5s", "5%%", True, None, "-5%"])
def test_what_is_no_share_is_refused_with_a_way_out(written: object) -> None:
    with pytest.raises(UnreadableQuantity) as raised:
        share(written)
    assert "negative" in raised.value.message or "`5%`" in raised.value.hint


def test_a_number_need_not_be_whole() -> None:
    assert number("0.5") == 0.5
    assert number("1.5k") == 1500


@pytest.mark.parametrize(
    ("written", "chosen"),
    [
        ("0", (0,)),
        (0, (0,)),
        ("0-3", (0, 1, 2, 3)),
        ("0,2", (0, 2)),
        ("4-5, 0-1", (0, 1, 4, 5)),
        ([2, 0, 2], (0, 2)),
        (["0-1", 4], (0, 1, 4)),
    ],
)
def test_a_set_of_cores_is_read_in_order_and_once(written: object, chosen: tuple[int, ...]) -> None:
    assert cores(written) == chosen


@pytest.mark.parametrize("written", ["", "a", "3-1", "-1", [], [True], 1.5, "0-99999999999", None])
def test_what_is_no_set_of_cores_is_refused(written: object) -> None:
    with pytest.raises(UnreadableQuantity) as raised:
        cores(written)
    assert "`0-3`" in raised.value.hint
