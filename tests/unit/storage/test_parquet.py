import dataclasses
import errno
import json
import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import toy_trials
from plimsoll.errors import StorageError
from plimsoll.recording import Ending
from plimsoll.storage import digests, documents
from plimsoll.storage.documents import CampaignFiles
from plimsoll.storage.parquet import ParquetResults, storage_error
from plimsoll.storage.results import DerivedTrial
from stored_trials import put, recording


@pytest.fixture
def results(tmp_path: Path) -> ParquetResults:
    return ParquetResults(tmp_path / "results")


def test_a_recording_of_a_newer_format_is_refused(results: ParquetResults) -> None:
    put(results, dataclasses.replace(recording(), format=2))
    with pytest.raises(StorageError, match="format 2") as caught:
        results.recording("a")
    assert "update" in caught.value.hint


@pytest.mark.parametrize("text", ["", "{", '{"trial": 1}'])
def test_a_damaged_recording_is_refused(results: ParquetResults, text: str) -> None:
    with results.trial("a") as into:
        (into / "trial.json").write_text(text)
    with pytest.raises(StorageError, match=r"trial\.json"):
        results.recording("a")


def test_a_trial_that_fails_leaves_nothing(results: ParquetResults) -> None:
    with pytest.raises(KeyboardInterrupt), results.trial("a") as into:
        (into / "requests.bin").write_bytes(b"x")
        raise KeyboardInterrupt
    assert list(results.trials.iterdir()) == []


def test_a_trial_conducted_again_replaces_the_earlier_one(results: ParquetResults) -> None:
    put(results, recording(order=1))
    put(results, recording(order=2))
    assert results.recording("a").order == 2
    assert [path.name for path in results.trials.iterdir()] == ["a"]


def test_a_damaged_table_is_refused(results: ParquetResults) -> None:
    with results.trial("a") as into:
        (into / "usage.parquet").write_bytes(b"PAR1 nonsense")
    with pytest.raises(StorageError, match=r"usage\.parquet"):
        results.table("a", "usage")


@pytest.mark.parametrize("name", ["requests", "connections", "usage"])
def test_rows_that_were_removed_are_missed(results: ParquetResults, name: str) -> None:
    put(results, dataclasses.replace(recording(), ending=Ending()))
    with pytest.raises(StorageError, match=rf"{name}\.parquet` is missing") as caught:
        results.table("a", name)
    assert "run the trial again" in caught.value.hint


def test_a_driver_without_rows_has_none(results: ParquetResults) -> None:
    made = dataclasses.replace(recording(), ending=Ending())
    assert made.driver is not None
    put(results, dataclasses.replace(made, driver=dataclasses.replace(made.driver, name="wrk")))
    found = results.table("a", "requests")
    assert isinstance(found, ds.Dataset)
    assert found.count_rows() == 0


def test_derived_tables_are_kept_and_replaced(results: ParquetResults) -> None:
    assert results.read_derived("seconds") is None
    for value in (1, 2):
        results.write_derived("seconds", pa.table({"x": [value]}))
    table = results.read_derived("seconds")
    assert table is not None
    assert table.to_pydict() == {"x": [2]}
    assert [path.name for path in results.derived.iterdir()] == ["seconds.parquet"]


def test_a_derivation_that_was_killed_leaves_nothing_that_counts(results: ParquetResults) -> None:
    put(results, recording())
    with subprocess.Popen(["true"]) as killed:
        pass
    for name in (".a.partial", f".a.pid{killed.pid}.partial", f".a.pid{killed.pid}.earlier"):
        (results.derived / name).mkdir(parents=True)
        (results.derived / name / "seconds.parquet").write_bytes(b"half")
    assert results.read_derived_trial("a") is None
    results.write_derived_trial("a", DerivedTrial({}, {"verdicts": []}))
    results.prune_derived()
    assert [path.name for path in results.derived.iterdir()] == ["a"]


