"""What every storage does, whichever it is."""

import dataclasses
import json
import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import toy_trials
from plimsoll import storage, tables
from plimsoll.campaign.line_settings import LineSettings
from plimsoll.errors import InputError, StorageError
from plimsoll.storage import STORAGES, documents
from plimsoll.storage.documents import CampaignFiles
from plimsoll.storage.results import DerivedTrial, Results
from stored_trials import in_order, put, recording, requests, shaped

Again = Callable[[], AbstractContextManager[Results]]


@pytest.fixture(params=["parquet", "postgres"])
def again(request: pytest.FixtureRequest, tmp_path: Path) -> Again:
    """Opens the same results once more, as another process would."""
    url = request.getfixturevalue("database") if request.param == "postgres" else ""
    return lambda: storage.opened(tmp_path / "results", url)


@pytest.fixture
def results(again: Again) -> Iterator[Results]:
    with again() as opened:
        yield opened


def test_every_storage_of_the_folder_is_listed() -> None:
    folder = Path(storage.__file__).parent
    shared = {"digests", "documents", "door", "outlines", "results", "rows", "scratch", "verified"}
    names = {path.stem for path in folder.iterdir() if not path.stem.startswith("__")} - shared
    assert {module.__name__.rpartition(".")[2] for module in STORAGES} == names


def test_a_storage_that_is_none_is_refused_and_not_repeated(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match="unknown storage") as caught,
        storage.opened(tmp_path, "mysql://lab:secret@host/db"),
    ):
        pass
    assert "secret" not in str(caught.value)
    assert "postgresql://" in caught.value.problems[0].hint


def test_where_nothing_is_nothing_is_found(results: Results) -> None:
    assert results.trial_ids() == ()
    assert results.planned_ids() == ()
    assert results.plan() == []
    assert results.campaign_toml() is None
    assert results.published_toml() is None
    assert results.campaign_resolved() is None
    assert results.read_derived("seconds") is None
    assert results.read_derived_json("verdicts") is None
    assert results.derived_tables() == results.derived_documents() == ()


def test_a_recording_is_read_as_it_was_written(results: Results, again: Again) -> None:
    put(results, recording())
    assert results.recording("a") == recording()
    with again() as later:
        assert later.recording("a") == recording()


def test_a_limit_that_nothing_exceeds_is_read_as_it_was_written(
    results: Results, again: Again
) -> None:
    changed = dataclasses.replace(recording(), limits={"steady": {"silent_ratio_void": math.inf}})
    put(results, changed)
    with again() as later:
        assert later.recording("a") == changed


def test_a_trial_that_is_not_there_is_named(results: Results) -> None:
    with pytest.raises(StorageError, match="no trial `x`"):
        results.recording("x")


def test_trials_come_in_the_order_of_the_plan(results: Results) -> None:
    plan = [toy_trials.trial(number) for number in (3, 1, 2)]
    with results.locked():
        results.prepare(CampaignFiles(""), plan)
    for number in (1, 2, 3):
        put(results, recording(f"toy.empty.small.{number}"))
    assert results.trial_ids() == results.planned_ids() == tuple(trial.id for trial in plan)


def test_without_a_plan_trials_come_by_name(results: Results) -> None:
    for name in ("b", "a"):
        put(results, recording(name))
    assert results.trial_ids() == ("a", "b")


def test_a_trial_is_invisible_until_it_is_complete(results: Results, again: Again) -> None:
    with results.trial("a") as into, again() as other:
        (into / "trial.json").write_text(json.dumps(dataclasses.asdict(recording())))
        assert results.trial_ids() == other.trial_ids() == ()
    with again() as other:
        assert results.trial_ids() == other.trial_ids() == ("a",)


def test_a_trial_that_fails_leaves_nothing(results: Results) -> None:
    with pytest.raises(KeyboardInterrupt), results.trial("a") as into:
        (into / "requests.bin").write_bytes(b"x")
        raise KeyboardInterrupt
    assert results.trial_ids() == ()
    assert [path for path in results.folder.rglob("*") if path.is_file()] == []


def test_a_trial_conducted_again_replaces_the_earlier_one(results: Results) -> None:
    put(results, recording(order=1), requests=requests(100))
    put(results, recording(order=2), requests=requests(7))
    assert results.recording("a").order == 2
    assert results.trial_ids() == ("a",)
    assert results.table("a", "requests").count_rows() == 7


def test_a_trial_that_fails_again_keeps_the_earlier_one(results: Results) -> None:
    put(results, recording(order=1), requests=requests(7))
    with pytest.raises(ValueError, match="no"), results.trial("a"):
        raise ValueError("no")
    assert results.recording("a").order == 1
    assert results.table("a", "requests").count_rows() == 7


def test_rows_are_read_as_they_were_written(results: Results, again: Again) -> None:
    rows = requests(5_000)
    put(results, recording(), requests=rows)
    with again() as later:
        found = later.table("a", "requests").to_table()
    assert found.schema.equals(tables.REQUESTS.schema)
    assert in_order(found) == in_order(rows)


