"""A campaign of which nothing is left to run is recognised without reading its recordings."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll import events, plan
from plimsoll.conduct import provenance
from plimsoll.install import applications
from plimsoll.lab import finished, selection
from plimsoll.plan import Trial
from plimsoll.provenance import Part, Provenance
from plimsoll.recording import Ending, Recording
from plimsoll.storage.documents import CampaignFiles
from plimsoll.storage.parquet import ParquetResults
from stored_trials import put, recording

CAMPAIGN = """
name = "small"
frameworks = ["reference"]
endpoints = ["empty", "2048"]
repetitions = 2

[[load]]
name = "steady"
stages = [{ kind = "hold", duration = "1s", at = 2 }]
"""

FAILED = Ending("DiedUnderLoad", "it died", "look at its log")


class Conducted:
    """A campaign that was conducted.

    Args:
        folder: Where its file and its results are.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "small.toml"
        self.path.write_text(CAMPAIGN)
        self.results = ParquetResults(folder / "results")
        self.trials = plan.plan(selection.campaign(self.path, (), None))
        with self.results.locked():
            self.results.prepare(self.files(), self.trials)
        for trial in self.trials:
            put(self.results, self.recorded(trial))

    def files(self, *settings: str) -> CampaignFiles:
        """Its files as its results keep them."""
        requested = selection.campaign(self.path, settings, None)
        document = selection.document_of(requested, self.path, settings, None)
        return CampaignFiles(self.path.read_text(), None, document)

    def recorded(self, trial: Trial) -> Recording:
        """A recording of one of its trials."""
        here, _ = finished.here(selection.campaign(self.path, (), None))
        ran = Provenance(applications.of(trial.framework), provenance.measurement(trial, here))
        return replace(recording(), trial=trial.id, provenance=ran, ending=Ending())

    def found(self, *settings: str) -> finished.Finished | None:
        """What is found of it."""
        requested = selection.campaign(self.path, settings, None)
        return finished.of(requested, self.files(*settings), self.results)


@pytest.fixture
def conducted(tmp_path: Path) -> Conducted:
    """A campaign of four trials."""
    return Conducted(tmp_path)


def test_it_is_told_like_a_run_that_skips_every_trial(conducted: Conducted) -> None:
    put(conducted.results, replace(conducted.recorded(conducted.trials[1]), ending=FAILED))
    found = conducted.found()
    assert found is not None
    told: list[events.Event] = []
    found.tell(told.append)
    kinds = ["completed", FAILED.kind, "completed", "completed"]
    skipped = map(events.TrialSkipped, conducted.trials, kinds)
    ended = events.CampaignEnded(3, (conducted.trials[1].id,))
    assert told[-6:] == [events.CampaignStarted(4, 0, 0.0), *skipped, ended]


def test_no_recording_is_read_again(conducted: Conducted, monkeypatch: pytest.MonkeyPatch) -> None:
    assert conducted.found() is not None

    def unread(_: ParquetResults, trial_id: str) -> Recording:
        raise AssertionError(trial_id)

    monkeypatch.setattr(ParquetResults, "recording", unread)
    assert conducted.found() is not None


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize(
    "what",
    ["removed", "application", "unknown", "measurement", "file", "setting", "killed", "results"],
)
def test_what_is_left_to_a_run(
    conducted: Conducted, monkeypatch: pytest.MonkeyPatch, what: str, *, is_known: bool
) -> None:
    if is_known:
        assert conducted.found() is not None
    first = conducted.recorded(conducted.trials[0])
    was = first.provenance
    settings: tuple[str, ...] = ()
    match what:
        case "removed":
            shutil.rmtree(conducted.results.trials / first.trial)
        case "application":
            other = Part("version", "framework", "0.0.1")
            put(conducted.results, replace(first, provenance=replace(was, application=(other,))))
        case "unknown":
            monkeypatch.setattr(applications, "of", lambda _: ())
        case "measurement":
            put(conducted.results, replace(first, provenance=replace(was, measurement=())))
        case "file":
            conducted.path.write_text(CAMPAIGN.replace("1s", "2s"))
        case "setting":
            settings = ("repetitions=1",)
        case "killed":
            (conducted.results.folder / "live.json").touch()
        case _:
            shutil.rmtree(conducted.results.folder)
    assert conducted.found(*settings) is None


def test_what_an_outline_says_ends_with_its_file(conducted: Conducted) -> None:
    results, trial = conducted.results, conducted.trials[0].id
    assert results.endings()[trial] == "completed"
    path = results.trials / trial / "trial.json"
    path.write_text(path.read_text().replace('"completed"', '"DiedUnderLoad"'))
    path.with_name("SHA256SUMS").unlink()
    assert results.endings()[trial] == "DiedUnderLoad"
    (results.folder / ".outlines.json").write_text('{"' + trial)
    assert results.endings()[trial] == "DiedUnderLoad"
    os.utime(path, ns=(0, 0))
    assert results.endings()[trial] == "DiedUnderLoad"
