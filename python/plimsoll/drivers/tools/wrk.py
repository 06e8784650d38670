"""wrk: one number of connections, held for whole seconds, on as many threads as there are cores.

A warm-up is a run of its own before the one that counts, as its users do it; between the two every
connection is closed and opened again. One plain GET goes on the command line. A body, another
method, several kinds of request or pipelining need a Lua script, which is left in the trial's
folder. wrk keeps no request: what it prints is all there is.

Source: wrk 4.1.0, `wrk -h`, its `SCRIPTING` and `scripts/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.drivers import plain_load, reported_runs, tool_process
from plimsoll.recording import Driver
from plimsoll.storage.parquet import writing
from plimsoll.tool_output.readers.wrk import LIMIT

if TYPE_CHECKING:
    from plimsoll.campaign.load import Load, StageKind
    from plimsoll.campaign.requests import Exchange, Request
    from plimsoll.drivers.job import DriverCallbacks, DriverJob, DriverResult
    from plimsoll.drivers.reported_runs import Measured
    from plimsoll.drivers.tool_process import ToolRun
    from plimsoll.errors import DriverMissing
    from plimsoll.tool_output.reported import ReportedStatistics

NAME = "wrk"

KEEPS_ROWS = False

REMEDY = "apt-get install wrk"

SCRIPT = "wrk.lua"
"""File of the Lua script, in the trial's folder."""

BATCHES = (
    "`wrk` sends {pipeline} requests at once and waits for all responses; each latency is that of "
    "such a batch"
)
PICKED = "a Lua function chooses each request, which costs `wrk` CPU time"


def needs() -> DriverMissing | None:
    """The error with how to install it; None if it is installed."""
    return tool_process.missing(NAME, REMEDY)


def version() -> str:
    """Its version: `4.1.0`; empty when it does not say."""
    found = re.search(r"^wrk \D*([\d.]+\d)", tool_process.output_of(NAME, "-v"))
    return found[1] if found else ""


def refuses(load: Load, exchanges: tuple[Exchange, ...]) -> str:
    """Why it cannot generate a load, in one sentence; empty when it can."""
    if reason := plain_load.refusal(load, NAME):
        return reason
    if load.threads and load.threads > min(stage.start for stage in load.stages):
        return f"`wrk` needs at least one connection per thread, not {load.threads} threads"
    if load.protocol != "http1":
        return "`wrk` does not speak HTTP/2"
    if load.request_limit is not None:
        return "`wrk` has no limit for the number of requests"
    if load.timeout_s != round(load.timeout_s):
        return f"`wrk` takes a timeout in whole seconds, not {wording.exact(load.timeout_s)} s"
    return ""


def drive(drive: DriverJob, watch: DriverCallbacks) -> DriverResult:
    """Puts on the load and waits for its end.

    Raises:
        DriverMissing: wrk is not on this host.
        DriverFailed: wrk failed, hung, or printed something else than its figures.
        StorageError: What it printed could not be kept.
    """
    with writing(drive.into):
        if script := lua(drive):
            (drive.into / SCRIPT).write_text(script, "utf-8")
        went = reported_runs.measure(_runs(drive), drive, watch)
    measured = replace(went, figures=_known(went, drive))
    driver = Driver(
        name=NAME,
        version=version(),
        cores=drive.cores,
        threads=reported_runs.threads(drive, measured.runs[-1].connections),
        ended_by="schedule",
        connections_requested=measured.runs[-1].connections,
        notes=tuple(_notes(drive, measured.figures)),
    )
    return reported_runs.driven(measured, drive, driver)


def command(drive: DriverJob, connections: int, duration_s: float) -> tuple[str, ...]:
    """The command line of one run.

    Args:
        drive: What to do.
        connections: How many connections.
        duration_s: For how many seconds.
    """
    options = (
        f"-t{reported_runs.threads(drive, connections)}",
        f"-c{connections}",
        f"-d{round(duration_s)}s",
        "--latency",
        "--timeout",
        f"{round(drive.load.timeout_s)}s",
    )
    closing = () if drive.load.keep_alive else ("-H", "Connection: close")
    if lua(drive):
        return (NAME, *options, *closing, "-s", SCRIPT, _url(drive))
    named = [("-H", f"{name}: {value}") for name, value in reported_runs.only(drive).headers]
    given = tuple(word for option in named for word in option)
    return (NAME, *options, *closing, *given, _url(drive))


