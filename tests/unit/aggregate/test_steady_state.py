from dataclasses import asdict, fields

import numpy as np
import pytest

from plimsoll.aggregate import steady_state
from plimsoll.aggregate.steady_state import classified
from recordings import simulate


def counts(*levels, scatter=0.01):
    draw = np.random.default_rng(2)
    return [
        float(level * (1 + scatter * draw.standard_normal()))
        for level, n in levels
        for _ in range(n)
    ]


@pytest.mark.parametrize(
    ("levels", "name", "steady"),
    [
        ([(1000, 60)], "flat", 1000),
        ([(700, 10), (1000, 50)], "warm-up", 1000),
        ([(500, 10), (800, 10), (1000, 40)], "warm-up", 1000),
        ([(1000, 10), (800, 50)], "slowdown", 800),
        ([(700, 10), (1000, 10), (900, 40)], "slowdown", 900),
        ([(1000, 40), (700, 20)], "no steady state", None),
        ([(1000, 10), (700, 10), (1000, 40)], "no steady state", None),
    ],
)
def test_a_hold_is_classified_by_its_levels(levels, name, steady):
    found = classified(counts(*levels), 60.0)
    assert found.name == name
    assert len(found.levels_per_s) == len(levels)
    assert found.steady_per_s == (None if steady is None else pytest.approx(steady, rel=0.01))


def test_the_mean_of_a_hold_is_told_against_its_steady_state():
    found = classified(counts((500, 12), (1000, 48), scatter=0.001), 60.0)
    assert found.start_ratio == pytest.approx(0.1, abs=0.01)
    assert found.levels_ratio == pytest.approx(500 / 900, abs=0.02)


@pytest.mark.parametrize(("values", "hold_s"), [([1000.0] * 18, 9.0), ([4.0, 6.0] * 30, 60.0)])
def test_a_short_hold_and_one_with_few_answers_are_too_short_to_tell(values, hold_s):
    found = classified(values, hold_s)
    assert found.name == steady_state.SHORT
    assert found.levels_per_s == ()
    assert (found.start_ratio, found.levels_ratio) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("levels", "name"),
    [
        ([(1e6, 60)], "flat"),
        ([(2e6, 10), (1e6, 50)], "warm-up"),
        ([(1e6, 10), (2e6, 50)], "slowdown"),
        ([(1e6, 20), (2e6, 20), (1e6, 20)], "no steady state"),
    ],
)
def test_times_that_become_shorter_are_a_warm_up_and_longer_ones_a_slowdown(levels, name):
    answers = [(500, time_ns) for time_ns in counts(*levels)]
    found = steady_state.classified_times(answers, 60.0)
    assert found.name == name
    assert found.levels_per_s[0] == pytest.approx(1e9 / levels[0][0], rel=0.01)


@pytest.mark.parametrize(
    ("answers", "hold_s"), [([(500, 1e6)] * 18, 9.0), ([(5, 1e6)] * 60, 60.0), ([], 60.0)]
)
def test_times_of_few_answers_or_a_short_hold_are_not_classified(answers, hold_s):
    assert steady_state.classified_times(answers, hold_s).name == steady_state.SHORT


@pytest.mark.parametrize(
    ("hold_s", "windows"), [(0.3, 1), (4.0, 8), (12.5, 25), (30.4, 30), (240.0, 240), (9e3, 600)]
)
def test_longer_holds_have_longer_windows(hold_s, windows):
    assert steady_state.windows(hold_s) == windows


def test_a_server_is_there_when_it_answers_nine_tenths_for_half_a_second():
    assert steady_state.risen_after_s([0, 10, 50, 95, 90, 95, 100, 100], 100) == pytest.approx(0.3)
    assert steady_state.risen_after_s([100] * 8, 100) == 0.0
    assert steady_state.risen_after_s([10] * 8, 100) is None


def row(**options):
    tables = simulate(**{"ramp_s": 0, "hold_s": 12.0, **options})
    found = steady_state.table(tables.recording, tables.requests, tables.usage, tables.served)
    (only,) = found.to_pylist()
    return only


def test_start_up_is_a_result_of_its_own():
    found = row(speeds={0.0: 0.3, 0.8: 1.0})
    assert found["name"] == "flat"
    assert found["risen_after_s"] == pytest.approx(0.8, abs=0.15)
    assert 0.5 < found["server_busy_ratio"] <= 1


def test_what_waits_cost_is_no_more_than_response_times_leave_room_for():
    waited = {"others_busy": 0.6, "others_on": (1,), "driver_busy": 0.4, "server_busy": 0.3}
    assert row(**waited)["lost_ratio"] == pytest.approx(0.6, abs=0.01)
    assert row(**waited, spread=0.0)["lost_ratio"] < 0.1


def test_where_the_load_rises_start_up_cannot_be_told():
    assert row(ramp_s=2.0)["risen_after_s"] is None


def test_a_trial_that_held_nothing_is_not_classified():
    tables = simulate(tables=False, ramp_s=0, hold_s=1.0)
    without = steady_state.of_trial(
        tables.recording.__class__(**{**vars(tables.recording), "stages": ()}), None
    )
    assert without is None


def test_the_row_of_a_trial_is_the_type_of_its_steady_state() -> None:
    names = [one.name for one in fields(steady_state.SteadyState)]
    assert names == steady_state.SCHEMA.names
    found = steady_state.SteadyState("flat", (9.0,), 9.0, 9.0, risen_after_s=0.5)
    assert steady_state.SteadyState.of_row({**asdict(found), "levels_per_s": [9.0]}) == found
