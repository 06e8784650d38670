"""Gathering: stored results become findings, and what was worked out is kept."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import recordings
from plimsoll.aggregate.trial import Tables
from plimsoll.findings import derivation, gathering
from plimsoll.recording import Ending
from plimsoll.storage import digests
from plimsoll.storage.parquet import ParquetResults, results
from plimsoll.verdicts.judge import judge
from plimsoll.verdicts.verdict import Verdict


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> ParquetResults:
    folder = tmp_path_factory.mktemp("results") / "quick"
    recordings.write_results(
        folder,
        {"framework": "go", "hold_s": 3.0},
        {"framework": "node", "hold_s": 3.0, "failures": {"reset_waiting": 0.02}},
        {"framework": "go", "hold_s": 3.0, "repetition": 2, "seed": 2},
        {
            "framework": "spring",
            "ending": Ending("StartFailed", "`spring` ended before it was ready"),
            "tables": False,
        },
    )
    return results(folder)


def test_findings_have_every_trial_with_its_rows(stored: ParquetResults) -> None:
    findings = gathering.gather(stored)
    assert findings.campaign == "quick"
    assert [trial.recording.title for trial in findings.trials] == ["go", "node", "go", "spring"]
    node = findings.trials[1]
    assert node.summary is not None
    assert node.data.seconds.num_rows >= 6
    assert node.data.memory.num_rows == node.data.seconds.num_rows
    assert node.data.connections.num_rows == node.data.seconds.num_rows
    assert [(one.outcome, one.errno_name) for one in node.failures] == [
        ("reset_waiting", "ECONNRESET")
    ]
    assert {verdict.subject for verdict in node.verdicts} == {node.recording.trial}


def test_failures_by_second_add_up_to_those_of_the_seconds(stored: ParquetResults) -> None:
    data = gathering.gather(stored).trials[1].data
    assert sum(data.failures["count"].to_pylist()) == sum(data.seconds["failed"].to_pylist()) > 0


def test_a_trial_that_failed_is_among_the_findings(stored: ParquetResults) -> None:
    failed = gathering.gather(stored).trials[3]
    assert failed.state == "failed"
    assert failed.value is None


def test_what_was_worked_out_is_used_again(
    stored: ParquetResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = gathering.gather(stored)
    monkeypatch.setattr(derivation, "judge", lambda _: pytest.fail("judged again"))
    again = gathering.gather(stored)
    assert again.counts == first.counts
    assert [trial.verdicts for trial in again.trials] == [trial.verdicts for trial in first.trials]
    assert again.trials[1].data.seconds.equals(first.trials[1].data.seconds)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of the trials that are judged from here on."""
    ids: list[str] = []

    def noted(tables: Tables) -> tuple[Verdict, ...]:
        ids.append(tables.recording.trial)
        return judge(tables)

    monkeypatch.setattr(derivation, "judge", noted)
    return ids


@pytest.mark.parametrize("part", ["plimsoll", "recording", "limits"])
def test_a_trial_whose_origin_changed_is_worked_out_anew_and_no_other(
    stored: ParquetResults, judged: list[str], part: str
) -> None:
    second = gathering.gather(stored).trials[1].recording.trial
    judged.clear()
    path = stored.derived / second / "verdicts.json"
    content = json.loads(path.read_text())
    content["origin"][part] = "another"
    path.write_text(json.dumps(content))
    digests.keep(path.parent)
    gathering.gather(stored)
    assert judged == [second]


def test_judging_again_works_out_every_trial(stored: ParquetResults, judged: list[str]) -> None:
    gathering.gather(stored)
    judged.clear()
    gathering.gather(stored, again=True)
    assert sorted(judged) == sorted(stored.trial_ids())


SHORT = {"hold_s": 1.0, "ramp_s": 0.0}


def test_a_trial_judged_at_its_end_is_not_judged_again(tmp_path: Path, judged: list[str]) -> None:
    first, second = recordings.write_results(
        tmp_path / "two", SHORT, {**SHORT, "framework": "node"}
    )
    stored = results(tmp_path / "two")
    assert derivation.of_trial(stored, first).verdicts
    assert judged == [first.trial]
    gathering.gather(stored)
    assert judged == [first.trial, second.trial]


def test_a_trial_recorded_again_is_judged_again(tmp_path: Path, judged: list[str]) -> None:
    folder = tmp_path / "two"
    recordings.write_results(folder, SHORT, {**SHORT, "framework": "node"})
    gathering.gather(results(folder))
    judged.clear()
    again = recordings.write_trial(folder / "trials" / "go.2048.steady.1", **SHORT, seed=9)
    gathering.gather(results(folder))
    assert judged == [again.trial]


def test_what_was_derived_from_a_trial_that_is_gone_goes_as_well(tmp_path: Path) -> None:
    folder = tmp_path / "two"
    first, second = recordings.write_results(folder, SHORT, {**SHORT, "framework": "node"})
    gathering.gather(results(folder))
    shutil.rmtree(folder / "trials" / first.trial)
    gathering.gather(results(folder))
    assert [path.name for path in (folder / "derived").iterdir() if path.is_dir()] == [second.trial]


def test_the_queries_of_the_page_of_tables_can_be_asked(
    stored: ParquetResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[3] / "docs" / "tables.md").read_text(encoding="utf-8")
    queries = page.partition("```sql\n")[2].partition("```")[0].splitlines()
    gathering.gather(stored)
    monkeypatch.chdir(stored.folder)
    assert len(queries) == 2
    for query in queries:
        with duckdb.connect() as database:
            assert database.execute(query.replace("results/quick/", "")).fetchall()


