"""Campaigns of kind `line` against a server with a known service time."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import plimsoll
from command_line import run, start
from plimsoll.load_line.search import Line
from plimsoll.load_line.tries import is_try

pytestmark = pytest.mark.timeout(300)

SERVICE_S, CONNECTIONS = 0.004, 4
"""A connection carries one request at a time, so no line is above connections / service time."""

FRAMEWORK = """\
name = "queue"
language = "Rust"
version = "echo 1"
start = 'exec "$PYTHON" -m plimsoll.reference --workers 1 --service-time 4ms'
start_timeout = "20s"
endpoints = ["empty"]
"""
CAMPAIGN = """\
name = "lines"
kind = "line"
frameworks = ["queue"]
endpoints = ["empty"]
cool_down = "0s"

[line]
p50 = "MOST"
hold = "300ms"
warm_up = "100ms"
connections = 4
budget = "BUDGET"
within = "50%"
"""


def files(folder: Path, most: str = "12ms", budget: str = "25s") -> tuple[str, ...]:
    """A campaign and its framework; arguments of `run`."""
    own = folder / "frameworks" / "queue"
    own.mkdir(parents=True, exist_ok=True)
    (own / "framework.toml").write_text(FRAMEWORK)
    path = folder / "lines.toml"
    path.write_text(CAMPAIGN.replace("MOST", most).replace("BUDGET", budget))
    return (str(path), "--frameworks", str(own.parent), "--no-report")


def tries(folder: Path) -> dict[str, float]:
    """The rate of each try that is recorded, by its id."""
    found = (json.loads(path.read_text()) for path in folder.glob("trials/[!.]*/trial.json"))
    return {
        one["trial"]: one["load"]["stages"][-1]["start"]
        for one in found
        if one["load"]["name"] == "line"
    }


def test_a_campaign_finds_a_line_below_the_peak_and_goes_on_after_a_kill(tmp_path: Path) -> None:
    results = tmp_path / "results" / "lines"
    arguments = files(tmp_path)
    running = start("run", *arguments, folder=tmp_path)
    running.wait_until(lambda: bool(tries(results)))
    running.process.kill()
    running.process.wait()
    assert running.leaves_nothing()
    before = tries(results)
    ran = run("run", *arguments, folder=tmp_path)
    assert ran.code == 0, ran.said
    after = tries(results)
    assert before.items() < after.items()
    assert sorted(after) == sorted(f"queue.empty.line.{number + 1}" for number in range(len(after)))
    with plimsoll.read(results) as found:
        (entry,) = found.findings.lines
        assert entry.found is not None and not entry.goes_on
        assert len(entry.found.searched.tries) == len(after)
        assert all(is_try(found.trial(name).recording) for name in after)
        starts = {found.trial(name).recording.zero_utc for name in after}
        assert len(starts) == len(after)
        assert [one.recording.load.name for one in found.findings.measured] == ["peak"]
        (line,) = entry.found.searched.lines
        assert line.held_per_s is None or line.held_per_s <= 1.1 * CONNECTIONS / SERVICE_S


def test_a_limit_below_the_floor_of_the_server_is_said(tmp_path: Path) -> None:
    run("run", *files(tmp_path, most="1ms", budget="5m"), folder=tmp_path)
    judged = run("judge", "results/lines", "--accept", "undisturbed", folder=tmp_path)
    assert judged.code == 7, judged.said
    assert "no rate keeps p50 ≤ 1 ms on queue · empty" in judged.stderr


COLD_REQUESTS, COLD_S = 150, 10 * SERVICE_S
COLD = f"""\
import http.server
import os
import time


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.served += 1
        time.sleep({COLD_S} if self.server.served < {COLD_REQUESTS} else {SERVICE_S})
        self.send_response(200 if self.path == "/empty" else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    served = 0


Server((os.environ["HOST"], int(os.environ["PORT"])), Handler).serve_forever()
"""


def test_a_fresh_server_is_warm_before_its_rate(tmp_path: Path) -> None:
    """Its first requests take ten times as long: on four connections, 1.5 s."""
    arguments = [one for one in files(tmp_path) if one != "--no-report"]  # trials are judged then
    own = tmp_path / "frameworks" / "queue"
    (own / "cold.py").write_text(COLD)
    framework = FRAMEWORK.replace("-m plimsoll.reference --workers 1 --service-time 4ms", "cold.py")
    (own / "framework.toml").write_text(framework + "clean_exit_codes = [-15]\n")
    lines, peaks_per_s = list[Line](), list[float]()
    for warm_up in ("0s", "2s"):
        into = tmp_path / warm_up
        setting = ("--set", f"line.server_warm_up={warm_up}", "--into", str(into))
        ran = run("run", *arguments, *setting, folder=tmp_path)
        with plimsoll.read(into) as read:
            (entry,) = read.findings.lines
            assert entry.found is not None, ran.said
            lines += entry.found.searched.lines
            peaks_per_s.append(entry.found.searched.start_per_s)
            tried = [one.recording for one in read.findings.trials if is_try(one.recording)]
        assert all((one.warming_s > 0) is (warm_up == "2s") for one in tried)
        judged = re.findall("^ {6}[^ ]", ran.stderr, re.MULTILINE)
        assert len(judged) == 1, "a try beyond the line fails on purpose: only the peak is judged"
    cold, warm = lines
    assert (cold.state, warm.state) == ("below", "found")
    assert warm.rate_per_s is not None and warm.rate_per_s > 2 * peaks_per_s[0]
