"""A database that refuses, is lost, is older or newer; and what it is asked by others."""

import itertools
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest

import postgres_server
import small_disks
import stored_trials
import toy_trials
from plimsoll import storage, tables
from plimsoll.aggregate.outcomes import BY_NAME, NOT_FAILED, RIGHT
from plimsoll.errors import StorageError
from plimsoll.findings import derivation
from plimsoll.storage import parquet
from plimsoll.storage import postgres as postgresql
from plimsoll.storage.documents import CampaignFiles
from plimsoll.storage.postgres import connection as connections
from plimsoll.storage.postgres import copying, schema, trials
from plimsoll.storage.postgres import derived as of_trials
from plimsoll.storage.results import DerivedTrial, JudgedTrial, Results
from postgres_server import PASSWORD, USER, Server
from stored_trials import in_order, put, recording, requests

HERE = Path(__file__).parent


@contextmanager
def opened(folder: Path, url: str) -> Generator[Results]:
    with storage.opened(folder / "results", url) as results:
        yield results


@pytest.fixture
def results(tmp_path: Path, database: str) -> Iterator[Results]:
    with opened(tmp_path, database) as found:
        yield found


@pytest.fixture
def ask(postgres: Server, database: str) -> Any:
    """Asks the database of the test something, as its owner."""
    name = database.rpartition("/")[2]
    return lambda statement: postgres.execute(statement, name)


def refused(folder: Path, url: str) -> StorageError:
    """What is said when the results of a campaign are to be written there."""
    with pytest.raises(StorageError) as caught, opened(folder, url) as results, results.locked():
        pass
    error = caught.value
    assert error.exit_code == 6
    assert error.hint
    assert not isinstance(error.__cause__, psycopg.Error)
    for secret in (PASSWORD, "s3cr"):
        assert secret not in f"{error.message} {error.hint}"
    return error


# What is refused


def test_a_wrong_password_is_named_and_not_shown(tmp_path: Path, postgres: Server) -> None:
    error = refused(tmp_path, postgres.url(password=PASSWORD[::-1]))
    assert "rejects the password" in error.message
    assert "~/.pgpass" in error.hint


def test_a_password_that_is_missing_is_asked_for(
    tmp_path: Path, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "none"))
    url = f"postgresql://{USER}@127.0.0.1:{postgres.port}/postgres"
    assert "rejects the password" in refused(tmp_path, url).message


def test_a_database_that_is_not_there_is_named(tmp_path: Path, postgres: Server) -> None:
    error = refused(tmp_path, postgres.url("nowhere"))
    assert "does not exist" in error.message
    assert "createdb" in error.hint


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    url = f"postgresql://lab:s3cr@127.0.0.1:{postgres_server.free_port()}/results"
    error = refused(tmp_path, url)
    assert "is unreachable" in error.message
    assert "Connection refused" in error.message


def test_a_mistake_in_the_address_is_named(tmp_path: Path, postgres: Server) -> None:
    error = refused(tmp_path, f"{postgres.url()}?sslmoode=require")
    assert "sslmoode" in error.message


def test_a_right_that_is_missing_is_named(tmp_path: Path, postgres: Server, database: str) -> None:
    name = database.rpartition("/")[2]
    postgres.execute(f"CREATE ROLE {name}_reader LOGIN PASSWORD 's3cr'")
    error = refused(tmp_path, postgres.url(name, f"{name}_reader", "s3cr"))
    assert "denies a permission" in error.message
    assert name in error.message
    assert "docs/postgres.md" in error.hint