def test_one_query_reads_what_was_derived_from_all_trials(tmp_path: Path) -> None:
    folder = tmp_path / "two"
    recordings.write_results(folder, SHORT, {**SHORT, "framework": "node"})
    gathering.gather(results(folder))
    for table in derivation.SCHEMAS:
        with duckdb.connect() as database:
            files = database.read_parquet(f"{folder}/derived/*/{table}.parquet")
            found = {name for (name,) in files.select("trial").fetchall()}
        assert found <= set(results(folder).trial_ids())
        assert len(found) == 2 or table not in ("seconds", "summaries")


def test_planned_trials_without_a_recording_are_missing(tmp_path: Path) -> None:
    folder = tmp_path / "cut"
    recordings.write_results(folder, {"hold_s": 1.0, "ramp_s": 0.0})
    plan = {"trials": [{"id": "go.2048.steady.1"}, {"id": "node.2048.steady.1"}]}
    (folder / "plan.json").write_text(json.dumps(plan))
    findings = gathering.gather(results(folder))
    assert findings.missing == ("node.2048.steady.1",)


def test_results_without_trials_have_findings_without_trials(tmp_path: Path) -> None:
    assert gathering.gather(results(tmp_path / "none")).trials == ()


def blocks(folder: Path, *throughputs: float) -> ParquetResults:
    """A campaign of the reference server and another one, with one block for each number."""
    trials = [
        {
            "framework": name,
            "repetition": block,
            "seed": block,
            "hold_s": 1.5,
            "ramp_s": 0.0,
            "throughput_per_s": throughput,
        }
        for block, throughput in enumerate(throughputs, 1)
        for name in ("reference", "go")
    ]
    recordings.write_results(folder, *trials)
    return results(folder)


def test_a_void_block_takes_its_trials_out_of_the_rankings(tmp_path: Path) -> None:
    findings = gathering.gather(blocks(tmp_path / "drift", 2000.0, 2000.0, 1200.0))
    (void,) = [one for one in findings.verdicts if one.level == "void"]
    assert not any("differ:" in one.text for one in findings.verdicts)
    assert (void.check, void.subject) == ("reference_drift", "block 3")
    assert [trial.level == "void" for trial in findings.trials] == [False] * 4 + [True] * 2
    rows = findings.comparisons.to_pylist()
    assert {(row["repetitions"], row["excluded"]) for row in rows} == {(2, 1)}


def test_a_step_of_a_ladder_is_not_void_with_a_block_of_peaks(tmp_path: Path) -> None:
    folder = tmp_path / "ladder"
    every: dict[str, Any] = {"hold_s": 1.5, "ramp_s": 0.0}
    peaks = [
        {"framework": name, "repetition": block, "load": "peak", "throughput_per_s": per_s}
        for block, per_s in enumerate((2000.0, 2000.0, 1200.0), 1)
        for name in ("reference", "go")
    ]
    step = {"framework": "go", "repetition": 3, "load": "step-1", "throughput_per_s": 500.0}
    recordings.write_results(folder, *({**every, **one} for one in (*peaks, step)))
    (folder / "campaign.json").write_text('{"ladder": {"rates": [500.0], "shares": []}}')
    found = gathering.gather(results(folder)).trials
    assert [one.recording.load.name for one in found if one.level == "void"] == ["peak"] * 2
    assert len(found) == 7


def test_verdicts_on_the_campaign_are_kept(tmp_path: Path) -> None:
    stored = blocks(tmp_path / "kept", 2000.0, 2000.0)
    first = gathering.gather(stored).verdicts
    assert {one.check for one in first} >= {"repetitions_agree", "reference_drift"}
    kept = json.loads((stored.derived / "campaign_verdicts.json").read_text())["verdicts"]
    assert [one["sentences"][0]["text"] for one in kept] == [one.sentences[0].text for one in first]
    assert gathering.gather(stored).verdicts == first


def test_one_trial_is_no_campaign(tmp_path: Path) -> None:
    recordings.write_results(tmp_path / "one", {"hold_s": 1.0, "ramp_s": 0.0})
    assert gathering.gather(results(tmp_path / "one")).verdicts == ()


def test_the_verdicts_of_one_trial_are_those_of_its_campaign(stored: ParquetResults) -> None:
    trial = gathering.gather(stored).trials[0]
    assert derivation.of_trial(stored, trial.recording, again=True).verdicts == trial.verdicts


def test_a_campaign_with_until_knows_how_far_it_came(tmp_path: Path) -> None:
    folder = tmp_path / "until"
    trials = [
        {**SHORT, "framework": name, "repetition": block, "seed": 10 * block + number}
        for block in (1, 2)
        for number, name in enumerate(("go", "node"))
    ]
    recordings.write_results(folder, *trials)
    ordinary = gathering.gather(results(folder))
    assert ordinary.progress is None
    (folder / "campaign.json").write_text('{"repetitions": 2, "until": 0.5, "budget_s": 60.0}')
    early = gathering.gather(results(folder))
    assert early.progress is not None
    assert [one.blocks for one in early.progress.tables] == [2]
    assert width(early.comparisons) > width(ordinary.comparisons) > 0


def width(comparisons: pa.Table) -> float:
    """The width of the interval of node's goodput."""
    rows = [row for row in comparisons.to_pylist() if row["framework"] == "node"]
    (row,) = [row for row in rows if row["quantity"] == "goodput_per_s"]
    return row["high"] - row["low"]
