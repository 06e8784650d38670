"""What came of one load, on one screen."""

from __future__ import annotations

import io
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
from rich.console import Console

import sample
from plimsoll.aggregate.failures import Failure
from plimsoll.report import hidden, html, markdown, screen
from plimsoll.report.findings import Findings, TrialFindings

QUIET = {"silences": 0, "silent_ns": 0, "longest_ns": 0} | {
    f"wait_{name}_ns": None for name in ("p50", "p90", "p99", "p999")
}
FROZEN = {
    "silences": 2,
    "silent_ns": 2_000_000_000,
    "longest_ns": 1_000_000_000,
    "wait_p50_ns": None,
    "wait_p90_ns": 500e6,
    "wait_p99_ns": 950e6,
    "wait_p999_ns": 995e6,
}


def shown(found: TrialFindings, width: int = 80) -> list[str]:
    text = io.StringIO()
    screen.show(found, Console(file=text, width=width, highlight=False))
    return text.getvalue().splitlines()


def trial(**changes: Any) -> TrialFindings:
    return replace(sample.sound_trial(), **{"silences": QUIET, **changes})


def kinds(count: int) -> tuple[dict[str, Any], ...]:
    one = {"completed": 10, "failed": 0, "throughput_per_s": 1.0, "response_time_p50_ns": 1e6}
    one |= {"response_time_p90_ns": None, "response_time_p99_ns": None, "response_time_max_ns": 2e6}
    return tuple({**one, "request": f"/{number}"} for number in range(count))


@pytest.mark.parametrize("width", [80, 60])
@pytest.mark.parametrize("silences", [QUIET, FROZEN, None])
def test_a_load_fits_one_screen(width: int, silences: dict[str, Any] | None) -> None:
    lines = shown(trial(silences=silences), width)
    assert len(lines) <= 24
    assert max(map(len, lines)) <= width


def test_every_number_that_a_person_wants_is_there() -> None:
    text = "\n".join(shown(trial()))
    for words in (
        "go2048", "closed model", "response time", "service time", "8,000/s", "56,000 complete",
        "asked 1,000, opened 1,000, answered 1,000", "cores busy", "✓ sound by ",
    ):  # fmt: skip
        assert words in text


def test_numbers_stay_with_their_units_where_lines_break() -> None:
    for width in range(50, 100):
        for line in shown(trial(silences=FROZEN), width):
            assert not line.startswith(("s ", "ms ", "%"))


def test_failures_are_named_by_outcome_and_error_number() -> None:
    failures = tuple(
        Failure(f"reset_{number}", 104, "ECONNRESET", 10 - number, 0.5, 2.0) for number in range(6)
    )
    lines = shown(trial(failures=failures))
    assert any("failures       reset_0 (ECONNRESET) 10, 0.5 to 2.0 s" in line for line in lines)
    assert any("and 2 kinds more" in line for line in lines)


def test_void_verdicts_come_before_doubtful_ones() -> None:
    verdicts = sample.verdicts_of("t", littles_law="doubtful", backlog="void")
    lines = shown(trial(verdicts=verdicts))
    marks = [line[0] for line in lines if line[:1] in "✓▲✕" and line[:1]]
    assert marks == ["✕", "✕", "▲"]


def test_several_urls_have_a_line_each_as_far_as_there_is_room() -> None:
    assert not any(line.startswith("/0") for line in shown(trial()))
    lines = shown(trial(kinds=kinds(9)))
    assert [line.split()[:2] for line in lines if line.startswith("/")] == [
        [f"/{number}", "10"] for number in range(screen.MOST_KINDS)
    ]
    assert any(line.startswith("and 3 more") for line in lines)


def test_what_the_closed_model_hides_is_said_with_an_estimate() -> None:
    said = " ".join(" ".join(shown(trial(silences=FROZEN))).split())
    assert "by the closed model: no answer for up to 1 s, in which 8,000 requests were due" in said
    assert "(estimate) 90 % 500 ms, 99 % 950 ms, 99.9 % 995 ms" in said


def test_an_open_load_hides_nothing() -> None:
    assert not any(line.startswith("hidden") for line in shown(trial(silences=None)))
    assert hidden.told(None, {}) == ""


def test_no_quantile_of_the_estimate_is_told_that_was_measured_as_long() -> None:
    summary = sample.summary("t", response_time_p90_ns=600e6, response_time_p99_ns=700e6)
    said = hidden.amount(FROZEN, summary)
    assert "90 % 500 ms" not in said
    assert "99 % 950 ms" in said
    slow = {**summary, "response_time_p99_ns": 2e9, "response_time_p999_ns": 2e9}
    assert hidden.amount(FROZEN, slow) == "little here, for answers came every 1 s or sooner"


def test_where_answers_came_all_the_time_that_is_said() -> None:
    assert "little here, for answers came all the time" in hidden.told(QUIET, sample.summary("t"))


@pytest.mark.parametrize("form", [html, markdown])
def test_a_report_says_beside_the_times_what_a_closed_load_hides(form: ModuleType) -> None:
    def text(silences: dict[str, Any] | None) -> str:
        one = trial(silences=silences)
        return form.render(Findings("x", "0", (one,), sample.comparison_rows([])))

    said = text(FROZEN).replace("\u00a0", " ")
    assert hidden.HIDES in said
    assert "90 % 500 ms, 99 % 950 ms, 99.9 % 995 ms" in said
    assert hidden.HIDES not in text(None)


def test_hostile_names_cannot_steer_the_terminal() -> None:
    found = trial(kinds=({**kinds(1)[0], "request": "/\x1b[2J"}, *kinds(1)))
    assert "\x1b" not in "\n".join(shown(found))
