"""Campaigns with a real server and a stand-in for the engine."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import fake_engine
import toy_trials
from plimsoll.conduct import campaign, compliance
from plimsoll.conduct.run_config import RunConfig
from plimsoll.drivers.tools import plimsoll as driver
from plimsoll.errors import Interrupted, LimitTooLow, MixedResults, StorageError
from plimsoll.events import (
    CampaignEnded,
    CampaignStarted,
    CoolingDown,
    Event,
    Phase,
    Progress,
    Step,
    TrialEnded,
    TrialSkipped,
    TrialsSetAside,
    TrialStarted,
)
from plimsoll.plan import Trial
from plimsoll.storage.documents import CampaignFiles
from plimsoll.storage.parquet import ParquetResults

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
def results(tmp_path: Path) -> ParquetResults:
    return ParquetResults(tmp_path / "results")


def conduct(
    results: ParquetResults,
    trials: list[Trial] | None = None,
    tell: Callable[[Event], None] = lambda _: None,
    *,
    repeat: campaign.Repeat = campaign.NOTHING,
    cool_down_s: float = 0.0,
    setting: RunConfig | None = None,
    further: campaign.Further = tuple,
) -> CampaignEnded:
    return campaign.conduct(
        TRIALS if trials is None else trials,
        setting or RunConfig(),
        results,
        CampaignFiles(""),
        repeat=repeat,
        cool_down_s=cool_down_s,
        further=further,
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


def test_events_come_in_the_order_that_is_documented(results: ParquetResults) -> None:
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


def test_a_framework_passes_the_gate_once_before_its_first_load(results: ParquetResults) -> None:
    setting, told = RunConfig(has_gate=True), list[Event]()
    conduct(results, tell=told.append, setting=setting)
    conduct(results, [*TRIALS, toy_trials.trial(3)], tell=told.append, setting=setting)
    kinds = [type(event) for event in told if isinstance(event, Step | TrialStarted)]
    assert kinds == [Step, TrialStarted, TrialStarted, TrialStarted]
    first, second, third = map(results.recording, results.trial_ids())
    assert {"host_missing", "survives"} < {one.case for one in first.compliance}
    assert second.compliance == third.compliance == ()
    assert first.contract == {"before": [], "after": []}


def test_what_is_left_of_a_group_does_not_pass_the_gate_again() -> None:
    setting, told = RunConfig(has_gate=True), list[Event]()
    found = compliance.of_group(TRIALS, (), setting, told.append)
    assert len(told) == 1
    again = compliance.of_group(TRIALS, (), replace(setting, compliance=found), told.append)
    assert again == found
    assert len(told) == 1


def test_a_server_that_does_not_start_has_no_compliance_and_says_why(
    results: ParquetResults,
) -> None:
    conduct(results, trials=[failing(1)], setting=RunConfig(has_gate=True))
    recording = results.recording(IDS[0])
    assert (recording.ending.kind, recording.compliance) == ("StartFailed", ())


def test_further_trials_follow_the_plan_and_become_part_of_it(results: ParquetResults) -> None:
    coming = [(toy_trials.trial(3), toy_trials.trial(4)), (toy_trials.trial(5),), ()]
    asked_after: list[int] = []
    told: list[Event] = []

    def further() -> tuple[Trial, ...]:
        asked_after.append(len(results.trial_ids()))
        return coming.pop(0)

    ended = conduct(results, tell=told.append, further=further, cool_down_s=0.01)
    assert asked_after == [2, 4, 5]
    assert results.planned_ids() == (*IDS, *(toy_trials.trial(number).id for number in (3, 4, 5)))
    assert ended == CampaignEnded(5, ())
    assert sum(isinstance(event, CoolingDown) for event in told) == 4


def test_an_interrupted_further_trial_is_planned_and_not_recorded(results: ParquetResults) -> None:
    more = toy_trials.trial(3)
    with pytest.raises(Interrupted) as raised:
        conduct(results, tell=interrupt_at(TrialStarted, 3), further=lambda: (more,))
    assert raised.value.message == "interrupted; 2 of 3 trials are recorded"
    assert results.planned_ids() == (*IDS, more.id)
    assert results.trial_ids() == IDS


def test_a_recording_says_how_long_its_trial_took(results: ParquetResults) -> None:
    began_s = time.monotonic()
    conduct(results, TRIALS[:1])
    took_s = results.recording(IDS[0]).took_s
    assert took_s is not None
    assert 0 < took_s <= time.monotonic() - began_s


def test_what_is_complete_is_not_conducted_again(results: ParquetResults) -> None:
    conduct(results, TRIALS[:1])
    told: list[Event] = []
    ended = conduct(results, tell=told.append)
    assert started(told) == [IDS[1]]
    assert [event for event in told if isinstance(event, TrialSkipped)] == [
        TrialSkipped(TRIALS[0], "completed")
    ]
    assert ended == CampaignEnded(2, ())


def test_a_framework_that_fails_costs_its_trial_only(results: ParquetResults) -> None:
    ended = conduct(results, [failing(1), TRIALS[1]])
    assert ended == CampaignEnded(1, (IDS[0],))
    assert results.recording(IDS[0]).ending.kind == "StartFailed"
    assert results.recording(IDS[1]).ending.kind == "completed"


def test_a_trial_that_failed_is_conducted_again_only_when_asked(results: ParquetResults) -> None:
    conduct(results, [failing(1), TRIALS[1]])
    told: list[Event] = []
    assert conduct(results, tell=told.append) == CampaignEnded(1, (IDS[0],))
    assert started(told) == []
    assert conduct(results, repeat=campaign.Repeat(failed=True), tell=told.append) == CampaignEnded(
        2, ()
    )
    assert started(told) == [IDS[0]]


def changed(number: int) -> Trial:
    """A trial of a framework that was changed and still works."""
    toy = replace(toy_trials.framework(), start='exec "$PYTHON" -u app.py')
    return toy_trials.trial(number, toy=toy)


@pytest.mark.parametrize("recorded", [1, 2])
def test_a_campaign_does_not_go_on_with_another_program(
    results: ParquetResults, recorded: int
) -> None:
    conduct(results, TRIALS[:recorded])
    told: list[Event] = []
    with pytest.raises(MixedResults) as caught:
        conduct(results, [changed(1), changed(2)], told.append)
    assert "`toy` changed since" in caught.value.message
    assert "the start command changed" in caught.value.message
    assert "`repeat_changed=True`" in caught.value.hint
    assert "`into=`" in caught.value.hint
    assert caught.value.exit_code == 6
    assert told == []
    assert results.trial_ids() == IDS[:recorded]


def test_a_campaign_does_not_go_on_with_another_warm_up(results: ParquetResults) -> None:
    conduct(results, TRIALS[:1])
    told: list[Event] = []
    with pytest.raises(MixedResults) as caught:
        conduct(results, [replace(one, start_warm_up_s=3.0) for one in TRIALS], told.append)
    assert "the measurement changed since 1 trial was recorded" in caught.value.message
    assert "start warm-up was added" in caught.value.message
    assert caught.value.exit_code == 6
    assert told == []
    assert results.trial_ids() == IDS[:1]


def test_what_changed_is_conducted_again_when_asked_and_nothing_is_lost(
    results: ParquetResults,
) -> None:
    conduct(results, TRIALS[:1])
    before = results.recording(IDS[0])
    told: list[Event] = []
    trials = [changed(1), changed(2)]
    ended = conduct(results, trials, told.append, repeat=campaign.Repeat(changed=True))
    assert ended == CampaignEnded(2, ())
    assert started(told) == list(IDS)
    assert isinstance(told[0], TrialsSetAside)
    assert told[0].trials == IDS[:1]
    aside = ParquetResults(Path(told[0].place))
    assert aside.recording(IDS[0]) == before
    programs = {results.recording(key).provenance.application_id for key in IDS}
    assert len(programs) == 1
    assert before.provenance.application_id not in programs


def test_void_trials_are_conducted_again_when_asked_and_nothing_is_lost(
    results: ParquetResults,
) -> None:
    conduct(results)
    before = results.recording(IDS[1])
    told: list[Event] = []
    void = campaign.Repeat(void=(IDS[1], "gone.2048.steady.1"))
    assert conduct(results, tell=told.append, repeat=void) == CampaignEnded(2, ())
    assert started(told) == [IDS[1]]
    (moved,) = [event for event in told if isinstance(event, TrialsSetAside)]
    assert ParquetResults(Path(moved.place)).recording(IDS[1]) == before


def test_another_division_of_cores_is_not_mixed_either(results: ParquetResults) -> None:
    conduct(results, TRIALS[:1])
    with pytest.raises(MixedResults, match="server cores all → 0"):
        conduct(results, setting=RunConfig(server_cores=(0,)))


def test_a_note_on_the_framework_changes_nothing(results: ParquetResults) -> None:
    conduct(results, TRIALS[:1])
    noted = replace(toy_trials.framework(), notes=("a note",), start_timeout_s=30.0)
    ended = conduct(results, [toy_trials.trial(number, toy=noted) for number in (1, 2)])
    assert ended == CampaignEnded(2, ())


def test_a_framework_that_is_changed_while_the_campaign_runs_ends_it(
    results: ParquetResults,
) -> None:
    with pytest.raises(MixedResults, match="the start command changed"):
        conduct(results, [TRIALS[0], changed(2)])
    assert results.trial_ids() == IDS[:1]


def test_a_host_that_is_not_fit_ends_the_campaign_and_keeps_what_is_complete(
    engine: Callable[..., None], results: ParquetResults
) -> None:
    def unfit(event: Event) -> None:
        if isinstance(event, TrialStarted) and event.number == 2:
            engine(exit=3, error="too few files")

    with pytest.raises(LimitTooLow):
        conduct(results, tell=unfit)
    assert results.trial_ids() == IDS[:1]


def test_an_interruption_under_load_keeps_what_is_complete(
    engine: Callable[..., None], results: ParquetResults
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
    assert "to resume" in caught.value.hint
    assert [path.name for path in results.trials.iterdir()] == [IDS[0]]

    engine()
    assert conduct(results) == CampaignEnded(2, ())


@pytest.mark.parametrize("kind", [TrialStarted, Phase, TrialEnded, CoolingDown])
def test_an_interruption_at_any_other_time_ends_the_campaign_too(
    results: ParquetResults, kind: type[Event]
) -> None:
    with pytest.raises(Interrupted):
        conduct(results, tell=interrupt_at(kind), cool_down_s=5.0)
    assert not list(results.trials.glob(".*"))
    assert conduct(results) == CampaignEnded(2, ())


def test_signals_are_handled_as_before_afterwards(results: ParquetResults) -> None:
    before = signal.getsignal(signal.SIGINT)
    conduct(results, TRIALS[:1])
    assert signal.getsignal(signal.SIGINT) == before


def test_two_runs_in_one_folder_refuse(results: ParquetResults) -> None:
    with results.locked(), pytest.raises(StorageError, match="another run"):
        conduct(results)


def test_a_plan_without_trials_is_soon_done(results: ParquetResults) -> None:
    assert conduct(results, []) == CampaignEnded(0, ())
