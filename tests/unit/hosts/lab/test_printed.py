"""What a tool printed on several hosts, as one."""

from __future__ import annotations

import statistics
from dataclasses import replace

import pytest

from plimsoll.hosts.lab import printed
from plimsoll.tool_output.reported import ReportedStatistics, Source
from plimsoll.verdicts.figure_checks import littles_law
from plimsoll.verdicts.limits import Limits

TIMES_S = {"one": [0.001, 0.002, 0.003, 0.010], "two": [0.004, 0.005]}


def figures(host: str, duration_s: float = 2.0) -> ReportedStatistics:
    """What h2load prints of the requests of a host."""
    times_s = TIMES_S[host]
    return ReportedStatistics(
        source=Source("h2load.txt"),
        tool="h2load",
        connections=1.0,
        duration_s=duration_s,
        threads=1,
        requests=float(len(times_s)),
        failures={"errored": 1.0},
        counts_failures=True,
        throughput_per_s=len(times_s) / duration_s,
        counting="responses",
        times_s={
            "mean": statistics.mean(times_s),
            "stddev": statistics.pstdev(times_s),
            "min": min(times_s),
            "max": max(times_s),
            "p99": max(times_s),
        },
        times="service",
        timed="responses",
        received_bytes=100.0,
    )


def test_counts_are_added_and_times_are_those_of_all_requests() -> None:
    found = printed.together([figures("one"), figures("two")])
    assert found is not None
    every_s = [*TIMES_S["one"], *TIMES_S["two"]]
    assert (found.requests, found.ended, found.received_bytes) == (6.0, 8.0, 200.0)
    assert (found.connections, found.threads, found.throughput_per_s) == (2.0, 2, 3.0)
    assert found.times_s == pytest.approx(
        {
            "mean": statistics.mean(every_s),
            "stddev": statistics.pstdev(every_s),
            "min": 0.001,
            "max": 0.010,
        }
    ), "percentiles do not add up"


def test_a_load_of_several_hosts_is_judged_by_littles_law() -> None:
    found = printed.together([figures("one"), figures("two")])
    assert found is not None
    busy = replace(found, connections=found.timed_per_s and found.timed_per_s * 0.025 / 6)
    judged = littles_law.judge(busy, Limits({}))
    assert judged is not None
    assert judged.level == "sound"


def test_a_host_that_ended_sooner_sent_nothing_more() -> None:
    found = printed.together([figures("one", 2.0), figures("two", 1.0)])
    assert found is not None
    assert (found.duration_s, found.throughput_per_s) == (2.0, 3.0)


def test_what_one_host_did_not_print_is_unknown_of_all() -> None:
    silent = replace(figures("two"), times_s={}, received_bytes=None)
    found = printed.together([figures("one"), silent])
    assert found is not None
    assert (found.times_s, found.received_bytes) == ({}, None)
    assert printed.together([figures("one"), None]) is None
