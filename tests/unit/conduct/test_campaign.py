"""Campaigns with a real server and a stand-in for the engine."""

import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import fake_engine
import toy_trials
from plimsoll.conduct import campaign
from plimsoll.conduct.drivers import plimsoll as driver
from plimsoll.conduct.events import (
    CampaignEnded,
    CampaignStarted,
    CoolingDown,
    Event,
    Phase,
    Progress,
    TrialEnded,
    TrialSkipped,
    TrialStarted,
)
from plimsoll.conduct.setting import Setting
from plimsoll.errors import Interrupted, LimitTooLow, StorageError
from plimsoll.plan import Trial
from plimsoll.storage.parquet import Results

TRIALS = [toy_trials.trial(1), toy_trials.trial(2)]
IDS = tuple(trial.id for trial in TRIALS)


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Runs the stand-in instead of the engine; the keywords say what it does."""
    monkeypatch.setattr(driver, "COMMAND", (sys.executable, fake_engine.__file__))

    def does(**what: object) -> None:
        monkeypatch.setenv("FAKE_ENGINE", json.dumps(what))

    does()
    return does


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return Results(tmp_path / "results")


def conduct(
    results: Results,
    trials: list[Trial] | None = None,
    tell: Callable[[Event], None] = lambda _: None,
    *,
    again: bool = False,
    cool_down_s: float = 0.0,
) -> CampaignEnded:
    return campaign.conduct(
        TRIALS if trials is None else trials,
        Setting(),
        results,
        "",
        again=again,
        cool_down_s=cool_down_s,
        tell=tell,
    )


def started(told: list[Event]) -> list[str]:
    return [event.trial.id for event in told if isinstance(event, TrialStarted)]


def failing(number: int) -> Trial:
    broken = replace(toy_trials.framework(), start="exit 7")
    return toy_trials.trial(number, toy=broken)


def interrupt_at(kind: type[Event], number: int = 1) -> Callable[[Event], None]:
    """Sends SIGINT to this process at an event of a kind, the first time or a later one."""
    seen: list[Event] = []

    def tell(event: Event) -> None:
        if isinstance(event, kind):
            seen.append(event)
            if len(seen) == number:
                os.kill(os.getpid(), signal.SIGINT)

    return tell


def test_events_come_in_the_order_that_is_documented(results: Results) -> None:
    told: list[Event] = []
    conduct(results, tell=told.append, cool_down_s=0.01)
    kinds = [type(event) for event in told if not isinstance(event, Phase | Progress)]
    assert kinds == [
        CampaignStarted, TrialStarted, TrialEnded, CoolingDown, TrialStarted, TrialEnded,
        CampaignEnded,
    ]  # fmt: skip
    assert told[0] == CampaignStarted(trials=2, to_do=2, load_s=6.0)
    second = [event for event in told if isinstance(event, TrialStarted)][1]
    assert (second.number, second.of, second.left_s) == (2, 2, 3.0)
    assert told[-1] == CampaignEnded(completed=2, failed=())


def test_what_is_complete_is_not_conducted_again(results: Results) -> None:
    conduct(results, TRIALS[:1])
    told: list[Event] = []
    ended = conduct(results, tell=told.append)
    assert started(told) == [IDS[1]]
    assert [event for event in told if isinstance(event, TrialSkipped)] == [
        TrialSkipped(TRIALS[0], "completed")
    ]
    assert ended == CampaignEnded(2, ())


def test_a_framework_that_fails_costs_its_trial_only(results: Results) -> None:
    ended = conduct(results, [failing(1), TRIALS[1]])
    assert ended == CampaignEnded(1, (IDS[0],))
    assert results.recording(IDS[0]).ending.kind == "StartFailed"
    assert results.recording(IDS[1]).ending.kind == "completed"


def test_a_trial_that_failed_is_conducted_again_only_when_asked(results: Results) -> None:
    conduct(results, [failing(1), TRIALS[1]])
    told: list[Event] = []
    assert conduct(results, tell=told.append) == CampaignEnded(1, (IDS[0],))
    assert started(told) == []
    assert conduct(results, again=True, tell=told.append) == CampaignEnded(2, ())
    assert started(told) == [IDS[0]]


def test_a_host_that_is_not_fit_ends_the_campaign_and_keeps_what_is_complete(
    engine: Callable[..., None], results: Results
) -> None:
    def unfit(event: Event) -> None:
        if isinstance(event, TrialStarted) and event.number == 2:
            engine(exit=3, error="too few files")

    with pytest.raises(LimitTooLow):
        conduct(results, tell=unfit)
    assert results.trial_ids() == IDS[:1]


def test_an_interruption_under_load_keeps_what_is_complete(
    engine: Callable[..., None], results: Results
) -> None:
    engine(stay=False)

    def tell(event: Event) -> None:
        if isinstance(event, TrialStarted):
            engine(stay=event.number == 2)
        interrupt(event)

    interrupt = interrupt_at(Progress, number=4)
    with pytest.raises(Interrupted, match="1 of 2 trials") as caught:
        conduct(results, tell=tell)
    assert caught.value.exit_code == 130
    assert "goes on" in caught.value.hint
    assert [path.name for path in results.trials.iterdir()] == [IDS[0]]

    engine()
    assert conduct(results) == CampaignEnded(2, ())


@pytest.mark.parametrize("kind", [TrialStarted, Phase, TrialEnded, CoolingDown])
def test_an_interruption_at_any_other_time_ends_the_campaign_too(
    results: Results, kind: type[Event]
) -> None:
    with pytest.raises(Interrupted):
        conduct(results, tell=interrupt_at(kind), cool_down_s=5.0)
    assert not list(results.trials.glob(".*"))
    assert conduct(results) == CampaignEnded(2, ())


def test_signals_are_handled_as_before_afterwards(results: Results) -> None:
    before = signal.getsignal(signal.SIGINT)
    conduct(results, TRIALS[:1])
    assert signal.getsignal(signal.SIGINT) == before


def test_two_runs_in_one_folder_refuse(results: Results) -> None:
    with results.locked(), pytest.raises(StorageError, match="another run"):
        conduct(results)


def test_a_plan_without_trials_is_soon_done(results: Results) -> None:
    assert conduct(results, []) == CampaignEnded(0, ())
