"""Limits that a person sets on the result of a load."""

import pytest

from plimsoll.campaign.quantities import Unreadable
from plimsoll.cli import gates

SUMMARY = {
    "response_time_p99_ns": 250e6,
    "response_time_p999_ns": None,
    "failure_ratio": 0.01,
    "goodput_per_s": 1000.0,
}


@pytest.mark.parametrize(
    ("text", "missed"),
    [
        ("p99>250ms", False),
        ("p99>249ms", True),
        ("p99 < 251ms", True),
        ("failures>1%", False),
        ("failures>0.5%", True),
        ("failures > 0.009", True),
        ("rate<1k", False),
        ("rate<1001", True),
    ],
)
def test_a_gate_is_missed_beyond_its_value_and_not_at_it(text: str, missed: bool) -> None:
    assert gates.read(text).is_missed(SUMMARY) is missed


def test_a_quantity_that_could_not_be_measured_misses_every_gate() -> None:
    assert gates.read("p999>1h").is_missed(SUMMARY)
    assert gates.read("p999<0").is_missed(SUMMARY)


@pytest.mark.parametrize("text", ["p98>1ms", "p99", "p99=1ms", "p99>fast", "failures>x%", ""])
def test_what_is_no_gate_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(Unreadable) as error:
        gates.read(text)
    assert error.value.hint
