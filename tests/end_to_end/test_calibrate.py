"""`plimsoll calibrate`: the instrument against the reference server, in ratios.

The hosts of tests are not quiet, so nothing here asks whether the instrument is within its limits.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import run, start

pytestmark = pytest.mark.timeout(300)


def found(folder: Path, *arguments: str, state: Path | None = None) -> dict[str, Any]:
    environment = {"XDG_STATE_HOME": str(state or folder)}
    ran = run(
        "calibrate", "--quick", "--json", *arguments, folder=folder, environment=environment
    )  # fmt: skip
    assert ran.code in (0, 1), ran.stderr
    document = json.loads(ran.stdout)
    assert document["within"] is (ran.code == 0)
    return document


@pytest.mark.alone
def test_a_server_that_stands_still_is_seen_in_response_times_and_not_in_service_times(
    tmp_path: Path,
) -> None:
    stall = found(tmp_path, "--only", "stalls")["stall"]
    points = {point["statistic"]: point for point in stall["points"]}
    for name in ("p90", "p99", "max"):
        ratio = points[name]["reported_ns"] / points[name]["true_ns"]
        assert 0.9 < ratio < 2, (name, points)
    assert 0.15 < points["p90"]["true_ns"] / 1e9 < 0.25
    assert stall["service_times"]["p90"] < points["p90"]["reported_ns"]
    assert stall["longest_pause_ns"] > 0


@pytest.mark.alone
def test_no_service_time_is_reported_shorter_than_the_server_itself_had_the_request(
    tmp_path: Path,
) -> None:
    document = found(tmp_path, "--only", "accuracy")
    assert document["way"]["times"]["p50"] > 0
    assert len(document["cases"]) == 3
    for case in document["cases"]:
        assert_no_time_is_shorter(case)


def assert_no_time_is_shorter(case: dict[str, Any]) -> None:
    reported = {point["statistic"]: point["reported_ns"] for point in case["points"]}
    assert reported["p50"] / case["held"]["p50"] > 1, case


@pytest.mark.alone
@pytest.mark.thorough
def test_nor_is_one_by_tls_http2_or_websocket(tmp_path: Path) -> None:
    by_protocol = found(tmp_path, "--only", "protocols")["protocols"]
    assert [one["name"] for one in by_protocol] == ["TLS", "HTTP/2", "WebSocket"]
    for one in by_protocol:
        assert one["way"]["times"]["p50"] > 0
        (case,) = one["cases"]
        assert_no_time_is_shorter(case)


def test_a_capacity_is_found_by_the_next_load_of_this_host(
    tmp_path: Path, reference_server: str
) -> None:
    state, rows = tmp_path / "state", tmp_path / "rows"
    document = found(tmp_path, "--only", "capacity", state=state)
    cases = document["capacities"]["reached"]
    assert all(case["throughput_per_s"] > 0 for case in cases)
    assert Path(document["capacities_kept"]).parent == state / "plimsoll"
    url = f"http://{reference_server}/2048"
    ran = run(
        "load", url, "-c", "64", "-d", "1s", "--json", "--record", rows,
        folder=tmp_path, environment={"XDG_STATE_HOME": str(state)},
    )  # fmt: skip
    assert ran.code in (0, 1), ran.stderr
    (trial,) = rows.glob("trials/*/trial.json")
    driver = json.loads(trial.read_text())["driver"]
    nearest = next(
        case for case in cases if case["connections"] == 64 and case["response_bytes"] > 2000
    )
    assert driver["calibrated_capacity_per_s"] * nearest["cpu_per_request_s"] == pytest.approx(1)
    assert driver["longest_pause_ns"] > 0


def test_ctrl_c_ends_server_and_engine(tmp_path: Path) -> None:
    running = start("calibrate", "--only", "stalls", folder=tmp_path)
    running.wait_until_it_says("a server that stalls")
    running.press_ctrl_c()
    assert running.end().code == 130
    assert running.leaves_nothing()
