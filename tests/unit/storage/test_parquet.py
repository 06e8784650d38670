import dataclasses
import errno
import json
import os
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import toy_trials
from plimsoll import tables
from plimsoll.errors import StorageError
from plimsoll.recording import Driver, Ending, RecordedStage, Recording, Server
from plimsoll.storage import STORAGES, parquet
from plimsoll.storage.parquet import Results, storage_error


def recording(trial: str = "a", order: int = 0) -> Recording:
    return Recording(
        trial=trial,
        order=order,
        framework="go",
        variant="one-core",
        language="Go",
        endpoint="2048",
        load={"name": "steady", "stages": [{"kind": "hold", "duration_s": 1.5}]},
        repetition=2,
        driver_name="plimsoll",
        seed=7,
        zero_utc="2026-01-02T03:04:05.000006Z",
        stages=(RecordedStage("hold", 0, 10, 1.0, 2.0, 3),),
        requests=("2048",),
        machines={"local": {"cores": [0, 1], "virtual": None}},
        versions={"framework": "go1.26"},
        clock_offsets_ns={"local": 0},
        ending=Ending("DiedUnderLoad", "it died", "feed it"),
        server=Server("127.0.0.1:1", cores=(0,), exit_code=-9),
        driver=Driver("plimsoll", "0.1", (1,), 1, "schedule", outcomes={"ok": 3}),
        contract={"before": [], "after": ["wrong"]},
        notes=("a note",),
        limits={"backlog": {"doubtful": 1.0}},
    )


def put(results: Results, what: Recording) -> None:
    with results.trial(what.trial) as into:
        (into / "trial.json").write_text(json.dumps(dataclasses.asdict(what)))


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return Results(tmp_path / "results")


def test_every_module_of_the_folder_is_listed() -> None:
    folder = Path(parquet.__file__).parent
    names = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert {module.__name__.rpartition(".")[2] for module in STORAGES} == names
    assert all(isinstance(module.results(folder), Results) for module in STORAGES)


def test_a_recording_is_read_as_it_was_written(results: Results) -> None:
    put(results, recording())
    assert results.recording("a") == recording()


def test_a_recording_of_a_newer_format_is_refused(results: Results) -> None:
    put(results, dataclasses.replace(recording(), format=2))
    with pytest.raises(StorageError, match="format 2") as caught:
        results.recording("a")
    assert "update" in caught.value.hint


@pytest.mark.parametrize("text", ["", "{", '{"trial": 1}'])
def test_a_damaged_recording_is_refused(results: Results, text: str) -> None:
    with results.trial("a") as into:
        (into / "trial.json").write_text(text)
    with pytest.raises(StorageError, match=r"trial\.json"):
        results.recording("a")


def test_a_trial_that_is_not_there_is_named(results: Results) -> None:
    with pytest.raises(StorageError, match="no trial `x`"):
        results.recording("x")


def test_trials_come_in_the_order_of_the_plan(results: Results) -> None:
    plan = [toy_trials.trial(number) for number in (3, 1, 2)]
    with results.locked():
        results.prepare("", plan)
    for number in (1, 2, 3):
        put(results, recording(f"toy.empty.small.{number}"))
    assert results.trial_ids() == tuple(trial.id for trial in plan)


def test_without_a_plan_trials_come_by_name(results: Results) -> None:
    for name in ("b", "a"):
        put(results, recording(name))
    assert results.trial_ids() == ("a", "b")


def test_a_trial_is_invisible_until_it_is_complete(results: Results) -> None:
    with results.trial("a") as into:
        (into / "trial.json").write_text("{}")
        assert results.trial_ids() == ()
    assert results.trial_ids() == ("a",)


def test_a_trial_that_fails_leaves_nothing(results: Results) -> None:
    with pytest.raises(KeyboardInterrupt), results.trial("a") as into:
        (into / "requests.bin").write_bytes(b"x")
        raise KeyboardInterrupt
    assert list(results.trials.iterdir()) == []


def test_a_trial_conducted_again_replaces_the_earlier_one(results: Results) -> None:
    put(results, recording(order=1))
    put(results, recording(order=2))
    assert results.recording("a").order == 2
    assert [path.name for path in results.trials.iterdir()] == ["a"]


def test_a_trial_that_fails_again_keeps_the_earlier_one(results: Results) -> None:
    put(results, recording(order=1))
    with pytest.raises(ValueError, match="no"), results.trial("a"):
        raise ValueError("no")
    assert results.recording("a").order == 1


def test_a_table_is_read_lazily_by_duckdb(results: Results) -> None:
    given = {"received_bytes": 1, "request": 0, "worker": 0, "host": "local", "outcome": "ok"}
    rows = [{"due_ns": due_ns, **given} for due_ns in (5, 6)]
    with results.trial("a") as into:
        table = pa.Table.from_pylist(rows, schema=tables.REQUESTS.schema)
        pq.write_table(table, into / "requests.parquet")
    requests = results.table("a", "requests")
    query = "select sum(due_ns), count(sent_ns), any_value(outcome) from requests where due_ns > 5"
    assert requests.schema.equals(tables.REQUESTS.schema)
    assert duckdb.execute(query).fetchall() == [(6, 0, "ok")]


