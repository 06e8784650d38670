"""Latency over rate: of trials with one rate each, and of recordings with several."""

from __future__ import annotations

from dataclasses import replace

import pytest

import ladders as made
import sample
from plimsoll.findings import rate_curves
from plimsoll.findings.trial import TrialFindings
from plimsoll.report.sections import line_curves

ROW = {
    "start_ns": 0,
    "end_ns": 1,
    "completed": 99,
    "failed": 1,
    "time": "service_time",
    **{"p50_ns": 1e6, "p90_ns": 2e6, "p99_ns": None, "p999_ns": None},
}


def trials(*rates: float) -> list[TrialFindings]:
    loads = replace(made.LADDER, shares=()).steps(rates)
    recordings = [made.recording("go", load) for load in loads]
    return [TrialFindings(sample.trial_data(recording=one)) for one in recordings]


def test_trials_with_a_rate_each_are_a_curve_from_three_rates_on() -> None:
    assert rate_curves.of_trials(trials(100.0, 200.0)) == ()
    (found,) = rate_curves.of_trials(trials(300.0, 100.0, 200.0))
    assert [point.rate_per_s for point in found.points] == [100.0, 200.0, 300.0]
    assert (found.endpoint, found.driver, found.time) == ("2048", "plimsoll", "response_time")
    assert found.points[0].times_ns["p99"] == sample.summary("a").response_time.p99_ns


def test_closed_loads_are_none() -> None:
    assert rate_curves.of_trials(sample.findings().trials) == ()


def test_a_recording_with_several_rates_is_a_curve_of_its_own() -> None:
    rows = tuple({**ROW, "rate_per_s": rate} for rate in (200.0, 500.0, 1000.0))
    imported = replace(sample.sound_trial(), rate_levels=rows)
    (found,) = rate_curves.of_trials([imported])
    assert found.time == "service_time"
    assert [point.rate_per_s for point in found.points] == [200.0, 500.0, 1000.0]
    assert found.points[0].times_ns == {"p50": 1e6, "p90": 2e6}
    assert found.points[0].failed == 0.01


@pytest.mark.parametrize(("check", "level"), [("steady", "sound"), ("littles_law", "void")])
def test_several_rates_of_one_recording_are_not_steady_on_purpose(check: str, level: str) -> None:
    rows = tuple({**ROW, "rate_per_s": rate} for rate in (200.0, 500.0, 1000.0))
    sound = sample.sound_trial()
    void = replace(sample.verdict("littles_law", "a", "void"), check=check)
    imported = replace(sound, rate_levels=rows, verdicts=(*sound.verdicts[:2], void))
    (found,) = rate_curves.of_trials([imported])
    assert {point.level for point in found.points} == {level}


def test_the_report_draws_them() -> None:
    findings = replace(sample.findings(), rate_curves=(made.curves(),))
    section = line_curves.section(findings)
    assert section is not None and [one.title for one in section.pictures] == [
        "json, response time"
    ]
    assert line_curves.section(sample.findings()) is None
