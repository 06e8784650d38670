"""The bench: a reference server and the engine on separate cores, with the records of both.

Both are started as in any trial: the server as a supervised process, the engine by its driver. In
addition, the server logs the times of its requests.
"""

from __future__ import annotations

import json
import shlex
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import plimsoll
from plimsoll.campaign.endpoints import ws
from plimsoll.campaign.framework import Framework
from plimsoll.campaign.load import OVER_TLS, Load, Stage
from plimsoll.campaign.requests import Exchange, Expected, Request
from plimsoll.drivers import records
from plimsoll.drivers.job import DriverCallbacks, DriverJob
from plimsoll.drivers.tools import plimsoll as engine
from plimsoll.errors import EngineFailed
from plimsoll.processes.tree import ProcessTree
from plimsoll.sampling.scope import Scope
from plimsoll.serving import server
from plimsoll.storage import scratch

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from plimsoll.calibration.truth import Times
    from plimsoll.campaign.load import Arrivals, Protocol, Service
    from plimsoll.events import Progress
    from plimsoll.processes.interruption import Interruption
    from plimsoll.recording import Driver

    Pairs = np.ndarray[tuple[int, int], np.dtype[np.int64]]

SEED = 1
WARM_UP_S = 0.3
"""Length of the warm-up in seconds, in which connections open and caches fill."""

EMPTY = "/empty"
"""Path with an empty response body."""

MESSAGE = b"A" * 2048
"""Message of WebSocket."""

_WITNESS = "witness.bin"
_LOG = "server.log"


def nothing(_: Progress) -> None:
    """Ignores progress."""


@dataclass(frozen=True)
class Spoken:
    """What engine and reference server speak.

    Attributes:
        name: Displayed name.
        service: What the server is started for; None for HTTP/1.1 without TLS.
        protocol: Protocol of the load.
        streams: HTTP/2: streams on a connection.
    """

    name: str
    service: Service | None = None
    protocol: Protocol = "http1"
    streams: int = 1

    def by(self, load: Load) -> Load:
        """A load of HTTP/1.1 by this instead, on as many connections."""
        is_secured = self.service in OVER_TLS
        load = replace(load, protocol=self.protocol, tls=is_secured, streams=self.streams)
        return load.warmed(0.0)


HTTP1 = Spoken("HTTP/1.1")


@dataclass(frozen=True)
class Bench:
    """The cores and callbacks of a calibration.

    Attributes:
        server_cores: Cores of the reference server; empty for all.
        driver_cores: Cores of the engine, one thread on each; empty for threads on any core.
        interruption: Handler of Ctrl-C.
        tell: Called with each step in a few words.
    """

    server_cores: tuple[int, ...]
    driver_cores: tuple[int, ...]
    interruption: Interruption
    tell: Callable[[str], None]

    @contextmanager
    def reference(self, *options: str, spoken: Spoken = HTTP1) -> Generator[Reference]:
        """A reference server, stopped after the block.

        Args:
            options: Of `python -m plimsoll.reference`.
            spoken: What it is to serve, and loads are made by.
        """
        with scratch.folder() as folder:
            subject = _subject([*options, "--witness", str(folder / _WITNESS)], folder)
            log = folder / _LOG
            with server.started(
                subject, log=log, cores=self.server_cores, service=spoken.service
            ) as running:
                reference = Reference(self, folder, running, _zero_ns(log), spoken)
                yield reference
            reference.account = _account(folder / _WITNESS)


