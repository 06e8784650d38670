"""`plimsoll run --hosts`: servers and loads on several hosts, and what becomes of lost ones."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pyarrow.parquet as pq
import pytest

import database_cheats
import labs
import upstream_cheats
from command_line import CHECKOUT, HERE, LENIENT, Running, run
from labs import LabAtWork, in_namespaces, on_loopback
from plimsoll.campaign.framework import VARIABLE
from plimsoll.databases import installed
from plimsoll.drivers import choosing
from plimsoll.errors import DriverMissing
from plimsoll.processes.ports import free_port
from plimsoll.sampling.samplers import energy
from powercap import counting
from small_disks import small_disk
from small_servers import eventually

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

VOID = 1
UNFIT = 3
FRAMEWORK_FAILED = 4

FILES_OF_A_TRIAL = (
    *("trial.json", "requests.parquet", "connections.parquet", "usage.parquet"),
    *("SHA256SUMS", "server.log"),
)

METERED = ("energy_j", "idle_energy_j", "wall_power_w", "idle_wall_power_w")

CAMPAIGN = """
name = "small"
frameworks = ["reference"]
endpoints = [{endpoints}]
repetitions = {repetitions}
cool_down = "0s"

[[load]]
name = "steady"
think_time = "5ms"
stages = [{{ kind = "hold", duration = "{length}", at = 4 }}]
"""


def campaign(
    folder: Path, endpoints: str = '"2048"', repetitions: int = 1, length: str = "800ms"
) -> Path:
    path = folder / "small.toml"
    text = CAMPAIGN.format(endpoints=endpoints, repetitions=repetitions, length=length)
    path.write_text(text, "utf-8")
    return path


def by(driver: str) -> tuple[str, ...]:
    """Settings of a campaign whose load another program generates, none of which can think."""
    return ("--set", f"driver={driver}", "--set", "load.steady.think_time=0s")


def conducted(lab: LabAtWork, path: Path, *options: object) -> Running:
    """A campaign that is not judged meanwhile: who asks for verdicts judges its results."""
    return reported(lab, path, "--no-report", *options)


def reported(lab: LabAtWork, path: Path, *options: object) -> Running:
    """A campaign whose results lie beside its file, judged trial by trial, with its report."""
    into = ("--into", path.parent / "results")
    return lab.lab("run", path, *into, *LENIENT, *options)


@pytest.fixture(scope="module")
def drivers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabAtWork]:
    """A lab with two hosts that wait, for tests that leave them as they are."""
    lab = on_loopback(tmp_path_factory.mktemp("drivers"))
    with lab.agents():
        yield lab


@pytest.fixture(scope="module")
def server_and_drivers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabAtWork]:
    """The same with a host for servers."""
    lab = on_loopback(tmp_path_factory.mktemp("server"), has_server=True)
    with lab.agents():
        yield lab


def recorded(folder: Path) -> list[dict[str, Any]]:
    """Every trial of the results, in the order of the plan."""
    found = (folder / "results" / "trials").glob("*/trial.json")
    return sorted(
        (json.loads(path.read_text("utf-8")) for path in found), key=lambda one: one["order"]
    )


FRAMEWORK = """
name = "beside"
language = "Python"
needs = []
build = ""
start = 'exec "$PYTHON" {program}'
version = "echo 1"
endpoints = ["{endpoint}"]
"""


def framework(folder: Path, program: str, endpoint: str) -> Path:
    """A folder of frameworks with one, which needs what runs beside it."""
    own = folder / "frameworks" / "beside"
    own.mkdir(parents=True)
    text = FRAMEWORK.format(program=program, endpoint=endpoint)
    (own / "framework.toml").write_text(text, "utf-8")
    return own.parent


def usage_of(folder: Path) -> Counter[tuple[str, str]]:
    """How many readings there are of each scope and host."""
    (path,) = (folder / "results" / "trials").glob("*/usage.parquet")
    rows = pq.read_table(path, columns=["scope", "host"])
    return Counter(zip(rows["scope"].to_pylist(), rows["host"].to_pylist(), strict=True))


def quantities_of(folder: Path, host: str) -> set[str]:
    """What was read of the machine of a host."""
    (path,) = (folder / "results" / "trials").glob("*/usage.parquet")
    rows = pq.read_table(path, columns=["scope", "host", "quantity"]).to_pylist()
    return {row["quantity"] for row in rows if (row["scope"], row["host"]) == ("machine", host)}


def levels(folder: Path) -> dict[str, str]:
    """Level of each check of the only trial."""
    (known,) = judged(folder).values()
    return known


def judged(folder: Path) -> dict[str, dict[str, str]]:
    """Level of each check, by trial; judged without a report, which most tests do not look at."""
    ran = run("judge", folder / "results", "--json", folder=folder)
    assert ran.code in {0, VOID}, ran.said
    return {
        trial["trial"]: {one["check"]: one["level"] for one in trial["verdicts"]}
        for trial in json.loads(ran.stdout)
    }


def test_loads_of_hosts_onto_a_server_of_the_lab(tmp_path: Path, drivers: LabAtWork) -> None:
    lab = drivers
    ran = conducted(lab, campaign(tmp_path, endpoints='"json"')).end()
    assert ran.code == 0, ran.said
    (trial,) = recorded(tmp_path)
    assert trial["ending"]["kind"] == "completed"
    assert trial["server"]["address"].startswith(f"{lab.addresses['lab']}:")
    assert (trial["server"]["host"], next(iter(trial["machines"]))) == ("local", "local")
    assert trial["server"]["cores"], "a server without a load generator beside it has all cores"
    assert [one["host"] for one in trial["hosts"]] == ["one", "two"]
    assert {("server", "local"), ("machine", "local"), ("driver", "one")} <= {*usage_of(tmp_path)}
    given = levels(tmp_path)
    assert given["conservation"] == given["drivers_completed"] == "sound"
    told = run("report", "results", "--format", "markdown", folder=tmp_path)
    assert told.code in {0, VOID}, told.said
    report = (tmp_path / "results" / "report" / "report.md").read_text("utf-8")
    assert "Load generators by host" in report
    assert f"connected to {trial['server']['address']}" in report


TURNS = """
name = "small"
frameworks = ["reference", "reference:many-acceptors"]
endpoints = [{endpoints}]
repetitions = {repetitions}
turns = "100ms"
cool_down = "0s"

