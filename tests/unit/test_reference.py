"""The reference server as a process."""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import plimsoll
from plimsoll import reference


def specification(*arguments: str, **environment: str) -> dict[str, object]:
    return json.loads(reference.specification(arguments, environment))


def started(*arguments: str) -> subprocess.Popen[str]:
    package = str(Path(plimsoll.__file__).parent.parent)
    return subprocess.Popen(
        [sys.executable, "-m", "plimsoll.reference", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": package},
    )


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [("0", 0), ("1ns", 1), ("200us", 200_000), ("1.5ms", 1_500_000), ("2s", 2_000_000_000)],
)
def test_a_duration_has_a_number_and_a_unit(text: str, nanoseconds: int) -> None:
    assert reference.duration_ns(text) == nanoseconds


@pytest.mark.parametrize("text", ["", "5", "ms", "-1ms", "1 ms", "1m", "1e3ms", "nan"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        reference.duration_ns(text)


def test_the_environment_gives_the_defaults() -> None:
    asked = specification(HOST="127.0.0.2", PORT="81", WORKERS="3")
    assert (asked["address"], asked["workers"]) == ("127.0.0.2:81", 3)


def test_options_go_before_the_environment() -> None:
    asked = specification("--host", "::1", "--port", "82", "--workers", "4", PORT="81", WORKERS="3")
    assert (asked["address"], asked["workers"]) == ("[::1]:82", 4)


def test_service_time_is_fixed_unless_there_is_a_second_one() -> None:
    fixed = specification("--service-time", "1ms")["service_time"]
    assert fixed == {"kind": "fixed", "duration_ns": 1_000_000}
    two = specification("--second-service-time", "20ms", "--second-ratio", "0.25")["service_time"]
    assert two == {
        "kind": "bimodal",
        "duration_ns": 0,
        "second_ns": 20_000_000,
        "second_ratio": 0.25,
    }


def test_streams_are_served_together_unless_asked_for_in_turn() -> None:
    assert specification()["streams"] == "together"
    assert specification("--streams", "in-turn")["streams"] == "in_turn"


def test_a_queue_has_fixed_or_exponential_service_times() -> None:
    fixed = specification("--service-time", "1ms", "--one-at-a-time")
    assert (fixed["one_at_a_time"], fixed["slowdown"]) == (True, None)
    drawn = specification("--service-time", "1ms", "--exponential")
    assert drawn["service_time"] == {"kind": "exponential", "mean_ns": 1_000_000}
    assert drawn["one_at_a_time"] is False


def test_a_server_becomes_slower_after_a_time() -> None:
    slower = specification("--slower-after", "1s", "--slower-by", "1.4")["slowdown"]
    assert slower == {"after_ns": 10**9, "factor": 1.4}


def test_a_stall_has_a_period() -> None:
    assert specification()["stall"] is None
    stall = specification("--stall", "1s")["stall"]
    assert stall == {"duration_ns": 10**9, "period_ns": 5 * 10**9}


@pytest.mark.parametrize(
    "arguments",
    [
        ("--port", "x"),
        ("--port", "70000"),
        ("--service-time", "5"),
        ("--cores", "a"),
        ("--many",),
        ("--host", ""),
        ("--exponential", "--second-service-time", "1ms"),
    ],
)
def test_a_wrong_option_is_exit_code_2(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ending:
        reference.specification(arguments, {})
    assert ending.value.code == 2
    assert arguments[0].strip("-") in capsys.readouterr().err


@pytest.mark.parametrize("acceptors", ["many", "one"])
def test_it_serves_until_sigterm_and_says_what_it_has_done(acceptors: str) -> None:
    with started("--port", "0", "--workers", "2", "--acceptors", acceptors) as server:
        assert server.stdout is not None
        listening = json.loads(server.stdout.readline())
        connection = http.client.HTTPConnection(listening["address"], timeout=10)
        connection.request("GET", "/2048")
        assert connection.getresponse().read() == b"A" * 2048
        connection.close()
        server.terminate()
        out, err = server.communicate(timeout=10)
    counts = json.loads(out)
    assert (server.returncode, err) == (0, "")
    assert (listening["event"], counts["event"]) == ("listening", "stopped")
    assert (counts["connections_accepted"], counts["responses_sent"]) == (1, 1)


def test_a_port_that_is_taken_is_exit_code_3_with_a_remedy() -> None:
    with started("--port", "0") as first:
        assert first.stdout is not None
        port = json.loads(first.stdout.readline())["address"].rpartition(":")[2]
        with started("--port", port) as second:
            _, err = second.communicate(timeout=10)
        first.terminate()
        first.communicate(timeout=10)
    assert second.returncode == 3
    assert err.startswith("error: can't listen on")
    assert "\nhint: " in err


def test_a_witness_is_asked_for_by_the_whole_path_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert specification("--witness", "held.bin")["witness"] == str(tmp_path / "held.bin")
    assert "witness" not in specification()
