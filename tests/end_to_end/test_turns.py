"""Servers that take turns: what is recorded of each, what a fault costs, and how a run goes on."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path

import pytest

import plimsoll
from command_line import HERE, TOYS, Ran, Running, eventually, run, start
from plimsoll import events
from plimsoll.comparison.comparisons import ComparedTrial
from plimsoll.comparison.turn_partners import blocks_in_turns
from plimsoll.processes import cpu_clock, process_table, supervisor
from plimsoll.recording import Recording
from plimsoll.serving import resting
from plimsoll.storage.parquet import ParquetResults

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

CAMPAIGN = """\
name = "pair"
frameworks = ["toy", "toy:starts-slowly"]
endpoints = ["plaintext", "empty"]
cool_down = "0s"
turns = "100ms"

[[load]]
name = "steady"
timeout = "2s"
stages = [
  { kind = "warm_up", duration = "200ms", at = 4 },
  { kind = "hold", duration = "800ms", at = 4 },
]
"""
"""Two servers that behave take turns at two endpoints, one after the other."""

ENDPOINTS = ("plaintext", "empty")
FIRST, SECOND, *OTHERS = (
    f"{name}.{endpoint}.steady.1" for endpoint in ENDPOINTS for name in ("toy", "toy-starts-slowly")
)
EACH = (FIRST, SECOND, *OTHERS)
ONE_ENDPOINT = ("--set", "endpoints=plaintext")
EASY = "load.steady.think_time=5ms"
"""A load that leaves the cores to what runs beside it, for tests that do not look at its work."""
LONGER = "load.steady.hold.duration=1500ms"
LASTS = ("--set", LONGER, "--set", EASY)
DEAF = "ignores-the-stop-signal"
LOAD_NS = 1_000_000_000


def campaign(folder: Path, text: str = CAMPAIGN) -> Path:
    path = folder / "pair.toml"
    path.write_text(text)
    return path


def conducted(folder: Path, *options: str) -> Ran:
    return run("run", campaign(folder), *TOYS, "--no-report", *options, folder=folder)


def under_way(folder: Path, *options: str) -> Running:
    """A run whose two servers are both under load."""
    command = ("run", campaign(folder), *TOYS, "--no-report", *options)
    running = start(*command, folder=folder)
    running.wait_until_it_says("2 servers in turns")
    assert eventually(lambda: len([*folder.rglob("requests.bin")]) == 2, 60.0), running.stderr
    return running


def of(folder: Path, trial: str) -> Recording:
    return ParquetResults(folder / "results" / "pair").recording(trial)


def trials(folder: Path) -> list[str]:
    """Everything that lies among the trials, half recordings too."""
    return sorted(path.name for path in folder.glob("results/pair/trials/*"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of the campaign."""
    folder = tmp_path_factory.mktemp("turns")
    ran = conducted(folder)
    assert ran.code == 0, ran.stderr
    return folder


@pytest.fixture(scope="module")
def judged(folder: Path) -> dict[str, dict[str, str]]:
    """The level of each check, for each trial."""
    ran = run("judge", "results/pair", "--json", folder=folder)
    return {
        one["trial"]: {verdict["check"]: verdict["level"] for verdict in one["verdicts"]}
        for one in json.loads(ran.stdout)
    }


@pytest.mark.parametrize("trial", EACH)
def test_each_server_has_a_complete_trial_of_the_length_of_its_load(
    folder: Path, trial: str
) -> None:
    recording = of(folder, trial)
    assert recording.ending.kind == "completed"
    assert recording.driver is not None
    assert recording.driver.ended_by == "schedule"
    found = [(stage.kind, stage.start_ns, stage.end_ns) for stage in recording.stages]
    assert found == [("warm_up", 0, 200_000_000), ("hold", 200_000_000, LOAD_NS)]


