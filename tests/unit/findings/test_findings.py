"""Findings: states of trials and rankings."""

from __future__ import annotations

from dataclasses import replace

import sample
from plimsoll import tables
from plimsoll.findings.findings import Findings
from plimsoll.findings.rankings import Ranking
from plimsoll.findings.trial import TrialFindings
from plimsoll.recording import Ending


def ranking() -> Ranking:
    return sample.findings().rankings[0]


def test_there_is_a_ranking_for_each_endpoint_and_load() -> None:
    found = [(ranking.endpoint, ranking.load) for ranking in sample.findings().rankings]
    assert found == [("2048", "steady"), ("json", "steady")]


def test_the_best_comes_first_and_those_without_a_rank_come_last() -> None:
    found = [(entry.framework, entry.rank) for entry in ranking().entries]
    assert found == [
        ("axum", "1–2"),
        ("spring virtual", "1–2"),
        ("go", "3–4"),
        ("node", "3–4"),
        ("django", "–"),
        (sample.HOSTILE, "–"),
    ]


def test_a_void_number_stays_visible_and_has_no_rank() -> None:
    void = ranking().entries[4]
    assert (void.value, void.level, void.reason) == (9500.0, "void", "Little's law violated")


def test_a_doubtful_number_names_the_checks_that_doubt_it() -> None:
    doubtful = ranking().entries[3]
    assert doubtful.level == "doubtful"
    assert doubtful.reason == "Load generator at its limit, Requests without response"


def test_a_framework_that_failed_has_no_number_and_says_why() -> None:
    failed = ranking().entries[5]
    assert (failed.value, failed.level, failed.reason) == (None, "void", "StartFailed")


def test_repetitions_that_do_not_count_are_counted() -> None:
    sound = sample.sound_trial(framework="go", repetition=2)
    void = sample.void_trial()
    recording = replace(void.recording, framework="go")
    both = (sound, replace(void, data=replace(void.data, recording=recording)))
    findings = Findings("x", "0", both, tables.COMPARISONS.schema.empty_table())
    entry = findings.rankings[0].entries[0]
    assert entry.reason == "by 5 checks; 1 of 2 repetitions excluded"
    assert entry.value == 8000.0
    assert [repetition.level for repetition in entry.repetitions] == ["void", "sound"]


def test_a_trial_that_an_error_ended_is_failed_whatever_its_checks_say() -> None:
    data = sample.trial_data(recording=sample.recording(ending=Ending("DiedUnderLoad", "it died")))
    trial = TrialFindings(data)
    assert (trial.state, trial.level) == ("failed", "void")


def test_a_failed_trial_that_answered_nothing_has_no_number() -> None:
    made = sample.recording(ending=Ending("NotReady", "never ready"))
    empty = sample.summary(made.trial, 1.0, completed=0, goodput_per_s=0.0)
    assert TrialFindings(sample.trial_data(recording=made, summary=empty)).value is None


def test_a_trial_whose_answers_are_all_wrong_has_a_goodput_of_zero() -> None:
    made = sample.recording()
    wrong = sample.summary(made.trial, 100.0, ok=0, goodput_per_s=0.0)
    assert TrialFindings(sample.trial_data(recording=made, summary=wrong)).value == 0.0


def test_changed_limits_are_those_of_all_trials() -> None:
    assert sample.findings().limits == {"driver_headroom": {"doubtful": 0.8}}


def test_trials_are_counted_by_state() -> None:
    assert dict(sample.findings().counts) == {"sound": 7, "doubtful": 1, "void": 1, "failed": 1}


def test_a_campaign_without_trials_has_no_rankings() -> None:
    assert Findings("x", "0", (), tables.COMPARISONS.schema.empty_table()).rankings == ()