[[load]]
name = "steady"
think_time = "5ms"
stages = [
  {{ kind = "warm_up", duration = "200ms", at = 4 }},
  {{ kind = "hold", duration = "{length}", at = 4 }},
]
"""


def in_turns(
    folder: Path, endpoints: str = '"2048", "json"', repetitions: int = 1, length: str = "600ms"
) -> Path:
    path = folder / "small.toml"
    text = TURNS.format(endpoints=endpoints, repetitions=repetitions, length=length)
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("place", [pytest.param("local", marks=pytest.mark.thorough), "server"])
def test_hosts_take_turns_at_the_servers_of_one_machine(
    tmp_path: Path, place: str, request: pytest.FixtureRequest
) -> None:
    lab = request.getfixturevalue("drivers" if place == "local" else "server_and_drivers")
    ran = conducted(lab, in_turns(tmp_path)).end()
    assert ran.code == 0, ran.said
    levels_of = judged(tmp_path)
    trials = recorded(tmp_path)
    assert len(trials) == 4
    for trial in trials:
        assert trial["ending"]["kind"] == "completed", trial["ending"]
        assert trial["driver"]["ended_by"] == "schedule"
        assert [one["host"] for one in trial["hosts"]] == ["one", "two"]
        assert [one["driver"]["opened"] for one in trial["hosts"]] == [2, 2]
        folder = tmp_path / "results" / "trials" / trial["trial"]
        rows = pq.read_table(folder / "requests.parquet", columns=["host", "sent_ns", "done_ns"])
        counted = {one["host"]: sum(one["driver"]["outcomes"].values()) for one in trial["hosts"]}
        assert Counter(rows["host"].to_pylist()) == counted
        assert min(counted.values()) > 0
        turns = trial["turns"]
        assert len(turns) > 3
        assert sum(turn["requests"] for turn in turns) == trial["driver"]["outcomes"]["ok"]
        assert all(turn["driver_cpu_ns"] > 0 for turn in turns[:-1])  # they end with the last one
        assert all(turn["server_cpu_ns"] > 0 for turn in turns)
        assert (trial["server"]["host"], trial["server"]["clean_stop"]) == (place, True)
        assert (folder / "server.log").stat().st_size
        usage = pq.read_table(folder / "usage.parquet", columns=["scope", "host"]).to_pylist()
        read = {(row["scope"], row["host"]) for row in usage}
        beside = {(scope, host) for scope in ("driver", "machine") for host in ("one", "two")}
        assert read == {("server", place), ("machine", place), *beside}
        assert {*folder.iterdir()} == {folder / name for name in FILES_OF_A_TRIAL}
        given = levels_of[trial["trial"]]
        assert given["conservation"] == given["drivers_completed"] == "sound"
        assert given["started_together"] != "not_checked"
    began = [(turn["start_ns"], trial["trial"]) for trial in trials for turn in trial["turns"]]
    ended = {turn["start_ns"]: turn["duration_ns"] for one in trials for turn in one["turns"]}
    for (start_ns, _), (next_ns, _) in pairwise(sorted(began)):
        assert start_ns + ended[start_ns] <= next_ns, "a turn begins when the one before is over"


def test_the_agent_of_servers_in_turns_warms_them_up_freezes_them_and_sees_one_die(
    tmp_path: Path,
) -> None:
    lab = on_loopback(tmp_path, has_server=True)
    own = tmp_path / "frameworks"
    shutil.copytree(HERE / "frameworks" / "toy", own / "toy")
    manifest = own / "toy" / "framework.toml"
    manifest.write_text(f'warm_up = "600ms"\n{manifest.read_text()}')
    lab.environments["server"] = {VARIABLE: str(own)}
    path = in_turns(tmp_path, '"2048"')
    toys = '"toy", "toy:works-at-rest", "toy:dies-under-load"'
    text = path.read_text("utf-8").replace('"reference", "reference:many-acceptors"', toys)
    path.write_text(text, "utf-8")
    with lab.agents():
        ran = conducted(lab, path, "--frameworks", own).end()
    assert ran.code == FRAMEWORK_FAILED, ran.said
    trials = {one["variant"]: one for one in recorded(tmp_path)}
    endings = {variant: one["ending"]["kind"] for variant, one in trials.items()}
    assert endings == {
        "": "completed",
        "works-at-rest": "completed",
        "dies-under-load": "DiedUnderLoad",
    }
    notes = {variant: " ".join(one["notes"]) for variant, one in trials.items()}
    assert "400 ms of load before its first trial" in notes[""]
    assert "frozen between its turns" in notes["works-at-rest"]
    assert "frozen" not in notes[""]


@pytest.mark.parametrize("lost", [pytest.param("two", marks=pytest.mark.thorough), "server"])
def test_a_host_that_is_lost_between_turns_costs_these_trials_alone(
    tmp_path: Path, lost: str
) -> None:
    lab = on_loopback(tmp_path, has_server=lost == "server")
    with lab.agents() as agents:
        path = in_turns(tmp_path, '"2048"', repetitions=2, length="1s")
        running = conducted(lab, path)
        agents["two"].wait_until_it_drives()
        os.kill(agents[lost].process.pid, signal.SIGKILL)
        assert eventually(lambda: not agents[lost].processes()), agents[lost].processes()
        again = lab.agent(lost)
        ran = running.end()
        labs.ended(again)
    assert ran.code != 0, ran.said
    endings = {
        repetition: {
            one["ending"]["kind"] for one in recorded(tmp_path) if one["repetition"] == repetition
        }
        for repetition in (1, 2)
    }
    assert "HostLost" in endings[1]
    assert endings[2] == {"completed"}


def test_a_server_on_a_host_of_its_own(tmp_path: Path, server_and_drivers: LabAtWork) -> None:
    lab = server_and_drivers
    ran = conducted(lab, campaign(tmp_path)).end()
    assert ran.code == 0, ran.said
    (trial,) = recorded(tmp_path)
    assert trial["ending"]["kind"] == "completed", trial["ending"]
    side = trial["server"]
    assert side["address"].startswith(f"{lab.addresses['server']}:")
    assert (side["host"], side["clean_stop"], side["exit_code"]) == ("server", True, 0)
    assert side["rest_rss_bytes"] > 0
    assert list(trial["machines"]) == ["server", "one", "two"]
    known = usage_of(tmp_path)
    assert {("server", "server"), ("machine", "server"), ("driver", "two")} <= {*known}
    assert not [host for _, host in known if host == "local"]
    assert side["counted"]["requests_received"] > 0
    assert "plimsoll_cpu_s" in quantities_of(tmp_path, "server")
    assert levels(tmp_path)["conservation"] == "sound"
    assert (tmp_path / "results" / "trials" / trial["trial"] / "server.log").stat().st_size
    settings = {part["name"] for part in trial["provenance"]["measurement"]}
    assert {"host server", "host one", "host two"} <= settings


def test_a_driver_that_is_killed_voids_its_trial_and_the_campaign_goes_on(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path)
    with lab.agents() as agents:
        running = reported(lab, campaign(tmp_path, repetitions=2, length="3s"))
        agents["two"].wait_until_rows_are_kept()
        os.kill(agents["two"].process.pid, signal.SIGKILL)
        again = lab.agent("two")
        ran = running.end()
        labs.ended(again)
    assert ran.code == VOID, ran.said
    first, second = recorded(tmp_path)
    assert [one["error"] != "" for one in first["hosts"]] == [False, True]
    assert [one["error"] for one in second["hosts"]] == ["", ""]
    assert "`two` was lost" in ran.said


@pytest.mark.thorough
def test_a_campaign_stops_after_a_loss_where_the_file_of_hosts_says_so(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path)
    lab.write(more='when_lost = "stop"')
    with lab.agents() as agents:
        running = conducted(lab, campaign(tmp_path, repetitions=2, length="3s"))
        agents["two"].wait_until_rows_are_kept()
        os.kill(agents["two"].process.pid, signal.SIGKILL)
        ran = running.end()
    assert ran.code == UNFIT, ran.said
    assert "stopped, because a host was lost: `two`" in ran.said
    assert "; 1 of 2 trials are recorded" in ran.said
    assert "the same command resumes" in ran.said
    assert len(recorded(tmp_path)) == 1


def test_a_campaign_whose_host_does_not_return_says_what_is_recorded(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path)
    lab.write(wait="20s")
    with lab.agents() as agents:
        running = conducted(lab, campaign(tmp_path, repetitions=2, length="2s"))
        agents["two"].wait_until_rows_are_kept()
        os.kill(agents["two"].process.pid, signal.SIGKILL)
        ran = running.end()
    assert ran.code == UNFIT, ran.said
    assert "`two` did not join in 20 s; 1 of 2 trials are recorded" in ran.said
    assert "then run the same command again to resume" in ran.said


def test_a_complete_campaign_waits_for_no_host(tmp_path: Path, drivers: LabAtWork) -> None:
    path = campaign(tmp_path, endpoints='"json"')
    assert conducted(drivers, path).end().code == 0
    alone = replace(drivers, folder=tmp_path / "alone", port=free_port())
    alone.folder.mkdir()
    alone.write(wait="1s")
    again = reported(alone, path).end()
    assert again.code in {0, VOID}, again.said
    assert "waiting for" not in again.said
    assert (tmp_path / "results" / "report" / "report.md").exists()
    longer = conducted(alone, campaign(tmp_path, endpoints='"json"', repetitions=2)).end()
    assert longer.code == UNFIT, longer.said
    assert "did not join in 1 s" in longer.said


@pytest.mark.thorough
def test_a_lost_host_of_the_server_ends_its_trial_and_leaves_no_server(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path, has_server=True)
    with lab.agents() as agents:
        running = conducted(lab, campaign(tmp_path, length="30s"))
        agents["one"].wait_until_it_drives()
        os.kill(agents["server"].process.pid, signal.SIGKILL)
        assert eventually(lambda: not agents["server"].processes()), agents["server"].processes()
        ran = running.end()
    (trial,) = recorded(tmp_path)
    assert ran.code == UNFIT, ran.said
    assert trial["ending"]["kind"] == "HostLost"
    assert "`server`" in trial["ending"]["message"]
    assert "% of the load" in trial["ending"]["message"]


@pytest.mark.thorough
def test_a_lab_that_is_killed_leaves_no_server_behind(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path, has_server=True)
    with lab.agents() as agents:
        running = conducted(lab, campaign(tmp_path, length="120s"))
        agents["one"].wait_until_it_drives()
        os.kill(running.process.pid, signal.SIGKILL)
        for agent in agents.values():
            agent.wait_until_it_says("waiting for the next")
            assert len(agent.processes()) == 1, agent.processes()
        running.process.wait()


@pytest.mark.thorough
def test_a_lab_that_is_silent_has_its_server_stopped(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path, has_server=True)
    with lab.agents() as agents:
        running = conducted(lab, campaign(tmp_path, length="60s"))
        agents["one"].wait_until_it_drives()
        os.killpg(running.process.pid, signal.SIGSTOP)
        for agent in agents.values():
            assert eventually(lambda one=agent: len(one.processes()) == 1, 60.0), agent.processes()
        os.killpg(running.process.pid, signal.SIGCONT)
        running.press_ctrl_c()
        running.end()


@pytest.mark.thorough
def test_another_application_on_the_host_is_named_before_any_load(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path, has_server=True)
    own = tmp_path / "mine"
    shutil.copytree(CHECKOUT / "frameworks" / "reference", own / "reference")
    (own / "reference" / "added.py").write_text("pass\n")
    with lab.agents():
        ran = conducted(lab, campaign(tmp_path), "--frameworks", own).end()
    assert ran.code == FRAMEWORK_FAILED
    assert "`server`: `reference` is not the lab's: `added.py` was removed" in ran.said


def test_a_server_over_tls_is_trusted_by_the_lab_and_by_every_host(
    tmp_path: Path, server_and_drivers: LabAtWork
) -> None:
    path = campaign(tmp_path)
    text = path.read_text("utf-8").replace('name = "steady"', 'name = "steady"\ntls = true')
    path.write_text(text, "utf-8")
    ran = conducted(server_and_drivers, path).end()
    assert ran.code == 0, ran.said
    (trial,) = recorded(tmp_path)
    assert trial["ending"]["kind"] == "completed", trial["ending"]
    assert [one["connections"] for one in trial["driver"]["tls"]] == [4]
    assert set(trial["driver"]["outcomes"]) <= {"ok", "unfinished"}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("endpoint", "program", "scope"),
    [
        ("upstream", f"{upstream_cheats.__file__} Asking", "upstream"),
        ("db", f"{database_cheats.__file__} Stored", "database"),
    ],
)
def test_what_a_server_needs_beside_it_runs_with_the_lab(
    tmp_path: Path, endpoint: str, program: str, scope: str
) -> None:
    if endpoint == "db" and (missing := installed.missing()) is not None:
        pytest.skip(missing.message)
    own = framework(tmp_path, program, endpoint)
    path = campaign(tmp_path, endpoints=f'"{endpoint}"', length="3s")
    path.write_text(path.read_text("utf-8").replace('"reference"', '"beside"'), "utf-8")
    with in_namespaces(tmp_path, ("one",), has_server=True) as lab:
        lab.environments["server"] = {VARIABLE: str(own)}
        with lab.agents():
            ran = conducted(lab, path, "--frameworks", own).end()
        assert ran.code == 0, ran.said
        (trial,) = recorded(tmp_path)
        assert trial["ending"]["kind"] == "completed", trial["ending"]
        known = usage_of(tmp_path)
        assert known[scope, "local"] > 0
        assert known["server", "server"] > 0
        witness = {"upstream": "responses_from_upstream", "db": "rows_from_database"}
        given = levels(tmp_path)
        assert not labs.void_beyond(given)
        assert given[witness[endpoint]] == "sound"


def with_database(tmp_path: Path, lab: LabAtWork, repetitions: int, length: str) -> Path:
    """A campaign of a server that reads rows, whose framework the server's host has."""
    if (missing := installed.missing()) is not None:
        pytest.skip(missing.message)
    own = framework(tmp_path, f"{database_cheats.__file__} Stored", "db")
    lab.environments["server"] = {VARIABLE: str(own)}
    lab.environments["db"] = {"TMPDIR": gettempdir()}  # root has another user run PostgreSQL
    path = campaign(tmp_path, '"db"', repetitions, length)
    path.write_text(path.read_text("utf-8").replace('"reference"', '"beside"'), "utf-8")
    return path


