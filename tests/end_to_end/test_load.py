"""`plimsoll load`: one load against a server that runs already."""

from __future__ import annotations

import csv
import http.server
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import plimsoll
from command_line import CHECKOUT, Ran, run, run_unread, start
from plimsoll.events import LoadRecorded
from plimsoll.findings import derivation
from small_servers import eventually

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

TIMES = {"mean", "min", "p25", "p50", "p75", "p90", "p95", "p99", "p999", "p9999", "max"}


class Counting(http.server.BaseHTTPRequestHandler):
    """Counts what reaches it, on many threads at once."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    seen: list[str]
    connections: list[int]

    def setup(self) -> None:
        super().setup()
        self.connections.append(1)

    def answer(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length).decode()
        marks = self.headers.get_all("X-Mark") or []
        self.seen.append(f"{self.command} {self.path} {self.headers['Host']} {marks} {body}")
        self.send_response(201)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"hi")

    do_GET = do_POST = do_PUT = answer  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        pass


@pytest.fixture
def counting() -> Iterator[tuple[str, type[Counting]]]:
    """A server that counts; its address and what it saw."""
    handler = type("Fresh", (Counting,), {"seen": [], "connections": []})
    with Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.server_port}", handler
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def shown(reference_server: str, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """What a person sees of a load of a second."""
    folder = tmp_path_factory.mktemp("load")
    return run("load", f"http://{reference_server}/2048", "-c", 10, "-d", "1s", folder=folder)


@pytest.fixture(scope="module")
def found(reference_server: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a program reads of a load of a second."""
    folder = tmp_path_factory.mktemp("load-json")
    ran = run("load", f"{reference_server}/2048", "-c", 10, "-d", "1s", "--json", folder=folder)
    assert ran.code in (0, 1), ran.stderr
    return json.loads(ran.stdout)


def test_the_numbers_fit_a_screen(shown: Ran) -> None:
    lines = shown.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    judged = next(place for place, line in enumerate(lines) if line[:1] in "✓▲✕")
    assert judged < 12
    for words in (
        "response time",
        "throughput",
        "requests",
        "connections",
        "load generator",
        "p99.9",
    ):
        assert any(line.startswith(words) or words in line for line in lines[:judged])


def test_the_verdict_is_in_words_and_the_exit_code_agrees_with_it(shown: Ran) -> None:
    level = next(line for line in shown.stdout.splitlines() if line[:1] in "✓▲✕")
    assert level.split()[1] in ("sound", "doubtful", "void")
    assert shown.code == ("void" in level)


def shape(value: Any) -> Any:
    """The names within an object, at every depth; lists by their first element."""
    if isinstance(value, dict):
        return {name: shape(one) for name, one in value.items()}
    return [shape(one) for one in value[:1]] if isinstance(value, list) else None


def test_python_gives_the_object_that_the_command_prints(
    found: dict[str, Any], reference_server: str
) -> None:
    parts = ("summary", "connections", "driver", "server", "verdicts")
    with plimsoll.load(f"{reference_server}/2048", connections=10, duration_s=0.5) as result:
        same = json.loads(json.dumps(result.as_json()))
    assert same.keys() == found.keys()
    assert same["recording"] is None
    assert {one: shape(same[one]) for one in parts if one in same} == {
        one: shape(found[one]) for one in parts if one in found
    }


def test_json_has_the_parts_that_are_promised(found: dict[str, Any]) -> None:
    assert {"summary", "connections", "failures", "driver", "verdicts", "level"} <= set(found)
    assert found["recording"] is None
    summary = found["summary"]
    assert {
        "throughput_per_s", "goodput_per_s", "failure_ratio", "completed", "failed", "unfinished",
        "received_bytes", "sent_bytes", "duration_s",
    } <= set(summary)  # fmt: skip
    for name in ("response_time", "service_time", "first_byte", "connect", "lag"):
        assert set(summary[f"{name}_ns"]) == TIMES
    assert set(found["connections"]) == {
        "requested", "opened", "with_response", "refused", "lost", "peak_open",
    }  # fmt: skip
    assert set(found["driver"]) == {
        "name", "version", "busy_cores", "cores", "peak_rss_bytes", "requests_lost_by_recorder",
        "redirects", "fewest_streams", "decoded",
    }  # fmt: skip
    for verdict in found["verdicts"]:
        assert set(verdict) >= {
            "check", "level", "measured", "limit", "unit", "sentences", "source",
        }  # fmt: skip
    assert found["level"] in ("sound", "doubtful", "void")


