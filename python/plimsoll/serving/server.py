"""Servers: started, waited for, and stopped with all that they started."""

from __future__ import annotations

import os
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from plimsoll import machine, wording
from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.campaign.fixtures import Fixtures
from plimsoll.campaign.load import OF_HTTP2, OVER_TLS
from plimsoll.campaign.requests import Request
from plimsoll.campaign.tls import Tls
from plimsoll.errors import DiedUnderLoad, NotReady, PortTaken, StartFailed, StorageError
from plimsoll.install import commands
from plimsoll.processes import copies, ports
from plimsoll.processes.logs import length_bytes, quoted
from plimsoll.processes.supervised import SupervisedProcess
from plimsoll.processes.supervisor import GRACE_S
from plimsoll.serving import credentials, fixture_files, ready
from plimsoll.serving.asking import authority
from plimsoll.serving.credentials import Credentials
from plimsoll.serving.unready import UnreadyServer, of_ended

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from pathlib import Path

    from plimsoll.campaign.framework import Framework
    from plimsoll.campaign.load import Protocol, Service
    from plimsoll.serving.fixture_files import FixtureFolder

_ANSWER_S = 2.0
_PORT_FREE_S = 2.0
_LOOKS = 3
_SETTLED_S = 0.05
_FOREGROUND = "`start` must run the server in the foreground, not as a daemon or behind `&`"


@dataclass(frozen=True)
class ServerPlacement:
    """Where a server runs.

    Attributes:
        host: Address it listens on.
        port: Port it listens on.
        cores: Cores it is given; empty when it is not confined.
        workers: Cores it is to use.
        given: What its environment has besides: the address of its database, its files.
        service: What it is to serve; None for HTTP/1.1 without TLS.
        credentials: By which it proves who it is; None without TLS.
    """

    host: str
    port: int
    cores: tuple[int, ...]
    workers: int
    given: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    service: Service | None = None
    credentials: Credentials | None = None

    @property
    def address(self) -> str:
        """Host and port: `127.0.0.1:8080`, `[::1]:8080`."""
        return authority((self.host, self.port))

    @property
    def protocol(self) -> Protocol:
        """What its clients speak; WebSocket begins with HTTP/1.1."""
        return "http2" if self.service in OF_HTTP2 else "http1"

    @property
    def tls(self) -> Tls | None:
        """TLS of its clients; None without TLS."""
        if self.credentials is None:
            return None
        alpn = ("h2",) if self.protocol == "http2" else ()
        return Tls(self.host, ca=self.credentials.certificate, alpn=alpn)

    def environment(self, framework: Framework) -> dict[str, str]:
        """The environment of the start command of a framework here."""
        files = self.credentials
        return commands.environment(
            framework,
            host=self.host,
            port=self.port,
            workers=self.workers,
            protocol=self.protocol,
            certificate=files and files.certificate,
            key=files and files.key,
        )


@dataclass(frozen=True)
class Stopped:
    """How a server stopped.

    Attributes:
        exit_code: Of its first process, negative for a signal; None when it had to be killed.
        clean: It ended by itself, in time, with a known exit code, and nothing had to be killed.
        killed: Processes that had to be killed.
        left: Processes that could not even be killed.
        duration_s: Seconds from the stop signal to the end of the last process.
        port_free: Whether its port was free afterwards.
    """

    exit_code: int | None
    clean: bool
    killed: int
    left: int
    duration_s: float
    port_free: bool


