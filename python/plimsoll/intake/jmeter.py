"""JMeter's results: JTL as CSV or XML, versions 2.13 to 5.6.

JMeter's columns, and the columns they become:

- `timeStamp` is its start, before it connects, or its end where `sampleresult.timestamp.start` is
  false: `sent_ns`;
- `elapsed` is end − start − idle time, `IdleTime` the idle time within the sample: `done_ns`;
- `Latency` is first byte − start − idle time, and 0 when none came: `first_byte_ns`;
- `Connect` is 0 both for less than 1 ms and for a reused connection, so 0 becomes null:
  `connect_ns`;
- `bytes` and `sentBytes` are those of response and request with their heads: `received_bytes`,
  `sent_bytes`. For an exception, `bytes` is the length of its text, and becomes null;
- `label` is the name of the request: `kind`;
- `responseCode`, `responseMessage`, `failureMessage` and `success`: `outcome`, `status`, `errno`;
- `allThreads` are the active threads of one engine: `threads`, with `Hostname` or what begins
  `threadName` as `engine`.

A date without milliseconds is up to 1 s too early, whatever `elapsed` is.

JMeter does not log when a request was due. A sample is one request: its parts (redirects, embedded
resources) are left out, and so are transactions, which consist of samples. In CSV, parts are told
by their names, thread and time; without `threadName` they count as requests.

Source: `SampleResult`, `CSVSaveService`, `SampleResultConverter` and `TransactionController` of
Apache JMeter 5.6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from plimsoll import wording
from plimsoll.intake import failures, jtl_csv, jtl_xml, limits
from plimsoll.intake.blocks import WORD
from plimsoll.intake.jmeter_engines import THREAD, Engines
from plimsoll.intake.jtl_csv import MS
from plimsoll.intake.jtl_xml import PARTS, TRANSACTION, TRANSACTIONS
from plimsoll.intake.recorded import CONNECTING
from plimsoll.intake.rows import ROWS

if TYPE_CHECKING:
    from plimsoll.intake.rows import ImportStats, ReadOptions

    Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]
    Marks = np.ndarray[tuple[int], np.dtype[np.bool_]]

NAME = "jmeter"

FROM_CACHE = "(ex cache)"
"""The message of a sample from JMeter's cache."""

MOST_WHOLES = 1 << 16
"""Samples that are remembered because their parts may follow directly after them."""

CACHED = "samples served from JMeter's cache"
SEVERAL = "rows that aggregate several samples"
UNSURE = (
    "samples named like parts of others count as requests ({}), since only thread names tell "
    "parts apart; `jmeter.save.saveservice.thread_name=true` logs them"
)
OF_ENGINES = (
    "the active users of {} engines are added, as `{}` tells them apart; "
    "the offset of their clocks is unknown"
)
OF_ONE_ENGINE = (
    "groups of one number have several names; if the file is of several engines, the number of "
    "active users is that of one; `jmeter.save.saveservice.hostname=true` tells them apart"
)
COARSE = (
    "JMeter wrote timestamps in whole seconds, so instants and the length of the load are up to "
    "1 s off, and rates over a few seconds mean nothing; "
    "`jmeter.save.saveservice.timestamp_format=ms` logs milliseconds"
)

_MOST = {pa.uint32(): 2**32 - 1, pa.int32(): 2**31 - 1}
"""The largest number of a type; larger ones are clipped to it."""


def recognises(beginning: bytes) -> bool:
    """Whether a file with this beginning is a JTL, with a header if it is CSV."""
    return jtl_xml.recognises(beginning) or jtl_csv.recognises(beginning)


