"""JMeter: a thread for each connection, without its window, with a plan of our own making.

It is installed by `plimsoll install jmeter`. The plan and the properties that it was given stay in
the trial's folder. JMeter writes down each request (JTL), and logs when it began its first threads:
that is the zero of the trial, so what a Java machine needs to start comes before it. What it needs
to load the classes of its first request comes after, and belongs into a warm-up.

Source: `NewDriver`, `JMeter`, `HTTPHC4Impl` and `bin/jmeter.properties` of Apache JMeter 5.6.3; the
options of the Java machine are those of its `bin/jmeter`, but for the size of the heap.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.campaign import tool as tools
from plimsoll.drivers import jmeter_plan, tool_process
from plimsoll.drivers.job import DriverResult, Rows
from plimsoll.drivers.tool_process import ToolRun
from plimsoll.errors import DriverFailed, DriverMissing
from plimsoll.install import commands, install, requirements
from plimsoll.recording import Driver, RecordedStage
from plimsoll.storage.parquet import writing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.campaign.load import Load
    from plimsoll.campaign.requests import Exchange
    from plimsoll.campaign.tool import Tool
    from plimsoll.drivers.job import DriverCallbacks, DriverJob
    from plimsoll.drivers.tool_process import FinishedRun

NAME = "jmeter"

KEEPS_ROWS = True

PLAN = "jmeter.jmx"
PROPERTIES = "jmeter.properties"
OUTPUT = "jmeter.txt"
LOG = "jmeter.log"
ROWS = "jmeter.jtl"
"""Files in the trial's folder: its plan, what it printed and logged, and its requests."""

LEAST_JAVA = 8
"""Least major version of Java that it runs on."""

START_S = 5.0
"""Seconds that a Java machine and JMeter take to begin the test, about."""

HEAP_MIB = 512
HEAP_KIB_PER_CONNECTION = 256
"""What the Java machine's heap may grow to."""

COLLECTOR = ("-XX:+UseG1GC", "-XX:MaxGCPauseMillis=100", "-XX:G1ReservePercent=20")
LANGUAGE = (
    "-Duser.language=en",
    "-Duser.region=EN",
    "-Duser.timezone=UTC",
    "-Dfile.encoding=UTF-8",
)

_SAVED = (
    "label",
    "response_code",
    "response_message",
    "successful",
    "assertion_results_failure_message",
    "time",
    "latency",
    "connect_time",
    "idle_time",
    "bytes",
    "sent_bytes",
    "thread_name",
    "thread_counts",
    "data_type",
    "print_field_names",
)
_NOT_SAVED = ("url", "hostname", "encoding", "autoflush")
_BEGUN = re.compile(
    r"^(\S+ \S+) INFO \S+StandardJMeterEngine: Starting ThreadGroup: 1 ", re.MULTILINE
)
_LOGGED_AT = "%Y-%m-%d %H:%M:%S,%f%z"
_COUNTED = re.compile(r"^summary = +(\d+) in ", re.MULTILINE)
_END = "... end of run"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LOST = re.compile(r"^.*(?:OutOfMemoryError|Uncaught Exception).*$", re.MULTILINE)

TIMES = (
    "`jmeter` measures in milliseconds and does not log intended start times; its "
    "response timeout restarts with every read"
)
CONNECTS = (
    "`jmeter` reports a connect time of 0 ms for a reused connection, and for one opened in less"
)
ASSERTED = "`jmeter` checks the status and the length of each response, as Plimsoll's engine does"


def needs() -> DriverMissing | None:
    """The error with how to install it; None if it is installed."""
    try:
        _installed()
    except DriverMissing as error:
        return error
    return None


def version() -> str:
    """Its version and that of Java; empty when it does not say."""
    return commands.version(_installed())


def refuses(load: Load, exchanges: tuple[Exchange, ...]) -> str:
    """Why it cannot generate a load, in one sentence; empty when it can."""
    return jmeter_plan.refusal(load, exchanges)


def drive(drive: DriverJob, watch: DriverCallbacks) -> DriverResult:
    """Puts on the load and waits for its end.

    Raises:
        DriverMissing: JMeter is not on this host.
        DriverFailed: JMeter failed, hung, or lost threads.
        StorageError: Its plan or output could not be kept.
        Interrupted: Ctrl-C before there was any load.
    """
    with writing(drive.into):
        (drive.into / PLAN).write_text(jmeter_plan.rendered(drive), "utf-8")
        (drive.into / PROPERTIES).write_text("\n".join(_properties(drive.load)) + "\n", "utf-8")
        order = _order(drive)
        ran = tool_process.run(order, drive, watch)
        _require_threads(drive.into)
        begun_ns = _begun_ns(drive.into, watch)
    zero_ns = ran.started_ns + begun_ns - ran.started_utc_ns
    return DriverResult(
        driver=_driver(drive, order, ran),
        zero_monotonic_ns=zero_ns,
        zero_utc_ns=begun_ns,
        stages=tuple(_stages(drive.load, ran.ended_ns - zero_ns)),
        rows=Rows(NAME, (drive.into / ROWS,)),
    )


def home() -> Path:
    """JMeter's folder, laid out as its download is: `bin/ApacheJMeter.jar` starts it.

    Raises:
        DriverMissing: It is not installed.
    """
    return commands.build_folder(_installed()) / "home"


