"""What trials took here, kept for the next plan."""

from __future__ import annotations

import shutil
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sample
import small_servers
from plimsoll import estimates, events
from plimsoll.campaign.campaign import Campaign
from plimsoll.campaign.endpoints import by_name
from plimsoll.campaign.framework import Framework
from plimsoll.campaign.load import Load, Stage
from plimsoll.estimates import NOTHING_KNOWN, ROW_S, FrameworkPace, PlanTiming, estimate, report_s
from plimsoll.events import Progress
from plimsoll.lab import kept_paces, paces
from plimsoll.plan import Trial, plan
from plimsoll.recording import Ending

LOAD_S = 10.0


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's file of paces, on a machine that nobody else uses."""
    monkeypatch.setattr(paces, "OWN_TIMES", tmp_path / "schedstat")
    monkeypatch.setattr(paces, "PRESSURE", tmp_path / "pressure")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "plimsoll" / "paces.json"


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock: its last instant, in seconds."""
    instants = [0.0]
    monkeypatch.setattr("plimsoll.lab.paces.time.monotonic", lambda: instants[-1])
    return instants


@pytest.fixture
def small(tmp_path: Path) -> Framework:
    return small_servers.framework(tmp_path / "small", "")


def planned(framework: Framework) -> Trial:
    load = Load("steady", "closed", (Stage("hold", LOAD_S, 8.0, 8.0),))
    (trial,) = plan(Campaign("a", (framework,), (by_name("empty"),), (load,), repetitions=1))
    return trial


def ended(
    trial: Trial, sent: int | None, ending: Ending | None = None, start_s: float = 1.0
) -> events.TrialEnded:
    recorded = sample.recording(
        driver=sample.driver(sent=sent),
        server=sample.server(start_s=start_s),
        ending=ending or Ending(),
    )
    return events.TrialEnded(trial, recorded)


def pace(framework: Framework) -> FrameworkPace:
    """What is known of a framework."""
    return paces.known([framework]).frameworks[framework.reference]


def ran(
    passed: list[float], trials: Sequence[Trial], took_s: float, sent: int = 1, turn_s: float = 0.0
) -> None:
    """A campaign of one trial, or of one group in turns."""
    watch = paces.PaceKeeper(events.ignore, PlanTiming(turn_s=turn_s))
    begun = (
        events.GroupStarted(tuple(trials), 1, len(trials), LOAD_S)
        if turn_s
        else events.TrialStarted(trials[0], 1, 1, LOAD_S)
    )
    watch(begun)
    passed.append(passed[-1] + took_s)
    for trial in trials:
        watch(ended(trial, sent))
    watch(events.CampaignEnded(len(trials), ()))


def test_the_pace_of_a_trial_is_what_it_took_besides_start_load_and_rows(
    small: Framework, passed: list[float]
) -> None:
    trial, timing = planned(small), PlanTiming(idle_s=1.0)
    told: list[events.Event] = []
    watch = paces.PaceKeeper(told.append, timing)
    watch(events.TrialStarted(trial, 1, 1, LOAD_S))
    passed.append(18.0)
    watch(ended(trial, sent=100_000))
    passed.append(19.0)
    watch(events.CampaignEnded(1, ()))
    found = pace(small)
    assert found.start_s == 1.0
    apart_s = LOAD_S + 1.0 + 100_000 * ROW_S + timing.idle_around_s
    assert found.beside_s == pytest.approx(19.0 - apart_s)
    assert found.in_turns_s is None
    assert found.requests_per_s == {"empty": 10_000.0}
    assert [type(one).__name__ for one in told] == ["TrialStarted", "TrialEnded", "CampaignEnded"]


def test_the_trials_of_one_run_are_their_mean(small: Framework, passed: list[float]) -> None:
    watch = paces.PaceKeeper(events.ignore)
    for took_s in (14.0, 15.0, 16.0):
        watch(events.TrialStarted(planned(small), 1, 3, LOAD_S))
        passed.append(passed[-1] + took_s)
        watch(ended(planned(small), sent=1))
    watch(events.CampaignEnded(3, ()))
    assert pace(small).beside_s == pytest.approx(4.0, abs=0.001)


def test_a_faster_framework_is_known_at_once_and_a_slower_one_after_the_runs_that_are_kept(
    small: Framework, passed: list[float]
) -> None:
    trial = planned(small)
    ran(passed, [trial], 15.0)
    ran(passed, [trial], 12.0)
    assert pace(small).beside_s == pytest.approx(1.0, abs=0.001)
    for _ in range(kept_paces.MOST_RUNS):
        ran(passed, [trial], 18.0)
    assert pace(small).beside_s == pytest.approx(7.0, abs=0.001)


def test_one_short_run_of_five_is_chance(small: Framework, passed: list[float]) -> None:
    trial = planned(small)
    for took_s in (15.0, 15.0, 11.5, 15.0, 15.0):
        ran(passed, [trial], took_s)
    assert pace(small).beside_s == pytest.approx(4.0, abs=0.001)


def test_each_endpoint_has_a_rate_of_its_own(small: Framework, passed: list[float]) -> None:
    trial = planned(small)
    ran(passed, [trial], 12.0, sent=100_000)
    ran(passed, [replace(trial, endpoint=by_name("json"))], 12.0, sent=500)
    ran(passed, [replace(trial, endpoint=by_name("json"))], 12.0, sent=500)
    assert pace(small).requests_per_s == {"empty": 10_000.0, "json": 50.0}


def test_a_rate_that_was_asked_for_is_no_pace(small: Framework, passed: list[float]) -> None:
    trial = planned(small)
    opened = replace(trial, load=replace(trial.load, model="open", connections=8))
    limited = replace(trial, load=replace(trial.load, request_limit=7))
    ran(passed, [trial], 12.0, sent=100_000)
    for one in (opened, limited):
        ran(passed, [one], 12.0, sent=500)
    assert pace(small).requests_per_s == {"empty": 10_000.0}


def test_those_that_take_turns_share_what_their_group_took(
    small: Framework, passed: list[float]
) -> None:
    trials = (planned(small), planned(replace(small, variant="other")))
    ran(passed, trials, 2 * LOAD_S + 2 * 1.0 + 8.0, turn_s=1.0)
    found = [pace(trial.framework) for trial in trials]
    assert [one.in_turns_s for one in found] == pytest.approx([4.0, 4.0], abs=0.001)
    assert {one.beside_s for one in found} == {None}


def turned(watch: paces.PaceKeeper, trial: Trial, load_s: float) -> None:
    progress = Progress(load_s, "hold", 4, 4, 4, 1000.0, 100)
    watch(events.TurnEnded(trial, progress))


def test_what_lies_around_turns_is_known_apart_from_what_lies_between_endpoints(
    small: Framework, passed: list[float]
) -> None:
    trial, timing = replace(planned(small), takes_turns=True), PlanTiming(turn_s=2.0)
    watch = paces.PaceKeeper(events.ignore, timing)
    watch(events.GroupStarted((trial,), 1, 1, LOAD_S))
    for number, around_s in enumerate((3.0, 0.2, 0.2, 5.0, 0.2), 1):
        passed.append(passed[-1] + 2.0 + around_s)
        turned(watch, trial, 2.0 * number)
    watch(ended(trial, sent=1))
    watch(events.CampaignEnded(1, ()))
    assert NOTHING_KNOWN.turn_s is None
    assert paces.known([small]).turn_s == pytest.approx(0.2), "of no assumption is anything kept"
    rest_s = 8.6 - 1.0 - timing.turns(trial) * 0.2
    assert pace(small).in_turns_s == pytest.approx(rest_s, abs=0.001)


def test_rests_in_the_warm_up_of_a_runtime_belong_to_its_start(
    small: Framework, passed: list[float]
) -> None:
    jvm = replace(small, variant="jvm")
    trial = replace(planned(jvm), start_warm_up_s=2.0, takes_turns=True)
    other = replace(planned(small), takes_turns=True)
    watch = paces.PaceKeeper(events.ignore, PlanTiming(turn_s=LOAD_S))
    watch(events.GroupStarted((trial, other), 1, 2, 2 * LOAD_S + 2.0))
    load_s = 0.0
    for one, length_s, apart_s in ((trial, 1.0, 1.0), (trial, 1.0, 3.0), (trial, 10.0, 0.0)):
        load_s += length_s
        passed.append(passed[-1] + length_s + apart_s)
        turned(watch, one, load_s)
    for one in (trial, other):
        watch(ended(one, sent=1))
    watch(events.CampaignEnded(2, ()))
    assert pace(jvm).start_s == pytest.approx(1.0 + 3.0)
    assert pace(small).start_s == 1.0


def test_the_compliance_gate_is_known_by_framework(small: Framework, passed: list[float]) -> None:
    trial = planned(small)
    watch = paces.PaceKeeper(events.ignore)
    watch(events.Step("compliance", small))
    passed.append(3.0)
    watch(events.Step("another step"))
    passed.append(9.0)
    watch(events.TrialStarted(trial, 1, 1, LOAD_S))
    passed.append(24.0)
    watch(ended(trial, 1))
    watch(events.CampaignEnded(1, ()))
    assert pace(small).gate_s == 3.0
    assert pace(small).beside_s == pytest.approx(4.0, abs=0.001)
    ran(passed, [trial], 15.0)
    assert pace(small).gate_s == 3.0


def test_a_check_tells_something_as_long_as_there_was_no_trial(
    small: Framework, passed: list[float]
) -> None:
    paces.keep_check(small, 3.0, 0.5)
    assert pace(small) == FrameworkPace(3.0, 2 * 0.5 + paces.BESIDE_S)
    ran(passed, [planned(small)], 15.0)
    known = pace(small)
    paces.keep_check(small, 30.0, 0.5)
    assert pace(small) == known


def test_a_trial_that_failed_tells_nothing(small: Framework, passed: list[float]) -> None:
    trial = planned(small)
    watch = paces.PaceKeeper(events.ignore)
    for end in (ended(trial, 9, Ending("NotReady", "it slept", "")), ended(trial, None)):
        watch(events.TrialStarted(trial, 1, 1, LOAD_S))
        passed.append(passed[-1] + 60.0)
        watch(end)
    watch(events.CampaignEnded(0, ()))
    assert paces.known([small]) == NOTHING_KNOWN


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", '{"a": 1}', '{"frameworks": {"a": {"b": 1}}}', '{"frameworks": null}'],
)
def test_a_damaged_file_tells_nothing_and_is_replaced(
    state: Path, small: Framework, content: str
) -> None:
    state.parent.mkdir()
    state.write_text(content)
    assert paces.known([small]) == NOTHING_KNOWN
    paces.keep_check(small, 1.0, 2.0)
    assert pace(small).start_s == 1.0


def test_reports_tell_how_long_the_next_one_takes(small: Framework) -> None:
    assert paces.known([]).report_s(4) == report_s(4)
    paces.keep_report(4, 3 * report_s(4))
    paces.keep_check(small, 1.0, 2.0)
    assert paces.known([small]).report_s(4) == pytest.approx(3.0 * report_s(4))
    paces.keep_report(4, 6 * report_s(4))
    paces.keep_report(300, report_s(300))
    assert paces.known([small]).report_s(4) == pytest.approx(3.0 * report_s(4))
    assert paces.known([small]).report_s(300) == pytest.approx(report_s(300))
    assert pace(small).start_s == 1.0


def test_the_begin_of_a_run_is_known_with_and_without_postgresql(
    small: Framework, passed: list[float]
) -> None:
    for timing, begin_s in ((PlanTiming(), 3.0), (PlanTiming(has_database=True), 8.0)):
        watch = paces.PaceKeeper(events.ignore, timing, run_begun_s=passed[-1])
        watch(events.Step("compliance", small))
        passed.append(passed[-1] + 5.0)
        watch(events.Step("another step"))
        passed.append(passed[-1] + begin_s)
        watch(events.TrialStarted(planned(small), 1, 2, LOAD_S))
        passed.append(passed[-1] + 20.0)
        watch(events.TrialStarted(planned(small), 2, 2, LOAD_S))
    known = paces.known([small])
    assert (known.begin_s, known.begin_with_database_s) == (3.0, 8.0)


def test_the_start_of_a_program_is_known_with_the_begin_of_its_run(small: Framework) -> None:
    assert paces.known([small]).program_s is None
    paces.keep_program(2.0)
    paces.keep_program(5.0)
    assert paces.known([small]).program_s == pytest.approx(2.0)


def test_a_run_that_built_something_tells_nothing_of_the_next_begin(
    small: Framework, passed: list[float]
) -> None:
    ran(passed, [planned(small)], 15.0)
    assert paces.known([small]).begin_s is None


@contextmanager
def on_a_new_machine() -> Generator[tuple[Framework, list[float]]]:
    """A machine on which nothing ran, in a folder of its own, and its clock."""
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patched:
        folder, instants = Path(name), [0.0]
        patched.setattr(paces, "OWN_TIMES", folder / "schedstat")
        patched.setattr(paces, "PRESSURE", folder / "pressure")
        patched.setattr("plimsoll.lab.paces.time.monotonic", lambda: instants[-1])
        patched.setenv("XDG_STATE_HOME", name)
        yield small_servers.framework(folder / "small", ""), instants


def steady(framework: Framework, repetitions: int, length_s: float = LOAD_S) -> Campaign:
    """A campaign of one framework with a closed load."""
    load = Load("steady", "closed", (Stage("hold", length_s, 8.0, 8.0),))
    return Campaign(
        "a",
        (framework,),
        (by_name("empty"),),
        (load,),
        repetitions=repetitions,
        cool_down_s=1.0,
    )


def simulated_s(passed: list[float], campaign: Campaign, slower: float) -> float:
    """Runs a campaign whose servers take what they take on a slower host; its length."""
    load_s = campaign.loads[0].duration_s
    trials, timing = plan(campaign), PlanTiming.of(campaign)
    begun_s = passed[-1]
    watch = paces.PaceKeeper(events.ignore, timing, run_begun_s=begun_s)
    passed.append(passed[-1] + 2.5 * slower)
    parts = timing.parts(trials)
    for place, part in enumerate(parts):
        if place:
            watch(events.CoolingDown(timing.cool_down_s))
            passed.append(passed[-1] + timing.cool_down_s)
        watch(events.TrialStarted(part[0], 1, 1, LOAD_S))
        rows_s = 10_000 * ROW_S
        passed.append(passed[-1] + load_s + rows_s + (0.5 + 4.0) * slower)
        watch(ended(part[0], sent=10_000, start_s=0.5 * slower))
    watch(events.CampaignEnded(len(trials), ()))
    report_took_s = (7.0 + 0.2 * len(trials)) * slower
    paces.keep_report(len(trials), report_took_s)
    return passed[-1] - begun_s + report_took_s


@pytest.mark.parametrize("slower", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("repetitions", [1, 2, 30])
def test_after_runs_of_other_sizes_a_plan_is_within_15_percent(
    small: Framework, passed: list[float], slower: float, repetitions: int
) -> None:
    asked = steady(small, repetitions)
    for others in (2, 40):
        simulated_s(passed, replace(asked, repetitions=others), slower)
    found = estimate(plan(asked), PlanTiming.of(asked), paces.known([small]))
    assert found.duration_s == pytest.approx(simulated_s(passed, asked, slower), rel=0.15)


def test_what_does_not_exist_is_forgotten(state: Path, small: Framework, tmp_path: Path) -> None:
    gone = small_servers.framework(tmp_path / "vanished", "")
    paces.keep_check(gone, 1.0, 2.0)
    shutil.rmtree(gone.folder)
    paces.keep_check(small, 1.0, 2.0)
    assert "vanished" not in state.read_text()
    assert paces.known([small, gone]).frameworks.keys() == {"small"}


def test_where_nothing_can_be_kept_the_campaign_goes_on(
    small: Framework, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null")
    paces.keep_check(small, 1.0, 2.0)
    assert paces.known([small]) == NOTHING_KNOWN


def is_used(slowness: float) -> None:
    """From now on others use the machine so much, as far as this thread can see."""
    paces.OWN_TIMES.write_text(f"1000 {round(1000 * (slowness - 1))} 1")


def test_what_a_busy_machine_took_counts_only_where_no_quiet_one_is_known() -> None:
    is_used(2.0)
    paces.keep_program(10.0)
    assert paces.known([]).program_s == pytest.approx(10.0 / 2)
    is_used(1.0)
    paces.keep_program(6.0)
    assert paces.known([]).program_s == pytest.approx(6.0)


@given(
    slower=st.floats(1.0, 4.0),
    seen=st.floats(1.0, paces.MOST_SLOWNESS),
    quiet_run=st.integers(0, 2),
    repetitions=st.sampled_from([1, 4, 30]),
    length_s=st.sampled_from([2.0, LOAD_S]),
)
def test_after_a_quiet_and_two_busy_runs_a_plan_for_a_quiet_machine_is_within_15_percent(
    slower: float, seen: float, quiet_run: int, repetitions: int, length_s: float
) -> None:
    with on_a_new_machine() as (small, passed):
        asked = steady(small, repetitions, length_s)
        for place in range(3):
            is_busy = place != quiet_run
            is_used(seen if is_busy else 1.0)
            simulated_s(passed, asked, slower if is_busy else 1.0)
        is_used(1.0)
        paces.PRESSURE.write_text("some avg10=0.00 avg60=1.20 avg300=60.00 total=1\n")
        found = estimate(plan(asked), PlanTiming.of(asked), paces.known([small]))
        expected_s = simulated_s(passed, asked, 1.0)
        assert found.duration_s == pytest.approx(expected_s, rel=0.15)
        assert found.least_s <= found.duration_s <= found.most_s


@given(slower=st.floats(1.0, 4.0), seen=st.floats(1.0, paces.MOST_SLOWNESS))
def test_the_range_of_a_plan_holds_what_earlier_runs_took(slower: float, seen: float) -> None:
    with on_a_new_machine() as (small, passed):
        asked = steady(small, 4, 2.0)
        took_s: list[float] = []
        for is_busy in (False, True, True):
            is_used(seen if is_busy else 1.0)
            took_s.append(simulated_s(passed, asked, slower if is_busy else 1.0))
        is_used(1.0)
        found = estimate(plan(asked), PlanTiming.of(asked), paces.known([small]))
        apart_s = estimates.EXIT_S + estimates.ASSUMED_PROGRAM_S
        assert found.least_s <= took_s[0] + apart_s
        assert found.most_s >= took_s[-1]


def test_a_plan_names_its_range_only_where_runs_differ(
    small: Framework, passed: list[float]
) -> None:
    asked = steady(small, 4, 2.0)
    for slower in (1.0, 1.05, 1.1):
        simulated_s(passed, asked, slower)
    alike = estimate(plan(asked), PlanTiming.of(asked), paces.known([small]))
    simulated_s(passed, asked, 3.0)
    apart = estimate(plan(asked), PlanTiming.of(asked), paces.known([small]))
    assert (alike.is_scattered, apart.is_scattered) == (False, True)
    assert apart.duration_s == pytest.approx(alike.duration_s, rel=0.01)


def test_where_nothing_is_known_a_plan_has_no_range(small: Framework) -> None:
    asked = steady(small, 4, 2.0)
    found = estimate(plan(asked), PlanTiming.of(asked), paces.known([small]))
    assert found.least_s == found.duration_s == found.most_s
    assert not found.is_scattered


@pytest.mark.parametrize(
    ("pressure", "slowness"),
    [
        ("some avg10=9.00 avg60=4.90 avg300=60.00 total=1\nfull avg10=0.00 avg60=0.00\n", 1.0),
        ("some avg10=0.00 avg60=50.00 avg300=60.00 total=1\nfull avg10=0.00 avg60=0.00\n", 2.0),
        ("", 2.0),
    ],
)
def test_a_machine_on_which_hardly_a_task_waited_is_quiet_whatever_the_last_run_saw(
    small: Framework, passed: list[float], pressure: str, slowness: float
) -> None:
    is_used(3.0)
    ran(passed, [planned(small)], 15.0)
    is_used(4 / 3)
    paces.PRESSURE.write_text(pressure)
    found = paces.known([small]).slowness
    assert found == pytest.approx(4 / 3 if slowness == 1.0 else slowness, rel=0.01)


@pytest.mark.parametrize(
    ("times", "slowness"),
    [("100 0 3\n", 1.0), ("100 150 3\n", 2.5), ("100 900 3\n", 3.0), ("0 0 0\n", 1.0), ("", 1.0)],
)
def test_what_others_take_of_the_processor_is_seen_by_the_waits_of_this_thread(
    times: str, slowness: float
) -> None:
    paces.OWN_TIMES.write_text(times)
    assert paces.known([]).slowness == slowness


def test_a_trial_beside_others_is_kept_as_it_would_be_alone(
    small: Framework, passed: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = planned(small)
    paces.OWN_TIMES.write_text("100 100 3\n")
    ran(passed, [trial], LOAD_S + 1.0 + 4.0)
    assert pace(small).beside_s == pytest.approx(2.0, abs=0.001)
    known = paces.known([small])
    assert known.around_s(trial, takes_turns=False) == pytest.approx(4.0, abs=0.001)
    monkeypatch.setattr(
        "plimsoll.lab.paces.time.time", lambda: time.time_ns() / 1e9 + 2 * paces.RECENT_S
    )
    paces.OWN_TIMES.unlink()
    known = paces.known([small])
    assert known.around_s(trial, takes_turns=False) == pytest.approx(2.0, abs=0.001)


def test_a_recent_run_says_as_much_of_the_next_as_the_half_second_before_it(
    small: Framework, passed: list[float]
) -> None:
    paces.OWN_TIMES.write_text("100 300 3\n")
    ran(passed, [planned(small)], LOAD_S + 1.0 + 4.0)
    assert paces.known([small]).slowness == pytest.approx(3.0)
    paces.OWN_TIMES.unlink()
    assert paces.known([small]).slowness == pytest.approx(3.0**0.5)


def test_programs_and_reports_beside_others_are_kept_as_they_would_be_alone() -> None:
    paces.OWN_TIMES.write_text("100 100 3\n")
    paces.keep_program(3.0)
    paces.keep_report(4, 5.0 * report_s(4))
    paces.OWN_TIMES.unlink()
    known = paces.known([])
    assert known.program_s == pytest.approx(1.5)
    assert known.report_s(4) == pytest.approx(2.5 * report_s(4))
