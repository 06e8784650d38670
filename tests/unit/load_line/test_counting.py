"""What the requests of a load make of each limit."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.load_line import limits
from plimsoll.load_line.counting import DueRequests, tried

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
