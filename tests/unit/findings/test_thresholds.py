"""Limits that a person sets on the result of a load."""

from typing import Any

import pytest

import sample
from plimsoll import tables
from plimsoll.aggregate.timeouts import Timeouts
from plimsoll.aggregate.unfinished import Unfinished
from plimsoll.campaign.quantities import UnreadableQuantity
from plimsoll.findings import thresholds

SUMMARY = sample.summary(
    "t",
    response_time_p99_ns=250e6,
    response_time_p999_ns=None,
    response_time_p9999_ns=3e9,
    failure_ratio=0.01,
    failed=12,
    throughput_per_s=2000.0,
    goodput_per_s=1000.0,
)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("p99<250ms", "p99>250ms"),
        ("failures<1%", "failures>1%"),
        ("failed < 3", "failed > 3"),
        ("goodput>5k", "goodput<5k"),
        ("p99>250ms", ""),
        ("throughput<5k", ""),
    ],
)
def test_a_threshold_that_fails_what_is_good_is_asked_about(text: str, meant: str) -> None:
    doubt = thresholds.read(text).doubt
    assert doubt.endswith(f"did you mean `{meant}`?" if meant else doubt)
    assert bool(doubt) is bool(meant)


@pytest.mark.parametrize(
    ("text", "missed"),
    [
        ("p99>250ms", False),
        ("p99>249ms", True),
        ("p99 < 251ms", True),
        ("p99.99>2.9s", True),
        ("p9999>3s", False),
        ("failures>1%", False),
        ("failures>0.5%", True),
        ("failures > 0.009", True),
        ("failed>12", False),
        ("failed>11", True),
        ("throughput<2k", False),
        ("throughput<2001", True),
        ("goodput<1k", False),
        ("rate<1k", False),
        ("rate<1001", True),
    ],
)
def test_a_gate_is_missed_beyond_its_value_and_not_at_it(text: str, missed: bool) -> None:
    state = thresholds.of_load(thresholds.read(text), SUMMARY).state
    assert state == ("crossed" if missed else "kept")


@pytest.mark.parametrize("text", ["p999>1h", "p99.9>1h", "p99.9<1s"])
def test_a_quantity_that_could_not_be_measured_misses_every_gate(text: str) -> None:
    for summary in (SUMMARY, None):
        judged = thresholds.of_load(thresholds.read(text), summary)
        assert (judged.state, judged.reason) == ("crossed", "not measured")


SHORT = sample.summary(
    "t",
    completed=100,
    response_time_min_ns=1e6,
    response_time_p90_ns=5e6,
    response_time_p95_ns=None,
    response_time_p99_ns=None,
    response_time_p999_ns=None,
    response_time_p9999_ns=None,
    response_time_max_ns=10.4e6,
)


@pytest.mark.parametrize(
    ("text", "state", "reason"),
    [
        ("p99>250ms", "kept", "measured max 10.400 ms"),
        ("p99.9>10.4ms", "kept", "measured max 10.400 ms"),
        ("p99>4ms", "crossed", "measured p90 5.000 ms"),
        ("p99>5ms", "undecided", "p99 needs 1,000 responses, 100 came"),
        ("p95>7ms", "undecided", "p95 needs 200 responses, 100 came"),
        ("p99.9>7ms", "undecided", "p99.9 needs 10,000 responses, 100 came"),
        ("p99<20ms", "crossed", "measured max 10.400 ms"),
        ("p99<5ms", "kept", "measured p90 5.000 ms"),
        ("p99<7ms", "undecided", "p99 needs 1,000 responses, 100 came"),
    ],
)
def test_a_percentile_of_a_short_load_is_judged_by_what_encloses_it(
    text: str, state: str, reason: str
) -> None:
    judged = thresholds.of_load(thresholds.read(text), SHORT)
    assert (judged.state, judged.reason) == (state, reason)


