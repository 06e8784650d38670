"""Rows that a reader gives become the tables of a trial, in memory bounded whatever their number.

The zero of the trial is its first request, which need not stand first in a file: tools write a
request when it ends. Instants are counted from the earliest request of the first batches, and all
of them once more, row group by row group, in the rare case that an earlier one turns up later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from plimsoll import tables
from plimsoll.errors import CampaignError, Problem
from plimsoll.intake.rows import ROWS
from plimsoll.recording import HOST

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.intake.rows import Tally
    from plimsoll.recording import Driver
    from plimsoll.tables import Table

CHUNK_ROWS = 1 << 18
"""Rows after which a row group is written; bounds the memory."""

UNNAMED = "request"
"""Kind of requests that the tool gives no name."""

MOST_KINDS = 1 << 16
"""Kinds of request that the table can tell apart."""

USERS = "users_active"
"""Quantity of the readings of threads."""

_SECOND_NS = 1_000_000_000
CONNECTING = (
    "connect_refused",
    "connect_timeout",
    "connect_unreachable",
    "connect_reset",
    "no_port",
    "too_many_files",
    "connect_failed",
)
"""Outcomes of requests for which no connection came about."""


@dataclass(frozen=True)
class Reading:
    """One reading of one resource, as a row of the table `usage`.

    Attributes:
        at_ns: Its instant since the trial's zero.
        host: Host that was read.
        scope: `server`, `driver` or `machine`.
        quantity: Name in `tables.QUANTITIES`.
        value: The reading.
    """

    at_ns: int
    host: str
    scope: str
    quantity: str
    value: float


@dataclass(frozen=True)
class Written:
    """What was written.

    Attributes:
        kinds: Names of the kinds of request; the column `request` is an index into it.
        zero_utc_ns: The trial's zero by the tool's clock, in nanoseconds.
        last_ns: The last instant of any request, since zero.
        rows: Requests written; where there are none, there are no tables either.
        sent: Requests that were sent.
        outcomes: How many requests ended how.
        first_ns: The first instant of each host, since zero.
        ends_ns: The last instant of each host, since zero.
        connections: Attempts to connect written.
        connects_said: Whether every request says how long it took to connect, so that every
            attempt is known.
        readings: Most active threads of the tool in each second, as readings of its host.
    """

    kinds: tuple[str, ...]
    zero_utc_ns: int
    last_ns: int
    rows: int
    sent: int
    outcomes: dict[str, int]
    first_ns: dict[str, int]
    ends_ns: dict[str, int]
    connections: int
    connects_said: bool
    readings: tuple[Reading, ...]


def write(batches: Iterable[pa.RecordBatch], into: Path, zero_utc_ns: int | None) -> Written:
    """Writes `requests.parquet`, and `connections.parquet` where times to connect are said.

    Args:
        batches: Rows of the schema `ROWS`.
        into: Folder of the trial.
        zero_utc_ns: Zero of the trial by the tool's clock; None puts the first request at zero.

    Raises:
        CampaignError: There are more kinds of request than can be told apart.
        OSError: Something could not be written.
    """
    return merge({HOST: batches}, into, zero_utc_ns)


def merge(
    sources: Mapping[str, Iterable[pa.RecordBatch]], into: Path, zero_utc_ns: int | None
) -> Written:
    """Writes the rows of several hosts into one set of tables.

    Args:
        sources: Rows of the schema `ROWS` by the name of the host of the driver.
        into: Folder of the trial.
        zero_utc_ns: Zero of the trial by the tools' clocks; None puts the first request at zero.

    Raises:
        CampaignError: There are more kinds of request than can be told apart.
        OSError: Something could not be written.
    """
    begun = {host: _begun(batches) for host, batches in sources.items()}
    zero = _earliest(first for first, _ in begun.values()) if zero_utc_ns is None else zero_utc_ns
    account = _Account(zero)
    with (
        _Tables(tables.REQUESTS, into) as requests,
        _Tables(tables.CONNECTIONS, into) as connections,
    ):
        for host, (first, rest) in begun.items():
            for batch in chain([] if first is None else [first], rest):
                if len(batch):
                    requests.add(account.requests(batch, host))
                    connections.add(account.connections(batch, host))
    if zero_utc_ns is None and account.earliest < 0:
        for table in (tables.REQUESTS, tables.CONNECTIONS):
            _count_from(account.earliest, into / f"{table.name}.parquet", table)
        account.shift(account.earliest)
    return account.written()


def told(driver: Driver, written: Written, tallies: Sequence[Tally]) -> Driver:
    """The driver's side of a recording with what its files leave unsaid.

    Args:
        driver: What else is known of it.
        written: What was written of its rows.
        tallies: The account of each file.
    """
    return replace(
        driver,
        connects_said=written.connects_said,
        outcomes_said=all(tally.outcomes_said for tally in tallies),
        failures_said=all(tally.failures_said for tally in tallies),
        instants_step_s=max((tally.instants_step_s for tally in tallies), default=0.0),
    )


def write_usage(readings: Iterable[Reading], path: Path) -> None:
    """Writes the table `usage` by rising instant.

    Args:
        readings: The readings, since the trial's zero.
        path: The file.

    Raises:
        OSError: It could not be written.
    """
    ordered = sorted(readings, key=lambda reading: reading.at_ns)
    columns = {
        name: [getattr(reading, name) for reading in ordered] for name in tables.USAGE.schema.names
    }
    pq.write_table(
        pa.Table.from_pydict(columns, schema=tables.USAGE.schema), path, compression="zstd"
    )


@dataclass
class _Account:
    """What is known of the rows so far."""

    zero: int
    rows: int = 0
    sent: int = 0
    attempts: int = 0
    connects_said: bool = True
    kinds: dict[str, int] = field(default_factory=dict[str, int])
    outcomes: Counter[str] = field(default_factory=Counter[str])
    first: dict[str, int] = field(default_factory=dict[str, int])
    last: dict[str, int] = field(default_factory=dict[str, int])
    threads: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])

    @property
    def earliest(self) -> int:
        return min(self.first.values(), default=0)

    def requests(self, batch: pa.RecordBatch, host: str) -> pa.Table:
        """Rows of the table `requests`; counts them."""
        rows = {name: batch.column(name) for name in ROWS.names}
        instants = {
            name: _less(rows[name], self.zero)
            for name in ("due_ns", "sent_ns", "first_byte_ns", "done_ns")
        }
        self._count(rows, instants, host, len(batch))
        nothing = pa.nulls(len(batch), pa.uint32())
        columns = {
            **instants,
            "received_bytes": rows["received_bytes"],
            "request": self._kinds(rows["kind"]),
            "connection": nothing,
            "worker": pa.array(np.zeros(len(batch), np.uint16)),
            "host": repeated(host, len(batch)),
            "status": rows["status"],
            "outcome": rows["outcome"],
            "errno": rows["errno"],
            "sent_bytes": rows["sent_bytes"],
        }
        schema = tables.REQUESTS.schema
        return pa.Table.from_arrays([columns[name] for name in schema.names], schema=schema)

    def connections(self, batch: pa.RecordBatch, host: str) -> pa.Table:
        """Rows of the table `connections`: the requests that a connection was opened for."""
        schema = tables.CONNECTIONS.schema
        every, connects = batch.column("outcome"), batch.column("connect_ns")
        is_connecting = [name in CONNECTING for name in every.dictionary.to_pylist()]
        took = connects.fill_null(0).to_numpy() > 0
        chosen = np.flatnonzero(np.array(is_connecting, bool)[every.indices.to_numpy()] | took)
        picked = pa.array(chosen)
        outcome = every.take(picked).cast(pa.string())
        failed = pc.is_in(outcome, value_set=pa.array(CONNECTING))
        begin = _less(batch.column("sent_ns").take(picked), self.zero)
        opened = pc.if_else(failed, None, connects.take(picked))
        nothing = pa.nulls(len(chosen), pa.uint32())
        columns = {
            "due_ns": begin,
            "connected_ns": pc.add(begin, opened),
            "closed_ns": pa.nulls(len(chosen), pa.int64()),
            "requests": nothing,
            "responses": nothing,
            "connection": pa.array(self.attempts + np.arange(len(chosen)), pa.uint32()),
            "worker": pa.array(np.zeros(len(chosen), np.uint16)),
            "host": repeated(host, len(chosen)),
            "outcome": pc.if_else(failed, outcome, None).dictionary_encode(),
            "errno": pc.if_else(failed, batch.column("errno").take(picked), None),
        }
        self.attempts += len(chosen)
        self.connects_said &= connects.null_count == 0
        return pa.Table.from_arrays([columns[name] for name in schema.names], schema=schema)

    def shift(self, by_ns: int) -> None:
        """Counts what is known from a later, or earlier, zero."""
        self.zero += by_ns
        self.first = {host: at - by_ns for host, at in self.first.items()}
        self.last = {host: at - by_ns for host, at in self.last.items()}

    def written(self) -> Written:
        return Written(
            kinds=tuple(self.kinds),
            zero_utc_ns=self.zero,
            last_ns=max(self.last.values(), default=0),
            rows=self.rows,
            sent=self.sent,
            outcomes=dict(self.outcomes),
            first_ns=self.first,
            ends_ns=self.last,
            connections=self.attempts,
            connects_said=self.connects_said,
            readings=tuple(self._readings()),
        )

    def _count(
        self, rows: Mapping[str, pa.Array], instants: Mapping[str, pa.Array], host: str, count: int
    ) -> None:
        begin = pc.min(pc.coalesce(instants["due_ns"], instants["sent_ns"])).as_py()
        ends = [pc.max(instants[name]).as_py() for name in instants]
        end = max(at for at in ends if at is not None)
        self.rows += count
        self.sent += count - instants["sent_ns"].null_count
        self.first[host] = min(begin, self.first.get(host, begin))
        self.last[host] = max(end, self.last.get(host, end))
        for found in pc.value_counts(rows["outcome"]).to_pylist():
            self.outcomes[found["values"]] += found["counts"]
        self._count_threads(rows, host)

    def _count_threads(self, rows: Mapping[str, pa.Array], host: str) -> None:
        """The most threads in each second of the tool's clock; tools count them at the end."""
        ends = pc.coalesce(rows["done_ns"], rows["sent_ns"])
        said = pc.and_(rows["threads"].is_valid(), ends.is_valid())
        if not pc.any(said).as_py():
            return
        seconds = pc.divide(ends.filter(said), _SECOND_NS)
        found = pa.table([seconds, rows["threads"].filter(said)], names=["second", "threads"])
        peaks = found.group_by("second").aggregate([("threads", "max")])
        for second, threads in zip(
            peaks["second"].to_pylist(), peaks["threads_max"].to_pylist(), strict=True
        ):
            key = (host, second)
            self.threads[key] = max(threads, self.threads.get(key, 0))

    def _readings(self) -> Iterator[Reading]:
        """One reading at the middle of each second of the tool's clock."""
        for (host, second), threads in self.threads.items():
            at_ns = second * _SECOND_NS + _SECOND_NS // 2 - self.zero
            yield Reading(at_ns, host, "driver", USERS, float(threads))

    def _kinds(self, kind: pa.Array) -> pa.Array:
        """Index of each kind among all found so far."""
        if kind.null_count:
            kind = kind.cast(pa.string()).fill_null(UNNAMED).dictionary_encode()
        names, found = kind.dictionary.to_pylist(), kind.indices.to_numpy()
        indices = np.zeros(len(names), np.uint16)
        for used in np.flatnonzero(np.bincount(found, minlength=len(names))).tolist():
            index = self.kinds.setdefault(names[used], len(self.kinds))
            if index >= MOST_KINDS:
                message = f"holds more than {MOST_KINDS} names of requests"
                hint = "keep only some of them with `--label`"
                raise CampaignError([Problem("", message, hint)])
            indices[used] = index
        return pa.array(indices[found])


