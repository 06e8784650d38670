"""A folder of exported trials: complete or absent, and nothing else in it."""

import dataclasses
import json
import re

import pytest

import sample
from plimsoll.errors import StorageError
from plimsoll.export import folder, jtl, seconds
from plimsoll.export.formats import FORMATS
from recordings import simulate

OF_TRIAL = simulate()
TRIAL = OF_TRIAL.recording.trial


def names(path):
    return sorted(file.name for file in path.iterdir())


def described(path):
    return json.loads((path / TRIAL / "export.json").read_text())


def test_a_trial_has_a_folder_with_what_was_asked_for(tmp_path):
    folder.export(OF_TRIAL, ["seconds", "jtl"], tmp_path)
    assert names(tmp_path / TRIAL) == sorted([*seconds.FILES, *jtl.FILES, "export.json"])


@pytest.mark.parametrize("module", FORMATS, ids=lambda module: module.NAME)
def test_a_format_writes_the_files_that_it_names(tmp_path, module):
    folder.export(OF_TRIAL, [module.NAME], tmp_path)
    assert names(tmp_path / TRIAL) == sorted([*module.FILES, "export.json"])


def test_what_could_not_be_said_stands_beside_the_files(tmp_path):
    unsaid = folder.export(OF_TRIAL, ["jtl", "parquet"], tmp_path)
    assert described(tmp_path)["formats"] == {name: [*said] for name, said in unsaid.items()}


def test_another_format_of_the_same_recording_is_added(tmp_path):
    folder.export(OF_TRIAL, ["seconds"], tmp_path)
    before = (tmp_path / TRIAL / "seconds_success.csv").read_text()
    folder.export(OF_TRIAL, ["jtl"], tmp_path)
    assert names(tmp_path / TRIAL) == sorted([*seconds.FILES, *jtl.FILES, "export.json"])
    assert (tmp_path / TRIAL / "seconds_success.csv").read_text() == before
    assert set(described(tmp_path)["formats"]) == {"seconds", "jtl"}


def test_files_of_another_recording_of_the_trial_do_not_stay(tmp_path):
    folder.export(OF_TRIAL, ["seconds"], tmp_path)
    later = dataclasses.replace(OF_TRIAL.recording, zero_utc="2030-01-01T00:00:00Z")
    folder.export(dataclasses.replace(OF_TRIAL, recording=later), ["jtl"], tmp_path)
    assert names(tmp_path / TRIAL) == sorted([*jtl.FILES, "export.json"])


def test_a_trial_that_cannot_be_written_leaves_the_earlier_export(tmp_path, monkeypatch):
    folder.export(OF_TRIAL, ["seconds"], tmp_path)
    before = names(tmp_path / TRIAL)

    def fail(of_trial, into):
        (into / "half").write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(jtl, "write", fail)
    with pytest.raises(StorageError, match="no space left") as caught:
        folder.export(OF_TRIAL, ["seconds", "jtl"], tmp_path)
    assert "`target=`" in caught.value.hint
    assert names(tmp_path) == [TRIAL]
    assert names(tmp_path / TRIAL) == before


def test_formats_of_rows_are_refused_where_the_driver_kept_none(tmp_path):
    recording = dataclasses.replace(
        simulate(tables=False).recording,
        driver=sample.driver(name="wrk"),
    )
    of_trial = dataclasses.replace(OF_TRIAL, recording=recording, requests=None, connections=None)
    unsaid = folder.export(of_trial, [module.NAME for module in FORMATS], tmp_path)
    sentence = ("nothing to export: `wrk` logged no requests",)
    assert unsaid == {"seconds": sentence, "jtl": sentence, "hlog": sentence, "parquet": ()}
    assert not (tmp_path / TRIAL / "requests.jtl").exists()


def test_a_trial_without_a_load_says_so(tmp_path):
    recording = dataclasses.replace(simulate(tables=False).recording, driver=None)
    of_trial = dataclasses.replace(OF_TRIAL, recording=recording, requests=None)
    unsaid = folder.export(of_trial, ["jtl"], tmp_path)
    assert unsaid == {"jtl": ("nothing to export: the trial has no load",)}


def test_a_folder_with_other_things_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(StorageError, match=r"files that are not an export \(`thesis.tex`\)"):
        folder.prepare(tmp_path)


@pytest.mark.parametrize("name", ["notes.md", ".notes", "charts/own.png", "requests.jtl/own.csv"])
def test_what_somebody_put_beside_an_exported_trial_is_not_lost(tmp_path, name):
    folder.export(OF_TRIAL, ["seconds"], tmp_path)
    own = tmp_path / TRIAL / name
    own.parent.mkdir(exist_ok=True)
    own.write_text("mine")
    before = names(tmp_path / TRIAL)
    said = f"not an export (`{TRIAL}/{name.split('/')[0]}`)"
    with pytest.raises(StorageError, match=re.escape(said)) as caught:
        folder.prepare(tmp_path, [TRIAL])
    assert "move them elsewhere" in caught.value.hint
    with pytest.raises(StorageError, match=re.escape(said)):  # it may have come meanwhile
        folder.export(OF_TRIAL, ["jtl"], tmp_path)
    assert names(tmp_path / TRIAL) == before
    assert own.read_text() == "mine"
    assert names(tmp_path) == [TRIAL]


def test_files_beside_a_trial_that_is_not_exported_are_no_matter(tmp_path):
    folder.export(OF_TRIAL, ["seconds"], tmp_path)
    (tmp_path / TRIAL / "notes.md").write_text("mine")
    folder.prepare(tmp_path, ["another"])
    assert (tmp_path / TRIAL / "notes.md").read_text() == "mine"


def test_several_files_that_are_not_an_export_are_named(tmp_path):
    for name in ("b.txt", "a.txt"):
        (tmp_path / name).write_text("mine")
    with pytest.raises(StorageError, match=r"\(`a.txt`, `b.txt`\)"):
        folder.prepare(tmp_path)


@pytest.mark.parametrize("text", ["[]", "{}", '"a"', "{"])
def test_a_description_that_is_none_keeps_no_format(tmp_path, text):
    folder.export(OF_TRIAL, ["seconds"], tmp_path)
    (tmp_path / TRIAL / "export.json").write_text(text)
    folder.export(OF_TRIAL, ["jtl"], tmp_path)
    assert names(tmp_path / TRIAL) == sorted([*jtl.FILES, "export.json"])


def test_an_earlier_export_and_what_a_killed_one_left_are_accepted(tmp_path):
    folder.export(OF_TRIAL, ["seconds"], tmp_path)
    (tmp_path / f".{TRIAL}.partial").mkdir()
    folder.prepare(tmp_path, [TRIAL])
    folder.export(OF_TRIAL, ["seconds"], tmp_path)
    assert names(tmp_path) == [TRIAL]
