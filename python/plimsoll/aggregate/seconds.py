"""Seconds: what happened in each second of a trial.

Every second from the trial's zero to its end has a row, with or without responses in
it: a second without a response is a row of zeros whose times are null. A response counts in the
second in which it was complete. A load may end within a second: stage and requested level are those
at the middle of the part that the load lasted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from plimsoll import tables
from plimsoll.aggregate import links, query
from plimsoll.aggregate.cores import busy_cores
from plimsoll.aggregate.engine_records import EngineRecords
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.aggregate.usage import second_window, usage
from plimsoll.statistics import quantiles

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import duckdb

    from plimsoll.aggregate.query import Rows, Stored
    from plimsoll.aggregate.usage import Instants, Usage, Values, Window
    from plimsoll.recording import RecordedStage, Recording

    Counts = dict[str, list[int | None]]
    """Columns of counts, with a number for each second; None where it is unknown."""

    Column = Sequence[float | str | None] | Values | Instants
    """One value for each second; None or NaN where it is unknown."""

AFTER = "after"
"""Stage of a second that lies behind the last stage."""

LEAST_PART_NS = SECOND_NS // 10
"""A load that lasted for less of a second has ended before it: the last responses come then."""

BATCH_ROWS = 2_000_000
"""Percentiles are taken of at most about so many rows at a time."""

COUNTS = ("due", "completed", "ok", "failed", "received_bytes")
"""Columns that are counts."""

LISTED = ("p25", "p50", "p75", "p95", "p99")
"""Quantiles in the order of the lists of `second_times.sql`."""


def counted(recording: Recording, requests: Rows, readings: Stored) -> pa.Table:
    """The seconds of a trial, in order, without the columns of times, which are most of the work.

    Args:
        recording: The recording.
        requests: Its table `requests`.
        readings: Its table `usage`.
    """
    counts = _counts(requests)
    length = _length(recording, counts)
    found = _counted(counts, length)
    read = usage(readings, recording.server_host)
    middles = _middles_of_parts(recording, length)
    stages = [_stage_at(recording, int(middle)) for middle in middles]
    kinds = [AFTER if stage is None else stage.kind for stage in stages]
    return _table(
        {
            **found,
            "stage": kinds,
            "requested_level": _requested(recording, read, stages, middles),
            **_uncounted(recording, found, kinds, rows=bool(counts)),
            **_used(recording, read, length),
            "trial": [recording.trial] * length,
            "second": np.arange(length),
        }
    )


def timed(seconds: pa.Table, requests: Rows) -> pa.Table:
    """The seconds of a trial with their times, by the schema of `tables.SECONDS`.

    Args:
        seconds: They without, as `counted` gives them.
        requests: The table `requests` of the trial.
    """
    with query.opened(requests=requests) as database:
        times = _timed(database, seconds)
    for field in tables.SECONDS.schema:
        if field.name in times:
            seconds = seconds.append_column(field, _array(times[field.name], field.type))
    return seconds.select(tables.SECONDS.schema.names)


def stretches(counts: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """First and last second of stretches that have some `BATCH_ROWS` rows each.

    Args:
        counts: Seconds in order, each with its rows.
    """
    first, rows = None, 0
    for second, more in counts:
        if first is not None and rows + more > BATCH_ROWS:
            yield first, second - 1
            first, rows = None, 0
        first = second if first is None else first
        rows += more
    if first is not None:
        yield first, counts[-1][0]


def loaded_part(recording: Recording, second: int) -> Window:
    """The part of a second in which there was a load; all of it where that is too little to tell.

    Args:
        recording: The recording.
        second: Seconds since the trial's zero.
    """
    start_ns, end_ns = second_window(second)
    if not recording.stages:
        return start_ns, end_ns
    part = max(start_ns, recording.stages[0].start_ns), min(end_ns, recording.stages[-1].end_ns)
    return part if part[1] - part[0] >= LEAST_PART_NS else (start_ns, end_ns)


def level(stage: RecordedStage, at_ns: int) -> float:
    """What a stage requests at an instant within it: connections, or arrivals per second.

    In a stage of `k` steps the level during step `i` (from 1) is `start + (end - start) · i / k`;
    0 steps are a straight line. Connections are whole, so the engine rounds what is not.
    """
    share = (at_ns - stage.start_ns) / max(stage.end_ns - stage.start_ns, 1)
    if stage.steps > 0:
        share = (int(share * stage.steps) + 1) / stage.steps
    return stage.start + (stage.end - stage.start) * min(share, 1.0)


def _length(recording: Recording, counts: Sequence[tuple[int, ...]]) -> int:
    """Seconds from the zero to the end of the last stage, or of the last request after it."""
    end_ns = recording.stages[-1].end_ns if recording.stages else 0
    last = counts[-1][0] + 1 if counts else 0
    return max(-(-end_ns // SECOND_NS), last)


def _counts(requests: Rows) -> list[tuple[Any, ...]]:
    """Rows of `seconds.sql`."""
    if isinstance(requests, EngineRecords):
        return requests.seconds()
    with query.opened(requests=requests) as database:
        return database.execute(query.text("seconds")).fetchall()


def _counted(counts: Sequence[tuple[Any, ...]], length: int) -> Counts:
    """The columns of counts; null throughout if no request has what would be counted."""
    columns: Counts = {name: [0] * length for name in COUNTS}
    for second, *values in counts:
        for name, value in zip(COUNTS, values, strict=True):
            columns[name][second] = value
    if counts and not any(columns["due"]):
        columns["due"] = [None] * length
    if counts and not any(columns["received_bytes"]) and None in columns["received_bytes"]:
        columns["received_bytes"] = [None] * length
    return columns


def _uncounted(recording: Recording, found: Counts, stages: Sequence[str], *, rows: bool) -> Counts:
    """The counts that a foreign driver does not say, null: all without rows, those of a warm-up.

    Rows of a driver whose figures say more tell when a request ended, and not how.

    Args:
        recording: The recording.
        found: The counts so far.
        stages: The kind of stage of each second.
        rows: Whether the driver wrote rows.
    """
    driver = recording.driver
    if driver is None or (driver.figures is None and not driver.uses_reported_statistics):
        return {}
    nothing: list[int | None] = [None] * len(stages)
    if not rows:
        return dict.fromkeys(COUNTS, nothing)
    held: Counts = {
        name: [
            None if stage == "warm_up" else count
            for stage, count in zip(stages, found[name], strict=True)
        ]
        for name in COUNTS
    }
    return held | (
        dict.fromkeys(("ok", "failed"), nothing) if driver.uses_reported_statistics else {}
    )


def _timed(database: duckdb.DuckDBPyConnection, seconds: pa.Table) -> dict[str, list[float | None]]:
    """The columns of times; null in a second that has too few responses for them."""
    columns: dict[str, list[float | None]] = {
        column.name: [None] * len(seconds)
        for column in tables.SECONDS.columns
        if _is_time(column.name)
    }
    completed = [responses or 0 for responses in seconds["completed"].to_pylist()]
    for first, last in stretches(list(enumerate(completed))):
        window = {"from_ns": first * SECOND_NS, "until_ns": (last + 1) * SECOND_NS}
        cursor = database.execute(query.text("second_times"), window)
        names = [str(column[0]) for column in cursor.description or ()]
        for values in cursor.fetchall():
            row = dict(zip(names, values, strict=True))
            for name, value in _times(row).items():
                columns[name][row["second"]] = value
    return columns


def _is_time(name: str) -> bool:
    return name.endswith("_ns")


def _times(row: Mapping[str, Any]) -> dict[str, float | None]:
    """Columns of one second from a row of `second_times.sql`."""
    times: dict[str, float | None] = {}
    for name in ("response_time", "service_time"):
        for statistic, value in zip(LISTED, row[name] or (), strict=False):
            times[f"{name}_{statistic}_ns"] = _if_enough(row[f"{name}_rows"], statistic, value)
        times[f"{name}_max_ns"] = row[f"{name}_max"]
    times["first_byte_p50_ns"] = _if_enough(row["first_byte_rows"], "p50", row["first_byte"])
    return times


def _if_enough(rows: int, statistic: str, value: float | None) -> float | None:
    return value if quantiles.enough(rows, quantiles.QUANTILES[statistic]) else None


def _requested(
    recording: Recording,
    readings: Usage,
    stages: Sequence[RecordedStage | None],
    middles: Instants,
) -> Column:
    """The requested level at the middle of the load's part of each second.

    It is that of the stages, or the users that a driver without stages reported.
    """
    users = readings.of("driver", "users_active")
    if recording.load.model == "unknown" and users:
        at = _middles(len(stages))  # of whole seconds: that is where such readings are
        return np.sum([np.nan_to_num(series.at(at)) for series in users], axis=0)
    return [
        0.0 if stage is None else level(stage, int(middle))
        for stage, middle in zip(stages, middles, strict=True)
    ]


def _middles(length: int) -> Instants:
    return np.arange(length, dtype=np.int64) * SECOND_NS + SECOND_NS // 2


def _middles_of_parts(recording: Recording, length: int) -> Instants:
    parts = [loaded_part(recording, second) for second in range(length)]
    return np.array([(start_ns + end_ns) // 2 for start_ns, end_ns in parts], dtype=np.int64)


def _stage_at(recording: Recording, at_ns: int) -> RecordedStage | None:
    return next((s for s in recording.stages if s.start_ns <= at_ns < s.end_ns), None)


def _used(recording: Recording, readings: Usage, length: int) -> dict[str, Column]:
    """What was read of server, driver and machine."""
    windows = [second_window(second) for second in range(length)]
    middles = _middles(length)
    in_flight = [readings.mean_of_intervals("driver", "in_flight_mean", w) for w in windows]
    return {
        "open_connections": readings.level("driver", "connections_open", middles),
        "in_flight": in_flight,
        "server_busy_cores": busy_cores(readings, "server", windows),
        "server_rss_bytes": readings.level("server", "rss_bytes", middles),
        "driver_busy_cores": busy_cores(readings, "driver", windows),
        "driver_rss_bytes": readings.level("driver", "rss_bytes", middles),
        "machine_busy_cores": readings.rates("machine", "core_busy_s", windows),
        "listen_queue": [readings.peak("server", "listen_queue", [w]) for w in windows],
        "listen_overflows": [turned_away(recording, readings, w) for w in windows],
    }


def turned_away(recording: Recording, readings: Usage, window: Window) -> float | None:
    """Attempts to connect that full listen queues turned away in some time.

    Two witnesses must agree. A listening socket counts among its drops stray packets of connections
    that have ended, and the counters of the host hold what other servers turned away; so it is the
    less of both. One alone is believed where the other could not be read; None without any. Of a
    server on a host that was not read, the counters of the load generator's host say nothing.

    Source:
        sock_diag(7), SK_MEMINFO_DROPS; TcpExt ListenOverflows and ListenDrops, of which the
        greater counts, because each overflow is also a drop.
    """
    own = readings.growth("server", "listen_drops", [window])
    counters = ("listen_overflows", "listen_drops")
    grown = [readings.growth("machine", name, [window]) for name in counters]
    knows = links.is_server_read(recording)
    of_host = max((number for number in grown if number is not None and knows), default=None)
    witnesses = [number for number in (own, of_host) if number is not None]
    return min(witnesses, default=None)


def _table(columns: Mapping[str, Column]) -> pa.Table:
    """A table of some of the columns of `tables.SECONDS`, in their order."""
    fields = [field for field in tables.SECONDS.schema if field.name in columns]
    arrays = [_array(columns[field.name], field.type) for field in fields]
    return pa.table(arrays, schema=pa.schema(fields))


def _array(values: Column, kind: pa.DataType) -> pa.Array:
    """A column in its type; NaN becomes null."""
    return pa.array(values, kind, from_pandas=True)