def test_the_first_page_names_as_many_checks_as_apply_to_its_load(
    reference_server: str, tmp_path: Path
) -> None:
    (named,) = re.findall(r"sound by all (\d+) checks", (CHECKOUT / "README.md").read_text("utf-8"))
    longer_than_a_timeout = ("-c", 16, "-d", "1s", "--timeout", "500ms")
    ran = run("load", f"{reference_server}/2048", *longer_than_a_timeout, "--json", folder=tmp_path)
    applying = {one["check"] for one in json.loads(ran.stdout)["verdicts"] if one["applies"]}
    assert len(applying - {"energy_net"}) == int(named)  # it applies where the host has a meter


def test_the_numbers_of_a_load_agree_with_each_other(found: dict[str, Any]) -> None:
    summary = found["summary"]
    assert summary["duration_s"] == 1
    assert summary["completed"] == summary["throughput_per_s"] * summary["duration_s"]
    assert summary["failed"] == 0
    request = f"GET /2048 HTTP/1.1\r\nHost: {found['framework']}\r\n\r\n"
    assert summary["sent_bytes"] % len(request) == 0
    assert summary["sent_bytes"] >= summary["completed"] * len(request)
    assert found["connections"]["requested"] == found["connections"]["opened"] == 10
    assert found["connections"]["with_response"] == found["connections"]["peak_open"] == 10
    times = summary["response_time_ns"]
    assert times["min"] <= times["p50"] <= times["p99"] <= times["max"]


def test_too_few_requests_leave_high_percentiles_empty(
    counting: tuple[str, type[Counting]], tmp_path: Path
) -> None:
    ran = run("load", counting[0], "-n", 50, "-c", 2, "--json", folder=tmp_path)
    assert json.loads(ran.stdout)["summary"]["response_time_ns"]["p999"] is None


def test_as_many_requests_are_sent_as_asked_for(
    counting: tuple[str, type[Counting]], tmp_path: Path
) -> None:
    address, seen = counting
    ran = run("load", address, "-n", "1k", "-c", 7, "-t", 2, "--json", folder=tmp_path)
    summary = json.loads(ran.stdout)["summary"]
    assert len(seen.seen) == 1 + 1000, "one before the load"
    assert len(seen.connections) == 1 + 7
    assert (summary["completed"], summary["failed"], summary["unfinished"]) == (1000, 0, 0)
    assert summary["duration_s"] < 30
    rate = summary["completed"] / summary["duration_s"]
    assert summary["throughput_per_s"] == pytest.approx(rate)


@pytest.mark.parametrize(("requests", "rate"), [(100, 300), (7, 3.5)])
def test_as_many_requests_arrive_at_a_rate_as_asked_for(
    counting: tuple[str, type[Counting]], tmp_path: Path, requests: int, rate: float
) -> None:
    address, seen = counting
    typed = ("-n", requests, "-R", rate, "-c", 4, "-t", 2, "--json")
    summary = json.loads(run("load", address, *typed, folder=tmp_path).stdout)["summary"]
    assert len(seen.seen) == 1 + requests, "one before the load"
    assert summary["completed"] + summary["unfinished"] == requests
    assert summary["duration_s"] == pytest.approx(requests / rate)


def test_fewer_requests_than_connections_can_be_asked_for(
    counting: tuple[str, type[Counting]], tmp_path: Path
) -> None:
    run("load", counting[0], "-n", 3, "-c", 10, "--json", folder=tmp_path)
    assert len(counting[1].seen) == 1 + 3


def test_method_header_and_body_are_sent_as_typed(
    counting: tuple[str, type[Counting]], tmp_path: Path
) -> None:
    address, seen = counting
    (tmp_path / "body.txt").write_text("hello")
    run(
        "load", f"{address}/a?b=c%20d", "-n", 2, "-c", 1, "-m", "put", "-b", "@body.txt",
        "-H", "X-Mark: one", "-H", "X-Mark:two", "-H", "Host: example.org",
        folder=tmp_path,
    )  # fmt: skip
    assert set(seen.seen) == {"PUT /a?b=c%20d example.org ['one', 'two'] hello"}


