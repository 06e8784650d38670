"""The first figures are those of the tables, number for number."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import sample
from plimsoll import tables
from plimsoll.aggregate import check_inputs, failures, first_figures, statuses, summaries
from plimsoll.aggregate.first_figures import FirstFigures
from plimsoll.aggregate.summary import Summary
from plimsoll.conduct import recording as conducted
from plimsoll.drivers import records
from plimsoll.recording import Recording

SECOND_NS = 1_000_000_000
NONE = np.iinfo(np.uint64).max
FROM_READINGS = (
    *("open_connections", "in_flight", "server_busy_cores", "server_cpu_s_per_request"),
    *("requests_per_core_s", "server_peak_rss_bytes", "server_peak_pss_bytes"),
    *("driver_busy_cores", "driver_peak_busy_ratio"),
)
"""Columns that need readings of resources."""

ELSEWHERE = ("sent_bytes", "connections_peak_open", "lag")
"""What no figure on the screen is made of."""


def written(folder: Path, count: int, names: tuple[str, ...], seed: int = 1) -> None:
    """Records of requests that end in every one of some ways, and of their connections."""
    random = np.random.default_rng(seed)
    codes = {name: code for code, name in records.outcome_names().items()}
    rows = np.zeros(count, records.record_dtype("requests"))
    rows["due_ns"] = np.sort(random.integers(0, 13 * SECOND_NS, count))
    rows["sent_ns"] = rows["due_ns"] + random.integers(0, 1000, count)
    rows["first_byte_ns"] = rows["sent_ns"] + random.lognormal(12, 2, count).astype(np.uint64)
    rows["done_ns"] = rows["first_byte_ns"] + random.integers(0, 100_000, count)
    rows["received_bytes"] = 100
    rows["outcome"] = random.choice([codes[name] for name in names], count)
    rows["status"] = np.where(rows["outcome"] == codes["ok"], 200, 404)
    for name in ("unfinished", "not_sent", "timed_out_waiting", "connect_refused"):
        found = rows["outcome"] == codes[name]
        rows["first_byte_ns"][found] = NONE
        rows["status"][found] = 0
        if name != "timed_out_waiting":
            rows["done_ns"][found] = NONE
    rows["errno"][rows["outcome"] == codes["connect_refused"]] = 111
    rows["compared"] = np.iinfo(np.uint32).max
    rows.tofile(folder / "requests.bin")
    tried = np.zeros(40, records.record_dtype("connections"))
    tried["due_ns"] = np.arange(40) * 1000
    tried["connected_ns"] = tried["due_ns"] + random.integers(1000, 90_000, 40)
    tried["closed_ns"] = 13 * SECOND_NS
    tried["responses"] = np.arange(40) % 5
    tried["outcome"] = random.choice([codes["still_open"], codes["reset_waiting"]], 40)
    tried["outcome"][:7] = codes["connect_refused"]
    tried["errno"][:7] = 111
    tried["connected_ns"][:7] = NONE
    tried.tofile(folder / "connections.bin")


def by_tables(recording: Recording, folder: Path) -> tuple[Summary, Any, Any]:
    """Summary, status codes and failures as a report has them."""
    for table in (tables.REQUESTS, tables.CONNECTIONS):
        conducted.convert(table, folder)
    requests = pq.read_table(folder / "requests.parquet")
    connections = pq.read_table(folder / "connections.parquet")
    counted = check_inputs.status_counts(recording, requests)
    return (
        summaries.summary(recording, requests, connections, tables.USAGE.schema.empty_table()),
        statuses.totals(statuses.by_request(counted)),
        failures.kinds(failures.by_second(requests)),
    )


@pytest.mark.parametrize(
    ("count", "names"),
    [
        (0, ("ok",)),
        (7, ("ok",)),
        (900, ("ok", "wrong_status")),
        (200_000, ("ok",)),
        (
            150_000,
            ("ok", "wrong_status", "unfinished", "not_sent", "timed_out_waiting",
             "connect_refused"),
        ),
    ],
)  # fmt: skip
def test_the_first_figures_are_those_of_the_tables(
    count: int, names: tuple[str, ...], tmp_path: Path
) -> None:
    recording = sample.recording(requests=("2048",), request_bytes=(100,))
    written(tmp_path, count, names)
    found: FirstFigures = first_figures.of_records(recording, tmp_path)
    summary, codes, failed = by_tables(recording, tmp_path)
    for one in fields(Summary):
        if one.name not in FROM_READINGS + ELSEWHERE:
            told, known = getattr(found.summary, one.name), getattr(summary, one.name)
            assert told == pytest.approx(known) if isinstance(known, float) else told == known, one
    assert found.statuses == codes
    assert found.failures == failed
    assert len(found.response_times) == summary.completed
