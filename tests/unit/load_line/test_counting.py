"""What the requests of a load make of each limit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import sample
from plimsoll.load_line import counting, limits
from plimsoll.load_line.counting import DueRequests, tried
from plimsoll.load_line.tries import Try
from plimsoll.recording import RecordedStage

P90 = limits.latency(90, 0.1)
JUDGED = (P90, limits.errors(0.01), limits.SENDING)
WINDOW_NS = (1e9, 3e9)
RATE_PER_S = 500.0


def rows(latency_s: float = 0.01, count: int = 1000) -> DueRequests:
    due_ns = np.linspace(1e9, 3e9, count, endpoint=False)
    yes, no = np.ones(count, np.bool_), np.zeros(count, np.bool_)
    return DueRequests(due_ns, np.full(count, latency_s * 1e9), yes, yes.copy(), no)


def test_a_request_due_too_late_to_be_judged_is_left_out() -> None:
    found = tried(rows(), WINDOW_NS, RATE_PER_S, JUDGED)
    assert found.counts["p90"].requests == 950
    assert found.counts["errors"].requests == 1000
    assert all(found.state(limit) == "held" for limit in JUDGED)


def test_a_late_request_and_a_failed_one_miss_the_limit_of_latency() -> None:
    some = rows()
    some.latency_ns[:30] = 0.2e9
    some.is_failed[30:50] = True
    found = tried(some, WINDOW_NS, RATE_PER_S, JUDGED)
    assert found.counts["p90"].missed == 50
    assert found.counts["errors"].missed == 20


def test_a_request_without_a_response_is_late_and_no_error() -> None:
    some = rows()
    some.is_ended[:200] = False
    some.latency_ns[:200] = WINDOW_NS[1] - some.due_ns[:200]
    found = tried(some, WINDOW_NS, RATE_PER_S, JUDGED)
    assert found.counts["p90"].missed == 200
    assert (found.counts["errors"].requests, found.counts["errors"].missed) == (800, 0)


def test_what_was_never_sent_or_never_became_due_was_not_sent() -> None:
    some = rows(count=600)
    some.is_sent[-50:] = False
    found = tried(some, WINDOW_NS, RATE_PER_S, JUDGED)
    missing = 1000 - 4 * round(1000**0.5) - 600
    assert found.counts["sent"].missed == pytest.approx(50 + missing, abs=3)
    assert found.state(limits.SENDING) == "failed"


def test_a_few_arrivals_less_are_chance() -> None:
    found = tried(rows(count=950), WINDOW_NS, RATE_PER_S, JUDGED)
    assert found.counts["sent"].missed == 0


def test_percentiles_are_given_where_enough_requests_support_them() -> None:
    assert set(tried(rows(), WINDOW_NS, RATE_PER_S, JUDGED).times_ns) == {"p50", "p90", "p99"}
    assert set(tried(rows(count=30), WINDOW_NS, 15.0, JUDGED).times_ns) == {"p50"}


def test_a_try_without_a_request_is_open() -> None:
    found = tried(rows(count=0), WINDOW_NS, 0.1, JUDGED)
    assert found.state(P90) == "open"
    assert not found.times_ns


SECOND_NS = 1_000_000_000
EACH_NS = SECOND_NS // 10_000
"""10,000 requests are due in the second that is held, evenly."""
P99 = limits.latency(99, 0.02)
OF_STORED = (P99, limits.errors(0.001), limits.SENDING)


def stored(**outcomes: range) -> Try:
    """A try whose requests got a response after 1 ms, but for those with such outcomes."""
    of_rows = ["ok"] * 10_000
    for name, places in outcomes.items():
        for place in places:
            of_rows[place] = name
    due_ns = [SECOND_NS + place * EACH_NS for place in range(10_000)]
    has_none = [one in ("not_sent", "connect_refused") for one in of_rows]
    is_open = [one in ("not_sent", "unfinished") for one in of_rows]
    rows = pa.table(
        {
            "due_ns": due_ns,
            "sent_ns": pa.array(due_ns, pa.int64(), mask=np.array(has_none)),
            "done_ns": pa.array(
                [one + 1_000_000 for one in due_ns], pa.int64(), mask=np.array(is_open)
            ),
            "outcome": of_rows,
        }
    )
    hold = RecordedStage("hold", SECOND_NS, 2 * SECOND_NS, 10_000.0, 10_000.0, 1)
    recording = replace(sample.recording(), stages=(hold,))
    return counting.of_stored(recording, rows, 10_000.0, OF_STORED)


def states(found: Try) -> list[str]:
    return [found.state(limit) for limit in OF_STORED]


def test_what_still_waits_to_be_sent_at_the_end_is_no_error() -> None:
    found = stored(not_sent=range(9_970, 10_000))
    assert found.counts["errors"].missed == 0
    assert found.counts["sent"].missed == 30
    assert all(map(found.is_inside, OF_STORED))
    assert not stored(reset_waiting=range(9_970, 10_000)).is_inside(OF_STORED[1])


def test_what_waited_longer_than_the_limit_to_be_sent_is_late() -> None:
    long = stored(not_sent=range(9_000, 10_000))
    assert long.counts["p99"].missed == 1000 - 200
    assert states(long) == ["failed", "held", "failed"]


def test_a_server_that_stops_fails_its_try_by_latency_and_sending_and_not_by_errors() -> None:
    stopped = stored(unfinished=range(5_000, 5_256), not_sent=range(5_256, 10_000))
    assert states(stopped) == ["failed", "held", "failed"]
    at_the_end = stored(unfinished=range(9_800, 9_850), not_sent=range(9_850, 10_000))
    assert at_the_end.is_inside(P99)
    assert not at_the_end.is_inside(limits.SENDING)


def test_refused_connections_are_errors_that_were_not_sent() -> None:
    refused = stored(connect_refused=range(0, 10_000, 10))
    assert [refused.counts[name].missed for name in ("errors", "sent")] == [1000, 1000]
    assert states(refused) == ["failed", "failed", "failed"]


@pytest.mark.parametrize("outcome", ["reset_waiting", "connect_refused"])
def test_a_request_that_failed_without_a_response_is_in_no_percentile(outcome: str) -> None:
    found = stored(**{outcome: range(0, 10_000, 50)})
    assert set(found.times_ns.values()) == {1e6}
    assert found.counts["p99"].missed == 196
    assert found.state(P99) == "failed"


def test_a_complete_response_that_is_wrong_has_a_latency() -> None:
    found = stored(wrong_status=range(10_000))
    assert set(found.times_ns.values()) == {1e6}
    assert found.counts["errors"].missed == 10_000


@pytest.mark.parametrize("outcome", ["unfinished", "not_sent"])
def test_what_the_end_cut_short_counts_with_what_it_had_waited(outcome: str) -> None:
    found = stored(**{outcome: range(1_000)})
    assert found.times_ns["p50"] == 1e6
    assert found.times_ns["p99"] > 0.98e9


def test_a_try_of_failures_has_no_percentile() -> None:
    assert not stored(reset_waiting=range(10_000)).times_ns
