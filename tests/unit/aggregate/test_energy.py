"""Power and energy by RAPL and by a meter at the wall, and what is not believed of either."""

import math
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.aggregate.energy import (
    Energy,
    NoEnergy,
    columns,
    integral_j,
    rapl,
    refresh_s,
    wall,
)
from plimsoll.aggregate.usage import ReadingSeries, usage
from recordings import usage_rows

S = 1_000_000_000
HOLD = [(0, 30 * S)]
IDLE = (19.0, 21.0, 20.0, 20.5, 19.5)


def series(*readings):
    at_s, values = zip(*readings, strict=True)
    return ReadingSeries(np.array([round(t * S) for t in at_s]), np.array(values, dtype=float))


def by_rapl(loaded_w, before, after):
    """Energy under load, and without it with the power given second by second."""
    rows = [(float(t), "machine", "energy_j", 500 + loaded_w * t) for t in range(-1, 32)]
    for start_s, powers in ((-100.0, before), (50.0, after)):
        total = 0.0
        for second, power in enumerate([0.0, *powers]):
            total += power
            rows.append((start_s + second, "machine", "idle_energy_j", total))
    return usage(usage_rows(*rows))


def by_meter(loaded, before=IDLE, after=IDLE, without=()):
    """A meter that is read each second; `loaded` are the powers from second −1 on."""
    rows = [
        (second - 0.5, "machine", "wall_power_w", power)
        for second, power in enumerate(loaded)
        if second not in without
    ]
    for start_s, powers in ((-20.0, before), (35.0, after)):
        rows += [(start_s + n, "machine", "idle_wall_power_w", w) for n, w in enumerate(powers)]
    return usage(usage_rows(*rows))


def busy(mean_w=50.0, seconds=32):
    return [mean_w + (0.5 if second % 2 else -0.5) for second in range(seconds)]


def refusal(found):
    assert isinstance(found, NoEnergy)
    return found.sentence


def test_net_power_is_that_of_the_load_less_that_without_it():
    found = rapl(by_rapl(50.0, [20.0, 22.0, 18.0], [21.0, 19.0]), HOLD)
    assert found is not None
    assert found.gross_w == pytest.approx(50)
    assert found.idle_w == pytest.approx(20)
    assert found.net_w == pytest.approx(30)
    assert found.deviation_w == pytest.approx(1.58, abs=0.01)
    assert found.idle_s == 2
    assert found.is_significant
    assert found.net_interval_w is not None
    # Only the five seconds without load scatter: Student's t of 4 degrees of freedom is 2.776.
    assert found.net_interval_w.low == pytest.approx(30 - 2.776 * 1.5811 / math.sqrt(5), abs=0.01)
    assert found.net_interval_w.high == pytest.approx(30 + 2.776 * 1.5811 / math.sqrt(5), abs=0.01)


def test_a_net_power_within_the_scatter_without_load_is_no_figure():
    readings = by_rapl(23.0, [20.0, 22.0, 18.0], [21.0, 19.0])
    found = rapl(readings, HOLD)
    assert found is not None
    assert found.deviations == pytest.approx(3 / 1.58, abs=0.01)
    assert not found.is_significant
    figures = columns(readings, HOLD, 100.0)
    assert figures["rapl_power_w"] == pytest.approx(23)
    assert figures["rapl_j_per_ok"] == pytest.approx(0.23)
    assert figures["rapl_idle_power_w"] == pytest.approx(20)
    assert figures["rapl_net_power_w"] is figures["rapl_net_j_per_ok"] is None


@pytest.mark.parametrize("loaded_w", [10.0, 20.0])
def test_a_host_that_draws_no_more_under_load_is_no_figure_even_without_scatter(loaded_w):
    found = rapl(by_rapl(loaded_w, [20.0] * 3, [20.0] * 3), HOLD)
    assert found is not None
    assert not found.is_significant


@pytest.mark.parametrize(("before", "after"), [([], []), ([20.0] * 5, []), ([20.0], [20.0])])
def test_power_without_load_that_was_not_measured_on_both_sides_is_unknown(before, after):
    found = rapl(by_rapl(50.0, before, after), HOLD)
    assert found is not None
    assert found == Energy(found.gross_w)
    assert found.gross_w == pytest.approx(50)
    assert not found.is_significant


