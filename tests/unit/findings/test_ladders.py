"""Ladders: the cost of a request, the idle cost, and which steps count."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import ladders as made
import sample
from ladders import Costs
from plimsoll.campaign.as_run import CampaignAsRun
from plimsoll.campaign.ladder_settings import LadderSettings
from plimsoll.findings import measured
from plimsoll.findings.ladders import EntryLadder, of_campaign, rankings
from plimsoll.recording import Ending
from plimsoll.statistics import straight_line
from plimsoll.statistics.intervals import Estimate
from plimsoll.statistics.straight_line import StraightLine
from plimsoll.storage.parquet import ParquetResults
from plimsoll.verdicts import catalogue
from plimsoll.verdicts.verdict import Sentence, Verdict


@pytest.fixture
def results(tmp_path: Path) -> ParquetResults:
    return ParquetResults(tmp_path / "results")


def entry(results: ParquetResults, costs: Costs, repetitions: int = 2) -> EntryLadder:
    (found,) = made.findings(results, {"go": costs}, repetitions).ladders
    return found


def test_slope_and_intercept_are_those_of_the_server(results: ParquetResults) -> None:
    found = entry(results, Costs(standing=0.05, per_request_s=300e-6, scatter=0.0))
    assert found.cores is not None and found.user is not None and found.system is not None
    assert found.cores.slope.value == pytest.approx(300e-6)
    assert found.cores.intercept.value == pytest.approx(0.05)
    assert found.cores.bend is None
    assert found.user.slope.value == pytest.approx(200e-6)
    assert found.system.slope.value == pytest.approx(100e-6)
    assert found.power is None and found.state == "sound"
    assert len(found.counting) == len(found.steps) == 8


def test_processes_that_differ_widen_the_intervals(results: ParquetResults) -> None:
    found = entry(results, Costs(scatter=0.04))
    assert found.cores is not None and found.cores.slope.interval is not None
    assert found.cores.slope.interval.holds(200e-6)
    assert found.cores.slope.interval.high > found.cores.slope.interval.low


def test_without_load_and_context_switches_are_told(results: ParquetResults) -> None:
    found = entry(results, Costs(standing=0.03, held_bytes=80e6))
    for side in ("before", "after"):
        cores, held = found.standing_cores(side), found.standing_bytes(side)
        assert cores is not None and cores.value == pytest.approx(0.03)
        assert held is not None and held.value == pytest.approx(40e6)
    assert found.loaded_bytes == pytest.approx(80e6)
    assert found.switches == pytest.approx((2.0, 2.0))


def test_power_has_a_line_of_its_own(results: ParquetResults) -> None:
    found = entry(results, Costs(joules=0.005))
    assert found.power is not None
    assert found.power.slope.value == pytest.approx(0.005)
    assert found.power.intercept.value == pytest.approx(30.0)


def test_power_that_rises_faster_than_the_rate_bends(results: ParquetResults) -> None:
    found = entry(results, Costs(joules=0.005, joules_rise=0.01), 3)
    assert found.power is not None and found.power.bend is not None and found.power.bend > 0
    assert found.cores is not None and found.cores.bend is None


@pytest.mark.parametrize(("rates", "bend"), [("12", None), ("123", 0.3)])
def test_two_rates_show_no_bend(
    rates: str, bend: float | None, results: ParquetResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials = made.findings(results, {"go": Costs(joules=0.005)}).trials
    bent = StraightLine(Estimate(1.0), Estimate(1.0), 0.3)
    monkeypatch.setattr(straight_line, "line", lambda *_: bent)
    (found,) = of_campaign(results, [one for one in trials if one.recording.load.name[-1] in rates])
    assert found.cores is not None and found.power is not None
    assert found.cores.bend == found.power.bend == bend


@pytest.mark.parametrize(
    ("until_per_s", "source", "joules"),
    [(0.0, "rapl", 5e-3), (500.0, "rapl", 5e-3), (1e6, "wall", 1e-2)],
)
def test_all_ladders_have_their_power_by_one_source(
    until_per_s: float, source: str, joules: float, results: ParquetResults
) -> None:
    """The wall only if it is known at every step that counts."""
    servers = {
        "go": Costs(joules=0.005, wall_until_per_s=1e6),
        "node": Costs(joules=0.005, wall_until_per_s=until_per_s),
    }
    for found in made.findings(results, servers).ladders:
        assert found.power_source == source
        assert found.power is not None
        assert found.power.slope.value == pytest.approx(joules, rel=1e-3)


def test_a_rate_that_was_not_answered_is_left_out(results: ParquetResults) -> None:
    found = entry(results, Costs(most_per_s=700.0))
    left_out = [one for one in found.steps if one.left_out]
    assert {one.requested_per_s for one in left_out} == {800.0}
    assert all(
        one.is_full and "of the requested rate was achieved" in one.left_out for one in left_out
    )
    assert found.cores is not None and found.cores.slope.value == pytest.approx(200e-6, rel=0.05)


def test_a_saturated_server_is_left_out(results: ParquetResults) -> None:
    """It has two cores, and needs 2.4 ms for each request: 800/s keep 96 % of them busy."""
    found = entry(results, Costs(standing=0.0, per_request_s=2.4e-3, scatter=0.0))
    left_out = {one.requested_per_s: one.left_out for one in found.steps if one.left_out}
    assert left_out == {800.0: "the server's cores were 96 % busy"}


def void(check: str, *broken: str) -> Verdict:
    said = tuple(Sentence("void", f"{one} is broken.", limit=one) for one in broken)
    return Verdict(check, "trial", "void", 1.0, 0.5, "ratio", said, "")


@pytest.mark.parametrize(
    ("verdicts", "is_full"),
    [
        ([void("failures_explained", "failed_ratio")], True),
        ([void("offered_rate_met", "rate_difference", "lag_ratio")], True),
        ([void("driver_headroom", "driver_busy_ratio")], False),
        ([void("undisturbed", "lost_ratio"), void("failures_explained", "failed_ratio")], False),
    ],
)
def test_a_missed_rate_is_the_server_s_where_no_other_check_explains_it(
    verdicts: list[Verdict], is_full: bool, results: ParquetResults
) -> None:
    findings = made.findings(results, {"go": Costs(most_per_s=700.0)})
    trials = tuple(
        replace(one, verdicts=tuple(verdicts)) if one.recording.load.name == "step-4" else one
        for one in findings.trials
    )
    (found,) = of_campaign(results, trials)
    missed = [one for one in found.steps if one.requested_per_s == 800.0]
    name = catalogue.title_of(verdicts[0])
    reason = "88 % of the requested rate" if is_full else f"void ({name}"
    assert [one.is_full for one in missed] == [is_full] * 2
    assert all(one.left_out.startswith(reason) for one in missed)
    asked = CampaignAsRun({}, ladder=LadderSettings(shares=(0.2, 0.4)))
    after = replace(findings, trials=trials, ladders=(found,), as_run=asked)
    assert after.counts["void"] == (0 if is_full else 2)


@pytest.mark.parametrize(("unloaded_ms", "is_full"), [(99.0, False), (10.0, True)])
def test_connections_that_ran_out_while_the_server_had_room_are_not_its_limit(
    unloaded_ms: float, is_full: bool, results: ParquetResults
) -> None:
    """64 connections and 100 ms a response are 640 responses per second."""
    findings = made.findings(results, {"go": Costs(most_per_s=640.0)})
    trials = list(findings.trials)
    for place, one in enumerate(trials):
        changed = sample.changed(one.summary, service_time_p50_ns=unloaded_ms * 1e6)
        trials[place] = replace(one, data=replace(one.data, summary=changed))
        if one.recording.load.name == "step-4":
            trials[place] = made.put_all_in_use(results, trials[place], Costs(), 100, 9)
    (found,) = of_campaign(results, trials)
    missed = [one for one in found.steps if one.requested_per_s == 800.0]
    assert [one.is_full for one in missed] == [is_full] * 2
    for one in missed:
        assert ("all 64 connections were in use under the load" in one.left_out) is not is_full


def test_a_step_that_failed_or_is_void_is_no_point(results: ParquetResults) -> None:
    findings = made.findings(results, {"go": Costs()})
    trials = list(findings.trials)
    died = replace(trials[2].recording, ending=Ending("DiedUnderLoad", "it died"))
    trials[2] = replace(trials[2], data=replace(trials[2].data, recording=died))
    name = trials[3].recording.trial
    trials[3] = replace(trials[3], verdicts=sample.verdicts_of(name, littles_law="void"))
    (found,) = of_campaign(results, trials)
    left_out = {one.trial.recording.trial: one.left_out for one in found.steps if one.left_out}
    assert left_out == {died.trial: "it died", name: "void (Little's law violated)"}
    assert not any(one.is_full for one in found.steps)
    counting = replace(findings, trials=tuple(trials), ladders=(found,)).counting
    assert {died.trial, name} <= {one.recording.trial for one in counting}


def test_a_server_that_was_always_full_has_no_line(results: ParquetResults) -> None:
    found = entry(results, Costs(most_per_s=100.0))
    assert found.cores is None and found.state == "void"


def test_what_one_rate_answered_by_chance_is_no_second_rate(results: ParquetResults) -> None:
    trials = list(made.findings(results, {"go": Costs()}).trials)
    first = [one for one in trials if one.recording.load.name == "step-1"]
    for place, one in enumerate(first):
        summary = sample.changed(one.summary, throughput_per_s=199.0 + 2 * place)
        first[place] = replace(one, data=replace(one.data, summary=summary))
    (found,) = of_campaign(results, first)
    assert found.cores is None and len(found.counting) == 2


def test_the_cheapest_request_is_first_and_overlapping_ones_share_ranks(
    results: ParquetResults,
) -> None:
    findings = made.findings(
        results,
        {
            "slow": Costs(per_request_s=400e-6),
            "one": Costs(per_request_s=200e-6, scatter=0.05),
            "other": Costs(per_request_s=203e-6, scatter=0.05),
            "reference": Costs(per_request_s=20e-6),
            "full": Costs(most_per_s=100.0),
        },
    )
    (ranking,) = rankings(findings.ladders)
    found = [(one.ladder.framework, one.ranks) for one in ranking.places]
    assert found == [
        ("one", (1, 2)),
        ("other", (1, 2)),
        ("slow", (3, 3)),
        ("full", None),
        ("reference", None),
    ]


def test_steps_are_no_results_and_full_ones_do_not_count(results: ParquetResults) -> None:
    findings = made.findings(results, {"go": Costs(most_per_s=700.0)})
    asked = CampaignAsRun({}, ladder=LadderSettings(shares=(0.2, 0.4)))
    found = replace(findings, as_run=asked)
    assert {one.recording.load.name for one in found.measured} == {"peak"}
    assert measured.results(found.trials, None) == found.trials
    counting = {one.recording.load.name for one in found.counting}
    assert counting == {"peak", "step-1", "step-2", "step-3"}