@pytest.mark.parametrize(
    "settings", [pytest.param((), marks=pytest.mark.thorough), ("--set", "turns=100ms")]
)
def test_a_database_on_a_host_of_its_own(tmp_path: Path, settings: tuple[str, ...]) -> None:
    with in_namespaces(tmp_path, ("one",), has_server=True, has_database=True) as lab:
        path = with_database(tmp_path, lab, 1, "3s")
        with lab.agents():
            ran = conducted(lab, path, "--frameworks", tmp_path / "frameworks", *settings).end()
    assert ran.code == 0, ran.said
    (trial,) = recorded(tmp_path)
    assert trial["ending"]["kind"] == "completed", trial["ending"]
    assert (len(trial["turns"]) > 1) == bool(settings)
    assert (trial["database"]["host"], trial["database"]["started"]) == ("db", True)
    assert list(trial["machines"]) == ["server", "one", "db"]
    assert "db" in trial["clock_offsets_ns"]
    known = usage_of(tmp_path)
    assert known["database", "db"] > 0
    assert known["machine", "db"] > 0
    assert ("database", "local") not in known
    given = levels(tmp_path)
    assert not labs.void_beyond(given)
    assert given["rows_from_database"] == "sound"
    assert given["database_headroom"] in {"sound", "doubtful"}
    parts = {part["name"] for part in trial["provenance"]["measurement"]}
    assert {"host server", "host one", "host db", "database cores"} <= parts