HANGING = Unfinished(
    requests=40, longest_ns=900_000_000, at_least_ns={"p90": 300e6, "p95": 700e6, "max": 900e6}
)


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("p50>10s", "kept"),
        ("p90>100ms", "crossed"),
        ("p90>300ms", "undecided"),
        ("p95>2s", "undecided"),
        ("p99>600ms", "crossed"),
        ("max>800ms", "crossed"),
        ("max>1s", "undecided"),
        ("p90<200ms", "kept"),
        ("p90<400ms", "undecided"),
        ("failures>1%", "undecided"),
        ("failures>30%", "kept"),
        ("failed>39", "undecided"),
        ("failed>40", "kept"),
        ("throughput>1", "crossed"),
    ],
)
def test_what_unfinished_requests_hide_is_judged_by_the_least_that_it_is(text, state) -> None:
    summary = sample.changed(SHORT, ok=100, failed=0, failure_ratio=0.0)
    judged = thresholds.of_load(thresholds.read(text), summary, HANGING)
    assert judged.state == state
    assert bool(judged.remedy) is (state == "undecided")


def test_wrong_responses_are_counted_once_among_failures() -> None:
    """Of 100 responses 60 were wrong, and 40 requests had not ended: at most 71.4 % failed."""
    summary = sample.changed(SHORT, ok=40, failed=60, failure_ratio=0.6)
    for text, state in (("failures>71%", "undecided"), ("failures>72%", "kept")):
        assert thresholds.of_load(thresholds.read(text), summary, HANGING).state == state


TIMED_OUT = Timeouts(requests=80, ended=4_000, timeout_ns=1e9)
"""2 % of the requests, so that p99 is one of them, and p95 is not."""
QUICK = sample.changed(
    SUMMARY,
    response_time_p95_ns=8e6,
    response_time_p99_ns=10.5e6,
    response_time_p999_ns=None,
    response_time_max_ns=40e6,
)


@pytest.mark.parametrize(
    ("text", "state", "reason"),
    [
        ("p95>500ms", "kept", "measured 8.000 ms"),
        ("p99>500ms", "crossed", "at least 1,000.000 ms with 80 timeouts"),
        ("p99>5ms", "crossed", "at least 1,000.000 ms with 80 timeouts"),
        ("p99>2s", "undecided", "at least 1,000.000 ms: 80 timeouts"),
        ("p99<20ms", "kept", "at least 1,000.000 ms with 80 timeouts"),
        ("p99<2s", "undecided", "at least 1,000.000 ms: 80 timeouts"),
        ("p99.9>500ms", "crossed", "at least 1,000.000 ms with 80 timeouts"),
        ("max>500ms", "crossed", "at least 1,000.000 ms with 80 timeouts"),
        ("failed>12", "kept", "measured 12"),
        ("throughput<2k", "kept", "measured 2,000"),
    ],
)
def test_a_percentile_that_timeouts_hide_is_judged_by_the_timeout(
    text: str, state: str, reason: str
) -> None:
    judged = thresholds.of_load(thresholds.read(text), QUICK, timed_out=TIMED_OUT)
    assert (judged.state, judged.reason) == (state, reason)
    assert ("timeout" in judged.remedy) is (state == "undecided")


@pytest.mark.parametrize(
    ("timeouts", "state"),
    [
        (Timeouts(40, 4_000, 1e9), "crossed"),
        (Timeouts(39, 4_000, 1e9), "kept"),
        (Timeouts(80, 4_000, 10e6), "kept"),
        (Timeouts(), "kept"),
    ],
)
def test_timeouts_hide_a_percentile_if_they_are_enough_and_longer(
    timeouts: Timeouts, state: str
) -> None:
    limit = thresholds.read("p99>11ms")
    assert thresholds.of_load(limit, QUICK, timed_out=timeouts).state == state


@pytest.mark.parametrize(
    ("waited_ms", "reason"),
    [
        (700, "at least 1,000.000 ms with 80 timeouts"),
        (1_400, "at least 1,400.000 ms with 40 requests without a response when the load ended"),
    ],
)
def test_the_longer_of_timeouts_and_unfinished_requests_is_judged(
    waited_ms: int, reason: str
) -> None:
    unfinished = Unfinished(40, waited_ms * 1_000_000, {"p99": waited_ms * 1e6})
    judged = thresholds.of_load(thresholds.read("p99>500ms"), QUICK, unfinished, TIMED_OUT)
    assert (judged.state, judged.reason) == ("crossed", reason)


def test_what_is_undecided_says_what_would_decide_it() -> None:
    assert thresholds.of_load(thresholds.read("p99>7ms"), SHORT).remedy == "`-n 1000` or more"
    assert not thresholds.of_load(thresholds.read("p99>250ms"), SHORT).remedy


UNTIMED: dict[str, Any] = {f"response_time_{one}_ns": None for one in thresholds.TIMES.values()}


