"""Energy of a response: which trials it is made of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import ladders as made
import sample
from ladders import Costs
from plimsoll.campaign.as_run import CampaignAsRun
from plimsoll.campaign.ladder_settings import LadderSettings
from plimsoll.comparison.comparisons import ComparedTrial, comparisons
from plimsoll.findings import energy
from plimsoll.findings.findings import Findings
from plimsoll.findings.trial import TrialFindings
from plimsoll.storage.parquet import ParquetResults

IDLE_W = 20.0
RATE_PER_S = 8000.0


def with_power(trial: TrialFindings, power_w: float) -> TrialFindings:
    """A trial with power by RAPL; one that is hardly more than without load has no net power."""
    assert trial.summary is not None
    per_s = trial.summary.goodput_per_s or 1.0
    net_w = power_w - IDLE_W if power_w - IDLE_W > 5 else None
    summary = sample.changed(
        trial.summary,
        rapl_power_w=power_w,
        rapl_idle_power_w=IDLE_W,
        rapl_net_power_w=net_w,
        rapl_net_power_low_w=net_w and net_w - 1,
        rapl_net_power_high_w=net_w and net_w + 1,
        rapl_j_per_ok=power_w / per_s,
        rapl_net_j_per_ok=net_w and net_w / per_s,
    )
    return replace(trial, data=replace(trial.data, summary=summary))


def drawn(repetition: int, power_w: float, *, is_void: bool = False) -> TrialFindings:
    trial = with_power(sample.sound_trial(framework="go", repetition=repetition), power_w)
    verdicts = sample.verdicts_of(trial.recording.trial, littles_law="void")
    return replace(trial, verdicts=verdicts) if is_void else trial


def of(*trials: TrialFindings) -> Findings:
    compared = [ComparedTrial(one.recording, one.summary, one.level == "void") for one in trials]
    return replace(sample.findings(), trials=trials, comparisons=comparisons(compared))


def only(findings: Findings) -> energy.EntryEnergy:
    ((found,),) = energy.of_findings(findings).values()
    return found


@pytest.mark.parametrize("void_w", [20.5, 90.0])
def test_a_void_trial_is_in_no_number(void_w: float) -> None:
    sound = (drawn(1, 50.0), drawn(2, 50.0))
    found, without = only(of(*sound, drawn(3, void_w, is_void=True))), only(of(*sound))
    assert replace(found, trials=()) == replace(without, trials=())
    assert found.above_idle is not None and not found.is_indistinct
    assert (found.power_w, found.idle_w) == (50.0, IDLE_W)


def test_one_trial_that_counts_beside_void_ones_has_the_interval_of_its_seconds() -> None:
    found = only(of(drawn(1, 50.0), drawn(2, 22.0, is_void=True), drawn(3, 22.5, is_void=True)))
    assert found.power_w == 50.0 and found.above_idle is not None
    interval = found.above_idle.interval
    assert interval is not None
    assert interval.low == pytest.approx(29 / RATE_PER_S)


def test_void_trials_alone_show_their_power() -> None:
    found = only(of(drawn(1, 50.0, is_void=True), drawn(2, 52.0, is_void=True)))
    assert found.power_w == 51.0 and found.total is None


def test_steps_of_a_ladder_are_no_lines_without_figures(tmp_path: Path) -> None:
    ladder = made.findings(ParquetResults(tmp_path / "results"), {"go": Costs()})
    trials = tuple(with_power(one, 50.0) for one in ladder.trials)
    as_run = CampaignAsRun({}, ladder=LadderSettings(shares=(0.2, 0.4)))
    peaks = [one for one in trials if one.recording.load.name == "peak"]
    compared = [ComparedTrial(one.recording, one.summary, is_void=False) for one in peaks]
    found = energy.of_findings(
        replace(ladder, trials=trials, as_run=as_run, comparisons=comparisons(compared))
    )
    assert [table.load for table in found] == ["peak"]
    assert all(one.total is not None for lines in found.values() for one in lines)
