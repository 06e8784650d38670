"""vegeta: the output of `vegeta encode`, as CSV (`--to csv`) or JSON, one line per request.

What its columns mean, by its manual and source (`lib/results.go` and `hit` in `lib/attack.go`):

- The timestamp is when a worker took the request up, in nanoseconds since 1970. It is not when the
  request was due: if all workers wait, requests are taken up late, and this is not logged. The
  latency runs from there, with connecting, to the end of the response.
- A request without a whole response has the code 0 and the error of Go's HTTP client in words. One
  that failed before a response has the request before the error: `Get "http://…": EOF`; without
  that, the response had begun.
- The bytes are the lengths of the bodies without heads, so received and sent bytes are unknown.
- `seq` numbers the requests of an attack from 0. A number without a line is a missing request.
- Go silently repeats a request whose idle connection was closed; it has one line.

CSV has no names of columns. Older versions wrote fewer columns; the first six are the same.
"""

from __future__ import annotations

import datetime
import errno
import json
import re
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from plimsoll import texts
from plimsoll.intake import columns, limits
from plimsoll.intake.blocks import BLOCK_BYTES, MOST_DIGITS, WHOLE, WORD, Layout, WantedColumn
from plimsoll.intake.numbered import Numbered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from plimsoll.intake.rows import ImportStats, ReadOptions

NAME = "vegeta"

_NAMES = (
    "timestamp",
    "code",
    "latency",
    "bytes_out",
    "bytes_in",
    "error",
    "body",
    "attack",
    "seq",
    "method",
    "url",
    "headers",
)
_COLUMNS = (
    columns.instants("timestamp", 1),
    columns.statuses("code", "0"),
    columns.lengths("latency", 1),
    WantedColumn("bytes_in", WHOLE),
    WantedColumn("error", WORD),
    WantedColumn("attack", WORD),
    WantedColumn("seq", WHOLE),
    WantedColumn("method", WORD),
    WantedColumn("url", WORD),
)
_CSV = re.compile(rb"\d{19},\d{1,3},\d+,\d+,\d+,")
_JSON = b'{"attack":"'
_INSTANT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)")
_S = 1_000_000_000

_TIMEOUTS = ("Client.Timeout", "deadline exceeded", "i/o timeout", "timeout awaiting", "timed out")
_CONNECTING = ("dial ", "waiting for connection", "TLS handshake", "tls: ", "x509: ", "lookup ")
_BEFORE_ANSWER = re.compile(r'[A-Z][A-Za-z]* "')
"""Beginning of the error of a request that failed before a response."""

_RESET = "connection reset by peer"
_ENDINGS = (
    ("too many open files", "too_many_files", errno.EMFILE),
    ("cannot assign requested address", "no_port", errno.EADDRNOTAVAIL),
    ("connection refused", "connect_refused", errno.ECONNREFUSED),
    ("no route to host", "connect_unreachable", errno.EHOSTUNREACH),
    ("network is unreachable", "connect_unreachable", errno.ENETUNREACH),
    ("no such host", "connect_unreachable", None),
    ("broken pipe", "reset_sending", errno.EPIPE),
    ("malformed HTTP", "malformed_head", None),
    ("malformed chunked", "malformed_chunk", None),
    ("chunk length", "malformed_chunk", None),
    ("unexpected EOF", "closed_early", None),
    ("EOF", "closed_waiting", None),
    ("closed idle connection", "closed_waiting", None),
)
"""Words in an error that identify an outcome; the first match counts."""


def recognises(beginning: bytes) -> bool:
    """Whether a file begins with a line of vegeta."""
    return _CSV.match(beginning) is not None or beginning.startswith(_JSON)


def read(stream: BinaryIO, options: ReadOptions, tally: ImportStats) -> Iterator[pa.RecordBatch]:
    """The requests of a file.

    Raises:
        InputError: A line is broken and `options` is strict.
    """
    held = columns.first_line(stream, tally, limits.LINE_BYTES)
    rows = _from_json if held.startswith(_JSON) else _from_csv
    numbered = Numbered()
    for found in rows(stream, held, options, tally):
        tally.keep(len(found["code"]))
        if "seq" in found:
            numbered.add(found["seq"], found["attack"])
        yield columns.batch(_requests(_in_order(found)))
    tally.missing = max(numbered.missing - tally.broken, 0)


def _from_csv(
    stream: BinaryIO, held: bytes, options: ReadOptions, tally: ImportStats
) -> Iterator[Mapping[str, pa.Array]]:
    names = _NAMES[: len(columns.fields(held, ","))]
    layout = Layout(names, ",", tuple(one for one in _COLUMNS if one.name in names))
    return columns.rows(stream, layout, options, tally, held=held)


def _from_json(
    stream: BinaryIO, held: bytes, options: ReadOptions, tally: ImportStats
) -> Iterator[Mapping[str, pa.Array]]:
    """The same columns of lines of JSON."""
    for some in _blocks(stream, held, tally):
        found = [one for number, line in some if (one := _parsed(number, line, options, tally))]
        if found:
            yield {
                one.name: pa.array(values, pa.int64() if one.type == WHOLE else pa.string())
                for one, values in zip(_COLUMNS, zip(*found, strict=True), strict=True)
            }