@pytest.mark.parametrize("trial", EACH)
def test_the_load_generator_is_read_whenever_its_server_is(folder: Path, trial: str) -> None:
    rows = ParquetResults(folder / "results" / "pair").table(trial, "usage")
    assert rows is not None
    found = rows.to_table().to_pylist()
    read_ns = {
        scope: [
            row["at_ns"]
            for row in found
            if (row["scope"], row["quantity"]) == (scope, "cpu_user_s")
        ]
        for scope in ("server", "driver")
    }
    assert read_ns["driver"] == read_ns["server"]
    turns = of(folder, trial).turns
    assert read_ns["driver"][-1] == sum(turn.duration_ns for turn in turns)
    assert None not in [turn.driver_cpu_ns for turn in turns]


@pytest.mark.parametrize("trial", EACH)
def test_the_control_ran_between_turns_and_not_in_them(folder: Path, trial: str) -> None:
    results = ParquetResults(folder / "results" / "pair")
    rows = results.table(trial, "usage")
    assert rows is not None
    found = rows.to_table().to_pylist()
    ran_ns = {row["at_ns"] for row in found if row["quantity"] == "control_compute_s"}
    assert ran_ns
    ends_ns = {0, *accumulate(turn.duration_ns for turn in of(folder, trial).turns)}
    assert ran_ns <= ends_ns


@pytest.mark.parametrize("trial", EACH)
def test_the_pace_of_the_other_server_is_read_at_the_end_of_each_turn(
    folder: Path, trial: str
) -> None:
    rows = ParquetResults(folder / "results" / "pair").table(trial, "usage")
    assert rows is not None
    found = [
        (row["at_ns"], row["value"])
        for row in rows.to_table().to_pylist()
        if row["quantity"] == "others_pace_ratio"
    ]
    (other,) = {one for one in EACH if of_endpoint(one) == of_endpoint(trial)} - {trial}
    shared = {turn.round for turn in of(folder, other).turns if turn.round and turn.requests}
    turns = of(folder, trial).turns
    ends_ns = accumulate(turn.duration_ns for turn in turns)
    due = [end for turn, end in zip(turns, ends_ns, strict=True) if turn.round in shared]
    assert [at_ns for at_ns, _ in found] == due
    assert all(pace > 0 for _, pace in found)


@pytest.mark.parametrize("trial", EACH)
@pytest.mark.parametrize(
    "check", ["conservation", "counters_agree", "responses_correct", "connection_target_met"]
)
def test_what_is_counted_on_both_sides_agrees(
    judged: dict[str, dict[str, str]], trial: str, check: str
) -> None:
    assert judged[trial][check] == "sound"


@pytest.mark.parametrize("trial", EACH)
def test_turns_add_up_to_the_rows_and_to_the_length_of_the_load(folder: Path, trial: str) -> None:
    recording = of(folder, trial)
    rows = ParquetResults(folder / "results" / "pair").table(trial, "requests").count_rows()
    assert recording.driver is not None
    assert sum(turn.requests for turn in recording.turns) == recording.driver.outcomes["ok"]
    assert sum(turn.failures for turn in recording.turns) == 0
    assert rows == recording.driver.sent == sum(recording.driver.outcomes.values())
    length_ns = sum(turn.duration_ns for turn in recording.turns)
    longest_ns = max(turn.duration_ns for turn in recording.turns)
    assert LOAD_NS <= length_ns < LOAD_NS + longest_ns
    assert {turn.entry for turn in recording.turns} == {recording.title}
    assert [turn.round for turn in recording.turns] == list(range(len(recording.turns)))
    assert all(turn.planned_ns and turn.planned_ns <= turn.duration_ns for turn in recording.turns)


def test_turns_of_two_servers_never_overlap_and_their_order_is_drawn(folder: Path) -> None:
    turns = [(trial, turn) for trial in EACH for turn in of(folder, trial).turns]
    turns.sort(key=lambda one: one[1].start_ns)
    assert all(a.start_ns + a.duration_ns <= b.start_ns for (_, a), (_, b) in pairwise(turns))
    rounds = Counter((of_endpoint(trial), turn.round) for trial, turn in turns)
    both = [number for number, count in rounds.items() if count == 2]
    assert len(both) >= 4
    firsts = {(of_endpoint(trial), turn.round): turn.entry for trial, turn in reversed(turns)}
    assert len({firsts[number] for number in both}) == 2