def test_a_host_that_shows_no_energy_has_none():
    assert rapl(usage(None), HOLD) is None
    assert wall(usage(None), HOLD) is None
    assert set(columns(usage(None), HOLD, 100.0).values()) == {None}


def test_energy_at_the_wall_is_integrated_from_power():
    found = wall(by_meter(busy()), HOLD)
    assert isinstance(found, Energy)
    assert found.gross_w == pytest.approx(50, abs=0.02)
    assert found.idle_w == pytest.approx(20)
    assert found.is_significant
    figures = columns(by_meter(busy()), HOLD, 1000.0)
    assert figures["wall_j_per_ok"] == pytest.approx(0.05, rel=0.01)
    assert figures["wall_net_j_per_ok"] == pytest.approx(0.03, rel=0.01)
    low, power, high = (figures[f"wall_net_power{end}_w"] for end in ("_low", "", "_high"))
    assert isinstance(low, float) and isinstance(power, float) and isinstance(high, float)
    assert low < power < high


def test_responses_of_which_it_is_unknown_how_many_are_right_have_no_energy_each():
    figures = columns(by_meter(busy()), HOLD, None)
    assert figures["wall_power_w"] is not None
    assert figures["wall_j_per_ok"] is figures["wall_net_j_per_ok"] is None


@pytest.mark.parametrize(
    ("loaded", "words"),
    [
        ([*busy()[:-3], -3.0, 50.0, 50.5], "-3 W"),
        ([*busy()[:-3], 6e6, 50.0, 50.5], "6,000,000 W"),
        (busy()[:20], "gave no reading for 11.5 s of the load"),
    ],
)
def test_a_meter_that_lies_or_dies_gives_no_energy(loaded, words):
    assert words in refusal(wall(by_meter(loaded), HOLD))
    assert columns(by_meter(loaded), HOLD, 100.0)["wall_power_w"] is None


def test_a_meter_that_stalls_gives_no_energy():
    stalled = by_meter(busy(), without=range(10, 16))
    assert "gave no reading for 7 s of the load" in refusal(wall(stalled, HOLD))
    late = by_meter(busy(), without=(10, 20))
    assert isinstance(wall(late, HOLD), Energy)


def test_a_meter_that_always_shows_the_same_gives_no_energy():
    constant = by_meter([42.0] * 32, [42.0] * 5, [42.0] * 5)
    assert "42 W in all 42 readings, with load and without" in refusal(wall(constant, HOLD))