def lua(drive: DriverJob) -> str:
    """The Lua script of a drive; empty if the command line suffices."""
    if len(drive.exchanges) > 1 or drive.load.pipeline > 1:
        return "\n".join(_picking(drive)) + "\n"
    request = reported_runs.only(drive)
    if request.method == "GET" and not request.body:
        return ""
    return "\n".join(_constant(request)) + "\n"


def _runs(drive: DriverJob) -> tuple[ToolRun, ...]:
    def of(_stage: StageKind, connections: int, duration_s: float) -> tuple[str, ...]:
        return command(drive, connections, duration_s)

    return reported_runs.in_turn(
        drive.load, NAME, of, tool_process.PATIENCE_S + drive.load.timeout_s
    )


def _known(measured: Measured, drive: DriverJob) -> ReportedStatistics | None:
    """The figures with what we requested and wrk does not print."""
    if measured.figures is None:
        return None
    notes = tuple(note for note in measured.figures.notes if note != LIMIT)
    return replace(
        measured.figures,
        timeout_s=drive.load.timeout_s,
        in_flight_each=float(drive.load.pipeline),
        notes=notes,
    )


def _notes(drive: DriverJob, figures: ReportedStatistics | None) -> Iterator[str]:
    yield from reported_runs.warmed_up(drive.load, NAME)
    if drive.load.pipeline > 1:
        yield BATCHES.format(pipeline=drive.load.pipeline)
    if len(drive.exchanges) > 1:
        yield PICKED
    yield from figures.notes if figures else ()


def _url(drive: DriverJob) -> str:
    """The address; with the path of the only request, which a script may replace."""
    path = reported_runs.only(drive).target if len(drive.exchanges) == 1 else "/"
    return f"http://{drive.address}{path}"


def _constant(request: Request) -> Iterator[str]:
    """The script of one request that is the same each time; it is not called under load."""
    yield f"wrk.method = {_quoted(request.method.encode())}"
    if request.body:
        yield f"wrk.body = {_quoted(request.body)}"
    for name, value in request.headers:
        yield f"wrk.headers[{_quoted(name.encode())}] = {_quoted(value.encode())}"


def _picking(drive: DriverJob) -> Iterator[str]:
    """The script of requests that are drawn by their weights, or sent several at a time."""
    weights = [exchange.request.weight for exchange in drive.exchanges]
    yield "local requests, upto = {}, {}"
    yield "local threads = 0"
    yield "function setup(thread)"
    yield "  threads = threads + 1"
    yield f"  thread:set('seed', {drive.seed % 2**31} + threads)"
    yield "end"
    yield "function init(args)"
    yield "  math.randomseed(seed)"
    for place, exchange in enumerate(drive.exchanges, 1):
        yield f"  requests[{place}] = {_formatted(exchange.request, drive)}"
    for place, bound in enumerate(accumulate(weights), 1):
        yield f"  upto[{place}] = {bound / sum(weights)!r}"
    yield "end"
    yield "local function pick()"
    yield "  local drawn = math.random()"
    yield "  for place = 1, #requests - 1 do"
    yield "    if drawn < upto[place] then return requests[place] end"
    yield "  end"
    yield "  return requests[#requests]"
    yield "end"
    yield "function request()"
    yield "  local batch = {}"
    yield f"  for place = 1, {drive.load.pipeline} do batch[place] = pick() end"
    yield "  return table.concat(batch)"
    yield "end"


def _formatted(request: Request, drive: DriverJob) -> str:
    """A call that gives the bytes of a request, with the host and the length of its body."""
    closing = () if drive.load.keep_alive else (("Connection", "close"),)
    headers = ", ".join(
        f"[{_quoted(name.encode())}] = {_quoted(value.encode())}"
        for name, value in (*closing, *request.headers)
    )
    body = _quoted(request.body) if request.body else "nil"
    method, target = _quoted(request.method.encode()), _quoted(request.target.encode())
    return f"wrk.format({method}, {target}, {{{headers}}}, {body})"


def _quoted(data: bytes) -> str:
    """Bytes as a string of Lua; whatever is no plain character is its number."""
    plain = b" !#$%&()*+,-./:;<=>?@[]^_`{|}~"
    return (
        '"'
        + "".join(
            chr(byte) if chr(byte).isalnum() and byte < 128 or byte in plain else f"\\{byte:03d}"  # noqa: PLR2004, RUF021 - ASCII
            for byte in data
        )
        + '"'
    )