def test_endpoints_follow_each_other(folder: Path) -> None:
    spans = [
        (min(turn.start_ns for turn in turns), max(turn.start_ns for turn in turns))
        for endpoint in ENDPOINTS
        if (
            turns := [
                t for one in EACH if of_endpoint(one) == endpoint for t in of(folder, one).turns
            ]
        )
    ]
    (_, ended_ns), (began_ns, _) = sorted(spans)
    assert ended_ns < began_ns


def of_endpoint(trial: str) -> str:
    return trial.split(".")[1]


@pytest.mark.parametrize("trial", EACH)
def test_a_server_starts_once_for_its_endpoints_and_keeps_the_connections_of_each(
    folder: Path, trial: str
) -> None:
    log = folder / "results" / "pair" / "trials" / trial / "server.log"
    assert log.read_text() == "listening\n"
    server, driver = of(folder, trial).server, of(folder, trial).driver
    assert driver is not None
    assert (driver.opened, driver.connections_requested, driver.refused) == (4, 4, 0)
    name = trial.partition(".")[0]
    assert server is not None
    assert {*server.shared_by} == {f"{name}.{endpoint}.steady.1" for endpoint in ENDPOINTS}
    assert (server.exit_code, server.clean_stop, server.killed) == (0, True, 0)
    assert server.rest_rss_bytes


def cpu_s(folder: Path, trial: str) -> tuple[float, float]:
    """CPU time of the server in its turns by the clocks of its processes, and by the readings."""
    by_clocks = sum(turn.server_cpu_ns or 0 for turn in of(folder, trial).turns) / 1e9
    usage = ParquetResults(folder / "results" / "pair").table(trial, "usage").to_table()
    by_readings = 0.0
    for quantity in ("cpu_user_s", "cpu_system_s"):
        values = [
            row["value"]
            for row in usage.to_pylist()
            if (row["scope"], row["quantity"]) == ("server", quantity)
        ]
        assert values == sorted(values)
        by_readings += values[-1] - values[0]
    return by_clocks, by_readings


@pytest.mark.parametrize("trial", EACH)
def test_the_processor_time_of_turns_is_that_of_the_readings(folder: Path, trial: str) -> None:
    by_clocks, by_readings = cpu_s(folder, trial)
    assert by_readings == pytest.approx(by_clocks, rel=0.3)


def servers() -> dict[int, bool]:
    """Processes of toy servers below this one, and whether each is the one that starts slowly."""
    found: dict[int, bool] = {}
    for process in process_table.descendants(os.getpid()):
        place = Path("/proc", str(process.pid))
        with suppress(OSError):
            if b"app.py" in (place / "cmdline").read_bytes():
                found[process.pid] = b"TOY=starts-slowly" in (place / "environ").read_bytes()
    return found


@dataclass
class Clocks:
    """Reads the CPU time of both servers whenever a turn is over.

    Attributes:
        at_turn: What the server used whose turn it was, in nanoseconds, all turns together.
        at_rest: What the other one did meanwhile.
        seen: Every process of a server.
    """

    at_turn: int = 0
    at_rest: int = 0
    seen: set[int] = field(default_factory=set[int])
    _last: dict[int, int] = field(default_factory=dict[int, int])

    def __call__(self, event: events.Event) -> None:
        if isinstance(event, events.TurnEnded):
            self._read(is_slow=event.trial.framework.variant == "starts-slowly")

    def _read(self, *, is_slow: bool) -> None:
        known = servers()
        now = cpu_clock.of(known)
        self.seen |= known.keys()
        for pid in self._last.keys() & now.keys():
            grown = now[pid] - self._last[pid]
            if known[pid] == is_slow:
                self.at_turn += grown
            else:
                self.at_rest += grown
        self._last = now


