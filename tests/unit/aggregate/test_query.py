import re
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recordings
from plimsoll.aggregate import database, query
from plimsoll.errors import HostError, PlimsollError, QueryFailed, StorageError
from plimsoll.recording import RecordedStage
from plimsoll.storage import rows


@pytest.mark.parametrize(
    "error",
    [RuntimeError("Query interrupted"), duckdb.InterruptException("INTERRUPT Error: Interrupted!")],
)
def test_ctrl_c_within_a_query_is_an_interrupt_as_elsewhere(error):
    with pytest.raises(KeyboardInterrupt), query.opened():
        raise error


@pytest.mark.parametrize("place", ["_inside", "_relate"])
def test_ctrl_c_while_a_database_is_made_is_an_interrupt_too(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def interrupted(*_: object) -> None:
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr(database, place, interrupted)
    hold = RecordedStage("hold", 0, 1, 1.0, 1.0, 1)
    with pytest.raises(KeyboardInterrupt), query.opened([hold], requests=None):
        pytest.fail("no database was made")


@pytest.mark.parametrize("error", [RuntimeError("something else"), ValueError("interrupted")])
def test_other_errors_stay_what_they_are(error):
    with pytest.raises(type(error), match=str(error)), query.opened():
        raise error


def simulated(**options: Any) -> pa.Table:
    requests = recordings.simulate(hold_s=0.5, **options).requests
    assert isinstance(requests, pa.Table)
    return requests


def test_rows_of_a_file_are_those_in_memory(tmp_path: Path) -> None:
    whole = simulated(failures={"reset_waiting": 0.1})
    path = tmp_path / "it's requests.parquet"
    pq.write_table(whole, path)
    sums = "SELECT outcome, host, errno, count(*), sum(done_ns) FROM requests"
    told: list[list[tuple[object, ...]]] = []
    for stored in (whole, rows.dataset(path, "requests")):
        with query.opened(requests=stored) as database:
            told.append(database.execute(f"{sums} GROUP BY ALL ORDER BY ALL").fetchall())
    assert told[0] == told[1]
    assert len(told[0]) > 1


@pytest.mark.parametrize(
    "folder",
    [
        "day[1]", "what?", "a*", "a**", "{a,b}", r"back\slash",
        "status=500", "outcome=refused", "host=web1", "worker=4", "connection=16",
    ],
)  # fmt: skip
def test_the_name_of_a_folder_says_nothing_of_its_rows(tmp_path: Path, folder: str) -> None:
    whole = simulated()
    for name in ("day1", "whatx", "ab", "a", "b", "backslash"):
        (tmp_path / name).mkdir()
        pq.write_table(whole.slice(0, 1), tmp_path / name / "requests.parquet")
    path = tmp_path / folder / "requests.parquet"
    path.parent.mkdir()
    pq.write_table(whole, path)
    columns = "SELECT status, outcome, host, worker, connection, count(*) FROM requests"
    told: list[list[tuple[object, ...]]] = []
    for stored in (whole, rows.dataset(path, "requests")):
        with query.opened(requests=stored) as database:
            told.append(database.execute(f"{columns} GROUP BY ALL ORDER BY ALL").fetchall())
    assert told[0] == told[1]


def test_a_file_without_a_newer_column_has_nothing_in_it(tmp_path: Path) -> None:
    whole = simulated()
    path = tmp_path / "requests.parquet"
    pq.write_table(whole.drop_columns("sent_bytes"), path)
    with query.opened(requests=rows.dataset(path, "requests")) as database:
        told = database.execute("SELECT count(sent_bytes), count(*) FROM requests").fetchone()
    assert told == (0, whole.num_rows)


def test_damaged_rows_are_an_error_of_the_storage(tmp_path: Path) -> None:
    path = tmp_path / "requests.parquet"
    pq.write_table(simulated(), path)
    content = path.read_bytes()
    path.write_bytes(content[:4] + b"\xff" * (len(content) // 2) + content[4 + len(content) // 2 :])
    stored = rows.dataset(path, "requests")
    with (
        pytest.raises(StorageError, match="recorded rows cannot be read"),
        query.opened(requests=stored) as database,
    ):
        database.execute("SELECT sum(due_ns), sum(sent_ns) FROM requests").fetchall()


def statements() -> list[tuple[str, str]]:
    """Texts with queries of DuckDB, without their comments, by the names of their files."""
    package = Path(database.__file__).parents[1]
    files = [path for part in ("aggregate", "export") for path in (package / part).iterdir()]
    return [
        (path.name, re.sub(r"--.*", "", path.read_text("utf-8")))
        for path in files
        if path.suffix in {".sql", ".py"}
    ]


def test_every_parameter_of_a_query_says_its_type() -> None:
    parameters = [
        (name, found)
        for name, text in statements()
        for found in re.findall(r"\$[a-z_]+\b(?:::[A-Z]+)?", text)
    ]
    assert len(parameters) > 50
    assert [one for one in parameters if "::" not in one[1]] == []


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SELECT 2000000000::INTEGER + 170000000::INTEGER", "OutOfRangeException"),
        ("SELECT nothing FROM requests", "BinderException"),
    ],
)
def test_a_query_that_is_wrong_is_an_error_of_plimsoll(statement: str, said: str) -> None:
    with pytest.raises(QueryFailed, match=said), query.opened(requests=None) as opened:
        opened.execute(statement).fetchall()


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (duckdb.OutOfMemoryException("failed to offload"), HostError, "needs more memory"),
        (duckdb.IOException("Could not write file"), StorageError, "cannot be written"),
    ],
)
def test_a_query_without_memory_or_disk_says_so(
    error: duckdb.Error, kind: type[PlimsollError], said: str
) -> None:
    with pytest.raises(kind, match=said), query.opened():
        raise error
