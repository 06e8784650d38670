"""What is recorded is read once, from any storage, and nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import toy_trials
from plimsoll import storage, tables
from plimsoll.errors import InputError, StorageError
from plimsoll.events import Event, Step
from plimsoll.findings import derivation
from plimsoll.recording import Ending
from plimsoll.storage.documents import CampaignFiles
from plimsoll.storage.parquet import ParquetResults
from plimsoll.storage.results import Results
from plimsoll.watch import looking
from plimsoll.watch.recorded import CampaignReader
from stored_trials import NO_ROWS, put, recording, requests


@pytest.fixture(params=["parquet", "postgres"])
def results(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Results]:
    url = request.getfixturevalue("database") if request.param == "postgres" else ""
    with storage.opened(tmp_path / "results", url) as opened:
        yield opened


def test_where_nothing_is_a_campaign_is_required(results: Results) -> None:
    with pytest.raises(InputError, match=r"is not a folder|contains no campaign"):
        looking.require_campaign(results)


def test_a_plan_without_a_recording_will_do(results: Results) -> None:
    trials = [toy_trials.trial(number) for number in (1, 2)]
    with results.locked():
        results.prepare(CampaignFiles(""), trials)
    looking.require_campaign(results)
    found = CampaignReader(results).read()
    assert [one["id"] for one in found.plan] == [trial.id for trial in trials]
    assert (found.recorded, found.unjudged, found.findings.trials) == ((), (), ())


def test_a_trial_counts_from_when_it_was_judged_on(results: Results) -> None:
    reader = CampaignReader(results)
    rows = {**NO_ROWS, "usage": tables.USAGE.schema.empty_table(), "requests": requests(500)}
    put(results, replace(recording("a"), ending=Ending()), **rows)
    before = reader.read()
    assert (before.recorded, before.unjudged) == (("a",), ("a",))
    derivation.of_trial(results, results.recording("a"))
    after = reader.read()
    assert after.unjudged == ()
    assert [one.recording.trial for one in after.findings.trials] == ["a"]
    assert results.derived_documents() == results.derived_tables() == ()


def test_a_trial_that_failed_is_known_without_having_been_judged(results: Results) -> None:
    put(results, recording("a"))
    found = CampaignReader(results).read()
    assert found.unjudged == ()
    (trial,) = found.findings.trials
    assert (trial.state, trial.value, trial.verdicts) == ("failed", None, ())
    assert results.read_derived_trial("a") is None


def test_as_long_as_nothing_changes_the_same_is_given(results: Results) -> None:
    reader = CampaignReader(results)
    put(results, recording("a"))
    first = reader.read()
    assert reader.read() is first
    put(results, replace(recording("a"), ending=Ending("NotReady", "it slept", "")))
    second = reader.read()
    assert second is not first
    assert second.findings.trials[0].recording.ending.kind == "NotReady"


def test_a_trial_that_was_read_is_verified_once_its_files_have_changed(tmp_path: Path) -> None:
    results = ParquetResults(tmp_path / "results")
    rows = {**NO_ROWS, "usage": tables.USAGE.schema.empty_table(), "requests": requests(500)}
    put(results, replace(recording("a"), ending=Ending()), **rows)
    derivation.of_trial(results, results.recording("a"))
    reader = CampaignReader(results)
    found = reader.read()
    path = results.trials / "a" / "requests.parquet"
    path.touch()
    assert reader.read() is found
    path.write_bytes(path.read_bytes()[::-1])
    with pytest.raises(StorageError, match=r"requests\.parquet` is damaged"):
        reader.read()


def test_each_trial_is_told_before_it_is_read(results: Results) -> None:
    put(results, recording("a"))
    put(results, recording("b"))
    told: list[Event] = []
    CampaignReader(results, told.append).read()
    assert told == [Step("reading trials: 1 of 2"), Step("reading trials: 2 of 2")]