def read(stream: BinaryIO, options: ReadOptions, tally: ImportStats) -> Iterator[pa.RecordBatch]:
    """The requests of a JTL, as batches of the schema `ROWS`, in the order of the file.

    Args:
        stream: The file, unpacked, from its beginning.
        options: How to read it.
        tally: Counts every row.

    Raises:
        InputError: It is not a JTL, or a line is broken and `options` is strict.
    """
    parts, engines = _Parts(), Engines()
    tally.used.add("end_stamps")
    tally.durations_step_s = 0.001
    held = stream.readline(limits.HEADER_BYTES.most + 1)
    if jtl_xml.recognises(held) or held.lstrip().startswith(b"<"):
        found = jtl_xml.samples(stream, held, tally, strict=options.strict)
    elif len(held) > limits.HEADER_BYTES.most:
        raise limits.HEADER_BYTES.refused(f"{tally.file}:1")
    else:
        found = jtl_csv.samples(stream, held, options, tally, engines.are_threads_needed)
    stated: set[str] = set()
    for samples in found:
        stated.update(samples.column_names)
        yield _requests(samples, options, tally, parts, engines)
    tally.users_bound = engines.users_bound
    if "allThreads" in stated and engines.count > 1:
        tally.remarks.append(OF_ENGINES.format(engines.count, engines.sign))
    elif "allThreads" in stated and engines.is_unclear:
        tally.remarks.append(OF_ONE_ENGINE)
    _remark(stated, tally)
    if parts.unsure:
        tally.remarks.append(UNSURE.format(wording.count(parts.unsure)))


def _requests(
    samples: pa.Table, options: ReadOptions, tally: ImportStats, parts: _Parts, engines: Engines
) -> pa.RecordBatch:
    """Samples as requests; counts them, and samples that are not requests."""
    table = samples.unify_dictionaries().combine_chunks()
    columns = {name: _one(table[name]) for name in table.column_names}
    columns[_ENGINE] = engines.of(columns, len(table))
    times = _times(columns, options)
    found = _found(columns, len(table))
    reasons = _reasons(columns, found, len(table))
    parts.mark(columns, times, reasons)
    for index, reason in enumerate((TRANSACTIONS, CACHED, SEVERAL, PARTS), 1):
        tally.leave_out(reason, int((reasons == index).sum()))
    kept = np.flatnonzero(reasons == 0)
    tally.keep(len(kept))
    if len(kept) < len(table):
        columns = {name: values.take(pa.array(kept)) for name, values in columns.items()}
        times, found = times.of(kept), found.of(kept)
    return _batch(columns, times, found)


_TRANSACTION, _CACHED, _SEVERAL, _PART = 1, 2, 3, 4

_ENGINE = "engine"
"""The column of `ROWS` that is made of others."""

_NOWHERE = "null"
"""The URL of samples that are not sent."""


@dataclass(frozen=True)
class _Times:
    """Timestamps of samples, in nanoseconds since 1970.

    Attributes:
        start: Beginning.
        end: End, including idle time.
        first_byte: First byte; the start if JMeter logs 0.
        answered: Whether JMeter logs more than 0.
    """

    start: Numbers
    end: Numbers
    first_byte: Numbers
    answered: Marks

    def of(self, rows: Numbers) -> _Times:
        """The timestamps of some of the samples."""
        return _Times(self.start[rows], self.end[rows], self.first_byte[rows], self.answered[rows])


def _times(columns: Mapping[str, pa.Array], options: ReadOptions) -> _Times:
    stamp, elapsed = _numbers(columns["timeStamp"]), _numbers(columns["elapsed"])
    nothing = np.zeros(len(stamp), np.int64)
    idle = _numbers(columns["IdleTime"]) if "IdleTime" in columns else nothing
    latency = _numbers(columns["Latency"]) if "Latency" in columns else nothing
    start = stamp - elapsed - idle if options.timestamp_is_end else stamp
    return _Times(start * MS, (start + elapsed + idle) * MS, (start + latency) * MS, latency > 0)


@dataclass(frozen=True)
class _Found:
    """Outcomes of samples.

    Attributes:
        which: Index of each sample's outcome.
        ends: The outcomes.
        transactions: Whether samples with an outcome are transactions.
        cached: Whether they come from JMeter's cache.
    """

    which: Numbers
    ends: list[failures.SampleOutcome]
    transactions: Marks
    cached: Marks

    def of(self, rows: Numbers) -> _Found:
        """The outcomes of some of the samples."""
        return replace(self, which=self.which[rows])


