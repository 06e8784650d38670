"""Plimsoll's own engine, run as a process like any other driver.

Into the engine goes `spec.json`; out of it come its records, `finish.json`, and a line of JSON once
a second. It runs in a supervised process, so it never outlives the lab.
"""

from __future__ import annotations

import errno
import json
import os
import select
import signal
import sys
import time
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, cast

import plimsoll
from plimsoll import wording
from plimsoll.campaign.requests import render, sent, upgrade_request
from plimsoll.drivers import records
from plimsoll.drivers.job import DriverCallbacks, DriverJob, DriverResult, LoadPart
from plimsoll.errors import (
    INTERRUPTED,
    DriverMissing,
    EngineFailed,
    LimitTooLow,
    PlimsollError,
    StorageError,
)
from plimsoll.events import Progress, RecentLatency
from plimsoll.processes import process_table
from plimsoll.processes.supervised import SupervisedProcess
from plimsoll.recording import DecodedBodies, Driver, RecordedStage
from plimsoll.recording.readings import Reading
from plimsoll.recording.tls import NegotiatedTls
from plimsoll.statistics import quantiles
from plimsoll.storage.parquet import storage_error, writing

if TYPE_CHECKING:
    from plimsoll.campaign.load import Load, Stage
    from plimsoll.campaign.requests import Events, Exchange, Upload

NAME = "plimsoll"

KEEPS_ROWS = True

COMMAND = (sys.executable, "-P", "-m", "plimsoll.engine")
"""The engine; the path of its specification follows."""

SPEC_FORMAT = 1
"""Version of the format of `spec.json`."""

PATIENCE_S = 60.0
"""Seconds without a word after which the engine counts as hung; it speaks once a second."""

GRACE_S = 30.0
"""Seconds that the engine has to write its last records after it was interrupted."""

FULL_BYTES = 1 << 20
"""Free space below which a disk is full: the engine writes buffers of a quarter of it."""

SAID_EACH_SECOND = (
    "in_flight_mean",
    "counts_apart_s",
    "in_flight",
    "connections_requested",
    "connections_open",
    "places_open",
    "requests_sent",
    "requests_ended",
    "received_bytes",
    "longest_pause_s",
)
"""What of a line of progress becomes readings."""

LEVELS = ("in_flight", "connections_open", "places_open")
"""Those of them that are levels at an instant."""

Line = Mapping[str, Any]


def needs() -> DriverMissing | None:
    """Nothing: the engine is part of the program."""
    return None


def version() -> str:
    """The version of the program."""
    return plimsoll.__version__


def refuses(load: Load, exchanges: tuple[Exchange, ...]) -> str:
    """Nothing: the engine can generate every load of a campaign."""
    return ""


def drive(drive: DriverJob, watch: DriverCallbacks) -> DriverResult:
    """Puts on the load and waits for its end.

    Args:
        drive: What to do.
        watch: Its callbacks.

    Returns:
        What the engine reports of it; `driver.ended_by` is `interrupt` when it was ended early.

    Raises:
        EngineFailed: The engine ended with an error, or its files do not fit together.
        LimitTooLow: This host cannot put on such a load.
        StorageError: The records could not be written.
        Interrupted: Ctrl-C before there was any load.
    """
    path = drive.into / "spec.json"
    with writing(drive.into):
        path.write_text(json.dumps(spec(drive)), "utf-8")
    with started_engine(path, drive) as supervised:
        watch.started(supervised.supervisor_pid)
        heard = _listen(supervised, watch)
        supervised.wait(GRACE_S)
        ended = supervised.stop()
    if ended.exit_code == INTERRUPTED or heard.started is None:  # it may die of an early signal
        watch.interruption.check()
    require_success(ended.exit_code, drive.into)
    return driven(heard, drive)