def test_each_trial_has_its_own_rows(results: Results, again: Again) -> None:
    for count in (3, 5):
        put(results, recording(str(count)), requests=requests(count))
    with again() as later:
        assert later.table("3", "requests").count_rows() == 3
        assert later.table("5", "requests").count_rows() == 5


def test_a_table_is_read_by_duckdb(results: Results, again: Again) -> None:
    given = {"due_ns": pa.array([5, 6]), "request": pa.array([0, 0]), "worker": pa.array([0, 0])}
    texts = {name: pa.array(["ok", "ok"]).dictionary_encode() for name in ("host", "outcome")}
    put(results, recording(), requests=shaped(tables.REQUESTS, given | texts))
    with again() as later:
        rows = later.table("a", "requests")
        assert rows.count_rows() == 2
        query = "select sum(due_ns), count(sent_ns), any_value(outcome) from rows where due_ns > 5"
        assert duckdb.execute(query).fetchall() == [(6, 0, "ok")]


@pytest.mark.parametrize("name", ["requests", "connections", "usage"])
def test_a_table_that_a_trial_does_not_have_is_empty(
    results: Results, again: Again, name: str
) -> None:
    put(results, recording())
    with again() as later:
        rows = later.table("a", name)
        assert rows.count_rows() == 0
        assert duckdb.execute("select count(*) from rows").fetchall() == [(0,)]


def test_logs_are_kept(results: Results, again: Again) -> None:
    logs = {"driver.log": "", "server.log": "line\n“ok”\n"}
    put(results, recording(), logs=logs)
    with again() as later:
        assert later.logs("a") == logs
        assert later.logs("x") == {}


@pytest.mark.parametrize("name", ["seconds", "kinds"])
def test_derived_tables_are_kept_and_replaced(results: Results, again: Again, name: str) -> None:
    schema = tables.SECONDS.schema
    for count in (2, 1):
        texts = {key: pa.array(["a"] * count).dictionary_encode() for key in ("trial", "stage")}
        columns = {"second": pa.array(range(count)), **texts}
        numbers = {
            field.name: pa.array([0] * count)
            for field in schema
            if not field.nullable and field.name not in columns
        }
        made = shaped(tables.SECONDS, columns | numbers)
        results.write_derived(name, made)
        with again() as later:
            found = later.read_derived(name)
        assert found is not None
        assert found.to_pylist() == made.to_pylist()
    assert results.derived_tables() == (name,)


def derived(*values: float) -> DerivedTrial:
    """What might be derived from a trial: a table of its own, and the verdicts on it."""
    table = pa.table({"trial": ["a"] * len(values), "value": list(values)})
    return DerivedTrial(
        {"kinds": table}, {"origin": {"x": "1"}, "verdicts": [{"value": one} for one in values]}
    )


def test_what_is_derived_from_a_trial_is_kept_and_replaced_as_a_whole(
    results: Results, again: Again
) -> None:
    put(results, recording())
    assert results.read_derived_trial("a") is None
    for made in (derived(1.5, math.inf), derived(2.5)):
        results.write_derived_trial("a", made)
        with again() as later:
            found = later.read_derived_trial("a")
        assert found is not None
        assert found.judged == made.judged
        assert found.tables.keys() == made.tables.keys()
        assert found.tables["kinds"].equals(made.tables["kinds"])
    assert results.derived_tables() == results.derived_documents() == ()


def test_what_is_derived_is_of_one_trial(results: Results) -> None:
    for trial in ("a", "b"):
        put(results, recording(trial))
    results.write_derived_trial("a", derived(1.0))
    assert results.read_derived_trial("b") is None
    assert results.read_derived_trial("none") is None
    results.prune_derived()
    assert results.read_derived_trial("a") is not None


def test_a_trial_recorded_again_is_derived_again(results: Results) -> None:
    put(results, recording())
    results.write_derived_trial("a", derived(1.0))
    put(results, recording(order=1))
    assert results.read_derived_trial("a") is None


@pytest.mark.parametrize(
    "content", [[{"check": "littles_law", "measured": None}], {"ratio": math.inf}, {"text": "“\0”"}]
)
def test_derived_documents_are_kept(results: Results, again: Again, content: object) -> None:
    results.write_derived_json("verdicts", "earlier")
    results.write_derived_json("verdicts", content)
    with again() as later:
        assert later.read_derived_json("verdicts") == content
    assert results.derived_documents() == ("verdicts",)


def test_a_campaign_is_kept_with_its_plan(results: Results, again: Again) -> None:
    trials = [toy_trials.trial(1), toy_trials.trial(2)]
    with results.locked():
        results.prepare(CampaignFiles("name = 'a'\n", "source = 'x'\n", {"seed": 2}), trials)
    with again() as later:
        assert later.campaign_resolved() == {"seed": 2}
        assert later.campaign_toml() == "name = 'a'\n"
        assert later.published_toml() == "source = 'x'\n"
        assert later.plan() == [documents.planned(trial) for trial in trials]
        assert later.plan()[0]["load"]["stages"][1]["duration_s"] == 2.0