def _blocks(stream: BinaryIO, held: bytes, tally: ImportStats) -> Iterator[list[tuple[int, bytes]]]:
    """The lines of a file with their numbers, in blocks.

    Raises:
        InputError: A line is too long.
    """
    limit = limits.JSON_LINE_BYTES
    some: list[tuple[int, bytes]] = []
    number, size, line = 1, 0, held
    while line:
        if len(line) > limit.most:
            raise limit.refused(f"{tally.file}:{number}")
        some.append((number, line))
        size += len(line)
        if size >= BLOCK_BYTES:
            yield some
            some, size = [], 0
        number, line = number + 1, stream.readline(limit.most + 1)
    yield some


def _parsed(
    number: int, line: bytes, options: ReadOptions, tally: ImportStats
) -> tuple[Any, ...] | None:
    """The columns of a line; None if it is broken."""
    try:
        one = json.loads(line)
        code = int(one["code"])
        latency_ns, instant_ns = int(one["latency"]), _instant_ns(one["timestamp"])
        limits.require_instant("timestamp", instant_ns, 1)
        limits.require_length("latency", latency_ns, 1)
        if code:
            columns.require_status(code)
        body_bytes, place = (_whole(one.get(name)) for name in ("bytes_in", "seq"))
        error, attack, method, url = (
            texts.stored(str(one.get(name, ""))) for name in ("error", "attack", "method", "url")
        )
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        tally.break_line(number, f"contains no request: {error}", options.strict)
        return None
    except RecursionError:
        tally.break_line(number, "contains no request, only deeply nested values", options.strict)
        return None
    target = (method, url)
    return (instant_ns, code or None, latency_ns, body_bytes, error, attack, place, *target)


def _whole(value: object) -> int | None:
    """A whole number of at least 0 that fits a column; None if it is not there.

    Raises:
        ValueError: It is another value.
    """
    if value is None or (isinstance(value, int) and 0 <= value < 10**MOST_DIGITS):
        return value
    raise ValueError(f"`{str(value)[:20]}` is not a whole number")


def _instant_ns(text: str) -> int:
    """Parses an RFC 3339 timestamp with up to nine decimals, as nanoseconds since 1970.

    Raises:
        ValueError: It is invalid.
    """
    match = _INSTANT.fullmatch(text)
    if match is None:
        raise ValueError(f"`{text}` is not a timestamp")
    whole_s = datetime.datetime.fromisoformat(match[1] + match[3]).timestamp()
    return round(whole_s) * _S + int((match[2] or "").ljust(9, "0"))


def _in_order(found: Mapping[str, pa.Array]) -> Mapping[str, pa.Array]:
    """The rows of one attack, those that were sorted by their timestamps by their numbers again.

    Only the numbers then show the order in which the requests were sent.
    """
    if "seq" not in found or pc.count_distinct(found["attack"].cast(pa.string())).as_py() > 1:
        return found
    if (np.diff(found["timestamp"].to_numpy(zero_copy_only=False)) < 0).any():
        return found
    order = pc.sort_indices(found["seq"])
    return {name: values.take(order) for name, values in found.items()}


def _requests(found: Mapping[str, pa.Array]) -> columns.Known:
    known = {
        "sent_ns": found["timestamp"],
        "done_ns": pc.add(found["timestamp"], found["latency"]),
        "status": found["code"],
        "body_bytes": columns.sizes(found["bytes_in"]),
        **_ended(found["code"], found["error"]),
    }
    if "url" in found:
        target = (found["method"].cast(pa.string()), found["url"].cast(pa.string()))
        known["kind"] = pc.binary_join_element_wise(*target, " ")
    return known


def _ended(code: Any, error: Any) -> columns.Known:
    """Outcome and error number of each request, computed once per distinct error."""
    encoded = error.cast(pa.string()).dictionary_encode()
    endings = [_ending(text) for text in encoded.dictionary.to_pylist()]
    failed = pa.array([outcome for outcome, _ in endings], pa.string()).take(encoded.indices)
    number = pa.array([number for _, number in endings], pa.uint8()).take(encoded.indices)
    responded = code.is_valid()
    return {
        "outcome": pc.if_else(responded, columns.by_status(code), failed),
        "errno": pc.if_else(responded, None, number),
    }


def _ending(error: str) -> tuple[str, int | None]:
    """How a request without a whole response ended, by the error of Go's HTTP client."""
    is_connecting = any(words in error for words in _CONNECTING)
    is_waiting = _BEFORE_ANSWER.match(error) is not None
    if any(words in error for words in _TIMEOUTS):
        return _timed_out(is_connecting, is_waiting), None
    if _RESET in error:
        return _reset(error, is_connecting, is_waiting), errno.ECONNRESET
    for words, outcome, number in _ENDINGS:
        if words in error:
            return outcome, number
    return ("connect_failed" if is_connecting else "io_failed"), None


def _timed_out(is_connecting: bool, is_waiting: bool) -> str:
    if is_connecting:
        return "connect_timeout"
    return "timed_out_waiting" if is_waiting else "timed_out_receiving"


def _reset(error: str, is_connecting: bool, is_waiting: bool) -> str:
    if is_connecting:
        return "connect_reset"
    if "write: " in error:
        return "reset_sending"
    return "reset_waiting" if is_waiting else "reset_receiving"
