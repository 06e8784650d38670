"""What several drivers say of one server."""

from __future__ import annotations

from dataclasses import replace

import pytest

import experiments
import sample
from experiments import driven, repetitions
from plimsoll.comparison.driver_comparison import ByDriver, disagreements
from plimsoll.findings.trial import TrialFindings


def drivers(*trials: TrialFindings) -> dict[str, ByDriver]:
    (only,) = disagreements(repetitions(trials))
    assert only.title == "go · 2048 · steady"
    return {one.driver: one for one in only.drivers}


def test_each_driver_is_held_against_our_engine_which_comes_first() -> None:
    (found,) = experiments.crossed().disagreements
    assert found.against == "plimsoll"
    assert [one.driver for one in found.drivers] == ["plimsoll", "ab", "wrk"]
    ours, _, wrk = found.drivers
    assert ours.ratio is None
    assert wrk.ratio is not None
    assert wrk.ratio.value == pytest.approx(8150 / 8050)
    assert wrk.ratio.interval is not None
    assert wrk.may_agree


def test_without_our_engine_they_are_held_against_the_first_by_name() -> None:
    found = drivers(driven("wrk", 8000, 1), driven("ab", 4000, 1))
    assert found["ab"].ratio is None
    assert found["wrk"].ratio is not None
    assert found["wrk"].ratio.value == 2


def test_how_far_apart_two_drivers_are_does_not_depend_on_which_is_ahead() -> None:
    more = drivers(driven("plimsoll", 4000, 1), driven("ab", 8000, 1))["ab"]
    less = drivers(driven("plimsoll", 8000, 1), driven("ab", 4000, 1))["ab"]
    assert more.apart == less.apart == 1


def test_void_trials_are_left_out_where_others_count() -> None:
    found = drivers(
        driven("plimsoll", 4000, 1),
        driven("ab", 8000, 1, littles_law="void"),
        driven("ab", 4400, 2),
    )["ab"]
    assert found.counts
    assert found.ratio is not None
    assert found.ratio.value == pytest.approx(1.1)
    assert found.trials == ("go.2048.steady.ab.1", "go.2048.steady.ab.2")


def test_void_trials_show_how_far_a_driver_lies_off_where_there_are_no_others() -> None:
    found = drivers(driven("plimsoll", 4000, 1), driven("ab", 8000, 1, littles_law="void"))["ab"]
    assert not found.counts
    assert found.ratio is not None
    assert found.ratio.value == 2


def test_a_driver_without_a_number_has_no_ratio() -> None:
    broken = driven("ab", 1, 1)
    none = replace(broken, data=replace(broken.data, summary=None))
    found = drivers(driven("plimsoll", 4000, 1), none)["ab"]
    assert (found.ratio, found.apart, dict(found.numbers)) == (None, None, {})


def test_what_a_driver_does_not_say_is_left_out() -> None:
    made = driven("ab", 8000, 1)
    summary = sample.changed(made.data.summary, service_time_p99_ns=None)
    told = replace(made, data=replace(made.data, summary=summary))
    found = drivers(driven("plimsoll", 4000, 1), told)["ab"]
    assert "service_time_p99_ns" not in found.numbers
    assert "service_time_p50_ns" in found.numbers


def test_a_campaign_of_one_driver_has_none() -> None:
    assert disagreements(repetitions((driven("wrk", 8000, 1), driven("wrk", 8000, 2)))) == ()
