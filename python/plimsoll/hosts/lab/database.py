"""The lab's side of a database that runs on a host of its own: its agent does the work."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from plimsoll.errors import HostLost, PlimsollError
from plimsoll.hosts.lab.contact import Contact, done
from plimsoll.hosts.orders import DatabaseOrder
from plimsoll.sampling.sampler import Sampler

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from plimsoll.databases.running import RunningDatabase
    from plimsoll.hosts.host import Host
    from plimsoll.hosts.lab.control import Lab
    from plimsoll.machine import Fact
    from plimsoll.recording import HostClock
    from plimsoll.recording.readings import Reading, ScopeName
    from plimsoll.serving.database_host import ReadAtTurn


class HostDatabase:
    """PostgreSQL that an agent has started.

    Args:
        contact: Contact with its host.
        running: PostgreSQL, as the agent has it; its processes are those of another host.
        machine: Facts of that host.
    """

    def __init__(
        self, contact: Contact, running: RunningDatabase, machine: Mapping[str, Fact]
    ) -> None:
        """It runs already."""
        self._contact = contact
        self.running = running
        self.machine = machine

    @property
    def host(self) -> str:
        """Name of its host."""
        return self._contact.host

    @property
    def clock(self) -> HostClock:
        """The clock of its host."""
        return self._contact.known_clock

    def alive(self) -> bool:
        """Whether its host is there, by what was heard last."""
        return self._contact.lost is None

    def check(self) -> None:
        """Does nothing as long as its host is there.

        Raises:
            HostLost: It is gone.
        """
        self._contact.check()

    @contextmanager
    def sampling(self) -> Generator[Sampler]:
        """Reads it and its machine once a second for as long as the block runs.

        Yields:
            A sampler whose readings are there after the block, unless the host was lost.
        """
        contact = self._contact
        contact.compare_anew()
        contact.step("sample_database")
        sampler = _DatabaseSampler(contact)
        contact.has_load = True
        try:
            yield sampler
        finally:
            contact.has_load = False
            sampler.readings, sampler.problems = contact.sampled("sampled_database")

    @contextmanager
    def at_turns(self) -> Generator[ReadAtTurn]:
        """Gives what reads it and its machine at both ends of turns, which the block lasts for."""
        contact = self._contact
        contact.compare_anew()
        contact.has_load = True
        try:
            yield self._read
        finally:
            contact.has_load = False
            with suppress(HostLost):
                contact.compare()

    def _read(
        self, thorough: bool, order: Sequence[ScopeName]
    ) -> tuple[list[Reading], dict[str, str]]:
        readings, problems = self._contact.have_done("read_database", thorough, order)
        return self._contact.moved(readings), problems


class _DatabaseSampler(Sampler):
    """Has the agent read once a second."""

    def __init__(self, contact: Contact) -> None:
        super().__init__()
        self._contact = contact

    def align(self, zero_ns: int) -> None:
        """From now on reads at whole seconds after an instant of the lab's clock."""
        self._contact.align(zero_ns)


@contextmanager
def started(lab: Lab, host: Host, machine: Mapping[str, Fact]) -> Generator[HostDatabase]:
    """PostgreSQL on a host for as long as the block runs.

    Args:
        lab: The lab, which the host has joined.
        host: The host.
        machine: Its facts.

    Raises:
        NotInstalled: None can be had there, or it is too old.
        DatabaseFailed: It does not start.
        HostLost: The host is gone.
    """
    order = DatabaseOrder(host.address, cores_of(host, machine))
    running = cast("RunningDatabase", done(lab, host.name, "start_database", order))
    contact = Contact(lab, host.name)
    try:
        yield HostDatabase(contact, replace(running, host=host.name), machine)
    finally:
        contact.end()
        with suppress(PlimsollError):  # its agent stops it where the host is gone
            contact.step("stop_database")


def cores_of(host: Host, machine: Mapping[str, Fact]) -> tuple[int, ...]:
    """Cores of the database: all of its host where the file of hosts names none."""
    known = machine.get("cores")
    return host.cores or (tuple(known) if isinstance(known, list) else ())
