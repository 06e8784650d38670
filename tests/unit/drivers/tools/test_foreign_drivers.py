"""wrk, ab and h2load: their command lines, what they refuse, and what comes of what they print."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

import fake_tools
from plimsoll.campaign.endpoints import by_name
from plimsoll.campaign.load import Load, Stage
from plimsoll.campaign.requests import Exchange, Expected, Request
from plimsoll.drivers.job import DriverCallbacks, DriverJob, DriverResult, Rows
from plimsoll.drivers.tools import ab, h2load, wrk
from plimsoll.errors import DriverFailed
from plimsoll.processes.interruption import Interruption
from plimsoll.sampling.samplers import memory

GOLDEN = Path(__file__).parents[3] / "golden" / "published"
TOOLS: Mapping[str, ModuleType] = {"wrk": wrk, "ab": ab, "h2load": h2load}
PRINTED = {name: (GOLDEN / f"{name}-sound.txt").read_text() for name in TOOLS}

HOLD = Load("x", "closed", (Stage("hold", 10.0, 50, 50),), timeout_s=5.0)
WARM = replace(HOLD, stages=(Stage("warm_up", 2.0, 50, 50), *HOLD.stages))
GET = by_name("2048").exchanges
POST = by_name("json").exchanges
MIX = by_name("mix").exchanges
MULTIPART = by_name("postArgsMulti2048").exchanges
URL = "http://127.0.0.1:80"


@pytest.fixture
def order(tmp_path: Path) -> DriverJob:
    into = tmp_path / "trial"
    into.mkdir()
    return DriverJob(HOLD, GET, "127.0.0.1:80", (2, 3), 5, 0.0, into)


@pytest.fixture
def does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")

    def install(tool: str, **what: object) -> None:
        fake_tools.installed(tmp_path / "bin", tool, **what)

    return install


def watch(go_on: Callable[[], bool] = lambda: True) -> DriverCallbacks:
    return DriverCallbacks(lambda _: None, lambda _: None, lambda _: go_on(), Interruption())


def drive(tool: str, order: DriverJob, go_on: Callable[[], bool] = lambda: True) -> DriverResult:
    return TOOLS[tool].drive(replace(order, cores=(), threads=2), watch(go_on))


def words(*parts: str) -> list[str]:
    return [word for part in parts for word in part.split()]


def test_wrk_is_run_as_its_users_run_it(order: DriverJob) -> None:
    line = list(wrk.command(order, 50, 10.0))
    assert line == words("wrk -t2 -c50 -d10s --latency --timeout 5s", f"{URL}/2048")


def test_wrk_is_not_given_more_threads_than_connections(order: DriverJob) -> None:
    assert "-t1" in wrk.command(order, 1, 10.0)


def test_a_load_may_say_how_many_threads_wrk_and_h2load_have(order: DriverJob) -> None:
    asked = replace(order, load=replace(HOLD, threads=3))
    assert "-t3" in wrk.command(asked, 1000, 10.0)
    assert h2load.command(asked)[4:6] == ("-t", "3")
    assert "-t2" in wrk.command(order, 1000, 10.0)


def test_without_keep_alive_wrk_and_ab_say_so_in_their_own_way(order: DriverJob) -> None:
    closing = replace(order, load=replace(HOLD, keep_alive=False))
    line = wrk.command(closing, 50, 10.0)
    assert line[line.index("-H") + 1] == "Connection: close"
    assert "-k" in ab.command(order, 50, 10.0)
    assert "-k" not in ab.command(closing, 50, 10.0)


def test_the_limit_of_ab_follows_its_time_so_that_it_does_not_end_after_50000(
    order: DriverJob,
) -> None:
    line = list(ab.command(order, 50, 10.0, "ab.tsv"))
    options = words("ab -q -r -k -c 50 -t 10 -n 4000000 -s 5 -g ab.tsv", f"{URL}/2048")
    assert line == options
    assert line.index("-n") > line.index("-t")


@pytest.mark.parametrize(
    ("available", "most", "refused"),
    [
        (None, 4_000_000, ""),
        (1 << 30, 4_000_000, ""),
        (200_000_000, 3_125_000, ""),
        (100_000_000, 1_562_500, "has room for 1,562,500 on this host, too few for 10 s"),
    ],
)
def test_ab_sets_aside_at_most_half_of_the_memory_that_is_available(
    available: int | None,
    most: int,
    refused: str,
    order: DriverJob,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: available)
    line = ab.command(order, 50, 10.0)
    assert line[line.index("-n") + 1] == str(most)
    assert ab.refuses(HOLD, GET).endswith(refused)
    assert bool(ab.refuses(HOLD, GET)) == bool(refused)
    limited = replace(HOLD, request_limit=2_000_000)
    assert ab.refuses(limited, GET).endswith("2,000,000 requests") == bool(refused)


def test_a_limit_of_requests_is_the_limit_of_ab(order: DriverJob) -> None:
    limited = replace(order, load=replace(HOLD, request_limit=900))
    line = ab.command(limited, 50, 10.0)
    assert line[line.index("-n") + 1] == "900"


def test_h2load_speaks_http_1_1_and_warms_up_by_itself(order: DriverJob) -> None:
    line = list(h2load.command(replace(order, load=WARM)))
    options = "h2load --h1 -c 50 -t 2 -D 10000ms --warm-up-time 2000ms --log-file h2load.tsv"
    assert line == words(options, f"{URL}/2048")


def test_h2load_ends_by_time_or_by_a_number_of_requests(order: DriverJob) -> None:
    limited = replace(order, load=replace(HOLD, request_limit=900))
    assert "-D" not in h2load.command(limited)
    assert h2load.command(limited)[6:8] == ("-n", "900")


def test_a_body_is_sent_by_a_script_or_from_a_file_with_its_type(order: DriverJob) -> None:
    posting = replace(order, exchanges=POST)
    assert wrk.command(posting, 50, 10.0)[-3:] == ("-s", "wrk.lua", f"{URL}/json")
    line = ab.command(posting, 50, 10.0)
    assert line[-5:] == ("-p", "ab-body.bin", "-T", "application/json", f"{URL}/json")
    line = h2load.command(posting)
    assert line[line.index("-H") + 1] == "Content-Type: application/json"
    assert line[line.index("-d") + 1] == "h2load-body.bin"


def test_the_script_of_one_body_is_constant_so_that_no_lua_runs_under_load(
    order: DriverJob,
) -> None:
    script = wrk.lua(replace(order, exchanges=POST))
    assert script.startswith('wrk.method = "POST"\nwrk.body = "')
    assert 'wrk.headers["Content-Type"] = "application/json"' in script
    assert "function" not in script


def test_the_script_of_a_mix_draws_each_kind_by_its_weight(order: DriverJob) -> None:
    script = wrk.lua(replace(order, exchanges=MIX))
    assert script.count("wrk.format(") == len(MIX)
    assert "upto[3] = 0.5\n" in script
    assert "upto[6] = 1.0\n" in script
    assert wrk.lua(replace(order, exchanges=MIX)) == script


def test_every_byte_of_a_body_survives_the_script(order: DriverJob) -> None:
    body = bytes(range(256)) * 2
    exchange = Exchange(Request("x", "POST", "/x", (("A", 'b"\\'),), body), Expected())
    script = wrk.lua(replace(order, exchanges=(exchange,)))
    assert script.isascii()
    assert script.isprintable() or script.count("\n") == len(script.splitlines())
    text = script.partition('wrk.body = "')[2].partition('"\n')[0]
    assert unquoted(text) == body
    assert 'wrk.headers["A"] = "b\\034\\092"' in script


def unquoted(text: str) -> bytes:
    """What Lua makes of the inside of a string."""
    found, place = bytearray(), 0
    while place < len(text):
        if text[place] == "\\":
            found.append(int(text[place + 1 : place + 4]))
            place += 4
        else:
            found.append(ord(text[place]))
            place += 1
    return bytes(found)


def test_pipelined_requests_of_wrk_are_batches(order: DriverJob) -> None:
    script = wrk.lua(replace(order, load=replace(HOLD, pipeline=16)))
    assert "for place = 1, 16 do batch[place] = pick() end" in script


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("load", [HOLD, WARM, replace(HOLD, timeout_s=2.0)])
@pytest.mark.parametrize("exchanges", [GET, POST, MULTIPART])
def test_a_hold_of_one_kind_of_request_is_refused_by_none(
    tool: str, load: Load, exchanges: tuple[Exchange, ...]
) -> None:
    assert TOOLS[tool].refuses(load, exchanges) == ""


REFUSED = [
    ("wrk", replace(HOLD, request_limit=5), GET, "no limit for the number of requests"),
    ("wrk", replace(HOLD, timeout_s=0.5), GET, "timeout in whole seconds, not 0.5 s"),
    ("wrk", replace(HOLD, threads=51), GET, "one connection per thread"),
    ("wrk", replace(HOLD, model="open"), GET, "closed model only"),
    ("ab", HOLD, MIX, "sends one request type, not 6"),
    ("ab", replace(HOLD, pipeline=4), GET, "does not pipeline"),
    ("ab", replace(HOLD, protocol="http2"), GET, "does not speak HTTP/2"),
    ("wrk", replace(HOLD, protocol="http2"), GET, "does not speak HTTP/2"),
    ("ab", replace(HOLD, threads=2), GET, "has one thread"),
    ("ab", replace(HOLD, timeout_s=0.5), GET, "timeout in whole seconds"),
    ("ab", replace(HOLD, stages=(Stage("hold", 1.0, 20_001, 20_001),)), GET, "20,000 connections"),
    ("ab", replace(HOLD, request_limit=49), GET, "one request per connection"),
    ("h2load", HOLD, MIX, "one request type, not 6 by their weights"),
    ("h2load", replace(HOLD, keep_alive=False), GET, "does not end with one request"),
    ("h2load", replace(WARM, request_limit=500), GET, "no warm-up with a number"),
    ("h2load", replace(HOLD, request_limit=49), GET, "one request per connection"),
    ("h2load", replace(HOLD, pipeline=2), POST, "does not pipeline requests with a body"),
    ("h2load", replace(HOLD, threads=51), GET, "one connection per thread"),
    (
        "h2load",
        replace(HOLD, stages=(Stage("warm_up", 2.0, 4, 4), *HOLD.stages)),
        GET,
        "warms up with the connections of the hold",
    ),
]


@pytest.mark.parametrize(("tool", "load", "exchanges", "sentence"), REFUSED)
def test_what_a_tool_cannot_do_it_refuses_in_one_sentence(
    tool: str, load: Load, exchanges: tuple[Exchange, ...], sentence: str
) -> None:
    reason = TOOLS[tool].refuses(load, exchanges)
    assert sentence in reason
    assert reason.startswith(f"`{tool}` ")
    assert "\n" not in reason


@pytest.mark.parametrize("method", ["DELETE", "PATCH"])
@pytest.mark.parametrize("tool", ["ab", "h2load"])
def test_a_method_that_a_tool_cannot_send_is_refused(tool: str, method: str) -> None:
    exchange = Exchange(Request("x", method, "/x"), Expected())
    assert method in TOOLS[tool].refuses(HOLD, (exchange,))


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_that_is_not_there_names_what_installs_it(
    tool: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    error = TOOLS[tool].needs()
    assert error is not None
    assert error.hint.startswith("`apt-get install ")


VERSIONS = {
    "wrk": ("wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer\nUsage: wrk\n", "4.1.0"),
    "ab": ("This is ApacheBench, Version 2.3 <$Revision: 1903618 $>\n", "2.3"),
    "h2load": ("h2load nghttp2/1.52.0\n", "1.52.0"),
}


@pytest.mark.parametrize("tool", TOOLS)
def test_the_version_is_read_from_the_tool_itself(tool: str, does: Callable[..., None]) -> None:
    said, version = VERSIONS[tool]
    does(tool, version=said, exits=1 if tool == "wrk" else 0)
    assert TOOLS[tool].version() == version
    does(tool, version="hello\n")
    assert TOOLS[tool].version() == ""


@pytest.mark.parametrize("tool", TOOLS)
def test_what_a_tool_prints_becomes_its_figures_with_what_we_asked_of_it(
    tool: str, does: Callable[..., None], order: DriverJob
) -> None:
    does(tool, prints=PRINTED[tool])
    driven = drive(tool, order)
    figures = driven.figures
    assert figures is not None
    assert driven.driver.figures == figures
    assert (figures.tool, figures.model) == (tool, "closed")
    assert (figures.throughput_per_s or 0) > 0
    assert driven.driver.command[0] == tool
    assert driven.driver.connections_requested == 50
    assert driven.driver.uses_reported_statistics
    assert not driven.driver.has_connects
    assert [stage.kind for stage in driven.stages] == ["hold"]
    assert (order.into / f"{tool}.txt").read_text() == PRINTED[tool]


@pytest.mark.parametrize("tool", ["wrk", "ab"])
def test_a_warm_up_is_a_run_of_its_own_whose_output_is_not_read(
    tool: str, does: Callable[..., None], order: DriverJob
) -> None:
    does(tool, prints=PRINTED[tool])
    driven = drive(tool, replace(order, load=WARM))
    assert len(fake_tools.arguments(order.into)) == 2
    assert [stage.kind for stage in driven.stages] == ["warm_up", "hold"]
    assert driven.stages[0].start_ns == 0
    assert driven.stages[0].end_ns == driven.stages[1].start_ns
    assert (order.into / f"{tool}-warm-up.txt").exists()
    assert any("warm-up was a separate run" in note for note in driven.driver.notes)


def test_wrk_tells_how_many_connections_it_opened_of_those_it_was_asked_for(
    does: Callable[..., None], order: DriverJob
) -> None:
    said = re.sub(r"\d+ threads and \d+ conn", "3 threads and 50 conn", PRINTED["wrk"])
    does("wrk", prints=said)
    driven = drive("wrk", order)
    assert driven.driver.connections_requested == 50
    assert driven.figures is not None
    assert driven.figures.connections == 48
    assert any("48 of 50 requested" in note for note in driven.driver.notes)


def test_the_time_limit_that_wrk_does_not_print_is_the_one_it_was_given(
    does: Callable[..., None], order: DriverJob
) -> None:
    does("wrk", prints=PRINTED["wrk"])
    driven = drive("wrk", order)
    assert driven.figures is not None
    assert driven.figures.timeout_s == 5.0
    assert not any("--timeout" in note for note in driven.driver.notes)


def test_what_ab_and_h2load_wrote_of_each_request_is_handed_on(
    does: Callable[..., None], order: DriverJob
) -> None:
    does("ab", prints=PRINTED["ab"], writes={"ab.tsv": "starttime\tseconds\n"})
    assert drive("ab", order).rows == Rows("ab", (order.into / "ab.tsv",), 1_000_000_000)
    does("h2load", prints=PRINTED["h2load"], writes={"h2load.tsv": "1\t200\t3\n"})
    driven = drive("h2load", order)
    assert driven.rows == Rows("h2load", (order.into / "h2load.tsv",))
    assert not driven.driver.uses_reported_statistics


def test_an_empty_file_of_requests_is_none(does: Callable[..., None], order: DriverJob) -> None:
    does("h2load", prints=PRINTED["h2load"], writes={"h2load.tsv": ""})
    driven = drive("h2load", order)
    assert driven.rows is None
    assert driven.driver.uses_reported_statistics


def test_the_body_lies_where_the_tool_looks_for_it(
    does: Callable[..., None], order: DriverJob
) -> None:
    posting = replace(order, exchanges=POST)
    for tool in ("ab", "h2load"):
        does(tool, prints=PRINTED[tool])
        drive(tool, posting)
        body = order.into / f"{tool}-body.bin"
        assert body.read_bytes() == POST[0].request.body


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("said", ["", "segmentation fault, sort of\n", "\0\1\2"])
def test_something_else_than_figures_is_a_failure_of_the_driver(
    tool: str, said: str, does: Callable[..., None], order: DriverJob
) -> None:
    does(tool, prints=said)
    with pytest.raises(DriverFailed, match=f"`{tool}` exited without results: `{tool}.txt` "):
        drive(tool, order)


@pytest.mark.parametrize("tool", TOOLS)
def test_figures_that_were_cut_off_are_a_failure_of_the_driver(
    tool: str, does: Callable[..., None], order: DriverJob
) -> None:
    does(tool, prints=PRINTED[tool][:120])
    with pytest.raises(DriverFailed, match="exited without results"):
        drive(tool, order)


@pytest.mark.parametrize("tool", TOOLS)
def test_the_output_of_another_tool_is_a_failure_of_the_driver(
    tool: str, does: Callable[..., None], order: DriverJob
) -> None:
    other = next(name for name in TOOLS if name != tool)
    does(tool, prints=PRINTED[other])
    with pytest.raises(DriverFailed, match="exited without results"):
        drive(tool, order)


@pytest.mark.parametrize("tool", TOOLS)
def test_when_the_server_is_gone_what_the_tool_says_until_then_is_kept(
    tool: str, does: Callable[..., None], order: DriverJob
) -> None:
    does(tool, on_signal=PRINTED[tool])
    driven = drive(tool, order, lambda: not (order.into / "waits").exists())
    assert driven.driver.ended_by == "interrupt"
    assert driven.figures is not None


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_that_says_nothing_when_it_is_ended_early_has_no_figures(
    tool: str, does: Callable[..., None], order: DriverJob
) -> None:
    does(tool, on_signal="")
    driven = drive(tool, order, lambda: not (order.into / "waits").exists())
    assert driven.driver.ended_by == "interrupt"
    assert driven.figures is None
    assert driven.driver.uses_reported_statistics


@pytest.mark.parametrize("tool", ["wrk", "ab"])
def test_after_a_warm_up_that_was_ended_early_nothing_more_is_run(
    tool: str, does: Callable[..., None], order: DriverJob
) -> None:
    does(tool, on_signal=PRINTED[tool])
    asked = replace(order, load=WARM)
    driven = drive(tool, asked, lambda: not (order.into / "waits").exists())
    assert [stage.kind for stage in driven.stages] == ["warm_up"]
    assert driven.figures is None


def test_the_hold_of_h2load_begins_when_its_own_warm_up_is_over(
    does: Callable[..., None], order: DriverJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = replace(HOLD, stages=(Stage("warm_up", 0.001, 50, 50), Stage("hold", 0.001, 50, 50)))
    does("h2load", prints=PRINTED["h2load"])
    stages = drive("h2load", replace(order, load=short)).stages
    assert [(one.kind, one.start_ns) for one in stages] == [("warm_up", 0), ("hold", 1_000_000)]
    assert stages[1].end_ns == 2_000_000


def test_a_number_of_requests_that_ab_reached_is_what_ended_it(
    does: Callable[..., None], order: DriverJob
) -> None:
    done = int(PRINTED["ab"].partition("Complete requests:")[2].split()[0])
    does("ab", prints=PRINTED["ab"])
    for limit, ended_by in ((done, "request_limit"), (done + 1, "schedule")):
        asked = replace(order, load=replace(HOLD, request_limit=limit))
        assert drive("ab", asked).driver.ended_by == ended_by
