"""Servers over connections: which loads are points, and what a point says."""

from __future__ import annotations

import pytest

import experiments
import sample
from experiments import held, repetitions
from plimsoll.campaign.load import Model, Stage, StageKind
from plimsoll.comparison.over_connections import ConnectionsPoint, connections, series


def points(endpoint: str = "2048") -> dict[tuple[str, int], ConnectionsPoint]:
    (only,) = series(repetitions(experiments.rising().trials))
    assert only.endpoint == endpoint
    return {(point.framework, point.connections): point for point in only.points}


def test_loads_that_hold_three_numbers_of_connections_are_a_series() -> None:
    (only,) = series(repetitions(experiments.rising().trials))
    assert (only.driver, only.frameworks) == ("plimsoll", ("go", "php"))
    assert list(points()) == [(name, level) for name in ("go", "php") for level in (1, 100, 1000)]


def test_two_numbers_of_connections_are_none() -> None:
    trials = tuple(held("go", level, 900.0) for level in (1, 10))
    assert series(repetitions(trials)) == ()


def test_each_driver_and_endpoint_has_a_series_of_its_own() -> None:
    trials = tuple(
        held("go", level, 900.0, **changes)
        for level in (1, 10, 100)
        for changes in ({}, {"driver_name": "wrk"}, {"endpoint": "json"})
    )
    found = [(one.endpoint, one.driver) for one in series(repetitions(trials))]
    assert found == [("2048", "plimsoll"), ("2048", "wrk"), ("json", "plimsoll")]


def test_a_point_has_the_median_of_its_repetitions_with_an_interval() -> None:
    found = points()["go", 100]
    goodput = found.numbers["goodput_per_s"]
    assert goodput.value == 8050
    assert goodput.interval is not None
    assert goodput.interval.holds(8050)
    assert found.numbers["rapl_net_power_w"].value == 11.5
    assert found.load == "c100"


def test_what_is_not_known_is_not_there() -> None:
    assert "rapl_net_power_w" not in points()["php", 1].numbers


def test_a_point_of_void_trials_is_shown_and_does_not_count() -> None:
    found = points()["php", 1000]
    assert not found.counts
    assert found.numbers["failure_ratio"].value == 0.4
    assert points()["go", 1000].counts


@pytest.mark.parametrize(
    ("stages", "model", "expected"),
    [
        ([("hold", 64, 64)], "closed", 64),
        ([("warm_up", 8, 8), ("hold", 64, 64)], "closed", 64),
        ([("ramp", 0, 64), ("hold", 64, 64), ("hold", 64, 64)], "closed", 64),
        ([("hold", 64, 64), ("hold", 128, 128)], "closed", None),
        ([("hold", 64, 64)], "open", None),
        ([], "closed", None),
    ],
)
def test_a_load_has_a_number_of_connections_where_its_holds_have_one(
    stages: list[tuple[StageKind, int, int]], model: Model, expected: int | None
) -> None:
    held = tuple(Stage(kind, 1.0, start, end) for kind, start, end in stages)
    recording = sample.recording(load=sample.load(stages=held, model=model))
    assert connections(recording) == expected
