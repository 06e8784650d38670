"""Where servers run: on this host (`here`), or on another one (`hosts.server`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from plimsoll.campaign.fixtures import ServedFile
    from plimsoll.campaign.framework import Framework
    from plimsoll.campaign.load import Service
    from plimsoll.errors import PlimsollError
    from plimsoll.provenance import Part
    from plimsoll.recording import PowerSources, RecordedServer
    from plimsoll.recording.readings import Reading
    from plimsoll.sampling.sampler import Sampler
    from plimsoll.sampling.scope import Scope
    from plimsoll.sampling.wall import WallMeter
    from plimsoll.serving.server import ServerPlacement
    from plimsoll.serving.server_turns import ServerTurns


class PlacedServer(Protocol):
    """A server that runs, wherever that is.

    Every method may raise `HostLost` where that is another host.
    """

    @property
    def place(self) -> ServerPlacement:
        """Where it listens, and on which cores it runs."""
        ...

    @property
    def scope(self) -> Scope | None:
        """Its resources; None where this host cannot read them."""
        ...

    def alive(self) -> bool:
        """Whether it runs, as far as is known."""
        ...

    def check_alive(self) -> None:
        """Does nothing as long as the server runs.

        Raises:
            DiedUnderLoad: It ended.
        """
        ...

    def seen(self) -> RecordedServer:
        """Its side of the recording as long as it runs."""
        ...

    def at_rest(self) -> RecordedServer:
        """Its side of the recording once all its workers are up, without load."""
        ...

    def write(self, file: ServedFile) -> None:
        """Replaces a file in the folder of its fixtures.

        Raises:
            StorageError: It cannot be written.
        """
        ...

    def control(self) -> list[Reading]:
        """Runs the control on its cores, some times; no load may be on."""
        ...

    def idle(
        self, length_s: float, meter: WallMeter | None, *, reads_server: bool
    ) -> list[Reading]:
        """What its machine needs without load; takes so long, unless nothing can be read.

        Args:
            length_s: For how long, in seconds.
            meter: The power meter, which this process asks; None for none.
            reads_server: Whether the server itself is read as well.
        """
        ...

    def sampling(self, *others: Scope) -> AbstractContextManager[Sampler]:
        """Reads the server and its machine once a second for as long as the block runs.

        Args:
            others: What is read besides, on this host.
        """
        ...

    def in_turns(self) -> AbstractContextManager[ServerTurns]:
        """It takes turns for as long as the block runs."""
        ...

    def kill(self) -> None:
        """Kills it, so that nothing waits for its clean stop."""
        ...

    def stop(self, side: RecordedServer) -> RecordedServer:
        """Stops it with all its processes.

        Args:
            side: Its side of the recording as long as it ran.

        Returns:
            The same with how it stopped, and what it counted.
        """
        ...


class ServerPlace(Protocol):
    """A machine that runs servers."""

    @property
    def host(self) -> str:
        """Its name in results."""
        ...

    def rapl(self) -> PowerSources:
        """What RAPL counts on it."""
        ...

    def absent(self, framework: Framework) -> PlimsollError | None:
        """The error with why a framework cannot be started there; None if it can."""
        ...

    def make_ready(self, chosen: Sequence[Framework], step: Callable[[str], None]) -> None:
        """Builds what changed since it was built; requires that all else is built.

        Args:
            chosen: Frameworks.
            step: Called with each build that begins, and why.

        Raises:
            NotInstalled: One was never installed.
            BuildFailed: A build failed.
        """
        ...

    def application(self, framework: Framework) -> tuple[Part, ...]:
        """What of a framework runs there, part by part."""
        ...

    def control(
        self, cores: Sequence[int]
    ) -> AbstractContextManager[Callable[[], Mapping[str, float]]]:
        """Gives what runs the control there once, for as long as the block runs.

        Args:
            cores: Cores that it runs on; empty for any.
        """
        ...

    def started(
        self,
        framework: Framework,
        log: Path,
        cores: Sequence[int],
        service: Service | None,
        environment: Mapping[str, str],
        seed: int,
    ) -> AbstractContextManager[PlacedServer]:
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
        ...
