import pytest

from plimsoll import wording


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0, "0 %"),
        (1, "100 %"),
        (0.12, "12 %"),
        (0.95, "95 %"),
        (0.0031, "0.31 %"),
        (0.00063222, "0.063 %"),
        (0.05, "5 %"),
        (0.0712, "7.1 %"),
        (0.99996, "99.996 %"),
        (0.999, "99.9 %"),
        (0.969, "97 %"),
        (0.9969, "99.7 %"),
        (1.111, "111 %"),
    ],
)
def test_a_ratio_is_never_rounded_to_none_or_to_all_when_it_is_not(ratio, text):
    assert wording.percent(ratio) == text


@pytest.mark.parametrize(
    ("length_s", "text"),
    [(2.5, "2.5 s"), (0.0041, "4.1 ms"), (0.00025, "250 µs"), (0.0, "0 ns"), (180, "3 min")],
)
def test_times_have_the_unit_they_are_read_in(length_s, text):
    assert wording.seconds(length_s) == text


@pytest.mark.parametrize(
    ("number", "text"), [(12345, "12,345"), (98.66, "98.7"), (20.0, "20"), (0.4211, "0.42")]
)
def test_amounts_have_no_more_digits_than_they_need(number, text):
    assert wording.amount(number) == text


@pytest.mark.parametrize(
    ("value", "number", "decimals"),
    [(-10.4, "−10.4", "−10.40"), (-1234.5, "−1,234", "−1,234.50"), (-0.001, "−0.001", "0.00")],
)
def test_a_negative_number_has_the_sign_of_minus(value, number, decimals):
    assert wording.number(value) == number
    assert wording.decimals(value, 2) == decimals
    assert wording.number(-1e-7) == "−1e-07"


def test_processor_time_is_told_in_cores_or_in_parts_of_one():
    assert wording.cores(0.1239) == "12 % of a core"
    assert wording.cores(1.117) == "1.1 cores"


def test_long_lists_say_how_much_is_left_out():
    assert wording.listed(["a", "b"]) == "a, b"
    assert wording.listed(list("abcdef")) == "a, b, c and 3 more"


def test_one_is_not_several():
    assert wording.several(1, "row") == "1 row"
    assert wording.several(1200, "row") == "1,200 rows"


@pytest.mark.parametrize(
    ("value_ns", "text"),
    [
        (None, "–"),
        (0.0, "0 ns"),
        (950.0, "950 ns"),
        (1500.0, "1.5 µs"),
        (1_234_567.0, "1.23 ms"),
        (2e9, "2 s"),
        (90e9, "90 s"),
    ],
)
def test_times_have_their_natural_unit(value_ns: float | None, text: str) -> None:
    assert wording.duration(value_ns) == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (512, "512 B"), (22_400_000, "22.4 MB"), (16e9, "16 GB")]
)
def test_amounts_of_memory_have_their_natural_unit(value: float | None, text: str) -> None:
    assert wording.size(value) == text


@pytest.mark.parametrize(
    ("ratio", "text"), [(None, "–"), (0.0, "0 %"), (0.00984, "0.98 %"), (1.0, "100 %")]
)
def test_ratios_are_percentages(ratio: float | None, text: str) -> None:
    assert wording.percent(ratio) == text


@pytest.mark.parametrize(("length_s", "text"), [(0.213, "213 ms"), (5.0, "5 s"), (240.0, "4 min")])
def test_lengths_are_given_in_minutes_only_when_whole(length_s: float, text: str) -> None:
    assert wording.seconds(length_s) == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (1.0, "1 core"), (0.25, "0.25 cores"), (1.934, "1.93 cores")]
)
def test_one_core_is_one_core(value: float | None, text: str) -> None:
    assert wording.busy_cores(value) == text


@pytest.mark.parametrize(
    ("value", "width", "text"),
    [
        (1350.0, 100.0, "1,350"),
        (74.04, 40.0, "74.0"),
        (1.351, 0.3, "1.35"),
        (1.003, 0.008, "1.003"),
        (0.668, 0.1, "0.67"),
        (0.668, 0.01, "0.668"),
        (0.0312, 0.004, "0.031"),
        (0.0312, 0.002, "0.0312"),
        (0.000273, 0.0001, "0.00027"),
        (0.0000000013, 1.0, "0.0000000013"),
        (0.0, 1.0, "0.00"),
    ],
)
def test_a_factor_has_two_or_three_digits_however_small_it_is(value, width, text):
    assert wording.factor(value, width) == text
