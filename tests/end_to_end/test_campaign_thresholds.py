"""Thresholds on a campaign: judged when it has run, and again on results that exist."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import LENIENT, TOY, TOYS, run


def test_a_threshold_that_applies_to_nothing_is_refused_before_anything_runs(
    tmp_path: Path,
) -> None:
    ran = run("run", TOY, *TOYS, "--fail-if", "toy/jsno.p99>1ms", folder=tmp_path)
    assert ran.code == 2
    assert "error: threshold `toy/jsno.p99>1ms` applies to no entry" in ran.said
    assert "hint: its entries are `toy/plaintext.steady`" in ran.said
    assert not (tmp_path / "results").exists()


def test_what_was_crossed_is_said_after_the_run(tmp_path: Path) -> None:
    limits = ("--fail-if", "plaintext.max>1ns", "--fail-if", "toy/*.p50>1h", "--junit", "a.xml")
    ran = run("run", TOY, *TOYS, *LENIENT, "--no-report", *limits, folder=tmp_path)
    assert ran.code == 7, ran.stderr
    assert "error: threshold crossed: toy/plaintext.steady: max>1ns, measured " in ran.said
    assert "p50>1h" not in ran.stderr
    assert 'tests="2" failures="1"' in (tmp_path / "a.xml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "verb", [("report", "--format", "markdown"), ("judge",)], ids=["report", "judge"]
)
def test_results_that_exist_are_judged_too(counting_run: Path, verb: tuple[str, ...]) -> None:
    typed = (*verb, "results/toy", "--fail-if")
    assert run(*typed, "plaintext.goodput<1g", folder=counting_run).code == 2
    ran = run(*typed, "plaintext.goodput<900m", folder=counting_run)
    assert ran.code == 7
    assert "1 of 1 crossed" in ran.stdout


def test_json_has_the_threshold(counting_run: Path) -> None:
    ran = run("judge", "results/toy", "--json", "--fail-if", "p50>1h", folder=counting_run)
    (trial,) = json.loads(ran.stdout)
    (one,) = trial["thresholds"]
    assert (one["threshold"], one["crossed"]) == ("p50>1h", False)


def test_junit_without_a_threshold_is_refused(counting_run: Path) -> None:
    ran = run("report", "results/toy", "--junit", "a.xml", folder=counting_run)
    assert ran.code == 2
    assert "`--junit` needs a threshold" in ran.said


def test_a_recorded_load_is_judged_by_its_numbers_as_load_judges_it(
    tmp_path: Path, reference_server: str
) -> None:
    urls = [f"http://{reference_server}{path}" for path in ("/empty", "/nowhere")]
    kept, crossed = (("--fail-if", f"failures>{limit}%") for limit in (90, 10))
    for number, (limit, code) in enumerate(((kept, 1), (crossed, 7))):
        into = f"load-{number}"
        ran = run("load", *urls, "-n", "400", "-c", "4", "--record", into, *limit, folder=tmp_path)
        assert ran.code == code, ran.stderr
        for verb in (("judge",), ("report", "--format", "markdown")):
            again = run(*verb, into, *limit, folder=tmp_path)
            assert again.code == code, again.stderr
            assert "no number to judge" not in again.said
            assert ("threshold crossed: " in again.said) == (code == 7)