@pytest.mark.thorough
@pytest.mark.parametrize("settings", [(), ("--set", "turns=100ms")])
def test_a_lost_host_of_the_database_ends_its_trial_and_leaves_no_postgres(
    tmp_path: Path, settings: tuple[str, ...]
) -> None:
    lab = on_loopback(tmp_path, ("one",), has_server=True, has_database=True)
    path = with_database(tmp_path, lab, 2, "30s")
    with lab.agents() as agents:
        given = ("--frameworks", tmp_path / "frameworks")
        running = conducted(lab, path, *given, *settings)
        agents["one"].wait_until_it_drives()
        os.kill(agents["db"].process.pid, signal.SIGKILL)
        assert eventually(lambda: not agents["db"].processes()), agents["db"].processes()
        again = lab.agent("db")
        ran = running.end()
        labs.ended(again)
    (trial,) = recorded(tmp_path)
    assert ran.code == UNFIT, ran.said
    assert trial["ending"]["kind"] == "HostLost"
    assert "`db`" in trial["ending"]["message"]
    assert ("% of the load" in trial["ending"]["message"]) != bool(settings)
    assert trial["database"]["rows_read"] is None


def test_a_host_without_postgres_that_is_to_run_it_is_named(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path, ("one",), has_database=True)
    lab.environments["db"] = {installed.VARIABLE: "no address"}
    with lab.agents():
        ran = lab.lab("host", "check", "-c", "10").end()
    assert ran.code == UNFIT, ran.said
    assert f"db (database, {lab.addresses['db']}): Plimsoll" in ran.said
    assert f"✗ {installed.VARIABLE}: not the address of a server" in ran.said


