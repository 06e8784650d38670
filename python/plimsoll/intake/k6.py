"""k6: its CSV (`--out csv=FILE`), several lines per request, one for each metric.

What its lines mean, by its documentation and source (`internal/output/csv`, `lib/netext/httpext`):

- The lines of a request are adjacent; the first is `http_reqs`. Their `timestamp` is its *end*:
  whole seconds since 1970 unless `K6_CSV_TIME_FORMAT` is set.
- `http_req_duration` is sending, waiting and receiving, in milliseconds, without connecting;
  `http_req_connecting` and `http_req_tls_handshaking` are 0 for a reused connection. A request
  begins here with its connecting, as in the files of other tools.
- `http_req_failed` shows whether the response was what the script expects, by default a status from
  200 to 399. Without a response `status` is 0, and `error_code` gives the reason. A failed attempt
  to connect has 0 in all times.
- `vus` are the active virtual users, once a second; `http.batch` lets one of them send several
  requests at once. Received bytes are logged only per iteration.
  Iterations that were due and not begun are `dropped_iterations`, and have no requests. Each of
  them would have sent as many as one of the `iterations` that ended.
- Go silently repeats a request whose idle connection was closed; it counts once.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from plimsoll import wording
from plimsoll.intake import columns, limits, points
from plimsoll.intake.blocks import WHOLE, WORD, Layout, WantedColumn
from plimsoll.intake.points import NOT_SAID

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from plimsoll.intake.points import Numbers
    from plimsoll.intake.rows import ImportStats, ReadOptions

NAME = "k6"

COARSE = (
    "k6 wrote the ends of requests in whole seconds, so instants and the length of the whole are "
    "up to 1 s off; `K6_CSV_TIME_FORMAT=unix_nano` has them exact"
)
ENDLESS = "k6 does not log the time of failed connection attempts; these requests have 0"
TOO_LONG = f"requests longer than {limits.REQUEST_NS.shown}"
NEVER_BEGUN = "iterations were dropped; the requests they would have sent are missing"
OTHERS = "points of metrics without requests"
TORN = "requests with missing points"

_MS, _S = 1_000_000, 1_000_000_000
_FIRST = "http_reqs"
_TIMES = tuple(
    f"http_req_{part}"
    for part in ("duration", "connecting", "tls_handshaking", "sending", "waiting", "receiving")
)
_FAILED, _USERS = "http_req_failed", "vus"
_DROPPED, _ITERATIONS = "dropped_iterations", "iterations"
_OF_A_REQUEST = (_FIRST, *_TIMES, "http_req_blocked", _FAILED)

_DIGITS_NS = ((10, _S), (13, 1_000_000), (16, 1_000), (19, 1))
"""Unit of a timestamp since 1970 by its number of digits, valid from 2001 to 2286."""

_ENDINGS = {
    "1101": ("connect_unreachable", None),
    "1201": ("reset_sending", errno.EPIPE),
    "1211": ("connect_timeout", None),
    "1212": ("connect_refused", errno.ECONNREFUSED),
}
"""Outcomes by k6's error codes that identify one."""

_TIMEOUT, _RESET = "1050", "1220"
_CONNECTING = ("11", "121", "13")
"""Beginnings of error codes before a request is sent: names, TCP, TLS."""

_AT_END = {"EOF": "closed_waiting", "unexpected EOF": "closed_early"}
"""Errors without a specific code."""


def _instants(texts: Any) -> Any:
    """Parses k6's timestamps: whole numbers of a unit since 1970, or RFC 3339."""
    if not pc.all(pc.utf8_is_digit(texts)).as_py():
        return texts.cast(pa.timestamp("ns", "UTC")).cast(pa.int64())
    digits = pc.utf8_length(texts)
    unit_ns = pc.case_when(
        pc.make_struct(*(pc.equal(digits, count) for count, _ in _DIGITS_NS)),
        *(pa.scalar(unit_ns, pa.int64()) for _, unit_ns in _DIGITS_NS),
    )
    return pc.multiply_checked(texts.cast(pa.int64()), unit_ns)