def _found(columns: Mapping[str, pa.Array], rows: int) -> _Found:
    """The outcomes of samples; each combination of words is mapped once."""
    names = ("responseCode", "responseMessage", "failureMessage", "success")
    words = {name: columns[name].dictionary.to_pylist() for name in names if name in columns}
    keys = np.zeros(rows, np.int64)
    for name, values in words.items():
        keys = keys * (len(values) + 1) + _numbers(columns[name].indices)
    if "Latency" in columns:
        keys = keys * 2 + (_numbers(columns["Latency"]) > 0)
    firsts, which = _distinct(keys)
    ends: list[failures.SampleOutcome] = []
    messages: list[str] = []
    for first in firsts.tolist():
        stated = {name: _word(columns, name, first) for name in names}
        answered = "Latency" in columns and bool(columns["Latency"][first].as_py())
        ends.append(_end_of(stated, answered, columns))
        messages.append(stated["responseMessage"])
    transactions = [message.startswith(TRANSACTION) for message in messages]
    cached = [message == FROM_CACHE for message in messages]
    return _Found(which, ends, np.array(transactions, bool), np.array(cached, bool))


def _distinct(keys: Numbers) -> tuple[Numbers, Numbers]:
    """The first row of each of the different keys, and the index of each row's key among these."""
    span = int(keys.max(initial=-1)) + 1
    if span > len(keys):
        _, firsts, which = np.unique(keys, return_index=True, return_inverse=True)
        return firsts, which
    first_of = np.full(span, len(keys), np.int64)
    first_of[keys[::-1]] = np.arange(len(keys))[::-1]  # the last assignment stays
    used = np.flatnonzero(first_of < len(keys))
    places = np.zeros(span, np.int64)
    places[used] = np.arange(len(used))
    return first_of[used], places[keys]


def _end_of(
    stated: Mapping[str, str], answered: bool, columns: Mapping[str, pa.Array]
) -> failures.SampleOutcome:
    """The outcome of a sample; success if the file does not contain it."""
    success = stated["success"].strip().lower() == "true" if "success" in columns else None
    if success is None and "responseCode" not in columns:
        success = True
    return failures.ended(
        stated["responseCode"].strip(),
        stated["responseMessage"],
        stated["failureMessage"],
        success,
        answered,
    )


def _word(columns: Mapping[str, pa.Array], name: str, row: int) -> str:
    return (columns[name][row].as_py() or "") if name in columns else ""


def _reasons(columns: Mapping[str, pa.Array], found: _Found, rows: int) -> Numbers:
    """Why each sample is left out; 0 if it is kept."""
    reasons = np.zeros(rows, np.int64)
    if "SampleCount" in columns:
        reasons[_numbers(columns["SampleCount"]) > 1] = _SEVERAL
    reasons[found.cached[found.which]] = _CACHED
    reasons[found.transactions[found.which]] = _TRANSACTION
    if "URL" in columns:
        addresses = columns["URL"].dictionary.to_pylist()
        nowhere = np.array([address == _NOWHERE for address in addresses], bool)
        reasons[nowhere[columns["URL"].indices.to_numpy()]] = _TRANSACTION
    return reasons


@dataclass
class _Parts:
    """Finds the parts of a sample, which JMeter writes after it as `label-0` and so on.

    A request of another user within a sample may have the name of a part; only the name of its
    thread tells them apart.

    Attributes:
        labels: Every label so far.
        last: Timestamps of the last sample that may have parts, by thread and label.
        unsure: Samples that are named as parts, and have no name of a thread.
    """

    labels: set[str] = field(default_factory=set[str])
    last: dict[tuple[str, str], tuple[int, int]] = field(
        default_factory=dict[tuple[str, str], tuple[int, int]]
    )
    unsure: int = 0

    def mark(self, columns: Mapping[str, pa.Array], times: _Times, reasons: Numbers) -> None:
        """Marks samples within an earlier one of their thread that are named as its parts."""
        if "label" not in columns:
            return
        label = columns["label"]
        names = [name or "" for name in label.dictionary.to_pylist()]
        self.labels.update(names)
        whole_of = {
            name: match.group(1) for name in names if (match := jtl_csv.PART_NAME.fullmatch(name))
        }
        wholes = {whole for whole in whole_of.values() if whole in self.labels}
        if not wholes:
            return
        concerned = np.array([_concerned(name, whole_of, wholes) for name in names], bool)
        for row in np.flatnonzero(concerned[label.indices.to_numpy()] & (reasons == 0)).tolist():
            name = names[label.indices[row].as_py()]
            thread = _word(columns, THREAD, row)
            if not thread:
                self.unsure += whole_of.get(name) in wholes
                continue
            begin, end = int(times.start[row]), int(times.end[row])
            whole = self.last.get((thread, whole_of.get(name, "")))
            if whole and whole[0] <= begin and end <= whole[1] + MS:
                reasons[row] = _PART
            self.last[thread, name] = (begin, end)
            if len(self.last) > MOST_WHOLES:
                self.last.pop(next(iter(self.last)))


