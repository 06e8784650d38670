"""JMeter's results: JTL as CSV or XML, versions 2.13 to 5.6.

What JMeter says of a sample, and what becomes of it:

- `timeStamp` is its start, before it connects, or its end where `sampleresult.timestamp.start` is
  false: `sent_ns`;
- `elapsed` is end − start − idle time, `IdleTime` what within the sample does not count: `done_ns`;
- `Latency` is first byte − start − idle time, and 0 when none came: `first_byte_ns`;
- `Connect` is 0 when connecting took less than 1 ms, and when a connection was used again, so that
  0 says nothing: `connect_ns`;
- `bytes` and `sentBytes` are those of answer and request with their heads: `received_bytes`,
  `sent_bytes`. Where JMeter met an exception, `bytes` is the length of its text, and says nothing;
- `label` is the name of the request: `kind`;
- `responseCode`, `responseMessage`, `failureMessage` and `success` say how it ended: `outcome`,
  `status`, `errno`;
- `allThreads` are the active threads of this engine: `threads`.

JMeter does not say when a request was due. A sample is one request: the parts it is made of
(redirects, embedded resources) are left out, and so are transactions, which are made of samples.

Source: `SampleResult`, `CSVSaveService`, `SampleResultConverter` and `TransactionController` of
Apache JMeter 5.6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from plimsoll.intake import failures, jtl_csv, jtl_xml
from plimsoll.intake.blocks import WORD
from plimsoll.intake.jtl_xml import PARTS, TRANSACTION, TRANSACTIONS
from plimsoll.intake.recorded import CONNECTING
from plimsoll.intake.rows import ROWS

if TYPE_CHECKING:
    from plimsoll.intake.rows import Asked, Tally

    Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]
    Marks = np.ndarray[tuple[int], np.dtype[np.bool_]]

NAME = "jmeter"

FROM_CACHE = "(ex cache)"
"""The message of a sample that JMeter answered itself."""

CACHED = "samples that JMeter answered from its own cache"
SEVERAL = "rows that stand for several samples"

_MS = 1_000_000
_MOST = 2**32 - 1


def recognises(beginning: bytes) -> bool:
    """Whether a file that begins so is a JTL, with a header where it is CSV."""
    return jtl_xml.recognises(beginning) or jtl_csv.recognises(beginning)


def read(stream: BinaryIO, asked: Asked, tally: Tally) -> Iterator[pa.RecordBatch]:
    """The requests of a JTL, as batches of the schema `ROWS`, in the order of the file.

    Args:
        stream: The file, unpacked, from its beginning.
        asked: How it is to be read.
        tally: What keeps account of every row.

    Raises:
        CampaignError: It is no JTL, or a line is broken and `asked` is strict.
    """
    parts = _Parts()
    held = stream.readline(jtl_csv.HEADER_BYTES)
    if jtl_xml.recognises(held) or held.lstrip().startswith(b"<"):
        found = jtl_xml.samples(stream, held, tally, strict=asked.strict)
    else:
        found = jtl_csv.samples(stream, held, asked, tally)
    said: set[str] = set()
    for samples in found:
        said.update(samples.column_names)
        yield _requests(samples, asked, tally, parts)
    _remark(said, tally)


def _requests(samples: pa.Table, asked: Asked, tally: Tally, parts: _Parts) -> pa.RecordBatch:
    """Samples as requests; counts them, and those that are none."""
    table = samples.unify_dictionaries().combine_chunks()
    columns = {name: _one(table[name]) for name in table.column_names}
    times = _times(columns, asked)
    found = _found(columns, len(table))
    reasons = _reasons(columns, found, len(table))
    parts.mark(columns, times, reasons)
    for index, reason in enumerate((TRANSACTIONS, CACHED, SEVERAL, PARTS), 1):
        tally.leave_out(reason, int((reasons == index).sum()))
    kept = np.flatnonzero(reasons == 0)
    tally.keep(len(kept))
    return _batch(columns, times, found, kept)


_TRANSACTION, _CACHED, _SEVERAL, _PART = 1, 2, 3, 4

_NOWHERE = "null"
"""The address of what is sent nowhere."""


@dataclass(frozen=True)
class _Times:
    """Instants of samples, in nanoseconds since 1970.

    Attributes:
        start: Its beginning.
        end: Its end, idle time included.
        first_byte: Its first byte, as JMeter has it: the start when it says 0.
        answered: Whether it says more than 0.
    """

    start: Numbers
    end: Numbers
    first_byte: Numbers
    answered: Marks


def _times(columns: Mapping[str, Any], asked: Asked) -> _Times:
    stamp, elapsed = _numbers(columns["timeStamp"]), _numbers(columns["elapsed"])
    nothing = np.zeros(len(stamp), np.int64)
    idle = _numbers(columns["IdleTime"]) if "IdleTime" in columns else nothing
    latency = _numbers(columns["Latency"]) if "Latency" in columns else nothing
    start = stamp - elapsed - idle if asked.timestamp_is_end else stamp
    return _Times(start * _MS, (start + elapsed + idle) * _MS, (start + latency) * _MS, latency > 0)


@dataclass(frozen=True)
class _Found:
    """How samples ended.

    Attributes:
        which: Index of each sample's end.
        ends: The ends.
        transactions: Whether what ended so is a transaction.
        cached: Whether it was answered by JMeter itself.
    """

    which: Numbers
    ends: list[failures.Ended]
    transactions: Marks
    cached: Marks


def _found(columns: Mapping[str, Any], rows: int) -> _Found:
    """How the samples ended: each combination of words is looked at once."""
    names = ("responseCode", "responseMessage", "failureMessage", "success")
    words = {name: columns[name].dictionary.to_pylist() for name in names if name in columns}
    keys = np.zeros(rows, np.int64)
    for name, values in words.items():
        keys = keys * (len(values) + 1) + columns[name].indices.fill_null(0).to_numpy()
    if "Latency" in columns:
        keys = keys * 2 + (_numbers(columns["Latency"]) > 0)
    _, firsts, which = np.unique(keys, return_index=True, return_inverse=True)
    ends: list[failures.Ended] = []
    messages: list[str] = []
    for first in firsts.tolist():
        said = {name: _word(columns, name, first) for name in names}
        answered = "Latency" in columns and bool(columns["Latency"][first].as_py())
        ends.append(_end_of(said, answered, columns))
        messages.append(said["responseMessage"])
    transactions = [message.startswith(TRANSACTION) for message in messages]
    cached = [message == FROM_CACHE for message in messages]
    return _Found(which, ends, np.array(transactions, bool), np.array(cached, bool))


def _end_of(said: Mapping[str, str], answered: bool, columns: Mapping[str, Any]) -> failures.Ended:
    """How a sample ended; rightly, where the file does not say."""
    success = said["success"].strip().lower() == "true" if "success" in columns else None
    if success is None and "responseCode" not in columns:
        success = True
    return failures.ended(
        said["responseCode"].strip(),
        said["responseMessage"],
        said["failureMessage"],
        success,
        answered,
    )


def _word(columns: Mapping[str, Any], name: str, row: int) -> str:
    return (columns[name][row].as_py() or "") if name in columns else ""


def _reasons(columns: Mapping[str, Any], found: _Found, rows: int) -> Numbers:
    """Why each sample is left out; 0 when it is not."""
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
    """Knows the parts of a sample, which JMeter writes behind it as `label-0` and so on.

    Attributes:
        labels: Every label so far.
        last: Instants of the last sample that may have parts, by thread and label.
    """

    labels: set[str] = field(default_factory=set[str])
    last: dict[tuple[str, str], tuple[int, int]] = field(
        default_factory=dict[tuple[str, str], tuple[int, int]]
    )

    def mark(self, columns: Mapping[str, Any], times: _Times, reasons: Numbers) -> None:
        """Marks those samples that lie within an earlier one of their thread, and are named so."""
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
            thread = _word(columns, "threadName", row)
            begin, end = int(times.start[row]), int(times.end[row])
            whole = self.last.get((thread, whole_of.get(name, "")))
            if whole and whole[0] <= begin and end <= whole[1] + _MS:
                reasons[row] = _PART
            self.last[thread, name] = (begin, end)


def _concerned(name: str, whole_of: Mapping[str, str], wholes: set[str]) -> bool:
    """Whether a sample of this name may be a part, or have parts."""
    return name in wholes or whole_of.get(name) in wholes


def _batch(
    columns: Mapping[str, Any], times: _Times, found: _Found, kept: Numbers
) -> pa.RecordBatch:
    """The samples that are requests."""
    which = found.which[kept]
    ends = found.ends
    unfinished = np.array([end.outcome == "unfinished" for end in ends], bool)[which]
    unsent = np.array([end.outcome == "not_sent" for end in ends], bool)[which]
    read = np.array([end.status is not None for end in ends], bool)[which]
    own_text = pa.array(np.array([end.is_exception for end in ends], bool)[which])
    connecting = np.array([end.outcome in CONNECTING for end in ends], bool)[which]
    begun = (read | (times.answered[kept] & ~connecting)) & ("Latency" in columns)
    outcomes = sorted({end.outcome for end in ends})
    places = np.array([outcomes.index(end.outcome) for end in ends], np.int32)
    rows = {
        "due_ns": pa.array(times.start[kept], mask=~unsent),
        "sent_ns": pa.array(times.start[kept], mask=unsent),
        "first_byte_ns": pa.array(times.first_byte[kept], mask=~begun),
        "done_ns": pa.array(times.end[kept], mask=unfinished | unsent),
        "received_bytes": pc.if_else(own_text, None, _taken(columns, "bytes", pa.uint32(), kept)),
        "sent_bytes": _taken(columns, "sentBytes", pa.uint32(), kept),
        "kind": _taken(columns, "label", WORD, kept),
        "status": pa.array([end.status for end in ends], pa.uint16()).take(pa.array(which)),
        "outcome": pa.DictionaryArray.from_arrays(
            pa.array(places[which]), pa.array(outcomes, pa.string())
        ),
        "errno": pa.array([end.errno for end in ends], pa.uint8()).take(pa.array(which)),
        "connect_ns": _connects(columns, kept),
        "threads": _taken(columns, "allThreads", pa.int32(), kept),
    }
    return pa.RecordBatch.from_arrays([rows[name] for name in ROWS.names], schema=ROWS)


def _connects(columns: Mapping[str, Any], kept: Numbers) -> Any:
    """Times to connect; null for 0, which may be a connection that was used again."""
    if "Connect" not in columns:
        return pa.nulls(len(kept), pa.int64())
    found = _numbers(columns["Connect"])[kept]
    return pa.array(found * _MS, mask=found == 0)


def _taken(columns: Mapping[str, Any], name: str, kind: pa.DataType, kept: Numbers) -> Any:
    if name not in columns:
        return pa.nulls(len(kept), kind)
    values = columns[name].take(pa.array(kept))
    if kind == pa.uint32():
        values = pc.if_else(pc.greater(values, _MOST), _MOST, values)
    return values.cast(kind)


def _numbers(values: Any) -> Numbers:
    return values.fill_null(0).to_numpy()


def _one(values: Any) -> Any:
    """A column in one piece."""
    if values.num_chunks == 1:
        return values.chunk(0)
    return values.combine_chunks() if values.num_chunks else pa.array([], values.type)


def _remark(said: set[str], tally: Tally) -> None:
    """What a reader of the results must know of columns that are not there."""
    if not said & {"responseCode", "success"}:
        tally.outcomes_said = False
        tally.remarks.append("it does not say which requests failed: all count as right")
    elif tally.kept and "responseCode" not in said:
        tally.remarks.append("it has no response codes, so kinds of failure cannot be told apart")
    if tally.kept and not said & {"responseMessage", "URL"}:
        tally.remarks.append(
            "it has neither messages nor addresses, so transactions, if any, count as requests"
        )
