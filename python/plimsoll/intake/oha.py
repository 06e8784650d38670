"""oha: its CSV (`--output-format csv`), one line a request that was answered.

What its columns mean, by its source (`src/printer.rs` and `src/client.rs`):

- `request-start` is in seconds since oha began, before connecting; the file has no wall clock.
- `DNS+dialup` is the time to connect, with finding the address, and 0 where a connection was used
  again; `DNS` is the first part of it.
- `Response-delay` runs from the start to the first part of the *body*, and is 0 where there is no
  body. `request-duration` runs from the start to the end of the answer; with `--latency-correction`
  from the instant at which the request was due, which the file does not say.
- `bytes` is the length of the body without the head, so it is not what was received.
- Requests without an answer have no line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import pyarrow.compute as pc

from plimsoll.intake import columns
from plimsoll.intake.blocks import Layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from plimsoll.intake.rows import Asked, Tally

NAME = "oha"

REMARKS = (
    "oha writes only requests that were answered: `errorDistribution` in its JSON says how many "
    "failed",
    "oha does not write whether it ran with `--latency-correction`: if it did, times run from when "
    "a request was due, and ends are later than they were",
)

_S = 1_000_000_000
_COLUMNS = (
    columns.decimals("request-start", _S),
    columns.decimals("DNS+dialup", _S),
    columns.decimals("Response-delay", _S),
    columns.decimals("request-duration", _S),
    columns.statuses("status"),
)


def recognises(beginning: bytes) -> bool:
    """Whether a file begins with the names of oha's columns."""
    return beginning.startswith(b"request-start,DNS,DNS+dialup,")


def read(stream: BinaryIO, asked: Asked, tally: Tally) -> Iterator[pa.RecordBatch]:
    """The requests of a CSV file.

    Raises:
        CampaignError: It is none of oha's, or a line is broken and `asked` is strict.
    """
    names = columns.fields(columns.first_line(stream, tally), ",")
    columns.require(_COLUMNS, names, tally)
    tally.remarks.extend(REMARKS)
    tally.failures_said = False
    layout = Layout(tuple(names), ",", _COLUMNS)
    for found in columns.rows(stream, layout, asked, tally):
        tally.keep(len(found["status"]))
        yield columns.batch(_requests(found))


def _requests(found: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    sent, delay = found["request-start"], found["Response-delay"]
    return {
        "sent_ns": sent,
        "first_byte_ns": pc.add(sent, pc.if_else(pc.equal(delay, 0), None, delay)),
        "done_ns": pc.add(sent, found["request-duration"]),
        "status": found["status"],
        "outcome": columns.by_status(found["status"]),
        "connect_ns": found["DNS+dialup"],
    }