def test_a_run_that_begins_leaves_a_derivation_at_work_alone(
    results: ParquetResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    results.prepare(CampaignFiles(""), [])
    put(results, recording())
    keep = digests.keep

    def beside_a_run(folder: Path) -> None:
        results.prepare(CampaignFiles(""), [])
        keep(folder)

    monkeypatch.setattr(digests, "keep", beside_a_run)
    results.write_derived_trial("a", DerivedTrial({}, {"verdicts": []}))
    assert [path.name for path in results.derived.iterdir()] == ["a"]


DERIVES = """
import pathlib, sys
import pyarrow as pa
from plimsoll.storage import parquet
from plimsoll.storage.results import DerivedTrial
results = parquet.results(pathlib.Path(sys.argv[1]))
table = pa.table({"a": [1, 2]})
print(flush=True)
input()
for _ in range(30):
    results.write_derived_trial("a", DerivedTrial({"seconds": table}, {"verdicts": []}))
    found = results.read_derived_trial("a")
    assert found is None or found.tables["seconds"].equals(table)
    results.prune_derived()
"""


def test_processes_that_derive_the_same_at_once_do_not_disturb_each_other(
    results: ParquetResults,
) -> None:
    put(results, recording())
    command = [sys.executable, "-c", DERIVES, str(results.folder)]
    pipe = subprocess.PIPE
    with ExitStack() as closing:
        writers = [
            closing.enter_context(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe))
            for _ in range(2)
        ]
        for one in writers:
            assert one.stdout is not None
            one.stdout.readline()
        for one in writers:
            assert one.stdin is not None
            one.stdin.write(b"\n")
            one.stdin.flush()
        said = [one.communicate()[1].decode() for one in writers]
        assert [one.returncode for one in writers] == [0, 0], said
    assert results.read_derived_trial("a") is not None
    assert [path.name for path in results.derived.iterdir()] == ["a"]


def test_what_is_derived_from_trials_that_are_gone_is_removed(results: ParquetResults) -> None:
    for trial in ("a", "b"):
        put(results, recording(trial))
        results.write_derived_trial(trial, DerivedTrial({}, {"verdicts": []}))
    results.write_derived_json("campaign_verdicts", {})
    shutil.rmtree(results.trials / "a")
    results.prune_derived()
    left = sorted(path.name for path in results.derived.iterdir())
    assert left == ["b", "campaign_verdicts.json"]


def test_damaged_derived_files_say_how_to_make_them_again(results: ParquetResults) -> None:
    results.derived.mkdir(parents=True)
    (results.derived / "seconds.parquet").write_bytes(b"x")
    (results.derived / "verdicts.json").write_text("{")
    with pytest.raises(StorageError) as caught:
        results.read_derived("seconds")
    assert "judge" in caught.value.hint
    with pytest.raises(StorageError):
        results.read_derived_json("verdicts")
    (results.derived / "a").mkdir()
    (results.derived / "a" / "verdicts.json").write_text("{")
    with pytest.raises(StorageError) as caught:
        results.read_derived_trial("a")
    assert "judge" in caught.value.hint


def test_a_folder_is_prepared_for_a_campaign(results: ParquetResults) -> None:
    trials = [toy_trials.trial(1), toy_trials.trial(2)]
    results.prepare(CampaignFiles("name = 'a'\n"), trials)
    plan = json.loads((results.folder / "plan.json").read_text())
    assert (results.folder / "campaign.toml").read_text() == "name = 'a'\n"
    assert plan["trials"] == [documents.planned(trial) for trial in trials]
    assert plan["trials"][0]["load"]["stages"][1]["duration_s"] == 2.0
    assert results.trials.is_dir()


def test_going_on_removes_what_a_killed_run_left(results: ParquetResults) -> None:
    results.prepare(CampaignFiles(""), [])
    (results.trials / ".a.partial").mkdir()
    (results.trials / ".a.partial" / "requests.bin").write_bytes(b"x")
    put(results, recording("b"))
    results.prepare(CampaignFiles(""), [])
    assert [path.name for path in results.trials.iterdir()] == ["b"]


def test_going_on_leaves_hidden_files_and_folders_of_others_alone(results: ParquetResults) -> None:
    results.prepare(CampaignFiles(""), [])
    elsewhere = results.folder.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "thesis.tex").touch()
    for folder in (results.trials, results.derived):
        folder.mkdir(exist_ok=True)
        for own in (".a.partial", ".a.earlier"):
            (folder / own).mkdir()
            (folder / own / "requests.bin").write_bytes(b"x")
        (folder / ".DS_Store").touch()
        (folder / ".mine.partial").touch()
        (folder / ".snapshots").mkdir()
        (folder / ".linked.partial").symlink_to(elsewhere)
    results.prepare(CampaignFiles(""), [])
    left = {".DS_Store", ".mine.partial", ".snapshots", ".linked.partial"}
    assert {path.name for path in results.trials.iterdir()} == left
    assert {path.name for path in results.derived.iterdir()} == left
    assert (elsewhere / "thesis.tex").exists()
    assert results.trial_ids() == ()


