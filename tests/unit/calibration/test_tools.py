"""What other load tools print, read."""

from __future__ import annotations

import pytest

from plimsoll.calibration import tools

MS = 1_000_000

WRK = """Running 2s test @ http://127.0.0.1:8080/empty
  1 threads and 50 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    11.21ms   56.20ms   1.00s    97.20%
    Req/Sec    76.26k     9.31k   89.44k    81.25%
  Latency Distribution
     50%  512.00us
     75%    0.70ms
     90%    1.20ms
     99%  371.68ms
  122011 requests in 2.00s, 4.42MB read
"""

AB = """Percentage of the requests served within a certain time (ms)
  50%      1
  66%      1
  75%      2
  80%      2
  90%      4
  95%      8
  98%      9
  99%     10
 100%    403 (longest request)
"""

HEY = """Summary:
  Total:	2.0018 secs
  Slowest:	0.3606 secs
  Fastest:	0.0001 secs
  Average:	0.0107 secs

Latency distribution:
  10%% in 0.0002 secs
  25%% in 0.0003 secs
  50%% in 0.0016 secs
  75%% in 0.0040 secs
  90%% in 0.0090 secs
  95%% in 0.0123 secs
  99%% in 0.3601 secs
"""

OHA = """{"summary": {"slowest": 1.001, "fastest": 0.0001},
 "latencyPercentiles": {"p10": 0.0001, "p25": 0.0001, "p50": 0.0002, "p75": 0.0003, "p90": 0.505,
 "p95": 0.75, "p99": 0.951, "p99.9": 0.99, "p99.99": 1.0}}"""


def test_times_of_wrk_have_units_of_their_own() -> None:
    found = tools.read_wrk(WRK)
    assert found == {"p50": 512_000, "p90": 1_200_000, "p99": 371_680_000, "max": 1000 * MS}


def test_times_of_ab_are_whole_milliseconds() -> None:
    assert tools.read_ab(AB) == {
        "p50": MS, "p90": 4 * MS, "p95": 8 * MS, "p99": 10 * MS, "max": 403 * MS,
    }  # fmt: skip


def test_times_of_hey_are_seconds() -> None:
    found = tools.read_hey(HEY)
    assert (found["p50"], found["p99"]) == (1_600_000, 360_100_000)
    assert found["max"] == 360_600_000


def test_times_of_oha_are_its_json() -> None:
    found = tools.read_oha(OHA)
    assert (found["p90"], found["p999"], found["max"]) == (505 * MS, 990 * MS, 1001 * MS)


@pytest.mark.parametrize("read", [tools.read_wrk, tools.read_ab, tools.read_hey, tools.read_oha])
def test_a_tool_that_failed_is_quoted(read: object) -> None:
    assert callable(read)
    with pytest.raises(tools.NotReported, match="connection refused"):
        read("unable to connect:\nconnection refused\n\n")
