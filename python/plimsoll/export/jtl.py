"""JTL: JMeter's CSV of samples, which its report generator reads.

One line is one request that ended, or that was due and never sent. Timestamps and times are whole
milliseconds. Both ends of a request are rounded down, so that it ends in the same millisecond as in
the recording. `failureMessage`, JMeter's column for assertions, begins with Plimsoll's outcome.

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

import duckdb
import pyarrow as pa

from plimsoll import wording
from plimsoll.aggregate import query
from plimsoll.aggregate.database import is_of_writing
from plimsoll.aggregate.outcomes import COMPLETED, OUTCOMES, RIGHT
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.aggregate.seconds import stretches
from plimsoll.export import clock
from plimsoll.export.threads import threads

if TYPE_CHECKING:
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
"""The most memory for sorting samples; the rest goes to a temporary folder."""

COPIED_BYTES = 1 << 20
"""Bytes copied at a time."""


@dataclass(frozen=True)
class JtlFailure:
    """A failure in the words of JMeter's HTTP client.

    Attributes:
        exception: Class of its exception.
        message: Message of the exception.
    """

    exception: str
    message: str


_RESET = "Connection reset"
_HANDSHAKE = "javax.net.ssl.SSLHandshakeException"
_UPGRADE = "eu.luminis.websocket.HttpUpgradeException"

SPELLINGS = {
    "connect_refused": JtlFailure(
        "org.apache.http.conn.HttpHostConnectException", "Connection refused"
    ),
    "connect_timeout": JtlFailure(
        "org.apache.http.conn.ConnectTimeoutException", "connect timed out"
    ),
    "connect_unreachable": JtlFailure("java.net.NoRouteToHostException", "No route to host"),
    "connect_reset": JtlFailure("java.net.ConnectException", _RESET),
    "no_port": JtlFailure("java.net.BindException", "Cannot assign requested address"),
    "too_many_files": JtlFailure("java.net.SocketException", "Too many open files"),
    "connect_failed": JtlFailure("java.net.ConnectException", "connecting failed"),
    "reset_sending": JtlFailure("java.net.SocketException", "Broken pipe"),
    "reset_waiting": JtlFailure("java.net.SocketException", _RESET),
    "reset_receiving": JtlFailure("java.net.SocketException", _RESET),
    "closed_waiting": JtlFailure("org.apache.http.NoHttpResponseException", "failed to respond"),
    "closed_early": JtlFailure(
        "org.apache.http.ConnectionClosedException",
        "Premature end of Content-Length delimited message body",
    ),
    "lost_behind": JtlFailure("java.net.SocketException", "Connection is not open"),
    "stream_reset": JtlFailure("org.apache.hc.core5.http2.H2StreamResetException", "Stream reset"),
    "stream_refused": JtlFailure(
        "org.apache.hc.core5.http2.H2StreamResetException", "Stream refused"
    ),
    "gone_away": JtlFailure(
        "org.apache.hc.core5.http.RequestNotExecutedException", "Connection is closed"
    ),
    "timed_out_sending": JtlFailure("java.net.SocketTimeoutException", "Write timed out"),
    "timed_out_waiting": JtlFailure("java.net.SocketTimeoutException", "Read timed out"),
    "timed_out_receiving": JtlFailure("java.net.SocketTimeoutException", "Read timed out"),
    "malformed_head": JtlFailure(
        "org.apache.http.client.ClientProtocolException", "not a valid HTTP response"
    ),
    "malformed_chunk": JtlFailure(
        "org.apache.http.MalformedChunkCodingException", "Bad chunk header"
    ),
    "head_too_large": JtlFailure(
        "org.apache.http.MessageConstraintException", "Maximum line length limit exceeded"
    ),
    "http2_error": JtlFailure("org.apache.hc.core5.http2.H2ConnectionException", "Protocol error"),
    "not_http2": JtlFailure(
        "org.apache.hc.core5.http2.H2ConnectionException", "Unexpected preface"
    ),
    "websocket_error": JtlFailure("eu.luminis.websocket.WebSocketException", "Protocol error"),
    "close_received": JtlFailure("eu.luminis.websocket.UnexpectedFrameException", "Close frame"),
    "upgrade_refused": JtlFailure(_UPGRADE, "upgrade refused"),
    "upgrade_invalid": JtlFailure(_UPGRADE, "invalid response to the upgrade"),
    "upgrade_closed": JtlFailure("eu.luminis.websocket.EndOfStreamException", "end of stream"),
    "upgrade_timeout": JtlFailure("java.net.SocketTimeoutException", "Read timed out"),
    "unsolicited": JtlFailure(
        "org.apache.http.client.ClientProtocolException", "unsolicited bytes"
    ),
    "tls_unknown_authority": JtlFailure(
        _HANDSHAKE, "unable to find valid certification path to requested target"
    ),
    "tls_wrong_name": JtlFailure(
        "javax.net.ssl.SSLPeerUnverifiedException", "Certificate doesn't match the host name"
    ),
    "tls_expired": JtlFailure(_HANDSHAKE, "validity check failed"),
    "tls_bad_certificate": JtlFailure(_HANDSHAKE, "bad certificate"),
    "tls_nothing_in_common": JtlFailure(_HANDSHAKE, "handshake_failure"),
    "tls_alert": JtlFailure(_HANDSHAKE, "received fatal alert"),
    "tls_closed": JtlFailure(_HANDSHAKE, "Remote host terminated the handshake"),
    "tls_timeout": JtlFailure("java.net.SocketTimeoutException", "Read timed out"),
    "tls_not_spoken": JtlFailure(
        "javax.net.ssl.SSLException", "Unsupported or unrecognized SSL message"
    ),
    "tls_broken": JtlFailure("javax.net.ssl.SSLProtocolException", "unexpected message"),
    "tls_failed": JtlFailure("javax.net.ssl.SSLException", "TLS failed after the handshake"),
    "io_failed": JtlFailure("java.io.IOException", "reading or writing failed"),
    "not_sent": JtlFailure("plimsoll.NotSent", "due and never sent"),
}
"""Every failure without a complete response; JMeter has no equivalent of the last."""

_NOT_HTTP = "Non HTTP response"


def write(of_trial: Tables, into: Path) -> tuple[str, ...]:
    """Writes the samples in the order in which they ended.

    Args:
        of_trial: The tables of the trial.
        into: Folder of the file.

    Returns:
        Sentences on what the format cannot represent.

    Raises:
        OSError: It could not be written.
    """
    with query.opened(requests=of_trial.requests) as database:
        _prepare(database, of_trial)
        with (into / FILES[0]).open("wb") as file:
            file.write(",".join(COLUMNS).encode() + b"\n")
            for first, last in stretches(_ended(of_trial)):
                _append(database, (first, last + 1), file)
        return _missing(database)


def _prepare(database: duckdb.DuckDBPyConnection, of_trial: Tables) -> None:
    """Registers the tables that are joined with the rows of requests."""
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
    """Appends the samples of some seconds; DuckDB writes CSV fast, but only whole files."""
    sql = resources.files("plimsoll.export").joinpath("jtl.sql").read_text("utf-8")
    for name, second in zip(("from_ns", "until_ns"), seconds, strict=True):
        database.execute(f"SET VARIABLE {name} = {second * SECOND_NS}")
    part = Path(file.name).with_suffix(".part")
    try:
        database.sql(sql).write_csv(str(part), header=False)
    except duckdb.IOException as error:
        if not is_of_writing(error):
            raise
        raise OSError(str(error)) from error
    with part.open("rb") as samples:
        shutil.copyfileobj(samples, file, COPIED_BYTES)
    part.unlink()


def _kinds(recording: Recording) -> pa.Table:
    """Name and length of each request."""
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
    """Active threads in each second."""
    known = threads(of_trial)
    return pa.table(
        {"second": range(len(known)), "threads": pa.array(known, pa.float64())},
        schema=pa.schema([("second", pa.int64()), ("threads", pa.float64())]),
    )


def _endings() -> pa.Table:
    """Values of the columns that depend on the outcome."""
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
    """Code and message of a failure; null for complete responses, which have a status."""
    spelling = SPELLINGS.get(outcome)
    if spelling is None:
        return {"code": None, "message": None}
    return {
        "code": f"{_NOT_HTTP} code: {spelling.exception}",
        "message": f"{_NOT_HTTP} message: {spelling.message}",
    }


def _phrases() -> pa.Table:
    """The reason phrases of status codes."""
    codes = [*HTTPStatus]
    return pa.table(
        {
            "status": pa.array([int(code) for code in codes], pa.uint16()),
            "phrase": [code.phrase for code in codes],
        }
    )


def _missing(database: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """Sentences on what the format cannot represent; without a response there is no length."""
    counts = database.execute(
        "SELECT count(*) FILTER (outcome = 'not_sent'), count(*) FILTER (is_unended(outcome)),"
        " count(*) FILTER (received_bytes IS NULL AND NOT is_unended(outcome) AND"
        " (is_completed(outcome) OR status IS NOT NULL OR first_byte_ns IS NOT NULL))"
        " FROM requests"
    ).fetchone()
    unsent, unended, unweighed = counts or (0, 0, 0)
    found = {
        f"{_requests(unsent)} never sent: exported as failures of 0 ms; JMeter includes failures"
        " in its percentiles": unsent,
        f"{_requests(unended)} still open at the end: excluded": unended,
        f"{_requests(unweighed)} with a response of unknown length: 0 `bytes`": unweighed,
    }
    return tuple(sentence for sentence, count in found.items() if count)


def _requests(count: int) -> str:
    return f"{wording.count(count)} request" if count == 1 else f"{wording.count(count)} requests"
