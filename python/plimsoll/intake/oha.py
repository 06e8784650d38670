"""oha: its CSV (`--output-format csv`), one line per request with a response.

What its columns mean, by its source (`src/printer.rs` and `src/client.rs`):

- `request-start` is in seconds since oha began, before connecting; the file has no wall clock.
- `DNS+dialup` is the time to connect including name resolution, and 0 for a reused connection;
  `DNS` is the first part of it.
- `Response-delay` runs from the start to the first part of the *body*, and is 0 without a body.
  `request-duration` runs from the start to the end of the response; with `--latency-correction`
  from the intended start, which is not in the file.
- `bytes` is the length of the body without the head, so received bytes are unknown.
- Requests without a response have no line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import pyarrow.compute as pc

from plimsoll.intake import columns, limits
from plimsoll.intake.blocks import WHOLE, Layout, WantedColumn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from plimsoll.intake.rows import ImportStats, ReadOptions

NAME = "oha"

REMARKS = (
    "oha logs only requests with a response; `errorDistribution` in its JSON counts failures",
    "oha does not log whether it ran with `--latency-correction`; if it did, times start at the "
    "intended start, and ends are later than they were",
)

_S = 1_000_000_000
_COLUMNS = (
    columns.decimals("request-start", _S, limits.RUN_NS),
    columns.decimals("DNS+dialup", _S),
    columns.decimals("Response-delay", _S),
    columns.decimals("request-duration", _S),
    columns.statuses("status"),
    WantedColumn("bytes", WHOLE),
)


def recognises(beginning: bytes) -> bool:
    """Whether a file begins with the names of oha's columns."""
    return beginning.startswith(b"request-start,DNS,DNS+dialup,")


def read(stream: BinaryIO, options: ReadOptions, tally: ImportStats) -> Iterator[pa.RecordBatch]:
    """The requests of a CSV file.

    Raises:
        InputError: It is not a file of oha, or a line is broken and `options` is strict.
    """
    names = columns.fields(columns.first_line(stream, tally), ",")
    columns.require(_COLUMNS, names, tally)
    tally.remarks.extend(REMARKS)
    tally.has_failures = False
    layout = Layout(tuple(names), ",", _COLUMNS)
    for found in columns.rows(stream, layout, options, tally):
        tally.keep(len(found["status"]))
        yield columns.batch(_requests(found))


def _requests(found: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    sent, delay = found["request-start"], found["Response-delay"]
    return {
        "sent_ns": sent,
        "first_byte_ns": pc.add(sent, pc.if_else(pc.equal(delay, 0), None, delay)),
        "done_ns": pc.add(sent, found["request-duration"]),
        "status": found["status"],
        "body_bytes": columns.sizes(found["bytes"]),
        "outcome": columns.by_status(found["status"]),
        "connect_ns": found["DNS+dialup"],
    }