def test_who_rests_uses_no_processor_time(tmp_path: Path) -> None:
    clocks = Clocks()
    into = tmp_path / "results"
    file, frameworks = campaign(tmp_path), HERE / "frameworks"
    with plimsoll.run(
        file,
        into=into,
        frameworks=frameworks,
        settings=["endpoints=plaintext"],
        judge=False,
        on_event=clocks,
    ) as results:
        turns = [turn for trial in results.trials for turn in trial.recording.turns]
    assert len(clocks.seen) == 2
    assert clocks.at_rest < 0.05 * clocks.at_turn
    recorded = sum(turn.server_cpu_ns or 0 for turn in turns)
    assert clocks.at_turn <= recorded * 1.1


def test_servers_that_the_host_has_no_room_for_take_turns_after_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plimsoll.conduct.group_room.GROWTH_BYTES", 2**50)
    seen: list[events.Event] = []
    names = ["toy", "toy:starts-slowly", "toy:works-at-rest"]
    with plimsoll.run(
        campaign(tmp_path),
        into=tmp_path / "results",
        frameworks=HERE / "frameworks",
        settings=[f"frameworks={','.join(names)}", EASY],
        judge=False,
        on_event=seen.append,
    ) as results:
        recorded = [trial.recording for trial in results.trials]
    assert [one.ending.kind for one in recorded] == ["completed"] * 6
    full = [one for one in seen if isinstance(one, events.GroupFull)]
    assert [(one.servers, one.of) for one in full] == [(2, 3)]
    groups = [one.trials for one in seen if isinstance(one, events.GroupStarted)]
    ended = [set(one.completed) for one in seen if isinstance(one, events.GroupEnded)]
    of_first = {one.trial for one in recorded} - {trial.id for trial in groups[1]}
    assert ended == [of_first, {trial.id for trial in groups[1]}]
    assert [len(trials) for trials in groups] == [6, 2]
    alone = {trial.id for trial in groups[1]}
    assert {
        one.trial for one in recorded if any("no other server" in n for n in one.notes)
    } == alone
    assert all(((one.server and one.server.rest_threads) or 0) > 0 for one in recorded)


@pytest.mark.parametrize("turns", ["100ms", pytest.param("0s", marks=pytest.mark.thorough)])
def test_a_server_may_use_every_core_while_it_warms_up_and_its_own_afterwards(
    turns: str, tmp_path: Path
) -> None:
    every = os.sched_getaffinity(0)
    if len(every) < 2:
        pytest.skip("the host has one core")
    own = min(every)
    during: list[set[int]] = []
    after: list[set[int]] = []

    def look(event: events.Event) -> None:
        progress = event.progress if isinstance(event, events.TurnEnded) else event
        if isinstance(progress, events.Progress) and progress.stage == "hold":
            after.extend(map(os.sched_getaffinity, servers()))

    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.01):
            with suppress(OSError):
                during.extend(map(os.sched_getaffinity, servers()))

    watching = threading.Thread(target=watch)
    watching.start()
    settings = [f"server_cores=[{own}]", "endpoints=plaintext", f"turns={turns}", LONGER, EASY]
    try:
        with plimsoll.run(
            campaign(tmp_path),
            into=tmp_path / "results",
            frameworks=HERE / "frameworks",
            judge=False,
            on_event=look,
            settings=settings,
        ) as results:
            notes = [note for trial in results.trials for note in trial.recording.notes]
    finally:
        ended.set()
        watching.join()
    assert every in during
    assert after
    if not any("could use every core" in note for note in notes):
        assert all(cores == {own} for cores in after)


