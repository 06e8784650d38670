"""A campaign by TLS, HTTP/2 and WebSocket: what is measured, recorded and left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import TOYS, run
from plimsoll.storage.parquet import ParquetResults

pytestmark = pytest.mark.timeout(300)

LOAD = """
[[load]]
name = "{name}"
timeout = "10s"
stages = [{{ kind = "hold", duration = "300ms", at = {connections} }}]
"""

CAMPAIGN = """\
name = "protocols"
frameworks = ["reference", "toy"]
endpoints = ["plaintext", "ws"]
cool_down = "0s"
"""


def campaign(folder: Path) -> Path:
    loads = {
        "http": "",
        "https": "tls = true\n",
        "h2c": 'protocol = "http2"\nstreams = 2\n',
        "h2c-alone": 'protocol = "http2"\n',
        "h2": 'protocol = "http2"\nstreams = 2\ntls = true\n',
    }
    path = folder / "protocols.toml"
    text = CAMPAIGN
    for name, keys in loads.items():
        text += LOAD.format(name=name, connections=2 if "streams" in keys else 4) + keys
    path.write_text(text)
    return path


def test_each_protocol_is_measured_and_what_is_not_served_is_left_out(tmp_path: Path) -> None:
    ran = run("run", campaign(tmp_path), *TOYS, "--no-report", folder=tmp_path)
    assert ran.code == 0, ran.said
    assert "toy cannot take load https: it does not serve HTTP/1.1 over TLS" in ran.said
    results = ParquetResults(tmp_path / "results" / "protocols")
    found = {name: results.recording(name) for name in results.trial_ids()}
    assert {*found} == {
        "toy.plaintext.http.1",
        *(f"reference.plaintext.{load}.1" for load in ("http", "https", "h2c", "h2c-alone", "h2")),
        *(f"reference.ws.{load}.1" for load in ("http", "https")),
    }
    for name, recording in found.items():
        assert recording.ending.kind == "completed", (name, recording.ending)
        assert recording.driver is not None
        assert recording.driver.outcomes.get("ok", 0) > 10, name
        assert recording.contract == {"before": [], "after": []}
    agreed = {
        name: {(one.version, one.alpn, one.resumed) for one in recording.driver.tls}
        for name, recording in found.items()
        if recording.driver
    }
    assert agreed["reference.plaintext.https.1"] == {("TLS 1.3", None, False)}
    assert agreed["reference.plaintext.h2.1"] == {("TLS 1.3", "h2", False)}
    assert agreed["reference.plaintext.h2c.1"] == set()
    assert found["reference.ws.https.1"].load.protocol == "websocket"
    told = run("report", "results/protocols", "--format", "markdown", folder=tmp_path)
    assert told.code in (0, 1), told.said
    report = (tmp_path / "results" / "protocols" / "report" / "report.md").read_text()
    assert "## What TLS and HTTP/2 cost" in report
    assert "plaintext, h2c: 2 streams on each of 2 connections, relative to 4 with one" in report


SERIAL = """\
name = "{name}"
language = "Rust"
version = "echo 1"
start = 'exec "$PYTHON" -m plimsoll.reference --service-time 5ms {options}'
endpoints = ["plaintext"]
services = ["h2c"]
clean_exit_codes = [0]
"""

SHARING = """\
name = "sharing"
frameworks = ["together", "in-turn"]
endpoints = ["plaintext"]
cool_down = "0s"

[[load]]
name = "shared"
protocol = "http2"
streams = 8
stages = [{ kind = "hold", duration = "500ms", at = 4 }]

[[load]]
name = "alone"
protocol = "http2"
stages = [{ kind = "hold", duration = "500ms", at = 32 }]
"""


@pytest.mark.thorough
def test_a_server_that_serves_streams_in_turn_is_told_from_one_that_does_not(
    tmp_path: Path,
) -> None:
    for name, options in (("together", ""), ("in-turn", "--streams in-turn")):
        folder = tmp_path / "frameworks" / name
        folder.mkdir(parents=True)
        (folder / "framework.toml").write_text(SERIAL.format(name=name, options=options))
    (tmp_path / "sharing.toml").write_text(SHARING)
    own = ("--frameworks", tmp_path / "frameworks")
    ran = run("run", tmp_path / "sharing.toml", *own, folder=tmp_path)
    assert ran.code in (0, 1), ran.said
    judged = run("judge", "results/sharing", "--json", folder=tmp_path)
    trials = {one["trial"]: one for one in json.loads(judged.stdout)}
    ratios = {
        name: {
            quantity: trials[f"{name}.plaintext.shared.1"]["head_of_line"][f"{quantity}_ratio"]
            for quantity in ("throughput_per_s", "response_time_p50_ns")
        }
        for name in ("together", "in-turn")
    }
    together, in_turn = ratios["together"], ratios["in-turn"]
    assert in_turn["throughput_per_s"]["value"] < together["throughput_per_s"]["value"] / 2, ratios
    assert (
        in_turn["response_time_p50_ns"]["value"] > 2 * together["response_time_p50_ns"]["value"]
    ), ratios
    report = (tmp_path / "results" / "sharing" / "report" / "report.md").read_text()
    assert "plaintext, shared: 8 streams on each of 4 connections" in report