def test_the_rights_that_the_page_names_are_enough(
    tmp_path: Path, postgres: Server, database: str, ask: Any
) -> None:
    name = database.rpartition("/")[2]
    with opened(tmp_path, database) as owner, owner.locked():
        pass
    ask(f"CREATE ROLE lab_of_{name} LOGIN PASSWORD 's3cr'")
    page = (HERE.parents[2] / "docs" / "postgres.md").read_text(encoding="utf-8")
    grants = [line for line in page.splitlines() if line.startswith("GRANT") and "TO lab;" in line]
    assert len(grants) == 2
    for grant in grants:
        ask(grant.replace("TO lab;", f"TO lab_of_{name}"))
    with opened(tmp_path, postgres.url(name, f"lab_of_{name}", "s3cr")) as results:
        with results.locked():
            results.prepare(CampaignFiles(""), [toy_trials.trial(1)])
        for order in (1, 2):
            put(results, recording(order=order), requests=requests(10))
        results.write_derived("kinds", pa.table({"x": [1]}))
        results.write_derived_json("verdicts", {})
        results.write_derived_trial("a", DerivedTrial({}, {"verdicts": []}))
        assert results.recording("a").order == 2
        assert results.table("a", "requests").count_rows() == 10


def test_a_request_knows_its_stage(results: Results, ask: Any) -> None:
    end_ns = 2_000_000_000
    rows = requests(1000)
    put(results, recording(end_ns=end_ns), requests=rows)
    derivation.of_trial(results, results.recording("a"))
    found = ask("SELECT stage, count(*) FROM plimsoll.requests_by_stage GROUP BY stage")
    ended = [row["done_ns"] or row["due_ns"] for row in rows.to_pylist()]
    held = sum(one < end_ns for one in ended)
    assert dict(found) == {"hold": held, "after": 1000 - held}


def test_what_the_page_asks_can_be_asked(results: Results, ask: Any) -> None:
    put(results, recording(), requests=requests(100))
    page = (HERE.parents[2] / "docs" / "postgres.md").read_text(encoding="utf-8")
    queries = re.findall(r"```sql\n(SELECT.*?)```", page, re.DOTALL)
    assert len(queries) == 5
    for query in queries:
        ask(query.replace("quick", "results").replace("$trial", "a"))


def test_a_database_that_may_only_be_read_is_named(
    tmp_path: Path, postgres: Server, database: str
) -> None:
    name = database.rpartition("/")[2]
    postgres.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    assert "is read-only" in refused(tmp_path, database).message


def test_a_server_that_is_too_old_is_refused(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "OLDEST", 99)
    error = refused(tmp_path, database)
    assert "too old" in error.message
    assert "PostgreSQL 99" in error.hint


def test_without_the_library_its_installation_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    error = refused(tmp_path, "postgresql://lab:s3cr@127.0.0.1/results")
    assert "need the Python package `psycopg`" in error.message
    assert "plimsoll-bench[postgres]" in error.hint


def test_reading_makes_nothing_where_nothing_is(results: Results, ask: Any) -> None:
    assert results.trial_ids() == ()
    assert ask("SELECT count(*) FROM pg_namespace WHERE nspname = 'plimsoll'") == [(0,)]


def test_the_password_may_stand_in_a_file_of_libpq(
    tmp_path: Path, postgres: Server, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    escaped = PASSWORD.replace(":", r"\:")
    file = tmp_path / "pgpass"
    file.write_text(f"127.0.0.1:{postgres.port}:*:{USER}:{escaped}\n", encoding="utf-8")
    file.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(file))
    monkeypatch.setenv("PGPORT", str(postgres.port))
    monkeypatch.setenv("PGDATABASE", database.rpartition("/")[2])
    with opened(tmp_path, f"postgresql://{USER}@127.0.0.1") as results:
        put(results, recording())
        assert results.trial_ids() == ("a",)


def test_a_socket_of_this_host_does_as_well(
    tmp_path: Path, postgres: Server, database: str
) -> None:
    _, _, name = database.rpartition("/")
    query = f"host={postgres.folder}&port={postgres.port}&user={USER}&password=s3cr%3At%2Fw%40rd"
    with opened(tmp_path, f"postgresql:///{name}?{query}") as results:
        put(results, recording())
        assert results.place == f"postgresql:///{name}, campaign results"


# Versions of the tables


def test_the_tables_of_the_database_are_those_of_the_data_dictionary(
    results: Results, ask: Any
) -> None:
    """Whoever changes `tables.py` adds a step to `storage/postgres/schema/`."""
    put(results, recording())
    found: dict[str, dict[str, str]] = {}
    for table, column, kind in ask(
        "SELECT table_name, column_name, data_type FROM information_schema.columns"
        " WHERE table_schema = 'plimsoll'"
    ):
        found.setdefault(table, {})[column] = kind
    for table in tables.TABLES:
        key = "trial_id" if table.stored == "recorded" else "campaign_id"
        columns = {column.name: _wide_enough(column.type) for column in table.columns}
        assert found[table.name] == {key: "integer", **columns}


