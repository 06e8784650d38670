"""The steps of a ladder: which follow the peaks, and that they stay what they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import ladders as made
import sample
import stored_trials
from plimsoll import plan
from plimsoll.campaign.campaign import Campaign, resolved
from plimsoll.campaign.endpoints import by_name
from plimsoll.campaign.framework import Framework
from plimsoll.campaign.ladder_settings import LadderSettings, rounded_down
from plimsoll.events import ignore
from plimsoll.findings import derivation
from plimsoll.lab import following, ladder_following
from plimsoll.plan import Trial
from plimsoll.storage.documents import CampaignFiles
from plimsoll.storage.parquet import ParquetResults

GO = Framework("go", "", "Go", Path("go"), "", (), "", "true", "true", ("json",))
SHARES = LadderSettings(shares=(0.25, 0.5))
ASKED = Campaign(
    name="a",
    frameworks=(GO, replace(GO, name="node")),
    endpoints=(by_name("json"),),
    loads=(SHARES.peak,),
    repetitions=2,
    ladder=SHARES,
)
PEAKS_PER_S = {"go": 4000.0, "node": 1236.0}


def nothing(*_: object) -> str:
    return ""


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ParquetResults:
    """Results whose peaks are those of `PEAKS_PER_S`."""

    def of_trial(_: object, recording: object) -> object:
        return sample.sound_trial(throughput=PEAKS_PER_S[recording.framework])  # type: ignore[attr-defined]

    monkeypatch.setattr(derivation, "of_trial", of_trial)
    found = ParquetResults(tmp_path / "results")
    with found.locked():
        found.prepare(CampaignFiles("", None, resolved(ASKED)), plan.plan(ASKED))
    return found


def record(stored: ParquetResults, *trials: Trial) -> None:
    for one in trials:
        recording = made.recording(
            one.framework.name, one.load, one.repetition, endpoint="json", trial=one.id
        )
        stored_trials.put(stored, recording)


def rates(trials: tuple[Trial, ...]) -> dict[str, float]:
    return {one.id: one.load.stages[-1].start for one in trials}


def test_steps_follow_when_every_peak_is_recorded(stored: ParquetResults) -> None:
    peaks = plan.plan(ASKED)
    further = following.further(ASKED, nothing, stored, ignore)
    record(stored, *peaks[:-1])
    assert further() == () and following.begun(ASKED, nothing, stored) == ()
    record(stored, peaks[-1])
    found = further()
    assert rates(tuple(found)) == {
        f"{name}.json.step-{number}.{repetition}": 1230.0 * share
        for name in ("go", "node")
        for number, share in enumerate(SHARES.shares, 1)
        for repetition in (1, 2)
    }
    assert [one.order for one in found] == list(range(4, 12))
    assert all(one.load.model == "open" for one in found)


def test_after_a_kill_the_rest_follows_with_the_same_rates(
    stored: ParquetResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Peaks may have been measured again meanwhile; the recorded step decides."""
    record(stored, *plan.plan(ASKED))
    steps = ladder_following.steps(ASKED, nothing, stored)
    record(stored, *steps[:3])
    monkeypatch.setitem(PEAKS_PER_S, "node", 500.0)
    assert following.begun(ASKED, nothing, stored) == steps
    assert following.further(ASKED, nothing, stored, ignore)() == steps[3:]
    record(stored, *steps[3:])
    assert following.further(ASKED, nothing, stored, ignore)() == ()


def test_recorded_steps_beyond_a_shorter_ladder_decide_nothing(stored: ParquetResults) -> None:
    """Its results are refused later, when they are gone on with."""
    record(stored, *plan.plan(ASKED))
    record(stored, *ladder_following.steps(ASKED, nothing, stored))
    shorter = replace(ASKED, ladder=replace(SHARES, shares=SHARES.shares[:1]))
    found = ladder_following.steps(shorter, nothing, stored)
    assert {one.load.name for one in found} == {"step-1"}


def test_each_endpoint_has_shares_of_its_own_smallest_peak(stored: ParquetResults) -> None:
    asked = replace(ASKED, endpoints=(by_name("json"), by_name("2048")))
    found = ladder_following.planned(asked, nothing, {"json": 1000.0})
    assert {one.endpoint.name for one in found} == {"json"}
    both = replace(asked, frameworks=(replace(GO, endpoints=("json", "2048"), warm_up_s=9.0),))
    steps = ladder_following.planned(both, nothing, {"json": 1000.0, "2048": 500.0})
    assert {(one.endpoint.name, one.load.stages[-1].start) for one in steps} == {
        *(("json", 250.0), ("json", 500.0), ("2048", 125.0), ("2048", 250.0))
    }
    assert {one.load.before_holds_s + one.start_warm_up_s for one in steps} == {9.0}
    assert {one.load.before_holds_s for one in steps} == {1.0}


def test_rates_that_are_given_need_no_peak(stored: ParquetResults) -> None:
    asked = replace(ASKED, ladder=LadderSettings(rates=(100.0, 300.0)))
    found = following.begun(asked, nothing, stored)
    assert {one.load.stages[-1].start for one in found} == {100.0, 300.0}
    assert len(found) == 8


def test_another_kind_of_campaign_has_no_steps(stored: ParquetResults) -> None:
    assert ladder_following.steps(replace(ASKED, ladder=None), nothing, stored) == ()


@pytest.mark.parametrize(
    ("rate_per_s", "rounded"), [(12_345.6, 12_300.0), (999.9, 999.0), (0.1234, 0.123), (0.0, 0.0)]
)
def test_the_smallest_peak_is_rounded_down_once(rate_per_s: float, rounded: float) -> None:
    assert rounded_down(rate_per_s) == pytest.approx(rounded)
    assert rounded_down(rounded_down(rate_per_s)) == rounded_down(rate_per_s)
    for share in (0.2, 0.4, 0.6, 0.8, 0.33):
        assert rounded_down(share * rounded_down(rate_per_s) / share) == rounded_down(rate_per_s)
