"""Limits that a person sets on the result of a load."""

import pytest

from plimsoll import tables
from plimsoll.campaign.quantities import Unreadable
from plimsoll.cli import gates

SUMMARY = {
    "response_time_p99_ns": 250e6,
    "response_time_p999_ns": None,
    "response_time_p9999_ns": 3e9,
    "failure_ratio": 0.01,
    "failed": 12,
    "throughput_per_s": 2000.0,
    "goodput_per_s": 1000.0,
}


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
    assert gates.read(text).is_missed(SUMMARY) is missed


@pytest.mark.parametrize("text", ["p999>1h", "p99.9>1h", "p99.9<0s"])
def test_a_quantity_that_could_not_be_measured_misses_every_gate(text: str) -> None:
    gate = gates.read(text)
    assert gate.is_missed(SUMMARY)
    assert gate.told(SUMMARY) == f"{text}, and too few answers came to tell"
    assert gate.told(None) == f"{text}, and too few answers came to tell"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("p99>249ms", "p99>249ms, and it was 250.000 ms"),
        ("failures>0.5%", "failures>0.5%, and it was 1.000%"),
        ("throughput<5k", "throughput<5k, and it was 2,000"),
    ],
)
def test_a_gate_that_is_missed_is_told_with_what_was_measured(text: str, told: str) -> None:
    assert gates.read(text).told(SUMMARY) == told


@pytest.mark.parametrize(
    ("text", "sentence", "hint"),
    [
        ("p98>1ms", "`p98` is nothing that a load has", "p50, p75, p90, p95, p99, p99.9"),
        ("latency>1ms", "`latency` is nothing that a load has", "failures, failed, throughput"),
        ("p99", "`p99` is no limit", "'p99>250ms'"),
        ("p99=1ms", "`p99=1ms` is no limit", "'p99>250ms'"),
        ("p99>=1ms", "`p99>=1ms` is no limit", "'p99>250ms'"),
        ("", "`` is no limit", "'p99>250ms'"),
        ("p99>fast", "`fast` is not a duration", "500ms"),
        ("p99>250", "`250` is a time without a unit", "`250ms`"),
        ("p99>250mb", "there is no unit `mb`", "500ms"),
        ("failures>x%", "`x` is not a number", "10k"),
        ("failures>5", "`5` is more than all of them", "`1%`"),
        ("failures>101%", "`101%` is more than all of them", "`1%`"),
        ("failed>1.5", "`1.5` is not a whole number", "250"),
        ("throughput<5kms", "there is no multiple `kms`", "10k"),
    ],
)
def test_what_is_no_gate_is_refused_with_one_sentence_that_helps(
    text: str, sentence: str, hint: str
) -> None:
    with pytest.raises(Unreadable) as error:
        gates.read(text)
    assert sentence in error.value.message
    assert hint in error.value.hint


@pytest.mark.parametrize("name", [*gates.TIMES, *gates.COUNTS, *gates.ALSO])
def test_everything_that_can_be_limited_is_a_column_of_summaries(name: str) -> None:
    unit = "1%" if name == "failures" else "1ms" if name[0] in "pm" else "1"
    assert gates.read(f"{name}>{unit}").column in tables.SUMMARIES.schema.names