def spec(drive: DriverJob, *, in_turns: bool = False) -> dict[str, Any]:
    """The engine's specification of a drive; `in_turns` has it rest until it is given a turn."""
    return {
        **({"in_turns": True} if in_turns else {}),
        **({} if drive.tls is None else {"tls": drive.tls.block}),
        **({} if drive.part is None else _part(drive.part)),
        "format": SPEC_FORMAT,
        "into": str(drive.into.resolve()),
        "address": drive.address,
        "host": drive.address,
        "requests": [_request(exchange, drive) for exchange in drive.exchanges],
        "load": {**_load(drive.load), **_websocket(drive), **_follow(drive)},
        "cores": list(drive.cores) or None,
        "threads": len(drive.cores) or drive.threads,
        "seed": drive.seed,
        "body_sample_ratio": drive.body_sample_ratio,
        "record": True,
    }


def failure(exit_code: int | None, stated: str) -> PlimsollError:
    """The error of an engine that did not end well.

    Args:
        exit_code: Its exit code; negative for a signal, None when it had to be killed.
        stated: What it wrote for people; its last line may be JSON with `error` and `hint`.
    """
    message, hint = _last_words(stated)
    if exit_code is None or exit_code < 0:
        name = "SIGKILL" if exit_code is None else signal.Signals(-exit_code).name
        return EngineFailed(f"the engine was killed by {name}", "see `driver.log`")
    if exit_code == LimitTooLow.exit_code:
        return LimitTooLow(message, hint)
    if exit_code == StorageError.exit_code:
        return StorageError(message, hint)
    return EngineFailed(message or f"the engine exited with code {exit_code}", hint)


@dataclass
class _Engine:
    """The engine's process; interrupted once, since a second signal would kill it."""

    process: process_table.Process | None
    interrupted: bool = False

    def ask(self) -> None:
        """Interrupts it, so that it ends cleanly."""
        if self.process is not None and not self.interrupted:
            self.interrupted = True
            process_table.send(self.process, signal.SIGINT)

    def kill(self) -> None:
        """Ends it at once."""
        if self.process is not None:
            process_table.send(self.process, signal.SIGKILL)


@dataclass
class EngineReports:
    """What the engine has reported so far."""

    started: Line | None = None
    finished: Line | None = None
    readings: list[Reading] = field(default_factory=list[Reading])
    last: Line = field(default_factory=dict[str, object])

    @property
    def zero_ns(self) -> int:
        """Zero of the load by CLOCK_MONOTONIC; 0 before it has begun."""
        return int(self.started["zero_monotonic_ns"]) if self.started else 0

    def is_news(self, line: Line) -> bool:
        """Whether a line of progress is of a later instant than the last one."""
        return self.started is not None and line["at_ns"] > self.last.get("at_ns", -1)

    def take(self, line: Line) -> Progress | None:
        """Takes in a line; returns the progress in it, if any."""
        match line["event"]:
            case "started":
                self.started = line
            case "finished":
                self.finished = line
            case "progress" | "turn" if self.is_news(line):
                self.readings.extend(_readings(line, self.zero_ns))
                before, self.last = self.last, line
                return progress(line, before)
            case _:
                pass
        return None


def progress(line: Line, before: Line) -> Progress:
    """The progress in a line.

    Args:
        line: The line.
        before: The line before it; empty for the first one.
    """
    seconds = (line["at_ns"] - before.get("at_ns", 0)) / 1e9
    completed = _completed(line) - _completed(before)
    return Progress(
        at_s=line["at_ns"] / 1e9,
        stage=line["stage"],
        connections_requested=line["connections_requested"],
        connections_open=line["connections_open"],
        in_flight=line["in_flight"],
        throughput_per_s=completed / seconds if seconds > 0 else 0.0,
        requests_ended=line["requests_ended"],
        outcomes=line["outcomes"],
        connections_opened=line["opened"],
        connections_refused=line["refused"],
        statuses={int(code): count for code, count in line.get("statuses", {}).items()},
        latency=_recent(line.get("response_time"), completed),
        driver_busy_cores=line.get("busy_cores"),
        driver_threads=line.get("threads"),
    )