class _Tables:
    """A Parquet file that rows are gathered for until they make a row group.

    A thread of its own writes one row group while the next one is gathered.
    """

    def __init__(self, table: Table, into: Path) -> None:
        self._table = table
        self._path = into / f"{table.name}.parquet"
        self._writer: Any = None
        self._waiting: list[pa.Table] = []
        self._rows = 0
        self._hand = ThreadPoolExecutor(1, "parquet")
        self._writing: Future[None] | None = None

    def __enter__(self) -> _Tables:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._hand:
            if self._waiting and kind is None:
                self._flush()
        if self._writer is not None:
            self._writer.close()
        if kind is None:
            self._require_written()

    def add(self, rows: pa.Table) -> None:
        """Takes some rows; no file is made before the first one."""
        if not len(rows):
            return
        self._waiting.append(rows)
        self._rows += len(rows)
        if self._rows >= CHUNK_ROWS:
            self._flush()

    def _flush(self) -> None:
        self._require_written()
        if self._writer is None:
            self._writer = writer(self._table, self._path)
        self._writing = self._hand.submit(self._write, self._waiting)
        self._waiting = []
        self._rows = 0

    def _write(self, gathered: Sequence[pa.Table]) -> None:
        rows = pa.concat_tables(gathered).unify_dictionaries()
        self._writer.write_table(rows, row_group_size=len(rows))

    def _require_written(self) -> None:
        """Waits for the row group that is being written.

        Raises:
            OSError: It could not be written.
        """
        if self._writing is not None:
            self._writing.result()


