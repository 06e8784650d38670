"""PostgreSQL is really started: filled, counted, and gone with who started it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import psycopg
import pytest

from plimsoll import databases
from plimsoll.campaign import stored_rows
from plimsoll.databases import installed
from plimsoll.databases.running import RunningDatabase
from plimsoll.databases.served import ServedDatabase
from plimsoll.errors import DatabaseFailed
from plimsoll.processes import process_table

pytestmark = pytest.mark.timeout(120)

PATIENCE_S = 30.0

LAB = """
import time
from plimsoll import databases
with databases.running.started() as found:
    print(found.supervisor_pid, found.url, flush=True)
    time.sleep(600)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[RunningDatabase]:
    if error := installed.missing():
        pytest.skip(f"{error.message}: {error.hint}")
    with databases.running.started() as found:
        yield found


@pytest.fixture
def database(server: RunningDatabase) -> Iterator[ServedDatabase]:
    with databases.served.made(server) as made:
        yield made


def test_the_rows_are_those_that_the_contract_expects(database: ServedDatabase) -> None:
    worlds = database.execute("SELECT id, random_number FROM world ORDER BY id")
    numbers = [(row, stored_rows.random_number(row)) for row in range(1, stored_rows.ROWS + 1)]
    assert worlds == numbers
    assert len({number for _, number in numbers}) == stored_rows.ROWS
    fortunes = database.execute("SELECT id, message FROM fortune ORDER BY id")
    assert fortunes == list(enumerate(stored_rows.FORTUNES, 1))
    assert "<script>" in dict(fortunes)[stored_rows.SCRIPT]


def test_each_server_has_rows_of_its_own(server: RunningDatabase) -> None:
    with databases.served.made(server) as one, databases.served.made(server) as other:
        one.execute("DELETE FROM fortune")
        assert one.execute("SELECT count(*) FROM fortune") == [(0,)]
        assert other.execute("SELECT count(*) FROM fortune") == [(len(stored_rows.FORTUNES),)]
    assert (one.name,) not in server.execute("SELECT datname FROM pg_database")


def test_rows_are_counted_as_they_are_read_and_written(database: ServedDatabase) -> None:
    with psycopg.connect(database.url, autocommit=True) as connection:
        for row in range(1, 51):
            connection.execute("SELECT * FROM world WHERE id = %s", [row])
        for _ in range(3):
            connection.execute("SELECT * FROM fortune")
        connection.execute("UPDATE world SET random_number = 1 WHERE id = 7")
        connection.execute("SELECT 1")
    counted = database.counted()
    assert counted is not None
    assert counted.rows_read == 50 + 3 * len(stored_rows.FORTUNES) + 1
    assert counted.rows_written == 1
    assert counted.commits >= 55


def test_counts_of_an_open_connection_are_not_taken_for_complete(
    database: ServedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases.served, "_ENDED_S", 0.1)
    with psycopg.connect(database.url):
        assert database.counted() is None


def test_a_server_is_given_the_address_and_its_parts(database: ServedDatabase) -> None:
    given, parts = database.environment, urlsplit(database.url)
    assert given["DATABASE_URL"] == database.url
    assert (given["PGHOST"], given["PGPORT"]) == (parts.hostname, str(parts.port))
    password = given["PGPASSWORD"]
    keys = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "dbname": "PGDATABASE"}
    known = {key: given[name] for key, name in keys.items()}
    psycopg.connect(**known, password=password).close()  # type: ignore[arg-type]


def test_a_server_of_the_user_is_used_and_left_as_it_was(
    server: RunningDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = server.execute("SELECT datname FROM pg_database ORDER BY datname")
    monkeypatch.setenv(installed.VARIABLE, server.url)
    with databases.running.started((0,)) as found, databases.served.made(found) as database:
        assert (found.supervisor_pid, found.cores) == (None, ())
        assert database.execute("SELECT count(*) FROM world") == [(stored_rows.ROWS,)]
    assert server.execute("SELECT datname FROM pg_database ORDER BY datname") == before


def test_variables_of_libpq_in_the_users_shell_lead_nowhere_else(
    database: ServedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGHOSTADDR", "127.0.0.2")
    monkeypatch.setenv("PGSSLMODE", "require")
    monkeypatch.setenv("PGOPTIONS", "-c search_path=theirs")
    assert database.execute("SELECT count(*) FROM world") == [(stored_rows.ROWS,)]


def test_an_address_where_nothing_listens_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(installed.VARIABLE, "postgresql://me:s3cret@127.0.0.1:1/")
    with pytest.raises(DatabaseFailed) as caught, databases.running.started():
        pass
    assert "\n" not in caught.value.message
    assert "s3cret" not in caught.value.message
    assert caught.value.hint


def test_it_ends_with_a_lab_that_is_killed() -> None:
    if error := installed.missing():
        pytest.skip(error.message)
    with subprocess.Popen([sys.executable, "-c", LAB], stdout=subprocess.PIPE, text=True) as lab:
        assert lab.stdout is not None
        pid, url = lab.stdout.readline().split()
        below = [found.pid for found in process_table.descendants(int(pid))]
        assert len(below) > 1
        lab.send_signal(signal.SIGKILL)
    end_s = time.monotonic() + PATIENCE_S
    while any(process_table.process(one) for one in (int(pid), *below)):
        assert time.monotonic() < end_s, "PostgreSQL outlived the lab"
        time.sleep(0.05)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url, connect_timeout=5).close()
