"""What TLS and HTTP/2 cost a framework, beside itself without them."""

from __future__ import annotations

from dataclasses import replace

import pytest

import sample
from experiments import by_protocols, repetitions, spoken
from plimsoll.campaign.load import Stage
from plimsoll.comparison.protocol_costs import costs


def test_each_service_is_held_against_the_load_without_tls() -> None:
    found = {one.service: one for one in by_protocols().protocol_costs}
    assert list(found) == ["https", "h2"]
    https = found["https"]
    assert (https.framework, https.endpoint, https.load, https.against) == (
        *("go", "2048", "https", "http"),
    )
    ratio = https.ratios["throughput_per_s"]
    assert ratio.value == pytest.approx(6_050 / 8_050)
    assert ratio.interval is not None
    assert ratio.interval.low < ratio.value < ratio.interval.high < 1
    assert https.ratios["server_cpu_s_per_request"].value == pytest.approx(1.25)


def test_nothing_is_compared_without_a_load_by_http1() -> None:
    trials = tuple(one for one in by_protocols().trials if one.recording.load.name != "http")
    assert costs(repetitions(trials)) == ()


def test_loads_with_other_numbers_in_flight_are_not_compared() -> None:
    fewer = sample.load(name="few", tls=True, stages=(Stage("hold", 7.0, 32, 32),))
    trials = (spoken(sample.load(name="http"), 8_000.0, 1), spoken(fewer, 4_000.0, 1))
    assert costs(repetitions(trials)) == ()
    streams = replace(fewer, protocol="http2", streams=2)
    plain = sample.load(name="http", stages=(Stage("hold", 7.0, 64, 64),))
    trials = (spoken(plain, 8_000.0, 1), spoken(streams, 4_000.0, 1))
    (only,) = costs(repetitions(trials))
    assert only.ratios["throughput_per_s"].value == 0.5
    assert only.ratios["throughput_per_s"].interval is None