def _recent(found: Line | None, responses: int) -> RecentLatency | None:
    """The percentiles of so many responses that results would have, too."""
    if not found:
        return None
    known = {name: value for name, value in found.items() if _enough(name, responses)}
    return RecentLatency(known.get("p50_ns"), known.get("p90_ns"), known.get("p99_ns"))


def _enough(column: str, responses: int) -> bool:
    return quantiles.enough(responses, quantiles.QUANTILES[column.removesuffix("_ns")])


def started_engine(spec: Path, drive: DriverJob, *, has_input: bool = False) -> SupervisedProcess:
    """The engine's process with a specification; `has_input` lets it be given turns."""
    package = str(Path(plimsoll.__file__).parent.parent)
    return SupervisedProcess(
        (*COMMAND, str(spec.resolve())),
        folder=drive.into,
        environment={**os.environ, "PYTHONPATH": package},
        log=drive.into / "driver.log",
        cores=drive.cores,
        stop_signal="INT",
        grace_s=GRACE_S,
        piped="both" if has_input else "output",
    )


def _listen(supervised: SupervisedProcess, watch: DriverCallbacks) -> EngineReports:
    """Hears the engine to its end; the first Ctrl-C asks it to end, the second kills it."""
    heard, engine = EngineReports(), _Engine(process_table.process(supervised.pid))
    try:
        with watch.interruption.deferred(engine.ask):
            for line in lines(supervised.output):
                if not _passed_on(heard, line, watch):
                    engine.ask()
    except BaseException:
        engine.kill()
        raise
    return heard


def _passed_on(heard: EngineReports, line: Line, watch: DriverCallbacks) -> bool:
    """Passes on what is new in a line; returns whether the engine is to go on."""
    new = heard.take(line)
    if line["event"] == "started":
        watch.zero(line["zero_monotonic_ns"])
    return new is None or watch.progress(new)


def lines(output: IO[bytes] | None) -> Iterator[Line]:
    """The events of the engine, until it closes its output.

    Raises:
        EngineFailed: It prints nothing for too long, or something else than events.
    """
    text = b""
    while output is not None and (heard := _read(output)):
        *lines, text = (text + heard).split(b"\n")
        yield from map(_line, lines)


def _line(text: bytes) -> Line:
    try:
        line = json.loads(text)
        line["event"]
    except (ValueError, KeyError, TypeError) as error:
        stated = text.decode("utf-8", "backslashreplace")
        raise EngineFailed(f"the engine sent `{stated}`, which is not an event") from error
    return line


def _read(output: IO[bytes]) -> bytes:
    ready, _, _ = select.select([output], [], [], PATIENCE_S)
    if not ready:
        raise EngineFailed(
            f"the engine did not respond for {wording.count(PATIENCE_S)} s", "see `driver.log`"
        )
    return os.read(output.fileno(), 1 << 16)


def require_success(exit_code: int | None, into: Path) -> None:
    """Raises the error of an engine that did not end well; see `failure`."""
    if exit_code != 0:
        stated = (into / "driver.log").read_text("utf-8", "replace")
        if exit_code == StorageError.exit_code and not stated:  # its log is on the full disk too
            raise _unwritten(into.parent.parent)
        raise failure(exit_code, stated)


def _last_words(stated: str) -> tuple[str, str]:
    """The error and the hint in the last line; the line itself when it is not JSON."""
    last = stated.rstrip().rpartition("\n")[2]
    try:
        words = json.loads(last)
        return str(words["error"]), str(words.get("hint", ""))
    except (ValueError, KeyError, TypeError):
        return last, ""


def driven(heard: EngineReports, drive: DriverJob) -> DriverResult:
    """What an engine that ended gives back.

    Raises:
        EngineFailed: Its final report is missing, or its files do not fit it.
        StorageError: It could not write its records.
    """
    started, finished = heard.started, heard.finished
    if started is None or finished is None:
        raise EngineFailed("the engine exited without its final report", "see `driver.log`")
    if finished["ended_by"] == "storage":
        raise _unwritten(drive.into.parent.parent)
    _require_rows(finished, drive.into)
    zero_ns = started["zero_monotonic_ns"]
    return DriverResult(
        driver=_driver(finished),
        zero_monotonic_ns=zero_ns,
        zero_utc_ns=started.get("zero_utc_ns", time.time_ns()),
        stages=stages(_ran(finished), drive.load),
        readings=tuple(readings_until_the_end(heard.readings, zero_ns, finished)),
    )


