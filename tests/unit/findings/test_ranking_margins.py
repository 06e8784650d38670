"""Sentences on who is ahead, from the numbers of one model per table."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from random import Random

import pytest

import sample
from plimsoll.comparison.comparisons import ComparedTrial, comparisons
from plimsoll.comparison.entry_comparison import of_table
from plimsoll.findings import ranking_margins
from plimsoll.findings.findings import Findings
from plimsoll.findings.hold_length import FEWEST_SECONDS, HoldLength, hold_length
from plimsoll.findings.ranking_margins import Lead, Resolution
from plimsoll.findings.trial import TrialFindings
from plimsoll.recording import RecordedStage
from plimsoll.recording.turns import Turn
from plimsoll.report import contents, estimate_text
from plimsoll.report.formats.html import parted
from plimsoll.statistics.intervals import Estimate, Interval


def lead(value: float, low: float | None = None, high: float | None = None) -> Lead:
    interval = None if low is None or high is None else Interval(low, high)
    return Lead("goodput_per_s", "axum", "go", Estimate(value, interval))


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (lead(1.951, 1.72, 2.21), "axum is 1.95 × go (95 %: 1.72–2.21)"),
        (lead(0.98, 0.9, 1.1), "axum and go are not significantly different: 0.90–1.10 ×"),
        (lead(1.01, 1.005, 1.015), "axum and go differ by no more than 2 %: 1.00–1.01 ×"),
        (lead(1.5), "axum was 1.50 × go, but each ran once: no interval, no ranking"),
        (
            replace(lead(0.5, 0.4, 0.6), quantity="response_time_p99_ns"),
            "Response time, 99 %: axum is 0.50 × go (95 %: 0.40–0.60)",
        ),
        (
            replace(lead(0.0291, 0.0282, 0.0303), quantity="response_time_p50_ns"),
            "Response time, median: axum is 0.029 × go (95 %: 0.028–0.030)",
        ),
    ],
)
def test_a_lead_says_what_its_interval_supports(found: Lead, sentence: str) -> None:
    assert found.sentence == sentence


def test_a_table_says_what_more_repetitions_would_tell() -> None:
    sentence = Resolution(entries=6, repetitions=2, scatter=0.05, reach=0.0).sentence
    assert sentence.startswith("Differences of 4")
    assert "5 repetitions instead of 2 would detect 13 %" in sentence
    assert sentence.endswith("would detect 2 %")
    assert "10 repetitions instead of 5" in Resolution(6, 5, 0.05, 0.0).sentence


@pytest.mark.parametrize(
    "shape",
    [
        ((1, 2, 3), (1, 2, 3), (3,)),
        ((1, 2), (1, 2), (2,)),
        ((1,), (1,), (1, 2)),
        ((1, 2), (1, 2), (1, 2, 3, 4, 5)),
        ((1, 2, 3), (1, 2, 3), (1, 2, 3)),
    ],
)
def test_no_interval_of_a_table_reaches_beyond_the_differences_that_it_detects(
    shape: tuple[tuple[int, ...], ...],
) -> None:
    scatters = {1: (0, 0.01, -0.02), 2: (0.02, -0.03, 0), 3: (-0.01, 0.01, 0.01)}
    made = [
        trial_of(name, 1000 * (1 + scatters.get(block, (0.01, 0, 0.02))[place]), block)
        for place, (name, blocks) in enumerate(zip(("go", "node", "axum"), shape, strict=True))
        for block in blocks
    ]
    rows = [one for one in of_table(comparisons(made)) if one.quantity == "goodput_per_s"]
    found = ranking_margins.resolution(rows)
    assert found is not None
    assert found.repetitions == min(map(len, shape))
    detectable = re.search(r"Differences of (.*?) % are detectable", found.sentence)
    assert detectable
    for one in rows:
        ends = one.to_best and one.to_best.interval
        reach = math.sqrt(ends.high / ends.low) - 1 if ends else 0.0
        assert 100 * reach <= 1.06 * float(detectable[1].replace(",", ""))


def test_a_table_with_a_pair_without_interval_detects_no_difference() -> None:
    blocks = (30_000.0, 30.0)
    made = [trial_of("go", rate, place) for place, rate in enumerate(blocks, 1)]
    made += [trial_of(f"other{place}", 20_000.0 + place, 1) for place in range(9)]
    rows = [one for one in of_table(comparisons(made)) if one.quantity == "goodput_per_s"]
    assert ranking_margins.resolution(rows) is None


def trial_of(framework: str, throughput: float, repetition: int) -> ComparedTrial:
    trial = sample.sound_trial(framework=framework, throughput=throughput, repetition=repetition)
    return ComparedTrial(trial.recording, trial.summary, is_void=False)


def campaign(**throughputs: tuple[float, ...]) -> Findings:
    trials = tuple(
        sample.sound_trial(framework=name, throughput=throughput, repetition=number)
        for name, found in throughputs.items()
        for number, throughput in enumerate(found, 1)
    )
    made = [ComparedTrial(one.recording, one.summary, is_void=False) for one in trials]
    return Findings("x", "0", trials, comparisons(made))


def test_ranks_ratios_and_sentences_are_of_one_mind() -> None:
    found = campaign(go=(8000, 8100, 7950), axum=(12_000, 12_100, 11_900), node=(5000, 5010, 4990))
    (ranking,) = contents.rankings(found)
    assert [row.framework for row in ranking.rows] == ["axum", "go", "node"]
    assert [row.rank for row in ranking.rows] == ["1", "2", "3"]
    assert ranking.rows[0].of_best == "1 ×"
    assert ranking.rows[1].of_best.startswith("0.668 × (")
    assert ranking.rows[0].to_next.startswith("1.50 × go (1.")
    assert ranking.rows[1].to_next.startswith("1.60 × node (")
    assert ranking.rows[2].to_next == "–"
    assert ranking.leads[0].startswith("axum is 1.50 × go (95 %: ")
    assert ranking.leads[1].startswith("Response time, median: axum is 0.67 × go")
    assert "5 repetitions instead of 3" in ranking.resolution


def test_a_median_that_contradicts_its_rank_says_that_it_is_of_fewer_blocks() -> None:
    scatters = (1.001, 0.999, 1.0, 1.001, 0.999)
    trials = [
        sample.sound_trial(framework=name, throughput=rate * speed * scatter, repetition=block)
        for name, rate, lost in (("axum", 10_400, 2), ("go", 10_000, 0), ("node", 5_000, 0))
        for block, (speed, scatter) in enumerate(
            zip((1.0, 1.0, 1.0, 0.9, 0.9), scatters[lost:] + scatters[:lost], strict=True), 1
        )
        if block > lost
    ]
    made = [ComparedTrial(one.recording, one.summary, is_void=False) for one in trials]
    (ranking,) = contents.rankings(Findings("x", "0", tuple(trials), comparisons(made)))
    reasons = {row.framework: (row.rank, row.reason) for row in ranking.rows}
    assert reasons["axum"][0] == "1"
    assert "median of fewer blocks than that of go" in reasons["axum"][1]
    assert not any("fewer blocks" in reasons[name][1] for name in ("go", "node"))


def test_of_single_repetitions_only_the_ranking_has_a_sentence() -> None:
    (ranking,) = contents.rankings(campaign(go=(8000,), axum=(12_000,)))
    assert ranking.leads == ("axum was 1.50 × go, but each ran once: no interval, no ranking",)
    assert ranking.resolution == ""


def test_one_framework_leads_nobody() -> None:
    (ranking,) = contents.rankings(campaign(go=(8000, 8100)))
    assert ranking.leads == ()
    assert ranking_margins.lead([]) is None


def test_where_trials_scatter_more_than_their_seconds_repetitions_pay() -> None:
    more = HoldLength(scatter=0.05, second_scatter=0.05, hold_s=10, overhead_s=5)
    assert (
        more.sentence
        == "More repetitions help, longer windows do not: 90 % of the variance lies between trials"
    )
    longer = HoldLength(scatter=0.05, second_scatter=0.15, hold_s=10, overhead_s=20)
    assert longer.sentence.startswith("Windows of 42 s instead of 10 s would narrow intervals most")
    near = HoldLength(scatter=0.05, second_scatter=0.15, hold_s=10, overhead_s=2)
    assert near.sentence.startswith("More repetitions help, longer windows do not")
    same = HoldLength(scatter=0.01, second_scatter=0.15, hold_s=10, overhead_s=5)
    assert same.sentence.startswith("Longer windows would help as much")


def test_the_scatter_of_seconds_is_that_of_the_hold() -> None:
    trials: tuple[TrialFindings, ...] = campaign(go=(8000, 8100)).trials
    found = hold_length(trials, 0.05)
    assert found is not None
    assert found.hold_s == 7.0
    assert 0.02 < found.second_scatter < 0.06
    assert found.overhead_s == pytest.approx(5.213)
    assert hold_length(trials, None) is None


def in_turns(scatter: float, common: float) -> tuple[TrialFindings, ...]:
    """Five servers in six groups of fresh processes, with 200 turns of 50 ms of each."""
    random = Random(3)
    trials: list[TrialFindings] = []
    for repetition in range(1, 7):
        speeds = [common * random.gauss() for _ in range(200)]
        for name in ("axum", "django", "go", "node", "spring"):
            counts = [round(5e5 * math.exp(one + scatter * random.gauss())) for one in speeds]
            turns = tuple(
                Turn(repetition, number, name, 0, 50_000_000, count, 0, None, None, None, None)
                for number, count in enumerate(counts)
            )
            made = sample.sound_trial(framework=name, repetition=repetition)
            stages = (RecordedStage("hold", 0, 10**10, 64.0, 64.0, 1),)
            recording = replace(made.recording, turns=turns, stages=stages, took_s=30.0)
            trials.append(replace(made, data=replace(made.data, recording=recording)))
    return tuple(trials)


def test_turns_scatter_without_what_a_round_has_in_common() -> None:
    found = hold_length(in_turns(scatter=0.2, common=0.5), 0.08)
    assert found is not None
    assert found.second_scatter == pytest.approx(0.2 * math.sqrt(0.05), rel=0.03)
    assert found.overhead_s == 30.0 - found.hold_s
    assert "trials" in found.sentence


def test_few_rounds_say_nothing_of_their_scatter() -> None:
    trials = in_turns(scatter=0.2, common=0.5)
    few = [
        replace(one, data=replace(one.data, recording=replace(one.recording, turns=found)))
        for one in trials
        for found in (one.recording.turns[:FEWEST_SECONDS],)
    ]
    assert hold_length(few, 0.08) is not None
    fewer = [
        replace(one, data=replace(one.data, recording=replace(one.recording, turns=found)))
        for one in trials
        for found in (one.recording.turns[: FEWEST_SECONDS - 1],)
    ]
    assert hold_length(fewer, 0.08) is None


def test_the_turns_of_one_server_scatter_with_their_rounds() -> None:
    alone = [one for one in in_turns(scatter=0.0, common=0.5) if one.recording.framework == "go"]
    found = hold_length(alone, 0.08)
    assert found is not None
    assert found.second_scatter == pytest.approx(0.5 * math.sqrt(0.05), rel=0.05)


@pytest.mark.parametrize(
    ("ratio", "share"),
    [
        (None, "–"),
        (Estimate(1.0), "1 ×"),
        (Estimate(0.73, Interval(0.7, 0.76)), "0.73 × (0.70–0.76)"),
        (Estimate(0.9988, Interval(0.995, 1.003)), "0.999 × (0.995–1.003)"),
        (Estimate(0.0137, Interval(0.01, 0.02)), "0.014 × (0.010–0.020)"),
        (Estimate(0.000273, Interval(0.00026, 0.00029)), "0.00027 × (0.00026–0.00029)"),
        (Estimate(0.0251, Interval(0.02462, 0.0255)), "0.0251 × (0.0246–0.0255)"),
        (Estimate(0.00004), "0.000040 ×"),
    ],
)
def test_a_ratio_to_the_best_has_the_decimals_of_its_interval(
    ratio: Estimate | None, share: str
) -> None:
    assert estimate_text.of_best(ratio) == share


def test_a_multiple_of_the_next_names_it() -> None:
    assert (
        estimate_text.times_as(Estimate(74.04, Interval(56.4, 97.1)), "spring")
        == "74.0 × spring (56.4–97.1)"
    )
    assert estimate_text.times_as(Estimate(1350.0)) == "1,350 ×"
    assert estimate_text.times_as(None) == "–"
    assert estimate_text.times_as(Estimate(0.0312, Interval(0.03, 0.0322))) == (
        "0.031 × (0.030–0.032)"
    )
    assert estimate_text.ratio(Estimate(0.0042, Interval(0.004, 0.0044))) == (
        "× 0.0042",
        "0.0040–0.0044",
    )


def test_on_the_page_an_interval_stands_below_its_number() -> None:
    assert parted("1.35 × a<b (1.21–1.50)") == '1.35 × a&lt;b<span class="under">1.21–1.50</span>'
    assert parted("–") == "–"
