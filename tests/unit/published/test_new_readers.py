"""Texts and tables of tools that print several forms, or that were read last, are read."""

from __future__ import annotations

from pathlib import Path

import pytest

import older_prints
from plimsoll.tool_output import readers
from plimsoll.tool_output.reported import ReportedStatistics

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "published"


def one(name: str) -> ReportedStatistics:
    return readers.read((GOLDEN / name).read_text(encoding="utf-8"), name)[0]


def test_the_text_of_oha_has_what_its_json_has() -> None:
    figures = one("oha_text-reset.txt")
    assert figures.failures == {"connection closed before message completed": 3809}
    assert figures.requests == 34291 + 3809 + 10  # the end cut the last ones off
    assert figures.throughput_per_s == 19032.4487
    assert figures.times_s["p999"] == pytest.approx(12.1258e-3)
    assert figures.times_step_s == pytest.approx(1e-7)
    assert (figures.connections, figures.model) == (None, "unknown")


def test_oha_without_an_answer_has_no_times() -> None:
    figures = one("oha_text-refused.txt")
    assert figures.times_s == {}
    assert sum(figures.failures.values()) == pytest.approx(figures.requests, rel=0.01)


def test_a_command_above_says_connections_and_rate() -> None:
    text = (GOLDEN / "oha_text-sound.txt").read_text(encoding="utf-8")
    (closed,) = readers.read("$ oha -z 2s -c 50 http://x\n" + text, "x")
    assert (closed.connections, closed.model, closed.in_flight) == (50, "closed", 50)
    (paced,) = readers.read("$ oha -z 2s -c 50 -q 1000 http://x\n" + text, "x")
    assert (paced.requested_rate_per_s, paced.in_flight) == (1000, None)


def test_both_summaries_of_k6_are_read() -> None:
    new, old = one("k6_text-status.txt"), one("k6_text-legacy.txt")
    assert (new.requests, new.failures) == (19964, {"failed": 1997})
    assert new.times_s["p95"] == pytest.approx(3.26e-3)
    assert new.received_bytes == 38e6
    assert (old.throughput_per_s, old.failures) == (18302.397322, {})
    assert new.connections is old.connections is None


def test_k6_before_1_has_its_marks_the_other_way_round() -> None:
    text = (GOLDEN / "k6_text-legacy.txt").read_text(encoding="utf-8")
    older = text.replace("0 out of 36617", "✓ 7         ✗ 36610")
    assert readers.read(older, "x")[0].failures == {"failed": 7}


def test_autocannon_prints_thousands_with_commas_and_all_requests_rounded() -> None:
    figures = one("autocannon_text-status.txt")
    assert figures.throughput_per_s == 16274
    assert figures.requests == 29292 + 3254
    assert figures.wrong_responses == {"not 2xx": 3254}
    assert figures.times_s["mean"] == pytest.approx(0.35e-3)
    assert figures.times_s["p975"] == pytest.approx(3e-3)
    assert figures.sampled
    assert one("autocannon_text-pipelined.txt").in_flight_each == 4


def test_older_tables_of_autocannon_are_read() -> None:
    (figures,) = readers.read(older_prints.AUTOCANNON, "x")
    assert (figures.tool, figures.throughput_per_s) == ("autocannon", 39030.1)
    assert figures.times_s["max"] == pytest.approx(0.171)
    assert figures.requests is None


BOMBARDIER = """bombardier -c 500 -d 10s -l http://127.0.0.1:3000/
Bombarding http://127.0.0.1:3000/ for 10s using 500 connection(s)
[=======================================================] 10s
Done!
Statistics        Avg      Stdev        Max
  Reqs/sec     13929.79    3120.11   18211.45
  Latency       35.80ms   107.03ms      2.00s
  Latency Distribution
     50%    21.02ms
     99%   190.41ms
  HTTP codes:
    1xx - 0, 2xx - 138801, 3xx - 0, 4xx - 0, 5xx - 57
    others - 423
  Errors:
    timeout - 420
    dial tcp 127.0.0.1:3000: connect: connection refused - 3
  Throughput:    44.70MB/s
"""


def test_bombardier_prints_a_mean_of_rates_and_counts_what_failed() -> None:
    (figures,) = readers.read(BOMBARDIER, "x")
    assert (figures.connections, figures.duration_s, figures.model) == (500, 10, "closed")
    assert figures.requests == 138801 + 57 + 423
    assert figures.failures == {
        "timeout": 420,
        "dial tcp 127.0.0.1:3000: connect: connection refused": 3,
    }
    assert figures.wrong_responses == {"status 5xx": 57}
    assert figures.times_s["p99"] == pytest.approx(0.19041)
    assert figures.sampled
    assert figures.timed_per_s == pytest.approx(13928.1)  # counted, and no mean of samples


def test_the_json_of_bombardier_says_the_rate_that_was_asked_for() -> None:
    text = """{"spec":{"numberOfConnections":10,"testType":"timed","testDurationSeconds":5,
    "method":"GET","url":"http://x/y","stream":false,"timeoutSeconds":2,"rate":1000},
    "result":{"bytesRead":1,"bytesWritten":1,"timeTakenSeconds":5.01,"req1xx":0,"req2xx":4990,
    "req3xx":0,"req4xx":0,"req5xx":0,"others":10,"errors":[{"description":"timeout","count":10}],
    "latency":{"mean":520.5,"stddev":110,"max":9000,"percentiles":{"50":500,"99":900}},
    "rps":{"mean":998.1,"stddev":12,"max":1100}}}"""
    (figures,) = readers.read(text, "x")
    assert (figures.requested_rate_per_s, figures.in_flight) == (1000, None)
    assert figures.failures == {"timeout": 10}
    assert figures.times_s["p99"] == pytest.approx(900e-6)