@dataclass
class Reference:
    """A running or stopped reference server.

    Attributes:
        bench: The bench.
        folder: Its folder.
        running: The server.
        zero_ns: Its start by CLOCK_MONOTONIC, from which stalls are timed.
        spoken: What loads are made by.
        account: When it had read each request and when it began to respond, by CLOCK_MONOTONIC;
            available once it has stopped.
    """

    bench: Bench
    folder: Path
    running: server.RunningServer
    zero_ns: int
    spoken: Spoken
    account: Pairs = field(default_factory=lambda: np.empty((0, 2), np.int64), repr=False)
    _drives: int = field(default=0, repr=False)

    @property
    def url(self) -> str:
        """URL of the empty response."""
        return f"http://{self.running.place.address}{EMPTY}"

    @property
    def scope(self) -> Scope:
        """Its processes."""
        return Scope("server", ProcessTree(self.running.supervisor_pid, with_root=False))

    def drive(
        self,
        load: Load,
        path: str = EMPTY,
        *,
        started: Callable[[int], None] = lambda _: None,
        progress: Callable[[Progress], None] = nothing,
    ) -> BenchResult:
        """Generates a load, records every request, and waits for the end.

        Args:
            load: The load by HTTP/1.1; it is made by what is spoken.
            path: Path of the requests; WebSocket sends messages instead.
            started: Called with the process id of the engine's supervisor.
            progress: Called once a second.

        Raises:
            Interrupted: Ctrl-C ended it early.
            EngineFailed: The engine failed.
        """
        self._drives += 1
        into = self.folder / f"drive-{self._drives}"
        into.mkdir()

        def go_on(now: Progress) -> bool:
            progress(now)
            return True

        load = self.spoken.by(load)
        watch = DriverCallbacks(started, lambda _: None, go_on, self.bench.interruption)
        driven = engine.drive(self._order(load, path, into), watch)
        self.bench.interruption.check()
        rows = np.fromfile(into / "requests.bin", records.record_dtype("requests"))
        start_ns = round(sum(one.duration_s for one in load.stages if one.kind != "hold") * 1e9)
        counted = rows[rows["due_ns"] >= start_ns]
        return BenchResult(driven.driver, driven.zero_monotonic_ns, start_ns, counted)

    def held(self, driven: BenchResult) -> Times:
        """Time in the server of each request of a load, from its own log; once it has stopped.

        From the last byte of a request to passing the first byte of its response to the kernel.
        """
        received, responded = self.account[:, 0], self.account[:, 1]
        first_ns = driven.zero_ns + driven.start_ns
        last_ns = driven.zero_ns + int(driven.done_ns.max(initial=0))
        return (responded - received)[(received >= first_ns) & (responded <= last_ns)]

    def _order(self, load: Load, path: str, into: Path) -> DriverJob:
        exchange = Exchange(Request(path, "GET", path), Expected())
        return DriverJob(
            load=load,
            exchanges=(ws.exchange(MESSAGE) if load.protocol == "websocket" else exchange,),
            address=self.running.place.address,
            cores=self.bench.driver_cores,
            seed=SEED,
            body_sample_ratio=0.0,
            into=into,
            tls=self.running.place.tls,
        )


@dataclass(frozen=True)
class BenchResult:
    """The engine's records of one load.

    Attributes:
        driver: The engine's side, as in a recording.
        zero_ns: Zero of the load by CLOCK_MONOTONIC.
        start_ns: End of the warm-up since then.
        rows: The engine's rows of requests that were due after it, with any outcome.
    """

    driver: Driver
    zero_ns: int
    start_ns: int
    rows: np.ndarray[Any, np.dtype[np.void]] = field(repr=False)

    @property
    def due_ns(self) -> Times:
        """Due time of each successful request, since the zero of the load."""
        return self._times_of_responses("due_ns")

    @property
    def sent_ns(self) -> Times:
        """Send time of each of them."""
        return self._times_of_responses("sent_ns")

    @property
    def done_ns(self) -> Times:
        """End of each of their responses."""
        return self._times_of_responses("done_ns")

    @property
    def response_bytes(self) -> float:
        """Mean length of a response with its head."""
        return float(self._times_of_responses("received_bytes").mean())

    def _times_of_responses(self, column: str) -> Times:
        codes = [code for code, name in records.outcome_names().items() if name == "ok"]
        return self.rows[column][np.isin(self.rows["outcome"], codes)].astype(np.int64)


def closed(connections: int, seconds: float, warm_up_s: float = WARM_UP_S) -> Load:
    """A closed load of a constant number of connections, after a warm-up of the same level."""
    return Load("closed", "closed", _stages(connections, seconds, warm_up_s))


def opened(
    rate_per_s: float, seconds: float, connections: int, arrivals: Arrivals = "constant"
) -> Load:
    """An open load of a constant rate on a pool of connections, after a warm-up of that rate."""
    return Load("open", "open", _stages(rate_per_s, seconds, WARM_UP_S), arrivals, connections)


def _stages(level: float, seconds: float, warm_up_s: float) -> tuple[Stage, ...]:
    return (Stage("warm_up", warm_up_s, level, level), Stage("hold", seconds, level, level))


def _subject(options: Sequence[str], folder: Path) -> Framework:
    package = str(Path(plimsoll.__file__).parent.parent)
    return Framework(
        name="reference",
        variant="",
        language="Rust",
        folder=folder,
        site="",
        needs=(),
        build="",
        start=f'exec "$PYTHON" -P -m plimsoll.reference {shlex.join(options)}',
        version="",
        endpoints=("empty",),
        environment={"PYTHONPATH": package},
    )


def _account(path: Path) -> Pairs:
    """The request log of a server.

    Raises:
        EngineFailed: It is empty.
    """
    try:
        return np.fromfile(path, "<u8").astype(np.int64).reshape(-1, 2)
    except OSError as error:
        hint = "run `make setup` to rebuild the engine"
        raise EngineFailed("the reference server logged no requests", hint) from error


def _zero_ns(log: Path) -> int:
    """The start of a server, from the first line of its output."""
    stated = log.read_text("utf-8").partition("\n")[0]
    return int(json.loads(stated)["zero_monotonic_ns"])
