"""`docs/analysis.md`: every query runs on a campaign, and finds what the summaries say."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import plimsoll
from recordings import write_results

PAGE = Path(__file__).parents[2] / "docs" / "analysis.md"
TEXT = PAGE.read_text(encoding="utf-8")
QUERIES = re.findall(r"^## (\d+\. .*?)\n.*?^```sql\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
PROGRAMS = re.findall(r"^```python ?(\w*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the results of two frameworks, each measured twice; one failed at times."""
    here = tmp_path_factory.mktemp("analysis")
    failing = {"framework": "node", "failures": {"reset_waiting": 0.005}, "throughput_per_s": 900.0}
    write_results(
        here / "results" / "quick",
        *({"framework": "go", "repetition": number, "seed": number} for number in (1, 2)),
        *({**failing, "repetition": number, "seed": number} for number in (1, 2)),
    )
    with plimsoll.read(here / "results" / "quick") as results:
        assert len(results.findings.trials) == 4
    yield here


@pytest.fixture
def results(campaign: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, as a shell in that folder sees it."""
    monkeypatch.chdir(campaign)
    return Path("results/quick")


def asked(name: str) -> list[dict[str, Any]]:
    """The rows that a query of the page finds."""
    (query,) = [query for title, query in QUERIES if title.startswith(name)]
    with duckdb.connect() as database:
        return database.sql(query).to_arrow_table().to_pylist()


def executed(*sources: str) -> dict[str, Any]:
    """The names that programs leave, one after the other; what they print is not shown."""
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()) as said:
        for source in sources:
            exec(compile(source, "page", "exec"), names)  # noqa: S102
    assert said.getvalue()
    return names


def programs(needed: str) -> list[str]:
    """The programs that need a package."""
    if needed:
        pytest.importorskip(needed)
    return [source for package, source in PROGRAMS if package == needed]


def summaries(results: Path) -> dict[str, dict[str, Any]]:
    """The summary of each trial."""
    with plimsoll.read(results) as read:
        return {row["trial"]: row for row in read.summaries.to_pylist()}


def test_there_are_ten_queries_and_no_block_is_left_out() -> None:
    assert len(re.findall(r"^## \d+\. ", TEXT, re.MULTILINE)) == 10
    assert len(QUERIES) + len(PROGRAMS) == TEXT.count("```sql") + TEXT.count("```python") == 11


@pytest.mark.parametrize("title", [title for title, _ in QUERIES])
def test_every_query_finds_something(results: Path, title: str) -> None:
    del results
    assert asked(title)


def test_the_median_of_each_framework_is_that_of_its_repetitions(results: Path) -> None:
    known = summaries(results).values()
    of_go = [row["goodput_per_s"] for row in known if row["framework"] == "go"]
    first, second = asked("1.")
    assert first["goodput_per_s"] == pytest.approx(sum(of_go) / 2)
    assert (first["framework"], second["framework"]) == ("go", "node")
    assert (first["repetitions"], second["repetitions"]) == (2, 2)


def test_the_rows_of_the_hold_are_those_of_the_summary(results: Path) -> None:
    known = summaries(results)
    held = {
        row["trial"]: row["requests"]
        for row in asked("5.")
        if (row["stage"], row["outcome"]) == ("hold", "ok")
    }
    assert held == {trial: row["ok"] for trial, row in known.items()}


def test_the_failures_are_those_of_the_rows(results: Path) -> None:
    del results
    assert {(row["outcome"], row["errno"]) for row in asked("6.")} == {("reset_waiting", 104)}


def test_what_pandas_finds_is_in_the_summary(results: Path) -> None:
    names = executed(*programs("pandas"))
    summary = summaries(results)["go.2048.steady.1"]
    hold = names["by_stage"].loc["hold"]
    assert hold["count"] == summary["ok"]
    assert hold["max"] == pytest.approx(summary["service_time_max_ns"] / 1e6)
    assert len(names["p99_ms"]) > 2


def test_what_polars_finds_is_in_the_summary(results: Path) -> None:
    names = executed(*programs("polars"))
    summary = summaries(results)["go.2048.steady.1"]
    assert set(names["cost"]["framework"]) == {"go", "node"}
    assert 0 < names["slowest"]["responses"].sum() <= summary["completed"]


def test_a_program_sees_the_stage_of_each_request(results: Path) -> None:
    executed(*programs(""))
    with plimsoll.read(results) as read:
        trial = read.trial("go.2048.steady.1")
        found = trial.requests.filter("stage = 'hold' AND outcome = 'ok'").aggregate("count(*)")
        assert trial.summary is not None
        assert found.fetchall() == [(trial.summary.ok,)]
        stages = read.stages.to_pylist()
        assert {row["trial"] for row in stages} == {one.id for one in read.trials}


def test_everything_that_is_derived_is_documented(results: Path) -> None:
    page = (PAGE.parent / "tables.md").read_text(encoding="utf-8")
    headings = set(re.findall(r"`(\w+)`", " ".join(re.findall("^#+ .*", page, re.MULTILINE))))
    derived = {path.stem for path in (results / "derived").rglob("*.*") if path.is_file()}
    assert {"summaries", "verdicts", "campaign_verdicts", "comparisons"} <= derived <= headings


def test_polars_and_pandas_are_here_where_this_project_is_tested() -> None:
    assert all(importlib.util.find_spec(name) for name in ("pandas", "polars"))
