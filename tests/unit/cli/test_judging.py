"""What verdicts mean for the exit code."""

from __future__ import annotations

from dataclasses import replace

import pytest

import queues
import sample
from plimsoll import tables
from plimsoll.cli import judging
from plimsoll.errors import InputError
from plimsoll.findings.beyond import LimitingResource
from plimsoll.findings.findings import Findings
from plimsoll.findings.load_lines import EntryLines, LineFindings, Subject
from plimsoll.load_line.search import Searched
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


HELD = queues.searched_with()
MISSED, FAILING = queues.searched_with(100e-6), queues.searched_with(fails=1.0)
UNDECIDED, UNSENT = queues.searched_with(budget_s=2.0), queues.searched_with(unsent=0.4)
ABOVE = queues.searched_with(most_per_s=1000.0)


def of_lines(**searched: Searched) -> Findings:
    """The findings of a campaign with such a search of each framework."""
    lines = [
        EntryLines(
            framework=name,
            endpoint="json",
            is_yardstick=name == YARDSTICK,
            found=LineFindings(one, Subject(f"{name} · json", "poisson", 256), {}, {}),
            peak=None,
            problem="",
            goes_on=False,
        )
        for name, one in searched.items()
    ]
    return replace(found(), lines=tuple(lines))


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        (HELD, HELD, 0),
        (HELD, ABOVE, 0),
        (HELD, UNDECIDED, 8),
        (UNDECIDED, MISSED, 7),
        (MISSED, UNDECIDED, 7),
        (UNDECIDED, UNSENT, 7),
        (MISSED, FAILING, 4),
    ],
)
def test_the_worst_line_of_a_campaign_sets_the_exit_code(
    first: Searched, second: Searched, code: int
) -> None:
    assert judging.lines_missed(of_lines(axum=first, go=second)) == code


def test_the_line_of_the_yardstick_beside_frameworks_sets_no_exit_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for own in (MISSED, FAILING, UNDECIDED):
        assert judging.lines_missed(of_lines(go=HELD, reference=own)) == 0
    assert YARDSTICK not in capsys.readouterr().err
    assert judging.lines_missed(of_lines(go=UNDECIDED, reference=FAILING)) == 8
    assert judging.lines_missed(of_lines(reference=MISSED)) == 7


TWO = queues.searched_once()
DRIVER = LimitingResource("driver", "the load generator used 99 % of its core")


@pytest.mark.parametrize("limit", ["p50", "p99"])
def test_a_void_line_sets_the_exit_code_and_says_what_to_do(
    limit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = LineFindings(TWO, Subject("go · json", "poisson", 256), {limit: DRIVER}, {})
    assert judging.line_exit_code(lines) == 1
    alone = capsys.readouterr().err
    (entry,) = of_lines(go=TWO).lines
    assert judging.lines_missed(replace(found(), lines=(replace(entry, found=lines),))) == 1
    assert capsys.readouterr().err == alone
    assert f"no line of go · json with {limit} ≤" in alone
    assert alone.count("no line of") == 1
    assert "more threads" in alone


def test_each_missing_line_of_a_search_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    lines = (*UNDECIDED.lines, *MISSED.lines)
    both = LineFindings(replace(MISSED, lines=lines), Subject("h/", "poisson", 256), {}, {})
    assert judging.line_exit_code(both) == 7
    told = capsys.readouterr().err
    assert "undecided after" in told
    assert "no rate keeps p99 ≤ 100 µs" in told


@pytest.mark.parametrize("first", [UNDECIDED, ABOVE])
def test_the_worst_limit_of_a_search_sets_the_exit_code(
    first: Searched, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (*first.lines, *MISSED.lines)
    both = LineFindings(replace(MISSED, lines=lines), Subject("h/", "poisson", 256), {}, {})
    assert judging.line_exit_code(both) == 7
    assert "no rate keeps p99 ≤ 100 µs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("codes", "code"),
    [((), 0), ((0, 1), 1), ((1, 8), 8), ((8, 7), 7), ((7, 4, 0), 4)],
)
def test_what_certainly_fails_hides_what_is_undecided(codes: tuple[int, ...], code: int) -> None:
    assert judging.worst(codes) == code
