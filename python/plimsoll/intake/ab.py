"""ab, the Apache HTTP server benchmarking tool: its `-g` file, one line a request.

What its columns mean, by its source (`support/ab.c` of httpd, `output_results`):

- `seconds` is the start of the request in whole seconds since 1970, and `starttime` the same in
  words. Nothing in the file tells more, so instants may be up to 1 s too early.
- `ttime` runs from the start, with connecting, to the end of the answer; `ctime` is the connecting
  in it, 0 where a connection was used again and where it took less than half a millisecond; `wait`
  runs from having sent to the first byte. All are whole milliseconds.
- Lines are in order of `ttime`. Requests that failed have lines like all others, and neither their
  failure nor any status is in the file.

The `-e` file holds 101 percentiles and no request; it is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from plimsoll.errors import CampaignError, Problem
from plimsoll.intake import columns
from plimsoll.intake.blocks import Layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from plimsoll.intake.rows import Asked, Tally

NAME = "ab"

REMARKS = (
    "ab writes the start of a request in whole seconds, so instants and the length of the whole "
    "are up to 1 s off, and rates over a few seconds mean nothing; lengths are whole milliseconds",
    "ab does not write which requests failed: all count as right here, and `Failed requests` and "
    "`Non-2xx responses` in what it printed say how many were not",
)

_GNUPLOT, _PERCENTILES = "starttime\tseconds\t", "Percentage served,"
_MS, _S = 1_000_000, 1_000_000_000
_COLUMNS = (
    columns.times("seconds", _S),
    columns.times("ctime", _MS),
    columns.times("ttime", _MS),
    columns.times("wait", _MS),
)


def recognises(beginning: bytes) -> bool:
    """Whether a file is one of ab's: `-g`, or `-e`, which `read` refuses."""
    return beginning.startswith((_GNUPLOT.encode(), _PERCENTILES.encode()))


def read(stream: BinaryIO, asked: Asked, tally: Tally) -> Iterator[pa.RecordBatch]:
    """The requests of a `-g` file.

    Raises:
        CampaignError: It is a `-e` file or none of ab's, or a line is broken and `asked` is strict.
    """
    names = columns.fields(columns.first_line(stream, tally), "\t")
    _refuse_percentiles(names, tally)
    columns.require(_COLUMNS, names, tally)
    tally.remarks.extend(REMARKS)
    tally.outcomes_said = False
    tally.instants_step_s = 1.0
    layout = Layout(tuple(names), "\t", _COLUMNS)
    for found in columns.rows(stream, layout, asked, tally):
        tally.keep(len(found["seconds"]))
        yield columns.batch(_requests(found))


def _refuse_percentiles(names: list[str], tally: Tally) -> None:
    if names and names[0].startswith(_PERCENTILES):
        message = "is ab's `-e` file: 101 percentiles, and no line for a request"
        hint = "run `ab -g FILE` to keep every request, or give what ab printed to `plimsoll audit`"
        raise CampaignError([Problem(tally.file, message, hint)])


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
