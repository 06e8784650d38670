"""ab, ApacheBench: one kind of request, a number of connections, one thread.

A warm-up is a run of its own before the one that counts. ab speaks HTTP/1.0; with `-k` it asks the
server to keep connections open nevertheless. `-t` alone ends after 50,000 requests, which is `-n`
by default, so `-n` follows it with more than ab can do in that time. With `-g` it writes down each
request, to whole seconds of its start, and neither status nor outcome.

Source: ab 2.3, `man ab`, its `support/ab.c`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.drivers import plain_load, reported_runs, tool_process
from plimsoll.drivers.job import Rows
from plimsoll.recording import Driver
from plimsoll.sampling.samplers import memory
from plimsoll.storage.parquet import writing

if TYPE_CHECKING:
    from plimsoll.campaign.load import Load, StageKind
    from plimsoll.campaign.requests import Exchange, Request
    from plimsoll.drivers.job import DriverCallbacks, DriverJob, DriverResult
    from plimsoll.drivers.reported_runs import Measured
    from plimsoll.drivers.tool_process import ToolRun
    from plimsoll.errors import DriverMissing
    from plimsoll.tool_output.reported import ReportedStatistics

NAME = "ab"

KEEPS_ROWS = False

REMEDY = "apt-get install apache2-utils"

BODY = "ab-body.bin"
"""File of the body that it sends, in the trial's folder."""

ROWS = "ab.tsv"
"""File in which it writes each request."""

MOST_CONNECTIONS = 20_000
"""The most that `-c` takes; `MAX_CONCURRENCY` of its source."""

MOST_PER_S = 400_000
"""More requests per second than ab can do; it sets memory aside for all that it may send."""

LIKELY_PER_S = 200_000
"""Requests per second that it may reach; a hold that has no room for these is refused."""

REQUEST_BYTES = 32
"""What it sets aside for each request; `struct data` of its source."""

MEMORY_RATIO = 0.5
"""Share of the available memory that it may set aside."""

MOST_REQUESTS = 2**31 - 1
"""The most that `-n` takes."""

SORTING_RATIO = 0.5
"""Seconds that it may take for each of its load to sort and write its requests."""

SECOND_NS = 1_000_000_000
"""Step of the instants in that file."""

METHODS = ("GET", "HEAD", "POST", "PUT")
"""Methods of which it knows how to send them."""

OLD_PROTOCOL = (
    "`ab` uses HTTP/1.0 and one thread; a server may treat it differently from HTTP/1.1 clients, "
    "and close connections that these would keep"
)


def needs() -> DriverMissing | None:
    """The error with how to install it; None if it is installed."""
    return tool_process.missing(NAME, REMEDY)


def version() -> str:
    """Its version: `2.3`; empty when it does not say."""
    found = re.search(r"ApacheBench, Version (\S+)", tool_process.output_of(NAME, "-V"))
    return found[1] if found else ""


def refuses(load: Load, exchanges: tuple[Exchange, ...]) -> str:
    """Why it cannot generate a load, in one sentence; empty when it can."""
    reasons = (plain_load.refusal(load, NAME), *_of_load(load), *_of_requests(exchanges))
    return next(filter(None, reasons), "")


def drive(drive: DriverJob, watch: DriverCallbacks) -> DriverResult:
    """Puts on the load and waits for its end.

    Raises:
        DriverMissing: ab is not on this host.
        DriverFailed: ab failed, hung, or printed something else than its figures.
        StorageError: What it printed could not be kept.
    """
    with writing(drive.into):
        if body := reported_runs.only(drive).body:
            (drive.into / BODY).write_bytes(body)
        went = reported_runs.measure(_runs(drive), drive, watch)
    measured = replace(went, figures=_known(went, drive))
    driver = Driver(
        name=NAME,
        version=version(),
        cores=drive.cores,
        threads=1,
        ended_by=_ended_by(measured.figures, drive),
        connections_requested=measured.runs[-1].connections,
        uses_reported_statistics=True,
        notes=(*reported_runs.warmed_up(drive.load, NAME), OLD_PROTOCOL),
    )
    return reported_runs.driven(measured, drive, driver, _rows(measured, drive))