VEGETA = """Requests      [total, rate, throughput]         300, 5.02, 1.62
Duration      [total, attack, wait]             2m56s, 59.8s, 1m56s
Latencies     [min, mean, 50, 90, 95, 99, max]  68ms, 6.124s, 113.6ms, 222.6ms, 1m0s, 2m0s, 2m0s
Bytes In      [total, mean]                     375915, 1253.05
Success       [ratio]                           95.00%
Status Codes  [code:count]                      0:15  200:285
"""


def test_the_text_of_vegeta_has_what_succeeded() -> None:
    (figures,) = readers.read(VEGETA, "x")
    assert (figures.requests, figures.ended) == (285, 300)
    assert figures.failures == {"incomplete response": 15}
    assert figures.throughput_per_s == 1.62
    assert figures.duration_s == 176
    assert figures.times_s["p95"] == 60
    assert figures.is_open


def test_what_rewrk_calls_percentiles_is_not_read_as_such() -> None:
    figures = one("rewrk-reset.txt")
    assert set(figures.times_s) == {"mean", "stddev", "min", "max"}
    assert "mean of the requests beyond it" in figures.notes[0]
    assert figures.failures == {"connection closed": 2399}
    assert (figures.requests, figures.ended) == (23992, 23992)


@pytest.mark.parametrize("mode", ["sound", "status", "reset"])
def test_the_text_and_the_json_of_gatling_say_the_same(mode: str) -> None:
    text, json = one(f"gatling_text-{mode}.txt"), one(f"gatling-{mode}.json")
    assert (text.requests, text.failures) == (json.requests, json.failures)
    assert text.times_s == json.times_s
    assert text.throughput_per_s == pytest.approx(json.throughput_per_s, rel=0.01)


def test_gatling_counts_what_failed_its_checks() -> None:
    assert one("gatling-status.json").failures == {"KO": 150}
    script = (
        f'var stats = {{\n type: "GROUP",\nstats: {(GOLDEN / "gatling-status.json").read_text()},'
    )
    assert readers.read(script, "stats.js")[0].requests == 1500


def test_artillery_is_open_and_its_times_end_with_the_first_byte() -> None:
    figures = one("artillery-status.json")
    assert (figures.requests, figures.wrong_responses) == (120, {"status 500": 12})
    assert figures.is_open
    assert any("first byte" in note for note in figures.notes)
    assert figures.times_s["p999"] >= figures.times_s["p99"]


def test_artillery_before_2_is_read() -> None:
    text = """{"aggregate": {"scenariosCreated": 60, "requestsCompleted": 60, "counters": {},
    "latency": {"min": 76.2, "max": 363.3, "median": 106.2, "p95": 308.5, "p99": null},
    "rps": {"count": 60, "mean": 1.01}, "errors": {"ETIMEDOUT": 2},
    "codes": {"200": 59, "503": 1}}}"""
    (figures,) = readers.read(text, "x")
    assert (figures.throughput_per_s, figures.requests) == (1.01, 60)
    assert figures.failures == {"ETIMEDOUT": 2}
    assert figures.wrong_responses == {"status 503": 1}
    assert figures.times_s["p50"] == pytest.approx(0.1062)


def test_locust_has_a_result_for_each_endpoint_and_that_of_all_first() -> None:
    found = readers.read((GOLDEN / "locust-status.csv").read_text(), "x.csv")
    assert [figures.endpoint for figures in found] == ["", "GET /2048", "GET /json"]
    assert found[0].failures == {"failed": 620}
    assert found[0].times_s["p99"] == pytest.approx(0.012)
    assert found[0].times_s["max"] == pytest.approx(0.14033, rel=1e-3)


def test_percentiles_of_locust_are_as_coarse_as_they_are_rounded() -> None:
    header = "Type,Name,Request Count,Failure Count,Average Response Time,Requests/s,50%,99%,100%"
    (figures,) = readers.read(f"{header}\n,Aggregated,5000,0,900.5,80,850,3400,3400\n", "x.csv")
    assert figures.percentiles_step_s == pytest.approx(0.05)


def test_a_run_of_wrk2_is_known_by_its_command_or_by_what_it_had_no_time_for() -> None:
    text = (GOLDEN / "wrk-sound.txt").read_text(encoding="utf-8")
    (told,) = readers.read("$ wrk -t2 -c50 -d2s -R 5k http://x/\n" + text, "x")
    assert (told.tool, told.requested_rate_per_s, told.times) == ("wrk2", 5000, "response")
    short = text.replace("37.75k", "  -nan")
    assert short != text
    (seen,) = readers.read(short, "x")
    assert (seen.tool, seen.in_flight) == ("wrk2", None)


def test_requests_that_wrk_sends_together_are_in_flight_together() -> None:
    text = (GOLDEN / "wrk-sound.txt").read_text(encoding="utf-8")
    command = "wrk -t2 -c50 -d2s http://x -s pipeline.lua --latency -- / 16\n"
    (figures,) = readers.read(command + text, "x")
    assert (figures.in_flight, figures.model) == (800, "unknown")