def command(home: Path, java: Path, connections: int) -> tuple[str, ...]:
    """The command line of a run.

    Args:
        home: Folder of JMeter.
        java: Program of the Java machine.
        connections: How many connections.
    """
    heap_mib = HEAP_MIB + connections * HEAP_KIB_PER_CONNECTION // 1024
    heap = (f"-Xms{HEAP_MIB}m", f"-Xmx{heap_mib}m")
    options = (*heap, *COLLECTOR, *LANGUAGE)
    files = ("-t", PLAN, "-l", ROWS, "-j", LOG, "-q", PROPERTIES)
    return (str(java), *options, "-jar", str(home / "bin" / "ApacheJMeter.jar"), "-n", *files)


def _installed() -> Tool:
    """JMeter, built.

    Raises:
        DriverMissing: It is not installed.
    """
    found = tools.named(NAME)
    if found is not None and install.is_built(found):
        return found
    raise DriverMissing(f"`{NAME}` is not installed on this host", f"`plimsoll install {NAME}`")


def _java() -> Path:
    """The program of the Java machine.

    Raises:
        DriverMissing: There is none that is new enough.
    """
    found = requirements.java_home(LEAST_JAVA)
    if found is None:
        hint = f"`plimsoll list {NAME}` shows how to install it"
        raise DriverMissing(f"`{NAME}` needs a JDK {LEAST_JAVA} or newer", hint)
    return found / "bin" / "java"


def _order(drive: DriverJob) -> ToolRun:
    connections = drive.load.peak_connections
    return ToolRun(
        command(home(), _java(), connections),
        stage="hold",
        connections=connections,
        lasts_s=START_S + drive.load.duration_s,
        output=OUTPUT,
        patience_s=tool_process.PATIENCE_S + 2 * drive.load.timeout_s,
    )


def _properties(load: Load) -> Iterator[str]:
    """What JMeter does otherwise than it would by itself."""
    saved = "jmeter.save.saveservice"
    yield f"{saved}.output_format=csv"
    yield f"{saved}.timestamp_format=ms"
    yield from (f"{saved}.{name}=true" for name in _SAVED)
    yield from (f"{saved}.{name}=false" for name in _NOT_SAVED)
    yield "# A connection lives as long as the load requests, not for a minute."
    yield f"httpclient4.time_to_live={round((load.duration_s + load.timeout_s) * 1000) + 60_000}"
    yield "# It listens on no port; it is ended by a signal."
    yield "jmeterengine.nongui.port=0"


def _driver(drive: DriverJob, order: ToolRun, ran: FinishedRun) -> Driver:
    return Driver(
        name=NAME,
        version=version(),
        cores=drive.cores,
        threads=order.connections,
        ended_by="interrupt" if ran.early else "schedule",
        cpu_s=ran.cpu_s,
        peak_rss_bytes=ran.peak_rss_bytes,
        connections_requested=order.connections,
        sent=_sent(ran.text),
        command=order.command,
        notes=(TIMES, CONNECTS, ASSERTED),
        has_connects=False,
    )


def _sent(printed: str) -> int | None:
    """The requests that JMeter counted, apart from those it wrote down; None of a broken run."""
    counts = _COUNTED.findall(printed) if _END in printed else []
    return int(counts[-1]) if counts else None


def _begun_ns(into: Path, watch: DriverCallbacks) -> int:
    """When JMeter began its first threads, in nanoseconds since 1970.

    Raises:
        Interrupted: It was ended by Ctrl-C before that.
        DriverFailed: It ended before that by itself.
    """
    log = into / LOG
    found = _BEGUN.search(log.read_text("utf-8", "replace")) if log.exists() else None
    if found is None:
        watch.interruption.check()
        hint = (
            f"see its output in `{OUTPUT}`, `{LOG}` and `{tool_process.LOG}` of the trial's folder"
        )
        raise DriverFailed(f"`{NAME}` exited before the test started", hint)
    since_1970 = datetime.strptime(f"{found[1]}+0000", _LOGGED_AT) - _EPOCH
    return since_1970 // timedelta(milliseconds=1) * 1_000_000


def _require_threads(into: Path) -> None:
    """Does nothing when no thread was lost; JMeter goes on without those that were.

    Raises:
        DriverFailed: One was, or there was no memory for it.
    """
    for name in (LOG, OUTPUT, tool_process.LOG):
        path = into / name
        stated = _LOST.search(path.read_text("utf-8", "replace")) if path.exists() else None
        if stated:
            hint = f"see `{LOG}`; if memory is short, reduce the connections or raise `ulimit -u`"
            raise DriverFailed(f"`{NAME}` lost a thread: {stated[0].strip()}", hint)


def _stages(load: Load, lasted_ns: int) -> Iterator[RecordedStage]:
    """The stages as far as the test got."""
    start_ns = 0
    for stage in load.stages:
        end_ns = start_ns + round(stage.duration_s * 1e9)
        if start_ns < lasted_ns:
            reached_ns = min(end_ns, lasted_ns)
            levels = (stage.start, stage.end, stage.steps)
            yield RecordedStage(stage.kind, start_ns, reached_ns, *levels)
        start_ns = end_ns
