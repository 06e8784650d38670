"""ab, the Apache HTTP server benchmarking tool: its `-g` file, one line per request.

What its columns mean, by its source (`support/ab.c` of httpd, `output_results`):

- `seconds` is the start of the request in whole seconds since 1970, and `starttime` the same in
  words, so timestamps may be up to 1 s too early.
- `ttime` runs from the start, with connecting, to the end of the response; `ctime` is the time to
  connect in it, 0 for a reused connection and for less than half a millisecond; `wait` runs from
  the end of sending to the first byte. All are whole milliseconds.
- Lines are in order of `ttime`. Failed requests have lines like all others; neither their failure
  nor any status is in the file.

The `-e` file contains 101 percentiles and no requests; it is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from plimsoll.errors import InputError, Problem
from plimsoll.intake import columns
from plimsoll.intake.blocks import Layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from plimsoll.intake.rows import ImportStats, ReadOptions

NAME = "ab"

REMARKS = (
    "ab logs the start of a request in whole seconds, so timestamps and the length of the load are "
    "up to 1 s off, and rates over a few seconds mean nothing; latencies are whole milliseconds",
    "ab does not log which requests failed, so all count as successful; `Failed requests` and "
    "`Non-2xx responses` in its output count those that did not succeed",
)

_GNUPLOT, _PERCENTILES = "starttime\tseconds\t", "Percentage served,"
_MS, _S = 1_000_000, 1_000_000_000
_COLUMNS = (
    columns.instants("seconds", _S),
    columns.lengths("ctime", _MS),
    columns.lengths("ttime", _MS),
    columns.lengths("wait", _MS),
)


def recognises(beginning: bytes) -> bool:
    """Whether a file is one of ab's: `-g`, or `-e`, which `read` refuses."""
    return beginning.startswith(_GNUPLOT.encode()) or has_percentiles(beginning)


def has_percentiles(beginning: bytes) -> bool:
    """Whether a file is ab's `-e`, which has no requests."""
    return beginning.startswith(_PERCENTILES.encode())


def read(stream: BinaryIO, options: ReadOptions, tally: ImportStats) -> Iterator[pa.RecordBatch]:
    """The requests of a `-g` file.

    Raises:
        InputError: It is a `-e` file or not a file of ab, or a line is broken and `options` is
            strict.
    """
    names = columns.fields(columns.first_line(stream, tally), "\t")
    _refuse_percentiles(names, tally)
    columns.require(_COLUMNS, names, tally)
    tally.remarks.extend(REMARKS)
    tally.has_outcomes = False
    tally.instants_step_s = 1.0
    tally.durations_step_s = 0.001
    layout = Layout(tuple(names), "\t", _COLUMNS)
    for found in columns.rows(stream, layout, options, tally):
        tally.keep(len(found["seconds"]))
        yield columns.batch(_requests(found))


def _refuse_percentiles(names: list[str], tally: ImportStats) -> None:
    if names and names[0].startswith(_PERCENTILES):
        message = "is ab's `-e` file, which has 101 percentiles and no requests"
        hint = "run `ab -g FILE` to log every request, or check ab's output with `plimsoll audit`"
        raise InputError([Problem(tally.file, message, hint)])


def _requests(found: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    sent, connect, total = found["seconds"], found["ctime"], found["ttime"]
    first_byte = pc.min_element_wise(pc.add(connect, found["wait"]), total)
    return {
        "sent_ns": sent,
        "first_byte_ns": pc.add(sent, first_byte),
        "done_ns": pc.add(sent, total),
        "outcome": pa.repeat("ok", len(sent)),
        "connect_ns": pc.if_else(pc.equal(connect, 0), None, connect),
    }
