"""A campaign by TLS, HTTP/2 and WebSocket: what is measured, recorded and left out."""

from __future__ import annotations

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
        "h2": 'protocol = "http2"\nstreams = 2\ntls = true\n',
    }
    path = folder / "protocols.toml"
    text = CAMPAIGN
    for name, keys in loads.items():
        text += LOAD.format(name=name, connections=2 if "http2" in keys else 4) + keys
    path.write_text(text)
    return path


def test_each_protocol_is_measured_and_what_is_not_served_is_left_out(tmp_path: Path) -> None:
    ran = run("run", campaign(tmp_path), *TOYS, folder=tmp_path)
    assert ran.code in (0, 1), ran.said
    assert "toy cannot take load https: it does not serve HTTP/1.1 over TLS" in ran.said
    results = ParquetResults(tmp_path / "results" / "protocols")
    found = {name: results.recording(name) for name in results.trial_ids()}
    assert {*found} == {
        "toy.plaintext.http.1",
        *(f"reference.plaintext.{load}.1" for load in ("http", "https", "h2c", "h2")),
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
    report = (tmp_path / "results" / "protocols" / "report" / "report.md").read_text()
    assert "## What TLS and HTTP/2 cost" in report
