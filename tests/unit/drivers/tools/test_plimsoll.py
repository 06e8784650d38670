import json
import re
import sys
import time
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import fake_engine
import toy_trials
from plimsoll.campaign.endpoints import by_name
from plimsoll.campaign.load import Load, Stage
from plimsoll.campaign.requests import NO_STATUS, Exchange, Expected, Request, Upload
from plimsoll.drivers.job import DriverCallbacks, DriverJob
from plimsoll.drivers.tools import DRIVERS
from plimsoll.drivers.tools import plimsoll as driver
from plimsoll.errors import EngineFailed, Interrupted, LimitTooLow, PlimsollError, StorageError
from plimsoll.events import Progress
from plimsoll.processes import process_table
from plimsoll.processes.interruption import Interruption
from plimsoll.recording import RecordedStage
from plimsoll.recording.readings import Reading

S = 1_000_000_000


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Runs the stand-in instead of the engine; the keywords say what it does."""
    monkeypatch.setattr(driver, "COMMAND", (sys.executable, fake_engine.__file__))

    def does(**what: object) -> None:
        monkeypatch.setenv("FAKE_ENGINE", json.dumps(what))

    does()
    return does


@pytest.fixture
def order(tmp_path: Path) -> DriverJob:
    return DriverJob(
        load=toy_trials.load(),
        exchanges=toy_trials.EMPTY.exchanges,
        address="127.0.0.1:9",
        cores=(),
        seed=5,
        body_sample_ratio=0.25,
        into=tmp_path,
    )


class Seen:
    """Notes what a driver tells."""

    def __init__(self, interruption: Interruption | None = None) -> None:
        self.roots: list[int] = []
        self.zeros: list[int] = []
        self.progress: list[Progress] = []
        self.go_on = True
        self.interruption = interruption or Interruption()

    def watch(self, each: Callable[[], None] = lambda: None) -> DriverCallbacks:
        def note(progress: Progress) -> bool:
            self.progress.append(progress)
            each()
            return self.go_on

        return DriverCallbacks(self.roots.append, self.zeros.append, note, self.interruption)


def is_gone(pid: int) -> bool:
    found = process_table.process(pid)
    return found is None or found.zombie


def test_every_driver_has_a_name_of_its_own() -> None:
    assert len({module.NAME for module in DRIVERS}) == len(DRIVERS)
    folder = Path(driver.__file__).parent
    names = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert {module.NAME for module in DRIVERS} == names


def test_the_specification_says_all_that_the_engine_needs(order: DriverJob) -> None:
    spec = driver.spec(replace(order, cores=(2, 3)))
    request = spec["requests"][0]
    assert spec["into"] == str(order.into)
    assert (spec["address"], spec["seed"], spec["cores"]) == ("127.0.0.1:9", 5, [2, 3])
    assert (spec["threads"], spec["body_sample_ratio"], spec["record"]) == (2, 0.25, True)
    assert b64decode(request["bytes"]).startswith(b"GET /empty HTTP/1.1\r\nHost: 127.0.0.1:9\r\n")
    known = {"status": [200, 200], "length_bytes": 0, "body": "", "is_sampled": False}
    assert request["expected"] == known
    assert json.loads(json.dumps(spec)) == spec


def test_what_only_some_loads_have_is_in_their_specification(order: DriverJob) -> None:
    (exchange,) = order.exchanges
    upload, headers = Upload(Path("/tmp/body"), 3), (("Host", "app"),)
    request = replace(exchange.request, upload=upload, headers=headers)
    changed = Exchange(request, replace(exchange.expected, codings=("br",)))
    load = replace(order.load, follow=2)
    spec = driver.spec(replace(order, exchanges=(changed,), load=load, address="unix:/run/a"))
    assert spec["address"] == "unix:/run/a"
    assert spec["load"]["follow"] == {"most": 2, "origin": "http://app"}
    (sent,) = spec["requests"]
    assert sent["bytes"]["file"] == "/tmp/body"
    assert b"Content-Length: 3\r\n" in b64decode(sent["bytes"]["head"])
    assert sent["expected"]["codings"] == ["br"]


def test_only_bodies_of_which_each_byte_is_known_are_not_sampled(order: DriverJob) -> None:
    (echo,) = by_name("json").exchanges
    unknown = replace(echo, expected=Expected())
    fixed = replace(echo, expected=replace(echo.expected, body=b"{}"))
    spec = driver.spec(replace(order, exchanges=(echo, unknown, fixed)))
    sampled = [request["expected"]["is_sampled"] for request in spec["requests"]]
    assert sampled == [True, True, False]


def test_without_cores_one_thread_runs_anywhere(order: DriverJob) -> None:
    spec = driver.spec(order)
    assert (spec["cores"], spec["threads"]) == (None, 1)


def test_durations_become_nanoseconds(order: DriverJob) -> None:
    load = Load(
        "x", "closed", (Stage("hold", 0.0015, 1, 2, 3),), think_time_s=0.1, timeout_s=2.5,
        keep_alive=False, requests_per_connection=1, request_limit=10_000,
    )  # fmt: skip
    spec = driver.spec(replace(order, load=load))
    assert spec["load"] == {
        "model": "closed",
        "stages": [{"kind": "hold", "duration_ns": 1_500_000, "start": 1, "end": 2, "steps": 3}],
        "arrivals": "constant",
        "tolerance_ns": 0,
        "connections": 0,
        "keep_alive": False,
        "requests_per_connection": 1,
        "think_time_ns": 100_000_000,
        "timeout_ns": 2_500_000_000,
        "request_limit": 10_000,
    }
    assert b"Connection: close\r\n" in b64decode(spec["requests"][0]["bytes"])


def test_the_schedule_of_an_open_load_ends_it_and_not_the_number_it_was_made_of(
    order: DriverJob,
) -> None:
    stages = (Stage("hold", 2.0, 50.0, 50.0),)
    load = Load("x", "open", stages, connections=5, request_limit=100)
    assert driver.spec(replace(order, load=load))["load"]["request_limit"] is None


def test_only_a_load_of_http2_names_its_protocol(order: DriverJob) -> None:
    load = Load("x", "closed", (Stage("hold", 1.0, 1, 1),), protocol="http2", streams=3)
    spoken = driver.spec(replace(order, load=load))["load"]
    assert (spoken["protocol"], spoken["streams"]) == ("http2", 3)
    other = driver.spec(replace(order, load=replace(load, protocol="http1", streams=1)))["load"]
    assert not {"protocol", "streams"} & set(other)


def test_a_load_of_messages_has_its_upgrade_apart(order: DriverJob) -> None:
    load = Load("x", "closed", (Stage("hold", 1.0, 1, 1),), protocol="websocket")
    request = Request("/echo", "GET", "/echo", (("Host", "a:1"), ("X-A", "b")), b"hello")
    exchange = Exchange(request, Expected(NO_STATUS, 5, b"hello"))
    spec = driver.spec(replace(order, load=load, exchanges=(exchange,)))
    spoken = spec["load"]["protocol"]["websocket"]
    assert spoken["message"] == "text"
    assert b64decode(spoken["upgrade"]) == b"GET /echo HTTP/1.1\r\nHost: a:1\r\nX-A: b\r\n\r\n"
    (sent,) = spec["requests"]
    assert b64decode(sent["bytes"]) == b64decode(sent["expected"]["body"]) == b"hello"
    assert sent["expected"]["status"] == [0, 0]


def test_only_a_load_that_pipelines_says_how_deep(order: DriverJob) -> None:
    load = Load("x", "closed", (Stage("hold", 1.0, 1, 1),), pipeline=8)
    assert driver.spec(replace(order, load=load))["load"]["pipeline"] == 8
    assert "pipeline" not in driver.spec(replace(order, load=replace(load, pipeline=1)))["load"]


@pytest.mark.parametrize(
    ("ended_by", "left"),
    [("request_limit", [("connections_open", 5), ("in_flight_mean", 10)]), ("schedule", None)],
)
def test_levels_after_the_last_of_a_number_of_requests_say_nothing_of_the_load(
    ended_by: str, left: list[tuple[str, int]] | None
) -> None:
    said = [
        Reading(105, "driver", "connections_open", 2.0),
        Reading(110, "driver", "connections_open", 0.0),
        Reading(110, "driver", "places_open", 0.0),
        Reading(110, "driver", "in_flight", 0.0),
        Reading(110, "driver", "in_flight_mean", 1.0),
    ]
    finished = {"ended_by": ended_by, "ended_ns": 10}
    kept = [
        (reading.quantity, reading.at_ns - 100)
        for reading in driver.readings_until_the_end(said, 100, finished)
    ]
    assert kept == (left or [(one.quantity, one.at_ns - 100) for one in said])


@pytest.mark.usefixtures("engine")
def test_a_drive_gives_back_what_the_engine_says(order: DriverJob) -> None:
    seen = Seen()
    driven = driver.drive(order, seen.watch())
    assert driven.driver.ended_by == "schedule"
    assert driven.driver.outcomes == {"ok": 29, "unfinished": 1}
    assert (driven.driver.sent, driven.driver.opened, driven.driver.refused) == (30, 1, 1)
    assert driven.stages == (
        RecordedStage("ramp", 0, S, 0, 4, 2),
        RecordedStage("hold", S, 3 * S, 4, 4, 1),
    )
    assert (order.into / "requests.bin").stat().st_size == 30 * 56
    assert seen.zeros == [driven.zero_monotonic_ns]
    assert len(seen.roots) == 1


@pytest.mark.usefixtures("engine")
def test_each_second_is_told_and_kept_as_readings(order: DriverJob) -> None:
    seen = Seen()
    driven = driver.drive(order, seen.watch())
    assert [progress.at_s for progress in seen.progress] == [1.0, 2.0, 3.0]
    assert [progress.throughput_per_s for progress in seen.progress] == [9.0, 10.0, 10.0]
    sent = [reading for reading in driven.readings if reading.quantity == "requests_sent"]
    zero = driven.zero_monotonic_ns
    assert [(r.at_ns - zero, r.scope, r.value) for r in sent] == [
        (S, "driver", 10.0),
        (2 * S, "driver", 20.0),
        (3 * S, "driver", 30.0),
    ]


def test_the_last_line_of_the_same_instant_is_not_told_twice() -> None:
    line = {
        "at_ns": 5, "stage": "hold", "connections_requested": 1, "connections_open": 1,
        "in_flight": 0, "requests_ended": 3,
        "outcomes": {"ok": 2, "wrong_status": 1, "reset_waiting": 9},
        "opened": 1, "refused": 0,
    }  # fmt: skip
    assert driver.progress(line, {}).throughput_per_s == pytest.approx(3 / 5e-9)
    assert driver.progress(line, line).throughput_per_s == 0


@pytest.mark.parametrize(
    ("responses", "known"),
    [(1_000, (1e6, 2e6, 3e6)), (999, (1e6, 2e6, None)), (99, (1e6, None, None))],
)
def test_percentiles_under_load_take_as_many_responses_as_those_of_results(
    responses: int, known: tuple[float | None, ...]
) -> None:
    line = {
        "at_ns": 1_000_000_000, "stage": "hold", "connections_requested": 4,
        "connections_open": 4, "in_flight": 4, "requests_ended": responses,
        "outcomes": {"ok": responses}, "opened": 4, "refused": 0,
        "response_time": {"p50_ns": 1e6, "p90_ns": 2e6, "p99_ns": 3e6},
    }  # fmt: skip
    times = driver.progress(line, {}).latency
    assert times is not None
    assert (times.p50_ns, times.p90_ns, times.p99_ns) == known


@pytest.mark.parametrize(
    ("exit_code", "kind", "code"),
    [(2, EngineFailed, 5), (3, LimitTooLow, 3), (5, EngineFailed, 5), (6, StorageError, 6)],
)
def test_an_exit_code_becomes_an_error_with_the_engines_words(
    engine: Callable[..., None],
    order: DriverJob,
    exit_code: int,
    kind: type[PlimsollError],
    code: int,
) -> None:
    engine(exit=exit_code, error="20000 connections need 20064 files", hint="`ulimit -n 20064`")
    with pytest.raises(kind, match="20064 files") as caught:
        driver.drive(order, Seen().watch())
    assert caught.value.hint == "`ulimit -n 20064`"
    assert caught.value.exit_code == code


@pytest.mark.parametrize(
    ("ends_after_s", "expected"),
    [(1, [("ramp", S)]), (2, [("ramp", S), ("hold", 2 * S)])],
)
def test_stages_reach_as_far_as_the_load_did(
    engine: Callable[..., None],
    order: DriverJob,
    ends_after_s: int,
    expected: list[tuple[str, int]],
) -> None:
    engine(ends_after_s=ends_after_s)
    long = replace(order, load=toy_trials.load(hold_s=3600.0))
    driven = driver.drive(long, Seen().watch())
    assert driven.driver.ended_by == "request_limit"
    assert [(stage.kind, stage.end_ns) for stage in driven.stages] == expected


@pytest.mark.parametrize(
    ("exit_code", "said", "message"),
    [
        (-11, "", "SIGSEGV"),
        (None, "", "SIGKILL"),
        (1, "Traceback:\nValueError: x\n", "ValueError: x"),
        (5, "", "exited with code 5"),
        (5, '{"other": 1}', '{"other": 1}'),
        (5, "[1]", "[1]"),
    ],
)
def test_every_other_end_is_a_failure_of_the_engine(
    exit_code: int | None, said: str, message: str
) -> None:
    error = driver.failure(exit_code, said)
    assert isinstance(error, EngineFailed)
    assert message in error.message


@pytest.mark.parametrize("words", ["Segmentation fault", "[1]", "7", '{"ok": 1}', "ü"])
def test_words_that_are_no_event_are_a_failure(
    engine: Callable[..., None], order: DriverJob, words: str
) -> None:
    engine(say=words, stay=True)
    seen = Seen()
    with pytest.raises(EngineFailed, match=re.escape(words)):
        driver.drive(order, seen.watch())
    assert is_gone(seen.roots[0])


def test_records_that_are_missing_are_a_failure(
    engine: Callable[..., None], order: DriverJob
) -> None:
    engine(missing=1)
    with pytest.raises(EngineFailed, match="30 requests"):
        driver.drive(order, Seen().watch())


def test_an_engine_that_hangs_is_killed(
    engine: Callable[..., None], order: DriverJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine(silent=True)
    monkeypatch.setattr(driver, "PATIENCE_S", 0.2)
    seen = Seen()
    with pytest.raises(EngineFailed, match="did not respond"):
        driver.drive(order, seen.watch())
    assert is_gone(seen.roots[0])


def test_a_drive_ends_early_when_the_watch_says_so(
    engine: Callable[..., None], order: DriverJob
) -> None:
    engine(stay=True)
    seen = Seen()
    seen.go_on = False
    driven = driver.drive(order, seen.watch())
    assert driven.driver.ended_by == "interrupt"
    assert driven.driver.sent == (order.into / "requests.bin").stat().st_size // 56


def test_the_first_interruption_lets_the_engine_finish(
    engine: Callable[..., None], order: DriverJob
) -> None:
    engine(stay=True)
    interruption = Interruption()
    seen = Seen(interruption)

    def interrupt_once() -> None:
        if not interruption.count:
            interruption.handle(2, None)

    driven = driver.drive(order, seen.watch(interrupt_once))
    assert driven.driver.ended_by == "interrupt"
    assert (order.into / "requests.bin").exists()
    with pytest.raises(Interrupted):
        interruption.check()


def test_the_second_interruption_kills_the_engine(
    engine: Callable[..., None], order: DriverJob
) -> None:
    engine(stay=True, deaf=True)
    interruption = Interruption()
    seen = Seen(interruption)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        driver.drive(order, seen.watch(lambda: interruption.handle(2, None)))
    assert is_gone(seen.roots[0])
    assert time.monotonic() - began < driver.GRACE_S