def command(
    drive: DriverJob, connections: int, duration_s: float, rows: str = ""
) -> tuple[str, ...]:
    """The command line of one run.

    Args:
        drive: What to do.
        connections: How many connections.
        duration_s: For how many seconds.
        rows: File to write each request to; empty for none.
    """
    load, request = drive.load, reported_runs.only(drive)
    options = (
        ("-q", "-r"),
        ("-k",) if load.keep_alive else (),
        ("-c", str(connections)),
        ("-t", str(round(duration_s))),
        ("-n", str(load.request_limit or _enough(duration_s))),
        ("-s", str(round(load.timeout_s))),
        ("-g", rows) if rows else (),
        _sent(request),
    )
    words = tuple(word for option in options for word in option)
    return (NAME, *words, f"http://{drive.address}{request.target}")


def _of_load(load: Load) -> Iterator[str]:
    connections = load.peak_connections
    if connections > MOST_CONNECTIONS:
        yield f"`ab` opens at most {wording.count(MOST_CONNECTIONS)} connections"
    if load.protocol != "http1":
        yield "`ab` does not speak HTTP/2"
    if load.pipeline > 1:
        yield "`ab` does not pipeline"
    if load.threads not in (None, 1):
        yield "`ab` has one thread"
    if load.timeout_s != round(load.timeout_s):
        yield f"`ab` takes a timeout in whole seconds, not {wording.exact(load.timeout_s)} s"
    if load.request_limit is not None and load.request_limit < connections:
        yield "`ab` needs at least one request per connection"
    yield from _of_room(load)


def _of_room(load: Load) -> Iterator[str]:
    """Whether `-n` can be as great as the longest of its runs may need."""
    room, longest_s = _room(), max(stage.duration_s for stage in load.stages)
    if (load.request_limit or LIKELY_PER_S * longest_s) > room:
        length = wording.seconds(longest_s)
        if load.request_limit:
            length = wording.several(load.request_limit, "request")
        yield (
            f"`ab` sets memory aside for every request that it may send, and has room for "
            f"{wording.count(room)} on this host, too few for {length}"
        )


def _of_requests(exchanges: tuple[Exchange, ...]) -> Iterator[str]:
    request = next(exchange.request for exchange in exchanges)
    if len(exchanges) > 1:
        yield f"`ab` sends one request type, not {len(exchanges)}"
    if request.method not in METHODS:
        yield f"`ab` cannot send `{request.method}` requests with this body"
    if request.body and request.method not in ("POST", "PUT"):
        yield f"`ab` sends no body with `{request.method}`"


def _runs(drive: DriverJob) -> tuple[ToolRun, ...]:
    def of(stage: StageKind, connections: int, duration_s: float) -> tuple[str, ...]:
        return command(drive, connections, duration_s, ROWS if stage == "hold" else "")

    load = drive.load
    patience_s = tool_process.PATIENCE_S + load.timeout_s + SORTING_RATIO * load.duration_s
    return reported_runs.in_turn(load, NAME, of, patience_s)


def _rows(measured: Measured, drive: DriverJob) -> Rows | None:
    """The file of its requests, where it came so far as to write it."""
    path = drive.into / ROWS
    if measured.figures is None or not path.exists():
        return None
    return Rows(NAME, (path,), step_ns=SECOND_NS)


def _enough(duration_s: float) -> int:
    """A number of requests that is not reached before the time is over, as far as there is room."""
    return min(round(duration_s) * MOST_PER_S, _room())


def _room() -> int:
    """The most requests that it can count on this host."""
    available = memory.available_bytes()
    if available is None:
        return MOST_REQUESTS
    return min(round(available * MEMORY_RATIO) // REQUEST_BYTES, MOST_REQUESTS)


def _sent(request: Request) -> tuple[str, ...]:
    """The options of a request that is more than a plain GET."""
    content = [value for name, value in request.headers if name.lower() == "content-type"]
    others = [(name, value) for name, value in request.headers if name.lower() != "content-type"]
    headers = tuple(word for name, value in others for word in ("-H", f"{name}: {value}"))
    if request.method == "HEAD":
        return ("-i", *headers)
    if request.method == "GET":
        kinds = tuple(word for value in content for word in ("-H", f"Content-Type: {value}"))
        return (*headers, *kinds)
    body = ("-p" if request.method == "POST" else "-u", BODY)
    return (*body, "-T", *(content[:1] or ["application/octet-stream"]), *headers)


def _known(measured: Measured, drive: DriverJob) -> ReportedStatistics | None:
    """The figures with what we requested and ab does not print."""
    if measured.figures is None:
        return None
    return replace(measured.figures, threads=1, timeout_s=float(round(drive.load.timeout_s)))


def _ended_by(figures: ReportedStatistics | None, drive: DriverJob) -> str:
    limit = drive.load.request_limit
    reached = figures is not None and limit is not None and (figures.requests or 0) >= limit
    return "request_limit" if reached else "schedule"
