"""The lab's side of servers that run on a host of their own: their agent does the work."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, cast

from plimsoll.errors import HostLost, PlimsollError
from plimsoll.hosts.answers import StartedServer
from plimsoll.hosts.lab.contact import Contact, done
from plimsoll.hosts.lab.control import of_host
from plimsoll.hosts.lab.server_turns import HostTurns
from plimsoll.hosts.orders import OrderedFramework, ServerOrder
from plimsoll.sampling import idle
from plimsoll.sampling.sampler import Sampler, sampling
from plimsoll.serving.credentials import Credentials
from plimsoll.storage import scratch

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from ipaddress import IPv4Address, IPv6Address
    from pathlib import Path

    from plimsoll.campaign.fixtures import ServedFile
    from plimsoll.campaign.framework import Framework
    from plimsoll.campaign.load import Service
    from plimsoll.hosts.host import Host
    from plimsoll.hosts.lab.control import Lab
    from plimsoll.provenance import Part
    from plimsoll.recording import PowerSources, RecordedServer
    from plimsoll.recording.readings import Reading, ScopeName
    from plimsoll.sampling.scope import Scope
    from plimsoll.sampling.wall import WallMeter
    from plimsoll.serving.server import ServerPlacement


class HostServers:
    """A host that runs servers: one at a time, or several that take turns.

    Args:
        lab: The lab, which it has joined.
        host: The host.
        client: Address of a host that connects to its servers.
        rapl: What RAPL counts on it.
    """

    def __init__(
        self, lab: Lab, host: Host, client: IPv4Address | IPv6Address, rapl: PowerSources
    ) -> None:
        """Starts nothing."""
        self._lab = lab
        self._host = host
        self._client = client
        self._rapl = rapl
        self._slots: set[int] = set()

    @property
    def host(self) -> str:
        """Its name in results."""
        return self._host.name

    def rapl(self) -> PowerSources:
        """What RAPL counts on it."""
        return self._rapl

    def absent(self, framework: Framework) -> PlimsollError | None:
        """The error with why a framework cannot be started there; None if it can."""
        error = self._step("absent", OrderedFramework.of(framework))
        return error and of_host(self.host, error)

    def make_ready(self, chosen: Sequence[Framework], step: Callable[[str], None]) -> None:
        """Builds there what changed since it was built; requires that all else is built.

        Args:
            chosen: Frameworks.
            step: Called with each build that was done, and why.

        Raises:
            NotInstalled: One is not there, is not the lab's, or was never installed.
            BuildFailed: A build failed.
            HostLost: The host is gone.
        """
        for framework in chosen:
            for built in self._step("make_ready", OrderedFramework.of(framework)):
                step(f"`{self.host}`: {built}")

    def application(self, framework: Framework) -> tuple[Part, ...]:
        """What of a framework runs there, part by part."""
        return self._step("application", OrderedFramework.of(framework))

    @contextmanager
    def control(self, cores: Sequence[int]) -> Generator[Callable[[], Mapping[str, float]]]:
        """Gives what runs the control there once, for as long as the block runs.

        Args:
            cores: Cores that it runs on; empty for any.
        """
        yield partial(self._lab.order, self.host, "run_control", tuple(cores))

    @contextmanager
    def started(
        self,
        framework: Framework,
        log: Path,
        cores: Sequence[int],
        service: Service | None,
        environment: Mapping[str, str],
        seed: int,
    ) -> Generator[HostServer]:
        """Starts a framework, gives it once it is ready, and stops it whatever happens.

        Args:
            framework: What to start.
            log: File for the end of its output.
            cores: Cores it may use; empty for all.
            service: What it is to serve; None for HTTP/1.1 without TLS.
            environment: What its environment has besides: the address of its database.
            seed: Seed of its fixtures.

        Raises:
            FrameworkError: It ended before it was ready, or did not respond in time.
            PortTaken: Somebody else listens on its port.
            HostLost: The host is gone.
        """
        ordered = OrderedFramework.of(framework)
        order = ServerOrder(
            ordered,
            self._host.address,
            self._client,
            tuple(cores),
            service,
            dict(environment),
            seed,
        )
        with self._slot() as slot, scratch.folder() as folder:
            kept = partial(_keep_log, self._lab, self.host, slot, log)
            try:
                started = cast("StartedServer", self._step("start", order, slot=slot))
            except HostLost:
                raise
            except PlimsollError:
                kept()
                raise
            contact = Contact(self._lab, self.host, slot)
            server = HostServer(contact, _trusted(started, folder), self._rapl, kept)
            try:
                yield server
            finally:
                server.stop(started.side)

    @contextmanager
    def _slot(self) -> Generator[int]:
        """The number of a server, the first that no other one has; logs of its last one go."""
        slot = next(number for number in count() if number not in self._slots)
        self._slots.add(slot)
        try:
            yield slot
        finally:
            self._slots.remove(slot)

    def _step(self, step: str, *arguments: object, slot: int = 0) -> Any:
        return done(self._lab, self.host, step, *arguments, slot=slot)


class HostServer:
    """A server that an agent has started.

    Args:
        contact: Contact with the host.
        started: What the agent said of it.
        rapl: What RAPL counts on the host.
        keep_log: Keeps the end of its output.
    """

    def __init__(
        self,
        contact: Contact,
        started: StartedServer,
        rapl: PowerSources,
        keep_log: Callable[[], None],
    ) -> None:
        """It runs already."""
        self._contact = contact
        self._started = started
        self._rapl = rapl
        self._keep_log = keep_log
        self._stopped: RecordedServer | None = None

    @property
    def place(self) -> ServerPlacement:
        """Where it listens, and on which cores it runs."""
        return self._started.place

    @property
    def scope(self) -> None:
        """None: its resources are read where it runs."""
        return

    def alive(self) -> bool:
        """Whether it runs, by what was heard last."""
        contact = self._contact
        return contact.lost is None and (contact.state is None or contact.state.is_alive)

    def check_alive(self) -> None:
        """Does nothing as long as the server runs.

        Raises:
            DiedUnderLoad: It ended.
            HostLost: Its host is gone.
        """
        self._contact.step("check_alive")

    def seen(self) -> RecordedServer:
        """Its side of the recording as long as it runs."""
        return self._placed(self._started.side)

    def at_rest(self) -> RecordedServer:
        """Its side of the recording once all its workers are up, without load."""
        return self._placed(self._contact.step("at_rest"))

    def write(self, file: ServedFile) -> None:
        """Replaces a file in the folder of its fixtures.

        Raises:
            StorageError: It cannot be written.
        """
        self._contact.step("write", file)

    def control(self) -> list[Reading]:
        """Runs the control on its cores, some times; no load may be on."""
        return self._contact.moved(self._contact.step("control"))

    def idle(
        self, length_s: float, meter: WallMeter | None, *, reads_server: bool
    ) -> list[Reading]:
        """What its host needs without load; takes so long, unless nothing can be read.

        The agent is not asked meanwhile whether it has ended, which would need power.

        Args:
            length_s: For how long, in seconds.
            meter: The power meter, which the lab asks; None for none.
            reads_server: Whether the server itself is read as well.
        """
        if not self._rapl.rapl and meter is None and not reads_server:
            return []
        self._contact.begin("idle_with_server" if reads_server else "idle", length_s)
        idle.passed(length_s, meter)
        return self._contact.moved(self._contact.ended())

    @contextmanager
    def sampling(self, *others: Scope) -> Generator[Sampler]:
        """Reads the server and its machine once a second for as long as the block runs.

        Args:
            others: What is read besides, in the lab: database and upstream.

        Yields:
            A sampler whose readings are there after the block, unless the host was lost.
        """
        self._contact.step("sample")
        sampler = _HostSampler(self._contact)
        self._contact.has_load = True
        try:
            with sampling(*others) as sampler.here:
                yield sampler
        finally:
            self._contact.has_load = False
            sampler.readings += sampler.here.readings
            sampler.problems.update(sampler.here.problems)
            readings, problems = self._contact.sampled("sampled")
            sampler.readings += readings
            sampler.problems.update(problems)

    @contextmanager
    def in_turns(self) -> Generator[HostTurns]:
        """It takes turns for as long as the block runs."""
        self._contact.step("take_turns")
        self._contact.has_load = True
        try:
            yield HostTurns(self._contact)
        finally:
            self._contact.has_load = False
            with suppress(HostLost):
                self._contact.compare()

    def kill(self) -> None:
        """Kills it, so that nothing waits for its clean stop."""
        self._contact.kill()

    def stop(self, side: RecordedServer) -> RecordedServer:
        """Stops it with all its processes; a second call gives the same.

        Args:
            side: Its side of the recording as long as it ran.

        Returns:
            The same with how it stopped, and what it counted; where the host is gone, that it did
            not stop cleanly.
        """
        if self._stopped is None:
            self._contact.end()
            try:
                self._stopped = self._placed(self._contact.step("stop", side))
                self._keep_log()
            except HostLost:
                self._stopped = replace(side, clean_stop=False)
        return self._stopped

    def _placed(self, side: RecordedServer) -> RecordedServer:
        """Its side of the recording, with its host and how exactly its clock is known."""
        return replace(side, host=self._contact.host, clock=self._contact.known_clock)


class _HostSampler(Sampler):
    """Has the agent read once a second.

    Attributes:
        here: What reads once a second in the lab.
    """

    def __init__(self, contact: Contact) -> None:
        super().__init__()
        self._contact = contact
        self.here = Sampler()

    def align(self, zero_ns: int) -> None:
        """From now on both read at whole seconds after an instant of the lab's clock."""
        self.here.align(zero_ns)
        self._contact.align(zero_ns)

    def busy_cores(self, scope: ScopeName) -> float | None:
        """Cores that the server keeps busy; None for all else."""
        state = self._contact.state
        return state.busy_cores if state is not None and scope == "server" else None


def _trusted(started: StartedServer, folder: Path) -> StartedServer:
    """A server whose certificate, if it has one, is a file of the lab's."""
    if not started.certificate:
        return started
    proof = Credentials(folder / "certificate.pem", None)
    proof.certificate.write_bytes(started.certificate)
    return replace(started, place=replace(started.place, credentials=proof))


def _keep_log(lab: Lab, host: str, slot: int, log: Path) -> None:
    """Adds the end of a server's output to a file of the lab."""
    with log.open("ab") as file:
        file.write(cast("bytes", lab.order(host, "server_log", slot)))
