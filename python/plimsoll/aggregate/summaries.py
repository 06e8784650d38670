"""Summaries: what a trial amounts to, over its holds only.

A response counts when it was complete within a hold, whenever it was requested. Connections are
counted over the whole trial, since those of the hold are opened before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from plimsoll import tables
from plimsoll.aggregate import by_figures, energy, first_figures, kinds, percentiles, query
from plimsoll.aggregate.cores import driver_peak_busy_ratio, mean_busy_cores
from plimsoll.aggregate.engine_records import EngineRecords
from plimsoll.aggregate.rates import (
    connections_requested,
    held_s,
    holds,
    number,
    offered_s,
    rates,
    shares,
)
from plimsoll.aggregate.summary import Summary
from plimsoll.aggregate.usage import usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from plimsoll.aggregate.query import Columns, Rows, Stored
    from plimsoll.aggregate.usage import Usage, Window
    from plimsoll.recording import Recording

TIMES = {
    "response_time": "done_ns - due_ns",
    "service_time": "done_ns - sent_ns",
    "first_byte": "first_byte_ns - sent_ns",
    "lag": "sent_ns - due_ns",
}
"""Times of a complete response by the names they have in columns."""

COUNTED_CONNECTIONS = tuple(
    f"connections_{name}" for name in ("opened", "with_response", "refused", "lost", "peak_open")
)
"""What can be counted only where every attempt to connect is known."""

HELD_ANSWERS = "requests WHERE is_completed(outcome) AND in_hold(done_ns)"
"""The rows whose times are summarised."""


def summary(recording: Recording, requests: Rows, connections: Rows, readings: Stored) -> Summary:
    """What a trial amounts to over its holds.

    Args:
        recording: The recording.
        requests: Its table `requests`.
        connections: Its table `connections`.
        readings: Its table `usage`.
    """
    figures = by_figures.figures_of(recording)
    if figures is None:
        columns = _by_rows(recording, requests, connections)
    else:
        columns = by_figures.counted(figures)
        columns["source"] = recording.driver_name
        if recording.driver is not None:
            columns |= by_figures.counted_beside(recording.driver)
    read = usage(readings, recording.server_host)
    columns |= _used(recording, read)
    columns |= energy.columns(
        read,
        holds(recording),
        number(columns, "goodput_per_s"),
        has_net=recording.power is None or recording.power.has_net,
    )
    columns["trial"] = recording.trial
    columns["duration_s"] = held_s(recording)
    columns["connections_requested"] = connections_requested(recording)
    columns |= shares(columns)
    return Summary.of_row(columns)


def _by_rows(recording: Recording, requests: Rows, connections: Rows) -> Columns:
    """Counts, times and rates, from the rows."""
    if isinstance(requests, EngineRecords):
        columns = _of_records(requests)
    else:
        with query.opened(recording.holds, requests=requests, connections=connections) as database:
            columns = _counts(database) | _quantiles(database)
            columns["sent_bytes"] = kinds.sent_bytes(recording, database)
    if any(one.held_wrong for one in recording.recomputed):
        columns["some_of_ok_are_wrong"] = True
    if recording.driver is not None and not recording.driver.has_connects:
        columns |= dict.fromkeys(COUNTED_CONNECTIONS)
    return columns | rates(columns, offered_s(recording)) | {"source": "requests"}


def _of_records(requests: EngineRecords) -> Columns:
    """Counts and times from the engine's records."""
    return first_figures.columns_of(requests.recording, requests.folder) | {
        "sent_bytes": requests.sent_bytes(),
        "some_of_ok_are_wrong": requests.some_of_ok_are_wrong(),
    }


def summaries(trials: Sequence[tuple[Recording, Summary]]) -> pa.Table:
    """Summaries of several trials as one table by the schema of `tables.SUMMARIES`."""
    rows = [{**_identity(recording), **found.row} for recording, found in trials]
    return pa.Table.from_pylist(rows, schema=tables.SUMMARIES.schema)


def _identity(recording: Recording) -> Columns:
    return {
        "framework": recording.title,
        "endpoint": recording.endpoint,
        "load": recording.load.name,
        "driver": recording.driver_name,
        "repetition": recording.repetition,
    }


def _counts(database: duckdb.DuckDBPyConnection) -> Columns:
    columns: Columns = {}
    for name in ("summaries", "connection_counts"):
        cursor = database.execute(query.text(name))
        names = [str(column[0]) for column in cursor.description or ()]
        columns |= dict(zip(names, cursor.fetchone() or (), strict=True))
    return columns


def _quantiles(database: duckdb.DuckDBPyConnection) -> Columns:
    sources = {name: (value, HELD_ANSWERS) for name, value in TIMES.items()}
    sources["connect"] = ("connected_ns - due_ns", "connections")
    return {
        f"{name}_{statistic}_ns": found
        for name, (value, source) in sources.items()
        for statistic, found in percentiles.percentiles(database, value, source).items()
    }


def _used(recording: Recording, readings: Usage) -> Columns:
    held = holds(recording)
    return {
        "open_connections": readings.mean("driver", "connections_open", held),
        "in_flight": _in_flight(readings, held),
        "server_busy_cores": mean_busy_cores(readings, "server", held),
        "server_peak_rss_bytes": readings.peak("server", "rss_bytes", held),
        "server_peak_pss_bytes": readings.peak("server", "pss_bytes", held),
        "driver_busy_cores": mean_busy_cores(readings, "driver", held),
        "driver_peak_busy_ratio": driver_peak_busy_ratio(recording, readings),
    }


def _in_flight(readings: Usage, held: Sequence[Window]) -> float | None:
    """Mean requests in flight by the driver's clock, each hold counting by its length."""
    means = [readings.mean_of_intervals("driver", "in_flight_mean", window) for window in held]
    if not means or None in means:
        return None
    lengths = [end - start for start, end in held]
    return float(np.average(np.array(means, dtype=np.float64), weights=lengths))