def test_a_body_makes_it_a_post(counting: tuple[str, type[Counting]], tmp_path: Path) -> None:
    address, seen = counting
    run("load", address, "-n", 1, "-c", 1, "-b", "hello", folder=tmp_path)
    assert seen.seen == [f"POST / {address} [] hello"]


def test_several_urls_are_mixed_and_each_has_its_numbers(
    counting: tuple[str, type[Counting]], tmp_path: Path
) -> None:
    address, seen = counting
    typed = (f"{address}/a", f"{address}/b", f"{address}/a", "-H", "X-Mark: 1")
    ran = run("load", *typed, "-n", 600, "-c", 4, "--json", folder=tmp_path)
    found = json.loads(ran.stdout)
    counts = {one["request"]: one["completed"] for one in found["requests"]}
    assert counts == {
        path: sum(f"GET {path} " in line for line in seen.seen[1:]) for path in ("/a", "/b")
    }
    assert sum(counts.values()) == 600
    assert 1.4 < counts["/a"] / counts["/b"] < 2.8
    assert all("['1']" in line for line in seen.seen)


def test_several_urls_have_a_line_each(
    counting: tuple[str, type[Counting]], tmp_path: Path
) -> None:
    address, _ = counting
    typed = (f"{address}/a", f"{address}/b", "-n", 100, "-c", 2, "-v")
    ran = run("load", *typed, folder=tmp_path)
    lines = [line.split() for line in ran.stdout.splitlines()]
    answers = {line[0]: int(line[1]) for line in lines if line and line[0] in ("/a", "/b")}
    assert sum(answers.values()) == 100


def test_who_thinks_sends_less(counting: tuple[str, type[Counting]], tmp_path: Path) -> None:
    address, seen = counting
    run("load", address, "-c", 2, "-d", "1s", "--think", "200ms", folder=tmp_path)
    assert 1 + 2 <= len(seen.seen) <= 1 + 2 * 6


def test_a_connection_is_closed_after_as_many_requests_as_asked_for(
    counting: tuple[str, type[Counting]], tmp_path: Path
) -> None:
    address, seen = counting
    run("load", address, "-n", 20, "-c", 1, "--requests-per-connection", 5, folder=tmp_path)
    assert (len(seen.seen), len(seen.connections)) == (1 + 20, 1 + 4)


def test_a_ramp_comes_first_and_is_not_summarised(
    counting: tuple[str, type[Counting]], tmp_path: Path
) -> None:
    address, seen = counting
    typed = ("-R", 100, "-c", 5, "-d", "1s", "--ramp", "1s", "--arrivals", "constant")
    ran = run("load", address, *typed, "--json", folder=tmp_path)
    summary = json.loads(ran.stdout)["summary"]
    assert summary["duration_s"] == 1
    assert 141 <= len(seen.seen) <= 156, "one before, a hundred in the hold, fifty in the ramp"
    assert summary["completed"] <= 101


def test_arrivals_are_drawn_anew_and_can_be_repeated(reference_server: str, tmp_path: Path) -> None:
    def arrivals(name: str, *seed: object) -> tuple[int, list[int]]:
        """The seed of a load, and when its requests were due."""
        typed = ("-R", 500, "-d", "300ms", "-c", 5, "--arrivals", "poisson", "--record", name)
        ran = run("load", reference_server, *typed, *seed, "--json", folder=tmp_path)
        assert ran.code in (0, 1), ran.stderr
        rows = pq.read_table(tmp_path / name / "trials" / "load" / "requests.parquet")
        return json.loads(ran.stdout)["seed"], sorted(rows["due_ns"].to_pylist())

    (first, drawn), (second, other) = arrivals("first"), arrivals("second")
    assert first != second
    assert drawn != other
    assert arrivals("again", "--seed", first) == (first, drawn)


def test_a_screen_names_the_seed_where_something_was_drawn(
    reference_server: str, tmp_path: Path
) -> None:
    typed = ("-R", 100, "-d", "200ms", "-c", 5, "--seed", 7)
    drawn = run("load", reference_server, *typed, "--arrivals", "poisson", folder=tmp_path)
    assert "--seed 7" in drawn.said
    assert "--seed 7" not in run("load", reference_server, *typed, folder=tmp_path).said


