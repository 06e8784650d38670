"""What was exported is read where it is meant to go: JMeter, our own import, PostgreSQL."""

from __future__ import annotations

import csv
import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import postgres_server
from command_line import run
from plimsoll.aggregate.engine_records import as_stored
from plimsoll.aggregate.trial import Tables, stored
from plimsoll.export import seconds
from plimsoll.storage import parquet
from recordings import request_rows, write_results

pytestmark = pytest.mark.timeout(300)

TRIAL = "go.2048.steady.1"
MS = 1_000_000
S = 1_000 * MS
LOST = (
    "wrong_status", "wrong_length", "wrong_body", "reset_sending", "reset_waiting",
    "reset_receiving", "closed_waiting", "closed_early", "lost_behind", "timed_out_sending",
    "timed_out_waiting", "timed_out_receiving", "malformed_head", "malformed_chunk",
    "head_too_large", "unsolicited", "io_failed",
)  # fmt: skip
NEVER_SENT = (
    "connect_refused", "connect_timeout", "connect_unreachable", "connect_reset", "no_port",
    "too_many_files", "connect_failed",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `results`, a trial in which all went wrong that can, and `out`, its export."""
    folder = tmp_path_factory.mktemp("elsewhere")
    write_results(folder / "results", {"failures": dict.fromkeys(LOST, 0.005)})
    path = folder / "results" / "trials" / TRIAL / "requests.parquet"
    rows = [pq.read_table(path), request_rows(*_never_sent())]
    pq.write_table(pa.concat_tables(rows).unify_dictionaries(), path)
    ran = run("export", "results", "--to", "out", folder=folder)
    assert ran.code == 0, ran.stderr
    return folder


def _never_sent() -> Iterator[dict[str, Any]]:
    for number, outcome in enumerate(NEVER_SENT):
        yield {"due_ns": number * S, "done_ns": number * S + 7 * MS, "outcome": outcome}
    for second in (4, 6, 6):
        yield {"due_ns": second * S + MS // 2, "outcome": "not_sent", "connection": None}


def tables(results: Path, trial: str | None = None) -> Tables:
    found = parquet.results(results)
    return stored(found, found.recording(trial or found.trial_ids()[0]))


def test_the_report_generator_of_jmeter_accepts_the_samples(
    folder: Path, jmeter_home: Path, tmp_path: Path
) -> None:
    samples = folder / "out" / TRIAL / "requests.jtl"
    launcher = jmeter_home / "bin" / "ApacheJMeter.jar"
    java = ["java", "-Djava.awt.headless=true", "-Duser.language=en", "-jar", str(launcher)]
    report = tmp_path / "report"
    generate = ["-g", str(samples), "-o", str(report), "-j", str(tmp_path / "jmeter.log")]
    ran = subprocess.run(
        [*java, *generate], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert " ERROR " not in (tmp_path / "jmeter.log").read_text()
    assert (report / "index.html").exists()
    total = json.loads((report / "statistics.json").read_text())["Total"]
    with samples.open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert total["sampleCount"] == len(written)
    assert total["errorCount"] == sum(sample["success"] == "false" for sample in written)
    elapsed = [int(sample["elapsed"]) for sample in written]
    assert (total["minResTime"], total["maxResTime"]) == (min(elapsed), max(elapsed))
    assert total["meanResTime"] == pytest.approx(sum(elapsed) / len(elapsed))


@pytest.fixture(scope="module")
def returned(folder: Path) -> tuple[Tables, Tables]:
    """The trial, and what `plimsoll import` makes of its samples."""
    samples = folder / "out" / TRIAL / "requests.jtl"
    ran = run("import", "jmeter", samples, "--into", "back", folder=folder)
    assert ran.code in (0, 1), ran.stderr
    return tables(folder / "results"), tables(folder / "back")


def test_samples_that_are_imported_again_are_the_same_seconds(
    returned: tuple[Tables, Tables],
) -> None:
    before, after = (tables.seconds.to_pylist() for tables in returned)
    counts = ("second", "completed", "ok", "failed", "received_bytes")
    assert [[row[name] for name in counts] for row in after] == [
        [row[name] for name in counts] for row in before
    ]
    for name in ("p25", "p50", "p75", "p95", "p99", "max"):
        column = f"service_time_{name}_ns"
        for earlier, later in zip(before, after, strict=True):
            assert later[column] == pytest.approx(earlier[column], abs=MS), column


def test_samples_that_are_imported_again_ended_as_they_did(
    returned: tuple[Tables, Tables],
) -> None:
    before, after = (
        Counter(pa.table({"outcome": rows.to_table()["outcome"]})["outcome"].to_pylist())
        for rows in map(as_stored, (returned[0].requests, returned[1].requests))
        if rows is not None and not isinstance(rows, pa.Table)
    )
    assert set(before) >= {"ok", "not_sent", *LOST, *NEVER_SENT}
    del before["unfinished"]
    assert after == before


def test_requests_that_were_never_sent_come_back_as_such(returned: tuple[Tables, Tables]) -> None:
    rows = as_stored(returned[1].requests)
    assert rows is not None
    unsent = [row for row in rows.to_table().to_pylist() if row["outcome"] == "not_sent"]
    assert [row["due_ns"] for row in unsent] == [4 * S, 6 * S, 6 * S]
    assert {(row["sent_ns"], row["done_ns"]) for row in unsent} == {(None, None)}


@pytest.mark.usefixtures("returned")
@pytest.mark.parametrize("results", ["results", "back"])
def test_a_database_has_the_seconds_of_the_files(
    folder: Path, postgres: postgres_server.Server, results: str, tmp_path: Path
) -> None:
    assert run("judge", results, folder=folder).code in (0, 1)
    assert run("export", folder / results, "--to", "out", folder=tmp_path).code == 0
    target = postgres_server.new_database(postgres)
    ran = run("export", results, "--to", target, folder=folder)
    assert ran.code == 0, ran.stderr
    assert postgres_server.PASSWORD not in ran.said
    assert target not in ran.said
    assert "exported 1 trial, " in ran.stderr
    (trial,) = (tmp_path / "out").glob("[!.]*")
    for view in ("seconds_success", "seconds_failure"):
        columns = ", ".join(seconds.COLUMNS)
        query = f"SELECT {columns} FROM plimsoll.{view} ORDER BY second"  # noqa: S608
        found = postgres.execute(query, target.rpartition("/")[2])
        with (trial / f"{view}.csv").open(encoding="utf-8", newline="") as file:
            written = list(csv.reader(file))[1:]
        assert len(found) == len(written)
        for row, line in zip(found, written, strict=True):
            same(row, line)


def same(there: tuple[Any, ...], here: list[str]) -> None:
    """Asserts that a row of a view and a line of a file say the same."""
    for name, number, text in zip(seconds.COLUMNS, there, here, strict=True):
        precise = 1e-3 if name in ("threads_mean", "cpu_percent") else 1.1e-6
        assert number == (pytest.approx(float(text), abs=precise) if text else None), name


def test_results_of_a_database_are_exported_as_those_of_a_folder(
    folder: Path, postgres: postgres_server.Server, tmp_path: Path
) -> None:
    target = postgres_server.new_database(postgres)
    assert run("export", "results", "--to", target, folder=folder).code == 0
    ran = run("export", "results", "--storage", target, "--to", "out", folder=tmp_path)
    assert ran.code == 0, ran.stderr
    for name in ("seconds_success.csv", "seconds_failure.csv", "requests.jtl"):
        there = (tmp_path / "out" / TRIAL / name).read_text(encoding="utf-8").splitlines()
        here = (folder / "out" / TRIAL / name).read_text(encoding="utf-8").splitlines()
        for one, other in zip(sorted(there), sorted(here), strict=True):
            assert_alike(one, other)


def assert_alike(one: str, other: str) -> None:
    """Asserts that two lines are the same, but for the last place of a mean.

    Means are sums in the order in which the rows come, and a database gives them in its own.
    """
    for value, expected in zip(one.split(","), other.split(","), strict=True):
        if value != expected:
            assert float(value) == pytest.approx(float(expected), abs=1.1e-6)


def test_a_database_that_is_not_there_is_said(
    folder: Path, postgres: postgres_server.Server
) -> None:
    target = postgres.url("nowhere")
    ran = run("export", "results", "--to", target, folder=folder)
    assert ran.code == 6, ran.stderr
    assert "hint: " in ran.stderr
    assert postgres_server.PASSWORD not in ran.said
