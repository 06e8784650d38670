"""Writes rows of a reader as the tables of a trial, with bounded memory.

The zero of the trial is its first request, which need not be the first in a file: tools log a
request when it ends. Timestamps are relative to the earliest request of the first batches, and are
rewritten, row group by row group, in the rare case that an earlier one follows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from plimsoll import tables, texts
from plimsoll.intake import limits
from plimsoll.intake.rows import ROWS
from plimsoll.recording import writing
from plimsoll.recording.readings import Reading

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.intake.rows import ImportStats
    from plimsoll.recording import Driver
    from plimsoll.tables import Table

CHUNK_ROWS = 1 << 18
"""Rows of a row group, which limits memory."""

UNNAMED = "request"
"""Request type of requests without a name."""

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
"""Outcomes of requests whose connection attempt failed."""


_EngineSecond = tuple[str, str, int]
"""Host of a file, engine of its rows if it is of several, and a second of the tool's clock."""

_BOUNDS = ("none", "likely", "certain")
"""Values of `UsersBound`, the least sure first."""


@dataclass(frozen=True)
class Written:
    """The written tables.

    Attributes:
        kinds: Names of the request types; the column `request` is an index into it.
        zero_utc_ns: The trial's zero by the tool's clock, in nanoseconds.
        last_ns: The last timestamp of any request, since zero.
        rows: Number of requests; without requests there are no tables.
        sent: Requests that were sent.
        outcomes: Number of requests by outcome.
        first_ns: The first timestamp of each host, since zero.
        ends_ns: The last timestamp of each host, since zero.
        connections: Number of attempts to connect.
        has_connects: Whether every request has a time to connect, so that every attempt is known;
            where all of these are 0, they are not logged, because some request must have connected.
        readings: Most active threads of the tool in each second, as readings of its host, or of its
            engines where a file is of several.
        begun: Requests that had begun by the end of each second before that of the first response;
            seconds since zero.
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
    has_connects: bool
    readings: tuple[Reading, ...]
    begun: dict[int, int]


def merge(
    sources: Mapping[str, Iterable[pa.RecordBatch]],
    into: Path,
    zero_utc_ns: int | None,
    watch: Callable[[pa.RecordBatch], None] = lambda _: None,
) -> Written:
    """Writes the rows of one or several hosts into one set of tables.

    These are `requests.parquet`, and `connections.parquet` if there are times to connect.

    Args:
        sources: Rows of the schema `ROWS` by the name of the driver's host. With several hosts,
            each is opened twice: first to find the first request of all, then to write one after
            the other.
        into: Folder of the trial.
        zero_utc_ns: Zero of the trial by the tools' clocks; None puts the first request at zero.
        watch: Called with all rows.

    Raises:
        InputError: There are too many request types.
        OSError: Something could not be written.
    """
    begun = dict(sources)
    if len(sources) == 1:
        ((host, batches),) = sources.items()
        first, rest = _begun(batches)
        begun = {host: chain([] if first is None else [first], rest)}
        firsts = [first]
    else:
        firsts = [] if zero_utc_ns is not None else [_begun(one)[0] for one in sources.values()]
    account = _Account(_earliest(firsts) if zero_utc_ns is None else zero_utc_ns)
    with (
        _Tables(tables.REQUESTS, into) as requests,
        _Tables(tables.CONNECTIONS, into) as connections,
    ):
        for host, batches in begun.items():
            for batch in batches:
                if len(batch):
                    watch(batch)
                    requests.add(account.requests(batch, host))
                    connections.add(account.connections(batch, host))
    if zero_utc_ns is None and account.earliest < 0:
        for table in (tables.REQUESTS, tables.CONNECTIONS):
            _count_from(account.earliest, into / f"{table.name}.parquet", table)
        account.shift(account.earliest)
    return account.written()


def with_capabilities(driver: Driver, written: Written, tallies: Sequence[ImportStats]) -> Driver:
    """Marks in the driver's side of a recording what its files do not contain.

    A file without a request has no say: its header, or that it has none, describes no row.

    Args:
        driver: The other facts of the driver.
        written: The written tables.
        tallies: Row counts of each file.
    """
    of_rows = [tally for tally in tallies if tally.kept] or tallies
    return replace(
        driver,
        has_connects=written.has_connects,
        has_outcomes=all(tally.has_outcomes for tally in of_rows),
        has_failures=all(tally.has_failures for tally in of_rows),
        instants_step_s=max((tally.instants_step_s for tally in of_rows), default=0.0),
        durations_step_s=max((tally.durations_step_s for tally in of_rows), default=0.0),
        users_bound=min(
            (tally.users_bound for tally in of_rows), key=_BOUNDS.index, default="likely"
        ),
        lines_malformed=sum(tally.broken for tally in tallies),
        rows_missing=sum(tally.missing for tally in tallies),
        never_sent=sum(tally.never_sent for tally in tallies),
    )


@dataclass
class _Account:
    """Counts of the rows so far."""

    zero: int
    rows: int = 0
    sent: int = 0
    attempts: int = 0
    has_connects: bool = True
    kinds: dict[str, int] = field(default_factory=dict[str, int])
    letters: int = 0
    outcomes: Counter[str] = field(default_factory=Counter[str])
    first: dict[str, int] = field(default_factory=dict[str, int])
    last: dict[str, int] = field(default_factory=dict[str, int])
    begun: Counter[int] = field(default_factory=Counter[int])
    first_end: int | None = None
    threads: dict[_EngineSecond, int] = field(default_factory=dict["_EngineSecond", int])

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
            "body_bytes": rows["body_bytes"],
            "compared": pa.nulls(len(batch), pa.bool_()),
            "request": self._kinds(rows["kind"]),
            "connection": nothing,
            "worker": pa.array(np.zeros(len(batch), np.uint16)),
            "host": writing.repeated(host, len(batch)),
            "status": rows["status"],
            "outcome": rows["outcome"],
            "errno": rows["errno"],
            "sent_bytes": rows["sent_bytes"],
        }
        schema = tables.REQUESTS.schema
        return pa.Table.from_arrays([columns[name] for name in schema.names], schema=schema)

    def connections(self, batch: pa.RecordBatch, host: str) -> pa.Table:
        """Rows of the table `connections`: the requests with a new connection."""
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
            "host": writing.repeated(host, len(chosen)),
            "outcome": pc.if_else(failed, outcome, None).dictionary_encode(),
            "errno": pc.if_else(failed, batch.column("errno").take(picked), None),
            "tcp_connected_ns": pa.nulls(len(chosen), pa.int64()),
            "resumed": pa.nulls(len(chosen), pa.bool_()),
            "alert": pa.nulls(len(chosen), pa.uint8()),
        }
        self.attempts += len(chosen)
        self.has_connects &= connects.null_count == 0
        return pa.Table.from_arrays([columns[name] for name in schema.names], schema=schema)

    def shift(self, by_ns: int) -> None:
        """Moves the zero."""
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
            has_connects=self.has_connects and (self.attempts > 0 or not self.sent),
            readings=tuple(self._readings()),
            begun=self._begun_by(),
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
        self._count_begun(rows)
        self._count_threads(rows, host)

    def _count_begun(self, rows: Mapping[str, pa.Array]) -> None:
        """Requests that began in a second of the tool's clock before that of the first response."""
        end_ns = pc.min(rows["done_ns"]).as_py()
        if end_ns is not None:
            end = end_ns // _SECOND_NS
            self.first_end = end if self.first_end is None else min(end, self.first_end)
        begins: Any = pc.coalesce(rows["sent_ns"], rows["due_ns"])
        if self.first_end is not None:
            begins = begins.filter(pc.less(begins, self.first_end * _SECOND_NS))
        for second in pc.value_counts(pc.divide(begins, _SECOND_NS)).to_pylist():
            self.begun[second["values"]] += second["counts"]

    def _begun_by(self) -> dict[int, int]:
        found: dict[int, int] = {}
        if self.first_end is None or not self.begun:
            return found
        begun = 0
        for second in range(min(self.begun), self.first_end):
            begun += self.begun[second]
            found[self._middle_ns(second) // _SECOND_NS] = begun
        return found

    def _middle_ns(self, second: int) -> int:
        """The middle of a second of the tool's clock, since zero."""
        return second * _SECOND_NS + _SECOND_NS // 2 - self.zero

    def _count_threads(self, rows: Mapping[str, pa.Array], host: str) -> None:
        """The most threads in each second of the tool's clock; tools count them at the end."""
        ends = pc.coalesce(rows["done_ns"], rows["sent_ns"])
        stated = pc.and_(rows["threads"].is_valid(), ends.is_valid())
        if not pc.any(stated).as_py():
            return
        seconds = pc.divide(ends.filter(stated), _SECOND_NS)
        engines = rows["engine"].filter(stated)
        names = engines.dictionary.to_pylist()
        table = pa.table(
            [engines.indices, seconds, rows["threads"].filter(stated)],
            names=["engine", "second", "threads"],
        )
        peaks = table.group_by(["engine", "second"]).aggregate([("threads", "max")])
        found = (peaks[name].to_pylist() for name in ("engine", "second", "threads_max"))
        for place, second, threads in zip(*found, strict=True):
            engine = "" if place is None else texts.line(names[place])
            key = (host, engine, second)
            self.threads[key] = max(threads, self.threads.get(key, 0))
        if len(self.threads) > limits.USER_SECONDS.most:
            raise limits.USER_SECONDS.refused(host)

    def _readings(self) -> Iterator[Reading]:
        """One reading of each engine at the middle of each second of the tool's clock."""
        engines = Counter(host for host, _ in {key[:2] for key in self.threads})
        for (host, engine, second), threads in self.threads.items():
            name = f"{host} {engine}".strip() if engines[host] > 1 else host
            yield Reading(self._middle_ns(second), "driver", USERS, float(threads), name)

    def _kinds(self, kind: pa.Array) -> pa.Array:
        """Index of each kind among all found so far."""
        if kind.null_count:
            kind = kind.cast(pa.string()).fill_null(UNNAMED).dictionary_encode()
        names, found = kind.dictionary.to_pylist(), kind.indices.to_numpy()
        indices = np.zeros(len(names), np.uint16)
        for used in np.flatnonzero(np.bincount(found, minlength=len(names))).tolist():
            indices[used] = self._kind(names[used])
        return pa.array(indices[found])

    def _kind(self, name: str) -> int:
        """Index of a kind; counts it when it is new.

        Raises:
            InputError: It is too long, or there are too many.
        """
        if len(name) > limits.NAME_LETTERS.most:
            raise limits.NAME_LETTERS.refused("")
        name = texts.line(name)
        if (known := self.kinds.get(name)) is not None:
            return known
        self.letters += len(name)
        if self.letters > limits.ALL_NAMES_LETTERS.most:
            raise limits.ALL_NAMES_LETTERS.refused("")
        if len(self.kinds) >= limits.NAMES.most:
            raise limits.NAMES.refused("")
        return self.kinds.setdefault(name, len(self.kinds))


class _Tables:
    """A Parquet file that collects rows until they fill a row group.

    A thread writes one row group while the next one is collected.
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
        """Takes some rows; the file is created with the first one."""
        if not len(rows):
            return
        self._waiting.append(rows)
        self._rows += len(rows)
        if self._rows >= CHUNK_ROWS:
            self._flush()

    def _flush(self) -> None:
        self._require_written()
        if self._writer is None:
            self._writer = writing.parquet(self._table, self._path, coarse=True)
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


def _begun(
    batches: Iterable[pa.RecordBatch],
) -> tuple[pa.RecordBatch | None, Iterator[pa.RecordBatch]]:
    """The first non-empty batch, and the rest."""
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
    """Rewrites a file with timestamps relative to another zero."""
    if not path.exists():
        return
    partial = path.with_suffix(".moved")
    instants = [name for name in table.schema.names if name.endswith("_ns")]
    into = writing.parquet(table, partial, coarse=True)
    with pq.ParquetFile(path) as source, into:
        for group in range(source.num_row_groups):
            rows: Any = source.read_row_group(group)
            for name in instants:
                moved = pc.subtract(rows[name], zero_ns)
                rows = rows.set_column(rows.schema.get_field_index(name), name, moved)
            into.write_table(rows.cast(table.schema))
    partial.replace(path)


def _less(instants: pa.Array, zero_ns: int) -> pa.Array:
    return pc.subtract(instants, zero_ns)
