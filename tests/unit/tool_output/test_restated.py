"""What a tool prints twice agrees in its real output, and a changed figure contradicts another."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.tool_output import numbers, readers, restated
from plimsoll.tool_output.reported import ReportedStatistics
from plimsoll.tool_output.restated import Figure, Restated
from plimsoll.verdicts.audit import audit

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "published"
FILES = sorted(path for path in GOLDEN.iterdir() if path.name != "README.md")
NOT_READ = ("ab-files", "h2load-files")
MADE_UP = ("table", "techempower")
WITH_PAIRS = [path for path in FILES if path.stem not in (*NOT_READ, *MADE_UP)]

CHANGED = [
    ("ab-sound.txt", "Keep-Alive requests:    20000", "Keep-Alive requests:    20001"),
    ("ab-sound.txt", "HTML transferred:       40960000", "HTML transferred:       40950000"),
    ("ab-sound.txt", "HTML transferred:       40960000", "HTML transferred:       42000000"),
    ("ab-sound.txt", "0.810 [ms] (mean)", "0.860 [ms] (mean)"),
    ("ab-sound.txt", "0.016 [ms]", "0.019 [ms]"),
    ("ab-sound.txt", "61733.35 [#/sec]", "61333.35 [#/sec]"),
    ("ab-sound.txt", "128952.77 [Kbytes/sec]", "128052.77 [Kbytes/sec]"),
    ("ab-sound.txt", "Waiting:        0    1   1.4", "Waiting:        0    9   1.4"),
    ("ab-sound.txt", "1.4      1      13\nTotal:", "1.4      1      14\nTotal:"),
    ("ab-sound.txt", "100%     13", "100%     14"),
    ("ab-cut.txt", "Failed requests:        2000", "Failed requests:        2500"),
    ("ab-status.txt", "Non-2xx responses:      2000", "Non-2xx responses:      20200"),
    ("hey-sound.txt", "0.003 [49701]", "0.003 [49801]"),
    ("hey-sound.txt", "116774912 bytes", "126774912 bytes"),
    ("hey-sound.txt", "2048 bytes", "2049 bytes"),
    ("hey-sound.txt", "28460.7920", "28560.7920"),
    ("hey-sound.txt", "Slowest:	0.0308", "Slowest:	0.0318"),
    ("hey-sound.txt", "50% in 0.0011", "50% in 0.0039"),
    ("hey-sound.txt", "0.0000 secs, 0.0265 secs", "0.0000 secs, 0.0365 secs"),
    ("wrk-sound.txt", "1.98ms", "19.80ms"),
    ("wrk-sound.txt", "90.45%", "190.45%"),
    ("wrk-sound.txt", "62.50%", "162.50%"),
    ("wrk-sound.txt", "18.20k", "68.20k"),
    ("wrk-sound.txt", "74900.34", "75800.34"),
    ("wrk-sound.txt", "151.08MB", "153.08MB"),
    ("wrk-sound.txt", "50 connections", "1 connections"),
]


def text(name: str) -> str:
    return (GOLDEN / name).read_text(encoding="utf-8")


def contradictions(figures: ReportedStatistics) -> tuple[Restated, ...]:
    return tuple(one for one in figures.restated if one.contradicts)


def consistent(content: str):
    (result,) = audit(readers.read(content, "x")).results
    return next(one for one in result.verdicts if one.check == "figures_consistent")


@pytest.mark.parametrize("path", WITH_PAIRS, ids=lambda path: path.name)
def test_no_figure_of_a_real_output_contradicts_another(path: Path) -> None:
    for figures in readers.read(path.read_text(encoding="utf-8"), path.name):
        assert contradictions(figures) == ()


@pytest.mark.parametrize(("name", "printed", "other"), CHANGED)
def test_a_changed_figure_contradicts_another(name: str, printed: str, other: str) -> None:
    assert text(name).count(printed) == 1
    assert consistent(text(name)).level != "void"
    verdict = consistent(text(name).replace(printed, other))
    assert verdict.level == "void"
    assert "Check that the figures are of one run." in verdict.remedies


def test_a_mismatch_of_failures_is_named_with_both_numbers() -> None:
    changed = text("ab-cut.txt").replace("Failed requests:        2000", "Failed requests: 2500")
    assert (
        "`Failed requests` is 2,500, but the sum of its kinds gives 2,000."
        in consistent(changed).text
    )


def test_the_end_of_a_timed_run_of_ab_may_hold_parts_of_responses() -> None:
    whole = text("ab-sound.txt")
    assert consistent(whole.replace("40960000", "41000000")).level == "sound"


def test_of_the_newer_ab_lengths_and_kinds_of_failures_prove_nothing() -> None:
    newer = text("ab-cut.txt").replace(
        "Concurrency Level:", "Concurrency achieved:   10\nConcurrency Level:"
    )
    assert consistent(newer.replace("Length: 2000", "Length: 1500")).level == "sound"


def test_a_contradiction_is_told_once() -> None:
    changed = text("hey-sound.txt").replace("28460.7920", "38460.7920")
    assert consistent(changed).text.count("38,461") == 1


@pytest.mark.parametrize(
    ("written", "form", "step"),
    [
        ("4.53", numbers.number, 0.01),
        ("4.59k", numbers.number, 10),
        ("304.20MB", numbers.size, 0.01 * 2**20),
        ("1.00m", numbers.seconds, 0.6),
        ("12", numbers.count, 1),
        ("-nan", numbers.number, 0),
    ],
)
def test_the_last_digit_of_a_number_has_its_unit(written: str, form, step: float) -> None:
    assert numbers.step(written, form) == pytest.approx(step)


@pytest.mark.parametrize(
    ("stddev", "mean", "greatest", "is_impossible"),
    [
        (6.0, 5.0, 10.0, True),
        (5.0, 5.0, 10.0, False),
        (4.0, 1.0, 10.0, True),
        (3.0, 1.0, 10.0, False),
    ],
)
def test_a_standard_deviation_is_bounded_by_mean_and_maximum(
    stddev: float, mean: float, greatest: float, is_impossible: bool
) -> None:
    held = (Figure("sd", stddev), Figure("mean", mean), Figure("max", greatest))
    (found,) = restated.spread("sd", *held)
    assert found.contradicts is is_impossible


def test_of_few_numbers_the_standard_deviation_is_that_of_a_sample() -> None:
    two = (Figure("sd", 7.05), Figure("mean", 5.0), Figure("max", 10.0))
    (found,) = restated.spread("sd", *two, count=2)
    assert not found.contradicts