_STATUS = "status"
_NEEDED = (
    WantedColumn(points.METRIC, WORD, True),
    WantedColumn(points.INSTANT, WHOLE, True, _instants, check=limits.instants(points.INSTANT, 1)),
    columns.decimals(points.VALUE, _MS, None),
    columns.statuses(_STATUS, "0", ""),
)
_CHOSEN = (
    WantedColumn("name", WORD),
    WantedColumn("error", WORD),
    WantedColumn("error_code", WORD),
)
"""Columns that k6 can be configured to omit."""


def recognises(beginning: bytes) -> bool:
    """Whether a file begins with the names of k6's columns."""
    return beginning.startswith(b"metric_name,timestamp,metric_value,")


def read(stream: BinaryIO, options: ReadOptions, tally: ImportStats) -> Iterator[pa.RecordBatch]:
    """The requests of a CSV file.

    Raises:
        InputError: It is not a file of k6, k6 was configured to omit `status`, or a line is broken
            and `options` is strict.
    """
    names = columns.fields(columns.first_line(stream, tally), ",")
    columns.require(_NEEDED, names, tally)
    chosen = tuple(column for column in _CHOSEN if column.name in names)
    layout = Layout(tuple(names), ",", (*_NEEDED, *chosen))
    seen = _Seen()
    blocks = columns.rows(stream, layout, options, tally)
    for part in points.untorn(blocks, _FIRST, len(_OF_A_REQUEST)):
        found = columns.batch(_requests(part, seen, tally))
        if len(found):
            yield found
    seen.is_coarse &= tally.kept > 0
    tally.remarks.extend(seen.remarks())
    tally.instants_step_s = 1.0 if seen.is_coarse else 0.0
    tally.users = seen.most_users // _MS
    tally.never_sent = seen.never_sent


@dataclass
class _Seen:
    """State from earlier points of a file.

    Attributes:
        users: Active virtual users, × 1,000,000 like all values.
        most_users: The most of them, likewise.
        never_begun: Iterations that were due and not begun, likewise.
        iterations: Iterations that ended, likewise.
        requests: Requests.
        is_coarse: Whether all timestamps were whole seconds.
        is_endless: Whether an attempt to connect had no duration.
    """

    users: int = NOT_SAID
    most_users: int = 0
    never_begun: int = 0
    iterations: int = 0
    requests: int = 0
    is_coarse: bool = True
    is_endless: bool = False

    @property
    def never_sent(self) -> int:
        """Requests that the iterations which were not begun would have sent."""
        if not self.iterations:
            return self.never_begun // _MS
        return round(self.never_begun * self.requests / self.iterations)

    def remarks(self) -> Iterator[str]:
        """Notes for readers of the results."""
        if self.is_coarse:
            yield COARSE
        if self.is_endless:
            yield ENDLESS
        if self.never_begun:
            yield f"{wording.count(self.never_begun // _MS)} {NEVER_BEGUN}"