def test_arrivals_are_those_of_its_turns(tmp_path: Path) -> None:
    """None is due in a rest, nor while a turn waits for its last responses."""
    opened = CAMPAIGN.replace('"2s"', '"2s"\nmodel = "open"\nconnections = 8').replace(
        "= 4", "= 200"
    )
    ran = run("run", campaign(tmp_path, opened), *TOYS, "--no-report", folder=tmp_path)
    assert ran.code == 0, ran.stderr
    for trial in EACH:
        driver, turns = of(tmp_path, trial).driver, of(tmp_path, trial).turns
        assert driver is not None
        planned_ns = [turn.planned_ns for turn in turns if turn.planned_ns]
        assert len(planned_ns) == len(turns)
        # 200/s; a turn may begin and end between two arrivals.
        arrivals = 200 * sum(planned_ns) / 1e9
        assert sum(driver.outcomes.values()) == pytest.approx(arrivals, abs=len(turns))


def test_servers_that_fail_cost_their_own_trials(tmp_path: Path) -> None:
    failing = {
        "toy:dies-under-load": ("DiedUnderLoad", "exited with code 7 under load"),
        "toy:breaks-under-load": ("ContractBroken", "expected `200`"),
        "toy:exits-at-once": ("StartFailed", "exited with code 1 before it was ready"),
    }
    ran = conducted(tmp_path, "--set", f"frameworks={','.join([*failing, 'toy'])}")
    assert ran.code == 4
    for name, (kind, sentence) in failing.items():
        for endpoint in ENDPOINTS:
            trial = f"{name.replace(':', '-')}.{endpoint}.steady.1"
            assert of(tmp_path, trial).ending.kind == kind
            assert ran.stderr.count(f"error: {trial}: ") == 1
            said = ran.stderr.partition(f"error: {trial}: ")[2].partition("\nerror: ")[0]
            assert said.count(sentence) == 1
            assert of(tmp_path, trial).server is None or "exits" not in name
    right = [of(tmp_path, f"toy.{endpoint}.steady.1") for endpoint in ENDPOINTS]
    assert {one.ending.kind for one in right} == {"completed"}
    assert [stage.end_ns for stage in right[0].stages] == [200_000_000, LOAD_NS]
    died = [of(tmp_path, f"toy-dies-under-load.{endpoint}.steady.1") for endpoint in ENDPOINTS]
    first, later = sorted(died, key=lambda one: one.order)
    assert 0 < len(first.turns) < min(len(one.turns) for one in right)
    assert sum(turn.requests for turn in first.turns) > 0
    assert later.turns == of(tmp_path, "toy-exits-at-once.plaintext.steady.1").turns == ()


def test_a_server_that_dies_late_keeps_the_trials_that_it_had_completed(tmp_path: Path) -> None:
    shutil.copytree(HERE / "frameworks", tmp_path / "frameworks")
    application = tmp_path / "frameworks" / "toy" / "app.py"
    application.write_text(
        application.read_text().replace("LAST_REQUEST = 300", "LAST_REQUEST = 150")
    )
    opened = CAMPAIGN.replace('"2s"', '"2s"\nmodel = "open"\nconnections = 8').replace(
        "= 4", "= 100"
    )
    dying = opened.replace('"toy:starts-slowly"', '"toy:dies-under-load"')
    frameworks = ("--frameworks", tmp_path / "frameworks")
    ran = run("run", campaign(tmp_path, dying), *frameworks, "--no-report", folder=tmp_path)
    assert ran.code == 4
    found = [of(tmp_path, f"toy-dies-under-load.{endpoint}.steady.1") for endpoint in ENDPOINTS]
    kinds = [one.ending.kind for one in sorted(found, key=lambda one: one.order)]
    assert kinds == ["completed", "DiedUnderLoad"]


def warmed_up(folder: Path, length: str) -> tuple[list[Recording], list[events.TurnEnded]]:
    """Trials of one server whose runtime needs a warm-up, and every turn that was told of."""
    shutil.copytree(HERE / "frameworks", folder / "frameworks")
    manifest = folder / "frameworks" / "toy" / "framework.toml"
    manifest.write_text(f'warm_up = "{length}"\n{manifest.read_text()}')
    ended: list[events.TurnEnded] = []

    def note(event: events.Event) -> None:
        if isinstance(event, events.TurnEnded):
            ended.append(event)

    settings = ["frameworks=toy", EASY]
    into, frameworks = folder / "results", folder / "frameworks"
    with plimsoll.run(
        campaign(folder), into=into, frameworks=frameworks, settings=settings, on_event=note
    ) as results:
        return [trial.recording for trial in results.trials], ended