def _unwritten(folder: Path) -> StorageError:
    """The error for records that the engine could not write below a folder of results."""
    disk = os.statvfs(folder)
    if disk.f_bavail * disk.f_frsize < FULL_BYTES:
        return storage_error(folder, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    message = f"the load generator could not write its rows to `{folder}`"
    return StorageError(message, "check the disk and its quota, or choose another one with `into=`")


def readings_until_the_end(
    readings: Iterable[Reading], zero_ns: int, finished: Line
) -> Iterator[Reading]:
    """What the engine reported of itself, except levels after a number of requests was reached.

    Its last report comes when every connection is closed, and shows nothing of the load.

    Args:
        readings: Its reports.
        zero_ns: Zero of the load by CLOCK_MONOTONIC.
        finished: Its report at the end.
    """
    limited, end_ns = finished["ended_by"] == "request_limit", zero_ns + finished["ended_ns"]
    for reading in readings:
        if not (limited and reading.at_ns >= end_ns and reading.quantity in LEVELS):
            yield reading


def _require_rows(finished: Line, into: Path) -> None:
    """The records that lie on the disk must be as many as the engine reports."""
    for table in ("requests", "connections"):
        path = into / f"{table}.bin"
        size = path.stat().st_size if path.exists() else 0
        reported = finished[f"{table}_rows"]
        if size != reported * records.size_bytes(table):
            message = f"the engine reports {reported} {table}, but `{path.name}` has {size} bytes"
            raise EngineFailed(message, "report it to Plimsoll")


def stages(ran: list[Line], load: Load) -> tuple[RecordedStage, ...]:
    """The stages as they ran; those that were not reached are left out.

    Args:
        ran: Kind, start and end of each, in nanoseconds since zero.
        load: The load, which knows their levels.
    """
    return tuple(
        RecordedStage(
            cast('Literal["warm_up", "ramp", "hold"]', stage["kind"]),
            stage["start_ns"],
            stage["end_ns"],
            requested.start,
            requested.end,
            requested.steps,
        )
        for stage, requested in zip(ran, load.stages, strict=False)
    )


def _ran(finished: Line) -> list[Line]:
    """The stages of the schedule as far as the load got."""
    if finished["ended_by"] == "schedule":
        return finished["stages"]
    ended_ns = finished["ended_ns"]
    return [
        {**stage, "end_ns": min(stage["end_ns"], ended_ns)}
        for stage in finished["stages"]
        if stage["start_ns"] < ended_ns
    ]


def _driver(finished: Line) -> Driver:
    return Driver(
        name=NAME,
        version=finished["version"],
        cores=tuple(finished["cores"] or ()),
        threads=finished["threads"],
        ended_by=finished["ended_by"],
        cpu_s=finished["cpu_s"],
        peak_rss_bytes=finished["peak_rss_bytes"],
        connections_requested=finished["connections_requested"],
        requests_lost_by_recorder=finished["lost_rows"],
        bodies_compared=finished["bodies_compared"],
        redirects=finished["redirects"],
        decoded=DecodedBodies(**finished["decoded"]),
        sent=finished["sent"],
        sent_bytes=finished["sent_bytes"],
        unsent_bytes=finished["unsent_bytes"],
        fewest_streams=finished["fewest_streams"],
        outcomes=dict(finished["outcomes"]),
        opened=finished["opened"],
        refused=finished["refused"],
        longest_pause_ns=finished["longest_pause_ns"],
        tls=tuple(NegotiatedTls(**agreed) for agreed in finished["tls"]),
    )


def _readings(line: Line, zero_ns: int) -> Iterator[Reading]:
    at_ns = zero_ns + line["at_ns"]
    for quantity in SAID_EACH_SECOND:
        if line.get(quantity) is not None:
            yield Reading(at_ns, "driver", quantity, float(line[quantity]))


def _completed(line: Line) -> int:
    outcomes: Mapping[str, int] = line.get("outcomes", {})
    return sum(outcomes.get(name, 0) for name in records.complete_outcomes())


def _part(part: LoadPart) -> dict[str, object]:
    return {
        "part": {"first": part.first, "of": part.of},
        "start_monotonic_ns": part.start_monotonic_ns,
    }


def _request(exchange: Exchange, drive: DriverJob) -> dict[str, object]:
    request, expected = exchange.request, exchange.expected
    load = drive.load
    bytes_ = sent(request, load.protocol, drive.address, load.keep_alive)
    return {
        "name": request.name,
        "bytes": _written(bytes_, request.upload),
        "weight": request.weight,
        "method": request.method,
        **({"expects_continue": True} if request.expects_continue else {}),
        "expected": {
            "status": list(expected.status),
            "length_bytes": expected.length_bytes,
            "body": None if expected.body is None else _text(expected.body),
            "is_sampled": expected.is_recomputed or expected.is_unknown,
            **({"codings": list(expected.codings)} if expected.codings else {}),
            **({} if expected.events is None else {"events": _events(expected.events, drive.load)}),
        },
    }


def _events(events: Events, load: Load) -> dict[str, object]:
    """The events of an expected response, and whether each is a row."""
    data = {} if events.data is None else {"data": list(events.data)}
    return {**data, "every_ns": _ns(events.every_s), "rows": load.events}


def _written(given: bytes, upload: Upload | None) -> object:
    """Bytes of a request as a specification has them; the engine reads the file itself."""
    return _text(given) if upload is None else {"head": _text(given), "file": str(upload.file)}


def _load(load: Load) -> dict[str, object]:
    """The load; what concerns several requests on one connection is left out where there is one."""
    pipelined = {"pipeline": load.pipeline} if load.pipeline > 1 else {}
    streamed = {"protocol": load.protocol, "streams": load.streams}
    return {
        **pipelined,
        **(streamed if load.protocol == "http2" else {}),
        "model": load.model,
        "stages": [_stage(stage) for stage in load.stages],
        "arrivals": load.arrivals,
        "connections": load.connections,
        "tolerance_ns": _ns(load.tolerance_s),
        "keep_alive": load.keep_alive,
        "requests_per_connection": load.requests_per_connection,
        "think_time_ns": _ns(load.think_time_s),
        "timeout_ns": _ns(load.timeout_s),
        # The schedule of an open load ends after so many arrivals.
        "request_limit": load.request_limit if load.model == "closed" else None,
    }


def _websocket(drive: DriverJob) -> dict[str, object]:
    """What connections of WebSocket are opened with; nothing of another protocol."""
    if drive.load.protocol != "websocket":
        return {}
    upgrade = render(upgrade_request(drive.exchanges[0].request), drive.address, keep_alive=True)
    return {"protocol": {"websocket": {"upgrade": _text(upgrade), "message": drive.load.message}}}


def _follow(drive: DriverJob) -> dict[str, object]:
    """Which redirects are followed; nothing where none is. The Host header names the origin."""
    if not drive.load.follow:
        return {}
    headers = {name.lower(): value for name, value in drive.exchanges[0].request.headers}
    origin = f"{'https' if drive.tls else 'http'}://{headers.get('host', drive.address)}"
    return {"follow": {"most": drive.load.follow, "origin": origin}}


def _stage(stage: Stage) -> dict[str, object]:
    return {
        "kind": stage.kind,
        "duration_ns": _ns(stage.duration_s),
        "start": stage.start,
        "end": stage.end,
        "steps": stage.steps,
    }


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)


def _text(data: bytes) -> str:
    return b64encode(data).decode()
