import pytest

from plimsoll.verdicts import sameness

LENGTHS = {"0": 0.0, "2048": 2048.0, "8192": 8192.0, "32768": 32768.0}


def test_how_far_apart_numbers_lie_is_told_against_the_greatest():
    assert sameness.spread_ratio([98.0, 100.0, 99.0]) == pytest.approx(0.02)
    assert sameness.spread_ratio([0.0, 0.0]) == 0.0


def test_the_top_is_what_lies_within_a_ratio_of_the_best():
    values = {"a": 45_900.0, "b": 46_300.0, "c": 46_100.0, "d": 45_300.0}
    assert sameness.top_group(values, 0.02) == ("b", "c", "a")
    assert sameness.top_group({}, 0.02) == ()


def test_one_number_for_different_bodies_is_found():
    same = {"0": 8000.0, "2048": 7950.0, "8192": 8050.0, "32768": 7990.0}
    assert sameness.insensitive_group(same, LENGTHS, 0.02) == tuple(LENGTHS)


def test_throughput_that_falls_with_the_body_is_no_group():
    falling = {"0": 8000.0, "2048": 7000.0, "8192": 5000.0, "32768": 2000.0}
    assert sameness.insensitive_group(falling, LENGTHS, 0.02) == ()


def test_endpoints_with_bodies_of_like_length_are_no_group():
    names = [str(number) for number in range(4)]
    same = dict.fromkeys(names, 8000.0)
    assert sameness.insensitive_group(same, dict.fromkeys(names, 2048.0), 0.02) == ()


def test_an_endpoint_of_unknown_length_is_left_out():
    same = dict.fromkeys((*LENGTHS, "json"), 8000.0)
    assert "json" not in sameness.insensitive_group(same, LENGTHS, 0.02)


def test_series_that_rise_alike_are_identical():
    rising = [1000.0, 2000.0, 3000.0, 4000.0, 5000.0, 5100.0]
    almost = [value * 1.004 for value in rising]
    series = {"a": rising, "b": almost, "c": rising[::-1]}
    assert sameness.identical_pairs(series, 0.005) == (("a", "b"),)


def test_flat_series_are_identical_only_to_the_last_digit():
    flat = [5000.0, 5001.0, 4999.0, 5002.0, 5000.0]
    assert not sameness.are_identical(flat, [value + 1 for value in flat], 0.005)
    assert sameness.are_identical(flat, list(flat), 0.005)


@pytest.mark.parametrize("series", [[], [1.0, 5.0, 9.0, 13.0], [0.0] * 6])
def test_short_and_empty_series_are_like_no_other(series):
    assert not sameness.are_identical(series, series, 0.005)


def test_series_of_different_lengths_are_not_compared():
    assert not sameness.are_identical([1.0, 2, 3, 4, 5], [1.0, 2, 3, 4, 5, 6], 0.005)