def test_a_server_warms_up_before_its_first_trial_as_long_as_its_runtime_needs(
    tmp_path: Path,
) -> None:
    recordings, ended = warmed_up(tmp_path, "600ms")
    assert {one.trial.endpoint.name for one in ended[:2]} == {*ENDPOINTS}
    assert len(ended) == 2 + sum(len(one.turns) for one in recordings)
    for one in recordings:
        assert one.ending.kind == "completed"
        assert [stage.end_ns for stage in one.stages] == [200_000_000, LOAD_NS]
        assert any("400 ms of load before its first trial" in note for note in one.notes)


def test_a_long_warm_up_comes_in_pulses_of_each_endpoint_in_turn(tmp_path: Path) -> None:
    recordings, ended = warmed_up(tmp_path, "2600ms")
    pulses = [one.trial.endpoint.name for one in ended[:4]]
    assert len(ended) == len(pulses) + sum(len(one.turns) for one in recordings)
    assert pulses[:2] == pulses[2:]
    assert {*pulses} == {*ENDPOINTS}
    passed_s = [one.progress.at_s for one in ended[:4]]
    lengths_s = [after - before for before, after in pairwise([0.0, *passed_s])]
    assert lengths_s == pytest.approx([0.6] * 4, abs=0.2)


def test_a_server_of_its_own_warms_up_before_its_load(tmp_path: Path) -> None:
    shutil.copytree(
        HERE.parents[1] / "frameworks" / "reference", tmp_path / "frameworks" / "reference"
    )
    manifest = tmp_path / "frameworks" / "reference" / "framework.toml"
    manifest.write_text(f'warm_up = "1800ms"\n{manifest.read_text()}')
    phases: list[str] = []

    def note(event: events.Event) -> None:
        if isinstance(event, events.Phase):
            phases.append(event.name)

    settings = ["frameworks=reference", "endpoints=plaintext", "turns=0s", EASY]
    into, frameworks = tmp_path / "results", tmp_path / "frameworks"
    with plimsoll.run(
        campaign(tmp_path), into=into, frameworks=frameworks, settings=settings, on_event=note
    ) as results:
        (trial,) = results.trials
        recording, levels = trial.recording, {one.check: one.level for one in trial.verdicts}
    assert recording.ending.kind == "completed"
    assert [stage.end_ns for stage in recording.stages] == [200_000_000, LOAD_NS]
    assert recording.took_s is not None
    assert 1.6 < recording.warming_s < recording.took_s
    assert phases.index("checking") < phases.index("warming_up") < phases.index("driving")
    assert levels["counters_agree"] == "sound"
    assert recording.server is not None
    assert recording.server.counted_elsewhere["requests_received"] > 0


def test_what_a_server_counts_over_its_life_agrees_with_its_trials(tmp_path: Path) -> None:
    text = CAMPAIGN.replace('"toy", "toy:starts-slowly"', '"reference"').replace("empty", "json")
    file = campaign(tmp_path, text)
    ran = run("run", file, "--no-report", "--set", EASY, folder=tmp_path)
    assert ran.code in (0, 1), ran.stderr
    ids = [f"reference.{endpoint}.steady.1" for endpoint in ("plaintext", "json")]
    verdicts = json.loads(run("judge", "results/pair", "--json", folder=tmp_path).stdout)
    levels = {
        (one["trial"], verdict["check"]): verdict["level"]
        for one in verdicts
        for verdict in one["verdicts"]
    }
    for own, other in (ids, ids[::-1]):
        assert levels[own, "counters_agree"] == "sound"
        server, driver = of(tmp_path, own).server, of(tmp_path, other).driver
        assert server is not None
        assert server.counted is not None
        assert driver is not None
        sent = (driver.sent or 0) + of(tmp_path, other).contract_requests
        assert server.counted_elsewhere["requests_received"] == sent
        assert server.counted["requests_received"] > sent