def test_results_of_another_campaign_are_left_alone(results: Results) -> None:
    results.prepare(CampaignFiles("name = 'a'"), [])
    with pytest.raises(StorageError, match="another") as caught:
        results.prepare(CampaignFiles("name = 'b'"), [])
    assert "into" in caught.value.hint
    assert results.campaign_toml() == "name = 'a'"


def test_a_campaign_with_results_keeps_its_name(results: Results) -> None:
    results.prepare(CampaignFiles("name = 'a'", resolved={"name": "a"}), [])
    with pytest.raises(StorageError, match="has results of the campaign `a`, not of `b`") as caught:
        results.prepare(CampaignFiles("name = 'a'", resolved={"name": "b"}), [])
    assert "`into=`" in caught.value.hint
    assert results.campaign_resolved() == {"name": "a"}


def test_a_search_with_results_keeps_its_limits(results: Results) -> None:
    line = dataclasses.asdict(LineSettings(p99_s=0.02))
    results.prepare(CampaignFiles("", resolved={"line": line}), [])
    results.prepare(CampaignFiles("", resolved={"line": {**line, "budget_s": 300.0}}), [])
    with pytest.raises(StorageError, match=r"other settings: `line\.p99` differs") as caught:
        results.prepare(CampaignFiles("", resolved={"line": {**line, "p99_s": 0.05}}), [])
    assert "`into=`" in caught.value.hint


def test_results_made_with_other_settings_are_left_alone(results: Results) -> None:
    results.prepare(CampaignFiles(""), [toy_trials.trial(asked=toy_trials.load(hold_s=1.0))])
    with pytest.raises(StorageError, match="`load` of trial"):
        results.prepare(CampaignFiles(""), [toy_trials.trial(asked=toy_trials.load(hold_s=2.0))])


def test_more_trials_of_the_same_kind_may_be_added(results: Results) -> None:
    results.prepare(CampaignFiles(""), [toy_trials.trial(1)])
    moved = dataclasses.replace(toy_trials.trial(1), order=5)
    results.prepare(CampaignFiles(""), [toy_trials.trial(2), moved])
    assert len(results.plan()) == 2


@pytest.mark.parametrize(
    "now",
    ["name = 'a' # a comment", "name = 'a'\nrepetitions = 3", "name = 'a'\npublished = 'x'"],
)
def test_a_campaign_may_grow_and_be_explained(results: Results, now: str) -> None:
    results.prepare(CampaignFiles("name = 'a'\nrepetitions = 2"), [toy_trials.trial(1)])
    results.prepare(CampaignFiles(now), [toy_trials.trial(1), toy_trials.trial(2)])
    assert results.campaign_toml() == now
    assert len(results.plan()) == 2


def test_another_key_of_a_campaign_is_named(results: Results) -> None:
    results.prepare(CampaignFiles("name = 'a'\nseed = 1"), [])
    with pytest.raises(StorageError, match=r"another campaign: `cool_down`, `seed` differ$"):
        results.prepare(CampaignFiles("name = 'a'\nseed = 2\ncool_down = '1s'"), [])


def test_trials_that_are_set_aside_are_results_of_their_own(
    results: Results, request: pytest.FixtureRequest, again: Again
) -> None:
    with results.locked():
        files = CampaignFiles("name = 'a'\n", resolved={"seed": 2})
        results.prepare(files, [toy_trials.trial(1)])
        put(results, recording("a"), {"server.log": "said"}, requests=requests(100))
        put(results, recording("b"))
        results.write_derived_trial("a", derived(1.0))
        places = [results.set_aside(["a"]), results.set_aside(["b"])]
    assert results.trial_ids() == ()
    assert places[0] != places[1]
    with again() as later:
        put(later, recording("a", order=2), requests=requests(7))
        assert later.table("a", "requests").count_rows() == 7
    with _aside(request, results, places[0]) as aside:
        assert aside.trial_ids() == ("a",)
        assert aside.recording("a") == recording("a")
        assert aside.table("a", "requests").count_rows() == 100
        assert aside.logs("a") == {"server.log": "said"}
        assert aside.read_derived_trial("a") is not None
        assert aside.campaign_toml() == "name = 'a'\n"
        assert aside.campaign_resolved() == {"seed": 2}
        assert len(aside.plan()) == 1


def _aside(
    request: pytest.FixtureRequest, results: Results, place: str
) -> AbstractContextManager[Results]:
    """The results of a place that a storage named."""
    if request.node.callspec.params["again"] == "parquet":
        return storage.opened(Path(place))
    name = place.rpartition(" ")[2]
    return storage.opened(results.folder.parent / name, request.getfixturevalue("database"))


def test_recordings_of_no_campaign_are_left_alone(results: Results) -> None:
    put(results, recording())
    with results.locked(), pytest.raises(StorageError) as caught:
        results.prepare(CampaignFiles(""), [])
    assert "into" in caught.value.hint
    assert results.trial_ids() == ("a",)


def test_two_runs_refuse_each_other(results: Results, again: Again) -> None:
    with again() as other:
        with (
            results.locked(),
            pytest.raises(StorageError, match="another run") as caught,
            other.locked(),
        ):
            pass
        assert "into" in caught.value.hint
        with other.locked():
            pass
