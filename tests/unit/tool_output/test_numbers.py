"""Numbers are read whole, as people write them, or refused with what they may be."""

from __future__ import annotations

import pytest

from plimsoll.tool_output import numbers
from plimsoll.tool_output.numbers import Marks, UnreadableNumber

DOTS = numbers.marks(["Latency 8.87ms 28.31ms"])
COMMAS = numbers.marks(["Latency 8,87ms 28,31ms"])


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("398334.02", 398334.02),
        ("398,334.02", 398334.02),
        ("398.334,02", 398334.02),
        ("398 334,02", 398334.02),
        ("6,014,809", 6014809),
        ("6.014.809", 6014809),
        ("6 014 809", 6014809),
        ("6'014'809", 6014809),
        ("6’014’809", 6014809),
        ("6_014_809", 6014809),
        ("60,14,809", 6014809),
        ("1,42", 1.42),
        ("0,123", 0.123),
        ("1234,567", 1234.567),
        ("4.53k", 4530),
        ("4,53k", 4530),
        ("2M", 2e6),
        ("~12", 12),
        ("3.493e+06", 3.493e6),
        ("-5", -5),
    ],
)
def test_a_number_that_says_what_it_means_is_read_by_itself(written: str, value: float) -> None:
    assert numbers.number(written) == pytest.approx(value)


@pytest.mark.parametrize("none", ["nan", "-nan", "-", "N/A", "inf", "NaN"])
def test_what_a_tool_prints_for_no_number_is_none(none: str) -> None:
    assert numbers.number(none) is None


@pytest.mark.parametrize(
    "broken",
    [
        "398,334.02.1",
        "1,23,4",
        "12,34.5",
        "1 23",
        "6,014,80",
        "1.2.3",
        "5;6",
        "x",
        "",
        "12ab",
        "1,",
    ],
)
def test_a_number_that_is_not_whole_is_refused(broken: str) -> None:
    with pytest.raises(UnreadableNumber):
        numbers.number(broken)


def test_what_may_mean_two_is_told_with_both() -> None:
    with pytest.raises(UnreadableNumber, match=r"1,234 or 1\.234"):
        numbers.number("1,234")


def test_what_counts_something_has_no_decimals() -> None:
    assert numbers.count("1,234") == 1234
    assert numbers.count("1.234") == 1234
    with pytest.raises(UnreadableNumber, match="has decimals"):
        numbers.count("12.5")


@pytest.mark.parametrize("rounded", ["33k", "19.63 k", "1,2M", "1,200K"])
def test_a_rounded_count_is_read_only_of_a_tool_that_rounds(rounded: str) -> None:
    with pytest.raises(UnreadableNumber, match="is rounded"):
        numbers.count(rounded)
    assert numbers.rounded_count("33k") == 33_000


def test_other_numbers_of_the_text_say_what_a_sign_is_for() -> None:
    assert numbers.number("1,234", DOTS) == 1234
    assert numbers.number("1,234", COMMAS) == pytest.approx(1.234)
    assert numbers.number("1.234", DOTS) == pytest.approx(1.234)
    assert numbers.number("1.234", COMMAS) == 1234
    assert numbers.number("1,234", numbers.marks(["6,014,809 requests"])) == 1234


def test_a_text_that_uses_a_sign_for_both_does_not_say() -> None:
    with pytest.raises(UnreadableNumber):
        numbers.number("1,234", numbers.marks(["1,42ms", "28.31ms"]))


def test_addresses_versions_and_clocks_say_nothing() -> None:
    assert numbers.marks(["http://127.0.0.1:8080/", "wrk 4.1.0", "12:30:01,5"]) == Marks()


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("438.06us", 438.06e-6),
        ("438.06µs", 438.06e-6),
        ("1,42ms", 1.42e-3),
        ("2 secs", 2.0),
        ("1.00m", 60.0),
        ("1m30.5s", 90.5),
        ("1h2m3s", 3723.0),
        (".5s", 0.5),
    ],
)
def test_lengths_of_time_have_their_units(written: str, value: float) -> None:
    assert numbers.seconds(written) == pytest.approx(value)


def test_a_kilobyte_is_what_the_tool_takes_it_for() -> None:
    assert numbers.size("1.5KB") == 1536
    assert numbers.size("1.5kB", decimal=True) == 1500
    assert numbers.size("1.5KiB", decimal=True) == 1536
    assert numbers.seconds("-nanus") is None
    with pytest.raises(UnreadableNumber):
        numbers.size("5 furlongs")