class RunningServer:
    """A framework that runs.

    Attributes:
        framework: What runs.
        place: Where it runs.
        log: Its standard output and standard error.
        files: The folder of its fixtures.
        start_s: Seconds from its start to its first right response; None until then.
        stopped: How it stopped; None while it runs.

    Raises:
        StartFailed: Its start command cannot be run at all.
        StorageError: The log cannot be written.
    """

    def __init__(
        self,
        framework: Framework,
        place: ServerPlacement,
        files: FixtureFolder,
        log: Path,
        grace_s: float,
    ) -> None:
        """Starts it; it is not ready yet."""
        self.framework = framework
        self.files = files
        self.place = place
        self.log = log
        self.start_s: float | None = None
        self.stopped: Stopped | None = None
        self._log_begins = length_bytes(log)
        self._supervised = _supervised(framework, place, log, grace_s)

    @property
    def pid(self) -> int:
        """Number of its first process."""
        return self._supervised.pid

    @property
    def supervisor_pid(self) -> int:
        """Number of the process that all of the server's processes are below, daemons too."""
        return self._supervised.supervisor_pid

    def processes(self) -> tuple[int, ...]:
        """Numbers of its processes, parents first."""
        return self._supervised.processes()

    def alive(self) -> bool:
        """Whether its first process runs."""
        return self._supervised.alive()

    def check_alive(self, when: str = "under load", *, within_s: float = 0.0) -> None:
        """Does nothing as long as the server runs.

        Args:
            when: What it was doing, as the end of a sentence.
            within_s: How long it is waited for, in seconds: the sockets of a process that ends
                close before it has ended.

        Raises:
            DiedUnderLoad: Its first process ended.
        """
        if within_s:
            self._supervised.wait(within_s)
        if not self.alive():
            message = f"`{self.framework.title}` {self._how()} {when}; {self._quoted()}"
            hint = _FOREGROUND if self.processes() else see_log(self.log.name)
            raise DiedUnderLoad(message, hint)

    def wait_until_ready(self, probe: Request) -> None:
        """Repeats a request until it is answered with 200.

        After a request without a response the next one has twice the time: a slow server is ready
        in the end, and one that lost an early connection is soon asked again.

        Raises:
            PortTaken: Somebody else listens on the port.
            StartFailed: The server ended.
            NotReady: It did not respond correctly in the time it has to start.
        """
        end_s = time.monotonic() + self.framework.start_timeout_s
        response, answer_s = "", _ANSWER_S
        while (left_s := end_s - time.monotonic()) > 0:
            if self._supervised.wait(ready.pause_s(self.framework.start_timeout_s - left_s)):
                raise self._not_started()
            asked_s = time.monotonic()
            now = self._ask(probe, min(answer_s, left_s))
            if not now:
                self.start_s = (time.monotonic_ns() - self._supervised.started_ns) / 1e9
                return self._check_port_is_its_own()
            # A last request that the deadline cut short takes nothing from an earlier response.
            cut_short = now == ready.SILENT and left_s < answer_s
            if time.monotonic() - asked_s >= answer_s:
                answer_s *= 2
            if not (cut_short and response.startswith(ready.RESPONDED)):
                response = now
        raise self._not_ready(probe, response or "was not sent")

    def _ask(self, probe: Request, timeout_s: float) -> str:
        """What is wrong with the response to a request; empty if it is 200."""
        place = self.place
        if place.service is None:
            return ready.ask(place.host, place.port, probe, timeout_s)
        at = (place.host, place.port)
        return ready.ask_as_clients(at, probe, timeout_s, place.tls, place.protocol)

    def kill(self) -> None:
        """Ends its grace: the processes left are killed at once; `stop` returns how it ended."""
        self._supervised.kill()

    def stop(self) -> Stopped:
        """Stops it with all its processes, and waits until its port is free."""
        if self.stopped is None:
            ran = self.alive()
            ended = self._supervised.stop()
            known = ended.exit_code in self.framework.clean_exit_codes
            self.stopped = Stopped(
                exit_code=ended.exit_code,
                clean=ran and known and not ended.killed and not ended.left,
                killed=len(ended.killed),
                left=len(ended.left),
                duration_s=ended.all_s,
                port_free=_becomes_free(self.place),
            )
        return self.stopped

    def _check_port_is_its_own(self) -> None:
        """Raises when another process listens on the port too or instead, or when it goes away."""
        for _ in range(_LOOKS):
            sockets = ports.listening_sockets(self.place.port, self.place.host)
            if not ports.foreign_sockets(sockets, self.processes()):
                break
        else:
            raise ports.taken(self.place.port, self.place.host, self.processes())
        if self._supervised.wait(_SETTLED_S):
            raise self._not_started()

    def _not_started(self) -> StartFailed | PortTaken:
        sockets = ports.listening_sockets(self.place.port, self.place.host)
        left = self.processes()
        if ports.foreign_sockets(sockets, left):
            return ports.taken(self.place.port, self.place.host, left)
        hint = of_ended(self.framework, see_log(self.log.name))
        if not self.framework.is_framework:
            hint = "run the command alone with `HOST` and `PORT` set, to see why it ends"
        if left:
            hint = _FOREGROUND
        running = wording.several(len(left), "process", "processes")
        behind = f" and left {running} running" if left else ""
        message = f"`{self.framework.title}` {self._how()} before it was ready{behind}"
        return StartFailed(f"{message}; {self._quoted()}", hint)

    def _not_ready(self, probe: Request, answer: str) -> NotReady:
        place = self.place
        unready = UnreadyServer(
            self.framework,
            (place.host, place.port),
            place.service,
            ports.bound_by(self.processes()),
            answer,
            see_log(self.log.name),
        )
        return unready.error(probe, self._quoted())

    def _quoted(self) -> str:
        """The last lines that it logged, as the end of a sentence."""
        return quoted(self.log, begin=self._log_begins)

    def _how(self) -> str:
        code = self._supervised.exit_code
        if code is None:
            return "was killed"
        return f"was killed by signal {-code}" if code < 0 else f"exited with code {code}"