def test_a_set_of_superseded_trials_that_was_deleted_is_in_no_ones_way(
    results: ParquetResults,
) -> None:
    results.prepare(CampaignFiles(""), [])
    places: list[str] = []
    for trial in ("a", "b", "c", "d"):
        put(results, recording(trial))
        places.append(results.set_aside([trial]))
        if trial == "c":
            shutil.rmtree(results.superseded / "1")
            shutil.rmtree(results.superseded / "2")
            (results.superseded / ".DS_Store").touch()
    assert [Path(one).name for one in places] == ["1", "2", "3", "4"]
    assert ParquetResults(results.superseded / "3").trial_ids() == ("c",)
    assert ParquetResults(results.superseded / "4").trial_ids() == ("d",)


def test_a_folder_with_other_things_is_left_alone(results: ParquetResults) -> None:
    results.folder.mkdir(parents=True)
    (results.folder / "thesis.tex").write_text("x")
    with results.locked(), pytest.raises(StorageError, match=r"thesis\.tex"):
        results.prepare(CampaignFiles(""), [])
    assert not results.trials.exists()


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    results = ParquetResults(tmp_path / "file" / "results")
    with pytest.raises(StorageError, match="cannot write results") as caught, results.locked():
        pass
    assert "into" in caught.value.hint


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with (
        pytest.raises(StorageError, match="cannot write results"),
        ParquetResults(tmp_path / "r").locked(),
    ):
        pass


@pytest.mark.parametrize(
    ("error", "message", "hint"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "no space left", "free disk space"),
        (OSError("Error writing: No space left on device"), "no space left", "free disk space"),
        (PermissionError(errno.EACCES, "Permission denied"), "cannot write results", "into"),
        (OSError(errno.EIO, "Input/output error"), "Input/output error", ""),
    ],
)
def test_errors_of_the_system_become_errors_with_a_remedy(
    error: OSError, message: str, hint: str
) -> None:
    told = storage_error(Path("r"), error)
    assert message in told.message
    assert hint in told.hint


def test_published_figures_are_kept_as_given_beside_the_campaign(results: ParquetResults) -> None:
    results.prepare(CampaignFiles("name = 'a'\n", 'title = "x"\n'), [])
    assert (results.folder / "published.toml").read_text() == 'title = "x"\n'


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("plan.json", b"{", "not JSON at line 1, column 2"),
        ("plan.json", b"{}", "`trials` is missing"),
        ("plan.json", b"[]", "it is not a JSON object"),
        ("plan.json", b'{"trials": 5}', "`trials` is not a list"),
        ("plan.json", b'{"trials": [5]}', "a trial is not a JSON object"),
        ("plan.json", b'{"trials": [{}]}', "`id` is missing"),
        ("plan.json", b'{"trials": [{"id": 5}]}', "the `id` of a trial is not text"),
        ("plan.json", b'{"trials": [{"id": "a", "load": 5}]}', "the `load` of a trial is not"),
        ("campaign.json", b"[1,", "not JSON at line 1"),
        ("campaign.json", b"[]", "it is not a JSON object"),
        ("campaign.json", b'{"line": 5}', "not a campaign"),
        ("campaign.json", b'{"settings": {"a": 1}}', "`typed` is missing"),
        ("trials/a/trial.json", b"\xff", "not UTF-8 at byte 0"),
        ("trials/a/trial.json", b'{"format": 1}', "field required"),
        ("derived/campaign_verdicts.json", b"?", "not JSON at line 1, column 1"),
    ],
)
def test_a_damaged_file_is_named_with_what_is_wrong_and_what_to_do(
    tmp_path: Path, file: str, content: bytes, said: str
) -> None:
    results = ParquetResults(tmp_path)
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_bytes(content)
    read = {
        "plan.json": results.plan,
        "campaign.json": results.campaign_resolved,
        "trials/a/trial.json": lambda: results.recording("a"),
        "derived/campaign_verdicts.json": lambda: results.read_derived_json("campaign_verdicts"),
    }
    with pytest.raises(StorageError) as caught:
        read[file]()
    assert str(tmp_path / file) in caught.value.message
    assert said in caught.value.message
    assert len(caught.value.message.splitlines()) == 1
    assert caught.value.hint
