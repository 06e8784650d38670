"""vegeta: what `vegeta encode` writes, as CSV (`--to csv`) or as JSON, one line a request.

What its columns mean, by its manual and source (`lib/results.go` and `hit` in `lib/attack.go`):

- The instant is that at which a worker took the request up, in nanoseconds since 1970. It is not
  the instant at which the request was due: where all workers wait, requests are taken up late, and
  nothing says so. The latency runs from there, with connecting, to the end of the answer.
- A request without a whole answer has the code 0 and the error of Go's HTTP client in words. One
  that failed on its way to an answer has the request before the error: `Get "http://…": EOF`;
  without that the answer had begun.
- The bytes are the lengths of the bodies without heads, so they are not what was received and sent.
- A request whose connection had been closed while idle is sent again by Go, and has one line.

CSV has no names of columns. Older versions wrote fewer columns; the first six are the same.
"""

from __future__ import annotations

import datetime
import errno
import json
import re
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from plimsoll.intake import columns
from plimsoll.intake.blocks import WHOLE, WORD, Column, Layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from plimsoll.intake.rows import Asked, Tally

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
    columns.times("timestamp", 1),
    columns.statuses("code", "0"),
    columns.times("latency", 1),
    Column("error", WORD),
    Column("method", WORD),
    Column("url", WORD),
)
_CSV = re.compile(rb"\d{19},\d{1,3},\d+,\d+,\d+,")
_JSON = b'{"attack":"'
_INSTANT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)")
_BLOCK_LINES = 1 << 16
_S = 1_000_000_000

_TIMEOUTS = ("Client.Timeout", "deadline exceeded", "i/o timeout", "timeout awaiting", "timed out")
_CONNECTING = ("dial ", "waiting for connection", "TLS handshake", "tls: ", "x509: ", "lookup ")
_BEFORE_ANSWER = re.compile(r'[A-Z][A-Za-z]* "')
"""What the error begins with of a request that failed on its way to an answer."""

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
"""Words in an error that say how a request ended whatever surrounds them; the first counts."""


def recognises(beginning: bytes) -> bool:
    """Whether a file begins as vegeta writes its lines."""
    return _CSV.match(beginning) is not None or beginning.startswith(_JSON)


def read(stream: BinaryIO, asked: Asked, tally: Tally) -> Iterator[pa.RecordBatch]:
    """The requests of a file.

    Raises:
        CampaignError: A line is broken and `asked` is strict.
    """
    held = columns.first_line(stream, tally)
    rows = _from_json if held.startswith(_JSON) else _from_csv
    for found in rows(stream, held, asked, tally):
        tally.keep(len(found["code"]))
        yield columns.batch(_requests(found))


def _from_csv(
    stream: BinaryIO, held: bytes, asked: Asked, tally: Tally
) -> Iterator[Mapping[str, Any]]:
    names = _NAMES[: len(columns.fields(held, ","))]
    layout = Layout(names, ",", tuple(one for one in _COLUMNS if one.name in names))
    return columns.rows(stream, layout, asked, tally, held=held)


def _from_json(
    stream: BinaryIO, held: bytes, asked: Asked, tally: Tally
) -> Iterator[Mapping[str, Any]]:
    """The same columns of lines of JSON."""
    lines = enumerate(chain([held], stream), 1)
    while some := list(islice(lines, _BLOCK_LINES)):
        found = [one for number, line in some if (one := _parsed(number, line, asked, tally))]
        if found:
            yield {
                one.name: pa.array(values, pa.int64() if one.type == WHOLE else pa.string())
                for one, values in zip(_COLUMNS, zip(*found, strict=True), strict=True)
            }


def _parsed(number: int, line: bytes, asked: Asked, tally: Tally) -> tuple[Any, ...] | None:
    """The columns of a line; None where it is broken."""
    try:
        one = json.loads(line)
        code = int(one["code"])
        latency_ns, instant_ns = int(one["latency"]), _instant_ns(one["timestamp"])
        words = (str(one.get(name, "")) for name in ("error", "method", "url"))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        tally.break_line(number, f"holds no request: {error}", asked.strict)
        return None
    return (instant_ns, code or None, latency_ns, *words)


def _instant_ns(text: str) -> int:
    """An instant of RFC 3339 with up to nine decimals, since 1970.

    Raises:
        ValueError: It is none.
    """
    match = _INSTANT.fullmatch(text)
    if match is None:
        raise ValueError(f"`{text}` is no instant")
    whole_s = datetime.datetime.fromisoformat(match[1] + match[3]).timestamp()
    return round(whole_s) * _S + int((match[2] or "").ljust(9, "0"))


def _requests(found: Mapping[str, Any]) -> dict[str, Any]:
    known = {
        "sent_ns": found["timestamp"],
        "done_ns": pc.add(found["timestamp"], found["latency"]),
        "status": found["code"],
        **_ended(found["code"], found["error"]),
    }
    if "url" in found:
        target = (found["method"].cast(pa.string()), found["url"].cast(pa.string()))
        known["kind"] = pc.binary_join_element_wise(*target, " ")
    return known


def _ended(code: Any, error: Any) -> dict[str, Any]:
    """Outcome and error number of each request; both are worked out once for each error."""
    encoded = error.cast(pa.string()).dictionary_encode()
    endings = [_ending(text) for text in encoded.dictionary.to_pylist()]
    failed = pa.array([outcome for outcome, _ in endings], pa.string()).take(encoded.indices)
    number = pa.array([number for _, number in endings], pa.uint8()).take(encoded.indices)
    answered = code.is_valid()
    return {
        "outcome": pc.if_else(answered, columns.by_status(code), failed),
        "errno": pc.if_else(answered, None, number),
    }


def _ending(error: str) -> tuple[str, int | None]:
    """How a request without a whole answer ended, by the error of Go's HTTP client."""
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