def test_a_server_that_works_while_it_rests_is_frozen_and_its_recording_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It settles before its first turn, so it is frozen whenever its clocks and /proc are read."""
    monkeypatch.setattr(resting, "SETTLE_S", 1.0)
    busy = "toy-works-at-rest.plaintext.steady.1"
    cold = CAMPAIGN.replace('  { kind = "warm_up", duration = "200ms", at = 4 },\n', "")
    both = cold.replace('"toy", "toy:starts-slowly"', '"toy", "toy:works-at-rest"')
    ran = run("run", campaign(tmp_path, both), *TOYS, "--no-report", *ONE_ENDPOINT, folder=tmp_path)
    assert ran.code == 0, ran.stderr
    notes = {trial: " ".join(of(tmp_path, trial).notes) for trial in (FIRST, busy)}
    assert "frozen between its turns" in notes[busy]
    assert "frozen" not in notes[FIRST]
    assert of(tmp_path, busy).ending.kind == "completed"
    by_clocks, by_readings = cpu_s(tmp_path, busy)
    # Time in user mode and in the kernel at both ends, each in whole ticks.
    ticks = 4 / os.sysconf("SC_CLK_TCK")
    assert by_readings == pytest.approx(by_clocks, abs=ticks)


def test_an_engine_that_is_killed_costs_its_own_trial(tmp_path: Path) -> None:
    easy = ("--set", EASY)
    running = start("run", campaign(tmp_path), *TOYS, "--no-report", *easy, folder=tmp_path)
    running.wait_until_it_drives()
    engines = [pid for pid in pids(running) if b"\0plimsoll.engine\0" in command_line(pid)]
    os.kill(engines[0], signal.SIGKILL)
    ran = running.end()
    assert ran.code == 5
    assert ran.stderr.count("the engine was killed by SIGKILL") >= 1
    assert not running.processes()
    kinds = sorted(of(tmp_path, trial).ending.kind for trial in EACH)
    assert kinds == ["EngineFailed", "completed", "completed", "completed"]


def pids(running: Running) -> list[int]:
    return [int(process.rpartition(" ")[2]) for process in running.processes()]


def command_line(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def goes_on(folder: Path) -> None:
    """The same command conducts all trials."""
    ran = conducted(folder, *LASTS)
    assert ran.code == 0, ran.stderr
    assert trials(folder) == sorted(EACH)
    assert {of(folder, trial).ending.kind for trial in EACH} == {"completed"}


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.thorough)]
)
def test_one_signal_stops_all_servers_and_keeps_no_half_recording(
    number: signal.Signals, tmp_path: Path
) -> None:
    running = under_way(tmp_path, *LASTS)
    if number == signal.SIGINT:
        running.press_ctrl_c()
    else:
        running.process.send_signal(number)
    ran = running.end()
    assert ran.code == 130
    assert not running.processes()
    assert "error: interrupted; 0 of 4 trials are recorded" in ran.stderr
    assert "hint: run the same command again to resume" in ran.stderr
    assert trials(tmp_path) == []
    goes_on(tmp_path)


def test_ctrl_c_twice_waits_for_none_of_several_servers_that_do_not_stop(tmp_path: Path) -> None:
    shutil.copytree(HERE / "frameworks", tmp_path / "frameworks")
    with (tmp_path / "frameworks" / "toy" / "framework.toml").open("a") as manifest:
        for name in ("deaf", "deaf-too"):
            manifest.write(f'[variant.{name}]\nenvironment = {{ TOY = "{DEAF}" }}\n')
    both = CAMPAIGN.replace('"toy", "toy:starts-slowly"', '"toy:deaf", "toy:deaf-too"')
    frameworks = ("--frameworks", tmp_path / "frameworks")
    running = start(
        "run", campaign(tmp_path, both), *frameworks, "--no-report", *LASTS, folder=tmp_path
    )
    assert eventually(lambda: len([*tmp_path.rglob("requests.bin")]) == 2, 60.0), running.stderr
    running.press_ctrl_c()
    time.sleep(0.5)
    pressed_s = time.monotonic()
    running.press_ctrl_c()
    ran = running.end()
    assert ran.code == 130
    assert time.monotonic() - pressed_s < supervisor.GRACE_S
    assert running.leaves_nothing()
    assert trials(tmp_path) == []


def test_a_lab_that_is_killed_leaves_no_server_and_no_engine(tmp_path: Path) -> None:
    running = under_way(tmp_path, *LASTS)
    lines = [command_line(pid) for pid in pids(running)]
    assert sum(b"app.py" in line for line in lines) == 2
    assert sum(b"\0plimsoll.engine\0" in line for line in lines) == 2
    running.process.kill()
    running.end()
    assert running.leaves_nothing()
    assert trials(tmp_path) == sorted(f".{trial}.partial" for trial in EACH)
    goes_on(tmp_path)


def test_a_campaign_in_turns_grows_by_repetitions(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    before = {trial: of(tmp_path, trial) for trial in EACH}
    ran = conducted(tmp_path, "--set", "repetitions=2")
    assert ran.code == 0, ran.stderr
    assert "8 trials, 4 complete" in ran.stderr
    assert re.search(r"\[1/4\] \w+, \w+, steady, repetition 2: 2 servers in turns", ran.stderr)
    assert {trial: of(tmp_path, trial) for trial in before} == before
    for trial in before:
        again = of(tmp_path, f"{trial.removesuffix('1')}2")
        assert again.ending.kind == "completed"
        assert {turn.group for turn in again.turns} == {2}


def test_a_trial_that_is_repeated_alone_says_that_it_had_no_partner(
    folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    said = "It took turns with no other server"
    assert not any(said in note for trial in EACH for note in of(tmp_path, trial).notes)
    with plimsoll.read(tmp_path / "results" / "pair") as read:
        assert blocks_in_turns(compared(read)) == {1}
    shutil.rmtree(tmp_path / "results" / "pair" / "trials" / FIRST)
    assert conducted(tmp_path).code == 0
    assert any(said in note for note in of(tmp_path, FIRST).notes)
    assert not any(said in note for note in of(tmp_path, SECOND).notes)
    with plimsoll.read(tmp_path / "results" / "pair") as read:
        assert blocks_in_turns(compared(read)) == frozenset()


def compared(read: plimsoll.CampaignResults) -> list[ComparedTrial]:
    """All trials as checks on the campaign see them; what is void is of no interest here."""
    return [ComparedTrial(one.recording, one.summary, is_void=False) for one in read.trials]


def test_trials_in_turns_and_others_are_not_mixed(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    ran = conducted(tmp_path, "--set", "repetitions=2", "--set", "turns=200ms")
    assert ran.code == 6
    assert "turns 0.1 s, shared servers, warm-up in pulses → 0.2 s" in ran.said
    ran = conducted(tmp_path, "--set", "repetitions=2", "--set", "turns=0s")
    assert ran.code == 6
    assert trials(tmp_path) == sorted(EACH)


def test_turns_with_another_driver_are_a_mistake_of_the_file(tmp_path: Path) -> None:
    file = campaign(tmp_path, CAMPAIGN.replace("turns =", 'driver = "wrk"\nturns ='))
    ran = run("plan", file, *TOYS, folder=tmp_path)
    assert ran.code == 2
    assert "pair.toml:6: `turns` needs the driver `plimsoll`, not `wrk`" in ran.said
    assert "hint: set `turns` to 0, or remove `driver`" in ran.said
    given = run("plan", campaign(tmp_path), *TOYS, "--set", "driver=wrk", folder=tmp_path)
    assert given.code == 2
    assert "`turns` needs the driver `plimsoll`" in given.said