@pytest.mark.thorough
def test_power_is_that_of_the_servers_host_by_rapl_and_by_a_meter(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path, has_server=True)
    for name in ("server", "one"):
        lab.environments[name] = {energy.ROOT_VARIABLE: str(tmp_path / name / "powercap")}
    meter = "exec:while true; do echo 41.5; echo 42.5; sleep 0.1; done"
    settings = (*("--set", "idle=2s"), *("--set", f"power={meter}"))
    with (
        counting(tmp_path / "server" / "powercap", lambda: 20.0),
        counting(tmp_path / "one" / "powercap", lambda: 500.0),
        lab.agents(),
    ):
        ran = conducted(lab, campaign(tmp_path, length="3s"), *settings).end()
    assert ran.code == 0, ran.said
    (trial,) = recorded(tmp_path)
    assert trial["power"]["rapl"] == ["package-0", "dram of package-0"]
    assert (trial["power"]["meter"], trial["power"]["meter_failed"]) == ("exec", 0)
    (path,) = (tmp_path / "results" / "trials").glob("*/usage.parquet")
    rows = pq.read_table(path, columns=["quantity", "host"]).to_pylist()
    metered = {(row["quantity"], row["host"]) for row in rows if row["quantity"] in METERED}
    assert metered == {("energy_j", "one"), *((quantity, "server") for quantity in METERED)}
    judged(tmp_path)
    (path,) = (tmp_path / "results" / "derived").glob("*/summaries.parquet")
    (summary,) = pq.read_table(path).to_pylist()
    assert summary["rapl_power_w"] == pytest.approx(20.0, rel=0.3)
    assert summary["rapl_idle_power_w"] == pytest.approx(20.0, rel=0.3)
    assert summary["wall_idle_power_w"] == pytest.approx(42.0, rel=0.1)