def see_log(name: str) -> str:
    """The hint of a server that ended: its log, by its name in the results."""
    return f"see its log, `{name}`"


def without_log(hint: str, name: str, what: str) -> str:
    """A hint of a server that ended, where its log is not kept.

    Args:
        hint: The hint.
        name: Name of its log.
        what: What does not keep it: `a comparison`.
    """
    instead = f"start it alone to see all of its log, which {what} does not keep"
    return hint.replace(see_log(name), instead)


@contextmanager
def started(  # noqa: PLR0913 - one argument for each fact of the server
    framework: Framework,
    *,
    log: Path,
    cores: Sequence[int] = (),
    workers: int | None = None,
    host: str = ports.LOOPBACK,
    port: int | None = None,
    grace_s: float = GRACE_S,
    environment: Mapping[str, str] = MappingProxyType({}),
    service: Service | None = None,
    seed: int = 0,
) -> Generator[RunningServer]:
    """Starts a framework, gives it once it is ready, and stops it whatever happens.

    Args:
        framework: What to start; it must be built.
        log: File that its output is added to.
        cores: Cores it may use; empty for all.
        workers: Cores it is to use; None for as many as it may.
        host: Address to listen on.
        port: Port to listen on; None for a free one.
        grace_s: Seconds it has to stop by itself.
        environment: What its environment has besides: the address of its database.
        service: What it is to serve; None for HTTP/1.1 without TLS.
        seed: Seed of its fixtures.

    Yields:
        The server; its `stopped` is filled in at the end of the block.

    Raises:
        PortTaken: Somebody else listens on the port.
        StartFailed: It ended before it was ready.
        NotReady: It did not respond correctly within `framework.start_timeout_s`.
        StorageError: The log, the certificate or the fixtures cannot be written.
    """
    machine.raise_open_files()
    count = workers or len(cores) or len(os.sched_getaffinity(0))
    if port is not None and not ports.is_free(port, host):
        raise ports.taken(port, host)
    with ExitStack() as stack:
        files = stack.enter_context(fixture_files.made(Fixtures.drawn(seed)))
        proof = stack.enter_context(credentials.made(host)) if service in OVER_TLS else None
        at = port or ports.free_port(host)
        given = {**environment, **files.environment}
        place = ServerPlacement(host, at, tuple(cores), count, given, service, proof)
        server = RunningServer(framework, place, files, log, grace_s)
        stack.callback(server.stop)
        server.wait_until_ready(probe(framework))
        yield server


def probe(framework: Framework) -> Request:
    """The request that shows that a framework is ready: the first GET of its endpoints."""
    names = framework.endpoints
    served = [one for one in ENDPOINTS if one.name in names and one.protocol == "http1"]
    if framework.probe_path or not served:
        return Request("probe", "GET", framework.probe_path or "/")
    requests = [one.exchanges[0].request for one in served]
    return next((one for one in requests if one.method == "GET"), requests[0])


def _supervised(
    framework: Framework, place: ServerPlacement, log: Path, grace_s: float
) -> SupervisedProcess:
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.open("ab").close()
    except OSError as error:
        message = f"`{log}` cannot be written: {error.strerror}"
        raise StorageError(message, "make its folder writable, and free space there") from error
    try:
        return SupervisedProcess(
            _command(framework, place.workers),
            folder=framework.folder,
            environment={**place.environment(framework), **place.given},
            log=log,
            cores=place.cores,
            stop_signal=framework.stop_signal,
            grace_s=grace_s,
        )
    except OSError as error:
        raise StartFailed(f"`{framework.title}` cannot start: {error}") from error


def _command(framework: Framework, workers: int) -> tuple[str, ...]:
    """What starts a server: its command, or as many copies of it as it has cores to use."""
    command = commands.shell(framework, framework.start)
    if not framework.processes:
        return command
    return (sys.executable, "-I", "-S", copies.__file__, str(workers), *command)


def _becomes_free(place: ServerPlacement) -> bool:
    """Whether the port is free, at the latest after a short while."""
    end_s = time.monotonic() + _PORT_FREE_S
    while not ports.is_free(place.port, place.host):
        if time.monotonic() > end_s:
            return False
        time.sleep(ready.pause_s(0))
    return True