def test_of_a_server_that_runs_already_the_program_is_known(
    reference_server: str, tmp_path: Path
) -> None:
    ran = run("load", reference_server, "-n", 5, "-c", 1, "--json", folder=tmp_path)
    (program,) = json.loads(ran.stdout)["provenance"]["application"]
    assert program["kind"] == "program"
    assert program["name"].startswith("python")


def test_a_body_may_come_from_the_standard_input(
    counting: tuple[str, type[Counting]], tmp_path: Path
) -> None:
    address, seen = counting
    piped = ("sh", "-c", 'printf hello | "$@"', "sh")
    run("load", address, "-n", 1, "-c", 1, "-b", "@-", folder=tmp_path, before=piped)
    assert seen.seen == [f"POST / {address} [] hello"]


def test_without_keepalive_every_request_has_a_connection(
    counting: tuple[str, type[Counting]], tmp_path: Path
) -> None:
    address, seen = counting
    run("load", address, "-n", 20, "-c", 2, "--no-keepalive", folder=tmp_path)
    assert (len(seen.seen), len(seen.connections)) == (1 + 20, 1 + 20)


@pytest.mark.parametrize(
    ("expectation", "outcome"),
    [
        (("--expect-status", "200"), "wrong_status"),
        (("--expect-length", "3"), "wrong_length"),
        (("--expect-body", "hi"), None),
        (("--expect-body", "@wanted"), "wrong_body"),
    ],
)
def test_what_is_not_as_expected_is_a_failure_of_its_kind(
    counting: tuple[str, type[Counting]],
    expectation: tuple[str, str],
    outcome: str | None,
    tmp_path: Path,
) -> None:
    (tmp_path / "wanted").write_text("ho")
    ran = run("load", counting[0], "-n", 100, "-c", 2, "--json", *expectation, folder=tmp_path)
    found = json.loads(ran.stdout)
    outcomes = [failure["outcome"] for failure in found["failures"]]
    assert outcomes == ([outcome] if outcome else [])
    assert found["summary"]["goodput_per_s"] == 0 or outcome is None
    if outcome:
        assert (ran.code, found["level"]) == (1, "void")


def test_kinds_of_failures_add_up_to_the_failures_of_the_window(
    counting: tuple[str, type[Counting]], tmp_path: Path
) -> None:
    typed = ("-R", 100, "--warm-up", "500ms", "-d", "500ms", "-c", 2, "--expect-status", 202)
    found = json.loads(run("load", counting[0], *typed, "--json", folder=tmp_path).stdout)
    (one,) = found["failures"]
    assert one["held"] == found["summary"]["failed"] > 0
    assert one["count"] > one["held"]
    row = run("load", counting[0], *typed, "-o", "csv", folder=tmp_path).stdout.splitlines()
    (read,) = csv.DictReader(row)
    assert read["failures"] == f"wrong_status:201={read['failed']}"


def test_an_open_load_sends_at_its_rate(
    counting: tuple[str, type[Counting]], tmp_path: Path
) -> None:
    address, seen = counting
    ran = run("load", address, "-R", 200, "-d", "1s", "-c", 5, "--json", folder=tmp_path)
    summary = json.loads(ran.stdout)["summary"]
    assert len(seen.seen) == 1 + 200
    assert summary["completed"] + summary["unfinished"] == 200