def _wide_enough(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind) or pa.types.is_string(kind):
        return "text"
    if pa.types.is_floating(kind):
        return "double precision"
    if pa.types.is_boolean(kind):
        return "boolean"
    bits = kind.bit_width + pa.types.is_unsigned_integer(kind)
    return next(
        name for most, name in ((16, "smallint"), (32, "integer"), (64, "bigint")) if bits <= most
    )


def test_a_newer_database_is_refused_and_left_alone(
    results: Results, tmp_path: Path, database: str, ask: Any
) -> None:
    put(results, recording())
    ask("UPDATE plimsoll.schema_version SET version = 1000")
    error = refused(tmp_path, database)
    assert "schema version 1000" in error.message
    assert "update Plimsoll" in error.hint
    assert ask("SELECT count(*) FROM plimsoll.trials") == [(1,)]


def first_step(steps: tuple[str, ...]) -> str:
    """The first version of the tables, with the columns of rows that this program writes."""
    added = (step for step in steps if "ALTER TABLE plimsoll.connections" in step)
    return "\n".join([steps[0], *added])


def test_an_older_database_is_brought_up_with_all_that_it_holds(
    tmp_path: Path, database: str, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = schema.steps()
    monkeypatch.setattr(schema, "steps", lambda: (first_step(steps),))
    with opened(tmp_path, database) as older:
        put(older, recording(end_ns=10), requests=requests(500))
    assert ask("SELECT version FROM plimsoll.schema_version") == [(1,)]
    assert ask("SELECT to_regclass('plimsoll.seconds_success')") == [(None,)]

    monkeypatch.setattr(schema, "steps", lambda: steps)
    with opened(tmp_path, database) as newer:
        assert newer.trial_ids() == ("a",)
        assert newer.table("a", "requests").count_rows() == 500
    assert ask("SELECT version FROM plimsoll.schema_version") == [(len(steps),)]
    ((counted,),) = ask("SELECT sum(requests) FROM plimsoll.seconds_success")
    assert ask("SELECT count(*) FROM plimsoll.requests WHERE outcome = 'ok'") == [(counted,)]


def test_a_step_that_fails_leaves_the_older_database_as_it_was(
    tmp_path: Path, database: str, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = schema.steps()
    monkeypatch.setattr(schema, "steps", lambda: (first_step(steps),))
    with opened(tmp_path, database) as older:
        put(older, recording())
    monkeypatch.setattr(schema, "steps", lambda: (*steps, "SELECT nonsense"))
    refused(tmp_path, database)
    assert ask("SELECT version FROM plimsoll.schema_version") == [(1,)]
    assert ask("SELECT to_regclass('plimsoll.seconds_success')") == [(None,)]


def test_several_may_make_the_tables_at_the_same_time(tmp_path: Path, database: str) -> None:
    def make(number: int) -> None:
        try:
            with storage.opened(tmp_path / str(number), database) as results, results.locked():
                pass
        except StorageError as error:
            wrong.append(error)

    wrong: list[StorageError] = []
    threads = [threading.Thread(target=make, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# What is lost on the way


def test_a_connection_that_was_lost_is_opened_again(results: Results, ask: Any) -> None:
    put(results, recording())
    cut(ask)
    assert results.trial_ids() == ("a",)


def test_a_lock_that_was_lost_is_taken_again(
    results: Results, tmp_path: Path, database: str, ask: Any
) -> None:
    with results.locked():
        cut(ask)
        put(results, recording())
        with (
            storage.opened(tmp_path / "other" / "results", database) as other,
            pytest.raises(StorageError, match="another run"),
            other.locked(),
        ):
            pass


def test_a_lock_that_another_run_took_meanwhile_ends_the_run(
    results: Results, tmp_path: Path, database: str, ask: Any
) -> None:
    with results.locked(), storage.opened(tmp_path / "other" / "results", database) as other:
        cut(ask)
        with other.locked(), pytest.raises(StorageError, match="another run"):
            put(results, recording())
        assert other.trial_ids() == ()


def test_a_recording_that_could_not_be_loaded_waits_and_is_loaded_by_the_next_run(
    tmp_path: Path, ask: Any, database: str
) -> None:
    plan = [toy_trials.trial(1)]
    rows = requests(300)
    with opened(tmp_path, database) as results:
        results.prepare(CampaignFiles(""), plan)
        ask("ALTER TABLE plimsoll.requests RENAME TO elsewhere")
        with pytest.raises(StorageError) as caught:
            put(results, recording(plan[0].id), requests=rows, usage=usage())
        assert "is kept in" in caught.value.hint
        assert "to-load" in caught.value.hint
        assert results.trial_ids() == ()
    ask("ALTER TABLE plimsoll.elsewhere RENAME TO requests")
    with opened(tmp_path, database) as results, results.locked():
        results.prepare(CampaignFiles(""), plan)
        assert results.trial_ids() == (plan[0].id,)
        assert in_order(results.table(plan[0].id, "requests").to_table()) == in_order(rows)
    assert list(tmp_path.rglob("to-load")) == []


def test_a_loaded_trial_is_judged_where_it_was_recorded_and_not_read_again(
    results: Results, tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = requests(300)
    nowhere = tmp_path / "nowhere"
    monkeypatch.setattr(tempfile, "tempdir", str(nowhere))
    put(results, recording("a"), requests=rows)
    with opened(tmp_path, database) as reader:
        assert reader.trial_ids() == ("a",)
    assert in_order(results.table("a", "requests").to_table()) == in_order(rows)
    put(results, recording("b"), requests=requests(5))
    assert results.table("b", "requests").count_rows() == 5
    with pytest.raises(StorageError) as caught:
        results.table("a", "requests")
    assert f"`{nowhere}`" in caught.value.message
    assert "TMPDIR" in caught.value.hint
    monkeypatch.undo()
    assert results.table("a", "requests").count_rows() == 300


def test_rows_of_a_process_that_was_killed_do_not_stay(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    for asked in (
        "known.put(results, known.recording('b'), requests=known.requests(5))",
        "results.table('a', 'requests')",
    ):
        with opened(tmp_path, database) as results:
            put(results, recording("a"), requests=requests(5))
        lines = (
            "import os, signal, sys, pathlib, stored_trials as known",
            "from plimsoll import storage",
            "with storage.opened(pathlib.Path(sys.argv[1]), sys.argv[2]) as results:",
            f"    {asked}",
            "    os.kill(os.getpid(), signal.SIGKILL)",
        )
        command = [sys.executable, "-c", "\n".join(lines), str(tmp_path / "results"), database]
        path = os.pathsep.join(sys.path)
        killed = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=False)
        assert killed.returncode == -signal.SIGKILL
        assert list(tmp_path.rglob("requests.parquet"))
        with opened(tmp_path, database) as results:
            assert results.table("a", "requests").count_rows() == 5
        assert not list(tmp_path.rglob("requests.parquet"))
    assert not (tmp_path / "results").exists()


def test_a_connection_lost_within_a_load_leaves_the_earlier_trial(
    results: Results, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(results, recording(order=1), requests=requests(50))
    in_the_middle(monkeypatch, lambda: cut(ask))
    with pytest.raises(StorageError, match="closed the connection") as caught:
        put(results, recording(order=2), requests=requests(60_000))
    assert "is kept in" in caught.value.hint
    monkeypatch.undo()
    assert results.recording("a").order == 1
    assert results.table("a", "requests").count_rows() == 50
    assert ask("SELECT count(*) FROM plimsoll.requests") == [(50,)]


def test_a_client_killed_within_a_load_leaves_the_earlier_trial(
    results: Results, database: str, tmp_path: Path, ask: Any
) -> None:
    put(results, recording(order=1), requests=requests(50))
    client = subprocess.Popen(
        [sys.executable, str(HERE / "loads_and_stays.py"), str(tmp_path / "b" / "results")],
        env={**os.environ, "URL": database, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
    )
    try:
        assert client.stdout is not None
        assert client.stdout.readline() == b"in the middle\n"
        assert results.recording("a").order == 1
        assert results.table("a", "requests").count_rows() == 50
    finally:
        client.send_signal(signal.SIGKILL)
        client.communicate()
    put(results, recording("b"), requests=requests(5))
    assert results.recording("a").order == 1
    assert ask("SELECT count(*) FROM plimsoll.requests") == [(55,)]


@pytest.mark.timeout(180)
def test_a_server_killed_within_a_load_leaves_the_earlier_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgres_server.served() as server:
        url = postgres_server.new_database(server)
        with opened(tmp_path, url) as results:
            put(results, recording(order=1), requests=requests(50))
            in_the_middle(monkeypatch, server.kill)
            with pytest.raises(StorageError, match="closed the connection"):
                put(results, recording(order=2), requests=requests(60_000))
            with pytest.raises(StorageError, match="is unreachable"):
                results.trial_ids()
            monkeypatch.undo()
            server.start()
            assert results.recording("a").order == 1
            assert results.table("a", "requests").count_rows() == 50
            put(results, recording(order=2), requests=requests(60_000))
            assert results.recording("a").order == 2


@pytest.mark.root
def test_a_full_disk_of_the_server_is_named_and_leaves_the_earlier_trial(tmp_path: Path) -> None:
    # On a server of its own: one whose disk is full may end, and others' tests with it.
    with (
        postgres_server.served() as server,
        small_disks.small_disk(server.folder / "small", 16) as disk,
    ):
        if server.user:
            os.chown(disk, *postgres_server.ids(server.user))
        server.execute(f"CREATE TABLESPACE small LOCATION '{disk}'")
        server.execute("CREATE DATABASE on_small TABLESPACE small")
        try:
            with opened(tmp_path, server.url("on_small")) as results:
                put(results, recording(order=1), requests=requests(50))
                with pytest.raises(StorageError, match="no disk space left") as caught:
                    put(results, recording(order=2), requests=requests(200_000))
                assert "free disk space" in caught.value.hint
                assert results.recording("a").order == 1
                assert results.table("a", "requests").count_rows() == 50
        finally:
            server.stop()


# What others see


def test_readers_see_one_whole_trial_or_the_other(
    results: Results, tmp_path: Path, database: str
) -> None:
    sizes = {1: 2_000, 2: 3_000}
    put(results, recording(order=1), requests=requests(sizes[1]))
    seen: set[tuple[int, int]] = set()
    stop = threading.Event()

    def read() -> None:
        query = (
            "SELECT recording_json::json->>'order', count(*) FROM plimsoll.trials"
            " LEFT JOIN plimsoll.requests ON requests.trial_id = trials.id GROUP BY 1"
        )
        with psycopg.connect(database, autocommit=True) as connection:
            while not stop.is_set():
                seen.update((int(o), n) for o, n in connection.execute(query).fetchall())

    reader = threading.Thread(target=read)
    reader.start()
    try:
        with opened(tmp_path / "other", database) as other:
            for order in itertools.islice(itertools.cycle((2, 1)), 6):
                put(results, recording(order=order), requests=requests(sizes[order]))
                assert other.table("a", "requests").count_rows() in sizes.values()
    finally:
        stop.set()
        reader.join()
    assert seen <= set(sizes.items())
    assert len(seen) >= 1


def test_tables_of_a_trial_belong_together_while_it_is_replaced(
    results: Results, tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(results, recording(), requests=requests(10), usage=usage(10))
    fetch = copying.fetch

    def replaced_between(connection: Any, query: str, schema: pa.Schema) -> Any:
        yield from fetch(connection, query, schema)
        if "plimsoll.requests" in query:
            monkeypatch.undo()
            put(results, recording(), requests=requests(20), usage=usage(20))

    with opened(tmp_path / "other", database) as other:
        monkeypatch.setattr(copying, "fetch", replaced_between)
        assert other.table("a", "requests").count_rows() == 10
        assert other.table("a", "usage").count_rows() == 10
    assert results.table("a", "usage").count_rows() == 20


def test_a_campaign_that_is_deleted_takes_its_rows_along(results: Results, ask: Any) -> None:
    put(results, recording(), requests=requests(10), logs={"server.log": "x"}, usage=usage())
    ask("DELETE FROM plimsoll.campaigns")
    for table in ("trials", "requests", "usage", "connections", "logs"):
        assert ask(f"TABLE plimsoll.{table}") == []


def test_rows_of_one_trial_among_many_are_found_by_the_index(results: Results, ask: Any) -> None:
    for name in "abcdef":
        put(results, recording(name, end_ns=1), requests=requests(20_000))
    plan = "\n".join(
        line
        for (line,) in ask(
            "EXPLAIN SELECT * FROM plimsoll.seconds_success"
            " WHERE trial = 'd' AND campaign = 'results'"
        )
    )
    assert "requests_trial" in plan
    assert "Seq Scan on requests" not in plan


def test_the_views_know_the_outcomes_as_the_program_does(ask: Any, results: Results) -> None:
    names = pa.array(sorted(BY_NAME), pa.string()).dictionary_encode()
    rows = requests(len(names))
    place = rows.schema.get_field_index("outcome")
    put(results, recording(), requests=rows.set_column(place, rows.schema.field(place), names))
    right = ask("SELECT sum(requests)::integer FROM plimsoll.seconds_success")
    failed = ask("SELECT sum(requests)::integer FROM plimsoll.seconds_failure")
    assert right == [(len(RIGHT),)]
    assert failed == [(len(BY_NAME) - len(NOT_FAILED),)]


def test_derived_rows_of_a_trial_are_asked_for_beside_those_of_others_and_go_with_it(
    results: Results, ask: Any
) -> None:
    for trial in ("a", "b"):
        put(results, recording(trial))
        for lengths in (3, 2):
            results.write_derived_trial(
                trial, DerivedTrial({"seconds": seconds(trial, lengths)}, {"verdicts": []})
            )
    query = "SELECT trial, count(*) FROM plimsoll.seconds GROUP BY trial ORDER BY trial"
    assert ask(query) == [("a", 2), ("b", 2)]
    put(results, recording("a", order=1))
    assert ask(query) == [("b", 2)]
    with results.locked():
        results.set_aside(["b"])
    joined = "SELECT name FROM plimsoll.seconds JOIN plimsoll.campaigns ON id = campaign_id"
    assert {name.rpartition(".superseded.")[2] for (name,) in ask(joined)} == {"1"}
    ask("DELETE FROM plimsoll.trials")
    for query in (
        "SELECT count(*) FROM plimsoll.seconds",
        "SELECT count(*) FROM plimsoll.trial_derived_tables",
        "SELECT count(*) FROM plimsoll.trial_derived_documents",
    ):
        assert ask(query) == [(0,)]


def test_all_that_is_derived_from_a_trial_is_set_aside_with_it(results: Results, ask: Any) -> None:
    number = "SELECT id FROM plimsoll.campaigns WHERE name = 'results'"
    for trial in ("a", "b"):
        put(results, recording(trial))
        for table in of_trials.DOCUMENTED.values():
            if "trial" in table.schema.names:
                columns = f"INSERT INTO plimsoll.{table.name} (campaign_id, trial)"
                ask(f"{columns} VALUES (({number}), '{trial}')")
    with results.locked():
        results.set_aside(["a"])
    joined = "SELECT name, trial FROM plimsoll.seconds JOIN plimsoll.campaigns ON id = campaign_id"
    for name in ("seconds", "summaries", "stages", "quantiles", "latency_buckets"):
        found = ask(f"{joined.replace('seconds', name)} ORDER BY trial")
        assert found == [("results.superseded.1", "a"), ("results", "b")], name


def test_a_campaign_of_superseded_trials_that_was_deleted_is_in_no_ones_way(
    results: Results, ask: Any
) -> None:
    names: list[str] = []
    for trial in ("a", "b", "c", "d"):
        put(results, recording(trial))
        with results.locked():
            names.append(results.set_aside([trial]))
        if trial == "c":
            ask("DELETE FROM plimsoll.campaigns WHERE name ~ '\\.superseded\\.[12]$'")
            ask("INSERT INTO plimsoll.campaigns (name) VALUES ('results.superseded.notes')")
    assert [one.rpartition(".")[2] for one in names] == ["1", "2", "3", "4"]


def seconds(trial: str, count: int) -> pa.Table:
    """The rows of `tables.SECONDS` of a trial in which nothing happened."""
    texts = {
        name: pa.array([word] * count).dictionary_encode()
        for name, word in (("trial", trial), ("stage", "hold"))
    }
    counts = {
        field.name: pa.array([0] * count)
        for field in tables.SECONDS.schema
        if not field.nullable and field.name not in texts
    }
    return stored_trials.shaped(
        tables.SECONDS, {**counts, **texts, "second": pa.array(range(count))}
    )


def test_what_is_copied_is_all_there_is(tmp_path: Path, database: str) -> None:
    source = parquet.results(tmp_path / "source")
    plan = [toy_trials.trial(1), toy_trials.trial(2)]
    source.prepare(CampaignFiles("name = 'a'", "source = 'x'", {"seed": 2}), plan)
    rows = {trial.id: requests(100, seed=number) for number, trial in enumerate(plan)}
    for trial in plan:
        put(source, recording(trial.id), requests=rows[trial.id], usage=usage(7))
    source.write_derived("kinds", pa.table({"x": [1]}))
    source.write_derived_json("verdicts", {"a": 1})
    judged: JudgedTrial = {"verdicts": [{"check": "of a trial"}]}
    source.write_derived_trial(plan[0].id, DerivedTrial({}, judged))
    told: list[str] = []
    postgresql.export(source, database, tell=told.append)
    exported = postgresql.export(source, database, tell=told.append)
    assert (exported.trials, exported.rows) == (2, 214)
    assert PASSWORD not in exported.place
    assert told == [trial.id for trial in plan] * 2
    with storage.opened(tmp_path / "elsewhere" / "source", database) as found:
        assert found.campaign_toml() == "name = 'a'"
        assert found.published_toml() == "source = 'x'"
        assert found.campaign_resolved() == {"seed": 2}
        assert found.plan() == source.plan()
        assert found.trial_ids() == source.trial_ids()
        assert found.recording(plan[1].id) == recording(plan[1].id)
        assert in_order(found.table(plan[1].id, "requests").to_table()) == in_order(
            rows[plan[1].id]
        )
        derived = found.read_derived("kinds")
        assert derived is not None
        assert derived.to_pydict() == {"x": [1]}
        assert found.read_derived_json("verdicts") == {"a": 1}
        assert found.read_derived_trial(plan[0].id) == DerivedTrial({}, judged)
        assert found.read_derived_trial(plan[1].id) is None
    assert sorted(path.name for path in (tmp_path / "source").iterdir()) == [
        "campaign.json",
        "campaign.toml",
        "derived",
        "plan.json",
        "published.toml",
        "trials",
    ]


def usage(count: int = 3) -> pa.Table:
    texts = {
        name: pa.array([word] * count).dictionary_encode()
        for name, word in (("host", "local"), ("scope", "server"), ("quantity", "rss_bytes"))
    }
    numbers = {"at_ns": pa.array(range(count)), "value": pa.array([0.1 + 0.2] * count)}
    return stored_trials.shaped(tables.USAGE, numbers | texts)


def cut(ask: Any) -> None:
    """Ends every other connection to the database, as a restart would."""
    ask(
        "SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )


def in_the_middle(monkeypatch: pytest.MonkeyPatch, act: Any) -> None:
    """Does something once when the first rows of a load are on their way."""
    batches = trials._batches
    done: list[bool] = []

    def watched(rows: Any) -> Iterator[pa.RecordBatch]:
        for batch in batches(rows):
            for part in range(0, batch.num_rows, 10_000):
                yield batch.slice(part, 10_000)
                if not done:
                    time.sleep(0.2)
                    done.append(True)
                    act()

    monkeypatch.setattr(trials, "_batches", watched)