def writer(table: Table, path: Path) -> pq.ParquetWriter:
    """A Parquet file of a recorded table, open to be written.

    Instants of other tools are whole milliseconds or microseconds that come again and again, so
    they are kept in dictionaries, not as differences. Queries skip rows by their instants only, so
    nothing else has its least and its greatest value beside it.

    Raises:
        OSError: It cannot be written.
    """
    instants = [name for name in table.schema.names if name.endswith("_ns")]
    return pq.ParquetWriter(path, table.schema, compression="zstd", write_statistics=instants)


def _begun(
    batches: Iterable[pa.RecordBatch],
) -> tuple[pa.RecordBatch | None, Iterator[pa.RecordBatch]]:
    """The first batch that has a row, and the rest."""
    rest = iter(batches)
    return next((batch for batch in rest if len(batch)), None), rest


def _earliest(batches: Iterable[pa.RecordBatch | None]) -> int:
    firsts = [
        pc.min(pc.coalesce(batch.column("due_ns"), batch.column("sent_ns"))).as_py()
        for batch in batches
        if batch is not None
    ]
    return min((at for at in firsts if at is not None), default=0)


def _count_from(zero_ns: int, path: Path, table: Table) -> None:
    """Writes a file again with all instants counted from another zero."""
    if not path.exists():
        return
    partial = path.with_suffix(".moved")
    instants = [name for name in table.schema.names if name.endswith("_ns")]
    with pq.ParquetFile(path) as source, writer(table, partial) as into:
        for group in range(source.num_row_groups):
            rows: Any = source.read_row_group(group)
            for name in instants:
                moved = pc.subtract(rows[name], zero_ns)
                rows = rows.set_column(rows.schema.get_field_index(name), name, moved)
            into.write_table(rows.cast(table.schema))
    partial.replace(path)


def _less(instants: pa.Array, zero_ns: int) -> pa.Array:
    return pc.subtract(instants, zero_ns)


def repeated(text: str, rows: int) -> pa.Array:
    """A column that has one text in all rows."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([text]))
