"""The numbers of a trial as people read them."""

from __future__ import annotations

from dataclasses import replace

import pytest

import sample
from plimsoll import wording
from plimsoll.aggregate.steady_state import SteadyState
from plimsoll.aggregate.summary import Summary, TimeStatistics
from plimsoll.report import trial_numbers


def test_all_numbers_of_a_row_of_times_have_the_same_decimals() -> None:
    name, meaning, values = trial_numbers.times(sample.summary("t", 6100.0))[0]
    assert (name, meaning) == ("response time, ms", "done − due")
    assert values == ["172", "33", "131", "164", "213", "295", "361", "738", "1,148", "–", "1,803"]


def test_a_row_of_times_of_which_nothing_is_known_has_no_unit() -> None:
    unknown = replace(sample.summary("t"), lag=TimeStatistics())
    name, _, values = trial_numbers.times(unknown)[-1]
    assert name == "scheduling delay"
    assert set(values) == {wording.ABSENT}


def counts(answers: int, connections: int) -> Summary:
    return sample.summary("t", completed=answers, connections_opened=connections)


def test_an_absent_percentile_has_its_reason() -> None:
    assert trial_numbers.why_absent(counts(42_700, 200_000)) == (
        "A percentile is shown where at least 10 values lie above it: 99.99 % from 100,000 "
        "values on; this trial has 42,700 responses in the measurement window and "
        "200,000 connections."
    )
    assert trial_numbers.why_absent(counts(100_000, 100_000)) == ""


@pytest.mark.parametrize(("answers", "connections"), [(500, 5000), (5000, 500)])
def test_few_answers_or_connections_hide_more_percentiles(answers: int, connections: int) -> None:
    assert "99 % from 1,000, 99.9 % from 10,000" in trial_numbers.why_absent(
        counts(answers, connections)
    )


def test_start_up_and_steady_state_are_facts_of_the_server() -> None:
    state = SteadyState("warm-up", (700.0, 1000.0), 990.0, 1000.0, risen_after_s=0.3)
    assert trial_numbers.steady_state(state) == [
        ("90 % of steady throughput after", "300 ms"),
        ("Steady state", "warm-up: 700/s → 1,000/s"),
    ]
    short = SteadyState("too short to tell", (), 990.0, None)
    assert trial_numbers.steady_state(short) == [("Steady state", "too short to tell")]
    assert trial_numbers.steady_state(None) == []