@pytest.mark.thorough
@pytest.mark.parametrize("driver", ["h2load", "jmeter"])
def test_rows_of_another_load_generator_are_merged(tmp_path: Path, driver: str) -> None:
    missing = choosing.named(driver).needs()
    if missing is not None:
        pytest.skip(missing.message)
    lab = on_loopback(tmp_path)
    path = campaign(tmp_path, length="1s")
    with lab.agents():
        ran = conducted(lab, path, *by(driver)).end()
    assert ran.code == 0, ran.said
    (trial,) = recorded(tmp_path)
    assert trial["ending"]["kind"] == "completed", trial["ending"]
    assert [one["driver"]["connections_requested"] for one in trial["hosts"]] == [2, 2]
    (rows,) = (tmp_path / "results" / "trials").glob("*/requests.parquet")
    table = pq.read_table(rows, columns=["host", "sent_ns"])
    assert set(table["host"].to_pylist()) == {"one", "two"}
    assert 0 <= min(table["sent_ns"].to_pylist()) < max(table["sent_ns"].to_pylist()) < 60e9
    began = {one["host"]: one["zero_ns"] for one in trial["hosts"]}
    assert min(began.values()) == 0
    for host, sent_ns in zip(table["host"].to_pylist(), table["sent_ns"].to_pylist(), strict=True):
        assert sent_ns >= began[host] - 2_000_000, "a log of milliseconds, and clocks"
    given = levels(tmp_path)
    assert not labs.void_beyond(given)
    assert given["started_together"] != "not_checked"
    assert given["drivers_completed"] == given["conservation"] == "sound"
    if driver == "h2load":
        assert trial["driver"]["figures"]["requests"] > 0
        assert given["littles_law"] == "sound"


