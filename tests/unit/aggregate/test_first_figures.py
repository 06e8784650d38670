"""The first figures are those of the tables, number for number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import sample
from engine_files import written
from plimsoll import _engine, tables
from plimsoll.aggregate import check_inputs, failures, first_figures, statuses, summaries
from plimsoll.aggregate.first_figures import FirstFigures
from plimsoll.aggregate.summary import Summary
from plimsoll.conduct import recording as conducted
from plimsoll.recording import Recording

FROM_READINGS = (
    *("open_connections", "in_flight", "server_busy_cores", "server_cpu_s_per_request"),
    *("requests_per_core_s", "server_peak_rss_bytes", "server_peak_pss_bytes"),
    *("driver_busy_cores", "driver_peak_busy_ratio"),
)
"""Columns that need readings of resources."""

ELSEWHERE = ("sent_bytes",)
"""What no figure on the screen is made of."""


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
        failures.kinds(failures.by_second(recording, requests)),
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
        (900, ("ok", "upgrade_refused", "close_received", "reset_waiting")),
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
    assert len(first_figures.response_times(recording, tmp_path)) == summary.completed


def test_records_are_counted_once_under_any_name_and_again_when_they_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[Path] = []
    count = _engine.load_figures

    def noted(folder: Path, holds: Sequence[tuple[int, int]]) -> _engine.LoadFigures:
        counted.append(folder)
        return count(folder, holds)

    monkeypatch.setattr(_engine, "load_figures", noted)
    recording = sample.recording(requests=("2048",), request_bytes=(100,))
    while_it_runs, ended, again = tmp_path / ".partial", tmp_path / "trial", tmp_path / "again"
    for folder in (while_it_runs, again):
        folder.mkdir()
    written(while_it_runs, 7, ("ok",))
    shown = first_figures.of_records(recording, while_it_runs).summary
    while_it_runs.rename(ended)
    assert first_figures.columns_of(recording, ended)["completed"] == shown.completed
    assert counted == [while_it_runs]
    written(again, 9, ("ok",))
    assert first_figures.columns_of(recording, again)["completed"] == shown.completed + 2
    unheld = replace(recording, stages=())
    assert first_figures.columns_of(unheld, again)["completed"] == 0
    assert counted == [while_it_runs, again, again]
