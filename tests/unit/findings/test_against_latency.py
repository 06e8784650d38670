"""Throughput against latency: which points there are, and which latency is told."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

import experiments
import sample
from plimsoll.findings import against_latency
from plimsoll.findings.findings import Findings


def without(found: Findings, *quantities: str) -> Findings:
    """The same findings as if some quantities were not known."""
    kept = pc.invert(pc.is_in(found.comparisons["quantity"], pa.array(quantities)))
    return replace(found, comparisons=found.comparisons.filter(kept))


def test_void_entries_are_left_out_and_doubtful_ones_say_so() -> None:
    field, _ = against_latency.of_findings(sample.findings())
    assert [(point.framework, point.level) for point in field.points] == [
        ("axum", "sound"),
        ("spring virtual", "sound"),
        ("go", "sound"),
        ("node", "doubtful"),
    ]


def test_there_is_one_for_each_endpoint_with_two_points() -> None:
    found = sample.findings()
    assert [one.endpoint for one in against_latency.of_findings(found)] == ["2048", "json"]
    alone = replace(found, trials=found.trials[:2])
    assert against_latency.of_findings(alone) == ()


def test_loads_of_one_endpoint_are_in_one_chart() -> None:
    (field,) = against_latency.of_findings(experiments.rising())
    assert len({point.load for point in field.points if point.framework == "go"}) == 3


def test_the_latency_is_p99_and_else_the_median_and_else_the_service_time() -> None:
    found = sample.findings()
    told = [found]
    for name in against_latency.LATENCIES[:-1]:
        told.append(without(told[-1], name))
    latencies = [against_latency.of_findings(one)[0].latency for one in told]
    assert latencies == list(against_latency.LATENCIES)


def test_once_measured_there_is_no_interval() -> None:
    field, _ = against_latency.of_findings(sample.findings())
    intervals = {point.framework: point.goodput.interval is not None for point in field.points}
    assert intervals == {"axum": True, "spring virtual": False, "go": True, "node": False}