@pytest.mark.thorough
def test_a_full_disk_of_the_only_load_generator_costs_its_trial_as_its_loss_does(
    tmp_path: Path,
) -> None:
    """The next trial, which needs less room, is measured."""
    lab = on_loopback(tmp_path, ("one",))
    path = campaign(tmp_path, length="3s")
    less = path.read_text("utf-8").replace("5ms", "200ms").partition("[[load]]")[2]
    path.write_text(f"{path.read_text('utf-8')}\n[[load]]{less.replace('steady', 'tiny')}", "utf-8")
    with small_disk(tmp_path / "small", 1) as disk:
        lab.environments["one"] = {"TMPDIR": str(disk)}
        with lab.agents():
            ran = conducted(
                lab, path, "--set", "load.steady.think_time=0s", "--set", "seed=2"
            ).end()
    assert ran.code == UNFIT, ran.said
    endings = {one["load"]["name"]: one["ending"] for one in recorded(tmp_path)}
    assert list(endings) == ["steady", "tiny"]
    assert endings["tiny"]["kind"] == "completed"
    assert endings["steady"]["kind"] == "HostLost"
    assert f"no space left for results in `{disk}" in endings["steady"]["message"]


@pytest.mark.skipif(not shutil.which("h2load"), reason="h2load is not installed")
def test_rows_of_another_load_generator_that_find_no_room_stay_where_the_error_says(
    tmp_path: Path,
) -> None:
    lab = on_loopback(tmp_path)
    path = campaign(tmp_path, length="3s")
    with small_disk(tmp_path / "small", 1) as disk, lab.agents():
        results = disk / "results"
        ran = lab.lab("run", path, "--into", results, *LENIENT, *by("h2load")).end()
    assert "No space left on device: rows stay on their hosts, in" in ran.said
    assert "`plimsoll import h2load`" in ran.said
    places = re.findall(r"`(\S*/plimsoll-rows/\S+)` of `(\w+)`", ran.said)
    assert {host for _, host in places} == {"one", "two"}
    for folder, _ in places:
        imported = run("import", "h2load", *Path(folder).iterdir(), folder=tmp_path)
        assert imported.code in {0, VOID}, imported.said


@pytest.mark.thorough
def test_a_host_without_the_load_generator_is_named(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path)
    lab.environments["two"] = {"PATH": str(tmp_path)}
    with lab.agents():
        ran = conducted(lab, campaign(tmp_path), *by("h2load")).end()
    assert ran.code == DriverMissing.exit_code, ran.said
    assert "`h2load` is not installed on `two`" in ran.said
    assert "there: `apt-get install nghttp2-client`" in ran.said
    assert not (tmp_path / "results").exists(), "the campaign never began"


