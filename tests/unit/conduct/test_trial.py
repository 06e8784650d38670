"""One trial with a real server and a stand-in for the engine."""

import json
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import fake_engine
import sharing_server
import toy_trials
from plimsoll.campaign.requests import Request
from plimsoll.conduct import trial
from plimsoll.conduct.run_config import RunConfig
from plimsoll.drivers.tools import plimsoll as driver
from plimsoll.errors import Interrupted, LimitTooLow
from plimsoll.events import Event, Phase, Progress
from plimsoll.processes import ports, process_table
from plimsoll.processes.interruption import Interruption
from plimsoll.processes.supervisor import GRACE_S
from plimsoll.recording import Recording
from plimsoll.recording.readings import Reading
from plimsoll.sampling import idle
from plimsoll.serving import ready
from plimsoll.storage.parquet import ParquetResults

SETTING = RunConfig(machine={"cores": [0]}, limits={"backlog": {"void": 2.0}})


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Runs the stand-in instead of the engine; the keywords say what it does."""
    monkeypatch.setattr(driver, "COMMAND", (sys.executable, fake_engine.__file__))

    def does(**what: object) -> None:
        monkeypatch.setenv("FAKE_ENGINE", json.dumps(what))

    does()
    return does


@pytest.fixture
def results(tmp_path: Path) -> ParquetResults:
    return ParquetResults(tmp_path / "results")


def conduct(
    results: ParquetResults, tell: Callable[[Event], None] = lambda _: None, **environment: str
) -> Recording:
    toy = toy_trials.trial(toy=toy_trials.framework(**environment))
    return trial.conduct(toy, SETTING, results, Interruption(), tell)


@pytest.mark.usefixtures("engine")
def test_the_host_is_measured_without_load_before_and_after_where_that_is_asked(
    results: ParquetResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    def readings(length_s: float, meter: None, server: None) -> list[Reading]:
        assert meter is None and server is None
        return [Reading(time.monotonic_ns(), "machine", "idle_energy_j", length_s)]

    monkeypatch.setattr(idle, "readings", readings)
    told: list[Event] = []
    setting = replace(SETTING, idle_s=30.0)
    recording = trial.conduct(toy_trials.trial(), setting, results, Interruption(), told.append)
    rows = results.table(recording.trial, "usage").to_table().to_pylist()
    found = [row for row in rows if row["quantity"] == "idle_energy_j"]
    assert [row["value"] for row in found] == [30.0, 30.0]
    assert found[0]["at_ns"] < 0 < found[1]["at_ns"]
    phases = [event.name for event in told if isinstance(event, Phase)]
    place = phases.index("driving")
    assert phases[place - 1 : place + 2] == ["idling", "driving", "idling"]


def files(results: ParquetResults, recording: Recording) -> set[str]:
    return {path.name for path in (results.trials / recording.trial).iterdir()}


def is_free(recording: Recording) -> bool:
    assert recording.server is not None
    return ports.is_free(int(recording.server.address.rpartition(":")[2]))


@pytest.mark.usefixtures("engine")
def test_a_trial_is_recorded(results: ParquetResults) -> None:
    recording = conduct(results)
    assert recording.ending.kind == "completed"
    assert recording == results.recording("toy.empty.small.1")
    assert (recording.framework, recording.endpoint, recording.load.name) == (
        "toy", "empty", "small",
    )  # fmt: skip
    assert recording.versions["framework"] == "toy 1.2"
    assert recording.versions["driver"] == "0.0.fake"
    assert recording.contract == {"before": [], "after": []}
    assert recording.machines == {"local": {"cores": [0]}}
    assert recording.limits == {"backlog": {"void": 2.0}}
    assert recording.requests == ("empty",)
    assert recording.zero_utc.endswith("Z")
    assert [stage.kind for stage in recording.stages] == ["ramp", "hold"]


@pytest.mark.usefixtures("engine")
def test_the_servers_side_is_recorded(results: ParquetResults) -> None:
    server = conduct(results).server
    assert server is not None
    assert server.start_s is not None
    assert server.start_s > 0
    assert server.rest_rss_bytes is not None
    assert server.rest_rss_bytes > 1 << 20
    assert server.rest_pss_bytes is not None
    assert 0 < server.rest_pss_bytes <= server.rest_rss_bytes
    allowed = min(128, server.somaxconn or 0)
    assert (server.listeners, server.backlog, server.backlogs) == (1, allowed, (allowed,))
    assert server.backlog_required == 4096
    assert (server.exit_code, server.clean_stop, server.killed) == (0, True, 0)


@pytest.mark.usefixtures("engine")
def test_the_tables_are_there_and_the_engines_files_are_not(results: ParquetResults) -> None:
    recording = conduct(results)
    tables = {"requests.parquet", "connections.parquet", "usage.parquet"}
    others = {"trial.json", "SHA256SUMS", "server.log", "driver.log"}
    assert files(results, recording) == tables | others
    assert results.table(recording.trial, "requests").count_rows() == 30
    usage = results.table(recording.trial, "usage").to_table().to_pylist()
    scopes = {row["scope"] for row in usage}
    assert scopes >= {"server", "machine", "driver"}
    assert any(row["at_ns"] < 0 and row["scope"] == "server" for row in usage)


@pytest.mark.usefixtures("engine")
def test_phases_are_told_in_order(results: ParquetResults) -> None:
    told: list[str] = []

    def tell(event: Event) -> None:
        told.append(event.name if isinstance(event, Phase) else type(event).__name__)

    conduct(results, tell)
    assert told == [
        "starting", "checking", "driving", "Progress", "Progress", "Progress", "checking",
        "stopping", "writing",
    ]  # fmt: skip


@pytest.mark.usefixtures("engine")
def test_a_server_that_breaks_the_contract_is_not_put_under_load(results: ParquetResults) -> None:
    recording = conduct(results, TOY_BREAKS_AFTER="1")
    assert recording.ending.kind == "ContractBroken"
    assert "`500`" in recording.contract["before"][0]
    assert "after" not in recording.contract
    assert recording.driver is None
    assert "requests.parquet" not in files(results, recording)
    assert is_free(recording)
    assert recording.server is not None
    assert recording.server.rest_rss_bytes is not None, "how it was at rest is known all the same"


def test_rows_are_kept_when_the_contract_is_broken_after_the_load(
    engine: Callable[..., None], results: ParquetResults
) -> None:
    engine(requests=60)
    recording = conduct(results, TOY_BREAKS_AFTER="50")
    assert recording.ending.kind == "ContractBroken"
    assert recording.contract["before"] == []
    assert recording.contract["after"]
    assert results.table(recording.trial, "requests").count_rows() == 30


def test_rows_are_kept_when_the_server_dies_under_load(
    engine: Callable[..., None], results: ParquetResults
) -> None:
    engine(requests=60, stay=True)
    recording = conduct(results, TOY_DIES_AFTER="50")
    assert recording.ending.kind == "DiedUnderLoad"
    assert "exited with code 3" in recording.ending.message
    assert recording.driver is not None
    assert recording.driver.ended_by == "interrupt"
    assert recording.server is not None
    assert (recording.server.exit_code, recording.server.clean_stop) == (3, False)
    assert results.table(recording.trial, "requests").count_rows() == recording.driver.sent


@pytest.mark.usefixtures("engine")
def test_a_server_that_does_not_start_is_an_ending(results: ParquetResults) -> None:
    broken = replace(toy_trials.framework(), start="echo no such thing >&2; exit 7")
    recording = trial.conduct(toy_trials.trial(toy=broken), SETTING, results, Interruption())
    assert recording.ending.kind == "StartFailed"
    assert "no such thing" in recording.ending.message
    assert recording.ending.hint
    assert recording.server is None
    assert recording.stages == ()


def test_an_engine_that_fails_is_an_ending(
    engine: Callable[..., None], results: ParquetResults
) -> None:
    engine(exit=5, error="epoll broke", hint="mend it")
    recording = conduct(results)
    assert (recording.ending.kind, recording.ending.message) == ("EngineFailed", "epoll broke")
    assert recording.ending.hint == "mend it"
    assert recording.driver is None
    assert files(results, recording) == {
        "trial.json", "SHA256SUMS", "usage.parquet", "server.log", "driver.log",
    }  # fmt: skip
    assert is_free(recording)


@pytest.mark.usefixtures("engine")
def test_a_driver_that_is_not_known_is_an_ending(results: ParquetResults) -> None:
    other = replace(toy_trials.trial(), driver="siege")
    recording = trial.conduct(other, SETTING, results, Interruption())
    assert recording.ending.kind == "DriverMissing"
    assert "`plimsoll`" in recording.ending.hint


def test_a_host_that_is_not_fit_leaves_no_recording(
    engine: Callable[..., None], results: ParquetResults
) -> None:
    engine(exit=3, error="too few files", hint="`ulimit -n 99`")
    with pytest.raises(LimitTooLow):
        conduct(results)
    assert results.trial_ids() == ()


def test_an_interrupted_trial_is_not_kept(
    engine: Callable[..., None], results: ParquetResults
) -> None:
    engine(stay=True)
    interruption = Interruption()

    def interrupt(event: Event) -> None:
        if isinstance(event, Progress) and not interruption.count:
            interruption.handle(2, None)

    with pytest.raises(Interrupted):
        trial.conduct(toy_trials.trial(), SETTING, results, interruption, interrupt)
    assert list(results.trials.iterdir()) == []


@pytest.mark.usefixtures("engine")
def test_an_interruption_while_writing_does_not_take_the_trial_away(
    results: ParquetResults,
) -> None:
    interruption = Interruption()

    def interrupt(event: Event) -> None:
        if event == Phase("writing"):
            interruption.handle(2, None)

    trial.conduct(toy_trials.trial(), SETTING, results, interruption, interrupt)
    assert results.trial_ids() == ("toy.empty.small.1",)


def test_a_stubborn_server_is_killed_at_the_second_interruption(
    engine: Callable[..., None], results: ParquetResults
) -> None:
    engine(stay=True, deaf=True)
    interruption = Interruption()
    mark = uuid.uuid4().hex
    toy = toy_trials.trial(toy=toy_trials.framework(TOY_STUBBORN="1", TOY_CHILD=mark))
    seen: list[int] = []

    def alive() -> list[int]:
        found = process_table.marked(f"TOY_CHILD={mark}")
        return [process.pid for process in found if not process.zombie]

    def interrupt(event: Event) -> None:
        if isinstance(event, Progress):
            seen.append(len(alive()))
            interruption.handle(2, None)

    began_s = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        trial.conduct(toy, SETTING, results, interruption, interrupt)
    assert seen == [2, 2]
    assert alive() == []
    assert list(results.trials.iterdir()) == []
    assert time.monotonic() - began_s < GRACE_S


@pytest.fixture
def running() -> Iterator[str]:
    """The address of a server that somebody else started."""
    port = ports.free_port()
    environment = {"HOST": "127.0.0.1", "PORT": str(port), "PATH": "/usr/bin:/bin"}
    server = subprocess.Popen(
        [sys.executable, str(toy_trials.FOLDER / "app.py")],
        env=environment,
        stderr=subprocess.DEVNULL,
    )
    try:
        while ready.ask("127.0.0.1", port, Request("empty", "GET", "/empty"), 5.0):
            assert server.poll() is None
        yield f"127.0.0.1:{port}"
        assert server.poll() is None
    finally:
        server.kill()
        server.wait()


@pytest.mark.usefixtures("engine")
def test_a_server_that_runs_already_is_loaded_and_left_alone(
    results: ParquetResults, running: str
) -> None:
    recording = trial.load(toy_trials.trial(), running, SETTING, results, Interruption())
    assert recording.ending.kind == "completed"
    assert recording.server is not None
    assert (recording.server.address, recording.server.exit_code) == (running, None)
    assert recording.server.listeners == 1
    assert recording.server.backlog_required is None
    assert recording.server.rest_rss_bytes is not None
    usage = results.table(recording.trial, "usage").to_table().to_pylist()
    assert any(row["scope"] == "server" and row["quantity"] == "cpu_user_s" for row in usage)


def test_an_interrupted_load_is_kept_as_far_as_it_went(
    engine: Callable[..., None], results: ParquetResults, running: str
) -> None:
    engine(stay=True)
    interruption = Interruption()

    def interrupt(event: Event) -> None:
        if isinstance(event, Progress) and not interruption.count:
            interruption.handle(2, None)

    recording = trial.load(toy_trials.trial(), running, SETTING, results, interruption, interrupt)
    assert recording.ending.kind == "Interrupted"
    assert recording.driver is not None
    assert results.table(recording.trial, "requests").count_rows() == recording.driver.sent


def test_all_processes_that_share_a_port_are_the_server() -> None:
    port = str(ports.free_port())
    command = (sys.executable, sharing_server.__file__, "127.0.0.1", port)
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE) as one,
        subprocess.Popen(command, stdout=subprocess.PIPE) as other,
    ):
        try:
            for program in (one, other):
                assert program.stdout is not None
                assert program.stdout.readline()
            scope = trial.scope_at(f"127.0.0.1:{port}")
            assert scope is not None
            assert scope.tree is not None
            assert set(scope.tree.pids()) == {one.pid, other.pid}
        finally:
            one.kill()
            other.kill()