def _requests(part: pa.Table, seen: _Seen, tally: ImportStats) -> columns.Known:
    """The columns of `ROWS` for the requests of some points."""
    starts = np.flatnonzero(points.is_of(part, _FIRST))
    lengths = {metric: points.values(part, starts, metric) for metric in (*_TIMES, _FAILED)}
    whole = np.all([lengths[metric] != NOT_SAID for metric in _TIMES], axis=0)
    possible = np.all([lengths[metric] <= limits.REQUEST_NS.most for metric in _TIMES], axis=0)
    tally.leave_out(TOO_LONG, int((whole & ~possible).sum()))
    tally.leave_out(TORN, int((~whole).sum()))
    whole &= possible
    tally.keep(int(whole.sum()))
    tally.leave_out(OTHERS, points.others(part, _OF_A_REQUEST))
    first = part.take(pa.array(starts[whole])).combine_chunks()
    threads = points.latest(part, starts, _USERS, seen.users)[whole]
    lengths = {metric: found[whole] for metric, found in lengths.items()}
    _see(part, first, lengths, seen)
    return {
        **_spans(first, lengths),
        **_ended(first, lengths),
        "status": _column(first, _STATUS),
        "threads": pa.array(threads // _MS, mask=threads == NOT_SAID),
        **({"kind": _column(first, "name")} if "name" in first.schema.names else {}),
    }


def _see(part: pa.Table, first: pa.Table, lengths: Mapping[str, Numbers], seen: _Seen) -> None:
    """Updates the state for later points and the remarks."""
    values = part[points.VALUE].to_numpy()
    users = values[points.is_of(part, _USERS)]
    seen.users = int(next(reversed(users), seen.users))
    seen.most_users = int(users.max(initial=seen.most_users))
    seen.never_begun += int(values[points.is_of(part, _DROPPED)].sum())
    seen.iterations += int(values[points.is_of(part, _ITERATIONS)].sum())
    seen.requests += len(first)
    seen.is_coarse &= not np.any(first[points.INSTANT].to_numpy() % _S)
    unsent = (lengths["http_req_sending"] == 0) & first[_STATUS].is_null().to_numpy()
    seen.is_endless |= bool(unsent.any())


def _spans(first: pa.Table, lengths: Mapping[str, Numbers]) -> columns.Known:
    """When each request began, had its first byte and ended."""
    done = first[points.INSTANT].to_numpy()
    connect = lengths["http_req_connecting"] + lengths["http_req_tls_handshaking"]
    receiving = lengths["http_req_receiving"]
    return {
        "sent_ns": pa.array(done - lengths["http_req_duration"] - connect),
        "first_byte_ns": pa.array(done - receiving, mask=receiving == 0),
        "done_ns": pa.array(done),
        "connect_ns": pa.array(connect),
    }


def _ended(first: pa.Table, lengths: Mapping[str, Numbers]) -> columns.Known:
    """Outcome and error number of each request."""
    status, failed = _column(first, _STATUS), pa.array(lengths[_FAILED])
    expected = pc.if_else(pc.equal(failed, 0), "ok", "wrong_status")
    responded = pc.if_else(pc.equal(failed, NOT_SAID), columns.by_status(status), expected)
    lost = status.is_null()
    endings = _endings(first.filter(lost), lengths["http_req_receiving"][lost.to_numpy(False)])
    outcomes = pa.array([outcome for outcome, _ in endings], pa.string())
    numbers = pa.array([number for _, number in endings], pa.uint8())
    return {
        "outcome": pc.replace_with_mask(responded, lost, outcomes),
        "errno": pc.replace_with_mask(pa.nulls(len(first), pa.uint8()), lost, numbers),
    }


def _endings(lost: pa.Table, receiving: Numbers) -> list[tuple[str, int | None]]:
    """How each request without a whole response ended.

    Args:
        lost: The first points of these requests.
        receiving: How long each of them received.
    """
    nothing = [""] * len(lost)
    codes, errors = (
        _column(lost, name).to_pylist() if name in lost.schema.names else nothing
        for name in ("error_code", "error")
    )
    return [
        _ending(code, error, bool(part))
        for code, error, part in zip(codes, errors, receiving, strict=True)
    ]


def _ending(code: str, error: str, is_receiving: bool) -> tuple[str, int | None]:
    """How a request without a whole response ended.

    Args:
        code: k6's code of the error.
        error: Its message.
        is_receiving: Whether a first byte had arrived.

    Source: k6's documentation, "Error codes".
    """
    if code == _TIMEOUT:
        return ("timed_out_receiving" if is_receiving else "timed_out_waiting"), None
    if code == _RESET:
        return ("reset_receiving" if is_receiving else "reset_waiting"), errno.ECONNRESET
    if code in _ENDINGS:
        return _ENDINGS[code]
    if code.startswith(_CONNECTING):
        return "connect_failed", None
    return _AT_END.get(error, "io_failed"), None


def _column(first: pa.Table, name: str) -> Any:
    return first[name].combine_chunks()
