"""h2load, with HTTP/1.1 or HTTP/2: one kind of request, a number of connections, several threads.

A load that ends by time has h2load's own warm-up, on the connections of the hold; one that ends
after a number of requests has none. `--log-file` keeps each request with a response. There is no
time limit for a response.

Source: h2load of nghttp2 1.52, `h2load --help`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.drivers import plain_load, reported_runs, tool_process
from plimsoll.drivers.job import Rows
from plimsoll.drivers.tool_process import ToolRun
from plimsoll.recording import Driver
from plimsoll.storage.parquet import writing

if TYPE_CHECKING:
    from plimsoll.campaign.load import Load
    from plimsoll.campaign.requests import Exchange
    from plimsoll.drivers.job import DriverCallbacks, DriverJob, DriverResult
    from plimsoll.drivers.reported_runs import Measured
    from plimsoll.errors import DriverMissing
    from plimsoll.tool_output.reported import ReportedStatistics

NAME = "h2load"

KEEPS_ROWS = True

REMEDY = "apt-get install nghttp2-client"

BODY = "h2load-body.bin"
"""File of the body that it sends, in the trial's folder."""

ROWS = "h2load.tsv"
"""File in which it writes each request."""

STEP_S = 0.001
"""Lengths of time are given to it in whole milliseconds."""

PATIENT = "`h2load` has no request timeout and does not reopen a lost connection"
OF_TIME = f"{PATIENT}: a request without a response is in no count"
OF_NUMBER = f"{PATIENT}: all requests that were left to it count as failures"


def needs() -> DriverMissing | None:
    """The error with how to install it; None if it is installed."""
    return tool_process.missing(NAME, REMEDY)


def version() -> str:
    """Its version: `1.52.0`; empty when it does not say."""
    found = re.search(r"nghttp2/(\S+)", tool_process.output_of(NAME, "--version"))
    return found[1] if found else ""


def refuses(load: Load, exchanges: tuple[Exchange, ...]) -> str:
    """Why it cannot generate a load, in one sentence; empty when it can."""
    reasons = (
        plain_load.refusal(load, NAME, STEP_S),
        *_of_load(load),
        *_of_requests(load, exchanges),
    )
    return next(filter(None, reasons), "")


def drive(drive: DriverJob, watch: DriverCallbacks) -> DriverResult:
    """Puts on the load and waits for its end.

    Raises:
        DriverMissing: h2load is not on this host.
        DriverFailed: h2load failed, hung, or printed something else than its figures.
        StorageError: What it printed could not be kept.
    """
    with writing(drive.into):
        if body := reported_runs.only(drive).body:
            (drive.into / BODY).write_bytes(body)
        went = reported_runs.measure((_run(drive),), drive, watch)
    measured = replace(went, figures=_known(went, drive))
    driver = Driver(
        name=NAME,
        version=version(),
        cores=drive.cores,
        threads=reported_runs.threads(drive, measured.runs[-1].connections),
        ended_by="schedule" if drive.load.request_limit is None else "request_limit",
        connections_requested=measured.runs[-1].connections,
        notes=(OF_TIME if drive.load.request_limit is None else OF_NUMBER,),
    )
    return reported_runs.driven(measured, drive, driver, _rows(measured, drive))


def command(drive: DriverJob) -> tuple[str, ...]:
    """The command line."""
    load, request = drive.load, reported_runs.only(drive)
    requested = plain_load.plain(load)
    threads = reported_runs.threads(drive, requested.connections)
    options = (
        ("--h1",) if load.protocol == "http1" else (),
        ("-c", str(requested.connections), "-t", str(threads)),
        ("-m", str(load.in_flight_each)) if load.in_flight_each > 1 else (),
        _length(load),
        *(("-H", f"{name}: {value}") for name, value in request.headers),
        ("-d", BODY) if request.body else (),
        ("--log-file", ROWS),
    )
    words = tuple(word for option in options for word in option)
    return (NAME, *words, f"http://{drive.address}{request.target}")


def _length(load: Load) -> tuple[str, ...]:
    """The options that say when it ends."""
    if load.request_limit is not None:
        return ("-n", str(load.request_limit))
    requested = plain_load.plain(load)
    warm_up = ("--warm-up-time", _milliseconds(requested.warm_up_s)) if requested.warm_up_s else ()
    return ("-D", _milliseconds(requested.duration_s), *warm_up)


def _milliseconds(seconds: float) -> str:
    return f"{round(seconds / STEP_S)}ms"


def _of_load(load: Load) -> Iterator[str]:
    if not load.keep_alive:
        yield "`h2load` does not end with one request per connection"
    if len({stage.start for stage in load.stages}) > 1:
        yield "`h2load` warms up with the connections of the hold only"
    if load.threads and load.threads > load.peak_connections:
        yield "`h2load` needs at least one connection per thread"
    if load.request_limit is not None:
        yield from _of_limit(load, load.request_limit)


def _of_limit(load: Load, limit: int) -> Iterator[str]:
    if len(load.stages) > 1:
        yield "`h2load` has no warm-up with a number of requests"
    if limit < load.peak_connections:
        yield "`h2load` needs at least one request per connection"


def _of_requests(load: Load, exchanges: tuple[Exchange, ...]) -> Iterator[str]:
    request = next(exchange.request for exchange in exchanges)
    if len(exchanges) > 1:
        yield f"`h2load` sends one request type, not {len(exchanges)} by their weights"
    if request.method != ("POST" if request.body else "GET"):
        yield f"`h2load` sends `GET`, or `POST` with a body, not `{request.method}`"
    if request.body and load.pipeline > 1:
        yield "`h2load` does not pipeline requests with a body"


def _run(drive: DriverJob) -> ToolRun:
    requested = plain_load.plain(drive.load)
    return ToolRun(
        command(drive),
        stage="hold",
        connections=requested.connections,
        lasts_s=requested.warm_up_s + requested.duration_s,
        warm_up_s=requested.warm_up_s,
        output=reported_runs.output(NAME),
    )


def _known(measured: Measured, drive: DriverJob) -> ReportedStatistics | None:
    """The figures with what we requested and h2load does not print.

    If it ends by time, its rate is that of the requested time, and it prints that of its whole
    run, warm-up and all.
    """
    figures = measured.figures
    if figures is None:
        return None
    each = float(drive.load.in_flight_each)
    known = replace(figures, model="closed", in_flight_each=each, in_flight_known=True)
    if not figures.received_bytes:  # where each connection carries one request it prints 0
        known = replace(known, received_bytes=None, received_per_s=None)
    if drive.load.request_limit is not None:
        return known
    return replace(known, duration_s=plain_load.plain(drive.load).duration_s)


def _rows(measured: Measured, drive: DriverJob) -> Rows | None:
    """The file of its requests, where there are any."""
    path = drive.into / ROWS
    if measured.figures is None or not path.exists() or not path.stat().st_size:
        return None
    return Rows(NAME, (path,))