@pytest.mark.parametrize("option", ["--json", "--quiet"])
def test_a_port_that_nobody_listens_on_is_told_before_the_load(option: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    ran = run("load", f":{port}", "-d", "60s", option, "--record", "kept", folder=tmp_path)
    assert ran.code == 4
    assert ran.stdout == ""
    said, hint = ran.stderr.splitlines()
    assert said == f"error: `127.0.0.1:{port}` refuses connections: nothing listens there"
    assert hint.startswith("hint: start the server")
    assert not (tmp_path / "kept").exists()


def test_a_server_that_never_responds_is_told_before_the_load(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        ran = run("load", f":{port}", "-d", "60s", "--timeout", "3s", folder=tmp_path)
    assert ran.code == 4
    assert ran.stdout == ""
    waiting, said, hint = ran.stderr.splitlines()
    assert waiting == f"note: `127.0.0.1:{port}` does not respond yet; waiting up to 3 s"
    assert said == (
        f"error: `127.0.0.1:{port}` accepts connections, but sends no response within 3 s"
    )
    assert hint.startswith("hint: check the server, or give a slow one more time")


def test_a_script_of_wrk_is_answered_with_what_does_the_same(tmp_path: Path) -> None:
    ran = run("load", "-t2", "-c8", "-d5s", "-s", "post.lua", ":1", folder=tmp_path)
    assert ran.code == 2
    said, hint = ran.stderr.splitlines()
    assert said == "error: `-s post.lua`: Plimsoll runs no script of wrk"
    assert "`-m`, `-H` and `-b @FILE`" in hint


def test_a_name_that_leads_nowhere_is_told_before_the_load(tmp_path: Path) -> None:
    ran = run("load", "http://name.invalid/", folder=tmp_path)
    assert ran.code == 4
    assert ran.stderr.startswith("error: cannot resolve `name.invalid`")
    assert "hint: check the host name" in ran.stderr


def test_a_wrong_path_is_void_and_says_so(reference_server: str, tmp_path: Path) -> None:
    ran = run("load", f"{reference_server}/nowhere", "-d", "500ms", "-c", 2, folder=tmp_path)
    assert ran.code == 1
    assert "404 × " in ran.stdout
    assert "(expected 200 to 399)" in ran.stdout
    assert "void" in ran.stdout


@pytest.mark.parametrize(
    ("typed", "begins"),
    [(("-q",), "sound doubtful void"), (("-o", "csv"), "trial,"), (("-o", "md"), "### ")],
)
def test_the_result_has_the_form_that_was_asked_for(
    reference_server: str, typed: tuple[str, ...], begins: str, tmp_path: Path
) -> None:
    ran = run("load", f"{reference_server}/2048", "-n", 200, "-c", 2, *typed, folder=tmp_path)
    assert ran.code in (0, 1), ran.stderr
    assert "200 × 200" in ran.stdout or "200=200" in ran.stdout
    if typed == ("-q",):
        assert ran.stdout.count("\n") == 1
        assert ran.stdout.split()[1] in begins.split()
    else:
        assert ran.stdout.startswith(begins)


@pytest.mark.alone  # other tests may take the cores for its milliseconds: it is void then
def test_a_short_load_is_too_short_to_judge_in_every_form(
    reference_server: str, tmp_path: Path
) -> None:
    url, amount = f"{reference_server}/2048", ("-n", 100, "-c", 2)
    for typed in ((), ("-q",), ("-o", "md")):
        ran = run("load", url, *amount, *typed, folder=tmp_path)
        assert ran.stdout.count("Too short to judge") == 1, ran.stdout
        assert "sound" not in ran.stdout
    found = json.loads(run("load", url, *amount, "--json", folder=tmp_path).stdout)
    with plimsoll.load(url, requests=100, connections=2) as result:
        of_library = {one.check: one.level for one in result.verdicts}
    of_command = {one["check"]: one["level"] for one in found["verdicts"]}
    for levels in (of_command, of_library):
        assert levels["long_enough"] == "doubtful"
        assert "doubtful" not in {
            level for check, level in levels.items() if check != "long_enough"
        }
    assert found["level"] in ("doubtful", "void")


def test_a_warm_up_is_not_summarised(counting: tuple[str, type[Counting]], tmp_path: Path) -> None:
    address, seen = counting
    typed = ("-R", 100, "-c", 5, "-d", "500ms", "--warm-up", "1s")
    ran = run("load", address, *typed, "--json", folder=tmp_path)
    summary = json.loads(ran.stdout)["summary"]
    assert summary["duration_s"] == 0.5
    assert summary["completed"] < 100
    assert len(seen.seen) == 1 + 150


def test_the_exit_code_follows_what_is_accepted(reference_server: str, tmp_path: Path) -> None:
    void = ("-n", 200, "-c", 2, "--expect-status", 201, "--json")
    url = f"{reference_server}/2048"
    assert run("load", url, *void, folder=tmp_path).code == 1
    accepted = run("load", url, *void, "--accept", "responses_correct", folder=tmp_path)
    found = json.loads(accepted.stdout)
    others = [one for one in found["verdicts"] if one["check"] != "responses_correct"]
    assert found["level"] == "void"
    assert accepted.code == ("void" in [one["level"] for one in others])
    many = ("--limit", "responses_correct.wrong_ratio_void=2")
    changed = json.loads(run("load", url, *void, *many, folder=tmp_path).stdout)
    levels = {one["check"]: one["level"] for one in changed["verdicts"]}
    assert levels["responses_correct"] == "doubtful"


def test_flags_of_other_tools_are_understood(reference_server: str, tmp_path: Path) -> None:
    typed = ("--latency", "-k", "-z", "200ms", "-c", 2, "--json")
    ran = run("load", f"{reference_server}/2048", *typed, folder=tmp_path)
    assert json.loads(ran.stdout)["summary"]["duration_s"] == 0.2


@pytest.mark.parametrize(
    ("typed", "sentence", "hint"),
    [
        (["ftp://127.0.0.1/"], "URL: scheme `ftp` is not supported", "speaks HTTP"),
        (["127.0.0.1", "--insecure"], "--insecure: the URL is not one of `https`", "remove"),
        (["https://127.0.0.1/", "--key", "x"], "--key: `--key` needs its certificate", "--cert"),
        (["https://127.0.0.1/", "--cacert", "x"], "--cacert: there is no file `x`", "path"),
        (["http://127.0.0.1:99999/"], "not a number from 1 to 65535", "http://127.0.0.1:8080/path"),
        (["http://"], "is not a valid URL", "http://127.0.0.1:8080/path"),
        (["127.0.0.1", "-q", "100"], "`-q 100`: `-q` takes no value", "write `-R 100`"),
        (["-q2.5k", "127.0.0.1"], "`-q 2.5k`: `-q` takes no value", "write `-R 2.5k`"),
        (["127.0.0.1", "100"], "`100` is an ambiguous IPv4 address", "for a rate `--rate 100`"),
        (["http://[::1/"], "is not a valid URL", "http://127.0.0.1:8080/path"),
        (["http://me:secret@127.0.0.1/"], "password in the URL is not supported", "Authorization"),
        (["http://127.0.0.1/a b"], "contains white space", "`%20`"),
        (["127.0.0.1", "-t", "5k"], "--threads: `5000` is too large", "the maximum is 1,024"),
        (
            ["127.0.0.1", "-n", "5", "-R", "5", "--arrivals", "poisson"],
            "the number of Poisson arrivals is random",
            "use `--duration`",
        ),
        (
            ["127.0.0.1", "--think", "1s", "-R", "5"],
            "think time needs the closed model",
            "use either",
        ),
        (
            ["127.0.0.1", "--pipeline", "2", "--no-keepalive"],
            "more than one request per connection",
            "remove",
        ),
        (["a.test/x", "b.test/y"], "two servers, `a.test` and `b.test`", "once per server"),
        (["127.0.0.1", "--fail-if", "p98>1ms"], "unknown quantity `p98`", "quantities: min, mean"),
        (
            ["127.0.0.1", "--fail-if", "p99>250"],
            "`250` has no unit of time",
            "write `250ms` or `2s`",
        ),
        (["127.0.0.1", "-H", "Host"], "--header: `Host` is not a header", "'Name: value'"),
        (
            ["127.0.0.1", "-H", "A: b\r\nC: d"],
            "is not allowed in a request header",
            "control characters",
        ),
        (["127.0.0.1", "-m", "G ET"], "is not allowed in a request header", "white space"),
        (["127.0.0.1", "-b", "@nowhere"], "--body: `nowhere` cannot be read", ""),
        (["127.0.0.1", "--expect-body", "@nowhere"], "--expect-body: `nowhere` cannot", ""),
    ],
)
def test_a_load_that_makes_no_sense_is_refused_before_anything_is_sent(
    typed: list[str], sentence: str, hint: str, tmp_path: Path
) -> None:
    ran = run("load", *typed, folder=tmp_path)
    assert ran.code == 2, ran.stderr
    assert sentence in ran.stderr
    assert hint in ran.stderr
    assert ran.stdout == ""


def test_every_amount_that_makes_no_load_is_named(tmp_path: Path) -> None:
    amounts = ("-c", 0, "-d", "0s", "-t", 0, "-n", 0, "-R", 0, "--timeout", 0)
    ran = run("load", "127.0.0.1", *amounts, folder=tmp_path)
    assert ran.code == 2
    for option in ("connections", "duration", "threads", "requests", "rate", "timeout"):
        assert f"error: --{option}: `0` is too small\n" in ran.stderr


def test_more_connections_than_files_are_refused_with_numbers_before_any_load(
    counting: tuple[str, type[Counting]], tmp_path: Path
) -> None:
    few = ("prlimit", "--nofile=200:200")
    ran = run("load", counting[0], "-c", 300, "-d", "1s", folder=tmp_path, before=few)
    assert ran.code == 3
    assert "300 connections need 364 file descriptors, the limit is 200" in ran.stderr
    assert "hint: `ulimit -n 364`, or request fewer connections" in ran.stderr
    assert len(counting[1].seen) == 1
    assert "0 requests" not in ran.stdout


def test_a_limit_that_is_missed_has_an_exit_code_of_its_own(
    counting: tuple[str, type[Counting]], tmp_path: Path
) -> None:
    gates = ("--fail-if", "max>1ns", "--fail-if", "failures>1%")
    ran = run("load", counting[0], "-n", 20, "-c", 1, *gates, folder=tmp_path)
    assert ran.code == 7
    assert "error: threshold crossed: max>1ns, measured " in ran.stderr
    assert "failures>1%" not in ran.stderr


def test_a_percentile_of_few_responses_is_judged_by_the_maximum_or_undecided(
    counting: tuple[str, type[Counting]], tmp_path: Path
) -> None:
    few = ("load", counting[0], "-n", 20, "-c", 1, "-q")
    assert run(*few, "--fail-if", "p99>1h", folder=tmp_path).code == 0
    ran = run(*few, "--fail-if", "p50<1h", "--fail-if", "p99>1ns", folder=tmp_path)
    assert ran.code == 7
    assert ran.stderr.count("error: threshold crossed: ") == 2


def test_a_recorded_load_can_be_reported_on(reference_server: str, tmp_path: Path) -> None:
    url = f"{reference_server}/2048"
    kept = run("load", url, "-c", 2, "-n", 500, "--record", "kept", "--json", folder=tmp_path)
    assert json.loads(kept.stdout)["recording"] == "kept"
    ran = run("report", "kept", "--format", "markdown", folder=tmp_path)
    assert ran.code in (0, 1), ran.stderr
    assert "/2048" in (tmp_path / "kept" / "report" / "report.md").read_text(encoding="utf-8")


def test_a_load_is_not_recorded_over_something_else(reference_server: str, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    ran = run("load", reference_server, "-n", 1, "--record", ".", folder=tmp_path)
    assert ran.code == 6, ran.stderr
    assert "error: `.` is not empty: it holds " in ran.stderr
    assert "hint: choose a new folder with `--record`" in ran.stderr


def test_what_is_counted_in_the_records_is_what_is_judged_by_the_tables(
    reference_server: str,
) -> None:
    url = f"http://{reference_server}/2048"
    with plimsoll.load(url, connections=8, duration_s=0.3, warm_up_s=0.1) as result:
        quick = result.judged
        whole = derivation.of_trial(result.campaign.stored, result.recording)
    assert [astuple(one) for one in quick.verdicts] == [astuple(one) for one in whole.verdicts]
    assert quick.statuses == whole.statuses
    assert quick.stalls == whole.stalls
    assert quick.summary is not None
    assert whole.summary is not None
    for name, value in whole.summary.row.items():
        counted = quick.summary.row[name]
        same = pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
        assert counted == same, name


def test_ctrl_c_ends_a_load_with_what_there_is(reference_server: str, tmp_path: Path) -> None:
    running = start(
        "load", f"{reference_server}/2048", "-c", 2, "-d", "60s", "--record", "kept", "--json",
        folder=tmp_path,
    )  # fmt: skip
    running.wait_until_rows_are_kept()
    running.press_ctrl_c()
    ran = running.end()
    assert ran.code == 130
    assert not running.processes()
    found = json.loads(ran.stdout)
    assert found["ending"]["kind"] == "Interrupted"
    assert found["summary"]["duration_s"] < 60


@pytest.mark.alone
def test_ctrl_c_ends_a_load_as_soon_as_its_own_end_does_and_fails_no_request(
    reference_server: str, tmp_path: Path
) -> None:
    load, here = (f"{reference_server}/2048", "-c", "8"), {"TMPDIR": str(tmp_path)}
    ends_s, stops_s = [], []
    for _ in range(2):
        whole = start("load", *load, "-d", "500ms", folder=tmp_path, environment=here)
        whole.wait_until_it_drives()
        engine = whole.engine()
        assert eventually(lambda engine=engine: not Path(f"/proc/{engine}").exists())
        ended_s = time.monotonic()
        assert whole.end().code in (0, 1)
        ends_s.append(time.monotonic() - ended_s)
        cut = start("load", *load, "-d", "60s", folder=tmp_path, environment=here)
        cut.wait_until_rows_are_kept()
        pressed_s = time.monotonic()
        cut.press_ctrl_c()
        ran = cut.end()
        stops_s.append(time.monotonic() - pressed_s)
        assert ran.code == 130
        assert ", 0 failed (0 %)" in ran.stdout
        assert "throughput" in ran.stdout
        assert cut.leaves_nothing()
    assert min(stops_s) < 2 * min(ends_s), (stops_s, ends_s)


def test_the_server_has_its_cores_under_the_load_and_those_of_before_afterwards(
    tmp_path: Path,
) -> None:
    core = min(os.sched_getaffinity(0))
    command = [sys.executable, "-m", "plimsoll.reference", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = json.loads(server.stdout.readline())["address"]
        before = os.sched_getaffinity(server.pid)
        options: dict[str, Any] = {"requests": 50, "connections": 2, "server_cores": [core]}
        with plimsoll.load(f"{address}/empty", **options) as result:
            assert result.recording.server is not None
            assert result.recording.server.cores == (core,)
        assert os.sched_getaffinity(server.pid) == before
        refused = run("load", f"{address}/empty", "-n", 5, "--server-cores", 4000, folder=tmp_path)
        server.terminate()
    assert refused.code == 2
    assert "core 4000 is not a core of this host" in refused.stderr


def test_a_recorded_load_is_kept_where_nobody_reads_what_is_shown(
    reference_server: str, tmp_path: Path
) -> None:
    command = ("load", reference_server, "-c", "2", "-d", "1s", "--record", "kept")
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "plimsoll", *command],
            cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert "No space left on device" in ran.stderr
    assert read_requests(tmp_path / "kept") > 0


def test_a_recorded_load_whose_figures_nobody_reads_is_kept(
    reference_server: str, tmp_path: Path
) -> None:
    typed = ("load", f"{reference_server}/2048", "-n", 50, "-c", 1, "--record", "kept")
    ran = run_unread(*typed, "--fail-if", "throughput<100M", folder=tmp_path)
    assert ran.code == 7, ran.stderr
    assert "threshold crossed: throughput<100M" in ran.stderr
    assert read_requests(tmp_path / "kept") == 50


def test_a_signal_after_the_load_takes_no_recorded_row_away(
    reference_server: str, tmp_path: Path
) -> None:
    def interrupt(event: object) -> None:
        if isinstance(event, LoadRecorded):
            os.kill(os.getpid(), signal.SIGINT)

    where = tmp_path / "kept"
    with plimsoll.load(
        reference_server, connections=2, duration_s=1, record=where, on_event=interrupt
    ) as found:
        assert found.summary is not None
    assert read_requests(where) > 0


TERMINATED = """
import os, signal, sys, plimsoll
from plimsoll.events import Progress
told = []
def terminate(event):
    if isinstance(event, Progress) and not told:
        told.append(event)
        os.kill(os.getpid(), signal.SIGTERM)
if sys.argv[3:]:
    signal.signal(signal.SIGTERM, lambda *_: print("told"))
plimsoll.load(sys.argv[1], connections=2, duration_s=9, record=sys.argv[2], on_event=terminate)
print("went on")
"""


@pytest.mark.parametrize(
    ("handler", "code", "said"), [((), -signal.SIGTERM, ""), (("own",), 0, "told\nwent on\n")]
)
def test_sigterm_ends_a_program_when_its_load_is_kept(
    reference_server: str, tmp_path: Path, handler: tuple[str, ...], code: int, said: str
) -> None:
    where = tmp_path / "kept"
    ran = subprocess.run(
        [sys.executable, "-c", TERMINATED, reference_server, where, *handler],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (code, said), ran.stderr
    assert read_requests(where) > 0


def read_requests(folder: Path) -> int:
    (path,) = folder.glob("trials/*/requests.parquet")
    return pq.read_table(path).num_rows
