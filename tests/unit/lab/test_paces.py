"""What trials took here, kept for the next plan."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import sample
import small_servers
from plimsoll import events
from plimsoll.campaign.campaign import Campaign
from plimsoll.campaign.endpoints import by_name
from plimsoll.campaign.framework import Framework
from plimsoll.campaign.load import Load, Stage
from plimsoll.lab import paces
from plimsoll.plan import ROW_S, Trial, TrialPace, idle_around_s, plan, report_s
from plimsoll.recording import Ending

LOAD_S = 10.0


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's file of paces."""
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


def ended(trial: Trial, sent: int | None, ending: Ending | None = None) -> events.TrialEnded:
    driver = sample.driver(sent=sent)
    return events.TrialEnded(trial, sample.recording(driver=driver, ending=ending or Ending()))


def test_the_pace_of_a_trial_is_what_it_took_besides_load_and_rows(
    small: Framework, passed: list[float]
) -> None:
    trial = planned(small)
    told: list[events.Event] = []
    watch = paces.PaceKeeper(told.append, idle_s=1.0)
    watch(events.TrialStarted(trial, 1, 1, LOAD_S))
    passed.append(16.0)
    watch(ended(trial, sent=100_000))
    passed.append(17.0)
    watch(events.CampaignEnded(1, ()))
    (pace,) = paces.known([small]).values()
    assert pace.around_s == pytest.approx(17.0 - LOAD_S - 100_000 * ROW_S - idle_around_s(1.0))
    assert pace.requests_per_s == 10_000.0
    assert [type(one).__name__ for one in told] == ["TrialStarted", "TrialEnded", "CampaignEnded"]


def test_a_rate_that_was_asked_for_is_no_pace(small: Framework, passed: list[float]) -> None:
    trial = planned(small)
    opened = replace(trial, load=replace(trial.load, model="open", connections=8))
    for one, sent in ((trial, 100_000), (opened, 500)):
        watch = paces.PaceKeeper(events.ignore)
        watch(events.TrialStarted(one, 1, 1, LOAD_S))
        passed.append(passed[-1] + 12.0)
        watch(ended(one, sent))
        watch(events.CampaignEnded(1, ()))
    assert paces.known([small])["small"].requests_per_s == 10_000.0


def test_those_that_take_turns_share_what_their_group_took(
    small: Framework, passed: list[float]
) -> None:
    trials = (planned(small), planned(replace(small, variant="other")))
    watch = paces.PaceKeeper(events.ignore)
    watch(events.GroupStarted(trials, 1, 2, 2 * LOAD_S))
    passed.append(30.0)
    for trial in trials:
        watch(ended(trial, sent=1))
    watch(events.CoolingDown(5.0))
    found = paces.known([trial.framework for trial in trials])
    assert found.keys() == {"small", "small:other"}
    assert {round(one.around_s, 3) for one in found.values()} == {5.0}


def test_a_warm_up_of_a_server_that_trials_share_is_load_once(
    small: Framework, passed: list[float]
) -> None:
    trial = replace(planned(small), start_warm_up_s=6.0, takes_turns=True)
    other = replace(trial, id="other", endpoint=by_name("plaintext"))
    watch = paces.PaceKeeper(events.ignore)
    watch(events.GroupStarted((trial, other), 1, 2, 2 * LOAD_S + 6.0))
    passed.append(2 * LOAD_S + 6.0 + 8.0)
    for one in (trial, other):
        watch(ended(one, sent=1))
    watch(events.CampaignEnded(2, ()))
    assert paces.known([small])["small"].around_s == pytest.approx(4.0, abs=0.001)


def test_a_check_tells_something_as_long_as_there_was_no_trial(small: Framework) -> None:
    paces.keep_check(small, 3.0, 0.5)
    assert paces.known([small])["small"].around_s == 3.0 + 2 * 0.5 + paces.BESIDE_S
    paces.keep([(small, TrialPace(9.0, 2.0))])
    paces.keep_check(small, 3.0, 0.5)
    assert paces.known([small]) == {"small": TrialPace(9.0, 2.0)}


def test_a_trial_that_failed_tells_nothing(small: Framework, passed: list[float]) -> None:
    trial = planned(small)
    watch = paces.PaceKeeper(events.ignore)
    for end in (ended(trial, 9, Ending("NotReady", "it slept", "")), ended(trial, None)):
        watch(events.TrialStarted(trial, 1, 1, LOAD_S))
        passed.append(passed[-1] + 60.0)
        watch(end)
    watch(events.CampaignEnded(0, ()))
    assert paces.known([small]) == {}


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": 1}', '{"a": {"b": 1}}', '{"a": null}'])
def test_a_damaged_file_tells_nothing_and_is_replaced(
    state: Path, small: Framework, content: str
) -> None:
    state.parent.mkdir()
    state.write_text(content)
    assert paces.known([small]) == {}
    paces.keep([(small, TrialPace(1.0, 2.0))])
    assert paces.known([small]) == {"small": TrialPace(1.0, 2.0)}


def test_the_last_report_tells_how_long_the_next_one_takes(small: Framework) -> None:
    assert paces.report_factor() == 1.0
    paces.keep_report(4, 3 * report_s(4))
    paces.keep([(small, TrialPace())])
    assert paces.report_factor() == pytest.approx(3.0)
    assert paces.known([small]) == {"small": TrialPace()}


def test_what_does_not_exist_is_forgotten(state: Path, small: Framework, tmp_path: Path) -> None:
    gone = small_servers.framework(tmp_path / "vanished", "")
    paces.keep([(gone, TrialPace())])
    shutil.rmtree(gone.folder)
    paces.keep([(small, TrialPace())])
    assert "vanished" not in state.read_text()
    assert paces.known([small, gone]).keys() == {"small"}


def test_where_nothing_can_be_kept_the_campaign_goes_on(
    small: Framework, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null")
    paces.keep([(small, TrialPace(1.0, 2.0))])
    assert paces.known([small]) == {}
