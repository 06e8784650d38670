"""What the tools print is read rightly, failures included."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench import engine, tools
from workbench.tools import Bench, Said, Way

WRK = """Running 4s test @ http://127.0.0.1:8080/2048
  1 threads and 9000 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     9.15ms    2.25ms  16.27ms   87.60%
  312345 requests in 4.05s, 629.10MB read
"""

AB = """This is ApacheBench, Version 2.3
Concurrency Level:      64
Time taken for tests:   4.002 seconds
Complete requests:      500123
Failed requests:        7
   (Connect: 0, Receive: 0, Length: 7, Exceptions: 0)
Requests per second:    124968.27 [#/sec] (mean)
"""

H2LOAD = """finished in 850.20ms, 76795.00 req/s, 154.90MB/s
requests: 65290 total, 65354 started, 65290 done, 65280 succeeded, 10 failed, 4 errored, 0 timeout
status codes: 65280 2xx, 0 3xx, 10 4xx, 0 5xx
"""

HEY = """
Summary:
  Total:\t4.0100 secs
  Slowest:\t0.0206 secs
  Requests/sec:\t25000.0000

Response time histogram:
  0.002 [24979]\t|

Status code distribution:
  [200]\t100240 responses

"""

HEY_ERRORS = """Error distribution:
  [8]\tGet "http://127.0.0.1:8080/2048": dial tcp 127.0.0.1:8080: too many open files
  [2]\tGet "http://127.0.0.1:8080/2048": EOF
"""

S_TIME = """Collecting connection statistics for 4 seconds
***
7351 connections in 1.89s; 3889.42 connections/user sec, bytes read 16098690
7351 connections in 5 real seconds, 2190 bytes read per connection
"""

FINISHED = {
    "event": "finished",
    "ended_ns": 4_000_000_000,
    "lost_rows": 0,
    "outcomes": {"ok": 400_000, "unfinished": 64},
}


LOAD = """127.0.0.1:8080/2048
closed model (connections): hold 4 s at 64; connections kept alive; timeout 10…
throughput     119,974/s; 258 MB/s
requests       479,896 successful, 3 failed (0.0006 %: 3 without response), 64 unfinished
status         200 × 479,896
"""


def test_the_whole_command_says_rate_and_counts_of_the_measurement_window() -> None:
    said = tools.said_by_whole_command(LOAD)
    assert (said.requests, said.failed) == (479_896, 3)
    assert said.duration_s == pytest.approx(4.0, rel=1e-4)


def test_wrk_says_how_many_requests_in_how_many_seconds() -> None:
    assert tools.said_by_wrk(WRK) == Said(312_345, 4.05)


def test_socket_errors_and_wrong_statuses_of_wrk_are_failures() -> None:
    more = (
        "  Socket errors: connect 5, read 1, write 0, timeout 52\n  Non-2xx or 3xx responses: 10\n"
    )
    assert tools.said_by_wrk(WRK + more).failed == 68


def test_a_long_run_of_wrk_is_in_minutes() -> None:
    assert tools.said_by_wrk("  7 requests in 1.00m, 1.0MB read").duration_s == 60.0


def test_ab_says_completed_and_failed_requests() -> None:
    assert tools.said_by_ab(AB) == Said(500_123, 4.002, failed=7)


def test_h2load_counts_errors_at_the_socket_among_its_failures_already() -> None:
    said = tools.said_by_h2load(H2LOAD)
    assert (said.requests, said.failed) == (65_290, 10)
    assert said.duration_s == pytest.approx(0.8502)


def test_requests_of_hey_are_its_rate_times_its_duration() -> None:
    assert tools.said_by_hey(HEY) == Said(100_250, 4.01)


def test_failures_of_hey_are_taken_off_what_it_counts() -> None:
    assert tools.said_by_hey(HEY + HEY_ERRORS) == Said(100_240, 4.01, failed=10)


def test_oha_is_not_blamed_for_requests_that_its_end_cut_off() -> None:
    said = {
        "summary": {"total": 4.002},
        "statusCodeDistribution": {"200": 130_000, "503": 5},
        "errorDistribution": {"aborted due to deadline": 64, "connection refused": 3},
    }
    assert tools.said_by_oha(json.dumps(said)) == Said(130_005, 4.002, failed=3)


def test_the_bare_loop_says_one_line() -> None:
    assert tools.said_by_ceiling('{"requests": 7, "duration_s": 2.004}\n') == Said(7, 2.004)


def test_the_engine_has_the_last_line_and_what_its_end_cut_off_is_no_failure() -> None:
    text = '{"event": "started"}\n' + json.dumps(FINISHED) + "\n"
    assert tools.said_by_plimsoll(text) == Said(400_000, 4.0)


def test_failures_and_lost_rows_of_the_engine_are_failures() -> None:
    outcomes = {"ok": 9, "wrong_body": 1, "reset_waiting": 2, "not_sent": 5}
    text = json.dumps({**FINISHED, "lost_rows": 4, "outcomes": outcomes})
    assert tools.said_by_plimsoll(text) == Said(9, 4.0, failed=7)


@pytest.mark.parametrize("tool", tools.TOOLS, ids=lambda tool: tool.name)
@pytest.mark.parametrize("text", ["", "unable to create thread 0: Too many open files\n"])
def test_a_tool_that_did_not_get_to_its_end_is_noticed(tool: tools.Tool, text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        tool.said(text)


def test_seconds_of_s_time_are_real_ones() -> None:
    assert tools.said_by_s_time(S_TIME) == Said(7_351, 5.0)


def test_k6_says_the_line_of_its_script() -> None:
    said = '{"messages":40123,"duration_s":4.2,"failed":3}\n'
    assert tools.said_by_k6(said) == Said(40_123, 4.2, failed=3)


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        (Way(), {"plimsoll", "load", "ceiling", "wrk", "h2load"}),
        (Way(by_tls=True), {"plimsoll", "wrk", "h2load"}),
        (Way(by_tls=True, streams=10), {"plimsoll", "h2load"}),
        (Way("handshakes", by_tls=True), {"plimsoll", "h2load", "s_time"}),
        (Way("messages"), {"plimsoll", "k6"}),
    ],
)
def test_only_tools_that_can_do_it_are_compared(way: Way, expected: set[str]) -> None:
    named = {"plimsoll", "load", "ceiling", "wrk", "h2load", "s_time", "k6"}
    assert {tool.name for tool in tools.TOOLS if tool.goes(way)} & named == expected


@pytest.mark.parametrize("kind", tools.ALL)
def test_the_engine_is_told_what_to_do(kind: tools.Kind, tmp_path: Path) -> None:
    bench = Bench("127.0.0.1:80", 2, 1, 0, tmp_path, Way(kind))
    *_, path = next(tool for tool in tools.TOOLS if tool.name == "plimsoll").command(bench)
    load = json.loads(Path(path).read_text("utf-8"))["load"]
    assert load["keep_alive"] == (kind != "handshakes")
    assert ("protocol" in load) == (kind == "messages")
    assert bench.url.endswith(engine.ECHO if kind == "messages" else engine.PATH)


def test_each_way_has_a_place_of_its_own() -> None:
    ways = [
        Way(kind, by_tls, streams)
        for kind in tools.ALL
        for by_tls in (False, True)
        for streams in (None, 1, 10)
    ]
    assert len({way.section for way in ways}) == len(ways)


def test_every_tool_has_a_name_of_its_own() -> None:
    names = [tool.name for tool in tools.TOOLS]
    assert len(set(names)) == len(names)
