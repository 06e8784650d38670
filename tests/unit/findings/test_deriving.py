"""Deriving: many trials are shared among processes, and nothing depends on that."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import recordings
from plimsoll import events, machine
from plimsoll.errors import StorageError
from plimsoll.findings import derivation, deriving
from plimsoll.findings.trial import TrialFindings
from plimsoll.recording import Recording
from plimsoll.storage.parquet import ParquetResults, results
from plimsoll.storage.results import Results


@pytest.fixture
def stored(tmp_path: Path) -> ParquetResults:
    folder = tmp_path / "quick"
    many = [{"hold_s": 0.5, "repetition": one, "seed": one} for one in range(deriving.FEWEST)]
    recordings.write_results(folder, *many)
    return results(folder)


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of the trials that this process derives from here on."""
    ids: list[str] = []
    derived = derivation.derived

    def watched(results: Results, recording: Recording) -> TrialFindings:
        ids.append(recording.trial)
        return derived(results, recording)

    monkeypatch.setattr(derivation, "derived", watched)
    return ids


def on_cores(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(machine, "usable_cores", lambda: count)


def verdicts(found: Sequence[TrialFindings]) -> list[object]:
    return [(one.recording.trial, one.summary, one.verdicts) for one in found]


def test_each_core_derives_a_share_and_the_findings_are_the_same(
    stored: ParquetResults, own: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ids, told = stored.trial_ids(), list[events.Event]()
    on_cores(monkeypatch, 1)
    alone = deriving.of_trials(stored, ids)
    assert tuple(own) == ids
    own.clear()
    on_cores(monkeypatch, 3)
    shared = deriving.of_trials(stored, ids, again=True, on_event=told.append)
    assert tuple(own) == ids[::3]
    assert verdicts(shared) == verdicts(alone)
    count = len(ids)
    steps = [f"reading trials: {min(3 * number, count)} of {count}" for number in (1, 2, 3)]
    assert told == [events.Step(step) for step in steps]


def test_what_was_kept_is_derived_by_nobody(
    stored: ParquetResults, own: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = deriving.of_trials(stored, stored.trial_ids())
    own.clear()
    monkeypatch.setattr(deriving, "Beside", lambda *_: pytest.fail("a process started"))
    assert verdicts(deriving.of_trials(stored, stored.trial_ids())) == verdicts(first)
    assert own == []


def test_few_trials_are_derived_by_one_process(
    stored: ParquetResults, own: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    on_cores(monkeypatch, 3)
    deriving.of_trials(stored, stored.trial_ids()[1:])
    assert tuple(own) == stored.trial_ids()[1:]


def test_where_no_process_can_start_this_one_derives_all(
    stored: ParquetResults, own: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    on_cores(monkeypatch, 3)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    found = deriving.of_trials(stored, stored.trial_ids())
    assert len(found) == len(own) == deriving.FEWEST


def test_an_error_in_the_share_of_another_process_is_told(
    stored: ParquetResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_cores(monkeypatch, 2)
    broken = stored.trial_ids()[1]
    (stored.trials / broken / "requests.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(StorageError, match=r"requests\.parquet"):
        deriving.of_trials(stored, stored.trial_ids())


def test_no_share_goes_on_without_whom_it_is_for(
    stored: ParquetResults,
    own: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for ordered_by, expected in ((os.getppid(), stored.trial_ids()), (-1, ())):
        own.clear()
        order = {
            "folder": str(stored.folder),
            "trials": stored.trial_ids(),
            "ordered_by": ordered_by,
        }
        monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(order)))
        deriving.main()
        assert tuple(own) == tuple(json.loads(capsys.readouterr().out)) == expected