@pytest.mark.parametrize(("every_s", "needed_s"), [(5, 50), (10, 100)])
def test_a_meter_that_is_too_slow_for_the_load_says_how_long_would_do(every_s, needed_s):
    slow = [50.0 + second // every_s % 2 for second in range(32)]
    sentence = refusal(wall(by_meter(slow, before=(), after=()), HOLD))
    assert f"a new number every {every_s} s" in sentence
    assert sentence.endswith(f"{needed_s} s would suffice")


@pytest.mark.parametrize("length_s", [30, 300])
@pytest.mark.parametrize(("decimal", "said"), [(0.0, "WattRes"), (0.1, "would suffice")])
def test_a_meter_of_whole_watts_that_shows_one_number_is_too_coarse_and_not_too_slow(
    length_s, decimal, said
):
    steady = [20.0, *[60.0 + decimal] * length_s, 20.0]
    rows = by_meter(steady, [20.0] * 10, ())
    sentence = refusal(wall(rows, [(0, length_s * S)]))
    assert said in sentence
    if not decimal:
        assert "shows whole watts, and 60 W in most of" in sentence
        assert "would suffice" not in sentence


def by_slow_meter(every_s, length_s, idle_s):
    """A plug of a host with 20 W and 60 W under load, whose number is new just before its end."""

    def shown_w(at_s):
        number = (at_s - length_s + 0.5) // every_s
        made_s = number * every_s + length_s - 0.5
        return (60.0 if 0 <= made_s < length_s else 20.0) + number % 7 / 10

    first_s, last_s = -idle_s - 2, length_s + 2 + idle_s
    rows = [
        (
            at_s + 0.1,
            "machine",
            "wall_power_w" if -2 <= at_s < length_s + 2 else "idle_wall_power_w",
            shown_w(at_s + 0.1),
        )
        for at_s in range(first_s - 2, last_s)
    ]
    return usage(usage_rows(*rows))


@pytest.mark.parametrize(
    ("every_s", "length_s", "idle_s", "needed_s"),
    [(1, 60, 10, 0), (3, 60, 10, 0), (5, 60, 10, 13), (5, 60, 13, 0), (120, 1300, 10, 358),
     (120, 1300, 358, 0)],
)  # fmt: skip
def test_what_a_slow_meter_still_shows_of_the_load_is_no_power_without_it(
    every_s, length_s, idle_s, needed_s
):
    found = wall(by_slow_meter(every_s, length_s, idle_s), [(0, length_s * S)])
    assert isinstance(found, Energy)
    if needed_s:
        assert found.idle_w is None and not found.is_significant
        said = f"its number changes every {every_s} s; {needed_s} s would suffice"
        assert found.idle_problem == said
    else:
        assert found.idle_w == pytest.approx(20.3, abs=0.3)
        assert found.idle_s == idle_s


@pytest.mark.parametrize(("each_s", "idle_s"), [(0.1, 1), (1, 10), (2, 10)])
def test_power_without_load_is_measured_for_seconds_and_not_for_readings(each_s, idle_s):
    count = round(idle_s / each_s)
    rows = [
        (start_s + each_s * n, "machine", name, 20.0 + n % 3)
        for name, start_s, most in (
            ("wall_power_w", -1.0, 320),
            ("idle_wall_power_w", -20.0, count),
            ("idle_wall_power_w", 340 * each_s, count),
        )
        for n in range(most)
    ]
    found = wall(usage(usage_rows(*rows)), [(0, round(310 * each_s * S))])
    assert isinstance(found, Energy)
    assert found.idle_s == idle_s


def test_a_step_of_the_meter_is_the_least_scatter_without_load():
    found = wall(
        by_meter([50.0 + second % 2 for second in range(32)], [20.0] * 5, [20.0] * 5), HOLD
    )
    assert isinstance(found, Energy)
    assert found.deviation_w == pytest.approx(1 / math.sqrt(12))


def test_a_meter_of_which_every_question_failed_is_as_one_that_was_not_there():
    assert wall(by_meter([], before=(), after=()), HOLD) is None


powers = st.floats(0, 5000)
readings = st.lists(st.tuples(st.floats(0.01, 5), powers), min_size=2, max_size=30).map(
    lambda steps: series(
        *zip(accumulate(gap for gap, _ in steps), (w for _, w in steps), strict=True)
    )
)


@given(readings, st.tuples(*[st.floats(0, 1)] * 3))
def test_energy_of_a_stretch_is_that_of_its_parts_and_within_its_powers(given_series, ends):
    first, last = int(given_series.at_ns[0]), int(given_series.at_ns[-1])
    start, middle, end = sorted(first + round(one * (last - first)) for one in ends)
    whole = integral_j(given_series, (start, end))
    parts = integral_j(given_series, (start, middle)) + integral_j(given_series, (middle, end))
    assert whole == pytest.approx(parts, rel=1e-9, abs=1e-6)
    length_s = (end - start) / S
    assert given_series.values.min() * length_s <= whole + 1e-6
    assert whole - 1e-6 <= given_series.values.max() * length_s


@given(powers, st.floats(-100, 100), st.integers(2, 50))
def test_energy_of_a_power_that_rises_evenly_is_exact(first_w, slope_w_per_s, count):
    rising = series(*((t, first_w + slope_w_per_s * t) for t in range(count)))
    end_s = count - 1
    exact_j = first_w * end_s + slope_w_per_s * end_s**2 / 2
    assert integral_j(rising, (0, end_s * S)) == pytest.approx(exact_j, rel=1e-9, abs=1e-6)


@given(st.integers(1, 40), st.integers(3, 10))
def test_a_meter_is_known_by_how_often_its_number_changes(every, changes):
    held = series(*((t, float(t // every)) for t in range(every * changes)))
    assert refresh_s(held) == every
    assert refresh_s(series((0, 1.0), (1, 1.0), (2, 3.0))) is None