@pytest.mark.parametrize("text", ["p99>250ms", "p50>1ms", "min<1s", "mean>1s", "max>1s"])
@pytest.mark.parametrize("completed", [360, 1_000_000])
def test_response_times_that_nobody_recorded_are_undecided_at_every_length(
    text: str, completed: int
) -> None:
    summary = sample.summary("t", completed=completed, **UNTIMED)
    judged = thresholds.of_load(thresholds.read(text), summary)
    assert judged.state == "undecided"
    assert judged.reason.startswith("response times are unknown")
    assert "`plimsoll`" in judged.remedy
    assert "-n" not in judged.remedy


def test_a_percentile_of_no_response_misses_every_gate() -> None:
    none = sample.changed(SHORT, completed=0)
    assert thresholds.of_load(thresholds.read("p99>1h"), none).state == "crossed"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("p99>249ms", "measured 250.000 ms"),
        ("failures>0.5%", "measured 1 %"),
        ("throughput<5k", "measured 2,000"),
    ],
)
def test_a_gate_is_told_with_what_was_measured(text: str, told: str) -> None:
    assert thresholds.of_load(thresholds.read(text), SUMMARY).reason == told


@pytest.mark.parametrize(
    ("text", "sentence", "hint"),
    [
        ("p98>1ms", "unknown quantity `p98`", "p50, p75, p90, p95, p99, p99.9"),
        ("latency>1ms", "unknown quantity `latency`", "failures, failed, throughput"),
        ("p99", "`p99` is not a threshold", "'p99>250ms'"),
        ("p99=1ms", "`p99=1ms` is not a threshold", "'p99>250ms'"),
        ("p99>=1ms", "`p99>=1ms` is not a threshold", "'p99>250ms'"),
        ("", "`` is not a threshold", "'p99>250ms'"),
        ("p99>fast", "`fast` is not a duration", "500ms"),
        ("p99>250", "`250` has no unit of time", "`250ms`"),
        ("p99>250mb", "unknown unit `mb`", "500ms"),
        ("failures>x%", "`x` is not a number", "10k"),
        ("failures>5", "`5` is more than 100 %", "`1%`"),
        ("failures>101%", "`101%` is more than 100 %", "`1%`"),
        ("failures>1", "no load crosses `failures>1`: at most 100 %", "`failures>1%`"),
        ("failures > 100%", "no load crosses `failures > 100%`", "`failed>0`"),
        ("failures<0%", "no load crosses `failures<0%`: there are no fewer", "write `>`"),
        ("failed<0", "no load crosses `failed<0`: there are no fewer", "write `>`"),
        ("p99<0ms", "no load crosses `p99<0ms`: no response time is shorter", "`p99>250ms`"),
        ("mean < 0s", "no load crosses `mean < 0s`: no response time is shorter", "`p99>250ms`"),
        ("max>0ms", "every load crosses `max>0ms`: every response takes time", "`p99>250ms`"),
        ("throughput<0", "no load crosses `throughput<0`: there are no fewer", "`throughput<5k`"),
        ("rate<0", "no load crosses `rate<0`: there are no fewer", "`throughput<5k`"),
        ("p99<-5ms", "`-5ms` is negative", "500ms"),
        ("failed>1.5", "`1.5` is not a whole number", "250"),
        ("throughput<5kms", "unknown multiple `kms`", "10k"),
    ],
)
def test_what_is_no_gate_is_refused_with_one_sentence_that_helps(
    text: str, sentence: str, hint: str
) -> None:
    with pytest.raises(UnreadableQuantity) as error:
        thresholds.read(text)
    assert sentence in error.value.message
    assert hint in error.value.hint


@pytest.mark.parametrize(
    "text", ["p99>1ms", "p99<1ms", "throughput>0", "throughput<1", "goodput>0", "failures<1%"]
)
def test_what_some_loads_cross_and_others_do_not_is_a_threshold(text: str) -> None:
    assert thresholds.read(text).text == text


@pytest.mark.parametrize("name", [*thresholds.TIMES, *thresholds.COUNTS, *thresholds.ALSO])
def test_everything_that_can_be_limited_is_a_column_of_summaries(name: str) -> None:
    unit = "1%" if name == "failures" else "1ms" if name[0] in "pm" else "1"
    assert thresholds.read(f"{name}>{unit}").column in tables.SUMMARIES.schema.names