def _concerned(name: str, whole_of: Mapping[str, str], wholes: set[str]) -> bool:
    """Whether a sample of this name may be a part, or have parts."""
    return name in wholes or whole_of.get(name) in wholes


def _batch(columns: Mapping[str, pa.Array], times: _Times, found: _Found) -> pa.RecordBatch:
    """Samples that are requests."""
    which, ends, count = found.which, found.ends, len(found.which)
    unfinished = np.array([end.outcome == "unfinished" for end in ends], bool)[which]
    unsent = np.array([end.outcome == "not_sent" for end in ends], bool)[which]
    read = np.array([end.status is not None for end in ends], bool)[which]
    own_text = pa.array(np.array([end.is_exception for end in ends], bool)[which])
    connecting = np.array([end.outcome in CONNECTING for end in ends], bool)[which]
    begun = (read | (times.answered & ~connecting)) & ("Latency" in columns)
    outcomes = sorted({end.outcome for end in ends})
    places = np.array([outcomes.index(end.outcome) for end in ends], np.int32)
    rows = {
        "due_ns": _known(times.start, ~unsent),
        "sent_ns": _known(times.start, unsent),
        "first_byte_ns": _known(times.first_byte, ~begun),
        "done_ns": _known(times.end, unfinished | unsent),
        "received_bytes": pc.if_else(own_text, None, _column(columns, "bytes", pa.uint32(), count)),
        "sent_bytes": _column(columns, "sentBytes", pa.uint32(), count),
        "body_bytes": pa.nulls(count, pa.uint32()),
        "kind": _column(columns, "label", WORD, count),
        "status": pa.array([end.status for end in ends], pa.uint16()).take(pa.array(which)),
        "outcome": pa.DictionaryArray.from_arrays(
            pa.array(places[which]), pa.array(outcomes, pa.string())
        ),
        "errno": pa.array([end.errno for end in ends], pa.uint8()).take(pa.array(which)),
        "connect_ns": _connects(columns, count),
        "threads": _column(columns, "allThreads", pa.int32(), count),
        "engine": columns[_ENGINE],
    }
    return pa.RecordBatch.from_arrays([rows[name] for name in ROWS.names], schema=ROWS)


def _known(times: Numbers, missing: Marks) -> Any:
    """Timestamps that are null where they are missing; without a copy where none is."""
    return pa.array(times, mask=missing if missing.any() else None)


def _connects(columns: Mapping[str, pa.Array], rows: int) -> Any:
    """Times to connect; null for 0, which may be a reused connection."""
    if "Connect" not in columns:
        return pa.nulls(rows, pa.int64())
    found = _numbers(columns["Connect"])
    return pa.array(found * MS, mask=found == 0)


def _column(columns: Mapping[str, pa.Array], name: str, kind: pa.DataType, rows: int) -> Any:
    if name not in columns:
        return pa.nulls(rows, kind)
    values = columns[name]
    if kind in _MOST:
        values = pc.min_element_wise(values, pa.scalar(_MOST[kind], values.type), skip_nulls=False)
    return values.cast(kind)


def _numbers(values: Any) -> Numbers:
    return (values.fill_null(0) if values.null_count else values).to_numpy()


def _one(values: Any) -> Any:
    """A column in one piece."""
    if values.num_chunks == 1:
        return values.chunk(0)
    return values.combine_chunks() if values.num_chunks else pa.array([], values.type)


def _remark(stated: set[str], tally: ImportStats) -> None:
    """Notes on missing columns, for readers of the results.

    Columns are stated with rows; without a row, nothing is known to be missing.
    """
    if not tally.kept:
        return
    if tally.instants_step_s:
        tally.remarks.append(COARSE)
    if not stated & {"responseCode", "success"}:
        tally.has_outcomes = False
        tally.remarks.append("it does not mark failed requests: all count as successful")
    elif "responseCode" not in stated:
        tally.remarks.append("it has no response codes, so failures cannot be classified")
    if not stated & {"responseMessage", "URL"}:
        tally.remarks.append("it has neither messages nor URLs, so transactions count as requests")
        tally.users_bound = "none" if tally.users_bound == "none" else "likely"