@pytest.mark.parametrize("name", ["requests", "connections", "usage"])
def test_a_table_that_a_trial_does_not_have_is_empty(results: Results, name: str) -> None:
    put(results, recording())
    rows = results.table("a", name)
    assert rows.count_rows() == 0
    assert duckdb.execute("select count(*) from rows").fetchall() == [(0,)]


def test_a_damaged_table_is_refused(results: Results) -> None:
    with results.trial("a") as into:
        (into / "usage.parquet").write_bytes(b"PAR1 nonsense")
    with pytest.raises(StorageError, match=r"usage\.parquet"):
        results.table("a", "usage")


def test_derived_tables_are_kept_and_replaced(results: Results) -> None:
    assert results.read_derived("seconds") is None
    for value in (1, 2):
        results.write_derived("seconds", pa.table({"x": [value]}))
    table = results.read_derived("seconds")
    assert table is not None
    assert table.to_pydict() == {"x": [2]}
    assert [path.name for path in results.derived.iterdir()] == ["seconds.parquet"]


def test_derived_documents_are_kept(results: Results) -> None:
    assert results.read_derived_json("verdicts") is None
    results.write_derived_json("verdicts", [{"check": "littles_law", "measured": None}])
    assert results.read_derived_json("verdicts") == [{"check": "littles_law", "measured": None}]


def test_damaged_derived_files_say_how_to_make_them_again(results: Results) -> None:
    results.derived.mkdir(parents=True)
    (results.derived / "seconds.parquet").write_bytes(b"x")
    (results.derived / "verdicts.json").write_text("{")
    with pytest.raises(StorageError) as caught:
        results.read_derived("seconds")
    assert "judge" in caught.value.hint
    with pytest.raises(StorageError):
        results.read_derived_json("verdicts")


def test_a_folder_is_prepared_for_a_campaign(results: Results) -> None:
    trials = [toy_trials.trial(1), toy_trials.trial(2)]
    results.prepare("name = 'a'\n", trials)
    plan = json.loads((results.folder / "plan.json").read_text())
    assert (results.folder / "campaign.toml").read_text() == "name = 'a'\n"
    assert plan["trials"] == [parquet.planned(trial) for trial in trials]
    assert plan["trials"][0]["load"]["stages"][1]["duration_s"] == 2.0
    assert results.trials.is_dir()


def test_going_on_removes_what_a_killed_run_left(results: Results) -> None:
    results.prepare("", [])
    (results.trials / ".a.partial").mkdir()
    (results.trials / ".a.partial" / "requests.bin").write_bytes(b"x")
    put(results, recording("b"))
    results.prepare("", [])
    assert [path.name for path in results.trials.iterdir()] == ["b"]


def test_results_of_another_campaign_are_left_alone(results: Results) -> None:
    results.prepare("name = 'a'", [])
    with pytest.raises(StorageError, match="another campaign") as caught:
        results.prepare("name = 'b'", [])
    assert "--into" in caught.value.hint
    assert (results.folder / "campaign.toml").read_text() == "name = 'a'"


def test_results_made_with_other_settings_are_left_alone(results: Results) -> None:
    results.prepare("", [toy_trials.trial(asked=toy_trials.load(hold_s=1.0))])
    with pytest.raises(StorageError, match="`load` of trial"):
        results.prepare("", [toy_trials.trial(asked=toy_trials.load(hold_s=2.0))])


def test_more_trials_of_the_same_kind_may_be_added(results: Results) -> None:
    results.prepare("", [toy_trials.trial(1)])
    moved = dataclasses.replace(toy_trials.trial(1), order=5)
    results.prepare("", [toy_trials.trial(2), moved])
    assert len(json.loads((results.folder / "plan.json").read_text())["trials"]) == 2


def test_a_folder_with_other_things_is_left_alone(results: Results) -> None:
    results.folder.mkdir(parents=True)
    (results.folder / "thesis.tex").write_text("x")
    with results.locked(), pytest.raises(StorageError, match=r"thesis\.tex"):
        results.prepare("", [])
    assert not results.trials.exists()


def test_two_runs_in_one_folder_refuse_each_other(results: Results) -> None:
    with (
        results.locked(),
        pytest.raises(StorageError, match="another run") as caught,
        Results(results.folder).locked(),
    ):
        pass
    assert "--into" in caught.value.hint
    with results.locked():
        pass


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    results = Results(tmp_path / "file" / "results")
    with pytest.raises(StorageError, match="cannot be written") as caught, results.locked():
        pass
    assert "--into" in caught.value.hint


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StorageError, match="cannot be written"), Results(tmp_path / "r").locked():
        pass


@pytest.mark.parametrize(
    ("error", "message", "hint"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "no space left", "free some space"),
        (OSError("Error writing: No space left on device"), "no space left", "free some space"),
        (PermissionError(errno.EACCES, "Permission denied"), "cannot be written", "--into"),
        (OSError(errno.EIO, "Input/output error"), "Input/output error", ""),
    ],
)
def test_errors_of_the_system_become_errors_with_a_remedy(
    error: OSError, message: str, hint: str
) -> None:
    told = storage_error(Path("r"), error)
    assert message in told.message
    assert hint in told.hint
