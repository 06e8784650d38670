"""Servers on this host."""

from __future__ import annotations

import signal
import time
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from plimsoll.install import applications, readiness
from plimsoll.processes import ports, process_table
from plimsoll.processes.tree import ProcessTree
from plimsoll.recording import HOST
from plimsoll.sampling import control, idle
from plimsoll.sampling.sampler import Sampler, sampling
from plimsoll.sampling.samplers import energy
from plimsoll.sampling.scope import Scope
from plimsoll.serving import observed, server, server_counters
from plimsoll.serving.turns_here import TurnsHere

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from plimsoll.campaign.fixtures import ServedFile
    from plimsoll.campaign.framework import Framework
    from plimsoll.campaign.load import Service
    from plimsoll.errors import NotInstalled
    from plimsoll.provenance import Part
    from plimsoll.recording import PowerSources, RecordedServer
    from plimsoll.recording.readings import Reading
    from plimsoll.sampling.wall import WallMeter
    from plimsoll.serving.server import RunningServer, ServerPlacement


class LocalServer:
    """A server that runs on this host.

    Args:
        running: The server.
        client: Address of one of its clients, as a number; empty for this host.
    """

    def __init__(self, running: RunningServer, client: str = "") -> None:
        """It runs already."""
        self._running = running
        self._client = client

    @property
    def place(self) -> ServerPlacement:
        """Where it listens, and on which cores it runs."""
        return self._running.place

    @property
    def tree(self) -> ProcessTree:
        """Its processes, as a tree that has not been read yet."""
        return ProcessTree(self._running.supervisor_pid, with_root=False)

    @property
    def scope(self) -> Scope:
        """Its resources."""
        return Scope("server", self.tree, self.place.port, host=self.place.host)

    def processes(self) -> tuple[int, ...]:
        """Numbers of its processes, parents first."""
        return self._running.processes()

    def alive(self) -> bool:
        """Whether it runs."""
        return self._running.alive()

    def check_alive(self) -> None:
        """Does nothing as long as the server runs.

        Raises:
            DiedUnderLoad: It ended.
        """
        self._running.check_alive()

    def seen(self) -> RecordedServer:
        """Its side of the recording as long as it runs."""
        return observed.serving(self._running, self._client)

    def at_rest(self) -> RecordedServer:
        """Its side of the recording once all its workers are up, without load."""
        return observed.at_rest(self._running, self._client)

    def write(self, file: ServedFile) -> None:
        """Replaces a file in the folder of its fixtures.

        Raises:
            StorageError: It cannot be written.
        """
        self._running.files.write(file)

    def control(self) -> list[Reading]:
        """Runs the control on its cores, some times; no load may be on."""
        with control.ready(self.place.cores) as work:
            return [
                reading
                for _ in range(control.TIMES)
                for reading in control.readings(work.run(), time.monotonic_ns())
            ]

    def idle(
        self, length_s: float, meter: WallMeter | None, *, reads_server: bool
    ) -> list[Reading]:
        """What this host needs without load; takes so long, unless nothing can be read.

        Args:
            length_s: For how long, in seconds.
            meter: The power meter; None for none.
            reads_server: Whether the server itself is read as well.
        """
        return idle.readings(length_s, meter, server=self.scope if reads_server else None)

    def sampling(self, *others: Scope) -> AbstractContextManager[Sampler]:
        """Reads the server and this machine once a second for as long as the block runs."""
        return sampling(Scope("machine"), self.scope, *others)

    @contextmanager
    def in_turns(self) -> Generator[TurnsHere]:
        """It takes turns for as long as the block runs, and works after it."""
        turns = TurnsHere(self)
        try:
            yield turns
        finally:
            turns.wake()

    def kill(self) -> None:
        """Kills what is left of it, so that nothing waits for its clean stop."""
        for pid in self.processes():
            found = process_table.process(pid)
            if found is not None:
                process_table.send(found, signal.SIGKILL)

    def stop(self, side: RecordedServer) -> RecordedServer:
        """Stops it with all its processes; its side with how it stopped, and what it counted."""
        how, running = self._running.stop(), self._running
        return observed.stopped(
            side, how, server_counters.read(running.framework.name, running.log)
        )


@dataclass(frozen=True)
class LocalHost:
    """This host, as a machine that runs servers.

    Attributes:
        address: Address on which servers listen.
        client: Address of a host that connects to them; empty for this one.
    """

    address: str = ports.LOOPBACK
    client: str = ""

    @property
    def host(self) -> str:
        """Its name in results."""
        return HOST

    def rapl(self) -> PowerSources:
        """What RAPL counts on this host."""
        return energy.recorded()

    def absent(self, framework: Framework) -> NotInstalled | None:
        """The error with why a framework cannot be started here; None if it can."""
        return readiness.absent(framework)

    def make_ready(self, chosen: Sequence[Framework], step: Callable[[str], None]) -> None:
        """Builds what changed since it was built; requires that all else is built.

        Args:
            chosen: Frameworks.
            step: Called with each build that begins, and why.

        Raises:
            NotInstalled: One was never installed; the message names all of them.
            BuildFailed: A build failed.
        """
        readiness.make_ready(chosen, step)

    def application(self, framework: Framework) -> tuple[Part, ...]:
        """What of a framework runs here, part by part."""
        return applications.of(framework)

    @contextmanager
    def control(self, cores: Sequence[int]) -> Generator[Callable[[], Mapping[str, float]]]:
        """A control for as long as the block runs.

        Args:
            cores: Cores that it runs on; empty for any.

        Yields:
            What runs it once; see `sampling.control.Control.run`.
        """
        with control.ready(cores) as work:
            yield work.run

    @contextmanager
    def started(
        self,
        framework: Framework,
        log: Path,
        cores: Sequence[int],
        service: Service | None = None,
        environment: Mapping[str, str] = MappingProxyType({}),
        seed: int = 0,
    ) -> Generator[LocalServer]:
        """Starts a framework, gives it once it is ready, and stops it whatever happens.

        Args:
            framework: What to start.
            log: File that its output is added to.
            cores: Cores it may use; empty for all.
            service: What it is to serve; None for HTTP/1.1 without TLS.
            environment: What its environment has besides: the address of its database.
            seed: Seed of its fixtures.

        Raises:
            FrameworkError: It ended before it was ready, or did not respond in time.
            PortTaken: Somebody else listens on its port.
        """
        with server.started(
            framework,
            log=log,
            cores=cores,
            host=self.address,
            environment=environment,
            service=service,
            seed=seed,
        ) as running:
            yield LocalServer(running, self.client)