def test_a_plan_shows_what_each_host_does(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path, has_server=True)
    path = campaign(tmp_path)
    ran = run("plan", path, "--hosts", lab.file, folder=tmp_path)
    assert ran.code == 0
    assert f"server ({lab.addresses['server']}) runs the servers" in ran.said
    generates = "generates load with 1 thread: 2 of 4 connections (50 %)"
    assert f"one ({lab.addresses['one']}) {generates}" in ran.said
    listed = json.loads(run("plan", path, "--hosts", lab.file, "--json", folder=tmp_path).stdout)
    assert [one["host"] for one in listed["hosts"]] == ["server", "one", "two"]


@pytest.mark.parametrize(
    ("endpoint", "has_database", "who"),
    [("db", True, "db"), ("db", False, "lab"), ("2048", True, "")],
)
def test_a_plan_shows_who_runs_the_database(
    tmp_path: Path, endpoint: str, has_database: bool, who: str
) -> None:
    lab = on_loopback(tmp_path, has_database=has_database)
    path = campaign(tmp_path, endpoints=f'"{endpoint}"')
    if endpoint == "db":
        path.write_text(path.read_text("utf-8").replace('"reference"', '"django"'), "utf-8")
    listed = run("plan", path, "--hosts", lab.file, "--json", folder=tmp_path)
    assert listed.code == 0, listed.said
    hosts = json.loads(listed.stdout)["hosts"]
    assert [one["host"] for one in hosts if "PostgreSQL" in one["work"]] == ([who] if who else [])


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("driver=wrk", "percentiles of several hosts cannot be merged"),
        ("driver=ab", "percentiles of several hosts cannot be merged"),
        ("load.steady.stages=[{ kind = 'hold', duration = '1s', at = 1 }]", "1 connections for 2"),
    ],
)
def test_what_needs_one_machine_is_refused(tmp_path: Path, setting: str, words: str) -> None:
    lab = on_loopback(tmp_path, has_server=True)
    given = ("plan", campaign(tmp_path), "--hosts", lab.file, "--set", setting)
    ran = run(*given, folder=tmp_path)
    assert ran.code == 2
    assert words in ran.said


@pytest.mark.thorough
def test_the_study_with_a_server_and_three_load_machines_in_namespaces(tmp_path: Path) -> None:
    path = Path(shutil.copy(CHECKOUT / "campaigns" / "cengn.toml", tmp_path))
    small = ("frameworks=reference", "endpoints=2048,json", "cool_down=0s")
    scaled = ("scale_time=0.008", "scale_connections=0.02")
    settings = [word for one in (*small, *scaled) for word in ("--set", one)]
    with in_namespaces(tmp_path, has_server=True) as lab, lab.agents():
        ran = conducted(lab, path, *settings).end()
        assert ran.code == 0, ran.said
        trials = recorded(tmp_path)
        assert [one["endpoint"] for one in sorted(trials, key=lambda one: one["endpoint"])] == [
            "2048",
            "json",
        ]
        for trial in trials:
            assert trial["ending"]["kind"] == "completed"
            assert trial["server"]["address"].startswith(lab.addresses["server"])
            assert trial["server"]["link"] == "eth0"
            assert [one["driver"]["opened"] for one in trial["hosts"]] == [60, 60, 60]
        assert not set().union(*map(labs.void_beyond, judged(tmp_path).values()))


@pytest.mark.thorough
def test_a_link_that_was_cut_and_mended_is_used_again(tmp_path: Path) -> None:
    with in_namespaces(tmp_path, ("one", "two")) as lab, lab.agents() as agents:
        running = conducted(lab, campaign(tmp_path, repetitions=2, length="25s"))
        agents["two"].wait_until_rows_are_kept()
        labs.cut(lab, "two")
        agents["two"].wait_until_it_says("waiting for the next")
        labs.mend(lab, "two")
        ran = running.end()
        assert ran.code == 0, ran.said
        first, second = recorded(tmp_path)
        assert [one["error"] != "" for one in first["hosts"]] == [False, True]
        assert [one["error"] for one in second["hosts"]] == ["", ""]
        void = {trial: labs.void_beyond(given) for trial, given in judged(tmp_path).items()}
        assert void == {first["trial"]: {"drivers_completed"}, second["trial"]: set()}
