"""Entries: what a rank is, for the checks that doubt one."""

from dataclasses import replace

import pytest

import sample
from plimsoll.comparison.comparisons import ComparedTrial, comparisons
from plimsoll.comparison.entries import entries, ranked_ahead
from plimsoll.comparison.entry_comparison import of_table


def trial(framework, throughput, repetition, **changes):
    recording = sample.recording(framework=framework, repetition=repetition)
    return ComparedTrial(
        recording, sample.summary(recording.trial, throughput), is_void=False, **changes
    )


def ahead_in_table(trials):
    rows = [one for one in of_table(comparisons(trials)) if one.quantity == "goodput_per_s"]
    return any(one.rank_low != 1 for one in rows)


@pytest.mark.parametrize("lead", [1.05, 1.1, 1.15, 1.2, 1.3])
@pytest.mark.parametrize("has_stopped_early", [False, True])
def test_checks_and_the_ranking_know_the_same_ranks(lead, has_stopped_early):
    trials = [
        trial(name, rate * scatter, block + 1, has_stopped_early=has_stopped_early)
        for name, rate, scatters in (("go", 1000 * lead, (1, 1.01)), ("node", 1000, (1.02, 1)))
        for block, scatter in enumerate(scatters)
    ]
    assert bool(ranked_ahead(entries(trials))) is ahead_in_table(trials)


def test_a_rank_that_an_early_stop_leaves_open_is_claimed_by_no_check():
    trials = [
        trial(name, rate * scatter, block + 1)
        for name, rate, scatters in (("go", 1000, (1, 1.02)), ("node", 900, (1, 1.02)))
        for block, scatter in enumerate(scatters)
    ]
    assert ranked_ahead(entries(trials))
    early = [replace(one, has_stopped_early=True) for one in trials]
    assert not ranked_ahead(entries(early))
