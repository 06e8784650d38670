"""h2load: its `--log-file`, one line per request, without names of columns.

What its columns mean, by its manual and source (`src/h2load.cc` of nghttp2, `on_stream_close`):

- The start in microseconds since 1970, when the request was handed to its connection; the status
  code, or -1 if the stream failed; microseconds from the start to the end of the response. Further
  columns may be added.
- A request is logged when it ends. One whose connection was lost is not logged: h2load counts it as
  errored, and does not reconnect.
- With `--duration`, requests that end in the warm-up are not logged.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO

import pyarrow.compute as pc

from plimsoll.intake import columns
from plimsoll.intake.blocks import Layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from plimsoll.intake.rows import ImportStats, ReadOptions

NAME = "h2load"

REMARKS = (
    "h2load logs no line for a request whose connection was lost; its summary counts these as "
    "`errored`",
)

_US = 1_000
_LINE = re.compile(rb"\d{15,17}\t(?:-1|\d{3})\t\d+((?:\t[^\t\r\n]*)*)\r?(?:\n|$)")
_COLUMNS = (
    columns.instants("start", _US),
    columns.statuses("status", "-1"),
    columns.lengths("duration", _US),
)


def recognises(beginning: bytes) -> bool:
    """Whether a file begins with a line of h2load."""
    return _LINE.match(beginning) is not None


def read(stream: BinaryIO, options: ReadOptions, tally: ImportStats) -> Iterator[pa.RecordBatch]:
    """The requests of a log file.

    Raises:
        InputError: A line is broken and `options` is strict.
    """
    tally.remarks.extend(REMARKS)
    tally.has_failures = False
    tally.durations_step_s = 1e-6
    held = columns.first_line(stream, tally)
    further = [f"column {n}" for n in range(len(_COLUMNS) + 1, held.count(b"\t") + 2)]
    layout = Layout((*(one.name for one in _COLUMNS), *further), "\t", _COLUMNS)
    for found in columns.rows(stream, layout, options, tally, held=held):
        tally.keep(len(found["start"]))
        yield columns.batch(_requests(found))


def _requests(found: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    return {
        "sent_ns": found["start"],
        "done_ns": pc.add(found["start"], found["duration"]),
        "status": found["status"],
        "outcome": pc.fill_null(columns.by_status(found["status"]), "io_failed"),
    }
