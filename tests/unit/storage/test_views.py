"""The views of seconds say what the export of seconds says."""

import csv
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from psycopg.rows import dict_row

import stored_trials
from plimsoll import storage, tables
from plimsoll.aggregate.trial import Tables, stored
from plimsoll.export import seconds
from plimsoll.storage.results import DerivedTrial
from stored_trials import put, recording, requests

VIEWS = ("seconds_success", "seconds_failure")
KEY = ["campaign", "trial"]


def test_the_views_are_the_exported_seconds(tmp_path: Path, database: str) -> None:
    what = recording(end_ns=4 * stored_trials.SECOND_NS + 1)
    with storage.opened(tmp_path / "results", database) as results:
        put(results, what, requests=requests(5_000), usage=cpu())
        of_trial = stored(results, what)
        results.write_derived_trial(
            "a", DerivedTrial({"seconds": of_trial.seconds}, {"verdicts": []})
        )
        exported = files(of_trial, tmp_path)
    for view, rows in zip(VIEWS, exported, strict=True):
        found = asked(database, view)
        assert [list(row) for row in found] == [[*KEY, *seconds.COLUMNS]] * 5
        assert [(row["campaign"], row["trial"]) for row in found] == [("results", "a")] * 5
        assert sum(row["requests"] for row in found) > 100
        for one, other in zip(found, rows, strict=True):
            for column in seconds.COLUMNS:
                assert one[column] == as_exported(other[column]), (view, column)


def test_threads_are_the_users_that_another_tool_counted(tmp_path: Path, database: str) -> None:
    what = recording(end_ns=4 * stored_trials.SECOND_NS + 1)
    with storage.opened(tmp_path / "results", database) as results:
        put(results, what, requests=requests(500), usage=users([9, 40, 160, 300, 7]))
        of_trial = stored(results, what)
        exported = files(of_trial, tmp_path)
    for view, rows in zip(VIEWS, exported, strict=True):
        found = [row["threads_mean"] for row in asked(database, view)]
        assert found == [9, 40, 160, 300, 7]
        assert found == [float(row["threads_mean"]) for row in rows]


def test_before_the_campaign_is_judged_the_requests_are_there_already(
    tmp_path: Path, database: str
) -> None:
    with storage.opened(tmp_path / "results", database) as results:
        put(results, recording(), requests=requests(1_000), usage=cpu())
    found = asked(database, "seconds_success")
    assert sum(row["requests"] for row in found) > 800
    assert {row["cpu_percent"] for row in found} == {None}


def test_a_limit_that_nothing_exceeds_hides_no_row(tmp_path: Path, database: str) -> None:
    with storage.opened(tmp_path / "results", database) as results:
        endless = {"steady": {"silent_ratio_void": math.inf}}
        put(results, replace(recording(), limits=endless), requests=requests(100), usage=cpu())
    assert asked(database, "seconds_success")


def test_a_trial_without_a_row_of_each_request_has_no_seconds(
    tmp_path: Path, database: str
) -> None:
    with storage.opened(tmp_path / "results", database) as results:
        put(results, recording(end_ns=5 * stored_trials.SECOND_NS), usage=cpu())
    assert [asked(database, view) for view in VIEWS] == [[], []]


def files(of_trial: Tables, folder: Path) -> list[list[dict[str, str]]]:
    seconds.write(of_trial, folder)
    found: list[list[dict[str, str]]] = []
    for name in seconds.FILES:
        with (folder / name).open(encoding="utf-8", newline="") as file:
            found.append(list(csv.DictReader(file)))
    return found


def asked(database: str, view: str) -> list[dict[str, Any]]:
    statement = f"TABLE plimsoll.{view} ORDER BY second".encode()
    with (
        psycopg.connect(database) as connection,
        connection.cursor(row_factory=dict_row) as cursor,
    ):
        return cursor.execute(statement).fetchall()


def as_exported(text: str) -> Any:
    """A number of the file, which has six decimals at most."""
    return None if text == "" else pytest.approx(float(text), abs=6e-4, rel=1e-9)


def users(levels: list[float]) -> pa.Table:
    """Users at work at the middle of each second."""
    half = stored_trials.SECOND_NS // 2
    rows = [
        {
            "at_ns": second * stored_trials.SECOND_NS + half,
            "host": "local",
            "scope": "driver",
            "quantity": "users_active",
            "value": level,
        }
        for second, level in enumerate(levels)
    ]
    return pa.Table.from_pylist(rows, schema=tables.USAGE.schema)


def cpu() -> pa.Table:
    """A core and a half busy for four seconds, read between whole seconds."""
    at_ns = [int((0.5 + step) * stored_trials.SECOND_NS) for step in range(-1, 5)]
    counters = {"cpu_user_s": 1.0, "cpu_system_s": 0.5}
    rows = [
        {
            "at_ns": at,
            "host": "local",
            "scope": "server",
            "quantity": name,
            "value": rate * at / 1e9,
        }
        for at in at_ns
        for name, rate in counters.items()
    ]
    rows += [
        {
            "at_ns": at,
            "host": "local",
            "scope": "driver",
            "quantity": "connections_open",
            "value": 8.0,
        }
        for at in at_ns
    ]
    return pa.Table.from_pylist(rows, schema=tables.USAGE.schema)
