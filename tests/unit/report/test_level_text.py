"""Levels and verdicts as people read them."""

from __future__ import annotations

from dataclasses import replace

import pytest

import sample
from plimsoll.report import level_text


def test_a_verdict_in_ratios_is_written_in_percent() -> None:
    verdict = sample.verdict("littles_law", "t", "void")
    assert (level_text.measured(verdict), level_text.limit(verdict)) == ("71 %", "limit 85 %")
    assert level_text.measured(replace(verdict, measured=None)) == "–"


@pytest.mark.parametrize(
    ("check", "limit", "told"),
    [
        ("driver_headroom", "driver_busy_ratio", ("71 % of the load generator's time", "limit")),
        ("driver_headroom", "server_busy_ratio", ("71 % of the server's cores", "minimum")),
        ("connection_target_met", "open_ratio", ("71 %", "minimum")),
        ("connection_target_met", "closed_ratio", ("71 %", "limit")),
        ("littles_law", "of another version", ("71 %", "limit")),
    ],
)
def test_what_was_measured_and_whether_the_limit_is_a_minimum_is_told(
    check: str, limit: str, told: tuple[str, str]
) -> None:
    verdict = sample.verdict("littles_law", "t", "void")
    (sentence,) = verdict.sentences
    verdict = replace(verdict, check=check, sentences=(replace(sentence, limit=limit),))
    measured, word = told
    assert level_text.measured(verdict) == measured
    assert level_text.limit(verdict) == f"{word} 85 %"


def test_checks_with_nothing_to_check_are_no_gap() -> None:
    sound = sample.verdict("conservation", "go.1", "sound")
    unmade = sample.verdict("backlog", "go.1", "not_checked")
    nothing = replace(unmade, sentences=(replace(unmade.sentences[0], applies=False),))
    assert level_text.of_verdicts([sound, nothing]) == "✓ sound by all 1 check that applies"
    assert level_text.of_verdicts([sound, sound, nothing]) == "✓ sound by all 2 checks that apply"
    assert level_text.of_verdicts([sound, unmade, nothing]) == (
        "✓ sound by 1 of 2 checks that apply; not checked: Backlog"
    )


def test_verdicts_are_told_in_one_line_by_the_worst_of_them() -> None:
    sound = sample.verdict("conservation", "go.1", "sound")
    void = sample.verdict("backlog", "go.1", "void", "The queue was full.", "Twice.")
    other = sample.verdict("littles_law", "go.1", "void")
    doubtful = sample.verdict("responses_correct", "go.1", "doubtful")
    assert level_text.of_verdicts([sound, sound]) == "✓ sound by 2 checks"
    unmade = sample.verdict("backlog", "go.1", "not_checked")
    assert (
        level_text.of_verdicts([sound, unmade]) == "✓ sound by 1 of 2 checks; not checked: Backlog"
    )
    beside = sample.verdict("littles_law", "go.1", "sound")
    assert level_text.of_verdicts([beside, unmade]) == (
        "○ not checked (1 of 2 checks passed, none on responses); not checked: Backlog"
    )
    assert level_text.of_verdicts([sound, doubtful, void]) == (
        "✕ void: Listen queue too short: The queue was full"
    )
    assert level_text.of_verdicts([void, other]).endswith("(and 1 more check)")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.0, "setups", "1 setup"),
        (0.0, "servers", "0 servers"),
        (2.0, "entries", "2 entries"),
        (1.0, "entries", "1 entry"),
        (1.0, "s", "1 s"),
        (1.0, "faults/s", "1 faults/s"),
        (1.0, "ratio", "100 %"),
    ],
)
def test_one_of_something_is_no_plural(value: float, unit: str, text: str) -> None:
    verdict = replace(sample.verdict("backlog", "a", "doubtful", "It."), limit=value, unit=unit)
    assert level_text.limit(verdict) == f"limit {text}"
