"""Limits that a person sets on the result of a load."""

import pytest

import sample
from plimsoll import tables
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
    assert thresholds.read(text).is_missed(SUMMARY) is missed


@pytest.mark.parametrize("text", ["p999>1h", "p99.9>1h", "p99.9<0s"])
def test_a_quantity_that_could_not_be_measured_misses_every_gate(text: str) -> None:
    gate = thresholds.read(text)
    assert gate.is_missed(SUMMARY)
    assert gate.described(SUMMARY) == f"{text}, but it was not measured"
    assert gate.described(None) == f"{text}, but it was not measured"


def test_a_percentile_of_a_short_load_says_how_many_responses_it_takes() -> None:
    short = sample.summary("t", response_time_p99_ns=None, completed=570)
    told = thresholds.read("p99>250ms").described(short)
    assert told == "p99>250ms, but it takes 1,000 responses, and 570 came"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("p99>249ms", "p99>249ms, measured 250.000 ms"),
        ("failures>0.5%", "failures>0.5%, measured 1 %"),
        ("throughput<5k", "throughput<5k, measured 2,000"),
    ],
)
def test_a_gate_that_is_missed_is_told_with_what_was_measured(text: str, told: str) -> None:
    assert thresholds.read(text).described(SUMMARY) == told


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


@pytest.mark.parametrize("name", [*thresholds.TIMES, *thresholds.COUNTS, *thresholds.ALSO])
def test_everything_that_can_be_limited_is_a_column_of_summaries(name: str) -> None:
    unit = "1%" if name == "failures" else "1ms" if name[0] in "pm" else "1"
    assert thresholds.read(f"{name}>{unit}").column in tables.SUMMARIES.schema.names
