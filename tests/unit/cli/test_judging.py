"""What verdicts mean for the exit code."""

from __future__ import annotations

from dataclasses import replace

import pytest

import sample
from plimsoll import tables
from plimsoll.cli import judging
from plimsoll.errors import InputError
from plimsoll.findings.findings import Findings
from plimsoll.recording import YARDSTICK, Ending
from plimsoll.report import contents
from plimsoll.report.results import machine_readable
from plimsoll.verdicts import catalogue
from plimsoll.verdicts.verdict import Level


def found(**levels: Level) -> Findings:
    """The findings of one trial whose checks say so."""
    trial = replace(sample.sound_trial(), verdicts=sample.verdicts_of("t", **levels))
    return Findings("x", "0", (trial,), tables.COMPARISONS.schema.empty_table())


@pytest.mark.parametrize(
    ("levels", "accepted", "strict", "code"),
    [
        ({}, (), True, 0),
        ({"backlog": "doubtful"}, (), False, 0),
        ({"backlog": "doubtful"}, (), True, 1),
        ({"backlog": "doubtful"}, ("backlog",), True, 0),
        ({"backlog": "void"}, (), False, 1),
        ({"backlog": "void"}, ("backlog",), False, 0),
        ({"backlog": "void", "littles_law": "void"}, ("backlog",), False, 1),
        ({"backlog": "void", "littles_law": "doubtful"}, ("backlog",), True, 1),
    ],
)
def test_the_exit_code_is_that_of_the_checks_that_count(
    levels: dict[str, Level], accepted: tuple[str, ...], strict: bool, code: int
) -> None:
    assert judging.exit_code(found(**levels), accepted, strict=strict) == code


def test_the_yardstick_beside_frameworks_makes_no_difference_unless_it_failed() -> None:
    (own,) = found(driver_headroom="void").trials
    own = replace(
        own, data=replace(own.data, recording=replace(own.recording, framework=YARDSTICK))
    )
    alone = Findings("x", "0", (own,), tables.COMPARISONS.schema.empty_table())
    assert judging.exit_code(alone) == 1
    beside = replace(alone, trials=(own, *found().trials))
    assert judging.exit_code(beside, strict=True) == 0
    assert contents.of_yardstick(beside) == "1 trial of the yardstick, which has no rank: 1 void"
    assert [one.name for one in contents.doubts(beside)] == ["Load generator at its limit"]
    failed = replace(own.recording, ending=Ending("DiedUnderLoad", "it died"))
    broken = replace(own, data=replace(own.data, recording=failed))
    assert judging.exit_code(replace(beside, trials=(broken, *found().trials))) == 1
    assert contents.of_yardstick(alone) == contents.of_yardstick(found()) == ""


@pytest.mark.parametrize(
    ("check", "code"),
    [("driver_headroom", 0), ("conservation", 1), ("responses_correct", 1)],
)
def test_a_yardstick_whose_responses_are_wrong_counts(check: str, code: int) -> None:
    levels: dict[str, Level] = {"driver_headroom": "void", check: "void"}
    (own,) = found(**levels).trials
    recording = replace(own.recording, framework=YARDSTICK)
    own = replace(own, data=replace(own.data, recording=recording))
    beside = Findings("x", "0", (own, *found().trials), tables.COMPARISONS.schema.empty_table())
    assert judging.exit_code(beside) == code
    assert bool(contents.of_yardstick(beside)) == (not code)


def test_an_error_is_never_accepted() -> None:
    one = found(backlog="void")
    (trial,) = one.trials
    failed = replace(trial.recording, ending=Ending("DiedUnderLoad", "it died"))
    broken = replace(trial, data=replace(trial.data, recording=failed))
    assert judging.exit_code(replace(one, trials=(broken,)), ("backlog",)) == 1


def test_an_accepted_check_must_be_one() -> None:
    assert judging.checks(("undisturbed", "steady")) == ("undisturbed", "steady")
    with pytest.raises(InputError, match="unknown check `undisturbd`") as caught:
        judging.checks(("undisturbd",))
    assert "undisturbed" in caught.value.problems[0].hint


def test_a_check_is_accepted_by_what_the_output_calls_it() -> None:
    for check in catalogue.TITLES:
        for typed in (check, catalogue.TITLES[check].upper(), catalogue.PROBLEMS[check].lower()):
            assert check in judging.checks((typed,))
    with pytest.raises(InputError) as caught:
        judging.checks(("Wrong response",))
    assert caught.value.problems[0].hint == "did you mean `Wrong responses`?"


def test_accepted_doubts_are_told() -> None:
    doubted = found(backlog="void", littles_law="doubtful")
    said = judging.accepted_note_of(doubted, ("backlog", "steady"))
    assert "`backlog`" in said
    assert "littles_law" not in said and "steady" not in said
    assert judging.accepted_note_of(found(), ("backlog",)) == ""


def test_json_lists_the_accepted_doubts() -> None:
    (trial,) = machine_readable.trials(found(backlog="void"), ("undisturbed", "backlog"))
    assert trial["accepted"] == ["backlog"]
    (trial,) = machine_readable.trials(found(backlog="void"))
    assert trial["accepted"] == []


def test_limits_are_read_as_a_campaign_has_them() -> None:
    typed = (
        "failures_explained.failed_ratio_void=0.5",
        "failures_explained.failed_ratio_doubtful=.1",
    )
    assert judging.limits(typed) == {
        "failures_explained": {"failed_ratio_void": 0.5, "failed_ratio_doubtful": 0.1}
    }


@pytest.mark.parametrize(
    ("typed", "sentence", "hint"),
    [
        ("failures_explained.ratio=1", "unknown limit", "failed_ratio_void"),
        ("nothing.ratio=1", "unknown limit `nothing.ratio`", "docs/checks.md"),
        ("failures_explained.failed_ratio_void", "has no number", "=0.1"),
        ("failures_explained.failed_ratio_void=much", "has no number", "=0.1"),
    ],
)
def test_limits_that_are_none_are_named(typed: str, sentence: str, hint: str) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        judging.limits((typed,))
    assert hint in caught.value.problems[0].hint
