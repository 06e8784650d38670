"""JTL: the CSV of samples that JMeter writes, and that its report generator reads.

One line is one request that ended, or that was due and never sent. Instants and times are whole
milliseconds, both ends of a request rounded down alike, so that a request ends in the same
millisecond here as in the recording. What JMeter has no word for is said in its own column for
assertions: `failureMessage` begins with our name of the outcome.

Source:
    Apache JMeter 5.6, *Listeners*, CSV log format, and its spelling of errors:
    `Non HTTP response code: ` and the class of the exception.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from http import HTTPStatus
from importlib import resources
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pyarrow as pa

from plimsoll.aggregate import query
from plimsoll.aggregate.outcomes import COMPLETED, OUTCOMES, RIGHT
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.aggregate.seconds import stretches
from plimsoll.export import clock
from plimsoll.export.threads import threads

if TYPE_CHECKING:
    import duckdb

    from plimsoll.aggregate.trial import Tables
    from plimsoll.aggregate.usage import Window
    from plimsoll.recording import Recording

NAME = "jtl"
FILES = ("requests.jtl",)
OF_ROWS = True

COLUMNS = (
    "timeStamp",
    "elapsed",
    "label",
    "responseCode",
    "responseMessage",
    "threadName",
    "dataType",
    "success",
    "failureMessage",
    "bytes",
    "sentBytes",
    "grpThreads",
    "allThreads",
    "URL",
    "Latency",
    "IdleTime",
    "Connect",
)
"""Columns in the order of JMeter."""

MEMORY = "600MB"
"""The most memory in which samples are put in order; what does not fit goes to a folder."""

COPIED_BYTES = 1 << 20
"""Bytes copied at a time."""


@dataclass(frozen=True)
class Spelling:
    """A failure as JMeter's HTTP client says it.

    Attributes:
        exception: Class of its exception.
        message: What the exception says.
    """

    exception: str
    message: str


_RESET = "Connection reset"

SPELLINGS = {
    "connect_refused": Spelling(
        "org.apache.http.conn.HttpHostConnectException", "Connection refused"
    ),
    "connect_timeout": Spelling(
        "org.apache.http.conn.ConnectTimeoutException", "connect timed out"
    ),
    "connect_unreachable": Spelling("java.net.NoRouteToHostException", "No route to host"),
    "connect_reset": Spelling("java.net.ConnectException", _RESET),
    "no_port": Spelling("java.net.BindException", "Cannot assign requested address"),
    "too_many_files": Spelling("java.net.SocketException", "Too many open files"),
    "connect_failed": Spelling("java.net.ConnectException", "connecting failed"),
    "reset_sending": Spelling("java.net.SocketException", "Broken pipe"),
    "reset_waiting": Spelling("java.net.SocketException", _RESET),
    "reset_receiving": Spelling("java.net.SocketException", _RESET),
    "closed_waiting": Spelling("org.apache.http.NoHttpResponseException", "failed to respond"),
    "closed_early": Spelling(
        "org.apache.http.ConnectionClosedException",
        "Premature end of Content-Length delimited message body",
    ),
    "lost_behind": Spelling("java.net.SocketException", "Connection is not open"),
    "timed_out_sending": Spelling("java.net.SocketTimeoutException", "Write timed out"),
    "timed_out_waiting": Spelling("java.net.SocketTimeoutException", "Read timed out"),
    "timed_out_receiving": Spelling("java.net.SocketTimeoutException", "Read timed out"),
    "malformed_head": Spelling(
        "org.apache.http.client.ClientProtocolException", "not a valid HTTP response"
    ),
    "malformed_chunk": Spelling(
        "org.apache.http.MalformedChunkCodingException", "Bad chunk header"
    ),
    "head_too_large": Spelling(
        "org.apache.http.MessageConstraintException", "Maximum line length limit exceeded"
    ),
    "unsolicited": Spelling(
        "org.apache.http.client.ClientProtocolException", "bytes that nobody asked for"
    ),
    "io_failed": Spelling("java.io.IOException", "reading or writing failed"),
    "not_sent": Spelling("plimsoll.NotSent", "due and never sent"),
}
"""Every failure without a complete answer; the last is our own, for JMeter knows no schedule."""

_NOT_HTTP = "Non HTTP response"


def write(of_trial: Tables, into: Path) -> tuple[str, ...]:
    """Writes the samples in the order in which they ended.

    Args:
        of_trial: The tables of the trial.
        into: Folder of the file.

    Returns:
        Sentences on what could not be said.

    Raises:
        OSError: It could not be written.
        duckdb.Error: The disk is full, or the like.
    """
    with query.opened(requests=of_trial.requests) as database:
        _prepare(database, of_trial)
        with (into / FILES[0]).open("wb") as file:
            file.write(",".join(COLUMNS).encode() + b"\n")
            for first, last in stretches(_ended(of_trial)):
                _append(database, (first, last + 1), file)
        return _unsaid(database)


def _prepare(database: duckdb.DuckDBPyConnection, of_trial: Tables) -> None:
    """Makes known all that stands beside the rows of requests."""
    database.execute(f"SET memory_limit = '{MEMORY}'")
    recording = of_trial.recording
    database.register("kinds", _kinds(recording))
    database.register("endings", _endings())
    database.register("phrases", _phrases())
    database.register("levels", _levels(of_trial))
    database.execute(f"SET VARIABLE zero_ms = {clock.zero_utc_ms(recording)}")


def _ended(of_trial: Tables) -> list[tuple[int, int]]:
    """Each second with the requests that ended in it."""
    rows = of_trial.counted_seconds.select(["second", "completed", "failed"]).to_pylist()
    return [(row["second"], (row["completed"] or 0) + (row["failed"] or 0)) for row in rows]


def _append(database: duckdb.DuckDBPyConnection, seconds: Window, file: IO[bytes]) -> None:
    """Writes the samples of some seconds: DuckDB writes CSV fast, but only whole files."""
    sql = resources.files("plimsoll.export").joinpath("jtl.sql").read_text("utf-8")
    for name, second in zip(("from_ns", "until_ns"), seconds, strict=True):
        database.execute(f"SET VARIABLE {name} = {second * SECOND_NS}")
    part = Path(file.name).with_suffix(".part")
    database.sql(sql).write_csv(str(part), header=False)
    with part.open("rb") as samples:
        shutil.copyfileobj(samples, file, COPIED_BYTES)
    part.unlink()


def _kinds(recording: Recording) -> pa.Table:
    """Name and length of each kind of request."""
    names = recording.requests
    lengths = recording.request_bytes or (None,) * len(names)
    return pa.table(
        {
            "request": pa.array(range(len(names)), pa.uint16()),
            "label": pa.array(names, pa.string()),
            "request_bytes": pa.array(lengths, pa.int64()),
        }
    )


def _levels(of_trial: Tables) -> pa.Table:
    """Threads at work in each second."""
    known = threads(of_trial)
    return pa.table(
        {"second": range(len(known)), "threads": pa.array(known, pa.float64())},
        schema=pa.schema([("second", pa.int64()), ("threads", pa.float64())]),
    )


def _endings() -> pa.Table:
    """What stands in the columns of a request by its outcome."""
    rows = [
        {
            "outcome": outcome.name,
            "success": outcome.name in RIGHT,
            "failure": None if outcome.name in RIGHT else f"{outcome.name}: {outcome.words}",
            **_spelled(outcome.name),
        }
        for outcome in OUTCOMES
        if outcome.name in COMPLETED or outcome.name in SPELLINGS
    ]
    return pa.Table.from_pylist(rows)


def _spelled(outcome: str) -> dict[str, str | None]:
    """Code and message of a failure; null for complete answers, which have a status."""
    spelling = SPELLINGS.get(outcome)
    if spelling is None:
        return {"code": None, "message": None}
    return {
        "code": f"{_NOT_HTTP} code: {spelling.exception}",
        "message": f"{_NOT_HTTP} message: {spelling.message}",
    }


def _phrases() -> pa.Table:
    """The words that go with a status code."""
    codes = [*HTTPStatus]
    return pa.table(
        {
            "status": pa.array([int(code) for code in codes], pa.uint16()),
            "phrase": [code.phrase for code in codes],
        }
    )


def _unsaid(database: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    counts = database.execute(
        "SELECT count(*) FILTER (outcome = 'not_sent'), count(*) FILTER (outcome = 'unfinished'),"
        " count(*) FILTER (outcome <> 'not_sent' AND received_bytes IS NULL) FROM requests"
    ).fetchone()
    unsent, unfinished, unweighed = counts or (0, 0, 0)
    found = {
        f"{_requests(unsent)} due and never sent: failures that took 0 ms; JMeter counts failures"
        " in its percentiles": unsent,
        f"{_requests(unfinished)} still in flight at the end: left out": unfinished,
        f"{_requests(unweighed)} of whose answer nobody knows the length: 0 `bytes`": unweighed,
    }
    return tuple(sentence for sentence, count in found.items() if count)


def _requests(count: int) -> str:
    return f"{count:,} request" if count == 1 else f"{count:,} requests"
